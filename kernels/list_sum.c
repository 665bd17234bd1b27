// The sum over a linked list whose nodes lie in memory in no order. No static truth.
//
// irregular: sizes N = 300
//
// Where the next element is stands in this one: nothing can be done about the loop, and the sum alone does not help.
//
// advice: run 300
#include "kernel.h"

struct node {
  struct node* next;
  double value;
};

KERNEL double sum_of(const struct node* p) {
  double s = 0;
  // expect-advice: never LF-PAR; never LF-RED; never LF-SIMD; never LF-TIL; parallel_ops <= 10
  // expect-advice: blocking P -> P distance 1
  while (p != NULL) {  // expect: no: the next node
    s += p->value;  // S:
    p = p->next;    // P:
  }
  return s;
}

/// The nodes of one block, linked in an order that has no form.
KERNEL struct node* shuffled(int n) {
  struct node* const pool = block_of(n, sizeof(struct node));
  int* const draws = integers(n, 1 << 20);
  int* const order = block_of(n, sizeof(int));
  for (int i = 0; i < n; i++) {
    const int j = draws[i] % (i + 1);
    order[i] = order[j];
    order[j] = i;
  }
  for (int i = 0; i < n; i++) {
    struct node* const node = &pool[order[i]];
    node->value = 0.5 + i % 5;
    node->next = i + 1 < n ? &pool[order[i + 1]] : NULL;
  }
  return &pool[order[0]];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 300);
  printf("%.10g\n", sum_of(shuffled(n)));
  return 0;
}
