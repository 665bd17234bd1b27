#include "views/export_sarif.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "views/advice_testing.h"

namespace loopfold::views {
namespace {

using Json = nlohmann::json;
using profile::Profile;
using profile::Suggestion;
using testing::product_profile;

/// What SARIF 2.1.0 asks of what we write.
void check_document(const Json& document) {
  ASSERT_EQ(document["version"], "2.1.0");
  ASSERT_EQ(document["runs"].size(), 1u);
  const Json& run = document["runs"][0];
  const Json& driver = run["tool"]["driver"];
  EXPECT_TRUE(driver["name"].is_string());
  EXPECT_TRUE(run["invocations"][0]["executionSuccessful"].is_boolean());
  for (const Json& rule : driver["rules"]) EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
  for (const Json& result : run["results"]) {
    EXPECT_EQ(driver["rules"][result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
    EXPECT_TRUE(result["level"] == "warning" || result["level"] == "note");
    EXPECT_TRUE(result["message"]["text"].is_string());
    for (const char* name : {"locations", "relatedLocations"}) {
      for (const Json& location : result.value(name, Json::array())) {
        const Json& physical = location["physicalLocation"];
        EXPECT_TRUE(physical["artifactLocation"]["uri"].is_string());
        if (physical.contains("region")) {
          EXPECT_GE(physical["region"]["startLine"], 1);
        }
      }
    }
  }
}

TEST(ExportSarif, a_result_per_suggestion) {
  const Json document = Json::parse(sarif_text(product_profile()));
  check_document(document);
  const Json& run = document["runs"][0];
  ASSERT_EQ(run["results"].size(), 2u);
  const Json& parallel = run["results"][0];
  EXPECT_EQ(parallel["ruleId"], "LF-PAR");
  EXPECT_EQ(parallel["level"], "note") << "not known to be legal";
  EXPECT_EQ(parallel["message"]["text"],
            "Run product.c:12 in parallel. Requires: a private copy of tmp, along product.c:12: private(tmp); row "
            "expanded to one copy per iteration, along product.c:12, 4.10 kB. Gain of the whole program: 3.25x. Legal "
            "for what this run did: unknown.");
  const Json& interchange = run["results"][1];
  EXPECT_EQ(interchange["level"], "warning");
  EXPECT_EQ(interchange["locations"][0]["physicalLocation"],
            Json::parse(R"({"artifactLocation":{"uri":"file:///home/me/src/product.c"},"region":{"startLine":13}})"));
  EXPECT_EQ(interchange["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 14);
  EXPECT_EQ(interchange["properties"]["gain"], 1.5);
  EXPECT_EQ(run["tool"]["driver"]["rules"][1]["shortDescription"]["text"], "Interchange loops");
}

TEST(ExportSarif, what_is_illegal_is_no_result) {
  Profile profile = product_profile();
  for (Suggestion& suggestion : profile.regions[0].suggestions) suggestion.legal = Suggestion::Legal::kNo;
  const Json document = Json::parse(sarif_text(profile));
  check_document(document);
  EXPECT_TRUE(document["runs"][0]["results"].empty());
}

TEST(ExportSarif, what_weakens_the_run_is_a_notification) {
  Profile profile = product_profile();
  profile.quality.push_back({"partial", "recording was killed", 1});
  const Json document = Json::parse(sarif_text(profile));
  const Json& notes = document["runs"][0]["invocations"][0]["toolExecutionNotifications"];
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes[0]["message"]["text"], "partial: recording was killed");
}

TEST(ExportSarif, uris) {
  EXPECT_EQ(uri_of("/a b/c.c"), "file:///a%20b/c.c");
  EXPECT_EQ(uri_of("src/c#1.c"), "src/c%231.c");
  EXPECT_EQ(uri_of("\xc3\xa4.c"), "%C3%A4.c");
}

TEST(ExportSarif, any_names_and_no_regions) {
  check_document(Json::parse(sarif_text(Profile{})));
  std::mt19937 random(3);
  for (std::size_t nodes = 2; nodes < 40; nodes++) {
    Profile profile = testing::random_profile(random, nodes);
    profile.regions.resize(2);
    for (profile::Region& region : profile.regions) testing::add_random_advice(profile, region, random);
    check_document(Json::parse(sarif_text(profile)));
  }
}

}  // namespace
}  // namespace loopfold::views
