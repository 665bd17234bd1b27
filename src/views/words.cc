#include "views/words.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <vector>

#include "profile/levels.h"
#include "support/units.h"

namespace loopfold::views {

namespace {

using profile::Counts;
using profile::Source;
using profile::TreeNode;
using Kind = TreeNode::Kind;

/// The end of a path with so many slashes inside it; all of it if there are fewer.
std::string end_of(const std::string& path, std::size_t slashes) {
  std::size_t at = path.size();
  do {
    if (at == 0) return path;
    at = path.rfind('/', at - 1);
    if (at == std::string::npos) return path;
  } while (slashes-- > 0);
  return path.substr(at + 1);
}

std::set<std::string> files_of(const profile::Profile& profile) {
  std::set<std::string> files;
  for (const TreeNode& node : profile.tree) {
    if (node.source) files.insert(node.source->file);
    if (node.call_site) files.insert(node.call_site->file);
  }
  const auto add = [&](const std::optional<Source>& source) {
    if (source) files.insert(source->file);
  };
  for (const profile::Region& region : profile.regions) {
    for (const profile::Loop& loop : region.loops) {
      add(loop.source);
      for (const profile::Reduction& reduction : loop.reductions) add(reduction.source);
      for (const profile::Assumption& assumption : loop.assumes) add(assumption.source);
      for (const profile::Doubt& doubt : loop.unknown) add(doubt.source);
      for (const profile::Blocking& blocking : loop.blocking) {
        add(blocking.source_from);
        add(blocking.source_to);
      }
      for (const auto* list : {&loop.privates, &loop.expand, &loop.reload})
        for (const profile::Touched& touched : *list) add(touched.source);
    }
    for (const profile::Suggestion& suggestion : region.suggestions)
      for (const Source& source : suggestion.where) files.insert(source.file);
  }
  return files;
}

std::unordered_map<std::string, std::string> short_names(const std::set<std::string>& files) {
  constexpr std::size_t kMostSlashes = 8;
  std::unordered_map<std::string, std::string> names;
  std::vector<std::string> left(files.begin(), files.end());
  for (std::size_t slashes = 0; slashes <= kMostSlashes && !left.empty(); slashes++) {
    std::map<std::string, std::size_t> uses;
    for (const std::string& file : left) uses[end_of(file, slashes)]++;
    std::vector<std::string> ambiguous;
    for (const std::string& file : left) {
      const std::string name = end_of(file, slashes);
      if (uses[name] == 1) {
        names[file] = name;
      } else {
        ambiguous.push_back(file);
      }
    }
    left = std::move(ambiguous);
  }
  for (const std::string& file : left) names[file] = file;
  return names;
}

/// 150.5, 27, 1.35 M.
std::string mean_text(double mean) {
  if (mean >= 1e4) return short_count(static_cast<std::uint64_t>(mean));
  const std::string text = fmt::format("{:.1f}", mean);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

Counts rounds_of(const TreeNode& node) {
  const bool plausible = node.iterations <= node.entries || node.trip.total >= node.iterations - node.entries;
  if (node.kind == Kind::kLoop && plausible) return node.trip;
  return node.iterations_per_entry;
}

Words::Words(const profile::Profile& profile, Charset charset)
    : profile_(profile), charset_(charset), files_(short_names(files_of(profile))) {}

std::string Words::file(const std::string& path) const {
  const auto found = files_.find(path);
  const std::string& name = found == files_.end() ? path : found->second;
  return name.empty() ? "?" : inert(name, charset_);
}

std::string Words::place(const Source& source) const {
  return source.line > 0 ? fmt::format("{}:{}", file(source.file), source.line) : file(source.file);
}

std::string Words::where(const TreeNode& node) const {
  if (node.kind == Kind::kRoot) return "";
  if (node.source) return place(*node.source) + profile::hidden_words(node);
  if (node.module.empty()) return fmt::format("{:#x}", node.address);
  return fmt::format("{}+{:#x}{}", inert(node.module, charset_), node.address, profile::hidden_words(node));
}

std::string Words::function(const TreeNode& node) const {
  return node.function.empty() ? "?" : inert(node.function, charset_);
}

std::string Words::frame(const TreeNode& node) const {
  const std::string origin = node.origin.empty() ? "" : inert(node.origin, charset_) + " ";
  switch (node.kind) {
    case Kind::kRoot:
      return profile_.program.argv.empty() ? "program" : inert(end_of(profile_.program.argv[0], 0), charset_);
    case Kind::kLoop:
      return fmt::format("{}{}loop {}", origin, node.irreducible ? "irreducible " : "", where(node));
    case Kind::kRecursion:
      return fmt::format("{}recursion {}", origin, function(node));
    case Kind::kCall:
      break;
  }
  return origin + function(node);
}

std::string Words::rounds(const TreeNode& node) const {
  const Counts counts = rounds_of(node);
  const std::string_view times = charset_ == Charset::kAscii ? "x" : "×";
  if (counts.min == counts.max) return fmt::format("{}{}", times, grouped(counts.max));
  const double mean = node.entries == 0 ? 0 : static_cast<double>(counts.total) / static_cast<double>(node.entries);
  return fmt::format("{}{}..{} (mean {})", times, grouped(counts.min), grouped(counts.max), mean_text(mean));
}

std::string Words::command_line() const {
  if (profile_.program.argv.empty()) return "a program";
  std::string line;
  for (const std::string& word : profile_.program.argv) line += (line.empty() ? "" : " ") + shell_word(word);
  return inert(line, charset_);
}

}  // namespace loopfold::views
