// BLAS of the first level: vectors.
#include <fmt/format.h>

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <string>

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

/// `Factor`: of a vector of less precision it is wider, as is the sum.
template <typename T, typename Factor>
Status axpy(Call& call, int64_t n, const Factor* alpha, const T* x, int64_t step_x, T* y, int64_t step_y) {
  call.pointer("alpha", alpha);
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    if (n <= 0) return;
    const Factor factor = alpha.in(memory);
    const auto in = read(memory, "x", x, n, step_x);
    const auto out = write(memory, "y", y, n, step_y);
    if (factor == Factor(0)) return;  // x may be no numbers then: CuPy's eigsh begins so
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(Factor(out[i]) + factor * Factor(in[i]));
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

/// `Factor`: of a complex vector it may be real, of one of less precision it is wider.
template <typename T, typename Factor>
Status scale(Call& call, int64_t n, const Factor* alpha, T* x, int64_t step) {
  call.pointer("alpha", alpha);
  return call.submit([=, alpha = call.scalar(alpha)](const Memory& memory) {
    if (n <= 0 || step <= 0) return;
    const Factor factor = alpha.in(memory);
    const auto out = write(memory, "x", x, n, step);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(out[i] * factor);
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

/// What a vector of a type is computed in.
template <typename T>
struct ComputedIn {
  using Type = T;
};
template <>
struct ComputedIn<Eigen::half> {
  using Type = float;
};
template <>
struct ComputedIn<Eigen::bfloat16> {
  using Type = float;
};

template <typename T>
constexpr DataType number_of() {
  if constexpr (std::is_same_v<T, Eigen::half>) return DataType::real_16f;
  if constexpr (std::is_same_v<T, Eigen::bfloat16>) return DataType::real_16bf;
  if constexpr (std::is_same_v<T, float>) return DataType::real_32f;
  if constexpr (std::is_same_v<T, double>) return DataType::real_64f;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DataType::complex_32f;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DataType::complex_64f;
}

/// The types that a call names, in the order of its parameters.
template <size_t count>
using Types = std::array<DataType, count>;

/// Calls f.operator()<T, Factor>() for the type of elements, and what they are computed in, with which a
/// function takes exactly these types: `expected.operator()<T, Factor>()` are those that it takes.
template <size_t count, typename Expected, typename F>
Status by_types(Call& call, const Types<count>& types, Expected&& expected, F&& f) {
  Status status = Status::not_supported;
  bool found = false;
  const auto try_one = [&]<typename T>() {
    using Factor = typename ComputedIn<T>::Type;
    if (found || types != expected.template operator()<T, Factor>()) return;
    found = true;
    status = f.template operator()<T, Factor>();
  };
  try_one.template operator()<Eigen::half>();
  try_one.template operator()<Eigen::bfloat16>();
  try_one.template operator()<float>();
  try_one.template operator()<double>();
  try_one.template operator()<std::complex<float>>();
  try_one.template operator()<std::complex<double>>();
  if (found) return status;
  std::string named;
  for (const DataType type : types)
    named += fmt::format("{}{}", named.empty() ? "" : ", ", static_cast<int>(type));
  return call.refuse(Status::not_supported, "it is not there for the types {}", named).status();
}

Status dot_of_types(Call& call, int64_t n, const void* x, DataType type_x, int64_t step_x, const void* y,
                    DataType type_y, int64_t step_y, void* result, DataType type, DataType execution,
                    bool conjugated) {
  return by_types(
      call, Types<4>{type_x, type_y, type, execution},
      []<typename T, typename Factor>() {
        return Types<4>{number_of<T>(), number_of<T>(), number_of<T>(), number_of<Factor>()};
      },
      [&]<typename T, typename>() {
        return dot(call, n, static_cast<const T*>(x), step_x, static_cast<const T*>(y), step_y,
                   static_cast<T*>(result), conjugated);
      });
}

Status axpy_of_types(Call& call, int64_t n, const void* alpha, DataType type, const void* x, DataType type_x,
                     int64_t step_x, void* y, DataType type_y, int64_t step_y, DataType execution) {
  return by_types(
      call, Types<4>{type, type_x, type_y, execution},
      []<typename T, typename Factor>() {
        return Types<4>{number_of<Factor>(), number_of<T>(), number_of<T>(), number_of<Factor>()};
      },
      [&]<typename T, typename Factor>() {
        return axpy(call, n, static_cast<const Factor*>(alpha), static_cast<const T*>(x), step_x,
                    static_cast<T*>(y), step_y);
      });
}

Status scale_of_types(Call& call, int64_t n, const void* alpha, DataType type, void* x, DataType type_x,
                      int64_t step_x, DataType execution) {
  return by_types(
      call, Types<3>{type, type_x, execution},
      []<typename T, typename Factor>() {
        return Types<3>{number_of<Factor>(), number_of<T>(), number_of<Factor>()};
      },
      [&]<typename T, typename Factor>() {
        return scale(call, n, static_cast<const Factor*>(alpha), static_cast<T*>(x), step_x);
      });
}

Status norm_of_types(Call& call, int64_t n, const void* x, DataType type_x, int64_t step_x, void* result,
                     DataType type, DataType execution) {
  return by_types(
      call, Types<3>{type_x, type, execution},
      []<typename T, typename Factor>() {
        return Types<3>{number_of<T>(), number_of<Real<T>>(), number_of<Real<Factor>>()};
      },
      [&]<typename T, typename>() {
        return norm(call, n, static_cast<const T*>(x), step_x, static_cast<Real<T>*>(result));
      });
}

}  // namespace

#define DOT_OF_TYPES(P, conjugated)                                                                      \
  LANESCOPE_CUBLAS(                                                                                      \
      P,                                                                                                 \
      (Handle * handle, Int n, const void* x, DataType type_x, Int incx, const void* y, DataType type_y, \
       Int incy, void* result, DataType type, DataType execution),                                       \
      dot_of_types(call, n, x, type_x, incx, y, type_y, incy, result, type, execution, conjugated))
DOT_OF_TYPES(DotEx, false)
DOT_OF_TYPES(DotcEx, true)
LANESCOPE_CUBLAS(AxpyEx,
                 (Handle * handle, Int n, const void* alpha, DataType type, const void* x, DataType type_x,
                  Int incx, void* y, DataType type_y, Int incy, DataType execution),
                 axpy_of_types(call, n, alpha, type, x, type_x, incx, y, type_y, incy, execution))
LANESCOPE_CUBLAS(ScalEx,
                 (Handle * handle, Int n, const void* alpha, DataType type, void* x, DataType type_x,
                  Int incx, DataType execution),
                 scale_of_types(call, n, alpha, type, x, type_x, incx, execution))
LANESCOPE_CUBLAS(Nrm2Ex,
                 (Handle * handle, Int n, const void* x, DataType type_x, Int incx, void* result,
                  DataType type, DataType execution),
                 norm_of_types(call, n, x, type_x, incx, result, type, execution))

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
