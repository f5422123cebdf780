// One kernel launch with its inputs and the results it must have. What runs it (the engine, a GPU) is up to
// the caller.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lanescope::kernels {

struct Dim {
  uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] uint64_t count() const { return uint64_t{x} * y * z; }
};

using Bytes = std::vector<std::byte>;

template <class T>
[[nodiscard]] Bytes bytes_of(std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  return {raw.begin(), raw.end()};
}
template <class T>
[[nodiscard]] Bytes bytes_of(const std::vector<T>& values) {
  return bytes_of(std::span<const T>(values));
}

/// How much a result may differ from what is expected.
enum class Match {
  exact,     ///< not a bit
  relative,  ///< floats: relative error up to 2^-20
  absolute,  ///< floats: absolute error up to 2^-20
  untouched  ///< an input: must not have changed
};

/// A tensor in a buffer, as cuTensorMapEncodeTiled takes it; enumerations are numbers of CUDA's.
struct Tensor {
  uint32_t type = 0, element_bytes = 0, dimensions = 0;
  std::array<uint64_t, 5> size{};
  std::array<uint64_t, 4> strides{};  ///< bytes
  std::array<uint32_t, 5> box{}, steps{1, 1, 1, 1, 1};
  uint32_t swizzle = 0;
  bool fills_nan = false;
};

/// One kernel argument: a value, or a buffer in device memory with its contents before and after.
struct Argument {
  bool is_buffer = false;
  Bytes value;     ///< the value, or the buffer's contents before
  Bytes expected;  ///< the buffer's contents after; empty: recorded on hardware (see tests/data/README.md)
  Match match = Match::exact;
  uint64_t scratch = 0;  ///< not 0: a buffer of so many zero bytes, whose contents nobody looks at
  std::optional<Tensor> tensor =
      std::nullopt;  ///< the kernel gets a map of the buffer instead of its address
};

template <class T>
[[nodiscard]] Argument scalar(const T& value) {
  return {false, bytes_of(std::span<const T>(&value, 1)), {}, Match::exact, 0};
}
template <class T>
[[nodiscard]] Argument input(const std::vector<T>& values) {
  return {true, bytes_of(values), bytes_of(values), Match::untouched, 0};
}
/// A result: its elements are `before` at first, and `expected` in the end.
template <class T>
[[nodiscard]] Argument output(const std::vector<T>& expected, T before) {
  return {true, bytes_of(std::vector<T>(expected.size(), before)), bytes_of(expected), Match::exact, 0};
}
/// A buffer whose contents in the end are recorded.
[[nodiscard]] inline Argument recorded(Bytes before, Match match = Match::exact) {
  return {true, std::move(before), {}, match, 0};
}

[[nodiscard]] inline Argument scratch(uint64_t bytes) { return {true, {}, {}, Match::exact, bytes}; }

/// What all blocks together ask of shared memory and what it costs, divided by the number of blocks.
struct SharedCost {
  uint64_t requests = 0, wavefronts = 0, ideal = 0;
  friend bool operator==(const SharedCost&, const SharedCost&) = default;
};
struct BlockCost {
  SharedCost load, store;
  friend bool operator==(const BlockCost&, const BlockCost&) = default;
};

struct Case {
  std::string program;  ///< name of the .cu file, without folder and suffix
  std::string kernel;   ///< as in the PTX
  std::string variant;  ///< tells apart cases of one kernel; may be empty
  Dim grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<Argument> arguments;
  std::optional<BlockCost> cost;  ///< on sm_90, for each block

  [[nodiscard]] std::string label() const { return variant.empty() ? kernel : kernel + " " + variant; }
};

/// Whether `result` is what `expected` asks for; says where not in `where` (first difference, in words of 4
/// bytes).
[[nodiscard]] inline bool matches(const Bytes& result, const Bytes& expected, Match match,
                                  std::string& where) {
  if (result.size() != expected.size()) {
    where = "sizes " + std::to_string(result.size()) + " and " + std::to_string(expected.size());
    return false;
  }
  const bool as_floats = match == Match::relative || match == Match::absolute;
  const size_t step = as_floats ? sizeof(float) : 1;
  for (size_t i = 0; i + step <= result.size(); i += step) {
    bool equal = result[i] == expected[i];
    if (as_floats) {
      float r, e;
      std::memcpy(&r, &result[i], sizeof r);
      std::memcpy(&e, &expected[i], sizeof e);
      const float difference = r > e ? r - e : e - r;
      const float size = match == Match::absolute ? 1.0f : e > 0 ? e : -e;
      equal = difference <= size * 0x1p-20f;
    }
    if (equal) continue;
    const size_t word = i / 4;
    uint32_t r = 0, e = 0;
    std::memcpy(&r, &result[word * 4], std::min<size_t>(4, result.size() - word * 4));
    std::memcpy(&e, &expected[word * 4], std::min<size_t>(4, result.size() - word * 4));
    char text[96];
    std::snprintf(text, sizeof text, "word %zu is 0x%08x, expected 0x%08x", word, r, e);
    where = text;
    return false;
  }
  return true;
}

}  // namespace lanescope::kernels
