// A loop of one block that runs ten times: what tests of single rules look at.
#pragma once

#include <cstdint>

#include "poly/control_testing.h"
#include "trace/decode.h"

namespace loopfold::poly::testing {

inline constexpr std::uint64_t kMain = 0x1000;
inline constexpr std::uint64_t kIterations = 10;

inline structure::testing::Story one_loop() {
  structure::testing::Script script;
  script.start(kMain);
  for (std::uint64_t i = 0; i < kIterations; ++i) script.jump(kMain + 8);
  script.jump(kMain + 16);
  script.jump(kMain + 24);
  return script.finish();
}

/// Facts of instructions; `form` tells those apart that do different things.
inline trace::InstructionFacts computes(std::uint32_t kinds = trace::kInteger | trace::kArithmetic,
                                        std::uint32_t form = 0) {
  trace::InstructionFacts facts;
  facts.kinds = kinds;
  facts.form = form;
  for (std::uint8_t reg = 0; reg < 2; ++reg)
    facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = reg, .width = 8});
  facts.writes.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
  return facts;
}

inline trace::InstructionFacts adds(std::uint32_t form = 0) {
  trace::InstructionFacts facts = computes(trace::kInteger | trace::kArithmetic, form);
  facts.associative = trace::Associative::kAdd;
  return facts;
}

/// Operand 0 is its address.
inline trace::InstructionFacts loads(std::uint32_t form = 0) {
  trace::InstructionFacts facts;
  facts.kinds = trace::kInteger | trace::kLoad;
  facts.form = form;
  facts.transfer = trace::Transfer::kCopy;
  facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 3, .width = 8, .address = true});
  facts.writes.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
  return facts;
}

inline trace::InstructionFacts branches() {
  trace::InstructionFacts facts;
  facts.kinds = trace::kBranch | trace::kConditional;
  facts.flags_read = trace::kZeroFlag;
  return facts;
}

}  // namespace loopfold::poly::testing
