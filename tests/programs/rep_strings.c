// rep movs/stos/lods and repe cmps, repne scas of every width, forwards and backwards, with a count of zero too.
#include <stdio.h>
#include <string.h>

static unsigned char source[512], target[512];

static void move_bytes(void* to, const void* from, unsigned long n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static void move_words(void* to, const void* from, unsigned long n) {
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static void move_backwards(unsigned char* to, const unsigned char* from, unsigned long n) {
  to += n - 1;
  from += n - 1;
  __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(to), "+S"(from), "+c"(n) : : "memory", "cc");
}
static void store_ints(void* to, unsigned value, unsigned long n) {
  __asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}
static void store_shorts(void* to, unsigned short value, unsigned long n) {
  __asm__ volatile("rep stosw" : "+D"(to), "+c"(n) : "a"(value) : "memory");
}
static unsigned long scan(const void* in, unsigned char value, unsigned long n) {
  __asm__ volatile("repne scasb" : "+D"(in), "+c"(n) : "a"(value) : "memory", "cc");
  return n;
}
static unsigned long compare(const void* a, const void* b, unsigned long n) {
  __asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(n) : : "memory", "cc");
  return n;
}

static unsigned hash(void) {
  unsigned h = 0;
  for (unsigned i = 0; i < sizeof target; i++) h = h * 31 + target[i];
  return h;
}

int main(void) {
  for (unsigned i = 0; i < sizeof source; i++) source[i] = (unsigned char)(i * 7 + 3);
  move_bytes(target, source, 300);
  printf("movsb %08x\n", hash());
  move_words(target + 8, source, 60);
  printf("movsq %08x\n", hash());
  move_backwards(target + 5, target, 100);
  printf("std %08x\n", hash());
  store_ints(target + 200, 0xdeadbeef, 20);
  store_shorts(target + 300, 0x1234, 9);
  printf("stos %08x\n", hash());
  printf("scas %lu %lu\n", scan(source, source[77], 400), scan(source, 1, 0));
  memcpy(target, source, 256);
  target[123] ^= 1;
  printf("cmps %lu %lu\n", compare(source, target, 256), compare(source, target, 100));
  move_bytes(target, source, 0);
  printf("none %08x\n", hash());
  return 0;
}
