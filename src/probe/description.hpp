// What the probe says of a chip's memory: every parameter of model::Arch that shows in latencies, each of
// which may be unknown. Presets are put into the same form, so that both can be compared.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanescope/model/archs.hpp"

namespace lanescope::probe {

/// The lanes served together when nothing meets: disjoint masks, the one with the lowest lane first.
using Groups = std::vector<uint64_t>;

/// "all of 32", "2 of 16 lanes", "0-3 20-23, 4-7 16-19, …".
[[nodiscard]] std::string in_words(const Groups& groups);
[[nodiscard]] const char* in_words(model::Broadcast broadcast);

/// What one bank counts.
enum class Counts : uint8_t { lanes, words };

struct Description {
  int lanes = 32;  ///< of a warp
  std::optional<int> banks, bank_bytes;
  /// Words of the segment in which words i and i + banks come out together; 0: no such rule.
  std::optional<int> segment_words;
  std::optional<model::Broadcast> broadcast;
  /// By model::width_index.
  std::array<std::optional<Groups>, model::width_count> load, store;
  std::optional<bool> pair_rule, split_wide, subword_conflict;
  std::optional<int> extra_wide_wavefronts;
  std::optional<Counts> atomic;                             ///< of 4 bytes
  std::array<std::optional<Counts>, 2> async;               ///< of 4 and 8 bytes
  std::array<std::optional<Groups>, 3> ldmatrix, stmatrix;  ///< row addresses of x1, x2, x4
  /// Bytes of global memory that one lane's load brings near the processor.
  std::optional<int> sector_bytes;
  /// Bytes of a line of the cache that it comes into.
  std::optional<int> line_bytes;
};

/// What a preset says.
[[nodiscard]] Description describe(const model::Arch& arch);

/// The model's architecture. What is unknown is as on most chips: 32 banks of 4 bytes, phases of as many
/// lanes as there are banks for, many words broadcast, no special rule.
[[nodiscard]] model::Arch to_arch(const Description& description);

/// One parameter of a description, for tables, comparisons and JSON.
struct Parameter {
  const char* name;     ///< in JSON
  const char* meaning;  ///< for people
  /// The value in words, or empty where it is unknown.
  std::string (*value)(const Description&);
};

/// All of them, in the order in which they are printed.
[[nodiscard]] const std::vector<Parameter>& parameters();

}  // namespace lanescope::probe
