#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "views/advice_testing.h"
#include "views/report_markdown.h"
#include "views/report_shares.h"
#include "views/report_text.h"
#include "views/report_words.h"
#include "views/testing.h"

namespace loopfold::views {
namespace {

using profile::Blocking;
using profile::Loop;
using profile::Profile;
using profile::Region;
using profile::Source;
using testing::contains;
using testing::product_profile;
using testing::TreeBuilder;
using testing::widest;

Loop loop_of(const Profile& profile, std::uint32_t node, Loop::Parallel parallel, std::uint32_t depth) {
  Loop loop;
  loop.node = node;
  loop.nodes = {node};
  loop.source = profile.tree[node].source;
  loop.function = profile.tree[node].function;
  loop.depth = depth;
  loop.trip = {profile.tree[node].trip.min, profile.tree[node].trip.max, 0};
  loop.ops_percent = percent_of(profile.tree[node].ops, profile.tree[0].ops);
  loop.parallel = parallel;
  return loop;
}

/// main (10 operations of its own) with a nest of two loops, parallel (100) around a reduction (800), and a loop that
/// is not judged (90).
Profile nest_profile() {
  const auto at = [](int line) { return Source{"/home/me/nest.c", line}; };
  TreeBuilder tree({"./nest", "a b"});
  tree.call("main", at(1), std::nullopt, 1, 10);
  tree.loop(at(4), 1, 10, 10);
  tree.loop(at(5), 10, 8, 10);
  tree.close(2);
  tree.loop(at(9), 1, 9, 10);
  tree.close(2);
  Profile profile = tree.finish();
  profile.judged = true;
  profile.regions_min_percent = 10;
  profile.objects.push_back({0, profile::Object::Kind::kEnvironment, "environment", "", 0, 0, std::nullopt});
  profile.objects.push_back({1, profile::Object::Kind::kGlobal, "grid", "", 8, 1, std::nullopt});
  Region region;
  region.node = 2;
  region.source = at(4);
  region.function = "main";
  region.ops_percent = 90;
  region.loops = {loop_of(profile, 2, Loop::Parallel::kYes, 0), loop_of(profile, 3, Loop::Parallel::kReduction, 1)};
  region.loops[1].reductions = {{"+", "", true, false, at(6)}};
  profile.regions.push_back(region);
  return profile;
}

Blocking blocking(const std::string& text) {
  Blocking blocking;
  blocking.text = text;
  return blocking;
}

// ---- words ----

TEST(ReportWords, a_plain_parallel_is_said_only_where_no_memory_is_shared) {
  const Profile nothing;
  Loop loop;
  loop.parallel = Loop::Parallel::kYes;
  for (const Loop::Reuse reuse : {Loop::Reuse::kUnknown, Loop::Reuse::kPrivate, Loop::Reuse::kExpand}) {
    loop.reuse = reuse;
    EXPECT_EQ(ReportWords(nothing).verdict(loop), "parallel*");
  }
  loop.reuse = Loop::Reuse::kNone;
  EXPECT_EQ(ReportWords(nothing).verdict(loop), "parallel");
}

TEST(ReportWords, verdicts) {
  const Profile nothing;
  Loop loop;
  EXPECT_EQ(ReportWords(nothing).verdict(loop), "unknown");
  loop.parallel = Loop::Parallel::kNo;
  EXPECT_EQ(ReportWords(nothing).verdict(loop), "no");
  loop.parallel = Loop::Parallel::kReduction;
  EXPECT_EQ(ReportWords(nothing).verdict(loop), "reduction*");
  loop.reductions = {{"+", "", false, false, {}}, {"max", "", false, false, {}}, {"+", "x", false, false, {}}};
  EXPECT_EQ(ReportWords(nothing).verdict(loop), "reduction(+,max)*");
}

TEST(ReportWords, what_a_good_verdict_needs) {
  Profile profile = nest_profile();
  Loop& loop = profile.regions[0].loops[0];
  const Source nine{"/home/me/nest.c", 9};
  loop.reload = {{nine, 1}};
  loop.assumes = {{nine}};
  loop.blocking = {blocking("not said of a loop that is parallel")};
  const ReportWords words(profile);
  EXPECT_EQ(words.reasons(loop),
            (std::vector<std::string>{"after loading grid (nest.c:9) again in each iteration",
                                      "assumes that the branch at nest.c:9 always goes the way of this run"}));
  loop.reload = {{nine, std::nullopt}, {nine, std::nullopt}, {std::nullopt, 1}};
  loop.assumes = {{nine}, {}};
  EXPECT_EQ(words.reasons(loop),
            (std::vector<std::string>{"after loading nest.c:9 and grid again in each iteration",
                                      "assumes that the branches at nest.c:9 always go the way of this run"}));
  loop.assumes = {{}};
  loop.reload = {{}};
  EXPECT_EQ(words.reasons(loop), (std::vector<std::string>{"after loading a value again in each iteration",
                                                           "assumes that a branch always goes the way of this run"}));
  loop.reload.clear();
  for (int i = 1; i < 8; i++) loop.reload.push_back({Source{"/home/me/nest.c", i}, std::nullopt});
  EXPECT_EQ(words.reasons(loop)[0], "after loading nest.c:1, nest.c:2, nest.c:3 and 4 more again in each iteration");
  loop.reload.clear();
  loop.assumes.clear();
  loop.privates = {{nine, std::nullopt}};
  loop.privates[0].clause = "lastprivate";
  EXPECT_EQ(words.reasons(loop),
            std::vector<std::string>{
                "with private copies of a value of which the last one is used behind the loop (nest.c:9)"});
}

TEST(ReportWords, a_loop_of_one_iteration_proves_little) {
  Profile profile = nest_profile();
  Loop& loop = profile.regions[0].loops[0];
  EXPECT_TRUE(ReportWords(profile).reasons(loop).empty());
  loop.trip.max = 1;
  ASSERT_EQ(ReportWords(profile).reasons(loop).size(), 1u);
  EXPECT_TRUE(contains(ReportWords(profile).reasons(loop)[0], "never went round more than once"));
}

TEST(ReportWords, reductions) {
  Profile profile = nest_profile();
  Loop& loop = profile.regions[0].loops[1];
  loop.reductions.push_back({"max", "bins", false, true, std::nullopt});
  EXPECT_EQ(ReportWords(profile).reasons(loop),
            (std::vector<std::string>{"sum at nest.c:6: reassociates, so floating-point results may differ in rounding",
                                      "maximums, one per element of bins"}));
}

TEST(ReportWords, what_stands_in_the_way) {
  Profile profile = nest_profile();
  Loop& loop = profile.regions[0].loops[0];
  loop.parallel = Loop::Parallel::kNo;
  loop.blocking = {blocking("first"), blocking("second\n"), blocking("third"), blocking("fourth")};
  EXPECT_EQ(ReportWords(profile).reasons(loop), (std::vector<std::string>{"first", "second\\n", "and 2 more"}));
  loop.parallel = Loop::Parallel::kUnknown;
  loop.unknown = {{"another thread", Source{"/home/me/nest.c", 4}, 3},
                  {"another thread", Source{"/home/me/nest.c", 4}, 9}};
  EXPECT_EQ(ReportWords(profile).reasons(loop), std::vector<std::string>{"another thread (nest.c:4)"});
}

TEST(ReportWords, trips) {
  Profile profile = nest_profile();
  Loop& loop = profile.regions[0].loops[0];
  EXPECT_EQ(ReportWords(profile).trips(loop), "10");
  profile.tree[2].trip = {1, 10, 21};
  profile.tree[2].iterations = profile.tree[2].entries = 2;
  EXPECT_EQ(ReportWords(profile).trips(loop), "~10.5");
  loop.nodes = {2, 3};
  loop.trip.mean = 12345678;
  EXPECT_EQ(ReportWords(profile).trips(loop), "~12.3 M");
}

// ---- shares ----

TEST(ReportShares, by_outermost_and_innermost_loop) {
  const Shares shares = shares_of(nest_profile());
  EXPECT_DOUBLE_EQ(shares.outermost[Shares::kParallel], 90);
  EXPECT_DOUBLE_EQ(shares.innermost[Shares::kParallel], 10);
  EXPECT_DOUBLE_EQ(shares.outermost[Shares::kReduction], 0);
  EXPECT_DOUBLE_EQ(shares.innermost[Shares::kReduction], 80);
  EXPECT_DOUBLE_EQ(shares.innermost[Shares::kNotJudged], 9);
  EXPECT_DOUBLE_EQ(shares.outermost[Shares::kNotJudged], 9);
  EXPECT_DOUBLE_EQ(shares.innermost[Shares::kNoLoop], 1);
  EXPECT_DOUBLE_EQ(shares.innermost[Shares::kUnknown], 0);
}

TEST(ReportShares, calls_belong_to_the_loop_around_them) {
  TreeBuilder tree({"p"});
  tree.call("main", std::nullopt, std::nullopt, 1, 0);
  tree.loop(std::nullopt, 1, 1, 40);
  tree.call("f", std::nullopt, std::nullopt, 1, 60);
  Profile profile = tree.finish();
  Region region;
  region.node = 2;
  region.loops = {loop_of(profile, 2, Loop::Parallel::kUnknown, 0)};
  profile.regions = {region};
  EXPECT_DOUBLE_EQ(shares_of(profile).innermost[Shares::kUnknown], 100);
  EXPECT_DOUBLE_EQ(shares_of(profile).outermost[Shares::kUnknown], 100);
}

TEST(ReportShares, a_loop_that_never_repeats_is_none) {
  TreeBuilder tree({"p"});
  tree.call("main", std::nullopt, std::nullopt, 1, 0);
  tree.loop(std::nullopt, 1, 1, 40);
  tree.call("f", std::nullopt, std::nullopt, 1, 60);
  Profile profile = tree.finish();
  Region region;
  region.node = 2;
  region.loops = {loop_of(profile, 2, Loop::Parallel::kYes, 0)};
  region.loops[0].trip.max = 1;
  profile.regions = {region};
  EXPECT_DOUBLE_EQ(shares_of(profile).outermost[Shares::kNoLoop], 100);
  profile.regions[0].loops[0].trip.max = 2;
  EXPECT_DOUBLE_EQ(shares_of(profile).outermost[Shares::kParallel], 100);
}

TEST(ReportShares, add_up_on_any_tree) {
  std::mt19937 random(4);
  for (std::size_t nodes = 2; nodes < 60; nodes++) {
    Profile profile = testing::random_profile(random, nodes);
    if (profile.tree[0].ops == 0) continue;
    Region region;
    for (std::uint32_t i = 1; i < profile.tree.size(); i++)
      if (random() % 2 == 0) region.loops.push_back(loop_of(profile, i, Loop::Parallel(random() % 4), 0));
    profile.regions = {region};
    const Shares shares = shares_of(profile);
    double outermost = 0;
    double innermost = 0;
    for (std::size_t i = 0; i < Shares::kGroups; i++) {
      outermost += shares.outermost[i];
      innermost += shares.innermost[i];
    }
    EXPECT_NEAR(outermost, 100, 1e-6);
    EXPECT_NEAR(innermost, 100, 1e-6);
  }
}

// ---- text ----

TEST(ReportText, wraps_at_spaces_and_cuts_what_is_longer) {
  EXPECT_EQ(wrapped("a bb  ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(wrapped("abcdefgh", 4), std::vector<std::string>{"abc…"});
  EXPECT_EQ(wrapped("a 5 % b", 4), (std::vector<std::string>{"a", "5 %", "b"}));
  EXPECT_TRUE(wrapped("", 4).empty());
  EXPECT_TRUE(wrapped("  ", 4).empty());
}

TEST(ReportText, says_what_it_should) {
  ReportOptions options;
  options.next_command = "loopfold tree";
  const std::string text = report_text(nest_profile(), options);
  for (const char* part :
       {"Loops of ./nest 'a b': 1.00 k instructions in 1 thread, exit status 0", "one run: what follows holds for",
        "Region 0: nest.c:4 in main", "90.0        10  parallel*      nest.c:4",
        "80.0         8  reduction(+)*    nest.c:5", "- sum at nest.c:6: reassociates", "not judged (below 10 %)",
        "* No value and no decision goes from", "0.0 % of the operations are in loops whose verdict is unknown.",
        "Next: loopfold tree"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_FALSE(contains(text, "\x1b"));
  options.color = true;
  EXPECT_TRUE(contains(report_text(nest_profile(), options), "\x1b[")) << "coloured";
}

TEST(ReportText, quality_comes_before_the_loops) {
  Profile profile = nest_profile();
  profile.quality.push_back({"no debug info", "no lines", 0.25});
  profile.program.partial = true;
  const std::string text = report_text(profile, {});
  EXPECT_LT(text.find("no debug info: no lines (25.0 % of ops)"), text.find("Region 0"));
  EXPECT_LT(text.find("partial: the end of the run is missing"), text.find("Region 0"));
}

TEST(ReportText, the_footnote_is_there_when_it_is_needed) {
  Profile profile = nest_profile();
  for (Loop& loop : profile.regions[0].loops) loop.reuse = Loop::Reuse::kNone;
  const std::string text = report_text(profile, {});
  EXPECT_FALSE(contains(text, "*")) << text;
  EXPECT_TRUE(contains(text, "parallel"));
}

TEST(ReportText, what_is_left_out_is_counted) {
  Profile profile = nest_profile();
  ReportOptions options;
  options.min_percent = 85;
  EXPECT_TRUE(contains(report_text(profile, options), "… 1 more loop below 85 %"));
  options.min_percent = 95;
  std::string text = report_text(profile, options);
  EXPECT_TRUE(contains(text, "No loop has 95 % of the operations.")) << text;
  EXPECT_TRUE(contains(text, "… 1 more region, with 90.0 % of the operations")) << text;
  profile.regions.push_back(profile.regions[0]);
  options.min_percent = 1;
  options.top = 1;
  text = report_text(profile, options);
  EXPECT_TRUE(contains(text, "… 1 more region, with")) << text;
}

TEST(ReportText, what_can_be_done_comes_before_the_loops_and_suggestions_behind_them) {
  const std::string text = report_text(product_profile(), {});
  for (const char* part :
       {"    region        ops %  parallel  SIMD    interchange  tile  skew  fuse\n",
        " 0  product.c:12   88.4  yes       60.0 %  13,14        3D    no    2 to 1\n    why not: SIMD: product.c:14 "
        "is",
        " 1  product.c:20   10.5  ?         ?       ?            ?     ?     ?\n    why not: gave up: the budget was",
        "  1. LF-PAR Run product.c:12 in parallel\n     gain       3.25x\n     lines      product.c:12 in region 0\n"
        "     legal      unknown\n     requires   a private copy of tmp, along product.c:12: private(tmp)\n"
        "                row expanded to one copy per iteration, along product.c:12, 4.10 kB\n"
        "  2. LF-ICH Interchange product.c:13 and product.c:14\n     gain       1.50x: cache lines touched\n"
        "     lines      product.c:13, product.c:14 in region 0\n     legal      yes\n     requires   nothing\n",
        "parallel, SIMD: can all of the region's operations"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_LT(text.find("one run:"), text.find("What can be done to each region"));
  EXPECT_LT(text.find("What can be done to each region"), text.find("Region 0:"));
  EXPECT_LT(text.find("Region 1:"), text.find("Suggestions, the greatest gain first"));
  EXPECT_LT(text.find("Suggestions, the greatest gain first"), text.find("Operations by verdict"));
}

TEST(ReportText, suggestions_beyond_the_number_are_counted) {
  ReportOptions options;
  options.suggestions = 1;
  const std::string text = report_text(product_profile(), options);
  EXPECT_TRUE(contains(text, "1. LF-PAR"));
  EXPECT_FALSE(contains(text, "LF-ICH")) << text;
  EXPECT_TRUE(contains(text, "  … 1 more\n"));
}

TEST(ReportText, nothing_to_gain_is_said_plainly) {
  Profile profile = product_profile();
  profile.regions[0].suggestions.clear();
  EXPECT_TRUE(contains(report_text(profile, {}),
                       "No suggestions: nothing to gain was found in the regions that could be scheduled. 1 region was "
                       "given\nup on: see above.\n"))
      << report_text(profile, {});
  profile.regions.pop_back();
  EXPECT_TRUE(contains(report_text(profile, {}), "No suggestions: nothing to gain was found.\n"));
  profile.regions[0].transformed.reset();
  const std::string text = report_text(profile, {});
  EXPECT_TRUE(contains(text, "No suggestions: what another order of the loops could do was not looked for."));
  EXPECT_FALSE(contains(text, "What can be done"));
}

TEST(ReportText, loops_that_were_not_judged) {
  Profile profile = product_profile();
  profile.regions.clear();
  profile.judged = false;
  EXPECT_TRUE(contains(report_text(profile, {}), "Loops were not judged."));
}

TEST(ReportText, no_loops) {
  Profile profile = nest_profile();
  profile.regions.clear();
  EXPECT_TRUE(contains(report_text(profile, {}), "No loop has 10 % of the operations."));
  profile.regions_min_percent = 0;
  EXPECT_TRUE(contains(report_text(profile, {}), "No loops ran."));
}

/// A profile with anything for names, and deep nests.
Profile hostile_profile(std::mt19937& random, std::size_t nodes) {
  Profile profile = testing::random_profile(random, nodes);
  profile.judged = true;
  Region region;
  for (std::uint32_t i = 1; i < profile.tree.size(); i++) {
    Loop loop = loop_of(profile, i, Loop::Parallel(random() % 4), random() % 40);
    loop.ops_percent = static_cast<double>(random() % 101);
    const std::optional<Source> source = testing::random_source(random);
    const std::string text = testing::random_text(random);
    loop.function = text;
    loop.blocking.resize(random() % 4, blocking(text));
    loop.unknown.resize(random() % 5, {text, source, 1});
    loop.reductions.resize(random() % 3, {text, text, true, true, source});
    loop.reload.resize(random() % 6, {source, std::nullopt});
    loop.assumes.resize(random() % 3, {source});
    region.loops.push_back(loop);
  }
  region.ops_percent = 100;
  if (!region.loops.empty()) {
    profile.regions = {region, region};
    for (Region& one : profile.regions) testing::add_random_advice(profile, one, random);
  }
  return profile;
}

TEST(ReportText, fits_and_is_inert_whatever_the_names_are) {
  std::mt19937 random(5);
  for (std::size_t nodes = 1; nodes < 60; nodes++) {
    const Profile profile = hostile_profile(random, nodes);
    for (const std::size_t width : {60, 80, 100, 500}) {
      ReportOptions options;
      options.width = width;
      options.min_percent = 0;
      options.charset = random() % 2 == 0 ? Charset::kUnicode : Charset::kAscii;
      const std::string text = report_text(profile, options);
      EXPECT_LE(widest(text), std::min<std::size_t>(width, 100)) << text;
      for (const char c : text) {
        ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
        if (options.charset == Charset::kAscii) {
          ASSERT_LT(static_cast<unsigned char>(c), 0x80) << text;
        }
      }
    }
  }
}

// ---- Markdown ----

TEST(ReportMarkdown, tables) {
  const std::string text = report_markdown(nest_profile(), {});
  for (const char* part :
       {"# Loops of ./nest 'a b'", "## Region 0: nest.c:4 in main", "| nest.c:4 | main | 90.0 | 10 | parallel\\* |  |",
        "| &nbsp;&nbsp;nest.c:5 | main | 80.0 | 8 | reduction\\(\\+\\)\\* | sum at nest.c:6: ",
        "| parallel | 90.0 | 10.0 |"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(ReportMarkdown, transformations_and_suggestions) {
  const std::string text = report_markdown(product_profile(), {});
  for (const char* part :
       {"| 0 | product.c:12 | 88.4 | yes | 60.0 % | 13,14 | 3D | no | 2 to 1 | SIMD: product.c:14 is a reduction |\n",
        "| 1 | product.c:20 | 10.5 | ? | ? | ? | ? | ? | ? | gave up: the budget was used up |\n",
        "| 1 | LF-PAR | Run product.c:12 in parallel | 0 | product.c:12 | 3.25x |  | a private copy of tmp",
        "| 2 | LF-ICH | Interchange product.c:13 and product.c:14 | 0 | product.c:13, product.c:14 | 1.50x | cache "
        "lines "
        "touched | nothing | yes |\n"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(ReportMarkdown, names_cannot_end_a_cell) {
  std::mt19937 random(6);
  for (std::size_t nodes = 2; nodes < 40; nodes++) {
    const Profile profile = hostile_profile(random, nodes);
    ReportOptions options;
    options.min_percent = 0;
    std::istringstream lines(report_markdown(profile, options));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("|") || line.starts_with("|---")) continue;
      std::size_t cells = 0;
      for (std::size_t i = 0; i < line.size(); i++) {
        if (line[i] == '\\')
          i++;
        else if (line[i] == '|')
          cells++;
      }
      EXPECT_TRUE(cells == 7 || cells == 4 || cells == 11 || cells == 10) << line;
      EXPECT_FALSE(contains(line, "<script"));
    }
  }
}

}  // namespace
}  // namespace loopfold::views
