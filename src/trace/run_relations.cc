// The irregular columns of a run, made ready for coding; see run_relations.h.
#include "trace/run_relations.h"

#include <algorithm>

namespace loopfold::trace {
namespace {

constexpr std::uint8_t kMostPatience = 31;
constexpr std::size_t kMostKept = std::size_t{1} << 15;  // values

void give_up(RunTables::Column& memory) {
  memory.wait = memory.patience;
  memory.patience = static_cast<std::uint8_t>(std::min<unsigned>(kMostPatience, 2u * memory.patience + 1));
}

template <typename T>
void at_least(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(2 * size);
}

}  // namespace

/// Lists the irregular slots of each path.
void IrregularColumns::list_places(const Run& run, const RunTables::Loop& loop, SlotClass slot_class) {
  slots_.clear();
  orders_.clear();
  at_least(index_, run.columns.size());
  at_least(last_, run.columns.size());
  for (std::size_t i = 0; i < run.columns.size(); ++i) {
    if (run.columns[i].kind != RunColumn::Kind::kIrregular || loop.columns[i].slot_class != slot_class) {
      index_[i] = kAbsent;
      continue;
    }
    index_[i] = static_cast<std::uint32_t>(orders_.size());
    orders_.emplace_back();
    std::fill_n(orders_.back().begin(), run.paths.size(), kAbsent);
  }
  for (std::size_t p = 0; p < run.paths.size(); ++p) {
    slots_at_[p] = static_cast<std::uint32_t>(slots_.size());
    const std::span<const std::uint32_t> columns = run.paths[p].columns;
    for (std::uint32_t slot = 0; slot < columns.size() && !orders_.empty(); ++slot) {
      if (index_[columns[slot]] == kAbsent) continue;
      orders_[index_[columns[slot]]][p] = static_cast<std::uint32_t>(slots_.size()) - slots_at_[p];
      slots_.push_back(slot);
    }
  }
  slots_at_[run.paths.size()] = static_cast<std::uint32_t>(slots_.size());
}

std::size_t IrregularColumns::collect(const Run& run, std::span<const std::uint64_t> rows, const RunTables::Loop& loop,
                                      SlotClass slot_class) {
  list_places(run, loop, slot_class);
  if (orders_.empty()) return 0;
  iterations_ = run.iterations;
  paths_ = run.paths.size();
  sequence_ = run.sequence;
  std::fill_n(uses_.begin(), paths_, 0);
  at_least(stream_, History::kReach + rows.size());
  at_least(row_at_, run.iterations);
  std::uint64_t* const stream = stream_.data();
  std::uint32_t next = History::kReach;
  const std::uint64_t* row = rows.data();
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    const std::size_t path = run.path_of(i);
    ++uses_[path];
    row_at_[i] = next;
    const std::uint32_t* const end = slots_.data() + slots_at_[path + 1];
    for (const std::uint32_t* slot = slots_.data() + slots_at_[path]; slot != end; ++slot) stream[next++] = row[*slot];
    row += run.paths[path].columns.size();
  }
  return next - History::kReach;
}

/// Lists the places of the column's values in the stream, and the values. Returns how many they are.
std::size_t IrregularColumns::locate(std::size_t column, const RunTables::Column& memory) {
  const std::array<std::uint32_t, kMaxRunPaths>& orders = orders_[index_[column]];
  std::uint64_t uses = 0;
  for (std::size_t p = 0; p < paths_; ++p) uses += (memory.paths >> p & 1) != 0 ? uses_[p] : 0;
  at_least(places_, iterations_ + 1);
  at_least(values_, uses + 1);
  std::uint32_t* const places = places_.data();
  std::size_t count = 0;
  if (sequence_.empty()) {
    const std::uint32_t order = orders[0];
    if (order != kAbsent) {
      for (; count + 1 < iterations_; ++count) places[count] = row_at_[count] + order;
    }
    if (orders[paths_ - 1] != kAbsent) places[count++] = row_at_[iterations_ - 1] + orders[paths_ - 1];
  } else if (4 * uses >= iterations_) {
    for (std::uint64_t i = 0; i < iterations_; ++i) {
      const std::uint32_t order = orders[sequence_[i]];
      places[count] = row_at_[i] + order;
      count += order != kAbsent ? 1 : 0;
    }
  } else {
    for (std::uint64_t i = 0; i < iterations_; ++i) {
      if (orders[sequence_[i]] != kAbsent) places[count++] = row_at_[i] + orders[sequence_[i]];
    }
  }
  for (std::size_t k = 0; k < count; ++k) values_[k] = stream_[places[k]];
  return count;
}

/// How often a rest is the same as the one before, among the probes.
unsigned IrregularColumns::score(unsigned distance, unsigned shift) const {
  std::uint64_t last = values_[1] - (stream_[places_[1] - distance] << shift);
  unsigned same = 0;
  for (std::size_t k = 2; k < kProbes; ++k) {
    const std::uint64_t rest = values_[k] - (stream_[places_[k] - distance] << shift);
    same += rest == last ? 1 : 0;
    last = rest;
  }
  return same;
}

/// Finds a relation that may be worth it, the known one first.
bool IrregularColumns::search(const Relation& known, Relation& found) const {
  unsigned best = kProbes - 4;
  if (known.distance != 0 && score(known.distance, known.shift) > best) {
    found = known;
    return true;
  }
  for (unsigned distance = 1; distance <= History::kReach; ++distance) {
    for (unsigned shift = 0; shift < Relation::kShifts; ++shift) {
      const unsigned same = score(distance, shift);
      if (same <= best) continue;
      best = same;
      found = {0, static_cast<std::uint8_t>(distance), static_cast<std::uint8_t>(shift)};
      if (best == kProbes - 2) return true;
    }
  }
  return best > kProbes - 4;
}

/// Computes the rests; true if they are easier to guess than the values.
bool IrregularColumns::relate(const Relation& relation, std::size_t count) {
  at_least(rests_, count);
  std::uint64_t* const rests = rests_.data();
  const std::uint64_t* const values = values_.data();
  const std::uint64_t* const stream = stream_.data() - relation.distance;
  const std::uint32_t* const places = places_.data();
  for (std::size_t k = 0; k < count; ++k) rests[k] = values[k] - (stream[places[k]] << relation.shift);
  std::size_t rest_changes = 0;
  std::size_t value_changes = 0;
  for (std::size_t k = 2; k < count; ++k) {
    rest_changes += rests[k] != rests[k - 1] ? 1 : 0;
    value_changes += values[k] - values[k - 1] != values[k - 1] - values[k - 2] ? 1 : 0;
  }
  rests[0] = values[0];
  return 2 * rest_changes < value_changes;
}

void IrregularColumns::trim() {
  for (std::vector<std::uint64_t>* const buffer : {&stream_, &values_, &rests_}) {
    if (buffer->size() > kMostKept) *buffer = {};
  }
  for (std::vector<std::uint32_t>* const buffer : {&row_at_, &places_}) {
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
  if (!search(memory.relation, choice.relation) || !relate(choice.relation, count)) {
    give_up(memory);
    return plain;
  }
  memory.patience = 0;
  choice.values = {rests_.data(), count};
  choice.follows = std::all_of(choice.values.begin() + 2, choice.values.end(),
                               [&](std::uint64_t rest) { return rest == choice.values[1]; });
  choice.relation.delta = choice.follows ? choice.values[1] : memory.relation.delta;
  return choice;
}

}  // namespace loopfold::trace
