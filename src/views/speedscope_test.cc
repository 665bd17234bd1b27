#include "views/speedscope.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "views/testing.h"
#include "views/words.h"

namespace loopfold::views {
namespace {

using Json = nlohmann::json;
using profile::Profile;

Json document_of(const Profile& profile) {
  std::string text;
  EXPECT_TRUE(write_speedscope(profile, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return Json::parse(text);
}

/// What speedscope's own schema asks for.
void expect_shape(const Json& json) {
  EXPECT_EQ(json["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_TRUE(json["exporter"].is_string());
  EXPECT_TRUE(json["name"].is_string());
  EXPECT_EQ(json["activeProfileIndex"], 0);
  for (const Json& frame : json["shared"]["frames"]) {
    EXPECT_TRUE(frame["name"].is_string());
    if (frame.contains("file")) {
      EXPECT_TRUE(frame["file"].is_string());
    }
    if (frame.contains("line")) {
      EXPECT_TRUE(frame["line"].is_number());
    }
  }
  ASSERT_EQ(json["profiles"].size(), 1u);
  const Json& profile = json["profiles"][0];
  EXPECT_EQ(profile["type"], "evented");
  EXPECT_EQ(profile["unit"], "none");
  EXPECT_TRUE(profile["name"].is_string());
  EXPECT_EQ(profile["startValue"], 0);
  EXPECT_TRUE(profile["endValue"].is_number());
}

using SelfByStack = std::map<std::vector<std::string>, std::uint64_t>;

/// Plays the events: frames must nest, and `at` must not go back. Returns what each stack has for itself.
SelfByStack play(const Json& json) {
  SelfByStack self;
  std::vector<std::string> stack;
  std::vector<std::size_t> frames;
  std::uint64_t at = 0;
  for (const Json& event : json["profiles"][0]["events"]) {
    const std::uint64_t now = event["at"];
    EXPECT_GE(now, at);
    if (now > at) self[stack] += now - at;
    at = now;
    const std::size_t frame = event["frame"];
    if (event["type"] == "O") {
      frames.push_back(frame);
      stack.push_back(json["shared"]["frames"].at(frame)["name"]);
    } else {
      EXPECT_EQ(event["type"], "C");
      EXPECT_EQ(frames.back(), frame);
      frames.pop_back();
      stack.pop_back();
    }
  }
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(at, json["profiles"][0]["endValue"]);
  return self;
}

SelfByStack by_definition(const Profile& profile) {
  const Words words(profile);
  SelfByStack self;
  std::vector<std::vector<std::string>> stacks;
  for (const profile::TreeNode& node : profile.tree) {
    stacks.push_back(node.parent ? stacks[*node.parent] : std::vector<std::string>{});
    stacks.back().push_back(words.frame(node));
    if (node.self_ops > 0) self[stacks.back()] += node.self_ops;
  }
  return self;
}

TEST(Speedscope, instructions_are_where_they_belong) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; round++) {
    const Profile profile = round == 0 ? testing::solver_profile() : testing::random_profile(random, 1 + random() % 80);
    const Json json = document_of(profile);
    expect_shape(json);
    EXPECT_EQ(play(json), by_definition(profile));
  }
}

TEST(Speedscope, frames_have_places) {
  const Json frames = document_of(testing::solver_profile())["shared"]["frames"];
  const Json loop{{"name", "loop solver.c:24"}, {"file", "/home/me/solver/solver.c"}, {"line", 24}};
  EXPECT_EQ(std::count(frames.begin(), frames.end(), loop), 1);
}

TEST(Speedscope, deep_trees_are_no_trouble) {
  EXPECT_EQ(document_of(testing::deep_profile(10000))["profiles"][0]["events"].size(), 20002u);
}

TEST(Speedscope, stops_when_nothing_can_be_written) {
  int pieces = 0;
  EXPECT_FALSE(write_speedscope(testing::wide_profile(1000), [&](std::string_view) { return ++pieces < 3000; }));
  EXPECT_EQ(pieces, 3000);
}

}  // namespace
}  // namespace loopfold::views
