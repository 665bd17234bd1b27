// A byte-code interpreter twice: a switch through a jump table, and computed goto.
#include <stdio.h>

enum { kPush, kAdd, kMul, kDup, kSwap, kDec, kJump, kHalt };

static const signed char code[] = {kPush, 1, kPush, 100,   kSwap, kPush, 3,  kMul,
                                   kPush, 1, kAdd,  kSwap, kDec,  kJump, -9, kHalt};

static unsigned __attribute__((noinline)) by_switch(void) {
  unsigned stack[16], *top = stack;
  const signed char* pc = code;
  for (;;) {
    switch (*pc++) {
      case kPush:
        *++top = (unsigned)*pc++;
        break;
      case kAdd:
        top[-1] += top[0], top--;
        break;
      case kMul:
        top[-1] *= top[0], top--;
        break;
      case kDup:
        top[1] = top[0], top++;
        break;
      case kSwap: {
        unsigned t = top[0];
        top[0] = top[-1];
        top[-1] = t;
        break;
      }
      case kDec:
        top[0]--;
        break;
      case kJump:
        pc += top[0] ? *pc - 1 : 1;
        break;
      case kHalt:
        return top[-1];
    }
  }
}

static unsigned __attribute__((noinline)) by_goto(void) {
  static const void* const labels[] = {&&push, &&add, &&mul, &&dup, &&swap, &&dec, &&jump, &&halt};
  unsigned stack[16], *top = stack;
  const signed char* pc = code;
  goto* labels[*pc++];
push:
  *++top = (unsigned)*pc++;
  goto* labels[*pc++];
add:
  top[-1] += top[0], top--;
  goto* labels[*pc++];
mul:
  top[-1] *= top[0], top--;
  goto* labels[*pc++];
dup:
  top[1] = top[0], top++;
  goto* labels[*pc++];
swap : {
  unsigned t = top[0];
  top[0] = top[-1];
  top[-1] = t;
}
  goto* labels[*pc++];
dec:
  top[0]--;
  goto* labels[*pc++];
jump:
  pc += top[0] ? *pc - 1 : 1;
  goto* labels[*pc++];
halt:
  return top[-1];
}

int main(void) {
  unsigned a = 0, b = 0;
  for (int i = 0; i < 20; i++) {
    a = a * 7 + by_switch();
    b = b * 7 + by_goto();
  }
  printf("%u %u %s\n", a, b, a == b ? "equal" : "different");
  return a == b ? 0 : 1;
}
