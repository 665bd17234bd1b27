// Nests whose levels have different verdicts, matrices, several loops on one line.
#include "inputs.h"

KERNEL void multiply(int n, double (*c)[n], double (*a)[n], double (*b)[n]) {
  FOR(int i = 0, i < n, i++) {    // expect: parallel
    FOR(int j = 0, j < n, j++) {  // expect: parallel
      STATE(double, s, 0);
      REDUCTION(ADD, s);
      FOR(int k = 0, k < n, k++) {  // expect: reduction(+)
        s += a[i][k] * b[k][j];
      }
      c[i][j] = s;
    }
  }
}

/// The sum is in memory, and the loop over it is in the middle.
KERNEL void multiply_into(int n, double (*c)[n], double (*a)[n], double (*b)[n]) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    REDUCTION_EACH(ADD, c[i], n);
    FOR(int k = 0, k < n, k++) {    // expect: reduction(+)
      FOR(int j = 0, j < n, j++) {  // expect: parallel
        c[i][j] += a[i][k] * b[k][j];
      }
    }
  }
}

KERNEL void transpose(int n, double (*a)[n]) {
  FOR(int i = 0, i < n, i++) {    // expect: parallel
    FOR(int j = 0, j < i, j++) {  // expect: parallel
      const double t = a[i][j];
      a[i][j] = a[j][i];
      a[j][i] = t;
    }
  }
}

KERNEL void along_rows(int n, double (*a)[n]) {
  FOR(int i = 0, i < n, i++) {    // expect: parallel
    FOR(int j = 1, j < n, j++) {  // expect: no: a[i][j - 1]
      a[i][j] = a[i][j - 1] + 2 * a[i][j];
    }
  }
}

KERNEL void along_columns(int n, double (*a)[n]) {
  FOR(int i = 1, i < n, i++) {    // expect: no: a[i - 1][j]
    FOR(int j = 0, j < n, j++) {  // expect: parallel
      a[i][j] = a[i - 1][j] - a[i][j];
    }
  }
}

/// Both levels carry, but along a diagonal.
KERNEL void along_diagonals(int n, double (*a)[n]) {
  FOR(int i = 1, i < n, i++) {    // expect: no: a[i - 1][j - 1]
    FOR(int j = 1, j < n, j++) {  // expect: parallel
      a[i][j] += a[i - 1][j - 1];
    }
  }
}

KERNEL void wavefront(int n, double (*a)[n]) {
  FOR(int i = 1, i < n, i++) {    // expect: no: a[i - 1][j]
    FOR(int j = 1, j < n, j++) {  // expect: no: a[i][j - 1]
      a[i][j] += (a[i - 1][j] + a[i][j - 1]) / 4;
    }
  }
}

KERNEL void solve_lower(int n, double (*l)[n], double* x) {
  FOR(int i = 0, i < n, i++) {  // expect: no: the unknowns before
    STATE(double, s, x[i]);
    REDUCTION(ADD, s);
    FOR(int j = 0, j < i, j++) {  // expect: reduction(+)
      s -= l[i][j] * x[j];
    }
    x[i] = s;
  }
}

KERNEL void eliminate(int n, double (*a)[n]) {
  FOR(int k = 0, k < n - 1, k++) {    // expect: no: what is left of the matrix
    FOR(int i = k + 1, i < n, i++) {  // expect: parallel
      const double f = a[i][k] / 8;
      FOR(int j = k + 1, j < n, j++) {  // expect: parallel
        a[i][j] -= f * a[k][j];
      }
    }
  }
}

/// A row of its own for each iteration, in one place.
KERNEL void shared_row(int n, double (*b)[n], double (*a)[n], double* row) {
  FOR(int i = 0, i < n, i++) {    // expect: parallel
    FOR(int j = 0, j < n, j++) {  // expect: parallel
      row[j] = a[i][j] * (i + 1);
    }
    FOR(int j = 0, j < n, j++) {  // expect: parallel
      b[i][j] = row[n - 1 - j];
    }
  }
}

/// As above, but the last element is never written again.
KERNEL void shared_row_kept(int n, double (*b)[n], double (*a)[n], double* row) {
  FOR(int i = 0, i < n, i++) {        // expect: no: row[n - 1 - i] from earlier rows
    FOR(int j = 0, j < n - i, j++) {  // expect: parallel
      row[j] = a[i][j] * (i + 1);
    }
    FOR(int j = 0, j < n, j++) {  // expect: parallel
      b[i][j] = row[n - 1 - j];
    }
  }
}

/// All in one sum: both levels.
KERNEL double whole_sum(int n, double (*a)[n]) {
  STATE(double, s, 0);
  REDUCTION(ADD, s);
  FOR(int i = 0, i < n, i++) {  // expect: reduction(+)
    REDUCTION(ADD, s);
    FOR(int j = 0, j < n, j++) {  // expect: reduction(+)
      s += a[i][j];
    }
  }
  return s;
}

KERNEL void row_maxima(int n, double* most, double (*a)[n]) {
  FOR(int i = 0, i < n, i++) {  // expect: parallel
    STATE(double, m, a[i][0]);
    REDUCTION(MAX, m);
    FOR(int j = 1, j < n, j++) {  // expect: reduction(max)
      if (a[i][j] > m) m = a[i][j];
    }
    most[i] = m;
  }
}

// clang-format off
KERNEL void one_line(int n, double* a, double* b) {
  FOR(int i = 0, i < n, i++) { b[i] += 1; } FOR(int i = 1, i < n, i++) { a[i] += a[i - 1]; }  // expect: parallel; no
  // hidden: clang -O2: clang unrolls the outer loop, and its iterations cannot be told from pieces of the inner one
  FOR(int i = 0, i < 3, i++) { FOR(int j = 0, j < n, j++) { b[j] = b[j] / 2 + a[j]; } }  // expect: no; parallel
}
// clang-format on

int main(int argc, char** argv) {
  const int size = size_of_input(argc, argv);
  const int n = size < 25 ? size : 25;
  seed_input(argc, argv);
  double(*const a)[n] = (double(*)[n])some_doubles(n * n, 1, 9);
  double(*const b)[n] = (double(*)[n])some_doubles(n * n, 1, 9);
  double(*const c)[n] = (double(*)[n])some_doubles(n * n, 1, 9);
  double* const x = some_doubles(n, 1, 9);
  double* const y = some_doubles(n, 1, 9);
  multiply(n, c, a, b);
  multiply_into(n, c, b, a);
  transpose(n, c);
  show_doubles("product", c[0], n * n);
  along_rows(n, a);
  along_columns(n, a);
  along_diagonals(n, a);
  show_doubles("along", a[0], n * n);
  wavefront(n, b);
  solve_lower(n, b, x);
  show_doubles("wave", b[0], n * n);
  eliminate(n, c);
  show_doubles("eliminated", c[0], n * n);
  shared_row(n, a, b, x);
  shared_row_kept(n, b, a, x);
  show_doubles("rows", b[0], n * n);
  printf("%.9g\n", whole_sum(n, (double(*)[n])some_doubles(n * n, 1, 99)));
  row_maxima(n, x, b);
  one_line(n, x, y);
  show_doubles("lines", y, n);
  return 0;
}
