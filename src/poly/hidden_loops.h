// Loops that the binary hides: a flat loop that goes over a nest by dividing its counter.
//
//     for (k = 0; k < n * m; k++) b[k % m][k / m] = a[k];       one loop, and no address of b is affine along it
//
// From the folded graph of a first pass: the streams that are not affine (an address with a TOP, a domain that was
// given up, too many pieces) in loops with a noticeable share of the operations. From a *probe*, a second look at the
// beginning of the trace: at which iterations k of the loop the statement ran, and at which addresses, for the first
// instance in each iteration. Both as one number go to reconstruction (reconstruct/reconstruct.h), which finds the
// affine nest behind them, if there is one. What k grows by along the loops of that nest but the innermost are sizes
// of *blocks* of iterations; block sizes on which the loop's streams agree (each divides the next) are the periods of
// its hidden levels (structure/splits.h). There must be more than two blocks: of two things, many are affine. And what
// shows them must be a good part of the loop: an interpreter's loop has periods too, and nothing of it becomes affine.
//
// A guess from a sample, and none that can do harm: a split only names iterations otherwise. Whether it made more of
// the program affine is seen by folding again, and if not, the first result stands.
//
// Cost: programs without candidates pay nothing. The probe follows candidates' loops event by event and everything else
// by whole stretches, up to a share of the run's instructions; a stream that is irregular is dropped after some tens of
// numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "ddg/graph.h"
#include "structure/loop_tree.h"
#include "structure/splits.h"
#include "structure/structure.h"
#include "trace/reader.h"

namespace loopfold::poly {

/// A stream to look at, along a loop.
struct HiddenCandidate {
  structure::ContextId loop = structure::kNoContext;  // a context of kind kLoop around the statement, or its own
  ddg::StatementId statement = 0;
  bool is_access = false;  // else: the statement's domain
  std::uint16_t instruction = 0;
  std::uint8_t index = 0;    // of the access
  std::uint64_t weight = 0;  // instances
  friend bool operator==(const HiddenCandidate&, const HiddenCandidate&) = default;
};

/// Streams that are not affine, along the loops that may be why; the greatest weight first, not too many.
std::vector<HiddenCandidate> hidden_candidates(const ddg::Graph& graph, const structure::LoopTree& tree);

/// Sizes of blocks that an ascending chain of divisors can be made of, the greatest first; `found` by stream, those of
/// the greatest weight first. Each is at least 2 and divides the one before it.
std::vector<std::uint64_t> common_blocks(const std::vector<std::vector<std::uint64_t>>& found);

/// Looks at the trace, and says which loops have hidden levels. `tree` is that of the graph.
structure::Splits find_hidden_loops(const trace::Reader& reader, const structure::Structure& structure,
                                    const structure::LoopTree& tree, const ddg::Graph& graph,
                                    const std::vector<HiddenCandidate>& candidates);

/// How well a graph is described: instructions of statements whose domain, accesses and dependences are all exact; and
/// of those whose domain and accesses are so in a few pieces, and with a modulus only where it is a multiple of the
/// step.
struct Quality {
  std::uint64_t exact = 0;
  std::uint64_t simple = 0;
};
Quality quality_of(const ddg::Graph& graph);

/// Whether loops should stay split: by a noticeable share of all instructions, more is exact by then; or more is
/// simple, and what is not exact any more is less than that. (A loop that goes over the same cells without a split is
/// no affine function of the levels: what flows to it is not exact.)
bool is_worth_it(const Quality& before, const Quality& after, std::uint64_t instructions);

}  // namespace loopfold::poly
