// `loopfold trace dump`: what the program did, for a person to read, or its data accesses alone, for a tool to compare.
//
// The readable form goes through TraceText (trace_text.h), which keeps the static part of every block's text. The list
// of accesses is made for millions of lines per second: what an exit accesses is laid out flat before the walk, and
// lines are put together in a buffer that is written when it is full.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <optional>
#include <vector>

#include "cli/trace_commands.h"
#include "cli/trace_text.h"

namespace loopfold::cli {

namespace {

using trace::Cursor;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// Standard output in large pieces. After a failed write nothing is written any more.
class Output {
 public:
  Output() { buffer_.reserve(2 * kBufferBytes); }
  fmt::memory_buffer& buffer() { return buffer_; }
  bool failed() const { return failed_; }
  void write_if_full() {
    if (buffer_.size() >= kBufferBytes) write();
  }
  void write() {
    if (!failed_) failed_ = std::fwrite(buffer_.data(), 1, buffer_.size(), stdout) != buffer_.size();
    buffer_.clear();
  }

 private:
  fmt::memory_buffer buffer_;
  bool failed_ = false;
};

struct Selection {
  std::optional<trace::ThreadId> thread;
  std::uint64_t from = 0;
  std::uint64_t to = kNoLimit;
  std::uint64_t limit = kNoLimit;
  std::vector<bool> exits;  // which may be shown; empty: all
};

/// Walks the selected part and hands events and side events with their number to `visitor`, until it is through or the
/// output fails. Side events count as standing at the number of the event behind them.
template <typename Visitor>
Result<void> walk(const trace::Reader& reader, const Selection& selection, Output& output, Visitor& visitor) {
  trace::CursorOptions options;
  options.thread = selection.thread;
  std::uint64_t next = 0;
  if (!selection.thread) {
    for (const trace::GroupSummary& group : reader.groups()) {
      if (next + group.events >= selection.from) break;
      next += group.events;
      options.first_group++;
    }
  }
  std::uint64_t left = selection.limit;
  Cursor cursor = reader.cursor(options);
  while (left > 0 && !output.failed()) {
    const Result<Cursor::Item> item = cursor.next();
    if (!item) return tl::unexpected<Error>(item.error());
    if (*item == Cursor::Item::kEnd || next > selection.to) break;
    if (*item == Cursor::Item::kSide) {
      if (next >= selection.from) visitor.side(cursor.side(), next);
    } else {
      const std::uint64_t number = next++;
      const trace::Event& event = cursor.event();
      if (number < selection.from || (!selection.exits.empty() && !selection.exits[event.exit])) continue;
      visitor.event(event, number);
      left--;
    }
    output.write_if_full();
  }
  return {};
}

// ---- accesses only ----

class AccessList {
 public:
  AccessList(const trace::Reader& reader, Output& output) : reader_(reader), output_(output) {
    const std::vector<trace::Block>& blocks = reader.blocks();
    for (const trace::Exit& exit : reader.exits()) {
      begins_.push_back(lines_.size());
      for (std::size_t i = 0; i < exit.accesses; i++) {
        const trace::Access& access = blocks[exit.block].accesses[i];
        Line line;
        line.address = access.address;
        line.letter = access.kind == trace::Access::Kind::kLoad ? 'L' : 'S';
        line.guarded = access.guarded;
        line.ending = fmt::format(" {}\n", access.size);
        lines_.push_back(std::move(line));
      }
    }
    begins_.push_back(lines_.size());
  }

  void event(const trace::Event& event, std::uint64_t) {
    fmt::memory_buffer& buffer = output_.buffer();
    const trace::Block& block = reader_.blocks()[reader_.exits()[event.exit].block];
    for (std::size_t i = begins_[event.exit]; i < begins_[event.exit + 1]; i++) {
      const Line& line = lines_[i];
      const std::uint64_t address = trace::evaluate(block, line.address, event.slots);
      if (line.guarded && address == 0) continue;
      char start[20] = {line.letter, ' ', '0', 'x'};
      std::size_t length = 4;
      int shift = address == 0 ? 0 : (63 - __builtin_clzll(address)) & ~3;
      for (; shift >= 0; shift -= 4) start[length++] = "0123456789abcdef"[address >> shift & 15];
      buffer.append(start, start + length);
      buffer.append(line.ending.data(), line.ending.data() + line.ending.size());
    }
  }

  void side(const trace::SideEvent&, std::uint64_t) {}

 private:
  struct Line {
    trace::Value address;
    char letter = 'L';
    bool guarded = false;
    std::string ending;  // " 8\n"
  };
  const trace::Reader& reader_;
  Output& output_;
  std::vector<std::size_t> begins_;  // by exit, in lines_; one more at the end
  std::vector<Line> lines_;
};

// ---- the command ----

/// "ns::f(int)" is meant by "ns::f(int)", "ns::f" and "f".
bool is_function(std::string_view function, std::string_view wanted) {
  if (function == wanted) return true;
  const std::string_view plain = function.substr(0, function.find('('));
  if (plain == wanted) return true;
  const std::size_t qualified = plain.rfind("::");
  return qualified != std::string_view::npos && plain.substr(qualified + 2) == wanted;
}

class TraceDumpCommand : public Command {
 public:
  std::string name() const override { return "dump"; }
  std::string summary() const override { return "Print what the program did, instruction by instruction"; }

  void describe(CLI::App& app) override {
    add_directory(app, directory_);
    app.add_option("--thread", thread_, "Only thread N")->type_name("N");
    app.add_option("--function", function_, "Only blocks of this function (its callees are others)")->type_name("NAME");
    app.add_option("--from", selection_.from, "Start at event N: of the thread with --thread, else of the whole trace")
        ->type_name("N");
    app.add_option("--to", selection_.to, "Stop behind event N, counted as for --from")->type_name("N");
    app.add_option("--limit", selection_.limit, "Print at most N events")->type_name("N");
    app.add_flag("--accesses", accesses_, "Only data accesses: `L 0xADDRESS SIZE` or `S 0xADDRESS SIZE`, one per line");
    app.add_flag("--no-source", no_source_, "Leave out file names and lines");
    app.add_flag("-q,--quiet", quiet_, "No warnings");
    app.footer(
        "An event is one execution of a block; its line says [its number in the trace], its thread, @its number in\n"
        "the thread, and where it is. Below it, its instructions with what they loaded, stored and computed.\n\n"
        "  loopfold trace dump --limit 20\n"
        "  loopfold trace dump --function main | less\n"
        "  loopfold trace dump --accesses > accesses.txt");
  }

  int run(const CLI::App&) override {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shows as a failed write
    const Result<std::unique_ptr<trace::Reader>> opened = open_trace(directory_);
    if (!opened) return report(opened.error());
    const trace::Reader& reader = **opened;
    if (const Result<void> known = select_thread(reader); !known) return report(known.error());
    symbols::Symbolizer symbolizer(reader.modules());
    if (const Result<void> known = select_function(reader, symbolizer); !known) return report(known.error());
    Output output;
    Result<void> walked;
    if (accesses_) {
      AccessList list(reader, output);
      walked = walk(reader, selection_, output, list);
    } else {
      TraceText text(reader, symbolizer, {.source = !no_source_, .side_events = function_.empty()}, output.buffer());
      walked = walk(reader, selection_, output, text);
      text.finish();
    }
    return finish(reader, symbolizer, walked, output);
  }

 private:
  Result<void> select_thread(const trace::Reader& reader) {
    selection_.thread = thread_;
    if (!thread_ || !reader.end() || *thread_ < reader.end()->threads) return {};
    return fail(ErrorKind::kUsage,
                fmt::format("--thread {}: the trace has threads 0 to {}; loopfold trace info lists them", *thread_,
                            reader.end()->threads - 1));
  }

  Result<void> select_function(const trace::Reader& reader, symbols::Symbolizer& symbolizer) {
    if (function_.empty()) return {};
    std::vector<bool> blocks;
    for (const trace::Block& block : reader.blocks())
      blocks.push_back(is_function(symbolizer.locate(block.address).function, function_));
    if (std::find(blocks.begin(), blocks.end(), true) == blocks.end())
      return fail(ErrorKind::kUsage, fmt::format("--function {}: no recorded block lies in a function of this name; it "
                                                 "may be inlined, not recorded, or without symbols",
                                                 function_));
    for (const trace::Exit& exit : reader.exits()) selection_.exits.push_back(blocks[exit.block]);
    return {};
  }

  int finish(const trace::Reader& reader, const symbols::Symbolizer& symbolizer, const Result<void>& walked,
             Output& output) const {
    output.write();
    if (const int written = finish_output(); written != kSuccess || output.failed()) return written;
    if (!walked) return report(walked.error());
    if (quiet_) return kSuccess;
    if (!accesses_ || !function_.empty()) {
      for (const std::string& warning : symbolizer.warnings()) warn(warning);
    }
    if (reader.partial()) warn(fmt::format("{}: partial: {}", directory_, why_partial(reader)));
    return kSuccess;
  }

  std::string directory_ = "loopfold.out";
  std::optional<trace::ThreadId> thread_;
  std::string function_;
  Selection selection_;
  bool accesses_ = false;
  bool no_source_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_trace_dump() { return std::make_unique<TraceDumpCommand>(); }

}  // namespace loopfold::cli
