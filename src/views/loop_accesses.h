// The loads and stores inside a loop, by source line: what they touch, and how far they move when the loop goes round.
//
// From the accesses of a folded profile: an access belongs to a loop if one coordinate of its statement counts that
// loop (or a copy of it), and its coefficient there is its stride, in bytes. Accesses of one line, kind, size, object
// and stride are one row; counts are added. An access in several pieces has the stride that all of them have. Linear in
// the profile's accesses; as exact as its coefficients: an access that is not affine along the loop has no stride.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::views {

struct LoopAccess {
  std::optional<profile::Source> source;
  profile::Access::Kind kind = profile::Access::Kind::kLoad;
  std::uint64_t size = 0;
  std::uint32_t object = 0;
  profile::Coefficient stride;  // bytes within the block
  bool other_block = false;     // the block differs from iteration to iteration, or may
  bool wraps = false;           // where it leaves a range, it goes on at the other end of that
  std::uint64_t count = 0;
};

/// What an access does when the loop that a coordinate of its statement counts goes round.
LoopAccess access_along(const profile::Access& access, std::size_t coordinate);

/// Does it stay where it is, or move by its own size?
bool is_near(const LoopAccess& access);

/// Most instances first.
std::vector<LoopAccess> accesses_of(const profile::Profile& profile, const profile::Loop& loop);

/// "stays", "next element", "+512 bytes", "irregular", "another block"; "next, wraps" in a circular buffer.
std::string stride_text(const LoopAccess& access);

}  // namespace loopfold::views
