#include "reference/fold_shrink.h"

#include <algorithm>

namespace loopfold::fold::reference {

namespace {

constexpr int kMostTrials = 4000;

class Shrinker {
 public:
  Shrinker(Stream stream, const Fails& fails) : best_(std::move(stream)), fails_(fails) {}

  Stream run() {
    for (bool better = true; better && trials_ < kMostTrials;) {
      better = drop_points();
      better = drop_outputs() || better;
      better = drop_dimensions() || better;
      better = lower_numbers() || better;
    }
    return best_;
  }

 private:
  bool accept(Stream candidate) {
    if (++trials_ > kMostTrials || !fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool drop_points() {
    bool better = false;
    for (std::size_t size = std::max<std::size_t>(best_.points.size() / 2, 1); size > 0; size /= 2) {
      for (std::size_t from = 0; from < best_.points.size();) {
        Stream candidate = best_;
        const auto start = candidate.points.begin() + static_cast<std::ptrdiff_t>(from);
        const auto end =
            candidate.points.begin() + static_cast<std::ptrdiff_t>(std::min(from + size, candidate.points.size()));
        candidate.points.erase(start, end);
        if (accept(std::move(candidate)))
          better = true;
        else
          from += size;
      }
    }
    return better;
  }

  bool drop_outputs() {
    bool better = false;
    for (std::size_t o = best_.shape.outputs; o-- > 0;) {
      Stream candidate = best_;
      --candidate.shape.outputs;
      candidate.shape.shared = std::min(candidate.shape.shared, static_cast<std::uint16_t>(o));
      for (Labelled& labelled : candidate.points)
        labelled.labels.erase(labelled.labels.begin() + static_cast<std::ptrdiff_t>(o));
      better = accept(std::move(candidate)) || better;
    }
    if (best_.shape.shared == 0) return better;
    Stream candidate = best_;
    candidate.shape.shared = 0;
    return accept(std::move(candidate)) || better;
  }

  bool drop_dimensions() {
    bool better = false;
    for (std::size_t k = best_.shape.dimensions; k-- > 0;) {
      if (best_.points.empty()) return better;
      Stream candidate = best_;
      const std::int64_t value = best_.points.front().point[k];
      if (std::any_of(best_.points.begin(), best_.points.end(),
                      [&](const Labelled& labelled) { return labelled.point[k] != value; }))
        continue;
      --candidate.shape.dimensions;
      candidate.shape.shared = 0;
      for (Labelled& labelled : candidate.points)
        labelled.point.erase(labelled.point.begin() + static_cast<std::ptrdiff_t>(k));
      better = accept(std::move(candidate)) || better;
    }
    return better;
  }

  bool lower_numbers() {
    bool better = false;
    for (std::size_t o = 0; o < best_.shape.outputs; ++o) {
      for (std::size_t i = 0; i < best_.points.size(); ++i)
        for (const std::int64_t value : {std::int64_t{0}, best_.points[i].labels[o] / 2}) {
          if (best_.points[i].labels[o] == value) break;
          Stream candidate = best_;
          candidate.points[i].labels[o] = value;
          if (accept(std::move(candidate))) {
            better = true;
            break;
          }
        }
    }
    for (std::size_t k = 0; k < best_.shape.dimensions; ++k) better = move_to_origin(k) || better;
    return better;
  }

  bool move_to_origin(std::size_t k) {
    if (best_.points.empty()) return false;
    std::int64_t least = best_.points.front().point[k];
    for (const Labelled& labelled : best_.points) least = std::min(least, labelled.point[k]);
    if (least <= 0) return false;
    Stream candidate = best_;
    for (Labelled& labelled : candidate.points) labelled.point[k] -= least;
    return accept(std::move(candidate));
  }

  Stream best_;
  const Fails& fails_;
  int trials_ = 0;
};

}  // namespace

Stream shrink(Stream stream, const Fails& fails) { return Shrinker(std::move(stream), fails).run(); }

}  // namespace loopfold::fold::reference
