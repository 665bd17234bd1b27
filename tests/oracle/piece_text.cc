// One basic map per piece: the ranges of its coordinates, an equation or two bounds per output.
#include "piece_text.h"

#include <fmt/format.h>

#include <vector>

#include "support/wide.h"

namespace loopfold::oracle {

namespace {

std::string affine(const fold::Affine& function) {
  std::string text = std::to_string(function.constant);
  for (std::size_t k = 0; k < function.coefficients.size(); k++)
    if (function.coefficients[k] != 0) text += fmt::format(" + {}*i{}", function.coefficients[k], k);
  return text;
}

/// "i1, i2"; `first` is 1 where the stack's number is left out.
std::string names(char letter, std::size_t first, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t k = first; k < count; k++) all.push_back(fmt::format("{}{}", letter, k));
  return fmt::format("{}", fmt::join(all, ", "));
}

void add_ranges(const fold::Piece& piece, std::vector<std::string>& conditions) {
  for (std::size_t k = 0; k < piece.ranges.size(); k++) {
    const fold::Range& range = piece.ranges[k];
    conditions.push_back(fmt::format("{} <= i{} <= {}", affine(range.lower), k, affine(range.upper)));
    if (range.stride != 1)
      conditions.push_back(fmt::format("(i{} - ({})) mod {} = 0", k, affine(range.lower), range.stride));
  }
}

void add_output(const fold::Output& output, std::size_t index, std::vector<std::string>& conditions) {
  if (!output.affine())
    conditions.push_back(fmt::format("{} <= o{} <= {}", output.minimum, index, output.maximum));
  else if (output.modulus == 0)
    conditions.push_back(fmt::format("{}*o{} = {}", output.divisor, index, affine(output.value)));
  else
    conditions.push_back(fmt::format("{4}*o{0} = {1} + (({2} - ({1})) mod {3})", index,
                                     static_cast<Wide>(output.divisor) * output.base, affine(output.value),
                                     static_cast<Wide>(output.divisor) * output.modulus, output.divisor));
}

/// All pieces with the given tuples; coordinates that are in no tuple are existentially quantified.
std::string pieces_text(const fold::Folded& folded, const std::string& tuples, const std::string& hidden) {
  std::string text = "{ ";
  for (const fold::Piece& piece : folded.pieces) {
    std::vector<std::string> conditions;
    add_ranges(piece, conditions);
    for (std::size_t o = 0; o < piece.outputs.size(); o++) add_output(piece.outputs[o], o, conditions);
    text += fmt::format("{} : exists ({} : {}); ", tuples, hidden, fmt::join(conditions, " and "));
  }
  return text + "}";
}

}  // namespace

std::string domain_text(const fold::Folded& folded, const std::string& name, std::size_t dimensions) {
  return pieces_text(folded, fmt::format("{}[{}]", name, names('i', 1, dimensions)), "i0");
}

std::string map_text(const fold::Folded& folded, const std::string& from, std::size_t outputs, const std::string& to,
                     std::size_t dimensions) {
  return pieces_text(
      folded, fmt::format("{}[{}] -> {}[{}]", from, names('o', 1, outputs), to, names('i', 1, dimensions)), "i0, o0");
}

std::string label_text(const fold::Folded& folded, const std::string& name, std::size_t dimensions,
                       std::size_t outputs) {
  return pieces_text(folded, fmt::format("{}[{}] -> [{}]", name, names('i', 1, dimensions), names('o', 0, outputs)),
                     "i0");
}

}  // namespace loopfold::oracle
