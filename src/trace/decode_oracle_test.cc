// The processor as oracle for register and flag operands: what decode() says about an instruction is compared with what
// the instruction does.
//
// Each form of decode_test_forms.inc that neither touches memory nor changes control is run with random registers. What
// it changes must be among its writes; run again with everything that is not among its reads changed, it must leave the
// same in what it writes. Flags that an instruction leaves undefined are not compared (processors keep them), nor is
// bsf and bsr of 0. The state lives at a fixed low address, so that code that loads and stores all registers needs
// none.
//
// Skipped on a machine without the extensions, or where the address is taken.
#include <cpuid.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <set>
#include <sstream>

#include "trace/decode.h"

asm(R"(
.pushsection .rodata
.intel_syntax noprefix
.globl loopfold_oracle_load, loopfold_oracle_store, loopfold_oracle_end
loopfold_oracle_load:
  push rbx
  push rbp
  push r12
  push r13
  push r14
  push r15
  mov qword ptr [0x20002000], rsp
.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqu ymm\i, ymmword ptr [0x20000000+256+32*\i]
.endr
  push qword ptr [0x20000000+128]
  popfq
  mov rax, qword ptr [0x20000000]
  mov rcx, qword ptr [0x20000008]
  mov rdx, qword ptr [0x20000010]
  mov rbx, qword ptr [0x20000018]
  mov rbp, qword ptr [0x20000028]
  mov rsi, qword ptr [0x20000030]
  mov rdi, qword ptr [0x20000038]
.irp i,8,9,10,11,12,13,14,15
  mov r\i, qword ptr [0x20000000+8*\i]
.endr
loopfold_oracle_store:
  mov qword ptr [0x20001000], rax
  mov qword ptr [0x20001008], rcx
  mov qword ptr [0x20001010], rdx
  mov qword ptr [0x20001018], rbx
  mov qword ptr [0x20001028], rbp
  mov qword ptr [0x20001030], rsi
  mov qword ptr [0x20001038], rdi
.irp i,8,9,10,11,12,13,14,15
  mov qword ptr [0x20001000+8*\i], r\i
.endr
  pushfq
  pop qword ptr [0x20001000+128]
  cld
.irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  vmovdqu ymmword ptr [0x20001000+256+32*\i], ymm\i
.endr
  vzeroupper
  mov rsp, qword ptr [0x20002000]
  pop r15
  pop r14
  pop r13
  pop r12
  pop rbp
  pop rbx
  ret
loopfold_oracle_end:
.att_syntax
.popsection
)");

extern "C" const std::uint8_t loopfold_oracle_load[];
extern "C" const std::uint8_t loopfold_oracle_store[];
extern "C" const std::uint8_t loopfold_oracle_end[];

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

constexpr std::uintptr_t kBase = 0x20000000;
constexpr std::uint64_t kStatusFlags = 0x8d5;

/// All registers, where the code above has them. Vectors start at byte 256.
struct Registers {
  std::uint64_t general[16] = {};
  std::uint64_t flags = 0;
  std::uint64_t unused[15] = {};
  std::uint8_t vectors[16][32] = {};

  std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this); }
};
static_assert(offsetof(Registers, flags) == 128 && offsetof(Registers, vectors) == 256);

bool is_register_byte(std::size_t offset) { return offset < 128 || offset >= 256; }

/// 1 in every byte that `uses` name.
Registers mask_of(const std::vector<RegisterUse>& uses) {
  Registers mask;
  for (const RegisterUse& use : uses) {
    const bool general = use.file == RegisterFile::kGeneral;
    std::uint8_t* reg = general ? mask.bytes() + 8 * use.index : mask.vectors[use.index];
    std::memset(reg + use.byte, 1, use.width);
  }
  return mask;
}

std::uint64_t hardware_flags(unsigned flags) {
  std::uint64_t bits = 0;
  if ((flags & kCarry) != 0) bits |= 1;
  if ((flags & kParity) != 0) bits |= 4;
  if ((flags & kAdjust) != 0) bits |= 16;
  if ((flags & kZeroFlag) != 0) bits |= 64;
  if ((flags & kSign) != 0) bits |= 128;
  if ((flags & kOverflow) != 0) bits |= 2048;
  return bits;
}

bool is_runnable(const InstructionFacts& facts, const std::string& mnemonic) {
  constexpr std::uint32_t kOutside =
      kLoad | kStore | kBranch | kCall | kReturn | kSyscall | kUnknown | kNop | kX87 | kMarker;
  static const std::set<std::string> kNot = {"cpuid", "rdtsc", "rdfsbase", "div", "cld"};
  if ((facts.kinds & kOutside) != 0 || facts.kinds == 0 || kNot.contains(mnemonic)) return false;
  for (const std::vector<RegisterUse>* uses : {&facts.reads, &facts.writes}) {
    for (const RegisterUse& use : *uses) {
      if (use.file != RegisterFile::kGeneral && use.file != RegisterFile::kVector) return false;
      if (use.file == RegisterFile::kGeneral && use.index == 4) return false;
    }
  }
  return true;
}

/// adcx and adox, for which compilers differ in what __builtin_cpu_supports calls them.
bool has_adx() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx >> 19 & 1) != 0;
}

class DecodeOracle : public testing::Test {
 protected:
  void SetUp() override {
    for (const bool supported : {__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("fma") != 0,
                                 __builtin_cpu_supports("bmi2") != 0, has_adx()}) {
      if (!supported) GTEST_SKIP() << "needs a processor with AVX2, FMA, BMI2 and ADX";
    }
    void* data = mmap(reinterpret_cast<void*>(kBase), kDataSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (data != reinterpret_cast<void*>(kBase)) GTEST_SKIP() << "the address for the registers is taken";
    code_ = static_cast<std::uint8_t*>(
        mmap(nullptr, kCodeSize, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (code_ == MAP_FAILED) GTEST_SKIP() << "memory cannot be both writable and executable here";
  }
  void TearDown() override {
    munmap(reinterpret_cast<void*>(kBase), kDataSize);
    if (code_ != nullptr && code_ != MAP_FAILED) munmap(code_, kCodeSize);
  }

  void assemble(const std::vector<std::uint8_t>& instruction) {
    std::uint8_t* end = std::copy(loopfold_oracle_load, loopfold_oracle_store, code_);
    end = std::copy(instruction.begin(), instruction.end(), end);
    std::copy(loopfold_oracle_store, loopfold_oracle_end, end);
  }

  Registers run(const Registers& before) {
    std::memcpy(reinterpret_cast<void*>(kBase), &before, sizeof before);
    reinterpret_cast<void (*)()>(code_)();
    Registers after;
    std::memcpy(&after, reinterpret_cast<void*>(kBase + 0x1000), sizeof after);
    after.general[4] = before.general[4];
    return after;
  }

  /// Whole random numbers, small ones, and doubles.
  Registers random_registers() {
    Registers result;
    for (std::size_t i = 0; i < sizeof result; i += 8) {
      std::uint64_t value = random_();
      if (i < 128 && random_() % 4 == 0) value &= 0xff;
      const double number = static_cast<double>(static_cast<int>(random_() % 2000)) / 7 - 100;
      if (i >= 256 && random_() % 3 == 0) std::memcpy(&value, &number, 8);
      std::memcpy(result.bytes() + i, &value, 8);
    }
    result.flags = (random_() & kStatusFlags) | 0x202;
    return result;
  }

  void check(const InstructionFacts& facts, bool ignores_zero_source);

  static constexpr std::size_t kDataSize = 0x3000;
  static constexpr std::size_t kCodeSize = 0x1000;
  std::uint8_t* code_ = nullptr;
  std::mt19937_64 random_{1};
};

void DecodeOracle::check(const InstructionFacts& facts, bool ignores_zero_source) {
  Registers reads = mask_of(facts.reads);
  Registers writes = mask_of(facts.writes);
  const std::uint64_t flags_read = hardware_flags(facts.flags_read);
  const std::uint64_t flags_written = hardware_flags(facts.flags_written);
  for (int round = 0; round < 100; ++round) {
    Registers first = random_registers();
    if (ignores_zero_source) first.general[facts.reads[0].index] |= 1;
    Registers second = random_registers();
    for (std::size_t i = 0; i < sizeof first; ++i) {
      if (is_register_byte(i) && reads.bytes()[i] != 0) second.bytes()[i] = first.bytes()[i];
    }
    second.flags = (second.flags & ~flags_read) | (first.flags & flags_read);
    Registers after_first = run(first);
    Registers after_second = run(second);
    for (std::size_t i = 0; i < sizeof first; ++i) {
      if (!is_register_byte(i)) continue;
      if (writes.bytes()[i] != 0) {
        ASSERT_EQ(after_first.bytes()[i], after_second.bytes()[i]) << "depends on more than the reads; byte " << i;
      } else {
        ASSERT_EQ(after_first.bytes()[i], first.bytes()[i]) << "changed, but not among the writes; byte " << i;
      }
    }
    ASSERT_EQ((after_first.flags ^ first.flags) & kStatusFlags & ~flags_written, 0u) << "changes more flags";
  }
}

TEST_F(DecodeOracle, TheProcessorAgrees) {
  int checked = 0;
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.disassembly);
    Block block;
    std::istringstream in(form.bytes);
    for (unsigned byte = 0; in >> std::hex >> byte;) block.bytes.push_back(static_cast<std::uint8_t>(byte));
    block.lengths.push_back(static_cast<std::uint8_t>(block.bytes.size()));
    const InstructionFacts facts = decode(block)[0];
    const std::string text = form.disassembly;
    const std::string mnemonic = text.substr(0, text.find(' '));
    if (!is_runnable(facts, mnemonic)) continue;
    assemble(block.bytes);
    check(facts, mnemonic == "bsf");
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace loopfold::trace
