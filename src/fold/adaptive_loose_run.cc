// Runs where exactness was given up: all points behind one that was added by itself, at once.
//
// Within a run only the last coordinate changes, by 1 each time, and every label by its own step. So a range is
// extended by the two ends, provided that nothing wraps; and a claim that explains the first step explains all. Where a
// step would teach something, or a label is no longer as simple as it was, and while rows are compared by hashes,
// points go one by one.
#include <algorithm>
#include <array>
#include <bit>

#include "fold/adaptive_loose.h"
#include "fold/run.h"

namespace loopfold::fold::adaptive {

/// Whether steps of the run teach nothing about a label; `move` is any of them.
bool Loose::repeats(std::size_t index, const Run& run, const Move& move) const {
  const Tracked& output = outputs_[index];
  const std::int64_t label = run.labels[output.number];
  const std::int64_t step = run.steps[output.number];
  const std::int64_t along = output.number + std::size_t{1} == coordinates_.size() ? 1 : 0;
  switch (output.form) {
    case Form::kFit:
      return fits_[index].repeats(move, label, step);
    case Form::kConstant:
      return step == 0 && still(output) && label == output.labels.low;
    case Form::kShifted:
      return step == along && still(output) && distance(run.point[output.number], label) == output.distance.low;
    case Form::kHopeless:
      return true;
  }
  return false;
}

std::uint64_t Loose::reach(const Run& run) const {
  const std::size_t inner = coordinates_.size() - 1;
  if (points_ == 0 || lead_ > inner || inner >= LabelFit::kMostDimensions) return 0;
  const Coordinate& along = coordinates_[inner];
  std::int64_t next = 0;
  if ((covers_ ? along.common != 1 : along.range.constant()) || __builtin_add_overflow(last_[inner], 1, &next) ||
      run.point[inner] != next)
    return 0;
  for (std::size_t k = 0; k < inner; ++k)
    if (run.point[k] != last_[k]) return 0;
  std::uint64_t n = count_fitting(next, 1, run.n);
  if (!pairs_.empty()) n = is_small(next) ? count_within(next, 1, n, -kLargeCoordinate, kLargeCoordinate) : 0;
  if (fitting_ != 0) n = std::min(n, std::bit_ceil(points_ + 1) - points_);
  std::array<std::int64_t, LabelFit::kMostDimensions> steps{};
  steps[inner] = 1;
  const Move move{run.point, steps.data(), inner, 0, true, 0};
  for (std::size_t i = 0; i < followed_ && n != 0; ++i) {
    if (!repeats(i, run, move)) return 0;
    n = count_fitting(run.labels[outputs_[i].number], run.steps[outputs_[i].number], n);
  }
  return n;
}

void Loose::add_reached(const Run& run) {
  const std::size_t inner = coordinates_.size() - 1;
  const std::int64_t end = wrapping_add(run.point[inner], 1, run.n - 1);
  last_[inner] = end;
  coordinates_[inner].range.include(end);
  for (std::size_t i = 0; i < followed_; ++i) {
    Tracked& output = outputs_[i];
    const std::int64_t from = run.labels[output.number];
    const std::int64_t to = wrapping_add(from, run.steps[output.number], run.n - 1);
    output.labels.include(from);
    output.labels.include(to);
    if (output.number < shape_.shared) {
      output.distance.include(distance(run.point[output.number], from));
      output.distance.include(distance(last_[output.number], to));
    }
    fits_[i].repeat(to);
  }
  for (std::size_t outer = lead_; outer < inner && !pairs_.empty(); ++outer) {
    Pair& pair = pairs_[inner * (inner - 1) / 2 + outer];
    pair.difference.include(end - run.point[outer]);
    pair.sum.include(end + run.point[outer]);
  }
  points_ += run.n;
  if (fitting_ != 0 && points_ >= kSettled && (points_ & (points_ - 1)) == 0) settle();
}

}  // namespace loopfold::fold::adaptive
