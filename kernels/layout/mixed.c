// Variable-length arrays of this function, of four element types, in one field: the tag, the three coordinates and the
// counts of each item lie beside each other, the names of all come first.
//
// map: { name[e] -> [0, e] } { tag[e] -> [1, e, 0] } { at[e, k] -> [1, e, 1, k] } { count[e, k] -> [1, e, 2, k] }
#include "data.h"

static double walk(int n) {
  char tag[n];
  double at[n][3];
  short count[n][5];
  long name[n];
  for (int i = 0; i < n; i++) {
    tag[i] = (char)('a' + i % 26);
    name[i] = 1000L * i;
    for (int k = 0; k < 3; k++) at[i][k] = i * 0.5 + k;
    for (int k = 0; k < 5; k++) count[i][k] = (short)(i - k);
  }
  double sum = 0;
#pragma scop
#pragma layout map(in: name(e) -> (0, e) : long[n]) map(in: tag(e) -> (1, e, 0) : char[n]) \
               map(inout: at(e,k) -> (1, e, 1, k) : double[n, 3]) map(inout: count(e,k) -> (1, e, 2, k) : short[n, 5])
  for (int i = 0; i < n; i++) {
    at[i][tag[i] % 3] += (double)name[n - 1 - i] / 16;
    count[i][0]++;
    count[i][tag[i] % 5] += (short)(tag[i] + count[(i + 1) % n][1]);
    sum += at[i][2] * count[i][4];
  }
#pragma endscop
  for (int i = 0; i < n; i++)
    sum = sum * 0.75 + at[i][0] + at[i][1] + count[i][0] + count[i][1] + tag[i] + (double)name[i];
  return sum;
}

int main(int argc, char** argv) {
  const int n = size_from(argc, argv, 1, 37);
  printf("%.17g\n", walk(n));
  return 0;
}
