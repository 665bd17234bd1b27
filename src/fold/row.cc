#include "fold/row.h"

#include <algorithm>

#include "support/wide.h"

namespace loopfold::fold {

Row::Row(Shape shape, bool widen)
    : shape_(shape),
      widen_(widen),
      start_(shape.dimensions),
      expected_(shape.dimensions),
      next_(shape.outputs),
      steps_(shape.outputs),
      columns_(shape.outputs) {}

void Row::start(const std::int64_t* point, const std::int64_t* labels) {
  length_ = 1;
  affine_ = false;
  start_.assign(point, point + shape_.dimensions);
  expected_ = start_;
  can_go_on_ = !expected_.empty() && !__builtin_add_overflow(expected_.back(), 1, &expected_.back());
  for (std::size_t o = 0; o < columns_.size(); ++o) {
    columns_[o].first = labels[o];
    columns_[o].step = 0;
    columns_[o].top = false;
  }
}

std::size_t Row::first_difference(const std::int64_t* point) const {
  const std::size_t outer = start_.empty() ? 0 : start_.size() - 1;
  for (std::size_t k = 0; k < outer; ++k)
    if (point[k] != start_[k]) return k;
  if (start_.empty()) return 0;
  const std::uint64_t last = static_cast<std::uint64_t>(start_.back()) + (length_ - 1);
  return outer + (static_cast<std::uint64_t>(point[outer]) == last ? 1 : 0);
}

bool Row::is_before(const std::int64_t* point) const {
  const std::size_t k = first_difference(point);
  if (k == start_.size()) return false;
  const std::uint64_t moved = k + 1 == start_.size() ? length_ - 1 : 0;
  return point[k] > static_cast<std::int64_t>(static_cast<std::uint64_t>(start_[k]) + moved);
}

/// The label at the last point, where the column is affine.
std::int64_t Row::last_affine(const Column& column) const {
  return static_cast<std::int64_t>(column.first + static_cast<Wide>(column.step) * (length_ - 1));
}

/// Whether an affine column has `label` at the next point; its second label makes the step.
bool Row::goes_on(const Column& column, std::int64_t label) const {
  const Wide difference = static_cast<Wide>(label) - column.first;
  if (length_ == 1) return difference == static_cast<Wide>(static_cast<std::int64_t>(difference));
  return difference == static_cast<Wide>(column.step) * length_;
}

/// point[output] - label at the point with this index.
std::int64_t Row::distance(std::size_t output, std::int64_t label, std::uint64_t index) const {
  if (output >= shape_.shared) return 0;
  const Wide moved = output + 1 == start_.size() ? static_cast<Wide>(index) : 0;
  return saturated(start_[output] + moved - label);
}

void Row::make_top(std::size_t output) {
  Column& column = columns_[output];
  const std::int64_t last = last_affine(column);
  column.top = true;
  column.minimum = std::min(column.first, last);
  column.maximum = std::max(column.first, last);
  const std::int64_t from = distance(output, column.first, 0);
  const std::int64_t to = distance(output, last, length_ - 1);
  column.distance_minimum = std::min(from, to);
  column.distance_maximum = std::max(from, to);
  column.fingerprint.clear();
  for (std::uint64_t i = 0; i < length_; ++i)
    column.fingerprint.append(Fingerprint::element(static_cast<Wide>(column.step) * i));
}

/// The label of the next point, in a column that goes on or is TOP.
void Row::take(std::size_t output, std::int64_t label) {
  Column& column = columns_[output];
  if (!column.top) {
    if (length_ == 1) column.step = static_cast<std::int64_t>(static_cast<Wide>(label) - column.first);
    return;
  }
  column.fingerprint.append(Fingerprint::element(static_cast<Wide>(label) - column.first));
  column.minimum = std::min(column.minimum, label);
  column.maximum = std::max(column.maximum, label);
  const std::int64_t apart = distance(output, label, length_);
  column.distance_minimum = std::min(column.distance_minimum, apart);
  column.distance_maximum = std::max(column.distance_maximum, apart);
}

Row::Answer Row::add_unexpected(const std::int64_t* labels) {
  for (std::size_t o = 0; o < columns_.size(); ++o) {
    if (columns_[o].top || goes_on(columns_[o], labels[o])) continue;
    if (!widen_) return Answer::kOtherLabel;
    make_top(o);
  }
  for (std::size_t o = 0; o < columns_.size(); ++o) take(o, labels[o]);
  ++length_;
  can_go_on_ = !__builtin_add_overflow(expected_.back(), 1, &expected_.back());
  predict();
  return Answer::kTaken;
}

std::uint64_t Row::add(const Run& run) {
  if (!affine_ || !comes_next(run.point) || !labels_as_expected(run.labels)) return 0;
  std::uint64_t n = count_fitting(expected_.back(), 1, run.n);
  for (std::size_t o = 0; o < next_.size(); ++o) {
    if (run.steps[o] != steps_[o]) return 0;
    n = count_fitting(next_[o], steps_[o], n);
  }
  expected_.back() = wrapping_add(expected_.back(), 1, n - 1);
  for (std::size_t o = 0; o < next_.size(); ++o) next_[o] = wrapping_add(next_[o], steps_[o], n - 1);
  length_ += n - 1;
  advance();
  return n;
}

/// What the labels of the next point are, if all columns are affine.
void Row::predict() {
  affine_ = true;
  for (std::size_t o = 0; o < columns_.size(); ++o) {
    const Wide next = columns_[o].first + static_cast<Wide>(columns_[o].step) * length_;
    next_[o] = static_cast<std::int64_t>(next);
    steps_[o] = columns_[o].step;
    affine_ = affine_ && !columns_[o].top && next_[o] == next;
  }
}

void Row::finish(Polyhedron& polyhedron, std::vector<LabelFunction>& labels) {
  Coordinates innermost_first{};
  std::reverse_copy(start_.begin(), start_.end(), innermost_first.begin());
  polyhedron.assign_row({innermost_first.data(), start_.size()}, length_);
  labels.resize(columns_.size());
  for (std::size_t o = 0; o < columns_.size(); ++o) {
    Column& column = columns_[o];
    LabelFunction& label = labels[o];
    label.first = column.first;
    label.coefficients = {};
    if (column.top) {
      label.coefficients.top = 1;
      label.minimum = column.minimum;
      label.maximum = column.maximum;
      label.distance_minimum = column.distance_minimum;
      label.distance_maximum = column.distance_maximum;
      std::swap(label.fingerprint, column.fingerprint);
      continue;
    }
    const std::int64_t last = last_affine(column);
    const std::int64_t from = distance(o, column.first, 0);
    const std::int64_t to = distance(o, last, length_ - 1);
    label.coefficients.known = length_ > 1 ? 1 : 0;
    label.coefficients.value[0] = column.step;
    label.minimum = std::min(column.first, last);
    label.maximum = std::max(column.first, last);
    label.distance_minimum = std::min(from, to);
    label.distance_maximum = std::max(from, to);
    label.fingerprint.clear();
  }
  length_ = 0;
  affine_ = false;
  can_go_on_ = false;
}

std::size_t Row::bytes() const {
  std::size_t sum = sizeof(std::int64_t) * 2 * (start_.size() + next_.size()) + sizeof(Column) * columns_.size();
  for (const Column& column : columns_) sum += column.top ? column.fingerprint.bytes() : 0;
  return sum;
}

}  // namespace loopfold::fold
