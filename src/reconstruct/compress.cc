// Compression. The essay is in compress.h.
#include "reconstruct/compress.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "reconstruct/input.h"
#include "reconstruct/reconstruct.h"
#include "support/atomic_file.h"

namespace loopfold::reconstruct {

namespace {

constexpr std::string_view kMagic("LFRC\1\n", 6);
constexpr int kLevel = 19;
constexpr std::uint64_t kMostExpanded = std::uint64_t{1} << 34;

// ---- numbers ------------------------------------------------------------------------------------------------------

void put(std::string& into, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) into.push_back(static_cast<char>(number | 0x80));
  into.push_back(static_cast<char>(number));
}

void put_signed(std::string& into, std::int64_t number) {
  put(into, static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
}

/// Takes numbers off the front of a text. After a failure everything is 0.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : left_(text) {}
  bool failed() const { return failed_; }
  bool empty() const { return left_.empty(); }
  std::uint64_t next() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) break;
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    failed_ = true;
    left_ = {};
    return 0;
  }
  std::int64_t next_signed() {
    const std::uint64_t number = next();
    return static_cast<std::int64_t>(number >> 1 ^ (0 - (number & 1)));
  }
  std::string_view text(std::uint64_t length) {
    if (length > left_.size()) {
      failed_ = true;
      left_ = {};
      return {};
    }
    const std::string_view taken = left_.substr(0, length);
    left_.remove_prefix(length);
    return taken;
  }

 private:
  std::string_view left_;
  bool failed_ = false;
};

// ---- pieces -------------------------------------------------------------------------------------------------------

/// A sequence of addresses on its way to pieces, and the pieces as bytes.
class StreamWriter {
 public:
  StreamWriter() : loops_(Options{}, [this](Piece&& piece) { write(piece.nest); }) { waiting_.reserve(kBatch); }

  void add(std::uint64_t address) {
    waiting_.push_back(address);
    if (waiting_.size() == kBatch) flush();
  }

  const std::string& finish() {
    flush();
    loops_.finish();
    return bytes_;
  }
  std::uint64_t pieces() const { return loops_.summary().pieces; }

 private:
  static constexpr std::size_t kBatch = 1024;

  void flush() {
    loops_.add(waiting_);
    waiting_.clear();
  }

  void write(const Nest& nest) {
    put(bytes_, nest.levels());
    put_signed(bytes_, static_cast<std::int64_t>(nest.base - base_));
    base_ = nest.base;
    for (std::size_t j = 0; j < nest.levels(); ++j) {
      put_signed(bytes_, nest.coefficients[j]);
      put_signed(bytes_, nest.w[j]);
      for (std::size_t r = 0; r < j; ++r) put_signed(bytes_, nest.bound_coefficient(j, r));
    }
  }

  std::string bytes_;
  std::uint64_t base_ = 0;
  std::vector<std::uint64_t> waiting_;
  Reconstructor loops_;
};

/// The addresses that such bytes stand for, one by one.
class StreamReader {
 public:
  explicit StreamReader(std::string_view bytes) : numbers_(bytes) {}

  /// False at the end, or if the bytes are damaged.
  bool next(std::uint64_t& address) {
    while (!walk_ || walk_->done())
      if (!next_nest()) return false;
    address = walk_->row().start;
    walk_->advance(1);
    return true;
  }

 private:
  bool next_nest() {
    if (numbers_.empty()) return false;
    Nest nest;
    const std::uint64_t levels = numbers_.next();
    if (numbers_.failed() || levels > kMaxLevels) return false;
    base_ += static_cast<std::uint64_t>(numbers_.next_signed());
    nest.base = base_;
    nest.u.assign(levels * levels, 0);
    for (std::size_t j = 0; j < levels; ++j) {
      nest.coefficients.push_back(numbers_.next_signed());
      nest.w.push_back(numbers_.next_signed());
      for (std::size_t r = 0; r < j; ++r) nest.u[j * levels + r] = numbers_.next_signed();
      nest.u[j * levels + j] = -1;
    }
    if (numbers_.failed()) return false;
    walk_ = std::make_unique<NestWalk>(nest);
    return true;
  }

  Numbers numbers_;
  std::uint64_t base_ = 0;
  std::unique_ptr<NestWalk> walk_;
};

// ---- zstd ---------------------------------------------------------------------------------------------------------

/// How many bytes zstd makes of what it is given.
class ZstdCounter {
 public:
  ZstdCounter() : stream_(ZSTD_createCStream(), ZSTD_freeCStream), room_(ZSTD_CStreamOutSize()) {
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_compressionLevel, kLevel);
  }
  void add(std::string_view text) { run({text.data(), text.size(), 0}, ZSTD_e_continue); }
  std::uint64_t finish() {
    run({nullptr, 0, 0}, ZSTD_e_end);
    return bytes_;
  }

 private:
  void run(ZSTD_inBuffer in, ZSTD_EndDirective end) {
    std::size_t left = 0;
    do {
      ZSTD_outBuffer out{room_.data(), room_.size(), 0};
      left = ZSTD_compressStream2(stream_.get(), &out, &in, end);
      bytes_ += out.pos;
    } while (!ZSTD_isError(left) && (in.pos < in.size || (end == ZSTD_e_end && left > 0)));
  }
  std::unique_ptr<ZSTD_CStream, decltype(&ZSTD_freeCStream)> stream_;
  std::vector<char> room_;
  std::uint64_t bytes_ = 0;
};

std::string zstd_of(const std::string& text) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size()));
  return packed;
}

Result<std::string> zstd_back(std::string_view packed, const std::string& path) {
  const auto broken = [&] { return fail(ErrorKind::kBadInput, path + ": damaged: its content does not unpack"); };
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostExpanded) return broken();
  std::string text(size, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) || got != size) return broken();
  return text;
}

// ---- compressing --------------------------------------------------------------------------------------------------

/// How the lines of a stream look, and its addresses.
struct Stream {
  Record like;
  StreamWriter addresses;
};

class Compressor {
 public:
  explicit Compressor(Format format) : format_(format), parser_(format) {}

  void line(std::string_view text) {
    Record record;
    if (parser_.parse(text, record) == Line::kRecord) {
      rendered_.clear();
      render(format_, record, rendered_);
      if (rendered_ == text) {
        access(record);
        return;
      }
    }
    order_.add(0);
    put(kept_, text.size());
    kept_ += text;
    ++kept_lines_;
  }

  void raw(std::uint64_t address) { access(Record{0, address, 0, 'R', false, false}); }
  void raw_rest(std::string_view bytes) { kept_ = bytes; }

  std::string finish(bool last_line_ended, Compressed& about) {
    std::string body;
    put(body, static_cast<std::uint64_t>(format_));
    put(body, last_line_ended ? 1 : 0);
    put(body, streams_.size());
    std::uint64_t ip = 0;
    for (const std::unique_ptr<Stream>& stream : streams_) {
      const Record& like = stream->like;
      put_signed(body, static_cast<std::int64_t>(like.ip - ip));
      ip = like.ip;
      put(body, like.size);
      body.push_back(like.kind);
      put(body, (like.decimal_ip ? 1U : 0U) | (like.decimal_address ? 2U : 0U));
      add_stream(body, stream->addresses, about);
    }
    add_stream(body, order_, about);
    put(body, kept_.size());
    body += kept_;
    about.accesses = accesses_;
    about.kept_lines = kept_lines_;
    return body;
  }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, char, bool, bool>;

  static void add_stream(std::string& body, StreamWriter& writer, Compressed& about) {
    const std::string& bytes = writer.finish();
    put(body, bytes.size());
    body += bytes;
    about.pieces += writer.pieces();
  }

  void access(const Record& record) {
    const Key key{record.ip, record.size, record.kind, record.decimal_ip, record.decimal_address};
    const auto [place, is_new] = numbers_.try_emplace(key, streams_.size());
    if (is_new) {
      streams_.push_back(std::make_unique<Stream>());
      streams_.back()->like = record;
    }
    streams_[place->second]->addresses.add(record.address);
    if (format_ != Format::kRaw) order_.add(place->second + 1);
    ++accesses_;
  }

  Format format_;
  Parser parser_;
  std::string rendered_;
  std::map<Key, std::size_t> numbers_;
  std::vector<std::unique_ptr<Stream>> streams_;
  StreamWriter order_;  // 0: a kept line
  std::string kept_;
  std::uint64_t kept_lines_ = 0;
  std::uint64_t accesses_ = 0;
};

Result<bool> compress_lines(LineReader& reader, Compressor& into) {
  for (;;) {
    const Result<std::optional<std::string_view>> line = reader.next();
    if (!line) return tl::unexpected<Error>(line.error());
    if (!*line) return reader.had_newline();
    into.line(**line);
  }
}

Result<bool> compress_raw(LineReader& reader, Compressor& into) {
  std::string word;
  for (;;) {
    const Result<std::string_view> some = reader.bytes(std::size_t{1} << 20);
    if (!some) return tl::unexpected<Error>(some.error());
    if (some->empty()) break;
    for (const char byte : *some) {
      word.push_back(byte);
      if (word.size() < 8) continue;
      std::uint64_t address = 0;
      std::memcpy(&address, word.data(), 8);
      into.raw(address);
      word.clear();
    }
  }
  into.raw_rest(word);
  return true;
}

}  // namespace

Result<Compressed> compress(const std::string& path, std::optional<Format> format, const std::string& output,
                            std::uint64_t compare_up_to) {
  Result<LineReader> reader = LineReader::open(path);
  if (!reader) return tl::unexpected<Error>(reader.error());
  Compressed about;
  std::unique_ptr<ZstdCounter> zstd = compare_up_to > 0 ? std::make_unique<ZstdCounter>() : nullptr;
  std::uint64_t seen = 0;
  reader->watch([&](std::string_view text) {
    seen += text.size();
    if (seen > compare_up_to) zstd.reset();
    if (zstd) zstd->add(text);
  });
  const Result<std::string_view> beginning = reader->beginning();
  if (!beginning) return tl::unexpected<Error>(beginning.error());
  const Format is = format ? *format : guess_format(*beginning);
  Compressor compressor(is);
  const Result<bool> ended =
      is == Format::kRaw ? compress_raw(*reader, compressor) : compress_lines(*reader, compressor);
  if (!ended) return tl::unexpected<Error>(ended.error());
  std::string file(kMagic);
  file += zstd_of(compressor.finish(*ended, about));
  if (const Result<void> written = write_whole_file(output, file); !written)
    return tl::unexpected<Error>(written.error());
  about.bytes_before = reader->bytes_read();
  about.bytes_after = file.size();
  if (zstd) about.zstd_bytes = zstd->finish();
  return about;
}

// ---- expanding ----------------------------------------------------------------------------------------------------

namespace {

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
