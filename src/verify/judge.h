// What a loop carries that matters: the flow of one loop, judged by the rules that verdicts are defined by.
//
// From a replay's flow, for one loop of the source (one or more loops of the binary, siblings in the tree):
//
// - *Index values*: greatest fixed point. A node is data if it is a call of something unknown, if an operand from
//   before the loop is not the same in all iterations of an entry, if it loads from an address that changes, if it uses
//   data, if data decide that it runs, or if the loop carries it to its own computation and it does not advance evenly
//   (by its recorded values; or by its form, x + c; two iterations tell nothing about values).
//   What decides only whether there is more of the loop does not count here: an iteration that runs knows its number,
//   whoever decided that it runs.
//   Where a compiler has put the end of the body on several ways, each with a step of its own, the steps count as one.
//   A recurrence through memory that is no slot of a frame counts as even only if the loop's exit hangs on it.
// - What is left: flow and decisions that the loop carries, and that are no induction variable, no load that can be
//   repeated, and no index value that every iteration finds as it was before the loop.
//
// Where these rules are coarser than those of the analysis, they are so in favour of the claim: what this calls carried
// is carried.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "structure/loop_tree.h"
#include "structure/structure.h"
#include "verify/flow.h"

namespace loopfold::verify {

/// A loop of the source, where it is in the loop tree.
struct LoopPlace {
  std::vector<structure::ContextId> contexts;  // of the loops of the binary: siblings
  std::uint16_t level = 0;
};

/// Something that goes from one iteration of a loop to another.
struct Carried {
  enum class Kind : std::uint8_t { kRegister, kMemory, kEnvironment, kControl, kTurn };
  Kind kind = Kind::kRegister;
  NodeIndex from = kNoNodeIndex;
  NodeIndex to = kNoNodeIndex;
  const Use* use = nullptr;
  const Edge* edge = nullptr;  // none: kTurn
  std::uint64_t count = 0;
  bool between_copies = false;  // from one copy of the loop to another: no distance is known
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};

/// Which of a reduction's operators are claimed; none: a variable may only be kept or overwritten.
struct Operators {
  std::vector<trace::Associative> operations;
  bool has(trace::Associative operation) const;
  bool chooses() const;  // minimum or maximum
};

class Judge {
 public:
  using Ends = std::pair<NodeIndex, NodeIndex>;  // of something carried: from, to

  /// `pure`: by context, calls of functions that may be reordered; may be empty.
  Judge(const Flow& flow, const structure::Structure& structure, const structure::LoopTree& tree, const LoopPlace& loop,
        const std::vector<bool>& pure);

  /// All that the loop carries, whatever it is.
  const std::vector<Carried>& carried() const { return carried_; }
  /// Of that, what keeps iterations in order if chains of these operations may be reordered (chains.cc).
  std::vector<Carried> violations(const Operators& operators) const;
  /// Of that, what is a part of some chain that can be reordered, whatever the profile says of the loop.
  std::set<Ends> chains() const;
  /// Whether all that the loop carries from one to the other, by this operand, keeps no iterations in order.
  bool excuses(NodeIndex from, NodeIndex to, std::uint8_t operand) const {
    return excused_.contains({from, to, operand});
  }
  /// Uses of values that were made in the loop.
  std::uint64_t instances() const { return instances_; }

  /// Branches on which it depends whether there is another iteration, directly or by way of others. There need not have
  /// been one.
  std::vector<NodeIndex> exits() const;

  bool contains(NodeIndex node) const { return index_[node] != kNone; }
  bool is_data(NodeIndex node) const { return contains(node) && data_[index_[node]]; }
  /// It stands on one of several ways on which every iteration does the same.
  bool is_agreed(NodeIndex node) const { return contains(node) && agreed_[index_[node]]; }
  /// An induction variable of the loop.
  bool is_computable(NodeIndex node) const { return contains(node) && !is_data(node) && recurs_[index_[node]]; }
  /// Its address can be computed, and it is not data that decide that it runs.
  bool is_repeatable(NodeIndex node) const;
  /// It is a branch, and data are what it decides by; or what it decides was left to it by an exit that data decide.
  bool decides(NodeIndex node) const { return contains(node) && leads_by_data(index_[node]); }
  /// Parts of which data decide whether they run.
  const std::vector<PartIndex>& decided() const { return decided_parts_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Flowing {
    std::uint32_t from = 0;  // in nodes_
    std::uint32_t to = 0;
    const Use* use = nullptr;
    const Edge* edge = nullptr;
    std::uint64_t carried = 0;
    std::uint64_t inside = 0;
    std::uint64_t between = 0;
  };
  struct Deciding {
    std::uint32_t from = 0;  // in nodes_
    std::uint32_t to = 0;    // in parts_
    const Edge* edge = nullptr;
    std::uint64_t carried = 0;
    std::uint64_t inside = 0;
  };

  void find_nodes();
  void find_edges();
  bool add_counts(const Edge& edge, std::uint32_t from, std::uint32_t to_copy, std::uint64_t& carried,
                  std::uint64_t& inside, std::uint64_t& between) const;
  void find_data();
  bool speaks_against(const Node& node) const;
  bool decides_by_data(std::uint32_t node) const;
  bool leads_by_data(std::uint32_t node) const;
  void find_ends(const structure::Structure& structure);
  void find_led();
  void mark(std::uint32_t node, std::vector<std::uint32_t>& work);
  void decide(std::uint32_t part, std::vector<std::uint32_t>& work);
  void spread();
  bool find_recurrences();
  bool find_state();
  void find_agreed();
  void find_agreed(bool alike);
  void find_tests(const std::vector<std::uint32_t>& group);
  bool agree(const std::vector<std::uint32_t>& group) const;
  bool tests_agreed(PartIndex part, const std::vector<std::uint32_t>& group, std::vector<std::uint32_t>& tests) const;
  bool is_anchored(std::uint32_t node) const;
  bool advances(const Node& node) const;
  bool adds_constant(std::uint32_t node) const;
  bool is_made_of_constants(std::uint32_t node) const;
  bool starts_behind(const Use& use) const;
  std::vector<std::uint32_t> components(const std::vector<bool>& left_out) const;
  void mark_recurrences();
  void find_carried();
  void find_excused();
  void find_unwound();
  bool is_excused(const Carried& carried) const;
  bool compares_inside(NodeIndex to) const;
  bool is_chain(std::vector<std::uint32_t> work, const Operators& operators, std::vector<Carried>& others) const;
  bool is_pure(NodeIndex node) const;
  const Node& node(std::uint32_t index) const { return flow_.nodes[nodes_[index]]; }

  const Flow& flow_;
  const structure::LoopTree& tree_;
  LoopPlace loop_;
  const std::vector<bool>& pure_;
  std::vector<std::uint32_t> index_;  // by node of the flow: in nodes_
  std::vector<NodeIndex> nodes_;
  std::vector<std::uint32_t> copy_;        // by node: which of the loop's copies it is in
  std::vector<std::uint32_t> part_index_;  // by part of the flow
  std::vector<PartIndex> parts_;
  std::vector<std::vector<std::uint32_t>> in_;  // by node: edges_
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<Flowing> edges_;
  std::vector<Deciding> decisions_;
  std::vector<std::vector<std::uint32_t>> decides_;  // by node: decisions_
  std::vector<bool> data_;                           // by node
  std::vector<bool> part_decided_;                   // by part
  std::vector<bool> part_led_;                       // by part: see find_led
  std::vector<bool> recurs_;                         // by node
  std::vector<bool> agreed_;                         // by node: one of several steps that are one, or its test
  std::vector<bool> on_line_;                        // by node: one of several steps on one line
  std::vector<bool> ends_;  // by node: a branch of which one way stays in the loop, and all others leave it
  std::vector<PartIndex> decided_parts_;
  std::vector<Carried> carried_;
  std::set<std::tuple<NodeIndex, NodeIndex, std::uint8_t>> excused_;  // from, to, operand
  std::uint64_t instances_ = 0;
};

}  // namespace loopfold::verify
