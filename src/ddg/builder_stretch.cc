// Many iterations of the innermost loop at once.
//
// When the next n iterations take a path that has run before, this does the work of all of them, access by access:
// - Domains, integer results and accesses that stay in one block are one segment each: their labels grow evenly. What
//   does not (irregular columns, numbers that wrap around) goes in rows of points.
// - Register flow is one segment per read: the path says where it comes from (builder_stretch_registers.cc).
// - Memory is looked at iteration by iteration (builder_stretch_memory.cc); what is elsewhere each time goes in rows of
//   points too, if it can (builder_stretch_gather.cc).
// - Origins behind copies are followed in a few iterations, if these can stand for all (builder_stretch_origins.cc).
//
// - What is called in an iteration returns in it (builder_stretch_calls.cc).
//
// Exactly what the event by event form gives; only memory limits are looked at between stretches. Left to that form:
// x87, guarded accesses, code that is not kept, and whatever a side event interrupts.
// Cost: a few nanoseconds per access and iteration, some tens per segment.
#include <algorithm>

#include "ddg/builder.h"
#include "ddg/formula.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kShortest = 8;       // shorter ones are cheaper one by one (journal.h)
constexpr std::uint64_t kMostUneven = 4096;  // iterations with values that are listed
constexpr std::uint64_t kWorthFixing = 8;    // iterations in one block

/// How many iterations stay within an extent.
std::uint64_t iterations_within(const Objects::Extent& extent, const Progression& address) {
  const auto step = static_cast<std::int64_t>(address.step);
  if (step == 0) return ~std::uint64_t{0};
  if (step > 0) return (extent.last - address.start) / address.step + 1;
  return (address.start - extent.first) / (std::uint64_t{0} - address.step) + 1;
}

}  // namespace

Builder::KnownPath* Builder::known(const PathKey& key, std::span<const trace::ExitId> exits) {
  const auto paths = known_paths_.find(path_hash(key, exits[0]));
  if (paths == known_paths_.end()) return nullptr;
  for (const std::unique_ptr<KnownPath>& path : paths->second)
    if (path->key == key && std::equal(exits.begin(), exits.end(), path->exits.begin(), path->exits.end()))
      return path.get();
  return nullptr;
}

structure::Known Builder::find_path(const PathKey& key, std::span<const trace::ExitId> exits) {
  using structure::Known;
  KnownPath* const path = known(key, exits);
  if (path == nullptr) return known_path_count_ < kMostPaths ? Known::kNo : Known::kImpossible;
  found_plan_ = &path->plan;
  if (path->failures == 0) return Known::kPossible;
  return path->failures < kMostFailures ? Known::kNo : Known::kImpossible;
}

/// What is not possible is remembered without a plan.
void Builder::remember_path(const PathKey& key, std::span<const trace::ExitId> exits,
                            const structure::PathTotals* totals) {
  KnownPath* path = known(key, exits);
  if (path == nullptr) {
    ++known_path_count_;
    path = known_paths_[path_hash(key, exits[0])].emplace_back(std::make_unique<KnownPath>()).get();
    path->key = key;
    path->exits.assign(exits.begin(), exits.end());
  }
  ++path->failures;
  if (totals == nullptr || !path_is_whole_ || path_.empty() || !finish_path_stack(*totals)) return;
  if (path_stack_.frames.empty() && plan_weave(*totals, path->weave)) path->weave.events = path_events_;
  StretchPlan plan = plan_stretch(path_, granules_.count(), streams_);
  path->failures = plan.possible ? 0 : kMostFailures;
  if (!plan.possible) return;
  give_all_ranks();
  if (path->plan.possible && !path->plan.parts.empty()) old_plans_.push_back(std::move(path->plan));
  path->plan = std::move(plan);
  path->plan.stack = std::move(path_stack_);
  path->plan.totals = *totals;
  for (const structure::PathTotals::Note& note : totals->notes) path->plan.instructions += note.instructions;
  path->plan.events = path_events_;
}

/// The blocks of a path must be of one iteration of one loop: the iterations of a run may begin elsewhere than at the
/// loop's header.
void Builder::note_path_part(const Where& where, PathPart part) {
  const structure::Dimension& innermost = where.dimensions.back();
  if (path_.empty()) {
    path_serial_ = innermost.serial;
    path_counter_ = innermost.counter;
    path_context_ = where.context;
    begin_path_stack(where);
  }
  part.frame = path_frame(where);
  if (innermost.serial != path_serial_ || innermost.counter != path_counter_ ||
      (part.frame == 0 && where.context != path_context_))
    path_is_whole_ = false;
  if (!part.code->moves_stack_pointer)
    path_stack_.lowest.insert(path_stack_.lowest.end(), part.code->accesses.size(),
                              thread(where.thread).stack_pointer - path_pointer_);
  part.slot = static_cast<std::uint32_t>(slots_ - path_slots_);
  part.context = where.context;
  part.function = where.function;
  part.node = where.node;
  path_.push_back(part);
}

std::uint64_t Builder::stretch_at(const Where& where, const trace::RunExpander& ahead, std::uint64_t n) {
  StretchPlan& plan = *found_plan_;
  n = std::min(n, (next_check_ - 1 - events_) / plan.events);
  if (n < kShortest) return 0;
  end_trail();
  stretch_.where = &where;
  stretch_.thread = &thread(where.thread);
  stretch_.stack = &stack(where.stack);
  const Instance first = enter(where, *stretch_.stack, plan.parts[0].site);
  stretch_.entry = first.entry;
  stretch_.counter = first.counter;
  stretch_.serial = levels_->back().serial;
  if (stretch_.thread->left != where.stack) stretch_.thread->left = kNoStack;
  if (!enter_frames(plan)) return 0;

  stretch_.n = look_ahead(plan, ahead, n);
  if (!locate_accesses(plan)) return 0;
  give_ranks_before(plan);
  for (const PathPart& part : plan.parts) settle(part.site);
  feed_.set_time(instructions_ + 1);
  stretch_.origins = options_.origins && !find_reloads() ? Stretch::Origins::kAll : Stretch::Origins::kEnds;
  take_turns(plan);
  for (StretchAccess& at : stretch_accesses())
    if (at.turn == StretchAccess::Turn::kBefore) load_before(at);
  link_registers(plan);
  run_stretch(plan);
  fold_stretch(plan);
  plan.last_entry = stretch_.entry;
  if (round_.recording) note_round_stretch(plan);

  events_ += stretch_.n * plan.events;
  stretch_.stack->parts += stretch_.n * plan.parts.size();
  instructions_ += stretch_.n * plan.instructions;
  unknown_instructions_ += stretch_.n * plan.unknown_instructions;
  return stretch_.n;
}

/// Values and addresses of the iterations to come. The result: how many iterations these are of; 0 if the stack pointer
/// is not where the path had it.
std::uint64_t Builder::look_ahead(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n) {
  std::size_t accesses = 0;
  stretch_.values.clear();
  std::size_t uneven = 0;
  const std::uint64_t* pointer = plan.stack.pointers.data();
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
      if (value.reg == kStackPointer && value.width == 8) {
        const std::uint64_t expected = stretch_.thread->stack_pointer + *pointer++;
        if (!results.even || results.step != 0 || results.start != expected) return 0;
      }
      const Progression labels = sign_extended(results, value.width, n);
      stretch_.values.push_back({i, &value, labels, labels.even ? 0 : list(part, value.value)});
    }
    for (const MemoryAccess& access : part.code->accesses) {
      if (accesses == stretch_.accesses.size()) stretch_.accesses.emplace_back();
      StretchAccess& at = stretch_.accesses[accesses++];
      at.part = i;
      at.access = &access;
      at.address = progression_of(*part.block, access.address, ahead, part.slot, n);
      at.pointer = stretch_.thread->stack_pointer;
      if (plan.stack.moves()) at.pointer += plan.stack.lowest[accesses - 1];
      if (!at.address.even) at.column = list(part, access.address);
      at.copies = 0;
      at.reloads = false;
      at.rewritten = false;
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

/// Column by column where a column needs one slot, as most do.
void Builder::list_uneven(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n) {
  const std::span<Stretch::Uneven> all{stretch_.uneven.data(), stretch_.uneven_count};
  bool listed = true;
  for (Stretch::Uneven& uneven : all) listed = list_column(ahead, uneven, n) && listed;
  if (listed) return;
  const std::size_t slots = plan.parts.back().slot + std::size_t{plan.parts.back().slots};
  slot_values_.resize(slots);
  slot_columns_.resize(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) slot_columns_[slot] = ahead.ahead(slot);
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

/// False: it needs several slots.
bool Builder::list_column(const trace::RunExpander& ahead, Stretch::Uneven& uneven, std::uint64_t n) {
  uneven.values.resize(n);
  const Formula formula(*uneven.part->block, *uneven.value);
  if (!formula.needs_one_slot()) return false;
  const trace::RunExpander::Ahead column = ahead.ahead(uneven.part->slot + formula.slot());
  std::uint64_t* const into = uneven.values.data();
  if (column.regular)
    for (std::uint64_t k = 0; k < n; ++k) into[k] = formula.of(column.value + column.stride * k);
  else
    for (std::uint64_t k = 0; k < n; ++k) into[k] = formula.of(column.values[k]);
  return true;
}

/// In the order of the first iteration, so that objects are met in the order of the run. False: it cannot be done, or
/// is not worth it.
bool Builder::locate_accesses(const StretchPlan& plan) {
  if (stretch_.n < kShortest) return false;
  const ThreadState& thread = *stretch_.thread;
  const StackState& stack = *stretch_.stack;
  for (StretchAccess& at : stretch_accesses()) {
    const Where& where = where_of(at);
    const std::uint64_t address = address_in(at, 0);
    at.place = place_of(at, address, 0);
    at.block_step = activations_of(at.place);
    at.fixed = false;
    if (at.address.even) {
      const std::uint64_t within = iterations_within(extent_of(where, thread, stack, address), at.address);
      at.fixed = within >= std::min(stretch_.n, kWorthFixing);
      if (at.fixed) stretch_.n = std::min(stretch_.n, within);
    }
    at.spill = at.access->spill != MemoryAccess::kNo && in_youngest_frame(where, thread, stack, address);
    if (!at.fixed && at.access->spill != MemoryAccess::kNo) return false;
    if (at.access->store) continue;
    at.reader = reader_of(plan.parts[at.part].site, *at.access);
    at.reader.object = at.place.object;
  }
  if (stretch_.n < kShortest) return false;
  for (StretchAccess& at : stretch_accesses()) {
    find_range(at);
    at.in_one = !at.address.even && is_in_one_block(at);
    at.gathered = false;
  }
  list_stores();
  find_leftovers();
  return true;
}

void Builder::list_stores() {
  std::vector<Stretch::Stored>& stored = stretch_.stored;
  stored.clear();
  for (std::size_t i = 0; i < stretch_.access_count; ++i) {
    const StretchAccess& at = stretch_.accesses[i];
    if (at.access->store) stored.push_back({at.lowest, at.highest, 0, static_cast<std::uint32_t>(i)});
  }
  std::sort(stored.begin(), stored.end(),
            [](const Stretch::Stored& a, const Stretch::Stored& b) { return a.lowest < b.lowest; });
  std::uint64_t reach = 0;
  for (Stretch::Stored& store : stored) store.reach = reach = std::max(reach, store.highest);
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
  if (!where.youngest.known) return {low, end - 1};  // all of it is the youngest then (in_frame())
  if (address < where.youngest.stack_pointer + 8) return {low, std::min(where.youngest.stack_pointer + 8, end) - 1};
  const std::size_t index = frame_at(where, address);
  const FrameView frame = where.frame(where.frames, index);
  if (!frame.known) return {address, address};
  std::uint64_t first = low;
  if (index + 1 < where.depth) first = std::max(first, where.frame(where.frames, index + 1).stack_pointer + 8);
  return {first, std::min(frame.stack_pointer + 8, end) - 1};
}

/// point_ is that of an iteration of the stretch.
void Builder::set_iteration(std::uint64_t k) {
  point_[levels_->size() - 1] = static_cast<std::int64_t>(stretch_.counter + k);
}

void Builder::fold_stretch(StretchPlan& plan) {
  for (const StretchAccess& at : stretch_accesses())
    if (at.fixed) touch_frame(at, address_in(at, stretch_.n - 1), stretch_.n - 1);
  if (round_.silent) {
    round_.seen += stretch_.n;
    return;
  }
  for (StretchAccess& at : stretch_accesses()) {
    for (const DependencePiece& piece : at.pieces) end_piece(at, piece);
    if (at.gathered) fold_gathered(at);
  }
  set_iteration(0);
  if (wait_in_ranks(plan)) return;
  for (const PathPart& part : plan.parts) feed_.instance_run(part.site, point_.data(), stretch_.n);
  fold_registers(plan);
  set_iteration(0);
  for (const Stretch::Value& value : stretch_.values) fold_value(plan, value);
  if (stretch_.uneven_count != 0) fold_uneven_values(plan);
  for (StretchAccess& at : stretch_accesses()) {
    if (at.in_one) fold_places(plan, at);
    if (!at.fixed) continue;
    feed_.access_run(plan.parts[at.part].site, *at.access, point_.data(), at.place,
                     {at.block_step, static_cast<std::int64_t>(at.address.step)}, stretch_.n, at.copies,
                     stretch_.serial);
  }
}

void Builder::fold_value(const StretchPlan& plan, const Stretch::Value& value) {
  if (!value.labels.even) return;
  feed_.value_run(plan.parts[value.part].site, *value.value, point_.data(),
                  static_cast<std::int64_t>(value.labels.start), static_cast<std::int64_t>(value.labels.step),
                  stretch_.n, stretch_.serial);
}

/// Values that are not even: some iterations of all of them at once, as journals do it.
void Builder::fold_uneven_values(const StretchPlan& plan) {
  const auto is_uneven = [](const Stretch::Value& value) { return !value.labels.even; };
  if (std::none_of(stretch_.values.begin(), stretch_.values.end(), is_uneven)) return;
  constexpr std::size_t kMost = Journal::kMostRows;
  std::array<std::int64_t, kMost> labels;
  for (std::uint64_t first = 0; first < stretch_.n; first += kMost) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kMost, stretch_.n - first));
    set_iteration(first);
    for (const Stretch::Value& value : stretch_.values) {
      if (value.labels.even) continue;
      const std::uint64_t* const values = stretch_.uneven[value.column].values.data() + first;
      for (std::size_t i = 0; i < n; ++i) labels[i] = sign_extended(values[i], value.value->width);
      feed_.value_list(plan.parts[value.part].site, *value.value, point_.data(), labels.data(), n, stretch_.serial);
    }
  }
  set_iteration(0);
}

}  // namespace loopfold::ddg
