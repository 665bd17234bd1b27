// A hash join: one table is put into buckets by key, then the other one probes them. No static truth.
//
// irregular: sizes N = 120, M = 150
#include "kernel.h"

enum { kBuckets = 32 };

KERNEL void build(int n, const int* keys, int* next, int* heads) {
  for (int i = 0; i < n; i++) {
    const int bucket = keys[i] * 40503 >> 4 & (kBuckets - 1);  // K:
    next[i] = heads[bucket];                                   // N:
    heads[bucket] = i;                                         // H:
  }
}

KERNEL int probe(int m, const int* probes, const int* keys, const int* next, const int* heads) {
  int found = 0;
  for (int i = 0; i < m; i++) {
    const int key = probes[i];  // Q:
    for (int j = heads[key * 40503 >> 4 & (kBuckets - 1)]; j >= 0; j = next[j]) {
      found += keys[j] == key;  // C:
    }
  }
  return found;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 120);
  const int m = size_argument(argc, argv, 2, 150);
  int* const keys = integers(n, 1000);
  int* const probes = integers(m, 1000);
  int* const next = block_of(n, sizeof(int));
  int* const heads = block_of(kBuckets, sizeof(int));
  for (int i = 0; i < kBuckets; i++) heads[i] = -1;
  build(n, keys, next, heads);
  printf("%d\n", probe(m, probes, keys, next, heads));
  return 0;
}
