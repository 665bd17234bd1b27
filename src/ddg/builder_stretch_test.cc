// Many iterations at once against event by event, on the whole graph: random loop bodies of machine code whose accesses
// overlap in every way.
//
// A program is a function with one or two nests of loops. Bodies, and what is before them, are one to four blocks, with
// up to six accesses of 1 to 32 bytes, strides from -40 to 40 bytes, starts within 200 bytes of each other, and in
// between copies, exchanges and sums of registers. Accesses are in blocks of the heap that lie close together, in the
// function's frame, where plain stores are spills, or nowhere; some hop between these from one entry of the loop to the
// next. Some bodies call functions, which may call others; what these store in their frames and around them is
// forgotten when they return. The stack may be elsewhere in each entry of the loop, or even in each iteration. Some
// addresses are not even: they wrap around in a few bits, or are so but for a few iterations. Ordinary programs hardly
// have any of this; mistakes of order inside a stretch show here. Some programs look things up in a table all the time,
// which other loops, and now and then the same, write.
#include <algorithm>
#include <functional>
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
using trace::Expression;
using trace::Value;

constexpr std::uint64_t kHeap = 0x500000;
constexpr std::uint64_t kElsewhere = 0x900000;
constexpr std::uint64_t kTable = 0xa00000;
constexpr std::uint64_t kStack = 0x7ffe00010000;  // at the call
constexpr std::uint64_t kFrame = 0x8000;          // bytes of the function's frame
constexpr std::uint32_t kSpread = 200;

class Torture {
 public:
  explicit Torture(std::uint64_t seed, bool looks_up = false) : random_(seed), looks_up_(looks_up) {
    const std::uint64_t regions[] = {kHeap, kHeap, kStack - kFrame / 2, kElsewhere};
    region_ = regions[pick(4)];
    hops_ = region_ != regions[2] && pick(3) == 0;
    frames_ = region_ == regions[2] || hops_ || pick(4) == 0;
    if (region_ == kHeap) allocate();
    if (region_ == kElsewhere && pick(2) == 0) map();
    if (looks_up_) allocate_table();
    const trace::BlockId entry = trace_.block(0x1000, {{{0xe8, 0, 0, 0, 0}, {}, {}}}, 1);
    const trace::BlockId prologue =
        trace_.block(0x2000, {{{0x48, 0x81, 0xec, 0, 0x80, 0, 0}, {}, {{4, 8, Value::constant(kStack - kFrame)}}}}, 0);
    const std::uint64_t nests = 1 + pick(2);
    for (std::uint64_t i = 0; i < nests; ++i) nests_.push_back(nest());
    const trace::BlockId end = nop();
    trace_.run(entry, prologue, {kStack}, trace::ExitKind::kCall, Value::slot(0));
    trace_.run(prologue, nests_[0].header.block, {});
    for (std::size_t i = 0; i < nests_.size(); ++i) {
      if (i > 0 && region_ != kStack - kFrame / 2 && pick(3) == 0) allocate();
      execute(nests_[i], i + 1 < nests_.size() ? nests_[i + 1].header.block : end);
    }
    trace_.run(end, end, {}, trace::ExitKind::kOther);
    reader = &trace_.finish();
  }

  const trace::Reader* reader = nullptr;
  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

 private:
  /// How a slot changes along a loop.
  struct Column {
    enum class Kind { kEven, kDented, kNoise, kWords } kind = Kind::kEven;
    std::uint64_t start = 0;
    std::int64_t stride = 0;
    std::int64_t outer = 0;
    std::uint64_t hop = 0;  // in every second entry of the loop
  };
  struct Piece {
    trace::BlockId block = 0;
    std::vector<Column> columns;
    trace::ExitKind kind = trace::ExitKind::kNext;
    Value stack_pointer;
  };
  /// header { first, (left or right), last } latch
  struct Nest {
    Piece header;  // what the loop finds in registers may be loaded or copied here
    trace::BlockId latch = 0;
    std::vector<Piece> pieces;  // one, or these four
    bool calls = false;         // all of them, one after the other
    std::uint64_t outer = 1, trips = 3;
    std::uint64_t way = 0, flip = 0;
    bool leaves_early = false;  // behind the first block of the last iteration
    std::uint64_t less = 0;     // iterations in every second entry
  };
  /// A block that is being made.
  struct Making {
    std::vector<Op> ops;
    std::vector<Column> columns;
    std::vector<Expression> expressions;
  };

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::uint64_t place() { return next_place_ += 0x400; }
  trace::BlockId nop() { return trace_.block(place(), {{{0x0f, 0x1f, 0x40, 0x00}, {}, {}}}, 0); }

  void map() {
    trace::Mapping mapping;
    mapping.address = region_ - 0x8000;
    mapping.size = 0x10000;
    trace_.side(mapping);
  }

  /// Blocks side by side, with and without gaps.
  void allocate() {
    for (std::uint64_t at = region_ - pick(3000); at < region_ + 3000;) {
      const std::uint64_t size = 16 + pick(pick(4) == 0 ? 2000 : 120);
      trace::Allocation allocation;
      allocation.address = at;
      allocation.size = size;
      trace_.side(allocation);
      at += size + pick(3) * 16;
    }
  }

  void allocate_table() {
    trace::Allocation allocation;
    allocation.address = kTable - 64;
    for (allocation.size = pick(2) == 0 ? 1000 : 96; allocation.address < kTable + 400;
         allocation.address += allocation.size)
      trace_.side(allocation);
  }

  Value column(Making& making, const Column& column) {
    making.columns.push_back(column);
    return Value::slot(static_cast<std::uint32_t>(making.columns.size() - 1));
  }

  /// In the table: loads are anywhere, stores one after the other.
  Value in_table(Making& making, bool store) {
    Column made;
    made.start = kTable + (pick(6) == 0 ? pick(8) : 0);
    made.kind = pick(3) == 0 ? Column::Kind::kDented : Column::Kind::kWords;
    made.stride = 8;
    if (store) {
      made.kind = pick(6) == 0 ? Column::Kind::kWords : Column::Kind::kEven;
      made.start += 8 * pick(16);
      made.stride = 8 * between(-1, 2);
    }
    return column(making, made);
  }

  /// An address, mostly even.
  Value address(Making& making, bool store) {
    if (looks_up_ && pick(store && !fills_ ? 12 : 2) == 0) return in_table(making, store);
    Column made;
    made.start = region_ + pick(kSpread);
    made.stride = pick(3) == 0 ? between(-40, 40) : std::int64_t{1} << pick(6);
    if (pick(4) == 0) made.stride = -made.stride;
    if (pick(12) == 0) made.stride = 0;
    if (calls_ && pick(3) == 0) {
      made.start = pointer_ - kSpread + pick(kSpread + 40);
      if (pick(3) != 0) made.stride = 0;
    }
    made.outer = between(-64, 64);
    if (hops_ && pick(4) != 0) made.hop = kStack - kFrame / 2 - region_;
    const std::uint64_t kind = pick(12);
    if (kind == 0) made.kind = Column::Kind::kNoise;
    if (kind == 1) made.kind = Column::Kind::kDented;
    if (kind != 2) return column(making, made);
    constexpr Expression::Extend kExtends[] = {Expression::Extend::kZero8, Expression::Extend::kSign8};
    made.start = pick(256);
    Expression low;
    low.terms = {{column(making, made), 1}};
    low.constant = pick(100);
    low.extend = kExtends[pick(2)];
    making.expressions.push_back(low);
    Expression sum;
    sum.terms = {{Value::expression(static_cast<std::uint32_t>(making.expressions.size() - 1)), 1 + pick(3)}};
    sum.constant = region_;
    making.expressions.push_back(sum);
    return Value::expression(static_cast<std::uint32_t>(making.expressions.size() - 1));
  }

  /// rax, rcx, rdx or rbx as data, [rsi] as the address.
  std::uint8_t reg() { return static_cast<std::uint8_t>(pick(4)); }
  static std::uint8_t to_memory(std::uint8_t reg) { return static_cast<std::uint8_t>(0x06 | reg << 3); }
  static std::uint8_t between_registers(std::uint8_t reg, std::uint8_t rm) {
    return static_cast<std::uint8_t>(0xc0 | reg << 3 | rm);
  }

  /// mov of 1 to 32 bytes.
  Op move(Making& making, bool store) {
    const bool in_slot = frames_ && pick(2) == 0;
    const std::uint8_t data = reg();
    const auto opcode = [&](std::uint8_t load, std::uint8_t stored) { return store ? stored : load; };
    const std::uint64_t kind = pick(6);
    const std::vector<std::uint8_t> opcodes[] = {{opcode(0x8a, 0x88)},       {0x66, opcode(0x8b, 0x89)},
                                                 {opcode(0x8b, 0x89)},       {0x48, opcode(0x8b, 0x89)},
                                                 {0x0f, opcode(0x10, 0x11)}, {0xc5, 0xfc, opcode(0x10, 0x11)}};
    std::vector<std::uint8_t> bytes = opcodes[kind];
    if (in_slot)
      bytes.insert(bytes.end(), {static_cast<std::uint8_t>(0x44 | data << 3), 0x24, 8});  // [rsp + 8]
    else
      bytes.push_back(to_memory(data));
    return {bytes, {{store, 1u << kind, in_slot ? slot_address(making) : address(making, store)}}, {}};
  }

  /// Close to others, and hardly ever moving: stores there are spills, loads may be reloads.
  Value slot_address(Making& making) {
    Column made;
    made.start = kStack - kFrame / 2 + pick(48);
    if (in_call_ && pick(4) != 0) {
      made.start = pointer_ - 32 + pick(40);
      made.outer = moves_.outer;
    }
    if (pick(2) == 0) made.start &= ~std::uint64_t{7};
    made.stride = pick(10) == 0 ? 8 : 0;
    if (made.outer != 0) made.stride += moves_.stride;
    return column(making, made);
  }

  /// A place on the stack, so many bytes from where the stack pointer is now, which is in the making.
  Value on_stack(Making& making, std::int64_t offset) {
    Column made = moves_;
    made.start = pointer_ + static_cast<std::uint64_t>(offset);
    return column(making, made);
  }
  Op push(Making& making, std::vector<std::uint8_t> bytes) {
    Op op{std::move(bytes), {{true, 8, on_stack(making, -8)}}, {{4, 8, on_stack(making, -8)}}};
    pointer_ -= 8;
    return op;
  }
  Op pop(Making& making, std::vector<std::uint8_t> bytes, std::uint8_t reg) {
    Op op{std::move(bytes), {{false, 8, on_stack(making, 0)}}, {{4, 8, on_stack(making, 8)}}};
    if (reg != 4) {
      Column value;
      value.start = pick(100);
      op.results.insert(op.results.begin(), {reg, 8, column(making, value)});
    }
    pointer_ += 8;
    return op;
  }
  Op move_pointer(Making& making, std::int64_t by) {
    pointer_ += static_cast<std::uint64_t>(by);
    const auto bytes = static_cast<std::uint8_t>(by);
    return {{0x48, 0x83, 0xc4, bytes}, {}, {{4, 8, on_stack(making, 0)}}};  // add rsp
  }
  void some(Making& making, std::uint64_t accesses) {
    for (std::uint64_t i = 0; i < accesses; ++i) {
      if (pick(2) == 0) making.ops.push_back(of_registers(making));
      making.ops.push_back(pick(6) == 0 ? computed(making) : move(making, pick(2) == 0));
    }
  }
  Piece finish(std::uint64_t at, const Making& making, trace::ExitKind kind, Value stack_pointer) {
    return {trace_.block(at, making.ops, static_cast<std::uint16_t>(making.columns.size()), making.expressions),
            making.columns, kind, stack_pointer};
  }
  static std::uint64_t end_of(std::uint64_t at, const Making& making) {
    for (const Op& op : making.ops) at += op.bytes.size();
    return at;
  }

  /// From a block that begins there: a call of a function, which may call others. The result is where it returns to.
  std::uint64_t call(std::uint64_t at, std::vector<Piece>& pieces, std::uint64_t depth) {
    Making caller;
    some(caller, pick(3));
    caller.ops.push_back(push(caller, {0xe8, 0, 0, 0, 0}));
    const Value called = on_stack(caller, 0);
    pieces.push_back(finish(at, caller, trace::ExitKind::kCall, called));
    const bool outside = std::exchange(in_call_, true);
    const bool saves = pick(2) == 0;
    const std::int64_t frame = pick(2) == 0 ? static_cast<std::int64_t>(16 * pick(4)) : 0;
    std::uint64_t from = place();
    Making callee;
    if (saves) callee.ops.push_back(push(callee, {0x53}));
    if (frame != 0) callee.ops.push_back(move_pointer(callee, -frame));
    some(callee, pick(4));
    if (callee.ops.empty()) callee.ops.push_back(of_registers(callee));
    if (depth > 0 && pick(2) == 0) {
      pieces.push_back(finish(from, callee, trace::ExitKind::kNext, {}));
      from = call(end_of(from, callee), pieces, depth - 1);
      callee = {};
    }
    some(callee, pick(3));
    if (frame != 0) callee.ops.push_back(move_pointer(callee, frame));
    if (saves) callee.ops.push_back(pop(callee, {0x5b}, 3));
    callee.ops.push_back(pop(callee, {0xc3}, 4));
    const Value returns = on_stack(callee, 0);
    pieces.push_back(finish(from, callee, trace::ExitKind::kReturn, returns));
    in_call_ = outside;
    return end_of(at, caller);
  }

  /// The stack grows and shrinks again: more of it is forgotten when a frame is left.
  Piece deeper() {
    Making making;
    making.ops.push_back(move_pointer(making, -64));
    some(making, pick(3));
    making.ops.push_back(move_pointer(making, 64));
    return finish(place(), making, trace::ExitKind::kNext, {});
  }

  /// A body with calls.
  std::vector<Piece> calling() {
    std::vector<Piece> pieces;
    calls_ = true;
    moves_ = {};
    if (pick(4) == 0) moves_.outer = -32;
    if (pick(12) == 0) moves_.stride = -16;
    std::uint64_t at = place();
    const std::uint64_t calls = 1 + pick(2);
    for (std::uint64_t i = 0; i < calls; ++i) at = call(at, pieces, pick(3));
    Making last;
    some(last, pick(3));
    last.ops.push_back(of_registers(last));
    pieces.push_back(finish(at, last, trace::ExitKind::kNext, {}));
    calls_ = false;
    return pieces;
  }

  /// add with memory, said to be of any size.
  Op computed(Making& making) {
    const auto size = static_cast<std::uint32_t>(1 + pick(32));
    const std::uint8_t at = to_memory(reg());
    const std::uint64_t kind = pick(3);
    const Value where = address(making, kind != 0);
    switch (kind) {
      case 0:
        return {{0x48, 0x03, at}, {{false, size, where}}, {}};
      case 1:
        return {{0x48, 0x01, at}, {{true, size, where}}, {}};
      default:
        return {{0x48, 0x01, at}, {{false, size, where}, {true, size, where}}, {}};
    }
  }

  Op of_registers(Making& making) {
    const std::uint8_t both = between_registers(reg(), reg());
    switch (sums_ ? 5 + pick(3) : pick(8)) {
      case 0:
        return {{0x48, 0x89, both}, {}, {}};  // mov
      case 1:
        return {{0x89, both}, {}, {}};
      case 2:
        return {{0x88, both}, {}, {}};
      case 3:
        return {{0x48, 0x87, both}, {}, {}};  // xchg
      case 4:
        return {{0x0f, 0x28, both}, {}, {}};  // movaps
      case 5:
        return {{0x66, 0x0f, 0xfe, both}, {}, {}};  // paddd
      default: {
        Column value;
        value.start = pick(300);
        value.stride = between(-9, 9);
        value.kind = pick(6) == 0 ? Column::Kind::kDented : Column::Kind::kEven;
        constexpr std::uint8_t kWidths[] = {4, 8};
        const std::uint8_t width = kWidths[pick(2)];
        std::vector<std::uint8_t> bytes{0x01, both};  // add
        if (width == 8) bytes.insert(bytes.begin(), 0x48);
        return {bytes, {}, {{static_cast<std::uint8_t>(both & 7), width, column(making, value)}}};
      }
    }
  }

  Piece piece(std::uint64_t accesses) {
    Making making;
    for (std::uint64_t i = 0; i < accesses; ++i) {
      while (pick(2) == 0) making.ops.push_back(of_registers(making));
      making.ops.push_back(sums_ || pick(4) == 0 ? computed(making) : move(making, pick(2) == 0));
    }
    making.ops.push_back(of_registers(making));
    Piece made;
    made.columns = making.columns;
    made.block =
        trace_.block(place(), making.ops, static_cast<std::uint16_t>(making.columns.size()), making.expressions);
    return made;
  }

  Nest nest() {
    Nest made;
    calls_ = pick(3) == 0;
    made.header = pick(2) == 0 ? piece(pick(3)) : Piece{nop(), {}, trace::ExitKind::kNext, {}};
    if (pick(6) == 0) made.header = deeper();
    calls_ = false;
    sums_ = pick(3) == 0;
    fills_ = looks_up_ && pick(3) == 0;
    const bool branches = pick(3) == 0;
    const std::uint64_t accesses = 1 + pick(6);
    made.calls = pick(3) == 0;
    if (made.calls) {
      made.pieces = calling();
    } else {
      made.pieces.push_back(piece(branches ? accesses / 2 : accesses));
    }
    for (int i = 0; i < 3 && branches && !made.calls; ++i) {
      if (looks_up_ && pick(2) == 0) fills_ = i == 1;
      made.pieces.push_back(piece(pick(3)));
    }
    sums_ = false;
    made.latch = nop();
    made.outer = pick(2) == 0 ? 1 : 1 + pick(5);
    made.trips = 3 + pick(pick(2) == 0 ? 40 : 297);
    if (pick(3) == 0) {
      made.outer = 1 + pick(20);
      made.trips = 4 + pick(12);
    }
    if (looks_up_ && pick(4) != 0) {
      made.outer = 2 + pick(8);
      made.trips = 9 + pick(pick(4) == 0 ? 200 : 20);
    }
    if (pick(3) == 0) made.less = pick(made.trips - 1);
    made.leaves_early = pick(6) == 0;
    made.way = pick(4);
    made.flip = pick(made.trips);
    return made;
  }

  std::uint64_t in_iteration(const Column& column, std::uint64_t j, std::uint64_t i, std::uint64_t trips) {
    const std::uint64_t value =
        column.start + static_cast<std::uint64_t>(column.outer) * j + (j % 2 == 1 ? column.hop : 0);
    if (column.kind == Column::Kind::kNoise) return value + pick(kSpread);
    if (column.kind == Column::Kind::kWords) return value + 8 * pick(kSpread / 8);
    const bool swapped = column.kind == Column::Kind::kDented && i > 0 && i + 1 < trips && i % 37 / 2 == 8;
    return value + static_cast<std::uint64_t>(column.stride) * (swapped ? i ^ 1 : i);
  }

  void run(const Piece& piece, trace::BlockId next, std::uint64_t j, std::uint64_t i, std::uint64_t trips) {
    std::vector<std::uint64_t> slots;
    for (const Column& column : piece.columns) slots.push_back(in_iteration(column, j, i, trips));
    trace_.run(piece.block, next, slots, piece.kind, piece.stack_pointer);
  }

  /// Which of the two ways: always one, in turns, another from some iteration on, at random.
  bool left(const Nest& nest, std::uint64_t i) {
    switch (nest.way) {
      case 0:
        return i % 2 == 0;
      case 1:
        return i < nest.flip;
      case 2:
        return i != nest.flip;
      default:
        return pick(4) != 0;
    }
  }

  void execute(const Nest& nest, trace::BlockId behind) {
    for (std::uint64_t j = 0; j < nest.outer; ++j) {
      run(nest.header, nest.pieces[0].block, j, 0, nest.trips);
      const std::uint64_t trips = nest.trips - (j % 2 == 1 ? nest.less : 0);
      for (std::uint64_t i = 0; i < trips; ++i) {
        const bool last = i + 1 == trips;
        const trace::BlockId next = last ? nest.latch : nest.pieces[0].block;
        if (nest.calls) {
          for (std::size_t p = 0; p < nest.pieces.size(); ++p)
            run(nest.pieces[p], p + 1 < nest.pieces.size() ? nest.pieces[p + 1].block : next, j, i, nest.trips);
          continue;
        }
        if (nest.pieces.size() == 1 || (last && nest.leaves_early)) {
          run(nest.pieces[0], next, j, i, nest.trips);
          continue;
        }
        const Piece& middle = nest.pieces[left(nest, i) ? 1 : 2];
        run(nest.pieces[0], middle.block, j, i, nest.trips);
        run(middle, nest.pieces[3].block, j, i, nest.trips);
        run(nest.pieces[3], next, j, i, nest.trips);
      }
      trace_.run(nest.latch, j + 1 < nest.outer ? nest.header.block : behind, {});
    }
  }

  std::mt19937_64 random_;
  HandTrace trace_;
  std::uint64_t region_ = 0;
  bool looks_up_ = false;  // some loads are in the table
  bool fills_ = false;     // so are some stores
  bool hops_ = false;      // between the region and the frame
  bool frames_ = false;    // some places in the frame are those of variables
  bool sums_ = false;      // only: no copies, loads or spills
  bool calls_ = false;     // some places are around frames that are left
  bool in_call_ = false;
  std::uint64_t pointer_ = kStack - kFrame;  // of the stack, in the block that is being made
  Column moves_;                             // how it changes along the loop
  std::uint64_t next_place_ = 0x2000;
  std::vector<Nest> nests_;
};

Options random_options(Torture& torture) {
  constexpr fold::Variant kVariants[] = {fold::Variant::kAuto, fold::Variant::kF, fold::Variant::kFW,
                                         fold::Variant::kFGGW};
  Options options;
  if (torture.pick(3) == 0) options.fold.variant = kVariants[torture.pick(4)];
  options.origins = torture.pick(5) != 0;
  options.jobs = torture.pick(10) == 0 ? 2 + 6 * static_cast<unsigned>(torture.pick(2)) : 1;
  return options;
}

void compare_with_events(bool looks_up) {
  const std::uint64_t programs = 400 * structure::testing::soak();
  std::uint64_t failures = 0;
  for (std::uint64_t i = 0; i < programs && failures < 5; ++i) {
    Torture torture(structure::testing::seed(i), looks_up);
    Options options = random_options(torture);
    const std::vector<std::string> by_runs = lines_of(graph_of(*torture.reader, options));
    options.by_runs = false;
    options.jobs = 1;
    const std::vector<std::string> by_events = lines_of(graph_of(*torture.reader, options));
    const std::string different = difference(by_events, by_runs);
    EXPECT_EQ(different, "") << "program " << i << ", seed " << structure::testing::seed(i);
    failures += different.empty() ? 0 : 1;
  }
}

TEST(BuilderStretch, OverlappingStrides) { compare_with_events(false); }
TEST(BuilderStretch, LookingThingsUp) { compare_with_events(true); }

// ---- By hand -------------------------------------------------------------------------------------------------------

constexpr std::uint64_t kTrips = 100;

/// entry; for (i < trips) { the blocks, one after the other }; end. `value` says what is in a slot of a block.
class Loop {
 public:
  using SlotValue = std::function<std::uint64_t(std::size_t block, std::size_t slot, std::uint64_t iteration)>;

  void block(const std::vector<Op>& ops, std::uint16_t slots) {
    blocks_.push_back(trace_.block(place_ += 0x400, ops, slots));
    slots_.push_back(slots);
  }
  void allocate(std::uint64_t address, std::uint64_t size) {
    trace::Allocation allocation;
    allocation.address = address;
    allocation.size = size;
    trace_.side(allocation);
  }
  /// Runs what was made since the last time as a loop.
  void run(std::uint64_t trips, const SlotValue& value) {
    const trace::BlockId behind = nop();
    trace_.run(before_, blocks_[0], {});
    for (std::uint64_t i = 0; i < trips; ++i) {
      for (std::size_t b = 0; b < blocks_.size(); ++b) {
        std::vector<std::uint64_t> slots;
        for (std::size_t s = 0; s < slots_[b]; ++s) slots.push_back(value(b, s, i));
        const bool last = b + 1 == blocks_.size();
        trace_.run(blocks_[b], !last ? blocks_[b + 1] : i + 1 < trips ? blocks_[0] : behind, slots);
      }
    }
    before_ = behind;
    blocks_.clear();
    slots_.clear();
  }
  /// The end; only once.
  Graph graph() {
    trace_.run(before_, before_, {}, trace::ExitKind::kOther);
    const trace::Reader& reader = trace_.finish();
    Options options;
    Graph by_runs = graph_of(reader, options);
    options.by_runs = false;
    EXPECT_EQ(difference(lines_of(graph_of(reader, options)), lines_of(by_runs)), "");
    return by_runs;
  }

 private:
  trace::BlockId nop() { return trace_.block(place_ += 0x400, {{{0x0f, 0x1f, 0x40, 0x00}, {}, {}}}, 0); }

  HandTrace trace_;
  std::uint64_t place_ = 0x2000;
  trace::BlockId before_ = nop();
  std::vector<trace::BlockId> blocks_;
  std::vector<std::uint16_t> slots_;
};

Op load_rax(std::uint32_t slot) { return {{0x48, 0x8b, 0x06}, {{false, 8, Value::slot(slot)}}, {}}; }
Op store_rax(std::uint32_t slot) { return {{0x48, 0x89, 0x07}, {{true, 8, Value::slot(slot)}}, {}}; }
Op store_rbx(std::uint32_t slot) { return {{0x48, 0x89, 0x1f}, {{true, 8, Value::slot(slot)}}, {}}; }
Op spill_rax(std::uint32_t slot) { return {{0x48, 0x89, 0x44, 0x24, 8}, {{true, 8, Value::slot(slot)}}, {}}; }
const Op kMoveRaxToRcx{{0x48, 0x89, 0xc1}, {}, {}}, kAddRcxToRdx{{0x48, 0x01, 0xca}, {}, {}};

/// A load that is used behind a copy, whose address is even but in the middle: first and last iteration do not tell.
TEST(BuilderStretch, AddressesThatAreEvenButInTheMiddle) {
  for (const std::uint64_t dent : {0u, 50u}) {
    Loop loop;
    loop.block({load_rax(0), kMoveRaxToRcx}, 1);
    loop.block({kAddRcxToRdx}, 0);
    loop.run(kTrips, [&](std::size_t, std::size_t, std::uint64_t i) {
      return kElsewhere + 8 * (dent != 0 && (i == dent || i == dent + 1) ? 2 * dent + 1 - i : i);
    });
    const Graph graph = loop.graph();
    ASSERT_FALSE(graph.origins.empty());
    EXPECT_EQ(graph.origins.back().even, dent == 0);
  }
}

/// Two iterations of one stretch get what the same loop stored; those around them get nothing.
TEST(BuilderStretch, OnlyTheMiddleWasWritten) {
  Loop loop;
  loop.block({store_rax(0)}, 1);
  loop.run(20, [](std::size_t, std::size_t, std::uint64_t i) { return kElsewhere + 8 * (40 + i); });
  loop.block({load_rax(0), kMoveRaxToRcx}, 1);
  loop.block({kAddRcxToRdx}, 0);
  loop.run(kTrips, [](std::size_t, std::size_t, std::uint64_t i) { return kElsewhere + 8 * i; });
  const Graph graph = loop.graph();
  const auto memory = std::find_if(graph.dependences.begin(), graph.dependences.end(),
                                   [](const Dependence& d) { return d.kind == Dependence::Kind::kMemory; });
  ASSERT_NE(memory, graph.dependences.end());
  EXPECT_EQ(memory->map.points, 20u);
  EXPECT_TRUE(memory->map.exact());
}

/// Twice in one loop: words are copied to some place and added up there. The first time only the middle of what is
/// added up was copied, and it is no copy aside; the second time the place is the frame, and all of it is. So what the
/// sum gets has not always been a load, which the ends of the first stretch do not tell. The first time they are read
/// one after the other, or not.
void only_the_middle_got(bool even) {
  HandTrace made;
  trace::Allocation allocation;
  allocation.address = kElsewhere;
  allocation.size = 0x1000;
  made.side(allocation);
  const auto nop = [&](std::uint64_t at) { return made.block(at, {{{0x0f, 0x1f, 0x40, 0x00}, {}, {}}}, 0); };
  const trace::BlockId entry = made.block(0x1000, {{{0xe8, 0, 0, 0, 0}, {}, {}}}, 1);
  const trace::BlockId prologue =
      made.block(0x2000, {{{0x48, 0x81, 0xec, 0, 0x80, 0, 0}, {}, {{4, 8, Value::constant(kStack - kFrame)}}}}, 0);
  const trace::BlockId header = nop(0x2400);
  const trace::BlockId copy = made.block(0x2800, {load_rax(0), spill_rax(1)}, 2);
  const trace::BlockId between = nop(0x2c00);
  const trace::BlockId sum = made.block(0x3000, {{{0x48, 0x03, 0x16}, {{false, 8, Value::slot(0)}}, {}}}, 1);
  const trace::BlockId latch = nop(0x3400);
  const trace::BlockId end = nop(0x3800);
  made.run(entry, prologue, {kStack}, trace::ExitKind::kCall, Value::slot(0));
  made.run(prologue, header, {});
  for (const bool in_frame : {false, true}) {
    const std::uint64_t to = in_frame ? kStack - kFrame / 2 : kElsewhere;
    const std::uint64_t first = in_frame ? 0 : 40;
    const std::uint64_t last = in_frame ? kTrips : 60;
    made.run(header, copy, {});
    for (std::uint64_t i = first; i < last; ++i)
      made.run(copy, i + 1 < last ? copy : between, {kHeap + 8 * i, to + 8 * i});
    made.run(between, sum, {});
    for (std::uint64_t i = 0; i < kTrips; ++i)
      made.run(sum, i + 1 < kTrips ? sum : latch, {to + 8 * (even || in_frame ? i : i * 37 % kTrips)});
    made.run(latch, in_frame ? end : header, {});
  }
  made.run(end, end, {}, trace::ExitKind::kOther);
  const trace::Reader& reader = made.finish();
  Options options;
  const Graph by_runs = graph_of(reader, options);
  options.by_runs = false;
  EXPECT_EQ(difference(lines_of(graph_of(reader, options)), lines_of(by_runs)), "");
  ASSERT_FALSE(by_runs.origins.empty());
  EXPECT_FALSE(by_runs.origins.back().even);
}

TEST(BuilderStretch, WhatOnlyTheMiddleGot) {
  only_the_middle_got(true);
  only_the_middle_got(false);
}

/// for (...) { sum += index; index = table[index]; }: each iteration uses what the one before loaded. The table was
/// written before; the loop may write it too, behind what it reads and then there.
TEST(BuilderStretch, ChainsThatAreFollowed) {
  for (const bool written_in_loop : {false, true}) {
    Loop loop;
    loop.allocate(kTable, 0x1000);
    loop.block({store_rbx(0)}, 1);
    loop.run(40, [](std::size_t, std::size_t, std::uint64_t i) { return kTable + 8 * i; });
    for (const std::uint64_t factor : {7u, 11u, 13u}) {
      loop.block({kMoveRaxToRcx}, 0);
      loop.block({kAddRcxToRdx, load_rax(0)}, 1);
      if (written_in_loop) loop.block({store_rbx(0)}, 1);
      loop.run(kTrips, [&](std::size_t block, std::size_t, std::uint64_t i) {
        return kTable + 8 * (block == 1 ? i * i * factor % 61 : i < 30 ? 100 + i : i % 61);
      });
    }
    const Graph graph = loop.graph();
    const auto chained = [](const Origin& origin) { return origin.load && origin.carried.back() == 0; };
    const auto found = std::find_if(graph.origins.begin(), graph.origins.end(), chained);
    ASSERT_NE(found, graph.origins.end());
    EXPECT_FALSE(found->even);
  }
}

/// for (...) { sum += word; word = table[...]; then one of two stores }, the two taking turns after a few iterations:
/// what an iteration finds was loaded by one that took the other way, and has or has not been rewritten since.
TEST(BuilderStretch, WhatTheOtherWayHandsOn) {
  constexpr std::uint64_t kFar = 0x800;
  constexpr std::uint64_t kStores[] = {kFar, 0, 8, std::uint64_t{0} - 8};
  for (unsigned kind = 0; kind < 128; ++kind) {
    const bool even = kind % 2 == 0;
    const bool written = kind / 2 % 2 == 0;
    const bool jumps = kind / 4 % 2 == 0;
    HandTrace made;
    trace::Allocation allocation;
    allocation.address = kTable - 0x100;
    allocation.size = 0x4000;
    made.side(allocation);
    const auto nop = [&](std::uint64_t at) { return made.block(at, {{{0x0f, 0x1f, 0x40, 0x00}, {}, {}}}, 0); };
    const trace::BlockId before = made.block(0x2000, {store_rbx(0)}, 1);
    const trace::BlockId header = nop(0x2400);
    const trace::BlockId first = made.block(0x2800, {kMoveRaxToRcx, kAddRcxToRdx, load_rax(0)}, 1);
    const trace::BlockId ways[] = {made.block(0x2c00, {store_rbx(0)}, 1), made.block(0x3000, {store_rbx(0)}, 1)};
    const trace::BlockId latch = nop(0x3400);
    const trace::BlockId end = nop(0x3800);
    for (std::uint64_t i = 0; i < 80; ++i)
      made.run(before, i + 1 < 80 ? before : header, {kTable + (written ? 0 : 2 * kFar) + 8 * i});
    for (std::uint64_t j = 0; j < 4; ++j) {
      made.run(header, first, {});
      for (std::uint64_t i = 0; i < 70; ++i) {
        const std::uint64_t word = even ? i + (jumps && i >= (written ? 69 : 36) ? 1 : 0) : (i * i * 7 + j) % 61;
        const std::uint64_t way = i / 12 % 2;
        const std::uint64_t to = kStores[way == 0 ? kind / 8 % 4 : kind / 32];
        made.run(first, ways[way], {kTable + 8 * word});
        made.run(ways[way], i + 1 < 70 ? first : latch, {kTable + 8 * word + to});
      }
      made.run(latch, j + 1 < 4 ? header : end, {});
    }
    made.run(end, end, {}, trace::ExitKind::kOther);
    const trace::Reader& reader = made.finish();
    Options options;
    const std::vector<std::string> by_runs = lines_of(graph_of(reader, options));
    options.by_runs = false;
    EXPECT_EQ(difference(lines_of(graph_of(reader, options)), by_runs), "") << kind;
  }
}

std::uint64_t rewritten_in(const Graph& graph) {
  std::uint64_t sum = 0;
  for (const Origin& origin : graph.origins)
    for (const std::uint64_t count : origin.rewritten) sum += count;
  return sum;
}

/// A word is loaded and copied, another is stored, then the copy is used. The two run towards each other: in one
/// iteration, in the middle, the store is to what was loaded.
TEST(BuilderStretch, RewrittenInOneIteration) {
  Loop loop;
  loop.block({load_rax(0), kMoveRaxToRcx}, 1);
  loop.block({store_rax(0)}, 1);
  loop.block({kAddRcxToRdx}, 0);
  loop.run(kTrips, [](std::size_t block, std::size_t, std::uint64_t i) {
    return kElsewhere + 8 * (block == 0 ? i : 2 * 50 - i);
  });
  EXPECT_EQ(rewritten_in(loop.graph()), 1u);
}

/// A word is loaded before the loop, and a copy of it is used in each iteration. The loop stores all over the place:
/// from iteration 40 on, the word has been rewritten.
TEST(BuilderStretch, RewrittenFromOneIterationOn) {
  Loop loop;
  loop.block({load_rax(0)}, 1);
  loop.run(1, [](std::size_t, std::size_t, std::uint64_t) { return kElsewhere + 8 * 40; });
  loop.block({store_rbx(0), kMoveRaxToRcx}, 1);
  loop.block({kAddRcxToRdx}, 0);
  loop.run(kTrips, [](std::size_t, std::size_t, std::uint64_t i) { return kElsewhere + 8 * i; });
  EXPECT_EQ(rewritten_in(loop.graph()), kTrips - 40);
}

/// a[i] = a[i + distance]: the same, in every direction and size of step.
TEST(BuilderStretch, InPlace) {
  for (const std::int64_t step : {8, -8, 4, 1, 0, 16, -3}) {
    for (std::int64_t distance = -40; distance <= 40; distance += 4) {
      Loop loop;
      loop.block({load_rax(0), store_rax(1)}, 2);
      loop.run(kTrips, [&](std::size_t, std::size_t slot, std::uint64_t i) {
        const std::int64_t at = step * static_cast<std::int64_t>(i) + (slot == 0 ? distance : 0);
        return kElsewhere + static_cast<std::uint64_t>(at);
      });
      SCOPED_TRACE(fmt::format("step {}, distance {}", step, distance));
      loop.graph();
    }
  }
}

/// What is loaded is handed on for up to three iterations, from register to register, and used in each of them; a store
/// comes after it, or before it, at the same pace, and reaches what was loaded sooner or later.
TEST(BuilderStretch, HandedOnAndOvertaken) {
  const Op use_rcx{{0x48, 0x01, 0xcf}, {}, {}};  // add rdi, rcx
  const Op use_rdx{{0x48, 0x01, 0xd7}, {}, {}};
  const Op use_rbx{{0x48, 0x01, 0xdf}, {}, {}};
  const Op hand_on[] = {{{0x48, 0x89, 0xd3}, {}, {}}, {{0x48, 0x89, 0xca}, {}, {}}, {{0x48, 0x89, 0xc1}, {}, {}}};
  const Op store_rsi{{0x48, 0x89, 0x37}, {{true, 8, Value::slot(1)}}, {}};
  for (const std::int64_t step : {8, -8, 4, 16}) {
    for (std::int64_t distance = -40; distance <= 40; distance += 4) {
      for (int order = 0; order < 8; ++order) {
        Loop loop;
        loop.allocate(kHeap, 0x4000);
        if (order % 2 == 0) {
          loop.block({store_rax(0)}, 1);
          loop.run(400, [](std::size_t, std::size_t, std::uint64_t i) { return kHeap + 8 * i; });
        }
        std::vector<Op> ops{use_rcx, use_rdx, use_rbx, hand_on[0], hand_on[1], hand_on[2], load_rax(0)};
        const std::size_t at[] = {ops.size(), 0, 3, 6};
        ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at[order / 2]), store_rsi);
        if (order / 2 != 1) ops.insert(ops.end(), {use_rcx, use_rdx, use_rbx});
        loop.block(ops, 2);
        loop.run(kTrips, [&](std::size_t, std::size_t slot, std::uint64_t i) {
          const std::int64_t now = step * static_cast<std::int64_t>(i) + (slot == 1 ? distance : 0);
          return kHeap + 0x1000 + static_cast<std::uint64_t>(now);
        });
        SCOPED_TRACE(fmt::format("step {}, distance {}, order {}", step, distance, order));
        loop.graph();
      }
    }
  }
}

Op store_vector(std::uint32_t slot) { return {{0x0f, 0x11, 0x07}, {{true, 16, Value::slot(slot)}}, {}}; }
Op load_vector(std::uint32_t slot) { return {{0x0f, 0x10, 0x06}, {{false, 16, Value::slot(slot)}}, {}}; }

/// Some vectors are stored in each iteration, or words; then words or vectors are read, one after the other or every
/// other one, and some of them again. Before that, one word may be stored by another loop.
TEST(BuilderStretch, RowsOfVectors) {
  for (const std::uint64_t stores : {1u, 2u, 3u, 8u, 9u}) {
    for (const bool vectors : {false, true}) {
      for (const std::uint64_t step : {8, 16, 24, 32}) {
        constexpr std::uint64_t kNone = 10000;
        for (const std::uint64_t odd : {kNone, std::uint64_t{8}, std::uint64_t{17}, 8 + step * 13, 8 + step * 39}) {
          Loop loop;
          loop.allocate(kHeap, 0x4000);
          const std::uint64_t size = vectors ? 16 : 8;
          std::vector<Op> ops;
          for (std::uint32_t i = 0; i < stores; ++i) ops.push_back(vectors ? store_vector(i) : store_rax(i));
          loop.block(ops, static_cast<std::uint16_t>(stores));
          loop.run(60,
                   [&](std::size_t, std::size_t slot, std::uint64_t i) { return kHeap + size * (stores * i + slot); });
          if (odd != kNone) {
            loop.block({store_rbx(0)}, 1);
            loop.run(1, [&](std::size_t, std::size_t, std::uint64_t) { return kHeap + odd; });
          }
          for (const std::uint64_t trips : {40, 9, 24}) {
            for (const bool reads_vectors : {false, true}) {
              loop.block({reads_vectors ? load_vector(0) : load_rax(0)}, 1);
              loop.run(trips, [&](std::size_t, std::size_t, std::uint64_t i) { return kHeap + 8 + step * i; });
            }
          }
          SCOPED_TRACE(fmt::format("{} stores of {} bytes, step {}, odd one at {}", stores, size, step, odd));
          loop.graph();
        }
      }
    }
  }
}

}  // namespace
}  // namespace loopfold::ddg
