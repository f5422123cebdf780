// cusolverSp: one system of equations whose matrix is in CSR, solved at once. Eigen does it: by LU factors,
// which say the least about a matrix without an inverse, by QR factors where those have a pivot of nothing,
// or by Cholesky's. Whether the matrix lies in the device's memory or the host's, the result is told to the
// host.
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/libraries/solver/call.hpp"
#include "cuda/libraries/solver/dense.hpp"

namespace lanescope::cuda::solver {

namespace {

template <typename Number>
using SparseColumns = Eigen::SparseMatrix<Number, Eigen::ColMajor>;

/// A x = b, of m equations with n unknowns. Indices are from 0 or 1 on, which the first of `rows` tells, as
/// the descriptor does that is not looked at: it is an object of cuSPARSE.
struct SparseSystem {
  int64_t m = 0, n = 0, count = 0;
  Indices rows, columns;
  Values values, b, x;
  double tolerance = 0;  ///< pivots that are not larger are taken for 0

  void reach(const Memory& memory) const {
    libraries::reach(memory, "the offsets of rows", rows, m + 1, false);
    libraries::reach(memory, "the columns", columns, count, false);
    libraries::reach(memory, "A", values, count, false);
    libraries::reach(memory, "b", b, m, false);
    libraries::reach(memory, "x", x, n, true);
  }
  template <typename Number>
  [[nodiscard]] SparseColumns<Number> matrix() const {
    const int64_t base = rows[0];
    std::vector<Eigen::Triplet<Number>> elements;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t k = rows[i] - base; k < rows[i + 1] - base; ++k) {
        if (k < 0 || k >= count)
          throw libraries::Astray{fmt::format("finds element {} in row {}; there are {}", k, i, count)};
        const int64_t j = columns[k] - base;
        if (j < 0 || j >= n)
          throw libraries::Astray{
              fmt::format("finds column {} at element {}; with indices from {} on, there are {}", columns[k],
                          k, base, n)};
        elements.emplace_back(static_cast<int>(i), static_cast<int>(j), values.load<Number>(k));
      }
    SparseColumns<Number> out(m, n);
    out.setFromTriplets(elements.begin(), elements.end());
    return out;
  }
  template <typename Number>
  [[nodiscard]] Column<Number> right_side() const {
    Column<Number> out(m);
    for (int64_t i = 0; i < m; ++i) out(i) = b.load<Number>(i);
    return out;
  }
  template <typename Number>
  void store(const Column<Number>& found) const {
    for (int64_t i = 0; i < n; ++i) x.store(i, found(i));
  }
};

constexpr int has_inverse = -1;
template <typename Number>
using QrFactors = Eigen::SparseQR<SparseColumns<Number>, Eigen::COLAMDOrdering<int>>;

/// The first of R's diagonal that is not larger than the tolerance; those of Eigen's that are nothing come
/// last.
template <typename Number>
int first_small(const QrFactors<Number>& qr, double tolerance) {
  const auto size = static_cast<int>(std::min(qr.rows(), qr.cols())), rank = static_cast<int>(qr.rank());
  for (int i = 0; i < rank; ++i)
    if (std::abs(qr.matrixR().coeff(i, i)) <= tolerance) return i;
  return rank < size ? rank : has_inverse;
}

/// What the functions of LU and QR do alike; the result is where the factors find that there is no inverse.
template <typename Number>
int solve_general(const SparseSystem& system) {
  SparseColumns<Number> a = system.matrix<Number>();
  const Column<Number> b = system.right_side<Number>();
  Eigen::SparseLU<SparseColumns<Number>, Eigen::COLAMDOrdering<int>> lu;
  lu.compute(a);
  if (lu.info() == Eigen::Success) {
    const Column<Number> x = lu.solve(b);
    // Rounding leaves a pivot of something where there should be nothing.
    const double trusted = 1e-3 / std::numeric_limits<double>::epsilon();
    const bool is_sure = x.allFinite() && a.norm() * x.norm() <= trusted * std::max(b.norm(), 1e-300);
    if (is_sure && system.tolerance < 1e-6 * a.norm()) {
      system.store(x);
      return has_inverse;
    }
  }
  a.makeCompressed();
  const QrFactors<Number> qr(a);
  system.store(Column<Number>(qr.solve(b)));
  return first_small(qr, system.tolerance);
}

/// The first pivot of Cholesky's factors that is not larger than the tolerance.
template <typename Factors>
int first_not_positive(const Factors& factors, double tolerance) {
  const auto pivots = factors.vectorD().real().eval();
  for (int i = 0; i < pivots.size(); ++i)
    if (!(pivots(i) > tolerance * tolerance)) return i;
  return has_inverse;
}

/// Of a symmetric or Hermitian matrix the lower triangle is read.
template <typename Number>
int solve_positive(const SparseSystem& system) {
  const SparseColumns<Number> a = system.matrix<Number>();
  const Eigen::SimplicialLDLT<SparseColumns<Number>, Eigen::Lower> factors(a);
  if (factors.info() == Eigen::Success && first_not_positive(factors, system.tolerance) == has_inverse) {
    system.store(Column<Number>(factors.solve(system.right_side<Number>())));
    return has_inverse;
  }
  // Which pivot it is depends on the order of the unknowns: it is told in the program's.
  const Eigen::SimplicialLDLT<SparseColumns<Number>, Eigen::Lower, Eigen::NaturalOrdering<int>> in_order(a);
  const int found = first_not_positive(in_order, system.tolerance);
  return found == has_inverse ? static_cast<int>(system.n) - 1 : found;
}

enum class Method { general, positive };
int solve_sparse(const SparseSystem& system, Method method) {
  return with_numbers(libraries::is_complex(system.values.type), [&](auto zero) {
    using Number = decltype(zero);
    return method == Method::general ? solve_general<Number>(system) : solve_positive<Number>(system);
  });
}

Call& look_at(Call& call, const SparseSystem& system, const void* descriptor, const void* told) {
  return call.size("m", system.m)
      .size("n", system.n)
      .size("nnz", system.count)
      .pointer("descrA", descriptor)
      .pointer("csrRowPtrA", system.rows.data)
      .pointer("b", system.b.data)
      .pointer("x", system.x.data)
      .pointer("where the result is to be told", told);
}

Status solve_on_device(Call& call, const SparseSystem& system, const void* descriptor, int* singularity,
                       Method method) {
  look_at(call, system, descriptor, singularity);
  return call.submit_and_wait(system.values.type, [=](const Memory& memory, auto) {
    system.reach(memory);
    *singularity = solve_sparse(system, method);
  });
}

/// Work on the host's memory, which no stream has to wait for.
template <typename Work>
Status on_host(const Call& call, Work&& work) {
  if (call.is_refused()) return call.status();
  try {
    work();
  } catch (const libraries::Astray& astray) {
    libraries::say("{} {}", call.name(), astray.what);
    return Status::invalid_value;
  }
  return Status::success;
}
Status solve_on_host(Call& call, const SparseSystem& system, const void* descriptor, int* singularity,
                     Method method) {
  look_at(call, system, descriptor, singularity);
  return on_host(call, [&] { *singularity = solve_sparse(system, method); });
}

/// The x of the least residual, by QR factors with a permutation of columns, which is told as well.
Status least_squares(Call& call, const SparseSystem& system, const void* descriptor, int* rank,
                     int* permutation, const Values& residual) {
  look_at(call, system, descriptor, rank).pointer("p", permutation).pointer("min_norm", residual.data);
  return on_host(call, [&] {
    with_numbers(libraries::is_complex(system.values.type), [&](auto zero) {
      using Number = decltype(zero);
      SparseColumns<Number> a = system.matrix<Number>();
      a.makeCompressed();
      const QrFactors<Number> qr(a);
      const Column<Number> b = system.right_side<Number>(), x = qr.solve(b);
      system.store(x);
      const int small = first_small(qr, system.tolerance);
      *rank = small == has_inverse ? static_cast<int>(std::min(system.m, system.n)) : small;
      for (int64_t i = 0; i < system.n; ++i) permutation[i] = qr.colsPermutation().indices()(i);
      residual.store(0, Column<Number>(b - a * x).norm());
    });
  });
}

}  // namespace

LANESCOPE_CUDA_API Status cusolverSpCreate(SparseHandle** out) {
  return Call("cusolverSpCreate").create(out);
}
LANESCOPE_CUDA_API Status cusolverSpDestroy(SparseHandle* handle) {
  if (objects<SparseHandle>().destroy(handle)) return Status::success;
  return Call(handle, "cusolverSpDestroy").status();
}
LANESCOPE_CUDA_API Status cusolverSpSetStream(SparseHandle* handle, Stream* stream) {
  const Call call(handle, "cusolverSpSetStream");
  if (!call.is_refused()) handle->stream = stream;
  return call.status();
}
LANESCOPE_CUDA_API Status cusolverSpGetStream(SparseHandle* handle, Stream** stream) {
  Call call(handle, "cusolverSpGetStream");
  if (!call.pointer("where it is to be written", stream).is_refused()) *stream = handle->stream;
  return call.status();
}

// How unknowns are to be reordered is a hint.
#define LANESCOPE_SPARSE_SYSTEM(NAME, T, Tolerance, where, method)                                           \
  LANESCOPE_CUDA_API Status cusolverSp##NAME(SparseHandle* handle, int n, int nnz, const void* descriptor,   \
                                             const T* values, const int* rows, const int* columns,           \
                                             const T* b, Tolerance tolerance, int, T* x, int* singularity) { \
    Call call(handle, "cusolverSp" #NAME);                                                                   \
    return solve_on_##where(call,                                                                            \
                            {n, n, nnz, pivots_at(rows), pivots_at(columns), values_at(values),              \
                             values_at(b), values_at(x), tolerance},                                         \
                            descriptor, singularity, Method::method);                                        \
  }
#define LANESCOPE_SPARSE_SYSTEMS(P, T, Tolerance, ...)                                                       \
  LANESCOPE_SPARSE_SYSTEM(P##csrlsvqr, T, Tolerance, device, general)                                        \
  LANESCOPE_SPARSE_SYSTEM(P##csrlsvqrHost, T, Tolerance, host, general)                                      \
  LANESCOPE_SPARSE_SYSTEM(P##csrlsvluHost, T, Tolerance, host, general)                                      \
  LANESCOPE_SPARSE_SYSTEM(P##csrlsvchol, T, Tolerance, device, positive)                                     \
  LANESCOPE_SPARSE_SYSTEM(P##csrlsvcholHost, T, Tolerance, host, positive)                                   \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrlsqvqrHost(                                                    \
      SparseHandle* handle, int m, int n, int nnz, const void* descriptor, const T* values, const int* rows, \
      const int* columns, const T* b, Tolerance tolerance, int* rank, T* x, int* p, Tolerance* min_norm) {   \
    Call call(handle, "cusolverSp" #P "csrlsqvqrHost");                                                      \
    return least_squares(call,                                                                               \
                         {m, n, nnz, pivots_at(rows), pivots_at(columns), values_at(values), values_at(b),   \
                          values_at(x), tolerance},                                                          \
                         descriptor, rank, p, values_at(min_norm));                                          \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_SPARSE_SYSTEMS)

}  // namespace lanescope::cuda::solver
