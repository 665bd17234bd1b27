// Reduction operators on the types that reduction variables have: names, identities, and combining two values.
//
// For the runtime of reality.h alone. Bit operators on floating-point variables have no meaning; combining keeps the
// first value, so that such a reduction never comes out right.
#ifndef LOOPFOLD_TESTS_ORACLE_REALITY_NUMBERS_H
#define LOOPFOLD_TESTS_ORACLE_REALITY_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef LOOPFOLD_KERNELS_VERDICTS_REALITY_H
#error "after reality.h"
#endif

static const char* operator_name(enum reality_operator op) {
  static const char* const kNames[] = {"+", "*", "max", "min", "^", "&", "|"};
  return kNames[op];
}

/// Another operator, to see that the right one is needed.
static enum reality_operator rotated(enum reality_operator op) {
  static const enum reality_operator kOther[] = {MAX, ADD, MIN, MAX, OR, OR, AND};
  return kOther[op];
}

#define DEFINE_NUMBER(type, name, lowest, highest, bitwise)                                                          \
  static void identity_##name(enum reality_operator op, void* cell) {                                                \
    const type value = op == MUL ? 1 : op == MAX ? (lowest) : op == MIN ? (highest) : op == AND ? (type)-1 : 0;      \
    memcpy(cell, &value, sizeof value);                                                                              \
  }                                                                                                                  \
  static void combine_##name(enum reality_operator op, void* cell, const void* by) {                                 \
    type a, b;                                                                                                       \
    memcpy(&a, cell, sizeof a);                                                                                      \
    memcpy(&b, by, sizeof b);                                                                                        \
    a = op == ADD ? a + b : op == MUL ? a * b : op == MAX ? (a > b ? a : b) : op == MIN ? (a < b ? a : b) : bitwise; \
    memcpy(cell, &a, sizeof a);                                                                                      \
  }
#define BITWISE (op == XOR ? a ^ b : op == AND ? (a & b) : (a | b))

DEFINE_NUMBER(int, int, INT32_MIN, INT32_MAX, BITWISE)
DEFINE_NUMBER(unsigned, unsigned, 0, UINT32_MAX, BITWISE)
DEFINE_NUMBER(long, long, INT64_MIN, INT64_MAX, BITWISE)
DEFINE_NUMBER(unsigned long, unsigned_long, 0, UINT64_MAX, BITWISE)
DEFINE_NUMBER(float, float, -__builtin_inff(), __builtin_inff(), a)
DEFINE_NUMBER(double, double, -__builtin_inf(), __builtin_inf(), a)

struct number {
  size_t size;
  void (*identity)(enum reality_operator, void*);
  void (*combine)(enum reality_operator, void*, const void*);
};

static const struct number kNumbers[] = {
    {4, identity_int, combine_int},     {4, identity_unsigned, combine_unsigned},
    {8, identity_long, combine_long},   {8, identity_unsigned_long, combine_unsigned_long},
    {4, identity_float, combine_float}, {8, identity_double, combine_double},
};

#endif
