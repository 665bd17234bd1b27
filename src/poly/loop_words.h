// What a verdict says of a loop, in words and places: dependences that block it, reductions, loads to repeat, doubts.
//
// From instructions of the graph to sources, objects and phrases of a profile. A place without a line is named by the
// nearest call on the way to it that has one; without any, by its file and the address in it. Phrases name files by the
// last part of their path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/place_names.h"
#include "poly/verdicts.h"
#include "profile/profile.h"

namespace loopfold::poly {

class LoopWords {
 public:
  /// All must outlive it. The profile must have its tree.
  LoopWords(const ddg::Graph& graph, const Context& context, const profile::Profile& profile)
      : graph_(graph), context_(context), names_(context.locate), profile_(profile) {}

  /// The text is without the count.
  profile::Blocking blocking(const Blocking& from) const;
  profile::Reduction reduction(const Reduction& from) const;
  profile::Touched reload(const CodePoint& load) const;
  profile::Assumption assumption(const CodePoint& branch) const;
  profile::Doubt doubt(const Doubt& from) const;

 private:
  /// Where something happens, for scripts and for people.
  struct Place {
    std::optional<profile::Source> source;
    std::string text;  // "a.c:12", "rand called at a.c:12", "gzip+0x3c27"
    friend bool operator==(const Place&, const Place&) = default;
  };

  Place place(const CodePoint& at) const;
  std::optional<Place> place_of_call(std::uint32_t node) const;
  std::string system_call(const CodePoint& at) const;
  std::string text(const Blocking& from) const;

  const ddg::Graph& graph_;
  const Context& context_;
  PlaceNames names_;
  const profile::Profile& profile_;
};

/// "+", "max": as a reduction of the operation is written. Subtraction is addition.
const char* operator_name(trace::Associative operation);

/// "(once)", "(56 times)".
std::string times_text(std::uint64_t count);

}  // namespace loopfold::poly
