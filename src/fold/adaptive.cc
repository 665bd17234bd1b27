// Variant::kAuto: exact as long as that is small; then widening; then a covering domain.
//
// A stream starts in an exact folder of all its outputs (adaptive_exact.h). When that has more than max_pieces blocks,
// the outputs that broke most of them are taken out of it: an exact folder of the remaining outputs starts over, and
// the others are followed on their own, where each keeps the claims that hold (adaptive_loose.h). If it is the geometry
// that is irregular, there is one covering piece, and all outputs are followed on their own. No point is kept for this:
// the exact folder can regenerate everything that it has seen, so starting over costs as much again, at most once per
// output and once for the geometry. The cost stays linear in the number of points, and the memory bounded.
//
// So an output that is not affine does not harm the others, nor the domain; and an irregular domain does not harm a
// label that is affine at all its points.
//
// Giving up because memory is short must not take time in proportion to the run: there the blocks of the exact folder
// are covered as they are (adaptive_cover.cc).
//
// The first point is kept as it is: very many streams have only one.
//
// A run (run.h) is taken as a whole where its points are those that were expected, or where they change nothing but the
// ends of ranges (adaptive_loose_run.cc); else point by point.
#include "fold/adaptive.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "fold/adaptive_exact.h"
#include "fold/adaptive_loose.h"
#include "fold/run.h"

namespace loopfold::fold {

namespace {

using adaptive::Exact;
using adaptive::Loose;
using adaptive::View;

using adaptive::kMostDimensions;

class AdaptiveFolder : public Folder {
 public:
  AdaptiveFolder(const Options& options, Shape shape)
      : Folder(shape), max_pieces_(std::max<std::uint32_t>(options.max_pieces, 1)) {}

  void add(const std::int64_t* point, const std::int64_t* labels) override {
    if (add_expected(point, labels, shape_.dimensions, shape_.outputs)) [[likely]]
      return;
    add_generally(point, labels);
  }
  void add_run(const Run& run) override {
    if (!add_whole(run, shape_.dimensions, shape_.outputs)) add_in_parts_of(run);
  }
  void add_ranks(const Run& run, const Ranks& ranks) override;
  void add_rows(const Rows& rows) override { add_rows_as(rows, shape_.dimensions, shape_.outputs); }
  void give_up(std::string_view why) override;
  std::size_t bytes() const override;
  Folded finish() override;

 protected:
  /// add_run() for the shape, whose numbers may be constants, if the run is a whole row that was expected, or only
  /// moves the ends of ranges.
  [[gnu::always_inline]] bool add_whole(const Run& run, int dimensions, int outputs) {
    if (!(loose_ ? !exact_ && loose_->add_whole(run) : exact_ && exact_->expected_whole(run, dimensions, outputs)))
      return false;
    points_ += run.n;
    return true;
  }
  /// add_run() for all others.
  [[gnu::noinline]] void add_in_parts_of(const Run& run) {
    if (run.n == 1) return add(run.point, run.labels);
    const std::uint64_t done = add_expected(run);
    if (done != run.n) add_rest(run, done);
  }
  /// add_rows() for the shape, whose numbers may be constants.
  [[gnu::always_inline]] void add_rows_as(const Rows& rows, int dimensions, int outputs) {
    std::size_t i = 0;
    std::size_t tried = 0;     // points up to here are not tried at once
    std::size_t patience = 1;  // so many more, the next time that it was in vain
    while (i < rows.n && exact_ && !loose_) {
      const std::int64_t* const point = rows.points + i * View::at(dimensions);
      const std::int64_t* const labels = rows.labels + i * View::at(outputs);
      const std::size_t run = run_at(rows, i);
      if (run < kLongRun && i >= tried && rows.n - i >= kWorthPoints) {
        const std::size_t done =
            exact_->expected_points({point, labels, rows.n - i, View::at(outputs), nullptr}, dimensions, outputs);
        points_ += done;
        i += done;
        if (done < kWorthPoints) tried = i + (patience *= 2);
        if (done != 0) continue;
      }
      if (run >= kWorthRun) {
        const std::uint64_t done = add_row_run(rows, i, run);
        points_ += done;
        i += done;
        if (done != 0) continue;
      }
      if (!add_expected(point, labels, dimensions, outputs)) add_otherwise(point, labels, dimensions, outputs);
      ++i;
    }
    if (i < rows.n) add_other_rows(rows, i);
  }
  /// add() for the shape, whose numbers may be constants.
  [[gnu::always_inline]] bool add_expected(const std::int64_t* point, const std::int64_t* labels, int dimensions,
                                           int outputs) {
    ++points_;
    return exact_ && !loose_ && exact_->expected_in_row(point, labels, dimensions, outputs);
  }
  /// The rest of that, if it returned false.
  [[gnu::always_inline]] void add_otherwise(const std::int64_t* point, const std::int64_t* labels, int dimensions,
                                            int outputs) {
    if (loose_ && !exact_)
      loose_->add_all(point, labels, View::at(dimensions), View::at(outputs));
    else
      add_partly(point, labels);
  }

 private:
  using Select = std::vector<std::uint16_t>;

  /// Adds as many points of a run of at least two as can be added at once, and says how many.
  std::uint64_t add_expected(const Run& run) {
    const std::uint64_t done = loose_ ? add_loosely(run) : exact_ ? exact_->expected_run(run) : 0;
    points_ += done;
    return done;
  }
  std::uint64_t add_loosely(const Run& run);
  [[gnu::noinline]] void add_generally(const std::int64_t* point, const std::int64_t* labels) {
    add_otherwise(point, labels, shape_.dimensions, shape_.outputs);
  }
  /// Rows::follows for the rows from this one on.
  static std::uint64_t following(const Rows& rows, std::size_t from) { return from < 64 ? rows.follows >> from : 0; }
  /// So many rows, from this one on, follow each other.
  static std::size_t run_at(const Rows& rows, std::size_t i) {
    return i < 63 ? static_cast<std::size_t>(std::countr_one(rows.follows >> (i + 1))) + 1 : 1;
  }
  [[gnu::noinline]] std::uint64_t add_row_run(const Rows& rows, std::size_t first, std::size_t most);
  static constexpr std::size_t kWorthRun = 4;
  static constexpr std::size_t kLongRun = 24;
  static constexpr std::size_t kWorthPoints = 6;  // at once
  void add_rest(const Run& run, std::uint64_t done);
  [[gnu::noinline]] void add_other_rows(const Rows& rows, std::size_t from);
  void add_loosely(Loose& loose, const Rows& rows) const;
  /// Behind the last one that exact_ has.
  bool comes_next(const std::int64_t* point) {
    const std::int64_t* const last = exact_->last_point();
    return std::lexicographical_compare(last, last + shape_.dimensions, point, point + shape_.dimensions);
  }
  [[gnu::noinline]] void add_partly(const std::int64_t* point, const std::int64_t* labels) {
    if (exact_ && loose_ && exact_->select().empty() && exact_->expected_in_row(point, labels, shape_.dimensions, 0))
      loose_->add(point, labels);
    else
      add_other(point, labels);
  }
  void add_other(const std::int64_t* point, const std::int64_t* labels) {
    if (!exact_ || loose_ || !exact_->expected_row(point, labels)) add_unexpected(point, labels);
  }
  void add_unexpected(const std::int64_t* point, const std::int64_t* labels);
  void start(const std::int64_t* point, const std::int64_t* labels);
  const std::int64_t* selected(const Select& select, const std::int64_t* labels);
  void widen();
  Select innocent(const Exact& exact) const;
  std::unique_ptr<Exact> refold(const Select& select);
  std::unique_ptr<Loose> follow(const Select& select, Loose::Domain domain);
  void cover(std::string why);
  Select all_outputs() const;
  /// Where all outputs are followed on their own.
  Loose::Domain given_up_domain() const { return shape_.covered ? Loose::Domain::kIgnore : Loose::Domain::kCover; }

  std::uint32_t max_pieces_;
  std::uint64_t points_ = 0;
  std::unique_ptr<std::int64_t[]> first_;  // point and labels, as long as there is only one
  std::unique_ptr<Exact> exact_;
  std::unique_ptr<Loose> loose_;
  /// Of streams that are not folded exactly.
  struct Inexact {
    std::uint64_t max_intermediate = 0;
    std::string why;                   // if it gave up
    std::vector<std::int64_t> labels;  // scratch
  };
  Inexact& inexact() {
    if (!inexact_) inexact_ = std::make_unique<Inexact>();
    return *inexact_;
  }
  bool gave_up() const { return inexact_ && !inexact_->why.empty(); }
  void give_up_because(std::string why) {
    if (!gave_up()) inexact().why = why.empty() ? "asked to" : std::move(why);
  }
  void note_intermediate(std::uint64_t count) {
    inexact().max_intermediate = std::max(inexact().max_intermediate, count);
  }
  std::unique_ptr<Inexact> inexact_;
};

AdaptiveFolder::Select AdaptiveFolder::all_outputs() const {
  Select select(shape_.outputs);
  for (std::uint16_t o = 0; o < shape_.outputs; ++o) select[o] = o;
  return select;
}

void AdaptiveFolder::add_rest(const Run& run, std::uint64_t done) {
  add_in_parts(
      shape_, run, done,
      [this](const std::int64_t* point, const std::int64_t* labels) { AdaptiveFolder::add(point, labels); },
      [this](const Run& rest) { return add_expected(rest); });
}

void AdaptiveFolder::add_ranks(const Run& run, const Ranks& ranks) {
  const auto expected = [&](const Run& first, const Ranks& rest) -> std::uint64_t {
    const std::uint64_t done = exact_ && !loose_ ? exact_->expected_ranks(first, rest) : 0;
    points_ += done * run.n;
    return done;
  };
  const std::uint64_t done = expected(run, ranks);
  if (done == ranks.n) return;
  for_each_rank(shape_, run, ranks, done, [&](const Run& first, const Ranks& rest) -> std::uint64_t {
    if (const std::uint64_t more = expected(first, rest); more != 0) return more;
    add_run(first);
    return 1;
  });
}

/// Of rows that follow each other: as many of the first as have labels that grow evenly and were expected by what is
/// exact. Says how many.
std::uint64_t AdaptiveFolder::add_row_run(const Rows& rows, std::size_t first, std::size_t most) {
  const std::size_t outputs = shape_.outputs;
  const std::size_t inner = shape_.dimensions - std::size_t{1};
  const std::int64_t* const labels = rows.labels + first * outputs;
  const Select& select = exact_->select();
  adaptive::SmallArray<std::int64_t, 8> steps(select.size());
  std::size_t n = most;
  for (std::size_t i = 0; i < select.size(); ++i) {
    const std::size_t o = select[i];
    if (o < rows.same) {
      steps[i] = o == inner ? 1 : 0;
      continue;
    }
    const std::int64_t* label = labels + o;
    const std::uint64_t step = static_cast<std::uint64_t>(label[outputs]) - static_cast<std::uint64_t>(label[0]);
    steps[i] = static_cast<std::int64_t>(step);
    std::size_t even = 2;
    for (label += outputs; even < n; ++even, label += outputs)
      if (static_cast<std::uint64_t>(label[outputs]) - static_cast<std::uint64_t>(label[0]) != step) break;
    n = even;
    if (n < kWorthRun) return 0;
  }
  return exact_->expected_run({rows.points + first * shape_.dimensions, selected(select, labels), steps.data(), n, 1});
}

/// As many at once as can be, the others one by one.
void AdaptiveFolder::add_loosely(Loose& loose, const Rows& rows) const {
  constexpr std::size_t kFew = 3;
  std::size_t patience = 1;  // so many go one by one before some are tried at once again
  for (std::size_t first = 0; first < rows.n;) {
    const std::int64_t* const point = rows.points + first * shape_.dimensions;
    const std::int64_t* const labels = rows.labels + first * shape_.outputs;
    const std::size_t rest = rows.n - first;
    if (rest >= kFew) {
      const fold::Ends* const ends = first == 0 ? rows.ends : nullptr;
      const std::size_t done =
          loose.add_rows({point, labels, rest, rows.ordered, ends, rows.same, following(rows, first), rows.around});
      first += done;
      if (done != 0) continue;
    }
    const std::size_t single = std::min(patience, rest);
    for (std::size_t i = 0; i < single; ++i) loose.add(point + i * shape_.dimensions, labels + i * shape_.outputs);
    first += single;
    patience *= 2;
  }
}

/// From this row on, if not all is exact, or nothing is yet.
void AdaptiveFolder::add_other_rows(const Rows& rows, std::size_t from) {
  const std::size_t dimensions = shape_.dimensions;
  const std::size_t outputs = shape_.outputs;
  const auto part = [&](std::size_t first, std::size_t end) {
    const bool all = first == 0 && end == rows.n;
    return Rows{rows.points + first * dimensions,
                rows.labels + first * outputs,
                end - first,
                rows.ordered,
                all ? rows.ends : nullptr,
                rows.same,
                following(rows, first),
                rows.around};
  };
  while (from < rows.n) {
    if (loose_ && !exact_) {
      points_ += rows.n - from;
      return add_loosely(*loose_, part(from, rows.n));
    }
    if (!loose_) {
      // Virtual: for the shape.
      add(rows.points + from * dimensions, rows.labels + from * outputs);
      ++from;
      continue;
    }
    // What is exact gets its points first; as long as it can take them, the others can wait.
    std::size_t end = from;
    std::size_t tried = 0;
    std::size_t patience = 1;
    bool in_order = true;
    bool full = false;
    while (end < rows.n && in_order && !full) {
      if (end >= tried && rows.n - end >= kWorthPoints && run_at(rows, end) < kLongRun) {
        const std::size_t done = exact_->expected_points({rows.points + end * dimensions, rows.labels + end * outputs,
                                                          rows.n - end, outputs, exact_->select().data()},
                                                         shape_.dimensions, static_cast<int>(exact_->select().size()));
        end += done;
        if (done < kWorthPoints) tried = end + (patience *= 2);
        if (done != 0) continue;
      }
      if (const std::size_t run = run_at(rows, end); run >= kWorthRun) {
        const std::uint64_t done = add_row_run(rows, end, run);
        end += done;
        if (done != 0) continue;
      }
      const std::int64_t* const point = rows.points + end * dimensions;
      const std::int64_t* const labels = selected(exact_->select(), rows.labels + end * outputs);
      if (!exact_->expected(point, labels)) {
        in_order = comes_next(point);
        full = in_order && !exact_->add_unexpected(point, labels);
      }
      if (in_order) ++end;
    }
    points_ += end - from;
    if (end > from) add_loosely(*loose_, part(from, end));
    from = end;
    if (full) widen();
    if (in_order) continue;
    add(rows.points + from * dimensions, rows.labels + from * outputs);
    ++from;
  }
}

/// The same where not all is exact.
std::uint64_t AdaptiveFolder::add_loosely(const Run& run) {
  Run part = run;
  part.n = run.stride == 1 ? loose_->reach(run) : 0;
  if (part.n == 0) return 0;
  if (exact_) {
    const Select& select = exact_->select();
    adaptive::SmallArray<std::int64_t, 8> steps(select.size());
    for (std::size_t i = 0; i < select.size(); ++i) steps[i] = run.steps[select[i]];
    part.n = exact_->expected_run({run.point, selected(select, run.labels), steps.data(), part.n, 1});
    if (part.n == 0) return 0;
  }
  loose_->add_reached(part);
  return part.n;
}

/// If nothing is loose, it is known that the point was not expected.
void AdaptiveFolder::add_unexpected(const std::int64_t* point, const std::int64_t* labels) {
  if (!exact_) {
    start(point, labels);
    return;
  }
  if (loose_ && exact_->expected(point, selected(exact_->select(), labels))) {
    loose_->add(point, labels);
    return;
  }
  if (!comes_next(point)) cover("a point is out of order");
  if (loose_) loose_->add(point, labels);
  if (exact_ && !exact_->add_unexpected(point, selected(exact_->select(), labels))) widen();
}

/// The first points.
void AdaptiveFolder::start(const std::int64_t* point, const std::int64_t* labels) {
  if (shape_.dimensions > kMostDimensions || gave_up()) {
    give_up_because("more than " + std::to_string(kMostDimensions) + " dimensions");
    loose_ = std::make_unique<Loose>(shape_, all_outputs(), given_up_domain());
    loose_->add(point, labels);
    return;
  }
  if (!first_) {
    first_ = std::make_unique<std::int64_t[]>(std::size_t{shape_.dimensions} + shape_.outputs);
    std::copy_n(point, shape_.dimensions, first_.get());
    std::copy_n(labels, shape_.outputs, first_.get() + shape_.dimensions);
    return;
  }
  if (shape_.dimensions == 0) {
    loose_ = std::make_unique<Loose>(shape_, all_outputs(), given_up_domain());
    loose_->add(first_.get(), first_.get());
    give_up_because("a point is out of order");
  } else {
    exact_ = std::make_unique<Exact>(shape_, all_outputs(), max_pieces_);
    exact_->add(first_.get(), first_.get() + shape_.dimensions);
  }
  first_.reset();
  if (loose_)
    loose_->add(point, labels);
  else
    add_other(point, labels);
}

const std::int64_t* AdaptiveFolder::selected(const Select& select, const std::int64_t* labels) {
  if (select.empty() || select.size() == shape_.outputs) return labels;
  std::vector<std::int64_t>& chosen = inexact().labels;
  for (std::size_t i = 0; i < select.size(); ++i) chosen[i] = labels[select[i]];
  return chosen.data();
}

/// Those of its outputs that broke few blocks; all of them if none broke any.
AdaptiveFolder::Select AdaptiveFolder::innocent(const Exact& exact) const {
  const std::vector<std::uint32_t> blame = exact.blame();
  std::uint32_t most = 0;
  for (std::size_t o = 0; o + 1 < blame.size(); ++o) most = std::max(most, blame[o]);
  Select select;
  for (std::size_t o = 0; o + 1 < blame.size(); ++o)
    if (blame[o] == 0 || (blame[o] < most && blame[o] < max_pieces_ / 4)) select.push_back(exact.select()[o]);
  return select;
}

/// Folds again what exact_ has, with fewer outputs.
std::unique_ptr<Exact> AdaptiveFolder::refold(const Select& select) {
  const Select& now = exact_->select();
  Select places;  // in the labels of exact_
  for (const std::uint16_t number : select)
    places.push_back(static_cast<std::uint16_t>(std::find(now.begin(), now.end(), number) - now.begin()));
  auto fewer = std::make_unique<Exact>(shape_, select, max_pieces_);
  std::vector<std::int64_t> chosen(select.size());
  exact_->replay([&](const std::int64_t* point, const std::int64_t* labels) {
    for (std::size_t i = 0; i < places.size(); ++i) chosen[i] = labels[places[i]];
    return fewer->add(point, chosen.data());
  });
  note_intermediate(fewer->max_intermediate());
  return fewer;
}

/// Follows outputs of exact_ on their own, from the beginning: several points at a time.
std::unique_ptr<Loose> AdaptiveFolder::follow(const Select& select, Loose::Domain domain) {
  constexpr std::size_t kAtOnce = 64;
  const std::size_t dimensions = shape_.dimensions;
  const std::size_t outputs = shape_.outputs;
  auto loose = std::make_unique<Loose>(shape_, select, domain);
  std::vector<std::int64_t> points(kAtOnce * dimensions);
  std::vector<std::int64_t> all(kAtOnce * outputs);
  std::size_t n = 0;
  const Select& own = exact_->select();
  exact_->replay([&](const std::int64_t* point, const std::int64_t* labels) {
    std::copy_n(point, dimensions, points.data() + n * dimensions);
    for (std::size_t i = 0; i < own.size(); ++i) all[n * outputs + own[i]] = labels[i];
    if (++n < kAtOnce) return true;
    add_loosely(*loose, {points.data(), all.data(), n, true, nullptr, 0, 0});
    n = 0;
    return true;
  });
  if (n != 0) add_loosely(*loose, {points.data(), all.data(), n, true, nullptr, 0, 0});
  return loose;
}

/// There are too many blocks: takes outputs out of the exact folder until there are not.
void AdaptiveFolder::widen() {
  note_intermediate(exact_->max_intermediate());
  std::unique_ptr<Exact> fewer;
  Select select = innocent(*exact_);
  std::size_t outputs = exact_->select().size();
  for (;;) {
    if (select.size() == outputs) {
      cover("more than " + std::to_string(max_pieces_) + " pieces");
      return;
    }
    fewer = refold(select);
    if (!fewer->full()) break;
    outputs = select.size();
    select = innocent(*fewer);
  }
  Select guilty;
  std::set_difference(exact_->select().begin(), exact_->select().end(), select.begin(), select.end(),
                      std::back_inserter(guilty));
  std::unique_ptr<Loose> fresh = follow(guilty, Loose::Domain::kIgnore);
  if (loose_)
    loose_->take_outputs(std::move(*fresh));
  else
    loose_ = std::move(fresh);
  exact_ = std::move(fewer);
  if (!exact_->select().empty()) inexact().labels.resize(exact_->select().size());
}

void AdaptiveFolder::cover(std::string why) {
  give_up_because(std::move(why));
  note_intermediate(exact_->max_intermediate());
  std::unique_ptr<Loose> fresh = follow(exact_->select(), given_up_domain());
  if (loose_) fresh->take_outputs(std::move(*loose_));
  loose_ = std::move(fresh);
  exact_.reset();
}

void AdaptiveFolder::give_up(std::string_view why) {
  if (first_) {
    loose_ = std::make_unique<Loose>(shape_, all_outputs(), given_up_domain());
    loose_->add(first_.get(), first_.get() + shape_.dimensions);
    first_.reset();
  }
  give_up_because(std::string(why));
  if (exact_) {
    note_intermediate(exact_->max_intermediate());
    const std::vector<adaptive::Placed> blocks = exact_->blocks();
    auto fresh =
        std::make_unique<Loose>(shape_, exact_->select(), given_up_domain(), blocks, exact_->last_point(), points_);
    if (loose_) fresh->take_outputs(std::move(*loose_));
    loose_ = std::move(fresh);
    exact_.reset();
  }
  if (loose_) loose_->shrink();
}

std::size_t AdaptiveFolder::bytes() const {
  std::size_t bytes = sizeof(*this);
  if (inexact_) bytes += sizeof(Inexact) + sizeof(std::int64_t) * inexact_->labels.size();
  if (first_) bytes += sizeof(std::int64_t) * (std::size_t{shape_.dimensions} + shape_.outputs);
  if (exact_) bytes += exact_->bytes();
  if (loose_) bytes += loose_->bytes();
  return bytes;
}

Folded AdaptiveFolder::finish() {
  Folded folded;
  folded.points = points_;
  if (points_ == 0) return folded;
  if (first_) {
    const std::int64_t* labels = first_.get() + shape_.dimensions;
    Piece piece;
    piece.points = 1;
    for (std::size_t k = 0; k < shape_.dimensions; ++k) {
      const Affine at{first_[k], std::vector<std::int64_t>(k)};
      piece.ranges.push_back({at, at, 1});
    }
    for (std::size_t o = 0; o < shape_.outputs; ++o) {
      Output output;
      output.value = {labels[o], std::vector<std::int64_t>(shape_.dimensions)};
      output.top.assign(shape_.dimensions, false);
      output.minimum = output.maximum = labels[o];
      if (o < shape_.shared)
        output.distance_minimum = output.distance_maximum = adaptive::distance(first_[o], labels[o]);
      piece.outputs.push_back(std::move(output));
    }
    folded.pieces.push_back(std::move(piece));
    folded.max_intermediate = 1;
    return folded;
  }
  while (exact_ && !exact_->end()) widen();
  if (exact_) {
    folded.pieces = exact_->pieces(shape_.outputs);
    folded.max_intermediate = exact_->max_intermediate();
  } else {
    folded.pieces.push_back(loose_->cover());
    folded.pieces[0].outputs.resize(shape_.outputs);
    folded.max_intermediate = 1;
  }
  for (Piece& piece : folded.pieces) {
    for (std::uint16_t o = 0; loose_ && o < shape_.outputs; ++o) {
      loose_->bound(piece.outputs[o], o);
      loose_->claim(piece.outputs[o], o);
    }
    folded.gave_up = folded.gave_up || !piece.exact_domain;
    for (const Output& output : piece.outputs) folded.widened = folded.widened || !output.affine();
  }
  if (folded.gave_up) folded.why = gave_up() ? inexact_->why : "coordinates are too large";
  if (inexact_) folded.max_intermediate = std::max(folded.max_intermediate, inexact_->max_intermediate);
  return folded;
}

constexpr int kAnyOutputs = -1;

/// The same for a shape that is known when this is compiled: points that are as expected, which almost all are, are
/// compared without a loop.
template <int kDimensions, int kOutputs>
class ShapedFolder : public AdaptiveFolder {
 public:
  using AdaptiveFolder::AdaptiveFolder;
  void add(const std::int64_t* point, const std::int64_t* labels) override {
    if (AdaptiveFolder::add_expected(point, labels, kDimensions, outputs())) [[likely]]
      return;
    add_in_shape(point, labels);
  }
  void add_run(const Run& run) override {
    if (!AdaptiveFolder::add_whole(run, kDimensions, outputs())) AdaptiveFolder::add_in_parts_of(run);
  }
  void add_rows(const Rows& rows) override { AdaptiveFolder::add_rows_as(rows, kDimensions, outputs()); }

 private:
  int outputs() const { return kOutputs == kAnyOutputs ? shape_.outputs : kOutputs; }
  /// By itself: what it needs of registers would have to be saved for every point.
  [[gnu::noinline]] void add_in_shape(const std::int64_t* point, const std::int64_t* labels) {
    AdaptiveFolder::add_otherwise(point, labels, kDimensions, outputs());
  }
};

template <int kDimensions>
std::unique_ptr<Folder> make(const Options& options, Shape shape) {
  switch (shape.outputs) {
    case 0:
      return std::make_unique<ShapedFolder<kDimensions, 0>>(options, shape);
    case 1:
      return std::make_unique<ShapedFolder<kDimensions, 1>>(options, shape);
    case 2:
      return std::make_unique<ShapedFolder<kDimensions, 2>>(options, shape);
    case 3:
      return std::make_unique<ShapedFolder<kDimensions, 3>>(options, shape);
    case 4:
      return std::make_unique<ShapedFolder<kDimensions, 4>>(options, shape);
    default:
      return std::make_unique<ShapedFolder<kDimensions, kAnyOutputs>>(options, shape);
  }
}

/// In nests of tiles: values, addresses, and dependences within all of these loops, or all but the innermost.
template <int kDimensions>
std::unique_ptr<Folder> make_deep(const Options& options, Shape shape) {
  switch (shape.outputs) {
    case 0:
      return std::make_unique<ShapedFolder<kDimensions, 0>>(options, shape);
    case 1:
      return std::make_unique<ShapedFolder<kDimensions, 1>>(options, shape);
    case 2:
      return std::make_unique<ShapedFolder<kDimensions, 2>>(options, shape);
    case kDimensions - 1:
      return std::make_unique<ShapedFolder<kDimensions, kDimensions - 1>>(options, shape);
    case kDimensions:
      return std::make_unique<ShapedFolder<kDimensions, kDimensions>>(options, shape);
    default:
      return std::make_unique<ShapedFolder<kDimensions, kAnyOutputs>>(options, shape);
  }
}

}  // namespace

std::unique_ptr<Folder> make_adaptive(const Options& options, Shape shape) {
  switch (shape.dimensions) {
    case 1:
      return make<1>(options, shape);
    case 2:
      return make<2>(options, shape);
    case 3:
      return make<3>(options, shape);
    case 4:
      return make<4>(options, shape);
    case 5:
      return make<5>(options, shape);
    case 6:
      return make_deep<6>(options, shape);
    case 7:
      return make_deep<7>(options, shape);
    default:
      return std::make_unique<AdaptiveFolder>(options, shape);
  }
}

}  // namespace loopfold::fold
