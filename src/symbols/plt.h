// The stubs through which a module calls functions of other modules. Internal to src/symbols.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loopfold::symbols {

struct PltSection {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

struct PltStub {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string name;            // mangled, without "@plt"; empty if the relocation names no symbol
  std::uint64_t resolver = 0;  // of a function of the same module that is chosen at run time (STT_GNU_IFUNC)
  bool is_callable = false;    // false: reached from another stub only, on the way to the lazy resolver
};

struct Plt {
  std::vector<PltSection> sections;
  std::vector<PltStub> stubs;
};

/// Of the file that is executed, not of its debug file: that has no code.
Plt read_plt(Elf* elf);

}  // namespace loopfold::symbols
