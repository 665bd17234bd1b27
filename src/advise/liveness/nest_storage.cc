#include "advise/liveness/nest_storage.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/liveness/conflicts.h"
#include "advise/liveness/graph_maps.h"
#include "advise/liveness/value_ways.h"
#include "poly/pieces.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using poly::FlowOfLoop;
using poly::Isl;
using structure::ContextId;

constexpr std::int64_t kPositions = 4096;  // of one statement
constexpr const char* kGaveUp = "isl gave up within its budget";

/// Branches that decide how often a loop of the nest goes round, by loop.
std::map<ContextId, std::vector<std::uint64_t>> tests_by_loop(const ddg::Graph& graph, const poly::RegionFlow& flow) {
  std::map<ContextId, std::vector<std::uint64_t>> tests;
  for (const FlowOfLoop& loop : flow.loops())
    for (const CodePoint test : loop.tests) {
      const ddg::Instruction& instruction = graph.statements[test.statement].instructions[test.instruction];
      if ((instruction.kinds & trace::kBranch) == 0) continue;
      for (const ContextId context : loop.loop.loops) tests[context].push_back(instruction.address);
    }
  return tests;
}

class MemoryStorages {
 public:
  MemoryStorages(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                 const NestUnits& units, Locals& locals)
      : isl_(isl), graph_(graph), context_(context), flow_(flow), units_(units), locals_(locals) {
    for (const FlowOfLoop& loop : flow.loops())
      for (const poly::KeptFlow& kept : loop.flows)
        if (kept.reduction) reductions_.insert({kept.from.statement, kept.to.statement});
  }

  std::optional<NestStorage> make(const Variable& variable) {
    NestStorage made;
    made.storage.name = variable.name;
    made.storage.bytes = variable.bytes;
    made.named = variable.named_in_source;
    made.clause_name = variable.clause_name;
    made.object = variable.object;
    made.automatic = variable.scratch;
    made.at = variable.at.value_or(0);
    if (made.storage.name.empty()) made.storage.name = fmt::format("a stack slot ({})", words(made.at));
    if (variable.object == ddg::kUnknownObject)
      made.storage.unknown = fmt::format("memory that is not known is written ({})", words(made.at));
    for (const ddg::Access* access : variable.accesses) add_access(*access, made);
    for (const ddg::Access* access : variable.accesses)
      if (!access->store)
        add_sources(*access, made);
      else
        add_outputs(*access, made);
    return made;
  }

 private:
  std::string words(std::uint64_t address) const {
    const symbols::Location& at = context_.locate(address);
    const std::size_t slash = at.file.rfind('/');
    return at.line > 0 ? fmt::format("{}:{}", slash == std::string::npos ? at.file : at.file.substr(slash + 1), at.line)
                       : fmt::format("{:#x}", at.module_offset);
  }

  /// Over the unit's coordinates; those of loops around the nest are part of the cell.
  void add_access(const ddg::Access& access, NestStorage& made) {
    const std::uint32_t unit = units_.unit_of.at(access.statement);
    const NestUnit& of = units_.all[unit];
    Isl<isl_map> cells = cells_of(isl_, graph_, context_.tree, access);
    cells = Isl<isl_map>(
        isl_map_move_dims(cells.release(), isl_dim_out, 0, isl_dim_in, 0, static_cast<unsigned>(units_.shift)));
    cells = Isl<isl_map>(isl_map_set_tuple_name(cells.release(), isl_dim_in, of.name.c_str()));
    const auto place = std::find(of.statements.begin(), of.statements.end(), access.statement) - of.statements.begin();
    Access& added = made.storage.accesses.emplace_back();
    added.unit = unit;
    added.position = place * kPositions + 2 * std::min<std::int64_t>(access.instruction, kPositions / 2 - 1) +
                     (access.store ? 1 : 0);
    added.write = access.store;
    added.cells = Isl<isl_map>(isl_map_coalesce(cells.release()));
    added.bytes = access.size;
    numbers_[&access] = static_cast<std::uint32_t>(made.storage.accesses.size() - 1);
    if (!access.address.exact() && made.doubt.empty())
      made.doubt = fmt::format("the {} at {} has addresses that are not affine", access.store ? "store" : "load",
                               words(graph_.statements[access.statement].instructions[access.instruction].address));
  }

  std::optional<std::uint32_t> number(const NestStorage& made, ddg::StatementId statement, std::uint16_t instruction,
                                      bool store, std::optional<std::uint8_t> index) const {
    for (const auto& [access, number] : numbers_)
      if (access->statement == statement && access->instruction == instruction && access->store == store &&
          (!index || access->index == *index) && number < made.storage.accesses.size())
        return number;
    return std::nullopt;
  }

  /// { x -> y : in one iteration of all loops around the nest }, in the space of a map of whole vectors.
  Isl<isl_map> one_entry(const Isl<isl_map>& like) const {
    return poly::with_equal_first(Isl<isl_map>(isl_map_universe(isl_map_get_space(like.get()))), units_.shift);
  }

  /// Within one iteration of all loops around the nest, over the units' coordinates.
  Isl<isl_map> within(Isl<isl_map> map, const std::string& from, const std::string& to, bool same) const {
    const auto shift = static_cast<unsigned>(units_.shift);
    Isl<isl_map> entry = one_entry(map);
    map = same ? Isl<isl_map>(isl_map_intersect(map.release(), entry.release()))
               : Isl<isl_map>(isl_map_subtract(map.release(), entry.release()));
    map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_in, 0, shift));
    map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_out, 0, shift));
    map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, from.c_str()));
    return Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, to.c_str()));
  }

  /// What flows through it: both ends may access other storages in other instances.
  static Isl<isl_map> in_storage(Isl<isl_map> map, const Access& from, const Access& to) {
    map = poly::intersect_domain(map, Isl<isl_set>(isl_map_domain(from.cells.copy())));
    return poly::intersect_range(map, Isl<isl_set>(isl_map_domain(to.cells.copy())));
  }

  const NestUnit& unit_of(ddg::StatementId statement) const { return units_.all[units_.unit_of.at(statement)]; }

  void add_sources(const ddg::Access& load, NestStorage& made) {
    const std::uint32_t use = numbers_.at(&load);
    Isl<isl_set> open(isl_map_domain(cells_of(isl_, graph_, context_.tree, load).release()));  // whole vectors
    Isl<isl_set> filled(isl_set_empty(isl_set_get_space(open.get())));
    const auto first = std::lower_bound(
        graph_.dependences.begin(), graph_.dependences.end(), load, [](const ddg::Dependence& d, const ddg::Access& a) {
          return std::tie(d.to, d.to_instruction) < std::tie(a.statement, a.instruction);
        });
    for (auto d = first;
         d != graph_.dependences.end() && d->to == load.statement && d->to_instruction == load.instruction; ++d) {
      if (d->kind != ddg::Dependence::Kind::kMemory || d->operand != ddg::kFirstMemoryOperand + load.index) continue;
      if (d->from == ddg::kNoStatement) {
        made.storage.unknown =
            fmt::format("where the load at {} gets its values from is not known",
                        words(graph_.statements[load.statement].instructions[load.instruction].address));
        return;
      }
      if (!units_.unit_of.contains(d->from)) continue;
      const std::optional<std::uint32_t> definition = number(made, d->from, d->from_instruction, true, std::nullopt);
      if (!definition) continue;
      const Isl<isl_map> all = flow_of(isl_, graph_, context_.tree, *d);
      Isl<isl_map> map = within(all, unit_of(d->from).name, unit_of(d->to).name, true);
      map = in_storage(std::move(map), made.storage.accesses[*definition], made.storage.accesses[use]);
      const bool whole = d->map.exact() && d->lane == 0 &&
                         made.storage.accesses[*definition].bytes >= static_cast<std::int64_t>(load.size);
      if (whole)
        filled = Isl<isl_set>(
            isl_set_union(filled.release(), isl_map_range(isl_map_intersect(all.copy(), one_entry(all).release()))));
      if (isl_map_is_empty(map.get()) == isl_bool_true) continue;
      if (!d->map.exact() && made.doubt.empty())
        made.doubt = fmt::format("the flow into the load at {} is not affine",
                                 words(graph_.statements[load.statement].instructions[load.instruction].address));
      made.storage.ranges.push_back({*definition, use, Isl<isl_map>(isl_map_coalesce(map.release())),
                                     reductions_.contains({d->from, d->to}), true});
    }
    open = Isl<isl_set>(isl_set_subtract(open.release(), isl_set_coalesce(filled.release())));  // few pieces: quick
    open = Isl<isl_set>(isl_set_project_out(open.release(), isl_dim_set, 0, static_cast<unsigned>(units_.shift)));
    open = Isl<isl_set>(isl_set_set_tuple_name(open.release(), unit_of(load.statement).name.c_str()));
    if (isl_set_is_empty(open.get()) != isl_bool_true) made.storage.inputs.push_back({use, std::move(open)});
  }

  void add_outputs(const ddg::Access& store, NestStorage& made) {
    const std::uint32_t definition = numbers_.at(&store);
    for (const ddg::Dependence& d : graph_.dependences) {
      if (d.from != store.statement || d.from_instruction != store.instruction ||
          d.kind != ddg::Dependence::Kind::kMemory)
        continue;
      Isl<isl_map> map = flow_of(isl_, graph_, context_.tree, d);
      const bool inside = units_.unit_of.contains(d.to);
      Isl<isl_set> left;
      if (inside) {
        left = Isl<isl_set>(
            isl_map_domain(within(std::move(map), unit_of(d.from).name, unit_of(d.to).name, false).release()));
      } else {
        left = Isl<isl_set>(isl_map_domain(map.release()));
        left = Isl<isl_set>(isl_set_project_out(left.release(), isl_dim_set, 0, static_cast<unsigned>(units_.shift)));
        left = Isl<isl_set>(isl_set_set_tuple_name(left.release(), unit_of(d.from).name.c_str()));
      }
      left = Isl<isl_set>(
          isl_set_intersect(left.release(), isl_map_domain(made.storage.accesses[definition].cells.copy())));
      if (isl_set_is_empty(left.get()) != isl_bool_true) made.storage.outputs.push_back({definition, std::move(left)});
    }
  }

  isl_ctx* isl_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const NestUnits& units_;
  Locals& locals_;
  std::map<const ddg::Access*, std::uint32_t> numbers_;
  std::set<std::pair<ddg::StatementId, ddg::StatementId>> reductions_;
};

/// A loop of the nest hands it from iteration to iteration, and nothing but index values are stored to it. What is
/// handed on is counted on: a value that is the same every time is no counter, and others may be put in its place.
bool is_counter(const Variable& variable, const poly::RegionFlow& flow, const ValueWays& ways,
                const std::vector<Inside>& loops) {
  for (const ddg::Access* access : variable.accesses)
    if (access->store && !ways.stores_index(*access, flow)) return false;
  bool counts = false;
  for (const ddg::Access* access : variable.accesses) {
    if (!access->store || std::none_of(loops.begin(), loops.end(),
                                       [&](const Inside& inside) { return ways.is_carried(*access, inside); }))
      continue;
    if (!ways.is_step(*access, variable.accesses)) return false;
    counts = true;
  }
  return counts;
}

/// Loops whose tests read it.
std::set<ContextId> tested_by(const Variable& variable, const poly::RegionFlow& flow) {
  std::set<ContextId> loops;
  for (const FlowOfLoop& loop : flow.loops())
    for (const ddg::Access* access : variable.accesses)
      if (!access->store && loop.tests.contains({access->statement, access->instruction}))
        loops.insert(loop.loop.loops.begin(), loop.loop.loops.end());
  return loops;
}

}  // namespace

Times written_times(const NestUnits& units) {
  std::size_t deepest = 0;
  for (const NestUnit& unit : units.all) deepest = std::max(deepest, unit.loops.size());
  Times times;
  for (const NestUnit& unit : units.all) {
    Isl<isl_map> map(isl_map_from_domain(isl_set_universe(isl_set_get_space(unit.domain.get()))));
    map = Isl<isl_map>(isl_map_add_dims(map.release(), isl_dim_out, static_cast<unsigned>(2 * deepest + 1)));
    std::vector<TimeSum> sums(2 * deepest + 1, {std::vector<std::int64_t>(unit.loops.size()), 0, 1});
    for (std::size_t k = 0; k <= deepest; ++k) {
      const std::int64_t place = k < unit.places.size() ? unit.places[k] : 0;
      map = Isl<isl_map>(
          isl_map_fix_si(map.release(), isl_dim_out, static_cast<unsigned>(2 * k), static_cast<int>(place)));
      sums[2 * k].constant = place;
      if (k == deepest) break;
      if (k < unit.loops.size()) sums[2 * k + 1].coefficients[k] = 1;
      const auto row = static_cast<int>(2 * k + 1);
      map = k < unit.loops.size()
                ? Isl<isl_map>(isl_map_equate(map.release(), isl_dim_in, static_cast<int>(k), isl_dim_out, row))
                : Isl<isl_map>(isl_map_fix_si(map.release(), isl_dim_out, static_cast<unsigned>(row), 0));
    }
    times.of.push_back(std::move(map));
    times.parallel.emplace_back(2 * deepest + 1);
    times.sums.push_back(std::move(sums));
  }
  return times;
}

NestAccesses find_accesses(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                           const poly::SourceLoop& nest, Locals& locals) {
  NestAccesses result;
  const ValueWays ways(graph, context.tree);
  const Inside inside = ways.inside(nest);
  std::vector<const ddg::Access*> accesses;
  for (const ddg::StatementId id : inside.statements) {
    if (const char* const why = ways.uses_any_memory(id)) result.unknown = why;
    for (const ddg::Access& access : ways.accesses(id)) accesses.push_back(&access);
  }
  std::vector<Inside> loops;
  const std::map<ContextId, std::vector<std::uint64_t>> tests = tests_by_loop(graph, flow);
  for (const FlowOfLoop& loop : flow.loops()) {
    Inside one = ways.inside(loop.loop);
    if (!one.statements.empty() && inside.holds(one.statements.front())) loops.push_back(std::move(one));
  }
  const auto own = tests.find(nest.loops.front());
  const std::vector<std::uint64_t> none;
  for (Variable& variable :
       find_variables(graph, context, nest, accesses, own == tests.end() ? none : own->second, locals)) {
    if (!variable.at && std::none_of(variable.accesses.begin(), variable.accesses.end(),
                                     [](const ddg::Access* access) { return access->store; }))
      continue;
    if (is_counter(variable, flow, ways, loops)) {
      Counter counter{variable.name, tested_by(variable, flow), variable.born_inside};
      if (!counter.name.empty()) result.counters.push_back(std::move(counter));
      continue;
    }
    for (const ddg::Access* access : variable.accesses) result.statements.insert(access->statement);
    result.variables.push_back(std::move(variable));
  }
  return result;
}

NestStorages find_storages(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context,
                           const poly::RegionFlow& flow, const NestAccesses& accesses, const NestUnits& units,
                           std::vector<NestStorage> webs, const Times& written, Locals& locals) {
  NestStorages result;
  result.counters = accesses.counters;
  result.unknown = accesses.unknown;
  for (const Variable& variable : accesses.variables)
    if (std::optional<NestStorage> made = MemoryStorages(isl, graph, context, flow, units, locals).make(variable)) {
      made->tested_by = tested_by(variable, flow);
      result.all.push_back(std::move(*made));
    }
  for (NestStorage& web : webs) result.all.push_back(std::move(web));
  Precedence order(written);
  for (NestStorage& made : result.all) {
    if (!made.storage.unknown.empty()) continue;
    if (isl_ctx_last_error(isl) != isl_error_none) {  // who asked cannot use any of them
      made.storage.unknown = kGaveUp;
      continue;
    }
    made.cells = std::make_shared<SameCells>(made.storage);
    // What is in conflict as written says nothing, whether or not its flow is broken, too.
    const Conflicts conflicts = find_conflicts(made.storage, order, *made.cells, true);
    BrokenFlows broken;
    if (conflicts.found.empty()) broken = broken_flow(made.storage, order, true, true);
    if (!conflicts.complete || !broken.complete)
      made.storage.unknown = kGaveUp;
    else if (!conflicts.found.empty() || !broken.found.empty())
      made.storage.unknown = made.doubt.empty() ? "its values are not told apart well enough" : made.doubt;
  }
  return result;
}

}  // namespace loopfold::advise::liveness
