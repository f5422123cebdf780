// Textures and surfaces: memory that kernels read through a filter, and read and write by coordinates, by the
// handle in a register ("bindless"). One function a warp and no host instruction set, as in builtins.hpp.
//
// Source of the sampling rules: CUDA C++ Programming Guide 13.0, "Texture Fetching" and "Texture and Surface
// Memory"; PTX ISA 9.0, tex, tld4, txq, suld, sust, sured, suq. docs/textures.md says what differs from an
// H200.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/instruction_set.hpp"

namespace lanescope::exec {

struct Warp;
struct Inst;

/// Texels in rows: texel (x, y, z) begins at base + z * slice + y * pitch + x * texel bytes, z being the
/// layer of a layered texture, or, of a cubemap, six times its layer plus the face.
struct TextureLevel {
  uint64_t base = 0;
  uint32_t width = 1, height = 0, depth = 0;  ///< texels; 0: the dimension does not exist
  uint64_t pitch = 0, slice = 0;              ///< bytes from row to row, and from slice or layer to the next
};

/// What a handle stands for: its largest level, and what is the same for all of them.
struct Texture : TextureLevel {
  enum class Kind : uint8_t { signed_integer, unsigned_integer, floating };
  /// In CUDA's order.
  enum class Address : uint8_t { wrap, clamp, mirror, border };

  uint32_t layers = 0;                     ///< 0: not layered
  bool is_cube = false;                    ///< six faces, or six a layer
  std::vector<TextureLevel> reductions{};  ///< of a mipmap: its levels from the second on
  uint8_t channels = 1;                    ///< 1, 2 or 4
  uint8_t channel_bytes = 4;               ///< 1, 2 or 4
  Kind kind = Kind::floating;

  bool is_surface = false;              ///< for suld, sust, sured; what follows is for tex and tld4
  bool is_linear = false;               ///< plain memory, read by integer coordinates only (tex1Dfetch)
  bool filter = false;                  ///< linear filtering instead of the nearest texel
  bool normalized_read = false;         ///< 8- and 16-bit integers are read as [0, 1] or [-1, 1]
  bool normalized_coordinates = false;  ///< [0, 1) instead of [0, size)
  std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};
  std::array<uint32_t, 4>
      border{};                ///< bits of what lies outside with Address::border, as the kernel reads it
  bool filter_levels = false;  ///< between two levels of a mipmap instead of the nearest one
  float bias = 0, least_level = 0,
        most_level = 0;  ///< of a mipmap: added to the level asked for, and its bounds

  [[nodiscard]] uint32_t texel_bytes() const { return uint32_t{channels} * channel_bytes; }
  [[nodiscard]] ptx::TextureShape shape() const;
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
  /// One of those that were removed last, which a GPU still finds; nullptr if it is none.
  [[nodiscard]] std::shared_ptr<const Texture> find_removed(uint64_t handle) const;
  /// Changes whenever a texture comes or goes.
  [[nodiscard]] uint64_t generation() const { return generation_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> generation_{0};
  mutable std::shared_mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<const Texture>> textures_;
  std::deque<std::pair<uint64_t, std::shared_ptr<const Texture>>> removed_;  ///< the last ones, oldest first
  uint64_t last_ = 0;
};

/// What a host thread remembers of the texture it used last.
struct LastTexture {
  uint64_t form = 0;  ///< of the instruction: Inst::imm
  uint64_t handle = 0;
  std::array<uint64_t, 2> generations{};  ///< of memory and of the table, when it was found usable
  std::shared_ptr<const Texture> texture;
};

/// Inst::imm of a texture instruction.
struct TextureForm {
  enum class Op : uint8_t { fetch, gather, load, store, reduce, ask_texture, ask_surface };
  enum class Bounds : uint8_t { trap, clamp, zero };  ///< what a surface does with coordinates outside
  enum class Query : uint8_t { width, height, depth, layers, normalized_coordinates };
  Op op{};
  enum class Detail : uint8_t { none, level, gradients };  ///< what is given to choose a mipmap's level
  ptx::TextureShape shape;
  bool integer_coordinates : 1 = false;
  bool by_reference : 1 = false;  ///< the handle is in memory, at the address that is given
  Detail detail : 2 = Detail::none;
  uint8_t elements = 4;       ///< of the data
  uint8_t element_bytes = 4;  ///< in memory, of a surface
  uint8_t component = 0;      ///< of a gather
  Bounds bounds{};
  Query query{};  ///< of txq and suq
};
static_assert(sizeof(TextureForm) == 8);

/// Where the lanes of a warp read a texture, a row of 32 words for each number; rows that the instruction has
/// not are nullptr.
struct TexturePoints {
  const uint32_t* at[3]{};  ///< coordinates: floats, or integers for plain memory; of cubes a direction
  const uint32_t* layer = nullptr;
  const uint32_t* level = nullptr;    ///< floats
  const uint32_t* gradients[2][3]{};  ///< floats, along x and along y
};
/// What they read: four channels, as bits of float, int or unsigned.
struct Texels {
  alignas(64) uint32_t of[4][32];
};

/// tex, tld4, suld, sust, sured. a: the handle (or, by reference, its address); b: first index in
/// Kernel::side, which holds pairs of offset and lane bytes: of the data (no_operand: sink), then of the
/// layer if there is one, of each coordinate, and of the level or of each gradient; imm: a TextureForm; of
/// sured, c: its operation (ptx::Mod), d: its type (ptx::Type).
const Inst* access_texture(Warp& w, const Inst* in);
/// txq, suq. a: the same; d: 32 bits; imm: a TextureForm.
const Inst* ask_texture(Warp& w, const Inst* in);

}  // namespace lanescope::exec
