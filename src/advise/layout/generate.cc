#include "advise/layout/generate.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/layout/c_expression.h"
#include "advise/layout/generate_forms.h"
#include "poly/budget.h"

namespace loopfold::layout {

namespace {

using poly::Isl;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

void name_sizes(Draft& draft) {
  for (const Phi& phi : draft.tree.phis)
    for (const std::string& name : phi.parameters())
      if (draft.parameters.count(name) == 0) draft.parameters[name] = draft.names->fresh("size_" + name);
}

/// Each size of the program that the code needs is read once, before everything else.
void capture_sizes(Draft& draft, const std::map<std::string, std::string>& captured) {
  std::string captures;
  for (const std::string& name : draft.used)
    if (captured.count(name) == 0) captures += fmt::format("const long {} = {};\n", draft.parameters.at(name), name);
  draft.code.declarations = (captures.empty() ? "" : "// Sizes\n" + captures) + draft.code.declarations;
  for (const std::string& name : draft.used) draft.code.sizes[name] = draft.parameters.at(name);
}

/// What an array's sizes are in the code: names of captured sizes, numbers, or sums of them.
void describe_bounds(Draft& draft) {
  const QuasiAffine::CText how{[&](const std::string& name) { return draft.parameter(name); },
                               [](const QuasiAffine&) { return true; }};
  for (const Phi& phi : draft.tree.phis) {
    std::vector<std::string>& bounds = draft.code.bounds[phi.label()];
    for (const QuasiAffine& extent : phi.extents) bounds.push_back(extent.c_text(how));
  }
}

Result<void> write_length(Draft& draft, const Node& band, const Isl<isl_set>& sizes) {
  const NameInC name = [&](const std::string& parameter) { return draft.parameter(parameter); };
  const Result<std::string> length = c_expression(band.length, sizes, name);
  if (!length) return tl::unexpected<Error>(length.error());
  const std::string whole = band.padding == 0 ? *length : fmt::format("{} + {}", *length, band.padding);
  const bool number = whole.find_first_not_of("0123456789 +") == std::string::npos;
  const std::string chosen = draft.names->fresh("len_" + band.path);
  draft.lengths[&band] = chosen;
  const bool simple = whole.find_first_of(" ?") == std::string::npos;
  draft.line(number   ? fmt::format("const long {} = {};", chosen, whole)
             : simple ? fmt::format("const long {0} = {1} < 1 ? 1 : {1};", chosen, whole)
                      : fmt::format("const long {0} = ({1}) < 1 ? 1 : ({1});", chosen, whole));
  if (band.from_zero) return {};
  const Result<std::string> lower = c_expression(band.lower, sizes, name);
  if (!lower) return tl::unexpected<Error>(lower.error());
  draft.lowers[&band] = draft.names->fresh("low_" + band.path);
  draft.line(fmt::format("const long {} = {};", draft.lowers[&band], *lower));
  return {};
}

/// Lengths of all bands, outermost first.
Result<void> write_lengths(Draft& draft, const Node& node, const Isl<isl_set>& sizes) {
  if (node.kind == Node::Kind::kBand) {
    if (Result<void> written = write_length(draft, node, sizes); !written) return written;
  }
  for (const Node& child : node.children)
    if (Result<void> written = write_lengths(draft, child, sizes); !written) return written;
  return {};
}

/// A sum or difference of subscripts must not be computed in a type that is too small or unsigned.
bool needs_long(const QuasiAffine& value) {
  if (value.constant() != 0 || value.terms().size() != 1 || value.terms()[0].factor != 1) return true;
  return value.terms()[0].kind != QuasiTerm::Kind::kName && needs_long(value.terms()[0].inner);
}

}  // namespace

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; !taken_.insert(name).second; i++) name = fmt::format("{}_v{}", wish, i);
  return name;
}

std::string Draft::position(const Node& band, std::size_t array, bool operand) {
  const Phi& phi = tree.phis[array];
  const QuasiAffine& value = phi.target[band.dimension];
  const bool from_zero = band.from_zero;
  const bool cast = needs_long(value) || !from_zero;
  std::vector<int>& uses = index_uses[array];
  uses.resize(phi.indices.size());
  const QuasiAffine::CText how{
      [&](const std::string& name) -> std::string {
        const auto found = std::find(phi.indices.begin(), phi.indices.end(), name);
        if (found == phi.indices.end()) return parameter(name);
        uses[static_cast<std::size_t>(found - phi.indices.begin())]++;
        return fmt::format("{}({})", cast ? "(long)" : "", name);
      },
      [&](const QuasiAffine& operand) { return never_negative(context, phi, operand, tree.known); }};
  if (from_zero) return value.c_text(how, operand);
  const std::string difference = fmt::format("{} - {}", value.c_text(how), lowers.at(&band));
  return operand ? fmt::format("({})", difference) : difference;
}

void Draft::define(std::size_t array, const std::string& body) {
  const Phi& phi = tree.phis[array];
  const std::string macro = names->fresh("_" + phi.identifier());
  code.macros[phi.label()] = macro;
  code.uses[phi.label()] = index_uses[array];
  code.uses[phi.label()].resize(phi.indices.size());
  line(fmt::format("#define {}({}) {}", macro, joined(phi.indices), body));
  code.release += fmt::format("#undef {}\n", macro);
}

std::string original_element(const Phi& phi) {
  std::string text = phi.array;
  for (const std::string& index : phi.indices) text += "[" + index + "]";
  return phi.field.empty() ? text : text + "." + phi.field;
}

std::string moved_element(const Phi& phi, const Generated& group) {
  return fmt::format("{}({})", group.macros.at(phi.label()), joined(phi.indices));
}

std::string copy_loop(const Phi& phi, const Generated& group, const std::string& to, const std::string& from) {
  std::string heads;
  std::string tails;
  std::string indent;
  const std::vector<std::string>& bounds = group.bounds.at(phi.label());
  for (std::size_t i = 0; i < phi.indices.size(); i++) {
    heads += fmt::format("{0}for (long {1} = 0; {1} < {2}; {1}++) {{\n", indent, phi.indices[i], bounds[i]);
    tails = fmt::format("{}}}\n{}", indent, tails);
    indent += "  ";
  }
  return fmt::format("{}{}{} = {};\n{}", heads, indent, to, from, tails);
}

Result<Generated> generate(isl_ctx* context, const std::vector<Phi>& phis, const Known& known, Form form, Names& names,
                           Cells cells, const std::map<std::string, std::string>& captured) {
  Draft draft;
  draft.context = context;
  draft.names = &names;
  Result<LayoutTree> tree = build_tree(context, phis, known, cells);
  if (!tree) return tl::unexpected<Error>(tree.error());
  draft.tree = std::move(*tree);
  const poly::IslBudget budget(context, kProofOperations, kProofNet);
  draft.parameters = captured;
  name_sizes(draft);
  if (cells == Cells::kOwn) describe_bounds(draft);
  draft.line("// Lengths of dimensions");
  const Isl<isl_set> sizes = sizes_context(context, draft.tree.phis, known);
  if (Result<void> written = write_lengths(draft, draft.tree.root, sizes); !written)
    return tl::unexpected<Error>(written.error());
  const Result<void> written = form == Form::kField ? write_field(draft) : write_structs(draft);
  if (!written) return tl::unexpected<Error>(written.error());
  if (budget.exceeded()) return fail(ErrorKind::kBadInput, "isl gave up: the maps are too complicated");
  capture_sizes(draft, captured);
  if (cells == Cells::kShared) return std::move(draft.code);
  for (const Phi& phi : draft.tree.phis) {
    const std::string moved = moved_element(phi, draft.code);
    draft.code.copy_in[phi.label()] = copy_loop(phi, draft.code, moved, original_element(phi));
    draft.code.copy_out[phi.label()] = copy_loop(phi, draft.code, original_element(phi), moved);
  }
  return std::move(draft.code);
}

}  // namespace loopfold::layout
