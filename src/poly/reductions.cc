// Finds the reductions of a loop; see reductions.h for what they are.
//
// From what: the flow of values in the loop (loop_flow.h), and the dependence graph behind it (loop_reads.h). How:
// strongly connected components of the flow, with an edge from each branch to what it decides, are the candidates: what
// a reduction carries comes back to itself. In each, all uses of the variable are collected (reduction_chain.h) and
// judged, and once more with those that come before the component, if need be:
// - every instruction that makes a value of the variable is a step of the one operation, passes a value on, or chooses
//   between values of the variable by a condition that does not hang on it; or it is a minimum or maximum (choices.h);
// - every value that a use gets from elsewhere in the loop is put there by a minimum or maximum;
// - the variable comes into an iteration in one place: one register or one cell. (`u = s + x; s = t; t = u` are two
//   sums in turns, and none of them can be done in parts.) Or it comes in cells that differ, and then each is written
//   back to where it was read;
// - no value of the variable that a later step has used is used behind the loop; and none is stored where nothing in
//   the loop reads it, but for the cell that the variable is kept in, too (mirrored.h);
// - no copy of it is put aside for what is behind the loop: `if (i == 10) early = s`, or `t = s` in each iteration.
// What
//   is used behind the loop comes by the ways that lead on to the next step.
// Then in each iteration the variable becomes itself, combined with something that does not depend on it, and the order
// of the iterations does not matter but for rounding.
//
// Cost: linear in the flow for the components; a chain is left at the first use that does not fit, which is usually
// soon. Exactness: see the header; nothing is assumed that was not seen in all instances of the run.
#include "poly/reductions.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "poly/mirrored.h"
#include "structure/digraph.h"

namespace loopfold::poly {
namespace {

using trace::Associative;

/// The operation of all steps, and what they work on.
struct Operation {
  Associative operation = Associative::kNone;
  bool floating = false;
  unsigned bytes = 0;  // of one element; 0: of a minimum or maximum by comparison
  std::optional<Choice::Order> order;
};

Associative without_sign(Associative operation) {
  return operation == Associative::kSubtract ? Associative::kAdd : operation;
}

/// Whether the low bytes of results depend on the low bytes of operands only.
bool is_modular(const Operation& operation) {
  return !operation.floating && operation.operation != Associative::kMin && operation.operation != Associative::kMax;
}

/// Whether a copy that a node's value goes into, and that does not lead on to a use of the chain, is used behind the
/// loop.
using PutAside = std::function<bool(std::uint32_t node, const std::function<bool(const Use&)>& is_in_chain)>;

/// Judges one candidate.
class Judge {
 public:
  Judge(const LoopReads& reads, const ReductionChain& chain, const Decisions& decisions, const UsedOutside& used,
        const PutAside& aside)
      : reads_(reads),
        same_(reads),
        chain_(chain),
        choices_(reads, chain, decisions),
        decisions_(decisions),
        used_(used),
        aside_(aside) {}

  std::optional<Reduction> judge() {
    if (is_only_kept()) return Reduction{};
    for (const std::uint32_t node : chain_.values())
      if (!takes_part(node)) return std::nullopt;
    for (const Use& use : chain_.uses())
      if (!is_defined_by_chain(use)) return std::nullopt;
    if (operation_.operation == Associative::kNone || !comparisons_choose() || !puts_are_fresh()) return std::nullopt;
    for (const std::uint32_t branch : chain_.branches())
      if (!choices_.decides_only_chain(branch, puts_, used_)) return std::nullopt;
    if (!has_one_place() || !keeps_width()) return std::nullopt;
    find_mirrors();
    return has_no_leftovers() && puts_nothing_aside() ? result() : std::nullopt;
  }

 private:
  std::uint64_t count(std::uint32_t node) const { return reads_.count(node); }

  /// Nothing in the loop does more with the variable than to keep it, or to replace it by another value.
  bool is_only_kept() {
    if (!chain_.compares().empty()) return false;
    for (const std::uint32_t node : chain_.values()) {
      const trace::InstructionFacts& facts = reads_.facts(node);
      if (!is_conditional_move(facts) && !copied_operand(facts)) return false;
    }
    if (!has_one_place() || array_) return false;
    const bool replaced = std::any_of(chain_.values().begin(), chain_.values().end(),
                                      [&](std::uint32_t node) { return gets_another_value(node); });
    return !replaced || has_no_leftovers();
  }

  bool gets_another_value(std::uint32_t node) const {
    if (is_conditional_move(reads_.facts(node)) && chain_.operands(node).size() == 1) return true;
    for (const std::uint8_t operand : chain_.operands(node))
      for (const Source& source : reads_.sources(node, operand))
        if (source.in_loop() && !chain_.values().contains(source.node)) return true;
    return false;
  }

  bool agree(const Operation& step, std::uint32_t node) {
    if (operation_.operation == Associative::kNone) {
      operation_ = step;
      at_ = reads_.node(node).at;
      return true;
    }
    if (step.operation != operation_.operation || step.floating != operation_.floating) return false;
    if (step.bytes != 0 && operation_.bytes != 0 && step.bytes != operation_.bytes) return false;
    if (step.order && operation_.order && *step.order != *operation_.order) return false;
    if (step.bytes != 0) operation_.bytes = step.bytes;
    if (step.order) operation_.order = step.order;
    return true;
  }

  bool agree(const Choice& choice, std::uint32_t node) {
    const bool floating = choice.order == Choice::Order::kFloating;
    return agree(Operation{choice.operation, floating, 0, choice.order}, node);
  }

  /// An instruction that makes a value of the variable.
  bool takes_part(std::uint32_t node) {
    const trace::InstructionFacts& facts = reads_.facts(node);
    if (facts.associative != Associative::kNone) return is_step(node);
    if (is_conditional_move(facts)) return is_choice(node);
    return chain_.operands(node).size() == 1;
  }

  /// The operands that are uses of the variable, but for what is only kept beside the result: a scalar operation with a
  /// vector register hands on the rest of it.
  std::vector<std::uint8_t> computed_operands(std::uint32_t node) const {
    const std::vector<trace::RegisterUse>& reads = reads_.facts(node).reads;
    std::vector<std::uint8_t> operands = chain_.operands(node);
    std::erase_if(operands, [&](std::uint8_t operand) { return operand < reads.size() && reads[operand].merge; });
    return operands;
  }

  bool is_step(std::uint32_t node) {
    const trace::InstructionFacts& facts = reads_.facts(node);
    const std::vector<std::uint8_t> operands = computed_operands(node);
    if (operands.size() != 1) return false;
    const bool memory = operands[0] >= ddg::kFirstMemoryOperand;
    if (facts.accumulator == trace::kMemoryOperand && !memory) return false;
    if (facts.accumulator >= 0 && operands[0] != facts.accumulator) return false;
    if (facts.writes.size() > 1 && !only_memory_is_used(node)) return false;
    moving_.push_back(node);
    return agree({without_sign(facts.associative), facts.floating, facts.element_bytes, {}}, node);
  }

  /// xadd: the sum is in memory, and what the register gets is not used. mul: the other half would be used.
  bool only_memory_is_used(std::uint32_t node) const {
    if ((reads_.facts(node).kinds & trace::kStore) == 0 || used_(node)) return false;
    const std::vector<std::uint32_t>& out = reads_.flow().out[node];
    return std::all_of(out.begin(), out.end(),
                       [&](std::uint32_t e) { return reads_.flow().edges[e].kind == ddg::Dependence::Kind::kMemory; });
  }

  /// A conditional move: between two values of the variable, or between it and another value as a minimum or maximum.
  bool is_choice(std::uint32_t node) {
    for (const Source& source : reads_.sources(node, ddg::kFlagsOperand)) {
      if (!chain_.compares().contains(source.node)) continue;
      const std::optional<Choice> choice = choices_.by_move(node);
      if (!choice) return false;
      chosen_.insert(node);
      moving_.push_back(node);
      return agree(*choice, node);
    }
    return chain_.operands(node).size() == 2;
  }

  /// All that a use gets is from the chain, from before the loop, or put there by a minimum or maximum.
  bool is_defined_by_chain(const Use& use) {
    for (const Source& source : reads_.sources(use.node, use.operand)) {
      if (!source.in_loop()) continue;
      if (source.lane != 0) return false;
      if (chain_.values().contains(source.node)) continue;
      const std::optional<Choice> choice = choices_.by_branch(use, source);
      if (!choice || !agree(*choice, choice->compare)) return false;
      deciding_.insert(choice->branch);
      if (!choice->from_branch) {
        copies_over_ = true;
        continue;
      }
      puts_.insert(source.node);
      put_under_[choice->branch].insert(source.node);
    }
    return true;
  }

  /// Every comparison decides on moves and branches that are choices.
  bool comparisons_choose() {
    for (const std::uint32_t compare : chain_.compares()) {
      for (const std::uint32_t e : reads_.flow().out[compare]) {
        const FlowEdge& edge = reads_.flow().edges[e];
        if ((edge.carried | edge.inside) == 0) continue;
        if (chosen_.contains(edge.to) || deciding_.contains(edge.to)) continue;
        if (!chain_.branches().contains(edge.to)) return false;
        const std::optional<Choice> choice = choices_.by_one_way(edge.to);
        if (!choice || !agree(*choice, compare)) return false;
      }
    }
    return true;
  }

  /// A value that is put under a branch replaces what was compared; so that must be what the variable was. With one
  /// such branch and no other step it is. With more, all but the last one in an iteration must be seen, each time, by
  /// what follows them in the same iteration.
  bool puts_are_fresh() const {
    if (put_under_.empty()) return true;
    if (copies_over_) return false;
    if (put_under_.size() == 1 && moving_.empty()) return true;
    unsigned last = 0;
    for (const auto& [branch, puts] : put_under_)
      last += std::all_of(puts.begin(), puts.end(), [&](std::uint32_t put) { return is_seen(put); }) ? 0 : 1;
    for (const std::uint32_t node : moving_) last += is_seen(node) ? 0 : 1;
    return last <= 1;
  }

  bool is_seen(std::uint32_t node) const {
    const std::vector<std::uint32_t>& out = reads_.flow().out[node];
    return std::any_of(out.begin(), out.end(), [&](std::uint32_t e) {
      const FlowEdge& edge = reads_.flow().edges[e];
      return chain_.has({edge.to, edge.operand}) && edge.inside >= count(node);
    });
  }

  bool has_one_place() {
    places_.clear();
    for (const Use& use : chain_.uses()) {
      const std::optional<std::vector<Place>> places = reads_.entries(use.node, use.operand);
      if (!places) return false;
      for (const Place& place : *places) {
        const bool known = std::any_of(places_.begin(), places_.end(),
                                       [&](const Place& other) { return reads_.same_place(place, other); });
        if (!known) places_.push_back(place);
      }
    }
    const auto differs = [](const Place& place) { return place.kind == Place::Kind::kCells; };
    array_ = std::any_of(places_.begin(), places_.end(), differs);
    if (!array_) return places_.size() == 1 && stays_in_cells();
    return std::all_of(places_.begin(), places_.end(), differs) && writes_back();
  }

  /// Whatever is stored goes to the same cell each time: where only some of it is read again, the rest is elsewhere.
  bool stays_in_cells() const {
    const auto stays = [&](std::uint32_t node) {
      if ((reads_.facts(node).kinds & trace::kStore) == 0) return true;
      const ddg::Access* store = reads_.store(reads_.node(node).at);
      return store != nullptr && reads_.stays(*store);
    };
    return std::all_of(chain_.values().begin(), chain_.values().end(), stays) &&
           std::all_of(puts_.begin(), puts_.end(), stays);
  }

  /// Each cell that is read is written back, and nothing else: whatever is stored goes to where it was loaded.
  bool writes_back() const {
    for (const auto& [branch, puts] : put_under_)
      for (const std::uint32_t put : puts)
        if (!goes_back(branch_use(branch), put)) return false;
    for (const std::uint32_t node : chain_.values()) {
      if ((reads_.facts(node).kinds & trace::kStore) == 0) continue;
      for (const std::uint8_t operand : chain_.operands(node))
        if (!goes_back({node, operand}, node)) return false;
    }
    return true;
  }

  /// The use of the variable that a branch's comparison makes.
  Use branch_use(std::uint32_t branch) const {
    for (const Source& source : reads_.sources(branch, ddg::kFlagsOperand))
      if (source.in_loop()) return {source.node, chain_.operands(source.node)[0]};
    return {branch, 0};
  }

  /// Whether all loads that a use gets values of the variable from, in the same iteration, are of the cell that `store`
  /// writes.
  bool goes_back(const Use& use, std::uint32_t store) const {
    if ((reads_.facts(store).kinds & trace::kStore) == 0) return false;
    std::set<Use> seen;
    std::vector<Use> todo = {use};
    while (!todo.empty()) {
      const Use next = todo.back();
      todo.pop_back();
      if (!seen.insert(next).second) continue;
      if (next.operand >= ddg::kFirstMemoryOperand) {
        if (!same_.cells(next.node, next.operand, store)) return false;
        continue;
      }
      const std::vector<Source> sources = reads_.sources(next.node, next.operand);
      const bool loaded = std::any_of(sources.begin(), sources.end(),
                                      [&](const Source& source) { return is_always_loaded_by(source, next); });
      for (const Source& source : sources) {
        if (loaded && !source.in_loop()) continue;
        if (!source.in_loop() || source.carried != 0 || source.before != 0) return false;
        if (!reads_.is_tight(source.node, next.node, next.operand) && !stays_inside(store)) return false;
        for (const std::uint8_t operand : chain_.operands(source.node)) todo.push_back({source.node, operand});
      }
    }
    return true;
  }

  /// Each time from one load, in the same iteration. What the load has got may be there beside it, if some of it was
  /// put there as a copy before the loop.
  bool is_always_loaded_by(const Source& source, const Use& use) const {
    return source.in_loop() && source.carried == 0 && source.before == 0 && source.lane == 0 &&
           source.inside >= count(use.node) && chain_.has({source.node, ddg::kFirstMemoryOperand});
  }

  bool stays_inside(std::uint32_t store) const {
    const ddg::Access* access = reads_.store(reads_.node(store).at);
    return access != nullptr && reads_.stays_inside(*access);
  }

  /// Values are not cut on the way, unless the variable is no wider than what is left.
  bool keeps_width() const {
    return std::all_of(chain_.values().begin(), chain_.values().end(), [&](std::uint32_t node) {
      const trace::InstructionFacts& facts = reads_.facts(node);
      const bool extends = is_extension(facts);
      if (!extends && !copied_operand(facts)) return true;
      const std::uint8_t operand = chain_.operands(node)[0];
      const ddg::Access* load = reads_.load(reads_.node(node).at, operand);
      const unsigned width = operand < facts.reads.size() ? facts.reads[operand].width
                             : load != nullptr            ? load->size
                                                          : 0;
      if (!extends && width != 0 && width >= operation_.bytes) return true;
      return is_modular(operation_) && std::all_of(places_.begin(), places_.end(), [&](const Place& place) {
               return place.access != nullptr && place.access->size <= width;
             });
    });
  }

  /// What is not used in the loop any more is where the variable ends; what is used by a later step is not used behind
  /// the loop.
  bool has_no_leftovers() const {
    return std::all_of(chain_.values().begin(), chain_.values().end(), [&](std::uint32_t node) {
      bool goes_on = false;
      bool always = false;
      std::map<Use, std::uint64_t> taken;
      for (const std::uint32_t e : reads_.flow().out[node]) {
        const FlowEdge& edge = reads_.flow().edges[e];
        if ((edge.carried | edge.inside) == 0) continue;
        goes_on = true;
        if (!chain_.values().contains(edge.to) || mirrors_.contains(edge.to)) continue;
        always = (taken[{edge.to, edge.operand}] += edge.carried + edge.inside) >= count(node) || always;
      }
      if (!goes_on) return array_ ? (reads_.facts(node).kinds & trace::kStore) != 0 : mirrors_.contains(node);
      return !always || !used_(node);
    });
  }

  bool puts_nothing_aside() const {
    return std::none_of(chain_.values().begin(), chain_.values().end(), [&](std::uint32_t node) {
      return !mirrors_.contains(node) && aside_(node, [&](const Use& use) { return chain_.has(use); });
    });
  }

  /// A variable in memory that a compiler keeps in a register, and stores whenever it has changed: the cell holds its
  /// value when the loop is entered, each step is stored there before the next one, and nothing else writes there.
  void find_mirrors() {
    if (array_ || !puts_.empty() || places_.size() != 1 || places_[0].kind != Place::Kind::kRegister) return;
    std::set<std::uint32_t> stores;
    for (const std::uint32_t step : moving_) {
      const std::optional<std::uint32_t> store = stored_at_once(step);
      if (!store) return;
      stores.insert(*store);
    }
    const ddg::Access* cell = stores.empty() ? nullptr : reads_.store(reads_.node(*stores.begin()).at);
    if (cell == nullptr || reads_.writes_otherwise(cell->object, stores)) return;
    for (const std::uint32_t store : stores) {
      const ddg::Access* other = reads_.store(reads_.node(store).at);
      if (other == nullptr || !reads_.stays(*other) || !reads_.same_address(*cell, *other)) return;
    }
    for (const Use& use : chain_.uses())
      if (!begins_in_cell(reads_, decisions_, use, *cell)) return;
    mirrors_ = stores;
  }

  /// The store of what a step makes, behind it in the same piece of code, with no other step in between.
  std::optional<std::uint32_t> stored_at_once(std::uint32_t step) const {
    const CodePoint& at = reads_.node(step).at;
    for (const std::uint32_t e : reads_.flow().out[step]) {
      const FlowEdge& edge = reads_.flow().edges[e];
      const CodePoint& to = reads_.node(edge.to).at;
      if (to.statement != at.statement || to.instruction <= at.instruction || edge.inside < count(step)) continue;
      const trace::InstructionFacts& facts = reads_.facts(edge.to);
      if ((facts.kinds & trace::kStore) == 0 || copied_operand(facts) != edge.operand) continue;
      const bool between = std::any_of(moving_.begin(), moving_.end(), [&](std::uint32_t other) {
        const CodePoint& its = reads_.node(other).at;
        return at < its && its < to;
      });
      if (!between) return edge.to;
    }
    return std::nullopt;
  }

  std::optional<Reduction> result() const {
    Reduction reduction;
    reduction.operation = operation_.operation;
    reduction.floating = operation_.floating;
    reduction.array = array_;
    reduction.at = at_;
    if (!mirrors_.empty()) {
      reduction.in_memory = true;
      reduction.object = reads_.store(reads_.node(*mirrors_.begin()).at)->object;
    }
    for (const Place& place : places_) {
      if (place.kind == Place::Kind::kRegister) continue;
      reduction.in_memory = true;
      if (place.access != nullptr) reduction.object = place.access->object;
    }
    return reduction;
  }

  const LoopReads& reads_;
  SameValue same_;
  const ReductionChain& chain_;
  Choices choices_;
  const Decisions& decisions_;
  const UsedOutside& used_;
  const PutAside& aside_;
  Operation operation_;
  CodePoint at_;
  std::vector<std::uint32_t> moving_;                           // steps, and choices by moves
  std::set<std::uint32_t> chosen_;                              // conditional moves that are choices
  std::set<std::uint32_t> deciding_;                            // branches that are
  std::set<std::uint32_t> puts_;                                // what puts another value into the variable
  std::map<std::uint32_t, std::set<std::uint32_t>> put_under_;  // the same, by branch
  std::set<std::uint32_t> mirrors_;                             // stores that keep a cell equal to the variable
  bool copies_over_ = false;
  std::vector<Place> places_;
  bool array_ = false;
};

/// By node, what stands for its strongly connected component. Edges are uses in the same iteration or a later one, and
/// lead from branches in the loop to what runs under them, where data decide that.
std::vector<std::uint32_t> components_of(const LoopReads& reads, const Decisions& decisions) {
  const LoopFlow& flow = reads.flow();
  std::vector<structure::Edge> edges;
  for (const FlowEdge& edge : flow.edges)
    if (edge.from != FlowEdge::kOutside && (edge.carried | edge.inside) != 0) edges.push_back({edge.from, edge.to});
  for (std::uint32_t node = 0; node < flow.nodes.size(); ++node) {
    if (!flow.nodes[node].data_decided) continue;
    for (const ddg::StatementId decider : decisions.deciders(flow.nodes[node].at.statement)) {
      const std::size_t size = reads.graph().statements[decider].instructions.size();
      const std::uint32_t branch = reads.node_at({decider, static_cast<std::uint16_t>(size - 1)});
      if (branch != FlowEdge::kOutside) edges.push_back({branch, node});
    }
  }
  return structure::strong_component_heads(structure::Digraph(flow.nodes.size(), edges), {});
}

}  // namespace

/// Uses by producer, of all dependences: by the last writer, with copies followed here.
class ReductionFinder::Index {
 public:
  explicit Index(const ddg::Graph& graph) : graph_(graph) {
    for (const ddg::Dependence& d : graph.dependences)
      if (d.from != ddg::kNoStatement) uses_.push_back(&d);
    std::stable_sort(uses_.begin(), uses_.end(),
                     [](const ddg::Dependence* a, const ddg::Dependence* b) { return from_of(*a) < from_of(*b); });
  }

  /// Whether something that is no copy uses it behind the loop, or in a later entry of it. What the loop's own
  /// instructions hand on is theirs; only copies that the loop sees through are followed in it.
  bool is_used_outside(const LoopReads& reads, std::uint32_t node) const {
    return is_used_outside(reads, reads.node(node).at, true);
  }
  /// `whole`: uses of what is above the value in its register count, too.
  bool is_used_outside(const LoopReads& reads, const CodePoint& first, bool whole) const {
    std::set<CodePoint> seen;
    std::vector<CodePoint> todo = {first};
    while (!todo.empty()) {
      const CodePoint at = todo.back();
      todo.pop_back();
      if (!seen.insert(at).second) continue;
      if (seen.size() > kMostCopies) return true;
      const bool in_loop = reads.is_in_loop(at.statement);
      for (const ddg::LocalFlow& local : graph_.statements[at.statement].local) {
        if (local.from != at.instruction || (local.lane != 0 && !whole)) continue;
        const CodePoint to{at.statement, local.to};
        if (in_loop ? is_seen_through(reads, to) : passes_on(reads, to, local.operand)) {
          todo.push_back(to);
        } else if (!in_loop) {
          return true;
        }
      }
      bool used = false;
      for_each_use(at, [&](const ddg::Dependence& d) {
        if (d.lane != 0 && !whole) return;
        const CodePoint to{d.to, d.to_instruction};
        const bool leaves = !in_loop || reads.leaves_loop(d.to, d.carried);
        if (leaves ? passes_on(reads, to, d.operand) : is_seen_through(reads, to)) {
          todo.push_back(to);
        } else if (leaves) {
          used = true;
        }
      });
      if (used) return true;
    }
    return false;
  }

  /// Whether one of the loop's copies of what a node makes does not lead on to the chain, but behind the loop; or is
  /// made in the next iteration, which makes another value, and leads behind the loop too.
  bool is_put_aside(const LoopReads& reads, std::uint32_t node,
                    const std::function<bool(const Use&)>& is_in_chain) const {
    struct Copy {
      std::vector<CodePoint> of;
      bool late = false;  // made in a later iteration
    };
    std::map<CodePoint, Copy> copies;
    std::vector<CodePoint> ends;  // what uses of the chain get directly
    std::vector<CodePoint> todo = {reads.node(node).at};
    const std::uint64_t values = graph_.statements[todo.front().statement].count;
    const auto visit = [&](const CodePoint& from, const CodePoint& to, std::uint8_t operand, bool carried) {
      if (is_seen_through(reads, to)) {
        const auto known = copies.find(from);
        Copy& copy = copies[to];
        const bool late = copy.late || carried || (known != copies.end() && known->second.late);
        if (copy.of.empty() || late != copy.late) todo.push_back(to);
        copy.late = late;
        copy.of.push_back(from);
      } else if (is_in_chain({reads.node_at(to), operand})) {
        ends.push_back(from);
      }
    };
    while (!todo.empty()) {
      const CodePoint at = todo.back();
      todo.pop_back();
      if (copies.size() > kMostCopies) return true;
      for (const ddg::LocalFlow& local : graph_.statements[at.statement].local)
        if (local.from == at.instruction && local.lane == 0) visit(at, {at.statement, local.to}, local.operand, false);
      for_each_use(at, [&](const ddg::Dependence& d) {
        const std::size_t level = reads.flow().level;
        if (reads.is_in_loop(d.to) && d.lane == 0)  // above the value, a register keeps what an older one left there
          visit(at, {d.to, d.to_instruction}, d.operand, level + 1 < d.carried.size() && d.carried[level] > 0);
      });
    }
    std::set<CodePoint> leading;
    while (!ends.empty()) {
      const CodePoint at = ends.back();
      ends.pop_back();
      if (!leading.insert(at).second) continue;
      const auto known = copies.find(at);
      if (known != copies.end()) ends.insert(ends.end(), known->second.of.begin(), known->second.of.end());
    }
    return std::any_of(copies.begin(), copies.end(), [&](const auto& copy) {
      const bool late = copy.second.late && graph_.statements[copy.first.statement].count <= values;
      return (late || !leading.contains(copy.first)) && is_used_outside(reads, copy.first, false);
    });
  }

 private:
  static constexpr std::size_t kMostCopies = 500;

  static CodePoint from_of(const ddg::Dependence& d) { return {d.from, d.from_instruction}; }

  template <typename Visit>
  void for_each_use(const CodePoint& at, const Visit& visit) const {
    auto use = std::lower_bound(
        uses_.begin(), uses_.end(), at,
        [](const ddg::Dependence* known, const CodePoint& wanted) { return from_of(*known) < wanted; });
    for (; use != uses_.end() && from_of(**use) == at; ++use) visit(**use);
  }

  static bool is_seen_through(const LoopReads& reads, const CodePoint& at) {
    const std::uint32_t node = reads.node_at(at);
    return node == FlowEdge::kOutside || reads.node(node).seen_through;
  }

  /// A register copy, a push, a store to a frame.
  bool passes_on(const LoopReads& reads, const CodePoint& at, std::uint8_t operand) const {
    const trace::InstructionFacts* facts = reads.facts_at(at);
    if (facts == nullptr || copied_operand(*facts) != operand) return false;
    if ((facts->kinds & trace::kStore) == 0) return true;
    const ddg::Access* store = reads.store(at);
    return store != nullptr && graph_.objects[store->object].kind == ddg::Object::Kind::kStack;
  }

  const ddg::Graph& graph_;
  std::vector<const ddg::Dependence*> uses_;
};

ReductionFinder::ReductionFinder(const ddg::Graph& graph, Decisions decisions)
    : graph_(graph), decisions_(std::move(decisions)) {}

ReductionFinder::~ReductionFinder() = default;

std::vector<FoundReduction> ReductionFinder::find(const LoopFlow& flow, std::span<const std::uint32_t> blocking) const {
  std::vector<FoundReduction> found;
  if (blocking.empty()) return found;
  const LoopReads reads(flow, graph_);
  const std::vector<std::uint32_t> components = components_of(reads, decisions_);
  std::map<std::uint32_t, std::vector<Use>> candidates;  // by component that comes back to itself: what it carries
  for (const std::uint32_t e : blocking) {
    const FlowEdge& edge = flow.edges[e];
    if (edge.from != FlowEdge::kOutside && components[edge.from] == components[edge.to])
      candidates[components[edge.to]].push_back({edge.to, edge.operand});
  }
  const auto index = [&]() -> const Index& {
    std::call_once(index_made_, [&] { index_ = std::make_unique<const Index>(graph_); });
    return *index_;
  };
  const UsedOutside used = [&](std::uint32_t node) { return index().is_used_outside(reads, node); };
  const PutAside aside = [&](std::uint32_t node, const std::function<bool(const Use&)>& is_in_chain) {
    return index().is_put_aside(reads, node, is_in_chain);
  };
  std::set<std::uint32_t> explained;
  for (const auto& [component, uses] : candidates) {
    ReductionChain chain(reads);
    if (!std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return chain.grow(use); })) continue;
    std::optional<Reduction> reduction = Judge(reads, chain, decisions_, used, aside).judge();
    if (!reduction && chain.grow_back()) reduction = Judge(reads, chain, decisions_, used, aside).judge();
    if (!reduction) continue;
    FoundReduction result{*reduction, {}, {}};
    for (const std::uint32_t e : blocking)
      if (chain.has({flow.edges[e].to, flow.edges[e].operand}) && explained.insert(e).second) result.edges.push_back(e);
    for (std::uint32_t e = 0; e < flow.edges.size(); ++e) {
      const FlowEdge& edge = flow.edges[e];
      if (chain.has({edge.to, edge.operand}) || chain.compares().contains(edge.from)) result.chain.push_back(e);
    }
    if (!result.edges.empty()) found.push_back(result);
  }
  return found;
}

}  // namespace loopfold::poly
