// Runs as bytes: they come back, cost what they should, and damaged bytes are refused or decoded to something sound.
#include "trace/run_codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "trace/format.h"
#include "trace/run_decoder.h"
#include "trace/run_testing.h"

namespace loopfold::trace {
namespace {

using testing::Machine;
using testing::RandomProgram;
using testing::SlotKind;

/// A chunk, and the events that went into it.
struct Encoded {
  Shapes shapes;
  ByteWriter control;
  ByteWriter data;
  std::uint64_t events = 0;

  ChunkDecoder::Chunk chunk(bool control_only = false) const {
    return {control.bytes(), data.bytes(), 3, events, shapes.exits().size(), control_only};
  }
};

Encoded encode(const Machine& machine) {
  Encoded result;
  for (const Block& block : machine.blocks) EXPECT_TRUE(result.shapes.add_block(block));
  for (const Exit& exit : machine.exits) EXPECT_TRUE(result.shapes.add_exit(exit));
  ChunkEncoder chunk(result.shapes);
  RunEncoder encoder(result.shapes);
  encoder.set_sink(chunk);
  for (const auto& [exit, slots] : machine.events) {
    if (!encoder.expected(exit, slots.data(), slots.size())) encoder.append(exit, slots.data(), slots.size());
  }
  encoder.finish();
  result.events = machine.events.size();
  const std::vector<SliceEvents> slices = {{7, result.events}};
  chunk.finish(100, slices, result.control, result.data);
  EXPECT_FALSE(chunk.full());
  return result;
}

/// Decodes and expands; returns why it cannot, or "".
std::string decode(const Encoded& from, const ChunkDecoder::Chunk& chunk, std::vector<ExitId>& exits,
                   std::vector<std::uint64_t>& slots) {
  RunBody scratch;
  ChunkDecoder decoder(from.shapes, scratch);
  if (const Result<void> begun = decoder.begin(chunk); !begun) return begun.error().message;
  trace::Run run;
  RunExpander expander;
  std::uint64_t position = decoder.first_position();
  while (decoder.next(run)) {
    EXPECT_EQ(run.position, position);
    position += run.events;
    expander.begin(run);
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const RunPath& path = expander.next();
      exits.insert(exits.end(), path.exits.begin(), path.exits.end());
      slots.insert(slots.end(), expander.slots().begin(), expander.slots().end());
    }
  }
  return decoder.problem() == nullptr ? "" : decoder.problem();
}

void expect_round_trip(const Machine& machine) {
  const Encoded encoded = encode(machine);
  std::vector<ExitId> expected_exits;
  std::vector<std::uint64_t> expected_slots;
  for (const auto& [exit, values] : machine.events) {
    expected_exits.push_back(exit);
    expected_slots.insert(expected_slots.end(), values.begin(), values.end());
  }
  std::vector<ExitId> exits;
  std::vector<std::uint64_t> slots;
  EXPECT_EQ(decode(encoded, encoded.chunk(), exits, slots), "");
  EXPECT_TRUE(exits == expected_exits);
  EXPECT_TRUE(slots == expected_slots);
}

TEST(RunCodec, RandomProgramsComeBack) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) expect_round_trip(RandomProgram(seed, 2000).machine);
}

/// Makes some of the program's slots depend on what was recorded shortly before, as addresses and pointers do.
void relate_slots(Machine& machine, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  struct Rule {
    std::uint64_t distance = 0;
    std::uint64_t shift = 0;
    std::uint64_t delta = 0;
    std::uint64_t mask = ~std::uint64_t{0};
  };
  std::map<std::pair<BlockId, std::size_t>, Rule> rules;
  std::vector<std::uint64_t> all(24, 0);
  for (auto& [exit, slots] : machine.events) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto [found, added] = rules.try_emplace({machine.exits[exit].block, i});
      Rule& rule = found->second;
      if (added && random() % 2 == 0) {
        rule = {1 + random() % 20, random() % 5, random() % 3 == 0 ? random() : random() % 100, rule.mask};
        if (random() % 4 == 0) rule.mask = 0x7fff;
      }
      if (rule.distance != 0 && random() % 500 != 0)
        slots[i] = ((all[all.size() - rule.distance] << rule.shift) + rule.delta) & rule.mask;
      all.push_back(slots[i]);
    }
  }
}

TEST(RunCodec, ProgramsWithRelatedSlotsComeBack) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomProgram program(seed, 2000);
    relate_slots(program.machine, seed);
    expect_round_trip(program.machine);
  }
}

/// A list is walked whose nodes are anywhere: one slot is the pointer that is loaded, which all others are made from.
Machine walk_list(std::size_t nodes, bool masked) {
  Machine machine(1);
  const BlockId body = machine.block(std::vector<SlotKind>(5, SlotKind::kNoise));
  for (std::size_t i = 0; i < nodes; ++i) machine.go(body);
  machine.finish();
  std::mt19937_64 random(5);
  std::uint64_t node = 0x1000;
  for (auto& [exit, slots] : machine.events) {
    const std::uint64_t index = masked ? node & 0x7fff : node - 0x1000;
    slots = {node, node + 24, index, 2 * index + 0x600000, 0x1000 + random() % 0x10000};
    node = slots[4];
  }
  return machine;
}

TEST(RunCodec, ColumnsThatFollowCostNothing) {
  const Machine machine = walk_list(1000, false);
  const Encoded encoded = encode(machine);
  // A code and at most three bytes for the pointer that is loaded.
  EXPECT_LT(encoded.data.size(), 1000 * 4);
  expect_round_trip(machine);
}

TEST(RunCodec, RestsThatSeldomChangeCostLittle) {
  const Machine machine = walk_list(1000, true);
  const Encoded encoded = encode(machine);
  EXPECT_LT(encoded.data.size(), 1000 * 7);
  expect_round_trip(machine);
}

TEST(RunCodec, ControlCanBeReadWithoutTheRest) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const RandomProgram program(seed, 2000);
    Encoded encoded = encode(program.machine);
    encoded.data.clear();
    RunBody scratch;
    ChunkDecoder decoder(encoded.shapes, scratch);
    ASSERT_TRUE(decoder.begin(encoded.chunk(true)));
    trace::Run run;
    RunExpander expander;
    std::size_t at = 0;
    while (decoder.next(run)) {
      expander.begin(run);
      for (std::uint64_t i = 0; i < run.iterations; ++i) {
        const RunPath& path = expander.next();
        std::size_t first = 0;
        for (const ExitId exit : path.exits) {
          const auto& [expected, values] = program.machine.events[at++];
          ASSERT_EQ(exit, expected);
          const ExitShape& shape = encoded.shapes.exits()[exit];
          for (const std::uint16_t slot : encoded.shapes.control_slots(shape))
            ASSERT_EQ(expander.slots()[first + slot], values[slot]);
          first += shape.slots;
        }
      }
    }
    EXPECT_EQ(decoder.problem(), nullptr);
    EXPECT_EQ(at, program.machine.events.size());
  }
}

/// A nest: `rows` runs of `length` iterations, all columns even.
Machine matrix(std::uint64_t rows, std::uint64_t length) {
  Machine machine(1);
  const BlockId entry = machine.block({});
  const BlockId outer = machine.block({SlotKind::kStride});
  const BlockId inner = machine.block({SlotKind::kStride, SlotKind::kStride, SlotKind::kStride});
  const BlockId latch = machine.block({SlotKind::kStride});
  machine.go(entry);
  for (std::uint64_t i = 0; i < rows; ++i) {
    machine.go(outer);
    for (std::uint64_t j = 0; j < length; ++j) machine.go(inner);
    machine.go(latch);
  }
  machine.finish();
  return machine;
}

TEST(RunCodec, AFullyPredictedRunIsOneByte) {
  const Machine machine = matrix(1000, 40);
  expect_round_trip(machine);
  const Encoded encoded = encode(machine);
  EXPECT_LE(encoded.control.size(), 2 * 1000 + 200u) << "one for the row, one for what is between rows";
  EXPECT_LE(encoded.data.size(), 300u);
}

TEST(RunCodec, ALongRunCostsNothing) {
  Machine machine(1);
  const BlockId entry = machine.block({});
  const BlockId body = machine.block({SlotKind::kStride, SlotKind::kStride, SlotKind::kWrap});
  machine.go(entry);
  for (int i = 0; i < 1000000; ++i) machine.go(body);
  machine.finish();
  expect_round_trip(machine);
  const Encoded encoded = encode(machine);
  EXPECT_LE(encoded.control.size() + encoded.data.size(), 100u);
}

TEST(RunCodec, ADataDependentBranchCostsABitAndItsValues) {
  Machine machine(1);
  const BlockId entry = machine.block({});
  const BlockId header = machine.block({SlotKind::kStride});
  const BlockId odd = machine.block({SlotKind::kConstant});
  const BlockId latch = machine.block({SlotKind::kStride});
  machine.go(entry);
  for (int i = 0; i < 10000; ++i) {
    machine.go(header);
    if (machine.pick(2) == 0) machine.go(odd);
    machine.go(latch);
  }
  machine.finish();
  expect_round_trip(machine);
  const Encoded encoded = encode(machine);
  EXPECT_LE(encoded.control.size() + encoded.data.size(), 10000 / 4 + 200u) << "three paths: two bits";
}

TEST(RunCodec, PrefixesAndLongerPayloadsAreRefused) {
  const RandomProgram program(5, 300);
  const Encoded encoded = encode(program.machine);
  std::vector<ExitId> exits;
  std::vector<std::uint64_t> slots;
  for (std::size_t size = 0; size < encoded.control.size(); ++size) {
    ChunkDecoder::Chunk chunk = encoded.chunk();
    chunk.control = chunk.control.first(size);
    EXPECT_NE(decode(encoded, chunk, exits, slots), "") << size;
  }
  for (std::size_t size = 0; size < encoded.data.size(); ++size) {
    ChunkDecoder::Chunk chunk = encoded.chunk();
    chunk.data = chunk.data.first(size);
    EXPECT_NE(decode(encoded, chunk, exits, slots), "") << size;
  }
  for (const std::uint64_t events : {std::uint64_t{0}, encoded.events - 1, encoded.events + 1, ~std::uint64_t{0}}) {
    ChunkDecoder::Chunk chunk = encoded.chunk();
    chunk.events = events;
    EXPECT_NE(decode(encoded, chunk, exits, slots), "");
  }
  ChunkDecoder::Chunk unknown = encoded.chunk();
  unknown.known_exits = 1;
  EXPECT_NE(decode(encoded, unknown, exits, slots), "");
  EXPECT_EQ(decode(encoded, encoded.chunk(), exits, slots), "");
  Encoded longer = encoded;
  longer.control.byte(0);
  EXPECT_NE(decode(longer, longer.chunk(), exits, slots), "");
  longer = encoded;
  longer.data.byte(0);
  EXPECT_NE(decode(longer, longer.chunk(), exits, slots), "");
}

TEST(RunCodec, ChangedBytesAreDecodedOrRefused) {
  std::mt19937_64 random(11);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomProgram program(seed, 400);
    if (seed % 2 == 0) relate_slots(program.machine, seed);
    const Encoded encoded = encode(program.machine);
    for (int round = 0; round < 300; ++round) {
      std::vector<std::uint8_t> control(encoded.control.bytes().begin(), encoded.control.bytes().end());
      std::vector<std::uint8_t> data(encoded.data.bytes().begin(), encoded.data.bytes().end());
      for (std::uint64_t i = 1 + random() % 4; i > 0; --i) {
        std::vector<std::uint8_t>& changed = random() % 3 == 0 && !data.empty() ? data : control;
        changed[random() % changed.size()] = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : random() % 8);
      }
      ChunkDecoder::Chunk chunk = encoded.chunk(random() % 4 == 0);
      chunk.control = control;
      chunk.data = data;
      std::vector<ExitId> exits;
      std::vector<std::uint64_t> slots;
      static_cast<void>(decode(encoded, chunk, exits, slots));
      EXPECT_LE(exits.size(), encoded.events);
    }
  }
}

TEST(RunCodec, ArbitraryBytesAreDecodedOrRefused) {
  const Encoded encoded = encode(RandomProgram(1, 100).machine);
  std::mt19937_64 random(12);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes = {0, 1, 0, static_cast<std::uint8_t>(1 + random() % 100)};
    for (std::uint64_t i = random() % 60; i > 0; --i)
      bytes.push_back(static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 6));
    ChunkDecoder::Chunk chunk = encoded.chunk();
    chunk.control = bytes;
    chunk.events = bytes[3];
    std::vector<ExitId> exits;
    std::vector<std::uint64_t> slots;
    static_cast<void>(decode(encoded, chunk, exits, slots));
  }
}

TEST(RunCodec, AForgedCountNeedsNoMemory) {
  Machine machine(1);
  const BlockId body = machine.block({SlotKind::kNoise});
  for (int i = 0; i < 5; ++i) machine.go(body);
  machine.finish();
  Encoded forged = encode(machine);
  forged.control.clear();
  forged.data.clear();
  forged.events = kMaxGroupEvents;
  forged.control.varint(0);  // first position
  forged.control.varint(1);  // slices
  forged.control.varint(0);
  forged.control.varint(forged.events);
  forged.control.string(std::string{kOtherItem | kOtherCount | kDataValues});
  ByteWriter definitions;
  definitions.varint(kNewLoop);
  definitions.varint(1);  // path
  definitions.varint(0);  // a new one
  definitions.varint(1);  // event
  definitions.varint(1 + zigzag(machine.events[0].first));
  definitions.signed_varint(forged.events);  // iterations
  forged.control.varint(definitions.size());
  forged.control.raw(definitions.bytes());
  forged.control.varint(0);  // sequences
  forged.control.varint(0);  // control values
  forged.data.varint(1);
  forged.data.byte(kPlain);
  std::vector<ExitId> exits;
  std::vector<std::uint64_t> slots;
  EXPECT_EQ(decode(forged, forged.chunk(), exits, slots), "malformed values");
  EXPECT_TRUE(exits.empty());
}

}  // namespace
}  // namespace loopfold::trace
