// Marks two regions with loopfold/mark.h, one of them nested in the other and entered five times.
#include <loopfold/mark.h>
#include <stdio.h>

int main(void) {
  volatile long sum = 0;
  LOOPFOLD_BEGIN("outer region");
  for (int i = 0; i < 5; i++) {
    sum = sum + 1;
    LOOPFOLD_BEGIN("inner");
    for (int j = 0; j < 100; j++) sum = sum + j;
    LOOPFOLD_END("inner");
  }
  LOOPFOLD_END("outer region");
  printf("sum %ld\n", sum);
  return 0;
}
