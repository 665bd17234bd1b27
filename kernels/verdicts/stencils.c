// Stencils: neighbours that -O2 keeps in a register, sweeps in place, time steps over two buffers.
#include "inputs.h"

/// a[i + 1] is a[i] of the next iteration: a compiler loads it once.
KERNEL void average(double* b, const double* a, int n) {
  FOR(int i = 1, i < n - 1, i++) {  // expect: parallel
    b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
  }
}

KERNEL void five_points(int n, double (*b)[n], double (*a)[n]) {
  FOR(int i = 1, i < n - 1, i++) {    // expect: parallel
    FOR(int j = 1, j < n - 1, j++) {  // expect: parallel
      b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) + 0.5 * a[i][j];
    }
  }
}

/// The window is shifted by the source itself; its cells are not written, so they can be read again.
KERNEL void window(double* b, const double* a, int n) {
  STATE(double, left, a[0]);
  STATE(double, middle, a[1]);
  FOR(int i = 1, i < n - 1, i++) {  // expect: parallel: reload left and middle
    RELOAD(left, a[i - 1]);
    RELOAD(middle, a[i]);
    const double right = a[i + 1];
    b[i] = left - 2 * middle + right;
    left = middle;
    middle = right;
  }
}

/// As `window`, but the cells are overwritten: what the window keeps is nowhere else.
KERNEL void window_in_place(double* a, int n) {
  STATE(double, left, a[0]);
  FOR(int i = 1, i < n - 1, i++) {  // expect: no: left is a cell's value before it was overwritten
    RELOAD(left, a[i - 1]);
    const double middle = a[i];
    a[i] = left - 2 * middle + a[i + 1];
    left = middle;
  }
}

KERNEL void sweep_in_place(int n, double (*a)[n], int steps) {
  FOR(int t = 0, t < steps, t++) {      // expect: no: next sweep
    FOR(int i = 1, i < n - 1, i++) {    // expect: no: a[i - 1][j]
      FOR(int j = 1, j < n - 1, j++) {  // expect: no: a[i][j - 1]
        a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
      }
    }
  }
}

KERNEL double* two_buffers(double* first, double* second, int n, int steps) {
  STATE(double*, from, first);
  STATE(double*, to, second);
  FOR(int t = 0, t < steps, t++) {  // expect: no: what the last step wrote
    double* const a = from;
    double* const b = to;
    FOR(int i = 1, i < n - 1, i++) {  // expect: parallel
      b[i] = (a[i - 1] + a[i + 1]) / 2;
    }
    to = a;
    from = b;
  }
  return from;
}

/// The same with the buffer chosen by the parity of the step.
KERNEL void parity_buffers(int n, double (*a)[n], int steps) {
  FOR(int t = 0, t < steps, t++) {    // expect: no: a[t % 2] of the last step
    FOR(int i = 1, i < n - 1, i++) {  // expect: parallel
      a[(t + 1) % 2][i] = a[t % 2][i - 1] + a[t % 2][i + 1] - a[t % 2][i];
    }
  }
}

/// Red cells read black ones only: each half sweep is parallel, in place.
KERNEL void red_black(double* a, int n) {
  FOR(int colour = 0, colour < 2, colour++) {     // expect: no: black reads red
    // hidden: clang -O2: clang unrolls the outer loop, and its iterations cannot be told from pieces of the inner one
    FOR(int i = 1 + colour, i < n - 1, i += 2) {  // expect: parallel
      a[i] = (a[i - 1] + a[i + 1]) / 2;
    }
  }
}

int main(int argc, char** argv) {
  const int n = size_of_input(argc, argv);
  seed_input(argc, argv);
  double* const a = some_doubles(n, 0, 99);
  double* const b = some_doubles(n, 0, 99);
  average(b, a, n);
  window(b, a, n);
  show_doubles("window", b, n);
  window_in_place(b, n);
  show_doubles("in place", b, n);
  double* const grid = some_doubles(n * n, 0, 99);
  double* const other = some_doubles(n * n, 0, 99);
  five_points(n, (double(*)[n])other, (double(*)[n])grid);
  sweep_in_place(n, (double(*)[n])grid, 3);
  show_doubles("grid", grid, n * n);
  show_doubles("other", other, n * n);
  show_doubles("buffer", two_buffers(a, b, n, 5), n);
  parity_buffers(n, (double(*)[n])grid, 4);
  red_black(a, n);
  show_doubles("grid", grid, 2 * n);
  show_doubles("colours", a, n);
  return 0;
}
