// Vectors and matrices between the host and the device: copies of the runtime.
#include "cuda/libraries/blas/types.hpp"

namespace {
using lanescope::cuda::CopyKind;
using RuntimeStatus = lanescope::cuda::Status;
}  // namespace

LANESCOPE_CUDA_API RuntimeStatus cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                                   size_t source_pitch, size_t width, size_t height,
                                                   CopyKind kind, lanescope::cuda::Stream* stream);
LANESCOPE_CUDA_API RuntimeStatus cudaMemcpy2D(void* target, size_t target_pitch, const void* source,
                                              size_t source_pitch, size_t width, size_t height,
                                              CopyKind kind);

namespace lanescope::cuda::blas {
namespace {

/// Columns of `rows` elements, as far apart as `from` and `to` say: a vector has columns of one element.
struct Columns {
  int64_t rows, count, element_bytes;
  const void* source;
  int64_t from;
  void* target;
  int64_t to;
  CopyKind kind;
};

/// `stream`: null waits for the copy.
Status transfer(const Columns& columns, Stream* const* stream) {
  const auto& [rows, count, bytes, source, from, target, to, kind] = columns;
  if (bytes <= 0 || from < 1 || to < 1) return Status::invalid_value;
  if (rows < 0 || count < 0 || from < rows || to < rows) return Status::mapping_error;  // as on an H100
  if (rows == 0 || count == 0) return Status::success;
  const auto size = [one = columns.element_bytes](int64_t elements) {
    return static_cast<size_t>(elements * one);
  };
  const RuntimeStatus status =
      stream != nullptr
          ? cudaMemcpy2DAsync(target, size(to), source, size(from), size(rows), static_cast<size_t>(count),
                              kind, *stream)
          : cudaMemcpy2D(target, size(to), source, size(from), size(rows), static_cast<size_t>(count), kind);
  return status == RuntimeStatus::success ? Status::success : Status::mapping_error;
}

}  // namespace

#define TRANSFERS(suffix, Int)                                                                               \
  LANESCOPE_CUDA_API Status cublasSetVector##suffix(Int n, Int bytes, const void* x, Int incx, void* y,      \
                                                    Int incy) {                                              \
    return transfer({1, n, bytes, x, incx, y, incy, CopyKind::host_to_device}, nullptr);                     \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasGetVector##suffix(Int n, Int bytes, const void* x, Int incx, void* y,      \
                                                    Int incy) {                                              \
    return transfer({1, n, bytes, x, incx, y, incy, CopyKind::device_to_host}, nullptr);                     \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasSetVectorAsync##suffix(Int n, Int bytes, const void* x, Int incx, void* y, \
                                                         Int incy, Stream* stream) {                         \
    return transfer({1, n, bytes, x, incx, y, incy, CopyKind::host_to_device}, &stream);                     \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasGetVectorAsync##suffix(Int n, Int bytes, const void* x, Int incx, void* y, \
                                                         Int incy, Stream* stream) {                         \
    return transfer({1, n, bytes, x, incx, y, incy, CopyKind::device_to_host}, &stream);                     \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasSetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a,         \
                                                    Int lda, void* b, Int ldb) {                             \
    return transfer({rows, columns, bytes, a, lda, b, ldb, CopyKind::host_to_device}, nullptr);              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasGetMatrix##suffix(Int rows, Int columns, Int bytes, const void* a,         \
                                                    Int lda, void* b, Int ldb) {                             \
    return transfer({rows, columns, bytes, a, lda, b, ldb, CopyKind::device_to_host}, nullptr);              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasSetMatrixAsync##suffix(Int rows, Int columns, Int bytes, const void* a,    \
                                                         Int lda, void* b, Int ldb, Stream* stream) {        \
    return transfer({rows, columns, bytes, a, lda, b, ldb, CopyKind::host_to_device}, &stream);              \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cublasGetMatrixAsync##suffix(Int rows, Int columns, Int bytes, const void* a,    \
                                                         Int lda, void* b, Int ldb, Stream* stream) {        \
    return transfer({rows, columns, bytes, a, lda, b, ldb, CopyKind::device_to_host}, &stream);              \
  }
TRANSFERS(, int)
TRANSFERS(_64, int64_t)

}  // namespace lanescope::cuda::blas
