// Names for addresses: function, file, line and inlined functions, where functions start, and the variables and
// sections that data is in (data_symbols.h), from the modules of a trace.
//
// Uses elfutils (libdw) on the module files, found by path and checked by build-id, with separate debug files looked up
// under /usr/lib/debug. Without debug information a function is its ELF symbol; without symbols it is module+offset.
// Nothing is fetched from the network. Several threads may ask; they are answered one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/data_symbols.h"
#include "symbols/local_variables.h"
#include "trace/types.h"

namespace loopfold::symbols {

/// A function around an address: the one the code is in, or one that was inlined into it. The texts live as long as the
/// Symbolizer.
struct Frame {
  std::string_view function;  // demangled; empty if unknown
  std::string_view file;      // empty if unknown
  int line = 0;             // where in this function the address is: for all but the innermost one, the line of a call
  int column = 0;           // 0 if unknown
  std::uint64_t scope = 0;  // this instance of the function: addresses with the same one are in the same inlined copy
  std::uint64_t function_id = 0;  // all copies of one function in one unit of the program have the same
  friend bool operator==(const Frame&, const Frame&) = default;
};

struct Location {
  std::string function;        // demangled, the function that the code is in, whatever was inlined; empty if unknown
  std::uint64_t offset = 0;    // from the function's start
  std::string file;            // of the line table: of the innermost frame; empty if unknown
  std::string_view directory;  // that relative names of files are below, where the code was compiled; empty if unknown
  int line = 0;
  int column = 0;
  std::string module;               // base name of the file, empty for code in no file (JIT)
  std::uint64_t module_offset = 0;  // the address in the file: what addr2line and objdump call it
  std::vector<Frame> frames;        // innermost inlined function first, `function` last; empty without a usable file
};

/// Addresses of the run, end exclusive.
struct FunctionRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  friend bool operator==(const FunctionRange&, const FunctionRange&) = default;
};

class Symbolizer {
 public:
  explicit Symbolizer(const std::vector<trace::Module>& modules);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;

  /// Cached by address; the reference stays valid.
  const Location& locate(std::uint64_t address);

  /// "main+0x1c (demo.c:12)", "malloc+0x5 (libc.so.6)", "prog+0x1234" or "0x7f..." as far as known.
  std::string describe(std::uint64_t address);

  /// Whether a function starts at `address`: a function symbol, an entry of the unwind table that a call can have led
  /// to, or a stub of the procedure linkage table. A `.cold` part of a function is none.
  bool is_function_start(std::uint64_t address);

  /// The symbol's or unwind table's range around `address`; a `.cold` part has a range of its own. Nothing if unknown.
  std::optional<FunctionRange> function_range(std::uint64_t address);

  /// The start of the function that `address` belongs to, for a `.cold` part that of the function it was moved out of,
  /// as far as symbols tell. 0 if unknown.
  std::uint64_t function_of(std::uint64_t address);

  /// Whether `address` is in a procedure linkage table: code that only jumps on to a function of another module.
  bool in_plt(std::uint64_t address);

  /// The variable, or at least the section of a module, that an address of data is in. Opens the files of all modules
  /// the first time: where their data is, the modules do not say.
  DataPlace data_place(std::uint64_t address);

  /// The variable at an address; null if none is known.
  const DataSymbol* data(std::uint64_t address) { return data_place(address).symbol; }

  /// The variables of the function at an address, with addresses of the run; none without debug information.
  std::vector<LocalVariable> locals(std::uint64_t address);

  /// Of the modules asked about so far, those whose file is gone, damaged or has another build-id now, one line each:
  /// their addresses are module+offset. Not while others ask.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loopfold::symbols
