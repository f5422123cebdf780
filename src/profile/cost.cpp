// Asks the model about one access of the engine.
#include "profile/cost.hpp"

#include <algorithm>
#include <bit>

#include "lanescope/model/global.hpp"
#include "lanescope/model/hopper.hpp"
#include "lanescope/model/l1.hpp"
#include "lanescope/model/shared.hpp"

namespace lanescope::profile {
namespace {

void add(Cost& cost, const model::GlobalCost& part) {
  cost.transactions += static_cast<uint32_t>(part.transactions);
  cost.sectors += static_cast<uint32_t>(part.sectors);
  cost.ideal_sectors += static_cast<uint32_t>(part.ideal_sectors);
  cost.lines += static_cast<uint32_t>(part.lines);
  cost.bytes_asked += static_cast<uint32_t>(part.bytes_asked);
  cost.bytes_distinct += static_cast<uint32_t>(part.bytes_distinct);
  cost.bytes_moved += static_cast<uint32_t>(part.bytes_moved);
  cost.evidence = model::less_sure(cost.evidence, part.evidence);
}

/// What comes from memory, through the first-level cache.
void add_cached(Cost& cost, const model::Arch& arch, const model::Request& request) {
  add(cost, model::global_cost(arch, request));
  const model::L1BankCost banks = model::l1_bank_cost(arch, request);
  cost.l1_unknown = arch.l1_in_banks && !model::has_l1_rule(request);
  cost.l1_wavefronts += static_cast<uint32_t>(banks.wavefronts);
  cost.l1_ideal += static_cast<uint32_t>(banks.ideal);
}

/// Local memory, one 32-bit word of each lane at a time.
void add_local(Cost& cost, const model::Arch& arch, const exec::Access& access) {
  constexpr uint64_t word_bytes = 4, lanes = 32;
  const int words = access.width > word_bytes ? access.width / static_cast<int>(word_bytes) : 1;
  const uint8_t width = access.width > word_bytes ? static_cast<uint8_t>(word_bytes) : access.width;
  std::array<uint64_t, 32> address{};
  for (int word = 0; word < words; ++word) {
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const uint64_t offset = access.address[lane] + static_cast<uint64_t>(word) * word_bytes;
      address[lane] = (offset / word_bytes * lanes + lane) * word_bytes + offset % word_bytes;
    }
    add_cached(cost, arch, request_of(access.kind, width, access.mask, address));
  }
}

/// The most lanes that meet in one word.
uint32_t most_in_one_word(const exec::Access& access) {
  uint32_t most = 0;
  for (uint32_t left = access.mask; left != 0;) {
    const uint64_t word = access.address[static_cast<size_t>(std::countr_zero(left))] / 4;
    uint32_t same = 0;
    for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(rest));
      if (access.address[lane] / 4 == word) same |= 1u << lane;
    }
    most = std::max(most, static_cast<uint32_t>(std::popcount(same)));
    left &= ~same;
  }
  return most;
}

/// Whether one lane of the access does it for the warp. The assembler is right where it does so: lanes with
/// different addresses show that the plan is not.
bool has_one_lane(const merge::Fate& fate, const exec::Access& access) {
  using OneLane = merge::Fate::OneLane;
  if (fate.one_lane == OneLane::never || fate.kind == merge::Fate::Kind::combined)
    return false;  // costs as little
  if (fate.one_lane == OneLane::of_whole_warps && access.mask != ~uint32_t{0}) return false;
  return most_in_one_word(access) == static_cast<uint32_t>(std::popcount(access.mask));
}

}  // namespace

model::Op op_of(exec::AccessKind kind) {
  switch (kind) {
    case exec::AccessKind::load: return model::Op::load;
    case exec::AccessKind::store: return model::Op::store;
    case exec::AccessKind::async_copy: return model::Op::cp_async;
    case exec::AccessKind::async_copy_cg: return model::Op::cp_async_cg;
    case exec::AccessKind::load_matrix: return model::Op::ldmatrix;
    case exec::AccessKind::store_matrix: return model::Op::stmatrix;
    case exec::AccessKind::compare_and_swap: return model::Op::compare_and_swap;
    case exec::AccessKind::update_loop: return model::Op::update_loop;
    case exec::AccessKind::async_store:  // serves lanes of one place one after the other, as atomics do
    case exec::AccessKind::atomic: break;
    case exec::AccessKind::group_product:
    case exec::AccessKind::tensor_product:
    case exec::AccessKind::bulk_load:
    case exec::AccessKind::bulk_store:
    case exec::AccessKind::bulk_reduction: break;  // never asked: cost_of(BulkAccess)
  }
  return model::Op::atomic;
}

model::Request request_of(exec::AccessKind kind, uint8_t width, uint32_t mask,
                          const std::array<uint64_t, 32>& address) {
  model::Request request;
  request.op = op_of(kind);
  request.width = width;
  request.mask = mask;
  request.matrices = matrices_of(mask);
  for (int lane = 0; lane < 32; ++lane) request.address[lane] = address[static_cast<size_t>(lane)];
  return request;
}

model::FixedArray<uint64_t, model::max_lanes> destinations(const uint32_t* offset) {
  model::FixedArray<uint64_t, model::max_lanes> all = {};
  for (int lane = 0; lane < 32; ++lane) all[lane] = offset[lane];
  return all;
}

exec::Access piece_of(const exec::Access& access, const merge::Fate& fate, const merge::Piece& piece) {
  exec::Access part = access;
  if (fate.kind == merge::Fate::Kind::combined) part.kind = exec::AccessKind::store;
  if (fate.kind == merge::Fate::Kind::looped && access.space == exec::AccessSpace::shared)
    part.kind = exec::AccessKind::update_loop;
  if (has_one_lane(fate, access)) part.mask &= ~part.mask + 1;
  part.width = piece.width;
  for (uint64_t& address : part.address) address += static_cast<uint64_t>(int64_t{piece.offset});
  return part;
}

Cost cost_of(const model::Arch& arch, const exec::Access& access) {
  Cost cost;
  cost.lanes = static_cast<uint32_t>(std::popcount(access.mask));
  if (is_atomic(access.kind)) cost.word_lanes = most_in_one_word(access);
  if (access.space == exec::AccessSpace::local) {
    add_local(cost, arch, access);
    return cost;
  }
  model::Request request = request_of(access.kind, access.width, access.mask, access.address);
  request.returns = access.returns;
  if (access.space == exec::AccessSpace::cluster) {
    add(cost, model::cluster_cost(arch, request));
    return cost;
  }
  if (access.space != exec::AccessSpace::shared) {
    if (access.destination == nullptr)
      add_cached(cost, arch, request);
    else
      add(cost, model::copy_cost(arch, request, destinations(access.destination)));
    return cost;
  }
  const model::SharedCost shared = model::shared_cost(arch, request);
  cost.estimate = shared.unknown_rule;
  cost.wavefronts = static_cast<uint32_t>(shared.unknown_rule ? shared.estimate : shared.wavefronts);
  cost.ideal = static_cast<uint32_t>(shared.ideal);
  cost.conflicts = static_cast<uint32_t>(shared.conflicts);
  cost.loops = {static_cast<uint64_t>(shared.requests - 1), static_cast<uint64_t>(shared.loads.requests),
                static_cast<uint64_t>(shared.loads.wavefronts), static_cast<uint64_t>(shared.loads.ideal),
                static_cast<uint64_t>(shared.loads.conflicts)};
  cost.max_way = static_cast<uint32_t>(shared.max_way);
  cost.write_race = shared.write_race;
  cost.evidence = shared.evidence;
  return cost;
}

Cost cost_of(const model::Arch& arch, const exec::BulkAccess& access) {
  Cost cost;
  if (access.kind == exec::AccessKind::group_product) {
    cost.evidence = arch.matrix_evidence;
    cost.instructions = cost.requests = access.is_more ? 0 : 1;
    cost.lanes = access.is_more ? 0 : exec::warp_lanes;
    cost.wavefronts = cost.ideal = static_cast<uint32_t>(
        model::product_wavefronts(static_cast<int>(access.rows), static_cast<int>(access.row_bytes)));
    cost.max_way = 1;
    return cost;
  }
  constexpr uint32_t sector = 32;
  cost.evidence = arch.async_evidence;
  cost.lanes = 1;
  cost.estimate = access.is_image && access.multicast;  // an H100 asks for up to half as many sectors again
  for (const exec::BulkAccess::Piece& piece : access.pieces) {
    // What lies outside of a tensor is asked for, too: as many sectors as it fills, or two more (H200).
    cost.estimate = cost.estimate || piece.is_filled;
    cost.sectors += model::bulk_sectors(piece.is_filled ? piece.near : piece.far, piece.near, piece.bytes,
                                        access.multicast);
    cost.bytes_asked += piece.is_filled ? 0 : piece.bytes;
  }
  cost.transactions = cost.sectors * access.targets;  // what arrives at each block
  cost.bytes_distinct = cost.bytes_asked;
  cost.ideal_sectors = (cost.bytes_asked + sector - 1) / sector;
  cost.bytes_moved = cost.sectors * sector;
  return cost;
}

}  // namespace lanescope::profile
