// The loopfold command: finds the subcommand, lets it parse its options, runs it.
//
// The same binary is what Valgrind starts in place of a program that a recorded one execs (with --follow-children):
// then the first argument is --tool=loopfold, and the launcher takes over. `serve-child` is the recording process of a
// forked child, started by the recorder itself. Neither is for people.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/command.h"
#include "recorder/host/launcher.h"
#include "support/version.h"

namespace {

using namespace loopfold;
using namespace loopfold::cli;

std::string version_text() {
  return fmt::format("loopfold {} (recorder built on Valgrind {})", kVersion, kValgrindVersion);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Profiles a compiled program in one run and folds its execution back into loops."};
  app.name("loopfold");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.set_help_all_flag("--help-all", "Help for all subcommands");
  app.footer("Start with:  loopfold record -- ./your-program its arguments");

  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_record());
  commands.push_back(make_trace());
  commands.push_back(make_doctor());
  std::vector<CLI::App*> apps;
  for (const std::unique_ptr<Command>& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    sub->footer("");
    command->describe(*sub);
    apps.push_back(sub);
  }
  if (argc > 1 && argv[1][0] != '-') {
    const auto is_it = [&](const std::unique_ptr<Command>& command) { return command->name() == argv[1]; };
    if (std::none_of(commands.begin(), commands.end(), is_it)) {
      return report({ErrorKind::kUsage, fmt::format("{}: no such command; see loopfold --help", argv[1])});
    }
  }
  char** const end = argv + argc;
  char** const dashes = std::find_if(argv, end, [](const char* word) { return std::strcmp(word, "--") == 0; });
  const std::vector<std::string> program(dashes == end ? end : dashes + 1, end);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    const std::string command = argc > 1 && argv[1][0] != '-' ? std::string(" ") + argv[1] : "";
    fmt::print(stderr, "loopfold: error: {}; see loopfold{} --help\n", e.what(), command);
    const bool recording = argc > 1 && (std::strcmp(argv[1], "record") == 0 || std::strcmp(argv[1], "run") == 0);
    return recording ? int{kRecorderFailed} : int{kUsage};
  }
  for (std::size_t i = 0; i < apps.size(); i++) {
    if (!apps[i]->parsed()) continue;
    commands[i]->set_program(program);
    return commands[i]->run(*apps[i]);
  }
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::strcmp(argv[1], "--tool=loopfold") == 0) return recorder::launch_for_valgrind(argc, argv);
    if (argc > 1 && std::strcmp(argv[1], "serve-child") == 0) return recorder::serve_child(argc, argv);
    return parse_and_run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "loopfold: error: internal: {}; please report this\n", e.what());
    return kInternal;
  }
}
