#include "advise/liveness/graph_maps.h"

#include "poly/folded_maps.h"

namespace loopfold::advise::liveness {

using poly::Isl;

std::string name_of(ddg::StatementId statement) { return "S" + std::to_string(statement); }

Isl<isl_set> domain_of(isl_ctx* isl, const ddg::Graph& graph, ddg::StatementId statement) {
  return poly::set_of(isl, poly::domain_pieces(graph.statements[statement].domain), name_of(statement));
}

Isl<isl_map> cells_of(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                      const ddg::Access& access) {
  fold::Shape shape;
  shape.dimensions = ddg::dimensions_of(tree, graph.statements[access.statement].context);
  shape.outputs = 2;
  Isl<isl_map> map = poly::map_of(isl, poly::dependence_pieces(access.address, shape), "", name_of(access.statement));
  return Isl<isl_map>(isl_map_reverse(map.release()));
}

Isl<isl_map> flow_of(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                     const ddg::Dependence& dependence) {
  const structure::ContextId from = graph.statements[dependence.from].context;
  const structure::ContextId to = graph.statements[dependence.to].context;
  fold::Shape shape;
  shape.dimensions = static_cast<std::uint16_t>(ddg::dimensions_of(tree, to) + (dependence.chunks ? 1 : 0));
  shape.outputs = ddg::dimensions_of(tree, from);
  shape.shared = ddg::shared_dimensions(tree, from, to);
  fold::TextOptions options;
  options.hide_last_in = dependence.chunks;
  return poly::map_of(isl, poly::dependence_pieces(dependence.map, shape, options), name_of(dependence.from),
                      name_of(dependence.to));
}

}  // namespace loopfold::advise::liveness
