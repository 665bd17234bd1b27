// Violation analysis: which live ranges of a storage collide when instances run in another order.
//
// An order that keeps the flow of values (schedule.h) puts every use behind its definition. It is right if no other
// definition of the cell comes between the two, that is, if no two live ranges of one cell overlap: of two ranges that
// overlap, one contains the definition of the other. So it is enough to look at pairs of a range and a definition, and
// it is necessary to look at all ranges: the last use in the order as written need not be the last in the new one.
// (Trifunovic and Cohen, section 4.3.2, look at pairs of ranges that end at the last use as written; a definition that
// comes between an earlier use and its new place is then missed.)
//
// Loops that run in parallel have no order of their iterations. Two accesses of one cell from different iterations, one
// of them a store, are then in conflict unless they belong to the same range. (As printed, the parallel form of the
// paper removes conflicts instead of adding these.) A range whose ends are in different iterations of a parallel loop
// is a broken flow, and is found by broken_flow().
//
// Level by level, since "before" is a union over the levels: isl does that, within the budget of the caller. Exact for
// exact storages; too much for others, never too little. What isl did not finish says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/liveness/storage.h"

namespace loopfold::advise::liveness {

/// Definitions in the way of others.
struct Conflict {
  enum class Kind : std::uint8_t {
    kRange,   // `from` is a definition; `by` overwrites its value before a use of it
    kInput,   // `from` is a use of what was there before; `by` overwrites that before the use
    kOutput,  // `from` is a definition that is needed behind; `by` overwrites its value
  };
  Kind kind = Kind::kRange;
  std::uint32_t from = 0;            // access
  std::uint32_t by = 0;              // access: a definition
  poly::Isl<isl_map> pairs;          // { instance of from -> instance of by }, not empty
  std::optional<std::uint32_t> use;  // kRange: the access that misses its value; none: two stores at once
  bool at_once = false;              // by iterations of a parallel loop
};

struct Conflicts {
  std::vector<Conflict> found;
  bool complete = true;  // false: isl's budget was used up; there may be more
};

/// Which instances of a storage's accesses touch the same cells: the same whatever the order, so it is found once.
///
/// The cells of an access are a function of the instance, and a domain. Where data decided, domains are in many pieces,
/// while the function is mostly the same in all of them: by the functions alone, pairs of instances are in one piece,
/// not in the product of both numbers.
class SameCells {
 public:
  explicit SameCells(const Storage& storage);

  /// Pairs of instances of two accesses, and whether there are none: most accesses have nothing to do with most others,
  /// and what is made of no pairs need not be made.
  struct Pairs {
    poly::Isl<isl_map> map;
    bool none = false;
  };
  /// { x -> y : the same cell }. Those that are in no domain are among them, where domain() says which are.
  const Pairs& of(std::uint32_t a, std::uint32_t b);
  const poly::Isl<isl_set>& domain(std::uint32_t access) const { return accesses_[access].domain; }

 private:
  struct Cells {
    Access access;              // its cells are those of all instances that there could be, if there is a domain
    poly::Isl<isl_set> domain;  // of the access; none: the cells say it
  };
  static Cells by_function(const Access& access);

  std::vector<Cells> accesses_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Pairs> pairs_;
};

Conflicts find_conflicts(const Storage& storage, const Times& times);
/// `only_first`: one that is found is enough, and may be a part of it. `clean`: times at which the storage has no
/// conflicts. What is in the same order there is not looked at again: a conflict of instances hangs on nothing but
/// which of them come before which.
Conflicts find_conflicts(const Storage& storage, Precedence& order, SameCells& cells, bool only_first = false,
                         const Times* clean = nullptr);

/// Of the ranges: those whose use does not come behind its definition, or is in another iteration of a parallel loop.
/// Steps of reductions may be in another iteration, where `reductions` says so. Empty maps are left out.
struct BrokenFlow {
  std::size_t range = 0;
  poly::Isl<isl_map> pairs;
};
struct BrokenFlows {
  std::vector<BrokenFlow> found;
  bool complete = true;
};
/// `only_first`: one that is found is enough.
BrokenFlows broken_flow(const Storage& storage, const Times& times, bool reductions, bool only_first = false);
BrokenFlows broken_flow(const Storage& storage, Precedence& order, bool reductions, bool only_first = false);

}  // namespace loopfold::advise::liveness
