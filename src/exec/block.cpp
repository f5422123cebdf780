// The memory of a block: register files, shared and local memory, and what the threads of a block start with.
#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using ptx::SpecialRegister;

constexpr size_t alignment = 64;
/// What the registers of a machine say; the multiprocessors of an H200.
constexpr uint32_t multiprocessors = 132;

std::byte* aligned(std::unique_ptr<std::byte[]>& memory, size_t bytes) {
  memory.reset(new std::byte[bytes + alignment]);
  const auto address = reinterpret_cast<uintptr_t>(memory.get());
  return memory.get() + ((alignment - address % alignment) % alignment);
}

template <class T>
void fill(std::byte* at, T value) {
  T lanes[warp_lanes];
  std::fill_n(lanes, warp_lanes, value);
  std::memcpy(at, lanes, sizeof lanes);
}

/// Shared memory of a block. What a program may ask for is followed, where a kernel asks for its place, by
/// what is the system's: on an H200 bytes 0 to 287 of a kilobyte that lies in front of the program's
/// (measured; the whole kilobyte counts in %aggr_smem_size).
struct SharedMemory {
  static constexpr uint32_t reserved = 288, reserved_most = 1024;
  uint32_t own, reserved_at, bytes;
};
SharedMemory shared_memory(const Kernel& kernel, const LaunchConfig& config) {
  const auto own = static_cast<uint32_t>(kernel.shared_bytes(config.dynamic_shared));
  const bool asked =
      std::any_of(kernel.specials.begin(), kernel.specials.end(), [](const Kernel::Special& s) {
        return s.reg >= SpecialRegister::reserved_smem_offset_begin &&
               s.reg <= SpecialRegister::reserved_smem_offset_1;
      });
  const uint32_t at = (own + 15) / 16 * 16;
  return {own, at, asked ? at + SharedMemory::reserved : own};
}

/// Special registers that stay the same for a warp of a block's state, whichever block it is. False if `reg`
/// is none.
bool fixed_special(SpecialRegister reg, const LaunchConfig& config, uint32_t warp, const SharedMemory& shared,
                   std::byte* at) {
  const Dim3& block = config.block;
  if (reg == SpecialRegister::is_explicit_cluster) {  // a predicate
    const uint32_t value = config.explicit_cluster ? full_mask : 0;
    std::memcpy(at, &value, sizeof value);
    return true;
  }
  uint32_t lanes[warp_lanes];
  const auto threads = static_cast<uint32_t>(block.count());
  for (uint32_t i = 0; i < warp_lanes; ++i) {
    const uint32_t thread = std::min(warp * warp_lanes + i, threads - 1), bit = 1u << i;
    switch (reg) {
      case SpecialRegister::tid_x: lanes[i] = thread % block.x; break;
      case SpecialRegister::tid_y: lanes[i] = thread / block.x % block.y; break;
      case SpecialRegister::tid_z: lanes[i] = thread / block.x / block.y; break;
      case SpecialRegister::ntid_x: lanes[i] = block.x; break;
      case SpecialRegister::ntid_y: lanes[i] = block.y; break;
      case SpecialRegister::ntid_z: lanes[i] = block.z; break;
      case SpecialRegister::laneid: lanes[i] = i; break;
      case SpecialRegister::warpid: lanes[i] = warp; break;
      case SpecialRegister::nwarpid: lanes[i] = (threads + warp_lanes - 1) / warp_lanes; break;
      case SpecialRegister::lanemask_eq: lanes[i] = bit; break;
      case SpecialRegister::lanemask_lt: lanes[i] = bit - 1; break;
      case SpecialRegister::lanemask_le: lanes[i] = bit | (bit - 1); break;
      case SpecialRegister::lanemask_gt: lanes[i] = ~(bit | (bit - 1)); break;
      case SpecialRegister::lanemask_ge: lanes[i] = ~(bit - 1); break;
      case SpecialRegister::nsmid: lanes[i] = multiprocessors; break;
      case SpecialRegister::total_smem_size: lanes[i] = shared.own; break;
      case SpecialRegister::aggr_smem_size: lanes[i] = shared.own + SharedMemory::reserved_most; break;
      case SpecialRegister::reserved_smem_offset_begin:
      case SpecialRegister::reserved_smem_offset_0:
      case SpecialRegister::reserved_smem_offset_1: lanes[i] = shared.reserved_at; break;
      case SpecialRegister::reserved_smem_offset_end:
        lanes[i] = shared.reserved_at + SharedMemory::reserved;
        break;
      case SpecialRegister::reserved_smem_offset_cap: lanes[i] = SharedMemory::reserved_most; break;
      case SpecialRegister::cluster_nctaid_x: lanes[i] = config.cluster.x; break;
      case SpecialRegister::cluster_nctaid_y: lanes[i] = config.cluster.y; break;
      case SpecialRegister::cluster_nctaid_z: lanes[i] = config.cluster.z; break;
      case SpecialRegister::cluster_nctarank: lanes[i] = static_cast<uint32_t>(config.cluster.count()); break;
      default: return false;
    }
  }
  std::memcpy(at, lanes, sizeof lanes);
  return true;
}

/// Special registers of a block or of its launch.
uint64_t block_special(SpecialRegister reg, const LaunchConfig& config, const BlockState& block) {
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  const uint64_t index = block.index, x = index % grid.x, y = index / grid.x % grid.y,
                 z = index / grid.x / grid.y;
  switch (reg) {
    case SpecialRegister::ctaid_x: return x;
    case SpecialRegister::ctaid_y: return y;
    case SpecialRegister::ctaid_z: return z;
    case SpecialRegister::nctaid_x: return grid.x;
    case SpecialRegister::nctaid_y: return grid.y;
    case SpecialRegister::nctaid_z: return grid.z;
    case SpecialRegister::clusterid_x: return x / cluster.x;
    case SpecialRegister::clusterid_y: return y / cluster.y;
    case SpecialRegister::clusterid_z: return z / cluster.z;
    case SpecialRegister::nclusterid_x: return grid.x / cluster.x;
    case SpecialRegister::nclusterid_y: return grid.y / cluster.y;
    case SpecialRegister::nclusterid_z: return grid.z / cluster.z;
    case SpecialRegister::cluster_ctaid_x: return x % cluster.x;
    case SpecialRegister::cluster_ctaid_y: return y % cluster.y;
    case SpecialRegister::cluster_ctaid_z: return z % cluster.z;
    case SpecialRegister::cluster_ctarank: return block.rank;
    case SpecialRegister::smid: return index % multiprocessors;
    case SpecialRegister::dynamic_smem_size: return config.dynamic_shared;
    case SpecialRegister::envreg1: return config.grid_barrier >> 32;
    case SpecialRegister::envreg2: return config.grid_barrier & 0xffffffffu;
    default: return 0;  // gridid, current_graph_exec: one launch at a time
  }
}

/// The state of the block `rank` of a cluster of which `first` is the first one, nullptr if this is that.
std::unique_ptr<BlockState> make_one(const Kernel& kernel, const LaunchConfig& config, uint32_t rank,
                                     const BlockState* first) {
  auto block = std::make_unique<BlockState>();
  block->rank = rank;
  const auto threads = static_cast<uint32_t>(config.block.count());
  const uint32_t warps = (threads + warp_lanes - 1) / warp_lanes;
  const SharedMemory shared = shared_memory(kernel, config);
  block->shared_bytes = shared.bytes;
  block->registers_at = aligned(block->registers, size_t{warps} * kernel.register_bytes);
  block->shared_at = aligned(block->shared, block->shared_bytes + 8);
  const uint32_t local_bytes =
      kernel.local_bytes + (kernel.stack_pointer != no_operand ? config.stack_bytes : 0);
  const size_t local = size_t{local_bytes} * warp_lanes;
  std::byte* local_at = aligned(block->local, local * warps);
  std::memset(block->registers_at, 0, size_t{warps} * kernel.register_bytes);
  block->warps.resize(warps);
  for (uint32_t i = 0; i < warps; ++i) {
    WarpState& w = block->warps[i];
    w.regs = block->registers_at + size_t{i} * kernel.register_bytes;
    w.code = kernel.code.data();
    w.side = kernel.side.data();
    w.shared = block->shared_at;
    w.shared_bytes = block->shared_bytes;
    w.local = local_at + i * local;
    w.local_bytes = local_bytes;
    w.stack_limit = config.stack_limit;
    w.index = i;
    w.block = block.get();
    const uint32_t lanes = std::min(warp_lanes, threads - i * warp_lanes);
    w.present = lanes == warp_lanes ? full_mask : (1u << lanes) - 1;
    for (const Kernel::Constant& c : kernel.constants) {
      std::byte* at = w.regs + c.offset;
      switch (c.lane_bytes) {
        case 0: std::memcpy(at, c.bits.data(), 4); break;
        case 2: fill(at, static_cast<uint16_t>(c.bits[0])); break;
        case 4: fill(at, static_cast<uint32_t>(c.bits[0])); break;
        case 8: fill(at, c.bits[0]); break;
        default: fill(at, c.bits); break;
      }
    }
    for (const Kernel::Special& s : kernel.specials)
      if (!fixed_special(s.reg, config, i, shared, w.regs + s.offset) && i == 0) block->changing.push_back(s);
  }
  if (config.checks.any()) {
    const auto blocks = static_cast<uint32_t>(config.cluster.count());
    block->checks = std::make_unique<BlockChecks>(
        kernel, config.checks,
        BlockShape{.threads = threads,
                   .shared_bytes = block->shared_bytes,
                   .system_shared = shared.reserved_at,
                   .local_bytes = local_bytes,
                   .rank = rank},
        first != nullptr ? first->checks->cluster() : std::make_shared<ClusterOrder>(blocks * warps));
  }
  return block;
}

/// Arbitrary words with both signs, so that of many no minimum or maximum hides all. Each is a large number,
/// as is each half of it and each pair, and a finite one, so that a product with zero hides it.
void poison(std::byte* at, size_t bytes, uint64_t block) {
  constexpr uint32_t arbitrary = 0x80ff80ff, large = 0x5d005d00;
  for (size_t i = 0; i < bytes; i += sizeof arbitrary) {
    auto word = static_cast<uint32_t>(block * 0x9e3779b9u + i) * 0x85ebca6bu;
    word = ((word ^ word >> 15) & arbitrary) | large;
    std::memcpy(at + i, &word, std::min(bytes - i, sizeof word));
  }
}

/// Makes it block `index` of the grid.
void start_one(BlockState& block, const Kernel& kernel, const LaunchConfig& config, uint64_t index,
               const std::byte* params) {
  block.index = index;
  if (block.checks) block.checks->start();
  if (block.tensor_memory) block.tensor_memory->begin();
  block.live_warps = static_cast<uint32_t>(block.warps.size());
  block.rounds = 1;
  block.vain = {};
  block.last_resort = false;
  std::memset(block.shared_at, 0, block.shared_bytes);
  if (config.poison_shared) poison(block.shared_at, shared_memory(kernel, config).own, index);
  if (block.barriers_in_use != 0) block.barriers = {};
  block.barriers_in_use = 0;
  for (const Kernel::Special& s : block.changing) {
    const uint64_t value = block_special(s.reg, config, block);
    const bool wide = ptx::size_of(ptx::type_of(s.reg)) == 8;
    for (WarpState& w : block.warps)
      if (wide)
        fill(w.regs + s.offset, value);
      else
        fill(w.regs + s.offset, static_cast<uint32_t>(value));
  }
  for (WarpState& w : block.warps) {
    if (kernel.params_address != no_operand)
      fill(w.regs + kernel.params_address, reinterpret_cast<uint64_t>(params));
    if (kernel.stack_pointer != no_operand) fill(w.regs + kernel.stack_pointer, uint64_t{kernel.stack_begin});
    for (const auto& [offset, bytes] : kernel.zeroed) std::memset(w.regs + offset, 0, bytes);
    if (w.local_bytes != 0)
      for (uint32_t lane = 0; lane < warp_lanes; ++lane)
        std::memset(w.local + size_t{lane} * w.local_bytes, 0, kernel.stack_begin);
    w.alive = w.present;
    w.frames.clear();
    w.free_frames.clear();
    w.copies.clear();
    if (std::exchange(w.has_committed, false)) w.groups = {};
    w.completed_phase = false;
    w.cluster_arrived = w.cluster_waits = 0;
    w.path_count = 1;
    w.next = 0;
    w.current = w.parked = -1;
    w.patience = most_patience;
    w.paths[0] = fresh_path;
    w.paths[0].state = Path::State::ready;
    w.paths[0].mask = w.present;
    w.paths[0].pc = w.code + kernel.entry;
  }
}

}  // namespace

std::unique_ptr<BlockState> make_block(const Kernel& kernel, const LaunchConfig& config) {
  auto first = make_one(kernel, config, 0, nullptr);
  const auto size = static_cast<uint32_t>(config.cluster.count());
  if (size == 1) return first;
  first->own_cluster = std::make_unique<Cluster>();
  Cluster& cluster = *first->own_cluster;
  cluster.blocks.push_back(first.get());
  for (uint32_t rank = 1; rank < size; ++rank) {
    cluster.others.push_back(make_one(kernel, config, rank, first.get()));
    cluster.blocks.push_back(cluster.others.back().get());
  }
  for (BlockState* block : cluster.blocks) block->cluster = &cluster;
  return first;
}

void start_block(BlockState& block, const Kernel& kernel, const LaunchConfig& config, uint64_t index,
                 const std::byte* params) {
  if (block.cluster == nullptr) return start_one(block, kernel, config, index, params);
  for (uint32_t rank = 0; rank < block.cluster->blocks.size(); ++rank)
    start_one(*block.cluster->blocks[rank], kernel, config, block_of_cluster(config, index, rank), params);
}

}  // namespace lanescope::exec
