// Many iterations of the innermost loop at once.
//
// When the next n iterations take a path that has run before, this does the work of all of them, access by access:
// - Domains, integer results and accesses that stay in one block are one segment each: their labels grow evenly. What
//   does not (irregular columns, numbers that wrap around) goes point by point.
// - Register flow is one segment per read: the path says where it comes from (stretch.h). Of what the iteration before
//   writes, the first iteration is apart.
// - Memory: a load that no store of the stretch touches reads its cells in a loop of its own, before all others; a
// store
//   that nothing touches writes them in one, behind all others. The rest is done iteration by iteration, in the order
//   of the program, so overlaps need no thought. A load's cells are compared with what the last one lets expect; each
//   stretch that agrees with one evenly growing producer is one segment.
// - Origins behind copies: the first iterations are followed until the exposed registers have the same origins in every
//   iteration, but for the iteration that made them. Then one stands for all but the last, which leaves the registers
//   as they are afterwards. That holds only if no load can get a spilled value, and if what a value was loaded from is
//   either written by nobody or surely written before the value is used; else all iterations are followed.
//
// Exactly what the event by event form gives; only memory limits are looked at between stretches. Left to that form:
// calls and returns, x87, guarded accesses, code that is not kept, and whatever a side event interrupts.
// Cost: a few nanoseconds per access and iteration, some tens per segment.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kShortest = 3;
constexpr std::uint64_t kMostUneven = 4096;  // iterations with values that are listed
constexpr std::uint64_t kWorthFixing = 8;    // iterations in one block
constexpr std::uint64_t kMostBehind = 3;   // iterations that a value is passed on for, before it is the same each time
constexpr std::size_t kManyAccesses = 24;  // of a path

/// How many iterations stay within an extent.
std::uint64_t iterations_within(const Objects::Extent& extent, const Progression& address) {
  const auto step = static_cast<std::int64_t>(address.step);
  if (step == 0) return ~std::uint64_t{0};
  if (step > 0) return (extent.last - address.start) / address.step + 1;
  return (address.start - extent.first) / (std::uint64_t{0} - address.step) + 1;
}

}  // namespace

structure::Known Builder::find_path(const PathKey& key, std::span<const trace::ExitId> exits) {
  found_plan_ = nullptr;
  if (exits[0] >= known_paths_.size()) return structure::Known::kNo;
  for (const std::unique_ptr<KnownPath>& path : known_paths_[exits[0]]) {
    if (!(path->key == key) || !std::equal(exits.begin(), exits.end(), path->exits.begin(), path->exits.end()))
      continue;
    if (path->failures > 0 && path->failures < kMostFailures) return structure::Known::kNo;
    found_plan_ = &path->plan;
    return path->failures == 0 ? structure::Known::kPossible : structure::Known::kImpossible;
  }
  return structure::Known::kNo;
}

void Builder::remember_path(const PathKey& key, std::span<const trace::ExitId> exits, bool counts) {
  if (exits[0] >= known_paths_.size()) known_paths_.resize(exits[0] + std::size_t{1});
  std::vector<std::unique_ptr<KnownPath>>& known = known_paths_[exits[0]];
  const auto found = std::find_if(known.begin(), known.end(), [&](const std::unique_ptr<KnownPath>& path) {
    return path->key == key && std::equal(exits.begin(), exits.end(), path->exits.begin(), path->exits.end());
  });
  KnownPath& path = found != known.end() ? **found : *known.emplace_back(std::make_unique<KnownPath>());
  path.key = key;
  path.exits.assign(exits.begin(), exits.end());
  if (counts && path_is_whole_ && !path_.empty()) {
    path.plan = plan_stretch(path_, granules_.count(), streams_);
    path.plan.totals = path_totals_;
    path.plan.events = path_events_;
    path.failures = path.plan.possible ? 0 : kMostFailures;
  } else {
    ++path.failures;
  }
}

/// The blocks of a path must be of one entry of one loop.
void Builder::note_path_part(const Where& where, const structure::Part& what, PathPart part) {
  const std::uint64_t serial = where.dimensions.back().serial;
  if (path_.empty()) {
    path_serial_ = serial;
    path_context_ = where.context;
  }
  if (serial != path_serial_ || where.context != path_context_) path_is_whole_ = false;
  path_totals_.instructions += what.instructions;
  path_totals_.memory += what.memory;
  path_totals_.floating += what.floating;
  part.slot = static_cast<std::uint32_t>(slots_ - path_slots_);
  path_.push_back(part);
}

std::uint64_t Builder::stretch_at(const Where& where, const trace::RunExpander& ahead, std::uint64_t n) {
  const StretchPlan& plan = *found_plan_;
  n = std::min(n, (next_check_ - 1 - events_) / plan.events);
  if (n < kShortest) return 0;
  stretch_.where = &where;
  stretch_.thread = &thread(where.thread);
  stretch_.stack = &stack(where.stack);
  const Instance first = enter(where, *stretch_.stack, plan.parts[0].site);
  stretch_.entry = first.entry;
  stretch_.counter = first.counter;
  stretch_.serial = levels_->back().serial;
  lowest_ = stretch_.thread->stack_pointer;
  if (stretch_.thread->left != where.stack) stretch_.thread->left = kNoStack;

  stretch_.n = look_ahead(plan, ahead, n);
  if (!locate_accesses(plan)) return 0;
  stretch_.origins = options_.origins && may_meet_spills() ? Stretch::Origins::kAll : Stretch::Origins::kEnds;
  take_turns(plan);
  for (StretchAccess& at : stretch_accesses())
    if (at.turn == StretchAccess::Turn::kBefore) load_before(at);
  link_registers(plan);
  run_stretch(plan);
  fold_stretch(plan);

  events_ += stretch_.n * plan.events;
  stretch_.stack->parts += stretch_.n * plan.parts.size();
  instructions_ += stretch_.n * plan.totals.instructions;
  unknown_instructions_ += stretch_.n * plan.unknown_instructions;
  return stretch_.n;
}

/// Values and addresses of the iterations to come. The result: how many iterations these are of.
std::uint64_t Builder::look_ahead(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n) {
  std::size_t accesses = 0;
  stretch_.values.clear();
  std::size_t uneven = 0;
  const auto list = [&](const PathPart& part, const trace::Value& value) {
    if (uneven == stretch_.uneven.size()) stretch_.uneven.emplace_back();
    stretch_.uneven[uneven].part = &part;
    stretch_.uneven[uneven].value = &value;
    return static_cast<std::uint32_t>(uneven++);
  };
  for (std::uint32_t i = 0; i < plan.parts.size(); ++i) {
    const PathPart& part = plan.parts[i];
    for (const IntegerValue& value : part.code->values) {
      const Progression results = progression_of(*part.block, value.value, ahead, part.slot, n);
      const Progression labels = sign_extended(results, value.width, n);
      stretch_.values.push_back({i, &value, labels, labels.even ? 0 : list(part, value.value)});
    }
    for (const MemoryAccess& access : part.code->accesses) {
      if (accesses == stretch_.accesses.size()) stretch_.accesses.emplace_back();
      StretchAccess& at = stretch_.accesses[accesses++];
      at.part = i;
      at.access = &access;
      at.address = progression_of(*part.block, access.address, ahead, part.slot, n);
      if (!at.address.even) at.column = list(part, access.address);
      at.copies = 0;
      at.pieces.clear();
      at.ended.clear();
      at.cell = {streams_.definition(part.site, access.instruction), stretch_.entry, stretch_.counter};
    }
  }
  stretch_.access_count = accesses;
  stretch_.uneven_count = uneven;
  if (uneven == 0) return n;
  n = std::min(n, kMostUneven);
  list_uneven(plan, ahead, n);
  return n;
}

void Builder::list_uneven(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n) {
  const std::size_t slots = plan.parts.back().slot + std::size_t{plan.parts.back().slots};
  const std::span<Stretch::Uneven> all{stretch_.uneven.data(), stretch_.uneven_count};
  slot_values_.resize(slots);
  slot_columns_.resize(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) slot_columns_[slot] = ahead.ahead(slot);
  for (Stretch::Uneven& uneven : all) uneven.values.resize(n);
  for (std::uint64_t k = 0; k < n; ++k) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const trace::RunExpander::Ahead& column = slot_columns_[slot];
      slot_values_[slot] = column.regular ? column.value + column.stride * k : column.values[k];
    }
    for (Stretch::Uneven& uneven : all)
      uneven.values[k] = trace::evaluate(*uneven.part->block, *uneven.value,
                                         {slot_values_.data() + uneven.part->slot, uneven.part->slots});
  }
}

/// In the order of the first iteration, so that objects are met in the order of the run. False: it cannot be done, or
/// is not worth it.
bool Builder::locate_accesses(const StretchPlan& plan) {
  const Where& where = *stretch_.where;
  const ThreadState& thread = *stretch_.thread;
  const StackState& stack = *stretch_.stack;
  for (StretchAccess& at : stretch_accesses()) {
    const std::uint64_t address = address_in(at, 0);
    at.place = locate(where, thread, stack, address);
    at.fixed = false;
    if (at.address.even) {
      const std::uint64_t within = iterations_within(extent_of(where, thread, stack, address), at.address);
      at.fixed = within >= std::min(stretch_.n, kWorthFixing);
      if (at.fixed) stretch_.n = std::min(stretch_.n, within);
    }
    at.spill = at.access->spill != MemoryAccess::kNo && in_youngest_frame(where, thread, stack, address);
    if (!at.fixed && at.access->spill != MemoryAccess::kNo) return false;
    if (at.access->store) continue;
    at.reader = {};
    at.reader.site = plan.parts[at.part].site;
    at.reader.instruction = at.access->instruction;
    at.reader.operand = static_cast<std::uint8_t>(kFirstMemoryOperand + at.access->index);
    at.reader.dense = at.access->operand;
    at.reader.kind = Dependence::Kind::kMemory;
    at.reader.object = at.place.object;
  }
  if (stretch_.n < kShortest) return false;
  for (StretchAccess& at : stretch_accesses()) find_range(at);
  return true;
}

/// Addresses around this one that locate() finds in the same block.
Objects::Extent Builder::extent_of(const Where& where, const ThreadState& thread, const StackState& stack,
                                   std::uint64_t address) {
  if (thread.left == where.stack || lowest_ == 0) return objects_.extent(address);
  const std::uint64_t low = lowest_ - kRedZone;
  const std::uint64_t end = end_of_stack(where, stack);
  if (address < low || address >= end) {
    Objects::Extent extent = objects_.extent(address);
    if (address < low)
      extent.last = std::min(extent.last, low - 1);
    else
      extent.first = std::max(extent.first, end);
    return extent;
  }
  if (!where.youngest.known) return {address, address};
  if (address < where.youngest.stack_pointer + 8) return {low, std::min(where.youngest.stack_pointer + 8, end) - 1};
  const std::size_t index = frame_at(where, address);
  const FrameView frame = where.frame(where.frames, index);
  if (!frame.known) return {address, address};
  std::uint64_t first = low;
  if (index + 1 < where.depth) first = std::max(first, where.frame(where.frames, index + 1).stack_pointer + 8);
  return {first, std::min(frame.stack_pointer + 8, end) - 1};
}

/// Spills are followed iteration by iteration, and so is what may be loaded from them.
bool Builder::may_meet_spills() const {
  return std::any_of(stretch_accesses().begin(), stretch_accesses().end(), [&](const StretchAccess& at) {
    return at.access->store ? at.spill : origins_.may_be_spilled(at.lowest, at.highest);
  });
}

/// Whether the origins of values are the same in all iterations from k on, but for the iteration. A value that an
/// iteration before loaded counts as such if nothing of the stretch writes where it was loaded from, and nothing of
/// this entry of the loop has; or if it surely is written before it is used.
Builder::Stretch::Origins Builder::origins_of_stretch(const StretchPlan& plan, std::uint64_t k) {
  using Origins = Stretch::Origins;
  for (const StretchAccess& at : stretch_accesses())
    if (keeps_uneven(plan, at) && !shows_uneven(at, k)) return Origins::kAll;
  for (const std::uint32_t access : plan.copied_loads) {
    const StretchAccess& at = stretch_.accesses[access];
    if (may_be_rewritten(at.lowest, at.highest)) return Origins::kAll;
  }
  bool compare = false;
  for (const StretchPlan::Exposed& exposed : plan.exposed) {
    if (stretch_.thread->registers[exposed.granule].producer == 0) continue;
    const std::uint8_t where = stretch_.thread->origins.where[exposed.granule];
    if (where == RegisterOrigins::kWriter) continue;
    const Provenance& kept = stretch_.thread->origins.kept[exposed.granule];
    const bool load = where == RegisterOrigins::kKept && kept.load;
    const bool of_loop = exposed.written && kept.origin.entry == stretch_.entry;
    if (load && of_loop) {
      const StretchAccess* const at = load_of(kept);
      if (at == nullptr || !at->address.even) return Origins::kAll;
      if (!is_rewritten_at_once(*at)) {
        if (may_be_rewritten(at->lowest, at->highest)) return Origins::kAll;
        if (at->turn != StretchAccess::Turn::kBefore || at->began_in_loop) return Origins::kAll;
      }
      if (kept.origin.counter < stretch_.counter) return k > kMostBehind ? Origins::kAll : Origins::kNotYet;
      compare = compare || !exposed.loaded;
      continue;
    }
    if (load && may_be_rewritten(kept.address, kept.address + kept.size - 1)) return Origins::kAll;
    compare = compare || exposed.written;
  }
  return compare ? compare_origins(plan, k) : Origins::kEnds;
}

/// A load whose addresses must be known to be even or not, and are not even.
bool Builder::keeps_uneven(const StretchPlan& plan, const StretchAccess& at) const {
  return !at.address.even && at.access->load != MemoryAccess::kNo &&
         plan.parts[at.part].code->origins.loads[at.access->load].kept;
}

/// Whether the iterations that are followed, the first, iteration k and the last, are enough to see that addresses do
/// not grow in proportion to the iterations, or whether they do.
bool Builder::shows_uneven(const StretchAccess& at, std::uint64_t k) const {
  const std::vector<std::uint64_t>& values = stretch_.uneven[at.column].values;
  const std::uint64_t step = (values[k] - values[0]) / k;
  const auto in_line = [&](std::uint64_t i) { return values[i] - values[0] == step * i; };
  if (!in_line(k)) return true;
  if (!in_line(stretch_.n - 1)) return true;
  for (std::uint64_t i = 1; i < stretch_.n; ++i)
    if (!in_line(i)) return false;
  return true;
}

/// By a store of the same iteration, behind it; and all stores that touch it move along with it.
bool Builder::is_rewritten_at_once(const StretchAccess& load) const {
  bool behind = false;
  bool rewritten = false;
  for (const StretchAccess& at : stretch_accesses()) {
    if (&at == &load) behind = true;
    if (!at.access->store || at.lowest > load.highest || at.highest < load.lowest) continue;
    if (!at.address.even || at.address.step != load.address.step) return false;
    const bool same = at.address.start < load.address.start + load.access->size &&
                      load.address.start < at.address.start + at.access->size;
    rewritten = rewritten || (behind && same);
  }
  return rewritten;
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

/// By a store of the stretch.
bool Builder::may_be_rewritten(std::uint64_t first, std::uint64_t last) const {
  return std::any_of(stretch_accesses().begin(), stretch_accesses().end(), [&](const StretchAccess& at) {
    return at.access->store && at.lowest <= last && at.highest >= first;
  });
}

/// Of a load: with the iterations before the stretch whose values the stretch may use.
void Builder::find_range(StretchAccess& at) const {
  if (at.address.even) {
    const std::uint64_t first = at.access->store ? at.address.start : at.address.start - kMostBehind * at.address.step;
    const std::uint64_t last = at.address.at(stretch_.n - 1);
    at.lowest = std::min(first, last);
    at.highest = std::max(first, last);
  } else {
    const std::vector<std::uint64_t>& values = stretch_.uneven[at.column].values;
    const auto [least, greatest] =
        std::minmax_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(stretch_.n));
    at.lowest = *least;
    at.highest = *greatest;
  }
  at.highest += at.access->size - std::uint64_t{1};
}

/// What reads of registers get. Neighbours that one instance wrote are one chunk.
void Builder::link_registers(const StretchPlan& plan) {
  using From = StretchPlan::ReadGranule::From;
  stretch_.registers.clear();
  for (const StretchPlan::Read& read : plan.reads) {
    bool returns = false;  // the iteration before writes some of it
    Cell before;
    const std::span<const StretchPlan::ReadGranule> granules{plan.granules.data() + read.first, read.read->count};
    for (std::size_t i = 0; i < granules.size(); ++i) {
      const bool here = granules[i].from == From::kThisIteration;
      const Cell cell = here ? Cell{granules[i].definition, stretch_.entry, stretch_.counter}
                             : stretch_.thread->registers[granules[i].granule];
      returns = returns || granules[i].from == From::kLastIteration;
      if (i > 0 && cell == before) continue;
      before = cell;
      if (cell.producer != 0)
        stretch_.registers.push_back({&read, granules[i].lane, cell, here ? 1 : 0, 0, stretch_.n});
    }
    if (returns) link_returns(read, granules);
  }
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
  for (std::size_t i = 0; i < granules.size(); ++i) {
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

// ---- Memory, iteration by iteration
// ----------------------------------------------------------------------------------

/// Which accesses need not wait for the others. A value that was loaded before the stretch may be asked about.
void Builder::take_turns(const StretchPlan& plan) {
  using Turn = StretchAccess::Turn;
  const std::span<StretchAccess> all = stretch_accesses();
  stretch_.in_order = 0;
  const bool many = all.size() > kManyAccesses || stretch_.origins == Stretch::Origins::kAll;
  const auto touches = [](const StretchAccess& a, const StretchAccess& b) {
    return a.lowest <= b.highest && b.lowest <= a.highest;
  };
  for (StretchAccess& at : all) {
    at.turn = Turn::kInOrder;
    at.began_in_loop = false;
    if (many || !at.fixed) continue;
    const bool free = std::none_of(all.begin(), all.end(), [&](const StretchAccess& other) {
      return &other != &at && (at.access->store || other.access->store) && touches(at, other);
    });
    if (free) at.turn = at.access->store ? Turn::kBehind : Turn::kBefore;
  }
  for (const StretchPlan::Exposed& exposed : plan.exposed) {
    const Provenance& kept = stretch_.thread->origins.kept[exposed.granule];
    if (stretch_.thread->origins.where[exposed.granule] != RegisterOrigins::kKept || !kept.load) continue;
    for (StretchAccess& at : all)
      if (at.access->store && at.lowest < kept.address + kept.size && at.highest >= kept.address)
        at.turn = Turn::kInOrder;
  }
  for (const StretchAccess& at : all) stretch_.in_order += at.turn == Turn::kInOrder ? 1 : 0;
}

void Builder::load_before(StretchAccess& at) {
  for (std::uint64_t k = 0; k < stretch_.n;) {
    const std::uint64_t passed = at.pieces.empty() ? pass_empty(at, k) : at.pieces.size() == 1 ? pass_cells(at, k) : 0;
    k += passed;
    if (passed > 0) continue;
    take_chunks(at, read_chunks(at.address.at(k), at.access->size), k, false);
    ++k;
  }
}

/// From iteration k on, how many iterations load what nothing wrote.
std::uint64_t Builder::pass_empty(const StretchAccess& at, std::uint64_t k) const {
  const std::uint64_t first = k;
  for (; k < stretch_.n; ++k) {
    const Cell* const cell = memory_.only_cell(at.address.at(k), at.access->size);
    if (cell == nullptr || cell->producer != 0) break;
  }
  return k - first;
}

/// How many go on with the only piece, once its step is known.
std::uint64_t Builder::pass_cells(StretchAccess& at, std::uint64_t k) const {
  DependencePiece& piece = at.pieces[0];
  if (piece.n < 2 || piece.lane != 0) return 0;
  const std::uint64_t first = k;
  const std::uint64_t step = piece.step;
  Cell expected{piece.producer, piece.entry, piece.next};
  std::uint64_t address = at.address.at(k);
  for (; k < stretch_.n; ++k, address += at.address.step, expected.counter += step) {
    const Cell* const cell = memory_.only_cell(address, at.access->size);
    if (cell == nullptr || !(*cell == expected)) break;
  }
  piece.next = expected.counter;
  piece.n += k - first;
  return k - first;
}

void Builder::store_behind(const StretchAccess& at) {
  Cell cell = at.cell;
  std::uint64_t address = at.address.start;
  for (std::uint64_t k = 0; k < stretch_.n; ++k, address += at.address.step, ++cell.counter)
    memory_.write(address, at.access->size, cell);
}

void Builder::run_stretch(const StretchPlan& plan) {
  if (options_.origins)
    run_with_origins(plan);
  else
    pass_iterations(plan, 0, stretch_.n);
  for (const StretchAccess& at : stretch_accesses())
    if (at.turn == StretchAccess::Turn::kBehind) store_behind(at);
  if (options_.origins) return;
  for (const PathPart& part : plan.parts)
    write_registers(*part.code, {part.site, stretch_.entry, stretch_.counter + stretch_.n - 1}, *stretch_.thread, 0);
}

/// The first iterations, until they are all alike; one that stands for all that follow; and the last.
void Builder::run_with_origins(const StretchPlan& plan) {
  using Origins = Stretch::Origins;
  const std::uint64_t last = stretch_.n - 1;
  std::uint64_t k = 0;
  if (!starts_typical(plan)) {
    do {
      follow_iteration(plan, k++);
      if (stretch_.origins != Origins::kAll) stretch_.origins = origins_of_stretch(plan, k);
    } while (stretch_.origins == Origins::kNotYet && k < last);
    if (stretch_.origins != Origins::kEnds) {
      for (; k <= last; ++k) follow_iteration(plan, k);
      return;
    }
  }
  if (k < last) {
    origins_.records().set_times(last - k);
    follow_iteration(plan, k);
    origins_.records().set_times(1);
    pass_iterations(plan, k + 1, last);
    move_registers(plan, last - 1 - k);
  }
  follow_iteration(plan, last);
  note_lanes(plan);
}

/// Whether all that the path passes on to its next iteration is made by it, and was made as it would be.
bool Builder::starts_typical(const StretchPlan& plan) const {
  if (stretch_.origins == Stretch::Origins::kAll || !plan.copied_loads.empty()) return false;
  for (const StretchAccess& at : stretch_accesses())
    if (keeps_uneven(plan, at)) return false;
  const ThreadState& thread = *stretch_.thread;
  return std::all_of(plan.exposed.begin(), plan.exposed.end(), [&](const StretchPlan::Exposed& exposed) {
    const bool direct = thread.origins.where[exposed.granule] == RegisterOrigins::kWriter;
    return exposed.written ? exposed.made && direct && !exposed.copied : direct;
  });
}

void Builder::pass_iterations(const StretchPlan& plan, std::uint64_t first, std::uint64_t end) {
  if (stretch_.in_order == 0) return;
  for (std::uint64_t k = first; k < end; ++k) pass_iteration(plan, k);
}

/// Registers as they are `iterations` later.
void Builder::move_registers(const StretchPlan& plan, std::uint64_t iterations) {
  ThreadState& thread = *stretch_.thread;
  for (const StretchPlan::Exposed& exposed : plan.exposed) {
    if (!exposed.written) continue;
    thread.registers[exposed.granule].counter += iterations;
    Provenance& kept = thread.origins.kept[exposed.granule];
    if (thread.origins.where[exposed.granule] != RegisterOrigins::kKept || kept.origin.entry != stretch_.entry)
      continue;
    if (kept.load) move_load(kept, iterations);
    kept.origin.counter += iterations;
  }
}

/// What was loaded has not been written since; or it surely has.
void Builder::move_load(Provenance& load, std::uint64_t iterations) const {
  const StretchAccess& at = *load_of(load);
  load.address += at.address.step * iterations;
  if (is_rewritten_at_once(at))
    load.stale = true;
  else
    note_writers(memory_, load);
}

/// Memory only.
void Builder::pass_iteration(const StretchPlan& plan, std::uint64_t k) {
  for (StretchAccess& at : stretch_accesses()) {
    if (at.turn != StretchAccess::Turn::kInOrder) continue;
    const std::uint64_t address = address_in(at, k);
    if (at.access->store) {
      Cell cell = at.cell;
      cell.counter += k;
      memory_.write(address, at.access->size, cell);
      if (!at.fixed) locate_in(plan, at, address, k, false);
      continue;
    }
    const std::size_t chunks = read_chunks(address, at.access->size);
    if (!at.fixed) locate_in(plan, at, address, k, false);
    if (chunks == 0 && at.pieces.empty()) continue;
    if (chunks == 1 && at.pieces.size() == 1 && at.pieces[0].lane == chunks_[0].offset &&
        at.pieces[0].object == at.place.object && at.pieces[0].takes(chunks_[0].cell))
      continue;
    take_chunks(at, chunks, k, false);
  }
}

/// Memory, origins and registers.
void Builder::follow_iteration(const StretchPlan& plan, std::uint64_t k) {
  std::size_t next = 0;
  ThreadState& thread = *stretch_.thread;
  for (std::uint32_t i = 0; i < plan.parts.size(); ++i) {
    const PathPart& part = plan.parts[i];
    const Instance instance{part.site, stretch_.entry, stretch_.counter + k};
    set_iteration(k);
    origins_.begin(*part.code, tracked(instance), thread.registers, thread.origins);
    for (; next < stretch_.access_count && stretch_.accesses[next].part == i; ++next)
      follow_access(plan, stretch_.accesses[next], k);
    set_iteration(k);
    write_registers(*part.code, instance, thread, 0);
  }
}

void Builder::follow_access(const StretchPlan& plan, StretchAccess& at, std::uint64_t k) {
  const std::uint64_t address = address_in(at, k);
  set_iteration(k);
  if (at.access->store) {
    Cell cell = at.cell;
    cell.counter += k;
    origins_.read_registers(at.access->instruction, at.spill);
    if (at.spill) origins_.spill(*at.access, address, cell);
    if (at.turn == StretchAccess::Turn::kInOrder) memory_.write(address, at.access->size, cell);
    at.copies += at.spill ? 1 : 0;
    if (!at.fixed) locate_in(plan, at, address, k, at.spill);
    return;
  }
  const std::size_t chunks = read_chunks(address, at.access->size);
  origins_.read_registers(at.access->instruction, false);
  const bool reload = origins_.load(*at.access, address, {chunks_.data(), chunks});
  at.copies += reload ? 1 : 0;
  if (!at.fixed) locate_in(plan, at, address, k, reload);
  if (at.turn == StretchAccess::Turn::kInOrder) take_chunks(at, chunks, k, reload);
}

std::size_t Builder::read_chunks(std::uint64_t address, std::uint32_t size) {
  if (chunks_.size() < size) chunks_.resize(size);
  std::size_t count = 0;
  memory_.read(address, size, [&](std::uint64_t offset, std::uint64_t bytes, const Cell& cell) {
    chunks_[count++] = {offset, bytes, cell};
  });
  return count;
}

/// Of an access that may be in another block each time.
void Builder::locate_in(const StretchPlan& plan, StretchAccess& at, std::uint64_t address, std::uint64_t k, bool copy) {
  set_iteration(k);
  at.place = locate(*stretch_.where, *stretch_.thread, *stretch_.stack, address);
  streams_.access(plan.parts[at.part].site, *at.access, point_.data(), at.place.object, at.place.block, at.place.offset,
                  stretch_.serial);
  if (copy) streams_.count_copy();
}

/// The chunks of a load make its pieces longer, or end them and begin others. Both are in the order of their lanes.
void Builder::take_chunks(StretchAccess& at, std::size_t chunks, std::uint64_t k, bool reload) {
  pieces_.clear();
  std::size_t next = 0;
  for (DependencePiece& piece : at.pieces) {
    while (next < chunks && chunks_[next].offset < piece.lane) begin_piece(at, chunks_[next++], k, reload);
    const bool goes_on = next < chunks && chunks_[next].offset == piece.lane && piece.object == at.place.object &&
                         piece.takes(chunks_[next].cell);
    if (!goes_on) {
      end_piece(at, piece);
      note_end(at, piece);
      continue;
    }
    piece.reloads += reload ? 1 : 0;
    pieces_.push_back(piece);
    ++next;
  }
  for (; next < chunks; ++next) begin_piece(at, chunks_[next], k, reload);
  at.pieces.assign(pieces_.begin(), pieces_.end());
}

void Builder::note_end(StretchAccess& at, const DependencePiece& piece) {
  const auto same = [&](const StretchAccess::Ended& ended) { return ended.lane == piece.lane; };
  auto found = std::find_if(at.ended.begin(), at.ended.end(), same);
  if (found == at.ended.end()) found = at.ended.insert(found, StretchAccess::Ended{});
  const Cell last{piece.producer, piece.entry, piece.counter + piece.step * (piece.n - 1)};
  *found = {piece.lane, piece.first + piece.n - 1, last};
}

/// Lanes of loads that only iterations had which were passed over. What the last iteration had is known.
void Builder::note_lanes(const StretchPlan& plan) {
  for (const StretchAccess& at : stretch_accesses()) {
    for (const StretchAccess::Ended& ended : at.ended) {
      const auto same = [&](const DependencePiece& piece) { return piece.lane == ended.lane; };
      if (std::any_of(at.pieces.begin(), at.pieces.end(), same)) continue;
      const PathPart& part = plan.parts[at.part];
      set_iteration(ended.iteration);
      const Instance instance{part.site, stretch_.entry, stretch_.counter + ended.iteration};
      origins_.note_load(*part.code, tracked(instance), *at.access, ended.lane, ended.cell);
    }
  }
}

/// Its stream is made now, so that streams are made in the order of the run.
void Builder::begin_piece(StretchAccess& at, const OriginTracker::Chunk& chunk, std::uint64_t k, bool reload) {
  at.reader.lane = static_cast<std::uint16_t>(chunk.offset);
  at.reader.object = at.place.object;
  if (chunk.cell.producer == kLostProducer || !streams_.has_dependence(at.reader, chunk.cell.producer)) {
    set_iteration(k);
    at.reader.reload = reload;
    depend(at.reader, chunk.cell);
    at.reader.reload = false;
    return;
  }
  DependencePiece piece;
  piece.lane = at.reader.lane;
  piece.object = at.place.object;
  piece.producer = chunk.cell.producer;
  piece.entry = chunk.cell.entry;
  piece.counter = chunk.cell.counter;
  piece.next = chunk.cell.counter;
  piece.first = k;
  piece.n = 1;
  piece.reloads = reload ? 1 : 0;
  pieces_.push_back(piece);
  if (options_.origins && !at.began_in_loop) at.began_in_loop = is_of_loop(at.reader.site, chunk.cell);
}

/// Whether an instance is of the entry of the loop that runs.
bool Builder::is_of_loop(SiteId reader, const Cell& cell) {
  const std::size_t dimensions = levels_->size();
  if (entries_.depth(cell.entry) < dimensions) return false;
  if (origins_.records().shared(reader, streams_.site_of(cell.producer)) < dimensions) return false;
  producer_.resize(std::max<std::size_t>(producer_.size(), entries_.depth(cell.entry)));
  entries_.vector(cell.entry, cell.counter, producer_.data());
  return std::equal(producer_.begin(), producer_.begin() + static_cast<std::ptrdiff_t>(dimensions - 1), point_.begin());
}

void Builder::end_piece(StretchAccess& at, const DependencePiece& piece) {
  at.reader.lane = piece.lane;
  at.reader.object = piece.object;
  depend_run(at.reader, {piece.producer, piece.entry, piece.counter}, piece.first,
             static_cast<std::int64_t>(piece.step), piece.n, piece.reloads);
}

void Builder::depend_run(const Streams::Reader& reader, const Cell& cell, std::uint64_t first, std::int64_t step,
                         std::uint64_t n, std::uint64_t reloads) {
  set_iteration(first);
  producer_.resize(std::max<std::size_t>(producer_.size(), entries_.depth(cell.entry)));
  entries_.vector(cell.entry, cell.counter, producer_.data());
  if (!streams_.dependence_run(reader, cell.producer, point_.data(), producer_.data(), step, n, reloads)) return;
  const std::uint64_t slice = entries_.slice(cell.entry);
  for (std::size_t k = 0; k < levels_->size(); ++k)
    if ((*levels_)[k].since < slice) streams_.late(k, n);
}

/// point_ is that of an iteration of the stretch.
void Builder::set_iteration(std::uint64_t k) {
  point_[levels_->size() - 1] = static_cast<std::int64_t>(stretch_.counter + k);
}

// ---- Streams
// ---------------------------------------------------------------------------------------------------------

void Builder::fold_stretch(const StretchPlan& plan) {
  for (StretchAccess& at : stretch_accesses())
    for (const DependencePiece& piece : at.pieces) end_piece(at, piece);
  set_iteration(0);
  for (const PathPart& part : plan.parts) streams_.instance_run(part.site, point_.data(), stretch_.n);
  for (const Stretch::Register& flow : stretch_.registers) fold_register(plan, flow);
  for (const Stretch::Value& value : stretch_.values) fold_value(plan, value);
  set_iteration(0);
  for (StretchAccess& at : stretch_accesses()) {
    if (!at.fixed) continue;
    locate(*stretch_.where, *stretch_.thread, *stretch_.stack, address_in(at, stretch_.n - 1));
    streams_.access_run(plan.parts[at.part].site, *at.access, point_.data(), at.place,
                        static_cast<std::int64_t>(at.address.step), stretch_.n, at.copies, stretch_.serial);
  }
}

void Builder::fold_register(const StretchPlan& plan, const Stretch::Register& flow) {
  const StretchPlan::Read& read = *flow.read;
  Streams::Reader reader;
  reader.site = plan.parts[read.part].site;
  reader.instruction = read.read->instruction;
  reader.operand = read.read->operand;
  reader.dense = read.read->dense;
  reader.address = read.read->address;
  reader.lane = flow.lane;
  if (streams_.has_dependence(reader, flow.cell.producer))
    return depend_run(reader, flow.cell, flow.first, flow.step, flow.n, 0);
  for (std::uint64_t k = 0; k < flow.n; ++k) {
    set_iteration(flow.first + k);
    Cell cell = flow.cell;
    cell.counter += static_cast<std::uint64_t>(flow.step) * k;
    depend(reader, cell);
  }
}

void Builder::fold_value(const StretchPlan& plan, const Stretch::Value& value) {
  const SiteId site = plan.parts[value.part].site;
  set_iteration(0);
  if (value.labels.even)
    return streams_.value_run(site, *value.value, point_.data(), static_cast<std::int64_t>(value.labels.start),
                              static_cast<std::int64_t>(value.labels.step), stretch_.n, stretch_.serial);
  for (std::uint64_t k = 0; k < stretch_.n; ++k) {
    set_iteration(k);
    streams_.value(site, *value.value, point_.data(),
                   sign_extended(stretch_.uneven[value.column].values[k], value.value->width), stretch_.serial);
  }
}

}  // namespace loopfold::ddg
