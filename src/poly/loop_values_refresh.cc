// Loads under a decision by data that change nothing: `for (k = row[i]; k < row[i + 1]; k++) if (x[k] > 0) y[k] = ...`.
// A compiler that cannot tell whether the store changes row[i + 1] keeps it in a register, and loads it again behind
// the store. Which of the iterations loaded it is a matter of data; what it is, is not: the cell is the same in all of
// them, nothing in the loop writes there, and the register had it when the loop was entered.
#include <algorithm>

#include "poly/functions.h"
#include "poly/loop_values.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;

/// The same function of the coordinates that are shared, and of no other ones.
bool is_same_place(const CommonFunction& one, const CommonFunction& other, std::size_t shared) {
  if (!one.affine() || !other.affine() || !one.constant || one.constant != other.constant) return false;
  const std::size_t most = std::max(one.coefficients.size(), other.coefficients.size());
  for (std::size_t i = 0; i < most; ++i) {
    const std::int64_t a = i < one.coefficients.size() ? *one.coefficients[i] : 0;
    const std::int64_t b = i < other.coefficients.size() ? *other.coefficients[i] : 0;
    if (a != b || (i >= shared && a != 0)) return false;
  }
  return true;
}

}  // namespace

/// All sources of a use must be the cell: loads of it in the loop, or one before it. What does not fit takes others
/// with it.
void LoopValues::find_refreshing() {
  refreshing_.assign(flow_.nodes.size(), false);
  bool any = false;
  for (std::uint32_t node = 0; node < flow_.nodes.size(); ++node)
    if (is_refreshing(node)) refreshing_[node] = any = true;
  for (bool more = any; more;) {
    more = false;
    const auto give_up = [&](std::uint32_t node) {
      if (node != kOutside && refreshing_[node]) more = true;
      if (node != kOutside) refreshing_[node] = false;
    };
    for (const ddg::StatementId id : statements_) {
      const std::span<const std::uint32_t> numbers = index_.dependences_to(id);
      for (const std::uint32_t number : index_.origins_to(id)) {
        const ddg::Origin& o = index_.graph().origins[number];
        if (o.from != ddg::kNoStatement && (o.from != o.by || o.from_instruction != o.by_instruction))
          give_up(node({o.from, o.from_instruction}));
      }
      for (const std::uint32_t number : numbers) {
        const ddg::Dependence& d = index_.graph().dependences[number];
        const std::uint32_t from = d.from == ddg::kNoStatement ? kOutside : node({d.from, d.from_instruction});
        if (from == kOutside || !refreshing_[from]) continue;
        const ddg::Access* const cell = only_load({d.from, d.from_instruction});
        const auto fits = [&](std::uint32_t other) {
          const ddg::Dependence& e = index_.graph().dependences[other];
          if (e.to_instruction != d.to_instruction || e.operand != d.operand) return true;
          if (e.from == ddg::kNoStatement) return false;
          const std::uint32_t source = node({e.from, e.from_instruction});
          if (source == kOutside) return is_read_before(e, *cell);
          return refreshing_[source] && is_same_cell(*only_load({e.from, e.from_instruction}), *cell);
        };
        const auto is_use = [&](const ddg::LocalFlow& local) {
          return local.to == d.to_instruction && local.operand == d.operand;
        };
        const std::vector<ddg::LocalFlow>& local = index_.graph().statements[id].local;
        if (std::all_of(numbers.begin(), numbers.end(), fits) && std::none_of(local.begin(), local.end(), is_use))
          continue;
        for (const std::uint32_t other : numbers) {
          const ddg::Dependence& e = index_.graph().dependences[other];
          if (e.to_instruction == d.to_instruction && e.operand == d.operand && e.from != ddg::kNoStatement)
            give_up(node({e.from, e.from_instruction}));
        }
      }
    }
  }
}

const ddg::Access* LoopValues::only_load(CodePoint at) const {
  const ddg::Access* only = nullptr;
  for (const std::uint32_t number : index_.accesses_of(at.statement)) {
    const ddg::Access& access = index_.graph().accesses[number];
    if (access.instruction != at.instruction) continue;
    if (only != nullptr || access.store || access.guarded) return nullptr;
    only = &access;
  }
  return only;
}

/// A plain load of one cell in each entry, which nothing has written since the iteration around the loop began.
bool LoopValues::is_refreshing(std::uint32_t node) const {
  const CodePoint point = flow_.nodes[node].at;
  if (passes_[node] != Pass::kLoad || data_[node] || flow_.level == 0) return false;
  const ddg::Access* const access = only_load(point);
  if (access == nullptr || access->copies != 0) return false;
  const ddg::Object::Kind kind = index_.graph().objects[access->object].kind;
  if (kind != ddg::Object::Kind::kHeap && kind != ddg::Object::Kind::kGlobal) return false;
  if (!is_same_cell(*access, *access)) return false;
  return std::all_of(index_.dependences_to(point.statement).begin(), index_.dependences_to(point.statement).end(),
                     [&](std::uint32_t number) {
                       const ddg::Dependence& d = index_.graph().dependences[number];
                       if (d.to_instruction != point.instruction || d.kind != Kind::kMemory) return true;
                       if (d.from == ddg::kNoStatement || !d.late.empty()) return false;
                       for (std::size_t level = flow_.level; level < d.carried.size(); ++level)
                         if (d.carried[level] > 0) return false;
                       return true;
                     });
}

bool LoopValues::is_same_cell(const ddg::Access& one, const ddg::Access& other) const {
  if (one.object != other.object || one.size != other.size) return false;
  for (std::size_t output = 0; output < 2; ++output)
    if (!is_same_place(common_function(one.address, output, false), common_function(other.address, output, false),
                       flow_.level))
      return false;
  return true;
}

/// What comes from before the loop was loaded from the cell, in the same iteration of all loops around.
bool LoopValues::is_read_before(const ddg::Dependence& d, const ddg::Access& cell) const {
  if (d.kind != Kind::kRegister || d.carried.size() != flow_.level + 1u || d.carried.back() != d.map.points)
    return false;
  const CodePoint from{d.from, d.from_instruction};
  if (index_.pass(from) != Pass::kLoad) return false;
  const ddg::Access* const access = only_load(from);
  return access != nullptr && access->copies == 0 && is_same_cell(*access, cell);
}

}  // namespace loopfold::poly
