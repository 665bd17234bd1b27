#include "advise/liveness/moved_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "poly/loop_reads.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using structure::ContextId;
using structure::NodeId;
using symbols::LoopHeads;

/// In the source, of the function that the loop is written in.
struct Position {
  int line = 0;
  int column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

class OneLoop {
 public:
  OneLoop(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow, const ValueWays& ways,
          Locals& locals, const poly::FlowOfLoop& loop, const Inside& inside, const profile::Source& head,
          std::optional<LoopHeads::Head> text)
      : graph_(graph),
        context_(context),
        flow_(flow),
        ways_(ways),
        locals_(locals),
        loop_(loop),
        inside_(inside),
        head_(head),
        text_(std::move(text)),
        function_(context.tree[loop.loop.loops.front()].function) {
    find_scope();
    look_inside();
    find_around();
    find_behind();
  }

  /// There is something in it that is not for counting.
  bool does_something() const {
    return std::any_of(inside_.statements.begin(), inside_.statements.end(), [&](ddg::StatementId id) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.kind != ddg::Statement::Kind::kCode || statement.function != function_) return true;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const std::uint32_t kinds = statement.instructions[i].kinds;
        if ((kinds & trace::kStore) != 0 || ((kinds & trace::kBranch) == 0 && !flow_.is_index({id, i}))) return true;
      }
      return false;
    });
  }

  std::optional<int> run(const std::vector<ddg::StatementId>& statements) const {
    if (last_ == 0) return std::nullopt;
    for (const ddg::StatementId id : statements) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.kind != ddg::Statement::Kind::kCode || inside_.holds(id) || !around_.contains(statement.context))
        continue;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const CodePoint at{id, i};
        const std::optional<Position> position = position_of(at);
        if (position && is_in_loop(*position) && is_work(at, *position)) return position->line;
      }
    }
    return std::nullopt;
  }

 private:
  const ddg::Instruction& instruction(CodePoint at) const {
    return graph_.statements[at.statement].instructions[at.instruction];
  }

  // ---- places ----

  /// The instance of the function that the loop is written in: that which has the loop's head in it.
  void find_scope() {
    for (const ddg::StatementId id : inside_.statements) {
      if (graph_.statements[id].function != function_) continue;
      for (const ddg::Instruction& one : graph_.statements[id].instructions)
        for (const symbols::Frame& frame : context_.locate(one.address).frames)
          if (frame.line == head_.line && frame.file == head_.file) {
            scope_ = frame.scope;
            return;
          }
    }
  }

  std::optional<Position> position_of(CodePoint at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    if (at.instruction >= statement.instructions.size()) return std::nullopt;
    return position_at(statement.instructions[at.instruction].address);
  }
  std::optional<Position> position_at(std::uint64_t address) const {
    const symbols::Location& location = context_.locate(address);
    if (!scope_) {
      if (location.line <= 0 || location.file != head_.file) return std::nullopt;
      return Position{location.line, location.column};
    }
    for (const symbols::Frame& frame : location.frames)
      if (frame.scope == *scope_ && frame.line > 0 && frame.file == head_.file)
        return Position{frame.line, frame.column};
    return std::nullopt;
  }

  /// A loop that stands in one line has its body there.
  bool is_in_body(const Position& position) const { return position.line >= first_ && position.line <= last_; }
  bool is_in_loop(const Position& position) const { return position.line >= head_first_ && position.line <= last_; }

  void look_inside() {
    first_ = text_ ? (text_->first == text_->end ? text_->first : text_->last + 1) : head_.line + 1;
    last_ = text_ ? text_->end : 0;
    head_first_ = text_ ? text_->first : head_.line;
    if (text_ && text_->tests_last) first_ = text_->first;
    for (const ddg::StatementId id : inside_.statements) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.function != function_) continue;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        const std::optional<Position> position = position_of({id, i});
        if (!position) continue;
        if (!text_) last_ = std::max(last_, position->line);
        if ((statement.instructions[i].kinds & trace::kStore) != 0) stores_.insert(*position);
      }
    }
    for (const poly::KeptFlow& kept : loop_.flows) {
      if (!kept.reduction) continue;
      for (const CodePoint at : {kept.from, kept.to})
        if (const std::optional<Position> position = position_of(at)) reduced_.insert(position->line);
    }
  }

  /// What runs before the loop, behind it, or in loops around it, in its function.
  void find_around() {
    for (const ContextId loop : loop_.loop.loops)
      for (ContextId at = context_.tree[loop].parent; at != structure::kNoContext; at = context_.tree[at].parent) {
        around_.insert(at);
        if (context_.tree[at].kind != structure::Context::Kind::kLoop) break;
      }
  }

  /// Where control comes to from the loop, without going round a loop around it.
  void find_behind() {
    if (context_.structure == nullptr) return;
    const structure::LoopForest& forest = context_.structure->forests[function_];
    const structure::Function& code = context_.structure->flow.functions()[function_];
    const auto is_in_loop = [&](NodeId node) {
      return std::any_of(loop_.loop.loops.begin(), loop_.loop.loops.end(),
                         [&](ContextId loop) { return forest.contains(context_.tree[loop].loop, node); });
    };
    const structure::LoopId around = forest.loops()[context_.tree[loop_.loop.loops.front()].loop].parent;
    std::vector<NodeId> open;
    for (NodeId node = 0; node < code.places.size(); ++node)
      if (is_in_loop(node))
        for (const NodeId to : code.graph.successors(node)) open.push_back(to);
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      const bool away =
          around != structure::kNoLoop && (!forest.contains(around, node) || forest.loops()[around].header == node);
      if (away || is_in_loop(node) || !behind_.insert(node).second) continue;
      for (const NodeId to : code.graph.successors(node)) open.push_back(to);
    }
  }

  // ---- work ----

  bool is_work(CodePoint at, const Position& position) const {
    const std::uint32_t kinds = instruction(at).kinds;
    if ((kinds & (trace::kCall | trace::kBranch)) != 0) return false;
    if ((kinds & trace::kStore) != 0)
      return (is_in_body(position) ? !stores_.contains(position) : is_store_without_line(at, position)) &&
             stores_for_good(at) && !is_of_value_in_loop(at, position.line);
    // Iterations of a reduction that stand behind the loop go on with it.
    if (reduced_.contains(position.line)) return false;
    return behind_.contains(graph_.statements[at.statement].node) && makes_value(at, is_in_body(position)) &&
           is_used_elsewhere(at, is_in_body(position)) && !is_of_value_in_loop(at, position.line);
  }

  /// What has lost its line has that of the code before it: behind the loop, the line of the loop's head.
  bool is_store_without_line(CodePoint at, const Position& position) const {
    const bool counts =
        std::any_of(stores_.begin(), stores_.end(), [&](const Position& store) { return store.line == position.line; });
    const std::span<const ddg::Access> all = ways_.accesses(at.statement);
    return !counts && behind_.contains(graph_.statements[at.statement].node) &&
           std::none_of(all.begin(), all.end(), [&](const ddg::Access& access) {
             return access.store && access.instruction == at.instruction && is_in_frame(access.object);
           });
  }

  /// Of the frame, variables of the source only: spills of registers are nobody's work.
  bool stores_for_good(CodePoint at) const {
    const std::span<const ddg::Access> all = ways_.accesses(at.statement);
    return std::any_of(all.begin(), all.end(), [&](const ddg::Access& access) {
      if (!access.store || access.instruction != at.instruction) return false;
      if (!is_in_frame(access.object)) return true;
      const ddg::Access* const one = &access;
      const std::vector<Variable> variables =
          find_variables(graph_, context_, loop_.loop, std::span(&one, 1), {}, locals_);
      return std::any_of(variables.begin(), variables.end(), [](const Variable& v) { return v.named_in_source; }) &&
             is_used_elsewhere(at);
    });
  }

  /// It computes, or loads from somewhere that is no frame: what only goes from register to register, or comes back
  /// from a spill, is where the compiler has it. Nor is it a value that every iteration of a loop around can compute.
  /// In the line of the head, constants are what the next loop begins with.
  bool makes_value(CodePoint at, bool in_body) const {
    if (flow_.is_index(at)) return false;
    const trace::InstructionFacts& facts = facts_of(at);
    if ((facts.kinds & trace::kLoad) != 0 && (facts.kinds & trace::kArithmetic) == 0) {
      const std::span<const ddg::Access> all = ways_.accesses(at.statement);
      return in_body && std::any_of(all.begin(), all.end(), [&](const ddg::Access& access) {
               return !access.store && access.instruction == at.instruction && !is_in_frame(access.object);
             });
    }
    if (poly::copied_operand(facts)) return false;
    return in_body || !facts.reads.empty();
  }

  /// By code that is neither in the loop nor of its lines, whatever of these is between, nor sums of integers
  /// elsewhere. Addresses and counters of other loops do not count. `decides`: but branches do.
  bool is_used_elsewhere(CodePoint start, bool decides = true) const {
    constexpr std::size_t kMost = 100;
    std::vector<CodePoint> all{start};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > kMost) return true;
      const CodePoint at = all[i];
      bool elsewhere = false;
      const auto look_at = [&](CodePoint to, std::uint8_t operand) {
        if (inside_.holds(to.statement) || flow_.is_index(to)) return;
        if (is_passed_on(to)) {
          if (std::find(all.begin(), all.end(), to) == all.end()) all.push_back(to);
        } else {
          elsewhere = elsewhere || is_use(to, operand, decides);
        }
      };
      for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
        if (local.from == at.instruction && !is_for_address({at.statement, local.to}, local.operand))
          look_at({at.statement, local.to}, local.operand);
      for (const std::uint32_t number : ways_.uses(at.statement)) {
        const ddg::Dependence& use = graph_.dependences[number];
        if (use.from_instruction != at.instruction || use.address || ways_.is_saved(use)) continue;
        // A store of the loop's lines is looked at by itself; a spill only passes on what is spilled.
        if (i == 0 || use.kind != ddg::Dependence::Kind::kMemory || is_in_frame(use.object))
          look_at({use.to, use.to_instruction}, use.operand);
      }
      if (elsewhere) return true;
    }
    return false;
  }

  /// Of the loop's lines, or without a line; elsewhere, integers that are computed from it.
  bool is_passed_on(CodePoint at) const {
    constexpr std::uint32_t kOther = trace::kFloatScalar | trace::kFloatVector | trace::kIntegerVector | trace::kX87 |
                                     trace::kStore | trace::kBranch | trace::kCall;
    const ddg::Statement& statement = graph_.statements[at.statement];
    if (statement.kind != ddg::Statement::Kind::kCode || statement.function != function_) return false;
    const std::optional<Position> position = position_of(at);
    if (position ? is_in_loop(*position) : context_.locate(instruction(at).address).line <= 0) return true;
    return (instruction(at).kinds & kOther) == 0;
  }

  /// Functions that are called get values in the registers of arguments; what else they read, they save.
  bool is_use(CodePoint at, std::uint8_t operand, bool decides) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    if (statement.kind != ddg::Statement::Kind::kCode) return true;
    if (statement.function == function_)
      return (instruction(at).kinds & trace::kBranch) == 0 || (decides && around_.contains(statement.context));
    for (ContextId id = statement.context; id != structure::LoopTree::root(); id = context_.tree[id].parent) {
      const structure::Context& call = context_.tree[id];
      if (call.kind != structure::Context::Kind::kCall || call.caller != function_) continue;
      if (!around_.contains(call.parent) || context_.structure == nullptr) continue;
      const std::optional<Position> position = position_at(context_.structure->code.address(call.site));
      return !(position && is_in_loop(*position)) && is_argument(at, operand);
    }
    const bool is_caller = std::any_of(around_.begin(), around_.end(), [&](ContextId id) {
      while (id != structure::LoopTree::root() && id != statement.context) id = context_.tree[id].parent;
      return id == statement.context;
    });
    return is_caller || is_argument(at, operand);
  }

  bool is_argument(CodePoint at, std::uint8_t operand) const {
    static const std::set<std::uint32_t> general = {1, 2, 4, 5, 8, 9};  // rdx, rcx, rsi, rdi, r8, r9 of DWARF
    constexpr std::uint32_t kFirstVector = 17;
    constexpr std::uint32_t kVectors = 8;
    const std::vector<trace::RegisterUse>& reads = facts_of(at).reads;
    if (operand >= reads.size()) return operand != ddg::kFlagsOperand;  // memory
    const std::optional<std::uint32_t> number = dwarf_number(reads[operand]);
    return number && (general.contains(*number) || (*number >= kFirstVector && *number < kFirstVector + kVectors));
  }

  bool is_in_frame(ddg::ObjectId object) const { return graph_.objects[object].kind == ddg::Object::Kind::kStack; }

  const trace::InstructionFacts& facts_of(CodePoint at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    return (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  }

  bool is_for_address(CodePoint at, std::uint8_t operand) const {
    const trace::InstructionFacts& facts = facts_of(at);
    return operand < facts.reads.size() && facts.reads[operand].address;
  }

  /// It is made of what the loop computes in this line, or reduces.
  bool is_of_value_in_loop(CodePoint start, int line) const {
    constexpr std::size_t kMost = 100;
    std::vector<CodePoint> all{start};
    const auto add = [&](CodePoint from) {
      if (std::find(all.begin(), all.end(), from) == all.end()) all.push_back(from);
    };
    for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
      const CodePoint at = all[i];
      if (inside_.holds(at.statement)) {
        const std::optional<Position> position = position_of(at);
        if (position && !flow_.is_index(at) &&
            (position->line == line || (reduced_.contains(position->line) && reduced_.contains(line))))
          return true;
        continue;
      }
      if (graph_.statements[at.statement].function != function_) continue;
      for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
        if (local.to == at.instruction && !is_for_address(at, local.operand)) add({at.statement, local.from});
      for (const ddg::Dependence& from : ways_.into(at.statement, at.instruction))
        if (!from.address && from.from != ddg::kNoStatement && from.kind == ddg::Dependence::Kind::kRegister)
          add({from.from, from.from_instruction});
    }
    return false;
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const ValueWays& ways_;
  Locals& locals_;
  const poly::FlowOfLoop& loop_;
  const Inside& inside_;
  const profile::Source& head_;
  std::optional<LoopHeads::Head> text_;
  structure::FunctionId function_;
  std::optional<std::uint64_t> scope_;
  int head_first_ = 0;  // lines of the loop
  int first_ = 0;       // and of its body
  int last_ = 0;
  std::set<Position> stores_;  // in the loop
  std::set<int> reduced_;      // lines of reductions
  std::set<ContextId> around_;
  std::set<NodeId> behind_;
};

}  // namespace

MovedWork::MovedWork(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     const ValueWays& ways, Locals& locals)
    : graph_(graph), context_(context), flow_(flow), ways_(ways), locals_(locals) {
  for (const ddg::Statement& statement : graph.statements) {
    if (statement.function == structure::kNoFunction) continue;
    if (statement.function >= of_function_.size()) of_function_.resize(statement.function + 1U);
    of_function_[statement.function].push_back(statement.id);
  }
}

/// Only where it was when it was compiled: another file of that name might be found elsewhere.
const LoopHeads& MovedWork::heads_of(const std::string& path) {
  std::unique_ptr<LoopHeads>& heads = heads_[path];
  if (heads) return *heads;
  const std::optional<LoopHeads::Language> language = LoopHeads::language_of(path);
  std::ostringstream text;
  if (std::ifstream stream(path, std::ios::binary); language && stream) text << stream.rdbuf();
  heads = std::make_unique<LoopHeads>(text.view(), language.value_or(LoopHeads::Language::kC));
  return *heads;
}

std::string MovedWork::find(const poly::FlowOfLoop& loop, const Inside& inside, const profile::Source& head,
                            std::size_t around) {
  const structure::FunctionId function = context_.tree[loop.loop.loops.front()].function;
  if (function >= of_function_.size()) return "";
  std::string path = head.file;
  if (!path.starts_with('/') && !inside.statements.empty()) {
    const ddg::Statement& first = graph_.statements[inside.statements.front()];
    const std::string_view directory =
        first.instructions.empty() ? "" : context_.locate(first.instructions.front().address).directory;
    if (!directory.empty()) path = std::string(directory) + "/" + path;
  }
  std::vector<LoopHeads::Head> of_line;
  for (const LoopHeads::Head& one : heads_of(path).heads())
    if (one.has(head.line)) of_line.push_back(one);
  const std::optional<LoopHeads::Head> text = around < of_line.size() ? std::optional(of_line[around]) : std::nullopt;
  const OneLoop one(graph_, context_, flow_, ways_, locals_, loop, inside, head, text);
  if (!one.does_something())
    return fmt::format("{} {} that stores or hands on a value; build with less optimisation", kNothingLeft, head.line);
  const std::optional<int> line = one.run(of_function_[function]);
  if (!line) return "";
  return fmt::format("{} {} outside of the loop of line {}; build with less optimisation", kMovedWork, *line,
                     head.line);
}

}  // namespace loopfold::advise::liveness
