#include "advise/distribute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "structure/digraph.h"
#include "trace/decode.h"

namespace loopfold::advise {

namespace {

using profile::Loop;
using structure::ContextId;

bool is_below(ContextId context, std::span<const ContextId> loops, const structure::LoopTree& tree) {
  for (; context != structure::LoopTree::root(); context = tree[context].parent)
    if (std::find(loops.begin(), loops.end(), context) != loops.end()) return true;
  return false;
}

/// Parts of a loop by lines of the source.
class Splitter {
 public:
  Splitter(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
           const poly::FlowOfLoop& loop, const profile::TreeNode& node)
      : graph_(graph), context_(context), flow_(flow), loop_(loop), node_(node) {}

  std::optional<Distribution> run() {
    if (!loop_.doubt.empty() || !loop_.exits.empty()) return std::nullopt;
    for (const ddg::Statement& statement : graph_.statements) add_lines(statement);
    if (!add_flows()) return std::nullopt;
    const std::vector<Part> parts = split(lines_.size(), flows_);
    const bool some = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.parallel; });
    if (parts.size() < 2 || !some) return std::nullopt;
    return describe(parts);
  }

 private:
  using Line = std::pair<std::string, int>;

  bool is_inside(ContextId context) const { return is_below(context, loop_.loop.loops, context_.tree); }

  /// The instructions of a statement in the loop, by line; those that make index values are on none.
  void add_lines(const ddg::Statement& statement) {
    if (!is_inside(statement.context)) return;
    ops_ += static_cast<double>(statement.count) * static_cast<double>(statement.instructions.size());
    for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
      const poly::CodePoint at{statement.id, i};
      if (flow_.is_index(at) || is_jump(statement.instructions[i])) continue;
      line_ops_[line_of(at)] += static_cast<double>(statement.count);
    }
  }

  static bool is_jump(const ddg::Instruction& instruction) {
    return (instruction.kinds & trace::kBranch) != 0 && (instruction.kinds & trace::kConditional) == 0;
  }

  std::uint32_t line_of(const poly::CodePoint& at) {
    const auto known = line_of_.find(at);
    if (known != line_of_.end()) return known->second;
    const auto [line, is_new] = numbers_.try_emplace(place_of(at), static_cast<std::uint32_t>(lines_.size()));
    if (is_new) {
      lines_.push_back(line->first);
      line_ops_.push_back(0);
    }
    line_of_.emplace(at, line->second);
    return line->second;
  }

  /// In the function that the loop is in: where it is called from there, of what is called, inlined or not.
  Line place_of(const poly::CodePoint& at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    ContextId call = structure::kNoContext;
    for (ContextId context = statement.context; !is_loop(context); context = context_.tree[context].parent)
      if (context_.tree[context].kind != structure::Context::Kind::kLoop) call = context;
    const std::uint64_t address = call != structure::kNoContext ? call_address(call, statement)
                                  : at.instruction < statement.instructions.size()
                                      ? statement.instructions[at.instruction].address
                                      : 0;
    const symbols::Location& location = context_.locate(address);
    if (node_.inlined.empty() && !location.frames.empty())
      return {std::string(location.frames.back().file), location.frames.back().line};
    return {location.file, location.line};
  }

  bool is_loop(ContextId context) const {
    return std::find(loop_.loop.loops.begin(), loop_.loop.loops.end(), context) != loop_.loop.loops.end();
  }

  /// Of the statement that made the call; the callee's own code where that has none.
  std::uint64_t call_address(ContextId call, const ddg::Statement& callee) const {
    const structure::Context& its = context_.tree[call];
    for (const ddg::Statement& statement : graph_.statements)
      if (statement.context == its.parent && statement.function == its.caller && statement.node == its.node &&
          !statement.instructions.empty())
        return statement.instructions.back().address;
    return callee.instructions.empty() ? 0 : callee.instructions.front().address;
  }

  /// False: something about a loop in it is not known.
  bool add_flows() {
    for (const poly::FlowOfLoop& inner : flow_.loops()) {
      if (inner.loop.loops.empty() || !is_inside(inner.loop.loops.front())) continue;
      if (!inner.doubt.empty()) return false;
      const bool own = &inner == &loop_;
      for (const poly::KeptFlow& flow : inner.flows) add_flow(flow, own);
      for (const poly::CodePoint& exit : inner.exits) bind_to_exit(exit, inner);
    }
    return true;
  }

  void add_flow(const poly::KeptFlow& flow, bool own) {
    const bool both = is_inside(graph_.statements[flow.from.statement].context) &&
                      is_inside(graph_.statements[flow.to.statement].context);
    if (!both) return;
    const std::uint32_t from = line_of(flow.from);
    const std::uint32_t to = line_of(flow.to);
    flows_.push_back({from, to, own && flow.where == poly::KeptFlow::Where::kCarried});
    if (from == to || flow.kind == poly::KeptFlow::Kind::kControl) return;
    const bool array =
        flow.kind == poly::KeptFlow::Kind::kMemory && graph_.objects[flow.object].kind != ddg::Object::Kind::kStack;
    if (!array && !is_stored(flow.from)) handed_.insert({from, to});
  }

  /// Its value is put in an array as well, at once: it can be loaded from there.
  bool is_stored(const poly::CodePoint& at) const {
    for (const ddg::LocalFlow& local : graph_.statements[at.statement].local) {
      if (local.from != at.instruction) continue;
      const auto stores = [&](const ddg::Access& access) {
        return access.store && access.statement == at.statement && access.instruction == local.to &&
               graph_.objects[access.object].kind != ddg::Object::Kind::kStack;
      };
      if (std::any_of(graph_.accesses.begin(), graph_.accesses.end(), stores)) return true;
    }
    return false;
  }

  /// An inner loop that data decide to leave stays whole: all of it hangs on the branch, and the branch on all of it.
  void bind_to_exit(const poly::CodePoint& exit, const poly::FlowOfLoop& inner) {
    const std::uint32_t at = line_of(exit);
    for (const ddg::Statement& statement : graph_.statements) {
      if (!is_below(statement.context, inner.loop.loops, context_.tree)) continue;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const poly::CodePoint point{statement.id, i};
        if (flow_.is_index(point) || is_jump(statement.instructions[i])) continue;
        flows_.push_back({at, line_of(point), false});
        flows_.push_back({line_of(point), at, false});
      }
    }
  }

  std::optional<Distribution> describe(const std::vector<Part>& parts) const {
    Distribution result;
    result.node = node_.id;
    result.ops = ops_;
    std::vector<std::size_t> part_of(lines_.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Distribution::Piece& piece = result.pieces.emplace_back();
      piece.parallel = parts[p].parallel;
      for (const std::uint32_t line : parts[p].lines) {
        if (lines_[line].second == 0) return std::nullopt;  // nobody could find it
        part_of[line] = p;
        piece.lines.push_back({lines_[line].first, lines_[line].second});
        piece.ops += line_ops_[line];
      }
      std::sort(piece.lines.begin(), piece.lines.end(), [](const profile::Source& a, const profile::Source& b) {
        return std::tie(a.file, a.line) < std::tie(b.file, b.line);
      });
    }
    std::set<std::uint32_t> seen;
    for (const auto& [from, to] : handed_)
      if (part_of[from] != part_of[to] && seen.insert(from).second)
        result.handed_on.push_back({lines_[from].first, lines_[from].second});
    return result;
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const poly::FlowOfLoop& loop_;
  const profile::TreeNode& node_;
  std::map<Line, std::uint32_t> numbers_;
  std::vector<Line> lines_;
  std::vector<double> line_ops_;
  std::map<poly::CodePoint, std::uint32_t> line_of_;
  std::vector<LineFlow> flows_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> handed_;  // from line, to line
  double ops_ = 0;
};

}  // namespace

std::vector<Part> split(std::size_t lines, std::span<const LineFlow> flows) {
  std::vector<structure::Edge> edges;
  for (const LineFlow& flow : flows) edges.push_back({flow.from, flow.to});
  const std::vector<structure::NodeId> heads = structure::strong_component_heads(structure::Digraph(lines, edges), {});
  std::vector<bool> sequential(lines);  // by head
  for (const LineFlow& flow : flows)
    if (flow.carried && heads[flow.from] == heads[flow.to]) sequential[heads[flow.from]] = true;
  // A part is 2 * step + (sequential): parts alternate, so that a component comes as early as those before it allow.
  // A flow within a part of parallel components that the loop carries must lead to the next part.
  std::vector<std::size_t> place(lines);
  for (std::size_t head = 0; head < lines; ++head) place[head] = sequential[head] ? 1 : 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const LineFlow& flow : flows) {
      const structure::NodeId from = heads[flow.from];
      const structure::NodeId to = heads[flow.to];
      if (from == to) continue;
      std::size_t least = place[from];
      if (flow.carried && !sequential[to] && !sequential[from]) ++least;
      if (least % 2 != (sequential[to] ? 1u : 0u)) ++least;
      if (place[to] >= least) continue;
      place[to] = least;
      changed = true;
    }
  }
  std::map<std::size_t, Part> parts;
  for (std::uint32_t line = 0; line < lines; ++line) {
    Part& part = parts[place[heads[line]]];
    part.parallel = !sequential[heads[line]];
    part.lines.push_back(line);
  }
  std::vector<Part> result;
  for (auto& [at, part] : parts) result.push_back(std::move(part));
  return result;
}

std::vector<Distribution> find_distributions(const ddg::Graph& graph, const poly::Context& context,
                                             const poly::RegionFlow& flow, const profile::Region& region,
                                             const profile::Profile& profile) {
  std::vector<Distribution> found;
  for (const profile::Loop& row : region.loops) {
    if (row.parallel != Loop::Parallel::kNo || row.hidden || row.block != 0) continue;  // parts would be of blocks
    for (const poly::FlowOfLoop& loop : flow.loops()) {
      if (loop.loop.loops.empty() || context.nodes[loop.loop.loops.front()] != row.node) continue;
      if (std::optional<Distribution> split = Splitter(graph, context, flow, loop, profile.tree[row.node]).run())
        found.push_back(std::move(*split));
      break;
    }
  }
  return found;
}

}  // namespace loopfold::advise
