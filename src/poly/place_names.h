// Names for addresses of the run: what a profile may say of them, and what a person reads.
//
// An address of code becomes a file and an address in it, or a source. Never a bare address: it would be another one in
// the next run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "profile/profile.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly {

/// Symbolizer::locate, or a stand-in for it.
using Locate = std::function<const symbols::Location&(std::uint64_t)>;

/// An instruction: the file it is in, and its address there as objdump shows it. 0 for code in no file.
struct CodeAddress {
  std::string module;
  std::uint64_t address = 0;
};

/// The last part of a path.
std::string base_name(const std::string& path);

class PlaceNames {
 public:
  explicit PlaceNames(Locate locate) : locate_(std::move(locate)) {}

  std::optional<profile::Source> source(std::uint64_t address) const;
  CodeAddress code(std::uint64_t address) const;
  /// "hist.c:12", or "" without lines.
  std::string line(std::uint64_t address) const;

 private:
  Locate locate_;
};

}  // namespace loopfold::poly
