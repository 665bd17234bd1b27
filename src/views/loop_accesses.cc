#include "views/loop_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace loopfold::views {

namespace {

using profile::Access;
using profile::Coefficient;

/// Which coordinate of the statement counts the loop.
std::optional<std::size_t> coordinate(const profile::Statement& statement, const profile::Loop& loop) {
  for (std::size_t i = 0; i < statement.loops.size(); i++) {
    if (!statement.loops[i]) continue;
    if (std::find(loop.nodes.begin(), loop.nodes.end(), *statement.loops[i]) != loop.nodes.end()) return i;
  }
  return std::nullopt;
}

Coefficient along(const std::vector<Coefficient>& coefficients, std::size_t coordinate) {
  return coordinate < coefficients.size() ? coefficients[coordinate] : std::nullopt;
}

}  // namespace

std::vector<LoopAccess> accesses_of(const profile::Profile& profile, const profile::Loop& loop) {
  using Key = std::tuple<std::string, int, bool, std::uint64_t, std::uint32_t, Coefficient, bool>;
  std::map<Key, LoopAccess> rows;
  for (const Access& access : profile.accesses) {
    const std::optional<std::size_t> at = coordinate(profile.statements[access.statement], loop);
    if (!at) continue;
    const Coefficient stride = along(access.coefficients, *at);
    const bool other_block = !access.block_coefficients.empty() && along(access.block_coefficients, *at) != 0;
    const profile::Source place = access.source.value_or(profile::Source{});
    LoopAccess& row = rows[{place.file, place.line, access.kind == Access::Kind::kStore, access.size, access.object,
                            stride, other_block}];
    const std::uint64_t before = row.count;
    row = {access.source, access.kind, access.size, access.object, stride, other_block, before + access.count};
  }
  std::vector<LoopAccess> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(),
                   [](const LoopAccess& a, const LoopAccess& b) { return a.count > b.count; });
  return list;
}

std::string stride_text(const LoopAccess& access) {
  if (access.other_block) return "another block";
  if (!access.stride) return "irregular";
  const std::int64_t stride = *access.stride;
  const auto size = static_cast<std::int64_t>(access.size);
  if (stride == 0) return "stays";
  if (stride == size) return "next element";
  if (size != 0 && stride == -size) return "previous element";
  return fmt::format("{:+} bytes", stride);
}

}  // namespace loopfold::views
