// The functions that make descriptors of vectors and matrices, and set and tell what is in them.
#include <cstring>

#include "cuda/libraries/sparse/call.hpp"

namespace lanescope::cuda::sparse {
namespace {

// Addresses may be null as long as nothing is read there: some are set later.

/// A value that the program asks for, if it wants it.
template <typename To, typename From>
void tell(To* out, From value) {
  if (out != nullptr) *out = static_cast<To>(value);
}

Status make(const char* name, SparseMatrix** out, const SparseMatrix& matrix) {
  Call call(name);
  call.size("the number of rows", matrix.rows).size("the number of columns", matrix.columns);
  call.size("the number of elements", matrix.count);
  call.one_of(matrix.first.type).one_of(matrix.second.type).one_of(matrix.base).elements(matrix.values.type);
  call.one_of(matrix.block_order);
  if (matrix.block_rows < 1 || matrix.block_columns < 1)
    call.refuse(Status::invalid_value, "blocks are of {} x {}", matrix.block_rows, matrix.block_columns);
  if (matrix.block_rows != matrix.block_columns)
    call.refuse(Status::invalid_value, "blocks are of {} x {}, and must be square", matrix.block_rows,
                matrix.block_columns);
  if (matrix.first.type != matrix.second.type)
    call.refuse(Status::not_supported, "offsets and indices are of different types");
  if (!call.is_refused() && static_cast<double>(matrix.count) >
                                static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns))
    call.refuse(Status::invalid_value, "a matrix of {} x {} has no {} elements", matrix.rows, matrix.columns,
                matrix.count);
  return call.create(out, matrix);
}

Status get(const char* name, const SparseMatrix* matrix, Format format, int64_t* rows, int64_t* columns,
           int64_t* count, void** first, void** second, void** values, IndexType* first_type,
           IndexType* second_type, Base* base, DataType* type) {
  Call call(name);
  if (call.object("the descriptor", matrix).is_refused()) return call.status();
  if (matrix->format != format)
    return call.refuse(Status::invalid_value, "the matrix is of another format").status();
  tell(rows, matrix->rows);
  tell(columns, matrix->columns);
  tell(count, matrix->count);
  tell(first, matrix->first.data);
  tell(second, matrix->second.data);
  tell(values, matrix->values.data);
  tell(first_type, matrix->first.type);
  tell(second_type, matrix->second.type);
  tell(base, matrix->base);
  tell(type, matrix->values.type);
  return Status::success;
}

Status set_pointers(const char* name, SparseMatrix* matrix, Format format, void* first, void* second,
                    void* values) {
  Call call(name);
  if (call.object("the descriptor", matrix).is_refused()) return call.status();
  if (matrix->format != format)
    return call.refuse(Status::invalid_value, "the matrix is of another format").status();
  matrix->first.data = first;
  matrix->second.data = second;
  matrix->values.data = values;
  return Status::success;
}

Status set_batch(const char* name, SparseMatrix* matrix, Format format, int batches, int64_t first,
                 int64_t second, int64_t values) {
  Call call(name);
  if (call.object("the descriptor", matrix).is_refused()) return call.status();
  if (matrix->format != format) call.refuse(Status::invalid_value, "the matrix is of another format");
  if (batches < 1) call.refuse(Status::invalid_value, "the batch has {} matrices", batches);
  call.size("a stride", first).size("a stride", second).size("a stride", values);
  if (call.is_refused()) return call.status();
  matrix->batches = batches;
  matrix->first_stride = first;
  matrix->second_stride = second;
  matrix->values_stride = values;
  return Status::success;
}

/// Of any descriptor that has them.
template <typename T>
Status get_values(const char* name, const T* descriptor, void** out) {
  Call call(name);
  if (!call.object("the descriptor", descriptor).pointer("where they are to be written", out).is_refused())
    *out = descriptor->values.data;
  return call.status();
}
template <typename T>
Status set_values(const char* name, T* descriptor, void* values) {
  Call call(name);
  if (!call.object("the descriptor", descriptor).is_refused()) descriptor->values.data = values;
  return call.status();
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseDestroySpVec(const SparseVector* vector) {
  return Call("cusparseDestroySpVec").destroy(vector);
}
LANESCOPE_CUDA_API Status cusparseDestroyDnVec(const DenseVector* vector) {
  return Call("cusparseDestroyDnVec").destroy(vector);
}
LANESCOPE_CUDA_API Status cusparseDestroySpMat(const SparseMatrix* matrix) {
  return Call("cusparseDestroySpMat").destroy(matrix);
}
LANESCOPE_CUDA_API Status cusparseDestroyDnMat(const DenseMatrix* matrix) {
  return Call("cusparseDestroyDnMat").destroy(matrix);
}

/// Functions that are there twice, for memory that may be written and for memory that may not: the difference
/// is one of C's types alone. `Create` and `Get` begin their names.
#define LANESCOPE_DESCRIPTORS(Create, Const)                                                                 \
  LANESCOPE_CUDA_API Status Create##SpVec(SparseVector** out, int64_t size, int64_t nnz, void* indices,      \
                                          void* values, IndexType index, Base base, DataType type) {         \
    Call call(#Create "SpVec");                                                                              \
    call.size("size", size).size("nnz", nnz).one_of(index).one_of(base).elements(type);                      \
    if (nnz > size) call.refuse(Status::invalid_value, "nnz is {}, and size {}", nnz, size);                 \
    return call.create(out, {size, nnz, {indices, index}, base, {values, type}});                            \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##SpVecGet(const SparseVector* vector, int64_t* size, int64_t* nnz,         \
                                            void** indices, void** values, IndexType* index, Base* base,     \
                                            DataType* type) {                                                \
    Call call(#Const "SpVecGet");                                                                            \
    if (call.object("the descriptor", vector).is_refused()) return call.status();                            \
    tell(size, vector->size);                                                                                \
    tell(nnz, vector->count);                                                                                \
    tell(indices, vector->indices.data);                                                                     \
    tell(values, vector->values.data);                                                                       \
    tell(index, vector->indices.type);                                                                       \
    tell(base, vector->base);                                                                                \
    tell(type, vector->values.type);                                                                         \
    return Status::success;                                                                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##DnVec(DenseVector** out, int64_t size, void* values, DataType type) {    \
    Call call(#Create "DnVec");                                                                              \
    call.size("size", size).elements(type);                                                                  \
    return call.create(out, {size, {values, type}});                                                         \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##DnVecGet(const DenseVector* vector, int64_t* size, void** values,         \
                                            DataType* type) {                                                \
    Call call(#Const "DnVecGet");                                                                            \
    if (call.object("the descriptor", vector).is_refused()) return call.status();                            \
    tell(size, vector->size);                                                                                \
    tell(values, vector->values.data);                                                                       \
    tell(type, vector->values.type);                                                                         \
    return Status::success;                                                                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##DnMat(DenseMatrix** out, int64_t rows, int64_t cols, int64_t ld,         \
                                          void* values, DataType type, Order order) {                        \
    Call call(#Create "DnMat");                                                                              \
    call.size("rows", rows).size("cols", cols).elements(type).one_of(order);                                 \
    if (ld < (order == Order::column ? rows : cols))                                                         \
      call.refuse(Status::invalid_value, "ld is {}, of a matrix of {} x {}", ld, rows, cols);                \
    return call.create(out, {rows, cols, ld, {values, type}, order, 1, 0});                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##DnMatGet(const DenseMatrix* matrix, int64_t* rows, int64_t* cols,         \
                                            int64_t* ld, void** values, DataType* type, Order* order) {      \
    Call call(#Const "DnMatGet");                                                                            \
    if (call.object("the descriptor", matrix).is_refused()) return call.status();                            \
    tell(rows, matrix->rows);                                                                                \
    tell(cols, matrix->columns);                                                                             \
    tell(ld, matrix->leading);                                                                               \
    tell(values, matrix->values.data);                                                                       \
    tell(type, matrix->values.type);                                                                         \
    tell(order, matrix->order);                                                                              \
    return Status::success;                                                                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##Csr(SparseMatrix** out, int64_t rows, int64_t cols, int64_t nnz,         \
                                        void* offsets, void* columns, void* values, IndexType first,         \
                                        IndexType second, Base base, DataType type) {                        \
    return make(#Create "Csr", out,                                                                          \
                {Format::csr, rows, cols, nnz, {offsets, first}, {columns, second}, {values, type}, base});  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##Csc(SparseMatrix** out, int64_t rows, int64_t cols, int64_t nnz,         \
                                        void* offsets, void* indices, void* values, IndexType first,         \
                                        IndexType second, Base base, DataType type) {                        \
    return make(#Create "Csc", out,                                                                          \
                {Format::csc, rows, cols, nnz, {offsets, first}, {indices, second}, {values, type}, base});  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##Coo(SparseMatrix** out, int64_t rows, int64_t cols, int64_t nnz,         \
                                        void* row, void* column, void* values, IndexType index, Base base,   \
                                        DataType type) {                                                     \
    return make(#Create "Coo", out,                                                                          \
                {Format::coo, rows, cols, nnz, {row, index}, {column, index}, {values, type}, base});        \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Create##Bsr(SparseMatrix** out, int64_t rows, int64_t cols, int64_t nnz,         \
                                        int64_t block_rows, int64_t block_columns, void* offsets,            \
                                        void* columns, void* values, IndexType first, IndexType second,      \
                                        Base base, DataType type, Order order) {                             \
    SparseMatrix matrix{Format::bsr,       rows,           cols, nnz, {offsets, first},                      \
                        {columns, second}, {values, type}, base};                                            \
    matrix.block_rows = block_rows;                                                                          \
    matrix.block_columns = block_columns;                                                                    \
    matrix.block_order = order;                                                                              \
    return make(#Create "Bsr", out, matrix);                                                                 \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##CsrGet(const SparseMatrix* matrix, int64_t* rows, int64_t* cols,          \
                                          int64_t* nnz, void** offsets, void** columns, void** values,       \
                                          IndexType* first, IndexType* second, Base* base, DataType* type) { \
    return get(#Const "CsrGet", matrix, Format::csr, rows, cols, nnz, offsets, columns, values, first,       \
               second, base, type);                                                                          \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##CscGet(const SparseMatrix* matrix, int64_t* rows, int64_t* cols,          \
                                          int64_t* nnz, void** offsets, void** indices, void** values,       \
                                          IndexType* first, IndexType* second, Base* base, DataType* type) { \
    return get(#Const "CscGet", matrix, Format::csc, rows, cols, nnz, offsets, indices, values, first,       \
               second, base, type);                                                                          \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##CooGet(const SparseMatrix* matrix, int64_t* rows, int64_t* cols,          \
                                          int64_t* nnz, void** row, void** column, void** values,            \
                                          IndexType* index, Base* base, DataType* type) {                    \
    return get(#Const "CooGet", matrix, Format::coo, rows, cols, nnz, row, column, values, index, nullptr,   \
               base, type);                                                                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##SpVecGetValues(const SparseVector* vector, void** values) {               \
    return get_values(#Const "SpVecGetValues", vector, values);                                              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##DnVecGetValues(const DenseVector* vector, void** values) {                \
    return get_values(#Const "DnVecGetValues", vector, values);                                              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##SpMatGetValues(const SparseMatrix* matrix, void** values) {               \
    return get_values(#Const "SpMatGetValues", matrix, values);                                              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status Const##DnMatGetValues(const DenseMatrix* matrix, void** values) {                \
    return get_values(#Const "DnMatGetValues", matrix, values);                                              \
  }
LANESCOPE_DESCRIPTORS(cusparseCreate, cusparse)
LANESCOPE_DESCRIPTORS(cusparseCreateConst, cusparseConst)

LANESCOPE_CUDA_API Status cusparseSpVecSetValues(SparseVector* vector, void* values) {
  return set_values("cusparseSpVecSetValues", vector, values);
}
LANESCOPE_CUDA_API Status cusparseDnVecSetValues(DenseVector* vector, void* values) {
  return set_values("cusparseDnVecSetValues", vector, values);
}
LANESCOPE_CUDA_API Status cusparseSpMatSetValues(SparseMatrix* matrix, void* values) {
  return set_values("cusparseSpMatSetValues", matrix, values);
}
LANESCOPE_CUDA_API Status cusparseDnMatSetValues(DenseMatrix* matrix, void* values) {
  return set_values("cusparseDnMatSetValues", matrix, values);
}

LANESCOPE_CUDA_API Status cusparseSpVecGetIndexBase(const SparseVector* vector, Base* base) {
  Call call("cusparseSpVecGetIndexBase");
  if (!call.object("the descriptor", vector).pointer("where it is to be written", base).is_refused())
    *base = vector->base;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSpMatGetIndexBase(const SparseMatrix* matrix, Base* base) {
  Call call("cusparseSpMatGetIndexBase");
  if (!call.object("the descriptor", matrix).pointer("where it is to be written", base).is_refused())
    *base = matrix->base;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSpMatGetFormat(const SparseMatrix* matrix, Format* format) {
  Call call("cusparseSpMatGetFormat");
  if (!call.object("the descriptor", matrix).pointer("where it is to be written", format).is_refused())
    *format = matrix->format;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseSpMatGetSize(const SparseMatrix* matrix, int64_t* rows, int64_t* cols,
                                               int64_t* nnz) {
  Call call("cusparseSpMatGetSize");
  if (call.object("the descriptor", matrix).is_refused()) return call.status();
  tell(rows, matrix->rows);
  tell(cols, matrix->columns);
  tell(nnz, matrix->count);
  return Status::success;
}

LANESCOPE_CUDA_API Status cusparseCsrSetPointers(SparseMatrix* matrix, void* offsets, void* columns,
                                                 void* values) {
  return set_pointers("cusparseCsrSetPointers", matrix, Format::csr, offsets, columns, values);
}
LANESCOPE_CUDA_API Status cusparseCscSetPointers(SparseMatrix* matrix, void* offsets, void* rows,
                                                 void* values) {
  return set_pointers("cusparseCscSetPointers", matrix, Format::csc, offsets, rows, values);
}
LANESCOPE_CUDA_API Status cusparseCooSetPointers(SparseMatrix* matrix, void* rows, void* columns,
                                                 void* values) {
  return set_pointers("cusparseCooSetPointers", matrix, Format::coo, rows, columns, values);
}

LANESCOPE_CUDA_API Status cusparseSpMatGetStridedBatch(const SparseMatrix* matrix, int* batches) {
  Call call("cusparseSpMatGetStridedBatch");
  if (!call.object("the descriptor", matrix).pointer("where it is to be written", batches).is_refused())
    *batches = matrix->batches;
  return call.status();
}
LANESCOPE_CUDA_API Status cusparseCooSetStridedBatch(SparseMatrix* matrix, int batches, int64_t stride) {
  return set_batch("cusparseCooSetStridedBatch", matrix, Format::coo, batches, stride, stride, stride);
}
LANESCOPE_CUDA_API Status cusparseCsrSetStridedBatch(SparseMatrix* matrix, int batches, int64_t offsets,
                                                     int64_t elements) {
  return set_batch("cusparseCsrSetStridedBatch", matrix, Format::csr, batches, offsets, elements, elements);
}
LANESCOPE_CUDA_API Status cusparseBsrSetStridedBatch(SparseMatrix* matrix, int batches, int64_t offsets,
                                                     int64_t columns, int64_t values) {
  return set_batch("cusparseBsrSetStridedBatch", matrix, Format::bsr, batches, offsets, columns, values);
}
LANESCOPE_CUDA_API Status cusparseDnMatSetStridedBatch(DenseMatrix* matrix, int batches, int64_t stride) {
  Call call("cusparseDnMatSetStridedBatch");
  call.object("the descriptor", matrix).size("the stride", stride);
  if (batches < 1) call.refuse(Status::invalid_value, "the batch has {} matrices", batches);
  if (call.is_refused()) return call.status();
  matrix->batches = batches;
  matrix->stride = stride;
  return Status::success;
}
LANESCOPE_CUDA_API Status cusparseDnMatGetStridedBatch(const DenseMatrix* matrix, int* batches,
                                                       int64_t* stride) {
  Call call("cusparseDnMatGetStridedBatch");
  if (call.object("the descriptor", matrix).is_refused()) return call.status();
  tell(batches, matrix->batches);
  tell(stride, matrix->stride);
  return Status::success;
}

LANESCOPE_CUDA_API Status cusparseSpMatGetAttribute(const SparseMatrix* matrix, Attribute attribute,
                                                    void* data, size_t bytes) {
  Call call("cusparseSpMatGetAttribute");
  call.object("the descriptor", matrix).pointer("where it is to be written", data);
  if (!is_between(attribute, Attribute::fill, Attribute::diagonal) || bytes != sizeof(int))
    call.refuse(Status::invalid_value, "there is no attribute {} of {} bytes", static_cast<int>(attribute),
                bytes);
  if (call.is_refused()) return call.status();
  const int value =
      attribute == Attribute::fill ? static_cast<int>(matrix->fill) : static_cast<int>(matrix->diagonal);
  std::memcpy(data, &value, sizeof value);
  return Status::success;
}
LANESCOPE_CUDA_API Status cusparseSpMatSetAttribute(SparseMatrix* matrix, Attribute attribute,
                                                    const void* data, size_t bytes) {
  Call call("cusparseSpMatSetAttribute");
  call.object("the descriptor", matrix).pointer("the value's address", data);
  if (!is_between(attribute, Attribute::fill, Attribute::diagonal) || bytes != sizeof(int))
    call.refuse(Status::invalid_value, "there is no attribute {} of {} bytes", static_cast<int>(attribute),
                bytes);
  if (call.is_refused()) return call.status();
  int value = 0;
  std::memcpy(&value, data, sizeof value);
  if (value != 0 && value != 1)
    return call.refuse(Status::invalid_value, "{} is no value of that attribute", value).status();
  if (attribute == Attribute::fill)
    matrix->fill = static_cast<Fill>(value);
  else
    matrix->diagonal = static_cast<Diagonal>(value);
  return Status::success;
}

}  // namespace lanescope::cuda::sparse
