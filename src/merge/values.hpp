// What is known of the integers a function computes, as far as the assembler (ptxas) knows it when it looks
// for accesses to merge: which registers hold the same value up to a constant, and how many low bits of a
// value are surely zero. A value is a base, an opaque number of this analysis, plus a constant.
//
// The rules follow what ptxas 13.0 was seen to prove for sm_90 (docs/merging.md), not all that could be
// proven: constants are drawn out of sums and out of constant multiples; sums of the same two bases are one
// base, but sums are not re-ordered; minima, maxima, right shifts and lop3 lose the low bits. All addresses
// of one base are seen from the one that the program computes first: if that is 4 * (2 * i + 1), a multiple
// of 4 and no more, then nothing more is known of 4 * (2 * i) either.
//
// An access that is not guarded shows that its address is a multiple of its width, if it stands in the same
// piece of code, without branches, as what its base is computed by; then the assembler knows it of all that
// is computed from the base after the access. Of what a loop counts up it knows it in the loop alone, and of
// a parameter of the kernel where an access outside of loops is sure to have run; of nothing that is computed
// from these, but for a parameter that a loop which is unrolled counts up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "exec/unrolling.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

/// `base` plus `offset` bytes (or whatever is counted). Base 0: the value is the constant `offset`.
struct Value {
  uint32_t base = 0;
  int64_t offset = 0;
  /// The part of `offset` that was drawn out of a product, as 4 out of 4 * (i + 1).
  int64_t drawn_out = 0;
  uint32_t at = 0;  ///< the instruction that added to the offset last, if any
  friend bool operator==(const Value& a, const Value& b) { return a.base == b.base && a.offset == b.offset; }
};

/// Whether threads of a block may read different values of it.
[[nodiscard]] bool differs_by_lane(ptx::SpecialRegister reg);

class Values {
 public:
  /// `module_shared`, `local_shared`: byte offset of each
  /// variable in the block's shared memory, by Module::variables and by Function::variables (no_index where
  /// there is none); their first byte is aligned to 1024. `warps_agree`: what a warp finds out together is
  /// taken to be alike (on chips from 9.0 on). `written_out`: where the function's unrolled loops
  /// are, or nullptr.
  Values(const ptx::Function& function, const exec::Flow& flow, const exec::Loops& loops,
         const std::vector<uint32_t>& module_shared, const std::vector<uint32_t>& local_shared,
         bool warps_agree, const exec::WrittenOut* written_out);

  /// The address of a memory instruction, its first operand of kind address. Variables of shared memory are
  /// constants here, as they are for the assembler: {0, offset in the block's shared memory}.
  [[nodiscard]] Value address(uint32_t instruction) const { return addresses_[instruction]; }
  /// What an atomic operation is done with: the operand after the address.
  [[nodiscard]] Value data(uint32_t instruction) const { return data_[instruction]; }
  /// Whether all lanes that are in a block of the function have the same value, as ptxas 13.0 sees it:
  /// uniform.cpp.
  [[nodiscard]] bool uniform(uint32_t base, uint32_t block) const;
  /// Whether it is what is loaded from a kernel's parameter.
  [[nodiscard]] bool is_parameter(uint32_t base) const;
  /// How many low bits of the value are known to be zero in a block of the function (63 for zero itself).
  [[nodiscard]] uint32_t zeros(const Value& value, uint32_t block) const;
  /// Whether as many are known because of how the value is computed, and not because accesses show it.
  [[nodiscard]] bool has_zeros_itself(const Value& value, uint32_t count) const;
  /// Whether the base may change from one iteration to the next of a loop, given as the set of its blocks.
  [[nodiscard]] bool varies(uint32_t base, const std::vector<bool>& loop) const;
  /// The constant that is added to the base in each iteration of the loop with this first block; 0: the base
  /// is no register that counts up or down there.
  [[nodiscard]] int64_t step(uint32_t base, uint32_t header) const;
  /// What that register holds when the loop is entered.
  [[nodiscard]] Value start(uint32_t base, uint32_t header) const;
  /// Whether the loop compares such a register, which starts as a constant, with a constant: it runs a number
  /// of times that the assembler knows.
  [[nodiscard]] bool counted(uint32_t header, const std::vector<bool>& loop) const;

 private:
  enum class Kind : uint8_t {
    nothing,        ///< base 0
    symbol,         ///< a variable of shared memory; number: its offset
    once,           ///< what one instruction gives, that nothing is known of
    same_operands,  ///< the same for every instruction like it with these operands
    sum,
    difference,
    multiple,  ///< of a; number: the factor
    product,
    masked,  ///< a and b
    either,  ///< bits of a and b: or, xor, a choice
    join     ///< of what comes into a block
  };
  struct Node {
    Kind kind{};
    Value a, b;
    int64_t number = 0;
    uint32_t block = 0;  ///< once, join: where it comes from
    uint32_t zeros = 0;
    uint32_t shown = 0;              ///< the same, shown by accesses, of which the first one is
    uint32_t shown_at = 0;           ///< this instruction
    uint32_t round = 0;              ///< the last walk in which it was made,
    uint32_t at = 0;                 ///< where it was first made then: the instruction,
    bool scattered = false;          ///< and whether it was made again where that is not sure to have run
    uint32_t index = 0;              ///< join: of its register, among those written often
    bool used = false;               ///< join: by an instruction, or by another one that is
    int64_t seen_from = 0;           ///< drawn_out of the value that this base was made for
    std::vector<Value> incoming;     ///< join: by order of `before_[block]`
    std::vector<uint32_t> operands;  ///< same_operands: their bases
    bool differs = false;            ///< same_operands: lanes may have different ones
    /// What else has to be the same for all lanes if this is to be: of a choice its condition, of what is
    /// loaded its address. 0: nothing else.
    std::optional<uint32_t> follows;
  };
  /// What makes a node the same as another one; not of joins, which are found by block and register.
  struct Key {
    Kind kind{};
    Value a, b;
    int64_t number = 0;
    std::vector<uint64_t> more;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  enum class Search : uint8_t { go_on, leave, found };

  /// Whether `look` finds one among the nodes that a base is made of; what a node that it leaves is made of
  /// is not looked at.
  [[nodiscard]] bool is_made_of(uint32_t base, const std::function<Search(const Node&)>& look) const;
  void order_blocks();
  bool walk();
  void enter_block(uint32_t block);
  void walk_block(uint32_t block);
  void find_zeros();
  void number_pieces();
  void find_shown();
  void find_used_joins();
  [[nodiscard]] Value evaluate(const ptx::Instruction& in, uint32_t index);
  /// What addresses are made of: sums, products, bits; nothing for instructions that are none of these.
  [[nodiscard]] std::optional<Value> evaluate_integer(const ptx::Instruction& in, uint32_t index);
  /// The value of the same instruction on the same operands.
  [[nodiscard]] Value same_operands(const ptx::Instruction& in, uint32_t index);
  [[nodiscard]] Value of(const ptx::Operand& operand);
  [[nodiscard]] Value symbol(const ptx::SymbolRef& ref, int64_t offset);
  /// Value::at of what the current instruction makes.
  [[nodiscard]] uint32_t added(int64_t offset) const { return offset == 0 ? 0 : instruction_; }
  [[nodiscard]] Value add(const Value& a, const Value& b);
  [[nodiscard]] Value subtract(const Value& a, const Value& b);
  [[nodiscard]] Value multiply(const Value& a, int64_t factor);
  [[nodiscard]] Value multiply_base(uint32_t base, int64_t factor, int64_t offset);
  [[nodiscard]] Value both(Kind kind, Value a, Value b);
  [[nodiscard]] uint32_t node(Kind kind, const Value& a, const Value& b, int64_t number, uint32_t block,
                              std::vector<uint64_t> more = {}, int64_t drawn_out = 0);
  [[nodiscard]] uint32_t join(uint32_t block, uint32_t index);
  /// One of the two, as the condition says.
  [[nodiscard]] Value choice(const Value& a, const Value& b, uint32_t index, const Value& condition);
  [[nodiscard]] Value once(uint32_t index);
  [[nodiscard]] Value current(uint32_t reg) const;
  void set(uint32_t reg, const Value& value);
  /// Whether it is a parameter of the kernel: those of device functions, and what they return, lanes may have
  /// different ones of.
  [[nodiscard]] bool is_of_launch(const ptx::SymbolRef& symbol) const {
    return f_.is_entry && symbol.kind == ptx::SymbolRef::Kind::parameter;
  }
  /// Of an instruction whose result nothing else is known of: Node::follows.
  [[nodiscard]] std::optional<uint32_t> source_for_all_lanes(const ptx::Instruction& in, uint32_t index);
  void find_differences();
  [[nodiscard]] bool may_differ(const Node& n) const;
  [[nodiscard]] std::vector<uint32_t> deciding_blocks(uint32_t block) const;
  [[nodiscard]] bool lanes_part_at_end(uint32_t block) const;
  [[nodiscard]] std::vector<uint32_t> leaving_blocks(const exec::Loop& loop) const;
  [[nodiscard]] uint32_t zeros_of(const Node& n) const;
  /// Of a base with so many zeros, plus an offset, from where the base is seen.
  [[nodiscard]] static uint32_t seen(const Node& n, int64_t offset, uint32_t zeros);
  /// Of the value itself, wherever its base is seen from.
  [[nodiscard]] uint32_t own_zeros(const Value& value) const;
  /// The same, with what is shown before an instruction that takes the value.
  [[nodiscard]] uint32_t zeros_before(const Value& value, uint32_t instruction) const;
  /// What accesses show of a base, as far as it is known in a block.
  [[nodiscard]] uint32_t shown_in(uint32_t base, uint32_t block) const;

  const ptx::Function& f_;
  const exec::Flow& flow_;
  const exec::Loops& loops_;
  const std::vector<uint32_t>& module_shared_;
  const std::vector<uint32_t>& local_shared_;
  const bool warps_agree_;
  const exec::WrittenOut* const written_out_;

  std::vector<Node> nodes_;
  std::unordered_map<Key, uint32_t, KeyHash> known_;
  std::vector<std::vector<uint32_t>> joins_;   ///< by block and `many_`; 0, or no list: none was needed
  std::vector<uint32_t> order_;                ///< blocks, reverse post-order
  std::vector<std::vector<uint32_t>> before_;  ///< predecessors
  std::vector<Value> single_;                  ///< by register: of those written once
  std::vector<uint32_t> many_;                 ///< by register: index among those written often, or no_index
  uint32_t many_count_ = 0;
  std::vector<Value> state_;             ///< of the block being walked, by `many_`
  std::vector<std::vector<Value>> out_;  ///< by block: state at its end; empty: not walked yet
  std::vector<Value> addresses_;         ///< by instruction
  std::vector<Value> data_;              ///< by instruction
  uint32_t block_ = 0;                   ///< being walked
  uint32_t instruction_ = 0;             ///< likewise
  uint32_t round_ = 0;                   ///< which walk it is
  std::vector<uint32_t> pieces_;         ///< by instruction: which piece of the code it is in
  /// What accesses show of a base, where their block is sure to have run, in a loop or (nullptr) anywhere.
  struct Shown {
    uint32_t block, zeros;
    const exec::Loop* loop;
  };
  std::unordered_map<uint32_t, std::vector<Shown>> shown_;  ///< by base
  std::vector<bool> differs_;                    ///< by base: lanes that are together may have different ones
  std::vector<std::vector<uint32_t>> deciding_;  ///< by block with joins: deciding_blocks()
  std::vector<const exec::Loop*> left_apart_;    ///< loops that lanes leave in different rounds
};

}  // namespace lanescope::merge
