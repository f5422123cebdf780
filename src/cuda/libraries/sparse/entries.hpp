// The elements of sparse matrices, one after the other or row by row, whatever format they are stored in.
// What the device's memory says of them is looked at before anything is done with it.
#pragma once

#include <vector>

#include "cuda/libraries/sparse/descriptors.hpp"

namespace lanescope::cuda::sparse {

/// An index from the device's memory as a number from 0 on; `what` is a row or a column, of so many.
[[nodiscard]] int64_t checked(int64_t stored, Base base, int64_t count, const char* what, int64_t element);
/// Where line `i` of a matrix ends, and the next one begins.
struct Line {
  int64_t begin, end;
};
[[nodiscard]] Line line(const Indices& first, int64_t i, Base base, int64_t count);

/// Calls body(row, column, k) for the elements in lines [from, to) of a matrix, of which element k of the
/// values is one. Of COO, whose elements are in any order, lines are elements.
template <typename Body>
void each_element(const SparseMatrix& a, int64_t from, int64_t to, const Body& body) {
  if (a.format == Format::coo) {
    for (int64_t k = from; k < to; ++k)
      body(checked(a.first[k], a.base, a.rows, "row", k),
           checked(a.second[k], a.base, a.columns, "column", k), k);
    return;
  }
  const bool by_columns = a.format == Format::csc;
  const int64_t across = by_columns ? a.rows : a.columns;
  const int64_t block = a.block_rows * a.block_columns;
  for (int64_t i = from; i < to; ++i) {
    const auto [begin, end] = line(a.first, i, a.base, a.count);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t j = checked(a.second[k], a.base, across, by_columns ? "row" : "column", k);
      if (by_columns) {
        body(j, i, k);
      } else if (block == 1) {
        body(i, j, k);
      } else {
        for (int64_t r = 0; r < a.block_rows; ++r)
          for (int64_t c = 0; c < a.block_columns; ++c)
            body(i * a.block_rows + r, j * a.block_columns + c,
                 k * block + (a.block_order == Order::row ? r * a.block_columns + c : r + c * a.block_rows));
      }
    }
  }
}
template <typename Body>
void each_element(const SparseMatrix& a, const Body& body) {
  each_element(a, 0, a.format == Format::coo ? a.count : a.lines(), body);
}

/// A matrix in memory of the host, row by row: elements [begin[i], begin[i + 1]) are row i's.
template <typename Number>
struct Rows {
  std::vector<int64_t> begin;
  std::vector<int64_t> column;
  std::vector<Number> value;
  std::vector<int64_t> place;  ///< in the values that it was made of
};

/// op(a). Elements of a row stay in the order in which they are stored.
template <typename Number>
Rows<Number> rows_of(const SparseMatrix& a, Operation operation);
extern template Rows<double> rows_of(const SparseMatrix& a, Operation operation);
extern template Rows<Complex> rows_of(const SparseMatrix& a, Operation operation);

[[nodiscard]] inline int64_t rows_after(const SparseMatrix& a, Operation operation) {
  return operation == Operation::none ? a.all_rows() : a.all_columns();
}
[[nodiscard]] inline int64_t columns_after(const SparseMatrix& a, Operation operation) {
  return operation == Operation::none ? a.all_columns() : a.all_rows();
}
[[nodiscard]] inline int64_t rows_after(const DenseMatrix& a, Operation operation) {
  return operation == Operation::none ? a.rows : a.columns;
}
[[nodiscard]] inline int64_t columns_after(const DenseMatrix& a, Operation operation) {
  return operation == Operation::none ? a.columns : a.rows;
}

/// op(a), row by row without gaps.
template <typename Number>
std::vector<Number> dense_rows(const DenseMatrix& a, Operation operation) {
  const int64_t rows = rows_after(a, operation), columns = columns_after(a, operation);
  std::vector<Number> out(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const Number value =
          a.values.load<Number>(operation == Operation::none ? a.place(i, j) : a.place(j, i));
      out[static_cast<size_t>(i * columns + j)] = operation == Operation::adjoint ? conjugate(value) : value;
    }
  return out;
}

}  // namespace lanescope::cuda::sparse
