// Turns addresses of a run into function, file and line.
//
// From what: the trace's modules (path, build-id, load bias) and the files as they are now. Each module is a libdwfl
// session of its own, opened when the first address in it is asked for, so that a profile of a small program does not
// read libc's debug information. A file whose build-id is not the recorded one is not used at all: a wrong name is
// worse than none.
//
// Function: the ELF symbol that covers the address, because it names the code that ran, clones and aliases included
// (`sum.constprop.0`, where DWARF says `sum`); if no symbol with a size is there, the DWARF subprogram; else the label
// before the address in its section. Demangled by __cxa_demangle. File and line: the line table of the unit that covers
// the address. Units are found by .debug_aranges; what that does not list (clang writes none) by an index of all units'
// ranges, built once per module.
//
// Addresses: `address - load_bias` is an address in the module's file; libdwfl places the file where it likes, and its
// bias and that of the debug file (which may have been laid out differently) are added back.
//
// Cost: opening a module reads its symbol table, the first line its unit's line table; later lookups are a hash lookup.
// Exactness: as exact as the symbol and line tables. An address inside inlined code has the line of the inlined
// statement and the function it was inlined into.
#include "symbols/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "symbols/debug_file.h"

namespace loopfold::symbols {
namespace {

std::string hex(const unsigned char* bytes, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bytes, &address);
  return size > 0 ? hex(bytes, size) : std::string();
}

/// libdwfl asks for the main file only if it was not given one.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

int find_debuginfo(Dwfl_Module* module, void**, const char*, Dwarf_Addr, const char* file_name,
                   const char* debuglink_file, GElf_Word debuglink_crc, char** debuginfo_file_name) {
  DebugFile found = find_debug_file(file_name != nullptr ? file_name : "", build_id_of(module),
                                    debuglink_file != nullptr ? debuglink_file : "", debuglink_crc);
  if (found.fd >= 0) *debuginfo_file_name = strdup(found.path.c_str());
  return found.fd;
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = find_no_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

/// `name` without its version (memcpy@@GLIBC_2.14), demangled if it is mangled.
std::string readable(const char* name) {
  std::string text = name;
  if (const std::size_t at = text.find('@'); at != std::string::npos && at != 0) text.resize(at);
  if (!text.starts_with("_Z")) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : text;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// What one module's file says.
class ModuleFile {
 public:
  /// Opens the file; on failure `problem` says why.
  ModuleFile(const trace::Module& module, std::string& problem) {
    const int fd = open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
      problem = errno == ENOENT ? "is gone" : fmt::format("cannot be read ({})", std::strerror(errno));
      return;
    }
    struct stat status {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(fd);
      problem = "is not a file";
      return;
    }
    session_.reset(dwfl_begin(&kCallbacks));
    if (session_ != nullptr) {
      // On success the descriptor belongs to the session.
      dwfl_report_begin(session_.get());
      module_ = dwfl_report_elf(session_.get(), module.path.c_str(), module.path.c_str(), fd, module.load_bias, true);
      dwfl_report_end(session_.get(), nullptr, nullptr);
    }
    if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr) {
      if (module_ == nullptr) close(fd);
      module_ = nullptr;
      problem = "is not a readable ELF file";
      return;
    }
    if (!module.build_id.empty() && build_id_of(module_) != module.build_id) {
      module_ = nullptr;
      problem = "has changed since it was recorded (another build-id)";
    }
  }

  /// Adds what is known about `file_address` (unbiased).
  void locate(std::uint64_t file_address, Location& location) {
    if (module_ == nullptr) return;
    const bool covered = add_symbol(file_address, location);
    Dwarf_Addr dwarf_bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(module_, &dwarf_bias);
    if (dwarf == nullptr) return;
    const Dwarf_Addr pc = file_address + bias_ - dwarf_bias;
    std::optional<Dwarf_Die> unit = find_unit(dwarf, pc);
    if (!unit) return;
    if (!covered) add_subprogram(*unit, pc, location);
    add_line(*unit, pc, location);
  }

 private:
  struct SessionEnd {
    void operator()(Dwfl* session) const { dwfl_end(session); }
  };
  struct UnitRange {
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    Dwarf_Die unit{};
  };

  /// Returns whether the symbol has a size and covers the address; a label without one is only a guess.
  bool add_symbol(std::uint64_t file_address, Location& location) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name = dwfl_module_addrinfo(module_, file_address + bias_, &offset, &symbol, nullptr, nullptr, nullptr);
    if (name == nullptr || *name == '\0') return false;
    if (names_.empty()) index_names();
    const auto preferred = names_.find(file_address + bias_ - offset);
    location.function = readable(preferred != names_.end() ? preferred->second : name);
    location.offset = offset;
    return offset < symbol.st_size;
  }

  /// The name to show for each address that has function symbols.
  void index_names() {
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      GElf_Addr address = 0;
      const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (name == nullptr || *name == '\0' || symbol.st_size == 0 || symbol.st_shndx == SHN_UNDEF) continue;
      if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
      const auto [place, is_new] = names_.emplace(address, name);
      if (!is_new && is_better_name(name, place->second)) place->second = name;
    }
  }

  /// Of several symbols for one function, the public one: `malloc`, not `__libc_malloc`.
  static bool is_better_name(std::string_view name, std::string_view other) {
    const auto rank = [](std::string_view text) {
      const std::string_view plain = text.substr(0, text.find('@'));
      const std::size_t underscores =
          plain.starts_with("_Z") ? 0 : std::min(plain.find_first_not_of('_'), plain.size());
      return std::tuple(underscores, plain.size(), plain);
    };
    return rank(name) < rank(other);
  }

  std::optional<Dwarf_Die> find_unit(Dwarf* dwarf, Dwarf_Addr pc) {
    Dwarf_Die unit;
    if (dwarf_addrdie(dwarf, pc, &unit) != nullptr) return unit;
    if (!indexed_) index_units(dwarf);
    const auto after = std::upper_bound(units_.begin(), units_.end(), pc,
                                        [](Dwarf_Addr address, const UnitRange& range) { return address < range.low; });
    if (after == units_.begin() || pc >= std::prev(after)->high) return std::nullopt;
    return std::prev(after)->unit;
  }

  /// The ranges of all units, by address.
  void index_units(Dwarf* dwarf) {
    indexed_ = true;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
      Dwarf_Addr base = 0;
      Dwarf_Addr low = 0;
      Dwarf_Addr high = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;) {
        if (low < high) units_.push_back({low, high, die});
      }
    }
    std::sort(units_.begin(), units_.end(), [](const UnitRange& a, const UnitRange& b) { return a.low < b.low; });
  }

  /// The outermost subprogram that covers `pc`.
  static void add_subprogram(Dwarf_Die& unit, Dwarf_Addr pc, Location& location) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(&unit, pc, &scopes);
    for (int i = count - 1; i >= 0; --i) {
      if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram) continue;
      Dwarf_Attribute attribute;
      const char* name = nullptr;
      if (dwarf_attr_integrate(&scopes[i], DW_AT_linkage_name, &attribute) != nullptr) {
        name = dwarf_formstring(&attribute);
      }
      if (name == nullptr) name = dwarf_diename(&scopes[i]);
      Dwarf_Addr entry = 0;
      if (name != nullptr && dwarf_entrypc(&scopes[i], &entry) == 0 && entry <= pc) {
        location.function = readable(name);
        location.offset = pc - entry;
      }
      break;
    }
    std::free(scopes);
  }

  static void add_line(Dwarf_Die& unit, Dwarf_Addr pc, Location& location) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit, pc);
    if (line == nullptr) return;
    const char* file = dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr) return;
    location.file = file;
    location.file = std::filesystem::path(location.file).lexically_normal().string();
    int number = 0;
    if (dwarf_lineno(line, &number) == 0) location.line = number;
  }

  std::unique_ptr<Dwfl, SessionEnd> session_;
  Dwfl_Module* module_ = nullptr;  // null: the file is not to be used
  GElf_Addr bias_ = 0;
  bool indexed_ = false;
  std::vector<UnitRange> units_;
  std::unordered_map<GElf_Addr, const char*> names_;
};

}  // namespace

struct Symbolizer::State {
  std::vector<trace::Module> modules;
  std::vector<std::unique_ptr<ModuleFile>> files;  // like modules; null until asked for
  std::unordered_map<std::uint64_t, Location> cache;
  std::vector<std::string> warnings;

  /// The module that covers the address; of several, the one that was mapped last.
  std::optional<std::size_t> module_of(std::uint64_t address) const {
    for (std::size_t i = modules.size(); i-- > 0;) {
      if (address >= modules[i].start && address - modules[i].start < modules[i].size) return i;
    }
    return std::nullopt;
  }

  ModuleFile& file_of(std::size_t index) {
    if (files[index] == nullptr) {
      std::string problem;
      files[index] = std::make_unique<ModuleFile>(modules[index], problem);
      const std::string& path = modules[index].path;
      const bool is_file = !path.empty() && path.front() != '[';
      if (!problem.empty() && is_file) {
        warnings.push_back(fmt::format("{}: {}; its functions and lines are not known", path, problem));
      }
    }
    return *files[index];
  }

  Location locate(std::uint64_t address) {
    Location location;
    const std::optional<std::size_t> index = module_of(address);
    if (!index) return location;
    location.module = base_name(modules[*index].path);
    location.module_offset = address - modules[*index].load_bias;
    file_of(*index).locate(location.module_offset, location);
    return location;
  }
};

Symbolizer::Symbolizer(const std::vector<trace::Module>& modules) : state_(std::make_unique<State>()) {
  state_->modules = modules;
  state_->files.resize(modules.size());
}

Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;

const Location& Symbolizer::locate(std::uint64_t address) {
  const auto found = state_->cache.find(address);
  if (found != state_->cache.end()) return found->second;
  return state_->cache.emplace(address, state_->locate(address)).first->second;
}

std::string Symbolizer::describe(std::uint64_t address) {
  const Location& location = locate(address);
  if (location.function.empty()) {
    if (location.module.empty()) return fmt::format("{:#x}", address);
    const std::string place = fmt::format("{}+{:#x}", location.module, location.module_offset);
    return location.line > 0 ? fmt::format("{} ({}:{})", place, base_name(location.file), location.line) : place;
  }
  std::string text = location.function;
  if (location.offset != 0) text += fmt::format("+{:#x}", location.offset);
  if (location.line > 0) return fmt::format("{} ({}:{})", text, base_name(location.file), location.line);
  return fmt::format("{} ({})", text, location.module);
}

const std::vector<std::string>& Symbolizer::warnings() const { return state_->warnings; }

}  // namespace loopfold::symbols
