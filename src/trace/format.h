// The frame of a trace file: one file header, then chunks, each a header and a payload. docs/trace-format.md is the
// specification; this file is its constants and the two fixed-size records.
//
// Every record carries a checksum of its own, so that a size read from a damaged header is never believed: the header
// is checked before its sizes are used, the stored payload before it is decompressed. Integers are little-endian.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace loopfold::trace {

inline constexpr std::array<std::uint8_t, 8> kFileMagic = {'L', 'O', 'O', 'P', 'F', 'O', 'L', 'D'};
inline constexpr std::uint32_t kFormatVersion = 3;
inline constexpr std::uint32_t kChunkMagic = 0x4843464c;  // "LFCH" in the file
inline constexpr std::uint32_t kNoThread = 0xffffffff;    // chunk of no thread in particular

inline constexpr std::size_t kFileHeaderBytes = 32;
inline constexpr std::size_t kChunkHeaderBytes = 64;

/// What a group buffers before it is written: encoded runs, descriptions and side events, and kSideBytes for each side
/// event; and how many events it has at most, however little they take.
inline constexpr std::size_t kGroupBytes = std::size_t{4} << 20;
inline constexpr std::uint64_t kGroupEvents = std::uint64_t{1} << 24;
inline constexpr std::size_t kSideBytes = 32;
/// The writer's threshold cannot be set above this, so that a group stays within the limits below.
inline constexpr std::size_t kMaxGroupBytes = std::size_t{32} << 20;

// What a reader accepts. The writer stays below; beyond is damage.
inline constexpr std::uint32_t kMaxRawBytes = std::uint32_t{256} << 20;   // decompressed payload of a chunk
inline constexpr std::uint64_t kMaxGroupEvents = std::uint64_t{1} << 25;  // events of all threads in a group
inline constexpr std::uint64_t kMaxGroupSides = std::uint64_t{1} << 22;   // side events in a group
inline constexpr std::uint64_t kMaxRunValues = std::uint64_t{1} << 18;    // of irregular columns in one run
inline constexpr std::uint64_t kMaxChunkSlots = std::uint64_t{1} << 26;   // such and those of literals, in one chunk
inline constexpr std::uint32_t kMaxThreads = std::uint32_t{1} << 24;
inline constexpr std::uint32_t kMaxSlots = 0xffff;  // of one event

// What the tables of one chunk of runs may hold: slots of distinct paths and columns of distinct loops.
inline constexpr std::uint64_t kMaxTableSlots = std::uint64_t{1} << 22;
inline constexpr std::uint64_t kMaxTableColumns = std::uint64_t{1} << 18;

enum class ChunkType : std::uint16_t {
  kRunInfo = 1,       // JSON; the first chunk, alone in group 0
  kDescriptions = 2,  // modules, blocks, exits, call stacks
  kSideEvents = 3,
  kRuns = 4,    // of one thread
  kEnd = 5,     // JSON; the last chunk, alone in its group
  kValues = 6,  // of the runs in the chunk before it, if they have any that are not needed for control
};

enum ChunkFlag : std::uint16_t {
  kEndsGroup = 1,
  kSkippable = 2,  // a reader that does not know the type may pass over the chunk
  kZstd = 4,       // the payload is one zstd frame; without it, it is stored as it is
  kKnownFlags = kEndsGroup | kSkippable | kZstd,
};

/// The fields of a chunk header, in the order in which they stand in the file.
struct ChunkHeader {
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t thread = kNoThread;
  std::uint32_t ordinal = 0;      // of the chunk in the file, from 0
  std::uint64_t group = 0;        // consecutive from 0
  std::uint64_t first_slice = 0;  // of what is in the chunk
  std::uint64_t items = 0;        // events, side events or descriptions in the payload
  std::uint32_t raw_size = 0;
  std::uint32_t stored_size = 0;
  std::uint64_t payload_checksum = 0;
};

inline std::uint64_t checksum(std::span<const std::uint8_t> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

/// A little-endian integer at a fixed place. The caller knows that the bytes are there.
template <typename T>
void put_fixed(std::uint8_t* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

template <typename T>
T get_fixed(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | (static_cast<T>(from[i]) << (8 * i)));
  return value;
}

inline std::array<std::uint8_t, kFileHeaderBytes> encode_file_header(std::uint32_t version = kFormatVersion) {
  std::array<std::uint8_t, kFileHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kFileMagic.data(), kFileMagic.size());
  put_fixed(bytes.data() + 8, version);
  put_fixed(bytes.data() + 24, checksum(std::span(bytes).first(24)));
  return bytes;
}

inline std::array<std::uint8_t, kChunkHeaderBytes> encode_chunk_header(const ChunkHeader& header) {
  std::array<std::uint8_t, kChunkHeaderBytes> bytes{};
  std::uint8_t* p = bytes.data();
  put_fixed(p, kChunkMagic);
  put_fixed(p + 4, header.type);
  put_fixed(p + 6, header.flags);
  put_fixed(p + 8, header.thread);
  put_fixed(p + 12, header.ordinal);
  put_fixed(p + 16, header.group);
  put_fixed(p + 24, header.first_slice);
  put_fixed(p + 32, header.items);
  put_fixed(p + 40, header.raw_size);
  put_fixed(p + 44, header.stored_size);
  put_fixed(p + 48, header.payload_checksum);
  put_fixed(p + 56, checksum(std::span(bytes).first(56)));
  return bytes;
}

/// False if the magic or the checksum is wrong; then nothing in `header` means anything.
inline bool decode_chunk_header(std::span<const std::uint8_t, kChunkHeaderBytes> bytes, ChunkHeader& header) {
  const std::uint8_t* p = bytes.data();
  if (get_fixed<std::uint32_t>(p) != kChunkMagic) return false;
  if (get_fixed<std::uint64_t>(p + 56) != checksum(bytes.first(56))) return false;
  header.type = get_fixed<std::uint16_t>(p + 4);
  header.flags = get_fixed<std::uint16_t>(p + 6);
  header.thread = get_fixed<std::uint32_t>(p + 8);
  header.ordinal = get_fixed<std::uint32_t>(p + 12);
  header.group = get_fixed<std::uint64_t>(p + 16);
  header.first_slice = get_fixed<std::uint64_t>(p + 24);
  header.items = get_fixed<std::uint64_t>(p + 32);
  header.raw_size = get_fixed<std::uint32_t>(p + 40);
  header.stored_size = get_fixed<std::uint32_t>(p + 44);
  header.payload_checksum = get_fixed<std::uint64_t>(p + 48);
  return true;
}

}  // namespace loopfold::trace
