#include "advise/liveness/variables.h"

#include <algorithm>
#include <set>

#include "advise/liveness/clause_names.h"

namespace loopfold::advise::liveness {

namespace {

using structure::ContextId;
using structure::kNoContext;
using Kind = ddg::Object::Kind;

constexpr std::int64_t kReturnAddress = 8;  // offsets in frames count from it, DWARF's from behind it

/// Bytes of a frame that belong together.
struct Interval {
  std::int64_t first = 0;
  std::int64_t end = 0;
  const symbols::LocalVariable* local = nullptr;
  std::vector<const ddg::Access*> accesses;
};

std::pair<std::int64_t, std::int64_t> extent_of(const ddg::Access& access) {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool known = false;
  for (const fold::Piece& piece : access.address.pieces) {
    const fold::Output& offset = piece.outputs[1];
    first = known ? std::min(first, offset.minimum) : offset.minimum;
    last = known ? std::max(last, offset.maximum) : offset.maximum;
    known = true;
  }
  return {first, last + static_cast<std::int64_t>(access.size)};
}

bool holds(const std::vector<symbols::CodeRange>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const symbols::CodeRange& range) { return range.start <= address && address < range.end; });
}

std::uint64_t bytes_of(const std::vector<symbols::CodeRange>& ranges) {
  std::uint64_t bytes = 0;
  for (const symbols::CodeRange& range : ranges) bytes += range.end - range.start;
  return bytes;
}

/// Overlapping ones become one; of two with a variable, the one that comes first gives its name.
void join(std::vector<Interval>& all) {
  std::sort(all.begin(), all.end(), [](const Interval& a, const Interval& b) {
    return a.first != b.first ? a.first < b.first : a.end > b.end;
  });
  std::vector<Interval> joined;
  for (Interval& one : all) {
    if (joined.empty() || one.first >= joined.back().end) {
      joined.push_back(std::move(one));
      continue;
    }
    Interval& last = joined.back();
    last.end = std::max(last.end, one.end);
    if (last.local == nullptr) last.local = one.local;
    last.accesses.insert(last.accesses.end(), one.accesses.begin(), one.accesses.end());
  }
  all = std::move(joined);
}

class Finder {
 public:
  Finder(const ddg::Graph& graph, const poly::Context& context, const poly::SourceLoop& loop,
         std::span<const std::uint64_t> tests, Locals& locals)
      : graph_(graph),
        context_(context),
        loop_(loop),
        locals_(locals),
        tests_(tests),
        names_(context, loop.loops.front()) {
    find_functions();
  }

  std::vector<Variable> run(std::span<const ddg::Access* const> accesses) {
    std::map<ddg::ObjectId, std::vector<const ddg::Access*>> objects;
    for (const ddg::Access* access : accesses) objects[access->object].push_back(access);
    find_code(accesses);
    for (auto& [object, list] : objects) {
      if (graph_.objects[object].kind == Kind::kStack)
        add_frame(object, list);
      else
        add_object(object, list);
    }
    return std::move(found_);
  }

 private:
  /// Functions that are entered inside the loop, and those that it is in.
  void find_functions() {
    if (context_.structure == nullptr) return;
    const std::span<const structure::Context> contexts = context_.tree.contexts();
    std::vector<bool> inside(contexts.size());
    for (ContextId id = 1; id < contexts.size(); ++id) {
      const bool root = std::find(loop_.loops.begin(), loop_.loops.end(), id) != loop_.loops.end();
      inside[id] = root || inside[contexts[id].parent];
      if (inside[id] && !root && contexts[id].kind != structure::ContextKey::Kind::kLoop)
        called_.insert(address_of(contexts[id].function));
    }
    for (ContextId id = loop_.loops.front(); id != structure::LoopTree::root(); id = contexts[id].parent) {
      if (contexts[id].kind == structure::ContextKey::Kind::kRecursion) recursive_ = true;
      around_.insert(address_of(contexts[id].function));
    }
    own_ = function_of(context_, loop_.loops.front());
  }

  std::uint64_t address_of(structure::FunctionId function) const {
    if (function >= context_.structure->flow.functions().size()) return 0;
    return context_.structure->code.address(context_.structure->flow.functions()[function].entry);
  }

  /// Instructions of the loop's own function.
  void find_code(std::span<const ddg::Access* const> accesses) {
    const structure::FunctionId function = context_.tree[loop_.loops.front()].function;
    code_.assign(tests_.begin(), tests_.end());
    for (const ddg::Access* access : accesses) {
      const ddg::Statement& statement = graph_.statements[access->statement];
      if (statement.function == function) code_.push_back(statement.instructions[access->instruction].address);
    }
  }

  /// Something of the loop is in the block that it is declared in. Variables of blocks that are not in each other share
  /// places.
  bool may_be_meant(const symbols::LocalVariable& local) const {
    if (local.parameter || local.scope.empty() || code_.empty()) return true;
    return std::any_of(code_.begin(), code_.end(), [&](std::uint64_t address) { return holds(local.scope, address); });
  }

  /// A spill, or the return address that a call leaves.
  bool is_scratch(const ddg::Access& store) const {
    const ddg::Instruction& by = graph_.statements[store.statement].instructions[store.instruction];
    return store.copies == store.address.points || (by.kinds & trace::kCall) != 0;
  }

  /// A variable from outside of the loop's body is somewhere in the frame while some access runs.
  bool may_be_variable(const std::vector<symbols::LocalVariable>& locals,
                       const std::vector<const ddg::Access*>& accesses) const {
    return std::any_of(locals.begin(), locals.end(), [&](const symbols::LocalVariable& local) {
      if (local.somewhere.empty() || is_inside_body(local, tests_)) return false;
      return std::any_of(accesses.begin(), accesses.end(), [&](const ddg::Access* access) {
        const std::uint64_t at = graph_.statements[access->statement].instructions[access->instruction].address;
        return std::any_of(local.somewhere.begin(), local.somewhere.end(),
                           [&](const symbols::CodeRange& range) { return range.start <= at && at < range.end; });
      });
    });
  }

  void note_store(Variable& variable) const {
    for (const ddg::Access* access : variable.accesses)
      if (access->store && !variable.at)
        variable.at = graph_.statements[access->statement].instructions[access->instruction].address;
  }

  void add_object(ddg::ObjectId id, const std::vector<const ddg::Access*>& accesses) {
    const ddg::Object& object = graph_.objects[id];
    Variable& made = found_.emplace_back();
    made.object = id;
    made.name = object.name;
    made.accesses = accesses;
    made.bytes = object.size;
    made.clause_name = names_.of(object.name);
    made.named_in_source = object.kind == Kind::kGlobal && !object.type.empty() && !made.clause_name.empty();
    note_store(made);
  }

  /// Of two variables that share bytes, one is not there while the other one is: where bytes are accessed in the
  /// smaller block, they are those of that block's variable.
  void leave_out_others(std::vector<Interval>& all) const {
    const auto overlap = [](const Interval& a, const Interval& b) { return a.first < b.end && b.first < a.end; };
    const auto is_accessed = [&](const Interval& one) {
      return std::any_of(all.begin(), all.end(), [&](const Interval& other) {
        if (other.local != nullptr || !overlap(one, other)) return false;
        const ddg::Access& access = *other.accesses.front();
        return holds(one.local->scope, graph_.statements[access.statement].instructions[access.instruction].address);
      });
    };
    std::set<const symbols::LocalVariable*> others;
    for (const Interval& one : all)
      for (const Interval& other : all)
        if (one.local != nullptr && other.local != nullptr && overlap(one, other) &&
            bytes_of(one.local->scope) < bytes_of(other.local->scope) && is_accessed(one))
          others.insert(other.local);
    std::erase_if(all, [&](const Interval& one) { return one.local != nullptr && others.contains(one.local); });
  }

  void add_frame(ddg::ObjectId id, const std::vector<const ddg::Access*>& accesses) {
    const ddg::Object& object = graph_.objects[id];
    if (called_.contains(object.site) && !around_.contains(object.site) && !recursive_) {
      Variable& made = found_.emplace_back();
      made.object = id;
      made.name = object.name;
      made.accesses = accesses;
      made.bytes = object.size;
      made.born_inside = true;
      return;
    }
    const std::vector<symbols::LocalVariable>& locals = locals_.of(object.site);
    const std::optional<std::int64_t> shift = locals_.shift(graph_, context_, id);
    std::vector<Interval> all;
    for (const symbols::LocalVariable& local : locals) {
      if (!shift || local.places.empty() || local.places.front().in_register || local.size == 0) continue;
      if (object.site == own_ && !may_be_meant(local)) continue;
      const std::int64_t first = local.places.front().offset + *shift;
      all.push_back({first, first + static_cast<std::int64_t>(local.size), &local, {}});
    }
    for (const ddg::Access* access : accesses) {
      const auto [first, end] = extent_of(*access);
      all.push_back({first, end, nullptr, {access}});
    }
    if (object.site == own_) leave_out_others(all);
    join(all);
    const bool understood = shift && !may_be_variable(locals, accesses);
    for (const Interval& interval : all) {
      if (interval.accesses.empty()) continue;
      Variable& made = found_.emplace_back();
      made.object = id;
      made.accesses = interval.accesses;
      made.bytes = static_cast<std::uint64_t>(interval.end - interval.first);
      if (interval.local != nullptr) {
        made.name = made.clause_name = interval.local->name;
        made.named_in_source = object.site == own_;
        made.born_inside = object.site == own_ && is_inside_body(*interval.local, tests_);
      } else {
        made.scratch = understood && context_.locate(object.site).line > 0 &&
                       std::all_of(made.accesses.begin(), made.accesses.end(),
                                   [&](const ddg::Access* access) { return !access->store || is_scratch(*access); });
      }
      note_store(made);
    }
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::SourceLoop& loop_;
  Locals& locals_;
  std::span<const std::uint64_t> tests_;
  ClauseNames names_;
  std::vector<std::uint64_t> code_;
  std::set<std::uint64_t> called_;
  std::set<std::uint64_t> around_;
  std::uint64_t own_ = 0;
  bool recursive_ = false;
  std::vector<Variable> found_;
};

}  // namespace

std::optional<std::uint32_t> dwarf_number(const trace::RegisterUse& use) {
  constexpr std::uint32_t kGeneral[] = {0, 2, 1, 3, 7, 6, 4, 5};  // rax rcx rdx rbx rsp rbp rsi rdi
  constexpr std::uint32_t kFirstVector = 17;
  if (use.file == trace::RegisterFile::kGeneral) return use.index < 8 ? kGeneral[use.index] : use.index;
  if (use.file == trace::RegisterFile::kVector) return kFirstVector + use.index;
  return std::nullopt;
}

bool is_in_register(const symbols::LocalVariable& variable, std::uint64_t address, std::uint32_t reg) {
  return std::any_of(variable.places.begin(), variable.places.end(), [&](const symbols::LocalVariable::Place& place) {
    return place.in_register && place.reg == reg && place.code.start <= address && address < place.code.end;
  });
}

const std::vector<symbols::LocalVariable>& Locals::of(std::uint64_t function_address) {
  const auto [known, is_new] = known_.try_emplace(function_address);
  if (is_new && symbolizer_ != nullptr) known->second = symbolizer_->locals(function_address);
  return known->second;
}

/// Functions of which some call was seen, and so where their frames begin.
void Locals::find_called(const poly::Context& context) {
  if (context.structure == nullptr) return;
  const std::span<const structure::Function> functions = context.structure->flow.functions();
  for (const structure::Context& one : context.tree.contexts()) {
    using Kind = structure::ContextKey::Kind;
    if ((one.kind == Kind::kCall || one.kind == Kind::kRecursion) && one.function < functions.size())
      called_.insert(context.structure->code.address(functions[one.function].entry));
  }
}

std::optional<std::int64_t> Locals::shift(const ddg::Graph& graph, const poly::Context& context, ddg::ObjectId frame) {
  if (!has_shifts_) {
    find_shifts(graph, context);
    find_called(context);
  }
  has_shifts_ = true;
  const auto found = shifts_.find(frame);
  if (found != shifts_.end()) return found->second;
  if (context.structure != nullptr && !called_.contains(graph.objects[frame].site)) return std::nullopt;
  return kReturnAddress;
}

/// A function does not store over its own return address. If it seems to, the frame does not begin there.
void Locals::find_shifts(const ddg::Graph& graph, const poly::Context& context) {
  constexpr std::uint8_t kStackPointer = 4;
  constexpr std::int64_t kPushed = 8;
  if (context.structure == nullptr) return;
  const std::span<const structure::Function> functions = context.structure->flow.functions();
  std::map<ddg::ObjectId, std::int64_t> ends;
  for (const ddg::Access& access : graph.accesses) {
    const ddg::Statement& statement = graph.statements[access.statement];
    const ddg::Object& object = graph.objects[access.object];
    if (!access.store || object.kind != Kind::kStack || statement.kind != ddg::Statement::Kind::kCode) continue;
    if (statement.function >= functions.size() ||
        context.structure->code.address(functions[statement.function].entry) != object.site)
      continue;
    const std::int64_t end = extent_of(access).second;
    const auto known = ends.find(access.object);
    if (end <= 0 || (known != ends.end() && known->second > end)) continue;
    const std::vector<trace::RegisterUse>& writes =
        (*graph.facts)[statement.block][statement.first_instruction + access.instruction].writes;
    const bool push = std::any_of(writes.begin(), writes.end(), [](const trace::RegisterUse& use) {
      return use.file == trace::RegisterFile::kGeneral && use.index == kStackPointer;
    });
    const bool first = known == ends.end() || known->second < end;
    ends[access.object] = end;
    std::optional<std::int64_t>& shift = shifts_[access.object];
    if (push && end == kPushed && (first || shift))
      shift = kReturnAddress + kPushed;
    else
      shift.reset();
  }
}

std::uint64_t function_of(const poly::Context& context, ContextId loop) {
  if (context.structure == nullptr || loop == kNoContext) return 0;
  const structure::FunctionId function = context.tree[loop].function;
  if (function >= context.structure->flow.functions().size()) return 0;
  return context.structure->code.address(context.structure->flow.functions()[function].entry);
}

bool is_inside_body(const symbols::LocalVariable& variable, std::span<const std::uint64_t> tests) {
  if (tests.empty() || variable.parameter) return false;
  return std::none_of(tests.begin(), tests.end(), [&](std::uint64_t test) {
    return std::any_of(variable.scope.begin(), variable.scope.end(),
                       [&](const symbols::CodeRange& range) { return range.start <= test && test < range.end; });
  });
}

std::vector<Variable> find_variables(const ddg::Graph& graph, const poly::Context& context,
                                     const poly::SourceLoop& loop, std::span<const ddg::Access* const> accesses,
                                     std::span<const std::uint64_t> tests, Locals& locals) {
  return Finder(graph, context, loop, tests, locals).run(accesses);
}

}  // namespace loopfold::advise::liveness
