// How a variable is written in a clause of a loop, from the name that tells it from all others.
//
// The static variable `tmp` of main is `main::tmp`, and that of a Fortran module `module::tmp`: `tmp` is what the
// source says. A static variable of another function cannot be named at all. C++ names with namespaces stay as they
// are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "poly/describe.h"

namespace loopfold::advise::liveness {

/// Names in the loops of one function, or of functions that are inlined in each other.
class ClauseNames {
 public:
  /// `functions` are those that the loop is in, `file` is its source.
  ClauseNames(std::vector<std::string> functions, std::string_view file);
  ClauseNames(const poly::Context& context, structure::ContextId loop);

  /// Empty: a clause cannot name it.
  std::string of(std::string_view variable) const;

 private:
  enum class Language : std::uint8_t { kC, kFortran, kOther };
  static Language language_of(std::string_view file);

  std::vector<std::string> functions_;
  Language language_ = Language::kOther;
};

}  // namespace loopfold::advise::liveness
