// Longest common subsequence by dynamic programming: data decides every cell.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 3000;
  unsigned char* x = malloc(n);
  unsigned char* y = malloc(n);
  int* row = calloc(n + 1, sizeof(int));
  unsigned seed = 1;
  for (int i = 0; i < n; i++) {
    seed = seed * 1103515245u + 12345u;
    x[i] = seed >> 28;
    seed = seed * 1103515245u + 12345u;
    y[i] = seed >> 28;
  }
  for (int i = 0; i < n; i++) {
    int diagonal = 0;
    for (int j = 0; j < n; j++) {
      const int above = row[j + 1];
      const int longest = above > row[j] ? above : row[j];
      row[j + 1] = x[i] == y[j] ? diagonal + 1 : longest;
      diagonal = above;
    }
  }
  printf("%d\n", row[n]);
  return 0;
}
