// What the kernels of kernels/ must compute, on the CPU: slow and obvious. Floats are added in the kernels'
// order, so results are equal to the last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lanescope::kernels::reference {

/// Numbers that look random and are the same everywhere.
[[nodiscard]] inline uint32_t hash(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
/// `n` floats from -1 to 1, most of which need all their bits.
[[nodiscard]] inline std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] =
        static_cast<float>(hash(static_cast<uint32_t>(i) + seed * 0x9e3779b9u) >> 8) * 0x1p-23f - 1.0f;
  return values;
}
/// The numbers below n in an order that looks random.
[[nodiscard]] inline std::vector<uint32_t> random_permutation(uint32_t n, uint32_t seed) {
  std::vector<uint32_t> order(n);
  for (uint32_t i = 0; i < n; ++i) order[i] = i;
  for (uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[hash(i + seed) % i]);
  return order;
}

/// Which elements a reduction adds first.
enum class Order { neighbours, halves };

/// Sums of pieces of in[]: of `block` elements each, or with `first_add` of twice as many, the first half
/// added to the second on loading. Elements behind the end count as 0.
[[nodiscard]] inline std::vector<float> reduce(const std::vector<float>& in, uint32_t block, Order order,
                                               bool first_add) {
  const auto element = [&](size_t i) { return i < in.size() ? in[i] : 0.0f; };
  const size_t piece = first_add ? 2 * block : block;
  std::vector<float> sums;
  for (size_t first = 0; first < in.size(); first += piece) {
    std::vector<float> d(block);
    for (uint32_t t = 0; t < block; ++t)
      d[t] = first_add ? element(first + t) + element(first + t + block) : element(first + t);
    for (uint32_t step = 1; step < block; step *= 2) {
      const uint32_t s = order == Order::neighbours ? step : block / 2 / step;
      for (uint32_t t = 0; t < (order == Order::neighbours ? block : s);
           t += order == Order::neighbours ? 2 * s : 1)
        d[t] += d[t + s];
    }
    sums.push_back(d[0]);
  }
  return sums;
}

/// out(x, y) = in(y, x); `in` has rows of `width`.
[[nodiscard]] inline std::vector<float> transpose(const std::vector<float>& in, uint32_t width,
                                                  uint32_t height) {
  std::vector<float> out(in.size());
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) out[size_t{x} * height + y] = in[size_t{y} * width + x];
  return out;
}

/// Each n x n tile transposed where it is; elements whose source is outside the matrix are `before`.
[[nodiscard]] inline std::vector<float> transpose_inside_tiles(const std::vector<float>& in, uint32_t width,
                                                               uint32_t height, uint32_t n, float before) {
  std::vector<float> out(in.size(), before);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const uint32_t source_x = x / n * n + y % n, source_y = y / n * n + x % n;
      if (source_x < width && source_y < height)
        out[size_t{y} * width + x] = in[size_t{source_y} * width + source_x];
    }
  return out;
}

/// Each n x n tile moved to its transposed place, as it is; `out` has rows of `height`.
[[nodiscard]] inline std::vector<float> transpose_tiles(const std::vector<float>& in, uint32_t width,
                                                        uint32_t height, uint32_t n, float before) {
  std::vector<float> out(in.size(), before);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) {
      const uint32_t out_x = y / n * n + x % n, out_y = x / n * n + y % n;
      if (out_x < height && out_y < width) out[size_t{out_y} * height + out_x] = in[size_t{y} * width + x];
    }
  return out;
}

/// Each piece of `block` elements (of `words` values each) in reverse order.
template <class T>
[[nodiscard]] std::vector<T> reverse(const std::vector<T>& in, size_t block, size_t words = 1) {
  std::vector<T> out(in.size());
  for (size_t i = 0; i < in.size() / words; ++i)
    for (size_t w = 0; w < words; ++w)
      out[i * words + w] = in[(i / block * block + (block - 1 - i % block)) * words + w];
  return out;
}

/// Each piece: element t becomes element index[t].
[[nodiscard]] inline std::vector<float> gather(const std::vector<float>& in,
                                               const std::vector<uint32_t>& index) {
  std::vector<float> out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    out[i] = in[i / index.size() * index.size() + index[i % index.size()]];
  return out;
}

/// Each piece: element index[t] becomes element t.
[[nodiscard]] inline std::vector<float> scatter(const std::vector<float>& in,
                                                const std::vector<uint32_t>& index) {
  std::vector<float> out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    out[i / index.size() * index.size() + index[i % index.size()]] = in[i];
  return out;
}

/// Each n x n array upside down.
[[nodiscard]] inline std::vector<float> upside_down(const std::vector<float>& in, size_t n) {
  return reverse(in, n, n);
}

/// Differences in[second] - in[first] of each piece of 2 * block elements: neighbours, or halves.
[[nodiscard]] inline std::vector<float> differences(const std::vector<float>& in, size_t block, Order order) {
  std::vector<float> out(in.size() / 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t piece = i / block * 2 * block, t = i % block;
    out[i] = order == Order::neighbours ? in[piece + 2 * t + 1] - in[piece + 2 * t]
                                        : in[piece + t + block] - in[piece + t];
  }
  return out;
}

/// w * (x + y + z) of particle block - 1 - t of each block; `particles` holds x, y, z, w of one after the
/// other.
[[nodiscard]] inline std::vector<float> moments(const std::vector<float>& particles, size_t block) {
  std::vector<float> out(particles.size() / 4);
  for (size_t i = 0; i < out.size(); ++i) {
    const float* p = &particles[4 * (i / block * block + (block - 1 - i % block))];
    out[i] = p[3] * (p[0] + p[1] + p[2]);
  }
  return out;
}

/// The particles of each block as 256 x, then y, z, w.
[[nodiscard]] inline std::vector<float> struct_of_arrays(const std::vector<float>& particles, size_t block) {
  std::vector<float> out(particles.size());
  for (size_t i = 0; i < particles.size(); ++i) {
    const size_t particle = i / 4, member = i % 4;
    out[particle / block * 4 * block + member * block + particle % block] = particles[i];
  }
  return out;
}

}  // namespace lanescope::kernels::reference
