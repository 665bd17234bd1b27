// A schedule as the profile has it (isl text), made ready to be asked when single instances run.
//
// { S3[i, j] -> [i + j, j, 0]; ... }: one map per statement. A map that is one affine function becomes rows of numbers,
// once; any other (pieces, divisions) is asked through isl, one instance at a time, and the answers are kept. Both are
// exact. An instance outside of a map's domain has no time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"

namespace loopfold::verify {

class Schedule {
 public:
  /// An Error if the text is no such union of maps: not a function, parameters, names other than S<number>, ranges of
  /// different sizes.
  static Result<Schedule> parse(const std::string& text);
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(Schedule&&) noexcept;
  ~Schedule();

  /// How many coordinates a time has.
  std::size_t dimensions() const { return dimensions_; }
  bool has(std::uint32_t statement) const;
  /// How many counters the statement's instances have in the schedule.
  std::size_t counters(std::uint32_t statement) const;
  /// When an instance runs.
  std::optional<std::vector<std::int64_t>> time(std::uint32_t statement, std::span<const std::int64_t> instance) const;

 private:
  struct Library;
  struct Statement;
  Schedule();
  std::shared_ptr<Library> library_;
  std::map<std::uint32_t, std::unique_ptr<Statement>> statements_;
  std::size_t dimensions_ = 0;
};

}  // namespace loopfold::verify
