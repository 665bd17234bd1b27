// The shape of blocks and exits: how long their lists are and which slots they need.
//
// Kept by the writer and the reader while descriptions come in. The rules are the same on both sides: the writer
// refuses what the reader would, so that a recorder bug shows when it happens and not when the trace is analysed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/types.h"

namespace loopfold::trace {

/// All that events need to know about an exit.
struct ExitShape {
  BlockId block = 0;
  std::uint32_t slots = 0;
};

/// What is needed of the blocks and exits to check further exits and to code events; a few bytes for each.
class Shapes {
 public:
  /// Checks the block by itself and that its id is the next one.
  Result<void> add_block(const Block& block);
  /// Checks that the id is the next one, that the block is known, that the counts are prefixes of its lists and that
  /// every slot which the prefixes refer to exists in an event with this exit.
  Result<void> add_exit(const Exit& exit);

  std::span<const ExitShape> exits() const { return exits_; }
  std::size_t block_count() const { return blocks_.size(); }
  /// Forgets all but the first `blocks` blocks and `exits` exits.
  void shrink(std::size_t blocks, std::size_t exits);
  /// Keeps what events need and drops what only add_exit() needs.
  void forget_blocks();

 private:
  /// For each prefix length of a list, how many slots an event must have so that the prefix can be evaluated.
  struct BlockShape {
    std::uint32_t instructions = 0;
    std::uint32_t ftop_slots = 0;
    std::vector<std::uint32_t> access_slots;
    std::vector<std::uint32_t> result_slots;
  };
  std::vector<BlockShape> blocks_;
  std::vector<ExitShape> exits_;
};

}  // namespace loopfold::trace
