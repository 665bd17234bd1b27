#include "verify/shadow.h"

#include <algorithm>

namespace loopfold::verify {

Memory::Page& Memory::page(std::uint64_t number) {
  if (Page* known = find(number)) return *known;
  std::unique_ptr<Page>& page = pages_[number];
  page = std::make_unique<Page>();
  last_number_ = number;
  last_ = page.get();
  return *page;
}

void Memory::forget(std::uint64_t address, std::uint64_t size) {
  const std::uint64_t end = address + size < address ? ~std::uint64_t{0} : address + size;
  if ((end - address) >> kPageBits > pages_.size()) {
    for (auto& [number, page] : pages_)
      for (std::uint64_t i = 0; i <= kMask; ++i)
        if ((number << kPageBits | i) >= address && (number << kPageBits | i) < end) cells_.clear((*page)[i]);
    return;
  }
  while (address < end) {
    const std::uint64_t next = std::min(end, (address | kMask) + 1);
    if (Page* page = find(address >> kPageBits))
      for (std::uint64_t i = address; i < next; ++i) cells_.clear((*page)[i & kMask]);
    address = next;
  }
}

void Memory::move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  std::vector<Cell> moved(size);
  for (std::uint64_t i = 0; i < size; ++i) cells_.set(moved[i], read(from + i));
  forget(from, size);
  for (std::uint64_t i = 0; i < size; ++i) {
    if (moved[i].value != kNoValue || find((to + i) >> kPageBits) != nullptr) write(to + i, moved[i]);
    cells_.clear(moved[i]);
  }
}

void Memory::clear() {
  for (auto& [number, page] : pages_)
    for (Cell& cell : *page) cells_.clear(cell);
  pages_.clear();
  last_number_ = ~std::uint64_t{0};
  last_ = nullptr;
}

}  // namespace loopfold::verify
