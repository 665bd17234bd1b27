// Origins behind copies during a stretch of iterations.
//
// The first iterations are followed until the exposed registers have the same origins in every iteration, but for the
// iteration that made them. From then on all are alike, and the last stands for all of them: it also leaves the
// registers as they are afterwards. Why that is exact: what an iteration does to origins depends on the exposed
// registers only, as long as no load gets a spilled value; so if they are the same but for the iteration once, they are
// so for ever. What is asked of memory, whether a cell has been written since it was loaded, has the same answer in all
// iterations if nothing of the stretch writes there and nothing of this entry of the loop has; or if all stores that
// touch it move along with the load, and one of the same iteration writes what was loaded. Where none of that holds,
// all iterations are followed.
//
// Most stretches need no first iteration: what they pass on from one to the next they make themselves, and a use of
// that counts nothing; or they load it, as the iteration before them did. If the first one finds something else there,
// a sum that was loaded or a counter that was copied, only its uses of these registers are done apart; all else in it
// is as in the others.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kMostBehind = 3;  // iterations that a value is passed on for, before it is the same each time

}  // namespace

/// Whether iterations may be alike though values are spilled or reloaded in them: what all of them load from one place,
/// which was spilled there before this entry of the loop; what the stretch itself writes to one place in each
/// iteration; what it spills and reloads in the same iteration; and what it spills to one place each time. The last is
/// state that is passed on, as registers are. False: all iterations are to be followed.
bool Builder::find_reloads() {
  stretch_.slots_change = false;
  stretch_.slots.clear();
  for (const StretchAccess& at : stretch_accesses()) {
    if (!at.access->store || !at.spill) continue;
    if (is_used_at_once(at))
      stretch_.slots_change = true;
    else if (!add_slot(at))
      return false;
  }
  if (stretch_.slots_change && !are_loads_steady()) return false;
  for (StretchAccess& at : stretch_accesses()) {
    if (at.access->store || is_stored_before(at)) continue;
    if (is_forgotten(at.lowest, at.highest)) {
      if (!finds_no_spill(at)) return false;
      continue;
    }
    if (!origins_.may_be_spilled(at.lowest, at.highest)) continue;
    if (!at.fixed || at.address.step != 0) return false;
    const Found found = found_by(at);
    if (found == Found::kBoth) return false;
    if (found == Found::kStored) {
      at.rewritten = !is_slot(at.address.start);
      stretch_.slots_change = true;
      continue;
    }
    const std::span<const OriginTracker::Chunk> chunks{chunks_.data(), read_chunks(at.address.start, at.access->size)};
    const auto stays = [&](const Provenance& value) {
      if (value.none) return true;
      if (value.origin.entry == stretch_.entry) return false;
      return !value.load || !(value.mixed || value.writers.entry == stretch_.entry ||
                              may_be_rewritten(value.address, value.address + value.size - 1));
    };
    for (const OriginTracker::Chunk& chunk : chunks)
      if (chunk.cell.entry == stretch_.entry || !origins_.are_all_of(at.address.start, chunk, stays)) return false;
    at.reloads = origins_.is_reload(*at.access, at.address.start, chunks);
  }
  return true;
}

/// Whether what is spilled is at one place, and is not found by the next iteration: whatever loads it was stored in the
/// same one. Then the last iteration leaves what all of them leave.
bool Builder::is_used_at_once(const StretchAccess& store) const {
  if (!store.fixed || store.address.step != 0) return false;
  return std::all_of(stretch_accesses().begin(), stretch_accesses().end(), [&](const StretchAccess& at) {
    return at.access->store || at.lowest > store.highest || at.highest < store.lowest || is_stored_before(at);
  });
}

/// What loads get may be spilled and reloaded, and asked about then.
bool Builder::are_loads_steady() const {
  return std::all_of(stretch_accesses().begin(), stretch_accesses().end(), [&](const StretchAccess& at) {
    const std::vector<OriginCode::Load>& loads = found_plan_->parts[at.part].code->origins.loads;
    const bool kept = at.access->load != MemoryAccess::kNo && loads[at.access->load].kept;
    return !kept || !may_be_rewritten(at.lowest, at.highest) || is_steady(at);
  });
}

/// Of a load from where something is forgotten, which nothing in the same iteration stored as a whole.
bool Builder::finds_no_spill(const StretchAccess& load) {
  const bool spilled = origins_.may_be_spilled(load.lowest, load.highest) ||
                       any_store(load.lowest, load.highest, [](const StretchAccess& store) { return store.spill; });
  if (!spilled) return true;
  return !any_store(load.lowest, load.highest, [](const StretchAccess&) { return true; }) && load.fixed &&
         load.address.step == 0 && read_chunks(load.address.start, load.access->size) == 0;
}

/// A place that something is spilled to in every iteration. False if it may be another place each time, or if something
/// else touches a part of it.
bool Builder::add_slot(const StretchAccess& store) {
  if (!store.fixed || store.address.step != 0 || is_forgotten(store.lowest, store.highest)) return false;
  for (const StretchAccess& at : stretch_accesses()) {
    if (at.lowest > store.highest || at.highest < store.lowest) continue;
    const bool same = at.fixed && at.lowest == store.lowest && at.highest == store.highest;
    if (!same || (at.access->store && !at.spill)) return false;
  }
  if (!is_slot(store.address.start)) stretch_.slots.push_back({store.address.start, store.access->size, {}, {}});
  return true;
}

bool Builder::is_slot(std::uint64_t address) const {
  return std::any_of(stretch_.slots.begin(), stretch_.slots.end(),
                     [&](const Stretch::Slot& slot) { return slot.address == address; });
}

/// Whether what was spilled is the same as an iteration ago, but for the iteration, when iteration k begins.
Builder::Stretch::Origins Builder::compare_slots(std::uint64_t k) {
  using Origins = Stretch::Origins;
  bool same = true;
  for (Stretch::Slot& slot : stretch_.slots) {
    const Spill* const spill = origins_.spilled_at(slot.address, slot.size);
    const Provenance* const value =
        spill != nullptr ? spill->value.only(static_cast<std::uint8_t>(slot.size - 1)) : nullptr;
    if (value == nullptr || (value->load && !value->none)) return Origins::kAll;
    const auto later = [&](Cell cell) {
      if (cell.entry == stretch_.entry) ++cell.counter;
      return cell;
    };
    same = same && spill->cell == later(slot.cell) && value->none == slot.value.none &&
           (value->none || value->origin == later(slot.value.origin));
    slot.cell = spill->cell;
    slot.value = *value;
  }
  if (same) return Origins::kEnds;
  return k > kMostBehind ? Origins::kAll : Origins::kNotYet;
}

/// What was spilled becomes what it is so many iterations later.
void Builder::move_slots(std::uint64_t iterations) {
  for (const Stretch::Slot& slot : stretch_.slots)
    origins_.move_spill(slot.address, slot.size, [&](Cell& cell) {
      if (cell.entry == stretch_.entry) cell.counter += iterations;
    });
}

Builder::Found Builder::found_by(const StretchAccess& load) const {
  bool whole = false;
  bool steady = true;
  bool written = false;
  any_store(load.lowest, load.highest, [&](const StretchAccess& at) {
    written = true;
    steady = steady && at.fixed && at.address.step == 0;
    whole = whole || (at.lowest <= load.lowest && at.highest >= load.highest);
    return false;
  });
  if (!written) return Found::kBefore;
  return whole && steady ? Found::kStored : Found::kBoth;
}

/// Whether the origins of values are the same in all iterations from k on, but for the iteration. A value that an
/// iteration before loaded counts as such if nothing of the stretch writes where it was loaded from, and nothing of
/// this entry of the loop has; or if it surely is written before it is used.
Builder::Stretch::Origins Builder::origins_of_stretch(const StretchPlan& plan, std::uint64_t k) {
  using Origins = Stretch::Origins;
  for (const StretchAccess& at : stretch_accesses())
    if (keeps_uneven(plan, at) && !is_shown_uneven(plan, at) && !shows_uneven(addresses_of(at), k))
      return Origins::kAll;
  for (const std::uint32_t access : plan.copied_loads) {
    const StretchAccess& at = stretch_.accesses[access];
    if (may_be_rewritten(at.lowest, at.highest) && !is_steady(at)) return Origins::kAll;
  }
  bool compare = false;
  for (std::size_t i = 0; i < plan.exposed.size(); i += alike(plan.exposed[i])) {
    const StretchPlan::Exposed& exposed = plan.exposed[i];
    if (stretch_.thread->registers[exposed.granule].producer == 0) continue;
    const std::uint8_t where = stretch_.thread->origins.where[exposed.granule];
    if (where == RegisterOrigins::kWriter) continue;
    const Provenance& kept = stretch_.thread->origins.kept[exposed.granule];
    const bool load = where == RegisterOrigins::kKept && kept.load;
    const bool of_loop = exposed.written && kept.origin.entry == stretch_.entry;
    if (load && of_loop) {
      const StretchAccess* const at = load_of(kept);
      if (at == nullptr) return Origins::kAll;
      if (!at->address.even && !(at->gathered && is_shown_uneven(plan, *at))) return Origins::kAll;
      const bool reads_first = at->turn == StretchAccess::Turn::kBefore;
      if (!is_rewritten_at_once(*at) && (!reads_first || at->began_in_loop)) return Origins::kAll;
      if (kept.origin.counter < stretch_.counter) return k > kMostBehind ? Origins::kAll : Origins::kNotYet;
      compare = compare || !exposed.loaded;
      continue;
    }
    if (load && may_be_rewritten(kept.address, kept.address + kept.size - 1)) return Origins::kAll;
    compare = compare || exposed.written;
  }
  return compare ? compare_origins(plan, k) : Origins::kEnds;
}

/// Whether a use in the same iteration finds that what it got has been written since, in all iterations but the first
/// or in none: all stores that touch it move along with it, and what is forgotten there does so too.
bool Builder::is_steady(const StretchAccess& load) const {
  if (!load.address.even || (load.address.step != 0 && is_forgotten(load.lowest, load.highest))) return false;
  return !any_store(load.lowest, load.highest,
                    [&](const StretchAccess& at) { return !at.address.even || at.address.step != load.address.step; });
}

/// A load whose addresses must be known to be even or not, and are not even.
bool Builder::keeps_uneven(const StretchPlan& plan, const StretchAccess& at) const {
  return !at.address.even && at.access->load != MemoryAccess::kNo &&
         plan.parts[at.part].code->origins.loads[at.access->load].kept;
}

/// By a store of the same iteration, behind it; and all stores that touch it move along with it.
bool Builder::is_rewritten_at_once(const StretchAccess& load) const {
  if (is_forgotten(load.lowest, load.highest)) return false;
  bool rewritten = false;
  const bool other = any_store(load.lowest, load.highest, [&](const StretchAccess& at) {
    const bool same = at.address.start < load.address.start + load.access->size &&
                      load.address.start < at.address.start + at.access->size;
    rewritten = rewritten || (&at > &load && same);
    return !at.address.even || at.address.step != load.address.step;
  });
  return rewritten && !other;
}

/// The load of the path that a value comes from.
const StretchAccess* Builder::load_of(const Provenance& provenance) const {
  for (const StretchAccess& at : stretch_accesses())
    if (!at.access->store && at.cell.producer == provenance.origin.producer) return &at;
  return nullptr;
}

/// Compares exposed registers, as they are when iteration k begins, with what they were an iteration ago, if that is
/// known, and remembers them.
Builder::Stretch::Origins Builder::compare_origins(const StretchPlan& plan, std::uint64_t k) {
  using Origins = Stretch::Origins;
  const RegisterOrigins& now = stretch_.thread->origins;
  const std::uint64_t counter = stretch_.counter + k;
  bool same = snapshot_.plan == &plan && snapshot_.entry == stretch_.entry && snapshot_.counter + 1 == counter;
  for (std::size_t i = 0; i < plan.exposed.size() && same; ++i) {
    const Granule granule = plan.exposed[i].granule;
    if (!plan.exposed[i].written) continue;
    same = now.where[granule] == snapshot_.where[i];
    if (!same || snapshot_.where[i] != RegisterOrigins::kKept) continue;
    Cell before = snapshot_.origins[i];
    if (before.entry == stretch_.entry) ++before.counter;
    same = before == now.kept[granule].origin;
  }
  if (same) return Origins::kEnds;
  if (k > kMostBehind) return Origins::kAll;
  snapshot_.plan = &plan;
  snapshot_.entry = stretch_.entry;
  snapshot_.counter = counter;
  snapshot_.where.resize(plan.exposed.size());
  snapshot_.origins.resize(plan.exposed.size());
  for (std::size_t i = 0; i < plan.exposed.size(); ++i) {
    snapshot_.where[i] = now.where[plan.exposed[i].granule];
    snapshot_.origins[i] = now.kept[plan.exposed[i].granule].origin;
  }
  return Origins::kNotYet;
}

/// By a store of the stretch; or forgotten.
bool Builder::may_be_rewritten(std::uint64_t first, std::uint64_t last) const {
  if (is_forgotten(first, last)) return true;
  return any_store(first, last, [](const StretchAccess&) { return true; });
}

/// The first iterations, or what one uses, until they are all alike; the last, which stands for all that follow; or one
/// of these, and the last, if it cannot.
void Builder::run_with_origins(const StretchPlan& plan) {
  using Origins = Stretch::Origins;
  const std::uint64_t last = stretch_.n - 1;
  std::uint64_t k = 0;
  const Start start = start_of(plan);
  if (start == Start::kTypicalButUses) use_what_was_before(plan);
  if (start == Start::kOther) {
    do {
      follow_iteration(plan, k++);
      if (stretch_.origins == Origins::kAll) continue;
      const Origins slots = compare_slots(k);
      stretch_.origins = slots == Origins::kAll ? slots : origins_of_stretch(plan, k);
      if (stretch_.origins == Origins::kEnds) stretch_.origins = slots;
    } while (stretch_.origins == Origins::kNotYet && k < last);
    if (stretch_.origins != Origins::kEnds) {
      for (; k <= last; ++k) follow_iteration(plan, k);
      return note_uneven(plan);
    }
  }
  if (start == Start::kTypicalButUses || last_stands_for(plan, k)) {
    pass_iterations(plan, k, last);
    move_registers(plan, k, last);
    move_slots(last - k);
    origins_.records().set_times_before(last - k + 1, load_steps(plan));
    follow_iteration(plan, last);
    origins_.records().set_times(1);
    note_lanes(plan, k);
    return;
  }
  if (k < last) {
    origins_.records().set_times(last - k);
    follow_iteration(plan, k);
    origins_.records().set_times(1);
    pass_iterations(plan, k + 1, last);
    move_registers(plan, k + 1, last);
    move_slots(last - k - 1);
  }
  follow_iteration(plan, last);
  note_lanes(plan, k + 1);
  note_uneven(plan);
}

/// Typical: all that the path passes on to its next iteration is made by it, and was made as it would be, or loaded;
/// and all else that it finds has the same origin, as far away, in all iterations.
Builder::Start Builder::start_of(const StretchPlan& plan) {
  if (stretch_.origins == Stretch::Origins::kAll || stretch_.slots_change || !stretch_.slots.empty() ||
      !plan.copied_loads.empty())
    return Start::kOther;
  for (const StretchAccess& at : stretch_accesses())
    if (keeps_uneven(plan, at) && !is_shown_uneven(plan, at)) return Start::kOther;
  Start start = Start::kTypical;
  bool loads = false;
  for (std::size_t i = 0; i < plan.exposed.size(); i += alike(plan.exposed[i])) {
    const StretchPlan::Exposed& exposed = plan.exposed[i];
    const bool direct = stretch_.thread->origins.where[exposed.granule] == RegisterOrigins::kWriter;
    if (exposed.written && !exposed.made && is_loaded_as_always(exposed)) {
      loads = true;
      continue;
    }
    if (exposed.written && (!exposed.made || exposed.copied)) return Start::kOther;
    if (direct) continue;
    if (!(exposed.written ? is_used_once(exposed.granule) : stays_the_same(exposed.granule))) return Start::kOther;
    if (exposed.written) start = Start::kTypicalButUses;
  }
  if (start == Start::kTypicalButUses && (loads || plan.mixes_uses || stretch_.n < 2 || !last_stands_for(plan, 0)))
    return Start::kOther;
  return start;
}

/// Of a register that the path leaves with what a load got: whether the iteration before did so too, at the place that
/// the addresses of the stretch go on from, so that the first iteration finds what the others find, one iteration
/// earlier. Whether it has been rewritten, and whether this entry of the loop had written it, must be as for them.
bool Builder::is_loaded_as_always(const StretchPlan::Exposed& exposed) {
  const ThreadState& thread = *stretch_.thread;
  const Cell before{exposed.writer, stretch_.entry, stretch_.counter - 1};
  const Provenance& kept = thread.origins.kept[exposed.granule];
  if (!exposed.loaded || !(thread.registers[exposed.granule] == before)) return false;
  if (thread.origins.where[exposed.granule] != RegisterOrigins::kKept || kept.none || !kept.load || kept.mixed)
    return false;
  const StretchAccess* const at = load_of(kept);
  if (at == nullptr || !(kept.origin == before) || at->reloads || !at->address.even) return false;
  if (kept.size != at->access->size || kept.address != at->address.start - at->address.step) return false;
  const bool rewritten = is_rewritten(memory_, kept);
  if (is_rewritten_at_once(*at)) return rewritten;
  if (rewritten || may_be_rewritten(at->lowest, at->highest)) return false;
  if (at->turn != StretchAccess::Turn::kBefore || at->began_in_loop) return false;
  return kept.writers.producer == 0 || !is_of_loop(at->reader.site, kept.writers);
}

/// Of a register that only the first iteration finds as it is: whether memory has been written since it was loaded does
/// not depend on the stretch.
bool Builder::is_used_once(Granule granule) const {
  const Provenance& kept = stretch_.thread->origins.kept[granule];
  return stretch_.thread->origins.where[granule] == RegisterOrigins::kNowhere || kept.none || !kept.load ||
         !may_be_rewritten(kept.address, kept.address + kept.size - 1);
}

/// By the first iteration. Afterwards registers are as if the path had made them before.
void Builder::use_what_was_before(const StretchPlan& plan) {
  ThreadState& thread = *stretch_.thread;
  set_iteration(0);
  const PathPart* begun = nullptr;
  for (const StretchPlan::FirstUse& first : plan.first_uses) {
    const PathPart& part = plan.parts[first.part];
    const Instance instance{part.site, stretch_.entry, stretch_.counter};
    if (begun != &part) origins_.begin(*part.code, tracked(instance), thread.registers, thread.origins);
    begun = &part;
    origins_.use_as_found(*first.use);
  }
  for (std::size_t i = 0; i < plan.exposed.size(); i += plan.exposed[i].run)
    if (plan.exposed[i].written) thread.origins.set_written(plan.exposed[i].granule, plan.exposed[i].run);
}

/// Of a register that the path does not write, and whose origin is not its last writer: it was there before the loop
/// was entered, and if it was loaded, the stretch does not write there.
bool Builder::stays_the_same(Granule granule) const {
  const auto is_outside = [&](const Cell& cell) { return entries_.depth(cell.entry) < levels_->size(); };
  const ThreadState& thread = *stretch_.thread;
  if (!is_outside(thread.registers[granule])) return false;
  if (thread.origins.where[granule] == RegisterOrigins::kNowhere) return true;
  const Provenance& kept = thread.origins.kept[granule];
  if (kept.none || !is_outside(kept.origin)) return false;
  return !kept.load || !may_be_rewritten(kept.address, kept.address + kept.size - 1);
}

/// Whether the last iteration tells all about those from k on, which are alike: addresses are even, or whoever uses
/// what was loaded is known to get it from addresses that are not; no use gets what is one iteration further away each
/// time, and the first iteration has no chunks that the others do not have.
bool Builder::last_stands_for(const StretchPlan& plan, std::uint64_t k) const {
  for (const StretchAccess& at : stretch_accesses())
    if (keeps_uneven(plan, at) && !is_shown_uneven(plan, at)) return false;
  const ThreadState& thread = *stretch_.thread;
  const StretchPlan::Exposed* before = nullptr;
  for (std::size_t i = 0; i < plan.exposed.size();) {
    const StretchPlan::Exposed& exposed = plan.exposed[i];
    const Cell& cell = thread.registers[exposed.granule];
    if (!exposed.written && cell.producer != 0) {
      if (cell.entry == stretch_.entry) return false;
      if (thread.origins.where[exposed.granule] == RegisterOrigins::kKept &&
          thread.origins.kept[exposed.granule].origin.entry == stretch_.entry)
        return false;
    }
    const bool goes_on = before != nullptr && before->granule + 1 == exposed.granule && exposed.written &&
                         before->writer == exposed.writer;
    if (k == 0 && goes_on && !(cell == thread.registers[before->granule])) return false;
    i += alike(exposed);
    before = &plan.exposed[i - 1];
  }
  return true;
}

/// Of the loads of the path whose addresses are even.
std::span<const OriginRecords::LoadStep> Builder::load_steps(const StretchPlan& plan) {
  load_steps_.clear();
  for (const StretchAccess& at : stretch_accesses())
    if (at.access->load != MemoryAccess::kNo && plan.parts[at.part].code->origins.loads[at.access->load].kept)
      load_steps_.push_back({at.cell.producer, at.address.step});
  if (load_steps_.empty()) load_steps_.push_back({});
  return load_steps_;
}

/// Registers that are as they are when iteration `from` begins become what they are when `to` begins.
void Builder::move_registers(const StretchPlan& plan, std::uint64_t from, std::uint64_t to) {
  if (from == to) return;
  ThreadState& thread = *stretch_.thread;
  part_moved_registers(plan);
  for (std::size_t i = 0; i < plan.exposed.size(); i += plan.exposed[i].run) {
    const StretchPlan::Exposed& exposed = plan.exposed[i];
    if (!exposed.written) continue;
    fill_cells(&thread.registers[exposed.granule], exposed.run,
               {exposed.writer, stretch_.entry, stretch_.counter + to - 1});
    for (std::size_t granule = exposed.granule; granule < std::size_t{exposed.granule} + exposed.run; ++granule) {
      Provenance& kept = thread.origins.kept[granule];
      if (thread.origins.where[granule] != RegisterOrigins::kKept || kept.origin.entry != stretch_.entry) continue;
      if (kept.load) move_load(kept, from, to);
      kept.origin.counter += to - from;
    }
  }
}

/// Neighbours that are moved alike stay one chunk if they are one.
void Builder::part_moved_registers(const StretchPlan& plan) {
  GranuleSet& joined = stretch_.thread->origins.joined;
  for (std::size_t i = 0; i < plan.exposed.size(); i += plan.exposed[i].run) {
    if (!plan.exposed[i].written) continue;
    joined.remove(plan.exposed[i].granule);
    joined.remove(plan.exposed[i].granule + std::size_t{plan.exposed[i].run});
  }
}

/// What was loaded has not been written since; or it surely has.
void Builder::move_load(Provenance& load, std::uint64_t from, std::uint64_t to) const {
  const std::uint64_t iterations = to - from;
  const StretchAccess& at = *load_of(load);
  load.address = at.address.even ? load.address + at.address.step * iterations
                                 : addresses_of(at)[load.origin.counter - stretch_.counter + iterations];
  const std::uint64_t age = stretch_.counter + from - load.origin.counter;
  if (is_rewritten_at_once(at) || is_overtaken(at, age))
    load.stale = true;
  else
    note_writers(memory_, load);
}

/// Whether a store of the stretch has written what was loaded so many iterations ago, when an iteration begins: in the
/// one that loaded it, behind the load, or in one since. If the load comes before all stores that touch what it reads
/// (take_turns()), these move along with it, so it is so in all iterations or in none.
bool Builder::is_overtaken(const StretchAccess& load, std::uint64_t age) const {
  return std::any_of(stretch_accesses().begin(), stretch_accesses().end(), [&](const StretchAccess& at) {
    if (!at.access->store || at.lowest > load.highest || at.highest < load.lowest) return false;
    for (std::uint64_t since = &at > &load ? 0 : 1; since < age; ++since) {
      const std::uint64_t stored = at.address.start + at.address.step * since;
      if (stored < load.address.start + load.access->size && load.address.start < stored + at.access->size) return true;
    }
    return false;
  });
}

/// Lanes of loads that only iterations had which were passed over, the first of them or later. What the last iteration
/// had is known.
void Builder::note_lanes(const StretchPlan& plan, std::uint64_t first_passed) {
  for (const StretchAccess& at : stretch_accesses()) {
    for (const StretchAccess::Ended& ended : at.ended) {
      const auto same = [&](const DependencePiece& piece) { return piece.lane == ended.lane; };
      if (ended.iteration < first_passed || std::any_of(at.pieces.begin(), at.pieces.end(), same)) continue;
      const PathPart& part = plan.parts[at.part];
      set_iteration(ended.iteration);
      const Instance instance{part.site, stretch_.entry, stretch_.counter + ended.iteration};
      origins_.note_load(*part.code, tracked(instance), *at.access, ended.lane, ended.cell);
    }
  }
}

}  // namespace loopfold::ddg
