// Who moves what in transpose/strips.cuh: as for small matrices (schedule.hpp), with a strip of a long, thin
// matrix in place of a matrix. Without CUDA, for tests.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "lanescope/kernels/transpose/order.hpp"
#include "lanescope/kernels/transpose/schedule.hpp"

namespace lanescope::kernels::transposing {

/// Strips of long, thin matrices (transpose/strips.cuh): the input's rows are short (`tall`) or its columns,
/// of `thin` elements; long lines begin `stride` bytes after each other, modulo 32. `anywhere`: not all of
/// them begin where vectors do (of 16 bytes, which are read), or sectors (of 32, which are written). `along`:
/// their elements, where a matrix has a few strips only; 0: it has many.
struct StripShape {
  bool tall;
  unsigned thin, stride;
  bool anywhere;
  unsigned along = 0;
};

/// The shape where long lines have `along` elements and begin `leading` elements after each other; `begins`:
/// the bitwise or of where they begin.
inline StripShape strip_shape(unsigned bytes, bool tall, int64_t thin, int64_t along, int64_t leading,
                              uintptr_t begins) {
  constexpr int64_t few = 128 << 10;
  return {tall, static_cast<unsigned>(thin), static_cast<unsigned>(leading * bytes % 32),
          begins % (tall ? 32 : 16) != 0, thin * along * bytes < few ? static_cast<unsigned>(along) : 0};
}

/// So many elements at most; fewer where a list of slots would be too long.
inline constexpr unsigned most_thin = 256;

/// Lines of memory that a strip has of each long line, about, as is fastest (docs/performance.md).
constexpr unsigned strip_lines(unsigned bytes, const StripShape& shape) {
  const unsigned strip = shape.thin >= 8 ? 24576 : shape.tall || bytes == 1 ? 16384 : 12288;
  const unsigned lines = std::max((strip / (shape.thin * bytes) + 64 / bytes) / (128 / bytes), 1U);
  // As many threads as a power of two copy them.
  const bool rounds = bytes > 1 && lines < 8 && (shape.tall || !shape.anywhere);
  return rounds ? std::bit_floor(lines) : lines;
}
/// Elements of a long line that strips have in common with the next one.
constexpr unsigned strip_overlap(unsigned bytes, const StripShape& shape) {
  return shape.tall && shape.anywhere ? 32 / bytes : 0;
}
/// Elements of the long side in a strip with so many lines of memory of each long line, or the next best.
/// Where long lines begin anywhere, what strips have in common comes on top where it is much; and two lines
/// of memory that are read are a vector less, or they took a second round of the threads. A few strips are
/// alike long, or the last one were mostly empty.
constexpr std::array<unsigned, 2> strip_lengths(unsigned bytes, const StripShape& shape, unsigned lines) {
  const unsigned length = lines * (128 / bytes), overlap = strip_overlap(bytes, shape), vector = 16 / bytes;
  if (shape.along > length) {
    const auto part = [&](unsigned strips) {
      const unsigned sector = 32 / bytes, moved = shape.along - overlap;
      return ((moved + strips - 1) / strips + sector - 1) / sector * sector + overlap;
    };
    const unsigned strips = (shape.along - overlap + length / 2) / length;
    return {part(strips) <= shape.along ? part(strips) : part(strips + 1), length};
  }
  if (overlap != 0 && lines < 8) return {length + overlap, length};
  if (shape.anywhere && !shape.tall && lines == 2 && bytes <= 2) return {length - vector, length};
  return {length, length};
}
/// Shared memory of a strip for which there is room for four on a multiprocessor, or nearly so where that
/// matters less.
constexpr unsigned strip_shared(unsigned bytes) { return bytes == 1 ? 57344 : 61440; }

/// By how much slower moves may be if long lines of the input then lie in shared memory with the halves of
/// their sectors together: past the first-level cache, sectors that are split are asked for twice.
constexpr double split_cost(unsigned bytes) { return bytes == 1 ? 1.06 : 1.25; }

/// A schedule for strips of `length` elements of the long side, moved as `move` says, as in schedule().
inline ScheduleLaunch strip_schedule(unsigned bytes, Move move, const StripShape& shape, unsigned length,
                                     uintptr_t in, uintptr_t out) {
  const bool tall = shape.tall;
  const unsigned thin = shape.thin, line = 128 / bytes;
  const unsigned rows = tall ? length : thin, columns = tall ? thin : length;
  struct Candidate {
    unsigned pitch, alike;
    bool singly, split;
    double cost;
    Layout layout;
    Chunk chunk;
  };
  const auto scheduler = [&](const Candidate& c) {
    return Scheduler(bytes, move, rows, columns, static_cast<unsigned>(in % 4),
                     static_cast<unsigned>(out % 4), c.layout);
  };
  const auto cost_of_element = [&](const Candidate& c, unsigned words, unsigned elements) {
    const double cost = cost_of(move, words, elements) / (c.alike * double(thin)) +
                        cost_to_load(bytes) * (words + elements) / (length * double(thin));
    return c.split ? split_cost(bytes) * cost : cost;
  };
  // Long lines may lie apart in shared memory as spreads them over banks, those of the input without a vector
  // in common: the best of each pitch, with so many slots at most by estimate.
  const unsigned apart = tall ? 0 : 32 / bytes;
  const auto candidates = [&](unsigned most) {
    std::vector<Candidate> found;
    for (unsigned pitch = length + apart; pitch < length + apart + line; ++pitch) {
      if (pitch * bytes % 16 != shape.stride % 16 || thin * pitch * bytes > slot_byte) continue;
      Candidate best{};
      for (unsigned alike = 16 / bytes; alike <= length; alike += 16 / bytes)
        for (const bool singly : {false, true}) {
          if (length % alike != 0 || (singly && move.rows == move.columns)) break;
          if (alike * thin / (move.rows * move.columns) > most) break;
          Candidate c{};  // member by member: nvcc 13.0 crashes on one initialiser with both choices
          c.pitch = pitch;
          c.alike = alike;
          c.singly = singly;
          c.split = !tall && pitch * bytes % 32 != shape.stride;
          c.layout = tall ? Layout{{thin, 0}, {pitch, 0}} : Layout{{pitch, 0}, {thin, 0}};
          c.chunk = tall ? Chunk{1, alike, thin, alike, thin} : Chunk{1, thin, alike, thin, alike};
          const auto [words, elements] = scheduler(c).estimate(c.chunk, 0, singly);
          c.cost = cost_of_element(c, words, elements);
          if (words + elements <= most && (best.cost == 0 || c.cost < 0.99 * best.cost)) best = c;
        }
      if (best.cost != 0) found.push_back(best);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
    return found;
  };

  ScheduleLaunch launch{};
  launch.move = move;
  Schedule& plan = launch.plan;
  std::vector<uint32_t> slots;
  // There may be more slots than estimated.
  for (unsigned most = usual_slots; most > 200 && !launch.found(); most = most * 2 / 3) {
    for (const Candidate& c : candidates(most)) {
      slots.clear();
      const Schedule::List list = scheduler(c).append(slots, c.chunk, 0, c.singly);
      const double cost = cost_of_element(c, list.words, list.elements);
      if (slots.size() > usual_slots || (launch.found() && cost >= launch.cost)) continue;
      launch.slots = slots;
      launch.cost = cost;
      launch.length = length;
      launch.alike = c.alike;
      plan.list[0] = list;
      plan.matrices = plan.variants = plan.chunks = 1;
      plan.in_step = c.alike * bytes * (tall ? thin : 1);
      plan.out_step = c.alike * bytes * (tall ? 1 : thin);
      plan.in_pitch = c.layout.in.pitch * bytes;
      plan.out_pitch = c.layout.out.pitch * bytes;
      plan.out_tile = (rows * plan.in_pitch + 15) / 16 * 16 + 32;
      launch.shared = plan.out_tile + (columns * plan.out_pitch + 15) / 16 * 16 + 16;
      if (cost < 1.05 * c.cost) break;
    }
  }
  return launch;
}

/// How a strip lies on one side: `lines` pieces of memory, of which each element of the long side has so many
/// bytes. Lines begin `stride` bytes after each other outside, `pitch` bytes in shared memory: as many, but
/// for a multiple of 16, and without a vector in common.
struct StripSide {
  int64_t stride;
  unsigned lines, element, pitch;
  /// That copy a line: a power of two, eight at least, which load 128 bytes without conflict.
  unsigned threads;
};
/// `length`: elements of the long side; `of_block` and `of_chunk`: those of a strip, of what is moved alike.
struct Strips {
  StripSide in, out;
  int64_t length;
  int64_t whole;      ///< bytes of an input without gaps; 0: it has gaps
  Divisor of_matrix;  ///< strips
  unsigned of_block, of_chunk;
  unsigned chunks;  ///< of a strip
  unsigned step;    ///< elements from one strip to the next: all, or a sector's less (strips_of)
  bool streaming;   ///< the output is written as what is not needed soon: where all lies in the L2 cache
};

/// Which part of the bytes that strips move is moved once: where long lines begin anywhere, strips write some
/// of them twice, or read some of another strip.
inline double moved_once(unsigned bytes, const StripShape& shape, unsigned length) {
  if (!shape.anywhere) return 1;
  if (shape.tall) return 1 - static_cast<double>(strip_overlap(bytes, shape)) / length;
  return 1 - 16.0 / (length * bytes + 16);
}

/// How strips of matrices of so many rows and columns lie, by a schedule for them. Leading dimensions are in
/// elements. If long lines of the output begin inside sectors of 32 bytes, each strip writes whole ones,
/// those that begin in it, and has the elements of the last one in common with the next strip.
inline Strips strips_of(unsigned bytes, const StripShape& shape, const ScheduleLaunch& launch, int64_t rows,
                        int64_t columns, int64_t batch, int64_t in_leading, int64_t out_leading) {
  const auto side = [&](bool contiguous, int64_t leading, unsigned pitch) {
    StripSide result{};
    result.stride = leading * bytes;
    result.lines = contiguous ? 1 : shape.thin;
    result.element = (contiguous ? shape.thin : 1) * bytes;
    result.pitch = pitch;
    return result;
  };
  const unsigned overlap = strip_overlap(bytes, shape);
  // Lines that more threads read at once change the memory's rows less often.
  const auto threads = [&](unsigned all, const StripSide& of, unsigned least) {
    const unsigned vectors = (launch.length * of.element + 30) / 16;
    const unsigned most = std::clamp(std::bit_floor(vectors), 8U, small_threads);
    return std::min(std::max(std::bit_floor(all / of.lines), least), most);
  };
  Strips strips{};
  strips.in = side(shape.tall, in_leading, launch.plan.in_pitch);
  strips.out = side(!shape.tall, out_leading, launch.plan.out_pitch);
  strips.in.threads = threads(strips.in.lines < 16 ? small_threads : 4 * small_threads, strips.in, 16);
  strips.out.threads = threads(small_threads, strips.out, shape.anywhere ? 8 : 16);
  strips.length = shape.tall ? rows : columns;
  strips.whole = in_leading == columns ? rows * columns * bytes : 0;
  strips.of_block = launch.length;
  strips.step = launch.length - overlap;
  strips.of_matrix =
      divisor(static_cast<unsigned>((strips.length - overlap + strips.step - 1) / strips.step));
  strips.of_chunk = launch.alike;
  strips.chunks = launch.length / launch.alike;
  strips.streaming = rows * columns <= few_bytes / bytes / batch;
  return strips;
}

/// The one of schedule_with(length) for the best length that has one; with less shared memory if possible.
template <class Make>
ScheduleLaunch best_length(unsigned bytes, const StripShape& shape, const Make& schedule_with) {
  ScheduleLaunch found{};
  for (unsigned lines = strip_lines(bytes, shape), length = 0; lines > 0; lines -= std::max(lines / 4, 1U))
    for (const unsigned next : strip_lengths(bytes, shape, lines)) {
      if (next == length) continue;
      length = next;
      ScheduleLaunch launch = schedule_with(length);
      if (!launch.found()) continue;
      found = std::move(launch);
      if (found.shared <= strip_shared(bytes)) return found;
    }
  return found;
}

/// The schedule with the best moves for strips.
inline const ScheduleLaunch& strip_schedule_of(unsigned bytes, const StripShape& shape, uintptr_t in,
                                               uintptr_t out) {
  // No small matrix has 0 rows or columns.
  const ScheduleKey key{bytes,
                        shape.tall ? 0 : shape.thin,
                        shape.tall ? shape.thin : 0,
                        in % 4,
                        out % 4,
                        shape.stride + (shape.anywhere ? 32 : 0) + 64 * uintptr_t{shape.along}};
  return kept_schedule(key, [&] {
    const bool whole = shape.thin * bytes % 4 == 0 && shape.stride % 4 == 0 && (in | out) % 4 == 0;
    return best_length(bytes, shape, [&](unsigned length) {
      return best_moves(bytes, whole,
                        [&](Move move) { return strip_schedule(bytes, move, shape, length, in, out); });
    });
  });
}

}  // namespace lanescope::kernels::transposing
