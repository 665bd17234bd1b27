// Where pointers may lead: what else than an array's own name can touch its memory.
//
// Moving an array is right only if nothing in the region uses its old memory. So for a whole file the question is
// answered which variables may hold an address of which memory (Andersen's analysis: sets that include each other,
// grown until nothing changes). It does not look at the order of statements, nor at fields or elements: a structure or
// an array is one place with one set of addresses in it. Long integers may hold addresses too.
//
//   - places: variables; each call of malloc and its like; what a pointer from elsewhere leads to (a parameter of a
//     function that other files may call, a variable that they may set): one of its own for each.
//   - a function that allocates and hands the fresh memory out gives a new place for each of its calls, if no variable
//     outside of it keeps the address.
//   - parameters of the function that the region is in have the arguments of one call at a time, so that f(C, A) and
//     f(D, C) do not make C and A the same: `contexts` are its calls in the file, and a call from elsewhere.
//   - functions that are not in the file may keep what they are given in variables that they can see, and store it
//     anywhere that they are led to; those of the C library that are known do not.
//
// May-information: what it keeps apart is apart, if what comes from outside does not overlap (which is assumed, and
// said in docs/layout.md), and if addresses are not made from something else than addresses.
// Cost: the file is walked some times for each call of the region's function; milliseconds.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "advise/layout/source.h"

namespace loopfold::layout {

class Aliases {
 public:
  /// `function` is the one that the region is in.
  Aliases(const Source& source, const Syntax& function, std::string_view text);

  /// Two arrays (declarations, with their numbers of dimensions) may have memory in common.
  bool overlap(const std::string& one, std::size_t dimensions, const std::string& other,
               std::size_t other_dimensions) const;
  /// A variable is, or may lead to, the memory of an array.
  bool leads_into(const std::string& variable, const std::string& array, std::size_t dimensions) const;

 private:
  using Places = std::set<int>;
  struct Solution {
    std::vector<Places> held;  // by place: the places whose addresses are in it
  };
  friend class AliasSolver;

  Places memory_of(const Solution& solution, const std::string& array, std::size_t dimensions) const;
  std::optional<int> place(const std::string& declaration) const;
  static const Places& held(const Solution& solution, int place);

  std::map<std::string, int> places_;  // of variables, by declaration
  std::set<int> arrays_;               // variables that are arrays
  std::vector<Solution> solutions_;    // one for each context
};

}  // namespace loopfold::layout
