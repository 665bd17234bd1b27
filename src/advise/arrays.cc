#include "advise/arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace loopfold::advise {

namespace {

/// One access along one loop.
struct Walk {
  std::int64_t stride = 0;  // bytes, not negative
  std::uint64_t steps = 0;  // most, from the first iteration to the last
};

class ShapeFinder {
 public:
  ShapeFinder(const profile::Profile& profile, std::uint32_t object) : profile_(profile) { array_.object = object; }

  void add(const profile::Access& access) {
    array_.accesses += access.count;
    const bool known = access.exact && access.constant && !access.guarded &&
                       std::none_of(access.coefficients.begin(), access.coefficients.end(),
                                    [](const auto& coefficient) { return !coefficient; });
    if (!known) {
      if (array_.problem.empty()) array_.problem = "an access that is not affine" + place(access);
      return;
    }
    const profile::Statement& statement = profile_.statements[access.statement];
    std::vector<Walk> walks;
    for (std::size_t k = 0; k < access.coefficients.size(); ++k) {
      const std::uint64_t steps = steps_of(statement, k);
      if (*access.coefficients[k] != 0 && steps > 0) walks.push_back({std::abs(*access.coefficients[k]), steps});
      if (k < access.block_coefficients.size() && access.block_coefficients[k] != 0) moves_between_blocks_ = true;
    }
    walks_.push_back(std::move(walks));
    fields_[{*access.constant, access.size}] += access.count;
    least_ = std::min(least_, std::int64_t(access.size));
  }

  Array take() {
    const profile::Object& object = profile_.objects[array_.object];
    if (array_.problem.empty() && walks_.empty()) array_.problem = "nothing accesses it";
    if (array_.problem.empty() && object.blocks > 1 && !moves_between_blocks_)
      array_.problem = "several blocks that are used one by one";
    if (!array_.problem.empty()) return std::move(array_);
    if (object.blocks > 1) array_.blocks = object.blocks;
    if (!take_declared(object)) find_dimensions(static_cast<std::int64_t>(object.size));
    return std::move(array_);
  }

 private:
  std::uint64_t steps_of(const profile::Statement& statement, std::size_t k) const {
    if (k >= statement.loops.size() || !statement.loops[k]) return 0;
    const std::uint64_t most = profile_.tree[*statement.loops[k]].iterations_per_entry.max;
    return most > 0 ? most - 1 : 0;
  }

  static std::string place(const profile::Access& access) {
    if (!access.source) return "";
    return fmt::format(" at {}:{}", access.source->file.substr(access.source->file.rfind('/') + 1),
                       access.source->line);
  }

  /// No access gets as far as one stride by loops with smaller ones.
  bool is_dimension(std::int64_t stride) const {
    return std::all_of(walks_.begin(), walks_.end(), [&](const std::vector<Walk>& walks) {
      double reach = 0;
      for (const Walk& walk : walks)
        if (walk.stride < stride) reach += static_cast<double>(walk.stride) * static_cast<double>(walk.steps);
      return reach < static_cast<double>(stride);
    });
  }

  /// The shape that the type says, "double[300][120]", if all accesses keep to its rows.
  bool take_declared(const profile::Object& object) {
    const std::vector<std::uint64_t> extents = extents_of(object.type);
    std::int64_t elements = 1;
    for (const std::uint64_t extent : extents) elements *= static_cast<std::int64_t>(extent);
    const auto size = static_cast<std::int64_t>(object.size);
    if (extents.empty() || object.blocks > 1 || elements <= 0 || size % elements != 0) return false;
    const std::int64_t element = size / elements;
    std::vector<ArrayDimension> inner_first;
    std::int64_t stride = element;
    for (std::size_t k = extents.size(); k-- > 0;) {
      inner_first.push_back({stride, extents[k]});
      stride *= static_cast<std::int64_t>(extents[k]);
    }
    const bool keeps = std::all_of(inner_first.begin(), inner_first.end(),
                                   [&](const ArrayDimension& d) { return is_dimension(d.stride); });
    const bool whole = std::all_of(walks_.begin(), walks_.end(), [&](const std::vector<Walk>& walks) {
      return std::all_of(walks.begin(), walks.end(), [&](const Walk& walk) { return walk.stride % element == 0; });
    });
    if (!keeps || !whole || element < least_) return false;
    array_.element = element;
    array_.dimensions.assign(inner_first.rbegin(), inner_first.rend());
    find_fields();
    return true;
  }

  /// Of "double[300][120]": 300, 120. Of pointers and anything else nothing.
  static std::vector<std::uint64_t> extents_of(const std::string& type) {
    std::vector<std::uint64_t> extents;
    std::size_t at = type.find('[');
    while (at < type.size()) {
      const std::size_t end = type.find(']', at);
      if (type[at] != '[' || end == std::string::npos || end == at + 1) return {};
      std::uint64_t extent = 0;
      for (std::size_t k = at + 1; k < end; ++k) {
        if (type[k] < '0' || type[k] > '9' || extent > (std::uint64_t{1} << 40)) return {};
        extent = 10 * extent + static_cast<std::uint64_t>(type[k] - '0');
      }
      if (extent == 0) return {};
      extents.push_back(extent);
      at = end + 1;
    }
    return extents;
  }

  void find_dimensions(std::int64_t size) {
    std::set<std::int64_t> strides;
    std::int64_t common = 0;
    for (const std::vector<Walk>& walks : walks_)
      for (const Walk& walk : walks) {
        strides.insert(walk.stride);
        common = std::gcd(common, walk.stride);
      }
    array_.element = common == 0 ? least_ : common;
    find_fields();
    std::vector<ArrayDimension> inner_first = {{array_.element, 0}};
    for (const std::int64_t stride : strides) {
      const std::int64_t last = inner_first.back().stride;
      if (stride <= last || stride % last != 0 || !is_dimension(stride)) continue;
      inner_first.back().extent = static_cast<std::uint64_t>(stride / last);
      inner_first.push_back({stride, 0});
    }
    const std::int64_t last = inner_first.back().stride;
    inner_first.back().extent = static_cast<std::uint64_t>(std::max<std::int64_t>((size + last - 1) / last, 1));
    if (size % last != 0) array_.assumes.push_back("the last row is shorter");
    array_.dimensions.assign(inner_first.rbegin(), inner_first.rend());
  }

  void find_fields() {
    if (array_.element <= least_) {
      array_.element = std::max<std::int64_t>(array_.element, 1);
      array_.fields = {{0, static_cast<std::uint64_t>(array_.element), array_.accesses}};
      return;
    }
    std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> fields;
    for (const auto& [field, count] : fields_) {
      const std::int64_t offset = ((field.first % array_.element) + array_.element) % array_.element;
      fields[{offset, field.second}] += count;
    }
    std::int64_t end = 0;
    for (const auto& [field, count] : fields) {
      if (field.first < end || field.first + std::int64_t(field.second) > array_.element) {
        array_.problem = "fields that overlap";
        return;
      }
      end = field.first + std::int64_t(field.second);
      array_.fields.push_back({field.first, field.second, count});
    }
    array_.assumes.push_back(fmt::format("elements are structures of {} bytes", array_.element));
  }

  const profile::Profile& profile_;
  Array array_;
  std::vector<std::vector<Walk>> walks_;                                    // by access
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> fields_;  // offset and size: accesses
  std::int64_t least_ = 1 << 30;
  bool moves_between_blocks_ = false;
};

}  // namespace

std::vector<Array> find_arrays(const profile::Profile& profile) {
  std::vector<ShapeFinder> finders;
  for (std::uint32_t object = 0; object < profile.objects.size(); ++object) finders.emplace_back(profile, object);
  for (const profile::Access& access : profile.accesses) finders[access.object].add(access);
  std::vector<Array> arrays;
  for (ShapeFinder& finder : finders) arrays.push_back(finder.take());
  return arrays;
}

std::vector<std::int64_t> subscript_steps(const Array& array, std::int64_t bytes, std::int64_t blocks) {
  std::vector<std::int64_t> steps;
  if (array.blocks > 1)
    steps.push_back(blocks);
  else if (blocks != 0)
    return {};
  for (const ArrayDimension& dimension : array.dimensions) {
    // To the nearest row: a step of -1 along it, or one row and one element back, is no row less and many elements.
    const std::int64_t half = dimension.stride / 2;
    const std::int64_t count = (bytes + (bytes >= 0 ? half : -half)) / dimension.stride;
    const bool innermost = &dimension == &array.dimensions.back();
    const std::int64_t taken = innermost ? bytes / dimension.stride : count;
    steps.push_back(taken);
    bytes -= taken * dimension.stride;
  }
  if (bytes != 0) return {};
  return steps;
}

std::string array_text(const Array& array, const profile::Object& object) {
  const bool named = std::none_of(object.name.begin(), object.name.end(), [](char c) { return c == ' '; });
  std::string text = named ? object.name : object.name + ", ";
  if (array.blocks > 1) text += fmt::format("[{}]", array.blocks);
  for (const ArrayDimension& dimension : array.dimensions) text += fmt::format("[{}]", dimension.extent);
  if (array.is_structure()) return text + fmt::format(" of structures of {} bytes", array.element);
  return text + fmt::format(" of {} bytes", array.element);
}

}  // namespace loopfold::advise
