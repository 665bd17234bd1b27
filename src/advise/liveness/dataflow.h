// Live ranges of a storage whose accesses and order are known exactly: which definition each use gets.
//
// From what: the accesses, and the order in which they happened. isl's dataflow analysis (Feautrier's, the one that
// Trifunovic and Cohen use in their section 4.2.1) finds the last definition before each use; what is left of the uses
// are inputs. Exact, for accesses that touch one cell of one size each. Loopfold's profiles have the ranges measured,
// so this is for programs that are written down, for tests, and for showing.
//
// The paper ends a range at the last use before the next definition (its λ sets, section 4.2.2). Such ranges must not
// be used to look for conflicts: under another order, another use may come last. They are shorter to read, so they are
// what is shown.
#pragma once

#include "advise/liveness/storage.h"

namespace loopfold::advise::liveness {

/// Fills ranges and inputs from accesses. All cells for which `is_output` are needed behind: the last definition of
/// each is an output. False if isl gave up.
bool find_ranges(isl_ctx* isl, const Times& written, bool is_output, Storage& storage);

/// Of every definition the last use, in the order as written: the λ sets.
std::vector<Range> last_uses(const Times& written, const Storage& storage);

}  // namespace loopfold::advise::liveness
