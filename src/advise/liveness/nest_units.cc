#include "advise/liveness/nest_units.h"

#include <algorithm>

#include "advise/liveness/graph_maps.h"

namespace loopfold::advise::liveness {

namespace {

using poly::Isl;
using structure::ContextId;
using structure::kNoContext;

using Place = std::vector<std::uint32_t>;

/// Static indices of a way down the tree, from below a context on.
Place way_to(const structure::LoopTree& tree, ContextId from, ContextId to) {
  Place way;
  for (ContextId at = to; at != from && at != structure::LoopTree::root(); at = tree[at].parent) {
    way.push_back(tree[at].minor);
    way.push_back(tree[at].index);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

std::uint32_t index_in_function(const ddg::Statement& statement, const poly::Context& context) {
  if (context.structure == nullptr || statement.function >= context.structure->forests.size()) return 0;
  return context.structure->forests[statement.function].index_of(statement.node);
}

class Builder {
 public:
  Builder(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::Program& program)
      : isl_(isl), graph_(graph), context_(context), program_(program) {}

  NestUnits run(const std::set<ddg::StatementId>& also) {
    result_.shift = ddg::dimensions_of(context_.tree, program_.roots.front()) - 1U;
    std::vector<NestUnit> units;
    std::set<ddg::StatementId> grouped;
    for (std::uint32_t g = 0; g < program_.groups.size(); ++g) {
      NestUnit& unit = units.emplace_back();
      unit.group = g;
      unit.statements = program_.groups[g].statements;
      unit.loops = program_.groups[g].loops;
      unit.domain = program_.groups[g].domain;
      grouped.insert(unit.statements.begin(), unit.statements.end());
    }
    for (const ddg::StatementId id : also) {
      if (grouped.contains(id)) continue;
      NestUnit& unit = units.emplace_back();
      unit.statements = {id};
      unit.loops = loops_around(graph_.statements[id].context);
      unit.domain = domain_of(isl_, graph_, id);
      unit.domain = Isl<isl_set>(
          isl_set_project_out(unit.domain.release(), isl_dim_set, 0, static_cast<unsigned>(result_.shift)));
    }
    for (NestUnit& unit : units)
      std::sort(unit.statements.begin(), unit.statements.end(), [&](ddg::StatementId a, ddg::StatementId b) {
        return place_of(graph_, context_, a) < place_of(graph_, context_, b);
      });
    std::sort(units.begin(), units.end(), [&](const NestUnit& a, const NestUnit& b) {
      const Place x = place_of(graph_, context_, a.statements.front());
      const Place y = place_of(graph_, context_, b.statements.front());
      return x != y ? x < y : a.statements.front() < b.statements.front();
    });
    for (std::uint32_t u = 0; u < units.size(); ++u) {
      NestUnit& unit = units[u];
      unit.name = "U" + std::to_string(u);
      unit.domain = Isl<isl_set>(isl_set_set_tuple_name(unit.domain.release(), unit.name.c_str()));
      for (const ddg::StatementId id : unit.statements) result_.unit_of[id] = u;
    }
    result_.all = std::move(units);
    find_places();
    return std::move(result_);
  }

 private:
  std::vector<ContextId> loops_around(ContextId context) const {
    std::vector<ContextId> loops;
    for (ContextId at = context;; at = context_.tree[at].parent) {
      if (context_.tree[at].kind == structure::Context::Kind::kLoop) loops.push_back(at);
      if (std::find(program_.roots.begin(), program_.roots.end(), at) != program_.roots.end()) break;
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  /// Where it stands in the body of the loop at `level` (0: around the nest).
  Place place_at(const NestUnit& unit, std::size_t level) const {
    const ContextId around = level == 0 ? context_.tree[unit.loops.front()].parent : unit.loops[level - 1];
    if (level < unit.loops.size()) return way_to(context_.tree, around, unit.loops[level]);
    const ddg::Statement& statement = graph_.statements[unit.statements.front()];
    Place place = way_to(context_.tree, around, statement.context);
    place.push_back(index_in_function(statement, context_));
    return place;
  }

  void find_places() {
    std::map<ContextId, std::vector<Place>> known;  // by loop around
    const auto body = [&](const NestUnit& unit, std::size_t level) {
      return level == 0 ? kNoContext : unit.loops[level - 1];
    };
    for (const NestUnit& unit : result_.all)
      for (std::size_t level = 0; level <= unit.loops.size(); ++level)
        known[body(unit, level)].push_back(place_at(unit, level));
    for (auto& [loop, places] : known) {
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
    }
    for (NestUnit& unit : result_.all)
      for (std::size_t level = 0; level <= unit.loops.size(); ++level) {
        const std::vector<Place>& places = known[body(unit, level)];
        unit.places.push_back(std::lower_bound(places.begin(), places.end(), place_at(unit, level)) - places.begin());
      }
  }

  isl_ctx* isl_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::Program& program_;
  NestUnits result_;
};

}  // namespace

Place place_of(const ddg::Graph& graph, const poly::Context& context, ddg::StatementId statement) {
  const ddg::Statement& at = graph.statements[statement];
  Place place = way_to(context.tree, structure::LoopTree::root(), at.context);
  place.push_back(index_in_function(at, context));
  return place;
}

NestUnits find_units(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::Program& program,
                     const std::set<ddg::StatementId>& also) {
  return Builder(isl, graph, context, program).run(also);
}

}  // namespace loopfold::advise::liveness
