// Orders of a polyhedral program: what isl's scheduler proposes, and what can be proved about an order, whoever made
// it.
//
// An order gives every instance of a group a time, a vector of so many affine *rows*; instances run by time, in
// lexicographic order. A *band* is a stretch of rows, for some of the groups, in which no dependence goes backwards:
// its rows may change places, and it may be tiled. A row of a band is *parallel* if no dependence is carried by it.
//
// What the scheduler says about its own result is not believed: examine() takes every dependence of the program, with
// all its bounds, and looks at the differences of times. That is an independent proof, and it finds more: the scheduler
// is asked about a larger, simpler set of dependences (without large upper bounds and other large numbers, which it is
// slow with, see sizes.h; what is legal for more dependences is legal for these), and calls a loop inside a skewed one
// sequential though it is not. Where the loop that carries a dependence says enough, as in the order as written, isl is
// not asked.
//
// Exact: an order that examine() calls legal keeps every dependence of the program, and a row called parallel carries
// none. What isl could not decide within its budget counts as violated, or as carried.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poly/isl.h"
#include "poly/program.h"
#include "profile/profile.h"

namespace loopfold::advise {

/// A row with a greater coefficient is a skew that nobody would write down.
inline constexpr std::int64_t kGreatestCoefficient = 3;

struct Row {
  std::vector<std::int64_t> coefficients;  // by coordinate of the group
  std::int64_t constant = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

enum class Carries : std::uint8_t { kNothing, kReduction, kFlow };

/// Differences of times, in the rows of a band, that are not carried by rows before it.
struct Differences {
  poly::Isl<isl_set> set;
  bool reduction = false;
};

struct OrderBand {
  std::uint32_t first = 0;  // row
  std::uint32_t depth = 0;
  std::vector<std::uint32_t> groups;
  bool permutable = false;               // found by examine()
  std::vector<Carries> carries;          // by row of the band; found by examine()
  std::vector<Carries> alone;            // the same if the row were the first of the band
  std::vector<Differences> differences;  // all different; found by examine()
  /// Groups of the band, from producer to consumer, of dependences that no row before it carries; found by examine().
  std::set<std::pair<std::uint32_t, std::uint32_t>> links;
};

struct Order {
  std::vector<std::vector<Row>> rows;  // by group: all of one length
  std::vector<OrderBand> bands;        // outer ones first
  profile::Transformed::Fusion fusion = profile::Transformed::Fusion::kNone;
  bool legal = false;                   // found by examine()
  std::optional<std::size_t> violated;  // a dependence of the program that it does not keep

  std::size_t length() const { return rows.empty() ? 0 : rows.front().size(); }
};

/// The order as written. Bands are single loops.
Order original_order(const poly::Program& program);

/// What the scheduler is asked about: the same for every kind of fusion. Null where the context's budget was used up,
/// and where there are far too many pieces to begin with it.
struct Constraints {
  poly::Isl<isl_union_set> domain;
  poly::Isl<isl_union_map> all;      // dependences, but for
  poly::Isl<isl_union_map> implied;  // those that follow from two others each
  poly::Isl<isl_union_map> near;     // those with one distance, which is to be short
  std::vector<std::int64_t> sizes;   // by parameter: what it stands for
  bool bounded = false;              // with all bounds
};
/// `bounded`: with large upper bounds, as numbers.
Constraints scheduling_constraints(isl_ctx* isl, const poly::Program& program, bool bounded);

/// What the scheduler makes of it; nothing if it cannot within the context's budget.
std::optional<Order> find_order(isl_ctx* isl, const poly::Program& program, const Constraints& constraints,
                                profile::Transformed::Fusion fusion);

/// Proves what can be proved: legal, permutable, carries.
void examine(isl_ctx* isl, const poly::Program& program, Order& order);

/// The rows of a permutable band in another order: place k gets what was in place permutation[k]. The order was
/// examined; it stays legal, and what its rows carry is found anew.
void permute(Order& order, std::size_t band, const std::vector<std::uint32_t>& permutation);

}  // namespace loopfold::advise
