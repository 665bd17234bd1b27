#include "verify/flow.h"

namespace loopfold::verify {

std::size_t PartKeyHash::operator()(const PartKey& key) const {
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 0x9e3779b97f4a7c15u; hash ^= hash >> 29; };
  mix(key.context);
  mix(std::uint64_t{key.function} << 32 | key.node);
  mix(std::uint64_t{key.place} << 32 | key.detail);
  mix(static_cast<std::uint64_t>(key.kind));
  return hash;
}

void Flow::begin_replay() {
  unwindings.clear();
  for (Node& node : nodes) {
    node.count = 0;
    node.displaces = false;
    node.frame = true;
    node.values.clear();
    node.stores.clear();
    node.uses.clear();
  }
  for (PartNode& part : parts) {
    part.count = 0;
    part.control = {};
  }
}

Use& Flow::use(std::vector<Use>& uses, std::uint8_t operand, std::uint8_t lane) {
  for (Use& use : uses)
    if (use.operand == operand && use.lane == lane) return use;
  Use& use = uses.emplace_back();
  use.operand = operand;
  use.lane = lane;
  return use;
}

Edge& Flow::edge(Use& use, NodeIndex from, std::uint16_t level) {
  for (Edge& edge : use.edges)
    if (edge.from == from && edge.level == level) return edge;
  Edge& edge = use.edges.emplace_back();
  edge.from = from;
  edge.level = level;
  return edge;
}

}  // namespace loopfold::verify
