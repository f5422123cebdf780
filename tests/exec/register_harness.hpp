// Runs single register instructions on a warp made by hand, on every instruction set this host has, and
// compares each lane with a slow reference: with all lanes active and with some, and with the destination
// being a source.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "exec/handlers.hpp"
#include "exec/program.hpp"
#include "exec/warp.hpp"

namespace lanescope::exec::harness {

using ptx::Mod;
using ptx::Op;
using ptx::Type;
using Bits = uint64_t;

inline float as_float(Bits x) { return std::bit_cast<float>(static_cast<uint32_t>(x)); }
inline double as_double(Bits x) { return std::bit_cast<double>(x); }
inline Bits to_bits(float x) { return std::bit_cast<uint32_t>(x); }
inline Bits to_bits(double x) { return std::bit_cast<Bits>(x); }

/// The host's rounding mode while it lives.
class RoundingMode {
 public:
  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
};

inline HandlerKey make_key(Op op, std::initializer_list<Type> types, std::initializer_list<Mod> mods = {},
                           uint8_t sources = 2) {
  HandlerKey key;
  key.op = op;
  std::copy(types.begin(), types.end(), key.types.begin());
  for (const Mod m : mods) key.modifiers.set(static_cast<size_t>(m));
  key.sources = sources;
  return key;
}

/// What one lane reads; `predicate` is the predicate source or the carry.
struct LaneInput {
  Bits a = 0, b = 0, c = 0, e = 0;
  bool predicate = false;
};
/// What it writes: the register, the predicate destination (p), the second one or the carry out (q).
struct LaneResult {
  Bits d = 0;
  bool p = false, q = false;
};
using Reference = std::function<LaneResult(const LaneInput&)>;

/// Bytes of a lane of each operand (0: not an operand), and which predicates there are.
struct Shape {
  uint32_t d = 0, a = 0, b = 0, c = 0, e = 0;
  bool p_out = false;        ///< in->d is a predicate
  bool c_predicate = false;  ///< in->c is a predicate
  bool aux_in = false, aux_out = false;
  uint64_t imm = 0;
};

class RegisterFile {
 public:
  static constexpr uint32_t d = 0, a = 512, b = 1024, c = 1536, e = 2048, p = 2560, q = 2564, source = 2568;

  RegisterFile() { bytes_.fill(std::byte{0xa5}); }
  std::byte* data() { return bytes_.data(); }
  void put(uint32_t offset, uint32_t lane_bytes, uint32_t lane, Bits value) {
    std::memcpy(bytes_.data() + offset + lane * lane_bytes, &value, std::min(lane_bytes, 8u));
  }
  Bits get(uint32_t offset, uint32_t lane_bytes, uint32_t lane) const {
    Bits value = 0;
    std::memcpy(&value, bytes_.data() + offset + lane * lane_bytes, std::min(lane_bytes, 8u));
    return value;
  }

 private:
  alignas(64) std::array<std::byte, 4096> bytes_;
};

inline Bits cut(Bits value, uint32_t bytes) {
  return bytes >= 8 ? value : value & ((Bits{1} << bytes * 8) - 1);
}

/// Checks `rows`, 32 at a time. `what` names the instruction in messages.
inline void expect_lanes(const std::string& what, const HandlerKey& key, const Shape& shape,
                         const std::vector<LaneInput>& rows, const Reference& reference) {
  using File = RegisterFile;
  std::vector<LaneResult> results;
  for (const LaneInput& row : rows) results.push_back(reference(row));
  for (const HandlerSet* set : runnable_handlers()) {
    const Handler handler = set->select(key);
    ASSERT_NE(handler, nullptr) << what << " on " << set->name;
    std::vector<uint32_t> destinations{File::d};
    if (shape.d != 0 && shape.d == shape.a) destinations.push_back(File::a);
    if (shape.d != 0 && shape.d == shape.b) destinations.push_back(File::b);
    if (shape.d != 0 && shape.d == shape.c) destinations.push_back(File::c);
    std::mt19937 random(7);
    uint64_t failures = 0;
    for (size_t first = 0; first < rows.size() && failures < 5; first += 32) {
      for (const uint32_t mask : {full_mask, static_cast<uint32_t>(random())}) {
        for (const uint32_t destination : destinations) {
          File file, before;
          uint32_t predicate = 0;
          for (uint32_t i = 0; i < 32; ++i) {
            const LaneInput& row = rows[(first + i) % rows.size()];
            file.put(File::a, shape.a, i, row.a);
            file.put(File::b, shape.b, i, row.b);
            file.put(File::c, shape.c, i, row.c);
            file.put(File::e, shape.e, i, row.e);
            predicate |= uint32_t{row.predicate} << i;
          }
          file.put(File::source, 4, 0, predicate);
          file.put(File::q, 4, 0, shape.aux_in ? predicate : 0x5a5a5a5au);
          before = file;
          Inst in;
          in.d = shape.p_out ? File::p : destination;
          in.a = File::a;
          in.b = File::b;
          in.c = shape.c_predicate ? File::source : shape.c != 0 ? File::c : no_operand;
          in.aux = shape.e != 0 ? File::e : shape.aux_in || shape.aux_out ? File::q : no_operand;
          in.imm = shape.imm;
          Warp warp;
          warp.regs = file.data();
          warp.mask = warp.active = mask;
          ASSERT_EQ(handler(warp, &in), &in + 1) << what;
          const uint32_t p = static_cast<uint32_t>(file.get(File::p, 4, 0));
          const uint32_t q = static_cast<uint32_t>(file.get(File::q, 4, 0));
          for (uint32_t i = 0; i < 32 && failures < 5; ++i) {
            const LaneInput& row = rows[(first + i) % rows.size()];
            const bool active = (mask >> i & 1) != 0;
            const LaneResult want = results[(first + i) % rows.size()];
            const auto place = [&] {
              ++failures;
              std::ostringstream s;
              s << what << " on " << set->name << ", lane " << i << (active ? "" : " (inactive)") << std::hex
                << ": a " << row.a << " b " << row.b << " c " << row.c << " e " << row.e << " predicate "
                << row.predicate << " mask " << mask << " destination " << destination;
              return s.str();
            };
            if (shape.d != 0) {
              const Bits got = file.get(destination, shape.d, i);
              const Bits expected = active ? cut(want.d, shape.d) : before.get(destination, shape.d, i);
              if (got != expected)
                ADD_FAILURE() << place() << std::hex << ": got " << got << ", expected " << expected;
            }
            if (shape.p_out) {
              const bool expected = active ? want.p : (before.get(File::p, 4, 0) >> i & 1) != 0;
              if ((p >> i & 1) != expected) ADD_FAILURE() << place() << ": p should be " << expected;
            }
            const bool q_before = (before.get(File::q, 4, 0) >> i & 1) != 0;
            const bool q_expected = active && shape.aux_out ? want.q : q_before;
            if ((q >> i & 1) != q_expected)
              ADD_FAILURE() << place() << ": q or carry should be " << q_expected;
          }
        }
      }
    }
  }
}

// ---- Values.

inline const std::vector<Bits>& integer_edges() {
  static const std::vector<Bits> values = [] {
    std::vector<Bits> v;
    for (const Bits x : {Bits{0},
                         Bits{1},
                         Bits{2},
                         Bits{7},
                         Bits{10},
                         Bits{31},
                         Bits{32},
                         Bits{33},
                         Bits{63},
                         Bits{64},
                         Bits{0x7f},
                         Bits{0xff},
                         Bits{0x7fff},
                         Bits{0xffff},
                         Bits{0x7fffff},
                         Bits{0x7fffffff},
                         Bits{0xfffffff},
                         Bits{0x7fffffffffffffff},
                         Bits{0x123456789abcdef0},
                         Bits{0xaaaaaaaa55555555}}) {
      v.push_back(x);
      v.push_back(~x);
      v.push_back(Bits{0} - x);
    }
    return v;
  }();
  return values;
}

inline std::vector<Bits> float_edges() {
  std::vector<Bits> v;
  for (const uint32_t x :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x00400000u, 0x007fffffu, 0x00800000u, 0x00800001u,
        0x00ffffffu, 0x01000000u, 0x33000000u, 0x33800000u, 0x38800000u, 0x387fc000u, 0x38801000u,
        0x3effffffu, 0x3f000000u, 0x3f000001u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3fc00000u,
        0x40000000u, 0x40200000u, 0x40490fdbu, 0x42fe0000u, 0x42ff0000u, 0x43000000u, 0x437f0000u,
        0x437f8000u, 0x46fffe00u, 0x47000000u, 0x477fe000u, 0x477fefffu, 0x477ff000u, 0x477fff80u,
        0x47800000u, 0x4b000001u, 0x4effffffu, 0x4f000000u, 0x4f7fffffu, 0x4f800000u, 0x5effffffu,
        0x5f000000u, 0x5f7fffffu, 0x5f800000u, 0x7e800000u, 0x7e800001u, 0x7effffffu, 0x7f000000u,
        0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fa00000u, 0x7fc00000u, 0x7fffffffu}) {
    v.push_back(x);
    v.push_back(x | 0x80000000u);
  }
  return v;
}
inline std::vector<Bits> double_edges() {
  std::vector<Bits> v;
  for (const Bits x : float_edges()) {
    const float f = std::bit_cast<float>(static_cast<uint32_t>(x));
    if (f == f) v.push_back(std::bit_cast<Bits>(static_cast<double>(f)));
  }
  for (const Bits x : {Bits{1},
                       Bits{0x000fffffffffffff},
                       Bits{0x0010000000000000},
                       Bits{0x0010000000000001},
                       Bits{0x001fffffffffffff},
                       Bits{0x369fffffffffffff},
                       Bits{0x36a0000000000001},
                       Bits{0x380fffffdfffffff},
                       Bits{0x380fffffffffffff},
                       Bits{0x3810000000000001},
                       Bits{0x3fdfffffffffffff},
                       Bits{0x3fe0000000000001},
                       Bits{0x3ff0000010000000},
                       Bits{0x3ff0000030000000},
                       Bits{0x40efffffffffffff},
                       Bits{0x41dfffffffc00000},
                       Bits{0x41dfffffffe00000},
                       Bits{0x41efffffffe00000},
                       Bits{0x41effffffff00000},
                       Bits{0x43dfffffffffffff},
                       Bits{0x43efffffffffffff},
                       Bits{0x47efffffefffffff},
                       Bits{0x47effffff0000000},
                       Bits{0x47f0000000000000},
                       Bits{0x7fefffffffffffff},
                       Bits{0x7ff0000000000001},
                       Bits{0x7ff4000000000001},
                       Bits{0x7ff8000000000000},
                       Bits{0x7ff8000000000123}}) {
    v.push_back(x);
    v.push_back(x | Bits{1} << 63);
  }
  return v;
}

/// Random bits whose sizes are spread, so that small numbers and neighbours come up.
inline Bits random_bits(std::mt19937_64& random) {
  const Bits x = random();
  switch (random() % 4) {
    case 0: return x;
    case 1: return x >> random() % 64;
    case 2: return Bits{0} - (x >> random() % 64);
    default: return (x & 0xffffffff) | (x & 0xffffffff) << 32;
  }
}

/// All combinations of the values for a, b (and a sample of c and e), then random rows.
inline std::vector<LaneInput> rows_of(const std::vector<Bits>& a, const std::vector<Bits>& b = {0},
                                      const std::vector<Bits>& c = {0}, const std::vector<Bits>& e = {0},
                                      size_t random_rows = 512) {
  std::vector<LaneInput> rows;
  std::mt19937_64 random(1);
  for (const Bits x : a) {
    for (const Bits y : b) {
      // A full third and fourth dimension would take minutes: a random eighth of it.
      const size_t more = std::max<size_t>(1, c.size() * e.size() / 8);
      for (size_t k = 0; k < more; ++k) {
        rows.push_back({x, y, c[random() % c.size()], e[random() % e.size()], (random() & 1) != 0});
      }
    }
  }
  for (size_t k = 0; k < random_rows; ++k) {
    rows.push_back({random_bits(random), random_bits(random), random_bits(random), random_bits(random),
                    (random() & 1) != 0});
  }
  return rows;
}

}  // namespace lanescope::exec::harness
