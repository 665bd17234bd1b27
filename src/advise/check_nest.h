// The nest that a schedule is about, with everything that is needed to judge an order of it.
//
// A region is tried as one nest; if it cannot be one program (poly/program.h), the loops on the way to those that the
// steps name are tried, from outside in: what is around the nest stays as it is. Building it costs what the program,
// its storages and their maps cost: some hundred milliseconds for a nest of a hundred statements. Who asks more than
// one question about a region keeps what was built (BuiltNests).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "advise/check_order.h"
#include "advise/check_steps.h"
#include "advise/liveness/nest_storage.h"
#include "advise/liveness/nest_units.h"
#include "advise/liveness/repair.h"
#include "poly/program.h"
#include "profile/profile.h"

namespace loopfold::advise {

constexpr std::uint64_t kCheckOperations = 3'000'000;  // of isl, for a check that nobody asked for by hand

class CheckNest;

/// By region and loop: nests that were built with one budget, those with a problem as well.
using BuiltNests = std::map<std::pair<std::uint32_t, const poly::FlowOfLoop*>, std::shared_ptr<CheckNest>>;

class CheckNest {
 public:
  /// What is in `built` is taken from there, and what is not, put there.
  static Result<std::shared_ptr<CheckNest>> make(const ddg::Graph& graph, const poly::Context& context,
                                                 const poly::RegionFlow& flow, const profile::Profile& profile,
                                                 const ScheduleText& schedule, std::optional<std::uint32_t> region,
                                                 std::uint64_t operations, BuiltNests* built = nullptr);

  isl_ctx* isl() const { return isl_.get(); }
  const poly::RegionFlow& flow() const { return flow_; }

  /// The loops that a name means, by number: one loop of the source, perhaps in several places. An error if it is a
  /// loop with hidden levels, and says not which.
  Result<std::vector<std::uint32_t>> find(const LoopRef& ref) const;
  /// The same where every iteration of the loop is meant: a loop with hidden levels is all of them.
  Result<std::vector<std::uint32_t>> find_iterations(const LoopRef& ref) const;
  /// By unit, for distributing a loop: 0 in front of the line, 1 from it on.
  Result<std::vector<std::int64_t>> parts_at(std::uint32_t loop, int line) const;
  /// By unit: the component of those that need each other, in an order that suits them.
  Result<std::vector<std::int64_t>> components(std::uint32_t loop) const;
  /// The loop and the ones inside it, down to the deepest statement.
  std::vector<std::uint32_t> band_below(std::uint32_t loop) const;

  /// A line in the body of the loop whose work the compiler does outside of it: moving the loop in the source would
  /// move that line along, which the binary does not show. Empty if there is none.
  std::string moved_out_of(std::uint32_t loop) const;

  /// All that must be kept, as ranges of one storage; the flow of each range is in `kept`, if that is given.
  liveness::Storage flow_as_storage(std::vector<const liveness::UnitFlow*>* kept = nullptr) const;
  /// As written, as far as the units that use a storage are concerned.
  bool is_as_written(const liveness::Storage& storage, const liveness::Times& times) const;

  std::vector<liveness::LoopCounter> counters() const;
  std::vector<poly::Isl<isl_set>> domains() const;
  bool is_inside(structure::ContextId context, const NamedLoop& loop) const;
  /// A variable of this name is declared in the loop's body.
  bool is_born_inside(const std::string& variable, const NamedLoop& loop);
  const profile::Loop& row_of(const NamedLoop& loop) const;
  /// It is in the nest, or declared in a function that has loops of it, under this name.
  bool has_variable(const std::string& name);
  /// Of variables that private copies can be made of, sorted.
  std::vector<std::string> private_names() const;

 private:
  poly::IslContext isl_;  // before what lives in it

 public:
  std::uint32_t region = 0;
  std::string problem;              // not empty: nothing can be said, because
  std::vector<std::uint32_t> also;  // other regions that have all the loops that are named
  poly::Program program;
  liveness::NestUnits units;
  liveness::NestStorages storages;
  std::vector<liveness::NestStorage> left_behind;  // for orders other than that as written
  liveness::Times written;
  std::vector<NamedLoop> loops;

  /// Branches on data that always went one way, in the loops that the steps name, or in all of the region.
  std::vector<profile::Source> assumed(const ScheduleText& schedule) const;

 private:
  CheckNest(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
            const profile::Profile& profile);
  void build(const poly::FlowOfLoop& of, std::uint64_t operations);
  std::string problem_of_units() const;
  void name_loops();
  bool matches(const profile::Loop& row, const LoopRef& ref) const;
  Result<std::vector<std::uint32_t>> find_named(const LoopRef& ref) const;
  std::uint32_t loop_as_written(std::uint32_t node) const;
  Result<void> is_one_loop(const std::vector<std::uint32_t>& found, const LoopRef& ref) const;
  bool is_below(std::uint32_t node, std::uint32_t other) const;
  bool has_levels(const std::vector<std::uint32_t>& found) const;
  Result<void> choose_region(const ScheduleText& schedule, std::optional<std::uint32_t> wanted);
  std::vector<const poly::FlowOfLoop*> candidates(const ScheduleText& schedule) const;
  bool comes_from_load(poly::CodePoint at, int depth) const;
  bool hands_on_data(poly::CodePoint at) const;
  int line_in(std::size_t unit, std::uint32_t loop, bool last) const;

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  const profile::Profile& profile_;
  liveness::Locals locals_;
};

}  // namespace loopfold::advise
