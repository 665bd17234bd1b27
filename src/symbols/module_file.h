// What the file of one module says about its addresses. Internal to src/symbols.
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "symbols/data_symbols.h"
#include "symbols/debug_info.h"
#include "symbols/function_table.h"
#include "symbols/local_variables.h"
#include "symbols/symbolizer.h"
#include "trace/types.h"

namespace loopfold::symbols {

class ModuleFile {
 public:
  /// Opens the file. `number`, at least 1 and below 2^15, makes the ids of scopes unique among several files.
  ModuleFile(const trace::Module& module, std::uint64_t number);
  ~ModuleFile();

  /// Why the file is not used; empty if it is.
  const std::string& problem() const { return problem_; }

  /// Adds what is known about an address of the file.
  void locate(std::uint64_t file_address, Location& location);

  /// Null if the file is not used.
  const FunctionTable* functions();

  /// Loaded segments, at addresses of the file. None if the file is not used.
  std::vector<FileRange> segments() const;

  /// Variables and sections. Null if the file is not used.
  const DataTable* data();

  /// Variables of the function at an address of the file.
  std::vector<LocalVariable> locals(std::uint64_t file_address);

  /// Fills in what is said about a variable of data(): all but module, section, and where it is.
  void describe(const DataTable::Variable& variable, DataSymbol& symbol);

 private:
  struct SessionEnd {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  struct DwarfEnd {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };

  std::string open_module(const trace::Module& module);
  void open_debug_info();
  void open_alternate_file(Dwarf* dwarf);
  std::vector<ElfSymbol> read_symbols();
  std::vector<UnwindRange> read_unwind_ranges();
  std::vector<ElfData> read_data_symbols();
  std::string_view readable(const FunctionTable::Name& name);
  void add_frames(const DebugInfo::Found& found, Location& location) const;
  void add_only_frame(std::uint64_t file_address, Location& location);

  std::uint64_t number_;
  std::string problem_;
  int alternate_fd_ = -1;
  std::unique_ptr<Dwarf, DwarfEnd> alternate_;  // outlives the session, whose Dwarf refers to it
  std::unique_ptr<Dwfl, SessionEnd> session_;
  Dwfl_Module* module_ = nullptr;  // null: the file is not used
  GElf_Addr bias_ = 0;
  std::optional<FunctionTable> functions_;
  std::optional<DataTable> data_;
  bool looked_for_debug_info_ = false;
  std::uint64_t debug_bias_ = 0;  // added to an address of the file, gives one of its debug file
  Dwarf* dwarf_ = nullptr;        // belongs to the session; null if there is none
  std::optional<DebugInfo> debug_info_;
  std::vector<DebugVariable> debug_variables_;
  std::unordered_map<std::string_view, std::string> readable_names_[2];  // of functions and of stubs
};

}  // namespace loopfold::symbols
