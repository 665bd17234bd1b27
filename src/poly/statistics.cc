#include "poly/statistics.h"

#include <algorithm>
#include <set>
#include <utility>

namespace loopfold::poly {

namespace {

void count(const fold::Folded& folded, StreamStatistics& into) {
  into.streams++;
  into.points += folded.points;
  into.pieces += folded.pieces.size();
  into.exact_streams += folded.exact() ? 1 : 0;
  into.max_intermediate = std::max(into.max_intermediate, folded.max_intermediate);
  into.sum_intermediate += folded.max_intermediate;
  for (const fold::Piece& piece : folded.pieces)
    if (piece.exact()) into.affine_points += piece.points;
}

}  // namespace

FoldStatistics statistics(const ddg::Graph& graph) {
  FoldStatistics result;
  std::set<std::pair<ddg::StatementId, std::uint16_t>> accessing;
  for (const ddg::Statement& statement : graph.statements) count(statement.domain, result.domains);
  for (const ddg::Access& access : graph.accesses) {
    count(access.address, result.accesses);
    count(access.address, result.instructions);
    accessing.insert({access.statement, access.instruction});
  }
  std::uint64_t other_points = 0;
  for (const ddg::Value& value : graph.values) {
    count(value.value, result.values);
    count(value.value, result.instructions);
    if (accessing.count({value.statement, value.instruction}) == 0) other_points += value.value.points;
  }
  for (const ddg::Dependence& dependence : graph.dependences) count(dependence.map, result.dependences);
  const std::uint64_t judged = result.accesses.points + other_points;
  if (judged != 0)
    result.instructions_affine_share =
        static_cast<double>(result.accesses.affine_points + other_points) / static_cast<double>(judged);
  return result;
}

}  // namespace loopfold::poly
