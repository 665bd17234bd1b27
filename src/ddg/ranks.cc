#include "ddg/ranks.h"

#include <algorithm>
#include <limits>

namespace loopfold::ddg {

namespace {

/// Nothing is claimed of numbers that are so large that sums of them might not fit.
constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max() / 4;

bool is_small(std::int64_t number) { return number > -kLarge && number < kLarge; }

bool find_growth(std::int64_t from, std::int64_t to, std::int64_t& growth) {
  growth = 0;
  if (!is_small(from) || !is_small(to)) return false;
  growth = to - from;
  return true;
}

}  // namespace

bool Ranks::moves_on_to(Ranks& next, bool flows_too) const {
  if (n != next.n || point.size() != next.point.size() || sites != next.sites || values.size() != next.values.size() ||
      accesses.size() != next.accesses.size())
    return false;
  const std::size_t around = point.size() - 2;
  if (!std::equal(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(around), next.point.begin()) ||
      point.back() != next.point.back() || !find_growth(point[around], next.point[around], next.stride) ||
      next.stride <= 0)
    return false;
  const auto moves_on = [&](const Flow& a, const Flow& b) {
    return a.used == b.used && a.from == b.from && a.lane == b.lane && a.level == b.level && a.step == b.step &&
           a.first == b.first && a.n == b.n && is_small(a.counter) &&
           a.counter + growth_along(a.level, next.stride) == b.counter;
  };
  if (flows_too && !std::equal(flows.begin(), flows.end(), next.flows.begin(), next.flows.end(), moves_on))
    return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& a = values[i];
    Value& b = next.values[i];
    if (a.value != b.value || a.site != b.site || a.step != b.step || !find_growth(a.label, b.label, b.growth))
      return false;
  }
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Access& a = accesses[i];
    Access& b = next.accesses[i];
    if (a.access != b.access || a.site != b.site || a.place.object != b.place.object || a.step.block != b.step.block ||
        a.step.offset != b.step.offset || a.copies != b.copies ||
        !find_growth(a.place.block, b.place.block, b.growth.block) ||
        !find_growth(a.place.offset, b.place.offset, b.growth.offset))
      return false;
  }
  return true;
}

void Ranks::go_on(const Ranks& next) {
  stretches = 2;
  stride = next.stride;
  serial = next.serial;
  for (std::size_t i = 0; i < values.size(); ++i) values[i].growth = next.values[i].growth;
  for (std::size_t i = 0; i < accesses.size(); ++i) accesses[i].growth = next.accesses[i].growth;
}

bool Ranks::same_growth(const Ranks& other) const {
  if (stride != other.stride) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].growth != other.values[i].growth) return false;
  for (std::size_t i = 0; i < accesses.size(); ++i)
    if (accesses[i].growth.block != other.accesses[i].growth.block ||
        accesses[i].growth.offset != other.accesses[i].growth.offset)
      return false;
  return true;
}

}  // namespace loopfold::ddg
