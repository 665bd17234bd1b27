#include "advise/liveness/register_webs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "advise/liveness/copy_chain.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using poly::Isl;
using poly::KeptFlow;

/// One kept flow with the map that it has.
struct Way {
  const KeptFlow* flow = nullptr;
  std::uint32_t from = 0;  // units
  std::uint32_t to = 0;
  const Isl<isl_map>* map = nullptr;
};

class Webs {
 public:
  Webs(const ddg::Graph& graph, const poly::Context& context, const poly::Program& program, const NestUnits& units,
       Locals& locals)
      : graph_(graph), context_(context), program_(program), units_(units), locals_(locals) {}

  std::vector<NestStorage> run() {
    find_ways();
    unite();
    std::map<std::size_t, std::vector<std::size_t>> webs;
    for (std::size_t i = 0; i < ways_.size(); ++i) webs[root(i)].push_back(i);
    std::vector<NestStorage> made;
    for (const auto& [first, members] : webs) made.push_back(make(members));
    return made;
  }

 private:
  void find_ways() {
    for (const UnitFlow& flow : units_.flows)
      if (flow.flow != nullptr && flow.flow->kind == KeptFlow::Kind::kRegister && !goes_through_memory(*flow.flow))
        ways_.push_back({flow.flow, flow.from, flow.to, &flow.map});
    parents_.resize(ways_.size());
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  /// Through a spill, or into a memory operand: its slot is a storage.
  bool goes_through_memory(const KeptFlow& flow) const {
    if (flow.operand >= ddg::kFirstMemoryOperand && flow.operand < ddg::kEnvironmentOperand) return true;
    if (flow.direct) return false;
    const auto first = std::lower_bound(graph_.origins.begin(), graph_.origins.end(), flow,
                                        [](const ddg::Origin& origin, const KeptFlow& f) {
                                          return std::tie(origin.to, origin.to_instruction, origin.operand) <
                                                 std::tie(f.to.statement, f.to.instruction, f.operand);
                                        });
    for (auto origin = first; origin != graph_.origins.end() && origin->to == flow.to.statement &&
                              origin->to_instruction == flow.to.instruction && origin->operand == flow.operand;
         ++origin) {
      if (origin->from != flow.from.statement || origin->from_instruction != flow.from.instruction) continue;
      if (origin->by == ddg::kNoStatement) continue;
      const ddg::Instruction& by = graph_.statements[origin->by].instructions[origin->by_instruction];
      if ((by.kinds & (trace::kLoad | trace::kStore)) != 0) return true;
    }
    return false;
  }

  std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  void unite() {
    std::map<CodePoint, std::size_t> by_definition;
    std::map<std::tuple<CodePoint, std::uint8_t>, std::size_t> by_use;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const auto [definition, first] = by_definition.try_emplace(ways_[i].flow->from, i);
      parents_[root(i)] = root(definition->second);
      const auto [use, is_first] = by_use.try_emplace({ways_[i].flow->to, ways_[i].flow->operand}, i);
      parents_[root(i)] = root(use->second);
    }
  }

  NestStorage make(const std::vector<std::size_t>& members) {
    NestStorage made;
    made.storage.bytes = 8;
    std::map<std::tuple<std::uint32_t, CodePoint, bool>, std::uint32_t> accesses;
    const auto access = [&](std::uint32_t unit, CodePoint at, bool write) {
      const auto [known, is_new] =
          accesses.try_emplace({unit, at, write}, static_cast<std::uint32_t>(made.storage.accesses.size()));
      if (!is_new) return known->second;
      Access& added = made.storage.accesses.emplace_back();
      added.unit = unit;
      added.write = write;
      added.position = position(unit, at, write);
      Isl<isl_map> cells(isl_map_from_domain(units_.all[unit].domain.copy()));
      cells = Isl<isl_map>(isl_map_add_dims(cells.release(), isl_dim_out, 1));
      added.cells = Isl<isl_map>(isl_map_fix_si(cells.release(), isl_dim_out, 0, 0));
      return known->second;
    };
    for (const std::size_t i : members) {
      const Way& way = ways_[i];
      const std::uint32_t definition = access(way.from, way.flow->from, true);
      const std::uint32_t use = access(way.to, way.flow->to, false);
      std::optional<Isl<isl_map>> exact;
      if (!way.flow->direct) {
        if (holds(way.from, way.flow->from) && holds(way.to, way.flow->to)) exact = through_copies(way);
        if (!exact && made.doubt.empty()) made.doubt = "it is followed through copies";
      }
      made.storage.ranges.push_back({definition, use, exact ? *exact : *way.map, way.flow->reduction, !exact});
    }
    name(ways_[members.front()].flow->from, made);
    made.automatic = !made.named;
    return made;
  }

  bool holds(std::uint32_t unit, CodePoint at) const {
    const std::vector<ddg::StatementId>& statements = units_.all[unit].statements;
    return std::find(statements.begin(), statements.end(), at.statement) != statements.end();
  }

  /// Where in a unit. What a loop needs before all of it is used by every unit in it, before anything else.
  std::int64_t position(std::uint32_t unit, CodePoint at, bool write) const {
    if (!holds(unit, at)) return write ? 0 : -1;
    const std::vector<ddg::StatementId>& statements = units_.all[unit].statements;
    const auto place = std::find(statements.begin(), statements.end(), at.statement) - statements.begin();
    return place * 4096 + 2 * std::min<std::int64_t>(at.instruction, 2047) + (write ? 1 : 0);
  }

  /// Over the units' coordinates, in one iteration of all loops around the nest.
  std::optional<Isl<isl_map>> through_copies(const Way& way) const {
    isl_ctx* const isl = isl_set_get_ctx(units_.all.front().domain.get());
    std::optional<Isl<isl_map>> exact = exact_flow(isl, graph_, context_.tree, *way.flow);
    if (!exact) return exact;
    const auto shift = static_cast<unsigned>(units_.shift);
    Isl<isl_map> map = std::move(*exact);
    for (unsigned k = 0; k < shift; ++k)
      map = Isl<isl_map>(
          isl_map_equate(map.release(), isl_dim_in, static_cast<int>(k), isl_dim_out, static_cast<int>(k)));
    map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_in, 0, shift));
    map = Isl<isl_map>(isl_map_project_out(map.release(), isl_dim_out, 0, shift));
    map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, units_.all[way.from].name.c_str()));
    return Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, units_.all[way.to].name.c_str()));
  }

  void name(CodePoint at, NestStorage& made) {
    const ddg::Statement& statement = graph_.statements[at.statement];
    const std::uint64_t address = statement.instructions[at.instruction].address;
    made.at = address;
    const symbols::Location& location = context_.locate(address);
    const std::size_t slash = location.file.rfind('/');
    const std::string place =
        location.line > 0
            ? fmt::format("{}:{}", slash == std::string::npos ? location.file : location.file.substr(slash + 1),
                          location.line)
            : "";
    made.storage.name = fmt::format("a register{}", place.empty() ? "" : " at " + place);
    if (statement.kind != ddg::Statement::Kind::kCode) return;
    const trace::InstructionFacts& facts =
        (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
    for (const trace::RegisterUse& write : facts.writes) {
      const std::string found = variable_in(write, address + facts.length, statement.function);
      if (!found.empty()) {
        made.storage.name = found;
        made.named = statement.function == context_.tree[program_.roots.front()].function;
        return;
      }
      const std::string reg = register_name(write);
      if (!reg.empty()) made.storage.name = fmt::format("{}{}", reg, place.empty() ? "" : " at " + place);
    }
  }

  static std::string register_name(const trace::RegisterUse& use) {
    constexpr const char* kGeneral[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"};
    if (use.file == trace::RegisterFile::kVector) return fmt::format("xmm{}", use.index);
    if (use.file == trace::RegisterFile::kGeneral)
      return use.index < 8 ? kGeneral[use.index] : fmt::format("r{}", use.index);
    return "";
  }

  std::string variable_in(const trace::RegisterUse& use, std::uint64_t address, structure::FunctionId function) {
    const std::optional<std::uint32_t> reg = dwarf_number(use);
    if (!reg || context_.structure == nullptr) return "";
    const std::uint64_t start = context_.structure->code.address(context_.structure->flow.functions()[function].entry);
    for (const symbols::LocalVariable& local : locals_.of(start))
      if (is_in_register(local, address, *reg)) return local.name;
    return "";
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::Program& program_;
  const NestUnits& units_;
  Locals& locals_;
  std::vector<Way> ways_;
  std::vector<std::size_t> parents_;
};

}  // namespace

std::vector<NestStorage> find_webs(const ddg::Graph& graph, const poly::Context& context, const poly::Program& program,
                                   const NestUnits& units, Locals& locals) {
  return Webs(graph, context, program, units, locals).run();
}

bool fit(const std::vector<NestStorage>& webs, const NestUnits& units) {
  return std::all_of(webs.begin(), webs.end(), [&](const NestStorage& web) {
    const Storage& storage = web.storage;
    return std::all_of(storage.ranges.begin(), storage.ranges.end(), [&](const Range& range) {
      const auto is_of = [&](isl_dim_type side, std::uint32_t access) {
        const char* const name = isl_map_get_tuple_name(range.map.get(), side);
        return name != nullptr && units.all[storage.accesses[access].unit].name == name;
      };
      return is_of(isl_dim_in, range.definition) && is_of(isl_dim_out, range.use);
    });
  });
}

}  // namespace loopfold::advise::liveness
