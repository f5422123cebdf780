// See texture.hpp.
#include "exec/texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "exec/handlers.hpp"
#include "exec/memory.hpp"
#include "exec/program.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

uint64_t Texture::bytes() const {
  const uint64_t rows = std::max(height, 1u), slices = std::max({depth, layers, 1u});
  return (slices - 1) * slice + (rows - 1) * pitch + uint64_t{width} * texel_bytes();
}

uint64_t TextureTable::add(const Texture& texture) {
  const std::unique_lock lock(mutex_);
  textures_[++last_] = std::make_shared<const Texture>(texture);
  return last_;
}

bool TextureTable::remove(uint64_t handle, bool is_surface) {
  const std::unique_lock lock(mutex_);
  const auto it = textures_.find(handle);
  if (it == textures_.end() || it->second->is_surface != is_surface) return false;
  textures_.erase(it);
  return true;
}

std::shared_ptr<const Texture> TextureTable::find(uint64_t handle) const {
  const std::shared_lock lock(mutex_);
  const auto it = textures_.find(handle);
  return it == textures_.end() ? nullptr : it->second;
}

namespace {

/// Four channels, as bits of float, int or unsigned.
using Texel = std::array<uint32_t, 4>;

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
float as_float(uint32_t value) { return std::bit_cast<float>(value); }

float from_half(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, exponent = (half >> 10) & 31u,
                 fraction = half & 0x3ffu;
  if (exponent == 31) return as_float(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return (sign != 0 ? -1.0f : 1.0f) * static_cast<float>(fraction) * 0x1p-24f;
  return as_float(sign | (exponent + 112) << 23 | fraction << 13);
}

/// A texture for the length of one instruction.
class Sampler {
 public:
  Sampler(const Texture& texture, const TextureForm& form) : t_(texture), form_(form) {}

  struct Point {
    std::array<float, 3> at{};
    std::array<int32_t, 3> integer{};
    uint32_t layer = 0;
  };

  [[nodiscard]] Texel fetch(const Point& p) const {
    const uint64_t layer = layer_offset(p);
    if (form_.integer_coordinates) {
      // Plain memory has no address modes: outside it lies zero.
      const bool inside = static_cast<uint32_t>(p.integer[0]) < t_.width;
      return inside ? read(layer + uint64_t(p.integer[0]) * t_.texel_bytes()) : Texel{};
    }
    if (!t_.filter) return nearest(p, layer);
    return filtered(p, layer);
  }

  /// The four texels of a bilinear footprint, one channel of each, counter-clockwise from the lower left.
  [[nodiscard]] Texel gather(const Point& p, uint32_t component) const {
    std::array<Axis, 2> axis{};
    for (uint32_t d = 0; d < 2; ++d) axis[d] = footprint(p.at[d], d);
    const uint64_t layer = layer_offset(p);
    const auto channel = [&](const Place& x, const Place& y) { return at(layer, x, y, 0)[component]; };
    return {channel(axis[0].low, axis[1].high), channel(axis[0].high, axis[1].high),
            channel(axis[0].high, axis[1].low), channel(axis[0].low, axis[1].low)};
  }

 private:
  using Place = std::optional<uint32_t>;  ///< of a texel in its dimension; nothing: outside, in the border
  struct Axis {
    Place low = 0, high = 0;
    uint32_t weight = 0;  ///< of high, in 256ths
  };

  const Texture& t_;
  const TextureForm& form_;

  [[nodiscard]] uint32_t size(uint32_t d) const {
    return std::max(d == 0 ? t_.width : d == 1 ? t_.height : t_.depth, 1u);
  }

  /// A layer outside is the last one: its number has no sign (seen on an H200).
  [[nodiscard]] uint64_t layer_offset(const Point& p) const {
    return form_.layered ? std::min(p.layer, t_.layers - 1) * t_.slice : 0;
  }

  [[nodiscard]] double in_texels(float x, uint32_t d) const {
    return t_.normalized_coordinates ? double{x} * size(d) : double{x};
  }

  /// In 256ths of a texel, from the dimension's beginning; what is far outside stays outside.
  [[nodiscard]] int64_t fixed(float x, uint32_t d) const {
    const double scaled = in_texels(x, d);
    if (std::isnan(scaled)) return 0;
    return static_cast<int64_t>(std::floor(std::clamp(scaled, -0x1p31, 0x1p31) * 256 + 0.5));
  }

  [[nodiscard]] Place place(int64_t i, uint32_t d) const {
    const auto n = static_cast<int64_t>(size(d));
    auto mode = t_.address[d];
    // Only normalised coordinates repeat.
    if (!t_.normalized_coordinates && (mode == Texture::Address::wrap || mode == Texture::Address::mirror))
      mode = Texture::Address::clamp;
    const auto modulo = [](int64_t value, int64_t by) { return ((value % by) + by) % by; };
    switch (mode) {
      case Texture::Address::wrap: return static_cast<uint32_t>(modulo(i, n));
      case Texture::Address::mirror: {
        const int64_t folded = modulo(i, 2 * n);
        return static_cast<uint32_t>(folded < n ? folded : 2 * n - 1 - folded);
      }
      case Texture::Address::border:
        if (i < 0 || i >= n) return std::nullopt;
        return static_cast<uint32_t>(i);
      case Texture::Address::clamp: break;
    }
    return static_cast<uint32_t>(std::clamp<int64_t>(i, 0, n - 1));
  }

  [[nodiscard]] Place nearest_place(float x, uint32_t d) const {
    const double scaled = in_texels(x, d);
    if (std::isnan(scaled)) return place(0, d);
    return place(static_cast<int64_t>(std::floor(std::clamp(scaled, -0x1p31, 0x1p31))), d);
  }

  [[nodiscard]] Axis footprint(float x, uint32_t d) const {
    const int64_t from_centre = fixed(x, d) - 128;
    const int64_t i = from_centre >> 8;
    return {place(i, d), place(i + 1, d), static_cast<uint32_t>(from_centre & 255)};
  }

  [[nodiscard]] Texel at(uint64_t layer, const Place& x, const Place& y, const Place& z) const {
    if (!x || !y || !z) {
      Texel border = t_.border;
      std::fill(border.begin() + t_.channels, border.end(), 0u);
      return border;
    }
    return read(layer + *z * t_.slice + *y * t_.pitch + uint64_t{*x} * t_.texel_bytes());
  }

  [[nodiscard]] Texel nearest(const Point& p, uint64_t layer) const {
    std::array<Place, 3> at_texel{0, 0, 0};
    for (uint32_t d = 0; d < form_.dimensions; ++d) at_texel[d] = nearest_place(p.at[d], d);
    return at(layer, at_texel[0], at_texel[1], at_texel[2]);
  }

  [[nodiscard]] Texel filtered(const Point& p, uint64_t layer) const {
    std::array<Axis, 3> axis{};
    for (uint32_t d = 0; d < form_.dimensions; ++d) axis[d] = footprint(p.at[d], d);
    std::array<float, 4> sum{};
    for (uint32_t corner = 0; corner < 1u << form_.dimensions; ++corner) {
      float weight = 1;
      std::array<Place, 3> at_texel{0, 0, 0};
      for (uint32_t d = 0; d < form_.dimensions; ++d) {
        const bool high = (corner >> d & 1) != 0;
        at_texel[d] = high ? axis[d].high : axis[d].low;
        weight *= static_cast<float>(high ? axis[d].weight : 256 - axis[d].weight) / 256;
      }
      // A texel without weight has no part, were it infinite.
      if (weight == 0) continue;
      const Texel texel = at(layer, at_texel[0], at_texel[1], at_texel[2]);
      for (uint32_t c = 0; c < 4; ++c) sum[c] += weight * as_float(texel[c]);
    }
    return {bits(sum[0]), bits(sum[1]), bits(sum[2]), bits(sum[3])};
  }

  /// Channels that the texture lacks read as 0.
  [[nodiscard]] Texel read(uint64_t offset) const {
    Texel texel{};
    const auto* from = reinterpret_cast<const std::byte*>(t_.base + offset);
    for (uint32_t c = 0; c < t_.channels; ++c) {
      uint32_t raw = 0;
      std::memcpy(&raw, from + c * t_.channel_bytes, t_.channel_bytes);
      texel[c] = channel(raw);
    }
    return texel;
  }

  [[nodiscard]] uint32_t channel(uint32_t raw) const {
    const uint32_t width = 8u * t_.channel_bytes;
    if (t_.kind == Texture::Kind::floating)
      return width == 16 ? bits(from_half(static_cast<uint16_t>(raw))) : raw;
    if (t_.kind == Texture::Kind::unsigned_integer)
      return t_.normalized_read
                 ? bits(static_cast<float>(raw) / static_cast<float>((uint64_t{1} << width) - 1))
                 : raw;
    const int32_t value = static_cast<int32_t>(raw << (32 - width)) >> (32 - width);
    if (!t_.normalized_read) return static_cast<uint32_t>(value);
    // Both the lowest number and the one above it are -1.
    return bits(std::max(static_cast<float>(value) / static_cast<float>((1u << (width - 1)) - 1), -1.0f));
  }
};

/// Where a surface access of one lane lies; nothing if it is outside and not clamped.
std::optional<uint64_t> surface_offset(const Texture& t, const TextureForm& form,
                                       const std::array<int32_t, 3>& coordinate, uint32_t layer) {
  const uint32_t width = uint32_t{form.elements} * form.element_bytes;
  const std::array<int64_t, 3> size{int64_t{t.width} * t.texel_bytes(), std::max(t.height, 1u),
                                    std::max(t.depth, 1u)};
  std::array<int64_t, 4> place{0, 0, 0, 0};
  const bool clamped = form.bounds == TextureForm::Bounds::clamp;
  for (uint32_t d = 0; d < form.dimensions; ++d) {
    const int64_t last = d == 0 ? size[0] - width : size[d] - 1;
    place[d] = coordinate[d];
    if (place[d] < 0 || place[d] > last) {
      if (!clamped || last < 0) return std::nullopt;
      place[d] = std::clamp<int64_t>(place[d], 0, last);
    }
  }
  if (form.layered) {
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

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
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

/// What a lane's operand says.
uint64_t handle_of(const Register& handles, uint32_t lane, const TextureForm& form) {
  uint64_t handle = handles.get(lane);
  if (form.by_reference) std::memcpy(&handle, reinterpret_cast<const void*>(handle), sizeof handle);
  return handle;
}

/// The texture of a handle, if a kernel may use it in this way now; reports what is wrong with it otherwise.
std::shared_ptr<const Texture> usable(Warp& w, const Inst* in, uint32_t lanes, uint64_t handle,
                                      const TextureForm& form) {
  const bool surface = form.op == TextureForm::Op::load || form.op == TextureForm::Op::store ||
                       form.op == TextureForm::Op::reduce || form.op == TextureForm::Op::ask_surface;
  const std::string name = surface ? "surface" : "texture";
  const auto refuse = [&](const std::string& why) {
    report(w, in, Finding::Kind::unknown_pointer, lanes, handle, 0, why);
    return nullptr;
  };
  if (form.by_reference && handle == 0) return refuse("the " + name + " reference is bound to no " + name);
  auto texture = w.worker->memory->textures.find(handle);
  if (!texture || texture->is_surface != surface)
    return refuse(hex(handle) + " is the handle of no " + name +
                  (texture ? std::string(", but of a ") + (surface ? "texture" : "surface") : ""));
  if (form.op == TextureForm::Op::ask_texture || form.op == TextureForm::Op::ask_surface) return texture;
  const uint32_t dimensions = texture->depth != 0 ? 3 : texture->height != 0 ? 2 : 1;
  if (form.layered != (texture->layers != 0) || form.dimensions != dimensions)
    return refuse("the " + name + " has " + std::to_string(dimensions) + " dimensions" +
                  (texture->layers != 0 ? " and layers" : "") + ", the instruction is for " +
                  std::to_string(form.dimensions) + (form.layered ? " and layers" : ""));
  if (!surface && form.integer_coordinates != texture->is_linear)
    return refuse(texture->is_linear ? "a texture of plain memory is read by tex1Dfetch"
                                     : "tex1Dfetch reads textures of plain memory, not of arrays");
  const auto allocation = w.worker->memory->find(texture->base);
  if (!allocation || allocation->size - (texture->base - allocation->base) < texture->bytes())
    return refuse("the memory of the " + name + " at " + hex(texture->base) + " has been freed");
  return texture;
}

}  // namespace

const Inst* access_texture(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TextureForm>(in->imm);
  const uint32_t* side = w.side + in->b;
  const uint32_t* coordinates = side + 2 * form.elements + (form.layered ? 2 : 0);
  const Register handles(w, std::array<uint32_t, 2>{in->a, 8}.data());
  for (uint32_t rest = w.mask; rest != 0;) {
    // Lanes with the same handle go together; nearly always all of them.
    const uint64_t handle = handle_of(handles, static_cast<uint32_t>(std::countr_zero(rest)), form);
    uint32_t lanes = 0;
    for (uint32_t r = rest; r != 0; r &= r - 1)
      if (handle_of(handles, static_cast<uint32_t>(std::countr_zero(r)), form) == handle)
        lanes |= r & (0 - r);
    rest &= ~lanes;
    const auto texture = usable(w, in, lanes, handle, form);
    if (!texture) continue;
    const Sampler sampler(*texture, form);
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
      Sampler::Point point;
      for (uint32_t d = 0; d < form.dimensions; ++d) {
        const auto value = static_cast<uint32_t>(Register(w, coordinates + 2 * d).get(lane));
        point.at[d] = as_float(value);
        point.integer[d] = static_cast<int32_t>(value);
      }
      if (form.layered) point.layer = static_cast<uint32_t>(Register(w, side + 2 * form.elements).get(lane));
      if (form.op == TextureForm::Op::fetch || form.op == TextureForm::Op::gather) {
        const Texel texel =
            form.op == TextureForm::Op::fetch ? sampler.fetch(point) : sampler.gather(point, form.component);
        for (uint32_t c = 0; c < 4; ++c) Register(w, side + 2 * c).set(lane, texel[c]);
        continue;
      }
      const uint32_t width = uint32_t{form.elements} * form.element_bytes;
      if (point.integer[0] % static_cast<int32_t>(width) != 0) {
        report(w, in, Finding::Kind::misaligned, 1u << lane, static_cast<uint64_t>(point.integer[0]), width,
               "the surface coordinate x = " + std::to_string(point.integer[0]) +
                   ", in bytes, is no multiple of " + std::to_string(width));
        continue;
      }
      const auto offset = surface_offset(*texture, form, point.integer, point.layer);
      if (!offset && form.bounds == TextureForm::Bounds::trap) {
        std::string place = "x = " + std::to_string(point.integer[0]) + " bytes";
        for (uint32_t d = 1; d < form.dimensions; ++d)
          place += std::string(d == 1 ? ", y = " : ", z = ") + std::to_string(point.integer[d]);
        if (form.layered) place += ", layer " + std::to_string(static_cast<int32_t>(point.layer));
        report(
            w, in, Finding::Kind::out_of_bounds, 1u << lane, static_cast<uint64_t>(point.integer[0]), width,
            place + " is outside the surface of " + std::to_string(texture->width * texture->texel_bytes()) +
                " bytes by " + std::to_string(std::max(texture->height, 1u)) + " by " +
                std::to_string(std::max({texture->depth, texture->layers, 1u})));
        continue;
      }
      auto* at = reinterpret_cast<std::byte*>(texture->base + offset.value_or(0));
      if (form.op == TextureForm::Op::reduce) {
        if (!offset) continue;
        const uint64_t value = Register(w, side).get(lane);
        const Reduction combine =
            host_handlers().reduction(static_cast<ptx::Mod>(in->c), static_cast<ptx::Type>(in->d));
        combine(at, reinterpret_cast<const std::byte*>(&value), form.element_bytes);
        ++w.worker->global_writes;
        continue;
      }
      for (uint32_t e = 0; e < form.elements; ++e) {
        const Register data(w, side + 2 * e);
        uint64_t value = 0;
        if (form.op == TextureForm::Op::load) {
          if (offset) std::memcpy(&value, at + e * form.element_bytes, form.element_bytes);
          data.set(lane, value);
        } else if (offset) {
          value = data.get(lane);
          ++w.worker->global_writes;
          std::memcpy(at + e * form.element_bytes, &value, form.element_bytes);
        }
      }
    }
  }
  return in + 1;
}

const Inst* ask_texture(Warp& w, const Inst* in) {
  const auto form = std::bit_cast<TextureForm>(in->imm);
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t handle = handle_of(Register(w, std::array<uint32_t, 2>{in->a, 8}.data()), lane, form);
    const auto texture = usable(w, in, 1u << lane, handle, form);
    if (!texture) continue;
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
