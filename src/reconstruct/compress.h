// Compression of address traces by reconstruction, exact for any file.
//
// Text. Each line that a tool would write just so is an access of a *stream*: one for each instruction, kind and size
// (a fetch of lackey's is a stream whose address never changes). The addresses of each stream go through a
// Reconstructor, and so does the sequence of stream numbers: the order of the lines. Lines that are anything else are
// kept as they are, in a stream of their own. Raw traces are one stream of addresses, and what is left over at their
// end.
//
// File: the magic "LFRC\1\n", then zstd of: format, whether the last line ended, the streams (how their lines look;
// their pieces), the order's pieces, the kept lines. Numbers are LEB128, signed ones zigzag. Expanding generates the
// pieces again, so it needs memory for the pieces only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "reconstruct/records.h"
#include "support/result.h"

namespace loopfold::reconstruct {

struct Compressed {
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::optional<std::uint64_t> zstd_bytes;  // what zstd -19 alone makes of it, if it was asked for
  std::uint64_t accesses = 0;
  std::uint64_t pieces = 0;
  std::uint64_t kept_lines = 0;
};

/// Compresses the trace at `path` ("-": standard input) into `output`. `compare_up_to`: files up to this size are also
/// compressed with zstd -19, for comparison.
Result<Compressed> compress(const std::string& path, std::optional<Format> format, const std::string& output,
                            std::uint64_t compare_up_to);

/// Writes the original of the compressed trace at `path` to `output` ("-": standard output). How many bytes that were.
Result<std::uint64_t> expand(const std::string& path, const std::string& output);

}  // namespace loopfold::reconstruct
