#include "advise/liveness/left_behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "advise/liveness/conflicts.h"
#include "advise/liveness/graph_maps.h"
#include "advise/liveness/value_ways.h"
#include "poly/pieces.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using poly::Isl;

class LeftBehind {
 public:
  LeftBehind(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
             const poly::FlowOfLoop& nest, const NestUnits& units, const Times& written, Locals& locals)
      : isl_(isl),
        graph_(graph),
        context_(context),
        flow_(flow),
        nest_(nest),
        units_(units),
        written_(written),
        locals_(locals),
        ways_(graph, context.tree),
        inside_(ways_.inside(nest.loop)) {}

  std::vector<NestStorage> run() {
    left_ = ways_.left_in_registers(inside_, nest_, flow_);
    if (left_.empty()) return {};
    find_variables();
    unite();
    std::map<std::size_t, std::vector<std::size_t>> groups;  // of left_
    for (std::size_t i = 0; i < left_.size(); ++i) groups[root(i)].push_back(i);
    std::vector<NestStorage> made;
    for (const auto& [first, members] : groups) made.push_back(make(members));
    return made;
  }

 private:
  struct Known {
    const symbols::LocalVariable* local = nullptr;
    std::vector<CodePoint> set;
  };

  /// By the debug information.
  void find_variables() {
    const structure::FunctionId function = context_.tree[nest_.loop.loops.front()].function;
    if (context_.structure == nullptr) return;
    const std::uint64_t start = context_.structure->code.address(context_.structure->flow.functions()[function].entry);
    for (const symbols::LocalVariable& local : locals_.of(start)) {
      Ways ways = ways_.of_register(local, inside_, nest_, flow_);
      if (ways.defined && ways.to_behind && !ways.set.empty()) known_.push_back({&local, std::move(ways.set)});
    }
  }

  const Known* variable_of(CodePoint at) const {
    for (const Known& known : known_)
      if (std::find(known.set.begin(), known.set.end(), at) != known.set.end()) return &known;
    return nullptr;
  }

  /// Of one variable, or for one use.
  void unite() {
    parents_.resize(left_.size());
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    std::map<const Known*, std::size_t> by_variable;
    std::map<CodePoint, std::size_t> by_definition;
    std::map<std::tuple<ddg::StatementId, std::uint16_t, std::uint8_t>, std::size_t> by_use;
    const auto join = [&](auto& known, const auto& key, std::size_t i) {
      const auto [first, is_new] = known.try_emplace(key, i);
      if (!is_new) parents_[root(i)] = root(first->second);
    };
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const ddg::Dependence& use = *left_[i].use;
      join(by_definition, left_[i].at, i);
      join(by_use, std::tuple(use.to, use.to_instruction, use.operand), i);
      if (const Known* const variable = variable_of(left_[i].at)) join(by_variable, variable, i);
    }
  }
  std::size_t root(std::size_t i) {
    while (parents_[i] != i) i = parents_[i] = parents_[parents_[i]];
    return i;
  }

  NestStorage make(const std::vector<std::size_t>& members) {
    NestStorage made;
    made.storage.bytes = 8;
    std::vector<CodePoint> definitions;
    const auto define = [&](CodePoint at) {
      if (std::find(definitions.begin(), definitions.end(), at) == definitions.end()) definitions.push_back(at);
    };
    for (const std::size_t i : members) define(left_[i].at);
    name(members, made);
    for (const std::size_t i : members)
      if (const Known* const variable = variable_of(left_[i].at))
        for (const CodePoint at : variable->set) define(at);
    for (const CodePoint at : definitions) add_definition(at, made);
    if (!made.storage.unknown.empty()) made.storage.accesses.clear();  // not all that sets it is moved with a unit
    for (const std::size_t i : members)
      if (made.storage.unknown.empty()) add_output(left_[i], definitions, made);
    if (made.storage.unknown.empty()) add_others(made);
    return made;
  }

  /// The debug information does not name all that sets a variable: where a value is overwritten behind, a compiler may
  /// forget whose it was. So what other units compute may be the variable's, but for what comes behind an instance that
  /// leaves its value.
  void add_others(NestStorage& made) const {
    Storage& storage = made.storage;
    const std::size_t own = storage.accesses.size();
    for (std::uint32_t unit = 0; unit < units_.all.size(); ++unit) {
      const auto is_own = [&](const Access& access) { return access.unit == unit; };
      if (std::any_of(storage.accesses.begin(), storage.accesses.begin() + static_cast<std::ptrdiff_t>(own), is_own) ||
          !may_set(units_.all[unit]))
        continue;
      Access other = access_of(unit, 0);
      Isl<isl_set> instances(units_.all[unit].domain.copy());
      for (const OpenEnd& output : storage.outputs) {
        const Isl<isl_map> later(isl_map_intersect_domain(
            before(written_, storage.accesses[output.access], other).release(), output.instances.copy()));
        instances = Isl<isl_set>(isl_set_subtract(instances.release(), isl_map_range(later.copy())));
      }
      if (isl_set_is_empty(instances.get()) == isl_bool_true) continue;
      other.cells = Isl<isl_map>(isl_map_intersect_domain(other.cells.release(), instances.release()));
      storage.accesses.push_back(std::move(other));
    }
  }

  /// It puts data into some register, in the nest's own function.
  bool may_set(const NestUnit& unit) const {
    const structure::FunctionId function = context_.tree[nest_.loop.loops.front()].function;
    return std::any_of(unit.statements.begin(), unit.statements.end(), [&](ddg::StatementId id) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.kind != ddg::Statement::Kind::kCode || statement.function != function) return false;
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i) {
        if (flow_.is_index({id, i})) continue;
        const trace::InstructionFacts& facts = (*graph_.facts)[statement.block][statement.first_instruction + i];
        if (std::any_of(facts.writes.begin(), facts.writes.end(), [](const trace::RegisterUse& write) {
              return !write.step &&
                     (write.file == trace::RegisterFile::kGeneral || write.file == trace::RegisterFile::kVector);
            }))
          return true;
      }
      return false;
    });
  }

  void name(const std::vector<std::size_t>& members, NestStorage& made) {
    const CodePoint first = left_[members.front()].at;
    made.at = graph_.statements[first.statement].instructions[first.instruction].address;
    made.storage.name = fmt::format("what {} leaves in a register", words(first));
    for (const std::size_t i : members) {
      const Known* const variable = variable_of(left_[i].at);
      if (variable == nullptr) continue;
      made.storage.name = variable->local->name;
      if (variable->local->size != 0) made.storage.bytes = variable->local->size;
      made.named = true;
      return;
    }
  }

  std::string words(CodePoint at) const {
    const symbols::Location& found =
        context_.locate(graph_.statements[at.statement].instructions[at.instruction].address);
    const std::size_t slash = found.file.rfind('/');
    return found.line > 0 ? fmt::format("{}:{}", slash == std::string::npos ? found.file : found.file.substr(slash + 1),
                                        found.line)
                          : fmt::format("{:#x}", found.module_offset);
  }

  void add_definition(CodePoint at, NestStorage& made) {
    const auto unit = units_.unit_of.find(at.statement);
    if (unit == units_.unit_of.end()) {
      made.storage.unknown = fmt::format("what {} sets is used behind the nest", words(at));
      return;
    }
    const NestUnit& of = units_.all[unit->second];
    const auto place = std::find(of.statements.begin(), of.statements.end(), at.statement) - of.statements.begin();
    made.storage.accesses.push_back(
        access_of(unit->second, place * 4096 + 2 * std::min<std::int64_t>(at.instruction, 2047) + 1));
  }

  Access access_of(std::uint32_t unit, std::int64_t position) const {
    Access access;
    access.unit = unit;
    access.write = true;
    access.position = position;
    Isl<isl_map> cells(isl_map_from_domain(units_.all[unit].domain.copy()));
    cells = Isl<isl_map>(isl_map_add_dims(cells.release(), isl_dim_out, 1));
    access.cells = Isl<isl_map>(isl_map_fix_si(cells.release(), isl_dim_out, 0, 0));
    return access;
  }

  void add_output(const Left& left, const std::vector<CodePoint>& definitions, NestStorage& made) const {
    constexpr std::uint32_t kVector = trace::kFloatVector | trace::kIntegerVector;
    const ddg::Dependence& use = *left.use;
    if ((graph_.statements[left.at.statement].instructions[left.at.instruction].kinds & kVector) != 0) {
      made.storage.unknown = fmt::format("what {} computes in vectors is used behind the nest", words(left.at));
      return;
    }
    if (use.map.pieces.empty() || !use.map.exact()) {
      made.storage.unknown = fmt::format(
          "which iteration leaves the value of {} that is used behind the nest is not known", words(left.at));
      return;
    }
    const auto number =
        static_cast<std::uint32_t>(std::find(definitions.begin(), definitions.end(), left.at) - definitions.begin());
    Isl<isl_map> map = flow_of(isl_, graph_, context_.tree, use);
    const NestUnit& of = units_.all[made.storage.accesses[number].unit];
    const auto shift = static_cast<unsigned>(units_.shift);
    if (inside_.holds(use.to)) {  // in another entry of the nest
      Isl<isl_map> apart(isl_map_universe(isl_map_get_space(map.get())));
      apart = poly::with_equal_first(std::move(apart), units_.shift);
      map = Isl<isl_map>(isl_map_subtract(map.release(), apart.release()));
    }
    Isl<isl_set> instances(isl_map_domain(map.release()));
    instances = Isl<isl_set>(isl_set_project_out(instances.release(), isl_dim_set, 0, shift));
    instances = Isl<isl_set>(isl_set_set_tuple_name(instances.release(), of.name.c_str()));
    instances = Isl<isl_set>(isl_set_intersect(instances.release(), of.domain.copy()));
    if (isl_set_is_empty(instances.get()) != isl_bool_true)
      made.storage.outputs.push_back({number, std::move(instances)});
  }

  isl_ctx* isl_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const poly::FlowOfLoop& nest_;
  const NestUnits& units_;
  const Times& written_;
  Locals& locals_;
  const ValueWays ways_;
  const Inside inside_;
  std::vector<Left> left_;
  std::vector<Known> known_;
  std::vector<std::size_t> parents_;
};

}  // namespace

std::vector<NestStorage> find_left_behind(isl_ctx* isl, const ddg::Graph& graph, const poly::Context& context,
                                          const poly::RegionFlow& flow, const poly::FlowOfLoop& nest,
                                          const NestUnits& units, const Times& written, Locals& locals) {
  std::vector<NestStorage> all = LeftBehind(isl, graph, context, flow, nest, units, written, locals).run();
  Precedence order(written);
  for (NestStorage& made : all) {
    if (!made.storage.unknown.empty()) continue;
    made.cells = std::make_shared<SameCells>(made.storage);
    const Conflicts conflicts = find_conflicts(made.storage, order, *made.cells, true);
    if (!conflicts.complete || !conflicts.found.empty())
      made.storage.unknown = "which of its values is used behind the nest is not told apart well enough";
  }
  return all;
}

}  // namespace loopfold::advise::liveness
