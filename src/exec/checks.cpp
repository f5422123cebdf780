// Memory accesses of a checked launch: races on shared memory, and reads of what nobody has written. See
// checks.hpp and block_checks.hpp.
#include "exec/checks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

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
    std::memcpy(bytes + at, w.regs + access.data[k].at + size_t{lane} * access.data_bytes, access.element);
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
                         uint32_t system_shared, uint32_t local_bytes, std::shared_ptr<ClusterOrder> cluster,
                         uint32_t rank)
    : kernel_(kernel),
      checks_(checks),
      threads_(threads),
      warps_((threads + warp_lanes - 1) / warp_lanes),
      shared_bytes_(shared_bytes),
      system_shared_(system_shared),
      local_bytes_(local_bytes),
      rank_(rank),
      cluster_(std::move(cluster)),
      order_(cluster_->order),
      alone_(order_.defined().threads() == warps_ * warp_lanes),
      values_(kernel, warps_) {
  // Accesses are aligned to their width, so pieces of the smallest width are touched wholly or not at all.
  for (const CheckedAccess& access : kernel.checks)
    if (access.space != ptx::Space::local && access.space != ptx::Space::global)
      granule_shift_ = std::min(granule_shift_, static_cast<uint32_t>(std::countr_zero(access.width)));
  const size_t cells = (size_t{shared_bytes} >> granule_shift_) + 1;
  if (checks.race) {
    cells_.resize(cells);
    executed_.resize(size_t{warps_} * kernel.checks.size());
    if (std::any_of(kernel.checks.begin(), kernel.checks.end(),
                    [](const CheckedAccess& access) { return access.async_proxy; })) {
      own_stores_.resize(cells);
      bulk_groups_.resize(size_t{warps_} * warp_lanes);
      product_agents_.resize(warps_ / warps_of_group + 1);
      product_groups_.resize(warps_);
    }
  }
  if (checks.init) {
    shared_written_.resize(cells);
    if (local_bytes != 0) local_written_.resize(size_t{warps_} * warp_lanes * local_bytes, Written::yes);
  }
  if (checks.barrier) exits_.resize(size_t{warps_} * warp_lanes);
}

uint32_t BlockChecks::warp_of(const Warp& w) {
  return w.block->rank * static_cast<uint32_t>(w.block->warps.size()) + w.index;
}

void BlockChecks::start() {
  copies_.clear();
  bulk_.clear();
  mbarriers_.clear();
  ended_ = {};
  std::fill(own_stores_.begin(), own_stores_.end(), OwnStore{});
  std::fill(bulk_groups_.begin(), bulk_groups_.end(), 0);
  std::fill(product_agents_.begin(), product_agents_.end(), none);
  std::fill(product_groups_.begin(), product_groups_.end(), 0);
  tensor_work_.clear();
  cluster_->arrived = cluster_->passed = {};
  cluster_->begun_by.clear();
  order_.start();
  new_epoch();
  for (BlockBarrier& b : barriers_) b.clear();
  std::fill(exits_.begin(), exits_.end(), nullptr);
  values_.start();
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
  cluster_->flags.clear();
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
  for (auto& [offset, arrivals] : mbarriers_) {
    arrivals.gathered = arrivals.passed = {};
    if (bulk_.empty()) continue;
    for (const TensorWork& work : arrivals.gathered_work)
      order_.tell(arrivals.gathered, work.agent, work.time);
    for (const TensorWork& work : arrivals.passed_work) order_.tell(arrivals.passed, work.agent, work.time);
    if (arrivals.agent == none) continue;
    order_.tell(arrivals.gathered, arrivals.agent, arrivals.begun);
    order_.tell(arrivals.passed, arrivals.agent, arrivals.complete);
  }
  for (const Bulk& bulk : bulk_) remember(bulk);
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

bool BlockChecks::leads_elsewhere(Now& now, uint32_t lane, uint64_t& at) {
  const uint64_t field = at >> rank_shift;  // rank + 1
  const Cluster* cluster = now.w.block->cluster;
  const bool own = field == now.w.block->rank + 1;
  if (!own && (cluster == nullptr || field > cluster->blocks.size())) return false;
  at = in_block(at);
  now.rank[lane] = static_cast<uint8_t>(field - 1);
  return !own;
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
      } else if (at - local_window < window_size) {
        space = ptx::Space::local;
        at -= local_window;
      }
    }
    const bool elsewhere =
        space == ptx::Space::shared && at >> rank_shift != 0 && leads_elsewhere(now, lane, at);
    now.offset[lane] = at;
    if (space == ptx::Space::global || space == ptx::Space::generic) {
      now.global |= 1u << lane;
      return;
    }
    // The access itself reports what is outside or crooked.
    const auto fits = [&](uint64_t bytes) {
      return at <= bytes && access.width <= bytes - at && at % access.width == 0;
    };
    if (space == ptx::Space::shared && fits(shared_bytes_))
      (elsewhere ? now.elsewhere : now.shared) |= 1u << lane;
    if (space == ptx::Space::local && fits(now.w.local_bytes)) now.local |= 1u << lane;
  });
}

void BlockChecks::access(Warp& w, const Inst* in, const CheckedAccess& access) {
  // Of global memory races are not looked for, but flags that order threads are followed.
  const bool is_global = access.space == ptx::Space::global;
  const bool for_races = checks_.race && (!is_global || access.strength != Strength::plain);
  const bool for_bounds = checks_.bounds && !is_global;
  if (!checks_.init && !for_races && !for_bounds) return;
  Now now{w, in, access, in->aux, access.width};
  find_addresses(now);
  if (values_.any()) follow_data(now);
  for (uint32_t rest = now.elsewhere; rest != 0;) {
    const uint8_t rank = now.rank[static_cast<uint32_t>(std::countr_zero(rest))];
    uint32_t lanes = 0;
    each_lane(rest, [&](uint32_t lane) { lanes |= uint32_t{now.rank[lane] == rank} << lane; });
    w.block->cluster->blocks[rank]->checks->access_from_elsewhere(now, lanes);
    rest &= ~lanes;
  }
  if (checks_.init && !is_copy(access.kind) && !access.of_mbarrier) {
    each_lane(now.shared | now.local, [&](uint32_t lane) { look_at_init(now, lane); });
    each_lane(now.global, [&](uint32_t lane) { look_at_global(now, lane); });
  }
  if (checks_.bounds) each_lane(now.shared, [&](uint32_t lane) { look_at_bounds(now, lane); });
  if (!checks_.race) return;
  if (access.strength != Strength::plain)
    each_lane(now.global, [&](uint32_t lane) { synchronise_by(now, lane); });
  if (now.shared == 0) return;
  if (checks_.lockstep) order_.warp_barrier(warp_of(w), w.active);
  look_for_races(now);
  if (is_copy(access.kind)) {
    copies_.push_back({now.number, warp_of(w), now.shared, {}});
    each_lane(now.shared,
              [&](uint32_t lane) { copies_.back().offset[lane] = static_cast<uint32_t>(now.offset[lane]); });
  }
  Executed& executed = executed_[w.index * kernel_.checks.size() + now.number];
  if (executed.epoch != order_.defined().epoch()) executed = {order_.defined().epoch(), 0};
  executed.lanes |= now.shared;
}

void BlockChecks::access_from_elsewhere(Now now, uint32_t lanes) {
  now.shared = lanes;
  now.local = now.global = 0;
  if (checks_.init && !now.access.of_mbarrier)
    each_lane(lanes, [&](uint32_t lane) { look_at_init(now, lane); });
  if (!checks_.race) return;
  each_lane(lanes, [&](uint32_t lane) { look_at_beginning(now, lane); });
  look_for_races(now);
}

void BlockChecks::look_for_races(Now& now) {
  each_lane(now.shared, [&](uint32_t lane) {
    each_piece(now.offset[lane], now.bytes, [&](uint32_t index) {
      switch (now.access.kind) {
        case AccessKind::load:
        case AccessKind::load_matrix:
        case AccessKind::group_product:
        case AccessKind::tensor_product: load(now, lane, index); break;
        case AccessKind::store:
        case AccessKind::store_matrix:
        case AccessKind::async_store: store(now, lane, index); break;
        case AccessKind::atomic:
        case AccessKind::compare_and_swap:
        case AccessKind::update_loop: change(now, lane, index); break;
        case AccessKind::async_copy:
        case AccessKind::async_copy_cg: begin_copy(now, lane, index); break;
        case AccessKind::bulk_load:
        case AccessKind::bulk_store:
        case AccessKind::bulk_reduction: break;  // copy_in_bulk() is told of these as of the kinds above
      }
    });
  });
}

void BlockChecks::fence(const Warp& w) {
  if (checks_.race) order_.fence(warp_of(w), w.mask);
}

void BlockChecks::proxy_fence(const Warp& w) {
  if (!own_stores_.empty()) order_.proxy_fence(warp_of(w), w.mask);
}

void BlockChecks::meet(const Warp& w, uint32_t lanes, bool orders) {
  if (!checks_.race) return;
  if (orders)
    order_.warp_barrier(warp_of(w), lanes);
  else
    order_.meet(warp_of(w), lanes);
}

// Reads of what has not been written.

void BlockChecks::follow_data(const Now& now) {
  for (const FollowedRegister& reg : now.access.data) {
    if (now.access.follows) values_.define(now.w, reg, now.w.mask);
    if (now.access.kind == AccessKind::store)
      each_lane(values_.undefined(now.w, reg, now.global | now.elsewhere), [&](uint32_t lane) {
        report_use(now.w, values_.origin_of(now.w, reg, lane), now.access.origin);
      });
  }
}

Finding BlockChecks::uninitialised(const Now& now, uint32_t lane, Severity severity) {
  Finding found;
  found.kind = Finding::Kind::uninitialised_read;
  found.severity = severity;
  found.instruction = now.access.origin;
  found.thread = thread_of(now.w, lane);
  found.address = now.offset[lane];
  found.width = now.access.width;
  found.access = now.access.kind;
  return found;
}

bool BlockChecks::is_of_this_block(const Now& now) const { return now.w.block->checks.get() == this; }

bool BlockChecks::follows(const Now& now) const { return now.access.follows && is_of_this_block(now); }

void BlockChecks::look_at_init(const Now& now, uint32_t lane) {
  const bool is_shared = (now.shared >> lane & 1) != 0;
  if (!is_shared && local_written_.empty()) return;
  const uint64_t offset = now.offset[lane];
  const uint32_t width = now.access.width, shift = is_shared ? granule_shift_ : 0, piece = 1u << shift;
  const auto first = static_cast<uint32_t>(offset >> shift);
  const uint32_t pieces = std::max(1u, width >> shift);
  const uint64_t place = is_shared ? place_in_shared(offset) : place_in_local(now.w, lane, offset);
  Written* written = is_shared
                         ? shared_written_.data() + first
                         : local_written_.data() + size_t{thread_of(now.w, lane)} * local_bytes_ + first;
  const bool only_reads = reads(now.access.kind), only_writes = writes(now.access.kind);
  Loaded loaded;
  uint32_t unwritten = 0;
  for (uint32_t i = 0; i < pieces; ++i) {
    if (!only_writes && written[i] == Written::undefined) {
      for (uint32_t at = i * piece; at < std::min((i + 1) * piece, width); ++at)
        if (loaded.bits[at] = values_.bits_at(place + at); loaded.bits[at] != std::byte{0})
          loaded.origin = values_.origin_at(place + at);
    } else if (!only_writes && written[i] != Written::yes) {
      ++unwritten;
      written[i] = Written::read_before;
      std::fill_n(loaded.bits.begin() + i * piece, std::min(piece, width), std::byte{0xff});
    }
    if (!only_reads) {
      if (is_shared && written[i] == Written::read_before && only_writes)
        add_late_store(now, lane, first + i);
      written[i] = Written::yes;
    }
  }
  if (now.access.kind == AccessKind::store && is_of_this_block(now))
    store_values(now, lane, place, [&](uint32_t i) { written[i >> shift] = Written::undefined; });
  if (unwritten == 0) return take(now, lane, loaded, nullptr);
  // Part of an access: often the padding of a struct that is copied as a whole.
  const UndefinedValues::Origin origin{
      .found = uninitialised(now, lane, unwritten == pieces ? Severity::error : Severity::warning),
      .space = is_shared ? ptx::Space::shared : ptx::Space::local,
      .unwritten = unwritten * width / pieces};
  take(now, lane, loaded, &origin);
  if (!is_shared || !follows(now)) return;
  for (uint32_t i = 0; i < pieces; ++i)
    if (written[i] == Written::read_before)
      values_.readers_of(first + i).insert(UndefinedValues::name_of(origin));
}

void BlockChecks::take(const Now& now, uint32_t lane, Loaded loaded, const UndefinedValues::Origin* fresh) {
  if (!follows(now)) {
    if (fresh != nullptr)
      report_undefined(now.w, *fresh, Finding::none);
    else if (loaded.origin != 0)
      report_use(now.w, loaded.origin, now.access.origin);
    return;
  }
  if (fresh != nullptr) loaded.origin = values_.remember(*fresh);
  if (loaded.origin == 0) return;
  const uint32_t element = now.access.element;
  for (uint32_t at = 0, k = 0; at < now.access.width; at += element, ++k) {
    const std::span bits(loaded.bits.data() + at, element);
    if (now.access.data[k].number != no_operand &&
        std::any_of(bits.begin(), bits.end(), [](std::byte b) { return b != std::byte{0}; }))
      values_.set(now.w, now.access.data[k], lane, bits, now.access.by_sign, loaded.origin);
  }
}

template <class F>
void BlockChecks::store_values(const Now& now, uint32_t lane, uint64_t place, F f) {
  if (!values_.any()) return;
  const auto is_undefined = [&](const FollowedRegister& reg) {
    return values_.undefined(now.w, reg, 1u << lane) != 0;
  };
  if (std::none_of(now.access.data.begin(), now.access.data.end(), is_undefined)) return;
  const uint32_t element = now.access.element;
  for (uint32_t at = 0, k = 0; at < now.access.width; at += element, ++k) {
    const FollowedRegister& reg = now.access.data[k];
    std::array<std::byte, 32> bits{};
    const bool undefined = is_undefined(reg);
    if (undefined) values_.get(now.w, reg, lane, std::span(bits.data(), element));
    for (uint32_t i = 0; i < element; ++i) {
      values_.store(place + at + i, bits[i], undefined ? values_.origin_of(now.w, reg, lane) : 0);
      if (bits[i] != std::byte{0}) f(at + i);
    }
  }
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
  Loaded loaded;
  for (uint32_t at = 0; !writes(now.access.kind) && at < width; at += element) {
    const uint32_t missing = allocation_.written->missing(offset + at, element);
    unwritten += missing;
    whole_element = whole_element || missing == element;
    for (uint32_t i = at; missing != 0 && i < at + element; ++i)
      if (allocation_.written->missing(offset + i, 1) != 0) loaded.bits[i] = std::byte{0xff};
  }
  if (!reads(now.access.kind)) allocation_.written->add(offset, width);
  if (unwritten == 0) return;
  // Structs are copied from and to global memory element by element: of padding some bytes are missing.
  const Severity severity = unwritten == width ? Severity::error
                            : whole_element    ? Severity::warning
                                               : Severity::note;
  const UndefinedValues::Origin origin{
      .found = uninitialised(now, lane, severity), .space = ptx::Space::global, .unwritten = unwritten};
  take(now, lane, loaded, &origin);
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

void BlockChecks::report_use(Warp& w, UndefinedValues::Name name, uint32_t use) {
  UndefinedValues::Origin& origin = values_.origin(name);
  if (!std::exchange(origin.reported, true)) report_undefined(w, origin, use);
}

void BlockChecks::report_undefined(Warp& w, const UndefinedValues::Origin& origin, uint32_t use) {
  Finding found = origin.found;
  found.use = use;
  if (Finding* example = add_finding(w, found))
    example->message =
        found.kind == Finding::Kind::shuffle_source ? words_for_shuffle(origin) : words_for_read(w, origin);
}

std::string BlockChecks::words_for_read(const Warp& w, const UndefinedValues::Origin& origin) const {
  const Finding& found = origin.found;
  const bool is_shared = origin.space == ptx::Space::shared, is_local = origin.space == ptx::Space::local;
  std::string words;
  if (is_shared) {
    words = describe(w, found.address, found.width);
  } else if (is_local) {
    words = describe_local(kernel_, found.address, found.width);
  } else {
    const Allocation of = w.worker->memory->find(found.address).value_or(Allocation{});
    words = bytes_of(of.name, found.address - of.base, found.width);
  }
  words += std::string("; ") +
           (is_shared  ? "no thread of the block has"
            : is_local ? "the thread has not"
                       : "nothing has") +
           " written " +
           (origin.unwritten == found.width ? "there" : std::to_string(origin.unwritten) + " of them") +
           " before";
  if (found.severity != Severity::error)
    words += " (padding of a struct that is copied as a whole looks like this)";
  return words;
}

void BlockChecks::add_late_store(const Now& now, uint32_t lane, uint32_t index) {
  const uint64_t begin = uint64_t{index} << granule_shift_;
  const auto add_store = [&](Finding& f) {
    f.other_instruction = now.access.origin;
    f.other_thread = thread_of(now.w, lane);
    f.other_access = now.access.kind;
  };
  for (Finding& f : now.w.worker->findings)
    if (f.kind == Finding::Kind::uninitialised_read && f.block == now.w.block->index &&
        f.other_instruction == none && begin - f.address < f.width)
      add_store(f);
  if (!values_.any()) return;
  for (const UndefinedValues::Name name : values_.readers_of(index))
    if (Finding& f = values_.origin(name).found; f.other_instruction == none) add_store(f);
}

void BlockChecks::follow(Warp& w, const Inst* in, const ValueFlow& flow) {
  if (!values_.any()) return;
  for (const FollowedRegister& reg : flow.needs)
    each_lane(values_.undefined(w, reg, w.mask),
              [&](uint32_t lane) { report_use(w, values_.origin_of(w, reg, lane), in->origin()); });
  tries_ = true;
  values_.pass_on(w, in, flow);
  tries_ = false;
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
  if (now.access.strength != Strength::plain) acquire_by(now, lane, synchronised_, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.has_atomics) against_touches(now, lane, c, index, true);
  touch(now, lane, c);
}

void BlockChecks::store(Now& now, uint32_t lane, uint32_t index) {
  Cell& c = cell(index);
  // What was released to the cell before is overwritten.
  if (!synchronised_.empty()) synchronised_.erase(index);
  if (now.access.strength != Strength::plain) release_by(now, lane, synchronised_, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.touches != none) {
    against_touches(now, lane, c, index, false);
    forget_touches(c);
  }
  const bool by_agent = now.agent != none;
  c.writer = by_agent ? now.agent : now.warp * warp_lanes + lane;
  c.write_time = by_agent ? now.time : order_.defined().now(now.warp);
  c.write_access = now.number;
  note_store(now, lane, index);
}

void BlockChecks::note_store(const Now& now, uint32_t lane, uint32_t index) {
  if (own_stores_.empty()) return;
  own_stores_[index] = now.access.of_bulk_copy
                           ? OwnStore{}
                           : OwnStore{order_.defined().epoch(), order_.defined().now(now.warp),
                                      now.warp * warp_lanes + lane, now.number};
}

void BlockChecks::change(Now& now, uint32_t lane, uint32_t index) {
  Cell& c = cell(index);
  acquire_by(now, lane, synchronised_, index);
  release_by(now, lane, synchronised_, index);
  if (c.writer != none) against_writer(now, lane, c, index);
  if (c.touches != none) against_touches(now, lane, c, index, false);
  touch(now, lane, c);
  c.has_atomics = true;
  note_store(now, lane, index);
}

void BlockChecks::touch(const Now& now, uint32_t lane, Cell& c) {
  const bool by_agent = now.agent != none;
  const uint32_t by = by_agent ? now.agent : now.warp * warp_lanes + lane, warp = by / warp_lanes,
                 bit = 1u << by % warp_lanes;
  const uint32_t time = by_agent || now.access.of_bulk_copy ? now.time : order_.defined().now(warp);
  if ((c.touching_warps >> warp % 32 & 1) != 0) {
    uint32_t* link = &c.touches;
    while (*link != none) {
      Touch& t = touches_[*link];
      if (t.warp != warp || t.access != now.number) {
        link = &t.next;
        continue;
      }
      if (by_agent && t.lanes == bit) t.time = time;
      if (t.time != time && !now.access.of_bulk_copy) {
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
  add_touch(c, now.number, warp, time, bit);
}

void BlockChecks::add_touch(Cell& c, uint32_t access, uint32_t warp, uint32_t time, uint32_t lanes) {
  uint32_t fresh = free_touch_;
  if (fresh != none) {
    free_touch_ = touches_[fresh].next;
  } else {
    fresh = static_cast<uint32_t>(touches_.size());
    touches_.emplace_back();
  }
  touches_[fresh] = {c.touches, access, warp, time, lanes};
  c.touches = fresh;
  c.touching_warps |= 1u << warp % 32;
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

bool BlockChecks::is_before(const Order& order, uint32_t number, uint32_t time, const Now& now,
                            uint32_t lane) {
  bool any = false;
  each_lane(now.together | 1u << lane, [&](uint32_t by) {
    any = any || order.is_before(number / warp_lanes, number % warp_lanes, time, now.warp, by);
  });
  return any;
}

void BlockChecks::against_writer(Now& now, uint32_t lane, const Cell& c, uint32_t index) {
  const bool is_under_way = c.write_time == in_flight;
  const auto comes_first = [&](const Order& order) {
    return !is_under_way && is_before(order, c.writer, c.write_time, now, lane);
  };
  if (comes_first(order_.defined())) return;
  const bool same = now.access.kind == AccessKind::store && now.access.data_bytes != 0 && !is_under_way &&
                    stores_same(now, lane, index, c.writer);
  report_race(now, lane, index, c.write_access, c.writer,
              same                        ? Excuse::same_value
              : comes_first(order_.met()) ? Excuse::met
                                          : Excuse::none);
}

void BlockChecks::against_touches(Now& now, uint32_t lane, const Cell& c, uint32_t index, bool atomics_only) {
  for (uint32_t i = c.touches; i != none; i = touches_[i].next) {
    const Touch& t = touches_[i];
    const CheckedAccess& then = kernel_.checks[t.access];
    if ((atomics_only && !is_atomic(then.kind)) || !can_race(now.access, then)) continue;
    uint32_t lanes = t.lanes;
    const bool is_under_way = t.time == in_flight;
    if (t.warp == now.warp && !is_under_way) lanes &= ~(1u << lane);
    // One race tells of all the lanes, one that nothing speaks for before others.
    uint32_t raced = none;
    bool met = true;
    for (; lanes != 0 && met; lanes &= lanes - 1) {
      const auto other = static_cast<uint32_t>(std::countr_zero(lanes));
      const auto comes_first = [&](const Order& order) {
        return !is_under_way && is_before(order, t.warp * warp_lanes + other, t.time, now, lane);
      };
      if (comes_first(order_.defined())) continue;
      met = comes_first(order_.met());
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
  const Cluster* cluster = now.w.block->cluster;
  const std::byte* stored = (cluster == nullptr ? now.w.shared : cluster->blocks[rank_]->shared_at) + begin;
  // A store of the very same instruction has not reached the memory yet.
  const uint32_t other = writer % warp_lanes;
  if (writer / warp_lanes == now.warp && other < lane && (now.shared >> other & 1) != 0 &&
      begin - now.offset[other] < now.access.width) {
    stored_bytes(now.w, now.access, other, others);
    stored = others + (begin - now.offset[other]);
  }
  return std::memcmp(mine + (begin - now.offset[lane]), stored, bytes) == 0;
}

std::string BlockChecks::describe(const Warp& w, uint64_t offset, uint32_t bytes) const {
  return describe_shared(kernel_, offset, bytes) +
         (w.block->rank == rank_ ? "" : " in block " + std::to_string(rank_) + " of the cluster");
}

Finding BlockChecks::race_of(const Now& now, uint32_t lane, uint32_t index) const {
  Finding found;
  found.kind = Finding::Kind::race;
  found.instruction = now.access.origin;
  found.thread = thread_of(now.w, lane);
  found.address = uint64_t{index} << granule_shift_;
  found.width = 1u << granule_shift_;
  found.access = now.access.kind;
  found.bulk = now.access.of_bulk_copy;
  return found;
}

void BlockChecks::report_race(Now& now, uint32_t lane, uint32_t index, uint32_t then, uint32_t then_number,
                              Excuse excuse, Finding::Lack lack) {
  const CheckedAccess& before = kernel_.checks[then];
  if (lack == Finding::Lack::order && !can_race(now.access, before)) return;
  const uint32_t then_thread = thread_behind(then_number), in_block = warps_ * warp_lanes;
  const BlockState& block = *now.w.block;
  Finding found = race_of(now, lane, index);
  found.lack = lack;
  found.excuse = excuse;
  if (now.access.strength == Strength::is_volatile && before.strength == Strength::is_volatile) {
    // A volatile store after a fence is how flags are set.
    if (synchronised_.contains(index)) return;
    if (excuse != Excuse::same_value)
      found.excuse = then_thread / warp_lanes == now.warp ? Excuse::in_step : Excuse::polling;
  }
  if ((now.access.guesses && is_atomic(before.kind)) || (before.guesses && is_atomic(now.access.kind)))
    found.excuse = Excuse::guess;
  switch (found.excuse) {
    case Excuse::none: found.severity = Severity::error; break;
    case Excuse::met:
    case Excuse::in_step: found.severity = Severity::warning; break;
    case Excuse::polling:
    case Excuse::same_value:
    case Excuse::guess: found.severity = Severity::note; break;
  }
  // The memory model asks for it; that it ever goes wrong is not known.
  if (lack == Finding::Lack::proxy_fence && !reads(found.access)) found.severity = Severity::warning;
  found.other_instruction = before.origin;
  found.other_thread = then_thread % in_block;
  if (const uint32_t rank = then_thread / in_block; rank != block.rank)
    found.other_block = block.cluster->blocks[rank]->index;
  found.other_access = before.kind;
  found.other_bulk = before.of_bulk_copy;
  const Executed& executed = block.checks->executed_[now.w.index * kernel_.checks.size() + then];
  found.after_other = executed.epoch == order_.defined().epoch() && (executed.lanes >> lane & 1) != 0;
  found.count = now.raced >> lane & 1 ? 0 : 1;
  now.raced |= 1u << lane;
  if (Finding* example = add_finding(now.w, found))
    example->message = describe(now.w, now.offset[lane], now.bytes);
}

void BlockChecks::against_own_store(Now& now, uint32_t lane, uint32_t index) {
  const OwnStore& then = own_stores_[index];
  if (then.thread == none || order_.defined().has_proxy_fence_after(
                                 then.thread / warp_lanes, then.thread % warp_lanes, then.epoch, then.time))
    return;
  report_race(now, lane, index, then.access, then.thread, Excuse::none, Finding::Lack::proxy_fence);
}

void BlockChecks::look_at_beginning(Now& now, uint32_t lane) {
  // When all have met once, all blocks have begun, whatever the arrivals told.
  if (cluster_->passed || order_.defined().knows_any(rank_ * warps_, warps_, now.warp, lane)) return;
  Finding found = race_of(now, lane, static_cast<uint32_t>(now.offset[lane] >> granule_shift_));
  found.lack = Finding::Lack::beginning;
  if (Finding* example = add_finding(now.w, found))
    example->message = describe(now.w, now.offset[lane], now.bytes);
}

void BlockChecks::synchronise_by(const Now& now, uint32_t lane) {
  constexpr uint32_t word_shift = 2;
  const uint64_t place = now.offset[lane] >> word_shift;
  auto& flags = cluster_->flags;
  if (writes(now.access.kind))
    flags.erase(place);
  else
    acquire_by(now, lane, flags, place);
  if (!reads(now.access.kind)) release_by(now, lane, flags, place);
}

void BlockChecks::acquire_by(const Now& now, uint32_t lane, const Clocks& clocks, uint64_t place) {
  if (clocks.empty()) return;
  const auto found = clocks.find(place);
  if (found == clocks.end()) return;
  if (now.access.acquires)
    order_.acquire(found->second, now.warp, 1u << lane);
  else
    order_.acquire_at_fence(found->second, now.warp, lane);
}

void BlockChecks::release_by(const Now& now, uint32_t lane, Clocks& clocks, uint64_t place) {
  const uint32_t warp = now.warp;
  if (now.access.releases) {
    order_.release(clocks[place], warp, 1u << lane);
  } else if (order_.defined().has_fenced(warp, lane)) {
    order_.release_fenced(clocks[place], warp, lane);
  }
}

// Asynchronous copies and mbarrier objects.

void BlockChecks::begin_copy(Now& now, uint32_t lane, uint32_t index) {
  store(now, lane, index);
  if (now.agent == none) cell(index).write_time = in_flight;
}

void BlockChecks::copied(const Warp& w, uint32_t lane, uint32_t offset, uint32_t bytes) {
  written(offset, bytes);
  if (!checks_.race) return;
  const auto is_this = [&](const Copies& c) {
    return c.warp == warp_of(w) && (c.lanes >> lane & 1) != 0 && c.offset[lane] == offset;
  };
  const auto found = std::find_if(copies_.begin(), copies_.end(), is_this);
  if (found == copies_.end()) return;
  each_piece(offset, bytes, [&](uint32_t index) {
    Cell& c = cell(index);
    if (c.writer != number_of(w, lane) || c.write_time != in_flight) return;
    c.write_time = order_.defined().now(warp_of(w));
    if (!own_stores_.empty())
      own_stores_[index] = {order_.defined().epoch(), c.write_time, c.writer, c.write_access};
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

void BlockChecks::copied_local(const Warp& w, uint32_t lane, uint64_t from, uint64_t to, uint64_t bytes) {
  if (local_written_.empty() || from + bytes > local_bytes_ || to + bytes > local_bytes_) return;
  Written* const written = local_written_.data() + size_t{thread_of(w, lane)} * local_bytes_;
  for (uint64_t i = 0; i < bytes; ++i) {
    written[to + i] = written[from + i];
    if (written[from + i] != Written::undefined) continue;
    const uint64_t place = place_in_local(w, lane, from + i);
    values_.store(place_in_local(w, lane, to + i), values_.bits_at(place), values_.origin_at(place));
  }
}

void BlockChecks::used_local(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (local_written_.empty() || offset + bytes > local_bytes_) return;
  const Written* const written = local_written_.data() + size_t{thread_of(w, lane)} * local_bytes_;
  for (uint64_t i = offset; i < offset + bytes; ++i)
    if (written[i] == Written::undefined)
      if (const UndefinedValues::Name name = values_.origin_at(place_in_local(w, lane, i)); name != 0)
        report_use(w, name, in->origin());
}

void BlockChecks::initialised(uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found != mbarriers_.end()) found->second.gathered = found->second.passed = {};
}

void BlockChecks::release_to(const Warp& w, uint32_t lane, uint64_t offset) {
  if (!checks_.race) return;
  Arrivals& arrivals = mbarriers_[offset];
  order_.release(arrivals.gathered, warp_of(w), 1u << lane);
  if (arrivals.agent != none) order_.tell(arrivals.gathered, arrivals.agent, arrivals.begun);
}

void BlockChecks::phase_completed(uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return;
  found->second.passed = found->second.gathered;
  found->second.passed_work = found->second.gathered_work;
  found->second.complete = found->second.begun;
}

void BlockChecks::acquire_from(const Warp& w, uint32_t lanes, uint64_t offset) {
  const auto found = mbarriers_.find(offset);
  if (found == mbarriers_.end()) return;
  const Arrivals& arrivals = found->second;
  order_.acquire(arrivals.passed, warp_of(w), lanes);
  std::vector<TensorWork> done = arrivals.passed_work;
  if (arrivals.agent != none) done.push_back({arrivals.agent, arrivals.complete});
  if (done.empty()) return;
  each_block(*w.block, [&](const BlockState& block) {
    std::erase_if(block.checks->bulk_, [&](const Bulk& bulk) {
      return std::any_of(done.begin(), done.end(), [&](const TensorWork& work) {
        return bulk.agent == work.agent && bulk.time <= work.time;
      });
    });
  });
}

void BlockChecks::arrive_at_cluster(const Warp& w, uint32_t lanes, bool relaxed) {
  if (!checks_.race) return;
  const uint32_t warp = warp_of(w);
  if (!relaxed) return order_.release(cluster_->arrived, warp, lanes);
  if (!cluster_->arrived)
    cluster_->arrived.defined = std::make_shared<std::vector<uint32_t>>(order_.defined().threads());
  each_lane(lanes, [&](uint32_t lane) {
    if (order_.defined().has_fenced(warp, lane)) order_.release_fenced(cluster_->arrived, warp, lane);
  });
}

void BlockChecks::cluster_completed(BlockState& block) {
  // Who has ended is not waited for, and does nothing any more.
  each_block(block, [&](const BlockState& b) { order_.add(cluster_->arrived, b.checks->ended_); });
  cluster_->passed = std::move(cluster_->arrived);
  cluster_->arrived = {};
}

void BlockChecks::wait_for_cluster(const Warp& w, uint32_t lanes) {
  if (checks_.race) order_.acquire(cluster_->passed, warp_of(w), lanes);
}

// Bulk copies.

void BlockChecks::begin_for_mbarrier(const Warp& w, uint32_t lane, uint64_t offset) {
  if (!checks_.race) return;
  Arrivals& arrivals = mbarriers_[offset];
  if (arrivals.agent == none) {
    arrivals.agent = order_.add_agent();
    cluster_->begun_by.push_back(none);
  }
  ++arrivals.begun;
  cluster_->begun_by[arrivals.agent - order_.defined().threads()] = number_of(w, lane);
}

void BlockChecks::copy_in_bulk(Warp& w, const Inst* in, uint32_t lane, uint32_t access, uint64_t offset,
                               uint32_t bytes, BlockChecks* owner, uint64_t mbarrier) {
  const CheckedAccess& checked = kernel_.checks[access];
  if (!reads(checked.kind)) written(offset, bytes);
  if (!checks_.race) return;
  Bulk bulk{access, number_of(w, lane), none, 0, static_cast<uint32_t>(offset), bytes};
  Now now{w, in, checked, access, bytes};
  now.offset[lane] = offset;
  now.shared = 1u << lane;
  now.time = in_flight;
  if (owner != nullptr) {
    const Arrivals& arrivals = owner->mbarriers_[mbarrier];
    bulk.agent = now.agent = arrivals.agent;
    bulk.time = now.time = arrivals.begun;
  } else {
    bulk.time = bulk_groups_[thread_of(w, lane)];  // st.async and red.async have an mbarrier
  }
  if (w.block->rank != rank_) look_at_beginning(now, lane);
  if (checked.async_proxy)
    each_piece(offset, bytes, [&](uint32_t index) { against_own_store(now, lane, index); });
  look_for_races(now);
  bulk_.push_back(bulk);
}

void BlockChecks::commit_bulk(const Warp& w) {
  if (!bulk_groups_.empty()) each_lane(w.mask, [&](uint32_t lane) { ++bulk_groups_[thread_of(w, lane)]; });
}

void BlockChecks::wait_for_bulk(const Warp& w, uint64_t still) {
  if (bulk_.empty()) return;
  each_lane(w.mask, [&](uint32_t lane) {
    std::erase_if(bulk_, [&](const Bulk& bulk) {
      const bool is_over = bulk.agent == none && bulk.thread == number_of(w, lane) &&
                           bulk.time + still < bulk_groups_[thread_of(w, lane)];
      if (is_over) finish_read(w, lane, bulk);
      return is_over;
    });
  });
}

// Products of four warps, which read shared memory by the asynchronous proxy.

void BlockChecks::read_for_product(Warp& w, const Inst* in, uint32_t access,
                                   std::span<const uint32_t> offsets, bool shared) {
  Now now{w, in, kernel_.checks[access], access, kernel_.checks[access].width};
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.mask));
  now.shared = 1u << lane;
  now.together = w.mask;
  if (checks_.race) {
    uint32_t& agent = product_agents_[w.index / warps_of_group];
    if (agent == none) {
      agent = order_.add_agent();
      cluster_->begun_by.push_back(number_of(w, lane));
    }
    now.agent = agent;
    now.time = product_groups_[w.index] + 1;
  }
  read_by_agent(now, lane, offsets, !shared || w.index % warps_of_group == 0);
}

void BlockChecks::read_by_agent(Now& now, uint32_t lane, std::span<const uint32_t> offsets, bool keeps) {
  for (const uint32_t offset : offsets) {
    now.offset[lane] = offset;
    if (checks_.init) look_at_init(now, lane);
    if (!checks_.race) continue;
    if (now.w.block->rank != rank_) look_at_beginning(now, lane);
    look_for_races(now);
    each_piece(offset, now.bytes, [&](uint32_t index) { against_own_store(now, lane, index); });
    if (keeps) bulk_.push_back({now.number, number_of(now.w, lane), now.agent, now.time, offset, now.bytes});
  }
}

BlockChecks::TensorWork BlockChecks::tensor_work(const Warp& w, uint32_t lane) {
  if (!checks_.race) return {};
  TensorWork& work = tensor_work_[thread_of(w, lane)];
  if (work.agent == none) {
    work = {order_.add_agent(), 1};
    cluster_->begun_by.push_back(number_of(w, lane));
  }
  return work;
}

BlockChecks::TensorWork BlockChecks::commit_tensor_work(const Warp& w, uint32_t lane) {
  const TensorWork work = tensor_work(w, lane);
  ++tensor_work_[thread_of(w, lane)].time;
  return work;
}

void BlockChecks::read_for_tensor_work(Warp& w, const Inst* in, uint32_t lane, uint32_t access,
                                       std::span<const uint32_t> offsets, TensorWork work) {
  Now now{w, in, kernel_.checks[access], access, kernel_.checks[access].width};
  now.shared = 1u << lane;
  now.agent = work.agent;
  now.time = work.time;
  read_by_agent(now, lane, offsets, true);
}

void BlockChecks::tell_of(TensorWork work, uint64_t mbarrier) {
  if (!checks_.race) return;
  Arrivals& arrivals = mbarriers_[mbarrier];
  order_.tell(arrivals.gathered, work.agent, work.time);
  std::erase_if(arrivals.gathered_work, [&](const TensorWork& before) { return before.agent == work.agent; });
  arrivals.gathered_work.push_back(work);
}

void BlockChecks::commit_products(const Warp& w) {
  if (!product_groups_.empty()) ++product_groups_[w.index];
}

void BlockChecks::wait_for_products(const Warp& w, uint64_t still) {
  if (product_groups_.empty()) return;
  const uint32_t agent = product_agents_[w.index / warps_of_group], closed = product_groups_[w.index];
  if (agent == none || closed <= still) return;
  const auto done = static_cast<uint32_t>(closed - still);
  TwoOrders::Clock clock;
  order_.tell(clock, agent, done);
  order_.acquire(clock, warp_of(w), w.mask);
  std::erase_if(bulk_, [&](const Bulk& bulk) { return bulk.agent == agent && bulk.time <= done; });
}

void BlockChecks::finish_read(const Warp& w, uint32_t lane, const Bulk& bulk) {
  const uint32_t warp = warp_of(w), time = order_.defined().now(warp);
  each_piece(bulk.offset, bulk.bytes, [&](uint32_t index) {
    for (uint32_t i = cell(index).touches; i != none; i = touches_[i].next) {
      Touch& t = touches_[i];
      if (t.warp == warp && t.access == bulk.access && t.time == in_flight && t.lanes == 1u << lane)
        t.time = time;
    }
  });
}

void BlockChecks::remember(const Bulk& bulk) {
  const CheckedAccess& access = kernel_.checks[bulk.access];
  const uint32_t by = bulk.agent != none ? bulk.agent : bulk.thread,
                 time = bulk.agent != none ? bulk.time : in_flight;
  each_piece(bulk.offset, bulk.bytes, [&](uint32_t index) {
    Cell& c = cell(index);
    if (writes(access.kind)) {
      c.writer = by;
      c.write_time = time;
      c.write_access = bulk.access;
    } else {
      add_touch(c, bulk.access, by / warp_lanes, time, 1u << by % warp_lanes);
      c.has_atomics = c.has_atomics || !reads(access.kind);
    }
  });
}

// The end of a block.

void BlockChecks::ended(BlockState& block) {
  if (!checks_.race) return;
  for (const Bulk& bulk : bulk_)
    if (alone_ || bulk.agent == none)
      report_outlived(block, bulk.offset >> granule_shift_, bulk.access, bulk.thread, Finding::Lack::wait);
  if (alone_) return;
  const auto look = [&](uint32_t index, uint32_t access, uint32_t number, uint32_t time) {
    const bool by_agent = number >= order_.defined().threads();
    const uint32_t thread = thread_behind(number);
    if ((!by_agent && thread / (warps_ * warp_lanes) == rank_) ||
        Order::holds(ended_.defined, number / warp_lanes, number % warp_lanes, time))
      return;
    report_outlived(block, index, access, thread, by_agent ? Finding::Lack::wait : Finding::Lack::end);
  };
  for (uint32_t index = 0; index < cells_.size(); ++index) {
    const Cell& c = cells_[index];
    if (c.epoch != order_.defined().epoch()) continue;
    if (c.writer != none) look(index, c.write_access, c.writer, c.write_time);
    for (uint32_t i = c.touches; i != none; i = touches_[i].next)
      each_lane(touches_[i].lanes, [&](uint32_t lane) {
        look(index, touches_[i].access, touches_[i].warp * warp_lanes + lane, touches_[i].time);
      });
  }
}

void BlockChecks::report_outlived(BlockState& block, uint32_t index, uint32_t access, uint32_t thread,
                                  Finding::Lack lack) {
  const uint32_t in_block = warps_ * warp_lanes, rank = thread / in_block;
  BlockState& from = rank == rank_ ? block : *block.cluster->blocks[rank];
  const Now now{from.warps[thread % in_block / warp_lanes], nullptr, kernel_.checks[access], access};
  Finding found = race_of(now, thread % warp_lanes, index);
  found.lack = lack;
  // Whether a block may end before a copy has read its memory, the programming guide does not say.
  if (lack == Finding::Lack::wait && reads(found.access)) found.severity = Severity::warning;
  if (Finding* example = add_finding(now.w, found))
    example->message =
        describe(now.w, found.address, now.access.of_bulk_copy ? found.width : now.access.width);
}

// The helper instructions.

const Inst* check_access(Warp& w, const Inst* in) {
  w.block->checks->access(w, in, w.worker->kernel->checks[in->aux]);
  return in + 1;
}

const Inst* check_values(Warp& w, const Inst* in) {
  w.block->checks->follow(w, in, w.worker->kernel->flows[in->aux]);
  return in + 1;
}

const Inst* check_local_copy(Warp& w, const Inst* in) {
  each_lane(w.mask, [&](uint32_t lane) {
    w.block->checks->copied_local(w, lane, lane_value<uint64_t>(w, in->a, lane) + in->c,
                                  lane_value<uint64_t>(w, in->b, lane) + in->aux, in->imm);
  });
  return in + 1;
}

const Inst* check_fence(Warp& w, const Inst* in) {
  w.block->checks->fence(w);
  return in + 1;
}

const Inst* check_proxy_fence(Warp& w, const Inst* in) {
  w.block->checks->proxy_fence(w);
  return in + 1;
}

const Inst* check_commit_bulk(Warp& w, const Inst* in) {
  w.block->checks->commit_bulk(w);
  return in + 1;
}

const Inst* check_wait_bulk(Warp& w, const Inst* in) {
  w.block->checks->wait_for_bulk(w, in->imm);
  return in + 1;
}

const Inst* check_commit_products(Warp& w, const Inst* in) {
  w.block->checks->commit_products(w);
  return in + 1;
}

const Inst* check_wait_products(Warp& w, const Inst* in) {
  w.block->checks->wait_for_products(w, in->imm);
  return in + 1;
}

void check_product(Warp& w, const Inst* in, uint32_t access, const uint32_t* offsets, uint32_t count,
                   bool shared) {
  w.block->checks->read_for_product(w, in, access, std::span(offsets, count), shared);
}

const Inst* check_sync(Warp& w, const Inst* in) {
  w.block->checks->check_members(w, in);
  const Inst* next = host_handlers().control.sync_groups(w, in);
  const bool orders = (in->imm & sync_anywhere) != 0;
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
