#include "advise/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "advise/check_certain.h"
#include "advise/check_nest.h"
#include "advise/liveness/conflicts.h"
#include "advise/liveness/repair.h"
#include "advise/reuse_advice.h"
#include "poly/budget.h"
#include "poly/pieces.h"
#include "profile/levels.h"

namespace loopfold::advise {

namespace {

using liveness::Conflicts;
using liveness::NestStorage;
using liveness::Repair;
using liveness::Storage;
using liveness::Times;
using poly::Isl;
using Verdict = CheckAnswer::Verdict;

constexpr std::chrono::milliseconds kNet{60'000};

bool is_parallel(const Step& step) { return step.kind == Step::Kind::kParallel || step.kind == Step::Kind::kVector; }

/// An order, and what was said about its loops.
struct Proposed {
  Times times;                       // all loops that are to be parallel are
  Times strict;                      // without those that are to be so as reductions only
  std::set<std::uint32_t> parallel;  // loops
  bool reductions = false;           // there are such: the two orders differ
  std::vector<std::string> privates;
  std::string doubt;  // not empty: the source may be another than the binary, because
};

// ---- from text to an order ----

class Proposer {
 public:
  Proposer(CheckNest& nest, const ddg::Graph& graph, const poly::Context& context)
      : nest_(nest), graph_(graph), context_(context) {}

  Result<Proposed> run(const ScheduleText& schedule) {
    return schedule.isl.empty() ? steps(schedule) : maps(schedule.isl);
  }

 private:
  Result<Proposed> steps(const ScheduleText& schedule) {
    StepOrder all(nest_.units, nest_.loops);
    StepOrder strict(nest_.units, nest_.loops);
    Proposed proposed;
    for (const Step& step : schedule.steps) {
      if (step.kind == Step::Kind::kPrivate) {
        if (!nest_.has_variable(step.variable)) return no_such_variable(step);
        proposed.privates.push_back(step.variable);
        continue;
      }
      const bool only_all = is_parallel(step) && step.reduction;
      proposed.reductions = proposed.reductions || only_all;
      Result<void> done = apply(step, all, &proposed);
      if (done && !only_all) done = apply(step, strict, nullptr);
      if (!done) return fail(done.error().kind, fmt::format("'{}': {}", step.text, done.error().message));
    }
    proposed.times = all.times(nest_.isl());
    proposed.strict = proposed.reductions ? strict.times(nest_.isl()) : proposed.times;
    return proposed;
  }

  Result<Proposed> no_such_variable(const Step& step) const {
    const std::vector<std::string> names = nest_.private_names();
    return fail(ErrorKind::kBadInput, fmt::format("'{}': no such variable in the nest; {}", step.text,
                                                  names.empty() ? "it has none that could be private"
                                                                : fmt::format("there are {}", fmt::join(names, ", "))));
  }

  Result<void> apply(const Step& step, StepOrder& order, Proposed* proposed) {
    std::vector<std::vector<std::uint32_t>> loops;
    const bool iterations = is_parallel(step) || step.kind == Step::Kind::kReverse;
    for (const LoopRef& ref : step.loops) {
      Result<std::vector<std::uint32_t>> found = iterations ? nest_.find_iterations(ref) : nest_.find(ref);
      if (!found) return tl::unexpected<Error>(found.error());
      for (const std::uint32_t loop : *found)
        if (proposed != nullptr && proposed->doubt.empty()) proposed->doubt = nest_.moved_out_of(loop);
      loops.push_back(std::move(*found));
    }
    switch (step.kind) {
      case Step::Kind::kInterchange:
        return for_pairs(loops, [&](std::uint32_t a, std::uint32_t b) { return order.interchange(a, b); });
      case Step::Kind::kSkew:
        return for_pairs(loops, [&](std::uint32_t a, std::uint32_t b) { return order.skew(a, b, step.number); });
      case Step::Kind::kFuse:
        return for_pairs(loops, [&](std::uint32_t a, std::uint32_t b) { return order.fuse(a, b); });
      case Step::Kind::kTile:
        return tile(step, loops, order);
      case Step::Kind::kReverse:
        return for_each(loops.front(), [&](std::uint32_t loop) { return order.reverse(loop); });
      case Step::Kind::kVector:
      case Step::Kind::kParallel:
        return for_each(loops.front(), [&](std::uint32_t loop) {
          if (proposed != nullptr) proposed->parallel.insert(loop);
          return order.parallel(loop, step.kind == Step::Kind::kVector);
        });
      case Step::Kind::kDistribute:
        return for_each(loops.front(), [&](std::uint32_t loop) -> Result<void> {
          const Result<std::vector<std::int64_t>> parts =
              step.at ? nest_.parts_at(loop, step.at->line) : nest_.components(loop);
          if (!parts) return tl::unexpected<Error>(parts.error());
          return order.distribute(loop, *parts);
        });
      case Step::Kind::kPrivate:
        break;
    }
    return {};
  }

  static Result<void> for_each(const std::vector<std::uint32_t>& loops,
                               const std::function<Result<void>(std::uint32_t)>& what) {
    for (const std::uint32_t loop : loops)
      if (Result<void> done = what(loop); !done) return done;
    return {};
  }

  /// Loops that stand in several places: those of one place with those of the same.
  static Result<void> for_pairs(const std::vector<std::vector<std::uint32_t>>& loops,
                                const std::function<Result<void>(std::uint32_t, std::uint32_t)>& what) {
    Result<void> last = {};
    bool any = false;
    for (const std::uint32_t a : loops[0])
      for (const std::uint32_t b : loops[1]) {
        last = what(a, b);
        any = any || last.has_value();
      }
    return any ? Result<void>{} : last;
  }

  /// One loop stands for all of the band below it.
  Result<void> tile(const Step& step, const std::vector<std::vector<std::uint32_t>>& loops, StepOrder& order) {
    std::vector<std::uint32_t> band;
    for (const std::vector<std::uint32_t>& one : loops) {
      if (one.size() != 1) return fail(ErrorKind::kBadInput, "the line is in several places; write LINE@node");
      band.push_back(one.front());
    }
    if (band.size() == 1) band = nest_.band_below(band.front());
    return order.tile(std::move(band), step.number);
  }

  /// isl's text, from statements as a profile names them.
  Result<Proposed> maps(const std::string& text) {
    const Isl<isl_union_map> all(isl_union_map_read_from_str(nest_.isl(), text.c_str()));
    if (!all) return fail(ErrorKind::kBadInput, "it is no map that isl can read");
    if (nest_.program.prefix > 0)
      return fail(ErrorKind::kBadInput, "the nest is inside another loop that stays; use steps");
    Proposed proposed;
    unsigned length = 0;
    for (const liveness::NestUnit& unit : nest_.units.all) {
      Isl<isl_map> own;
      for (const ddg::StatementId id : unit.statements) {
        Isl<isl_map> map = map_of(all, fmt::format("S{}", id), unit.loops.size());
        if (!map) continue;
        map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, unit.name.c_str()));
        if (own && isl_map_is_equal(own.get(), map.get()) != isl_bool_true)
          return fail(ErrorKind::kBadInput, fmt::format("S{} and S{} belong together; give them the same times",
                                                        unit.statements.front(), id));
        own = std::move(map);
      }
      if (!own)
        return fail(ErrorKind::kBadInput, fmt::format("S{} has no time (--print-template writes all that are needed)",
                                                      unit.statements.front()));
      length = std::max(length, static_cast<unsigned>(isl_map_dim(own.get(), isl_dim_out)));
      proposed.times.of.push_back(std::move(own));
    }
    for (Isl<isl_map>& map : proposed.times.of) {
      const auto own = static_cast<unsigned>(isl_map_dim(map.get(), isl_dim_out));
      map = Isl<isl_map>(isl_map_add_dims(map.release(), isl_dim_out, length - own));
      for (unsigned k = own; k < length; ++k) map = Isl<isl_map>(isl_map_fix_si(map.release(), isl_dim_out, k, 0));
      proposed.times.parallel.emplace_back(length);
    }
    proposed.strict = proposed.times;
    return proposed;
  }

  Isl<isl_map> map_of(const Isl<isl_union_map>& all, const std::string& name, std::size_t dimensions) const {
    struct Found {
      const std::string& name;
      std::size_t dimensions;
      Isl<isl_map> map;
    } found{name, dimensions, {}};
    isl_union_map_foreach_map(
        all.get(),
        [](isl_map* given, void* user) {
          Isl<isl_map> map(given);
          auto& into = *static_cast<Found*>(user);
          const char* const tuple = isl_map_get_tuple_name(map.get(), isl_dim_in);
          if (tuple == nullptr || into.name != tuple) return isl_stat_ok;
          if (static_cast<std::size_t>(isl_map_dim(map.get(), isl_dim_in)) != into.dimensions) return isl_stat_ok;
          into.map = Isl<isl_map>(isl_map_reset_tuple_id(map.release(), isl_dim_out));
          return isl_stat_ok;
        },
        &found);
    return found.map;
  }

  CheckNest& nest_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
};

// ---- proofs ----

class Checker {
 public:
  Checker(CheckNest& nest, const ddg::Graph& graph, const poly::Context& context, const profile::Profile& profile,
          const CheckOptions& options, const Proposed& proposed)
      : nest_(nest),
        graph_(graph),
        context_(context),
        profile_(profile),
        options_(options),
        certainty_(nest, graph, context),
        order_(proposed.times),
        strict_(proposed.strict) {}

  Result<CheckAnswer> run(const Proposed& proposed) {
    answer_.privates = proposed.privates;
    answer_.storages = nest_.storages.all.size();
    for (std::size_t u = 0; u < proposed.times.of.size(); ++u) {
      const liveness::NestUnit& unit = nest_.units.all[u];
      const Isl<isl_map> times(isl_map_intersect_domain(proposed.times.of[u].copy(), unit.domain.copy()));
      const Isl<isl_set> covered(isl_map_domain(proposed.times.of[u].copy()));
      if (isl_set_is_subset(unit.domain.get(), covered.get()) == isl_bool_false)
        return fail(ErrorKind::kBadInput, fmt::format("S{}: some instances have no time", unit.statements.front()));
      if (isl_map_is_injective(times.get()) == isl_bool_false ||
          isl_map_is_single_valued(times.get()) == isl_bool_false)
        return fail(ErrorKind::kBadInput,
                    fmt::format("S{}: two instances have one time, or one has two", unit.statements.front()));
    }
    if (!nest_.storages.unknown.empty()) return unknown(nest_.storages.unknown);
    if (!proposed.doubt.empty()) doubts_.push_back(proposed.doubt);
    check_dependences(proposed);
    for (const NestStorage& storage : nest_.storages.all)
      if (!is_settled()) check_storage(storage, proposed);
    if (!is_settled()) check_left_behind(proposed);
    if (!is_settled()) check_recomputed(proposed);
    if (!is_settled()) add_counters(proposed);
    decide();
    return answer_;
  }

 private:
  /// It is illegal, and nothing else is asked.
  bool is_settled() const { return options_.only_verdict && !answer_.violations.empty(); }

  CheckAnswer unknown(const std::string& why) {
    answer_.verdict = Verdict::kUnknown;
    answer_.why = why;
    return answer_;
  }

  /// Where the two orders are the same, the second look, which forgives reductions, cannot find more than the first.
  void check_dependences(const Proposed& proposed) {
    std::vector<const liveness::UnitFlow*> flows;
    const Storage flow = nest_.flow_as_storage(&flows);
    answer_.dependences = flow.ranges.size();
    std::set<std::size_t> seen;
    for (const bool reductions : {false, true}) {
      if (is_settled() || (reductions && !proposed.reductions)) return;
      liveness::Precedence& order = reductions || !proposed.reductions ? order_ : strict_;
      const auto is_certain = [&](const liveness::BrokenFlow& one) {
        return certainty_.is_broken(*flows[one.range], one.pairs);
      };
      liveness::BrokenFlows broken = liveness::broken_flow(flow, order, reductions, options_.only_verdict);
      if (options_.only_verdict && !broken.found.empty() && !is_certain(broken.found.front()))
        broken = liveness::broken_flow(flow, order, reductions);
      if (!broken.complete) doubts_.push_back("isl gave up on the flow of values within its budget");
      for (const liveness::BrokenFlow& one : broken.found) {
        if (!seen.insert(one.range).second) continue;
        const poly::KeptFlow* const kept = flows[one.range]->flow;
        if (!is_certain(one)) {
          doubts_.push_back(not_certain(*kept));
          continue;
        }
        if (kept == nullptr)
          add_violation(one.pairs, last_of(flows[one.range]->from), first_of(flows[one.range]->to), "control", "");
        else
          add_violation(one.pairs, kept->from, kept->to, kind_of(kept), "", kept->reduction);
      }
    }
  }

  std::string not_certain(const poly::KeptFlow& flow) const {
    const auto words = [&](poly::CodePoint at) {
      const std::optional<profile::Source> line = source_of(at);
      return line ? fmt::format("line {}", line->line) : "a statement without a line";
    };
    return fmt::format(
        "which iterations of {} need what {} computes is not known exactly", words(flow.to),
        flow.from.statement == flow.to.statement && words(flow.from) == words(flow.to) ? "it" : words(flow.from));
  }

  /// Of a unit: where it decides that a loop goes on, and where it begins.
  poly::CodePoint last_of(std::uint32_t unit) const {
    const ddg::StatementId statement = nest_.units.all[unit].statements.back();
    return {statement, static_cast<std::uint16_t>(graph_.statements[statement].instructions.size() - 1)};
  }
  poly::CodePoint first_of(std::uint32_t unit) const { return {nest_.units.all[unit].statements.front(), 0}; }

  static std::string kind_of(const poly::KeptFlow* flow) {
    if (flow == nullptr || flow->kind == poly::KeptFlow::Kind::kControl) return "control";
    if (flow->kind == poly::KeptFlow::Kind::kMemory) return "memory";
    return flow->kind == poly::KeptFlow::Kind::kEnvironment ? "environment" : "register";
  }

  std::optional<profile::Source> source_of(std::uint64_t address) const {
    const symbols::Location& at = context_.locate(address);
    if (at.line <= 0) return std::nullopt;
    return profile::Source{at.file, at.line};
  }
  std::optional<profile::Source> source_of(std::optional<poly::CodePoint> at) const {
    if (!at) return std::nullopt;
    return source_of(graph_.statements[at->statement].instructions[at->instruction].address);
  }

  void add_violation(const Isl<isl_map>& pairs, std::optional<poly::CodePoint> from, std::optional<poly::CodePoint> to,
                     std::string kind, std::string variable, bool reduction = false) {
    if (options_.only_verdict) {
      answer_.violations.emplace_back();
      return;
    }
    Violation made;
    made.variable = std::move(variable);
    made.from = source_of(from);
    made.to = source_of(to);
    made.kind = std::move(kind);
    made.reduction = reduction;
    if (is_listed(made, pairs)) return;
    made.pairs = poly::take_text(isl_map_to_str(pairs.get()));
    const Isl<isl_set> wrapped(isl_map_wrap(pairs.copy()));
    const Isl<isl_val> count(isl_set_count_val(wrapped.get()));
    if (count && isl_val_is_int(count.get()) == isl_bool_true)
      made.count = static_cast<std::uint64_t>(isl_val_get_num_si(count.get()));
    const Isl<isl_map> first(isl_map_lexmin(pairs.copy()));
    const Isl<isl_basic_map> sample(isl_map_sample(first ? first.copy() : pairs.copy()));
    const auto numbers = [&](isl_dim_type type) {
      std::vector<std::int64_t> all;
      const auto length = isl_basic_map_dim(sample.get(), type);
      for (isl_size k = 0; k < length; ++k) {
        const Isl<isl_val> value(isl_basic_map_plain_get_val_if_fixed(sample.get(), type, static_cast<unsigned>(k)));
        all.push_back(isl_val_get_num_si(value.get()));
      }
      return all;
    };
    if (sample) {
      made.producer = numbers(isl_dim_in);
      made.consumer = numbers(isl_dim_out);
    }
    answer_.violations.push_back(std::move(made));
    violated_.push_back(pairs);
  }

  /// The same pairs of the same units, between the same lines; or as flow of values, and now by the variable that these
  /// go through, whose name it gets.
  bool is_listed(const Violation& violation, const Isl<isl_map>& pairs) {
    for (std::size_t i = 0; i < violated_.size(); ++i) {
      Violation& known = answer_.violations[i];
      const bool same = known.variable == violation.variable && known.kind == violation.kind &&
                        known.reduction == violation.reduction && known.from == violation.from &&
                        known.to == violation.to;
      const bool values = known.kind == "register" || known.kind == "memory";
      const bool named = values && known.variable.empty() && !violation.variable.empty();
      if ((!same && !named) || isl_map_is_equal(violated_[i].get(), pairs.get()) != isl_bool_true) continue;
      if (named) known.variable = violation.variable;
      return true;
    }
    return false;
  }

  bool is_reduced(const Storage& storage) {
    return std::any_of(storage.ranges.begin(), storage.ranges.end(), [&](const liveness::Range& range) {
      if (!range.reduction) return false;
      const Isl<isl_map> apart =
          poly::intersect(range.map, order_.at_once(storage.accesses[range.definition], storage.accesses[range.use]));
      return isl_map_is_empty(apart.get()) != isl_bool_true;
    });
  }

  void check_storage(const NestStorage& made, const Proposed& proposed) {
    const Storage& storage = made.storage;
    liveness::Precedence& order = proposed.reductions && is_reduced(storage) ? strict_ : order_;
    if (!storage.unknown.empty()) {
      if (!nest_.is_as_written(storage, order.times())) doubt(made, storage.unknown);
      return;
    }
    const liveness::BrokenFlows broken = liveness::broken_flow(storage, order, false);
    const Conflicts conflicts = find_conflicts(storage, order, *made.cells, false, &nest_.written);
    if (!broken.complete || !conflicts.complete) return doubt(made, "isl gave up within its budget");
    if (!broken.found.empty()) return add_broken(made, broken, proposed);
    if (conflicts.found.empty()) return;
    const bool declared =
        std::find(answer_.privates.begin(), answer_.privates.end(), storage.name) != answer_.privates.end();
    liveness::RepairOptions how;
    how.may_expand = options_.expansion && !declared;
    const Repair repair = find_repair(storage, order, conflicts, nest_.counters(), nest_.domains(), how);
    if (repair.kind == Repair::Kind::kPrivate && is_private_anyway(made, proposed)) return;
    if (repair.kind != Repair::Kind::kPrivate && !made.doubt.empty()) return doubt(made, made.doubt);
    if (!made.doubt.empty()) doubtful_.insert(storage.name);
    Collision& collision = answer_.collisions.emplace_back();
    collision.variable = storage.name;
    collision.source = source_of(made.at);
    switch (repair.kind) {
      case Repair::Kind::kPrivate:
        collision.repair = "private";
        if (made.named)
          collision.clause = clause_of(made.clause_name.empty() ? storage.name : made.clause_name, repair);
        else if (repair.last)
          collision.clause = "lastprivate";
        break;
      case Repair::Kind::kExpand:
        collision.repair = "expand";
        collision.bytes = repair.bytes;
        for (const std::uint32_t loop : repair.along) {
          collision.along.push_back(nest_.loops[loop].node);
          collision.along_lines.push_back(nest_.loops[loop].name);
        }
        break;
      case Repair::Kind::kUnknown:
        collision.repair = "unknown";
        collision.why = "isl gave up within its budget";
        break;
      default:
        collision.repair = "none";
        collision.why = declared             ? "private copies do not help: its values are needed elsewhere"
                        : options_.expansion ? "no expansion along loops helps"
                                             : "private copies do not help, and expansion is ruled out";
    }
  }

  /// What registers have behind the nest. As written, the loops' rows know of it; in another order, another instance
  /// may be the last one that sets a variable.
  void check_left_behind(const Proposed& proposed) {
    if (nest_.left_behind.empty() || is_as_written(proposed)) return;
    for (const NestStorage& made : nest_.left_behind) {
      if (is_settled()) return;
      if (made.storage.accesses.empty()) {
        doubt(made, made.storage.unknown);
        continue;
      }
      const std::size_t before = answer_.collisions.size();
      check_storage(made, proposed);
      for (std::size_t i = before; i < answer_.collisions.size(); ++i) {
        Collision& collision = answer_.collisions[i];
        if (collision.repair != "none") continue;  // not all that may set it does
        collision.repair = "unknown";
        collision.why = "another value of it may be the last one in this order, and is used behind the nest";
      }
    }
  }

  /// The compiler's own, or declared inside the loops that are to be parallel.
  bool is_private_anyway(const NestStorage& made, const Proposed& proposed) {
    if (made.automatic) return true;
    if (!made.named || proposed.parallel.empty()) return false;
    return std::all_of(proposed.parallel.begin(), proposed.parallel.end(),
                       [&](std::uint32_t loop) { return nest_.is_born_inside(made.storage.name, nest_.loops[loop]); });
  }

  static std::string clause_of(const std::string& name, const Repair& repair) {
    std::string clause;
    if (repair.first) clause += fmt::format("firstprivate({})", name);
    if (repair.last) clause += fmt::format("{}lastprivate({})", clause.empty() ? "" : " ", name);
    return clause.empty() ? fmt::format("private({})", name) : clause;
  }

  void doubt(const NestStorage& made, const std::string& why) {
    Collision& collision = answer_.collisions.emplace_back();
    collision.variable = made.storage.name;
    collision.repair = "unknown";
    collision.why = why;
    collision.source = source_of(made.at);
  }

  /// Flow through a variable that the program's dependences do not have, because its values can be computed anew: they
  /// would have to be.
  void add_broken(const NestStorage& made, const liveness::BrokenFlows& broken, const Proposed& proposed) {
    if (!made.doubt.empty()) return doubt(made, made.doubt);
    const auto certain = std::find_if(broken.found.begin(), broken.found.end(), [&](const liveness::BrokenFlow& one) {
      return certainty_.is_broken(made, made.storage.ranges[one.range], one.pairs, proposed.reductions);
    });
    if (certain == broken.found.end())
      return doubt(made, "iterations hand its values on, and whether they can do without is not known");
    const liveness::BrokenFlow& first = *certain;
    const liveness::Range& range = made.storage.ranges[first.range];
    const auto line = [&](std::uint32_t access) {
      return nest_.units.all[made.storage.accesses[access].unit].statements.front();
    };
    const auto point = [&](std::uint32_t access) { return poly::CodePoint{line(access), 0}; };
    add_violation(first.pairs, point(range.definition), point(range.use), "memory", made.storage.name);
  }

  /// A value that is the same in every iteration can be computed again wherever it is used, and so the program does not
  /// have its flow. But the source has a variable for it, which other values may be in as well, even if the compiler
  /// saw that nobody needs them. Where the order between the two statements changes, nothing is said.
  void check_recomputed(const Proposed& proposed) {
    Times times = proposed.times;
    for (std::vector<bool>& rows : times.parallel) rows.assign(rows.size(), false);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const ddg::Dependence& d : graph_.dependences) {
      if (d.kind != ddg::Dependence::Kind::kRegister || d.from == ddg::kNoStatement || d.address) continue;
      const auto from = nest_.units.unit_of.find(d.from);
      const auto to = nest_.units.unit_of.find(d.to);
      if (from == nest_.units.unit_of.end() || to == nest_.units.unit_of.end() || from->second == to->second) continue;
      const std::uint32_t kinds = graph_.statements[d.from].instructions[d.from_instruction].kinds;
      const bool computes =
          (kinds & trace::kArithmetic) != 0 && (kinds & (trace::kFloatScalar | trace::kFloatVector | trace::kX87)) != 0;
      if (!computes || is_kept(d)) continue;
      if (!seen.insert({from->second, to->second}).second) continue;
      Storage both;
      both.accesses.resize(2);
      both.accesses[0].unit = from->second;
      both.accesses[1].unit = to->second;
      both.accesses[1].position = 1;
      if (nest_.is_as_written(both, times)) continue;
      const std::optional<profile::Source> line = source_of(poly::CodePoint{d.from, d.from_instruction});
      doubts_.push_back(
          fmt::format("what {} computes is the same in every iteration, and its variable may hold "
                      "something else in between",
                      line ? fmt::format("line {}", line->line) : "a statement"));
    }
  }

  bool is_kept(const ddg::Dependence& d) const {
    return std::any_of(nest_.units.flows.begin(), nest_.units.flows.end(), [&](const liveness::UnitFlow& kept) {
      return kept.flow != nullptr && kept.flow->from == poly::CodePoint{d.from, d.from_instruction} &&
             kept.flow->to == poly::CodePoint{d.to, d.to_instruction};
    });
  }

  /// Variables that the compiler keeps in registers, and counters of inner loops that are declared outside.
  void add_counters(const Proposed& proposed) {
    const auto add = [&](const std::string& name, const std::string& clause, const std::optional<profile::Source>& at) {
      const bool known = std::any_of(answer_.collisions.begin(), answer_.collisions.end(),
                                     [&](const Collision& collision) { return collision.variable == name; }) ||
                         std::find(answer_.privates.begin(), answer_.privates.end(), name) != answer_.privates.end();
      if (known) return;
      Collision& collision = answer_.collisions.emplace_back();
      collision.variable = name;
      collision.repair = "private";
      collision.clause = clause;
      collision.source = at;
    };
    for (const std::uint32_t number : proposed.parallel) {
      const NamedLoop& loop = nest_.loops[number];
      for (const liveness::Counter& counter : nest_.storages.counters) {
        const bool own = std::any_of(loop.loops.begin(), loop.loops.end(),
                                     [&](structure::ContextId id) { return counter.loops.contains(id); });
        const bool inside = std::any_of(counter.loops.begin(), counter.loops.end(),
                                        [&](structure::ContextId id) { return nest_.is_inside(id, loop); });
        if (!own && inside && !counter.born_inside && !nest_.is_born_inside(counter.name, loop))
          add(counter.name, fmt::format("private({})", counter.name), std::nullopt);
      }
      const profile::Loop& row = nest_.row_of(loop);
      for (const profile::Touched& touched : row.privates) {
        if (hangs_on_order(touched) && !is_as_written(proposed))
          doubts_.push_back(
              fmt::format("what {} is behind the loop, or in an iteration, is known of the order as written only",
                          touched_name(touched)));
        const bool counts = touched.clause.starts_with("linear(") ||
                            (touched.clause.starts_with("private(") && is_as_written(proposed));
        if (!touched.object || counts) add(touched_name(touched), touched.clause, touched.source);
      }
      for (Collision& collision : answer_.collisions) take_clause(row, loop, collision);
      add_expanded(row, loop);
      if (row.reuse == profile::Loop::Reuse::kUnknown && !row.reuse_why.empty()) doubts_.push_back(row.reuse_why);
    }
  }

  /// Variables that the compiler keeps in registers: whose values behind the loop are not those of its last iteration.
  void add_expanded(const profile::Loop& row, const NamedLoop& loop) {
    for (const profile::Touched& touched : row.expand) {
      const std::string name = touched_name(touched);
      const auto known = [&](const Collision& collision) { return collision.variable == name; };
      if (touched.object || std::any_of(answer_.collisions.begin(), answer_.collisions.end(), known)) continue;
      Collision& collision = answer_.collisions.emplace_back();
      collision.variable = name;
      collision.source = touched.source;
      expand(touched, loop, collision);
    }
  }

  /// As the loop's row says, unless that is ruled out or was in doubt.
  void expand(const profile::Touched& touched, const NamedLoop& loop, Collision& collision) const {
    const bool declared =
        std::find(answer_.privates.begin(), answer_.privates.end(), collision.variable) != answer_.privates.end();
    const bool possible = options_.expansion && !declared && !doubtful_.contains(collision.variable);
    collision.clause.clear();
    collision.repair = possible ? "expand" : "unknown";
    collision.why = possible ? "" : "what is used behind the loop is not what its last iteration sets";
    collision.bytes = touched.bytes;
    collision.along = {loop.node};
    collision.along_lines = {loop.name};
  }

  /// But for what runs in parallel.
  bool is_as_written(const Proposed& proposed) const {
    Times times = proposed.times;
    for (std::vector<bool>& rows : times.parallel) rows.assign(rows.size(), false);
    Storage all;
    all.accesses.resize(nest_.units.all.size());
    for (std::uint32_t unit = 0; unit < all.accesses.size(); ++unit) all.accesses[unit].unit = unit;
    return nest_.is_as_written(all, times);
  }

  /// What the loop's row knows of a variable beyond where it is kept: that each iteration computes it from its number,
  /// or that its last value is needed. Iterations that do nothing but count are no instances of the nest: only the row
  /// knows that the last one does not set it.
  void take_clause(const profile::Loop& row, const NamedLoop& loop, Collision& collision) const {
    if (collision.repair != "private") return;
    for (const profile::Touched& touched : row.privates)
      if (touched.variable == collision.variable && hangs_on_order(touched)) collision.clause = touched.clause;
    if (collision.clause.find("lastprivate") == std::string::npos || collision.variable.empty()) return;
    for (const profile::Touched& touched : row.expand)
      if (touched.variable == collision.variable) expand(touched, loop, collision);
  }
  static bool hangs_on_order(const profile::Touched& touched) {
    return touched.clause.starts_with("linear(") || touched.clause.find("lastprivate") != std::string::npos;
  }

  void decide() {
    const auto any = [&](const std::string& repair) {
      return std::any_of(answer_.collisions.begin(), answer_.collisions.end(),
                         [&](const Collision& collision) { return collision.repair == repair; });
    };
    if (!answer_.violations.empty() || any("none"))
      answer_.verdict = Verdict::kIllegal;
    else if (!doubts_.empty() || any("unknown"))
      answer_.verdict = Verdict::kUnknown;
    else
      answer_.verdict = answer_.collisions.empty() ? Verdict::kLegal : Verdict::kLegalAfter;
    if (answer_.verdict != Verdict::kUnknown) return;
    if (!doubts_.empty()) answer_.why = doubts_.front();
    for (const Collision& collision : answer_.collisions)
      if (answer_.why.empty() && collision.repair == "unknown")
        answer_.why = fmt::format("{}: {}", collision.variable, collision.why);
  }

  CheckNest& nest_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
  const profile::Profile& profile_;
  const CheckOptions& options_;
  Certainty certainty_;
  liveness::Precedence order_;   // all loops that are to be parallel are
  liveness::Precedence strict_;  // without those that are to be so as reductions only
  CheckAnswer answer_;
  std::vector<Isl<isl_map>> violated_;  // by violation
  std::set<std::string> doubtful_;      // variables that private copies help whatever their addresses are
  std::vector<std::string> doubts_;
};

Result<CheckAnswer> check_once(CheckNest& nest, const ddg::Graph& graph, const poly::Context& context,
                               const profile::Profile& profile, const ScheduleText& schedule,
                               const CheckOptions& options) {
  const Result<Proposed> proposed = Proposer(nest, graph, context).run(schedule);
  if (!proposed) return tl::unexpected<Error>(proposed.error());
  Result<CheckAnswer> answer = Checker(nest, graph, context, profile, options, *proposed).run(*proposed);
  if (!answer) return answer;
  answer->region = nest.region;
  answer->also = nest.also;
  for (const Step& step : schedule.steps) answer->steps.push_back(step.text);
  return answer;
}

bool is_legal(const Result<CheckAnswer>& answer) {
  return answer && (answer->verdict == Verdict::kLegal || answer->verdict == Verdict::kLegalAfter);
}

/// The most of the first steps that need no expansion.
std::string next_best(CheckNest& nest, const ddg::Graph& graph, const poly::Context& context,
                      const profile::Profile& profile, const ScheduleText& schedule, const CheckOptions& options) {
  for (ScheduleText shorter = schedule; !shorter.steps.empty();) {
    shorter.steps.pop_back();
    const Result<CheckAnswer> answer = check_once(nest, graph, context, profile, shorter, options);
    if (!is_legal(answer)) continue;
    if (shorter.steps.empty()) break;
    return fmt::format("{}", fmt::join(answer->steps, "; "));
  }
  return "the order as written";
}

/// The steps with `reduction` where a chain is in the way, if they are legal then; else nothing.
std::string as_reduction(CheckNest& nest, const ddg::Graph& graph, const poly::Context& context,
                         const profile::Profile& profile, const ScheduleText& schedule, const CheckOptions& options) {
  const auto legal = [&](const ScheduleText& steps) {
    return is_legal(check_once(nest, graph, context, profile, steps, options));
  };
  ScheduleText changed = schedule;
  for (Step& step : changed.steps) step.reduction = step.reduction || is_parallel(step);
  if (!legal(changed)) return "";
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {  // no more than are needed
    if (!is_parallel(schedule.steps[i]) || schedule.steps[i].reduction) continue;
    changed.steps[i].reduction = false;
    if (!legal(changed)) changed.steps[i].reduction = true;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const bool is_new = changed.steps[i].reduction && !schedule.steps[i].reduction;
    texts.push_back(schedule.steps[i].text + (is_new ? " reduction" : ""));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

Result<CheckAnswer> check(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                          const profile::Profile& profile, const ScheduleText& schedule, const CheckOptions& options,
                          BuiltNests* built) {
  Result<std::shared_ptr<CheckNest>> nest =
      CheckNest::make(graph, context, flow, profile, schedule, options.region, options.operations, built);
  if (!nest) return tl::unexpected<Error>(nest.error());
  if (!(*nest)->problem.empty()) {
    CheckAnswer answer;
    answer.region = (*nest)->region;
    answer.also = (*nest)->also;
    answer.why = (*nest)->problem;
    for (const Step& step : schedule.steps) answer.steps.push_back(step.text);
    return answer;
  }
  const poly::IslBudget budget((*nest)->isl(), options.operations, kNet);
  Result<CheckAnswer> answer = check_once(**nest, graph, context, profile, schedule, options);
  if (is_legal(answer)) answer->assumes = (*nest)->assumed(schedule);
  if (answer && !options.expansion && answer->verdict == Verdict::kIllegal && !schedule.steps.empty())
    answer->next = next_best(**nest, graph, context, profile, schedule, options);
  if (answer && !options.only_verdict && answer->verdict == Verdict::kIllegal &&
      std::any_of(answer->violations.begin(), answer->violations.end(), [](const Violation& v) { return v.reduction; }))
    answer->reduction = as_reduction(**nest, graph, context, profile, schedule, options);
  return answer;
}

Result<std::string> schedule_template(const ddg::Graph& graph, const poly::Context& context,
                                      const poly::RegionFlow& flow, const profile::Profile& profile,
                                      const CheckOptions& options) {
  Result<std::shared_ptr<CheckNest>> made =
      CheckNest::make(graph, context, flow, profile, {}, options.region, options.operations);
  if (!made) return tl::unexpected<Error>(made.error());
  const CheckNest& nest = **made;
  if (!nest.problem.empty()) return fail(ErrorKind::kBadInput, nest.problem);
  std::string text =
      fmt::format("# Region {}, in the order as written. Change the times, or write steps instead:\n", nest.region);
  text +=
      "# interchange A B; tile A,B SIZE; parallel A [reduction]; vector A [reduction]; skew A B F; fuse A B;\n"
      "# distribute A [at LINE]; reverse A; private VARIABLE. Loops:\n";
  for (const NamedLoop& loop : nest.loops)
    text += fmt::format("#   {}@{}{}\n", loop.name, loop.node, profile::counter_words(profile.tree[loop.node]));
  text += "{\n";
  for (std::size_t u = 0; u < nest.units.all.size(); ++u) {
    for (const ddg::StatementId id : nest.units.all[u].statements) {
      Isl<isl_map> map(isl_map_set_tuple_name(nest.written.of[u].copy(), isl_dim_in, fmt::format("S{}", id).c_str()));
      std::string one = poly::take_text(isl_map_to_str(map.get()));
      const std::size_t first = one.find('S');
      const std::size_t last = one.rfind('}');
      if (first == std::string::npos || last == std::string::npos) continue;
      const symbols::Location& at = context.locate(graph.statements[id].instructions.front().address);
      text += fmt::format("  {};{}\n", one.substr(first, last - first - 1),
                          at.line > 0 ? fmt::format("  # {}:{}", at.file.substr(at.file.rfind('/') + 1), at.line) : "");
    }
  }
  return text + "}\n";
}

}  // namespace loopfold::advise
