// Contraction: the fewest cells in which a program's values fit, among the maps that are tried.
//
// For each statement, maps are tried that keep some dimensions of its iteration vector, whole or modulo a number:
//
//   - a subset of the dimensions (none: a scalar; one: a row);
//   - the same with one of them modulo k, k rows of it (up to kMostRows);
//   - successive moduli: dimensions in some order, each modulo one more than the greatest distance between values that
//     are alive together and agree in the dimensions before (where that is bounded by a number); such a map is always
//     legal;
//   - (a·i + b·j + ...) modulo m, coefficients -1, 0 or 1, m up to kMostCells.
//
// Those that keep no two values of the statement together that are alive at the same time are its candidates. Then
// statements, those that need most cells first, are put into banks: into a bank of its own, or into the cells of an
// earlier bank where that adds fewer cells and nothing clashes. Banks are numbered by the first statement that uses
// them.
//
// The result is legal for all parameters of the program (it is proved again as a whole by ValueProgram::check), and
// uses the fewest cells, for the given parameters, of what this greedy search tries; not of all maps there are.
#pragma once

#include <cstdint>
#include <string>

#include "advise/layout/values.h"

namespace loopfold::layout {

constexpr int kMostRows = 4;
constexpr int kMostCells = 32;

struct Contraction {
  poly::Isl<isl_union_map> layout;  // { S[i, j] -> [0]; T[i, j] -> [0]; U[i, j] -> [1, j] }
  std::int64_t cells = 0;           // for the given parameters
  std::int64_t expanded = 0;        // of total expansion
  std::int64_t tried = 0;           // maps
};

/// Under an order of the instances, or the program's own if null.
Result<Contraction> contract(const ValueProgram& program, const Known& parameters,
                             const poly::Isl<isl_union_map>& order = {});

}  // namespace loopfold::layout
