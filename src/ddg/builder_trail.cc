// Following trails (trail.h): from part to part, and back to the registers.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::size_t kMostTrails = std::size_t{1} << 14;  // nodes
constexpr std::size_t kMostChildren = 12;
constexpr std::uint64_t kShareOfMemory = 16;  // of all memory: one such part at most

}  // namespace

/// The node of the part that runs, if it has one; `last` is null if it cannot be in a trail. The trail that was followed
/// goes on, or ends.
TrailNode* Builder::follow_trail(const Where& where, const Instance& instance, ThreadState& thread,
                                 const LastSite* last, std::uint32_t part, const PartCode& code) {
  if (last == nullptr || recording_path_) {
    end_trail();
    return nullptr;
  }
  TrailNode* const before = trail_.node;
  const bool goes_on = before != nullptr && trail_.entry == instance.entry && trail_.counter == instance.counter &&
                       trail_.thread == &thread;
  if (goes_on) {
    TrailNode* next = before->next;
    if (next != nullptr && next->is(part, where.context, where.function, where.node)) [[likely]]
      return trail_.node = next;
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
  trail_ = {begin_trail(where, *last, part, code), &thread, instance.entry, instance.counter};
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
  std::unique_ptr<TrailNode> node = make_trail(parent, code, last.site, streams_.definition(last.site, 0),
                                               (*facts_)[code.block], granules_, options_.origins);
  if (!node) return nullptr;
  node->part = part;
  node->context = where.context;
  node->function = where.function;
  node->node = where.node;
  node->uses = last.uses;
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

/// Reads of what the trail has written.
void Builder::read_in_trail(const Running& part, const TrailNode& node) {
  const auto made = [&](DefinitionId writer) { return Cell{writer, part.instance.entry, part.instance.counter}; };
  for (const TrailNode::Made& read : node.made) Journal::set_cell(part.row + read.in_row, made(read.writer));
  for (const TrailNode::Mixed& mixed : node.mixed) {
    const RegisterRead& read = *mixed.read;
    Cell before;
    for (std::uint32_t i = 0; i < read.count; ++i) {
      const TrailNode::MixedGranule& in = node.mixed_granules[mixed.first + i];
      const Cell cell = in.writer != 0 ? made(in.writer) : part.thread.registers[in.granule];
      if (i == 0)
        Journal::set_cell(part.row + read.in_row, cell);
      else if (!(cell == before) && cell.producer != 0)
        part.journal->add_extra(false, read.number, in.lane, cell);
      before = cell;
    }
  }
}

void Builder::write_trail() {
  const TrailNode& node = *trail_.node;
  ThreadState& thread = *trail_.thread;
  if (options_.origins) origins_.end_trail(node.end);
  for (const TrailNode::Out& out : node.outs) {
    fill_cells(thread.registers.data() + out.granule, out.count, {out.writer, trail_.entry, trail_.counter});
    thread.origins.set_written(out.granule, out.count);
  }
  thread.origins.joined.exchange(node.end.parted, node.end.joined, node.end.parted_words);
  if (options_.origins) origins_.write();
  trail_.node = nullptr;
}

}  // namespace loopfold::ddg
