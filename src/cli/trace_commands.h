// What the `trace` subcommands share: opening a trace, and how numbers and highlights look.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "support/result.h"
#include "trace/reader.h"
#include "trace/system_calls.h"

namespace loopfold::cli {

using trace::find_system_call;
using trace::system_call_name;
using trace::SystemCall;

std::unique_ptr<Command> make_trace_info();
std::unique_ptr<Command> make_trace_dump();
std::unique_ptr<Command> make_trace_check();

/// Adds the positional DIR with its default.
void add_directory(CLI::App& app, std::string& directory);

/// Opens the trace of DIR, or the trace file that DIR is.
Result<std::unique_ptr<trace::Reader>> open_trace(const std::string& directory);

/// Why the trace is partial, in one sentence without a full stop; empty if it is whole.
std::string why_partial(const trace::Reader& reader);

/// Writes out what stdout holds. A closed pipe is no error: whoever read has seen enough.
int finish_output();

/// "SIGALRM", or "signal 40".
std::string signal_name(std::uint32_t number);

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);
/// "1 thread", "2 threads".
std::string plural(std::uint64_t number, std::string_view noun);

/// Highlights for a terminal; plain text if the stream is none, or with NO_COLOR.
class Paint {
 public:
  explicit Paint(std::FILE* stream);
  std::string strong(std::string_view text) const { return painted("\x1b[1m", text); }
  std::string good(std::string_view text) const { return painted("\x1b[32m", text); }
  std::string caution(std::string_view text) const { return painted("\x1b[1;33m", text); }
  std::string bad(std::string_view text) const { return painted("\x1b[1;31m", text); }
  std::string faint(std::string_view text) const { return painted("\x1b[2m", text); }

 private:
  std::string painted(std::string_view code, std::string_view text) const;
  bool on_ = false;
};

}  // namespace loopfold::cli
