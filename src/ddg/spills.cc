#include "ddg/spills.h"

#include <algorithm>
#include <utility>

namespace loopfold::ddg {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

bool is_alive(const Spill& spill, const ShadowMemory& memory) {
  bool alive = false;
  memory.read(spill.address, spill.size,
              [&](std::uint64_t, std::uint64_t, const Cell& cell) { alive = alive || cell == spill.cell; });
  return alive;
}

}  // namespace

void note_writers(const ShadowMemory& memory, Provenance& into) {
  into.writers = {};
  into.mixed = false;
  std::uint64_t hash = 0;
  bool whole = false;
  memory.read(into.address, into.size, [&](std::uint64_t offset, std::uint64_t size, const Cell& cell) {
    if (cell.producer == kLostProducer) into.stale = true;
    if (size == into.size) {
      into.writers = cell;
      whole = true;
      return;
    }
    hash = mix(mix(mix(mix(hash, offset), size), std::uint64_t{cell.producer} << 32 | cell.entry), cell.counter);
    into.mixed = true;
  });
  if (into.mixed && !whole) into.writers = {0, 0, hash};
}

bool is_rewritten_slowly(const ShadowMemory& memory, const Provenance& load) {
  if (!load.mixed) {
    const Cell* const only = load.size != 0 ? memory.only_cell(load.address, load.size) : nullptr;
    if (only != nullptr) return only->producer == kLostProducer || !(*only == load.writers);
  }
  Provenance now;
  now.address = load.address;
  now.size = load.size;
  note_writers(memory, now);
  return now.stale || now.mixed != load.mixed || !(now.writers == load.writers);
}

// ---- ProvenanceBytes -----------------------------------------------------------------------------------------------

const Provenance ProvenanceBytes::kNothing = [] {
  Provenance nothing;
  nothing.none = true;
  return nothing;
}();

void ProvenanceBytes::add_more(std::uint8_t end, const Provenance& provenance) {
  if (more_.empty() && first_.same_origin(provenance)) {
    first_end_ = end;
  } else if (!more_.empty() && more_.back().provenance.same_origin(provenance)) {
    more_.back().end = end;
  } else {
    more_.push_back({end, provenance});
  }
}

const Provenance& ProvenanceBytes::at(std::uint8_t byte) const {
  if (count_ > 0 && byte < first_end_) return first_;
  for (const Piece& piece : more_)
    if (byte < piece.end) return piece.provenance;
  return kNothing;
}

std::uint8_t ProvenanceBytes::end_at(std::uint8_t byte) const {
  if (count_ > 0 && byte < first_end_) return first_end_;
  for (const Piece& piece : more_)
    if (byte < piece.end) return piece.end;
  return 0xff;
}

// ---- Spills --------------------------------------------------------------------------------------------------------

void Spills::note_page(std::uint64_t page) {
  if (page == last_page_) return;
  last_page_ = page;
  const auto at = std::lower_bound(pages_.begin(), pages_.end(), page);
  if (at == pages_.end() || *at != page) pages_.insert(at, page);
}

bool Spills::ever_near(std::uint64_t first, std::uint64_t last) const {
  const auto at = std::lower_bound(pages_.begin(), pages_.end(), first >> kPageBits);
  return at != pages_.end() && *at <= last >> kPageBits;
}

Spill& Spills::at(std::uint64_t address, std::uint32_t size, const ShadowMemory& memory) {
  note_page(address >> kPageBits);
  if (((address + size - 1) ^ address) >> kPageBits != 0) note_page((address + size - 1) >> kPageBits);
  std::size_t slot = slot_of(address, size);
  for (; table_[slot].address != 0; slot = (slot + 1) & (table_.size() - 1))
    if (table_[slot].address == address && table_[slot].size == size) return table_[slot];
  if (used_ * 2 >= table_.size()) {
    drop_dead(memory);
    return at(address, size, memory);
  }
  ++used_;
  table_[slot].address = address;
  table_[slot].size = size;
  return table_[slot];
}

const Spill* Spills::last_at(std::uint64_t address, std::uint32_t size) const {
  for (std::size_t slot = slot_of(address, size); table_[slot].address != 0; slot = (slot + 1) & (table_.size() - 1))
    if (table_[slot].address == address && table_[slot].size == size) return &table_[slot];
  return nullptr;
}

const Spill* Spills::find(std::uint64_t address, std::uint32_t size, const Cell& cell) const {
  const Spill* const last = last_at(address, size);
  return last != nullptr && last->cell == cell ? last : nullptr;
}

const Spill* Spills::covering(std::uint64_t address, std::uint32_t size, const Cell& cell) const {
  for (std::uint64_t before = 0; before < size && before < address; ++before)
    if (const Spill* spill = find(address - before, size, cell)) return spill;
  return nullptr;
}

void Spills::drop_dead(const ShadowMemory& memory) {
  std::vector<Spill> alive;
  more_bytes_ = 0;
  for (Spill& spill : table_) {
    if (spill.address == 0 || !is_alive(spill, memory)) continue;
    more_bytes_ += spill.value.bytes();
    alive.push_back(std::move(spill));
  }
  std::size_t slots = kSmallest;
  while (slots < alive.size() * 4) slots *= 2;
  insert(alive, slots);
}

void Spills::insert(std::vector<Spill>& old, std::size_t slots) {
  table_.clear();
  table_.resize(slots);
  used_ = old.size();
  for (Spill& spill : old) {
    std::size_t slot = slot_of(spill.address, spill.size);
    while (table_[slot].address != 0) slot = (slot + 1) & (slots - 1);
    table_[slot] = std::move(spill);
  }
}

}  // namespace loopfold::ddg
