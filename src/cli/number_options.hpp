// Options whose value is a number.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.hpp"

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

/// Refuses a --tolerance that is none, and one that takes any two numbers for equal.
inline void check_tolerance(double tolerance) {
  if (!(tolerance >= 0 && tolerance < 1))
    throw Error(fmt::format("--tolerance: {} is no relative difference from 0 to below 1", tolerance));
}

}  // namespace lanescope::cli
