#include "advise/check_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "advise/liveness/conflicts.h"
#include "advise/liveness/left_behind.h"
#include "advise/liveness/moved_work.h"
#include "advise/liveness/register_webs.h"
#include "poly/budget.h"
#include "profile/levels.h"

namespace loopfold::advise {

namespace {

using liveness::NestUnit;
using poly::FlowOfLoop;
using poly::Isl;
using structure::ContextId;
using structure::kNoContext;

constexpr std::chrono::milliseconds kNet{60'000};
constexpr const char* kUsedUp = "isl's budget was used up";

bool names_file(const std::string& path, const std::string& end) {
  if (end.empty() || path == end) return true;
  return path.size() > end.size() && path.ends_with(end) && path[path.size() - end.size() - 1] == '/';
}

std::string line_name(const profile::Loop& row) {
  return row.source ? std::to_string(row.source->line) : fmt::format("@{}", row.node);
}

}  // namespace

CheckNest::CheckNest(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                     const profile::Profile& profile)
    : isl_(isl_ctx_alloc()),
      graph_(graph),
      context_(context),
      flow_(flow),
      profile_(profile),
      locals_(context.symbolizer) {}

Result<std::shared_ptr<CheckNest>> CheckNest::make(const ddg::Graph& graph, const poly::Context& context,
                                                   const poly::RegionFlow& flow, const profile::Profile& profile,
                                                   const ScheduleText& schedule, std::optional<std::uint32_t> wanted,
                                                   std::uint64_t operations, BuiltNests* built) {
  const auto fresh = [&] { return std::shared_ptr<CheckNest>(new CheckNest(graph, context, flow, profile)); };
  std::shared_ptr<CheckNest> none = fresh();
  if (Result<void> chosen = none->choose_region(schedule, wanted); !chosen)
    return tl::unexpected<Error>(chosen.error());
  BuiltNests own;
  BuiltNests& known = built == nullptr ? own : *built;
  for (const FlowOfLoop* loop : none->candidates(schedule)) {
    std::shared_ptr<CheckNest>& nest = known[{none->region, loop}];
    if (nest == nullptr) {
      nest = fresh();
      nest->region = none->region;
      nest->build(*loop, operations);
    }
    nest->also = none->also;
    if (nest->problem.empty()) return nest;
    if (none->problem.empty()) none->problem = nest->problem;
  }
  if (none->problem.empty()) none->problem = "the region has no loop that was judged";
  return none;
}

bool CheckNest::matches(const profile::Loop& row, const LoopRef& ref) const {
  if (!row.source || row.source->line != ref.line || !names_file(row.source->file, ref.file)) return false;
  return !ref.node || std::find(row.nodes.begin(), row.nodes.end(), *ref.node) != row.nodes.end();
}

std::vector<profile::Source> CheckNest::assumed(const ScheduleText& schedule) const {
  std::vector<profile::Source> found;
  for (const profile::Loop& row : profile_.regions[region].loops) {
    const bool named = std::any_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
      return std::any_of(step.loops.begin(), step.loops.end(), [&](const LoopRef& ref) { return matches(row, ref); });
    });
    if (!named && !schedule.steps.empty()) continue;
    for (const profile::Assumption& assumption : row.assumes)
      if (assumption.source && std::find(found.begin(), found.end(), *assumption.source) == found.end())
        found.push_back(*assumption.source);
  }
  return found;
}

/// The one that was asked for, else the hottest one that has all loops of the first step.
Result<void> CheckNest::choose_region(const ScheduleText& schedule, std::optional<std::uint32_t> wanted) {
  if (wanted) {
    if (*wanted >= profile_.regions.size())
      return fail(ErrorKind::kUsage, fmt::format("--region {}: there are {}, from 0 on; see loopfold report", *wanted,
                                                 profile_.regions.size()));
    region = *wanted;
    return {};
  }
  if (profile_.regions.empty()) return fail(ErrorKind::kBadInput, "the program has no loop with enough of the work");
  std::vector<std::uint32_t> with_all;
  for (const profile::Region& one : profile_.regions) {
    const bool all = std::all_of(schedule.steps.begin(), schedule.steps.end(), [&](const Step& step) {
      return std::all_of(step.loops.begin(), step.loops.end(), [&](const LoopRef& ref) {
        return std::any_of(one.loops.begin(), one.loops.end(),
                           [&](const profile::Loop& row) { return matches(row, ref); });
      });
    });
    if (all) with_all.push_back(one.id);
  }
  if (!with_all.empty()) {
    region = with_all.front();
    const bool named =
        std::any_of(schedule.steps.begin(), schedule.steps.end(), [](const Step& step) { return !step.loops.empty(); });
    if (named) also.assign(with_all.begin() + 1, with_all.end());
    return {};
  }
  for (const Step& step : schedule.steps)
    for (const LoopRef& ref : step.loops)
      if (std::none_of(profile_.regions.begin(), profile_.regions.end(), [&](const profile::Region& one) {
            return std::any_of(one.loops.begin(), one.loops.end(),
                               [&](const profile::Loop& row) { return matches(row, ref); });
          }))
        return fail(ErrorKind::kBadInput,
                    fmt::format("'{}': no loop at {}{}; loopfold report shows the lines of all", step.text, ref.text,
                                profile_.regions_min_percent > 0
                                    ? fmt::format(" in loops from {:g} % of the operations on (--min-percent)",
                                                  profile_.regions_min_percent)
                                    : ""));
  return fail(ErrorKind::kBadInput, "no region has all the loops that are named");
}

/// Nests to try: the region, then the loops on the way to the outermost one that is named.
std::vector<const FlowOfLoop*> CheckNest::candidates(const ScheduleText& schedule) const {
  const profile::Region& of = profile_.regions[region];
  std::set<std::uint32_t> named;  // nodes
  std::uint32_t depth = ~0U;
  const profile::Loop* outermost = nullptr;
  for (const Step& step : schedule.steps)
    for (const LoopRef& ref : step.loops)
      for (const profile::Loop& row : of.loops)
        if (matches(row, ref) && row.depth < depth) {
          depth = row.depth;
          outermost = &row;
        }
  std::set<std::uint32_t> way{of.node};
  for (std::optional<std::uint32_t> at = outermost == nullptr ? std::optional<std::uint32_t>() : outermost->node; at;
       at = profile_.tree[*at].parent)
    way.insert(*at);
  std::vector<const FlowOfLoop*> found;
  for (const FlowOfLoop& loop : flow_.loops()) {
    const std::uint32_t node = context_.nodes[loop.loop.loops.front()];
    if (!way.contains(node) || loop.loop.left_from != kNoContext) continue;
    const bool below = std::any_of(of.loops.begin(), of.loops.end(), [&](const profile::Loop& row) {
      return std::find(row.nodes.begin(), row.nodes.end(), node) != row.nodes.end();
    });
    if (below) found.push_back(&loop);
  }
  std::sort(found.begin(), found.end(), [](const FlowOfLoop* a, const FlowOfLoop* b) { return a->level < b->level; });
  return found;
}

/// What is quick to find out comes first: most nests that have a problem have it with their units, and storages of a
/// nest that is beyond isl's budget use up all of it.
void CheckNest::build(const FlowOfLoop& of, std::uint64_t operations) {
  const poly::SourceLoop& nest = of.loop;
  const poly::IslBudget budget(isl(), operations, kNet);
  program = poly::build_program(isl(), graph_, context_, flow_, nest, {});
  problem = program.problem;
  if (!problem.empty()) return;
  const liveness::NestAccesses accesses = liveness::find_accesses(graph_, context_, flow_, nest, locals_);
  units = liveness::find_units(isl(), graph_, context_, flow_, program, accesses.statements);
  written = liveness::written_times(units);
  name_loops();
  std::vector<liveness::NestStorage> webs = liveness::find_webs(graph_, context_, program, units, locals_);
  problem = budget.exceeded() || !liveness::fit(webs, units) ? kUsedUp : problem_of_units();
  if (!problem.empty()) return;
  storages =
      liveness::find_storages(isl(), graph_, context_, flow_, accesses, units, std::move(webs), written, locals_);
  left_behind = liveness::find_left_behind(isl(), graph_, context_, flow_, of, units, written, locals_);
  if (budget.exceeded()) problem = kUsedUp;
}

std::string CheckNest::problem_of_units() const {
  const liveness::BrokenFlows broken = liveness::broken_flow(flow_as_storage(), written, true, true);
  if (!broken.complete || isl_ctx_last_error(isl()) != isl_error_none) return kUsedUp;
  return broken.found.empty() ? "" : "its statements cannot be put in the order of the source as units";
}

void CheckNest::name_loops() {
  loops.clear();
  for (const profile::Loop& row : profile_.regions[region].loops) {
    NamedLoop loop;
    loop.name = line_name(row);
    loop.node = row.node;
    const std::uint64_t block = std::max<std::uint64_t>(row.block, 1);
    loop.trips = std::max<std::uint64_t>((row.trip.max + block - 1) / block, 1);
    for (ContextId id = 1; id < context_.tree.contexts().size(); ++id)
      if (context_.tree[id].kind == structure::Context::Kind::kLoop &&
          std::find(row.nodes.begin(), row.nodes.end(), context_.nodes[id]) != row.nodes.end())
        loop.loops.push_back(id);
    bool any = false;
    for (const NestUnit& unit : units.all) {
      std::optional<std::uint32_t> where;
      for (std::uint32_t k = 0; k < unit.loops.size(); ++k)
        if (std::find(loop.loops.begin(), loop.loops.end(), unit.loops[k]) != loop.loops.end()) where = k;
      any = any || where.has_value();
      loop.where.push_back(where);
    }
    if (any) loops.push_back(std::move(loop));
  }
}

Result<std::vector<std::uint32_t>> CheckNest::find_named(const LoopRef& ref) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < loops.size(); ++i)
    if (matches(row_of(loops[i]), ref)) found.push_back(i);
  if (found.empty())
    return fail(ErrorKind::kBadInput,
                fmt::format("no loop at {} in the nest, or nothing in it is left to order; there are {}", ref.text,
                            fmt::join(
                                [&] {
                                  std::vector<std::string> names;
                                  for (const NamedLoop& loop : loops) names.push_back(loop.name);
                                  return names;
                                }(),
                                ", ")));
  if (Result<void> one = is_one_loop(found, ref); !one) return tl::unexpected<Error>(one.error());
  return found;
}

bool CheckNest::is_below(std::uint32_t node, std::uint32_t other) const {
  for (std::optional<std::uint32_t> at = profile_.tree[node].parent; at; at = profile_.tree[*at].parent)
    if (*at == other) return true;
  return false;
}

/// A loop may be in several places: calls, or copies of an inlined function. Two loops of one line that are inside each
/// other, or side by side in one function, are two.
Result<void> CheckNest::is_one_loop(const std::vector<std::uint32_t>& found, const LoopRef& ref) const {
  std::vector<std::uint32_t> nodes;  // outer ones first
  for (const std::uint32_t loop : found) nodes.push_back(loop_as_written(loops[loop].node));
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  bool two = false;
  std::string names;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    bool inside = false;
    for (std::size_t k = 0; k < i; ++k) {
      const profile::TreeNode& a = profile_.tree[nodes[k]];
      const profile::TreeNode& b = profile_.tree[nodes[i]];
      inside = inside || is_below(b.id, a.id);
      two = two || inside || (a.parent == b.parent && a.inlined.empty() && b.inlined.empty());
    }
    names += fmt::format("{}{}@{}", i == 0 ? "" : inside ? ", inside it " : ", ", ref.text, nodes[i]);
  }
  if (!two) return {};
  return fail(ErrorKind::kBadInput,
              fmt::format("there are {} loops at {}; which one is meant: {}?", nodes.size(), ref.text, names));
}

Result<std::vector<std::uint32_t>> CheckNest::find(const LoopRef& ref) const {
  Result<std::vector<std::uint32_t>> found = find_named(ref);
  if (found && found->size() > 1 && has_levels(*found)) {
    std::vector<std::string> names;
    for (const std::uint32_t loop : *found)
      names.push_back(fmt::format("{}@{}{}", loops[loop].name, loops[loop].node,
                                  profile::counter_words(profile_.tree[loops[loop].node])));
    return fail(ErrorKind::kBadInput, fmt::format("the loop at {} has hidden loops; which one is meant: {}?", ref.text,
                                                  fmt::join(names, ", ")));
  }
  return found;
}

/// Iterations of a loop with hidden levels are iterations of all its levels.
Result<std::vector<std::uint32_t>> CheckNest::find_iterations(const LoopRef& ref) const {
  Result<std::vector<std::uint32_t>> found = find_named(ref);
  if (!found) return found;
  const std::size_t named = found->size();
  for (std::uint32_t i = 0; i < loops.size(); ++i) {
    if (!profile_.tree[loops[i].node].hidden || std::find(found->begin(), found->end(), i) != found->end()) continue;
    const std::uint32_t whole = loop_as_written(loops[i].node);
    const bool inside =
        std::any_of(found->begin(), found->begin() + static_cast<std::ptrdiff_t>(named), [&](auto loop) {
          const std::vector<std::uint32_t>& nodes = row_of(loops[loop]).nodes;
          return std::find(nodes.begin(), nodes.end(), whole) != nodes.end();
        });
    if (inside) found->push_back(i);
  }
  return found;
}

/// Of a hidden level: the node of the loop that it is in.
std::uint32_t CheckNest::loop_as_written(std::uint32_t node) const {
  while (profile_.tree[node].hidden) node = *profile_.tree[node].parent;
  return node;
}

bool CheckNest::has_levels(const std::vector<std::uint32_t>& found) const {
  return std::any_of(found.begin(), found.end(),
                     [&](std::uint32_t loop) { return profile_.tree[loops[loop].node].hidden; });
}

const profile::Loop& CheckNest::row_of(const NamedLoop& loop) const {
  const std::vector<profile::Loop>& rows = profile_.regions[region].loops;
  return *std::find_if(rows.begin(), rows.end(), [&](const profile::Loop& row) { return row.node == loop.node; });
}

/// Of the unit, or of the loop directly inside `loop` that it is in.
int CheckNest::line_in(std::size_t unit, std::uint32_t loop, bool last) const {
  const NestUnit& of = units.all[unit];
  const std::size_t below = *loops[loop].where[unit] + 1;
  if (below < of.loops.size())
    for (const profile::Loop& row : profile_.regions[region].loops)
      if (row.source &&
          std::find(row.nodes.begin(), row.nodes.end(), context_.nodes[of.loops[below]]) != row.nodes.end())
        return row.source->line;
  const std::optional<profile::Source>& head = row_of(loops[loop]).source;
  int line = 0;
  for (const ddg::StatementId id : of.statements)
    for (const ddg::Instruction& instruction : graph_.statements[id].instructions) {
      const symbols::Location& at = context_.locate(instruction.address);
      if (at.line <= 0 || (head && at.line == head->line)) continue;  // its counter and test are in both parts
      line = line == 0 ? at.line : last ? std::max(line, at.line) : std::min(line, at.line);
    }
  return line;
}

Result<std::vector<std::int64_t>> CheckNest::parts_at(std::uint32_t loop, int line) const {
  std::vector<std::int64_t> parts(units.all.size());
  for (std::size_t u = 0; u < parts.size(); ++u) {
    if (!loops[loop].where[u]) continue;
    const int first = line_in(u, loop, false);
    const int last = line_in(u, loop, true);
    if (first == 0) return fail(ErrorKind::kBadInput, "not all of the loop has lines");
    if (first < line && last >= line)
      return fail(ErrorKind::kBadInput,
                  fmt::format("line {} is in the middle of what is one statement, lines {} to {}", line, first, last));
    parts[u] = last < line ? 0 : 1;
  }
  return parts;
}

Result<std::vector<std::int64_t>> CheckNest::components(std::uint32_t loop) const {
  const std::size_t count = units.all.size();
  std::vector<std::vector<bool>> reach(count, std::vector<bool>(count));
  const auto bind = [&](std::size_t a, std::size_t b) {
    if (loops[loop].where[a] && loops[loop].where[b]) reach[a][b] = true;
  };
  for (const liveness::UnitFlow& one : units.flows) bind(one.from, one.to);
  for (const liveness::NestStorage& made : storages.all)
    for (const liveness::Range& range : made.storage.ranges)
      bind(made.storage.accesses[range.definition].unit, made.storage.accesses[range.use].unit);
  for (std::size_t a = 0; a < count; ++a)  // one loop directly inside stays one
    for (std::size_t b = 0; b < count; ++b) {
      if (!loops[loop].where[a] || !loops[loop].where[b]) continue;
      const std::size_t below = *loops[loop].where[a] + 1;
      if (below < units.all[a].loops.size() && below < units.all[b].loops.size() &&
          units.all[a].loops[below] == units.all[b].loops[below])
        reach[a][b] = true;
    }
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b)
        if (reach[a][k] && reach[k][b]) reach[a][b] = true;
  std::vector<std::int64_t> parts(count, -1);
  std::int64_t next = 0;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t u = 0; u < count; ++u) {
      if (!loops[loop].where[u] || parts[u] >= 0) continue;
      const bool ready = [&] {
        for (std::size_t v = 0; v < count; ++v)
          if (reach[v][u] && !reach[u][v] && parts[v] < 0) return false;
        return true;
      }();
      if (!ready) continue;
      for (std::size_t v = 0; v < count; ++v)
        if (v == u || (reach[u][v] && reach[v][u])) parts[v] = next;
      ++next;
      more = true;
      break;
    }
  }
  for (std::int64_t& part : parts) part = std::max<std::int64_t>(part, 0);
  return parts;
}

/// What it computes comes from something that was loaded.
bool CheckNest::comes_from_load(poly::CodePoint at, int depth) const {
  constexpr int kDeepest = 16;
  const ddg::Statement& statement = graph_.statements[at.statement];
  if ((statement.instructions[at.instruction].kinds & trace::kLoad) != 0 || depth > kDeepest) return true;
  return std::any_of(statement.local.begin(), statement.local.end(), [&](const ddg::LocalFlow& local) {
    return local.to == at.instruction && comes_from_load({at.statement, local.from}, depth + 1);
  });
}

/// Outside of judged loops: it stores, or computes something of data that is no address or counter of another statement
/// of its function. (A called function saves registers, whatever is in them.)
bool CheckNest::hands_on_data(poly::CodePoint at) const {
  constexpr std::uint32_t kNotInteger = trace::kFloatScalar | trace::kFloatVector | trace::kIntegerVector | trace::kX87;
  const std::uint32_t kinds = graph_.statements[at.statement].instructions[at.instruction].kinds;
  if ((kinds & trace::kStore) != 0) return (kinds & trace::kCall) == 0;
  if ((kinds & trace::kArithmetic) == 0) return false;
  const bool integer = (kinds & kNotInteger) == 0;
  if (integer && !comes_from_load(at, 0)) return false;
  return std::any_of(graph_.dependences.begin(), graph_.dependences.end(), [&](const ddg::Dependence& dependence) {
    return dependence.from == at.statement && dependence.from_instruction == at.instruction && !dependence.address &&
           graph_.statements[dependence.to].function == graph_.statements[at.statement].function &&
           !(integer && flow_.is_index({dependence.to, dependence.to_instruction}));
  });
}

std::string CheckNest::moved_out_of(std::uint32_t loop) const {
  const profile::Loop& row = row_of(loops[loop]);
  if (!row.source) return "";
  if (row.reuse_why.starts_with(liveness::kMovedWork)) return row.reuse_why;
  std::set<ContextId> around;  // code that runs before the loop, behind it, or in loops around it
  for (const ContextId id : loops[loop].loops)
    for (ContextId at = context_.tree[id].parent; at != structure::LoopTree::root(); at = context_.tree[at].parent)
      around.insert(at);
  const structure::FunctionId function = context_.tree[loops[loop].loops.front()].function;
  const auto for_lines = [&](bool inside, const auto& what) {
    for (const ddg::Statement& statement : graph_.statements) {
      if (statement.function != function || is_inside(statement.context, loops[loop]) != inside) continue;
      const bool in_nest = units.unit_of.contains(statement.id);
      if (!inside && !in_nest && !around.contains(statement.context)) continue;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        if (in_nest || inside ? flow_.is_index({statement.id, i}) : !hands_on_data({statement.id, i})) continue;
        const symbols::Location& at = context_.locate(statement.instructions[i].address);
        if (at.file == row.source->file) what(at.line);
      }
    }
  };
  int last = 0;
  for_lines(true, [&](int line) { last = std::max(last, line); });
  int moved = 0;
  for_lines(false, [&](int line) {
    if (line > row.source->line && line <= last) moved = line;
  });
  if (moved == 0) return "";
  return fmt::format("{} {} outside of the loop of line {}; build with less optimisation", liveness::kMovedWork, moved,
                     row.source->line);
}

std::vector<std::uint32_t> CheckNest::band_below(std::uint32_t loop) const {
  std::size_t deepest = 0;
  for (std::size_t u = 0; u < units.all.size(); ++u)
    if (loops[loop].where[u] && units.all[u].loops.size() >= units.all[deepest].loops.size()) deepest = u;
  std::vector<std::uint32_t> band;
  for (std::uint32_t other = 0; other < loops.size(); ++other)
    if (loops[other].where[deepest] && *loops[other].where[deepest] >= *loops[loop].where[deepest])
      band.push_back(other);
  return band;
}

liveness::Storage CheckNest::flow_as_storage(std::vector<const liveness::UnitFlow*>* kept) const {
  liveness::Storage flow;
  for (std::uint32_t u = 0; u < units.all.size(); ++u)
    for (const bool write : {true, false}) {
      liveness::Access& access = flow.accesses.emplace_back();
      access.unit = u;
      access.write = write;
      access.position = write ? 0 : 1;
    }
  for (const liveness::UnitFlow& one : units.flows) {
    if (one.again) continue;
    flow.ranges.push_back({2 * one.from, 2 * one.to + 1, one.map, one.flow != nullptr && one.flow->reduction});
    if (kept != nullptr) kept->push_back(&one);
  }
  return flow;
}

bool CheckNest::is_as_written(const liveness::Storage& storage, const liveness::Times& times) const {
  std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> equal;  // units, and whether the first access is before
  for (const liveness::Access& a : storage.accesses) {
    if (std::any_of(times.parallel[a.unit].begin(), times.parallel[a.unit].end(), [](bool row) { return row; }))
      return false;
    for (const liveness::Access& b : storage.accesses) {
      if (!equal.insert({a.unit, b.unit, a.position < b.position}).second) continue;
      if (liveness::have_same_order(times, written, a.unit, b.unit)) continue;
      const Isl<isl_map> now = liveness::before(times, a, b);
      const Isl<isl_map> then = liveness::before(written, a, b);
      const auto bounded = [&](const Isl<isl_map>& map) {
        Isl<isl_map> inside(isl_map_intersect_domain(map.copy(), units.all[a.unit].domain.copy()));
        return Isl<isl_map>(isl_map_intersect_range(inside.release(), units.all[b.unit].domain.copy()));
      };
      if (isl_map_is_equal(bounded(now).get(), bounded(then).get()) != isl_bool_true) return false;
    }
  }
  return true;
}

std::vector<liveness::LoopCounter> CheckNest::counters() const {
  std::vector<liveness::LoopCounter> all;
  for (const NamedLoop& loop : loops) all.push_back({loop.where, loop.trips});
  return all;
}

std::vector<Isl<isl_set>> CheckNest::domains() const {
  std::vector<Isl<isl_set>> all;
  for (const NestUnit& unit : units.all) all.push_back(unit.domain);
  return all;
}

bool CheckNest::is_inside(ContextId context, const NamedLoop& loop) const {
  for (ContextId at = context; at != structure::LoopTree::root(); at = context_.tree[at].parent)
    if (std::find(loop.loops.begin(), loop.loops.end(), at) != loop.loops.end()) return true;
  return false;
}

std::vector<std::string> CheckNest::private_names() const {
  std::set<std::string> names;
  for (const liveness::NestStorage& made : storages.all)
    if (made.named) names.insert(made.storage.name);
  for (const liveness::Counter& counter : storages.counters) names.insert(counter.name);
  for (const NamedLoop& loop : loops)
    for (const profile::Touched& touched : row_of(loop).privates) names.insert(touched.variable);
  names.erase("");
  return {names.begin(), names.end()};
}

bool CheckNest::has_variable(const std::string& name) {
  const std::vector<std::string> known = private_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return true;
  const auto is_it = [&](const auto& thing) { return thing.name == name; };
  if (std::any_of(graph_.objects.begin(), graph_.objects.end(), is_it)) return true;
  for (const NamedLoop& loop : loops)
    for (const ContextId id : loop.loops) {
      const std::vector<symbols::LocalVariable>& locals = locals_.of(liveness::function_of(context_, id));
      if (std::any_of(locals.begin(), locals.end(), is_it)) return true;
    }
  return false;
}

bool CheckNest::is_born_inside(const std::string& variable, const NamedLoop& loop) {
  for (const FlowOfLoop& of : flow_.loops()) {
    if (std::find(loop.loops.begin(), loop.loops.end(), of.loop.loops.front()) == loop.loops.end()) continue;
    std::vector<std::uint64_t> tests;
    for (const poly::CodePoint test : of.tests) {
      const ddg::Instruction& instruction = graph_.statements[test.statement].instructions[test.instruction];
      if ((instruction.kinds & trace::kBranch) != 0) tests.push_back(instruction.address);
    }
    for (const symbols::LocalVariable& local : locals_.of(liveness::function_of(context_, of.loop.loops.front())))
      if (local.name == variable && liveness::is_inside_body(local, tests)) return true;
  }
  return false;
}

}  // namespace loopfold::advise
