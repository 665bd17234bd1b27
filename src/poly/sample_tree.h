// What reconstruction makes of the samples of many streams, where many of them show the same.
//
// A loop's accesses go over the same fields of the same blocks, statements run in the same iterations, and a loop is
// entered again and again: most of the sequences that are looked at are others moved by a constant. Reconstruction
// compares addresses and takes differences, modulo 2^64, so that what it finds moves with them, and so do the pieces
// and the tries that it takes: counted from its first sample, a sequence says all. The tree has a node for each
// beginning that some sequence had, in batches of kBatch samples. Who comes to a node again need not search again.
//
// The state of a search goes on from node to node. A sequence that leaves the others, at a node from where the search
// has gone on without it, is searched from its beginning: what it would have cost alone. Above kMostNodes, sequences go
// on alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "reconstruct/reconstruct.h"

namespace loopfold::poly {

class SampleTree {
 public:
  static constexpr std::uint64_t kBatch = 64;

  static constexpr std::size_t kMostNodes = std::size_t{1} << 15;

  explicit SampleTree(const reconstruct::Options& options, std::size_t most_nodes = kMostNodes)
      : options_(options), most_nodes_(most_nodes) {}

  /// A beginning of a sequence.
  struct Node {
    Node* before = nullptr;
    std::vector<std::uint64_t> batch;  // the last samples, counted from the first one of all
    std::uint64_t samples = 0;
    bool ended = false;      // nothing comes behind it
    bool irregular = false;  // so far: many pieces, or much ado to find them
    bool doomed = false;     // it will be, behind the next whole batch or when it ends before that
    std::optional<reconstruct::Reconstructor> engine;  // that has seen all of it; none if it has gone on or is useless
    std::vector<reconstruct::Piece> pieces;            // if it has ended and is not irregular
    std::vector<std::unique_ptr<Node>> next;
  };

  /// One sequence on its way through the tree.
  class Path {
   public:
    /// The next kBatch samples, or what is left if it `ends`. They count from the first one of the sequence.
    const Node& add(SampleTree& tree, std::span<const std::uint64_t> batch, bool ends);
    /// Another sequence begins. What this one would need to go on is not kept.
    void restart();

   private:
    Node* at_ = nullptr;         // null: at the beginning
    std::unique_ptr<Node> own_;  // behind at_, if there was no room for it in the tree
  };

  std::size_t nodes() const { return nodes_; }

 private:
  Node* find(const Node& from, std::span<const std::uint64_t> batch, bool ends) const;
  std::unique_ptr<Node> make(Node& from, std::span<const std::uint64_t> batch, bool ends);
  reconstruct::Reconstructor take_engine(Node& node) const;

  reconstruct::Options options_;
  std::size_t most_nodes_;
  Node root_;
  std::size_t nodes_ = 0;
};

}  // namespace loopfold::poly
