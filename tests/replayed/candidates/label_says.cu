// Ports whose numbers, indices or variables only the label explains, beside faulty twins.
#include <cuda_runtime.h>

/// Sums of each column from the last row on; `by_rows`: along the other axis.
__global__ void sums_behind(const float* x, float* y, int rows, int columns, int p_r, int p_c, bool by_rows) {
  const int at = blockIdx.x * 32 + threadIdx.x;
  if (at >= (by_rows ? rows : columns)) return;
  float sum = 0.0f;
  for (int i = (by_rows ? columns : rows) - 1; i >= 0; --i) {
    const int place = by_rows ? at * p_r + i * p_c : i * p_r + at * p_c;
    sum += x[place];
    y[place] = sum;
  }
}
#define SUMS_BEHIND(name, by_rows)                                                                \
  extern "C" void name(const float* x, float* y, int rows, int columns, int p_r, int p_c) {       \
    sums_behind<<<2, 32>>>(x, y, rows, columns, p_r, p_c, by_rows);                               \
  }
SUMS_BEHIND(columns_from_behind, false)
SUMS_BEHIND(rows_from_behind, true)

/// Rows of x into the rows of y that an index names, but for the last `left` columns.
__global__ void to_rows(float* y, const long long* index, const float* x, int columns, int left) {
  const int column = threadIdx.x;
  if (column < columns - left) y[index[blockIdx.x] * columns + column] = x[blockIdx.x * columns + column];
}
#define TO_ROWS(name, left)                                                                       \
  extern "C" void name(float* y, const long long* index, const float* x, int count, int columns) { \
    to_rows<<<count, 64>>>(y, index, x, columns, left);                                           \
  }
TO_ROWS(scatter_rows, 0)
TO_ROWS(scatter_rows_but_the_last_column, 1)

/// Sums of the magnitudes of each row; in the first kernel nothing sets their variable.
__global__ void sum_of_row(const float* x, float* y, int columns) {
  float sum;
  for (int c = 0; c < columns; ++c) sum += fabsf(x[blockIdx.x * columns + c]);
  y[blockIdx.x] = sum;
}
__global__ void set_sum_of_row(const float* x, float* y, int columns) {
  float sum;
  sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += fabsf(x[blockIdx.x * columns + c]);
  y[blockIdx.x] = sum;
}
extern "C" void magnitudes(const float* x, float* y, int rows, int columns) {
  set_sum_of_row<<<rows, 1>>>(x, y, columns);
}
extern "C" void magnitudes_from_unset(const float* x, float* y, int rows, int columns) {
  sum_of_row<<<rows, 1>>>(x, y, columns);
}
