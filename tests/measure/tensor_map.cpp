// A program whose kernel reads one tensor map of its parameters and one of device memory: it copies a box of
// the first tensor to the second one; with the argument "im2col", columns of pixels of it. On the driver API,
// with PTX in it, so that no nvcc is needed.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cuda/driver_calls.hpp"

namespace {

/// `load` is the copy from the first tensor.
std::string ptx(const char* load) {
  return std::string(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry move(.param .align 64 .b8 from[128], .param .u64 to)
{
  .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<3>;
  .shared .align 128 .b8 box[512];
  .shared .align 8 .b64 bar;
  mov.b64 %rd1, from;
  cvta.param.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, box;
  mov.u32 %r2, bar;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  mov.u32 %r3, 4;
  mov.u32 %r4, -1;
  cp.async.bulk.tensor.)") +
         load + R"(
again:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%r2], 0;
  @!%p bra again;
  mov.u32 %r3, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd2, {%r3, %r3}], [%r1];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  ret;
}
)";
}

constexpr const char* tile =
    "2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4}], [%r2];";
constexpr const char* columns_of_pixels =
    "3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3, %r4, 0}], [%r2], {1};";

struct alignas(64) Map {
  std::array<char, 128> bytes{};
};

/// Rows of `columns` floats; boxes of 8 columns and 16 rows, swizzled.
Map map_of(uint64_t address, uint64_t columns, uint64_t rows) {
  const std::array<uint64_t, 2> sizes{columns, rows};
  const std::array<uint64_t, 1> strides{4 * columns};
  const std::array<uint32_t, 2> box{8, 16}, steps{1, 1};
  constexpr int f32 = 7, swizzle_32 = 1, promotion_128 = 2, nan = 1;
  Map map;
  if (cuTensorMapEncodeTiled(&map, f32, 2, address, sizes.data(), strides.data(), box.data(), steps.data(), 0,
                             swizzle_32, promotion_128, nan) != 0) {
    std::puts("no tensor map");
    std::exit(1);
  }
  return map;
}

/// The same rows, of which each is a pixel, as images of 4 pixels. Filters of two pixels, one before the
/// first.
Map images_of(uint64_t address, uint64_t columns, uint64_t rows) {
  const std::array<uint64_t, 3> sizes{columns, 4, rows / 4};
  const std::array<uint64_t, 2> strides{4 * columns, 16 * columns};
  const std::array<int, 1> lower{-1}, upper{-1};
  const std::array<uint32_t, 3> steps{1, 1, 1};
  constexpr int f32 = 7, swizzle_32 = 1;
  Map map;
  if (cuTensorMapEncodeIm2col(&map, f32, 3, address, sizes.data(), strides.data(), lower.data(), upper.data(),
                              8, 16, steps.data(), 0, swizzle_32, 0, 0) != 0) {
    std::puts("no tensor map");
    std::exit(1);
  }
  return map;
}

}  // namespace

int main(int count, char**) {
  const bool has_images = count > 1;
  constexpr uint64_t columns = 16, rows = 32;
  int device = 0;
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  uint64_t from = 0, to = 0, second = 0, early = 0;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuDevicePrimaryCtxRetain(&context, device);
  cuCtxSetCurrent(context);
  cuModuleLoadData(&module, ptx(has_images ? columns_of_pixels : tile).c_str());
  cuModuleGetFunction(&kernel, module, "move");
  cuMemAlloc_v2(&early, 4 << 20);
  cuMemAlloc_v2(&from, columns * rows * sizeof(float));
  cuMemAlloc_v2(&to, columns * rows * sizeof(float));
  cuMemAlloc_v2(&second, sizeof(Map));
  cuMemFree_v2(early);  // what is left does not begin with a piece of 64 MiB
  std::vector<float> values(columns * rows);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  cuMemcpyHtoD_v2(from, values.data(), values.size() * sizeof(float));
  const Map first = has_images ? images_of(from, columns, rows) : map_of(from, columns, rows),
            other = map_of(to, columns, rows);
  cuMemcpyHtoD_v2(second, &other, sizeof other);
  void* parameters[] = {const_cast<Map*>(&first), &second};
  const int launched = cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
  const int done = cuCtxSynchronize();
  cuMemcpyDtoH_v2(values.data(), to, values.size() * sizeof(float));
  std::printf("launch %d, end %d, second row begins with %g\n", launched, done, values[columns]);
}
