// Distributed numbers of a generator's bits, by the formulas that cuRAND's device functions have in its
// headers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "cuda/libraries/rand/mrg32k3a.hpp"
#include "cuda/libraries/rand/philox.hpp"
#include "cuda/libraries/rand/xorwow.hpp"

namespace lanescope::cuda::rand {

constexpr double two_to_32 = 4294967296, two_to_53 = 9007199254740992;

template <typename State>
uint32_t bits(State& state) {
  return state.next();
}
/// Stretched to all of 32 bits.
inline uint32_t bits(Mrg32k3a& state) {
  return static_cast<uint32_t>(static_cast<double>(state.next()) * 1.000000048662);
}

// From the middle of each interval: never 0, though 1 by rounding.
inline float uniform_of(uint32_t x) {
  return static_cast<float>(x) / static_cast<float>(two_to_32) + 0.5f / static_cast<float>(two_to_32);
}
inline double uniform_of(uint32_t x, uint32_t y) {
  return static_cast<double>(x ^ uint64_t{y} << 21) / two_to_53 + 0.5 / two_to_53;
}

template <typename State>
float uniform(State& state) {
  return uniform_of(state.next());
}
template <typename State>
double uniform_double(State& state) {
  const uint32_t x = state.next(), y = state.next();
  return uniform_of(x, y);
}
constexpr double mrg_scale = 2.3283065498378288e-10;
inline double uniform_double(Mrg32k3a& state) { return static_cast<double>(state.next()) * mrg_scale; }
inline float uniform(Mrg32k3a& state) { return static_cast<float>(uniform_double(state)); }

template <typename T>
struct Pair {
  T first, second;
};

// Normally distributed pairs of uniform ones, by Box and Muller. In single precision a GPU takes sine and
// cosine from its special function units: of a fraction of a turn, which is rounded towards zero; their last
// bits are not known. A generator of the host has the host's functions.
inline Pair<float> box_muller(float u, float angle, bool on_host) {
  if (on_host) {
    const float radius = std::sqrt(-2 * std::log(u));
    return {std::sin(angle) * radius, std::cos(angle) * radius};
  }
  const float radius = std::sqrt(-2 * static_cast<float>(std::log(static_cast<double>(u))));
  const double product = static_cast<double>(angle) * (std::numbers::inv_pi_v<float> / 2);
  auto turns = static_cast<float>(product);
  if (static_cast<double>(turns) > product) turns = std::nextafter(turns, 0.0f);
  const double exact = turns * 2 * std::numbers::pi;
  return {static_cast<float>(std::sin(exact)) * radius, static_cast<float>(std::cos(exact)) * radius};
}
inline Pair<double> box_muller(double u, double half_turns) {
  const double radius = std::sqrt(-2 * std::log(u));
  const double angle = half_turns * std::numbers::pi;
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline Pair<float> normal_of(uint32_t x, uint32_t y, bool on_host) {
  constexpr float scale = std::numbers::pi_v<float> * 2 / static_cast<float>(two_to_32);
  const auto turn = static_cast<float>(y);
  return box_muller(uniform_of(x), on_host ? turn * scale + scale / 2 : std::fma(turn, scale, scale / 2),
                    on_host);
}

template <typename State>
Pair<float> normal(State& state, bool on_host) {
  const uint32_t x = state.next(), y = state.next();
  return normal_of(x, y, on_host);
}
template <typename State>
Pair<double> normal_double(State& state) {
  const double u = uniform_double(state);
  return box_muller(u, 2 * uniform_double(state));
}
inline Pair<float> normal(Mrg32k3a& state, bool on_host) {
  const float u = uniform(state);
  return box_muller(u, uniform(state) * (std::numbers::pi_v<float> * 2), on_host);
}

/// The normally distributed number below which others are with a probability that is not 0 or 1.
inline double normal_quantile(double probability) {
  const double p = std::min(probability, 1 - probability);
  // Hastings' approximation, and what Halley's method makes of it.
  const double t = std::sqrt(-2 * std::log(p));
  double z = (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) - t;
  for (int i = 0; i < 3; ++i) {
    const double too_much = std::erfc(-z / std::numbers::sqrt2) / 2 - p;
    const double step = too_much * std::sqrt(2 * std::numbers::pi) * std::exp(z * z / 2);
    z -= step / (1 + z * step / 2);
  }
  return probability < 0.5 ? z : -z;
}

template <typename T>
T scaled(T z, T mean, T deviation, bool on_host) {
  return on_host ? mean + z * deviation : std::fma(z, deviation, mean);
}
inline float exponential(float x, bool on_host) {
  return on_host ? std::exp(x) : static_cast<float>(std::exp(static_cast<double>(x)));
}
inline double exponential(double x, bool) { return std::exp(x); }

}  // namespace lanescope::cuda::rand
