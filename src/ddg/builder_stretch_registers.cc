// Registers during a stretch of iterations.
//
// What a register holds at a read is one segment per read: the path says where it comes from (stretch.h). Of what the
// iteration before writes, the first iteration is apart, unless it goes on what was before the stretch. Nearly all
// reads are of one register that one instruction wrote; then nothing is compared granule by granule. The stream that a
// read used last is remembered where the plan is. A hundred or two of instructions per segment, most of them to compare
// it with what its stream expects.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

/// What reads of registers get. Neighbours that one instance wrote are one chunk.
void Builder::link_registers(const StretchPlan& plan) {
  stretch_.registers.clear();
  stretch_.registers_repeat = registers_repeat(plan);
  if (stretch_.registers_repeat) return;
  for (const StretchPlan::Read& read : plan.reads)
    if (!link_as_a_whole(plan, read)) link_granules(plan, read);
}

/// A read of one register that one instruction wrote, as nearly all are. False: it is not so.
bool Builder::link_as_a_whole(const StretchPlan& plan, const StretchPlan::Read& read) {
  using From = StretchPlan::ReadGranule::From;
  if (!read.whole) return false;
  const StretchPlan::ReadGranule& granule = plan.granules[read.first];
  const Cell path{granule.definition, stretch_.entry, stretch_.counter};
  if (granule.from == From::kThisIteration) {
    stretch_.registers.push_back({&read, granule.lane, path, 1, 0, stretch_.n});
    return true;
  }
  const Cell* const cells = stretch_.thread->registers.data() + granule.granule;
  if (!are_equal(cells, read.read->count)) return false;
  const bool returns = granule.from == From::kLastIteration;
  const bool goes_on =
      returns && cells->producer == path.producer && cells->entry == path.entry && cells->counter + 1 == path.counter;
  if (cells->producer != 0)
    stretch_.registers.push_back(
        {&read, granule.lane, *cells, goes_on ? 1 : 0, 0, returns && !goes_on ? 1 : stretch_.n});
  if (returns && !goes_on) stretch_.registers.push_back({&read, granule.lane, path, 1, 1, stretch_.n - 1});
  return true;
}

void Builder::link_granules(const StretchPlan& plan, const StretchPlan::Read& read) {
  using From = StretchPlan::ReadGranule::From;
  bool returns = false;  // the iteration before writes some of it
  Cell before;
  const std::span<const StretchPlan::ReadGranule> granules{plan.granules.data() + read.first, read.read->count};
  for (std::size_t i = 0; i < granules.size(); i += granules[i].from == From::kThisIteration ? granules[i].alike : 1) {
    const bool here = granules[i].from == From::kThisIteration;
    const Cell cell = here ? Cell{granules[i].definition, stretch_.entry, stretch_.counter}
                           : stretch_.thread->registers[granules[i].granule];
    returns = returns || granules[i].from == From::kLastIteration;
    if (i > 0 && cell == before) continue;
    before = cell;
    if (cell.producer != 0) stretch_.registers.push_back({&read, granules[i].lane, cell, here ? 1 : 0, 0, stretch_.n});
  }
  if (returns) link_returns(read, granules);
}

/// A read of what the iteration before writes: the first iteration is another matter than those behind it, which are
/// taken together with it if it is none.
void Builder::link_returns(const StretchPlan::Read& read, std::span<const StretchPlan::ReadGranule> granules) {
  using From = StretchPlan::ReadGranule::From;
  const auto is_first = [&](const Stretch::Register& flow) { return flow.read == &read; };
  const auto first = std::find_if(stretch_.registers.begin(), stretch_.registers.end(), is_first);
  const auto begin = static_cast<std::size_t>(first - stretch_.registers.begin());
  const std::size_t end = stretch_.registers.size();
  Cell before;
  for (std::size_t i = 0; i < granules.size(); i += granules[i].from == From::kBefore ? 1 : granules[i].alike) {
    Cell cell = stretch_.thread->registers[granules[i].granule];
    if (granules[i].from == From::kThisIteration)
      cell = {granules[i].definition, stretch_.entry, stretch_.counter + 1};
    else if (granules[i].from == From::kLastIteration)
      cell = {granules[i].definition, stretch_.entry, stretch_.counter};
    if (i > 0 && cell == before) continue;
    before = cell;
    const std::int64_t step = granules[i].from == From::kBefore ? 0 : 1;
    if (cell.producer != 0) stretch_.registers.push_back({&read, granules[i].lane, cell, step, 1, stretch_.n - 1});
  }
  const auto goes_on = [](const Stretch::Register& a, const Stretch::Register& b) {
    return a.lane == b.lane && a.cell.producer == b.cell.producer && a.cell.entry == b.cell.entry &&
           a.cell.counter + static_cast<std::uint64_t>(b.step) == b.cell.counter;
  };
  const auto at = [&](std::size_t i) { return stretch_.registers.begin() + static_cast<std::ptrdiff_t>(i); };
  if (std::equal(at(begin), at(end), at(end), stretch_.registers.end(), goes_on)) {
    for (std::size_t i = begin; i < end; ++i) stretch_.registers[i].step = stretch_.registers[i + end - begin].step;
    stretch_.registers.resize(end);
  } else {
    for (std::size_t i = begin; i < end; ++i) stretch_.registers[i].n = 1;
  }
}

void Builder::fold_registers(const StretchPlan& plan) {
  const std::size_t innermost = innermost_;
  std::int64_t* const point = point_.data();
  std::int64_t* const near = near_.data();
  const Level* const levels = levels_->data();
  const auto counter = static_cast<std::int64_t>(stretch_.counter);
  for (const Stretch::Register& flow : stretch_.registers) {
    Streams::Used& used = flow.read->used[flow.first == 0 ? 0 : 1];
    point[innermost] = counter + static_cast<std::int64_t>(flow.first);
    // Most are made in the entry of the loop that runs, or in one around it.
    const std::int64_t* producer = near;
    std::size_t equal = innermost;
    if (flow.cell.entry != stretch_.entry) {
      const std::size_t depth = entries_.depth(flow.cell.entry);
      equal = depth - 1;
      if (depth > innermost || levels[equal].entry != flow.cell.entry) producer = vector_near(flow.cell, equal);
    }
    if (producer == near) near[equal] = static_cast<std::int64_t>(flow.cell.counter);
    feed_.register_run(used, plan.parts[flow.read->part].site, *flow.read->read, flow.cell.producer, flow.lane,
                       {point, producer, equal, flow.step, flow.n, 0, 1, late_levels(flow.cell)});
    near[equal] = point[equal];
  }
}

}  // namespace loopfold::ddg
