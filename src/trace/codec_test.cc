#include "trace/codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "trace/event_codec.h"
#include "trace/format.h"
#include "trace/info_codec.h"
#include "trace/testing.h"

namespace loopfold::trace {
namespace {

using testing::every_side;
using testing::sample_block;
using testing::sample_exit;
using testing::sample_info;

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Codec, DescriptionsComeBack) {
  const Module module{"/usr/lib/libm.so.6", "00ff", 0x7f0000001000, 4096, 0x7f0000000000, true};
  ByteWriter out;
  encode_module(module, out);
  encode_stack({}, out);
  encode_stack(CallStack(kMaxStackDepth, ~std::uint64_t{0}), out);
  std::vector<Block> blocks;
  std::vector<Exit> exits;
  for (std::uint16_t i = 0; i < 30; ++i) {
    blocks.push_back(sample_block(i, i));
    encode_block(blocks.back(), out);
    exits.push_back(sample_exit(i, i, i));
    encode_exit(exits.back(), out);
  }
  Descriptions found;
  Shapes shapes;
  const Result<void> decoded = decode_descriptions(out.bytes(), 63, found, shapes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(found.blocks, blocks);
  EXPECT_EQ(found.exits, exits);
  ASSERT_EQ(found.modules.size(), 1u);
  EXPECT_EQ(found.modules[0].path, module.path);
  EXPECT_EQ(found.modules[0].build_id, module.build_id);
  EXPECT_EQ(found.modules[0].start, module.start);
  EXPECT_EQ(found.modules[0].size, module.size);
  EXPECT_EQ(found.modules[0].load_bias, module.load_bias);
  EXPECT_TRUE(found.modules[0].main_program);
  EXPECT_EQ(found.stacks, (std::vector<CallStack>{{}, CallStack(kMaxStackDepth, ~std::uint64_t{0})}));
}

TEST(Codec, EveryPrefixOfDescriptionsIsRefused) {
  ByteWriter out;
  encode_module({"m", "", 1, 2, 3, false}, out);
  encode_block(sample_block(0, 5), out);
  encode_exit(sample_exit(0, 0, 5), out);
  encode_stack({1, 2, 3}, out);
  for (std::size_t size = 0; size < out.size(); ++size) {
    Descriptions found;
    Shapes shapes;
    EXPECT_FALSE(decode_descriptions(out.bytes().first(size), 4, found, shapes)) << size;
  }
}

TEST(Codec, BlocksThatContradictThemselvesAreRefused) {
  Shapes shapes;
  const auto refused = [&](auto change) {
    Block block = sample_block(0, 5);
    change(block);
    return !shapes.add_block(block).has_value();
  };
  EXPECT_TRUE(refused([](Block& b) { b.id = 1; }));
  EXPECT_TRUE(refused([](Block& b) { b.bytes.pop_back(); }));
  EXPECT_TRUE(refused([](Block& b) { b.lengths.push_back(1); }));
  EXPECT_TRUE(refused([](Block& b) { b.accesses[2].instruction = 5; }));
  EXPECT_TRUE(refused([](Block& b) { b.accesses[2].address = Value{Value::Kind::kSlot, 0xffff}; }));
  EXPECT_TRUE(refused([](Block& b) { b.results[0].width = 3; }));
  EXPECT_TRUE(refused([](Block& b) { b.results[0].reg = 16; }));
  EXPECT_TRUE(refused([](Block& b) { b.results[4].instruction = 9; }));
  EXPECT_FALSE(refused([](Block&) {}));
}

TEST(Codec, ExitsThatContradictTheirBlockAreRefused) {
  Shapes shapes;
  ASSERT_TRUE(shapes.add_block(sample_block(0, 5)));
  const auto refused = [&](auto change) {
    Exit exit = sample_exit(0, 0, 5);
    change(exit);
    return !shapes.add_exit(exit).has_value();
  };
  EXPECT_TRUE(refused([](Exit& e) { e.id = 1; }));
  EXPECT_TRUE(refused([](Exit& e) { e.block = 1; }));
  EXPECT_TRUE(refused([](Exit& e) { e.instructions = 6; }));
  EXPECT_TRUE(refused([](Exit& e) { e.accesses = 6; }));
  EXPECT_TRUE(refused([](Exit& e) { e.results = 6; }));
  EXPECT_TRUE(refused([](Exit& e) { e.slots = 4; }));
  EXPECT_TRUE(refused([](Exit& e) { e.stack_pointer = Value::slot(6); }));
  EXPECT_FALSE(refused([](Exit&) {}));
}

TEST(Codec, SideEventsOfEveryKindComeBack) {
  ByteWriter out;
  SideContext context;
  std::vector<PlacedSide> said;
  for (const SideData& data : every_side(3)) {
    const std::uint64_t i = said.size();
    said.push_back({i / 2, {static_cast<ThreadId>(i % 3), i * i, i % 3 == 0 ? ~std::uint64_t{0} : i, data}});
    encode_side(said.back(), context, out);
  }
  std::vector<PlacedSide> found;
  const Result<void> decoded = decode_sides(out.bytes(), said.size(), 3, found);
  ASSERT_TRUE(decoded) << decoded.error().message;
  ASSERT_EQ(found.size(), said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    EXPECT_EQ(found[i].side, said[i].side) << i;
    EXPECT_EQ(found[i].ordinal, said[i].ordinal) << i;
  }
  EXPECT_FALSE(decode_sides(out.bytes(), said.size(), 2, found)) << "call stack 2 is unknown";
  EXPECT_FALSE(decode_sides(out.bytes(), said.size() + 1, 3, found));
  EXPECT_FALSE(decode_sides(out.bytes(), said.size() - 1, 3, found));
  for (std::size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decode_sides(out.bytes().first(size), said.size(), 3, found)) << size;
}

TEST(Codec, InformationComesBackEvenIfItIsNotUtf8) {
  const RunInfo said = sample_info();
  const Result<RunInfo> found = decode_run_info(as_bytes(encode_run_info(said)));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->argv, said.argv);
  EXPECT_EQ(found->program, said.program);
  EXPECT_EQ(found->interpreter, said.interpreter);
  EXPECT_EQ(found->working_directory, said.working_directory);
  EXPECT_EQ(found->loopfold_version, said.loopfold_version);
  EXPECT_EQ(found->valgrind_version, said.valgrind_version);
  EXPECT_EQ(found->options, said.options);
  EXPECT_EQ(found->process_id, said.process_id);
  EXPECT_EQ(found->naive, said.naive);
}

TEST(Codec, EveryEndReasonComesBack) {
  for (int reason = 0; reason <= static_cast<int>(EndInfo::Reason::kExec); ++reason) {
    EndInfo said{static_cast<EndInfo::Reason>(reason), "why\xff", -1, false, ~std::uint64_t{0}, 1, 2, 3, 4};
    const Result<EndInfo> found = decode_end_info(as_bytes(encode_end_info(said)));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->reason, said.reason);
    EXPECT_EQ(found->text, said.text);
    EXPECT_EQ(found->exit_status, -1);
    EXPECT_FALSE(found->exit_status_known);
    EXPECT_EQ(found->instructions, said.instructions);
    EXPECT_EQ(found->threads, 4u);
  }
}

TEST(Codec, WrongJsonIsAnError) {
  for (const std::string text :
       {"", "[]", "{", "{\"argv\": 3}", "{\"argv\": [3]}", "{\"process_id\": -1}", "{\"naive\": 0}",
        "{\"program\": {\"hex\": \"0\"}}", "{\"program\": {\"hex\": \"zz\"}}", "{\"program\": {}}"}) {
    EXPECT_FALSE(decode_run_info(as_bytes(text))) << text;
  }
  EXPECT_FALSE(decode_end_info(as_bytes("{\"reason\": \"boredom\"}")));
  EXPECT_FALSE(decode_end_info(as_bytes("{\"exit_status\": 99999999999}")));
  EXPECT_TRUE(decode_run_info(as_bytes("{\"later\": 1}")));
}

// ---- Events ----------------------------------------------------------------------------------------------------

/// Blocks 0..3 with 3 * block slots at exit 2 * block, and one third of that at exit 2 * block + 1.
Shapes four_blocks() {
  Shapes shapes;
  for (std::uint16_t i = 0; i < 4; ++i) {
    Block block;
    block.id = i;
    EXPECT_TRUE(shapes.add_block(block));
    for (ExitId k = 0; k < 2; ++k) {
      Exit exit;
      exit.id = 2u * i + k;
      exit.block = i;
      exit.slots = static_cast<std::uint16_t>(k == 0 ? 3 * i : i);
      EXPECT_TRUE(shapes.add_exit(exit));
    }
  }
  return shapes;
}

void expect_round_trip(const EventColumns& said, const Shapes& shapes, std::size_t largest = ~std::size_t{0}) {
  EventEncoder encoder;
  EventDecoder decoder;
  EventColumns found;
  for (int pass = 0; pass < 2; ++pass) {  // the second with what the first left behind
    ByteWriter out;
    encoder.encode(said.first_position, said.runs, said.exits, said.slots, shapes, out);
    EXPECT_LE(out.size(), largest);
    const Result<void> decoded = decoder.decode(out.bytes(), said.exits.size(), shapes, shapes.exits().size(), found);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(found.first_position, said.first_position);
    EXPECT_EQ(found.runs, said.runs);
    EXPECT_EQ(found.exits, said.exits);
    EXPECT_EQ(found.slots, said.slots);
  }
}

TEST(EventCodec, RandomEventsComeBack) {
  const Shapes shapes = four_blocks();
  std::mt19937_64 random(7);
  const std::uint64_t corners[] = {0, std::uint64_t{1} << 63, ~std::uint64_t{0}, 1, 0x7fffffffffffffff};
  for (int round = 0; round < 50; ++round) {
    EventColumns said;
    said.first_position = random();
    const std::size_t events = 1 + random() % 500;
    said.runs = {{random() % 100, 1}};
    for (std::size_t i = 0; i < events; ++i) {
      said.exits.push_back(static_cast<ExitId>(random() % 8));
      for (std::uint32_t k = 0; k < shapes.exits()[said.exits.back()].slots; ++k)
        said.slots.push_back(random() % 3 == 0 ? random() : corners[random() % 5]);
      if (i == 0) continue;
      if (random() % 10 == 0) said.runs.push_back({said.runs.back().slice + 1 + random() % 3, 0});
      ++said.runs.back().events;
    }
    expect_round_trip(said, shapes);
  }
}

TEST(EventCodec, AMatrixWalkCostsOneByteForEachSlot) {
  const Shapes shapes = four_blocks();
  EventColumns said;
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t j = 0; j < 50; ++j) {
      said.exits.push_back(j == 49 ? 1 : 2);
      if (j == 49) continue;
      for (std::uint64_t k = 0; k < 3; ++k) said.slots.push_back(0x7f0000000000 + 4096 * i + 8 * k * j);
    }
  }
  said.runs = {{0, said.exits.size()}};
  expect_round_trip(said, shapes, said.slots.size() + 100 * (3 * 3 + 8) + 40);
}

TEST(EventCodec, ARegularLoopHasAlmostNoControl) {
  const Shapes shapes = four_blocks();
  EventColumns said;
  for (int i = 0; i < 100000; ++i) said.exits.push_back(i % 2);  // neither has slots
  said.runs = {{5, said.exits.size()}};
  expect_round_trip(said, shapes, 20);
}

TEST(EventCodec, PrefixesAndLongerPayloadsAreRefused) {
  const Shapes shapes = four_blocks();
  EventColumns said{9, {{1, 3}, {4, 2}}, {2, 3, 2, 4, 5}, {}};
  for (const ExitId exit : said.exits) said.slots.resize(said.slots.size() + shapes.exits()[exit].slots, 77);
  ByteWriter out;
  EventEncoder().encode(said.first_position, said.runs, said.exits, said.slots, shapes, out);
  EventDecoder decoder;
  EventColumns found;
  for (std::size_t size = 0; size < out.size(); ++size)
    EXPECT_FALSE(decoder.decode(out.bytes().first(size), 5, shapes, 8, found)) << size;
  EXPECT_FALSE(decoder.decode(out.bytes(), 4, shapes, 8, found));
  EXPECT_FALSE(decoder.decode(out.bytes(), 6, shapes, 8, found));
  EXPECT_FALSE(decoder.decode(out.bytes(), 5, shapes, 5, found)) << "exit 5 is not known yet";
  EXPECT_FALSE(decoder.decode(out.bytes(), ~std::uint64_t{0}, shapes, 8, found));
  EXPECT_TRUE(decoder.decode(out.bytes(), 5, shapes, 8, found));
  out.byte(0);
  EXPECT_FALSE(decoder.decode(out.bytes(), 5, shapes, 8, found));
}

TEST(EventCodec, ArbitraryBytesAreDecodedOrRefused) {
  const Shapes shapes = four_blocks();
  std::mt19937_64 random(11);
  EventDecoder decoder;
  EventColumns found;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes(random() % 60);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 6);
    static_cast<void>(decoder.decode(bytes, 1 + random() % 10, shapes, 8, found));
  }
}

TEST(EventCodec, ArbitraryDescriptionsAndSidesAreDecodedOrRefused) {
  std::mt19937_64 random(12);
  std::vector<PlacedSide> sides;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes(random() % 80);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 4 == 0 ? random() : random() % 13);
    Descriptions found;
    Shapes shapes;
    static_cast<void>(decode_descriptions(bytes, 1 + random() % 10, found, shapes));
    static_cast<void>(decode_sides(bytes, 1 + random() % 10, 2, sides));
  }
}

}  // namespace
}  // namespace loopfold::trace
