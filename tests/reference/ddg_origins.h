// What uses get through copies: the Origin records of graph.h, counted one use at a time.
//
// A use is the bytes that an instruction reads of one operand, each with its writer and its origin. It is cut into
// chunks of one writer and one origin; a chunk that says more than the dependence on its writer is counted in the
// record of (reader, operand, lane, writer, origin). What each stack had the last time in each operand's lane is kept
// for all chunks, records or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "ddg_history.h"
#include "ddg_reference.h"
#include "ddg_state.h"

namespace loopfold::reference {

/// One byte or cell of an operand.
struct Byte {
  std::uint16_t lane = 0;
  Written written;
};

class Origins {
 public:
  Origins(Graph& graph, const History& history, const Memory& memory)
      : graph_(graph), history_(history), memory_(memory) {}

  /// `reader` reads `bytes` as its operand `operand`, now.
  void use(const Producer& reader, std::uint8_t operand, const std::vector<Byte>& bytes);
  /// All uses were given: what is said of an operand's lane as a whole is put into its records.
  void finish();

 private:
  /// A byte of a reading instruction's operand.
  struct Lane {
    std::uint32_t statement = 0;
    std::uint16_t instruction = 0;
    std::uint8_t operand = 0;
    std::uint16_t lane = 0;
    friend auto operator<=>(const Lane&, const Lane&) = default;
  };
  /// What an operand's lane had, and when.
  struct Last {
    Producer origin;
    std::uint32_t reader = kNobody;  // instance
    /// In the entry of the innermost loop that this was in: the last counters and addresses of loads, at most two.
    std::vector<std::pair<std::int64_t, std::uint64_t>> addresses;
  };

  bool is_recorded(const Producer& reader, const Written& chunk) const;
  void chunk(const Producer& reader, std::uint8_t operand, const Byte& byte);
  void count(Origin& record, const Producer& reader, const Written& chunk) const;
  void count_load(Origin& record, const Producer& reader, const Loaded& load, std::size_t level) const;
  bool goes_on_evenly(Last& last, const Producer& reader, const Written& chunk) const;
  void count_turns(Origin& record, const Producer& reader, const Producer& origin, const Last& last) const;

  Graph& graph_;
  const History& history_;
  const Memory& memory_;
  std::map<std::pair<std::uint64_t, Lane>, Last> last_;  // by stack
  std::map<Lane, bool> even_;
};

}  // namespace loopfold::reference
