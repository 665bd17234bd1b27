// The language of `loopfold check --schedule`: steps, one per line or separated by semicolons.
//
//     interchange 12 13        parallel 12 reduction      skew 13 12 1        distribute 12 at 15
//     tile 12,13 32            vector 14 reduction        fuse 12 20          reverse 13            private tmp
//
// A loop is LINE, FILE:LINE or LINE@node; # begins a comment. Text that begins with { is isl's: a map from statements
// to times. Errors say which step is wrong, and how it should look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace loopfold::advise {

/// How a loop is named.
struct LoopRef {
  std::string file;  // empty: any
  int line = 0;
  std::optional<std::uint32_t> node;
  std::string text;
};

struct Step {
  enum class Kind : std::uint8_t {
    kInterchange,
    kTile,
    kParallel,
    kVector,
    kSkew,
    kFuse,
    kDistribute,
    kReverse,
    kPrivate,
  };
  Kind kind = Kind::kParallel;
  std::vector<LoopRef> loops;
  std::int64_t number = 0;    // of tile: the size; of skew: the factor
  std::optional<LoopRef> at;  // of distribute
  bool reduction = false;     // of parallel and vector
  std::string variable;       // of private
  std::string text;           // as it was written
};

struct ScheduleText {
  std::vector<Step> steps;
  std::string isl;  // not empty: a map instead of steps
};

Result<ScheduleText> parse_schedule(std::string_view text);

}  // namespace loopfold::advise
