// Loads that go down columns, and rows that are read in smaller parts than they were written in, against event by
// event.
//
// A program is some nests of up to four loops, one after the other, mostly in a loop around all of them. Each body
// stores or loads one or two elements of an array of up to four dimensions, whose subscripts are the counters in any
// order, so rows that one nest writes are columns of another one, and of itself. Elements have 8, 16 or 32 bytes, and
// lie anywhere in the array. Values that are loaded may be used in the next iterations.
#include <algorithm>
#include <array>
#include <random>

#include "ddg/testing.h"
#include "structure/testing.h"

namespace loopfold::ddg {
namespace {

using testing::difference;
using testing::graph_of;
using testing::HandTrace;
using testing::lines_of;
using testing::Op;
using trace::Value;

constexpr std::uint64_t kArray = 0x500000;

class Columns {
 public:
  explicit Columns(std::uint64_t seed) : random_(seed) {
    trace::Allocation array;
    array.address = kArray;
    array.size = 0x80000;
    trace_.side(array);
    std::uint64_t stride = 8;
    for (std::uint64_t& each : strides_) stride = (each = stride) * (9 + pick(4));
    const trace::BlockId entry = nop();
    const trace::BlockId around = nop();
    const trace::BlockId behind = nop();
    const trace::BlockId end = nop();
    std::vector<Nest> nests(1 + pick(3));
    for (Nest& made : nests) made = nest();
    const std::uint64_t times = pick(3) == 0 ? 1 : 2 + pick(2);
    trace_.run(entry, around, {});
    for (std::uint64_t t = 0; t < times; ++t) {
      trace_.run(around, nests[0].headers[0], {});
      for (std::size_t i = 0; i < nests.size(); ++i)
        execute(nests[i], 0, i + 1 < nests.size() ? nests[i + 1].headers[0] : behind);
      trace_.run(behind, t + 1 < times ? around : end, {});
    }
    trace_.run(end, end, {}, trace::ExitKind::kOther);
    reader = &trace_.finish();
  }

  const trace::Reader* reader = nullptr;
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  static constexpr std::size_t kMost = 4;
  struct Access {
    std::uint64_t start = 0;
    std::array<std::uint64_t, kMost> steps{};  // by loop
  };
  struct Nest {
    std::vector<trace::BlockId> headers;  // the last is the body
    std::vector<trace::BlockId> latches;
    std::vector<std::uint64_t> trips;
    std::vector<Access> accesses;
    std::array<std::uint64_t, kMost> counters{};
  };

  trace::BlockId nop() { return trace_.block(place_ += 0x400, {{{0x0f, 0x1f, 0x40, 0x00}, {}, {}}}, 0); }

  /// A subscript for each of the innermost loops, mostly: of the array's dimensions, in any order, now and then
  /// backwards.
  Access access(const std::vector<std::uint64_t>& trips) {
    Access made;
    std::array<std::uint64_t, kMost> strides = strides_;
    std::shuffle(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(trips.size()), random_);
    made.start = kArray + 8 * pick(4);
    if (pick(3) == 0) made.start += strides_[pick(3)];
    for (std::size_t i = 0; i < trips.size(); ++i) {
      made.steps[i] = strides[i] * (pick(12) == 0 ? 0 : pick(5) == 0 ? 2 : 1);
      if (pick(8) != 0) continue;
      made.start += made.steps[i] * (trips[i] - 1);
      made.steps[i] = std::uint64_t{0} - made.steps[i];
    }
    return made;
  }

  /// mov of 8, 16 or 32 bytes: rax or xmm0, ymm0.
  Op move(bool store, std::uint32_t slot) {
    const auto opcode = [&](std::uint8_t load, std::uint8_t stored) { return store ? stored : load; };
    const std::uint64_t kind = pick(2) == 0 ? 0 : pick(3);
    const std::vector<std::uint8_t> bytes[] = {
        {0x48, opcode(0x8b, 0x89), 0x06}, {0x0f, opcode(0x10, 0x11), 0x06}, {0xc5, 0xfc, opcode(0x10, 0x11), 0x06}};
    return {bytes[kind], {{store, 8u << kind, Value::slot(slot)}}, {}};
  }

  Nest nest() {
    Nest made;
    const std::size_t depth = 1 + pick(kMost);
    for (std::size_t i = 0; i + 1 < depth; ++i) {
      made.headers.push_back(nop());
      made.latches.push_back(nop());
      made.trips.push_back(2 + pick(depth > 3 ? 3 : 8));
    }
    made.trips.push_back(pick(4) == 0 ? 2 + pick(20) : 8 + pick(6));
    std::vector<Op> ops;
    if (pick(3) == 0) ops.push_back({{0x48, 0x01, 0xca}, {}, {}});  // add rdx, rcx
    const std::uint64_t accesses = 1 + pick(3);
    for (std::uint32_t i = 0; i < accesses; ++i) {
      ops.push_back(move(pick(2) == 0, i));
      made.accesses.push_back(access(made.trips));
      if (pick(3) == 0) ops.push_back({{0x48, 0x89, 0xc1}, {}, {}});  // mov rcx, rax
      if (pick(3) == 0) ops.push_back({{0x48, 0x01, 0xca}, {}, {}});
    }
    made.headers.push_back(trace_.block(place_ += 0x400, ops, static_cast<std::uint16_t>(accesses)));
    return made;
  }

  void execute(Nest& nest, std::size_t level, trace::BlockId behind) {
    const trace::BlockId header = nest.headers[level];
    const bool innermost = level + 1 == nest.headers.size();
    for (std::uint64_t i = 0; i < nest.trips[level]; ++i) {
      nest.counters[level] = i;
      const trace::BlockId next = i + 1 < nest.trips[level] ? header : behind;
      if (innermost) {
        trace_.run(header, next, slots_of(nest));
        continue;
      }
      trace_.run(header, nest.headers[level + 1], {});
      execute(nest, level + 1, nest.latches[level]);
      trace_.run(nest.latches[level], next, {});
    }
  }

  static std::vector<std::uint64_t> slots_of(const Nest& nest) {
    std::vector<std::uint64_t> slots;
    for (const Access& access : nest.accesses) {
      slots.push_back(access.start);
      for (std::size_t i = 0; i < nest.trips.size(); ++i) slots.back() += access.steps[i] * nest.counters[i];
    }
    return slots;
  }

  std::mt19937_64 random_;
  HandTrace trace_;
  std::uint64_t place_ = 0x2000;
  std::array<std::uint64_t, kMost> strides_{};  // of the array's dimensions, in bytes
};

TEST(BuilderStretchColumns, SameAsEventByEvent) {
  const std::uint64_t programs = 400 * structure::testing::soak();
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < programs && failures < 5; ++i) {
    Columns columns(structure::testing::seed(i));
    Options options;
    options.origins = columns.pick(5) != 0;
    options.jobs = columns.pick(10) == 0 ? 2 : 1;
    const std::vector<std::string> by_runs = lines_of(graph_of(*columns.reader, options));
    options.by_runs = false;
    options.jobs = 1;
    const std::string different = difference(lines_of(graph_of(*columns.reader, options)), by_runs);
    EXPECT_EQ(different, "") << "program " << i << ", seed " << structure::testing::seed(i);
    failures += different.empty() ? 0 : 1;
  }
}

}  // namespace
}  // namespace loopfold::ddg
