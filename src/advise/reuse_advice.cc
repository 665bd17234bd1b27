#include "advise/reuse_advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/suggest.h"

namespace loopfold::advise {

namespace {

using profile::Loop;
using profile::Requirement;
using profile::Suggestion;

const Loop* row_of(const profile::Region& region, std::uint32_t node) {
  for (const Loop& loop : region.loops)
    if (std::find(loop.nodes.begin(), loop.nodes.end(), node) != loop.nodes.end()) return &loop;
  return nullptr;
}

/// An interchange that the suggestion may come behind.
bool is_moved(std::uint32_t node, const std::vector<Suggestion>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Suggestion& other) {
    return other.rule == "LF-ICH" && std::find(other.loops.begin(), other.loops.end(), node) != other.loops.end();
  });
}

/// Of a loop that must be made innermost before, whether that is suggested by itself or not.
bool is_for_new_order(const Suggestion& suggestion) {
  return suggestion.title.find(kOnceInnermost) != std::string::npos;
}

bool is_as_written(const Suggestion& suggestion, const std::vector<Suggestion>& all) {
  if (suggestion.loops.size() != 1) return false;
  if (suggestion.rule == "LF-PAR" || suggestion.rule == "LF-RED") return true;
  return suggestion.rule == "LF-SIMD" && !is_for_new_order(suggestion) && !is_moved(suggestion.loops.front(), all);
}

/// What is suggested for a loop whose iterations keep their order is about blocks of them; the row speaks of single
/// ones.
bool is_about_blocks(const Loop& row) {
  return row.blocks && row.parallel != Loop::Parallel::kYes && row.parallel != Loop::Parallel::kReduction;
}

void add(const Loop& row, Suggestion& suggestion) {
  std::vector<Requirement> list;
  const auto is_reduced = [&](const profile::Touched& touched) {
    return std::any_of(row.reductions.begin(), row.reductions.end(), [&](const profile::Reduction& reduction) {
      return !reduction.variable.empty() && reduction.variable == touched.variable;
    });
  };
  for (const profile::Touched& touched : row.privates)
    if (!is_reduced(touched))
      list.push_back({"private", touched_name(touched), row.node, touched.clause, std::nullopt});
  for (const profile::Touched& touched : row.expand)
    list.push_back({"expand", touched_name(touched), row.node, "", touched.bytes});
  suggestion.requirements.insert(suggestion.requirements.begin(), list.begin(), list.end());
}

}  // namespace

std::string touched_name(const profile::Touched& touched) {
  if (!touched.variable.empty() || !touched.source) return touched.variable;
  const std::string& file = touched.source->file;
  return fmt::format("what {}:{} writes", file.substr(file.rfind('/') + 1), touched.source->line);
}

void require_reuse(const profile::Region& region, std::vector<Suggestion>& suggestions) {
  for (Suggestion& suggestion : suggestions) {
    if (!is_as_written(suggestion, suggestions)) continue;
    const Loop* const row = row_of(region, suggestion.loops.front());
    if (row == nullptr) continue;
    if (is_about_blocks(*row)) continue;
    if (row->reuse == Loop::Reuse::kUnknown) {
      if (!row->reuse_why.empty())
        suggestion.evidence.push_back(fmt::format("memory reuse is not known: {}", row->reuse_why));
      continue;
    }
    std::erase_if(suggestion.requirements, [](const Requirement& requirement) {
      return requirement.kind == "unknown" && requirement.variable.empty();
    });
    add(*row, suggestion);
    suggestion.legal = Suggestion::Legal::kYes;
  }
}

}  // namespace loopfold::advise
