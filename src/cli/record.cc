// `loopfold record`: runs a program under the recorder and writes its trace.
#include "cli/command.h"
#include "cli/record_options.h"
#include "recorder/host/session.h"

namespace loopfold::cli {

namespace {

class Record : public Command {
 public:
  std::string name() const override { return "record"; }
  std::string summary() const override { return "Run a program and record what it does"; }

  void describe(CLI::App& app) override {
    recording_.describe(app, name());
    app.footer(
        "The program's input, output, environment and exit status are its own. Exit status: the program's;\n"
        "128+n if signal n killed it; 127 not found; 126 cannot be run; 125 Loopfold failed.\n\n"
        "  loopfold record -- ./heat 100 100\n"
        "  loopfold record --only solve -o solve.out -- ./heat 100 100");
  }

  void set_program(std::vector<std::string> argv) override { recording_.set_program(std::move(argv)); }

  int run(const CLI::App& app) override {
    const std::optional<std::vector<std::string>> argv = recording_.program(app);
    if (!argv) return kRecorderFailed;
    const std::optional<recorder::RecordOptions> options = recording_.options();
    return options ? recorder::record(*options, *argv).status : int{kRecorderFailed};
  }

 private:
  RecordingOptions recording_;
};

}  // namespace

std::unique_ptr<Command> make_record() { return std::make_unique<Record>(); }

}  // namespace loopfold::cli
