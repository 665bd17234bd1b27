// The option --html of commands that write a page: what it is called, whether it can work, and writing the file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "profile/profile.h"
#include "support/result.h"

namespace loopfold::cli {

class HtmlOption {
 public:
  /// Adds --html FILE, and --source DIR, below which source files are looked for.
  void describe(CLI::App& app, const std::string& help);
  /// Adds --html FILE only: for a page that shows no source.
  void describe_page(CLI::App& app, const std::string& help);
  bool wanted() const { return !path_.empty(); }

  /// An Error (environment) if a page is wanted and this program has no template for it: to be asked before long work.
  Result<void> ready() const;

  /// Writes the report page of a profile of DIR, if one is wanted, and says so unless `quiet`.
  Result<void> write(const profile::Profile& profile, const std::string& directory, bool quiet) const;

  /// Writes any page.
  Result<void> write(std::string_view page, bool quiet) const;

 private:
  std::string path_;
  std::string source_ = ".";
};

}  // namespace loopfold::cli
