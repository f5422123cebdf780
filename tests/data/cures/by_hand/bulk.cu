// A tile that a bulk copy fills and lanes read by columns: who lays it out otherwise has to change the copy
// as well.
#include <cuda/ptx>

extern "C" __global__ void bulk_columns(float* out, const float* in) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(16) float tile[32][32];
  __shared__ uint64_t arrived;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&arrived, 1);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &arrived,
                                   sizeof tile);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, sizeof tile, &arrived);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&arrived, 0)) {
  }
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += tile[threadIdx.x][i];
  out[threadIdx.x] = sum;
}
