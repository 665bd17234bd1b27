// One block is described at a time (translation is single-threaded), so the lists live in static arrays: no allocation.
// Their sizes are the bounds of a superblock: VEX stops at 60 instructions at the most, and no instruction has more
// than 16 accesses (a 16-lane gather does not exist in AVX2) or 16 results.
#include "description.h"

namespace loopfold::tool {

namespace {

constexpr UInt kMostInstructions = 128;
constexpr UInt kMostEntries = 1024;
constexpr UInt kMostExpressions = 256;  // together with the rest, less than a segment of the ring

constinit wire::Description description = {};
constinit wire::DescribedExit exits[kMostInstructions + 1] = {};  // [0] is the final exit
constinit wire::DescribedAccess accesses[kMostEntries] = {};
constinit wire::DescribedResult results[kMostEntries] = {};
constinit ULong constants[kMostEntries] = {};
constinit wire::DescribedExpression expressions[kMostExpressions] = {};
constinit wire::DescribedCheck checks[kMostEntries] = {};
constinit UChar lengths[kMostInstructions] = {};
constinit Addr block_end = 0;

UInt words_for(SizeT bytes) { return static_cast<UInt>((bytes + 7) / 8); }

void fill_exit(wire::DescribedExit& to, trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp) {
  to = wire::DescribedExit{};
  to.kind = static_cast<UChar>(kind);
  to.has_target = has_target ? 1 : 0;
  to.target = target;
  to.instructions = description.instructions;
  to.accesses = description.accesses;
  to.results = description.results;
  to.slots = static_cast<UShort>(slots);
  to.sp = sp;
}

ULong* put(ULong* to, const void* from, SizeT bytes) {
  VG_(memcpy)(to, from, bytes);
  return to + words_for(bytes);
}

}  // namespace

void DescriptionBuilder::begin(Addr address) {
  description = wire::Description{};
  description.address = address;
  description.exits = 1;
  description.ftop_slot = wire::kNoSlot;
  block_end = address;
}

void DescriptionBuilder::instruction(Addr address, UInt length) {
  tl_assert(address == block_end && description.instructions < kMostInstructions);
  lengths[description.instructions++] = static_cast<UChar>(length);
  block_end += length;
}

void DescriptionBuilder::ftop(UInt slot) { description.ftop_slot = static_cast<UShort>(slot); }

void DescriptionBuilder::access(UInt address, UInt size, AccessTraits traits) {
  tl_assert(description.accesses < kMostEntries && description.instructions > 0);
  wire::DescribedAccess& to = accesses[description.accesses++];
  to = wire::DescribedAccess{};
  to.instruction = static_cast<UShort>(description.instructions - 1);
  to.address = address;
  to.size = size;
  to.store = traits.store ? 1 : 0;
  to.guarded = traits.guarded ? 1 : 0;
  to.atomic = traits.atomic ? 1 : 0;
}

void DescriptionBuilder::result(UInt value, UInt reg, UInt byte, UInt width) {
  tl_assert(description.results < kMostEntries && description.instructions > 0);
  wire::DescribedResult& to = results[description.results++];
  to = wire::DescribedResult{};
  to.instruction = static_cast<UShort>(description.instructions - 1);
  to.value = value;
  to.reg = static_cast<UChar>(reg);
  to.byte_width = static_cast<UChar>(byte << 4 | width);
}

void DescriptionBuilder::exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp) {
  tl_assert(description.exits <= kMostInstructions);
  fill_exit(exits[description.exits++], kind, slots, has_target, target, sp);
}

void DescriptionBuilder::final_exit(trace::ExitKind kind, UInt slots, bool has_target, Addr target, UInt sp,
                                    bool undecodable) {
  fill_exit(exits[0], kind, slots, has_target, target, sp);
  description.slots = static_cast<UShort>(slots);
  description.bytes = static_cast<UInt>(block_end - description.address);
  if (!undecodable) return;
  while (description.trap_bytes < 15 &&
         VG_(am_is_valid_for_client)(block_end + description.trap_bytes, 1, VKI_PROT_READ)) {
    description.trap_bytes++;
  }
}

void DescriptionBuilder::check(UInt slot, UInt derived) {
  if (description.checks < kMostEntries) checks[description.checks++] = {slot, derived};
}

UInt DescriptionBuilder::constant(ULong value) {
  for (UInt i = 0; i < description.constants; i++) {
    if (constants[i] == value) return wire::make_value(wire::kValueConstant, i);
  }
  if (description.constants == kMostEntries) return wire::kNoValue;
  constants[description.constants] = value;
  return wire::make_value(wire::kValueConstant, description.constants++);
}

UInt DescriptionBuilder::expression(const wire::DescribedExpression& expression) {
  for (UInt i = 0; i < description.expressions; i++) {
    if (VG_(memcmp)(&expressions[i], &expression, sizeof expression) == 0) {
      return wire::make_value(wire::kValueExpression, i);
    }
  }
  if (description.expressions == kMostExpressions) return wire::kNoValue;
  expressions[description.expressions] = expression;
  return wire::make_value(wire::kValueExpression, description.expressions++);
}

void DescriptionBuilder::publish(UInt base_exit) {
  description.base_exit = base_exit;
  const SizeT exit_bytes = description.exits * sizeof exits[0];
  const SizeT access_bytes = description.accesses * sizeof accesses[0];
  const SizeT result_bytes = description.results * sizeof results[0];
  const SizeT constant_bytes = description.constants * sizeof constants[0];
  const SizeT expression_bytes = description.expressions * sizeof expressions[0];
  const SizeT check_bytes = description.checks * sizeof checks[0];
  const UInt words = words_for(check_bytes) + words_for(constant_bytes) + words_for(expression_bytes) +
                     words_for(sizeof description) + words_for(exit_bytes) + words_for(access_bytes) +
                     words_for(result_bytes) + words_for(description.instructions) + words_for(description.bytes) +
                     words_for(description.trap_bytes);
  ULong* to = ring_reserve(words);
  to = put(to, &description, sizeof description);
  to = put(to, exits, exit_bytes);
  to = put(to, accesses, access_bytes);
  to = put(to, results, result_bytes);
  to = put(to, constants, constant_bytes);
  to = put(to, expressions, expression_bytes);
  to = put(to, checks, check_bytes);
  to = put(to, lengths, description.instructions);
  to = put(to, reinterpret_cast<const void*>(description.address), description.bytes);
  put(to, reinterpret_cast<const void*>(block_end), description.trap_bytes);
  ring_commit(wire::kDescribe, words);
}

}  // namespace loopfold::tool
