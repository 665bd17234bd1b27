// Names for what is found: source lines of nodes, and the objects that addresses are in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "symbols/symbolizer.h"
#include "verify/flow.h"

namespace loopfold::verify {

class Names {
 public:
  /// `tree` is that of the profile, `nodes` says by context which node of it shows it.
  Names(symbols::Symbolizer& symbolizer, const std::vector<profile::TreeNode>& tree,
        const std::vector<std::uint32_t>& nodes)
      : symbolizer_(symbolizer), tree_(tree), nodes_(nodes) {}

  /// The line of a node; of code without lines, that of the nearest call on the way to it.
  std::optional<profile::Source> source(const Node& node) const;
  /// "heat.c:12", or a function, or an address in a file.
  std::string text(const Node& node) const;

 private:
  symbols::Symbolizer& symbolizer_;
  const std::vector<profile::TreeNode>& tree_;
  const std::vector<std::uint32_t>& nodes_;
};

std::string text_of(const std::optional<profile::Source>& source);

}  // namespace loopfold::verify
