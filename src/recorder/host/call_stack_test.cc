#include "recorder/host/call_stack.h"

#include <gtest/gtest.h>

namespace loopfold::recorder {
namespace {

using Stack = trace::CallStack;

TEST(CallStack, calls_and_returns_nest) {
  CallStackTracker stack;
  stack.call(0x1000, 0xa);
  stack.call(0x0f00, 0xb);
  EXPECT_EQ(stack.innermost(), (Stack{0xb, 0xa}));
  stack.left(0x0f08);  // ret pops the return address at 0x0f00
  EXPECT_EQ(stack.innermost(), (Stack{0xa}));
  stack.left(0x1008);
  EXPECT_EQ(stack.innermost(), Stack{});
}

TEST(CallStack, an_indirect_jump_through_the_plt_keeps_the_frame) {
  CallStackTracker stack;
  stack.call(0x1000, 0xa);
  stack.left(0x1000);  // jmp *got: the return address is still on the stack
  EXPECT_EQ(stack.innermost(), (Stack{0xa}));
}

TEST(CallStack, longjmp_over_frames_pops_them_all) {
  CallStackTracker stack;
  for (std::uint64_t depth = 0; depth < 5; depth++) stack.call(0x1000 - 0x100 * depth, depth);
  stack.left(0x0f00);  // lands in the frame that made the second call
  EXPECT_EQ(stack.innermost(), (Stack{1, 0}));
}

TEST(CallStack, a_call_at_a_higher_stack_pointer_drops_stale_frames) {
  CallStackTracker stack;
  stack.call(0x1000, 0xa);
  stack.call(0x0f00, 0xb);
  stack.call(0x0f00, 0xc);  // b was left without a return that was seen
  EXPECT_EQ(stack.innermost(), (Stack{0xc, 0xa}));
}

TEST(CallStack, only_the_innermost_frames_are_kept) {
  CallStackTracker stack;
  for (std::uint64_t depth = 0; depth < 100; depth++) stack.call(0x10000 - 16 * depth, depth);
  const Stack innermost = stack.innermost();
  ASSERT_EQ(innermost.size(), trace::kMaxStackDepth);
  EXPECT_EQ(innermost.front(), 99u);
  EXPECT_EQ(innermost.back(), 100 - trace::kMaxStackDepth);
}

TEST(CallStackTable, equal_stacks_have_one_id) {
  CallStackTable table;
  EXPECT_EQ(table.intern({1, 2}), (std::pair<trace::StackId, bool>{0, true}));
  EXPECT_EQ(table.intern({2, 1}), (std::pair<trace::StackId, bool>{1, true}));
  EXPECT_EQ(table.intern({1, 2}), (std::pair<trace::StackId, bool>{0, false}));
}

}  // namespace
}  // namespace loopfold::recorder
