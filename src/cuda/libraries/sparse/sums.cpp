// Sparse matrices that are made of sparse ones: products (SpGEMM) and sums (csrgeam2).
#include <algorithm>
#include <memory>

#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// Collects the elements of rows, one row after the other.
template <typename Number>
class RowSums {
 public:
  explicit RowSums(int64_t columns)
      : sum_(static_cast<size_t>(columns)), has_(static_cast<size_t>(columns), false) {
    rows_.begin.push_back(0);
  }
  void add(int64_t column, Number value) {
    const auto j = static_cast<size_t>(column);
    if (!has_[j]) {
      has_[j] = true;
      sum_[j] = 0;
      columns_.push_back(column);
    }
    sum_[j] += value;
  }
  void end_row() {
    std::sort(columns_.begin(), columns_.end());
    for (const int64_t column : columns_) {
      rows_.column.push_back(column);
      rows_.value.push_back(sum_[static_cast<size_t>(column)]);
      has_[static_cast<size_t>(column)] = false;
    }
    columns_.clear();
    rows_.begin.push_back(static_cast<int64_t>(rows_.column.size()));
  }
  Rows<Number> take() { return std::move(rows_); }

 private:
  std::vector<Number> sum_;
  std::vector<bool> has_;
  std::vector<int64_t> columns_;
  Rows<Number> rows_;
};

/// alpha a b.
template <typename Number>
Rows<Number> product(Number alpha, const SparseMatrix& a, const SparseMatrix& b) {
  const Rows<Number> left = rows_of<Number>(a, Operation::none), right = rows_of<Number>(b, Operation::none);
  RowSums<Number> sums(b.columns);
  for (size_t i = 0; i + 1 < left.begin.size(); ++i) {
    for (auto k = static_cast<size_t>(left.begin[i]); k < static_cast<size_t>(left.begin[i + 1]); ++k) {
      const auto row = static_cast<size_t>(left.column[k]);
      const Number factor = alpha * left.value[k];
      for (auto l = static_cast<size_t>(right.begin[row]); l < static_cast<size_t>(right.begin[row + 1]); ++l)
        sums.add(right.column[l], factor * right.value[l]);
    }
    sums.end_row();
  }
  return sums.take();
}

/// a_value(k) and b_value(k) of the elements of a and b, added where their columns are the same. Columns are
/// as they are stored, in the result, too: an H100 converts none from one base to another.
template <typename Number, typename A, typename B>
Rows<Number> united(const SparseMatrix& a, const A& a_value, const SparseMatrix& b, const B& b_value) {
  RowSums<Number> sums(a.columns + 1);
  const auto add_row = [&](const SparseMatrix& matrix, int64_t i, const auto& value) {
    each_element(matrix, i, i + 1, [&](int64_t, int64_t j, int64_t k) {
      sums.add(j + static_cast<int64_t>(matrix.base), value(k));
    });
  };
  for (int64_t i = 0; i < a.rows; ++i) {
    add_row(a, i, a_value);
    add_row(b, i, b_value);
    sums.end_row();
  }
  return sums.take();
}

/// What the steps of a product leave for the next one.
struct Work {
  bool is_known = false;
  int64_t products = 0, count = 0;
  Rows<double> real;
  Rows<Complex> complex;

  template <typename Number>
  Rows<Number>& rows() {
    if constexpr (std::is_same_v<Number, Complex>) {
      return complex;
    } else {
      return real;
    }
  }
};

/// What cusparseSpGEMM_createDescr makes.
struct Multiplication {
  std::shared_ptr<Work> work = std::make_shared<Work>();
};

struct Arguments {
  Scalar alpha, beta;
  SparseMatrix a, b, c;
};

Arguments arguments_of(Call& call, Operation op_a, Operation op_b, const void* alpha, const SparseMatrix* a,
                       const SparseMatrix* b, const void* beta, const SparseMatrix* c, DataType compute,
                       const Multiplication* of) {
  call.object("matA", a).object("matB", b).object("matC", c).object("spgemmDescr", of);
  call.one_of(op_a).one_of(op_b).pointer("alpha", alpha).pointer("beta", beta);
  if (call.is_refused()) return {};
  if (op_a != Operation::none || op_b != Operation::none)
    call.refuse(Status::not_supported, "the operations are others than CUSPARSE_OPERATION_NON_TRANSPOSE");
  if (a->format != Format::csr || b->format != Format::csr || c->format != Format::csr)
    call.refuse(Status::not_supported, "its matrices are not all in CSR");
  if (a->first.type != b->first.type || a->first.type != c->first.type)
    call.refuse(Status::not_supported, "its matrices have indices of different types");
  if (a->base != b->base || a->base != c->base)
    call.refuse(Status::not_supported, "its matrices have indices from 0 and from 1 on");
  const DataType type = a->values.type;
  const bool is_narrow = type == DataType::real_16f || type == DataType::real_16bf;
  if (type != b->values.type || type != c->values.type || compute != (is_narrow ? DataType::real_32f : type))
    call.refuse(Status::not_supported, "types {}, {} and {} computed in {} are not there", name_of(type),
                name_of(b->values.type), name_of(c->values.type), name_of(compute));
  call.computed_in(compute);
  if (a->columns != b->rows || a->rows != c->rows || b->columns != c->columns)
    call.refuse(Status::invalid_value, "{} x {} times {} x {} is not {} x {}", a->rows, a->columns, b->rows,
                b->columns, c->rows, c->columns);
  if (call.is_refused()) return {};
  return {call.number_at(alpha, compute), call.number_at(beta, compute), *a, *b, *c};
}

/// The number of multiplications.
int64_t count_products(const Memory& memory, const Arguments& of) {
  reach(memory, "matrix A", of.a, Access::none);
  reach(memory, "matrix B", of.b, Access::none);
  int64_t count = 0;
  each_element(of.a, [&](int64_t, int64_t j, int64_t) {
    const Line row = line(of.b.first, j, of.b.base, of.b.count);
    count += row.end - row.begin;
  });
  return count;
}

Status estimate(const Call& call, const Arguments& of, const Multiplication* multiplication) {
  if (call.is_refused()) return call.status();
  return call.submit_and_wait([of, work = multiplication->work](const Memory& memory) {
    work->products = count_products(memory, of);
  });
}

Status compute(const Call& call, const Arguments& of, const Multiplication* multiplication, SparseMatrix* c) {
  if (call.is_refused()) return call.status();
  const auto work = multiplication->work;
  work->is_known = false;
  const Status status = call.submit_and_wait([of, work](const Memory& memory) {
    work->products = count_products(memory, of);
    reach(memory, "matrix A", of.a, Access::read);
    reach(memory, "matrix B", of.b, Access::read);
    with_numbers(is_complex(of.a.values.type), [&](auto zero) {
      using Number = decltype(zero);
      work->rows<Number>() = product(of.alpha.in<Number>(memory), of.a, of.b);
      work->count = static_cast<int64_t>(work->rows<Number>().column.size());
    });
    work->is_known = true;
  });
  if (status == Status::success && work->is_known) c->count = work->count;
  return status;
}

/// Writes where the rows of a matrix begin.
template <typename Number>
void store_offsets(const Memory& memory, const Rows<Number>& rows, const Indices& first, Base base) {
  reach(memory, "the row offsets of C", first, static_cast<int64_t>(rows.begin.size()), true);
  for (size_t i = 0; i < rows.begin.size(); ++i)
    first.store(static_cast<int64_t>(i), rows.begin[i] + static_cast<int64_t>(base));
}

Status copy(Call& call, const Arguments& of, const Multiplication* multiplication) {
  if (call.is_refused()) return call.status();
  const auto work = multiplication->work;
  if (!work->is_known) call.refuse(Status::invalid_value, "cusparseSpGEMM_compute was not done before");
  if (call.is_refused()) return call.status();
  if (of.c.count != work->count)
    call.refuse(Status::invalid_value, "matC has {} elements, and the product {}", of.c.count, work->count);
  return call.submit([of, work](const Memory& memory) {
    with_numbers(is_complex(of.c.values.type), [&](auto zero) {
      using Number = decltype(zero);
      const auto beta = of.beta.in<Number>(memory);
      const Rows<Number>& rows = work->rows<Number>();
      store_offsets(memory, rows, of.c.first, of.c.base);
      reach(memory, "the columns of C", of.c.second, of.c.count, true);
      reach(memory, "the values of C", of.c.values, of.c.count, true);
      for (int64_t k = 0; k < of.c.count; ++k) {
        Number value = rows.value[static_cast<size_t>(k)];
        if (beta != zero) value += beta * of.c.values.load<Number>(k);
        of.c.second.store(k, rows.column[static_cast<size_t>(k)] + static_cast<int64_t>(of.c.base));
        of.c.values.store(k, value);
      }
    });
  });
}

/// c = alpha a + beta b, of which the offsets are there already.
Status add(const Call& call, const Arguments& of) {
  if (!call.is_refused() && (of.a.base != of.b.base || of.a.base != of.c.base))
    libraries::say(
        "{}: its matrices have indices from 0 and from 1 on; columns of C are as those of A and B are "
        "stored, as on an H100",
        call.name());
  return call.submit([of](const Memory& memory) {
    reach(memory, "matrix A", of.a, Access::read);
    reach(memory, "matrix B", of.b, Access::read);
    with_numbers(is_complex(of.c.values.type), [&](auto zero) {
      using Number = decltype(zero);
      const auto alpha = of.alpha.in<Number>(memory), beta = of.beta.in<Number>(memory);
      const auto rows = united<Number>(
          of.a, [&](int64_t k) { return alpha * of.a.values.load<Number>(k); }, of.b,
          [&](int64_t k) { return beta * of.b.values.load<Number>(k); });
      const auto count = static_cast<int64_t>(rows.column.size());
      store_offsets(memory, rows, of.c.first, of.c.base);
      reach(memory, "the columns of C", of.c.second, count, true);
      reach(memory, "the values of C", of.c.values, count, true);
      for (int64_t k = 0; k < count; ++k) {
        of.c.second.store(k, rows.column[static_cast<size_t>(k)]);
        of.c.values.store(k, rows.value[static_cast<size_t>(k)]);
      }
    });
  });
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseSpGEMM_createDescr(Multiplication** out) {
  return Call("cusparseSpGEMM_createDescr").create(out);
}
LANESCOPE_CUDA_API Status cusparseSpGEMM_destroyDescr(Multiplication* of) {
  return Call("cusparseSpGEMM_destroyDescr").destroy(of);
}

// Of the first steps a null buffer asks how large it must be.
LANESCOPE_CUDA_API Status cusparseSpGEMM_workEstimation(Handle* handle, Operation op_a, Operation op_b,
                                                        const void* alpha, const SparseMatrix* a,
                                                        const SparseMatrix* b, const void* beta,
                                                        SparseMatrix* c, DataType compute, int,
                                                        Multiplication* of, size_t* bytes, void* buffer) {
  Call call(handle, "cusparseSpGEMM_workEstimation");
  const Arguments arguments = arguments_of(call, op_a, op_b, alpha, a, b, beta, c, compute, of);
  return buffer == nullptr ? call.tell_size(bytes) : estimate(call, arguments, of);
}
LANESCOPE_CUDA_API Status cusparseSpGEMM_getNumProducts(Multiplication* of, int64_t* count) {
  constexpr const char* name = "cusparseSpGEMM_getNumProducts";
  if (!objects<Multiplication>().contains(of) || count == nullptr)
    return libraries::refuse(name, Status::invalid_value, "{} is null, or none that lives",
                             count == nullptr ? "num_prods" : "spgemmDescr");
  *count = of->work->products;
  return Status::success;
}
LANESCOPE_CUDA_API Status cusparseSpGEMM_estimateMemory(Handle* handle, Operation op_a, Operation op_b,
                                                        const void* alpha, const SparseMatrix* a,
                                                        const SparseMatrix* b, const void* beta,
                                                        SparseMatrix* c, DataType compute, int,
                                                        Multiplication* of, float, size_t* bytes,
                                                        void* buffer, size_t* next_bytes) {
  Call call(handle, "cusparseSpGEMM_estimateMemory");
  arguments_of(call, op_a, op_b, alpha, a, b, beta, c, compute, of);
  return call.tell_size(buffer == nullptr ? bytes : next_bytes);
}
LANESCOPE_CUDA_API Status cusparseSpGEMM_compute(Handle* handle, Operation op_a, Operation op_b,
                                                 const void* alpha, const SparseMatrix* a,
                                                 const SparseMatrix* b, const void* beta, SparseMatrix* c,
                                                 DataType type, int, Multiplication* of, size_t* bytes,
                                                 void* buffer) {
  Call call(handle, "cusparseSpGEMM_compute");
  const Arguments arguments = arguments_of(call, op_a, op_b, alpha, a, b, beta, c, type, of);
  return buffer == nullptr ? call.tell_size(bytes) : compute(call, arguments, of, c);
}
LANESCOPE_CUDA_API Status cusparseSpGEMM_copy(Handle* handle, Operation op_a, Operation op_b,
                                              const void* alpha, const SparseMatrix* a, const SparseMatrix* b,
                                              const void* beta, SparseMatrix* c, DataType compute, int,
                                              Multiplication* of) {
  Call call(handle, "cusparseSpGEMM_copy");
  const Arguments arguments = arguments_of(call, op_a, op_b, alpha, a, b, beta, c, compute, of);
  return copy(call, arguments, of);
}

LANESCOPE_CUDA_API Status cusparseXcsrgeam2Nnz(Handle* handle, int m, int n, const MatrixKind* kind_a,
                                               int nnz_a, const int* offsets_a, const int* columns_a,
                                               const MatrixKind* kind_b, int nnz_b, const int* offsets_b,
                                               const int* columns_b, const MatrixKind* kind_c, int* offsets_c,
                                               int* total, void*) {
  Call call(handle, "cusparseXcsrgeam2Nnz");
  call.pointer("nnzTotalDevHostPtr", total);
  const auto type = DataType::real_32f;  // of values that there are none of
  const Arguments of{{},
                     {},
                     csr_of(call, "descrA", m, n, nnz_a, kind_a, nullptr, type, offsets_a, columns_a),
                     csr_of(call, "descrB", m, n, nnz_b, kind_b, nullptr, type, offsets_b, columns_b),
                     csr_of(call, "descrC", m, n, 0, kind_c, nullptr, type, offsets_c, nullptr)};
  return call.submit_for(total, [of](const Memory& memory) {
    reach(memory, "matrix A", of.a, Access::none);
    reach(memory, "matrix B", of.b, Access::none);
    const auto zero = [](int64_t) { return 0.0; };
    const Rows<double> rows = united<double>(of.a, zero, of.b, zero);
    store_offsets(memory, rows, of.c.first, of.c.base);
    return static_cast<int>(rows.column.size());
  });
}

#define LANESCOPE_SUM(P, T, type)                                                                           \
  LANESCOPE_CUDA_API Status cusparse##P##csrgeam2_bufferSizeExt(                                            \
      Handle* handle, int m, int n, const T*, const MatrixKind*, int, const T*, const int*, const int*,     \
      const T*, const MatrixKind*, int, const T*, const int*, const int*, const MatrixKind*, const T*,      \
      const int*, const int*, size_t* bytes) {                                                              \
    Call call(handle, "cusparse" #P "csrgeam2_bufferSizeExt");                                              \
    return call.size("m", m).size("n", n).tell_size(bytes);                                                 \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusparse##P##csrgeam2(                                                          \
      Handle* handle, int m, int n, const T* alpha, const MatrixKind* kind_a, int nnz_a, const T* values_a, \
      const int* offsets_a, const int* columns_a, const T* beta, const MatrixKind* kind_b, int nnz_b,       \
      const T* values_b, const int* offsets_b, const int* columns_b, const MatrixKind* kind_c, T* values_c, \
      int* offsets_c, int* columns_c, void*) {                                                              \
    Call call(handle, "cusparse" #P "csrgeam2");                                                            \
    call.pointer("alpha", alpha).pointer("beta", beta);                                                     \
    const Arguments of{call.number_at(alpha, type), call.number_at(beta, type),                             \
                       csr_of(call, "descrA", m, n, nnz_a, kind_a, values_a, type, offsets_a, columns_a),   \
                       csr_of(call, "descrB", m, n, nnz_b, kind_b, values_b, type, offsets_b, columns_b),   \
                       csr_of(call, "descrC", m, n, 0, kind_c, values_c, type, offsets_c, columns_c)};      \
    return add(call, of);                                                                                   \
  }
LANESCOPE_SPARSE_TYPES(LANESCOPE_SUM)

}  // namespace lanescope::cuda::sparse
