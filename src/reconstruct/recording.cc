// Accesses of a recording. The essay is in recording.h.
#include "reconstruct/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace loopfold::reconstruct {

namespace {

bool ends_like(std::string_view file, std::string_view wanted) {
  if (!file.ends_with(wanted)) return false;
  return file.size() == wanted.size() || file[file.size() - wanted.size() - 1] == '/';
}

bool is_linear(const trace::Block& block, const trace::Value& value) {
  if (value.kind != trace::Value::Kind::kExpression) return true;
  const trace::Expression& expression = block.expressions[value.data];
  if (expression.extend != trace::Expression::Extend::kNone) return false;
  return std::all_of(expression.terms.begin(), expression.terms.end(),
                     [&](const trace::Expression::Term& term) { return is_linear(block, term.operand); });
}

/// One access of a block that is wanted.
struct Wanted {
  std::size_t access = 0;  // in the block
  std::uint64_t ip = 0;
  std::string where;
  bool linear = false;
};

class RecordingReader {
 public:
  RecordingReader(const trace::Reader& reader, const ReadOptions& options, ReadTrace& into)
      : reader_(reader), options_(options), into_(into), wanted_(reader.blocks().size()) {}

  /// Finds the accesses on the line; says how many there are.
  std::size_t select(symbols::Symbolizer& symbolizer, const SourceLine& at);
  Result<void> read();

 private:
  /// The part of a path that is wanted: which slots of it, for which access.
  struct Use {
    const trace::Block* block = nullptr;
    const Wanted* wanted = nullptr;
    std::size_t first_slot = 0;
    std::size_t slots = 0;
    Instruction* instruction = nullptr;
  };

  void follow(const trace::Run& run);
  std::vector<Use> uses_of(const trace::RunPath& path, trace::ThreadId thread);
  void take_one(const std::vector<Use>& uses, std::span<const std::uint64_t> slots);
  bool take_many(const trace::RunExpander& expander, const std::vector<Use>& uses, std::uint64_t iterations);
  Instruction& instruction(trace::ThreadId thread, const trace::Block& block, const Wanted& wanted);

  const trace::Reader& reader_;
  const ReadOptions& options_;
  ReadTrace& into_;
  std::vector<std::vector<Wanted>> wanted_;  // by block
  std::map<std::tuple<trace::ThreadId, std::uint64_t, std::size_t>, std::size_t> numbers_;
};

std::size_t RecordingReader::select(symbols::Symbolizer& symbolizer, const SourceLine& at) {
  std::size_t found = 0;
  for (const trace::Block& block : reader_.blocks()) {
    std::uint64_t ip = block.address;
    std::size_t instruction = 0;
    for (std::size_t a = 0; a < block.accesses.size(); ++a) {
      for (; instruction < block.accesses[a].instruction; ++instruction) ip += block.lengths[instruction];
      const symbols::Location& location = symbolizer.locate(ip);
      const bool on_line = std::any_of(
          location.frames.begin(), location.frames.end(),
          [&](const symbols::Frame& frame) { return frame.line == at.line && ends_like(frame.file, at.file); });
      const bool plain = location.line == at.line && ends_like(location.file, at.file);
      if (!at.file.empty() && !on_line && !plain) continue;
      if (options_.only && *options_.only != ip) continue;
      const trace::Access& access = block.accesses[a];
      std::string where = location.line > 0
                              ? fmt::format("{}:{}", location.file.substr(location.file.rfind('/') + 1), location.line)
                              : location.function;
      where +=
          fmt::format(" {} of {} bytes", access.kind == trace::Access::Kind::kLoad ? "load" : "store", access.size);
      wanted_[block.id].push_back({a, ip, std::move(where), is_linear(block, access.address)});
      ++found;
    }
  }
  return found;
}

Instruction& RecordingReader::instruction(trace::ThreadId thread, const trace::Block& block, const Wanted& wanted) {
  std::size_t ordinal = 0;
  for (std::size_t a = wanted.access;
       a-- > 0 && block.accesses[a].instruction == block.accesses[wanted.access].instruction;)
    ++ordinal;
  const auto [place, is_new] = numbers_.try_emplace({thread, wanted.ip, ordinal}, into_.instructions.size());
  if (is_new) {
    auto made = std::make_unique<Instruction>(wanted.ip, options_);
    made->where = wanted.where + (thread > 0 ? fmt::format(", thread {}", thread) : "");
    made->kind = block.accesses[wanted.access].kind == trace::Access::Kind::kLoad ? 'R' : 'W';
    made->size = block.accesses[wanted.access].size;
    into_.instructions.push_back(std::move(made));
  }
  return *into_.instructions[place->second];
}

std::vector<RecordingReader::Use> RecordingReader::uses_of(const trace::RunPath& path, trace::ThreadId thread) {
  std::vector<Use> uses;
  std::size_t slot = 0;
  for (const trace::ExitId id : path.exits) {
    const trace::Exit& exit = reader_.exits()[id];
    const trace::Block& block = reader_.blocks()[exit.block];
    for (const Wanted& wanted : wanted_[exit.block])
      if (wanted.access < exit.accesses)
        uses.push_back({&block, &wanted, slot, exit.slots, &instruction(thread, block, wanted)});
    slot += exit.slots;
  }
  return uses;
}

void RecordingReader::take_one(const std::vector<Use>& uses, std::span<const std::uint64_t> slots) {
  for (const Use& use : uses) {
    const trace::Access& access = use.block->accesses[use.wanted->access];
    const std::uint64_t address = trace::evaluate(*use.block, access.address, slots.subspan(use.first_slot, use.slots));
    if (access.guarded && address == 0) continue;
    use.instruction->add(address);
    ++into_.records;
  }
}

/// All these iterations at once, if each stream has one access in the path and it advances evenly.
bool RecordingReader::take_many(const trace::RunExpander& expander, const std::vector<Use>& uses,
                                std::uint64_t iterations) {
  std::set<const Instruction*> seen;
  for (const Use& use : uses) {
    const bool guarded = use.block->accesses[use.wanted->access].guarded;
    if (guarded || !use.wanted->linear || !seen.insert(use.instruction).second) return false;
    for (std::size_t s = 0; s < use.slots; ++s)
      if (!expander.ahead(use.first_slot + s).regular) return false;
  }
  std::vector<std::uint64_t> now;
  std::vector<std::uint64_t> then;
  for (const Use& use : uses) {
    now.clear();
    then.clear();
    for (std::size_t s = 0; s < use.slots; ++s) {
      const trace::RunExpander::Ahead ahead = expander.ahead(use.first_slot + s);
      now.push_back(ahead.value);
      then.push_back(ahead.value + ahead.stride);
    }
    const trace::Value& address = use.block->accesses[use.wanted->access].address;
    const std::uint64_t start = trace::evaluate(*use.block, address, now);
    const std::uint64_t next = trace::evaluate(*use.block, address, then);
    use.instruction->add_run({start, static_cast<std::int64_t>(next - start), iterations});
    into_.records += iterations;
  }
  return true;
}

void RecordingReader::follow(const trace::Run& run) {
  std::vector<std::vector<Use>> uses;
  bool any = false;
  for (const trace::RunPath& path : run.paths) {
    uses.push_back(uses_of(path, run.thread));
    any |= !uses.back().empty();
  }
  if (!any) return;
  trace::RunExpander expander;
  expander.begin(run);
  for (std::uint64_t i = 0; i < run.iterations;) {
    const std::size_t path = run.path_of(i);
    std::uint64_t same = 1;
    if (!run.literal() && run.sequence.empty() && path == 0 && run.paths.size() > 1) same = run.iterations - 1 - i;
    if (!run.literal() && run.sequence.empty() && run.paths.size() == 1) same = run.iterations - i;
    while (!run.sequence.empty() && i + same < run.iterations && run.path_of(i + same) == path) ++same;
    if (same > 2 && take_many(expander, uses[path], same)) {
      expander.skip(same);
      i += same;
      continue;
    }
    for (; same > 0; --same, ++i) {
      expander.next();
      take_one(uses[path], expander.slots());
    }
  }
}

Result<void> RecordingReader::read() {
  trace::RunCursor cursor = reader_.runs();
  for (;;) {
    const Result<trace::RunCursor::Item> item = cursor.next();
    if (!item) return tl::unexpected<Error>(item.error());
    if (*item == trace::RunCursor::Item::kEnd) return {};
    if (*item == trace::RunCursor::Item::kRun) follow(cursor.run());
  }
}

}  // namespace

Result<SourceLine> parse_source_line(const std::string& text) {
  SourceLine at;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    at.file = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + colon + 1, end, at.line);
    if (error == std::errc() && last == end && at.line > 0) return at;
  }
  return fail(ErrorKind::kUsage, fmt::format("--at {}: is not FILE:LINE", text));
}

Result<ReadTrace> read_recording(const trace::Reader& reader, symbols::Symbolizer& symbolizer, const SourceLine& at,
                                 const ReadOptions& options) {
  ReadTrace into;
  RecordingReader recording(reader, options, into);
  if (recording.select(symbolizer, at) == 0) {
    if (options.only)
      return fail(ErrorKind::kUsage,
                  fmt::format("--ip {:#x}: no recorded instruction there accesses memory", *options.only));
    return fail(ErrorKind::kUsage,
                fmt::format("--at {}:{}: no recorded access has this line; loopfold tree shows which ran, "
                            "and it needs debug information (-g)",
                            at.file, at.line));
  }
  if (const Result<void> read = recording.read(); !read) return tl::unexpected<Error>(read.error());
  work_off(into.instructions, options.jobs, true);
  return into;
}

}  // namespace loopfold::reconstruct
