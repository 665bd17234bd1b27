// The flow of values between the statements of a kernel as a real binary had it: from the folded dependence graph.
//
// Instructions are matched with statements by source line. An instruction on the line of statement S that is in as many
// loops as S has counters is part of the *instances* of S; all such instructions together are S. Flow counts if it goes
// through memory that is not on the stack (which leaves out spills, saved registers and return addresses) or through
// the low eight bytes of a vector register (scalars of a loop; the upper half only goes along in copies). Flow through
// general registers is addresses, counters and, in kernels over integers, what stays within one line.
//
// Compilers move code out of loops. Every other instruction of the kernel's function is *transparent*: a value that
// goes from S into one (a store that was sunk below the loop, a load that was hoisted above it, a copy between
// registers) and from there into R, goes from S to R. So flow between statements is the composition of what the graph
// says along all ways through transparent instructions. These ways have no cycles in time; a way that does not end
// after a few instructions is reported rather than followed.
#pragma once

#include <isl/cpp.h>

#include <set>
#include <string>
#include <vector>

#include "analysed.h"
#include "description.h"

namespace loopfold::oracle {

struct Observed {
  isl::union_set domains;            // { S[i, j] }
  isl::union_map flow;               // { S[producer] -> R[consumer] }, without that from an instance to itself
  std::vector<std::string> inexact;  // streams that were needed and are not exact, one line each
  std::size_t streams = 0;           // folded dependences that were used
  std::size_t pieces = 0;            // and their pieces
};

/// The functions that have a tagged line.
std::set<std::string> kernel_functions(Analysed& run, const Description& description);

Observed observe(isl::ctx context, Analysed& run, const Description& description);

}  // namespace loopfold::oracle
