// cusolverSp: one system of equations whose matrix is in CSR, solved at once. Whether the matrix lies in the
// device's memory or the host's, the result is told to the host.
#include "cuda/libraries/solver/sparse.hpp"

namespace lanescope::cuda::solver {

namespace {

/// A x = b, of m equations with n unknowns.
struct SparseSystem {
  SparseMatrix a;
  Values b, x;
  double tolerance = 0;  ///< pivots that are not larger are taken for 0

  void reach(const Memory& memory) const {
    a.reach(memory);
    libraries::reach(memory, "b", b, a.m, false);
    libraries::reach(memory, "x", x, a.n, true);
  }
};

/// What the functions of LU and QR do alike; the result is where the factors find that there is no inverse.
template <typename Number>
int solve_general(const SparseSystem& system) {
  const GeneralFactors<Number> factors(system.a.load<Number>());
  const Column<Number> b = load_column<Number>(system.b, system.a.m);
  store_column(system.x, factors.solve(b));
  return factors.first_small_pivot(system.tolerance, b);
}

template <typename Number>
int solve_positive(const SparseSystem& system) {
  const PositiveFactors<Number> factors(system.a.load<Number>());
  const int found = factors.first_small_pivot(system.tolerance);
  if (found == has_inverse) store_column(system.x, factors.solve(load_column<Number>(system.b, system.a.m)));
  return found;
}

enum class Method { general, positive };
int solve_sparse(const SparseSystem& system, Method method) {
  return with_numbers(libraries::is_complex(system.a.values.type), [&](auto zero) {
    using Number = decltype(zero);
    return method == Method::general ? solve_general<Number>(system) : solve_positive<Number>(system);
  });
}

Call& look_at_system(Call& call, const SparseSystem& system, const void* descriptor, const void* told) {
  return call.size("m", system.a.m)
      .size("n", system.a.n)
      .size("nnz", system.a.count)
      .pointer("descrA", descriptor)
      .pointer("csrRowPtrA", system.a.rows.data)
      .pointer("b", system.b.data)
      .pointer("x", system.x.data)
      .pointer("where the result is to be told", told);
}

Status solve_on_device(Call& call, const SparseSystem& system, const void* descriptor, int* singularity,
                       Method method) {
  look_at_system(call, system, descriptor, singularity);
  return call.submit_and_wait(system.a.values.type, [=](const Memory& memory, auto) {
    system.reach(memory);
    *singularity = solve_sparse(system, method);
  });
}

Status solve_on_host(Call& call, const SparseSystem& system, const void* descriptor, int* singularity,
                     Method method) {
  look_at_system(call, system, descriptor, singularity);
  return on_host(call, [&] { *singularity = solve_sparse(system, method); });
}

/// The x of the least residual, by QR factors with a permutation of columns, which is told as well.
Status least_squares(Call& call, const SparseSystem& system, const void* descriptor, int* rank,
                     int* permutation, const Values& residual) {
  look_at_system(call, system, descriptor, rank).pointer("p", permutation).pointer("min_norm", residual.data);
  return on_host(call, [&] {
    with_numbers(libraries::is_complex(system.a.values.type), [&](auto zero) {
      using Number = decltype(zero);
      SparseColumns<Number> a = system.a.load<Number>();
      a.makeCompressed();
      const QrFactors<Number> qr(a);
      const Column<Number> b = load_column<Number>(system.b, system.a.m), x = qr.solve(b);
      store_column(system.x, x);
      const int small = first_small(qr, system.tolerance);
      *rank = small == has_inverse ? static_cast<int>(std::min(system.a.m, system.a.n)) : small;
      for (int64_t i = 0; i < system.a.n; ++i) permutation[i] = qr.colsPermutation().indices()(i);
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
                            {{n, n, nnz, pivots_at(rows), pivots_at(columns), values_at(values)},            \
                             values_at(b),                                                                   \
                             values_at(x),                                                                   \
                             tolerance},                                                                     \
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
                         {{m, n, nnz, pivots_at(rows), pivots_at(columns), values_at(values)},               \
                          values_at(b),                                                                      \
                          values_at(x),                                                                      \
                          tolerance},                                                                        \
                         descriptor, rank, p, values_at(min_norm));                                          \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_SPARSE_SYSTEMS)

}  // namespace lanescope::cuda::solver
