// Stores to a read-only page 50 times; the handler of SIGSEGV unprotects it, and the store is repeated.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum { kPage = 4096, kRounds = 50 };

// One block: a load that may leave the block (if it is not aligned), three instructions, the store that faults.
long store_behind(const void* aligned, void* page);
__asm__(
    ".globl store_behind\n"
    ".type store_behind, @function\n"
    "store_behind:\n"
    "  movaps (%rdi), %xmm0\n"
    "  movq $100, %rax\n"
    "  addq $8, %rax\n"
    "  movq %rax, %rcx\n"
    "  movq %rax, (%rsi)\n"
    "  addq %rcx, %rax\n"
    "  ret\n"
    ".size store_behind, . - store_behind\n");

static double pair[2] __attribute__((aligned(16)));
static char* page;
static volatile int faults;

static void unprotect(int signal) {
  (void)signal;
  faults = faults + 1;
  mprotect(page, kPage, PROT_READ | PROT_WRITE);
}

int main(void) {
  struct sigaction action = {.sa_handler = unprotect};
  sigaction(SIGSEGV, &action, NULL);
  page = mmap(NULL, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  long sum = 0;
  for (int i = 0; i < kRounds; i++) {
    sum += store_behind(pair, page);
    mprotect(page, kPage, PROT_READ);
  }
  printf("%d faults, sum %ld\n", faults, sum);
  return 0;
}
