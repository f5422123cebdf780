// See global_loads.hpp.
#include "merge/global_loads.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/expansion.hpp"
#include "merge/available.hpp"
#include "merge/effects.hpp"

namespace lanescope::merge {
namespace {

using ptx::Mod;
using ptx::no_index;
using ptx::Space;

/// Loads and stores with equal keys are of the same value, in the same way.
struct Key {
  uint32_t base = 0;
  int64_t offset = 0;
  uint32_t bytes = 0;      ///< of an element
  uint32_t elements = 1;   ///< of a vector
  bool is_signed = false;  ///< of what is narrower than a register, which a load extends
  Space space{};
  std::string modifiers;
  [[nodiscard]] auto tie() const {
    return std::tie(base, offset, bytes, elements, is_signed, space, modifiers);
  }
  friend bool operator<(const Key& a, const Key& b) { return a.tie() < b.tie(); }
};

struct GlobalAccess {
  uint32_t site = no_index, instruction = 0;
  bool load = false, guarded = false;
};

class GlobalLoads {
 public:
  GlobalLoads(const ptx::Function& function, const exec::Flow& flow, const exec::Loops& loops,
              const std::vector<uint32_t>& order, const Values& values, const Used& used, const Ways& ways,
              const std::vector<exec::UnrolledLoop>& unrolled)
      : f_(function),
        flow_(flow),
        loops_(loops),
        order_(order),
        values_(values),
        used_(used),
        places_of_(flow, loops, values, unrolled),
        ways_(ways) {}

  UsedOfKnown run(const std::map<uint32_t, uint32_t>& site_of, Plan& plan) {
    const std::vector<std::vector<uint32_t>> groups = collect(site_of);
    if (groups.empty()) return {};
    const std::vector<Bits> available =
        find_available(flow_, loops_, order_, places_,
                       [this](uint32_t block, Bits& now, auto at) { through(block, now, at); });
    std::map<uint32_t, uint32_t> holders;  // of loads whose values are known
    for (const std::vector<uint32_t>& group : groups)
      for (const uint32_t i : group) {
        if (!accesses_[i].load) continue;
        Fate& fate = plan.fates[accesses_[i].site];
        const auto holder = std::ranges::find_if(group, [&](uint32_t j) {
          return j != i && available[i].has(j) && is_taken_along(loops_, places_[j], places_[i]);
        });
        if (holder != group.end()) {
          fate = {.kind = Fate::Kind::known, .pieces = {}, .with = {accesses_[*holder].site}, .doubt = ""};
          holders[i] = *holder;
        } else if (!accesses_[i].guarded) {
          look_around(i, group, fate);
        }
      }
    UsedOfKnown used;
    for (const auto& [i, holder] : holders) {
      uint32_t first = holder;
      for (auto next = holders.find(first); next != holders.end(); next = holders.find(first))
        first = next->second;
      if (accesses_[first].load)
        used[accesses_[first].instruction] |= used_.of_load(f_.body[accesses_[i].instruction]);
    }
    return used;
  }

 private:
  const ptx::Function& f_;
  const exec::Flow& flow_;
  const exec::Loops& loops_;
  const std::vector<uint32_t>& order_;
  const Values& values_;
  const Used& used_;
  const Places places_of_;
  const Ways& ways_;
  std::map<std::pair<const exec::Loop*, bool>, std::optional<bool>> changes_;  ///< by loop, generic or not
  std::vector<GlobalAccess> accesses_;
  std::vector<Place> places_;        ///< of them
  std::vector<uint32_t> access_at_;  ///< by instruction, or no_index
  Bits constant_;                    ///< accesses to memory that does not change while the kernel runs (.nc)
  Bits global_;                      ///< those whose addresses are not generic

  /// Loads and stores that have their key with others in common: their indices, by key.
  std::vector<std::vector<uint32_t>> collect(const std::map<uint32_t, uint32_t>& site_of) {
    std::map<Key, std::vector<uint32_t>> found;  // instructions
    for (const uint32_t block : order_)
      for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
        const GlobalEffect effect = global_effect_of(f_.body[i]);
        if ((effect == GlobalEffect::load || effect == GlobalEffect::store) && site_of.contains(i))
          found[key_of(f_.body[i], i)].push_back(i);
      }
    access_at_.assign(f_.body.size(), no_index);
    std::vector<std::vector<uint32_t>> groups;
    for (const auto& [key, instructions] : found) {
      if (instructions.size() == 1) continue;
      groups.emplace_back();
      for (const uint32_t i : instructions) {
        groups.back().push_back(static_cast<uint32_t>(accesses_.size()));
        access_at_[i] = groups.back().back();
        accesses_.push_back({site_of.at(i), i, global_effect_of(f_.body[i]) == GlobalEffect::load,
                             f_.body[i].guard != no_index});
        const bool constant = f_.body[i].has(Mod::nc), load = accesses_.back().load;
        places_.push_back(places_of_.of(i, constant, [&](const exec::Loop& loop) {
          return load && (constant || !changes(loop, f_.body[i].space));
        }));
      }
    }
    constant_ = global_ = Bits(accesses_.size());
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (access_at_[i] == no_index) continue;
      if (f_.body[i].has(Mod::nc)) constant_.add(access_at_[i]);
      if (f_.body[i].space == Space::global) global_.add(access_at_[i]);
    }
    return groups;
  }

  [[nodiscard]] Key key_of(const ptx::Instruction& in, uint32_t index) const {
    const Value address = values_.address(index);
    const Elements elements = elements_of(in);
    auto modifiers = in.modifiers;
    modifiers.reset(static_cast<size_t>(Mod::weak));
    return {address.base,
            address.offset,
            elements.bytes,
            elements.count,
            elements.bytes < 4 && elements.parts == 1 && ptx::is_signed(in.type()),
            in.space,
            modifiers.to_string()};
  }

  /// Whether an instruction may change memory of a space: the global one, or what generic addresses are of.
  [[nodiscard]] static bool changes(const ptx::Instruction& in, Space space) {
    const GlobalEffect effect = global_effect_of(in);
    return effect == GlobalEffect::store || effect == GlobalEffect::changes ||
           (space == Space::generic && effect == GlobalEffect::elsewhere);
  }
  [[nodiscard]] bool changes(const exec::Loop& loop, Space space) {
    std::optional<bool>& known = changes_[{&loop, space == Space::generic}];
    if (known) return *known;
    known = false;
    for (uint32_t b = 0; b < flow_.blocks.size() && !*known; ++b)
      known = loop.has[b] &&
              std::any_of(f_.body.begin() + flow_.blocks[b].begin, f_.body.begin() + flow_.blocks[b].end,
                          [&](const ptx::Instruction& in) { return changes(in, space); });
    return *known;
  }

  /// Of a load on one way of a branch, what comes of it because of the same ones around.
  void look_around(uint32_t i, const std::vector<uint32_t>& group, Fate& fate) const {
    const bool constant = constant_.has(i);
    const ptx::Instruction& load = f_.body[accesses_[i].instruction];
    const auto is_change = [&](const ptx::Instruction& in) { return !constant && changes(in, load.space); };
    const auto is_quiet = [&](uint32_t block, uint32_t end) {
      return std::none_of(f_.body.begin() + flow_.blocks[block].begin, f_.body.begin() + end,
                          [&](const ptx::Instruction& in) {
                            return is_change(in) || exec::is_expanded(in) || in.op == ptx::Op::call;
                          });
    };
    const std::optional<Way> way = ways_.around(
        places_[i].block, [&](uint32_t block) { return is_quiet(block, flow_.blocks[block].end); },
        [&](uint32_t block) {
          return std::none_of(
              f_.body.begin() + flow_.blocks[block].begin, f_.body.begin() + flow_.blocks[block].end,
              [&](const ptx::Instruction& in) { return is_change(in) && !exec::is_expanded(in); });
        });
    if (!way || !is_quiet(places_[i].block, accesses_[i].instruction)) return;
    const uint32_t used = used_.of_load(load);
    for (const uint32_t j : group) {
      const uint32_t block = places_[j].block;
      if (!accesses_[j].load || accesses_[j].guarded || !is_quiet(block, accesses_[j].instruction)) continue;
      const uint32_t used_behind = used_.of_load(f_.body[accesses_[j].instruction]);
      if (std::ranges::find(way->behind, block) != way->behind.end() && way->length <= perhaps_together &&
          (used & used_behind) != 0) {
        if (used == used_behind && way->length <= together)
          fate = {.kind = Fate::Kind::known, .pieces = {}, .with = {accesses_[j].site}, .doubt = ""};
        if (used != used_behind || way->length > surely_together) fate.doubt = perhaps_with_one_behind;
        return;
      }
      if (block == way->other) fate.doubt = on_both_ways;
    }
  }

  template <class At>
  void through(uint32_t block, Bits& now, At at) {
    for (uint32_t i = flow_.blocks[block].begin; i < flow_.blocks[block].end; ++i) {
      const GlobalEffect effect = global_effect_of(f_.body[i]);
      if (effect == GlobalEffect::none) continue;
      const uint32_t access = access_at_[i];
      if (access != no_index) at(access);
      if (effect == GlobalEffect::elsewhere) now.intersect(global_);
      if (effect == GlobalEffect::store || effect == GlobalEffect::changes) now.intersect(constant_);
      if (access != no_index && !accesses_[access].guarded) now.add(access);
    }
  }
};

}  // namespace

UsedOfKnown find_known_global_loads(const ptx::Function& function, const exec::Flow& flow,
                                    const exec::Loops& loops, const std::vector<uint32_t>& order,
                                    const Values& values, const Used& used, const Ways& ways,
                                    const std::vector<exec::UnrolledLoop>& unrolled,
                                    const std::map<uint32_t, uint32_t>& site_of, Plan& plan) {
  return GlobalLoads(function, flow, loops, order, values, used, ways, unrolled).run(site_of, plan);
}

}  // namespace lanescope::merge
