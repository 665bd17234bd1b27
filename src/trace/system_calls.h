// Names of system calls, by their numbers on x86-64.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace loopfold::trace {

struct SystemCall {
  std::uint32_t number;
  std::string_view name;
  std::uint8_t arguments;
};

/// The system call with this number on x86-64, or null if it is not one of the usual ones.
const SystemCall* find_system_call(std::uint32_t number);
/// "write", or "syscall_433".
std::string system_call_name(std::uint32_t number);

}  // namespace loopfold::trace
