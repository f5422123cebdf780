// Descriptors of cuBLASLt: how they are made, and the numbers of their attributes.
#include "cuda/libraries/blas_lt/descriptors.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "cuda/libraries/call.hpp"

namespace lanescope::cuda::blas_lt {
namespace {

/// Where an attribute lies in its descriptor.
struct Attribute {
  int number;
  size_t offset, bytes;
};

#define LANESCOPE_ATTRIBUTE(number, type, member) \
  { number, offsetof(type, member), sizeof(type::member) }
#define LANESCOPE_ATTRIBUTE_OF(number, type, member, index) \
  { number, offsetof(type, member) + (index) * sizeof(*type{}.member), sizeof(*type{}.member) }

// clang-format off
constexpr Attribute layout_attributes[] = {
    LANESCOPE_ATTRIBUTE(0, MatrixLayout, type),
    LANESCOPE_ATTRIBUTE(1, MatrixLayout, order),
    LANESCOPE_ATTRIBUTE(2, MatrixLayout, rows),
    LANESCOPE_ATTRIBUTE(3, MatrixLayout, columns),
    LANESCOPE_ATTRIBUTE(4, MatrixLayout, leading),
    LANESCOPE_ATTRIBUTE(5, MatrixLayout, batch_count),
    LANESCOPE_ATTRIBUTE(6, MatrixLayout, batch_stride),
    LANESCOPE_ATTRIBUTE(7, MatrixLayout, plane_offset),
    LANESCOPE_ATTRIBUTE(8, MatrixLayout, batch_mode),
};
constexpr Attribute matmul_attributes[] = {
    LANESCOPE_ATTRIBUTE(0, MatmulDesc, compute),
    LANESCOPE_ATTRIBUTE(1, MatmulDesc, scale_type),
    LANESCOPE_ATTRIBUTE(2, MatmulDesc, pointer_mode),
    LANESCOPE_ATTRIBUTE(3, MatmulDesc, of_a),
    LANESCOPE_ATTRIBUTE(4, MatmulDesc, of_b),
    LANESCOPE_ATTRIBUTE(5, MatmulDesc, of_c),
    LANESCOPE_ATTRIBUTE(6, MatmulDesc, fill),
    LANESCOPE_ATTRIBUTE(7, MatmulDesc, epilogue),
    LANESCOPE_ATTRIBUTE(8, MatmulDesc, bias),
    LANESCOPE_ATTRIBUTE(10, MatmulDesc, bias_stride),
    LANESCOPE_ATTRIBUTE(11, MatmulDesc, aux),
    LANESCOPE_ATTRIBUTE(12, MatmulDesc, aux_leading),
    LANESCOPE_ATTRIBUTE(13, MatmulDesc, aux_stride),
    LANESCOPE_ATTRIBUTE(14, MatmulDesc, alpha_stride),
    LANESCOPE_ATTRIBUTE(15, MatmulDesc, multiprocessors),
    LANESCOPE_ATTRIBUTE_OF(17, MatmulDesc, scales, 0),
    LANESCOPE_ATTRIBUTE_OF(18, MatmulDesc, scales, 1),
    LANESCOPE_ATTRIBUTE_OF(19, MatmulDesc, scales, 2),
    LANESCOPE_ATTRIBUTE_OF(20, MatmulDesc, scales, 3),
    LANESCOPE_ATTRIBUTE(21, MatmulDesc, largest_of_d),
    LANESCOPE_ATTRIBUTE(22, MatmulDesc, aux_type),
    LANESCOPE_ATTRIBUTE_OF(23, MatmulDesc, scales, 4),
    LANESCOPE_ATTRIBUTE(24, MatmulDesc, largest_of_aux),
    LANESCOPE_ATTRIBUTE(25, MatmulDesc, fast_accumulation),
    LANESCOPE_ATTRIBUTE(26, MatmulDesc, bias_type),
    LANESCOPE_ATTRIBUTE_OF(31, MatmulDesc, scale_modes, 0),
    LANESCOPE_ATTRIBUTE_OF(32, MatmulDesc, scale_modes, 1),
    LANESCOPE_ATTRIBUTE_OF(33, MatmulDesc, scale_modes, 2),
    LANESCOPE_ATTRIBUTE_OF(34, MatmulDesc, scale_modes, 3),
    LANESCOPE_ATTRIBUTE_OF(35, MatmulDesc, scale_modes, 4),
    LANESCOPE_ATTRIBUTE_OF(36, MatmulDesc, scales, 5),
    LANESCOPE_ATTRIBUTE_OF(37, MatmulDesc, scale_modes, 5),
};
constexpr Attribute preference_attributes[] = {
    LANESCOPE_ATTRIBUTE(0, Preference, search_mode),
    LANESCOPE_ATTRIBUTE(1, Preference, workspace_bytes),
    LANESCOPE_ATTRIBUTE(3, Preference, reductions),
    LANESCOPE_ATTRIBUTE_OF(5, Preference, alignments, 0),
    LANESCOPE_ATTRIBUTE_OF(6, Preference, alignments, 1),
    LANESCOPE_ATTRIBUTE_OF(7, Preference, alignments, 2),
    LANESCOPE_ATTRIBUTE_OF(8, Preference, alignments, 3),
    LANESCOPE_ATTRIBUTE(9, Preference, waves),
    LANESCOPE_ATTRIBUTE(12, Preference, implementations),
};
// clang-format on

template <size_t count>
const Attribute* find(const Attribute (&attributes)[count], int number) {
  for (const Attribute& attribute : attributes)
    if (attribute.number == number) return &attribute;
  return nullptr;
}

template <size_t count>
Status set(const Attribute (&attributes)[count], void* descriptor, int number, const void* from,
           size_t bytes) {
  const Attribute* attribute = find(attributes, number);
  if (descriptor == nullptr || from == nullptr || attribute == nullptr || bytes != attribute->bytes)
    return Status::invalid_value;
  std::memcpy(static_cast<char*>(descriptor) + attribute->offset, from, bytes);
  return Status::success;
}

/// With room for nothing, says how much there is.
template <size_t count>
Status get(const Attribute (&attributes)[count], const void* descriptor, int number, void* to, size_t bytes,
           size_t* written) {
  const Attribute* attribute = find(attributes, number);
  if (descriptor == nullptr || attribute == nullptr || (bytes == 0 ? written == nullptr : to == nullptr) ||
      (bytes != 0 && bytes < attribute->bytes))
    return Status::invalid_value;
  if (bytes != 0) std::memcpy(to, static_cast<const char*>(descriptor) + attribute->offset, attribute->bytes);
  if (written != nullptr) *written = attribute->bytes;
  return Status::success;
}

/// One that is made here, with as much room as any header says.
template <typename T>
struct Created : T {
  static_assert(sizeof(T) <= T::least_words * sizeof(uint64_t));
  char more[T::most_words * sizeof(uint64_t) - sizeof(T)];
};

/// Makes one in memory that is the program's, or was created here: in as many bytes as the program knows of.
template <typename T>
Status init(const char* function, void* at, size_t bytes, const T& value) {
  if (at == nullptr) return Status::invalid_value;
  if (bytes < sizeof(T))
    return libraries::refuse(
        function, Status::invalid_value,
        "the program's header has {} bytes for the descriptor, which needs {} here: let the "
        "library make it (…Create)",
        bytes, sizeof(T));
  std::memset(at, 0, std::min(bytes, sizeof(Created<T>)));
  new (at) T(value);
  return Status::success;
}
template <typename T>
Status create(T** out, const T& value) {
  if (out == nullptr) return Status::invalid_value;
  *out = std::make_unique<Created<T>>(Created<T>{value, {}}).release();
  return Status::success;
}
/// Null is nothing to destroy.
template <typename T>
Status destroy(T* descriptor) {
  const std::unique_ptr<Created<T>> destroyed(static_cast<Created<T>*>(descriptor));
  return Status::success;
}

MatrixLayout layout_of(DataType type, uint64_t rows, uint64_t columns, int64_t leading) {
  return {.type = type, .rows = rows, .columns = columns, .leading = leading};
}
MatmulDesc matmul_of(ComputeType compute, DataType scale_type) {
  return {.compute = compute, .scale_type = scale_type};
}

}  // namespace

#define LANESCOPE_DESCRIPTOR(name, T, attributes)                                                     \
  LANESCOPE_CUDA_API Status cublasLt##name##Destroy(T* descriptor) { return destroy(descriptor); }    \
  LANESCOPE_CUDA_API Status cublasLt##name##SetAttribute(T* descriptor, int number, const void* from, \
                                                         size_t bytes) {                              \
    return set(attributes, descriptor, number, from, bytes);                                          \
  }                                                                                                   \
  LANESCOPE_CUDA_API Status cublasLt##name##GetAttribute(const T* descriptor, int number, void* to,   \
                                                         size_t bytes, size_t* written) {             \
    return get(attributes, descriptor, number, to, bytes, written);                                   \
  }
LANESCOPE_DESCRIPTOR(MatrixLayout, MatrixLayout, layout_attributes)
LANESCOPE_DESCRIPTOR(MatmulDesc, MatmulDesc, matmul_attributes)
LANESCOPE_DESCRIPTOR(MatmulPreference, Preference, preference_attributes)

LANESCOPE_CUDA_API Status cublasLtMatrixLayoutCreate(MatrixLayout** out, DataType type, uint64_t rows,
                                                     uint64_t columns, int64_t leading) {
  return create(out, layout_of(type, rows, columns, leading));
}
LANESCOPE_CUDA_API Status cublasLtMatrixLayoutInit_internal(void* at, size_t bytes, DataType type,
                                                            uint64_t rows, uint64_t columns,
                                                            int64_t leading) {
  return init("cublasLtMatrixLayoutInit", at, bytes, layout_of(type, rows, columns, leading));
}
LANESCOPE_CUDA_API Status cublasLtMatmulDescCreate(MatmulDesc** out, ComputeType compute,
                                                   DataType scale_type) {
  return create(out, matmul_of(compute, scale_type));
}
LANESCOPE_CUDA_API Status cublasLtMatmulDescInit_internal(void* at, size_t bytes, ComputeType compute,
                                                          DataType scale_type) {
  return init("cublasLtMatmulDescInit", at, bytes, matmul_of(compute, scale_type));
}
LANESCOPE_CUDA_API Status cublasLtMatmulPreferenceCreate(Preference** out) {
  return create(out, Preference{});
}
LANESCOPE_CUDA_API Status cublasLtMatmulPreferenceInit_internal(void* at, size_t bytes) {
  return init("cublasLtMatmulPreferenceInit", at, bytes, Preference{});
}

}  // namespace lanescope::cuda::blas_lt
