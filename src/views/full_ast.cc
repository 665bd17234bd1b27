#include "views/full_ast.h"

#include <fmt/format.h>
#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/options.h>
#include <isl/printer.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "poly/isl.h"
#include "views/written_order.h"

namespace loopfold::poly {

template <>
struct IslType<isl_ast_node> {
  static isl_ast_node* copy(isl_ast_node* p) { return isl_ast_node_copy(p); }
  static void free(isl_ast_node* p) { isl_ast_node_free(p); }
};
template <>
struct IslType<isl_ast_build> {
  static isl_ast_build* copy(isl_ast_build* p) { return isl_ast_build_copy(p); }
  static void free(isl_ast_build* p) { isl_ast_build_free(p); }
};
template <>
struct IslType<isl_ast_expr> {
  static isl_ast_expr* copy(isl_ast_expr* p) { return isl_ast_expr_copy(p); }
  static void free(isl_ast_expr* p) { isl_ast_expr_free(p); }
};
template <>
struct IslType<isl_id> {
  static isl_id* copy(isl_id* p) { return isl_id_copy(p); }
  static void free(isl_id* p) { isl_id_free(p); }
};

}  // namespace loopfold::poly

namespace loopfold::views {

namespace {

using poly::Isl;
using profile::Profile;
using profile::Region;
using profile::Transformed;

constexpr unsigned long kMostOperations = 4'000'000;
constexpr const char* kParallel = "parallel";

/// The number behind the letter of "c3" or "S17".
std::optional<std::uint32_t> number_behind(char letter, std::string_view name) {
  std::uint32_t number = 0;
  if (!name.starts_with(letter)) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

/// The statement that "S17" is.
std::optional<std::uint32_t> statement_of(const Profile& profile, std::string_view name) {
  const std::optional<std::uint32_t> id = number_behind('S', name);
  return id && *id < profile.statements.size() ? id : std::nullopt;
}

/// What the callbacks of isl know.
struct Annotations {
  const Profile& profile;
  const Words& words;
  const Transformed* transformed;  // null: the order as written
};

std::set<std::uint32_t> statements_in(const Profile& profile, isl_union_map* schedule) {
  struct Found {
    const Profile& profile;
    std::set<std::uint32_t> statements;
  } found{profile, {}};
  isl_union_map_foreach_map(
      schedule,
      [](isl_map* map, void* user) {
        auto& result = *static_cast<Found*>(user);
        const char* const name = isl_map_get_tuple_name(map, isl_dim_in);
        if (const auto id = statement_of(result.profile, name == nullptr ? "" : name)) result.statements.insert(*id);
        isl_map_free(map);
        return isl_stat_ok;
      },
      &found);
  return found.statements;
}

/// Is the schedule's dimension a parallel member of a band of these statements?
bool is_parallel(const Transformed& transformed, std::size_t dimension, const std::set<std::uint32_t>& statements) {
  return std::any_of(transformed.bands.begin(), transformed.bands.end(), [&](const profile::Band& band) {
    if (dimension < band.first || dimension - band.first >= band.members.size()) return false;
    const bool concerned = std::any_of(band.statements.begin(), band.statements.end(),
                                       [&](std::uint32_t id) { return statements.count(id) != 0; });
    return concerned && band.members[dimension - band.first].parallel == profile::Loop::Parallel::kYes;
  });
}

/// The dimension of the schedule that the loop to be made is for: isl calls loops c0, c1, ... by dimension, and leaves
/// out of its space those dimensions for which there is no loop.
std::optional<std::uint32_t> dimension_of(isl_ast_build* build) {
  const Isl<isl_space> space(isl_ast_build_get_schedule_space(build));
  const isl_size depth = isl_space_dim(space.get(), isl_dim_set);
  if (depth <= 0) return std::nullopt;
  const char* const name = isl_space_get_dim_name(space.get(), isl_dim_set, static_cast<unsigned>(depth) - 1);
  return number_behind('c', name == nullptr ? "" : name);
}

isl_id* before_each_for(isl_ast_build* build, void* user) {
  const auto& annotations = *static_cast<const Annotations*>(user);
  const Isl<isl_union_map> schedule(isl_ast_build_get_schedule(build));
  const std::optional<std::uint32_t> dimension = dimension_of(build);
  const bool parallel =
      annotations.transformed != nullptr && dimension &&
      is_parallel(*annotations.transformed, *dimension, statements_in(annotations.profile, schedule.get()));
  return isl_id_alloc(isl_ast_build_get_ctx(build), parallel ? kParallel : "", nullptr);
}

isl_printer* print_for(isl_printer* printer, isl_ast_print_options* options, isl_ast_node* node, void*) {
  const Isl<isl_id> id(isl_ast_node_get_annotation(node));
  if (id && std::string_view(isl_id_get_name(id.get())) == kParallel) {
    printer = isl_printer_start_line(printer);
    printer = isl_printer_print_str(printer, "// parallel");
    printer = isl_printer_end_line(printer);
  }
  return isl_ast_node_for_print(node, printer, options);
}

/// S19(c0, c1);  // heat.c:19
isl_printer* print_user(isl_printer* printer, isl_ast_print_options* options, isl_ast_node* node, void* user) {
  const auto& annotations = *static_cast<const Annotations*>(user);
  isl_ast_print_options_free(options);
  const Isl<isl_ast_expr> call(isl_ast_node_user_get_expr(node));
  const Isl<isl_ast_expr> callee(isl_ast_expr_get_op_arg(call.get(), 0));
  const Isl<isl_id> id(isl_ast_expr_get_id(callee.get()));
  std::string lines;
  if (const auto statement = statement_of(annotations.profile, id ? isl_id_get_name(id.get()) : "")) {
    for (const profile::Source& source : annotations.profile.statements[*statement].source)
      lines += (lines.empty() ? "  // " : ", ") + annotations.words.place(source);
    if (!annotations.profile.statements[*statement].call.empty())
      lines +=
          (lines.empty() ? "  // " : ", ") + annotations.words.text(annotations.profile.statements[*statement].call);
  }
  printer = isl_printer_start_line(printer);
  printer = isl_printer_print_ast_expr(printer, call.get());
  printer = isl_printer_print_str(printer, (";" + lines).c_str());
  return isl_printer_end_line(printer);
}

std::string printed(isl_ast_node* node, Annotations& annotations) {
  isl_ctx* const context = isl_ast_node_get_ctx(node);
  isl_ast_print_options* options = isl_ast_print_options_alloc(context);
  options = isl_ast_print_options_set_print_user(options, print_user, &annotations);
  options = isl_ast_print_options_set_print_for(options, print_for, &annotations);
  isl_printer* printer = isl_printer_set_output_format(isl_printer_to_str(context), ISL_FORMAT_C);
  printer = isl_ast_node_print(node, printer, options);
  std::string text = poly::take_text(isl_printer_get_str(printer));
  isl_printer_free(printer);
  return text;
}

/// The schedule on what ran: the domains of its statements.
Isl<isl_union_map> on_domains(isl_ctx* context, const Profile& profile, const std::string& text, bool& exact) {
  Isl<isl_union_map> schedule(isl_union_map_read_from_str(context, text.c_str()));
  if (!schedule) return schedule;
  Isl<isl_union_set> domain(isl_union_set_read_from_str(context, "{ }"));
  for (const std::uint32_t id : statements_in(profile, schedule.get())) {
    const profile::Statement& statement = profile.statements[id];
    exact = exact && statement.exact;
    domain = Isl<isl_union_set>(
        isl_union_set_union(domain.release(), isl_union_set_read_from_str(context, statement.domain.c_str())));
  }
  return Isl<isl_union_map>(isl_union_map_intersect_domain(schedule.release(), domain.release()));
}

}  // namespace

Result<std::string> full_ast(const Profile& profile, const Region& region, const Words& words, bool transformed) {
  const std::string name = fmt::format("region {}", region.id);
  const bool found = region.transformed && !region.transformed->schedule.empty();
  if (transformed && !found)
    return fail(ErrorKind::kBadInput, fmt::format("{}: no schedule was found{}", name,
                                                  region.transformed && !region.transformed->why.empty()
                                                      ? ": " + words.text(region.transformed->why)
                                                      : ""));
  const poly::IslContext context(isl_ctx_alloc());
  isl_options_set_on_error(context.get(), ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context.get(), kMostOperations);
  bool exact = true;
  const std::string text = transformed ? region.transformed->schedule : written_schedule(profile, region);
  Isl<isl_union_map> schedule = on_domains(context.get(), profile, text, exact);
  if (!schedule && isl_ctx_last_error(context.get()) != isl_error_quota)
    return fail(ErrorKind::kBadInput, fmt::format("{}: its schedule or a domain cannot be read", name));
  Annotations annotations{profile, words, transformed ? &*region.transformed : nullptr};
  Isl<isl_ast_build> build(isl_ast_build_alloc(context.get()));
  build = Isl<isl_ast_build>(isl_ast_build_set_before_each_for(build.release(), before_each_for, &annotations));
  const Isl<isl_ast_node> node(isl_ast_build_node_from_schedule_map(build.get(), schedule.release()));
  if (!node)
    return fail(ErrorKind::kBadInput,
                fmt::format("{}: too large for a complete program: isl's budget was used up", name));
  isl_ctx_reset_operations(context.get());
  return (exact ? ""
                : "// Some domains are not exact: this runs statements in iterations in which they did not run.\n") +
         printed(node.get(), annotations);
}

}  // namespace loopfold::views
