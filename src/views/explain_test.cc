#include "views/explain.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "views/advice_testing.h"
#include "views/loop_accesses.h"
#include "views/source_text.h"

namespace loopfold::views {
namespace {

using profile::Access;
using profile::Loop;
using profile::Profile;
using profile::Source;
using testing::contains;
using testing::product_profile;

std::string explained(const Profile& profile, const std::string& target, ExplainOptions options = {}) {
  const ReportWords words(profile);
  const Result<Found> found = find_loops(words, target);
  return found ? explain_text(words, *found, options) : found.error().message;
}

/// A directory that is gone at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("loopfold_explain_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_ / "src");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }

 private:
  std::filesystem::path path_;
};

// ---- accesses ----

TEST(LoopAccesses, strides_are_those_of_the_loop) {
  const Profile profile = product_profile();
  const auto strides = [&](std::size_t loop) {
    std::vector<std::string> texts;
    for (const LoopAccess& access : accesses_of(profile, profile.regions[0].loops[loop]))
      texts.push_back(profile.objects[access.object].name + " " + stride_text(access));
    return texts;
  };
  EXPECT_EQ(strides(2), (std::vector<std::string>{"a next element", "b +32 bytes", "c stays", "c stays"}));
  EXPECT_EQ(strides(1), (std::vector<std::string>{"a stays", "b next element", "c next element", "c next element",
                                                  "c next element"}));
}

TEST(LoopAccesses, those_of_one_line_and_stride_are_one) {
  Profile profile = product_profile();
  profile.accesses.push_back(profile.accesses[1]);
  const std::vector<LoopAccess> accesses = accesses_of(profile, profile.regions[0].loops[2]);
  ASSERT_EQ(accesses.size(), 4u);
  EXPECT_EQ(accesses[0].count, 128u);
}

TEST(LoopAccesses, of_several_pieces) {
  Profile profile = product_profile();
  Access& access = profile.accesses[1];
  access.coefficients = {std::nullopt, std::nullopt, std::nullopt};
  profile::AccessPiece piece;
  piece.coefficients = {64, 0, 16};
  piece.divisor = 2;
  access.pieces = {piece, piece};
  access.pieces[1].coefficients[0] = 128;
  const auto stride = [&](std::size_t loop) {
    for (const LoopAccess& one : accesses_of(profile, profile.regions[0].loops[loop]))
      if (one.object == access.object) return stride_text(one);
    return std::string("none");
  };
  EXPECT_EQ(stride(2), "next element");
  EXPECT_EQ(stride(1), "stays");
  EXPECT_EQ(stride(0), "irregular") << "the pieces differ";
  access.pieces[0].modulus = 100;
  EXPECT_EQ(stride(2), "next, wraps");
  access.pieces[0].coefficients[2] = access.pieces[1].coefficients[2] = 15;
  EXPECT_EQ(stride(2), "irregular") << "no whole number of bytes";
}

TEST(LoopAccesses, words_for_strides) {
  const auto text = [](profile::Coefficient stride, bool other = false) {
    return stride_text({std::nullopt, Access::Kind::kLoad, 8, 0, stride, other, false, 1});
  };
  EXPECT_EQ(text(0), "stays");
  EXPECT_EQ(text(8), "next element");
  EXPECT_EQ(text(-8), "previous element");
  EXPECT_EQ(text(-16), "-16 bytes");
  EXPECT_EQ(text(std::nullopt), "irregular");
  EXPECT_EQ(text(8, true), "another block");
}

// ---- source ----

TEST(SourceText, lines_around) {
  const Folder folder;
  folder.write("src/product.c", "1\n2\n3\n4\n5");
  const std::string file = folder.path() + "/src/product.c";
  const auto text = source_around({file, 3}, 1, 1);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->path, file);
  EXPECT_EQ(text->first, 2);
  EXPECT_EQ(text->lines, (std::vector<std::string>{"2", "3", "4"}));
  EXPECT_EQ(source_around({file, 1}, 2, 9)->lines.size(), 5u);
  EXPECT_FALSE(source_around({file, 6}, 2, 2)) << "another version of the file";
  EXPECT_FALSE(source_around({file, 0}, 2, 2));
  EXPECT_FALSE(source_around({file, INT32_MAX}, 2, 2));
  EXPECT_FALSE(source_around({folder.path(), 1}, 2, 2));
  EXPECT_FALSE(source_around({"", 1}, 2, 2));
}

TEST(SourceText, a_moved_tree_is_found) {
  const Folder folder;
  folder.write("src/product.c", "here");
  const auto text = source_around({"/nonexistent/build/src/product.c", 1}, 0, 0, folder.path());
  ASSERT_TRUE(text);
  EXPECT_EQ(text->lines[0], "here");
  EXPECT_FALSE(source_around({"/nonexistent/other.c", 1}, 0, 0, folder.path()));
}

// ---- the whole story ----

TEST(Explain, a_loop) {
  const std::string text = explained(product_profile(), "product.c:14");
  for (const char* part :
       {"Loop product.c:14 in main, region 0\n", "4 iterations each time it is entered; entered 16 times",
        "/home/me/src/product.c was not found here; --source DIR",
        "  main\n    loop product.c:12  ×4\n      loop product.c:13  ×4\n        loop product.c:14  ×4  (this one)\n",
        "  reduction(+)\n  - sum in c at product.c:15: reassociates", "b\n", "+32 bytes", "next element",
        "- interchange product.c:13 and product.c:14", "- why not: SIMD: product.c:14 is a reduction",
        "The nest as written\n  for product.c:12\n    for product.c:13\n", "The nest in the new order\n",
        "1. LF-ICH Interchange product.c:13 and product.c:14", "gain       1.50x: cache lines touched",
        "evidence   2 dependences checked", "legal      yes", "requires   nothing",
        "- the branch at product.c:16 always goes the way of this run", "holds for what this run did"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  EXPECT_FALSE(contains(text, "LF-PAR")) << "another loop's";
}

TEST(Explain, a_loop_that_carries_a_dependence) {
  const std::string text = explained(product_profile(), "product.c:20");
  for (const char* part :
       {"  no\n", "from ", "product.c:21", "product.c:22", " x ", "9\n", "- product.c:22 reads what product.c:21 wrote",
        "irregular", "- gave up: the budget was used up", "None: the region was given up on."})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(Explain, the_source_if_it_is_there) {
  const Folder folder;
  std::string source;
  for (int line = 1; line <= 30; line++)
    source += "\tline " + std::to_string(line) + (line == 12 ? "\x1b[31m" : "") + "\n";
  folder.write("src/product.c", source);
  ExplainOptions options;
  options.source_directory = folder.path();
  options.recorded = 0;
  std::string text = explained(product_profile(), "product.c:12", options);
  EXPECT_TRUE(contains(text, ">    12 |         line 12\\x1b[31m\n     13 |    ")) << text;
  EXPECT_TRUE(contains(text, "has changed since the program was recorded")) << text;
  options.recorded.reset();
  EXPECT_FALSE(contains(explained(product_profile(), "product.c:12", options), "has changed"));
}

TEST(Explain, a_region) {
  const std::string text = explained(product_profile(), "0");
  EXPECT_TRUE(text.starts_with("Region 0: product.c:12 in main\n")) << text;
  for (const char* part : {"product.c:14", "1. LF-PAR", "2. LF-ICH", "a private copy of tmp", "The nest as written"})
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
}

TEST(Explain, nothing_to_gain_is_said) {
  Profile profile = product_profile();
  profile.regions[0].suggestions.clear();
  EXPECT_TRUE(contains(explained(profile, "0"), "None: nothing to gain was found here."));
  profile.regions[0].transformed.reset();
  EXPECT_TRUE(contains(explained(profile, "0"), "None: what another order of the loops could do was not looked for."));
}

TEST(Explain, copies_contexts_and_lines_inside) {
  Profile profile = product_profile();
  profile.regions[0].loops[2].nodes = {4, 5};
  EXPECT_TRUE(contains(explained(profile, "product.c:14"), "The compiler has made 2 loops of it: nodes 4, 5"));
  EXPECT_TRUE(explained(profile, "product.c:15").starts_with("No loop starts on this line; this is the innermost"));
  ExplainOptions options;
  profile = product_profile();
  profile.regions[1].loops[0].source = testing::product_line(12);
  const std::string both = explained(profile, "product.c:12", options);
  EXPECT_TRUE(contains(both, "Loop product.c:12 in main, region 0\n"));
  EXPECT_TRUE(contains(both, "Loop product.c:12 in main, region 1\n"));
  EXPECT_EQ(both.find("\nSource\n"), both.rfind("\nSource\n")) << "once is enough";
  options.most_loops = 1;
  EXPECT_TRUE(contains(explained(profile, "product.c:12", options), "product.c:12@5  no"))
      << explained(profile, "product.c:12", options);
}

TEST(Explain, fits_and_is_inert_whatever_the_names_are) {
  std::mt19937 random(11);
  for (std::size_t nodes = 2; nodes < 40; nodes++) {
    Profile profile = testing::random_profile(random, nodes);
    profile.judged = profile.folded = true;
    profile::Region region;
    for (std::uint32_t i = 1; i < profile.tree.size(); i++) {
      Loop loop = testing::judged_loop(profile, i, Loop::Parallel(random() % 4), random() % 5);
      loop.function = testing::random_text(random);
      loop.blocking.resize(random() % 3);
      for (profile::Blocking& blocking : loop.blocking) {
        blocking.source_from = testing::random_source(random);
        blocking.text = testing::random_text(random);
        blocking.count = random();
      }
      loop.assumes.resize(random() % 2, {testing::random_source(random)});
      region.loops.push_back(loop);
    }
    profile.regions = {region};
    testing::add_random_advice(profile, profile.regions[0], random);
    const Charset charset = random() % 2 == 0 ? Charset::kUnicode : Charset::kAscii;
    const ReportWords words(profile, charset);
    ExplainOptions options;
    options.width = 60 + random() % 60;
    for (const Loop& loop : profile.regions[0].loops) {
      const std::string text = explain_text(words, {nullptr, {{&profile.regions[0], &loop}}, false}, options);
      ASSERT_LE(testing::widest(text), std::min<std::size_t>(options.width, 100)) << text;
      ASSERT_TRUE(testing::is_inert(text, charset)) << text;
    }
    const std::string text = explain_text(words, {&profile.regions[0], {}, false}, options);
    ASSERT_LE(testing::widest(text), std::min<std::size_t>(options.width, 100)) << text;
    ASSERT_TRUE(testing::is_inert(text, charset)) << text;
  }
}

}  // namespace
}  // namespace loopfold::views
