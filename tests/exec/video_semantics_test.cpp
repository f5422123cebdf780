// The video instructions against the pseudocode of PTX ISA 9.0, chapters 9.7.18 and 9.7.19, on statements
// made of all their words at random.
#include <algorithm>

#include "exec/register_harness.hpp"
#include "exec/video.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec::harness {
namespace {

__extension__ using Wide = __int128;

struct Statement {
  std::string op, d_type, a_type, b_type, d_sel, a_sel, b_sel, second, mode;
  bool sat = false;
  char minus = ' ';  ///< vmad: the negated operand

  [[nodiscard]] bool is_set() const { return op.starts_with("vset"); }
  [[nodiscard]] std::string text() const {
    std::string s = op + (is_set() ? "" : "." + d_type) + "." + a_type + "." + b_type + (sat ? ".sat" : "");
    for (const std::string* word : {&mode, &second})
      if (!word->empty()) s += "." + *word;
    const auto operand = [&](char letter, const std::string& selector) {
      return std::string(minus == letter ? "-" : "") + "%" + letter +
             (selector.empty() ? "" : "." + selector);
    };
    return s + " " + operand('d', d_sel) + ", " + operand('a', a_sel) + ", " + operand('b', b_sel) + ", " +
           operand('c', "") + ";";
  }
};

struct Decoded {
  HandlerKey key;
  uint64_t imm;
};
Decoded decode(const std::string& statement) {
  const ptx::Module module =
      ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .b32 %a, %b, %c, %d;\n" +
                     statement + " }\n",
                 "test.ptx");
  const ptx::Instruction& in = module.functions[0].body[0];
  HandlerKey key;
  key.op = in.op;
  std::copy(in.types.begin(), in.types.end(), key.types.begin());
  key.modifiers = in.modifiers;
  key.sources = 3;
  return {key, std::bit_cast<uint64_t>(video_control(in))};
}

Wide extended(uint64_t bits, int width, bool sign) {
  const Wide modulus = Wide{1} << width;
  const Wide x = static_cast<Wide>(bits) & (modulus - 1);
  return sign && x >= modulus / 2 ? x - modulus : x;
}
Wide clamped(Wide x, int width, bool sign) {
  const Wide low = sign ? -(Wide{1} << (width - 1)) : 0, high = (Wide{1} << (sign ? width - 1 : width)) - 1;
  return std::clamp(x, low, high);
}
int width_of(const std::string& selector) { return selector.empty() ? 32 : selector[0] == 'b' ? 8 : 16; }
int first_of(const std::string& selector) {
  return selector.empty() ? 0 : (selector[1] - '0') * width_of(selector);
}

Wide primary(const Statement& s, Wide a, Wide b) {
  const std::string op = s.op.substr(1, s.op.find_last_not_of("24"));
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "absdiff") return a < b ? b - a : a - b;
  if (op == "min") return std::min(a, b);
  if (op == "max") return std::max(a, b);
  if (op == "avrg") return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  if (op == "shl" || op == "shr") {
    const int n = static_cast<int>(s.mode == "wrap" ? b & 31 : std::min<Wide>(b, 32));
    return op == "shl" ? a * (Wide{1} << n) : a >> n;
  }
  const bool holds = s.mode == "eq"   ? a == b
                     : s.mode == "ne" ? a != b
                     : s.mode == "lt" ? a < b
                     : s.mode == "le" ? a <= b
                     : s.mode == "gt" ? a > b
                                      : a >= b;
  return holds ? 1 : 0;
}

uint32_t scalar(const Statement& s, const LaneInput& in) {
  const bool sign = (s.is_set() ? s.a_type : s.d_type) == "s32";
  const auto operand = [](Bits x, const std::string& type, const std::string& selector) {
    return extended(cut(x, 4) >> first_of(selector), width_of(selector), type == "s32");
  };
  const bool shift = s.op == "vshl" || s.op == "vshr";
  Wide t = primary(s, operand(in.a, s.a_type, s.a_sel), operand(in.b, shift ? "u32" : s.b_type, s.b_sel));
  if (s.sat) t = clamped(t, width_of(s.d_sel), sign);
  const Wide c = extended(in.c, 32, sign);
  if (s.second == "add") return static_cast<uint32_t>(t + c);
  if (s.second == "min") return static_cast<uint32_t>(std::min(t, c));
  if (s.second == "max") return static_cast<uint32_t>(std::max(t, c));
  uint32_t d = static_cast<uint32_t>(in.c);
  for (int i = 0; i < width_of(s.d_sel); ++i) {
    const uint32_t bit = 1u << (first_of(s.d_sel) + i);
    d = (static_cast<uint64_t>(t) >> i & 1) != 0 ? d | bit : d & ~bit;
  }
  return d;
}

uint32_t several(const Statement& s, const LaneInput& in, int lanes) {
  const int width = 32 / lanes;
  const bool sign = s.d_type == "s32" && !s.is_set();
  const uint64_t ba = in.b << 32 | cut(in.a, 4);
  const auto operand = [&](const std::string& type, const std::string& selector, int first, int lane) {
    const int index = selector.empty() ? first + lane : selector[static_cast<size_t>(lanes - lane)] - '0';
    return extended(ba >> (index * width), width, type == "s32");
  };
  Wide sum = static_cast<Wide>(in.c);
  uint32_t d = 0;
  for (int i = 0; i < lanes; ++i) {
    Wide t = primary(s, operand(s.a_type, s.a_sel, 0, i), operand(s.b_type, s.b_sel, lanes, i));
    if (s.sat) t = clamped(t, width, sign);
    const bool written = s.d_sel.empty() || s.d_sel.find(static_cast<char>('0' + i), 1) != std::string::npos;
    if (written) sum += t;
    const uint64_t part = written ? static_cast<uint64_t>(t) : in.c >> (i * width);
    d |= static_cast<uint32_t>((part & ((uint64_t{1} << width) - 1)) << (i * width));
  }
  return s.second == "add" ? static_cast<uint32_t>(sum) : d;
}

uint32_t multiply_add(const Statement& s, const LaneInput& in) {
  const bool sa = s.a_type == "s32", sb = s.b_type == "s32", minus = s.minus == 'a' || s.minus == 'b';
  const bool sign = sa || sb || minus || s.minus == 'c';
  Wide t = extended(cut(in.a, 4) >> first_of(s.a_sel), width_of(s.a_sel), sa) *
           extended(cut(in.b, 4) >> first_of(s.b_sel), width_of(s.b_sel), sb);
  Wide c = extended(in.c, 32, sign);
  if (minus) t = -t;
  if (s.minus == 'c') c = -c;
  t += c + (s.second == "po" ? 1 : 0);
  t >>= s.mode == "shr7" ? 7 : s.mode == "shr15" ? 15 : 0;
  return static_cast<uint32_t>(s.sat ? clamped(t, 32, sign) : t);
}

TEST(VideoSemantics, AsThePseudocodeSays) {
  std::mt19937 random(11);
  const auto one_of = [&](std::initializer_list<const char*> words) -> std::string {
    return words.begin()[random() % words.size()];
  };
  const auto rows = rows_of(integer_edges(), integer_edges(), integer_edges(), {0}, 256);
  for (int n = 0; n < 400; ++n) {
    Statement s;
    const int lanes = static_cast<int>(random() % 3) * 2;  // 0: one part
    s.op = lanes == 0 ? one_of({"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad"})
                      : one_of({"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset"}) +
                            std::to_string(lanes);
    s.d_type = one_of({"u32", "s32"});
    s.a_type = one_of({"u32", "s32"});
    s.b_type = s.op.starts_with("vsh") ? "u32" : one_of({"u32", "s32"});
    s.sat = !s.is_set() && random() % 2 == 0;
    if (s.is_set()) s.mode = one_of({"eq", "ne", "lt", "le", "gt", "ge"});
    if (s.op.starts_with("vsh")) s.mode = one_of({"clamp", "wrap"});
    if (lanes == 0) {
      s.a_sel = one_of({"", "b0", "b1", "b2", "b3", "h0", "h1"});
      s.b_sel = one_of({"", "b0", "b1", "b2", "b3", "h0", "h1"});
      if (random() % 2 == 0)
        s.d_sel = one_of({"b0", "b1", "b2", "b3", "h0", "h1"});
      else
        s.second = one_of({"", "add", "min", "max"});
    } else {
      const auto digits = [&] {
        std::string text = lanes == 2 ? "h" : "b";
        for (int i = 0; i < lanes; ++i)
          text += static_cast<char>('0' + random() % (2 * static_cast<uint32_t>(lanes)));
        return random() % 3 == 0 ? "" : text;
      };
      s.a_sel = digits();
      s.b_sel = digits();
      s.d_sel =
          lanes == 2 ? one_of({"", "h0", "h1", "h10"}) : one_of({"", "b0", "b2", "b31", "b210", "b3210"});
      if (!s.sat) s.second = one_of({"", "add"});
    }
    if (s.op == "vmad") {
      s.d_sel.clear();
      s.mode = one_of({"", "shr7", "shr15"});
      s.second = one_of({"", "po"});
      if (s.second.empty()) s.minus = " abc"[random() % 4];
    }
    const Decoded decoded = decode(s.text());
    expect_lanes(s.text(), decoded.key, {.d = 4, .a = 4, .b = 4, .c = 4, .imm = decoded.imm}, rows,
                 [&](const LaneInput& in) {
                   return LaneResult{.d = lanes != 0       ? several(s, in, lanes)
                                          : s.op == "vmad" ? multiply_add(s, in)
                                                           : scalar(s, in)};
                 });
    if (HasFailure()) return;
  }
}

TEST(VideoSemantics, ByHand) {
  const auto run = [](const std::string& statement, Bits a, Bits b, Bits c, uint32_t expected) {
    const Decoded decoded = decode(statement);
    expect_lanes(statement, decoded.key, {.d = 4, .a = 4, .b = 4, .c = 4, .imm = decoded.imm}, {{a, b, c}},
                 [&](const LaneInput&) { return LaneResult{.d = expected}; });
  };
  run("vadd.s32.s32.s32.sat %d.b0, %a.b3, %b.h1, %c;", 0x7f000000, 0x00010000, 0xaabbccdd, 0xaabbcc7f);
  run("vadd.u32.s32.u32 %d.h1, %a.b0, %b, %c;", 0xff, 3, 0x11112222, 0x00022222);
  run("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", 0x01020304, 0x04030201, 100, 108);
  run("vavrg4.u32.u32.u32 %d, %a, %b, %c;", 0x01020304, 0x02030405, 0, 0x02030405);
  run("vadd2.s32.s32.s32.sat %d, %a, %b, %c;", 0x7fff8000, 0x00018000, 0, 0x7fff8000);
  run("vset2.s32.s32.lt %d.h1, %a, %b, %c;", 0xffff0005, 0x00000006, 0x77778888, 0x00018888);
  run("vmad.s32.s32.s32.shr7 %d, -%a.b0, %b, %c;", 2, 128, 0, static_cast<uint32_t>(-2));
}

}  // namespace
}  // namespace lanescope::exec::harness
