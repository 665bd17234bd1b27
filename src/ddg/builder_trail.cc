// Following trails (trail.h): from part to part, and back to the registers.
//
// run_trail() is what execute() does, for a part whose node is known: the row of the journal, uses behind copies, and
// memory. It is most of the time of irregular code, so all that it needs is in the node, and what is rare is elsewhere.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::size_t kMostTrails = std::size_t{1} << 14;  // nodes
constexpr std::size_t kMostChildren = 12;
constexpr std::uint64_t kShareOfMemory = 16;  // of all memory: one such part at most

}  // namespace

/// The node of the part that runs, if it has one; `last` is null if it cannot be in a trail. The trail that was
/// followed goes on, or ends.
TrailNode* Builder::follow_trail(const Where& where, const Instance& instance, const LastSite* last, std::uint32_t part,
                                 const PartCode& code) {
  if (last == nullptr || recording_path_) {
    end_trail();
    return nullptr;
  }
  TrailNode* const before = trail_.node;
  const bool goes_on = before != nullptr && trail_.entry == instance.entry && trail_.counter == instance.counter &&
                       trail_.thread_id == where.thread;
  if (goes_on) {
    for (const std::unique_ptr<TrailNode>& child : before->children) {
      if (!child->is(part, where.context, where.function, where.node)) continue;
      before->next = child.get();
      return trail_.node = child.get();
    }
    if (!before->missed)
      before->missed = true;
    else if (TrailNode* const grown = new_trail(before, where, *last, part, code))
      return trail_.node = grown;
  }
  end_trail();
  ThreadState& thread = this->thread(where.thread);
  trail_ = {begin_trail(where, *last, part, code),
            &thread,
            &stack(where.stack),
            instance.entry,
            instance.counter,
            levels_->back().serial,
            where.thread};
  if (trail_.node != nullptr && options_.origins)
    origins_.begin_trail(instance.entry, instance.counter, trail_.serial, point_.data(), thread.registers,
                         thread.origins);
  return trail_.node;
}

TrailNode* Builder::begin_trail(const Where& where, const LastSite& last, std::uint32_t part, const PartCode& code) {
  if (last.site >= trails_.size()) trails_.resize(last.site + std::size_t{1});
  for (const std::unique_ptr<TrailNode>& node : trails_[last.site])
    if (node->part == part) return node.get();
  return new_trail(nullptr, where, last, part, code);
}

TrailNode* Builder::new_trail(TrailNode* parent, const Where& where, const LastSite& last, std::uint32_t part,
                              const PartCode& code) {
  if (trail_count_ == kMostTrails || trail_bytes_ > options_.max_memory / kShareOfMemory) return nullptr;
  if (parent != nullptr && parent->children.size() == kMostChildren) return nullptr;
  std::unique_ptr<TrailNode> node =
      make_trail(parent, code, structure_.code.blocks()[code.block], last.site, streams_.definition(last.site, 0),
                 (*facts_)[code.block], granules_, options_.origins);
  if (!node) return nullptr;
  node->part = part;
  node->context = where.context;
  node->function = where.function;
  node->node = where.node;
  node->uses = last.uses;
  node->journal = journals_[last.site].get();
  ++trail_count_;
  trail_bytes_ += node->bytes();
  TrailNode* const made = node.get();
  if (parent != nullptr) {
    parent->next = made;
    parent->children.push_back(std::move(node));
  } else {
    trails_[last.site].push_back(std::move(node));
  }
  return made;
}

/// The part of the node, which trail_ has come to. `where` may be null if it needs no place.
void Builder::run_trail(const TrailNode& node, const Where* where) {
  const PartCode& code = node.code;
  const std::uint64_t* const slots = slots_;
  std::uint64_t* const row = begin_row(*node.journal, code);
  last_row_ = row;
  ++trail_.stack->parts;
  instructions_ += code.instructions;
  if (code.unknown) [[unlikely]]
    unknown_instructions_ += code.instructions;
  row[0] = trail_.entry | std::uint64_t{since_} << 32;
  row[1] = trail_.counter;
  row[2] = trail_.serial;
  row[3] = instructions_;
  std::uint64_t* result = row + Journal::kHeader;
  for (const Formula& value : node.values) *result++ = value.at(slots);
  read_in_trail(node, row);
  if (options_.origins)
    origins_.begin_in_trail(code, node.site, node.first_definition, node.uses, node.made_uses, node.loads);

  run_accesses(node, where, row);
}

/// Its accesses, the uses before and behind them, and what becomes of the stack pointer.
[[gnu::always_inline]] inline void Builder::run_accesses(const TrailNode& node, const Where* where,
                                                         std::uint64_t* row) {
  const PartCode& code = node.code;
  const std::uint64_t* const slots = slots_;
  const OriginCode::Use* use = code.origins.uses.data();
  ThreadState& thread = *trail_.thread;
  StackState& stack = *trail_.stack;
  const bool moves = code.moves_stack_pointer;
  std::uint64_t low = 0;
  const TrailNode::Access* access = &node.accesses.back();
  if (where != nullptr) {
    access = node.accesses.data();
    if (moves) take_pointers(code, row);
    if (thread.left != where->stack) thread.left = kNoStack;
    lowest_ = thread.stack_pointer;
    low = lowest_on_stack(*where, thread);
  }
  for (;; ++access) {
    if (moves) [[unlikely]] {
      if (next_pointer_ < access->pointers)
        follow_stack_pointer(*where, code, access->instruction, thread, stack);
      else
        lowest_ = thread.stack_pointer;
      low = lowest_on_stack(*where, thread);
    }
    std::uint64_t address = 0;
    bool copy = false;
    if (access->access != nullptr) {
      address = access->address.at(slots);
      if (access->guarded && address == 0) [[unlikely]] {
        std::fill_n(row + access->in_row, RowCode::kPlace + (access->store ? 0 : RowCode::kCell), 0);
        continue;
      }
      copy = access->spills && address >= low && in_youngest_frame(*where, thread, stack, address);
    }
    if (use != access->uses) {
      origins_.use_in_trail(use, access->uses, copy ? access->instruction : kOutside);
      use = access->uses;
    }
    if (access->access == nullptr) return;
    if (access->store) {
      const Cell cell{access->definition, trail_.entry, trail_.counter};
      if (copy) origins_.spill(*access->access, address, cell);
      memory_.write(address, access->size, cell);
    } else {
      copy = load_in_trail(node, *access, address, row);
    }
    const bool on_stack = address >= low && address < end_of_stack(*where, stack);
    note_place(row + access->in_row, on_stack ? in_frame(*where, address) : objects_.find(address), copy);
  }
}

/// What the stack pointer is in a part that moves it.
[[gnu::noinline]] void Builder::take_pointers(const PartCode& code, const std::uint64_t* row) {
  if (results_.size() < code.values.size()) results_.resize(code.values.size());
  for (const std::uint32_t pointer : code.pointers) results_[pointer] = row[Journal::kHeader + pointer];
  next_pointer_ = 0;
}

/// Behind a part that no trail goes on from, registers are needed.
bool Builder::must_end_behind(const TrailNode& node) const {
  return node.last || (options_.origins && origins_.took_several());
}

[[gnu::always_inline]] inline void Builder::read_in_trail(const TrailNode& node, std::uint64_t* row) {
  const std::uint64_t entry = std::uint64_t{trail_.entry} << 32;
  const std::uint64_t counter = trail_.counter;
  for (const TrailNode::Made& read : node.made) {
    row[read.in_row] = entry | read.writer;
    row[read.in_row + 1] = counter;
  }
  const ThreadState& thread = *trail_.thread;
  for (const TrailNode::Found& found : node.found) {
    const Cell& cell = thread.registers[found.granule];
    Journal::set_cell(row + found.in_row, cell);
    if (thread.origins.joined.has(found.behind) || (found.consecutive && are_equal(&cell, found.count))) [[likely]]
      continue;
    note_apart(*node.journal, node.code, *found.read, thread.registers);
  }
  if (!node.mixed.empty()) [[unlikely]]
    read_mixed(node, row);
}

/// Reads of which the trail has written some.
[[gnu::noinline]] void Builder::read_mixed(const TrailNode& node, std::uint64_t* row) {
  for (const TrailNode::Mixed& mixed : node.mixed) {
    const RegisterRead& read = *mixed.read;
    Cell before;
    for (std::uint32_t i = 0; i < read.count; ++i) {
      const TrailNode::MixedGranule& in = node.mixed_granules[mixed.first + i];
      const Cell cell =
          in.writer != 0 ? Cell{in.writer, trail_.entry, trail_.counter} : trail_.thread->registers[in.granule];
      if (i == 0)
        Journal::set_cell(row + read.in_row, cell);
      else if (!(cell == before) && cell.producer != 0)
        node.journal->add_extra(false, read.number, in.lane, cell);
      before = cell;
    }
  }
}

/// Whether it is a reload.
[[gnu::always_inline]] inline bool Builder::load_in_trail(const TrailNode& node, const TrailNode::Access& access,
                                                          std::uint64_t address, std::uint64_t* row) {
  const Cell* const only = access.size != 0 ? memory_.only_cell(address, access.size) : nullptr;
  if (only == nullptr) [[unlikely]]
    return load_several(node, *access.access, address, row);
  Journal::set_cell(row + access.in_row + Journal::kPlace, *only);
  return options_.origins && origins_.load_one(*access.access, access.load, address, *only);
}

/// What several instances wrote, or one that is lost.
[[gnu::noinline]] bool Builder::load_several(const TrailNode& node, const MemoryAccess& access, std::uint64_t address,
                                             std::uint64_t* row) {
  const std::span<const OriginTracker::Chunk> chunks{chunks_.data(), read_chunks(address, access.size)};
  const bool reload = options_.origins && origins_.load(access, address, chunks);
  Cell first;
  for (const OriginTracker::Chunk& chunk : chunks) {
    if (chunk.offset == 0)
      first = chunk.cell;
    else
      node.journal->add_extra(true, static_cast<std::size_t>(&access - node.code.accesses.data()),
                              static_cast<std::uint16_t>(chunk.offset), chunk.cell);
  }
  Journal::set_cell(row + access.in_row + Journal::kPlace, first);
  return reload;
}

void Builder::write_trail() {
  leave_behind(trail_.node->outs, trail_.node->end);
  trail_.node = nullptr;
}

/// Writes some of what the trail leaves, or all of it.
void Builder::leave_behind(std::span<const TrailNode::Out> outs, const PartCode& end) {
  ThreadState& thread = *trail_.thread;
  if (options_.origins) origins_.end_trail(end);
  Cell* const registers = thread.registers.data();
  Cell cell{0, trail_.entry, trail_.counter};
  for (const TrailNode::Out& out : outs) {
    cell.producer = out.writer;
    const std::size_t count = out.count;
    // Most are a general register: then both know that.
    if (count == RegisterOrigins::kOfGeneral) [[likely]] {
      fill_cells(registers + out.granule, RegisterOrigins::kOfGeneral, cell);
      thread.origins.set_written(out.granule, RegisterOrigins::kOfGeneral);
    } else {
      fill_cells(registers + out.granule, count, cell);
      thread.origins.set_written(out.granule, count);
    }
  }
  thread.origins.joined.exchange(end.parted, end.joined, end.parted_words);
  if (options_.origins) origins_.write();
}

}  // namespace loopfold::ddg
