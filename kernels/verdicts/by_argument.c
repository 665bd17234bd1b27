// Loops whose verdict is known by argument: what they do cannot be run one iteration at a time.
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#include "inputs.h"

static atomic_int turn;
static int baton;
static volatile int begun[2];

/// Each of two threads waits for its turn, takes what the other left, and hands it on.
static void pass_baton(int mine, int rounds) {
  // by-argument: baton comes from the other thread, produced after the loop was entered
  for (int i = 0; i < rounds; i++) {  // expect: unknown
    begun[mine] = i;
    // by-argument: turn is written by the other thread while this loop runs
    while (atomic_load(&turn) != mine) {  // expect: unknown
    }
    baton = (baton * 3 + mine + i) % 10007;
    atomic_store(&turn, 1 - mine);
  }
}

static void* other_thread(void* rounds) {
  pass_baton(1, *(int*)rounds);
  return NULL;
}

static jmp_buf way_out;

KERNEL void check(int x, int limit) {
  if (x > limit) longjmp(way_out, 1);
}

/// Ends where a callee jumps out of it.
KERNEL void checked(const int* a, int* b, int n, int limit) {
  // by-argument: a jump out of a callee that data decide is an exit that data decide
  for (int i = 0; i < n; i++) {  // expect: no: left by longjmp
    b[i] = a[i];
    check(a[i], limit);
  }
}

/// A tree in which every call uses its own part: the loop over the children makes independent calls.
KERNEL int weigh(const int* weight, int at, int n) {
  int sum = 0;
  // by-argument: a sum of independent calls, but the recursion cuts its iterations apart
  for (int child = 2 * at + 1; child <= 2 * at + 2; child++) {  // expect: unknown
    if (child < n) sum += weigh(weight, child, n);
  }
  return sum + weight[at];
}

KERNEL void print_and_end(const int* a, int n, int limit) {
  // by-argument: prints, and a call that does not return ends it
  for (int i = 0; i < n; i++) {  // expect: no: output, and left by exit
    printf("%d\n", a[i]);
    if (a[i] > limit) exit(0);
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  int rounds = 6;
  pthread_t thread;
  if (pthread_create(&thread, NULL, other_thread, &rounds) != 0) return 3;
  pass_baton(0, rounds);
  pthread_join(thread, NULL);
  int* const a = some_ints(n, 1, 80);
  a[n / 2] = 99;
  int* const b = some_ints(n, 0, 0);
  if (setjmp(way_out) == 0) checked(a, b, n, 90);
  show_ints("checked", b, n);
  printf("%d %d\n", baton, weigh(a, 0, n));
  print_and_end(a, n, 90);
  return 0;
}
