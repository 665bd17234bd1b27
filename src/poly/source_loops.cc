#include "poly/source_loops.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "symbols/loop_source.h"

namespace loopfold::poly {

namespace {

using structure::FunctionId;
using structure::LoopId;
using symbols::LoopSource;

/// A place in the source, within one instance of a function: file, line, column. And of what is inlined there, which
/// may be all that a loop does: a single instruction with the place of the call strays easily.
using Spot = std::tuple<std::string_view, int, int, std::string_view, int, int>;

/// The instructions of the trace, by the place that they run from.
class Instructions {
 public:
  explicit Instructions(const structure::CodeMap& code) : code_(code) {
    for (const trace::Block& block : code.blocks()) {
      const trace::Block*& longest = blocks_[block.address];
      if (longest == nullptr || longest->bytes.size() < block.bytes.size()) longest = &block;
    }
  }

  /// Calls `visit` with the address of every instruction of the place.
  template <typename Visit>
  void each(structure::PlaceId place, Visit visit) const {
    const auto found = blocks_.find(code_.address(place));
    if (found == blocks_.end()) return;
    std::uint64_t address = found->first;
    for (const std::uint8_t length : found->second->lengths) {
      if (address > code_.last_instruction(place)) return;
      visit(address);
      address += length;
    }
  }

 private:
  const structure::CodeMap& code_;
  std::unordered_map<std::uint64_t, const trace::Block*> blocks_;
};

/// Of one function: which of its loops are one loop of the source.
class Classes {
 public:
  Classes(const structure::Structure& structure, FunctionId function, structure::LoopNames& names,
          symbols::Symbolizer& symbolizer, const Instructions& instructions)
      : id_(function),
        function_(structure.flow.functions()[function]),
        forest_(structure.forests[function]),
        hidden_(structure.code.hidden()),
        names_(names),
        symbolizer_(symbolizer),
        instructions_(instructions),
        class_(forest_.loops().size()),
        bodies_(forest_.loops().size()) {
    std::iota(class_.begin(), class_.end(), LoopId{0});
    std::map<std::pair<LoopId, std::uint64_t>, std::vector<LoopId>> siblings;  // by parent and scope
    for (LoopId loop = 0; loop < class_.size(); ++loop) {
      sources_.push_back(names.of(function, loop).source);
      if (sources_[loop]) siblings[{forest_.loops()[loop].parent, sources_[loop]->scope}].push_back(loop);
    }
    for (const auto& [where, loops] : siblings) unite(loops);
  }

  /// The same for all loops that are one.
  LoopId of(LoopId loop) const {
    while (class_[loop] != loop) loop = class_[loop];
    return loop;
  }

 private:
  void unite(const std::vector<LoopId>& loops) {
    for (std::size_t i = 0; i < loops.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (of(loops[k]) != of(loops[i]) && are_one(loops[k], loops[i])) class_[of(loops[i])] = of(loops[k]);
  }

  bool are_one(LoopId a, LoopId b) {
    if (symbols::is_same_source_loop(*sources_[a], *sources_[b])) return true;
    return have_one_body(a, b) && !is_left_from_inside(a, b) && !is_left_from_inside(b, a);
  }

  /// `loop` is a copy of a loop inside `outer`, in an iteration of it that is no part of a loop any more.
  bool is_left_from_inside(LoopId outer, LoopId loop) {
    if (!has_name_inside(forest_, id_, outer, loop, names_)) return false;
    std::set<Spot> outside = spots_of(outer, [&](LoopId innermost) { return innermost == outer; });
    for (const Spot& spot : spots_of(outer, [&](LoopId innermost) { return innermost != outer; })) outside.erase(spot);
    const std::set<Spot>& here = body(loop);
    return !outside.empty() &&
           std::none_of(here.begin(), here.end(), [&](const Spot& spot) { return outside.contains(spot); });
  }

  bool have_one_body(LoopId a, LoopId b) {
    std::set<Spot> of_a = body(a);
    std::set<Spot> of_b = body(b);
    for (const LoopId loop : {a, b}) {
      const LoopSource& source = *sources_[loop];
      const Spot name{source.own_file, source.own_line,  source.own_column,
                      source.own_file, source.own_line, source.own_column};
      of_a.erase(name);
      of_b.erase(name);
    }
    const std::set<Spot>& smaller = of_a.size() < of_b.size() ? of_a : of_b;
    const std::set<Spot>& larger = of_a.size() < of_b.size() ? of_b : of_a;
    const auto in_both =
        std::count_if(smaller.begin(), smaller.end(), [&](const Spot& s) { return larger.contains(s); });
    return in_both > 0 && 2 * static_cast<std::size_t>(in_both) >= smaller.size();
  }

  /// Where in the source its instructions are, seen from the function that the loop is written in.
  const std::set<Spot>& body(LoopId loop) {
    if (!bodies_[loop]) bodies_[loop] = spots_of(loop, [](LoopId) { return true; });
    return *bodies_[loop];
  }

  /// The same of those instructions whose innermost loop is `wanted`.
  template <typename Wanted>
  std::set<Spot> spots_of(LoopId loop, Wanted wanted) {
    std::set<Spot> spots;
    const std::uint64_t scope = sources_[loop]->scope;
    for (structure::NodeId node = 0; node < function_.places.size(); ++node) {
      if (!forest_.contains(loop, node) || function_.places[node] == hidden_) continue;
      if (!wanted(forest_.innermost(node))) continue;
      instructions_.each(function_.places[node], [&](std::uint64_t address) {
        const std::vector<symbols::Frame>& frames = symbolizer_.locate(address).frames;
        for (const symbols::Frame& frame : frames)
          if (frame.scope == scope && frame.line != 0 && frame.column != 0)
            spots.emplace(frame.file, frame.line, frame.column, frames[0].file, frames[0].line, frames[0].column);
      });
    }
    return spots;
  }

  FunctionId id_;
  const structure::Function& function_;
  const structure::LoopForest& forest_;
  structure::PlaceId hidden_;
  structure::LoopNames& names_;
  symbols::Symbolizer& symbolizer_;
  const Instructions& instructions_;
  std::vector<LoopId> class_;                          // by loop: another one of the same class, or itself
  std::vector<std::optional<LoopSource>> sources_;     // by loop
  std::vector<std::optional<std::set<Spot>>> bodies_;  // by loop, where it was asked for
};

/// Which loops are what is left of others.
class LeftLoops {
 public:
  LeftLoops(const structure::Structure& structure, const structure::LoopTree& tree, structure::LoopNames& names)
      : structure_(structure), tree_(tree), names_(names), inside_(tree.contexts().size()) {
    for (structure::ContextId id = 0; id < inside_.size(); ++id)
      if (tree[id].kind == structure::Context::Kind::kLoop && tree[id].parent < inside_.size())
        inside_[tree[id].parent].push_back(id);
  }

  /// A loop with the name of this one, inside a sibling of it that is another loop: in one line, a whole nest may have
  /// one name.
  structure::ContextId copied_inside(const SourceLoop& loop) const {
    const structure::Context& left = tree_[loop.loops.front()];
    const std::optional<LoopSource> source = names_.of(left.function, left.loop).source;
    if (!source || left.parent >= inside_.size()) return structure::kNoContext;
    for (const structure::ContextId sibling : inside_[left.parent]) {
      const structure::Context& outer = tree_[sibling];
      if (outer.function != left.function || outer.loop == left.loop) continue;
      if (std::find(loop.loops.begin(), loop.loops.end(), sibling) != loop.loops.end()) continue;
      if (!has_name_inside(structure_.forests[left.function], left.function, outer.loop, left.loop, names_)) continue;
      const structure::ContextId found = find_inside(sibling, left.function, *source);
      if (found != structure::kNoContext) return found;
    }
    return structure::kNoContext;
  }

 private:
  /// Loops of the same function only: those are directly inside each other.
  structure::ContextId find_inside(structure::ContextId outer, FunctionId function, const LoopSource& source) const {
    for (const structure::ContextId id : inside_[outer]) {
      if (tree_[id].function != function) continue;
      const std::optional<LoopSource>& other = names_.of(function, tree_[id].loop).source;
      if (other && other->scope == source.scope && symbols::is_same_source_loop(*other, source)) return id;
      const structure::ContextId found = find_inside(id, function, source);
      if (found != structure::kNoContext) return found;
    }
    return structure::kNoContext;
  }

  const structure::Structure& structure_;
  const structure::LoopTree& tree_;
  structure::LoopNames& names_;
  std::vector<std::vector<structure::ContextId>> inside_;  // by context: loops directly in it
};

}  // namespace

bool has_name_inside(const structure::LoopForest& forest, FunctionId function, LoopId outer, LoopId loop,
                     structure::LoopNames& names) {
  const std::optional<LoopSource> source = names.of(function, loop).source;
  if (!source) return false;
  for (LoopId inner = outer + 1; inner < forest.loops().size() && forest.encloses(outer, inner); ++inner) {
    const std::optional<LoopSource>& other = names.of(function, inner).source;
    if (other && other->scope == source->scope && symbols::is_same_source_loop(*other, *source)) return true;
  }
  return false;
}

std::vector<SourceLoop> source_loops(const structure::Structure& structure, const structure::LoopTree& tree,
                                     structure::LoopNames& names, symbols::Symbolizer& symbolizer) {
  const Instructions instructions(structure.code);
  std::unordered_map<FunctionId, Classes> classes;
  std::map<std::tuple<structure::ContextId, FunctionId, LoopId>, std::size_t> known;  // parent, function, class
  std::vector<SourceLoop> loops;
  for (structure::ContextId id = 0; id < tree.contexts().size(); ++id) {
    const structure::Context& context = tree[id];
    if (context.kind != structure::Context::Kind::kLoop) continue;
    const auto [of_function, is_new] =
        classes.try_emplace(context.function, structure, context.function, names, symbolizer, instructions);
    const auto [place, first] =
        known.try_emplace({context.parent, context.function, of_function->second.of(context.loop)}, loops.size());
    if (first) loops.emplace_back();
    loops[place->second].loops.push_back(id);
  }
  const LeftLoops left(structure, tree, names);
  for (SourceLoop& loop : loops) loop.left_from = left.copied_inside(loop);
  return loops;
}

}  // namespace loopfold::poly
