// See arch_by_name.hpp.
#include "profile/arch_by_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "lanescope/model/archs.hpp"

namespace lanescope::profile {

model::Arch arch_by_name(const std::string& name) {
  std::string wanted = name;
  std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const model::Arch* arch = model::find_arch(wanted)) return *arch;
  std::vector<std::string_view> names;
  for (const model::Arch& arch : model::archs) names.emplace_back(arch.name);
  throw Error(fmt::format("unknown architecture '{}'; the nearest is '{}', known are {}", name,
                          nearest(wanted, names), fmt::join(names, ", ")));
}

}  // namespace lanescope::profile
