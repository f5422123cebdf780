// See json_text.hpp.
#include "report/json_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lanescope::report {
namespace {

using Json = nlohmann::ordered_json;

/// As Json::dump with an indent of two, but arrays of numbers stay on one line. What is no UTF-8 (names come
/// from foreign files) is replaced, so that the output is always JSON.
void write(std::string& out, const Json& json, size_t indent) {
  const bool flat = !json.is_structured() || json.empty() ||
                    (json.is_array() && std::none_of(json.begin(), json.end(), [](const Json& item) {
                       return item.is_structured() || item.is_string();
                     }));
  if (flat) {
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += json.is_array() ? "[" : "{";
  const std::string line = "\n" + std::string(indent + 2, ' ');
  for (auto item = json.begin(); item != json.end(); ++item) {
    out += (item == json.begin() ? "" : ",") + line;
    if (json.is_object()) out += Json(item.key()).dump(-1, ' ', false, Json::error_handler_t::replace) + ": ";
    write(out, *item, indent + 2);
  }
  out += "\n" + std::string(indent, ' ') + (json.is_array() ? "]" : "}");
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& json) {
  std::string text;
  write(text, json, 0);
  return text + "\n";
}

}  // namespace lanescope::report
