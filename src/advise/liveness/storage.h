// What live ranges are about: storages, the accesses to their cells, and the ranges of the values that they hold.
//
// A *storage* is one thing that holds values: a variable, an array, all blocks of an allocation site, or a scalar that
// the compiler keeps in a register (one per web of definitions and uses). It has *cells*, numbered by a vector whose
// last entry counts bytes; an access touches so many bytes from there on. A *unit* is what an order moves: a group of
// statements, or a single one. Accesses happen in instances of units, one after the other by their position.
//
// A *live range* is a pair (definition, use): the value that this instance of a store has put there is what that
// instance of a load gets (Trifunovic and Cohen, section 4.1.1, where it ends at the last use: see last_uses()). What
// is read and comes from before is an *input*, what is still needed behind an *output*; both are ranges that are open
// at one end. A definition that nothing uses is a range of its own: it still overwrites.
//
// Sets and maps hold at least what happened. Where they hold more, more conflicts are found than there are; never
// fewer. A storage of which something is not known says so, and nothing else is said about it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "poly/isl.h"

namespace loopfold::advise::liveness {

struct Access {
  std::uint32_t unit = 0;
  std::int64_t position = 0;  // among the accesses of an instance: they happen in this order
  bool write = false;
  poly::Isl<isl_map> cells;  // { U[i] -> [..., byte] }, of the instances in which it happens
  std::int64_t bytes = 1;
  std::uint32_t tag = 0;  // the caller's
};

/// Values go from one access to another.
struct Range {
  std::uint32_t definition = 0;  // accesses of the storage
  std::uint32_t use = 0;
  poly::Isl<isl_map> map;  // { U[i] -> V[j] }
  bool reduction = false;  // a step of a chain that may be done in any order
  bool within = false;     // known: all of them are instances in which the two accesses happen
};

/// Instances in which an access happens.
struct OpenEnd {
  std::uint32_t access = 0;
  poly::Isl<isl_set> instances;
};

struct Storage {
  std::string name;
  std::vector<Access> accesses;
  std::vector<Range> ranges;
  std::vector<OpenEnd> inputs;   // uses of what was there before
  std::vector<OpenEnd> outputs;  // definitions of what is needed behind
  std::uint64_t bytes = 0;       // of all cells
  std::string unknown;           // not empty: nothing can be said, because
};

/// An entry of a time: a sum of the unit's coordinates and a constant, divided and rounded down.
struct TimeSum {
  std::vector<std::int64_t> coefficients;  // by coordinate
  std::int64_t constant = 0;
  std::int64_t divisor = 1;
  friend bool operator==(const TimeSum&, const TimeSum&) = default;
};

/// When instances run: of any two, the one with the lexicographically smaller vector first; of equal ones, by the
/// number of the unit. No two instances of one unit have the same time.
struct Times {
  std::vector<poly::Isl<isl_map>> of;       // by unit: { U[i] -> [t0, t1, ...] }, all of one length
  std::vector<std::vector<bool>> parallel;  // by unit and row: iterations of this loop run in any order, or at once
  /// By unit: what `of` has, of all instances that there could be. None where only the maps are known.
  std::vector<std::vector<TimeSum>> sums;
};

/// { x of a -> y of b : they touch a byte in common }
poly::Isl<isl_map> same_cell(const Access& a, const Access& b);

/// { x of a -> y of b : x comes before y }
poly::Isl<isl_map> before(const Times& times, const Access& a, const Access& b);

/// { x of a -> y of b : both are in one loop that is parallel, in different iterations of it, and in the same ones of
/// all loops around it }
poly::Isl<isl_map> at_once(const Times& times, const Access& a, const Access& b);

/// { x of unit a -> y of unit b : equal in so many rows }
poly::Isl<isl_map> equal_first(const Times& times, std::uint32_t a, std::uint32_t b, std::size_t rows);

/// Certainly instances of the two units come in the same order at both times. Seen by the sums, row by row: rows in
/// which both units have the same number say nothing, and those behind one in which they have different numbers decide
/// nothing. Whether rows are parallel does not matter.
bool have_same_order(const Times& times, const Times& others, std::uint32_t a, std::uint32_t b);

/// The number of rows.
std::size_t length_of(const Times& times);

/// An order that is asked about again and again: every answer is made once, whatever the storage.
class Precedence {
 public:
  /// The times must outlive it.
  explicit Precedence(const Times& times) : times_(times) {}

  const Times& times() const { return times_; }
  const poly::Isl<isl_map>& before(const Access& a, const Access& b);
  const poly::Isl<isl_map>& at_once(const Access& a, const Access& b);
  const poly::Isl<isl_map>& equal_first(std::uint32_t a, std::uint32_t b, std::size_t rows);

 private:
  const Times& times_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, poly::Isl<isl_map>> before_;  // by units, and of one time
  std::map<std::pair<std::uint32_t, std::uint32_t>, poly::Isl<isl_map>> at_once_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, poly::Isl<isl_map>> equal_;
};

}  // namespace loopfold::advise::liveness
