// `loopfold layout`: data layouts searched for in a run (search), and those that `#pragma layout` asks for, proved
// (check) and made (generate).
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "advise/layout/rewrite.h"
#include "cli/command_group.h"
#include "cli/layout_commands.h"
#include "cli/trace_commands.h"
#include "support/atomic_file.h"
#include "support/print.h"

namespace loopfold::cli {

namespace {

constexpr std::string_view kStandardOutput = "-";

Result<std::string> read_source(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad())
    return fail(ErrorKind::kBadInput, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text.str();
}

/// What check and generate share: the file, the form, the compiler's options.
class SourceOptions {
 public:
  void describe(CLI::App& app) {
    app.add_option("FILE", file, "C source file with #pragma layout")->required();
    app.add_option("--form", form_, "field (one block of memory) or structs (nested structures)")
        ->check(CLI::IsMember({"field", "structs"}))
        ->capture_default_str();
    app.add_option("-I", includes_, "Directory to look for headers in, as for a compiler")->allow_extra_args(false);
    app.add_option("-D", macros_, "Macro to define, as for a compiler")->allow_extra_args(false);
    app.add_option("--std", standard_, "C standard, as for a compiler")->capture_default_str();
    app.add_flag("-q,--quiet", quiet, "Say nothing unless something goes wrong");
  }

  Result<layout::Rewritten> rewritten(std::string& text) const {
    Result<std::string> read = read_source(file);
    if (!read) return tl::unexpected<Error>(read.error());
    text = std::move(*read);
    layout::RewriteOptions options;
    options.form = form_ == "structs" ? layout::Form::kStructs : layout::Form::kField;
    options.compiler = {"-std=" + standard_};
    for (const std::string& directory : includes_) options.compiler.push_back("-I" + directory);
    for (const std::string& macro : macros_) options.compiler.push_back("-D" + macro);
    return layout::rewrite(file, text, options);
  }

  std::string file;
  bool quiet = false;

 private:
  std::string form_ = "field";
  std::string standard_ = "gnu17";
  std::vector<std::string> includes_;
  std::vector<std::string> macros_;
};

std::string_view proof_text(const layout::Proof& proof) {
  switch (proof.answer) {
    case layout::Answer::kYes:
      return "one-to-one   yes, proved for all sizes";
    case layout::Answer::kNo:
      return "one-to-one   no";
    case layout::Answer::kUnknown:
      return "one-to-one   unknown";
  }
  return "";
}

class CheckCommand : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "Prove the layouts of a source file, and that it can be rewritten"; }
  void describe(CLI::App& app) override { source_.describe(app); }

  int run(const CLI::App&) override {
    std::string text;
    const Result<layout::Rewritten> result = source_.rewritten(text);
    if (!result) return report(result.error());
    if (!source_.quiet) {
      for (const layout::DirectiveSummary& directive : result->directives) show(directive);
      print("{}\n", result->answer == layout::Answer::kYes  ? "can be generated: yes"
                    : result->answer == layout::Answer::kNo ? "can be generated: no"
                                                            : "can be generated: unknown");
      for (const std::string& reason : result->reasons) print("  {}\n", reason);
    }
    const int written = finish_output();
    if (written != kSuccess) return written;
    return result->answer == layout::Answer::kYes ? kSuccess : kAnswerIsNo;
  }

 private:
  template <typename... Arguments>
  static void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    const std::string text = fmt::format(format, std::forward<Arguments>(arguments)...);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }

  void show(const layout::DirectiveSummary& directive) const {
    print("{}:{}: layout of {}\n", source_.file, directive.place.line, plural(directive.arrays.size(), "array"));
    for (const layout::ArraySummary& array : directive.arrays) {
      print("  {:<6} {} of {}, {}\n", layout::transfer_name(array.transfer), array.label, array.domain,
            plural(array.references, "reference"));
      print("         {}\n", array.map);
    }
    print("  {}\n", proof_text(directive.proof));
    if (!directive.memory.empty()) print("  memory       {}\n", directive.memory);
    for (const std::string& assumed : directive.assumed) print("  assumed      {}\n", assumed);
    print("  assumed      the arrays do not overlap each other, nor what other pointers of the region lead to\n");
  }

  SourceOptions source_;
};

class GenerateCommand : public Command {
 public:
  std::string name() const override { return "generate"; }
  std::string summary() const override { return "Rewrite a source file so that its layouts are made"; }
  void describe(CLI::App& app) override {
    source_.describe(app);
    app.add_option("-o,--output", output_, "Write there instead of over FILE; - is standard output");
  }

  int run(const CLI::App&) override {
    std::string text;
    const Result<layout::Rewritten> result = source_.rewritten(text);
    if (!result) return report(result.error());
    if (result->answer != layout::Answer::kYes) {
      const std::size_t more = result->reasons.size() - 1;
      return report(
          {ErrorKind::kBadInput,
           fmt::format("{}{}", result->reasons[0],
                       more == 0 ? "" : fmt::format(" (and {} more: loopfold layout check lists them)", more))});
    }
    if (output_ == kStandardOutput) {
      std::fwrite(result->text.data(), 1, result->text.size(), stdout);
      return finish_output();
    }
    const std::string& path = output_.empty() ? source_.file : output_;
    if (const Result<void> written = write_whole_file(path, result->text); !written) return report(written.error());
    if (!source_.quiet)
      print_stderr("loopfold: wrote {}: {} in {}\n", path, plural(references(*result), "reference"),
                   plural(result->directives.size(), "layout"));
    return kSuccess;
  }

 private:
  static std::size_t references(const layout::Rewritten& result) {
    std::size_t count = 0;
    for (const layout::DirectiveSummary& directive : result.directives)
      for (const layout::ArraySummary& array : directive.arrays)
        if (array.transfer != layout::Transfer::kRedistribute) count += array.references;
    return count;
  }

  SourceOptions source_;
  std::string output_;
};

class LayoutCommand : public CommandGroup {
 public:
  std::string name() const override { return "layout"; }
  std::string summary() const override { return "Search, prove and make data layouts"; }

 private:
  std::vector<std::unique_ptr<Command>> commands() const override {
    std::vector<std::unique_ptr<Command>> all;
    all.push_back(make_layout_search());
    all.push_back(std::make_unique<CheckCommand>());
    all.push_back(std::make_unique<GenerateCommand>());
    return all;
  }
};

}  // namespace

std::unique_ptr<Command> make_layout() { return std::make_unique<LayoutCommand>(); }

}  // namespace loopfold::cli
