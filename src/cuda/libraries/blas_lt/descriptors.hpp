// What a program tells cuBLASLt of a product, attribute by attribute, in memory that may be its own (the
// headers' cublasLt…Init): so these are the bytes themselves, and no objects that are known here. What such
// memory has, headers say in words of eight bytes, more of them since CUDA 12: Init finds room in the least,
// and what Create makes, which programs give to Init as well (cuDNN does), has the most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/libraries/blas/types.hpp"

namespace lanescope::cuda::blas_lt {

using blas::ComputeType;
using blas::DataType;
using blas::Operation;
using blas::Status;

/// Of elements in a matrix; CUBLASLT_ORDER_COL32 and the like are not computed with.
enum class Order : int32_t { columns = 0, rows = 1 };

/// cublasLtMatrixLayoutOpaque_t.
struct MatrixLayout {
  static constexpr size_t least_words = 8, most_words = 14;
  DataType type;
  Order order = Order::columns;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch_count = 1;
  int32_t batch_mode = 0;
  int64_t batch_stride = 0, plane_offset = 0;
};

/// A matrix of the fill mode that means all of it.
constexpr int32_t fill_full = 2;
/// CUBLASLT_EPILOGUE_…
constexpr uint32_t epilogue_default = 1, epilogue_relu = 2, epilogue_bias = 4, epilogue_gelu = 32;
/// A type that is not said.
constexpr int32_t type_unset = -1;

/// cublasLtMatmulDescOpaque_t.
struct MatmulDesc {
  static constexpr size_t least_words = 23, most_words = 32;
  ComputeType compute;
  DataType scale_type;
  int32_t pointer_mode = 0;
  Operation of_a = Operation::none, of_b = Operation::none, of_c = Operation::none;
  int32_t fill = fill_full;
  uint32_t epilogue = epilogue_default;
  int32_t multiprocessors = 0, aux_type = type_unset, bias_type = type_unset;
  int32_t scale_modes[6] = {};  ///< A, B, C, D, auxiliary output, D's own scale
  int8_t fast_accumulation = 0;
  const void *bias = nullptr, *aux = nullptr;
  const void* scales[6] = {};  ///< in the same order
  const void *largest_of_d = nullptr, *largest_of_aux = nullptr;
  int64_t bias_stride = 0, aux_leading = 0, aux_stride = 0, alpha_stride = 0;
};

/// cublasLtMatmulPreferenceOpaque_t: which of several ways to take, of which there is one here.
struct Preference {
  static constexpr size_t least_words = 8, most_words = 12;
  uint32_t search_mode = 0, reductions = UINT32_MAX;
  uint64_t workspace_bytes = 0;
  uint32_t alignments[4] = {256, 256, 256, 256};
  float waves = 0;
  uint64_t implementations = UINT64_MAX;
};

}  // namespace lanescope::cuda::blas_lt
