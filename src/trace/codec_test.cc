#include "trace/codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "trace/format.h"
#include "trace/info_codec.h"
#include "trace/reader.h"
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

Expression sum(std::vector<Expression::Term> terms) { return {std::move(terms), 3, Expression::Extend::kSign32}; }

TEST(Codec, ExpressionsComeBackAndAreEvaluated) {
  Block block = sample_block(0, 2);
  block.expressions = {sum({{Value::slot(0), 8}, {Value::slot(2), ~std::uint64_t{0}}}),
                       {{{Value::expression(0), 2}}, 0, Expression::Extend::kZero8},
                       {{}, 77, Expression::Extend::kNone}};
  block.accesses[0].address = Value::expression(1);
  ByteWriter out;
  encode_block(block, out);
  Descriptions found;
  Shapes shapes;
  ASSERT_TRUE(decode_descriptions(out.bytes(), 1, found, shapes));
  EXPECT_EQ(found.blocks[0], block);
  const std::vector<std::uint64_t> slots = {std::uint64_t{1} << 28, 0, 4};
  const std::uint64_t first = 0xffffffff7fffffff;  // 8 * 2^28 - 4 + 3, its low 32 bits sign-extended
  EXPECT_EQ(evaluate(block, Value::expression(0), slots), first & 0xffffffff);
  EXPECT_EQ(evaluate(block, Value::expression(1), slots), 0xfeu);
  EXPECT_EQ(evaluate(block, Value::expression(2), slots), 77u);
  EXPECT_EQ(evaluate(block, Value::slot(2), slots), 4u);
  EXPECT_EQ(evaluate(block, Value::constant(9), slots), 9u);

  Exit exit = sample_exit(0, 0, 2);
  exit.slots = 3;
  exit.stack_pointer = Value::expression(1);
  ASSERT_TRUE(shapes.add_exit(exit));
  EXPECT_EQ(std::vector<std::uint16_t>(shapes.control_slots(shapes.exits()[0]).begin(),
                                       shapes.control_slots(shapes.exits()[0]).end()),
            (std::vector<std::uint16_t>{0, 2}));
  exit.id = 1;
  exit.slots = 2;
  EXPECT_FALSE(shapes.add_exit(exit)) << "the expression needs slot 2";
  exit.slots = 3;
  exit.stack_pointer = Value::expression(3);
  EXPECT_FALSE(shapes.add_exit(exit));
}

TEST(Codec, ExpressionsThatCannotBeEvaluatedAreRefused) {
  Shapes shapes;
  const auto refused = [&](std::vector<Expression> expressions) {
    Block block = sample_block(0, 1);
    block.expressions = std::move(expressions);
    return !shapes.add_block(block).has_value();
  };
  EXPECT_TRUE(refused({sum({{Value::expression(0), 1}})})) << "itself";
  EXPECT_TRUE(refused({sum({{Value::expression(1), 1}}), sum({})})) << "a later one";
  EXPECT_TRUE(refused({sum({{Value::constant(1), 1}})}));
  EXPECT_TRUE(refused({sum({{Value{}, 1}})}));
  EXPECT_TRUE(refused({sum({{Value{Value::Kind::kSlot, 0xffff}, 1}})}));
  EXPECT_TRUE(refused({sum(std::vector<Expression::Term>(kMaxTerms + 1, {Value::slot(0), 1}))}));
  std::vector<Expression> tower = {sum({{Value::slot(0), 1}})};
  for (std::uint32_t i = 0; i < 10; ++i) tower.push_back(sum({{Value::expression(i), 1}, {Value::expression(i), 1}}));
  EXPECT_TRUE(refused(tower)) << "evaluating it takes 2^10 terms";
  EXPECT_FALSE(refused({sum({{Value::slot(0), 1}}), sum({{Value::expression(0), 5}})}));
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

TEST(Codec, ArbitraryDescriptionsAndSidesAreDecodedOrRefused) {
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
