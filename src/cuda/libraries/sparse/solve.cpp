// Systems with a sparse triangle: SpSV and SpSM, of which a vector is a matrix of one column.
#include <memory>

#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// What an analysis leaves for solutions: the matrix with the values that it had then. Work in the stream
/// fills it, and reads it.
struct Triangle {
  SparseMatrix matrix;
  Operation operation = Operation::none;
  template <typename Number>
  struct Parts {
    Rows<Number> rows;
    /// What took the diagonal's place since, also of a matrix whose diagonal is 1: an H100 divides by it,
    /// too.
    std::vector<Number> diagonal;
  };
  Parts<double> real;
  Parts<Complex> complex;

  template <typename Number>
  Parts<Number>& parts() {
    if constexpr (std::is_same_v<Number, Complex>) {
      return complex;
    } else {
      return real;
    }
  }
};

/// What cusparseSpSV_createDescr makes, and cusparseSpSM_createDescr.
struct Analysis {
  std::shared_ptr<Triangle> triangle;  ///< null before the analysis
};
struct OfVector : Analysis {};
struct OfMatrix : Analysis {};

/// op(a) c = alpha op(b).
struct System {
  Operation op_a, op_b;
  Scalar alpha;
  SparseMatrix a;
  DenseMatrix b, c;
  bool complex = false;
};

System system_of(Call& call, Operation op_a, Operation op_b, const void* alpha, const SparseMatrix& a,
                 const DenseMatrix& b, const DenseMatrix& c, DataType compute) {
  const DataType type = a.values.type;
  call.one_of(op_a, "matA", type).one_of(op_b).pointer("alpha", alpha);
  if (a.format != Format::csr && a.format != Format::coo)
    call.refuse(Status::not_supported, "matA is in {}, and must be in CSR or COO",
                a.format == Format::csc ? "CSC" : "BSR");
  if (op_b == Operation::adjoint)
    call.refuse(Status::not_supported, "CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE of matB");
  if (type != b.values.type || type != c.values.type || type != compute)
    call.refuse(Status::not_supported, "types {}, {} and {} computed in {} are not there", name_of(type),
                name_of(b.values.type), name_of(c.values.type), name_of(compute));
  call.computed_in(compute);
  if (a.all_rows() != a.all_columns())
    call.refuse(Status::invalid_value, "matA is {} x {}, and no square", a.all_rows(), a.all_columns());
  if (rows_after(b, op_b) != a.all_rows() || c.rows != a.all_rows() || columns_after(b, op_b) != c.columns)
    call.refuse(Status::invalid_value,
                "a matrix of {} x {}, a right side of {} x {} and a solution of {} x {} "
                "do not go together",
                a.all_rows(), a.all_columns(), rows_after(b, op_b), columns_after(b, op_b), c.rows,
                c.columns);
  if (a.batches != 1 || b.batches != c.batches)
    call.refuse(Status::not_supported, "batches of {}, {} and {} are not there", a.batches, b.batches,
                c.batches);
  if (call.is_refused()) return {};
  return {op_a, op_b, call.number_at(alpha, compute), a, b, c, is_complex(compute)};
}

Status analyse(const Call& call, const System& system, Analysis* analysis) {
  if (call.is_refused()) return call.status();
  analysis->triangle = std::make_shared<Triangle>(Triangle{system.a, system.op_a, {}, {}});
  return call.submit([triangle = analysis->triangle, complex = system.complex](const Memory& memory) {
    reach(memory, "the sparse matrix", triangle->matrix, Access::read);
    with_numbers(complex, [&](auto zero) {
      triangle->parts<decltype(zero)>().rows = rows_of<decltype(zero)>(triangle->matrix, triangle->operation);
    });
  });
}

template <typename Number>
void solve(const Memory& memory, const char* name, const System& system, Triangle& triangle) {
  const auto alpha = system.alpha.in<Number>(memory);
  const bool is_vector = system.c.columns == 1;
  reach(memory, is_vector ? "x" : "the dense matrix B", system.b, false);
  reach(memory, is_vector ? "y" : "the dense matrix C", system.c, true);
  const auto& [rows, new_diagonal] = triangle.parts<Number>();
  if (rows.begin.empty()) return;  // the analysis ended before
  const bool lower = (triangle.matrix.fill == Fill::lower) == (triangle.operation == Operation::none);
  const bool is_new = !new_diagonal.empty();
  const bool unit = triangle.matrix.diagonal == Diagonal::unit && !is_new;
  for (int batch = 0; batch < system.c.batches; ++batch) {
    const DenseMatrix c = system.c.at(batch);
    std::vector<Number> x = dense_rows<Number>(system.b.at(batch), system.op_b);
    const int64_t count = c.rows, columns = c.columns;
    for (int64_t step = 0; step < count; ++step) {
      const int64_t i = lower ? step : count - 1 - step;
      Number* row = x.data() + i * columns;
      for (int64_t r = 0; r < columns; ++r) row[r] *= alpha;
      Number diagonal = 0;
      for (int64_t k = rows.begin[static_cast<size_t>(i)]; k < rows.begin[static_cast<size_t>(i) + 1]; ++k) {
        const int64_t j = rows.column[static_cast<size_t>(k)];
        const Number value = rows.value[static_cast<size_t>(k)];
        if (j == i) diagonal += value;
        if (lower ? j >= i : j <= i) continue;
        for (int64_t r = 0; r < columns; ++r) row[r] -= value * x[static_cast<size_t>(j * columns + r)];
      }
      if (unit) continue;
      if (is_new) diagonal = new_diagonal[static_cast<size_t>(i)];
      if (diagonal == Number(0)) libraries::say("{}: row {} has 0 or nothing on its diagonal", name, i);
      for (int64_t r = 0; r < columns; ++r) row[r] /= diagonal;
    }
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < columns; ++j)
        c.values.store(c.place(i, j), x[static_cast<size_t>(i * columns + j)]);
  }
}

Status solve(Call& call, const System& system, const Analysis* analysis) {
  if (call.is_refused()) return call.status();
  const auto triangle = analysis->triangle;
  if (triangle == nullptr)
    call.refuse(Status::not_initialized, "its descriptor has seen no analysis");
  else if (triangle->operation != system.op_a || triangle->matrix.all_rows() != system.a.all_rows() ||
           triangle->matrix.values.type != system.a.values.type)
    call.refuse(Status::invalid_value, "its descriptor was analysed for another matrix or operation");
  return call.submit([triangle, system, name = call.name()](const Memory& memory) {
    with_numbers(system.complex, [&](auto zero) { solve<decltype(zero)>(memory, name, system, *triangle); });
  });
}

template <typename Number>
void update(Triangle& triangle, const Values& values, Update part) {
  auto& [rows, diagonal] = triangle.parts<Number>();
  const auto value = [&](int64_t place) {
    const auto stored = values.load<Number>(place);
    return triangle.operation == Operation::adjoint ? conjugate(stored) : stored;
  };
  diagonal.clear();
  if (part == Update::diagonal)
    for (int64_t i = 0; i < triangle.matrix.all_rows(); ++i) diagonal.push_back(value(i));
  else
    for (size_t k = 0; k < rows.value.size(); ++k) rows.value[k] = value(rows.place[k]);
}

template <typename Descriptor>
Status update(Handle* handle, const char* name, const Descriptor* descriptor, void* data, Update part) {
  Call call(handle, name);
  call.object("the descriptor", descriptor).pointer("newValues", data);
  if (!is_between(part, Update::general, Update::diagonal))
    call.refuse(Status::invalid_value, "{} is no part to update", static_cast<int>(part));
  if (call.is_refused()) return call.status();
  const std::shared_ptr<Triangle> triangle = descriptor->triangle;
  if (triangle == nullptr)  // which an H100 takes, too
    return call.refuse(Status::success, "its descriptor has seen no analysis").status();
  return call.submit([triangle, data, part](const Memory& memory) {
    const SparseMatrix& matrix = triangle->matrix;
    const Values values{data, matrix.values.type};
    reach(memory, "the new values", values,
          part == Update::diagonal ? matrix.all_rows() : matrix.values_count(), false);
    with_numbers(is_complex(values.type),
                 [&](auto zero) { update<decltype(zero)>(*triangle, values, part); });
  });
}

System vector_system(Call& call, Operation op, const void* alpha, const SparseMatrix* a, const DenseVector* x,
                     const DenseVector* y, DataType compute, const OfVector* of) {
  if (call.object("matA", a).object("vecX", x).object("vecY", y).object("spsvDescr", of).is_refused())
    return {};
  return system_of(call, op, Operation::none, alpha, *a, as_matrix(*x), as_matrix(*y), compute);
}
System matrix_system(Call& call, Operation op_a, Operation op_b, const void* alpha, const SparseMatrix* a,
                     const DenseMatrix* b, const DenseMatrix* c, DataType compute, const OfMatrix* of) {
  if (call.object("matA", a).object("matB", b).object("matC", c).object("spsmDescr", of).is_refused())
    return {};
  return system_of(call, op_a, op_b, alpha, *a, *b, *c, compute);
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseSpSV_createDescr(OfVector** out) {
  return Call("cusparseSpSV_createDescr").create(out);
}
LANESCOPE_CUDA_API Status cusparseSpSV_destroyDescr(OfVector* of) {
  return Call("cusparseSpSV_destroyDescr").destroy(of);
}
LANESCOPE_CUDA_API Status cusparseSpSV_bufferSize(Handle* handle, Operation op, const void* alpha,
                                                  const SparseMatrix* a, const DenseVector* x, DenseVector* y,
                                                  DataType compute, int, OfVector* of, size_t* bytes) {
  Call call(handle, "cusparseSpSV_bufferSize");
  vector_system(call, op, alpha, a, x, y, compute, of);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSpSV_analysis(Handle* handle, Operation op, const void* alpha,
                                                const SparseMatrix* a, const DenseVector* x, DenseVector* y,
                                                DataType compute, int, OfVector* of, void*) {
  Call call(handle, "cusparseSpSV_analysis");
  return analyse(call, vector_system(call, op, alpha, a, x, y, compute, of), of);
}
LANESCOPE_CUDA_API Status cusparseSpSV_solve(Handle* handle, Operation op, const void* alpha,
                                             const SparseMatrix* a, const DenseVector* x, DenseVector* y,
                                             DataType compute, int, OfVector* of) {
  Call call(handle, "cusparseSpSV_solve");
  const System system = vector_system(call, op, alpha, a, x, y, compute, of);
  return solve(call, system, of);
}
LANESCOPE_CUDA_API Status cusparseSpSV_updateMatrix(Handle* handle, OfVector* of, void* values, Update part) {
  return update(handle, "cusparseSpSV_updateMatrix", of, values, part);
}

LANESCOPE_CUDA_API Status cusparseSpSM_createDescr(OfMatrix** out) {
  return Call("cusparseSpSM_createDescr").create(out);
}
LANESCOPE_CUDA_API Status cusparseSpSM_destroyDescr(OfMatrix* of) {
  return Call("cusparseSpSM_destroyDescr").destroy(of);
}
LANESCOPE_CUDA_API Status cusparseSpSM_bufferSize(Handle* handle, Operation op_a, Operation op_b,
                                                  const void* alpha, const SparseMatrix* a,
                                                  const DenseMatrix* b, DenseMatrix* c, DataType compute, int,
                                                  OfMatrix* of, size_t* bytes) {
  Call call(handle, "cusparseSpSM_bufferSize");
  matrix_system(call, op_a, op_b, alpha, a, b, c, compute, of);
  return call.tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSpSM_analysis(Handle* handle, Operation op_a, Operation op_b,
                                                const void* alpha, const SparseMatrix* a,
                                                const DenseMatrix* b, DenseMatrix* c, DataType compute, int,
                                                OfMatrix* of, void*) {
  Call call(handle, "cusparseSpSM_analysis");
  return analyse(call, matrix_system(call, op_a, op_b, alpha, a, b, c, compute, of), of);
}
LANESCOPE_CUDA_API Status cusparseSpSM_solve(Handle* handle, Operation op_a, Operation op_b,
                                             const void* alpha, const SparseMatrix* a, const DenseMatrix* b,
                                             DenseMatrix* c, DataType compute, int, OfMatrix* of) {
  Call call(handle, "cusparseSpSM_solve");
  const System system = matrix_system(call, op_a, op_b, alpha, a, b, c, compute, of);
  return solve(call, system, of);
}
LANESCOPE_CUDA_API Status cusparseSpSM_updateMatrix(Handle* handle, OfMatrix* of, void* values, Update part) {
  return update(handle, "cusparseSpSM_updateMatrix", of, values, part);
}

}  // namespace lanescope::cuda::sparse
