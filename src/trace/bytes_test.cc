#include "trace/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace loopfold::trace {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> corner_values() {
  std::vector<std::uint64_t> values = {0, 1, 0x7f, 0x80, 0x3fff, 0x4000, kMax, kMax - 1};
  for (unsigned bit = 0; bit < 64; ++bit) {
    values.push_back(std::uint64_t{1} << bit);
    values.push_back((std::uint64_t{1} << bit) - 1);
  }
  return values;
}

TEST(Bytes, VarintsComeBack) {
  ByteWriter out;
  for (const std::uint64_t value : corner_values()) {
    out.varint(value);
    out.signed_varint(value);
  }
  ByteReader in(out.bytes());
  for (const std::uint64_t value : corner_values()) {
    EXPECT_EQ(in.varint(), value);
    EXPECT_EQ(in.signed_varint(), value);
  }
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.at_end());
}

TEST(Bytes, ZigzagKeepsSmallNumbersSmall) {
  EXPECT_EQ(zigzag(0), 0u);
  EXPECT_EQ(zigzag(kMax), 1u);
  EXPECT_EQ(zigzag(1), 2u);
  EXPECT_EQ(zigzag(std::uint64_t{1} << 63), kMax);
  for (const std::uint64_t value : corner_values()) EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Bytes, EveryPrefixOfAVarintFails) {
  ByteWriter out;
  out.varint(kMax);
  ASSERT_EQ(out.size(), kMaxVarintBytes);
  for (std::size_t size = 0; size < out.size(); ++size) {
    ByteReader in(out.bytes().first(size));
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_FALSE(in.ok());
  }
}

TEST(Bytes, VarintsThatDoNotFitFail) {
  std::array<std::uint8_t, 11> bytes;
  bytes.fill(0xff);
  EXPECT_EQ(ByteReader(bytes).varint(), 0u);
  bytes.fill(0x80);
  bytes[9] = 2;
  ByteReader in(bytes);
  in.varint();
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, FailureLasts) {
  const std::array<std::uint8_t, 3> bytes = {5, 'a', 'b'};
  ByteReader in(bytes);
  EXPECT_EQ(in.string(), "");
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.byte(), 0);
  EXPECT_EQ(in.remaining(), 0u);
}

TEST(Bytes, CountsAreBelievedOnlyIfTheRecordsFit) {
  ByteWriter out;
  out.varint(4);
  for (int i = 0; i < 8; ++i) out.byte(0);
  EXPECT_EQ(ByteReader(out.bytes()).count(2), 4u);
  ByteReader in(out.bytes());
  EXPECT_EQ(in.count(3), 0u);
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, StringsKeepAllBytes) {
  const std::string text("a\0\xff\n", 4);
  ByteWriter out;
  out.string(text);
  out.string("");
  ByteReader in(out.bytes());
  EXPECT_EQ(in.string(), text);
  EXPECT_EQ(in.string(), "");
  EXPECT_TRUE(in.ok() && in.at_end());
}

}  // namespace
}  // namespace loopfold::trace
