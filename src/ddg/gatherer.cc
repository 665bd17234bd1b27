#include "ddg/gatherer.h"

#include <algorithm>
#include <bit>

namespace loopfold::ddg {

namespace {

std::uint64_t first_rows(std::size_t n) { return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

/// Rows, of those that are left, with the producer of the first of them.
std::uint64_t alike(const Cell* cells, std::uint64_t left) {
  const std::uint32_t producer = cells[std::countr_zero(left)].producer;
  std::uint64_t same = 0;
  for (std::uint64_t rest = left; rest != 0; rest &= rest - 1) {
    const int row = std::countr_zero(rest);
    same |= std::uint64_t{cells[row].producer == producer} << row;
  }
  return same;
}

}  // namespace

void Gatherer::take(const Streams::Reader& reader, const First& first, const Cell* cells, std::size_t n) {
  at_ = streams_.locate(reader.site);
  dimensions_ = Streams::dimensions(at_);
  set_points(first, n);
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < n; ++i) left |= std::uint64_t{cells[i].producer != 0} << i;
  std::size_t producers = 0;
  for (std::uint64_t rest = left; rest != 0; rest &= ~alike(cells, rest)) ++producers;
  if (!streams_.has_room_for_producers(at_, producers)) {
    for (; left != 0; left &= left - 1) {
      const auto row = static_cast<std::size_t>(std::countr_zero(left));
      take_one(reader, cells[row], row);
    }
    return;
  }
  while (left != 0) {
    const std::uint64_t same = producers == 1 ? left : alike(cells, left);
    take_some(reader, cells, same);
    left &= ~same;
  }
}

void Gatherer::set_points(const First& first, std::size_t n) {
  if (points_.size() < kMost * dimensions_) {
    points_.resize(kMost * dimensions_);
    chosen_points_.resize(kMost * dimensions_);
    around_.resize(dimensions_);
    ends_.resize(dimensions_);
  }
  const std::size_t inner = dimensions_ - 1;
  std::int64_t* const points = points_.data();
  entries_.vector(first.entry, first.counter, points, around_.data());
  for (std::size_t i = 1; i < n; ++i) {
    std::copy_n(points, inner, points + i * dimensions_);
    points[i * dimensions_ + inner] = points[inner] + static_cast<std::int64_t>(i);
  }
  for (std::size_t k = 0; k < inner; ++k) ends_[k] = {points[k], points[k]};
  ends_[inner] = {points[inner], points[inner] + static_cast<std::int64_t>(n - 1)};
  std::fill_n(serials_.begin(), n, first.serial);
  const std::uint64_t follows = first_rows(n) & ~std::uint64_t{1};
  all_ = {points, serials_.data(), n, true, ends_.data(), follows, ends_.data()};
}

/// Those of these rows alone.
Streams::Instances Gatherer::choose(std::uint64_t rows) {
  std::size_t n = 0;
  for (std::uint64_t rest = rows; rest != 0; rest &= rest - 1)
    chosen_[n++] = static_cast<std::uint8_t>(std::countr_zero(rest));
  if (n == all_.n) return all_;
  const std::uint64_t follow = rows & rows << 1;
  std::uint64_t follows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    follows |= (follow >> chosen_[i] & 1) << i;
    std::copy_n(point(chosen_[i]), dimensions_, chosen_points_.data() + i * dimensions_);
  }
  return {chosen_points_.data(), serials_.data(), n, true, nullptr, follows, all_.ends};
}

/// Those of one producer. The vectors of two instances in one entry of a loop differ in the last coordinate only.
void Gatherer::take_some(const Streams::Reader& reader, const Cell* cells, std::uint64_t rows) {
  const Streams::Instances some = choose(rows);
  const DefinitionId from = cells[chosen_[0]].producer;
  const std::size_t depth = streams_.dimensions_of_definition(from);
  if (producers_.size() < kMost * depth) producers_.resize(kMost * depth);
  std::size_t least = depth;
  std::int64_t* into = producers_.data();
  for (std::size_t i = 0; i < some.n; ++i, into += depth) {
    const Cell& cell = cells[chosen_[i]];
    if (i > 0 && cell.entry == cells[chosen_[i - 1]].entry) {
      std::copy_n(into - depth, depth - 1, into);
      into[depth - 1] = static_cast<std::int64_t>(cell.counter);
      equal_[i] = equal_[i - 1];
      continue;
    }
    equal_[i] = static_cast<std::uint16_t>(entries_.vector_near(
        cell.entry, cell.counter, point(chosen_[i]), dimensions_, [&](std::size_t k) { return around_[k]; }, into));
    least = std::min<std::size_t>(least, equal_[i]);
  }
  streams_.dependences(at_, reader, from, some, producers_.data(), equal_.data(), least, 0, false);
}

void Gatherer::take_one(const Streams::Reader& reader, const Cell& cell, std::size_t row) {
  const std::size_t depth = streams_.dimensions_of_definition(cell.producer);
  if (producers_.size() < kMost * depth) producers_.resize(kMost * depth);
  const std::size_t equal = entries_.vector_near(
      cell.entry, cell.counter, point(row), dimensions_, [&](std::size_t k) { return around_[k]; }, producers_.data());
  streams_.dependence(at_, reader, cell.producer, point(row), producers_.data(), equal);
}

}  // namespace loopfold::ddg
