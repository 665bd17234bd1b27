// isl behind owning handles: what a call gives is freed, what it takes is given up, and nothing else changes.
//
// Isl<isl_map> owns a map. get() lends it (__isl_keep), copy() gives a new reference (to a parameter marked
// __isl_take), release() gives it away. An operation that fails, mostly because the budget (budget.h) is used up, gives
// null; isl passes null on through every further call, so one test at the end of a computation is enough: `if (!result)
// ...`. Tests that may fail have three answers: isl_bool_true, isl_bool_false, isl_bool_error.
#pragma once

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace loopfold::poly {

template <typename T>
struct IslType;

#define LOOPFOLD_ISL_TYPE(TYPE)                           \
  template <>                                             \
  struct IslType<TYPE> {                                  \
    static TYPE* copy(TYPE* p) { return TYPE##_copy(p); } \
    static void free(TYPE* p) { TYPE##_free(p); }         \
  }
LOOPFOLD_ISL_TYPE(isl_set);
LOOPFOLD_ISL_TYPE(isl_map);
LOOPFOLD_ISL_TYPE(isl_basic_set);
LOOPFOLD_ISL_TYPE(isl_basic_map);
LOOPFOLD_ISL_TYPE(isl_union_set);
LOOPFOLD_ISL_TYPE(isl_union_map);
LOOPFOLD_ISL_TYPE(isl_schedule);
LOOPFOLD_ISL_TYPE(isl_schedule_constraints);
LOOPFOLD_ISL_TYPE(isl_schedule_node);
LOOPFOLD_ISL_TYPE(isl_space);
LOOPFOLD_ISL_TYPE(isl_val);
LOOPFOLD_ISL_TYPE(isl_aff);
LOOPFOLD_ISL_TYPE(isl_pw_aff);
LOOPFOLD_ISL_TYPE(isl_multi_aff);
LOOPFOLD_ISL_TYPE(isl_multi_union_pw_aff);
LOOPFOLD_ISL_TYPE(isl_union_pw_aff);
LOOPFOLD_ISL_TYPE(isl_constraint);
LOOPFOLD_ISL_TYPE(isl_point);
#undef LOOPFOLD_ISL_TYPE

/// Owns one reference, or none.
template <typename T>
class Isl {
 public:
  Isl() = default;
  /// Takes over what an isl function gave.
  explicit Isl(T* given) : pointer_(given) {}
  Isl(const Isl& other) : pointer_(other.copy()) {}
  Isl(Isl&& other) noexcept : pointer_(other.release()) {}
  Isl& operator=(Isl other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Isl() {
    if (pointer_ != nullptr) IslType<T>::free(pointer_);
  }

  T* get() const { return pointer_; }
  T* copy() const { return pointer_ == nullptr ? nullptr : IslType<T>::copy(pointer_); }
  T* release() { return std::exchange(pointer_, nullptr); }
  explicit operator bool() const { return pointer_ != nullptr; }

 private:
  T* pointer_ = nullptr;
};

struct FreeIslContext {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};
using IslContext = std::unique_ptr<isl_ctx, FreeIslContext>;

/// What one of isl's to_str functions gave.
inline std::string take_text(char* text) {
  std::string result = text == nullptr ? "" : text;
  std::free(text);
  return result;
}

}  // namespace loopfold::poly
