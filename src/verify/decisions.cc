#include "verify/decisions.h"

namespace loopfold::verify {

namespace {

std::uint64_t key(structure::FunctionId function, structure::NodeId node) {
  return std::uint64_t{function} << 32 | node;
}

}  // namespace

Decisions::Decisions(const structure::Structure& structure, Iterations& iterations)
    : structure_(structure), iterations_(iterations), post_dominators_(structure.flow.functions().size()) {
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
const structure::PostDominators& Decisions::post_dominators(structure::FunctionId function) {
  std::unique_ptr<structure::PostDominators>& known = post_dominators_[function];
  if (!known) {
    const structure::Function& f = structure_.flow.functions()[function];
    std::vector<structure::NodeId> exits;
    for (std::size_t i = 0; i < f.exits.size(); ++i)
      if (f.left[i] != structure::kLeftByCut) exits.push_back(f.exits[i]);
    known = std::make_unique<structure::PostDominators>(f.graph, exits);
  }
  return *known;
}

bool Decisions::decides(structure::FunctionId function, structure::NodeId node) {
  const structure::Digraph& graph = structure_.flow.functions()[function].graph;
  return graph.successors(node).size() + (post_dominators(function).leaves(node) ? 1 : 0) > 1;
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
  while (!frame.open.empty() && frame.open.back().join == node) {
    drop(frame.open.back().decision);
    frame.open.pop_back();
  }
  return innermost(frame);
}

void Decisions::depart(std::uint64_t stack, NodeIndex last, IterationId iteration) {
  Frame& frame = stacks_[stack].back();
  drop(frame.last);
  frame.last = {last, iteration};
  keep(frame.last);
  if (!decides(frame.id.function, frame.node)) return;
  const structure::NodeId join = post_dominators(frame.id.function).immediate(frame.node);
  if (!frame.open.empty() && frame.open.back().join == join) {
    drop(frame.open.back().decision);
    frame.open.pop_back();
  }
  frame.open.push_back({{last, iteration}, join});
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
