// How all JSON of this program is written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lanescope::report {

/// As dump with an indent of two, but arrays of numbers stay on one line; ends with a line feed. What is no
/// UTF-8 (names come from foreign files) is replaced.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace lanescope::report
