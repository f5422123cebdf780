// Memory accesses of a checked launch: races on shared memory, and reads of what nobody has written. See
// checks.hpp and block_checks.hpp.
#include "exec/checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/block_checks.hpp"
#include "exec/each_lane.hpp"
#include "exec/handlers.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Strength = CheckedAccess::Strength;
using Severity = Finding::Severity;
using Excuse = Finding::Excuse;

/// The bytes that a lane stores: element after element.
void stored_bytes(const Warp& w, const CheckedAccess& access, uint32_t lane, std::byte* bytes) {
  for (uint32_t at = 0, k = 0; at < access.width; at += access.element, ++k)
    std::memcpy(bytes + at, w.regs + access.data[k] + size_t{lane} * access.data_bytes, access.element);
}

/// Whether two unordered accesses, one of them no load, race: the memory model lets strong ones be.
bool can_race(const CheckedAccess& a, const CheckedAccess& b) {
  if (a.strength == Strength::atomic) return b.strength == Strength::plain;
  return a.strength == Strength::plain || b.strength != Strength::atomic;
}

std::string bytes_of(const std::string& name, uint64_t offset, uint32_t width) {
  const std::string first = std::to_string(offset);
  std::string text =
      width == 1 ? "byte " + first : "bytes " + first + " to " + std::to_string(offset + width - 1);
  text += " of " + name;
  if (width > 1 && offset % width == 0) text += " (element " + std::to_string(offset / width) + ")";
  return text;
}

std::string describe_shared(const Kernel& kernel, uint64_t offset, uint32_t width) {
  const SharedVariable* found = nullptr;
  for (const SharedVariable& v : kernel.shared)
    if (v.offset <= offset && (v.dynamic || offset - v.offset < v.size)) found = &v;
  return found != nullptr ? bytes_of(found->name, offset - found->offset, width)
                          : bytes_of("shared memory", offset, width);
}

/// The variable of shared memory that begins there.
const SharedVariable& variable_at(const Kernel& kernel, uint32_t begin) {
  return *std::find_if(kernel.shared.begin(), kernel.shared.end(),
                       [&](const SharedVariable& v) { return v.offset == begin; });
}

std::string describe_local(const Kernel& kernel, uint64_t offset, uint32_t width) {
  for (const LocalVariable& v : kernel.local_variables)
    if (v.offset <= offset && offset - v.offset < v.size) return bytes_of(v.name, offset - v.offset, width);
  return bytes_of("local memory", offset, width);
}

}  // namespace

BlockChecks::BlockChecks(const Kernel& kernel, const Checks& checks, uint32_t threads, uint32_t shared_bytes,
                         uint32_t system_shared, uint32_t local_bytes)
    : kernel_(kernel),
      checks_(checks),
      threads_(threads),
      warps_((threads + warp_lanes - 1) / warp_lanes),
      shared_bytes_(shared_bytes),
      system_shared_(system_shared),
      local_bytes_(local_bytes),
      order_(warps_) {
  // Accesses are aligned to their width, so pieces of the smallest width are touched wholly or not at all.
  for (const CheckedAccess& access : kernel.checks)
    if (access.space != ptx::Space::local && access.space != ptx::Space::global)
      granule_shift_ = std::min(granule_shift_, static_cast<uint32_t>(std::countr_zero(access.width)));
  const size_t cells = (size_t{shared_bytes} >> granule_shift_) + 1;
  if (checks.race) {
    cells_.resize(cells);
    executed_.resize(size_t{warps_} * kernel.checks.size());
  }
  if (checks.init) {
    shared_written_.resize(cells);
    if (!kernel.local_variables.empty())
      local_written_.resize(size_t{warps_} * warp_lanes * local_bytes, Written::yes);
  }
  if (checks.barrier) exits_.resize(size_t{warps_} * warp_lanes);
}

void BlockChecks::start() {
  copies_.clear();
  new_epoch();
  for (BlockBarrier& b : barriers_) b.clear();
  std::fill(exits_.begin(), exits_.end(), nullptr);
  std::fill(shared_written_.begin(), shared_written_.end(), Written::no);
  if (checks_.init && system_shared_ < shared_bytes_)  // the system's is set up
    std::fill(shared_written_.begin() + static_cast<ptrdiff_t>(system_shared_ >> granule_shift_),
              shared_written_.end(), Written::yes);
  if (local_written_.empty()) return;
  for (size_t thread = 0; thread < size_t{warps_} * warp_lanes; ++thread)
    for (const LocalVariable& v : kernel_.local_variables)
      std::fill_n(local_written_.begin() + static_cast<ptrdiff_t>(thread * local_bytes_ + v.offset), v.size,
                  Written::no);
}

void BlockChecks::new_epoch() {
  order_.new_epoch();
  touches_.clear();
  free_touch_ = none;
  synchronised_.clear();
  told_cluster_ = {};
  if (order_.defined().epoch() == 0) {
    // The counter is round: no cell may look like one of the epochs to come.
    std::fill(cells_.begin(), cells_.end(), Cell{});
    std::fill(executed_.begin(), executed_.end(), Executed{});
    order_.new_epoch();
  }
  // A barrier does not wait for copies.
  for (const Copies& copies : copies_)
    each_lane(copies.lanes, [&](uint32_t lane) {
      each_piece(copies.offset[lane], kernel_.checks[copies.access].width, [&](uint32_t index) {
        Cell& c = cell(index);
        c.writer = copies.warp * warp_lanes + lane;
        c.write_time = in_flight;
        c.write_access = copies.access;
      });
    });
}

void BlockChecks::enter(const Warp& w, uint32_t first_variable, uint32_t count) {
  if (local_written_.empty()) return;
  each_lane(w.mask, [&](uint32_t lane) {
    for (uint32_t i = first_variable; i < first_variable + count; ++i) {
      const LocalVariable& v = kernel_.local_variables[i];
      const size_t at = size_t{thread_of(w, lane)} * local_bytes_ + v.offset;
      std::fill_n(local_written_.begin() + static_cast<ptrdiff_t>(at), v.size, Written::no);
    }
  });
}

void BlockChecks::written_elsewhere(const Now& now, uint64_t rank, uint64_t offset) {
  const Cluster* cluster = now.w.block->cluster;
  if (cluster != nullptr && rank < cluster->blocks.size() && now.access.kind != AccessKind::load)
    cluster->blocks[rank]->checks->written(offset, now.access.width);
}

void BlockChecks::find_addresses(Now& now) const {
  const CheckedAccess& access = now.access;
  const auto add = static_cast<int64_t>(static_cast<int32_t>(now.in->imm));
  each_lane(now.w.mask & access.lanes, [&](uint32_t lane) {
    uint64_t at = (access.address_bytes == 4 ? lane_value<uint32_t>(now.w, now.in->a, lane)
                                             : lane_value<uint64_t>(now.w, now.in->a, lane)) +
                  static_cast<uint64_t>(add);
    ptx::Space space = access.space;
    if (space == ptx::Space::shared) at &= 0xffffffffu;
    if (space == ptx::Space::generic) {
      if (at - shared_window < window_size) {
        space = ptx::Space::shared;
        at -= shared_window;
        const uint64_t rank = at >> rank_shift;
        if (rank == now.w.block->rank + 1)
          at = in_block(at);
        else if (rank != 0)
          written_elsewhere(now, rank - 1, in_block(at));
      } else if (at - local_window < window_size) {
        space = ptx::Space::local;
        at -= local_window;
      }
    }
    now.offset[lane] = at;
    if (space == ptx::Space::global || space == ptx::Space::generic) {
      now.global |= 1u << lane;
      return;
    }
    // The access itself reports what is outside or crooked.
    const auto fits = [&](uint64_t bytes) {
      return at <= bytes && access.width <= bytes - at && at % access.width == 0;
    };
    if (space == ptx::Space::shared && fits(shared_bytes_)) now.shared |= 1u << lane;
    if (space == ptx::Space::local && fits(now.w.local_bytes)) now.local |= 1u << lane;
  });
}

void BlockChecks::access(Warp& w, const Inst* in, const CheckedAccess& access) {
  // Of global memory races are not looked for, but flags that order threads are followed.
  const bool is_global = access.space == ptx::Space::global;
  const bool for_races = checks_.race && (!is_global || access.strength != Strength::plain);
  const bool for_bounds = checks_.bounds && !is_global;
  if (!checks_.init && !for_races && !for_bounds) return;
  Now now{w, in, access, in->aux};
  find_addresses(now);
  if (checks_.init && !is_copy(access.kind) && !access.of_mbarrier) {
    each_lane(now.shared | now.local, [&](uint32_t lane) { look_at_init(now, lane); });
    each_lane(now.global, [&](uint32_t lane) { look_at_global(now, lane); });
  }
  if (checks_.bounds) each_lane(now.shared, [&](uint32_t lane) { look_at_bounds(now, lane); });
  if (!checks_.race) return;
  if (access.strength != Strength::plain)
    each_lane(now.global, [&](uint32_t lane) { synchronise_by(now, lane); });
  if (now.shared == 0) return;
  if (checks_.lockstep) order_.warp_barrier(w.index, w.active);
  each_lane(now.shared, [&](uint32_t lane) {
    each_piece(now.offset[lane], access.width, [&](uint32_t index) {
      switch (access.kind) {
        case AccessKind::load:
        case AccessKind::load_matrix: load(now, lane, index); break;
        case AccessKind::store:
        case AccessKind::store_matrix: store(now, lane, index); break;
        case AccessKind::atomic:
        case AccessKind::compare_and_swap:
        case AccessKind::update_loop: change(now, lane, index); break;
        case AccessKind::async_copy:
        case AccessKind::async_copy_cg: begin_copy(now, lane, index); break;
      }
    });
  });
  if (is_copy(access.kind)) {
    copies_.push_back({now.number, w.index, now.shared, {}});
    each_lane(now.shared,
              [&](uint32_t lane) { copies_.back().offset[lane] = static_cast<uint32_t>(now.offset[lane]); });
  }
  Executed& executed = executed_[w.index * kernel_.checks.size() + now.number];
  if (executed.epoch != order_.defined().epoch()) executed = {order_.defined().epoch(), 0};
  executed.lanes |= now.shared;
}

void BlockChecks::fence(const Warp& w) {
  if (checks_.race) order_.fence(w.index, w.mask);
}

void BlockChecks::meet(const Warp& w, uint32_t lanes, bool orders) {
  if (!checks_.race) return;
  if (orders)
    order_.warp_barrier(w.index, lanes);
  else
    order_.meet(w.index, lanes);
}

// Reads of what has not been written.

void BlockChecks::look_at_init(const Now& now, uint32_t lane) {
  const bool is_shared = (now.shared >> lane & 1) != 0;
  if (!is_shared && local_written_.empty()) return;
  const uint32_t shift = is_shared ? granule_shift_ : 0;
  const auto first = static_cast<uint32_t>(now.offset[lane] >> shift);
  const uint32_t pieces = std::max(1u, uint32_t{now.access.width} >> shift);
  Written* written = is_shared
                         ? shared_written_.data() + first
                         : local_written_.data() + size_t{thread_of(now.w, lane)} * local_bytes_ + first;
  const bool only_reads = reads(now.access.kind), only_writes = writes(now.access.kind);
  uint32_t unwritten = 0;
  for (uint32_t i = 0; i < pieces; ++i) {
    if (!only_writes && written[i] != Written::yes) {
      ++unwritten;
      written[i] = Written::read_before;
    }
    if (!only_reads) {
      if (is_shared && written[i] == Written::read_before && only_writes)
        add_late_store(now, lane, first + i);
      written[i] = Written::yes;
    }
  }
  if (unwritten == 0) return;
  const uint64_t offset = now.offset[lane];
  const uint32_t width = now.access.width;
  // Part of an access, or a copy of bytes: often the padding of a struct that is copied as a whole.
  const bool moves = !is_shared && now.access.moves;
  report_uninitialised(
      now, lane, unwritten * width / pieces,
      unwritten == pieces && !moves ? Severity::error : Severity::warning,
      is_shared ? describe_shared(kernel_, offset, width) : describe_local(kernel_, offset, width),
      is_shared ? "no thread of the block has" : "the thread has not");
}

void BlockChecks::look_at_global(const Now& now, uint32_t lane) {
  const uint64_t address = now.offset[lane];
  const Memory& memory = *now.w.worker->memory;
  if (generation_ != memory.generation() || address - allocation_.base >= allocation_.size) {
    generation_ = memory.generation();
    allocation_ = memory.find(address).value_or(Allocation{});
  }
  const uint64_t offset = address - allocation_.base;
  const uint32_t width = now.access.width;
  if (!allocation_.written || allocation_.size - offset < width) return;
  uint32_t unwritten = 0;
  bool whole_element = false;
  const uint32_t element = now.access.element;
  for (uint32_t at = 0; !writes(now.access.kind) && at < width; at += element) {
    const uint32_t missing = allocation_.written->missing(offset + at, element);
    unwritten += missing;
    whole_element = whole_element || missing == element;
  }
  if (!reads(now.access.kind)) allocation_.written->add(offset, width);
  if (unwritten == 0) return;
  // Structs are copied from and to global memory element by element: of padding some bytes are missing.
  const Severity severity = unwritten == width ? Severity::error
                            : whole_element    ? Severity::warning
                                               : Severity::note;
  report_uninitialised(now, lane, unwritten, severity, bytes_of(allocation_.name, offset, width),
                       "nothing has");
}

void BlockChecks::look_at_bounds(const Now& now, uint32_t lane) {
  const uint64_t offset = now.offset[lane];
  const CheckedAccess& access = now.access;
  if (offset >= access.variable_begin && offset + access.width <= access.variable_end) return;
  Finding found;
  found.kind = Finding::Kind::array_overrun;
  found.instruction = access.origin;
  found.thread = thread_of(now.w, lane);
  found.address = offset;
  found.width = access.width;
  found.access = access.kind;
  if (Finding* example = add_finding(now.w, found)) {
    const SharedVariable& of = variable_at(kernel_, access.variable_begin);
    example->message = std::to_string(access.width) + " bytes at offset " +
                       std::to_string(static_cast<int64_t>(offset) - static_cast<int64_t>(of.offset)) +
                       " of " + of.name +
                       (of.dynamic ? "" : ", which has " + std::to_string(of.size) + " bytes") +
                       ": that is " + describe_shared(kernel_, offset, access.width);
  }
}

void BlockChecks::report_uninitialised(const Now& now, uint32_t lane, uint32_t unwritten, Severity severity,
                                       const std::string& what, const char* who) {
  Finding found;
  found.kind = Finding::Kind::uninitialised_read;
  found.severity = severity;
  found.instruction = now.access.origin;
  found.thread = thread_of(now.w, lane);
  found.address = now.offset[lane];
  found.width = now.access.width;
  found.access = now.access.kind;
  if (Finding* example = add_finding(now.w, found)) {
    const bool all = unwritten == found.width, is_move = (now.local >> lane & 1) != 0 && now.access.moves;
    example->message = what + "; " + who + " written " +
                       (all ? "there" : std::to_string(unwritten) + " of them") + " before";
    if (severity != Severity::error)
      example->message += std::string(" (padding of a struct that is copied as a whole looks like this") +
                          (is_move ? ", or a bit field that is set first)" : ")");
  }
}

void BlockChecks::add_late_store(const Now& now, uint32_t lane, uint32_t index) {
  const uint64_t begin = uint64_t{index} << granule_shift_;
  for (Finding& f : now.w.worker->findings)
    if (f.kind == Finding::Kind::uninitialised_read && f.block == now.w.block->index &&
        f.other_instruction == none && begin - f.address < f.width) {
      f.other_instruction = now.access.origin;
      f.other_thread = thread_of(now.w, lane);
      f.other_access = now.access.kind;
    }
}

// Races.

BlockChecks::Cell& BlockChecks::cell(uint32_t index) {
  Cell& c = cells_[index];
  if (c.epoch != order_.defined().epoch()) {
    c = Cell{};
    c.epoch = order_.defined().epoch();
  }
  return c;
}

void BlockChecks::load(Now& now, uint32_t lane, uint32_t index) {
  Cell& c = cell(index);
  if (now.access.strength != Strength::plain) acquire_by(now, lane, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.has_atomics) against_touches(now, lane, c, index, true);
  touch(now, lane, c);
}

void BlockChecks::store(Now& now, uint32_t lane, uint32_t index) {
  Cell& c = cell(index);
  // What was released to the cell before is overwritten.
  if (!synchronised_.empty()) synchronised_.erase(index);
  if (now.access.strength != Strength::plain) release_by(now, lane, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.touches != none) {
    against_touches(now, lane, c, index, false);
    forget_touches(c);
  }
  c.writer = thread_of(now.w, lane);
  c.write_time = order_.defined().now(now.w.index);
  c.write_access = now.number;
}

void BlockChecks::change(Now& now, uint32_t lane, uint32_t index) {
  Cell& c = cell(index);
  acquire_by(now, lane, index);
  release_by(now, lane, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.touches != none) against_touches(now, lane, c, index, false);
  touch(now, lane, c);
  c.has_atomics = true;
}

void BlockChecks::touch(const Now& now, uint32_t lane, Cell& c) {
  const uint32_t warp = now.w.index, time = order_.defined().now(warp), bit = 1u << lane;
  if ((c.touching_warps >> warp & 1) != 0) {
    uint32_t* link = &c.touches;
    while (*link != none) {
      Touch& t = touches_[*link];
      if (t.warp != warp || t.access != now.number) {
        link = &t.next;
        continue;
      }
      if (t.time != time) {
        // What happens before this access need not be known any longer: whoever races with it races with
        // this.
        uint32_t left = t.lanes;
        each_lane(t.lanes, [&](uint32_t other) {
          if (order_.defined().is_before(warp, other, t.time, warp, lane)) left &= ~(1u << other);
        });
        t.lanes = left;
        if (left == 0) t.time = time;
      }
      if (t.time == time) {
        t.lanes |= bit;
        // To the front: a warp mostly comes back before others come.
        const uint32_t found = *link;
        *link = t.next;
        t.next = c.touches;
        c.touches = found;
        return;
      }
      link = &t.next;
    }
  }
  uint32_t fresh = free_touch_;
  if (fresh != none) {
    free_touch_ = touches_[fresh].next;
  } else {
    fresh = static_cast<uint32_t>(touches_.size());
    touches_.emplace_back();
  }
  touches_[fresh] = {c.touches, now.number, warp, time, bit};
  c.touches = fresh;
  c.touching_warps |= 1u << warp;
}

void BlockChecks::forget_touches(Cell& c) {
  uint32_t last = c.touches;
  while (touches_[last].next != none) last = touches_[last].next;
  touches_[last].next = free_touch_;
  free_touch_ = c.touches;
  c.touches = none;
  c.touching_warps = 0;
  c.has_atomics = false;
}

void BlockChecks::against_writer(Now& now, uint32_t lane, const Cell& c, uint32_t index) {
  const bool in_flight_now = c.write_time == in_flight;
  const auto is_before = [&](const Order& order) {
    return !in_flight_now &&
           order.is_before(c.writer / warp_lanes, c.writer % warp_lanes, c.write_time, now.w.index, lane);
  };
  if (is_before(order_.defined())) return;
  const bool same = now.access.kind == AccessKind::store && now.access.data_bytes != 0 && !in_flight_now &&
                    stores_same(now, lane, index, c.writer);
  report_race(now, lane, index, c.write_access, c.writer,
              same                      ? Excuse::same_value
              : is_before(order_.met()) ? Excuse::met
                                        : Excuse::none);
}

void BlockChecks::against_touches(Now& now, uint32_t lane, const Cell& c, uint32_t index, bool atomics_only) {
  for (uint32_t i = c.touches; i != none; i = touches_[i].next) {
    const Touch& t = touches_[i];
    const CheckedAccess& then = kernel_.checks[t.access];
    if ((atomics_only && !is_atomic(then.kind)) || !can_race(now.access, then)) continue;
    uint32_t lanes = t.lanes;
    if (t.warp == now.w.index) lanes &= ~(1u << lane);
    // One race tells of all the lanes, one that nothing speaks for before others.
    uint32_t raced = none;
    bool met = true;
    for (; lanes != 0 && met; lanes &= lanes - 1) {
      const auto other = static_cast<uint32_t>(std::countr_zero(lanes));
      if (order_.defined().is_before(t.warp, other, t.time, now.w.index, lane)) continue;
      met = order_.met().is_before(t.warp, other, t.time, now.w.index, lane);
      if (raced == none || !met) raced = other;
    }
    if (raced != none)
      report_race(now, lane, index, t.access, t.warp * warp_lanes + raced, met ? Excuse::met : Excuse::none);
  }
}

bool BlockChecks::stores_same(const Now& now, uint32_t lane, uint32_t index, uint32_t writer) const {
  const uint64_t begin = uint64_t{index} << granule_shift_;
  const size_t bytes = size_t{1} << granule_shift_;
  std::byte mine[32], others[32];
  stored_bytes(now.w, now.access, lane, mine);
  const std::byte* stored = now.w.shared + begin;
  // A store of the very same instruction has not reached the memory yet.
  const uint32_t other = writer % warp_lanes;
  if (writer / warp_lanes == now.w.index && other < lane && (now.shared >> other & 1) != 0 &&
      begin - now.offset[other] < now.access.width) {
    stored_bytes(now.w, now.access, other, others);
    stored = others + (begin - now.offset[other]);
  }
  return std::memcmp(mine + (begin - now.offset[lane]), stored, bytes) == 0;
}

void BlockChecks::report_race(Now& now, uint32_t lane, uint32_t index, uint32_t then, uint32_t then_thread,
                              Excuse excuse) {
  const CheckedAccess& before = kernel_.checks[then];
  if (!can_race(now.access, before)) return;
  Finding found;
  found.kind = Finding::Kind::race;
  found.excuse = excuse;
  if (now.access.strength == Strength::is_volatile && before.strength == Strength::is_volatile) {
    // A volatile store after a fence is how flags are set.
    if (synchronised_.contains(index)) return;
    if (excuse != Excuse::same_value)
      found.excuse = then_thread / warp_lanes == now.w.index ? Excuse::in_step : Excuse::polling;
  }
  switch (found.excuse) {
    case Excuse::none: found.severity = Severity::error; break;
    case Excuse::met:
    case Excuse::in_step: found.severity = Severity::warning; break;
    case Excuse::polling:
    case Excuse::same_value: found.severity = Severity::note; break;
  }
  found.instruction = now.access.origin;
  found.thread = thread_of(now.w, lane);
  found.address = uint64_t{index} << granule_shift_;
  found.width = 1u << granule_shift_;
  found.access = now.access.kind;
  found.other_instruction = before.origin;
  found.other_thread = then_thread;
  found.other_access = before.kind;
  const Executed& executed = executed_[now.w.index * kernel_.checks.size() + then];
  found.after_other = executed.epoch == order_.defined().epoch() && (executed.lanes >> lane & 1) != 0;
  found.count = now.raced >> lane & 1 ? 0 : 1;
  now.raced |= 1u << lane;
  if (Finding* example = add_finding(now.w, found))
    example->message = describe_shared(kernel_, now.offset[lane], now.access.width);
}

void BlockChecks::synchronise_by(const Now& now, uint32_t lane) {
  constexpr uint32_t word_shift = 2;  // no cell of shared memory has such a number
  const uint64_t place = now.offset[lane] >> word_shift;
  if (writes(now.access.kind))
    synchronised_.erase(place);
  else
    acquire_by(now, lane, place);
  if (!reads(now.access.kind)) release_by(now, lane, place);
}

void BlockChecks::acquire_by(const Now& now, uint32_t lane, uint64_t place) {
  if (synchronised_.empty()) return;
  const auto found = synchronised_.find(place);
  if (found == synchronised_.end()) return;
  if (now.access.acquires)
    order_.acquire(found->second, now.w.index, 1u << lane);
  else
    order_.acquire_at_fence(found->second, now.w.index, lane);
}

void BlockChecks::release_by(const Now& now, uint32_t lane, uint64_t place) {
  if (now.access.releases) {
    order_.release(synchronised_[place], now.w.index, 1u << lane);
  } else if (order_.defined().has_fenced(now.w.index, lane)) {
    order_.release_fenced(synchronised_[place], now.w.index, lane);
  }
}

// Asynchronous copies and mbarrier objects.

void BlockChecks::begin_copy(Now& now, uint32_t lane, uint32_t index) {
  store(now, lane, index);
  cell(index).write_time = in_flight;
}

void BlockChecks::copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes) {
  written(offset, bytes);
  if (!checks_.race) return;
  const auto is_this = [&](const Copies& c) {
    return c.warp == w.index && (c.lanes >> lane & 1) != 0 && c.offset[lane] == offset;
  };
  const auto found = std::find_if(copies_.begin(), copies_.end(), is_this);
  if (found == copies_.end()) return;
  each_piece(offset, bytes, [&](uint32_t index) {
    Cell& c = cell(index);
    if (c.writer == thread_of(w, lane) && c.write_time == in_flight)
      c.write_time = order_.defined().now(w.index);
  });
  found->lanes &= ~(1u << lane);
  if (found->lanes == 0) copies_.erase(found);
}

void BlockChecks::written(uint64_t offset, uint64_t bytes) {
  if (!checks_.init || bytes == 0 || offset + bytes > shared_bytes_) return;
  std::fill(shared_written_.begin() + static_cast<ptrdiff_t>(offset >> granule_shift_),
            shared_written_.begin() + static_cast<ptrdiff_t>((offset + bytes - 1) >> granule_shift_) + 1,
            Written::yes);
}

void BlockChecks::written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (local_written_.empty()) return;
  const size_t at = size_t{thread_of(w, lane)} * local_bytes_ + offset;
  std::fill_n(local_written_.begin() + static_cast<ptrdiff_t>(at), bytes, Written::yes);
}

void BlockChecks::release_to(const Warp& w, uint32_t lane, uint64_t offset) {
  if (checks_.race)
    order_.release(synchronised_[static_cast<uint32_t>(offset >> granule_shift_)], w.index, 1u << lane);
}

void BlockChecks::acquire_from(const Warp& w, uint32_t lane, uint64_t offset) {
  if (!checks_.race) return;
  const auto found = synchronised_.find(static_cast<uint32_t>(offset >> granule_shift_));
  if (found != synchronised_.end()) order_.acquire(found->second, w.index, 1u << lane);
}

void BlockChecks::release_to_cluster(const Warp& w, uint32_t lanes, bool relaxed) {
  if (!checks_.race) return;
  if (!relaxed) return order_.release(told_cluster_, w.index, lanes);
  each_lane(lanes, [&](uint32_t lane) {
    if (order_.defined().has_fenced(w.index, lane)) order_.release_fenced(told_cluster_, w.index, lane);
  });
}

void BlockChecks::acquire_from_cluster(const Warp& w, uint32_t lanes) {
  if (checks_.race && told_cluster_) order_.acquire(told_cluster_, w.index, lanes);
}

// The helper instructions.

const Inst* check_access(Warp& w, const Inst* in) {
  w.block->checks->access(w, in, w.worker->kernel->checks[in->aux]);
  return in + 1;
}

const Inst* check_fence(Warp& w, const Inst* in) {
  w.block->checks->fence(w);
  return in + 1;
}

const Inst* check_sync(Warp& w, const Inst* in) {
  w.block->checks->check_members(w, in);
  const Inst* next = host_handlers().control.sync_groups(w, in);
  const bool orders = (in->imm & 1) != 0;
  if (w.event == Event::none)
    w.block->checks->meet(
        w, lane_value<uint32_t>(w, in->a, static_cast<uint32_t>(std::countr_zero(w.active))) & w.active,
        orders);
  return next;
}

void check_shuffle(Warp& w, const Inst* in, const uint32_t* source) {
  w.block->checks->check_sources(w, in, source);
}

const Inst* check_enter(Warp& w, const Inst* in) {
  w.block->checks->enter(w, in->aux, in->b);
  return in + 1;
}

}  // namespace lanescope::exec
