// See matrix.hpp.
#include "ptx/matrix.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace lanescope::ptx {
namespace {

bool one_of(Type t, std::initializer_list<Type> list) {
  return std::find(list.begin(), list.end(), t) != list.end();
}
bool is_fp8(Type t) { return t == Type::e4m3 || t == Type::e5m2; }
bool is_byte(Type t) { return t == Type::s8 || t == Type::u8; }
bool is_nibble(Type t) { return t == Type::s4 || t == Type::u4; }

class Reader {
 public:
  Reader(Op op, const std::vector<Type>& types, const std::bitset<modifier_count>& modifiers,
         const MatrixShape& shape, MatrixForm& form)
      : op_(op), types_(types), mods_(modifiers), shape_(shape), f_(form) {}

  std::string run() {
    f_.m = shape_.m;
    f_.n = shape_.n;
    f_.k = shape_.k;
    f_.sparse = has(Mod::sp) || has(Mod::sp_ordered_metadata);
    switch (op_) {
      case Op::ldmatrix:
      case Op::stmatrix: return rows();
      case Op::movmatrix:
        f_.kind = MatrixForm::Kind::transpose;
        return is(8, 8, 0) ? "" : "movmatrix moves matrices of .m8n8";
      case Op::mma: return mma();
      case Op::wmma: return wmma();
      case Op::tcgen05_ld:
      case Op::tcgen05_ld_red:
      case Op::tcgen05_st: return tensor_access();
      case Op::tcgen05_mma:
      case Op::tcgen05_mma_ws: return tensor_product();
      default: return wgmma();
    }
  }

 private:
  Op op_;
  const std::vector<Type>& types_;
  const std::bitset<modifier_count>& mods_;
  const MatrixShape& shape_;
  MatrixForm& f_;

  [[nodiscard]] bool has(Mod m) const { return mods_[static_cast<size_t>(m)]; }
  [[nodiscard]] bool is(uint32_t m, uint32_t n, uint32_t k) const {
    return shape_.m == m && shape_.n == n && shape_.k == k;
  }
  [[nodiscard]] bool rounded() const { return has(Mod::rn) || has(Mod::rz) || has(Mod::rm) || has(Mod::rp); }
  [[nodiscard]] bool column(uint32_t which) const { return (shape_.columns >> which & 1) != 0; }

  std::string rows() {
    const bool load = op_ == Op::ldmatrix;
    f_.kind = load ? MatrixForm::Kind::load_rows : MatrixForm::Kind::store_rows;
    const std::string moves = std::string(name_of(op_)) + " moves matrices of ";
    const bool square = load && is(16, 16, 0), wide = load && is(8, 16, 0), tall = !load && is(16, 8, 0);
    if (!square && !wide && !tall && !is(8, 8, 0))
      return moves + (load ? ".m8n8, .m16n16 or .m8n16" : ".m8n8 or .m16n8");
    // Elements of 4 and 6 bits have a format on either side of the load in place of a type.
    const bool spread = has(Mod::b6x16_p32) || has(Mod::b4x16_p64);
    if (spread != has(Mod::b8x16)) return ".b8x16 goes with .b6x16_p32 or .b4x16_p64";
    if (types_.size() != (spread ? 0 : 1)) return spread ? ".b8x16 takes no type" : "it takes one type";
    const bool bytes = spread || types_[0] == Type::b8;
    if (bytes != !is(8, 8, 0) || (wide && !spread)) return "this shape does not go with this type";
    if ((square || tall) && !has(Mod::trans)) return "this shape needs .trans";
    if (wide && has(Mod::trans)) return "this shape does not take .trans";
    if (square && has(Mod::x4)) return "this shape takes .x1 or .x2";
    f_.a_registers = static_cast<uint8_t>((has(Mod::x1) ? 1 : has(Mod::x2) ? 2 : 4) * (square ? 2 : 1));
    f_.a = bytes ? Type::b8 : Type::b16;
    return "";
  }

  /// The four types of a product: D and C alone for f16 of wmma.
  std::string product_types() {
    if (types_.size() == 2 && op_ == Op::wmma) {
      f_.d = types_[0];
      f_.a = f_.b = Type::f16;
      f_.c = types_[1];
      return "";
    }
    if (types_.size() != 4) return "it takes four types, those of D, A, B and C";
    f_.d = types_[0];
    f_.a = types_[1];
    f_.b = types_[2];
    f_.c = types_[3];
    return "";
  }

  /// Whether the operands' types go with one another.
  [[nodiscard]] bool types_agree() const {
    const Type a = f_.a, b = f_.b;
    const bool half = one_of(f_.d, {Type::f16, Type::f32}) && one_of(f_.c, {Type::f16, Type::f32});
    if (is_fp8(a)) return is_fp8(b) && half && f_.d == f_.c;
    if (is_byte(a)) return is_byte(b) && f_.d == Type::s32 && f_.c == Type::s32;
    if (is_nibble(a)) return is_nibble(b) && f_.d == Type::s32 && f_.c == Type::s32;
    if (a != b) return false;
    switch (a) {
      case Type::f16: return half;
      case Type::bf16:
      case Type::tf32: return f_.d == Type::f32 && f_.c == Type::f32;
      case Type::f64: return f_.d == Type::f64 && f_.c == Type::f64;
      case Type::b1: return f_.d == Type::s32 && f_.c == Type::s32;
      default: return false;
    }
  }

  /// What the modifiers of a product ask of its types.
  [[nodiscard]] std::string product_modifiers() const {
    const bool integers = is_byte(f_.a) || is_nibble(f_.a);
    if (has(Mod::satfinite) && !integers) return ".satfinite goes with integers only";
    if (rounded() && f_.a != Type::f64) return "rounding goes with .f64 only";
    const bool popc = has(Mod::popc), logic = has(Mod::xor_) || has(Mod::and_);
    if ((f_.a == Type::b1) != popc || popc != logic) return ".b1 and it alone takes .xor.popc or .and.popc";
    return "";
  }

  [[nodiscard]] bool has_kind() const {
    return has(Mod::kind_f8f6f4) || has(Mod::kind_mxf8f6f4) || has(Mod::kind_mxf4) || has(Mod::kind_mxf4nvf4);
  }

  /// mma with .kind, for sm_120a and its like.
  std::string small_mma() {
    f_.kind = MatrixForm::Kind::product;
    f_.small = true;
    if (std::string bad = block_scales(); !bad.empty()) return bad;
    const bool four = has(Mod::kind_mxf4) || has(Mod::kind_mxf4nvf4), scaled = has(Mod::block_scale);
    if (types_.size() != (scaled ? 5u : 4u)) return "it takes four types, with .block_scale five";
    f_.d = types_[0];
    f_.a = types_[1];
    f_.b = types_[2];
    f_.c = types_[3];
    if (scaled) f_.scale = types_[4];
    const auto fits = [&](Type t) {
      return t == Type::e2m1 || (!four && one_of(t, {Type::e4m3, Type::e5m2, Type::e3m2, Type::e2m3}));
    };
    if (!fits(f_.a) || !fits(f_.b) || f_.c != f_.d || !(f_.d == Type::f32 || (f_.d == Type::f16 && !scaled)))
      return "these types do not go together";
    f_.scale_blocks = scale_blocks();
    if (scaled && f_.scale != Type::ue8m0 && !(f_.scale_blocks == 4 && f_.scale == Type::ue4m3))
      return "these scale factors do not go with this .kind";
    if (f_.sparse) return ".sp does not go with this .kind";
    if (has(Mod::satfinite) || rounded() || has(Mod::popc) || has(Mod::xor_) || has(Mod::and_))
      return "it takes no such modifier";
    if (shape_.layouts != 2 || column(0) || !column(1)) return "it takes .row.col here";
    if (!is(16, 8, four ? 64 : 32)) return "this shape does not go with these types";
    f_.b_column = true;
    f_.d_registers = f_.c_registers = f_.d == Type::f16 ? 2 : 4;
    f_.a_registers = 4;
    f_.b_registers = 2;
    return "";
  }

  std::string mma() {
    if (has_kind()) return small_mma();
    if (has(Mod::block_scale) || has(Mod::scale_vec_1X) || has(Mod::scale_vec_2X) || has(Mod::scale_vec_4X))
      return "scale factors go with .kind";
    f_.kind = MatrixForm::Kind::product;
    if (std::string bad = product_types(); !bad.empty()) return bad;
    if (!types_agree()) return "these types do not go together";
    if (std::string bad = product_modifiers(); !bad.empty()) return bad;
    if (shape_.layouts != 2) return "it takes the layouts of A and B";
    f_.a_column = column(0);
    f_.b_column = column(1);
    const bool quads = is(8, 8, 4) && f_.a == Type::f16;
    if (!quads && (f_.a_column || !f_.b_column)) return "it takes .row.col here";
    if (f_.sparse ? !sparse_shape() : !dense_shape()) return "this shape does not go with these types";
    if (f_.a == Type::f16 && (quads ? f_.d == Type::f16 && f_.c == Type::f32 : f_.d != f_.c))
      return "the types of C and D do not go together";
    const uint32_t lanes = quads ? 8 : 32;
    f_.d_registers = registers(f_.m * f_.n, f_.d, lanes);
    f_.a_registers = registers(f_.sparse ? f_.m * f_.k / 2 : f_.m * f_.k, f_.a, lanes);
    f_.b_registers = registers(f_.k * f_.n, f_.b, lanes);
    f_.c_registers = registers(f_.m * f_.n, f_.c, lanes);
    return "";
  }
  static uint8_t registers(uint32_t elements, Type type, uint32_t lanes) {
    const uint32_t bits = elements / lanes * element_bits(type);
    return static_cast<uint8_t>(type == Type::f64 ? bits / 64 : bits / 32);
  }

  [[nodiscard]] bool dense_shape() const {
    const bool narrow = f_.n == 8;
    const auto k = [&](std::initializer_list<uint16_t> list) {
      return narrow && f_.m == 16 && std::find(list.begin(), list.end(), f_.k) != list.end();
    };
    if (f_.a == Type::f64) return is(8, 8, 4) || k({4, 8, 16});
    if (f_.a == Type::f16) return is(8, 8, 4) || k({8, 16});
    if (f_.a == Type::bf16) return k({8, 16});
    if (f_.a == Type::tf32) return k({4, 8});
    if (is_fp8(f_.a)) return k({16, 32});
    if (is_byte(f_.a)) return is(8, 8, 16) || k({16, 32});
    if (is_nibble(f_.a)) return is(8, 8, 32) || k({32, 64});
    return is(8, 8, 128) || k({128, 256});
  }
  [[nodiscard]] bool sparse_shape() const {
    const auto k = [&](std::initializer_list<uint16_t> list) {
      return f_.n == 8 && f_.m == 16 && std::find(list.begin(), list.end(), f_.k) != list.end();
    };
    if (f_.a == Type::f16 || f_.a == Type::bf16) return k({16, 32});
    if (f_.a == Type::tf32) return k({8, 16});
    // On targets up to sm_90 with f32 alone.
    if (is_fp8(f_.a)) return k({64}) && f_.d == Type::f32;
    if (is_byte(f_.a)) return k({32, 64});
    return is_nibble(f_.a) && k({64, 128});
  }

  std::string wmma() {
    const bool product = has(Mod::mma);
    if (!product) return wmma_memory();
    f_.kind = MatrixForm::Kind::product;
    if (std::string bad = product_types(); !bad.empty()) return bad;
    if (!types_agree()) return "these types do not go together";
    if (is_fp8(f_.a) || f_.sparse) return "these types do not go together";
    if (f_.a != f_.b) return "A and B are of one type";
    if (std::string bad = product_modifiers(); !bad.empty()) return bad;
    if (shape_.layouts != 2) return "it takes the layouts of A and B";
    f_.a_column = column(0);
    f_.b_column = column(1);
    if (!wmma_shape(f_.a)) return "this shape does not go with these types";
    if ((f_.a == Type::b1 || is_nibble(f_.a)) && (f_.a_column || !f_.b_column))
      return "it takes .row.col here";
    f_.d_registers = wmma_registers('d', f_.d);
    f_.a_registers = wmma_registers('a', f_.a);
    f_.b_registers = wmma_registers('b', f_.b);
    f_.c_registers = wmma_registers('c', f_.c);
    return "";
  }
  std::string wmma_memory() {
    const bool store = has(Mod::store);
    f_.kind = store ? MatrixForm::Kind::store : MatrixForm::Kind::load;
    f_.fragment = has(Mod::a) ? 'a' : has(Mod::b) ? 'b' : has(Mod::c) ? 'c' : 'd';
    if (store != (f_.fragment == 'd')) return store ? "it stores .d" : "it loads .a, .b or .c";
    if (types_.size() != 1) return "it takes one type";
    if (shape_.layouts != 1) return "it takes one layout";
    f_.a = types_[0];
    f_.a_column = column(0);
    const bool accumulator = f_.fragment == 'c' || store;
    bool good = false;
    for (const Type element : {Type::f16, Type::bf16, Type::tf32, Type::f64, Type::s8, Type::s4, Type::b1}) {
      if (!wmma_shape(element)) continue;
      if (!accumulator)
        good |= f_.a == element || (element == Type::s8 && f_.a == Type::u8) ||
                (element == Type::s4 && f_.a == Type::u4);
      else if (element == Type::f16)
        good |= one_of(f_.a, {Type::f16, Type::f32});
      else if (element == Type::f64)
        good |= f_.a == Type::f64;
      else
        good |= f_.a == (one_of(element, {Type::bf16, Type::tf32}) ? Type::f32 : Type::s32);
    }
    if (!good) return "this shape does not go with this type";
    if ((f_.a == Type::b1 || is_nibble(f_.a)) && f_.a_column != (f_.fragment == 'b'))
      return "this layout does not go with this type";
    f_.a_registers = wmma_registers(f_.fragment, f_.a);
    return "";
  }
  [[nodiscard]] bool wmma_shape(Type a) const {
    if (a == Type::tf32) return is(16, 16, 8);
    if (a == Type::f64) return is(8, 8, 4);
    if (is_nibble(a)) return is(8, 8, 32);
    if (a == Type::b1) return is(8, 8, 128);
    return is(16, 16, 16) || is(8, 32, 16) || is(32, 8, 16);
  }
  /// Fragments of f16 hold A and B twice, others once.
  [[nodiscard]] uint8_t wmma_registers(char which, Type type) const {
    if (which == 'c' || which == 'd') return registers(f_.m * f_.n, type, 32);
    if (type == Type::f16) return 8;
    return registers(which == 'a' ? f_.m * f_.k : f_.k * f_.n, type, 32);
  }

  std::string wgmma() {
    if (!has(Mod::mma_async)) {
      f_.kind = has(Mod::wait_group) ? MatrixForm::Kind::group_wait : MatrixForm::Kind::group_order;
      if (f_.m != 0 || !types_.empty() || f_.sparse || has(Mod::satfinite) || has(Mod::and_) ||
          has(Mod::popc))
        return "it takes no shape, type or other modifier";
      return "";
    }
    f_.kind = MatrixForm::Kind::group_product;
    if (types_.size() != 3) return "it takes three types, those of D, A and B";
    f_.d = f_.c = types_[0];
    f_.a = types_[1];
    f_.b = types_[2];
    if (!types_agree() || is_nibble(f_.a) || f_.a == Type::f64) return "these types do not go together";
    if (has(Mod::satfinite) && !is_byte(f_.a)) return ".satfinite goes with integers only";
    if ((f_.a == Type::b1) != (has(Mod::and_) && has(Mod::popc))) return ".b1 and it alone takes .and.popc";
    if (f_.a == Type::b1 && f_.sparse) return "these types do not go together";
    const uint32_t k = 256 / element_bits(f_.a) * (f_.sparse ? 2 : 1);
    const bool integers = f_.d == Type::s32;
    const bool columns =
        f_.n % 8 == 0 && f_.n >= 8 && f_.n <= 256 && !(integers && f_.n > 24 && f_.n % 16 != 0);
    if (f_.m != 64 || f_.k != k || !columns) return "this shape does not go with these types";
    f_.d_registers = registers(64u * f_.n, f_.d, 128);
    f_.a_registers = 4;
    return "";
  }

  std::string tensor_access() {
    f_.kind = op_ == Op::tcgen05_st ? MatrixForm::Kind::tensor_store : MatrixForm::Kind::tensor_load;
    uint32_t registers = has(Mod::dim_16x256b) ? 4 : has(Mod::dim_16x128b) ? 2 : 1;
    constexpr std::array times{Mod::x1, Mod::x2, Mod::x4, Mod::x8, Mod::x16, Mod::x32, Mod::x64, Mod::x128};
    for (uint32_t i = 0; i < times.size(); ++i)
      if (has(times[i])) registers <<= i;
    if (registers > 128) return "there are no more than 128 registers";
    f_.a_registers = static_cast<uint8_t>(registers);
    return "";
  }

  std::string tensor_product() {
    f_.kind = MatrixForm::Kind::tensor_product;
    f_.scale_blocks = scale_blocks();
    return block_scales();
  }

  [[nodiscard]] uint8_t scale_blocks() const {
    if (!has(Mod::block_scale)) return 0;
    if (has(Mod::kind_mxf8f6f4)) return 1;
    return has(Mod::scale_vec_4X) || has(Mod::block16) ? 4 : 2;
  }

  /// Whether .block_scale and what follows it go with .kind.
  [[nodiscard]] std::string block_scales() const {
    const bool four = has(Mod::kind_mxf4nvf4), two = has(Mod::kind_mxf4), one = has(Mod::kind_mxf8f6f4);
    if ((one || two || four) != has(Mod::block_scale))
      return one || two || four ? "this .kind needs .block_scale"
                                : ".block_scale does not go with this .kind";
    const bool fits = (!has(Mod::scale_vec_1X) || one) && (!has(Mod::scale_vec_2X) || two || four) &&
                      (!has(Mod::scale_vec_4X) || four) && (!has(Mod::block16) || four) &&
                      (!has(Mod::block32) || one || two || four);
    if (!fits) return "these scale factors do not go with this .kind";
    if (four && !has(Mod::scale_vec_2X) && !has(Mod::scale_vec_4X) && !has(Mod::block16) &&
        !has(Mod::block32))
      return "it needs one of .scale_vec::2X .scale_vec::4X .block16 .block32";
    return "";
  }
};

}  // namespace

std::string read_matrix_form(Op op, const std::vector<Type>& types,
                             const std::bitset<modifier_count>& modifiers, const MatrixShape& shape,
                             MatrixForm& form) {
  return Reader(op, types, modifiers, shape, form).run();
}

MatrixForm matrix_form_of(const Instruction& in) {
  MatrixForm form;
  (void)read_matrix_form(in.op, in.types, in.modifiers, in.shape, form);
  return form;
}

}  // namespace lanescope::ptx
