// Kernels that launch kernels (-rdc=true).
#include <cstdio>

/// out[i] = out[i] * factor + 1
__global__ void step(int* out, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = out[i] * factor + 1;
}

/// With zeros before, out[0 … n) = ((0 * 7 + 1) * 2 + 1) * 5 + 1 = 16, since the launch into the tail stream
/// comes last, and out[n … 2 n) = 1.
__global__ void parent(int* out, int n) {
  if (threadIdx.x != 0) return;
  step<<<1, n, 0, cudaStreamTailLaunch>>>(out, 5);
  step<<<1, n>>>(out, 7);
  step<<<1, n>>>(out, 2);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  step<<<n / 2, 2, 64, stream>>>(out + n, 3);
  cudaStreamDestroy(stream);
  if (cudaGetLastError() != cudaSuccess) out[0] = -1;
}

/// Each generation launches the next one: out[0] counts them; out[1], out[2] = error of a launch and what was
/// left
__global__ void nested(int* out, int left) {
  ++out[0];
  if (left == 0) return;
  nested<<<1, 1>>>(out, left - 1);
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  out[1] = error;
  out[2] = left;
}

/// Repeats itself n times in the tail stream; out[0] counts.
__global__ void repeat(int* out, int n) {
  ++out[0];
  if (n > 1) repeat<<<1, 1, 0, cudaStreamTailLaunch>>>(out, n - 1);
}

/// out[0] = error of a launch whose block is too large, out[1] = cudaPeekAtLastError, out[2], out[3] =
/// cudaGetLastError twice, printed: its text
__global__ void refused(int* out) {
  step<<<1, 2048>>>(out, 1);
  out[1] = cudaPeekAtLastError();
  const cudaError_t error = cudaGetLastError();
  out[2] = error;
  out[3] = cudaGetLastError();
  printf("%s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
}

/// Sets and copies in the null stream: out[0 … 3] = 0x01010101, out[4] = out[0]; out[5] = 1: memory was given
/// and freed
__global__ void copies(int* out) {
  cudaMemsetAsync(out, 1, 16, 0);
  cudaMemcpyAsync(out + 4, out, 4, cudaMemcpyDeviceToDevice, 0);
  void* p = nullptr;
  out[5] = cudaMalloc(&p, 64) == cudaSuccess && p != nullptr && cudaFree(p) == cudaSuccess;
}
