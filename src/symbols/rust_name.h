// Names of Rust functions as programmers write them, from either of rustc's two manglings. Internal to src/symbols.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace loopfold::symbols {

/// The readable form of a symbol that rustc mangled, or nothing if the symbol is not one, is damaged, or would be too
/// long or too deeply nested to be of use. Any bytes may be given.
std::optional<std::string> rust_name(std::string_view symbol);

}  // namespace loopfold::symbols
