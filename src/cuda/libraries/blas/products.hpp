// Products of general matrices, as cuBLAS and cuBLASLt compute them.
#pragma once

#include <cstdint>

#include "cuda/libraries/blas/call.hpp"
#include "cuda/libraries/blas/dense.hpp"

namespace lanescope::cuda::blas {

/// What a product is computed in.
enum class Computed : uint8_t { none, half, single, single_complex, double_, double_complex, integer };

/// Of matrices of these types; `none` if they do not go together, or are not computed with here.
Computed computed(ComputeType compute, DataType in, DataType out);

/// One operand of all products of a call.
struct Matrices {
  const char* name;
  const void* data;  ///< of the first one, or where the pointers lie
  DataType type;
  Layout at;
  int64_t stride;  ///< in elements
};

/// How the products of a call lie.
struct Batch {
  int64_t count = 1;
  bool by_pointers = false;
};

/// What is done to the results before they are stored.
struct Epilogue {
  enum class Activation : uint8_t { none, relu, gelu } activation = Activation::none;
  const void* bias = nullptr;  ///< one number for each row, added before the activation
  DataType bias_type = DataType::real_32f;
  int64_t bias_stride = 0;  ///< from one matrix of the batch to the next
};

/// What is computed: D = epilogue(alpha op(A) op(B) + beta C).
struct Product {
  Operation of_a, of_b;
  int64_t m, n, k;
  Matrices a, b, c;
  Batch batch;
  Matrices d = c;  ///< where the result goes
  Epilogue epilogue = {};
};

/// Computes it as work of the call's stream, unless the call is refused or there is nothing to compute.
Status multiply(const Call& call, const Product& job, Computed in, const void* alpha, const void* beta);

}  // namespace lanescope::cuda::blas
