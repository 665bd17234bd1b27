// Reconstructed nests as text. What there is is in text.h.
#include "reconstruct/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace loopfold::reconstruct {

namespace {

/// "3 + i0 - 2*i1": constant and terms over i0, i1, …
std::string affine_text(std::int64_t constant, const std::vector<std::int64_t>& terms) {
  std::string text;
  for (std::size_t r = 0; r < terms.size(); ++r) {
    if (terms[r] == 0) continue;
    const std::uint64_t size =
        terms[r] < 0 ? 0 - static_cast<std::uint64_t>(terms[r]) : static_cast<std::uint64_t>(terms[r]);
    if (text.empty())
      text += terms[r] < 0 ? "-" : "";
    else
      text += terms[r] < 0 ? " - " : " + ";
    text += size == 1 ? fmt::format("i{}", r) : fmt::format("{}*i{}", size, r);
  }
  if (text.empty()) return std::to_string(constant);
  if (constant == 0) return text;
  const std::uint64_t size =
      constant < 0 ? 0 - static_cast<std::uint64_t>(constant) : static_cast<std::uint64_t>(constant);
  return text + (constant < 0 ? " - " : " + ") + std::to_string(size);
}

std::vector<std::int64_t> bound_terms(const Nest& nest, std::size_t level, std::size_t known) {
  std::vector<std::int64_t> terms;
  for (std::size_t r = 0; r < std::min(level, known); ++r) terms.push_back(nest.bound_coefficient(level, r));
  return terms;
}

/// Inner loops whose bound, with the loops between at 0, may fall below 0 as `level` counts: they can end it early.
std::vector<std::size_t> ending_loops(const Nest& nest, std::size_t level) {
  std::vector<std::size_t> loops;
  for (std::size_t m = level + 1; m < nest.levels(); ++m)
    if (nest.bound_coefficient(m, level) < 0) loops.push_back(m);
  return loops;
}

/// Could that happen at all? Bounds are smallest where the indices are, as far as constant bounds tell.
bool may_be_negative(const Nest& nest, std::size_t level, std::size_t known) {
  long double low = static_cast<long double>(nest.w[level]);
  for (std::size_t r = 0; r < known; ++r) {
    const std::int64_t u = nest.bound_coefficient(level, r);
    if (u >= 0) continue;
    long double most = static_cast<long double>(nest.w[r]);
    for (std::size_t q = 0; q < r; ++q)
      if (nest.bound_coefficient(r, q) > 0) return true;
    low += static_cast<long double>(u) * most;
  }
  return low < 0;
}

std::vector<std::size_t> guards(const Nest& nest, std::size_t level) {
  std::vector<std::size_t> needed;
  for (const std::size_t m : ending_loops(nest, level))
    if (may_be_negative(nest, m, level + 1)) needed.push_back(m);
  return needed;
}

std::string index_list(std::size_t n) {
  std::string text;
  for (std::size_t l = 0; l < n; ++l) text += fmt::format("{}i{}", l > 0 ? ", " : "", l);
  return text;
}

std::string statement_name(std::size_t instruction, std::size_t piece) {
  return fmt::format("S{}_{}", instruction, piece);
}

std::string heading(const Instruction& instruction) {
  const Summary& s = instruction.loops.summary();
  std::string text = fmt::format("instruction {:#x}", instruction.ip);
  if (!instruction.where.empty()) text += " " + instruction.where;
  text += fmt::format(": {} accesses, ", s.accesses);
  if (s.accesses == 0) return text + "nothing to reconstruct";
  if (s.pieces == 1) return text + "one nest";
  return text + fmt::format("not one affine nest: {} pieces, {:.1f} % in pieces of {} or more", s.pieces,
                            100.0 * static_cast<double>(s.covered) / static_cast<double>(s.accesses), kWorthwhile);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string to_c(const Nest& nest, const std::string& indent) {
  std::string text;
  std::string in = indent;
  std::string address = fmt::format("{:#x}", nest.base);
  for (std::size_t l = 0; l < nest.levels(); ++l) {
    text += fmt::format("{0}for (long i{1} = 0; i{1} <= {2}", in, l, affine_text(nest.w[l], bound_terms(nest, l, l)));
    for (const std::size_t m : guards(nest, l))
      text += fmt::format(" && {} >= 0", affine_text(nest.w[m], bound_terms(nest, m, l + 1)));
    text += fmt::format("; i{}++)\n", l);
    in += "  ";
    const std::int64_t c = nest.coefficients[l];
    const std::uint64_t size = c < 0 ? 0 - static_cast<std::uint64_t>(c) : static_cast<std::uint64_t>(c);
    if (c != 0) address += fmt::format(" {} {}*i{}", c < 0 ? '-' : '+', size, l);
  }
  return text + fmt::format("{}access({});\n", in, address);
}

IslText to_isl(const Nest& nest, const std::string& statement) {
  const std::string tuple = fmt::format("{}[{}]", statement, index_list(nest.levels()));
  std::string conditions;
  std::vector<std::int64_t> c;
  for (std::size_t l = 0; l < nest.levels(); ++l) {
    conditions +=
        fmt::format("{}0 <= i{} <= {}", l > 0 ? " and " : " : ", l, affine_text(nest.w[l], bound_terms(nest, l, l)));
    for (const std::size_t m : guards(nest, l))
      conditions += fmt::format(" and {} >= 0", affine_text(nest.w[m], bound_terms(nest, m, l + 1)));
    c.push_back(nest.coefficients[l]);
  }
  std::string address = affine_text(0, c);
  address = address == "0" ? std::to_string(nest.base) : fmt::format("{} + {}", nest.base, address);
  IslText text;
  text.domain = fmt::format("{{ {}{} }}", tuple, conditions);
  text.access = fmt::format("{{ {} -> memory[{}] }}", tuple, address);
  text.schedule = fmt::format("{{ {} -> [{}] }}", tuple, index_list(nest.levels()));
  return text;
}

std::string c_text(const std::vector<const Instruction*>& instructions) {
  std::string text;
  for (const Instruction* instruction : instructions) {
    text += fmt::format("/* {} */\n", heading(*instruction));
    for (const Piece& piece : instruction->pieces) {
      text += to_c(piece.nest, "");
      if (!piece.outliers.empty()) text += fmt::format("/* but for {} addresses */\n", piece.outliers.size());
    }
    const std::uint64_t left = instruction->loops.summary().pieces - instruction->pieces.size();
    if (left > 0) text += fmt::format("/* and {} more pieces (--max-pieces) */\n", left);
    text += "\n";
  }
  return text;
}

std::string isl_text(const std::vector<const Instruction*>& instructions) {
  std::string text;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    text += fmt::format("# {}\n", heading(*instructions[i]));
    for (std::size_t p = 0; p < instructions[i]->pieces.size(); ++p) {
      const std::string name = statement_name(i, p);
      const IslText isl = to_isl(instructions[i]->pieces[p].nest, name);
      text += fmt::format("{0}_domain := {1};\n{0}_access := {2};\n{0}_schedule := {3};\n", name, isl.domain,
                          isl.access, isl.schedule);
    }
    const std::uint64_t left = instructions[i]->loops.summary().pieces - instructions[i]->pieces.size();
    if (left > 0) text += fmt::format("# and {} more pieces (--max-pieces)\n", left);
  }
  return text;
}

std::string json_text(const std::vector<const Instruction*>& instructions) {
  using nlohmann::json;
  json all = json::array();
  for (const Instruction* instruction : instructions) {
    const Summary& s = instruction->loops.summary();
    json pieces = json::array();
    for (const Piece& piece : instruction->pieces) {
      const Nest& nest = piece.nest;
      json u = json::array();
      for (std::size_t j = 0; j < nest.levels(); ++j) {
        json row = json::array();
        for (std::size_t r = 0; r < nest.levels(); ++r) row.push_back(nest.bound_coefficient(j, r));
        u.push_back(row);
      }
      json one = {{"base", nest.base},
                  {"levels", nest.levels()},
                  {"bounds", {{"U", u}, {"w", nest.w}}},
                  {"coefficients", nest.coefficients},
                  {"count", piece.count()}};
      if (!piece.outliers.empty()) {
        one["outliers"] = json::array();
        for (const Outlier& outlier : piece.outliers) {
          constexpr const char* kNames[] = {"inserted", "replaced", "missing"};
          json entry = {{"kind", kNames[static_cast<int>(outlier.kind)]}, {"position", outlier.position}};
          if (outlier.kind != Outlier::Kind::kMissing) entry["address"] = outlier.address;
          one["outliers"].push_back(entry);
        }
      }
      pieces.push_back(one);
    }
    json entry = {{"ip", instruction->ip},
                  {"accesses", s.accesses},
                  {"levels", s.levels},
                  {"coverage", share(s.covered, s.accesses)},
                  {"predicted", share(s.by_bounds, s.accesses)},
                  {"predicted_single_stride", share(s.by_bounds + s.by_stride, s.accesses)},
                  {"compression", compression_of(*instruction)},
                  {"piece_count", s.pieces},
                  {"outliers", s.outliers},
                  {"pieces", pieces}};
    entry["where"] = instruction->where.empty() ? json(nullptr) : json(instruction->where);
    all.push_back(entry);
  }
  return json{{"instructions", all}}.dump(1) + "\n";
}

double compression_of(const Instruction& instruction) {
  std::uint64_t numbers = 0;
  for (const Piece& piece : instruction.pieces) {
    numbers += 1 + 2 * piece.nest.levels() + 2 * piece.outliers.size();
    for (std::size_t j = 0; j < piece.nest.levels(); ++j)
      for (std::size_t r = 0; r < j; ++r) numbers += piece.nest.bound_coefficient(j, r) != 0 ? 1 : 0;
  }
  const Summary& s = instruction.loops.summary();
  numbers += s.pieces - instruction.pieces.size();
  return numbers == 0 ? 1 : static_cast<double>(s.accesses) / static_cast<double>(numbers);
}

std::string table_text(const std::vector<const Instruction*>& instructions, bool predict) {
  std::string text = fmt::format("{:<20} {:>14} {:>9} {:>6} {:>10} {:>12}", "instruction", "accesses", "pieces",
                                 "levels", "coverage %", "compression");
  if (predict) text += fmt::format(" {:>11} {:>14}", "predicted %", "with stride %");
  text += "  where\n";
  for (const Instruction* instruction : instructions) {
    const Summary& s = instruction->loops.summary();
    text +=
        fmt::format("{:<20} {:>14} {:>9} {:>6} {:>10.2f} {:>12.1f}", fmt::format("{:#x}", instruction->ip), s.accesses,
                    s.pieces, s.levels, 100 * share(s.covered, s.accesses), compression_of(*instruction));
    if (predict)
      text += fmt::format(" {:>11.2f} {:>14.2f}", 100 * share(s.by_bounds, s.accesses),
                          100 * share(s.by_bounds + s.by_stride, s.accesses));
    text += "  " + instruction->where + "\n";
  }
  return text;
}

}  // namespace loopfold::reconstruct
