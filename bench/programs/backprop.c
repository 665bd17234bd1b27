// Times the two kernels of a network in training: KERNEL_FILE is kernels/advice/backprop.c, or the version by hand.
//
// Arguments: inputs, hidden units, how often. Prints nanoseconds per weight, forward and adjust, each the least of all
// times.
#define main kernel_main
#include KERNEL_FILE
#undef main

#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  const int inputs = size_argument(argc, argv, 1, 4096);
  const int hidden = size_argument(argc, argv, 2, 16);
  const int times = size_argument(argc, argv, 3, 20);
  const struct layer layer = new_layer(inputs, hidden);
  const double* const in = numbers(inputs + 1);
  double* const out = numbers(hidden + 1);
  double forward_least = 1e30;
  double adjust_least = 1e30;
  for (int i = 0; i < times; i++) {
    const double start = seconds();
    forward(&layer, in, out);
    const double middle = seconds();
    adjust(&layer, in, out);
    const double end = seconds();
    if (middle - start < forward_least) forward_least = middle - start;
    if (end - middle < adjust_least) adjust_least = end - middle;
  }
  const double weights = (double)(inputs + 1) * hidden;
  printf("%.4f %.4f\n", 1e9 * forward_least / weights, 1e9 * adjust_least / weights);
  return 0;
}
