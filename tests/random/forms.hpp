// The instruction forms that programs are made of: an opcode with its types, modifiers, state space and
// vector width, as one writes it. They come from the instruction table, so that a new row brings its forms
// with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/checks.hpp"

namespace lanescope::random {

struct Form {
  std::string text;  ///< "add.rn.ftz.f32"
  ptx::Mnemonic mnemonic;

  [[nodiscard]] ptx::Op op() const { return mnemonic.op; }
  [[nodiscard]] bool has(ptx::Mod m) const { return mnemonic.modifiers[static_cast<size_t>(m)]; }
  [[nodiscard]] ptx::Type type() const {
    return mnemonic.types.empty() ? ptx::Type::none : mnemonic.types.front();
  }
};

/// What a program needs to use a form, and for register instructions what they compute with.
enum class Group : uint8_t {
  integer,       ///< arithmetic of integers
  logic,         ///< bits
  compare,       ///< set, setp, selp, slct, testp
  convert,       ///< between integers, f32 and f64
  single,        ///< arithmetic of f32
  doubles,       ///< arithmetic of f64
  half,          ///< everything with f16, bf16 and smaller floating-point types
  approximate,   ///< results that the ISA gives with an error
  video,         ///< of pairs and quadruples
  scalar_video,  ///< of one part of each operand
  carry,         ///< integer arithmetic that reads or writes the carry flag
  load,
  store,
  atomic,
  warp,
  barrier,  ///< votes of a block
  fence,
  none  ///< not used
};
inline constexpr size_t group_count = static_cast<size_t>(Group::none);
[[nodiscard]] Group group_of(const Form& form);

/// Every form of the instruction table that a program may use, as text. Of opcodes with very many
/// combinations (ld, st, atom, …) a fixed random sample.
[[nodiscard]] std::vector<std::string> forms_of_table();

/// The forms at hand, by group and opcode: an opcode with many forms comes up as often as one with few.
class Catalog {
 public:
  /// Throws lanescope::Error for a text that is no form.
  explicit Catalog(const std::vector<std::string>& texts);
  Catalog(Catalog&&) = default;
  Catalog(const Catalog&) = delete;  // the groups point into forms_

  /// This form, and what it cannot do without: programs are about it alone.
  [[nodiscard]] static Catalog of_one(const std::string& text);

  [[nodiscard]] const std::vector<Form>& forms() const { return forms_; }
  /// The one form that programs are about, or null.
  [[nodiscard]] const Form* alone() const { return alone_ ? forms_.data() : nullptr; }
  /// The forms of a group, one list for each opcode.
  [[nodiscard]] const std::vector<std::vector<const Form*>>& group(Group g) const {
    return groups_[static_cast<size_t>(g)];
  }

 private:
  std::vector<Form> forms_;
  bool alone_ = false;
  std::vector<std::vector<std::vector<const Form*>>> groups_;
};

/// A list of forms in a file: a line holds an opcode and the rest of each of its forms ("add .s32 .rn.f32").
[[nodiscard]] std::vector<std::string> read_forms(const std::string& text);
[[nodiscard]] std::string written(const std::vector<std::string>& forms);

}  // namespace lanescope::random
