// Scanning a text: words of letters, separated by other characters.
#include "counted.h"

static const char text[] =
    "it walks along the text, letter by letter; what it finds (words, mostly) it counts... and then, at the end, it "
    "stops.";

KERNEL long words(const char* at) {
  long sum = 0, length = 0;
  ENTER(0);
  while (*at) {
    ITERATE(0);
    char letter = *at++;
    sum = sum * 5 + letter;
    ENTER(1);
    while (*at >= 'a' && *at <= 'z') {
      ITERATE(1);
      length++;
      at++;
    }
    sum ^= length << 4;
  }
  return sum & 0xffffff;
}

int main(void) {
  int rounds = bound(20);
  long sum = 0;
  ENTER(2);
  for (int i = 0; i < rounds; i++) {
    ITERATE(2);
    sum += words(text + i);
  }
  return print_loops(sum);
}
