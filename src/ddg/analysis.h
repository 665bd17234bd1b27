// The ddg stage as a whole: pass 2 with everything, from a trace and its structure to the folded dependence graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "ddg/graph.h"
#include "fold/fold.h"
#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"

namespace loopfold::ddg {

struct Options {
  fold::Options fold;
  std::uint64_t max_memory = std::uint64_t{4} << 30;  // bytes that shadow and streams may use together
  unsigned jobs = 1;
  bool by_runs = true;    // iterations of loops many at a time; the result is the same
  bool origins = true;    // follow values behind copies: Graph::origins, copies, reloads
  std::vector<bool> hot;  // by context: has statements (hot_contexts.h); empty: all have
  std::function<void(double share, std::uint64_t instructions)> progress;  // now and then
  const std::atomic<bool>* stop = nullptr;  // another thread may set it: then the graph is wanted no more
};

/// Walks the whole trace; if it is stopped, the graph is empty. `tree` is filled as in pass 2 of the structure stage;
/// `threads` is how many ran.
Graph build(const trace::Reader& reader, const structure::Structure& structure, structure::LoopTree& tree,
            symbols::Symbolizer& symbolizer, const Options& options, std::uint64_t& threads);

}  // namespace loopfold::ddg
