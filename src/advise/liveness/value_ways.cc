#include "advise/liveness/value_ways.h"

#include <sys/syscall.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "ddg/system_calls.h"
#include "poly/loop_reads.h"

namespace loopfold::advise::liveness {

using Kind = ddg::Dependence::Kind;

ValueWays::ValueWays(const ddg::Graph& graph, const structure::LoopTree& tree) : graph_(graph), tree_(tree) {
  first_access_.assign(graph.statements.size() + 1, 0);
  for (const ddg::Access& access : graph.accesses) ++first_access_[access.statement + 1];
  std::partial_sum(first_access_.begin(), first_access_.end(), first_access_.begin());
  from_.resize(graph.statements.size());
  for (std::uint32_t i = 0; i < graph.dependences.size(); ++i)
    if (graph.dependences[i].from != ddg::kNoStatement) from_[graph.dependences[i].from].push_back(i);
  of_object_.resize(graph.objects.size());
  for (const ddg::Access& access : graph.accesses) of_object_[access.object].push_back(&access);
  knows_all_ =
      graph.unkept_instructions == 0 &&
      std::all_of(graph.statements.begin(), graph.statements.end(), [](const auto& s) { return s.followed; }) &&
      std::none_of(graph.dependences.begin(), graph.dependences.end(),
                   [](const ddg::Dependence& dependence) { return dependence.from == ddg::kNoStatement; });
}

/// Of a loop that is split: the last of the levels in each other.
structure::ContextId ValueWays::innermost_level(structure::ContextId loop) const {
  for (structure::ContextId id = loop + 1; id < tree_.contexts().size(); ++id)
    if (tree_[id].parent == loop && tree_[id].hidden != 0) return innermost_level(id);
  return loop;
}

Inside ValueWays::inside(const poly::SourceLoop& loop, bool whole) const {
  Inside made;
  made.level = static_cast<std::uint16_t>(ddg::dimensions_of(tree_, loop.loops.front()) - 1);
  for (const structure::ContextId id : loop.loops)
    made.last[id] = static_cast<std::uint16_t>(ddg::dimensions_of(tree_, whole ? innermost_level(id) : id) - 1);
  std::vector<structure::ContextId> copy(tree_.contexts().size(), structure::kNoContext);
  for (structure::ContextId id = 1; id < copy.size(); ++id) {
    const bool root = std::find(loop.loops.begin(), loop.loops.end(), id) != loop.loops.end();
    copy[id] = root ? id : copy[tree_[id].parent];
  }
  for (const ddg::Statement& statement : graph_.statements) {
    if (copy[statement.context] == structure::kNoContext) continue;
    made.statements.push_back(statement.id);
    made.copy_of[statement.id] = copy[statement.context];
  }
  return made;
}

std::span<const ddg::Access> ValueWays::accesses(ddg::StatementId statement) const {
  return std::span(graph_.accesses)
      .subspan(first_access_[statement], first_access_[statement + 1] - first_access_[statement]);
}

std::span<const ddg::Access* const> ValueWays::accesses_of(ddg::ObjectId object) const { return of_object_[object]; }

std::span<const ddg::Dependence> ValueWays::into(ddg::StatementId to, std::uint16_t instruction) const {
  const auto key = std::tie(to, instruction);
  const auto first =
      std::lower_bound(graph_.dependences.begin(), graph_.dependences.end(), key,
                       [](const ddg::Dependence& d, const auto& k) { return std::tie(d.to, d.to_instruction) < k; });
  auto last = first;
  while (last != graph_.dependences.end() && std::tie(last->to, last->to_instruction) == key) ++last;
  return {first, last};
}

ValueWays::Counts ValueWays::counts_of(const ddg::Dependence& dependence, const Inside& inside) const {
  Counts counts;
  const bool from = inside.holds(dependence.from);
  const bool to = inside.holds(dependence.to);
  const bool one_copy = from && to && inside.copy_of.at(dependence.from) == inside.copy_of.at(dependence.to);
  const std::size_t last = one_copy ? inside.last.at(inside.copy_of.at(dependence.from)) : inside.level;
  for (std::size_t level = 0; level < dependence.carried.size(); ++level) {
    const std::uint64_t count = dependence.carried[level];
    const bool same_so_far = level > last || level + 1 == dependence.carried.size();  // the last: none differs
    if (!from || !to || (level < inside.level && level + 1 != dependence.carried.size()))
      counts.before += count;
    else if (!one_copy || !same_so_far)
      counts.carried += count;
    else
      counts.within += count;
  }
  return counts;
}

void ValueWays::add_uses(ddg::StatementId from, std::uint16_t instruction, const Inside& inside, bool memory,
                         Ways& ways) const {
  for (const std::uint32_t number : from_[from]) {
    const ddg::Dependence& dependence = graph_.dependences[number];
    if (dependence.from_instruction != instruction || (dependence.kind == Kind::kMemory) != memory) continue;
    if (counts_of(dependence, inside).before == 0 || (!memory && is_only_saved(dependence))) continue;
    ways.to_behind = true;
    ways.leaving.push_back(&dependence);
  }
}

void ValueWays::add_sources(const ddg::Access& load, const Inside& inside, Ways& ways) const {
  std::uint64_t first_bytes = 0;
  for (const ddg::Dependence& dependence : into(load.statement, load.instruction)) {
    if (dependence.kind != Kind::kMemory || dependence.operand != ddg::kFirstMemoryOperand + load.index) continue;
    if (dependence.object != load.object && !dependence.more_objects) continue;
    if (dependence.from == ddg::kNoStatement) {
      ways.unknown = "is read, and what wrote it is not known any more";
      continue;
    }
    if (!dependence.late.empty() && inside.level < dependence.late.size() && dependence.late[inside.level] > 0)
      ways.unknown = "is written by another thread meanwhile";
    if (dependence.more_objects) ways.unknown = "is read by an instruction that reads several objects";
    const Counts counts = counts_of(dependence, inside);
    if (counts.before > 0) ways.from_before = true;
    if (counts.carried > 0) ways.carried = true;
    if (dependence.lane == 0) first_bytes += counts.all();
    const std::span<const ddg::Access> stores = accesses(dependence.from);
    const bool wide = std::any_of(stores.begin(), stores.end(), [&](const ddg::Access& store) {
      return store.store && store.instruction == dependence.from_instruction && store.size >= load.size;
    });
    if (!wide) ways.from_before = true;
  }
  if (first_bytes < load.address.points) ways.from_before = true;
}

Ways ValueWays::of(std::span<const ddg::Access* const> accesses, const Inside& inside) const {
  Ways ways;
  for (const ddg::Access* access : accesses) {
    if (access->store) {
      ways.defined = true;
      add_uses(access->statement, access->instruction, inside, true, ways);
    } else {
      add_sources(*access, inside, ways);
    }
  }
  return ways;
}

/// A system call that nothing outside can notice, and whose memory nobody else uses: an allocator's.
const char* ValueWays::uses_any_memory(ddg::StatementId id) const {
  const ddg::Statement& statement = graph_.statements[id];
  if (statement.kind == ddg::Statement::Kind::kHidden) return "code that was not recorded runs in it";
  if (statement.kind != ddg::Statement::Kind::kSystemCall) return nullptr;
  const auto in_memory = [](const ddg::Dependence& dependence) { return dependence.kind == Kind::kMemory; };
  const std::span<const ddg::Dependence> reads = into(id, 0);
  const bool writes = std::any_of(from_[id].begin(), from_[id].end(),
                                  [&](std::uint32_t number) { return in_memory(graph_.dependences[number]); });
  const bool unnoticed = !ddg::has_outside_effect(statement.detail) || statement.detail == SYS_getrandom;
  if (!writes && std::none_of(reads.begin(), reads.end(), in_memory) && unnoticed) return nullptr;
  return "a system call in it may use any memory";
}

/// Through copies: what made the value. Ways that do not end soon count as data.
bool ValueWays::is_index(poly::CodePoint at, const poly::RegionFlow& flow, int depth) const {
  constexpr int kDeepest = 6;
  if (depth > kDeepest) return false;
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode) return flow.is_index(at);
  const trace::InstructionFacts& facts = (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  if (facts.transfer != trace::Transfer::kCopy) return flow.is_index(at) || facts.reads.empty();
  const auto is_data = [&](std::uint8_t operand) {
    return operand >= facts.reads.size() || (!facts.reads[operand].address && !facts.reads[operand].step);
  };
  for (const ddg::LocalFlow& local : statement.local)
    if (local.to == at.instruction && is_data(local.operand) && !is_index({at.statement, local.from}, flow, depth + 1))
      return false;
  for (const ddg::Dependence& dependence : into(at.statement, at.instruction)) {
    if (dependence.address || !is_data(dependence.operand)) continue;
    if (dependence.from == ddg::kNoStatement) return false;
    if (!is_index({dependence.from, dependence.from_instruction}, flow, depth + 1)) return false;
  }
  return true;
}

bool ValueWays::is_step(const ddg::Access& store, std::span<const ddg::Access* const> accesses) const {
  constexpr std::size_t kMost = 64;
  std::vector<poly::CodePoint> seen{{store.statement, store.instruction}};
  const auto add = [&](poly::CodePoint at) {
    if (std::find(seen.begin(), seen.end(), at) == seen.end()) seen.push_back(at);
  };
  for (std::size_t i = 0; i < seen.size() && i < kMost; ++i) {
    const poly::CodePoint at = seen[i];
    if (std::any_of(accesses.begin(), accesses.end(), [&](const ddg::Access* access) {
          return !access->store && access->statement == at.statement && access->instruction == at.instruction;
        }))
      return true;
    const ddg::Statement& statement = graph_.statements[at.statement];
    if (statement.kind != ddg::Statement::Kind::kCode) continue;
    const trace::InstructionFacts& facts =
        (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
    for (const ddg::LocalFlow& local : statement.local)
      if (local.to == at.instruction && (local.operand >= facts.reads.size() || !facts.reads[local.operand].address))
        add({at.statement, local.from});
    for (const ddg::Dependence& dependence : into(at.statement, at.instruction))
      if (!dependence.address && dependence.from != ddg::kNoStatement)
        add({dependence.from, dependence.from_instruction});
  }
  return false;
}

bool ValueWays::is_carried(const ddg::Access& store, const Inside& inside) const {
  return std::any_of(from_[store.statement].begin(), from_[store.statement].end(), [&](std::uint32_t number) {
    const ddg::Dependence& dependence = graph_.dependences[number];
    return dependence.from_instruction == store.instruction && dependence.kind == Kind::kMemory &&
           counts_of(dependence, inside).carried > 0;
  });
}

bool ValueWays::gets_carried(const ddg::Access& load, const Inside& inside) const {
  const std::span<const ddg::Dependence> all = into(load.statement, load.instruction);
  return std::any_of(all.begin(), all.end(), [&](const ddg::Dependence& dependence) {
    return dependence.kind == Kind::kMemory && dependence.operand == ddg::kFirstMemoryOperand + load.index &&
           dependence.from != ddg::kNoStatement && counts_of(dependence, inside).carried > 0;
  });
}

bool ValueWays::is_copy(poly::CodePoint at, std::uint8_t operand) const {
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode) return false;
  return poly::copied_operand((*graph_.facts)[statement.block][statement.first_instruction + at.instruction]) ==
         operand;
}

/// Where a copy gets what it passes on, inside the loop: in its own iteration, and (`carried`) in others.
std::vector<poly::CodePoint> ValueWays::copied_from(poly::CodePoint at, const Inside& inside,
                                                    std::vector<poly::CodePoint>* carried) const {
  std::vector<poly::CodePoint> found;
  for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
    if (local.to == at.instruction && is_copy(at, local.operand)) found.push_back({at.statement, local.from});
  for (const ddg::Dependence& dependence : into(at.statement, at.instruction)) {
    if (dependence.from == ddg::kNoStatement || !is_copy(at, dependence.operand)) continue;
    const Counts counts = counts_of(dependence, inside);
    const poly::CodePoint from{dependence.from, dependence.from_instruction};
    if (counts.within > 0) found.push_back(from);
    if (counts.carried > 0 && carried != nullptr) carried->push_back(from);
  }
  return found;
}

/// It goes on from what it made itself in another iteration, whatever copies are between.
bool ValueWays::is_recurrence(poly::CodePoint at, const Inside& inside) const {
  constexpr std::size_t kMost = 20;
  std::vector<poly::CodePoint> all;
  const auto add = [&](poly::CodePoint from) {
    if (inside.holds(from.statement) && std::find(all.begin(), all.end(), from) == all.end()) all.push_back(from);
  };
  for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
    if (local.to == at.instruction) add({at.statement, local.from});
  for (const ddg::Dependence& dependence : into(at.statement, at.instruction))
    if (dependence.from != ddg::kNoStatement) add({dependence.from, dependence.from_instruction});
  for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
    std::vector<poly::CodePoint> carried;
    for (const poly::CodePoint from : copied_from(all[i], inside, &carried)) add(from);
    for (const poly::CodePoint from : carried) add(from);
  }
  return std::find(all.begin(), all.end(), at) != all.end();
}

bool ValueWays::is_delayed(poly::CodePoint at, const Inside& inside, const poly::RegionFlow& flow) const {
  constexpr std::size_t kMost = 50;
  std::vector<poly::CodePoint> all{at};
  for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
    std::vector<poly::CodePoint> carried;
    for (const poly::CodePoint from : copied_from(all[i], inside, &carried))
      if (inside.holds(from.statement) && std::find(all.begin(), all.end(), from) == all.end()) all.push_back(from);
    if (std::any_of(carried.begin(), carried.end(),
                    [&](poly::CodePoint from) { return !(is_index(from, flow, 0) && is_recurrence(from, inside)); }))
      return true;
  }
  return false;
}

bool ValueWays::goes_behind_as_copy(std::span<const ddg::Access* const> accesses, const Inside& inside) const {
  constexpr std::size_t kMost = 100;
  std::set<poly::CodePoint> seen;
  std::vector<poly::CodePoint> todo;
  for (const ddg::Access* access : accesses)
    if (!access->store && gets_carried(*access, inside) &&
        is_copy({access->statement, access->instruction}, ddg::kFirstMemoryOperand + access->index))
      todo.push_back({access->statement, access->instruction});
  while (!todo.empty()) {
    const poly::CodePoint at = todo.back();
    todo.pop_back();
    if (!seen.insert(at).second) continue;
    if (seen.size() > kMost) return true;
    for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
      if (local.from == at.instruction && is_copy({at.statement, local.to}, local.operand))
        todo.push_back({at.statement, local.to});
    for (const std::uint32_t number : from_[at.statement]) {
      const ddg::Dependence& dependence = graph_.dependences[number];
      if (dependence.from_instruction != at.instruction) continue;
      if (counts_of(dependence, inside).before > 0) return true;
      if (is_copy({dependence.to, dependence.to_instruction}, dependence.operand))
        todo.push_back({dependence.to, dependence.to_instruction});
    }
  }
  return false;
}

bool ValueWays::is_input_only(const ddg::Access& load, const Inside& inside) const {
  for (const ddg::Dependence& dependence : into(load.statement, load.instruction)) {
    if (dependence.kind != Kind::kMemory || dependence.operand != ddg::kFirstMemoryOperand + load.index) continue;
    if (dependence.from == ddg::kNoStatement) return false;
    const Counts counts = counts_of(dependence, inside);
    if (counts.carried > 0 || counts.within > 0) return false;
  }
  return true;
}

/// A store, if all of the program was followed: then it is known that nothing loads what it stores.
bool ValueWays::is_never_used(poly::CodePoint at) const {
  if (graph_.statements[at.statement].kind != ddg::Statement::Kind::kCode || !knows_all_) return false;
  const std::span<const ddg::Access> all = accesses(at.statement);
  const bool stores = std::any_of(all.begin(), all.end(), [&](const ddg::Access& access) {
    return access.store && access.instruction == at.instruction;
  });
  return stores && std::none_of(from_[at.statement].begin(), from_[at.statement].end(), [&](std::uint32_t number) {
           return graph_.dependences[number].from_instruction == at.instruction;
         });
}

bool ValueWays::is_plain_load(poly::CodePoint at) const {
  const std::vector<ddg::Instruction>& all = graph_.statements[at.statement].instructions;
  const std::uint32_t kinds = at.instruction < all.size() ? all[at.instruction].kinds : 0;
  return (kinds & trace::kLoad) != 0 && (kinds & trace::kArithmetic) == 0;
}

bool ValueWays::is_used_inside(poly::CodePoint at, const Inside& inside) const {
  const std::vector<ddg::LocalFlow>& local = graph_.statements[at.statement].local;
  return std::any_of(local.begin(), local.end(), [&](const auto& one) { return one.from == at.instruction; }) ||
         std::any_of(from_[at.statement].begin(), from_[at.statement].end(), [&](std::uint32_t number) {
           const ddg::Dependence& dependence = graph_.dependences[number];
           return dependence.from_instruction == at.instruction && inside.holds(dependence.to);
         });
}

bool ValueWays::comes_from_memory(poly::CodePoint at, const Inside& inside) const {
  constexpr std::size_t kMost = 200;
  std::vector<poly::CodePoint> all{at};
  const auto add = [&](poly::CodePoint from) {
    if (inside.holds(from.statement) && std::find(all.begin(), all.end(), from) == all.end()) all.push_back(from);
  };
  for (std::size_t i = 0; i < all.size() && i < kMost; ++i) {
    const poly::CodePoint here = all[i];
    for (const ddg::Access& access : accesses(here.statement))
      if (!access.store && access.instruction == here.instruction &&
          graph_.objects[access.object].kind != ddg::Object::Kind::kStack)
        return true;
    for (const ddg::LocalFlow& local : graph_.statements[here.statement].local)
      if (local.to == here.instruction) add({here.statement, local.from});
    for (const ddg::Dependence& dependence : into(here.statement, here.instruction))
      if (dependence.kind == Kind::kRegister && dependence.from != ddg::kNoStatement)
        add({dependence.from, dependence.from_instruction});
  }
  return all.size() > kMost;
}

bool ValueWays::is_saved(const ddg::Dependence& use) const {
  constexpr std::uint8_t kStackPointer = 4;
  const ddg::Statement& to = graph_.statements[use.to];
  if (to.kind != ddg::Statement::Kind::kCode) return false;
  const auto& facts = (*graph_.facts)[to.block][to.first_instruction + use.to_instruction];
  if (facts.writes.empty()) return is_never_used({use.to, use.to_instruction});
  return std::any_of(facts.writes.begin(), facts.writes.end(), [](const trace::RegisterUse& write) {
    return write.file == trace::RegisterFile::kGeneral && write.index == kStackPointer;
  });
}

std::vector<Left> ValueWays::left_in_registers(const Inside& inside, const poly::FlowOfLoop& loop,
                                               const poly::RegionFlow& flow) const {
  std::vector<Left> left;
  const structure::FunctionId function = tree_[loop.loop.loops.front()].function;
  const auto is_reduced = [&](poly::CodePoint at) {
    return std::any_of(loop.flows.begin(), loop.flows.end(), [&](const poly::KeptFlow& kept) {
      return kept.reduction && (kept.from == at || kept.to == at);
    });
  };
  for (const ddg::StatementId id : inside.statements) {
    if (graph_.statements[id].function != function) continue;
    for (const std::uint32_t number : from_[id]) {
      const ddg::Dependence& dependence = graph_.dependences[number];
      const poly::CodePoint at{id, dependence.from_instruction};
      if (dependence.kind != Kind::kRegister || counts_of(dependence, inside).before == 0) continue;
      const bool index = flow.is_index(at);
      if (is_reduced(at) || is_saved(dependence) || is_only_saved(dependence)) continue;
      const bool carried = std::any_of(from_[id].begin(), from_[id].end(), [&](std::uint32_t other) {
        const ddg::Dependence& d = graph_.dependences[other];
        return d.from_instruction == at.instruction && d.kind == Kind::kRegister && counts_of(d, inside).carried > 0;
      });
      // Counters, and what is the same in every iteration; but not what each iteration makes of its number.
      if (index && !comes_from_memory(at, inside) && (carried || step_of(at, inside) == 0)) continue;
      left.push_back({at, &dependence, carried, index});
    }
  }
  return left;
}

std::optional<std::int64_t> ValueWays::step_of(poly::CodePoint at, const Inside& inside, int depth) const {
  constexpr int kDeepest = 4;
  const auto copy = inside.copy_of.find(at.statement);
  if (copy == inside.copy_of.end() || depth > kDeepest) return std::nullopt;
  for (const ddg::Value& value : graph_.values) {
    if (value.statement != at.statement || value.instruction != at.instruction) continue;
    if (value.value.pieces.size() != 1) return std::nullopt;
    const fold::Output& output = value.value.pieces.front().outputs.front();
    if (output.top[inside.level] || output.modulus != 0 || output.divisor != 1) return std::nullopt;
    return output.value.coefficients[inside.level];
  }
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode) return std::nullopt;
  const trace::InstructionFacts& facts = (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  if (facts.transfer != trace::Transfer::kCopy) return std::nullopt;
  for (const ddg::LocalFlow& local : statement.local)
    if (local.to == at.instruction && (local.operand >= facts.reads.size() || !facts.reads[local.operand].address))
      return step_of({at.statement, local.from}, inside, depth + 1);
  return std::nullopt;
}

}  // namespace loopfold::advise::liveness
