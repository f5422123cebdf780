// BLAS of the first level: vectors.
#include <cmath>

#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"

namespace lanescope::cuda::blas {
namespace {

/// What iamax and asum take for the size of a number.
template <typename T>
Real<T> magnitude(T x) {
  if constexpr (is_complex<T>) return std::abs(x.real()) + std::abs(x.imag());
  return std::abs(x);
}

/// The place (from 1 on) of the first element that no other one exceeds; 0 of none.
template <typename T, typename Index>
Status extreme(Call& call, int64_t n, const T* x, int64_t step, Index* result, bool greatest) {
  call.pointer("the result", result, Status::mapping_error);
  return call.submit_for(result, [=](const Memory& memory) -> Index {
    if (n <= 0 || step <= 0) return 0;
    const auto in = read(memory, "x", x, n, step);
    int64_t found = 0;
    for (int64_t i = 1; i < n; ++i) {
      const Real<T> now = magnitude(in[i]), best = magnitude(in[found]);
      if (greatest ? now > best : now < best) found = i;
    }
    return static_cast<Index>(found + 1);
  });
}

template <typename T>
Status sum_of_magnitudes(Call& call, int64_t n, const T* x, int64_t step, Real<T>* result) {
  call.pointer("the result", result, Status::mapping_error);
  return call.submit_for(result, [=](const Memory& memory) {
    double sum = 0;
    if (n <= 0 || step <= 0) return Real<T>(0);
    const auto in = read(memory, "x", x, n, step);
    for (int64_t i = 0; i < n; ++i) sum += magnitude(in[i]);
    return static_cast<Real<T>>(sum);
  });
}

template <typename T>
Status norm(Call& call, int64_t n, const T* x, int64_t step, Real<T>* result) {
  call.pointer("the result", result, Status::mapping_error);
  return call.submit_for(result, [=](const Memory& memory) {
    if (n <= 0 || step <= 0) return Real<T>(0);
    const auto in = read(memory, "x", x, n, step);
    // Scaled, so that squares neither overflow nor vanish.
    double greatest = 0;
    for (int64_t i = 0; i < n; ++i) greatest = std::max<double>(greatest, std::abs(in[i]));
    if (greatest == 0 || !std::isfinite(greatest)) return static_cast<Real<T>>(greatest);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double scaled = static_cast<double>(std::abs(in[i])) / greatest;
      sum += scaled * scaled;
    }
    return static_cast<Real<T>>(greatest * std::sqrt(sum));
  });
}

template <typename T>
Status dot(Call& call, int64_t n, const T* x, int64_t step_x, const T* y, int64_t step_y, T* result,
           bool conjugated) {
  call.pointer("the result", result, Status::mapping_error);
  return call.submit_for(result, [=](const Memory& memory) {
    using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;
    Wide sum = 0;
    if (n <= 0) return T(0);
    const auto a = read(memory, "x", x, n, step_x), b = read(memory, "y", y, n, step_y);
    for (int64_t i = 0; i < n; ++i) sum += Wide(conjugated ? conjugate(a[i]) : a[i]) * Wide(b[i]);
    return static_cast<T>(sum);
  });
}

template <typename T>
Status axpy(Call& call, int64_t n, const T* alpha, const T* x, int64_t step_x, T* y, int64_t step_y) {
  call.pointer("alpha", alpha);
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    if (n <= 0) return;
    const T factor = alpha.in(memory);
    const auto in = read(memory, "x", x, n, step_x);
    const auto out = write(memory, "y", y, n, step_y);
    for (int64_t i = 0; i < n; ++i) out[i] += factor * in[i];
  });
}

template <typename T>
Status copy(const Call& call, int64_t n, const T* x, int64_t step_x, T* y, int64_t step_y) {
  return call.submit([=](const Memory& memory) {
    if (n <= 0) return;
    const auto in = read(memory, "x", x, n, step_x);
    const auto out = write(memory, "y", y, n, step_y);
    for (int64_t i = 0; i < n; ++i) out[i] = in[i];
  });
}

template <typename T>
Status swap(const Call& call, int64_t n, T* x, int64_t step_x, T* y, int64_t step_y) {
  return call.submit([=](const Memory& memory) {
    if (n <= 0) return;
    const auto a = write(memory, "x", x, n, step_x), b = write(memory, "y", y, n, step_y);
    for (int64_t i = 0; i < n; ++i) std::swap(a[i], b[i]);
  });
}

/// `Factor`: of a complex vector it may be real.
template <typename T, typename Factor>
Status scale(Call& call, int64_t n, const Factor* alpha, T* x, int64_t step) {
  call.pointer("alpha", alpha);
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    if (n <= 0 || step <= 0) return;
    const Factor factor = alpha.in(memory);
    const auto out = write(memory, "x", x, n, step);
    for (int64_t i = 0; i < n; ++i) out[i] *= factor;
  });
}

template <typename T, typename Sine>
Status rotate(Call& call, int64_t n, T* x, int64_t step_x, T* y, int64_t step_y, const Real<T>* c,
              const Sine* s) {
  call.pointer("c", c).pointer("s", s);
  return call.submit([=, cosine = call.scalar(c), sine = call.scalar(s)](const Memory& memory) {
    if (n <= 0) return;
    const Real<T> cos = cosine.in(memory);
    const Sine sin = sine.in(memory);
    const auto a = write(memory, "x", x, n, step_x), b = write(memory, "y", y, n, step_y);
    for (int64_t i = 0; i < n; ++i) {
      const T old = a[i];
      a[i] = cos * old + sin * b[i];
      b[i] = cos * b[i] - conjugate(sin) * old;
    }
  });
}

}  // namespace

#define EXTREME(P, T)                                                                 \
  LANESCOPE_CUBLAS_NAMED(cublas##P##_v2, cublas##P##_v2_64, "cublas" #P,              \
                         (Handle * handle, Int n, const T* x, Int incx, Int* result), \
                         extreme(call, n, x, incx, result, #P[4] == 'a'))
EXTREME(Isamax, float)
EXTREME(Idamax, double)
EXTREME(Icamax, std::complex<float>)
EXTREME(Izamax, std::complex<double>)
EXTREME(Isamin, float)
EXTREME(Idamin, double)
EXTREME(Icamin, std::complex<float>)
EXTREME(Izamin, std::complex<double>)

#define REDUCTION(P, F, T)                                                                \
  LANESCOPE_CUBLAS_NAMED(cublas##P##_v2, cublas##P##_v2_64, "cublas" #P,                  \
                         (Handle * handle, Int n, const T* x, Int incx, Real<T>* result), \
                         F(call, n, x, incx, result))
REDUCTION(Sasum, sum_of_magnitudes, float)
REDUCTION(Dasum, sum_of_magnitudes, double)
REDUCTION(Scasum, sum_of_magnitudes, std::complex<float>)
REDUCTION(Dzasum, sum_of_magnitudes, std::complex<double>)
REDUCTION(Snrm2, norm, float)
REDUCTION(Dnrm2, norm, double)
REDUCTION(Scnrm2, norm, std::complex<float>)
REDUCTION(Dznrm2, norm, std::complex<double>)

#define DOT(P, T, conjugated)                                                                             \
  LANESCOPE_CUBLAS_V2(P, (Handle * handle, Int n, const T* x, Int incx, const T* y, Int incy, T* result), \
                      dot(call, n, x, incx, y, incy, result, conjugated))
DOT(Sdot, float, false)
DOT(Ddot, double, false)
DOT(Cdotu, std::complex<float>, false)
DOT(Zdotu, std::complex<double>, false)
DOT(Cdotc, std::complex<float>, true)
DOT(Zdotc, std::complex<double>, true)

#define OF_TWO(P, T)                                                                                    \
  LANESCOPE_CUBLAS_V2(P##axpy,                                                                          \
                      (Handle * handle, Int n, const T* alpha, const T* x, Int incx, T* y, Int incy),   \
                      axpy(call, n, alpha, x, incx, y, incy))                                           \
  LANESCOPE_CUBLAS_V2(P##copy, (Handle * handle, Int n, const T* x, Int incx, T* y, Int incy),          \
                      copy(call, n, x, incx, y, incy))                                                  \
  LANESCOPE_CUBLAS_V2(P##swap, (Handle * handle, Int n, T * x, Int incx, T * y, Int incy),              \
                      swap(call, n, x, incx, y, incy))                                                  \
  LANESCOPE_CUBLAS_V2(P##scal, (Handle * handle, Int n, const T* alpha, T* x, Int incx),                \
                      scale(call, n, alpha, x, incx))                                                   \
  LANESCOPE_CUBLAS_V2(                                                                                  \
      P##rot, (Handle * handle, Int n, T * x, Int incx, T * y, Int incy, const Real<T>* c, const T* s), \
      rotate(call, n, x, incx, y, incy, c, s))
LANESCOPE_BLAS_ALL(OF_TWO)

#define OF_REAL_FACTOR(scal, rot, T)                                                                       \
  LANESCOPE_CUBLAS_V2(scal, (Handle * handle, Int n, const Real<T>* alpha, T* x, Int incx),                \
                      scale(call, n, alpha, x, incx))                                                      \
  LANESCOPE_CUBLAS_V2(                                                                                     \
      rot, (Handle * handle, Int n, T * x, Int incx, T * y, Int incy, const Real<T>* c, const Real<T>* s), \
      rotate(call, n, x, incx, y, incy, c, s))
OF_REAL_FACTOR(Csscal, Csrot, std::complex<float>)
OF_REAL_FACTOR(Zdscal, Zdrot, std::complex<double>)

}  // namespace lanescope::cuda::blas
