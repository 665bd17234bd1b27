#include "views/html_region.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "profile/json.h"
#include "views/loop_accesses.h"
#include "views/source_text.h"
#include "views/text.h"
#include "views/written_order.h"

namespace loopfold::views {

namespace {

using Json = nlohmann::ordered_json;
using profile::Source;

constexpr const char* kReuse[] = {"none", "private", "expand", "unknown"};  // by Loop::Reuse
constexpr std::int64_t kLinesAround = 3;
constexpr std::int64_t kLinesBetween = 12;  // a smaller gap between two places is shown

class RegionWriter {
 public:
  RegionWriter(const ReportWords& words, const profile::Region& region, const RegionLimits& limits)
      : words_(words), profile_(words.profile()), region_(region), limits_(limits) {}

  Json document(const RegionSources& sources) {
    Json document;
    document["id"] = region_.id;
    for (const profile::Loop& loop : region_.loops) document["loops"].push_back(loop_document(loop));
    document["transformed"] = transformed_document();
    add_statements(document);
    add_accesses(document);
    add_dependences(document);
    document["left_out"] = left_out_;
    document["objects"] = objects_document();
    document["files"] = files_document(sources);
    return document;
  }

 private:
  Json source(const Source& source) {
    if (source.file.empty() || source.line <= 0) return nullptr;
    const auto [at, fresh] = files_.try_emplace(source.file, file_names_.size());
    if (fresh) file_names_.push_back(source.file);
    lines_[at->second].insert(source.line);
    return Json::array({at->second, source.line});
  }
  Json source(const std::optional<Source>& source) { return source ? this->source(*source) : Json(nullptr); }

  template <typename Number>
  static Json number(const std::optional<Number>& value) {
    return value ? Json(*value) : Json(nullptr);
  }

  template <typename Number>
  static Json numbers(const std::vector<std::optional<Number>>& values) {
    Json list = Json::array();
    for (const std::optional<Number>& value : values) list.push_back(number(value));
    return list;
  }

  Json object(const std::optional<std::uint32_t>& object) {
    if (!object) return nullptr;
    objects_.insert(*object);
    return *object;
  }

  Json touched(const std::vector<profile::Touched>& list) {
    Json all = Json::array();
    for (const profile::Touched& one : list)
      all.push_back({{"source", source(one.source)},
                     {"object", object(one.object)},
                     {"variable", words_.words().text(one.variable)},
                     {"clause", words_.words().text(one.clause)},
                     {"bytes", number(one.bytes)}});
    return all;
  }

  Json blocking_document(const profile::Blocking& blocking) {
    return {{"from", source(blocking.source_from)},
            {"to", source(blocking.source_to)},
            {"object", object(blocking.object)},
            {"distance", number(blocking.distance)},
            {"least", number(blocking.least)},
            {"greatest", number(blocking.greatest)},
            {"count", blocking.count},
            {"kind", profile::kind_name(blocking.kind)},
            {"text", words_.words().text(blocking.text)}};
  }

  Json loop_document(const profile::Loop& loop) {
    Json document{{"node", loop.node},
                  {"nodes", loop.nodes},
                  {"source", source(loop.source)},
                  {"where", words_.where(loop)},
                  {"function", words_.function(loop)},
                  {"depth", loop.depth},
                  {"ops_percent", loop.ops_percent},
                  {"trips", words_.trips(loop)},
                  {"parallel", profile::verdict_name(loop.parallel)},
                  {"verdict", words_.verdict(loop)},
                  {"reasons", words_.reasons(loop)},
                  {"stride01_percent", loop.stride01_percent},
                  {"reuse", kReuse[static_cast<std::size_t>(loop.reuse)]},
                  {"reuse_why", words_.words().text(loop.reuse_why)},
                  {"private", touched(loop.privates)},
                  {"expand", touched(loop.expand)},
                  {"reload", touched(loop.reload)}};
    document["assumes"] = Json::array();
    for (const profile::Assumption& assumption : loop.assumes) document["assumes"].push_back(source(assumption.source));
    document["blocking"] = Json::array();
    for (const profile::Blocking& blocking : loop.blocking) document["blocking"].push_back(blocking_document(blocking));
    document["reductions"] = Json::array();
    for (const profile::Reduction& reduction : loop.reductions)
      document["reductions"].push_back({{"operator", reduction.operation},
                                        {"variable", words_.words().text(reduction.variable)},
                                        {"array", reduction.array},
                                        {"source", source(reduction.source)}});
    return document;
  }

  Json band_document(const profile::Band& band) const {
    Json members = Json::array();
    for (const profile::BandMember& member : band.members) {
      Json terms = Json::array();
      for (const profile::BandMember::Term& term : member.terms) terms.push_back({term.node, term.factor});
      members.push_back({{"terms", terms}, {"parallel", profile::verdict_name(member.parallel)}});
    }
    return {{"first", band.first}, {"statements", band.statements}, {"members", members}};
  }

  Json transformed_document() const {
    if (!region_.transformed) return nullptr;
    const profile::Transformed& from = *region_.transformed;
    Json document{{"schedule", from.schedule}, {"steps", Json::array()}, {"ast_before", from.ast_before},
                  {"ast", from.ast},           {"skew", from.skew},      {"interchange", from.interchange},
                  {"bands", Json::array()}};
    for (const std::string& step : from.steps) document["steps"].push_back(words_.words().text(step));
    for (const profile::Band& band : from.bands) document["bands"].push_back(band_document(band));
    return document;
  }

  void add_statements(Json& document) {
    std::vector<std::uint32_t> statements = statements_of(profile_, region_);
    std::stable_sort(statements.begin(), statements.end(), [&](std::uint32_t a, std::uint32_t b) {
      return profile_.statements[a].ops > profile_.statements[b].ops;
    });
    left_out_["statements"] = statements.size() - std::min(statements.size(), limits_.statements);
    statements.resize(std::min(statements.size(), limits_.statements));
    std::sort(statements.begin(), statements.end());
    Json& list = document["statements"] = Json::array();
    for (const std::uint32_t id : statements) {
      const profile::Statement& statement = profile_.statements[id];
      Json lines = Json::array();
      Json line_ops = Json::array();
      for (std::size_t i = 0; i < statement.source.size(); i++) {
        Json place = source(statement.source[i]);
        if (place.is_null()) continue;
        lines.push_back(std::move(place));
        line_ops.push_back(ops_of_line(statement, i));
      }
      list.push_back({{"id", id},
                      {"node", statement.node},
                      {"loops", numbers(statement.loops)},
                      {"source", lines},
                      {"line_ops", line_ops},
                      {"domain", statement.domain.size() <= limits_.map_bytes ? statement.domain : ""},
                      {"exact", statement.exact},
                      {"count", statement.count},
                      {"ops", statement.ops}});
      kept_.insert(id);
    }
  }

  /// Operations of one of its lines: each instance runs each of its instructions once. Evenly, where a profile does
  /// not say how the instructions are spread over the lines.
  static double ops_of_line(const profile::Statement& statement, std::size_t line) {
    if (statement.ops > 0 && line < statement.source_instructions.size())
      return static_cast<double>(statement.source_instructions[line]) * static_cast<double>(statement.count);
    return static_cast<double>(statement.ops) / static_cast<double>(statement.source.size());
  }

  /// By coordinate: in words, and whether that is near, far or irregular.
  Json strides(const profile::Access& access) const {
    Json list = Json::array();
    for (std::size_t i = 0; i < profile_.statements[access.statement].loops.size(); i++) {
      const LoopAccess along = access_along(access, i);
      const bool known = along.other_block || along.stride;
      list.push_back({stride_text(along), is_near(along) ? "near" : known ? "far" : "irregular"});
    }
    return list;
  }

  void add_accesses(Json& document) {
    std::vector<const profile::Access*> accesses;
    for (const profile::Access& access : profile_.accesses)
      if (kept_.contains(access.statement)) accesses.push_back(&access);
    keep_most(accesses, limits_.accesses, "accesses");
    Json& list = document["accesses"] = Json::array();
    for (const profile::Access* access : accesses)
      list.push_back({{"statement", access->statement},
                      {"kind", profile::kind_name(access->kind)},
                      {"size", access->size},
                      {"object", object(access->object)},
                      {"strides", strides(*access)},
                      {"count", access->count},
                      {"source", source(access->source)}});
  }

  void add_dependences(Json& document) {
    std::vector<const profile::Dependence*> dependences;
    for (const profile::Dependence& dependence : profile_.dependences)
      if (dependence.from && kept_.contains(*dependence.from) && kept_.contains(dependence.to))
        dependences.push_back(&dependence);
    keep_most(dependences, limits_.dependences, "dependences");
    Json& list = document["dependences"] = Json::array();
    for (const profile::Dependence* dependence : dependences) list.push_back(dependence_document(*dependence));
  }

  Json dependence_document(const profile::Dependence& dependence) {
    const bool address = std::all_of(dependence.uses.begin(), dependence.uses.end(),
                                     [](const profile::Use& use) { return use.address; });
    Json carried = Json::array();
    for (const profile::Carried& one : dependence.carried) carried.push_back({number(one.node), one.count});
    return {{"from", *dependence.from},
            {"to", dependence.to},
            {"kind", profile::kind_name(dependence.kind)},
            {"count", dependence.count},
            {"map", dependence.map.size() <= limits_.map_bytes ? dependence.map : ""},
            {"exact", dependence.exact},
            {"source_from", source(dependence.source_from)},
            {"source_to", source(dependence.source_to)},
            {"object", object(dependence.object)},
            {"distance", dependence.distance ? numbers(*dependence.distance) : Json(nullptr)},
            {"carried", carried},
            {"address", address && !dependence.uses.empty()}};
  }

  /// Those with most instances, in the order in which they were.
  template <typename Element>
  void keep_most(std::vector<const Element*>& list, std::size_t most, const char* name) {
    left_out_[name] = list.size() - std::min(list.size(), most);
    if (list.size() <= most) return;
    std::stable_sort(list.begin(), list.end(), [](const Element* a, const Element* b) { return a->count > b->count; });
    list.resize(most);
    std::sort(list.begin(), list.end());
  }

  Json objects_document() {
    Json list = Json::array();
    for (const std::uint32_t id : objects_) {
      const profile::Object& object = profile_.objects[id];
      list.push_back({{"id", id},
                      {"kind", profile::kind_name(object.kind)},
                      {"name", words_.words().text(object.name)},
                      {"type", words_.words().text(object.type)},
                      {"size", object.size},
                      {"blocks", object.blocks},
                      {"source", object.source ? Json(words_.words().place(*object.source)) : Json(nullptr)}});
    }
    return list;
  }

  /// Stretches of lines around those that are spoken of, read if the file is there.
  Json files_document(const RegionSources& sources) {
    Json list = Json::array();
    std::size_t left = limits_.source_lines;
    for (std::size_t file = 0; file < file_names_.size(); file++) {
      Json document{{"name", words_.words().file(file_names_[file])}, {"path", words_.words().text(file_names_[file])}};
      document["runs"] = Json::array();
      const std::set<int>& lines = lines_[file];
      for (auto at = lines.begin(); at != lines.end() && left > 0;) {
        const int first = *at;
        int last = first;
        for (++at; at != lines.end() && *at - last <= kLinesBetween; ++at) last = *at;
        const std::optional<SourceText> text = source_around(
            {file_names_[file], last}, static_cast<int>(last - first + kLinesAround), kLinesAround, sources.directory);
        if (!text) break;
        document["changed"] = sources.recorded && text->changed > *sources.recorded;
        Json run{{"first", text->first}, {"lines", Json::array()}};
        for (const std::string& line : text->lines) run["lines"].push_back(words_.words().text(tabs_expanded(line)));
        left -= std::min(left, text->lines.size());
        document["runs"].push_back(std::move(run));
      }
      list.push_back(std::move(document));
    }
    return list;
  }

  const ReportWords& words_;
  const profile::Profile& profile_;
  const profile::Region& region_;
  const RegionLimits& limits_;
  std::set<std::uint32_t> kept_;     // statements
  std::set<std::uint32_t> objects_;  // that something speaks of
  std::unordered_map<std::string, std::size_t> files_;
  std::vector<std::string> file_names_;
  std::map<std::size_t, std::set<int>> lines_;  // by file: that something speaks of
  Json left_out_;
};

}  // namespace

Json region_document(const ReportWords& words, const profile::Region& region, const RegionSources& sources,
                     const RegionLimits& limits) {
  return RegionWriter(words, region, limits).document(sources);
}

}  // namespace loopfold::views
