// Runs where exactness was given up: all of them at once, or all points behind one that was added by itself.
//
// Where labels are understood or hopeless, and no coordinate that changes is watched, points only move the ends of
// ranges. Those of a run lie between its first and its last point, provided that nothing wraps.
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

namespace {

constexpr std::size_t kMostOutputs = 16;  // of a run that is added at once

}  // namespace

bool Loose::add_whole(const Run& run) {
  const std::size_t dimensions = shape_.dimensions;
  if (fitting_ != 0 || covers_ || dimensions > kMostAtOnce) return false;
  std::int64_t* const last = last_.data();
  std::size_t first = 0;
  while (first < dimensions && run.point[first] == last[first]) ++first;
  if (first == dimensions || run.point[first] < last[first] || watched_ >> first != 0) return false;
  const std::size_t inner = dimensions - 1;
  const auto steps = static_cast<std::int64_t>(run.n - 1);
  std::int64_t end = 0;
  if (run.n > kLongestAtOnce || __builtin_mul_overflow(run.stride, steps, &end) ||
      __builtin_add_overflow(run.point[inner], end, &end))
    return false;
  if (followed_ > kMostOutputs) return false;
  std::array<std::int64_t, 2 * kMostOutputs> labels;  // the least and the greatest of each
  std::array<std::int64_t, 2 * kMostOutputs> distances;
  Tracked* const outputs = outputs_.data();
  const auto holds = [](const Interval& range, const std::int64_t* ends) {
    return range.includes(ends[0]) && range.includes(ends[1]);
  };
  for (std::size_t i = 0; i < followed_; ++i) {
    const Tracked& output = outputs[i];
    const std::size_t number = output.number;
    const std::int64_t from = run.labels[number];
    std::int64_t to = from;
    if (steps != 0 && run.steps[number] != 0 &&
        (__builtin_mul_overflow(run.steps[number], steps, &to) || __builtin_add_overflow(from, to, &to)))
      return false;
    labels[2 * i] = std::min(from, to);
    labels[2 * i + 1] = std::max(from, to);
    const auto form = static_cast<unsigned>(output.form);
    if ((form & kLabelEnd) != 0 && !holds(output.labels, &labels[2 * i])) return false;
    if (number >= shape_.shared) continue;
    std::int64_t first_distance = 0;
    std::int64_t last_distance = 0;
    if (__builtin_sub_overflow(run.point[number], from, &first_distance) ||
        __builtin_sub_overflow(number == inner ? end : run.point[number], to, &last_distance))
      return false;
    distances[2 * i] = std::min(first_distance, last_distance);
    distances[2 * i + 1] = std::max(first_distance, last_distance);
    if ((form & kDistanceEnd) != 0 && !holds(output.distance, &distances[2 * i])) return false;
  }
  for (std::size_t i = 0; i < followed_; ++i) {
    outputs[i].labels.include(labels[2 * i]);
    outputs[i].labels.include(labels[2 * i + 1]);
    if (outputs[i].number >= shape_.shared) continue;
    outputs[i].distance.include(distances[2 * i]);
    outputs[i].distance.include(distances[2 * i + 1]);
  }
  points_ += run.n;
  std::copy_n(run.point, inner, last);
  last[inner] = end;
  return true;
}

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
