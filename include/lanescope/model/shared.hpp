// What one warp instruction on shared memory costs. The warp is cut into phases (arch.hpp); the wavefronts of
// a phase are the largest count over the banks of what the bank must deliver: distinct words (loads, stores,
// matrices), lanes (atomics, cp.async), or the steps of the 1.x one-word broadcast. Sources of the rules:
// arch.hpp.
//
// How it counts fast: an aligned access of w bytes on narrower banks is one access to a memory of fewer,
// w-byte banks, so a lane has one key (its word) and one bank; distinct words are found with a small
// open-addressing hash set whose slots hold one byte. Misaligned accesses and very wide or narrow free
// architectures take the same code with larger tables and all the words of each lane.
#pragma once

#include <cstdint>

#include "lanescope/model/arch.hpp"
#include "lanescope/model/request.hpp"

namespace lanescope::model {

/// What an update loop's loads are of its SharedCost.
struct LoopLoads {
  int requests = 0;
  int wavefronts = 0;
  int ideal = 0;
  int conflicts = 0;

  friend constexpr bool operator==(const LoopLoads&, const LoopLoads&) = default;
};

struct SharedCost {
  /// Phases with an active lane.
  int phases = 0;
  /// Passes through the data stage. With `unknown_rule` only the passes that the hardware's data-stage
  /// counter shows (one a phase), not a claim about the real cost.
  int wavefronts = 0;
  /// Wavefronts if no two lanes met: one for each non-empty phase, of a compare-and-swap two.
  int ideal = 0;
  /// What the hardware's bank-conflict counter holds: wavefronts - ideal, of a compare-and-swap half of that,
  /// of an update loop that of its loads.
  int conflicts = 0;
  /// The most wavefronts that one phase takes (n of "n-way"), of a compare-and-swap half of them; of an
  /// update loop how often it is run. 0 when no lane is active.
  int max_way = 0;
  /// Loads: words that a phase delivers to two or more lanes, over all phases; 0 for other accesses and where
  /// nothing is broadcast.
  int broadcast_words = 0;
  /// The rule of this access is unknown: cp.async.cg, which bypasses the first-level cache, on architectures
  /// where it was not measured.
  bool unknown_rule = false;
  /// Near the wavefronts of the profiler's software model; only where `unknown_rule`. Depends on the
  /// addresses' place in a 128-byte line, so it alone is not covered by shared_shift_granule.
  int estimate = 0;
  /// Several active lanes store to one same byte; whose value stays is undefined.
  bool write_race = false;
  /// The least sure of the rules that were used.
  Evidence evidence = Evidence::measured;
  /// Accesses of the machine code that this one becomes: of an update loop its rounds, besides `loads`.
  int requests = 1;
  LoopLoads loads = {};

  friend constexpr bool operator==(const SharedCost&, const SharedCost&) = default;
};

/// One word of one bank in one phase, and the lanes that access it.
struct BankWord {
  int phase;       ///< counts the phases of the instruction from 0, empty ones included
  int bank;        ///< 0 … banks-1
  uint64_t word;   ///< address / bank_bytes
  uint64_t lanes;  ///< bit l = lane l
};

/// The cost and who meets where, sorted by phase, bank, word.
struct SharedDetail {
  /// 64 lanes x 16 bytes on banks of one byte.
  static constexpr int max_entries = 1024;
  /// One bank and 64 lanes.
  static constexpr int max_phases = 64;

  SharedCost cost = {};
  int phase_count = 0;
  FixedArray<uint64_t, max_phases> phase_lanes = {};  ///< active lanes of each phase
  FixedArray<int, max_phases> phase_wavefronts = {};  ///< of an update loop: lanes of the fullest bank
  int entry_count = 0;
  FixedArray<BankWord, max_entries> entry = {};
};

namespace detail {

/// Of a compare-and-swap, for each lane that a bank serves.
inline constexpr int swap_wavefronts = 2;

/// What a bank counts.
enum class Counting : uint8_t { words, lanes, one_word_steps };

/// One access as the banks see it, after 1.x's splitting: `parts` accesses of `width` bytes, one after the
/// other.
struct Plan {
  Counting counting = Counting::words;
  int width = 4;
  int parts = 1;
  uint64_t active = 0;
  int lanes = 32;
  int lanes_each = 32;  ///< of consecutive phases (doubled by the pair rule); 0 = listed phases
  int unit = 32;
  const uint64_t* list = nullptr;
  int listed = 0;
  int extra = 0;  ///< wavefronts of each phase beside its n-way
  Evidence evidence = Evidence::assumed;
};

/// Does every active lane access the address of lane^distance, where that lane is active? distance is 1 or 2.
LANESCOPE_HD constexpr bool partners_agree(const Request& request, uint64_t active, int distance) {
  const uint64_t lower = distance == 1 ? 0x5555555555555555u : 0x3333333333333333u;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active & (active >> distance) & lower; left != 0; left &= left - 1) {
    const int lane = lowest_bit(left);
    if (request.address[lane] != request.address[lane + distance]) return false;
  }
  return true;
}

LANESCOPE_HD constexpr bool is_matrix(Op op) { return op == Op::ldmatrix || op == Op::stmatrix; }

LANESCOPE_HD constexpr Plan make_plan(const Arch& arch, const Request& request) {
  Plan plan;
  plan.lanes = request.lanes;
  plan.active = request.mask & lane_range(0, request.lanes);
  plan.width = request.width;
  if (is_matrix(request.op)) {
    plan.width = 16;
    plan.active &= lane_range(0, 8 * request.matrices);
    plan.lanes_each = 8;
    plan.evidence = arch.matrix_evidence;
    return plan;
  }
  const int index = width_index(request.width);
  const bool load = request.op == Op::load;
  const Phases& phases = load ? arch.load[index] : arch.store[index];
  plan.lanes_each = phases.lanes_each;
  plan.unit = phases.unit;
  plan.list = phases.list;
  plan.listed = phases.listed;
  plan.evidence = phases.evidence;
  if (is_atomic(request.op) || is_copy(request.op) || arch.broadcast == Broadcast::none)
    plan.counting = Counting::lanes;
  else if (load && arch.broadcast == Broadcast::one_word)
    plan.counting = Counting::one_word_steps;
  if (arch.split_wide && plan.width > arch.bank_bytes) {
    plan.parts = plan.width / arch.bank_bytes;
    plan.width = arch.bank_bytes;
  }
  if (request.width == 16) plan.extra = arch.extra_wide_wavefronts;
  if (load && arch.pair_rule && request.width >= 8 &&
      (partners_agree(request, plan.active, 1) || partners_agree(request, plan.active, 2)))
    plan.lanes_each *= 2;
  return plan;
}

/// Steps through the phases of a plan: `lanes` is the mask of the current one, active or not.
struct PhaseCursor {
  int begin = 0;
  int unit_end = 0;
  int index = 0;
  uint64_t lanes = 0;

  LANESCOPE_HD constexpr bool next(const Plan& plan) {
    if (plan.lanes_each == 0) {
      if (index == plan.listed) return false;
      lanes = plan.list[index++];
      return true;
    }
    if (begin >= plan.lanes) return false;
    if (begin >= unit_end) unit_end = begin + plan.unit;
    const int end = smaller(smaller(begin + plan.lanes_each, unit_end), plan.lanes);
    lanes = lane_range(begin, end);
    begin = end;
    return true;
  }
};

/// How addresses become keys (what is the same word, or row of words that come out together) and banks.
struct Mapping {
  bool one_key = true;  ///< each lane has exactly one key
  int key_shift = 2;
  int bank_shift = 2;
  int banks = 32;
  uint64_t bank_mask = 31;  ///< banks - 1, or 0 when banks is no power of two
  bool segments = false;    ///< units i and i + banks of one segment have one key

  LANESCOPE_HD constexpr int bank_of_unit(uint64_t unit) const {
    return static_cast<int>(bank_mask != 0 ? unit & bank_mask : unit % static_cast<uint64_t>(banks));
  }
  LANESCOPE_HD constexpr uint64_t key(uint64_t unit) const {
    const uint64_t n = static_cast<uint64_t>(banks);
    return segments ? unit / (2 * n) * n + unit % n : unit;
  }
  LANESCOPE_HD constexpr int bank(uint64_t key) const {
    return bank_of_unit((key << key_shift) >> bank_shift);
  }
};

/// The bank of a key where that takes one instruction: the case that has to be fast.
struct MaskedBank {
  uint64_t mask;

  LANESCOPE_HD static constexpr bool fits(const Mapping& mapping) {
    return mapping.bank_mask != 0 && mapping.key_shift == mapping.bank_shift;
  }
  LANESCOPE_HD constexpr int bank(uint64_t key) const { return static_cast<int>(key & mask); }
};

/// Are the addresses of all active lanes multiples of `width`?
LANESCOPE_HD constexpr bool all_aligned(const Request& request, uint64_t active, int width) {
  uint64_t low_bits = 0;
  if (active == 0xffffffffu)  // a full warp: a loop the compiler vectorises
    LANESCOPE_KEEP_LOOP
  for (int lane = 0; lane < 32; ++lane) low_bits |= request.address[lane];
  else LANESCOPE_KEEP_LOOP for (uint64_t left = active; left != 0; left &= left - 1) low_bits |=
      request.address[lowest_bit(left)];
  return (low_bits & static_cast<uint64_t>(width - 1)) == 0;
}

LANESCOPE_HD constexpr Mapping make_mapping(const Arch& arch, const Request& request, const Plan& plan) {
  const bool aligned = all_aligned(request, plan.active, plan.width);
  const int merged_banks = larger(1, plan.width / arch.bank_bytes);  // that one aligned access takes together
  Mapping mapping;
  mapping.segments = arch.segment_words != 0;
  mapping.one_key = aligned && arch.banks % merged_banks == 0;
  // One broadcast word a step is one bank's word: the words of a wide access stay apart.
  if (plan.counting == Counting::one_word_steps && merged_banks > 1) mapping.one_key = false;
  mapping.banks = mapping.one_key ? arch.banks / merged_banks : arch.banks;
  mapping.bank_shift = log2_floor(static_cast<uint64_t>(arch.bank_bytes));
  if (mapping.one_key) mapping.bank_shift += log2_floor(static_cast<uint64_t>(merged_banks));
  mapping.key_shift = mapping.bank_shift;
  if (arch.subword_conflict && plan.width < arch.bank_bytes) {
    mapping.key_shift = aligned ? log2_floor(static_cast<uint64_t>(plan.width)) : 0;
    mapping.one_key = true;
  }
  const uint64_t banks = static_cast<uint64_t>(mapping.banks);
  mapping.bank_mask = is_power_of_two(banks) ? banks - 1 : 0;
  return mapping;
}

/// Table sizes. Tiny and small: one key a lane, at most 64 banks, phases of up to 16 or 64 lanes. Large:
/// every word of 64 lanes, up to 1024 banks.
struct TinyTables {
  using Index = uint8_t;
  static constexpr int slot_bits = 6;
  static constexpr int keys = 16;
  static constexpr int banks = 64;
};
struct SmallTables {
  using Index = uint8_t;
  static constexpr int slot_bits = 8;
  static constexpr int keys = max_lanes;
  static constexpr int banks = 64;
};
struct LargeTables {
  using Index = uint16_t;
  static constexpr int slot_bits = 12;
  static constexpr int keys = max_lanes * 16;
  static constexpr int banks = 1024;
};

/// Finds equal keys among the numbered items 1 … count. Only what is read is initialised.
template <class Tables>
struct EqualKeys {
  using Index = typename Tables::Index;
  Index slot[1 << Tables::slot_bits];
  uint64_t key[Tables::keys + 1];
  int count;

  LANESCOPE_HD constexpr EqualKeys() : count(0) {  // NOLINT(cppcoreguidelines-pro-type-member-init)
    LANESCOPE_KEEP_LOOP
    for (Index& place : slot) place = 0;
    key[0] = 0;
  }

  LANESCOPE_HD constexpr void add(uint64_t wanted) { key[++count] = wanted; }

  /// The first item with the key of `item`, or 0 when it is `item` itself. Ask for the items in order, each
  /// once.
  LANESCOPE_HD constexpr int earlier(int item) {
    const uint64_t wanted = key[item];
    uint32_t place = static_cast<uint32_t>((wanted * 0x9E3779B97F4A7C15u) >> (64 - Tables::slot_bits));
    int found = slot[place];
    LANESCOPE_KEEP_LOOP
    while ((found != 0) & (key[found] != wanted)) {
      place = (place + 1) & ((1u << Tables::slot_bits) - 1);
      found = slot[place];
    }
    slot[place] = static_cast<Index>(found | (item & -static_cast<int>(found == 0)));
    return found;
  }

  /// How many different keys the items have.
  LANESCOPE_HD constexpr int distinct() {
    int result = 0;
    LANESCOPE_KEEP_LOOP
    for (int item = 1; item <= count; ++item) result += earlier(item) == 0;
    return result;
  }
};

struct PhaseCount {
  int way = 0;
  int broadcast_words = 0;
};

template <class Index>
LANESCOPE_HD constexpr int largest(const Index* values, int count) {
  Index result = 0;
  LANESCOPE_KEEP_LOOP
  for (int i = 0; i < count; ++i) result = values[i] > result ? values[i] : result;
  return result;
}

/// Adds the keys of all words that the lanes touch.
template <class Tables>
LANESCOPE_HD constexpr void add_words(EqualKeys<Tables>& words, const Request& request, const Plan& plan,
                                      const Mapping& mapping, uint64_t lanes, uint64_t offset) {
  if constexpr (Tables::keys >= 32) {
    if (mapping.one_key && !mapping.segments &&
        lanes == 0xffffffffu) {  // a full warp: a loop that is vectorised
      LANESCOPE_KEEP_LOOP
      for (int lane = 0; lane < 32; ++lane)
        words.key[1 + lane] = (request.address[lane] + offset) >> mapping.key_shift;
      words.count = 32;
      return;
    }
  }
  const uint64_t last_byte = offset + static_cast<uint64_t>(plan.width - 1);
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = request.address[lowest_bit(left)];
    const uint64_t first = (address + offset) >> mapping.key_shift;
    const uint64_t last = mapping.one_key ? first : (address + last_byte) >> mapping.key_shift;
    LANESCOPE_KEEP_LOOP
    for (uint64_t unit = first; unit <= last; ++unit) words.add(mapping.key(unit));
  }
}

/// Every bank counts the lanes that ask it.
template <class Tables, class Banks>
LANESCOPE_HD constexpr int lanes_way(const EqualKeys<Tables>& words, const Banks mapping, int banks) {
  typename Tables::Index per_bank[Tables::banks] = {};
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= words.count; ++item) ++per_bank[mapping.bank(words.key[item])];
  return largest(per_bank, banks);
}

/// Every bank counts the distinct words that it is asked for.
template <class Tables, class Banks>
LANESCOPE_HD constexpr PhaseCount words_way(EqualKeys<Tables>& words, const Banks mapping, int banks) {
  using Index = typename Tables::Index;
  Index
      shared[Tables::keys + 1];  // by first item with a key: 1 once a second came; written before it is read
  Index per_bank[Tables::banks] = {};
  const int count = words.count;
  int first = 0;  // of the items with the last item's key
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= count; ++item) {
    shared[item] = 0;
    if (words.key[item] == words.key[item - 1] && item > 1) {  // neighbours read one word: spare the look-up
      shared[first] = 1;
      continue;
    }
    const int earlier = words.earlier(item);
    shared[earlier] = 1;
    first = earlier == 0 ? item : earlier;
    Index& asked = per_bank[mapping.bank(words.key[item])];
    asked = static_cast<Index>(asked + (earlier == 0));
  }
  PhaseCount result;
  result.way = largest(per_bank, banks);
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= count; ++item) result.broadcast_words += shared[item];
  return result;
}

/// Fewest steps of the 1.x broadcast: a step serves all readers of one word, and one lane of every other
/// bank. Which word and lane is unspecified (guide 4.2, F.3.3.1); this takes the best choice. With T steps
/// there are T broadcasts; a bank asked by c lanes needs the fewest of its most-read words such that
/// broadcasting them (saving readers-1 steps each) leaves at most T steps; T suffices when all banks together
/// need at most T.
template <class Tables>
LANESCOPE_HD constexpr PhaseCount steps_way(EqualKeys<Tables>& words, const Mapping& mapping) {
  int readers[Tables::keys + 1] = {};  // by first item with a key
  int lanes_of_bank[Tables::banks] = {};
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= words.count; ++item) {
    const int earlier = words.earlier(item);
    ++readers[earlier == 0 ? item : earlier];
    ++lanes_of_bank[mapping.bank(words.key[item])];
  }
  PhaseCount result;
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= words.count; ++item) result.broadcast_words += readers[item] > 1;
  LANESCOPE_KEEP_LOOP
  for (result.way = 1;; ++result.way) {
    int needed = 0;
    LANESCOPE_KEEP_LOOP
    for (int bank = 0; bank < mapping.banks && needed <= result.way; ++bank) {
      int left = lanes_of_bank[bank];
      // The most-read words first: all with one number of readers before those with fewer.
      LANESCOPE_KEEP_LOOP
      for (int most = max_lanes; most > 1 && left > result.way; --most) LANESCOPE_KEEP_LOOP
      for (int item = 1; item <= words.count && left > result.way; ++item)
        if (readers[item] == most && mapping.bank(words.key[item]) == bank) {
          left -= most - 1;
          ++needed;
        }
      if (left > result.way) needed = result.way + 1;
    }
    if (needed <= result.way) return result;
  }
}

/// The wavefronts of one phase (or of one part of a split access in it), `lanes` being its active lanes.
template <class Tables>
LANESCOPE_HD constexpr PhaseCount count_phase(const Request& request, const Plan& plan,
                                              const Mapping& mapping, uint64_t lanes, uint64_t offset) {
  EqualKeys<Tables> words;
  add_words(words, request, plan, mapping, lanes, offset);
  const bool masked = MaskedBank::fits(mapping);
  if (plan.counting == Counting::one_word_steps) return steps_way(words, mapping);
  if (plan.counting == Counting::lanes)
    return PhaseCount{masked ? lanes_way(words, MaskedBank{mapping.bank_mask}, mapping.banks)
                             : lanes_way(words, mapping, mapping.banks),
                      0};
  PhaseCount result = masked ? words_way(words, MaskedBank{mapping.bank_mask}, mapping.banks)
                             : words_way(words, mapping, mapping.banks);
  if (mapping.segments) {  // the rows said what is free; who reads the same word is seen in the words alone
    Mapping single_words = mapping;
    single_words.segments = false;
    EqualKeys<Tables> units;
    add_words(units, request, plan, single_words, lanes, offset);
    result.broadcast_words = words_way(units, single_words, mapping.banks).broadcast_words;
  }
  return result;
}

/// Do two active lanes write one same byte?
LANESCOPE_HD constexpr bool writes_meet(const Request& request, uint64_t active, int width) {
  if (active == 0) return false;
  // Ascending or descending lanes, the usual case, cannot meet when each is a width away from the last one.
  const uint64_t step = static_cast<uint64_t>(width);
  bool ascending = true;
  bool descending = true;
  uint64_t last = request.address[lowest_bit(active)];
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active & (active - 1); left != 0 && (ascending || descending); left &= left - 1) {
    const uint64_t address = request.address[lowest_bit(left)];
    ascending = ascending && address >= last + step;
    descending = descending && address + step <= last;
    last = address;
  }
  if (ascending || descending) return false;
  if (all_aligned(request, active, width)) {
    EqualKeys<SmallTables> items;
    LANESCOPE_KEEP_LOOP
    for (uint64_t left = active; left != 0; left &= left - 1) items.add(request.address[lowest_bit(left)]);
    return items.distinct() != items.count;
  }
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const uint64_t a = request.address[lowest_bit(left)];
    LANESCOPE_KEEP_LOOP
    for (uint64_t others = left & (left - 1); others != 0; others &= others - 1) {
      const uint64_t b = request.address[lowest_bit(others)];
      if (a < b + step && b < a + step) return true;
    }
  }
  return false;
}

/// The profiler's software estimate for cp.async.cg, as far as it shows in the measured rows (74
/// of 76): the first lane to write a 16-byte unit counts; lanes are served together that share the
/// destination's and the source's 128-byte line (lane l reading the l-th unit of an aligned array), the
/// halves of the sectors they move between, and bit 1 of unit xor lane; lower to lower and upper to upper
/// half go together where they fill one sector.
LANESCOPE_HD constexpr int estimate_bypass(const Request& request, uint64_t active) {
  EqualKeys<SmallTables> units;
  int lane_of_item[max_lanes + 1] = {};
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const int lane = lowest_bit(left);
    units.add(request.address[lane] / 16);
    lane_of_item[units.count] = lane;
  }
  EqualKeys<SmallTables> classes;
  EqualKeys<SmallTables> joined;
  uint64_t last_unit = 0;  // of the last lane that counts
  int last_lane = -2;
  LANESCOPE_KEEP_LOOP
  for (int item = 1; item <= units.count; ++item) {
    if (units.earlier(item) != 0) continue;
    const uint64_t unit = units.key[item];
    const uint64_t lane = static_cast<uint64_t>(lane_of_item[item]);
    const uint64_t lines = unit / 8 * 8 + lane / 8;
    classes.add(lines * 8 + (lane & 1) * 4 + (unit & 1) * 2 + ((unit ^ lane) >> 1 & 1));
    if (lane % 2 == 1 && last_lane + 1 == lane_of_item[item] && unit % 2 == 1 && last_unit + 1 == unit)
      joined.add(lines * 2 + ((unit ^ lane) >> 1 & 1));
    last_unit = unit;
    last_lane = lane_of_item[item];
  }
  return classes.distinct() - joined.distinct();
}

LANESCOPE_HD constexpr Evidence evidence_of(const Arch& arch, const Request& request, const Plan& plan) {
  Evidence evidence = less_sure(plan.evidence, arch.broadcast_evidence);
  if (arch.segment_words != 0 || arch.split_wide || arch.subword_conflict || plan.extra != 0)
    evidence = less_sure(evidence, arch.special_evidence);
  if (request.op == Op::load && arch.pair_rule && request.width >= 8)
    evidence = less_sure(evidence, arch.pair_evidence);
  if (is_atomic(request.op))
    evidence = less_sure(evidence, request.width >= 4 ? arch.atomic_evidence : Evidence::assumed);
  if (is_copy(request.op)) evidence = less_sure(evidence, arch.async_evidence);
  return evidence;
}

template <class Tables>
LANESCOPE_HD constexpr void add_phases(SharedCost& cost, const Request& request, const Plan& plan,
                                       const Mapping& mapping, int part_bytes) {
  LANESCOPE_KEEP_LOOP
  for (int part = 0; part < plan.parts; ++part) {
    PhaseCursor cursor;
    LANESCOPE_KEEP_LOOP
    while (cursor.next(plan)) {
      const uint64_t lanes = cursor.lanes & plan.active;
      if (lanes == 0) continue;
      const uint64_t offset = static_cast<uint64_t>(part) * static_cast<uint64_t>(part_bytes);
      const PhaseCount count = count_phase<Tables>(request, plan, mapping, lanes, offset);
      const int way = count.way + plan.extra;
      ++cost.phases;
      cost.wavefronts += way;
      cost.max_way = larger(cost.max_way, way);
      cost.broadcast_words += count.broadcast_words;
    }
  }
}

LANESCOPE_HD constexpr bool fits_small_tables(const Mapping& mapping) {
  return mapping.one_key && mapping.banks <= SmallTables::banks;
}

LANESCOPE_HD constexpr bool fits_tiny_tables(const Plan& plan, const Mapping& mapping) {
  return fits_small_tables(mapping) && plan.lanes_each != 0 && plan.lanes_each <= TinyTables::keys;
}

/// One key of the mapping is exactly what one lane writes.
LANESCOPE_HD constexpr bool keys_are_items(const Plan& plan, const Mapping& mapping) {
  return plan.counting == Counting::words && plan.parts == 1 && mapping.one_key && !mapping.segments &&
         plan.width == 1 << mapping.key_shift;
}

}  // namespace detail

namespace detail {

/// What every access but an update loop costs.
LANESCOPE_HD constexpr SharedCost access_cost(const Arch& arch, const Request& request) {
  const detail::Plan plan = detail::make_plan(arch, request);
  const detail::Mapping mapping = detail::make_mapping(arch, request, plan);
  SharedCost cost;
  if (detail::fits_tiny_tables(plan, mapping))
    detail::add_phases<detail::TinyTables>(cost, request, plan, mapping, arch.bank_bytes);
  else if (detail::fits_small_tables(mapping))
    detail::add_phases<detail::SmallTables>(cost, request, plan, mapping, arch.bank_bytes);
  else
    detail::add_phases<detail::LargeTables>(cost, request, plan, mapping, arch.bank_bytes);
  cost.ideal = cost.phases;
  if (request.op == Op::store || is_copy(request.op) || request.op == Op::stmatrix) {
    const int width = detail::is_matrix(request.op) ? 16 : request.width;
    // In a single phase the count of the words has already seen who meets whom.
    cost.write_race = cost.phases == 1 && detail::keys_are_items(plan, mapping)
                          ? cost.broadcast_words != 0
                          : detail::writes_meet(request, plan.active, width);
  }
  // A key stands for several neighbouring words when the access is wider than a bank.
  const int words_of_key = mapping.one_key ? detail::larger(1, plan.width / arch.bank_bytes) : 1;
  cost.broadcast_words = request.op == Op::load ? cost.broadcast_words * words_of_key : 0;
  if (request.op == Op::cp_async_cg) {
    // Measured on 9.0: whatever the addresses are, the banks are kept from other accesses equally long.
    if (arch.async_evidence != Evidence::measured) {
      cost.unknown_rule = true;
      cost.estimate = detail::estimate_bypass(request, plan.active);
    }
    cost.wavefronts = cost.phases;
    cost.max_way = cost.phases != 0 ? 1 : 0;
  }
  cost.conflicts = cost.wavefronts - cost.ideal;
  if (request.op == Op::compare_and_swap) {
    cost.wavefronts *= swap_wavefronts;
    cost.ideal *= swap_wavefronts;
  }
  cost.evidence = detail::evidence_of(arch, request, plan);
  return cost;
}

/// The lanes of `active` that get through in one round of an update loop of 4 or 8 bytes: in each phase the
/// lowest lane of each bank, where nobody has got through to its word before, in an earlier phase of this
/// round. Measured on an H100.
LANESCOPE_HD constexpr uint64_t winners_of_round(const Arch& arch, const Request& request, const Plan& plan,
                                                 uint64_t active) {
  const uint64_t width = static_cast<uint64_t>(request.width);
  const uint64_t unit = static_cast<uint64_t>(larger(request.width, arch.bank_bytes));
  const uint64_t row = static_cast<uint64_t>(arch.banks) * static_cast<uint64_t>(arch.bank_bytes);
  const uint64_t units = row < unit ? 1 : row / unit;
  uint64_t winners = 0;
  PhaseCursor cursor;
  LANESCOPE_KEEP_LOOP
  while (cursor.next(plan)) {
    const uint64_t before = winners;
    uint64_t taken[LargeTables::banks / 64] = {};  // banks that have a lane
    LANESCOPE_KEEP_LOOP
    for (uint64_t left = cursor.lanes & active; left != 0; left &= left - 1) {
      const int lane = lowest_bit(left);
      const uint64_t bank = request.address[lane] / unit % units;
      const uint64_t bit = uint64_t{1} << bank % 64;
      if ((taken[bank / 64] & bit) != 0) continue;
      taken[bank / 64] |= bit;
      bool first = true;
      LANESCOPE_KEEP_LOOP
      for (uint64_t others = before; others != 0 && first; others &= others - 1)
        first = request.address[lowest_bit(others)] / width != request.address[lane] / width;
      if (first) winners |= uint64_t{1} << lane;
    }
  }
  return winners;
}

/// Phases that have a lane of `active`.
LANESCOPE_HD constexpr int phases_with(const Plan& plan, uint64_t active) {
  int phases = 0;
  PhaseCursor cursor;
  LANESCOPE_KEEP_LOOP
  while (cursor.next(plan)) phases += (cursor.lanes & active) != 0;
  return phases;
}

/// The lowest lane of `active` for each word of 4 bytes.
LANESCOPE_HD constexpr uint64_t first_of_words(const Request& request, uint64_t active) {
  uint64_t first = 0;
  LANESCOPE_KEEP_LOOP
  for (uint64_t left = active; left != 0; left &= left - 1) {
    const int lane = lowest_bit(left);
    bool is_first = true;
    LANESCOPE_KEEP_LOOP
    for (uint64_t others = first; others != 0 && is_first; others &= others - 1)
      is_first = request.address[lowest_bit(others)] / 4 != request.address[lane] / 4;
    if (is_first) first |= uint64_t{1} << lane;
  }
  return first;
}

/// What one warp's update loop costs when no other warp is at its words. Of 4 and 8 bytes
/// (`ATOMS.CAST.SPIN`): each round loads, and swaps in two wavefronts a phase, whoever meets; one lane a bank
/// gets through. Of 2 bytes: one load of the 4 bytes around, then rounds of compare-and-swap on these, in
/// which one lane a word gets through. Measured on an H100 (tests/data/truth/h100_atomics.csv).
LANESCOPE_HD constexpr SharedCost update_loop_cost(const Arch& arch, const Request& request) {
  const Plan plan = make_plan(arch, request);
  const bool narrow = request.width < 4;
  Request load = request;
  load.op = Op::load;
  Request swap = request;
  swap.op = Op::compare_and_swap;
  if (narrow) {
    load.width = swap.width = 4;
    LANESCOPE_KEEP_LOOP
    for (uint64_t left = plan.active; left != 0; left &= left - 1) {
      const int lane = lowest_bit(left);
      load.address[lane] = swap.address[lane] = request.address[lane] & ~uint64_t{3};
    }
  }
  load.mask = swap.mask = plan.active;
  SharedCost cost;
  cost.requests = 0;
  cost.loads.ideal = access_cost(arch, load).ideal;
  const SharedCost first = access_cost(arch, swap);
  cost.phases = first.phases;
  cost.ideal = cost.loads.ideal + first.ideal;
  cost.evidence = first.evidence;
  LANESCOPE_KEEP_LOOP
  for (uint64_t active = plan.active; active != 0;) {
    load.mask = swap.mask = active;
    if (cost.requests == 0 || !narrow) {
      const SharedCost loads = access_cost(arch, load);
      ++cost.loads.requests;
      cost.loads.wavefronts += loads.wavefronts;
      cost.loads.conflicts += loads.conflicts;
    }
    ++cost.requests;
    if (narrow) {
      const SharedCost swaps = access_cost(arch, swap);
      cost.wavefronts += swaps.wavefronts;
      cost.conflicts += swaps.conflicts;
    } else {
      cost.wavefronts += swap_wavefronts * plan.parts * phases_with(plan, active);
    }
    const uint64_t through =
        narrow ? first_of_words(request, active) : winners_of_round(arch, request, plan, active);
    if (through == 0) break;  // lanes that an architecture of one's own has in no phase
    active &= ~through;
  }
  cost.wavefronts += cost.loads.wavefronts;
  cost.conflicts += cost.loads.conflicts;
  cost.max_way = cost.requests;
  return cost;
}

}  // namespace detail

/// What `request` costs on `arch`. `request.width` is 1, 2, 4, 8 or 16 and `request.lanes` 32 or 64;
/// addresses may be misaligned (hardware would trap; the model counts the words that are touched).
LANESCOPE_HD constexpr SharedCost shared_cost(const Arch& arch, const Request& request) {
  return request.op == Op::update_loop ? detail::update_loop_cost(arch, request)
                                       : detail::access_cost(arch, request);
}

/// shared_cost with every phase's words, banks and lanes. Slower; for explanations.
LANESCOPE_HD constexpr SharedDetail shared_detail(const Arch& arch, const Request& request) {
  const detail::Plan plan = detail::make_plan(arch, request);
  const detail::Mapping mapping = detail::make_mapping(arch, request, plan);
  const int shift = detail::log2_floor(static_cast<uint64_t>(arch.bank_bytes));
  SharedDetail result;
  result.cost = shared_cost(arch, request);
  LANESCOPE_KEEP_LOOP
  for (int part = 0; part < plan.parts; ++part) {
    const uint64_t offset = static_cast<uint64_t>(part) * static_cast<uint64_t>(arch.bank_bytes);
    detail::PhaseCursor cursor;
    LANESCOPE_KEEP_LOOP
    while (cursor.next(plan)) {
      const uint64_t lanes = cursor.lanes & plan.active;
      const int phase = result.phase_count++;
      result.phase_lanes[phase] = lanes;
      if (lanes == 0) continue;
      result.phase_wavefronts[phase] =
          plan.extra +
          (detail::fits_small_tables(mapping)
               ? detail::count_phase<detail::SmallTables>(request, plan, mapping, lanes, offset).way
               : detail::count_phase<detail::LargeTables>(request, plan, mapping, lanes, offset).way);
      if (request.op == Op::cp_async_cg) result.phase_wavefronts[phase] = 1;
      if (request.op == Op::compare_and_swap) result.phase_wavefronts[phase] *= detail::swap_wavefronts;
      const int first_entry = result.entry_count;
      LANESCOPE_KEEP_LOOP
      for (uint64_t left = lanes; left != 0; left &= left - 1) {
        const int lane = detail::lowest_bit(left);
        const uint64_t first = request.address[lane] + offset;
        const uint64_t last = first + static_cast<uint64_t>(plan.width - 1);
        LANESCOPE_KEEP_LOOP
        for (uint64_t word = first >> shift; word <= last >> shift; ++word) {
          const int bank = static_cast<int>(word % static_cast<uint64_t>(arch.banks));
          // Insertion into the phase's sorted entries.
          int place = result.entry_count;
          LANESCOPE_KEEP_LOOP
          while (place > first_entry &&
                 (result.entry[place - 1].bank > bank ||
                  (result.entry[place - 1].bank == bank && result.entry[place - 1].word > word)))
            --place;
          const bool known = place > first_entry && result.entry[place - 1].bank == bank &&
                             result.entry[place - 1].word == word;
          if (known) {
            result.entry[place - 1].lanes |= uint64_t{1} << lane;
            continue;
          }
          LANESCOPE_KEEP_LOOP
          for (int move = result.entry_count; move > place; --move)
            result.entry[move] = result.entry[move - 1];
          result.entry[place] = BankWord{phase, bank, word, uint64_t{1} << lane};
          ++result.entry_count;
        }
      }
    }
  }
  return result;
}

/// Adding any multiple of this many bytes to the addresses of all lanes changes no number of shared_cost (but
/// the `estimate` of an unknown rule): the words move by whole banks together, on 3.x in 4-byte mode by whole
/// 64-word segments. A power of two.
LANESCOPE_HD constexpr uint32_t shared_shift_granule(const Arch& arch) {
  const int words = arch.segment_words != 0 ? arch.segment_words : 1;
  return static_cast<uint32_t>(words * arch.bank_bytes);
}

/// The same for one kind of access, the estimate included: that, and copy_cost, depend on the place in a
/// 128-byte line.
LANESCOPE_HD constexpr uint32_t shared_shift_granule(const Arch& arch, Op op) {
  const uint32_t granule = shared_shift_granule(arch);
  return op == Op::cp_async_cg && granule < 128 ? 128 : granule;
}

}  // namespace lanescope::model
