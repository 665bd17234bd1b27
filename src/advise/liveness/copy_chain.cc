#include "advise/liveness/copy_chain.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "advise/liveness/graph_maps.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using poly::Isl;

constexpr int kLongest = 8;
constexpr std::size_t kMostSteps = 200;

class Chain {
 public:
  Chain(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree, CodePoint origin)
      : isl_(isl), graph_(graph), tree_(tree), origin_(origin) {}

  bool follow(CodePoint use, std::uint8_t operand, const Isl<isl_map>& way, int depth) {
    if (depth > kLongest || ++steps_ > kMostSteps) return false;
    const ddg::Statement& statement = graph_.statements[use.statement];
    for (const ddg::LocalFlow& local : statement.local)
      if (local.to == use.instruction && local.operand == operand && !step({use.statement, local.from}, way, depth))
        return false;
    const auto key = std::tie(use.statement, use.instruction, operand);
    auto dependence = std::lower_bound(
        graph_.dependences.begin(), graph_.dependences.end(), key,
        [](const ddg::Dependence& d, const auto& k) { return std::tie(d.to, d.to_instruction, d.operand) < k; });
    for (; dependence != graph_.dependences.end() &&
           std::tie(dependence->to, dependence->to_instruction, dependence->operand) == key;
         ++dependence) {
      if (dependence->from == ddg::kNoStatement || dependence->chunks || !dependence->map.exact()) return false;
      const Isl<isl_map> map = flow_of(isl_, graph_, tree_, *dependence);
      const Isl<isl_map> whole(isl_map_apply_range(map.copy(), way.copy()));
      if (!step({dependence->from, dependence->from_instruction}, whole, depth)) return false;
    }
    return true;
  }

  Isl<isl_map> found() const { return found_; }

 private:
  /// `way` leads from what made the value, or a copy of it, to the use.
  bool step(CodePoint by, const Isl<isl_map>& way, int depth) {
    if (by == origin_) {
      found_ = found_ ? Isl<isl_map>(isl_map_union(found_.release(), way.copy())) : way;
      return true;
    }
    const ddg::Statement& statement = graph_.statements[by.statement];
    if (statement.kind != ddg::Statement::Kind::kCode) return true;
    const trace::InstructionFacts& facts =
        (*graph_.facts)[statement.block][statement.first_instruction + by.instruction];
    if (facts.transfer != trace::Transfer::kCopy) return true;
    for (std::size_t k = 0; k < facts.reads.size(); ++k)
      if (!facts.reads[k].address && !facts.reads[k].step && !follow(by, static_cast<std::uint8_t>(k), way, depth + 1))
        return false;
    return (facts.kinds & trace::kLoad) == 0 || follow(by, ddg::kFirstMemoryOperand, way, depth + 1);
  }

  isl_ctx* isl_;
  const ddg::Graph& graph_;
  const structure::LoopTree& tree_;
  CodePoint origin_;
  std::size_t steps_ = 0;
  Isl<isl_map> found_;
};

}  // namespace

std::optional<Isl<isl_map>> exact_flow(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                                       const poly::KeptFlow& flow) {
  const Isl<isl_set> domain = domain_of(isl, graph, flow.to.statement);
  if (!graph.statements[flow.to.statement].domain.exact()) return std::nullopt;
  const Isl<isl_map> same(isl_set_identity(domain.copy()));
  Chain chain(isl, graph, tree, flow.from);
  if (!chain.follow(flow.to, flow.operand, same, 0) || !chain.found()) return std::nullopt;
  return chain.found();
}

}  // namespace loopfold::advise::liveness
