// Textures and surfaces: memory that kernels read through a filter, and read and write by coordinates, by the
// handle in a register ("bindless"). One function a warp and no host instruction set, as in builtins.hpp.
//
// Source of the sampling rules: CUDA C++ Programming Guide 13.0, "Texture Fetching" and "Texture and Surface
// Memory"; PTX ISA 9.0, tex, tld4, txq, suld, sust, sured, suq. docs/textures.md says what differs from an
// H200. There are no mipmaps and no cubemaps: a level of detail is read and has no effect, and so have
// gradients.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

namespace lanescope::exec {

struct Warp;
struct Inst;

/// What a handle stands for. Texels lie in rows: texel (x, y, z) begins at base + z * slice + y * pitch + x *
/// texel bytes, z being the layer of a layered texture.
struct Texture {
  enum class Kind : uint8_t { signed_integer, unsigned_integer, floating };
  /// In CUDA's order.
  enum class Address : uint8_t { wrap, clamp, mirror, border };

  uint64_t base = 0;
  uint32_t width = 1, height = 0, depth = 0;  ///< texels; 0: the dimension does not exist
  uint32_t layers = 0;                        ///< 0: not layered
  uint64_t pitch = 0, slice = 0;              ///< bytes from row to row, and from slice or layer to the next
  uint8_t channels = 1;                       ///< 1, 2 or 4
  uint8_t channel_bytes = 4;                  ///< 1, 2 or 4
  Kind kind = Kind::floating;

  bool is_surface = false;              ///< for suld, sust, sured; what follows is for tex and tld4
  bool is_linear = false;               ///< plain memory, read by integer coordinates only (tex1Dfetch)
  bool filter = false;                  ///< linear filtering instead of the nearest texel
  bool normalized_read = false;         ///< 8- and 16-bit integers are read as [0, 1] or [-1, 1]
  bool normalized_coordinates = false;  ///< [0, 1) instead of [0, size)
  std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};
  std::array<uint32_t, 4>
      border{};  ///< bits of what lies outside with Address::border, as the kernel reads it

  [[nodiscard]] uint32_t texel_bytes() const { return uint32_t{channels} * channel_bytes; }
  /// From base to the last texel's end.
  [[nodiscard]] uint64_t bytes() const;
};

/// The textures and surfaces of a device, by handle. Safe for several host threads.
class TextureTable {
 public:
  /// A handle that no other texture had before.
  uint64_t add(const Texture& texture);
  /// False if there is none of this handle and use.
  bool remove(uint64_t handle, bool is_surface);
  /// nullptr if there is none.
  [[nodiscard]] std::shared_ptr<const Texture> find(uint64_t handle) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const Texture>> textures_;
  uint64_t last_ = 0;
};

/// Inst::imm of a texture instruction.
struct TextureForm {
  enum class Op : uint8_t { fetch, gather, load, store, reduce, ask_texture, ask_surface };
  enum class Bounds : uint8_t { trap, clamp, zero };  ///< what a surface does with coordinates outside
  enum class Query : uint8_t { width, height, depth, layers, normalized_coordinates };
  Op op{};
  uint8_t dimensions = 1;  ///< without the layer
  bool layered : 1 = false;
  bool integer_coordinates : 1 = false;
  bool by_reference : 1 = false;  ///< the handle is in memory, at the address that is given
  uint8_t elements = 4;           ///< of the data
  uint8_t element_bytes = 4;      ///< in memory, of a surface
  uint8_t component = 0;          ///< of a gather
  Bounds bounds{};
  Query query{};  ///< of txq and suq
};
static_assert(sizeof(TextureForm) == 8);

/// tex, tld4, suld, sust, sured. a: the handle (or, by reference, its address); b: first index in
/// Kernel::side, which holds pairs of offset and lane bytes: of the data (no_operand: sink), then of the
/// layer if there is one, then of each coordinate; imm: a TextureForm; of sured, c: its operation (ptx::Mod),
/// d: its type (ptx::Type).
const Inst* access_texture(Warp& w, const Inst* in);
/// txq, suq. a: the same; d: 32 bits; imm: a TextureForm.
const Inst* ask_texture(Warp& w, const Inst* in);

}  // namespace lanescope::exec
