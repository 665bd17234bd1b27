// Copies that a compiler made by unrolling, found in a real program; and flow between copies, in loops written as text.
#include "poly/repeats.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "poly/loop_text.h"
#include "symbols/compile_for_test.h"

namespace loopfold::poly {
namespace {

using testing::LoopText;

/// All instructions of one function of a program, as one statement of a loop.
class Code {
 public:
  Code(const symbols::TemporaryDirectory& directory, const std::string& program, const std::string& function) {
    std::istringstream lines(directory.output_of("objdump -d --wide --disassemble=" + function + " " + program));
    trace::Block block;
    ddg::Statement statement;
    statement.context = 1;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(":\t");
      if (line.empty() || line[0] != ' ' || colon == std::string::npos) continue;
      const std::uint64_t address = std::stoull(line.substr(0, colon), nullptr, 16);
      std::istringstream bytes(line.substr(colon + 2, line.find('\t', colon + 2) - colon - 2));
      std::uint8_t length = 0;
      for (std::string byte; bytes >> byte; ++length)
        block.bytes.push_back(static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16)));
      block.lengths.push_back(length);
      statement.instructions.push_back({address, 0});
    }
    facts_ = trace::decode(block);
    graph.statements.push_back(statement);
    for (std::uint16_t i = 0; i < facts_.size(); ++i) {
      FlowNode node;
      node.at = {0, i};
      node.facts = &facts_[i];
      flow.nodes.push_back(node);
    }
  }

  ddg::Graph graph;
  LoopFlow flow;

 private:
  std::vector<trace::InstructionFacts> facts_;
};

/// Sizes of the groups in a function.
std::map<std::uint32_t, unsigned> groups_in(const std::string& source, const std::string& flags) {
  const symbols::TemporaryDirectory directory;
  directory.write("loop.c", source);
  directory.run("gcc -g -O2 -fno-tree-vectorize -no-pie " + flags + " -o loop loop.c");
  Code code(directory, "loop", "f");
  symbols::Symbolizer symbolizer({directory.module("loop", 0)});
  std::map<std::uint32_t, unsigned> sizes;
  for (const std::uint32_t group : repeats(code.flow, code.graph, symbolizer))
    if (group != 0) ++sizes[group];
  return sizes;
}

constexpr const char* kLoop = R"(
static int more(int x) { return x * 77 + 5; }
__attribute__((noinline)) void f(int* a) {
  UNROLL
  for (int i = 0; i < 64; i++) a[i] = more(a[i]) ^ 21;
}
int main(void) { int a[64] = {1}; f(a); return a[3]; }
)";

TEST(Repeats, CopiesOfAnUnrolledBody) {
  const std::map<std::uint32_t, unsigned> sizes = groups_in(kLoop, "'-DUNROLL=_Pragma(\"GCC unroll 4\")'");
  EXPECT_TRUE(std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second == 4; }));
  for (const auto& [group, size] : sizes) EXPECT_GE(size, 2u);
}

TEST(Repeats, NoneInABodyAsItIs) { EXPECT_TRUE(groups_in(kLoop, "-DUNROLL=").empty()); }

TEST(Repeats, NothingIsSaidWithoutColumns) {
  EXPECT_TRUE(groups_in(kLoop, "-gno-column-info '-DUNROLL=_Pragma(\"GCC unroll 4\")'").empty());
}

bool depend(const LoopText& loop, const std::vector<std::string>& members, const std::vector<std::uint32_t>& out = {}) {
  std::vector<std::uint32_t> groups(loop.flow.nodes.size(), 0);
  for (const std::string& name : members) groups[loop.node(name)] = 7;
  std::vector<bool> left_out(loop.flow.edges.size(), false);
  for (const std::uint32_t e : out) left_out[e] = true;
  return copies_depend(loop.flow, groups, left_out);
}

TEST(Repeats, FlowBetweenCopies) {
  const LoopText apart("block\nA: 01 d0 ; 0<-\nX: 01 d0 ; 0<A\nB: 01 d0 ; 0<-\nY: 01 d0 ; 0<B\n");
  EXPECT_FALSE(depend(apart, {"A", "B"}));
  EXPECT_FALSE(depend(apart, {"X", "Y"}));
  EXPECT_TRUE(depend(apart, {"A", "X"}));
  EXPECT_TRUE(depend(LoopText("block\nA: 01 d0 ; 0<-\nX: 01 d0 ; 0<A\nB: 01 d0 ; 0<X\n"), {"A", "B"}));
  // Carried by the loop itself: not inside.
  EXPECT_FALSE(depend(LoopText("block\nA: 01 d0 ; 0<-\nB: 01 d0 ; 0<A'\n"), {"A", "B"}));
  // To itself, over an inner loop.
  EXPECT_FALSE(depend(LoopText("block\nA: 01 d0 ; 0<A\nB: 01 d0 ; 0<B\n"), {"A", "B"}));
  EXPECT_TRUE(
      depend(LoopText("block\nA: 01 d0 ; 0<A\nX: 01 d0 ; 0<B\nB: 01 d0 ; 0<B\nC: 01 d0 ; 0<X"), {"A", "B", "C"}));
  // Both lead to a third, which leads back to the first.
  EXPECT_TRUE(depend(LoopText("block\nA: 01 d0 ; 0<X\nB: 01 d0 ; 0<-\nX: 01 d0 ; 0<A,B"), {"A", "B"}));
}

TEST(Repeats, IndexValuesDoNotConnect) {
  LoopText loop("block\nA: 01 d0 ; 0<-\nX: 01 d0 ; 0<A\nB: 01 d0 ; 0<X\n");
  loop.flow.nodes[loop.node("X")].index = true;
  EXPECT_FALSE(depend(loop, {"A", "B"}));
}

TEST(Repeats, ChainsOfReductionsCanBeLeftOut) {
  const LoopText loop("block\nA: 01 d0 ; 0<B',- 1<-\nB: 01 d0 ; 0<A 1<-\n");
  EXPECT_TRUE(depend(loop, {"A", "B"}));
  const std::vector<FoundReduction> found =
      ReductionFinder(loop.graph, loop.decisions()).find(loop.flow, loop.carried());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(depend(loop, {"A", "B"}, found[0].chain));
}

}  // namespace
}  // namespace loopfold::poly
