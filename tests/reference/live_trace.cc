// Walks the trace once, with a shadow of registers and memory; then leaves out all that is no data.
#include "live_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <unordered_map>

#include "structure/function_facts.h"
#include "structure/loop_names.h"
#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"
#include "trace/decode.h"
#include "trace/reader.h"

namespace loopfold::reference {

namespace {

constexpr std::size_t kRegisters = 32;  // 16 general ones, 16 vector ones: the low eight bytes of each
constexpr std::uint64_t kStackReach = std::uint64_t{16} << 20;

bool is_floating(const trace::InstructionFacts& facts) {
  return (facts.kinds & (trace::kFloatScalar | trace::kFloatVector | trace::kIntegerVector | trace::kX87)) != 0;
}

/// None for what is not looked at.
std::optional<std::size_t> register_of(const trace::RegisterUse& use) {
  if (use.address || use.merge || use.step || use.byte >= 8) return std::nullopt;
  if (use.file == trace::RegisterFile::kGeneral) return use.index;
  if (use.file == trace::RegisterFile::kVector) return 16u + use.index;
  return std::nullopt;
}

/// A call of a function: registers are its own.
struct Activation {
  structure::FunctionId function = structure::kNoFunction;
  std::uint64_t ordinal = 0;
  auto operator<=>(const Activation&) const = default;
};

/// An instruction, where it is, and a register that it reads or writes.
struct Site {
  structure::ContextId context;
  std::uint64_t address;
  std::size_t reg;
  auto operator<=>(const Site&) const = default;
};

class Walker {
 public:
  static constexpr bool kEveryPart = true;
  static constexpr bool kValues = true;

  Walker(const trace::Reader& reader, const structure::Structure& structure, const structure::LoopTree& tree,
         structure::LoopNames& names, symbols::Symbolizer& symbolizer, const std::string& file)
      : reader_(reader), structure_(structure), tree_(tree), names_(names), symbolizer_(symbolizer), file_(file) {}

  template <class Walk, class S>
  void event(const Walk&, const S&, trace::ExitId exit, const std::uint64_t* slots) {
    exit_ = exit;
    slots_ = {slots, reader_.exits()[exit].slots};
  }

  template <class Walk, class S>
  void part(const Walk& walk, const S& stack, const structure::Part& part) {
    if (walk.thread() != 0) return;
    LiveStep& step = made_.steps.emplace_back();
    step.time = time_of(
        stack.data, structure_.forests[stack.frames.back().data.function].index_of(stack.frames.back().data.current));
    context_ = stack.data.context;
    activation_ = {stack.frames.back().data.function, stack.frames.back().data.activation};
    const trace::Exit& exit = reader_.exits()[exit_];
    const trace::Block& block = reader_.blocks()[exit.block];
    const std::vector<trace::InstructionFacts>& code = facts_of(block);
    std::uint64_t address = block.address;
    for (std::size_t i = 0; i < part.first_instruction; ++i) address += block.lengths[i];
    for (std::size_t i = 0; i < part.instructions; ++i) {
      const std::size_t index = part.first_instruction + i;
      if (index < exit.instructions) run(block, exit, index, address, code[index], step);
      address += block.lengths[index];
    }
  }

  template <class Walk, class S>
  void side(const Walk&, const S*, const trace::SideEvent& event) {
    if (const auto* allocation = std::get_if<trace::Allocation>(&event.data)) {
      forget(allocation->address, allocation->address + allocation->size);
      registers_[0] = {};  // the pointer that comes back
    }
  }

  template <class Walk, class S>
  void leave(const Walk&, const S& stack) {
    const std::uint64_t pointer = stack.frames.back().stack_pointer;
    if (pointer != ~std::uint64_t{0}) forget(pointer - kStackReach, pointer);
  }

  LiveTrace finish();

 private:
  struct Held {  // by a register
    std::uint32_t step = kNothing;
    std::uint32_t definition = kNothing;  // static
    Activation activation;
    std::uint32_t access = kNothing;
    bool data = false;
  };
  struct Byte {  // of memory
    std::uint32_t cell = kNothing;
    std::uint32_t access = kNothing;  // that wrote it last
    bool data = false;
  };

  /// Static indices and counters in turn, from the root of the loop tree on.
  template <class Stack>
  Time time_of(const Stack& state, std::uint32_t index) {
    Time time{{static_cast<std::int64_t>(index), kNothing, false, false}};
    std::size_t dimension = state.dimensions.size();
    for (structure::ContextId id = state.context; id != structure::LoopTree::root(); id = tree_[id].parent) {
      const structure::Context& context = tree_[id];
      using Kind = structure::Context::Kind;
      if (context.kind != Kind::kCall) {
        const auto counter = static_cast<std::int64_t>(state.dimensions[--dimension].counter);
        time.push_back({counter, context.kind == Kind::kLoop ? line_of_loop(context) : kNothing, false, false});
      }
      if (context.kind != Kind::kLoop) time.push_back({context.minor, kNothing, false, false});
      time.push_back({context.index, kNothing, false, false});
    }
    std::reverse(time.begin(), time.end());
    return time;
  }

  std::uint32_t line_of_loop(const structure::Context& context) {
    const structure::LoopName& name = names_.of(context.function, context.loop);
    return name.source && is_of_file(name.source->file) ? static_cast<std::uint32_t>(name.source->line) : kNothing;
  }

  bool is_of_file(const std::string& path) const {
    return path == file_ || (path.size() > file_.size() && path.ends_with("/" + file_));
  }

  std::uint32_t line_of(std::uint64_t address) {
    const auto [known, added] = lines_.try_emplace(address, kNoLine);
    if (added) {
      const symbols::Location& at = symbolizer_.locate(address);
      if (is_of_file(at.file) && at.line > 0) known->second = static_cast<std::uint32_t>(at.line);
    }
    return known->second;
  }

  const std::vector<trace::InstructionFacts>& facts_of(const trace::Block& block) {
    std::unique_ptr<std::vector<trace::InstructionFacts>>& facts = facts_[block.id];
    if (!facts) facts = std::make_unique<std::vector<trace::InstructionFacts>>(trace::decode(block));
    return *facts;
  }

  std::uint32_t add(std::uint32_t cell, bool write, std::uint32_t line, std::uint32_t source, LiveStep& step) {
    const auto id = static_cast<std::uint32_t>(made_.accesses.size());
    made_.accesses.push_back({cell, static_cast<std::uint32_t>(made_.steps.size() - 1), write, line, source});
    step.accesses.push_back(id);
    return id;
  }

  Byte& byte_at(std::uint64_t address) {
    Byte& byte = memory_[address];
    if (byte.cell == kNothing) {
      byte.cell = static_cast<std::uint32_t>(made_.cells.size());
      const symbols::DataSymbol* const symbol = symbolizer_.data(address);
      made_.cells.push_back({false, symbol == nullptr ? "" : symbol->name});
      is_data_.push_back(false);
    }
    return byte;
  }

  void forget(std::uint64_t begin, std::uint64_t end) {
    memory_.erase(memory_.lower_bound(begin), memory_.lower_bound(end));
  }

  void run(const trace::Block& block, const trace::Exit& exit, std::size_t index, std::uint64_t address,
           const trace::InstructionFacts& facts, LiveStep& step) {
    const std::uint32_t line = line_of(address);
    if (step.line == kNoLine) step.line = line;
    bool data = is_floating(facts);
    if (trace::accesses_memory(facts)) data = read_memory(block, exit, index, line, data, step) || data;
    data = read_registers(facts, address, line, step) || data;
    write_registers(facts, address, line, data, step);
    if (trace::accesses_memory(facts)) write_memory(block, exit, index, line, data, step);
  }

  template <class What>
  void for_bytes(const trace::Block& block, const trace::Exit& exit, std::size_t index, trace::Access::Kind kind,
                 const What& what) {
    for (std::size_t a = 0; a < exit.accesses; ++a) {
      const trace::Access& access = block.accesses[a];
      if (access.instruction != index || access.kind != kind) continue;
      const std::uint64_t address = trace::evaluate(block, access.address, slots_);
      if (access.guarded && address == 0) continue;
      for (std::uint32_t i = 0; i < access.size; ++i) what(byte_at(address + i), access.size);
    }
  }

  /// Whether a copy of data may be what comes of it. `floating` instructions load data, or convert integers of four
  /// bytes.
  bool read_memory(const trace::Block& block, const trace::Exit& exit, std::size_t index, std::uint32_t line,
                   bool floating, LiveStep& step) {
    bool data = false;
    for_bytes(block, exit, index, trace::Access::Kind::kLoad, [&](Byte& byte, std::uint32_t size) {
      add(byte.cell, false, line, byte.access, step);
      data = data || byte.data;
      if (floating && size >= sizeof(double)) is_data_[byte.cell] = true;
    });
    return data;
  }

  void write_memory(const trace::Block& block, const trace::Exit& exit, std::size_t index, std::uint32_t line,
                    bool data, LiveStep& step) {
    for_bytes(block, exit, index, trace::Access::Kind::kStore, [&](Byte& byte, std::uint32_t) {
      byte.access = add(byte.cell, true, line, kNothing, step);
      byte.data = data;
      if (data) is_data_[byte.cell] = true;
    });
  }

  bool read_registers(const trace::InstructionFacts& facts, std::uint64_t address, std::uint32_t line, LiveStep& step) {
    bool data = false;
    for (const trace::RegisterUse& use : facts.reads) {
      const std::optional<std::size_t> reg = register_of(use);
      if (!reg || !registers_[*reg].data) continue;
      data = true;
      const Held& held = registers_[*reg];
      if (held.step == made_.steps.size() - 1) continue;
      register_uses_.push_back({add(kNothing, false, line, held.access, step), held.definition, held.activation,
                                Site{context_, address, *reg}});
    }
    return data;
  }

  /// All definitions are noted. Which of them belong to a web is known at the end.
  void write_registers(const trace::InstructionFacts& facts, std::uint64_t address, std::uint32_t line, bool data,
                       LiveStep& step) {
    for (const trace::RegisterUse& use : facts.writes) {
      const std::optional<std::size_t> reg = register_of(use);
      if (!reg) continue;
      registers_[*reg] = {};
      if (!data) continue;
      const auto [known, added] =
          definitions_.try_emplace(Site{context_, address, *reg}, static_cast<std::uint32_t>(definitions_.size()));
      const std::uint32_t access = add(kNothing, true, line, kNothing, step);
      register_definitions_.push_back({access, known->second, activation_, known->first});
      registers_[*reg] = {static_cast<std::uint32_t>(made_.steps.size() - 1), known->second, activation_, access, true};
    }
  }

  struct Noted {
    std::uint32_t access;
    std::uint32_t definition;
    Activation activation;  // of the definition
    Site site;
  };

  const trace::Reader& reader_;
  const structure::Structure& structure_;
  const structure::LoopTree& tree_;
  structure::LoopNames& names_;
  symbols::Symbolizer& symbolizer_;
  const std::string& file_;
  trace::ExitId exit_ = 0;
  std::span<const std::uint64_t> slots_;
  structure::ContextId context_ = structure::kNoContext;
  Activation activation_;
  std::unordered_map<trace::BlockId, std::unique_ptr<std::vector<trace::InstructionFacts>>> facts_;
  std::unordered_map<std::uint64_t, std::uint32_t> lines_;
  std::map<std::uint64_t, Byte> memory_;
  std::array<Held, kRegisters> registers_;
  std::map<Site, std::uint32_t> definitions_;
  std::vector<Noted> register_uses_;
  std::vector<Noted> register_definitions_;
  std::vector<bool> is_data_;  // by cell
  LiveTrace made_;
};

/// Definitions that reach a common use are one web.
class Webs {
 public:
  explicit Webs(std::size_t definitions) : parent_(definitions) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::uint32_t of(std::uint32_t definition) {
    while (parent_[definition] != definition) definition = parent_[definition] = parent_[parent_[definition]];
    return definition;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[of(a)] = of(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

LiveTrace Walker::finish() {
  Webs webs(definitions_.size());
  std::map<Site, std::uint32_t> used_at;
  std::vector<bool> leaves_step(definitions_.size());
  for (const Noted& use : register_uses_) {
    leaves_step[use.definition] = true;
    const auto [known, added] = used_at.try_emplace(use.site, use.definition);
    if (!added) webs.join(known->second, use.definition);
  }
  std::map<std::pair<std::uint32_t, Activation>, std::uint32_t> cell_of;  // by web
  const auto cell = [&](const Noted& noted) {
    const auto [known, added] = cell_of.try_emplace({webs.of(noted.definition), noted.activation},
                                                    static_cast<std::uint32_t>(made_.cells.size()));
    if (added) {
      made_.cells.push_back({true, ""});
      is_data_.push_back(true);
    }
    return known->second;
  };
  for (const Noted& use : register_uses_) made_.accesses[use.access].cell = cell(use);
  for (const Noted& definition : register_definitions_) {
    if (!leaves_step[definition.definition]) continue;
    made_.accesses[definition.access].cell = cell(definition);
  }
  std::vector<LiveStep> steps;
  for (LiveStep& step : made_.steps) {
    std::erase_if(step.accesses, [&](std::uint32_t access) {
      std::uint32_t& of = made_.accesses[access].cell;
      if (of != kNothing && !is_data_[of]) of = kNothing;
      return of == kNothing;
    });
    if (step.accesses.empty()) continue;
    for (const std::uint32_t access : step.accesses)
      made_.accesses[access].step = static_cast<std::uint32_t>(steps.size());
    steps.push_back(std::move(step));
  }
  made_.steps = std::move(steps);
  return std::move(made_);
}

}  // namespace

Result<LiveTrace> read_live_trace(const std::string& directory, const std::string& file) {
  const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(directory + "/trace.lft");
  if (!reader) return tl::unexpected<Error>(reader.error());
  symbols::Symbolizer symbolizer((*reader)->modules());
  const structure::Structure structure = structure::find_structure(**reader, structure::function_facts(symbolizer));
  structure::LoopNames names(structure, symbolizer);
  structure::LoopTree tree;
  Walker walker(**reader, structure, tree, names, symbolizer, file);
  structure::LoopWalk<Walker> walk(structure, tree, walker);
  std::string damage;
  walk.walk(**reader, damage);
  if (!damage.empty()) return fail(ErrorKind::kBadInput, damage);
  return walker.finish();
}

}  // namespace loopfold::reference
