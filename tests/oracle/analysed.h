// A recorded run, analysed down to the folded dependence graph, and what its instructions are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "ddg/analysis.h"
#include "structure/structure.h"
#include "support/result.h"
#include "symbols/symbolizer.h"
#include "trace/decode.h"
#include "trace/reader.h"

namespace loopfold::oracle {

/// Facts and source of single instructions, by address.
class Code {
 public:
  Code(const trace::Reader& reader, symbols::Symbolizer& symbolizer);

  const trace::InstructionFacts& facts(std::uint64_t address);
  const symbols::Location& source(std::uint64_t address) { return symbolizer_.locate(address); }
  /// The line of the instruction, if that is in the file with this base name; else 0.
  int line_in(const std::string& file, std::uint64_t address);

 private:
  struct Spot {
    const trace::Block* block = nullptr;
    std::size_t index = 0;
  };
  symbols::Symbolizer& symbolizer_;
  std::unordered_map<std::uint64_t, Spot> spots_;
  std::unordered_map<const trace::Block*, std::vector<trace::InstructionFacts>> decoded_;
};

struct Analysed {
  std::unique_ptr<trace::Reader> reader;
  std::unique_ptr<symbols::Symbolizer> symbolizer;
  std::unique_ptr<structure::Structure> structure;
  structure::LoopTree tree;
  ddg::Graph graph;
  std::unique_ptr<Code> code;
};

/// Of the trace in `directory`.
Result<Analysed> analyse(const std::string& directory, const fold::Options& fold);

}  // namespace loopfold::oracle
