// Random parts, one after the other: what is remembered of registers that are one chunk is true, and changes nothing.
#include "ddg/origin_tracker.h"

#include <gtest/gtest.h>

#include <random>

#include "ddg/graph_text.h"

namespace loopfold::ddg {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// An instruction, and the size of its access: loads are positive, stores negative.
struct Instruction {
  Bytes bytes;
  int access = 0;
};

const std::vector<Instruction> kInstructions{
    {{0x48, 0x89, 0xd8}},              // mov rax,rbx
    {{0x48, 0x89, 0xc3}},              // mov rbx,rax
    {{0x89, 0xd8}},                    // mov eax,ebx
    {{0x88, 0xd8}},                    // mov al,bl
    {{0x88, 0xdc}},                    // mov ah,bl
    {{0x66, 0x89, 0xd8}},              // mov ax,bx
    {{0x48, 0x8d, 0x43, 0x01}},        // lea rax,[rbx+1]
    {{0x48, 0x01, 0xc1}},              // add rcx,rax
    {{0x48, 0x01, 0xd9}},              // add rcx,rbx
    {{0x01, 0xc1}},                    // add ecx,eax
    {{0x66, 0x48, 0x0f, 0x6e, 0xc0}},  // movq xmm0,rax
    {{0x66, 0x48, 0x0f, 0x7e, 0xc3}},  // movq rbx,xmm0
    {{0x0f, 0x58, 0xc8}},              // addps xmm1,xmm0
    {{0x48, 0x8b, 0x07}, 8},           // mov rax,[rdi]
    {{0x8a, 0x07}, 1},                 // mov al,[rdi]
    {{0x48, 0x89, 0x45, 0xf8}, -8},    // mov [rbp-8],rax
    {{0x48, 0x8b, 0x5d, 0xf8}, 8},     // mov rbx,[rbp-8]
    {{0x8b, 0x5d, 0xf8}, 4},           // mov ebx,[rbp-8]
};
constexpr std::uint64_t kHeap = 0x10000, kFrame = 0x20000;

/// A loop of one statement per part.
class Follower {
 public:
  /// If it forgets, all granules are compared for every use.
  Follower(const std::vector<trace::Block>& blocks, bool forgets) : forgets_(forgets) {
    std::vector<std::vector<trace::InstructionFacts>> facts;
    for (const trace::Block& block : blocks) facts.push_back(trace::decode(block));
    const Granules granules = granules_for(blocks, facts);
    structure::ContextKey key;
    key.kind = structure::Context::Kind::kStart;
    key.parent = structure::LoopTree::root();
    key.parent = tree_.child(key, 0, 0);
    key.kind = structure::Context::Kind::kLoop;
    key.loop = 1;
    const structure::ContextId loop = tree_.child(key, 1, 0);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      structure::Part part;
      part.instructions = static_cast<std::uint16_t>(blocks[i].lengths.size());
      codes_.push_back(compile_part(blocks[i], facts[i], part, blocks[i].accesses.size(), 0, granules));
      PartNumbers().renumber(codes_.back());
      const auto node = static_cast<structure::NodeId>(i + 1);
      sites_.push_back(streams_.site({Statement::Kind::kCode, loop, 0, node, 0, 0}, 0, part.instructions));
    }
    entry_ = entries_.add(entries_.add(kNoEntry, 0, 1), 0, 2);
    registers_.resize(granules.count());
    origins_ = RegisterOrigins(granules.count());
  }

  void execute(std::size_t part, std::uint64_t counter, std::uint64_t heap) {
    const PartCode& code = codes_[part];
    point_[1] = static_cast<std::int64_t>(counter);
    streams_.instance(sites_[part], point_);
    if (forgets_) origins_.joined.clear();
    tracker_.begin(code, {sites_[part], entry_, counter, 1, point_, true, nullptr}, registers_, origins_);
    for (const MemoryAccess& access : code.accesses) access_memory(part, access, counter, heap);
    if (forgets_) origins_.joined.clear();
    tracker_.finish_part();
    const DefinitionId first = streams_.definition(sites_[part], 0);
    for (const LiveOut& out : code.live_outs) {
      fill_cells(registers_.data() + out.granule, out.count, {first + out.instruction, entry_, counter});
      origins_.set_written(out.granule, out.count);
    }
    origins_.joined.exchange(code.parted, code.joined, code.parted_words);
    tracker_.write();
  }

  /// Granules that are known to be as the one before; all of them must be.
  const GranuleSet& joined() const {
    for (Granule i = 1; i < registers_.size(); ++i) {
      if (!origins_.joined.has(i)) continue;
      EXPECT_EQ(registers_[i], registers_[i - 1u]) << i;
      EXPECT_EQ(origins_.where[i], origins_.where[i - 1u]) << i;
      if (origins_.where[i] == RegisterOrigins::kKept) {
        EXPECT_TRUE(origins_.kept[i].same_origin(origins_.kept[i - 1u])) << i;
      }
    }
    return origins_.joined;
  }

  std::vector<std::string> finish() {
    Graph graph;
    streams_.finish(graph, structure::CodeMap({}, {}, {}), {});
    tracker_.records().finish(graph);
    return ddg::testing::lines_of(graph);
  }

 private:
  void access_memory(std::size_t part, const MemoryAccess& access, std::uint64_t counter, std::uint64_t heap) {
    const Cell cell{streams_.definition(sites_[part], access.instruction), entry_, counter};
    const std::uint64_t address = access.address.data == 0 ? heap : kFrame;
    if (forgets_) origins_.joined.clear();
    tracker_.read_registers(access.instruction, access.store);
    if (access.store) {
      tracker_.spill(access, address, cell);
      memory_.write(address, access.size, cell);
      return;
    }
    std::vector<OriginTracker::Chunk> chunks;
    memory_.read(address, access.size, [&](std::uint64_t offset, std::uint64_t size, const Cell& writer) {
      chunks.push_back({offset, size, writer});
    });
    tracker_.load(access, address, chunks);
  }

  bool forgets_;
  structure::LoopTree tree_;
  Streams streams_{{}, tree_};
  Entries entries_;
  ShadowMemory memory_;
  OriginTracker tracker_{streams_, tree_, entries_, memory_};
  std::vector<PartCode> codes_;
  std::vector<SiteId> sites_;
  EntryId entry_ = kNoEntry;
  std::int64_t point_[2] = {0, 0};
  std::vector<Cell> registers_;
  RegisterOrigins origins_;
};

trace::Block random_block(std::mt19937& random, trace::BlockId id) {
  trace::Block block;
  block.id = id;
  const std::size_t count = 1 + random() % 5;
  for (std::uint16_t i = 0; i < count; ++i) {
    const Instruction& instruction = kInstructions[random() % kInstructions.size()];
    block.bytes.insert(block.bytes.end(), instruction.bytes.begin(), instruction.bytes.end());
    block.lengths.push_back(static_cast<std::uint8_t>(instruction.bytes.size()));
    if (instruction.access == 0) continue;
    trace::Access access;
    access.instruction = i;
    access.kind = instruction.access > 0 ? trace::Access::Kind::kLoad : trace::Access::Kind::kStore;
    access.size = static_cast<std::uint32_t>(std::abs(instruction.access));
    access.address.data = instruction.bytes.back() == 0xf8 ? 1 : 0;
    block.accesses.push_back(access);
  }
  return block;
}

TEST(OriginTracker, WhatIsRememberedOfChunksIsTrue) {
  std::mt19937 random(1);
  bool rax = false;
  bool xmm0 = false;
  std::size_t origins = 0;
  for (int round = 0; round < 30; ++round) {
    std::vector<trace::Block> blocks;
    for (trace::BlockId id = 0; id < 6; ++id) blocks.push_back(random_block(random, id));
    Follower remembers(blocks, false);
    Follower forgets(blocks, true);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const std::size_t part = random() % blocks.size();
      const std::uint64_t heap = kHeap + random() % 4 * 8;
      remembers.execute(part, i, heap);
      forgets.execute(part, i, heap);
      const GranuleSet& joined = remembers.joined();
      rax = rax || (joined.has(1) && joined.has(2) && joined.has(3));
      xmm0 = xmm0 || joined.has(Granules::kVector + std::size_t{1});
      if (HasFailure()) return;
    }
    const std::vector<std::string> lines = forgets.finish();
    EXPECT_EQ(remembers.finish(), lines);
    for (const std::string& line : lines) origins += line.starts_with("origin") ? 1 : 0;
  }
  EXPECT_TRUE(rax && xmm0) << "now and then";
  EXPECT_GT(origins, 0u);
}

}  // namespace
}  // namespace loopfold::ddg
