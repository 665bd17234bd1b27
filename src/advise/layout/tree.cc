#include "advise/layout/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "poly/budget.h"

namespace loopfold::layout {

namespace {

using poly::Isl;

class Builder {
 public:
  Builder(isl_ctx* context, const LayoutTree& tree, Cells cells) : context_(context), tree_(tree), cells_(cells) {}

  Result<Node> build(std::vector<std::size_t> arrays, std::size_t dimension, const std::string& path) {
    if (const std::optional<Error> error = uneven(arrays, dimension)) return tl::unexpected<Error>(*error);
    if (tree_.phis[arrays[0]].target.size() == dimension) return leaf(std::move(arrays), path);
    if (tree_.phis[arrays[0]].target[dimension].is_constant()) return sequence(std::move(arrays), dimension, path);
    return band(std::move(arrays), dimension, path);
  }

 private:
  const Phi& phi(std::size_t array) const { return tree_.phis[array]; }

  std::optional<Error> uneven(const std::vector<std::size_t>& arrays, std::size_t dimension) const {
    const Phi& first = phi(arrays[0]);
    for (const std::size_t array : arrays) {
      const Phi& other = phi(array);
      if ((first.target.size() == dimension) != (other.target.size() == dimension))
        return Error{ErrorKind::kBadInput,
                     fmt::format("the vector of {} ends where that of {} goes on; give them different numbers before "
                                 "dimension {}",
                                 first.target.size() == dimension ? first.label() : other.label(),
                                 first.target.size() == dimension ? other.label() : first.label(), dimension + 1)};
      if (first.target.size() == dimension) continue;
      if (first.target[dimension].is_constant() != other.target[dimension].is_constant())
        return Error{
            ErrorKind::kBadInput,
            fmt::format("dimension {} is a number for {} and an expression for {}; it must be the same kind for "
                        "arrays that share the dimensions before it",
                        dimension + 1, first.target[dimension].is_constant() ? first.label() : other.label(),
                        first.target[dimension].is_constant() ? other.label() : first.label())};
    }
    return std::nullopt;
  }

  bool one_element_type(const std::vector<std::size_t>& arrays) const {
    return std::all_of(arrays.begin(), arrays.end(),
                       [&](std::size_t array) { return phi(array).element == phi(arrays[0]).element; });
  }

  Result<Node> leaf(std::vector<std::size_t> arrays, const std::string& path) const {
    if (arrays.size() > 1 && (cells_ == Cells::kOwn || !one_element_type(arrays)))
      return fail(ErrorKind::kBadInput,
                  fmt::format("{} and {} have the same vector", phi(arrays[0]).label(), phi(arrays[1]).label()));
    Node node;
    node.path = path;
    node.arrays = std::move(arrays);
    return node;
  }

  Result<Node> sequence(std::vector<std::size_t> arrays, std::size_t dimension, const std::string& path) {
    std::map<std::int64_t, std::vector<std::size_t>> groups;
    for (const std::size_t array : arrays) groups[phi(array).target[dimension].constant()].push_back(array);
    Node node;
    node.kind = Node::Kind::kSequence;
    node.path = path;
    node.dimension = dimension;
    for (auto& [number, group] : groups) {
      const std::string below = fmt::format("{}{}{}", path, path.empty() ? "" : "_", node.children.size());
      Result<Node> child = build(std::move(group), dimension + 1, below);
      if (!child) return child;
      node.children.push_back(std::move(*child));
    }
    node.arrays = std::move(arrays);
    return node;
  }

  Result<Node> band(std::vector<std::size_t> arrays, std::size_t dimension, const std::string& path) {
    Node node;
    node.kind = Node::Kind::kBand;
    node.path = path.empty() ? "0" : path;
    node.dimension = dimension;
    if (const std::optional<Error> error = measure(arrays, node)) return tl::unexpected<Error>(*error);
    const Phi& first = phi(arrays[0]);
    const bool band_below = first.target.size() > dimension + 1 && !first.target[dimension + 1].is_constant();
    node.arrays = arrays;
    Result<Node> child = build(std::move(arrays), dimension + 1, band_below ? node.path + "_0" : node.path);
    if (!child) return child;
    node.children.push_back(std::move(*child));
    return node;
  }

  /// Smallest and greatest value of the dimension over all elements, as functions of the sizes.
  std::optional<Error> measure(const std::vector<std::size_t>& arrays, Node& node) const {
    Isl<isl_pw_aff> upper;
    for (const std::size_t array : arrays) {
      Phi one = phi(array);
      const QuasiAffine value = one.target[node.dimension];
      one.target = {value};
      const Isl<isl_set> range(isl_map_range(isl_map_of(context_, one, tree_.known).release()));
      Isl<isl_pw_aff> low(isl_set_dim_min(range.copy(), 0));
      Isl<isl_pw_aff> high(isl_set_dim_max(range.copy(), 0));
      node.from_zero = node.from_zero && never_negative(context_, phi(array), value, tree_.known);
      node.lower = node.lower ? Isl<isl_pw_aff>(isl_pw_aff_union_min(node.lower.release(), low.release())) : low;
      upper = upper ? Isl<isl_pw_aff>(isl_pw_aff_union_max(upper.release(), high.release())) : high;
      node.padding = std::max(node.padding, phi(array).padding[node.dimension]);
    }
    const Isl<isl_val> one(isl_val_one(context_));
    if (!node.from_zero) upper = Isl<isl_pw_aff>(isl_pw_aff_sub(upper.release(), node.lower.copy()));
    node.length = Isl<isl_pw_aff>(isl_pw_aff_add_constant_val(upper.release(), one.copy()));
    const Isl<isl_set> sizes = sizes_context(context_, tree_.phis, tree_.known);
    node.length = Isl<isl_pw_aff>(isl_pw_aff_coalesce(isl_pw_aff_gist_params(node.length.release(), sizes.copy())));
    node.lower = Isl<isl_pw_aff>(isl_pw_aff_coalesce(isl_pw_aff_gist_params(node.lower.release(), sizes.copy())));
    if (node.length && node.lower) return std::nullopt;
    return Error{ErrorKind::kBadInput, fmt::format("{}: the length of dimension {} cannot be computed",
                                                   phi(arrays[0]).label(), node.dimension + 1)};
  }

  isl_ctx* context_;
  const LayoutTree& tree_;
  Cells cells_;
};

std::optional<std::int64_t> value_at(const Isl<isl_pw_aff>& function, const Known& sizes) {
  Isl<isl_pw_aff> rest = function;
  const isl_size count = isl_pw_aff_dim(rest.get(), isl_dim_param);
  if (count < 0) return std::nullopt;
  Isl<isl_set> domain(isl_set_universe(isl_pw_aff_get_domain_space(rest.get())));
  for (isl_size i = 0; i < count; i++) {
    const char* const name = isl_pw_aff_get_dim_name(rest.get(), isl_dim_param, static_cast<unsigned>(i));
    const auto found = sizes.find(name);
    if (found == sizes.end()) return std::nullopt;
    Isl<isl_val> value(isl_val_int_from_si(isl_pw_aff_get_ctx(rest.get()), found->second));
    domain = Isl<isl_set>(isl_set_fix_val(domain.release(), isl_dim_param, static_cast<unsigned>(i), value.release()));
  }
  const Isl<isl_point> point(isl_set_sample_point(domain.release()));
  const Isl<isl_val> value(isl_pw_aff_eval(rest.release(), point.copy()));
  if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  return isl_val_get_num_si(value.get());
}

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

}  // namespace

std::int64_t alignment_of(const LayoutTree& tree, const Node& node) {
  if (tree.one_type) return 1;
  std::int64_t result = 1;
  for (const std::size_t array : node.arrays) result = std::max(result, tree.phis[array].element.alignment);
  return result;
}

Result<LayoutTree> build_tree(isl_ctx* context, std::vector<Phi> phis, const Known& known, Cells cells) {
  if (phis.empty()) return fail(ErrorKind::kInternal, "a layout of no arrays");
  LayoutTree tree;
  tree.phis = std::move(phis);
  tree.known = known;
  const auto same_type = [&](const Phi& phi) { return phi.element == tree.phis[0].element; };
  tree.one_type = std::all_of(tree.phis.begin(), tree.phis.end(), same_type);
  std::vector<std::size_t> all(tree.phis.size());
  for (std::size_t i = 0; i < all.size(); i++) all[i] = i;
  const poly::IslBudget budget(context, kProofOperations, kProofNet);
  Result<Node> root = Builder(context, tree, cells).build(std::move(all), 0, "");
  if (!root) return tl::unexpected<Error>(root.error());
  tree.root = std::move(*root);
  return tree;
}

std::int64_t Field::bytes() const { return tree_->one_type ? size_ * tree_->phis[0].element.size : size_; }

std::int64_t Field::offset(std::size_t array, const std::vector<std::int64_t>& element) const {
  const Phi& phi = tree_->phis.at(array);
  Known values = sizes_;
  for (std::size_t i = 0; i < phi.indices.size(); i++) values[phi.indices[i]] = element.at(i);
  std::int64_t result = 0;
  for (const Step& step : steps_.at(array)) {
    result += step.offset;
    if (step.stride != 0) result += (phi.target[step.dimension].evaluated(values) - step.lower) * step.stride;
  }
  return result;
}

Result<Field> field_of(const LayoutTree& tree, const Known& sizes) {
  Field field;
  field.tree_ = &tree;
  field.sizes_ = sizes;
  field.steps_.resize(tree.phis.size());
  bool missing = false;
  const auto measure = [&](const auto& self, const Node& node) -> std::int64_t {
    if (node.kind == Node::Kind::kLeaf) return tree.one_type ? 1 : tree.phis[node.arrays[0]].element.size;
    if (node.kind == Node::Kind::kSequence) {
      std::int64_t at = 0;
      for (const Node& child : node.children) {
        at = rounded_up(at, alignment_of(tree, child));
        for (const std::size_t array : child.arrays) field.steps_[array].push_back({node.dimension, 0, 0, at});
        at += self(self, child);
      }
      return rounded_up(at, alignment_of(tree, node));
    }
    const std::int64_t cell = self(self, node.children[0]);
    const std::optional<std::int64_t> length = value_at(node.length, sizes);
    const std::optional<std::int64_t> lower = node.from_zero ? 0 : value_at(node.lower, sizes);
    missing = missing || !length || !lower;
    for (const std::size_t array : node.arrays)
      field.steps_[array].push_back({node.dimension, lower.value_or(0), cell, 0});
    return (length.value_or(0) + node.padding) * cell;
  };
  field.size_ = measure(measure, tree.root);
  if (missing) return fail(ErrorKind::kBadInput, "a size of the program is not given, or some array has no element");
  return field;
}

}  // namespace loopfold::layout
