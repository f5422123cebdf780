// Options that are given once for each value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace lanescope::cli {

/// Adds an option that takes one value, may be given several times, and keeps all values in their order.
inline CLI::Option* add_repeatable(CLI::App& command, const std::string& name,
                                   std::vector<std::string>& values, const std::string& help,
                                   const std::string& type) {
  return command.add_option(name, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace lanescope::cli
