// A variable that some iterations set, and that is read behind the loop: what the last of them leaves there counts, and
// no clause of OpenMP says that. Recorded from main, whose frame is seen only from its first push on.
#include "liveness.h"

enum { N = 700 };
double in[N];

__attribute__((optimize("no-tree-vectorize"))) int main(void) {
  int last = -1;
  fill(in, N);
  for (int i = 0; i < N; i++)  // I reuse: expand last or unknown
    if (in[i] > 0.25 && i < N - 3) last = i;
  printf("%d\n", last);
  return 0;
}
