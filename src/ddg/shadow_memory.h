// Shadow memory: who wrote each byte of memory last.
//
// From what: writes, clears and moves of byte ranges, in the order of the run. Every byte has a *cell*, the instance
// that wrote it, or none. Exactness: byte for byte, as long as the memory limit allows it; beyond it, bytes become
// *lost*: something wrote them and it is not known what. Nothing is ever attributed to a wrong producer.
//
// How: pages of 1 KB, each an array of cells, one per *granule* of 8, 4, 2 or 1 bytes. A page starts with the largest
// granule that its first write fits, and is refined when a write or clear covers a part of a granule. So an array of
// double takes 2 bytes of shadow per byte, one of char 16. Pages are found through regions of 4 MB, tables of their
// pages, which an ordered map holds and a direct-mapped cache finds. A slot of a table is the address of the page's
// cells, with the granule in its low bits: three dependent loads from an address to its cell, and nothing to invalidate
// when a page is refined.
//
// Cost: a few nanoseconds for an access that is made of whole granules of one page. clear() and move() pass over what
// has no pages without looking at it. Tables (1/128 of the memory touched) are made beyond the limit too, to remember
// what was lost.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>

namespace loopfold::ddg {

/// The instance that wrote something: what it means is up to the user, but for the two producers below.
struct Cell {
  std::uint32_t producer = 0;  // 0: nothing in the trace wrote it
  std::uint32_t entry = 0;
  std::uint64_t counter = 0;
  /// All of it at once: this is asked for every byte that is read.
  friend bool operator==(const Cell& a, const Cell& b) {
    const auto writer = [](const Cell& cell) { return std::uint64_t{cell.entry} << 32 | cell.producer; };
    return ((writer(a) ^ writer(b)) | (a.counter ^ b.counter)) == 0;
  }
};
static_assert(sizeof(Cell) == 16);

/// Puts a cell into `count` places, each with one store: what is stored in pieces cannot be loaded as a whole until the
/// stores are done, and cells are read soon after they were written.
[[gnu::always_inline]] inline void fill_cells(Cell* into, std::size_t count, const Cell& cell) {
  const __m128i whole = _mm_set_epi64x(static_cast<long long>(cell.counter),
                                       static_cast<long long>(std::uint64_t{cell.entry} << 32 | cell.producer));
  const auto store = [&](std::size_t i) { _mm_storeu_si128(reinterpret_cast<__m128i*>(into + i), whole); };
  if (count == 1) return store(0);
  for (; count >= 4; count -= 4, into += 4) {
    store(0);
    store(1);
    store(2);
    store(3);
  }
  if ((count & 2) != 0) {
    store(0);
    store(1);
    into += 2;
  }
  if ((count & 1) != 0) store(0);
}

/// Whether `count` neighbours are all like this one. Without a branch for each: mostly they are.
inline bool are_equal(const Cell* cells, std::size_t count, const Cell& like) {
  const auto load = [](const Cell* cell) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(cell)); };
  const __m128i first = load(&like);
  const auto differs = [&](const Cell* cell) { return _mm_xor_si128(first, load(cell)); };
  const auto four = [&](const Cell* cell) {
    return _mm_or_si128(_mm_or_si128(differs(cell), differs(cell + 1)),
                        _mm_or_si128(differs(cell + 2), differs(cell + 3)));
  };
  __m128i difference = _mm_setzero_si128();
  for (; count >= 4; count -= 4, cells += 4) difference = _mm_or_si128(difference, four(cells));
  if ((count & 2) != 0) {
    difference = _mm_or_si128(difference, _mm_or_si128(differs(cells), differs(cells + 1)));
    cells += 2;
  }
  if ((count & 1) != 0) difference = _mm_or_si128(difference, differs(cells));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(difference, _mm_setzero_si128())) == 0xffff;
}
/// Whether `count` neighbours, at least one, are all the same.
inline bool are_equal(const Cell* cells, std::size_t count) {
  return count == 1 || are_equal(cells + (count & 1), count & ~std::size_t{1}, cells[0]);
}

/// Something wrote it, and there was no memory to keep what.
inline constexpr std::uint32_t kLostProducer = 0xffffffff;

class ShadowMemory {
 public:
  ShadowMemory() = default;
  ~ShadowMemory();
  ShadowMemory(const ShadowMemory&) = delete;
  ShadowMemory& operator=(const ShadowMemory&) = delete;

  /// `cell` wrote these bytes. Its producer is neither 0 nor kLostProducer. What lies beyond the end of the address
  /// space is ignored, here and below.
  [[gnu::always_inline]] void write(std::uint64_t address, std::uint64_t size, const Cell& cell) {
    const std::uint64_t offset = address & kPageMask;
    Region& region = region_at(address >> kPageBits >> kRegionBits);
    if (const Slot slot = region.slots[address >> kPageBits & (kRegionPages - 1)]; has_cells(slot)) [[likely]] {
      const unsigned shift = shift_of(slot);
      if (((address | size) & low_bits(shift)) == 0 && size <= kPageSize - offset) [[likely]] {
        fill_cells(cells_of(slot) + (offset >> shift), size >> shift, cell);
        note_change(region, address);
        return;
      }
    }
    write_slowly(address, size, cell);
  }

  /// The cell of all of these bytes, if they are in one page and have the same one; else null. It stays where it is
  /// until memory changes.
  [[gnu::always_inline]] const Cell* only_cell(std::uint64_t address, std::uint64_t size) const {
    static constexpr Cell kEmpty{};
    const Slot slot = slot_of(address >> kPageBits);
    const std::uint64_t last = address + (size - 1);
    if ((address ^ last) >> kPageBits != 0) return nullptr;
    if (!has_cells(slot)) [[unlikely]]
      return slot == 0 ? &kEmpty : nullptr;
    const Cell* const first = cells_of(slot) + ((address & kPageMask) >> shift_of(slot));
    const Cell* const end = cells_of(slot) + ((last & kPageMask) >> shift_of(slot));
    return are_equal(first, static_cast<std::size_t>(end - first) + 1) ? first : nullptr;
  }

  /// The same where they may be in two pages.
  const Cell* cell_of(std::uint64_t address, std::uint64_t size) const {
    const std::uint64_t here = kPageSize - (address & kPageMask);
    if (size <= here) return only_cell(address, size);
    const Cell* const first = only_cell(address, here);
    const Cell* const second = only_cell(address + here, size - here);
    return first != nullptr && second != nullptr && *first == *second ? first : nullptr;
  }

  /// Whether all of these bytes, at least one, are in one page and have this cell. Of one that is lost: false.
  [[gnu::always_inline]] bool holds(std::uint64_t address, std::uint64_t size, const Cell& cell) const {
    const Slot slot = slot_of(address >> kPageBits);
    const std::uint64_t last = address + (size - 1);
    if ((address ^ last) >> kPageBits != 0) return false;
    if (!has_cells(slot)) return slot == 0 && cell == Cell{};
    const Cell* const first = cells_of(slot) + ((address & kPageMask) >> shift_of(slot));
    const Cell* const end = cells_of(slot) + ((last & kPageMask) >> shift_of(slot));
    return are_equal(first, static_cast<std::size_t>(end - first) + 1, cell);
  }

  // Of rows of accesses, n of them, each `step` bytes behind the one before (shadow_memory_rows.cc).

  /// As n times write(), the counter being one more each time.
  void write_row(std::uint64_t address, std::uint64_t size, std::uint64_t step, std::uint64_t n, Cell cell);

  /// How many of them, from the first on, have `expected` as cell_of(), the counter being `counter_step` more each
  /// time.
  std::uint64_t matching(std::uint64_t address, std::uint64_t size, std::uint64_t step, std::uint64_t n, Cell expected,
                         std::uint64_t counter_step) const;

  /// As long as this is the same, nothing has changed.
  std::uint64_t changes() const { return changes_; }
  /// A time that is later than all changes so far.
  std::uint64_t time() { return ++now_; }
  /// No byte from `first` to `last` has changed since. May say no if neighbours have.
  bool unchanged_since(std::uint64_t time, std::uint64_t first, std::uint64_t last) const;

  /// These bytes have no producer any more.
  void clear(std::uint64_t address, std::uint64_t size);

  /// The bytes at `to` get the producers that those at `from` had, as memmove would move them; the bytes at `from` that
  /// are not also at `to` are left without.
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size);

  /// visit(offset, size, cell) for each maximal chunk of consecutive bytes with equal cells, in order, but not for
  /// bytes that have no producer. `visit` must not change this memory.
  template <class Visit>
  void read(std::uint64_t address, std::uint64_t size, Visit&& visit) const;

  /// This byte is read soon.
  void prefetch(std::uint64_t address) const {
    if (const Slot slot = slot_of(address >> kPageBits); has_cells(slot))
      __builtin_prefetch(cells_of(slot) + ((address & kPageMask) >> shift_of(slot)));
  }

  /// visit(Cell&) for every cell that is stored, some of them several times, in no order that means anything; to look
  /// at and to change `entry`. Cells without a producer and lost ones are left out.
  template <class Visit>
  void for_each(Visit&& visit);

  /// Memory that this holds, accounted: the same for the same calls, whatever the allocator does.
  std::uint64_t bytes() const { return bytes_; }

  /// No page is made or refined that needs more bytes than this. What is written to a page that was not made loses the
  /// page; a write or clear of a part of a granule that could not be refined loses the granule.
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }

  /// Writes and clears that made bytes lost, counted per page.
  std::uint64_t lost_writes() const { return lost_writes_; }

 private:
  // 0: the page has no cells, nothing wrote it. kLostPage: it is lost. Else the address of its cells, with the binary
  // logarithm of the granule in the low two bits.
  using Slot = std::uintptr_t;

  static constexpr unsigned kPageBits = 10;
  static constexpr std::uint64_t kPageSize = std::uint64_t{1} << kPageBits;
  static constexpr std::uint64_t kPageMask = kPageSize - 1;
  static constexpr unsigned kRegionBits = 12;  // pages of a region
  static constexpr std::uint64_t kRegionPages = std::uint64_t{1} << kRegionBits;
  static constexpr unsigned kCoarsest = 3;
  static constexpr Slot kLostPage = 4;
  static constexpr std::size_t kCacheSize = 1024;  // regions
  static constexpr unsigned kSectorBits = 14;      // bytes whose changes are noted together
  static constexpr std::uint64_t kRegionSectors = kRegionPages << kPageBits >> kSectorBits;

  struct Region {
    std::array<Slot, kRegionPages> slots{};
    std::uint32_t used = 0;                               // slots that are not 0
    std::array<std::uint64_t, kRegionSectors> changed{};  // by sector: when it was changed last
  };
  struct CacheEntry {
    std::uint64_t number = ~std::uint64_t{0};  // of the region; no region has this one
    Region* region = nullptr;
  };

  static bool has_cells(Slot slot) { return slot > kLostPage; }
  static unsigned shift_of(Slot slot) { return static_cast<unsigned>(slot & 3); }
  static Cell* cells_of(Slot slot) { return reinterpret_cast<Cell*>(slot & ~Slot{7}); }
  static std::uint64_t low_bits(unsigned shift) { return (std::uint64_t{1} << shift) - 1; }
  static std::uint64_t cell_count(unsigned shift) { return kPageSize >> shift; }
  static std::uint64_t page_bytes(unsigned shift) { return cell_count(shift) * sizeof(Cell); }
  static constexpr Cell lost_cell() { return {kLostProducer, 0, 0}; }

  /// Bytes of a range that lie in the address space.
  static std::uint64_t clip(std::uint64_t address, std::uint64_t size) {
    return address == 0 ? size : std::min(size, ~address + 1);
  }

  /// How many accesses of a row, at most n, lie in the page of the first, which does.
  static std::uint64_t in_page(std::uint64_t offset, std::uint64_t size, std::uint64_t step, std::uint64_t n) {
    const auto forth = static_cast<std::int64_t>(step);
    if (forth == 0) return n;
    if (forth > 0) return std::min(n, (kPageSize - size - offset) / step + 1);
    return std::min(n, offset / (std::uint64_t{0} - step) + 1);
  }

  /// Of a page; 0 too if its region has never been written.
  Slot slot_of(std::uint64_t page) const { return region_at(page >> kRegionBits).slots[page & (kRegionPages - 1)]; }

  /// With this number; one that is never used if it has never been written.
  Region& region_at(std::uint64_t number) const {
    CacheEntry& entry = cache_[number % kCacheSize];
    if (entry.number != number) [[unlikely]]
      look_up(number, entry);
    return *entry.region;
  }

  /// In a page that has cells.
  void note_change(std::uint64_t address) { note_change(region_at(address >> kPageBits >> kRegionBits), address); }
  void note_change(Region& region, std::uint64_t address) {
    ++changes_;
    region.changed[(address >> kSectorBits) & (kRegionSectors - 1)] = now_;
  }

  struct Chunk {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    Cell cell;
  };
  template <class Visit>
  static void add_chunk(Chunk& pending, std::uint64_t offset, std::uint64_t size, const Cell& cell, Visit& visit);

  void look_up(std::uint64_t number, CacheEntry& entry) const;
  Region& region_of(std::uint64_t page);
  Slot make_page(std::uint64_t offset, std::uint64_t size);
  void write_slowly(std::uint64_t address, std::uint64_t size, const Cell& cell);
  void write_in_page(std::uint64_t page, std::uint64_t offset, std::uint64_t size, const Cell& cell);
  void clear_in_page(std::uint64_t page, Region& region, std::uint64_t offset, std::uint64_t size);
  void fill(Slot& slot, std::uint64_t offset, std::uint64_t size, const Cell& cell);
  bool refine(Slot& slot, unsigned shift);
  void drop_cells(Slot& slot);
  void move_window(std::uint64_t from, std::uint64_t to, std::uint64_t size);
  std::uint64_t next_used(std::uint64_t address, std::uint64_t size) const;
  std::uint64_t last_used(std::uint64_t address, std::uint64_t size) const;

  std::map<std::uint64_t, std::unique_ptr<Region>> regions_;  // by number
  mutable std::array<CacheEntry, kCacheSize> cache_{};
  std::uint64_t changes_ = 0;
  std::uint64_t now_ = 1;
  std::uint64_t bytes_ = 0;
  std::uint64_t limit_ = ~std::uint64_t{0};
  std::uint64_t lost_writes_ = 0;
};

/// Makes the pending chunk longer, or visits it and begins the next one.
template <class Visit>
void ShadowMemory::add_chunk(Chunk& pending, std::uint64_t offset, std::uint64_t size, const Cell& cell, Visit& visit) {
  if (cell == pending.cell) {
    pending.size += size;
    return;
  }
  if (pending.cell.producer != 0) visit(pending.offset, pending.size, static_cast<const Cell&>(pending.cell));
  pending = {offset, size, cell};
}

template <class Visit>
void ShadowMemory::read(std::uint64_t address, std::uint64_t size, Visit&& visit) const {
  if (size == 0) return;
  if (const Slot slot = slot_of(address >> kPageBits); has_cells(slot)) [[likely]] {
    const unsigned shift = shift_of(slot);
    if ((address ^ (address + (size - 1))) >> shift == 0) [[likely]] {
      const Cell cell = cells_of(slot)[(address & kPageMask) >> shift];
      if (cell.producer != 0) visit(std::uint64_t{0}, size, cell);
      return;
    }
  }
  size = clip(address, size);
  Chunk pending;
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t offset = (address + done) & kPageMask;
    const std::uint64_t in_page = std::min(size - done, kPageSize - offset);
    const Slot slot = slot_of((address + done) >> kPageBits);
    if (!has_cells(slot)) {
      add_chunk(pending, done, in_page, slot == kLostPage ? lost_cell() : Cell{}, visit);
      done += in_page;
      continue;
    }
    const unsigned shift = shift_of(slot);
    const Cell* cell = cells_of(slot) + (offset >> shift);
    const std::uint64_t end = done + in_page;
    for (std::uint64_t step = (std::uint64_t{1} << shift) - (offset & low_bits(shift)); done < end;
         step = std::uint64_t{1} << shift) {
      step = std::min(step, end - done);
      const Cell copy = *cell++;
      add_chunk(pending, done, step, copy, visit);
      done += step;
    }
  }
  if (pending.cell.producer != 0) visit(pending.offset, pending.size, static_cast<const Cell&>(pending.cell));
}

template <class Visit>
void ShadowMemory::for_each(Visit&& visit) {
  for (auto& [number, region] : regions_) {
    if (region->used == 0) continue;
    for (const Slot slot : region->slots) {
      if (!has_cells(slot)) continue;
      Cell* cells = cells_of(slot);
      for (std::uint64_t i = 0; i < cell_count(shift_of(slot)); ++i) {
        if (cells[i].producer != 0 && cells[i].producer != kLostProducer) visit(cells[i]);
      }
    }
  }
}

}  // namespace loopfold::ddg
