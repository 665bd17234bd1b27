#include "verify/values.h"

namespace loopfold::verify {

ValueId Values::make(Value value) {
  ValueId id = 0;
  if (free_.empty()) {
    id = static_cast<ValueId>(pool_.size());
    pool_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  iterations_.keep(value.iteration);
  if (value.inner != kNoValue) keep(value.inner);
  value.references = 1;
  pool_[id] = value;
  return id;
}

void Values::release(ValueId id) {
  while (id != kNoValue) {
    iterations_.drop(pool_[id].iteration);
    free_.push_back(id);
    id = pool_[id].inner;
    if (id == kNoValue || --pool_[id].references != 0) return;
  }
}

}  // namespace loopfold::verify
