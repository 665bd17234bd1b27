// Rounds: registers and places of spills that a round finds, and what the next one finds there.
//
// All of it follows from what the round before has left. Mostly that was made in that round, whatever the round found:
// then the next one makes it again. Where it was not, what there was when the round began is compared with what there
// is when it ends: if all of that has moved on by one iteration of the loop around, or is from outside of the loop and
// the same, then so it will behind every other round.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

/// Before a round that may look at the same as the last one that was recorded.
void Builder::take_snapshot(const ThreadState& thread) {
  RecordedRound& round = round_;
  round.cells_before.clear();
  round.where_before.clear();
  round.kept_before.clear();
  for (const Granule granule : round.exposed_list) {
    round.cells_before.push_back(thread.registers[granule]);
    round.where_before.push_back(thread.origins.where[granule]);
    round.kept_before.push_back(thread.origins.kept[granule]);
  }
  for (RecordedRound::Slot& slot : round.slots_before) {
    const Spill* const spill = origins_.spilled_at(slot.address, slot.size);
    const Provenance* const value =
        spill != nullptr ? spill->value.only(static_cast<std::uint8_t>(slot.size - 1)) : nullptr;
    slot.known = value != nullptr;
    if (!slot.known) continue;
    slot.cell = spill->cell;
    slot.value = *value;
  }
}

/// Whether an instance is not in this entry of the loop around.
bool Builder::is_outside_round(const Cell& cell) const {
  if (cell.producer == 0 || cell.producer == kLostProducer) return false;
  EntryId entry = cell.entry;
  while (entry != kNoEntry && entries_.depth(entry) > entries_.depth(round_.entry)) entry = entries_.parent(entry);
  return entry != round_.entry;
}

/// By one iteration of the loop around; or it is outside of that, and the same.
bool Builder::has_moved_on(const Cell& before, const Cell& now) const {
  if (before == now) return now.producer == 0 || is_outside_round(now);
  if (before.producer != now.producer || now.producer == kLostProducer) return false;
  if (before.entry == round_.entry) return now.entry == round_.entry && before.counter + 1 == now.counter;
  if (entries_.depth(before.entry) != entries_.depth(now.entry)) return false;
  return before.counter == now.counter && entries_.parent(before.entry) == round_.entry &&
         entries_.parent(now.entry) == round_.entry &&
         entries_.parent_counter(before.entry) + 1 == entries_.parent_counter(now.entry);
}

/// What a load of this entry of the loop got does not count as such.
bool Builder::has_moved_on(const Provenance& before, const Provenance& now) const {
  if (before.none || now.none) return before.none == now.none;
  if (!has_moved_on(before.origin, now.origin)) return false;
  return !now.load || is_outside_round(now.origin);
}

/// All that the round looks at and writes.
bool Builder::state_has_moved_on(const ThreadState& thread) {
  const RecordedRound& round = round_;
  if (!round.has_snapshot) return false;
  for (std::size_t i = 0; i < round.exposed_list.size(); ++i) {
    const Granule granule = round.exposed_list[i];
    const std::uint8_t where = thread.origins.where[granule];
    if (!has_moved_on(round.cells_before[i], thread.registers[granule]) || where != round.where_before[i]) return false;
    if (where == RegisterOrigins::kKept && !has_moved_on(round.kept_before[i], thread.origins.kept[granule]))
      return false;
  }
  return std::all_of(round.slots_before.begin(), round.slots_before.end(), [&](const RecordedRound::Slot& slot) {
    const Spill* const spill = origins_.spilled_at(slot.address, slot.size);
    const Provenance* const value =
        spill != nullptr ? spill->value.only(static_cast<std::uint8_t>(slot.size - 1)) : nullptr;
    return slot.known && value != nullptr && has_moved_on(slot.cell, spill->cell) && has_moved_on(slot.value, *value);
  });
}

/// Of registers that the round looks at, those that it writes itself move on: if what they have in the end was made in
/// it, or all has moved on. All others stay as they are.
bool Builder::may_repeat_registers(const ThreadState& thread, const GranuleBits& written) {
  round_.moved = {};
  round_.origin_moved = {};
  round_.kept_loads.clear();
  round_.must_compare = false;
  for (const Granule granule : round_.exposed_list) {
    const bool is_kept = thread.origins.where[granule] == RegisterOrigins::kKept;
    const Provenance& kept = thread.origins.kept[granule];
    if (!written.has(granule)) {
      if (is_kept && !kept.none && kept.load) round_.kept_loads.push_back(kept);
      continue;
    }
    if (!is_of_round(thread.registers[granule])) return false;
    round_.moved.add(granule);
    if (thread.origins.where[granule] == RegisterOrigins::kWriter) continue;
    if (!is_kept || kept.none) {
      // It may have been copied from where something will be.
      round_.must_compare = true;
      continue;
    }
    if (!kept.load && is_of_round(kept.origin)) {
      round_.origin_moved.add(granule);
      continue;
    }
    if (!note_older(kept, [&] { round_.origin_moved.add(granule); })) return false;
  }
  return true;
}

/// A value that was not made in the round: all is to be compared then. False: it cannot be taken.
template <class Moves>
bool Builder::note_older(const Provenance& value, const Moves& moves) {
  round_.must_compare = true;
  if (is_outside_round(value.origin)) {
    if (value.load) round_.kept_loads.push_back(value);
    return true;
  }
  if (value.load || value.origin.entry != round_.entry) return false;
  moves();
  return true;
}

/// Whether what is spilled and loaded in the round is, in all others, at the same place, and what it was; but for the
/// round that made it. What was spilled before the rounds stays; a value that a load got belongs to those that are
/// kept.
bool Builder::copies_repeat(const ThreadState& thread) {
  using From = RecordedRound::Access::From;
  slots_found_.clear();
  for (const RecordedRound::Access& at : round_.accesses) {
    if (!at.copy && !at.spilled) continue;
    if (at.growth != 0) return false;
    if (at.access->store) continue;
    if (at.from != From::kOutside) {
      const RecordedRound::Access& store = round_.accesses[at.store];
      if (!store.copy || store.address != at.address || store.access->size != at.access->size) return false;
      if (at.from == From::kHere) continue;
    }
    if (at.from == From::kOutside) {
      const auto keep = [&](const Provenance& value) {
        if (!value.none && value.load) round_.kept_loads.push_back(value);
        return true;
      };
      origins_.are_all_of(at.address, {0, at.access->size, at.cell}, keep);
      continue;
    }
    const Spill* const spill = origins_.spilled_at(at.address, at.access->size);
    const Provenance* const value =
        spill != nullptr ? spill->value.only(static_cast<std::uint8_t>(at.access->size - 1)) : nullptr;
    if (value == nullptr) return false;
    if (!is_of_round(spill->cell)) return false;
    slots_found_.push_back({at.address, at.access->size, false, {}, {}});
    if (value->none)
      round_.must_compare = true;
    else if ((value->load || !is_of_round(value->origin)) && !note_older(*value, [] {}))
      return false;
  }
  // Those of the last round that was recorded were compared.
  const auto is_same = [](const RecordedRound::Slot& a, const RecordedRound::Slot& b) {
    return a.address == b.address && a.size == b.size;
  };
  const bool same = std::equal(slots_found_.begin(), slots_found_.end(), round_.slots_before.begin(),
                               round_.slots_before.end(), is_same);
  const bool repeat = !round_.must_compare || (same && state_has_moved_on(thread));
  if (!same) round_.slots_before.assign(slots_found_.begin(), slots_found_.end());
  return repeat;
}

}  // namespace loopfold::ddg
