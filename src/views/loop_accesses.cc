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

/// Bytes from one iteration to the next in a piece, but where it wraps.
Coefficient step_of(const profile::AccessPiece& piece, std::size_t coordinate) {
  const Coefficient coefficient = along(piece.coefficients, coordinate);
  if (!coefficient || piece.divisor <= 0 || *coefficient % piece.divisor != 0) return std::nullopt;
  return *coefficient / piece.divisor;
}

void find_stride(const Access& access, std::size_t coordinate, LoopAccess& row) {
  row.stride = along(access.coefficients, coordinate);
  if (row.stride || access.pieces.empty()) return;
  row.stride = step_of(access.pieces.front(), coordinate);
  for (const profile::AccessPiece& piece : access.pieces) {
    if (step_of(piece, coordinate) != row.stride) row.stride.reset();
    row.wraps = row.wraps || piece.modulus != 0;
  }
}

}  // namespace

LoopAccess access_along(const Access& access, std::size_t coordinate) {
  LoopAccess row{access.source, access.kind, access.size, access.object, std::nullopt, false, false, access.count};
  find_stride(access, coordinate, row);
  row.other_block = !access.block_coefficients.empty() && along(access.block_coefficients, coordinate) != 0;
  return row;
}

bool is_near(const LoopAccess& access) {
  if (access.other_block || !access.stride) return false;
  const auto size = static_cast<std::int64_t>(access.size);
  return *access.stride == 0 || *access.stride == size || *access.stride == -size;
}

std::vector<LoopAccess> accesses_of(const profile::Profile& profile, const profile::Loop& loop) {
  using Key = std::tuple<std::string, int, bool, std::uint64_t, std::uint32_t, Coefficient, bool, bool>;
  std::map<Key, LoopAccess> rows;
  for (const Access& access : profile.accesses) {
    const std::optional<std::size_t> at = coordinate(profile.statements[access.statement], loop);
    if (!at) continue;
    const LoopAccess row = access_along(access, *at);
    const profile::Source place = access.source.value_or(profile::Source{});
    const Key key{place.file,  place.line,     access.kind == Access::Kind::kStore,
                  access.size, access.object,  row.stride,
                  row.wraps,   row.other_block};
    const auto [found, is_new] = rows.try_emplace(key, row);
    if (!is_new) found->second.count += access.count;
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
  if (access.wraps) return stride == size ? "next, wraps" : fmt::format("{:+}, wraps", stride);
  if (stride == size) return "next element";
  if (size != 0 && stride == -size) return "previous element";
  return fmt::format("{:+} bytes", stride);
}

}  // namespace loopfold::views
