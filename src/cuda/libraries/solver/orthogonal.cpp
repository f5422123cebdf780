// QR factors, and products with their Q.
#include <algorithm>

#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

Status geqrf(Call& call, const Panel& a, const Values& tau, int* info) {
  call.panel("lda", a).types("tau", tau.type, a.values.type).pointer("info", info);
  return call.submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, true);
    reach(memory, "tau", tau, std::min(a.rows, a.columns), true);
    *memory.write("info", info, 1) = 0;
    Matrix<Number> matrix = load<Number>(a);
    const std::vector<Number> factors = factor_qr(matrix);
    store(a, matrix);
    for (size_t k = 0; k < factors.size(); ++k) tau.store(static_cast<int64_t>(k), factors[k]);
  });
}

template <typename Number>
std::vector<Number> factors_at(const Memory& memory, const Values& tau, int64_t count) {
  reach(memory, "tau", tau, count, false);
  std::vector<Number> factors;
  for (int64_t k = 0; k < count; ++k) factors.push_back(tau.load<Number>(k));
  return factors;
}

void look_at(Call& call, const Panel& a, int reflections) {
  call.panel("lda", a).size("k", reflections);
  if (a.columns > a.rows || reflections > a.columns)
    call.refuse(Status::invalid_value, "m is {}, n {} and k {}: none may be greater than the one before it",
                a.rows, a.columns, reflections);
}
Status orgqr(Call& call, const Panel& a, int reflections, const Values& tau, int* info) {
  look_at(call, a, reflections);
  return call.pointer("info", info).submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, true);
    const std::vector<Number> factors = factors_at<Number>(memory, tau, reflections);
    *memory.write("info", info, 1) = 0;
    Matrix<Number> q = Matrix<Number>::Identity(a.rows, a.columns);
    apply_q(load<Number>(a), factors, true, false, q);
    store(a, q);
  });
}

/// Q is a product of `a.columns` reflections.
void look_at(Call& call, Side side, Operation operation, const Panel& a, const Panel& c) {
  call.one_of(side).one_of(operation).panel("lda", a).panel("ldc", c);
  if (a.columns > a.rows) call.refuse(Status::invalid_value, "k is {}, and Q has {} rows", a.columns, a.rows);
  if (operation == Operation::transpose && libraries::is_complex(a.values.type))
    call.refuse(Status::invalid_value, "the operation is CUBLAS_OP_T, and for complex numbers …_N or …_C");
}
Status ormqr(Call& call, Side side, Operation operation, const Panel& a, const Values& tau, const Panel& c,
             int* info) {
  look_at(call, side, operation, a, c);
  return call.pointer("info", info).submit(a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, "A", a, false);
    const std::vector<Number> factors = factors_at<Number>(memory, tau, a.columns);
    reach(memory, "C", c, true);
    *memory.write("info", info, 1) = 0;
    Matrix<Number> product = load<Number>(c);
    apply_q(load<Number>(a), factors, side == Side::left, operation != Operation::none, product);
    store(c, product);
  });
}

}  // namespace

#define LANESCOPE_QR(P, T, R, sy, gqr, mqr)                                                                  \
  LANESCOPE_CUDA_API Status cusolverDn##P##geqrf_bufferSize(Handle* handle, int m, int n, T* a, int lda,     \
                                                            int* size) {                                     \
    return Call(handle, "cusolverDn" #P "geqrf_bufferSize")                                                  \
        .panel("lda", {m, n, lda, values_at(a)})                                                             \
        .tell_size(size);                                                                                    \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##geqrf(Handle* handle, int m, int n, T* a, int lda, T* tau, T*,    \
                                                 int, int* info) {                                           \
    Call call(handle, "cusolverDn" #P "geqrf");                                                              \
    return geqrf(call, {m, n, lda, values_at(a)}, values_at(tau), info);                                     \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gqr##_bufferSize(Handle* handle, int m, int n, int k, const T* a, \
                                                            int lda, const T*, int* size) {                  \
    Call call(handle, "cusolverDn" #P #gqr "_bufferSize");                                                   \
    look_at(call, {m, n, lda, values_at(a)}, k);                                                             \
    return call.tell_size(size);                                                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gqr(Handle* handle, int m, int n, int k, T* a, int lda,           \
                                               const T* tau, T*, int, int* info) {                           \
    Call call(handle, "cusolverDn" #P #gqr);                                                                 \
    return orgqr(call, {m, n, lda, values_at(a)}, k, values_at(tau), info);                                  \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##mqr##_bufferSize(Handle* handle, Side side, Operation trans,      \
                                                            int m, int n, int k, const T* a, int lda,        \
                                                            const T*, const T* c, int ldc, int* size) {      \
    Call call(handle, "cusolverDn" #P #mqr "_bufferSize");                                                   \
    look_at(call, side, trans, {side == Side::left ? m : n, k, lda, values_at(a)},                           \
            {m, n, ldc, values_at(c)});                                                                      \
    return call.tell_size(size);                                                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##mqr(Handle* handle, Side side, Operation trans, int m, int n,     \
                                               int k, const T* a, int lda, const T* tau, T* c, int ldc, T*,  \
                                               int, int* info) {                                             \
    Call call(handle, "cusolverDn" #P #mqr);                                                                 \
    return ormqr(call, side, trans, {side == Side::left ? m : n, k, lda, values_at(a)}, values_at(tau),      \
                 {m, n, ldc, values_at(c)}, info);                                                           \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_QR)

LANESCOPE_CUDA_API Status cusolverDnXgeqrf_bufferSize(Handle* handle, Params* params, int64_t m, int64_t n,
                                                      DataType type, const void* a, int64_t lda,
                                                      DataType type_of_tau, const void*, DataType,
                                                      size_t* on_device, size_t* on_host) {
  return Call(handle, "cusolverDnXgeqrf_bufferSize")
      .params(params)
      .panel("lda", {m, n, lda, values_at(a, type)})
      .types("tau", type_of_tau, type)
      .tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXgeqrf(Handle* handle, Params* params, int64_t m, int64_t n,
                                           DataType type, void* a, int64_t lda, DataType type_of_tau,
                                           void* tau, DataType, void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXgeqrf");
  return geqrf(call.params(params), {m, n, lda, values_at(a, type)}, values_at(tau, type_of_tau), info);
}

}  // namespace lanescope::cuda::solver
