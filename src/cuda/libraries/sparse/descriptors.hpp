// What describes matrices and vectors of the device's memory, and the handle that calls are given.
#pragma once

#include <cstdint>

#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/sparse/types.hpp"

namespace lanescope::cuda::sparse {

using libraries::Complex;
using libraries::conjugate;
using libraries::Indices;
using libraries::is_complex;
using libraries::Memory;
using libraries::name_of;
using libraries::number;
using libraries::reach;
using libraries::size_of;
using libraries::Values;
using libraries::with_numbers;

/// What cusparseCreate makes.
struct Handle {
  Stream* stream = nullptr;
  PointerMode pointer_mode = PointerMode::host;
};

/// What cusparseCreateMatDescr makes, for the functions of the older interface.
struct MatrixKind {
  MatrixType type = MatrixType::general;
  Fill fill = Fill::lower;
  Diagonal diagonal = Diagonal::stored;
  Base base = Base::zero;
};

struct SparseVector {
  int64_t size = 0, count = 0;
  Indices indices;
  Base base = Base::zero;
  Values values;
};

struct DenseVector {
  int64_t size = 0;
  Values values;
};

struct DenseMatrix {
  int64_t rows = 0, columns = 0, leading = 0;
  Values values;
  Order order = Order::column;
  int batches = 1;
  int64_t stride = 0;  ///< elements from one matrix of the batch to the next

  [[nodiscard]] int64_t place(int64_t i, int64_t j) const {
    return order == Order::column ? i + j * leading : i * leading + j;
  }
  /// Elements of memory from the first to the last, of one matrix.
  [[nodiscard]] int64_t extent() const {
    return rows == 0 || columns == 0 ? 0 : place(rows - 1, columns - 1) + 1;
  }
  /// Matrix `batch`; a single one stands for all of a batch.
  [[nodiscard]] DenseMatrix at(int64_t batch) const {
    DenseMatrix one = *this;
    if (batches > 1) one.values = values.from(batch * stride);
    one.batches = 1;
    return one;
  }
};

/// The matrix whose only column it is.
[[nodiscard]] inline DenseMatrix as_matrix(const DenseVector& vector) {
  return {.rows = vector.size, .columns = 1, .leading = vector.size, .values = vector.values};
}

struct SparseMatrix {
  Format format = Format::csr;
  int64_t rows = 0, columns = 0, count = 0;  ///< of BSR: in blocks
  Indices first;   ///< where each row (of CSC: column) begins; of COO: the row of each element
  Indices second;  ///< the column (of CSC: row) of each element
  Values values;
  Base base = Base::zero;
  Fill fill = Fill::lower;
  Diagonal diagonal = Diagonal::stored;
  int64_t block_rows = 1, block_columns = 1;
  Order block_order = Order::row;
  int batches = 1;
  /// From one matrix of a batch to the next.
  int64_t first_stride = 0, second_stride = 0, values_stride = 0;

  [[nodiscard]] int64_t all_rows() const { return rows * block_rows; }
  [[nodiscard]] int64_t all_columns() const { return columns * block_columns; }
  /// Rows, or columns, of which `first` tells the beginnings.
  [[nodiscard]] int64_t lines() const { return format == Format::csc ? columns : rows; }
  [[nodiscard]] int64_t first_count() const { return format == Format::coo ? count : lines() + 1; }
  [[nodiscard]] int64_t values_count() const { return count * block_rows * block_columns; }
  [[nodiscard]] SparseMatrix at(int64_t batch) const {
    SparseMatrix one = *this;
    one.batches = 1;
    if (batches == 1) return one;
    one.first = first.from(batch * first_stride);
    one.second = second.from(batch * second_stride);
    one.values = values.from(batch * values_stride);
    return one;
  }
};

// Each asks for the memory that a call will read or write. `what` names the argument.
void reach(const Memory& memory, const char* what, const DenseMatrix& matrix, bool write);
/// The structure is read, and the values as is said.
enum class Access : uint8_t { none, read, write };
void reach(const Memory& memory, const char* what, const SparseMatrix& matrix, Access values);

}  // namespace lanescope::cuda::sparse
