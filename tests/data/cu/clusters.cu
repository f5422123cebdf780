// Clusters: blocks that run together, meet, and read and write each other's shared memory.
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;

namespace {

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ unsigned mapped(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

}  // namespace

extern "C" {
/// Each thread's special registers. Grid 4x6x2, cluster 2x3x1, blocks of 8 threads; 16 words a block.
__global__ void __cluster_dims__(2, 3, 1) clusters_registers(unsigned* out) {
  const auto cluster = cg::this_cluster();
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned* o = out + 20 * block;
  if (threadIdx.x != 0) return;
  const dim3 b = cluster.block_index(), d = cluster.dim_blocks();
  o[0] = b.x + 10 * b.y + 100 * b.z;
  o[1] = d.x + 10 * d.y + 100 * d.z;
  o[2] = cluster.block_rank();
  o[3] = cluster.num_blocks();
  o[4] = cluster.thread_rank();
  o[5] = cluster.num_threads();
  unsigned v;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(v));
  o[6] = v;
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(v));
  o[7] = v;
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(v));
  o[8] = v;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v));
  o[9] = v;
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(v));
  o[10] = v;
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(v));
  o[11] = v;
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v));
  o[12] = v;
  o[13] = blockIdx.x;
  o[14] = blockIdx.y;
  o[15] = blockIdx.z;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v));
  o[16] = v;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v));
  o[17] = v;
}

/// The same without a cluster: one block is one.
__global__ void clusters_none(unsigned* out) {
  const auto cluster = cg::this_cluster();
  unsigned v;
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v));
  cluster.sync();
  out[8 * blockIdx.x] = cluster.block_rank() + 10 * cluster.num_blocks() + 100 * v;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(v));
  out[8 * blockIdx.x + 1] = v;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(v));
  out[8 * blockIdx.x + 2] = v;
}

/// Every block reads the next one's shared memory, through cooperative groups and through shared::cluster
/// addresses, and writes into the one before.
__global__ void __cluster_dims__(4) clusters_exchange(unsigned* out) {
  __shared__ unsigned s[64], got[64];
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank(), next = (rank + 1) % 4, last = (rank + 3) % 4;
  s[t] = 1000 * blockIdx.x + t;
  cluster.sync();
  const unsigned by_group = *cluster.map_shared_rank(s + (t ^ 1), next);
  unsigned by_address, by_generic;
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(by_address)
               : "r"(mapped(shared_address(s + (t ^ 2)), next))
               : "memory");
  unsigned long long generic;
  asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(s + (t ^ 4)), "r"(next));
  asm volatile("ld.u32 %0, [%1];" : "=r"(by_generic) : "l"(generic) : "memory");
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mapped(shared_address(got + t), last)), "r"(s[t] + 7)
               : "memory");
  cluster.sync();
  unsigned* o = out + 4 * (64 * blockIdx.x + t);
  o[0] = by_group;
  o[1] = by_address;
  o[2] = by_generic;
  o[3] = got[t];
}

/// Atomics in the first block's shared memory from all blocks of the cluster.
__global__ void __cluster_dims__(8) clusters_atomics(unsigned* out) {
  __shared__ unsigned sum, most, bits, first;
  __shared__ unsigned long long wide;
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, rank = cluster.block_rank();
  if (t == 0) {
    sum = most = bits = first = 0;
    wide = 0;
  }
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, 0), rank * t);
  asm volatile(
      "red.relaxed.cluster.shared::cluster.max.u32 [%0], %1;" ::"r"(mapped(shared_address(&most), 0)),
      "r"(rank * 100 + t)
      : "memory");
  unsigned old;
  asm volatile("atom.shared::cluster.or.b32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(mapped(shared_address(&bits), 7)), "r"(1u << (rank * 4 + t % 4))
               : "memory");
  if ((old & 1u << (rank * 4 + t % 4)) == 0) atomicAdd(cluster.map_shared_rank(&first, rank ^ 3), 1u);
  atomicAdd(cluster.map_shared_rank(&wide, t % 8), 1ull << 32 | rank);
  cluster.sync();
  if (t == 0) {
    unsigned* o = out + 8 * blockIdx.x;
    o[0] = sum;
    o[1] = most;
    o[2] = bits;
    o[3] = static_cast<unsigned>(wide);
    o[4] = static_cast<unsigned>(wide >> 32);
    o[5] = first;
  }
}

/// What addresses are: the rank they belong to, and the windows they lie in.
__global__ void __cluster_dims__(2) clusters_addresses(unsigned* out) {
  __shared__ unsigned s[4];
  s[1] = 5;
  meet();
  const unsigned rank = cg::this_cluster().block_rank(), address = shared_address(s + 1);
  unsigned* o = out + 16 * blockIdx.x;
  for (unsigned r = 0; r < 2; ++r) {
    unsigned of;
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(mapped(address, r)));
    o[r] = of;
    unsigned long long generic;
    asm("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(s + 1), "r"(r));
    asm("getctarank.u64 %0, %1;" : "=r"(of) : "l"(generic));
    o[2 + r] = of;
    unsigned in;
    asm("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; isspacep.shared::cluster p, %1; "
        "@p "
        "add.u32 %0, %0, 2; isspacep.shared p, %1; @p add.u32 %0, %0, 4; isspacep.global p, %1; @p add.u32 "
        "%0, "
        "%0, 8; }"
        : "=r"(in)
        : "l"(generic));
    o[4 + r] = in;
    unsigned long long back;
    asm("cvta.to.shared::cluster.u64 %0, %1;" : "=l"(back) : "l"(generic));
    asm("cvta.shared::cluster.u64 %0, %0;" : "+l"(back));
    o[6 + r] = back == generic;
    unsigned narrow = mapped(address, r);
    if (r != rank)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(narrow), "r"(10 * rank + r) : "memory");
    meet();
    o[8 + r] = s[1];
    meet();
  }
  unsigned of;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(address));
  o[10] = of;
}

/// arrive and wait apart, many phases, threads that end early.
__global__ void __cluster_dims__(2) clusters_phases(unsigned* out) {
  __shared__ unsigned s;
  const unsigned t = threadIdx.x, rank = cg::this_cluster().block_rank(),
                 other = mapped(shared_address(&s), rank ^ 1);
  if (t >= 40) return;
  if (t == 0) s = 0;
  meet();
  unsigned seen = 0;
  for (unsigned i = 0; i < 9; ++i) {
    if (t == i) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(other), "r"(100 * rank + i) : "memory");
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    const unsigned work = i * i;
    asm volatile("barrier.cluster.wait;" ::: "memory");
    seen = 31 * seen + s + work;
    meet();
    asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
  }
  out[40 * blockIdx.x + t] = seen;
}

/// Arrivals at another block's mbarrier, and st.async and red.async into it: a ring of four blocks.
__global__ void __cluster_dims__(4) clusters_mbarrier(unsigned* out) {
  __shared__ alignas(8) unsigned long long bar, data;
  __shared__ alignas(16) unsigned slots[64][4], counter, least, hits;
  const unsigned t = threadIdx.x, rank = cg::this_cluster().block_rank(), next = (rank + 1) % 4;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(shared_address(&bar)) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&data)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    counter = 0;
    least = 1000;
    hits = 0;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(&data)),
                 "r"(64 * (16 + 4 + 4 + 4))
                 : "memory");
  }
  meet();
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(mapped(shared_address(&bar), next))
      : "memory");
  const unsigned there = mapped(shared_address(&data), next);
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(
          mapped(shared_address(slots[t]), next)),
      "r"(t), "r"(rank), "r"(t * rank), "r"(t + rank), "r"(there)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(
          mapped(shared_address(&counter), next)),
      "r"(t + rank), "r"(there)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%0], %1, [%2];" ::"r"(
          mapped(shared_address(&least), next)),
      "r"(t * 3 - rank * 10), "r"(there)
      : "memory");
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%0], %1, [%2];" ::"r"(
          mapped(shared_address(&hits), next)),
      "r"(49), "r"(there)
      : "memory");
  for (const unsigned at : {shared_address(&bar), shared_address(&data)})
    asm volatile(
        "{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p "
        "bra WAIT; }" ::"r"(at)
        : "memory");
  unsigned* o = out + 8 * (64 * blockIdx.x + t);
  for (int i = 0; i < 4; ++i) o[i] = slots[t][i];
  o[4] = counter;
  o[5] = least;
  o[6] = hits;
  meet();
}

/// A histogram whose bins are spread over the shared memory of a cluster.
__global__ void __cluster_dims__(2) clusters_histogram(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[32];
  const auto cluster = cg::this_cluster();
  const unsigned t = threadIdx.x;
  if (t < 32) bins[t] = 0;
  cluster.sync();
  for (unsigned i = cluster.thread_rank(); i < 1024; i += cluster.num_threads()) {
    const unsigned bin = in[i] % 64;
    atomicAdd(cluster.map_shared_rank(bins + bin % 32, bin / 32), 1u);
  }
  cluster.sync();
  if (t < 32) atomicAdd(out + 32 * cluster.block_rank() + t, bins[t]);
}
}
