// See call.hpp.
#include "cuda/libraries/blas/call.hpp"

namespace lanescope::cuda::blas {

Call::Call(const Handle* handle, const char* name) : CheckedCall(name) {
  if (take_handle(handle, Status::not_initialized, "cublasCreate")) mode_ = handle->pointer_mode;
}

Call& Call::step(const char* what, int64_t value) {
  return value != 0 ? *this : refuse(Status::invalid_value, "{} is 0", what);
}

Call& Call::leading(const char* what, int64_t value, int64_t rows) {
  const auto least = std::max<int64_t>(rows, 1);
  if (value >= least) return *this;
  return refuse(Status::invalid_value, "{} is {}; of a matrix of {} rows it must be at least {}", what, value,
                rows, least);
}

Call& Call::one_of(Operation operation, bool conjugate) {
  return between(operation, Operation::none, conjugate ? Operation::conjugate : Operation::adjoint,
                 "cublasOperation_t");
}

Call& Call::one_of(Fill fill) {
  if (is_between(fill, Fill::lower, Fill::upper)) return *this;
  return refuse(Status::invalid_value, "the fill mode is {}, neither CUBLAS_FILL_MODE_LOWER nor …_UPPER",
                static_cast<int>(fill));
}

Call& Call::one_of(Diagonal diagonal) {
  return between(diagonal, Diagonal::stored, Diagonal::unit, "cublasDiagType_t");
}

Call& Call::one_of(Side side) { return between(side, Side::left, Side::right, "cublasSideMode_t"); }

}  // namespace lanescope::cuda::blas
