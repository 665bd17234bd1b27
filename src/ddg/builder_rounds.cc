// Rounds: how one is recorded, and how it is found out that more like it can be taken at once (recorded_round.h).
//
// A round may have parts in the loop around, and stretches of loops directly inside of it, each of them all of its
// loop. It can be taken again if
// - all that it looks at in registers before writing it is, when it ends, what it was when it began, or that moved on
// by
//   one iteration of the loop around: then it will be so behind every other round;
// - its accesses stay in their blocks, and no load reads what an earlier round stores, or an earlier store of its own;
// - nothing in it is spilled, called, guarded, or of another stack.
// Left to builder_rounds_take.cc is what depends on the rounds that come: numbers must be even, and what loads find
// must have been written outside of this entry of the loop around, by producers that it had before.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kMostRounds = 4096;  // at once
constexpr std::uint64_t kFewestRounds = 3;

bool equal(const Provenance& a, const Provenance& b) {
  return a.origin == b.origin && a.writers == b.writers && a.address == b.address && a.size == b.size &&
         a.none == b.none && a.load == b.load && a.mixed == b.mixed && a.stale == b.stale;
}

}  // namespace

void Builder::begin_round(const Where& where) {
  round_.recording = false;
  if (!options_.by_runs || recording_path_ || slice_ != 1 || !waiting_.empty()) return;
  end_trail();
  const ThreadState& thread = this->thread(where.thread);
  round_.recording = true;
  round_.whole = true;
  round_.events = events_;
  round_.instructions = instructions_;
  round_.parts = stack(where.stack).parts;
  round_.registers = thread.registers;
  round_.where = thread.origins.where;
  round_.kept.clear();
  for (std::size_t granule = 0; granule < thread.registers.size(); ++granule)
    if (thread.origins.where[granule] == RegisterOrigins::kKept)
      round_.kept.emplace_back(static_cast<Granule>(granule), thread.origins.kept[granule]);
  round_.item = 0;
  round_.count = 0;
  round_.rows.clear();
  round_.accesses.clear();
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

/// The part that has just run.
void Builder::note_round_part(SiteId site, const PartCode& code, const trace::Block& block) {
  RecordedRound& round = round_;
  if (!round.whole) return;
  const std::uint64_t* const row = last_row_;
  const bool guarded = std::any_of(code.accesses.begin(), code.accesses.end(),
                                   [](const MemoryAccess& access) { return access.guarded; });
  round.whole = row != nullptr && round.slots != nullptr && !code.moves_stack_pointer && !code.unknown && !guarded &&
                !journals_[site]->has_extra() && !Streams::cold(streams_.locate(site));
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
    round.whole = round.whole && (noted[0] & Journal::kHappened) != 0 && (noted[0] & Journal::kCopy) == 0;
    RecordedRound::Access& at = round.accesses.emplace_back();
    at.access = &access;
    at.block = &block;
    at.step = round.count - 1;
    at.place = {static_cast<ObjectId>(noted[0]), static_cast<std::int64_t>(noted[1]),
                static_cast<std::int64_t>(noted[2])};
    at.site = site;
    if (!access.store) {
      const Cell cell = Journal::cell(noted + Journal::kPlace);
      round.whole = round.whole && cell.producer != kLostProducer;
      at.empty = cell.producer == 0;
      at.producers = round.producers_of(site, access);
      RecordedRound::add(*at.producers, cell.producer);
    }
    ++step.accesses;
  }
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
  round.whole = describe(plan, step.ranks);
  if (!round.whole) return;
  if (stretch_.registers_repeat) step.ranks.flows = plan.repeats.before.flows;
  step.counter = static_cast<std::uint64_t>(point_[innermost_ - 1]);
  step.entry = stretch_.entry;
  step.inner_counter = stretch_.counter;
  step.inner_serial = stretch_.serial;
  for (const PathPart& part : plan.parts) round.whole = round.whole && !Streams::cold(streams_.locate(part.site));
  for (const StretchAccess& from : stretch_accesses()) {
    const auto turn = from.access->store ? StretchAccess::Turn::kBehind : StretchAccess::Turn::kBefore;
    round.whole =
        round.whole && from.turn == turn && !from.spill && !from.reloads && from.copies == 0 && !from.access->guarded;
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
    at.empty = from.pieces.empty();
    if (!from.access->store) {
      at.producers = round.producers_of(part.site, *from.access);
      for (const DependencePiece& piece : from.pieces) RecordedRound::add(*at.producers, piece.producer);
    }
    ++step.accesses;
  }
}

/// What became of something in one round.
Builder::Relation Builder::relation(const Cell& before, const Cell& now) const {
  if (before == now) return Relation::kSame;
  if (before.producer != now.producer || before.producer == 0 || before.producer == kLostProducer)
    return Relation::kOther;
  if (now.entry == round_.entry)
    return before.entry == now.entry && before.counter + 1 == now.counter ? Relation::kMoved : Relation::kOther;
  const auto is_inside = [&](const Cell& cell) {
    return entries_.depth(cell.entry) == round_.around + 2 && entries_.parent(cell.entry) == round_.entry;
  };
  const bool moved = is_inside(before) && is_inside(now) && before.counter == now.counter &&
                     entries_.parent_counter(before.entry) + 1 == entries_.parent_counter(now.entry);
  return moved ? Relation::kMoved : Relation::kOther;
}

/// A granule is looked at. False: if the round has not written it before, it is neither as it was when the round began
/// nor that moved on.
bool Builder::expose(const ThreadState& thread, Granule granule, const GranuleBits& written) {
  if (written.has(granule) || round_.exposed.has(granule)) return true;
  round_.exposed.add(granule);
  round_.exposed_list.push_back(granule);
  const Relation of_cell = relation(round_.registers[granule], thread.registers[granule]);
  if (of_cell == Relation::kOther || round_.where[granule] != thread.origins.where[granule]) return false;
  if (of_cell == Relation::kMoved) round_.moved.add(granule);
  if (round_.where[granule] != RegisterOrigins::kKept) return true;
  const auto found =
      std::find_if(round_.kept.begin(), round_.kept.end(), [&](const auto& kept) { return kept.first == granule; });
  const Provenance& before = found->second;
  const Provenance& now = thread.origins.kept[granule];
  if (before.none != now.none || before.load != now.load) return false;
  if (before.none) return true;
  if (before.load) {
    round_.kept_loads.push_back(now);
    return of_cell == Relation::kSame && equal(before, now);
  }
  const Relation of_origin = relation(before.origin, now.origin);
  if (of_origin == Relation::kMoved) round_.origin_moved.add(granule);
  return of_origin != Relation::kOther;
}

bool Builder::expose(const ThreadState& thread, const OriginCode& code, const Source& source,
                     const GranuleBits& written) {
  if (source.kind == Source::Kind::kLiveIn) return expose(thread, static_cast<Granule>(source.index), written);
  if (source.kind != Source::Kind::kSeveral) return true;
  for (std::size_t i = 0; i < source.bytes; ++i)
    if (!expose(thread, code, code.several[source.index + i], written)) return false;
  return true;
}

bool Builder::expose_part(const ThreadState& thread, const PartCode& code, const GranuleBits& written) {
  for (const LiveIn& in : code.live_ins)
    if (!expose(thread, in.granule, written)) return false;
  for (const OriginCode::Piece& piece : code.origins.pieces)
    if (!expose(thread, code.origins, piece.source, written)) return false;
  for (const OriginCode::Out& out : code.origins.outs)
    for (std::uint16_t i = 0; i < out.run; ++i) {
      Source source = out.source;
      if (source.kind == Source::Kind::kLiveIn) source.index += i;
      if (!expose(thread, code.origins, source, written)) return false;
    }
  return true;
}

/// Of the flows of a stretch from what was before it, whether those from the loop around move on with it, and all
/// others stay.
bool Builder::may_move_flows(const RecordedRound::Step& step, const GranuleBits& written) const {
  const StretchPlan& plan = *step.plan;
  for (const Ranks::Flow& flow : step.ranks.flows) {
    if (flow.level == round_.around + 1) continue;
    const auto read = std::find_if(plan.reads.begin(), plan.reads.end(), [&](const StretchPlan::Read& known) {
      return flow.used == &known.used[0] || flow.used == &known.used[1];
    });
    if (read == plan.reads.end() || !read->whole) return false;
    const Granule granule = plan.granules[read->first].granule;
    const bool moves = written.has(granule) || round_.moved.has(granule);
    if (moves != (flow.level == round_.around)) return false;
  }
  return true;
}

/// What all steps look at in registers.
bool Builder::find_round_flows(const ThreadState& thread) {
  round_.exposed = {};
  round_.moved = {};
  round_.origin_moved = {};
  round_.exposed_list.clear();
  round_.kept_loads.clear();
  GranuleBits written;
  const auto write = [&](const PartCode& code) {
    for (const LiveOut& out : code.live_outs)
      for (std::size_t i = 0; i < out.count; ++i) written.add(out.granule + i);
    return code.x87_live_outs.empty();
  };
  for (std::size_t i = 0; i < round_.count; ++i) {
    RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr) {
      if (!expose_part(thread, *step.code, written)) return false;
      for (const RegisterRead& read : step.code->reads) {
        const Granule granule = step.code->live_ins[read.first].granule;
        step.moves.push_back(written.has(granule) || round_.moved.has(granule) ? 1 : 0);
        if (read.x87 || Journal::cell(&round_.rows[step.row + read.in_row]).producer == kLostProducer) return false;
      }
      if (!write(*step.code)) return false;
      continue;
    }
    for (const StretchPlan::Exposed& exposed : step.plan->exposed)
      if (!expose(thread, exposed.granule, written)) return false;
    for (const StretchPlan::ReadGranule& granule : step.plan->granules)
      if (granule.from != StretchPlan::ReadGranule::From::kThisIteration && !expose(thread, granule.granule, written))
        return false;
    if (!may_move_flows(step, written)) return false;
    for (const PathPart& part : step.plan->parts)
      if (!write(*part.code)) return false;
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

/// How many more rounds an access stays in its block for.
std::uint64_t Builder::rounds_within(const Where& where, const RecordedRound::Access& at) {
  const Objects::Extent extent = extent_of(where, thread(where.thread), stack(where.stack), at.lowest);
  if (at.lowest < extent.first || at.highest > extent.last) return 0;
  const auto growth = static_cast<std::int64_t>(at.growth);
  if (growth == 0) return kMostRounds;
  if (growth > 0) return (extent.last - at.highest) / at.growth;
  return (at.lowest - extent.first) / (std::uint64_t{0} - at.growth);
}

/// Of so many rounds, how many of the first have no load of what an earlier one stores; none if a load reads what the
/// same round has stored before.
std::uint64_t Builder::rounds_apart(std::uint64_t most) const {
  __extension__ using Wide = __int128;
  const auto divide_down = [](Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); };
  for (const RecordedRound::Access& store : round_.accesses) {
    if (!store.access->store) continue;
    for (const RecordedRound::Access& load : round_.accesses) {
      if (load.access->store) continue;
      const bool meet = store.lowest <= load.highest && load.lowest <= store.highest;
      // In one stretch all loads come first (note_round_stretch()).
      if (meet && store.step < load.step) return 0;
      if (meet && store.step == load.step && round_.steps[store.step].plan == nullptr && &store < &load) return 0;
      const Wide pace = static_cast<std::int64_t>(store.growth);
      if (store.growth == load.growth) {
        if (pace == 0) {
          if (meet) return 0;
          continue;
        }
        // The store of a round, `ahead` rounds before the load: store + pace * r meets load + pace * (r + ahead).
        Wide low = static_cast<Wide>(store.lowest) - static_cast<Wide>(load.highest);
        Wide high = static_cast<Wide>(store.highest) - static_cast<Wide>(load.lowest);
        Wide step = pace;
        if (step < 0) {
          step = -step;
          std::swap(low, high);
          low = -low;
          high = -high;
        }
        const Wide last = divide_down(high, step);
        const Wide first = -divide_down(-low, step);
        const Wide nearest = std::max<Wide>(first, 1);
        if (nearest <= last && nearest < static_cast<Wide>(most)) most = static_cast<std::uint64_t>(nearest);
        continue;
      }
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
    }
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
  round_.recording = false;
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
  std::uint64_t most = std::min(kMostRounds, (next_check_ - 1 - events_) / events);
  for (const RecordedRound::Access& at : round_.accesses) most = std::min(most, rounds_within(where, at));
  most = rounds_apart(most);
  return most >= kFewestRounds && keeps_loads(most) ? most : 0;
}

}  // namespace loopfold::ddg
