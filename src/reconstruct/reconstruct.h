// Reconstruction: the affine loops that generate a sequence of addresses, with no other information.
//
// After Rodríguez et al., "Reconstructing affine codes from their memory traces". A Reconstructor takes the addresses
// of one instruction (or any other numbers: indices, values), one by one, many at once or as runs, and gives *pieces*:
// nests (nest.h) that, one after the other, generate exactly what was fed. An affine sequence is one piece, with the
// fewest loops that the search (search.h) finds; otherwise pieces are as long as it can make them, and what no nest is
// worth writing down for comes as single addresses. Within a tolerance, single addresses that do not fit are noted as
// outliers instead of ending a piece.
//
// Exactness: pieces with their outliers always regenerate the sequence. Cost: an operation or so per row of the
// innermost loop, and some search at each address that bounds do not foretell; memory does not depend on the length.
//
//     reconstruct::Reconstructor r;
//     for (...) r.add_run(row, 8, 100);
//     const reconstruct::Summary& s = r.finish();
//     if (s.pieces == 1) use(r.pieces().front().nest);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reconstruct/nest.h"

namespace loopfold::reconstruct {

struct Options {
  std::size_t max_levels = 8;
  std::uint64_t max_tries = 40000;  // candidates tried for one piece
  bool gamma = true;                // false: bounds are not used to foretell addresses; each one is decided by trying
  /// Of the addresses of a piece, at most this share may be outliers.
  double tolerance = 0;
};

/// An address that a piece's nest does not generate, at its place. `position` counts the addresses of the piece.
struct Outlier {
  enum class Kind : std::uint8_t { kInserted, kReplaced, kMissing };
  Kind kind = Kind::kInserted;
  std::uint64_t position = 0;  // kMissing: in front of the address with this number
  std::uint64_t address = 0;   // of kMissing: none
  friend bool operator==(const Outlier&, const Outlier&) = default;
};

struct Piece {
  Nest nest;
  std::vector<Outlier> outliers;
  /// How many addresses it stands for.
  std::uint64_t count() const;
};

struct Summary {
  std::uint64_t accesses = 0;
  std::uint64_t pieces = 0;
  std::size_t levels = 0;     // of the deepest piece
  std::uint64_t covered = 0;  // accesses in pieces of at least kWorthwhile accesses and one loop
  std::uint64_t outliers = 0;
  std::uint64_t by_bounds = 0;  // accesses that were foretold by bounds (the paper's gamma)
  std::uint64_t by_stride = 0;  // others that were foretold by letting a loop of unknown length go on
  std::uint64_t tries = 0;      // candidates that were tried
  std::size_t peak_bytes = 0;   // of the search
};
inline constexpr std::uint64_t kWorthwhile = 8;

class Reconstructor {
 public:
  using Sink = std::function<void(Piece&&)>;
  /// Pieces are kept, or given to `sink` as they are found.
  explicit Reconstructor(const Options& options = {}, Sink sink = {});
  ~Reconstructor();
  Reconstructor(Reconstructor&&) noexcept;
  Reconstructor& operator=(Reconstructor&&) noexcept;

  void add(std::uint64_t address) { add(std::span<const std::uint64_t>(&address, 1)); }
  void add(std::span<const std::uint64_t> addresses);
  void add_run(std::uint64_t start, std::int64_t stride, std::uint64_t count);

  /// The addresses that are expected next, as many as `into` has room for; says how many there are.
  std::size_t predict(std::span<std::uint64_t> into) const;

  /// No more addresses will come.
  const Summary& finish();
  const Summary& summary() const;
  /// Is all so far explained by one nest?
  bool one_nest_so_far() const;
  const std::vector<Piece>& pieces() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Visits the addresses that a piece stands for, as runs.
void regenerate(const Piece& piece, const std::function<void(const Run&)>& visit);

}  // namespace loopfold::reconstruct
