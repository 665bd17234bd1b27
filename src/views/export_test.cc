// Exports of a small folded profile: do isl, a CSV reader and Graphviz's grammar take what is written, and is it what
// the profile says?
#include <gtest/gtest.h>
#include <isl/cpp.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "views/export_csv.h"
#include "views/export_dot.h"
#include "views/export_isl.h"
#include "views/summary.h"
#include "views/testing.h"

namespace loopfold::views {
namespace {

using profile::Access;
using profile::Dependence;
using profile::Object;
using profile::Profile;
using profile::Source;
using profile::Statement;

/// S0 before a loop of ten, S1 in it; S1 reads what it wrote one iteration before.
Profile small_profile() {
  testing::TreeBuilder builder({"./hist \"x\""});
  builder.call("main", Source{"/src/hist.c", 5}, std::nullopt, 1, 4);
  builder.loop(Source{"/src/hist.c", 10}, 1, 10, 4);
  Profile profile = builder.finish();
  profile.folded = true;
  profile.objects = {{0, Object::Kind::kEnvironment, "environment", "", 0, 0, std::nullopt},
                     {1, Object::Kind::kUnknown, "unknown", "", 0, 0, std::nullopt},
                     {2, Object::Kind::kHeap, "malloc in \"rows\", #1", "", 80, 10, Source{"/src/hist.c", 7}}};
  Statement before;
  before.name = "S0";
  before.node = 1;
  before.domain = "{ S0[] }";
  before.source = {{"/src/hist.c", 9}};
  before.exact = true;
  before.count = 1;
  before.ops = 4;
  Statement body = before;
  body.id = 1;
  body.name = "S1";
  body.node = 2;
  body.loops = {2};
  body.domain = "{ S1[i0] : 0 <= i0 <= 9 }";
  body.source = {{"/src/hist.c", 11}, {"/src/hist.c", 12}};
  body.count = 10;
  body.ops = 40;
  profile.statements = {before, body};
  Access load;
  load.statement = 1;
  load.object = 2;
  load.size = 8;
  load.count = 10;
  load.coefficients = {8};
  load.constant = 4;
  load.block_coefficients = {0};
  load.block_constant = 0;
  load.affine = load.exact = true;
  load.source = Source{"/src/hist.c", 11};
  profile.accesses = {load};
  Dependence flow;
  flow.from = 1;
  flow.to = 1;
  flow.kind = Dependence::Kind::kMemory;
  flow.object = 2;
  flow.count = 9;
  flow.map = "{ S1[o0] -> S1[i0] : 1 <= i0 <= 9 and o0 = i0 - 1 }";
  flow.distance = {{1}};
  flow.affine = flow.exact = true;
  profile.dependences = {flow};
  profile.gave_up = {{"address of the load at hist.c:11", "not affine", 0.5}, {"x", "y", 0.001}};
  return profile;
}

template <typename Write>
std::string written(Write write) {
  std::string text;
  EXPECT_TRUE(write([&](std::string_view part) {
    text += part;
    return true;
  }));
  return text;
}

class Isl : public ::testing::Test {
 protected:
  isl::union_set set(const std::string& text) { return isl::union_set(ctx(), text); }
  isl::union_map map(const std::string& text) { return isl::union_map(ctx(), text); }
  bool same(const isl::union_map& a, const std::string& b) { return a.is_equal(map(b)); }

  /// What a file defines: what stands between NAME := and ;
  static std::map<std::string, std::string> definitions(const std::string& text) {
    std::map<std::string, std::string> found;
    for (std::size_t at = text.find(" := "); at != std::string::npos; at = text.find(" := ", at + 1)) {
      const std::size_t begin = text.rfind('\n', at) + 1;
      const std::size_t end = text.find("\n};", at);
      found[text.substr(begin, at - begin)] = text.substr(at + 4, end + 2 - at - 4);
    }
    return found;
  }

  isl::ctx ctx() { return isl::ctx(ctx_.get()); }
  std::unique_ptr<isl_ctx, void (*)(isl_ctx*)> ctx_{isl_ctx_alloc(), isl_ctx_free};
};

TEST_F(Isl, definitions_are_what_the_profile_says) {
  const Profile profile = small_profile();
  std::map<std::string, std::string> found =
      definitions(written([&](const Writer& writer) { return write_isl(profile, writer); }));
  ASSERT_EQ(found.size(), 7u);
  EXPECT_TRUE(set(found["Domain"]).is_equal(set("{ S0[]; S1[i] : 0 <= i < 10 }"))) << found["Domain"];
  EXPECT_TRUE(same(map(found["Read"]), "{ S1[i] -> O2[0, 4 + 8i] : 0 <= i < 10 }")) << found["Read"];
  EXPECT_TRUE(map(found["Write"]).is_empty());
  EXPECT_TRUE(same(map(found["Memory"]), "{ S1[i] -> S1[i + 1] : 0 <= i < 9 }")) << found["Memory"];
  EXPECT_TRUE(map(found["Register"]).is_empty());
  EXPECT_TRUE(map(found["Environment"]).is_empty());
  EXPECT_NE(found["Domain"].find("# S1: hist.c:11, hist.c:12, 10 times"), std::string::npos) << found["Domain"];
}

TEST_F(Isl, accesses_that_are_not_one_affine_function) {
  Profile profile = small_profile();
  Access& access = profile.accesses[0];
  access.coefficients = {std::nullopt};
  access.constant = std::nullopt;
  access.minimum = 4;
  access.maximum = 20;
  EXPECT_TRUE(same(map(access_map(profile, access)), "{ S1[i] -> O2[0, o] : 0 <= i < 10 and 4 <= o <= 20 }"));
  access.pieces.resize(2);
  access.pieces[0].domain = "{ S1[i0] : 0 <= i0 <= 3; S1[i0] : i0 = 5 }";
  access.pieces[0].coefficients = {-8};
  access.pieces[0].constant = 40;
  access.pieces[0].block_coefficients = {1};
  access.pieces[0].block_constant = -1;
  access.pieces[1] = access.pieces[0];
  access.pieces[1].domain = "{ S1[i0] : 6 <= i0 <= 9 and i0 mod 2 = 0 }";
  access.pieces[1].modulus = 16;
  access.pieces[1].base = 4;
  const std::string text = access_map(profile, access);
  EXPECT_TRUE(same(map(text),
                   "{ S1[i] -> O2[i - 1, 40 - 8i] : 0 <= i <= 3 or i = 5; S1[i] -> O2[i - 1, 4 + ((36 - 8i) "
                   "mod 16)] : i = 6 or i = 8 }"))
      << text;
  access.pieces[0].domain = "{ S1[i0] : 0 <= i0 <= 9 and i0 mod 3 = 0 }";
  access.pieces[0].coefficients = {4};
  access.pieces[0].constant = 12;
  access.pieces[0].divisor = 3;
  access.pieces[1].coefficients = {-16};
  access.pieces[1].constant = 80;
  access.pieces[1].divisor = 2;
  EXPECT_TRUE(
      same(map(access_map(profile, access)),
           "{ S1[0] -> O2[-1, 4]; S1[3] -> O2[2, 8]; S1[6] -> O2[5, 12]; S1[9] -> O2[8, 16]; S1[i] -> O2[i - 1, "
           "4 + ((36 - 8i) mod 16)] : i = 6 or i = 8 }"))
      << access_map(profile, access);
}

TEST_F(Isl, an_access_of_its_own_domain_and_without_a_start) {
  Profile profile = small_profile();
  Access& access = profile.accesses[0];
  access.domain = "{ S1[3]; S1[-1] }";
  EXPECT_TRUE(same(map(access_map(profile, access)), "{ S1[3] -> O2[0, 28]; S1[-1] -> O2[0, -4] }"))
      << access_map(profile, access);
  access.domain = "{ S1[i0] : exists (e0: i0 = 2e0 and 0 <= e0 <= 2) }";
  EXPECT_TRUE(same(map(access_map(profile, access)), "{ S1[0] -> O2[0, 4]; S1[2] -> O2[0, 20]; S1[4] -> O2[0, 36] }"))
      << access_map(profile, access);
  access.constant = std::nullopt;
  EXPECT_TRUE(map("{ S1[4] -> O2[0, 12345] }").is_subset(map(access_map(profile, access))));
}

// ---- CSV ----

/// RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    std::string& field = rows.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      rows.emplace_back(1);
    } else {
      field += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, is_rectangular_and_says_which_table) {
  const Profile profile = small_profile();
  const auto rows = parse_csv(written([&](const Writer& writer) { return write_csv(profile, writer); }));
  ASSERT_EQ(rows.size(), 1u + 2 + 1 + 0 + 1 + 3 + 2);
  std::map<std::string, int> tables;
  for (const std::vector<std::string>& row : rows) {
    EXPECT_EQ(row.size(), rows[0].size());
    tables[row[0]]++;
  }
  EXPECT_EQ(rows[0][0], "table");
  EXPECT_EQ(tables,
            (std::map<std::string, int>{
                {"table", 1}, {"statements", 2}, {"accesses", 1}, {"dependences", 1}, {"objects", 3}, {"gave_up", 2}}));
}

TEST(Csv, tables_have_columns_of_their_own) {
  const Profile profile = small_profile();
  const auto rows =
      parse_csv(written([&](const Writer& writer) { return write_csv_table(profile, "objects", writer); }));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"id", "name", "kind", "type", "size", "blocks", "source"}));
  EXPECT_EQ(rows[3],
            (std::vector<std::string>{"2", "malloc in \"rows\", #1", "heap", "", "80", "10", "/src/hist.c:7"}));
  EXPECT_FALSE(write_csv_table(profile, "nonsense", [](std::string_view) { return true; }));
  EXPECT_EQ(csv_tables().size(), 6u);
}

TEST(Csv, a_writer_that_wants_no_more_ends_it) {
  int parts = 0;
  EXPECT_FALSE(write_csv(small_profile(), [&](std::string_view) { return ++parts < 3; }));
  EXPECT_EQ(parts, 3);
}

// ---- dot ----

TEST(Dot, clusters_statements_and_arrows) {
  const Profile profile = small_profile();
  const std::string text = written([&](const Writer& writer) { return write_dot(profile, writer); });
  EXPECT_TRUE(text.starts_with("digraph loopfold {")) << text;
  for (const char* part : {"subgraph cluster_1 {", "subgraph cluster_2 {", "S0 [label=\"S0\\nhist.c:9\\n×1\"",
                           "S1 [label=\"S1\\nhist.c:11\\nhist.c:12\\n×10\"",
                           "S1 -> S1 [label=\"malloc in \\\"rows\\\", #1\\n(1)\\n×9\"", "loop hist.c:10"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  const auto count = [&](char c) { return std::count(text.begin(), text.end(), c); };
  EXPECT_EQ(count('{'), count('}'));
  EXPECT_LT(text.find("cluster_2"), text.find("S1 ["));
  EXPECT_LT(text.find("S0 ["), text.find("cluster_2"));
}

TEST(Dot, quotes_are_even_whatever_names_are) {
  Profile profile = small_profile();
  profile.statements[0].source.clear();
  profile.code = {{"hist", "f\"];\\", {16}}};
  profile.statements[0].code = 0;
  const std::string text = written([&](const Writer& writer) { return write_dot(profile, writer); });
  EXPECT_NE(text.find("f\\\"];\\\\"), std::string::npos) << text;
  profile.dependences[0].from = std::nullopt;
  EXPECT_NE(written([&](const Writer& writer) { return write_dot(profile, writer); }).find("unknown -> S1"),
            std::string::npos);
}

// ---- summary ----

TEST(Summary, code_without_statements_is_not_exact) {
  Profile profile = small_profile();
  profile.program.instructions = 88;
  EXPECT_NE(summary_text(profile, {}).find("50.0 % of the instructions: in which"), std::string::npos);
}

TEST(Summary, says_how_much_is_known) {
  SummaryOptions options;
  options.charset = Charset::kAscii;
  options.gave_up = 1;
  options.next_command = "loopfold tree";
  const std::string text = summary_text(small_profile(), options);
  for (const char* part :
       {"instructions in 1 thread, exit status 0", "statements          2    100.0 % of the instructions",
        "accesses            1    100.0 % of 10 loads and stores: what they touched in 3 objects",
        "dependences         1    100.0 % of 9 instances", "(1 through memory)", "Approximated: most of it:",
        "50.0 %  address of the load at hist.c:11: not affine", "and 1 more, see gave_up", "Next: loopfold tree"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace loopfold::views
