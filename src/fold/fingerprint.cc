#include "fold/fingerprint.h"

#include <algorithm>

namespace loopfold::fold {

void Fingerprint::clear() {
  known_ = true;
  count_ = 0;
  hash_ = 0;
  prefixes_.clear();
}

void Fingerprint::forget() {
  clear();
  known_ = false;
}

std::uint64_t Fingerprint::element(Wide difference, std::int64_t start, const Fingerprint& inside) {
  std::uint64_t hash = element(difference);
  for (const std::uint64_t part : {static_cast<std::uint64_t>(start), inside.count_, inside.hash_})
    hash = mixed(hash ^ part) + 0x9e3779b97f4a7c15;
  return hash;
}

bool Fingerprint::hash_after(std::uint64_t elements, std::uint64_t& into) const {
  if (elements == count_) {
    into = hash_;
    return true;
  }
  if (elements == 0 || elements > prefixes_.size()) return false;
  into = prefixes_[elements - 1];
  return true;
}

bool Fingerprint::agrees_with(const Fingerprint& other) const {
  const std::uint64_t common = std::min(count_, other.count_);
  std::uint64_t mine = 0;
  std::uint64_t its = 0;
  return known_ && other.known_ && hash_after(common, mine) && other.hash_after(common, its) && mine == its;
}

}  // namespace loopfold::fold
