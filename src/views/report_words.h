// What a report says of a loop: a word for its verdict, and why, in phrases that a newcomer understands.
//
// A plain "parallel" is said only where it is known that iterations share no memory that would have to be made private;
// until that is decided there is an asterisk, and a footnote. All text is inert (text.h).
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "views/row.h"
#include "views/words.h"

namespace loopfold::views {

class ReportWords {
 public:
  explicit ReportWords(const profile::Profile& profile, Charset charset = Charset::kUnicode)
      : profile_(profile), words_(profile, charset) {}

  const Words& words() const { return words_; }
  const profile::Profile& profile() const { return profile_; }
  Charset charset() const { return words_.charset(); }

  /// "parallel", "parallel*", "reduction(+)*", "no", "unknown".
  std::string verdict(const profile::Loop& loop) const;
  static Style style(const profile::Loop& loop);
  static bool has_footnote(const profile::Loop& loop);
  static std::string footnote();

  /// "heat.c:17", or "libm.so.6+0x1234" without line information.
  std::string where(const profile::Loop& loop) const;
  /// "multiply", or "multiply, inlined in main".
  std::string function(const profile::Loop& loop) const;
  /// How often it goes round when it is entered: "64", "~150.5" on average.
  std::string trips(const profile::Loop& loop) const;

  /// The name of an object; empty if there is none.
  std::string object(const std::optional<std::uint32_t>& object) const;

  /// Why the verdict is what it is, and what it needs; one phrase each, the most important first.
  std::vector<std::string> reasons(const profile::Loop& loop) const;
  /// Of a loop with hidden loops: that it is one, and what holds for its blocks of iterations. Else nothing.
  std::string blocks(const profile::Loop& loop) const;

 private:
  std::string place(const std::optional<profile::Source>& source) const;
  std::string reduction(const profile::Reduction& reduction) const;
  std::string doubt(const profile::Doubt& doubt) const;
  std::string touched(const std::vector<profile::Touched>& list) const;
  std::string assumptions(const std::vector<profile::Assumption>& list) const;
  void add_conditions(const profile::Loop& loop, std::vector<std::string>& reasons) const;

  const profile::Profile& profile_;
  Words words_;
};

}  // namespace loopfold::views
