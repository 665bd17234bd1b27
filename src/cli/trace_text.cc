#include "cli/trace_text.h"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "trace/decode.h"

namespace loopfold::cli {

namespace {

constexpr std::size_t kDisassemblyColumns = 44;

/// "rax", "eax", "ax", "al" or "ah", by what was written.
std::string register_name(const trace::IntegerResult& result) {
  static constexpr const char* kOld[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  if (result.reg >= 8) {
    const char* const width = result.width == 8 ? "" : result.width == 4 ? "d" : result.width == 2 ? "w" : "b";
    return fmt::format("r{}{}", result.reg, width);
  }
  const std::string name = kOld[result.reg];
  if (result.width == 8) return "r" + name;
  if (result.width == 4) return "e" + name;
  if (result.width == 2) return name;
  if (result.byte == 1) return fmt::format("{}h", name[0]);
  return result.reg < 4 ? fmt::format("{}l", name[0]) : name + "l";
}

/// Small numbers in decimal, negative ones of 32 or 64 bits too; everything else is an address or a set of bits.
std::string argument_text(std::uint64_t value) {
  const auto wide = static_cast<std::int64_t>(value);
  if (wide >= -4096 && wide <= 0xffff) return std::to_string(wide);
  const auto narrow = static_cast<std::int32_t>(value);
  if (value <= 0xffffffff && narrow >= -4096 && narrow < 0) return std::to_string(narrow);
  return fmt::format("{:#x}", value);
}

std::string call_text(const trace::SyscallEnter& enter) {
  const SystemCall* const call = find_system_call(enter.number);
  std::size_t count = call != nullptr ? call->arguments : enter.arguments.size();
  while (call == nullptr && count > 0 && enter.arguments[count - 1] == 0) count--;
  std::string text = system_call_name(enter.number) + "(";
  for (std::size_t i = 0; i < count; i++) text += (i == 0 ? "" : ", ") + argument_text(enter.arguments[i]);
  return text + ")";
}

std::string result_text(std::int64_t result) {
  if (result >= 0 || result < -4095) return argument_text(static_cast<std::uint64_t>(result));
  const char* const name = ::strerrorname_np(static_cast<int>(-result));
  return name == nullptr ? std::to_string(result)
                         : fmt::format("-1 {} ({})", name, ::strerrordesc_np(static_cast<int>(-result)));
}

std::string protection_text(std::uint8_t protection) {
  std::string text = "---";
  if ((protection & 1) != 0) text[0] = 'r';
  if ((protection & 2) != 0) text[1] = 'w';
  if ((protection & 4) != 0) text[2] = 'x';
  return text;
}

std::string kernel_access_text(const trace::KernelAccess& access) {
  const char* const why = access.cause == trace::KernelAccess::Cause::kSignal ? " for a signal" : "";
  return fmt::format("the kernel {} {} bytes @{:#x}{}", access.write ? "writes" : "reads", access.size, access.address,
                     why);
}

std::string mapping_text(const trace::Mapping& mapping) {
  const std::string range = fmt::format("{:#x}..{:#x}", mapping.address, mapping.address + mapping.size);
  switch (mapping.operation) {
    case trace::Mapping::Operation::kMap:
      return fmt::format("memory mapped: {} {}", range, protection_text(mapping.protection));
    case trace::Mapping::Operation::kUnmap:
      return fmt::format("memory unmapped: {}", range);
    case trace::Mapping::Operation::kRemap:
      return fmt::format("memory moved: {:#x}..{:#x} to {}", mapping.old_address,
                         mapping.old_address + mapping.old_size, range);
    case trace::Mapping::Operation::kProtect:
      return fmt::format("memory protection changed: {} {}", range, protection_text(mapping.protection));
    case trace::Mapping::Operation::kBreak:
      return fmt::format("data segment grown: {}", range);
  }
  return "";
}

}  // namespace

TraceText::TraceText(const trace::Reader& reader, symbols::Symbolizer& symbolizer, TextOptions options,
                     fmt::memory_buffer& buffer)
    : reader_(reader),
      symbolizer_(symbolizer),
      options_(options),
      buffer_(buffer),
      paint_(stdout),
      blocks_(reader.blocks().size()) {}

std::string TraceText::place(std::uint64_t address, bool with_offset) {
  const symbols::Location& location = symbolizer_.locate(address);
  std::string text = location.function;
  if (text.empty() && !location.module.empty()) {
    return fmt::format("{}+{:#x}", location.module, location.module_offset);
  }
  if (text.empty()) return fmt::format("{:#x}", address);
  if (with_offset && location.offset != 0) text += fmt::format("+{:#x}", location.offset);
  if (!options_.source) return text;
  if (location.file.empty()) return fmt::format("{} ({})", text, location.module);
  const std::size_t slash = location.file.rfind('/');
  const std::string file = slash == std::string::npos ? location.file : location.file.substr(slash + 1);
  return fmt::format("{} ({}:{})", text, file, location.line);
}

std::string TraceText::caller(trace::StackId stack) {
  if (stack == trace::kNoStack || reader_.stacks()[stack].empty()) return "";
  return fmt::format(" [from {}]",
                     place(reader_.stacks()[stack][0] - 1, false));  // the call is before where it returns
}

const TraceText::BlockText& TraceText::block_text(trace::BlockId id) {
  BlockText& text = blocks_[id];
  if (text.made) return text;
  text.made = true;
  const trace::Block& block = reader_.blocks()[id];
  text.place = place(block.address, true);
  std::uint64_t address = block.address;
  for (std::size_t i = 0; i < block.lengths.size(); i++) {
    text.instructions.push_back(fmt::format("    {:#x}  {}", address, trace::disassemble(block, i)));
    address += block.lengths[i];
  }
  return text;
}

/// "[12] thread 0 @12"
std::string TraceText::head(trace::ThreadId thread, std::uint64_t position, std::uint64_t number) const {
  return fmt::format("[{}] thread {} @{}", number, thread, position);
}

void TraceText::line(const std::string& text) { fmt::format_to(std::back_inserter(buffer_), "{}\n", text); }

void TraceText::event(const trace::Event& event, std::uint64_t number) {
  finish();
  const trace::Exit& exit = reader_.exits()[event.exit];
  const trace::Block& block = reader_.blocks()[exit.block];
  const BlockText& text = block_text(exit.block);
  line(fmt::format("{}  {}", head(event.thread, event.position, number), paint_.strong(text.place)));
  std::size_t access = 0;
  std::size_t result = 0;
  for (std::size_t i = 0; i < exit.instructions; i++) {
    std::string facts;
    for (; access < exit.accesses && block.accesses[access].instruction <= i; access++) {
      const trace::Access& a = block.accesses[access];
      const std::uint64_t address = trace::evaluate(block, a.address, event.slots);
      const char* const kind = a.kind == trace::Access::Kind::kLoad ? "load" : "store";
      const bool taken = !a.guarded || address != 0;
      facts +=
          taken ? fmt::format("  {} {} @{:#x}", kind, a.size, address) : fmt::format("  {} {} not taken", kind, a.size);
    }
    for (; result < exit.results && block.results[result].instruction <= i; result++) {
      const trace::IntegerResult& r = block.results[result];
      facts += fmt::format("  {}={:#x}", register_name(r), trace::evaluate(block, r.value, event.slots));
    }
    const std::size_t width = facts.empty() ? 0 : 20 + kDisassemblyColumns;
    line(fmt::format("{:<{}}{}", text.instructions[i], width, facts));
  }
  if (exit.kind == trace::ExitKind::kInterrupted) line("    (the next instruction faults)");
  if (exit.kind == trace::ExitKind::kTrap) line("    (a trap ends the block here)");
}

/// Does the side event belong to the system call that is being held back? Then it is added there.
bool TraceText::continues_open_call(const trace::SideEvent& side) {
  if (!open_call_ || open_call_->thread != side.thread) return false;
  if (const auto* returned = std::get_if<trace::SyscallReturn>(&side.data)) {
    if (returned->number != open_call_->number) return false;
    open_call_->line += " = " + result_text(returned->result);
    finish();
    return true;
  }
  const bool note =
      std::holds_alternative<trace::KernelAccess>(side.data) || std::holds_alternative<trace::Mapping>(side.data);
  if (note) open_call_->notes += fmt::format("    {}\n", words(side.data));
  return note;
}

void TraceText::side(const trace::SideEvent& side, std::uint64_t number) {
  if (!options_.side_events || continues_open_call(side)) return;
  finish();
  std::string text = fmt::format("{}  {}", head(side.thread, side.position, number), words(side.data));
  if (const auto* enter = std::get_if<trace::SyscallEnter>(&side.data)) {
    open_call_ = OpenCall{side.thread, enter->number, std::move(text), ""};
  } else {
    line(text);
  }
}

void TraceText::finish() {
  if (!open_call_) return;
  line(open_call_->line);
  buffer_.append(open_call_->notes.data(), open_call_->notes.data() + open_call_->notes.size());
  open_call_.reset();
}

std::string TraceText::allocation(const trace::Allocation& a) {
  using Function = trace::Allocation::Function;
  std::string call;
  switch (a.function) {
    case Function::kMalloc:
      call = fmt::format("malloc({})", a.size);
      break;
    case Function::kCalloc:
      call = fmt::format("calloc({} bytes)", a.size);
      break;
    case Function::kRealloc:
      call = fmt::format("realloc({:#x}, {})", a.old_address, a.size);
      break;
    case Function::kMemalign:
      call = fmt::format("memalign({}, {})", a.alignment, a.size);
      break;
    case Function::kFree:
      call = fmt::format("free({:#x})", a.old_address);
      break;
    case Function::kDelete:
      call = fmt::format("operator delete({:#x})", a.old_address);
      break;
    case Function::kNew:
      call = a.alignment == 0 ? fmt::format("operator new({})", a.size)
                              : fmt::format("operator new({}, aligned to {})", a.size, a.alignment);
      break;
  }
  const bool frees = a.function == Function::kFree || a.function == Function::kDelete;
  if (!frees) call += fmt::format(" = {:#x}", a.address);
  return call + caller(a.stack);
}

std::string TraceText::words(const trace::SideData& side) {
  return std::visit(
      [this](const auto& data) -> std::string {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, trace::ThreadStart>) {
          return fmt::format("thread starts (started by thread {}, kernel id {})", data.parent, data.kernel_id);
        } else if constexpr (std::is_same_v<T, trace::ThreadEnd>) {
          return "thread ends";
        } else if constexpr (std::is_same_v<T, trace::Recording>) {
          return data.on ? "— recording on —" : "— recording off —";
        } else if constexpr (std::is_same_v<T, trace::Allocation>) {
          return allocation(data);
        } else if constexpr (std::is_same_v<T, trace::Hidden>) {
          const bool resolver = data.reason == trace::Hidden::Reason::kResolver;
          return fmt::format("({} hidden instructions in {})", data.instructions,
                             resolver ? "the symbol resolver" : "libraries");
        } else if constexpr (std::is_same_v<T, trace::SyscallEnter>) {
          return call_text(data);
        } else if constexpr (std::is_same_v<T, trace::SyscallReturn>) {
          return fmt::format("{} returns = {}", system_call_name(data.number), result_text(data.result));
        } else if constexpr (std::is_same_v<T, trace::KernelAccess>) {
          return kernel_access_text(data);
        } else if constexpr (std::is_same_v<T, trace::Mapping>) {
          return mapping_text(data) + caller(data.stack);
        } else if constexpr (std::is_same_v<T, trace::Mark>) {
          return fmt::format("marker \"{}\" {}", data.name, data.begin ? "begins" : "ends");
        } else if constexpr (std::is_same_v<T, trace::Signal>) {
          return fmt::format("signal {} ({}) handler {}{}", data.number, signal_name(data.number),
                             data.enter ? "entered" : "left", data.alternate_stack ? " on its alternate stack" : "");
        } else if constexpr (std::is_same_v<T, trace::Fork>) {
          return fmt::format("child process {} forked", data.child);
        } else {
          static_assert(std::is_same_v<T, trace::Exec>);
          return fmt::format("exec of {}", data.path);
        }
      },
      side);
}

}  // namespace loopfold::cli
