// The irregular columns of a run, made ready for coding; see run_relations.h.
#include "trace/run_relations.h"

#include <algorithm>
#include <bit>

namespace loopfold::trace {
namespace {

constexpr std::uint8_t kMostPatience = 31;
constexpr std::size_t kMostKept = std::size_t{1} << 15;  // values

void give_up(RunTables::Column& memory) {
  memory.wait = memory.patience;
  memory.patience = static_cast<std::uint8_t>(std::min<unsigned>(kMostPatience, 2u * memory.patience + 1));
}

/// The values at these places.
void gather(const std::uint64_t* from, const std::uint32_t* places, std::size_t count, std::uint64_t* to) {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    to[k] = from[places[k]];
    to[k + 1] = from[places[k + 1]];
    to[k + 2] = from[places[k + 2]];
    to[k + 3] = from[places[k + 3]];
  }
  for (; k < count; ++k) to[k] = from[places[k]];
}

template <typename T>
void at_least(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(2 * size);
}

}  // namespace

/// Lists the irregular slots of each path; false if there are none.
bool IrregularColumns::list_places(const Run& run, const RunTables::Loop& loop, SlotClass slot_class) {
  at_least(index_, run.columns.size());
  at_least(last_, run.columns.size());
  const std::size_t paths = run.paths.size();
  std::uint32_t* const index = index_.data();
  std::uint32_t irregular = 0;
  for (std::size_t i = 0; i < run.columns.size(); ++i) {
    const bool counts = run.columns[i].kind == RunColumn::Kind::kIrregular && loop.columns[i].slot_class == slot_class;
    index[i] = counts ? irregular : kAbsent;
    irregular += counts ? static_cast<std::uint32_t>(paths) : 0;
  }
  if (irregular == 0) return false;
  orders_.assign(irregular, kAbsent);
  std::uint32_t* const orders = orders_.data();
  std::uint32_t next = 0;
  for (std::size_t p = 0; p < paths; ++p) {
    const std::span<const std::uint32_t> columns = run.paths[p].columns;
    at_least(slots_, next + columns.size() + kStep);
    slots_at_[p] = next;
    std::uint32_t* const slots = slots_.data() + next;
    std::uint32_t order = 0;
    for (std::uint32_t slot = 0; slot < columns.size(); ++slot) {
      const std::uint32_t at = index[columns[slot]];
      if (at == kAbsent) continue;
      orders[at + p] = order;
      slots[order++] = slot;
    }
    slot_counts_[p] = order;
    while (order % kStep != 0) slots[order++] = 0;
    next += order;
  }
  slots_at_[paths] = next;
  return true;
}

std::size_t IrregularColumns::collect(const Run& run, std::span<const std::uint64_t> rows, const RunTables::Loop& loop,
                                      SlotClass slot_class) {
  if (!list_places(run, loop, slot_class)) return 0;
  iterations_ = run.iterations;
  paths_ = run.paths.size();
  sequence_ = run.sequence;
  used_ = present_ = 0;
  at_least(stream_, History::kReach + rows.size() + kStep);
  at_least(row_at_, run.iterations);
  std::uint64_t* const stream = stream_.data();
  std::uint32_t next = History::kReach;
  const std::uint64_t* row = rows.data();
  const auto copy = [&](std::uint64_t i, std::size_t path) {
    row_at_[i] = next;
    const std::uint32_t* const end = slots_.data() + slots_at_[path + 1];
    std::uint64_t* to = stream + next;
    for (const std::uint32_t* slot = slots_.data() + slots_at_[path]; slot != end; slot += kStep, to += kStep) {
      to[0] = row[slot[0]];
      to[1] = row[slot[1]];
      to[2] = row[slot[2]];
      to[3] = row[slot[3]];
    }
    next += slot_counts_[path];
    row += run.paths[path].columns.size();
  };
  if (!run.sequence.empty()) {
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      used_ |= std::uint32_t{1} << run.sequence[i];
      copy(i, run.sequence[i]);
    }
  } else {
    used_ = std::uint32_t{1} << (run.paths.size() - 1) | (run.iterations > 1 ? 1u : 0u);
    for (std::uint64_t i = 0; i + 1 < run.iterations; ++i) copy(i, 0);
    copy(run.iterations - 1, run.paths.size() - 1);
  }
  return next - History::kReach;
}

/// Lists the iterations that take one of these paths.
void IrregularColumns::find_present(std::uint32_t paths) {
  if (present_ == paths) return;
  present_ = paths;
  present_count_ = iterations_;
  if (paths == used_) return;
  at_least(present_rows_, iterations_);
  at_least(present_paths_, iterations_);
  std::size_t count = 0;
  std::uint32_t* const rows = present_rows_.data();
  std::uint8_t* const taken = present_paths_.data();
  const std::uint32_t* const row_at = row_at_.data();
  const std::uint64_t iterations = iterations_;
  const auto add = [&](std::uint64_t iteration, std::uint8_t path) {
    rows[count] = row_at[iteration];
    taken[count] = path;
    count += paths >> path & 1;
  };
  if (!sequence_.empty()) {
    const std::uint8_t* const sequence = sequence_.data();
    for (std::uint64_t i = 0; i < iterations; ++i) add(i, sequence[i]);
  } else {
    for (std::uint64_t i = 0; i + 1 < iterations; ++i) add(i, 0);
    add(iterations - 1, static_cast<std::uint8_t>(paths_ - 1));
  }
  present_count_ = count;
}

/// Finds the places of the column's values in the stream, and the values. Returns how many they are.
std::size_t IrregularColumns::locate(std::size_t column, const RunTables::Column& memory) {
  const std::uint32_t* const orders = orders_.data() + index_[column];
  find_present(memory.paths & used_);
  const bool all = present_ == used_;
  const std::uint32_t* const rows = all ? row_at_.data() : present_rows_.data();
  const std::size_t count = present_count_;
  const std::uint32_t first = orders[std::countr_zero(present_)];
  bool even = true;
  for (std::size_t p = 0; p < paths_; ++p) even &= (present_ >> p & 1) == 0 || orders[p] == first;
  if (even) {
    places_ = rows;
    base_ = stream_.data() + first;
  } else {
    at_least(own_places_, count);
    std::uint32_t* const places = own_places_.data();
    if (all && sequence_.empty()) {
      for (std::size_t k = 0; k + 1 < count; ++k) places[k] = rows[k] + orders[0];
      places[count - 1] = rows[count - 1] + orders[paths_ - 1];
    } else {
      const std::uint8_t* const taken = all ? sequence_.data() : present_paths_.data();
      for (std::size_t k = 0; k < count; ++k) places[k] = rows[k] + orders[taken[k]];
    }
    places_ = places;
    base_ = stream_.data();
  }
  at_least(values_, count);
  gather(base_, places_, count, values_.data());
  return count;
}

/// How often a rest is the same as the one before, among the probes, whose values and places in the stream these are.
unsigned IrregularColumns::score(const Probes& probes, unsigned distance, unsigned shift) {
  static_assert(kProbes == 5);
  const auto rest = [&](std::size_t k) { return probes.values[k] - (*(probes.places[k] - distance) << shift); };
  const std::uint64_t first = rest(1);
  const std::uint64_t second = rest(2);
  const std::uint64_t third = rest(3);
  return (first == second ? 1u : 0u) + (second == third ? 1u : 0u) + (third == rest(4) ? 1u : 0u);
}

/// Finds a relation that may be worth it, the known one first.
bool IrregularColumns::search(const Relation& known, Relation& found) const {
  Probes probes;
  for (std::size_t k = 1; k < kProbes; ++k) {
    probes.values[k] = values_[k];
    probes.places[k] = base_ + places_[k];
  }
  unsigned best = kProbes - 4;
  if (known.distance != 0 && score(probes, known.distance, known.shift) > best) {
    found = known;
    return true;
  }
  for (unsigned distance = 1; distance <= History::kReach; ++distance) {
    for (unsigned shift = 0; shift < Relation::kShifts; ++shift) {
      const unsigned same = score(probes, distance, shift);
      if (same <= best) continue;
      best = same;
      found = {0, static_cast<std::uint8_t>(distance), static_cast<std::uint8_t>(shift)};
      if (best == kProbes - 2) return true;
    }
  }
  return best > kProbes - 4;
}

/// Computes the rests; true if they are easier to guess than the values. They follow if they are all the same.
bool IrregularColumns::relate(const Relation& relation, std::size_t count, bool& follows) {
  at_least(rests_, count);
  std::uint64_t* const rests = rests_.data();
  const std::uint64_t* const values = values_.data();
  const std::uint64_t* const stream = base_ - relation.distance;
  const std::uint32_t* const places = places_;
  std::uint64_t rest = values[1] - (stream[places[1]] << relation.shift);
  std::uint64_t step = values[1] - values[0];
  std::size_t rest_changes = 0;
  std::size_t value_changes = 0;
  rests[0] = values[0];
  rests[1] = rest;
  std::uint64_t value = values[1];
  const unsigned shift = relation.shift;
  for (std::size_t k = 2; k < count; ++k) {
    const std::uint64_t next_rest = values[k] - (stream[places[k]] << shift);
    const std::uint64_t next_step = values[k] - value;
    value = values[k];
    rest_changes += next_rest != rest ? 1 : 0;
    value_changes += next_step != step ? 1 : 0;
    rests[k] = rest = next_rest;
    step = next_step;
  }
  follows = rest_changes == 0;
  return 2 * rest_changes < value_changes;
}

void IrregularColumns::trim() {
  for (std::vector<std::uint64_t>* const buffer : {&stream_, &values_, &rests_}) {
    if (buffer->size() > kMostKept) *buffer = {};
  }
  for (std::vector<std::uint32_t>* const buffer : {&row_at_, &present_rows_, &own_places_}) {
    if (buffer->size() > kMostKept) *buffer = {};
  }
}

IrregularColumns::Choice IrregularColumns::choose(std::size_t column, RunTables::Column& memory) {
  const std::size_t count = locate(column, memory);
  last_[column] = values_[count - 1];
  const Choice plain = {{}, false, {values_.data(), count}};
  if (count < kProbes) return plain;
  if (memory.wait != 0) {
    --memory.wait;
    return plain;
  }
  Choice choice;
  if (!search(memory.relation, choice.relation) || !relate(choice.relation, count, choice.follows)) {
    give_up(memory);
    return plain;
  }
  memory.patience = 0;
  choice.values = {rests_.data(), count};
  choice.relation.delta = choice.follows ? choice.values[1] : memory.relation.delta;
  return choice;
}

}  // namespace loopfold::trace
