// Distributed numbers of a generator's bits, by the formulas that cuRAND's device functions have in its
// headers.
#pragma once

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

// A normally distributed pair of a uniform one, by Box and Muller. A GPU takes sine and cosine in single
// precision from its special function units, whose last bits are not known: these are the exact ones.
inline Pair<float> box_muller(float u, float angle) {
  const float radius = std::sqrt(-2 * static_cast<float>(std::log(static_cast<double>(u))));
  return {static_cast<float>(std::sin(static_cast<double>(angle))) * radius,
          static_cast<float>(std::cos(static_cast<double>(angle))) * radius};
}
inline Pair<double> box_muller(double u, double half_turns) {
  const double radius = std::sqrt(-2 * std::log(u));
  const double angle = half_turns * std::numbers::pi;
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}
inline Pair<float> normal_of(uint32_t x, uint32_t y) {
  constexpr float scale = std::numbers::pi_v<float> * 2 / static_cast<float>(two_to_32);
  return box_muller(uniform_of(x), std::fma(static_cast<float>(y), scale, scale / 2));
}

template <typename State>
Pair<float> normal(State& state) {
  const uint32_t x = state.next(), y = state.next();
  return normal_of(x, y);
}
template <typename State>
Pair<double> normal_double(State& state) {
  const double u = uniform_double(state);
  return box_muller(u, 2 * uniform_double(state));
}
inline Pair<float> normal(Mrg32k3a& state) {
  const float u = uniform(state);
  return box_muller(u, uniform(state) * (std::numbers::pi_v<float> * 2));
}

template <typename T>
Pair<T> scaled(Pair<T> z, T mean, T deviation) {
  return {std::fma(z.first, deviation, mean), std::fma(z.second, deviation, mean)};
}
inline float exponential(float x) { return static_cast<float>(std::exp(static_cast<double>(x))); }
inline double exponential(double x) { return std::exp(x); }
template <typename T>
Pair<T> exponential(Pair<T> x) {
  return {exponential(x.first), exponential(x.second)};
}

}  // namespace lanescope::cuda::rand
