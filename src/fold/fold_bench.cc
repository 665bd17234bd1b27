// Points per second of every way of folding, on the streams that programs have: regular nests (rows of 1000 and of 8
// points), triangles, dependences with several outputs, labels that are irregular along the inner loop, every other
// point, rows of a sparse matrix, and random points. Streams are made before, so that only folding is measured.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "fold/fold.h"

namespace loopfold::fold {
namespace {

constexpr std::int64_t kPoints = 1 << 20;

/// Points and labels, one after the other.
struct Stream {
  Shape shape;
  std::vector<std::int64_t> points;
  std::vector<std::int64_t> labels;

  std::size_t size() const { return points.size() / shape.dimensions; }
  void add(std::initializer_list<std::int64_t> point, std::initializer_list<std::int64_t> label) {
    points.insert(points.end(), point);
    labels.insert(labels.end(), label);
  }
};

Stream regular_2d(std::int64_t row) {
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < kPoints / row; ++j)
    for (std::int64_t k = 0; k < row; ++k) stream.add({j, k}, {8 * (row * j + k)});
  return stream;
}

Stream regular_3d(std::int64_t row) {
  Stream stream{{3, 1, 0}, {}, {}};
  for (std::int64_t i = 0; i < kPoints / row / 32; ++i)
    for (std::int64_t j = 0; j < 32; ++j)
      for (std::int64_t k = 0; k < row; ++k) stream.add({i, j, k}, {4096 * i + 64 * j + 8 * k});
  return stream;
}

Stream dependence_3d() {
  Stream stream{{3, 3, 3}, {}, {}};
  for (std::int64_t i = 0; i < 32; ++i)
    for (std::int64_t j = 0; j < 32; ++j)
      for (std::int64_t k = 1; k < 1024; ++k) stream.add({i, j, k}, {i, j, k - 1});
  return stream;
}

Stream triangle() {
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 1448; ++j)
    for (std::int64_t k = 0; k <= j; ++k) stream.add({j, k}, {8 * k});
  return stream;
}

/// Labels as of a[j + col[k]].
Stream irregular_labels() {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> columns(1024);
  for (std::int64_t& column : columns) column = static_cast<std::int64_t>(random() % 100'000);
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 1024; ++j)
    for (std::int64_t k = 0; k < 1024; ++k) stream.add({j, k}, {j + columns[static_cast<std::size_t>(k)]});
  return stream;
}

Stream every_other_point() {
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 1024; ++j)
    for (std::int64_t k = 0; k < 1024; ++k) stream.add({j, 2 * k}, {8 * k});
  return stream;
}

/// What the rows of a matrix on a grid of 100 columns read of a vector, three times over: five neighbours each, fewer at
/// the borders.
Stream sparse_rows() {
  constexpr std::int64_t kRows = kPoints / 15;
  Stream stream{{3, 1, 0}, {}, {}};
  for (std::int64_t t = 0; t < 3; ++t) {
    for (std::int64_t i = 0; i < kRows; ++i) {
      std::int64_t number = 0;
      for (const std::int64_t neighbour : {i - 100, i - 1, i, i + 1, i + 100})
        if (neighbour >= 0 && neighbour < kRows) stream.add({t, i, number++}, {neighbour});
    }
  }
  return stream;
}

Stream random_points() {
  std::mt19937_64 random(1);
  Stream stream{{2, 1, 0}, {}, {}};
  for (std::int64_t j = 0; j < 1024; ++j)
    for (std::int64_t k = 0; k < 2048; ++k)
      if (random() % 2 == 0) stream.add({j, k}, {static_cast<std::int64_t>(random() % 100'000)});
  return stream;
}

void measure(benchmark::State& state, const Stream& stream, Variant variant) {
  std::size_t pieces = 0;
  for (auto _ : state) {
    const std::unique_ptr<Folder> folder = make_folder(Options{.variant = variant, .max_pieces = 16}, stream.shape);
    const std::int64_t* point = stream.points.data();
    const std::int64_t* label = stream.labels.data();
    for (std::size_t i = 0; i < stream.size(); ++i) {
      folder->add(point, label);
      point += stream.shape.dimensions;
      label += stream.shape.outputs;
    }
    pieces = folder->finish().pieces.size();
  }
  state.counters["pieces"] = static_cast<double>(pieces);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * stream.size()));
}

Stream make_stream(std::size_t number) {
  switch (number) {
    case 0:
      return regular_2d(1024);
    case 1:
      return regular_2d(8);
    case 2:
      return regular_3d(1024);
    case 3:
      return regular_3d(8);
    case 4:
      return dependence_3d();
    case 5:
      return triangle();
    case 6:
      return irregular_labels();
    case 7:
      return every_other_point();
    case 8:
      return sparse_rows();
    default:
      return random_points();
  }
}

void fold_stream(benchmark::State& state) {
  const Stream stream = make_stream(static_cast<std::size_t>(state.range(0)));
  const Variant variant = static_cast<Variant>(state.range(1));
  constexpr std::string_view kNames[] = {"2-D",
                                         "2-D, rows of 8",
                                         "3-D",
                                         "3-D, rows of 8",
                                         "3-D dependence",
                                         "triangle",
                                         "irregular labels",
                                         "every other point",
                                         "rows of a sparse matrix",
                                         "random points"};
  state.SetLabel(std::string(kNames[state.range(0)]) + ", " + std::string(variant_name(variant)));
  measure(state, stream, variant);
}
BENCHMARK(fold_stream)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 9, 1), benchmark::CreateDenseRange(0, 4, 1)})
    ->Unit(benchmark::kMillisecond);

/// Rows of a 3-D nest, given as runs: what a row costs, and a point of it.
void fold_rows(benchmark::State& state) {
  const std::int64_t length = state.range(0);
  const auto outputs = static_cast<std::uint16_t>(state.range(1));
  const auto variant = static_cast<Variant>(state.range(2));
  constexpr std::int64_t kRows = 1 << 16;
  const std::int64_t steps[] = {0, 0, 1};
  for (auto _ : state) {
    const std::unique_ptr<Folder> folder = make_folder(Options{.variant = variant}, {3, outputs, outputs});
    for (std::int64_t i = 0; i < kRows / 64; ++i)
      for (std::int64_t j = 0; j < 64; ++j) {
        const std::int64_t point[] = {i, j, 1};
        const std::int64_t labels[] = {i, j, 0};
        folder->add_run({point, labels, steps, static_cast<std::uint64_t>(length), 1});
      }
    benchmark::DoNotOptimize(folder->finish());
  }
  const auto rows = static_cast<double>(state.iterations() * kRows);
  using benchmark::Counter;
  state.counters["s/row"] = Counter(rows, Counter::kIsRate | Counter::kInvert);
  state.counters["s/point"] = Counter(rows * static_cast<double>(length), Counter::kIsRate | Counter::kInvert);
  state.SetLabel("rows of " + std::to_string(length) + ", " + std::to_string(outputs) + " outputs, " +
                 std::string(variant_name(variant)));
}
BENCHMARK(fold_rows)
    ->ArgsProduct({{8, 16, 300}, {0, 3}, benchmark::CreateDenseRange(0, 4, 1)})
    ->Unit(benchmark::kMillisecond);

/// Single points of a nest that are made as they are needed, so that memory does not matter: by dimensions and outputs.
void fold_points(benchmark::State& state) {
  const auto dimensions = static_cast<std::uint16_t>(state.range(0));
  const auto outputs = static_cast<std::uint16_t>(state.range(1));
  const std::int64_t row = state.range(2);
  constexpr std::int64_t kRows = 1 << 10;
  for (auto _ : state) {
    const std::unique_ptr<Folder> folder = make_folder({}, {dimensions, outputs, 0});
    std::int64_t point[] = {0, 0, 0};
    std::int64_t labels[] = {0, 0, 0};
    std::int64_t* const inner = point + dimensions - 1;
    for (std::int64_t j = 0; j < kRows; ++j) {
      if (dimensions > 1) {
        inner[-1] = j;
        *inner = 0;
      }
      for (std::int64_t k = 0; k < row; ++k) {
        labels[0] = 8 * *inner;
        labels[1] = j;
        labels[2] = *inner - 1;
        if (dimensions == 1) labels[1] = 5;
        folder->add(point, labels);
        ++*inner;
      }
    }
    benchmark::DoNotOptimize(folder->finish());
  }
  state.counters["s/point"] = benchmark::Counter(static_cast<double>(state.iterations() * kRows * row),
                                                 benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel(std::to_string(dimensions) + "-D, " + std::to_string(outputs) + " outputs, rows of " +
                 std::to_string(row));
}
BENCHMARK(fold_points)->ArgsProduct({{1, 2, 3}, {0, 1, 2, 3}, {8, 1024}})->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace loopfold::fold
