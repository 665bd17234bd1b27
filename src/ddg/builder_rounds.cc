// Rounds: how one is recorded, and how it is found out that more like it can be taken at once (recorded_round.h).
//
// A round may have parts in the loop around, and stretches of loops directly inside of it, each of them all of its
// loop. It can be taken again if
// - all that it looks at in registers before writing it is, when it ends, what it was when it began, or that moved on
// by
//   one iteration of the loop around: then it will be so behind every other round;
// - its accesses stay in their blocks, and no load reads what an earlier round stores, or an earlier store of its own,
//   unless it gets all of that, and only that, from one store of this round or the one before;
// - what its parts spill and reload is at one place, and is what it was, but for the round that made it;
// - nothing in it is called, guarded, or of another stack, and its stretches spill to one place each time, and reload
//   from one: what was there before, or what the same iteration has spilled.
// Left to builder_rounds_take.cc is what depends on the rounds that come: numbers must be even, and what loads find
// must have been written outside of this entry of the loop around, by producers that it had before.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kMostRounds = 1024;  // at once
constexpr std::uint64_t kFewestRounds = 3;

}  // namespace

void Builder::begin_round(const Where& where) {
  spoil_round();
  if (!options_.by_runs || recording_path_ || slice_ != 1 || !waiting_.empty()) return;
  end_trail();
  round_.watching = round_.recording = true;
  round_.whole = true;
  round_.events = events_;
  round_.instructions = instructions_;
  round_.parts = stack(where.stack).parts;
  round_.item = 0;
  round_.count = 0;
  round_.rows.clear();
  round_.accesses.clear();
  // If it was asked for the last time.
  round_.has_snapshot = round_.must_compare;
  if (round_.has_snapshot) take_snapshot(thread(where.thread));
}

void Builder::round_item(const trace::Run& run, std::size_t first) {
  ++round_.item;
  round_.first = first;
  round_.iterations = run.iterations;
  round_.slots = run.literal() ? run.slots.data() : nullptr;
}

namespace {

RecordedRound::Step& add_step(RecordedRound& round) {
  if (round.count == round.steps.size()) round.steps.emplace_back();
  RecordedRound::Step& step = round.steps[round.count++];
  step.item = round.item - 1;
  step.first = round.first;
  step.first_access = round.accesses.size();
  step.accesses = 0;
  step.moves.clear();
  return step;
}

}  // namespace

void Builder::see_round_part(SiteId site, const PartCode& code, const trace::Block& block) {
  if (!round_.silent) return note_round_part(site, code, block);
  ++round_.seen;
  if (last_row_ != nullptr) journals_[site]->take_back(code);
}

/// The part that has just run.
void Builder::note_round_part(SiteId site, const PartCode& code, const trace::Block& block) {
  RecordedRound& round = round_;
  if (!round.whole) return;
  const std::uint64_t* const row = last_row_;
  const bool guarded = std::any_of(code.accesses.begin(), code.accesses.end(),
                                   [](const MemoryAccess& access) { return access.guarded; });
  round.whole = row != nullptr && round.slots != nullptr && !code.moves_stack_pointer && !code.unknown && !guarded &&
                code.x87_live_outs.empty() && !journals_[site]->has_extra() && !Streams::cold(streams_.locate(site));
  if (!round.whole) return;
  RecordedRound::Step& step = add_step(round);
  step.plan = nullptr;
  step.site = site;
  step.code = &code;
  step.block = &block;
  step.first += static_cast<std::size_t>(slots_ - round.slots);
  step.row = round.rows.size();
  round.rows.insert(round.rows.end(), row, row + code.row.words);
  step.counter = row[1];
  step.serial = row[2];
  for (const MemoryAccess& access : code.accesses) {
    const std::uint64_t* const noted = row + access.in_row;
    round.whole = round.whole && (noted[0] & Journal::kHappened) != 0;
    RecordedRound::Access& at = round.accesses.emplace_back();
    at.copy = (noted[0] & Journal::kCopy) != 0;
    at.access = &access;
    at.block = &block;
    at.step = round.count - 1;
    at.place = {static_cast<ObjectId>(noted[0]), static_cast<std::int64_t>(noted[1]),
                static_cast<std::int64_t>(noted[2])};
    at.site = site;
    if (!access.store) {
      const Cell cell = Journal::cell(noted + Journal::kPlace);
      round.whole = round.whole && cell.producer != kLostProducer;
      at.cell = cell;
      at.spilled = origins_.has_spilled(cell.producer);
      at.empty = cell.producer == 0;
      at.met = round.met_by(site, access);
      at.met->add(cell.producer, 0);
    }
    ++step.accesses;
  }
}

/// The spill of the stretch that has just run whose value a load got back in all iterations, each time that of the same
/// iteration; null if there is none.
const StretchAccess* Builder::spill_of(const StretchAccess& load) {
  if (load.access->store || (options_.origins && (!load.reloads || load.copies != stretch_.n)) ||
      load.address.step != 0 || load.pieces.size() != 1 || !load.ended.empty())
    return nullptr;
  const DependencePiece& piece = load.pieces[0];
  if (piece.entry != stretch_.entry || piece.counter != stretch_.counter || piece.step != 1 || piece.n != stretch_.n ||
      piece.lane != 0)
    return nullptr;
  for (const StretchAccess& store :
       stretch_accesses().first(static_cast<std::size_t>(&load - stretch_.accesses.data())))
    if (store.spill && store.cell.producer == piece.producer && store.address.step == 0 &&
        store.address.start == load.address.start && store.access->size == load.access->size)
      return &store;
  return nullptr;
}

/// The stretch that has just run.
void Builder::note_round_stretch(StretchPlan& plan) {
  RecordedRound& round = round_;
  if (!round.whole) return;
  round.whole = round.slots == nullptr && stretch_.n == round.iterations && !plan.stack.moves();
  if (!round.whole) return;
  RecordedRound::Step& step = add_step(round);
  step.plan = &plan;
  set_iteration(0);
  if (plan.repeats.for_rounds)
    step.ranks = round.described;
  else
    round.whole = describe(plan, step.ranks);
  if (!round.whole) return;
  if (stretch_.registers_repeat) step.ranks.flows = plan.repeats.before.flows;
  step.counter = static_cast<std::uint64_t>(point_[innermost_ - 1]);
  step.entry = stretch_.entry;
  step.inner_counter = stretch_.counter;
  step.inner_serial = stretch_.serial;
  for (const PathPart& part : plan.parts) round.whole = round.whole && !Streams::cold(streams_.locate(part.site));
  const std::size_t first = round.accesses.size();
  for (const StretchAccess& from : stretch_accesses()) {
    const StretchAccess* const spill = spill_of(from);
    const bool spills = from.spill && from.copies == (options_.origins ? stretch_.n : 0) && from.address.step == 0;
    const auto turn = from.access->store ? StretchAccess::Turn::kBehind : StretchAccess::Turn::kBefore;
    // A load that reloads does so in all iterations, from one place.
    const bool reloads = from.reloads && from.copies == stretch_.n && !from.access->store;
    round.whole = round.whole && !from.access->guarded &&
                  (from.turn == turn || (from.turn == StretchAccess::Turn::kInOrder && (spills || spill != nullptr))) &&
                  (spills || (reloads && from.address.step == 0) || (!from.spill && !from.reloads && from.copies == 0));
    RecordedRound::Access& at = round.accesses.emplace_back();
    const PathPart& part = plan.parts[from.part];
    at.access = from.access;
    at.block = part.block;
    at.step = round.count - 1;
    at.slot = part.slot;
    at.address = from.address.start;
    at.inner = from.address.step;
    at.n = stretch_.n;
    at.place = from.place;
    at.site = part.site;
    at.empty = from.pieces.empty() && from.ended.empty();
    if (!from.access->store) {
      at.met = round.met_by(part.site, *from.access);
      for (const DependencePiece& piece : from.pieces) {
        at.met->add(piece.producer, piece.lane);
        at.met->add_lane(piece.lane);
      }
      if (spill != nullptr) {
        at.spilled = options_.origins;
        at.of_iteration = true;
        at.store = first + static_cast<std::size_t>(spill - stretch_accesses().data());
      } else if (from.pieces.size() == 1 && at.inner == 0) {
        const DependencePiece& piece = from.pieces[0];
        at.cell = {piece.producer, piece.entry, piece.counter};
        at.spilled = piece.n == stretch_.n && piece.step == 0 && origins_.has_spilled(piece.producer);
      }
      at.copy = reloads;
      round.whole = round.whole && (!at.copy || at.spilled);
    } else {
      at.copy = spills;
    }
    ++step.accesses;
  }
}

/// Whether an instance is one of the round.
bool Builder::is_of_round(const Cell& cell) const {
  if (cell.producer == 0 || cell.producer == kLostProducer) return false;
  const SiteId site = streams_.site_of(cell.producer);
  for (std::size_t i = 0; i < round_.count; ++i) {
    const RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr ? step.site == site && cell.entry == round_.entry && cell.counter == step.counter
                             : cell.entry == step.entry)
      return true;
  }
  return false;
}

/// A granule is looked at: before the round writes it?
void Builder::expose(Granule granule, const GranuleBits& written) {
  if (written.has(granule) || round_.exposed.has(granule)) return;
  round_.exposed.add(granule);
  round_.exposed_list.push_back(granule);
}

void Builder::expose(const OriginCode& code, const Source& source, const GranuleBits& written) {
  if (source.kind == Source::Kind::kLiveIn) expose(static_cast<Granule>(source.index), written);
  if (source.kind != Source::Kind::kSeveral) return;
  for (std::size_t i = 0; i < source.bytes; ++i) expose(code, code.several[source.index + i], written);
}

void Builder::expose_part(const PartCode& code, const GranuleBits& written) {
  for (const LiveIn& in : code.live_ins) expose(in.granule, written);
  for (const OriginCode::Piece& piece : code.origins.pieces) expose(code.origins, piece.source, written);
  for (const OriginCode::Out& out : code.origins.outs)
    for (std::uint16_t i = 0; i < out.run; ++i) {
      Source source = out.source;
      if (source.kind == Source::Kind::kLiveIn) source.index += i;
      expose(code.origins, source, written);
    }
}

/// What the round looks at in registers before it writes it, and what it has written before each step, and in the end.
void Builder::find_exposed_in_round(std::vector<GranuleBits>& written_before) {
  const auto is_known = [&](std::size_t i) {
    const RecordedRound::Step& step = round_.steps[i];
    return round_.looked_at[i] ==
           (step.plan != nullptr ? step.plan->parts.data() : static_cast<const void*>(step.code));
  };
  bool known = round_.looked_at.size() == round_.count;
  for (std::size_t i = 0; known && i < round_.count; ++i) known = is_known(i);
  if (known) return;
  round_.has_snapshot = false;
  round_.looked_at.clear();
  round_.exposed = {};
  round_.exposed_list.clear();
  written_before.assign(round_.count + 1, {});
  GranuleBits written;
  const auto write = [&](const PartCode& code) {
    for (const LiveOut& out : code.live_outs)
      for (std::size_t i = 0; i < out.count; ++i) written.add(out.granule + i);
  };
  for (std::size_t i = 0; i < round_.count; ++i) {
    const RecordedRound::Step& step = round_.steps[i];
    written_before[i] = written;
    round_.looked_at.push_back(step.plan != nullptr ? step.plan->parts.data() : static_cast<const void*>(step.code));
    if (step.plan == nullptr) {
      expose_part(*step.code, written);
      write(*step.code);
      continue;
    }
    for (const StretchPlan::Exposed& exposed : step.plan->exposed) expose(exposed.granule, written);
    for (const StretchPlan::ReadGranule& granule : step.plan->granules)
      if (granule.from != StretchPlan::ReadGranule::From::kThisIteration) expose(granule.granule, written);
    for (const PathPart& part : step.plan->parts) write(*part.code);
  }
  written_before.back() = written;
}

/// What reads of a part get in other rounds. False: it is not one cell.
bool Builder::find_part_reads(const ThreadState& thread, RecordedRound::Step& step, const GranuleBits& before) {
  using Moves = RecordedRound::Moves;
  for (const RegisterRead& read : step.code->reads) {
    if (read.x87) return false;
    std::uint64_t* const row = &round_.rows[step.row + read.in_row];
    const Granule first = step.code->live_ins[read.first].granule;
    const auto moves_of = [&](Granule granule) {
      if (before.has(granule)) return Moves::kHere;
      return round_.moved.has(granule) ? Moves::kBefore : Moves::kNot;
    };
    const Moves moves = moves_of(first);
    for (std::uint32_t i = 1; i < read.count; ++i) {
      const Granule granule = step.code->live_ins[read.first + i].granule;
      if (moves_of(granule) != moves) return false;
      if (moves == Moves::kBefore && !(thread.registers[granule] == thread.registers[first])) return false;
    }
    if (moves == Moves::kBefore) Journal::set_cell(row, thread.registers[first]);
    if (Journal::cell(row).producer == kLostProducer) return false;
    step.moves.push_back(moves);
  }
  return true;
}

/// What a stretch gets from before it, it will get in other rounds: moved on, if the loop around has it.
bool Builder::may_move_flows(const ThreadState& thread, const RecordedRound::Step& step,
                             const GranuleBits& before) const {
  const StretchPlan& plan = *step.plan;
  std::size_t known = 0;
  for (const StretchPlan::Read& read : plan.reads) {
    const StretchPlan::ReadGranule& first = plan.granules[read.first];
    const auto is_of = [&](const Ranks::Flow& flow) {
      return flow.level <= round_.around && (flow.used == &read.used[0] || flow.used == &read.used[1]);
    };
    const auto flow = std::find_if(step.ranks.flows.begin(), step.ranks.flows.end(), is_of);
    const bool flows = flow != step.ranks.flows.end();
    known += flows ? 1 : 0;
    if (!read.whole) return false;
    if (first.from == StretchPlan::ReadGranule::From::kThisIteration) {
      if (flows) return false;
      continue;
    }
    for (std::uint32_t i = 0; i < read.read->count; ++i) {
      const Granule granule = plan.granules[read.first + i].granule;
      const bool moves = before.has(granule) || round_.moved.has(granule);
      if (flows ? moves != (flow->level == round_.around) : moves) return false;
      if (before.has(granule) || !moves) continue;
      // The round before left something else there, if it was not like this one.
      const Cell& now = thread.registers[granule];
      if (now.producer != flow->from || now.entry != round_.entry ||
          static_cast<std::int64_t>(now.counter) != flow->counter + 1)
        return false;
    }
  }
  const auto from_outside = std::count_if(step.ranks.flows.begin(), step.ranks.flows.end(),
                                          [&](const Ranks::Flow& flow) { return flow.level <= round_.around; });
  return static_cast<std::ptrdiff_t>(known) == from_outside;
}

/// What all steps look at in registers.
bool Builder::find_round_flows(const ThreadState& thread) {
  find_exposed_in_round(written_before_);
  if (!may_repeat_registers(thread, written_before_.back())) return false;
  for (std::size_t i = 0; i < round_.count; ++i) {
    RecordedRound::Step& step = round_.steps[i];
    const bool repeats = step.plan == nullptr ? find_part_reads(thread, step, written_before_[i])
                                              : may_move_flows(thread, step, written_before_[i]);
    if (!repeats) return false;
  }
  return true;
}

/// What the steps are in so many rounds, as a run whose iterations are rounds: from `first` on, counted from the one
/// that was recorded, and of a stretch in its iteration k.
const trace::RunExpander& Builder::expand_rounds(const structure::Round& round, const RecordedRound::Step& step,
                                                 std::uint64_t first, std::uint64_t n, std::uint64_t k) {
  const structure::RoundItem& item = round.items()[step.item];
  round_columns_.resize(item.count);
  for (std::size_t i = 0; i < item.count; ++i) {
    trace::RunColumn& column = round_columns_[i];
    column = {};
    column.stride = round.growth()[item.first + i];
    column.start = round.now()[item.first + i] + column.stride * first;
    if (!item.literal()) column.start += item.columns[i].stride * k;
  }
  round_slots_.resize(item.literal() ? item.count : 0);
  for (std::size_t i = 0; i < round_slots_.size(); ++i) round_slots_[i] = static_cast<std::uint32_t>(i);
  const structure::RoundItem::Path& path = item.paths[0];
  round_path_ = {};
  round_path_.exits = path.exits;
  round_path_.columns = item.literal() ? std::span<const std::uint32_t>(round_slots_) : path.columns;
  round_path_.slots = round_path_.columns.size();
  round_run_ = {};
  round_run_.iterations = n + 1;
  round_run_.paths = {&round_path_, 1};
  round_run_.columns = round_columns_;
  round_expander_.begin(round_run_);
  return round_expander_;
}

/// Where they are in the round, and what they grow by.
bool Builder::find_round_accesses(const structure::Round& round) {
  for (std::size_t i = 0; i < round_.count; ++i) {
    const RecordedRound::Step& step = round_.steps[i];
    if (step.accesses == 0) continue;
    const std::size_t first = round.items()[step.item].first;
    const trace::RunExpander& ahead = expand_rounds(round, step, 0, 2, 0);
    for (std::size_t a = step.first_access; a < step.first_access + step.accesses; ++a) {
      RecordedRound::Access& at = round_.accesses[a];
      if (step.plan == nullptr) at.slot = step.first - first;
      const Progression address = progression_of(*at.block, at.access->address, ahead, at.slot, 2);
      if (!address.even || (step.plan != nullptr && address.start != at.address)) return false;
      at.address = address.start;
      at.growth = address.step;
      const std::uint64_t last = at.address + at.inner * (at.n - 1);
      at.lowest = std::min(at.address, last);
      at.highest = std::max(at.address, last) + (at.access->size - std::uint64_t{1});
      if (at.access->size == 0 || at.highest < at.lowest) return false;
    }
  }
  return true;
}

/// Whether these bytes are known to be in one block.
bool Builder::is_within(const Where& where, std::uint64_t lowest, std::uint64_t highest) {
  const Objects::Extent extent = extent_of(where, thread(where.thread), stack(where.stack), lowest);
  return lowest >= extent.first && highest <= extent.last;
}

/// How many more rounds an access stays in its block for.
std::uint64_t Builder::rounds_within(const Where& where, const RecordedRound::Access& at) {
  const Objects::Extent extent = extent_of(where, thread(where.thread), stack(where.stack), at.lowest);
  if (at.lowest < extent.first || at.highest > extent.last) return 0;
  const auto growth = static_cast<std::int64_t>(at.growth);
  if (growth == 0) return kMostRounds;
  if (growth > 0) return (extent.last - at.highest) / at.growth;
  return (at.lowest - extent.first) / (std::uint64_t{0} - at.growth);
}

namespace {

__extension__ using Wide = __int128;

bool meet(const RecordedRound::Access& a, const RecordedRound::Access& b) {
  return a.lowest <= b.highest && b.lowest <= a.highest;
}

/// How many rounds it takes, out of so many, until a load touches what a store has touched in an earlier one; or may
/// touch it.
std::uint64_t rounds_until(const RecordedRound::Access& store, const RecordedRound::Access& load, std::uint64_t most) {
  const Wide pace = static_cast<std::int64_t>(store.growth);
  if (store.growth != load.growth) {
    const auto ends = [](const RecordedRound::Access& at, std::uint64_t rounds) {
      const Wide moved = static_cast<Wide>(static_cast<std::int64_t>(at.growth)) * static_cast<Wide>(rounds);
      return std::pair{static_cast<Wide>(at.lowest) + std::min<Wide>(moved, 0),
                       static_cast<Wide>(at.highest) + std::max<Wide>(moved, 0)};
    };
    for (; most > 0; most /= 2) {
      const auto a = ends(store, most);
      const auto b = ends(load, most);
      if (a.second < b.first || b.second < a.first) break;
    }
    return most;
  }
  if (pace == 0) return meet(store, load) ? 1 : most;
  // The store of a round, `ahead` rounds before the load: low <= pace * ahead <= high.
  Wide low = static_cast<Wide>(store.lowest) - static_cast<Wide>(load.highest);
  Wide high = static_cast<Wide>(store.highest) - static_cast<Wide>(load.lowest);
  if (pace < 0) low = -std::exchange(high, -low);
  const Wide step = pace < 0 ? -pace : pace;
  const auto divide_down = [](Wide a, Wide b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); };
  const Wide first = std::max<Wide>(-divide_down(-low, step), 1);
  return first <= divide_down(high, step) && first < static_cast<Wide>(most) ? static_cast<std::uint64_t>(first) : most;
}

/// Whether all that a load gets is what a store has written so many rounds before: a store of a part, or one that goes
/// along the same row.
bool covers(const RecordedRound& round, const RecordedRound::Access& store, const RecordedRound::Access& load,
            std::uint64_t rounds) {
  if (store.growth != load.growth) return false;
  const std::uint64_t back = store.growth * rounds;
  if (round.steps[store.step].plan == nullptr)
    return store.lowest - back <= load.lowest && store.highest - back >= load.highest;
  const auto pace = static_cast<std::int64_t>(load.inner);
  const auto size = static_cast<std::int64_t>(load.access->size);
  return round.steps[load.step].plan != nullptr && store.address - back == load.address && store.inner == load.inner &&
         store.n == load.n && store.access->size == load.access->size && (pace >= size || pace <= -size);
}

}  // namespace

/// Where loads get their values from. Of so many rounds, how many of the first have no load of what an earlier one
/// stores, but in such a way; none if a load reads what the same round has stored before, in any other.
std::uint64_t Builder::rounds_apart(std::uint64_t most) {
  for (RecordedRound::Access& load : round_.accesses) {
    if (load.access->store) continue;
    load.from = RecordedRound::Access::From::kOutside;
    if (load.of_iteration) {
      // Of all stores in between, none may come to it.
      load.from = RecordedRound::Access::From::kHere;
      for (const RecordedRound::Access& store : round_.accesses)
        if (store.access->store && store.growth != load.growth) most = std::min(most, rounds_until(store, load, most));
      continue;
    }
    const RecordedRound::Access* here = nullptr;    // the last store before it, in the same round
    const RecordedRound::Access* before = nullptr;  // the last one, in the round before
    std::uint64_t apart = most;
    for (const RecordedRound::Access& store : round_.accesses) {
      if (!store.access->store || most == 0) continue;
      // In one stretch all loads come first (note_round_stretch()).
      const bool earlier = store.step < load.step ||
                           (store.step == load.step && round_.steps[store.step].plan == nullptr && &store < &load);
      if (earlier && meet(store, load)) here = &store;
      const std::uint64_t until = rounds_until(store, load, most);
      if (store.growth != load.growth) {
        // It may come in between in any of them.
        most = std::min(most, until);
        continue;
      }
      apart = std::min(apart, until);
      if (until == 1) before = &store;
    }
    if (here != nullptr || before != nullptr) {
      const RecordedRound::Access& store = here != nullptr ? *here : *before;
      if (!covers(round_, store, load, here != nullptr ? 0 : 1)) return 0;
      load.from = here != nullptr ? RecordedRound::Access::From::kHere : RecordedRound::Access::From::kBefore;
      load.store = static_cast<std::size_t>(&store - round_.accesses.data());
      continue;
    }
    most = std::min(most, apart);
  }
  return most;
}

/// What was loaded before the rounds and is used in them may not be stored to meanwhile.
bool Builder::keeps_loads(std::uint64_t rounds) const {
  __extension__ using Wide = __int128;
  for (const Provenance& load : round_.kept_loads) {
    if (load.stale) continue;
    for (const RecordedRound::Access& store : round_.accesses) {
      if (!store.access->store) continue;
      const Wide moved = static_cast<Wide>(static_cast<std::int64_t>(store.growth)) * static_cast<Wide>(rounds);
      if (static_cast<Wide>(store.lowest) + std::min<Wide>(moved, 0) <= static_cast<Wide>(load.address) + load.size &&
          static_cast<Wide>(store.highest) + std::max<Wide>(moved, 0) >= static_cast<Wide>(load.address))
        return false;
    }
  }
  return true;
}

/// All parts are of the loop around, and all stretches directly inside of it; and none of them comes twice.
bool Builder::may_repeat_parts() const {
  std::vector<SiteId> sites;
  for (std::size_t i = 0; i < round_.count; ++i) {
    const RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr) {
      if (round_.rows[step.row] != round_.entry) return false;
      sites.push_back(step.site);
      continue;
    }
    if (step.ranks.point.size() != round_.around + 2 || entries_.parent(step.entry) != round_.entry) return false;
    for (const PathPart& part : step.plan->parts) sites.push_back(part.site);
  }
  std::sort(sites.begin(), sites.end());
  return std::adjacent_find(sites.begin(), sites.end()) == sites.end();
}

std::uint64_t Builder::end_round(const Where& where, const structure::Round& round, std::size_t dimension) {
  if (!round_.recording) return 0;
  spoil_round();
  if (!round_.whole || slice_ != 1) return 0;
  end_trail();
  const StackState& stack = this->stack(where.stack);
  const std::uint64_t events = events_ - round_.events;
  if (round_.count == 0 || events == 0 || stack.levels.size() <= dimension) return 0;
  round_.around = dimension;
  round_.entry = stack.levels[dimension].entry;
  if (!may_repeat_parts() || !find_round_flows(thread(where.thread)) || !find_round_accesses(round)) return 0;
  round_.instructions = instructions_ - round_.instructions;
  round_.parts = stack.parts - round_.parts;
  round_.events = events;
  round_.expected = 0;
  for (std::size_t i = 0; i < round_.count; ++i)
    round_.expected += round_.steps[i].plan == nullptr ? 1 : round_.steps[i].ranks.n;
  std::uint64_t most = std::min(kMostRounds, (next_check_ - 1 - events_) / events);
  for (const RecordedRound::Access& at : round_.accesses) most = std::min(most, rounds_within(where, at));
  most = rounds_apart(most);
  return most >= kFewestRounds && copies_repeat(thread(where.thread)) && keeps_loads(most) ? most : 0;
}

}  // namespace loopfold::ddg
