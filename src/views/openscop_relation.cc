#include "views/openscop_relation.h"

#include <fmt/format.h>
#include <isl/mat.h>

#include <vector>

namespace loopfold::views {

namespace {

using poly::Isl;

struct FreeMatrix {
  void operator()(isl_mat* matrix) const { isl_mat_free(matrix); }
};
using Matrix = std::unique_ptr<isl_mat, FreeMatrix>;

void add_rows(std::string& text, const Matrix& matrix, int kind) {
  const isl_size rows = isl_mat_rows(matrix.get());
  const isl_size columns = isl_mat_cols(matrix.get());
  for (isl_size row = 0; row < rows; row++) {
    text += fmt::format("{}", kind);
    for (isl_size column = 0; column < columns; column++) {
      const Isl<isl_val> value(isl_mat_get_element_val(matrix.get(), row, column));
      text += " " + poly::take_text(isl_val_to_str(value.get()));
    }
    text += '\n';
  }
}

/// One part. Its local dimensions become dimensions behind the others, with what defines them as constraints.
std::string part_of(Isl<isl_basic_set> part, unsigned outputs) {
  const isl_size dimensions = isl_basic_set_dim(part.get(), isl_dim_set);
  const Isl<isl_basic_set> flat(isl_basic_set_flatten(isl_basic_set_lift(part.release())));
  const isl_size all = isl_basic_set_dim(flat.get(), isl_dim_set);
  const Matrix equations(
      isl_basic_set_equalities_matrix(flat.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst));
  const Matrix inequalities(
      isl_basic_set_inequalities_matrix(flat.get(), isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst));
  if (dimensions < 0 || all < dimensions || !equations || !inequalities) return "";
  const isl_size rows = isl_mat_rows(equations.get()) + isl_mat_rows(inequalities.get());
  std::string text = fmt::format("{} {} {} {} {} 0\n", rows, all + 2, outputs,
                                 static_cast<unsigned>(dimensions) - outputs, all - dimensions);
  add_rows(text, equations, 0);
  add_rows(text, inequalities, 1);
  return text;
}

std::string nothing(unsigned outputs, unsigned inputs) {
  std::string text = fmt::format("1 {0} {1} {2} 0 0\n1", outputs + inputs + 2, outputs, inputs);
  for (unsigned i = 0; i < outputs + inputs; i++) text += " 0";
  return text + " -1\n";
}

}  // namespace

std::string openscop_relation(const char* kind, Isl<isl_set> set, unsigned outputs) {
  struct Parts {
    unsigned outputs;
    std::vector<std::string> texts;
  } parts{outputs, {}};
  const isl_size dimensions = isl_set_dim(set.get(), isl_dim_set);
  set = Isl<isl_set>(isl_set_make_disjoint(isl_set_compute_divs(set.release())));
  if (!set || dimensions < 0) return "";
  isl_set_foreach_basic_set(
      set.get(),
      [](isl_basic_set* part, void* user) {
        auto& into = *static_cast<Parts*>(user);
        into.texts.push_back(part_of(Isl<isl_basic_set>(part), into.outputs));
        return isl_stat_ok;
      },
      &parts);
  if (parts.texts.empty()) parts.texts.push_back(nothing(outputs, static_cast<unsigned>(dimensions) - outputs));
  std::string text = fmt::format("{}\n", kind);
  if (parts.texts.size() > 1) text += fmt::format("# parts of a union\n{}\n", parts.texts.size());
  for (const std::string& part : parts.texts) {
    if (part.empty()) return "";
    text += part;
  }
  return text + "\n";
}

std::string openscop_relation(const char* kind, Isl<isl_map> map) {
  const isl_size outputs = isl_map_dim(map.get(), isl_dim_out);
  if (outputs < 0) return "";
  Isl<isl_set> set(isl_set_flatten(isl_map_wrap(isl_map_reverse(map.release()))));
  return openscop_relation(kind, std::move(set), static_cast<unsigned>(outputs));
}

}  // namespace loopfold::views
