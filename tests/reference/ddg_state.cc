#include "ddg_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace loopfold::reference {

namespace {

Cells consecutive(std::size_t first, std::size_t count) {
  Cells cells;
  for (std::size_t i = 0; i < count; ++i) cells.push_back(first + i);
  return cells;
}

Cells cells_of(const trace::RegisterUse& use, unsigned top) {
  using File = trace::RegisterFile;
  const std::size_t index = use.index;
  switch (use.file) {
    case File::kGeneral:
      return consecutive(Registers::kGeneral + index * 8 + use.byte, use.width);
    case File::kVector:
      return consecutive(Registers::kVector + index * 32 + use.byte, use.width);
    case File::kX87:
      return {Registers::kX87 + (top + index) % 8};
    case File::kMmx:
      return {Registers::kMmx + index};
    default:
      return {};
  }
}

}  // namespace

Written made_by(const Producer& producer) {
  Written written;
  written.writer = producer;
  written.origin = producer;
  return written;
}

Cells Registers::read_by(const trace::RegisterUse& use, unsigned top) { return cells_of(use, top); }

Cells Registers::written_by(const trace::RegisterUse& use, unsigned top) {
  if (use.file == trace::RegisterFile::kGeneral && use.width == 4) return general(use.index);
  return cells_of(use, top);
}

Cells Registers::flags(std::uint8_t set) {
  Cells cells;
  for (std::size_t flag = 0; flag < 6; ++flag)
    if ((set >> flag & 1) != 0) cells.push_back(kFlags + flag);
  return cells;
}

Cells Registers::general(unsigned number) { return consecutive(kGeneral + number * std::size_t{8}, 8); }

Cells Registers::low_vector(unsigned number) { return consecutive(kVector + number * std::size_t{32}, 16); }

void Registers::write(const Cells& cells, const Producer& producer) {
  for (const std::size_t cell : cells) cells_[cell] = made_by(producer);
}

void Registers::clear_call_clobbered() {
  for (const unsigned number : {0u, 1u, 2u, 6u, 7u, 8u, 9u, 10u, 11u}) write(general(number), {});
  std::fill(cells_.begin() + kVector, cells_.end(), Written{});
}

Written Memory::read(std::uint64_t address) const {
  const auto found = bytes_.find(address);
  return found == bytes_.end() ? Written{} : found->second;
}

void Memory::write(std::uint64_t address, std::uint64_t size, const Producer& producer) {
  if (!producer.known()) return clear(address, size);
  for (std::uint64_t i = 0; i < size; ++i) bytes_[address + i] = made_by(producer);
}

void Memory::clear(std::uint64_t address, std::uint64_t size) {
  bytes_.erase(bytes_.lower_bound(address), bytes_.lower_bound(address + size));
}

void Memory::move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  const auto first = bytes_.lower_bound(from);
  const auto last = bytes_.lower_bound(from + size);
  const std::vector<std::pair<std::uint64_t, Written>> moved(first, last);
  bytes_.erase(first, last);
  clear(to, size);
  for (const auto& [address, written] : moved) bytes_[address - from + to] = written;
}

const Heap::Block* Heap::starts_at(std::uint64_t address) const {
  const auto found = blocks_.find(address);
  return found == blocks_.end() ? nullptr : &found->second;
}

std::uint64_t Heap::number_at(std::uint64_t address) const {
  const auto behind = blocks_.upper_bound(address);
  if (behind == blocks_.begin()) return 0;
  const auto& [start, block] = *std::prev(behind);
  return address - start < block.size ? block.number : 0;
}

void apply(const trace::Allocation& call, Heap& heap, Memory& memory) {
  using Function = trace::Allocation::Function;
  const bool frees = call.function == Function::kFree || call.function == Function::kDelete;
  const bool reallocates = call.function == Function::kRealloc && call.old_address != 0;
  const bool failed = !frees && call.address == 0 && call.size != 0;
  if (failed) return;
  const Heap::Block* const old = frees || reallocates ? heap.starts_at(call.old_address) : nullptr;
  if (old != nullptr) {
    const std::uint64_t old_size = old->size;
    const std::uint64_t kept = reallocates && call.address != 0 ? std::min(old_size, call.size) : 0;
    memory.clear(call.old_address + kept, old_size - kept);
    if (kept != 0) memory.move(call.old_address, call.address, kept);
    heap.free(call.old_address);
    memory.clear(call.address + kept, call.address == 0 ? 0 : call.size - kept);
  } else if (call.address != call.old_address) {
    memory.clear(call.address, call.size);
  }
  if (call.address != 0) heap.allocate(call.address, call.size);
}

}  // namespace loopfold::reference
