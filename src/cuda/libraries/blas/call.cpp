// See call.hpp.
#include "cuda/libraries/blas/call.hpp"

namespace lanescope::cuda::blas {

Call::Call(const Handle* handle, const char* name) : name_(name) {
  if (is_handle(handle)) {
    stream_ = handle->stream;
    mode_ = handle->pointer_mode;
  } else {
    refuse(
        handle == nullptr ? "its handle is null" : "its handle is none that cublasCreate made, or destroyed",
        Status::not_initialized);
  }
}

Call& Call::refuse(const std::string& why, Status status) {
  if (is_refused()) return *this;
  status_ = libraries::refuse(name_, status, "{}", why);
  return *this;
}

Call& Call::size(const char* what, int64_t value) {
  return value >= 0 ? *this : refuse(fmt::format("{} is {}, and must not be negative", what, value));
}

Call& Call::step(const char* what, int64_t value) {
  return value != 0 ? *this : refuse(fmt::format("{} is 0", what));
}

Call& Call::leading(const char* what, int64_t value, int64_t rows) {
  if (value >= std::max<int64_t>(rows, 1)) return *this;
  return refuse(fmt::format("{} is {}; of a matrix of {} rows it must be at least {}", what, value, rows,
                            std::max<int64_t>(rows, 1)));
}

Call& Call::pointer(const char* what, const void* value, Status status) {
  return value != nullptr ? *this : refuse(fmt::format("{} is null", what), status);
}

Call& Call::one_of(Operation operation, bool conjugate) {
  return operation >= Operation::none && operation <= (conjugate ? Operation::conjugate : Operation::adjoint)
             ? *this
             : refuse(fmt::format("{} is no cublasOperation_t", static_cast<int>(operation)));
}

Call& Call::one_of(Fill fill) {
  return fill == Fill::lower || fill == Fill::upper
             ? *this
             : refuse(fmt::format("the fill mode is {}, neither CUBLAS_FILL_MODE_LOWER nor …_UPPER",
                                  static_cast<int>(fill)));
}

Call& Call::one_of(Diagonal diagonal) {
  return diagonal == Diagonal::stored || diagonal == Diagonal::unit
             ? *this
             : refuse(fmt::format("{} is no cublasDiagType_t", static_cast<int>(diagonal)));
}

Call& Call::one_of(Side side) {
  return side == Side::left || side == Side::right
             ? *this
             : refuse(fmt::format("{} is no cublasSideMode_t", static_cast<int>(side)));
}

Status Call::wait() const { return of_runtime(libraries::wait(stream_)); }

}  // namespace lanescope::cuda::blas
