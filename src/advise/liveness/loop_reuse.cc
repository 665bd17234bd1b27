#include "advise/liveness/loop_reuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>

#include "advise/liveness/clause_names.h"
#include "advise/liveness/graph_maps.h"
#include "advise/liveness/head_text.h"
#include "advise/liveness/loop_scope.h"
#include "advise/liveness/moved_work.h"
#include "advise/liveness/storage.h"
#include "advise/liveness/value_ways.h"
#include "advise/liveness/variables.h"
#include "poly/budget.h"
#include "poly/functions.h"
#include "poly/loop_words.h"
#include "poly/pieces.h"

namespace loopfold::advise::liveness {

namespace {

using poly::CodePoint;
using poly::FlowOfLoop;
using poly::Isl;
using profile::Loop;
using structure::ContextId;

constexpr std::uint64_t kOperations = 600'000;  // of isl, for a loop with kFullShare of the program's work or more
constexpr std::uint64_t kLeastOperations = 12'000;
constexpr double kFullShare = 0.1;
constexpr double kWorthAsking = 0.002;  // of the program's work, for loops that keep their order anyway
constexpr std::chrono::milliseconds kNet{20'000};

enum class Shared : std::uint8_t { kNo, kMaybe, kInputsOnly, kYes };

/// What is found about one variable.
struct Finding {
  enum class Kind : std::uint8_t { kNothing, kPrivate, kExpand, kUnknown };
  Kind kind = Kind::kNothing;
  bool first = false;
  bool last = false;
  bool linear = false;               // each iteration computes it from its number
  std::optional<std::int64_t> step;  // how much it grows by each time
  std::uint64_t bytes = 0;
  std::string why;
};

class LoopReuse {
 public:
  LoopReuse(const ddg::Graph& graph, const poly::Context& context, const ValueWays& ways, const FlowOfLoop& loop,
            const poly::RegionFlow& flow, Locals& locals, bool whole, isl_ctx* isl)
      : graph_(graph), context_(context), ways_(ways), loop_(loop), flow_(flow), locals_(locals), isl_(isl) {
    inside_ = ways.inside(loop.loop, whole);
    for (const CodePoint test : loop.tests) {
      const ddg::Instruction& instruction = graph.statements[test.statement].instructions[test.instruction];
      if ((instruction.kinds & trace::kBranch) != 0) tests_.push_back(instruction.address);
    }
  }

  const Inside& inside() const { return inside_; }

  void run(std::uint64_t trips, Loop& row) {
    trips_ = trips;
    source_ = row.source;
    std::vector<const ddg::Access*> accesses;
    for (const ddg::StatementId id : inside_.statements) {
      if (const char* const why = ways_.uses_any_memory(id)) return unknown(why, row);
      for (const ddg::Access& access : ways_.accesses(id)) accesses.push_back(&access);
    }
    Finding::Kind worst = Finding::Kind::kNothing;
    const std::vector<Variable> variables = find_variables(graph_, context_, loop_.loop, accesses, tests_, locals_);
    counters_ = std::count_if(variables.begin(), variables.end(), [&](const Variable& variable) {
      return is_tested(variable) && ways_.of(variable.accesses, inside_).carried;
    });
    for (const Variable& variable : variables) {
      if (variable.born_inside || !variable.at) continue;
      if (variable.scratch && !ways_.of(variable.accesses, inside_).to_behind) continue;
      const Finding finding = judge(variable, row);
      worst = std::max(worst, finding.kind);
      add(variable, finding, row);
    }
    if (add_registers(row)) worst = std::max(worst, Finding::Kind::kPrivate);
    merge(worst, row);
  }

 private:
  static void unknown(const std::string& why, Loop& row) {
    row.reuse = Loop::Reuse::kUnknown;
    if (row.reuse_why.empty()) row.reuse_why = why;
  }

  /// Rows may be several loops of the tree: the worst counts.
  static void merge(Finding::Kind worst, Loop& row) {
    const auto found = worst == Finding::Kind::kNothing   ? Loop::Reuse::kNone
                       : worst == Finding::Kind::kPrivate ? Loop::Reuse::kPrivate
                       : worst == Finding::Kind::kExpand  ? Loop::Reuse::kExpand
                                                          : Loop::Reuse::kUnknown;
    row.reuse = std::max(row.reuse, found);
  }

  // ---- one variable in memory ----

  Finding judge(const Variable& variable, Loop& row) {
    Finding finding;
    const Ways ways = ways_.of(variable.accesses, inside_);
    if (variable.object == ddg::kUnknownObject) return not_known(variable, "is in memory that is not known", nullptr);
    const bool carrier = ways.carried && is_carrier(variable);
    if (carrier && !stores_index(variable)) name_reductions(variable, row);
    if (carrier && row.parallel == Loop::Parallel::kNo) return finding;
    if (carrier && is_tested(variable)) return counter(variable, ways);
    if (ways.carried && !is_reduced(variable.name, row) && ways_.goes_behind_as_copy(variable.accesses, inside_))
      return not_known(variable, "is handed from one iteration to the next, and used behind the loop", nullptr);
    if (carrier) return judge_rest(variable, ways, row);
    if (ways.carried && is_local(variable) && goes_on(variable)) return step_of(variable);
    std::vector<const ddg::Access*> culprit;
    const bool how = ways.to_behind && ways.unknown.empty();
    const Shared shared = find_shared(variable, culprit, how);
    if (shared == Shared::kNo) return finding;
    if (!ways.unknown.empty()) return not_known(variable, ways.unknown, nullptr);
    finding.first = ways.from_before || has_other_parts(variable);
    if (!ways.to_behind) {
      finding.kind = Finding::Kind::kPrivate;
      return finding;
    }
    const ddg::Access* const odd = culprit.empty() ? nullptr : culprit.front();
    if (shared == Shared::kMaybe) return not_known(variable, "is accessed at addresses that are not affine", odd);
    if (is_delayed(ways)) return not_known(variable, "has the value of an iteration before", nullptr);
    if (is_from_last_iteration(ways) && !is_set_by_turns(variable, ways)) {
      finding.kind = Finding::Kind::kPrivate;
      finding.last = true;
      finding.first = finding.first || !is_set_in_each(variable);
      return finding;
    }
    finding.kind = Finding::Kind::kExpand;
    finding.bytes = variable.bytes * (shared == Shared::kInputsOnly ? 1 : std::max<std::uint64_t>(trips_, 1));
    return finding;
  }

  /// What ends the loop: every iteration knows it, but it is a private copy that is gone behind the loop. Of several,
  /// one is the loop's own, and it is not known which.
  Finding counter(const Variable& variable, const Ways& ways) {
    Finding finding;
    if (!ways.to_behind || !variable.named_in_source) return finding;
    if (counters_ > 1 && goes_on(variable)) return step_of(variable);
    finding.kind = Finding::Kind::kPrivate;
    finding.last = true;
    return finding;
  }

  /// Members of a variable that another one of is a reduction, or is set once and for all: what is not carried may be
  /// reused.
  Finding judge_rest(const Variable& variable, const Ways& ways, Loop& row) {
    Variable rest = variable;
    std::erase_if(rest.accesses, [&](const ddg::Access* access) {
      return access->store ? ways_.is_carried(*access, inside_) : ways_.gets_carried(*access, inside_);
    });
    std::vector<const ddg::Access*> ignored;
    if (rest.accesses.empty() || rest.accesses.size() == variable.accesses.size()) return {};
    if (find_shared(rest, ignored, false) == Shared::kNo) return {};
    if (is_one_reduced_cell(variable, row) && !ways_.of(rest.accesses, inside_).to_behind) return {};
    const bool reduced = std::any_of(row.reductions.begin(), row.reductions.end(), [&](const auto& reduction) {
      return reduction.variable == variable.name || reduction.variable == graph_.objects[variable.object].name;
    });
    if (reduced)
      return not_known(variable, "is reduced in one part, and used anew by each iteration in another", nullptr);
    if (ways.to_behind && !ways_.of(rest.accesses, inside_).to_behind)
      return not_known(variable, "is kept in one part for what is behind the loop, and used anew in another", nullptr);
    return judge(rest, row);
  }

  /// A scalar that is reduced: what it holds on the way from one step to the next one of an iteration (`s += a; s +=
  /// b`) is in the copy that the reduction makes of it.
  static bool is_one_reduced_cell(const Variable& variable, const Loop& row) {
    const bool reduced = std::any_of(row.reductions.begin(), row.reductions.end(), [&](const auto& reduction) {
      return reduction.variable == variable.name && !reduction.array && !reduction.partly;
    });
    return reduced && !variable.name.empty() && variable.named_in_source &&
           std::all_of(variable.accesses.begin(), variable.accesses.end(),
                       [&](const ddg::Access* access) { return access->size == variable.bytes; });
  }

  /// Something in it is set outside of the loop only. Whether an iteration reads that is not always seen: the compiler
  /// may have it in a register. A copy that begins with what was there is right either way.
  bool has_other_parts(const Variable& variable) {
    std::vector<const ddg::Access*> outside;
    for (const ddg::Access* access : ways_.accesses_of(variable.object))
      if (access->store && !inside_.holds(access->statement)) outside.push_back(access);
    if (is_local(variable)) outside = of_name(variable.name, outside);
    if (outside.empty()) return false;
    Isl<isl_set> set_inside;
    for (const ddg::Access* access : variable.accesses) {
      if (!access->store) continue;
      Isl<isl_set> range(isl_map_range(cells(*access).copy()));
      set_inside = set_inside ? Isl<isl_set>(isl_set_union(set_inside.release(), range.release())) : std::move(range);
    }
    return std::any_of(outside.begin(), outside.end(), [&](const ddg::Access* access) {
      const Isl<isl_set> range(isl_map_range(cells(*access).copy()));
      return !set_inside || isl_set_is_subset(range.get(), set_inside.get()) != isl_bool_true;
    });
  }

  std::vector<const ddg::Access*> of_name(const std::string& name, const std::vector<const ddg::Access*>& accesses) {
    if (name.empty() || accesses.empty()) return {};
    for (Variable& other : find_variables(graph_, context_, loop_.loop, accesses, tests_, locals_))
      if (other.name == name) return std::move(other.accesses);
    return {};
  }

  bool is_local(const Variable& variable) const {
    return graph_.objects[variable.object].kind == ddg::Object::Kind::kStack;
  }
  bool goes_on(const Variable& variable) const {
    return std::all_of(variable.accesses.begin(), variable.accesses.end(), [&](const ddg::Access* access) {
      return !access->store || ways_.is_step(*access, variable.accesses);
    });
  }

  /// A counter beside that of the loop. If there are several stores, several iterations of the source may be one here.
  Finding step_of(const Variable& variable) const {
    Finding finding;
    finding.kind = Finding::Kind::kPrivate;
    finding.linear = true;
    const auto stores = [](const ddg::Access* access) { return access->store; };
    if (std::count_if(variable.accesses.begin(), variable.accesses.end(), stores) != 1) return finding;
    if (variable.bytes == sizeof(void*)) return finding;  // a pointer's step is not in bytes
    for (const ddg::Access* access : variable.accesses)
      if (!finding.step) finding.step = ways_.step_of({access->statement, access->instruction}, inside_);
    return finding;
  }

  /// Several stores, some of which are left out at times, and more than one of which may run in an iteration: several
  /// iterations of the source may be one here, and the last of them need not set it.
  bool is_set_by_turns(const Variable& variable, const Ways& ways) const {
    std::set<CodePoint> stores;
    for (const ddg::Access* access : variable.accesses)
      if (access->store) stores.insert({access->statement, access->instruction});
    std::uint64_t count = 0;
    for (const CodePoint at : stores) count += graph_.statements[at.statement].count;
    std::uint64_t iterations = 0;
    for (const ContextId loop : loop_.loop.loops) iterations += context_.tree[loop].trips.total;
    const bool left_out = std::any_of(ways.leaving.begin(), ways.leaving.end(), [&](const ddg::Dependence* use) {
      return inside_.holds(use->from) && !runs_in_each(use->from);
    });
    return stores.size() > 1 && left_out && count > iterations;
  }

  /// Every iteration sets all of it. What is copied back is what the last one has set, and nothing else.
  bool is_set_in_each(const Variable& variable) {
    Isl<isl_set> sets(isl_set_empty(isl_set_get_space(all_iterations().get())));
    for (const ddg::Access* access : variable.accesses) {
      if (!access->store) continue;
      if (access->size < variable.bytes) return false;
      sets = Isl<isl_set>(
          isl_set_union(sets.release(), head_of(Isl<isl_set>(isl_map_domain(cells(*access).copy()))).release()));
    }
    return isl_set_is_subset(all_iterations().get(), sets.get()) == isl_bool_true;
  }

  Finding not_known(const Variable& variable, const std::string& what, const ddg::Access* odd) const {
    Finding finding;
    finding.kind = Finding::Kind::kUnknown;
    const std::uint64_t address =
        odd != nullptr ? graph_.statements[odd->statement].instructions[odd->instruction].address : *variable.at;
    const symbols::Location& at = context_.locate(address);
    const std::size_t slash = at.file.rfind('/');
    finding.why = fmt::format(
        "{} {}{}", variable.name.empty() ? "a place in a frame" : variable.name, what,
        at.line > 0 ? fmt::format(", {}:{}", slash == std::string::npos ? at.file : at.file.substr(slash + 1), at.line)
                    : "");
    return finding;
  }

  /// What hands a value from iteration to iteration: a counter, a reduction, or what keeps the iterations in order. A
  /// counter that the loop's test does not read is computed anew by each iteration, into a place of its own.
  bool is_carrier(const Variable& variable) const { return is_tested(variable) || !stores_index(variable); }
  /// Whether an element of an array is an index value does not matter where it is stored because it is the least so
  /// far.
  bool is_step_of_reduction(const Variable& variable) const {
    return std::any_of(variable.accesses.begin(), variable.accesses.end(), [&](const ddg::Access* access) {
      const CodePoint at{access->statement, access->instruction};
      return access->store && std::any_of(loop_.flows.begin(), loop_.flows.end(), [&](const poly::KeptFlow& kept) {
               return kept.reduction && kept.from == at;
             });
    });
  }
  bool is_tested(const Variable& variable) const {
    return std::any_of(variable.accesses.begin(), variable.accesses.end(), [&](const ddg::Access* access) {
      return !access->store && loop_.tests.contains({access->statement, access->instruction});
    });
  }
  bool stores_index(const Variable& variable) const {
    return !is_step_of_reduction(variable) &&
           std::all_of(variable.accesses.begin(), variable.accesses.end(),
                       [&](const ddg::Access* access) { return !access->store || ways_.stores_index(*access, flow_); });
  }

  const Isl<isl_map>& cells(const ddg::Access& access) {
    Isl<isl_map>& known = cells_[&access];
    if (!known) known = cells_of(isl_, graph_, context_.tree, access);
    return known;
  }

  ContextId copy_of(const ddg::Access& access) const { return inside_.copy_of.at(access.statement); }

  /// Whether two iterations of one entry touch the same byte, one of them storing. `how`: it matters which do, not only
  /// whether some do.
  Shared find_shared(const Variable& variable, std::vector<const ddg::Access*>& culprit, bool how) {
    if (trips_ <= 1 && loop_.loop.loops.size() == 1) return Shared::kNo;
    Shared result = Shared::kNo;
    for (const ddg::Access* a : variable.accesses) {
      if (!a->store) continue;
      for (const ddg::Access* b : variable.accesses) {
        if (b->store && b < a) continue;
        const std::optional<bool> meets = meet(*a, *b);
        if (meets && !*meets) continue;
        const bool exact = meets && a->address.exact() && b->address.exact();
        if (!exact) culprit.push_back(a->address.exact() ? b : a);
        const bool input = !b->store && ways_.is_input_only(*b, inside_);
        const Shared here = !exact ? Shared::kMaybe : input ? Shared::kInputsOnly : Shared::kYes;
        if (here == Shared::kMaybe || !how) return here;
        result = std::max(result, here);
      }
    }
    return result;
  }

  /// Nothing: isl did not finish.
  std::optional<bool> meet(const ddg::Access& a, const ddg::Access& b) {
    Access x;
    x.cells = cells(a);
    x.bytes = a.size;
    Access y;
    y.cells = cells(b);
    y.bytes = b.size;
    Isl<isl_map> same = poly::with_equal_first(same_cell(x, y), loop_.level);
    if (copy_of(a) != copy_of(b)) return is_there(same);
    for (int at = loop_.level; at <= static_cast<int>(inside_.last.at(copy_of(a))); ++at) {
      for (const auto order : {isl_map_order_lt, isl_map_order_gt}) {
        const std::optional<bool> meets = is_there(Isl<isl_map>(order(same.copy(), isl_dim_in, at, isl_dim_out, at)));
        if (!meets || *meets) return meets;
      }
      same = Isl<isl_map>(isl_map_equate(same.release(), isl_dim_in, at, isl_dim_out, at));
    }
    return false;
  }

  static std::optional<bool> is_there(const Isl<isl_map>& map) {
    const isl_bool empty = isl_map_is_empty(map.get());
    return empty == isl_bool_error ? std::nullopt : std::optional(empty == isl_bool_false);
  }

  /// Every value that is needed behind the loop was stored in the last iteration of its entry.
  bool is_from_last_iteration(const Ways& ways) {
    if (loop_.loop.loops.size() != 1) return false;
    if (std::any_of(ways.leaving.begin(), ways.leaving.end(), [](const ddg::Dependence* dependence) {
          return dependence->map.pieces.empty() || !dependence->map.exact();
        }))
      return false;
    if (may_end_early(ways)) return false;
    const Isl<isl_set>& iterations = all_iterations();
    if (!iterations || isl_set_is_empty(iterations.get()) != isl_bool_false) return false;
    for (const ddg::Dependence* dependence : ways.leaving) {
      Isl<isl_map> map = flow_of(isl_, graph_, context_.tree, *dependence);
      const bool within = inside_.holds(dependence->to);
      if (within) map = Isl<isl_map>(isl_map_subtract(map.copy(), one_entry(map).release()));
      if (!is_last(Isl<isl_set>(isl_map_domain(map.release())), iterations)) return false;
    }
    return true;
  }

  /// Some of what is needed behind the loop was made by an iteration before the one that leaves it there.
  bool is_delayed(const Ways& ways) const {
    return std::any_of(ways.leaving.begin(), ways.leaving.end(), [&](const ddg::Dependence* use) {
      return inside_.holds(use->from) && ways_.is_delayed({use->from, use->from_instruction}, inside_, flow_);
    });
  }

  /// A compiler leaves out last iterations in which an inner loop is not entered: it is the inner loop's head that ends
  /// the loop then. What an inner loop sets is that of the last iteration which enters it.
  bool may_end_early(const Ways& ways) const {
    const bool set_deeper = std::any_of(ways.leaving.begin(), ways.leaving.end(), [&](const ddg::Dependence* use) {
      return inside_.holds(use->from) &&
             ddg::dimensions_of(context_.tree, graph_.statements[use->from].context) > last_level() + 1U;
    });
    if (!set_deeper || !source_ || tests_.empty()) return false;
    return std::all_of(tests_.begin(), tests_.end(), [&](std::uint64_t test) {
      const symbols::Location& at = context_.locate(test);
      return at.file == source_->file && at.line > source_->line;
    });
  }

  /// { x -> y : equal in the coordinates of the loops around } in the space of a map.
  Isl<isl_map> one_entry(const Isl<isl_map>& like) const {
    return poly::with_equal_first(Isl<isl_map>(isl_map_universe(isl_map_get_space(like.get()))), loop_.level);
  }

  /// { [coordinates up to the loop's] } of all iterations, whatever is done in them, but those in which a test at the
  /// top finds that there are no more. Where only some entries end with such a test, all count.
  const Isl<isl_set>& all_iterations() {
    if (iterations_) return iterations_;
    const ContextId loop = loop_.loop.loops.front();
    const auto split = context_.tree.splits().find(loop);
    const bool whole = last_level() > loop_.level && split != context_.tree.splits().end();
    const std::uint64_t rounds = whole ? split->second.iterations.total : context_.tree[loop].iterations.total;
    const std::uint64_t trips = whole ? split->second.trips.total : context_.tree[loop].trips.total;
    std::vector<const ddg::Statement*> own;  // right in the loop: its header runs in all of them
    for (const ddg::StatementId id : inside_.statements) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.function == context_.tree[loop].function &&
          ddg::dimensions_of(context_.tree, statement.context) == last_level() + 1U)
        own.push_back(&statement);
    }
    const auto header = std::find_if(own.begin(), own.end(), [&](const auto* one) { return one->count == rounds; });
    if (header != own.end()) own = {*header};
    for (const ddg::Statement* one : own) {
      Isl<isl_set> head = head_of(domain_of(isl_, graph_, one->id));
      iterations_ = iterations_ ? Isl<isl_set>(isl_set_union(iterations_.release(), head.release())) : std::move(head);
    }
    if (iterations_ && rounds - trips == context_.tree[loop].entries)
      iterations_ = Isl<isl_set>(isl_map_domain(in_order(iterations_, iterations_).release()));
    return iterations_;
  }

  Isl<isl_set> head_of(Isl<isl_set> set) const {
    const auto length = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_set));
    const unsigned kept = last_level() + 1U;
    set = Isl<isl_set>(isl_set_project_out(set.release(), isl_dim_set, kept, length - kept));
    return Isl<isl_set>(isl_set_reset_tuple_id(set.release()));
  }

  /// { x -> y : x of the first and y of the second are iterations of one entry, and y comes later }.
  Isl<isl_map> in_order(const Isl<isl_set>& first, const Isl<isl_set>& second) const {
    Isl<isl_map> rest(isl_map_universe(isl_space_map_from_set(isl_set_get_space(first.get()))));
    rest = poly::with_equal_first(std::move(rest), loop_.level);
    rest = Isl<isl_map>(isl_map_intersect_domain(rest.release(), first.copy()));
    rest = Isl<isl_map>(isl_map_intersect_range(rest.release(), second.copy()));
    Isl<isl_map> pairs(isl_map_empty(isl_map_get_space(rest.get())));
    for (int at = loop_.level; at <= static_cast<int>(last_level()); ++at) {
      Isl<isl_map> here(isl_map_order_lt(rest.copy(), isl_dim_in, at, isl_dim_out, at));
      pairs = Isl<isl_map>(isl_map_union(pairs.release(), here.release()));
      rest = Isl<isl_map>(isl_map_equate(rest.release(), isl_dim_in, at, isl_dim_out, at));
    }
    return pairs;
  }

  bool is_last(Isl<isl_set> instances, const Isl<isl_set>& iterations) const {
    return isl_map_is_empty(in_order(head_of(std::move(instances)), iterations).get()) == isl_bool_true;
  }

  /// Of a loop that is one in the binary.
  std::uint16_t last_level() const { return inside_.last.begin()->second; }

  // ---- variables in registers ----

  /// Values that are put into a register which is, from there on, a variable declared outside of the loop.
  bool add_registers(Loop& row) {
    const std::uint64_t function = function_of(context_, loop_.loop.loops.front());
    if (function == 0) return false;
    std::vector<Left> left = ways_.left_in_registers(inside_, loop_, flow_);
    if (context_.locate(function).line == 0 && !left.empty()) {
      unknown("a value that it leaves in a register is used behind it, and there is no debug information to name it",
              row);
      left.clear();
    }
    bool any = false;
    const std::vector<symbols::LocalVariable>& locals = locals_.of(function);
    const LoopScope scope(graph_, context_, loop_.loop, inside_, tests_, locals);
    std::vector<std::pair<const symbols::LocalVariable*, Ways>> found;
    for (const symbols::LocalVariable& local : locals) {
      if (is_inside_body(local, tests_) || is_declared_in_lines(local, row) || scope.is_of_callee(local)) continue;
      if (scope.is_of_caller(local) && row.source && row.source->file.ends_with(".c")) continue;
      Ways ways = ways_.of_register(local, inside_, loop_, flow_);
      const bool guessed = ways.only_used || ways.only_known;
      const bool goes_round = trips_ > 1 || loop_.loop.loops.size() > 1;
      if (guessed && (!goes_round || row.parallel == Loop::Parallel::kNo)) continue;
      if (ways.defined) found.emplace_back(&local, std::move(ways));
    }
    // Those of which little is known come last: by then it is clear which ones reductions have.
    std::stable_partition(found.begin(), found.end(), [](const auto& one) { return !one.second.only_known; });
    const symbols::LocalVariable* const counter = own_counter(found, row);
    for (auto& [variable_found, ways] : found) {
      const symbols::LocalVariable& local = *variable_found;
      if (is_of_loop(local, row)) {
        std::erase_if(ways.leaving, [&](const ddg::Dependence* use) { return scope.is_out_of_scope(local, *use); });
        ways.to_behind = !ways.leaving.empty();
      }
      std::erase_if(
          left, [&](const Left& one) { return std::find(ways.set.begin(), ways.set.end(), one.at) != ways.set.end(); });
      if (ways.carried) {
        if (!ways.counter) name_reduction(local.name, "", ways.set, row);
        if (ways.to_behind && !ways.counter && !is_reduced(local.name, row))
          unknown(fmt::format("{} keeps what the last iteration that sets it leaves there, {}", local.name,
                              line_text(ways.at)),
                  row);
        continue;
      }
      Finding finding;
      const bool unclear = counter == nullptr && !ways.stepped.empty() && !ways.counter;
      const HeadTexts::Role role = unclear ? role_of(local, row) : HeadTexts::Role::kNone;
      const auto is_declared_there = [&](const symbols::LocalVariable& other) {
        return other.name == local.name && other.line == row.source->line;
      };
      if (role == HeadTexts::Role::kOwn && std::any_of(locals.begin(), locals.end(), is_declared_there)) continue;
      const bool own = &local == counter || role == HeadTexts::Role::kOwn;
      if (own && !ways.to_behind) continue;
      if (ways.only_known && (scope.is_of_caller(local) || is_named(local.name, row) || is_left(ways, left))) continue;
      if (!ways.to_behind && is_of_statement(local, ways, own, scope, row)) continue;
      if (ways.handed && ways.from_before && ways.stepped.empty() && !own) {
        unknown(fmt::format("{} has the value of the iteration before, {}", local.name, line_text(ways.at)), row);
        continue;
      }
      if (!own && row.parallel != Loop::Parallel::kNo && is_delayed(ways)) {
        unknown(fmt::format("{} has the value of an iteration before, {}", local.name, line_text(ways.at)), row);
        continue;
      }
      const bool of_inner = role == HeadTexts::Role::kInner;
      finding.first = ways.from_before && !own && !of_inner;
      finding.last = ways.to_behind;
      finding.kind = Finding::Kind::kPrivate;
      finding.linear = !ways.stepped.empty() && !own && !of_inner;
      const bool in_each = std::all_of(ways.leaving.begin(), ways.leaving.end(),
                                       [&](const ddg::Dependence* use) { return runs_in_each(use->from); });
      if (ways.to_behind && !finding.linear && !(in_each && is_from_last_iteration(ways))) {
        finding.kind = Finding::Kind::kExpand;
        finding.bytes = local.size * std::max<std::uint64_t>(trips_, 1);
      }
      Variable variable;
      variable.name = variable.clause_name = local.name;
      variable.named_in_source = true;
      variable.at = ways.at;
      variable.object = ddg::kEnvironmentObject;  // none
      add(variable, finding, row);
      any = true;
    }
    if (row.parallel != Loop::Parallel::kNo)
      for (const Left& one : left) any = add_left(one, row) || any;
    return any;
  }

  /// By the text of the source: the binary may step it as it steps others.
  HeadTexts::Role role_of(const symbols::LocalVariable& local, const Loop& row) const {
    if (!row.source || inside_.statements.empty()) return HeadTexts::Role::kNone;
    std::string path = row.source->file;
    const std::vector<ddg::Instruction>& first = graph_.statements[inside_.statements.front()].instructions;
    const std::string_view directory = first.empty() ? "" : context_.locate(first.front().address).directory;
    if (!path.starts_with('/') && !directory.empty()) path = std::string(directory) + "/" + path;
    return HeadTexts().role_of(path, row.source->line, local.name);
  }

  /// Declared behind the line that the loop begins with, and before the end of what runs in it: in its body, even if
  /// the loop is left in the middle of that.
  bool is_declared_in_lines(const symbols::LocalVariable& local, const Loop& row) const {
    symbols::Location at;
    at.file = local.file;
    at.line = local.line;
    return is_line_of_loop(at, row);
  }

  /// Declared in the line that the loop begins with.
  static bool is_of_loop(const symbols::LocalVariable& local, const Loop& row) {
    return row.source && local.line == row.source->line && local.file == row.source->file;
  }

  /// Declared in the loop's statement: for (int i = ...
  bool is_of_statement(const symbols::LocalVariable& local, const Ways& ways, bool own, const LoopScope& scope,
                       const Loop& row) const {
    if (!is_of_loop(local, row)) return false;
    if (ways.only_known) return true;
    const bool counts = own || ways.only_used || ways.from_before || !ways.stepped.empty() ||
                        std::all_of(ways.set.begin(), ways.set.end(),
                                    [&](CodePoint at) { return ways_.step_of(at, inside_).value_or(0) != 0; });
    return counts && scope.has_block(local);
  }

  /// A variable of which little is known may be what some line leaves in a register.
  bool is_left(const Ways& ways, const std::vector<Left>& left) const {
    const int line = context_.locate(ways.at).line;
    return std::any_of(left.begin(), left.end(), [&](const Left& one) { return location_of(one.at).line == line; });
  }

  /// The only variable that is stepped where the loop begins, if no variable is tested to end it: the compiler tests
  /// something else instead.
  const symbols::LocalVariable* own_counter(
      const std::vector<std::pair<const symbols::LocalVariable*, Ways>>& variables, const Loop& row) const {
    const symbols::LocalVariable* counter = nullptr;
    for (const auto& [local, ways] : variables) {
      if (ways.counter) return nullptr;
      if (ways.stepped.empty() || !row.source) continue;
      const bool here =
          is_of_loop(*local, row) || std::all_of(ways.stepped.begin(), ways.stepped.end(), [&](CodePoint at) {
            return location_of(at).line == row.source->line && location_of(at).file == row.source->file;
          });
      if (!here) continue;
      if (counter != nullptr) return nullptr;
      counter = local;
    }
    return counter;
  }

  const ddg::Instruction& instruction_at(CodePoint at) const {
    return graph_.statements[at.statement].instructions[at.instruction];
  }
  const symbols::Location& location_of(CodePoint at) const { return context_.locate(instruction_at(at).address); }

  /// A value that is used behind the loop, of a variable that the debug information does not have in a register there:
  /// it has been taken to another place, or lives in memory and is stored behind the loop only.
  bool add_left(const Left& left, Loop& row) {
    const ddg::Dependence& use = *left.use;
    const CodePoint to{use.to, use.to_instruction};
    const std::uint64_t address = instruction_at(left.at).address;
    if (use.operand == ddg::kFlagsOperand || use.address) return false;
    const bool loaded = ways_.is_plain_load(left.at);
    // What the compiler loads once for two uses, unless something is stored there meanwhile.
    const bool loads_for_both = loaded && ways_.is_used_inside(left.at, inside_) && !is_overwritten(left.at);
    if (left.index && loads_for_both) return false;
    Ways ways;
    ways.leaving.push_back(&use);
    const bool last = is_from_last_iteration(ways) && runs_in_each(left.at.statement);
    const bool may_be_other = (last || loop_.loop.loops.size() != 1) && loads_for_both;
    if (may_be_other && !is_line_of_loop(location_of(to), row)) return false;
    const int at_line = location_of(left.at).line;
    if (!loaded && std::any_of(row.reductions.begin(), row.reductions.end(), [&](const profile::Reduction& reduction) {
          return reduction.source && reduction.source->line == at_line;
        }))
      return false;
    const std::string line = line_text(address);
    if (left.carried) {
      unknown(fmt::format("what the last iteration that sets it leaves, {}, is used behind the loop", line), row);
      return false;
    }
    if (is_delayed(ways)) {
      unknown(fmt::format("what {} leaves, which is used behind the loop, was made an iteration before", line), row);
      return false;
    }
    if (is_of_several(left.at)) {
      unknown(
          fmt::format("what {} computes in vectors is used behind the loop, and not known to be of the last iteration",
                      line),
          row);
      return false;
    }
    if (!last) {
      unknown(fmt::format("what {} computes is used behind the loop, and not only that of the last iteration", line),
              row);
      return false;
    }
    Finding finding;
    finding.kind = Finding::Kind::kPrivate;
    finding.last = true;
    Variable variable;
    variable.at = address;
    variable.object = ddg::kEnvironmentObject;  // none
    for (const ddg::Access& access : ways_.accesses(to.statement)) {
      if (!access.store || access.instruction != to.instruction) continue;
      const ddg::Object& object = graph_.objects[access.object];
      if (object.kind != ddg::Object::Kind::kGlobal || object.size != access.size) continue;
      variable.name = object.name;
      variable.clause_name = ClauseNames(context_, loop_.loop.loops.front()).of(object.name);
      variable.named_in_source = !variable.clause_name.empty();
    }
    add(variable, finding, row);
    return true;
  }

  /// A vector of a loop that is vectorised: values of several iterations of the source.
  bool is_of_several(CodePoint at) const {
    constexpr std::uint64_t kVector = 16;
    if ((instruction_at(at).kinds & (trace::kFloatVector | trace::kIntegerVector)) == 0) return false;
    return std::any_of(inside_.statements.begin(), inside_.statements.end(), [&](ddg::StatementId id) {
      const std::span<const ddg::Access> all = ways_.accesses(id);
      return graph_.statements[id].function == graph_.statements[at.statement].function &&
             std::any_of(all.begin(), all.end(), [](const ddg::Access& access) { return access.size >= kVector; });
    });
  }

  /// Whether the loop may store to what an instruction of it loads.
  bool is_overwritten(CodePoint load) const {
    const auto bytes = [](const ddg::Access& access) {
      const poly::Extent offsets = poly::extent_of(access.address, 1);
      return std::pair(offsets.minimum, offsets.maximum + static_cast<std::int64_t>(access.size));
    };
    for (const ddg::Access& loaded : ways_.accesses(load.statement)) {
      if (loaded.store || loaded.instruction != load.instruction) continue;
      if (loaded.address.pieces.empty()) return true;
      const auto [first, end] = bytes(loaded);
      for (const ddg::StatementId id : inside_.statements)
        for (const ddg::Access& other : ways_.accesses(id)) {
          if (!other.store || other.object != loaded.object) continue;
          if (other.address.pieces.empty()) return true;
          const auto [from, to] = bytes(other);
          if (from < end && first < to) return true;
        }
    }
    return false;
  }

  /// As often as anything right in the loop; but a test at its top runs once more in each entry.
  bool runs_in_each(ddg::StatementId id) const {
    const structure::Context& loop = context_.tree[inside_.copy_of.at(id)];
    return std::none_of(inside_.statements.begin(), inside_.statements.end(), [&](ddg::StatementId other) {
      const ddg::Statement& statement = graph_.statements[other];
      return statement.context == inside_.copy_of.at(id) &&
             statement.count > graph_.statements[id].count + loop.entries;
    });
  }

  /// From the line that it begins with to the last one of what runs in it.
  bool is_line_of_loop(const symbols::Location& at, const Loop& row) const {
    if (!row.source || at.file != row.source->file || at.line <= row.source->line) return false;
    return std::any_of(inside_.statements.begin(), inside_.statements.end(), [&](ddg::StatementId id) {
      const std::vector<ddg::Instruction>& all = graph_.statements[id].instructions;
      return std::any_of(all.begin(), all.end(), [&](const ddg::Instruction& instruction) {
        const symbols::Location& here = context_.locate(instruction.address);
        return here.file == at.file && here.line >= at.line;
      });
    });
  }

  /// A value that a register hands on from iteration to iteration is a reduction's, or keeps them in order, or is set
  /// in some of them only.
  static bool is_reduced(const std::string& name, const Loop& row) {
    return row.parallel == Loop::Parallel::kNo ||
           std::any_of(row.reductions.begin(), row.reductions.end(), [&](const profile::Reduction& reduction) {
             return reduction.variable == name || reduction.variable.empty();
           });
  }
  /// A clause has it already.
  static bool is_named(const std::string& name, const Loop& row) {
    const auto is_it = [&](const auto& one) { return one.variable == name; };
    return std::any_of(row.reductions.begin(), row.reductions.end(), is_it) ||
           std::any_of(row.privates.begin(), row.privates.end(), is_it) ||
           std::any_of(row.expand.begin(), row.expand.end(), is_it);
  }
  std::string line_text(std::uint64_t address) const {
    const symbols::Location& at = context_.locate(address);
    if (at.line <= 0) return "code without a line";
    return fmt::format("{}:{}", at.file.substr(at.file.rfind('/') + 1), at.line);
  }

  /// A reduction whose operation is in the line of a store, by what it computes: it has no name of the source yet, or
  /// another one of the line has given it its own, since they are alike but for the variable.
  void name_reduction(const std::string& name, const std::string& instead, std::span<const CodePoint> by,
                      Loop& row) const {
    if (name.empty()) return;
    const bool floating = std::any_of(by.begin(), by.end(), [&](CodePoint at) { return facts_of(at).floating; });
    std::set<std::string_view> steps;
    for (const CodePoint at : by)
      if (facts_of(at).associative != trace::Associative::kNone)
        steps.insert(poly::operator_name(facts_of(at).associative));
    for (const poly::KeptFlow& kept : loop_.flows)
      if (kept.reduction && std::find(by.begin(), by.end(), kept.from) != by.end())
        steps.insert(poly::operator_name(kept.operation));
    const auto is_it = [&](const profile::Reduction& one) {
      const bool sums = one.operation == "+" || one.operation == "*";
      if (!one.source || (sums && one.reassociates != floating)) return false;
      if (!steps.empty() && !steps.contains(one.operation)) return false;
      return std::any_of(by.begin(), by.end(), [&](CodePoint at) { return location_of(at).line == one.source->line; });
    };
    std::optional<profile::Reduction> alike;
    for (profile::Reduction& one : row.reductions) {
      if (!is_it(one)) continue;
      if (one.variable == name) return;
      if (one.variable == instead) {
        one.variable = name;
        one.partly = one.partly && one.array;
        return;
      }
      alike = one;
    }
    if (!alike || !is_reduced(by)) return;
    alike->variable = name;
    alike->partly = false;
    row.reductions.push_back(*alike);
  }
  void name_reductions(const Variable& variable, Loop& row) const {
    if (!is_local(variable)) return;
    for (const ddg::Access* access : variable.accesses)
      if (access->store) name_reduction(variable.name, graph_.objects[variable.object].name, made_by(*access), row);
  }

  /// A store, and what it stores the result of.
  std::vector<CodePoint> made_by(const ddg::Access& store) const {
    constexpr std::size_t kMost = 4;
    std::vector<CodePoint> all{{store.statement, store.instruction}};
    for (std::size_t i = 0; i < all.size() && all.size() < kMost; ++i)
      for (const ddg::LocalFlow& local : graph_.statements[store.statement].local)
        if (local.to == all[i].instruction && local.operand < facts_of(all[i]).reads.size() &&
            !facts_of(all[i]).reads[local.operand].address && !is_arithmetic(all[i]))
          all.push_back({store.statement, local.from});
    return all;
  }
  bool is_arithmetic(CodePoint at) const { return (facts_of(at).kinds & trace::kArithmetic) != 0; }
  const trace::InstructionFacts& facts_of(CodePoint at) const {
    const ddg::Statement& statement = graph_.statements[at.statement];
    return (*graph_.facts)[statement.block][statement.first_instruction + at.instruction];
  }
  bool is_reduced(std::span<const CodePoint> points) const {
    return std::any_of(loop_.flows.begin(), loop_.flows.end(), [&](const poly::KeptFlow& kept) {
      return kept.reduction &&
             std::any_of(points.begin(), points.end(), [&](CodePoint at) { return kept.from == at || kept.to == at; });
    });
  }

  // ---- words ----

  void add(const Variable& variable, const Finding& finding, Loop& row) const {
    if (finding.kind == Finding::Kind::kNothing) return;
    if (finding.kind == Finding::Kind::kUnknown) return unknown(finding.why, row);
    if (finding.kind == Finding::Kind::kPrivate && variable.named_in_source && is_of_range(variable, finding, row))
      return;
    profile::Touched made;
    made.variable = variable.name;
    if (variable.object != ddg::kEnvironmentObject) made.object = variable.object;
    const symbols::Location& at = context_.locate(*variable.at);
    if (at.line > 0) made.source = profile::Source{at.file, at.line};
    if (finding.kind == Finding::Kind::kPrivate) {
      if (variable.named_in_source)
        made.clause = clause_of(variable.clause_name, finding);
      else if (finding.last && (variable.object == ddg::kEnvironmentObject || !is_reduced(variable.name, row)))
        made.clause = "lastprivate";
    } else {
      made.bytes = finding.bytes;
    }
    std::vector<profile::Touched>& list = finding.kind == Finding::Kind::kPrivate ? row.privates : row.expand;
    const bool known = std::any_of(list.begin(), list.end(), [&](const profile::Touched& other) {
      return other.variable == made.variable && other.object == made.object && other.clause == made.clause &&
             (!made.variable.empty() || other.source == made.source);
    });
    if (!known) list.push_back(std::move(made));
  }

  /// Of `for (auto& element : elements)`: the element, which each iteration declares, is in one block with the counter
  /// and the end that the compiler has made up.
  bool is_of_range(const Variable& variable, const Finding& finding, const Loop& row) const {
    const auto made_up = [](const std::string& name) { return name.starts_with("__for_"); };
    if (made_up(variable.name)) return true;
    if (finding.first || finding.last || finding.linear || !row.source) return false;
    const std::vector<symbols::LocalVariable>& locals = locals_.of(function_of(context_, loop_.loop.loops.front()));
    return std::any_of(locals.begin(), locals.end(), [&](const symbols::LocalVariable& local) {
      if (local.name != variable.name || local.line != row.source->line) return false;
      return std::any_of(locals.begin(), locals.end(), [&](const symbols::LocalVariable& other) {
        return made_up(other.name) && other.scope == local.scope && !other.scope.empty();
      });
    });
  }

  static std::string clause_of(const std::string& name, const Finding& finding) {
    if (finding.linear)
      return fmt::format("linear({}:{})", name, finding.step ? fmt::format("{}", *finding.step) : "...");
    std::string clause;
    if (finding.first) clause += fmt::format("firstprivate({})", name);
    if (finding.last) clause += fmt::format("{}lastprivate({})", clause.empty() ? "" : " ", name);
    return clause.empty() ? fmt::format("private({})", name) : clause;
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const ValueWays& ways_;
  const FlowOfLoop& loop_;
  const poly::RegionFlow& flow_;
  Locals& locals_;
  isl_ctx* isl_;
  Inside inside_;
  std::vector<std::uint64_t> tests_;
  std::ptrdiff_t counters_ = 0;  // variables that the loop steps and tests
  std::uint64_t trips_ = 0;
  std::optional<profile::Source> source_;  // the line that it begins with
  std::map<const ddg::Access*, Isl<isl_map>> cells_;
  Isl<isl_set> iterations_;
};

/// What a loop of little work may cost is little.
std::uint64_t operations_for(double share) {
  const double part = std::min(1.0, share / kFullShare);
  return std::max(kLeastOperations, static_cast<std::uint64_t>(part * static_cast<double>(kOperations)));
}

/// Loops of the same line around one.
std::size_t same_line_around(std::uint32_t node, const profile::Profile& profile) {
  std::size_t around = 0;
  for (std::optional<std::uint32_t> at = profile.tree[node].parent; at; at = profile.tree[*at].parent) {
    const profile::TreeNode& outer = profile.tree[*at];
    if (outer.kind != profile::TreeNode::Kind::kLoop) break;
    if (outer.source == profile.tree[node].source && !profile.tree[node].hidden) ++around;
  }
  return around;
}

}  // namespace

void find_reuse(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                profile::Profile& profile) {
  const ValueWays ways(graph, context.tree);
  Locals locals(context.symbolizer);
  MovedWork moved(graph, context, flow, ways, locals);
  std::map<std::uint32_t, std::vector<const FlowOfLoop*>> loops;  // by node
  for (const FlowOfLoop& loop : flow.loops()) loops[context.nodes[loop.loop.loops.front()]].push_back(&loop);
  for (profile::Region& region : profile.regions) {
    for (Loop& row : region.loops) {
      const double share = row.ops_percent / 100;
      if (row.parallel == Loop::Parallel::kUnknown) {
        row.reuse_why = "the loop could not be judged";
        continue;
      }
      if (row.parallel == Loop::Parallel::kNo && share < kWorthAsking) {
        row.reuse_why = "the loop keeps its order and has too little of the work to be asked";
        continue;
      }
      row.reuse = Loop::Reuse::kNone;
      for (const std::uint32_t node : row.nodes) {
        for (const FlowOfLoop* loop : loops[node]) {
          const poly::IslContext isl(isl_ctx_alloc());
          const poly::IslBudget budget(isl.get(), operations_for(share), kNet);
          LoopReuse reuse(graph, context, ways, *loop, flow, locals, row.blocks.has_value(), isl.get());
          reuse.run(row.trip.max, row);
          if (row.parallel == Loop::Parallel::kNo || !row.source) continue;
          const std::string why = moved.find(*loop, reuse.inside(), *row.source, same_line_around(node, profile));
          if (why.empty()) continue;
          row.reuse = Loop::Reuse::kUnknown;
          row.reuse_why = why;
        }
      }
    }
  }
}

}  // namespace loopfold::advise::liveness
