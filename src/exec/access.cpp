// The rare paths of memory accesses: lanes that meet no known allocation, generic addresses of shared and
// local memory, and patterns that differ from the last one seen at the same instruction.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

std::string at_address(uint64_t address) { return fmt::format("address {:#x}", address); }

uint32_t shared_variable_of(const WorkerState& worker, uint32_t offset) {
  const std::vector<SharedVariable>& shared = *worker.shared;
  uint32_t found = no_operand;
  for (uint32_t i = 0; i < shared.size(); ++i)
    if (shared[i].offset <= offset) found = i;
  return found;
}

/// Offsets before an array are large numbers to the machine, and small negative ones to who wrote `s[i - 1]`.
std::string offset_of(const char* space, uint64_t offset, int bits) {
  const int shift = 64 - bits;
  return std::string(space) + " memory offset " +
         std::to_string(static_cast<int64_t>(offset << shift) >> shift);
}

std::string no_multiple(const std::string& place, uint32_t of) {
  return place + ", which is no multiple of " + std::to_string(of);
}

std::string only_read(uint64_t address, const Allocation& in) {
  return at_address(address) + ", in " + in.name + ", which kernels may only read";
}

/// Begins the message of an access that went wrong: one line of the source may load and store.
const char* access_of(ptx::Op op) {
  switch (op) {
    case ptx::Op::ld:
    case ptx::Op::ldu: return "load of ";
    case ptx::Op::st:
    case ptx::Op::st_async:
    case ptx::Op::st_bulk: return "store to ";
    case ptx::Op::atom:
    case ptx::Op::red:
    case ptx::Op::red_async: return "atomic operation on ";
    default: return "";
  }
}

/// Sends one access to the observer, after the repeats of the one before it.
void tell(Warp& w, const Inst* in, AccessSpace space, uint32_t mask, Access& access) {
  SiteState& site = w.worker->sites[in->aux];
  if (site.repeats != 0) {
    w.worker->observer->repeat(in->aux, site.repeats);
    site.repeats = 0;
  }
  const AccessSite& at = w.worker->kernel->accesses[in->aux];
  access.instruction = in->aux;
  access.kind = at.kind;
  access.space = space;
  access.width = at.width;
  access.returns = at.returns;
  access.mask = mask;
  access.block = w.block->index;
  access.warp = w.index;
  if (space == AccessSpace::shared) {
    const auto& shared = *w.worker->shared;
    const uint32_t v = shared_variable_of(
        *w.worker, static_cast<uint32_t>(access.address[static_cast<uint32_t>(std::countr_zero(mask))]));
    access.shared_variable = v;
    site.variable_begin = v == no_operand ? 0 : shared[v].offset;
    const uint32_t next = v == no_operand ? 0 : v + 1;
    site.variable_end = next < shared.size() ? shared[next].offset : w.shared_bytes;
  }
  w.worker->observer->access(access);
}

}  // namespace

const char* name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::out_of_bounds: return "out-of-bounds";
    case Finding::Kind::misaligned: return "misaligned";
    case Finding::Kind::unknown_pointer: return "unknown-pointer";
    case Finding::Kind::deadlock: return "deadlock";
    case Finding::Kind::trap: return "trap";
    case Finding::Kind::bad_call: return "bad-call";
    case Finding::Kind::assertion: return "assertion";
    case Finding::Kind::write_to_constant: return "write-to-constant";
    case Finding::Kind::bad_barrier: return "bad-barrier";
    case Finding::Kind::race: return "race";
    case Finding::Kind::uninitialised_read: return "uninitialised-read";
    case Finding::Kind::barrier_divergence: return "barrier-divergence";
    case Finding::Kind::member_mask: return "member-mask";
    case Finding::Kind::shuffle_source: return "shuffle-source";
    case Finding::Kind::array_overrun: return "array-overrun";
    case Finding::Kind::barrier_reinitialised: return "barrier-reinitialised";
  }
  return "?";
}

const char* name_of(Finding::Severity severity) {
  switch (severity) {
    case Finding::Severity::error: return "error";
    case Finding::Severity::warning: return "warning";
    case Finding::Severity::note: return "note";
  }
  return "?";
}

Finding* add_finding(Warp& w, Finding found) {
  found.block = w.block->index;
  auto& findings = w.worker->findings;
  auto known =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.same_defect(found); });
  if (known == findings.end()) {
    findings.push_back(std::move(found));
    known = findings.end() - 1;
  } else {
    const uint64_t all = known->count + found.count;
    const bool is_first = found.place() < known->place();
    if (is_first) *known = std::move(found);
    known->count = all;
    if (!is_first) return nullptr;
  }
  return &*known;
}

void report(Warp& w, const Inst* in, Finding::Kind kind, uint32_t lanes, uint64_t address, uint32_t width,
            std::string_view message, Finding::Severity severity) {
  Finding found;
  found.kind = kind;
  found.severity = severity;
  found.instruction = in->origin();
  found.thread = thread_of(w, static_cast<uint32_t>(std::countr_zero(lanes)));
  found.address = address;
  found.width = width;
  found.count = static_cast<uint64_t>(std::popcount(lanes));
  const bool is_access = kind == Finding::Kind::out_of_bounds || kind == Finding::Kind::misaligned ||
                         kind == Finding::Kind::unknown_pointer || kind == Finding::Kind::write_to_constant;
  if (Finding* example = add_finding(w, found)) {
    example->message = is_access ? access_of(w.worker->kernel->origins[found.instruction].op) : "";
    example->message += message;
  }
}

void report_matrix_outside(Warp& w, const Inst* in, uint32_t lanes, uint64_t offset, uint64_t shared_bytes) {
  report(w, in, Finding::Kind::out_of_bounds, lanes, offset, 16,
         "a matrix in shared memory reaches offset " + std::to_string(offset) + ": the block has " +
             std::to_string(shared_bytes) + " bytes");
}

void report_stack_overflow(Warp& w, const Inst* in, uint32_t lanes) {
  report(w, in, Finding::Kind::out_of_bounds, lanes, 0, 0,
         "the call needs more local memory than the " + std::to_string(w.local_bytes) + " bytes of a thread");
}

uint64_t read_clock(ptx::SpecialRegister reg) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ns = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  switch (reg) {
    case ptx::SpecialRegister::clock:
    case ptx::SpecialRegister::clock64: return 2 * ns;
    case ptx::SpecialRegister::clock_hi: return (2 * ns) >> 32;
    case ptx::SpecialRegister::globaltimer_hi: return ns >> 32;
    default: return ns;
  }
}

namespace {

/// What an access beyond shared memory meets. Of an extern array the launch decides how large it is, and
/// forgetting that is easy.
std::string size_of_block(const Warp& w) {
  const Kernel& kernel = *w.worker->kernel;
  const bool forgotten = w.shared_bytes <= kernel.static_shared &&
                         std::any_of(kernel.shared.begin(), kernel.shared.end(),
                                     [](const SharedVariable& v) { return v.dynamic; });
  return "the block has " + std::to_string(w.shared_bytes) + " bytes" +
         (forgotten ? "; the launch gave it no dynamic shared memory" : "");
}

std::string beyond_shared(const Warp& w, uint64_t offset, uint32_t width) {
  return offset_of("shared", offset, 32) + ", " + std::to_string(width) + " bytes: " + size_of_block(w);
}

}  // namespace

uint32_t resolve_shared(Warp& w, const Inst* in, const uint32_t* offset, uint32_t width) {
  uint32_t good = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t bit = 1u << lane;
    if (uint64_t{offset[lane]} + width > w.shared_bytes)
      report(w, in, Finding::Kind::out_of_bounds, bit, offset[lane], width,
             beyond_shared(w, offset[lane], width));
    else if ((offset[lane] & (width - 1)) != 0)
      report(w, in, Finding::Kind::misaligned, bit, offset[lane], width,
             no_multiple(offset_of("shared", offset[lane], 32), width));
    else
      good |= bit;
  }
  return good;
}

std::byte* shared_memory(Warp& w, const Inst* in, uint32_t lane, uint64_t address, uint32_t width,
                         uint32_t align) {
  const uint64_t place = in_window(address);
  const auto fail = [&](Finding::Kind kind, std::string_view message) {
    report(w, in, kind, 1u << lane, address, width, message);
    return nullptr;
  };
  if (place >= window_size)
    return fail(Finding::Kind::unknown_pointer, at_address(address) + ", which is none of shared memory");
  const uint64_t offset = in_block(place);
  std::byte* base = w.shared;
  if (const uint64_t rank = place >> rank_shift; rank != 0 && rank != w.block->rank + 1) {
    const Cluster* cluster = w.block->cluster;
    if (cluster == nullptr || rank > cluster->blocks.size())
      return fail(
          Finding::Kind::unknown_pointer,
          at_address(address) + ", which is of shared memory of a block that the cluster does not have");
    const BlockState& other = *cluster->blocks[rank - 1];
    if (other.live_warps == 0)
      return fail(Finding::Kind::out_of_bounds,
                  "shared memory of block " + std::to_string(other.index) + ", which has ended");
    base = other.shared_at;
  }
  if (offset + width > w.shared_bytes)
    return fail(Finding::Kind::out_of_bounds, beyond_shared(w, offset, width));
  if ((offset & (align - 1)) != 0)
    return fail(Finding::Kind::misaligned, no_multiple(offset_of("shared", offset, 32), align));
  return base + offset;
}

std::byte* global_memory(Warp& w, const Inst* in, uint32_t lane, uint64_t address, uint64_t width,
                         uint32_t align, bool store, Allocation* last) {
  const auto fail = [&](Finding::Kind kind, std::string_view message) {
    report(w, in, kind, 1u << lane, address, static_cast<uint32_t>(width), message);
    return nullptr;
  };
  if ((address & (align - 1)) != 0)
    return fail(Finding::Kind::misaligned, no_multiple(at_address(address), align));
  const auto covers = [&](const Allocation& a) {
    return address - a.base < a.size && a.size - (address - a.base) >= width;
  };
  Allocation found = last != nullptr ? *last : Allocation{};
  if (!covers(found)) {
    const auto met = w.worker->memory->find(address);
    if (!met || !covers(*met))
      return fail(Finding::Kind::out_of_bounds,
                  at_address(address) + ": " + w.worker->memory->neighbourhood(address, width));
    found = *met;
    if (last != nullptr) *last = found;
  }
  if (store && found.read_only) return fail(Finding::Kind::write_to_constant, only_read(address, found));
  return reinterpret_cast<std::byte*>(address);
}

uint32_t resolve_local(Warp& w, const Inst* in, uint64_t* address, uint32_t width) {
  uint32_t good = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t offset = address[lane];
    if (offset > w.local_bytes || width > w.local_bytes - offset)
      report(w, in, Finding::Kind::out_of_bounds, 1u << lane, offset, width,
             offset_of("local", offset, 64) + ", " + std::to_string(width) + " bytes: the thread has " +
                 std::to_string(w.local_bytes) + " bytes");
    else if ((offset & (width - 1)) != 0)
      report(w, in, Finding::Kind::misaligned, 1u << lane, offset, width,
             no_multiple(offset_of("local", offset, 64), width));
    else
      good |= 1u << lane;
    address[lane] = reinterpret_cast<uint64_t>(w.local) + uint64_t{lane} * w.local_bytes + offset;
  }
  return good;
}

uint32_t resolve_flat(Warp& w, const Inst* in, uint64_t* address, uint32_t width, bool generic, bool store,
                      bool observed) {
  SiteState& site = w.worker->sites[in->aux];
  std::array<uint32_t, 5> lanes{};  // by AccessSpace
  Access event;
  Allocation last;
  bool one_allocation = true;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t bit = 1u << lane;
    const uint64_t a = address[lane];
    event.address[lane] = a;
    if ((a & (width - 1)) != 0) {
      report(w, in, Finding::Kind::misaligned, bit, a, width, no_multiple(at_address(a), width));
      continue;
    }
    const bool in_shared = a - shared_window < window_size, in_local = a - local_window < window_size;
    if (width > 16 && (in_shared || in_local)) {
      report(w, in, Finding::Kind::unknown_pointer, bit, a, width,
             at_address(a) + ", which is of " + (in_shared ? "shared" : "local") + " memory: accesses of " +
                 std::to_string(width) + " bytes are to global memory only");
      continue;
    }
    if (generic && in_shared) {
      const std::byte* at = shared_memory(w, in, lane, a, width, width);
      if (at == nullptr) continue;
      address[lane] = reinterpret_cast<uint64_t>(at);
      const bool own = at >= w.shared && at < w.shared + w.shared_bytes;
      event.address[lane] = own ? static_cast<uint64_t>(at - w.shared) : a - shared_window;
      lanes[static_cast<size_t>(own ? AccessSpace::shared : AccessSpace::cluster)] |= bit;
      continue;
    }
    if (generic && in_local) {
      const uint64_t offset = a - local_window;
      if (offset + width > w.local_bytes) {
        report(
            w, in, Finding::Kind::out_of_bounds, bit, a, width,
            offset_of("local", offset, 64) + ": the thread has " + std::to_string(w.local_bytes) + " bytes");
        continue;
      }
      event.address[lane] = offset;
      address[lane] = reinterpret_cast<uint64_t>(w.local) + uint64_t{lane} * w.local_bytes + offset;
      lanes[static_cast<size_t>(AccessSpace::local)] |= bit;
      continue;
    }
    if (a - last.base >= last.size || last.size - (a - last.base) < width) {
      one_allocation = one_allocation && last.size == 0;
      auto found = w.worker->memory->find(a);
      if (!found || found->size - (a - found->base) < width) {
        // Address 0 and its neighbours are what an unset pointer looks like.
        const bool unset = a < 4096;
        report(w, in, found || !unset ? Finding::Kind::out_of_bounds : Finding::Kind::unknown_pointer, bit, a,
               width,
               at_address(a) + ": " + (unset ? "a null pointer" : w.worker->memory->neighbourhood(a, width)));
        one_allocation = false;
        continue;
      }
      last = *found;
    }
    if (store && last.read_only) {
      report(w, in, Finding::Kind::write_to_constant, bit, a, width, only_read(a, last));
      continue;
    }
    lanes[static_cast<size_t>(AccessSpace::global)] |= bit;
  }
  const uint32_t good = lanes[0] | lanes[1] | lanes[2] | lanes[3] | lanes[4];
  if (good == lanes[static_cast<size_t>(AccessSpace::global)] && one_allocation && last.size != 0) {
    site.base = last.base;
    site.end = last.base + last.size;
    site.writable = !last.read_only;
  }
  if (observed) {
    const AccessSite& at = w.worker->kernel->accesses[in->aux];
    const bool constant = at.space == ptx::Space::constant || at.space == ptx::Space::param;
    for (size_t s = 0; s < lanes.size(); ++s) {
      if (lanes[s] == 0) continue;
      auto space = static_cast<AccessSpace>(s);
      if (space == AccessSpace::global && constant) space = AccessSpace::constant;
      tell(w, in, space, lanes[s], event);
    }
    site.mask = 0;
  }
  return good;
}

void observe_shared(Warp& w, const Inst* in, const uint32_t* offset, uint32_t mask) {
  SiteState& site = w.worker->sites[in->aux];
  Access event;
  for (uint32_t i = 0; i < warp_lanes; ++i) event.address[i] = offset[i];
  tell(w, in, AccessSpace::shared, mask, event);
  std::copy_n(offset, warp_lanes, site.offset.begin());
  site.mask = mask;
}

void observe_flat(Warp& w, const Inst* in, const uint64_t* address, uint32_t mask, AccessSpace space,
                  const uint32_t* destination) {
  SiteState& site = w.worker->sites[in->aux];
  Access event;
  event.destination = destination;
  std::copy_n(address, warp_lanes, event.address.begin());
  tell(w, in, space, mask, event);
  std::copy_n(address, warp_lanes, site.address.begin());
  site.mask = mask;
  site.last_space = static_cast<uint32_t>(space) + 1;
}

void observe_bulk(Warp& w, const Inst* in, uint32_t offset, BulkAccess access) {
  access.instruction = in->aux;
  access.kind = w.worker->kernel->accesses[in->aux].kind;
  access.block = w.block->index;
  access.warp = w.index;
  access.shared_variable = shared_variable_of(*w.worker, offset);
  w.worker->observer->bulk_access(access);
}

void observe_cluster(Warp& w, const Inst* in, const std::array<uint64_t, warp_lanes>& address,
                     uint32_t mask) {
  Access event;
  event.address = address;
  tell(w, in, AccessSpace::cluster, mask, event);
}

void flush_repeats(WorkerState& worker) {
  for (uint32_t i = 0; i < worker.sites.size(); ++i) {
    SiteState& site = worker.sites[i];
    if (site.repeats != 0) worker.observer->repeat(i, site.repeats);
    site.repeats = 0;
    site.mask = 0;
  }
  for (uint32_t i = 0; i < worker.branches.size(); ++i) {
    BranchCounts& counts = worker.branches[i];
    if (counts.executions() == 0 && counts.apart == 0) continue;
    worker.observer->branch(i, counts);
    counts = {};
  }
}

void remember_split(BranchCounts& counts, const Warp& w, uint32_t taken) {
  if (counts.splits == 0 || w.block->index < counts.block) {
    counts.block = w.block->index;
    counts.warp = w.index;
    counts.splits = 0;
  }
  if (counts.splits == BranchCounts::most_splits || w.block->index != counts.block || w.index != counts.warp)
    return;
  counts.split[counts.splits++] = {w.active, taken};
}

void BranchCounts::add(const BranchCounts& other) {
  taken += other.taken;
  not_taken += other.not_taken;
  divergent += other.divergent;
  lanes_taken += other.lanes_taken;
  lanes_not_taken += other.lanes_not_taken;
  apart += other.apart;
  idle += other.idle;
  if (other.splits == 0 || (splits != 0 && block <= other.block)) return;
  block = other.block;
  warp = other.warp;
  splits = other.splits;
  split = other.split;
}

}  // namespace lanescope::exec
