#include "ddg/builder.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kFar = std::uint64_t{64} << 20;  // no frame is so large
constexpr std::uint16_t kGeneralGranules = 4;            // of a general register
constexpr std::uint16_t kBehindAll = 0xffff;             // instructions of a part

std::vector<std::vector<trace::InstructionFacts>> decode_all(std::span<const trace::Block> blocks) {
  std::vector<std::vector<trace::InstructionFacts>> facts;
  facts.reserve(blocks.size());
  for (const trace::Block& block : blocks) facts.push_back(trace::decode(block));
  return facts;
}

/// Address of an instruction of a block.
std::uint64_t address_of(const trace::Block& block, std::size_t instruction) {
  std::uint64_t address = block.address;
  for (std::size_t i = 0; i < instruction; ++i) address += block.lengths[i];
  return address;
}

}  // namespace

Builder::Builder(const trace::Reader& reader, const structure::Structure& structure, const structure::LoopTree& tree,
                 symbols::Symbolizer& symbolizer, const Options& options)
    : reader_(reader),
      structure_(structure),
      options_(options),
      facts_(std::make_shared<const std::vector<std::vector<trace::InstructionFacts>>>(
          decode_all(structure.code.blocks()))),
      granules_(granules_for(structure.code.blocks(), *facts_)),
      streams_(options.fold, tree, options.jobs, options.hot),
      objects_(symbolizer, reader.stacks(), reader.modules()),
      origins_(streams_, tree, entries_, memory_),
      feed_(streams_, entries_, sinces_, options.jobs > 1, options.max_memory) {
  variants_.resize(structure.code.places());
  instructions_of_.resize(structure.code.places());
  for (const trace::Exit& exit : structure.code.exits()) {
    const structure::ExitCode& code = structure.code.exit(exit.id);
    for (const structure::Part& part : structure.code.parts(code))
      instructions_of_[part.place] = std::max(instructions_of_[part.place], part.instructions);
    parts_.resize(std::max<std::size_t>(parts_.size(), code.first_part + std::size_t{code.parts}));
  }
  variant_of_part_.resize(parts_.size());
  last_sites_.resize(parts_.size());
  frames_.resize(structure.flow.functions().size());
  frame_sizes_.resize(structure.flow.functions().size());
  for (const std::uint8_t reg : std::array<std::uint8_t, 9>{0, 1, 2, 6, 7, 8, 9, 10, 11})
    call_registers_.push_back({static_cast<Granule>(reg * kGeneralGranules), kGeneralGranules, 0});
  call_registers_.push_back({Granules::kFlags, static_cast<std::uint16_t>(granules_.count() - Granules::kFlags), 0});
  granules_.of_general(0, result_register_);
  granules_.of_general(0, library_results_);
  granules_.of_general(2, library_results_);
  granules_.of_vector(0, 16, library_results_);
  granules_.of_vector(1, 16, library_results_);
  memory_.set_limit(options.max_memory / 2);
  feed_.limit(options.max_memory - std::min(options.max_memory, Feed::budget(options.max_memory)));
}

Builder::ThreadState& Builder::new_thread(trace::ThreadId id) {
  if (id >= threads_.size()) threads_.resize(id + 1);
  threads_[id] = std::make_unique<ThreadState>();
  threads_[id]->registers.resize(granules_.count());
  threads_[id]->origins = RegisterOrigins(granules_.count());
  return *threads_[id];
}

Builder::StackState& Builder::other_stack(std::uint64_t id) {
  std::unique_ptr<StackState>& state = stacks_[id];
  if (!state) state = std::make_unique<StackState>();
  last_stack_ = id;
  last_stack_state_ = state.get();
  return *last_stack_state_;
}

/// Code that was replaced at the same address is another statement.
std::uint32_t Builder::variant_of(const PartCode& code, structure::PlaceId place) {
  const trace::Block& block = structure_.code.blocks()[code.block];
  const auto bytes = [](const trace::Block& b, const PartCode& c) {
    const std::uint64_t begin = address_of(b, c.first_instruction) - b.address;
    const std::uint64_t end = address_of(b, std::size_t{c.first_instruction} + c.instructions) - b.address;
    return std::span(b.bytes).subspan(begin, end - begin);
  };
  const std::span<const std::uint8_t> mine = bytes(block, code);
  std::vector<Variant>& known = variants_[place];
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    const PartCode& longest = *known[i].code;
    const std::span<const std::uint8_t> other = bytes(structure_.code.blocks()[longest.block], longest);
    const std::size_t common = std::min(mine.size(), other.size());
    if (!std::equal(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(common), other.begin())) continue;
    if (mine.size() > other.size()) known[i].code = &code;
    return i;
  }
  known.push_back({&code, {}, {}});
  return static_cast<std::uint32_t>(known.size() - 1);
}

const PartCode& Builder::new_code(std::uint32_t part, const structure::Part& what) {
  const trace::Exit& exit = structure_.code.exits()[exit_];
  const trace::Block& block = structure_.code.blocks()[exit.block];
  parts_[part] = std::make_unique<PartCode>(
      compile_part(block, (*facts_)[exit.block], what, exit.accesses, exit.results, granules_));
  PartCode& code = *parts_[part];
  variant_of_part_[part] = variant_of(code, what.place);
  Variant& variant = variants_[what.place][variant_of_part_[part]];
  variant.numbers.renumber(code);
  const auto like = std::find_if(variant.rows.begin(), variant.rows.end(),
                                 [&](const PartCode* known) { return have_same_rows(*known, code); });
  code.row.like = like != variant.rows.end() ? *like : &code;
  if (like == variant.rows.end()) variant.rows.push_back(&code);
  return code;
}

/// A level has a new entry wherever a new slice begins, so that what it produces is known to be no older.
Builder::Instance Builder::enter(const Where& where, StackState& stack, SiteId site) {
  if (where.stack != slice_stack_) {
    slice_stack_ = where.stack;
    ++slice_;
  }
  const std::span<const structure::Dimension> dimensions = where.dimensions;
  std::vector<Level>& levels = stack.levels;
  if (levels_ == &levels && levels.size() == dimensions.size() && levels.back().serial == dimensions.back().serial &&
      levels.back().slice == slice_) {
    // In the same entry of the innermost loop, nothing but its counter has changed.
    point_[levels.size() - 1] = static_cast<std::int64_t>(dimensions.back().counter);
    return {site, levels.back().entry, dimensions.back().counter};
  }
  while (levels.size() > dimensions.size() ||
         (!levels.empty() && levels.back().serial != dimensions[levels.size() - 1].serial))
    levels.pop_back();
  const auto add_entry = [&](std::size_t k) {
    const EntryId parent = k == 0 ? kNoEntry : levels[k - 1].entry;
    const std::uint64_t counter = k == 0 ? 0 : dimensions[k - 1].counter;
    return entries_.add(parent, counter, static_cast<std::uint16_t>(k + 1), slice_);
  };
  for (std::size_t k = levels.size(); k < dimensions.size(); ++k)
    levels.push_back({dimensions[k].serial, add_entry(k), slice_, slice_});
  if (levels.back().slice != slice_) {
    levels.back().entry = add_entry(levels.size() - 1);
    levels.back().slice = slice_;
  }
  levels_ = &levels;
  point_.resize(dimensions.size() + 1);
  for (std::size_t k = 0; k < dimensions.size(); ++k) point_[k] = static_cast<std::int64_t>(dimensions[k].counter);
  near_ = point_;
  innermost_ = dimensions.size() - 1;
  note_since();
  return {site, levels.back().entry, dimensions.back().counter};
}

const Builder::LastSite& Builder::find_site(const Where& where, std::uint32_t part, const structure::Part& what,
                                            const PartCode& code) {
  const std::uint64_t number = stack_number(where);
  const SiteId site =
      streams_.site({Statement::Kind::kCode, where.context, where.function, where.node, variant_of_part_[part], number},
                    what.place, instructions_of_[what.place]);
  streams_.set_code(site, &code);
  OriginRecords::Uses* uses = nullptr;
  if (options_.origins && !streams_.cold(site)) uses = &origins_.records().uses(site, code.operands);
  Journal* const journal = site < journals_.size() ? journals_[site].get() : nullptr;
  last_sites_[part] = {where.context, where.function, where.node, site, number, uses, journal};
  return last_sites_[part];
}

/// Addresses are known as soon as the part begins.
inline void Builder::prefetch(const PartCode& code, const Streams::Located& at, bool streams) const {
  for (const MemoryAccess& access : code.accesses)
    if (access.address.kind == trace::Value::Kind::kSlot) memory_.prefetch(slots_[access.address.data]);
  if (streams) feed_.prefetch(at);
}

/// All that it calls is part of it: this is what takes the time of irregular code, and most of that is short.
[[gnu::flatten]] void Builder::execute(const Where& where, const structure::Part& part) {
  const structure::ExitCode& exit = structure_.code.exit(exit_);
  const std::uint32_t index = next_part_++;
  const PartCode& code = code_of(index, part);
  const trace::Block& block = structure_.code.blocks()[code.block];
  const std::span<const std::uint64_t> slots{slots_, exit.slots};
  ThreadState& thread = this->thread(where.thread);
  StackState& stack = this->stack(where.stack);
  const LastSite& last = site_of(where, index, part, code);
  const Streams::Located at = streams_.locate(last.site);
  Journal* const journal = journal_for(last, at, index, code);
  prefetch(code, at, journal == nullptr);
  const Instance instance = enter(where, stack, last.site);
  if (const TrailNode* const node = follow_trail(where, instance, journal != nullptr ? &last : nullptr, index, code)) {
    go_on_trail(*node, &where);
    if (round_.watching) [[unlikely]]
      see_round_part(last.site, code, block);
    return;
  }
  std::uint64_t* const row = journal != nullptr ? begin_row(*journal, code) : nullptr;
  last_row_ = row;
  const Running running{where, instance, at, levels_->back().serial, thread, stack, journal, row};
  if (recording_path_) note_path_part(where, {last.site, &code, &block, 0, exit.slots, 0, index});
  ++stack.parts;
  instructions_ += part.instructions;
  if (code.unknown) unknown_instructions_ += part.instructions;

  if (row != nullptr) {
    row[0] = instance.entry | std::uint64_t{since_} << 32;
    row[1] = instance.counter;
    row[2] = running.serial;
    row[3] = instructions_;
  } else {
    give_ranks_of(last.site);
    feed_.set_time(instructions_);
    feed_.instance(at, point_.data());
    feed_.prefetch_folders(at);
  }
  const bool x87 = block.ftop.kind != trace::Value::Kind::kNone;
  const std::uint64_t top = x87 ? trace::evaluate(block, block.ftop, slots) : 0;
  if (!Streams::cold(at)) read_registers(running, code, top);
  if (options_.origins) origins_.begin(code, tracked(instance, last.uses), thread.registers, thread.origins);
  values(running, code, block, slots);
  next_pointer_ = 0;
  if (thread.left != where.stack) thread.left = kNoStack;
  lowest_ = thread.stack_pointer;
  for (const MemoryAccess& access : code.accesses) {
    if (code.moves_stack_pointer) follow_stack_pointer(where, code, access.instruction, thread, stack);
    const std::uint64_t address = trace::evaluate(block, access.address, slots);
    if (access.guarded && address == 0) {
      if (row != nullptr) std::fill_n(row + access.in_row, RowCode::kPlace + (access.store ? 0 : RowCode::kCell), 0);
      continue;
    }
    if (access.store)
      store(running, access, address);
    else
      load(running, access, address, static_cast<std::size_t>(&access - code.accesses.data()));
  }
  if (code.moves_stack_pointer) follow_stack_pointer(where, code, kBehindAll, thread, stack);
  write_registers(code, instance, thread, top);
  if (round_.watching) [[unlikely]]
    see_round_part(last.site, code, block);
}

void Builder::write_registers(const PartCode& code, const Instance& instance, ThreadState& thread, std::uint64_t top) {
  if (options_.origins) origins_.finish_part();
  const DefinitionId first = streams_.definition(instance.site, 0);
  const auto cell = [&](const LiveOut& out) { return Cell{first + out.instruction, instance.entry, instance.counter}; };
  for (const LiveOut& out : code.live_outs) {
    fill_cells(thread.registers.data() + out.granule, out.count, cell(out));
    thread.origins.set_written(out.granule, out.count);
  }
  thread.origins.joined.exchange(code.parted, code.joined, code.parted_words);
  for (const LiveOut& out : code.x87_live_outs)
    fill_cells(&thread.registers[Granules::kX87 + ((out.granule - Granules::kX87 + top) & 7)], 1, cell(out));
  if (options_.origins) origins_.write();
}

void Builder::forget_registers(ThreadState& thread) {
  std::fill(thread.registers.begin(), thread.registers.end(), Cell{});
  thread.origins.clear();
}

void Builder::read_registers(const Running& part, const PartCode& code, std::uint64_t top) {
  const Cell* const registers = part.thread.registers.data();
  for (const RegisterRead& read : code.reads) {
    const LiveIn& first = code.live_ins[read.first];
    const Cell& cell = registers[first.granule];
    const bool one = part.thread.origins.joined.has(read.behind) || (read.consecutive && are_equal(&cell, read.count));
    if (part.row != nullptr) {
      Journal::set_cell(part.row + read.in_row, cell);
      if (!one) note_apart(*part.journal, code, read, part.thread.registers);
      continue;
    }
    if (!one) {
      read_apart(part.at.id, code, read, top, part.thread.registers);
      continue;
    }
    if (cell.producer == 0) continue;
    Streams::Reader reader = reader_of(part.at.id, read);
    reader.lane = first.lane;
    depend(part, reader, cell);
  }
}

[[gnu::noinline]] void Builder::read_apart(SiteId site, const PartCode& code, const RegisterRead& read,
                                           std::uint64_t top, const Registers& registers) {
  Streams::Reader reader = reader_of(site, read);
  read_granules({&code.live_ins[read.first], read.count}, top, read.x87, reader, registers);
}

/// Neighbours that one instance wrote are one chunk.
void Builder::read_granules(std::span<const LiveIn> granules, std::uint64_t top, bool x87, Streams::Reader& reader,
                            const Registers& registers) {
  const Cell* before = nullptr;
  for (const LiveIn& in : granules) {
    const std::size_t granule = x87 ? Granules::kX87 + ((in.granule - Granules::kX87 + top) & 7) : in.granule;
    const Cell& cell = registers[granule];
    if (before != nullptr && *before == cell) continue;
    before = &cell;
    if (cell.producer == 0) continue;
    reader.lane = in.lane;
    depend(reader, cell);
  }
}

void Builder::store(const Running& part, const MemoryAccess& access, std::uint64_t address) {
  const Cell cell{Streams::first_definition(part.at) + access.instruction, part.instance.entry, part.instance.counter};
  const bool spill = options_.origins && access.spill != MemoryAccess::kNo &&
                     in_youngest_frame(part.where, part.thread, part.stack, address);
  if (options_.origins) origins_.read_registers(access.instruction, spill);
  if (spill) origins_.spill(access, address, cell);
  memory_.write(address, access.size, cell);
  if (Streams::cold(part.at)) return;
  const Objects::Place place = locate(part.where, part.thread, part.stack, address);
  if (part.row != nullptr) return note_place(part.row + access.in_row, place, spill);
  feed_.access(part.at, access, point_.data(), place, part.serial, spill);
}

/// Who wrote some bytes, into chunks_.
std::size_t Builder::read_chunks(std::uint64_t address, std::uint32_t size) {
  if (chunks_.size() < size) chunks_.resize(size);
  if (const Cell* const only = size != 0 ? memory_.only_cell(address, size) : nullptr) {
    chunks_[0] = {0, size, *only};
    return only->producer != 0 ? 1 : 0;
  }
  std::size_t count = 0;
  memory_.read(address, size, [&](std::uint64_t offset, std::uint64_t bytes, const Cell& cell) {
    chunks_[count++] = {offset, bytes, cell};
  });
  return count;
}

void Builder::load(const Running& part, const MemoryAccess& access, std::uint64_t address, std::size_t access_index) {
  const bool cold = Streams::cold(part.at);
  const std::size_t count = !cold || options_.origins ? read_chunks(address, access.size) : 0;
  const std::span<const OriginTracker::Chunk> chunks{chunks_.data(), count};
  bool reload = false;
  if (options_.origins) {
    origins_.read_registers(access.instruction, false);
    reload = origins_.load(access, address, chunks);
  }
  if (cold) return;
  const Objects::Place place = locate(part.where, part.thread, part.stack, address);
  if (part.row != nullptr) {
    note_place(part.row + access.in_row, place, reload);
    Cell first;
    for (const OriginTracker::Chunk& chunk : chunks) {
      if (chunk.offset == 0)
        first = chunk.cell;
      else
        part.journal->add_extra(true, access_index, static_cast<std::uint16_t>(chunk.offset), chunk.cell);
    }
    Journal::set_cell(part.row + access.in_row + Journal::kPlace, first);
    return;
  }
  feed_.access(part.at, access, point_.data(), place, part.serial, reload);
  Streams::Reader reader = reader_of(part.at.id, access);
  reader.object = place.object;
  reader.reload = reload;
  for (const OriginTracker::Chunk& chunk : chunks) {
    reader.lane = static_cast<std::uint16_t>(chunk.offset);
    depend(part, reader, chunk.cell);
  }
}

/// Wherever point_ and levels_ are.
[[gnu::noinline]] void Builder::depend(const Streams::Reader& reader, const Cell& cell) {
  if (cell.producer == kLostProducer) return feed_.lost_dependence(reader, point_.data());
  const std::size_t depth = entries_.depth(cell.entry);
  if (depth > producer_.size()) producer_.resize(depth);
  const std::vector<Level>& levels = *levels_;
  const std::size_t equal = entries_.vector_near(
      cell.entry, cell.counter, point_.data(), levels.size(), [&](std::size_t k) { return levels[k].entry; },
      producer_.data());
  feed_.dependence(streams_.locate(reader.site), reader, cell.producer, point_.data(), producer_.data(), equal,
                   late_levels(cell));
}

/// The same for the part that runs. Most producers are in the entry that it is in, or in one around it.
[[gnu::always_inline]] inline void Builder::depend(const Running& part, const Streams::Reader& reader,
                                                   const Cell& cell) {
  std::int64_t* const near = near_.data();
  const std::int64_t* producer = near;
  std::size_t equal = innermost_;
  if (cell.entry == part.instance.entry) {
    near[equal] = static_cast<std::int64_t>(cell.counter);
  } else {
    producer = vector_near(cell, equal);
    if (producer == nullptr) return feed_.lost_dependence(Streams::Reader(reader), point_.data());
  }
  const std::int64_t* const point = point_.data();
  feed_.dependence(part.at, reader, cell.producer, point, producer, equal, late_levels(cell));
  near[equal] = point[equal];
}

/// The iteration vector of an instance, until the next call, and how many of its first coordinates are known to be
/// those of point_; near_[equal] may be its own. Null if the instance is lost.
[[gnu::noinline]] const std::int64_t* Builder::vector_near(const Cell& cell, std::size_t& equal) {
  if (cell.producer == kLostProducer) return nullptr;
  const std::size_t depth = entries_.depth(cell.entry);
  const Level* const levels = levels_->data();
  if (depth <= innermost_ && levels[depth - 1].entry == cell.entry) {
    equal = depth - 1;
    near_[equal] = static_cast<std::int64_t>(cell.counter);
    return near_.data();
  }
  if (depth > producer_.size()) producer_.resize(depth);
  equal = entries_.vector_near(
      cell.entry, cell.counter, point_.data(), innermost_ + 1, [&](std::size_t k) { return levels[k].entry; },
      producer_.data());
  return producer_.data();
}

/// The iteration vector of an instance, until the next call.
const std::int64_t* Builder::vector_of(const Cell& cell) {
  producer_.resize(std::max<std::size_t>(producer_.size(), entries_.depth(cell.entry)));
  entries_.vector(cell.entry, cell.counter, producer_.data());
  return producer_.data();
}

/// Until the next call.
std::span<const std::uint16_t> Builder::find_late_levels(const Cell& cell) {
  const std::uint64_t slice = entries_.slice(cell.entry);
  late_levels_.clear();
  for (std::size_t k = 0; k < levels_->size(); ++k)
    if ((*levels_)[k].since < slice) late_levels_.push_back(static_cast<std::uint16_t>(k));
  return late_levels_;
}

void Builder::values(const Running& part, const PartCode& code, const trace::Block& block,
                     std::span<const std::uint64_t> slots) {
  if (results_.size() < code.values.size()) results_.resize(code.values.size());
  if (part.row != nullptr) {
    std::uint64_t* const noted = part.row + Journal::kHeader;
    for (std::size_t i = 0; i < code.values.size(); ++i) noted[i] = trace::evaluate(block, code.values[i].value, slots);
    for (const std::uint32_t pointer : code.pointers) results_[pointer] = noted[pointer];
    return;
  }
  std::uint64_t* result = results_.data();
  for (const IntegerValue& value : code.values) {
    *result = trace::evaluate(block, value.value, slots);
    feed_.value(part.at, value, point_.data(), sign_extended(*result++, value.width), part.serial);
  }
}

/// What the stack pointer is before and after an instruction. One that moves far or comes from memory, and not up
/// within the stack, has gone over to another one, which control follows some instructions later.
void Builder::follow_stack_pointer(const Where& where, const PartCode& code, std::uint16_t instruction,
                                   ThreadState& thread, StackState& stack) {
  lowest_ = thread.stack_pointer;
  for (; next_pointer_ < code.pointers.size(); ++next_pointer_) {
    const IntegerValue& value = code.values[code.pointers[next_pointer_]];
    if (value.instruction > instruction) break;
    const std::uint64_t before = thread.stack_pointer;
    const std::uint64_t now = results_[code.pointers[next_pointer_]];
    thread.stack_pointer = now;
    note_stack_pointer(stack, now, value.moved);
    if (recording_path_) path_stack_.pointers.push_back(now - path_pointer_);
    const bool far = before != 0 && (now > before ? now - before : before - now) > kFar;
    const bool up = now >= before && now < end_of_stack(where, stack);
    if ((far || value.loaded) && !up) {
      thread.left = where.stack;
      path_is_whole_ = false;
      continue;
    }
    lowest_ = value.instruction < instruction || lowest_ == 0 ? now : std::min(lowest_, now);
    if (stack.base == 0) stack.base = now;
  }
  if (recording_path_ && instruction != kBehindAll) path_stack_.lowest.push_back(lowest_ - path_pointer_);
}

/// A stack pointer that was brought from elsewhere and is lower than before may be on another stack.
void Builder::note_stack_pointer(StackState& stack, std::uint64_t now, bool moved) {
  if (!moved && now < stack.pointer) stack.lowest_unsure = true;
  stack.pointer = now;
  if (!stack.lowest_unsure) stack.lowest = std::min(stack.lowest, now);
}

void Builder::leave_frame(std::uint64_t stack, std::uint64_t stack_pointer) {
  StackState& state = this->stack(stack);
  const std::uint64_t end = stack_pointer + 8;
  if (!state.lowest_unsure && state.lowest <= end && state.lowest >= kRedZone) {
    const std::uint64_t begin = state.lowest - kRedZone;
    memory_.clear(begin, end - begin);
    if (recording_path_)
      path_stack_.clears.push_back({static_cast<std::uint32_t>(path_.size()), begin - path_pointer_, end - begin});
  } else {
    path_is_whole_ = false;
  }
  state.lowest = end;
  state.pointer = end;
  state.lowest_unsure = false;
}

/// The youngest frame that was entered with a stack pointer at or above the address, if the last one was not.
std::size_t Builder::frame_at(const Where& where, std::uint64_t address) {
  const auto above = [&](std::size_t index) {
    const FrameView frame = where.frame(where.frames, index);
    return !frame.known || address < frame.stack_pointer + 8;
  };
  std::size_t index = where.depth - 1;
  std::size_t low = 0;
  while (index - low > 1) {
    const std::size_t middle = low + (index - low) / 2;
    (above(middle) ? low : index) = middle;
  }
  return low;
}

void Builder::check_limits() {
  round_.whole = false;
  end_trail();
  give_all_ranks();
  settle_all();
  if (entries_.wants_collection()) collect();
  const std::uint64_t fixed = fixed_bytes();
  most_shadow_ = std::max(most_shadow_, fixed);
  const std::uint64_t left =
      options_.max_memory - std::min(options_.max_memory, fixed + Feed::budget(options_.max_memory));
  const Feed::Need need = feed_.limit(left);
  const std::uint64_t free = left - std::min(left, need.bytes);
  next_check_ =
      events_ + std::max({kCheckEvery, need.streams, std::min(free / kMostBytesPerEvent, kCheckAtLeastEvery)});
}

std::uint64_t Builder::fixed_bytes() const {
  return memory_.bytes() + entries_.bytes() + journal_bytes_ + trail_bytes_ + (options_.origins ? origins_.bytes() : 0);
}

/// Frees the entries that no cell refers to any more.
void Builder::collect() {
  ++collections_;
  feed_.drain();
  entries_.begin_collection();
  memory_.for_each([&](Cell& cell) { entries_.mark(cell.entry); });
  const auto mark_all = [&](const Registers& registers) {
    for (const Cell& cell : registers)
      if (cell.producer != 0) entries_.mark(cell.entry);
  };
  for (const std::unique_ptr<ThreadState>& thread : threads_) {
    if (!thread) continue;
    mark_all(thread->registers);
    for (const ThreadState::Saved& saved : thread->saved) mark_all(saved.registers);
    if (thread->in_system_call) entries_.mark(thread->system_call.entry);
  }
  if (environment_.producer != 0) entries_.mark(environment_.entry);
  std::vector<RegisterOrigins*> origins;
  for (const std::unique_ptr<ThreadState>& thread : threads_) {
    if (!thread) continue;
    origins.push_back(&thread->origins);
    for (ThreadState::Saved& saved : thread->saved) origins.push_back(&saved.origins);
  }
  origins_.mark(entries_, origins);
  for (const auto& [id, stack] : stacks_)
    for (const Level& level : stack->levels) entries_.mark(level.entry);
  entries_.end_collection();
}

/// What ran while recording was off may have written what is read afterwards: the last writer that is known is not
/// sure to be the last one.
void Builder::doubt_flow_over_pauses(Graph& graph) const {
  for (Dependence& dependence : graph.dependences) {
    if (dependence.kind != Dependence::Kind::kMemory || dependence.from == kNoStatement) continue;
    const bool shares = dependence.carried.size() > 1;
    if (shares && dependence.carried.front() == 0) continue;
    dependence.map.gave_up = true;
    dependence.map.why = "recording paused in between: what ran then may have written it";
    for (fold::Piece& piece : dependence.map.pieces) piece.exact_domain = false;
  }
}

void Builder::finish(Graph& graph) {
  check_limits();
  feed_.drain();
  most_shadow_ = std::max(most_shadow_, fixed_bytes());
  for (std::size_t function = 0; function < frames_.size(); ++function)
    if (frames_[function] != 0) objects_.frame_size(frames_[function], frame_sizes_[function]);
  origins_.records().for_each_producer([&](DefinitionId id) { streams_.keep(streams_.site_of(id)); });
  streams_.finish(graph, structure_.code, *facts_);
  origins_.records().finish(graph);
  graph.facts = facts_;
  if (paused_) doubt_flow_over_pauses(graph);
  graph.objects = objects_.finish();
  if (memory_.lost_writes() > 0)
    graph.gave_up.push_back({kNoStatement, "producers of values in memory",
                             "memory limit: there was no room to keep who wrote what", instructions_});
  if (unknown_instructions_ > 0)
    graph.gave_up.push_back({kNoStatement, "instructions that cannot be decoded",
                             "what they do to registers is not known", unknown_instructions_});
  if (hidden_library_instructions_ > 0)
    graph.gave_up.push_back({kNoStatement, "code of libraries that was not recorded",
                             "what it does to memory is not known (record without --no-libs)",
                             hidden_library_instructions_});
  graph.costs.instructions = instructions_;
  graph.costs.points = streams_.points();
  graph.costs.streams = streams_.count();
  graph.costs.shadow_bytes = most_shadow_;
  graph.costs.stream_bytes = streams_.most_bytes();
  graph.costs.collections = collections_;
  graph.costs.rounds = rounds_taken_;
}

}  // namespace loopfold::ddg
