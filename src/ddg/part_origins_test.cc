// Where values in a part come from, behind its copies.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "ddg/part_code.h"

namespace loopfold::ddg {
namespace {

using Kind = Source::Kind;

struct Code {
  trace::Block block;

  explicit Code(std::initializer_list<std::vector<std::uint8_t>> instructions) {
    for (const std::vector<std::uint8_t>& bytes : instructions) {
      block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
      block.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
    }
  }
  Code& access(std::uint16_t instruction, trace::Access::Kind kind, std::uint32_t size) {
    trace::Access access;
    access.instruction = instruction;
    access.kind = kind;
    access.size = size;
    block.accesses.push_back(access);
    return *this;
  }
  PartCode compile() {
    const std::vector<trace::InstructionFacts> facts = trace::decode(block);
    structure::Part part;
    part.instructions = static_cast<std::uint16_t>(block.lengths.size());
    return compile_part(block, facts, part, block.accesses.size(), 0, granules_for({&block, 1}, {facts}));
  }
};

constexpr auto kLoad = trace::Access::Kind::kLoad;
constexpr auto kStore = trace::Access::Kind::kStore;
constexpr Granule kRax = 0, kRbx = 12, kRbp = 20;

/// The source of a granule after the part.
const Source* out(const PartCode& code, Granule granule) {
  for (const OriginCode::Out& out : code.origins.outs)
    if (out.granule == granule) return &out.source;
  return nullptr;
}

TEST(PartOrigins, CopiesHandOnWhatTheyRead) {
  const PartCode code = Code{{0x89, 0xd8}, {0x48, 0x89, 0xc1}}.compile();  // mov eax,ebx; mov rcx,rax
  ASSERT_NE(out(code, 4), nullptr);
  EXPECT_EQ(*out(code, 4), (Source{Kind::kLiveIn, 0, 0, kRbx}));
  EXPECT_EQ(out(code, 7)->kind, Kind::kNone);  // the upper half of eax
  EXPECT_TRUE(code.origins.uses.empty());
  EXPECT_EQ(code.origins.moved_outs, 6u);
}

TEST(PartOrigins, AUseBehindALocalCopy) {
  const PartCode code = Code{{0x48, 0x89, 0xd8}, {0x48, 0x01, 0xc1}}.compile();  // mov rax,rbx; add rcx,rax
  const OriginCode::Use* behind = nullptr;
  for (const OriginCode::Use& use : code.origins.uses)
    if (!use.direct) behind = &use;
  ASSERT_NE(behind, nullptr);
  const OriginCode::Piece& piece = code.origins.pieces[behind->first];
  EXPECT_EQ(behind->instruction, 1);
  EXPECT_EQ(piece.writer, 0u);
  EXPECT_EQ(piece.source, (Source{Kind::kLiveIn, 0, 0, kRbx}));
}

TEST(PartOrigins, WhatIsComputedIsMadeHere) {
  // lea rax,[rbx+1]; mov rcx,rax; add rdx,rcx
  const PartCode code = Code{{0x48, 0x8d, 0x43, 0x01}, {0x48, 0x89, 0xc1}, {0x48, 0x01, 0xca}}.compile();
  EXPECT_EQ(out(code, kRax), nullptr);
  EXPECT_EQ(*out(code, 4), (Source{Kind::kHere, 0, 0, 0}));
  for (const OriginCode::Use& use : code.origins.uses) EXPECT_TRUE(use.direct);
}

TEST(PartOrigins, TheStackPointerHasNone) {
  const PartCode code = Code{{0x48, 0x83, 0xec, 0x08}, {0x48, 0x89, 0xe5}}.compile();  // sub rsp,8; mov rbp,rsp
  EXPECT_EQ(out(code, kRbp)->kind, Kind::kNone);
  EXPECT_TRUE(code.origins.uses.empty());
}

TEST(PartOrigins, SpillsAreAtConstantPlaces) {
  // push rbx; mov [rbp-8],rax; mov [rdi],rax; mov [rsp+rax*8],rax; mov dword [rbp-4],0
  const PartCode code = Code{{0x53},
                             {0x48, 0x89, 0x45, 0xf8},
                             {0x48, 0x89, 0x07},
                             {0x48, 0x89, 0x04, 0xc4},
                             {0xc7, 0x45, 0xfc, 0, 0, 0, 0}}
                            .access(0, kStore, 8)
                            .access(1, kStore, 8)
                            .access(2, kStore, 8)
                            .access(3, kStore, 8)
                            .access(4, kStore, 4)
                            .compile();
  ASSERT_EQ(code.accesses.size(), 5u);
  std::vector<bool> spills;
  for (const MemoryAccess& access : code.accesses) spills.push_back(access.spill != MemoryAccess::kNo);
  EXPECT_EQ(spills, (std::vector<bool>{true, true, false, false, true}));
  EXPECT_EQ(code.origins.spills[code.accesses[0].spill].count, 4u);
  EXPECT_EQ(code.origins.spills[code.accesses[4].spill].count, 0u);
}

TEST(PartOrigins, PlainLoadsAreSources) {
  // mov rax,[rbp-8]; movzx ebx,byte [rdi]; add rcx,[rsi]; mov rdx,rax
  const PartCode code = Code{{0x48, 0x8b, 0x45, 0xf8}, {0x0f, 0xb6, 0x1f}, {0x48, 0x03, 0x0e}, {0x48, 0x89, 0xc2}}
                            .access(0, kLoad, 8)
                            .access(1, kLoad, 1)
                            .access(2, kLoad, 8)
                            .compile();
  ASSERT_EQ(code.accesses.size(), 3u);
  EXPECT_EQ(code.accesses[0].load, 0);
  EXPECT_TRUE(code.accesses[0].reloads);
  EXPECT_EQ(code.accesses[1].load, 1);
  EXPECT_EQ(code.accesses[2].load, MemoryAccess::kNo);
  EXPECT_EQ(*out(code, kRax + 2), (Source{Kind::kLoaded, 2, 2, 0}));
  EXPECT_EQ(*out(code, 8), (Source{Kind::kLoaded, 0, 1, 0}));
  EXPECT_EQ(out(code, kRbx)->kind, Kind::kLoaded);
  EXPECT_EQ(out(code, 4), nullptr);
  EXPECT_TRUE(code.origins.loads[0].kept);
}

/// movq xmm0,rax: four granules in one.
TEST(PartOrigins, SeveralSourcesOfOneGranule) {
  const PartCode code = Code{{0x66, 0x48, 0x0f, 0x6e, 0xc0}}.compile();
  ASSERT_NE(out(code, Granules::kVector), nullptr);
  const Source source = *out(code, Granules::kVector);
  ASSERT_EQ(source.kind, Kind::kSeveral);
  EXPECT_EQ(source.bytes, 4);
  EXPECT_EQ(code.origins.several[source.index + 3], (Source{Kind::kLiveIn, 0, 0, 3}));
  EXPECT_EQ(out(code, Granules::kVector + 1)->kind, Kind::kNone);
}

}  // namespace
}  // namespace loopfold::ddg
