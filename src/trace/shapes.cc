// The rules that blocks and exits obey, checked once per description.
//
// For every prefix of a block's lists the largest slot that it refers to is worked out when the block comes, so that an
// exit, which is four prefix lengths, is checked with four lookups.
#include "trace/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

/// Lists in a description are counted in 16 bits.
constexpr std::size_t kMaxList = 0xffff;

tl::unexpected<Error> malformed(std::string reason) { return fail(ErrorKind::kBadInput, std::move(reason)); }

/// How many slots an event needs so that `value` can be evaluated; more than kMaxSlots if none can have it.
std::uint32_t slots_needed(const Value& value) {
  if (value.kind != Value::Kind::kSlot) return 0;
  return value.data < kMaxSlots ? static_cast<std::uint32_t>(value.data) + 1 : kMaxSlots + 1;
}

/// Checks a list of accesses or results, and fills in what each prefix of it needs.
template <typename T>
bool prefixes(const std::vector<T>& list, std::size_t instructions, const Value T::*value,
              std::vector<std::uint32_t>& needed) {
  needed.assign(1, 0);
  for (const T& element : list) {
    needed.push_back(std::max(needed.back(), slots_needed(element.*value)));
    if (element.instruction >= instructions || needed.back() > kMaxSlots) return false;
  }
  return list.size() <= kMaxList;
}

bool sound_result(const IntegerResult& result) {
  const bool width = result.width == 1 || result.width == 2 || result.width == 4 || result.width == 8;
  return width && result.reg < 16 && result.byte <= 1;
}

}  // namespace

Result<void> Shapes::add_block(const Block& block) {
  if (block.id != blocks_.size()) return malformed(fmt::format("block {} where {} is due", block.id, blocks_.size()));
  std::size_t bytes = 0;
  for (const std::uint8_t length : block.lengths) bytes += length;
  if (bytes != block.bytes.size() || block.lengths.size() > kMaxList)
    return malformed(fmt::format("block {}: its instructions do not add up to its bytes", block.id));
  BlockShape shape;
  shape.instructions = static_cast<std::uint32_t>(block.lengths.size());
  shape.ftop_slots = slots_needed(block.ftop);
  if (shape.ftop_slots > kMaxSlots ||
      !prefixes(block.accesses, block.lengths.size(), &Access::address, shape.access_slots))
    return malformed(fmt::format("block {}: an access names an instruction or a slot that is not there", block.id));
  if (!prefixes(block.results, block.lengths.size(), &IntegerResult::value, shape.result_slots) ||
      !std::all_of(block.results.begin(), block.results.end(), sound_result))
    return malformed(fmt::format("block {}: a result names something that is not there", block.id));
  blocks_.push_back(std::move(shape));
  return {};
}

Result<void> Shapes::add_exit(const Exit& exit) {
  if (exit.id != exits_.size()) return malformed(fmt::format("exit {} where {} is due", exit.id, exits_.size()));
  if (exit.block >= blocks_.size()) return malformed(fmt::format("exit {}: no block {}", exit.id, exit.block));
  const BlockShape& block = blocks_[exit.block];
  if (exit.instructions > block.instructions || exit.accesses >= block.access_slots.size() ||
      exit.results >= block.result_slots.size())
    return malformed(fmt::format("exit {}: more of something than block {} has", exit.id, exit.block));
  const std::uint32_t ftop_slots = exit.instructions == 0 ? 0 : block.ftop_slots;
  const std::uint32_t needed = std::max({block.access_slots[exit.accesses], block.result_slots[exit.results],
                                         slots_needed(exit.stack_pointer), ftop_slots});
  if (needed > exit.slots)
    return malformed(fmt::format("exit {}: {} slots, but slot {} is used", exit.id, exit.slots, needed - 1));
  exits_.push_back({exit.block, exit.slots});
  return {};
}

void Shapes::shrink(std::size_t blocks, std::size_t exits) {
  blocks_.resize(std::min(blocks, blocks_.size()));
  exits_.resize(std::min(exits, exits_.size()));
}

void Shapes::forget_blocks() {
  for (BlockShape& block : blocks_) block = {};
}

}  // namespace loopfold::trace
