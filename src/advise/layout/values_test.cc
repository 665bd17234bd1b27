#include "advise/layout/values.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "advise/layout/contract.h"

namespace loopfold::layout {
namespace {

using UnionMap = poly::Isl<isl_union_map>;

UnionMap union_map(isl_ctx* context, const std::string& text) {
  return UnionMap(isl_union_map_read_from_str(context, text.c_str()));
}

bool equal(const UnionMap& one, const UnionMap& other) {
  return isl_union_map_is_equal(one.get(), other.get()) == isl_bool_true;
}

/// The paper's sample: S: A[i][j] = C[i][j-1];  T: B[i][j] = A[i][j] + C[i-1][j];  U: C[i][j] = B[i][j].
ValueProgram sample(isl_ctx* context, const std::set<std::string>& live_out = {}, const std::string& sizes = "") {
  const std::string box = "[ni, nj] -> { X[i, j] : 1 <= i < ni and 1 <= j < nj }";
  const auto statement = [&](char name, const std::string& write, const std::string& reads, int place) {
    std::string domain = box;
    domain[domain.find('X')] = name;
    const auto of = [&](const std::string& accesses) {
      std::string text;
      std::size_t begin = 0;
      while (begin < accesses.size()) {
        const std::size_t end = std::min(accesses.find(';', begin), accesses.size());
        text += fmt::format("{}{}[i, j] -> {}", begin == 0 ? "" : "; ", name, accesses.substr(begin, end - begin));
        begin = end + 1;
      }
      return "{ " + text + " }";
    };
    const std::string order = fmt::format("{{ {}[i, j] -> [i, j, {}] }}", name, place);
    Result<ValueStatement> made = value_statement(context, domain, of(write), of(reads), order);
    EXPECT_TRUE(made) << made.error().message;
    return *made;
  };
  const std::string text = sizes.empty() ? "[ni, nj] -> { : ni >= 3 and nj >= 3 }" : sizes;
  Result<ValueProgram> program = ValueProgram::analyse(
      context,
      {statement('S', "A[i, j]", "C[i, j - 1]", 0), statement('T', "B[i, j]", "A[i, j];C[i - 1, j]", 1),
       statement('U', "C[i, j]", "B[i, j]", 2)},
      live_out, poly::Isl<isl_set>(isl_set_read_from_str(context, text.c_str())));
  EXPECT_TRUE(program) << program.error().message;
  return *program;
}

const char* const kPapers = "{ S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [1, j] }";

TEST(Values, FlowOfTheSample) {
  const poly::IslContext context(isl_ctx_alloc());
  const ValueProgram program = sample(context.get(), {"C"});
  UnionMap wanted = union_map(context.get(),
                              "[ni, nj] -> { S[i, j] -> T[i, j] : 1 <= i < ni and 1 <= j < nj; T[i, j] -> U[i, j] : 1 "
                              "<= i < ni and 1 <= j < nj;"
                              " U[i, j] -> S[i, j + 1] : 1 <= i < ni and 1 <= j < nj - 1; U[i, j] -> T[i + 1, j] : 1 "
                              "<= i < ni - 1 and 1 <= j < nj;"
                              " live_in_C[i, 0] -> S[i, 1] : 1 <= i < ni; live_in_C[0, j] -> T[1, j] : 1 <= j < nj;"
                              " U[i, j] -> live_out_C[i, j] : 1 <= i < ni and 1 <= j < nj }");
  const poly::Isl<isl_set> sizes(isl_set_read_from_str(context.get(), "[ni, nj] -> { : ni >= 3 and nj >= 3 }"));
  wanted = UnionMap(isl_union_map_intersect_params(wanted.release(), sizes.copy()));
  EXPECT_TRUE(equal(program.flow(), wanted)) << poly::take_text(isl_union_map_to_str(program.flow().get()));
}

TEST(Values, PapersContractionIsLegalUnlessArraysAreLiveOut) {
  const poly::IslContext context(isl_ctx_alloc());
  const UnionMap papers = union_map(context.get(), kPapers);
  const Proof proof = sample(context.get()).check(papers);
  EXPECT_EQ(proof.answer, Answer::kYes) << proof.why;
  for (const char* const array : {"A", "B", "C"})
    EXPECT_EQ(sample(context.get(), {array}).check(papers).answer, Answer::kNo) << array;
  EXPECT_EQ(sample(context.get(), {"A", "B", "C"}).check(sample(context.get()).total_expansion()).answer, Answer::kYes);
}

TEST(Values, OneCellFewerIsRefused) {
  const poly::IslContext context(isl_ctx_alloc());
  const ValueProgram program = sample(context.get(), {}, "[ni, nj] -> { : ni >= 3 and nj = 9 }");
  const auto answer = [&](const std::string& layout) { return program.check(union_map(context.get(), layout)).answer; };
  EXPECT_EQ(answer(kPapers), Answer::kYes);
  EXPECT_EQ(answer("{ S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [1, j mod 8] }"), Answer::kYes);
  EXPECT_EQ(answer("{ S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [1, j mod 7] }"), Answer::kNo);
  EXPECT_EQ(answer("{ S[i, j] -> [1, 8]; T[i, j] -> [1, 8]; U[i, j] -> [1, j] }"), Answer::kNo);
  EXPECT_EQ(answer("{ S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [0] }"), Answer::kNo);
  EXPECT_EQ(answer("{ S[i, j] -> [0]; T[i, j] -> [0] }"), Answer::kNo);
  const Result<std::int64_t> cells = program.cells(union_map(context.get(), kPapers), {{"ni", 6}, {"nj", 9}});
  ASSERT_TRUE(cells);
  EXPECT_EQ(*cells, 1 + 8);
}

/// The row of live-ins may wait in U's cells. The column may not: all of it comes at once, into one cell; unless each
/// of its values comes when its row begins.
TEST(Values, LiveInsMayBePlaced) {
  const poly::IslContext context(isl_ctx_alloc());
  const ValueProgram program = sample(context.get());
  const std::string papers = std::string(kPapers, std::string(kPapers).size() - 1);
  EXPECT_EQ(program.check(union_map(context.get(), papers + "; live_in_C[i, j] -> [1, j] : i = 0 }")).answer,
            Answer::kYes);
  EXPECT_EQ(program.check(union_map(context.get(), papers + "; live_in_C[i, j] -> [1, j] }")).answer, Answer::kNo);

  std::vector<ValueStatement> statements = program.statements();
  Result<ValueStatement> column = value_statement(context.get(), "[ni, nj] -> { L[i] : 1 <= i < ni }",
                                                  "{ L[i] -> C[i, 0] }", "{ }", "{ L[i] -> [i, 0, 0] }");
  ASSERT_TRUE(column) << column.error().message;
  statements.push_back(*column);
  const Result<ValueProgram> with_column = ValueProgram::analyse(
      context.get(), statements, {},
      poly::Isl<isl_set>(isl_set_read_from_str(context.get(), "[ni, nj] -> { : ni >= 3 and nj >= 3 }")));
  ASSERT_TRUE(with_column);
  const Proof proof =
      with_column->check(union_map(context.get(), papers + "; L[i] -> [1, 0]; live_in_C[i, j] -> [1, j] : i = 0 }"));
  EXPECT_EQ(proof.answer, Answer::kYes) << proof.why;
}

TEST(Values, AnOrderMustProduceBeforeItConsumes) {
  const poly::IslContext context(isl_ctx_alloc());
  const ValueProgram program = sample(context.get());
  const UnionMap interchanged =
      union_map(context.get(), "{ S[i, j] -> [j, i, 0]; T[i, j] -> [j, i, 1]; U[i, j] -> [j, i, 2] }");
  EXPECT_EQ(program.check(program.total_expansion(), interchanged).answer, Answer::kYes);
  EXPECT_EQ(program.check(union_map(context.get(), kPapers), interchanged).answer, Answer::kNo);
  EXPECT_EQ(
      program.check(union_map(context.get(), "{ S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [1, i] }"), interchanged)
          .answer,
      Answer::kYes);
  const UnionMap reversed =
      union_map(context.get(), "{ S[i, j] -> [i, -j, 0]; T[i, j] -> [i, -j, 1]; U[i, j] -> [i, -j, 2] }");
  const Proof proof = program.check(program.total_expansion(), reversed);
  EXPECT_EQ(proof.answer, Answer::kNo);
  EXPECT_NE(proof.why.find("read before it is written"), std::string::npos);
}

/// A value that nothing reads may still not be put where a live one is.
TEST(Values, DeadValuesOverwriteToo) {
  const poly::IslContext context(isl_ctx_alloc());
  const auto make = [&](const std::string& name, const std::string& write, const std::string& reads, int place) {
    return *value_statement(context.get(), "{ " + name + "[] }", "{ " + name + "[] -> " + write + " }",
                            reads.empty() ? "{ }" : "{ " + name + "[] -> " + reads + " }",
                            fmt::format("{{ {}[] -> [{}] }}", name, place));
  };
  const Result<ValueProgram> program = ValueProgram::analyse(
      context.get(), {make("P", "a[]", "", 0), make("D", "d[]", "", 1), make("Q", "q[]", "a[]", 2)}, {"q"},
      poly::Isl<isl_set>(isl_set_read_from_str(context.get(), "{ : }")));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->check(union_map(context.get(), "{ P[] -> [0]; D[] -> [0]; Q[] -> [1] }")).answer, Answer::kNo);
  EXPECT_EQ(program->check(union_map(context.get(), "{ P[] -> [0]; D[] -> [1]; Q[] -> [0] }")).answer, Answer::kYes);
}

TEST(Contract, PapersContractionIsFound) {
  const poly::IslContext context(isl_ctx_alloc());
  const ValueProgram program = sample(context.get());
  const Result<Contraction> found = contract(program, {{"ni", 7}, {"nj", 40}});
  ASSERT_TRUE(found) << found.error().message;
  UnionMap papers = union_map(context.get(), kPapers);
  papers = UnionMap(
      isl_union_map_intersect_domain(papers.release(), isl_union_map_domain(program.total_expansion().release())));
  EXPECT_TRUE(equal(found->layout, papers)) << poly::take_text(isl_union_map_to_str(found->layout.get()));
  EXPECT_EQ(found->cells, 1 + 39);
  EXPECT_EQ(found->expanded, 3 * 6 * 39);
}

TEST(Contract, WhatIsLiveOutIsKept) {
  const poly::IslContext context(isl_ctx_alloc());
  const Result<Contraction> found = contract(sample(context.get(), {"C"}), {{"ni", 5}, {"nj", 6}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->cells, 4 * 5);  // S and T wait in the cell that U will write
}

/// Two rows in turn for a stencil over time; two or three cells for a recurrence.
TEST(Contract, RowsInTurn) {
  const poly::IslContext context(isl_ctx_alloc());
  const auto one = [&](const std::string& domain, const std::string& write, const std::string& reads,
                       const std::string& order) {
    return ValueProgram::analyse(
        context.get(), {*value_statement(context.get(), domain, write, reads, order)}, {},
        poly::Isl<isl_set>(isl_set_read_from_str(context.get(), "[t, n] -> { : t >= 4 and n >= 9 }")));
  };
  const Result<ValueProgram> stencil = one(
      "[t, n] -> { J[i, x] : 1 <= i < t and 1 <= x < n }", "{ J[i, x] -> A[i, x] }",
      "{ J[i, x] -> A[i - 1, x - 1]; J[i, x] -> A[i - 1, x]; J[i, x] -> A[i - 1, x + 1] }", "{ J[i, x] -> [i, x] }");
  ASSERT_TRUE(stencil);
  const Result<Contraction> rows = contract(*stencil, {{"t", 10}, {"n", 50}});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->cells, 2 * 49);
  const Result<ValueProgram> fibonacci = one("[t, n] -> { F[i] : 0 <= i < n }", "{ F[i] -> f[i] }",
                                             "{ F[i] -> f[i - 1]; F[i] -> f[i - 2] }", "{ F[i] -> [i] }");
  ASSERT_TRUE(fibonacci);
  const Result<Contraction> cells = contract(*fibonacci, {{"t", 4}, {"n", 30}});
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->cells, 2);
}

// ---- against an execution, cell by cell ----

struct SmallAccess {
  int array = 0;
  int di = 0, dj = 0;
};
struct SmallStatement {
  SmallAccess write;
  std::vector<SmallAccess> reads;
};
struct SmallLayout {
  int bank = 0;
  int ci = 0, cj = 0, constant = 0, modulus = 0;  // (ci*i + cj*j + constant) mod modulus
  int cell(int i, int j) const { return bank * 1000 + ((ci * i + cj * j + constant) % modulus + modulus) % modulus; }
};

constexpr int kRows = 3;
constexpr int kColumns = 4;

/// Runs the program with every value in its cell, and sees whether each read finds the value that it should.
bool runs_right(const std::vector<SmallStatement>& program, const std::vector<SmallLayout>& layout, bool live_out) {
  using Value = std::array<int, 3>;
  std::map<std::array<int, 3>, Value> arrays;  // (array, i, j) -> the value that is there
  std::map<int, Value> cells;
  std::map<Value, int> places;
  const auto holds = [&](const Value& value) { return cells[places[value]] == value; };
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++)
      for (int s = 0; s < static_cast<int>(program.size()); s++) {
        const SmallStatement& statement = program[static_cast<std::size_t>(s)];
        for (const SmallAccess& read : statement.reads) {
          const auto found = arrays.find({read.array, i + read.di, j + read.dj});
          if (found != arrays.end() && !holds(found->second)) return false;
        }
        const Value value = {s, i, j};
        places[value] = layout[static_cast<std::size_t>(s)].cell(i, j);
        cells[places[value]] = value;
        arrays[{statement.write.array, i + statement.write.di, j + statement.write.dj}] = value;
      }
  if (!live_out) return true;
  return std::all_of(arrays.begin(), arrays.end(),
                     [&](const auto& element) { return element.first[0] != 0 || holds(element.second); });
}

ValueProgram as_isl(isl_ctx* context, const std::vector<SmallStatement>& program, bool live_out) {
  std::vector<ValueStatement> statements;
  for (std::size_t s = 0; s < program.size(); s++) {
    const auto access = [&](const SmallAccess& a) {
      return fmt::format("S{}[i, j] -> a{}[i + {}, j + {}]", s, a.array, a.di, a.dj);
    };
    std::string reads;
    for (const SmallAccess& read : program[s].reads) reads += (reads.empty() ? "" : "; ") + access(read);
    statements.push_back(
        *value_statement(context, fmt::format("{{ S{}[i, j] : 0 <= i < {} and 0 <= j < {} }}", s, kRows, kColumns),
                         "{ " + access(program[s].write) + " }", "{ " + reads + " }",
                         fmt::format("{{ S{0}[i, j] -> [i, j, {0}] }}", s)));
  }
  std::set<std::string> out;
  if (live_out) out.insert("a0");
  return *ValueProgram::analyse(context, statements, out, poly::Isl<isl_set>(isl_set_read_from_str(context, "{ : }")));
}

TEST(Values, RandomLayoutsAgainstAnExecution) {
  const poly::IslContext context(isl_ctx_alloc());
  std::mt19937 random(5);
  const auto number = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  int legal = 0, illegal = 0;
  for (int round = 0; round < 20; round++) {
    std::vector<SmallStatement> program(static_cast<std::size_t>(number(1, 3)));
    for (SmallStatement& statement : program) {
      statement.write = {number(0, 1), 0, 0};
      for (int r = number(1, 2); r > 0; r--) statement.reads.push_back({number(0, 1), number(-1, 1), number(-1, 1)});
    }
    const bool live_out = number(0, 3) == 0;
    const ValueProgram values = as_isl(context.get(), program, live_out);
    for (int trial = 0; trial < 4; trial++) {
      std::vector<SmallLayout> layout;
      std::string text;
      for (std::size_t s = 0; s < program.size(); s++) {
        const bool linear = number(0, 2) == 0;
        layout.push_back({number(0, 2), linear ? kColumns : number(0, 2), linear ? 1 : number(0, 2), number(0, 2),
                          number(linear ? 3 : 1, 14)});
        const SmallLayout& l = layout.back();
        text += fmt::format("{}S{}[i, j] -> [{}, ({} i + {} j + {}) mod {}]", s == 0 ? "" : "; ", s, l.bank, l.ci, l.cj,
                            l.constant, l.modulus);
      }
      const Proof proof = values.check(union_map(context.get(), "{ " + text + " }"));
      const bool right = runs_right(program, layout, live_out);
      ASSERT_EQ(proof.answer, right ? Answer::kYes : Answer::kNo) << text << proof.why;
      (right ? legal : illegal)++;
    }
  }
  EXPECT_GT(legal, 5);
  EXPECT_GT(illegal, 20);
}

}  // namespace
}  // namespace loopfold::layout
