// Advice of one launch, held against the other launches of a report: instances of a template share their
// declarations, and launches of a kernel its arrays.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/expression.hpp"
#include "advise/tokens.hpp"
#include "report/kernel_names.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

/// Which launch of the same function has the variable in another size than the advice needs, in words; empty
/// where none has.
std::string obstacle_in_other_launch(const Report& report, const Launch& launch,
                                     const advise::Advice& advice) {
  if (advice.size_multiple == 0) return "";
  const std::string function = function_of(launch.kernel);
  for (const Launch& other : report.launches) {
    if (function_of(other.kernel) != function) continue;
    const auto with = [&] {
      return fmt::format("with grid {} and block {}", extent(other.grid), extent(other.block));
    };
    const auto variable = std::find_if(
        other.shared.begin(), other.shared.end(),
        [&](const exec::SharedVariable& v) { return v.name == advice.variable && !v.array.empty(); });
    if (variable != other.shared.end() && variable->size % advice.size_multiple != 0)
      return fmt::format("{} has {} bytes {}", advice.variable, grouped(variable->size), with());
    const bool undivided =
        std::any_of(other.shared.begin(), other.shared.end(), [&](const exec::SharedVariable& v) {
          return v.dynamic && v.array.empty() && v.offset < other.shared_bytes;
        });
    if (undivided) return fmt::format("{} the size of {} is not known", with(), advice.variable);
  }
  return "";
}

/// Which other launch may access the padding that the advice takes away from rows, in words: the one for
/// which the same is not advised. Empty where none may.
std::string other_user_of_padding(const Report& report, const Launch& launch, const advise::Advice& advice) {
  const auto dropped_by = [](const advise::Advice& a) {
    const auto* swizzle = std::get_if<advise::Swizzle>(&a.layout);
    return swizzle == nullptr ? 0 : swizzle->dropped;
  };
  const uint32_t dropped = dropped_by(advice);
  if (dropped == 0) return "";
  const auto variable_of = [&](const Launch& one) {
    return std::find_if(one.shared.begin(), one.shared.end(),
                        [&](const exec::SharedVariable& v) { return v.name == advice.variable; });
  };
  const auto own = variable_of(launch);
  for (const Launch& other : report.launches) {
    const auto found = variable_of(other);
    if (found == other.shared.end()) continue;
    const bool is_the_same =
        function_of(other.kernel) == function_of(launch.kernel) ||
        (own != launch.shared.end() && !own->symbol.empty() && own->symbol == found->symbol);
    const bool does_without = std::any_of(
        other.advice.begin(), other.advice.end(),
        [&](const advise::Advice& a) { return a.variable == advice.variable && dropped_by(a) == dropped; });
    if (is_the_same && !does_without)
      return fmt::format("{} with grid {} and block {} may access that padding", instance_of(other.kernel),
                         extent(other.grid), extent(other.block));
  }
  return "";
}

/// An advice of a launch, by its index.
struct Advised {
  Launch* launch;
  size_t index;
  [[nodiscard]] advise::Advice& advice() const { return launch->advice[index]; }
};

/// The elements that rows are padded by.
uint32_t padded_elements(const advise::Advice& advice) {
  return std::get<advise::RowPadding>(advice.layout).bytes() / advice.declaration->element_bytes;
}

/// Instances of a template share its declarations, so that the padding of one is that of all. The advice of
/// all becomes the one that leaves fewest wavefronts, of those that bring something to each.
void agree_on_paddings(Report& report) {
  std::map<std::pair<std::string, size_t>, std::vector<Advised>> of_declarations;
  for (Launch& launch : report.launches)
    for (size_t i = 0; i < launch.advice.size(); ++i)
      if (const advise::Advice& advice = launch.advice[i]; !advice.paddings.empty())
        of_declarations[{advice.patch->file, advice.declaration->name_begin}].push_back({&launch, i});
  for (const auto& [declaration, all] : of_declarations) {
    const bool agree = std::all_of(all.begin(), all.end(), [&first = all.front()](const Advised& other) {
      return other.advice().patch == first.advice().patch;
    });
    if (agree) continue;
    struct Sum {
      uint64_t wavefronts = 0;
      size_t launches = 0;
    };
    std::map<uint32_t, Sum> sums;  // by elements
    for (const Advised& one : all)
      for (const advise::Advice& padding : one.advice().paddings) {
        if (padding.wavefronts_after >= padding.wavefronts_before) continue;
        Sum& sum = sums[padded_elements(padding)];
        sum.wavefronts += padding.wavefronts_after;
        ++sum.launches;
      }
    std::erase_if(sums, [count = all.size()](const auto& sum) { return sum.second.launches != count; });
    const auto best = std::min_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
      return a.second.wavefronts < b.second.wavefronts;
    });
    if (best == sums.end()) continue;
    for (const Advised& one : all) {
      advise::Advice& advice = one.advice();
      const auto found =
          std::find_if(advice.paddings.begin(), advice.paddings.end(),
                       [elements = best->first](const auto& a) { return padded_elements(a) == elements; });
      advise::Advice agreed = std::move(*found);
      advice = std::move(agreed);
      advice.change += ", for all instances of the template whose rows are to be padded";
      one.launch->advised[one.index] = advised_access(*one.launch, advice);
    }
  }
}

std::vector<std::string> arguments_of(const Launch& launch) {
  const std::string instance = instance_of(launch.kernel);
  const std::vector<std::string_view> all = advise::template_arguments(instance);
  return {all.begin(), all.end()};
}

/// The template's argument that an array's rows are padded by, as P of tile[32][32 + P] or [32 + 2 * P].
struct PaddingArgument {
  size_t index = 0;
  uint64_t value = 0;
  uint64_t factor = 1;
};

/// How often a sum of terms, "N + 2 * P", has the name; 0: not at all, or in another way.
uint64_t factor_of(std::string_view name, std::string_view sum) {
  uint64_t factor = 0;
  const std::vector<advise::Token> tokens = advise::tokens_of(sum);
  for (size_t first = 0, end = 0; first < tokens.size(); first = end + 1) {
    end = first;
    while (end < tokens.size() && !tokens[end].is("+")) ++end;
    const bool has_it = std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](const advise::Token& t) { return t.is(name); });
    if (!has_it) continue;
    const bool is_product = end - first == 3 && tokens[first + 1].is("*");
    const size_t number = is_product && tokens[first].is(name) ? first + 2 : first;
    const auto times =
        is_product ? advise::integer_argument(tokens[number].text) : std::optional<uint64_t>(1);
    if (factor != 0 || !times || (end - first != 1 && !is_product)) return 0;
    factor = *times;
  }
  return factor;
}

/// Nothing where there is none, or the arguments do not show which one it is.
std::optional<PaddingArgument> padding_argument(const Launch& launch,
                                                const advise::Declaration& declaration) {
  if (declaration.extents.size() < 2 || declaration.assumed.ends_with("size")) return std::nullopt;
  // "N = 32, P = 0"
  const std::string& known = declaration.assumed;
  for (size_t begin = 0, end = 0; begin < known.size(); begin = end + 2) {
    end = std::min(known.find(", ", begin), known.size());
    const size_t equals = known.find(" = ", begin);
    if (equals >= end) continue;
    const std::string name = known.substr(begin, equals - begin),
                      value = known.substr(equals + 3, end - equals - 3);
    const bool is_elsewhere =
        std::any_of(declaration.extents.begin(), declaration.extents.end() - 1,
                    [&](const advise::Extent& e) { return e.text.find(name) != std::string::npos; });
    const std::string& row = declaration.extents.back().text;
    const uint64_t factor = row.find('+') == std::string::npos ? 0 : factor_of(name, row);
    if (is_elsewhere || factor == 0) continue;
    const std::vector<std::string> arguments = arguments_of(launch);
    const auto found = std::find(arguments.begin(), arguments.end(), value);
    if (std::count(arguments.begin(), arguments.end(), value) != 1) return std::nullopt;
    return PaddingArgument{static_cast<size_t>(found - arguments.begin()), std::stoull(value), factor};
  }
  return std::nullopt;
}

/// Where a template's argument is the padding, an instance with another one, for whose array nothing is
/// advised, would be spoilt by a longer declaration. If it is the same but for a padding as long as is
/// advised, it is the change itself.
void point_to_padded_instances(Report& report) {
  const auto has_right_rows = [](const Launch& other, const std::string& variable) {
    return std::any_of(other.shared.begin(), other.shared.end(),
                       [&](const exec::SharedVariable& v) { return v.name == variable; }) &&
           std::none_of(other.advice.begin(), other.advice.end(),
                        [&](const advise::Advice& a) { return a.variable == variable; });
  };
  for (Launch& launch : report.launches)
    for (advise::Advice& advice : launch.advice) {
      if (advice.kind != advise::Advice::Kind::layout || !advice.declaration) continue;
      const auto padding = padding_argument(launch, *advice.declaration);
      if (!padding) continue;
      const auto* longer = std::get_if<advise::RowPadding>(&advice.layout);
      std::vector<std::string> wanted = arguments_of(launch);
      const std::string own = wanted[padding->index];
      const bool is_reached = longer != nullptr && padded_elements(advice) % padding->factor == 0;
      if (is_reached)
        wanted[padding->index] = std::to_string(padding->value + padded_elements(advice) / padding->factor);
      const Launch* spoilt = nullptr;
      bool is_the_change = false;
      for (const Launch& other : report.launches) {
        if (function_of(other.kernel) != function_of(launch.kernel) ||
            !has_right_rows(other, advice.variable))
          continue;
        const std::vector<std::string> arguments = arguments_of(other);
        if (is_the_change || arguments.size() != wanted.size() || arguments[padding->index] == own) continue;
        is_the_change = is_reached && arguments == wanted;
        if (is_the_change || spoilt == nullptr) spoilt = &other;
      }
      if (spoilt == nullptr) continue;
      const std::string instance = instance_of(spoilt->kernel);
      advice.no_patch = instance + " shares the declaration, and its rows are right";
      advice.change =
          is_the_change ? fmt::format("launch {} in place of {}: it has {} more in each row of {}", instance,
                                      instance_of(launch.kernel), advise::in_words(*longer), advice.variable)
                        : advice.change + ", but " + advice.no_patch;
      advice.patch.reset();
      advice.patch_uses_tiles = false;
      advice.paddings.clear();
    }
}

/// What an advice changes, as other launches may be advised the same: its patch, or its words.
using Change = std::pair<std::string, std::string>;

Change change_of(const Launch& launch, const advise::Advice& advice) {
  if (!advice.patch) return {function_of(launch.kernel) + " " + advice.variable, advice.change};
  std::string edits;
  for (const advise::Edit& edit : advice.patch->edits)
    edits += fmt::format("{} {} {}\n", edit.begin, edit.end, edit.text);
  return {advice.patch->file, edits};
}

/// Of the changes of a variable the one comes first that saves most in all launches: they may share its
/// declaration, as instances of a template do.
void put_best_first(Report& report) {
  std::map<Change, uint64_t> saved;
  const auto saved_by = [](const advise::Advice& a) { return a.wavefronts_before - a.wavefronts_after; };
  for (const Launch& launch : report.launches)
    for (const advise::Advice& advice : launch.advice) saved[change_of(launch, advice)] += saved_by(advice);
  for (Launch& launch : report.launches) {
    std::map<std::string, std::vector<size_t>> of_variables;
    for (size_t i = 0; i < launch.advice.size(); ++i) of_variables[launch.advice[i].variable].push_back(i);
    std::vector<size_t> order(launch.advice.size());
    for (const auto& [variable, places] : of_variables) {
      std::vector<size_t> best = places;
      std::stable_sort(best.begin(), best.end(), [&](size_t a, size_t b) {
        return saved[change_of(launch, launch.advice[a])] > saved[change_of(launch, launch.advice[b])];
      });
      for (size_t i = 0; i < places.size(); ++i) order[places[i]] = best[i];
    }
    const auto in_order = [&](auto& list) {
      auto sorted = list;
      for (size_t i = 0; i < order.size(); ++i) sorted[i] = std::move(list[order[i]]);
      list = std::move(sorted);
    };
    in_order(launch.advice);
    in_order(launch.advised);
  }
}

}  // namespace

void hold_advice_against_all_launches(Report& report) {
  point_to_padded_instances(report);
  agree_on_paddings(report);
  put_best_first(report);
  for (Launch& launch : report.launches) {
    for (size_t i = launch.advice.size(); i-- != 0;) {
      const std::string size = obstacle_in_other_launch(report, launch, launch.advice[i]);
      const std::string obstacle =
          size.empty() ? other_user_of_padding(report, launch, launch.advice[i]) : size;
      if (obstacle.empty()) continue;
      advise::Advice& advice = launch.advice[i];
      advice.change += ", but " + obstacle;
      if (advice.patch)
        advice.no_patch = size.empty() ? obstacle
                                       : fmt::format("a swizzle needs a multiple of {} bytes, but {}",
                                                     advice.size_multiple, obstacle);
      advice.patch.reset();
      advice.patch_uses_tiles = false;
      // Behind the others of the variable, which bring less but can be made.
      size_t last = i;
      for (size_t j = i + 1; j < launch.advice.size(); ++j)
        if (launch.advice[j].variable == advice.variable) last = j;
      const auto move_back = [&](auto& list) {
        const auto at = [&](size_t index) { return list.begin() + static_cast<std::ptrdiff_t>(index); };
        std::rotate(at(i), at(i + 1), at(last + 1));
      };
      move_back(launch.advice);
      move_back(launch.advised);
    }
  }
}

}  // namespace lanescope::report
