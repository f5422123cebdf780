// Numbers and indices in memory whose type is known when the program runs. What is computed is computed in
// double precision: one implementation for real and one for complex numbers serves all types.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/data_type.hpp"

namespace lanescope::cuda::libraries {

using Complex = std::complex<double>;

/// In bytes; 0 of a type that is not computed with here.
[[nodiscard]] int64_t size_of(DataType type);
[[nodiscard]] constexpr int64_t size_of(IndexType type) {
  return type == IndexType::signed_32 ? 4 : type == IndexType::signed_64 ? 8 : 0;
}
[[nodiscard]] constexpr bool is_complex(DataType type) {
  return type == DataType::complex_32f || type == DataType::complex_64f;
}
/// As the toolkit's headers call it.
[[nodiscard]] const char* name_of(DataType type);

/// Those types that are rarer: numbers of 16 and 8 bits, integers.
[[nodiscard]] double load_other(const void* data, DataType type, int64_t i);
void store_other(void* data, DataType type, int64_t i, double value);

/// Of what `Number` is: double or Complex.
template <typename Number>
Number number(Complex value) {
  if constexpr (std::is_same_v<Number, Complex>) {
    return value;
  } else {
    return value.real();
  }
}
template <typename Number>
Number conjugate(Number value) {
  if constexpr (std::is_same_v<Number, Complex>) {
    return std::conj(value);
  } else {
    return value;
  }
}

struct Values {
  void* data = nullptr;
  DataType type = DataType::real_32f;

  template <typename Number>
  [[nodiscard]] Number load(int64_t i) const {
    switch (type) {
      case DataType::real_32f: return static_cast<const float*>(data)[i];
      case DataType::real_64f: return static_cast<const double*>(data)[i];
      case DataType::complex_32f: {
        const float* pair = static_cast<const float*>(data) + 2 * i;
        return number<Number>(Complex(pair[0], pair[1]));
      }
      case DataType::complex_64f: {
        const double* pair = static_cast<const double*>(data) + 2 * i;
        return number<Number>(Complex(pair[0], pair[1]));
      }
      default: return load_other(data, type, i);
    }
  }
  template <typename Number>
  void store(int64_t i, Number value) const {
    switch (type) {
      case DataType::real_32f: static_cast<float*>(data)[i] = static_cast<float>(std::real(value)); return;
      case DataType::real_64f: static_cast<double*>(data)[i] = std::real(value); return;
      case DataType::complex_32f: {
        float* pair = static_cast<float*>(data) + 2 * i;
        pair[0] = static_cast<float>(std::real(value));
        pair[1] = static_cast<float>(std::imag(value));
        return;
      }
      case DataType::complex_64f: {
        double* pair = static_cast<double*>(data) + 2 * i;
        pair[0] = std::real(value);
        pair[1] = std::imag(value);
        return;
      }
      default: store_other(data, type, i, std::real(value)); return;
    }
  }
  /// Those from element `i` on.
  [[nodiscard]] Values from(int64_t i) const {
    return {data == nullptr ? nullptr : static_cast<char*>(data) + i * size_of(type), type};
  }
};

struct Indices {
  void* data = nullptr;
  IndexType type = IndexType::signed_32;

  [[nodiscard]] int64_t operator[](int64_t i) const {
    return type == IndexType::signed_32 ? static_cast<const int32_t*>(data)[i]
                                        : static_cast<const int64_t*>(data)[i];
  }
  void store(int64_t i, int64_t value) const {
    if (type == IndexType::signed_32)
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
    else
      static_cast<int64_t*>(data)[i] = value;
  }
  [[nodiscard]] Indices from(int64_t i) const {
    return {data == nullptr ? nullptr : static_cast<char*>(data) + i * size_of(type), type};
  }
};

// Each asks for the memory that a call will read or write. `what` names the argument.
inline void reach(const Memory& memory, const char* what, const Values& values, int64_t count, bool write) {
  memory.reach(what, values.data, static_cast<uint64_t>(count * size_of(values.type)), write);
}
inline void reach(const Memory& memory, const char* what, const Indices& indices, int64_t count, bool write) {
  memory.reach(what, indices.data, static_cast<uint64_t>(count * size_of(indices.type)), write);
}

/// Calls body(Number()) with the numbers that these types are computed in.
template <typename Body>
auto with_numbers(bool complex, Body&& body) {
  return complex ? body(Complex()) : body(double());
}

}  // namespace lanescope::cuda::libraries
