// Lines of traces: read, written again, and refused with a reason.
#include "reconstruct/records.h"

#include <gtest/gtest.h>

namespace loopfold::reconstruct {

namespace {

Record parsed(Format format, const char* line) {
  Record record;
  EXPECT_EQ(Parser(format).parse(line, record), Line::kRecord) << line;
  return record;
}

std::string reason(Format format, const char* line) {
  Parser parser(format);
  Record record;
  EXPECT_EQ(parser.parse(line, record), Line::kBad) << line;
  return parser.reason();
}

TEST(ReconstructRecords, LackeyAccessesBelongToTheInstructionBefore) {
  Parser parser(Format::kLackey);
  Record record;
  EXPECT_EQ(parser.parse("==123== Lackey, an example Valgrind tool", record), Line::kPassedOver);
  EXPECT_EQ(parser.parse("I  04017f10,3", record), Line::kRecord);
  EXPECT_EQ(record.kind, 'I');
  EXPECT_EQ(parser.parse(" L 1ffeffe7e8,8", record), Line::kRecord);
  EXPECT_EQ(record.ip, 0x04017f10U);
  EXPECT_EQ(record.address, 0x1ffeffe7e8U);
  EXPECT_EQ(record.size, 8U);
  EXPECT_EQ(record.kind, 'R');
  EXPECT_EQ(parser.parse(" M 1ffeffe7e8,4", record), Line::kRecord);
  EXPECT_EQ(record.kind, 'M');
}

TEST(ReconstructRecords, PinatraceLines) {
  const Record record = parsed(Format::kPinatrace, "0x4011f6: W 0x7ffd5c0a3b08");
  EXPECT_EQ(record.ip, 0x4011f6U);
  EXPECT_EQ(record.kind, 'W');
  EXPECT_EQ(record.address, 0x7ffd5c0a3b08U);
  Record ignored;
  EXPECT_EQ(Parser(Format::kPinatrace).parse("#eof", ignored), Line::kPassedOver);
}

TEST(ReconstructRecords, CsvNumbersAreDecimalOrHexadecimal) {
  const Record one = parsed(Format::kCsv, "4198400,R,0xffffffffffffffff,8");
  EXPECT_EQ(one.ip, 4198400U);
  EXPECT_EQ(one.address, ~std::uint64_t{0});
  const Record other = parsed(Format::kCsv, " 0x401000 , W , 18446744073709551615 , 0x10 ");
  EXPECT_EQ(other.ip, 0x401000U);
  EXPECT_EQ(other.address, ~std::uint64_t{0});
  EXPECT_EQ(other.size, 16U);
}

TEST(ReconstructRecords, CsvMayStartWithNames) {
  Parser parser(Format::kCsv);
  Record record;
  EXPECT_EQ(parser.parse("ip,kind,address,size", record), Line::kPassedOver);
  EXPECT_EQ(parser.parse("ip,kind,address,size", record), Line::kBad);
}

TEST(ReconstructRecords, BadLinesHaveReasons) {
  EXPECT_NE(reason(Format::kCsv, "1,R,99999999999999999999,8").find("address"), std::string::npos);
  EXPECT_NE(reason(Format::kCsv, "1,X,9,8").find("R or W"), std::string::npos);
  EXPECT_NE(reason(Format::kCsv, "1,R,9").find("size"), std::string::npos);
  EXPECT_NE(reason(Format::kCsv, "1,R,9,8,7").find("four"), std::string::npos);
  EXPECT_NE(reason(Format::kCsv, "-1,R,9,8").find("instruction"), std::string::npos);
  EXPECT_NE(reason(Format::kLackey, " L 123").find("size"), std::string::npos);
  EXPECT_NE(reason(Format::kLackey, " L xyz,8").find("hexadecimal"), std::string::npos);
  EXPECT_NE(reason(Format::kLackey, "what is this").find("expected"), std::string::npos);
  EXPECT_NE(reason(Format::kPinatrace, "0x1: Q 0x2").find("R or W"), std::string::npos);
  EXPECT_NE(reason(Format::kPinatrace, "0x1: R 2").find("0x"), std::string::npos);
}

TEST(ReconstructRecords, RenderingIsTheInverseOfReading) {
  const std::pair<Format, const char*> lines[] = {{Format::kLackey, "I  04017f10,3"},
                                                  {Format::kLackey, " L 1ffeffe7e8,8"},
                                                  {Format::kLackey, " S 00000010,1"},
                                                  {Format::kPinatrace, "0x4011f6: R 0x7ffd5c0a3b08"},
                                                  {Format::kCsv, "0x401000,R,0x7ffd5c0a3b08,8"},
                                                  {Format::kCsv, "4198400,W,1234,16"},
                                                  {Format::kCsv, "0x401000,W,1234,16"}};
  for (const auto& [format, line] : lines) {
    std::string text;
    render(format, parsed(format, line), text);
    EXPECT_EQ(text, line);
  }
}

TEST(ReconstructRecords, FormatsAreGuessedFromTheBeginning) {
  EXPECT_EQ(guess_format("==1== Lackey\n"), Format::kLackey);
  EXPECT_EQ(guess_format("I  04017f10,3\n L 1ffe,8\n"), Format::kLackey);
  EXPECT_EQ(guess_format("0x4011f6: R 0x7ffd5c0a3b08\n"), Format::kPinatrace);
  EXPECT_EQ(guess_format("ip,kind,address,size\n1,R,2,8\n"), Format::kCsv);
  EXPECT_EQ(guess_format(std::string_view("\0\0\x10\x7f", 4)), Format::kRaw);
  EXPECT_EQ(guess_format(""), Format::kCsv);
}

}  // namespace

}  // namespace loopfold::reconstruct
