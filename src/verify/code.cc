#include "verify/code.h"

#include <algorithm>

namespace loopfold::verify {

namespace {

using Form = InstructionCode::Form;
using trace::RegisterFile;
using trace::RegisterUse;

bool is_plain_register(const RegisterUse& use) {
  return use.file == RegisterFile::kGeneral || use.file == RegisterFile::kVector;
}

/// What is read as data, and what is written as a result, if that is one register; null if none. `several`: more.
struct Ends {
  std::size_t reads = 0;
  std::size_t writes = 0;
  bool merges = false;
  const RegisterUse* read = nullptr;
  const RegisterUse* write = nullptr;
};

Ends ends_of(const trace::InstructionFacts& facts) {
  Ends ends;
  for (const RegisterUse& use : facts.reads) {
    if (use.merge) ends.merges = true;
    if (use.address || use.merge || use.step) continue;
    ++ends.reads;
    ends.read = &use;
  }
  for (const RegisterUse& use : facts.writes) {
    if (use.step) continue;
    ++ends.writes;
    ends.write = &use;
  }
  return ends;
}

bool is_at_frame(const trace::InstructionFacts& facts) {
  if (facts.scale != 0) return false;
  return std::all_of(facts.reads.begin(), facts.reads.end(), [](const RegisterUse& use) {
    return !use.address ||
           (use.file == RegisterFile::kGeneral && (use.index == kStackPointer || use.index == kFramePointer));
  });
}

void find_form(const trace::Block& block, InstructionCode& code) {
  const trace::InstructionFacts& facts = *code.facts;
  const Ends ends = ends_of(facts);
  const bool copies = facts.transfer == trace::Transfer::kCopy;
  code.at_frame = is_at_frame(facts);
  if (code.accesses.empty() || !trace::accesses_memory(facts)) {
    if (!copies || ends.reads != 1 || ends.writes != 1 || trace::accesses_memory(facts)) return;
    if (!is_plain_register(*ends.read) || !is_plain_register(*ends.write)) return;
    code.form = Form::kRegisterCopy;
    code.source = ends.read;
    code.target = ends.write;
    return;
  }
  if (code.accesses.size() != 1) return;
  const trace::Access& access = block.accesses[code.accesses.front()];
  if (access.guarded || (facts.kinds & (trace::kRepeat | trace::kUnknown | trace::kCall)) != 0) return;
  if (access.kind == trace::Access::Kind::kStore) {
    if (!code.at_frame || ends.writes != 0 || facts.flags_read != 0) return;
    if (copies && ends.reads == 1 && is_plain_register(*ends.read)) {
      code.form = Form::kSpill;
      code.source = ends.read;
    } else if (ends.reads == 0 && facts.transfer != trace::Transfer::kZero) {
      code.form = Form::kConstantSpill;
    }
    return;
  }
  const bool plain = (facts.kinds & trace::kArithmetic) == 0 && facts.flags_read == 0 && ends.reads == 0 &&
                     !ends.merges && ends.writes == 1 && is_plain_register(*ends.write);
  if (!plain) return;
  code.form = Form::kLoad;
  code.reloads = copies;
  code.target = ends.write;
}

}  // namespace

std::unique_ptr<BlockCode> code_of(const trace::Block& block) {
  auto code = std::make_unique<BlockCode>();
  code->facts = trace::decode(block);
  code->instructions.resize(code->facts.size());
  std::uint64_t address = block.address;
  for (std::size_t i = 0; i < code->facts.size(); ++i) {
    code->instructions[i].facts = &code->facts[i];
    code->instructions[i].address = address;
    address += block.lengths[i];
  }
  for (std::size_t i = 0; i < block.accesses.size(); ++i)
    code->instructions[block.accesses[i].instruction].accesses.push_back(static_cast<std::uint16_t>(i));
  for (std::size_t i = 0; i < block.results.size(); ++i)
    code->instructions[block.results[i].instruction].results.push_back(static_cast<std::uint16_t>(i));
  for (InstructionCode& instruction : code->instructions) find_form(block, instruction);
  return code;
}

}  // namespace loopfold::verify
