// For tests: nests written down by hand. Loops and groups are added in the order in which they stand in the source;
// domains and flow are isl's text, in which the coordinates of a group are i, j, k.
//
//     HandMade nest;
//     const ContextId i = nest.loop(10), j = nest.loop(11, i);
//     const std::uint32_t g = nest.group(j, "0 <= i, j < 8");
//     nest.flow(g, g, "[i, j] -> [i, j + 1]");
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "advise/nest_facts.h"
#include "advise/schedule.h"
#include "poly/isl.h"
#include "poly/program.h"
#include "poly/testing.h"

namespace loopfold::advise::testing {

using structure::ContextId;
using structure::kNoContext;

/// A program with a loop tree and a profile around it. Lines are those of hist.c.
class HandMade {
 public:
  HandMade() : isl(isl_ctx_alloc()), start_(tree.start(1)) {}
  HandMade(const HandMade&) = delete;

  /// A loop in the body of another one, or an outermost one.
  ContextId loop(int line, ContextId around = kNoContext) {
    const ContextId id = tree.loop(around == kNoContext ? start_ : around, line);
    if (around == kNoContext) program.roots.push_back(id);
    body_of(around).push_back({0, id});
    return id;
  }

  /// A group in the body of a loop: one statement, of a line of its own.
  std::uint32_t group(ContextId in, const std::string& domain) {
    const auto number = static_cast<std::uint32_t>(program.groups.size());
    poly::Group& made = program.groups.emplace_back();
    made.name = fmt::format("G{}", number);
    made.statements = {number};
    for (ContextId at = in; at != start_; at = tree.tree[at].parent) made.loops.insert(made.loops.begin(), at);
    const std::string names = std::string("i, j, k").substr(0, 3 * made.loops.size() - 2);
    made.domain = poly::Isl<isl_set>(
        isl_set_read_from_str(isl.get(), fmt::format("{{ {}[{}] : {} }}", made.name, names, domain).c_str()));
    EXPECT_TRUE(made.domain) << domain;
    made.domains = {made.domain};
    body_of(in).push_back({number, kNoContext});
    profile::Statement& statement = tree.profile.statements.emplace_back();
    statement.id = number;
    statement.source = {{"/src/hist.c", 100 + static_cast<int>(number)}};
    return number;
  }

  /// "[i, j] -> [i, j + 1] : i < 3", within the domains of both.
  void flow(std::uint32_t from, std::uint32_t to, const std::string& text, bool reduction = false) {
    const std::size_t arrow = text.find("->");
    const std::string all = fmt::format("{{ {}{}-> {}{} }}", program.groups[from].name, text.substr(0, arrow),
                                        program.groups[to].name, text.substr(text.find('[', arrow)));
    poly::Isl<isl_map> map(isl_map_read_from_str(isl.get(), all.c_str()));
    EXPECT_TRUE(map) << all;
    map = poly::Isl<isl_map>(isl_map_intersect_domain(map.release(), program.groups[from].domain.copy()));
    map = poly::Isl<isl_map>(isl_map_intersect_range(map.release(), program.groups[to].domain.copy()));
    add(from, to, std::move(map), reduction);
  }

  void add(std::uint32_t from, std::uint32_t to, poly::Isl<isl_map> map, bool reduction) {
    poly::KeptFlow& kept = flows_.emplace_back();
    kept.reduction = reduction;
    poly::ProgramDependence& made = program.dependences.emplace_back();
    made.from = from;
    made.to = to;
    made.map = std::move(map);
    made.flow = &kept;
    find_reach(made);
  }

  /// As of dependences of which nothing is known but their instances.
  void forget_reach() {
    for (poly::ProgramDependence& dependence : program.dependences) {
      dependence.equal = 0;
      dependence.later = false;
    }
  }

  Order examined(Order order) {
    examine(isl.get(), program, order);
    return order;
  }
  Order written() { return examined(original_order(program)); }

  /// What the scheduler finds, proved; of no rows if it finds nothing.
  Order found(profile::Transformed::Fusion fusion = profile::Transformed::Fusion::kMax, bool bounded = false) {
    std::optional<Order> order =
        find_order(isl.get(), program, scheduling_constraints(isl.get(), program, bounded), fusion);
    return order ? examined(std::move(*order)) : Order{};
  }

  /// How far a dependence goes, as build_program() would know it.
  void find_reach(poly::ProgramDependence& made) const {
    if (isl_map_is_empty(made.map.get()) != isl_bool_false) return;
    const std::size_t most = std::min(program.groups[made.from].loops.size(), program.groups[made.to].loops.size());
    const auto holds = [&](isl_map* limits) {
      return isl_map_is_subset(made.map.get(), poly::Isl<isl_map>(limits).get()) == isl_bool_true;
    };
    const auto any = [&] { return isl_map_universe(isl_map_get_space(made.map.get())); };
    const auto at = [&] { return static_cast<int>(made.equal); };
    while (made.equal < most && holds(isl_map_equate(any(), isl_dim_in, at(), isl_dim_out, at()))) ++made.equal;
    made.later = made.equal < most && holds(isl_map_order_lt(any(), isl_dim_in, at(), isl_dim_out, at()));
  }

  poly::IslContext isl;  // before what lives in it
  poly::testing::Tree tree;
  poly::Program program;

 private:
  std::vector<poly::Program::Child>& body_of(ContextId loop) {
    for (auto& [of, children] : program.bodies)
      if (of == loop) return children;
    return program.bodies.emplace_back(loop, std::vector<poly::Program::Child>{}).second;
  }

  ContextId start_;
  std::deque<poly::KeptFlow> flows_;
};

/// The rows of groups of one depth, as numbers: {{1, 0}, {0, 1}}, with constants of 0.
inline std::vector<Row> rows_of(const std::vector<std::vector<std::int64_t>>& coefficients) {
  std::vector<Row> rows;
  for (const std::vector<std::int64_t>& row : coefficients) rows.push_back({row, 0});
  return rows;
}

/// An order of one group, as one band.
inline Order one_band(const std::vector<std::vector<std::int64_t>>& coefficients) {
  Order order;
  order.rows = {rows_of(coefficients)};
  OrderBand& band = order.bands.emplace_back();
  band.depth = static_cast<std::uint32_t>(coefficients.size());
  band.groups = {0};
  return order;
}

}  // namespace loopfold::advise::testing
