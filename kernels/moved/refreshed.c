// Bounds that a compiler keeps in a register, and loads again behind a store under a condition, because the store might
// have changed them. Which iteration has loaded them depends on data, what they are does not. Where the source does it,
// with a bound that did change, it does.
#include <stdbool.h>
#include <stdio.h>

enum { NODES = 300, EDGES = 4, ROUNDS = 7 };

typedef struct {
  int start, count;
} Node;

Node nodes[NODES];
int edges[NODES * EDGES], cost[NODES], limit[NODES], out[NODES * EDGES];
bool now[NODES], next[NODES], seen[NODES];

__attribute__((noinline)) void reach(const Node* g, const int* e, bool* mask, bool* upd, const bool* old, int* cost) {
  for (int t = 0; t < NODES; t++)
    if (mask[t]) {
      mask[t] = false;
      for (int i = g[t].start; i < g[t].start + g[t].count; i++) {  // loop: at -O0 verdict yes; at -O1 verdict yes; at -O2 verdict yes; verdict yes unknown
        int id = e[i];
        if (!old[id]) {
          cost[id] = cost[t] + 1;
          upd[id] = true;
        }
      }
    }
}

/// The register begins with another number than the cell has.
__attribute__((noinline)) int shrunk(const int* x, int* end, int* y) {
  int sum = 0;
  for (int t = 0; t < NODES / 2; t++) {
    int last = end[t];
    end[t] = last / 2 + 1;
    for (int k = 0; k < last; k++)  // loop: verdict no
      if (x[k] > NODES / 5) {
        y[k] += t;
        last = end[t];
      }
    sum += last;
  }
  return sum;
}

/// The register begins with what somebody else has said.
__attribute__((noinline)) int given(const int* x, const int* end, int first, int* y) {
  int sum = 0;
  for (int t = 0; t < NODES / 2; t++) {
    int last = first;
    for (int k = 0; k < last; k++)  // loop: verdict no
      if (x[k] > NODES / 5) {
        y[k] += t;
        last = end[t];
      }
    sum += last;
  }
  return sum;
}

int main(void) {
  for (int i = 0; i < NODES; i++) {
    nodes[i] = (Node){i * EDGES, EDGES};
    limit[i] = 20 + i % 9;
    for (int k = 0; k < EDGES; k++) edges[i * EDGES + k] = (i * 7 + k * 31 + 1) % NODES;
  }
  now[0] = seen[0] = true;
  for (int r = 0; r < ROUNDS; r++) {
    reach(nodes, edges, now, next, seen, cost);
    for (int i = 0; i < NODES; i++)
      if (next[i]) {
        now[i] = seen[i] = true;
        next[i] = false;
      }
  }
  int sum = shrunk(edges, limit, out) + given(edges, limit, 25, out);
  for (int i = 0; i < NODES; i++) sum += cost[i] * (i % 5);
  printf("%d\n", sum);
  return 0;
}
