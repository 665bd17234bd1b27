#include "structure/loop_names.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
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
      // What is shown may be known otherwise than by lines; of library code it is the line of a user's call.
      return (frame.line == loop.line && frame.file == loop.file && loop.file != loop.own_file) ||
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

/// Whether code of a loop inside this one is written in the line of an address.
bool LoopNames::is_in_line_of_inner(FunctionId id, LoopId which, std::uint64_t address) const {
  const LoopForest& forest = structure_.forests[id];
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  const auto line_of = [&](std::uint64_t at) {
    const symbols::Location& location = symbolizer_.locate(at);
    return std::pair<std::string_view, int>(location.file, location.line);
  };
  const std::pair<std::string_view, int> line = line_of(address);
  if (line.second == 0) return false;
  for (NodeId node = 0; node < function.places.size(); ++node) {
    const PlaceId place = function.places[node];
    if (place == code.hidden() || !forest.contains(which, node) || forest.innermost(node) == which) continue;
    if (line_of(code.address(place)) == line || line_of(code.last_instruction(place)) == line) return true;
  }
  return false;
}

/// The block whose branch closes the loop, for one of its ways back. A compiler may leave code between that branch and
/// the header: moves, with whatever line; or what the body of an inner loop needs, moved out of it, with a line of that
/// body. The second kind is told by its line, and by a branch before it that leaves the loop; a test in the header is
/// none, for what follows it is the body.
NodeId LoopNames::closing(FunctionId id, LoopId which, NodeId latch) const {
  const LoopForest& forest = structure_.forests[id];
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  const NodeId header = forest.loops()[which].header;
  const std::span<const NodeId> before = function.graph.predecessors(latch);
  if (latch == header || before.size() != 1 || !forest.contains(which, before[0])) return latch;
  if (code.only_moves(function.places[latch])) return before[0];
  if (code.only_moves_and_jumps(function.places[latch]) && before[0] != header && leaves(id, which, before[0]))
    return before[0];
  const bool only_goes_back = function.graph.successors(latch).size() == 1;
  const bool is_behind_test = before[0] != header && leaves(id, which, before[0]);
  if (!only_goes_back || !is_behind_test) return latch;
  const auto is_inner = [&](NodeId node) {
    return is_in_line_of_inner(id, which, code.last_instruction(function.places[node]));
  };
  return is_inner(latch) && !is_inner(before[0]) ? before[0] : latch;
}

bool LoopNames::leaves(FunctionId id, LoopId which, NodeId node) const {
  const std::span<const NodeId> next = structure_.flow.functions()[id].graph.successors(node);
  return std::any_of(next.begin(), next.end(), [&](NodeId to) { return !structure_.forests[id].contains(which, to); });
}

/// Where the loop's blocks are, its branches back and out.
symbols::LoopAddresses LoopNames::addresses(FunctionId id, LoopId which) const {
  const LoopForest& forest = structure_.forests[id];
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  const Loop& loop = forest.loops()[which];
  symbols::LoopAddresses addresses;
  addresses.header = code.address(function.places[loop.header]);
  for (const NodeId latch : loop.latches)
    addresses.latch_branches.push_back(code.last_instruction(function.places[closing(id, which, latch)]));
  for (NodeId node = 0; node < function.places.size(); ++node) {
    if (!forest.contains(which, node) || function.places[node] == code.hidden()) continue;
    addresses.instructions.push_back(code.address(function.places[node]));
    if (leaves(id, which, node)) addresses.exit_branches.push_back(code.last_instruction(function.places[node]));
  }
  return addresses;
}

/// The line of an address in the function or inlined function that a loop is written in; 0 if it is in another file.
int LoopNames::line_in(const symbols::LoopSource& loop, std::uint64_t address) const {
  for (const symbols::Frame& frame : symbolizer_.locate(address).frames)
    if (frame.scope == loop.scope) return frame.file == loop.own_file ? frame.line : 0;
  return 0;
}

bool LoopNames::is_two_loops(FunctionId id, LoopId which) {
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  const Loop& loop = structure_.forests[id].loops()[which];
  if (loop.latches.size() < 2 || function.places[loop.header] == code.hidden()) return false;
  const LoopName& name = of(id, which);
  if (!name.source) return false;
  const int body = line_in(*name.source, code.address(function.places[loop.header]));
  const auto line_of = [&](NodeId latch) {
    return line_in(*name.source, code.last_instruction(function.places[closing(id, which, latch)]));
  };
  for (const NodeId inner : loop.latches) {
    const int line = line_of(inner);
    if (line == 0 || line >= body) continue;
    const std::vector<bool> later = behind(id, which, inner);
    for (const NodeId outer : loop.latches)
      if (later[outer] && line_of(outer) != 0 && line_of(outer) < line) return true;
  }
  return false;
}

/// What an iteration may still come to behind a block.
std::vector<bool> LoopNames::behind(FunctionId id, LoopId which, NodeId block) const {
  const LoopForest& forest = structure_.forests[id];
  const Digraph& graph = structure_.flow.functions()[id].graph;
  std::vector<bool> reached(structure_.flow.functions()[id].places.size());
  std::vector<NodeId> open = {block};
  while (!open.empty()) {
    const NodeId from = open.back();
    open.pop_back();
    for (const NodeId to : graph.successors(from)) {
      if (reached[to] || to == forest.loops()[which].header || !forest.contains(which, to)) continue;
      reached[to] = true;
      open.push_back(to);
    }
  }
  return reached;
}

// ---- Names ---------------------------------------------------------------------------------------------------------

const std::optional<symbols::LoopSource>& LoopNames::by_lines(FunctionId id, LoopId which) {
  const auto [found, added] = by_lines_.try_emplace(key(id, which));
  if (added) found->second = symbols::name_loop(symbolizer_, addresses(id, which));
  return found->second;
}

/// Whether a loop around this one, in the same function of the source, has the head of a line.
bool LoopNames::is_around(FunctionId id, LoopId which, int line) {
  const symbols::LoopSource& source = *by_lines(id, which);
  const std::span<const Loop> loops = structure_.forests[id].loops();
  for (LoopId outer = loops[which].parent; outer != kNoLoop; outer = loops[outer].parent) {
    const std::optional<symbols::LoopSource>& other = by_head(id, outer);
    if (other && other->scope == source.scope && other->file == source.file &&
        heads_of(id, which).is_same_head(other->line, line))
      return true;
  }
  return false;
}

/// Directly. Loops are in pre-order.
std::vector<LoopId> LoopNames::loops_inside(FunctionId id, LoopId which) const {
  const std::span<const Loop> loops = structure_.forests[id].loops();
  std::vector<LoopId> found;
  for (LoopId inner = which + 1; inner < loops.size() && loops[inner].parent != kNoLoop; ++inner) {
    if (loops[inner].parent < which) break;
    if (loops[inner].parent == which) found.push_back(inner);
  }
  return found;
}

/// How many there are in the same function of the source.
std::size_t LoopNames::loops_around(FunctionId id, LoopId which) {
  const std::uint64_t scope = by_lines(id, which)->scope;
  const std::span<const Loop> loops = structure_.forests[id].loops();
  std::size_t count = 0;
  for (LoopId outer = loops[which].parent; outer != kNoLoop; outer = loops[outer].parent) {
    const std::optional<symbols::LoopSource>& other = by_lines(id, outer);
    if (other && other->scope == scope) ++count;
  }
  return count;
}

/// Whether there is a loop inside that may be the one of its line, and a good part of what this one does by itself is
/// written outside of that, in the loop of `line` around it.
bool LoopNames::is_loop_around(FunctionId id, LoopId which, const symbols::LoopSource& source, int line) {
  const symbols::LoopHeads& heads = heads_of(id, which);
  const LoopForest& forest = structure_.forests[id];
  const Function& function = structure_.flow.functions()[id];
  const CodeMap& code = structure_.code;
  bool inner = false;
  for (const LoopId loop : loops_inside(id, which)) {
    if (inner) break;
    const std::optional<symbols::LoopSource>& other = by_lines(id, loop);
    inner = other && other->scope == source.scope && other->own_file == source.file &&
            heads.is_inside(other->own_line, source.line);
  }
  if (!inner) return false;
  std::size_t all = 0;
  std::size_t outside = 0;
  for (NodeId node = 0; node < function.places.size(); ++node) {
    const PlaceId place = function.places[node];
    if (place == code.hidden() || forest.innermost(node) != which) continue;
    constexpr std::uint64_t kStep = 2;  // bytes: hardly an instruction is shorter
    for (std::uint64_t at = code.address(place); at <= code.last_instruction(place); at += kStep) {
      const int here = line_in(source, at);
      ++all;
      if (here != 0 && !heads.is_inside(here, source.line) && heads.is_inside(here, line)) ++outside;
    }
  }
  return 4 * outside >= all && outside > 0;
}

/// The line of a head, if there is one.
const std::optional<symbols::LoopSource>& LoopNames::by_head(FunctionId id, LoopId which) {
  const auto known = by_head_.find(key(id, which));
  if (known != by_head_.end()) return known->second;
  std::optional<symbols::LoopSource> source = by_lines(id, which);
  if (source && source->line == source->own_line && source->file == source->own_file) {
    const symbols::LoopHeads& heads = heads_of(id, which);
    std::optional<int> line;
    if (heads.nested_in(source->line) == 0) {
      const std::vector<int> lines = heads.at(source->line);
      if (const std::size_t around = loops_around(id, which); around < lines.size()) line = lines[around];
    } else {
      line = heads.around(source->line, 1);
      if (line && !is_loop_around(id, which, *source, *line)) line.reset();
    }
    if (line && !is_around(id, which, *line)) {
      source->line = *line;
      source->column = 0;
    }
  }
  return by_head_.emplace(key(id, which), std::move(source)).first->second;
}

/// How many loops are inside each other, in this one, and have its line.
std::size_t LoopNames::alike_inside(FunctionId id, LoopId which) {
  const std::optional<symbols::LoopSource> source = by_head(id, which);
  std::size_t most = 0;
  if (!source) return most;
  for (const LoopId inner : loops_inside(id, which)) {
    const std::optional<symbols::LoopSource>& other = by_head(id, inner);
    if (other && other->scope == source->scope && other->file == source->file && other->line == source->line)
      most = std::max(most, 1 + alike_inside(id, inner));
  }
  return most;
}

/// Of the file that a loop is written in; none if it cannot be read.
const symbols::LoopHeads& LoopNames::heads_of(FunctionId id, LoopId which) {
  using symbols::LoopHeads;
  const Function& function = structure_.flow.functions()[id];
  const std::string& file = by_lines(id, which)->own_file;
  const PlaceId header = function.places[structure_.forests[id].loops()[which].header];
  std::string path = file;
  if (header != structure_.code.hidden() && !file.starts_with('/')) {
    const std::string_view directory = symbolizer_.locate(structure_.code.address(header)).directory;
    if (!directory.empty()) path = std::string(directory) + "/" + file;
  }
  std::unique_ptr<LoopHeads>& heads = heads_[path];
  if (heads) return *heads;
  // Only where it was when it was compiled: another file of that name might be found elsewhere.
  const std::optional<LoopHeads::Language> language = LoopHeads::language_of(path);
  std::ostringstream text;
  if (std::ifstream stream(path, std::ios::binary); language && stream) text << stream.rdbuf();
  heads = std::make_unique<LoopHeads>(text.view(), language.value_or(LoopHeads::Language::kC));
  return *heads;
}

/// If the loop of its line is not around a loop that is inside this one: the one that is.
std::optional<int> LoopNames::around_inner(FunctionId id, LoopId which, const symbols::LoopSource& source) {
  const symbols::LoopHeads& heads = heads_of(id, which);
  for (const LoopId inner : loops_inside(id, which)) {
    const std::optional<symbols::LoopSource>& other = by_head(id, inner);
    if (!other || other->scope != source.scope || other->file != source.file) continue;
    if (heads.is_inside(other->line, source.line)) continue;
    const std::vector<int> lines = heads.at(other->line);
    const std::size_t around = loops_around(id, which);
    if (around < lines.size() && !heads.is_same_head(lines[around], other->line)) return lines[around];
  }
  return std::nullopt;
}

std::optional<symbols::LoopSource> LoopNames::by_text(FunctionId id, LoopId which) {
  std::optional<symbols::LoopSource> source = by_head(id, which);
  if (!source || source->file != source->own_file) return source;
  const symbols::LoopHeads& heads = heads_of(id, which);
  const std::size_t inside = alike_inside(id, which);
  const std::size_t written = heads.nested_in(source->line);
  std::optional<int> line;
  if (inside == 0)
    line = around_inner(id, which, *source);
  else if (written != 0 && inside + 1 > written)
    line = heads.around(source->line, inside + 1 - written);
  if (!line || is_around(id, which, *line)) return source;
  source->line = *line;
  source->column = 0;
  return source;
}

const LoopName& LoopNames::of(FunctionId id, LoopId which) {
  std::vector<LoopId> missing;
  for (LoopId loop = which; loop != kNoLoop && !names_.contains(key(id, loop));
       loop = structure_.forests[id].loops()[loop].parent)
    missing.push_back(loop);
  for (std::size_t i = missing.size(); i-- > 0;) {
    LoopName name;
    name.source = by_text(id, missing[i]);
    name.depth = 1;
    if (const LoopId parent = structure_.forests[id].loops()[missing[i]].parent; parent != kNoLoop) {
      const LoopName& outer = names_.at(key(id, parent));
      const bool copy = name.source && outer.source && symbols::is_same_source_loop(*name.source, *outer.source);
      name.depth = outer.depth + (copy ? 0 : 1);
    }
    names_.emplace(key(id, missing[i]), std::move(name));
  }
  return names_.at(key(id, which));
}

void find_tests(Structure& structure, LoopNames& names, symbols::Symbolizer& symbolizer) {
  for (FunctionId id = 0; id < structure.forests.size(); ++id) {
    for (LoopId loop = 0; loop < structure.forests[id].loops().size(); ++loop)
      structure.tests[id][loop] = TestFinder(structure, id, loop, names.of(id, loop), symbolizer).run();
  }
}

}  // namespace loopfold::structure
