// Copies of instructions, and flow between them; see repeats.h.
//
// Groups are found by sorting what must be equal. Flow: from every member of a group a search along the edges inside an
// iteration, until another member is met. A node that an earlier search of the group has been to leads nowhere but back
// to where that one started, so the searches of a group share what they have seen, unless one came back to its start.
// Cost: the sizes of what the members lead to; in a loop whose copies are independent these are disjoint.
#include "poly/repeats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace loopfold::poly {
namespace {

using Position = std::tuple<std::uint64_t, std::string_view, int, int>;  // of one frame: function, file, line, column

struct Key {
  structure::ContextId context = structure::kNoContext;
  std::uint32_t form = 0;
  std::vector<Position> frames;  // innermost first
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// Nothing is said where the line or column is not known.
std::vector<Position> frames_of(const symbols::Location& location) {
  std::vector<Position> frames;
  for (const symbols::Frame& frame : location.frames) {
    if (frame.line == 0 || frame.column == 0) return {};
    frames.emplace_back(frame.function_id, frame.file, frame.line, frame.column);
  }
  return frames;
}

/// Searches from the members of one group.
class Search {
 public:
  Search(const LoopFlow& flow, const std::vector<bool>& left_out)
      : flow_(flow), left_out_(left_out), seen_(flow.nodes.size(), 0) {}

  /// Whether one of the members leads to another one.
  bool connects(const std::vector<std::uint32_t>& members) {
    const std::set<std::uint32_t> wanted(members.begin(), members.end());
    ++round_;
    for (const std::uint32_t member : members) {
      bool came_back = false;
      if (leads_to_another(member, wanted, came_back)) return true;
      if (came_back) ++round_;
    }
    return false;
  }

 private:
  bool leads_to_another(std::uint32_t start, const std::set<std::uint32_t>& wanted, bool& came_back) {
    std::vector<std::uint32_t> todo = {start};
    while (!todo.empty()) {
      const std::uint32_t node = todo.back();
      todo.pop_back();
      for (const std::uint32_t e : flow_.out[node]) {
        const FlowEdge& edge = flow_.edges[e];
        if (edge.inside == 0 || (!left_out_.empty() && left_out_[e])) continue;
        if (flow_.nodes[edge.from].index) continue;
        if (edge.to == start) came_back = true;
        if (edge.to != start && wanted.contains(edge.to)) return true;
        if (seen_[edge.to] == round_) continue;
        seen_[edge.to] = round_;
        todo.push_back(edge.to);
      }
    }
    return false;
  }

  const LoopFlow& flow_;
  const std::vector<bool>& left_out_;
  std::vector<std::uint64_t> seen_;  // by node: the last round that was there
  std::uint64_t round_ = 0;
};

}  // namespace

std::vector<std::uint32_t> repeats(const LoopFlow& flow, const ddg::Graph& graph, symbols::Symbolizer& symbolizer) {
  std::map<Key, std::vector<std::uint32_t>> alike;
  const auto address_of = [&](std::uint32_t node) {
    const CodePoint& at = flow.nodes[node].at;
    return graph.statements[at.statement].instructions[at.instruction].address;
  };
  for (std::uint32_t node = 0; node < flow.nodes.size(); ++node) {
    const FlowNode& n = flow.nodes[node];
    if (n.facts == nullptr || (n.facts->kinds & (trace::kUnknown | trace::kNop)) != 0) continue;
    Key key{graph.statements[n.at.statement].context, n.facts->form, frames_of(symbolizer.locate(address_of(node)))};
    if (!key.frames.empty()) alike[std::move(key)].push_back(node);
  }
  std::vector<std::uint32_t> groups(flow.nodes.size(), 0);
  std::uint32_t made = 0;
  for (const auto& [key, nodes] : alike) {
    const std::uint64_t first = address_of(nodes[0]);
    const auto same_address = [&](std::uint32_t node) { return address_of(node) == first; };
    if (std::all_of(nodes.begin(), nodes.end(), same_address)) continue;
    ++made;
    for (const std::uint32_t node : nodes) groups[node] = made;
  }
  return groups;
}

bool copies_depend(const LoopFlow& flow, const std::vector<std::uint32_t>& groups, const std::vector<bool>& left_out) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (std::uint32_t node = 0; node < groups.size(); ++node)
    if (groups[node] != 0 && !flow.nodes[node].index) members[groups[node]].push_back(node);
  Search search(flow, left_out);
  return std::any_of(members.begin(), members.end(), [&](const auto& group) { return search.connects(group.second); });
}

}  // namespace loopfold::poly
