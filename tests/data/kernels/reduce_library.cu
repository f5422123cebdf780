// Kernels of include/lanescope/kernels/reduce.cuh, instantiated for tests on the engine
// (tests/kernels/reduce_library_test.cpp), which need no nvcc.
#include "lanescope/kernels/reduce.cuh"

namespace lanescope::kernels::reduce_detail {

/// As Sum, without saying that it commutes: elements keep their order.
struct Concatenate {
  /// Two digits strings in base 8: value and 8^length.
  struct Digits {
    unsigned value, weight;
  };
  LANESCOPE_HD Digits operator()(const Digits& a, const Digits& b) const {
    return {a.value * b.weight + b.value, a.weight * b.weight};
  }
};

// One array: pieces of it by blocks, their results by one block.
template __global__ void reduce_pieces<threads, true, AsValue>(float*, const float*, Pieces, bool, float,
                                                               Sum);
template __global__ void reduce_pieces<threads, false, AsValue>(float*, const float*, Pieces, bool, float,
                                                                Sum);
template __global__ void reduce_pieces<threads, true, WithIndex>(Indexed<float>*, const float*, Pieces, bool,
                                                                 Indexed<float>, ArgMin);
template __global__ void reduce_pieces<threads, true, AsValue>(Concatenate::Digits*,
                                                               const Concatenate::Digits*, Pieces, bool,
                                                               Concatenate::Digits, Concatenate);
// Short segments, eight lanes each.
template __global__ void reduce_pieces<8, true, AsValue>(float*, const float*, Pieces, bool, float, Sum);
// Segments given by offsets.
template __global__ void reduce_short_segments<8, AsValue>(float*, const float*, Segments<int>, uint64_t,
                                                           Tasks<float>, bool, float, Sum);
template __global__ void reduce_long_segments<AsValue>(float*, const float*, Segments<int>, Tasks<float>,
                                                       bool, float, Sum);

}  // namespace lanescope::kernels::reduce_detail
