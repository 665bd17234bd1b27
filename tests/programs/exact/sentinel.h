// One-byte stores that frame the part whose accesses are compared with lackey's. Nothing in between may call malloc or
// a function of a shared library: their addresses and their hidden parts are not comparable.
#pragma once

extern volatile char sentinel_begin[1], sentinel_end[1];
volatile char sentinel_begin[1], sentinel_end[1];

#define SENTINEL_BEGIN()                 \
  do {                                   \
    sentinel_begin[0] = 1;               \
    __asm__ volatile("" : : : "memory"); \
  } while (0)

#define SENTINEL_END()                   \
  do {                                   \
    __asm__ volatile("" : : : "memory"); \
    sentinel_end[0] = 1;                 \
  } while (0)
