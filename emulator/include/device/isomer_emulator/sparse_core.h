// What the libraries of sparse matrices compute, whatever their functions are called. Values count as complex numbers, of
// which real types have one part. Included by sparse.h, behind the enumerations.
#pragma once

namespace isomer::emulator::sparse {

using Wide = std::complex<double>;
using Number = blas::AnyNumber;
using Columns = blas::MatrixOf<Wide>;

enum class Format { rows, columns, coordinates };
/// Offsets of rows or columns and the other index of each value, or both indices.
struct Matrix {
  Format format;
  long rows, columns, count;
  void *first, *second, *values;
  cusparseIndexType_t first_type, second_type;
  long base;
  cudaDataType_t type;
  bool upper = false, unit = false;  ///< of one that is a triangle
};
struct Vector {  ///< with indices or, where there are none, every value
  long size, count;
  void *indices, *values;
  cusparseIndexType_t index_type;
  long base;
  cudaDataType_t type;
};
struct Dense {
  long rows, columns, stride;
  void* values;
  cudaDataType_t type;
  cusparseOrder_t order;
};
inline Dense as_dense(const Vector& v) { return {v.size, 1, v.size, v.values, v.type, CUSPARSE_ORDER_COL}; }

// The long loops of this file are written over plain arrays, and the watch has no interest in them.
#define ISOMER_EMULATOR_LONG_LOOP __attribute__((optimize("O3"), no_sanitize("thread")))

template <class P>
ISOMER_EMULATOR_LONG_LOOP void indices_from(const P* raw, long* to, long count, long base) {
  for (long i = 0; i < count; ++i) to[i] = static_cast<long>(raw[i]) - base;
}
inline bool get_indices(const void* from, cusparseIndexType_t type, long count, long base,
                        std::vector<long>& to) {
  const std::size_t each = type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_16U ? 2 : 4;
  std::vector<unsigned char> raw(static_cast<std::size_t>(count) * each);
  if (count > 0 && isomer_emulator_copy(raw.data(), from, raw.size(), blas::kAnyDirection) != 0) return false;
  to.resize(static_cast<std::size_t>(count));
  if (each == 8)
    indices_from(reinterpret_cast<const long*>(raw.data()), to.data(), count, base);
  else if (each == 4)
    indices_from(reinterpret_cast<const int*>(raw.data()), to.data(), count, base);
  else
    indices_from(reinterpret_cast<const unsigned short*>(raw.data()), to.data(), count, base);
  return true;
}
inline bool put_indices(void* to, cusparseIndexType_t type, long base, const std::vector<long>& from) {
  const std::size_t each = type == CUSPARSE_INDEX_64I ? 8 : 4;
  std::vector<unsigned char> raw(from.size() * each);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const long value = from[i] + base;
    std::memcpy(raw.data() + i * each, &value, each);  // the low bytes come first
  }
  return raw.empty() || isomer_emulator_copy(to, raw.data(), raw.size(), blas::kAnyDirection) == 0;
}
inline bool get_values(cudaDataType_t type, const void* from, long count, std::vector<Wide>& to) {
  Columns m;
  if (!m.bring(type, from, 1, count, 1)) return false;
  to = m.values;
  return true;
}
inline bool put_values(cudaDataType_t type, void* to, const std::vector<Wide>& from) {
  Columns m(1, static_cast<long>(from.size()));
  m.values = from;
  return m.take(type, to, 1);
}

struct Entry {
  long row, column;
  Wide value;
};
/// Puts each value where the lines' offsets or, with coordinates, the first indices say; false where one lies
/// outside.
ISOMER_EMULATOR_LONG_LOOP inline bool place(const Matrix& m, const long* first, const long* second,
                                            const Wide* values, long lines, Entry* to) {
  const bool by_columns = m.format == Format::columns, paired = m.format == Format::coordinates;
  for (long line = 0; line < (paired ? m.count : lines); ++line) {
    const long begin = paired ? line : first[line], end = paired ? line + 1 : first[line + 1];
    for (long i = begin; i < end; ++i) {
      if (i < 0 || i >= m.count) return false;
      const long own = paired ? first[i] : line;
      Entry& e = *to++;
      e.row = by_columns ? second[i] : own, e.column = by_columns ? own : second[i], e.value = values[i];
      if (e.row < 0 || e.row >= m.rows || e.column < 0 || e.column >= m.columns) return false;
    }
  }
  return true;
}
/// Every value with its place; false where a copy was refused or an index lies outside.
inline bool entries(const Matrix& m, std::vector<Entry>& to) {
  std::vector<long> first, second;
  std::vector<Wide> values;
  const bool paired = m.format == Format::coordinates;
  const long lines = m.format == Format::rows ? m.rows : m.columns;
  if (!get_indices(m.second, m.second_type, m.count, m.base, second) ||
      !get_values(m.type, m.values, m.count, values) ||
      !get_indices(m.first, m.first_type, paired ? m.count : lines + 1, m.base, first))
    return false;
  long all = m.count;
  if (!paired) {
    all = 0;
    for (long line = 0; line < lines; ++line) {
      const long each = first[static_cast<std::size_t>(line) + 1] - first[static_cast<std::size_t>(line)];
      if (each > m.count) return false;
      all += std::max(each, 0L);
    }
  }
  to.resize(static_cast<std::size_t>(all));
  return place(m, first.data(), second.data(), values.data(), lines, to.data());
}
/// As `op` has the matrix.
inline bool entries(const Matrix& m, cusparseOperation_t op, std::vector<Entry>& to) {
  if (!entries(m, to)) return false;
  for (Entry& e : to) {
    if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) std::swap(e.row, e.column);
    if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) e.value = std::conj(e.value);
  }
  return true;
}
/// Offsets, indices and values of a matrix by rows or columns, or the pairs of one by coordinates, from entries in the
/// order of its lines.
inline bool put_entries(const Matrix& m, const std::vector<Entry>& from) {
  std::vector<long> lines, others;
  std::vector<Wide> values;
  const bool by_columns = m.format == Format::columns;
  for (const Entry& e : from) {
    lines.push_back(by_columns ? e.column : e.row), others.push_back(by_columns ? e.row : e.column);
    values.push_back(e.value);
  }
  if (m.format != Format::coordinates) {
    std::vector<long> begins(static_cast<std::size_t>(by_columns ? m.columns : m.rows) + 1);
    for (const long line : lines) ++begins[static_cast<std::size_t>(line) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    lines = begins;
  }
  return put_indices(m.first, m.first_type, m.base, lines) &&
         (m.second == nullptr || put_indices(m.second, m.second_type, m.base, others)) &&
         (m.values == nullptr || put_values(m.type, m.values, values));
}
/// Of a dense matrix in either order, as `op` has it.
inline bool bring(const Dense& d, Columns& to, cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE) {
  const bool by_columns = d.order == CUSPARSE_ORDER_COL;
  if (!to.bring(d.type, d.values, by_columns ? d.rows : d.columns, by_columns ? d.columns : d.rows, d.stride))
    return false;
  if (by_columns == (op != CUSPARSE_OPERATION_NON_TRANSPOSE)) to = to.transposed();
  if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) to = to.conjugated();
  return true;
}
inline bool take(const Dense& d, const Columns& from) {
  return d.order == CUSPARSE_ORDER_COL ? from.take(d.type, d.values, d.stride)
                                       : from.transposed().take(d.type, d.values, d.stride);
}
inline cusparseStatus_t done(bool well) {
  return well ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_EXECUTION_FAILED;
}
constexpr cusparseStatus_t kRefused = CUSPARSE_STATUS_EXECUTION_FAILED;

/// Each step in the type of the computation.
struct Rounds {
  bool single;
  explicit Rounds(cudaDataType_t compute) : single(compute != CUDA_R_64F && compute != CUDA_C_64F) {}
  Wide operator()(Wide value) const { return single ? Wide(std::complex<float>(value)) : value; }
};

/// sums += entries · right, one entry after another; false where one lies outside.
ISOMER_EMULATOR_LONG_LOOP inline bool add_products(const Entry* all, std::size_t count, const Columns& with,
                                                   Columns& to, bool single) {
  const long rows = to.rows, right_rows = with.rows, columns = to.columns;
  if (count == 0 || rows == 0 || columns == 0) return true;
  // The parts of complex numbers, side by side.
  const double* const right = reinterpret_cast<const double*>(&with.values[0]);
  double* const sums = reinterpret_cast<double*>(&to.values[0]);
  for (const Entry* e = all; e != all + count; ++e) {
    if (e->row >= rows || e->column >= right_rows) return false;
    const double* const parts = reinterpret_cast<const double*>(&e->value);
    for (long j = 0; j < columns; ++j) {
      const double* const r = right + 2 * (j * right_rows + e->column);
      double* const sum = sums + 2 * (j * rows + e->row);
      const double real = parts[0] * r[0] - parts[1] * r[1], imaginary = parts[0] * r[1] + parts[1] * r[0];
      sum[0] = single ? double(float(sum[0] + double(float(real)))) : sum[0] + real;
      sum[1] = single ? double(float(sum[1] + double(float(imaginary)))) : sum[1] + imaginary;
    }
  }
  return true;
}

/// c = alpha · op(a) · op(b) + beta · c.
inline cusparseStatus_t multiply(cusparseOperation_t op_a, cusparseOperation_t op_b, Number alpha, Matrix a, Dense b,
                                 Number beta, Dense c, cudaDataType_t compute) {
  std::vector<Entry> all;
  Columns right, sums(c.rows, c.columns);
  const Wide factor = alpha.as<Wide>(), keep = beta.as<Wide>();
  if (!entries(a, op_a, all) || !bring(b, right, op_b) || (keep != 0. && !bring(c, sums))) return kRefused;
  const Rounds rounded(compute);
  Columns products(c.rows, c.columns);
  if (right.columns < c.columns || !add_products(all.data(), all.size(), right, products, rounded.single))
    return CUSPARSE_STATUS_INVALID_VALUE;
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = blas::times(factor, products.values[i]) + (keep == 0. ? Wide(0) : blas::times(keep, sums.values[i]));
  return done(take(c, sums));
}

/// c = (alpha · op(a) · op(b)) where c has values, + beta · c.
inline cusparseStatus_t multiply_sampled(cusparseOperation_t op_a, cusparseOperation_t op_b, Number alpha, Dense a,
                                         Dense b, Number beta, Matrix c, cudaDataType_t compute) {
  std::vector<Entry> all;
  Columns left, right;
  const Wide factor = alpha.as<Wide>(), keep = beta.as<Wide>();
  if (!entries(c, all) || !bring(a, left, op_a) || !bring(b, right, op_b)) return kRefused;
  if (left.columns != right.rows || left.rows < c.rows || right.columns < c.columns) return CUSPARSE_STATUS_INVALID_VALUE;
  std::vector<Wide> values;
  for (const Entry& e : all) {
    Wide sum = 0;
    for (long k = 0; k < left.columns; ++k) sum += blas::times(left.at(e.row, k), right.at(k, e.column));
    values.push_back(blas::times(factor, sum) + (keep == 0. ? Wide(0) : blas::times(keep, e.value)));
  }
  return done(put_values(c.type, c.values, values));
}

/// The entries of alpha · op(a) · op(b), row by row.
inline bool multiply_sparse(cusparseOperation_t op_a, cusparseOperation_t op_b, Wide alpha, const Matrix& a,
                            const Matrix& b, std::vector<Entry>& to) {
  std::vector<Entry> left, right;
  if (!entries(a, op_a, left) || !entries(b, op_b, right)) return false;
  std::map<long, std::vector<Entry>> rows;
  for (const Entry& e : right) rows[e.row].push_back(e);
  std::map<std::pair<long, long>, Wide> sums;
  for (const Entry& l : left)
    for (const Entry& r : rows[l.column]) sums[{l.row, r.column}] += blas::times(l.value, r.value);
  to.clear();
  for (const auto& [at, sum] : sums) to.push_back({at.first, at.second, blas::times(alpha, sum)});
  return true;
}

/// y with op(a) · y = alpha · op(x), for the triangle of a that it names. `pivot`: the first row whose diagonal is zero
/// or absent, or -1.
inline cusparseStatus_t solve(cusparseOperation_t op, cusparseOperation_t op_x, Number alpha, Matrix a, Dense x, Dense y,
                              cudaDataType_t compute, long* pivot) {
  std::vector<Entry> all;
  Columns right;
  if (!entries(a, op, all) || !bring(x, right, op_x)) return kRefused;
  const bool upper = a.upper != (op != CUSPARSE_OPERATION_NON_TRANSPOSE);
  std::vector<std::vector<Entry>> rows(static_cast<std::size_t>(right.rows));
  for (const Entry& e : all)
    if ((upper ? e.column >= e.row : e.column <= e.row) && e.row < right.rows && e.column < right.rows)
      rows[static_cast<std::size_t>(e.row)].push_back(e);
  const Wide factor = alpha.as<Wide>();
  const Rounds rounded(compute);
  if (pivot) *pivot = -1;
  for (long step = 0; step < right.rows; ++step) {
    const long row = upper ? right.rows - 1 - step : step;
    for (long j = 0; j < right.columns; ++j) {
      Wide sum = rounded(blas::times(factor, right.at(row, j))), diagonal = a.unit ? 1 : 0;
      for (const Entry& e : rows[static_cast<std::size_t>(row)]) {
        if (e.column != row) sum = rounded(sum - rounded(blas::times(e.value, right.at(e.column, j))));
        if (e.column == row && !a.unit) diagonal = e.value;
      }
      if (diagonal == 0. && pivot && (*pivot < 0 || row < *pivot)) *pivot = row;
      right.at(row, j) = rounded(sum / diagonal);
    }
  }
  return done(take(y, right));
}

/// The factors L and U, or L where `cholesky`, of a matrix by rows with no entry more than it has; in place.
inline cusparseStatus_t factorise(const Matrix& m, bool cholesky, long* pivot) {
  std::vector<Entry> all;
  if (!entries(m, all)) return kRefused;
  std::map<std::pair<long, long>, Wide> at;
  for (const Entry& e : all) at[{e.row, e.column}] = e.value;
  *pivot = -1;
  for (auto& [place, value] : at) {
    const auto [row, column] = place;
    if (cholesky && column > row) continue;
    for (auto k = at.lower_bound({row, 0}); k->first.second < std::min(row, column); ++k) {
      const auto other = at.find(cholesky ? std::make_pair(column, k->first.second) : std::make_pair(k->first.second, column));
      if (other != at.end()) value -= blas::times(k->second, cholesky ? std::conj(other->second) : other->second);
    }
    const auto diagonal = at.find({column, column});
    if (column < row || (cholesky && column == row)) {
      if (diagonal == at.end() || diagonal->second == 0. || (cholesky && diagonal->second.real() < 0)) {
        if (*pivot < 0) *pivot = column;
      } else if (column < row) {
        value /= cholesky ? std::conj(diagonal->second) : diagonal->second;
      }
    }
    if (column == row && cholesky) value = std::sqrt(value);
    if (column == row && value == 0. && *pivot < 0) *pivot = row;
  }
  std::vector<Wide> values;
  for (const Entry& e : all) values.push_back(at[{e.row, e.column}]);
  return done(put_values(m.type, m.values, values));
}

/// The values that are not zero, line by line of the format.
inline bool found(const Dense& d, Format format, std::vector<Entry>& all) {
  Columns from;
  if (!bring(d, from)) return false;
  const bool by_columns = format == Format::columns;
  all.clear();
  for (long line = 0; line < (by_columns ? d.columns : d.rows); ++line)
    for (long i = 0; i < (by_columns ? d.rows : d.columns); ++i) {
      const long row = by_columns ? i : line, column = by_columns ? line : i;
      if (from.at(row, column) != 0.) all.push_back({row, column, from.at(row, column)});
    }
  return true;
}

/// `work` gets the indices, the values of the sparse vector and those of the dense one.
template <class Work>
cusparseStatus_t both(const Vector& of, const Vector& dense, Work work) {
  std::vector<long> indices;
  std::vector<Wide> few, all;
  if (!get_indices(of.indices, of.index_type, of.count, of.base, indices) ||
      !get_values(of.type, of.values, of.count, few) || !get_values(dense.type, dense.values, dense.size, all))
    return kRefused;
  for (const long i : indices)
    if (i < 0 || i >= dense.size) return CUSPARSE_STATUS_INVALID_VALUE;
  return done(work(indices, few, all));
}

inline cusparseStatus_t axpby(Number alpha, Vector x, Number beta, Vector y) {
  const Wide factor = alpha.as<Wide>(), keep = beta.as<Wide>();
  return both(x, y, [&](const auto& indices, const auto& few, auto& all) {
    for (Wide& v : all) v *= keep;
    for (std::size_t i = 0; i < few.size(); ++i) all[static_cast<std::size_t>(indices[i])] += factor * few[i];
    return put_values(y.type, y.values, all);
  });
}
inline cusparseStatus_t gather(Vector y, Vector x) {
  return both(x, y, [&](const auto& indices, auto& few, const auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = all[static_cast<std::size_t>(indices[i])];
    return put_values(x.type, x.values, few);
  });
}
inline cusparseStatus_t scatter(Vector x, Vector y) {
  return both(x, y, [&](const auto& indices, const auto& few, auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) all[static_cast<std::size_t>(indices[i])] = few[i];
    return put_values(y.type, y.values, all);
  });
}
/// Turns the pairs of a sparse and a dense vector.
inline cusparseStatus_t rotate(Number cosine, Number sine, Vector x, Vector y) {
  const Wide c = cosine.as<Wide>(), s = sine.as<Wide>();
  return both(x, y, [&](const auto& indices, auto& few, auto& all) {
    for (std::size_t i = 0; i < few.size(); ++i) {
      Wide& other = all[static_cast<std::size_t>(indices[i])];
      const Wide before = few[i];
      few[i] = c * before + s * other, other = c * other - std::conj(s) * before;
    }
    return put_values(x.type, x.values, few) && put_values(y.type, y.values, all);
  });
}
inline cusparseStatus_t product_of_vectors(cusparseOperation_t op, Vector x, Vector y, void* result,
                                           cudaDataType_t compute) {
  return both(x, y, [&](const auto& indices, const auto& few, const auto& all) {
    Wide sum = 0;
    for (std::size_t i = 0; i < few.size(); ++i)
      sum += (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(few[i]) : few[i]) *
             all[static_cast<std::size_t>(indices[i])];
    return blas::answer(compute, result, sum) == CUBLAS_STATUS_SUCCESS;
  });
}

/// Does the work, or, while the handle's stream is captured, puts it into the graph.
template <class Handle, class... A>
cusparseStatus_t recorded(Handle handle, cusparseStatus_t (*work)(A...), blas::Same<A>... a) {
  const auto later = [work, a...](void*) { work(a...); };
  return capture(handle->stream, NodeKind::kernel, later) ? CUSPARSE_STATUS_SUCCESS : work(a...);
}

inline cusparseStatus_t little_room(std::size_t* bytes) {
  *bytes = kLittleRoom;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace isomer::emulator::sparse
