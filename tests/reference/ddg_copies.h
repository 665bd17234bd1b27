// Which instructions only move a value, by what graph.h says under "Values behind copies".
//
// An instruction is looked at with the accesses that its block lists for it. Whether a store of the right form is a
// spill, and a plain load a reload, is decided when it runs: by where the stack is, and by who wrote the bytes last.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::reference {

struct CopyForm {
  enum class Kind : std::uint8_t { kNone, kRegisterCopy, kStoredRegister, kStoredConstant, kPlainLoad };
  Kind kind = Kind::kNone;
  /// kRegisterCopy, kStoredRegister: what is moved, in InstructionFacts::reads.
  std::size_t data = 0;
  /// kPlainLoad: bit for bit, so that it may be a reload.
  bool bitwise = false;
};

/// `accesses` are those of the instruction.
CopyForm copy_form(const trace::InstructionFacts& facts, const std::vector<trace::Access>& accesses);

/// The register and byte that is kept at byte `byte` of a vector register that the instruction writes: in
/// InstructionFacts::reads; reads.size() if none is.
std::size_t kept_at(const trace::InstructionFacts& facts, unsigned byte);

}  // namespace loopfold::reference
