// See layout.hpp. A layout is applied as a table that says for each unit of the array where it goes, so that
// moving an access is one look-up a lane, whatever the layout.
#include "advise/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/words.hpp"
#include "lanescope/model/shared.hpp"
#include "profile/cost.hpp"

namespace lanescope::advise {
namespace {

uint32_t rows_of(const Shape& shape) {
  return shape.row_bytes == 0 ? 0 : (shape.bytes + shape.row_bytes - 1) / shape.row_bytes;
}

/// Where the units of an array go: unit i lies at byte to[i] afterwards.
struct Map {
  static constexpr uint32_t nowhere = ~uint32_t{0};  ///< between the fields of a struct, or dropped
  uint32_t unit = word_bytes;
  uint32_t bytes = 0;
  std::vector<uint32_t> to;
  bool is_split = false;   ///< accesses to what does not stay together become several
  bool is_opaque = false;  ///< the assembler merges nothing
};

/// A map that sends the unit at byte `o` to `place(o)`; `sizes` are to be multiples of the unit.
template <class Place>
Map make_map(uint32_t old_bytes, uint32_t new_bytes, std::initializer_list<uint32_t> sizes, Place place) {
  Map map;
  map.bytes = new_bytes;
  for (const uint32_t size : sizes)
    while (size % map.unit != 0) map.unit /= 2;
  map.to.resize((old_bytes + map.unit - 1) / map.unit);
  for (size_t i = 0; i < map.to.size(); ++i) map.to[i] = place(static_cast<uint32_t>(i) * map.unit);
  return map;
}

struct MapMaker {
  const Shape& shape;

  std::optional<Map> operator()(std::monostate) const {
    return make_map(shape.bytes, shape.bytes, {}, [](uint32_t o) { return o; });
  }
  std::optional<Map> operator()(const RowPadding& padding) const {
    const uint32_t pitch = shape.row_bytes, more = padding.bytes();
    if (pitch == 0) return std::nullopt;
    Map map = make_map(shape.bytes, shape.bytes + rows_of(shape) * more, {pitch, more},
                       [=](uint32_t o) { return o + o / pitch * more; });
    map.is_opaque = !shape.has_rows;
    return map;
  }
  std::optional<Map> operator()(const PlanePadding& padding) const {
    const uint32_t plane = shape.plane_bytes, more = padding.words * word_bytes;
    if (plane == 0) return std::nullopt;
    return make_map(shape.bytes, shape.bytes + (shape.bytes + plane - 1) / plane * more, {plane},
                    [=](uint32_t o) { return o + o / plane * more; });
  }
  std::optional<Map> operator()(const Swizzle& swizzle) const {
    const uint32_t pitch = shape.row_bytes, kept = pitch - swizzle.dropped;
    uint32_t reach = 0;
    for (const uint32_t flip : swizzle.flips) reach |= flip;
    // The units that change places must fill the row without rest, or some would leave it.
    if (pitch == 0 || kept % (std::bit_ceil(reach + 1) * swizzle.granule) != 0) return std::nullopt;
    const uint32_t rows = rows_of(shape);
    Map map = make_map(rows * pitch, rows * kept, {swizzle.granule, pitch}, [&](uint32_t o) {
      if (o % pitch >= kept) return Map::nowhere;
      uint32_t flip = 0;
      for (uint32_t row = o / pitch, i = 0; row != 0 && i < swizzle.flips.size(); row >>= 1, ++i)
        if ((row & 1) != 0) flip ^= swizzle.flips[i];
      return o / pitch * kept + (o % pitch ^ flip * swizzle.granule);
    });
    map.is_opaque = true;
    return map;
  }
  std::optional<Map> operator()(const StructOfArrays& arrays) const {
    const uint32_t element = shape.element_bytes, piece = arrays.piece;
    std::vector<Field> fields = arrays.fields;
    if (fields.empty() && element % piece == 0)
      for (uint32_t offset = 0; offset < element; offset += piece) fields.push_back({offset, piece, piece});
    if (fields.size() < 2 || shape.bytes % element != 0) return std::nullopt;
    Map map;
    map.is_split = true;
    // The arrays lie one behind the other, as members of a struct do.
    uint32_t alignment = 1;
    std::vector<uint32_t> begins;
    for (const Field& field : fields) {
      begins.push_back((map.bytes + field.alignment - 1) / field.alignment * field.alignment);
      map.bytes = begins.back() + shape.bytes / element * field.bytes;
      alignment = std::max(alignment, field.alignment);
      for (const uint32_t size : {element, field.offset, field.bytes, begins.back()})
        while (size % map.unit != 0) map.unit /= 2;
    }
    map.bytes = (map.bytes + alignment - 1) / alignment * alignment;
    map.to.resize(shape.bytes / map.unit, Map::nowhere);
    for (size_t f = 0; f < fields.size(); ++f)
      for (uint32_t index = 0; index < shape.bytes / element; ++index)
        for (uint32_t byte = 0; byte < fields[f].bytes; byte += map.unit)
          map.to[(index * element + fields[f].offset + byte) / map.unit] =
              begins[f] + index * fields[f].bytes + byte;
    return map;
  }
  std::optional<Map> operator()(const ElementPadding& padding) const {
    const uint32_t element = shape.element_bytes, more = padding.bytes;
    if (element == 0) return std::nullopt;
    return make_map(shape.bytes, shape.bytes + (shape.bytes + element - 1) / element * more, {element, more},
                    [=](uint32_t o) { return o + o / element * more; });
  }
  std::optional<Map> operator()(const Transposed&) const {
    const uint32_t element = shape.element_bytes, pitch = shape.row_bytes;
    if (element == 0 || pitch == 0 || pitch % element != 0 || shape.bytes % pitch != 0) return std::nullopt;
    const uint32_t rows = rows_of(shape);
    return make_map(shape.bytes, shape.bytes, {element}, [=](uint32_t o) {
      const uint32_t row = o / pitch, column = o % pitch / element;
      return (column * rows + row) * element + o % element;
    });
  }
};

/// Whether every aligned `unit` bytes of the array stay together, at a multiple of `unit`.
bool keeps_units(const Map& map, uint32_t unit) {
  for (size_t i = 0; i < map.to.size(); ++i) {
    const auto from = static_cast<uint32_t>(i) * map.unit;
    if (map.to[i] == Map::nowhere && !map.is_split) continue;  // what is dropped
    const uint32_t first = map.to[from / unit * unit / map.unit];
    if (first % unit != 0 || map.to[i] != first + from % unit) return false;
  }
  return true;
}

/// The layout as a map; nothing if it does not fit the array.
std::optional<Map> map_of(const Shape& shape, const Layout& layout) {
  if (shape.keeps_rows && layout.index() != 0 && !std::holds_alternative<RowPadding>(layout))
    return std::nullopt;
  std::optional<Map> map = std::visit(MapMaker{shape}, layout);
  return map && keeps_units(*map, shape.unit) ? map : std::nullopt;
}

/// The bytes [first, end) of what each lane of a pattern accesses.
struct Bytes {
  uint32_t first = 0, end = 0;
};

/// Costs of some bytes of a pattern in pieces of `width` bytes under one layout. Adds to `outcome`; false if
/// a piece is torn apart or misaligned.
bool add_cost(const model::Arch& arch, const Shape& shape, const Map& map, const Pattern& pattern,
              Bytes bytes, uint32_t width, Outcome& outcome) {
  model::Request request;
  request.op = pattern.op;
  request.mask = pattern.mask;
  request.matrices = profile::matrices_of(pattern.mask);
  request.width = static_cast<int>(width);
  Outcome sum = outcome;
  for (uint32_t first = bytes.first; first < bytes.end; first += width) {
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const uint32_t from = pattern.offset[static_cast<size_t>(lane)] + first;
      // Merged accesses may reach over the array's ends.
      if (from + width > map.to.size() * map.unit || from + width < width) return false;
      if (map.to[from / map.unit] == Map::nowhere) return false;
      const uint32_t to = map.to[from / map.unit] + from % map.unit;
      for (uint32_t more = map.unit - from % map.unit; more < width; more += map.unit)
        if (map.to[(from + more) / map.unit] != to + more) return false;
      if ((shape.begin + to) % width != 0) return false;
      request.address[lane] = uint64_t{shape.begin} + to;
    }
    const model::SharedCost cost = model::shared_cost(arch, request);
    const auto wavefronts = static_cast<uint64_t>(cost.unknown_rule ? cost.estimate : cost.wavefronts);
    sum.wavefronts += wavefronts * pattern.count;
    sum.ideal += static_cast<uint64_t>(cost.ideal) * pattern.count;
    sum.max_way = std::max(sum.max_way, static_cast<uint32_t>(cost.max_way));
    sum.estimate |= cost.unknown_rule;
  }
  outcome = sum;
  return true;
}

/// The bytes that a layout which hides neighbours from the assembler leaves together: of a merged access the
/// widest pieces that each lie in one element, such as the fields of a struct.
uint8_t part_of(const Shape& shape, const Pattern& pattern) {
  if (pattern.part == 0) return pattern.width;
  uint8_t part = pattern.width;
  const auto lies_in_elements = [&] {
    if (shape.element_bytes % part != 0) return false;
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1)
      if (pattern.offset[static_cast<size_t>(std::countr_zero(left))] % part != 0) return false;
    return true;
  };
  while (part > pattern.part && !lies_in_elements()) part /= 2;
  return part;
}

/// The same for the pattern as it is, or, where it was merged and cannot be any longer, in the widest pieces
/// that are left.
bool add_whole_cost(const model::Arch& arch, const Shape& shape, const Map& map, const Pattern& pattern,
                    Outcome& outcome) {
  const uint32_t part = pattern.part == 0 ? pattern.width : pattern.part;
  const uint32_t first = map.is_opaque ? part_of(shape, pattern) : pattern.width;
  for (uint32_t width = first; width >= part; width /= 2)
    if (add_cost(arch, shape, map, pattern, {0, pattern.width}, width, outcome)) return true;
  return false;
}

/// Where a byte of the array goes; Map::nowhere of what lies between fields, or outside of the array.
uint32_t place_of(const Map& map, uint32_t byte) {
  const size_t unit = byte / map.unit;
  return unit >= map.to.size() || map.to[unit] == Map::nowhere ? Map::nowhere
                                                               : map.to[unit] + byte % map.unit;
}

/// The same where what a lane accesses may lie in several places: an access to each, as wide as it can be.
bool add_split_cost(const model::Arch& arch, const Shape& shape, const Map& map, const Pattern& pattern,
                    Outcome& outcome) {
  const auto place = [&](int lane, uint32_t byte) {
    return place_of(map, pattern.offset[static_cast<size_t>(lane)] + byte);
  };
  const int lane = std::countr_zero(pattern.mask);
  for (uint32_t first = 0, end = 0; first < pattern.width; first = end) {
    const uint32_t begin = place(lane, first);
    if (begin == Map::nowhere) {  // was accessed along with fields, and no longer has to be
      for (uint32_t left = pattern.mask; left != 0; left &= left - 1)
        if (place(std::countr_zero(left), first) != Map::nowhere) return false;
      end = first + 1;
      continue;
    }
    end = first + 1;
    while (end < pattern.width && place(lane, end) == begin + end - first) ++end;
    uint32_t width = uint32_t{1} << std::countr_zero(end - first);
    while (width > 0 && !add_cost(arch, shape, map, pattern, {first, end}, width, outcome)) width /= 2;
    if (width == 0) return false;
  }
  return true;
}

bool add_cost(const model::Arch& arch, const Shape& shape, const Map& map, const Pattern& pattern,
              Outcome& outcome) {
  return map.is_split ? add_split_cost(arch, shape, map, pattern, outcome)
                      : add_whole_cost(arch, shape, map, pattern, outcome);
}

/// `limit`: nothing if there are as many wavefronts.
std::optional<Outcome> apply(const model::Arch& arch, const Shape& shape, std::span<const Pattern> patterns,
                             const Layout& layout, uint64_t limit = ~uint64_t{0}) {
  const std::optional<Map> map = map_of(shape, layout);
  if (!map) return std::nullopt;
  Outcome outcome;
  outcome.bytes = map->bytes;
  for (const Pattern& pattern : patterns)
    if (!add_cost(arch, shape, *map, pattern, outcome) || outcome.wavefronts >= limit) return std::nullopt;
  return outcome;
}

/// The search over swizzles. Works on few patterns, those that conflict most, and takes in more of them as
/// long as the best map of the few is not the best of all.
class SwizzleSearch {
 public:
  SwizzleSearch(const model::Arch& arch, const Shape& shape, std::span<const Pattern> patterns)
      : arch_(arch), shape_(shape), patterns_(patterns) {
    granule_ = std::max({granule_, shape.unit, shape.element_bytes});  // what subscripts lead to stays whole
    for (const Pattern& pattern : patterns) granule_ = std::max<uint32_t>(granule_, part_of(shape, pattern));
    const uint32_t whole = uint32_t{1} << std::countr_zero(shape.row_bytes);  // units fill the row
    const uint32_t reach = std::min(whole, bank_row_of(arch));
    column_bits_ = reach > granule_ && std::has_single_bit(granule_)
                       ? static_cast<uint32_t>(std::countr_zero(reach / granule_))
                       : 0;
    row_bits_ = static_cast<uint32_t>(std::bit_width(rows_of(shape) - 1));
  }

  std::optional<Candidate> run() {
    if (column_bits_ == 0 || row_bits_ == 0 || row_bits_ > Swizzle::most_row_bits) return std::nullopt;
    // As no swizzle at all, but already without what the assembler merges.
    const std::optional<Outcome> now = what_if(arch_, shape_, patterns_, Swizzle{granule_, {}});
    if (!now) return std::nullopt;
    ideal_ = now->ideal;
    choose(Flips{}, most_chosen);
    constexpr int rounds = 4;
    std::optional<Candidate> best;
    for (int round = 0; round < rounds; ++round) {
      const bool few = column_bits_ * row_bits_ <= exhaustive_bits;
      const Flips flips = simpler(few ? try_all() : descend());
      const bool all = few && !is_tired();
      const Swizzle swizzle{granule_, flips};
      const std::optional<Outcome> outcome = what_if(arch_, shape_, patterns_, swizzle);
      if (!outcome) return std::nullopt;
      if (!best || outcome->wavefronts < best->outcome.wavefronts) best = Candidate{swizzle, *outcome, false};
      // No map costs less on all patterns than the best one does on the chosen ones, with the others at their
      // ideal.
      best->proven_best = best->outcome.conflict_free() ||
                          (all && best->outcome.wavefronts <= cost_of(flips) + ideal_ - chosen_ideal_);
      if (best->proven_best || is_tired() || !choose(flips, most_chosen)) break;
    }
    return best;
  }

 private:
  using Flips = decltype(Swizzle::flips);
  static constexpr uint32_t exhaustive_bits = 14;
  static constexpr size_t most_chosen = 64;
  /// Questions to the model, for which some kernels with an order of their own take 100,000, but random
  /// accesses, of which no map is any good, millions: 0.1 seconds.
  static constexpr uint64_t most_asked = uint64_t{1} << 18;

  const model::Arch& arch_;
  const Shape& shape_;
  std::span<const Pattern> patterns_;
  uint32_t granule_ = word_bytes;
  uint32_t column_bits_ = 0, row_bits_ = 0;
  uint64_t ideal_ = 0;
  /// A chosen pattern, with each lane's place: its row and where in it.
  ///
  /// What is flipped in all its rows alike only lets banks change places. So what counts is how the flips of
  /// its rows differ from those of its first row; and as flips are linear, those of a basis of the rows'
  /// distances (r ^ first row) decide. Of maps that agree there the model is asked once.
  struct Chosen {
    model::Request request;
    std::array<uint32_t, 32> row{}, within{};
    uint64_t count = 1, ideal = 0;
    std::vector<uint32_t> basis;
    /// Wavefronts by the flips of `basis`; what does not fit takes the place of what was there. Empty: more
    /// than these decides.
    struct Known {
      uint64_t flips = 0;
      uint64_t wavefronts = 0;  ///< 0: nothing is known here yet
    };
    std::vector<Known> known;

    [[nodiscard]] size_t first() const { return static_cast<size_t>(std::countr_zero(request.mask)); }
    /// Whether both cost the same under any map.
    [[nodiscard]] bool is_like(const Chosen& other, const Shape& shape, uint32_t shift_granule) const {
      if (request.op != other.request.op || request.width != other.request.width ||
          request.mask != other.request.mask || within != other.within)
        return false;
      const uint32_t here = row[first()], there = other.row[first()];
      if ((here - there) * shape.row_bytes % shift_granule != 0) return false;
      for (uint64_t left = request.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        if (row[lane] - here != other.row[lane] - there || (row[lane] ^ here) != (other.row[lane] ^ there))
          return false;
      }
      return true;
    }
  };
  static constexpr uint32_t most_known_bits = 10;  ///< of the number that is known of one pattern
  std::vector<Chosen> chosen_;
  std::vector<bool> is_chosen_;
  uint64_t chosen_ideal_ = 0;
  std::vector<uint32_t> flip_of_row_;  ///< of the map that is asked about, in bytes
  uint64_t asked_ = 0;

  [[nodiscard]] bool is_tired() const { return asked_ >= most_asked; }

  /// Adds to the chosen patterns up to `most` that conflict most under `flips`; false if none does.
  bool choose(const Flips& flips, size_t most) {
    is_chosen_.resize(patterns_.size());
    const std::optional<Map> map = MapMaker{shape_}(Swizzle{granule_, flips});
    std::vector<std::pair<uint64_t, size_t>> worst;
    for (size_t i = 0; i < patterns_.size(); ++i) {
      Outcome one;
      if (is_chosen_[i] || !add_cost(arch_, shape_, *map, patterns_[i], one) || one.conflict_free()) continue;
      worst.emplace_back(one.wavefronts - one.ideal, i);
    }
    const size_t count = std::min(most, worst.size());
    std::partial_sort(worst.begin(), worst.begin() + static_cast<std::ptrdiff_t>(count), worst.end(),
                      [](const auto& a, const auto& b) {
                        return a.first != b.first ? a.first > b.first : a.second < b.second;
                      });
    for (size_t i = 0; i < count; ++i) take(worst[i].second);
    // Some that are fine now: a map must not spoil them.
    const size_t step = patterns_.size() / most + 1;
    for (size_t i = 0; i < patterns_.size(); i += step)
      if (!is_chosen_[i]) take(i);
    // Those of few maps come first: what is known of them rules out most.
    std::stable_sort(chosen_.begin(), chosen_.end(), [](const Chosen& a, const Chosen& b) {
      return a.known.empty() != b.known.empty() ? b.known.empty() : a.basis.size() < b.basis.size();
    });
    return count != 0;
  }
  void take(size_t index) {
    is_chosen_[index] = true;
    Pattern pattern = patterns_[index];
    const uint8_t width = part_of(shape_, pattern);
    for (int parts = pattern.width / width; parts > 0; --parts) {
      Chosen chosen;
      chosen.count = pattern.count;
      chosen.request.op = pattern.op;
      chosen.request.width = width;
      chosen.request.mask = pattern.mask;
      chosen.request.matrices = profile::matrices_of(pattern.mask);
      for (uint32_t left = pattern.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        chosen.row[lane] = pattern.offset[lane] / shape_.row_bytes;
        chosen.within[lane] = pattern.offset[lane] % shape_.row_bytes;
        pattern.offset[lane] += width;
        chosen.request.address[lane] =
            shape_.begin + chosen.row[lane] * shape_.row_bytes + chosen.within[lane];
      }
      chosen.ideal = static_cast<uint64_t>(model::shared_cost(arch_, chosen.request).ideal) * chosen.count;
      chosen_ideal_ += chosen.ideal;
      add(std::move(chosen));
    }
  }
  void add(Chosen chosen) {
    const uint32_t shift_granule = model::shared_shift_granule(arch_);
    // Banks change places as said where the array begins with whole ones; and the estimate of an unknown
    // rule depends on the place in a line, too.
    if (chosen.request.op != model::Op::cp_async_cg &&
        shape_.begin % std::max(granule_, shift_granule) == 0) {
      const auto like = std::find_if(chosen_.begin(), chosen_.end(), [&](const Chosen& other) {
        return chosen.is_like(other, shape_, shift_granule);
      });
      if (like != chosen_.end()) {
        like->count += chosen.count;
        like->ideal += chosen.ideal;
        return;
      }
      for (uint64_t left = chosen.request.mask; left != 0; left &= left - 1) {
        uint32_t distance =
            chosen.row[static_cast<size_t>(std::countr_zero(left))] ^ chosen.row[chosen.first()];
        for (const uint32_t other : chosen.basis) distance = std::min(distance, distance ^ other);
        if (distance != 0) chosen.basis.push_back(distance);
      }
      const size_t bits = chosen.basis.size() * column_bits_;
      if (bits <= 64) chosen.known.resize(size_t{1} << std::min<size_t>(bits, most_known_bits));
    }
    chosen_.push_back(std::move(chosen));
  }

  /// The flips of the basis under a map, side by side; nothing where they alone do not decide.
  std::optional<uint64_t> flips_of_basis(const Chosen& chosen, const Flips& flips) const {
    if (chosen.known.empty()) return std::nullopt;
    uint64_t all = 0;
    for (const uint32_t distance : chosen.basis) {
      uint32_t flip = 0;
      for (uint32_t left = distance; left != 0; left &= left - 1)
        flip ^= flips[static_cast<size_t>(std::countr_zero(left))];
      if (flip >> column_bits_ != 0) return std::nullopt;
      all = all << column_bits_ | flip;
    }
    return all;
  }

  /// The wavefronts of one access of `chosen` under the map that flip_of_row_ is of.
  uint64_t wavefronts_of(Chosen& chosen) {
    ++asked_;
    for (uint64_t left = chosen.request.mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(left));
      const uint32_t row = chosen.row[lane];
      chosen.request.address[lane] =
          uint64_t{shape_.begin} + row * shape_.row_bytes + (chosen.within[lane] ^ flip_of_row_[row]);
    }
    const model::SharedCost cost = model::shared_cost(arch_, chosen.request);
    return static_cast<uint64_t>(cost.unknown_rule ? cost.estimate : cost.wavefronts);
  }

  void find_flips_of_rows(const Flips& flips) {
    flip_of_row_.assign(1, 0);
    for (uint32_t bit = 0; bit < row_bits_; ++bit)
      for (size_t row = 0, known = flip_of_row_.size(); row < known; ++row)
        flip_of_row_.push_back(flip_of_row_[row] ^ flips[bit] * granule_);
  }

  /// The wavefronts of the chosen patterns; `limit` or more as soon as they cannot be fewer.
  uint64_t cost_of(const Flips& flips, uint64_t limit) {
    bool have_flips = false;
    uint64_t least = chosen_ideal_;
    for (Chosen& chosen : chosen_) {
      const auto ask = [&] {
        if (!std::exchange(have_flips, true)) find_flips_of_rows(flips);
        return wavefronts_of(chosen);
      };
      uint64_t wavefronts = 0;
      if (const std::optional<uint64_t> deciding = flips_of_basis(chosen, flips)) {
        constexpr uint64_t golden_ratio = 0x9E3779B97F4A7C15u;  // spreads them over the places
        Chosen::Known& known = chosen.known[(*deciding * golden_ratio >> 40) % chosen.known.size()];
        if (known.wavefronts == 0 || known.flips != *deciding) known = {*deciding, ask()};
        wavefronts = known.wavefronts;
      } else {
        wavefronts = ask();
      }
      least += wavefronts * chosen.count - chosen.ideal;
      if (least >= limit) return least;
    }
    return least;
  }
  uint64_t cost_of(const Flips& flips) { return cost_of(flips, ~uint64_t{0}); }

  /// That of a SwizzledTile, and what people write: c ^ (r & mask), c ^ (r >> shift).
  std::vector<Flips> usual() const {
    std::vector<Flips> all;
    if (const auto tile = tile_swizzle(shape_, granule_)) all.push_back(tile->flips);
    for (uint32_t first = 0; first < std::min(column_bits_, row_bits_); ++first) {
      Flips flips{};
      for (uint32_t i = first; i < column_bits_ && i < row_bits_; ++i) flips[i] = 1u << i;
      all.push_back(flips);
    }
    for (uint32_t shift = 1; shift < row_bits_; ++shift) {
      Flips flips{};
      for (uint32_t i = shift; i < row_bits_ && i - shift < column_bits_; ++i) flips[i] = 1u << (i - shift);
      all.push_back(flips);
    }
    return all;
  }

  Flips try_all() {
    Flips flips{}, best{};
    uint64_t least = cost_of(best);
    const auto consider = [&] {
      const uint64_t cost = cost_of(flips, least);
      if (cost >= least) return;
      least = cost;
      best = flips;
    };
    for (const Flips& one : usual()) {
      flips = one;
      consider();
    }
    for (uint64_t code = 0;
         code < uint64_t{1} << (column_bits_ * row_bits_) && least > chosen_ideal_ && !is_tired(); ++code) {
      for (uint32_t i = 0; i < row_bits_; ++i)
        flips[i] = static_cast<uint32_t>(code >> (i * column_bits_)) & ((1u << column_bits_) - 1);
      consider();
    }
    return best;
  }

  /// Without the flips that bring nothing; that of a SwizzledTile stays as it is.
  Flips simpler(Flips flips) {
    if (const auto tile = tile_swizzle(shape_, granule_); tile && tile->flips == flips) return flips;
    const uint64_t cost = cost_of(flips);
    for (uint32_t i = 0; i < row_bits_; ++i) {
      const uint32_t flip = std::exchange(flips[i], 0);
      if (cost_of(flips) > cost) flips[i] = flip;
    }
    return flips;
  }

  /// From each of the usual maps: change one row bit's flips after the other while that makes it cheaper.
  Flips descend() {
    Flips best{};
    uint64_t least = cost_of(best);
    for (Flips flips : usual()) {
      if (least == chosen_ideal_ || is_tired()) break;
      uint64_t cost = cost_of(flips);
      for (bool better = true; better && cost > chosen_ideal_;) {
        better = false;
        for (uint32_t i = 0; i < row_bits_ && !is_tired(); ++i)
          for (uint32_t value = 0; value < 1u << column_bits_; ++value) {
            const uint32_t old = std::exchange(flips[i], value);
            const uint64_t with = cost_of(flips, cost);
            if (with < cost) {
              cost = with;
              better = true;
            } else {
              flips[i] = old;
            }
          }
      }
      if (cost < least) {
        least = cost;
        best = flips;
      }
    }
    return best;
  }
};

/// Of rows whose padding nothing accesses the best swizzle without it.
std::optional<Candidate> unpadded_swizzle(const model::Arch& arch, const Shape& shape,
                                          std::span<const Pattern> patterns) {
  const uint32_t pitch = shape.row_bytes, kept = std::bit_floor(pitch);
  if (!shape.has_rows || shape.plane_bytes != 0 || kept == pitch || kept % shape.element_bytes != 0)
    return std::nullopt;
  Shape unpadded = shape;
  unpadded.row_bytes = kept;
  unpadded.bytes = rows_of(shape) * kept;
  std::vector<Pattern> moved(patterns.begin(), patterns.end());
  for (Pattern& pattern : moved)
    for (uint32_t left = pattern.mask; left != 0; left &= left - 1) {
      uint32_t& offset = pattern.offset[static_cast<size_t>(std::countr_zero(left))];
      if (offset % pitch + pattern.width > kept) return std::nullopt;
      offset = offset / pitch * kept + offset % pitch;
    }
  std::optional<Candidate> best = SwizzleSearch(arch, unpadded, moved).run();
  if (!best) return std::nullopt;
  std::get<Swizzle>(best->layout).dropped = pitch - kept;
  const std::optional<Outcome> outcome = what_if(arch, shape, patterns, best->layout);
  if (!outcome) return std::nullopt;
  best->outcome = *outcome;
  return best;
}

/// What c is XORed with in the unit c of row r: "(r >> 1 & 7) << 2", or bit by bit.
std::string swizzle_formula(const Swizzle& s) {
  size_t first = 0, end = s.flips.size();
  while (first < end && s.flips[first] == 0) ++first;
  while (end > first && s.flips[end - 1] == 0) --end;
  bool shifted = first != end && std::has_single_bit(s.flips[first]);
  std::string bits;
  for (size_t i = first; i < end; ++i) {
    shifted = shifted && s.flips[i] == s.flips[first] << (i - first);
    if (s.flips[i] != 0)
      bits += fmt::format("{}({} & 1) * {}", bits.empty() ? "" : " ^ ",
                          i == 0 ? "r" : fmt::format("r >> {}", i), s.flips[i]);
  }
  if (!shifted) return bits;
  const uint32_t mask = (uint32_t{1} << (end - first)) - 1;
  const std::string row =
      first == 0 ? fmt::format("(r & {})", mask) : fmt::format("(r >> {} & {})", first, mask);
  const int up = std::countr_zero(s.flips[first]);
  return up == 0 ? row : fmt::format("({} << {})", row, up);
}

struct Describer {
  std::string operator()(std::monostate) const { return "as it is"; }
  std::string operator()(const RowPadding& p) const { return "each row padded by " + in_words(p); }
  std::string operator()(const PlanePadding& p) const {
    return "each plane padded by " + counted(p.words, "word");
  }
  std::string operator()(const Swizzle& s) const {
    return fmt::format("column c of row r at c ^ {}, columns of {} bytes{}", swizzle_formula(s), s.granule,
                       s.dropped == 0 ? "" : ", unpadded");
  }
  std::string operator()(const StructOfArrays& s) const {
    return s.fields.empty() ? fmt::format("one array for every {} bytes of an element", s.piece)
                            : "one array for each field of an element";
  }
  std::string operator()(const ElementPadding& p) const {
    return "each element padded by " + counted(p.bytes, "byte");
  }
  std::string operator()(const Transposed&) const { return "stored transposed"; }
};

}  // namespace

std::string in_words(const RowPadding& padding) {
  return padding.more_bytes == 0 ? counted(padding.words, "word") : counted(padding.bytes(), "byte");
}

std::string describe(const Layout& layout) { return std::visit(Describer{}, layout); }

std::optional<std::array<uint32_t, 32>> moved(const Shape& shape, const Pattern& pattern,
                                              const Layout& layout) {
  const std::optional<Map> map = map_of(shape, layout);
  if (!map) return std::nullopt;
  std::array<uint32_t, 32> to{};
  for (uint32_t left = pattern.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(left));
    const uint32_t from = pattern.offset[lane];
    // Merged accesses may reach over the array's ends, or begin before it.
    if (uint64_t{from} + pattern.width > map->to.size() * map->unit) return std::nullopt;
    if (map->to[from / map->unit] == Map::nowhere) return std::nullopt;
    to[lane] = map->to[from / map->unit] + from % map->unit;
    for (uint32_t more = map->unit - from % map->unit; more < pattern.width; more += map->unit)
      if (map->to[(from + more) / map->unit] != to[lane] + more) return std::nullopt;
  }
  return to;
}

std::optional<Outcome> what_if(const model::Arch& arch, const Shape& shape, std::span<const Pattern> patterns,
                               const Layout& layout) {
  return apply(arch, shape, patterns, layout);
}

std::optional<std::vector<Outcome>> what_if_each(const model::Arch& arch, const Shape& shape,
                                                 std::span<const Pattern> patterns, const Layout& layout) {
  const std::optional<Map> map = map_of(shape, layout);
  if (!map) return std::nullopt;
  std::vector<Outcome> outcomes(patterns.size());
  for (size_t i = 0; i < patterns.size(); ++i) {
    outcomes[i].bytes = map->bytes;
    if (!add_cost(arch, shape, *map, patterns[i], outcomes[i])) return std::nullopt;
  }
  return outcomes;
}

std::optional<Swizzle> tile_swizzle(const Shape& shape, uint32_t granule, uint32_t dropped) {
  constexpr uint32_t bank_row_bytes = 128;
  const uint32_t pitch = shape.row_bytes - dropped;
  if (granule < 4 || granule > 16 || pitch < granule || pitch % granule != 0 ||
      !std::has_single_bit(pitch / granule) || granule % shape.element_bytes != 0)
    return std::nullopt;
  const auto log2 = [](uint32_t value) {
    return static_cast<uint32_t>(std::bit_width(std::max(1u, value))) - 1;
  };
  const uint32_t units = pitch / granule, bank_units = bank_row_bytes / granule;
  const uint32_t right = log2(bank_units / units), left = log2(bank_units / rows_of(shape));
  Swizzle swizzle{granule, {}, dropped};
  for (uint32_t bit = 0;
       bit < log2(std::min(units, bank_units) >> left) && right + bit < swizzle.flips.size(); ++bit)
    swizzle.flips[right + bit] = 1u << (left + bit);
  return swizzle;
}

double price_of_memory(const Shape& shape, uint32_t bytes) {
  const double growth = static_cast<double>(bytes) / shape.bytes - 1;
  return growth <= 1.0 / 8 ? 0 : growth / 8;
}

std::vector<Candidate> search(const model::Arch& arch, const Shape& shape, std::span<const Pattern> patterns,
                              const Price& price) {
  std::vector<Candidate> found;
  const std::optional<Outcome> now = what_if(arch, shape, patterns, {});
  if (!now || now->conflict_free()) return found;

  const auto total = [&](const Outcome& outcome) {
    return static_cast<double>(outcome.wavefronts) +
           price(outcome.bytes) * static_cast<double>(now->wavefronts);
  };
  const auto best_of = [&](const std::vector<Layout>& layouts) {
    std::optional<Candidate> best;
    uint64_t fewest = now->wavefronts;
    for (const Layout& layout : layouts) {
      const std::optional<Outcome> outcome = apply(arch, shape, patterns, layout, fewest);
      if (!outcome) continue;
      fewest = outcome->wavefronts;
      if (total(*outcome) < (best ? total(best->outcome) : static_cast<double>(now->wavefronts)))
        best = Candidate{layout, *outcome, false};
      if (outcome->wavefronts <= now->ideal) break;
    }
    if (best) {
      best->proven_best = best->outcome.wavefronts == fewest;  // all that are offered were tried
      found.push_back(*best);
    }
  };
  // Rows are padded by whole elements, and by less than makes them begin in the same banks again: where a
  // warp covers two rows of a tile with a halo, the best ones are often nearly as much longer. Rows of the
  // banks themselves move on by the padding alone, and by more than half of the banks they move back.
  // Of small elements whose rows are no whole words, single ones may bring the next row to a word.
  const uint32_t element = std::max(1u, shape.element_bytes), bank_row = bank_row_of(arch),
                 step = shape.has_rows && shape.row_bytes % word_bytes != 0 ? element
                                                                            : std::lcm(element, word_bytes);
  const bool of_banks = !shape.has_rows && shape.row_bytes % bank_row == 0;
  const uint32_t end = of_banks ? bank_row / 2 + 1 : std::lcm(step, bank_row);
  std::vector<Layout> paddings, planes, elements;
  for (uint32_t bytes = step; bytes < end; bytes += step) {
    paddings.emplace_back(RowPadding{bytes / word_bytes, bytes % word_bytes});
    if (bytes % word_bytes == 0) planes.emplace_back(PlanePadding{bytes / word_bytes});
  }
  constexpr uint32_t most_words = 16;
  for (uint32_t words = 1; words <= most_words; ++words)
    elements.emplace_back(ElementPadding{words * word_bytes});
  best_of(paddings);
  best_of(planes);
  if (shape.row_bytes != 0)
    for (const auto& swizzle :
         {SwizzleSearch(arch, shape, patterns).run(), unpadded_swizzle(arch, shape, patterns)})
      if (swizzle) found.push_back(*swizzle);
  // Doubles stay whole where halves bring no more; fields are arrays of their own where pairs bring no more.
  const bool by_words = std::any_of(patterns.begin(), patterns.end(), [](const Pattern& p) {
    return (p.part != 0 ? p.part : p.width) <= word_bytes;
  });
  std::vector<Layout> arrays;
  for (const std::vector<Field>& fields : shape.splits) arrays.emplace_back(StructOfArrays{0, fields});
  if (arrays.empty())
    for (const uint32_t piece : {by_words ? 4u : 8u, by_words ? 8u : 4u})
      arrays.emplace_back(StructOfArrays{piece});
  best_of(arrays);
  if (shape.element_bytes != shape.row_bytes && shape.element_bytes > word_bytes) best_of(elements);
  best_of({Transposed{}});

  std::erase_if(found, [&](const Candidate& c) { return c.outcome.wavefronts >= now->wavefronts; });
  std::stable_sort(found.begin(), found.end(), [&](const Candidate& a, const Candidate& b) {
    return total(a.outcome) < total(b.outcome);
  });
  return found;
}

std::vector<Candidate> search(const model::Arch& arch, const Shape& shape,
                              std::span<const Pattern> patterns) {
  return search(arch, shape, patterns, [&](uint32_t bytes) { return price_of_memory(shape, bytes); });
}

uint32_t row_pitch_of(std::span<const Pattern> patterns, size_t lanes) {
  std::map<uint32_t, uint64_t> seen;
  for (const Pattern& pattern : patterns) {
    size_t begin = static_cast<size_t>(std::countr_zero(pattern.mask));  // of a run of neighbours in memory
    for (size_t lane = begin + 1; lane < 32 && (pattern.mask >> lane & 1) != 0; ++lane) {
      if (pattern.offset[lane] == pattern.offset[lane - 1] + pattern.width) continue;
      const int64_t step = int64_t{pattern.offset[lane]} - int64_t{pattern.offset[begin]};
      const auto distance = static_cast<uint32_t>(step < 0 ? -step : step);
      if (distance > pattern.width && lane - begin >= lanes) seen[distance] += pattern.count;
      begin = lane;
    }
  }
  const auto most = std::max_element(seen.begin(), seen.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == seen.end() ? 0 : most->first;
}

}  // namespace lanescope::advise
