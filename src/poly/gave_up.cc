#include "poly/gave_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "poly/functions.h"

namespace loopfold::poly {

namespace {

/// An instruction of a statement; all of them.
using InstructionKey = std::pair<ddg::StatementId, std::uint32_t>;
constexpr std::uint32_t kAllInstructions = 0xffffffff;

/// How many instances of each instruction are concerned: the most that one stream says.
class Concerned {
 public:
  void add(InstructionKey key, std::uint64_t instances) {
    std::uint64_t& most = instances_[key];
    most = std::max(most, instances);
  }
  void add(const Concerned& other) {
    for (const auto& [key, instances] : other.instances_) add(key, instances);
  }
  /// Instructions executed, each counted once: where all of a statement are concerned, single ones do not add to that.
  std::uint64_t total() const {
    std::uint64_t total = 0;
    std::uint64_t single = 0;
    ddg::StatementId statement = ddg::kNoStatement;
    for (const auto& [key, instances] : instances_) {
      if (key.first != statement) total += std::exchange(single, 0);
      statement = key.first;
      single = key.second == kAllInstructions ? std::max(single, instances) : single + instances;
    }
    return total + single;
  }

 private:
  std::map<InstructionKey, std::uint64_t> instances_;
};

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
}

/// What kind of thing is not exact.
enum class Kind : std::uint8_t { kDomain, kAddress, kValue, kDependence, kOther };
constexpr std::size_t kKinds = 5;

/// "2 domains, 1 address".
std::string kinds_text(const std::array<std::size_t, kKinds>& counts) {
  static constexpr std::string_view kOne[] = {"domain", "address", "integer result", "dependence", "other"};
  static constexpr std::string_view kMany[] = {"domains", "addresses", "integer results", "dependences", "others"};
  std::vector<std::string> parts;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    if (counts[kind] != 0)
      parts.push_back(fmt::format("{} {}", counts[kind], counts[kind] == 1 ? kOne[kind] : kMany[kind]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// One or more things that were given up.
struct Entry {
  std::string what;
  std::string why;
  std::string where;   // the function
  std::string reason;  // as `why`, but without the loop
  std::array<std::size_t, kKinds> counts{};
  Concerned concerned;
  std::uint64_t instructions = 0;
  bool by_function = false;  // `what` is made from the counts

  void add(const Entry& other) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) counts[kind] += other.counts[kind];
    concerned.add(other.concerned);
  }
};

void sort_by_share(std::vector<Entry>& entries) {
  for (Entry& entry : entries) entry.instructions = entry.concerned.total();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(b.instructions, a.what, a.why) < std::tie(a.instructions, b.what, b.why);
  });
}

/// The entries from `first` on, put together by `key`, which becomes part of their names.
template <typename Key>
std::vector<Entry> grouped(const std::vector<Entry>& entries, std::size_t first, const Key& key) {
  std::map<std::pair<std::string, std::string>, Entry> groups;
  for (std::size_t i = first; i < entries.size(); ++i) {
    const std::pair<std::string, std::string> name = key(entries[i]);
    Entry& group = groups[name];
    group.where = group.what = name.first;
    group.why = group.reason = name.second;
    group.add(entries[i]);
  }
  std::vector<Entry> result;
  for (auto& [name, group] : groups) {
    group.what = fmt::format("{} {}", kinds_text(group.counts), group.where);
    result.push_back(std::move(group));
  }
  sort_by_share(result);
  return result;
}

/// At most kMost entries: the largest as they are, others by function and reason, and what is left as one.
std::vector<Entry> shortened(std::vector<Entry> entries) {
  constexpr std::size_t kMost = 50;
  constexpr std::size_t kAsTheyAre = 25;
  if (entries.size() <= kMost) return entries;
  std::vector<Entry> groups =
      grouped(entries, kAsTheyAre, [](const Entry& entry) { return std::pair(entry.where, entry.reason); });
  entries.resize(kAsTheyAre);
  constexpr std::size_t kGroups = kMost - kAsTheyAre - 1;
  if (groups.size() > kGroups + 1) {
    const std::string rest = fmt::format("in {} other places", groups.size() - kGroups);
    std::vector<Entry> last =
        grouped(groups, kGroups, [&](const Entry&) { return std::pair(rest, std::string("too many to be listed")); });
    groups.resize(kGroups);
    groups.push_back(std::move(last.front()));
  }
  entries.insert(entries.end(), std::make_move_iterator(groups.begin()), std::make_move_iterator(groups.end()));
  sort_by_share(entries);
  return entries;
}

class Collector {
 public:
  Collector(const ddg::Graph& graph, const Context& context, const profile::Profile& profile)
      : graph_(graph), context_(context), names_(context.locate), profile_(profile) {}

  std::vector<profile::GaveUp> run() {
    for (const ddg::Statement& statement : graph_.statements) look_at(statement);
    for (const ddg::Access& access : graph_.accesses) look_at(access);
    for (const ddg::Value& value : graph_.values) look_at(value);
    for (const ddg::Dependence& dependence : graph_.dependences) look_at(dependence);
    for (const ddg::GaveUp& gave_up : graph_.gave_up) look_at(gave_up);
    std::vector<Entry> entries;
    for (auto& [name, entry] : found_) {
      if (entry.by_function) entry.what = fmt::format("{} {}", kinds_text(entry.counts), entry.where);
      entries.push_back(std::move(entry));
    }
    sort_by_share(entries);
    std::vector<profile::GaveUp> result;
    for (const Entry& entry : shortened(std::move(entries)))
      result.push_back({entry.what, entry.why, share_of(entry.instructions, profile_.program.instructions)});
    return result;
  }

 private:
  const ddg::Statement& statement(ddg::StatementId id) const { return graph_.statements[id]; }
  /// 0 if there is none.
  std::uint64_t address(InstructionKey key) const {
    const std::vector<ddg::Instruction>& instructions = statement(key.first).instructions;
    const std::size_t at = key.second == kAllInstructions ? 0 : key.second;
    return at < instructions.size() ? instructions[at].address : 0;
  }

  struct Why {
    std::string text;
    std::string reason;
  };

  /// One more thing that is not exact, with the statement and instruction that it concerns. It is called `what` if the
  /// line of that is known; else things are put together by function.
  void add(Kind kind, const std::string& what, const Why& why, InstructionKey key, std::uint64_t instances) {
    const std::string where = in_function(key);
    const bool by_function = key.first != ddg::kNoStatement && names_.line(address(key)).empty();
    Entry& entry = found_[{by_function ? where : what, by_function ? why.reason : why.text}];
    if (entry.where.empty()) {
      entry.what = what;
      entry.why = by_function ? why.reason : why.text;
      entry.reason = why.reason;
      entry.where = where;
      entry.by_function = by_function;
    }
    entry.counts[static_cast<std::size_t>(kind)]++;
    entry.concerned.add(key, instances);
  }

  /// "in main (hist)", "in gzip+0x6a40".
  std::string in_function(InstructionKey key) const {
    if (key.first == ddg::kNoStatement) return "in the run as a whole";
    return "in " + function_name(key);
  }

  /// Code without symbols is in the function that the tree knows.
  std::string function_name(InstructionKey key) const {
    const symbols::Location& location = context_.locate(address(key));
    if (location.module.empty()) return "generated code";
    if (!location.function.empty()) return fmt::format("{} ({})", location.function, location.module);
    return profile_.tree[context_.nodes[statement(key.first).context]].function;
  }

  /// "hist.c:12", "main (hist)", "gzip+0x6a40".
  std::string name(InstructionKey key) const {
    const std::string line = names_.line(address(key));
    return line.empty() ? function_name(key) : line;
  }

  /// "at hist.c:12", "in main (hist)".
  std::string phrase(InstructionKey key) const {
    return (names_.line(address(key)).empty() ? "in " : "at ") + name(key);
  }

  void look_at(const ddg::GaveUp& from) {
    const InstructionKey key{from.statement, kAllInstructions};
    const bool known = from.statement != ddg::kNoStatement;
    add(Kind::kOther, known ? fmt::format("{} {}", from.what, phrase(key)) : from.what, {from.why, from.why}, key,
        from.instructions);
  }

  void look_at(const ddg::Statement& from) {
    if (from.domain.exact() || from.instructions.empty()) return;
    const InstructionKey key{from.id, kAllInstructions};
    add(Kind::kDomain, fmt::format("domain of {}", name(key)), why(from.domain, from.context), key,
        from.count * from.instructions.size());
  }

  void look_at(const ddg::Access& from) {
    if (from.address.exact()) return;
    const InstructionKey key{from.statement, from.instruction};
    add(Kind::kAddress, fmt::format("address of the {} {}", from.store ? "store" : "load", phrase(key)),
        why(from.address, statement(from.statement).context), key, from.address.points);
  }

  void look_at(const ddg::Value& from) {
    if (!from.value.gave_up) return;
    const InstructionKey key{from.statement, from.instruction};
    add(Kind::kValue, fmt::format("integer result {}", phrase(key)), why(from.value, statement(from.statement).context),
        key, from.value.points);
  }

  void look_at(const ddg::Dependence& from) {
    if (from.map.exact()) return;
    const InstructionKey key{from.to, from.to_instruction};
    const std::string what =
        from.from == ddg::kNoStatement
            ? fmt::format("producer of what {} reads", name(key))
            : fmt::format("dependence {} -> {}", name({from.from, from.from_instruction}), name(key));
    add(Kind::kDependence, what, why(from.map, statement(from.to).context), key, from.map.points);
  }

  /// The folder's own words if it gave up; else what it is not affine along.
  Why why(const fold::Folded& folded, structure::ContextId context) const {
    if (folded.gave_up) {
      std::string text = folded.why.empty() ? "not a union of few polyhedra" : folded.why;
      if (text.starts_with("more than")) text = "would need " + text;
      return {text, text};
    }
    const std::vector<bool> top = top_coordinates(folded);
    const std::vector<std::uint32_t> nodes = nodes_of_coordinates(context_, context);
    std::vector<std::string> along;
    for (std::size_t k = 0; k < top.size(); ++k)
      if (top[k]) along.push_back(k == 0 ? "threads" : k < nodes.size() ? node_name(nodes[k]) : "its parts");
    return {along.empty() ? "not affine" : fmt::format("not affine along {}", fmt::join(along, ", ")), "not affine"};
  }

  std::string node_name(std::uint32_t id) const {
    const profile::TreeNode& node = profile_.tree[id];
    if (node.kind == profile::TreeNode::Kind::kRecursion) return fmt::format("the recursion of {}", node.function);
    if (node.source) return fmt::format("the loop at {}:{}", base_name(node.source->file), node.source->line);
    return fmt::format("a loop in {}", node.function);
  }

  const ddg::Graph& graph_;
  const Context& context_;
  PlaceNames names_;
  const profile::Profile& profile_;
  std::map<std::pair<std::string, std::string>, Entry> found_;  // by what and why
};

}  // namespace

void add_gave_up(const ddg::Graph& graph, const Context& context, profile::Profile& profile) {
  profile.gave_up = Collector(graph, context, profile).run();
}

std::uint64_t inexact_instructions(const ddg::Graph& graph) {
  Concerned concerned;
  std::uint64_t whole_statements = 0;
  const auto covered = [&](ddg::StatementId id) { return !graph.statements[id].domain.exact(); };
  for (const ddg::Statement& statement : graph.statements)
    if (covered(statement.id)) whole_statements += statement.count * statement.instructions.size();
  for (const ddg::Access& access : graph.accesses)
    if (!access.address.exact() && !covered(access.statement))
      concerned.add({access.statement, access.instruction}, access.address.points);
  for (const ddg::Dependence& dependence : graph.dependences)
    if (!dependence.map.exact() && !covered(dependence.to))
      concerned.add({dependence.to, dependence.to_instruction}, dependence.map.points);
  return whole_statements + graph.unkept_instructions + concerned.total();
}

}  // namespace loopfold::poly
