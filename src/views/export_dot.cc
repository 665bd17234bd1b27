#include "views/export_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "profile/json.h"
#include "support/units.h"
#include "views/words.h"

namespace loopfold::views {

namespace {

using profile::Profile;

constexpr std::size_t kMostListed = 3;  // distances, objects in a label
constexpr std::size_t kMostLines = 3;
constexpr std::string_view kLegend =
    "gray: values in registers; blue: in memory; purple: control; orange: files and the system\\n"
    "(0,1): how many iterations later it is used, outermost loop first; none: in the same iteration; dashed: not exact";

/// For a quoted string. The text must be inert.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// All dependences of one kind between two statements.
struct Arrow {
  std::uint64_t count = 0;
  std::vector<std::string> distances;  // distinct, in order of appearance; not those between parts of one iteration
  std::vector<std::string> objects;    // distinct
  bool exact = true;
};

void add_distinct(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

/// The first few of them.
std::string listed(const std::vector<std::string>& list, const char* between) {
  const std::vector<std::string> first(list.begin(),
                                       list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), kMostListed)));
  return fmt::format("{}{}", fmt::join(first, between), list.size() > kMostListed ? " …" : "");
}

/// "(0,1)"; nothing if producer and consumer are in the same iteration of all loops around both, or in none.
std::string distance_text(const profile::Dependence& dependence) {
  const auto zero = [](const profile::Coefficient& part) { return part == 0; };
  if (!dependence.distance || std::all_of(dependence.distance->begin(), dependence.distance->end(), zero)) return "";
  std::vector<std::string> parts;
  for (const profile::Coefficient& part : *dependence.distance) parts.push_back(part ? std::to_string(*part) : "*");
  return fmt::format("({})", fmt::join(parts, ","));
}

std::string_view color(profile::Dependence::Kind kind) {
  switch (kind) {
    case profile::Dependence::Kind::kRegister:
      return "gray40";
    case profile::Dependence::Kind::kMemory:
      return "blue3";
    case profile::Dependence::Kind::kControl:
      return "purple3";
    case profile::Dependence::Kind::kEnvironment:
      return "darkorange3";
  }
  return "black";
}

std::string_view fill(profile::Statement::Kind kind) {
  return kind == profile::Statement::Kind::kCode ? "white" : "lightyellow";
}

class DotWriter {
 public:
  DotWriter(const Profile& profile, const Writer& writer) : profile_(profile), words_(profile), writer_(writer) {}

  bool run() {
    put("digraph loopfold {\n");
    put(fmt::format("  label=\"{}\\n{}\";\n", escaped(words_.command_line()), kLegend));
    put("  labelloc=t; fontname=\"sans-serif\"; fontsize=11; compound=true; newrank=true;\n");
    put("  node [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=10];\n");
    put("  edge [fontname=\"sans-serif\", fontsize=8];\n");
    clusters();
    arrows();
    put("}\n");
    return good_;
  }

 private:
  void put(const std::string& text) { good_ = good_ && writer_(text); }

  /// The tree is in depth-first order: a cluster is open while its node is on the way to the next one.
  void clusters() {
    std::vector<std::vector<const profile::Statement*>> statements(profile_.tree.size());
    std::vector<bool> filled(profile_.tree.size(), false);
    for (const profile::Statement& statement : profile_.statements) {
      statements[statement.node].push_back(&statement);
      filled[statement.node] = true;
    }
    for (std::size_t i = profile_.tree.size(); i-- > 1;)
      if (filled[i]) filled[*profile_.tree[i].parent] = true;
    std::vector<std::uint32_t> open;
    for (const profile::TreeNode& node : profile_.tree) {
      if (!filled[node.id]) continue;
      while (!open.empty() && node.parent && open.back() != *node.parent) close(open);
      if (node.parent) open_cluster(node, open);
      for (const profile::Statement* statement : statements[node.id]) box(*statement);
    }
    while (!open.empty()) close(open);
  }

  void open_cluster(const profile::TreeNode& node, std::vector<std::uint32_t>& open) {
    open.push_back(node.id);
    const bool loop = node.kind != profile::TreeNode::Kind::kCall;
    const std::string rounds = loop ? " " + words_.rounds(node) : "";
    put(fmt::format("subgraph cluster_{} {{\n  label=\"{}{}\"; style=\"{}\"; color=\"{}\"; fontsize=10;\n", node.id,
                    escaped(words_.frame(node)), escaped(rounds), loop ? "rounded,filled" : "rounded",
                    loop ? "steelblue" : "gray70"));
    if (loop) put("  fillcolor=\"#4682b418\";\n");
  }

  void close(std::vector<std::uint32_t>& open) {
    open.pop_back();
    put("}\n");
  }

  void box(const profile::Statement& statement) {
    std::vector<std::string> lines;
    if (!statement.call.empty()) lines.push_back(words_.text(statement.call));
    for (const profile::Source& source : statement.source)
      if (lines.size() < kMostLines) lines.push_back(words_.place(source));
    if (statement.source.size() > kMostLines) lines.emplace_back("…");
    if (lines.empty()) lines.push_back(words_.text(statement.code ? profile_.code[*statement.code].function : ""));
    std::string label = statement.name;
    for (const std::string& line : lines) label += "\\n" + escaped(line);
    put(fmt::format("  {} [label=\"{}\\n{}×{}\", fillcolor={}];\n", statement.name, label,
                    statement.exact ? "" : "not exact, ", short_count(statement.count), fill(statement.kind)));
  }

  void arrows() {
    std::map<std::tuple<std::optional<std::uint32_t>, std::uint32_t, profile::Dependence::Kind>, Arrow> all;
    for (const profile::Dependence& dependence : profile_.dependences) {
      Arrow& arrow = all[{dependence.from, dependence.to, dependence.kind}];
      arrow.count += dependence.count;
      arrow.exact = arrow.exact && dependence.exact;
      add_distinct(arrow.distances, distance_text(dependence));
      if (dependence.object) add_distinct(arrow.objects, words_.text(profile_.objects[*dependence.object].name));
    }
    for (const auto& [key, arrow] : all) {
      const auto& [from, to, kind] = key;
      put(fmt::format("  {} -> {} [label=\"{}\", color={}, fontcolor={}, style={}];\n",
                      from ? profile_.statements[*from].name : "unknown", profile_.statements[to].name,
                      label(kind, arrow), color(kind), color(kind), arrow.exact ? "solid" : "dashed"));
    }
  }

  /// Registers: how far. Memory: through what, how far and how often.
  static std::string label(profile::Dependence::Kind kind, const Arrow& arrow) {
    const std::string distances = listed(arrow.distances, " ");
    if (kind == profile::Dependence::Kind::kRegister) return escaped(distances);
    std::string text = escaped(listed(arrow.objects, ", "));
    if (!distances.empty()) text += (text.empty() ? "" : "\\n") + escaped(distances);
    return fmt::format("{}{}×{}", text, text.empty() ? "" : "\\n", short_count(arrow.count));
  }

  const Profile& profile_;
  Words words_;
  const Writer& writer_;
  bool good_ = true;
};

}  // namespace

bool write_dot(const Profile& profile, const Writer& writer) { return DotWriter(profile, writer).run(); }

}  // namespace loopfold::views
