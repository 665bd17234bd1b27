#include "advise/check_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace loopfold::advise {

namespace {

using liveness::NestUnit;

constexpr std::int64_t kBehindAllTiles = std::int64_t{1} << 30;

}  // namespace

StepOrder::StepOrder(const liveness::NestUnits& units, const std::vector<NamedLoop>& loops)
    : units_(units), loops_(loops) {
  std::size_t deepest = 0;
  for (const NestUnit& unit : units.all) deepest = std::max(deepest, unit.loops.size());
  for (std::size_t u = 0; u < units.all.size(); ++u) {
    const NestUnit& unit = units.all[u];
    std::vector<TimeRow>& rows = rows_.emplace_back();
    const auto add = [&] {
      rows.push_back({std::vector<std::int64_t>(unit.loops.size()), 0, 1, std::nullopt, false});
      return &rows.back();
    };
    for (std::size_t k = 0; k <= deepest; ++k) {
      add()->constant = k < unit.places.size() ? unit.places[k] : 0;
      if (k == deepest) break;
      TimeRow* const counter = add();
      if (k >= unit.loops.size()) continue;
      counter->coefficients[k] = 1;
      for (std::uint32_t loop = 0; loop < loops.size(); ++loop)
        if (loops[loop].where[u] == k) counter->loop = loop;
    }
    parallel_.emplace_back(rows.size());
  }
}

Result<void> StepOrder::refuse(const std::string& why) { return fail(ErrorKind::kBadInput, why); }

std::optional<std::size_t> StepOrder::row_of(std::size_t unit, std::uint32_t loop, bool last) const {
  std::optional<std::size_t> found;
  for (std::size_t row = 0; row < rows_[unit].size(); ++row) {
    if (rows_[unit][row].loop != loop || (last && rows_[unit][row].tile)) continue;
    if (!last) return row;
    found = row;
  }
  return found;
}

/// The same one in all units that are in the loop.
std::optional<std::size_t> StepOrder::common_row(std::uint32_t loop, bool last) const {
  std::optional<std::size_t> row;
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (!is_in(u, loop)) continue;
    const std::optional<std::size_t> own = row_of(u, loop, last);
    if (!own || (row && *row != *own)) return std::nullopt;
    row = own;
  }
  return row;
}

/// A new row, 0 for all, in front of another one.
void StepOrder::insert(std::size_t at) {
  const auto offset = static_cast<std::ptrdiff_t>(at);
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    rows_[u].insert(rows_[u].begin() + offset,
                    {std::vector<std::int64_t>(units_.all[u].loops.size()), 0, 1, std::nullopt, false});
    parallel_[u].insert(parallel_[u].begin() + offset, false);
  }
}

/// By the places in these rows.
bool StepOrder::comes_before(std::size_t unit, std::size_t other, std::size_t first, std::size_t last) const {
  for (std::size_t row = first; row < last; ++row) {
    const TimeRow& a = rows_[unit][row];
    const TimeRow& b = rows_[other][row];
    if (a.loop || b.loop || a.constant == b.constant) continue;
    return a.constant < b.constant;
  }
  return unit < other;
}

Result<void> StepOrder::interchange(std::uint32_t a, std::uint32_t b) {
  std::optional<std::size_t> both;
  for (std::size_t u = 0; u < rows_.size() && !both; ++u)
    if (is_in(u, a) && is_in(u, b)) both = u;
  if (!both) return refuse(fmt::format("{} and {} are not nested in each other", loops_[a].name, loops_[b].name));
  std::size_t outer = *row_of(*both, a, true);
  std::size_t inner = *row_of(*both, b, true);
  if (outer > inner) {
    std::swap(outer, inner);
    std::swap(a, b);
  }
  std::vector<std::int64_t> sides(rows_.size(), 1);
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (is_in(u, a) && is_in(u, b)) {
      if (row_of(u, a, true) != outer || row_of(u, b, true) != inner)
        return refuse(
            fmt::format("{} and {} are not in the same rows of all statements", loops_[a].name, loops_[b].name));
    } else if (is_in(u, a)) {
      sides[u] = comes_before(u, *both, outer + 1, inner) ? 0 : 2;
    }
  }
  for (std::size_t u = 0; u < rows_.size(); ++u)
    if (is_in(u, a) && is_in(u, b)) std::swap(rows_[u][outer], rows_[u][inner]);
  insert(outer);
  for (std::size_t u = 0; u < rows_.size(); ++u) rows_[u][outer].constant = sides[u];
  return {};
}

Result<void> StepOrder::tile(std::vector<std::uint32_t> loops, std::int64_t size) {
  std::optional<std::size_t> whole;  // a unit in all of them
  for (std::size_t u = 0; u < rows_.size() && !whole; ++u)
    if (std::all_of(loops.begin(), loops.end(), [&](std::uint32_t loop) { return is_in(u, loop); })) whole = u;
  if (!whole) return refuse("the loops to be tiled are not nested in each other");
  std::sort(loops.begin(), loops.end(),
            [&](std::uint32_t a, std::uint32_t b) { return *row_of(*whole, a, true) < *row_of(*whole, b, true); });
  const std::size_t first = *row_of(*whole, loops.front(), true);
  for (std::size_t u = 0; u < rows_.size(); ++u)
    if (is_in(u, loops.front()) && row_of(u, loops.front(), true) != first)
      return refuse(fmt::format("{} is not in the same row of all statements", loops_[loops.front()].name));
  std::vector<std::vector<TimeRow>> tiles(rows_.size());
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    for (const std::uint32_t loop : loops) {
      TimeRow row{std::vector<std::int64_t>(units_.all[u].loops.size()), 0, 1, std::nullopt, true};
      if (const std::optional<std::size_t> own = is_in(u, loop) ? row_of(u, loop, true) : std::nullopt) {
        row = rows_[u][*own];
        row.divisor = size;
        row.tile = true;
      } else if (is_in(u, loops.front())) {
        row.constant =
            comes_before(u, *whole, first + 1, *row_of(*whole, loop, true)) ? -kBehindAllTiles : kBehindAllTiles;
      }
      tiles[u].push_back(std::move(row));
    }
  }
  for (std::size_t k = 0; k < loops.size(); ++k) insert(first);
  for (std::size_t u = 0; u < rows_.size(); ++u)
    for (std::size_t k = 0; k < loops.size(); ++k) rows_[u][first + k] = tiles[u][k];
  return {};
}

Result<void> StepOrder::skew(std::uint32_t a, std::uint32_t b, std::int64_t factor) {
  bool any = false;
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (!is_in(u, a) || !is_in(u, b)) continue;
    TimeRow& row = rows_[u][*row_of(u, a, true)];
    const TimeRow& by = rows_[u][*row_of(u, b, true)];
    if (row.divisor != 1 || by.divisor != 1) return refuse("tiled loops cannot be skewed: skew first");
    for (std::size_t k = 0; k < row.coefficients.size(); ++k) row.coefficients[k] += factor * by.coefficients[k];
    row.constant += factor * by.constant;
    any = true;
  }
  if (!any) return refuse(fmt::format("{} and {} are not nested in each other", loops_[a].name, loops_[b].name));
  return {};
}

Result<void> StepOrder::fuse(std::uint32_t a, std::uint32_t b) {
  const std::optional<std::size_t> row = common_row(a, true);
  if (!row || common_row(b, true) != row || *row == 0 || *row + 1 >= rows_.front().size())
    return refuse(fmt::format("{} and {} are not siblings", loops_[a].name, loops_[b].name));
  std::optional<std::int64_t> place;
  std::int64_t behind = 0;
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (is_in(u, a) && is_in(u, b)) return refuse("loops inside each other cannot be fused");
    if (!is_in(u, a)) continue;
    place = rows_[u][*row - 1].constant;
    behind = std::max(behind, rows_[u][*row + 1].constant + 1);
  }
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (!is_in(u, b)) continue;
    rows_[u][*row - 1].constant = place.value_or(0);
    rows_[u][*row + 1].constant += behind;
    rows_[u][*row].loop = a;
  }
  return {};
}

Result<void> StepOrder::distribute(std::uint32_t loop, const std::vector<std::int64_t>& parts) {
  const std::optional<std::size_t> row = common_row(loop, false);
  if (!row) return refuse(fmt::format("{} is not one loop any more", loops_[loop].name));
  insert(*row);
  for (std::size_t u = 0; u < rows_.size(); ++u)
    if (is_in(u, loop)) rows_[u][*row].constant = parts[u];
  return {};
}

Result<void> StepOrder::reverse(std::uint32_t loop) {
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    if (!is_in(u, loop)) continue;
    TimeRow& row = rows_[u][*row_of(u, loop, true)];
    for (std::int64_t& c : row.coefficients) c = -c;
    row.constant = -row.constant;
  }
  return {};
}

Result<void> StepOrder::parallel(std::uint32_t loop, bool innermost) {
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    const std::optional<std::size_t> row = row_of(u, loop, innermost);
    if (row) parallel_[u][*row] = true;
  }
  return {};
}

liveness::Times StepOrder::times(isl_ctx* isl) const {
  liveness::Times times;
  for (std::size_t u = 0; u < rows_.size(); ++u) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < units_.all[u].loops.size(); ++k) names.push_back(fmt::format("i{}", k));
    std::vector<std::string> rows;
    for (const TimeRow& row : rows_[u]) {
      std::string sum = std::to_string(row.constant);
      for (std::size_t k = 0; k < row.coefficients.size(); ++k)
        if (row.coefficients[k] != 0) sum += fmt::format(" + {}i{}", row.coefficients[k], k);
      rows.push_back(row.divisor == 1 ? sum : fmt::format("floor(({})/{})", sum, row.divisor));
    }
    const std::string text =
        fmt::format("{{ {}[{}] -> [{}] }}", units_.all[u].name, fmt::join(names, ", "), fmt::join(rows, ", "));
    times.of.emplace_back(isl_map_read_from_str(isl, text.c_str()));
    times.parallel.push_back(parallel_[u]);
    std::vector<liveness::TimeSum>& sums = times.sums.emplace_back();
    for (const TimeRow& row : rows_[u]) sums.push_back({row.coefficients, row.constant, row.divisor});
  }
  return times;
}

}  // namespace loopfold::advise
