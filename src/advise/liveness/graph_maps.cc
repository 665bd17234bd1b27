#include "advise/liveness/graph_maps.h"

#include "fold/isl_text.h"

namespace loopfold::advise::liveness {

using poly::Isl;

std::string name_of(ddg::StatementId statement) { return "S" + std::to_string(statement); }

Isl<isl_set> domain_of(isl_ctx* isl, const ddg::Graph& graph, ddg::StatementId statement) {
  const std::string text = fold::domain_text(graph.statements[statement].domain, name_of(statement));
  return Isl<isl_set>(isl_set_read_from_str(isl, text.c_str()));
}

Isl<isl_map> cells_of(isl_ctx* isl, const ddg::Graph& graph, const structure::LoopTree& tree,
                      const ddg::Access& access) {
  fold::Shape shape;
  shape.dimensions = ddg::dimensions_of(tree, graph.statements[access.statement].context);
  shape.outputs = 2;
  const std::string text = fold::dependence_text(access.address, shape, "", name_of(access.statement));
  return Isl<isl_map>(isl_map_reverse(isl_map_read_from_str(isl, text.c_str())));
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
  const std::string text =
      fold::dependence_text(dependence.map, shape, name_of(dependence.from), name_of(dependence.to), options);
  return Isl<isl_map>(isl_map_read_from_str(isl, text.c_str()));
}

}  // namespace loopfold::advise::liveness
