// Textures of an array (2D, linear and point filtering, three address modes), of a layered and a 3D array, of
// plain and of pitched memory; and surfaces, written and read; and textures that are gone. What is expected
// is computed by hand.
#include <cmath>
#include <vector>

#include "check.hpp"

struct Out {
  float point, linear, clamped, wrapped, border, layer, volume, plain, pitched, normalized;
};

struct Objects {
  cudaTextureObject_t point, linear, border, wrap, layered, volume, plain, pitched;
};

__global__ void sample(Objects o, Out* out) {
  out->point = tex2D<float>(o.point, 2.7f, 1.2f);           // texel (2, 1)
  out->linear = tex2D<float>(o.linear, 2.0f, 1.5f);         // between (1, 1) and (2, 1)
  out->clamped = tex2D<float>(o.point, -5.0f, 100.0f);      // texel (0, 3)
  out->border = tex2D<float>(o.border, -1.0f, 1.0f);        // outside: 0
  out->wrapped = tex2D<float>(o.wrap, 1.0f + 2.5f / 8, 0);  // texel (2, 0)
  out->layer = tex1DLayered<float>(o.layered, 3.5f, 1);     // texel 3 of layer 1
  out->volume = tex3D<float>(o.volume, 1.5f, 2.5f, 3.5f);   // texel (1, 2, 3)
  out->plain = tex1Dfetch<float>(o.plain, 5);
  out->pitched = tex2D<float>(o.pitched, 1.5f, 2.5f);       // texel (1, 2)
  out->normalized = tex2D<float>(o.wrap, 0.99f, 0.5f / 4);  // texel (7, 0)
}

__global__ void write(cudaSurfaceObject_t surface, int width) {
  surf2Dwrite(10.0f * threadIdx.y + threadIdx.x, surface, threadIdx.x * 4, threadIdx.y);
  __syncthreads();
  if (threadIdx.x == 0) {
    const float last = surf2Dread<float>(surface, (width - 1) * 4, threadIdx.y);
    surf2Dwrite(-last, surface, 0, threadIdx.y);
  }
}

namespace {

cudaTextureObject_t texture(const cudaResourceDesc& resource, cudaTextureAddressMode address,
                            cudaTextureFilterMode filter, bool normalized = false) {
  cudaTextureDesc description = {};
  for (auto& mode : description.addressMode) mode = address;
  description.filterMode = filter;
  description.normalizedCoords = normalized;
  cudaTextureObject_t object = 0;
  CHECK_CUDA(cudaCreateTextureObject(&object, &resource, &description, nullptr));
  return object;
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

void fill(cudaArray_t array, const std::vector<float>& texels, size_t width, size_t height, size_t depth) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr =
      make_cudaPitchedPtr(const_cast<float*>(texels.data()), width * 4, width, height == 0 ? 1 : height);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(width, height == 0 ? 1 : height, depth == 0 ? 1 : depth);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK_CUDA(cudaMemcpy3D(&copy));
}

}  // namespace

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  std::vector<float> texels(8 * 4);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * i);
  cudaArray_t flat, layered, volume, written;
  CHECK_CUDA(cudaMallocArray(&flat, &format, 8, 4));
  CHECK_CUDA(cudaMemcpy2DToArray(flat, 0, 0, texels.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMalloc3DArray(&layered, &format, make_cudaExtent(8, 0, 3), cudaArrayLayered));
  fill(layered, std::vector<float>(texels.begin(), texels.begin() + 24), 8, 0, 3);
  CHECK_CUDA(cudaMalloc3DArray(&volume, &format, make_cudaExtent(2, 4, 4)));
  fill(volume, texels, 2, 4, 4);

  float *plain = nullptr, *pitched = nullptr;
  size_t pitch = 0;
  CHECK_CUDA(cudaMalloc(&plain, 128));
  CHECK_CUDA(cudaMemcpy(plain, texels.data(), 128, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMallocPitch(&pitched, &pitch, 32, 4));
  CHECK_CUDA(cudaMemcpy2D(pitched, pitch, texels.data(), 32, 32, 4, cudaMemcpyHostToDevice));

  cudaResourceDesc of_plain = {};
  of_plain.resType = cudaResourceTypeLinear;
  of_plain.res.linear.devPtr = plain;
  of_plain.res.linear.desc = format;
  of_plain.res.linear.sizeInBytes = 128;
  cudaResourceDesc of_pitched = {};
  of_pitched.resType = cudaResourceTypePitch2D;
  of_pitched.res.pitch2D.devPtr = pitched;
  of_pitched.res.pitch2D.desc = format;
  of_pitched.res.pitch2D.width = 8;
  of_pitched.res.pitch2D.height = 4;
  of_pitched.res.pitch2D.pitchInBytes = pitch;

  Objects objects;
  objects.point = texture(of_array(flat), cudaAddressModeClamp, cudaFilterModePoint);
  objects.linear = texture(of_array(flat), cudaAddressModeClamp, cudaFilterModeLinear);
  objects.border = texture(of_array(flat), cudaAddressModeBorder, cudaFilterModePoint);
  objects.wrap = texture(of_array(flat), cudaAddressModeWrap, cudaFilterModePoint, true);
  objects.layered = texture(of_array(layered), cudaAddressModeClamp, cudaFilterModePoint);
  objects.volume = texture(of_array(volume), cudaAddressModeClamp, cudaFilterModePoint);
  objects.plain = texture(of_plain, cudaAddressModeClamp, cudaFilterModePoint);
  objects.pitched = texture(of_pitched, cudaAddressModeClamp, cudaFilterModePoint);

  Out* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, sizeof *out));
  sample<<<1, 1>>>(objects, out);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  const auto texel = [&](size_t x, size_t y) { return texels[y * 8 + x]; };
  CHECK(out->point == texel(2, 1));
  CHECK(out->linear == (texel(1, 1) + texel(2, 1)) / 2);
  CHECK(out->clamped == texel(0, 3));
  CHECK(out->border == 0);
  CHECK(out->wrapped == texel(2, 0));
  CHECK(out->layer == texels[8 + 3]);
  CHECK(out->volume == texels[3 * 8 + 2 * 2 + 1]);
  CHECK(out->plain == texels[5]);
  CHECK(out->pitched == texel(1, 2));
  CHECK(out->normalized == texel(7, 0));

  CHECK_CUDA(cudaMallocArray(&written, &format, 8, 4, cudaArraySurfaceLoadStore));
  const cudaResourceDesc target = of_array(written);
  cudaSurfaceObject_t surface = 0;
  CHECK_CUDA(cudaCreateSurfaceObject(&surface, &target));
  write<<<1, dim3(8, 4)>>>(surface, 8);
  std::vector<float> back(32);
  CHECK_CUDA(cudaMemcpy2DFromArray(back.data(), 32, written, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x) CHECK(back[y * 8 + x] == (x == 0 ? -(10.0f * y + 7) : 10.0f * y + x));
  CHECK_CUDA(cudaDestroySurfaceObject(surface));
  for (const cudaTextureObject_t object : {objects.point, objects.linear, objects.border, objects.wrap,
                                           objects.layered, objects.volume, objects.plain, objects.pitched})
    CHECK_CUDA(cudaDestroyTextureObject(object));

  // Too early, which a GPU forgives.
  *out = {};
  sample<<<1, 1>>>(objects, out);
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK(out->point == texel(2, 1));
  CHECK(out->layer == texels[8 + 3]);
  CHECK(out->plain == texels[5]);
  std::printf("textures ok\n");
}
