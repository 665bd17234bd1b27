// Demangles with the C++ runtime's own demangler. Rust's older names are C++ names with an odd end and escapes inside
// (`_ZN1r12Foo$LT$T$GT$2go17h967a83d386b00eb7E`); these are undone afterwards. Rust's newer names (`_R...`) are left as
// they are: the standard library's code is compiled with them, a user's is not by default.
//
// Suffixes of copies that the compiler made (`.constprop.0`, `.part.1`) stay, as the C++ demangler writes them:
// `sum(int) [clone .constprop.0]`.
#include "symbols/readable_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

namespace loopfold::symbols {
namespace {

constexpr std::string_view kHashMark = "::h";
constexpr std::size_t kHashSize = 16;

/// Whether a demangled name ends in `::h` and 16 hexadecimal digits, as Rust's do.
bool has_rust_hash(std::string_view name) {
  if (name.size() < kHashMark.size() + kHashSize) return false;
  const std::string_view end = name.substr(name.size() - kHashMark.size() - kHashSize);
  return end.starts_with(kHashMark) && std::all_of(end.begin() + kHashMark.size(), end.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// The text of the escape `$code$`, or empty if there is no such escape.
std::string rust_escape(std::string_view code) {
  static constexpr std::array<std::pair<std::string_view, char>, 7> kEscapes = {
      {{"LT", '<'}, {"GT", '>'}, {"RF", '&'}, {"BP", '*'}, {"LP", '('}, {"RP", ')'}, {"C", ','}}};
  for (const auto& [name, character] : kEscapes) {
    if (code == name) return std::string(1, character);
  }
  if (code.size() == 3 && code.front() == 'u') {
    const std::string digits(code.substr(1));
    char* end = nullptr;
    const long value = std::strtol(digits.c_str(), &end, 16);
    if (*end == '\0' && value >= 0x20 && value < 0x7f) return std::string(1, static_cast<char>(value));
  }
  return {};
}

std::string undo_rust_escapes(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_component = text.empty() || text.ends_with("::");
    if (name[i] == '_' && starts_component && name.substr(i + 1, 1) == "$") continue;
    if (name.substr(i, 2) == "..") {
      text += "::";
      ++i;
      continue;
    }
    if (name[i] == '$') {
      const std::size_t end = name.find('$', i + 1);
      const std::string escape =
          end == std::string_view::npos ? std::string() : rust_escape(name.substr(i + 1, end - i - 1));
      if (!escape.empty()) {
        text += escape;
        i = end;
        continue;
      }
    }
    text += name[i];
  }
  return text;
}

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr) return name;
  const std::string_view text = demangled.get();
  if (!has_rust_hash(text)) return std::string(text);
  return undo_rust_escapes(text.substr(0, text.size() - kHashMark.size() - kHashSize));
}

}  // namespace

std::string readable_name(std::string_view name) {
  std::string text(name);
  if (const std::size_t at = text.find('@'); at != std::string::npos && at != 0) text.resize(at);
  return text.starts_with("_Z") ? demangle(text) : text;
}

bool is_cold_part(std::string_view name) {
  return name.ends_with(".cold") || name.find(".cold.") != std::string_view::npos;
}

std::string_view owner_of_cold_part(std::string_view name) { return name.substr(0, name.rfind(".cold")); }

std::string base_name(std::string_view path) { return std::string(path.substr(path.find_last_of('/') + 1)); }

}  // namespace loopfold::symbols
