// Opens a trace and runs the stages that lead to the graph.
#include "analysed.h"

#include "structure/function_facts.h"
#include "structure/loop_names.h"

namespace loopfold::oracle {

Code::Code(const trace::Reader& reader, symbols::Symbolizer& symbolizer) : symbolizer_(symbolizer) {
  for (const trace::Block& block : reader.blocks()) {
    std::uint64_t address = block.address;
    for (std::size_t i = 0; i < block.lengths.size(); i++) {
      spots_.emplace(address, Spot{&block, i});
      address += block.lengths[i];
    }
  }
}

const trace::InstructionFacts& Code::facts(std::uint64_t address) {
  const Spot& spot = spots_.at(address);
  const auto found = decoded_.find(spot.block);
  if (found != decoded_.end()) return found->second[spot.index];
  return decoded_.emplace(spot.block, trace::decode(*spot.block)).first->second[spot.index];
}

int Code::line_in(const std::string& file, std::uint64_t address) {
  const symbols::Location& location = source(address);
  return location.file.substr(location.file.rfind('/') + 1) == file ? location.line : 0;
}

Result<Analysed> analyse(const std::string& directory, const fold::Options& fold) {
  Analysed result;
  Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(directory + "/trace.lft", {});
  if (!reader) return tl::unexpected<Error>(reader.error());
  result.reader = std::move(*reader);
  result.symbolizer = std::make_unique<symbols::Symbolizer>(result.reader->modules());
  const structure::FunctionFacts facts = structure::function_facts(*result.symbolizer);
  result.structure = std::make_unique<structure::Structure>(structure::find_structure(*result.reader, facts));
  structure::LoopNames names(*result.structure, *result.symbolizer);
  structure::find_tests(*result.structure, names, *result.symbolizer);
  ddg::Options options;
  options.fold = fold;
  std::uint64_t threads = 0;
  result.graph = ddg::build(*result.reader, *result.structure, result.tree, *result.symbolizer, options, threads);
  if (!result.graph.damage.empty()) return fail(ErrorKind::kBadInput, directory + ": " + result.graph.damage);
  result.code = std::make_unique<Code>(*result.reader, *result.symbolizer);
  return result;
}

}  // namespace loopfold::oracle
