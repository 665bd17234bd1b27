// Nested structures: a struct for each sequence but the root, pointers for bands, elements for leaves.
//
// A chain of bands is allocated as one block of what it ends in, and one table of pointers for each band but the last:
// for lengths l0, l1, l2 a block of l0*l1*l2 elements, a table of l0*l1 pointers into it, and one of l0 pointers into
// that. So [i][j][k] works, and the elements are contiguous. Each struct at the end of a chain has its own members
// allocated.
#include <fmt/format.h>

#include <algorithm>

#include "advise/layout/generate_forms.h"

namespace loopfold::layout {

namespace {

class StructWriter {
 public:
  explicit StructWriter(Draft& draft) : draft_(draft) {}

  void write() {
    const Node& root = draft_.tree.root;
    const bool split = root.kind == Node::Kind::kSequence;
    define_structs(root, true);
    draft_.line("// Memory for the new layout");
    const std::vector<Node> none;
    for (const Node& child : split ? root.children : none) allocate_variable(child);
    if (!split) allocate_variable(root);
    draft_.line("// Accesses in the new layout");
    for (std::size_t array = 0; array < draft_.tree.phis.size(); array++) define(array);
    draft_.code.release = release_ + draft_.code.release;
  }

 private:
  /// What a band's pointers lead to in the end, and the bands on the way.
  struct Chain {
    std::vector<const Node*> bands;
    const Node* end = nullptr;
  };

  static Chain chain_of(const Node& node) {
    Chain chain;
    chain.end = &node;
    while (chain.end->kind == Node::Kind::kBand) {
      chain.bands.push_back(chain.end);
      chain.end = &chain.end->children[0];
    }
    return chain;
  }

  std::string type_of(const Node& node) {
    const Chain chain = chain_of(node);
    const std::string base = chain.end->kind == Node::Kind::kLeaf ? draft_.tree.phis[chain.end->arrays[0]].element.name
                                                                  : "struct " + structs_.at(chain.end);
    return base + std::string(chain.bands.size(), '*');
  }

  /// "band_1_0" for a band, "seq_1_0" for a struct, "leaf_1_0" for an element.
  std::string member_name(const Node& node) {
    const auto [at, is_new] = members_.try_emplace(&node);
    if (is_new) {
      const char* const kind = node.kind == Node::Kind::kBand       ? "band_"
                               : node.kind == Node::Kind::kSequence ? "seq_"
                                                                    : "leaf_";
      at->second = draft_.names->fresh(kind + (node.path.empty() ? "root" : node.path));
    }
    return at->second;
  }

  void define_structs(const Node& node, bool root) {
    for (const Node& child : node.children) define_structs(child, false);
    if (node.kind != Node::Kind::kSequence || root) return;
    if (structs_.empty()) draft_.line("// Structures");
    structs_[&node] = draft_.names->fresh("seq_" + node.path);
    std::string members;
    for (const Node& child : node.children) members += fmt::format("  {} {};\n", type_of(child), member_name(child));
    draft_.line(fmt::format("struct {} {{\n{}}};", structs_[&node], members));
  }

  void allocate_variable(const Node& node) {
    const std::string name = member_name(node);
    draft_.line(fmt::format("{} {};", type_of(node), name));
    std::string release;
    draft_.code.declarations += allocation(node, name, 0, release);
    release_ = release + release_;
  }

  std::string counter(int depth) {
    while (counters_.size() <= static_cast<std::size_t>(depth))
      counters_.push_back(draft_.names->fresh(fmt::format("i{}", counters_.size())));
    return counters_[static_cast<std::size_t>(depth)];
  }

  /// Statements that allocate what `place` (of the node's type) points to, if it does; `release` frees it again.
  std::string allocation(const Node& node, const std::string& place, int depth, std::string& release) {
    const Chain chain = chain_of(node);
    if (chain.bands.empty()) {
      return chain.end->kind == Node::Kind::kSequence ? members(*chain.end, place + ".", depth, release) : "";
    }
    const std::string base = type_of(*chain.end);
    const std::size_t count = chain.bands.size();
    std::string text;
    std::string total;
    for (std::size_t level = 0; level < count; level++) {
      total += (level == 0 ? "" : " * ") + draft_.lengths.at(chain.bands[level]);
      const std::string type = base + std::string(count - 1 - level, '*');
      const std::string table = place + repeated("[0]", level);
      text += fmt::format("{0} = ({1}*)malloc((size_t)({2}) * sizeof({1}));\nif ({0} == NULL) abort();\n", table, type,
                          total);
      release = fmt::format("free({});\n", table) + release;
      if (level > 0) text += fill(place, level, chain, depth);
    }
    if (chain.end->kind != Node::Kind::kSequence) return text;
    return text + each_member(*chain.end, place + repeated("[0]", count - 1), total, depth, release);
  }

  static std::string repeated(const std::string& part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; i++) text += part;
    return text;
  }

  /// The pointers of the table above `level` lead to its rows.
  std::string fill(const std::string& place, std::size_t level, const Chain& chain, int depth) {
    std::string rows;
    for (std::size_t i = 0; i < level; i++) rows += (i == 0 ? "" : " * ") + draft_.lengths.at(chain.bands[i]);
    const std::string i = counter(depth);
    const std::string table = place + repeated("[0]", level - 1);
    return fmt::format("for (long {0} = 1; {0} < {1}; {0}++) {{\n  {2}[{0}] = {2}[0] + {0} * {3};\n}}\n", i, rows,
                       table, draft_.lengths.at(chain.bands[level]));
  }

  /// Each struct of a block has members that may point to blocks of their own.
  std::string each_member(const Node& sequence, const std::string& block, const std::string& total, int depth,
                          std::string& release) {
    const std::string i = counter(depth);
    std::string inner_release;
    const std::string inner = members(sequence, fmt::format("{}[{}].", block, i), depth + 1, inner_release);
    if (inner.empty()) return "";
    const std::string head = fmt::format("for (long {0} = 0; {0} < {1}; {0}++) {{\n", i, total);
    release = head + inner_release + "}\n" + release;
    return head + inner + "}\n";
  }

  std::string members(const Node& sequence, const std::string& prefix, int depth, std::string& release) {
    std::string text;
    for (const Node& child : sequence.children) {
      std::string freed;
      text += allocation(child, prefix + member_name(child), depth, freed);
      release = freed + release;
    }
    return text;
  }

  void define(std::size_t array) {
    std::string path;
    const Node& root = draft_.tree.root;
    const bool split = root.kind == Node::Kind::kSequence;
    add_steps(split ? below(root, array) : root, array, path, true);
    draft_.define(array, path);
  }

  static const Node& below(const Node& node, std::size_t array) {
    const auto through = [&](const Node& child) {
      return std::find(child.arrays.begin(), child.arrays.end(), array) != child.arrays.end();
    };
    return *std::find_if(node.children.begin(), node.children.end(), through);
  }

  /// From a variable or member on: "band_1[(e2)].band_1_0[(e1)]".
  void add_steps(const Node& node, std::size_t array, std::string& path, bool named) {
    if (named) path += (path.empty() ? "" : ".") + member_name(node);
    if (node.kind == Node::Kind::kLeaf) return;
    if (node.kind == Node::Kind::kBand) path += fmt::format("[{}]", draft_.position(node, array, false));
    add_steps(below(node, array), array, path, node.kind == Node::Kind::kSequence);
  }

  Draft& draft_;
  std::map<const Node*, std::string> structs_;
  std::map<const Node*, std::string> members_;
  std::vector<std::string> counters_;
  std::string release_;
};

}  // namespace

Result<void> write_structs(Draft& draft) {
  for (const Phi& phi : draft.tree.phis)
    if (phi.element.alignment > 16)
      return fail(ErrorKind::kBadInput, fmt::format("{}: elements aligned to {} bytes cannot be in nested structures",
                                                    phi.label(), phi.element.alignment));
  StructWriter(draft).write();
  return {};
}

}  // namespace loopfold::layout
