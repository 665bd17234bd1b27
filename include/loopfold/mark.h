/* Markers: name a stretch of a program's run, so that it can be found in the trace.
 *
 *     #include <loopfold/mark.h>
 *
 *     LOOPFOLD_BEGIN("solve");
 *     solve(a, b);
 *     LOOPFOLD_END("solve");
 *
 * Needs nothing but this header. Outside Loopfold a marker is a handful of instructions without effect: four rotations
 * of a register by 128 bits in all, and an exchange of a register with itself, which is how Valgrind knows that a
 * request is meant for it. C and C++, GCC and Clang, x86-64; elsewhere the macros only evaluate their argument.
 */
#ifndef LOOPFOLD_MARK_H
#define LOOPFOLD_MARK_H

#if defined(__x86_64__) && defined(__GNUC__)

static __inline__ __attribute__((always_inline)) void loopfold_mark_(unsigned long request, const char* name) {
  volatile unsigned long arguments[6];
  unsigned long result = 0;
  arguments[0] = request;
  arguments[1] = (unsigned long)name;
  arguments[2] = arguments[3] = arguments[4] = arguments[5] = 0;
  __asm__ volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(result)
      : "a"(&arguments[0])
      : "cc", "memory");
}

#define LOOPFOLD_REQUEST_(number) (((unsigned long)'L' << 24) | ((unsigned long)'F' << 16) | (number))
#define LOOPFOLD_BEGIN(name) loopfold_mark_(LOOPFOLD_REQUEST_(1), (name))
#define LOOPFOLD_END(name) loopfold_mark_(LOOPFOLD_REQUEST_(2), (name))

#else

#define LOOPFOLD_BEGIN(name) ((void)(name))
#define LOOPFOLD_END(name) ((void)(name))

#endif

#endif /* LOOPFOLD_MARK_H */
