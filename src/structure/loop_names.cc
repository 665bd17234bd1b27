#include "structure/loop_names.h"

#include <algorithm>
#include <vector>

namespace loopfold::structure {

namespace {

/// The tests of one loop.
class TestFinder {
 public:
  TestFinder(const Structure& structure, FunctionId function, LoopId which, const LoopName& name,
             symbols::Symbolizer& symbolizer)
      : code_(structure.code),
        function_(structure.flow.functions()[function]),
        forest_(structure.forests[function]),
        which_(which),
        loop_(forest_.loops()[which]),
        name_(name),
        symbolizer_(symbolizer) {
    for (const CallSite& site : calls_of(structure, function)) calls_.push_back(site.node);
  }

  std::vector<NodeId> run() {
    if (!name_.source) return is_test(loop_.header) ? std::vector<NodeId>{loop_.header} : std::vector<NodeId>{};
    if (all_in_line()) return straight();
    return spread();
  }

 private:
  static std::span<const CallSite> calls_of(const Structure& structure, FunctionId function) {
    const std::span<const CallSite> all = structure.flow.calls();
    const auto less = [](const CallSite& site, FunctionId caller) { return site.caller < caller; };
    const auto first = std::lower_bound(all.begin(), all.end(), function, less);
    const auto last = std::lower_bound(first, all.end(), function + 1, less);
    return {first, last};
  }

  bool in_line(std::uint64_t address) const {
    const symbols::LoopSource& loop = *name_.source;
    const std::vector<symbols::Frame>& frames = symbolizer_.locate(address).frames;
    return std::any_of(frames.begin(), frames.end(), [&](const symbols::Frame& frame) {
      return (frame.line == loop.line && frame.file == loop.file) ||
             (frame.line == loop.own_line && frame.file == loop.own_file);
    });
  }
  bool in_line(NodeId node) const {
    const PlaceId place = function_.places[node];
    return place != code_.hidden() && in_line(code_.address(place)) && in_line(code_.last_instruction(place));
  }
  bool inside(NodeId node) const { return forest_.innermost(node) == which_; }
  bool all_in_line() const {
    for (NodeId node = 0; node < function_.places.size(); ++node)
      if (forest_.contains(which_, node) && !in_line(node)) return false;
    return true;
  }

  bool is_test(NodeId node) const {
    if (std::binary_search(loop_.latches.begin(), loop_.latches.end(), node)) return false;
    if (std::binary_search(calls_.begin(), calls_.end(), node)) return false;
    const std::span<const NodeId> next = function_.graph.successors(node);
    return std::any_of(next.begin(), next.end(), [&](NodeId to) { return !forest_.contains(which_, to); });
  }

  std::vector<NodeId> straight() const {
    NodeId node = loop_.header;
    for (std::span<const NodeId> next = function_.graph.successors(node);
         next.size() == 1 && inside(next[0]) && next[0] != loop_.header; next = function_.graph.successors(node))
      node = next[0];
    return is_test(node) ? std::vector<NodeId>{node} : std::vector<NodeId>{};
  }

  std::vector<NodeId> spread() const {
    std::vector<NodeId> reached;
    if (in_line(loop_.header)) reached.push_back(loop_.header);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const NodeId to : function_.graph.successors(reached[i])) {
        if (inside(to) && in_line(to) && std::find(reached.begin(), reached.end(), to) == reached.end())
          reached.push_back(to);
      }
    }
    std::erase_if(reached, [&](NodeId node) { return !is_test(node); });
    return reached;
  }

  const CodeMap& code_;
  const Function& function_;
  const LoopForest& forest_;
  LoopId which_;
  const Loop& loop_;
  const LoopName& name_;
  symbols::Symbolizer& symbolizer_;
  std::vector<NodeId> calls_;  // nodes that end with a call, increasing
};

}  // namespace

/// Where the loop's blocks are, its branches back and out. A compiler may leave moves between the branch that closes
/// the loop and the header, with whatever line: then the branch before them is meant.
symbols::LoopAddresses LoopNames::addresses(FunctionId id, LoopId which) const {
  const LoopForest& forest = structure_.forests[id];
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  const Loop& loop = forest.loops()[which];
  const auto leaves = [&](NodeId node) {
    const std::span<const NodeId> next = function.graph.successors(node);
    return std::any_of(next.begin(), next.end(), [&](NodeId to) { return !forest.contains(which, to); });
  };
  const auto closing = [&](NodeId latch) {
    const std::span<const NodeId> before = function.graph.predecessors(latch);
    const bool stray = code.only_moves(function.places[latch]) && before.size() == 1 && latch != loop.header &&
                       forest.contains(which, before[0]);
    return stray ? before[0] : latch;
  };
  symbols::LoopAddresses addresses;
  addresses.header = code.address(function.places[loop.header]);
  for (const NodeId latch : loop.latches)
    addresses.latch_branches.push_back(code.last_instruction(function.places[closing(latch)]));
  for (NodeId node = 0; node < function.places.size(); ++node) {
    if (!forest.contains(which, node) || function.places[node] == code.hidden()) continue;
    addresses.instructions.push_back(code.address(function.places[node]));
    if (leaves(node)) addresses.exit_branches.push_back(code.last_instruction(function.places[node]));
  }
  return addresses;
}

const LoopName& LoopNames::of(FunctionId id, LoopId which) {
  const auto key = [&](LoopId loop) { return std::uint64_t{id} << 32 | loop; };
  std::vector<LoopId> missing;
  for (LoopId loop = which; loop != kNoLoop && !names_.contains(key(loop));
       loop = structure_.forests[id].loops()[loop].parent)
    missing.push_back(loop);
  for (std::size_t i = missing.size(); i-- > 0;) {
    LoopName name;
    name.source = symbols::name_loop(symbolizer_, addresses(id, missing[i]));
    name.depth = 1;
    if (const LoopId parent = structure_.forests[id].loops()[missing[i]].parent; parent != kNoLoop) {
      const LoopName& outer = names_.at(key(parent));
      const bool copy = name.source && outer.source && symbols::is_same_source_loop(*name.source, *outer.source);
      name.depth = outer.depth + (copy ? 0 : 1);
    }
    names_.emplace(key(missing[i]), std::move(name));
  }
  return names_.at(key(which));
}

void find_tests(Structure& structure, LoopNames& names, symbols::Symbolizer& symbolizer) {
  for (FunctionId id = 0; id < structure.forests.size(); ++id) {
    for (LoopId loop = 0; loop < structure.forests[id].loops().size(); ++loop)
      structure.tests[id][loop] = TestFinder(structure, id, loop, names.of(id, loop), symbolizer).run();
  }
}

}  // namespace loopfold::structure
