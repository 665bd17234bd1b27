// Looks up separate debug files as gdb does, without asking a debuginfod server, which libdwfl's own search does
// whenever DEBUGINFOD_URLS is set: a profile must not depend on the network, nor wait for it.
//
// Debian's debug files refer to an alternate file that dwz made (/usr/lib/debug/.dwz), by a path and a build-id.
//
// Exactness: a debug file is used only if it provably belongs to the file: equal build-ids, or, if the file has none,
// the checksum that its .gnu_debuglink section states. Cost: a few failing opens; the checksum reads the file once.
#include "symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <libelf.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace loopfold::symbols {
namespace {

/// The build-id of an open ELF file as hex, empty if it has none or is no ELF file.
std::string build_id_of(int fd) {
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  const void* bytes = nullptr;
  const ssize_t size = elf != nullptr ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
  std::string text;
  for (ssize_t i = 0; i < size; ++i) text += fmt::format("{:02x}", static_cast<const unsigned char*>(bytes)[i]);
  elf_end(elf);
  return text;
}

std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320u ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}

/// The checksum of .gnu_debuglink: CRC-32 of the whole file.
bool has_crc(int fd, std::uint32_t expected) {
  const std::array<std::uint32_t, 256> table = make_crc_table();
  std::vector<unsigned char> buffer(1 << 16);
  std::uint32_t value = 0xffffffffu;
  off_t offset = 0;
  for (;;) {
    const ssize_t got = pread(fd, buffer.data(), buffer.size(), offset);
    if (got < 0) return false;
    if (got == 0) break;
    for (ssize_t i = 0; i < got; ++i)
      value = table[(value ^ buffer[static_cast<std::size_t>(i)]) & 0xff] ^ (value >> 8);
    offset += got;
  }
  return ~value == expected;
}

std::string build_id_path(const std::string& root, const std::string& build_id) {
  return fmt::format("{}/.build-id/{}/{}.debug", root, build_id.substr(0, 2), build_id.substr(2));
}

/// The directory of a file, symbolic links resolved.
std::string directory_of(const std::string& file_path) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(file_path, error);
  return (error ? std::filesystem::path(file_path) : canonical).parent_path().string();
}

std::vector<std::string> candidates(const std::string& file_path, const std::string& build_id,
                                    const std::string& debuglink, const std::string& root) {
  std::vector<std::string> paths;
  if (build_id.size() > 2) paths.push_back(build_id_path(root, build_id));
  if (debuglink.empty()) return paths;
  const std::string directory = directory_of(file_path);
  if (debuglink.front() == '/') {
    paths.push_back(debuglink);
  } else {
    paths.push_back(fmt::format("{}/{}", directory, debuglink));
    paths.push_back(fmt::format("{}/.debug/{}", directory, debuglink));
    paths.push_back(fmt::format("{}{}/{}", root, directory, debuglink));
  }
  return paths;
}

/// Opens the path if it is a regular file.
int open_regular(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return -1;
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

std::string debug_directory() {
  const char* const given = std::getenv("LOOPFOLD_DEBUG_DIRECTORY");
  if (given == nullptr) return "/usr/lib/debug";
  return *given != '\0' ? given : "/nonexistent";
}

DebugFile find_debug_file(const std::string& file_path, const std::string& build_id, const std::string& debuglink,
                          std::uint32_t crc, const std::string& root) {
  for (std::string& path : candidates(file_path, build_id, debuglink, root)) {
    const int fd = open_regular(path);
    if (fd < 0) continue;
    const bool belongs = build_id.empty() ? has_crc(fd, crc) : build_id_of(fd) == build_id;
    if (belongs) return {fd, std::move(path)};
    close(fd);
  }
  return {};
}

DebugFile find_alternate_file(const std::string& debug_file_path, const std::string& name, const std::string& build_id,
                              const std::string& root) {
  if (name.empty() || build_id.size() <= 2) return {};
  const bool is_absolute = name.front() == '/';
  for (std::string path : {is_absolute ? name : fmt::format("{}/{}", directory_of(debug_file_path), name),
                           build_id_path(root, build_id)}) {
    const int fd = open_regular(path);
    if (fd < 0) continue;
    if (build_id_of(fd) == build_id) return {fd, std::move(path)};
    close(fd);
  }
  return {};
}

}  // namespace loopfold::symbols
