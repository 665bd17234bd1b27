// Random streams for the comparison of folders with the reference.
//
// A stream is what a statement of a random program would give: the points of a nest of loops with bounds that are
// affine in the outer counters, or decided by data, filtered by guards; and a function of the point for every label,
// from affine to arbitrary. Other streams are sets of points without any program behind them, and a few have points out
// of order. Everything follows from the seed, on every machine.
//
// A *regular* stream is one of which it is known by construction in how few pieces it can be written.
#pragma once

#include <cstdint>
#include <string>

#include "reference/fold_reference.h"

namespace loopfold::fold::reference {

/// Random numbers that are the same everywhere (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t in(std::int64_t low, std::int64_t high);  // both included
  bool chance(int percent) { return in(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

/// LOOPFOLD_SEED, where the seeds of a test start (1); LOOPFOLD_STREAMS times LOOPFOLD_SOAK, how many there are.
std::uint64_t first_seed();
std::uint64_t streams(std::uint64_t otherwise);

/// A stream of at most `most` points, of any family.
Stream random_stream(std::uint64_t seed, std::size_t most);

/// A stream of at most 8 points on a small grid with labels 0 .. 2, for fewest_pieces().
Stream tiny_stream(std::uint64_t seed);

struct Regular {
  Stream stream;
  std::size_t published = 0;  // pieces that the published algorithm needs, in all variants; 0: not said
  std::size_t adaptive = 0;   // pieces that kAuto needs
};

/// Families of regular streams.
enum class Family {
  kSlopes,        // bounds along which every corner moves by -1, 0 or 1: one piece for all
  kSteep,         // any slopes
  kStrided,       // a step, or a guard i % s == r, in some dimensions
  kFractional,    // the same, and labels that count the steps
  kModular,       // labels modulo a constant along one dimension
  kDiagonal,      // labels (i + j) % M
  kCheckerboard,  // a guard (i + j) % 2: two pieces
  kRows,          // affine along the inner dimension, an arbitrary base per row
};
/// All that can be written exactly in a few pieces.
inline constexpr Family kExactFamilies[] = {Family::kSlopes,      Family::kSteep,   Family::kStrided,
                                            Family::kFractional,  Family::kModular, Family::kDiagonal,
                                            Family::kCheckerboard};

std::string_view family_name(Family family);
Regular regular_stream(Family family, std::uint64_t seed);

}  // namespace loopfold::fold::reference
