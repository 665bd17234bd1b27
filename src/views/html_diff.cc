#include "views/html_diff.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "support/version.h"
#include "views/diff_story.h"
#include "views/text.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostNodes = 150'000;

std::string text_of(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json shares_document(const ParallelShares& shares) {
  return {{"parallel", shares.parallel},
          {"transformed", shares.transformed},
          {"sequential", shares.sequential},
          {"unknown", shares.unknown},
          {"none", shares.none}};
}

Json run_document(const ReportWords& words, const ParallelShares& shares) {
  const profile::Program& program = words.profile().program;
  return {{"program",
           {{"command", words.words().command_line()},
            {"instructions", program.instructions},
            {"threads", program.threads},
            {"exit_status", program.exit_status ? Json(*program.exit_status) : Json(nullptr)},
            {"partial", program.partial}}},
          {"shares", shares_document(shares)}};
}

Json side_document(const std::optional<LoopSide>& side) {
  if (!side) return nullptr;
  return {{"where", side->where},
          {"function", side->function},
          {"ops", side->ops},
          {"ops_percent", side->loop->ops_percent},
          {"trips", side->trips},
          {"verdict", side->verdict},
          {"near", side->loop->stride01_percent},
          {"depth", side->loop->depth},
          {"strides", side->strides}};
}

Json suggestion_document(const std::vector<SuggestionChange>& list, const Words& words) {
  Json all = Json::array();
  for (const SuggestionChange& change : list)
    all.push_back({{"rule", words.text(change.suggestion->rule)},
                   {"title", words.text(change.suggestion->title)},
                   {"gain", change.suggestion->gain},
                   {"function", words.text(change.function)}});
  return all;
}

Json main_document(const Diff& diff, const ReportWords& before, const ReportWords& after) {
  Json document{{"kind", "diff"},
                {"version", kVersion},
                {"a", run_document(before, diff.shares_before)},
                {"b", run_document(after, diff.shares_after)},
                {"loops", Json::array()}};
  for (const LoopPair& pair : diff.loops)
    document["loops"].push_back(
        {{"before", side_document(pair.before)}, {"after", side_document(pair.after)}, {"changes", pair.changes}});
  document["nests"] = Json::array();
  for (const NestStory& story : stories_of(diff))
    document["nests"].push_back({{"function", story.function},
                                 {"before", story.before},
                                 {"after", story.after},
                                 {"sentences", story.sentences},
                                 {"ops", story.ops}});
  document["gone"] = suggestion_document(diff.gone, before.words());
  document["fresh"] = suggestion_document(diff.fresh, after.words());
  return document;
}

/// Nodes of which neither run has much are left out from the end of a long list; their children are behind them.
Json tree_columns(const Diff& diff, const ReportWords& before, const ReportWords& after) {
  const std::vector<NodeVerdict> verdicts_before = node_verdicts(before.profile());
  const std::vector<NodeVerdict> verdicts_after = node_verdicts(after.profile());
  const std::size_t count = std::min(diff.tree.size(), kMostNodes);
  std::unordered_map<std::string, std::size_t> numbers;
  Json strings = Json::array();
  const auto number = [&](const std::string& text) {
    const auto [at, fresh] = numbers.try_emplace(text, strings.size());
    if (fresh) strings.push_back(text);
    return at->second;
  };
  Json columns;
  for (const char* name : {"id", "parent", "kind", "name", "where", "function", "ops", "self_ops", "mem", "fp",
                           "entries", "rounds", "verdict", "affine", "region", "before"})
    columns[name] = Json::array();
  for (std::size_t i = 0; i < count; i++) {
    const MatchedNode& pair = diff.tree[i];
    const ReportWords& words = pair.after ? after : before;
    const std::uint32_t place = pair.after ? *pair.after : *pair.before;
    const profile::TreeNode& node = words.profile().tree[place];
    columns["id"].push_back(i == 0 ? 0 : 1);
    columns["parent"].push_back(pair.parent ? i - *pair.parent : 0);
    columns["kind"].push_back(static_cast<int>(node.kind));
    columns["name"].push_back(number(words.words().frame(node)));
    columns["where"].push_back(number(words.words().where(node)));
    columns["function"].push_back(number(words.words().function(node)));
    columns["ops"].push_back(pair.after ? node.ops : 0);
    columns["self_ops"].push_back(pair.after ? node.self_ops : 0);
    columns["mem"].push_back(static_cast<int>(percent_of(node.mem_ops, node.ops)));
    columns["fp"].push_back(static_cast<int>(percent_of(node.fp_ops, node.ops)));
    columns["entries"].push_back(node.entries);
    columns["rounds"].push_back(rounds_of(node).total);
    columns["verdict"].push_back(static_cast<int>((pair.after ? verdicts_after : verdicts_before)[place]));
    columns["affine"].push_back(0);
    columns["region"].push_back(0);
    columns["before"].push_back(pair.before ? before.profile().tree[*pair.before].ops : 0);
  }
  Json document{{"nodes", count}, {"left_out", diff.tree.size() - count}};
  document["strings"] = std::move(strings);
  document["columns"] = std::move(columns);
  return document;
}

}  // namespace

std::string diff_json(const Diff& diff, const ReportWords& before, const ReportWords& after) {
  return text_of(main_document(diff, before, after), 1) + "\n";
}

Result<std::string> html_diff(const Diff& diff, const ReportWords& before, const ReportWords& after) {
  return html_page("Loopfold: " + before.words().command_line() + " and " + after.words().command_line(),
                   {page_part("main", text_of(main_document(diff, before, after))),
                    page_part("tree", text_of(tree_columns(diff, before, after)))});
}

}  // namespace loopfold::views
