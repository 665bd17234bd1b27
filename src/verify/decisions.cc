#include "verify/decisions.h"

namespace loopfold::verify {

namespace {

std::uint64_t key(structure::FunctionId function, structure::NodeId node) {
  return std::uint64_t{function} << 32 | node;
}

}  // namespace

Decisions::Decisions(const structure::Structure& structure, Iterations& iterations)
    : structure_(structure), iterations_(iterations) {
  const std::span<const structure::CallSite> calls = structure.flow.calls();
  for (std::size_t i = 1; i < calls.size(); ++i)
    if (calls[i].caller == calls[i - 1].caller && calls[i].node == calls[i - 1].node)
      varied_.insert(key(calls[i].caller, calls[i].node));
}

Decisions::~Decisions() {
  for (auto& [id, stack] : stacks_)
    for (Frame& frame : stack) drop(frame);
}

void Decisions::drop(Frame& frame) {
  drop(frame.call);
  drop(frame.last);
  for (Open& open : frame.open) drop(open.decision);
}

/// What recording cut off was no end of a function.
const structure::PostDominators& Decisions::post_dominators(structure::FunctionId function, structure::LoopId loop) {
  const auto known = post_dominators_.find(key(function, loop));
  if (known != post_dominators_.end()) return known->second;
  const structure::Function& f = structure_.flow.functions()[function];
  const structure::LoopForest& forest = structure_.forests[function];
  std::vector<structure::NodeId> exits;
  for (std::size_t i = 0; i < f.exits.size(); ++i)
    if (f.left[i] != structure::kLeftByCut) exits.push_back(f.exits[i]);
  if (loop == structure::kNoLoop)
    return post_dominators_.emplace(key(function, loop), structure::PostDominators(f.graph, exits)).first->second;
  std::vector<structure::Edge> edges;
  const structure::NodeId header = forest.loops()[loop].header;
  for (structure::NodeId node = 0; node < f.graph.size(); ++node) {
    if (!forest.contains(loop, node)) continue;
    for (const structure::NodeId next : f.graph.successors(node)) {
      if (next == header || !forest.contains(loop, next))
        exits.push_back(node);
      else
        edges.push_back({node, next});
    }
  }
  const structure::Digraph iteration(f.graph.size(), edges);
  return post_dominators_.emplace(key(function, loop), structure::PostDominators(iteration, exits, header))
      .first->second;
}

Decisions::Extent Decisions::find_extent(structure::FunctionId function, structure::NodeId node) {
  const structure::Digraph& graph = structure_.flow.functions()[function].graph;
  const structure::PostDominators& whole = post_dominators(function, structure::kNoLoop);
  if (graph.successors(node).size() + (whole.leaves(node) ? 1 : 0) < 2) return {};
  const structure::LoopForest& forest = structure_.forests[function];
  structure::LoopId unmet = structure::kNoLoop;
  for (structure::LoopId loop = forest.innermost(node);; loop = forest.loops()[loop].parent) {
    const structure::NodeId join = post_dominators(function, loop).immediate(node);
    if (join != structure::kNoNode || loop == structure::kNoLoop) {
      if (join != structure::kNoNode && unmet != structure::kNoLoop && forest.contains(unmet, join))
        return {true, structure::kNoNode, unmet};
      return {true, join, structure::kNoLoop};
    }
    unmet = loop;
  }
}

const Decisions::Extent& Decisions::extent(structure::FunctionId function, structure::NodeId node) {
  const auto known = extents_.find(key(function, node));
  if (known != extents_.end()) return known->second;
  return extents_.emplace(key(function, node), find_extent(function, node)).first->second;
}

template <class Condition>
void Decisions::close(Frame& frame, const Condition& condition) {
  std::erase_if(frame.open, [&](Open& open) {
    if (!condition(open.extent)) return false;
    drop(open.decision);
    return true;
  });
}

Decision Decisions::decision_of_call(const Frame& caller) const {
  return varied_.contains(key(caller.id.function, caller.node)) ? caller.last : innermost(caller);
}

Decision Decisions::arrive(std::uint64_t stack, std::size_t depth, FrameId id, structure::NodeId node) {
  Stack& frames = stacks_[stack];
  while (frames.size() > depth) {
    drop(frames.back());
    frames.pop_back();
  }
  if (frames.size() == depth && !frames.empty() && frames.back().id != id) {
    Frame next;
    next.id = id;
    next.call = innermost(frames.back());
    keep(next.call);
    drop(frames.back());
    frames.back() = std::move(next);
  }
  while (frames.size() < depth) {
    Frame next;
    next.id = id;
    if (!frames.empty()) next.call = decision_of_call(frames.back());
    keep(next.call);
    frames.push_back(std::move(next));
  }
  Frame& frame = frames.back();
  frame.node = node;
  const structure::LoopForest& forest = structure_.forests[id.function];
  close(frame, [&](const Extent& extent) {
    if (extent.loop == structure::kNoLoop) return extent.join == node;
    return forest.loops()[extent.loop].header == node || !forest.contains(extent.loop, node);
  });
  return innermost(frame);
}

Decision Decisions::current(std::uint64_t stack) const {
  const auto found = stacks_.find(stack);
  return found == stacks_.end() || found->second.empty() ? Decision{} : innermost(found->second.back());
}

void Decisions::depart(std::uint64_t stack, NodeIndex last, IterationId iteration, NeedsId needs) {
  Frame& frame = stacks_[stack].back();
  drop(frame.last);
  frame.last = {last, iteration, needs};
  keep(frame.last);
  const Extent& decided = extent(frame.id.function, frame.node);
  if (!decided.decides) return;
  close(frame, [&](const Extent& extent) { return extent == decided; });
  frame.open.push_back({{last, iteration, needs}, decided});
  keep(frame.open.back().decision);
}

void Decisions::leave(std::uint64_t stack, std::size_t depth) {
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return;
  Stack& frames = found->second;
  while (!frames.empty() && frames.size() >= depth) {
    drop(frames.back());
    frames.pop_back();
  }
}

void Decisions::end(std::uint64_t stack) {
  const auto found = stacks_.find(stack);
  if (found == stacks_.end()) return;
  for (Frame& frame : found->second) drop(frame);
  stacks_.erase(found);
}

}  // namespace loopfold::verify
