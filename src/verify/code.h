// What a block's instructions do to values, as far as their bytes tell: decoded once per block.
//
// Most instructions make values. Some only pass them on, and those are told apart here by form; whether a particular
// execution did pass a value on (was the store to the function's own frame?) is for the replay to find out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/decode.h"
#include "trace/types.h"

namespace loopfold::verify {

inline constexpr std::uint8_t kStackPointer = 4;
inline constexpr std::uint8_t kFramePointer = 5;

struct InstructionCode {
  enum class Form : std::uint8_t {
    kMakes,
    kRegisterCopy,   // one register to another
    kSpill,          // stores a register at a fixed place of the frame, if it is one
    kConstantSpill,  // stores a constant there
    kLoad,           // a plain load: the value is there to be loaded again
  };
  const trace::InstructionFacts* facts = nullptr;
  std::uint64_t address = 0;
  Form form = Form::kMakes;
  bool reloads = false;  // of kLoad: bit for bit, so it may be a spilled register that comes back
  const trace::RegisterUse* source = nullptr;  // kRegisterCopy, kSpill
  const trace::RegisterUse* target = nullptr;  // kRegisterCopy, kLoad
  bool at_frame = false;                 // its memory operand is the stack or frame pointer plus a constant
  std::vector<std::uint16_t> accesses;  // of the block's
  std::vector<std::uint16_t> results;
};

struct BlockCode {
  std::vector<trace::InstructionFacts> facts;
  std::vector<InstructionCode> instructions;
};

std::unique_ptr<BlockCode> code_of(const trace::Block& block);

/// The code of all blocks, decoded when it is first asked for. References stay valid.
class BlockTable {
 public:
  const BlockCode& of(const trace::Block& block) {
    if (block.id >= blocks_.size()) blocks_.resize(block.id + 1);
    std::unique_ptr<BlockCode>& code = blocks_[block.id];
    if (!code) code = code_of(block);
    return *code;
  }

 private:
  std::vector<std::unique_ptr<BlockCode>> blocks_;
};

}  // namespace loopfold::verify
