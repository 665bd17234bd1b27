// Opens a module's file and puts together what symbols, unwind table and DWARF say.
//
// From what: libdwfl finds the pieces: the symbol table of the file or of its debug file (or the compressed one of
// .gnu_debugdata), and the DWARF of either. A file whose build-id is not the recorded one is not used at all: a wrong
// name is worse than none. A file without one cannot be told from another and is used as it is.
//
// Everything is opened when it is first needed: a profile of a small program does not read libc's debug information.
//
// Addresses: those of the file. libdwfl places the file where it likes, and its bias and that of the debug file (which
// may have been laid out differently) are taken off again.
//
// Function: the ELF symbol that covers the address, because it names the code that ran, clones and aliases included
// (`sum.constprop.0`, where DWARF says `sum`); if no symbol with a size is there, the DWARF subprogram; else the label
// before the address in its section.
#include "symbols/module_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "symbols/debug_file.h"
#include "symbols/debug_variables.h"
#include "symbols/readable_name.h"

namespace loopfold::symbols {
namespace {

constexpr unsigned kNumberShift = 48;
constexpr std::uint64_t kBySymbol = std::uint64_t{1} << 47;  // an id made of an address, not of a DIE

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int size = dwfl_module_build_id(module, &bytes, &address);
  return size > 0 ? hex(bytes, static_cast<std::size_t>(size)) : std::string();
}

/// libdwfl asks for the main file only if it was not given one.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

/// Asked for the debug file, and for the alternate file of either file: then with a name and without a checksum. The
/// latter is opened by open_alternate_file, which knows its build-id.
int find_debuginfo(Dwfl_Module* module, void**, const char*, Dwarf_Addr, const char* file_name,
                   const char* debuglink_file, GElf_Word debuglink_crc, char** debuginfo_file_name) {
  if (debuglink_file != nullptr && debuglink_crc == 0) return -1;
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

bool may_name_data(int type) { return type == STT_OBJECT || type == STT_COMMON || type == STT_NOTYPE; }

bool may_name_code(int type) { return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE; }

std::string segment_name(std::uint32_t flags) {
  if ((flags & PF_W) != 0) return "data segment";
  return (flags & PF_X) != 0 ? "code segment" : "read-only segment";
}

/// Sections that take up memory. Those of thread-local variables without contents have addresses of others.
std::vector<FileRange> read_loaded_sections(Elf* elf) {
  std::vector<FileRange> sections;
  std::size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return sections;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_ALLOC) == 0) continue;
    if ((header.sh_flags & SHF_TLS) != 0 && header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && *name != '\0') sections.push_back({name, header.sh_addr, header.sh_size});
  }
  return sections;
}

}  // namespace

ModuleFile::ModuleFile(const trace::Module& module, std::uint64_t number) : number_(number) {
  problem_ = open_module(module);
  if (!problem_.empty()) module_ = nullptr;
}

ModuleFile::~ModuleFile() {
  debug_info_.reset();
  session_.reset();
  alternate_.reset();
  if (alternate_fd_ >= 0) close(alternate_fd_);
}

/// Returns what is wrong with the file, empty if nothing is.
std::string ModuleFile::open_module(const trace::Module& module) {
  const int fd = open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return errno == ENOENT ? "is gone" : fmt::format("cannot be read ({})", std::strerror(errno));
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(fd);
    return "is not a file";
  }
  session_.reset(dwfl_begin(&kCallbacks));
  if (session_ != nullptr) {
    // On success the descriptor belongs to the session.
    dwfl_report_begin(session_.get());
    module_ = dwfl_report_elf(session_.get(), module.path.c_str(), module.path.c_str(), fd, module.load_bias, true);
    dwfl_report_end(session_.get(), nullptr, nullptr);
  }
  if (module_ == nullptr) close(fd);
  if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr) return "is not a readable ELF file";
  if (!module.build_id.empty() && build_id_of(module_) != module.build_id) {
    return "has changed since it was recorded (another build-id)";
  }
  return {};
}

const FunctionTable* ModuleFile::functions() {
  if (module_ == nullptr) return nullptr;
  if (!functions_) {
    GElf_Addr ignored = 0;
    Elf* elf = dwfl_module_getelf(module_, &ignored);
    functions_.emplace(read_symbols(), read_unwind_ranges(), read_code_sections(elf), read_plt(elf));
  }
  return &*functions_;
}

std::vector<ElfSymbol> ModuleFile::read_symbols() {
  std::vector<ElfSymbol> symbols;
  const int count = dwfl_module_getsymtab(module_);
  std::uint32_t source_file = 0;
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (name == nullptr) continue;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FILE) ++source_file;
    if (*name == '\0' || symbol.st_shndx == SHN_UNDEF || !may_name_code(type)) continue;
    ElfSymbol entry;
    entry.address = address - bias_;
    entry.size = symbol.st_size;
    entry.name = name;
    entry.is_function = type != STT_NOTYPE;
    entry.is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
    entry.source_file = source_file;
    symbols.push_back(entry);
  }
  return symbols;
}

std::vector<FileRange> ModuleFile::segments() const {
  std::vector<FileRange> segments;
  GElf_Addr ignored = 0;
  Elf* elf = module_ != nullptr ? dwfl_module_getelf(module_, &ignored) : nullptr;
  std::size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return segments;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD || header.p_memsz == 0) continue;
    segments.push_back({segment_name(header.p_flags), header.p_vaddr, header.p_memsz});
  }
  return segments;
}

std::vector<ElfData> ModuleFile::read_data_symbols() {
  std::vector<ElfData> symbols;
  const int count = dwfl_module_getsymtab(module_);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module_, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || symbol.st_size == 0) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
    if (!may_name_data(GELF_ST_TYPE(symbol.st_info))) continue;
    const int binding = GELF_ST_BIND(symbol.st_info);
    const int rank = binding == STB_LOCAL ? 0 : binding == STB_WEAK ? 1 : 2;
    symbols.push_back({address - bias_, symbol.st_size, name, rank});
  }
  return symbols;
}

const DataTable* ModuleFile::data() {
  if (module_ == nullptr) return nullptr;
  if (!data_) {
    if (!looked_for_debug_info_) open_debug_info();
    if (dwarf_ != nullptr) debug_variables_ = find_variables(dwarf_, alternate_ != nullptr);
    for (DebugVariable& variable : debug_variables_) variable.address -= debug_bias_;
    GElf_Addr ignored = 0;
    data_.emplace(segments(), read_loaded_sections(dwfl_module_getelf(module_, &ignored)), read_data_symbols(),
                  debug_variables_);
  }
  return &*data_;
}

void ModuleFile::describe(const DataTable::Variable& variable, DataSymbol& symbol) {
  symbol.name = readable_name(variable.name);
  if (variable.debug == DataTable::kNone) return;
  describe_variable(dwarf_, alternate_ != nullptr, debug_variables_[variable.debug], variable.name, symbol);
}

std::vector<LocalVariable> ModuleFile::locals(std::uint64_t file_address) {
  if (module_ == nullptr) return {};
  if (!looked_for_debug_info_) open_debug_info();
  if (dwarf_ == nullptr) return {};
  std::vector<LocalVariable> found = find_local_variables(dwarf_, alternate_ != nullptr, file_address + debug_bias_);
  for (LocalVariable& variable : found) variable.move_code(std::uint64_t{0} - debug_bias_);
  return found;
}

std::vector<UnwindRange> ModuleFile::read_unwind_ranges() {
  GElf_Addr ignored = 0;
  Elf* elf = dwfl_module_getelf(module_, &ignored);
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, ".eh_frame") != 0) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return read_unwind_table({static_cast<const unsigned char*>(data->d_buf), data->d_size}, header.sh_addr);
  }
  return {};
}

void ModuleFile::open_alternate_file(Dwarf* dwarf) {
  const char* name = nullptr;
  const void* build_id = nullptr;
  const ssize_t size = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id);
  if (size <= 0) return;
  const char* main_file = nullptr;
  const char* debug_file = nullptr;
  dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, &main_file, &debug_file);
  const char* referring = debug_file != nullptr ? debug_file : main_file;
  const std::string id = hex(static_cast<const unsigned char*>(build_id), static_cast<std::size_t>(size));
  const DebugFile found = find_alternate_file(referring != nullptr ? referring : "", name, id);
  if (found.fd < 0) return;
  alternate_fd_ = found.fd;
  alternate_.reset(dwarf_begin(alternate_fd_, DWARF_C_READ));
  if (alternate_ != nullptr) dwarf_setalt(dwarf, alternate_.get());
}

void ModuleFile::open_debug_info() {
  looked_for_debug_info_ = true;
  Dwarf_Addr dwarf_bias = 0;
  Dwarf* dwarf = dwfl_module_getdwarf(module_, &dwarf_bias);
  if (dwarf == nullptr) return;
  debug_bias_ = bias_ - dwarf_bias;
  dwarf_ = dwarf;
  open_alternate_file(dwarf);
  debug_info_.emplace(dwarf, alternate_ != nullptr);
}

std::string_view ModuleFile::readable(const FunctionTable::Name& name) {
  const auto [place, is_new] = readable_names_[name.is_stub ? 1 : 0].try_emplace(name.name);
  if (is_new) place->second = readable_name(name.name) + (name.is_stub ? "@plt" : "");
  return place->second;
}

void ModuleFile::add_frames(const DebugInfo::Found& found, Location& location) const {
  DebugInfo::Position position = found.position;
  location.frames.reserve(found.scopes.size());
  for (const DebugInfo::Scope& scope : found.scopes) {
    Frame frame;
    frame.function = scope.function;
    frame.file = position.file;
    frame.line = position.line;
    frame.column = position.column;
    frame.scope = number_ << kNumberShift | scope.die;
    frame.function_id = number_ << kNumberShift | scope.function_id;
    location.frames.push_back(frame);
    position = scope.call;
  }
}

/// For code without scopes: the function itself.
void ModuleFile::add_only_frame(std::uint64_t file_address, Location& location) {
  Frame frame;
  frame.line = location.line;
  frame.column = location.column;
  if (const std::optional<FunctionTable::Function> function = functions()->find(file_address)) {
    frame.scope = number_ << kNumberShift | kBySymbol | function->owner;
    frame.function_id = frame.scope;
  }
  location.frames.push_back(frame);
}

void ModuleFile::locate(std::uint64_t file_address, Location& location) {
  if (module_ == nullptr) return;
  const std::optional<FunctionTable::Name> name = functions()->name(file_address);
  std::string_view function;
  if (name) {
    function = readable(*name);
    location.offset = file_address - name->start;
  }
  if (!looked_for_debug_info_) open_debug_info();
  const DebugInfo::Found* found = debug_info_ ? debug_info_->find(file_address + debug_bias_) : nullptr;
  if (found != nullptr) {
    location.file = found->position.file;
    location.directory = found->directory;
    location.line = found->position.line;
    location.column = found->position.column;
    add_frames(*found, location);
    if (!found->scopes.empty() && (!name || !name->covers)) {
      const DebugInfo::Scope& outermost = found->scopes.back();
      const std::uint64_t entry = outermost.entry - debug_bias_;
      if (!outermost.is_inlined && !outermost.function.empty() && entry <= file_address) {
        function = outermost.function;
        location.offset = file_address - entry;
      }
    }
  }
  location.function = function;
  if (location.frames.empty()) {
    add_only_frame(file_address, location);
    if (found != nullptr) location.frames.back().file = found->position.file;
  }
  if (!function.empty()) location.frames.back().function = function;
}

}  // namespace loopfold::symbols
