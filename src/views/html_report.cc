#include "views/html_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profile/json.h"
#include "support/version.h"
#include "views/advice_words.h"
#include "views/html_region.h"
#include "views/html_shares.h"
#include "views/html_tree.h"
#include "views/report_words.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostGivenUp = 40;

std::string text_of(const Json& document) { return document.dump(-1, ' ', false, Json::error_handler_t::replace); }

class MainWriter {
 public:
  MainWriter(const ReportWords& words, const AdviceWords& advice)
      : words_(words), advice_(advice), profile_(words.profile()) {}

  Json document() const {
    Json document{{"kind", "report"}, {"version", kVersion}, {"program", program()}};
    document["judged"] = profile_.judged;
    document["quality"] = Json::array();
    for (const profile::Quality& quality : profile_.quality)
      document["quality"].push_back({{"kind", quality.kind}, {"text", text(quality.text)}, {"share", quality.share}});
    document["gave_up"] = Json::array();
    for (const profile::GaveUp& gave_up : profile_.gave_up) {
      if (document["gave_up"].size() == kMostGivenUp) break;
      document["gave_up"].push_back(
          {{"what", text(gave_up.what)}, {"why", text(gave_up.why)}, {"share", gave_up.share}});
    }
    document["gave_up_count"] = profile_.gave_up.size();
    document["shares"] = shares();
    document["regions_min_percent"] = profile_.regions_min_percent;
    document["tree_nodes"] = profile_.tree.size();
    document["regions"] = Json::array();
    std::vector<const profile::Region*> regions;
    for (const profile::Region& region : profile_.regions) {
      document["regions"].push_back(region_row(region));
      regions.push_back(&region);
    }
    document["suggestions"] = Json::array();
    for (const RankedSuggestion& ranked : ranked_suggestions(regions))
      document["suggestions"].push_back(suggestion(ranked));
    return document;
  }

 private:
  std::string text(const std::string& any) const { return words_.words().text(any); }

  Json program() const {
    const profile::Program& program = profile_.program;
    return {{"command", words_.words().command_line()},
            {"instructions", program.instructions},
            {"threads", program.threads},
            {"exit_status", program.exit_status ? Json(*program.exit_status) : Json(nullptr)},
            {"partial", program.partial}};
  }

  Json shares() const {
    const ParallelShares shares = parallel_shares(profile_);
    return {{"parallel", shares.parallel},
            {"transformed", shares.transformed},
            {"sequential", shares.sequential},
            {"unknown", shares.unknown},
            {"none", shares.none}};
  }

  Json region_row(const profile::Region& region) const {
    const Transformations words = advice_.transformations(region);
    Json row{{"id", region.id},
             {"node", region.node},
             {"where", advice_.region(region)},
             {"function", region.loops.empty() ? text(region.function) : words_.function(region.loops.front())},
             {"ops_percent", region.ops_percent},
             {"mem_percent", region.mem_percent},
             {"fp_percent", region.fp_percent},
             {"affine_percent", region.affine_percent},
             {"vertices", region.vertices},
             {"edges", region.edges},
             {"interprocedural", region.interprocedural},
             {"depth_source", region.depth_source},
             {"depth_binary", region.depth_binary},
             {"static_obstacles", region.static_obstacles},
             {"loops", region.loops.size()},
             {"verdict", region.loops.empty() ? "" : words_.verdict(region.loops.front())},
             {"parallel", words.parallel},
             {"simd", words.simd},
             {"interchange", words.interchange},
             {"tile", words.tile},
             {"skew", words.skew},
             {"fuse", words.fuse},
             {"why_not", words.why_not}};
    row["transformed"] = region.transformed ? transformed(*region.transformed) : Json(nullptr);
    return row;
  }

  Json transformed(const profile::Transformed& from) const {
    static constexpr const char* kStatus[] = {"found", "original", "gave up"};
    static constexpr const char* kFusion[] = {"max", "smart", "none"};
    return {{"status", kStatus[static_cast<std::size_t>(from.status)]},
            {"why", text(from.why)},
            {"parallel_ops_percent", from.parallel_ops_percent},
            {"simd_ops_percent", from.simd_ops_percent},
            {"reuse_percent", from.reuse_percent},
            {"potential_reuse_percent", from.potential_reuse_percent},
            {"tile_depth", from.tile_depth},
            {"tilable_ops_percent", from.tilable_ops_percent},
            {"skew", !from.skew.empty()},
            {"interchange", !from.interchange.empty()},
            {"fusion", kFusion[static_cast<std::size_t>(from.fusion)]},
            {"components_before", from.components_before},
            {"components_after", from.components_after}};
  }

  Json suggestion(const RankedSuggestion& ranked) const {
    const profile::Suggestion& from = *ranked.suggestion;
    Json requirements = Json::array();
    for (const profile::Requirement& requirement : from.requirements)
      requirements.push_back({{"kind", text(requirement.kind)},
                              {"text", advice_.requirement(requirement)},
                              {"clause", text(requirement.clause)}});
    Json evidence = Json::array();
    for (const std::string& one : from.evidence) evidence.push_back(text(one));
    return {{"region", ranked.region->id},
            {"rule", text(from.rule)},
            {"title", text(from.title)},
            {"lines", advice_.lines(from)},
            {"legal", AdviceWords::legal(from.legal)},
            {"requires", requirements},
            {"gain", from.gain},
            {"estimate", text(from.estimate)},
            {"evidence", evidence},
            {"loops", from.loops}};
  }

  const ReportWords& words_;
  const AdviceWords& advice_;
  const profile::Profile& profile_;
};

}  // namespace

std::vector<PagePart> report_parts(const profile::Profile& profile, const HtmlOptions& options) {
  const ReportWords words(profile);
  const AdviceWords advice(words);
  std::vector<PagePart> parts;
  parts.push_back(page_part("main", text_of(MainWriter(words, advice).document())));
  parts.push_back(page_part("tree", text_of(tree_document(profile, words.words(), options.most_nodes))));
  std::size_t bytes = 0;
  for (const profile::Region& region : profile.regions) {
    const Json document = region_document(words, region, {options.source_directory, options.recorded});
    PagePart part = page_part(fmt::format("region-{}", region.id), text_of(document));
    bytes += part.packed.size();
    if (bytes > options.most_bytes) break;
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::string> html_report(const profile::Profile& profile, const HtmlOptions& options) {
  if (page_template().empty()) return html_page("", {});
  const std::string title = "Loopfold: " + Words(profile).command_line();
  return html_page(title, report_parts(profile, options));
}

}  // namespace loopfold::views
