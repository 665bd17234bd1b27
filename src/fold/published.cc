#include "fold/published.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fold/polyhedron.h"
#include "fold/retired.h"
#include "fold/row.h"
#include "fold/run.h"

namespace loopfold::fold {

namespace {

constexpr std::size_t kSpare = 16;         // polyhedra kept for use again, besides as many as are in use
constexpr std::size_t kSpareBytes = 4096;  // larger ones are not

constexpr std::string_view kNoRanges = "bounds that do not fit into 64 bits";

using Handle = std::unique_ptr<LabelledPolyhedron>;

/// Lexicographic order of points whose innermost coordinate is first.
bool precedes(const std::int64_t* a, const std::int64_t* b, std::size_t dimensions) {
  for (std::size_t k = dimensions; k-- > 0;)
    if (a[k] != b[k]) return a[k] < b[k];
  return false;
}

/// Moves `vector` to the next vector of -1, 0, 1 in dimensions 0 .. d - 1, in lexicographic order; false after the
/// last.
bool next_search_vector(std::array<int, kMaxDimensions>& vector, std::size_t d) {
  for (std::size_t b = 0; b < d; ++b) {
    if (++vector[b] <= 1) return true;
    vector[b] = -1;
  }
  return false;
}

class Published : public Folder {
 public:
  Published(Variant variant, Shape shape)
      : Folder(shape),
        widen_(variant == Variant::kFW || variant == Variant::kFGGW),
        gives_up_(variant == Variant::kFGG || variant == Variant::kFGGW),
        row_(shape, widen_),
        absorbers_(shape.dimensions + std::size_t{1}),
        waiting_(shape.dimensions + std::size_t{1}),
        retired_(shape),
        retired_extent_(shape) {
    if (shape.dimensions > kMaxDimensions) give_up("more than 10 dimensions");
  }

  void add(const std::int64_t* point, const std::int64_t* labels) override {
    if (row_.add(point, labels) != Row::Answer::kTaken) [[unlikely]]
      add_elsewhere(point, labels);
  }

  void add_run(const Run& run) override {
    if (run.n == 1) return Published::add(run.point, run.labels);
    const std::uint64_t done = add_expected(run);
    if (done == run.n) return;
    add_in_parts(
        shape_, run, done, [this](const std::int64_t* at, const std::int64_t* label) { Published::add(at, label); },
        [this](const Run& rest) { return add_expected(rest); });
  }

  void give_up(std::string_view why) override;
  std::size_t bytes() const override;
  Folded finish() override;

 private:
  using List = std::vector<Handle>;

  std::uint64_t add_expected(const Run& run) {
    if (run.stride != 1) return 0;
    return given_up_ ? retired_extent_.add(run) : row_.add(run);
  }
  void add_elsewhere(const std::int64_t* point, const std::int64_t* labels);
  void end_row();
  void end_loops(std::size_t outermost);
  void process(std::size_t d);
  void promote(Handle polyhedron, std::size_t d);
  bool absorb_one(LabelledPolyhedron& absorber, List& waiting, std::size_t d);
  bool extend(LabelledPolyhedron& absorber, List& waiting, std::size_t d);
  bool merge(LabelledPolyhedron& absorber, List& waiting, std::size_t d);
  bool merge_between(LabelledPolyhedron& absorber, List& waiting, std::size_t d, const Coordinates& from,
                     const Coordinates& to);
  bool merge_with(LabelledPolyhedron& absorber, Handle& slice, std::size_t d);
  bool join_labels(LabelledPolyhedron& absorber, const LabelledPolyhedron& slice, std::size_t d);
  std::size_t first_from(const List& waiting, const std::int64_t* anchor) const;
  void sort_by_anchor(List& waiting) const;
  Handle create();
  void account(LabelledPolyhedron& polyhedron, std::size_t bytes_before);
  void release(Handle polyhedron);

  bool widen_;
  bool gives_up_;
  Row row_;
  std::vector<List> absorbers_;  // by dimension, innermost first; those along the innermost one are row_
  std::vector<List> waiting_;    // by dimension along which they wait to be absorbed
  RetiredPieces retired_;
  Extent retired_extent_;

  bool given_up_ = false;
  std::string why_;
  std::size_t live_ = 0;  // polyhedra in absorbers_ and waiting_
  std::size_t max_live_ = 0;
  std::size_t live_bytes_ = 0;

  Polyhedron merged_;                 // what absorptions work with
  std::vector<Coefficients> joined_;  // by output
  List kept_;
  List spare_;  // for use again, so that rows do not allocate
};

Handle Published::create() {
  if (spare_.empty()) return std::make_unique<LabelledPolyhedron>();
  Handle polyhedron = std::move(spare_.back());
  spare_.pop_back();
  return polyhedron;
}

void Published::release(Handle polyhedron) {
  const std::size_t bytes = polyhedron->bytes();
  live_bytes_ -= bytes;
  --live_;
  if (spare_.size() < kSpare + live_ && bytes <= kSpareBytes) spare_.push_back(std::move(polyhedron));
}

void Published::account(LabelledPolyhedron& polyhedron, std::size_t bytes_before) {
  live_bytes_ = live_bytes_ + polyhedron.bytes() - bytes_before;
}

void Published::add_elsewhere(const std::int64_t* point, const std::int64_t* labels) {
  if (given_up_) return retired_extent_.add(point, labels);
  if (!row_.empty()) {
    if (!row_.is_before(point)) {
      give_up("a point out of order");
      return retired_extent_.add(point, labels);
    }
    const std::size_t outermost = shape_.dimensions - 1 - row_.first_difference(point);
    end_row();
    end_loops(outermost);
    if (!retired_.exact()) {
      give_up(kNoRanges);
      return retired_extent_.add(point, labels);
    }
  }
  if (gives_up_ && live_ + 1 > 4 * std::size_t{shape_.dimensions} + 1) {
    give_up("more than " + std::to_string(4 * shape_.dimensions + 1) + " intermediate polyhedra");
    return retired_extent_.add(point, labels);
  }
  row_.start(point, labels);
  max_live_ = std::max(max_live_, live_ + 1);
}

/// The row will not grow along the innermost dimension: it waits along the next.
void Published::end_row() {
  Handle polyhedron = create();
  polyhedron->points = row_.length();
  row_.finish(polyhedron->polyhedron, polyhedron->labels);
  ++live_;
  live_bytes_ += polyhedron->bytes();
  promote(std::move(polyhedron), 1);
}

/// The counter of dimension `outermost` has advanced: the loops inside have ended.
void Published::end_loops(std::size_t outermost) {
  for (std::size_t d = 1; d <= outermost; ++d) {
    process(d);
    if (d == outermost) return;
    for (Handle& absorber : absorbers_[d]) promote(std::move(absorber), d + 1);
    absorbers_[d].clear();
  }
}

/// A polyhedron that will not grow inside `d` waits along `d`.
void Published::promote(Handle polyhedron, std::size_t d) {
  if (d < shape_.dimensions) {
    waiting_[d].push_back(std::move(polyhedron));
    return;
  }
  retired_.add(*polyhedron);
  retired_extent_.add(*polyhedron);
  release(std::move(polyhedron));
}

/// One step of Algorithm 1 along `d`: what waits is absorbed or becomes an absorber; absorbers that did not grow go on.
void Published::process(std::size_t d) {
  List& waiting = waiting_[d];
  sort_by_anchor(waiting);
  kept_.clear();
  for (Handle& absorber : absorbers_[d]) {
    if (absorb_one(*absorber, waiting, d)) {
      kept_.push_back(std::move(absorber));
    } else {
      promote(std::move(absorber), d + 1);
    }
  }
  for (Handle& left : waiting)
    if (left->points != 0)
      kept_.push_back(std::move(left));
    else
      release(std::move(left));
  waiting.clear();
  absorbers_[d].swap(kept_);
}

void Published::sort_by_anchor(List& waiting) const {
  const auto before = [&](const Handle& a, const Handle& b) {
    return precedes(a->polyhedron.anchor(), b->polyhedron.anchor(), shape_.dimensions);
  };
  if (!std::is_sorted(waiting.begin(), waiting.end(), before)) std::sort(waiting.begin(), waiting.end(), before);
}

/// The first of `waiting` whose anchor is not before `anchor`.
std::size_t Published::first_from(const List& waiting, const std::int64_t* anchor) const {
  const auto at = std::partition_point(waiting.begin(), waiting.end(), [&](const Handle& polyhedron) {
    return precedes(polyhedron->polyhedron.anchor(), anchor, shape_.dimensions);
  });
  return static_cast<std::size_t>(at - waiting.begin());
}

bool Published::absorb_one(LabelledPolyhedron& absorber, List& waiting, std::size_t d) {
  return absorber.polyhedron.flat(d) ? merge(absorber, waiting, d) : extend(absorber, waiting, d);
}

bool Published::extend(LabelledPolyhedron& absorber, List& waiting, std::size_t d) {
  Coordinates anchor;
  if (!absorber.polyhedron.next_anchor(d, anchor)) return false;
  const std::size_t at = first_from(waiting, anchor.data());
  if (at == waiting.size() || waiting[at]->points == 0) return false;
  const std::size_t bytes_before = absorber.bytes();
  LabelledPolyhedron& slice = *waiting[at];
  if (!absorber.polyhedron.can_extend(slice.polyhedron, d) || !join_labels(absorber, slice, d)) return false;
  absorber.polyhedron.extend(slice.polyhedron);
  absorber.points += std::exchange(slice.points, 0);
  account(absorber, bytes_before);
  return true;
}

/// Tries the waiting polyhedra within reach: one by one between the first and the last place within reach if they are
/// few, else place by place.
bool Published::merge(LabelledPolyhedron& absorber, List& waiting, std::size_t d) {
  const std::int64_t* corner = absorber.polyhedron.anchor();
  std::array<int, kMaxDimensions> vector{};
  std::fill_n(vector.begin(), d, -1);
  vector[d] = 1;
  Coordinates first{};
  Coordinates last{};
  std::size_t places = 1;
  for (std::size_t b = 0; b < shape_.dimensions; ++b) {
    const int reach = b < d ? 1 : 0;
    if (reach != 0) places *= 3;
    if (__builtin_add_overflow(corner[b], vector[b], &first[b])) return false;
    if (__builtin_add_overflow(corner[b], vector[b] + 2 * reach, &last[b])) return false;
  }
  if (waiting.size() <= places) return merge_between(absorber, waiting, d, first, last);
  do {
    Coordinates anchor{};
    for (std::size_t b = 0; b < shape_.dimensions; ++b) anchor[b] = corner[b] + vector[b];
    if (merge_between(absorber, waiting, d, anchor, anchor)) return true;
  } while (next_search_vector(vector, d));
  return false;
}

bool Published::merge_between(LabelledPolyhedron& absorber, List& waiting, std::size_t d, const Coordinates& from,
                              const Coordinates& to) {
  for (std::size_t at = first_from(waiting, from.data()); at < waiting.size(); ++at) {
    if (precedes(to.data(), waiting[at]->polyhedron.anchor(), shape_.dimensions)) return false;
    if (waiting[at]->points != 0 && merge_with(absorber, waiting[at], d)) return true;
  }
  return false;
}

bool Published::merge_with(LabelledPolyhedron& absorber, Handle& slice, std::size_t d) {
  const std::size_t bytes_before = absorber.bytes();
  if (!absorber.polyhedron.merge(slice->polyhedron, d, merged_) || !join_labels(absorber, *slice, d)) return false;
  std::swap(absorber.polyhedron, merged_);
  absorber.points += std::exchange(slice->points, 0);
  account(absorber, bytes_before);
  return true;
}

/// Makes the label functions of `absorber` those of both; false, and nothing is changed, if they do not allow it.
bool Published::join_labels(LabelledPolyhedron& absorber, const LabelledPolyhedron& slice, std::size_t d) {
  joined_.resize(shape_.outputs);
  for (std::size_t o = 0; o < joined_.size(); ++o) {
    const LabelFunction& f = absorber.labels[o];
    const LabelFunction& g = slice.labels[o];
    const bool no_top = f.coefficients.top == 0 && g.coefficients.top == 0;
    const bool exact = no_top && join(f, absorber.polyhedron, g, slice.polyhedron, d, joined_[o]);
    if (!exact && !widen_) return false;
    if (!exact) joined_[o].top = ~std::uint32_t{0};
  }
  for (std::size_t o = 0; o < joined_.size(); ++o) {
    LabelFunction& f = absorber.labels[o];
    if (joined_[o].top == 0) {
      f.coefficients = joined_[o];
    } else {
      widen(f, absorber.polyhedron, slice.labels[o], slice.polyhedron, d);
    }
    cover(f, slice.labels[o]);
  }
  return true;
}

void Published::give_up(std::string_view why) {
  if (given_up_) return;
  given_up_ = true;
  why_ = why;
  if (!row_.empty()) end_row();
  for (std::vector<List>* lists : {&absorbers_, &waiting_}) {
    for (List& list : *lists)
      for (const Handle& polyhedron : list) retired_extent_.add(*polyhedron);
    lists->clear();
  }
  retired_.clear();
  spare_.clear();
  live_ = 0;
  live_bytes_ = 0;
}

std::size_t Published::bytes() const {
  const std::size_t lists = (live_ + spare_.size()) * sizeof(Handle) + spare_.size() * sizeof(LabelledPolyhedron);
  return sizeof(*this) + row_.bytes() + retired_extent_.bytes() + retired_.bytes() + live_bytes_ + lists;
}

Folded Published::finish() {
  Folded folded;
  if (!row_.empty()) {
    end_row();
    end_loops(shape_.dimensions);
    if (!retired_.exact()) give_up(kNoRanges);
  }
  folded.points = retired_extent_.points();
  folded.max_intermediate = max_live_;
  if (folded.points == 0) return folded;
  if (given_up_) {
    folded.max_intermediate = std::max<std::uint64_t>(max_live_, 1);
    folded.pieces.push_back(retired_extent_.piece());
    folded.why = why_;
  } else {
    folded.pieces = retired_.unpack();
  }
  folded.gave_up = given_up_;
  for (const Piece& piece : folded.pieces)
    for (const Output& output : piece.outputs) folded.widened = folded.widened || !output.affine();
  return folded;
}

}  // namespace

std::unique_ptr<Folder> make_published(const Options& options, Shape shape) {
  return std::make_unique<Published>(options.variant, shape);
}

}  // namespace loopfold::fold
