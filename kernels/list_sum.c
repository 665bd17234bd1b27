// The sum over a linked list whose nodes lie in memory in no order. No static truth.
//
// irregular: sizes N = 300
#include "kernel.h"

struct node {
  struct node* next;
  double value;
};

KERNEL double sum_of(const struct node* p) {
  double s = 0;
  while (p != NULL) {
    s += p->value;  // S:
    p = p->next;    // P:
  }
  return s;
}

/// Node (i * step) modulo n is the i-th of the list; step and n have no common divisor.
KERNEL struct node* shuffled(int n) {
  struct node* const pool = block_of(n, sizeof(struct node));
  int step = n / 3 + 1;
  for (int d = 2; d <= step; d++) {
    if (n % d == 0 && step % d == 0) {
      step++;
      d = 1;
    }
  }
  for (int i = 0; i < n; i++) {
    struct node* const node = &pool[(long)i * step % n];
    node->value = 0.5 + i % 5;
    node->next = i + 1 < n ? &pool[(long)(i + 1) * step % n] : NULL;
  }
  return &pool[0];
}

int main(int argc, char** argv) {
  const int n = size_argument(argc, argv, 1, 300);
  printf("%.10g\n", sum_of(shuffled(n)));
  return 0;
}
