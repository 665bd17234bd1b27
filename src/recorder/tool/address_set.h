// A set of code addresses: open addressing, grows, never shrinks. No allocation per look-up, none per insertion but
// when it doubles.
#pragma once

#include "valgrind.h"

namespace loopfold::tool {

class AddressSet {
 public:
  bool contains(Addr address) const {
    if (capacity_ == 0) return false;
    for (SizeT i = slot(address);; i = (i + 1) & (capacity_ - 1)) {
      if (keys_[i] == address) return true;
      if (keys_[i] == 0) return false;
    }
  }

  void insert(Addr address) {
    if (2 * (count_ + 1) > capacity_) grow();
    SizeT i = slot(address);
    for (; keys_[i] != 0; i = (i + 1) & (capacity_ - 1)) {
      if (keys_[i] == address) return;
    }
    keys_[i] = address;
    count_++;
  }

 private:
  SizeT slot(Addr address) const { return (address * 0x9e3779b97f4a7c15ull >> 20) & (capacity_ - 1); }

  void grow() {
    Addr* const old = keys_;
    const SizeT old_capacity = capacity_;
    capacity_ = capacity_ == 0 ? 4096 : 2 * capacity_;
    keys_ = static_cast<Addr*>(VG_(calloc)("loopfold.addresses", capacity_, sizeof(Addr)));
    count_ = 0;
    for (SizeT i = 0; i < old_capacity; i++) {
      if (old[i] != 0) insert(old[i]);
    }
    if (old != nullptr) VG_(free)(old);
  }

  Addr* keys_ = nullptr;
  SizeT capacity_ = 0;
  SizeT count_ = 0;
};

}  // namespace loopfold::tool
