// Options whose value is a count.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace lanescope::cli {

/// Adds an option that takes a whole number from 0. Said here because some versions of CLI11 take "-1" for
/// the largest number there is.
template <typename T>
CLI::Option* add_count(CLI::App& command, const std::string& name, T& value, const std::string& help) {
  const auto refuse_negative = [](const std::string& text) {
    return text.find('-') == std::string::npos ? std::string() : "'" + text + "' is no whole number from 0";
  };
  return command.add_option(name, value, help)->type_name("N")->check(refuse_negative);
}

}  // namespace lanescope::cli
