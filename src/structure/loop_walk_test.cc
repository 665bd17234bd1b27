// The figures of POLY-PROF, step by step, and where loop_walk.h says that it differs from the paper.
#include "structure/loop_walk.h"

#include <gtest/gtest.h>

#include "structure/random_program.h"
#include "structure/walk_testing.h"

namespace loopfold::structure::testing {
namespace {

/// Vectors in the paper's notation: sites of calls and names of loops, a counter behind every loop, the place at last.
/// The thread's own dimension is left out.
class Notation {
 public:
  Notation(const Walked& walked, std::map<std::uint64_t, std::string> places,
           std::map<std::uint64_t, std::string> loops)
      : walked_(walked), places_(std::move(places)), loops_(std::move(loops)) {}

  std::vector<std::string> all() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < walked_.seen.parts.size(); ++i) {
      const Located& part = walked_.seen.parts[i];
      std::size_t counters = part.counters.size();
      texts.push_back("(" + context(walked_.seen.contexts[i], part.counters, counters) + places_.at(part.address) +
                      ")");
      EXPECT_EQ(counters, 1u);
    }
    return texts;
  }

 private:
  std::string context(ContextId id, const std::vector<std::uint64_t>& counters, std::size_t& left) const {
    const Context& c = walked_.by_events[id];
    const CodeMap& code = walked_.structure.code;
    const Function& function = walked_.structure.flow.functions()[c.function];
    if (c.kind == Context::Kind::kStart) return {};
    if (c.kind == Context::Kind::kCall)
      return context(c.parent, counters, left) + places_.at(code.address(c.site)) + "/";
    const std::string counter = ", " + std::to_string(counters[--left]) + ", ";
    const std::string outer = context(c.parent, counters, left);
    if (c.kind == Context::Kind::kRecursion)
      return outer + places_.at(code.address(c.site)) + "/" + loops_.at(code.address(function.entry)) + counter;
    const NodeId header = walked_.structure.forests[c.function].loops()[c.loop].header;
    return outer + loops_.at(code.address(function.places[header])) + counter;
  }

  const Walked& walked_;
  std::map<std::uint64_t, std::string> places_;
  std::map<std::uint64_t, std::string> loops_;
};

constexpr std::uint64_t A = 0x1000, B = 0x1100, C = 0x1200, D = 0x1300, E = 0x1400;

/// Figure 2: L1 = {B, C, D} with header B, and in it L2 = {C, D}, which is entered at C, its header, and at D.
TEST(LoopWalk, Figure2) {
  Script script;
  script.start(A);
  for (const std::uint64_t to : {B, C, D, C, D, B, D, C, D, B, C, D, E}) script.jump(to);
  script.exit(trace::ExitKind::kSyscall, A);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  const Notation notation(walked, {{A, "A"}, {B, "B"}, {C, "C"}, {D, "D"}, {E, "E"}}, {{B, "L1"}, {C, "L2"}});
  const std::vector<std::string> expected = {
      "(A)",
      "(L1, 0, B)",         // E(L1, B)
      "(L1, 0, L2, 0, C)",  // E(L2, C)
      "(L1, 0, L2, 0, D)",
      "(L1, 0, L2, 1, C)",  // I(L2, C)
      "(L1, 0, L2, 1, D)",
      "(L1, 1, B)",         // X(L2, B), I(L1, B)
      "(L1, 1, L2, 0, D)",  // not in the paper: L2 is entered at D, which is not its header. The paper has (L1, 1, D)
      "(L1, 1, L2, 1, C)",  // and its header is the next iteration. The paper has E(L2, C) here
      "(L1, 1, L2, 1, D)",
      "(L1, 2, B)",
      "(L1, 2, L2, 0, C)",
      "(L1, 2, L2, 0, D)",
      "(E)",  // X(L2, E), X(L1, E)
  };
  EXPECT_EQ(notation.all(), expected);
  const Context* const inner = walked.find("/thread@1000/loop 1100@1000/loop 1200@1000");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->entries, 3u);
  EXPECT_EQ(inner->iterations.total, 4u);  // executions of C, not counters
  EXPECT_EQ(inner->iterations.min, 1u);
  EXPECT_EQ(inner->iterations.max, 2u);
}

constexpr std::uint64_t M0 = 0x400, M1 = M0 + 8, M2 = M1 + 8;
constexpr std::uint64_t A0 = 0x500, A1 = A0 + 8, A2 = A1 + 8, A3 = A2 + 8;
constexpr std::uint64_t B0 = 0x600, B1 = B0 + 8, B2 = B1 + 8, B3 = B2 + 8, B4 = B3 + 8;
constexpr std::uint64_t C0 = 0x700, D0 = 0x800, D1 = D0 + 8;

/// Figure 3, example 1: M calls A; A has the loop L1 = {A1, A2}, and A1 calls B; B has the loop L2 = {B1, B2}.
TEST(LoopWalk, Figure3LoopsInTwoFunctions) {
  Script script;
  script.start(M0);
  script.call(A0);
  script.jump(A1);
  for (int i = 0; i < 2; ++i) {
    script.call(B0);
    script.jump(B1);
    script.jump(B2);
    script.jump(B1);
    script.jump(B2);
    script.jump(B3);
    script.ret();
    script.jump(i == 0 ? A1 : A3);
  }
  script.ret();
  script.exit(trace::ExitKind::kSyscall, M2);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  const Notation notation(walked,
                          {{M0, "M0"},
                           {M1, "M1"},
                           {A0, "A0"},
                           {A1, "A1"},
                           {A2, "A2"},
                           {A3, "A3"},
                           {B0, "B0"},
                           {B1, "B1"},
                           {B2, "B2"},
                           {B3, "B3"}},
                          {{A1, "L1"}, {B1, "L2"}});
  const std::vector<std::string> expected = {
      "(M0)",
      "(M0/A0)",                   // C(A0)
      "(M0/L1, 0, A1)",            // E(L1, A1)
      "(M0/L1, 0, A1/B0)",         // C(B0)
      "(M0/L1, 0, A1/L2, 0, B1)",  // E(L2, B1)
      "(M0/L1, 0, A1/L2, 0, B2)",
      "(M0/L1, 0, A1/L2, 1, B1)",  // I(L2, B1)
      "(M0/L1, 0, A1/L2, 1, B2)",
      "(M0/L1, 0, A1/B3)",  // X(L2, B3)
      "(M0/L1, 0, A2)",     // R(A2)
      "(M0/L1, 1, A1)",     // I(L1, A1)
      "(M0/L1, 1, A1/B0)",
      "(M0/L1, 1, A1/L2, 0, B1)",
      "(M0/L1, 1, A1/L2, 0, B2)",
      "(M0/L1, 1, A1/L2, 1, B1)",
      "(M0/L1, 1, A1/L2, 1, B2)",
      "(M0/L1, 1, A1/B3)",
      "(M0/L1, 1, A2)",
      "(M0/A3)",  // X(L1, A3)
      "(M1)",     // R(M1)
  };
  EXPECT_EQ(notation.all(), expected);
}

/// Figure 3, example 2: M0 calls D, which calls C; M1 calls B, which calls C from B1 and itself from B3. The numbers
/// are the paper's steps. Between 3 and 4 the paper returns twice at once; here what is behind the call in D is a
/// place.
TEST(LoopWalk, Figure3Recursion) {
  Script script;
  script.start(M0);
  script.call(D0);
  script.call(C0);
  script.ret();
  script.ret();
  script.call(B0);
  for (int depth = 0; depth < 2; ++depth) {
    script.jump(B1);
    script.call(C0);
    script.ret();
    script.jump(B3);
    script.set_size(B3, 4);  // B4 is elsewhere: what is behind the call is B5
    script.call(B0);
  }
  script.jump(B1);
  script.call(C0);
  script.ret();
  script.jump(B4 + 0x40);
  script.ret();
  script.ret();
  script.ret();
  script.exit(trace::ExitKind::kSyscall, M2);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  const Notation notation(walked,
                          {{M0, "M0"},
                           {M1, "M1"},
                           {M2, "M2"},
                           {B0, "B0"},
                           {B1, "B1"},
                           {B2, "B2"},
                           {B3, "B3"},
                           {B4 + 0x40, "B4"},
                           {B3 + 16, "B5"},
                           {C0, "C0"},
                           {D0, "D0"},
                           {D1, "D1"}},
                          {{B0, "L1"}});
  const std::vector<std::string> expected = {
      "(M0)",               // 1
      "(M0/D0)",            // 2: C(D0)
      "(M0/D0/C0)",         // 3: C(C0)
      "(M0/D1)",            // R(D1)
      "(M1)",               // 4: R(M1)
      "(M1/L1, 0, B0)",     // 5: E_C(L1, B0)
      "(M1/L1, 0, B1)",     // 6
      "(M1/L1, 0, B1/C0)",  // 7: C(C0)
      "(M1/L1, 0, B2)",     // 8: R(B2)
      "(M1/L1, 0, B3)",     // 9
      "(M1/L1, 1, B0)",     // 10: I_C(L1, B0)
      "(M1/L1, 1, B1)",     // 11
      "(M1/L1, 1, B1/C0)",  // 12
      "(M1/L1, 1, B2)",     // 13
      "(M1/L1, 1, B3)",     // 14
      "(M1/L1, 2, B0)",     // 15: I_C(L1, B0)
      "(M1/L1, 2, B1)",     // 16
      "(M1/L1, 2, B1/C0)",  // 17
      "(M1/L1, 2, B2)",     // 18
      "(M1/L1, 2, B4)",     // 19
      "(M1/L1, 3, B5)",     // 20: I_R(L1, B5)
      "(M1/L1, 4, B5)",     // 21: I_R(L1, B5)
      "(M2)",               // 22: X_R(L1, M2)
  };
  EXPECT_EQ(notation.all(), expected);
  const Context* const recursion = walked.find("/thread@400/recursion 408@400>600");
  ASSERT_NE(recursion, nullptr);
  EXPECT_EQ(recursion->entries, 1u);
  EXPECT_EQ(recursion->iterations.total, 5u);
}

/// f and g tail-call each other from inside loops: the callee takes over the frame, and its context is outside of the
/// loop that it was called from, but comes behind it.
TEST(LoopWalk, TailCallOutOfALoopInsideARecursion) {
  Script script;
  for (const std::uint64_t function : {A0, B0, C0}) script.add_symbol(function, function + 0x100);
  script.start(M0);
  script.call(A0);
  for (int i = 0; i < 4; ++i) {
    for (const std::uint64_t from : {A0, B0, C0}) {
      for (const std::uint64_t step : {0x20, 0x30, 0x20, 0x30, 0x30, 0x20}) script.jump(from + step);
      script.jump(from == A0 ? B0 : from == B0 ? C0 : A0);
    }
  }
  script.ret();
  script.jump(M2);
  const Story story = script.finish(true);
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_LE(walked.seen.most_frames, 3u);
}

/// Two functions of one recursion call the same function from code that both run (hidden code, or code that both jump
/// into): two contexts, each with the index that the place has in its caller.
TEST(LoopWalk, OnePlaceInTwoFunctions) {
  Script script;
  script.start(M0);
  script.call(A0);
  script.jump(A0 + 0x20);
  script.call_back_through(0x9000, C0);  // C called in A
  script.ret_through_hidden();
  script.jump(A0 + 0x40);
  script.call(B0);
  script.call(A0);
  script.ret();
  for (const std::uint64_t step : {0x20, 0x40, 0x60, 0x80}) script.jump(B0 + step);
  script.call_back_through(0x9000, C0);  // and in B
  script.ret_through_hidden();
  script.ret();
  script.jump(A0 + 0x40);
  const Story story = script.finish();
  const Walked walked(story);
  expect_as_defined(story, walked);
  EXPECT_NE(walked.find("/thread@400/recursion 400@400>500/call 0@500>700"), nullptr);
  EXPECT_NE(walked.find("/thread@400/recursion 400@400>500/call 0@600>700"), nullptr);
}

/// Programs of all kinds against the definitions.
TEST(LoopWalk, RandomProgramsAreAsDefined) {
  const std::uint64_t count = 1500 * soak();
  std::size_t runs = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed(i)));
    std::mt19937_64 random(seed(i));
    ProgramOptions options;
    options.functions = 1 + random() % 6;
    options.pieces = 1 + random() % 9;
    options.steps = 20 + random() % 400;
    options.depth = 2 + random() % 8;
    options.threads = random() % 4 == 0 ? 3 : 1;
    options.rare = random() % 3 == 0 ? 1000000 : 10 + random() % 100;
    options.symbols = random() % 2 == 0;
    const Story story = RandomProgram(random(), options).run();
    const Walked walked(story);
    expect_as_defined(story, walked);
    if (HasFailure()) return;
    runs += count_runs(story);
  }
  EXPECT_GT(runs, count);
}

}  // namespace
}  // namespace loopfold::structure::testing
