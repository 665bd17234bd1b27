// The network of backprop.c with its advice followed: the two loops of each nest have changed places, and the sum of a
// layer has an element for each output. Inner loops go along rows; nothing is left to interchange.
//
// forward: the outer loop adds up, into all sums (a reduction of an array); the inner one is parallel. Outputs are free
// of each other as before, so that the nest can still be run in parallel, over the inner loop. adjust: both loops are
// parallel, the outer one over rows.
//
// It prints what backprop.c prints: the order of additions to a sum is the same.
//
// advice: run 96 24
#include <math.h>

#include "../kernel.h"

enum { kOutputs = 2 };

struct layer {
  int inputs, outputs;
  double** weight;  // [input][output]; input 0 is always 1
  double** last;    // the steps before
};

KERNEL double squash(double x) { return x / (1 + fabs(x)); }

KERNEL void forward(const struct layer* layer, const double* in, double* out) {
  double** const weight = layer->weight;
  const int inputs = layer->inputs;
  const int outputs = layer->outputs;
  for (int o = 1; o <= outputs; o++) {  // expect: parallel
    out[o] = 0;
  }
  // expect-advice: tile_depth 2; skew no; never LF-ICH; reuse >= 98; simd_ops >= 90
  // expect-advice at hidden: parallel_ops >= 90; suggests LF-SIMD o
  for (int i = 0; i <= inputs; i++) {  // expect: reduction(+)
    const double* const row = weight[i];
    // expect-advice: stride01 100
    for (int o = 1; o <= outputs; o++) {  // expect: parallel
      out[o] += row[o] * in[i];
    }
  }
  for (int o = 1; o <= outputs; o++) {  // expect: parallel
    out[o] = squash(out[o]);
  }
}

KERNEL void adjust(const struct layer* layer, const double* in, const double* error) {
  double** const weight = layer->weight;
  double** const last = layer->last;
  const int inputs = layer->inputs;
  const int outputs = layer->outputs;
  // expect-advice: tile_depth 2; skew no; never LF-ICH; interchange none; reuse >= 98; simd_ops >= 80
  // expect-advice: parallel_ops >= 95
  // expect-advice at hidden_step: suggests LF-PAR i; suggests LF-SIMD o
  for (int i = 0; i <= inputs; i++) {  // expect: parallel
    double* const now = weight[i];
    double* const before = last[i];
    // expect-advice: stride01 100
    for (int o = 1; o <= outputs; o++) {  // expect: parallel
      const double step = 0.3 * error[o] * in[i] + 0.25 * before[o];
      now[o] += step;
      before[o] = step;
    }
  }
}

static double** rows(int count, int width, int seed) {
  double** const table = block_of(count, sizeof(double*));
  for (int i = 0; i < count; i++) {
    table[i] = block_of(width, sizeof(double));
    for (int j = 0; j < width; j++) table[i][j] = (double)((i * 7 + j * 5 + seed) % 11) / 44 - 0.1;
  }
  return table;
}

static struct layer new_layer(int inputs, int outputs) {
  return (struct layer){inputs, outputs, rows(inputs + 1, outputs + 1, 1), rows(inputs + 1, outputs + 1, 4)};
}

int main(int argc, char** argv) {
  const int inputs = size_argument(argc, argv, 1, 96);
  const int hidden = size_argument(argc, argv, 2, 24);
  const struct layer first = new_layer(inputs, hidden);
  const struct layer second = new_layer(hidden, kOutputs);
  const double* const in = numbers(inputs + 1);
  double* const between = numbers(hidden + 1);
  double* const out = numbers(kOutputs + 1);
  forward(&first, in, between);    // hidden:
  forward(&second, between, out);  // output:
  adjust(&second, between, out);   // output_step:
  adjust(&first, in, between);     // hidden_step:
  for (int i = 0; i <= inputs; i++) print_sum(first.weight[i], hidden + 1);
  print_sum(out, kOutputs + 1);
  return 0;
}
