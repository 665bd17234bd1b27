#include "poly/taken_out.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "poly/source_loops.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
using Kind = ddg::Dependence::Kind;
using Position = std::tuple<std::string, int, int>;       // file, line, column
using Call = std::pair<Position, structure::FunctionId>;  // where, and what is called

class Pieces {
 public:
  Pieces(const FlowIndex& index, const structure::Structure& structure, const LoopValues& values,
         const std::vector<bool>& chains, const VerdictOptions& options, structure::LoopNames& names)
      : index_(index),
        graph_(index.graph()),
        values_(values),
        flow_(values.flow()),
        symbolizer_(*options.symbolizer),
        pure_(options.pure),
        function_(index.tree()[flow_.loops.front()].function),
        parent_(index.tree()[flow_.loops.front()].parent),
        written_(written_in(index, values)) {
    find_chains(chains);
    find_positions();
    find_lines(names);
    find_left_over(structure, names);
    find_pieces();
  }

  std::vector<Doubt> run() {
    for (const ddg::StatementId id : values_.statements())
      for (const std::uint32_t number : index_.dependences_to(id)) look_before(graph_.dependences[number]);
    for (const ddg::StatementId id : index_.statements_in(parent_)) {
      if (!is_in_piece(id)) continue;
      for (const std::uint32_t number : index_.dependences_to(id)) look_behind(graph_.dependences[number]);
    }
    return std::move(doubts_);
  }

 private:
  /// Loops and calls beside the loop that are copies of what is inside it.
  void find_left_over(const structure::Structure& structure, structure::LoopNames& names) {
    const std::set<Call> calls = calls_inside(structure.code);
    const std::span<const structure::Context> contexts = index_.tree().contexts();
    for (structure::ContextId id = parent_ + 1; id < contexts.size(); ++id) {
      if (contexts[id].parent != parent_ || contains(flow_.loops, id)) continue;
      const bool is_loop = contexts[id].kind == structure::Context::Kind::kLoop;
      if (is_loop ? is_loop_inside(structure.forests[function_], contexts[id], names)
                  : is_call(contexts[id]) && calls.contains(call_of(structure.code, contexts[id])))
        left_over_.push_back(id);
    }
  }

  bool is_loop_inside(const structure::LoopForest& forest, const structure::Context& beside,
                      structure::LoopNames& names) const {
    if (beside.function != function_) return false;
    const std::optional<symbols::LoopSource>& source = names.of(function_, beside.loop).source;
    if (source && std::any_of(written_as_.begin(), written_as_.end(), [&](const Lines& loop) {
          return loop.source.scope == source->scope && loop.source.own_file == source->own_file &&
                 loop.has_inside(source->own_line);
        }))
      return true;
    return std::any_of(flow_.loops.begin(), flow_.loops.end(), [&](structure::ContextId loop) {
      return has_name_inside(forest, function_, index_.tree()[loop].loop, beside.loop, names);
    });
  }

  /// A loop as it is written: from the line that it begins with to the last one of what runs in it.
  struct Lines {
    symbols::LoopSource source;
    int last = 0;
    bool has_inside(int line) const { return line > source.own_line && line < last; }
  };

  void find_lines(structure::LoopNames& names) {
    for (const structure::ContextId loop : flow_.loops)
      if (const auto& source = names.of(function_, index_.tree()[loop].loop).source)
        written_as_.push_back({*source, 0});
    for (const ddg::StatementId id : values_.statements())
      for (const ddg::Instruction& instruction : graph_.statements[id].instructions) {
        const symbols::Location& at = symbolizer_.locate(instruction.address);
        for (Lines& loop : written_as_)
          if (is_in_scope(loop.source, at)) loop.last = std::max(loop.last, at.line);
      }
  }
  static bool is_in_scope(const symbols::LoopSource& loop, const symbols::Location& at) {
    return !at.frames.empty() && at.frames.front().scope == loop.scope && at.file == loop.own_file;
  }

  /// Code beside the loop that is written in it.
  bool is_code_of_loop(CodePoint at) const {
    if (graph_.statements[at.statement].context != parent_) return false;
    const symbols::Location& where =
        symbolizer_.locate(graph_.statements[at.statement].instructions[at.instruction].address);
    return std::any_of(written_as_.begin(), written_as_.end(), [&](const Lines& loop) {
      return is_in_scope(loop.source, where) && loop.has_inside(where.line);
    });
  }

  /// What the loop's own function calls in it, and where; only places that are known.
  std::set<Call> calls_inside(const structure::CodeMap& code) const {
    std::set<Call> calls;
    const std::span<const structure::Context> contexts = index_.tree().contexts();
    for (structure::ContextId id = parent_ + 1; id < contexts.size(); ++id) {
      const bool inside = std::any_of(flow_.loops.begin(), flow_.loops.end(),
                                      [&](structure::ContextId loop) { return index_.inside(id, loop); });
      if (!inside || !is_call(contexts[id])) continue;
      const Call call = call_of(code, contexts[id]);
      if (is_known(call.first)) calls.insert(call);
    }
    return calls;
  }

  bool is_call(const structure::Context& context) const {
    using ContextKind = structure::Context::Kind;
    return (context.kind == ContextKind::kCall || context.kind == ContextKind::kRecursion) &&
           context.caller == function_;
  }

  Call call_of(const structure::CodeMap& code, const structure::Context& context) const {
    if (context.site == code.hidden()) return {};
    return {position_at(code.last_instruction(context.site)), context.function};
  }

  static bool contains(const std::vector<structure::ContextId>& contexts, structure::ContextId context) {
    return std::find(contexts.begin(), contexts.end(), context) != contexts.end();
  }

  void find_chains(const std::vector<bool>& chains) {
    for (std::uint32_t number = 0; number < chains.size(); ++number) {
      if (!chains[number]) continue;
      const FlowEdge& edge = flow_.edges[number];
      reduced_.insert({edge.to, edge.operand});
      in_chains_.insert({edge.from, edge.to});
    }
  }

  void find_positions() {
    for (const ddg::StatementId id : values_.statements()) {
      if (graph_.statements[id].function != function_) continue;
      for (std::uint16_t i = 0; i < graph_.statements[id].instructions.size(); ++i) {
        const Position position = position_of({id, i});
        positions_.insert(position);
        lines_.insert(line_of(position));
        const trace::InstructionFacts* facts = index_.facts({id, i});
        if (facts == nullptr) continue;
        forms_.insert({position, facts->form});
        if (!flow_.nodes[values_.node({id, i})].index && (facts->kinds & trace::kBranch) == 0)
          data_forms_.insert({position, facts->form});
      }
    }
  }

  /// Whether there is a copy of something beside the loop that computes with data in it: guards and starting values do
  /// not count.
  void find_pieces() {
    for (const ddg::StatementId id : index_.statements_in(parent_)) {
      if (graph_.statements[id].context != parent_) continue;
      for (std::uint16_t i = 0; i < graph_.statements[id].instructions.size() && !has_piece_; ++i) {
        const trace::InstructionFacts* facts = index_.facts({id, i});
        const Position position = position_of({id, i});
        has_piece_ = facts != nullptr && is_known(position) && data_forms_.contains({position, facts->form});
      }
    }
  }

  /// Flow into the loop.
  void look_before(const ddg::Dependence& d) {
    if (d.from == ddg::kNoStatement || d.address || d.carried.empty() || d.carried.back() == 0) return;
    if (is_of_no_account(d)) return;
    const CodePoint from{d.from, d.from_instruction};
    const CodePoint to{d.to, d.to_instruction};
    const std::uint32_t node = values_.node(to);
    if (values_.node(from) != kOutside || !is_in_piece(d.from)) return;
    if (flow_.nodes[node].index) {
      if (goes_on_from(d, from, node))
        doubt("a value that is loaded before the loop, from what the loop writes", from, d.carried.back());
      return;
    }
    if (reduced_.contains({node, d.operand})) return;
    const bool stored = d.kind == Kind::kMemory && !is_stack(d.object) && is_code_of_loop(from);
    if (index_.pass(from) == Pass::kNone && (stored || is_left_over(d.from) || is_peeled(d, from, to)))
      doubt("values of an iteration that was taken out of the loop", from, d.carried.back());
    if (is_early(d, from) && !starts_recurrence(node, d.operand))
      doubt("a value that is loaded before the loop, from what the loop writes", from, d.carried.back());
  }

  bool is_peeled(const ddg::Dependence& d, CodePoint from, CodePoint to) const {
    if (d.kind == Kind::kMemory && !is_stack(d.object)) return may_be_copy(from) && may_be_copy(to);
    const trace::InstructionFacts* facts = index_.facts(from);
    return facts != nullptr && forms_.contains({position_of(from), facts->form}) && is_copy(from) && is_copy(to);
  }

  bool is_early(const ddg::Dependence& d, CodePoint from) const {
    if (d.kind != Kind::kRegister) return false;
    const std::optional<CodePoint> load = load_behind(from, written_, false, 0);
    return load && is_line_of_loop(*load);
  }

  /// The first value of what the loop itself hands from each iteration to the next one, and keeps the order of: it gets
  /// the rest from what it has computed just before, whatever the source has that in. (`a[i] = f(a[i - 1])`, of which
  /// the compiler keeps the last element.)
  bool starts_recurrence(std::uint32_t node, std::uint8_t operand) const {
    if (flow_.loops.size() != 1 || flow_.nodes[node].seen_through) return false;
    std::uint64_t carried = 0;
    for (const std::uint32_t number : flow_.in[node]) {
      const FlowEdge& edge = flow_.edges[number];
      if (edge.operand != operand) continue;
      carried += edge.carried;
      if (edge.inside != 0 || edge.lane != 0) return false;
      if (edge.from == kOutside || edge.carried == 0) continue;
      if (edge.least != 1 || edge.greatest != 1 || !is_computed(edge.from)) return false;
    }
    return carried > 0 && carried + index_.tree()[flow_.loops.front()].entries >=
                              graph_.statements[flow_.nodes[node].at.statement].count;
  }

  /// From data, not loaded or passed on.
  bool is_computed(std::uint32_t node) const {
    const FlowNode& from = flow_.nodes[node];
    return from.facts != nullptr && !from.index && !from.copy && index_.pass(from.at) == Pass::kNone &&
           (from.facts->kinds & trace::kArithmetic) != 0;
  }

  bool is_line_of_loop(CodePoint at) const {
    const Position position = position_of(at);
    return std::get<1>(position) != 0 && lines_.contains(line_of(position));
  }

  /// An index value of a number that was loaded, and is stored to the same object: a[i] = a[i - 1] + 1 is a[0] + i.
  bool goes_on_from(const ddg::Dependence& d, CodePoint from, std::uint32_t node) const {
    if (d.kind != Kind::kRegister) return false;
    std::set<ddg::ObjectId> stored;
    for (const std::uint32_t number : flow_.out[node]) {
      const FlowEdge& edge = flow_.edges[number];
      if (edge.address || edge.kind != Kind::kRegister) continue;
      const CodePoint to = flow_.nodes[edge.to].at;
      for (const std::uint32_t access : index_.accesses_of(to.statement))
        if (graph_.accesses[access].instruction == to.instruction && graph_.accesses[access].store)
          stored.insert(graph_.accesses[access].object);
    }
    if (stored.empty()) return false;
    const std::optional<CodePoint> load = load_behind(from, stored, true, 0);
    return load && is_line_of_loop(*load);
  }

  /// The load beside the loop, from one of the objects, that an instruction beside the loop passes on: as it is, or to
  /// all elements of a vector, or with a number added.
  std::optional<CodePoint> load_behind(CodePoint at, const std::set<ddg::ObjectId>& objects, bool sums,
                                       int depth) const {
    constexpr int kMostCopies = 4;
    if (loads_from(index_, at, objects)) return at;
    const trace::InstructionFacts* facts = index_.facts(at);
    if (facts == nullptr || depth >= kMostCopies || !is_in_piece(at.statement)) return std::nullopt;
    const bool integer_sum = sums && !facts->floating && facts->associative == trace::Associative::kAdd;
    const bool copies = index_.pass(at) == Pass::kRegisterCopy || (facts->kinds & trace::kArithmetic) == 0 ||
                        ((facts->kinds & (trace::kIntegerVector | trace::kFloatVector)) != 0 &&
                         facts->associative == trace::Associative::kNone);
    if (!copies && !integer_sum) return std::nullopt;
    for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
      if (local.to == at.instruction)
        if (const auto load = load_behind({at.statement, local.from}, objects, sums, depth + 1)) return load;
    for (const std::uint32_t number : index_.dependences_to(at.statement)) {
      const ddg::Dependence& d = graph_.dependences[number];
      if (d.to_instruction != at.instruction || d.kind != Kind::kRegister || d.address || d.from == ddg::kNoStatement)
        continue;
      if (const auto load = load_behind({d.from, d.from_instruction}, objects, sums, depth + 1)) return load;
    }
    return std::nullopt;
  }

  /// Flow from the loop to what is left of it.
  void look_behind(const ddg::Dependence& d) {
    if (d.from == ddg::kNoStatement || d.carried.empty() || d.carried.back() == 0 || is_of_no_account(d)) return;
    const CodePoint from{d.from, d.from_instruction};
    const std::uint32_t node = values_.node(from);
    if (node == kOutside || in_chains_.contains(node)) return;
    if (is_left_over(d.to) ? goes_to_left_over(d, node) : goes_to_code(d, from))
      doubt("values that go to an iteration that was taken out of the loop", from, d.carried.back());
  }

  bool goes_to_left_over(const ddg::Dependence& d, std::uint32_t from) const {
    return d.kind == Kind::kRegister ? !flow_.nodes[from].index : d.kind != Kind::kMemory || !is_stack(d.object);
  }

  bool goes_to_code(const ddg::Dependence& d, CodePoint from) const {
    if (d.kind != Kind::kMemory || is_stack(d.object) || graph_.statements[d.to].function != function_) return false;
    return graph_.statements[d.from].function == function_ && may_be_copy(from) &&
           may_be_copy({d.to, d.to_instruction});
  }

  /// Right beside the loop, or in a loop that was left over.
  bool is_in_piece(ddg::StatementId id) const { return graph_.statements[id].context == parent_ || is_left_over(id); }

  bool is_left_over(ddg::StatementId id) const {
    const structure::ContextId context = graph_.statements[id].context;
    return std::any_of(left_over_.begin(), left_over_.end(),
                       [&](structure::ContextId loop) { return index_.inside(context, loop); });
  }

  bool is_stack(ddg::ObjectId object) const { return graph_.objects[object].kind == ddg::Object::Kind::kStack; }

  static std::pair<std::string, int> line_of(const Position& position) {
    return {std::get<0>(position), std::get<1>(position)};
  }
  static bool is_known(const Position& position) { return std::get<1>(position) != 0 && std::get<2>(position) != 0; }

  bool is_copy(CodePoint at) const {
    const Position position = position_of(at);
    return is_known(position) && positions_.contains(position);
  }

  /// Compilers forget the place of an instruction that they move, in one copy or in all of them.
  bool may_be_copy(CodePoint at) const {
    const Position position = position_of(at);
    return is_copy(at) || (has_piece_ && (!is_known(position) || lines_.contains(line_of(position))));
  }

  Position position_of(CodePoint at) const {
    if (index_.facts(at) == nullptr) return {};
    return position_at(graph_.statements[at.statement].instructions[at.instruction].address);
  }

  Position position_at(std::uint64_t address) const {
    const symbols::Location& location = symbolizer_.locate(address);
    return {location.file, location.line, location.column};
  }

  /// Whether flow is between calls that may be reordered, or says nothing about values.
  bool is_of_no_account(const ddg::Dependence& d) const {
    const auto is_pure = [&](ddg::StatementId id) {
      const structure::ContextId context = graph_.statements[id].context;
      return context < pure_.size() && pure_[context];
    };
    return (is_pure(d.from) && is_pure(d.to)) ||
           FlowIndex::is_ignored(index_.facts({d.to, d.to_instruction}), d.operand);
  }

  void doubt(const char* why, CodePoint at, std::uint64_t count) { doubts_.push_back({why, at, count}); }

  const FlowIndex& index_;
  const ddg::Graph& graph_;
  const LoopValues& values_;
  const LoopFlow& flow_;
  symbols::Symbolizer& symbolizer_;
  const std::vector<bool>& pure_;
  structure::FunctionId function_;
  structure::ContextId parent_;
  std::vector<structure::ContextId> left_over_;
  std::vector<Lines> written_as_;  // each copy of the loop
  std::set<ddg::ObjectId> written_;
  std::set<Position> positions_;  // of the loop's instructions
  std::set<std::pair<Position, std::uint32_t>> forms_;
  std::set<std::pair<Position, std::uint32_t>> data_forms_;  // of those that are no index values
  std::set<std::pair<std::string, int>> lines_;
  bool has_piece_ = false;
  std::set<std::pair<std::uint32_t, std::uint8_t>> reduced_;  // operands that continue a reduction
  std::set<std::uint32_t> in_chains_;                         // nodes of reductions
  std::vector<Doubt> doubts_;
};

}  // namespace

std::vector<Doubt> doubts_of_pieces(const FlowIndex& index, const structure::Structure& structure,
                                    const LoopValues& values, const std::vector<bool>& chains,
                                    const VerdictOptions& options, structure::LoopNames& names) {
  return Pieces(index, structure, values, chains, options, names).run();
}

bool loads_from(const FlowIndex& index, CodePoint at, const std::set<ddg::ObjectId>& objects) {
  if (index.pass(at) != Pass::kLoad) return false;
  const ddg::Graph& graph = index.graph();
  const std::span<const std::uint32_t> accesses = index.accesses_of(at.statement);
  return std::any_of(accesses.begin(), accesses.end(), [&](std::uint32_t number) {
    const ddg::Access& access = graph.accesses[number];
    return access.instruction == at.instruction && objects.contains(access.object) &&
           graph.objects[access.object].kind != ddg::Object::Kind::kStack;
  });
}

std::set<ddg::ObjectId> written_in(const FlowIndex& index, const LoopValues& values) {
  std::set<ddg::ObjectId> written;
  for (const ddg::StatementId id : values.statements())
    for (const std::uint32_t number : index.accesses_of(id))
      if (index.graph().accesses[number].store) written.insert(index.graph().accesses[number].object);
  return written;
}

}  // namespace loopfold::poly
