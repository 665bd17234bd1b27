// The linearised field: sizes of nodes from the leaves up, one allocation, a sum for each element's place.
#include <fmt/format.h>

#include <algorithm>

#include "advise/layout/generate_forms.h"

namespace loopfold::layout {

namespace {

class FieldWriter {
 public:
  explicit FieldWriter(Draft& draft) : draft_(draft) {}

  void write() {
    const bool elements = draft_.tree.one_type;
    draft_.line(fmt::format("// Sizes of nodes, in {}", elements ? "elements" : "bytes"));
    const std::string total = size_of(draft_.tree.root);
    const std::string type = elements ? draft_.tree.phis[0].element.name : "char";
    field_ = draft_.names->fresh("field");
    draft_.line("// Memory for the new layout");
    draft_.line(fmt::format("{0}* const {1} = ({0}*)malloc((size_t)({2}) * sizeof({0}));", type, field_, total));
    draft_.line(fmt::format("if ({} == NULL) abort();", field_));
    draft_.line("// Accesses in the new layout");
    for (std::size_t array = 0; array < draft_.tree.phis.size(); array++) define(array);
    draft_.code.release = fmt::format("free({});\n", field_) + draft_.code.release;
  }

 private:
  /// Names (and writes) the size of a node, its children first. A leaf is a number or a sizeof.
  std::string size_of(const Node& node) {
    if (node.kind == Node::Kind::kLeaf) {
      const ElementType& element = draft_.tree.phis[node.arrays[0]].element;
      return sizes_[&node] = draft_.tree.one_type ? "1" : fmt::format("(long)sizeof({})", element.name);
    }
    if (node.kind == Node::Kind::kBand) {
      const std::string child = size_of(node.children[0]);
      const std::string name = draft_.names->fresh("band_" + node.path);
      const std::string& length = draft_.lengths.at(&node);
      draft_.line(child == "1" ? fmt::format("const long {} = {};", name, length)
                               : fmt::format("const long {} = {} * {};", name, length, child));
      return sizes_[&node] = name;
    }
    return size_of_sequence(node);
  }

  std::string size_of_sequence(const Node& node) {
    std::string sum;
    for (std::size_t i = 0; i < node.children.size(); i++) {
      const Node& child = node.children[i];
      const std::string size = size_of(child);
      if (i > 0) offsets_[&child] = aligned(sum, alignment_of(draft_.tree, child), child);
      sum = i == 0 ? size : fmt::format("{} + {}", offsets_[&child], size);
    }
    const std::string name = draft_.names->fresh(fmt::format("seq_{}", node.path.empty() ? "root" : node.path));
    draft_.line(fmt::format("const long {} = {};", name, rounded(sum, alignment_of(draft_.tree, node))));
    return sizes_[&node] = name;
  }

  static std::string rounded(const std::string& sum, std::int64_t alignment) {
    return alignment == 1 ? sum : fmt::format("({} + {}) / {} * {}", sum, alignment - 1, alignment, alignment);
  }

  /// Where a later child of a sequence begins: a sum of sizes as it is, or, if it must be aligned, a name for it.
  std::string aligned(const std::string& sum, std::int64_t alignment, const Node& child) {
    if (alignment == 1) return sum;
    const std::string name = draft_.names->fresh("at_" + child.path);
    draft_.line(fmt::format("const long {} = {};", name, rounded(sum, alignment)));
    return name;
  }

  void define(std::size_t array) {
    std::string steps;
    add_steps(draft_.tree.root, array, steps);
    const std::string sum = steps.empty() ? std::string("0") : steps;
    const std::string& type = draft_.tree.phis[array].element.name;
    draft_.define(array, draft_.tree.one_type ? fmt::format("{}[{}]", field_, sum)
                                              : fmt::format("(*({}*)({} + ({})))", type, field_, sum));
  }

  void add_steps(const Node& node, std::size_t array, std::string& sum) {
    if (node.kind == Node::Kind::kLeaf) return;
    const auto through = [&](const Node& child) {
      return std::find(child.arrays.begin(), child.arrays.end(), array) != child.arrays.end();
    };
    const Node& child = *std::find_if(node.children.begin(), node.children.end(), through);
    std::string step;
    if (node.kind == Node::Kind::kSequence) {
      const auto offset = offsets_.find(&child);
      step = offset == offsets_.end() ? "" : offset->second;
    } else {
      const std::string& size = sizes_.at(&child);
      step = draft_.position(node, array);
      if (size != "1") step += " * " + size;
    }
    if (!step.empty()) sum = sum.empty() ? step : fmt::format("{} + {}", sum, step);
    add_steps(child, array, sum);
  }

  Draft& draft_;
  std::string field_;
  std::map<const Node*, std::string> sizes_;
  std::map<const Node*, std::string> offsets_;  // of children of sequences that are not first
};

}  // namespace

Result<void> write_field(Draft& draft) {
  for (const Phi& phi : draft.tree.phis)
    if (!draft.tree.one_type && phi.element.alignment > 16)
      return fail(ErrorKind::kBadInput, fmt::format("{}: elements aligned to {} bytes cannot be mixed with others",
                                                    phi.label(), phi.element.alignment));
  FieldWriter(draft).write();
  return {};
}

}  // namespace loopfold::layout
