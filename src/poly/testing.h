// Hand-made dependence graphs for tests: a loop tree, statements with rectangular domains, streams folded for real.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ddg/graph.h"
#include "fold/fold.h"
#include "poly/describe.h"
#include "profile/profile.h"
#include "structure/loop_tree.h"

namespace loopfold::poly::testing {

/// One polyhedron with constant bounds.
inline fold::Piece box_piece(const std::vector<std::pair<std::int64_t, std::int64_t>>& bounds) {
  fold::Piece piece;
  piece.points = 1;
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    const std::vector<std::int64_t> none(k);
    piece.ranges.push_back({{bounds[k].first, none}, {bounds[k].second, none}, 1});
    piece.points *= static_cast<std::uint64_t>(bounds[k].second - bounds[k].first + 1);
  }
  return piece;
}

/// constant + coefficients * point, with its extremes over the bounds of a box.
inline fold::Output linear_output(const fold::Piece& box, std::int64_t constant,
                                  const std::vector<std::int64_t>& coefficients) {
  fold::Output output;
  output.value = {constant, coefficients};
  output.top.assign(coefficients.size(), false);
  output.minimum = output.maximum = constant;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    const std::int64_t low = coefficients[k] * box.ranges[k].lower.constant;
    const std::int64_t high = coefficients[k] * box.ranges[k].upper.constant;
    output.minimum += std::min(low, high);
    output.maximum += std::max(low, high);
  }
  return output;
}

inline fold::Folded fold_of(std::vector<fold::Piece> pieces) {
  fold::Folded folded;
  for (const fold::Piece& piece : pieces) {
    folded.points += piece.points;
    folded.gave_up = folded.gave_up || !piece.exact_domain;
    for (const fold::Output& output : piece.outputs) folded.widened = folded.widened || !output.affine();
  }
  folded.max_intermediate = pieces.size();
  folded.pieces = std::move(pieces);
  return folded;
}

/// Contexts and the nodes that show them: each context has the node of the same number.
class Tree {
 public:
  Tree() { add_node(profile::TreeNode::Kind::kRoot, std::nullopt, 0); }

  structure::ContextId start(std::uint64_t entries) {
    const structure::ContextId id = add(structure::Context::Kind::kStart, structure::LoopTree::root());
    tree[id].entries = entries;
    return id;
  }
  structure::ContextId loop(structure::ContextId parent, int line) {
    const structure::ContextId id = add(structure::Context::Kind::kLoop, parent);
    profile.tree[id].source = profile::Source{"/src/hist.c", line};
    return id;
  }
  structure::ContextId call(structure::ContextId parent) { return add(structure::Context::Kind::kCall, parent); }

  Context context() {
    return {tree, nodes, [this](std::uint64_t address) -> const symbols::Location& { return locate(address); }, 0};
  }

  structure::LoopTree tree;
  std::vector<std::uint32_t> nodes;
  profile::Profile profile;

 private:
  structure::ContextId add(structure::Context::Kind kind, structure::ContextId parent) {
    structure::ContextKey key;
    key.kind = kind;
    key.parent = parent;
    key.loop = key.site = ++made_;
    const structure::ContextId id = tree.child(key, made_, 0);
    using NodeKind = profile::TreeNode::Kind;
    add_node(kind == structure::Context::Kind::kLoop ? NodeKind::kLoop : NodeKind::kCall, parent, id);
    return id;
  }

  void add_node(profile::TreeNode::Kind kind, std::optional<std::uint32_t> parent, std::uint32_t id) {
    profile::TreeNode node;
    node.id = id;
    node.kind = kind;
    node.parent = parent;
    node.function = "f";
    profile.tree.push_back(node);
    nodes.push_back(id);
  }

  /// Addresses 100..199 are hist.c:(address - 100), in a program that was loaded at 0x400000.
  const symbols::Location& locate(std::uint64_t address) {
    symbols::Location& location = locations_[address];
    if (address < 100) return location;
    location.module = "hist";
    location.module_offset = address - 100;
    location.function = "main";
    if (address < 200) {
      location.file = "/src/hist.c";
      location.line = static_cast<int>(address - 100);
    }
    return location;
  }

  std::uint32_t made_ = 0;
  std::map<std::uint64_t, symbols::Location> locations_;
};

inline ddg::Statement statement(ddg::StatementId id, structure::ContextId context, fold::Folded domain,
                                const std::vector<std::uint64_t>& addresses) {
  ddg::Statement statement;
  statement.id = id;
  statement.context = context;
  statement.count = domain.points;
  statement.domain = std::move(domain);
  for (const std::uint64_t address : addresses) statement.instructions.push_back({address, 0});
  return statement;
}

/// The environment and what is not known, and a heap object.
inline std::vector<ddg::Object> objects() {
  std::vector<ddg::Object> objects(3);
  objects[0] = {0, ddg::Object::Kind::kEnvironment, "environment", "", 0, 0, 0, "", 0};
  objects[1] = {1, ddg::Object::Kind::kUnknown, "unknown", "", 0, 0, 0, "", 0};
  objects[2] = {2, ddg::Object::Kind::kHeap, "malloc in rows", "", 80, 10, 107, "", 0};
  return objects;
}

}  // namespace loopfold::poly::testing
