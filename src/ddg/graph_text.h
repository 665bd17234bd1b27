// For tests: a dependence graph as text.
//
// A line for everything that a graph says, but for what it cost: two graphs are equal if their lines are, and where
// they are not, a person can see what differs.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ddg/graph.h"

namespace loopfold::ddg::testing {

inline std::string text_of(const fold::Affine& affine) {
  return fmt::format("{}+{}", affine.constant, affine.coefficients);
}

inline std::string text_of(const fold::Folded& folded) {
  std::string text = fmt::format("{} points, {} intermediate{}{} {}:", folded.points, folded.max_intermediate,
                                 folded.widened ? ", widened" : "", folded.gave_up ? ", gave up" : "", folded.why);
  for (const fold::Piece& piece : folded.pieces) {
    text += fmt::format(" {{{} points{}", piece.points, piece.exact_domain ? "" : ", inexact");
    for (const fold::Range& range : piece.ranges)
      text += fmt::format(" [{}..{} by {}]", text_of(range.lower), text_of(range.upper), range.stride);
    for (const fold::Output& o : piece.outputs)
      text += fmt::format(" ->({} top {} mod {},{} div {} in {}..{} far {}..{})", text_of(o.value), o.top, o.modulus,
                          o.base, o.divisor, o.minimum, o.maximum, o.distance_minimum, o.distance_maximum);
    text += "}";
  }
  return text;
}

inline std::vector<std::string> lines_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Statement& s : graph.statements)
    lines.push_back(
        fmt::format("statement {} kind {} context {} function {} node {} place {} detail {} followed {} "
                    "instructions {} local {} count {}: {}",
                    s.id, static_cast<int>(s.kind), s.context, s.function, s.node, s.place, s.detail, s.followed,
                    s.instructions.size(), s.local.size(), s.count, text_of(s.domain)));
  for (const Access& a : graph.accesses)
    lines.push_back(fmt::format("access {}.{}.{} store {} size {} object {} copies {} same {} {}: {}", a.statement,
                                a.instruction, a.index, a.store, a.size, a.object, a.copies, a.same_block,
                                a.same_offset, text_of(a.address)));
  for (const Value& v : graph.values)
    lines.push_back(fmt::format("value {}.{}.{} register {} width {} steady {}: {}", v.statement, v.instruction,
                                v.index, v.reg, v.width, v.steady, text_of(v.value)));
  for (const Dependence& d : graph.dependences)
    lines.push_back(
        fmt::format("dependence {}.{} -> {}.{} operand {} lane {} kind {} address {} object {} more {} "
                    "carried {} reloads {} late {}: {}",
                    d.from, d.from_instruction, d.to, d.to_instruction, d.operand, d.lane, static_cast<int>(d.kind),
                    d.address, d.object, d.more_objects, d.carried, d.reloads, d.late, text_of(d.map)));
  for (const Origin& o : graph.origins)
    lines.push_back(
        fmt::format("origin {}.{} by {}.{} -> {}.{} operand {} lane {} load {} local {} carried {} rewritten "
                    "{} reread {} least {} greatest {} turns {} even {}",
                    o.from, o.from_instruction, o.by, o.by_instruction, o.to, o.to_instruction, o.operand, o.lane,
                    o.load, o.local, o.carried, o.rewritten, o.reread, o.least, o.greatest, o.turns, o.even));
  for (const Object& o : graph.objects)
    lines.push_back(fmt::format("object {} {} size {} blocks {}", o.id, o.name, o.size, o.blocks));
  for (const GaveUp& g : graph.gave_up)
    lines.push_back(fmt::format("gave up {} {} {} {}", g.statement, g.what, g.why, g.instructions));
  lines.push_back(fmt::format("{} instructions, {} points, {} streams, {} unkept, {} intermediate, {}",
                              graph.costs.instructions, graph.costs.points, graph.costs.streams,
                              graph.unkept_instructions, graph.max_intermediate, graph.damage));
  return lines;
}

/// The first lines that differ; empty if none do.
inline std::string difference(const std::vector<std::string>& events, const std::vector<std::string>& runs) {
  for (std::size_t i = 0; i < std::max(events.size(), runs.size()); ++i) {
    const std::string a = i < events.size() ? events[i] : "nothing";
    const std::string b = i < runs.size() ? runs[i] : "nothing";
    if (a != b) return fmt::format("by events {}\nby runs   {}\n", a, b);
  }
  return "";
}

}  // namespace loopfold::ddg::testing
