// A loop around a switch with enough cases for a jump table, some of which fall through.
#include "counted.h"

static unsigned char program[512];

KERNEL long interpret(int n) {
  long a = 1, b = 0;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    switch (program[i]) {
      case 0:
        a += b;
        break;
      case 1:
        b ^= a;
        break;
      case 2:
        a = a * 3 + i;
        break;
      case 3:
        b += 7;  // and on to the next
        __attribute__((fallthrough));
      case 4:
        a -= b >> 3;
        break;
      case 5:
        b = -b;
        break;
      case 6:
        if (a & 1) a = a + b;
        break;
      default:
        a &= 0xfffff;
    }
  }
  return a ^ b;
}

int main(void) {
  int n = bound(500);
  ENTER(1);
  for (int i = 0; i < n; i++) {
    ITERATE(1);
    program[i] = (unsigned char)(noise((unsigned)i) % 9);
  }
  return print_loops(interpret(n) & 0xffffff);
}
