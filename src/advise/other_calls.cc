#include "advise/other_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "advise/reuse_advice.h"

namespace loopfold::advise {

namespace {

using profile::Loop;
using profile::Region;
using profile::Requirement;
using profile::Source;
using profile::Suggestion;
using profile::TreeNode;

constexpr std::size_t kMostNamed = 4;

/// A call, or an inlined one.
struct Call {
  std::string function;
  std::optional<Source> at;
};

/// A loop in one of its places.
struct Row {
  const Region* region = nullptr;
  const Loop* loop = nullptr;
};

std::string place(const Source& source) {
  return fmt::format("{}:{}", source.file.substr(source.file.rfind('/') + 1), source.line);
}

/// What a private copy must do, by the words of its clause.
bool covers(const std::string& clause, const std::string& other) {
  if (clause == other) return true;
  const auto has = [](const std::string& text, const char* what) { return text.find(what) != std::string::npos; };
  if (has(clause, "linear(") || has(other, "linear(")) return false;
  return (has(clause, "firstprivate") || !has(other, "firstprivate")) &&
         (has(clause, "lastprivate") || !has(other, "lastprivate"));
}

std::map<std::string, std::string> copies_of(const std::vector<profile::Touched>& list) {
  std::map<std::string, std::string> clauses;
  for (const profile::Touched& touched : list) clauses[touched_name(touched)] += touched.clause + " ";
  return clauses;
}

std::set<std::pair<std::string, std::string>> reductions_of(const Loop& loop) {
  std::set<std::pair<std::string, std::string>> all;
  for (const profile::Reduction& reduction : loop.reductions) all.insert({reduction.variable, reduction.operation});
  return all;
}

/// What one row asks for does for the other one.
bool needs_no_more(const Loop& row, const Loop& other) {
  const std::map<std::string, std::string> own = copies_of(row.privates);
  const std::map<std::string, std::string> theirs = copies_of(other.privates);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(own.begin(), own.end(), theirs.begin(), theirs.end(), same_name)) return false;
  if (!std::equal(own.begin(), own.end(), theirs.begin(),
                  [](const auto& a, const auto& b) { return covers(a.second, b.second); }))
    return false;
  const std::map<std::string, std::string> expanded = copies_of(row.expand);
  const std::map<std::string, std::string> theirs_expanded = copies_of(other.expand);
  return std::equal(expanded.begin(), expanded.end(), theirs_expanded.begin(), theirs_expanded.end(), same_name) &&
         reductions_of(row) == reductions_of(other);
}

bool is_about_one_loop(const Suggestion& suggestion) {
  return suggestion.loops.size() == 1 &&
         (suggestion.rule == "LF-PAR" || suggestion.rule == "LF-RED" || suggestion.rule == "LF-SIMD");
}

bool is_new_order(const Suggestion& suggestion) {
  static const std::set<std::string> rules = {"LF-ICH", "LF-TIL", "LF-SKW", "LF-FUS", "LF-DIS"};
  return !suggestion.loops.empty() && rules.contains(suggestion.rule);
}

class OtherCalls {
 public:
  OtherCalls(const InlinedAt& inlined_at, profile::Profile& profile) : inlined_at_(inlined_at), profile_(profile) {
    for (const Region& region : profile.regions)
      for (const Loop& loop : region.loops) {
        seen_.insert(loop.nodes.begin(), loop.nodes.end());
        if (loop.source) rows_[key_of(loop.node)].push_back({&region, &loop});
      }
    for (const TreeNode& node : profile.tree)
      if (node.kind == TreeNode::Kind::kLoop && node.source && !seen_.contains(node.id))
        left_out_[key_of(node.id)].push_back(node.id);
  }

  void run() {
    for (Region& region : profile_.regions)
      for (Suggestion& suggestion : region.suggestions) {
        if (!is_about_one_loop(suggestion) && !is_new_order(suggestion)) continue;
        const Loop* const own = row_at(region, suggestion.loops.front());
        if (own == nullptr || !own->source) continue;
        found_.push_back({&suggestion, own->node, answers(suggestion, *own), left_out(*own)});
      }
    // Only now: suggestions are compared as they were.
    for (const Found& found : found_) say(found);
  }

 private:
  /// Line, and how many loops of the line are around it in its function.
  using Key = std::tuple<std::string, std::int64_t, std::size_t>;
  using Answers = std::map<std::string, std::set<std::uint32_t>>;  // what is said, and the nodes that it is said of
  struct Found {
    Suggestion* suggestion = nullptr;
    std::uint32_t node = 0;
    Answers answers;
    std::vector<std::uint32_t> left_out;
  };

  Key key_of(std::uint32_t node) const {
    const Source& source = *profile_.tree[node].source;
    std::size_t around = 0;
    for (std::optional<std::uint32_t> at = profile_.tree[node].parent; at; at = profile_.tree[*at].parent) {
      const TreeNode& outer = profile_.tree[*at];
      if (outer.kind != TreeNode::Kind::kLoop) break;
      if (outer.source == profile_.tree[node].source) ++around;
    }
    return {source.file, source.line, around};
  }

  static const Loop* row_at(const Region& region, std::uint32_t node) {
    for (const Loop& loop : region.loops)
      if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end()) return &loop;
    return nullptr;
  }

  /// The same loop of the source in another place. What has the same line in one function is another loop, unless it is
  /// the same code or an inlined copy.
  bool is_same_loop(std::uint32_t a, std::uint32_t b) const {
    const TreeNode& one = profile_.tree[a];
    const TreeNode& other = profile_.tree[b];
    if (a == b) return false;
    const bool one_function = one.function == other.function && one.module == other.module;
    return !one_function || one.address == other.address || !one.inlined.empty() || !other.inlined.empty();
  }

  Answers answers(const Suggestion& suggestion, const Loop& own) const {
    Answers all;
    const auto same_line = rows_.find(key_of(own.node));
    if (same_line == rows_.end()) return all;
    for (const Row& row : same_line->second) {
      if (!is_same_loop(own.node, row.loop->node)) continue;
      const std::string answer =
          is_about_one_loop(suggestion) ? answer_of(suggestion, own, row) : answer_of(suggestion, row);
      if (!answer.empty()) all[answer].insert(row.loop->node);
    }
    return all;
  }

  /// Empty: the same. About the loop as written.
  static std::string answer_of(const Suggestion& suggestion, const Loop& own, const Row& row) {
    const Loop& other = *row.loop;
    if (other.parallel == Loop::Parallel::kNo && other.parallel != own.parallel) return "no";
    if (other.parallel == Loop::Parallel::kUnknown && other.parallel != own.parallel) return "not known";
    if (other.parallel == Loop::Parallel::kReduction && other.parallel != own.parallel) return "a reduction";
    if (suggestion.legal != Suggestion::Legal::kYes) return "";
    const bool in_doubt =
        std::any_of(row.region->suggestions.begin(), row.region->suggestions.end(), [&](const Suggestion& made) {
          return made.rule == suggestion.rule && is_about_one_loop(made) && made.legal != Suggestion::Legal::kYes &&
                 std::find(other.nodes.begin(), other.nodes.end(), made.loops.front()) != other.nodes.end();
        });
    if (other.reuse == Loop::Reuse::kUnknown || in_doubt) return "not known";
    return needs_no_more(own, other) ? "" : "with other requirements";
  }

  /// About an order that is legal: it must be suggested there, too.
  static std::string answer_of(const Suggestion& suggestion, const Row& row) {
    if (suggestion.legal != Suggestion::Legal::kYes) return "";
    const auto needs = [](const Suggestion& one) {
      std::set<std::tuple<std::string, std::string, std::string>> all;
      for (const Requirement& r : one.requirements) all.insert({r.kind, r.variable, r.clause});
      return all;
    };
    for (const Suggestion& other : row.region->suggestions) {
      if (other.rule != suggestion.rule || other.where != suggestion.where || other.loops.empty()) continue;
      if (std::find(row.loop->nodes.begin(), row.loop->nodes.end(), other.loops.front()) == row.loop->nodes.end())
        continue;
      if (other.legal != Suggestion::Legal::kYes) return "not known";
      return needs(other) == needs(suggestion) ? "" : "with other requirements";
    }
    return "not known";
  }

  std::vector<std::uint32_t> left_out(const Loop& own) const {
    std::vector<std::uint32_t> nodes;
    const auto same_line = left_out_.find(key_of(own.node));
    if (same_line == left_out_.end()) return nodes;
    for (const std::uint32_t node : same_line->second)
      if (is_same_loop(own.node, node)) nodes.push_back(node);
    return nodes;
  }

  // ---- words ----

  /// From the loop outwards.
  std::vector<Call> way_to(std::uint32_t node) const {
    std::vector<Call> calls;
    const TreeNode& loop = profile_.tree[node];
    if (!loop.inlined.empty()) calls.push_back({loop.inlined.back(), inlined_at_(node)});
    for (std::optional<std::uint32_t> at = loop.parent; at; at = profile_.tree[*at].parent) {
      const TreeNode& outer = profile_.tree[*at];
      if (outer.kind != TreeNode::Kind::kLoop && outer.call_site) calls.push_back({outer.function, outer.call_site});
    }
    return calls;
  }

  struct Difference {
    std::optional<Call> here;
    std::optional<Call> there;
    bool one_line = false;  // they are two calls that stand in one line
  };
  /// The innermost calls in which two ways differ.
  Difference difference(std::uint32_t a, std::uint32_t b) const {
    const std::vector<Call> one = way_to(a);
    const std::vector<Call> other = way_to(b);
    for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
      const std::optional<Call> here = i < one.size() ? std::optional(one[i]) : std::nullopt;
      const std::optional<Call> there = i < other.size() ? std::optional(other[i]) : std::nullopt;
      if (!here || !there || here->at != there->at) return {here, there};
    }
    if (one.empty()) return {};
    return {one.front(), other.front(), true};
  }

  /// "called at a.c:11 and a.c:12".
  std::string places(std::uint32_t node, const std::set<std::uint32_t>& others) const {
    std::vector<std::string> names;
    for (const std::uint32_t other : others) {
      const Difference ways = difference(node, other);
      std::string name = "reached in another way";
      if (ways.there && ways.there->at)
        name = fmt::format("called at {}{}", place(*ways.there->at), ways.one_line ? " in another place" : "");
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    if (names.size() > kMostNamed) {
      const std::size_t more = names.size() - kMostNamed;
      names.resize(kMostNamed);
      names.push_back(fmt::format("{} more", more));
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void say(const Found& found) const {
    if (!found.left_out.empty())
      found.suggestion->evidence.push_back(
          fmt::format("not looked at when {}, which has too little of the work (--min-percent)",
                      places(found.node, {found.left_out.begin(), found.left_out.end()})));
    if (found.answers.empty()) return;
    const std::uint32_t first = *found.answers.begin()->second.begin();
    const auto [here, there, one_line] = difference(found.node, first);
    std::string what = here ? here->function : profile_.tree[found.node].function;
    if (here && here->at)
      what += fmt::format(" for {} at {}", one_line ? "one of the calls" : "the call", place(*here->at));
    std::vector<std::string> answers;
    for (const auto& [answer, nodes] : found.answers)
      answers.push_back(fmt::format("{} when {}", answer, places(found.node, nodes)));
    found.suggestion->requirements.push_back(
        {"copy", fmt::format("{}: {}", what, fmt::join(answers, "; ")), std::nullopt, "", std::nullopt});
  }

  const InlinedAt& inlined_at_;
  profile::Profile& profile_;
  std::set<std::uint32_t> seen_;  // nodes with a row
  std::map<Key, std::vector<Row>> rows_;
  std::map<Key, std::vector<std::uint32_t>> left_out_;  // nodes
  std::vector<Found> found_;
};

}  // namespace

void require_copies(const InlinedAt& inlined_at, profile::Profile& profile) { OtherCalls(inlined_at, profile).run(); }

InlinedAt inlined_by(const poly::Context& context, const profile::Profile& profile) {
  return [&context, &profile](std::uint32_t node) -> std::optional<Source> {
    if (context.structure == nullptr || profile.tree[node].inlined.empty()) return std::nullopt;
    for (structure::ContextId id = 1; id < context.tree.contexts().size(); ++id) {
      const structure::Context& loop = context.tree[id];
      if (context.nodes[id] != node || loop.kind != structure::Context::Kind::kLoop) continue;
      const structure::NodeId header = context.structure->forests[loop.function].loops()[loop.loop].header;
      const structure::Function& code = context.structure->flow.functions()[loop.function];
      const std::vector<symbols::Frame>& frames =
          context.locate(context.structure->code.address(code.places[header])).frames;
      for (std::size_t i = 0; i + 1 < frames.size(); ++i)
        if (frames[i].function == profile.tree[node].inlined.back() && frames[i + 1].line > 0)
          return Source{std::string(frames[i + 1].file), frames[i + 1].line};
    }
    return std::nullopt;
  };
}

}  // namespace loopfold::advise
