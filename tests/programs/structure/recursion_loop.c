// Recursion with a loop around the recursive call: permutations, and a walk over a tree whose nodes have many children.
#include <stdio.h>

enum { kItems = 6 };
static int items[kItems];
static long permutations, swaps, visited, children;

static __attribute__((noinline)) void permute(int from) {
  if (from == kItems) permutations++;
  for (int i = from; i < kItems; i++) {  // @permute
    swaps++;
    int item = items[from];
    items[from] = items[i];
    items[i] = item;
    permute(from + 1);
    item = items[from];
    items[from] = items[i];
    items[i] = item;
  }
}

// A node's children are those of a heap with four each.
static __attribute__((noinline)) void walk(int node, int nodes) {
  visited++;
  for (int child = 4 * node + 1; child <= 4 * node + 4; child++) {  // @walk
    children++;
    if (child < nodes) walk(child, nodes);
  }
}

int main(void) {
  permute(0);
  walk(0, 500);
  printf("permutations %ld\nswaps %ld\nvisited %ld\nchildren %ld\n", permutations, swaps, visited, children);
  return 0;
}
