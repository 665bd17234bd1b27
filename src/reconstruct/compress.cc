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
#include "reconstruct/packed.h"
#include "support/atomic_file.h"

namespace loopfold::reconstruct {

namespace {

constexpr int kLevel = 19;

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

}  // namespace loopfold::reconstruct
