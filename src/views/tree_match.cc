#include "views/tree_match.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "views/children.h"

namespace loopfold::views {

namespace {

using profile::TreeNode;

constexpr std::size_t kMostPairs = 250'000;  // of siblings that are compared
constexpr double kSamePlace = 4;
constexpr double kSameDepth = 2;
constexpr double kSameTrips = 1;
constexpr double kSameFunction = 3;
constexpr double kAnyLoop = 0.5;

std::string_view base_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool same_place(const TreeNode& a, const TreeNode& b) {
  return a.source && b.source && a.source->line == b.source->line && base_of(a.source->file) == base_of(b.source->file);
}

/// What is looked at on one side.
struct Side {
  explicit Side(const profile::Profile& profile) : tree(profile.tree), children(profile.tree), depth(tree.size()) {
    for (std::size_t i = tree.size(); i-- > 0;) {
      if (tree[i].kind == TreeNode::Kind::kLoop) depth[i]++;
      if (tree[i].parent) depth[*tree[i].parent] = std::max(depth[*tree[i].parent], depth[i]);
    }
    whole = tree.empty() ? 1 : std::max<double>(1, static_cast<double>(tree[0].ops));
  }
  double share(std::uint32_t node) const { return static_cast<double>(tree[node].ops) / whole; }
  double trips(std::uint32_t node) const {
    const TreeNode& one = tree[node];
    return one.entries == 0 ? 0 : static_cast<double>(one.trip.total) / static_cast<double>(one.entries);
  }

  const std::vector<TreeNode>& tree;
  Children children;
  std::vector<std::uint32_t> depth;  // loops nested in it, itself included
  double whole = 1;
};

class Matcher {
 public:
  Matcher(const profile::Profile& before, const profile::Profile& after) : a_(before), b_(after) {}

  std::vector<MatchedNode> run() {
    if (a_.tree.empty() || b_.tree.empty()) return {};
    std::vector<MatchedNode> waiting{{std::nullopt, 0, 0}};
    while (!waiting.empty()) {
      const MatchedNode node = waiting.back();
      waiting.pop_back();
      const auto place = static_cast<std::uint32_t>(matched_.size());
      matched_.push_back(node);
      std::vector<MatchedNode> below = pairs_below(node);
      for (auto one = below.rbegin(); one != below.rend(); ++one) {
        one->parent = place;
        waiting.push_back(*one);
      }
    }
    return std::move(matched_);
  }

 private:
  /// How well two nodes fit; 0: they are not the same.
  double fit(std::uint32_t a, std::uint32_t b) const {
    const TreeNode& one = a_.tree[a];
    const TreeNode& other = b_.tree[b];
    if (one.kind != other.kind || one.origin != other.origin) return 0;
    const double likeness = 1 - std::abs(a_.share(a) - b_.share(b));
    if (one.kind != TreeNode::Kind::kLoop) return one.function == other.function ? kSameFunction + likeness : 0;
    if (one.function != other.function && one.inlined.empty() && other.inlined.empty() && !same_place(one, other))
      return a_.tree[*one.parent].function == b_.tree[*other.parent].function ? 0 : kAnyLoop;
    double sum = kAnyLoop + likeness;
    if (same_place(one, other)) sum += kSamePlace;
    if (a_.depth[a] == b_.depth[b]) sum += kSameDepth;
    if (a_.trips(a) == b_.trips(b)) sum += kSameTrips;
    return sum;
  }

  std::vector<MatchedNode> pairs_below(const MatchedNode& node) const {
    const std::span<const std::uint32_t> none;
    const std::span<const std::uint32_t> left = node.before ? a_.children.of(*node.before) : none;
    const std::span<const std::uint32_t> right = node.after ? b_.children.of(*node.after) : none;
    std::vector<std::optional<std::size_t>> partner(left.size());
    std::vector<bool> taken(right.size());
    if (left.size() * right.size() <= kMostPairs) align(left, right, partner, taken);
    pair_rest(left, right, partner, taken);
    return in_order(left, right, partner, taken);
  }

  /// The pairs in order with the greatest sum: best[i][j] is that of the children from i and from j on.
  void align(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
             std::vector<std::optional<std::size_t>>& partner, std::vector<bool>& taken) const {
    const std::size_t width = right.size() + 1;
    std::vector<double> best((left.size() + 1) * width);
    std::vector<double> fits(left.size() * right.size());
    for (std::size_t i = left.size(); i-- > 0;) {
      for (std::size_t j = right.size(); j-- > 0;) {
        const double pair = fits[i * right.size() + j] = fit(left[i], right[j]);
        const double skip = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
        best[i * width + j] = pair > 0 ? std::max(skip, pair + best[(i + 1) * width + j + 1]) : skip;
      }
    }
    for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      const double pair = fits[i * right.size() + j];
      const double here = best[i * width + j];
      if (pair > 0 && here == pair + best[(i + 1) * width + j + 1]) {
        partner[i] = j;
        taken[j] = true;
        i++;
        j++;
      } else if (here == best[(i + 1) * width + j]) {
        i++;
      } else {
        j++;
      }
    }
  }

  /// What has the same name and is left over, whatever its order.
  void pair_rest(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                 std::vector<std::optional<std::size_t>>& partner, std::vector<bool>& taken) const {
    std::size_t next = 0;
    for (std::size_t i = 0; i < left.size(); i++) {
      if (partner[i]) continue;
      const TreeNode& one = a_.tree[left[i]];
      const auto same = [&](std::size_t j) {
        const TreeNode& other = b_.tree[right[j]];
        if (taken[j] || one.kind != other.kind || one.function != other.function) return false;
        return one.kind != TreeNode::Kind::kLoop || same_place(one, other);
      };
      std::size_t tries = std::min(right.size(), kMostPairs / std::max<std::size_t>(1, left.size()) + 8);
      for (std::size_t k = 0; k < tries && !partner[i]; k++) {
        const std::size_t j = (next + k) % right.size();
        if (!same(j)) continue;
        partner[i] = j;
        taken[j] = true;
        next = j + 1;
      }
    }
  }

  /// As they come after the change; what is gone stands where it was, behind its predecessor.
  static std::vector<MatchedNode> in_order(std::span<const std::uint32_t> left, std::span<const std::uint32_t> right,
                                           const std::vector<std::optional<std::size_t>>& partner,
                                           const std::vector<bool>& taken) {
    std::vector<std::optional<std::size_t>> back(right.size());
    for (std::size_t i = 0; i < left.size(); i++)
      if (partner[i]) back[*partner[i]] = i;
    std::vector<MatchedNode> list;
    std::size_t gone = 0;
    const auto add_gone = [&](std::size_t until) {
      for (; gone < until; gone++)
        if (!partner[gone]) list.push_back({std::nullopt, left[gone], std::nullopt});
    };
    for (std::size_t j = 0; j < right.size(); j++) {
      if (taken[j]) {
        add_gone(*back[j]);
        list.push_back({std::nullopt, left[*back[j]], right[j]});
      } else {
        list.push_back({std::nullopt, std::nullopt, right[j]});
      }
    }
    add_gone(left.size());
    return list;
  }

  Side a_;
  Side b_;
  std::vector<MatchedNode> matched_;
};

}  // namespace

std::vector<MatchedNode> match_trees(const profile::Profile& before, const profile::Profile& after) {
  return Matcher(before, after).run();
}

}  // namespace loopfold::views
