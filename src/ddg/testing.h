// For tests: traces of hand-made machine code.
//
// A HandTrace is told what the blocks are (real instructions, which are decoded as those of a recorded program would
// be, and beside them the accesses and results that a recorder would have seen) and which of them ran, with what in
// their slots. It is written with trace::Writer, so runs come out of the real encoder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/graph.h"
#include "ddg/graph_text.h"
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
        made.accesses.push_back(
            {i, access.store ? Kind::kStore : Kind::kLoad, false, false, access.size, access.address});
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
    const auto [found, added] = exits_.try_emplace({block, next, kind}, static_cast<trace::ExitId>(exits_.size()));
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
  /// For what the above does not have, on its own responsibility.
  trace::Writer& writer() { return *writer_; }

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

}  // namespace loopfold::ddg::testing
