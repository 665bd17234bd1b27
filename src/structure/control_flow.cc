// Pass 1. The graphs grow while the trace is read: a node's first two successors are kept with the node, so that a jump
// that was seen before, and nearly every jump was, costs two comparisons.
#include "structure/control_flow.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "structure/run_walk.h"

namespace loopfold::structure {

/// The client of pass 1.
class ControlFlowBuilder {
 public:
  struct Frame {
    FunctionId function = kNoFunction;
    NodeId current = 0;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {};
  using S = Activations<ControlFlowBuilder>::Stack;

  ControlFlowBuilder(const CodeMap& code, const std::unordered_set<std::uint64_t>& ways_back, ControlFlow& result)
      : result_(result) {
    result_.ways_back_ = ways_back;
    result_.function_at_.assign(code.places(), kNoFunction);
    result_.owner_.assign(code.places(), {});
  }

  void begin(S& stack) {
    Frame& frame = stack.frames.back().data;
    frame = {function(stack.frames.back().function), 0};
    if (std::find(result_.roots_.begin(), result_.roots_.end(), frame.function) == result_.roots_.end())
      result_.roots_.push_back(frame.function);
  }
  void call(S& stack) {
    const Frame& caller = stack.frames[stack.frames.size() - 2].data;
    Frame& frame = stack.frames.back().data;
    frame = {function(stack.frames.back().function), 0};
    add_call(caller, frame.function);
  }
  bool keeps_tail_caller(S&, PlaceId) { return false; }
  void tail_call(S& stack, bool pushed) {
    if (pushed) return call(stack);
    Frame& frame = stack.frames.back().data;
    const Frame caller = frame;
    add_exit(caller, kLeftByReturn);
    frame = {function(stack.frames.back().function), 0};
    add_call(caller, frame.function);
  }
  void leave(S& stack) {
    const Leaving why = stack.leaving;
    add_exit(stack.frames.back().data, why == Leaving::kReturned  ? kLeftByReturn
                                       : why == Leaving::kUnwound ? kLeftByUnwinding
                                                                  : kLeftByCut);
  }
  void end(S&) {}
  /// Nearly always along an edge that is known, to a place of this function alone.
  [[gnu::always_inline]] void jump(S& stack, PlaceId place) {
    Frame& frame = stack.frames.back().data;
    const ControlFlow::Owner& owner = result_.owner_[place];
    const Node& from = nodes_[frame.function][frame.current];
    if (owner.function == frame.function && (owner.node == from.first || owner.node == from.second)) [[likely]] {
      frame.current = owner.node;
      return;
    }
    jump_otherwise(stack, place);
  }
  [[gnu::noinline]] void jump_otherwise(S& stack, PlaceId place) {
    go(stack, node(stack.frames.back().data.function, place));
  }
  void land(S& stack, PlaceId place) {
    const FunctionId function = stack.frames.back().data.function;
    if (is_way_back(function, place)) return jump(stack, place);
    const auto [found, added] = result_.shared_.try_emplace(ControlFlow::landing_key(function, place), kNoNode);
    if (added) {
      found->second = add_node(function, place);
      landings_.push_back({function, place, found->second});
    }
    go(stack, found->second);
  }
  void go(S& stack, NodeId to) {
    Frame& frame = stack.frames.back().data;
    Node& from = nodes_[frame.function][frame.current];
    frame.current = to;
    if (from.first == to || from.second == to) return;
    add_edge(from, to);
  }
  bool was_at(PlaceId place) const {
    return result_.owner_[place].function != kNoFunction ||
           std::any_of(landings_.begin(), landings_.end(), [&](const Landing& l) { return l.place == place; });
  }

  void set_thread(trace::ThreadId) {}
  void run_part(S&, const Part&) {}
  void mark(S&) {}
  void begin_path(S&) {}
  PathEnd end_path(S&, std::size_t) { return PathEnd::kRepeatable; }
  void repeat(S&, std::size_t, std::uint64_t) {}
  void stop_watching() {}

  void finish(const std::vector<std::uint8_t>& starts) {
    result_.starts_ = starts;
    for (FunctionId id = 0; id < nodes_.size(); ++id) {
      std::vector<Edge> edges;
      Function& function = result_.functions_[id];
      for (NodeId from = 0; from < nodes_[id].size(); ++from) {
        const Node& node = nodes_[id][from];
        if (node.first != kNoNode) edges.push_back({from, node.first});
        if (node.second != kNoNode) edges.push_back({from, node.second});
        for (const NodeId to : node.more) edges.push_back({from, to});
        if (node.left == 0) continue;
        function.exits.push_back(from);
        function.left.push_back(node.left);
      }
      function.graph = Digraph(function.places.size(), edges);
    }
    const auto key = [](const CallSite& site) { return std::tuple(site.caller, site.node, site.callee); };
    std::sort(result_.calls_.begin(), result_.calls_.end(),
              [&](const CallSite& a, const CallSite& b) { return key(a) < key(b); });
  }

  /// Adds landings from which control comes to the same landing again without passing the first return. Did it find
  /// any?
  bool find_ways_back(std::unordered_set<std::uint64_t>& ways_back) const {
    bool found = false;
    for (const Landing& landing : landings_) {
      const NodeId first = result_.node_of(landing.function, landing.place);
      if (first == kNoNode || !returns(result_.functions_[landing.function].graph, landing.node, first)) continue;
      ways_back.insert(ControlFlow::landing_key(result_.functions_[landing.function].entry, landing.place));
      found = true;
    }
    return found;
  }

 private:
  struct Landing {
    FunctionId function = kNoFunction;
    PlaceId place = kNoPlace;
    NodeId node = kNoNode;
  };

  bool is_way_back(FunctionId function, PlaceId place) const {
    return !result_.ways_back_.empty() &&
           result_.ways_back_.contains(ControlFlow::landing_key(result_.functions_[function].entry, place));
  }

  /// Is there a way from `node` to itself that does not go through `without`?
  static bool returns(const Digraph& graph, NodeId node, NodeId without) {
    std::vector<bool> reached(graph.size());
    reached[without] = true;
    std::vector<NodeId> pending = {node};
    while (!pending.empty()) {
      const NodeId from = pending.back();
      pending.pop_back();
      for (const NodeId to : graph.successors(from)) {
        if (to == node) return true;
        if (reached[to]) continue;
        reached[to] = true;
        pending.push_back(to);
      }
    }
    return false;
  }

  struct Node {
    NodeId first = kNoNode;
    NodeId second = kNoNode;
    std::uint8_t left = 0;  // bits of LeftBy
    FunctionId last_callee = kNoFunction;
    std::vector<NodeId> more;
    std::vector<FunctionId> callees;
  };

  FunctionId function(PlaceId entry) {
    FunctionId& id = result_.function_at_[entry];
    if (id == kNoFunction) {
      id = static_cast<FunctionId>(result_.functions_.size());
      result_.functions_.push_back({entry, {}, {}, {}, {}, {}});
      nodes_.emplace_back();
      node(id, entry);
    }
    return id;
  }

  NodeId node(FunctionId function, PlaceId place) {
    ControlFlow::Owner& owner = result_.owner_[place];
    if (owner.function == function) return owner.node;
    if (owner.function == kNoFunction) {
      owner = {function, add_node(function, place)};
      return owner.node;
    }
    const auto [found, added] = result_.shared_.try_emplace(std::uint64_t{function} << 32 | place, kNoNode);
    if (added) found->second = add_node(function, place);
    return found->second;
  }

  NodeId add_node(FunctionId function, PlaceId place) {
    result_.functions_[function].places.push_back(place);
    nodes_[function].emplace_back();
    return static_cast<NodeId>(nodes_[function].size() - 1);
  }

  static void add_edge(Node& from, NodeId to) {
    if (from.first == kNoNode)
      from.first = to;
    else if (from.second == kNoNode)
      from.second = to;
    else if (std::find(from.more.begin(), from.more.end(), to) == from.more.end())
      from.more.push_back(to);
  }

  void add_exit(const Frame& frame, LeftBy how) { nodes_[frame.function][frame.current].left |= how; }

  void add_call(const Frame& caller, FunctionId callee) {
    Node& node = nodes_[caller.function][caller.current];
    if (node.last_callee == callee) return;
    node.last_callee = callee;
    if (std::find(node.callees.begin(), node.callees.end(), callee) != node.callees.end()) return;
    node.callees.push_back(callee);
    result_.calls_.push_back({caller.function, caller.current, callee});
  }

  ControlFlow& result_;
  std::vector<std::vector<Node>> nodes_;  // by function
  std::vector<Landing> landings_;
};

void ControlFlow::add_gate(FunctionId id, NodeId header, std::span<const NodeId> inner) {
  Function& function = functions_[id];
  const auto gate = static_cast<NodeId>(function.places.size());
  function.places.push_back(function.places[header]);
  function.gates.resize(function.places.size(), kNoNode);
  function.gates[header] = gate;
  std::vector<Edge> edges = {{gate, header}};
  for (NodeId from = 0; from < gate; ++from)
    for (const NodeId to : function.graph.successors(from))
      edges.push_back({from, to == header && !std::binary_search(inner.begin(), inner.end(), from) ? gate : to});
  function.graph = Digraph(function.places.size(), edges);
}

NodeId ControlFlow::behind_gates(FunctionId id, NodeId node) const {
  const std::vector<NodeId>& gates = functions_[id].gates;
  for (;;) {
    const auto behind = std::find(gates.begin(), gates.end(), node);
    if (behind == gates.end()) return node;
    node = static_cast<NodeId>(behind - gates.begin());
  }
}

ControlFlow find_control_flow(const trace::Reader& reader, const CodeMap& code, std::string& damage,
                              const std::function<void(double)>& progress) {
  std::vector<std::uint8_t> starts(code.places());
  for (PlaceId place = 0; place < code.places(); ++place) starts[place] = code.is_start(place);
  std::unordered_set<std::uint64_t> ways_back;
  for (;;) {
    ControlFlow result;
    ControlFlowBuilder builder(code, ways_back, result);
    RunWalk<ControlFlowBuilder> walk(code, starts, builder);
    walk.walk(reader, damage, progress);
    if (walk.starts_changed()) continue;
    builder.finish(starts);
    if (builder.find_ways_back(ways_back)) continue;
    return result;
  }
}

}  // namespace loopfold::structure
