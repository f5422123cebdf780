// See plan.hpp. For each function: which loads are sure to have run, with nothing in between that may have
// changed shared memory, when another one runs (a forward data-flow problem); then loads of one base in one
// aligned window become wide accesses, and so do stores that follow each other in one basic block.
#include "merge/plan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "exec/expansion.hpp"
#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "exec/unrolling.hpp"
#include "merge/atomics.hpp"
#include "merge/available.hpp"
#include "merge/effects.hpp"
#include "merge/global_loads.hpp"
#include "merge/used.hpp"
#include "merge/values.hpp"
#include "merge/ways.hpp"

namespace lanescope::merge {
namespace {

using ptx::Mod;
using ptx::no_index;
using ptx::Op;
using ptx::Operand;

constexpr uint32_t most_elements = 4;  ///< of one access
constexpr uint32_t widest = 16;        ///< bytes of one access that others are merged into

/// Whether a place may lie so many bytes from its base: shared memory has 32-bit addresses. Sums and
/// differences of such offsets do not overflow.
constexpr bool is_near(int64_t offset) {
  constexpr int64_t most = int64_t{1} << 33;
  return offset > -most && offset < most;
}

/// Bytes of the widest access to elements of so many bytes.
constexpr uint32_t widest_window(uint32_t element) { return std::min(most_elements * element, widest); }

/// One load or store that may be merged.
struct Access {
  uint32_t site = no_index;
  uint32_t instruction = 0;
  uint32_t block = 0;
  bool load = false;
  bool guarded = false;
  bool separate = false;  ///< its elements are never merged with others
  bool gaps = false;      ///< the compiler widened the vector over bytes that the program does not load
  bool whole = false;     ///< a vector that is loaded as it is, whatever else is
  bool apart = false;     ///< of global memory: each of its elements is known on its own
  uint32_t element = 4;   ///< bytes
  uint32_t count = 1;     ///< elements of its vector
  uint32_t live = 1;      ///< those that are used, one bit each
  uint32_t parts = 1;     ///< of an element: those of the PTX's vector, or the halves of 8 bytes
  uint32_t used = 1;      ///< of those, the ones that are used, one bit each
  std::string modifiers;  ///< cache operators and the like: only accesses that have the same become one
  Value address;
  /// Those are left as they are, and show no alignment (ptxas 13.0).
  [[nodiscard]] bool is_of_32_bytes() const { return element * count > widest; }
  [[nodiscard]] int64_t place(uint32_t k) const { return address.offset + int64_t{k} * element; }
  /// Which parts of an element are used, one bit each.
  [[nodiscard]] uint32_t used_of(uint32_t k) const { return used >> k * parts & ((1u << parts) - 1); }
};

/// 90 of sm_90; 0 of names that are not NVIDIA's.
uint32_t number_of(const model::Arch& arch) {
  const std::string_view name = arch.name;
  uint32_t number = 0;
  if (name.starts_with("sm_")) std::from_chars(name.data() + 3, name.data() + name.size(), number);
  return number;
}

class Function {
 public:
  /// `site_of`: index of Kernel::accesses by instruction of the function. `written_out`: it has the copies of
  /// unrolled loops, nullptr: it has not, but for `unrolled`, which are looked at as they are written.
  Function(const ptx::Module& module, const ptx::Function& function, std::map<uint32_t, uint32_t> site_of,
           const exec::WrittenOut* written_out, const std::vector<exec::UnrolledLoop>& unrolled,
           const model::Arch& arch, Plan& plan)
      : written_out_(written_out),
        unrolled_(unrolled),
        module_(module),
        joining_(module.is_debug         ? Joining::never
                 : number_of(arch) >= 80 ? Joining::by_redux
                                         : Joining::by_shuffles),
        warps_agree_(number_of(arch) >= 90),
        f_(function),
        plan_(plan),
        flow_(exec::analyse(f_, !f_.is_entry)),
        loops_(flow_),
        order_(exec::reverse_post_order(flow_)),
        used_(f_, flow_),
        ways_(f_, flow_, loops_),
        site_of_(std::move(site_of)) {}

  void run(const std::vector<uint32_t>& module_shared, const std::vector<uint32_t>& local_shared) {
    const Values values(f_, flow_, loops_, module_shared, local_shared, warps_agree_, written_out_);
    values_ = &values;
    plan_atomics(f_, flow_, values, used_, site_of_, joining_, plan_);
    if (module_.is_debug) return;
    used_of_known_ =
        find_known_global_loads(f_, flow_, loops_, order_, values, used_, ways_, unrolled_, site_of_, plan_);
    for (const Memory memory : {Memory::shared, Memory::global, Memory::generic}) {
      memory_ = memory;
      merge();
      doubt_loops();
      if (memory_ == Memory::shared) doubt_ways(), doubt_second_copies();
    }
    values_ = nullptr;
  }

 private:
  const exec::WrittenOut* const written_out_;
  const std::vector<exec::UnrolledLoop>& unrolled_;
  UsedOfKnown used_of_known_;       ///< of loads from global memory
  Memory memory_ = Memory::shared;  ///< which is looked at
  const ptx::Module& module_;
  const Joining joining_;
  const bool warps_agree_;
  const ptx::Function& f_;
  Plan& plan_;
  exec::Flow flow_;
  exec::Loops loops_;            ///< inner ones before those around them
  std::vector<uint32_t> order_;  ///< blocks that are reached
  Used used_;
  const Ways ways_;
  const Values* values_ = nullptr;
  std::map<uint32_t, uint32_t> site_of_;  ///< by instruction
  std::vector<Access> accesses_;          ///< in the order in which blocks are reached
  std::vector<Place> places_;             ///< of the accesses
  std::vector<uint32_t> access_at_;       ///< by instruction, or no_index
  std::vector<std::optional<bool>>
      changes_;                  ///< whether a loop has anything that changes the memory, if known
  Bits constant_;                ///< accesses to memory that does not change while the kernel runs
  std::vector<Bits> available_;  ///< by access: those whose values are known when it runs

  [[nodiscard]] Effect effect_of(const ptx::Instruction& in) const { return effect_on(memory_, in); }

  void merge() {
    collect();
    if (accesses_.empty()) return;
    changes_.assign(loops_.all.size(), std::nullopt);
    find_constant();
    places_.clear();
    const Places places(flow_, loops_, *values_, unrolled_);
    for (uint32_t i = 0; i < accesses_.size(); ++i)  // of shared memory out of innermost loops alone
      places_.push_back(places.of(accesses_[i].instruction, constant_.has(i), [&](const exec::Loop& loop) {
        return accesses_[i].load && (constant_.has(i) || !changes(loop)) &&
               (memory_ != Memory::shared || is_innermost(loop));
      }));
    available_ = find_available(flow_, loops_, order_, places_,
                                [this](uint32_t block, Bits& now, auto at) { through(block, now, at); });
    merge_loads();
    merge_stores();
  }

  [[nodiscard]] const Operand* data_of(const ptx::Instruction& in) const {
    return &in.operands[in.op == Op::st ? 1 : 0];
  }

  void collect() {
    accesses_.clear();
    access_at_.assign(f_.body.size(), no_index);
    for (const uint32_t block : order_)
      for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
        const ptx::Instruction& in = f_.body[i];
        const Effect effect = effect_of(in);
        const auto site = site_of_.find(i);
        if ((effect != Effect::load && effect != Effect::store) || site == site_of_.end()) continue;
        Access access;
        access.site = site->second;
        access.instruction = i;
        access.block = block;
        access.load = effect == Effect::load;
        access.guarded = in.guard != no_index;
        const Elements elements = elements_of(in);
        access.element = elements.bytes;
        access.count = elements.count;
        // Of 8 bytes the halves are told apart.
        const uint32_t halves = elements.bytes == 8 ? 2 : 1;
        access.parts = elements.parts * halves;
        access.used = access.load ? used_.of_load(in) : (1u << in.vector * halves) - 1;
        if (const auto others = used_of_known_.find(i); others != used_of_known_.end())
          access.used |= others->second;
        access.address = values_->address(i);
        if (!is_near(access.address.offset)) continue;
        access.separate = access.element == 1 || access.element > 8 || access.is_of_32_bytes();
        const Operand& data = *data_of(in);
        for (uint32_t k = 0; k < in.vector; ++k) {
          const Operand& part = data.kind == Operand::Kind::vector ? in.elements[data.first + k] : data;
          if (part.kind != Operand::Kind::reg) continue;
          if (access.load && access.element == 2)
            access.separate = access.separate || access.parts > 1 ||
                              used_.extended(part.reg, ptx::is_signed(in.type())) ||
                              ptx::size_of(f_.registers[part.reg].type) > 2;
        }
        access.live = 0;
        for (uint32_t k = 0; k < access.count; ++k)
          if (access.used_of(k) != 0) access.live |= 1u << k;
        if (memory_ != Memory::shared) {
          // Where it is not known without the access itself how a vector is aligned, it is one for itself,
          // and so is what lies behind a kernel's parameter.
          const uint32_t known = values_->zeros({access.address.base, access.place(0)}, block);
          access.apart = !values_->is_parameter(access.address.base) &&
                         (access.count == 1 ||
                          known >= static_cast<uint32_t>(std::countr_zero(access.element * access.count)));
          auto modifiers = in.modifiers;
          for (const Mod m : {Mod::cs, Mod::weak}) modifiers.reset(static_cast<size_t>(m));
          access.modifiers = modifiers.to_string();
        }
        access.gaps = access.load && has_gaps(in);
        access.whole =
            (access.gaps && std::popcount(access.live) > 2) || (access.is_of_32_bytes() && access.live != 0);
        access_at_[i] = static_cast<uint32_t>(accesses_.size());
        accesses_.push_back(access);
      }
  }

  /// What nothing changes while the kernel runs: by its own account (.nc), or nothing in the function does.
  void find_constant() {
    const bool all = std::ranges::none_of(order_, [this](uint32_t block) { return changes(block); });
    constant_ = Bits(accesses_.size(), all);
    for (uint32_t i = 0; i < accesses_.size(); ++i)
      if (f_.body[accesses_[i].instruction].has(Mod::nc)) constant_.add(i);
  }

  /// Whether the compiler widened this vector over bytes that the program does not load.
  [[nodiscard]] bool has_gaps(const ptx::Instruction& in) {
    return module_.text_line(in.loc.line - 1).find(".pragma \"used_bytes_mask") != std::string_view::npos;
  }

  /// Runs through a block from what is available at its begin; tells `at` of each access before it counts.
  template <class At>
  void through(uint32_t block, Bits& now, At at) {
    for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
      const Effect effect = effect_of(f_.body[i]);
      if (effect == Effect::none || effect == Effect::reads) continue;
      const uint32_t access = access_at_[i];
      if (access != no_index) at(access);
      if (effect == Effect::changes || effect == Effect::store) {
        // Memory that nothing changes (.nc) is kept apart by calls alone, the assembler's own among them.
        if (exec::is_expanded(f_.body[i]) || f_.body[i].op == Op::call)
          now.clear();
        else
          now.intersect(constant_);
      }
      if (access != no_index && !accesses_[access].guarded) now.add(access);
    }
  }

  /// Whether a block has anything that changes the memory; but_expanded: but what the assembler expands,
  /// which changes nothing.
  [[nodiscard]] bool changes(uint32_t block, bool but_expanded = false) const {
    return std::any_of(f_.body.begin() + flow_.blocks[block].begin, f_.body.begin() + flow_.blocks[block].end,
                       [&](const ptx::Instruction& in) {
                         const Effect effect = effect_of(in);
                         return (effect == Effect::changes || effect == Effect::store) &&
                                !(but_expanded && exec::is_expanded(in));
                       });
  }
  [[nodiscard]] bool changes(const exec::Loop& loop) {
    std::optional<bool>& known = changes_[static_cast<size_t>(&loop - loops_.all.data())];
    if (known) return *known;
    known = false;
    for (uint32_t b = 0; b < flow_.blocks.size() && !*known; ++b) known = loop.has[b] && changes(b);
    return *known;
  }

  [[nodiscard]] bool is_innermost(const exec::Loop& loop) const {
    return std::ranges::none_of(
        loops_.all, [&](const exec::Loop& other) { return &other != &loop && loop.has[other.header]; });
  }

  Fate& fate(uint32_t access) { return plan_.fates[accesses_[access].site]; }

  /// One element and the access that brings it.
  struct Element {
    int64_t place = 0;
    uint32_t access = 0;
    bool taken = false;
  };

  /// How many low bits of `base + place` are surely zero where an access is: by its value, or because the
  /// access itself needs it so.
  [[nodiscard]] uint32_t zeros(uint32_t base, int64_t place, uint32_t where) const {
    const Access& access = accesses_[where];
    const uint32_t known = values_->zeros({base, place}, access.block);
    if (access.is_of_32_bytes()) return known;
    const int64_t bytes = int64_t{access.element} * access.count;
    return std::max(
        known, static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(bytes) |
                                                      static_cast<uint64_t>(place - access.address.offset))));
  }

  void merge_loads() {
    // Loads and stores of one base and element size, in the order in which they are reached.
    std::map<std::tuple<uint32_t, uint32_t, std::string>, std::vector<uint32_t>> classes;
    for (uint32_t i = 0; i < accesses_.size(); ++i)
      classes[{accesses_[i].address.base, accesses_[i].element, accesses_[i].modifiers}].push_back(i);
    for (const auto& [key, members] : classes) {
      std::multimap<int64_t, uint32_t> known;  // place → access that loads or stores it
      std::vector<Element> elements;
      for (const uint32_t m : members) {
        const Access& access = accesses_[m];
        if (access.whole || (access.load && memory_ != Memory::shared && fate(m).kind == Fate::Kind::known))
          continue;
        if (access.load) {
          Fate& f = fate(m);
          f.pieces.clear();
          if (access.live == 0) f.kind = Fate::Kind::unused;
          bool any = false;
          for (uint32_t k = 0; k < access.count; ++k) {
            if ((access.live >> k & 1) == 0) continue;
            const auto [begin, end] = known.equal_range(access.place(k));
            const auto holder =
                std::find_if(begin, end, [&](const auto& e) { return is_known(e.second, m); });
            if (holder != end) {
              f.with.push_back(accesses_[holder->second].site);
              continue;
            }
            any = true;
            elements.push_back({access.place(k), m, false});
            known.emplace(access.place(k), m);
          }
          if (!any && access.live != 0) f.kind = Fate::Kind::known;
        } else {
          for (uint32_t k = 0; k < access.count; ++k) known.emplace(access.place(k), m);
        }
      }
      form_loads(std::get<0>(key), std::get<1>(key), elements);
    }
  }

  /// Whether what one access loads or stores is in a register when another one runs.
  [[nodiscard]] bool is_known(uint32_t holder, uint32_t access) const {
    if (!reaches(holder, access)) return false;
    return memory_ == Memory::shared ||
           (accesses_[holder].apart && accesses_[access].apart &&
            (accesses_[holder].load || covers(accesses_[holder], accesses_[access])));
  }
  [[nodiscard]] bool reaches(uint32_t from, uint32_t to) const {
    return available_[to].has(from) && is_taken_along(loops_, places_[from], places_[to]);
  }
  [[nodiscard]] static bool covers(const Access& a, const Access& b) {
    return a.place(0) <= b.place(0) && a.place(a.count) >= b.place(b.count);
  }

  /// Gives the elements of one base to accesses, as wide as they may be.
  void form_loads(uint32_t base, uint32_t size, std::vector<Element>& elements) {
    for (size_t first = 0; first < elements.size(); ++first) {
      if (elements[first].taken) continue;
      const uint32_t owner = elements[first].access;
      // What this load, or one that comes after it with nothing in between, brings of the largest window.
      std::vector<size_t> near;
      std::optional<bool> stays;
      for (size_t i = first; i < elements.size(); ++i) {
        const Element& e = elements[i];
        if (e.taken || std::abs(e.place - elements[first].place) >= widest_window(size)) continue;
        if (e.access != owner &&
            (accesses_[owner].separate || accesses_[e.access].separate || !reaches(owner, e.access)))
          continue;
        // Halves become one within a block only.
        if (size == 2 && accesses_[e.access].block != accesses_[owner].block) continue;
        // A word that is asked for again (of global memory; of shared memory it is known by then).
        const auto is_before = [&](size_t other) {
          return elements[other].place == e.place && reaches(elements[other].access, e.access);
        };
        if (e.access != owner && std::any_of(near.begin(), near.end(), is_before)) continue;
        if (e.access != owner && !stays) stays = stays_as_written(elements, elements[first]);
        if (e.access != owner && *stays) continue;
        near.push_back(i);
      }
      if (accesses_[owner].separate)
        emit(elements, {near.front()}, elements[near.front()].place, size);
      else
        // What nobody asks for may be no memory at all where it is not known which memory that is.
        take(base, size, memory_ == Memory::generic ? most_elements : most_elements - 1, elements, near);
    }
  }

  /// Behind a parameter of the kernel accesses stay as they are where vectors that are less than a window and
  /// others meet in one.
  [[nodiscard]] bool stays_as_written(const std::vector<Element>& elements, const Element& one) {
    const Access& access = accesses_[one.access];
    if (memory_ == Memory::shared || !values_->is_parameter(access.address.base)) return false;
    const uint32_t bytes = widest_window(access.element);
    const std::optional<int64_t> begin = aligned_begin(access.address.base, one.place, bytes, one.access);
    return begin && std::ranges::any_of(elements, [&](const Element& e) {
             return e.place >= *begin && e.place < *begin + bytes &&
                    accesses_[e.access].count < most_elements &&
                    (accesses_[e.access].count > 1) != (access.count > 1) &&
                    (reaches(e.access, one.access) || reaches(one.access, e.access));
           });
  }

  /// Takes the first element of `near`, with its neighbours: an access of the window (of the most elements)
  /// when that is known to be aligned and `least` of its elements are wanted, else one of half the window
  /// when all of its elements are, and so on.
  void take(uint32_t base, uint32_t size, uint32_t least, std::vector<Element>& elements,
            const std::vector<size_t>& near) {
    const int64_t place = elements[near.front()].place;
    for (uint32_t bytes = near.size() > 1 ? widest_window(size) : size; bytes > size; bytes /= 2) {
      const std::optional<int64_t> begin = aligned_begin(base, place, bytes, elements[near.front()].access);
      if (!begin) continue;
      std::vector<size_t> inside;
      std::set<int64_t> places;  // on two ways there may be one each
      for (const size_t i : near)
        if (elements[i].place >= *begin && elements[i].place < *begin + bytes) {
          inside.push_back(i);
          places.insert(elements[i].place);
        }
      if (places.size() < (bytes / size == most_elements ? least : bytes / size)) continue;
      emit(elements, inside, *begin, bytes);
      return;
    }
    emit(elements, {near.front()}, place, size);
  }

  /// The begin of the aligned `bytes` around a place, if it is known which they are.
  [[nodiscard]] std::optional<int64_t> aligned_begin(uint32_t base, int64_t place, uint32_t bytes,
                                                     uint32_t where) {
    const auto wanted = static_cast<uint32_t>(std::countr_zero(bytes));
    for (int64_t begin = place; begin > place - bytes; --begin)
      if (zeros(base, begin, where) >= wanted) return begin;
    return std::nullopt;
  }

  /// One access of the machine code, counted at the first of the elements' instructions.
  void emit(std::vector<Element>& elements, const std::vector<size_t>& inside, int64_t begin,
            uint32_t bytes) {
    const uint32_t owner = elements[inside.front()].access;
    const bool aligned = values_->has_zeros_itself({accesses_[owner].address.base, begin},
                                                   static_cast<uint32_t>(std::countr_zero(bytes)));
    std::set<uint32_t> sites;
    for (const size_t i : inside) {
      elements[i].taken = true;
      sites.insert(accesses_[elements[i].access].site);
    }
    if (inside.size() == 1) narrow_to_half(elements[inside.front()], begin, bytes);
    fate(owner).pieces.push_back(
        {static_cast<int32_t>(begin - accesses_[owner].address.offset), static_cast<uint8_t>(bytes)});
    for (const size_t i : inside) {
      const uint32_t a = elements[i].access;
      Fate& f = fate(a);
      if (sites.size() > 1) {
        f.kind = Fate::Kind::merged;
        f.bits = std::max(f.bits, 8 * bytes);
        for (const uint32_t s : sites)
          if (s != accesses_[a].site) f.with.push_back(s);
        if (accesses_[a].gaps || accesses_[owner].gaps)
          f.doubt = "the compiler made a vector of accesses with gaps between them";
        const exec::Loop* loop = loops_.innermost(accesses_[a].block);
        if (loop != loops_.innermost(accesses_[owner].block))
          f.doubt = "the access it is merged with lies outside this loop";
        else if (memory_ == Memory::generic && !accesses_[a].load && !aligned)
          f.doubt = "stores through a generic address may come before what shows how it is aligned";
        else if (written_out_ == nullptr && loop != nullptr && !aligned &&
                 values_->varies(accesses_[a].address.base, loop->has))
          f.doubt =
              "if the assembler unrolls this loop, it may not know the alignment in some copies of its body";
      } else if (f.kind == Fate::Kind::kept && bytes != accesses_[a].element * accesses_[a].count) {
        f.kind = Fate::Kind::narrowed;
      }
    }
  }

  /// What is loaded on its own, and used of which only one of two halves: of 8 bytes, or of a word of two
  /// numbers of 16 bits.
  void narrow_to_half(const Element& element, int64_t& begin, uint32_t& bytes) const {
    const Access& access = accesses_[element.access];
    if (!access.load || access.parts != 2 || access.element < 4) return;
    const auto which = static_cast<uint32_t>(element.place - access.address.offset) / access.element;
    const uint32_t used = access.used_of(which);
    if (used == 3) return;
    bytes /= 2;
    if (used == 2) begin += bytes;
  }

  // Stores: those that follow each other in a block and fill a window.

  /// Of one aligned window, the largest that is known to be aligned, up to the widest access.
  struct OpenStores {
    std::vector<Element> elements;
    int64_t begin = 0, bytes = 0;
    bool singles = false;  ///< some are no vectors
  };

  void merge_stores() {
    for (const uint32_t block : order_) {
      OpenStores open;
      std::vector<std::pair<uint32_t, Piece>> last;  // accesses just written, while nothing came after them
      for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
        const Effect effect = effect_of(f_.body[i]);
        const uint32_t index = access_at_[i];
        if (effect == Effect::none) continue;
        if (effect == Effect::load && index != no_index && fate(index).pieces.empty()) continue;
        if (effect != Effect::store || index == no_index || accesses_[index].guarded) {
          close(open, last);
          last.clear();
          continue;
        }
        if (!fits(open, accesses_[index])) close(open, last);
        const Access& access = accesses_[index];
        if (open.elements.empty()) open_window(open, index);
        for (uint32_t k = 0; k < access.count; ++k) open.elements.push_back({access.place(k), index, false});
        open.singles |= access.count == 1;
      }
      close(open, last);
    }
  }

  void open_window(OpenStores& open, uint32_t index) {
    const Access& access = accesses_[index];
    open.begin = access.place(0);
    open.bytes = access.element;
    for (uint32_t bytes = widest_window(access.element); bytes > access.element; bytes /= 2)
      if (const auto begin = aligned_begin(access.address.base, access.place(0), bytes, index)) {
        open.begin = *begin;
        open.bytes = bytes;
        return;
      }
  }

  /// Whether a store fills gaps of the window that is open.
  [[nodiscard]] bool fits(const OpenStores& open, const Access& access) const {
    if (open.elements.empty()) return true;
    const Element& first = open.elements.front();
    const Access& other = accesses_[first.access];
    if (other.element != access.element || other.address.base != access.address.base || access.separate ||
        other.separate || other.modifiers != access.modifiers)
      return false;
    for (uint32_t k = 0; k < access.count; ++k) {
      const int64_t place = access.place(k);
      if (place < open.begin || place >= open.begin + open.bytes) return false;
      for (const Element& e : open.elements)
        if (e.place == place) return false;
    }
    return true;
  }

  void close(OpenStores& open, std::vector<std::pair<uint32_t, Piece>>& last) {
    if (open.elements.empty()) return;
    std::vector<std::pair<uint32_t, Piece>> written;
    const Access& first = accesses_[open.elements.front().access];
    const uint32_t size = first.element;
    // What follows a vector becomes one with it, or with others, only if it is vectors alone.
    const bool apart = first.count > 1 && open.singles;
    for (const Element& e : open.elements) fate(e.access).pieces.clear();
    std::vector<Element>& elements = open.elements;
    for (size_t at = 0; at < elements.size(); ++at) {
      if (elements[at].taken) continue;
      std::vector<size_t> near;
      for (size_t i = at; i < elements.size(); ++i)
        if (!elements[i].taken && (!apart || elements[i].access == elements[at].access)) near.push_back(i);
      const uint32_t owner = elements[at].access;
      const size_t before = fate(owner).pieces.size();
      take_store(first.address.base, size, elements, near);
      for (size_t p = before; p < fate(owner).pieces.size(); ++p)
        written.emplace_back(owner, fate(owner).pieces[p]);
    }
    drop_overwritten(last, written);
    last = std::move(written);
    open = {};
  }

  /// A store may write no element that the program does not.
  void take_store(uint32_t base, uint32_t size, std::vector<Element>& elements,
                  const std::vector<size_t>& near) {
    const Element first = elements[near.front()];
    const Access& access = accesses_[first.access];
    if (access.separate) {
      const std::vector<size_t> all(near.begin(), near.begin() + access.count);
      emit(elements, all, first.place, access.count * size);
      return;
    }
    take(base, size, most_elements, elements, near);
  }

  /// A store is left out when the next one, with nothing in between, writes all of the same place.
  void drop_overwritten(const std::vector<std::pair<uint32_t, Piece>>& last,
                        const std::vector<std::pair<uint32_t, Piece>>& written) {
    if (last.size() != 1 || written.empty()) return;
    const auto& [old, piece] = last.front();
    const auto& [fresh, over] = written.front();
    const auto begin = [&](uint32_t access, const Piece& p) {
      return accesses_[access].address.offset + p.offset;
    };
    if (accesses_[old].address.base != accesses_[fresh].address.base ||
        begin(old, piece) != begin(fresh, over) || piece.width != over.width)
      return;
    Fate& f = fate(old);
    f.kind = Fate::Kind::overwritten;
    f.pieces.clear();
    f.with = {accesses_[fresh].site};
  }

  /// A branch around few instructions becomes guarded instructions, and a load of shared memory among them
  /// one with the same load behind.
  void doubt_ways() {
    constexpr uint32_t few = 8, few_of_both = 16;
    for (uint32_t i = 0; i < accesses_.size(); ++i) {
      if (!accesses_[i].load || accesses_[i].guarded || fate(i).kind == Fate::Kind::known) continue;
      const std::optional<Way> way = ways_.around(
          accesses_[i].block, [this](uint32_t b) { return !changes(b); },
          [this](uint32_t b) { return !changes(b, true); });
      if (!way) continue;
      const bool is_short = way->length <= few + other_way_costs,
                 is_short_way = ways_.length(accesses_[i].block) <= few_of_both;
      std::optional<uint32_t> behind;
      bool on_both = false;
      for (uint32_t j = 0; j < accesses_.size(); ++j) {
        const Access& other = accesses_[j];
        if (!other.load || other.address != accesses_[i].address || other.element != accesses_[i].element)
          continue;
        on_both |= other.block == way->other;
        if (std::ranges::find(way->behind, other.block) != way->behind.end()) behind = j;
      }
      if (on_both && behind)
        fate(*behind).doubt = "it is loaded on both ways of the branch before: the value may be left";
      if (is_short_way && on_both)
        fate(i).doubt = on_both_ways;
      else if (is_short && behind)
        fate(i).doubt = perhaps_with_one_behind;
    }
  }

  /// Of the two iterations that are left of an unrolled loop the second one knows of the first what it loads
  /// in its first block; what it loads behind branches it does not always.
  void doubt_second_copies() {
    if (written_out_ == nullptr) return;
    uint32_t copy = 0, begins_in = 0;
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (written_out_->places[i].copy != copy) begins_in = flow_.block_of[i];
      copy = written_out_->places[i].copy;
      if (copy == exec::unrolled_by + 2 && flow_.block_of[i] != begins_in && access_at_[i] != no_index &&
          accesses_[access_at_[i]].load && !fate(access_at_[i]).with.empty())
        fate(access_at_[i]).doubt =
            "the value may be loaded again in the last iterations of the unrolled loop";
    }
  }

  // What the assembler does to loops can join accesses of several iterations: where it does not say how often
  // a loop runs, that is known from the copies (exec::WrittenOut).

  void doubt_loops() {
    for (uint32_t i = 0; i < accesses_.size(); ++i) {
      const Access& access = accesses_[i];
      const exec::Loop* loop = loops_.innermost(access.block);
      Fate& f = fate(i);
      if (!access.load || access.live == 0 || loop == nullptr || f.kind == Fate::Kind::known) continue;
      if (changes(*loop)) continue;
      if (!values_->varies(access.address.base, loop->has)) {
        if (access.block == loop->header)
          f.doubt = "the address is the same in every iteration, and the value may stay in a register";
        continue;
      }
      const int64_t stride = values_->step(access.address.base, loop->header);
      if (stride == 0 || !is_near(stride) || !values_->counted(loop->header, loop->has)) continue;
      const int64_t step = std::abs(stride);
      const Value start = values_->start(access.address.base, loop->header);
      if (step < widest && is_near(start.offset) &&
          values_->zeros({start.base, start.offset + access.address.offset}, access.block) >
              static_cast<uint32_t>(std::countr_zero(access.element)))
        f.doubt = "accesses of neighbouring iterations may be merged when the assembler unrolls the loop";
      for (uint32_t j = 0; j < accesses_.size(); ++j) {
        const Access& other = accesses_[j];
        const int64_t apart = std::abs(other.address.offset - access.address.offset);
        if (j != i && other.load && other.address.base == access.address.base && apart != 0 &&
            apart % step == 0 && apart <= 4 * step)
          f.doubt = "the value may be left from an iteration before when the assembler unrolls the loop";
      }
    }
  }
};

/// Where the assembler puts shared variables: those that the kernel uses, in the order of their declarations,
/// those of the module before those of functions; dynamic shared memory, aligned to 16 bytes, after all
/// others.
struct Layout {
  std::vector<uint32_t> module;
  std::map<uint32_t, std::vector<uint32_t>> local;  ///< by function
};

Layout lay_out(const ptx::Module& module, const std::set<uint32_t>& functions) {
  Layout layout;
  layout.module.assign(module.variables.size(), no_index);
  std::set<uint32_t> used;
  std::set<std::pair<uint32_t, uint32_t>> used_local;
  for (const uint32_t index : functions) {
    const ptx::Function& f = module.functions[index];
    layout.local[index].assign(f.variables.size(), no_index);
    const auto see = [&](const Operand& o) {
      if (o.symbol.kind == ptx::SymbolRef::Kind::module_variable) used.insert(o.symbol.index);
      if (o.symbol.kind == ptx::SymbolRef::Kind::local_variable) used_local.emplace(index, o.symbol.index);
    };
    for (const ptx::Instruction& in : f.body) {
      for (const Operand& o : in.operands) see(o);
      for (const Operand& o : in.elements) see(o);
    }
  }
  uint64_t end = 0;
  const auto place = [&](const ptx::Variable& v) {
    const uint64_t align = std::max<uint64_t>(v.align, 1);
    const uint64_t at = (end + align - 1) / align * align;
    end = at + v.size;
    return static_cast<uint32_t>(at);
  };
  for (const uint32_t v : used)
    if (is_of_block(module.variables[v].space) && module.variables[v].size != 0)
      layout.module[v] = place(module.variables[v]);
  for (const auto& [function, v] : used_local) {
    const ptx::Variable& variable = module.functions[function].variables[v];
    if (is_of_block(variable.space) && variable.size != 0) layout.local[function][v] = place(variable);
  }
  uint64_t align = 16;
  for (const uint32_t v : used)
    if (is_of_block(module.variables[v].space) && module.variables[v].size == 0)
      align = std::max<uint64_t>(align, module.variables[v].align);
  end = (end + align - 1) / align * align;
  for (const uint32_t v : used)
    if (is_of_block(module.variables[v].space) && module.variables[v].size == 0)
      layout.module[v] = static_cast<uint32_t>(end);
  return layout;
}

}  // namespace

bool knows(const model::Arch& arch) { return number_of(arch) >= 75; }

Plan predict(const ptx::Module& module, const exec::Kernel& kernel, const model::Arch& arch) {
  Plan plan;
  plan.fates.resize(kernel.accesses.size());
  std::map<uint32_t, std::map<uint32_t, uint32_t>> sites;  // by function and instruction
  std::map<std::array<uint32_t, 3>, uint32_t> copies;      // by function, instruction, and AccessSite::copy
  for (uint32_t site = 0; site < kernel.accesses.size(); ++site) {
    const exec::AccessSite& at = kernel.accesses[site];
    plan.fates[site].pieces = {{0, at.width}};
    if (at.function == exec::no_operand) continue;
    if (at.copy == 0) sites[at.function][at.instruction] = site;
    copies[{at.function, at.instruction, at.copy}] = site;
  }
  std::set<uint32_t> functions;
  for (const auto& [function, of_function] : sites) functions.insert(function);
  const Layout layout = lay_out(module, functions);
  for (const auto& [index, of_function] : sites) {
    const ptx::Function& function = module.functions[index];
    const std::vector<uint32_t>& local = layout.local.at(index);
    const auto found = kernel.unrolled.find(index);
    const std::vector<exec::UnrolledLoop> none;
    const std::vector<exec::UnrolledLoop>& unrolled = found == kernel.unrolled.end() ? none : found->second;
    if (!unrolled.empty()) {
      const exec::WrittenOut out = exec::written_out(function, unrolled);
      std::map<uint32_t, uint32_t> of_places;
      for (uint32_t i = 0; i < out.places.size(); ++i)
        if (const auto site = copies.find({index, out.places[i].instruction, out.places[i].copy});
            site != copies.end())
          of_places[i] = site->second;
      Function(module, out.function, std::move(of_places), &out, none, arch, plan).run(layout.module, local);
      // Of what is in no copy the loops as they are written decide, as below.
      for (const auto& [i, site] : of_function)
        plan.fates[site] = {.pieces = {{0, kernel.accesses[site].width}}, .with = {}, .doubt = ""};
    }
    Function(module, function, of_function, nullptr, unrolled, arch, plan).run(layout.module, local);
  }
  for (Fate& f : plan.fates) {
    std::sort(f.with.begin(), f.with.end());
    f.with.erase(std::unique(f.with.begin(), f.with.end()), f.with.end());
  }
  return plan;
}

}  // namespace lanescope::merge
