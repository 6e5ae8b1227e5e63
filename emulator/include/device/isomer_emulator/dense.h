// Dense linear algebra on matrices that lie on the host, in double precision: what the solvers' libraries
// share. Methods are the plain ones of textbooks; results are LAPACK's in form (factors in place, reflections
// with their scales).
#pragma once

#include <numeric>

#include "blas.h"

namespace isomer::emulator::dense {

using blas::Matrix;

/// A = L·Lᵀ or Uᵀ·U in the triangle that is stored; 0, or the order of the minor that is not positive.
inline int cholesky(Matrix& a, bool lower) {
  const long n = a.columns;
  const auto at = [&](long i, long j) -> double& { return lower ? a.at(i, j) : a.at(j, i); };
  for (long j = 0; j < n; ++j) {
    for (long k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
    if (!(at(j, j) > 0)) return static_cast<int>(j) + 1;
    at(j, j) = std::sqrt(at(j, j));
    for (long i = j + 1; i < n; ++i) {
      for (long k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
      at(i, j) /= at(j, j);
    }
  }
  return 0;
}
/// b = T⁻¹·b, or T⁻ᵀ·b, for a triangle.
inline void solve_triangle(const Matrix& t, Matrix& b, bool lower, bool transposed, bool unit = false) {
  const long n = b.rows < t.columns ? b.rows : t.columns;
  const bool forward = lower != transposed;
  for (long c = 0; c < b.columns; ++c)
    for (long step = 0; step < n; ++step) {
      const long i = forward ? step : n - 1 - step;
      double sum = b.at(i, c);
      for (long k = forward ? 0 : i + 1; k < (forward ? i : n); ++k)
        sum -= (transposed ? t.at(k, i) : t.at(i, k)) * b.at(k, c);
      b.at(i, c) = unit ? sum : sum / t.at(i, i);
    }
}
/// A = P·L·U in place, the row that each step took from one; 0, or the first column without a pivot.
inline int lu(Matrix& a, std::vector<int>& pivots, bool pivoted) {
  const long steps = std::min(a.rows, a.columns);
  int singular = 0;
  pivots.assign(static_cast<std::size_t>(steps), 0);
  for (long k = 0; k < steps; ++k) {
    long best = k;
    for (long i = k + 1; pivoted && i < a.rows; ++i)
      if (std::fabs(a.at(i, k)) > std::fabs(a.at(best, k))) best = i;
    pivots[static_cast<std::size_t>(k)] = static_cast<int>(best) + 1;
    for (long j = 0; best != k && j < a.columns; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == 0) {
      if (singular == 0) singular = static_cast<int>(k) + 1;
      continue;
    }
    for (long i = k + 1; i < a.rows; ++i) {
      a.at(i, k) /= a.at(k, k);
      for (long j = k + 1; j < a.columns; ++j) a.at(i, j) -= a.at(i, k) * a.at(k, j);
    }
  }
  return singular;
}
inline void swap_rows(Matrix& b, const std::vector<int>& pivots, bool backwards) {
  const long n = static_cast<long>(pivots.size());
  for (long step = 0; step < n; ++step) {
    const long k = backwards ? n - 1 - step : step, other = pivots[static_cast<std::size_t>(k)] - 1;
    for (long j = 0; other != k && other >= 0 && other < b.rows && j < b.columns; ++j)
      std::swap(b.at(k, j), b.at(other, j));
  }
}
/// b = A⁻¹·b, or A⁻ᵀ·b, from the factors.
inline void solve_lu(const Matrix& a, const std::vector<int>& pivots, Matrix& b, bool transposed) {
  if (!transposed) swap_rows(b, pivots, false);
  solve_triangle(a, b, !transposed, transposed, !transposed);
  solve_triangle(a, b, transposed, transposed, transposed);
  if (transposed) swap_rows(b, pivots, true);
}
/// A = Q·R: R in the upper triangle, the reflections below it and their scales apart.
inline std::vector<double> qr(Matrix& a) {
  const long steps = std::min(a.rows, a.columns);
  std::vector<double> scales(static_cast<std::size_t>(steps));
  for (long k = 0; k < steps; ++k) {
    double below = 0;
    for (long i = k + 1; i < a.rows; ++i) below += a.at(i, k) * a.at(i, k);
    if (below == 0) continue;
    const double head = a.at(k, k), length = std::sqrt(head * head + below),
                 beta = head > 0 ? -length : length;
    const double scale = (beta - head) / beta;
    for (long i = k + 1; i < a.rows; ++i) a.at(i, k) /= head - beta;
    a.at(k, k) = beta;
    scales[static_cast<std::size_t>(k)] = scale;
    for (long j = k + 1; j < a.columns; ++j) {
      double sum = a.at(k, j);
      for (long i = k + 1; i < a.rows; ++i) sum += a.at(i, k) * a.at(i, j);
      a.at(k, j) -= scale * sum;
      for (long i = k + 1; i < a.rows; ++i) a.at(i, j) -= scale * sum * a.at(i, k);
    }
  }
  return scales;
}
/// c = Q·c, or Qᵀ·c, of the reflections that qr has left.
inline void reflect(const Matrix& a, const std::vector<double>& scales, Matrix& c, bool transposed) {
  const long count = static_cast<long>(scales.size());
  for (long step = 0; step < count; ++step) {
    const long k = transposed ? step : count - 1 - step;
    for (long j = 0; j < c.columns; ++j) {
      double sum = c.at(k, j);
      for (long i = k + 1; i < c.rows; ++i) sum += a.at(i, k) * c.at(i, j);
      sum *= scales[static_cast<std::size_t>(k)];
      c.at(k, j) -= sum;
      for (long i = k + 1; i < c.rows; ++i) c.at(i, j) -= sum * a.at(i, k);
    }
  }
}
inline Matrix identity(long rows, long columns) {
  Matrix m(rows, columns);
  for (long i = 0; i < std::min(rows, columns); ++i) m.at(i, i) = 1;
  return m;
}

/// The eigenvalues of a symmetric matrix in rising order, by Jacobi's rotations; its vectors are left in its
/// columns.
inline std::vector<double> eigen(Matrix& a) {
  const long n = a.columns;
  Matrix v = identity(n, n);
  for (int sweep = 0; sweep < 100; ++sweep) {
    double off = 0, all = 0;
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < n; ++i) (i == j ? all : off) += a.at(i, j) * a.at(i, j);
    if (off <= 1e-32 * (all + off)) break;
    for (long p = 0; p < n; ++p)
      for (long q = p + 1; q < n; ++q) {
        if (a.at(p, q) == 0) continue;
        const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (long k = 0; k < n; ++k) {
          const double x = a.at(k, p), y = a.at(k, q);
          a.at(k, p) = c * x - s * y, a.at(k, q) = s * x + c * y;
        }
        for (long k = 0; k < n; ++k) {
          const double x = a.at(p, k), y = a.at(q, k);
          a.at(p, k) = c * x - s * y, a.at(q, k) = s * x + c * y;
        }
        for (long k = 0; k < n; ++k) {
          const double x = v.at(k, p), y = v.at(k, q);
          v.at(k, p) = c * x - s * y, v.at(k, q) = s * x + c * y;
        }
      }
  }
  std::vector<long> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](long x, long y) { return a.at(x, x) < a.at(y, y); });
  std::vector<double> values(static_cast<std::size_t>(n));
  Matrix sorted(n, n);
  for (long j = 0; j < n; ++j) {
    values[static_cast<std::size_t>(j)] =
        a.at(order[static_cast<std::size_t>(j)], order[static_cast<std::size_t>(j)]);
    for (long i = 0; i < n; ++i) sorted.at(i, j) = v.at(i, order[static_cast<std::size_t>(j)]);
  }
  a = sorted;
  return values;
}

struct Singular {
  Matrix u, v;  ///< all columns of both
  std::vector<double> values;
};
/// Fills up orthogonal columns from `from` on.
inline void complete(Matrix& m, long from) {
  for (long j = from, unit = 0; j < m.columns; ++unit) {
    if (unit == m.rows) return;
    for (long i = 0; i < m.rows; ++i) m.at(i, j) = i == unit;
    for (int twice = 0; twice < 2; ++twice)
      for (long k = 0; k < j; ++k) {
        double dot = 0;
        for (long i = 0; i < m.rows; ++i) dot += m.at(i, k) * m.at(i, j);
        for (long i = 0; i < m.rows; ++i) m.at(i, j) -= dot * m.at(i, k);
      }
    double length = 0;
    for (long i = 0; i < m.rows; ++i) length += m.at(i, j) * m.at(i, j);
    if (length < 1e-8) continue;
    for (long i = 0; i < m.rows; ++i) m.at(i, j) /= std::sqrt(length);
    ++j;
  }
}
/// A = U·S·Vᵀ in falling order, by rotations of columns.
inline Singular singular(Matrix a) {
  const bool wide = a.columns > a.rows;
  if (wide) a = a.transposed();
  const long m = a.rows, n = a.columns;
  Matrix v = identity(n, n);
  for (int sweep = 0; sweep < 100; ++sweep) {
    bool turned = false;
    for (long p = 0; p < n; ++p)
      for (long q = p + 1; q < n; ++q) {
        double x = 0, y = 0, xy = 0;
        for (long i = 0; i < m; ++i)
          x += a.at(i, p) * a.at(i, p), y += a.at(i, q) * a.at(i, q), xy += a.at(i, p) * a.at(i, q);
        if (std::fabs(xy) <= 1e-16 * std::sqrt(x * y)) continue;
        turned = true;
        const double theta = (y - x) / (2 * xy);
        const double t = (theta < 0 ? -1 : 1) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [&](Matrix& of, long rows) {
          for (long i = 0; i < rows; ++i) {
            const double left = of.at(i, p), right = of.at(i, q);
            of.at(i, p) = c * left - s * right, of.at(i, q) = s * left + c * right;
          }
        };
        turn(a, m), turn(v, n);
      }
    if (!turned) break;
  }
  std::vector<double> lengths(static_cast<std::size_t>(n));
  for (long j = 0; j < n; ++j) {
    for (long i = 0; i < m; ++i) lengths[static_cast<std::size_t>(j)] += a.at(i, j) * a.at(i, j);
    lengths[static_cast<std::size_t>(j)] = std::sqrt(lengths[static_cast<std::size_t>(j)]);
  }
  std::vector<long> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](long x, long y) {
    return lengths[static_cast<std::size_t>(x)] > lengths[static_cast<std::size_t>(y)];
  });
  Singular out{Matrix(m, m), Matrix(n, n), {}};
  long rank = 0;
  for (long j = 0; j < n; ++j) {
    const long from = order[static_cast<std::size_t>(j)];
    const double length = lengths[static_cast<std::size_t>(from)];
    out.values.push_back(length);
    for (long i = 0; i < n; ++i) out.v.at(i, j) = v.at(i, from);
    if (length > 1e-14 * out.values[0]) {
      for (long i = 0; i < m; ++i) out.u.at(i, j) = a.at(i, from) / length;
      rank = j + 1;
    }
  }
  complete(out.u, rank);
  if (wide) std::swap(out.u, out.v);
  return out;
}

}  // namespace isomer::emulator::dense
