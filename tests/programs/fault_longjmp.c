// Loads from unmapped memory 100 times, behind a load that may leave the block; the handler leaves with siglongjmp.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

long load_behind(const void* aligned, const void* unmapped);
__asm__(
    ".globl load_behind\n"
    ".type load_behind, @function\n"
    "load_behind:\n"
    "  movaps (%rdi), %xmm0\n"
    "  movq %rsi, %rax\n"
    "  addq $8, %rax\n"
    "  movq %rax, %rcx\n"
    "  movq (%rsi), %rdx\n"
    "  addq %rdx, %rax\n"
    "  ret\n"
    ".size load_behind, . - load_behind\n");

static double pair[2] __attribute__((aligned(16)));
static sigjmp_buf before;

static void leave(int signal) {
  (void)signal;
  siglongjmp(before, 1);
}

int main(void) {
  signal(SIGSEGV, leave);
  volatile int faults = 0;
  for (volatile int i = 0; i < 100; i++) {
    if (sigsetjmp(before, 1) == 0) {
      load_behind(pair, (void*)(0x1000L + i * 64L));
    } else {
      faults++;
    }
  }
  long sum = 0;
  for (int i = 0; i < 100000; i++) sum += i & 3;
  printf("%d faults, sum %ld\n", faults, sum);
  return 0;
}
