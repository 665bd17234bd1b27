// Lines and scopes of the code of one file, from its DWARF. All addresses are the debug file's. Internal to
// src/symbols.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "symbols/die_scanner.h"
#include "symbols/interval_index.h"

namespace loopfold::symbols {

class DebugInfo {
 public:
  struct Position {
    std::string_view file;  // empty if unknown; lives as long as the DebugInfo
    int line = 0;
    int column = 0;
  };
  /// One function or inlined function around an address.
  struct Scope {
    std::string_view function;      // demangled; lives as long as the DebugInfo
    Position call;                  // of an inlined one: where it was called
    std::uint64_t die = 0;          // offset of the DIE: this instance
    std::uint64_t function_id = 0;  // the same for all instances of one function
    std::uint64_t entry = 0;        // of a function: its first address
    bool is_inlined = false;
  };
  struct Found {
    Position position;
    std::string_view directory;  // that relative names of files are below; empty if unknown
    std::vector<Scope> scopes;   // innermost first; the last one is a function, unless the DWARF is odd
  };

  /// `dwarf` must outlive this. `trusts_alternate`: if there is an alternate file, it is the one that is meant.
  DebugInfo(Dwarf* dwarf, bool trusts_alternate);
  ~DebugInfo();

  /// Nothing if no unit has code at `address`. The answer is valid until the next call.
  const Found* find(std::uint64_t address);

 private:
  struct Unit;
  struct Row;
  struct LoadedScope;

  void index_units();
  Unit* unit_at(std::uint64_t address);
  void load_lines(Unit& unit);
  void load_scopes(Unit& unit);
  Position position_of(Unit& unit, std::uint64_t address);
  void add_scopes(Unit& unit, std::uint64_t address, std::vector<Scope>& scopes);
  std::string_view file_name(Unit& unit, std::size_t index);
  void name_scope(LoadedScope& scope);

  Dwarf* dwarf_;
  bool trusts_alternate_;
  std::span<const unsigned char> info_;
  std::vector<std::unique_ptr<Unit>> units_;
  IntervalIndex<std::uint32_t> unit_ranges_;
  std::deque<std::string> names_;
  std::unordered_set<std::string> paths_;
  struct Function {
    std::string_view name;
    std::uint64_t id = 0;
  };
  std::unordered_map<const void*, Function> functions_;  // by the DIE that stands for all instances
  Found found_;
};

}  // namespace loopfold::symbols
