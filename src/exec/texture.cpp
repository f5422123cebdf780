// See texture.hpp.
#include "exec/texture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "exec/each_lane.hpp"
#include "exec/handlers.hpp"
#include "exec/memory.hpp"
#include "exec/program.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

ptx::TextureShape Texture::shape() const {
  ptx::TextureShape shape;
  shape.dimensions = depth != 0 ? 3 : height != 0 ? 2 : 1;
  shape.cube = is_cube;
  shape.layered = layers != 0;
  return shape;
}

uint64_t Texture::bytes() const {
  const uint64_t rows = std::max(height, 1u), slices = std::max({depth, layers, 1u}) * (is_cube ? 6 : 1);
  return (slices - 1) * slice + (rows - 1) * pitch + uint64_t{width} * texel_bytes();
}

uint64_t TextureTable::add(const Texture& texture) {
  const std::unique_lock lock(mutex_);
  ++generation_;
  textures_[++last_] = std::make_shared<const Texture>(texture);
  return last_;
}

bool TextureTable::remove(uint64_t handle, bool is_surface) {
  const std::unique_lock lock(mutex_);
  const auto it = textures_.find(handle);
  if (it == textures_.end() || it->second->is_surface != is_surface) return false;
  ++generation_;
  removed_.emplace_back(handle, std::move(it->second));
  textures_.erase(it);
  constexpr size_t kept = 4096;
  if (removed_.size() > kept) removed_.pop_front();
  return true;
}

std::shared_ptr<const Texture> TextureTable::find(uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : it->second;
}

std::shared_ptr<const Texture> TextureTable::find_removed(uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto it = std::find_if(removed_.rbegin(), removed_.rend(),
                               [&](const auto& removed) { return removed.first == handle; });
  return it == removed_.rend() ? nullptr : it->second;
}

namespace {

/// Where a surface access of one lane lies; nothing if it is outside and not clamped.
std::optional<uint64_t> surface_offset(const Texture& t, const TextureForm& form,
                                       const std::array<int32_t, 3>& coordinate, uint32_t layer) {
  const uint32_t width = uint32_t{form.elements} * form.element_bytes;
  const std::array<int64_t, 3> size{int64_t{t.width} * t.texel_bytes(), std::max(t.height, 1u),
                                    std::max(t.depth, 1u)};
  std::array<int64_t, 4> place{0, 0, 0, 0};
  const bool clamped = form.bounds == TextureForm::Bounds::clamp;
  for (uint32_t d = 0; d < form.shape.dimensions; ++d) {
    const int64_t last = d == 0 ? size[0] - width : size[d] - 1;
    place[d] = coordinate[d];
    if (place[d] < 0 || place[d] > last) {
      if (!clamped || last < 0) return std::nullopt;
      place[d] = std::clamp<int64_t>(place[d], 0, last);
    }
  }
  if (form.shape.layered) {
    const auto last = static_cast<int64_t>(std::max(t.layers, 1u)) - 1;
    place[3] = static_cast<int32_t>(layer);
    if (place[3] < 0 || place[3] > last) {
      if (!clamped) return std::nullopt;
      place[3] = std::clamp<int64_t>(place[3], 0, last);
    }
  }
  return static_cast<uint64_t>(place[0]) + static_cast<uint64_t>(place[1]) * t.pitch +
         static_cast<uint64_t>(place[2] + place[3]) * t.slice;
}

/// One of the registers listed in Kernel::side.
class Register {
 public:
  Register(Warp& w, const uint32_t* pair)
      : at_(pair[0] == no_operand ? nullptr : w.regs + pair[0]), bytes_(pair[1]) {}
  [[nodiscard]] uint64_t get(uint32_t lane) const {
    uint64_t value = 0;
    if (at_ != nullptr) std::memcpy(&value, at_ + uint64_t{lane} * bytes_, std::min(bytes_, 8u));
    return value;
  }
  /// Extended by zeros.
  void set(uint32_t lane, uint64_t value) const {
    if (at_ == nullptr) return;
    std::byte* to = at_ + uint64_t{lane} * bytes_;
    std::memset(to, 0, bytes_);
    std::memcpy(to, &value, std::min(bytes_, 8u));
  }

 private:
  std::byte* at_;
  uint32_t bytes_;
};

std::string described(const ptx::TextureShape& shape) {
  return (shape.cube
              ? "six faces"
              : std::to_string(shape.dimensions) + (shape.dimensions == 1 ? " dimension" : " dimensions")) +
         (shape.layered ? " and layers" : "");
}

/// Whether an instruction for `asked` finds something in a texture or surface: in one of its own shape, and,
/// if it has one row, of one dimension. In two dimensions, on cubes, and on every surface, layers that the
/// instruction does not name are the first one, and a layer that is not there is the whole (as on an H200; in
/// textures of one dimension that finds zeros).
bool is_for(ptx::TextureShape asked, const Texture& texture) {
  const ptx::TextureShape shape = texture.shape();
  if (!texture.is_surface && shape.dimensions == 2 && texture.height == 1 && asked.dimensions == 1)
    asked.dimensions = 2;
  if (texture.is_surface || asked.dimensions == 2) asked.layered = shape.layered;
  return asked == shape;
}

/// The texture of a handle, if a kernel may use it in this way now; reports what is wrong with it otherwise.
const Texture* usable(Warp& w, const Inst* in, uint32_t lanes, uint64_t handle, const TextureForm& form) {
  const Memory& memory = *w.worker->memory;
  LastTexture& last = w.worker->last_texture;
  const std::array<uint64_t, 2> now{memory.generation(), memory.textures.generation()};
  if (last.form == in->imm && last.handle == handle && last.generations == now) return last.texture.get();
  const bool surface = form.op == TextureForm::Op::load || form.op == TextureForm::Op::store ||
                       form.op == TextureForm::Op::reduce || form.op == TextureForm::Op::ask_surface;
  const std::string name = surface ? "surface" : "texture";
  const auto refuse = [&](const std::string& why) {
    report(w, in, Finding::Kind::unknown_pointer, lanes, handle, 0, why);
    return static_cast<const Texture*>(nullptr);
  };
  if (form.by_reference && handle == 0) return refuse("the " + name + " reference is bound to no " + name);
  auto texture = memory.textures.find(handle);
  const bool is_gone = !texture;
  if (is_gone) texture = memory.textures.find_removed(handle);
  if (!texture || texture->is_surface != surface)
    return refuse(fmt::format("{:#x}", handle) + " is the handle of no " + name +
                  (texture ? std::string(", but of a ") + (surface ? "texture" : "surface") : ""));
  const auto is_usable = [&] {
    if (is_gone)  // as on an H200
      report(
          w, in, Finding::Kind::unknown_pointer, lanes, handle, 0,
          fmt::format("{:#x} is the handle of a {} that was destroyed: a GPU uses it until a new one takes "
                      "its place",
                      handle, name),
          Finding::Severity::warning);
    last = {is_gone ? 0 : in->imm, handle, now, texture};  // each use of one that is gone is reported
    return texture.get();
  };
  if (form.op == TextureForm::Op::ask_texture || form.op == TextureForm::Op::ask_surface) return is_usable();
  if (!is_for(form.shape, *texture))
    return refuse("the " + name + " has " + described(texture->shape()) + ", the instruction is for " +
                  described(form.shape));
  if (!surface && form.integer_coordinates != texture->is_linear)
    return refuse(texture->is_linear ? "a texture of plain memory is read by tex1Dfetch"
                                     : "tex1Dfetch reads textures of plain memory, not of arrays");
  if (form.shape.cube && form.detail == TextureForm::Detail::gradients && !texture->reductions.empty())
    return refuse("gradients on a cubemap with mipmaps are not supported");
  const bool reads_whole_numbers = texture->kind != Texture::Kind::floating && !texture->normalized_read;
  if (reads_whole_numbers && texture->filter_levels && !texture->reductions.empty())
    return refuse("a linear filter between the levels of a mipmap of whole numbers is not supported");
  if (!memory.find(texture->base, texture->bytes()))
    return refuse(fmt::format("the memory of the {} at {:#x} has been freed", name, texture->base));
  return is_usable();
}

/// The words of the lanes in a register listed in Kernel::side.
const uint32_t* row(const Warp& w, const uint32_t* pair) {
  return reinterpret_cast<const uint32_t*>(w.regs + pair[0]);
}

float real(const uint32_t* row, uint32_t lane) { return std::bit_cast<float>(row[lane]); }

/// The level of a mipmap that a lane reads, in 256ths or, without filter, a whole one. What is rounded how
/// was measured on an H200; of two gradients that H200 does not take the longer one, but something in
/// between.
float level_of(const Texture& t, const TextureForm& form, const TexturePoints& points, uint32_t lane) {
  float level = 0;
  if (form.detail == TextureForm::Detail::level) level = real(points.level, lane) + t.bias;
  if (form.detail == TextureForm::Detail::gradients) {
    const std::array<uint32_t, 3> size{t.width, t.height, t.depth};
    double longest = 0;
    for (const auto& gradient : points.gradients) {
      double square = 0;
      for (uint32_t d = 0; d < form.shape.dimensions; ++d) {
        const double texels = double{real(gradient[d], lane)} * (t.normalized_coordinates ? size[d] : 1);
        square += texels * texels;
      }
      longest = std::max(longest, square);
    }
    level = static_cast<float>(std::ceil(std::log2(longest) / 2 * 256) / 256) + t.bias;
  }
  if (std::isnan(level)) level = 0;
  level = std::max(std::min(level, t.most_level), t.least_level);
  level = std::clamp(level, 0.0f, static_cast<float>(t.reductions.size()));
  return t.filter_levels ? std::floor(level * 256) / 256 : std::floor(level + 0.5f);
}

/// tex, tld4 of a mipmap.
void sample_levels(const Texture& t, const TextureForm& form, const TexturePoints& points, Texels& out) {
  const auto sample = host_handlers().sample;
  std::array<float, warp_lanes> level{};
  for (uint32_t lane = 0; lane < warp_lanes; ++lane) level[lane] = level_of(t, form, points, lane);
  std::memset(&out, 0, sizeof out);
  for (size_t i = 0; i <= t.reductions.size(); ++i) {
    std::array<float, warp_lanes> weight{};
    bool any = false;
    for (uint32_t lane = 0; lane < warp_lanes; ++lane) {
      weight[lane] = std::max(0.0f, 1 - std::abs(level[lane] - static_cast<float>(i)));
      any = any || weight[lane] != 0;
    }
    if (!any) continue;
    Texels here;
    sample(t, i == 0 ? t : t.reductions[i - 1], form, points, here);
    for (uint32_t c = 0; c < 4; ++c)
      for (uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if (weight[lane] == 1)
          out.of[c][lane] = here.of[c][lane];
        else if (weight[lane] != 0)
          out.of[c][lane] =
              std::bit_cast<uint32_t>(real(out.of[c], lane) + weight[lane] * real(here.of[c], lane));
      }
  }
}

/// tex, tld4: the lanes' registers get what the texture holds.
void fetch(Warp& w, const Inst* in, const Texture& t, const TextureForm& form, uint32_t lanes) {
  const uint32_t* side = w.side + in->b + 2 * form.elements;
  const auto next = [&] {
    const uint32_t* at = row(w, side);
    side += 2;
    return at;
  };
  TexturePoints points;
  const uint32_t coordinates = form.shape.coordinates();
  if (form.shape.layered) points.layer = next();
  for (uint32_t d = 0; d < coordinates; ++d) points.at[d] = next();
  if (form.detail == TextureForm::Detail::level) points.level = next();
  if (form.detail == TextureForm::Detail::gradients)
    for (auto& gradient : points.gradients)
      for (uint32_t d = 0; d < coordinates; ++d) gradient[d] = next();
  Texels texels;
  if (t.reductions.empty())
    host_handlers().sample(t, t, form, points, texels);
  else
    sample_levels(t, form, points, texels);
  for (uint32_t c = 0; c < 4; ++c) {
    const uint32_t* pair = w.side + in->b + 2 * c;
    if (pair[0] == no_operand) continue;
    if (lanes == full_mask && pair[1] == sizeof(uint32_t)) {
      std::memcpy(w.regs + pair[0], texels.of[c], sizeof texels.of[c]);
    } else {
      const Register data(w, pair);
      each_lane(lanes, [&](uint32_t lane) { data.set(lane, texels.of[c][lane]); });
    }
  }
}

/// suld, sust, sured, lane by lane.
void access_surface(Warp& w, const Inst* in, const Texture& surface, const TextureForm& form,
                    uint32_t lanes) {
  const uint32_t* side = w.side + in->b;
  const uint32_t* layers = side + 2 * form.elements;
  const uint32_t* coordinates = layers + (form.shape.layered ? 2 : 0);
  each_lane(lanes, [&](uint32_t lane) {
    std::array<int32_t, 3> at{};
    for (uint32_t d = 0; d < form.shape.dimensions; ++d)
      at[d] = static_cast<int32_t>(Register(w, coordinates + 2 * d).get(lane));
    const uint32_t layer = form.shape.layered ? static_cast<uint32_t>(Register(w, layers).get(lane)) : 0;
    const uint32_t width = uint32_t{form.elements} * form.element_bytes;
    if (at[0] % static_cast<int32_t>(width) != 0) {
      report(w, in, Finding::Kind::misaligned, 1u << lane, static_cast<uint64_t>(at[0]), width,
             "the surface coordinate x = " + std::to_string(at[0]) + ", in bytes, is no multiple of " +
                 std::to_string(width));
      return;
    }
    const auto offset = surface_offset(surface, form, at, layer);
    if (!offset && form.bounds == TextureForm::Bounds::trap) {
      std::string place = "x = " + std::to_string(at[0]) + " bytes";
      for (uint32_t d = 1; d < form.shape.dimensions; ++d)
        place += std::string(d == 1 ? ", y = " : ", z = ") + std::to_string(at[d]);
      if (form.shape.layered) place += ", layer " + std::to_string(static_cast<int32_t>(layer));
      report(w, in, Finding::Kind::out_of_bounds, 1u << lane, static_cast<uint64_t>(at[0]), width,
             place + " is outside the surface of " + std::to_string(surface.width * surface.texel_bytes()) +
                 " bytes by " + std::to_string(std::max(surface.height, 1u)) + " by " +
                 std::to_string(std::max({surface.depth, surface.layers, 1u})));
      return;
    }
    auto* memory = reinterpret_cast<std::byte*>(surface.base + offset.value_or(0));
    if (form.op == TextureForm::Op::reduce) {
      if (!offset) return;
      const uint64_t value = Register(w, side).get(lane);
      const Reduction combine =
          host_handlers().reduction(static_cast<ptx::Mod>(in->c), static_cast<ptx::Type>(in->d));
      combine(memory, reinterpret_cast<const std::byte*>(&value), form.element_bytes);
      ++w.worker->global_writes;
      return;
    }
    for (uint32_t e = 0; e < form.elements; ++e) {
      const Register data(w, side + 2 * e);
      uint64_t value = 0;
      if (form.op == TextureForm::Op::load) {
        if (offset) std::memcpy(&value, memory + e * form.element_bytes, form.element_bytes);
        data.set(lane, value);
      } else if (offset) {
        value = data.get(lane);
        ++w.worker->global_writes;
        std::memcpy(memory + e * form.element_bytes, &value, form.element_bytes);
      }
    }
  });
}

}  // namespace

const Inst* access_texture(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TextureForm>(in->imm);
  std::array<uint64_t, warp_lanes> handles;
  std::memcpy(handles.data(), w.regs + in->a, sizeof handles);
  if (form.by_reference)
    each_lane(w.mask, [&](uint32_t lane) {
      std::memcpy(&handles[lane], reinterpret_cast<const void*>(handles[lane]), sizeof handles[lane]);
    });
  for (uint32_t rest = w.mask; rest != 0;) {
    // Lanes with the same handle go together; nearly always all of them.
    const uint64_t handle = handles[static_cast<uint32_t>(std::countr_zero(rest))];
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < warp_lanes; ++lane) lanes |= uint32_t{handles[lane] == handle} << lane;
    lanes &= rest;
    rest &= ~lanes;
    const Texture* texture = usable(w, in, lanes, handle, form);
    if (texture == nullptr) continue;
    if (form.op == TextureForm::Op::fetch || form.op == TextureForm::Op::gather)
      fetch(w, in, *texture, form, lanes);
    else
      access_surface(w, in, *texture, form, lanes);
  }
  return in + 1;
}

const Inst* ask_texture(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TextureForm>(in->imm);
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    auto handle = lane_value<uint64_t>(w, in->a, lane);
    if (form.by_reference) std::memcpy(&handle, reinterpret_cast<const void*>(handle), sizeof handle);
    const Texture* texture = usable(w, in, 1u << lane, handle, form);
    if (texture == nullptr) continue;
    const auto answer = [&]() -> uint32_t {
      switch (form.query) {
        case TextureForm::Query::width: return texture->width;
        case TextureForm::Query::height: return texture->height;
        case TextureForm::Query::depth: return texture->depth;
        case TextureForm::Query::layers: return texture->layers;
        case TextureForm::Query::normalized_coordinates: break;
      }
      return texture->normalized_coordinates ? 1 : 0;
    };
    Register(w, std::array<uint32_t, 2>{in->d, 4}.data()).set(lane, answer());
  }
  return in + 1;
}

}  // namespace lanescope::exec
