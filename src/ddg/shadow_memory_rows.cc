// Rows of accesses, page by page: in a page, cells are as far from each other as the accesses are, and all that is left
// for each of them is to compare or to store sixteen bytes.
#include "ddg/shadow_memory.h"

namespace loopfold::ddg {

void ShadowMemory::write_row(std::uint64_t address, std::uint64_t size, std::uint64_t step, std::uint64_t n,
                             Cell cell) {
  const __m128i one = _mm_set_epi64x(1, 0);
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
    auto* at = reinterpret_cast<__m128i*>(cells_of(slot) + (offset >> shift));
    __m128i whole = _mm_set_epi64x(static_cast<long long>(cell.counter),
                                   static_cast<long long>(std::uint64_t{cell.entry} << 32 | cell.producer));
    for (std::uint64_t i = 0; i < here; ++i, at += apart, whole = _mm_add_epi64(whole, one))
      for (std::uint64_t w = 0; w < wide; ++w) _mm_storeu_si128(at + w, whole);
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
    if (size > kPageSize - offset) return done;
    const Slot slot = slot_of(address >> kPageBits);
    std::uint64_t here = in_page(offset, size, step, n - done);
    if (has_cells(slot)) {
      const unsigned shift = shift_of(slot);
      if ((step & low_bits(shift)) != 0) here = 1;
      const std::uint64_t more = ((offset + size - 1) >> shift) - (offset >> shift);
      const std::int64_t apart = static_cast<std::int64_t>(step) >> shift;
      const Cell* cell = cells_of(slot) + (offset >> shift);
      for (std::uint64_t i = 0; i < here; ++i, cell += apart, expected.counter += counter_step)
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
