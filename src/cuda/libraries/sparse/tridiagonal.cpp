// Systems with a matrix of three diagonals: gtsv2, with and without pivoting, and batches of them.
#include <vector>

#include "cuda/libraries/sparse/call.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// What is below, on and above the diagonal, element i of row i each.
struct Diagonals {
  Values below, on, above;
};

template <typename Number>
class Tridiagonal {
 public:
  Tridiagonal(const Diagonals& from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      below_.push_back(from.below.load<Number>(i));
      on_.push_back(from.on.load<Number>(i));
      above_.push_back(from.above.load<Number>(i));
    }
    beyond_.assign(static_cast<size_t>(count), Number(0));
  }

  /// Solves it for the right sides that the columns of b are, by elimination. Once.
  void solve(std::vector<std::vector<Number>>& b, bool pivoting) {
    const size_t count = on_.size();
    for (size_t i = 0; i + 1 < count; ++i) {
      if (pivoting && std::abs(on_[i]) < std::abs(below_[i + 1])) {
        // The next row comes first, which reaches one column farther.
        std::swap(on_[i], below_[i + 1]);
        std::swap(above_[i], on_[i + 1]);
        if (i + 2 < count) std::swap(beyond_[i], above_[i + 1]);
        for (auto& column : b) std::swap(column[i], column[i + 1]);
      }
      const Number factor = below_[i + 1] / on_[i];
      on_[i + 1] -= factor * above_[i];
      if (i + 2 < count) above_[i + 1] -= factor * beyond_[i];
      for (auto& column : b) column[i + 1] -= factor * column[i];
    }
    for (auto& column : b)
      for (size_t i = count; i-- > 0;) {
        if (i + 1 < count) column[i] -= above_[i] * column[i + 1];
        if (i + 2 < count) column[i] -= beyond_[i] * column[i + 2];
        column[i] /= on_[i];
      }
  }

 private:
  std::vector<Number> below_, on_, above_, beyond_;
};

/// `sides` columns, `step` elements apart, of `batch` matrices, whose diagonals and columns lie `stride`
/// apart.
struct TridiagonalSystem {
  Diagonals matrix;
  Values b;
  int64_t count, sides, step;
  int64_t batch, stride;
  bool pivoting;
};

template <typename Number>
void solve(const Memory& memory, const TridiagonalSystem& system) {
  const int64_t all = system.batch == 0 ? 0 : (system.batch - 1) * system.stride + system.count;
  reach(memory, "dl", system.matrix.below, all, false);
  reach(memory, "d", system.matrix.on, all, false);
  reach(memory, "du", system.matrix.above, all, false);
  for (int64_t batch = 0; batch < system.batch; ++batch) {
    const int64_t at = batch * system.stride;
    Tridiagonal<Number> matrix(
        {system.matrix.below.from(at), system.matrix.on.from(at), system.matrix.above.from(at)},
        system.count);
    std::vector<std::vector<Number>> b;
    for (int64_t side = 0; side < system.sides; ++side) {
      const Values from = system.b.from(at + side * system.step);
      reach(memory, "the right sides", from, system.count, true);
      auto& column = b.emplace_back();
      for (int64_t i = 0; i < system.count; ++i) column.push_back(from.load<Number>(i));
    }
    matrix.solve(b, system.pivoting);
    for (int64_t side = 0; side < system.sides; ++side)
      for (int64_t i = 0; i < system.count; ++i)
        system.b.store(at + side * system.step + i, b[static_cast<size_t>(side)][static_cast<size_t>(i)]);
  }
}

TridiagonalSystem system_of(Call& call, int m, const void* below, const void* on, const void* above,
                            const void* b, DataType type) {
  if (m < 3) call.refuse(Status::invalid_value, "m is {}, and must be at least 3", m);
  call.pointer("dl", below).pointer("d", on).pointer("du", above).pointer("the right sides", b);
  const auto values = [type](const void* data) { return Values{const_cast<void*>(data), type}; };
  return {{values(below), values(on), values(above)}, values(b), m, 1, m, 1, 0, false};
}

TridiagonalSystem columns_of(Call& call, int m, int n, const void* below, const void* on, const void* above,
                             const void* b, int ldb, DataType type, bool pivoting) {
  TridiagonalSystem system = system_of(call, m, below, on, above, b, type);
  call.size("n", n);
  if (ldb < m) call.refuse(Status::invalid_value, "ldb is {}, of {} rows", ldb, m);
  system.sides = n;
  system.step = ldb;
  system.pivoting = pivoting;
  return system;
}

TridiagonalSystem batch_of(Call& call, int m, const void* below, const void* on, const void* above,
                           const void* x, int count, int stride, DataType type) {
  TridiagonalSystem system = system_of(call, m, below, on, above, x, type);
  call.size("batchCount", count);
  if (stride < m) call.refuse(Status::invalid_value, "batchStride is {}, of {} rows", stride, m);
  system.batch = count;
  system.stride = stride;
  return system;
}

Status submit(const Call& call, const TridiagonalSystem& system) {
  return call.submit([system](const Memory& memory) {
    with_numbers(is_complex(system.b.type), [&](auto zero) { solve<decltype(zero)>(memory, system); });
  });
}

}  // namespace

#define LANESCOPE_COLUMNS(name, T, type, pivoting)                                                         \
  LANESCOPE_CUDA_API Status name##_bufferSizeExt(Handle* handle, int m, int n, const T* dl, const T* d,    \
                                                 const T* du, const T* b, int ldb, size_t* bytes) {        \
    Call call(handle, #name "_bufferSizeExt");                                                             \
    columns_of(call, m, n, dl, d, du, b, ldb, type, pivoting);                                             \
    return call.tell_size(bytes);                                                                          \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status name(Handle* handle, int m, int n, const T* dl, const T* d, const T* du, T* b, \
                                 int ldb, void*) {                                                         \
    Call call(handle, #name);                                                                              \
    return submit(call, columns_of(call, m, n, dl, d, du, b, ldb, type, pivoting));                        \
  }
#define LANESCOPE_TRIDIAGONAL(P, T, type)                                                                \
  LANESCOPE_COLUMNS(cusparse##P##gtsv2, T, type, true)                                                   \
  LANESCOPE_COLUMNS(cusparse##P##gtsv2_nopivot, T, type, false)                                          \
  LANESCOPE_CUDA_API Status cusparse##P##gtsv2StridedBatch_bufferSizeExt(                                \
      Handle* handle, int m, const T* dl, const T* d, const T* du, const T* x, int count, int stride,    \
      size_t* bytes) {                                                                                   \
    Call call(handle, "cusparse" #P "gtsv2StridedBatch_bufferSizeExt");                                  \
    batch_of(call, m, dl, d, du, x, count, stride, type);                                                \
    return call.tell_size(bytes);                                                                        \
  }                                                                                                      \
  LANESCOPE_CUDA_API Status cusparse##P##gtsv2StridedBatch(                                              \
      Handle* handle, int m, const T* dl, const T* d, const T* du, T* x, int count, int stride, void*) { \
    Call call(handle, "cusparse" #P "gtsv2StridedBatch");                                                \
    return submit(call, batch_of(call, m, dl, d, du, x, count, stride, type));                           \
  }
LANESCOPE_SPARSE_TYPES(LANESCOPE_TRIDIAGONAL)

}  // namespace lanescope::cuda::sparse
