// See undefined_values.hpp.
#include "exec/undefined_values.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

size_t bytes_of(const FollowedRegister& reg) {
  return reg.lane_bytes == 0 ? sizeof(uint32_t) : size_t{reg.lane_bytes} * warp_lanes;
}

/// Calls f(register, where its bytes begin) for registers whose bytes lie one after the other. How many bytes
/// that are.
template <class F>
size_t each_followed(const std::vector<FollowedRegister>& registers, F f) {
  size_t at = 0;
  for (const FollowedRegister& reg : registers) {
    f(reg, at);
    at += bytes_of(reg);
  }
  return at;
}

void copy_out(const Warp& w, const std::vector<FollowedRegister>& registers, std::vector<std::byte>& to) {
  to.resize(each_followed(registers, [](const FollowedRegister&, size_t) {}));
  each_followed(registers, [&](const FollowedRegister& reg, size_t at) {
    std::memcpy(to.data() + at, w.regs + reg.at, bytes_of(reg));
  });
}

void put_back(const Warp& w, const std::vector<FollowedRegister>& registers,
              const std::vector<std::byte>& from) {
  each_followed(registers, [&](const FollowedRegister& reg, size_t at) {
    std::memcpy(w.regs + reg.at, from.data() + at, bytes_of(reg));
  });
}

/// The instruction after the helper `in`.
void execute(Warp& w, const Inst* in) {
  const uint32_t mask = w.mask;
  const Inst* const end = in + 1 + in->imm;
  for (const Inst* next = in + 1; next != end;) next = next->fn(w, next);
  w.mask = mask;
}

/// Values to put in the place of undefined bits: such that comparisons come out either way, of integers and
/// of floats, of which all ones are no number. What they are compared with is among them: nothing else would
/// show that `x == 5` depends on x.
enum class Try : uint8_t { complement, zeros, ones, high, low, compared, scattered, count };

std::byte other_value(Try t, std::byte value, std::byte compared, size_t place) {
  constexpr uint8_t large_everywhere = 0x7a, sign = 0x80;
  switch (t) {
    case Try::zeros: return std::byte{0};
    case Try::ones: return std::byte{0xff};
    case Try::high: return std::byte{large_everywhere};
    case Try::low: return std::byte{large_everywhere | sign};
    case Try::compared: return compared;
    case Try::scattered: return static_cast<std::byte>((place * 2654435761u) >> 13);
    default: return ~value;
  }
}

}  // namespace

UndefinedValues::UndefinedValues(const Kernel& kernel, uint32_t warps) : warps_(warps) {
  for (WarpValues& values : warps_) {
    values.lanes.resize(kernel.followed_registers);
    values.origins.resize(size_t{kernel.followed_registers} * warp_lanes);
    values.bits.resize(kernel.followed_registers == 0 ? 0 : kernel.register_bytes);
  }
}

void UndefinedValues::start() {
  if (!any()) return;
  for (WarpValues& values : warps_) {
    std::fill(values.lanes.begin(), values.lanes.end(), 0);
    std::fill(values.bits.begin(), values.bits.end(), std::byte{0});
  }
  origins_.clear();
  readers_.clear();
  stored_.clear();
}

UndefinedValues::Name UndefinedValues::remember(const Origin& origin) {
  const Name name = name_of(origin);
  origins_.insert_or_assign(name, origin);
  return name;
}

void UndefinedValues::define(const Warp& w, const FollowedRegister& reg, uint32_t lanes) {
  if (reg.number == no_operand) return;
  WarpValues& values = warps_[w.index];
  const uint32_t now = values.lanes[reg.number] & lanes;
  if (now == 0) return;
  values.lanes[reg.number] &= ~lanes;
  std::byte* bits = values.bits.data() + reg.at;
  if (reg.lane_bytes == 0) {
    uint32_t mask;
    std::memcpy(&mask, bits, sizeof mask);
    mask &= ~lanes;
    std::memcpy(bits, &mask, sizeof mask);
  } else {
    each_lane(now, [&](uint32_t lane) {
      std::fill_n(bits + size_t{lane} * reg.lane_bytes, reg.lane_bytes, std::byte{0});
    });
  }
}

void UndefinedValues::mark(const Warp& w, const FollowedRegister& reg, uint32_t lane, Name origin) {
  WarpValues& values = warps_[w.index];
  values.lanes[reg.number] |= 1u << lane;
  values.origins[size_t{reg.number} * warp_lanes + lane] = origin;
}

void UndefinedValues::set(const Warp& w, const FollowedRegister& reg, uint32_t lane,
                          std::span<const std::byte> bits, bool by_sign, Name origin) {
  std::byte* to = warps_[w.index].bits.data() + reg.at + size_t{lane} * reg.lane_bytes;
  const size_t bytes = std::min<size_t>(bits.size(), reg.lane_bytes);
  std::copy_n(bits.begin(), bytes, to);
  const bool sign = by_sign && (bits.back() & std::byte{0x80}) != std::byte{0};
  std::fill(to + bytes, to + reg.lane_bytes, sign ? std::byte{0xff} : std::byte{0});
  mark(w, reg, lane, origin);
}

void UndefinedValues::add(const Warp& w, const FollowedRegister& reg, uint32_t lane, uint32_t at,
                          std::span<const std::byte> bits, Name origin) {
  std::byte* const to = warps_[w.index].bits.data() + reg.at + size_t{lane} * reg.lane_bytes + at;
  for (size_t i = 0; i < bits.size(); ++i) to[i] |= bits[i];
  mark(w, reg, lane, origin);
}

void UndefinedValues::get(const Warp& w, const FollowedRegister& reg, uint32_t lane,
                          std::span<std::byte> bits) const {
  const std::byte* from = warps_[w.index].bits.data() + reg.at + size_t{lane} * reg.lane_bytes;
  std::copy_n(from, std::min<size_t>(bits.size(), reg.lane_bytes), bits.begin());
}

void UndefinedValues::pass_on(Warp& w, const Inst* in, const ValueFlow& flow) {
  uint32_t undefined_lanes = 0;
  for (const FollowedRegister& from : flow.from) undefined_lanes |= undefined(w, from, w.mask);
  if (undefined_lanes == 0) {
    for (const FollowedRegister& to : flow.to) define(w, to, w.mask);
    return;
  }
  try_values(w, in, flow);
  std::array<Name, warp_lanes> origins{};
  each_lane(w.mask, [&](uint32_t lane) { origins[lane] = origin_for(w, flow, lane); });
  each_followed(flow.to, [&](const FollowedRegister& reg, size_t at) {
    define(w, reg, w.mask);
    set_differing(w, reg, differ_.data() + at, origins);
  });
}

void UndefinedValues::try_values(Warp& w, const Inst* in, const ValueFlow& flow) {
  const uint64_t shuffles = w.worker->shuffles;
  Observer* const observer = std::exchange(w.worker->observer, nullptr);
  copy_out(w, flow.from, sources_);
  copy_out(w, flow.to, before_);
  execute(w, in);
  copy_out(w, flow.to, first_);
  differ_.assign(first_.size(), std::byte{0});
  for (auto t = Try{}; t != Try::count; t = static_cast<Try>(static_cast<uint8_t>(t) + 1)) {
    put_back(w, flow.to, before_);
    put_back(w, flow.from, sources_);
    each_followed(flow.from, [&](const FollowedRegister& reg, size_t at) {
      const std::byte* const bits = warps_[w.index].bits.data() + reg.at;
      for (size_t i = 0; i < bytes_of(reg); ++i) {
        if (bits[i] == std::byte{0}) continue;
        const std::byte value = sources_[at + i],
                        compared = reg.compared == no_operand ? value : w.regs[reg.compared + i];
        w.regs[reg.at + i] = (value & ~bits[i]) | (other_value(t, value, compared, at + i) & bits[i]);
      }
    });
    execute(w, in);
    each_followed(flow.to, [&](const FollowedRegister& reg, size_t at) {
      for (size_t i = 0; i < bytes_of(reg); ++i) differ_[at + i] |= w.regs[reg.at + i] ^ first_[at + i];
    });
  }
  put_back(w, flow.to, before_);
  put_back(w, flow.from, sources_);
  w.worker->shuffles = shuffles;
  w.worker->observer = observer;
}

UndefinedValues::Name UndefinedValues::origin_for(const Warp& w, const ValueFlow& flow, uint32_t lane) const {
  // Where a lane's own sources are defined, the bits come from another one's: a shuffle, or a vote.
  for (const uint32_t lanes : {1u << lane, w.mask})
    for (const FollowedRegister& from : flow.from)
      if (const uint32_t found = undefined(w, from, lanes); found != 0)
        return origin_of(w, from, static_cast<uint32_t>(std::countr_zero(found)));
  return 0;
}

void UndefinedValues::set_differing(const Warp& w, const FollowedRegister& reg, const std::byte* differ,
                                    const std::array<Name, warp_lanes>& origins) {
  if (reg.lane_bytes == 0) {
    std::byte* const bits = warps_[w.index].bits.data() + reg.at;
    uint32_t lanes, all;
    std::memcpy(&lanes, differ, sizeof lanes);
    std::memcpy(&all, bits, sizeof all);
    lanes &= w.mask;
    all |= lanes;
    std::memcpy(bits, &all, sizeof all);
    each_lane(lanes, [&](uint32_t lane) { mark(w, reg, lane, origins[lane]); });
    return;
  }
  each_lane(w.mask, [&](uint32_t lane) {
    const std::span own(differ + size_t{lane} * reg.lane_bytes, reg.lane_bytes);
    if (std::any_of(own.begin(), own.end(), [](std::byte b) { return b != std::byte{0}; }))
      set(w, reg, lane, own, false, origins[lane]);
  });
}

std::byte UndefinedValues::bits_at(uint64_t place) const {
  const auto found = stored_.find(place);
  return found == stored_.end() ? std::byte{0} : found->second.bits;
}

UndefinedValues::Name UndefinedValues::origin_at(uint64_t place) const {
  const auto found = stored_.find(place);
  return found == stored_.end() ? 0 : found->second.origin;
}

void UndefinedValues::store(uint64_t place, std::byte bits, Name origin) {
  if (bits == std::byte{0})
    stored_.erase(place);
  else
    stored_[place] = {bits, origin};
}

std::string describe_shuffle(const UndefinedValues::Origin& origin, uint32_t threads) {
  const Finding& found = origin.found;
  const uint32_t from = found.other_thread % warp_lanes;
  std::string why = "which has ended";
  if ((origin.members >> from & 1) == 0)
    why = "which is not in the member mask " + in_hex(origin.members);
  else if (found.other_thread >= threads)
    why = "which the block does not have";
  else if (found.other_instruction != Finding::none)
    why += " at {other}";
  return "lane " + std::to_string(found.thread % warp_lanes) + " takes the value of lane " +
         std::to_string(from) + ", " + why + ": what it gets is undefined";
}

}  // namespace lanescope::exec
