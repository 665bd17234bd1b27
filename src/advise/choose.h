// Which order of a nest is best: the one as written, or one that the scheduler found, with the rows of its bands put in
// the order that suits the memory.
//
// A band says that its loops may change places, not which place is best. The loop inside should be the one along which
// most accesses are near (nest_facts.h), and be parallel, for vectors; the one outside should be parallel, for threads.
// A change must pay: the order as written stays unless another one is better by a margin, and a skewed order must gain
// parallelism or tiling over all others.
//
// The worth of an order is a weighted sum over the groups, by their operations: can it run in parallel, and how far
// out; how deep can it be tiled; is its innermost loop parallel and near. The weights are in choose.cc. Whatever is
// chosen was proved legal (schedule.h).
#pragma once

#include <string>
#include <vector>

#include "advise/nest_facts.h"
#include "advise/schedule.h"

namespace loopfold::advise {

/// What is good about an order. Shares are of the nest's operations.
struct Worth {
  double parallel = 0;           // have a parallel loop, or are in a tiled band that can run as a wavefront
  double outer = 0;              // have one outermost
  double vector = 0;             // innermost loop parallel, or a reduction
  double tilable = 0;            // are in a band of two loops or more
  double near = 0;               // of the accesses in innermost loops, along these
  std::uint32_t tile_depth = 0;  // of the band with most operations
  bool skewed = false;
  bool reversed = false;
  double total = 0;
};

struct Choice {
  Order written;
  Order best;  // may be the one as written
  Worth worth_written;
  Worth worth;
  bool is_written = true;
  bool timed_out = false;
  std::string why;  // not empty: the scheduler found nothing, because
};

/// `operations`: isl's budget for one try.
Choice choose_order(isl_ctx* isl, const poly::Program& program, const std::vector<GroupFacts>& facts,
                    std::uint64_t operations);

/// All different orders to choose among for other reasons than worth: as written, what the scheduler finds, and these
/// with the loops of permutable bands in every order; at most `most`. All are proved legal; the first is as written.
std::vector<Order> candidate_orders(isl_ctx* isl, const poly::Program& program, std::uint64_t operations,
                                    std::size_t most);

Worth worth_of(const Order& order, const std::vector<GroupFacts>& facts);

/// The innermost row of a group that is a loop: its band, and its place there.
struct Innermost {
  std::size_t band = 0;
  std::uint32_t place = 0;
};
std::optional<Innermost> innermost_of(const Order& order, std::uint32_t group);

/// Its innermost loop carries nothing, or a reduction only.
bool is_vector(const Order& order, std::uint32_t group);

/// Accesses of a group that were looked at.
double access_count(const GroupFacts& group);

/// A row that does not stay the same in some group of its band.
bool is_loop(const Order& order, const OrderBand& band, std::uint32_t place);

}  // namespace loopfold::advise
