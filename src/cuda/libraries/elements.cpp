// See elements.hpp.
#include "cuda/libraries/elements.hpp"

#include <Eigen/Core>
#include <cmath>

namespace lanescope::cuda::libraries {

int64_t size_of(DataType type) {
  switch (type) {
    case DataType::real_8i: return 1;
    case DataType::real_16f:
    case DataType::real_16bf: return 2;
    case DataType::real_32f:
    case DataType::real_32i: return 4;
    case DataType::real_64f:
    case DataType::complex_32f: return 8;
    case DataType::complex_64f: return 16;
    default: return 0;
  }
}

const char* name_of(DataType type) {
  switch (type) {
    case DataType::real_8i: return "CUDA_R_8I";
    case DataType::real_16f: return "CUDA_R_16F";
    case DataType::real_16bf: return "CUDA_R_16BF";
    case DataType::real_32f: return "CUDA_R_32F";
    case DataType::real_32i: return "CUDA_R_32I";
    case DataType::real_64f: return "CUDA_R_64F";
    case DataType::complex_16f: return "CUDA_C_16F";
    case DataType::complex_16bf: return "CUDA_C_16BF";
    case DataType::complex_32f: return "CUDA_C_32F";
    case DataType::complex_64f: return "CUDA_C_64F";
  }
  return "an unknown type";
}

double load_other(const void* data, DataType type, int64_t i) {
  switch (type) {
    case DataType::real_16f: return static_cast<float>(static_cast<const Eigen::half*>(data)[i]);
    case DataType::real_16bf: return static_cast<float>(static_cast<const Eigen::bfloat16*>(data)[i]);
    case DataType::real_8i: return static_cast<const int8_t*>(data)[i];
    case DataType::real_32i: return static_cast<const int32_t*>(data)[i];
    default: return 0;
  }
}

void store_other(void* data, DataType type, int64_t i, double value) {
  switch (type) {
    case DataType::real_16f:
      static_cast<Eigen::half*>(data)[i] = static_cast<Eigen::half>(static_cast<float>(value));
      return;
    case DataType::real_16bf:
      static_cast<Eigen::bfloat16*>(data)[i] = static_cast<Eigen::bfloat16>(static_cast<float>(value));
      return;
    case DataType::real_8i: static_cast<int8_t*>(data)[i] = static_cast<int8_t>(std::llrint(value)); return;
    case DataType::real_32i:
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(std::llrint(value));
      return;
    default: return;
  }
}

}  // namespace lanescope::cuda::libraries
