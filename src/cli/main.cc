// The loopfold command: finds the subcommand, lets it parse its options, runs it.
//
// The same binary is what Valgrind starts in place of a program that a recorded one execs (with --follow-children):
// then the first argument is --tool=loopfold, and the launcher takes over. `serve-child` is the recording process of a
// forked child, started by the recorder itself. Neither is for people.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cli/command.h"
#include "recorder/host/launcher.h"
#include "support/print.h"
#include "support/version.h"

namespace {

using namespace loopfold;
using namespace loopfold::cli;

std::string version_text() {
  return fmt::format("loopfold {} (recorder built on Valgrind {})", kVersion, kValgrindVersion);
}

/// The `--` that ends a command's own options, if there is one: a program named without it may have its own.
char** find_dashes(const std::vector<CLI::App*>& apps, char** argv, char** end) {
  if (end - argv < 2) return end;
  const auto named = [&](const CLI::App* app) { return app->get_name() == argv[1]; };
  const auto app = std::find_if(apps.begin(), apps.end(), named);
  for (char** word = argv + 2; app != apps.end() && word < end; word++) {
    if (std::strcmp(*word, "--") == 0) return word;
    if (**word != '-') return end;
    const CLI::Option* option = (*app)->get_option_no_throw(*word);
    if (option != nullptr && option->get_items_expected_max() > 0) word++;
  }
  return end;
}

/// Files that this process opens must not take the place of standard ones that were closed.
void fill_standard_files() {
  for (int fd = 0; fd < 3; fd++) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", O_RDWR | O_CLOEXEC);
  }
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Profiles a compiled program in one run and folds its execution back into loops."};
  app.name("loopfold");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text());
  app.set_help_all_flag("--help-all", "Help for all subcommands");
  app.footer("Start with:  loopfold run -- ./your-program its arguments");

  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_run());
  commands.push_back(make_record());
  commands.push_back(make_trace());
  commands.push_back(make_analyze());
  commands.push_back(make_report());
  commands.push_back(make_explain());
  commands.push_back(make_ast());
  commands.push_back(make_tree());
  commands.push_back(make_flame());
  commands.push_back(make_export());
  commands.push_back(make_diff());
  commands.push_back(make_check());
  commands.push_back(make_verify());
  commands.push_back(make_reconstruct());
  commands.push_back(make_layout());
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
  char** const dashes = find_dashes(apps, argv, end);
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
    print_stderr("loopfold: error: {}; see loopfold{} --help\n", e.what(), command);
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
  fill_standard_files();
  try {
    if (argc > 1 && std::strcmp(argv[1], "--tool=loopfold") == 0) return recorder::launch_for_valgrind(argc, argv);
    if (argc > 1 && std::strcmp(argv[1], "serve-child") == 0) return recorder::serve_child(argc, argv);
    return parse_and_run(argc, argv);
  } catch (const std::exception& e) {
    print_stderr("loopfold: error: internal: {}; please report this\n", e.what());
    const bool recording = argc > 1 && (std::strcmp(argv[1], "record") == 0 || std::strcmp(argv[1], "run") == 0);
    return recording ? int{kRecorderFailed} : int{kInternal};
  }
}
