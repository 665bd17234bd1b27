#include "structure/code_map.h"

#include <gtest/gtest.h>

#include "structure/testing.h"

namespace loopfold::structure::testing {
namespace {

using trace::ExitKind;

/// Instructions of 1, 2, 3, ... bytes from `address` on; those with an odd number access memory.
trace::Block block(trace::BlockId id, std::uint64_t address, std::uint8_t instructions) {
  trace::Block made;
  made.id = id;
  made.address = address;
  for (std::uint8_t i = 0; i < instructions; ++i) {
    made.lengths.push_back(static_cast<std::uint8_t>(i + 1));
    made.bytes.insert(made.bytes.end(), made.lengths.back(), 0x90);
    if (i % 2 == 0) continue;
    trace::Access access;
    access.instruction = i;
    access.size = 8;
    access.address = trace::Value::constant(0x600000);
    made.accesses.push_back(access);
    made.accesses.push_back(access);  // two accesses, one instruction
  }
  return made;
}

trace::Exit exit(trace::ExitId id, trace::BlockId block, std::uint16_t instructions, ExitKind kind,
                 std::optional<std::uint64_t> target = {}) {
  trace::Exit made;
  made.id = id;
  made.block = block;
  made.instructions = instructions;
  made.kind = kind;
  made.target = target;
  return made;
}

struct Seen {
  std::uint64_t address;
  int first, instructions, memory;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> parts(const CodeMap& map, trace::ExitId id) {
  std::vector<Seen> seen;
  for (const Part& part : map.parts(map.exit(id)))
    seen.push_back({map.address(part.place), part.first_instruction, part.instructions, part.memory});
  return seen;
}

/// A block that was recorded before it was known that control comes to its middle: 0x1000 +1 +2 | 0x1003 +3 | 0x1006 +4
/// +5.
TEST(CodeMap, CutsBlocksAtPlaces) {
  const std::vector<trace::Block> blocks = {block(0, 0x1000, 5), block(1, 0x1006, 2), block(2, 0x1003, 1),
                                            block(3, 0x1002, 1)};  // 0x1002 is inside an instruction of block 0
  const std::vector<trace::Exit> exits = {
      exit(0, 0, 5, ExitKind::kNext, 0x1003), exit(1, 0, 2, ExitKind::kNext, 0x1006),
      exit(2, 0, 4, ExitKind::kInterrupted),  exit(3, 0, 0, ExitKind::kInterrupted),
      exit(4, 1, 2, ExitKind::kReturn),       exit(5, 2, 1, ExitKind::kNext),
      exit(6, 3, 1, ExitKind::kNext)};
  const CodeMap map(blocks, exits, {});
  ASSERT_EQ(map.places(), 5u);
  EXPECT_EQ(map.hidden(), 4u);
  EXPECT_EQ(map.place_at(0x1000), 0u);
  EXPECT_EQ(map.place_at(0x1002), 1u);
  EXPECT_EQ(map.place_at(0x1003), 2u);
  EXPECT_EQ(map.place_at(0x1006), 3u);
  EXPECT_EQ(map.place_at(0x1001), kNoPlace);
  EXPECT_EQ(map.place_at(0), kNoPlace);
  EXPECT_EQ(map.place_at(~std::uint64_t{0}), kNoPlace);
  EXPECT_EQ(parts(map, 0), (std::vector<Seen>{{0x1000, 0, 2, 1}, {0x1003, 2, 1, 0}, {0x1006, 3, 2, 1}}));
  EXPECT_EQ(parts(map, 1), (std::vector<Seen>{{0x1000, 0, 2, 1}}));
  EXPECT_EQ(parts(map, 2), (std::vector<Seen>{{0x1000, 0, 2, 1}, {0x1003, 2, 1, 0}, {0x1006, 3, 1, 1}}));
  EXPECT_EQ(parts(map, 3), (std::vector<Seen>{}));
  EXPECT_EQ(parts(map, 4), (std::vector<Seen>{{0x1006, 0, 2, 1}}));
  EXPECT_EQ(map.exit(0).behind, 0x100fu);
  EXPECT_EQ(map.exit(1).behind, 0x1003u);
  EXPECT_EQ(map.exit(3).behind, 0x1000u);
  EXPECT_EQ(map.exit(0).target, 0x1003u);
  EXPECT_EQ(map.exit(4).target, 0u);
  EXPECT_EQ(map.last_instruction(0), 0x1001u);
  EXPECT_EQ(map.last_instruction(3), 0x100au);
}

TEST(CodeMap, StartsAreWhatIsCalledOrKnown) {
  const std::vector<trace::Block> blocks = {block(0, 0x1000, 1), block(1, 0x1001, 1), block(2, 0x2000, 1),
                                            block(3, 0x3000, 1), block(4, 0x4000, 1)};
  const std::vector<trace::Exit> exits = {exit(0, 0, 1, ExitKind::kCall, 0x1001),  // of the next instruction
                                          exit(1, 1, 1, ExitKind::kCall, 0x2000),
                                          exit(2, 2, 1, ExitKind::kNext, 0x3000),
                                          exit(3, 1, 1, ExitKind::kCall, 0x9999)};
  const CodeMap bare(blocks, exits, {});
  std::vector<bool> starts;
  for (PlaceId place = 0; place < bare.places(); ++place) starts.push_back(bare.is_start(place));
  EXPECT_EQ(starts, (std::vector<bool>{false, false, true, false, false, false}));
  FunctionFacts facts;
  facts.is_start = [](std::uint64_t address) { return address == 0x4000; };
  facts.function_of = [](std::uint64_t address) { return address & ~std::uint64_t{0xfff}; };
  const CodeMap known(blocks, exits, facts);
  EXPECT_TRUE(known.is_start(known.place_at(0x4000)));
  EXPECT_TRUE(known.is_start(known.place_at(0x2000)));
  EXPECT_FALSE(known.is_start(known.place_at(0x3000)));
  EXPECT_EQ(known.function_of(known.place_at(0x1001)), 0x1000u);
  EXPECT_EQ(known.function_of(known.hidden()), 0u);
  EXPECT_EQ(bare.function_of(bare.place_at(0x1001)), 0u);
}

/// A stack pointer is a slot, a constant, slot + constant, or any expression.
TEST(CodeMap, StackPointers) {
  trace::Block code = block(0, 0x1000, 1);
  using Term = trace::Expression::Term;
  code.expressions.push_back({{Term{trace::Value::slot(1), 1}}, 24, trace::Expression::Extend::kNone});
  code.expressions.push_back({{Term{trace::Value::slot(1), 2}}, 24, trace::Expression::Extend::kNone});
  code.expressions.push_back({{Term{trace::Value::slot(1), 1}}, 24, trace::Expression::Extend::kZero8});
  code.expressions.push_back({{Term{trace::Value::slot(0), 1}, Term{trace::Value::expression(0), 3}}, 1, {}});
  const trace::Value values[] = {{},
                                 trace::Value::slot(1),
                                 trace::Value::constant(77),
                                 trace::Value::expression(0),
                                 trace::Value::expression(1),
                                 trace::Value::expression(2),
                                 trace::Value::expression(3)};
  std::vector<trace::Exit> exits;
  for (const trace::Value& value : values) {
    exits.push_back(exit(static_cast<trace::ExitId>(exits.size()), 0, 1, ExitKind::kReturn));
    exits.back().slots = 2;
    exits.back().stack_pointer = value;
  }
  const std::vector<trace::Block> blocks = {code};
  const CodeMap map(blocks, exits, {});
  EXPECT_FALSE(map.exit(0).has_stack_pointer);
  const std::uint64_t slots[] = {1000, 500};
  const std::uint64_t expected[] = {0, 500, 77, 524, 1024, 524 % 256, 1000 + 3 * 524 + 1};
  for (trace::ExitId id = 1; id < exits.size(); ++id) {
    EXPECT_TRUE(map.exit(id).has_stack_pointer);
    EXPECT_EQ(map.stack_pointer(id, slots), expected[id]) << id;
  }
}

/// What the instructions of testing.h are.
TEST(CodeMap, CountsKinds) {
  Script script;
  script.set_size(0x1000, 12);
  script.start(0x1000);
  script.jump(0x1010);  // cuts it at 0x1010
  script.jump(0x2000);
  const Story story = script.finish();
  const CodeMap map(*story.reader, story.facts);
  const std::span<const Part> parts = map.parts(map.exit(0));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].instructions, 4u);
  EXPECT_EQ(parts[0].memory, 1u);
  EXPECT_EQ(parts[0].floating, 1u);
  EXPECT_EQ(parts[1].instructions, 8u);
  EXPECT_EQ(parts[1].memory, 2u);
  EXPECT_EQ(parts[1].floating, 2u);
}

}  // namespace
}  // namespace loopfold::structure::testing
