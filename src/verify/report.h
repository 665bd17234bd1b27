// What `verify` has found, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace loopfold::verify {

/// Instances that speak against a claim: from one instruction to another.
struct Violation {
  std::string kind;                                // "register", "memory", "environment", "control", "turn", ...
  std::optional<profile::Source> from;             // that produces
  std::optional<profile::Source> to;               // that uses
  std::string from_text;                           // the same for people: "heat.c:12"
  std::string to_text;
  std::string object;                              // empty if not known
  std::vector<std::uint64_t> producer;             // iteration vectors of the first instance, outermost loop first
  std::vector<std::uint64_t> consumer;
  std::uint64_t count = 0;
  std::string why;                                 // one phrase
};

/// Something that the profile says, and whether it holds.
struct Claim {
  enum class Kind : std::uint8_t { kParallel, kReduction, kBlocking, kSchedule, kBand };
  enum class Outcome : std::uint8_t { kHolds, kViolated, kUnknown };
  Kind kind = Kind::kParallel;
  Outcome outcome = Outcome::kHolds;
  std::uint32_t region = 0;
  std::optional<std::uint32_t> node;       // of the tree: the loop
  std::optional<profile::Source> source;   // of the loop, or the region
  std::string text;                        // what is claimed, for people
  std::string loops;                       // of a band: its members, by their lines
  std::uint64_t checked = 0;               // instances looked at
  std::vector<Violation> violations;       // most instances first
  std::string why;                         // kUnknown: what is in the way
};

struct Report {
  std::vector<Claim> claims;
  bool partial = false;   // the trace is
  std::string damage;     // one line if it could not be read to its end
  std::uint64_t instructions = 0;
  std::uint64_t replays = 0;
  bool holds() const;
};

std::string_view kind_name(Claim::Kind kind);
std::string_view outcome_name(Claim::Outcome outcome);

struct TextOptions {
  bool all = false;  // claims that hold, too
};

/// For people: one line per claim, and what violates it.
std::string report_text(const Report& report);

/// One JSON document.
std::string report_json(const Report& report);

}  // namespace loopfold::verify
