#include "views/written_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace loopfold::views {

namespace {

using profile::Profile;
using profile::Statement;

/// Something that has a place in a node of the tree: a statement, or a node below it.
struct Item {
  bool is_node = false;
  std::uint32_t id = 0;
  friend auto operator<=>(const Item&, const Item&) = default;
};

/// What runs in one node: its items with the first statement of each, and which must come before which.
struct Body {
  std::map<Item, std::uint32_t> first;  // the smallest statement in it
  std::map<Item, std::set<Item>> behind;
};

/// Items in an order that keeps `behind`, the earliest first; by first statement alone if that goes round in a circle.
std::vector<Item> in_order(const Body& body) {
  std::map<Item, std::size_t> waits;
  for (const auto& [item, first] : body.first) waits[item] = 0;
  for (const auto& [before, items] : body.behind)
    for (const Item& item : items) waits[item]++;
  std::set<std::pair<std::uint32_t, Item>> ready;
  for (const auto& [item, count] : waits)
    if (count == 0) ready.emplace(body.first.at(item), item);
  std::vector<Item> order;
  while (!ready.empty()) {
    const Item item = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(item);
    const auto behind = body.behind.find(item);
    if (behind == body.behind.end()) continue;
    for (const Item& next : behind->second)
      if (--waits[next] == 0) ready.emplace(body.first.at(next), next);
  }
  if (order.size() == body.first.size()) return order;
  std::vector<std::pair<std::uint32_t, Item>> by_first;
  for (const auto& [item, first] : body.first) by_first.emplace_back(first, item);
  std::sort(by_first.begin(), by_first.end());
  order.clear();
  for (const auto& [first, item] : by_first) order.push_back(item);
  return order;
}

class Order {
 public:
  Order(const Profile& profile, std::uint32_t top, const std::vector<std::uint32_t>& statements)
      : profile_(profile), top_(top) {
    for (const std::uint32_t id : statements) {
      const std::vector<Item> path = path_of(id);
      paths_[id] = path;
      for (std::size_t i = 0; i < path.size(); i++) bodies_[parent(path, i)].first.try_emplace(path[i], id);
    }
    for (const profile::Dependence& dependence : profile.dependences) add(dependence);
    for (const auto& [node, body] : bodies_) {
      std::uint32_t place = 0;
      for (const Item& item : in_order(body)) places_[{node, item}] = place++;
    }
  }

  std::vector<Time> times(std::uint32_t id) const {
    const Statement& statement = profile_.statements[id];
    const std::vector<Item>& path = paths_.at(id);
    std::vector<Time> times;
    std::vector<bool> used(statement.loops.size());
    const auto inside = [&](std::uint32_t node) {
      return std::find(path.begin(), path.end(), Item{true, node}) != path.end();
    };
    for (std::uint32_t c = 0; c < statement.loops.size(); c++) {
      if (statement.loops[c] && inside(*statement.loops[c])) continue;
      times.push_back({false, c});
      used[c] = true;
    }
    for (std::size_t i = 0; i < path.size(); i++) {
      times.push_back({true, places_.at({parent(path, i), path[i]})});
      for (std::uint32_t c = 0; path[i].is_node && c < statement.loops.size(); c++)
        if (!used[c] && statement.loops[c] == path[i].id) times.push_back({false, c});
    }
    return times;
  }

 private:
  /// From below `top` down to the statement.
  std::vector<Item> path_of(std::uint32_t id) const {
    std::vector<Item> path = {{false, id}};
    for (std::uint32_t node = profile_.statements[id].node; node != top_ && profile_.tree[node].parent;
         node = *profile_.tree[node].parent)
      path.push_back({true, node});
    std::reverse(path.begin(), path.end());
    return path;
  }

  std::uint32_t parent(const std::vector<Item>& path, std::size_t i) const { return i == 0 ? top_ : path[i - 1].id; }

  /// What goes from one item to another within an iteration of what is around both.
  void add(const profile::Dependence& dependence) {
    if (!dependence.from) return;
    const auto from = paths_.find(*dependence.from);
    const auto to = paths_.find(dependence.to);
    if (from == paths_.end() || to == paths_.end() || from == to) return;
    const auto within = [](const profile::Carried& carried) { return !carried.node; };
    if (std::none_of(dependence.carried.begin(), dependence.carried.end(), within)) return;
    std::size_t i = 0;
    while (from->second[i] == to->second[i]) i++;
    bodies_[parent(from->second, i)].behind[from->second[i]].insert(to->second[i]);
  }

  const Profile& profile_;
  std::uint32_t top_;
  std::map<std::uint32_t, std::vector<Item>> paths_;  // by statement
  std::map<std::uint32_t, Body> bodies_;              // by node
  std::map<std::pair<std::uint32_t, Item>, std::uint32_t> places_;
};

}  // namespace

std::vector<std::uint32_t> statements_of(const Profile& profile, const profile::Region& region) {
  std::vector<bool> inside(profile.tree.size());
  if (!region.loops.empty())
    for (const std::uint32_t node : region.loops.front().nodes) inside[node] = true;
  inside[region.node] = true;
  for (std::size_t i = 0; i < profile.tree.size(); i++)
    if (profile.tree[i].parent && inside[*profile.tree[i].parent]) inside[i] = true;
  std::vector<std::uint32_t> statements;
  for (const Statement& statement : profile.statements)
    if (inside[statement.node]) statements.push_back(statement.id);
  return statements;
}

std::vector<std::vector<Time>> written_order(const Profile& profile, const profile::Region& region,
                                             const std::vector<std::uint32_t>& statements) {
  const Order order(profile, profile.tree[region.node].parent.value_or(0), statements);
  std::vector<std::vector<Time>> rows;
  std::size_t length = 0;
  for (const std::uint32_t id : statements) {
    rows.push_back(order.times(id));
    length = std::max(length, rows.back().size());
  }
  for (std::vector<Time>& row : rows) row.resize(length, Time{true, 0});
  return rows;
}

std::string written_schedule(const Profile& profile, const profile::Region& region) {
  const std::vector<std::uint32_t> statements = statements_of(profile, region);
  const std::vector<std::vector<Time>> rows = written_order(profile, region, statements);
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < statements.size(); i++) {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < profile.statements[statements[i]].loops.size(); c++)
      names.push_back(fmt::format("i{}", c));
    std::vector<std::string> times;
    for (const Time& time : rows[i]) times.push_back(fmt::format("{}{}", time.is_place ? "" : "i", time.value));
    entries.push_back(fmt::format("S{}[{}] -> [{}]", statements[i], fmt::join(names, ", "), fmt::join(times, ", ")));
  }
  return fmt::format("{{ {} }}", fmt::join(entries, "; "));
}

}  // namespace loopfold::views
