// The types in the interface of cuRAND.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanescope::cuda::rand {

/// curandStatus_t
enum class Status : int {
  success = 0,
  not_initialized = 101,
  type_error = 103,
  out_of_range = 104,
  length_not_multiple = 105,
  launch_failure = 201,
  allocation_failed = 102,
  internal_error = 999,
};

/// curandRngType_t
enum class Type : int {
  test = 0,
  pseudo_default = 100,
  xorwow = 101,
  mrg32k3a = 121,
  mtgp32 = 141,
  mt19937 = 142,
  philox = 161,
  quasi_default = 200,
  sobol32 = 201,
  scrambled_sobol32 = 202,
  sobol64 = 203,
  scrambled_sobol64 = 204,
};

/// curandOrdering_t
enum class Ordering : int {
  best = 100,
  standard = 101,
  seeded = 102,
  legacy = 103,
  dynamic = 104,
  quasi = 201
};

enum class Distribution {
  bits,
  uniform,
  uniform_double,
  normal,
  normal_double,
  log_normal,
  log_normal_double,
  poisson,
};

constexpr bool is_normal(Distribution distribution) {
  return distribution >= Distribution::normal && distribution <= Distribution::log_normal_double;
}
/// In bytes.
constexpr size_t number_size(Distribution distribution) {
  return distribution == Distribution::uniform_double || distribution == Distribution::normal_double ||
                 distribution == Distribution::log_normal_double
             ? 8
             : 4;
}

}  // namespace lanescope::cuda::rand
