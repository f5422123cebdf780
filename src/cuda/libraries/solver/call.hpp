// One call of a function of cuSOLVER: its arguments are looked at when it is made, its work is given to the
// stream of its handle.
#pragma once

#include <utility>

#include "cuda/libraries/checked_call.hpp"
#include "cuda/libraries/elements.hpp"
#include "cuda/libraries/solver/dense.hpp"
#include "cuda/libraries/solver/types.hpp"

namespace lanescope::cuda::solver {

using libraries::Complex;
using libraries::IndexType;
using libraries::Indices;
using libraries::Memory;
using libraries::objects;
using libraries::reach;
using libraries::Values;
using libraries::with_numbers;

/// What functions say that tell how much room they want: none is, but sizes of 0 are an error to some
/// programs.
inline constexpr int work_size = 256;

/// What cusolverDnCreate makes.
struct Handle {
  Stream* stream = nullptr;
  int deterministic_mode = 1, math_mode = 1, emulation_strategy = 0;  ///< hints, which change nothing here
};
/// What cusolverSpCreate makes.
struct SparseHandle {
  Stream* stream = nullptr;
};
/// What cusolverDnCreateParams makes. Algorithms are hints.
struct Params {};
/// What cusolverDnCreateSyevjInfo makes, and cusolverDnCreateGesvdjInfo: hints again.
struct JacobiInfo {
  double tolerance = 0;
  int sweeps = 100, sort = 1;
};
struct SyevjInfo : JacobiInfo {};
struct GesvdjInfo : JacobiInfo {};

/// A matrix of the device's memory, by columns; or one of several that lie `stride` elements apart.
struct Panel {
  int64_t rows = 0, columns = 0, leading = 0;
  Values values;
  int64_t stride = 0;

  /// Elements of memory from the first to the last, of one matrix.
  [[nodiscard]] int64_t extent() const {
    return rows == 0 || columns == 0 ? 0 : (columns - 1) * leading + rows;
  }
  [[nodiscard]] Panel at(int64_t batch) const {
    Panel one = *this;
    one.values = values.from(batch * stride);
    return one;
  }
};
inline void reach(const Memory& memory, const char* what, const Panel& panel, bool write) {
  reach(memory, what, panel.values, panel.extent(), write);
}
template <typename Number>
Matrix<Number> load(const Panel& panel) {
  Matrix<Number> out(panel.rows, panel.columns);
  for (int64_t j = 0; j < panel.columns; ++j)
    for (int64_t i = 0; i < panel.rows; ++i) out(i, j) = panel.values.load<Number>(i + j * panel.leading);
  return out;
}
/// What `is_wanted(i, j)` of a matrix: all that fits, if it is not given.
template <typename Number, typename IsWanted>
void store(const Panel& panel, const Matrix<Number>& from, const IsWanted& is_wanted) {
  for (int64_t j = 0; j < panel.columns; ++j)
    for (int64_t i = 0; i < panel.rows; ++i)
      if (is_wanted(i, j)) panel.values.store(i + j * panel.leading, from(i, j));
}
template <typename Number>
void store(const Panel& panel, const Matrix<Number>& from) {
  store(panel, from, [](int64_t, int64_t) { return true; });
}
/// Of a symmetric or Hermitian matrix, or a triangle, the part that is stored: as a lower triangle, with
/// zeros above it.
template <typename Number>
Matrix<Number> load_lower(const Panel& panel, Fill fill) {
  Matrix<Number> out = Matrix<Number>::Zero(panel.rows, panel.columns);
  for (int64_t j = 0; j < panel.columns; ++j)
    for (int64_t i = j; i < panel.rows; ++i) {
      const auto& values = panel.values;
      out(i, j) = fill == Fill::lower ? values.load<Number>(i + j * panel.leading)
                                      : libraries::conjugate(values.load<Number>(j + i * panel.leading));
    }
  return out;
}
template <typename Number>
void store_lower(const Panel& panel, Fill fill, const Matrix<Number>& from) {
  for (int64_t j = 0; j < panel.columns; ++j)
    for (int64_t i = j; i < panel.rows; ++i) {
      if (fill == Fill::lower)
        panel.values.store(i + j * panel.leading, from(i, j));
      else
        panel.values.store(j + i * panel.leading, libraries::conjugate(from(i, j)));
    }
}

// What numbers in memory are, by their address.
inline Values values_at(const float* data) { return {const_cast<float*>(data), DataType::real_32f}; }
inline Values values_at(const double* data) { return {const_cast<double*>(data), DataType::real_64f}; }
inline Values values_at(const std::complex<float>* data) {
  return {const_cast<std::complex<float>*>(data), DataType::complex_32f};
}
inline Values values_at(const std::complex<double>* data) {
  return {const_cast<std::complex<double>*>(data), DataType::complex_64f};
}
inline Values values_at(const void* data, DataType type) { return {const_cast<void*>(data), type}; }
inline Indices pivots_at(const int* data) { return {const_cast<int*>(data), IndexType::signed_32}; }
inline Indices pivots_at(const int64_t* data) { return {const_cast<int64_t*>(data), IndexType::signed_64}; }
/// Of the absolute values of such numbers.
inline DataType real_of(DataType type) {
  return type == DataType::complex_32f   ? DataType::real_32f
         : type == DataType::complex_64f ? DataType::real_64f
                                         : type;
}

class Call : public libraries::CheckedCall<Call, Status> {
 public:
  Call(const Handle* handle, const char* name) : CheckedCall(name) {
    take_handle(handle, Status::not_initialized, "cusolverDnCreate");
  }
  Call(const SparseHandle* handle, const char* name) : CheckedCall(name) {
    take_handle(handle, Status::not_initialized, "cusolverSpCreate");
  }
  /// Of a function that has no handle, and no work for a stream.
  explicit Call(const char* name) : CheckedCall(name) {}

  // Each looks at one argument, and refuses the call if it makes no sense.
  Call& one_of(Operation operation);
  Call& one_of(Fill fill);
  Call& one_of(Side side);
  Call& one_of(Diagonal diagonal);
  Call& one_of(Vectors vectors);
  /// A matrix: its sizes, its type and the distance of its columns, which `leading` names.
  Call& panel(const char* leading, const Panel& panel);
  /// That two arguments are of types that go together.
  Call& types(const char* what, DataType found, DataType wanted);
  /// Null stands for what is usual.
  Call& params(const Params* params) { return params == nullptr ? *this : object("params", params); }

  // The answers of functions that tell how much room is wanted.
  Status tell_size(int* elements) { return tell(elements); }
  Status tell_size(size_t* bytes) { return tell(bytes); }
  Status tell_size(size_t* on_device, size_t* on_host) {
    tell(on_device);
    return tell(on_host);
  }

  /// Puts work(memory, Number()) into the stream, unless the call is refused: `type` tells what is computed
  /// with.
  template <typename Work>
  Status submit(DataType type, Work work) const {
    const bool complex = libraries::is_complex(type);
    return give([complex, work = std::move(work)](const Memory& memory) {
      with_numbers(complex, [&](auto zero) { work(memory, zero); });
    });
  }

  /// The same, and waits for it: the host is told something.
  template <typename Work>
  Status submit_and_wait(DataType type, Work work) const {
    return wait_after(submit(type, std::move(work)));
  }

  /// After what has been given to the stream: until it is done.
  [[nodiscard]] Status wait(Status status) const { return wait_after(status); }

 private:
  template <typename T>
  Status tell(T* size) {
    if (!pointer("where the size is to be written", size).is_refused()) *size = work_size;
    return status();
  }
};

}  // namespace lanescope::cuda::solver

/// For each type, with its letter, that of its absolute values, and what names call symmetric matrices and
/// orthogonal ones.
#define LANESCOPE_SOLVER_TYPES(F)                    \
  F(S, float, float, sy, orgqr, ormqr)               \
  F(D, double, double, sy, orgqr, ormqr)             \
  F(C, std::complex<float>, float, he, ungqr, unmqr) \
  F(Z, std::complex<double>, double, he, ungqr, unmqr)
