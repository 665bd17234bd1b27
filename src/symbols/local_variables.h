// Variables of a function, and where they are while it runs: in the frame, or in registers for a while.
//
// From DWARF, with libdw: the parameters and variables of a function, of the blocks in it and of what was inlined into
// it. A place is an offset from the frame's *canonical address* (what the stack pointer was before the call), or the
// number of a register in DWARF's counting, and holds for some addresses of code. A value that is not stored anywhere
// may be known all the same: a constant, or what is computed from registers. What DWARF says otherwise (parts of a
// struct in several registers, what a parameter was when the function was entered) is not here.
//
// Cost: some microseconds per variable; callers keep what they get. Exact as far as the compiler was.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loopfold::symbols {

/// Addresses, the end not included.
struct CodeRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

struct LocalVariable {
  struct Place {
    CodeRange code;  // where it holds
    bool in_register = false;
    std::uint32_t reg = 0;    // of DWARF: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8-15, 17 xmm0 ...
    std::int64_t offset = 0;  // from the canonical frame address
  };
  /// It is stored nowhere, but known.
  struct Value {
    CodeRange code;                        // where it holds
    std::vector<std::uint32_t> registers;  // that it is computed from; none: it is a constant
    std::uint64_t number = 0;              // two constants are the same if this is
  };
  std::string name;
  std::uint64_t size = 0;  // bytes; 0 if not known
  bool parameter = false;  // of the function itself, not of what was inlined
  std::string file;        // where it is declared; empty if not known
  int line = 0;
  std::vector<CodeRange> scope;    // of the block that it is declared in
  std::vector<CodeRange> inlined;  // of the inlined function that it belongs to; none: it is one of the function itself
  int depth = 0;                   // how many inlined functions it is in
  std::vector<Place> places;
  std::vector<Value> values;
  std::vector<CodeRange> somewhere;  // where it is in memory, but not at a known distance from that address

  /// All addresses of code become larger.
  void move_code(std::uint64_t by) {
    const auto move = [&](CodeRange& range) { range = {range.start + by, range.end + by}; };
    for (CodeRange& range : scope) move(range);
    for (CodeRange& range : inlined) move(range);
    for (CodeRange& range : somewhere) move(range);
    for (Place& place : places) move(place.code);
    for (Value& value : values) move(value.code);
  }
};

/// Those of the function at an address, outer blocks first. Addresses are the debug file's.
std::vector<LocalVariable> find_local_variables(Dwarf* dwarf, bool trusts_alternate, std::uint64_t address);

}  // namespace loopfold::symbols
