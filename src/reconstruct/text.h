// What was reconstructed, for people and for tools: C, isl, JSON, a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconstruct/input.h"
#include "reconstruct/nest.h"

namespace loopfold::reconstruct {

/// The nest as C loops around access(address). A loop that ends in front of an empty one has that in its condition.
std::string to_c(const Nest& nest, const std::string& indent);

/// The nest as isl text: domain, access and schedule of a statement with this name.
struct IslText {
  std::string domain;
  std::string access;
  std::string schedule;
};
IslText to_isl(const Nest& nest, const std::string& statement);

/// All instructions, piece by piece.
std::string c_text(const std::vector<const Instruction*>& instructions);
std::string isl_text(const std::vector<const Instruction*>& instructions);
/// `{"instructions": […]}`, see docs/reconstruct.md.
std::string json_text(const std::vector<const Instruction*>& instructions);
/// One line per instruction. `predict`: with the shares that were foretold without and with the single-stride
/// heuristic.
std::string table_text(const std::vector<const Instruction*>& instructions, bool predict);

/// Bytes of the addresses, over bytes of the pieces written down.
double compression_of(const Instruction& instruction);

}  // namespace loopfold::reconstruct
