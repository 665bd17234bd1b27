// The bundled page as the build left it: in pieces, since compilers limit how long a string literal may be. Written by
// web/build.mjs, or, without Node.js, by CMake with nothing in it.
#pragma once

#include <span>
#include <string_view>

namespace loopfold::views {

/// To be put together in order; none if the page was not built.
std::span<const std::string_view> template_pieces();

}  // namespace loopfold::views
