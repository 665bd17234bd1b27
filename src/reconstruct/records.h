// Address traces of other tools: their records, and their text.
//
//     lackey      valgrind --tool=lackey --trace-mem=yes: `I  04017f10,3`, ` L 1ffeffe7e8,8`, ` S …`, ` M …`
//     (hexadecimal);
//                 a data access belongs to the instruction before it. Lines of Valgrind itself (==…==) are passed over.
//     pinatrace   Pin's example tool: `0x4011f6: R 0x7ffd5c0a3b08`, and `#eof` at the end.
//     csv         ip,R|W,address,size with numbers in decimal or 0x; a first line with names is passed over, and so are
//                 empty lines and lines that start with #.
//     raw         64-bit little-endian addresses of one instruction.
//
// A line is a record, is passed over, or is bad; what is wrong is said in a few words. render() is the inverse of
// parse() for lines as the tools write them: that is what makes compression of text exact (compress.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loopfold::reconstruct {

enum class Format : std::uint8_t { kLackey, kPinatrace, kCsv, kRaw };

std::string_view format_name(Format format);

/// One access. Fetches of instructions are records only in lackey's traces, where they say who accesses.
struct Record {
  std::uint64_t ip = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;   // 0: unknown
  char kind = 'R';          // R, W, M (both), I (a fetch)
  bool decimal_ip = false;  // how a CSV file writes it
  bool decimal_address = false;
};

enum class Line : std::uint8_t { kRecord, kPassedOver, kBad };

/// Reads the lines of one trace, in order.
class Parser {
 public:
  explicit Parser(Format format) : format_(format) {}
  /// `line` has no newline. With kBad, reason() says what is wrong.
  Line parse(std::string_view line, Record& into);
  const char* reason() const { return reason_; }

 private:
  Line bad(const char* reason);
  Line parse_lackey(std::string_view line, Record& into);
  Line parse_pinatrace(std::string_view line, Record& into);
  Line parse_csv(std::string_view line, Record& into);

  Format format_;
  const char* reason_ = "";
  std::uint64_t ip_ = 0;  // lackey: the instruction that is running
  bool first_ = true;
};

/// The line that says this, without a newline, appended to `into`.
void render(Format format, const Record& record, std::string& into);

/// What a trace that starts like this is; text that is none of these counts as CSV, anything else as raw.
Format guess_format(std::string_view beginning);

}  // namespace loopfold::reconstruct
