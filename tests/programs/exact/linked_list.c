// A linked list on the heap: reversed, sorted by insertion and walked recursively.
#include <stdio.h>
#include <stdlib.h>

#include "sentinel.h"

struct Node {
  struct Node* next;
  long value;
};

static struct Node* __attribute__((noinline)) reverse(struct Node* list) {
  struct Node* done = NULL;
  while (list) {
    struct Node* next = list->next;
    list->next = done;
    done = list;
    list = next;
  }
  return done;
}

static struct Node* __attribute__((noinline)) sort(struct Node* list) {
  struct Node* sorted = NULL;
  while (list) {
    struct Node *next = list->next, **at = &sorted;
    while (*at && (*at)->value < list->value) at = &(*at)->next;
    list->next = *at;
    *at = list;
    list = next;
  }
  return sorted;
}

static long __attribute__((noinline)) sum(const struct Node* list) {
  return list ? list->value + 2 * sum(list->next) % 1000 : 0;
}

int main(void) {
  struct Node* list = NULL;
  for (int i = 0; i < 90; i++) {
    struct Node* node = malloc(sizeof *node);
    node->value = i * 53 % 97;
    node->next = list;
    list = node;
  }
  SENTINEL_BEGIN();
  list = reverse(list);
  list = sort(list);
  long total = sum(list);
  SENTINEL_END();
  printf("%ld %ld\n", list->value, total);
  while (list) {
    struct Node* next = list->next;
    free(list);
    list = next;
  }
  return 0;
}
