// Value-based layouts: where each value goes that a statement instance produces (papers: total expansion, Φ_S).
//
// The unit is not an array's element but a value. In total expansion every instance S(i) has a cell of its own; a
// layout Φ_S may then let values share a cell, if no two of them are alive at the same time. For
//
//     for i, j:  S: A[i][j] = C[i][j-1];  T: B[i][j] = A[i][j] + C[i-1][j];  U: C[i][j] = B[i][j];
//
//     S[i,j] -> [0]    T[i,j] -> [0]    U[i,j] -> [1,j]
//
// one cell is enough for all of S and T, and a row for U, provided that A, B and C are not read afterwards.
//
// **Where values come from.** isl's exact dataflow analysis: the last write before each read. What is read before it is
// written comes from a virtual statement live_in_A[e], before everything; what is read after the region, of the
// elements that it writes, by a virtual live_out_A[e]. Values of live_in_A stay in their own array unless Φ says
// otherwise. A live-in may also be modelled as an ordinary statement, with a place in the schedule of its own.
//
// **What is checked**, exactly, for every value of the parameters in the context:
//
//   producer-consumer   a value is written before it is read: no (v, u) of the flow with Θ(v) >= Θ(u);
//   liveness            no other value w is put into v's cell between v and a use u of v: no v, w, u with Φ(v) = Φ(w),
//                       Θ(v) <= Θ(w) <= Θ(u), where w = u is no conflict (an instance reads before it writes).
//
// The second is asked for every w, also for values that nothing reads: the paper's form, over pairs of flows, would let
// a dead value overwrite a live one. Instances with equal time stamps count as simultaneous, and conflict.
//
// Cost: compositions of maps; milliseconds for programs of a few statements of depth three. All under a budget.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "advise/layout/phi.h"
#include "poly/isl.h"
#include "support/result.h"

namespace loopfold::layout {

/// One statement of a program with static control. It produces one value per instance.
struct ValueStatement {
  std::string name;
  poly::Isl<isl_set> domain;       // { S[i, j] : ... }
  poly::Isl<isl_map> write;        // { S[i, j] -> A[i, j] }
  poly::Isl<isl_union_map> reads;  // { S[i, j] -> C[i, j - 1] }
  poly::Isl<isl_map> schedule;     // { S[i, j] -> [i, j, 0] }
};

/// From isl's text; an Error says which does not parse.
Result<ValueStatement> value_statement(isl_ctx* context, const std::string& domain, const std::string& write,
                                       const std::string& reads, const std::string& schedule);

/// A program with its flow of values.
class ValueProgram {
 public:
  /// `live_out`: arrays that are read afterwards. `context`: what is known of the parameters ("[n] -> { : n >= 3 }").
  static Result<ValueProgram> analyse(isl_ctx* context, std::vector<ValueStatement> statements,
                                      std::set<std::string> live_out, poly::Isl<isl_set> parameters);

  const std::vector<ValueStatement>& statements() const { return statements_; }
  /// { producer -> consumer }, with live_in and live_out.
  const poly::Isl<isl_union_map>& flow() const { return flow_; }
  /// Values that are live-in and read, as a union of live_in_A[...] sets.
  const poly::Isl<isl_union_set>& live_in() const { return live_in_; }
  isl_ctx* context() const { return context_; }

  /// Every value in a cell of its own: { S[i, j] -> [0, i, j]; T[i, j] -> [1, i, j] }.
  poly::Isl<isl_union_map> total_expansion() const;

  /// { v -> w }: w is put into its cell while v is alive, v != w; under the given order, or the program's own if null.
  poly::Isl<isl_union_map> interference(const poly::Isl<isl_union_map>& order = {}) const;

  /// Are both constraints met by this layout (a map of every statement's instances), under this order?
  Proof check(const poly::Isl<isl_union_map>& layout, const poly::Isl<isl_union_map>& order = {}) const;

  /// Cells that the layout's values are put into, for these parameters; live-ins that stay in their array not counted.
  Result<std::int64_t> cells(const poly::Isl<isl_union_map>& layout, const Known& parameters) const;

 private:
  poly::Isl<isl_union_map> whole_order(const poly::Isl<isl_union_map>& order) const;
  poly::Isl<isl_union_map> whole_layout(const poly::Isl<isl_union_map>& layout) const;
  Proof checked(const poly::Isl<isl_union_map>& layout, const poly::Isl<isl_union_map>& order) const;

  isl_ctx* context_ = nullptr;
  std::vector<ValueStatement> statements_;
  poly::Isl<isl_union_set> values_;  // instances of statements
  poly::Isl<isl_union_set> live_in_;
  poly::Isl<isl_union_set> live_out_;
  poly::Isl<isl_union_map> order_;  // of statements
  poly::Isl<isl_union_map> flow_;
};

}  // namespace loopfold::layout
