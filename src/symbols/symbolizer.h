// Names for addresses: function, file and line, from the modules of a trace.
//
// Uses elfutils (libdw) on the module files, found by path and checked by build-id, with separate debug files looked up
// under /usr/lib/debug. Without debug information a function is its ELF symbol; without symbols it is module+offset.
// Nothing is fetched from the network. Not for use by several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace/types.h"

namespace loopfold::symbols {

struct Location {
  std::string function;      // demangled; empty if unknown
  std::uint64_t offset = 0;  // from the function's start
  std::string file;          // empty if unknown
  int line = 0;
  std::string module;               // base name of the file, empty for code in no file (JIT)
  std::uint64_t module_offset = 0;  // the address in the file: what addr2line and objdump call it
};

class Symbolizer {
 public:
  explicit Symbolizer(const std::vector<trace::Module>& modules);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;

  /// Cached by address.
  const Location& locate(std::uint64_t address);

  /// "main+0x1c (demo.c:12)", "malloc+0x5 (libc.so.6)", "prog+0x1234" or "0x7f..." as far as known.
  std::string describe(std::uint64_t address);

  /// Of the modules asked about so far, those whose file is gone, damaged or has another build-id now, one line each:
  /// their addresses are module+offset.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace loopfold::symbols
