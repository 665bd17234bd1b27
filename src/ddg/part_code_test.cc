// Which registers a part reads from outside, which it leaves behind, and what flows inside it.
#include "ddg/part_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace loopfold::ddg {
namespace {

struct Code {
  trace::Block block;
  std::vector<trace::InstructionFacts> facts;

  explicit Code(std::initializer_list<std::vector<std::uint8_t>> instructions) {
    block.address = 0x1000;
    for (const std::vector<std::uint8_t>& bytes : instructions) {
      block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
      block.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
    }
    facts = trace::decode(block);
  }

  PartCode compile(std::uint16_t first = 0, std::uint16_t count = 0xffff) {
    structure::Part part;
    part.first_instruction = first;
    part.instructions = std::min<std::uint16_t>(count, static_cast<std::uint16_t>(block.lengths.size() - first));
    return compile_part(block, facts, part, block.accesses.size(), block.results.size(),
                        granules_for({&block, 1}, {facts}));
  }
};

bool has(const PartCode& code, LocalFlow flow) {
  return std::find(code.local.begin(), code.local.end(), flow) != code.local.end();
}

/// Lanes that an operand of an instruction reads from outside.
std::vector<int> outside(const PartCode& code, std::uint16_t instruction, std::uint8_t operand) {
  std::vector<int> lanes;
  for (const RegisterRead& read : code.reads) {
    if (read.instruction != instruction || read.operand != operand) continue;
    for (std::uint32_t i = 0; i < read.count; ++i) lanes.push_back(code.live_ins[read.first + i].lane);
  }
  return lanes;
}

std::uint8_t operand_of(const Code& code, std::size_t instruction, std::uint8_t reg) {
  const std::vector<trace::RegisterUse>& reads = code.facts[instruction].reads;
  for (std::size_t i = 0; i < reads.size(); ++i)
    if (reads[i].file == trace::RegisterFile::kGeneral && reads[i].index == reg) return static_cast<std::uint8_t>(i);
  ADD_FAILURE() << "instruction " << instruction << " does not read register " << int{reg};
  return 0;
}

constexpr std::uint8_t kRax = 0, kRbx = 3, kRcx = 1, kRdi = 7;

TEST(PartCode, ValuesFlowFromTheLastWriter) {
  Code code{{0x89, 0xd8}, {0x48, 0x01, 0xc8}, {0x48, 0x89, 0x07}};  // mov eax,ebx; add rax,rcx; mov [rdi],rax
  const PartCode part = code.compile();
  EXPECT_EQ(outside(part, 0, operand_of(code, 0, kRbx)), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(outside(part, 1, operand_of(code, 1, kRcx)), (std::vector<int>{0, 1, 2, 4}));
  EXPECT_TRUE(outside(part, 1, operand_of(code, 1, kRax)).empty());
  EXPECT_TRUE(has(part, {0, 1, operand_of(code, 1, kRax), 0}));
  EXPECT_TRUE(has(part, {1, 2, operand_of(code, 2, kRax), 0}));
  EXPECT_FALSE(has(part, {0, 2, operand_of(code, 2, kRax), 0}));
  EXPECT_EQ(part.local.size(), 2u);
}

TEST(PartCode, AddressesAreToldFromValues) {
  Code code{{0x48, 0x89, 0x07}};  // mov [rdi],rax
  const PartCode part = code.compile();
  for (const RegisterRead& read : part.reads) EXPECT_EQ(read.address, read.operand == operand_of(code, 0, kRdi));
  EXPECT_EQ(part.reads.size(), 2u);
}

TEST(PartCode, PartOfARegisterIsFromElsewhere) {
  Code code{{0x88, 0xd8}, {0x48, 0x89, 0xc1}};  // mov al,bl; mov rcx,rax
  const PartCode part = code.compile();
  const std::uint8_t rax = operand_of(code, 1, kRax);
  EXPECT_TRUE(has(part, {0, 1, rax, 0}));
  EXPECT_EQ(outside(part, 1, rax), (std::vector<int>{1, 2, 4}));
  std::size_t written = 0;
  for (const LiveOut& out : part.live_outs) written += out.granule / 4 == kRax ? out.count : 0;
  EXPECT_EQ(written, 1u);
}

TEST(PartCode, WritingFourBytesWritesEight) {
  Code code{{0xb8, 1, 0, 0, 0}, {0x48, 0x89, 0xc1}};  // mov eax,1; mov rcx,rax
  const PartCode part = code.compile();
  EXPECT_TRUE(part.reads.empty());
  EXPECT_EQ(part.local, (std::vector<LocalFlow>{{0, 1, 0, 0}}));
}

TEST(PartCode, ZeroingReadsNothing) {
  Code code{{0x31, 0xc0}};  // xor eax,eax
  EXPECT_TRUE(code.compile().reads.empty());
}

TEST(PartCode, FlagsAreOneOperand) {
  Code code{{0x48, 0x39, 0xd8}, {0x0f, 0x4c, 0xc1}};  // cmp rax,rbx; cmovl eax,ecx
  const PartCode part = code.compile();
  EXPECT_TRUE(has(part, {0, 1, kFlagsOperand, 4}));  // sign, and overflow with it
  const PartCode second = code.compile(1);
  EXPECT_EQ(outside(second, 0, kFlagsOperand), (std::vector<int>{4, 5}));
}

/// inc writes all flags but carry.
TEST(PartCode, FlagsOfTwoWriters) {
  Code code{{0x48, 0x01, 0xd8}, {0x48, 0xff, 0xc1}, {0x0f, 0x96, 0xc2}};  // add rax,rbx; inc rcx; setbe dl
  const PartCode part = code.compile();
  EXPECT_TRUE(has(part, {0, 2, kFlagsOperand, 0}));  // carry
  EXPECT_TRUE(has(part, {1, 2, kFlagsOperand, 3}));  // zero
}

TEST(PartCode, X87RegistersAreRelativeToTheTop) {
  Code code{{0xd9, 0xe8}, {0xd9, 0xee}, {0xde, 0xc1}};  // fld1; fldz; faddp
  const PartCode part = code.compile();
  EXPECT_TRUE(part.reads.empty());
  EXPECT_EQ(part.local.size(), 2u);
  std::vector<int> left;
  for (const LiveOut& out : part.x87_live_outs)
    if (out.instruction == 2) left.push_back(out.granule - Granules::kX87);
  EXPECT_EQ(left, std::vector<int>{7});
}

TEST(PartCode, HalvesOfVectorRegisters) {
  Code code{{0xf2, 0x0f, 0x10, 0x07}, {0x66, 0x0f, 0x16, 0x46, 0x08}, {0x0f, 0x28, 0xc8}};
  const PartCode part = code.compile();  // movsd xmm0,[rdi]; movhpd xmm0,[rsi+8]; movaps xmm1,xmm0
  EXPECT_TRUE(has(part, {0, 2, 0, 0}));
  EXPECT_TRUE(has(part, {1, 2, 0, 8}));
}

TEST(PartCode, ValuesHaveTheWidthOfTheInstruction) {
  Code code{{0x83, 0xe8, 0x01}, {0x48, 0x83, 0xe8, 0x01}};  // sub eax,1; sub rax,1
  for (std::uint16_t i = 0; i < 2; ++i) {
    trace::IntegerResult result;
    result.instruction = i;
    result.width = 8;
    code.block.results.push_back(result);
  }
  const PartCode part = code.compile();
  ASSERT_EQ(part.values.size(), 2u);
  EXPECT_EQ(part.values[0].width, 4);
  EXPECT_EQ(part.values[1].width, 8);
}

TEST(PartCode, APrefixNumbersOperandsAsTheWhole) {
  Code code{{0x48, 0x8b, 0x07}, {0x48, 0x03, 0x06}};  // mov rax,[rdi]; add rax,[rsi]
  for (std::uint16_t i = 0; i < 2; ++i) {
    trace::Access access;
    access.instruction = i;
    access.size = 8;
    code.block.accesses.push_back(access);
  }
  const PartCode whole = code.compile();
  const PartCode prefix = code.compile(0, 1);
  ASSERT_EQ(whole.accesses.size(), 2u);
  ASSERT_EQ(prefix.accesses.size(), 1u);
  EXPECT_EQ(prefix.accesses[0].operand, whole.accesses[0].operand);
  EXPECT_LT(whole.accesses[0].operand, whole.accesses[1].operand);
  EXPECT_LT(whole.accesses[1].operand, whole.operands);
}

TEST(GranuleSet, NeighboursAtOnce) {
  for (const Granule first : {Granule{0}, Granule{60}, Granules::kVector, Granule{Granules::kVector + 15 * 32}}) {
    for (const std::uint32_t count : {1u, 2u, 4u, 32u}) {
      if (first < Granules::kGeneral && count > 4) continue;
      GranuleSet set;
      const GranuleSet::Some behind = GranuleSet::behind(first, count);
      EXPECT_EQ(set.has(behind), count == 1) << first << " " << count;
      set.add(behind);
      EXPECT_TRUE(set.has(behind));
      EXPECT_FALSE(set.has(first) || set.has(first + count)) << first << " " << count;
      if (count == 1) continue;
      EXPECT_TRUE(set.has(first + std::size_t{1}) && set.has(first + count - std::size_t{1}));
      set.remove(first + count - std::size_t{1});
      EXPECT_FALSE(set.has(behind));
    }
  }
}

TEST(GranuleSet, OthersThanOfGeneralAndVectorRegistersAreLeftOut) {
  GranuleSet set;
  set.add(std::size_t{Granules::kFlags});
  set.add(std::size_t{Granules::kX87});
  EXPECT_EQ(set.words(), 0u);
  EXPECT_FALSE(set.has(GranuleSet::Some{}));
}

TEST(GranuleSet, SomeLeaveAndOthersCome) {
  GranuleSet set, out, in;
  for (const std::size_t granule : {1u, 2u, 200u}) set.add(granule);
  for (const std::size_t granule : {2u, 3u, 200u}) out.add(granule);
  in.add(std::size_t{3});
  ASSERT_EQ(out.words(), 4u);
  set.exchange(out, in, out.words());
  EXPECT_TRUE(set.has(std::size_t{1}) && set.has(std::size_t{3}));
  EXPECT_FALSE(set.has(std::size_t{2}) || set.has(std::size_t{200}));
}

}  // namespace
}  // namespace loopfold::ddg
