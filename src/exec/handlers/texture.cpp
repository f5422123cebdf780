// What textures hold at the points of a warp, all lanes at once: which texels each lane's filter covers,
// their numbers, and the sum of their weights. The rules are those of exec/texture.hpp. Lanes that do not ask
// are computed, too: whatever their coordinates, the texels are inside.
#include "exec/handlers/texture.hpp"

#include <cmath>

#include "exec/handlers/semantics_formats.hpp"
#include "exec/lanes.hpp"

namespace lanescope::exec::LANESCOPE_ISA {
namespace {

using Address = Texture::Address;
using Kind = Texture::Kind;

/// A number for each lane.
template <class T>
struct alignas(64) Row {
  T of[warp_lanes];
};

/// The texels beside each lane's point in one dimension; -1: outside, in the border.
struct Axis {
  Row<int32_t> low, high;
  Row<float> weight;  ///< of high: a multiple of 1/256
};

double modulo(double i, double by) {
  const double rest = i - by * std::floor(i / by);
  return rest < 0 ? rest + by : rest >= by ? rest - by : rest;  // the quotient may have been rounded
}

/// The texels of whole numbers.
void place(const Row<double>& i, double size, Address mode, Row<int32_t>& out) {
  const auto each = [&](auto texel) {
    LANESCOPE_LANE_LOOP
    for (uint32_t k = 0; k < warp_lanes; ++k) out.of[k] = static_cast<int32_t>(texel(i.of[k]));
  };
  switch (mode) {
    case Address::wrap: each([=](double n) { return modulo(n, size); }); return;
    case Address::mirror:
      each([=](double n) {
        const double folded = modulo(n, 2 * size);
        return folded < size ? folded : 2 * size - 1 - folded;
      });
      return;
    case Address::border: each([=](double n) { return n >= 0 && n < size ? n : -1.0; }); return;
    case Address::clamp: break;
  }
  each([=](double n) { return n > 0 ? (n < size ? n : size - 1) : 0.0; });
}

/// Bits of a float. NaNs keep their payload, unlike in conversions (measured on an H200).
uint32_t from_half(uint32_t half) {
  const bool finite = (half & 0x7c00u) != 0x7c00u;
  const uint32_t sign = (half & 0x8000u) << 16, rest = (half & 0x03ffu) << 13;
  return finite ? bits(float_from(static_cast<uint16_t>(half))) : sign | exponent32 | rest;
}

/// The face of a cube that each lane's direction meets, and where on it, [0, 1].
struct Faces {
  Row<uint32_t> face, s, t;

  explicit Faces(const TexturePoints& points) {
    LANESCOPE_LANE_LOOP
    for (uint32_t k = 0; k < warp_lanes; ++k) {
      const float x = from_bits(points.at[0][k]), y = from_bits(points.at[1][k]),
                  z = from_bits(points.at[2][k]);
      const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
      const bool by_z = az >= ax && az >= ay, by_y = !by_z && ay >= ax;
      const float along = by_z ? z : by_y ? y : x, length = by_z ? az : by_y ? ay : ax;
      const bool back = along < 0;
      const float right = by_z ? (back ? -x : x) : by_y ? x : (back ? z : -z);
      const float down = by_y ? (back ? -z : z) : -y;
      face.of[k] = (by_z ? 4u : by_y ? 2u : 0u) + (back ? 1u : 0u);
      s.of[k] = bits((right / length + 1) / 2);
      t.of[k] = bits((down / length + 1) / 2);
    }
  }
};

/// Samples one level of a texture.
class Sampler {
 public:
  Sampler(const Texture& t, const TextureLevel& level, const TextureForm& form, const TexturePoints& points)
      : t_(t), level_(level), form_(form) {
    for (uint32_t& s : slice_.of) s = 0;
    // A layer outside is the last one: its number has no sign (seen on an H200).
    if (form.shape.layered && t.layers != 0)
      for (uint32_t k = 0; k < warp_lanes; ++k)
        slice_.of[k] = points.layer[k] < t.layers ? points.layer[k] : t.layers - 1;
  }
  /// On one of six faces in each lane.
  void take_faces(const Faces& faces) {
    for (uint32_t k = 0; k < warp_lanes; ++k) slice_.of[k] = 6 * slice_.of[k] + faces.face.of[k];
  }

  void fetch(const TexturePoints& points, Texels& out) const {
    if (form_.integer_coordinates) {
      // Plain memory has no address modes: outside it lies zero.
      const uint32_t width = level_.width;
      Row<int32_t> x;
      LANESCOPE_LANE_LOOP
      for (uint32_t k = 0; k < warp_lanes; ++k)
        x.of[k] = points.at[0][k] < width ? static_cast<int32_t>(points.at[0][k]) : -1;
      read(&x, nullptr, nullptr, out);
      return;
    }
    Axis axis[3];
    for (uint32_t d = 0; d < form_.shape.dimensions; ++d) {
      if (t_.filter)
        footprint(points, d, axis[d]);
      else
        nearest(points, d, axis[d].low);
    }
    const auto place_of = [&](uint32_t d, uint32_t corner) {
      return d >= form_.shape.dimensions ? nullptr : (corner >> d & 1) != 0 ? &axis[d].high : &axis[d].low;
    };
    if (!t_.filter) {
      read(place_of(0, 0), place_of(1, 0), place_of(2, 0), out);
      return;
    }
    if (t_.kind == Kind::floating || t_.normalized_read)
      blend<float>(
          place_of, axis, [](uint32_t texel) { return from_bits(texel); },
          [](float sum) { return bits(sum); }, out);
    else if (t_.kind == Kind::signed_integer)
      blend<double>(
          place_of, axis, [](uint32_t texel) { return static_cast<double>(static_cast<int32_t>(texel)); },
          [this](double sum) { return static_cast<uint32_t>(static_cast<int32_t>(whole(sum))); }, out);
    else
      blend<double>(
          place_of, axis, [](uint32_t texel) { return static_cast<double>(texel); },
          [this](double sum) { return static_cast<uint32_t>(whole(sum)); }, out);
  }

  /// The four texels of a bilinear footprint, one channel of each, counter-clockwise from the lower left.
  void gather(const TexturePoints& points, Texels& out) const {
    Axis x, y;
    footprint(points, 0, x);
    footprint(points, 1, y);
    const Row<int32_t>* const corners[4][2] = {
        {&x.low, &y.high}, {&x.high, &y.high}, {&x.high, &y.low}, {&x.low, &y.low}};
    for (uint32_t i = 0; i < 4; ++i) {
      Texels texel;
      read(corners[i][0], corners[i][1], nullptr, texel);
      std::memcpy(out.of[i], texel.of[form_.component], sizeof out.of[i]);
    }
  }

 private:
  const Texture& t_;
  const TextureLevel& level_;
  const TextureForm& form_;
  Row<uint32_t> slice_;  ///< that each lane reads

  /// The sums of the texels that the lanes' filters cover by their weights: in numbers of a kind, which
  /// `number` makes of what a kernel reads, and `result` the other way round.
  template <class Real, class PlaceOf, class Number, class Result>
  void blend(const PlaceOf& place_of, const Axis* axis, Number number, Result result, Texels& out) const {
    Real sum[4][warp_lanes] = {};
    for (uint32_t corner = 0; corner < 1u << form_.shape.dimensions; ++corner) {
      Row<float> weight;
      for (float& w : weight.of) w = 1;
      for (uint32_t d = 0; d < form_.shape.dimensions; ++d)
        for (uint32_t k = 0; k < warp_lanes; ++k)
          weight.of[k] *= (corner >> d & 1) != 0 ? axis[d].weight.of[k] : 1 - axis[d].weight.of[k];
      Texels texel;
      read(place_of(0, corner), place_of(1, corner), place_of(2, corner), texel);
      for (uint32_t c = 0; c < t_.channels; ++c)
        for (uint32_t k = 0; k < warp_lanes; ++k) {
          // A texel without weight has no part, were it infinite.
          const Real part = Real{weight.of[k]} * number(texel.of[c][k]);
          sum[c][k] += weight.of[k] == 0 ? Real{0} : part;
        }
    }
    for (uint32_t c = 0; c < 4; ++c)
      for (uint32_t k = 0; k < warp_lanes; ++k) out.of[c][k] = result(sum[c][k]);
  }

  /// Sums that are read as integers are rounded to the nearest one, halves up, and those of 32 bits down
  /// (measured on an H200).
  [[nodiscard]] double whole(double sum) const { return std::floor(t_.channel_bytes < 4 ? sum + 0.5 : sum); }

  [[nodiscard]] double size(uint32_t d) const {
    const uint32_t n = d == 0 ? level_.width : d == 1 ? level_.height : level_.depth;
    return n == 0 ? 1 : n;
  }

  /// Those on faces of cubes always are.
  [[nodiscard]] bool normalized() const { return t_.normalized_coordinates || form_.shape.cube; }

  [[nodiscard]] Address mode(uint32_t d) const {
    // Only normalised coordinates repeat.
    const bool repeats = t_.address[d] == Address::wrap || t_.address[d] == Address::mirror;
    return repeats && !normalized() ? Address::clamp : t_.address[d];
  }

  /// In texels, from the dimension's beginning; what is far outside stays outside, and no number is 0.
  void in_texels(const TexturePoints& points, uint32_t d, Row<double>& out) const {
    const double scale = normalized() ? size(d) : 1;
    constexpr double far = 0x1p30;
    LANESCOPE_LANE_LOOP
    for (uint32_t k = 0; k < warp_lanes; ++k) {
      const double x = double{from_bits(points.at[d][k])} * scale;
      const double near = x < far ? (x > -far ? x : -far) : far;
      out.of[k] = x != x ? 0 : near;
    }
  }

  void nearest(const TexturePoints& points, uint32_t d, Row<int32_t>& out) const {
    Row<double> x;
    in_texels(points, d, x);
    LANESCOPE_LANE_LOOP
    for (uint32_t k = 0; k < warp_lanes; ++k) x.of[k] = std::floor(x.of[k]);
    place(x, size(d), mode(d), out);
  }

  /// The coordinate is rounded to 256ths of a texel.
  void footprint(const TexturePoints& points, uint32_t d, Axis& out) const {
    Row<double> x, next;
    in_texels(points, d, x);
    LANESCOPE_LANE_LOOP
    for (uint32_t k = 0; k < warp_lanes; ++k) {
      const double from_centre = std::floor(x.of[k] * 256 + 0.5) / 256 - 0.5;
      x.of[k] = std::floor(from_centre);
      next.of[k] = x.of[k] + 1;
      out.weight.of[k] = static_cast<float>(from_centre - x.of[k]);
    }
    place(x, size(d), mode(d), out.low);
    place(next, size(d), mode(d), out.high);
  }

  /// The texels of places in each dimension (nullptr: the dimension does not exist), as the kernel reads
  /// them. Channels that the texture lacks are 0.
  void read(const Row<int32_t>* x, const Row<int32_t>* y, const Row<int32_t>* z, Texels& out) const {
    Row<uint64_t> offset;
    Row<uint32_t> outside;
    const uint64_t strides[3] = {t_.texel_bytes(), level_.pitch, level_.slice};
    const uint64_t slice = level_.slice;
    for (uint32_t k = 0; k < warp_lanes; ++k) offset.of[k] = slice_.of[k] * slice, outside.of[k] = 0;
    const Row<int32_t>* const places[3] = {x, y, z};
    for (uint32_t d = 0; d < 3; ++d) {
      if (places[d] == nullptr) continue;
      const uint64_t stride = strides[d];
      const int32_t* at = places[d]->of;
      LANESCOPE_LANE_LOOP
      for (uint32_t k = 0; k < warp_lanes; ++k) {
        offset.of[k] += static_cast<uint64_t>(at[k] < 0 ? 0 : at[k]) * stride;
        outside.of[k] |= static_cast<uint32_t>(at[k] >> 31);
      }
    }
    switch (t_.channel_bytes) {
      case 1: load<uint8_t>(offset, out); break;
      case 2: load<uint16_t>(offset, out); break;
      default: load<uint32_t>(offset, out); break;
    }
    for (uint32_t c = 0; c < 4; ++c) {
      uint32_t* texel = out.of[c];
      if (c >= t_.channels) {
        std::memset(texel, 0, sizeof out.of[c]);
        continue;
      }
      convert(texel);
      const uint32_t border = form_.integer_coordinates ? 0 : t_.border[c];
      LANESCOPE_LANE_LOOP
      for (uint32_t k = 0; k < warp_lanes; ++k) texel[k] = outside.of[k] != 0 ? border : texel[k];
    }
  }

  template <class Channel>
  void load(const Row<uint64_t>& offset, Texels& out) const {
    for (uint32_t c = 0; c < t_.channels; ++c)
      for (uint32_t k = 0; k < warp_lanes; ++k) {
        Channel raw;
        std::memcpy(&raw, reinterpret_cast<const void*>(level_.base + offset.of[k] + c * sizeof raw),
                    sizeof raw);
        out.of[c][k] = raw;
      }
  }

  /// From what memory holds to what the kernel reads.
  void convert(uint32_t* texel) const {
    const uint32_t width = 8u * t_.channel_bytes, shift = 32 - width;
    const auto each = [&](auto f) {
      LANESCOPE_LANE_LOOP
      for (uint32_t k = 0; k < warp_lanes; ++k) texel[k] = f(texel[k]);
    };
    switch (t_.kind) {
      case Kind::floating:
        if (width == 16) each([](uint32_t raw) { return from_half(raw); });
        return;
      case Kind::unsigned_integer: {
        const auto most = static_cast<float>(0xffffffffu >> shift);
        if (t_.normalized_read)
          each([=](uint32_t raw) { return bits(static_cast<float>(static_cast<int32_t>(raw)) / most); });
        return;
      }
      case Kind::signed_integer: break;
    }
    each([=](uint32_t raw) { return static_cast<uint32_t>(static_cast<int32_t>(raw << shift) >> shift); });
    if (!t_.normalized_read) return;
    const auto most = static_cast<float>(0x7fffffffu >> shift);
    // Both the lowest number and the one above it are -1.
    each([=](uint32_t raw) {
      const float value = static_cast<float>(static_cast<int32_t>(raw)) / most;
      return bits(value > -1 ? value : -1);
    });
  }
};

}  // namespace

void sample_texture(const Texture& t, const TextureLevel& level, const TextureForm& form,
                    const TexturePoints& points, Texels& out) {
  Sampler sampler(t, level, form, points);
  if (form.shape.cube) {
    const Faces faces(points);
    sampler.take_faces(faces);
    TexturePoints on_face;
    on_face.at[0] = faces.s.of;
    on_face.at[1] = faces.t.of;
    sampler.fetch(on_face, out);
  } else if (form.op == TextureForm::Op::gather) {
    sampler.gather(points, out);
  } else {
    sampler.fetch(points, out);
  }
}

}  // namespace lanescope::exec::LANESCOPE_ISA
