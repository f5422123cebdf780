// See tensor_map_update.hpp.
#include "exec/tensor_map_update.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "exec/bulk_copy.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"
#include "exec/tensor_map.hpp"

namespace lanescope::exec {

namespace {

bool is_shared(ptx::Space space, uint64_t address) {
  return space == ptx::Space::shared_cta ||
         (space == ptx::Space::generic && address - shared_window < window_size);
}

/// The map at a lane's address; nullptr, after a finding, if the address is not good for one.
std::byte* map_memory(Warp& w, const Inst* in, uint32_t lane, uint64_t address, ptx::Space space) {
  return is_shared(space, address)
             ? shared_memory(w, in, lane, address, tensor_map_bytes, tensor_map_align)
             : global_memory(w, in, lane, address, tensor_map_bytes, tensor_map_align, true);
}

void wrote(Warp& w, std::byte* map, bool in_shared) {
  note_write(w, map);
  if (!in_shared) w.worker->memory->wrote(reinterpret_cast<uint64_t>(map), tensor_map_bytes);
}

/// In the order of PTX's numbers for them.
constexpr std::array element_types{TensorMap::Type::u8,      TensorMap::Type::u16,  TensorMap::Type::u32,
                                   TensorMap::Type::s32,     TensorMap::Type::u64,  TensorMap::Type::s64,
                                   TensorMap::Type::f16,     TensorMap::Type::f32,  TensorMap::Type::f32_ftz,
                                   TensorMap::Type::f64,     TensorMap::Type::bf16, TensorMap::Type::tf32,
                                   TensorMap::Type::tf32_ftz};

/// By PTX's numbers for what is exchanged within 128 bytes: 16 bytes, 32, 32 and of them 8, 64.
constexpr std::array swizzles_of_128{TensorMap::Swizzle::by_128, TensorMap::Swizzle::by_128_of_32,
                                     TensorMap::Swizzle::by_128_of_32_flipped,
                                     TensorMap::Swizzle::by_128_of_64};

/// Both numbers together are CUDA's one; narrower swizzles exchange 16 bytes whatever is said.
void set_swizzle(TensorMap& map, uint32_t mode, uint32_t atomicity) {
  constexpr auto widest = static_cast<uint32_t>(TensorMap::Swizzle::by_128);
  map.atomicity = static_cast<uint8_t>(atomicity);
  map.swizzle = mode == widest ? swizzles_of_128[atomicity] : static_cast<TensorMap::Swizzle>(mode);
}

void replace(TensorMap& map, const TensorMapField& field, uint64_t value) {
  const auto word = static_cast<uint32_t>(value);
  switch (field.field) {
    case ptx::Mod::global_address: map.address = value; return;
    case ptx::Mod::rank: map.dimensions = static_cast<uint8_t>(word + 1); return;
    case ptx::Mod::box_dim: map.box[field.ordinal] = static_cast<uint16_t>(word); return;
    case ptx::Mod::global_dim: map.last[field.ordinal] = word - 1; return;
    case ptx::Mod::global_stride:  // of the last dimension there is none
      if (field.ordinal < map.strides.size()) map.strides[field.ordinal] = value;
      return;
    case ptx::Mod::element_stride: map.steps[field.ordinal] = static_cast<uint8_t>(word); return;
    case ptx::Mod::elemtype: map.type = element_types[word]; return;
    case ptx::Mod::swizzle_mode: set_swizzle(map, word, map.atomicity); return;
    case ptx::Mod::swizzle_atomicity:
      set_swizzle(map, static_cast<uint32_t>(std::min(map.swizzle, TensorMap::Swizzle::by_128)), word);
      return;
    case ptx::Mod::fill_mode: map.fills_nan = word != 0; return;
    default: return;  // interleave_layout, of which only 0 is supported
  }
}

}  // namespace

const Inst* replace_in_tensor_map(Warp& w, const Inst* in) {
  TensorMapField field;
  std::memcpy(static_cast<void*>(&field), &in->imm, sizeof field);
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t address = operand_value(w, in, BulkPlace::to, lane);
    std::byte* at = map_memory(w, in, lane, address, field.space);
    if (at == nullptr) continue;
    auto map = TensorMap::load(at);
    if (!map) {
      report(w, in, Finding::Kind::unknown_pointer, 1u << lane, address, 0, "there is no tensor map");
      continue;
    }
    if (map->mode != TensorMap::Mode::tiled) {
      report(w, in, Finding::Kind::unknown_pointer, 1u << lane, address, 0,
             "the tensor map was encoded for im2col: tensormap.replace changes those for tiles");
      continue;
    }
    replace(*map, field, operand_value(w, in, BulkPlace::from, lane));
    std::memcpy(at, &*map, sizeof *map);
    wrote(w, at, is_shared(field.space, address));
  }
  return in + 1;
}

const Inst* copy_tensor_map(Warp& w, const Inst* in) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.mask));
  const std::byte* from =
      map_memory(w, in, lane, operand_value(w, in, BulkPlace::from, lane), ptx::Space::shared_cta);
  std::byte* to = map_memory(w, in, lane, operand_value(w, in, BulkPlace::to, lane), ptx::Space::global);
  if (from == nullptr || to == nullptr) return in + 1;
  std::memcpy(to, from, tensor_map_bytes);
  wrote(w, to, false);
  return in + 1;
}

}  // namespace lanescope::exec
