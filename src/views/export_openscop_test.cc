// OpenScop of made-up profiles: read back and compared with the profile, as sets of isl.
#include "views/export_openscop.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <isl/cpp.h>

#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "views/advice_testing.h"
#include "views/openscop_relation.h"

namespace loopfold::views {
namespace {

using profile::Dependence;
using profile::Profile;
using testing::contains;
using testing::flow_of;
using testing::product_profile;

struct FreeContext {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};
using Context = std::unique_ptr<isl_ctx, FreeContext>;

/// A relation as it stands in a file.
struct Relation {
  std::string kind;
  std::string set;  // isl text over the output dimensions, then the input dimensions
};

/// The words of a document, without comments.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line.substr(0, line.find('#')));
    for (std::string word; parts >> word;) words.push_back(word);
  }
  return words;
}

/// One part of a relation: "[x0, x1] : exists (l0: ...)".
std::string read_part(const std::vector<std::string>& words, std::size_t& at) {
  std::vector<int> head;
  for (int i = 0; i < 6; i++) head.push_back(std::stoi(words.at(at++)));
  const int dimensions = head[2] + head[3];
  EXPECT_EQ(head[1], dimensions + head[4] + head[5] + 2);
  std::vector<std::string> names;
  std::vector<std::string> locals;
  for (int i = 0; i < dimensions; i++) names.push_back(fmt::format("x{}", i));
  for (int i = 0; i < head[4]; i++) locals.push_back(fmt::format("l{}", i));
  std::vector<std::string> all = names;
  all.insert(all.end(), locals.begin(), locals.end());
  std::vector<std::string> conditions = {"0 = 0"};
  for (int row = 0; row < head[0]; row++) {
    const bool inequality = words.at(at++) == "1";
    std::string sum = "0";
    for (const std::string& name : all) sum += fmt::format(" + {} {}", words.at(at++), name);
    conditions.push_back(fmt::format("{} + {} {} 0", sum, words.at(at++), inequality ? ">=" : "="));
  }
  const std::string where = fmt::format("{}", fmt::join(conditions, " and "));
  return fmt::format("[{}] : {}", fmt::join(names, ", "),
                     locals.empty() ? where : fmt::format("exists ({}: {})", fmt::join(locals, ", "), where));
}

Relation read_relation(const std::vector<std::string>& words, std::size_t& at) {
  Relation relation;
  relation.kind = words.at(at++);
  // A part starts with six numbers; a union with the number of parts, on a line of its own. Rows start with 0 or 1.
  std::size_t parts = 1;
  const std::size_t rows = std::stoul(words.at(at));
  const std::size_t columns = std::stoul(words.at(at + 1));
  const bool is_part = columns == std::stoul(words.at(at + 2)) + std::stoul(words.at(at + 3)) +
                                      std::stoul(words.at(at + 4)) + std::stoul(words.at(at + 5)) + 2;
  if (!is_part) {
    parts = rows;
    at++;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < parts; i++) texts.push_back(read_part(words, at));
  relation.set = fmt::format("{{ {} }}", fmt::join(texts, "; "));
  return relation;
}

/// By statement: its relations.
std::vector<std::vector<Relation>> read_scop(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  std::size_t at = 0;
  std::vector<std::vector<Relation>> statements;
  if (words.empty()) return statements;
  EXPECT_EQ(words.at(at++), "<OpenScop>");
  EXPECT_EQ(words.at(at++), "C");
  EXPECT_EQ(words.at(at++), "CONTEXT");
  at += 6;
  EXPECT_EQ(words.at(at++), "0") << "parameters";
  statements.resize(std::stoul(words.at(at++)));
  for (std::vector<Relation>& relations : statements) {
    relations.resize(std::stoul(words.at(at++)));
    for (Relation& relation : relations) relation = read_relation(words, at);
    EXPECT_EQ(words.at(at++), "1") << "extensions";
    EXPECT_EQ(words.at(at++), "<body>");
    while (words.at(at) != "</body>") at++;
    at++;
  }
  EXPECT_EQ(words.at(at++), "<arrays>");
  while (words.at(at) != "</arrays>") at++;
  EXPECT_EQ(words.at(at + 1), "</OpenScop>");
  return statements;
}

std::string written(const Profile& profile, OpenScopCounts* counts = nullptr) {
  std::string text;
  const OpenScopCounts found = write_openscop(profile, [&](std::string_view part) {
    text += part;
    return true;
  });
  if (counts != nullptr) *counts = found;
  return text;
}

void expect_equal(const std::string& one, const std::string& other) {
  const Context context(isl_ctx_alloc());
  EXPECT_TRUE(isl::set(isl::ctx(context.get()), one).is_equal(isl::set(isl::ctx(context.get()), other))) << one << "\n"
                                                                                                         << other;
}

TEST(OpenScop, statements_domains_order_and_accesses) {
  OpenScopCounts counts;
  const std::string text = written(product_profile(), &counts);
  EXPECT_EQ(counts.written, 1u);
  EXPECT_EQ(counts.left_out, 1u);
  EXPECT_TRUE(contains(text, "# Region 1 is left out: an access of S2 is not affine\n")) << text;
  EXPECT_TRUE(contains(text, "S1(i0, i1, i2);"));
  EXPECT_TRUE(contains(text, "\n1 a_0\n2 b_1\n3 c_2\n</arrays>"));
  const std::vector<std::vector<Relation>> statements = read_scop(text);
  ASSERT_EQ(statements.size(), 2u);
  ASSERT_EQ(statements[0].size(), 3u);
  expect_equal(statements[0][0].set, "{ [i, j] : 0 <= i <= 3 and 0 <= j <= 3 }");
  expect_equal(statements[0][1].set, "{ [0, i, 0, j, 0, 0, 0, i, j] }");
  EXPECT_EQ(statements[0][2].kind, "WRITE");
  expect_equal(statements[0][2].set, "{ [3, x, i, j] : x = 4 i + j }");
  ASSERT_EQ(statements[1].size(), 6u);
  expect_equal(statements[1][1].set, "{ [0, i, 0, j, 1, k, 0, i, j, k] }");
  EXPECT_EQ(statements[1][2].kind, "READ");
  expect_equal(statements[1][2].set, "{ [1, x, i, j, k] : x = 4 i + k }");
  expect_equal(statements[1][3].set, "{ [2, x, i, j, k] : x = 4 k + j }");
  EXPECT_EQ(statements[1][5].kind, "WRITE");
}

TEST(OpenScop, accesses_of_several_sizes_are_bytes) {
  Profile profile = product_profile();
  profile.accesses[0].size = 4;
  const std::vector<std::vector<Relation>> statements = read_scop(written(profile));
  expect_equal(statements[0][2].set, "{ [3, x, i, j] : 32 i + 8 j <= x < 32 i + 8 j + 4 }");
  expect_equal(statements[1][5].set, "{ [3, x, i, j, k] : 32 i + 8 j <= x < 32 i + 8 j + 8 }");
  expect_equal(statements[1][2].set, "{ [1, x, i, j, k] : x = 4 i + k }");
}

TEST(OpenScop, accesses_that_are_not_aligned_are_bytes) {
  Profile profile = product_profile();
  profile.accesses[1].constant = 4;
  expect_equal(read_scop(written(profile))[1][2].set, "{ [1, x, i, j, k] : 32 i + 8 k + 4 <= x < 32 i + 8 k + 12 }");
}

TEST(OpenScop, blocks_are_a_dimension_where_there_are_several) {
  Profile profile = product_profile();
  profile.objects[0].blocks = 4;
  profile.accesses[1].coefficients = {0, 0, 8};
  profile.accesses[1].block_coefficients = {1, 0, 0};
  expect_equal(read_scop(written(profile))[1][2].set, "{ [1, i, k, i, j, k] }");
}

TEST(OpenScop, values_in_registers_are_arrays_but_for_counters) {
  Profile profile = product_profile();
  profile.dependences.push_back(flow_of(0, 1, Dependence::Kind::kRegister,
                                        "{ S0[i0, i1] -> S1[i0, i1, i2] : 0 <= i0, i1, i2 <= 3 }", std::nullopt, 64));
  std::vector<std::vector<Relation>> statements = read_scop(written(profile));
  ASSERT_EQ(statements[0].size(), 4u);
  expect_equal(statements[0][3].set, "{ [5, i, j, i, j] }");
  ASSERT_EQ(statements[1].size(), 7u);
  EXPECT_EQ(statements[1][6].kind, "READ");
  expect_equal(statements[1][6].set, "{ [5, i, j, i, j, k] }");
  profile::Value counter;
  counter.statement = 0;
  profile.values = {counter};
  statements = read_scop(written(profile));
  EXPECT_EQ(statements[0].size(), 3u) << "an affine integer";
  profile.values[0].affine = false;
  EXPECT_EQ(read_scop(written(profile))[0].size(), 4u);
}

TEST(OpenScop, what_cannot_be_written_says_why) {
  const auto reason = [](const Profile& profile) {
    const std::string text = written(profile);
    const std::size_t at = text.find("# Region 0 is left out: ");
    return at == std::string::npos ? "" : text.substr(at + 24, text.find('\n', at) - at - 24);
  };
  Profile profile = product_profile();
  EXPECT_EQ(reason(profile), "");
  profile.statements[1].exact = false;
  EXPECT_EQ(reason(profile), "the iterations of S1 are not known exactly");
  profile = product_profile();
  profile.statements[1].kind = profile::Statement::Kind::kSystemCall;
  EXPECT_EQ(reason(profile), "it calls the allocator or the system");
  profile = product_profile();
  profile.dependences[0].kind = Dependence::Kind::kEnvironment;
  EXPECT_EQ(reason(profile), "it does input or output");
  profile.dependences[0].kind = Dependence::Kind::kControl;
  profile.dependences[0].exact = false;
  EXPECT_EQ(reason(profile), "a flow from S0 to S1 is not affine");
  profile = product_profile();
  profile.statements[1].domain = "{ what";
  EXPECT_EQ(reason(profile), "isl's budget was used up");
  EXPECT_TRUE(contains(written(Profile{}), "folded by Loopfold"));
}

/// Any set comes back: unions, strides, nothing at all.
TEST(OpenScop, relations_are_exact) {
  const char* const sets[] = {"{ [x] : 0 <= x <= 9 }",
                              "{ [x] : 0 <= x <= 9 and x mod 3 = 1 }",
                              "{ [x, y] : 2 <= x <= 20 and 0 <= 2 y <= x and (x + y) mod 4 != 2 }",
                              "{ [x] : 0 <= x <= 3 or 7 <= x <= 9 }",
                              "{ [x] : 1 = 0 }",
                              "{ [x, y] : exists (k : x = 3 k + y and 0 <= k <= 5) and 0 <= y <= 7 }",
                              "{ [x, y] : y = floor(x / 5) and 0 <= x < 33 }"};
  for (const char* const text : sets) {
    const poly::IslContext context(isl_ctx_alloc());
    poly::Isl<isl_set> set(isl_set_read_from_str(context.get(), text));
    const std::string relation = openscop_relation("DOMAIN", std::move(set), 1);
    const std::vector<std::string> words = words_of(relation);
    std::size_t at = 0;
    const Relation back = read_relation(words, at);
    EXPECT_EQ(at, words.size());
    expect_equal(back.set, text);
  }
}

}  // namespace
}  // namespace loopfold::views
