// Integer, logic, shift, move and width-changing instructions against references written bit by bit from the
// PTX ISA.
#include <algorithm>
#include <limits>

#include "exec/register_harness.hpp"

namespace lanescope::exec::harness {
namespace {

__extension__ using Wide = __int128;

/// The number a lane holds when read as a type.
template <class T>
Wide number(Bits x) {
  return static_cast<Wide>(static_cast<T>(x));
}

Wide number_of(Type t, Bits x) {
  switch (t) {
    case Type::u16: return number<uint16_t>(x);
    case Type::s16: return number<int16_t>(x);
    case Type::u32: return number<uint32_t>(x);
    case Type::s32: return number<int32_t>(x);
    case Type::u64: return number<uint64_t>(x);
    default: return number<int64_t>(x);
  }
}
const std::vector<Type> integer_types{Type::u16, Type::s16, Type::u32, Type::s32, Type::u64, Type::s64};
const std::vector<Type> word_types{Type::u32, Type::s32, Type::u64, Type::s64};
const std::vector<Type> bit_types{Type::b16, Type::b32, Type::b64};
const std::vector<Type> bit_words{Type::b32, Type::b64};

std::string type_name(Type t) {
  return (ptx::is_signed(t) ? "s" : ptx::is_unsigned(t) ? "u" : "b") + std::to_string(ptx::size_of(t) * 8);
}

using NumberFunction = std::function<Wide(Wide a, Wide b, Wide c)>;

/// An instruction whose operands are all of its one type.
void expect_numbers(const std::string& what, Op op, Type t, std::initializer_list<Mod> mods, uint8_t sources,
                    const NumberFunction& f) {
  const uint32_t n = ptx::size_of(t);
  const Shape shape{.d = n, .a = n, .b = sources > 1 ? n : 0, .c = sources > 2 ? n : 0};
  const auto rows = rows_of(integer_edges(), sources > 1 ? integer_edges() : std::vector<Bits>{0},
                            sources > 2 ? integer_edges() : std::vector<Bits>{0});
  expect_lanes(what + "." + type_name(t), make_key(op, {t}, mods, sources), shape, rows,
               [&](const LaneInput& in) {
                 return LaneResult{
                     .d = static_cast<Bits>(f(number_of(t, in.a), number_of(t, in.b), number_of(t, in.c)))};
               });
}

/// Floor of x / 2^n.
Wide high(Wide x, int n) { return x >> n; }

TEST(IntegerSemantics, SumsAndProducts) {
  for (const Type t : integer_types) {
    const int width = static_cast<int>(ptx::size_of(t) * 8);
    expect_numbers("add", Op::add, t, {}, 2, [](Wide a, Wide b, Wide) { return a + b; });
    expect_numbers("sub", Op::sub, t, {}, 2, [](Wide a, Wide b, Wide) { return a - b; });
    // Products of two unsigned 64-bit numbers need all 128 bits: their upper half as an unsigned shift.
    const auto upper = [=](Wide a, Wide b) {
      if (t != Type::u64) return high(a * b, width);
      __extension__ using Unsigned = unsigned __int128;
      return static_cast<Wide>((static_cast<Unsigned>(a) * static_cast<Unsigned>(b)) >> 64);
    };
    expect_numbers("mul.lo", Op::mul, t, {Mod::lo}, 2, [](Wide a, Wide b, Wide) {
      return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    });
    expect_numbers("mul.hi", Op::mul, t, {Mod::hi}, 2, [=](Wide a, Wide b, Wide) { return upper(a, b); });
    expect_numbers("mad.lo", Op::mad, t, {Mod::lo}, 3, [](Wide a, Wide b, Wide c) {
      return static_cast<Wide>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)) + c;
    });
    expect_numbers("mad.hi", Op::mad, t, {Mod::hi}, 3,
                   [=](Wide a, Wide b, Wide c) { return upper(a, b) + c; });
    expect_numbers("sad", Op::sad, t, {}, 3,
                   [](Wide a, Wide b, Wide c) { return c + (a < b ? b - a : a - b); });
  }
}

TEST(IntegerSemantics, WideProducts) {
  for (const Type t : {Type::u16, Type::s16, Type::u32, Type::s32}) {
    const uint32_t n = ptx::size_of(t);
    const auto rows = rows_of(integer_edges(), integer_edges(), integer_edges());
    expect_lanes("mul.wide." + type_name(t), make_key(Op::mul, {t}, {Mod::wide}),
                 {.d = 2 * n, .a = n, .b = n}, rows, [=](const LaneInput& in) {
                   return LaneResult{.d = static_cast<Bits>(number_of(t, in.a) * number_of(t, in.b))};
                 });
    expect_lanes("mad.wide." + type_name(t), make_key(Op::mad, {t}, {Mod::wide}, 3),
                 {.d = 2 * n, .a = n, .b = n, .c = 2 * n}, rows, [=](const LaneInput& in) {
                   return LaneResult{.d = static_cast<Bits>(number_of(t, in.a) * number_of(t, in.b)) + in.c};
                 });
  }
}

TEST(IntegerSemantics, Saturation) {
  const auto bound = [](Wide x) {
    return std::clamp<Wide>(x, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
  };
  expect_numbers("add.sat", Op::add, Type::s32, {Mod::sat}, 2,
                 [=](Wide a, Wide b, Wide) { return bound(a + b); });
  expect_numbers("sub.sat", Op::sub, Type::s32, {Mod::sat}, 2,
                 [=](Wide a, Wide b, Wide) { return bound(a - b); });
  expect_numbers("mad.hi.sat", Op::mad, Type::s32, {Mod::hi, Mod::sat}, 3,
                 [=](Wide a, Wide b, Wide c) { return bound(high(a * b, 32) + c); });
}

TEST(IntegerSemantics, TwentyFourBits) {
  for (const Type t : {Type::u32, Type::s32}) {
    const auto low = [=](Wide x) {
      const Wide bits = x & 0xffffff;
      return t == Type::s32 && (bits & 0x800000) != 0 ? bits - 0x1000000 : bits;
    };
    const auto bound = [](Wide x) {
      return std::clamp<Wide>(x, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
    };
    expect_numbers("mul24.lo", Op::mul24, t, {Mod::lo}, 2,
                   [=](Wide a, Wide b, Wide) { return low(a) * low(b); });
    expect_numbers("mul24.hi", Op::mul24, t, {Mod::hi}, 2,
                   [=](Wide a, Wide b, Wide) { return high(low(a) * low(b), 16); });
    expect_numbers("mad24.lo", Op::mad24, t, {Mod::lo}, 3,
                   [=](Wide a, Wide b, Wide c) { return low(a) * low(b) + c; });
    expect_numbers("mad24.hi", Op::mad24, t, {Mod::hi}, 3,
                   [=](Wide a, Wide b, Wide c) { return high(low(a) * low(b), 16) + c; });
    if (t == Type::s32) {
      expect_numbers("mad24.hi.sat", Op::mad24, t, {Mod::hi, Mod::sat}, 3,
                     [=](Wide a, Wide b, Wide c) { return bound(high(low(a) * low(b), 16) + c); });
    }
  }
}

TEST(IntegerSemantics, QuotientsAreTotal) {
  for (const Type t : integer_types) {
    expect_numbers("div", Op::div, t, {}, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a / b; });
    expect_numbers("rem", Op::rem, t, {}, 2, [](Wide a, Wide b, Wide) { return b == 0 ? Wide{-1} : a % b; });
  }
}

TEST(IntegerSemantics, EverySixteenBitQuotientNearMultiples) {
  std::vector<LaneInput> rows;
  for (Bits b = 1; b < 0x10000; b += 7) {
    const Bits k = 0xffff / b;
    for (const Bits a : {k * b, k * b - 1, (k / 2 + 1) * b - 1}) rows.push_back({a & 0xffff, b});
  }
  expect_lanes("div.u16", make_key(Op::div, {Type::u16}), {.d = 2, .a = 2, .b = 2}, rows,
               [](const LaneInput& in) { return LaneResult{.d = in.a / in.b}; });
}

TEST(IntegerSemantics, SignsAndExtremes) {
  for (const Type t : integer_types) {
    if (ptx::is_signed(t)) {
      expect_numbers("abs", Op::abs, t, {}, 1, [](Wide a, Wide, Wide) { return a < 0 ? -a : a; });
      expect_numbers("neg", Op::neg, t, {}, 1, [](Wide a, Wide, Wide) { return -a; });
    }
    expect_numbers("min", Op::min, t, {}, 2, [](Wide a, Wide b, Wide) { return std::min(a, b); });
    expect_numbers("max", Op::max, t, {}, 2, [](Wide a, Wide b, Wide) { return std::max(a, b); });
  }
}

TEST(IntegerSemantics, Carries) {
  __extension__ using Unsigned = unsigned __int128;
  for (const Type t : word_types) {
    const uint32_t n = ptx::size_of(t);
    const auto rows = rows_of(integer_edges(), integer_edges(), integer_edges());
    const auto sum = [=](const LaneInput& in, bool subtract, bool carry_in) {
      // a - b is a + ~b + 1, whose carry is no borrow: as in the table below.
      const Unsigned a = cut(in.a, n), b = subtract ? cut(~in.b, n) : cut(in.b, n);
      const Unsigned c = carry_in ? in.predicate : subtract;
      const Unsigned r = a + b + c;
      return LaneResult{.d = static_cast<Bits>(r), .q = (r >> n * 8) != 0};
    };
    const Shape two{.d = n, .a = n, .b = n};
    Shape out = two, in = two, both = two;
    out.aux_out = in.aux_in = both.aux_in = both.aux_out = true;
    for (const bool subtract : {false, true}) {
      const Op plain = subtract ? Op::sub : Op::add, with = subtract ? Op::subc : Op::addc;
      const std::string name = subtract ? "sub" : "add";
      expect_lanes(name + ".cc", make_key(plain, {t}, {Mod::cc}), out, rows,
                   [=](const LaneInput& x) { return sum(x, subtract, false); });
      expect_lanes(name + "c", make_key(with, {t}), in, rows,
                   [=](const LaneInput& x) { return sum(x, subtract, true); });
      expect_lanes(name + "c.cc", make_key(with, {t}, {Mod::cc}), both, rows,
                   [=](const LaneInput& x) { return sum(x, subtract, true); });
    }
    for (const Mod half : {Mod::lo, Mod::hi}) {
      const auto mad = [=](const LaneInput& x, bool carry_in) {
        const Unsigned product =
            static_cast<Unsigned>(number_of(t, x.a)) * static_cast<Unsigned>(number_of(t, x.b));
        const Bits part = cut(static_cast<Bits>(half == Mod::lo ? product : product >> n * 8), n);
        const Unsigned r = Unsigned{part} + cut(x.c, n) + (carry_in && x.predicate ? 1 : 0);
        return LaneResult{.d = static_cast<Bits>(r), .q = (r >> n * 8) != 0};
      };
      out.c = in.c = both.c = n;
      expect_lanes("mad.cc", make_key(Op::mad, {t}, {half, Mod::cc}, 3), out, rows,
                   [=](const LaneInput& x) { return mad(x, false); });
      expect_lanes("madc", make_key(Op::madc, {t}, {half}, 3), in, rows,
                   [=](const LaneInput& x) { return mad(x, true); });
      expect_lanes("madc.cc", make_key(Op::madc, {t}, {half, Mod::cc}, 3), both, rows,
                   [=](const LaneInput& x) { return mad(x, true); });
    }
  }
}

TEST(IntegerSemantics, Logic) {
  for (const Type t : bit_types) {
    const uint32_t n = ptx::size_of(t);
    const auto rows = rows_of(integer_edges(), integer_edges());
    const Shape two{.d = n, .a = n, .b = n}, one{.d = n, .a = n};
    expect_lanes("and", make_key(Op::and_, {t}), two, rows,
                 [](const LaneInput& x) { return LaneResult{.d = x.a & x.b}; });
    expect_lanes("or", make_key(Op::or_, {t}), two, rows,
                 [](const LaneInput& x) { return LaneResult{.d = x.a | x.b}; });
    expect_lanes("xor", make_key(Op::xor_, {t}), two, rows,
                 [](const LaneInput& x) { return LaneResult{.d = x.a ^ x.b}; });
    expect_lanes("not", make_key(Op::not_, {t}), one, rows,
                 [](const LaneInput& x) { return LaneResult{.d = ~x.a}; });
    expect_lanes("cnot", make_key(Op::cnot, {t}), one, rows,
                 [=](const LaneInput& x) { return LaneResult{.d = cut(x.a, n) == 0}; });
  }
}

TEST(IntegerSemantics, Shifts) {
  std::vector<Bits> amounts;
  for (Bits k = 0; k < 70; ++k) amounts.push_back(k);
  for (const Bits k : {Bits{255}, Bits{256}, Bits{0x80000000}, Bits{0xffffffff}}) amounts.push_back(k);
  const auto rows = rows_of(integer_edges(), amounts);
  const auto amount = [](const LaneInput& x) { return std::min<Bits>(cut(x.b, 4), 100); };
  for (const Type t : bit_types) {
    const uint32_t n = ptx::size_of(t);
    expect_lanes("shl", make_key(Op::shl, {t}), {.d = n, .a = n, .b = 4}, rows, [=](const LaneInput& x) {
      return LaneResult{.d = static_cast<Bits>(number_of(Type::u64, x.a) << amount(x))};
    });
    expect_lanes("shr.b", make_key(Op::shr, {t}), {.d = n, .a = n, .b = 4}, rows, [=](const LaneInput& x) {
      return LaneResult{.d = static_cast<Bits>(static_cast<Wide>(cut(x.a, n)) >> amount(x))};
    });
  }
  for (const Type t : integer_types) {
    const uint32_t n = ptx::size_of(t);
    expect_lanes("shr." + type_name(t), make_key(Op::shr, {t}), {.d = n, .a = n, .b = 4}, rows,
                 [=](const LaneInput& x) {
                   return LaneResult{.d = static_cast<Bits>(number_of(t, x.a) >> amount(x))};
                 });
  }
}

TEST(IntegerSemantics, FunnelShifts) {
  const auto rows = rows_of(integer_edges(), integer_edges(), integer_edges());
  for (const bool left : {true, false}) {
    for (const bool wrap : {true, false}) {
      expect_lanes(left ? "shf.l" : "shf.r",
                   make_key(Op::shf, {Type::b32}, {left ? Mod::l : Mod::r, wrap ? Mod::wrap : Mod::clamp}, 3),
                   {.d = 4, .a = 4, .b = 4, .c = 4}, rows, [=](const LaneInput& x) {
                     const Bits a = cut(x.a, 4), b = cut(x.b, 4), c = cut(x.c, 4);
                     const Bits n = wrap ? c & 31 : std::min<Bits>(c, 32);
                     // The ISA's definition: two shifts, or'ed.
                     return LaneResult{.d = left ? (b << n) | (a >> (32 - n)) : (b << (32 - n)) | (a >> n)};
                   });
    }
  }
}

TEST(IntegerSemantics, CountingAndFinding) {
  const auto rows = rows_of(integer_edges());
  for (const Type t : bit_words) {
    const uint32_t n = ptx::size_of(t), width = n * 8;
    const auto bit = [](Bits x, uint32_t i) { return (x >> i & 1) != 0; };
    expect_lanes("popc", make_key(Op::popc, {t}), {.d = 4, .a = n}, rows, [=](const LaneInput& x) {
      Bits count = 0;
      for (uint32_t i = 0; i < width; ++i) count += bit(x.a, i);
      return LaneResult{.d = count};
    });
    expect_lanes("clz", make_key(Op::clz, {t}), {.d = 4, .a = n}, rows, [=](const LaneInput& x) {
      Bits count = 0;
      for (uint32_t i = width; i-- > 0 && !bit(x.a, i);) ++count;
      return LaneResult{.d = count};
    });
    expect_lanes("brev", make_key(Op::brev, {t}), {.d = n, .a = n}, rows, [=](const LaneInput& x) {
      Bits r = 0;
      for (uint32_t i = 0; i < width; ++i) r |= Bits{bit(x.a, i)} << (width - 1 - i);
      return LaneResult{.d = r};
    });
  }
  for (const Type t : word_types) {
    const uint32_t n = ptx::size_of(t), msb = n * 8 - 1;
    for (const bool shift : {false, true}) {
      const HandlerKey key = shift ? make_key(Op::bfind, {t}, {Mod::shiftamt}) : make_key(Op::bfind, {t});
      expect_lanes("bfind", key, {.d = 4, .a = n}, rows, [=](const LaneInput& x) {
        Bits a = x.a;
        if (ptx::is_signed(t) && (a >> msb & 1) != 0) a = ~a;
        Bits d = 0xffffffff;
        for (int32_t i = static_cast<int32_t>(msb); i >= 0; --i) {
          if ((a >> i & 1) != 0) {
            d = static_cast<Bits>(i);
            break;
          }
        }
        return LaneResult{.d = shift && d != 0xffffffff ? msb - d : d};
      });
    }
  }
}

TEST(IntegerSemantics, BitFields) {
  const std::vector<Bits> places{0,  1,  5,  8,   16,  30,  31,  32,  33,        62,
                                 63, 64, 65, 127, 128, 255, 256, 257, 0xffffffff};
  // Modulo 256 as the ISA says; an H100 looks at all bits where the field is of 64.
  const auto amount = [](Bits x, uint32_t bytes) {
    return static_cast<uint32_t>(bytes == 4 ? x & 0xff : std::min<Bits>(cut(x, 4), 1000));
  };
  for (const Type t : word_types) {
    const uint32_t n = ptx::size_of(t), msb = n * 8 - 1;
    std::vector<LaneInput> rows;
    for (const Bits a : integer_edges())
      for (const Bits pos : places)
        for (const Bits len : places) rows.push_back({a, pos, len});
    expect_lanes("bfe." + type_name(t), make_key(Op::bfe, {t}, {}, 3), {.d = n, .a = n, .b = 4, .c = 4}, rows,
                 [=](const LaneInput& x) {
                   const uint32_t pos = amount(x.b, n), len = amount(x.c, n);
                   const auto bit = [&](uint32_t i) { return (x.a >> i & 1) != 0; };
                   const bool sign = ptx::is_signed(t) && len != 0 && bit(std::min(pos + len - 1, msb));
                   Bits d = 0;
                   for (uint32_t i = 0; i <= msb; ++i)
                     d |= Bits{i < len && pos + i <= msb ? bit(pos + i) : sign} << i;
                   return LaneResult{.d = d};
                 });
  }
  for (const Type t : bit_words) {
    const uint32_t n = ptx::size_of(t), msb = n * 8 - 1;
    std::vector<LaneInput> rows;
    for (const Bits a : {Bits{0}, ~Bits{0}, Bits{0x123456789abcdef0}, Bits{0xdeadbeefcafe}})
      for (const Bits b : {Bits{0}, ~Bits{0}, Bits{0x0f1e2d3c4b5a6978}})
        for (const Bits pos : places)
          for (const Bits len : places) rows.push_back({a, b, pos, len});
    expect_lanes("bfi." + type_name(t), make_key(Op::bfi, {t}, {}, 4),
                 {.d = n, .a = n, .b = n, .c = 4, .e = 4}, rows, [=](const LaneInput& x) {
                   const uint32_t pos = amount(x.c, n), len = amount(x.e, n);
                   Bits f = x.b;
                   for (uint32_t i = 0; i < len && pos + i <= msb; ++i)
                     f = (f & ~(Bits{1} << (pos + i))) | (x.a >> i & 1) << (pos + i);
                   return LaneResult{.d = f};
                 });
  }
}

TEST(IntegerSemantics, BytePermutations) {
  std::vector<LaneInput> rows;
  std::mt19937_64 random(3);
  for (Bits selector = 0; selector < 0x10000; selector += 3)
    rows.push_back({random(), random(), selector | random() << 16});
  const auto byte = [](const LaneInput& x, Bits k) {
    return (k < 4 ? x.a >> 8 * k : x.b >> 8 * (k - 4)) & 0xff;
  };
  expect_lanes("prmt", make_key(Op::prmt, {Type::b32}, {}, 3), {.d = 4, .a = 4, .b = 4, .c = 4}, rows,
               [=](const LaneInput& x) {
                 Bits d = 0;
                 for (int i = 0; i < 4; ++i) {
                   const Bits nibble = x.c >> 4 * i & 15;
                   Bits v = byte(x, nibble & 7);
                   if ((nibble & 8) != 0) v = (v & 0x80) != 0 ? 0xff : 0;
                   d |= v << 8 * i;
                 }
                 return LaneResult{.d = d};
               });
  // Bytes chosen for d.b3, b2, b1, b0 when c's low bits are 0, 1, 2, 3: the ISA's table.
  struct Mode {
    Mod mod;
    int bytes[4][4];
  };
  for (const Mode& mode : {Mode{Mod::f4e, {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
                           Mode{Mod::b4e, {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
                           Mode{Mod::rc8, {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                           Mode{Mod::ecl, {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
                           Mode{Mod::ecr, {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
                           Mode{Mod::rc16, {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}}) {
    expect_lanes("prmt mode", make_key(Op::prmt, {Type::b32}, {mode.mod}, 3),
                 {.d = 4, .a = 4, .b = 4, .c = 4}, rows, [=](const LaneInput& x) {
                   Bits d = 0;
                   for (int i = 0; i < 4; ++i)
                     d |= byte(x, static_cast<Bits>(mode.bytes[x.c & 3][3 - i])) << 8 * i;
                   return LaneResult{.d = d};
                 });
  }
}

TEST(IntegerSemantics, EveryFunctionOfThreeBits) {
  std::mt19937_64 random(4);
  std::vector<LaneInput> rows(32);
  for (uint64_t table = 0; table < 256; ++table) {
    for (LaneInput& row : rows) row = {random(), random(), random(), 0, (random() & 1) != 0};
    rows[0].a = rows[0].b = rows[0].c = 0;
    const auto value = [=](const LaneInput& x) {
      Bits d = 0;
      for (int i = 0; i < 32; ++i)
        d |= (table >> ((x.a >> i & 1) * 4 + (x.b >> i & 1) * 2 + (x.c >> i & 1)) & 1) << i;
      return d;
    };
    expect_lanes("lop3", make_key(Op::lop3, {Type::b32}, {}, 4),
                 {.d = 4, .a = 4, .b = 4, .c = 4, .imm = table}, rows,
                 [=](const LaneInput& x) { return LaneResult{.d = value(x)}; });
    for (const bool negated : {false, true}) {
      const uint64_t imm = table | (negated ? 0x100 : 0) | uint64_t{RegisterFile::source} << 32;
      const Shape shape{.d = 4, .a = 4, .b = 4, .c = 4, .aux_out = true, .imm = imm};
      expect_lanes("lop3.and", make_key(Op::lop3, {Type::b32}, {Mod::and_}, 5), shape, rows,
                   [=](const LaneInput& x) {
                     return LaneResult{.d = value(x), .q = value(x) != 0 && x.predicate != negated};
                   });
      expect_lanes("lop3.or", make_key(Op::lop3, {Type::b32}, {Mod::or_}, 5), shape, rows,
                   [=](const LaneInput& x) {
                     return LaneResult{.d = value(x), .q = value(x) != 0 || x.predicate != negated};
                   });
    }
  }
}

TEST(IntegerSemantics, MovesPackAndUnpack) {
  const auto rows = rows_of(integer_edges());
  for (const Type t : {Type::b16, Type::u32, Type::f64}) {
    const uint32_t n = ptx::size_of(t);
    expect_lanes("mov", make_key(Op::mov, {t}, {}, 1), {.d = n, .a = n}, rows,
                 [](const LaneInput& x) { return LaneResult{.d = x.a}; });
  }
  HandlerKey key = make_key(Op::mov, {Type::b32}, {}, 2);
  key.vector = 2;
  expect_lanes("mov {16,16}", key, {.d = 4, .a = 2, .b = 2}, rows,
               [](const LaneInput& x) { return LaneResult{.d = cut(x.a, 2) | cut(x.b, 2) << 16}; });
  key.types[0] = Type::b64;
  expect_lanes("mov {32,32}", key, {.d = 8, .a = 4, .b = 4}, rows,
               [](const LaneInput& x) { return LaneResult{.d = cut(x.a, 4) | x.b << 32}; });
  key.vector = key.sources = 4;
  expect_lanes("mov {16,16,16,16}", key, {.d = 8, .a = 2, .b = 2, .c = 2, .e = 2}, rows,
               [](const LaneInput& x) {
                 return LaneResult{.d = cut(x.a, 2) | cut(x.b, 2) << 16 | cut(x.c, 2) << 32 | x.e << 48};
               });
}

/// Runs one instruction on a file prepared by the test.
void execute(const HandlerSet& set, const HandlerKey& key, const Inst& in, RegisterFile& file,
             uint32_t mask) {
  const Handler handler = set.select(key);
  ASSERT_NE(handler, nullptr);
  Warp warp;
  warp.regs = file.data();
  warp.mask = warp.active = mask;
  EXPECT_EQ(handler(warp, &in), &in + 1);
}

TEST(IntegerSemantics, UnpackGivesLowPartsFirstAndSkipsSinks) {
  for (const HandlerSet* set : runnable_handlers()) {
    RegisterFile file;
    for (uint32_t i = 0; i < 32; ++i) file.put(0, 8, i, 0x4444333322221111 + i);
    HandlerKey key = make_key(Op::mov, {Type::b64}, {}, 1);
    key.vector = 4;
    Inst in;
    in.a = 0, in.d = 512, in.b = no_operand, in.c = 1024, in.aux = 1536;
    execute(*set, key, in, file, 0x0000ffff);
    for (uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(file.get(512, 2, i), i < 16 ? 0x1111 + i : 0xa5a5);
      EXPECT_EQ(file.get(1024, 2, i), i < 16 ? 0x3333 : 0xa5a5);
      EXPECT_EQ(file.get(1536, 2, i), i < 16 ? 0x4444 : 0xa5a5);
    }
    key = make_key(Op::mov, {Type::b32}, {}, 1);
    key.vector = 2;
    in.d = no_operand, in.b = 2048;
    execute(*set, key, in, file, full_mask);
    for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(file.get(2048, 2, 2 * i), 0x2222);
  }
}

TEST(IntegerSemantics, HalvesOf128Bits) {
  for (const HandlerSet* set : runnable_handlers()) {
    RegisterFile file;
    for (uint32_t i = 0; i < 32; ++i) file.put(0, 8, i, i), file.put(512, 8, i, 100 + i);
    HandlerKey key = make_key(Op::mov, {Type::b128}, {}, 2);
    key.vector = 2;
    Inst in;
    in.a = 0, in.b = 512, in.d = 1024;
    execute(*set, key, in, file, full_mask);
    key.vector = 1, key.sources = 1;
    in.a = 1024, in.d = 2048;
    execute(*set, key, in, file, 0x7fffffff);
    key.vector = 2;
    in.a = 2048, in.d = 3072, in.b = 3328;
    execute(*set, key, in, file, full_mask);
    for (uint32_t i = 0; i < 31; ++i) {
      EXPECT_EQ(file.get(3072, 8, i), i);
      EXPECT_EQ(file.get(3328, 8, i), 100 + i);
    }
    EXPECT_EQ(file.get(3072, 8, 31), 0xa5a5a5a5a5a5a5a5u);
  }
}

TEST(IntegerSemantics, RegistersOfAnotherWidth) {
  for (const HandlerSet* set : runnable_handlers()) {
    for (const uint32_t from : {1u, 2u, 4u, 8u, 16u}) {
      for (const uint32_t to : {1u, 2u, 4u, 8u, 16u}) {
        for (const bool sign : {false, true}) {
          const Handler handler = set->resize(to, from, sign);
          ASSERT_NE(handler, nullptr) << from << " to " << to;
          RegisterFile file;
          const uint32_t from_lane = std::max(from, 2u), to_lane = std::max(to, 2u);
          for (uint32_t i = 0; i < 32; ++i) file.put(0, from_lane, i, integer_edges()[i]);
          Inst in;
          in.a = 0, in.d = 1024;
          Warp warp;
          warp.regs = file.data();
          warp.mask = 0x0fffffff;
          handler(warp, &in);
          for (uint32_t i = 0; i < 28; ++i) {
            const uint32_t bytes = std::min({from, to, 8u});
            Bits want = cut(file.get(0, from_lane, i), bytes);
            // Extended from the narrower width; what was cut to a byte is extended over its 2-byte lane too.
            if (sign && (from < 8 || to < 8) && (want >> (bytes * 8 - 1) & 1) != 0 && bytes < 8)
              want |= ~Bits{0} << bytes * 8;
            EXPECT_EQ(file.get(1024, to_lane, i), cut(want, to_lane))
                << from << " to " << to << " sign " << sign << " lane " << i;
          }
          EXPECT_EQ(file.get(1024, to_lane, 28), cut(0xa5a5a5a5a5a5a5a5u, to_lane));
        }
      }
    }
    EXPECT_EQ(set->resize(3, 4, false), nullptr);
    EXPECT_EQ(set->resize(4, 32, false), nullptr);
  }
}

TEST(IntegerSemantics, DotProducts) {
  const auto byte = [](Bits x, int i, Type t) {
    const Wide b = static_cast<Wide>(x >> (8 * i) & 0xff);
    return t == Type::s32 && b > 127 ? b - 256 : b;
  };
  const auto half = [](Bits x, int i, Type t) {
    const Wide h = static_cast<Wide>(x >> (16 * i) & 0xffff);
    return t == Type::s32 && h > 32767 ? h - 65536 : h;
  };
  const auto rows = rows_of(integer_edges(), integer_edges(), integer_edges());
  for (const Type a : {Type::u32, Type::s32}) {
    for (const Type b : {Type::u32, Type::s32}) {
      expect_lanes("dp4a", make_key(Op::dp4a, {a, b}, {}, 3), {.d = 4, .a = 4, .b = 4, .c = 4}, rows,
                   [&](const LaneInput& in) {
                     Wide sum = static_cast<Wide>(in.c);
                     for (int i = 0; i < 4; ++i) sum += byte(in.a, i, a) * byte(in.b, i, b);
                     return LaneResult{.d = static_cast<Bits>(sum)};
                   });
      for (const Mod mod : {Mod::lo, Mod::hi}) {
        expect_lanes("dp2a", make_key(Op::dp2a, {a, b}, {mod}, 3), {.d = 4, .a = 4, .b = 4, .c = 4}, rows,
                     [&](const LaneInput& in) {
                       Wide sum = static_cast<Wide>(in.c);
                       for (int i = 0; i < 2; ++i)
                         sum += half(in.a, i, a) * byte(in.b, i + (mod == Mod::hi ? 2 : 0), b);
                       return LaneResult{.d = static_cast<Bits>(sum)};
                     });
      }
    }
  }
}

TEST(IntegerSemantics, Masks) {
  const std::vector<Bits> amounts{0,  1,  2,  5,  16,  30,  31,         32,
                                  33, 37, 63, 64, 255, 256, 0x80000000, 0xffffffff};
  for (const bool wrap : {false, true}) {
    const Mod mod = wrap ? Mod::wrap : Mod::clamp;
    const auto amount = [=](Bits x) { return wrap ? x & 31 : cut(x, 4); };
    expect_lanes("bmsk", make_key(Op::bmsk, {Type::b32}, {mod}), {.d = 4, .a = 4, .b = 4},
                 rows_of(amounts, amounts), [=](const LaneInput& in) {
                   Bits d = 0;
                   for (Bits i = 0; i < 32; ++i)
                     if (i >= amount(in.a) && i - amount(in.a) < amount(in.b)) d |= Bits{1} << i;
                   return LaneResult{.d = d};
                 });
    for (const Type t : {Type::u32, Type::s32})
      expect_lanes("szext", make_key(Op::szext, {t}, {mod}), {.d = 4, .a = 4, .b = 4},
                   rows_of(integer_edges(), amounts), [=](const LaneInput& in) {
                     const Bits n = amount(in.b);
                     Bits d = 0;
                     for (Bits i = 0; i < 32; ++i) {
                       const Bits from = i < n ? i : n - 1;
                       const bool bit = i < n || (t == Type::s32 && n != 0);
                       if (bit && (in.a >> from & 1) != 0) d |= Bits{1} << i;
                     }
                     return LaneResult{.d = d};
                   });
  }
}

TEST(IntegerSemantics, FindNthSet) {
  const std::vector<Bits> bases{0, 1, 7, 30, 31, 32, 0xffffffff},
      counts{0, 1, 2, 3, 8, 32, 33, 0xffffffff, 0xfffffffe, 0xffffffe0, 0x80000000};
  expect_lanes(
      "fns", make_key(Op::fns, {Type::b32}, {}, 3), {.d = 4, .a = 4, .b = 4, .c = 4},
      rows_of(integer_edges(), bases, counts), [](const LaneInput& in) {
        const Bits base = cut(in.b, 4);
        const auto n = static_cast<int32_t>(static_cast<uint32_t>(in.c));
        std::vector<Bits> found;
        for (Bits i = 0; i < 32; ++i)
          if ((in.a >> i & 1) != 0 && base < 32 && (n == 0 ? i == base : n > 0 ? i >= base : i <= base))
            found.push_back(i);
        if (n < 0) std::reverse(found.begin(), found.end());
        const Wide place = n == 0 ? 0 : (n > 0 ? Wide{n} : -Wide{n}) - 1;
        return LaneResult{.d = place < static_cast<Wide>(found.size()) ? found[static_cast<size_t>(place)]
                                                                       : Bits{0xffffffff}};
      });
}

TEST(IntegerSemantics, PairsOfHalves) {
  const auto rows = rows_of(integer_edges(), integer_edges());
  for (const bool sign : {false, true}) {
    const auto expect_pairs = [&](const char* what, Op op, std::initializer_list<Mod> mods,
                                  const std::function<Wide(Wide, Wide)>& f) {
      expect_lanes(what, make_key(op, {sign ? Type::s16x2 : Type::u16x2}, mods), {.d = 4, .a = 4, .b = 4},
                   rows, [&](const LaneInput& in) {
                     Bits d = 0;
                     for (int i = 0; i < 32; i += 16) {
                       const Type t = sign ? Type::s16 : Type::u16;
                       d |= (static_cast<Bits>(f(number_of(t, in.a >> i), number_of(t, in.b >> i))) & 0xffff)
                            << i;
                     }
                     return LaneResult{.d = d};
                   });
    };
    expect_pairs("add", Op::add, {}, [](Wide a, Wide b) { return a + b; });
    expect_pairs("min", Op::min, {}, [](Wide a, Wide b) { return std::min(a, b); });
    expect_pairs("max", Op::max, {}, [](Wide a, Wide b) { return std::max(a, b); });
    if (!sign) continue;
    expect_pairs("min.relu", Op::min, {Mod::relu},
                 [](Wide a, Wide b) { return std::max<Wide>(0, std::min(a, b)); });
    expect_pairs("max.relu", Op::max, {Mod::relu}, [](Wide a, Wide b) { return std::max({a, b, Wide{0}}); });
  }
  expect_numbers("min.relu", Op::min, Type::s32, {Mod::relu}, 2,
                 [](Wide a, Wide b, Wide) { return std::max<Wide>(0, std::min(a, b)); });
  expect_numbers("max.relu", Op::max, Type::s32, {Mod::relu}, 2, [](Wide a, Wide b, Wide) {
    return std::max({a, b, Wide{0}});
  });
}

TEST(IntegerSemantics, UnsupportedFormsAreRefused) {
  for (const HandlerSet* set : runnable_handlers()) {
    EXPECT_EQ(set->select(make_key(Op::mul, {Type::u64}, {Mod::wide})), nullptr);
    EXPECT_EQ(set->select(make_key(Op::sub, {Type::u32}, {Mod::sat})), nullptr);
    EXPECT_EQ(set->select(make_key(Op::add, {Type::tf32})), nullptr);
    EXPECT_EQ(set->select(make_key(Op::bfe, {Type::u16})), nullptr);
    EXPECT_EQ(set->select(make_key(Op::multimem, {Type::f32})), nullptr);
  }
}

}  // namespace
}  // namespace lanescope::exec::harness
