// See stall.hpp.
#include "exec/stall.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/mbarrier.hpp"

namespace lanescope::exec {
namespace {

void mix(uint64_t& hash, const std::byte* data, size_t bytes) {
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t v;
    std::memcpy(&v, data + i, 8);
    hash = (std::rotl(hash, 27) ^ v) * 0xff51afd7ed558ccdull;
  }
}

void mix_own(uint64_t& h, const WarpState& w) {
  mix(h, w.regs, w.worker->kernel->register_bytes);
  if (w.local_bytes != 0) mix(h, w.local, size_t{w.local_bytes} * warp_lanes);
}

/// The path waits at an instruction for lanes of its member mask.
void report_lanes_missing(WarpState& w, const Path& p) {
  const uint32_t missing = p.members & w.alive & ~lanes_with(w, p);
  const auto first = static_cast<uint32_t>(std::countr_zero(missing));
  Finding found;
  found.kind = Finding::Kind::deadlock;
  found.instruction = p.pc->origin();
  found.thread = thread_of(w, static_cast<uint32_t>(std::countr_zero(p.mask)));
  found.count = static_cast<uint64_t>(std::popcount(p.mask));
  found.other_thread = thread_of(w, first);
  const Inst* place = place_of(w, missing);
  if (place != nullptr) found.other_instruction = place->origin();
  if (Finding* example = add_finding(w, found)) {
    const int others = std::popcount(missing) - 1;
    example->message = "waits for lane " + std::to_string(first) +
                       (others == 0 ? "" : " and " + std::to_string(others) + " more") +
                       " of the member mask " + in_hex(p.members) + ", which never comes here" +
                       (place != nullptr ? ": it is at {other}" : "");
  }
}

/// The wait at an mbarrier in the loop in which the path waits, if there is one.
const Inst* mbarrier_wait(const WarpState& w, const Path& p) {
  if (p.loop == nullptr) return nullptr;
  for (const auto& [begin, end] : p.loop->code)
    for (const Inst* in = w.code + begin; in != w.code + end; ++in)
      if (in->fn == wait_mbarrier) return in;
  return nullptr;
}

/// Whether others could change what the loop looks at.
bool reads_memory(const WarpState& w, const Kernel::WaitLoop& loop) {
  using ptx::OpClass;
  for (const auto& [begin, end] : loop.code)
    for (const Inst* in = w.code + begin; in != w.code + end; ++in)
      switch (ptx::info(w.worker->kernel->origins[in->origin()].op).op_class) {
        case OpClass::memory:
        case OpClass::atomic:
        case OpClass::async:
        case OpClass::texture: return true;
        default: break;
      }
  return false;
}

/// A loop's first instruction that is of a line of the source: what begins it may be the compiler's own.
const Inst* first_of_source(const WarpState& w, const Kernel::WaitLoop& loop) {
  for (const auto& [begin, end] : loop.code)
    for (const Inst* in = w.code + begin; in != w.code + end; ++in)
      if (w.worker->kernel->origins[in->origin()].line != 0) return in;
  return w.code + loop.first;
}

}  // namespace

uint64_t fingerprint(const WarpState& w, const Path& path) {
  const BlockState& block = *w.block;
  uint64_t h = 0x9e3779b97f4a7c15ull;
  mix_own(h, w);
  mix(h, block.shared_at, block.shared_bytes / 8 * 8);
  for (int32_t at = path.frame; at >= 0;) {
    const Frame& frame = w.frames[static_cast<size_t>(at)];
    mix(h, reinterpret_cast<const std::byte*>(&frame.back), sizeof frame.back);
    mix(h, frame.saved.data(), frame.saved.size());
    at = frame.below;
  }
  return h;
}

uint64_t fingerprint(BlockState& block) {
  uint64_t h = 0x9e3779b97f4a7c15ull;
  mix(h, block.shared_at, block.shared_bytes / 8 * 8);
  for (WarpState& w : block.warps) {
    if (w.alive == 0) continue;
    mix_own(h, w);
    const std::array<uint64_t, 1> copies{w.copies.size()};
    mix(h, reinterpret_cast<const std::byte*>(copies.data()), sizeof copies);
    mix(h, reinterpret_cast<const std::byte*>(w.groups.data()), sizeof w.groups);
    for (const Path& p : leaves(w)) {
      const std::array<uint64_t, 2> place{uint64_t{p.mask} << 8 | static_cast<uint64_t>(p.state),
                                          static_cast<uint64_t>(p.pc - w.code)};
      mix(h, reinterpret_cast<const std::byte*>(place.data()), sizeof place);
    }
  }
  return h;
}

uint64_t fingerprint_of_shared(const BlockState& block) {
  uint64_t h = 0;
  mix(h, block.shared_at, block.shared_bytes / 8 * 8);
  return h;
}

void report_waiting(WarpState& w, const Path& p) {
  const BlockState& block = *w.block;
  if (const Inst* wait = mbarrier_wait(w, p)) {
    report(w, wait, Finding::Kind::deadlock, p.mask, 0, 0, describe_wait(w, wait, p.mask));
  } else if (p.state == Path::State::ready || p.loop != nullptr) {
    const bool takes_lock = p.loop != nullptr && p.loop->takes_lock;
    const bool waits = p.loop != nullptr && reads_memory(w, *p.loop);
    report(w, p.loop != nullptr ? first_of_source(w, *p.loop) : p.pc, Finding::Kind::deadlock, p.mask, 0, 0,
           takes_lock ? "a loop that takes a lock, which nobody gives back"
           : waits
               ? "a loop that waits for a change of memory no other thread can make"
               : "a loop without end: it comes back to the same values, which no other thread can change");
  } else if (p.state == Path::State::at_barrier) {
    const Barrier& b = block.barriers[p.barrier];
    uint32_t threads = b.before, alive = 0;
    for (const WarpState& other : block.warps) {
      threads += static_cast<uint32_t>(std::popcount(b.arrived[other.index] & other.alive));
      alive += static_cast<uint32_t>(std::popcount(other.alive));
    }
    report(w, p.pc, Finding::Kind::deadlock, p.mask, p.barrier, 0,
           (p.barrier < block_barriers ? "barrier " + std::to_string(p.barrier) : "the warp group") + ": " +
               std::to_string(threads) + " of " + std::to_string(b.expected != 0 ? b.expected : alive) +
               " threads wait here, the others never come");
  } else if (p.state == Path::State::at_sync) {
    report_lanes_missing(w, p);
  } else if (p.state == Path::State::held) {
    report(w, p.pc, Finding::Kind::deadlock, p.mask, 0, 0,
           p.pc->fn == wait_for_cluster ? "the cluster's barrier: not all threads of the cluster arrive"
           : p.pc->fn == allocate_tensor_memory ? describe_allocation(w, p.pc, p.mask)
                                                : describe_wait(w, p.pc, p.mask));
  }
}

}  // namespace lanescope::exec
