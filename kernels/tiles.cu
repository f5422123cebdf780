// Transpositions and records through the building blocks of include/lanescope/tile.cuh, whose bank conflicts
// are checked while this file compiles, and the same by hand: the compiler makes the same PTX of both.
//
//   transpose_padded_by_hand     float tile[32][33], written by rows and read by columns
//   transpose_padded             the same with PaddedTile<float, 32, 32>
//   transpose_swizzled_by_hand   float tile[32][32], the column XORed with the row
//   transpose_swizzled_tile      the same with SwizzledTile<float, 32, 32>
//   transpose_16                 SwizzledTile<float, 16, 16>, with blocks of 16x16 threads
//   transpose_doubles            PaddedTile<double, 32, 32>
//   transpose_vectors            SwizzledTile<float, 32, 32, 4>, written and read as float4
//   records_by_hand              struct {float x, y, z, w;} s[256]: each field 4-way
//   records                      StructOfArrays<256, float, float, float, float>
//
// The transpositions of 32x32 tiles take blocks of 32x8 threads, transpose_vectors of 8x32. Width and height
// are multiples of the tile; grid width/32 x height/32 (16 for transpose_16). The records take blocks of 256
// threads: thread i gets the sum of the fields of the record 255 - i of its block.

#include <lanescope/tile.cuh>

namespace access = lanescope::access;

/// Moves the tile of this block from `in` (rows of `width`) through `tile` to its transposed place in `out`.
template <int n, int rows, class T, class Tile>
__device__ __forceinline__ void transpose_through(Tile& tile, T* out, const T* in, int width, int height) {
  const int x = blockIdx.x * n + threadIdx.x, y = blockIdx.y * n + threadIdx.y;
  for (int j = 0; j < n; j += rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * n + threadIdx.x, out_y = blockIdx.x * n + threadIdx.y;
  for (int j = 0; j < n; j += rows) out[(out_y + j) * height + out_x] = tile[threadIdx.x][threadIdx.y + j];
}

using Padded = lanescope::PaddedTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Padded>(access::row));
static_assert(lanescope::conflict_free<"sm_90", Padded>(access::column));

using Swizzled = lanescope::SwizzledTile<float, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Swizzled>(access::row));
static_assert(lanescope::conflict_free<"sm_90", Swizzled>(access::column));

using Small = lanescope::SwizzledTile<float, 16, 16>;
static_assert(lanescope::conflict_free<"sm_90", Small>(access::row));
static_assert(lanescope::conflict_free<"sm_90", Small>(access::column));

using Doubles = lanescope::PaddedTile<double, 32, 32>;
static_assert(lanescope::conflict_free<"sm_90", Doubles>(access::row));
static_assert(lanescope::conflict_free<"sm_90", Doubles>(access::column));

using Vectors = lanescope::SwizzledTile<float, 32, 32, 4>;
static_assert(lanescope::conflict_free<"sm_90", Vectors>(access::vector_row<4>));
static_assert(lanescope::conflict_free<"sm_90", Vectors>(access::vector_column<4>));

struct Record {
  float x, y, z, w;
};
using Records = lanescope::StructOfArrays<256, float, float, float, float>;
static_assert(lanescope::conflict_free<"sm_90", Records>(access::row));

extern "C" {

__global__ void transpose_padded_by_hand(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][33];
  transpose_through<32, 8>(tile, out, in, width, height);
}
__global__ void transpose_padded(float* out, const float* in, int width, int height) {
  __shared__ Padded tile;
  transpose_through<32, 8>(tile, out, in, width, height);
}

__global__ void transpose_swizzled_by_hand(float* out, const float* in, int width, int height) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    tile[threadIdx.y + j][threadIdx.x ^ ((threadIdx.y + j) & 31)] = in[(y + j) * width + x];
  __syncthreads();
  const int out_x = blockIdx.y * 32 + threadIdx.x, out_y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    out[(out_y + j) * height + out_x] = tile[threadIdx.x][(threadIdx.y + j) ^ (threadIdx.x & 31)];
}
__global__ void transpose_swizzled_tile(float* out, const float* in, int width, int height) {
  __shared__ Swizzled tile;
  transpose_through<32, 8>(tile, out, in, width, height);
}

__global__ void transpose_16(float* out, const float* in, int width, int height) {
  __shared__ Small tile;
  transpose_through<16, 16>(tile, out, in, width, height);
}

__global__ void transpose_doubles(double* out, const double* in, int width, int height) {
  __shared__ Doubles tile;
  transpose_through<32, 8>(tile, out, in, width, height);
}

// Thread (x, y) writes elements 4x … 4x+3 of row y. Then it reads a vector of row l of the warp's lane l, so
// the lanes of a warp go down a column of vectors; each writes four elements of one column of `out`.
__global__ void transpose_vectors(float* out, const float* in, int width, int height) {
  static_assert(lanescope::conflict_free<"sm_90", Vectors>(access::vector_row<4>), "also inside of a kernel");
  __shared__ Vectors tile;
  const int x = blockIdx.x * 32 + threadIdx.x * 4, y = blockIdx.y * 32 + threadIdx.y;
  lanescope::vector_at<float4>(tile, threadIdx.y, threadIdx.x * 4) =
      *reinterpret_cast<const float4*>(&in[y * width + x]);
  __syncthreads();
  const int thread = threadIdx.y * 8 + threadIdx.x;
  const int row = thread % 32, column = thread / 32 * 4;
  const float4 v = lanescope::vector_at<float4>(tile, row, column);
  const int out_x = blockIdx.y * 32 + row, out_y = blockIdx.x * 32 + column;
  out[out_y * height + out_x] = v.x;
  out[(out_y + 1) * height + out_x] = v.y;
  out[(out_y + 2) * height + out_x] = v.z;
  out[(out_y + 3) * height + out_x] = v.w;
}

__global__ void records_by_hand(float* out, const Record* in) {
  __shared__ Record s[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  const int other = 255 - threadIdx.x;
  out[i] = s[other].x + s[other].y + s[other].z + s[other].w;
}
__global__ void records(float* out, const Record* in) {
  __shared__ Records s;
  enum { x, y, z, w };
  const int i = blockIdx.x * 256 + threadIdx.x;
  s.get<x>(threadIdx.x) = in[i].x;
  s.get<y>(threadIdx.x) = in[i].y;
  s.get<z>(threadIdx.x) = in[i].z;
  s.get<w>(threadIdx.x) = in[i].w;
  __syncthreads();
  const int other = 255 - threadIdx.x;
  out[i] = s.get<x>(other) + s.get<y>(other) + s.get<z>(other) + s.get<w>(other);
}
}
