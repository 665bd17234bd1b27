#include "leaders.h"

#include "address_set.h"

namespace loopfold::tool {

namespace {

constinit AddressSet leaders;
constinit AddressSet insides;

}  // namespace

void leader_found(Addr address) {
  if (leaders.contains(address)) return;
  leaders.insert(address);
  // Valgrind allows this here: a translation may always displace others, even the one that is being chained from.
  if (insides.contains(address)) VG_(discard_translations)(address, 1, "loopfold: a block starts inside another");
}

void leader_known(Addr address) { leaders.insert(address); }

bool is_leader(Addr address) { return leaders.contains(address); }

void instruction_inside(Addr address) { insides.insert(address); }

}  // namespace loopfold::tool
