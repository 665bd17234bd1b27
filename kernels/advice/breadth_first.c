// Breadth-first search in a graph of neighbour lists, with a queue. The queue is the program: what to visit next was
// decided by the visits before, how many there will be is decided as they go, and whether a neighbour is new depends on
// all that were seen. Nothing can be moved or run in parallel without another algorithm, and nothing may be suggested.
//
// advice: run 300
#include "../kernel.h"

enum { kDegree = 5 };

KERNEL int search(const int* start, const int* neighbour, int* depth, int* queue) {
  int head = 0;
  int tail = 1;
  queue[0] = 0;
  depth[0] = 0;
  // expect-advice: never LF-PAR; never LF-RED; never LF-ICH; never LF-SKW; never LF-SIMD; parallel_ops <= 10
  // expect-advice: simd_ops <= 10
  // expect-advice: blocking Q -> N
  // expect-advice -O1: obstacles CBFA
  while (head < tail) {  // expect: no: the queue, and its length
    const int node = queue[head++];
    const int end = start[node + 1];  // N:
    // expect-advice: never LF-PAR e
    for (int e = start[node]; e < end; e++) {  // expect: no: the end of the queue
      const int to = neighbour[e];
      if (depth[to] < 0) {
        depth[to] = depth[node] + 1;
        queue[tail++] = to;  // Q:
      }
    }
  }
  return tail;
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 300);
  int* const start = block_of(n + 1, sizeof(int));
  int* const depth = block_of(n, sizeof(int));
  for (int i = 0; i <= n; i++) start[i] = i * kDegree;
  for (int i = 0; i < n; i++) depth[i] = -1;
  const int found = search(start, integers((long)n * kDegree, n), depth, block_of(n, sizeof(int)));
  printf("%d\n", found);
  print_integer_sum(depth, n);
  return 0;
}
