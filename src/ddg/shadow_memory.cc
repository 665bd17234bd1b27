// The parts of shadow memory that are not in every access's way: making, refining and dropping pages, clearing and
// moving ranges. shadow_memory.h says what is kept and how.
//
// The limit is looked at in two places only, where a page is made and where one is refined. If a page cannot be made it
// is lost until all of it is cleared; if it cannot be refined, the granules that are written or cleared in part are.
//
// A move goes window by window in the order that lets memmove overlap its operands, so that it holds two windows more
// at most: each is read, taken away at its old place, and written at its new one. Windows that begin where the next
// page with cells does skip the rest. Pages that lie the same in both ranges change hands whole.
#include "ddg/shadow_memory.h"

#include <utility>
#include <vector>

namespace loopfold::ddg {

ShadowMemory::~ShadowMemory() {
  for (auto& [number, region] : regions_) {
    for (Slot& slot : region->slots) drop_cells(slot);
  }
}

void ShadowMemory::look_up(std::uint64_t number, CacheEntry& entry) const {
  static Region nothing;
  const auto found = regions_.find(number);
  entry = {number, found != regions_.end() ? found->second.get() : &nothing};
}

ShadowMemory::Region& ShadowMemory::region_of(std::uint64_t page) {
  const std::uint64_t number = page >> kRegionBits;
  std::unique_ptr<Region>& region = regions_[number];
  if (region == nullptr) {
    region = std::make_unique<Region>();
    bytes_ += sizeof(Region);
    cache_[number % kCacheSize] = {number, region.get()};
  }
  return *region;
}

/// With the largest granule that a write of this range fits; kLostPage if there is no memory for it.
ShadowMemory::Slot ShadowMemory::make_page(std::uint64_t offset, std::uint64_t size) {
  unsigned shift = kCoarsest;
  while (((offset | size) & low_bits(shift)) != 0) --shift;
  if (bytes_ + page_bytes(shift) > limit_) return kLostPage;
  bytes_ += page_bytes(shift);
  return reinterpret_cast<Slot>(new Cell[cell_count(shift)]) | shift;
}

void ShadowMemory::drop_cells(Slot& slot) {
  if (has_cells(slot)) {
    bytes_ -= page_bytes(shift_of(slot));
    delete[] cells_of(slot);
  }
  slot = 0;
}

/// False: there is no memory for it.
bool ShadowMemory::refine(Slot& slot, unsigned shift) {
  const unsigned old_shift = shift_of(slot);
  const std::uint64_t more = page_bytes(shift) - page_bytes(old_shift);
  if (bytes_ + more > limit_) return false;
  const Cell* old_cells = cells_of(slot);
  Cell* cells = new Cell[cell_count(shift)];
  for (std::uint64_t i = 0; i < cell_count(shift); ++i) cells[i] = old_cells[i >> (old_shift - shift)];
  delete[] old_cells;
  slot = reinterpret_cast<Slot>(cells) | shift;
  bytes_ += more;
  return true;
}

/// Puts a cell into a range of a page that has cells, the empty cell included. Granules at the two ends that are
/// covered in part matter only if they hold another cell.
void ShadowMemory::fill(Slot& slot, std::uint64_t offset, std::uint64_t size, const Cell& cell) {
  const std::uint64_t end = offset + size;
  const auto splits = [&](std::uint64_t border) {
    return (border & low_bits(shift_of(slot))) != 0 && cells_of(slot)[border >> shift_of(slot)] != cell;
  };
  if (splits(offset) || splits(end)) {
    unsigned shift = shift_of(slot);
    while (((offset | end) & low_bits(shift)) != 0) --shift;
    if (!refine(slot, shift)) {
      ++lost_writes_;
      if (splits(offset)) cells_of(slot)[offset >> shift_of(slot)] = lost_cell();
      if (splits(end)) cells_of(slot)[end >> shift_of(slot)] = lost_cell();
    }
  }
  const unsigned shift = shift_of(slot);
  const std::uint64_t first = (offset + low_bits(shift)) >> shift;
  const std::uint64_t last = end >> shift;
  if (first < last) fill_cells(cells_of(slot) + first, last - first, cell);
}

void ShadowMemory::write_in_page(std::uint64_t page, std::uint64_t offset, std::uint64_t size, const Cell& cell) {
  Region& region = region_of(page);
  Slot& slot = region.slots[page & (kRegionPages - 1)];
  note_change(page << kPageBits);
  if (slot == 0) {
    slot = make_page(offset, size);
    ++region.used;
  }
  if (slot == kLostPage) {
    ++lost_writes_;
  } else {
    fill(slot, offset, size, cell);
  }
}

void ShadowMemory::write_slowly(std::uint64_t address, std::uint64_t size, const Cell& cell) {
  size = clip(address, size);
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t offset = (address + done) & kPageMask;
    const std::uint64_t in_page = std::min(size - done, kPageSize - offset);
    write_in_page((address + done) >> kPageBits, offset, in_page, cell);
    done += in_page;
  }
}

void ShadowMemory::clear_in_page(std::uint64_t page, Region& region, std::uint64_t offset, std::uint64_t size) {
  Slot& slot = region.slots[page & (kRegionPages - 1)];
  if (slot == 0) return;
  note_change(page << kPageBits);
  if (size == kPageSize) {
    drop_cells(slot);
    --region.used;
  } else if (slot != kLostPage) {
    fill(slot, offset, size, Cell{});
  }
}

void ShadowMemory::clear(std::uint64_t address, std::uint64_t size) {
  size = clip(address, size);
  if (size == 0) return;
  const std::uint64_t last = address + (size - 1);
  const std::uint64_t last_page = last >> kPageBits;
  auto at = regions_.lower_bound(address >> kPageBits >> kRegionBits);
  for (; at != regions_.end() && at->first <= last_page >> kRegionBits; ++at) {
    Region& region = *at->second;
    if (region.used == 0) continue;
    const std::uint64_t first_of_region = at->first << kRegionBits;
    const std::uint64_t from = std::max(address >> kPageBits, first_of_region);
    const std::uint64_t to = std::min(last_page, first_of_region + (kRegionPages - 1));
    for (std::uint64_t page = from; page <= to; ++page) {
      const std::uint64_t start = page << kPageBits;
      const std::uint64_t low = std::max(address, start) - start;
      const std::uint64_t high = std::min(last, start + kPageMask) - start;
      clear_in_page(page, region, low, high - low + 1);
    }
  }
}

/// Bytes of the range before the first page that was written; all of them if there is none.
std::uint64_t ShadowMemory::next_used(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t first_page = address >> kPageBits;
  for (auto at = regions_.lower_bound(first_page >> kRegionBits); at != regions_.end(); ++at) {
    const std::uint64_t first_of_region = at->first << kRegionBits;
    if (first_of_region > first_page && (first_of_region << kPageBits) - address >= size) return size;
    if (at->second->used == 0) continue;
    for (std::uint64_t i = std::max(first_page, first_of_region) - first_of_region; i < kRegionPages; ++i) {
      if (at->second->slots[i] == 0) continue;
      const std::uint64_t start = (first_of_region + i) << kPageBits;
      return start <= address ? 0 : std::min(size, start - address);
    }
  }
  return size;
}

/// Bytes of the range up to and with the last page that was written; 0 if there is none.
std::uint64_t ShadowMemory::last_used(std::uint64_t address, std::uint64_t size) const {
  const std::uint64_t last_page = (address + (size - 1)) >> kPageBits;
  for (auto at = regions_.upper_bound(last_page >> kRegionBits); at != regions_.begin();) {
    --at;
    const std::uint64_t first_of_region = at->first << kRegionBits;
    const std::uint64_t last_of_region = first_of_region + (kRegionPages - 1);
    if (last_of_region < address >> kPageBits) return 0;
    if (at->second->used == 0) continue;
    for (std::uint64_t i = std::min(last_page, last_of_region) - first_of_region + 1; i-- > 0;) {
      if (at->second->slots[i] == 0) continue;
      const std::uint64_t last = ((first_of_region + i) << kPageBits) + kPageMask;
      return last < address ? 0 : std::min(size, last - address + 1);
    }
  }
  return 0;
}

/// Moves at most a page. The two ranges may overlap.
void ShadowMemory::move_window(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  if (size == kPageSize && ((from | to) & kPageMask) == 0) {
    Region& source = region_of(from >> kPageBits);
    Region& target = region_of(to >> kPageBits);
    Slot& old_slot = source.slots[from >> kPageBits & (kRegionPages - 1)];
    Slot& new_slot = target.slots[to >> kPageBits & (kRegionPages - 1)];
    clear_in_page(to >> kPageBits, target, 0, kPageSize);
    if (old_slot == 0) return;
    note_change(from);
    note_change(to);
    new_slot = std::exchange(old_slot, 0);
    --source.used;
    ++target.used;
    return;
  }
  std::vector<Chunk> chunks;
  read(from, size, [&](std::uint64_t offset, std::uint64_t chunk_size, const Cell& cell) {
    chunks.push_back({offset, chunk_size, cell});
  });
  clear(from, size);
  clear(to, size);
  for (const Chunk& chunk : chunks) write(to + chunk.offset, chunk.size, chunk.cell);
}

void ShadowMemory::move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  const std::uint64_t kept = std::min(clip(from, size), clip(to, size));
  if (from == to || size == 0) return;
  if (to < from) {
    for (std::uint64_t done = 0; done < kept;) {
      const std::uint64_t gap = next_used(from + done, kept - done);
      clear(to + done, gap);
      done += gap;
      const std::uint64_t window = std::min(kept - done, kPageSize - ((from + done) & kPageMask));
      if (window != 0) move_window(from + done, to + done, window);
      done += window;
    }
  } else {
    for (std::uint64_t left = kept; left > 0;) {
      const std::uint64_t used = last_used(from, left);
      clear(to + used, left - used);
      left = used;
      if (left == 0) break;
      const std::uint64_t window = std::min(left, ((from + (left - 1)) & kPageMask) + 1);
      move_window(from + (left - window), to + (left - window), window);
      left -= window;
    }
  }
  clear(from + kept, clip(from, size) - kept);
}

}  // namespace loopfold::ddg
