// Functions that hand their parameters on to another one with the same parameters. LANESCOPE_PASS_n(name,
// target, how), for n parameters, defines one that is `how(target, parameters…)`.
#pragma once

#include <cstddef>
#include <tuple>

#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

template <typename Function>
struct Parameters;
template <typename R, typename... A>
struct Parameters<R (*)(A...)> {
  template <size_t place>
  using At = std::tuple_element_t<place, std::tuple<A...>>;
};
/// The type of a function's parameter, by its place.
template <auto function, size_t place>
using ParameterOf = typename Parameters<decltype(function)>::template At<place>;

/// The calling thread's own default stream in place of the legacy one; other parameters as they are.
inline Stream* own_stream(Stream* stream) { return stream == nullptr ? per_thread_handle() : stream; }
template <typename T>
T own_stream(T other) {
  return other;
}
template <typename... A>
Status with_own_stream(Status (*target)(A...), A... a) {
  return target(own_stream(a)...);
}

}  // namespace lanescope::cuda

#define LANESCOPE_P(target, place) lanescope::cuda::ParameterOf<&target, place> p##place
#define LANESCOPE_P2(target)       LANESCOPE_P(target, 0), LANESCOPE_P(target, 1)
#define LANESCOPE_P4(target)       LANESCOPE_P2(target), LANESCOPE_P(target, 2), LANESCOPE_P(target, 3)
#define LANESCOPE_P6(target)       LANESCOPE_P4(target), LANESCOPE_P(target, 4), LANESCOPE_P(target, 5)
#define LANESCOPE_P8(target)       LANESCOPE_P6(target), LANESCOPE_P(target, 6), LANESCOPE_P(target, 7)

#define LANESCOPE_PASS_0(name, target, how) \
  LANESCOPE_CUDA_API Status name() { return how(target); }
#define LANESCOPE_PASS_1(name, target, how) \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P(target, 0)) { return how(target, p0); }
#define LANESCOPE_PASS_2(name, target, how) \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P2(target)) { return how(target, p0, p1); }
#define LANESCOPE_PASS_3(name, target, how)                                      \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P2(target), LANESCOPE_P(target, 2)) { \
    return how(target, p0, p1, p2);                                              \
  }
#define LANESCOPE_PASS_4(name, target, how) \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P4(target)) { return how(target, p0, p1, p2, p3); }
#define LANESCOPE_PASS_5(name, target, how)                                      \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P4(target), LANESCOPE_P(target, 4)) { \
    return how(target, p0, p1, p2, p3, p4);                                      \
  }
#define LANESCOPE_PASS_6(name, target, how) \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P6(target)) { return how(target, p0, p1, p2, p3, p4, p5); }
#define LANESCOPE_PASS_7(name, target, how)                                      \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P6(target), LANESCOPE_P(target, 6)) { \
    return how(target, p0, p1, p2, p3, p4, p5, p6);                              \
  }
#define LANESCOPE_PASS_8(name, target, how) \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P8(target)) { return how(target, p0, p1, p2, p3, p4, p5, p6, p7); }
#define LANESCOPE_PASS_9(name, target, how)                                      \
  LANESCOPE_CUDA_API Status name(LANESCOPE_P8(target), LANESCOPE_P(target, 8)) { \
    return how(target, p0, p1, p2, p3, p4, p5, p6, p7, p8);                      \
  }
