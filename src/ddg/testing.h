// For tests: traces of hand-made machine code, and dependence graphs as text.
//
// A HandTrace is told what the blocks are (real instructions, which are decoded as those of a recorded program would
// be, and beside them the accesses and results that a recorder would have seen) and which of them ran, with what in
// their slots. It is written with trace::Writer, so runs come out of the real encoder. lines_of() has a line for
// everything that a graph says but what it cost; two graphs are equal if their lines are.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/graph.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"
#include "trace/testing.h"
#include "trace/writer.h"

namespace loopfold::ddg::testing {

/// An instruction and what a recorder sees of it.
struct Op {
  struct Access {
    bool store = false;
    std::uint32_t size = 0;
    trace::Value address;
  };
  struct Result {
    std::uint8_t reg = 0;
    std::uint8_t width = 0;
    trace::Value value;
  };
  std::vector<std::uint8_t> bytes;
  std::vector<Access> accesses;
  std::vector<Result> results;
};

class HandTrace {
 public:
  HandTrace() : writer_(*trace::Writer::create(file_.path(), trace::testing::sample_info())) {}

  /// Expressions that values of the block may name.
  trace::BlockId block(std::uint64_t address, const std::vector<Op>& ops, std::uint16_t slots,
                       std::vector<trace::Expression> expressions = {}) {
    trace::Block made;
    made.id = static_cast<trace::BlockId>(blocks_.size());
    made.address = address;
    made.expressions = std::move(expressions);
    for (std::uint16_t i = 0; i < ops.size(); ++i) {
      made.lengths.push_back(static_cast<std::uint8_t>(ops[i].bytes.size()));
      made.bytes.insert(made.bytes.end(), ops[i].bytes.begin(), ops[i].bytes.end());
      for (const Op::Access& access : ops[i].accesses) {
        using Kind = trace::Access::Kind;
        made.accesses.push_back({i, access.store ? Kind::kStore : Kind::kLoad, false, false, access.size, access.address});
      }
      for (const Op::Result& result : ops[i].results)
        made.results.push_back({i, result.reg, 0, result.width, result.value});
    }
    writer_->add_block(made);
    blocks_.push_back(std::move(made));
    slots_.push_back(slots);
    return blocks_.back().id;
  }
  std::uint64_t address(trace::BlockId block) const { return blocks_[block].address; }

  /// The block runs and control goes on at `next`. `stack_pointer` is known behind calls.
  void run(trace::BlockId block, trace::BlockId next, const std::vector<std::uint64_t>& slots,
           trace::ExitKind kind = trace::ExitKind::kNext, trace::Value stack_pointer = {}) {
    const auto [found, added] =
        exits_.try_emplace({block, next, kind}, static_cast<trace::ExitId>(exits_.size()));
    if (added) {
      trace::Exit exit;
      exit.id = found->second;
      exit.block = block;
      exit.kind = kind;
      exit.instructions = static_cast<std::uint16_t>(blocks_[block].lengths.size());
      exit.accesses = static_cast<std::uint16_t>(blocks_[block].accesses.size());
      exit.results = static_cast<std::uint16_t>(blocks_[block].results.size());
      exit.slots = slots_[block];
      exit.target = address(next);
      exit.stack_pointer = stack_pointer;
      writer_->add_exit(exit);
    }
    writer_->event(0, 0, found->second, slots);
  }
  void side(trace::SideData data) { writer_->side({0, 0, 0, std::move(data)}); }

  /// The trace, which lives as long as this.
  const trace::Reader& finish() {
    writer_->finish({});
    EXPECT_FALSE(writer_->error()) << writer_->error()->message;
    reader_ = std::move(*trace::Reader::open(file_.path()));
    return *reader_;
  }

 private:
  trace::testing::TempFile file_;
  std::unique_ptr<trace::Writer> writer_;
  std::unique_ptr<trace::Reader> reader_;
  std::vector<trace::Block> blocks_;
  std::vector<std::uint16_t> slots_;  // by block
  std::map<std::tuple<trace::BlockId, trace::BlockId, trace::ExitKind>, trace::ExitId> exits_;
};

/// The graph of a trace without symbols.
inline Graph graph_of(const trace::Reader& reader, const Options& options) {
  symbols::Symbolizer symbolizer(reader.modules());
  const structure::Structure structure = structure::find_structure(reader, {});
  structure::LoopTree tree;
  std::uint64_t threads = 0;
  return build(reader, structure, tree, symbolizer, options, threads);
}

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

/// Everything but costs, a line each.
inline std::vector<std::string> lines_of(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Statement& s : graph.statements)
    lines.push_back(fmt::format("statement {} kind {} context {} function {} node {} place {} detail {} followed {} "
                                "instructions {} local {} count {}: {}",
                                s.id, static_cast<int>(s.kind), s.context, s.function, s.node, s.place, s.detail,
                                s.followed, s.instructions.size(), s.local.size(), s.count, text_of(s.domain)));
  for (const Access& a : graph.accesses)
    lines.push_back(fmt::format("access {}.{}.{} store {} size {} object {} copies {} same {} {}: {}", a.statement,
                                a.instruction, a.index, a.store, a.size, a.object, a.copies, a.same_block,
                                a.same_offset, text_of(a.address)));
  for (const Value& v : graph.values)
    lines.push_back(fmt::format("value {}.{}.{} register {} width {} steady {}: {}", v.statement, v.instruction,
                                v.index, v.reg, v.width, v.steady, text_of(v.value)));
  for (const Dependence& d : graph.dependences)
    lines.push_back(fmt::format("dependence {}.{} -> {}.{} operand {} lane {} kind {} address {} object {} more {} "
                                "carried {} reloads {} late {}: {}",
                                d.from, d.from_instruction, d.to, d.to_instruction, d.operand, d.lane,
                                static_cast<int>(d.kind), d.address, d.object, d.more_objects, d.carried, d.reloads,
                                d.late, text_of(d.map)));
  for (const Origin& o : graph.origins)
    lines.push_back(fmt::format("origin {}.{} by {}.{} -> {}.{} operand {} lane {} load {} local {} carried {} rewritten "
                                "{} reread {} least {} greatest {} turns {} even {}",
                                o.from, o.from_instruction, o.by, o.by_instruction, o.to, o.to_instruction, o.operand,
                                o.lane, o.load, o.local, o.carried, o.rewritten, o.reread, o.least, o.greatest, o.turns,
                                o.even));
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
