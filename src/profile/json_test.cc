#include "profile/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "views/testing.h"

namespace loopfold::profile {
namespace {

using Json = nlohmann::ordered_json;
using views::testing::random_profile;
using views::testing::solver_profile;

Json schema() {
  std::ifstream file(std::string(LOOPFOLD_SOURCE_DIR) + "/docs/profile.schema.json");
  return Json::parse(file);
}

bool has_type(const Json& value, const std::string& type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
         (type == "integer" && value.is_number_integer());
}

/// As much of JSON schema as ours uses, and stricter: a name that the schema does not mention is an error.
void validate(const Json& value, const Json& rule, const Json& root, const std::string& where) {
  if (rule.contains("$ref")) {
    const std::string name = rule["$ref"].get<std::string>().substr(std::string("#/definitions/").size());
    return validate(value, root["definitions"][name], root, where);
  }
  if (rule.contains("const")) {
    EXPECT_EQ(value, rule["const"]) << where;
  }
  if (rule.contains("enum")) {
    EXPECT_NE(std::count(rule["enum"].begin(), rule["enum"].end(), value), 0) << where;
  }
  if (rule.contains("type")) {
    const Json types = rule["type"].is_array() ? rule["type"] : Json::array({rule["type"]});
    const auto fits = [&](const Json& type) { return has_type(value, type.get<std::string>()); };
    EXPECT_TRUE(std::any_of(types.begin(), types.end(), fits)) << where << ": " << value;
  }
  if (rule.contains("minimum") && value.is_number()) {
    EXPECT_GE(value, rule["minimum"]) << where;
  }
  if (rule.contains("maximum") && value.is_number()) {
    EXPECT_LE(value, rule["maximum"]) << where;
  }
  if (value.is_array() && rule.contains("items")) {
    for (const Json& element : value) validate(element, rule["items"], root, where + "[]");
  }
  if (!value.is_object()) return;
  for (const Json& name : rule.value("required", Json::array()))
    EXPECT_TRUE(value.contains(name.get<std::string>())) << where << name;
  for (const auto& [name, member] : value.items()) {
    ASSERT_TRUE(rule["properties"].contains(name)) << where << "." << name << " is not in the schema";
    validate(member, rule["properties"][name], root, where + "." + name);
  }
}

Coefficient random_coefficient(std::mt19937& random) {
  if (random() % 4 == 0) return std::nullopt;
  return static_cast<std::int64_t>(std::uint64_t{random()} << 32 | random()) >> random() % 64;
}

std::vector<Coefficient> random_coefficients(std::mt19937& random) {
  std::vector<Coefficient> coefficients(random() % 4);
  for (Coefficient& coefficient : coefficients) coefficient = random_coefficient(random);
  return coefficients;
}

/// A loop that has something in every place.
Loop full_loop(const Profile& profile, std::mt19937& random) {
  const Source source{"hist.c", 12};
  Loop loop;
  loop.node = static_cast<std::uint32_t>(random() % profile.tree.size());
  loop.nodes = {loop.node, static_cast<std::uint32_t>(random() % profile.tree.size())};
  loop.source = source;
  loop.function = "f";
  loop.depth = random();
  loop.ops_percent = static_cast<double>(random() % 10001) / 100;
  loop.trip = {1, random(), 1e9 + 0.125};
  loop.parallel = Loop::Parallel(random() % 4);
  loop.reuse = Loop::Reuse(random() % 4);
  loop.hidden = true;
  loop.period = 1 + random() % 1000;
  loop.block = 1 + random() % 1000;
  loop.blocks = Loop::Parallel(random() % 3);
  loop.reductions = {{"+", "s", true, false, source, true}, {"max", "", false, true, std::nullopt}};
  loop.privates = {{source, 0}};
  loop.expand = {{std::nullopt, 1}};
  loop.reload = {{source, std::nullopt}, {source, 2}};
  loop.reload[0].variable = loop.privates[0].variable = "t";
  loop.reload[0].clause = loop.privates[0].clause = "private(t)";
  loop.reload[0].bytes = loop.expand[0].bytes = UINT64_MAX;
  loop.reuse_why = "a system call";
  loop.assumes = {{source}, {}};
  Blocking blocking{source, {}, 2, std::nullopt, random(), Blocking::Kind(random() % 4), "<", 1, 8, "text"};
  loop.blocking = {blocking, {}};
  loop.blocking[1].distance = loop.blocking[1].least = loop.blocking[1].greatest = INT64_MAX;
  loop.unknown = {{"why", source, UINT64_MAX}};
  loop.stride01_percent = 100.0 / 3;
  return loop;
}

/// What a schedule makes of a region, with something in every place; nodes are those of the profile's tree.
Transformed full_transformed(const Profile& profile, std::mt19937& random) {
  const auto node = [&] { return static_cast<std::uint32_t>(random() % profile.tree.size()); };
  Transformed transformed;
  transformed.status = Transformed::Status(random() % 3);
  transformed.why = "the budget was used up";
  transformed.parallel_ops_percent = 100;
  transformed.simd_ops_percent = 1e-9;
  transformed.reuse_percent = 100.0 / 3;
  transformed.potential_reuse_percent = 50;
  transformed.tile_depth = random();
  transformed.tilable_ops_percent = 99.9;
  transformed.skew = {{node(), node(), -2}, {node(), node(), INT64_MIN}};
  transformed.interchange = {{node(), node()}};
  transformed.fusion = Transformed::Fusion(random() % 3);
  transformed.components_before = random();
  transformed.components_after = UINT64_MAX;
  transformed.schedule = "{ S0[i0] -> [i0, 0] }";
  BandMember member{{{node(), 1}, {node(), -3}}, Loop::Parallel(random() % 4)};
  transformed.bands = {{1, {0, 2}, {member, {}}}, {}};
  transformed.steps = {"interchange a and b", ""};
  transformed.ast_before = "for\n  for\n";
  transformed.ast = "for\t\"x\"";
  return transformed;
}

std::vector<Suggestion> full_suggestions(const Profile& profile, std::mt19937& random) {
  const auto node = [&] { return static_cast<std::uint32_t>(random() % profile.tree.size()); };
  const Source source{"hist.c", 12};
  std::vector<Suggestion> suggestions;
  for (const Suggestion::Legal legal : {Suggestion::Legal::kYes, Suggestion::Legal::kNo, Suggestion::Legal::kUnknown}) {
    Suggestion suggestion{"LF-PAR", "title", {source, source}, legal,           {},
                          12.5,     "how",   {"one", "two"},   {node(), node()}};
    suggestion.requirements = {{"private", "tmp", node(), "private(tmp)", UINT64_MAX}, {}};
    suggestions.push_back(suggestion);
  }
  return suggestions;
}

void judge(Profile& profile, std::mt19937& random) {
  profile.judged = true;
  profile.regions_min_percent = 0.5;
  for (std::uint32_t id = 0; id < 3; id++) {
    Region region;
    region.id = id;
    region.node = static_cast<std::uint32_t>(random() % profile.tree.size());
    region.source = Source{"hist.c", 12};
    region.function = "f";
    region.ops_percent = 50.0 / (id + 1);
    region.mem_percent = 99.9;
    region.fp_percent = 100;
    region.affine_percent = 1e-9;
    region.vertices = region.edges = random();
    region.interprocedural = id == 1;
    region.depth_binary = region.depth_source = random();
    region.static_obstacles = {"R", "F"};
    if (id != 2) region.transformed = full_transformed(profile, random);
    if (id != 1) region.suggestions = full_suggestions(profile, random);
    for (std::uint32_t i = 0; i <= id; i++) region.loops.push_back(full_loop(profile, random));
    profile.regions.push_back(region);
  }
}

/// The profile with a graph that has something in every place, and refers to what is there.
Profile folded(Profile profile, std::mt19937& random) {
  const auto below = [&](std::size_t count) { return static_cast<std::uint32_t>(random() % count); };
  const auto node = [&] { return below(profile.tree.size()); };
  const Source source{"hist.c", 12};
  profile.folded = true;
  profile.gave_up.push_back({"address of the load at hist.c:12", "not affine", 0.25});
  for (std::uint32_t id = 0; id < 3; id++) profile.objects.push_back({id, Object::Kind(id), "o", "t", 8, id, source});
  for (std::uint32_t id = 0; id < 4; id++) {
    Statement statement;
    statement.id = id;
    statement.name = "S" + std::to_string(id);
    statement.kind = Statement::Kind(id);
    statement.call = "write";
    statement.node = node();
    statement.loops = {std::nullopt, node()};
    statement.source = {source, {"a.h", 3}};
    profile.code.push_back({"hist", "f", {random(), random()}});
    statement.code = id;
    statement.ops = statement.edges = random();
    statement.source_instructions = {static_cast<std::uint32_t>(random() & 0xff), 3};
    statement.pieces = 2 + random();
    statement.domain = "{ S[i0] : 0 <= i0 <= 9 }";
    statement.exact = id % 2 == 0;
    statement.count = random();
    profile.statements.push_back(statement);
  }
  for (int i = 0; i < 5; i++) {
    Access access;
    access.statement = below(4);
    access.kind = Access::Kind(i % 2);
    access.object = below(3);
    access.coefficients = random_coefficients(random);
    access.constant = random_coefficient(random);
    access.block_coefficients = random_coefficients(random);
    access.source = source;
    access.guarded = i != 3;
    access.count = random();
    access.instruction = 1 + random();
    access.block_constant = access.block_minimum = access.block_maximum = access.maximum = random_coefficient(random);
    if (i == 0) access.block_constant = access.maximum = access.block_minimum = access.block_maximum = 7;
    if (i == 0) access.block_coefficients = access.coefficients = {1};
    if (i % 2 == 0) access.domain = "{ }";
    access.minimum = i == 0 ? Coefficient(1) : random_coefficient(random);
    access.pieces.resize(static_cast<std::size_t>(i) + 1);
    for (AccessPiece& piece : access.pieces) {
      piece.coefficients = random_coefficients(random);
      piece.block_coefficients = {7};
      piece.modulus = piece.block_modulus = 3;
      piece.divisor = piece.block_divisor = 5;
      piece.base = piece.block_base = piece.block_constant = 1;
      piece.exact = false;
    }
    profile.accesses.push_back(access);
    Value value;
    value.statement = below(4);
    value.reg = "rax";
    value.coefficients = random_coefficients(random);
    value.source = source;
    value.instruction = 3;
    value.affine = value.exact = i == 1;
    value.pieces = 2;
    profile.values.push_back(value);
    Dependence dependence;
    if (i != 0) dependence.from = below(4);
    dependence.to = below(4);
    dependence.kind = Dependence::Kind(i % 4);
    dependence.map = "{ S0[] -> S1[] }";
    dependence.source_from = dependence.source_to = source;
    if (i % 2 == 0) dependence.object = below(3);
    if (i % 3 != 0) dependence.distance = random_coefficients(random);
    dependence.distance_minimum = {INT64_MIN, -1};
    dependence.distance_maximum = {INT64_MAX, 1};
    dependence.carried = {{node(), 7}, {std::nullopt, UINT64_MAX}};
    dependence.uses = {{1, 2, "flags", 4, true}, {}};
    dependence.exact = i == 1;
    dependence.more_objects = i != 1;
    dependence.pieces = static_cast<std::uint64_t>(i) + 2;
    profile.dependences.push_back(dependence);
  }
  judge(profile, random);
  return profile;
}

Profile folded_solver() {
  std::mt19937 random(7);
  return folded(solver_profile(), random);
}

TEST(ProfileJson, what_is_written_is_as_the_schema_has_it) {
  std::mt19937 random(1);
  const Json rules = schema();
  validate(Json::parse(to_json_text(folded_solver())), rules, rules, "");
  validate(Json::parse(to_json_text(solver_profile())), rules, rules, "");
  for (std::size_t nodes = 1; nodes < 40; nodes++)
    validate(Json::parse(to_json_text(random_profile(random, nodes))), rules, rules, "");
}

TEST(ProfileJson, every_name_of_the_schema_is_written) {
  const Json json = Json::parse(to_json_text(folded_solver()));
  const Json rules = schema();
  for (const auto& [name, rule] : rules["properties"].items()) EXPECT_TRUE(json.contains(name)) << name;
  const auto all_there = [&](const char* definition, const Json& value) {
    for (const auto& [name, rule] : rules["definitions"][definition]["properties"].items())
      EXPECT_TRUE(value.contains(name)) << definition << "." << name;
  };
  all_there("program", json["program"]);
  all_there("quality", json["quality"][0]);
  all_there("counts", json["tree"][3]["trip"]);
  all_there("source", json["tree"][3]["source"]);
  all_there("gave_up", json["gave_up"][0]);
  all_there("statement", json["statements"][1]);
  all_there("code", json["code"][0]);
  all_there("use", json["dependences"][0]["uses"][0]);
  all_there("access", json["accesses"][0]);
  all_there("access_piece", json["accesses"][0]["pieces"][0]);
  all_there("value", json["values"][0]);
  all_there("dependence", json["dependences"][0]);
  all_there("carried", json["dependences"][0]["carried"][0]);
  all_there("object", json["objects"][0]);
  const Json& region = json["regions"][0];
  all_there("region", region);
  all_there("loop", region["loops"][0]);
  all_there("trip", region["loops"][0]["trip"]);
  all_there("reduction", region["loops"][0]["reductions"][0]);
  all_there("touched", region["loops"][0]["reload"][0]);
  all_there("assumption", region["loops"][0]["assumes"][0]);
  all_there("blocking", region["loops"][0]["blocking"][0]);
  all_there("doubt", region["loops"][0]["unknown"][0]);
  all_there("transformed", region["transformed"]);
  all_there("band", region["transformed"]["bands"][0]);
  all_there("band_member", region["transformed"]["bands"][0]["members"][0]);
  all_there("suggestion", region["suggestions"][0]);
  all_there("requirement", region["suggestions"][0]["requires"][0]);
  const Profile profile = solver_profile();
  all_there("node", Json::parse(to_json_text(profile, std::vector<bool>(profile.tree.size(), true)))["tree"][3]);
}

TEST(ProfileJson, defaults_are_left_out_and_come_back) {
  Profile profile = solver_profile();
  profile.folded = true;
  profile.objects.push_back({0, Object::Kind::kEnvironment, "environment", "", 0, 0, std::nullopt});
  profile.statements.resize(1);
  profile.accesses.resize(1);
  profile.accesses[0].coefficients = profile.accesses[0].block_coefficients = {0, 0};
  profile.accesses[0].constant = profile.accesses[0].minimum = profile.accesses[0].maximum = 40;
  profile.accesses[0].block_constant = profile.accesses[0].block_minimum = profile.accesses[0].block_maximum = 0;
  profile.values.resize(1);
  profile.dependences.resize(1);
  profile.dependences[0].from = 0;
  profile.dependences[0].count = 5;
  profile.dependences[0].distance = {{0, 1}};
  profile.dependences[0].distance_minimum = profile.dependences[0].distance_maximum = {0, 1};
  profile.dependences[0].carried = {{std::nullopt, 5}};
  profile.dependences[0].uses = {Use{}};
  const std::string text = to_json_text(profile);
  const Json json = Json::parse(text);
  const Json rules = schema();
  const auto only_required = [&](const char* definition, const Json& value, std::size_t more) {
    EXPECT_EQ(value.size(), rules["definitions"][definition]["required"].size() + more) << value;
  };
  only_required("statement", json["statements"][0], 1);  // loops
  only_required("access", json["accesses"][0], 0);
  only_required("value", json["values"][0], 0);
  only_required("dependence", json["dependences"][0], 0);
  const Result<Profile> back = from_json_text(text, "p");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->accesses[0].maximum, 40);
  EXPECT_EQ(back->accesses[0].block_minimum, 0);
  EXPECT_EQ(back->accesses[0].count, 1u);
  EXPECT_EQ(back->dependences[0].distance_maximum, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(back->dependences[0].carried, (std::vector<Carried>{{std::nullopt, 5}}));
  EXPECT_EQ(back->dependences[0].uses, std::vector<Use>{Use{}});
  EXPECT_TRUE(back->dependences[0].exact);
  EXPECT_EQ(to_json_text(*back), text);
}

TEST(ProfileJson, the_number_of_jobs_does_not_matter) {
  Profile profile = folded_solver();
  const Dependence dependence = profile.dependences.at(0);
  for (const std::size_t count : {4095u, 4096u, 4097u, 20000u}) {
    profile.dependences.resize(count, dependence);
    for (std::size_t i = 0; i < count; ++i) profile.dependences[i].count = i;
    const std::string text = to_json_text(profile);
    EXPECT_EQ(Json::parse(text)["dependences"].size(), count);
    for (const unsigned jobs : {2u, 3u, 8u}) EXPECT_TRUE(to_json_text(profile, jobs) == text) << jobs << " jobs";
  }
}

TEST(ProfileJson, what_differs_from_a_default_that_follows_from_others_is_kept) {
  Profile profile = folded_solver();
  profile.accesses[0].coefficients = {0};
  profile.accesses[0].constant = 3;
  profile.accesses[0].minimum = std::nullopt;
  profile.accesses[0].maximum = 4;
  profile.dependences[1].distance = {{2}};
  profile.dependences[1].distance_minimum = {};
  profile.dependences[1].carried = {};
  profile.dependences[1].uses = {};
  const Result<Profile> back = from_json_text(to_json_text(profile), "p");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->accesses[0].minimum, std::nullopt);
  EXPECT_EQ(back->accesses[0].maximum, 4);
  EXPECT_TRUE(back->dependences[1].distance_minimum.empty());
  EXPECT_TRUE(back->dependences[1].carried.empty());
  EXPECT_TRUE(back->dependences[1].uses.empty());
}

TEST(ProfileJson, sections_may_come_in_any_order) {
  const Profile profile = folded_solver();
  const Json json = Json::parse(to_json_text(profile));
  Json turned = Json::object();
  for (auto member = json.end(); member != json.begin();) {
    --member;
    turned[member.key()] = member.value();
  }
  const Result<Profile> back = from_json_text(turned.dump(1), "p");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json_text(*back), to_json_text(profile));
}

TEST(ProfileJson, names_of_the_contract_are_written) {
  const Json json = Json::parse(to_json_text(folded_solver()));
  const std::vector<std::pair<const char*, std::vector<const char*>>> contract = {
      {"gave_up", {"what", "why", "share"}},
      {"statements", {"id", "name", "node", "source", "domain", "exact", "count"}},
      {"accesses",
       {"statement", "kind", "size", "object", "coefficients", "constant", "block_coefficients", "affine", "exact"}},
      {"dependences",
       {"from", "to", "kind", "count", "map", "affine", "source_from", "source_to", "object", "distance"}},
      {"objects", {"id", "kind", "name", "size", "blocks", "source"}},
      {"regions",
       {"id", "node", "source", "function", "ops_percent", "mem_percent", "fp_percent", "affine_percent", "vertices",
        "edges", "interprocedural", "depth_binary", "depth_source", "static_obstacles", "loops"}}};
  for (const auto& [section, names] : contract)
    for (const char* name : names) EXPECT_TRUE(json[section][0].contains(name)) << section << "." << name;
  EXPECT_EQ(json["statements"][3]["kind"], "system call");
  EXPECT_EQ(json["accesses"][1]["kind"], "store");
  EXPECT_EQ(json["dependences"][3]["kind"], "environment");
  EXPECT_EQ(json["objects"][2]["kind"], "stack");
  const Json& loop = json["regions"][0]["loops"][0];
  for (const char* name : {"node", "nodes", "source", "trip", "parallel", "reuse", "reductions", "private", "expand",
                           "reload", "assumes", "blocking", "stride01_percent"})
    EXPECT_TRUE(loop.contains(name)) << name;
  for (const char* name : {"source_from", "source_to", "object", "distance", "count"})
    EXPECT_TRUE(loop["blocking"][0].contains(name)) << name;
  for (const char* name : {"operator", "variable"}) EXPECT_TRUE(loop["reductions"][0].contains(name)) << name;
}

TEST(ProfileJson, a_graph_comes_back) {
  std::mt19937 random(8);
  for (std::size_t nodes = 1; nodes < 40; nodes++) {
    const std::string text = to_json_text(folded(random_profile(random, nodes, true), random));
    const Result<Profile> back = from_json_text(text, "p");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(back->folded);
    EXPECT_EQ(to_json_text(*back), text);
  }
}

TEST(ProfileJson, advice_comes_back) {
  const Profile profile = folded_solver();
  for (const Parts parts : {Parts::kAll, Parts::kReport}) {
    const Result<Profile> back = from_json_text(to_json_text(profile), "p", parts);
    ASSERT_TRUE(back) << back.error().message;
    ASSERT_EQ(back->regions.size(), profile.regions.size());
    for (std::size_t i = 0; i < profile.regions.size(); i++) {
      EXPECT_EQ(back->regions[i].transformed, profile.regions[i].transformed);
      EXPECT_EQ(back->regions[i].suggestions, profile.regions[i].suggestions);
      EXPECT_EQ(back->regions[i].static_obstacles, profile.regions[i].static_obstacles);
    }
  }
}

TEST(ProfileJson, the_tree_can_be_read_alone) {
  const std::string text = to_json_text(folded_solver());
  const Result<Profile> tree = from_json_text(text, "p", Parts::kTree);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_FALSE(tree->folded);
  EXPECT_TRUE(tree->statements.empty());
  EXPECT_EQ(tree->gave_up.size(), 1u);
  EXPECT_EQ(to_json_text(*tree), to_json_text([] {
              Profile profile = solver_profile();
              profile.gave_up = folded_solver().gave_up;
              return profile;
            }()));
  EXPECT_FALSE(from_json_text(text.substr(0, text.size() - 10), "p", Parts::kTree));
}

TEST(ProfileJson, what_a_report_needs_can_be_read_alone) {
  const Profile whole = folded_solver();
  const Result<Profile> part = from_json_text(to_json_text(whole), "p", Parts::kReport);
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_FALSE(part->folded);
  EXPECT_TRUE(part->judged);
  EXPECT_TRUE(part->statements.empty());
  EXPECT_EQ(part->objects.size(), whole.objects.size());
  EXPECT_EQ(part->regions_min_percent, 0.5);
  EXPECT_EQ(report_json_text(*part, 100, 0), report_json_text(whole, 100, 0));
}

TEST(ProfileJson, a_report_has_the_regions_that_are_asked_for) {
  const Profile profile = folded_solver();
  EXPECT_EQ(Json::parse(report_json_text(profile, 100, 0))["regions"].size(), 3u);
  EXPECT_EQ(Json::parse(report_json_text(profile, 2, 0))["regions"].size(), 2u);
  EXPECT_EQ(Json::parse(report_json_text(profile, 100, 25))["regions"].size(), 2u);
  const Json json = Json::parse(report_json_text(profile, 1, 0));
  ASSERT_EQ(json["regions"].size(), 1u);
  const Json& region = json["regions"][0];
  EXPECT_EQ(region["id"], 0);
  EXPECT_EQ(region["loops"][0]["trip"], Json::parse(to_json_text(profile))["regions"][0]["loops"][0]["trip"]);
  EXPECT_EQ(region["loops"][0]["blocking"][1]["least"], INT64_MAX) << "also what has its default";
  EXPECT_TRUE(json.contains("program"));
  EXPECT_TRUE(json.contains("quality"));
  EXPECT_FALSE(json.contains("tree"));
}

TEST(ProfileJson, a_profile_without_a_graph_has_none) {
  const Json json = Json::parse(to_json_text(solver_profile()));
  EXPECT_FALSE(json.contains("statements"));
  const Result<Profile> back = from_json_text(json.dump(), "p");
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->folded);
}

TEST(ProfileJson, values_are_where_they_belong) {
  const Json json = Json::parse(to_json_text(solver_profile()));
  EXPECT_EQ(json["schema"], "loopfold-profile/1");
  EXPECT_EQ(json["program"]["argv"], Json::array({"./solver", "--size", "300"}));
  EXPECT_EQ(json["program"]["threads"], 3);
  EXPECT_EQ(json["gave_up"], Json::array());
  EXPECT_EQ(json["tree"][0]["kind"], "root");
  EXPECT_TRUE(json["tree"][0]["parent"].is_null());
  EXPECT_TRUE(json["tree"][0]["source"].is_null());
  const Json& loop = json["tree"][3];
  EXPECT_EQ(loop["kind"], "loop");
  EXPECT_EQ(loop["parent"], 2);
  EXPECT_EQ(loop["function"], "fill");
  EXPECT_EQ(loop["source"], Json({{"file", "/home/me/solver/solver.c"}, {"line", 12}}));
  EXPECT_EQ(loop["iterations"], 602);
  EXPECT_EQ(loop["trip"], Json({{"min", 300}, {"max", 300}, {"total", 600}}));
}

TEST(ProfileJson, profiles_come_back) {
  std::mt19937 random(2);
  for (std::size_t nodes = 1; nodes < 200; nodes++) {
    const std::string text = to_json_text(random_profile(random, nodes, true));
    const Result<Profile> back = from_json_text(text, "p");
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(to_json_text(*back), text);
  }
}

TEST(ProfileJson, extremes_come_back) {
  Profile profile = solver_profile();
  profile.program.exit_status = -1;
  for (TreeNode& node : profile.tree) node.ops = node.self_ops = 0;
  profile.tree[0].ops = profile.tree[0].self_ops = UINT64_MAX;
  profile.tree[0].address = UINT64_MAX;
  profile.tree[1].source->line = INT32_MAX;
  const Result<Profile> back = from_json_text(to_json_text(profile), "p");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->tree[0].ops, UINT64_MAX);
  EXPECT_EQ(back->tree[0].address, UINT64_MAX);
  EXPECT_EQ(back->tree[1].source->line, INT32_MAX);
  EXPECT_EQ(back->program.exit_status, -1);
}

TEST(ProfileJson, bytes_that_are_not_utf8_are_replaced) {
  Profile profile = solver_profile();
  profile.program.argv[0] = "\xff";
  profile.tree[1].function = "f\xc3(";
  profile.tree[1].source->file = std::string("a\0\xfe", 3);
  const Json json = Json::parse(to_json_text(profile));
  EXPECT_EQ(json["program"]["argv"][0], "\xef\xbf\xbd");
  EXPECT_EQ(json["tree"][1]["function"], "f\xef\xbf\xbd(");
  EXPECT_EQ(json["tree"][1]["source"]["file"], std::string("a\0\xef\xbf\xbd", 5));
  std::mt19937 random(3);
  for (int round = 0; round < 100; round++) {
    const Result<Profile> back = from_json_text(to_json_text(random_profile(random, 30)), "p");
    EXPECT_TRUE(back) << back.error().message;
  }
}

TEST(ProfileJson, a_part_keeps_the_ids_of_the_whole) {
  const Profile profile = solver_profile();
  std::vector<bool> shown(profile.tree.size());
  shown[0] = shown[1] = shown[6] = true;
  const Json json = Json::parse(to_json_text(profile, shown));
  ASSERT_EQ(json["tree"].size(), 3u);
  EXPECT_EQ(json["tree"][2]["id"], 6);
  EXPECT_EQ(json["tree"][2]["parent"], 1);
  EXPECT_EQ(json["tree"][1]["ops"], profile.tree[1].ops);
}

TEST(ProfileJson, one_element_per_line) {
  const Profile profile = solver_profile();
  std::istringstream lines(to_json_text(profile));
  std::size_t nodes = 0;
  for (std::string line; std::getline(lines, line);) nodes += line.starts_with("{\"id\":") ? 1 : 0;
  EXPECT_EQ(nodes, profile.tree.size());
}

// ---- files that are not as they should be ----

std::string error_of(const std::string& text) {
  const Result<Profile> profile = from_json_text(text, "profile.json");
  if (profile) return "";
  EXPECT_EQ(profile.error().kind, ErrorKind::kBadInput);
  EXPECT_TRUE(profile.error().message.starts_with("profile.json: ")) << profile.error().message;
  EXPECT_EQ(profile.error().message.find('\n'), std::string::npos) << profile.error().message;
  return profile.error().message;
}

TEST(ProfileJson, every_prefix_is_refused) {
  std::mt19937 random(4);
  const std::string text = to_json_text(random_profile(random, 6));
  for (std::size_t length = 0; length + 1 < text.size(); length++)
    EXPECT_NE(error_of(text.substr(0, length)), "") << length;
  EXPECT_NE(error_of(text.substr(0, text.size() / 2)).find("cut off"), std::string::npos);
}

TEST(ProfileJson, damage_is_refused_or_harmless) {
  std::mt19937 random(5);
  const std::string text = to_json_text(solver_profile());
  std::size_t refused = 0;
  for (int round = 0; round < 2000; round++) {
    std::string damaged = text;
    for (std::size_t i = random() % 3 + 1; i > 0; i--) damaged[random() % damaged.size()] = static_cast<char>(random());
    if (!error_of(damaged).empty()) refused++;
  }
  EXPECT_GT(refused, 1000u);
}

TEST(ProfileJson, nesting_without_end_is_refused) {
  EXPECT_NE(error_of(std::string(1000000, '[')), "");
  EXPECT_NE(error_of(std::string(1000000, '[') + std::string(1000000, ']')), "");
  std::string objects;
  for (int i = 0; i < 100000; i++) objects += "{\"tree\":";
  EXPECT_NE(error_of(objects), "");
}

struct Change {
  const char* what;  // JSON pointer
  const char* value;
  const char* message;
};

TEST(ProfileJson, contradictions_are_named) {
  const Change changes[] = {
      {"/schema", "\"loopfold-profile/9\"", "schema"},
      {"/program", "[]", "program: not an object"},
      {"/program/argv", "[1]", "program: \"argv\" is not an array of strings"},
      {"/program/exit_status", "99999999999", "exit_status"},
      {"/program/partial", "0", "true or false"},
      {"/program/instructions", "-1", "whole number"},
      {"/program/threads", "1.5", "whole number"},
      {"/quality", "{}", "no array \"quality\""},
      {"/quality/0/share", "2", "between 0 and 1"},
      {"/tree", "[]", "no root"},
      {"/tree/0/parent", "0", "the root has a parent"},
      {"/tree/0/kind", "\"call\"", "tree[0]: not the root"},
      {"/tree/1/kind", "\"root\"", "tree[1]: a second root"},
      {"/tree/1/kind", "\"thing\"", "root, call, loop or recursion"},
      {"/tree/1/kind", "7", "\"kind\" is not a string"},
      {"/tree/1/parent", "null", "tree[1]: no parent"},
      {"/tree/1/parent", "1", "on the way"},
      {"/tree/1/parent", "4000000000", "on the way"},
      {"/tree/1/parent", "5000000000", "range"},
      {"/tree/5/id", "6", "tree[5]: its id is 6"},
      {"/tree/7/parent", "4", "tree[7]: its parent"},
      {"/tree/3/source", "{\"file\":\"x\"}", "tree[3]: source: no \"line\""},
      {"/tree/3/source", "\"x\"", "tree[3]: source: not an object"},
      {"/tree/3/trip", "{\"min\":1,\"max\":2}", "no \"total\""},
      {"/tree/3/inlined", "\"x\"", "inlined"},
      {"/tree/3/ops", "1", "tree[3]: more instructions of its own"},
      {"/tree/3/self_ops", "1", "tree[3]: its instructions are not those of its parts"},
      {"/tree/2/ops", "18446744073709551615", "tree[2]: more instructions than its parent"},
      {"/tree/2/ops", "18446744073709551616", "whole number"},
      {"/tree/2/irreducible", "null", "irreducible"},
  };
  const Json good = Json::parse(to_json_text(solver_profile()));
  for (const Change& change : changes) {
    Json bad = good;
    bad[Json::json_pointer(change.what)] = Json::parse(change.value);
    const std::string error = error_of(bad.dump());
    EXPECT_NE(error.find(change.message), std::string::npos) << change.what << " = " << change.value << ": " << error;
  }
}

TEST(ProfileJson, contradictions_of_the_graph_are_named) {
  const Change changes[] = {
      {"/gave_up/0/share", "-1", "gave_up[0]"},
      {"/statements", "{}", "no array \"statements\""},
      {"/statements/1/id", "2", "statements[1]: its id is 2"},
      {"/statements/1/node", "1000", "statements[1]: \"node\" is 1000"},
      {"/statements/1/loops", "[1000]", "statements[1]: \"loops\" is 1000"},
      {"/statements/1/kind", "\"thing\"", "code, allocator, hidden or system call"},
      {"/statements/1/source", "null", "statements[1]: \"source\" is not an array"},
      {"/statements/1/code", "4", "statements[1]: \"code\" is 4, of 4"},
      {"/statements/1/code", "{}", "statements[1]: \"code\" is not a whole number"},
      {"/code/0/addresses", "7", "code[0]: \"addresses\" is not an array"},
      {"/code/1", "7", "code[1]: not an object"},
      {"/accesses", "7", "no array \"accesses\""},
      {"/accesses/0/statement", "4", "accesses[0]: \"statement\" is 4, of 4"},
      {"/accesses/0/object", "3", "accesses[0]: \"object\" is 3"},
      {"/accesses/0/coefficients", "[1.5]", "whole number of 64 bits"},
      {"/accesses/0/coefficients", "[9223372036854775808]", "whole number of 64 bits"},
      {"/accesses/1/pieces", "[1]", "accesses[1]: pieces: not an object"},
      {"/values/0/statement", "99", "values[0]: \"statement\" is 99"},
      {"/dependences/1/from", "4", "dependences[1]: \"from\" is 4"},
      {"/dependences/0/to", "4", "dependences[0]: \"to\" is 4"},
      {"/dependences/0/object", "3", "dependences[0]: \"object\" is 3"},
      {"/dependences/0/carried/0/node", "1000", "dependences[0]: \"carried\" is 1000"},
      {"/dependences/0/distance", "[true]", "whole number"},
      {"/objects/1/id", "0", "objects[1]: its id is 0"},
      {"/regions", "{}", "no array \"regions\""},
      {"/regions_min_percent", "101", "between 0 and 100"},
      {"/regions/1/id", "0", "regions[1]: its id is 0"},
      {"/regions/1/node", "1000", "regions[1]: \"node\" is 1000"},
      {"/regions/1/ops_percent", "100.5", "regions[1]: \"ops_percent\" is not between 0 and 100"},
      {"/regions/1/loops", "[]", "regions[1]: no loops"},
      {"/regions/1/loops/1/nodes", "[]", "not the first of its nodes"},
      {"/regions/1/loops/1/nodes/1", "1000", "regions[1]: \"nodes\" is 1000"},
      {"/regions/1/loops/1/parallel", "\"maybe\"", "yes, no, reduction or unknown"},
      {"/regions/1/loops/1/reuse", "7", "\"reuse\" is not a string"},
      {"/regions/1/loops/1/trip/mean", "-1", "a number from 0"},
      {"/regions/1/loops/1/trip/mean", "\"many\"", "a number"},
      {"/regions/1/loops/1/reload/1/object", "3", "regions[1]: \"object\" is 3"},
      {"/regions/1/loops/1/blocking/0/object", "3", "regions[1]: \"object\" is 3"},
      {"/regions/1/loops/1/blocking/0/kind", "\"thing\"", "register, memory, environment or control"},
      {"/regions/1/transformed", "7", "regions[1]: transformed: not an object"},
      {"/regions/1/transformed/status", "\"done\"", "found, original or gave up"},
      {"/regions/1/transformed/tile_depth", "-1", "tile_depth"},
      {"/regions/1/transformed/parallel_ops_percent", "101", "between 0 and 100"},
      {"/regions/1/transformed/interchange/0", "[1]", "not of two loops"},
      {"/regions/1/transformed/interchange/0/1", "1000", "regions[1]: \"node\" is 1000"},
      {"/regions/1/transformed/skew/0", "[1,2]", "not two loops and a factor"},
      {"/regions/1/transformed/skew/0/0", "-1", "not two loops and a factor"},
      {"/regions/1/transformed/skew/0/1", "1000", "regions[1]: \"node\" is 1000"},
      {"/regions/1/transformed/bands/0/members/0/terms/0/node", "1000", "regions[1]: \"node\" is 1000"},
      {"/regions/1/transformed/fusion", "\"some\"", "max, smart or none"},
      {"/regions/0/suggestions/1/legal", "\"perhaps\"", "yes, no or unknown"},
      {"/regions/0/suggestions/1/gain", "-1", "a number from 0"},
      {"/regions/0/suggestions/1/loops/0", "1000", "regions[0]: \"node\" is 1000"},
      {"/regions/0/suggestions/1/requires/0/loop", "1000", "regions[0]: \"node\" is 1000"},
  };
  const Json good = Json::parse(to_json_text(folded_solver()));
  ASSERT_EQ(error_of(good.dump()), "");
  for (const Change& change : changes) {
    Json bad = good;
    bad[Json::json_pointer(change.what)] = Json::parse(change.value);
    const std::string error = error_of(bad.dump());
    EXPECT_NE(error.find(change.message), std::string::npos) << change.what << " = " << change.value << ": " << error;
  }
}

TEST(ProfileJson, what_must_be_there_is_missed) {
  const Json good = Json::parse(to_json_text(solver_profile()));
  const Json rules = schema();
  for (const Json& name : rules["definitions"]["node"]["required"]) {
    Json bad = good;
    bad["tree"][4].erase(name.get<std::string>());
    EXPECT_NE(error_of(bad.dump()).find("tree[4]: no \"" + name.get<std::string>() + "\""), std::string::npos) << name;
  }
  for (const char* name : {"schema", "program", "quality", "tree"}) {
    Json bad = good;
    bad.erase(name);
    EXPECT_NE(error_of(bad.dump()), "") << name;
  }
}

TEST(ProfileJson, names_of_later_versions_are_skipped) {
  Json json = Json::parse(to_json_text(solver_profile()));
  json["suggestions"] = Json::array({1, 2});
  json["tree"][2]["new"] = "x";
  json["tree"][2].erase("module");
  EXPECT_EQ(error_of(json.dump()), "");
}

TEST(ProfileJson, files) {
  EXPECT_EQ(read_profile("/nonexistent/profile.json").error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(read_profile("/").error().kind, ErrorKind::kBadInput);
  const std::string path = ::testing::TempDir() + "loopfold_profile_test.json";
  std::ofstream(path) << to_json_text(solver_profile());
  const Result<Profile> profile = read_profile(path);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->tree.size(), solver_profile().tree.size());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace loopfold::profile
