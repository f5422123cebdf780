// Mipmaps and cubemaps: what calls return, and what kernels read. Each line is what an H100 printed.
#include <cstdio>
#include <cstring>
#include <vector>

#include <cuda_fp16.h>

constexpr int points = 48;
struct Point {
  float x, y, z, level;
  float dx[3], dy[3];
  int layer;
};
enum Form { plain, level, gradient };

template <int dimensions, bool layered>
__device__ float4 read(cudaTextureObject_t t, const Point& p, Form form) {
  if constexpr (dimensions == 1) {
    if (form == plain) return layered ? tex1DLayered<float4>(t, p.x, p.layer) : tex1D<float4>(t, p.x);
    if (form == level)
      return layered ? tex1DLayeredLod<float4>(t, p.x, p.layer, p.level) : tex1DLod<float4>(t, p.x, p.level);
    return layered ? tex1DLayeredGrad<float4>(t, p.x, p.layer, p.dx[0], p.dy[0])
                   : tex1DGrad<float4>(t, p.x, p.dx[0], p.dy[0]);
  } else if constexpr (dimensions == 2) {
    const float2 dx = make_float2(p.dx[0], p.dx[1]), dy = make_float2(p.dy[0], p.dy[1]);
    if (form == plain)
      return layered ? tex2DLayered<float4>(t, p.x, p.y, p.layer) : tex2D<float4>(t, p.x, p.y);
    if (form == level)
      return layered ? tex2DLayeredLod<float4>(t, p.x, p.y, p.layer, p.level)
                     : tex2DLod<float4>(t, p.x, p.y, p.level);
    return layered ? tex2DLayeredGrad<float4>(t, p.x, p.y, p.layer, dx, dy)
                   : tex2DGrad<float4>(t, p.x, p.y, dx, dy);
  } else if constexpr (dimensions == 3) {
    const float4 dx = make_float4(p.dx[0], p.dx[1], p.dx[2], 0),
                 dy = make_float4(p.dy[0], p.dy[1], p.dy[2], 0);
    if (form == plain) return tex3D<float4>(t, p.x, p.y, p.z);
    if (form == level) return tex3DLod<float4>(t, p.x, p.y, p.z, p.level);
    return tex3DGrad<float4>(t, p.x, p.y, p.z, dx, dy);
  } else {
    if (form == plain)
      return layered ? texCubemapLayered<float4>(t, p.x, p.y, p.z, p.layer)
                     : texCubemap<float4>(t, p.x, p.y, p.z);
    return layered ? texCubemapLayeredLod<float4>(t, p.x, p.y, p.z, p.layer, p.level)
                   : texCubemapLod<float4>(t, p.x, p.y, p.z, p.level);
  }
}
template <int dimensions, bool layered>
__global__ void sample(cudaTextureObject_t t, const Point* p, float4* out, Form form) {
  out[threadIdx.x] = read<dimensions, layered>(t, p[threadIdx.x], form);
}
__global__ void on_cube(cudaSurfaceObject_t s, int layered) {
  const int x = threadIdx.x % 4, y = threadIdx.x / 4 % 4, face = threadIdx.x / 16;
  float4 v;
  if (layered)
    surfCubemapLayeredread(&v, s, x * 16, y, 6 + face);
  else
    surfCubemapread(&v, s, x * 16, y, face);
  v.x += 1000;
  if (layered)
    surfCubemapLayeredwrite(v, s, x * 16, y, 6 + face);
  else
    surfCubemapwrite(v, s, x * 16, y, face);
}

Point* inputs;
float4* outputs;
void show(const char* name, int dimensions, bool layered, cudaTextureObject_t t, const std::vector<Point>& p,
          Form form) {
  cudaMemcpy(inputs, p.data(), p.size() * sizeof(Point), cudaMemcpyDefault);
  const unsigned n = static_cast<unsigned>(p.size());
  if (dimensions == 1 && !layered) sample<1, false><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 1 && layered) sample<1, true><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 2 && !layered) sample<2, false><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 2 && layered) sample<2, true><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 3) sample<3, false><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 4 && !layered) sample<4, false><<<1, n>>>(t, inputs, outputs, form);
  if (dimensions == 4 && layered) sample<4, true><<<1, n>>>(t, inputs, outputs, form);
  std::vector<float4> got(n);
  const cudaError_t e = cudaMemcpy(got.data(), outputs, n * 16, cudaMemcpyDefault);
  printf("%s:%s", name, e == cudaSuccess ? "" : cudaGetErrorName(e));
  for (const float4& v : got) printf(" %.4g", v.x);
  printf("\n");
}
void fill(cudaArray_t a, float base) {
  cudaExtent e;
  cudaChannelFormatDesc f;
  unsigned flags;
  cudaArrayGetInfo(&f, &e, &flags, a);
  const size_t h = e.height ? e.height : 1, d = e.depth ? e.depth : 1;
  std::vector<float4> v(e.width * h * d);
  for (size_t z = 0, i = 0; z < d; ++z)
    for (size_t y = 0; y < h; ++y)
      for (size_t x = 0; x < e.width; ++x, ++i) v[i] = make_float4(base + x + 16 * y + 256 * z, 1, 2, 3);
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(v.data(), e.width * 16, e.width, h);
  c.dstArray = a;
  c.extent = make_cudaExtent(e.width, h, d);
  c.kind = cudaMemcpyHostToDevice;
  const cudaError_t s = cudaMemcpy3D(&c);
  if (s != cudaSuccess) printf("copy: %s\n", cudaGetErrorName(s));
}
const cudaChannelFormatDesc float4s = cudaCreateChannelDesc<float4>();
const char* name(cudaError_t e) {
  cudaGetLastError();
  return cudaGetErrorName(e);
}

cudaMipmappedArray_t mipmap(cudaExtent e, unsigned levels, unsigned flags) {
  cudaMipmappedArray_t m = nullptr;
  cudaError_t s = cudaMallocMipmappedArray(&m, &float4s, e, levels, flags);
  if (s != cudaSuccess) {
    printf("mipmap: %s\n", name(s));
    return m;
  }
  for (unsigned l = 0; l < levels; ++l) {
    cudaArray_t a;
    if (cudaGetMipmappedArrayLevel(&a, m, l) == cudaSuccess)
      fill(a, 10000 * l);
    else {
      cudaGetLastError();
    }
  }
  return m;
}
cudaTextureObject_t texture(cudaMipmappedArray_t m, cudaTextureDesc d, cudaError_t* out = nullptr) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  cudaTextureObject_t t = 0;
  cudaError_t s = cudaCreateTextureObject(&t, &r, &d, nullptr);
  if (out)
    *out = s;
  else if (s != cudaSuccess)
    printf("texture: %s\n", name(s));
  return t;
}

void statuses() {
  const struct {
    const char* name;
    cudaExtent e;
    unsigned levels, flags;
  } cases[] = {{"none", {8, 8, 0}, 0, 0},
               {"one", {8, 8, 0}, 1, 0},
               {"four", {8, 8, 0}, 4, 0},
               {"five", {8, 8, 0}, 5, 0},
               {"many", {8, 8, 0}, 1000, 0},
               {"flat", {9, 0, 0}, 9, 0},
               {"odd", {9, 5, 0}, 9, 0},
               {"deep", {4, 5, 16}, 9, 0},
               {"layers", {4, 4, 16}, 9, cudaArrayLayered},
               {"lines", {4, 0, 16}, 9, cudaArrayLayered},
               {"cube", {4, 4, 6}, 9, cudaArrayCubemap},
               {"cubes", {4, 4, 12}, 9, cudaArrayCubemap | cudaArrayLayered},
               {"no cube", {4, 4, 5}, 3, cudaArrayCubemap},
               {"oblong cube", {4, 8, 6}, 3, cudaArrayCubemap},
               {"nothing", {0, 8, 0}, 3, 0},
               {"12 faces", {4, 4, 12}, 3, cudaArrayCubemap},
               {"surface", {8, 8, 0}, 4, cudaArraySurfaceLoadStore},
               {"gather", {8, 8, 0}, 4, cudaArrayTextureGather}};
  for (const auto& c : cases) {
    cudaMipmappedArray_t m = nullptr;
    printf("%s: %s;", c.name, name(cudaMallocMipmappedArray(&m, &float4s, c.e, c.levels, c.flags)));
    for (unsigned l = 0; m && l < 12; ++l) {
      cudaArray_t a;
      cudaExtent e;
      cudaChannelFormatDesc f;
      unsigned flags;
      const cudaError_t s = cudaGetMipmappedArrayLevel(&a, m, l);
      if (s != cudaSuccess) {
        printf(" %s", name(s));
        break;
      }
      cudaArrayGetInfo(&f, &e, &flags, a);
      printf(" %zux%zux%zu/%u", e.width, e.height, e.depth, flags);
    }
    printf("\n");
    if (m) cudaFreeMipmappedArray(m);
  }
  cudaMipmappedArray_t m = mipmap({8, 8, 0}, 4, cudaArraySurfaceLoadStore);
  cudaArray_t a, b;
  printf("no array: %s\n", name(cudaGetMipmappedArrayLevel(nullptr, m, 0)));
  printf("no mipmap: %s\n", name(cudaGetMipmappedArrayLevel(&a, nullptr, 0)));
  printf("no out: %s\n", name(cudaMallocMipmappedArray(nullptr, &float4s, {8, 8, 0}, 1, 0)));
  cudaGetMipmappedArrayLevel(&a, m, 1);
  cudaGetMipmappedArrayLevel(&b, m, 1);
  printf("same level: %d\n", a == b);
  cudaTextureDesc d = {};
  cudaError_t s;
  texture(m, d, &s);
  printf("unnormalised: %s\n", name(s));
  d.normalizedCoords = 1;
  cudaTextureObject_t t = texture(m, d, &s);
  printf("normalised: %s\n", name(s));
  d.mipmapFilterMode = cudaFilterModeLinear;
  texture(m, d, &s);
  printf("linear levels: %s\n", name(s));
  d.minMipmapLevelClamp = 3;
  d.maxMipmapLevelClamp = 1;
  texture(m, d, &s);
  printf("crossed: %s\n", name(s));
  d.minMipmapLevelClamp = -3;
  texture(m, d, &s);
  printf("below: %s\n", name(s));
  d.mipmapLevelBias = 1000;
  texture(m, d, &s);
  printf("biased: %s\n", name(s));
  d.mipmapFilterMode = static_cast<cudaTextureFilterMode>(2);
  texture(m, d, &s);
  printf("mode 2: %s\n", name(s));
  d = {};
  d.normalizedCoords = 1;
  d.maxAnisotropy = 16;
  texture(m, d, &s);
  printf("anisotropic: %s\n", name(s));
  texture(nullptr, d, &s);
  printf("null: %s\n", name(s));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = m;
  cudaSurfaceObject_t o;
  printf("surface of all: %s\n", name(cudaCreateSurfaceObject(&o, &r)));
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  printf("surface of one: %s\n", name(cudaCreateSurfaceObject(&o, &r)));
  cudaTextureDesc one = {};
  printf("texture of one: %s\n", name(cudaCreateTextureObject(&t, &r, &one, nullptr)));
  cudaArray_t faces;
  printf("12 faces, no layers: %s\n",
         name(cudaMalloc3DArray(&faces, &float4s, make_cudaExtent(4, 4, 12), cudaArrayCubemap)));
  printf("free one: %s\n", name(cudaFreeArray(a)));
  printf("free null: %s\n", name(cudaFreeMipmappedArray(nullptr)));
  printf("free: %s\n", name(cudaFreeMipmappedArray(m)));
  cudaMipmappedArray_t ints;
  const cudaChannelFormatDesc f = cudaCreateChannelDesc<int4>();
  cudaMallocMipmappedArray(&ints, &f, {8, 8, 0}, 4, 0);
  d = {};
  d.normalizedCoords = 1;
  texture(ints, d, &s);
  printf("integers: %s\n", name(s));
  d.mipmapFilterMode = cudaFilterModeLinear;
  texture(ints, d, &s);
  printf("integers between levels: %s\n", name(s));
}

int main() {
  cudaMalloc(&inputs, points * 4 * sizeof(Point));
  cudaMalloc(&outputs, points * 4 * 16);
  statuses();
  std::vector<Point> p;
  for (int i = 0; i < points; ++i) {
    Point q = {0.3f, 0.3f, 0.3f, -1 + i * 0.125f};
    p.push_back(q);
  }
  auto m2 = mipmap({8, 8, 0}, 4, 0);
  cudaTextureDesc d = {};
  d.normalizedCoords = 1;
  d.maxMipmapLevelClamp = 10;
  for (auto& a : d.addressMode) a = cudaAddressModeClamp;
  show("point", 2, false, texture(m2, d), p, level);
  for (int i = 0; i < points; ++i) p[i].level = i * 0.01f + 0.3f;
  show("finer", 2, false, texture(m2, d), p, level);
  for (int i = 0; i < points; ++i) p[i].level = 0.496f + i / 4096.0f;
  show("finest", 2, false, texture(m2, d), p, level);
  for (int i = 0; i < points; ++i) p[i].level = -1 + i * 0.125f;
  d.mipmapFilterMode = cudaFilterModeLinear;
  show("linear levels", 2, false, texture(m2, d), p, level);
  d.filterMode = cudaFilterModeLinear;
  show("trilinear", 2, false, texture(m2, d), p, level);
  for (int i = 0; i < points; ++i) p[i].level = i / 1024.0f + 1;
  show("trilinear, fine", 2, false, texture(m2, d), p, level);
  for (int i = 0; i < points; ++i) p[i].level = -1 + i * 0.125f;
  d.mipmapLevelBias = 0.3f;
  show("bias", 2, false, texture(m2, d), p, level);
  show("bias, plain", 2, false, texture(m2, d), p, plain);
  d.minMipmapLevelClamp = 0.5f;
  d.maxMipmapLevelClamp = 1.75f;
  show("bounds", 2, false, texture(m2, d), p, level);
  show("bounds, plain", 2, false, texture(m2, d), p, plain);
  d.mipmapLevelBias = 0;
  d.minMipmapLevelClamp = 1.25f;
  show("least", 2, false, texture(m2, d), p, plain);
  d.maxMipmapLevelClamp = 0.5f;
  show("crossed", 2, false, texture(m2, d), p, level);
  d.minMipmapLevelClamp = 0;
  d.maxMipmapLevelClamp = 0;
  show("zero", 2, false, texture(m2, d), p, level);
  d.maxMipmapLevelClamp = 10;
  d.mipmapFilterMode = cudaFilterModePoint;
  show("nearest level", 2, false, texture(m2, d), p, level);
  // Gradients.
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.filterMode = cudaFilterModePoint;
  std::vector<Point> g = p;
  for (int i = 0; i < points; ++i) {
    g[i].dx[0] = i / 64.0f;
  }
  show("gradient x", 2, false, texture(m2, d), g, gradient);
  for (int i = 0; i < points; ++i) {
    g[i].dx[0] = 0;
    g[i].dy[1] = i / 64.0f;
  }
  show("gradient y", 2, false, texture(m2, d), g, gradient);
  for (int i = 0; i < points; ++i) {
    g[i].dx[0] = i / 64.0f;
    g[i].dx[1] = i / 96.0f;
    g[i].dy[0] = 0.25f;
    g[i].dy[1] = -0.125f;
  }
  auto m1 = mipmap({16, 0, 0}, 5, 0), l1 = mipmap({16, 0, 3}, 5, cudaArrayLayered),
       l2 = mipmap({8, 4, 3}, 4, cudaArrayLayered), m3 = mipmap({8, 4, 4}, 4, 0),
       n2 = mipmap({9, 5, 0}, 4, 0);
  for (int i = 0; i < points; ++i)
    p[i].layer = i % 4, p[i].x = i / 48.0f, p[i].y = i / 60.0f, p[i].z = i / 50.0f;
  show("one dimension", 1, false, texture(m1, d), p, level);
  show("one dimension, layers", 1, true, texture(l1, d), p, level);
  show("two dimensions, layers", 2, true, texture(l2, d), p, level);
  show("three dimensions", 3, false, texture(m3, d), p, level);
  for (int i = 0; i < points; ++i) {
    g[i].dx[0] = i / 64.0f;
    g[i].dx[1] = i / 96.0f;
    g[i].dx[2] = i / 32.0f;
    g[i].dy[0] = 0.25f;
    g[i].dy[1] = -0.125f;
    g[i].dy[2] = 0.1f;
    g[i].layer = i % 3;
  }
  for (int i = 0; i < points; ++i) {
    g[i] = p[i];
    g[i].dx[0] = i / 64.0f;
  }
  show("one dimension, gradient", 1, false, texture(m1, d), g, gradient);
  show("one dimension, layers, gradient", 1, true, texture(l1, d), g, gradient);
  show("two dimensions, layers, gradient", 2, true, texture(l2, d), g, gradient);
  for (auto& q : p) q.level = 0.0f / (q.x - q.x);
  show("no number", 2, false, texture(m2, d), p, level);
  // Cubes.
  std::vector<Point> c;
  for (int i = 0; i < points; ++i) {
    Point q = {};
    const float v[7] = {-1, -0.6f, -0.26f, 0, 0.26f, 0.6f, 1};
    q.x = v[i * 5 % 7];
    q.y = v[i * 3 / 2 % 7];
    q.z = v[(i / 7 + i) % 7];
    q.level = i / 16.0f;
    q.layer = i % 3;
    c.push_back(q);
  }
  cudaArray_t cube, cubes;
  cudaMalloc3DArray(&cube, &float4s, make_cudaExtent(4, 4, 6), cudaArrayCubemap | cudaArraySurfaceLoadStore);
  cudaMalloc3DArray(&cubes, &float4s, make_cudaExtent(4, 4, 12),
                    cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore);
  fill(cube, 0);
  fill(cubes, 0);
  d = {};
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  auto of_array = [&](cudaArray_t a, const cudaTextureDesc& how) {
    r.res.array.array = a;
    cudaTextureObject_t t = 0;
    const cudaError_t s = cudaCreateTextureObject(&t, &r, &how, nullptr);
    if (s != cudaSuccess) printf("texture: %s\n", name(s));
    return t;
  };
  show("cube", 4, false, of_array(cube, d), c, plain);
  d.normalizedCoords = 1;
  show("cube, normalised", 4, false, of_array(cube, d), c, plain);
  d.filterMode = cudaFilterModeLinear;
  show("cube, filtered", 4, false, of_array(cube, d), c, plain);
  for (auto& a : d.addressMode) a = cudaAddressModeBorder;
  d.filterMode = cudaFilterModePoint;
  show("cube, border", 4, false, of_array(cube, d), c, plain);
  d.filterMode = cudaFilterModeLinear;
  show("cubes, filtered", 4, true, of_array(cubes, d), c, plain);
  d.filterMode = cudaFilterModePoint;
  show("cubes", 4, true, of_array(cubes, d), c, plain);
  auto mc = mipmap({4, 4, 6}, 3, cudaArrayCubemap),
       mcs = mipmap({4, 4, 12}, 3, cudaArrayCubemap | cudaArrayLayered);
  d.maxMipmapLevelClamp = 5;
  d.mipmapFilterMode = cudaFilterModeLinear;
  show("cube, levels", 4, false, texture(mc, d), c, level);
  show("cubes, levels", 4, true, texture(mcs, d), c, level);
  r.res.array.array = cube;
  cudaSurfaceObject_t s1 = 0, s2 = 0;
  printf("surface: %s\n", name(cudaCreateSurfaceObject(&s1, &r)));
  r.res.array.array = cubes;
  printf("surfaces: %s\n", name(cudaCreateSurfaceObject(&s2, &r)));
  on_cube<<<1, 96>>>(s1, 0);
  on_cube<<<1, 96>>>(s2, 1);
  printf("kernels: %s\n", name(cudaDeviceSynchronize()));
  d = {};
  show("written", 4, false, of_array(cube, d), c, plain);
  show("written, layers", 4, true, of_array(cubes, d), c, plain);
  // Ties and random directions.
  unsigned seed = 7;
  auto next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) / (1 << 23);
  };
  for (int round = 0; round < 6; ++round) {
    for (auto& q : c) {
      q.x = next();
      q.y = next();
      q.z = next();
    }
    d = {};
    show("random", 4, false, of_array(cube, d), c, plain);
    d.filterMode = cudaFilterModeLinear;
    show("random, filtered", 4, false, of_array(cube, d), c, plain);
  }
  // A sRGB texture, halves that are no numbers.
  cudaArray_t halves;
  const cudaChannelFormatDesc hf = cudaCreateChannelDescHalf4();
  cudaMallocArray(&halves, &hf, 4, 1);
  const unsigned short bits[16] = {0x7e01, 0, 0, 0, 0xfe02, 0, 0, 0, 0x7c01, 0, 0, 0, 0xfc00, 0, 0, 0};
  cudaMemcpy2DToArray(halves, 0, 0, bits, 32, 32, 1, cudaMemcpyHostToDevice);
  d = {};
  std::vector<Point> h(4);
  for (int i = 0; i < 4; ++i) h[i] = {}, h[i].x = i + 0.5f, h[i].y = 0.5f;
  show("halves", 2, false, of_array(halves, d), h, plain);
  unsigned raw[16];
  cudaMemcpy(raw, outputs, 64, cudaMemcpyDefault);
  for (int i = 0; i < 4; ++i) printf(" %08x", raw[4 * i]);
  printf("\n");
  cudaArray_t bytes;
  const cudaChannelFormatDesc bf = cudaCreateChannelDesc<uchar4>();
  cudaMallocArray(&bytes, &bf, 48, 1);
  unsigned char b[48 * 4];
  for (int i = 0; i < 48; ++i) b[4 * i] = i * 5, b[4 * i + 3] = i * 5;
  cudaMemcpy2DToArray(bytes, 0, 0, b, 192, 192, 1, cudaMemcpyHostToDevice);
  d.sRGB = 1;
  h.resize(48);
  for (int i = 0; i < 48; ++i) h[i] = {}, h[i].x = i + 0.5f, h[i].y = 0.5f;
  d.readMode = cudaReadModeElementType;
  show("sRGB, as they are", 2, false, of_array(bytes, d), h, plain);
}
