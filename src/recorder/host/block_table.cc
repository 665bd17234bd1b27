// The description's own bytes, without the ids that Valgrind's translation order decides, are the canonical key: two
// translations are the same block exactly if nothing about them differs. Trace ids are given at the first recorded
// execution, so that the code before main costs nothing.
#include "recorder/host/block_table.h"

#include <algorithm>
#include <cstring>

namespace loopfold::recorder {

namespace {

using trace::Value;

/// Reads PODs and byte arrays, each padded to whole words.
class WordReader {
 public:
  explicit WordReader(std::span<const std::uint64_t> words) : words_(words) {}

  template <typename T>
  bool read(T* to, std::size_t count) {
    const std::size_t bytes = sizeof(T) * count;
    const std::size_t needed = (bytes + 7) / 8;
    if (needed > words_.size()) return false;
    if (bytes > 0) std::memcpy(to, words_.data(), bytes);
    words_ = words_.subspan(needed);
    return true;
  }

 private:
  std::span<const std::uint64_t> words_;
};

Value slot_value(std::uint16_t slot) { return slot == wire::kNoSlot ? Value{} : Value::slot(slot); }

trace::Exit to_exit(const wire::DescribedExit& from) {
  trace::Exit exit;
  exit.kind = static_cast<trace::ExitKind>(from.kind);
  exit.instructions = from.instructions;
  exit.accesses = from.accesses;
  exit.results = from.results;
  exit.slots = from.slots;
  if (from.has_target != 0) exit.target = from.target;
  exit.stack_pointer = slot_value(from.sp_slot);
  return exit;
}

trace::Access to_access(const wire::DescribedAccess& from) {
  trace::Access access;
  access.instruction = from.instruction;
  access.kind = from.store != 0 ? trace::Access::Kind::kStore : trace::Access::Kind::kLoad;
  access.guarded = from.guarded != 0;
  access.atomic = from.atomic != 0;
  access.size = from.size;
  access.address = slot_value(from.slot);
  return access;
}

trace::IntegerResult to_result(const wire::DescribedResult& from) {
  trace::IntegerResult result;
  result.instruction = from.instruction;
  result.reg = from.reg;
  result.byte = from.byte;
  result.width = from.width;
  result.value = slot_value(from.slot);
  return result;
}

std::string key_of(std::span<const std::uint64_t> words, wire::Description description) {
  std::string key(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  description.base_exit = 0;
  std::memcpy(key.data(), &description, sizeof description);
  return key;
}

}  // namespace

bool BlockTable::describe(std::span<const std::uint64_t> words, bool main_program) {
  WordReader reader(words);
  wire::Description description{};
  if (!reader.read(&description, 1) || description.base_exit < wire::kFirstExit) return false;
  const auto [known, added] = canonical_.try_emplace(key_of(words, description), blocks_.size());
  if (added) {
    std::vector<wire::DescribedExit> exits(description.exits);
    std::vector<wire::DescribedAccess> accesses(description.accesses);
    std::vector<wire::DescribedResult> results(description.results);
    Entry entry;
    entry.block.address = description.address;
    entry.block.lengths.resize(description.instructions);
    entry.block.bytes.resize(std::min<std::uint32_t>(description.bytes, wire::kSegmentBytes));
    entry.trap_bytes.resize(std::min<std::uint32_t>(description.trap_bytes, 64));
    const bool whole = reader.read(exits.data(), exits.size()) && reader.read(accesses.data(), accesses.size()) &&
                       reader.read(results.data(), results.size()) &&
                       reader.read(entry.block.lengths.data(), entry.block.lengths.size()) &&
                       reader.read(entry.block.bytes.data(), entry.block.bytes.size()) &&
                       reader.read(entry.trap_bytes.data(), entry.trap_bytes.size());
    if (!whole || exits.empty()) {
      canonical_.erase(known);
      return false;
    }
    std::transform(exits.begin(), exits.end(), std::back_inserter(entry.exits), to_exit);
    std::transform(accesses.begin(), accesses.end(), std::back_inserter(entry.block.accesses), to_access);
    std::transform(results.begin(), results.end(), std::back_inserter(entry.block.results), to_result);
    entry.block.ftop = slot_value(description.ftop_slot);
    blocks_.push_back(std::move(entry));
  }
  const Entry& entry = blocks_[known->second];
  const std::size_t end = std::size_t{description.base_exit} + entry.exits.size();
  if (exits_.size() < end) exits_.resize(std::max(end, exits_.size() * 2));
  for (std::size_t i = 0; i < entry.exits.size(); i++) {
    const trace::Exit& from = entry.exits[i];
    WireExit& to = exits_[description.base_exit + i];
    to.trace_exit = entry.written ? from.id : WireExit::kUnassigned;
    to.block = known->second;
    to.slots = from.slots;
    to.instructions = from.instructions;
    to.sp_slot = from.stack_pointer.kind == Value::Kind::kSlot ? static_cast<std::uint16_t>(from.stack_pointer.data)
                                                               : wire::kNoSlot;
    to.kind = from.kind;
    to.main_program = main_program;
    to.known = true;
  }
  // Which of the block's exits an id is follows from its distance to the base; remember the base.
  if (first_exit_of_.size() < exits_.size()) first_exit_of_.resize(exits_.size());
  for (std::size_t id = description.base_exit; id < end; id++) first_exit_of_[id] = description.base_exit;
  return true;
}

BlockTable::Entry& BlockTable::write(std::uint32_t block) {
  Entry& entry = blocks_[block];
  if (entry.written) return entry;
  entry.written = true;
  entry.block.id = next_block_++;
  writer_.add_block(entry.block);
  for (trace::Exit& exit : entry.exits) {
    exit.id = next_exit_++;
    exit.block = entry.block.id;
    writer_.add_exit(exit);
  }
  return entry;
}

void BlockTable::assign(std::uint32_t id) {
  const Entry& entry = write(exits_[id].block);
  exits_[id].trace_exit = entry.exits[id - first_exit_of_[id]].id;
}

std::optional<BlockTable::Interrupted> BlockTable::interrupt(std::uint32_t base_exit, std::uint64_t address) {
  if (!exit(base_exit).known) return std::nullopt;
  const std::uint32_t index = exits_[base_exit].block;
  const trace::Block& block = blocks_[index].block;
  std::uint64_t at = block.address;
  std::uint16_t done = 0;
  while (done < block.lengths.size() && at + block.lengths[done] <= address) at += block.lengths[done++];
  if (done == 0 || done == block.lengths.size()) return std::nullopt;

  Entry& entry = write(index);
  trace::Exit partial;
  partial.block = entry.block.id;
  partial.kind = trace::ExitKind::kInterrupted;
  partial.instructions = done;
  std::uint64_t slots = entry.block.ftop.kind == Value::Kind::kSlot ? entry.block.ftop.data + 1 : 0;
  for (const trace::Access& access : entry.block.accesses) {
    if (access.instruction >= done) break;
    partial.accesses++;
    slots = std::max(slots, access.address.data + 1);
  }
  for (const trace::IntegerResult& result : entry.block.results) {
    if (result.instruction >= done) break;
    partial.results++;
    slots = std::max(slots, result.value.data + 1);
  }
  partial.slots = static_cast<std::uint16_t>(slots);
  const auto [known, added] = entry.interrupted.try_emplace(done, next_exit_);
  if (added) {
    partial.id = next_exit_++;
    writer_.add_exit(partial);
  }
  return Interrupted{known->second, partial.slots, done};
}

std::uint64_t BlockTable::address_of(std::uint32_t id) const { return blocks_[exits_[id].block].block.address; }

std::uint64_t BlockTable::end_of(std::uint32_t id) const {
  const trace::Block& block = blocks_[exits_[id].block].block;
  return block.address + block.bytes.size();
}

const std::vector<std::uint8_t>& BlockTable::trap_bytes(std::uint32_t id) const {
  return blocks_[exits_[id].block].trap_bytes;
}

}  // namespace loopfold::recorder
