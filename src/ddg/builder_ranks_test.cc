// Stretches that repeat, together, against event by event, on the whole graph: nests of nest_for_test.h.
#include <string>
#include <vector>

#include "ddg/nest_for_test.h"

namespace loopfold::ddg {
namespace {

using testing::difference;
using testing::graph_of;
using testing::lines_of;
using testing::Nest;

TEST(BuilderRanks, SameAsEventByEvent) {
  const std::uint64_t programs = 1500 * structure::testing::soak();
  for (std::uint64_t i = 0; i < programs && !HasFailure(); ++i) {
    const std::uint64_t seed = structure::testing::seed(i);
    const Nest nest(seed);
    Options options;
    options.origins = i % 4 != 0;
    options.jobs = i % 5 == 0 ? 2 : 1;
    options.by_runs = false;
    const std::vector<std::string> by_events = lines_of(graph_of(*nest.reader, options));
    options.by_runs = true;
    EXPECT_EQ(difference(by_events, lines_of(graph_of(*nest.reader, options))), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace loopfold::ddg
