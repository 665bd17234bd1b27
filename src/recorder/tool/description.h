// Collects what is known about a block while it is instrumented, and sends it off before the block first runs.
#pragma once

#include "trace/exit_kind.h"
#include "ring.h"

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
  void access(UInt slot, UInt size, AccessTraits traits);
  void result(UInt slot, UInt reg, UInt byte, UInt width);
  void exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp_slot);
  void final_exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp_slot, bool undecodable);

  /// Appends the description to the ring.
  void publish(UInt base_exit);
};

}  // namespace loopfold::tool
