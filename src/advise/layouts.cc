#include "advise/layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace loopfold::advise {

namespace {

/// Rows of a multiple of this many bytes lie over each other in the nearest cache, or nearly so.
constexpr std::int64_t kCachePeriod = 4096;
constexpr std::int64_t kPadBytes = 64;

std::int64_t row_bytes(const Layout& layout, const Array& array) {
  return array.element * static_cast<std::int64_t>(extent_of(array, layout.order.back()));
}

bool is_padded_usefully(const Layout& layout, const Array& array) {
  return layout.order.size() >= 2 && !array.is_structure() && row_bytes(layout, array) % (kCachePeriod / 4) == 0 &&
         kPadBytes % array.element == 0;
}

std::string name_of(const profile::Object& object) {
  std::string name;
  for (const char c : object.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

/// "double" of "double[100][120]"; empty if that is not what the type looks like.
std::string element_type(const std::string& type) {
  const std::size_t bracket = type.find('[');
  if (bracket == std::string::npos || bracket == 0) return "";
  std::string element = type.substr(0, bracket);
  while (!element.empty() && element.back() == ' ') element.pop_back();
  return element;
}

}  // namespace

std::size_t dimensions_of(const Array& array) { return array.dimensions.size() + (array.blocks > 1 ? 1 : 0); }

std::uint64_t extent_of(const Array& array, std::size_t dimension) {
  if (array.blocks > 1) return dimension == 0 ? array.blocks : array.dimensions[dimension - 1].extent;
  return array.dimensions[dimension].extent;
}

bool Layout::is_identity(const Array& array) const {
  return pad == 0 && !(apart && array.is_structure()) && std::is_sorted(order.begin(), order.end());
}

Layout identity_of(const Array& array) {
  Layout layout;
  layout.object = array.object;
  layout.order.resize(dimensions_of(array));
  std::iota(layout.order.begin(), layout.order.end(), 0u);
  return layout;
}

std::string no_layouts(const Array& array, const profile::Profile& profile) {
  const profile::Object::Kind kind = profile.objects[array.object].kind;
  if (kind != profile::Object::Kind::kHeap && kind != profile::Object::Kind::kGlobal) return "no array of the program";
  if (!array.problem.empty()) return array.problem;
  const bool one = std::all_of(array.dimensions.begin(), array.dimensions.end(),
                               [](const ArrayDimension& dimension) { return dimension.extent <= 1; });
  if (array.dimensions.empty() || (one && array.blocks == 1)) return "one element";
  if (dimensions_of(array) > kMostDimensions) return "too many dimensions";
  if (dimensions_of(array) == 1 && !array.is_structure()) return "one dimension: there is one order only";
  return "";
}

std::vector<Layout> layouts_of(const Array& array) {
  std::vector<Layout> all;
  Layout layout = identity_of(array);
  do {
    layout.apart = false;
    layout.pad = 0;
    all.push_back(layout);
    if (is_padded_usefully(layout, array)) {
      layout.pad = static_cast<std::uint32_t>(kPadBytes / array.element);
      all.push_back(layout);
      layout.pad = 0;
    }
    if (!array.is_structure()) continue;
    layout.apart = true;
    all.push_back(layout);
  } while (std::next_permutation(layout.order.begin(), layout.order.end()));
  return all;
}

std::vector<double> strides_of(const Layout& layout, const Array& array, std::uint64_t access_size) {
  std::vector<double> strides(layout.order.size());
  double stride = layout.apart ? static_cast<double>(access_size) : static_cast<double>(array.element);
  for (std::size_t k = layout.order.size(); k-- > 0;) {
    strides[layout.order[k]] = stride;
    const std::uint32_t pad = k + 1 == layout.order.size() ? layout.pad : 0;
    stride *= static_cast<double>(extent_of(array, layout.order[k]) + pad);
  }
  return strides;
}

std::string layout_map(const Layout& layout, const Array& array, const profile::Object& object) {
  std::vector<std::string> from;
  for (std::size_t k = 0; k < dimensions_of(array); ++k) from.push_back(fmt::format("i{}", k));
  std::vector<std::string> to;
  for (const std::uint32_t k : layout.order) to.push_back(from[k]);
  if (array.is_structure()) {
    from.emplace_back("field");
    to.insert(layout.apart ? to.begin() : to.end(), "field");
  }
  return fmt::format("{{ {}[{}] -> [{}] }}", name_of(object), fmt::join(from, ", "), fmt::join(to, ", "));
}

std::string layout_words(const Layout& layout, const Array& array, const profile::Object& object) {
  std::vector<std::string> how;
  if (!std::is_sorted(layout.order.begin(), layout.order.end())) {
    std::vector<std::string> extents;
    for (const std::uint32_t k : layout.order) extents.push_back(fmt::format("[{}]", extent_of(array, k)));
    how.push_back(layout.order.size() == 2 ? "by columns" : fmt::format("as {}", fmt::join(extents, "")));
  }
  if (layout.apart && array.is_structure()) how.emplace_back("with one array per field");
  if (layout.pad > 0) how.push_back(fmt::format("with rows longer by {} elements", layout.pad));
  const std::string text = array_text(array, object);
  return how.empty() ? text + " as it is" : fmt::format("{} {}", text, fmt::join(how, ", "));
}

std::string layout_directive(const Layout& layout, const Array& array, const profile::Object& object, bool stored) {
  const std::string type = element_type(object.type);
  if (type.empty() || array.is_structure() || array.blocks > 1) return "";
  const bool named = !object.name.empty() && std::all_of(object.name.begin(), object.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!named) return "";
  std::vector<std::string> from;
  std::vector<std::string> extents;
  for (std::size_t k = 0; k < dimensions_of(array); ++k) {
    from.push_back(fmt::format("e{}", k + 1));
    extents.push_back(std::to_string(extent_of(array, k)));
  }
  std::vector<std::string> to;
  for (const std::uint32_t k : layout.order) to.push_back(from[k]);
  std::string text = fmt::format("map({}: {}({}) -> ({}) : {}[{}])", stored ? "inout" : "in", object.name,
                                 fmt::join(from, ","), fmt::join(to, ", "), type, fmt::join(extents, ", "));
  if (layout.pad > 0) {
    std::vector<std::string> pads(layout.order.size(), "0");
    pads.back() = std::to_string(layout.pad);
    text += fmt::format(" pad({}: {})", object.name, fmt::join(pads, ", "));
  }
  return text;
}

}  // namespace loopfold::advise
