// Expanding compressed traces. The format is in compress.h.
#include <fmt/format.h>
#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "reconstruct/compress.h"
#include "reconstruct/input.h"
#include "reconstruct/packed.h"

namespace loopfold::reconstruct {

namespace {

constexpr std::uint64_t kMostExpanded = std::uint64_t{1} << 34;

Result<std::string> zstd_back(std::string_view packed, const std::string& path) {
  const auto broken = [&] { return fail(ErrorKind::kBadInput, path + ": damaged: its content does not unpack"); };
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostExpanded) return broken();
  std::string text(size, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size) return broken();
  return text;
}

struct ExpandedStream {
  Record like;
  StreamReader addresses;
};

/// Lines on their way to a file, in large pieces.
class Output {
 public:
  explicit Output(std::FILE* file) : file_(file) {}
  std::string& text() { return text_; }
  bool write_if(std::size_t bytes) {
    if (text_.size() < bytes) return true;
    written_ += text_.size();
    const bool fine = std::fwrite(text_.data(), 1, text_.size(), file_) == text_.size();
    text_.clear();
    return fine;
  }
  std::uint64_t written() const { return written_; }

 private:
  std::FILE* file_;
  std::string text_;
  std::uint64_t written_ = 0;
};

constexpr std::size_t kOutputBytes = std::size_t{1} << 20;

class Expander {
 public:
  Expander(std::string_view body, std::string path) : numbers_(body), path_(std::move(path)), order_({}) {}

  Result<std::uint64_t> to(std::FILE* file) {
    if (!read_streams()) return damaged();
    Output out(file);
    const Result<void> done = format_ == Format::kRaw ? raw(out) : lines(out);
    if (!done) return tl::unexpected<Error>(done.error());
    if (!out.write_if(0) || std::fflush(file) != 0) return unwritable();
    return out.written();
  }

 private:
  tl::unexpected<Error> damaged() const {
    return fail(ErrorKind::kBadInput, path_ + ": damaged: its streams do not fit together");
  }
  static tl::unexpected<Error> unwritable() {
    return fail(ErrorKind::kEnvironment, fmt::format("output: cannot be written: {}", std::strerror(errno)));
  }

  bool read_streams() {
    const std::uint64_t format = numbers_.next();
    if (format > static_cast<std::uint64_t>(Format::kRaw)) return false;
    format_ = static_cast<Format>(format);
    last_line_ended_ = numbers_.next() != 0;
    const std::uint64_t count = numbers_.next();
    std::uint64_t ip = 0;
    for (std::uint64_t i = 0; i < count && !numbers_.failed(); ++i) {
      Record like;
      like.ip = ip += static_cast<std::uint64_t>(numbers_.next_signed());
      like.size = numbers_.next();
      const std::string_view kind = numbers_.text(1);
      like.kind = kind.empty() ? 'R' : kind[0];
      const std::uint64_t style = numbers_.next();
      like.decimal_ip = (style & 1) != 0;
      like.decimal_address = (style & 2) != 0;
      streams_.push_back({like, StreamReader(numbers_.text(numbers_.next()))});
    }
    order_ = StreamReader(numbers_.text(numbers_.next()));
    kept_ = numbers_.text(numbers_.next());
    return !numbers_.failed();
  }

  Result<void> lines(Output& out) {
    Numbers kept(kept_);
    std::uint64_t number = 0;
    bool first = true;
    while (order_.next(number)) {
      if (!first) out.text() += '\n';
      first = false;
      if (number == 0) {
        out.text() += kept.text(kept.next());
        if (kept.failed()) return damaged();
      } else {
        if (number > streams_.size()) return damaged();
        ExpandedStream& stream = streams_[number - 1];
        if (!stream.addresses.next(stream.like.address)) return damaged();
        render(format_, stream.like, out.text());
      }
      if (!out.write_if(kOutputBytes)) return unwritable();
    }
    if (!first && last_line_ended_) out.text() += '\n';
    return {};
  }

  Result<void> raw(Output& out) {
    std::uint64_t address = 0;
    while (!streams_.empty() && streams_[0].addresses.next(address)) {
      out.text().append(reinterpret_cast<const char*>(&address), sizeof address);
      if (!out.write_if(kOutputBytes)) return unwritable();
    }
    out.text() += kept_;
    return {};
  }

  Numbers numbers_;
  std::string path_;
  Format format_ = Format::kCsv;
  bool last_line_ended_ = false;
  std::vector<ExpandedStream> streams_;
  StreamReader order_;
  std::string_view kept_;
};

}  // namespace

Result<std::uint64_t> expand(const std::string& path, const std::string& output) {
  Result<LineReader> reader = LineReader::open(path);
  if (!reader) return tl::unexpected<Error>(reader.error());
  std::string file;
  for (;;) {
    const Result<std::string_view> some = reader->bytes(std::size_t{1} << 20);
    if (!some) return tl::unexpected<Error>(some.error());
    if (some->empty()) break;
    file += *some;
  }
  if (!std::string_view(file).starts_with(kMagic))
    return fail(ErrorKind::kBadInput, path + ": is not a trace that loopfold reconstruct --compress wrote");
  const Result<std::string> body = zstd_back(std::string_view(file).substr(kMagic.size()), path);
  if (!body) return tl::unexpected<Error>(body.error());
  std::FILE* const to = output == kStandardInput ? stdout : std::fopen(output.c_str(), "wb");
  if (to == nullptr)
    return fail(ErrorKind::kEnvironment, fmt::format("{}: cannot be written: {}", output, std::strerror(errno)));
  Result<std::uint64_t> written = Expander(*body, path).to(to);
  if (to != stdout && std::fclose(to) != 0 && written)
    written = fail(ErrorKind::kEnvironment, fmt::format("{}: cannot be written: {}", output, std::strerror(errno)));
  return written;
}

}  // namespace loopfold::reconstruct
