// For tests: makes up programs with loops, branches and calls, and runs them.
//
// A Machine emits the events of blocks one after the other, as a recorder would: a block's event is complete when it is
// known where control goes. Structured control is a few calls on top of it; random_program() nests these at random.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/testing.h"
#include "trace/types.h"

namespace loopfold::trace::testing {

/// How a slot goes on from one execution of its block to the next.
enum class SlotKind : std::uint8_t { kConstant, kStride, kWrap, kNoise, kBroken };

class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random(seed) {}

  std::vector<Block> blocks;
  std::vector<Exit> exits;
  std::vector<std::pair<ExitId, std::vector<std::uint64_t>>> events;
  std::mt19937_64 random;

  std::uint64_t pick(std::uint64_t below) { return random() % below; }

  /// A new block at the address (behind all others if none is given). Its last slot is its stack pointer at calls.
  BlockId block(std::vector<SlotKind> slots, std::optional<std::uint64_t> address = std::nullopt) {
    Block made;
    made.id = static_cast<BlockId>(blocks.size());
    made.address = address.value_or(next_address_);
    made.lengths = {2, 2};
    made.bytes.assign(4, 0x90);
    next_address_ = std::max(next_address_, made.address + 16);
    blocks.push_back(made);
    slots_.push_back({std::move(slots), {}});
    slots_.back().second.resize(slots_.back().first.size());
    return made.id;
  }
  std::uint64_t address(BlockId block) const { return blocks[block].address; }
  std::uint64_t next_address() const { return next_address_; }
  void skip_addresses(std::uint64_t bytes) { next_address_ += bytes; }

  /// Control reaches the block; `kind` is how it will leave. `fewer`: by a side exit that misses so many slots.
  void go(BlockId block, ExitKind kind = ExitKind::kNext, std::uint16_t fewer = 0) {
    finish(address(block));
    pending_ = Pending{block, kind, fewer};
  }
  /// The last event is complete, with this target.
  void finish(std::optional<std::uint64_t> target = std::nullopt) {
    if (!pending_) return;
    const Pending done = *std::exchange(pending_, std::nullopt);
    const bool fixed = done.kind == ExitKind::kNext || done.kind == ExitKind::kCall;
    auto& [kinds, states] = slots_[done.block];
    const std::uint16_t count =
        static_cast<std::uint16_t>(kinds.size() - std::min<std::size_t>(done.fewer, kinds.size()));
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(advance(kinds[i], states[i], i));
    events.emplace_back(exit(done.block, done.kind, fixed ? target : std::nullopt, count), std::move(values));
  }

 private:
  struct Pending {
    BlockId block = 0;
    ExitKind kind = ExitKind::kNext;
    std::uint16_t fewer = 0;
  };
  struct SlotState {
    bool begun = false;
    std::uint64_t value = 0;
  };

  std::uint64_t advance(SlotKind kind, SlotState& state, std::uint64_t slot) {
    constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
    if (!state.begun) {
      state.begun = true;
      state.value = kind == SlotKind::kWrap ? (pick(2) == 0 ? kTop - 24 : 0 - std::uint64_t{40}) : 0x10000 * (slot + 1);
      return state.value;
    }
    switch (kind) {
      case SlotKind::kConstant:
        break;
      case SlotKind::kStride:
        state.value += 8 * slot - 16;
        break;
      case SlotKind::kWrap:
        state.value += slot % 2 == 0 ? 8 : kTop;
        break;
      case SlotKind::kNoise:
        state.value = pick(4) == 0 ? random() : pick(1000);
        break;
      case SlotKind::kBroken:
        state.value += pick(50) == 0 ? pick(1 << 20) : 4;
        break;
    }
    return state.value;
  }

  ExitId exit(BlockId block, ExitKind kind, std::optional<std::uint64_t> target, std::uint16_t slots) {
    const auto [found, added] = exit_ids_.try_emplace({block, kind, target, slots}, static_cast<ExitId>(exits.size()));
    if (added) {
      Exit made;
      made.id = found->second;
      made.block = block;
      made.kind = kind;
      made.instructions = slots == slots_[block].first.size() ? 2 : 1;
      made.slots = slots;
      made.target = target;
      if (slots > 0 && kind != ExitKind::kNext) made.stack_pointer = Value::slot(slots - 1u);
      exits.push_back(made);
    }
    return found->second;
  }

  std::uint64_t next_address_ = 0x401000;
  std::optional<Pending> pending_;
  std::vector<std::pair<std::vector<SlotKind>, std::vector<SlotState>>> slots_;  // by block
  std::map<std::tuple<BlockId, ExitKind, std::optional<std::uint64_t>, std::uint16_t>, ExitId> exit_ids_;
};

/// A random program: nests of loops, branches (in line, or behind the function and jumping back), calls, self-loops.
class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, std::size_t events) : machine(seed), most_(events) {
    const std::size_t functions = 1 + machine.pick(3);
    for (std::size_t i = 0; i < functions; ++i) {
      bodies_.push_back(sequence(3));
      returns_.push_back(machine.block(slots()));
      machine.skip_addresses(0x400);
    }
    while (machine.events.size() < most_) execute(bodies_.back(), bodies_.size() - 1);
    machine.finish();
  }

  Machine machine;

 private:
  struct Node {
    enum class Kind { kBlock, kLoop, kBranch, kCall, kSelf } kind = Kind::kBlock;
    BlockId block = 0;
    std::vector<Node> children;
    std::vector<Node> other;
    std::size_t function = 0;
    std::uint64_t trips = 0;
    bool fixed = false;
  };

  std::vector<SlotKind> slots() {
    std::vector<SlotKind> kinds(machine.pick(4));
    for (SlotKind& kind : kinds) kind = static_cast<SlotKind>(machine.pick(10) < 7 ? machine.pick(2) : machine.pick(5));
    return kinds;
  }

  std::vector<Node> sequence(int depth) {
    std::vector<Node> nodes;
    for (std::uint64_t i = 1 + machine.pick(3); i > 0; --i) {
      Node node;
      const std::uint64_t choice = depth == 0 ? 0 : machine.pick(8);
      if (choice >= 2 && choice <= 4) {
        node.kind = Node::Kind::kLoop;
        node.block = machine.block(slots());
        node.children = sequence(depth - 1);
        node.trips = 1 + machine.pick(machine.pick(3) == 0 ? 60 : 6);
        node.fixed = machine.pick(2) == 0;
        node.other.push_back({});
        node.other[0].block = machine.block(slots());  // the latch
      } else if (choice == 5) {
        node.kind = Node::Kind::kBranch;
        node.block = machine.block(slots());
        node.children = sequence(depth - 1);
        if (machine.pick(2) == 0) machine.skip_addresses(0x200);
        node.other = sequence(depth - 1);
      } else if (choice == 6 && !bodies_.empty()) {
        node.kind = Node::Kind::kCall;
        node.block = machine.block(slots());
        node.function = machine.pick(bodies_.size());
      } else if (choice == 7) {
        node.kind = Node::Kind::kSelf;
        node.block = machine.block(slots());
        node.trips = 1 + machine.pick(30);
      } else {
        node.block = machine.block(slots());
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  void execute(const std::vector<Node>& nodes, std::size_t function) {
    for (const Node& node : nodes) {
      if (machine.events.size() >= most_) return;
      const std::uint64_t trips = node.fixed || node.trips == 0 ? node.trips : machine.pick(node.trips + 1);
      switch (node.kind) {
        case Node::Kind::kBlock:
          machine.go(node.block, ExitKind::kNext, machine.pick(20) == 0 ? 1 : 0);
          break;
        case Node::Kind::kLoop:
          for (std::uint64_t i = 0; i <= trips && machine.events.size() < most_; ++i) {
            machine.go(node.block);
            if (machine.pick(100) == 0) break;
            execute(node.children, function);
            machine.go(node.other[0].block, ExitKind::kNext, i == trips ? 1 : 0);
          }
          break;
        case Node::Kind::kBranch:
          machine.go(node.block);
          execute(machine.pick(2) == 0 ? node.children : node.other, function);
          break;
        case Node::Kind::kCall:
          machine.go(node.block, machine.pick(2) == 0 ? ExitKind::kCall : ExitKind::kIndirectCall);
          execute(bodies_[node.function], node.function);
          machine.go(returns_[node.function], ExitKind::kReturn);
          break;
        case Node::Kind::kSelf:
          for (std::uint64_t i = 0; i <= trips; ++i) machine.go(node.block);
          break;
      }
    }
  }

  std::size_t most_;
  std::vector<std::vector<Node>> bodies_;
  std::vector<BlockId> returns_;
};

}  // namespace loopfold::trace::testing
