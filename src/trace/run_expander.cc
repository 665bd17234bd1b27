// From runs back to events.
//
// In a run whose iterations all take one path and whose columns are all regular, an iteration is the one before plus
// the strides: one addition per slot, in the order of the slots. In all others every slot asks its column. Literals are
// handed through.
#include <algorithm>

#include "trace/run.h"

namespace loopfold::trace {

void RunExpander::begin(const Run& run) {
  run_ = &run;
  iteration_ = 0;
  slots_ = {};
  if (run.literal()) return;
  std::size_t most = 0;
  for (const RunPath& path : run.paths) most = std::max<std::size_t>(most, path.slots);
  values_.resize(most);
  used_.assign(run.columns.size(), 0);
  const std::span<const std::uint32_t> columns = run.paths[0].columns;
  even_ = run.sequence.empty() && std::all_of(columns.begin(), columns.end(), [&](std::uint32_t column) {
            return run.columns[column].kind == RunColumn::Kind::kRegular;
          });
  if (!even_) return;
  strides_.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    strides_[i] = run.columns[columns[i]].stride;
    values_[i] = run.columns[columns[i]].start - strides_[i];
  }
}

const RunPath& RunExpander::next() {
  if (run_->literal()) {
    slots_ = run_->slots;
    ++iteration_;
    return run_->paths[0];
  }
  if (!even_ || iteration_ + 1 == run_->iterations) return next_mixed();
  ++iteration_;
  const std::size_t count = strides_.size();
  std::uint64_t* const values = values_.data();
  const std::uint64_t* const strides = strides_.data();
  for (std::size_t i = 0; i < count; ++i) values[i] += strides[i];
  slots_ = {values, count};
  return run_->paths[0];
}

const RunPath& RunExpander::next_mixed() {
  const RunPath& path = run_->paths[run_->path_of(iteration_)];
  const RunColumn* const columns = run_->columns.data();
  const std::uint64_t iteration = iteration_++;
  auto* const used = used_.data();
  std::uint64_t* to = values_.data();
  for (const std::uint32_t index : path.columns) {
    const RunColumn& column = columns[index];
    *to++ = column.kind == RunColumn::Kind::kIrregular ? column.values[used[index]++]
                                                       : column.start + column.stride * iteration;
  }
  slots_ = {values_.data(), path.columns.size()};
  return path;
}

RunExpander::Ahead RunExpander::ahead(std::size_t slot) const {
  const std::uint32_t index = run_->paths[run_->path_of(iteration_)].columns[slot];
  const RunColumn& column = run_->columns[index];
  if (column.kind == RunColumn::Kind::kIrregular) return {false, 0, 0, column.values.data() + used_[index]};
  return {true, column.start + column.stride * iteration_, column.stride, nullptr};
}

void RunExpander::skip(std::uint64_t iterations) {
  if (even_) {
    for (std::size_t i = 0; i < strides_.size(); ++i) values_[i] += strides_[i] * iterations;
  } else {
    for (const std::uint32_t column : run_->paths[run_->path_of(iteration_)].columns)
      if (run_->columns[column].kind == RunColumn::Kind::kIrregular) used_[column] += iterations;
  }
  iteration_ += iterations;
}

}  // namespace loopfold::trace
