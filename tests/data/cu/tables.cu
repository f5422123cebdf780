// Variables of a module: constant memory, initialised arrays of every size, pointers to other variables,
// text, and what a kernel leaves behind for the next one. One warp; out[t] of thread t.

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ double halves[4] = {0.5, 1.5, 2.5, -3.5};
__constant__ unsigned char bytes[5] = {1, 2, 3, 250, 255};
__device__ short shorts[6] = {-3, -2, -1, 0, 1, 2};
__device__ long long longs[3] = {-1, 0x123456789abcdefLL, 1LL << 62};
__device__ float matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ int counter = 40;
__device__ int zeroed[16];
__device__ int* into_shorts_neighbour = &zeroed[4];
__device__ const char* const words[3] = {"lane", "warp", "block"};
struct Node {
  int value;
  const Node* next;
};
__device__ Node third = {300, nullptr};
__device__ Node second = {20, &third};
__device__ Node first = {1, &second};

extern "C" {
/// out[t] = primes[t % 8] + 2 halves[t % 4] + bytes[t % 5]
__global__ void table_constant(int* out) {
  const int t = threadIdx.x;
  out[t] = primes[t % 8] + static_cast<int>(2 * halves[t % 4]) + bytes[t % 5];
}

/// out[t] = shorts[t % 6] + 10 matrix[t % 2][t % 3]; out[32 + 2t], out[33 + 2t]: low and high half of longs[t
/// % 3]
__global__ void table_global(int* out) {
  const int t = threadIdx.x;
  out[t] = shorts[t % 6] + static_cast<int>(10 * matrix[t % 2][t % 3]);
  const long long l = longs[t % 3];
  out[32 + 2 * t] = static_cast<int>(l);
  out[33 + 2 * t] = static_cast<int>(l >> 32);
}

/// Follows pointers between variables: out[t] = 1, 21, 321 for t % 3 = 0, 1, 2
__global__ void table_pointers(int* out) {
  int sum = 0;
  int steps = threadIdx.x % 3;
  for (const Node* n = &first; n != nullptr && steps >= 0; n = n->next, --steps) sum += n->value;
  out[threadIdx.x] = sum;
}

/// out[t] = character t % 4 of words[t % 3]
__global__ void table_text(int* out) { out[threadIdx.x] = words[threadIdx.x % 3][threadIdx.x % 4]; }

/// Adds 1 to counter and t to zeroed[4 + t % 4] through a pointer, and shows both: the first launch gives
/// out[0] = 41 and out[1 + k] = 112 + 8k for k < 4, each further one 1 and 112 + 8k more.
__global__ void table_changed(int* out) {
  const int t = threadIdx.x;
  if (t == 0) counter += 1;
  atomicAdd(into_shorts_neighbour + t % 4, t);
  __syncthreads();
  if (t == 0) out[0] = counter;
  if (t < 4) out[1 + t] = zeroed[4 + t];
}
}
