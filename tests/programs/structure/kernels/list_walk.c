// A linked list, built in one order and walked in another.
#include <stddef.h>

#include "counted.h"

enum { kMost = 211 };
typedef struct Node {
  struct Node* next;
  long value;
} Node;
static Node nodes[kMost];

KERNEL Node* build(int n) {
  Node* head = NULL;
  ENTER(0);
  for (int i = 0; i < n; i++) {
    ITERATE(0);
    Node* node = &nodes[(i * 67) % kMost];
    node->value = i;
    node->next = head;
    head = node;
  }
  return head;
}

KERNEL long walk(const Node* node) {
  long sum = 0;
  ENTER(2);
  for (; node; node = node->next) {
    ITERATE(2);
    sum += node->value ^ sum;
  }
  return sum;
}

int main(void) {
  const Node* head = build(bound(kMost));
  int rounds = bound(6);
  long sum = 0;
  ENTER(1);
  for (int i = 0; i < rounds; i++) {
    ITERATE(1);
    sum += walk(head);
    head = head->next;
  }
  return print_loops(sum);
}
