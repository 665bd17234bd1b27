// The heads of loops whose verdict is known, in two builds.
//
// Normally these are plain loops: FOR(init, cond, step) is `for (init; cond; step)` on the line where it stands, and
// everything else here is a plain declaration or nothing. With -DREALITY the same source computes the truth about each
// of these loops (tests/oracle/reality_runtime.c): every iteration runs alone, on memory as it was when the loop was
// entered, with what the head computes in closed form (its step is repeated, without the body); then the writes are
// applied in the order of the iterations. Memory is now as the loop left it, or something was carried.
//
//   FOR(init, cond, step)        a counted loop; cond and step are the index, the body is what is judged
//   WHILE(cond)                  a loop without an index: all that it changes is data
//   WHILE_INDEX(cond, step)      `while (cond)` whose body does `step` itself, as an index
//   STATE(type, name, value)     a local variable that a loop writes and that is declared outside that loop
//   REDUCTION(op, variable)      before a head: the loop may be a reduction into this variable; op is ADD, MUL, MAX,
//                                MIN, XOR, AND or OR. REDUCTION_EACH(op, array, count) for the elements of an array
//   RELOAD(variable, expression) first in a body: instead of being carried, the variable is loaded again, by every
//                                iteration but the first; the loop is no if the cell did not keep its value until then
//
// What a loop changes must be in STATE, in a static variable or in a block from malloc: only there is it seen. Frames
// of functions called in the loop are theirs alone. printf and putchar write to a log that is memory like any other.
#ifndef LOOPFOLD_KERNELS_VERDICTS_REALITY_H
#define LOOPFOLD_KERNELS_VERDICTS_REALITY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REALITY

#define FOR(init, cond, step) for (init; cond; step)
#define WHILE(cond) while (cond)
#define WHILE_INDEX(cond, step) while (cond)
#define STATE(type, name, value) type name = (value)
#define REDUCTION(op, variable)
#define REDUCTION_EACH(op, array, count)
#define RELOAD(variable, expression)

#else

enum reality_role { REALITY_PLAIN, REALITY_SEQUENTIAL, REALITY_ALONE };
enum reality_operator { ADD, MUL, MAX, MIN, XOR, AND, OR };
enum reality_type { REALITY_INT, REALITY_UNSIGNED, REALITY_LONG, REALITY_UNSIGNED_LONG, REALITY_FLOAT, REALITY_DOUBLE };

/// One entry of a loop, as the process that runs it sees it.
struct reality_loop {
  enum reality_role role;
  int site, line;
  long iteration;  // the one to run, if alone; how many have begun, if sequential
  long skip;       // how many steps lead to it
  int begun, ended, concluded, passes;
  int stale;  // a reload found another value
  struct reality_study* study;
};

#ifdef __cplusplus
extern "C" {
#endif
struct reality_loop reality_enter(int site, int line);
int reality_once(struct reality_loop* loop);
void reality_begin(struct reality_loop* loop);
int reality_test(struct reality_loop* loop, int condition);
void reality_body_done(struct reality_loop* loop);
void reality_leave(struct reality_loop* loop);
void reality_reduction(enum reality_operator op, volatile void* variable, enum reality_type type, long count);
void* reality_malloc(size_t size);
void* reality_calloc(size_t count, size_t size);
void reality_free(void* block);
void* reality_memcpy(void* to, const void* from, size_t size);
void* reality_memmove(void* to, const void* from, size_t size);
void* reality_memset(void* to, int byte, size_t size);
int reality_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
int reality_putchar(int character);
#ifdef __cplusplus
}
#endif

#define REALITY_LOOP(init, cond, step, closed)                                                                     \
  for (struct reality_loop reality __attribute__((cleanup(reality_leave))) = reality_enter(__COUNTER__, __LINE__); \
       reality_once(&reality);)                                                                                    \
    for (init; ({                                                                                                  \
           reality_begin(&reality);                                                                                \
           while (reality.skip > 0) {                                                                              \
             reality.skip--;                                                                                       \
             closed;                                                                                               \
           }                                                                                                       \
           reality_test(&reality, !!(cond));                                                                       \
         });                                                                                                       \
         ({                                                                                                        \
           reality_body_done(&reality);                                                                            \
           step;                                                                                                   \
         }))

#define FOR(init, cond, step) REALITY_LOOP(init, cond, step, step)
#define WHILE(cond) REALITY_LOOP(, cond, , )
#define WHILE_INDEX(cond, step) REALITY_LOOP(, cond, , step)
#define STATE(type, name, value)         \
  static __typeof__(type) volatile name; \
  name = (value)
#ifdef __cplusplus
static inline reality_type reality_type_of(const volatile int&) { return REALITY_INT; }
static inline reality_type reality_type_of(const volatile unsigned&) { return REALITY_UNSIGNED; }
static inline reality_type reality_type_of(const volatile long&) { return REALITY_LONG; }
static inline reality_type reality_type_of(const volatile unsigned long&) { return REALITY_UNSIGNED_LONG; }
static inline reality_type reality_type_of(const volatile float&) { return REALITY_FLOAT; }
static inline reality_type reality_type_of(const volatile double&) { return REALITY_DOUBLE; }
#define REALITY_TYPE(value) reality_type_of(value)
#else
#define REALITY_TYPE(value)               \
  _Generic((value), int                   \
           : REALITY_INT, unsigned        \
           : REALITY_UNSIGNED, long       \
           : REALITY_LONG, unsigned long  \
           : REALITY_UNSIGNED_LONG, float \
           : REALITY_FLOAT, double        \
           : REALITY_DOUBLE)
#endif
#define REDUCTION(op, variable) reality_reduction(op, &(variable), REALITY_TYPE(variable), 1)
#define REDUCTION_EACH(op, array, count) reality_reduction(op, &(array)[0], REALITY_TYPE((array)[0]), count)
#define RELOAD(variable, expression)                                                                                \
  do {                                                                                                              \
    if (reality.role == REALITY_ALONE && reality.iteration > 0) variable = (expression);                            \
    if (reality.role == REALITY_SEQUENTIAL && reality.iteration > 1 && variable != (expression)) reality.stale = 1; \
  } while (0)

#define malloc reality_malloc
#define calloc reality_calloc
#define free reality_free
#define memcpy reality_memcpy
#define memmove reality_memmove
#define memset reality_memset
#define printf reality_printf
#define putchar reality_putchar

#endif
#endif
