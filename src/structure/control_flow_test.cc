// Pass 1: the graphs are what really happened.
#include "structure/control_flow.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "structure/random_program.h"
#include "structure/structure.h"
#include "structure/testing.h"

namespace loopfold::structure::testing {
namespace {

using Edges = std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;  // function, from, to

/// Graphs by addresses.
struct Found {
  explicit Found(const Story& story) : structure(find_structure(*story.reader, story.facts, false)) {
    const auto address = [&](PlaceId place) { return structure.code.address(place); };
    for (const Function& function : structure.flow.functions()) {
      for (NodeId from = 0; from < function.places.size(); ++from)
        for (const NodeId to : function.graph.successors(from))
          edges.insert({address(function.entry), address(function.places[from]), address(function.places[to])});
      for (const NodeId exit : function.exits) exits.insert({address(function.entry), address(function.places[exit])});
    }
    for (const CallSite& site : structure.flow.calls()) {
      const Function& caller = structure.flow.functions()[site.caller];
      calls.insert({address(caller.entry), address(caller.places[site.node]),
                    address(structure.flow.functions()[site.callee].entry)});
    }
    for (const FunctionId root : structure.flow.roots()) roots.insert(address(structure.flow.functions()[root].entry));
  }
  Structure structure;
  Edges edges;
  Edges calls;
  std::set<std::pair<std::uint64_t, std::uint64_t>> exits;
  std::set<std::uint64_t> roots;
};

constexpr std::uint64_t kMain = 0x1000, kF = 0x2000, kG = 0x3000, kShared = 0x8000;

TEST(ControlFlow, GraphsOfTwoFunctionsThatShareCode) {
  Script script;
  script.start(kMain);
  script.call(kF);
  script.jump(kShared);
  script.ret();
  script.call_indirect(kG);  // behind main's first block
  script.jump(kShared);
  script.jump(kG);
  script.jump(kShared);
  script.ret();
  script.jump(kMain);
  script.call(kF);
  script.jump(kShared);
  script.exit(trace::ExitKind::kSyscall, kShared + 0x40);
  script.ret();
  script.exit(trace::ExitKind::kSyscall, kMain);
  const Found found(script.finish());
  EXPECT_EQ(found.edges, (Edges{{kMain, kMain, kMain + 8},
                                {kMain, kMain + 8, kMain + 16},
                                {kMain, kMain + 16, kMain},
                                {kF, kF, kShared},
                                {kF, kShared, kShared + 0x40},
                                {kG, kG, kShared},
                                {kG, kShared, kG}}));
  EXPECT_EQ(found.calls, (Edges{{kMain, kMain, kF}, {kMain, kMain + 8, kG}}));
  EXPECT_EQ(found.roots, (std::set<std::uint64_t>{kMain}));
  EXPECT_EQ(found.exits, (std::set<std::pair<std::uint64_t, std::uint64_t>>{
                             {kF, kShared}, {kF, kShared + 0x40}, {kG, kShared}, {kMain, kMain + 8}}));
  const ControlFlow& flow = found.structure.flow;
  const CodeMap& code = found.structure.code;
  const FunctionId f = flow.function_at(code.place_at(kF));
  const FunctionId g = flow.function_at(code.place_at(kG));
  EXPECT_EQ(flow.function_at(code.place_at(kShared)), kNoFunction);
  EXPECT_EQ(flow.node_of(f, code.place_at(kF)), 0u);
  EXPECT_EQ(flow.functions()[g].places[flow.node_of(g, code.place_at(kShared))], code.place_at(kShared));
  EXPECT_EQ(flow.node_of(g, code.place_at(kShared + 0x40)), kNoNode);
  EXPECT_EQ(flow.node_of(g, code.place_at(kMain)), kNoNode);
}

/// Edges and calls as they happened, for programs whose frames are plain: calls, returns, jumps, falling through.
TEST(ControlFlow, RandomProgramsHaveTheEdgesThatWereTaken) {
  for (std::uint64_t i = 0; i < 300 * soak(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed(i)));
    ProgramOptions options;
    options.rare = 1000000;
    const Story story = RandomProgram(seed(i), options).run();
    const Found found(story);
    std::set<std::uint64_t> starts = story.starts;
    for (const Happening& h : story.log)
      if (h.kind == Happening::Kind::kCall || (h.kind == Happening::Kind::kBegin && h.number == 0))
        starts.insert(h.address);
    Edges edges;
    Edges calls;
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> frames;  // function, place
    for (const Happening& h : story.log) {
      auto& stack = frames[h.stack];
      using Kind = Happening::Kind;
      if (h.kind == Kind::kPart || h.kind == Kind::kEnd) continue;
      if (h.kind == Kind::kFall && !story.places.contains(h.address)) continue;
      if (h.kind == Kind::kUnwind) {
        stack.resize(h.number);
        continue;
      }
      const bool jumps = h.kind == Kind::kJump || h.kind == Kind::kFall;
      const bool enters = !jumps || (starts.contains(h.address) && stack.back().first != h.address);
      if (enters && !stack.empty()) calls.insert({stack.back().first, stack.back().second, h.address});
      if (!enters) edges.insert({stack.back().first, stack.back().second, h.address});
      if (!enters)
        stack.back().second = h.address;
      else if (jumps)
        stack.back() = {h.address, h.address};
      else
        stack.push_back({h.address, h.address});
    }
    EXPECT_EQ(found.edges, edges);
    EXPECT_EQ(found.calls, calls);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace loopfold::structure::testing
