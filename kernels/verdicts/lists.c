// Pointers: lists in memory order and in no order, a list that is built, a queue, rings.
#include "inputs.h"

struct node {
  struct node* next;
  int value;
};

/// Nodes of one block, linked in the given order.
KERNEL struct node* linked(struct node* pool, const int* order, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    pool[order[i]].next = i + 1 < n ? &pool[order[i + 1]] : NULL;
    pool[order[i]].value = 10 + i;
  }
  return &pool[order[0]];
}

KERNEL int sum_of_list(struct node* head) {
  STATE(struct node*, p, head);
  STATE(int, s, 0);
  REDUCTION(ADD, s);
  WHILE(p != NULL) {  // expect: no: p = p->next
    s += p->value;
    p = p->next;
  }
  return s;
}

/// The nodes happen to lie one after the other.
KERNEL void double_contiguous(struct node* head) {
  STATE(struct node*, p, head);
  WHILE(p != NULL) {  // expect: no: p = p->next, wherever it leads
    p->value *= 2;
    p = p->next;
  }
}

KERNEL void double_scattered(struct node* head) {
  STATE(struct node*, p, head);
  WHILE(p != NULL) {  // expect: no: p = p->next
    p->value *= 3;
    p = p->next;
  }
}

/// A pointer that walks over an array is an index.
KERNEL void double_array(struct node* pool, int n) {
  struct node* p = pool;
  FOR(int i = 0, i < n, (i++, p++)) {  // expect: parallel
    p->value += 5;
  }
}

KERNEL struct node* build(const int* values, int n) {
  STATE(struct node*, head, NULL);
  FOR(int i = 0, i < n, i++) {  // expect: no: the list so far
    struct node* const node = malloc(sizeof(struct node));
    node->value = values[i];
    node->next = head;
    head = node;
  }
  return head;
}

/// Blocks of their own: the allocator's inside does not count.
KERNEL void build_array(struct node** nodes, const int* values, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    nodes[i] = malloc(sizeof(struct node));
    nodes[i]->value = values[i] + 1;
    nodes[i]->next = NULL;
  }
}

/// A block that lives for one iteration.
KERNEL void scratch_block(int* out, const int* in, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    int* const scratch = malloc(4 * sizeof(int));
    FOR(int j = 0, j < 4, j++) {  // expect: parallel
      scratch[j] = in[(i + j) % n];
    }
    out[i] = scratch[0] * scratch[3] - scratch[1] * scratch[2];
    free(scratch);
  }
}

/// Breadth first over a graph: the queue is written and read.
KERNEL int reach(int* queue, int* level, const int* edge, int n) {
  STATE(int, first, 0);
  STATE(int, end, 1);
  queue[0] = 0;
  level[0] = 1;
  WHILE(first < end) {  // expect: no: the queue
    const int at = queue[first++];
    FOR(int k = 0, k < 2, k++) {  // expect: no: the end of the queue
      const int to = edge[2 * at + k] % n;
      if (level[to] == 0) {
        level[to] = level[at] + 1;
        queue[end++] = to;
      }
    }
  }
  return end;
}

static int ring[8];

/// A ring as a delay line: what is read was written five iterations ago.
KERNEL void delay_line(int* out, const int* in, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: no: ring, five iterations ago
    ring[i & 7] = in[i];
    out[i] = ring[(i + 3) & 7];
  }
}

/// A ring of which every iteration reads only what it wrote: its memory is reused, its values are not.
KERNEL void private_ring(int* out, const int* in, int n) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    ring[i & 7] = in[i] * 3;
    ring[(i + 1) & 7] = in[i] + 1;
    out[i] = ring[i & 7] - ring[(i + 1) & 7];
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int* const in_order = permutation(n);
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    in_order[i] = i;
  }
  struct node* const pool = block_of(n, sizeof(struct node));
  struct node* const scattered = block_of(n, sizeof(struct node));
  struct node* const head = linked(pool, in_order, n);
  struct node* const other = linked(scattered, permutation(n), n);
  double_contiguous(head);
  double_scattered(other);
  double_array(pool, n);
  printf("%d %d\n", sum_of_list(head), sum_of_list(other));
  const int* const values = some_ints(n, 0, 99);
  printf("%d\n", sum_of_list(build(values, n)));
  struct node** const nodes = block_of(n, sizeof(struct node*));
  build_array(nodes, values, n);
  printf("%d\n", nodes[n / 2]->value);
  int* const out = some_ints(n, 0, 0);
  scratch_block(out, values, n);
  show_ints("scratch", out, n);
  int* const level = some_ints(n, 0, 0);
  printf("%d\n", reach(out, level, some_ints(2 * n, 0, 9999), n));
  show_ints("level", level, n);
  delay_line(out, values, n);
  show_ints("delayed", out, n);
  private_ring(out, values, n);
  show_ints("ring", out, n);
  return 0;
}
