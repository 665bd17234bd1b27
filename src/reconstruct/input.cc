// Reading address traces. The essay is in input.h.
#include "reconstruct/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "support/parallel.h"

namespace loopfold::reconstruct {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kBeginning = 4096;
constexpr std::size_t kLongestLine = std::size_t{1} << 26;
constexpr std::size_t kBatch = std::size_t{1} << 18;
constexpr std::size_t kFlush = 4096;

}  // namespace

// ---- lines --------------------------------------------------------------------------------------------------------

Result<LineReader> LineReader::open(const std::string& path) {
  if (path == kStandardInput) return LineReader(::dup(0), "standard input");
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    const ErrorKind kind = errno == EACCES ? ErrorKind::kEnvironment : ErrorKind::kBadInput;
    return fail(kind, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return LineReader(file, path);
}

LineReader::LineReader(LineReader&& other) noexcept { *this = std::move(other); }

LineReader& LineReader::operator=(LineReader&& other) noexcept {
  std::swap(file_, other.file_);
  path_ = std::move(other.path_);
  buffer_ = std::move(other.buffer_);
  from_ = other.from_;
  to_ = other.to_;
  end_ = other.end_;
  had_newline_ = other.had_newline_;
  line_number_ = other.line_number_;
  total_ = other.total_;
  watcher_ = std::move(other.watcher_);
  return *this;
}

LineReader::~LineReader() {
  if (file_ >= 0) ::close(file_);
}

/// Reads on behind what is there. False at the end of the file.
Result<bool> LineReader::fill() {
  if (end_) return false;
  if (from_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + from_, to_ - from_);
    to_ -= from_;
    from_ = 0;
  }
  if (buffer_.size() - to_ < kBufferBytes / 2) buffer_.resize(std::max(kBufferBytes, 2 * buffer_.size()));
  ssize_t got = 0;
  do {
    got = ::read(file_, buffer_.data() + to_, buffer_.size() - to_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return fail(ErrorKind::kBadInput, fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  end_ = got == 0;
  if (watcher_ && got > 0) watcher_(std::string_view(buffer_.data() + to_, static_cast<std::size_t>(got)));
  to_ += static_cast<std::size_t>(got);
  total_ += static_cast<std::uint64_t>(got);
  return !end_;
}

Result<std::string_view> LineReader::beginning() {
  while (to_ - from_ < kBeginning) {
    const Result<bool> more = fill();
    if (!more) return tl::unexpected<Error>(more.error());
    if (!*more) break;
  }
  return std::string_view(buffer_.data() + from_, std::min(kBeginning, to_ - from_));
}

Result<std::optional<std::string_view>> LineReader::next() {
  std::size_t searched = 0;
  for (;;) {
    const char* const begin = buffer_.data() + from_;
    const void* const found =
        to_ > from_ + searched ? std::memchr(begin + searched, '\n', to_ - from_ - searched) : nullptr;
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - begin);
      from_ += length + 1;
      ++line_number_;
      had_newline_ = true;
      return std::string_view(begin, length);
    }
    searched = to_ - from_;
    if (searched > kLongestLine)
      return fail(ErrorKind::kBadInput,
                  fmt::format("{}:{}: a line of more than 64 MB; is this a text trace?", path_, line_number_ + 1));
    const Result<bool> more = fill();
    if (!more) return tl::unexpected<Error>(more.error());
    if (*more) continue;
    if (from_ == to_) return std::nullopt;
    const std::string_view last(buffer_.data() + from_, to_ - from_);
    from_ = to_;
    ++line_number_;
    had_newline_ = false;
    return last;
  }
}

Result<std::string_view> LineReader::bytes(std::size_t most) {
  if (from_ == to_) {
    const Result<bool> more = fill();
    if (!more) return tl::unexpected<Error>(more.error());
  }
  const std::string_view some(buffer_.data() + from_, std::min(most, to_ - from_));
  from_ += some.size();
  return some;
}

// ---- instructions ---------------------------------------------------------------------------------------------------

Instruction::Instruction(std::uint64_t at, const ReadOptions& options)
    : ip(at),
      loops(options.reconstruction, [this](Piece&& piece) { keep(std::move(piece)); }),
      verify(options.verify),
      max_pieces_(options.max_pieces) {}

namespace {

std::uint64_t digest(std::uint64_t before, std::uint64_t address) {
  std::uint64_t h = (before ^ address) * 0x9e3779b97f4a7c15ULL;
  h ^= h >> 29;
  return h * 0xbf58476d1ce4e5b9ULL + 1;
}

std::uint64_t digest(std::uint64_t before, const Run& run) {
  for (std::uint64_t i = 0; i < run.count; ++i)
    before = digest(before, run.start + static_cast<std::uint64_t>(run.stride) * i);
  return before;
}

}  // namespace

void Instruction::keep(Piece&& piece) {
  if (verify)
    regenerate(piece, [&](const Run& run) {
      pieces_digest = digest(pieces_digest, run);
      generated += run.count;
    });
  if (pieces.size() < max_pieces_) pieces.push_back(std::move(piece));
}

void Instruction::add(std::uint64_t address) {
  waiting.push_back(address);
  if (waiting.size() >= kFlush) flush();
}

void Instruction::add_run(const Run& run) {
  flush();
  if (verify) fed_digest = digest(fed_digest, run);
  loops.add_run(run.start, run.stride, run.count);
}

void Instruction::flush() {
  if (waiting.empty()) return;
  if (verify)
    for (const std::uint64_t address : waiting) fed_digest = digest(fed_digest, address);
  loops.add(waiting);
  waiting.clear();
}

bool Instruction::verified() const { return generated == loops.summary().accesses && fed_digest == pieces_digest; }

void work_off(std::vector<std::unique_ptr<Instruction>>& instructions, unsigned jobs, bool last) {
  for_each_with(
      jobs, instructions.size(), [] { return 0; },
      [&](int, std::size_t i) {
        Instruction& instruction = *instructions[i];
        instruction.flush();
        if (last) instruction.loops.finish();
      });
}

namespace {

/// Collects records until there are enough to be worked off.
class Splitter {
 public:
  Splitter(ReadTrace& trace, const ReadOptions& options) : trace_(trace), options_(options) {}

  void add(const Record& record) {
    if (record.kind == 'I') return;
    ++trace_.records;
    if (options_.only && record.ip != *options_.only) return;
    Instruction& instruction = find(record);
    if (instruction.kind != record.kind) instruction.kind = 'M';
    instruction.waiting.push_back(record.address);
    if (++waiting_ >= kBatch) flush(false);
  }

  void flush(bool last) {
    work_off(trace_.instructions, options_.jobs, last);
    waiting_ = 0;
  }

 private:
  Instruction& find(const Record& record) {
    const auto [place, is_new] = numbers_.try_emplace(record.ip, trace_.instructions.size());
    if (is_new) {
      trace_.instructions.push_back(std::make_unique<Instruction>(record.ip, options_));
      trace_.instructions.back()->kind = record.kind;
      trace_.instructions.back()->size = record.size;
    }
    return *trace_.instructions[place->second];
  }

  ReadTrace& trace_;
  const ReadOptions& options_;
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
  std::size_t waiting_ = 0;
};

Result<void> read_lines(LineReader& reader, const ReadOptions& options, ReadTrace& trace, Splitter& splitter) {
  Parser parser(trace.format);
  for (;;) {
    const Result<std::optional<std::string_view>> line = reader.next();
    if (!line) return tl::unexpected<Error>(line.error());
    if (!*line) return {};
    Record record;
    const Line what = parser.parse(**line, record);
    if (what == Line::kRecord) splitter.add(record);
    if (what != Line::kBad) continue;
    const std::string text = fmt::format("{}:{}: {}", reader.path(), reader.line_number(), parser.reason());
    if (!options.skip_bad)
      return fail(ErrorKind::kBadInput,
                  text + fmt::format(" (read as {}; --skip-bad leaves such lines out, --input says what it is)",
                                     format_name(trace.format)));
    if (trace.bad++ == 0) trace.first_bad = text;
  }
}

Result<void> read_raw(LineReader& reader, const ReadOptions& options, ReadTrace& trace, Splitter& splitter) {
  char word[8];
  std::size_t filled = 0;
  for (;;) {
    const Result<std::string_view> some = reader.bytes(kBufferBytes);
    if (!some) return tl::unexpected<Error>(some.error());
    if (some->empty()) break;
    for (const char byte : *some) {
      word[filled++] = byte;
      if (filled < sizeof word) continue;
      filled = 0;
      Record record;
      std::memcpy(&record.address, word, sizeof word);
      splitter.add(record);
    }
  }
  if (filled == 0) return {};
  const std::string text =
      fmt::format("{}: ends {} bytes into an address; raw traces are 64-bit numbers", reader.path(), filled);
  if (!options.skip_bad) return fail(ErrorKind::kBadInput, text + " (--skip-bad leaves that out)");
  trace.bad = 1;
  trace.first_bad = text;
  return {};
}

}  // namespace

Result<ReadTrace> read_trace(const std::string& path, const ReadOptions& options) {
  Result<LineReader> reader = LineReader::open(path);
  if (!reader) return tl::unexpected<Error>(reader.error());
  const Result<std::string_view> beginning = reader->beginning();
  if (!beginning) return tl::unexpected<Error>(beginning.error());
  ReadTrace trace;
  trace.format = options.format ? *options.format : guess_format(*beginning);
  Splitter splitter(trace, options);
  const Result<void> read = trace.format == Format::kRaw ? read_raw(*reader, options, trace, splitter)
                                                         : read_lines(*reader, options, trace, splitter);
  if (!read) return tl::unexpected<Error>(read.error());
  splitter.flush(true);
  trace.bytes = reader->bytes_read();
  return trace;
}

}  // namespace loopfold::reconstruct
