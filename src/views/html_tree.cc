#include "views/html_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "views/html_shares.h"
#include "views/text.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;

/// Every string once; a string's number is its place.
class Strings {
 public:
  std::size_t number(const std::string& text) {
    const auto [at, fresh] = numbers_.try_emplace(text, list_.size());
    if (fresh) list_.push_back(text);
    return at->second;
  }
  Json take() { return std::move(list_); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  Json list_ = Json::array();
};

constexpr int kNotModelled = -1;
constexpr double kLeastModelled = 0.5;  // of a node's operations; below that its share of exact ones says little

int affine_percent(const Modelled& modelled, std::size_t node, std::uint64_t ops) {
  if (ops == 0) return 100;
  const auto whole = static_cast<double>(ops);
  if (static_cast<double>(modelled.all[node]) < kLeastModelled * whole) return kNotModelled;
  return static_cast<int>(std::lround(100 * std::min(1.0, static_cast<double>(modelled.exact[node]) / whole)));
}

/// By node: one more than the region whose outermost loop it is, or 0.
std::vector<std::uint32_t> region_heads(const profile::Profile& profile) {
  std::vector<std::uint32_t> heads(profile.tree.size());
  for (const profile::Region& region : profile.regions) {
    heads[region.node] = region.id + 1;
    if (region.loops.empty()) continue;
    for (const std::uint32_t node : region.loops.front().nodes) heads[node] = region.id + 1;
  }
  return heads;
}

int share(std::uint64_t part, std::uint64_t whole) { return static_cast<int>(std::lround(percent_of(part, whole))); }

}  // namespace

std::vector<std::uint32_t> kept_nodes(const profile::Profile& profile, std::size_t most) {
  std::vector<std::uint32_t> nodes(profile.tree.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  if (nodes.size() <= most) return nodes;
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return profile.tree[a].ops > profile.tree[b].ops; });
  nodes.resize(most);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Json tree_document(const profile::Profile& profile, const Words& words, std::size_t most) {
  const std::vector<std::uint32_t> kept = kept_nodes(profile, most);
  const std::vector<NodeVerdict> verdicts = node_verdicts(profile);
  const std::vector<std::uint32_t> heads = region_heads(profile);
  const Modelled modelled = modelled_ops(profile);
  std::vector<std::uint32_t> place(profile.tree.size());
  Strings strings;
  Json document{{"nodes", kept.size()}, {"left_out", profile.tree.size() - kept.size()}};
  Json& columns = document["columns"];
  for (const char* name : {"id", "parent", "kind", "name", "where", "function", "ops", "self_ops", "mem", "fp",
                           "entries", "rounds", "verdict", "affine", "region"})
    columns[name] = Json::array();
  for (std::size_t i = 0; i < kept.size(); i++) {
    const profile::TreeNode& node = profile.tree[kept[i]];
    place[kept[i]] = static_cast<std::uint32_t>(i);
    columns["id"].push_back(i == 0 ? kept[i] : kept[i] - kept[i - 1]);
    columns["parent"].push_back(node.parent ? i - place[*node.parent] : 0);
    columns["kind"].push_back(static_cast<int>(node.kind));
    columns["name"].push_back(strings.number(words.frame(node)));
    columns["where"].push_back(strings.number(words.where(node)));
    columns["function"].push_back(strings.number(words.function(node)));
    columns["ops"].push_back(node.ops);
    columns["self_ops"].push_back(node.self_ops);
    columns["mem"].push_back(share(node.mem_ops, node.ops));
    columns["fp"].push_back(share(node.fp_ops, node.ops));
    columns["entries"].push_back(node.entries);
    columns["rounds"].push_back(rounds_of(node).total);
    columns["verdict"].push_back(static_cast<int>(verdicts[kept[i]]));
    columns["affine"].push_back(affine_percent(modelled, kept[i], node.ops));
    columns["region"].push_back(heads[kept[i]]);
  }
  document["strings"] = strings.take();
  return document;
}

}  // namespace loopfold::views
