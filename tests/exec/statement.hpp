// Single PTX statements made into kernels, and the values they are run on: what instruction_results_test.cpp
// runs on the engine and record_results.cpp on a GPU. Both sides take everything from here.
//
// A statement names its registers by what they are: `%a_f32`, `%b_b32_f16x2` and so on are sources a, b, c, e
// (the letter), declared with the type that follows, and filled with the values of a class, which is the type
// or the word behind it. `%d_TYPE` is the destination; `%p` and `%q` are predicate destinations.
#pragma once

#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lanescope::statements {

struct Register {
  std::string name, type, values;
};

/// The registers of a statement, by name.
inline std::map<std::string, Register> registers_of(const std::string& statement) {
  std::map<std::string, Register> found;
  for (size_t at = statement.find('%'); at != std::string::npos; at = statement.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < statement.size() && (std::isalnum(statement[end]) != 0 || statement[end] == '_')) ++end;
    const std::string name = statement.substr(at, end - at);
    if (name == "%p" || name == "%q") {
      found[name] = {name, "pred", ""};
      continue;
    }
    if (name.size() < 4) continue;  // its own
    const size_t next = name.find('_', 3);
    const std::string type = name.substr(3, next == std::string::npos ? next : next - 3);
    found[name] = {name, type, next == std::string::npos ? type : name.substr(next + 1)};
  }
  return found;
}

inline uint32_t bytes_of(const std::string& type) {
  if (type == "pred" || type.ends_with("32") || type.ends_with("x2")) return 4;
  return type.ends_with("64") ? 8 : 2;
}

/// A kernel NAME(.param .u64 in, .param .u64 out): thread i reads in[4 * i…], 64 bits for each of a, b, c and
/// e, and writes out[i]: the destination, and in bits 32 and 33 the predicates.
inline std::string kernel_of(const std::string& statement, const std::string& name) {
  const auto registers = registers_of(statement);
  std::string text = ".visible .entry " + name + "(.param .u64 in, .param .u64 out)\n{\n";
  for (const auto& [register_name, r] : registers) text += ".reg ." + r.type + " " + register_name + ";\n";
  text +=
      ".reg .b32 %i<4>; .reg .b64 %l<4>;\nld.param.u64 %l0, [in];\nld.param.u64 %l1, [out];\n"
      "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\nmad.lo.u32 %i0, %i0, %i1, %i2;\n"
      "mad.wide.u32 %l0, %i0, 32, %l0;\nmad.wide.u32 %l1, %i0, 8, %l1;\n";
  for (const auto& [register_name, r] : registers) {
    const char letter = r.name[1];
    if (letter == 'd' || letter == 'p' || letter == 'q') continue;
    const std::string place = "[%l0+" + std::to_string(8 * (letter == 'e' ? 3 : letter - 'a')) + "]";
    if (r.type == "pred")
      text += "ld.global.b32 %i3, " + place + ";\nsetp.ne.u32 " + r.name + ", %i3, 0;\n";
    else
      text += "ld.global.b" + std::to_string(8 * bytes_of(r.type)) + " " + r.name + ", " + place + ";\n";
  }
  text += statement + "\n";
  for (const auto& [register_name, r] : registers)
    if (r.name[1] == 'd')
      text += "st.global.b" + std::to_string(8 * bytes_of(r.type)) + " [%l1], " + r.name + ";\n";
  if (registers.contains("%p"))
    text += std::string("selp.u32 %i1, 1, 0, %p;\n") +
            (registers.contains("%q") ? "selp.u32 %i2, 2, 0, %q;\nor.b32 %i1, %i1, %i2;\n" : "") +
            "st.global.b32 [%l1+4], %i1;\n";
  return text + "ret;\n}\n";
}

inline std::string module_head() { return ".version 9.0\n.target sm_90\n.address_size 64\n"; }

// ---- Values.

/// splitmix64.
inline uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// A floating-point number of `exponent_bits` and `fraction_bits`: zeros, subnormals, ones, infinities, NaNs,
/// numbers near to 1 and any bits, from 64 random bits.
inline uint64_t float_bits(uint64_t random, uint32_t exponent_bits, uint32_t fraction_bits) {
  const uint64_t sign = (random & 1) << (exponent_bits + fraction_bits);
  const uint64_t fraction_mask = (uint64_t{1} << fraction_bits) - 1;
  const uint64_t exponents = (uint64_t{1} << exponent_bits) - 1, bias = exponents >> 1;
  const uint64_t bits = mixed(random);
  uint64_t fraction = bits & fraction_mask, exponent = bits >> fraction_bits & exponents;
  switch (random >> 1 & 3) {  // fractions: any, few bits at either end, all or none
    case 0: break;
    case 1: fraction &= fraction_mask << (fraction_bits - 2); break;
    case 2: fraction = (random & 8) != 0 ? fraction & 3 : fraction_mask - (fraction & 3); break;
    default: fraction >>= random >> 4 & 7; break;
  }
  switch (random >> 8 & 15) {
    case 0: exponent = 0; break;
    case 1: exponent = exponents; break;
    case 2: exponent = 1; break;
    case 3: exponent = exponents - 1; break;
    case 4: return sign | (random >> 12 & 1) * (bias << fraction_bits);  // 0 and 1
    case 5: return sign | exponents << fraction_bits;                    // infinity
    case 6:
    case 7:
    case 8:
    case 9:
    case 10: exponent = bias - 4 + (random >> 12 & 7); break;  // near to 1
    case 11:
    case 12: exponent = bias + (random >> 12) % (fraction_bits + 9); break;  // integers and their limits
    default: break;
  }
  return sign | exponent << fraction_bits | fraction;
}

/// The value of a class in row `row` of operand `letter`.
inline uint64_t value_of(const std::string& values, char letter, uint32_t row) {
  const uint64_t r = mixed(uint64_t{row} * 8 + static_cast<uint64_t>(letter));
  const auto pair = [&](uint32_t e, uint32_t f) {
    return float_bits(r, e, f) << 16 | float_bits(mixed(r), e, f);
  };
  if (values == "all") return row;
  if (values == "pred") return r & 1;
  if (values == "f32") return float_bits(r, 8, 23);
  if (values == "f64") return float_bits(r, 11, 52);
  if (values == "f16") return float_bits(r, 5, 10);
  if (values == "bf16") return float_bits(r, 8, 7);
  if (values == "f16x2") return pair(5, 10);
  if (values == "bf16x2") return pair(8, 7);
  if (values == "f32x2") return float_bits(r, 8, 23) << 32 | float_bits(mixed(r), 8, 23);
  if (values == "oob") return (r & 3) == 0 ? 0xffff : (r & 3) == 1 ? 0x7fff : float_bits(mixed(r), 5, 10);
  // f32 near to what narrower formats can hold, and halfway between: the last 10 to 23 bits are 0 or 100…0,
  // or one more or less, or any.
  if (values == "narrow") {
    const uint64_t bits = mixed(r);
    if ((r >> 8 & 15) == 0) return float_bits(bits, 8, 23);
    const uint64_t cut = 10 + (r >> 12) % 14, low = (uint64_t{1} << cut) - 1,
                   tie = (r & 4) != 0 ? low / 2 + 1 : 0;
    const uint64_t any = (r >> 16 & 1) << 31 | (127 - 24 + (r >> 20) % 48) << 23 | (bits & 0x7fffff);
    return (r & 3) == 0 ? any : (any & ~low) + tie + ((r & 3) == 1 ? 0 : (r >> 3 & 1) != 0 ? 1 : -1);
  }
  // f64 like these: with bits behind those of f32.
  if (values == "narrow64") {
    const auto single = static_cast<uint32_t>(value_of((r & 1) != 0 ? "narrow" : "f32", letter, row + 1));
    const uint64_t wide = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(single)));
    const uint64_t low = mixed(r) & 0x1fffffff;
    return (r >> 1 & 3) == 0   ? wide
           : (r >> 1 & 3) == 1 ? wide + (r >> 3 & 7) - 3
           : (r >> 1 & 3) == 2 ? wide ^ 0x10000000
                               : wide ^ low;
  }
  if (values == "shift") return (r & 15) == 0 ? mixed(r) : (r >> 8) % 70;
  // Integers: edges, small ones of either sign, any bits, bytes and halves with edges of their own.
  const uint64_t bits = mixed(r);
  switch (r & 7) {
    case 0: return bits;
    case 1: return bits >> (r >> 8) % 64;
    case 2: return 0 - (bits >> (r >> 8) % 64);
    case 3: {
      constexpr std::array<uint64_t, 12> edges{0,          1,          0x7f,       0x80,
                                               0xff,       0x7fff,     0x8000,     0xffff,
                                               0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff};
      return (r & 8) != 0 ? edges[(r >> 8) % edges.size()] : ~edges[(r >> 8) % edges.size()];
    }
    case 4: return (bits & 0x00ff00ff00ff00ff) * ((r & 8) != 0 ? 1 : 0x80);
    case 5: return (bits & 0x8080808080808080) | (0x7f7f7f7f7f7f7f7f & (0 - (r >> 3 & 1)));
    default: return (bits & 0xffffffff) | (bits & 0xffffffff) << 32;
  }
}

/// How many rows a statement is run on: all values of a 16-bit source that is the only one.
inline uint32_t rows_of(const std::string& statement) {
  for (const auto& [name, r] : registers_of(statement))
    if (r.values == "all") return 65536;
  return 1024;
}

/// The words of `in`.
inline std::vector<uint64_t> inputs_of(const std::string& statement) {
  std::vector<uint64_t> in(size_t{rows_of(statement)} * 4);
  for (const auto& [name, r] : registers_of(statement)) {
    const char letter = name[1];
    if (letter == 'd' || letter == 'p' || letter == 'q') continue;
    const size_t place = letter == 'e' ? 3 : static_cast<size_t>(letter - 'a');
    for (uint32_t row = 0; row < rows_of(statement); ++row)
      in[size_t{row} * 4 + place] = value_of(r.values, letter, row);
  }
  return in;
}

/// FNV-1a over the words of `out`.
inline uint64_t digest_of(const std::vector<uint64_t>& out) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint64_t word : out)
    for (uint32_t i = 0; i < 64; i += 8) hash = (hash ^ (word >> i & 0xff)) * 0x100000001b3;
  return hash;
}

}  // namespace lanescope::statements
