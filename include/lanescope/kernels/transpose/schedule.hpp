// Who moves what in transpose/small.cuh and transpose/strips.cuh, so that no two lanes meet in a bank.
// Without CUDA, for tests.
//
// Matrices lie in shared memory in the input's order, and move from there to a second place in the output's
// order. As lanes may take any elements, each request can ask each bank for one word at most, both where it
// loads and where it stores. As many requests as the busiest bank has accesses suffice for single elements:
// banks are the nodes of a graph with two sides, elements its edges, requests their colours (Kőnig, 1916).
// Those found here, one after the other from the banks with the most left, are 2 to 6% more on average.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <list>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace lanescope::kernels::transposing {

/// Bytes of a matrix that counts as small at most, so that a slot can name each; threads of a block.
inline constexpr unsigned small_matrix_bytes = 32760, small_threads = 256;
/// Batches of fewer bytes fit the L2 cache.
inline constexpr int64_t few_bytes = 24 << 20;
/// How many groups of so many bytes a block takes: so many bytes at least (docs/performance.md), of short
/// elements more where a long list of slots is to be read, or `gaps` between the input's lines with the rest.
constexpr unsigned groups_of_block(unsigned element, bool few, bool gaps, unsigned slots, unsigned group) {
  unsigned least = element < 4 || gaps ? 8192 : 7168;
  if (element < 4 && (gaps || (!few && slots > 320))) least = element == 1 && gaps ? 14000 : 12000;
  return (least + group - 1) / group;
}
/// What of shared memory a block may have on every chip since compute capability 8.0.
inline constexpr unsigned small_shared = 99 * 1024;

/// What a lane moves at once: `rows` words of `columns` elements are loaded, `columns` words of `rows`
/// elements are stored.
struct Move {
  unsigned rows, columns;
};

/// Slots of a schedule: as a kernel's parameters they have 4 KB or 18 KB (CUDA 12.1 and newer). A launch with
/// the longer ones takes some microseconds more.
inline constexpr unsigned usual_slots = 960, most_slots = 4608;
/// A slot is what a lane does in one request: the byte of the input where a move begins, and that of the
/// output << 16. Flags: not in the last chunk of a matrix; only loaded (with a lane that moves the same).
/// Words of a block of elements are loaded and stored in any order: the k-th load is that of row k xor the
/// lowest bits of the input's byte, which would be 0; stores likewise.
inline constexpr uint32_t slot_byte = 0x7fff, not_in_last_chunk = 0x8000, not_stored = 0x80000000;
constexpr unsigned order_bits(const Move& move) { return move.rows == move.columns ? move.rows - 1 : 0; }

/// What all blocks of a batch do alike. Bytes are counted from where the matrices of a block begin.
struct Schedule {
  unsigned matrices;             ///< of a block
  unsigned piece, last_piece;    ///< bytes of a block, of the last one, in the input's place
  unsigned in_group, out_group;  ///< bytes after which everything repeats (but for variants)
  unsigned groups;               ///< how often
  unsigned chunks;               ///< parts of a group that differ only in where they lie
  unsigned in_step, out_step;    ///< bytes from one chunk to the next
  unsigned in_pitch, out_pitch;  ///< bytes of a row of the input, of the output
  unsigned out_tile;             ///< byte of shared memory where the output's place begins
  /// Slots differ where groups begin at different bytes of a word: group g has those of variant
  /// (first matrix of the block + g) % variants; 1, 2 or 4 of them.
  unsigned variants;
  /// A variant's slots: those of moves of several elements, then those of single ones. Multiples of 32.
  struct List {
    unsigned begin, words, elements;
  } list[4];
};
template <unsigned slots>
struct ScheduleOf : Schedule {
  uint32_t slot[slots];
};

/// A schedule, and how to launch it.
struct ScheduleLaunch {
  Schedule plan;
  std::vector<uint32_t> slots;
  Move move;
  unsigned shared;
  double cost;  ///< as a division's
  /// Of strips (strip_schedule.hpp): elements of the long side, of which so many are moved alike.
  unsigned length, alike;
  /// There is none if no table of slots suffices; no such sizes are known.
  [[nodiscard]] bool found() const { return shared != 0; }
  [[nodiscard]] int64_t blocks(int64_t batch) const { return (batch + plan.matrices - 1) / plan.matrices; }
  /// What a kernel with room for so many slots is given for a batch.
  template <unsigned room>
  [[nodiscard]] ScheduleOf<room> plan_of(int64_t batch) const {
    ScheduleOf<room> result;
    static_cast<Schedule&>(result) = plan;
    std::copy(slots.begin(), slots.end(), result.slot);
    const int64_t last = batch - (blocks(batch) - 1) * plan.matrices;
    result.last_piece = static_cast<unsigned>(last) * (plan.piece / plan.matrices);
    return result;
  }
};

/// The part of a batch that slots are made for: so many matrices, and of each `rows` x `columns` elements.
/// The last chunk of a matrix has `last_rows` x `last_columns`.
struct Chunk {
  unsigned matrices, rows, columns, last_rows, last_columns;
};

/// How matrices lie in shared memory: elements from one row of the input to the next and from one matrix to
/// the next, and likewise of the output.
struct Layout {
  struct Side {
    unsigned pitch, stride;
  } in, out;
};
/// Without gaps.
constexpr Layout packed(unsigned rows, unsigned columns) {
  return {{columns, rows * columns}, {rows, rows * columns}};
}

/// Makes slots for matrices of one size. `in_shift`, `out_shift`: bytes by which the pointers are behind a
/// multiple of 4.
class Scheduler {
 public:
  Scheduler(unsigned bytes, Move move, unsigned rows, unsigned columns, unsigned in_shift, unsigned out_shift,
            const Layout& layout)
      : bytes_(bytes),
        move_(move),
        rows_(rows),
        columns_(columns),
        layout_(layout),
        order_(order_bits(move)),
        word_(std::max(bytes, 4U)),
        banks_(128 / word_),
        in_shift_(in_shift),
        out_shift_(out_shift) {}

  /// About how many slots moves and single elements need. `singly`: no other moves.
  [[nodiscard]] std::pair<unsigned, unsigned> estimate(const Chunk& chunk, unsigned variant,
                                                       bool singly) const {
    // Of each access, words in each bank: for each kind of moves, and (in the place of single elements, which
    // come last) for all moves together.
    std::array<PerAccess, kinds + 1> words{};
    std::array<unsigned, kinds + 1> moves{};
    const unsigned before = chunk.matrices - 1;
    const unsigned elements = std::max(before * layout_.in.stride + rows_ * layout_.in.pitch,
                                       before * layout_.out.stride + columns_ * layout_.out.pitch);
    const unsigned size = (elements * bytes_ + 128) / word_ + 1;
    std::vector<bool> seen(size_t{kinds + 1} * 2 * most_words * size);
    for_each(chunk, variant, singly, [&](unsigned kind, const Place& place) {
      const Banks banks = banks_of(kind == single, place, variant);
      const auto count = [&](unsigned as) {
        ++moves[as];
        for (unsigned k = 0; k < banks.loads + banks.stores; ++k)
          if (auto at = seen[(size_t{as} * 2 * most_words + k) * size + banks.word[k]]; !at) {
            at = true;
            ++words[as][as == kinds ? any_of(k) : k][banks.bank[k]];
          }
      };
      count(kind);
      if (kind != single) count(kinds);
    });
    std::array<unsigned, kinds + 1> requests{};
    const auto divide_up = [](unsigned value, unsigned unit) { return (value + unit - 1) / unit; };
    for (unsigned as = 0; as <= kinds; ++as) {
      requests[as] = divide_up(moves[as], banks_);
      for (const auto& of : words[as])
        requests[as] = std::max(
            requests[as], divide_up(*std::max_element(of.begin(), of.end()), as == kinds ? order_ + 1 : 1));
    }
    unsigned apart = 0;
    for (unsigned kind = 0; kind < single; ++kind) apart += requests[kind];
    return {whole_warps(std::min(apart, requests[kinds] + requests[kinds] / (order_ == 0 ? 8 : 4)) * banks_),
            whole_warps(requests[single] * banks_)};
  }

  /// Appends the slots of a variant. A lane for which nothing is left loads what another one of the same
  /// request does.
  Schedule::List append(std::vector<uint32_t>& slots, const Chunk& chunk, unsigned variant,
                        bool singly) const {
    std::array<std::vector<Item>, kinds> items;
    std::vector<Item> all;
    for_each(chunk, variant, singly, [&](unsigned kind, const Place& place) {
      const auto [in, out] = bytes_of(place);
      const bool rests = place.row >= chunk.last_rows || place.column >= chunk.last_columns;
      items[kind].push_back(
          {banks_of(kind == single, place, variant), in | (rests ? not_in_last_chunk : 0) | out << 16});
      if (kind != single) all.push_back(items[kind].back());
    });
    // Moves that begin at the same byte of a word behave alike, which makes full requests of regular sizes;
    // others do better together.
    std::vector<Request> apart, together = requests_of(all, order_);
    for (unsigned kind = 0; kind < single; ++kind) {
      const std::vector<Request> more = requests_of(items[kind], 0);
      apart.insert(apart.end(), more.begin(), more.end());
    }
    const auto put = [&](const std::vector<Request>& requests) {
      const size_t begin = slots.size();
      for (const Request& request : requests) {
        slots.insert(slots.end(), request.slot.begin(), request.slot.begin() + request.count);
        slots.insert(slots.end(), banks_ - request.count, slots.back() | not_stored);
      }
      if (slots.size() != begin)
        slots.insert(slots.end(), whole_warps(slots.size()) - slots.size(), slots.back() | not_stored);
      return static_cast<unsigned>(slots.size() - begin);
    };
    const auto begin = static_cast<unsigned>(slots.size());
    const unsigned words = put(apart.size() <= together.size() ? apart : together);
    return {begin, words, put(requests_of(items[single], 0))};
  }

 private:
  static constexpr unsigned most_words = 4;  ///< of a move, on one side
  struct Place {
    unsigned matrix, row, column;
  };
  /// The bank of each access of a move, loads first, and which word of shared memory it asks for.
  struct Banks {
    unsigned loads, stores;
    std::array<uint8_t, 2 * most_words> bank;
    std::array<uint16_t, 2 * most_words> word;
  };
  struct Item {
    Banks banks;
    uint32_t slot;
  };
  struct Request {
    unsigned count = 0;
    std::array<uint32_t, 32> slot{};
  };
  /// A number for each access of a move and each bank.
  using PerAccess = std::array<std::array<unsigned, 32>, 2 * most_words>;
  /// The first of the accesses in which a move may ask for what it asks for in access `k`.
  [[nodiscard]] unsigned any_of(unsigned k) const { return k & ~order_; }
  /// Moves by the byte of a word where their other side begins, and single elements beside moves.
  static constexpr unsigned single = 4, kinds = 5;

  static unsigned whole_warps(size_t slots) { return static_cast<unsigned>((slots + 31) / 32 * 32); }

  [[nodiscard]] std::pair<unsigned, unsigned> bytes_of(const Place& place) const {
    return {(place.matrix * layout_.in.stride + place.row * layout_.in.pitch + place.column) * bytes_,
            (place.matrix * layout_.out.stride + place.column * layout_.out.pitch + place.row) * bytes_};
  }
  /// By how many bytes a variant's matrices and pointers are behind a multiple of 4.
  [[nodiscard]] std::pair<unsigned, unsigned> shifts_of(unsigned variant) const {
    return {variant * layout_.in.stride * bytes_ % 128 + in_shift_,
            variant * layout_.out.stride * bytes_ % 128 + out_shift_};
  }

  [[nodiscard]] Banks banks_of(bool alone, const Place& place, unsigned variant) const {
    const Move move = alone ? Move{1, 1} : move_;
    const auto [in, out] = bytes_of(place);
    const auto [in_shift, out_shift] = shifts_of(variant);
    Banks banks{move.rows, move.columns, {}, {}};
    const auto set = [&](unsigned k, unsigned byte) {
      const unsigned word = byte / word_;
      banks.word[k] = static_cast<uint16_t>(word);
      banks.bank[k] = static_cast<uint8_t>(word % banks_);
    };
    for (unsigned k = 0; k < move.rows; ++k) set(k, in + in_shift + k * layout_.in.pitch * bytes_);
    for (unsigned k = 0; k < move.columns; ++k)
      set(move.rows + k, out + out_shift + k * layout_.out.pitch * bytes_);
    return banks;
  }

  /// An order, `most` at most, in which the `count` accesses of a move from `first` on ask no bank for a
  /// second word; more than that if there is none. `asked`: each bank for which word + 1.
  [[nodiscard]] unsigned free_order(const PerAccess& asked, const Banks& banks, unsigned first,
                                    unsigned count, unsigned most) const {
    for (unsigned order = 0; order <= most; ++order) {
      unsigned k = 0;
      for (; k < count; ++k) {
        const unsigned of = first + (k ^ order), before = asked[first + k][banks.bank[of]];
        if (before != 0 && before != banks.word[of] + 1U) break;
      }
      if (k == count) return order;
    }
    return most + 1;
  }

  /// One request after the other: for each bank, from those where the most is left to load, the move whose
  /// other banks have the most left.
  [[nodiscard]] std::vector<Request> requests_of(const std::vector<Item>& items, unsigned most_order) const {
    std::array<std::vector<const Item*>, 32> from;
    PerAccess left{};
    for (const Item& item : items) {
      from[item.banks.bank[0]].push_back(&item);
      for (unsigned k = 0; k < item.banks.loads + item.banks.stores; ++k)
        ++left[any_of(k)][item.banks.bank[k]];
    }
    std::vector<Request> requests;
    for (size_t done = 0; done < items.size(); done += requests.back().count) {
      Request& request = requests.emplace_back();
      PerAccess asked{};  // words + 1
      std::array<unsigned, 32> order{};
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(),
                       [&](unsigned a, unsigned b) { return from[a].size() > from[b].size(); });
      // Again, because lanes may ask for the same word, and for a block's words in any order.
      for (unsigned before = banks_; before != request.count && request.count < banks_;) {
        before = request.count;
        for (const unsigned bank : order) {
          if (request.count == banks_) break;
          size_t best = from[bank].size();
          unsigned most = 0, in = 0, out = 0;
          for (size_t i = 0; i < from[bank].size(); ++i) {
            const Banks& banks = from[bank][i]->banks;
            const unsigned loads = free_order(asked, banks, 0, banks.loads, most_order);
            if (loads > most_order) continue;
            const unsigned stores = free_order(asked, banks, banks.loads, banks.stores, most_order);
            if (stores > most_order) continue;
            unsigned urgent = 1;
            for (unsigned k = 1; k < banks.loads + banks.stores; ++k) {
              const unsigned there = left[any_of(k)][banks.bank[k]];
              urgent += there * there;
            }
            if (urgent > most) most = urgent, best = i, in = loads, out = stores;
          }
          if (most == 0) continue;
          const Item& item = *from[bank][best];
          const Banks& banks = item.banks;
          from[bank].erase(from[bank].begin() + static_cast<std::ptrdiff_t>(best));
          request.slot[request.count++] = item.slot | in | out << 16;
          for (unsigned k = 0; k < banks.loads + banks.stores; ++k) {
            const unsigned of = k ^ (k < banks.loads ? in : out);
            asked[k][banks.bank[of]] = banks.word[of] + 1U;
            --left[any_of(k)][banks.bank[k]];
          }
        }
      }
    }
    return requests;
  }

  /// Calls what(kind, place) for each move: whole blocks; or words along rows or columns, wherever one
  /// begins, and single elements before and behind them.
  template <class What>
  void for_each(const Chunk& chunk, unsigned variant, bool singly, const What& what) const {
    const unsigned length = std::max(move_.rows, move_.columns);
    const bool blocks = move_.rows == move_.columns, across = move_.columns > 1;
    const unsigned along = across ? chunk.columns : chunk.rows, lines = across ? chunk.rows : chunk.columns;
    const unsigned last = across ? chunk.last_columns : chunk.last_rows;
    const auto [in_shift, out_shift] = shifts_of(variant);
    for (unsigned matrix = 0; matrix < chunk.matrices; ++matrix)
      for (unsigned line = 0; line < lines; line += blocks ? length : 1)
        for (unsigned i = 0; i < along;) {
          const Place place{matrix, across ? line : i, across ? i : line};
          const auto [in, out] = bytes_of(place);
          const unsigned load = in + in_shift, store = out + out_shift;
          const bool begins = (across ? load : store) % word_ == 0;
          const bool alone = !blocks && (singly || !begins || i + length > (i < last ? last : along));
          what(alone ? single : (across ? store : load) % 4, place);
          i += alone ? 1 : length;
        }
  }

  unsigned bytes_;
  Move move_;
  unsigned rows_, columns_;
  Layout layout_;
  unsigned order_, word_, banks_, in_shift_, out_shift_;
};

/// What slots cost, in accesses of a lane: each, whenever it is done, so much beside its accesses; to load
/// one for a block; and for an element, that there are more than the smaller kernel has room for. From the
/// times of 2,048 batches by two schedules each (docs/performance.md).
inline constexpr double cost_beside = 2;
constexpr double cost_to_load(unsigned element) { return element == 2 ? 45 : 14; }
constexpr double cost_of_room(unsigned element) { return element == 2 ? 3 : 0.25; }
/// Lists of so many slots: all threads wait for a short list.
inline double cost_of(const Move& move, unsigned words, unsigned elements) {
  const auto busy = [](unsigned slots) { return slots == 0 ? 0U : std::max(slots, small_threads); };
  return busy(words) * (cost_beside + move.rows + move.columns) + busy(elements) * (cost_beside + 2);
}

/// How a schedule divides a batch.
struct Division {
  Chunk chunk{};
  unsigned variants = 1, chunks = 1;
  bool singly = false;  ///< all elements are moved by themselves
  double cost = 0;      ///< by estimate
};

/// What a schedule of small matrices is to move, and lists of slots for it.
struct SmallMatrices {
  unsigned bytes;
  Move move;
  unsigned rows, columns;
  Layout layout;
  bool few;

  /// Bytes from one matrix to the next, on the side where that is more.
  [[nodiscard]] unsigned stride() const { return std::max(layout.in.stride, layout.out.stride) * bytes; }
  /// Groups of a block (groups_of_block), of so many matrices each: such that blocks begin at vectors, where
  /// that takes few more.
  [[nodiscard]] unsigned groups_with(unsigned slots, unsigned matrices) const {
    const unsigned both = layout.in.stride | layout.out.stride;
    const bool gaps = layout.in.stride != rows * columns;
    const unsigned groups = groups_of_block(bytes, few, gaps, slots, matrices * stride());
    const unsigned vectors = 16 / std::gcd(matrices * both * bytes, 16U);
    const unsigned whole = (groups + vectors - 1) / vectors * vectors;
    return (gaps ? 4 * groups >= 3 * whole : 2 * groups > vectors) ? whole : groups;
  }

  /// What a division costs for an element, in accesses of a lane, whose variants have these lists. Each block
  /// loads the slots once, and waits for them. `room`: how many the smaller kernel takes.
  [[nodiscard]] double cost_of(const Division& of, const Schedule::List* lists, unsigned room) const {
    unsigned slots = 0;
    double cost = 0;
    for (unsigned v = 0; v < of.variants; ++v) {
      slots += lists[v].words + lists[v].elements;
      cost += transposing::cost_of(move, lists[v].words, lists[v].elements);
    }
    const double size = double(rows) * columns, group = of.chunk.matrices * size;
    const double piece = groups_with(slots, of.chunk.matrices) * group;
    cost *= of.chunks / (of.variants * group);
    cost += cost_to_load(bytes) * slots * std::min(1.0, piece / (of.variants * size)) / piece;
    return slots > room ? cost + cost_of_room(bytes) : cost;
  }
};

/// Small matrices together, large ones in chunks along a side, which begin at whole words; where not even as
/// many matrices fit as begin alike, variants. Those of at most so many slots, by estimate, in the order of
/// what they cost.
inline std::vector<Division> divisions_of(const Scheduler& scheduler, const SmallMatrices& of,
                                          unsigned most) {
  const unsigned bytes = of.bytes, rows = of.rows, columns = of.columns, size = rows * columns;
  const Move move = of.move;
  std::vector<Division> found;
  double least = 0;
  const auto take = [&](const Chunk& chunk, unsigned variants, unsigned chunks, bool singly) {
    // At the least as many slots as moves, and their accesses: most divisions are left out by that.
    const Move moved = singly ? Move{1, 1} : move;
    const double moves = chunk.matrices * chunk.rows * double(chunk.columns) / (moved.rows * moved.columns);
    const double share = chunks / (double(chunk.matrices) * size);
    if (moves * variants > most ||
        (least != 0 && moves * (cost_beside + moved.rows + moved.columns) * share > least))
      return;
    Schedule::List lists[4]{};
    unsigned slots = 0;
    for (unsigned v = 0; v < variants; ++v) {
      std::tie(lists[v].words, lists[v].elements) = scheduler.estimate(chunk, v, singly);
      slots += lists[v].words + lists[v].elements;
      if (slots > most) return;
    }
    Division division{chunk, variants, chunks, singly, 0};
    division.cost = of.cost_of(division, lists, usual_slots * 9 / 10);
    least = least == 0 ? division.cost : std::min(least, division.cost);
    found.push_back(division);
  };
  // Matrices until one begins at a word again, and whether a block has room for as many.
  const unsigned matrix = of.stride();
  const unsigned alike = 4 / std::gcd((of.layout.in.stride | of.layout.out.stride) * bytes, 4U);
  const bool together = alike * matrix <= small_matrix_bytes;
  const unsigned unit = std::max(4 / bytes, 1U);
  for (const bool singly : {false, true}) {
    if (singly && move.rows == move.columns) break;
    for (unsigned k = 1; k == 1 ? together : k * alike * matrix <= 8192;
         k += std::max(std::bit_floor(k) / 2, 1U))
      take({k * alike, rows, columns, rows, columns}, 1, 1, singly);
    if (size < 400) continue;
    const unsigned matrices = together ? alike : 1, variants = together ? 1 : alike;
    for (const bool down : {true, false}) {
      const unsigned side = down ? rows : columns;
      for (unsigned chunks = together ? 2 : 1; chunks <= 64; chunks += (chunks + 2) / 3) {
        const unsigned length = chunks == 1 ? side : ((side + chunks - 1) / chunks + unit - 1) / unit * unit;
        const unsigned all = (side + length - 1) / length, last = side - (all - 1) * length;
        if (chunks > 1 && (all == 1 || matrices * length * (size / side) < most / 16)) break;
        // Of wide elements lanes of a request must not rest: those left would be a conflict of their own, in
        // one of several phases.
        if (bytes > 4 && last != length) continue;
        take(down ? Chunk{matrices, length, columns, last, columns}
                  : Chunk{matrices, rows, length, rows, last},
             variants, all, singly);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Division& a, const Division& b) { return a.cost < b.cost; });
  return found;
}

/// A schedule for matrices of rows x columns elements of `bytes` bytes, which lie at most small_matrix_bytes
/// apart, moved as `move` says: {1, 1}; as many elements as a word of 4 bytes has on one side, {1, n} or
/// {n, 1}; or on both, if lines are whole words, and pointers and the layout's distances multiples of 4
/// bytes.
inline ScheduleLaunch schedule(unsigned bytes, Move move, unsigned rows, unsigned columns,
                               const Layout& layout, uintptr_t in, uintptr_t out, bool few = false) {
  const Scheduler scheduler(bytes, move, rows, columns, static_cast<unsigned>(in % 4),
                            static_cast<unsigned>(out % 4), layout);
  const SmallMatrices of{bytes, move, rows, columns, layout, few};
  ScheduleLaunch launch{};
  launch.move = move;
  Schedule& plan = launch.plan;
  std::vector<uint32_t>& slots = launch.slots;
  // Of the divisions that are best by estimate the one that turns out best. There may be more slots than
  // estimated.
  constexpr int most_tries = 4;
  Division division;
  std::vector<uint32_t> found;
  for (unsigned most = most_slots * 9 / 10; most > 500 && slots.empty(); most = most * 2 / 3) {
    int tries = 0;
    for (const Division& next : divisions_of(scheduler, of, most)) {
      if (tries++ == most_tries || (!slots.empty() && next.cost >= launch.cost)) break;
      Schedule::List lists[4]{};
      found.clear();
      for (unsigned v = 0; v < next.variants; ++v)
        lists[v] = scheduler.append(found, next.chunk, v, next.singly);
      const double cost = of.cost_of(next, lists, usual_slots);
      if (found.size() > most_slots || (!slots.empty() && cost >= launch.cost)) continue;
      division = next;
      launch.cost = cost;
      std::copy(lists, lists + 4, plan.list);
      slots.swap(found);
    }
  }
  if (slots.empty()) return launch;

  const Chunk& chunk = division.chunk;
  plan.in_pitch = layout.in.pitch * bytes;
  plan.out_pitch = layout.out.pitch * bytes;
  plan.variants = division.variants;
  plan.chunks = division.chunks;
  const bool down = chunk.rows != rows;
  plan.in_step = down ? chunk.rows * plan.in_pitch : chunk.columns * bytes;
  plan.out_step = down ? chunk.rows * bytes : chunk.columns * plan.out_pitch;
  plan.in_group = chunk.matrices * layout.in.stride * bytes;
  plan.out_group = chunk.matrices * layout.out.stride * bytes;
  plan.groups = of.groups_with(static_cast<unsigned>(slots.size()), chunk.matrices);
  plan.matrices = plan.groups * chunk.matrices;
  plan.piece = plan.groups * plan.in_group;
  const auto whole_vectors = [&](unsigned group) { return (plan.groups * group + 15) / 16 * 16; };
  plan.out_tile = whole_vectors(plan.in_group) + 32;
  launch.shared = plan.out_tile + whole_vectors(plan.out_group) + 32;
  return launch;
}

/// The one of schedule_with(move) that costs least. `whole`: rows and columns are whole words.
template <class Make>
ScheduleLaunch best_moves(unsigned bytes, bool whole, const Make& schedule_with) {
  const unsigned pack = std::max(4 / bytes, 1U);
  ScheduleLaunch best = schedule_with(Move{1, pack});
  for (const Move move : {Move{pack, 1}, Move{pack, pack}}) {
    if (pack == 1 || (move.columns == pack && !whole)) break;
    const ScheduleLaunch other = schedule_with(move);
    if (other.found() && (!best.found() || other.cost < best.cost)) best = other;
  }
  return best;
}

/// What a schedule is for.
using ScheduleKey = std::array<uintptr_t, 10>;

/// make(), or what it returned before: those that a thread asked for last are kept, for it takes up to some
/// milliseconds to make one. Odd sizes may need several, by where pointers and matrices begin.
inline const ScheduleLaunch& kept_schedule(const ScheduleKey& key,
                                           const std::function<ScheduleLaunch()>& make) {
  struct Entry {
    ScheduleKey key;
    ScheduleLaunch launch;
  };
  constexpr size_t most = 32;
  static thread_local std::list<Entry> entries;  // the one asked for last first
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries.end()) {
    entries.splice(entries.begin(), entries, found);
  } else {
    entries.push_front({key, make()});
    if (entries.size() > most) entries.pop_back();
  }
  return entries.front().launch;
}

/// The schedule with the best moves for small matrices.
inline const ScheduleLaunch& schedule_of(unsigned bytes, unsigned rows, unsigned columns,
                                         const Layout& layout, uintptr_t in, uintptr_t out,
                                         bool few = false) {
  const Layout::Side &from = layout.in, &to = layout.out;
  const ScheduleKey key{bytes,      rows,        columns,  in % 4,    out % 4,
                        from.pitch, from.stride, to.pitch, to.stride, few};
  return kept_schedule(key, [&] {
    const unsigned pack = std::max(4 / bytes, 1U);
    const bool whole =
        (rows | columns | from.pitch | from.stride | to.pitch | to.stride) % pack == 0 && (in | out) % 4 == 0;
    return best_moves(bytes, whole,
                      [&](Move move) { return schedule(bytes, move, rows, columns, layout, in, out, few); });
  });
}

}  // namespace lanescope::kernels::transposing
