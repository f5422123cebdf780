// What several of the toolkit's libraries are told of by number: the types of elements and of indices, and
// where the numbers lie that a call is given by their addresses.
#pragma once

namespace lanescope::cuda::libraries {

/// cudaDataType_t: what is computed with here.
enum class DataType : int {
  real_32f = 0,
  real_64f = 1,
  real_16f = 2,
  real_8i = 3,
  complex_32f = 4,
  complex_64f = 5,
  complex_16f = 6,
  real_32i = 10,
  real_16bf = 14,
  complex_16bf = 15,
};

/// cusparseIndexType_t.
enum class IndexType : int { unsigned_16 = 1, signed_32 = 2, signed_64 = 3 };

/// cublasPointerMode_t, cusparsePointerMode_t.
enum class PointerMode : int { host = 0, device = 1 };

/// Of a version such as 12603, which is 12.6.3: what a libraryPropertyType asks for (major, minor, patch).
constexpr int part_of_version(int version, int property) {
  return property == 0 ? version / 1000 : property == 1 ? version / 100 % 10 : version % 100;
}

/// Of a value that came as a number: whether it is from `first` to `last`.
template <typename Enum>
constexpr bool is_between(Enum value, Enum first, Enum last) {
  return static_cast<int>(value) >= static_cast<int>(first) &&
         static_cast<int>(value) <= static_cast<int>(last);
}

}  // namespace lanescope::cuda::libraries
