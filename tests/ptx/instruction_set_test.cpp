// The table of instructions as the rest of the program sees it.
#include "ptx/instruction_set.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lanescope::ptx {
namespace {

TEST(InstructionSet, EveryOpcodeIsFoundByItsName) {
  for (size_t i = 0; i < static_cast<size_t>(Op::count); ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_EQ(find_op(name_of(op)), op) << name_of(op);
    EXPECT_EQ(info(op).name, name_of(op));
  }
  EXPECT_EQ(find_op("brx.idx"), std::nullopt);
  EXPECT_EQ(find_op(""), std::nullopt);
}

// A word that is both a type and a modifier would be read as one of them only.
TEST(InstructionSet, EveryDottedWordHasOneMeaning) {
  std::set<std::string_view> words;
  const auto add = [&](std::string_view word) { EXPECT_TRUE(words.insert(word).second) << word; };
  for (int i = 1; i <= static_cast<int>(Type::b1); ++i) add(name_of(static_cast<Type>(i)));
  for (int i = 1; i <= static_cast<int>(Space::shared_cluster); ++i) add(name_of(static_cast<Space>(i)));
  for (const char* vector : {"v2", "v4", "v8"}) add(vector);
  for (size_t i = 0; i < modifier_count; ++i) add(name_of(static_cast<Mod>(i)));
  for (const std::string_view word : words) EXPECT_TRUE(find_word(word).has_value()) << word;
  EXPECT_EQ(find_word("L1::evict_last")->mod, Mod::L1_evict_last);
  EXPECT_EQ(find_word("volatile")->mod, Mod::volatile_);
  EXPECT_EQ(find_word("nan")->mod, Mod::nan);
  EXPECT_EQ(find_word("NaN")->mod, Mod::NaN);
  EXPECT_EQ(find_word("shared::cta")->space, Space::shared_cta);
  EXPECT_EQ(find_word("v4")->vector, 4);
  EXPECT_EQ(find_word("frob"), std::nullopt);
}

TEST(InstructionSet, SpecialRegisters) {
  for (int i = 1; i < static_cast<int>(SpecialRegister::count); ++i) {
    const auto reg = static_cast<SpecialRegister>(i);
    EXPECT_EQ(find_special_register(name_of(reg)), reg) << name_of(reg);
  }
  EXPECT_EQ(type_of(SpecialRegister::tid_x), Type::u32);
  EXPECT_EQ(type_of(SpecialRegister::clock64), Type::u64);
  EXPECT_EQ(type_of(SpecialRegister::is_explicit_cluster), Type::pred);
}

TEST(InstructionSet, RowsSayWhatIsLegal) {
  const InstructionInfo& add = info(Op::add);
  EXPECT_TRUE(add.supported);
  EXPECT_EQ(add.op_class, OpClass::arithmetic);
  EXPECT_EQ(add.type_count, 2);
  EXPECT_EQ(add.types[1], mask_of(Type::none) | mask_of(Type::f16) | mask_of(Type::bf16));
  EXPECT_NE(add.types[0] & mask_of(Type::f32), 0u);
  EXPECT_EQ(add.types[0] & mask_of(Type::b32), 0u);
  EXPECT_NE(info(Op::sust).types_unsupported[0] & mask_of(Type::f32), 0u);
  EXPECT_EQ(add.forms[0].operand_count, 3);
  EXPECT_TRUE(add.forms[0].operands[0].destination);
  EXPECT_FALSE(add.forms[0].operands[1].destination);

  const InstructionInfo& bar = info(Op::bar);
  EXPECT_EQ(bar.form_count, 4);
  EXPECT_EQ(bar.forms[0].when, Mod::red);
  EXPECT_EQ(bar.forms[3].when, Mod::count);

  EXPECT_FALSE(info(Op::tcgen05_shift).supported);
  EXPECT_EQ(info(Op::ld).spaces[0] & mask_of(Space::param_func), mask_of(Space::param_func));
  EXPECT_EQ(info(Op::cvta).spaces[0] & mask_of(Space::generic), 0);
}

TEST(InstructionSet, NearestNames) {
  EXPECT_EQ(nearest_op("shfll"), "shfl");
  EXPECT_EQ(nearest_op("setpp"), "setp");
  EXPECT_EQ(nearest_op("completely_different"), "");
  EXPECT_EQ(nearest_op(std::string(1000, 'a')), "");
  EXPECT_EQ(nearest_word("aproximate"), "");
  EXPECT_EQ(nearest_word("aprox"), "approx");
}

}  // namespace
}  // namespace lanescope::ptx
