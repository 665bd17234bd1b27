// Names for contexts, and sums over subtrees.
#include "structure/tree_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace loopfold::structure {

namespace {

using profile::TreeNode;

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// What a function is called and where it is.
struct FunctionName {
  std::string name;
  std::string module;
  std::uint64_t address = 0;
  std::optional<profile::Source> source;
  bool stub = false;  // in a procedure linkage table
};

class Describer {
 public:
  Describer(const trace::Reader& reader, const Structure& structure, const LoopTree& tree, LoopNames& names,
            symbols::Symbolizer& symbolizer)
      : reader_(reader), structure_(structure), tree_(tree), names_(names), symbolizer_(symbolizer) {}

  profile::Profile run(std::uint64_t threads) {
    find_children();
    profile::Profile result;
    add_nodes(result.tree);
    find_nodes_of_stubs();
    add_up(result.tree);
    result.program.argv = reader_.info().argv;
    if (reader_.end() && reader_.end()->exit_status_known) result.program.exit_status = reader_.end()->exit_status;
    result.program.partial = reader_.partial() || !structure_.damage.empty();
    result.program.instructions = result.tree.front().ops;
    result.program.threads = threads;
    add_quality(result);
    return result;
  }

  /// By context.
  std::vector<std::uint32_t> nodes() && { return std::move(node_of_); }

 private:
  // ---- The shape ------------------------------------------------------------------------------------------------

  /// Children by context, stubs passed over.
  void find_children() {
    const std::span<const Context> contexts = tree_.contexts();
    children_.resize(contexts.size());
    node_of_.resize(contexts.size());
    passed_instructions_.resize(contexts.size());
    passed_memory_.resize(contexts.size());
    site_.resize(contexts.size());
    std::vector<ContextId> shown_parent(contexts.size(), kNoContext);
    std::vector<std::uint32_t> calls(contexts.size(), 0);
    for (ContextId id = 1; id < contexts.size(); ++id) ++calls[contexts[id].parent];
    for (ContextId id = 1; id < contexts.size(); ++id) {
      const Context& context = contexts[id];
      const ContextId above = context.parent;
      const bool passed = shown_parent[above] != kNoContext;
      const ContextId parent = passed ? shown_parent[above] : above;
      site_[id] = passed ? site_[above] : context.site;
      if (is_stub(context) && calls[id] != 0) {
        shown_parent[id] = parent;
        passed_instructions_[id] = context.instructions;
        passed_memory_[id] = context.memory;
      }
      if (passed) pass_on(above, id);
      if (shown_parent[id] != kNoContext) continue;
      children_[parent].push_back(id);
    }
  }

  /// The outermost stub that `id` was reached through, or itself.
  ContextId top_of(ContextId id) const {
    for (ContextId above = tree_[id].parent; above != LoopTree::root() && is_stub(tree_[above]);
         above = tree_[above].parent)
      id = above;
    return id;
  }

  /// The first function behind a stub takes what the stub itself ran.
  void pass_on(ContextId stub, ContextId to) {
    passed_instructions_[to] += std::exchange(passed_instructions_[stub], 0);
    passed_memory_[to] += std::exchange(passed_memory_[stub], 0);
  }

  bool is_stub(const Context& context) const {
    return context.kind == Context::Kind::kCall && function(context.function).stub;
  }

  // ---- The nodes ------------------------------------------------------------------------------------------------

  /// Contexts that are shown as one node: the same but for the stub through which they were reached.
  using Group = std::vector<ContextId>;

  /// Depth first, without recursion: the tree may be deep.
  void add_nodes(std::vector<TreeNode>& nodes) {
    struct Pending {
      Group contexts;
      std::optional<std::uint32_t> parent;
      std::uint32_t index = 0;
    };
    std::vector<Pending> pending;
    pending.push_back({{LoopTree::root()}, std::nullopt, 0});
    while (!pending.empty()) {
      const Pending next = std::move(pending.back());
      pending.pop_back();
      const auto id = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back(node(next.contexts));
      for (const ContextId context : next.contexts) node_of_[context] = id;
      nodes.back().id = id;
      nodes.back().parent = next.parent;
      nodes.back().index = next.index;
      std::vector<Group> children = children_of(next.contexts);
      for (std::size_t i = children.size(); i-- > 0;)
        pending.push_back({std::move(children[i]), id, static_cast<std::uint32_t>(i)});
    }
  }

  /// Those of the contexts that took their instructions: the first that was reached through them. Children come behind
  /// their parents.
  void find_nodes_of_stubs() {
    for (ContextId id = static_cast<ContextId>(node_of_.size()); id-- > 1;) {
      const ContextId above = tree_[id].parent;
      if (above != LoopTree::root() && is_stub(tree_[above])) node_of_[above] = node_of_[id];
    }
  }

  /// In the order of their static index.
  std::vector<Group> children_of(const Group& parents) const {
    const auto key = [&](ContextId id) {
      const Context& context = tree_[id];
      return std::tuple(context.kind, context.origin, context.function, site_[id], context.loop, context.period);
    };
    const auto place = [&](const Group& group) {
      const Context& top = tree_[top_of(group.front())];
      return std::tuple(top.index, top.minor, group.front());
    };
    Group all;
    for (const ContextId parent : parents) all.insert(all.end(), children_[parent].begin(), children_[parent].end());
    std::sort(all.begin(), all.end(),
              [&](ContextId a, ContextId b) { return key(a) != key(b) ? key(a) < key(b) : a < b; });
    std::vector<Group> groups;
    for (const ContextId id : all) {
      if (groups.empty() || key(groups.back().front()) != key(id)) groups.emplace_back();
      groups.back().push_back(id);
    }
    std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) { return place(a) < place(b); });
    return groups;
  }

  TreeNode node(const Group& contexts) {
    TreeNode node = name(contexts.front());
    bool finished = false;
    for (const ContextId id : contexts) {
      const Context context = whole_loop(id);
      node.self_ops += context.instructions + passed_instructions_[id];
      node.self_mem_ops += context.memory + passed_memory_[id];
      node.self_fp_ops += context.floating;
      node.entries += context.entries;
      if (context.finished == 0) continue;
      add(node.iterations_per_entry, context.iterations, !finished);
      add(node.trip, context.trips, !finished);
      finished = true;
    }
    node.iterations = node.iterations_per_entry.total;
    if (node.kind == TreeNode::Kind::kRoot) node.entries = 1;
    return node;
  }

  /// A loop that is split has the counts of all its levels together.
  Context whole_loop(ContextId id) const {
    Context context = tree_[id];
    const auto found = tree_.splits().find(id);
    if (found == tree_.splits().end()) return context;
    const Context& innermost = tree_[levels_of(id).back()];
    context.iterations = found->second.iterations;
    context.trips = found->second.trips;
    context.iterations.total = innermost.iterations.total;
    context.trips.total = innermost.trips.total;
    return context;
  }

  /// The contexts of a loop's levels from this one inwards.
  std::vector<ContextId> levels_of(ContextId id) const {
    std::vector<ContextId> levels{id};
    for (;;) {
      const std::vector<ContextId>& inside = children_[levels.back()];
      const auto next = std::find_if(inside.begin(), inside.end(), [&](ContextId child) {
        return tree_[child].kind == Context::Kind::kLoop && tree_[child].hidden != 0;
      });
      if (next == inside.end()) return levels;
      levels.push_back(*next);
    }
  }

  /// Of a level: how many iterations of the binary's loop are in one of its own; 0 if there are no levels inside.
  std::uint64_t block_of(ContextId id) const {
    const std::vector<ContextId> levels = levels_of(id);
    if (levels.size() == 1) return 0;
    std::uint64_t block = 1;
    for (std::size_t i = 1; i < levels.size(); ++i) block *= tree_[levels[i]].period;
    return block;
  }

  static void add(profile::Counts& to, const EntryCounts& counts, bool first) {
    to.min = first ? counts.min : std::min(to.min, counts.min);
    to.max = std::max(to.max, counts.max);
    to.total += counts.total;
  }

  TreeNode name(ContextId id) {
    const Context& context = tree_[id];
    TreeNode node;
    if (context.kind == Context::Kind::kRoot) {
      node.function = reader_.info().argv.empty() ? "" : base_name(reader_.info().argv.front());
      return node;
    }
    const FunctionName& name = function(context.function);
    node.function = name.name;
    node.module = name.module;
    node.address = name.address;
    node.source = name.source;
    node.kind = TreeNode::Kind::kCall;
    if (context.kind == Context::Kind::kRecursion) node.kind = TreeNode::Kind::kRecursion;
    if (context.kind == Context::Kind::kLoop) {
      node.kind = TreeNode::Kind::kLoop;
      describe_loop(context, node);
      node.hidden = context.hidden != 0;
      node.period = context.period;
      node.block = block_of(id);
    }
    if (context.kind == Context::Kind::kStart) node.origin = origin(context);
    if (site_[id] != kNoPlace) node.call_site = source_of(structure_.code.last_instruction(site_[id]));
    return node;
  }

  void describe_loop(const Context& context, TreeNode& node) {
    const Loop& loop = structure_.forests[context.function].loops()[context.loop];
    const Function& function = structure_.flow.functions()[context.function];
    const LoopName& name = names_.of(context.function, context.loop);
    const symbols::Location& header = symbolizer_.locate(structure_.code.address(function.places[loop.header]));
    node.address = header.module_offset;
    node.depth_binary = loop.depth;
    node.depth_source = name.depth;
    node.irreducible = loop.irreducible;
    node.source.reset();
    if (!name.source) return;
    node.source = profile::Source{name.source->file, name.source->line};
    node.inlined = name.source->inlined;
  }

  static std::string origin(const Context& context) {
    switch (context.origin) {
      case Origin::kSignalHandler:
        return "signal handler";
      case Origin::kCoroutine:
        return "coroutine";
      default:
        return context.main_thread ? "" : "thread";
    }
  }

  /// Children come behind their parents.
  static void add_up(std::vector<TreeNode>& nodes) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      TreeNode& node = nodes[i];
      node.ops += node.self_ops;
      node.mem_ops += node.self_mem_ops;
      node.fp_ops += node.self_fp_ops;
      if (!node.parent) continue;
      nodes[*node.parent].ops += node.ops;
      nodes[*node.parent].mem_ops += node.mem_ops;
      nodes[*node.parent].fp_ops += node.fp_ops;
    }
  }

  // ---- Names ----------------------------------------------------------------------------------------------------

  const FunctionName& function(FunctionId id) const {
    const auto found = functions_.find(id);
    if (found != functions_.end()) return found->second;
    const std::uint64_t address = structure_.code.address(structure_.flow.functions()[id].entry);
    const symbols::Location& location = symbolizer_.locate(address);
    FunctionName name;
    name.module = location.module;
    name.address = location.module_offset;
    name.stub = symbolizer_.in_plt(address);
    if (!location.function.empty())
      name.name = location.function;
    else if (!location.module.empty())
      name.name = fmt::format("{}+{:#x}", location.module, location.module_offset);
    else
      name.name = address == 0 ? "(not recorded)" : fmt::format("{:#x}", address);
    name.source = source_of(address);
    return functions_.emplace(id, std::move(name)).first->second;
  }

  std::optional<profile::Source> source_of(std::uint64_t address) const {
    const symbols::Location& location = symbolizer_.locate(address);
    if (location.file.empty() || location.line == 0) return std::nullopt;
    return profile::Source{location.file, location.line};
  }

  // ---- Quality --------------------------------------------------------------------------------------------------

  static std::string why_ended(const trace::EndInfo& end) {
    using Reason = trace::EndInfo::Reason;
    switch (end.reason) {
      case Reason::kInstructionLimit:
        return "recording stopped at its limit of instructions; the program went on";
      case Reason::kSizeLimit:
        return "recording stopped at its limit of size; the program went on";
      case Reason::kExec:
        return "the program replaced itself by another one, which is not shown";
      default:
        return end.text.empty() ? "recording stopped before the program ended" : end.text;
    }
  }

  void add_quality(profile::Profile& result) const {
    const auto total = static_cast<double>(std::max<std::uint64_t>(result.program.instructions, 1));
    if (!structure_.damage.empty())
      result.quality.push_back({"partial", structure_.damage, 1.0});
    else if (reader_.partial())
      result.quality.push_back({"partial",
                                reader_.damage().empty() ? "the recording has no end record: what is shown is what was "
                                                           "recorded until then"
                                                         : reader_.damage(),
                                1.0});
    if (reader_.end() && reader_.end()->reason != trace::EndInfo::Reason::kProgramEnded)
      result.quality.push_back({"not to the end", why_ended(*reader_.end()), 1.0});
    std::uint64_t unnamed = 0;
    for (const TreeNode& node : result.tree)
      if (node.parent && !node.source) unnamed += node.self_ops;
    if (unnamed * 100 >= result.program.instructions && unnamed != 0)
      result.quality.push_back({"no debug info",
                                "no line numbers for this share of the instructions; compile with -g, or install the "
                                "debug symbols of the libraries",
                                static_cast<double>(unnamed) / total});
    for (const std::string& warning : symbolizer_.warnings()) result.quality.push_back({"module", warning, 0.0});
    if (tree_.full())
      result.quality.push_back({"too many contexts", "contexts beyond a limit are counted for their callers", 0.0});
    if (result.program.threads > 1)
      result.quality.push_back(
          {"threads", "threads are recorded one at a time, in the order that Valgrind ran them", 0.0});
  }

  const trace::Reader& reader_;
  const Structure& structure_;
  const LoopTree& tree_;
  LoopNames& names_;
  symbols::Symbolizer& symbolizer_;
  std::vector<std::vector<ContextId>> children_;    // by context
  std::vector<std::uint32_t> node_of_;              // by context
  std::vector<PlaceId> site_;                       // by context: of its call, or of the stub's that led to it
  std::vector<std::uint64_t> passed_instructions_;  // by context: of stubs, counted here
  std::vector<std::uint64_t> passed_memory_;
  mutable std::unordered_map<FunctionId, FunctionName> functions_;
};

}  // namespace

profile::Profile describe(const trace::Reader& reader, const Structure& structure, const LoopTree& tree,
                          std::uint64_t threads, LoopNames& names, symbols::Symbolizer& symbolizer,
                          std::vector<std::uint32_t>* nodes) {
  Describer describer(reader, structure, tree, names, symbolizer);
  profile::Profile profile = describer.run(threads);
  if (nodes != nullptr) *nodes = std::move(describer).nodes();
  return profile;
}

}  // namespace loopfold::structure
