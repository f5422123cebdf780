// Kernels that other compilers made (Triton, Numba, clang): their PTX is loaded from files, launched as those
// packages launch it, and the results are checked. Arguments: the folder of the PTX, and which kernel.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

#define CHECK(call) require((call) == 0, #call)

template <class T>
T* upload(const std::vector<T>& values) {
  void* device = nullptr;
  CHECK(cudaMalloc(&device, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, values.data(), values.size() * sizeof(T), 1));
  return static_cast<T*>(device);
}
template <class T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> values(count);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(values.data(), device, count * sizeof(T), 2));
  return values;
}

/// The only kernel of a file.
void* kernel_of(const std::string& path) {
  void *library = nullptr, *kernel = nullptr;
  CHECK(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryEnumerateKernels(&kernel, 1, library));
  return kernel;
}

/// Arguments of any types, by address.
template <class... T>
void launch(void* kernel, dim3 grid, dim3 block, size_t shared, T... arguments) {
  void* list[] = {&arguments...};
  CHECK(cudaLaunchKernel(kernel, grid, block, list, shared, nullptr));
}

// Triton's kernels end in two pointers to scratch memory, which these do not use.
constexpr void* scratch = nullptr;

void triton_add(void* kernel) {
  const int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = 0.5f * static_cast<float>(i), y[i] = 1000.0f - static_cast<float>(i);
  float* out = upload(std::vector<float>(n + 24, -1.0f));
  launch(kernel, {4}, {128}, 0, upload(x), upload(y), out, n, scratch, scratch);
  const std::vector<float> result = download(out, n + 24);
  for (int i = 0; i < n; ++i) require(result[i] == x[i] + y[i], "the sum");
  for (int i = n; i < n + 24; ++i) require(result[i] == -1.0f, "nothing behind the end");
}

void triton_softmax(void* kernel) {
  const int rows = 5, n = 400, stride = 416;
  std::vector<float> x(rows * stride);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * 10;
  float* out = upload(std::vector<float>(x.size(), -1.0f));
  launch(kernel, {rows}, {128}, 16, out, upload(x), stride, n, scratch, scratch);
  const std::vector<float> result = download(out, x.size());
  for (int r = 0; r < rows; ++r) {
    const float* row = &x[r * stride];
    double sum = 0;
    const double most = *std::max_element(row, row + n);
    for (int i = 0; i < n; ++i) sum += std::exp(row[i] - most);
    for (int i = 0; i < n; ++i) {
      const double expected = std::exp(row[i] - most) / sum;
      require(std::fabs(result[r * stride + i] - expected) <= 1e-6 + 1e-5 * expected, "the softmax");
    }
    for (int i = n; i < stride; ++i) require(result[r * stride + i] == -1.0f, "nothing behind the row");
  }
}

/// A small whole number as a half.
uint16_t half(int value) {
  if (value == 0) return 0;
  int exponent = 0;
  while (std::abs(value) >> (exponent + 1) != 0) ++exponent;
  const int fraction = (std::abs(value) << (10 - exponent)) & 0x3ff;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
}

void triton_matmul(void* kernel) {
  const int n = 64, k = 96;
  std::vector<uint16_t> a(n * k), b(k * n);
  const auto left = [](int i) { return i * 5 % 7 - 3; };
  const auto right = [](int i) { return i * 3 % 5 - 2; };
  for (int i = 0; i < n * k; ++i) a[i] = half(left(i)), b[i] = half(right(i));
  float* out = upload(std::vector<float>(n * n));
  launch(kernel, {n / 32, n / 32}, {128}, 4096, upload(a), upload(b), out, n, k, scratch, scratch);
  const std::vector<float> result = download(out, n * n);
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += left(y * k + i) * right(i * n + x);
      require(result[y * n + x] == static_cast<float>(sum), "the product");
    }
}

// Numba's arrays are seven arguments and more: two owners, the number of items and their bytes, the address,
// the extents and the strides.

void numba_sum_blocks(void* kernel) {
  const int64_t n = 1000, blocks = 4, bytes = 4;
  std::vector<float> x(n);
  for (int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 13);
  float* out = upload(std::vector<float>(blocks));
  void* none = nullptr;
  launch(kernel, {4}, {256}, 0, none, none, n, bytes, upload(x), n, bytes, none, none, blocks, bytes, out,
         blocks, bytes);
  const std::vector<float> result = download(out, blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    float sum = 0;
    for (int64_t i = b * 256; i < std::min<int64_t>(n, b * 256 + 256); ++i) sum += x[i];
    require(result[b] == sum, "the sums");
  }
}

void numba_mandelbrot(void* kernel) {
  const int width = 48, height = 32, most = 100;
  int32_t* out = upload(std::vector<int32_t>(width * height, -1));
  void* none = nullptr;
  const int64_t items = width * height, bytes = 4, rows = height, columns = width, row = width * 4;
  launch(kernel, {3, 2}, {16, 16}, 0, none, none, items, bytes, out, rows, columns, row, bytes, width, height,
         most);
  const std::vector<int32_t> result = download(out, width * height);
  int inside = 0, different = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double cr = 3.0 * x / width - 2.0, ci = 2.0 * y / height - 1.0;
      double zr = 0, zi = 0;
      int n = 0;
      for (; n < most && zr * zr + zi * zi < 4; ++n) {
        const double next = zr * zr - zi * zi + cr;
        zi = zr * zi + zi * zr + ci;
        zr = next;
      }
      inside += n == most;
      different += result[y * width + x] != n;
    }
  // At the edge the rounding of a fused multiply and add may decide.
  require(inside > 100 && different <= items / 100, "the numbers of iterations");
}

/// As clang has it in clang_kernels.cu.
struct Matrix {
  const float* data;
  int pitch;
};

void clang_transpose(void* kernel) {
  constexpr int n = 32, in_pitch = 40, out_pitch = 33;
  std::vector<float> in(n * in_pitch);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  float* out = upload(std::vector<float>(n * out_pitch, -1.0f));
  launch(kernel, {1}, {n, n}, 0, Matrix{out, out_pitch}, Matrix{upload(in), in_pitch});
  const std::vector<float> result = download(out, n * out_pitch);
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) require(result[y * out_pitch + x] == in[x * in_pitch + y], "the transpose");
    require(result[y * out_pitch + n] == -1.0f, "nothing behind the row");
  }
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 3, "arguments: FOLDER KERNEL");
  const std::string name = argv[2];
  void* kernel = kernel_of(std::string(argv[1]) + "/" + name + ".ptx");
  if (name == "triton_add") triton_add(kernel);
  if (name == "triton_softmax") triton_softmax(kernel);
  if (name == "triton_matmul") triton_matmul(kernel);
  if (name == "numba_sum_blocks") numba_sum_blocks(kernel);
  if (name == "numba_mandelbrot") numba_mandelbrot(kernel);
  if (name == "clang_transpose") clang_transpose(kernel);
  std::printf("%s ok\n", name.c_str());
}
