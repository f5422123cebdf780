// Between dense and sparse matrices; between CSR, CSC and COO; and the order of elements.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

struct Pair {
  SparseMatrix sparse;
  DenseMatrix dense;
};

Pair pair_of(Call& call, const SparseMatrix* sparse, const DenseMatrix* dense) {
  if (call.object("the sparse matrix", sparse).object("the dense matrix", dense).is_refused()) return {};
  if (sparse->values.type != dense->values.type)
    call.refuse(Status::not_supported, "types {} and {} do not go together", name_of(sparse->values.type),
                name_of(dense->values.type));
  if (sparse->all_rows() != dense->rows || sparse->all_columns() != dense->columns)
    call.refuse(Status::invalid_value,
                "a sparse matrix of {} x {} and a dense one of {} x {} do not go together",
                sparse->all_rows(), sparse->all_columns(), dense->rows, dense->columns);
  if (sparse->batches != 1 || dense->batches != 1)
    call.refuse(Status::not_supported, "there are batches of matrices");
  if (sparse->format == Format::bsr)
    call.refuse(Status::not_supported, "a matrix in BSR is not made dense, nor made of a dense one");
  return {*sparse, *dense};
}

template <typename Number>
void to_dense(const Pair& pair) {
  const SparseMatrix& sparse = pair.sparse;
  const DenseMatrix& dense = pair.dense;
  for (int64_t i = 0; i < dense.rows; ++i)
    for (int64_t j = 0; j < dense.columns; ++j) dense.values.store(dense.place(i, j), Number(0));
  each_element(sparse, [&](int64_t i, int64_t j, int64_t k) {
    dense.values.store(dense.place(i, j), sparse.values.load<Number>(k));
  });
}

/// Calls body(line, other, value) for what is not 0, line by line.
template <typename Number, typename Body>
void each_other_than_zero(const Pair& pair, const Body& body) {
  const auto& [sparse, dense] = pair;
  const bool by_columns = sparse.format == Format::csc;
  const int64_t lines = by_columns ? dense.columns : dense.rows,
                others = by_columns ? dense.rows : dense.columns;
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t other = 0; other < others; ++other) {
      const auto value =
          dense.values.load<Number>(by_columns ? dense.place(other, line) : dense.place(line, other));
      if (value != Number(0)) body(line, other, value);
    }
}

/// The offsets of the sparse matrix; nothing else is known yet, or wanted. Gives the number of elements.
template <typename Number>
int64_t store_offsets(const Memory& memory, const Pair& pair) {
  const SparseMatrix& sparse = pair.sparse;
  const auto lines = static_cast<size_t>(sparse.format == Format::csc ? pair.dense.columns : pair.dense.rows);
  std::vector<int64_t> begin(lines + 1);
  each_other_than_zero<Number>(
      pair, [&](int64_t line, int64_t, Number) { ++begin[static_cast<size_t>(line) + 1]; });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  if (sparse.format != Format::coo && sparse.first.data != nullptr) {
    reach(memory, "the offsets of the sparse matrix", sparse.first, static_cast<int64_t>(begin.size()), true);
    for (size_t i = 0; i < begin.size(); ++i)
      sparse.first.store(static_cast<int64_t>(i), begin[i] + static_cast<int64_t>(sparse.base));
  }
  return begin.back();
}

template <typename Number>
void to_sparse(const Memory& memory, const Pair& pair) {
  const SparseMatrix& sparse = pair.sparse;
  const int64_t count = store_offsets<Number>(memory, pair);
  if (count != sparse.count)
    throw libraries::Astray{
        fmt::format("finds {} elements that are not 0; the sparse matrix has {}", count, sparse.count)};
  if (sparse.format == Format::coo) reach(memory, "the rows of the sparse matrix", sparse.first, count, true);
  reach(memory, "the indices of the sparse matrix", sparse.second, count, true);
  reach(memory, "the values of the sparse matrix", sparse.values, count, true);
  const auto base = static_cast<int64_t>(sparse.base);
  int64_t k = 0;
  each_other_than_zero<Number>(pair, [&](int64_t line, int64_t other, Number value) {
    if (sparse.format == Format::coo) sparse.first.store(k, line + base);
    sparse.second.store(k, other + base);
    sparse.values.store(k, value);
    ++k;
  });
}

/// Columns of a matrix become its rows.
struct Turned {
  SparseMatrix from, to;
  bool with_values = false;
};
template <typename Number>
void turn(const Turned& turned) {
  const auto& [from, to, with_values] = turned;
  const Rows<Number> rows = rows_of<Number>(from, Operation::transpose);
  const auto base = static_cast<int64_t>(to.base);
  for (size_t j = 0; j < rows.begin.size(); ++j)
    to.first.store(static_cast<int64_t>(j), rows.begin[j] + base);
  for (size_t k = 0; k < rows.column.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    to.second.store(place, rows.column[k] + base);
    if (with_values) to.values.store(place, rows.value[k]);
  }
}

Turned turned_of(Call& call, int m, int n, int nnz, const void* values, const int* offsets,
                 const int* columns, void* new_values, const int* new_offsets, const int* new_rows,
                 DataType type, Action action, Base base) {
  call.size("m", m).size("n", n).size("nnz", nnz);
  if (!is_between(action, Action::symbolic, Action::numeric))
    call.refuse(Status::invalid_value, "{} is no cusparseAction_t", static_cast<int>(action));
  call.one_of(base).elements(type);
  const bool with_values = action == Action::numeric;
  if (m > 0) call.pointer("csrRowPtr", offsets);
  if (n > 0) call.pointer("cscColPtr", new_offsets);
  if (nnz > 0) call.pointer("csrColInd", columns).pointer("cscRowInd", new_rows);
  if (nnz > 0 && with_values) call.pointer("csrVal", values).pointer("cscVal", new_values);
  Turned turned{
      {Format::csr,
       m,
       n,
       nnz,
       indices_at(offsets),
       indices_at(columns),
       {const_cast<void*>(values), type},
       base},
      {Format::csc, m, n, nnz, indices_at(new_offsets), indices_at(new_rows), {new_values, type}, base},
      with_values};
  return turned;
}

/// Sorts elements by keys, and a permutation with them.
struct Sorting {
  int64_t count;
  Indices major, minor;
  Indices permutation;  ///< null: it is not wanted
};
void sort(const Memory& memory, const Sorting& of) {
  reach(memory, "the rows", of.major, of.count, true);
  reach(memory, "the columns", of.minor, of.count, true);
  if (of.permutation.data != nullptr) reach(memory, "the permutation", of.permutation, of.count, true);
  struct Element {
    int64_t major, minor, permutation;
  };
  std::vector<Element> all;
  for (int64_t k = 0; k < of.count; ++k)
    all.push_back({of.major[k], of.minor[k], of.permutation.data != nullptr ? of.permutation[k] : 0});
  std::stable_sort(all.begin(), all.end(), [](const Element& a, const Element& b) {
    return a.major != b.major ? a.major < b.major : a.minor < b.minor;
  });
  for (int64_t k = 0; k < of.count; ++k) {
    const Element& element = all[static_cast<size_t>(k)];
    of.major.store(k, element.major);
    of.minor.store(k, element.minor);
    if (of.permutation.data != nullptr) of.permutation.store(k, element.permutation);
  }
}

Status sort_coo(Handle* handle, const char* name, int m, int n, int nnz, int* major, int* minor, int* p) {
  Call call(handle, name);
  call.size("m", m).size("n", n).size("nnz", nnz);
  if (nnz > 0) call.pointer("cooRowsA", major).pointer("cooColsA", minor);
  const Sorting sorting{nnz, indices_at(major), indices_at(minor), indices_at(p)};
  return call.submit([sorting](const Memory& memory) { sort(memory, sorting); });
}

/// Of CSR, or of CSC with rows and columns in each other's place.
Status sort_compressed(Handle* handle, const char* name, int lines, int across, int nnz,
                       const MatrixKind* kind, const int* offsets, int* indices, int* p) {
  Call call(handle, name);
  call.size("m", lines).size("n", across).size("nnz", nnz).object("descrA", kind);
  if (lines > 0) call.pointer("the offsets", offsets);
  if (nnz > 0) call.pointer("the indices", indices);
  if (call.is_refused()) return call.status();
  const SparseMatrix matrix{Format::csr,         lines, across,    nnz, indices_at(offsets),
                            indices_at(indices), {},    kind->base};
  return call.submit([matrix, permutation = indices_at(p)](const Memory& memory) {
    reach(memory, "the offsets", matrix.first, matrix.first_count(), false);
    reach(memory, "the indices", matrix.second, matrix.count, true);
    if (permutation.data != nullptr) reach(memory, "the permutation", permutation, matrix.count, true);
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const auto [begin, end] = line(matrix.first, i, matrix.base, matrix.count);
      std::vector<std::pair<int64_t, int64_t>> row;
      for (int64_t k = begin; k < end; ++k)
        row.emplace_back(matrix.second[k], permutation.data != nullptr ? permutation[k] : 0);
      std::stable_sort(row.begin(), row.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (int64_t k = begin; k < end; ++k) {
        const auto& [index, place] = row[static_cast<size_t>(k - begin)];
        matrix.second.store(k, index);
        if (permutation.data != nullptr) permutation.store(k, place);
      }
    }
  });
}

struct Count {
  Direction direction;
  DenseMatrix matrix;
  Indices lines;
};
template <typename Number>
int count(const Memory& memory, const Count& of) {
  const DenseMatrix& a = of.matrix;
  const bool by_rows = of.direction == Direction::row;
  reach(memory, "A", a, false);
  std::vector<int64_t> found(static_cast<size_t>(by_rows ? a.rows : a.columns));
  for (int64_t j = 0; j < a.columns; ++j)
    for (int64_t i = 0; i < a.rows; ++i)
      if (a.values.load<Number>(a.place(i, j)) != Number(0)) ++found[static_cast<size_t>(by_rows ? i : j)];
  reach(memory, "the numbers of elements", of.lines, static_cast<int64_t>(found.size()), true);
  int64_t sum = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    of.lines.store(static_cast<int64_t>(i), found[i]);
    sum += found[i];
  }
  return static_cast<int>(sum);
}

Status count(Handle* handle, const char* name, Direction direction, int m, int n, const MatrixKind* kind,
             const void* a, DataType type, int lda, int* lines, int* total) {
  Call call(handle, name);
  call.size("m", m).size("n", n).object("descrA", kind).pointer("A", a).pointer("nnzPerRowColumn", lines);
  call.pointer("nnzTotalDevHostPtr", total);
  if (!is_between(direction, Direction::row, Direction::column))
    call.refuse(Status::invalid_value, "{} is no cusparseDirection_t", static_cast<int>(direction));
  if (lda < std::max(1, m)) call.refuse(Status::invalid_value, "lda is {}, of {} rows", lda, m);
  const Count of{
      direction, {m, n, lda, {const_cast<void*>(a), type}, Order::column, 1, 0}, indices_at(lines)};
  return call.submit_for(total, [of](const Memory& memory) {
    return with_numbers(is_complex(of.matrix.values.type),
                        [&](auto zero) { return count<decltype(zero)>(memory, of); });
  });
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseSparseToDense_bufferSize(Handle* handle, const SparseMatrix* a,
                                                           DenseMatrix* b, int, size_t* bytes) {
  Call call(handle, "cusparseSparseToDense_bufferSize");
  pair_of(call, a, b);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSparseToDense(Handle* handle, const SparseMatrix* a, DenseMatrix* b, int,
                                                void*) {
  Call call(handle, "cusparseSparseToDense");
  const Pair pair = pair_of(call, a, b);
  return call.submit([pair](const Memory& memory) {
    reach(memory, "the sparse matrix", pair.sparse, Access::read);
    reach(memory, "the dense matrix", pair.dense, true);
    with_numbers(is_complex(pair.dense.values.type), [&](auto zero) { to_dense<decltype(zero)>(pair); });
  });
}

LANESCOPE_CUDA_API Status cusparseDenseToSparse_bufferSize(Handle* handle, const DenseMatrix* a,
                                                           SparseMatrix* b, int, size_t* bytes) {
  Call call(handle, "cusparseDenseToSparse_bufferSize");
  pair_of(call, b, a);
  return call.tell_size(bytes);
}
/// The number of elements is known when it returns.
LANESCOPE_CUDA_API Status cusparseDenseToSparse_analysis(Handle* handle, const DenseMatrix* a,
                                                         SparseMatrix* b, int, void*) {
  Call call(handle, "cusparseDenseToSparse_analysis");
  const Pair pair = pair_of(call, b, a);
  auto found = std::make_shared<int64_t>(-1);
  const Status status = call.submit_and_wait([pair, found](const Memory& memory) {
    reach(memory, "the dense matrix", pair.dense, false);
    *found = with_numbers(is_complex(pair.dense.values.type),
                          [&](auto zero) { return store_offsets<decltype(zero)>(memory, pair); });
  });
  if (status == Status::success && *found >= 0) b->count = *found;
  return status;
}
LANESCOPE_CUDA_API Status cusparseDenseToSparse_convert(Handle* handle, const DenseMatrix* a, SparseMatrix* b,
                                                        int, void*) {
  Call call(handle, "cusparseDenseToSparse_convert");
  const Pair pair = pair_of(call, b, a);
  return call.submit([pair](const Memory& memory) {
    reach(memory, "the dense matrix", pair.dense, false);
    with_numbers(is_complex(pair.dense.values.type),
                 [&](auto zero) { to_sparse<decltype(zero)>(memory, pair); });
  });
}

LANESCOPE_CUDA_API Status cusparseCsr2cscEx2_bufferSize(Handle* handle, int m, int n, int nnz,
                                                        const void* values, const int* offsets,
                                                        const int* columns, void* new_values,
                                                        int* new_offsets, int* new_rows, DataType type,
                                                        Action action, Base base, int, size_t* bytes) {
  Call call(handle, "cusparseCsr2cscEx2_bufferSize");
  turned_of(call, m, n, nnz, values, offsets, columns, new_values, new_offsets, new_rows, type, action, base);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseCsr2cscEx2(Handle* handle, int m, int n, int nnz, const void* values,
                                             const int* offsets, const int* columns, void* new_values,
                                             int* new_offsets, int* new_rows, DataType type, Action action,
                                             Base base, int, void*) {
  Call call(handle, "cusparseCsr2cscEx2");
  const Turned turned = turned_of(call, m, n, nnz, values, offsets, columns, new_values, new_offsets,
                                  new_rows, type, action, base);
  return call.submit([turned](const Memory& memory) {
    const auto& [from, to, with_values] = turned;
    reach(memory, "the matrix", from, with_values ? Access::read : Access::none);
    reach(memory, "cscColPtr", to.first, to.first_count(), true);
    reach(memory, "cscRowInd", to.second, to.count, true);
    if (with_values) reach(memory, "cscVal", to.values, to.count, true);
    with_numbers(with_values && is_complex(to.values.type), [&](auto zero) { turn<decltype(zero)>(turned); });
  });
}

LANESCOPE_CUDA_API Status cusparseXcoo2csr(Handle* handle, const int* rows, int nnz, int m, int* offsets,
                                           Base base) {
  Call call(handle, "cusparseXcoo2csr");
  call.size("nnz", nnz).size("m", m).pointer("csrSortedRowPtr", offsets);
  if (nnz > 0) call.pointer("cooRowInd", rows);
  return call.submit([=](const Memory& memory) {
    const Indices in = indices_at(rows), out = indices_at(offsets);
    reach(memory, "cooRowInd", in, nnz, false);
    reach(memory, "csrSortedRowPtr", out, int64_t{m} + 1, true);
    std::vector<int64_t> begin(static_cast<size_t>(m) + 1);
    for (int k = 0; k < nnz; ++k) ++begin[static_cast<size_t>(checked(in[k], base, m, "row", k)) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (int i = 0; i <= m; ++i) out.store(i, begin[static_cast<size_t>(i)] + static_cast<int64_t>(base));
  });
}
LANESCOPE_CUDA_API Status cusparseXcsr2coo(Handle* handle, const int* offsets, int nnz, int m, int* rows,
                                           Base base) {
  Call call(handle, "cusparseXcsr2coo");
  call.size("nnz", nnz).size("m", m).pointer("csrSortedRowPtr", offsets);
  if (nnz > 0) call.pointer("cooRowInd", rows);
  return call.submit([=](const Memory& memory) {
    const Indices in = indices_at(offsets), out = indices_at(rows);
    reach(memory, "csrSortedRowPtr", in, int64_t{m} + 1, false);
    reach(memory, "cooRowInd", out, nnz, true);
    for (int i = 0; i < m; ++i) {
      const auto [begin, end] = line(in, i, base, nnz);
      for (int64_t k = begin; k < end; ++k) out.store(k, i + static_cast<int64_t>(base));
    }
  });
}

LANESCOPE_CUDA_API Status cusparseCreateIdentityPermutation(Handle* handle, int n, int* p) {
  Call call(handle, "cusparseCreateIdentityPermutation");
  call.size("n", n);
  if (n > 0) call.pointer("p", p);
  return call.submit([=](const Memory& memory) {
    memory.write("p", p, n);
    std::iota(p, p + n, 0);
  });
}

#define LANESCOPE_SORT_SIZE(name)                                                               \
  LANESCOPE_CUDA_API Status name(Handle* handle, int m, int n, int nnz, const int*, const int*, \
                                 size_t* bytes) {                                               \
    Call call(handle, #name);                                                                   \
    return call.size("m", m).size("n", n).size("nnz", nnz).tell_size(bytes);                    \
  }
LANESCOPE_SORT_SIZE(cusparseXcoosort_bufferSizeExt)
LANESCOPE_SORT_SIZE(cusparseXcsrsort_bufferSizeExt)
LANESCOPE_SORT_SIZE(cusparseXcscsort_bufferSizeExt)

LANESCOPE_CUDA_API Status cusparseXcoosortByRow(Handle* handle, int m, int n, int nnz, int* rows,
                                                int* columns, int* p, void*) {
  return sort_coo(handle, "cusparseXcoosortByRow", m, n, nnz, rows, columns, p);
}
LANESCOPE_CUDA_API Status cusparseXcoosortByColumn(Handle* handle, int m, int n, int nnz, int* rows,
                                                   int* columns, int* p, void*) {
  return sort_coo(handle, "cusparseXcoosortByColumn", m, n, nnz, columns, rows, p);
}
LANESCOPE_CUDA_API Status cusparseXcsrsort(Handle* handle, int m, int n, int nnz, const MatrixKind* kind,
                                           const int* offsets, int* columns, int* p, void*) {
  return sort_compressed(handle, "cusparseXcsrsort", m, n, nnz, kind, offsets, columns, p);
}
LANESCOPE_CUDA_API Status cusparseXcscsort(Handle* handle, int m, int n, int nnz, const MatrixKind* kind,
                                           const int* offsets, int* rows, int* p, void*) {
  return sort_compressed(handle, "cusparseXcscsort", n, m, nnz, kind, offsets, rows, p);
}

#define LANESCOPE_COUNT(P, T, type)                                                                   \
  LANESCOPE_CUDA_API Status cusparse##P##nnz(Handle* handle, Direction direction, int m, int n,       \
                                             const MatrixKind* kind, const T* a, int lda, int* lines, \
                                             int* total) {                                            \
    return count(handle, "cusparse" #P "nnz", direction, m, n, kind, a, type, lda, lines, total);     \
  }
LANESCOPE_SPARSE_TYPES(LANESCOPE_COUNT)

}  // namespace lanescope::cuda::sparse
