#include "views/export_sarif.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "support/utf8.h"
#include "support/version.h"
#include "views/advice_words.h"
#include "views/report_words.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;
using profile::Suggestion;

constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kRules{{
    {"LF-PAR", "Run the iterations of a loop in parallel"},
    {"LF-RED", "Run a loop in parallel as a reduction"},
    {"LF-SIMD", "Vectorise a loop"},
    {"LF-ICH", "Interchange loops"},
    {"LF-TIL", "Tile loops"},
    {"LF-SKW", "Skew loops"},
    {"LF-FUS", "Fuse loops"},
    {"LF-DIS", "Distribute a loop"},
    {"LF-SPC", "Specialise a call"},
    {"LF-PRV", "Make a variable private"},
    {"LF-EXP", "Expand a variable"},
    {"LF-CON", "Contract an array"},
    {"LF-LAY", "Change the layout of data"},
}};

Json message(const std::string& text) { return {{"text", valid_utf8(text)}}; }

Json location(const profile::Source& source) {
  Json physical = {{"artifactLocation", {{"uri", uri_of(source.file)}}}};
  if (source.line > 0) physical["region"] = {{"startLine", source.line}};
  return {{"physicalLocation", physical}};
}

std::string text_of(const Suggestion& suggestion, const AdviceWords& words) {
  std::string text = suggestion.title;
  if (!text.ends_with('.')) text += '.';
  std::vector<std::string> needs;
  for (const profile::Requirement& requirement : suggestion.requirements)
    needs.push_back(words.requirement(requirement));
  if (!needs.empty()) text += fmt::format(" Requires: {}.", fmt::join(needs, "; "));
  text += fmt::format(" Gain of the whole program: {}", AdviceWords::gain(suggestion.gain));
  if (!suggestion.estimate.empty()) text += fmt::format(" ({})", suggestion.estimate);
  return text + fmt::format(". Legal for what this run did: {}.", AdviceWords::legal(suggestion.legal));
}

Json result(const Suggestion& suggestion, const profile::Region& region, std::size_t rule, const AdviceWords& words) {
  Json json = {{"ruleId", valid_utf8(suggestion.rule)},
               {"ruleIndex", rule},
               {"level", suggestion.legal == Suggestion::Legal::kYes ? "warning" : "note"},
               {"message", message(text_of(suggestion, words))},
               {"locations", Json::array()}};
  for (std::size_t i = 0; i < suggestion.where.size(); i++) {
    if (i == 0) {
      json["locations"].push_back(location(suggestion.where[i]));
      continue;
    }
    Json related = location(suggestion.where[i]);
    related["id"] = i;
    json["relatedLocations"].push_back(related);
  }
  Json evidence = Json::array();
  for (const std::string& line : suggestion.evidence) evidence.push_back(valid_utf8(line));
  json["properties"] = {{"region", region.id},
                        {"gain", suggestion.gain},
                        {"legal", AdviceWords::legal(suggestion.legal)},
                        {"evidence", evidence}};
  return json;
}

}  // namespace

std::string rule_summary(const std::string& rule) {
  for (const auto& [name, text] : kRules)
    if (name == rule) return std::string(text);
  return rule;
}

std::string uri_of(const std::string& file) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos);
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

std::string sarif_text(const profile::Profile& profile) {
  const ReportWords report(profile);
  const AdviceWords words(report);
  std::vector<const profile::Region*> regions;
  for (const profile::Region& region : profile.regions) regions.push_back(&region);
  Json rules = Json::array();
  Json results = Json::array();
  std::map<std::string, std::size_t> numbers;
  for (const RankedSuggestion& ranked : ranked_suggestions(regions)) {
    const std::string& rule = ranked.suggestion->rule;
    const auto [at, is_new] = numbers.try_emplace(rule, numbers.size());
    if (is_new) rules.push_back({{"id", valid_utf8(rule)}, {"shortDescription", message(rule_summary(rule))}});
    results.push_back(result(*ranked.suggestion, *ranked.region, at->second, words));
  }
  Json notes = Json::array();
  for (const profile::Quality& entry : profile.quality)
    notes.push_back({{"level", "note"}, {"message", message(fmt::format("{}: {}", entry.kind, entry.text))}});
  notes.push_back({{"level", "note"}, {"message", message("All results hold for what one recorded run did.")}});
  const Json driver = {{"name", "Loopfold"}, {"version", kVersion}, {"rules", rules}};
  const Json run = {
      {"tool", {{"driver", driver}}},
      {"invocations", Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", notes}}})},
      {"columnKind", "utf16CodeUnits"},
      {"results", results}};
  const Json document = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return document.dump(1) + "\n";
}

}  // namespace loopfold::views
