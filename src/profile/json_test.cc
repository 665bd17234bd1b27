#include "profile/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
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

TEST(ProfileJson, what_is_written_is_as_the_schema_has_it) {
  std::mt19937 random(1);
  const Json rules = schema();
  validate(Json::parse(to_json_text(solver_profile())), rules, rules, "");
  for (std::size_t nodes = 1; nodes < 40; nodes++)
    validate(Json::parse(to_json_text(random_profile(random, nodes))), rules, rules, "");
}

TEST(ProfileJson, every_name_of_the_schema_is_written) {
  const Json json = Json::parse(to_json_text(solver_profile()));
  const Json rules = schema();
  const auto all_there = [&](const char* definition, const Json& value) {
    for (const auto& [name, rule] : rules["definitions"][definition]["properties"].items())
      EXPECT_TRUE(value.contains(name)) << definition << "." << name;
  };
  all_there("program", json["program"]);
  all_there("quality", json["quality"][0]);
  all_there("node", json["tree"][3]);
  all_there("counts", json["tree"][3]["trip"]);
  all_there("source", json["tree"][3]["source"]);
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
  json["regions"] = Json::array({1, 2});
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
