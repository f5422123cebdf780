// One call of a function of cuBLAS: its arguments are looked at when it is made, its work is given to the
// stream of its handle.
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/libraries/blas/types.hpp"
#include "cuda/libraries/checked_call.hpp"

namespace lanescope::cuda::blas {

using libraries::Memory;

/// What cublasCreate makes.
struct Handle {
  Stream* stream = nullptr;
  PointerMode pointer_mode = PointerMode::host;
  int atomics_mode = 0, math_mode = 0, multiprocessors = 0;  ///< hints, which change nothing here
};

/// A number that the program gave by its address: in the host's memory, which is read when the call is made,
/// or in the device's, which is read when its turn in the stream has come.
template <typename T>
class Scalar {
 public:
  Scalar(const T* address, PointerMode mode) : address_(mode == PointerMode::device ? address : nullptr) {
    if (mode == PointerMode::host && address != nullptr) value_ = *address;
  }
  [[nodiscard]] T in(const Memory& memory) const {
    return address_ != nullptr ? *memory.read("a scalar", address_, 1) : value_;
  }

 private:
  const T* address_;
  T value_{};
};

/// Elements that lie `step` apart; with a negative one the first is the last in memory.
template <typename T>
struct Strided {
  T* first = nullptr;
  int64_t step = 1;
  T& operator[](int64_t i) const { return first[i * step]; }
};

class Call : public libraries::CheckedCall<Call, Status> {
 public:
  Call(const Handle* handle, const char* name);
  /// Without a handle, of cuBLASLt.
  Call(const char* name, Stream* stream, PointerMode mode) : CheckedCall(name), mode_(mode) {
    take_stream(stream);
  }

  // Each looks at one argument, and refuses the call if it makes no sense.
  Call& step(const char* what, int64_t value);
  /// The distance of columns, of a matrix with so many rows.
  Call& leading(const char* what, int64_t value, int64_t rows);
  /// `conjugate`: whether that is one, which products of matrices do not know.
  Call& one_of(Operation operation, bool conjugate = false);
  Call& one_of(Fill fill);
  Call& one_of(Diagonal diagonal);
  Call& one_of(Side side);

  template <typename T>
  [[nodiscard]] Scalar<T> scalar(const T* address) const {
    return Scalar<T>(address, mode_);
  }

  /// Puts work(memory) into the stream, unless the call is refused.
  template <typename Work>
  Status submit(Work&& work) const {
    return give(std::forward<Work>(work));
  }
  /// The same for work(memory) that gives a number, where the handle's mode says that it goes.
  template <typename T, typename Work>
  Status submit_for(T* result, Work&& work) const {
    return give_for(mode_, result, std::forward<Work>(work));
  }

 private:
  PointerMode mode_ = PointerMode::host;  ///< of its handle, if that is one
};

template <typename T>
Strided<const T> read(const Memory& memory, const char* what, const T* x, int64_t count, int64_t step) {
  if (count > 0) memory.read(what, x, (count - 1) * std::abs(step) + 1);
  return {step < 0 ? x - (count - 1) * step : x, step};
}
template <typename T>
Strided<T> write(const Memory& memory, const char* what, T* x, int64_t count, int64_t step) {
  if (count > 0) memory.write(what, x, (count - 1) * std::abs(step) + 1);
  return {step < 0 ? x - (count - 1) * step : x, step};
}

}  // namespace lanescope::cuda::blas

/// A function of cuBLAS's C interface, and its twin of CUDA 12 with 64-bit sizes: `Int` in its parameters is
/// int or int64_t. The expression may use `call`; the first parameter is `handle`.
#define LANESCOPE_CUBLAS_NAMED(symbol, symbol_64, name, parameters, ...) \
  namespace with_int {                                                   \
  using Int = int;                                                       \
  LANESCOPE_CUDA_API Status symbol parameters {                          \
    Call call(handle, name);                                             \
    return __VA_ARGS__;                                                  \
  }                                                                      \
  }                                                                      \
  namespace with_int64 {                                                 \
  using Int = int64_t;                                                   \
  LANESCOPE_CUDA_API Status symbol_64 parameters {                       \
    Call call(handle, name);                                             \
    return __VA_ARGS__;                                                  \
  }                                                                      \
  }
#define LANESCOPE_CUBLAS(name, parameters, ...) \
  LANESCOPE_CUBLAS_NAMED(cublas##name, cublas##name##_64, "cublas" #name, parameters, __VA_ARGS__)
/// Those that had another meaning in the first interface: the headers give them a suffix.
#define LANESCOPE_CUBLAS_V2(name, parameters, ...) \
  LANESCOPE_CUBLAS_NAMED(cublas##name##_v2, cublas##name##_v2_64, "cublas" #name, parameters, __VA_ARGS__)

/// For each type that BLAS knows, with its letter.
#define LANESCOPE_BLAS_REAL(F)    F(S, float) F(D, double)
#define LANESCOPE_BLAS_COMPLEX(F) F(C, std::complex<float>) F(Z, std::complex<double>)
#define LANESCOPE_BLAS_ALL(F)     LANESCOPE_BLAS_REAL(F) LANESCOPE_BLAS_COMPLEX(F)
