// A command that has commands below it: `loopfold trace`, `loopfold layout`.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"

namespace loopfold::cli {

class CommandGroup : public Command {
 public:
  void describe(CLI::App& app) final {
    app.require_subcommand(1);
    commands_ = commands();
    for (const std::unique_ptr<Command>& command : commands_) {
      CLI::App* sub = app.add_subcommand(command->name(), command->summary());
      command->describe(*sub);
      apps_.push_back(sub);
    }
  }

  int run(const CLI::App&) final {
    for (std::size_t i = 0; i < apps_.size(); i++)
      if (apps_[i]->parsed()) return commands_[i]->run(*apps_[i]);
    return kUsage;
  }

 protected:
  virtual std::vector<std::unique_ptr<Command>> commands() const = 0;

 private:
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<CLI::App*> apps_;
};

}  // namespace loopfold::cli
