// The types of elements that the toolkit's libraries are told of by number.
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

}  // namespace lanescope::cuda::libraries
