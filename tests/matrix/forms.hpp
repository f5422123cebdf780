// Every form of the matrix instructions as a kernel of one instruction: what it reads (values made from a
// seed), what it writes. The same text runs on a GPU (on_gpu.cpp, which records what comes out) and on the
// engine (forms_test.cpp).
//
// A kernel's parameters are three addresses: the registers' contents (Form::in.size() words a lane), a piece
// of memory for each block (Form::memory_bytes), and the output (Form::out_words words a lane).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace lanescope::matrix {

/// What a 32-bit word holds, so that random values come out worth multiplying.
enum class Kind : uint8_t {
  raw,         ///< random bits
  f16,         ///< two of them
  bf16,        ///< two
  tf32,        ///< an f32 with random low bits
  f32_narrow,  ///< accumulator beside f16 and fp8
  f32_wide,    ///< accumulator beside bf16 and tf32
  f64,         ///< half of one: even words hold the low half
  e4m3,        ///< four
  e5m2,        ///< four
  s32,         ///< accumulator: small or near the limits
  ordered,     ///< sparsity metadata, two increasing indices in each four bits
  unordered,   ///< two different indices
  pairs,       ///< sparsity metadata of one in two: 0100 or 1110
};

/// A kernel.
struct Form {
  std::string name;
  std::string body;      ///< between the loads of %i<n> and the stores of %o<n>
  std::vector<Kind> in;  ///< by word
  uint32_t out_words = 0;
  uint32_t lanes = 32;        ///< threads of a block
  uint32_t memory_bytes = 0;  ///< of each block
  Kind memory = Kind::raw;
  uint32_t blocks = 8;
  bool stores_itself = false;  ///< the body writes to %out, its block's part of the output
};

/// Distributions of floating-point values: block b takes b % distributions, in odd rounds as many more.
inline constexpr uint32_t distributions = 8;

inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
inline uint64_t seed_of(const std::string& name) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// How the fields of a floating-point format are spread by a distribution: exponents in [low, high], one of
/// `zeros` values is zero if zeros is not 0, mantissas are masked.
struct Spread {
  int low, high;
  uint32_t zeros;
  uint64_t mantissa;
};

inline uint64_t float_bits(uint64_t r, int exponent_bits, int mantissa_bits, const Spread& s, bool any) {
  const uint64_t sign = r & 1, exponents = (uint64_t{1} << exponent_bits) - 1;
  uint64_t exponent, mantissa = (r >> 8 & ((uint64_t{1} << mantissa_bits) - 1));
  const uint64_t choice = mix(r);
  if (any) {  // all bit patterns; infinities and NaNs made rarer
    exponent = choice >> 8 & exponents;
    if (exponent == exponents && (choice & 7) != 0) exponent = exponents / 2;
  } else {
    exponent = static_cast<uint64_t>(s.low) + (choice >> 8) % static_cast<uint64_t>(s.high - s.low + 1);
    mantissa &= s.mantissa;
    if (s.zeros != 0 && (choice >> 40) % 4 < s.zeros) exponent = mantissa = 0;
  }
  return sign << (exponent_bits + mantissa_bits) | exponent << mantissa_bits | mantissa;
}

/// A spread for a format with the given bias and exponent bits. Formats as wide as f32 stay where products
/// fit, but for the last two distributions, which go to the ends.
inline Spread spread_of(uint32_t distribution, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 2;
  const bool wide = exponent_bits >= 8;
  const auto cut = [&](int low, int high) {
    return std::array<int, 2>{low < 0 ? 0 : low, high > top ? top : high};
  };
  const uint64_t all = ~uint64_t{0}, none = 0, few = uint64_t{3} << (mantissa_bits - 2);
  std::array<int, 2> e{};
  switch (distribution) {
    case 1: e = cut(bias - 3, bias + 3); return {e[0], e[1], 0, all};
    case 2: e = wide ? cut(bias - 16, bias + 16) : cut(0, top); return {e[0], e[1], 0, all};
    case 3: e = wide ? cut(bias - 16, bias + 16) : cut(0, top); return {e[0], e[1], 3, all};
    case 4: e = cut(bias - 12, bias + 12); return {e[0], e[1], 1, none};
    case 5: e = cut(bias - 1, bias + 1); return {e[0], e[1], 1, few};
    case 6: e = wide ? cut(bias - 76, bias - 60) : cut(0, 2); return {e[0], e[1], 0, all};
    case 7: e = wide ? cut(bias + 60, bias + 64) : cut(top - 2, top); return {e[0], e[1], 0, all};
    case 8: e = wide ? cut(bias - 82, bias - 72) : cut(0, 1); return {e[0], e[1], 2, all};
    case 9: e = wide ? cut(bias + 62, bias + 64) : cut(top - 1, top); return {e[0], e[1], 1, few};
    case 10: e = wide ? cut(bias - 76, bias - 73) : cut(0, 0); return {e[0], e[1], 3, all};
    case 11: e = wide ? cut(0, 6) : cut(0, 4); return {e[0], e[1], 1, all};
    case 12: e = cut(bias, bias); return {e[0], e[1], 0, all};
    case 13: e = cut(bias - 1, bias + 12); return {e[0], e[1], 2, few};
    case 14: e = cut(bias - 30, bias + 30); return {e[0], e[1], 3, few};
    default: return {0, top, 0, all};
  }
}
inline Spread accumulator_spread(uint32_t distribution, bool wide) {
  constexpr int bias = 127;
  const uint64_t all = ~uint64_t{0};
  switch (distribution) {
    case 1: return {bias - 6, bias + 8, 0, all};
    case 2: return {bias - 48, bias + 32, 0, all};
    case 3: return {bias - 48, bias + 32, 2, all};
    case 4: return {bias - 24, bias + 24, 1, 0};
    case 5: return {bias - 24, bias + 4, 1, all};
    case 6: return wide ? Spread{0, 10, 0, all} : Spread{bias - 50, bias - 16, 0, all};
    case 7: return wide ? Spread{245, 254, 1, all} : Spread{bias + 16, bias + 40, 1, all};
    case 8: return {0, 1, 2, all};
    case 9: return wide ? Spread{252, 254, 1, all} : Spread{bias + 30, bias + 36, 1, all};
    case 10: return {0, 0, 3, all};
    case 11: return {0, 30, 2, all};
    case 12: return {bias, bias + 4, 1, all};
    case 13: return {bias - 2, bias + 26, 0, all};
    case 14: return {bias - 60, bias + 60, 3, all};
    default: return {0, 254, 0, all};
  }
}

/// The word `index` of the values that `seed` names.
inline uint32_t word_of(Kind kind, uint32_t distribution, uint64_t seed, uint64_t index) {
  const uint64_t r = mix(seed ^ mix(index));
  const bool any = distribution == 0 || distribution == 15;
  const auto packed = [&](int exponent_bits, int mantissa_bits, uint32_t count) {
    const Spread s = spread_of(distribution, exponent_bits, mantissa_bits);
    const uint32_t bits = 32 / count;
    uint32_t word = 0;
    for (uint32_t i = 0; i < count; ++i)
      word |= static_cast<uint32_t>(float_bits(mix(r + i), exponent_bits, mantissa_bits, s, any))
              << (i * bits);
    return word;
  };
  switch (kind) {
    case Kind::raw: return static_cast<uint32_t>(r);
    case Kind::f16: return packed(5, 10, 2);
    case Kind::bf16: return packed(8, 7, 2);
    case Kind::tf32: return packed(8, 23, 1);
    case Kind::e4m3: return packed(4, 3, 4);
    case Kind::e5m2: return packed(5, 2, 4);
    case Kind::f32_narrow:
    case Kind::f32_wide:
      return static_cast<uint32_t>(
          float_bits(r, 8, 23, accumulator_spread(distribution, kind == Kind::f32_wide), any));
    case Kind::f64: {
      const uint64_t whole = mix(seed ^ mix(index & ~uint64_t{1}));
      Spread s{1023 - 30, 1023 + 30, 0, ~uint64_t{0}};
      if (distribution == 4 || distribution == 5) s = {1023 - 60, 1023 + 4, 1, 0xf000000000001};
      if (distribution == 6) s = {0, 600, 0, ~uint64_t{0}};
      if (distribution == 7) s = {1500, 2046, 0, ~uint64_t{0}};
      const uint64_t bits = float_bits(whole, 11, 52, s, any);
      return static_cast<uint32_t>((index & 1) != 0 ? bits >> 32 : bits);
    }
    case Kind::s32: {
      const auto small = static_cast<int32_t>(r >> 40) - (1 << 23);
      const int32_t near =
          r % 2 != 0 ? INT32_MAX - static_cast<int32_t>(r >> 46) : INT32_MIN + static_cast<int32_t>(r >> 46);
      return static_cast<uint32_t>(distribution % 2 != 0 ? near : small);
    }
    case Kind::ordered:
    case Kind::unordered:
    case Kind::pairs: {
      constexpr uint32_t increasing[] = {4, 8, 12, 9, 13, 14}, others[] = {1, 2, 3, 6, 7, 11};
      uint32_t word = 0;
      for (uint32_t i = 0; i < 8; ++i) {
        const uint64_t x = mix(r + i);
        const bool other = kind == Kind::unordered && (x >> 20) % 2 != 0;
        const uint32_t nibble = kind == Kind::pairs ? (x % 2 != 0 ? 4u : 14u)
                                : other             ? others[x % 6]
                                                    : increasing[x % 6];
        word |= nibble << (4 * i);
      }
      return word;
    }
  }
  return 0;
}

/// The registers of all lanes, and the memory, of all blocks.
inline std::vector<uint32_t> registers_of(const Form& f, uint32_t round = 0) {
  std::vector<uint32_t> words;
  words.reserve(size_t{f.blocks} * f.lanes * f.in.size());
  const uint64_t seed = seed_of(f.name) + round;
  for (uint32_t lane = 0; lane < f.blocks * f.lanes; ++lane)
    for (size_t w = 0; w < f.in.size(); ++w)
      words.push_back(word_of(f.in[w], lane / f.lanes % distributions + round % 2 * distributions, seed,
                              uint64_t{lane} << 10 | w));
  return words;
}
inline std::vector<uint32_t> memory_of(const Form& f, uint32_t round = 0) {
  std::vector<uint32_t> words;
  words.reserve(size_t{f.blocks} * f.memory_bytes / 4);
  const uint64_t seed = ~seed_of(f.name) - round;
  for (uint32_t block = 0; block < f.blocks; ++block)
    for (uint32_t w = 0; w < f.memory_bytes / 4; ++w)
      words.push_back(word_of(f.memory, block % distributions + round % 2 * distributions, seed,
                              uint64_t{block} << 32 | w));
  return words;
}

/// One number for each distribution: all words of the blocks that take it (FNV-1a).
inline std::vector<uint32_t> hashes_of(const Form& f, const std::vector<uint32_t>& out) {
  const size_t block_words = size_t{f.lanes} * f.out_words;
  std::vector<uint32_t> hashes(f.blocks < distributions ? f.blocks : distributions, 0x811c9dc5u);
  for (size_t i = 0; i < out.size(); ++i) {
    uint32_t& h = hashes[i / block_words % distributions];
    for (uint32_t shift = 0; shift < 32; shift += 8) h = (h ^ (out[i] >> shift & 0xff)) * 0x01000193u;
  }
  return hashes;
}

/// The whole kernel.
inline std::string text_of(const Form& f) {
  const auto n = [](auto x) { return std::to_string(x); };
  std::string t =
      ".visible .entry " + f.name + "(.param .u64 p_in, .param .u64 p_mem, .param .u64 p_out)\n{\n";
  t += ".reg .b32 %i<" + n(f.in.size() + 1) + ">; .reg .b32 %o<" + n(f.out_words + 1) + ">;\n";
  t += ".reg .b32 %th, %block, %threads, %g, %s, %n; .reg .b64 %in, %mem, %out, %x, %y; .reg .pred %p, %q; "
       ".reg .b32 %t<8>;\n";
  t += ".reg .b64 %da, %db;\n";
  t += "mov.u32 %th, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %threads, %ntid.x;\n";
  t += "mad.lo.u32 %g, %block, %threads, %th;\n";
  t += "ld.param.u64 %in, [p_in]; ld.param.u64 %mem, [p_mem]; ld.param.u64 %out, [p_out];\n";
  t += "mul.wide.u32 %x, %g, " + n(f.in.size() * 4) + "; add.u64 %in, %in, %x;\n";
  t += "mul.wide.u32 %x, %block, " + n(f.memory_bytes) + "; add.u64 %mem, %mem, %x;\n";
  if (f.stores_itself)
    t += "mul.wide.u32 %x, %block, " + n(f.out_words * 4 * f.lanes) + "; add.u64 %out, %out, %x;\n";
  else
    t += "mul.wide.u32 %x, %g, " + n(f.out_words * 4) + "; add.u64 %out, %out, %x;\n";
  for (size_t i = 0; i < f.in.size(); ++i) t += "ld.global.b32 %i" + n(i) + ", [%in+" + n(4 * i) + "];\n";
  t += f.body;
  if (!f.stores_itself)
    for (uint32_t i = 0; i < f.out_words; ++i)
      t += "st.global.b32 [%out+" + n(4 * i) + "], %o" + n(i) + ";\n";
  return t + "ret;\n}\n";
}
inline std::string header() { return ".version 9.0\n.target sm_90a\n.address_size 64\n"; }

// ---- The list.

/// Makes forms: operands are taken from the input words in order.
class Maker {
 public:
  std::vector<Form> forms;

  void all() {
    dense();
    sparse();
    moves();
    wmma();
    wgmma();
  }

 private:
  static std::string n(uint64_t x) { return std::to_string(x); }
  static std::string identifier(std::string s) {
    for (size_t at = 0; (at = s.find("::", at)) != std::string::npos;) s.replace(at, 2, "_");
    for (char& c : s)
      if (c == '.') c = '_';
    return s;
  }
  static std::string list(const char* prefix, uint32_t first, uint32_t count) {
    std::string t = "{";
    for (uint32_t i = 0; i < count; ++i) t += (i != 0 ? "," : "") + std::string(prefix) + n(first + i);
    return t + "}";
  }
  /// Adds `count` input words; gives them as a vector operand.
  static std::string take(Form& f, Kind kind, uint32_t count) {
    const auto first = static_cast<uint32_t>(f.in.size());
    f.in.insert(f.in.end(), count, kind);
    return list("%i", first, count);
  }
  static std::string give(Form& f, uint32_t count) {
    const uint32_t first = f.out_words;
    f.out_words += count;
    return list("%o", first, count);
  }
  /// The same for f64: registers made from two words each; `before` and `after` put the moves.
  static std::string take64(Form& f, uint32_t count, std::string& before) {
    const auto first = static_cast<uint32_t>(f.in.size());
    f.in.insert(f.in.end(), 2 * size_t{count}, Kind::f64);
    std::string t = "{";
    for (uint32_t i = 0; i < count; ++i) {
      const std::string name = "%w" + n(first / 2 + i);
      before += ".reg .f64 " + name + "; mov.b64 " + name + ", {%i" + n(first + 2 * i) + ",%i" +
                n(first + 2 * i + 1) + "};\n";
      t += (i != 0 ? "," : "") + name;
    }
    return t + "}";
  }
  static std::string give64(Form& f, uint32_t count, std::string& before, std::string& after) {
    const uint32_t first = f.out_words;
    f.out_words += 2 * count;
    std::string t = "{";
    for (uint32_t i = 0; i < count; ++i) {
      const std::string name = "%v" + n(first / 2 + i);
      before += ".reg .f64 " + name + ";\n";
      after += "mov.b64 {%o" + n(first + 2 * i) + ",%o" + n(first + 2 * i + 1) + "}, " + name + ";\n";
      t += (i != 0 ? "," : "") + name;
    }
    return t + "}";
  }
  static Kind kind_of(const std::string& type, const std::string& other = "") {
    if (type == "f16") return Kind::f16;
    if (type == "bf16") return Kind::bf16;
    if (type == "tf32") return Kind::tf32;
    if (type == "e4m3") return Kind::e4m3;
    if (type == "e5m2") return Kind::e5m2;
    if (type == "f32") return other == "bf16" || other == "tf32" ? Kind::f32_wide : Kind::f32_narrow;
    if (type == "s32") return Kind::s32;
    return Kind::raw;
  }
  static uint32_t bits_of(const std::string& type) {
    if (type == "f64") return 64;
    if (type == "f32" || type == "s32" || type == "tf32") return 32;
    if (type == "f16" || type == "bf16") return 16;
    if (type == "b1") return 1;
    return type == "s4" || type == "u4" ? 4 : 8;
  }
  static bool is_float(const std::string& type) {
    return type[0] != 's' && type[0] != 'u' && type[0] != 'b' ? true : type == "bf16";
  }

  struct Shape {
    uint32_t m, n, k;
    [[nodiscard]] std::string name() const {
      return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
    }
  };

  /// mma: `lead` up to the shape, `mid` between layouts and types, `tail` after the types.
  void mma(const std::string& lead, Shape s, const std::string& layouts, const std::string& mid,
           const std::string& d, const std::string& a, const std::string& b, const std::string& c,
           const std::string& tail, Kind metadata = Kind::raw, int selector = -1) {
    Form f;
    const bool sparse = selector >= 0;
    const std::string text =
        lead + "." + s.name() + "." + layouts + mid + "." + d + "." + a + "." + b + "." + c + tail;
    f.name = identifier(text) + (sparse ? "_" + n(static_cast<uint64_t>(selector)) : "");
    f.blocks = is_float(d) ? 64 : 16;
    if (sparse) f.blocks /= 2;
    std::string before, after, dd, aa, bb, cc;
    const uint32_t quads = s.m == 8 && s.k == 4 && a == "f16" ? 4 : 1;  // four matrices at once
    const auto words = [&](uint32_t elements, const std::string& type) {
      return elements * quads * bits_of(type) / 32 / 32;
    };
    if (a == "f64") {
      dd = give64(f, s.m * s.n / 32, before, after);
      aa = take64(f, s.m * s.k / 32, before);
      bb = take64(f, s.n * s.k / 32, before);
      cc = take64(f, s.m * s.n / 32, before);
    } else {
      dd = give(f, words(s.m * s.n, d));
      aa = take(f, kind_of(a), words(s.m * s.k, a) / (sparse ? 2 : 1));
      bb = take(f, kind_of(b), words(s.n * s.k, b));
      cc = take(f, kind_of(c, a), words(s.m * s.n, c));
    }
    f.body = before + text + " " + dd + "," + aa + "," + bb + "," + cc;
    if (sparse) {
      f.in.push_back(metadata);
      f.body += ",%i" + n(f.in.size() - 1) + "," + n(static_cast<uint64_t>(selector));
    }
    f.body += ";\n" + after;
    forms.push_back(f);
  }

  void dense() {
    const std::string lead = "mma.sync.aligned";
    for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"}) {
      mma(lead, {8, 8, 4}, layouts, "", "f32", "f16", "f16", "f32", "");
      mma(lead, {8, 8, 4}, layouts, "", "f32", "f16", "f16", "f16", "");
      mma(lead, {8, 8, 4}, layouts, "", "f16", "f16", "f16", "f16", "");
    }
    for (const uint32_t k : {8u, 16u}) {
      mma(lead, {16, 8, k}, "row.col", "", "f32", "f16", "f16", "f32", "");
      mma(lead, {16, 8, k}, "row.col", "", "f16", "f16", "f16", "f16", "");
      mma(lead, {16, 8, k}, "row.col", "", "f32", "bf16", "bf16", "f32", "");
      mma(lead, {16, 8, k / 2}, "row.col", "", "f32", "tf32", "tf32", "f32", "");
    }
    for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
      mma(lead, {8, 8, 4}, "row.col", rounding, "f64", "f64", "f64", "f64", "");
      for (const uint32_t k : {4u, 8u, 16u})
        mma(lead, {16, 8, k}, "row.col", rounding, "f64", "f64", "f64", "f64", "");
    }
    for (const uint32_t k : {16u, 32u})
      for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"})
          for (const char* d : {"f32", "f16"}) mma(lead, {16, 8, k}, "row.col", "", d, a, b, d, "");
    for (const char* saturate : {"", ".satfinite"}) {
      for (const char* a : {"s8", "u8"})
        for (const char* b : {"s8", "u8"}) {
          mma(lead, {8, 8, 16}, "row.col", saturate, "s32", a, b, "s32", "");
          mma(lead, {16, 8, 16}, "row.col", saturate, "s32", a, b, "s32", "");
          mma(lead, {16, 8, 32}, "row.col", saturate, "s32", a, b, "s32", "");
        }
      for (const char* a : {"s4", "u4"})
        for (const char* b : {"s4", "u4"}) {
          mma(lead, {8, 8, 32}, "row.col", saturate, "s32", a, b, "s32", "");
          mma(lead, {16, 8, 32}, "row.col", saturate, "s32", a, b, "s32", "");
          mma(lead, {16, 8, 64}, "row.col", saturate, "s32", a, b, "s32", "");
        }
    }
    for (const char* operation : {".xor.popc", ".and.popc"}) {
      mma(lead, {8, 8, 128}, "row.col", "", "s32", "b1", "b1", "s32", operation);
      mma(lead, {16, 8, 128}, "row.col", "", "s32", "b1", "b1", "s32", operation);
      mma(lead, {16, 8, 256}, "row.col", "", "s32", "b1", "b1", "s32", operation);
    }
  }

  void sparse() {
    for (const bool ordered : {false, true}) {
      const std::string lead = ordered ? "mma.sp::ordered_metadata.sync.aligned" : "mma.sp.sync.aligned";
      const Kind fours = ordered ? Kind::ordered : Kind::unordered;
      for (int selector = 0; selector < 4; ++selector) {
        mma(lead, {16, 8, 16}, "row.col", "", "f32", "f16", "f16", "f32", "", fours, selector);
        if (selector < 2)
          mma(lead, {16, 8, 32}, "row.col", "", "f32", "f16", "f16", "f32", "", fours, selector);
        if (selector < 2)
          mma(lead, {16, 8, 16}, "row.col", "", "f32", "tf32", "tf32", "f32", "", Kind::pairs, selector);
        mma(lead, {16, 8, 8}, "row.col", "", "f32", "tf32", "tf32", "f32", "", Kind::pairs, selector);
        if (selector < 2)
          mma(lead, {16, 8, 32}, "row.col", "", "s32", "s8", "s8", "s32", "", fours, selector);
        if (selector < 2)
          mma(lead, {16, 8, 64}, "row.col", "", "s32", "s4", "s4", "s32", "", fours, selector);
      }
      mma(lead, {16, 8, 16}, "row.col", "", "f16", "f16", "f16", "f16", "", fours, 2);
      mma(lead, {16, 8, 32}, "row.col", "", "f16", "f16", "f16", "f16", "", fours, 1);
      mma(lead, {16, 8, 16}, "row.col", "", "f32", "bf16", "bf16", "f32", "", fours, 3);
      mma(lead, {16, 8, 32}, "row.col", "", "f32", "bf16", "bf16", "f32", "", fours, 0);
      for (const char* a : {"s8", "u8"})
        for (const char* b : {"s8", "u8"}) {
          mma(lead, {16, 8, 32}, "row.col", ".satfinite", "s32", a, b, "s32", "", fours, 1);
          mma(lead, {16, 8, 64}, "row.col", "", "s32", a, b, "s32", "", fours, 0);
        }
      for (const char* a : {"s4", "u4"})
        for (const char* b : {"s4", "u4"}) {
          mma(lead, {16, 8, 64}, "row.col", ".satfinite", "s32", a, b, "s32", "", fours, 0);
          mma(lead, {16, 8, 128}, "row.col", "", "s32", a, b, "s32", "", fours, 0);
        }
      for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"})
          mma(lead, {16, 8, 64}, "row.col", "", "f32", a, b, "f32", "", fours, 0);
    }
  }

  /// ldmatrix, stmatrix, movmatrix. Row addresses are multiples of 16 bytes below 4096.
  void moves() {
    const std::string fill =
        ".shared .align 16 .b8 sh[4096];\nmov.u32 %s, sh; mul.wide.u32 %x, %th, 128; add.u64 %y, %mem, %x; "
        "mad.lo.u32 %n, %th, 128, %s;\n";
    std::string copy = fill;
    for (uint32_t i = 0; i < 128; i += 4)
      copy += "ld.global.b32 %t0, [%y+" + n(i) + "]; st.shared.b32 [%n+" + n(i) + "], %t0;\n";
    copy += "bar.sync 0;\n";
    for (const uint32_t count : {1u, 2u, 4u})
      for (const char* trans : {"", ".trans"}) {
        Form f;
        f.memory_bytes = 4096;
        f.in = {Kind::raw};
        const std::string text = "ldmatrix.sync.aligned.m8n8.x" + n(count) + trans + ".shared.b16";
        f.name = identifier(text);
        f.body = copy + "and.b32 %t1, %i0, 0xff0; add.u32 %t1, %t1, %s;\n" + text + " " + give(f, count) +
                 ",[%t1];\n";
        forms.push_back(f);

        // Rows of its own for each lane, so that no two are stored to one place.
        Form g;
        g.in = {Kind::raw};
        g.out_words = 32;
        g.stores_itself = true;
        const std::string store = "stmatrix.sync.aligned.m8n8.x" + n(count) + trans + ".shared.b16";
        g.name = identifier(store);
        std::string data = take(g, Kind::raw, count);
        g.body = fill + "and.b32 %i0, %i0, 0x70; add.u32 %t1, %n, %i0;\n";
        for (uint32_t i = 0; i < 128; i += 4)
          g.body += "mov.b32 %t0, 0; st.shared.b32 [%n+" + n(i) + "], %t0;\n";
        g.body += "bar.sync 0;\n" + store + " [%t1]," + data + ";\nbar.sync 0;\nadd.u64 %y, %out, %x;\n";
        for (uint32_t i = 0; i < 128; i += 4)
          g.body += "ld.shared.b32 %t0, [%n+" + n(i) + "]; st.global.b32 [%y+" + n(i) + "], %t0;\n";
        forms.push_back(g);
      }
    Form f;
    f.name = "movmatrix_sync_aligned_m8n8_trans_b16";
    f.in = {Kind::raw};
    f.out_words = 1;
    f.body = "movmatrix.sync.aligned.m8n8.trans.b16 %o0, %i0;\n";
    forms.push_back(f);
  }

  /// One fragment of wmma.
  struct Fragment {
    uint32_t elements;  ///< of the matrix
    uint32_t registers;
    uint32_t rows, columns;
  };

  static uint32_t wmma_registers(char which, Shape s, const std::string& type) {
    if (which == 'c' || which == 'd') return type == "f16" ? 4 : s.m == 8 && s.n == 8 ? 2 : 8;
    if (type == "f16") return 8;
    if (type == "f64" || type == "b1" || type == "s4" || type == "u4") return 1;
    if (type == "tf32") return 4;
    const uint32_t rows = which == 'a' ? s.m : s.n;
    const uint32_t sixteen = type == "bf16" ? 4 : 2;
    return rows == 16 ? sixteen : rows == 32 ? sixteen * 2 : sixteen / 2;
  }

  void wmma_memory(Shape s, char which, const std::string& layout, const std::string& type,
                   bool shared = false) {
    const bool store = which == 'd', wide = type == "f64";
    Form f;
    f.memory_bytes = 8192;
    f.blocks = 2;
    const uint32_t registers = wmma_registers(which, s, type);
    const bool accumulator = which == 'c' || store;
    const uint32_t rows = which == 'b' ? s.k : s.m, columns = which == 'a' ? s.k : s.n;
    const uint32_t line = layout == "row" ? columns : rows;
    // A stride that is larger than it must be, and a multiple of 16 bytes.
    uint32_t stride = line + 128 / bits_of(type);
    if (type == "b1") stride = line + 128;
    const std::string text = std::string("wmma.") + (store ? "store.d" : std::string("load.") + which) +
                             ".sync.aligned." + layout + "." + s.name() + (shared ? ".shared." : ".global.") +
                             type;
    f.name = identifier(text) + (accumulator ? "" : "");
    std::string before, after, data;
    if (store) {
      f.stores_itself = true;
      data = wide ? take64(f, registers, before) : take(f, Kind::raw, registers);
      f.out_words = 64;
      f.body = before + text + " [%out]," + data + "," + n(stride) + ";\n";
      f.memory_bytes = 0;
    } else {
      data = wide ? give64(f, registers, before, after) : give(f, registers);
      std::string address = "%mem";
      if (shared) {
        before +=
            ".shared .align 16 .b8 sh[8192];\nmov.u32 %s, sh; mul.wide.u32 %x, %th, 256; add.u64 %y, %mem, "
            "%x; mad.lo.u32 %n, %th, 256, %s;\n";
        for (uint32_t i = 0; i < 256; i += 16)
          for (uint32_t j = 0; j < 16; j += 4)
            before += "ld.global.b32 %t0, [%y+" + n(i + j) + "]; st.shared.b32 [%n+" + n(i + j) + "], %t0;\n";
        before += "bar.sync 0;\n";
        address = "%s";
      }
      f.body = before + text + " " + data + ",[" + address + "]," + n(stride) + ";\n" + after;
    }
    forms.push_back(f);
  }

  void wmma_product(Shape s, const std::string& layouts, const std::string& d, const std::string& a,
                    const std::string& b, const std::string& c, const std::string& mid,
                    const std::string& tail) {
    Form f;
    const bool half = a == "f16";
    const std::string lead = a == "b1" ? "wmma.mma" + mid + ".sync.aligned." : "wmma.mma.sync.aligned.";
    const std::string text = lead + layouts + "." + s.name() + (a == "b1" ? "" : mid) + "." + d +
                             (half ? "" : "." + a + "." + b) + "." + c + tail;
    f.name = identifier(text);
    f.blocks = is_float(d) ? 16 : 8;
    std::string before, after, dd, aa, bb, cc;
    if (a == "f64") {
      dd = give64(f, 2, before, after);
      aa = take64(f, 1, before);
      bb = take64(f, 1, before);
      cc = take64(f, 2, before);
    } else {
      dd = give(f, wmma_registers('d', s, d));
      // Fragments may hold elements twice; the copies must agree, which loading them sees to.
      const bool load = a != "tf32" && a != "b1" && a != "s4" && a != "u4";
      if (load) {
        f.memory_bytes = 4096;
        f.memory = kind_of(a);
        const size_t dot = layouts.find('.');
        const std::string la = layouts.substr(0, dot), lb = layouts.substr(dot + 1);
        const uint32_t ra = wmma_registers('a', s, a), rb = wmma_registers('b', s, b);
        before += ".reg .b32 %fa<" + n(ra) + ">; .reg .b32 %fb<" + n(rb) + ">;\n";
        aa = list("%fa", 0, ra);
        bb = list("%fb", 0, rb);
        before +=
            "wmma.load.a.sync.aligned." + la + "." + s.name() + ".global." + a + " " + aa + ",[%mem];\n";
        before +=
            "wmma.load.b.sync.aligned." + lb + "." + s.name() + ".global." + b + " " + bb + ",[%mem+2048];\n";
      } else {
        aa = take(f, kind_of(a), wmma_registers('a', s, a));
        bb = take(f, kind_of(b), wmma_registers('b', s, b));
      }
      cc = take(f, kind_of(c, a), wmma_registers('c', s, c));
    }
    f.body = before + text + " " + dd + "," + aa + "," + bb + "," + cc + ";\n" + after;
    forms.push_back(f);
  }

  void wmma() {
    const std::vector<Shape> shapes{{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
    const std::vector<std::string> both{"row", "col"};
    const std::vector<std::string> pairs{"row.row", "row.col", "col.row", "col.col"};
    for (const Shape s : shapes) {
      for (const std::string& layout : both) {
        for (const char* type : {"f16", "bf16", "s8", "u8"}) {
          wmma_memory(s, 'a', layout, type);
          wmma_memory(s, 'b', layout, type);
        }
        for (const char* type : {"f16", "f32", "s32"}) {
          wmma_memory(s, 'c', layout, type);
          wmma_memory(s, 'd', layout, type);
        }
        wmma_memory(s, 'a', layout, "f16", true);
        wmma_memory(s, 'b', layout, "f16", true);
      }
      for (const std::string& layouts : pairs) {
        for (const char* d : {"f16", "f32"})
          for (const char* c : {"f16", "f32"}) wmma_product(s, layouts, d, "f16", "f16", c, "", "");
        wmma_product(s, layouts, "f32", "bf16", "bf16", "f32", "", "");
        for (const char* type : {"s8", "u8"})
          for (const char* saturate : {"", ".satfinite"})
            wmma_product(s, layouts, "s32", type, type, "s32", "", saturate);
      }
    }
    for (const std::string& layout : both) {
      wmma_memory({16, 16, 8}, 'a', layout, "tf32");
      wmma_memory({16, 16, 8}, 'b', layout, "tf32");
      wmma_memory({16, 16, 8}, 'c', layout, "f32");
      wmma_memory({16, 16, 8}, 'd', layout, "f32");
      for (const char which : {'a', 'b', 'c', 'd'}) wmma_memory({8, 8, 4}, which, layout, "f64");
      for (const char which : {'c', 'd'}) {
        wmma_memory({8, 8, 32}, which, layout, "s32");
        wmma_memory({8, 8, 128}, which, layout, "s32");
      }
    }
    for (const char* type : {"s4", "u4"}) {
      wmma_memory({8, 8, 32}, 'a', "row", type);
      wmma_memory({8, 8, 32}, 'b', "col", type);
      wmma_product({8, 8, 32}, "row.col", "s32", type, type, "s32", "", "");
      wmma_product({8, 8, 32}, "row.col", "s32", type, type, "s32", "", ".satfinite");
    }
    wmma_memory({8, 8, 128}, 'a', "row", "b1");
    wmma_memory({8, 8, 128}, 'b', "col", "b1");
    for (const char* operation : {".xor.popc", ".and.popc"})
      wmma_product({8, 8, 128}, "row.col", "s32", "b1", "b1", "s32", operation, "");
    for (const std::string& layouts : pairs) {
      wmma_product({16, 16, 8}, layouts, "f32", "tf32", "tf32", "f32", "", "");
      for (const char* rounding : {"", ".rn", ".rz", ".rm", ".rp"})
        wmma_product({8, 8, 4}, layouts, "f64", "f64", "f64", "f64", rounding, "");
    }
  }

 public:
  /// A matrix in shared memory as wgmma's descriptors tell of it.
  struct Descriptor {
    uint32_t start, leading, stride, base = 0, swizzle = 0;
  };
  struct Group {
    std::string d, a, b;
    uint32_t n = 16;
    bool a_in_registers = false;
    Descriptor da{0, 128, 256, 0, 0}, db{8192, 128, 256, 0, 0};
    int trans_a = 0, trans_b = 0, scale_a = 1, scale_b = 1;
    bool scale_d = true;
    std::string tail{};
    std::string label{};
    int selector = -1;
    uint32_t blocks = 8;
  };

 private:
  static std::string descriptor(const char* name, const Descriptor& d) {
    // Bits 0…13 of the shared address and the offsets, without their lowest four.
    std::string t = "add.u32 %t1, %s, " + n(d.start) +
                    "; and.b32 %t1, %t1, 0x3ffff; shr.u32 %t1, %t1, 4; cvt.u64.u32 " + std::string(name) +
                    ", %t1;\n";
    const uint64_t rest = uint64_t{d.leading >> 4} << 16 | uint64_t{d.stride >> 4} << 32 |
                          uint64_t{d.base} << 49 | uint64_t{d.swizzle} << 62;
    return t + "or.b64 " + name + ", " + name + ", " + n(rest) + ";\n";
  }
  void group(const Group& g) {
    Form f;
    f.lanes = 128;
    f.blocks = g.blocks;
    f.memory_bytes = 49152;
    f.memory = kind_of(g.a);
    const bool sparse = g.selector >= 0, with_scales = g.d == "f32" || g.d == "f16";
    const uint32_t k = (g.a == "b1" ? 256 : 256 / bits_of(g.a)) * (sparse ? 2 : 1);
    const std::string text = std::string("wgmma.mma_async") + (sparse ? ".sp" : "") + ".sync.aligned." +
                             Shape{64, g.n, k}.name() + "." + g.d + "." + g.a + "." + g.b + g.tail;
    f.name = identifier(text) + "_" + g.label;
    const uint32_t registers = g.n / 2 * bits_of(g.d) / 32;
    std::string t =
        ".shared .align 1024 .b8 sh[49152];\nmov.u32 %s, sh; mul.wide.u32 %x, %th, 4; add.u64 %y, %mem, %x; "
        "mad.lo.u32 %n, %th, 4, %s; mov.u32 %t2, 96;\n";
    t += "LOOP_" + f.name +
         ":\nld.global.b32 %t0, [%y]; ld.global.b32 %t1, [%y+512]; ld.global.b32 %t3, [%y+1024]; "
         "ld.global.b32 %t4, [%y+1536];\n";
    t += "st.shared.b32 [%n], %t0; st.shared.b32 [%n+512], %t1; st.shared.b32 [%n+1024], %t3; st.shared.b32 "
         "[%n+1536], %t4;\n";
    t += "add.u64 %y, %y, 2048; add.u32 %n, %n, 2048; add.u32 %t2, %t2, -4; setp.ne.u32 %p, %t2, 0; @%p bra "
         "LOOP_" +
         f.name + ";\n";
    t += "fence.proxy.async; bar.sync 0;\n";
    const std::string c = take(f, kind_of(g.d, g.a), registers);
    give(f, registers);
    std::string a = "%da";
    if (g.a_in_registers)
      a = take(f, kind_of(g.a), 4);
    else
      t += descriptor("%da", g.da);
    t += descriptor("%db", g.db);
    t += "setp.eq.u32 %p, 0, " + std::string(g.scale_d ? "0" : "1") + ";\n";
    std::string metadata;
    if (sparse) {
      f.in.push_back(g.a == "tf32" ? Kind::pairs : Kind::ordered);
      metadata = ",%i" + n(f.in.size() - 1) + "," + n(static_cast<uint64_t>(g.selector));
    }
    t += "wgmma.fence.sync.aligned;\n";
    t += text + " " + c + "," + a + ",%db" + metadata + ",%p";
    if (with_scales) t += "," + std::to_string(g.scale_a) + "," + std::to_string(g.scale_b);
    if (g.a == "f16" || g.a == "bf16") {
      if (!g.a_in_registers) t += "," + std::to_string(g.trans_a);
      t += "," + std::to_string(g.trans_b);
    }
    t += ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
    for (uint32_t i = 0; i < registers; ++i) t += "mov.b32 %o" + n(i) + ", %i" + n(i) + ";\n";
    f.body = t;
    forms.push_back(f);
  }

  void wgmma() {
    // Types, A from both places.
    std::vector<Group> types;
    for (const char* d : {"f32", "f16"}) {
      types.push_back({.d = d, .a = "f16", .b = "f16"});
      for (const char* a : {"e4m3", "e5m2"})
        for (const char* b : {"e4m3", "e5m2"}) types.push_back({.d = d, .a = a, .b = b});
    }
    types.push_back({.d = "f32", .a = "bf16", .b = "bf16"});
    types.push_back({.d = "f32", .a = "tf32", .b = "tf32"});
    for (const char* a : {"s8", "u8"})
      for (const char* b : {"s8", "u8"})
        for (const char* saturate : {"", ".satfinite"})
          types.push_back({.d = "s32", .a = a, .b = b, .tail = saturate});
    types.push_back({.d = "s32", .a = "b1", .b = "b1", .tail = ".and.popc"});
    for (Group g : types) {
      g.blocks = g.d == "s32" ? 2 : 8;
      g.a_in_registers = true;
      g.label = "registers";
      group(g);
      g.a_in_registers = false;
      g.label = "memory";
      group(g);
      g.da = {0, 4096, 128, 0, 0};
      g.db = {8192, 16384, 128, 0, 0};
      g.label = "apart";
      g.blocks = 2;
      group(g);
      // K-major with swizzles: rows of 128, 64, 32 bytes in groups of eight.
      for (uint32_t swizzle = 1; swizzle <= 3; ++swizzle) {
        const uint32_t eight_rows = 2048u >> swizzle;
        g.da = {0, 16, eight_rows, 0, swizzle};
        g.db = {8192, 16, eight_rows, 0, swizzle};
        g.label = "swizzle" + n(swizzle);
        group(g);
        if (swizzle < 3) {
          // The second step along K inside the swizzled row.
          g.da.start += 32;
          g.db.start += 32;
          g.label = "swizzle" + n(swizzle) + "_next";
          group(g);
        }
      }
      g.scale_d = false;
      g.label = "no_d";
      group(g);
    }
    for (const char* a : {"f16", "bf16"}) {
      for (const auto& [sa, sb] : {std::array{-1, 1}, std::array{1, -1}, std::array{-1, -1}}) {
        Group g{.d = "f32", .a = a, .b = a, .scale_a = sa, .scale_b = sb};
        g.label = "scales" + n(static_cast<uint64_t>(sa + 1)) + n(static_cast<uint64_t>(sb + 1));
        group(g);
      }
      for (const int ta : {0, 1})
        for (const int tb : {0, 1}) {
          if (ta == 0 && tb == 0) continue;
          for (uint32_t swizzle = 0; swizzle <= 3; ++swizzle)
            for (const bool swapped : {false, true}) {
              Group g{.d = "f32", .a = a, .b = a, .n = 64, .trans_a = ta, .trans_b = tb, .blocks = 2};
              const uint32_t atom = swizzle == 0 ? 128 : 2048u >> swizzle;  // bytes of the unit that repeats
              const auto place = [&](uint32_t start, bool trans) {
                if (!trans)
                  return swizzle == 0 ? Descriptor{start, 128, 256, 0, 0}
                                      : Descriptor{start, 16, atom, 0, swizzle};
                return swapped ? Descriptor{start, 2 * atom, atom, 0, swizzle}
                               : Descriptor{start, atom, 8 * atom, 0, swizzle};
              };
              g.da = place(0, ta != 0);
              g.db = place(16384, tb != 0);
              g.label = "trans" + n(static_cast<uint64_t>(ta)) + n(static_cast<uint64_t>(tb)) + "_swizzle" +
                        n(swizzle) + (swapped ? "_swapped" : "");
              group(g);
            }
        }
    }
    // Matrices that do not begin where the swizzle's pattern does.
    for (uint32_t swizzle = 1; swizzle <= 3; ++swizzle)
      for (const uint32_t base : {0u, 1u, 3u}) {
        Group g{.d = "f32", .a = "f16", .b = "f16", .n = 32, .blocks = 2};
        const uint32_t atom = 2048u >> swizzle;
        const uint32_t shift = base * 128;
        g.da = {shift, 16, atom, base, swizzle};
        g.db = {16384 + shift, 16, atom, base, swizzle};
        g.label = "base" + n(base) + "_swizzle" + n(swizzle);
        group(g);
        g.da.base = g.db.base = 0;
        g.label += "_zero";
        if (base != 0) group(g);
      }
    for (uint32_t columns = 8; columns <= 256; columns += 8) {
      Group g{.d = "f32", .a = "f16", .b = "f16", .n = columns, .blocks = 1};
      g.da = {0, 16, 1024, 0, 1};
      g.db = {8192, 16, 1024, 0, 1};
      g.label = "columns";
      group(g);
      if (columns > 32 && columns % 16 != 0) continue;
      Group h{.d = "s32", .a = "s8", .b = "s8", .n = columns, .a_in_registers = true, .blocks = 1};
      h.db = {8192, 16, 1024, 0, 1};
      h.label = "columns";
      if (columns != 40) group(h);
    }
    for (const char* d : {"f32", "f16"}) {
      for (const bool registers : {true, false})
        for (const int selector : {0, 1}) {
          const auto add = [&](const char* a, const char* b, const char* tail) {
            if (bits_of(a) == 8 && selector == 1) return;
            Group g{.d = d, .a = a, .b = b, .a_in_registers = registers, .tail = tail, .selector = selector};
            g.db = {8192, 128, 512, 0, 0};
            g.label = (registers ? "registers" : "memory") + n(static_cast<uint64_t>(selector));
            if (a[0] == 's' || a[0] == 'u') g.d = "s32", g.blocks = 2;
            group(g);
          };
          add("f16", "f16", "");
          add("e4m3", "e5m2", "");
          if (std::string(d) == "f16") continue;
          add("bf16", "bf16", "");
          add("tf32", "tf32", "");
          add("s8", "u8", "");
          add("u8", "u8", ".satfinite");
        }
    }
  }
};

inline std::vector<Form> all_forms() {
  Maker maker;
  maker.all();
  return maker.forms;
}

}  // namespace lanescope::matrix
