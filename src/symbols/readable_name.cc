// Demangles with the C++ runtime's own demangler, and Rust's names before it, because the older ones of these are C++
// names too.
//
// Suffixes of copies that the compiler made (`.constprop.0`, `.part.1`) stay, as the C++ demangler writes them:
// `sum(int) [clone .constprop.0]`.
#include "symbols/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "symbols/rust_name.h"

namespace loopfold::symbols {
namespace {

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return name;
  return demangled.get();
}

}  // namespace

std::string readable_name(std::string_view name) {
  std::string text(name);
  if (const std::size_t at = text.find('@'); at != std::string::npos && at != 0) text.resize(at);
  if (std::optional<std::string> rust = rust_name(text)) return *std::move(rust);
  return text.starts_with("_Z") ? demangle(text) : text;
}

bool is_cold_part(std::string_view name) {
  return name.ends_with(".cold") || name.find(".cold.") != std::string_view::npos;
}

std::string_view owner_of_cold_part(std::string_view name) { return name.substr(0, name.rfind(".cold")); }

std::string base_name(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

}  // namespace loopfold::symbols
