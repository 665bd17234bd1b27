// `loopfold trace`: look into a trace (info), read it (dump), test it (check). One file each; here is what they share.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cli/command_group.h"
#include "cli/trace_commands.h"

namespace loopfold::cli {

namespace {

class TraceCommand : public CommandGroup {
 public:
  std::string name() const override { return "trace"; }
  std::string summary() const override { return "Show, print or test a recorded trace"; }

 private:
  std::vector<std::unique_ptr<Command>> commands() const override {
    std::vector<std::unique_ptr<Command>> all;
    all.push_back(make_trace_info());
    all.push_back(make_trace_dump());
    all.push_back(make_trace_check());
    return all;
  }
};

}  // namespace

std::unique_ptr<Command> make_trace() { return std::make_unique<TraceCommand>(); }

void add_directory(CLI::App& app, std::string& directory) {
  app.add_option("DIR", directory, "Directory of the trace, or a trace file")->capture_default_str();
}

Result<std::unique_ptr<trace::Reader>> open_trace(const std::string& directory) {
  const Result<std::string> file = trace_file(directory);
  if (!file) return tl::unexpected<Error>(file.error());
  return trace::Reader::open(*file);
}

std::string why_partial(const trace::Reader& reader) {
  if (!reader.partial()) return "";
  if (!reader.damage().empty()) return fmt::format("the file is {}; what stands before that is shown", reader.damage());
  return "there is no end record: recording was killed, or still runs; what was written by then is shown";
}

int finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return kSuccess;
  if (errno == EPIPE) return kSuccess;
  return report({ErrorKind::kEnvironment,
                 fmt::format("standard output: cannot write: {}; is the disk full?", std::strerror(errno))});
}

std::string signal_name(std::uint32_t number) {
  const char* const name = ::sigabbrev_np(static_cast<int>(number));
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string plural(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

Paint::Paint(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  on_ = ::isatty(::fileno(stream)) != 0 && (no_color == nullptr || *no_color == '\0');
}

std::string Paint::painted(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("{}{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace loopfold::cli
