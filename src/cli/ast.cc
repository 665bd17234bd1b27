// `loopfold ast`: the loops of a region as a program, as they are written or in the new order.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "cli/analysis.h"
#include "cli/terminal.h"
#include "cli/trace_commands.h"
#include "views/ast_text.h"

namespace loopfold::cli {

namespace {

class AstCommand : public Command {
 public:
  std::string name() const override { return "ast"; }
  std::string summary() const override { return "The loops of each region as a program, as written or transformed"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--region", region_, "This region only (its number, as in the report)")->type_name("R");
    app.add_flag("--transformed", options_.transformed, "In the new order instead of as written");
    app.add_flag("--full", options_.full, "All bounds and statements, not only the loops that matter");
    app.add_flag("-q,--quiet", quiet_, "No progress");
  }

  int run(const CLI::App&) override {
    const Result<profile::Profile> profile = whole_profile_of(directory_, quiet_);
    if (!profile) return report(profile.error());
    if (region_ && *region_ >= profile->regions.size())
      return report({ErrorKind::kUsage, profile->regions.empty()
                                            ? fmt::format("--region {}: there are no regions", *region_)
                                            : fmt::format("--region {}: no such region; they are 0 to {}", *region_,
                                                          profile->regions.size() - 1)});
    options_.region = region_;
    options_.charset = output_charset();
    const std::string text = views::ast_text(*profile, options_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }

 private:
  std::string directory_ = "loopfold.out";
  std::optional<std::uint32_t> region_;
  views::AstOptions options_;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_ast() { return std::make_unique<AstCommand>(); }

}  // namespace loopfold::cli
