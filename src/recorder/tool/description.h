// Collects what is known about a block while it is instrumented, and sends it off before the block first runs.
#pragma once

#include "ring.h"
#include "trace/exit_kind.h"

namespace loopfold::tool {

struct AccessTraits {
  bool store = false;
  bool guarded = false;
  bool atomic = false;
};

class DescriptionBuilder {
 public:
  void begin(Addr address);
  void instruction(Addr address, UInt length);
  void ftop(UInt slot);
  // Values are as in wire::make_value().
  void access(UInt address, UInt size, AccessTraits traits);
  void result(UInt value, UInt reg, UInt byte, UInt width);
  void exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp);
  void final_exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp, bool undecodable);

  /// The value in `slot` could have been had as `derived`.
  void check(UInt slot, UInt derived);

  /// Equal ones are one value. kNoValue if the block has too many.
  static UInt constant(ULong value);
  static UInt expression(const wire::DescribedExpression& expression);

  /// Appends the description to the ring.
  void publish(UInt base_exit);
};

}  // namespace loopfold::tool
