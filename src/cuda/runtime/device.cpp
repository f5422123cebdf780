// See device.hpp. Attributes of compute capability 9.0 were asked of an H200 (CUDA 13.0); what differs by
// architecture is from the model (limits.hpp) and, for the chip that stands for it, its data sheet.
#include "cuda/runtime/device.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

namespace lanescope::cuda {
namespace {

struct Chip {
  int sm;
  const char* name;
  int multiprocessors, clock_mhz, memory_mhz, bus_bits;
  int l2_kib;
  int memory_gib;
};

// One chip for each compute capability: others of the same capability differ in these numbers only.
constexpr Chip chips[] = {
    // sm   chip                    SMs  MHz   mem MHz bus    L2 KiB  GiB
    {20, "Tesla C2050", 14, 1150, 1500, 384, 768, 3},
    {21, "GeForce GTX 460", 7, 1350, 1800, 256, 512, 1},
    {30, "GeForce GTX 680", 8, 1006, 3004, 256, 512, 2},
    {32, "Tegra K1", 1, 852, 924, 64, 128, 2},
    {35, "Tesla K40", 15, 745, 3004, 384, 1536, 12},
    {37, "Tesla K80", 13, 824, 2505, 384, 1536, 12},
    {50, "GeForce GTX 750 Ti", 5, 1085, 2700, 128, 2048, 2},
    {52, "GeForce GTX 980", 16, 1216, 3505, 256, 2048, 4},
    {53, "Tegra X1", 2, 998, 1600, 64, 256, 4},
    {60, "Tesla P100", 56, 1328, 715, 4096, 4096, 16},
    {61, "GeForce GTX 1080", 20, 1733, 5005, 256, 2048, 8},
    {62, "Tegra X2", 2, 1300, 1600, 128, 512, 8},
    {70, "Tesla V100", 80, 1380, 877, 4096, 6144, 16},
    {72, "Xavier", 8, 1377, 2133, 256, 512, 16},
    {75, "Tesla T4", 40, 1590, 5001, 256, 4096, 15},
    {80, "A100", 108, 1410, 1593, 5120, 40960, 80},
    {86, "GeForce RTX 3090", 82, 1695, 9751, 384, 6144, 24},
    {87, "Orin", 16, 1300, 3200, 256, 4096, 32},
    {88, "CC 8.8", 16, 1300, 3200, 256, 4096, 32},
    {89, "GeForce RTX 4090", 128, 2520, 10501, 384, 73728, 24},
    {90, "H200", 132, 1980, 3201, 6016, 61440, 0},
    {100, "B200", 148, 1965, 3996, 7680, 129024, 179},
    {101, "Thor", 20, 1575, 4266, 256, 32768, 122},
    {103, "B300", 148, 1920, 3996, 7680, 129024, 268},
    // Public are its multiprocessors and the memory's size and bandwidth; the rest is the B300's.
    {107, "Rubin", 224, 1920, 5371, 16384, 129024, 288},
    {110, "Thor", 20, 1575, 4266, 256, 32768, 122},
    {120, "GeForce RTX 5090", 170, 2407, 14001, 512, 98304, 31},
    {121, "GB10", 48, 2418, 8533, 256, 24576, 119},
};

constexpr uint64_t h200_bytes = 150109880320;

// The place on the bus, one where hosts have nothing: NCCL looks there in /sys, and takes what it finds for
// the device. (The first place is the bridge to the host.)
constexpr int pci_bus = 0xee, pci_device = 0x1f;

// cudaDeviceGetAttribute of an H200 by number; its place on the bus left out. Those from 148 on, which came
// after CUDA 13.0, are from what is said of them: the device is one domain of memory, tensor maps (160) have
// no larger kind, and nothing of the rest is here.
constexpr std::array<int, attribute_count> h200_attributes = {
    0,          1024,   1024,    1024,      64,     2147483647, 65535,   65535,  49152, 65536,    32,
    2147483647, 65536,  1980000, 512,       1,      132,        0,       0,      1,     0,        131072,
    131072,     65536,  16384,   16384,     16384,  32768,      32768,   2048,   512,   1,        1,
    0,          0,      0,       3201000,   6016,   62914560,   2048,    3,      1,     32768,    2048,
    1,          32768,  32768,   8192,      8192,   32768,      0,       32,     32768, 32768,    2046,
    32768,      131072, 65536,   16384,     16384,  16384,      32768,   2048,   32768, 32768,    2048,
    32768,      32768,  2046,    268435456, 131072, 65000,      2097120, 32768,  32768, 9,        0,
    32768,      1,      1,       1,         233472, 65536,      1,       0,      0,     0,        2,
    0,          1,      1,       1,         0,      0,          0,       1,      1,     232448,   0,
    1,          0,      0,       1,         1,      0,          0,       32,     1,     39321600, 134217728,
    1,          1024,   1,       1,         1,      1,          1,       1,      100,   9,        1,
    1,          1,      1,       1,         1,      4,          1,       1,      1,     0,        -1,
    0,          0,      0,       0,         0,      0,          0,       0,      0,     1,        1,
    0,          1,      1,       0,         0,      0,          1,       232448, 0,     0,        0,
    0,          0,      0,       132,       0,      0,          INT_MAX, 0};

const Chip& chip_of(std::string_view arch) {
  const Chip* found = nullptr;
  for (const Chip& chip : chips) {
    const std::string name = "sm_" + std::to_string(chip.sm);
    if (arch == name || arch == name + "a" || arch == name + "f") return chip;
    if (chip.sm == 90) found = &chip;
  }
  return *found;
}

}  // namespace

Device::Device(std::string_view arch) : attributes_(h200_attributes) {
  const Chip& chip = chip_of(arch);
  target_ = "sm_" + std::to_string(chip.sm);
  if (arch.starts_with(target_)) target_ = arch;
  global_bytes_ = chip.memory_gib == 0 ? h200_bytes : static_cast<uint64_t>(chip.memory_gib) << 30;
  const auto set = [&](Attribute attribute, int value) { attributes_[attribute] = value; };
  set(attribute_major, chip.sm / 10);
  set(attribute_minor, chip.sm % 10);
  set(attribute_pci_bus, pci_bus);
  set(attribute_pci_device, pci_device);
  set(attribute_multiprocessors, chip.multiprocessors);
  set(attribute_locality_domain_multiprocessors, chip.multiprocessors);
  set(attribute_clock_khz, chip.clock_mhz * 1000);
  set(attribute_memory_clock_khz, chip.memory_mhz * 1000);
  set(attribute_memory_bus_bits, chip.bus_bits);
  set(attribute_l2_bytes, chip.l2_kib * 1024);
  limits_ = model::limits_of(target_);
  set(attribute_max_threads_per_multiprocessor, limits_.threads);
  set(attribute_max_blocks_per_multiprocessor, limits_.blocks);
  set(attribute_max_shared_per_multiprocessor, limits_.shared);
  set(attribute_max_shared_optin, limits_.shared_per_block);
  set(attribute_oversized_shared, limits_.shared_per_block);
  set(attribute_reserved_shared, limits_.shared_reserved);
  set(attribute_registers_per_multiprocessor, limits_.registers);
  set(attribute_registers_per_block, limits_.registers_per_block);
  set(attribute_cooperative_launch, chip.sm >= 60 ? 1 : 0);
  set(attribute_cluster_launch, chip.sm >= 90 ? 1 : 0);
}

int Device::resident_blocks(uint32_t threads, uint64_t shared_bytes, int registers, int carveout) const {
  if (threads > static_cast<uint32_t>(limits_.threads_per_block) ||
      shared_bytes > static_cast<uint64_t>(limits_.shared_per_block))
    return 0;
  const auto shared = static_cast<int>(shared_bytes);
  return model::occupancy(model::with_carveout(limits_, carveout, shared), static_cast<int>(threads),
                          registers, shared)
      .blocks;
}

DeviceProperties Device::properties() const {
  DeviceProperties p{};
  const auto a = [&](int number) { return attribute(number); };
  const auto size = [&](int number) { return static_cast<size_t>(attribute(number)); };
  std::snprintf(p.name, sizeof p.name, "Lanescope %s", target_.c_str());
  std::memcpy(p.uuid, "LanescopeDevice0", sizeof p.uuid);
  p.global_bytes = global_bytes_;
  p.shared_per_block = size(8);
  p.registers_per_block = a(12);
  p.warp_size = a(10);
  p.memory_pitch = size(11);
  p.max_threads_per_block = a(1);
  for (int i = 0; i < 3; ++i) p.max_block[i] = a(2 + i);
  for (int i = 0; i < 3; ++i) p.max_grid[i] = a(5 + i);
  p.constant_bytes = size(9);
  p.major = a(75);
  p.minor = a(76);
  p.texture_alignment = size(14);
  p.texture_pitch_alignment = size(51);
  p.multiprocessors = a(16);
  p.integrated = a(18);
  p.can_map_host_memory = a(19);
  p.max_texture_1d = a(21);
  p.max_texture_1d_mipmap = a(77);
  p.max_texture_2d[0] = a(22), p.max_texture_2d[1] = a(23);
  p.max_texture_2d_mipmap[0] = a(73), p.max_texture_2d_mipmap[1] = a(74);
  for (int i = 0; i < 3; ++i) p.max_texture_2d_linear[i] = a(70 + i);
  p.max_texture_2d_gather[0] = a(45), p.max_texture_2d_gather[1] = a(46);
  for (int i = 0; i < 3; ++i) p.max_texture_3d[i] = a(24 + i);
  for (int i = 0; i < 3; ++i) p.max_texture_3d_alt[i] = a(47 + i);
  p.max_texture_cubemap = a(52);
  p.max_texture_1d_layered[0] = a(42), p.max_texture_1d_layered[1] = a(43);
  for (int i = 0; i < 3; ++i) p.max_texture_2d_layered[i] = a(27 + i);
  p.max_texture_cubemap_layered[0] = a(53), p.max_texture_cubemap_layered[1] = a(54);
  p.max_surface_1d = a(55);
  p.max_surface_2d[0] = a(56), p.max_surface_2d[1] = a(57);
  for (int i = 0; i < 3; ++i) p.max_surface_3d[i] = a(58 + i);
  p.max_surface_1d_layered[0] = a(61), p.max_surface_1d_layered[1] = a(62);
  for (int i = 0; i < 3; ++i) p.max_surface_2d_layered[i] = a(63 + i);
  p.max_surface_cubemap = a(66);
  p.max_surface_cubemap_layered[0] = a(67), p.max_surface_cubemap_layered[1] = a(68);
  p.surface_alignment = size(30);
  p.concurrent_kernels = a(31);
  p.ecc = a(32);
  p.pci_bus = a(33), p.pci_device = a(34), p.pci_domain = a(50);
  p.tcc_driver = a(35);
  p.async_engines = a(40);
  p.unified_addressing = a(41);
  p.memory_bus_bits = a(37);
  p.l2_bytes = a(38);
  p.persisting_l2_bytes = a(108);
  p.max_threads_per_multiprocessor = a(39);
  p.stream_priorities = a(78);
  p.global_l1_cache = a(79), p.local_l1_cache = a(80);
  p.shared_per_multiprocessor = size(81);
  p.registers_per_multiprocessor = a(82);
  p.managed_memory = a(83);
  p.multi_gpu_board = a(84), p.multi_gpu_board_group = a(85);
  p.host_native_atomics = a(86);
  p.pageable_memory_access = a(88);
  p.concurrent_managed_access = a(89);
  p.compute_preemption = a(90);
  p.host_pointer_for_registered = a(91);
  p.cooperative_launch = a(95);
  p.shared_per_block_optin = size(97);
  p.pageable_uses_host_tables = a(100), p.direct_managed_access_from_host = a(101);
  p.max_blocks_per_multiprocessor = a(106);
  p.access_policy_window_bytes = a(109);
  p.reserved_shared_per_block = size(111);
  p.host_register = a(99);
  p.sparse_arrays = a(112);
  p.host_register_read_only = a(113);
  p.timeline_semaphores = a(114);
  p.memory_pools = a(115);
  p.gpu_direct_rdma = a(116);
  p.gpu_direct_flush_options = static_cast<unsigned>(a(117));
  p.gpu_direct_ordering = a(118);
  p.pool_handle_types = static_cast<unsigned>(a(119));
  p.deferred_arrays = a(121);
  p.ipc_events = a(125);
  p.cluster_launch = a(120);
  p.unified_function_pointers = a(129);
  p.numa_config = a(130), p.numa_id = a(131);
  p.mps = a(133);
  p.host_numa_id = a(134);
  p.pci_device_id = static_cast<unsigned>(a(139)), p.pci_subsystem_id = static_cast<unsigned>(a(140));
  p.host_numa_ipc = a(143);
  return p;
}

}  // namespace lanescope::cuda
