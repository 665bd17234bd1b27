// Orders made by steps: what interchanging, tiling, skewing and so on does to the times of a nest's units.
//
// A time is a list of rows, each the sum of counters and a constant, perhaps divided by a tile size. As written, rows
// are places and counters in turn (liveness/nest_units.h). A step changes rows, or puts a new one in front of others;
// whether the result is right is not its business (check.h proves that).
//
// Statements that are in only one of two interchanged loops go in front of the nest or behind it, as in the source. In
// a tiled band, those that are not in all of its loops go to the beginning or the end of their tile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/check_steps.h"
#include "advise/liveness/nest_units.h"
#include "advise/liveness/storage.h"
#include "support/result.h"

namespace loopfold::advise {

/// A loop of the source, as steps name it.
struct NamedLoop {
  std::string name;                                 // "12"
  std::vector<structure::ContextId> loops;          // contexts
  std::vector<std::optional<std::uint32_t>> where;  // by unit: the coordinate that counts it
  std::uint64_t trips = 1;
  std::uint32_t node = 0;  // of the profile's tree
};

struct TimeRow {
  std::vector<std::int64_t> coefficients;  // by coordinate of the unit
  std::int64_t constant = 0;
  std::int64_t divisor = 1;
  std::optional<std::uint32_t> loop;  // the loop that it stands for
  bool tile = false;
};

class StepOrder {
 public:
  /// As written.
  StepOrder(const liveness::NestUnits& units, const std::vector<NamedLoop>& loops);

  // What steps do; an error if one makes no sense here. Loops are numbers of NamedLoops.
  Result<void> interchange(std::uint32_t a, std::uint32_t b);
  Result<void> tile(std::vector<std::uint32_t> loops, std::int64_t size);
  Result<void> skew(std::uint32_t a, std::uint32_t b, std::int64_t factor);
  Result<void> fuse(std::uint32_t a, std::uint32_t b);
  /// `parts`: by unit, which of the new loops it goes to.
  Result<void> distribute(std::uint32_t loop, const std::vector<std::int64_t>& parts);
  Result<void> reverse(std::uint32_t loop);
  /// Its outermost row (of a vectorised one: its innermost) is parallel.
  Result<void> parallel(std::uint32_t loop, bool innermost);

  liveness::Times times(isl_ctx* isl) const;
  const std::vector<std::vector<TimeRow>>& rows() const { return rows_; }

 private:
  bool is_in(std::size_t unit, std::uint32_t loop) const { return loops_[loop].where[unit].has_value(); }
  /// Of the loop: the first row, or the last one that is no row of tiles.
  std::optional<std::size_t> row_of(std::size_t unit, std::uint32_t loop, bool last) const;
  std::optional<std::size_t> common_row(std::uint32_t loop, bool last) const;
  void insert(std::size_t at);
  bool comes_before(std::size_t unit, std::size_t other, std::size_t first, std::size_t last) const;
  static Result<void> refuse(const std::string& why);

  const liveness::NestUnits& units_;
  const std::vector<NamedLoop>& loops_;
  std::vector<std::vector<TimeRow>> rows_;   // by unit, all of one length
  std::vector<std::vector<bool>> parallel_;  // by unit and row
};

}  // namespace loopfold::advise
