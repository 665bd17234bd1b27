// Reading address traces from files and pipes, and splitting them by instruction.
//
// A LineReader gives the lines of a file (or of standard input) in large pieces, without copying each. read_trace()
// parses them, collects a batch of records, and gives every instruction its addresses in order; instructions are
// independent, so each batch is worked on by several threads. Memory is one batch and the instructions.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconstruct/reconstruct.h"
#include "reconstruct/records.h"
#include "support/result.h"

namespace loopfold::reconstruct {

inline constexpr std::string_view kStandardInput = "-";

/// The bytes of a file, line by line or all as they come. Lines may be of any length.
class LineReader {
 public:
  static Result<LineReader> open(const std::string& path);
  LineReader(LineReader&& other) noexcept;
  LineReader& operator=(LineReader&& other) noexcept;
  ~LineReader();

  /// The first bytes, to see what it is; nothing is used up.
  Result<std::string_view> beginning();
  /// The next line without its newline, or nothing at the end.
  Result<std::optional<std::string_view>> next();
  /// Did the last line that was given end with a newline?
  bool had_newline() const { return had_newline_; }
  std::uint64_t line_number() const { return line_number_; }
  /// What is there next, at least one byte unless it is the end; used up.
  Result<std::string_view> bytes(std::size_t most);
  std::uint64_t bytes_read() const { return total_; }
  const std::string& path() const { return path_; }
  /// Sees all bytes, in order, as they are read.
  void watch(std::function<void(std::string_view)> watcher) { watcher_ = std::move(watcher); }

 private:
  LineReader(int file, std::string path) : file_(file), path_(std::move(path)) {}
  Result<bool> fill();

  int file_ = -1;
  std::string path_;
  std::vector<char> buffer_;
  std::size_t from_ = 0;
  std::size_t to_ = 0;
  bool end_ = false;
  bool had_newline_ = false;
  std::uint64_t line_number_ = 0;
  std::uint64_t total_ = 0;
  std::function<void(std::string_view)> watcher_;
};

struct ReadOptions {
  Options reconstruction;
  std::optional<Format> format;
  std::optional<std::uint64_t> only;  // one instruction
  bool skip_bad = false;
  bool verify = false;
  unsigned jobs = 1;
  std::size_t max_pieces = 1000;  // that are kept for each instruction
};

/// What is known about one instruction of a trace.
struct Instruction {
  std::uint64_t ip = 0;
  std::string where;  // source, if known
  char kind = 'R';    // R, W or M (both)
  std::uint64_t size = 0;
  Reconstructor loops;
  std::vector<Piece> pieces;           // the first ones, max_pieces at the most
  std::vector<std::uint64_t> waiting;  // addresses that have not been fed yet
  bool verify = false;                 // set before the first address
  std::uint64_t fed_digest = 0;        // of all addresses in order; of those that the pieces generate
  std::uint64_t pieces_digest = 0;
  std::uint64_t generated = 0;

  Instruction(std::uint64_t at, const ReadOptions& options);
  void add(std::uint64_t address);
  void add_run(const Run& run);
  /// Feeds what waits.
  void flush();
  /// With `verify`: do the pieces generate what was fed? (By count and a 64-bit digest of all addresses in order.)
  bool verified() const;

 private:
  void keep(Piece&& piece);
  std::size_t max_pieces_ = 0;
};

struct ReadTrace {
  Format format = Format::kCsv;
  std::vector<std::unique_ptr<Instruction>> instructions;  // by first access
  std::uint64_t records = 0;                               // accesses
  std::uint64_t bad = 0;                                   // lines that were left out
  std::string first_bad;                                   // the first of them and why
  std::uint64_t bytes = 0;
};

/// Reads the whole trace and reconstructs all its instructions.
Result<ReadTrace> read_trace(const std::string& path, const ReadOptions& options);

/// Feeds what waits, and if `last`, ends the reconstruction; on several threads.
void work_off(std::vector<std::unique_ptr<Instruction>>& instructions, unsigned jobs, bool last);

}  // namespace loopfold::reconstruct
