// Reads ELF headers, notes, the dynamic section and the heads of the DWARF units with elfutils.
//
// From what: program headers wherever they suffice (interpreter, dependencies, segments, build-id), since those are
// what the kernel and the dynamic linker believe and what survives stripping; section headers only for what has no
// other home (.symtab, .debug_info).
//
// Why not trust the file: a program given to `record` may be anything. All offsets and sizes are compared with the
// file's size before they are used, strings must end inside their table, and the file is read with read(2), not mapped,
// so that one that shrinks meanwhile is a short read and not a SIGBUS. Damage is described and never an error of its
// own: the caller knows what it needs from the file.
//
// Cost: a few reads; for a file with debug information also .debug_info (decompressed if it is compressed) and
// one abbreviation per unit until the first split unit is found. Nothing is parsed below the unit's own DIE.
//
// Exactness: exact for well-formed files. split_dwarf looks at this file only, not at a separate debug file.
#include "symbols/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace loopfold::symbols {
namespace {

constexpr std::uint64_t kPageSize = 4096;

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

struct DwarfEnd {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using DwarfHandle = std::unique_ptr<Dwarf, DwarfEnd>;

std::string last_elf_error() {
  const char* text = elf_errmsg(-1);
  return text != nullptr ? text : "unknown error";
}

ElfFile::Type type_of(std::uint16_t e_type) {
  switch (e_type) {
    case ET_REL:
      return ElfFile::Type::kRelocatable;
    case ET_EXEC:
      return ElfFile::Type::kExecutable;
    case ET_DYN:
      return ElfFile::Type::kShared;
    case ET_CORE:
      return ElfFile::Type::kCore;
    default:
      return ElfFile::Type::kOther;
  }
}

std::string hex(const unsigned char* bytes, std::size_t size) {
  std::string text;
  text.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

/// `size` bytes at `offset` as data of `type`, or null if they are not all in the file.
Elf_Data* chunk(Elf* elf, std::uint64_t file_size, std::uint64_t offset, std::uint64_t size, Elf_Type type) {
  if (size == 0 || offset > file_size || size > file_size - offset) return nullptr;
  return elf_getdata_rawchunk(elf, static_cast<std::int64_t>(offset), size, type);
}

/// The NUL-terminated string at `offset` in `data`, or empty if it does not end inside.
std::string string_at(const Elf_Data* data, std::uint64_t offset) {
  if (data == nullptr || data->d_buf == nullptr || offset >= data->d_size) return {};
  const char* begin = static_cast<const char*>(data->d_buf) + offset;
  const std::size_t room = data->d_size - offset;
  const std::size_t length = strnlen(begin, room);
  return length < room ? std::string(begin, length) : std::string();
}

/// Where the byte at virtual address `address` is in the file.
std::optional<std::uint64_t> file_offset_of(const ElfFile& file, std::uint64_t address) {
  for (const ElfFile::Segment& segment : file.segments) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      return segment.file_offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

/// DT_NEEDED of the dynamic section that `header` (PT_DYNAMIC) describes. Needs file.segments.
void read_needed(Elf* elf, std::uint64_t file_size, const GElf_Phdr& header, ElfFile& file) {
  Elf_Data* data = chunk(elf, file_size, header.p_offset, header.p_filesz, ELF_T_DYN);
  if (data == nullptr) return;
  const std::size_t entry_size = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
  if (entry_size == 0) return;
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> table;
  std::uint64_t table_size = 0;
  for (std::size_t i = 0; i < data->d_size / entry_size; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) table = file_offset_of(file, entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
  }
  if (!table || names.empty()) return;
  const Elf_Data* strings = chunk(elf, file_size, *table, table_size, ELF_T_BYTE);
  for (const std::uint64_t name : names) {
    std::string text = string_at(strings, name);
    if (!text.empty()) file.needed.push_back(std::move(text));
  }
}

/// Segments, interpreter and dependencies. `dynamic_is_empty`: the file is a separate debug file, whose PT_DYNAMIC
/// points at bytes that belong to something else.
void read_program_headers(Elf* elf, std::uint64_t file_size, bool dynamic_is_empty, ElfFile& file) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) {
    file.damage = fmt::format("bad program headers: {}", last_elf_error());
    return;
  }
  std::optional<GElf_Phdr> dynamic;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) {
      file.damage = fmt::format("bad program header {}: {}", i, last_elf_error());
      break;
    }
    if (header.p_type == PT_LOAD) {
      file.segments.push_back(
          {header.p_offset, header.p_vaddr, header.p_filesz, header.p_memsz, (header.p_flags & PF_X) != 0});
      const bool whole = header.p_offset <= file_size && header.p_filesz <= file_size - header.p_offset;
      if (!whole && !dynamic_is_empty && file.damage.empty()) {
        file.damage = fmt::format("segment {} reaches beyond the end of the file", i);
      }
    } else if (header.p_type == PT_INTERP) {
      file.interpreter = string_at(chunk(elf, file_size, header.p_offset, header.p_filesz, ELF_T_BYTE), 0);
    } else if (header.p_type == PT_DYNAMIC) {
      dynamic = header;
    }
  }
  if (dynamic && !dynamic_is_empty) read_needed(elf, file_size, *dynamic, file);
}

/// .symtab and .debug_info. Returns whether a dynamic section without contents was seen, as in separate debug files.
bool read_section_headers(Elf* elf, ElfFile& file) {
  std::size_t names = 0;
  std::size_t count = 0;
  if (elf_getshdrnum(elf, &count) != 0 || (count != 0 && elf_getshdrstrndx(elf, &names) != 0)) {
    file.damage = fmt::format("bad section headers: {}", last_elf_error());
    return false;
  }
  bool dynamic_is_empty = false;
  for (std::size_t i = 1; i < count; ++i) {
    Elf_Scn* section = elf_getscn(elf, i);
    GElf_Shdr header;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr) {
      file.damage = fmt::format("bad section header {}: {}", i, last_elf_error());
      break;
    }
    if (header.sh_type == SHT_SYMTAB) file.has_symtab = true;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr) continue;
    const std::string_view text = name;
    if (header.sh_type != SHT_NOBITS && (text == ".debug_info" || text == ".zdebug_info")) file.has_debug_info = true;
    if (header.sh_type == SHT_NOBITS && text == ".dynamic") dynamic_is_empty = true;
  }
  return dynamic_is_empty;
}

/// Whether some unit is the skeleton of one in a .dwo file. Damaged DWARF ends the search; what came before counts.
bool has_split_unit(Elf* elf) {
  const DwarfHandle dwarf(dwarf_begin_elf(elf, DWARF_C_READ, nullptr));
  if (!dwarf) return false;
  Dwarf_CU* unit = nullptr;
  for (;;) {
    Dwarf_CU* next = nullptr;
    Dwarf_Half version = 0;
    std::uint8_t unit_type = 0;
    Dwarf_Die die;
    if (dwarf_get_units(dwarf.get(), unit, &next, &version, &unit_type, &die, nullptr) != 0) return false;
    if (unit_type == DW_UT_skeleton) return true;
    if (dwarf_hasattr(&die, DW_AT_dwo_name) != 0 || dwarf_hasattr(&die, DW_AT_GNU_dwo_name) != 0) return true;
    unit = next;
  }
}

void read_headers(Elf* elf, std::uint64_t file_size, ElfFile& file) {
  GElf_Ehdr header;
  if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) {
    file.damage = fmt::format("bad ELF header: {}", last_elf_error());
    return;
  }
  file.is_64bit = gelf_getclass(elf) == ELFCLASS64;
  file.machine = header.e_machine;
  file.type = type_of(header.e_type);
  file.entry = header.e_entry;
  const bool dynamic_is_empty = read_section_headers(elf, file);
  read_program_headers(elf, file_size, dynamic_is_empty, file);
  const void* build_id = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &build_id);
  if (size > 0) file.build_id = hex(static_cast<const unsigned char*>(build_id), static_cast<std::size_t>(size));
  if (file.has_debug_info) file.split_dwarf = has_split_unit(elf);
}

}  // namespace

std::optional<std::uint64_t> ElfFile::lowest_address() const {
  const auto lowest = std::min_element(segments.begin(), segments.end(),
                                       [](const Segment& a, const Segment& b) { return a.address < b.address; });
  return lowest == segments.end() ? std::nullopt : std::optional(lowest->address);
}

std::optional<std::uint64_t> ElfFile::load_bias(std::uint64_t mapping_start, std::uint64_t mapping_file_offset,
                                                bool wants_executable) const {
  const std::uint64_t page = mapping_file_offset & ~(kPageSize - 1);
  const Segment* best = nullptr;
  int best_rank = -1;
  for (const Segment& segment : segments) {
    const std::uint64_t first_page = segment.file_offset & ~(kPageSize - 1);
    const std::uint64_t end = segment.file_offset + segment.file_size;
    if (segment.file_size == 0 || page < first_page || page >= end) continue;
    const int rank = (segment.executable == wants_executable ? 2 : 0) + (first_page == page ? 1 : 0);
    if (rank > best_rank) {
      best = &segment;
      best_rank = rank;
    }
  }
  if (best == nullptr) return std::nullopt;
  return mapping_start - mapping_file_offset - (best->address - best->file_offset);
}

Result<ElfFile> inspect_elf(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return fail(ErrorKind::kBadInput, fmt::format("{}: {}", path, std::strerror(errno)));
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) {
    return fail(ErrorKind::kBadInput, fmt::format("{}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::kBadInput, fmt::format("{}: not a regular file", path));

  ElfFile file;
  char magic[SELFMAG] = {};
  if (pread(fd.get(), magic, sizeof magic, 0) != SELFMAG || std::memcmp(magic, ELFMAG, SELFMAG) != 0) return file;
  file.is_elf = true;
  if (elf_version(EV_CURRENT) == EV_NONE) return fail(ErrorKind::kInternal, "libelf is older than its header");
  const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
  if (!elf) {
    file.damage = fmt::format("bad ELF header: {}", last_elf_error());
    return file;
  }
  read_headers(elf.get(), static_cast<std::uint64_t>(status.st_size), file);
  return file;
}

}  // namespace loopfold::symbols
