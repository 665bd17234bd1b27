// Journals against streams that get every point at once, on the whole graph: programs that jump about at random, on
// several threads, and what is rare: more objects or producers than are kept apart, code that cannot be noted, journals
// that there is no memory for.
#include <map>
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

/// Blocks of loads, stores, arithmetic and copies of parts of registers, which follow each other at random; threads
/// take turns; now and then there is a system call, or a block of the heap is another one.
class Jumps {
 public:
  explicit Jumps(std::uint64_t seed) : random_(seed) {
    trace::Writer& writer = trace_.writer();
    stacks_ = 1 + pick(6);
    for (std::uint64_t i = 0; i < stacks_; ++i) writer.add_stack({0x1000 + 16 * i});
    for (std::uint64_t i = 0; i < stacks_; ++i) trace_.side(allocation(i, i));
    const std::uint64_t blocks = 3 + pick(8);
    for (std::uint64_t i = 0; i < blocks; ++i) add_block();
    for (Block& block : blocks_)
      for (std::uint64_t ways = 1 + pick(3); ways > 0; --ways) block.next.push_back(pick(blocks));
    const std::uint64_t threads = 1 + pick(3);
    for (std::uint64_t i = 1; i < threads; ++i)
      writer.side({static_cast<trace::ThreadId>(i), 0, 0, trace::ThreadStart{0, 70 + i}});
    at_.resize(threads);
    count_.resize(threads);
    const std::uint64_t slices = threads == 1 ? 20 : 5 + pick(60);
    for (slice_ = 1; slice_ <= slices; ++slice_) {
      const auto thread = static_cast<trace::ThreadId>(pick(threads));
      for (std::uint64_t events = 1 + pick(300); events > 0; --events) step(thread);
    }
    reader = &trace_.finish();
  }

  const trace::Reader* reader = nullptr;
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  enum class Slot { kAddress, kGuardedAddress, kNumber };
  struct Block {
    trace::Block block;
    std::vector<Slot> slots;
    std::vector<std::uint64_t> next;
  };
  struct Form {
    std::vector<std::uint8_t> bytes;
    int load = 0;   // bytes
    int store = 0;  // bytes
    int reg = -1;   // that is the result
    int width = 0;
  };

  trace::Allocation allocation(std::uint64_t number, std::uint64_t stack) const {
    trace::Allocation allocation;
    allocation.address = kHeap + 0x80 * number;
    allocation.size = 0x80;
    allocation.stack = static_cast<trace::StackId>(stack);
    return allocation;
  }

  void add_block() {
    static const std::vector<Form> kForms{
        {{0x48, 0x8b, 0x06}, 8, 0, 0, 8},  // mov rax,[rsi]
        {{0x8b, 0x06}, 4},                 // mov eax,[rsi]
        {{0x8a, 0x06}, 1},                 // mov al,[rsi]
        {{0x0f, 0x10, 0x06}, 16},          // movups xmm0,[rsi]
        {{0x48, 0x89, 0x07}, 0, 8},        // mov [rdi],rax
        {{0x89, 0x07}, 0, 4},              // mov [rdi],eax
        {{0x88, 0x07}, 0, 1},              // mov [rdi],al
        {{0x0f, 0x11, 0x07}, 0, 16},       // movups [rdi],xmm0
        {{0x48, 0x01, 0xd8}, 0, 0, 0, 8},  // add rax,rbx
        {{0xb0, 0x05}, 0, 0, 0, 1},        // mov al,5
        {{0x48, 0x89, 0xc3}, 0, 0, 3, 8},  // mov rbx,rax
        {{0x66, 0x0f, 0x6e, 0xc0}},        // movd xmm0,eax
        {{0x66, 0xb8, 1, 0}, 0, 0, 0, 2},  // mov ax,1
        {{0x0f, 0x28, 0xc8}},              // movaps xmm1,xmm0
        {{0x0f, 0x58, 0xc1}},              // addps xmm0,xmm1
    };
    static const Form kX87{{0xd9, 0xc0}};  // fld st(0)
    Block made;
    made.block.id = static_cast<trace::BlockId>(blocks_.size());
    made.block.address = 0x10000 + 0x100 * blocks_.size();
    const bool x87 = pick(12) == 0;
    if (x87) made.block.ftop = Value::constant(pick(8));
    const std::uint64_t instructions = 1 + pick(5);
    const auto slot = [&](Slot kind) {
      made.slots.push_back(kind);
      return Value::slot(static_cast<std::uint32_t>(made.slots.size() - 1));
    };
    for (std::uint16_t i = 0; i < instructions; ++i) {
      const Form& form = x87 && pick(3) == 0 ? kX87 : kForms[pick(kForms.size())];
      made.block.bytes.insert(made.block.bytes.end(), form.bytes.begin(), form.bytes.end());
      made.block.lengths.push_back(static_cast<std::uint8_t>(form.bytes.size()));
      const bool guarded = pick(4) == 0;
      using Kind = trace::Access::Kind;
      if (form.load + form.store != 0)
        made.block.accesses.push_back({i, form.store != 0 ? Kind::kStore : Kind::kLoad, guarded, false,
                                       static_cast<std::uint32_t>(form.load + form.store),
                                       slot(guarded ? Slot::kGuardedAddress : Slot::kAddress)});
      if (form.reg >= 0)
        made.block.results.push_back(
            {i, static_cast<std::uint8_t>(form.reg), 0, static_cast<std::uint8_t>(form.width), slot(Slot::kNumber)});
    }
    trace_.writer().add_block(made.block);
    blocks_.push_back(std::move(made));
  }

  trace::ExitId exit(std::uint64_t from, std::uint64_t to) {
    const auto [found, added] = exits_.try_emplace({from, to}, static_cast<trace::ExitId>(exits_.size()));
    if (!added) return found->second;
    const trace::Block& block = blocks_[from].block;
    trace::Exit exit;
    exit.id = found->second;
    exit.block = block.id;
    exit.instructions = static_cast<std::uint16_t>(block.lengths.size());
    exit.accesses = static_cast<std::uint16_t>(block.accesses.size());
    exit.results = static_cast<std::uint16_t>(block.results.size());
    exit.slots = static_cast<std::uint16_t>(blocks_[from].slots.size());
    exit.target = blocks_[to].block.address;
    trace_.writer().add_exit(exit);
    return exit.id;
  }

  void step(trace::ThreadId thread) {
    const std::uint64_t from = at_[thread];
    const std::vector<std::uint64_t>& ways = blocks_[from].next;
    const std::uint64_t to = ways[pick(4) != 0 ? 0 : pick(ways.size())];
    const std::uint64_t count = ++count_[thread];
    std::vector<std::uint64_t> slots;
    for (const Slot slot : blocks_[from].slots) {
      const std::uint64_t address = kHeap - 64 + (pick(3) != 0 ? 8 * (count % 100) : pick(0x80 * stacks_ + 128));
      if (slot == Slot::kNumber)
        slots.push_back(pick(3) != 0 ? 3 * count : pick(1000));
      else
        slots.push_back(slot == Slot::kGuardedAddress && pick(2) == 0 ? 0 : address);
    }
    trace::Writer& writer = trace_.writer();
    writer.event(thread, slice_, exit(from, to), slots);
    at_[thread] = to;
    if (pick(300) == 0) writer.side({thread, slice_, 0, allocation(pick(stacks_), pick(stacks_))});
    if (pick(200) != 0) return;
    trace::SyscallEnter call;
    call.number = 1;
    trace::KernelAccess access;
    access.write = pick(2) == 0;
    access.address = kHeap + pick(300);
    access.size = 1 + pick(64);
    writer.side({thread, slice_, 0, call});
    writer.side({thread, slice_, 0, access});
    writer.side({thread, slice_, 0, trace::SyscallReturn{1, 0}});
  }

  std::mt19937_64 random_;
  HandTrace trace_;
  std::uint64_t stacks_ = 0;
  std::vector<Block> blocks_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, trace::ExitId> exits_;
  std::uint64_t slice_ = 0;
  std::vector<std::uint64_t> at_;     // by thread: its block
  std::vector<std::uint64_t> count_;  // by thread: events
};

/// What journals make of a trace, and what comes out without.
void compare(const trace::Reader& reader, Options options, const std::string& what) {
  options.by_runs = false;
  const std::vector<std::string> by_events = lines_of(graph_of(reader, options));
  options.by_runs = true;
  EXPECT_EQ(difference(by_events, lines_of(graph_of(reader, options))), "") << what;
  options.jobs = 3;
  EXPECT_EQ(difference(by_events, lines_of(graph_of(reader, options))), "") << what << ", three jobs";
}

TEST(BuilderJournal, RandomJumps) {
  const std::uint64_t programs = 80 * structure::testing::soak();
  for (std::uint64_t i = 0; i < programs && !HasFailure(); ++i) {
    const Jumps jumps(structure::testing::seed(i));
    Options options;
    options.origins = i % 4 != 0;
    compare(*jumps.reader, options, "seed " + std::to_string(structure::testing::seed(i)));
  }
}

Op load(std::uint32_t slot) { return {{0x48, 0x8b, 0x06}, {{false, 8, Value::slot(slot)}}, {}}; }
Op store(std::uint32_t slot) { return {{0x48, 0x89, 0x07}, {{true, 8, Value::slot(slot)}}, {}}; }
Op nothing() { return {{0x0f, 0x1f, 0x40, 0x00}, {}, {}}; }

/// for (i < outer) for (k < 4) load address(i, k), behind what was there before; then the end.
template <class Address>
void load_in_nest(HandTrace& trace, trace::BlockId head, trace::BlockId body, trace::BlockId end, std::uint64_t outer,
                  const Address& address) {
  for (std::uint64_t i = 0; i < outer; ++i) {
    trace.run(head, body, {});
    for (std::uint64_t k = 0; k < 4; ++k) trace.run(body, k < 3 ? body : i + 1 < outer ? head : end, {address(i, k)});
  }
}

/// Past 64 objects of an access, all others have one stream.
TEST(BuilderJournal, MoreObjectsThanAreKeptApart) {
  for (const std::uint64_t objects : {60u, 80u, 300u}) {
    HandTrace trace;
    for (std::uint64_t i = 0; i < objects; ++i) trace.writer().add_stack({0x1000 + 16 * i});
    for (std::uint64_t i = 0; i < objects; ++i) {
      trace::Allocation allocation;
      allocation.address = kHeap + 0x1000 * i;
      allocation.size = 0x1000;
      allocation.stack = static_cast<trace::StackId>(i);
      trace.side(allocation);
    }
    const trace::BlockId head = trace.block(0x2000, {nothing()}, 0);
    const trace::BlockId body = trace.block(0x3000, {load(0)}, 1);
    const trace::BlockId end = trace.block(0x4000, {nothing()}, 0);
    std::mt19937 random(1);
    std::uint64_t base = 0;
    load_in_nest(trace, head, body, end, 400, [&](std::uint64_t, std::uint64_t k) {
      if (k == 0) base = random() % 100 * 8;
      return kHeap + 0x1000 * (random() % objects) + base + 8 * k;
    });
    trace.run(end, end, {}, ExitKind::kOther);
    compare(trace.finish(), {}, std::to_string(objects) + " objects");
  }
}

/// Past 4096 producers of an operand, all others are one that is not known.
TEST(BuilderJournal, MoreProducersThanAreKeptApart) {
  constexpr std::uint64_t kProducers = 4200;
  HandTrace trace;
  std::vector<trace::BlockId> stores;
  for (std::uint64_t i = 0; i < kProducers; ++i) stores.push_back(trace.block(0x100000 + 0x20 * i, {store(0)}, 1));
  const trace::BlockId head = trace.block(0x2000, {nothing()}, 0);
  const trace::BlockId body = trace.block(0x3000, {load(0)}, 1);
  const trace::BlockId end = trace.block(0x4000, {nothing()}, 0);
  for (std::uint64_t i = 0; i < kProducers; ++i)
    trace.run(stores[i], i + 1 < kProducers ? stores[i + 1] : head, {kHeap + 8 * i});
  load_in_nest(trace, head, body, end, 1200, [&](std::uint64_t i, std::uint64_t k) {
    const std::uint64_t number = 4 * i + k;
    return kHeap + 8 * (number < 4096 ? number : 4096 + number % 3);
  });
  trace.run(end, end, {}, ExitKind::kOther);
  compare(trace.finish(), {}, "many producers");
}

/// The exits of a block are parts of their own, with the same statement: all find its journal, or none.
TEST(BuilderJournal, NoMemoryForMoreJournals) {
  constexpr std::uint64_t kNests = 100;
  HandTrace trace;
  std::vector<trace::BlockId> heads;
  std::vector<trace::BlockId> bodies;
  for (std::uint64_t i = 0; i < kNests; ++i) {
    heads.push_back(trace.block(0x10000 + 0x1000 * i, {nothing()}, 0));
    bodies.push_back(trace.block(0x10800 + 0x1000 * i, {load(0)}, 1));
  }
  const trace::BlockId end = trace.block(0x4000, {nothing()}, 0);
  for (std::uint64_t n = 0; n < kNests; ++n)
    load_in_nest(trace, heads[n], bodies[n], n + 1 < kNests ? heads[n + 1] : end, 30,
                 [](std::uint64_t i, std::uint64_t k) { return kHeap + 64 * i + 8 * k; });
  trace.run(end, end, {}, ExitKind::kOther);
  Options options;
  options.max_memory = std::uint64_t{8} << 20;
  compare(trace.finish(), options, "little memory");
}

}  // namespace
}  // namespace loopfold::ddg
