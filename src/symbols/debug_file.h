// Finds the separate debug file of an ELF file, on this machine only. For src/symbols and the doctor.
#pragma once

#include <cstdint>
#include <string>

namespace loopfold::symbols {

struct DebugFile {
  int fd = -1;  // -1 if none was found; else the caller's to close
  std::string path;
};

/// Where debug files are installed: the environment's LOOPFOLD_DEBUG_DIRECTORY, else /usr/lib/debug. If the variable is
/// empty, nowhere: only those beside a file are used.
std::string debug_directory();

/// Looks for the debug file of `file_path`: by `build_id` (lower-case hex, may be empty) below ROOT/.build-id, then by
/// `debuglink` (a file name, may be empty) next to the file, in .debug, and below ROOT. What is found must have the
/// same build-id, or, for a file without one, the checksum `crc`.
DebugFile find_debug_file(const std::string& file_path, const std::string& build_id, const std::string& debuglink,
                          std::uint32_t crc, const std::string& root = debug_directory());

/// Looks for the file that dwz moved common debug information of several debug files to: `name` as `debug_file_path`'s
/// section .gnu_debugaltlink has it, relative to that file, or by `build_id` below ROOT/.build-id. What is found must
/// have that build-id.
DebugFile find_alternate_file(const std::string& debug_file_path, const std::string& name, const std::string& build_id,
                              const std::string& root = debug_directory());

}  // namespace loopfold::symbols
