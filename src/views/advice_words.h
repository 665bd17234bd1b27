// What a report says of the transformations of a region, and of a suggestion: words and short phrases.
//
// From Transformed, the loops' verdicts and the suggestions of a profile; nothing is judged here. A transformation is
// "yes" (all of the region's operations), a share of them, "no", or "?" where it is not known. What is not a yes is
// explained: by the dependence that the outermost (for SIMD: the innermost) blocked loop carries, by a suggestion
// that is known to be illegal, or by why no schedule was found. All text is inert.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/report_words.h"

namespace loopfold::views {

/// One row of the table of regions.
struct Transformations {
  std::string parallel;
  std::string simd;
  std::string interchange;  // "17,19": the lines of the loops that change places
  std::string tile;         // "3D"
  std::string skew;
  std::string fuse;                  // "4 to 2": outermost loops before and after
  std::vector<std::string> why_not;  // one phrase each, the most important first
};

/// A suggestion with the region that it is of.
struct RankedSuggestion {
  const profile::Region* region = nullptr;
  const profile::Suggestion* suggestion = nullptr;
};

class AdviceWords {
 public:
  explicit AdviceWords(const ReportWords& words) : report_(words), words_(words.words()), profile_(words.profile()) {}

  const Words& words() const { return words_; }
  /// The region's outermost loop: "heat.c:17".
  std::string region(const profile::Region& region) const;

  Transformations transformations(const profile::Region& region) const;
  /// What the columns of the table of regions mean.
  static std::string legend();

  /// "3D", "no".
  static std::string tile_depth(std::uint32_t depth);
  /// "1.9x".
  static std::string gain(double gain);
  static std::string legal(profile::Suggestion::Legal legal);
  /// "heat.c:17, heat.c:19".
  std::string lines(const profile::Suggestion& suggestion) const;
  /// "a private copy of tmp along heat.c:17 for each thread: private(tmp)".
  std::string requirement(const profile::Requirement& requirement) const;
  /// The loop of a node of the tree: "heat.c:17".
  std::string loop(std::uint32_t node) const;
  /// "heat.c:29 carries plate (heat.c:11 to heat.c:11, distance 1)".
  std::string carries(const profile::Loop& loop) const;
  /// What a schedule makes of a region in one sentence each: the steps, skews, interchanges, bands.
  std::vector<std::string> schedule(const profile::Region& region) const;

 private:
  const profile::Reduction* reduction_of(const profile::Requirement& requirement) const;
  std::string interchanges(const profile::Transformed& transformed) const;
  std::vector<std::string> why_not(const profile::Region& region) const;
  std::string band(const profile::Band& band) const;

  const ReportWords& report_;
  const Words& words_;
  const profile::Profile& profile_;
};

/// Those that are legal or may be, the greatest gain first; of equal gain, what is legal first, then the larger region.
std::vector<RankedSuggestion> ranked_suggestions(std::span<const profile::Region* const> regions);

}  // namespace loopfold::views
