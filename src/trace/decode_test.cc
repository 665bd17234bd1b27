// Decodes a table of instructions and compares everything that decode() says about them with the table, in the notation
// of summary() below. The table is a golden output: printed by the decoder once, then read line by line. What needs no
// such trust, the operands of its register-only forms, decode_oracle_test.cc checks against the processor.
#include "trace/decode.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <sstream>

#include "trace/decode_zero.h"

namespace loopfold::trace {
namespace {

struct Form {
  const char* bytes;
  const char* disassembly;
  const char* facts;
};

constexpr Form kForms[] = {
#include "trace/decode_test_forms.inc"
};

std::vector<std::uint8_t> parse_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  std::istringstream in(text);
  for (unsigned byte = 0; in >> std::hex >> byte;) bytes.push_back(static_cast<std::uint8_t>(byte));
  return bytes;
}

/// A block at 0x401000 of the given instructions.
Block make_block(std::initializer_list<const char*> instructions) {
  Block block;
  block.address = 0x401000;
  for (const char* text : instructions) {
    const std::vector<std::uint8_t> bytes = parse_hex(text);
    block.bytes.insert(block.bytes.end(), bytes.begin(), bytes.end());
    block.lengths.push_back(static_cast<std::uint8_t>(bytes.size()));
  }
  return block;
}

const char* register_name(RegisterFile file) {
  switch (file) {
    case RegisterFile::kVector:
      return "v";
    case RegisterFile::kX87:
      return "st";
    case RegisterFile::kMmx:
      return "mm";
    case RegisterFile::kSegmentBase:
      return "seg";
    case RegisterFile::kMxcsr:
      return "mxcsr";
    case RegisterFile::kX87Control:
      return "x87word";
    default:
      return "other";
  }
}

/// "rax:8", "rax:1@1" for ah, "v3:16"; with a for address, m for merge, s for step.
std::string text_of(const RegisterUse& use) {
  static constexpr const char* kGeneral[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                             "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  std::string text = use.file == RegisterFile::kGeneral ? std::string(kGeneral[use.index & 15])
                                                        : fmt::format("{}{}", register_name(use.file), use.index);
  text += fmt::format(":{}", use.width);
  if (use.byte != 0) text += fmt::format("@{}", use.byte);
  if (use.address) text += "a";
  if (use.merge) text += "m";
  if (use.step) text += "s";
  return text;
}

std::string text_of(const std::vector<RegisterUse>& uses) {
  std::string text;
  for (const RegisterUse& use : uses) text += (text.empty() ? "" : " ") + text_of(use);
  return text.empty() ? "-" : text;
}

std::string flags_text(unsigned flags) {
  std::string text;
  for (int i = 0; i < 7; ++i) {
    if ((flags >> i & 1) != 0) text += "cpazsod"[i];
  }
  return text.empty() ? "-" : text;
}

std::string kinds_text(std::uint32_t kinds) {
  static constexpr const char* kNames[] = {"int",    "fscalar", "fvector",  "ivector", "x87",   "load",    "store",
                                           "branch", "cond",    "indirect", "call",    "ret",   "syscall", "atomic",
                                           "rep",    "nop",     "marker",   "unknown", "arith", "fused"};
  std::string text;
  for (int i = 0; i < 20; ++i) {
    if ((kinds >> i & 1) != 0) text += (text.empty() ? "" : " ") + std::string(kNames[i]);
  }
  return text.empty() ? "-" : text;
}

/// kinds; transfer, associative operation and elements; reads -> writes; flags read -> flags written.
std::string summary(const InstructionFacts& facts) {
  static constexpr const char* kTransfer[] = {"compute", "copy", "zero"};
  static constexpr const char* kAssociative[] = {"", " add", " sub", " mul", " min", " max", " and", " or", " xor"};
  std::string text = kinds_text(facts.kinds) + "; " + kTransfer[static_cast<int>(facts.transfer)];
  if (facts.associative != Associative::kNone) {
    text += kAssociative[static_cast<int>(facts.associative)];
    text += fmt::format(" {}{}x{}", facts.floating ? "f" : "i", facts.element_bytes, facts.lanes);
    if (facts.accumulator == kMemoryOperand) text += " to mem";
    if (facts.accumulator >= 0) text += fmt::format(" to {}", facts.accumulator);
  }
  text += "; " + text_of(facts.reads) + " -> " + text_of(facts.writes);
  if ((facts.flags_read | facts.flags_written) != 0) {
    text += "; " + flags_text(facts.flags_read) + " -> " + flags_text(facts.flags_written);
  }
  if (facts.x87_pops != 0) text += fmt::format("; pops {}", facts.x87_pops);
  return text;
}

TEST(Decode, Forms) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.disassembly);
    const Block block = make_block({form.bytes});
    EXPECT_EQ(disassemble(block, 0), form.disassembly);
    const std::vector<InstructionFacts> facts = decode(block);
    ASSERT_EQ(facts.size(), 1u);
    EXPECT_EQ(summary(facts[0]), form.facts);
  }
}

constexpr const char* kMarkerRequest = "48 c1 c7 03 48 c1 c7 0d 48 c1 c7 3d 48 c1 c7 33 48 87 db";

TEST(Decode, MarkerIsOneInstruction) {
  const Block block = make_block({"31 d2", kMarkerRequest, "89 d8"});
  const std::vector<InstructionFacts> facts = decode(block);
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(summary(facts[1]), "marker; compute; rax:8 -> rdx:8");
  EXPECT_EQ(disassemble(block, 1), "(marker)");
  EXPECT_EQ(disassemble(block, 2), "mov eax, ebx");
}

TEST(Decode, OtherValgrindSpecialsAreMarkers) {
  const std::string preamble = std::string(kMarkerRequest).substr(0, 18 * 3);
  for (const char* last : {"c9", "d2", "ff"}) {
    const Block block = make_block({(preamble + last).c_str()});
    EXPECT_EQ(decode(block)[0].kinds, static_cast<std::uint32_t>(kMarker)) << last;
  }
  EXPECT_EQ(decode(make_block({(preamble + "c0").c_str()}))[0].kinds, static_cast<std::uint32_t>(kUnknown));
}

TEST(Decode, ConditionComesFromTheLastWriterOfItsFlags) {
  // cmp rax,rbx; inc ecx; mov edx,eax; jb: inc keeps the carry.
  EXPECT_EQ(decode(make_block({"48 39 d8", "ff c1", "89 c2", "72 08"}))[3].condition_from, 0);
  // The same with jz, which inc decides.
  EXPECT_EQ(decode(make_block({"48 39 d8", "ff c1", "89 c2", "74 08"}))[3].condition_from, 1);
  // Nothing in the block writes the flags.
  EXPECT_EQ(decode(make_block({"89 c2", "74 08"}))[1].condition_from, -1);
  // jrcxz reads no flags.
  EXPECT_EQ(decode(make_block({"48 39 d8", "e3 fe"}))[1].condition_from, -1);
  // cmp; setg; test; cmovne; adc: test writes the carry that adc adds.
  const std::vector<InstructionFacts> facts = decode(make_block({"39 d8", "0f 9f c0", "85 c9", "0f 45 d3", "11 d8"}));
  EXPECT_EQ(facts[1].condition_from, 0);
  EXPECT_EQ(facts[3].condition_from, 2);
  EXPECT_EQ(facts[4].condition_from, 2);
  EXPECT_EQ(facts[0].condition_from, -1);
  // An unknown instruction may have written them.
  EXPECT_EQ(decode(make_block({"39 d8", "62 f1 ed 48 58 cb", "74 08"}))[2].condition_from, 1);
}

TEST(Decode, ConditionsAndComparisons) {
  // cmp eax,ebx; cmp [rbp-4],eax; cmp eax,[rbp-4]; comisd xmm0,[rbp-8]; test eax,eax
  const std::vector<InstructionFacts> compares =
      decode(make_block({"39 d8", "39 45 fc", "3b 45 fc", "66 0f 2f 45 f8", "85 c0"}));
  EXPECT_EQ(compares[0].compared, 0);
  EXPECT_EQ(compares[1].compared, kMemoryOperand);
  EXPECT_EQ(compares[2].compared, 0);
  EXPECT_FALSE(compares[2].reads[0].address);
  EXPECT_EQ(compares[3].compared, 0);
  EXPECT_FALSE(compares[3].reads[0].address);
  EXPECT_EQ(compares[4].compared, kNoOperand);
  // jge +8; jge +0x100; cmovl eax,ebx; setne al; jrcxz; jmp -2; adc eax,0
  const std::vector<InstructionFacts> conditions =
      decode(make_block({"7d 08", "0f 8d 00 01 00 00", "0f 4c c3", "0f 95 c0", "e3 fe", "eb fe", "83 d0 00"}));
  EXPECT_EQ(conditions[0].condition, 13);
  EXPECT_EQ(conditions[0].jump, 8);
  EXPECT_EQ(conditions[0].length, 2);
  EXPECT_EQ(conditions[1].condition, 13);
  EXPECT_EQ(conditions[1].jump, 256);
  EXPECT_EQ(conditions[1].length, 6);
  EXPECT_EQ(conditions[2].condition, 12);
  EXPECT_EQ(conditions[3].condition, 5);
  EXPECT_EQ(conditions[4].condition, kNoCondition);
  EXPECT_EQ(conditions[5].condition, kNoCondition);
  EXPECT_EQ(conditions[5].jump, -2);
  EXPECT_EQ(conditions[6].condition, kNoCondition);
}

TEST(Decode, FormsWithoutRegistersAndNumbers) {
  // addsd xmm0,[rdi+rdx*8]; addsd xmm1,[rsi+rax*8+8]; addsd xmm0,[rdi]; mulsd xmm0,[rdi+rdx*8]; addsd xmm0,xmm1
  const std::vector<InstructionFacts> facts =
      decode(make_block({"f2 0f 58 04 d7", "f2 0f 58 4c c6 08", "f2 0f 58 07", "f2 0f 59 04 d7", "f2 0f 58 c1"}));
  EXPECT_EQ(facts[0].form, facts[1].form);
  for (std::size_t i = 2; i < facts.size(); ++i) EXPECT_NE(facts[0].form, facts[i].form) << i;
  EXPECT_EQ(facts[0].scale, 8);
  EXPECT_EQ(facts[0].displacement, 0);
  EXPECT_EQ(facts[1].displacement, 8);
  EXPECT_EQ(facts[2].scale, 0);
  EXPECT_TRUE(facts[2].based);
  // and eax,7; and ecx,7; and eax,8; mov [rbp-4],eax; mov eax,[rbp-4]
  const std::vector<InstructionFacts> constants =
      decode(make_block({"83 e0 07", "83 e1 07", "83 e0 08", "89 45 fc", "8b 45 fc"}));
  EXPECT_EQ(constants[0].form, constants[2].form);
  EXPECT_EQ(constants[0].constants, constants[1].constants);
  EXPECT_NE(constants[0].constants, constants[2].constants);
  EXPECT_EQ(constants[3].displacement, -4);
  EXPECT_EQ(constants[4].displacement, -4);
  EXPECT_NE(constants[3].form, constants[4].form);
  // cdqe; movsxd rdx,eax; cwde; movsx ecx,ax; movsx ecx,al
  const std::vector<InstructionFacts> wider = decode(make_block({"48 98", "48 63 d0", "98", "0f bf c8", "0f be c8"}));
  EXPECT_EQ(wider[0].form, wider[1].form);
  EXPECT_EQ(wider[2].form, wider[3].form);
  EXPECT_NE(wider[0].form, wider[2].form);
  EXPECT_NE(wider[3].form, wider[4].form);
}

TEST(Decode, Zeros) {
  // pxor xmm1,xmm1; xor eax,eax; xorps xmm0,xmm0; sub ecx,ecx
  for (const InstructionFacts& facts : decode(make_block({"66 0f ef c9", "31 c0", "0f 57 c0", "29 c9"})))
    EXPECT_TRUE(makes_zero(facts));
  // pxor xmm1,xmm0; pcmpeqd xmm0,xmm0; xor eax,ecx; mov eax,0; mov qword [r8],0
  const std::vector<InstructionFacts> others =
      decode(make_block({"66 0f ef c8", "66 0f 76 c0", "31 c8", "b8 00 00 00 00", "49 c7 00 00 00 00 00"}));
  for (const InstructionFacts& facts : others) EXPECT_FALSE(makes_zero(facts));
  EXPECT_TRUE(stores_zero(others[4]));
  // mov qword [r8],1; mov [r8],rax; and dword [rax],0; push 0
  for (const InstructionFacts& facts : decode(make_block({"49 c7 00 01 00 00 00", "49 89 00", "83 20 00", "6a 00"})))
    EXPECT_FALSE(stores_zero(facts));
}

TEST(Decode, WrongLengthIsUnknown) {
  Block block = make_block({"48 01 d8", "c3"});
  block.lengths = {2, 2};
  const std::vector<InstructionFacts> facts = decode(block);
  EXPECT_EQ(facts[0].kinds, static_cast<std::uint32_t>(kUnknown));
  EXPECT_EQ(disassemble(block, 0), "(bad)");
  block.lengths = {4};
  EXPECT_EQ(decode(block)[0].kinds, static_cast<std::uint32_t>(kUnknown));
}

TEST(Decode, MalformedBlocks) {
  Block block = make_block({"48 01 d8"});
  block.lengths = {3, 5, 0};
  const std::vector<InstructionFacts> facts = decode(block);
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0].kinds & kInteger, static_cast<std::uint32_t>(kInteger));
  EXPECT_EQ(facts[1].kinds, static_cast<std::uint32_t>(kUnknown));
  EXPECT_EQ(facts[2].kinds, static_cast<std::uint32_t>(kUnknown));
  EXPECT_EQ(disassemble(block, 1), "(bad)");
  EXPECT_EQ(disassemble(block, 2), "(bad)");
  EXPECT_EQ(disassemble(block, 3), "(bad)");
  EXPECT_TRUE(decode(Block{}).empty());
}

unsigned file_size(RegisterFile file) {
  switch (file) {
    case RegisterFile::kGeneral:
    case RegisterFile::kOther:
      return file == RegisterFile::kGeneral ? 16 : 256;
    case RegisterFile::kVector:
      return 16;
    case RegisterFile::kX87:
    case RegisterFile::kMmx:
      return 8;
    case RegisterFile::kSegmentBase:
      return 2;
    case RegisterFile::kX87Control:
      return 3;
    default:
      return 1;
  }
}

unsigned file_bytes(RegisterFile file) {
  switch (file) {
    case RegisterFile::kVector:
      return 32;
    case RegisterFile::kX87:
      return 10;
    default:
      return 8;
  }
}

void expect_sound(const std::vector<RegisterUse>& uses, const std::string& text) {
  for (const RegisterUse& use : uses) {
    EXPECT_NE(use.file, RegisterFile::kFlags) << text;
    EXPECT_LT(use.index, file_size(use.file)) << text;
    EXPECT_GT(use.width, 0) << text;
    EXPECT_LE(use.byte + use.width, file_bytes(use.file)) << text;
  }
}

/// Whatever the bytes are: no crash, and registers that exist.
TEST(Decode, RandomBytes) {
  std::mt19937 random(7);
  int known = 0;
  for (int round = 0; round < 200000; ++round) {
    Block block;
    const unsigned length = 1 + random() % 9;
    for (unsigned i = 0; i < length; ++i) block.bytes.push_back(static_cast<std::uint8_t>(random()));
    constexpr std::uint8_t kStarts[] = {0x0f, 0x66, 0xf2, 0xf3, 0xc5, 0xc4, 0xd9, 0x48};
    if (random() % 2 == 0) block.bytes[0] = kStarts[random() % 8];
    block.lengths.push_back(static_cast<std::uint8_t>(length));
    const std::vector<InstructionFacts> facts = decode(block);
    ASSERT_EQ(facts.size(), 1u);
    if (facts[0].kinds == kUnknown) continue;
    ++known;
    const std::string text = disassemble(block, 0);
    expect_sound(facts[0].reads, text);
    expect_sound(facts[0].writes, text);
    EXPECT_GT(facts[0].lanes, 0) << text;
    EXPECT_LT(facts[0].accumulator, static_cast<int>(facts[0].reads.size())) << text;
  }
  EXPECT_GT(known, 1000);
}

}  // namespace
}  // namespace loopfold::trace
