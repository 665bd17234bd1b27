// A network of two layers in training, as one writes it down: for each output, the sum over its inputs; then, for each
// output, a step on each of its weights. The weights are rows of their own, one malloc per input, so both inner loops
// go down a column.
//
// forward: outputs are free of each other, the inner loop adds up. The two loops may change places: then neighbours in
// a row are read one after the other, and the inner loop is parallel. The sum needs an element for each output first.
// Along the inner loop, two of three loads are near: the pointer to the row and the input; along the outer one all are.
//
// adjust: both loops are parallel, and every weight is touched once; the inner loop goes down the columns of two
// matrices.
//
// Each is called twice. The calls for the hidden layer have nearly all of the work; those for the output layer have few
// outputs, so that interchange would leave an inner loop of two iterations: the hidden layer deserves its own copy.
// Between the layers nothing can be tiled together: a layer needs all of the one before.
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
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; interprocedural yes; never LF-SKW
  // expect-advice at hidden: simd_ops >= 80; reuse 60..70; potential_reuse >= 95
  // expect-advice at hidden: interchange o i; suggests LF-ICH o i needs expand; suggests LF-PAR o; suggests LF-SPC
  // expect-advice at output: never LF-SPC; trip 2
  // expect-advice: stride01 >= 98
  // expect-advice -O1: obstacles RAP
  for (int o = 1; o <= outputs; o++) {  // expect: parallel
    double sum = 0;
    // expect-advice: stride01 67
    for (int i = 0; i <= inputs; i++) {  // expect: reduction(+)
      sum += weight[i][o] * in[i];
    }
    out[o] = squash(sum);
  }
}

KERNEL void adjust(const struct layer* layer, const double* in, const double* error) {
  double** const weight = layer->weight;
  double** const last = layer->last;
  const int inputs = layer->inputs;
  const int outputs = layer->outputs;
  // expect-advice: tile_depth 2; skew no; parallel_ops >= 95; simd_ops >= 90; tilable_ops >= 90; never LF-SKW
  // expect-advice at hidden_step: reuse 45..60; potential_reuse >= 95
  // expect-advice at hidden_step: interchange o i; suggests LF-ICH o i; suggests LF-PAR o; suggests LF-SPC
  // expect-advice at output_step: never LF-SPC; trip 2
  // expect-advice: stride01 >= 98
  for (int o = 1; o <= outputs; o++) {  // expect: parallel
    // expect-advice: stride01 45..60
    for (int i = 0; i <= inputs; i++) {  // expect: parallel
      const double step = 0.3 * error[o] * in[i] + 0.25 * last[i][o];
      weight[i][o] += step;
      last[i][o] = step;
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
