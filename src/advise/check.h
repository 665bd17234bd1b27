// `loopfold check`: is an order of a region's loops right, for what this run did?
//
// An order is made by steps (check_steps.h) or given as isl maps. It is right if
// - every value and every decision still comes before what needs it: all dependences of the nest's program, and all
// flow
//   through its variables, none left out;
// - no live range is cut by another one (liveness/conflicts.h), as it is, or after private copies or expansion
//   (liveness/repair.h).
// A reduction's chain may run in parallel, or in vectors, only where the step says `reduction`; where that is all that
// an illegal order lacks, the answer says so.
//
// The answer holds for the recorded run. It is `unknown`, and why, where something about the nest is not known, where
// its statements cannot be told apart well enough, and where isl's budget is used up. "Legal" is never said on less
// than a proof: the order as written is examined first, in the same way, and if even that does not come out right,
// nothing is said about another one. "Illegal" needs a proof as well (check_certain.h): dependences hold more than
// happened where folding gave up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/check_nest.h"
#include "advise/check_steps.h"
#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/region_flow.h"
#include "profile/profile.h"
#include "support/result.h"

namespace loopfold::advise {

struct CheckOptions {
  std::optional<std::uint32_t> region;  // none: the one that the steps name, or the hottest
  bool expansion = true;
  std::uint64_t operations = 20'000'000;  // of isl
  /// An order that is found to be illegal is not looked at any further: nobody wants to know where, and how often.
  bool only_verdict = false;
};

/// A pair of instances that the order puts the wrong way round.
struct Violation {
  std::string variable;  // that the value goes through; empty if it has no name
  std::optional<profile::Source> from;
  std::optional<profile::Source> to;
  std::string kind;                    // "register", "memory", "control", "environment"
  bool reduction = false;              // a step of a chain that may be done in any order
  std::string pairs;                   // isl
  std::optional<std::uint64_t> count;  // of pairs, if isl could count them
  std::vector<std::int64_t> producer;  // an example: counters, outermost first
  std::vector<std::int64_t> consumer;
};

/// Live ranges that collide, and what helps.
struct Collision {
  std::string variable;
  std::string repair;  // "private", "expand", "none", "unknown"
  std::string clause;
  std::vector<std::uint32_t> along;  // nodes of loops
  std::vector<std::string> along_lines;
  std::optional<std::uint64_t> bytes;
  std::string why;  // of "unknown" and "none"
  std::optional<profile::Source> source;
};

struct CheckAnswer {
  enum class Verdict : std::uint8_t { kLegal, kLegalAfter, kIllegal, kUnknown };
  Verdict verdict = Verdict::kUnknown;
  std::string why;  // of kUnknown
  std::uint32_t region = 0;
  std::vector<std::uint32_t> also;  // other regions that have loops in the lines that are named
  std::vector<std::string> steps;
  std::vector<Violation> violations;
  std::vector<Collision> collisions;
  std::vector<std::string> privates;     // that were declared
  std::vector<profile::Source> assumes;  // of what is legal: branches on data that always went one way
  std::size_t dependences = 0;           // that were examined
  std::size_t storages = 0;
  std::string schedule;   // isl
  std::string next;       // with --no-expansion: an order that needs none, if one was found
  std::string reduction;  // of kIllegal: the steps with `reduction` where that makes them legal
};

/// An error where the schedule makes no sense for the program.
Result<CheckAnswer> check(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                          const profile::Profile& profile, const ScheduleText& schedule, const CheckOptions& options,
                          BuiltNests* built = nullptr);

/// The order as written, as a file to edit.
Result<std::string> schedule_template(const ddg::Graph& graph, const poly::Context& context,
                                      const poly::RegionFlow& flow, const profile::Profile& profile,
                                      const CheckOptions& options);

/// The live ranges of a nest, as λ sets. The schedule, which may be empty, only says which nest is meant.
Result<std::string> live_range_text(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                                    const profile::Profile& profile, const ScheduleText& schedule,
                                    const CheckOptions& options);

std::string answer_text(const CheckAnswer& answer);
std::string answer_json(const CheckAnswer& answer);

}  // namespace loopfold::advise
