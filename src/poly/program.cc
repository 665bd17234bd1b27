#include "poly/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "poly/folded_maps.h"
#include "poly/pieces.h"

namespace loopfold::poly {

namespace {

using structure::ContextId;
using structure::kNoContext;
using Where = KeptFlow::Where;

class Builder {
 public:
  Builder(isl_ctx* isl, const ddg::Graph& graph, const Context& context, const RegionFlow& flow,
          const ProgramLimits& limits, Program& program)
      : isl_(isl), graph_(graph), context_(context), flow_(flow), limits_(limits), program_(program) {}

  void run(const SourceLoop& nest) {
    program_.roots = nest.loops;
    inside_.assign(context_.tree.contexts().size(), false);
    for (ContextId id = 1; id < inside_.size(); ++id) {
      const bool root = std::find(nest.loops.begin(), nest.loops.end(), id) != nest.loops.end();
      inside_[id] = root || inside_[context_.tree[id].parent];
    }
    find_prefix();
    find_loops();
    if (program_.problem.empty()) choose_statements();
    if (program_.problem.empty()) find_bodies();
    if (program_.problem.empty()) build_domains();
    if (program_.problem.empty()) build_dependences();
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// All that a dependence is made from: groups, place, level, distances, whether it is a reduction's, and the graph's.
  using Seen =
      std::tuple<std::uint32_t, std::uint32_t, Where, std::ptrdiff_t, std::int64_t, std::int64_t, bool, LinearPieces>;

  /// What is directly in a loop: a statement, or a loop.
  struct Part {
    ddg::StatementId statement = ddg::kNoStatement;
    ContextId loop = kNoContext;
    std::uint32_t segment = 0;
    std::uint32_t group = kNone;  // of a statement
  };

  bool is_root(ContextId context) const {
    return std::find(program_.roots.begin(), program_.roots.end(), context) != program_.roots.end();
  }
  ContextId context_of(ddg::StatementId id) const { return graph_.statements[id].context; }

  void find_prefix() {
    const ContextId root = program_.roots.front();
    const std::size_t coordinates = ddg::dimensions_of(context_.tree, root);
    program_.prefix = coordinates - 1 - (drops_first(context_.tree, root) ? 1 : 0);
  }

  /// All loops of the nest were judged, and none is opaque or recursive.
  void find_loops() {
    std::set<ContextId> judged;
    for (const FlowOfLoop& loop : flow_.loops()) {
      if (!inside_[loop.loop.loops.front()]) {
        outer_flows_.push_back(&loop);
        continue;
      }
      flows_.push_back(&loop);
      judged.insert(loop.loop.loops.begin(), loop.loop.loops.end());
      if (!loop.doubt.empty() && program_.problem.empty()) program_.problem = loop.doubt;
    }
    for (ContextId id = 1; id < inside_.size() && program_.problem.empty(); ++id) {
      if (!inside_[id]) continue;
      const structure::Context& context = context_.tree[id];
      if (context.kind == structure::Context::Kind::kRecursion) program_.problem = "recursion inside the nest";
      if (context.kind == structure::Context::Kind::kLoop && !judged.contains(id))
        program_.problem = "a loop that was not judged";
    }
  }

  /// Those that store something that stays, do something outside, or are part of something that a loop carries; those
  /// that decide by data how far a loop goes; and all that these need something of.
  void choose_statements() {
    group_of_.assign(graph_.statements.size(), kNone);
    std::set<ddg::StatementId> chosen;
    std::set<std::pair<ddg::StatementId, ddg::StatementId>> flows;
    const auto add = [&](const KeptFlow& flow) {
      flows.insert({flow.from.statement, flow.to.statement});
      if (bounds_loop(flow)) chosen.insert(flow.from.statement);
      if (flow.where == Where::kCarried) chosen.insert({flow.from.statement, flow.to.statement});
    };
    for (const FlowOfLoop* loop : outer_flows_)
      for (const KeptFlow& flow : loop->flows)
        if (is_within_nest(flow)) add(flow);
    for (const FlowOfLoop* loop : flows_) {
      for (const KeptFlow& flow : loop->flows) add(flow);
      for (const CodePoint exit : loop->exits) chosen.insert(exit.statement);
    }
    for (const ddg::Access& access : graph_.accesses)
      if (access.store && inside_[context_of(access.statement)] && is_kept(access)) chosen.insert(access.statement);
    for (const ddg::Statement& statement : graph_.statements)
      if (statement.kind != ddg::Statement::Kind::kCode && inside_[statement.context]) chosen.insert(statement.id);
    for (bool more = true; more;) {
      more = false;
      for (const auto& [from, to] : flows)
        if (chosen.contains(to) && chosen.insert(from).second) more = true;
    }
    for (const ddg::StatementId id : chosen)
      if (inside_[context_of(id)]) statements_.push_back(id);
    if (statements_.empty()) program_.problem = "nothing in it stores or hands on a value";
    if (statements_.size() > limits_.statements)
      program_.problem = fmt::format("{} statements, more than {} at once", statements_.size(), limits_.statements);
  }

  /// Something that counts for all of a loop is made outside of it.
  bool bounds_loop(const KeptFlow& flow) const {
    return std::any_of(flows_.begin(), flows_.end(), [&](const FlowOfLoop* loop) {
      return loop->heads.contains(flow.to) &&
             std::none_of(loop->loop.loops.begin(), loop->loop.loops.end(),
                          [&](ContextId context) { return is_inside(context_of(flow.from.statement), context); });
    });
  }

  bool is_inside(ContextId context, ContextId loop) const {
    for (; context != kNoContext && context >= loop; context = context_.tree[context].parent)
      if (context == loop) return true;
    return false;
  }

  /// Neither a copy for the compiler's own purposes nor a counter in memory.
  bool is_kept(const ddg::Access& access) const {
    if (access.copies == access.address.points) return false;
    return !flow_.is_index({access.statement, access.instruction}) || moves(access);
  }
  static bool moves(const ddg::Access& access) {
    for (const fold::Piece& piece : access.address.pieces)
      for (const fold::Output& output : piece.outputs) {
        const auto& coefficients = output.value.coefficients;
        if (!output.affine()) return true;
        if (std::any_of(coefficients.begin(), coefficients.end(), [](std::int64_t c) { return c != 0; })) return true;
      }
    return access.address.pieces.size() > 1;
  }

  // ---- groups ----

  /// The part of a loop's body that something is in; none if it is left out.
  std::uint32_t part_of(ContextId loop, ddg::StatementId id) const {
    ContextId at = context_of(id);
    ContextId below = kNoContext;  // the outermost loop on the way that is inside `loop`
    for (; at != loop && at != kNoContext; at = context_.tree[at].parent)
      if (context_.tree[at].kind == structure::Context::Kind::kLoop) below = at;
    if (below != kNoContext) return loop_part_.at(below);
    const auto found = statement_part_.find(id);
    return found == statement_part_.end() ? kNone : found->second;
  }

  void find_bodies() {
    std::map<ContextId, std::vector<std::uint32_t>> bodies;  // by loop: parts
    for (const ContextId root : program_.roots) add_part(bodies[kNoContext], {ddg::kNoStatement, root, 0, kNone});
    for (ContextId id = 1; id < inside_.size(); ++id) {
      if (!inside_[id] || context_.tree[id].kind != structure::Context::Kind::kLoop) continue;
      bodies.try_emplace(id);
      if (!is_root(id))
        add_part(bodies[flow_.loop_around(context_.tree[id].parent)], {ddg::kNoStatement, id, 0, kNone});
    }
    for (const ddg::StatementId id : statements_)
      add_part(bodies[flow_.loop_around(context_of(id))], {id, kNoContext, 0, kNone});
    for (auto& [loop, parts] : bodies) {
      if (!order(loop, parts)) {
        program_.problem = "statements that need each other both ways, around an inner loop";
        return;
      }
    }
  }

  void add_part(std::vector<std::uint32_t>& body, Part part) {
    const auto number = static_cast<std::uint32_t>(parts_.size());
    if (part.loop != kNoContext)
      loop_part_[part.loop] = number;
    else
      statement_part_[part.statement] = number;
    body.push_back(number);
    parts_.push_back(part);
  }

  /// Edges between the parts of one body, within an iteration of its loop.
  struct Edge {
    std::uint32_t from = 0;  // parts
    std::uint32_t to = 0;
    bool binds = false;  // both belong together
  };

  static bool binds(const KeptFlow& flow) {
    return flow.kind == KeptFlow::Kind::kRegister || (flow.kind == KeptFlow::Kind::kControl && !flow.exits);
  }

  std::vector<Edge> edges_in(ContextId loop) const {
    std::vector<Edge> edges;
    if (loop == kNoContext) return root_edges();
    for (const FlowOfLoop* of : flows_) {
      for (const KeptFlow& flow : of->flows) {
        if (flow.where != Where::kInside) continue;
        const ContextId a = context_of(flow.from.statement);
        const ContextId b = context_of(flow.to.statement);
        if (flow_.loop_around(a, b) != loop) continue;
        const std::uint32_t from = part_of(loop, flow.from.statement);
        const std::uint32_t to = part_of(loop, flow.to.statement);
        if (from != to && from != kNone && to != kNone) edges.push_back({from, to, binds(flow)});
      }
    }
    return edges;
  }

  /// Between copies of the nest's loop.
  std::vector<Edge> root_edges() const {
    std::vector<Edge> edges;
    for (const FlowOfLoop* of : flows_)
      for (const KeptFlow& flow : of->flows) {
        const std::uint32_t from = loop_part_.at(root_of(context_of(flow.from.statement)));
        const std::uint32_t to = loop_part_.at(root_of(context_of(flow.to.statement)));
        if (from != to) edges.push_back({from, to, false});
      }
    return edges;
  }

  ContextId root_of(ContextId context) const {
    while (!is_root(context)) context = context_.tree[context].parent;
    return context;
  }

  /// Segments, groups, and an order of both; false if there is none.
  bool order(ContextId loop, std::vector<std::uint32_t>& parts) {
    const std::vector<Edge> edges = edges_in(loop);
    if (!find_segments(parts, edges)) return false;
    join(loop, parts, edges);
    std::vector<Program::Child> children;
    std::set<std::uint32_t> seen;
    std::stable_sort(parts.begin(), parts.end(), [&](std::uint32_t a, std::uint32_t b) { return before(a, b); });
    for (const std::uint32_t part : parts) {
      if (parts_[part].loop != kNoContext)
        children.push_back({0, parts_[part].loop});
      else if (seen.insert(parts_[part].group).second)
        children.push_back({parts_[part].group, kNoContext});
    }
    program_.bodies.emplace_back(loop, std::move(children));
    return true;
  }

  bool before(std::uint32_t a, std::uint32_t b) const {
    const Part& x = parts_[a];
    const Part& y = parts_[b];
    if (x.segment != y.segment) return x.segment < y.segment;
    if ((x.loop == kNoContext) != (y.loop == kNoContext)) return x.loop == kNoContext;
    if (x.loop == kNoContext) return x.group != y.group ? x.group < y.group : x.statement < y.statement;
    return false;  // loops are in the order that find_segments gave them
  }

  /// The longest way over inner loops. Loops of one segment are put in an order that suits the edges.
  bool find_segments(std::vector<std::uint32_t>& parts, const std::vector<Edge>& edges) {
    const std::size_t rounds = parts.size() + 2;
    std::map<std::uint32_t, std::uint32_t> rank;  // of loops, within a segment
    for (std::size_t round = 0;; ++round) {
      bool changed = false;
      for (const Edge& edge : edges) {
        const Part& from = parts_[edge.from];
        Part& to = parts_[edge.to];
        const bool over = from.loop != kNoContext && to.loop == kNoContext;
        const std::uint32_t least = from.segment + (over ? 1 : 0);
        if (to.segment < least) {
          to.segment = least;
          changed = true;
        }
        const bool both = from.loop != kNoContext && to.loop != kNoContext;
        if (both && from.segment == to.segment && rank[edge.to] <= rank[edge.from]) {
          rank[edge.to] = rank[edge.from] + 1;
          changed = true;
        }
      }
      if (!changed) break;
      if (round > rounds) return false;
    }
    std::stable_sort(parts.begin(), parts.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
    return true;
  }

  /// Statements of one segment that are bound to each other become groups.
  void join(ContextId loop, const std::vector<std::uint32_t>& parts, const std::vector<Edge>& edges) {
    std::map<std::uint32_t, std::uint32_t> root;
    for (const std::uint32_t part : parts) root[part] = part;
    const auto find = [&](std::uint32_t part) {
      while (root[part] != part) part = root[part] = root[root[part]];
      return part;
    };
    const auto unite = [&](const Edge& edge) {
      const Part& from = parts_[edge.from];
      const Part& to = parts_[edge.to];
      if (from.loop != kNoContext || to.loop != kNoContext || from.segment != to.segment) return;
      const std::uint32_t a = find(edge.from);
      const std::uint32_t b = find(edge.to);
      root[std::max(a, b)] = std::min(a, b);
    };
    for (const Edge& edge : edges)
      if (edge.binds) unite(edge);
    unite_cycles(edges, find, root);
    std::map<std::uint32_t, std::uint32_t> group;
    for (const std::uint32_t part : topological(parts, edges, find)) {
      Part& p = parts_[part];
      if (p.loop != kNoContext) continue;
      const auto [known, is_new] = group.try_emplace(find(part), static_cast<std::uint32_t>(program_.groups.size()));
      p.group = known->second;
      group_of_[p.statement] = p.group;
      if (is_new) {
        Group& made = program_.groups.emplace_back();
        made.name = fmt::format("G{}", p.group);
        made.loops = chain(loop);
      }
      program_.groups[p.group].statements.push_back(p.statement);
    }
  }

  /// Statements in an order in which groups do not come before what they need; groups are one after the other.
  template <typename Find>
  std::vector<std::uint32_t> topological(const std::vector<std::uint32_t>& parts, const std::vector<Edge>& edges,
                                         const Find& find) const {
    std::map<std::uint32_t, std::uint32_t> depth;
    for (std::size_t round = 0; round <= parts.size(); ++round) {
      bool changed = false;
      for (const Edge& edge : edges) {
        const Part& from = parts_[edge.from];
        const Part& to = parts_[edge.to];
        if (from.loop != kNoContext || to.loop != kNoContext || from.segment != to.segment) continue;
        const std::uint32_t a = find(edge.from);
        const std::uint32_t b = find(edge.to);
        if (a == b || depth[b] > depth[a]) continue;
        depth[b] = depth[a] + 1;
        changed = true;
      }
      if (!changed) break;
    }
    std::vector<std::uint32_t> sorted(parts.begin(), parts.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (parts_[a].segment != parts_[b].segment) return parts_[a].segment < parts_[b].segment;
      const std::uint32_t x = find(a);
      const std::uint32_t y = find(b);
      if (depth[x] != depth[y]) return depth[x] < depth[y];
      return x != y ? x < y : parts_[a].statement < parts_[b].statement;
    });
    return sorted;
  }

  /// Groups of a segment that reach each other both ways are one.
  template <typename Find>
  void unite_cycles(const std::vector<Edge>& edges, const Find& find, std::map<std::uint32_t, std::uint32_t>& root) {
    for (bool changed = true; changed;) {
      changed = false;
      std::map<std::uint32_t, std::set<std::uint32_t>> next;
      for (const Edge& edge : edges) {
        const Part& from = parts_[edge.from];
        const Part& to = parts_[edge.to];
        if (from.loop != kNoContext || to.loop != kNoContext || from.segment != to.segment) continue;
        if (find(edge.from) != find(edge.to)) next[find(edge.from)].insert(find(edge.to));
      }
      for (const auto& [from, to] : next) {
        for (const std::uint32_t other : reached(next, from)) {
          if (other == from || !reached(next, other).contains(from)) continue;
          root[std::max(other, from)] = std::min(other, from);
          changed = true;
          break;
        }
        if (changed) break;
      }
    }
  }

  static std::set<std::uint32_t> reached(const std::map<std::uint32_t, std::set<std::uint32_t>>& next,
                                         std::uint32_t from) {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> todo{from};
    while (!todo.empty()) {
      const auto found = next.find(todo.back());
      todo.pop_back();
      if (found == next.end()) continue;
      for (const std::uint32_t to : found->second)
        if (seen.insert(to).second) todo.push_back(to);
    }
    return seen;
  }

  /// The loops from the nest's on down to this one.
  std::vector<ContextId> chain(ContextId loop) const {
    std::vector<ContextId> loops;
    for (ContextId at = loop;; at = context_.tree[at].parent) {
      if (context_.tree[at].kind == structure::Context::Kind::kLoop) loops.push_back(at);
      if (is_root(at)) break;
    }
    std::reverse(loops.begin(), loops.end());
    return loops;
  }

  // ---- isl ----

  bool drops(ddg::StatementId id) const { return drops_first(context_.tree, context_of(id)); }

  /// Without the coordinates of the loops around, and with the group's name.
  Isl<isl_set> in_group(Isl<isl_set> set, const Group& group) const {
    if (program_.prefix > 0)
      set = Isl<isl_set>(isl_set_project_out(set.release(), isl_dim_set, 0, static_cast<unsigned>(program_.prefix)));
    return Isl<isl_set>(isl_set_set_tuple_name(set.release(), group.name.c_str()));
  }

  void build_domains() {
    for (Group& group : program_.groups) {
      std::sort(group.statements.begin(), group.statements.end());
      for (const ddg::StatementId id : group.statements) {
        fold::TextOptions options;
        options.drop_first_in = drops(id);
        Isl<isl_set> domain = in_group(set_of(isl_, domain_pieces(graph_.statements[id].domain, options), ""), group);
        group.domain = group.domain ? Isl<isl_set>(isl_set_union(group.domain.release(), domain.copy())) : domain;
        group.domains.push_back(std::move(domain));
      }
      group.domain = Isl<isl_set>(isl_set_coalesce(group.domain.release()));
      if (!group.domain) program_.problem = "its domains are beyond the budget";
    }
  }

  void build_dependences() {
    for (const FlowOfLoop* loop : outer_flows_)
      for (const KeptFlow& flow : loop->flows)
        if (is_within_nest(flow) && program_.problem.empty()) add_flow(flow, -1);
    for (const FlowOfLoop* loop : flows_) {
      const auto level = static_cast<std::ptrdiff_t>(loop->level) - static_cast<std::ptrdiff_t>(shown_shift());
      for (const KeptFlow& flow : loop->flows)
        if (program_.problem.empty()) add_flow(flow, level);
      for (const CodePoint exit : loop->exits) add_exit(exit, *loop, level);
      if (program_.dependences.size() > limits_.dependences) program_.problem = "too many dependences at once";
      if (!program_.problem.empty()) return;
    }
  }

  /// Coordinates of graph vectors that are not among a group's.
  std::size_t shown_shift() const {
    return program_.prefix + (drops_first(context_.tree, program_.roots.front()) ? 1 : 0);
  }

  /// Which iterations depend on which: so many coordinates are equal, and, if it is a later one, the distance in the
  /// next is `least` to `greatest`, or any from `least` on if that is less.
  struct Reach {
    std::size_t equal = 0;
    bool later = false;
    std::int64_t least = 1;
    std::int64_t greatest = 0;
  };

  /// Of instances of two groups.
  struct Pairs {
    Isl<isl_map> map;
    bool all = false;  // that there are
  };

  /// What of `pairs` has this reach.
  void add(std::uint32_t from, std::uint32_t to, const Pairs& pairs, const Reach& reach, const KeptFlow* flow,
           ContextId loop) {
    Isl<isl_map> map = within(pairs.map, reach);
    if (!map) {
      program_.problem = "its dependences are beyond the budget";
      return;
    }
    if (isl_map_is_empty(map.get()) == isl_bool_true) return;
    if (flow != nullptr) made_[flow].push_back(program_.dependences.size());
    ProgramDependence& made = program_.dependences.emplace_back();
    made.from = from;
    made.to = to;
    made.flow = flow;
    made.loop = loop;
    made.map = std::move(map);
    made.equal = reach.equal;
    made.later = reach.later;
    made.all = pairs.all;
  }

  std::size_t shared(const Group& a, const Group& b) const {
    std::size_t same = 0;
    while (same < a.loops.size() && same < b.loops.size() && a.loops[same] == b.loops[same]) ++same;
    return same;
  }

  /// Of a loop around the nest: all of it happens in the nest.
  bool is_within_nest(const KeptFlow& flow) const {
    return flow.where == Where::kWithin && inside_[context_of(flow.from.statement)] &&
           inside_[context_of(flow.to.statement)];
  }

  /// `level`: the coordinate of the loop that knows it; -1 for one around the nest.
  void add_flow(const KeptFlow& flow, std::ptrdiff_t level) {
    const std::uint32_t from = group_of_[flow.from.statement];
    const std::uint32_t to = group_of_[flow.to.statement];
    if (from != kNone) add_bounds(flow, level);
    if (from == kNone || to == kNone) return;  // one end is outside, or nothing hangs on it
    const Group& producer = program_.groups[from];
    const Group& consumer = program_.groups[to];
    const std::size_t both = shared(producer, consumer);
    if (flow.where == Where::kInside && from == to) return;  // within one instance of the group
    const auto [known, is_new] = seen_.try_emplace({from, to, flow.where, level, flow.least, flow.greatest,
                                                    flow.reduction, flow.direct ? folded(flow) : LinearPieces{}},
                                                   &flow);
    if (!is_new) return add_more(flow, known->second);
    const LinearPieces& pieces = std::get<LinearPieces>(known->first);
    const Pairs pairs =
        pieces.empty() ? everything(producer, consumer) : Pairs{in_groups(pieces, producer, consumer), false};
    const auto carrier = static_cast<std::size_t>(level);
    switch (flow.where) {
      case Where::kInside:
        return add(from, to, pairs, {both}, &flow, kNoContext);
      case Where::kCarried:
        if (carrier >= both) return add(from, to, pairs, {both}, &flow, kNoContext);
        return add(from, to, pairs, carried_at(carrier, flow), &flow, producer.loops[carrier]);
      case Where::kWithin:
        return add_within(flow, pairs, level, both);
    }
  }

  static Reach carried_at(std::size_t level, const KeptFlow& flow) {
    return {level, true, std::max<std::int64_t>(flow.least, 1), flow.greatest};
  }

  /// It goes where another one goes already.
  void add_more(const KeptFlow& flow, const KeptFlow* other) {
    for (const std::size_t number : made_[other]) program_.dependences[number].more.push_back(&flow);
  }

  /// What flows into a head of a loop (region_flow.h) from outside comes before all of the loop.
  void add_bounds(const KeptFlow& flow, std::ptrdiff_t level) {
    const std::uint32_t from = group_of_[flow.from.statement];
    for (const FlowOfLoop* loop : flows_) {
      if (!loop->heads.contains(flow.to)) continue;
      const Group& producer = program_.groups[from];
      const auto is_copy = [&](ContextId context) {
        return std::find(loop->loop.loops.begin(), loop->loop.loops.end(), context) != loop->loop.loops.end();
      };
      if (std::any_of(producer.loops.begin(), producer.loops.end(), is_copy)) continue;
      for (std::uint32_t to = 0; to < program_.groups.size(); ++to) {
        const Group& consumer = program_.groups[to];
        if (!std::any_of(consumer.loops.begin(), consumer.loops.end(), is_copy)) continue;
        if (!seen_bounds_.insert({from, to, flow.where, level}).second) continue;
        const std::size_t both = shared(producer, consumer);
        const auto carrier = static_cast<std::size_t>(level);
        const Pairs pairs = everything(producer, consumer);
        if (flow.where == Where::kCarried && carrier < both) {
          add(from, to, pairs, carried_at(carrier, flow), &flow, producer.loops[carrier]);
        } else {
          const std::size_t equal = flow.where == Where::kWithin ? static_cast<std::size_t>(level + 1) : both;
          add(from, to, pairs, {equal}, &flow, kNoContext);
        }
      }
    }
  }

  /// Carried by any loop inside the one at `level`, or by none.
  void add_within(const KeptFlow& flow, const Pairs& pairs, std::ptrdiff_t level, std::size_t both) {
    const std::uint32_t from = group_of_[flow.from.statement];
    const std::uint32_t to = group_of_[flow.to.statement];
    for (auto k = static_cast<std::size_t>(level + 1); k < both; ++k)
      add(from, to, pairs, {k, true}, &flow, program_.groups[from].loops[k]);
    if (from != to) add(from, to, pairs, {both}, &flow, kNoContext);
  }

  /// Everything in a later iteration comes behind the decision.
  void add_exit(CodePoint exit, const FlowOfLoop& loop, std::ptrdiff_t number) {
    const auto level = static_cast<std::size_t>(number);
    const std::uint32_t from = group_of_[exit.statement];
    if (from == kNone) return;
    for (std::uint32_t to = 0; to < program_.groups.size(); ++to) {
      const Group& producer = program_.groups[from];
      const Group& consumer = program_.groups[to];
      const bool in_loop = level < consumer.loops.size() && std::find(loop.loop.loops.begin(), loop.loop.loops.end(),
                                                                      consumer.loops[level]) != loop.loop.loops.end();
      if (!in_loop) continue;
      const bool later = producer.loops[level] == consumer.loops[level];
      add(from, to, everything(producer, consumer), {level, later}, nullptr, producer.loops[level]);
    }
  }

  Pairs everything(const Group& from, const Group& to) const {
    return {Isl<isl_map>(isl_map_from_domain_and_range(from.domain.copy(), to.domain.copy())), true};
  }

  /// The pairs that have this reach.
  Isl<isl_map> within(Isl<isl_map> map, const Reach& reach) const {
    if (reach.equal == 0 && !reach.later) return map;
    Isl<isl_space> space(isl_map_get_space(map.get()));
    std::vector<Isl<isl_basic_map>> limits;
    limits.emplace_back(isl_basic_map_equal(space.copy(), static_cast<unsigned>(reach.equal)));
    if (!reach.later) return intersect(map, limits);
    isl_local_space* const local = isl_local_space_from_space(space.release());
    const auto k = static_cast<int>(reach.equal);
    const auto bound = [&](bool upper) {
      isl_constraint* c = isl_constraint_alloc_inequality(isl_local_space_copy(local));
      c = isl_constraint_set_coefficient_si(c, isl_dim_out, k, upper ? -1 : 1);
      c = isl_constraint_set_coefficient_si(c, isl_dim_in, k, upper ? 1 : -1);
      c = isl_constraint_set_constant_val(c, isl_val_int_from_si(isl_, upper ? reach.greatest : -reach.least));
      limits.emplace_back(isl_basic_map_from_constraint(c));
    };
    bound(false);
    if (reach.greatest >= reach.least) bound(true);
    isl_local_space_free(local);
    return intersect(map, limits);
  }

  /// What the graph says about it; nothing if it has no dependence of just this.
  LinearPieces folded(const KeptFlow& flow) const {
    LinearPieces all;
    const auto first = std::lower_bound(
        graph_.dependences.begin(), graph_.dependences.end(), flow, [](const ddg::Dependence& d, const KeptFlow& f) {
          return std::tie(d.to, d.to_instruction) < std::tie(f.to.statement, f.to.instruction);
        });
    for (auto d = first;
         d != graph_.dependences.end() && d->to == flow.to.statement && d->to_instruction == flow.to.instruction; ++d) {
      if (d->operand != flow.operand || d->lane != flow.lane || d->from != flow.from.statement ||
          d->from_instruction != flow.from.instruction)
        continue;
      if (d->chunks || d->map.pieces.empty() || !all.empty()) return {};
      all = pieces_of(*d);
    }
    return all;
  }

  LinearPieces pieces_of(const ddg::Dependence& d) const {
    fold::Shape shape;
    shape.dimensions = ddg::dimensions_of(context_.tree, context_of(d.to));
    shape.outputs = ddg::dimensions_of(context_.tree, context_of(d.from));
    shape.shared = ddg::shared_dimensions(context_.tree, context_of(d.from), context_of(d.to));
    fold::TextOptions options;
    options.drop_first_in = drops(d.to);
    options.drop_first_out = drops(d.from);
    return dependence_pieces(d.map, shape, options);
  }

  Isl<isl_map> in_groups(const LinearPieces& pieces, const Group& producer, const Group& consumer) const {
    Isl<isl_map> map;
    if (const auto prefix = static_cast<unsigned>(program_.prefix); prefix > 0) {
      map = without_empty(map_of(isl_, with_equal_first(pieces, prefix), "", ""));
      map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_out, 0, prefix));
    } else {
      map = map_of(isl_, pieces, "", "");
    }
    map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, producer.name.c_str()));
    return Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, consumer.name.c_str()));
  }

  isl_ctx* isl_;
  const ddg::Graph& graph_;
  const Context& context_;
  const RegionFlow& flow_;
  const ProgramLimits& limits_;
  Program& program_;
  std::vector<bool> inside_;                    // by context
  std::vector<const FlowOfLoop*> flows_;        // of loops in the nest
  std::vector<const FlowOfLoop*> outer_flows_;  // of others
  std::vector<ddg::StatementId> statements_;
  std::vector<std::uint32_t> group_of_;   // by statement
  std::map<Seen, const KeptFlow*> seen_;  // dependences that are there already, and what they were made for
  std::set<std::tuple<std::uint32_t, std::uint32_t, Where, std::ptrdiff_t>> seen_bounds_;  // by groups, place, level
  std::map<const KeptFlow*, std::vector<std::size_t>> made_;                               // dependences
  std::vector<Part> parts_;
  std::map<ContextId, std::uint32_t> loop_part_;
  std::map<ddg::StatementId, std::uint32_t> statement_part_;
};

}  // namespace

const std::vector<Program::Child>& Program::body(structure::ContextId loop) const {
  static const std::vector<Child> nothing;
  for (const auto& [context, children] : bodies)
    if (context == loop) return children;
  return nothing;
}

Program build_program(isl_ctx* isl, const ddg::Graph& graph, const Context& context, const RegionFlow& flow,
                      const SourceLoop& nest, const ProgramLimits& limits) {
  Program program;
  Builder(isl, graph, context, flow, limits, program).run(nest);
  return program;
}

}  // namespace loopfold::poly
