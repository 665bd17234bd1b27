// The live ranges of a nest, for showing: each definition with the last use of its value in the order as written (the λ
// sets of Trifunovic and Cohen, section 4.2.2), what comes in from before the nest, and what is needed behind it.
//
// Only for reading: what `check` proves, it proves on all pairs of definition and use (liveness/conflicts.h).
#include <fmt/format.h>

#include <chrono>

#include "advise/check.h"
#include "advise/check_nest.h"
#include "advise/liveness/dataflow.h"
#include "poly/budget.h"
#include "support/units.h"

namespace loopfold::advise {

namespace {

using liveness::NestStorage;
using liveness::Storage;
using poly::Isl;

constexpr std::chrono::milliseconds kNet{60'000};

class RangeText {
 public:
  RangeText(const CheckNest& nest, const ddg::Graph& graph, const poly::Context& context)
      : nest_(nest), graph_(graph), context_(context) {}

  std::string run() {
    std::string text = fmt::format("Live ranges of region {}, in the order as written:\n", nest_.region);
    for (const NestStorage& made : nest_.storages.all) text += of(made);
    if (nest_.storages.all.empty())
      text += "Nothing in it is stored to that another iteration could be in the way of.\n";
    return text;
  }

 private:
  std::string of(const NestStorage& made) {
    const Storage& storage = made.storage;
    std::string text = fmt::format("{} ({}{}):\n", storage.name, counted(storage.bytes, "byte"),
                                   made.automatic ? ", the compiler's own" : "");
    if (!storage.unknown.empty()) return text + fmt::format("  unknown: {}\n", storage.unknown);
    for (const liveness::OpenEnd& input : storage.inputs)
      text += fmt::format("  from before the nest to {}: {}\n", words(storage, input.access),
                          set_text(storage, input.access, input.instances));
    for (const liveness::Range& range : liveness::last_uses(nest_.written, storage))
      text += fmt::format("  λ {} to {}: {}\n", words(storage, range.definition), words(storage, range.use),
                          map_text(storage, range));
    for (const liveness::OpenEnd& output : storage.outputs)
      text += fmt::format("  {} to behind the nest: {}\n", words(storage, output.access),
                          set_text(storage, output.access, output.instances));
    if (!made.doubt.empty()) text += fmt::format("  not exact: {}\n", made.doubt);
    return text;
  }

  ddg::StatementId statement(const Storage& storage, std::uint32_t access) const {
    return nest_.units.all[storage.accesses[access].unit].statements.front();
  }
  std::string name(const Storage& storage, std::uint32_t access) const {
    return fmt::format("S{}", statement(storage, access));
  }
  std::string words(const Storage& storage, std::uint32_t access) const {
    const ddg::Statement& of = graph_.statements[statement(storage, access)];
    for (const ddg::Instruction& instruction : of.instructions) {
      const symbols::Location& at = context_.locate(instruction.address);
      if (at.line > 0)
        return fmt::format("{} ({}:{})", name(storage, access), at.file.substr(at.file.rfind('/') + 1), at.line);
    }
    return name(storage, access);
  }

  std::string set_text(const Storage& storage, std::uint32_t access, const Isl<isl_set>& instances) const {
    Isl<isl_set> set(isl_set_coalesce(instances.copy()));
    set = Isl<isl_set>(isl_set_set_tuple_name(set.release(), name(storage, access).c_str()));
    return poly::take_text(isl_set_to_str(set.get()));
  }
  std::string map_text(const Storage& storage, const liveness::Range& range) const {
    Isl<isl_map> map(isl_map_coalesce(range.map.copy()));
    map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_in, name(storage, range.definition).c_str()));
    map = Isl<isl_map>(isl_map_set_tuple_name(map.release(), isl_dim_out, name(storage, range.use).c_str()));
    return poly::take_text(isl_map_to_str(map.get()));
  }

  const CheckNest& nest_;
  const ddg::Graph& graph_;
  const poly::Context& context_;
};

}  // namespace

Result<std::string> live_range_text(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                                    const profile::Profile& profile, const ScheduleText& schedule,
                                    const CheckOptions& options) {
  const Result<std::shared_ptr<CheckNest>> made =
      CheckNest::make(graph, context, flow, profile, schedule, options.region, options.operations);
  if (!made) return tl::unexpected<Error>(made.error());
  if (!(*made)->problem.empty()) return fail(ErrorKind::kBadInput, (*made)->problem);
  const poly::IslBudget budget((*made)->isl(), options.operations, kNet);
  return RangeText(**made, graph, context).run();
}

}  // namespace loopfold::advise
