#include "ddg_copies.h"

namespace loopfold::reference {

namespace {

using trace::RegisterFile;
using trace::RegisterUse;
using trace::Transfer;

constexpr unsigned kStackPointer = 4;
constexpr unsigned kFramePointer = 5;

bool general_or_vector(const RegisterUse& use) {
  return use.file == RegisterFile::kGeneral || use.file == RegisterFile::kVector;
}

std::vector<std::size_t> data_reads(const trace::InstructionFacts& facts) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < facts.reads.size(); ++i)
    if (!facts.reads[i].address && !facts.reads[i].merge && !facts.reads[i].step) found.push_back(i);
  return found;
}

bool has_merge(const trace::InstructionFacts& facts) {
  for (const RegisterUse& use : facts.reads)
    if (use.merge) return true;
  return false;
}

/// The writes that are not steps: exactly one, of a general or vector register?
bool writes_one_register(const trace::InstructionFacts& facts) {
  std::size_t count = 0;
  for (const RegisterUse& use : facts.writes) {
    if (use.step) continue;
    ++count;
    if (!general_or_vector(use)) return false;
  }
  return count == 1;
}

/// The address is the stack or frame pointer plus a constant.
bool addressed_by_stack_or_frame_pointer(const trace::InstructionFacts& facts) {
  std::size_t count = 0;
  for (const RegisterUse& use : facts.reads) {
    if (!use.address) continue;
    ++count;
    const bool pointer = use.file == RegisterFile::kGeneral && use.width == 8 &&
                         (use.index == kStackPointer || use.index == kFramePointer);
    if (!pointer) return false;
  }
  return count == 1;
}

bool no_flags(const trace::InstructionFacts& facts) { return facts.flags_read == 0 && facts.flags_written == 0; }

bool is_register_copy(const trace::InstructionFacts& facts) {
  return facts.transfer == Transfer::kCopy && !trace::accesses_memory(facts) && data_reads(facts).size() == 1 &&
         general_or_vector(facts.reads[data_reads(facts)[0]]) && writes_one_register(facts);
}

bool is_one(const std::vector<trace::Access>& accesses, trace::Access::Kind kind) {
  return accesses.size() == 1 && accesses[0].kind == kind && !accesses[0].guarded;
}

bool is_plain_load(const trace::InstructionFacts& facts) {
  constexpr std::uint32_t kMustNot = trace::kStore | trace::kArithmetic | trace::kRepeat | trace::kUnknown;
  return (facts.kinds & kMustNot) == 0 && no_flags(facts) && data_reads(facts).empty() && !has_merge(facts) &&
         writes_one_register(facts);
}

}  // namespace

CopyForm copy_form(const trace::InstructionFacts& facts, const std::vector<trace::Access>& accesses) {
  using Kind = CopyForm::Kind;
  const std::vector<std::size_t> data = data_reads(facts);
  if (is_register_copy(facts)) return {Kind::kRegisterCopy, data[0], false};
  if (is_one(accesses, trace::Access::Kind::kLoad) && is_plain_load(facts))
    return {Kind::kPlainLoad, 0, facts.transfer == Transfer::kCopy};
  if (!is_one(accesses, trace::Access::Kind::kStore) || !addressed_by_stack_or_frame_pointer(facts)) return {};
  if (facts.transfer == Transfer::kCopy && data.size() == 1 && general_or_vector(facts.reads[data[0]]))
    return {Kind::kStoredRegister, data[0], false};
  const bool constant = facts.transfer == Transfer::kCopy || facts.transfer == Transfer::kCompute;
  if (constant && data.empty() && (facts.kinds & trace::kLoad) == 0 && no_flags(facts))
    return {Kind::kStoredConstant, 0, false};
  return {};
}

std::size_t kept_at(const trace::InstructionFacts& facts, unsigned byte) {
  const bool memory_operand = (facts.kinds & (trace::kLoad | trace::kStore)) != 0;
  for (std::size_t i = 0; i < facts.reads.size() && !memory_operand; ++i) {
    const RegisterUse& use = facts.reads[i];
    if (use.merge && use.file == RegisterFile::kVector && byte >= use.byte && byte < unsigned{use.byte} + use.width)
      return i;
  }
  return facts.reads.size();
}

}  // namespace loopfold::reference
