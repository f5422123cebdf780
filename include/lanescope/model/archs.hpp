// The architectures with a name, and the free architecture from four numbers.
#pragma once

#include <string_view>

#include "lanescope/model/arch.hpp"

namespace lanescope::model {
namespace detail {

LANESCOPE_HD constexpr Phases consecutive(int lanes_each, int unit, Evidence evidence) {
  Phases phases;
  phases.lanes_each = lanes_each;
  phases.unit = unit;
  phases.evidence = evidence;
  return phases;
}

/// Phases of `full` lanes for what fits a bank, and of as many fewer as a wider access needs more banks.
constexpr void set_phases(Arch& arch, int full, int unit, Evidence narrow, Evidence wide8, Evidence wide16) {
  for (int i = 0; i < width_count; ++i) {
    const int width = 1 << i;
    const int each = larger(1, width <= arch.bank_bytes ? full : full * arch.bank_bytes / width);
    const Evidence evidence = width <= 4 ? narrow : width == 8 ? wide8 : wide16;
    arch.load[i] = arch.store[i] = consecutive(each, unit, evidence);
  }
}

constexpr Arch named(const char* name, const char* description) {
  Arch arch;
  arch.name = name;
  arch.description = description;
  return arch;
}

/// Compute capability 1.x: guide 4.2, F.3.
constexpr Arch nvidia_1x(const char* name, GlobalRule global) {
  Arch arch = named(name, "NVIDIA 1.x (Tesla: G80, GT200)");
  arch.banks = 16;
  for (int i = 0; i < width_count; ++i)
    arch.load[i] = arch.store[i] = consecutive(16, 32, i == 4 ? Evidence::assumed : Evidence::vendor_guide);
  arch.broadcast = Broadcast::one_word;
  arch.broadcast_evidence = Evidence::vendor_guide;
  arch.split_wide = true;
  arch.subword_conflict = true;
  arch.global = global;
  arch.global_evidence = Evidence::vendor_guide;
  return arch;
}

/// Compute capability 2.x: guide 4.2, F.4.
constexpr Arch nvidia_2x(const char* name) {
  Arch arch = named(name, "NVIDIA 2.x (Fermi)");
  set_phases(arch, 32, 32, Evidence::vendor_guide, Evidence::vendor_guide, Evidence::vendor_guide);
  arch.broadcast_evidence = Evidence::vendor_guide;
  arch.extra_wide_wavefronts = 1;
  arch.global = GlobalRule::lines;
  arch.global_evidence = Evidence::vendor_guide;
  return arch;
}

/// Compute capability 3.x with its 4-byte banks (the default after reset). A bank delivers 64 bits a cycle in
/// both modes, so 8-byte accesses of a whole warp are one phase; the guide says nothing of 16 bytes.
constexpr Arch nvidia_3x(const char* name) {
  Arch arch = named(name, "NVIDIA 3.x (Kepler), 4-byte banks");
  for (int i = 0; i < width_count; ++i)
    arch.load[i] = arch.store[i] =
        consecutive(i == 4 ? 16 : 32, 32, i == 4 ? Evidence::assumed : Evidence::vendor_guide);
  arch.broadcast_evidence = Evidence::vendor_guide;
  arch.segment_words = 64;
  arch.has_bank_modes = true;
  arch.global = GlobalRule::lines;
  arch.global_evidence = Evidence::vendor_guide;
  return arch;
}

/// Compute capability 5.0 and later: the rules measured on 9.0, `evidence` saying how they are known for this
/// one.
constexpr Arch nvidia_5x_on(const char* name, const char* description, Evidence narrow, Evidence wide,
                            bool pair_rule, Evidence pair_evidence) {
  Arch arch = named(name, description);
  set_phases(arch, 32, 32, narrow, wide, wide);
  arch.broadcast_evidence = narrow;
  arch.pair_rule = pair_rule;
  arch.pair_evidence = pair_evidence;
  arch.global = GlobalRule::sectors;
  arch.global_evidence = narrow;
  return arch;
}

constexpr Arch nvidia_5x(const char* name) {
  return nvidia_5x_on(name, "NVIDIA 5.x (Maxwell)", Evidence::vendor_guide, Evidence::assumed, false,
                      Evidence::assumed);
}
constexpr Arch nvidia_6x(const char* name) {
  return nvidia_5x_on(name, "NVIDIA 6.x (Pascal)", Evidence::vendor_guide, Evidence::assumed, false,
                      Evidence::assumed);
}

/// 7.0 and later.
constexpr Arch nvidia_7x_on(const char* name, const char* description, Evidence narrow, Evidence wide,
                            Evidence pair_evidence) {
  Arch arch = nvidia_5x_on(name, description, narrow, wide, true, pair_evidence);
  arch.l1_in_banks = true;
  return arch;
}
constexpr Arch nvidia_7x(const char* name) {
  return nvidia_7x_on(name, "NVIDIA 7.x (Volta, Turing)", Evidence::vendor_guide, Evidence::vendor_guide,
                      Evidence::vendor_guide);
}
constexpr Arch nvidia_8x(const char* name) {
  return nvidia_7x_on(name, "NVIDIA 8.x (Ampere, Ada)", Evidence::vendor_guide, Evidence::assumed,
                      Evidence::assumed);
}
constexpr Arch nvidia_9x(const char* name) {
  Arch arch = nvidia_7x_on(name, "NVIDIA 9.0 (Hopper), measured on an H200", Evidence::measured,
                           Evidence::measured, Evidence::measured);
  arch.atomic_evidence = arch.async_evidence = arch.matrix_evidence = Evidence::measured;
  arch.l1_evidence = Evidence::measured;
  return arch;
}
constexpr Arch nvidia_10x_on(const char* name) {
  return nvidia_7x_on(name, "NVIDIA 10.x to 12.x (Blackwell, Rubin), the rules of 9.0", Evidence::assumed,
                      Evidence::assumed, Evidence::assumed);
}

/// Waves of 64 on 32 banks, 32 lanes at a time: HD 5870 and GCN.
constexpr Arch amd_wave64(const char* name, const char* description) {
  Arch arch = named(name, description);
  arch.warp_lanes = 64;
  set_phases(arch, 32, 64, Evidence::vendor_guide, Evidence::assumed, Evidence::assumed);
  arch.broadcast_evidence = Evidence::vendor_guide;
  return arch;
}

/// Lists the phases of 16-byte loads; the masks are of the lowest lanes, the rest of the warp repeats them
/// shifted.
constexpr void list_wide_load(Arch& arch, const uint64_t* masks, int count, int covered_lanes,
                              Evidence evidence) {
  Phases& phases = arch.load[width_index(16)];
  phases = Phases{};
  phases.lanes_each = 0;
  phases.evidence = evidence;
  for (int first = 0; first < max_lanes; first += covered_lanes)
    for (int i = 0; i < count; ++i) phases.list[phases.listed++] = masks[i] << first;
}

/// CDNA3: 16-byte loads in phases of eight lanes that are not consecutive.
constexpr Arch amd_cdna3(const char* name) {
  Arch arch = named(name, "AMD CDNA3 (MI300)");
  arch.warp_lanes = 64;
  set_phases(arch, 32, 64, Evidence::third_party, Evidence::third_party, Evidence::third_party);
  const uint64_t groups[8] = {
      lane_range(0, 4) | lane_range(20, 24),   lane_range(32, 36) | lane_range(52, 56),
      lane_range(4, 8) | lane_range(16, 20),   lane_range(36, 40) | lane_range(48, 52),
      lane_range(8, 12) | lane_range(28, 32),  lane_range(40, 44) | lane_range(60, 64),
      lane_range(12, 16) | lane_range(24, 28), lane_range(44, 48) | lane_range(56, 60),
  };
  list_wide_load(arch, groups, 8, 64, Evidence::third_party);
  arch.broadcast_evidence = Evidence::third_party;
  return arch;
}

/// CDNA4: 64 banks; 16-byte loads in phases of 16 lanes that are not consecutive (stores are assumed to be).
constexpr Arch amd_cdna4(const char* name) {
  Arch arch = named(name, "AMD CDNA4 (MI350)");
  arch.warp_lanes = 64;
  arch.banks = 64;
  set_phases(arch, 64, 64, Evidence::third_party, Evidence::third_party, Evidence::assumed);
  const uint64_t groups[4] = {
      lane_range(0, 4) | lane_range(12, 16) | lane_range(20, 28),
      lane_range(32, 36) | lane_range(44, 48) | lane_range(52, 60),
      lane_range(4, 12) | lane_range(16, 20) | lane_range(28, 32),
      lane_range(36, 44) | lane_range(48, 52) | lane_range(60, 64),
  };
  list_wide_load(arch, groups, 4, 64, Evidence::third_party);
  arch.broadcast_evidence = Evidence::third_party;
  return arch;
}

/// RDNA3 in its waves of 32; 16-byte accesses, loads and stores alike, in phases that are not consecutive.
constexpr Arch amd_rdna3(const char* name) {
  Arch arch = named(name, "AMD RDNA3, waves of 32");
  set_phases(arch, 32, 32, Evidence::third_party, Evidence::third_party, Evidence::third_party);
  const uint64_t groups[4] = {
      lane_range(0, 4) | lane_range(20, 24),
      lane_range(4, 8) | lane_range(16, 20),
      lane_range(8, 12) | lane_range(28, 32),
      lane_range(12, 16) | lane_range(24, 28),
  };
  list_wide_load(arch, groups, 4, 32, Evidence::third_party);
  arch.store[width_index(16)] = arch.load[width_index(16)];
  arch.broadcast_evidence = Evidence::third_party;
  return arch;
}

}  // namespace detail

/// Every architecture with a name, oldest first by vendor.
inline constexpr Arch archs[] = {
    detail::nvidia_1x("sm_10", GlobalRule::strict_segments),
    detail::nvidia_1x("sm_11", GlobalRule::strict_segments),
    detail::nvidia_1x("sm_12", GlobalRule::segments),
    detail::nvidia_1x("sm_13", GlobalRule::segments),
    detail::nvidia_2x("sm_20"),
    detail::nvidia_2x("sm_21"),
    detail::nvidia_3x("sm_30"),
    detail::nvidia_3x("sm_32"),
    detail::nvidia_3x("sm_35"),
    detail::nvidia_3x("sm_37"),
    detail::nvidia_5x("sm_50"),
    detail::nvidia_5x("sm_52"),
    detail::nvidia_5x("sm_53"),
    detail::nvidia_6x("sm_60"),
    detail::nvidia_6x("sm_61"),
    detail::nvidia_6x("sm_62"),
    detail::nvidia_7x("sm_70"),
    detail::nvidia_7x("sm_72"),
    detail::nvidia_7x("sm_75"),
    detail::nvidia_8x("sm_80"),
    detail::nvidia_8x("sm_86"),
    detail::nvidia_8x("sm_87"),
    detail::nvidia_8x("sm_88"),
    detail::nvidia_8x("sm_89"),
    detail::nvidia_9x("sm_90"),
    detail::nvidia_9x("sm_90a"),
    detail::nvidia_10x_on("sm_100"),
    detail::nvidia_10x_on("sm_100a"),
    detail::nvidia_10x_on("sm_100f"),
    detail::nvidia_10x_on("sm_101"),
    detail::nvidia_10x_on("sm_101a"),
    detail::nvidia_10x_on("sm_101f"),
    detail::nvidia_10x_on("sm_103"),
    detail::nvidia_10x_on("sm_103a"),
    detail::nvidia_10x_on("sm_103f"),
    detail::nvidia_10x_on("sm_107"),
    detail::nvidia_10x_on("sm_107a"),
    detail::nvidia_10x_on("sm_107f"),
    detail::nvidia_10x_on("sm_110"),
    detail::nvidia_10x_on("sm_110a"),
    detail::nvidia_10x_on("sm_110f"),
    detail::nvidia_10x_on("sm_120"),
    detail::nvidia_10x_on("sm_120a"),
    detail::nvidia_10x_on("sm_120f"),
    detail::nvidia_10x_on("sm_121"),
    detail::nvidia_10x_on("sm_121a"),
    detail::nvidia_10x_on("sm_121f"),
    detail::amd_wave64("hd5870", "AMD HD 5870 (Evergreen), waves of 64"),
    detail::amd_wave64("gcn", "AMD GCN, waves of 64"),
    detail::amd_wave64("gfx900", "AMD GCN 5 (Vega 10), waves of 64"),
    detail::amd_wave64("gfx906", "AMD GCN 5 (Vega 20), waves of 64"),
    detail::amd_cdna3("gfx942"),
    detail::amd_cdna3("cdna3"),
    detail::amd_cdna4("gfx950"),
    detail::amd_cdna4("cdna4"),
    detail::amd_rdna3("gfx1100"),
    detail::amd_rdna3("rdna3"),
};

/// The newest measured architecture: what the program answers for when none is named.
inline constexpr std::string_view default_arch_name = "sm_90";

/// The architecture of that exact name, or nullptr.
constexpr const Arch* find_arch(std::string_view name) {
  for (const Arch& arch : archs)
    if (name == arch.name) return &arch;
  return nullptr;
}

/// A 3.x architecture with banks of 4 or 8 bytes. Architectures without bank modes, and any other number,
/// come back unchanged (check `has_bank_modes`). In 8-byte mode two lanes in one 64-bit word never conflict.
constexpr Arch with_bank_mode(Arch arch, int bank_bytes) {
  if (!arch.has_bank_modes || (bank_bytes != 4 && bank_bytes != 8)) return arch;
  arch.bank_bytes = bank_bytes;
  arch.segment_words = bank_bytes == 4 ? 64 : 0;
  arch.description =
      bank_bytes == 4 ? "NVIDIA 3.x (Kepler), 4-byte banks" : "NVIDIA 3.x (Kepler), 8-byte banks";
  return arch;
}

/// Why these are no numbers of a free architecture, or nullptr when they are.
constexpr const char* custom_arch_error(int banks, int bank_bits, int unit) {
  if (banks < 1 || banks > 1024) return "the number of banks is 1 to 1024";
  if (bank_bits != 8 && bank_bits != 16 && bank_bits != 32 && bank_bits != 64 && bank_bits != 128)
    return "a bank delivers 8, 16, 32, 64 or 128 bits";
  if (unit < 1 || unit > max_lanes) return "the lanes scheduled together are 1 to 64";
  return nullptr;
}

/// An architecture from the four numbers people look up: n banks, m bits a bank delivers, k lanes scheduled
/// together, and what happens to reads of one word. Of the k lanes the banks serve at most as many at a time
/// as there are banks for (n = 32, k = 64: two phases of 32; accesses wider than a bank take as many banks as
/// they need). Numbers must have passed custom_arch_error. Broadcast::none also serialises stores of one
/// word.
constexpr Arch custom_arch(int banks, int bank_bits, int unit, Broadcast broadcast) {
  Arch arch = detail::named("custom", "free architecture");
  arch.warp_lanes = unit > 32 ? 64 : 32;
  arch.banks = banks;
  arch.bank_bytes = bank_bits / 8;
  arch.broadcast = broadcast;
  for (int i = 0; i < width_count; ++i) {
    const int banks_a_lane = detail::larger(1, (1 << i) / arch.bank_bytes);
    const int each = detail::smaller(unit, detail::larger(1, banks / banks_a_lane));
    arch.load[i] = arch.store[i] = detail::consecutive(each, unit, Evidence::assumed);
  }
  return arch;
}

}  // namespace lanescope::model
