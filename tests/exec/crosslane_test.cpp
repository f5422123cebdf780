// shfl, vote, match, redux, elect, activemask and the logic of predicates: every lane by the pseudocode of
// the PTX ISA.
#include <algorithm>

#include "exec/register_harness.hpp"
#include "exec/state.hpp"

namespace lanescope::exec::harness {
namespace {

/// A warp with 32-bit a, b, c and predicates, all random but for what the test sets.
struct Bench {
  RegisterFile file;
  Warp warp;
  Inst in;

  Bench() {
    in.d = RegisterFile::d, in.a = RegisterFile::a, in.b = RegisterFile::b, in.c = RegisterFile::c,
    in.aux = RegisterFile::q;
    warp.mask = warp.active = full_mask;
  }
  void run(const HandlerSet& set, const HandlerKey& key) {
    const Handler handler = set.select(key);
    ASSERT_NE(handler, nullptr);
    WorkerState worker;
    warp.worker = &worker;
    warp.regs = file.data();
    EXPECT_EQ(handler(warp, &in), &in + 1);
    EXPECT_EQ(worker.shuffles, key.op == Op::shfl ? 1U : 0U);
  }
  [[nodiscard]] uint32_t d(uint32_t lane) const {
    return static_cast<uint32_t>(file.get(RegisterFile::d, 4, lane));
  }
  [[nodiscard]] uint32_t predicate(uint32_t offset) const {
    return static_cast<uint32_t>(file.get(offset, 4, 0));
  }
};
constexpr uint32_t untouched = 0xa5a5a5a5;

const uint32_t masks[] = {full_mask, 0x0000ffff, 0x80000001, 0x55555555, 0x00000010, 0xdeadbeef};

TEST(CrossLane, Shuffles) {
  std::mt19937 random(11);
  const uint32_t clamps[] = {0x1f, 0x00, 0x181f, 0x1800, 0x1c03, 0x1e1f, 0x1f1f, 0x101f, 0x0007, 0xffffffff};
  for (const HandlerSet* set : runnable_handlers()) {
    for (const Mod mode : {Mod::up, Mod::down, Mod::bfly, Mod::idx}) {
      for (const uint32_t c : clamps) {
        for (uint32_t distance = 0; distance < 40; ++distance) {
          for (const uint32_t mask : masks) {
            for (const bool in_place : {false, true}) {
              Bench bench;
              bench.warp.mask = mask;
              if (in_place) bench.in.d = RegisterFile::a;
              for (uint32_t i = 0; i < 32; ++i) {
                bench.file.put(RegisterFile::a, 4, i, 1000 + i);
                bench.file.put(RegisterFile::b, 4, i,
                               distance < 33 ? distance : random());  // last ones: each lane its own
                bench.file.put(RegisterFile::c, 4, i, c);
              }
              const Bench before = bench;
              bench.run(*set, make_key(Op::shfl, {Type::b32}, {Mod::sync, mode}, 3));
              for (int lane = 0; lane < 32; ++lane) {
                const auto i = static_cast<uint32_t>(lane);
                const uint32_t old_d = static_cast<uint32_t>(before.file.get(bench.in.d, 4, i));
                const uint32_t got = static_cast<uint32_t>(bench.file.get(bench.in.d, 4, i));
                const bool p = (bench.predicate(RegisterFile::q) >> i & 1) != 0;
                if ((mask >> i & 1) == 0) {
                  ASSERT_EQ(got, old_d);
                  ASSERT_EQ(p, (untouched >> i & 1) != 0);
                  continue;
                }
                const int bval = static_cast<int>(before.file.get(RegisterFile::b, 4, i) & 31);
                const int cval = static_cast<int>(c & 31), segment = static_cast<int>(c >> 8 & 31);
                const int max_lane = (lane & segment) | (cval & ~segment & 31), min_lane = lane & segment;
                int j = 0;
                bool inside = false;
                if (mode == Mod::up) j = lane - bval, inside = j >= max_lane;
                if (mode == Mod::down) j = lane + bval, inside = j <= max_lane;
                if (mode == Mod::bfly) j = lane ^ bval, inside = j <= max_lane;
                if (mode == Mod::idx) j = min_lane | (bval & ~segment & 31), inside = j <= max_lane;
                if (!inside) j = lane;
                ASSERT_EQ(got, 1000u + static_cast<uint32_t>(j))
                    << set->name << " lane " << lane << " b " << bval << " c " << c;
                ASSERT_EQ(p, inside);
              }
            }
          }
        }
      }
    }
  }
}

TEST(CrossLane, ShuffleWithoutPredicate) {
  for (const HandlerSet* set : runnable_handlers()) {
    Bench bench;
    bench.in.aux = no_operand;
    for (uint32_t i = 0; i < 32; ++i) {
      bench.file.put(RegisterFile::a, 4, i, i * i);
      bench.file.put(RegisterFile::b, 4, i, 31 - i);
      bench.file.put(RegisterFile::c, 4, i, 0x1f);
    }
    bench.run(*set, make_key(Op::shfl, {Type::b32}, {Mod::sync, Mod::idx}, 3));
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(bench.d(i), (31 - i) * (31 - i));
    EXPECT_EQ(bench.predicate(RegisterFile::q), untouched);
  }
}

TEST(CrossLane, Votes) {
  for (const HandlerSet* set : runnable_handlers()) {
    for (const uint32_t mask : masks) {
      for (const uint32_t value : {0u, full_mask, mask, ~mask, 0x0000ff00u, 1u}) {
        for (const bool negated : {false, true}) {
          const uint32_t votes = (negated ? ~value : value) & mask;
          const auto expect_vote = [&](Mod mod, bool outcome) {
            Bench bench;
            bench.warp.mask = mask;
            bench.in.a = RegisterFile::source, bench.in.d = RegisterFile::p, bench.in.imm = negated;
            bench.file.put(RegisterFile::source, 4, 0, value);
            bench.run(*set, make_key(Op::vote, {Type::pred}, {Mod::sync, mod}, 1));
            EXPECT_EQ(bench.predicate(RegisterFile::p), (untouched & ~mask) | (outcome ? mask : 0));
          };
          expect_vote(Mod::all, votes == mask);
          expect_vote(Mod::any, votes != 0);
          expect_vote(Mod::uni, votes == mask || votes == 0);
          Bench bench;
          bench.warp.mask = mask;
          bench.in.a = RegisterFile::source, bench.in.imm = negated;
          bench.file.put(RegisterFile::source, 4, 0, value);
          bench.run(*set, make_key(Op::vote, {Type::b32}, {Mod::sync, Mod::ballot}, 1));
          for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(bench.d(i), (mask >> i & 1) != 0 ? votes : untouched);
        }
      }
    }
  }
}

TEST(CrossLane, Matches) {
  std::mt19937_64 random(5);
  for (const HandlerSet* set : runnable_handlers()) {
    for (const bool wide : {false, true}) {
      for (const uint32_t mask : masks) {
        for (const uint64_t kinds : {1, 2, 3, 32}) {
          Bench bench;
          bench.warp.mask = mask;
          uint64_t value[32];
          for (uint32_t i = 0; i < 32; ++i) {
            // Kinds that differ in one half only, so that 64-bit comparisons must look at both.
            const uint64_t kind = random() % kinds;
            value[i] = wide && (kind & 1) != 0 ? kind << 32 : kind;
            bench.file.put(RegisterFile::a, wide ? 8 : 4, i, value[i]);
          }
          const Type t = wide ? Type::b64 : Type::b32;
          Bench any = bench, all = bench;
          any.run(*set, make_key(Op::match, {t}, {Mod::sync, Mod::any}, 1));
          all.run(*set, make_key(Op::match, {t}, {Mod::sync, Mod::all}, 1));
          bool one = true;
          for (uint32_t i = 0; i < 32; ++i) {
            uint32_t same = 0;
            for (uint32_t j = 0; j < 32; ++j) same |= uint32_t{value[i] == value[j]} << j;
            const bool member = (mask >> i & 1) != 0;
            EXPECT_EQ(any.d(i), member ? same & mask : untouched);
            if (member && (same & mask) != mask) one = false;
          }
          for (uint32_t i = 0; i < 32; ++i)
            EXPECT_EQ(all.d(i), (mask >> i & 1) == 0 ? untouched : one ? mask : 0);
          EXPECT_EQ(all.predicate(RegisterFile::q), (untouched & ~mask) | (one ? mask : 0));
        }
      }
    }
  }
}

TEST(CrossLane, Reductions) {
  std::mt19937 random(9);
  for (const HandlerSet* set : runnable_handlers()) {
    for (const uint32_t mask : masks) {
      Bench bench;
      bench.warp.mask = mask;
      uint32_t sum = 0, all = full_mask, any = 0, parity = 0, least = full_mask, most = 0;
      int32_t signed_least = INT32_MAX, signed_most = INT32_MIN;
      for (uint32_t i = 0; i < 32; ++i) {
        const auto x = static_cast<uint32_t>(random());
        bench.file.put(RegisterFile::a, 4, i, x);
        if ((mask >> i & 1) == 0) continue;
        sum += x, all &= x, any |= x, parity ^= x;
        least = std::min(least, x), most = std::max(most, x);
        signed_least = std::min(signed_least, static_cast<int32_t>(x)),
        signed_most = std::max(signed_most, static_cast<int32_t>(x));
      }
      const auto expect_redux = [&](Type t, Mod mod, uint32_t want) {
        Bench copy = bench;
        copy.run(*set, make_key(Op::redux, {t}, {Mod::sync, mod}, 1));
        for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(copy.d(i), (mask >> i & 1) != 0 ? want : untouched);
      };
      expect_redux(Type::u32, Mod::add, sum);
      expect_redux(Type::s32, Mod::add, sum);
      expect_redux(Type::b32, Mod::and_, all);
      expect_redux(Type::b32, Mod::or_, any);
      expect_redux(Type::b32, Mod::xor_, parity);
      expect_redux(Type::u32, Mod::min, least);
      expect_redux(Type::u32, Mod::max, most);
      expect_redux(Type::s32, Mod::min, static_cast<uint32_t>(signed_least));
      expect_redux(Type::s32, Mod::max, static_cast<uint32_t>(signed_most));
    }
  }
}

TEST(CrossLane, ReductionsOfFloats) {
  constexpr uint32_t nan = 0x7fffffff, some_nan = 0xffc12345, minus_zero = 0x80000000;
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  const auto result = [&](const HandlerSet& set, std::initializer_list<uint32_t> values,
                          std::initializer_list<Mod> mods) {
    Bench bench;
    bench.warp.mask = (1u << values.size()) - 1;
    uint32_t lane = 0;
    for (const uint32_t value : values) bench.file.put(RegisterFile::a, 4, lane++, value);
    bench.run(set, make_key(Op::redux, {Type::f32}, mods, 1));
    EXPECT_EQ(bench.d(lane), untouched);
    return bench.d(0);
  };
  for (const HandlerSet* set : runnable_handlers()) {
    EXPECT_EQ(result(*set, {bits(3), bits(-5), bits(2)}, {Mod::sync, Mod::min}), bits(-5));
    EXPECT_EQ(result(*set, {bits(3), bits(-5), bits(2)}, {Mod::sync, Mod::max}), bits(3));
    EXPECT_EQ(result(*set, {bits(3), bits(-5), bits(2)}, {Mod::sync, Mod::max, Mod::abs}), bits(5));
    EXPECT_EQ(result(*set, {bits(3), some_nan, bits(2)}, {Mod::sync, Mod::min}), bits(2));
    EXPECT_EQ(result(*set, {bits(3), some_nan, bits(2)}, {Mod::sync, Mod::min, Mod::NaN}), nan);
    EXPECT_EQ(result(*set, {some_nan}, {Mod::sync, Mod::max}), nan);
    EXPECT_EQ(result(*set, {0, minus_zero}, {Mod::sync, Mod::min}), minus_zero);
    EXPECT_EQ(result(*set, {0x80000001, 1}, {Mod::sync, Mod::min}), 0x80000001u)
        << "subnormal numbers are kept";
  }
}

TEST(CrossLane, ElectionAndActiveLanes) {
  for (const HandlerSet* set : runnable_handlers()) {
    for (const uint32_t mask : masks) {
      Bench elected;
      elected.warp.mask = mask;
      elected.run(*set, make_key(Op::elect, {}, {Mod::sync}, 1));
      uint32_t leader = 0;
      while ((mask >> leader & 1) == 0) ++leader;
      Bench active;
      active.warp.mask = mask & 0x0fffffff;
      active.warp.active = mask;
      active.run(*set, make_key(Op::activemask, {Type::b32}, {}, 0));
      for (uint32_t i = 0; i < 32; ++i) {
        EXPECT_EQ(elected.d(i), (mask >> i & 1) != 0 ? leader : untouched);
        EXPECT_EQ(active.d(i), (mask & 0x0fffffff) >> i & 1 ? mask : untouched);
      }
      EXPECT_EQ(elected.predicate(RegisterFile::q), (untouched & ~mask) | 1u << leader);
    }
  }
}

TEST(CrossLane, PredicateLogic) {
  for (const HandlerSet* set : runnable_handlers()) {
    for (const uint32_t mask : masks) {
      for (uint64_t negations = 0; negations < 4; ++negations) {
        const uint32_t a = 0x0f0f1234, b = 0x3355abcd;
        const uint32_t x = (negations & 1) != 0 ? ~a : a, y = (negations & 2) != 0 ? ~b : b;
        const std::pair<Op, uint32_t> cases[] = {
            {Op::and_, x & y}, {Op::or_, x | y}, {Op::xor_, x ^ y}, {Op::not_, ~x}, {Op::mov, x}};
        for (const auto& [op, want] : cases) {
          Bench bench;
          bench.warp.mask = mask;
          bench.in.d = RegisterFile::p, bench.in.a = RegisterFile::source, bench.in.b = RegisterFile::q,
          bench.in.imm = negations;
          bench.file.put(RegisterFile::source, 4, 0, a);
          bench.file.put(RegisterFile::q, 4, 0, b);
          bench.run(*set, make_key(op, {Type::pred}, {}, 2));
          EXPECT_EQ(bench.predicate(RegisterFile::p), (untouched & ~mask) | (want & mask));
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanescope::exec::harness
