// Memory of every kind: managed (variables too), pinned, registered, pitched, pools, arrays, 2D and 3D copies
// and sets.
#include <unistd.h>

#include <cstring>
#include <vector>

#include "check.hpp"

__managed__ int shared_count = 41;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void increment(int* value) {
  *value += 1;
  shared_count += 1;
}

__global__ void fill(char* rows, size_t pitch, int width, int height) {
  for (int y = threadIdx.y; y < height; y += blockDim.y)
    for (int x = threadIdx.x; x < width; x += blockDim.x) rows[y * pitch + x] = static_cast<char>(x + 10 * y);
}

int main() {
  CHECK(shared_count == 41 && table[3] == 4);
  int* managed = nullptr;
  CHECK_CUDA(cudaMallocManaged(&managed, sizeof *managed));
  *managed = 1;
  increment<<<1, 1>>>(managed);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(*managed == 2 && shared_count == 42);

  int* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(&pinned, sizeof *pinned));
  *pinned = 5;
  int* mapped = nullptr;
  CHECK_CUDA(cudaHostGetDevicePointer(&mapped, pinned, 0));
  increment<<<1, 1>>>(mapped);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(*pinned == 6);

  std::vector<int> own(16, 3);
  CHECK_CUDA(cudaHostRegister(own.data(), own.size() * sizeof(int), cudaHostRegisterMapped));
  increment<<<1, 1>>>(own.data());
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(own[0] == 4);
  CHECK_CUDA(cudaHostUnregister(own.data()));

  cudaPointerAttributes attributes;
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, managed));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, pinned));
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, own.data()));
  CHECK(attributes.type == cudaMemoryTypeUnregistered && attributes.device == -2);

  // What gets no memory gets a null pointer (as on an H200).
  const size_t too_much = size_t{1} << 48;
  void* nothing = &own;
  const auto is_null = [&](cudaError_t status, cudaError_t expected) {
    CHECK(status == expected && nothing == nullptr && cudaGetLastError() == expected);
    nothing = &own;
  };
  size_t of_nothing = 0;
  is_null(cudaMalloc(&nothing, too_much), cudaErrorMemoryAllocation);
  is_null(cudaMallocHost(&nothing, too_much), cudaErrorMemoryAllocation);
  is_null(cudaHostAlloc(&nothing, 64, 99), cudaErrorInvalidValue);
  is_null(cudaMallocManaged(&nothing, 64, 99), cudaErrorInvalidValue);
  is_null(cudaMallocAsync(&nothing, too_much, cudaStream_t{}), cudaErrorMemoryAllocation);
  is_null(cudaMallocPitch(&nothing, &of_nothing, too_much, 4), cudaErrorMemoryAllocation);
  is_null(cudaMallocPitch(&nothing, &of_nothing, size_t{1} << 40, size_t{1} << 40), cudaErrorInvalidValue);
  CHECK(of_nothing == size_t{1} << 40);
  cudaPitchedPtr no_box = {&own, 1, 2, 3};
  CHECK(cudaMalloc3D(&no_box, {1 << 20, 1 << 20, 1 << 20}) == cudaErrorMemoryAllocation);
  CHECK(no_box.ptr == nullptr && no_box.pitch == 1 << 20 && no_box.xsize == 2 && no_box.ysize == 3);
  auto no_array = reinterpret_cast<cudaArray_t>(&own);
  const cudaChannelFormatDesc of_floats = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&no_array, &of_floats, 1 << 20, 1 << 20) == cudaErrorInvalidValue &&
        no_array == nullptr);
  cudaGetLastError();

  const int width = 20, height = 7;
  char* rows = nullptr;
  size_t pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&rows, &pitch, width, height));
  CHECK(pitch >= width && pitch % 32 == 0);
  CHECK_CUDA(cudaMemset2D(rows, pitch, 1, width, height));
  fill<<<1, dim3(8, 2)>>>(rows, pitch, width, height);
  std::vector<char> copy(width * height);
  CHECK_CUDA(cudaMemcpy2D(copy.data(), width, rows, pitch, width, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) CHECK(copy[y * width + x] == static_cast<char>(x + 10 * y));
  CHECK(cudaMemcpy2D(copy.data(), 3, rows, pitch, width, height, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidPitchValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidPitchValue);

  cudaPitchedPtr box;
  const cudaExtent extent = make_cudaExtent(24, 5, 3);
  CHECK_CUDA(cudaMalloc3D(&box, extent));
  std::vector<char> cube(24 * 5 * 3), back(24 * 5 * 3);
  for (size_t i = 0; i < cube.size(); ++i) cube[i] = static_cast<char>(i);
  cudaMemcpy3DParms to = {};
  to.srcPtr = make_cudaPitchedPtr(cube.data(), 24, 24, 5);
  to.dstPtr = box;
  to.extent = extent;
  to.kind = cudaMemcpyHostToDevice;
  CHECK_CUDA(cudaMemcpy3D(&to));
  cudaMemcpy3DParms from = {};
  from.srcPtr = box;
  from.srcPos = make_cudaPos(4, 1, 1);
  from.dstPtr = make_cudaPitchedPtr(back.data(), 24, 24, 5);
  from.extent = make_cudaExtent(8, 2, 2);
  from.kind = cudaMemcpyDeviceToHost;
  CHECK_CUDA(cudaMemcpy3D(&from));
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 8; ++x)
        CHECK(back[z * 120 + y * 24 + x] == cube[(z + 1) * 120 + (y + 1) * 24 + x + 4]);

  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK_CUDA(cudaMallocArray(&array, &format, 16, 4));
  std::vector<float> texels(64), texels_back(64);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels.data(), 64, 64, 4, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy2DFromArray(texels_back.data(), 64, array, 0, 0, 64, 4, cudaMemcpyDeviceToHost));
  CHECK(texels == texels_back);

  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  cudaLaunchAttributeValue attribute = {};
  attribute.accessPolicyWindow.num_bytes = 4096;
  CHECK_CUDA(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &attribute));
  attribute = {};
  CHECK_CUDA(cudaStreamGetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &attribute));
  CHECK(attribute.accessPolicyWindow.num_bytes == 4096);
  cudaPointerAttributes told;
  CHECK_CUDA(cudaPointerGetAttributes(&told, table + 1));
  CHECK(told.type == cudaMemoryTypeManaged && told.hostPointer == table + 1);

  // Batches: two lines to the device and back, then boxes to and from an array.
  int *lines = nullptr, first[4] = {1, 2, 3, 4}, second[2] = {5, 6}, both[6] = {};
  CHECK_CUDA(cudaMalloc(&lines, sizeof both));
  {
    void* targets[] = {lines, lines + 4, both};
    const void* sources[] = {first, second, lines};
    const size_t sizes[] = {sizeof first, sizeof second, sizeof both};
    cudaMemcpyAttributes attributes[2] = {};
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t begins[] = {0, 2};
    CHECK_CUDA(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 2, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < 6; ++i) CHECK(both[i] == i + 1);
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 2, nullptr) ==
          cudaErrorInvalidValue);
    cudaGraph_t graph = nullptr;
    size_t nodes = 1;
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 2, stream) ==
          cudaErrorStreamCaptureUnsupported);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 0);
    CHECK_CUDA(cudaGraphDestroy(graph));
    const size_t empty[] = {sizeof first, 0, sizeof both};
    CHECK(cudaMemcpyBatchAsync(targets, sources, empty, 3, attributes, begins, 2, stream) ==
          cudaErrorInvalidValue);
    attributes[0].flags = 2;
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 2, stream) ==
          cudaErrorInvalidValue);
    attributes[0].flags = 0;
    begins[1] = 0;
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 2, stream) ==
          cudaErrorInvalidValue);
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 3, attributes, begins, 1, stream) ==
          cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  }
  {
    float box[2][3] = {};
    cudaMemcpy3DBatchOp copies[2] = {};
    copies[0].src.type = cudaMemcpyOperandTypePointer;
    copies[0].src.op.ptr.ptr = texels.data() + 17;
    copies[0].src.op.ptr.rowLength = 16;
    copies[0].dst.type = cudaMemcpyOperandTypeArray;
    copies[0].dst.op.array = {array, {2, 1, 0}};
    copies[0].extent = make_cudaExtent(3, 2, 1);
    copies[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    copies[1].src = copies[0].dst;
    copies[1].dst.type = cudaMemcpyOperandTypePointer;
    copies[1].dst.op.ptr.ptr = box;
    copies[1].extent = copies[0].extent;
    copies[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    CHECK_CUDA(cudaMemcpy3DBatchAsync(2, copies, 0, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x) CHECK(box[y][x] == 17.f + 16.f * y + x);
    copies[1].extent.width = 15;  // beyond the array
    CHECK(cudaMemcpy3DBatchAsync(2, copies, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  }
  CHECK_CUDA(cudaFree(lines));
  CHECK_CUDA(cudaFreeArray(array));

  int* pooled = nullptr;
  CHECK_CUDA(cudaMallocAsync(&pooled, sizeof(int), stream));
  CHECK_CUDA(cudaMemsetAsync(pooled, 0, sizeof(int), stream));
  increment<<<1, 1, 0, stream>>>(pooled);
  int result = 0;
  CHECK_CUDA(cudaMemcpyAsync(&result, pooled, sizeof result, cudaMemcpyDefault, stream));
  CHECK_CUDA(cudaFreeAsync(pooled, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(result == 1);

  size_t free_bytes = 0, total = 0, free_after = 0;
  CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total));
  void* large = nullptr;
  CHECK_CUDA(cudaMalloc(&large, size_t{1} << 30));
  CHECK_CUDA(cudaMemGetInfo(&free_after, &total));
  CHECK(free_bytes - free_after == size_t{1} << 30);
  const auto pages = static_cast<size_t>(sysconf(_SC_PHYS_PAGES));
  CHECK(free_bytes <= pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) / 2);
  CHECK(free_bytes == total || cudaMalloc(&large, free_bytes + (1 << 20)) == cudaSuccess);
  CHECK(cudaMalloc(&large, total) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  std::printf("memory ok\n");
}
