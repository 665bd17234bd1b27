// Makes code at run time in a writable and executable page, calls it, rewrites it and calls it again.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int (*Function)(int);

// lea eax, [rdi + constant]; ret
static void emit_add(unsigned char* where, int constant) {
  unsigned char code[] = {0x8d, 0x87, 0, 0, 0, 0, 0xc3};
  memcpy(code + 2, &constant, 4);
  memcpy(where, code, sizeof code);
}

// imul eax, edi, constant; ret
static void emit_multiply(unsigned char* where, int constant) {
  unsigned char code[] = {0x69, 0xc7, 0, 0, 0, 0, 0xc3};
  memcpy(code + 2, &constant, 4);
  memcpy(where, code, sizeof code);
}

int main(void) {
  unsigned char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  Function function = (Function)(void*)page;
  long sum = 0;
  for (int i = 1; i <= 30; i++) {
    if (i % 2) {
      emit_add(page, i);
    } else {
      emit_multiply(page, i);
    }
    for (int j = 0; j < 20; j++) sum = sum * 3 % 1000003 + function(j);
    if (i <= 4) printf("round %d: f(10) = %d\n", i, function(10));
  }
  printf("sum %ld\n", sum);
  munmap(page, 4096);

  // A second mapping, at the same address if the kernel likes, made executable only after writing.
  page = mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 1;
  emit_add(page, 1000);
  mprotect(page, 4096, PROT_READ | PROT_EXEC);
  printf("mprotected: %d\n", ((Function)(void*)page)(1));
  return 0;
}
