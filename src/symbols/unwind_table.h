// Where functions start and end according to the unwind table. Internal to src/symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loopfold::symbols {

/// One entry (FDE) of .eh_frame.
struct UnwindRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  bool enters_function = false;  // at `start` nothing but the return address has been pushed: CFA is rsp + 8
  friend bool operator==(const UnwindRange&, const UnwindRange&) = default;
};

/// All entries of an .eh_frame section whose bytes are loaded at `address`, in the order of the section. Damage ends
/// the list early, or leaves out an entry.
std::vector<UnwindRange> read_unwind_table(std::span<const unsigned char> bytes, std::uint64_t address);

}  // namespace loopfold::symbols
