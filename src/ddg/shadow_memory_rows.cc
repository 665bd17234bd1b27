// Rows of accesses, page by page: in a page, cells are as far from each other as the accesses are, and all that is left
// for each of them is to compare or to store sixteen bytes. Accesses of one or two cells, as most are, have loops of
// their own; some are compared before it is asked whether all of them were equal.
#include "ddg/shadow_memory.h"

namespace loopfold::ddg {

namespace {

__m128i whole_of(const Cell& cell) {
  return _mm_set_epi64x(static_cast<long long>(cell.counter),
                        static_cast<long long>(std::uint64_t{cell.entry} << 32 | cell.producer));
}

/// Of n accesses of so many cells, how many of the first have the cells that are expected. Both are multiples of
/// kTogether: a few more may have them.
constexpr std::uint64_t kTogether = 4;

template <std::uint64_t kWide>
std::uint64_t matching_cells(const Cell* cells, std::int64_t apart, std::uint64_t n, const Cell& expected,
                             std::uint64_t counter_step) {
  const auto* at = reinterpret_cast<const __m128i*>(cells);
  const __m128i step = _mm_set_epi64x(static_cast<long long>(counter_step), 0);
  __m128i whole = whole_of(expected);
  for (std::uint64_t i = 0; i < n; i += kTogether) {
    __m128i difference = _mm_setzero_si128();
#pragma GCC unroll 4
    for (std::uint64_t k = 0; k < kTogether; ++k) {
      for (std::uint64_t w = 0; w < kWide; ++w)
        difference = _mm_or_si128(difference, _mm_xor_si128(whole, _mm_loadu_si128(at + w)));
      at += apart;
      whole = _mm_add_epi64(whole, step);
    }
    if (_mm_movemask_epi8(_mm_cmpeq_epi8(difference, _mm_setzero_si128())) != 0xffff) return i;
  }
  return n;
}

template <std::uint64_t kWide>
void write_cells(Cell* cells, std::int64_t apart, std::uint64_t n, const Cell& first) {
  auto* at = reinterpret_cast<__m128i*>(cells);
  const __m128i one = _mm_set_epi64x(1, 0);
  __m128i whole = whole_of(first);
  for (std::uint64_t i = 0; i < n; ++i, at += apart, whole = _mm_add_epi64(whole, one))
    for (std::uint64_t w = 0; w < kWide; ++w) _mm_storeu_si128(at + w, whole);
}

}  // namespace

void ShadowMemory::write_row(std::uint64_t address, std::uint64_t size, std::uint64_t step, std::uint64_t n,
                             Cell cell) {
  while (n > 0) {
    const std::uint64_t offset = address & kPageMask;
    const Slot slot = slot_of(address >> kPageBits);
    const unsigned shift = shift_of(slot);
    if (!has_cells(slot) || ((address | size | step) & low_bits(shift)) != 0 || size > kPageSize - offset) {
      write(address, size, cell);
      address += step;
      ++cell.counter;
      --n;
      continue;
    }
    const std::uint64_t here = in_page(offset, size, step, n);
    const std::uint64_t wide = size >> shift;
    const std::int64_t apart = static_cast<std::int64_t>(step) >> shift;
    Cell* const first = cells_of(slot) + (offset >> shift);
    if (wide == 1) {
      write_cells<1>(first, apart, here, cell);
    } else if (wide == 2) {
      write_cells<2>(first, apart, here, cell);
    } else {
      Cell* at = first;
      Cell now = cell;
      for (std::uint64_t i = 0; i < here; ++i, at += apart, ++now.counter) fill_cells(at, wide, now);
    }
    note_change(address);
    address += step * here;
    cell.counter += here;
    n -= here;
  }
}

std::uint64_t ShadowMemory::matching(std::uint64_t address, std::uint64_t size, std::uint64_t step, std::uint64_t n,
                                     Cell expected, std::uint64_t counter_step) const {
  std::uint64_t done = 0;
  while (done < n) {
    const std::uint64_t offset = address & kPageMask;
    if (const std::uint64_t first = kPageSize - offset; size > first) {
      if (!holds(address, first, expected) || !holds(address + first, size - first, expected)) return done;
      address += step;
      expected.counter += counter_step;
      ++done;
      continue;
    }
    const Slot slot = slot_of(address >> kPageBits);
    std::uint64_t here = in_page(offset, size, step, n - done);
    if (has_cells(slot)) {
      const unsigned shift = shift_of(slot);
      if ((step & low_bits(shift)) != 0) here = 1;
      const std::uint64_t more = ((offset + size - 1) >> shift) - (offset >> shift);
      const std::int64_t apart = static_cast<std::int64_t>(step) >> shift;
      const Cell* cell = cells_of(slot) + (offset >> shift);
      const std::uint64_t most = here / kTogether * kTogether;
      const std::uint64_t passed = more == 0   ? matching_cells<1>(cell, apart, most, expected, counter_step)
                                   : more == 1 ? matching_cells<2>(cell, apart, most, expected, counter_step)
                                               : 0;
      cell += apart * static_cast<std::int64_t>(passed);
      expected.counter += counter_step * passed;
      for (std::uint64_t i = passed; i < here; ++i, cell += apart, expected.counter += counter_step)
        for (std::uint64_t w = 0; w <= more; ++w)
          if (!(cell[w] == expected)) return done + i;
    } else {
      if (slot != 0 || !(expected == Cell{})) return done;
      if (counter_step != 0) return done + 1;
    }
    address += step * here;
    done += here;
  }
  return done;
}

bool ShadowMemory::unchanged_since(std::uint64_t time, std::uint64_t first, std::uint64_t last) const {
  const std::uint64_t end = last >> kSectorBits;
  for (std::uint64_t sector = first >> kSectorBits; sector <= end;) {
    const Region& region = region_at(sector / kRegionSectors);
    const std::uint64_t of_region = sector % kRegionSectors;
    const std::uint64_t count = std::min(end - sector + 1, kRegionSectors - of_region);
    std::uint64_t latest = 0;
    for (std::uint64_t i = 0; i < count; ++i) latest = std::max(latest, region.changed[of_region + i]);
    if (latest >= time) return false;
    sector += count;
  }
  return true;
}

}  // namespace loopfold::ddg
