// Opens libm at run time, calls cos from it, closes it and opens it again.
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  for (int round = 0; round < 3; round++) {
    void* library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 1;
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    if (!cosine) return 1;
    double sum = 0;
    for (int i = 0; i < 50; i++) sum += cosine(i * 0.0625);
    printf("%d: cos(0) = %.3f, sum = %.9f\n", round, cosine(0), sum);
    dlclose(library);
  }
  printf("missing: %s\n", dlopen("libnot-there.so.1", RTLD_NOW) ? "opened" : "not found");
  return 0;
}
