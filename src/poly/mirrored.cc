#include "poly/mirrored.h"

#include <algorithm>

#include "trace/decode_zero.h"

namespace loopfold::poly {

namespace {

bool is_loaded(const LoopReads& reads, const CodePoint& writer, const trace::InstructionFacts& facts,
               const ddg::Access& cell) {
  if (copied_operand(facts) != ddg::kFirstMemoryOperand) return false;
  const ddg::Access* const load = reads.load(writer, ddg::kFirstMemoryOperand);
  return load != nullptr && reads.same_address(*load, cell);
}

/// The last store to the cell in a piece of code that runs when the writer's does, if that is of what the writer made.
std::optional<CodePoint> store_in(const LoopReads& reads, const ddg::Statement& statement, const CodePoint& writer,
                                  const trace::InstructionFacts& made, const ddg::Access& cell) {
  for (std::size_t i = statement.instructions.size(); i-- > 0;) {
    const CodePoint at{statement.id, static_cast<std::uint16_t>(i)};
    const trace::InstructionFacts* const facts = reads.facts_at(at);
    if (facts == nullptr || (facts->kinds & trace::kStore) == 0) continue;
    const ddg::Access* const store = reads.store(at);
    if (store == nullptr) return std::nullopt;
    if (!reads.same_address(*store, cell)) {
      if (store->object == cell.object || store->object == ddg::kUnknownObject) return std::nullopt;
      continue;
    }
    if (trace::makes_zero(made) && trace::stores_zero(*facts)) return at;
    if (statement.id != writer.statement) return std::nullopt;
    const bool same = std::any_of(statement.local.begin(), statement.local.end(), [&](const ddg::LocalFlow& local) {
      return local.from == writer.instruction && local.to == i && copied_operand(*facts) == local.operand;
    });
    return same ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

bool run_together(const ddg::Statement& a, const ddg::Statement& b) {
  if (a.kind != b.kind || a.context != b.context || a.function != b.function || a.count != b.count) return false;
  if (a.domain.pieces.size() != b.domain.pieces.size()) return false;
  return std::equal(a.domain.pieces.begin(), a.domain.pieces.end(), b.domain.pieces.begin(),
                    [](const fold::Piece& x, const fold::Piece& y) {
                      return x.exact_domain && y.exact_domain && x.ranges == y.ranges;
                    });
}

std::optional<CodePoint> store_of(const LoopReads& reads, const Decisions& decisions, const CodePoint& writer,
                                  const trace::InstructionFacts& made, const ddg::Access& cell) {
  const ddg::Statement& its = reads.graph().statements[writer.statement];
  std::optional<CodePoint> found = store_in(reads, its, writer, made, cell);
  if (found || !trace::makes_zero(made) || !decisions.may_come_between) return found;
  const auto is_before = [&](const ddg::Statement& other) {
    return std::all_of(reads.flow().loops.begin(), reads.flow().loops.end(),
                       [&](structure::ContextId loop) { return decisions.may_come_between(other.id, loop); });
  };
  for (const ddg::Statement& other : reads.graph().statements)
    if (other.id != its.id && run_together(its, other) && is_before(other))
      if ((found = store_in(reads, other, writer, made, cell))) return found;
  return std::nullopt;
}

/// In the same iteration of all loops around both.
bool is_of_same_iteration(const ddg::Dependence& d) {
  return std::all_of(d.carried.begin(), d.carried.end() - (d.carried.empty() ? 0 : 1),
                     [](std::uint64_t count) { return count == 0; });
}

bool is_overwritten(const LoopReads& reads, const Decisions& decisions, const CodePoint& store,
                    const ddg::Access& cell) {
  if (!decisions.may_come_between) return true;
  const ddg::Graph& graph = reads.graph();
  const auto between = [&](ddg::StatementId statement) {
    return std::any_of(reads.flow().loops.begin(), reads.flow().loops.end(),
                       [&](structure::ContextId loop) { return decisions.may_come_between(statement, loop); });
  };
  for (const ddg::Statement& statement : graph.statements)
    if (statement.kind != ddg::Statement::Kind::kCode && between(statement.id)) return true;
  return std::any_of(graph.accesses.begin(), graph.accesses.end(), [&](const ddg::Access& access) {
    if (!access.store || (access.object != cell.object && access.object != ddg::kUnknownObject)) return false;
    if (access.statement == store.statement && access.instruction <= store.instruction) return false;
    return !reads.is_in_loop(access.statement) && between(access.statement);
  });
}

}  // namespace

bool begins_in_cell(const LoopReads& reads, const Decisions& decisions, const Use& use, const ddg::Access& cell) {
  const auto from = reads.outside(use.node, use.operand);
  if (!from) return false;
  return std::all_of(from->begin(), from->end(), [&](const ddg::Dependence* d) {
    const CodePoint writer{d->from, d->from_instruction};
    const trace::InstructionFacts* const facts = reads.facts_at(writer);
    if (facts == nullptr) return false;
    if (is_loaded(reads, writer, *facts, cell)) return true;
    if (!is_of_same_iteration(*d)) return false;
    const std::optional<CodePoint> store = store_of(reads, decisions, writer, *facts, cell);
    return store && !is_overwritten(reads, decisions, *store, cell);
  });
}

}  // namespace loopfold::poly
