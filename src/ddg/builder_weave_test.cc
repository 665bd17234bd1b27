// Iterations along several paths at once against event by event, on the whole graph.
//
// A program is a nest of two loops in a function. The body of the inner one has several ways through it, one of which
// may do nothing; which one an iteration takes is random, mostly, or the same for a while. Blocks copy whole registers
// and parts of them, compute, load from the heap and store there, put values aside in the frame and get them back, in
// part too, so that what is got back may have several origins. Behind the inner loop everything is looked at: what the
// last iterations of each path left in registers must be there.
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ddg/testing.h"
#include "structure/testing.h"

namespace loopfold::ddg {
namespace {

using testing::difference;
using testing::graph_of;
using testing::HandTrace;
using testing::lines_of;
using testing::Op;
using trace::ExitKind;
using trace::Value;

constexpr std::uint64_t kHeap = 0x500000;
constexpr std::uint64_t kStack = 0x7ffe00010000;  // at the call
constexpr std::uint64_t kFrame = 0x100;           // bytes of the function's frame

class Ways {
 public:
  explicit Ways(std::uint64_t seed) : random_(seed) {
    trace::Allocation allocation;
    allocation.address = kHeap;
    allocation.size = 0x400;
    trace_.side(allocation);
    const trace::BlockId entry = trace_.block(0x1000, {{{0xe8, 0, 0, 0, 0}, {}, {}}}, 1);
    const trace::BlockId prologue =
        trace_.block(0x2000, {{{0x48, 0x81, 0xec, 0, 1, 0, 0}, {}, {{4, 8, Value::constant(kStack - kFrame)}}}}, 0);
    const Block outer = block();
    const Block header = block();
    const Block latch = block();
    std::vector<std::vector<Block>> ways(1 + pick(5));
    for (std::vector<Block>& way : ways)
      for (std::uint64_t blocks = pick(3); blocks > 0; --blocks) way.push_back(block());
    const trace::BlockId look = look_at_all();
    const trace::BlockId end = trace_.block(0x3000, {{{0x90}, {}, {}}}, 0);

    trace_.run(entry, prologue, {kStack}, ExitKind::kCall, Value::slot(0));
    trace_.run(prologue, outer.id, {});
    const std::uint64_t entries = 2 + pick(30);
    const std::uint64_t steady = pick(4) == 0 ? 1 + pick(20) : 1;  // iterations that take one way
    for (std::uint64_t i = 0; i < entries; ++i) {
      run(outer, header.id);
      const std::uint64_t trips = 1 + pick(60);
      std::size_t way = 0;
      for (std::uint64_t k = 0; k < trips; ++k) {
        if (k % steady == 0) way = pick(ways.size());
        const std::vector<Block>& blocks = ways[way];
        run(header, blocks.empty() ? latch.id : blocks.front().id);
        for (std::size_t b = 0; b < blocks.size(); ++b)
          run(blocks[b], b + 1 < blocks.size() ? blocks[b + 1].id : latch.id);
        run(latch, k + 1 < trips ? header.id : look);
      }
      trace_.run(look, i + 1 < entries ? outer.id : end, {});
    }
    trace_.run(end, end, {}, ExitKind::kOther);
    reader = &trace_.finish();
  }

  const trace::Reader* reader = nullptr;
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  /// What a slot is: where in the heap, or a number.
  enum class Slot { kEven, kAnywhere, kNumber };
  struct Block {
    trace::BlockId id = 0;
    std::vector<Slot> slots;
  };
  struct Form {
    std::vector<std::uint8_t> bytes;
    int load = 0;   // bytes, of the heap or of the frame
    int store = 0;  // the same
    bool frame = false;
    int reg = -1;  // that is the result
    int width = 0;
  };

  Block block() {
    static const std::vector<Form> kForms{
        {{0x48, 0x8b, 0x06}, 8, 0, false, 0, 8},             // mov rax,[rsi]
        {{0x8b, 0x1e}, 4, 0, false, 3, 4},                   // mov ebx,[rsi]
        {{0x0f, 0x10, 0x06}, 16},                            // movups xmm0,[rsi]
        {{0x48, 0x89, 0x07}, 0, 8},                          // mov [rdi],rax
        {{0x89, 0x1f}, 0, 4},                                // mov [rdi],ebx
        {{0x0f, 0x11, 0x07}, 0, 16},                         // movups [rdi],xmm0
        {{0x48, 0x01, 0xd8}, 0, 0, false, 0, 8},             // add rax,rbx
        {{0x48, 0x83, 0xc1, 0x01}, 0, 0, false, 1, 8},       // add rcx,1
        {{0x48, 0x0f, 0x44, 0xc2}, 0, 0, false, 0, 8},       // cmovz rax,rdx
        {{0xb0, 0x05}, 0, 0, false, 0, 1},                   // mov al,5
        {{0x48, 0x89, 0xc3}, 0, 0, false, 3, 8},             // mov rbx,rax
        {{0x48, 0x89, 0xca}, 0, 0, false, 2, 8},             // mov rdx,rcx
        {{0x48, 0x89, 0xd0}, 0, 0, false, 0, 8},             // mov rax,rdx
        {{0x66, 0x0f, 0x6e, 0xc0}},                          // movd xmm0,eax
        {{0x0f, 0x28, 0xc8}},                                // movaps xmm1,xmm0
        {{0x0f, 0x58, 0xc1}},                                // addps xmm0,xmm1
        {{0x48, 0x89, 0x44, 0x24, 0x10}, 0, 8, true},        // mov [rsp+16],rax
        {{0x89, 0x5c, 0x24, 0x10}, 0, 4, true},              // mov [rsp+16],ebx
        {{0x48, 0x8b, 0x54, 0x24, 0x10}, 8, 0, true, 2, 8},  // mov rdx,[rsp+16]
        {{0x8b, 0x4c, 0x24, 0x10}, 4, 0, true, 1, 4},        // mov ecx,[rsp+16]
    };
    Block made;
    std::vector<Op> ops;
    const auto slot = [&](Slot kind) {
      made.slots.push_back(kind);
      return Value::slot(static_cast<std::uint32_t>(made.slots.size() - 1));
    };
    for (std::uint64_t n = 1 + pick(5); n > 0; --n) {
      const Form& form = kForms[pick(kForms.size())];
      Op op{form.bytes, {}, {}};
      if (form.load + form.store != 0)
        op.accesses.push_back(
            {form.store != 0, static_cast<std::uint32_t>(form.load + form.store),
             form.frame ? Value::constant(kStack - kFrame + 16) : slot(pick(2) == 0 ? Slot::kEven : Slot::kAnywhere)});
      if (form.reg >= 0)
        op.results.push_back(
            {static_cast<std::uint8_t>(form.reg), static_cast<std::uint8_t>(form.width), slot(Slot::kNumber)});
      ops.push_back(std::move(op));
    }
    next_place_ += 0x100;
    made.id = trace_.block(next_place_, ops, static_cast<std::uint16_t>(made.slots.size()));
    return made;
  }

  /// Uses of all registers, of the flags and of what was put aside.
  trace::BlockId look_at_all() {
    std::vector<Op> ops{
        {{0x48, 0x0f, 0x44, 0xf0}, {}, {}},  // cmovz rsi,rax
        {{0x48, 0x01, 0xdf}, {}, {}},        // add rdi,rbx
        {{0x48, 0x01, 0xcf}, {}, {}},        // add rdi,rcx
        {{0x48, 0x01, 0xd7}, {}, {}},        // add rdi,rdx
        {{0x0f, 0x58, 0xd0}, {}, {}},        // addps xmm2,xmm0
        {{0x0f, 0x58, 0xd1}, {}, {}},        // addps xmm2,xmm1
        {{0x48, 0x03, 0x7c, 0x24, 0x10}, {{false, 8, Value::constant(kStack - kFrame + 16)}}, {}},
    };
    return trace_.block(0x4000, ops, 0);
  }

  void run(const Block& block, trace::BlockId next) {
    ++count_;
    std::vector<std::uint64_t> slots;
    for (const Slot slot : block.slots) {
      if (slot == Slot::kNumber)
        slots.push_back(pick(3) != 0 ? 3 * count_ : pick(1000));
      else
        slots.push_back(kHeap + (slot == Slot::kEven ? 4 * (count_ % 200) : pick(0x3f0)));
    }
    trace_.run(block.id, next, slots);
  }

  std::mt19937_64 random_;
  HandTrace trace_;
  std::uint64_t next_place_ = 0x10000;
  std::uint64_t count_ = 0;
};

TEST(BuilderWeave, SameAsEventByEvent) {
  const std::uint64_t programs = 150 * structure::testing::soak();
  for (std::uint64_t i = 0; i < programs && !HasFailure(); ++i) {
    const std::uint64_t seed = structure::testing::seed(i);
    const Ways ways(seed);
    Options options;
    options.origins = i % 4 != 0;
    options.by_runs = false;
    const std::vector<std::string> by_events = lines_of(graph_of(*ways.reader, options));
    options.by_runs = true;
    EXPECT_EQ(difference(by_events, lines_of(graph_of(*ways.reader, options))), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace loopfold::ddg
