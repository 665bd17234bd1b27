// Everything that the folded graph says about the functions of a kernel, as JSON, for checks that a script makes: which
// streams are affine, how many pieces they have, whether their points are all there.
#pragma once

#include <isl/cpp.h>

#include <nlohmann/json.hpp>

#include "analysed.h"
#include "description.h"

namespace loopfold::oracle {

/// `{tags{}, domains[], accesses[], values[], dependences[]}`. Each stream has `line`, `function`, `depth`, `count`
/// (instances of its statement) and `points`, `pieces`, `piece_points`, `exact`, `affine`, `covered`, `texts`.
/// `covered`: each piece has as many points in its polyhedron as were folded into it, or, if its domain is not exact,
/// at least as many.
nlohmann::ordered_json listing(isl::ctx context, Analysed& run, const Description& description);

}  // namespace loopfold::oracle
