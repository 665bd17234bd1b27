// Random nests of three loops, for tests.
//
// The innermost loop is entered again and again with as many iterations, and all numbers grow evenly along all loops;
// but now and then an entry has another length, an iteration takes another way, or all of an entry do, a number jumps
// from one entry on or in one entry only, or a block of the heap ends. Around the innermost loop registers are written,
// copied and loaded, so that what it finds in them comes from all of the loops. Some are spilled and reloaded.
#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "ddg/testing.h"
#include "structure/testing.h"

namespace loopfold::ddg::testing {

/// What nests are like.
struct NestKind {
  /// Most stores are elsewhere than loads, or where something was accessed before in the same iteration or in the one
  /// before of the loop around the innermost one; loops have more iterations, and less is odd.
  bool orderly = false;
};

class Nest {
 public:
  using Op = testing::Op;
  using Value = trace::Value;

  explicit Nest(std::uint64_t seed, NestKind kind = {}) : random_(seed), kind_(kind) {
    for (std::uint64_t at = kHeap; at < kHeap + 0x8000; at += 0x2000) {
      trace::Allocation allocation;
      allocation.address = at;
      allocation.size = pick(3) == 0 ? 0x1800 : 0x2000;
      trace_.side(allocation);
    }
    const trace::BlockId entry = trace_.block(0x1000, {{{0xe8, 0, 0, 0, 0}, {}, {}}}, 1);
    const trace::BlockId prologue =
        trace_.block(0x2000, {{{0x48, 0x81, 0xec, 0, 1, 0, 0}, {}, {{4, 8, Value::constant(kStack - 0x100)}}}}, 0);
    spills_inside_ = pick(3) == 0 ? 3 : 30;
    const Block outer = block();
    const Block before = block(true);
    const Block header = block();
    const Block way = block();
    const Block latch = block();
    const Block behind = block(true);
    const Block last = block();
    const trace::BlockId end = trace_.block(0x3000, {{{0x90}, {}, {}}}, 0);
    odd_ = pick(2) == 0 ? 0 : 10 + pick(200);
    jumps_ = pick(2) == 0 ? 0 : 5 + pick(40);
    if (kind_.orderly) jumps_ *= 4;
    if (kind_.orderly && pick(3) != 0) odd_ = 0;
    const std::uint64_t trips = (kind_.orderly ? 8 : 6) + pick(14);
    const std::uint64_t entries = (kind_.orderly ? 12 : 2) + pick(20);
    const std::uint64_t outers = 1 + pick(6);

    trace_.run(entry, prologue, {kStack}, trace::ExitKind::kCall, Value::slot(0));
    trace_.run(prologue, outer.id, {});
    for (i_ = 0; i_ < outers; ++i_) {
      j_ = k_ = 0;
      run(outer, before.id);
      for (j_ = 0; j_ < entries; ++j_) {
        k_ = 0;
        run(before, header.id);
        if (jumps_ != 0 && pick(jumps_) == 0) jump_ += pick(64) * 8;
        const std::uint64_t length = odd_ != 0 && pick(odd_ / 8 + 1) == 0 ? 1 + pick(20) : trips;
        const bool others = odd_ % 2 == 1 && pick(4) == 0;
        for (k_ = 0; k_ < length; ++k_) {
          const bool other = others || (odd_ != 0 && pick(odd_) == 0);
          run(header, other ? way.id : latch.id);
          if (other) run(way, latch.id);
          run(latch, k_ + 1 < length ? header.id : behind.id);
        }
        run(behind, j_ + 1 < entries ? before.id : last.id);
      }
      run(last, i_ + 1 < outers ? outer.id : end);
    }
    trace_.run(end, end, {}, trace::ExitKind::kOther);
    reader = &trace_.finish();
  }

  const trace::Reader* reader = nullptr;

 private:
  static constexpr std::uint64_t kHeap = 0x500000;
  static constexpr std::uint64_t kStack = 0x7ffe00010000;  // at the call

  /// What a slot grows by along the three loops.
  struct Slot {
    std::uint64_t start = 0;
    std::uint64_t along[3] = {};
    bool jumps = false;
  };
  struct Block {
    trace::BlockId id = 0;
    std::vector<Slot> slots;
  };
  struct Form {
    std::vector<std::uint8_t> bytes;
    int load = 0;
    int store = 0;
    int reg = -1;  // that is the result
    int width = 0;
  };

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }

  /// `around`: of the loop around the innermost one.
  Block block(bool around = false) {
    static const std::vector<Form> kForms{
        {{0x48, 0x8b, 0x06}, 8, 0, 0, 8},        // mov rax,[rsi]
        {{0xf2, 0x0f, 0x10, 0x06}, 8},           // movsd xmm0,[rsi]
        {{0x0f, 0x10, 0x0e}, 16},                // movups xmm1,[rsi]
        {{0x48, 0x89, 0x07}, 0, 8},              // mov [rdi],rax
        {{0x48, 0x8b, 0x0e}, 8, 0, 1, 8},        // mov rcx,[rsi]
        {{0x48, 0x89, 0x0f}, 0, 8},              // mov [rdi],rcx
        {{0x48, 0x8b, 0x1e}, 8, 0, 3, 8},        // mov rbx,[rsi]
        {{0x48, 0x89, 0x1f}, 0, 8},              // mov [rdi],rbx
        {{0x48, 0x03, 0x06}, 8, 0, 0, 8},        // add rax,[rsi]
        {{0x0f, 0x11, 0x07}, 0, 16},             // movups [rdi],xmm0
        {{0x48, 0x01, 0xd8}, 0, 0, 0, 8},        // add rax,rbx
        {{0x48, 0x83, 0xc1, 0x01}, 0, 0, 1, 8},  // add rcx,1
        {{0x83, 0xc2, 0x01}, 0, 0, 2, 4},        // add edx,1
        {{0x48, 0x89, 0xc3}, 0, 0, 3, 8},        // mov rbx,rax
        {{0x48, 0x89, 0xca}, 0, 0, 2, 8},        // mov rdx,rcx
        {{0x48, 0x89, 0xcb}, 0, 0, 3, 8},        // mov rbx,rcx
        {{0x48, 0x89, 0xd3}, 0, 0, 3, 8},        // mov rbx,rdx
        {{0x48, 0x85, 0xdb}},                    // test rbx,rbx
        {{0x48, 0x89, 0xd0}, 0, 0, 0, 8},        // mov rax,rdx
        {{0xf2, 0x0f, 0x58, 0xc1}},              // addsd xmm0,xmm1
        {{0x0f, 0x28, 0xd0}},                    // movaps xmm2,xmm0
        {{0x66, 0x0f, 0x59, 0xca}},              // mulpd xmm1,xmm2
    };
    Block made;
    std::vector<Op> ops;
    const std::uint64_t spills = !kind_.orderly ? 4 : around ? 2 : spills_inside_;  // one access in so many
    const std::uint64_t reloads = kind_.orderly ? 4 : spills;                       // and one load
    const auto slot = [&](bool address, bool store = false) {
      Slot& added = made.slots.emplace_back();
      if (address && kind_.orderly && !known_.empty() && pick(3) == 0) {
        added = known_[pick(known_.size())];
        if (pick(3) == 0) added.start += added.along[1] * (pick(3) - 1);
        return Value::slot(static_cast<std::uint32_t>(made.slots.size() - 1));
      }
      added.start = address ? kHeap + 8 * pick(40) : pick(100);
      if (!address && pick(12) == 0) added.start = 0x7ffffffffffffe00 + pick(0x400);
      for (std::uint64_t& along : added.along) along = pick(4) == 0 ? 0 : address ? 8 * (pick(6) - 1) : pick(9) - 4;
      added.jumps = pick(3) == 0;
      if (address && kind_.orderly) {
        if (store && pick(4) != 0) added.start += 0x4000;
        known_.push_back(added);
      }
      return Value::slot(static_cast<std::uint32_t>(made.slots.size() - 1));
    };
    for (std::uint64_t n = 1 + pick(5); n > 0; --n) {
      const Form& form = kForms[pick(kForms.size())];
      Op op{form.bytes, {}, {}};
      if (form.load + form.store != 0) {
        const bool on_stack = pick(form.store == 0 ? std::min(reloads, spills) : spills) == 0;
        op.accesses.push_back({form.store != 0, static_cast<std::uint32_t>(form.load + form.store),
                               on_stack ? place_on_stack(op.bytes, made) : slot(true, form.store != 0)});
      }
      if (form.reg >= 0)
        op.results.push_back({static_cast<std::uint8_t>(form.reg), static_cast<std::uint8_t>(form.width), slot(false)});
      ops.push_back(std::move(op));
    }
    next_place_ += 0x100;
    made.id = trace_.block(next_place_, ops, static_cast<std::uint16_t>(made.slots.size()));
    return made;
  }

  /// Where something may be spilled. The operand becomes [rsp + 8].
  Value place_on_stack(std::vector<std::uint8_t>& bytes, Block& made) {
    bytes.back() = static_cast<std::uint8_t>((bytes.back() & 0x38) | 0x44);
    bytes.insert(bytes.end(), {0x24, 8});
    if (pick(3) == 0) on_stack_ = 8 * pick(4);
    made.slots.emplace_back().start = kStack - 0xf8 + on_stack_;
    return Value::slot(static_cast<std::uint32_t>(made.slots.size() - 1));
  }

  void run(const Block& block, trace::BlockId next) {
    std::vector<std::uint64_t> slots;
    for (const Slot& slot : block.slots)
      slots.push_back(slot.start + slot.along[0] * i_ + slot.along[1] * j_ + slot.along[2] * k_ +
                      (slot.jumps ? jump_ : 0));
    trace_.run(block.id, next, slots);
  }

  std::mt19937_64 random_;
  NestKind kind_;
  HandTrace trace_;
  std::vector<Slot> known_;  // addresses
  std::uint64_t next_place_ = 0x10000;
  std::uint64_t spills_inside_ = 30;
  std::uint64_t on_stack_ = 0;  // where was spilled or reloaded last
  std::uint64_t odd_ = 0;       // one in so many iterations is; 0: none
  std::uint64_t jumps_ = 0;     // the same for entries
  std::uint64_t jump_ = 0;
  std::uint64_t i_ = 0, j_ = 0, k_ = 0;
};

}  // namespace loopfold::ddg::testing
