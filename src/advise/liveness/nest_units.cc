#include "advise/liveness/nest_units.h"

#include <algorithm>

#include "advise/liveness/graph_maps.h"
#include "poly/pieces.h"

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
  Builder(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
          const poly::Program& program)
      : isl_(isl), graph_(graph), context_(context), flow_(flow), program_(program) {}

  NestUnits run(const std::set<ddg::StatementId>& also) {
    result_.shift = ddg::dimensions_of(context_.tree, program_.roots.front()) - 1U;
    std::vector<NestUnit> units;
    std::set<ddg::StatementId> grouped;
    for (std::uint32_t g = 0; g < program_.groups.size(); ++g) {
      grouped.insert(program_.groups[g].statements.begin(), program_.groups[g].statements.end());
      add_group(g, units);
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
    find_flows();
    return std::move(result_);
  }

 private:
  /// A unit for each stretch of statements that no inner loop interrupts.
  void add_group(std::uint32_t number, std::vector<NestUnit>& units) const {
    const poly::Group& group = program_.groups[number];
    const ContextId body = group.loops.back();
    std::vector<std::pair<Place, std::size_t>> order;  // statements, by number
    for (std::size_t i = 0; i < group.statements.size(); ++i)
      order.emplace_back(place_in(body, group.statements[i]), i);
    std::sort(order.begin(), order.end());
    std::vector<Place> inner;
    for (const poly::Program::Child& child : program_.body(body))
      if (child.loop != kNoContext) inner.push_back(way_to(context_.tree, body, child.loop));
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool cut = k == 0 || std::any_of(inner.begin(), inner.end(), [&](const Place& loop) {
                         return order[k - 1].first < loop && loop < order[k].first;
                       });
      if (cut) {
        NestUnit& unit = units.emplace_back();
        unit.group = number;
        unit.loops = group.loops;
      }
      NestUnit& unit = units.back();
      const Isl<isl_set>& domain = group.domains[order[k].second];
      unit.statements.push_back(group.statements[order[k].second]);
      unit.domain = unit.domain ? Isl<isl_set>(isl_set_union(unit.domain.release(), domain.copy())) : domain;
    }
  }

  Place place_in(ContextId body, ddg::StatementId id) const {
    Place place = way_to(context_.tree, body, graph_.statements[id].context);
    place.push_back(index_in_function(graph_.statements[id], context_));
    return place;
  }

  Isl<isl_map> named(std::uint32_t from, std::uint32_t to, const Isl<isl_map>& given) const {
    Isl<isl_map> map(isl_map_set_tuple_name(given.copy(), isl_dim_in, result_.all[from].name.c_str()));
    return Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, result_.all[to].name.c_str()));
  }

  /// What of a map goes from one unit to another.
  Isl<isl_map> between(std::uint32_t from, std::uint32_t to, const Isl<isl_map>& map) const {
    return poly::intersect_range(poly::intersect_domain(named(from, to, map), result_.all[from].domain),
                                 result_.all[to].domain);
  }

  /// All pairs of instances of two groups are between units that are all of these, as they are.
  Isl<isl_map> between(std::uint32_t from, std::uint32_t to, const poly::ProgramDependence& dependence) const {
    if (dependence.all && is_whole(from) && is_whole(to)) return named(from, to, dependence.map);
    return between(from, to, dependence.map);
  }

  bool is_whole(std::uint32_t unit) const {
    const NestUnit& of = result_.all[unit];
    return of.group && of.statements.size() == program_.groups[*of.group].statements.size();
  }

  void add_flow(const poly::KeptFlow* flow, std::uint32_t from, std::uint32_t to, const Isl<isl_map>& map, bool again) {
    if (isl_map_is_empty(map.get()) != isl_bool_true) result_.flows.push_back({flow, from, to, map, again});
  }

  std::vector<std::uint32_t> units_of(std::uint32_t group) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t u = 0; u < result_.all.size(); ++u)
      if (result_.all[u].group == group) found.push_back(u);
    return found;
  }

  /// The unit of an end of a flow, if that is in the group; else all of the group's.
  std::vector<std::uint32_t> ends(ddg::StatementId statement, std::uint32_t group) const {
    const auto unit = result_.unit_of.find(statement);
    if (unit != result_.unit_of.end() && result_.all[unit->second].group == group) return {unit->second};
    return units_of(group);
  }

  void find_flows() {
    for (const poly::ProgramDependence& dependence : program_.dependences) {
      std::vector<const poly::KeptFlow*> flows = dependence.more;
      flows.insert(flows.begin(), dependence.flow);
      std::map<std::pair<std::uint32_t, std::uint32_t>, Isl<isl_map>> known;  // by units
      for (const poly::KeptFlow* flow : flows) {
        const bool exit = flow == nullptr;
        for (const std::uint32_t from : exit ? units_of(dependence.from) : ends(flow->from.statement, dependence.from))
          for (const std::uint32_t to : exit ? units_of(dependence.to) : ends(flow->to.statement, dependence.to)) {
            const auto [map, is_new] = known.try_emplace({from, to});
            if (is_new) map->second = between(from, to, dependence);
            add_flow(flow, from, to, map->second, !is_new);
          }
      }
    }
    for (const poly::FlowOfLoop& loop : flow_.loops())
      for (const poly::KeptFlow& flow : loop.flows)
        if (flow.where != poly::KeptFlow::Where::kCarried) add_inner(flow);
  }

  /// In one instance of a group: the program does not have it.
  void add_inner(const poly::KeptFlow& flow) {
    const auto from = result_.unit_of.find(flow.from.statement);
    const auto to = result_.unit_of.find(flow.to.statement);
    if (from == result_.unit_of.end() || to == result_.unit_of.end() || from->second == to->second) return;
    const NestUnit& producer = result_.all[from->second];
    if (!producer.group || producer.group != result_.all[to->second].group) return;
    const Isl<isl_map> same(isl_set_identity(producer.domain.copy()));
    add_flow(&flow, from->second, to->second, between(from->second, to->second, same), false);
  }

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
  const poly::RegionFlow& flow_;
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

NestUnits find_units(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     const poly::Program& program, const std::set<ddg::StatementId>& also) {
  return Builder(isl, graph, context, flow, program).run(also);
}

}  // namespace loopfold::advise::liveness
