// Rounds that are taken at once, against event by event, on the whole graph: nests of nest_for_test.h, most of them
// such that their rounds can be taken.
#include <string>
#include <vector>

#include "ddg/nest_for_test.h"

namespace loopfold::ddg {
namespace {

using testing::difference;
using testing::graph_of;
using testing::lines_of;
using testing::Nest;

TEST(BuilderRounds, SameAsEventByEvent) {
  const std::uint64_t programs = 1500 * structure::testing::soak();
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < programs && !HasFailure(); ++i) {
    const std::uint64_t seed = structure::testing::seed(i);
    const Nest nest(seed, {.orderly = true});
    Options options;
    options.origins = i % 4 != 0;
    options.jobs = i % 5 == 0 ? 2 : 1;
    options.by_runs = false;
    const Graph by_events = graph_of(*nest.reader, options);
    EXPECT_EQ(by_events.costs.rounds, 0);
    options.by_runs = true;
    const Graph by_runs = graph_of(*nest.reader, options);
    taken += by_runs.costs.rounds;
    EXPECT_EQ(difference(lines_of(by_events), lines_of(by_runs)), "") << "seed " << seed;
  }
  EXPECT_GT(taken, programs);
}

}  // namespace
}  // namespace loopfold::ddg
