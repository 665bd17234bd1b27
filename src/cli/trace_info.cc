// `loopfold trace info`: what was recorded, at a glance.
//
// Everything that can be counted is counted from the events, in one pass, so that a partial trace is described by what
// is in it and not by an end record that it may not have.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "cli/trace_commands.h"
#include "cli/trace_runs.h"

namespace loopfold::cli {

namespace {

using Json = nlohmann::ordered_json;
using trace::EndInfo;

constexpr std::size_t kMostRows = 20;  // of a table, in text

struct ThreadCount {
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::optional<trace::ThreadStart> start;
  bool ended = false;
};

struct MarkCount {
  std::uint64_t begins = 0;
  std::uint64_t ends = 0;
};

/// What one pass over the events finds.
struct Census {
  std::uint64_t instructions = 0;
  std::uint64_t hidden_instructions = 0;
  std::uint64_t events = 0;
  std::uint64_t side_events = 0;
  std::vector<ThreadCount> threads;
  std::vector<std::uint64_t> module_instructions;  // the last one: code in no file
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t frees = 0;
  std::map<std::uint32_t, std::uint64_t> system_calls;
  std::map<std::uint32_t, std::uint64_t> signals;
  std::map<std::string, MarkCount> marks;
  std::string damage;  // of the reader, or what the pass itself met
};

void count_side(const trace::SideEvent& side, Census& census) {
  std::visit(
      [&](const auto& data) {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, trace::ThreadStart>) {
          census.threads[side.thread].start = data;
        } else if constexpr (std::is_same_v<T, trace::ThreadEnd>) {
          census.threads[side.thread].ended = true;
        } else if constexpr (std::is_same_v<T, trace::Allocation>) {
          census.hidden_instructions += data.hidden_instructions;
          if (data.address != 0) {
            census.allocations++;
            census.allocated_bytes += data.size;
          }
          if (data.address == 0 && data.old_address != 0 && data.size == 0) census.frees++;
        } else if constexpr (std::is_same_v<T, trace::Hidden>) {
          census.hidden_instructions += data.instructions;
        } else if constexpr (std::is_same_v<T, trace::SyscallEnter>) {
          census.system_calls[data.number]++;
        } else if constexpr (std::is_same_v<T, trace::Signal>) {
          if (data.enter) census.signals[data.number]++;
        } else if constexpr (std::is_same_v<T, trace::Mark>) {
          MarkCount& mark = census.marks[data.name];
          (data.begin ? mark.begins : mark.ends)++;
        }
      },
      side.data);
}

/// The module that holds the address; of several (a file unmapped, another mapped there) the last. modules.size() if
/// none.
std::size_t module_at(const std::vector<trace::Module>& modules, std::uint64_t address) {
  for (std::size_t i = modules.size(); i > 0; i--) {
    if (address >= modules[i - 1].start && address - modules[i - 1].start < modules[i - 1].size) return i - 1;
  }
  return modules.size();
}

/// Adds how often each exit was taken in the run.
void count_paths(const trace::Run& run, std::vector<std::uint64_t>& executions) {
  std::vector<std::uint64_t> times(run.paths.size());
  if (run.sequence.empty()) {
    times.front() += run.iterations - 1;
    times.back()++;
  }
  for (const std::uint8_t path : run.sequence) times[path]++;
  for (std::size_t i = 0; i < times.size(); i++) {
    for (const trace::ExitId exit : run.paths[i].exits) executions[exit] += times[i];
  }
}

Census take_census(const trace::Reader& reader) {
  Census census;
  census.damage = reader.damage();
  const std::vector<trace::Exit>& exits = reader.exits();
  std::vector<std::uint64_t> executions(exits.size());
  const auto side = [&](const trace::SideEvent& event) {
    if (event.thread >= census.threads.size()) census.threads.resize(std::size_t{event.thread} + 1);
    census.side_events++;
    count_side(event, census);
  };
  // Run by run, so that a long regular trace is counted as fast as a short one.
  trace::CursorOptions options;
  options.control_only = true;
  trace::RunCursor cursor = reader.runs(options);
  for (;;) {
    const Result<trace::RunCursor::Item> item = cursor.next();
    if (!item) census.damage = item.error().message;
    if (!item || *item == trace::RunCursor::Item::kEnd) break;
    if (*item == trace::RunCursor::Item::kSide) {
      side(cursor.side());
      continue;
    }
    const trace::Run& run = cursor.run();
    if (run.thread >= census.threads.size()) census.threads.resize(std::size_t{run.thread} + 1);
    census.threads[run.thread].events += run.events;
    census.threads[run.thread].instructions += run.instructions;
    count_paths(run, executions);
    for (const trace::PlacedSide& placed : run.sides) side(placed.side);
  }
  census.module_instructions.resize(reader.modules().size() + 1);
  for (const trace::Exit& exit : exits) {
    const std::size_t module = module_at(reader.modules(), reader.blocks()[exit.block].address);
    census.module_instructions[module] += executions[exit.id] * exit.instructions;
    census.instructions += executions[exit.id] * exit.instructions;
    census.events += executions[exit.id];
  }
  return census;
}

const char* reason_name(EndInfo::Reason reason) {
  switch (reason) {
    case EndInfo::Reason::kProgramEnded:
      return "program_ended";
    case EndInfo::Reason::kInstructionLimit:
      return "instruction_limit";
    case EndInfo::Reason::kSizeLimit:
      return "size_limit";
    case EndInfo::Reason::kWriteError:
      return "write_error";
    case EndInfo::Reason::kRecorderLost:
      return "recorder_lost";
    case EndInfo::Reason::kExec:
      return "exec";
  }
  return "unknown";
}

const char* reason_text(EndInfo::Reason reason) {
  switch (reason) {
    case EndInfo::Reason::kProgramEnded:
      return "the program ended";
    case EndInfo::Reason::kInstructionLimit:
      return "the limit of --max-instructions was reached";
    case EndInfo::Reason::kSizeLimit:
      return "the limit of --max-trace-size was reached";
    case EndInfo::Reason::kWriteError:
      return "the trace could not be written any further";
    case EndInfo::Reason::kRecorderLost:
      return "the program was killed or lost contact";
    case EndInfo::Reason::kExec:
      return "the program replaced itself by another";
  }
  return "unknown";
}

// ---- JSON ----

Json to_json(const trace::Reader& reader, const Census& census) {
  const trace::RunInfo& info = reader.info();
  const std::optional<EndInfo>& end = reader.end();
  const bool status_known = end && end->exit_status_known;
  Json json;
  json["program"] = {{"argv", info.argv},
                     {"path", info.program},
                     {"exit_status", status_known ? Json(end->exit_status) : Json()},
                     {"interpreter", info.interpreter},
                     {"working_directory", info.working_directory},
                     {"process_id", info.process_id}};
  json["recorder"] = {{"loopfold", info.loopfold_version},
                      {"valgrind", info.valgrind_version},
                      {"options", info.options},
                      {"naive", info.naive}};
  json["partial"] = reader.partial() || !census.damage.empty();
  json["damage"] = census.damage;
  json["instructions"] = census.instructions;
  json["hidden_instructions"] = census.hidden_instructions;
  json["events"] = census.events;
  json["side_events"] = census.side_events;
  json["threads"] = Json::array();
  for (std::size_t i = 0; i < census.threads.size(); i++) {
    const ThreadCount& thread = census.threads[i];
    json["threads"].push_back({{"thread", i},
                               {"events", thread.events},
                               {"instructions", thread.instructions},
                               {"parent", thread.start ? Json(thread.start->parent) : Json()},
                               {"kernel_id", thread.start ? Json(thread.start->kernel_id) : Json()},
                               {"ended", thread.ended}});
  }
  json["modules"] = Json::array();
  for (std::size_t i = 0; i < reader.modules().size(); i++) {
    const trace::Module& module = reader.modules()[i];
    json["modules"].push_back({{"path", module.path},
                               {"build_id", module.build_id},
                               {"address", module.start},
                               {"size", module.size},
                               {"load_bias", module.load_bias},
                               {"main_program", module.main_program},
                               {"instructions", census.module_instructions[i]}});
  }
  json["blocks"] = reader.blocks().size();
  json["exits"] = reader.exits().size();
  json["allocations"] = {{"count", census.allocations}, {"bytes", census.allocated_bytes}, {"frees", census.frees}};
  json["syscalls"] = Json::object();
  for (const auto& [number, count] : census.system_calls) json["syscalls"][system_call_name(number)] = count;
  json["signals"] = Json::object();
  for (const auto& [number, count] : census.signals) json["signals"][signal_name(number)] = count;
  json["markers"] = Json::array();
  for (const auto& [name, mark] : census.marks)
    json["markers"].push_back({{"name", name}, {"begins", mark.begins}, {"ends", mark.ends}});
  json["bytes"] = reader.file_bytes();
  json["end"] = end ? Json{{"reason", reason_name(end->reason)}, {"text", end->text}} : Json();
  return json;
}

// ---- text ----

class TextReport {
 public:
  TextReport(const trace::Reader& reader, const Census& census, const std::string& directory, const Paint& paint)
      : reader_(reader), census_(census), directory_(directory), paint_(paint) {}

  void print() const {
    summary();
    threads();
    modules();
    table("System calls", census_.system_calls, system_call_name);
    table("Signals", census_.signals, signal_name);
    marks();
  }

 private:
  void row(const char* name, const std::string& text) const {
    fmt::print("{}  {}\n", paint_.faint(fmt::format("{:>13}", name)), text);
  }
  void heading(const char* text) const { fmt::print("\n{}\n", paint_.strong(text)); }
  double share(std::uint64_t part) const {
    return census_.instructions == 0 ? 0
                                     : 100.0 * static_cast<double>(part) / static_cast<double>(census_.instructions);
  }
  static void rest(std::size_t rows) {
    if (rows > kMostRows) fmt::print("  … and {} more\n", rows - kMostRows);
  }

  void summary() const;
  void threads() const;
  void modules() const;
  void marks() const;
  template <typename Name>
  void table(const char* title, const std::map<std::uint32_t, std::uint64_t>& counts, Name name) const;

  const trace::Reader& reader_;
  const Census& census_;
  const std::string& directory_;
  const Paint& paint_;
};

std::string ended_text(const std::optional<EndInfo>& end) {
  if (!end || !end->exit_status_known) return "unknown: the end of the program was not seen";
  if (end->exit_status <= 128) return fmt::format("exit status {}", end->exit_status);
  const auto signal = static_cast<std::uint32_t>(end->exit_status - 128);
  return fmt::format("exit status {}, as after being killed by {}", end->exit_status, signal_name(signal));
}

void TextReport::summary() const {
  const trace::RunInfo& info = reader_.info();
  const std::optional<EndInfo>& end = reader_.end();
  fmt::print("{}\n", paint_.strong(fmt::format("Trace {}", directory_)));
  const std::string partial = why_partial(reader_);
  if (!partial.empty()) fmt::print("\n{} {}\n\n", paint_.caution("PARTIAL:"), partial);
  if (partial.empty() && !census_.damage.empty()) fmt::print("\n{} {}\n\n", paint_.bad("DAMAGED:"), census_.damage);

  row("program", paint_.strong(fmt::format("{}", fmt::join(info.argv, " "))));
  row("", fmt::format("{} (in {})", info.program, info.working_directory));
  if (!info.interpreter.empty()) row("interpreter", info.interpreter);
  row("status", ended_text(end));
  std::string stopped = end ? reason_text(end->reason) : "unknown";
  if (end && !end->text.empty()) stopped = end->text;
  const bool whole = end && end->reason == EndInfo::Reason::kProgramEnded;
  row("stopped when", whole ? stopped : paint_.caution(stopped));
  row("recorded with", fmt::format("loopfold {}, Valgrind {}{}{}{}", info.loopfold_version, info.valgrind_version,
                                   info.options.empty() ? ", default options" : ", options: ",
                                   fmt::join(info.options, " "), info.naive ? " (one slot per value)" : ""));
  row("instructions", fmt::format("{} recorded, {} hidden in allocators and libraries", grouped(census_.instructions),
                                  grouped(census_.hidden_instructions)));
  row("events", fmt::format("{} block executions, {} side events (allocations, system calls, …)",
                            grouped(census_.events), grouped(census_.side_events)));
  row("code",
      fmt::format("{} blocks with {} exits", grouped(reader_.blocks().size()), grouped(reader_.exits().size())));
  row("heap", fmt::format("{} allocations ({} in all), {} freed", grouped(census_.allocations),
                          short_bytes(census_.allocated_bytes), grouped(census_.frees)));
  std::string size = short_bytes(reader_.file_bytes());
  if (census_.instructions != 0) {
    const double each = static_cast<double>(reader_.file_bytes()) / static_cast<double>(census_.instructions);
    size += fmt::format(", {:.3g} bytes per instruction", each);
  }
  row("size on disk", size);
}

void TextReport::threads() const {
  heading("Threads");
  fmt::print("  {:>6}  {:>16}  {:>16}  {:>7}\n", "thread", "events", "instructions", "share");
  for (std::size_t i = 0; i < std::min(census_.threads.size(), kMostRows); i++) {
    const ThreadCount& thread = census_.threads[i];
    std::string note;
    if (thread.start && thread.start->parent != i) note = fmt::format("  started by thread {}", thread.start->parent);
    fmt::print("  {:>6}  {:>16}  {:>16}  {:>5.1f} %{}\n", i, grouped(thread.events), grouped(thread.instructions),
               share(thread.instructions), note);
  }
  rest(census_.threads.size());
}

void TextReport::modules() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < census_.module_instructions.size(); i++) {
    if (census_.module_instructions[i] != 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return census_.module_instructions[a] > census_.module_instructions[b];
  });
  if (order.empty()) return;
  heading("Modules");
  fmt::print("  {:>7}  {:>16}  {:>14}  {:<10}  {}\n", "share", "instructions", "address", "build-id", "path");
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); i++) {
    const bool file = order[i] < reader_.modules().size();
    const trace::Module none{.path = "(code in no file)", .build_id = "", .main_program = false};
    const trace::Module& module = file ? reader_.modules()[order[i]] : none;
    const std::uint64_t instructions = census_.module_instructions[order[i]];
    fmt::print("  {:>5.1f} %  {:>16}  {:>14}  {:<10}  {}\n", share(instructions), grouped(instructions),
               file ? fmt::format("{:#x}", module.start) : "",
               module.build_id.empty() ? "-" : module.build_id.substr(0, 10), module.path);
  }
  rest(order.size());
}

template <typename Name>
void TextReport::table(const char* title, const std::map<std::uint32_t, std::uint64_t>& counts, Name name) const {
  if (counts.empty()) return;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  heading(title);
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); i++)
    fmt::print("  {:>16}  {}\n", grouped(order[i].second), name(order[i].first));
  rest(order.size());
}

void TextReport::marks() const {
  if (census_.marks.empty()) return;
  heading("Markers");
  fmt::print("  {:>16}  {:>16}  {}\n", "begins", "ends", "name");
  for (const auto& [name, mark] : census_.marks)
    fmt::print("  {:>16}  {:>16}  {}\n", grouped(mark.begins), grouped(mark.ends), name);
}

class TraceInfoCommand : public Command {
 public:
  std::string name() const override { return "info"; }
  std::string summary() const override { return "What was recorded: program, threads, modules, counts, size"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--format", format_, "text, or json for one document on standard output")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    app.add_flag("--runs", runs_, "Also show how regular the trace is, and how fast it reads");
    app.add_flag("-q,--quiet", quiet_, "Leave out what to do next");
  }

  int run(const CLI::App&) override {
    const Result<std::unique_ptr<trace::Reader>> reader = open_trace(directory_);
    if (!reader) return report(reader.error());
    const Census census = take_census(**reader);
    std::optional<RunCensus> runs;
    if (runs_) {
      const Result<RunCensus> counted = take_run_census(**reader);
      if (!counted) return report(counted.error());
      runs = *counted;
    }
    if (format_ == "json") {
      Json json = to_json(**reader, census);
      if (runs) json["runs"] = to_json(*runs);
      fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
      return finish_output();
    }
    const Paint paint(stdout);
    TextReport(**reader, census, directory_, paint).print();
    if (runs) fmt::print("\n{}\n{}", paint.strong("Runs"), describe_runs(*runs));
    if (!quiet_) {
      const std::string where = directory_ == "loopfold.out" ? "" : " " + directory_;
      fmt::print(
          "\n{}\n  loopfold trace dump{} --limit 20    what the program did, instruction by instruction\n"
          "  loopfold trace check{}              is this trace sound?\n",
          paint.strong("Next"), where, where);
    }
    return finish_output();
  }

 private:
  std::string directory_ = "loopfold.out";
  std::string format_ = "text";
  bool quiet_ = false;
  bool runs_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_info() { return std::make_unique<TraceInfoCommand>(); }

}  // namespace loopfold::cli
