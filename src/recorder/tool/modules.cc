// A module is reported when the first block from it is translated, found in Valgrind's own table of mappings. That sees
// the program, its libraries, what dlopen brings and static binaries alike; code in no file (JIT) has no module.
#include "modules.h"

namespace loopfold::tool {

namespace {

struct Range {
  Addr start;
  Addr end;  // last byte
};

constexpr UInt kMostRanges = 1024;
constinit Range known[kMostRanges] = {};
constinit UInt known_count = 0;
constinit UInt last_hit = 0;

bool is_known(Addr address) {
  if (last_hit < known_count && known[last_hit].start <= address && address <= known[last_hit].end) return true;
  for (UInt i = 0; i < known_count; i++) {
    if (known[i].start <= address && address <= known[i].end) {
      last_hit = i;
      return true;
    }
  }
  return false;
}

}  // namespace

void append_with_text(UInt id, std::span<const ULong> words, const HChar* text, SizeT characters) {
  if (characters > 4096) characters = 4096;
  const UInt count = static_cast<UInt>(words.size() + 1 + (characters + 7) / 8);
  ULong* to = ring_reserve(count);
  for (const ULong word : words) *to++ = word;
  *to++ = characters;
  VG_(memcpy)(to, text, characters);
  ring_commit(id, count);
}

SizeT readable_length(Addr address) {
  Addr end = address;
  while (VG_(am_is_valid_for_client)(end, 1, VKI_PROT_READ)) {
    const Addr page_end = (end | 4095) + 1;
    while (end < page_end && *reinterpret_cast<const UChar*>(end) != 0) end++;
    if (end < page_end) break;
  }
  return end - address;
}

void append_client_text(UInt id, std::span<const ULong> words, Addr text) {
  append_with_text(id, words, reinterpret_cast<const HChar*>(text), readable_length(text));
}

void note_module(Addr address) {
  if (is_known(address)) return;
  const NSegment* segment = VG_(am_find_nsegment)(address);
  if (segment == nullptr) return;
  if (known_count == kMostRanges) known_count = 0;  // report some again rather than miss one
  known[known_count++] = Range{segment->start, segment->end};
  const HChar* file = segment->kind == SkFileC ? VG_(am_get_filename)(segment) : nullptr;
  if (file == nullptr) return;
  const ULong words[] = {segment->start, segment->end - segment->start + 1, static_cast<ULong>(segment->offset)};
  append_with_text(wire::kModule, words, file, VG_(strlen)(file));
}

void forget_modules(Addr start, SizeT size) {
  for (UInt i = 0; i < known_count;) {
    const bool apart = known[i].end < start || known[i].start >= start + size;
    if (apart) {
      i++;
    } else {
      known[i] = known[--known_count];
    }
  }
}

}  // namespace loopfold::tool
