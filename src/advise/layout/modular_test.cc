#include "advise/layout/modular.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "advise/liveness/hand_made.h"
#include "advise/liveness/together.h"

namespace loopfold::layout {
namespace {

using advise::liveness::Storage;
using advise::liveness::testing::HandMade;
using poly::Isl;

/// for i: { for j: t[i][j] = ...; for j: use t[i - d][j - e] } or both in one loop over j, over rows x columns.
struct SmallProgram {
  int rows = 0, columns = 0;
  bool one_loop = false;
  std::vector<std::pair<int, int>> uses;  // (d, e)
};

Isl<isl_set> distances_of(HandMade& made, const SmallProgram& program) {
  const std::string box = fmt::format("0 <= i < {} and 0 <= j < {}", program.rows, program.columns);
  const auto time = [&](int place) {
    return program.one_loop ? fmt::format("[i, j, {}]", place) : fmt::format("[i, {}, j]", place);
  };
  Storage storage;
  const std::uint32_t store = made.unit("{ W[i, j] : " + box + " }", "{ W[i, j] -> " + time(0) + " }");
  made.access(storage, store, true, "{ W[i, j] -> [i, j] }");
  for (std::size_t k = 0; k < program.uses.size(); k++) {
    const auto [d, e] = program.uses[k];
    const std::string name = fmt::format("R{}[i, j]", k);
    const std::uint32_t use =
        made.unit(fmt::format("{{ {} : {} and 0 <= i - {} and 0 <= j - {} < {} }}", name, box, d, e, program.columns),
                  fmt::format("{{ {} -> {} }}", name, time(static_cast<int>(k) + 1)));
    made.access(storage, use, false, fmt::format("{{ {} -> [i - {}, j - {}] }}", name, d, e));
  }
  EXPECT_TRUE(find_ranges(made.isl.get(), made.written, false, storage));
  const Isl<isl_map> together = alive_together(storage, made.written);
  return Isl<isl_set>(isl_map_deltas(together.copy()));
}

/// Runs it with contracted cells: does every use find its value?
bool runs_right(const SmallProgram& program, const Moduli& moduli) {
  std::map<std::pair<int, int>, std::pair<int, int>> cells;
  const auto cell = [&](int i, int j) {
    const auto part = [&](int value, std::int64_t m) { return m == 0 ? value : value % static_cast<int>(m); };
    return std::pair(part(i, moduli[0]), part(j, moduli[1]));
  };
  bool right = true;
  const auto use = [&](std::size_t k, int i, int j) {
    const int x = i - program.uses[k].first, y = j - program.uses[k].second;
    // What is read before it is written comes from elsewhere.
    const bool written = x >= 0 && y >= 0 && y < program.columns && (x < i || !program.one_loop || y <= j);
    if (written) right = right && cells[cell(x, y)] == std::pair(x, y);
  };
  for (int i = 0; i < program.rows; i++) {
    if (program.one_loop) {
      for (int j = 0; j < program.columns; j++) {
        cells[cell(i, j)] = {i, j};
        for (std::size_t k = 0; k < program.uses.size(); k++) use(k, i, j);
      }
      continue;
    }
    for (int j = 0; j < program.columns; j++) cells[cell(i, j)] = {i, j};
    for (std::size_t k = 0; k < program.uses.size(); k++)
      for (int j = 0; j < program.columns; j++) use(k, i, j);
  }
  return right;
}

/// Every map of small moduli is legal if and only if the program runs right with it, and the fewest cells are found.
TEST(Modular, AgainstAnExecution) {
  std::mt19937 random(3);
  const auto number = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  int legal = 0, illegal = 0, contracted = 0;
  for (int round = 0; round < 40; round++) {
    SmallProgram program{number(2, 6), number(2, 6), number(0, 1) == 0, {}};
    for (int k = number(1, 2); k > 0; k--) program.uses.emplace_back(number(0, 2), number(-1, 2));
    HandMade made;
    const Isl<isl_set> distances = distances_of(made, program);
    std::int64_t fewest = program.rows * program.columns;
    for (std::int64_t a = 0; a <= program.rows; a++)
      for (std::int64_t b = 0; b <= program.columns; b++) {
        const bool right = runs_right(program, {a, b});
        ASSERT_EQ(keeps_apart(distances, {a, b}), right) << a << " " << b << " round " << round;
        (right ? legal : illegal)++;
        if (right) fewest = std::min(fewest, cells_of({a, b}, {program.rows, program.columns}));
      }
    const std::optional<ModularContraction> found = contract_modulo(distances, {program.rows, program.columns});
    contracted += found.has_value();
    EXPECT_EQ(found ? found->cells : program.rows * program.columns, fewest) << "round " << round;
  }
  EXPECT_GT(legal, 100);
  EXPECT_GT(illegal, 100);
  EXPECT_GT(contracted, 20);
}

TEST(Modular, TwoRows) {
  HandMade made;
  const Isl<isl_set> distances = distances_of(made, {50, 30, false, {{0, 0}, {1, 0}}});
  const std::optional<ModularContraction> found = contract_modulo(distances, {50, 30});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->moduli, (Moduli{2, 0}));
  EXPECT_EQ(found->cells, 60);
  EXPECT_FALSE(keeps_apart(distances, {1, 0}));
  EXPECT_FALSE(keeps_apart(distances, {2, 29}));
}

TEST(Modular, NothingIsAliveTogether) {
  const poly::IslContext isl(isl_ctx_alloc());
  const Isl<isl_set> none(isl_set_read_from_str(isl.get(), "{ [d, e] : false }"));
  const std::optional<ModularContraction> found = contract_modulo(none, {50, 30});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cells, 1);
  const Isl<isl_set> all(isl_set_read_from_str(isl.get(), "{ [d] : 0 < d < 40 }"));
  EXPECT_FALSE(contract_modulo(all, {40}));
}

}  // namespace
}  // namespace loopfold::layout
