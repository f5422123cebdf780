// Accesses made by hand, for tests that need no engine: single ones, and those of one block of a reduction.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/observer.hpp"
#include "lanescope/model/archs.hpp"
#include "profile/profile.hpp"

namespace lanescope::synthetic {

using exec::Access;
using exec::AccessKind;
using exec::AccessSpace;

inline const model::Arch& sm_90() { return *model::find_arch("sm_90"); }

/// Instruction `site`, lane l at address_of(l) where it gives one.
inline Access make_access(uint32_t site, AccessKind kind, AccessSpace space,
                          const std::function<int64_t(uint32_t)>& address_of, uint8_t width = 4) {
  Access access;
  access.instruction = site;
  access.kind = kind;
  access.space = space;
  access.width = width;
  if (space == AccessSpace::shared) access.shared_variable = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const int64_t address = address_of(lane);
    if (address < 0) continue;
    access.mask |= 1u << lane;
    access.address[lane] = static_cast<uint64_t>(address);
  }
  return access;
}

enum ReductionSite : uint32_t { first_store, load_far, load_near, store_sum, load_result, reduction_sites };

/// A kernel with these sites at lines 10 and 12 of sum.cu, the last one at `last_line` (0: nowhere).
inline exec::Kernel reduction_kernel(uint32_t last_line) {
  exec::Kernel kernel;
  kernel.name = "_Z3sumPf";
  kernel.display_name = "sum(float*)";
  kernel.files = {"", "sum.cu"};
  kernel.shared = {{"d", 0, 1024, false}};
  kernel.static_shared = 1024;
  const auto site = [&](ptx::Op op, AccessKind kind, uint32_t line) {
    kernel.origins.push_back({op, 100 + line, 1, line, 0, 0});
    kernel.accesses.push_back(
        {static_cast<uint32_t>(kernel.origins.size() - 1), kind, ptx::Space::shared, 4, ""});
  };
  site(ptx::Op::st, AccessKind::store, 10);
  site(ptx::Op::ld, AccessKind::load, 12);
  site(ptx::Op::ld, AccessKind::load, 12);
  site(ptx::Op::st, AccessKind::store, 12);
  site(ptx::Op::ld, AccessKind::load, last_line);
  return kernel;
}

/// Tells `observer` of all shared accesses of one block of a 256-thread reduction; element_of(s, tid) is the
/// element that thread tid adds to, or -1.
inline void reduce(exec::Observer& observer, uint64_t block, const std::vector<uint32_t>& steps,
                   const std::function<int64_t(uint32_t, uint32_t)>& element_of) {
  const auto tell = [&](uint32_t site, AccessKind kind, uint32_t warp,
                        const std::function<int64_t(uint32_t)>& word) {
    Access access = make_access(site, kind, AccessSpace::shared, [&](uint32_t lane) {
      const int64_t w = word(warp * 32 + lane);
      return w < 0 ? w : w * 4;
    });
    access.block = block;
    access.warp = warp;
    if (access.mask != 0) observer.access(access);
  };
  for (uint32_t warp = 0; warp < 8; ++warp)
    tell(first_store, AccessKind::store, warp, [](uint32_t tid) { return int64_t{tid}; });
  for (const uint32_t s : steps) {
    for (uint32_t warp = 0; warp < 8; ++warp) {
      const auto near = [&](uint32_t tid) { return element_of(s, tid); };
      const auto far = [&](uint32_t tid) { return near(tid) < 0 ? -1 : near(tid) + s; };
      tell(load_far, AccessKind::load, warp, far);
      tell(load_near, AccessKind::load, warp, near);
      tell(store_sum, AccessKind::store, warp, near);
    }
  }
  tell(load_result, AccessKind::load, 0, [](uint32_t tid) { return tid == 0 ? 0 : -1; });
}

inline void reduce_interleaved(exec::Observer& observer, uint64_t block) {
  reduce(observer, block, {1, 2, 4, 8, 16, 32, 64, 128},
         [](uint32_t s, uint32_t tid) { return 2 * s * tid < 256 ? int64_t{2 * s * tid} : -1; });
}

inline void reduce_sequential(exec::Observer& observer, uint64_t block) {
  reduce(observer, block, {128, 64, 32, 16, 8, 4, 2, 1},
         [](uint32_t s, uint32_t tid) { return tid < s ? int64_t{tid} : -1; });
}

}  // namespace lanescope::synthetic
