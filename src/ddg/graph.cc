#include "ddg/graph.h"

namespace loopfold::ddg {

namespace {

bool counts(const structure::Context& context) {
  using Kind = structure::Context::Kind;
  return context.kind == Kind::kStart || context.kind == Kind::kLoop || context.kind == Kind::kRecursion;
}

}  // namespace

std::uint16_t dimensions_of(const structure::LoopTree& tree, structure::ContextId context) {
  std::uint16_t dimensions = 0;
  for (; context != structure::LoopTree::root() && context != structure::kNoContext; context = tree[context].parent)
    dimensions = static_cast<std::uint16_t>(dimensions + counts(tree[context]));
  return dimensions;
}

std::uint16_t shared_dimensions(const structure::LoopTree& tree, structure::ContextId a, structure::ContextId b) {
  while (a != b) {
    structure::ContextId& later = a > b ? a : b;
    later = tree[later].parent;
  }
  return dimensions_of(tree, a);
}

}  // namespace loopfold::ddg
