// Products of sparse and dense matrices: SpMV and SpMM, of which a vector is a matrix of one column; and
// SDDMM.
#include <algorithm>
#include <bit>

#include "cuda/libraries/parts.hpp"
#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// Multiplications that are worth the start of a thread.
constexpr double worth_a_thread = 1e6;

/// Whether a product of elements of these types is there, computed in another one.
bool go_together(DataType a, DataType b, DataType c, DataType compute) {
  switch (compute) {
    case DataType::real_32f:
      if (a != b) return false;
      if (c == DataType::real_32f)
        return a == DataType::real_32f || a == DataType::real_16f || a == DataType::real_16bf ||
               a == DataType::real_8i;
      return c == a && (a == DataType::real_16f || a == DataType::real_16bf);
    case DataType::real_64f: return b == c && b == compute && (a == compute || a == DataType::real_32f);
    case DataType::complex_32f: return b == c && b == compute && (a == compute || a == DataType::real_32f);
    case DataType::complex_64f: return b == c && b == compute && (a == compute || a == DataType::real_64f);
    case DataType::real_32i: return a == b && a == DataType::real_8i && c == compute;
    default: return false;
  }
}

/// Refuses batches of different sizes; those that share a matrix have one with a stride of 0.
void same_batches(Call& call, int a, int b, int c) {
  if (a != b || b != c)
    call.refuse(Status::invalid_value, "batches of {}, {} and {} do not go together", a, b, c);
}

/// c = alpha op(a) op(b) + beta c.
struct Product {
  Operation op_a, op_b;
  Scalar alpha;
  SparseMatrix a;
  DenseMatrix b;
  Scalar beta;
  DenseMatrix c;
};

/// Of a matrix in COO an H100's SpMV gave another sum where the rows of its elements were in another order.
void look_at_order(const char* name, const SparseMatrix& a) {
  for (int64_t k = 1; k < a.count; ++k)
    if (a.first[k] < a.first[k - 1]) {
      libraries::say(
          "{} wants a matrix in COO sorted by rows: element {} is of row {}, and the next one of {}", name,
          k - 1, a.first[k - 1], a.first[k]);
      return;
    }
}

template <typename Number>
void multiply(const Memory& memory, const char* name, const Product& product) {
  const auto alpha = product.alpha.in<Number>(memory), beta = product.beta.in<Number>(memory);
  reach(memory, "the sparse matrix", product.a, Access::read);
  reach(memory, product.b.columns == 1 ? "x" : "the dense matrix B", product.b, false);
  reach(memory, product.c.columns == 1 ? "y" : "the dense matrix C", product.c, true);
  for (int batch = 0; batch < product.c.batches; ++batch) {
    const SparseMatrix a = product.a.at(batch);
    const DenseMatrix c = product.c.at(batch);
    if (a.format == Format::coo && product.op_a == Operation::none) look_at_order(name, a);
    const std::vector<Number> b = dense_rows<Number>(product.b.at(batch), product.op_b);
    const auto columns = static_cast<size_t>(c.columns);
    std::vector<Number> sums(static_cast<size_t>(c.rows) * columns);
    const bool turned = product.op_a != Operation::none, adjoint = product.op_a == Operation::adjoint;
    const auto add = [&](int64_t i, int64_t j, int64_t k) {
      if (turned) std::swap(i, j);
      Number value = a.values.load<Number>(k);
      if (adjoint) value = conjugate(value);
      Number* out = sums.data() + static_cast<size_t>(i) * columns;
      const Number* in = b.data() + static_cast<size_t>(j) * columns;
      for (size_t column = 0; column < columns; ++column) out[column] += value * in[column];
    };
    // Several threads where each has rows of the result of its own.
    const bool is_apart = a.format != Format::coo && (a.format == Format::csc) == turned;
    const double work = static_cast<double>(a.values_count()) * static_cast<double>(columns);
    if (is_apart)
      libraries::in_parts(a.lines(), work / worth_a_thread,
                          [&](int64_t first, int64_t last) { each_element(a, first, last, add); });
    else
      each_element(a, add);
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j) {
        const int64_t place = c.place(i, j);
        Number value(0);  // where a factor is 0, what it multiplies need be no number
        if (alpha != Number(0))
          value = alpha * sums[static_cast<size_t>(i) * columns + static_cast<size_t>(j)];
        if (beta != Number(0)) value += beta * c.values.load<Number>(place);
        c.values.store(place, value);
      }
  }
}

/// What SpMV and SpMM are given, as a product; refuses what does not fit.
Product product_of(Call& call, Operation op_a, Operation op_b, const void* alpha, const SparseMatrix& a,
                   const DenseMatrix& b, const void* beta, const DenseMatrix& c, DataType compute) {
  call.one_of(op_a, "matA", a.values.type).one_of(op_b, "matB", b.values.type);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (a.format == Format::bsr && op_a != Operation::none)
    call.refuse(Status::not_supported, "a matrix in BSR is not transposed");
  if (!go_together(a.values.type, b.values.type, c.values.type, compute))
    call.refuse(Status::not_supported, "types {}, {} and {} computed in {} are not there",
                name_of(a.values.type), name_of(b.values.type), name_of(c.values.type), name_of(compute));
  if (columns_after(a, op_a) != rows_after(b, op_b) || rows_after(a, op_a) != c.rows ||
      columns_after(b, op_b) != c.columns)
    call.refuse(Status::invalid_value, "{} x {} times {} x {} is not {} x {}", rows_after(a, op_a),
                columns_after(a, op_a), rows_after(b, op_b), columns_after(b, op_b), c.rows, c.columns);
  same_batches(call, a.batches, b.batches, c.batches);
  if (op_b == Operation::adjoint && b.rows == 1)
    call.refuse(Status::not_supported, "CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE of matB, which has one row");
  if (call.is_refused()) return {};
  return {op_a, op_b, call.number_at(alpha, compute), a, b, call.number_at(beta, compute), c};
}

Product vector_product(Call& call, Operation op_a, const void* alpha, const SparseMatrix* a,
                       const DenseVector* x, const void* beta, const DenseVector* y, DataType compute) {
  if (call.object("matA", a).object("vecX", x).object("vecY", y).is_refused()) return {};
  if (a->batches != 1) call.refuse(Status::not_supported, "matA is a batch of {} matrices", a->batches);
  return product_of(call, op_a, Operation::none, alpha, *a, as_matrix(*x), beta, as_matrix(*y), compute);
}
Product matrix_product(Call& call, Operation op_a, Operation op_b, const void* alpha, const SparseMatrix* a,
                       const DenseMatrix* b, const void* beta, const DenseMatrix* c, DataType compute) {
  if (call.object("matA", a).object("matB", b).object("matC", c).is_refused()) return {};
  if (a->format == Format::bsr && a->block_order != Order::row)
    call.refuse(Status::not_supported, "matA has blocks by columns, and they must be by rows");
  return product_of(call, op_a, op_b, alpha, *a, *b, beta, *c, compute);
}

Status submit(const Call& call, const Product& product) {
  const bool complex = is_complex(product.c.values.type);
  return call.submit([product, complex, name = call.name()](const Memory& memory) {
    with_numbers(complex, [&](auto number) { multiply<decltype(number)>(memory, name, product); });
  });
}

/// c = alpha (op(a) op(b)) + beta c, of the elements that the sparse matrix c has.
struct Sampled {
  Operation op_a, op_b;
  Scalar alpha;
  DenseMatrix a, b;
  Scalar beta;
  SparseMatrix c;
};

template <typename Number>
void sample(const Memory& memory, const Sampled& of) {
  const auto alpha = of.alpha.in<Number>(memory), beta = of.beta.in<Number>(memory);
  reach(memory, "the dense matrix A", of.a, false);
  reach(memory, "the dense matrix B", of.b, false);
  reach(memory, "the sparse matrix C", of.c, Access::write);
  for (int batch = 0; batch < of.c.batches; ++batch) {
    const SparseMatrix c = of.c.at(batch);
    const std::vector<Number> a = dense_rows<Number>(of.a.at(batch), of.op_a),
                              b = dense_rows<Number>(of.b.at(batch), of.op_b);
    const int64_t inner = columns_after(of.a, of.op_a), columns = c.all_columns();
    each_element(c, [&](int64_t i, int64_t j, int64_t k) {
      Number sum = 0;
      for (int64_t l = 0; l < inner; ++l)
        sum += a[static_cast<size_t>(i * inner + l)] * b[static_cast<size_t>(l * columns + j)];
      Number value = alpha * sum;
      if (beta != Number(0)) value += beta * c.values.load<Number>(k);
      c.values.store(k, value);
    });
  }
}

Sampled sampled(Call& call, Operation op_a, Operation op_b, const void* alpha, const DenseMatrix* a,
                const DenseMatrix* b, const void* beta, const SparseMatrix* c, DataType compute) {
  if (call.object("matA", a).object("matB", b).object("matC", c).is_refused()) return {};
  call.one_of(op_a, "matA", a->values.type).one_of(op_b, "matB", b->values.type);
  call.pointer("alpha", alpha).pointer("beta", beta);
  const DataType in = a->values.type, type = c->values.type;
  if (in != b->values.type || in == DataType::real_8i || !go_together(in, in, type, compute))
    call.refuse(Status::not_supported, "types {}, {} and {} computed in {} are not there", name_of(in),
                name_of(b->values.type), name_of(type), name_of(compute));
  if (columns_after(*a, op_a) != rows_after(*b, op_b) || rows_after(*a, op_a) != c->all_rows() ||
      columns_after(*b, op_b) != c->all_columns())
    call.refuse(Status::invalid_value, "{} x {} times {} x {} is not {} x {}", rows_after(*a, op_a),
                columns_after(*a, op_a), rows_after(*b, op_b), columns_after(*b, op_b), c->all_rows(),
                c->all_columns());
  same_batches(call, a->batches, b->batches, c->batches);
  if (c->format == Format::csc || c->format == Format::coo)
    call.refuse(Status::not_supported, "matC is in {}", c->format == Format::csc ? "CSC" : "COO");
  const int64_t block = c->block_rows, inner = columns_after(*a, op_a);
  if (c->format == Format::bsr &&
      (block == 1 || !std::has_single_bit(static_cast<uint64_t>(block)) || inner % block != 0))
    call.refuse(
        Status::not_supported,
        "matC has blocks of {0} x {0}, and {1} is what matA and matB share: blocks must be of 2, 4, 8 …, "
        "and that a multiple of it",
        block, inner);
  if (call.is_refused()) return {};
  return {op_a, op_b, call.number_at(alpha, compute), *a, *b, call.number_at(beta, compute), *c};
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseSpMV_bufferSize(Handle* handle, Operation op_a, const void* alpha,
                                                  const SparseMatrix* a, const DenseVector* x,
                                                  const void* beta, DenseVector* y, DataType compute, int,
                                                  size_t* bytes) {
  Call call(handle, "cusparseSpMV_bufferSize");
  vector_product(call, op_a, alpha, a, x, beta, y, compute);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSpMV_preprocess(Handle* handle, Operation op_a, const void* alpha,
                                                  const SparseMatrix* a, const DenseVector* x,
                                                  const void* beta, DenseVector* y, DataType compute, int,
                                                  void*) {
  Call call(handle, "cusparseSpMV_preprocess");
  vector_product(call, op_a, alpha, a, x, beta, y, compute);
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSpMV(Handle* handle, Operation op_a, const void* alpha,
                                       const SparseMatrix* a, const DenseVector* x, const void* beta,
                                       DenseVector* y, DataType compute, int, void*) {
  Call call(handle, "cusparseSpMV");
  const Product product = vector_product(call, op_a, alpha, a, x, beta, y, compute);
  // An H100 takes them where they are by columns; and by rows it tells a size, and does the preprocessing.
  if (product.a.format == Format::bsr && product.a.block_rows == 1 && product.a.block_order == Order::row)
    call.refuse(Status::not_supported, "matA has blocks of 1 x 1 by rows");
  return submit(call, product);
}

LANESCOPE_CUDA_API Status cusparseSpMM_bufferSize(Handle* handle, Operation op_a, Operation op_b,
                                                  const void* alpha, const SparseMatrix* a,
                                                  const DenseMatrix* b, const void* beta, DenseMatrix* c,
                                                  DataType compute, int, size_t* bytes) {
  Call call(handle, "cusparseSpMM_bufferSize");
  matrix_product(call, op_a, op_b, alpha, a, b, beta, c, compute);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSpMM_preprocess(Handle* handle, Operation op_a, Operation op_b,
                                                  const void* alpha, const SparseMatrix* a,
                                                  const DenseMatrix* b, const void* beta, DenseMatrix* c,
                                                  DataType compute, int, void*) {
  Call call(handle, "cusparseSpMM_preprocess");
  matrix_product(call, op_a, op_b, alpha, a, b, beta, c, compute);
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSpMM(Handle* handle, Operation op_a, Operation op_b, const void* alpha,
                                       const SparseMatrix* a, const DenseMatrix* b, const void* beta,
                                       DenseMatrix* c, DataType compute, int, void*) {
  Call call(handle, "cusparseSpMM");
  return submit(call, matrix_product(call, op_a, op_b, alpha, a, b, beta, c, compute));
}

LANESCOPE_CUDA_API Status cusparseSDDMM_bufferSize(Handle* handle, Operation op_a, Operation op_b,
                                                   const void* alpha, const DenseMatrix* a,
                                                   const DenseMatrix* b, const void* beta, SparseMatrix* c,
                                                   DataType compute, int, size_t* bytes) {
  Call call(handle, "cusparseSDDMM_bufferSize");
  sampled(call, op_a, op_b, alpha, a, b, beta, c, compute);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSDDMM_preprocess(Handle* handle, Operation op_a, Operation op_b,
                                                   const void* alpha, const DenseMatrix* a,
                                                   const DenseMatrix* b, const void* beta, SparseMatrix* c,
                                                   DataType compute, int, void*) {
  Call call(handle, "cusparseSDDMM_preprocess");
  sampled(call, op_a, op_b, alpha, a, b, beta, c, compute);
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSDDMM(Handle* handle, Operation op_a, Operation op_b, const void* alpha,
                                        const DenseMatrix* a, const DenseMatrix* b, const void* beta,
                                        SparseMatrix* c, DataType compute, int, void*) {
  Call call(handle, "cusparseSDDMM");
  const Sampled of = sampled(call, op_a, op_b, alpha, a, b, beta, c, compute);
  if ((op_a == Operation::adjoint || op_b == Operation::adjoint) && !call.is_refused())
    libraries::say(
        "cusparseSDDMM: of CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE an H100 gives other numbers: it takes no "
        "conjugate, and does not transpose matA");
  return call.submit([of, compute](const Memory& memory) {
    with_numbers(is_complex(compute), [&](auto number) { sample<decltype(number)>(memory, of); });
  });
}

}  // namespace lanescope::cuda::sparse
