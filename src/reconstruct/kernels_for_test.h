// Address traces of 35 affine kernels, generated on the fly, for tests and measurements of reconstruction.
//
// Each kernel is written from its formula: the loops, and in their bodies touch(reference, address) for every array
// reference, in the order of execution. Shapes, paddings and sizes are ours. A kernel says how many loops are around
// each of its references; reconstruction must find a nest with at most as many.
#pragma once

#include <cstdint>
#include <vector>

namespace loopfold::reconstruct::kernels {

using Size = std::int64_t;

/// An array of 8-byte elements with rows of its own length (and planes), somewhere in memory.
struct Array {
  std::uint64_t base = 0;
  Size row = 0;
  Size plane = 0;
  std::uint64_t operator()(Size i) const { return base + static_cast<std::uint64_t>(8 * i); }
  std::uint64_t operator()(Size i, Size j) const { return (*this)(i * row + j); }
  std::uint64_t operator()(Size i, Size j, Size k) const { return (*this)(i * plane + j * row + k); }
};

inline Array vector_at(unsigned slot) { return {0x10000000ULL * (slot + 1), 0, 0}; }
inline Array matrix_at(unsigned slot, Size row) { return {0x7f0000000000ULL + 0x40000000ULL * slot, row, 0}; }
inline Array cube_at(unsigned slot, Size row, Size rows) {
  return {0x550000000000ULL + 0x800000000ULL * slot, row, row * rows};
}

/// What a kernel is called and how deep its references are.
struct About {
  const char* name;
  std::vector<unsigned> depths;  // by reference
};

#define LOOPFOLD_KERNEL(name, ...)                          \
  struct name {                                             \
    static About about() { return {#name, {__VA_ARGS__}}; } \
    template <class Touch>                                  \
    static void run(Size n, Touch&& touch);                 \
  };                                                        \
  template <class Touch>                                    \
  void name::run(Size n, Touch&& touch)

// ---- dense products -----------------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(product, 2, 3, 3, 3) {
  const Array a = matrix_at(0, n + 5), b = matrix_at(1, n + 2), c = matrix_at(2, n + 2);
  for (Size i = 0; i < n - 3; i++)
    for (Size j = 0; j < n; j++) {
      touch(0, c(i, j));
      for (Size k = 0; k < n + 4; k++) {
        touch(1, a(i, k));
        touch(2, b(k, j));
        touch(3, c(i, j));
      }
    }
}

LOOPFOLD_KERNEL(two_products, 3, 3, 3, 3, 3) {
  const Array a = matrix_at(0, n), b = matrix_at(1, n + 1), t = matrix_at(2, n + 1), c = matrix_at(3, n + 7),
              d = matrix_at(4, n + 7);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n + 1; j++)
      for (Size k = 0; k < n; k++) {
        touch(0, a(i, k));
        touch(1, b(k, j));
      }
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n + 7; j++)
      for (Size k = 0; k < n + 1; k++) {
        touch(2, t(i, k));
        touch(3, c(k, j));
        touch(4, d(i, j));
      }
}

LOOPFOLD_KERNEL(three_products, 3, 3, 3, 3, 3, 3) {
  const Array a = matrix_at(0, n + 1), b = matrix_at(1, n), c = matrix_at(2, n + 2), d = matrix_at(3, n - 1),
              e = matrix_at(4, n), f = matrix_at(5, n - 1);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++)
      for (Size k = 0; k < n + 1; k++) {
        touch(0, a(i, k));
        touch(1, b(k, j));
      }
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n - 1; j++)
      for (Size k = 0; k < n + 2; k++) {
        touch(2, c(i, k));
        touch(3, d(k, j));
      }
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n - 1; j++)
      for (Size k = 0; k < n; k++) {
        touch(4, e(i, k));
        touch(5, f(k, j));
      }
}

LOOPFOLD_KERNEL(rank_update, 2, 3, 3, 3) {
  const Array c = matrix_at(0, n + 3), a = matrix_at(1, n + 6);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j <= i; j++) touch(0, c(i, j));
    for (Size k = 0; k < n + 2; k++)
      for (Size j = 0; j <= i; j++) {
        touch(1, c(i, j));
        touch(2, a(i, k));
        touch(3, a(j, k));
      }
  }
}

LOOPFOLD_KERNEL(rank_two_update, 3, 3, 3, 3, 3) {
  const Array c = matrix_at(0, n + 1), a = matrix_at(1, n), b = matrix_at(2, n + 2);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j <= i; j++)
      for (Size k = 0; k < n - 1; k++) {
        touch(0, c(i, j));
        touch(1, a(i, k));
        touch(2, b(j, k));
        touch(3, b(i, k));
        touch(4, a(j, k));
      }
}

LOOPFOLD_KERNEL(triangular_product, 3, 3, 3, 2) {
  const Array a = matrix_at(0, n + 4), b = matrix_at(1, n + 9);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n + 5; j++) {
      for (Size k = i + 1; k < n; k++) {
        touch(0, a(k, i));
        touch(1, b(k, j));
        touch(2, b(i, j));
      }
      touch(3, b(i, j));
    }
}

LOOPFOLD_KERNEL(symmetric_product, 3, 3, 3, 3, 2, 2) {
  const Array a = matrix_at(0, n), b = matrix_at(1, n + 3), c = matrix_at(2, n + 1);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n + 1; j++) {
      for (Size k = 0; k < i; k++) {
        touch(0, c(k, j));
        touch(1, a(i, k));
        touch(2, b(i, j));
        touch(3, b(k, j));
      }
      touch(4, c(i, j));
      touch(5, a(i, i));
    }
}

LOOPFOLD_KERNEL(tensor_product, 4, 4, 3, 3) {
  const Array a = cube_at(0, n + 2, n + 1), c = matrix_at(1, n + 2);
  const Array sum = vector_at(2);
  for (Size r = 0; r < n; r++)
    for (Size q = 0; q < n - 1; q++) {
      for (Size p = 0; p < n; p++)
        for (Size s = 0; s < n; s++) {
          touch(0, a(r, q, s));
          touch(1, c(s, p));
        }
      for (Size p = 0; p < n; p++) {
        touch(2, a(r, q, p));
        touch(3, sum(p));
      }
    }
}

// ---- factorisations and solvers -------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(lu, 2, 2, 3, 3, 3) {
  const Array a = matrix_at(0, n + 1);
  for (Size k = 0; k < n; k++) {
    for (Size i = k + 1; i < n; i++) {
      touch(0, a(i, k));
      touch(1, a(k, k));
    }
    for (Size i = k + 1; i < n; i++)
      for (Size j = k + 1; j < n; j++) {
        touch(2, a(i, j));
        touch(3, a(i, k));
        touch(4, a(k, j));
      }
  }
}

LOOPFOLD_KERNEL(lu_by_rows, 3, 3, 3, 3, 2) {
  const Array a = matrix_at(0, n + 2);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < i; j++) {
      for (Size k = 0; k < j; k++) {
        touch(0, a(i, k));
        touch(1, a(k, j));
      }
      touch(4, a(j, j));
    }
    for (Size j = i; j < n; j++)
      for (Size k = 0; k < i; k++) {
        touch(2, a(i, k));
        touch(3, a(k, j));
      }
  }
}

LOOPFOLD_KERNEL(lu_solve, 2, 2, 2, 2, 1) {
  const Array a = matrix_at(0, n + 3), x = vector_at(1), y = vector_at(2);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < i; j++) {
      touch(0, a(i, j));
      touch(1, y(j));
    }
  for (Size i = n - 1; i >= 0; i--) {
    for (Size j = i + 1; j < n; j++) {
      touch(2, a(i, j));
      touch(3, x(j));
    }
    touch(4, a(i, i));
  }
}

LOOPFOLD_KERNEL(cholesky, 3, 3, 3, 2, 2, 2, 1) {
  const Array a = matrix_at(0, n + 1);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < i; j++) {
      for (Size k = 0; k < j; k++) {
        touch(0, a(i, j));
        touch(1, a(i, k));
        touch(2, a(j, k));
      }
      touch(3, a(i, j));
      touch(4, a(j, j));
    }
    for (Size k = 0; k < i; k++) touch(5, a(i, k));
    touch(6, a(i, i));
  }
}

LOOPFOLD_KERNEL(gram_schmidt, 2, 2, 3, 3, 3, 2) {
  const Array a = matrix_at(0, n + 1), q = matrix_at(1, n + 1), r = matrix_at(2, n + 4);
  for (Size k = 0; k < n; k++) {
    for (Size i = 0; i < n + 3; i++) touch(0, a(i, k));
    for (Size i = 0; i < n + 3; i++) touch(1, q(i, k));
    for (Size j = k + 1; j < n; j++) {
      for (Size i = 0; i < n + 3; i++) {
        touch(2, q(i, k));
        touch(3, a(i, j));
        touch(4, r(k, j));
      }
      touch(5, r(k, j));
    }
  }
}

LOOPFOLD_KERNEL(durbin, 2, 2, 2, 2, 1) {
  const Array r = vector_at(0), y = vector_at(1), z = vector_at(2);
  for (Size k = 1; k < n; k++) {
    for (Size i = 0; i < k; i++) {
      touch(0, r(k - i - 1));
      touch(1, y(i));
    }
    for (Size i = 0; i < k; i++) {
      touch(2, z(i));
      touch(3, y(k - i - 1));
    }
    touch(4, y(k));
  }
}

LOOPFOLD_KERNEL(triangular_solve, 2, 2, 2, 1) {
  const Array l = matrix_at(0, n + 1), x = vector_at(1);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < i; j++) {
      touch(0, l(i, j));
      touch(1, x(j));
      touch(2, x(i));
    }
    touch(3, l(i, i));
  }
}

// ---- statistics
// -------------------------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(covariance, 2, 2, 3, 3, 2, 2) {
  const Array data = matrix_at(0, n + 2), cov = matrix_at(1, n), mean = vector_at(2);
  for (Size j = 0; j < n; j++)
    for (Size i = 0; i < n + 6; i++) {
      touch(0, data(i, j));
      touch(1, mean(j));
    }
  for (Size i = 0; i < n; i++)
    for (Size j = i; j < n; j++) {
      for (Size k = 0; k < n + 6; k++) {
        touch(2, data(k, i));
        touch(3, data(k, j));
      }
      touch(4, cov(i, j));
      touch(5, cov(j, i));
    }
}

LOOPFOLD_KERNEL(correlation, 2, 2, 2, 3, 3, 2) {
  const Array data = matrix_at(0, n + 1), corr = matrix_at(1, n + 1), deviation = vector_at(2);
  for (Size j = 0; j < n; j++)
    for (Size i = 0; i < n - 2; i++) touch(0, data(i, j));
  for (Size i = 0; i < n - 2; i++)
    for (Size j = 0; j < n; j++) {
      touch(1, data(i, j));
      touch(2, deviation(j));
    }
  for (Size i = 0; i < n - 1; i++)
    for (Size j = i + 1; j < n; j++) {
      for (Size k = 0; k < n - 2; k++) {
        touch(3, data(k, i));
        touch(4, data(k, j));
      }
      touch(5, corr(j, i));
    }
}

// ---- stencils
// -----------------------------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(jacobi_1d, 2, 2, 2, 2, 2) {
  const Array a = vector_at(0), b = vector_at(1);
  for (Size t = 0; t < n / 4 + 2; t++) {
    for (Size i = 1; i < n - 1; i++) {
      touch(0, a(i - 1));
      touch(1, a(i));
      touch(2, a(i + 1));
      touch(3, b(i));
    }
    for (Size i = 1; i < n - 1; i++) touch(4, b(i));
  }
}

LOOPFOLD_KERNEL(jacobi_2d, 3, 3, 3, 3, 3, 3) {
  const Array a = matrix_at(0, n + 1), b = matrix_at(1, n + 1);
  for (Size t = 0; t < n / 3 + 2; t++)
    for (Size i = 1; i < n - 1; i++)
      for (Size j = 1; j < n; j++) {
        touch(0, a(i, j));
        touch(1, a(i, j - 1));
        touch(2, a(i, j + 1));
        touch(3, a(i - 1, j));
        touch(4, a(i + 1, j));
        touch(5, b(i, j));
      }
}

LOOPFOLD_KERNEL(seidel_2d, 3, 3, 3, 3) {
  const Array a = matrix_at(0, n);
  for (Size t = 0; t < n / 2 + 2; t++)
    for (Size i = 1; i < n - 1; i++)
      for (Size j = 1; j < n - 1; j++) {
        touch(0, a(i - 1, j - 1));
        touch(1, a(i, j + 1));
        touch(2, a(i + 1, j + 1));
        touch(3, a(i, j));
      }
}

LOOPFOLD_KERNEL(heat_3d, 4, 4, 4) {
  const Array a = cube_at(0, n + 1, n), b = cube_at(1, n + 1, n);
  for (Size t = 0; t < n / 2 + 2; t++)
    for (Size i = 1; i < n - 1; i++)
      for (Size j = 1; j < n - 1; j++)
        for (Size k = 1; k < n; k++) {
          touch(0, a(i + 1, j, k));
          touch(1, a(i, j, k - 1));
          touch(2, b(i, j, k));
        }
}

LOOPFOLD_KERNEL(alternating_directions, 3, 3, 3, 3, 3, 3) {
  const Array u = matrix_at(0, n), v = matrix_at(1, n), p = matrix_at(2, n + 2);
  for (Size t = 0; t < n / 4 + 2; t++) {
    for (Size i = 1; i < n - 1; i++) {
      for (Size j = 1; j < n - 1; j++) {
        touch(0, p(i, j - 1));
        touch(1, u(j, i + 1));
      }
      for (Size j = n - 2; j >= 1; j--) touch(2, v(j + 1, i));
    }
    for (Size i = 1; i < n - 1; i++) {
      for (Size j = 1; j < n - 1; j++) touch(3, v(i - 1, j));
      for (Size j = n - 2; j >= 1; j--) {
        touch(4, p(i, j));
        touch(5, u(i, j + 1));
      }
    }
  }
}

LOOPFOLD_KERNEL(fdtd_2d, 2, 3, 3, 3, 3, 3, 1) {
  const Array ex = matrix_at(0, n + 1), ey = matrix_at(1, n), hz = matrix_at(2, n + 1), edge = vector_at(3);
  for (Size t = 0; t < n / 4 + 2; t++) {
    touch(6, edge(t));
    for (Size j = 0; j < n; j++) touch(0, ey(0, j));
    for (Size i = 1; i < n - 2; i++)
      for (Size j = 0; j < n; j++) {
        touch(1, ey(i, j));
        touch(2, hz(i - 1, j));
      }
    for (Size i = 0; i < n - 2; i++)
      for (Size j = 1; j < n; j++) touch(3, ex(i, j));
    for (Size i = 0; i < n - 3; i++)
      for (Size j = 0; j < n - 1; j++) {
        touch(4, hz(i, j));
        touch(5, ey(i + 1, j));
      }
  }
}

LOOPFOLD_KERNEL(convolution, 4, 4, 2) {
  const Array image = matrix_at(0, n + 4), weight = vector_at(1), out = matrix_at(2, n);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++) {
      for (Size di = 0; di < 5; di++)
        for (Size dj = 0; dj < 5; dj++) {
          touch(0, image(i + di, j + dj));
          touch(1, weight(5 * di + dj));
        }
      touch(2, out(i, j));
    }
}

LOOPFOLD_KERNEL(recursive_filter, 2, 2, 2, 2) {
  const Array x = matrix_at(0, n + 3), y = matrix_at(1, n + 3);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < n; j++) touch(0, x(i, j));
    for (Size j = n - 1; j >= 0; j--) touch(1, y(i, j));
  }
  for (Size j = 0; j < n; j++) {
    for (Size i = 0; i < n; i++) touch(2, x(i, j));
    for (Size i = n - 1; i >= 0; i--) touch(3, y(i, j));
  }
}

// ---- dynamic programming --------------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(interval_table, 3, 3, 2, 2) {
  const Array t = matrix_at(0, n + 1);
  for (Size i = n - 1; i >= 0; i--)
    for (Size j = i + 1; j < n; j++) {
      touch(2, t(i, j - 1));
      touch(3, t(i + 1, j));
      for (Size k = i + 1; k < j; k++) {
        touch(0, t(i, k));
        touch(1, t(k + 1, j));
      }
    }
}

LOOPFOLD_KERNEL(repeated_table, 4, 4, 4, 3) {
  const Array c = matrix_at(0, n + 2), sums = cube_at(1, n + 1, n + 1);
  for (Size t = 0; t < n / 4 + 2; t++)
    for (Size i = 0; i < n - 1; i++)
      for (Size j = i + 1; j < n; j++) {
        touch(3, sums(i, j, i));
        for (Size k = i + 1; k < j; k++) {
          touch(0, sums(i, j, k));
          touch(1, c(i, k));
          touch(2, c(k, j));
        }
      }
}

LOOPFOLD_KERNEL(shortest_paths, 3, 3, 3) {
  const Array d = matrix_at(0, n);
  for (Size k = 0; k < n; k++)
    for (Size i = 0; i < n; i++)
      for (Size j = 0; j < n; j++) {
        touch(0, d(i, j));
        touch(1, d(i, k));
        touch(2, d(k, j));
      }
}

LOOPFOLD_KERNEL(edit_distance, 2, 2, 2, 2) {
  const Array t = matrix_at(0, n + 2), one = vector_at(1), other = vector_at(2);
  for (Size i = 1; i <= n; i++)
    for (Size j = 1; j <= n; j++) {
      touch(0, t(i - 1, j - 1));
      touch(1, t(i, j));
      touch(2, one(i - 1));
      touch(3, other(j - 1));
    }
}

// ---- matrix-vector chains
// ---------------------------------------------------------------------------------------------

LOOPFOLD_KERNEL(normal_equations, 2, 2, 2, 2, 2) {
  const Array a = matrix_at(0, n + 3), x = vector_at(1), y = vector_at(2), t = vector_at(3);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < n + 3; j++) {
      touch(0, a(i, j));
      touch(1, x(j));
      touch(2, t(i));
    }
    for (Size j = 0; j < n + 3; j++) {
      touch(3, a(i, j));
      touch(4, y(j));
    }
  }
}

LOOPFOLD_KERNEL(two_transposed, 2, 2, 2, 2) {
  const Array a = matrix_at(0, n + 1), p = vector_at(1), r = vector_at(2);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++) {
      touch(0, a(i, j));
      touch(1, r(i));
      touch(2, p(j));
    }
  for (Size j = 0; j < n; j++)
    for (Size i = 0; i < n; i++) touch(3, a(i, j));
}

LOOPFOLD_KERNEL(vector_updates, 2, 2, 2, 2, 1, 2) {
  const Array a = matrix_at(0, n), u = vector_at(1), v = vector_at(2), x = vector_at(3);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++) {
      touch(0, a(i, j));
      touch(1, u(i));
      touch(2, v(j));
    }
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++) touch(3, a(j, i));
  for (Size i = 0; i < n; i++) touch(4, x(i));
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++) touch(5, x(j));
}

LOOPFOLD_KERNEL(scaled_sum, 2, 2, 2, 1) {
  const Array a = matrix_at(0, n), b = matrix_at(1, n + 1), x = vector_at(2), y = vector_at(3);
  for (Size i = 0; i < n; i++) {
    for (Size j = 0; j < n; j++) {
      touch(0, a(i, j));
      touch(1, b(i, j));
      touch(2, x(j));
    }
    touch(3, y(i));
  }
}

LOOPFOLD_KERNEL(diagonal_differences, 3, 3, 3, 2) {
  const Array sums = matrix_at(0, n + 1), mean = matrix_at(1, n + 1), difference = cube_at(2, 9, n + 1);
  for (Size t = 0; t < n / 4 + 2; t++) {
    for (Size j = 0; j < n; j++)
      for (Size i = j; i < n; i++) touch(0, sums(j, i));
    for (Size j = 0; j < n; j++)
      for (Size i = j; i < n; i++) touch(1, mean(j, i));
    for (Size i = 0; i < n; i++) touch(3, mean(i, i));
  }
  for (Size j = 0; j < n; j++)
    for (Size i = j; i < n; i++)
      for (Size c = 0; c < 9; c++) touch(2, difference(j, i, c));
}

// The worst for reconstruction: almost every address begins a new row.
LOOPFOLD_KERNEL(short_loops, 5, 5) {
  const Array a = cube_at(0, 7, 5), b = matrix_at(1, 5);
  for (Size i = 0; i < n; i++)
    for (Size j = 0; j < n; j++)
      for (Size x = 0; x < 3; x++)
        for (Size y = 0; y < 2; y++)
          for (Size z = 0; z < 2; z++) {
            touch(0, a(2 * i + x, y, 3 * z + 40 * j));
            touch(1, b(i + x, j + 9 * y - 5 * z));
          }
}

#undef LOOPFOLD_KERNEL

/// Calls visit.template operator()<Kernel>() for every kernel.
template <class Visit>
void for_each_kernel(Visit&& visit) {
  const auto all = [&]<class... Kernel>() { (visit.template operator()<Kernel>(), ...); };
  all.template
  operator()<product, two_products, three_products, rank_update, rank_two_update, triangular_product, symmetric_product,
             tensor_product, lu, lu_by_rows, lu_solve, cholesky, gram_schmidt, durbin, triangular_solve, covariance,
             correlation, jacobi_1d, jacobi_2d, seidel_2d, heat_3d, alternating_directions, fdtd_2d, convolution,
             recursive_filter, interval_table, repeated_table, shortest_paths, edit_distance, normal_equations,
             two_transposed, vector_updates, scaled_sum, diagonal_differences, short_loops>();
}

}  // namespace loopfold::reconstruct::kernels
