// Demangling through the C++ runtime's demangler, and what is left to do for variables inside functions.
#include "ptx/names.hpp"

#include <cxxabi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "ptx/module.hpp"

namespace lanescope::ptx {
namespace {

// The demangler keeps a part of its work on the stack, in proportion to the name.
constexpr size_t longest_demangled = 8192;
constexpr size_t shortest_refused = 1024;

// The part after the last `::` that is in no bracket: `tile` of `f(std::pair<int, int>)::tile`.
std::string_view last_component(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    if (c == ')' || c == '>' || c == '}' || c == ']') ++depth;
    if (c == '(' || c == '<' || c == '{' || c == '[') --depth;
    if (depth == 0 && c == ':' && i > 0 && name[i - 1] == ':') return name.substr(i + 1);
  }
  return name;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `__cuda_local_var_41932_32_non_const_tile` and its mangled forms: what follows the storage words.
std::string_view cuda_local_name(std::string_view name) {
  const size_t start = name.find("__cuda_local_var_");
  if (start == std::string_view::npos) return {};
  for (const std::string_view storage : {"_non_const_", "_const_"})
    if (const size_t at = name.find(storage, start); at != std::string_view::npos) {
      const std::string_view rest = name.substr(at + storage.size());
      if (!rest.empty()) return rest;
    }
  return {};
}

/// A function's name without its arguments, for names that the demangler finds too long, as those of CUTLASS
/// are; a number stands for the arguments: "cutlass::Kernel<…1f03a2>". Empty if it is none.
std::string name_alone(std::string_view mangled) {
  uint32_t sum = 2166136261u;  // FNV-1a
  for (const char c : mangled) sum = (sum ^ static_cast<uint8_t>(c)) * 16777619u;
  mangled.remove_prefix(2);
  if (mangled.starts_with('N')) mangled.remove_prefix(1);
  std::string text;
  while (!mangled.empty() && is_digit(mangled.front())) {
    size_t length = 0;
    for (; !mangled.empty() && is_digit(mangled.front()) && length < mangled.size(); mangled.remove_prefix(1))
      length = length * 10 + static_cast<size_t>(mangled.front() - '0');
    if (length == 0 || length > mangled.size()) return "";
    const std::string_view part = mangled.substr(0, length);
    text += text.empty() ? "" : "::";
    text += part.starts_with("_GLOBAL__N") ? "(anonymous namespace)" : part;
    mangled.remove_prefix(length);
  }
  char arguments[16];
  std::snprintf(arguments, sizeof arguments, "<…%06x>", sum >> 8);
  return text.empty() || !mangled.starts_with('I') ? "" : text + arguments;
}

/// Without `[abi:…]`: versions, and with Numba hashes of options, which nobody wrote.
std::string without_abi_tags(std::string name) {
  constexpr std::string_view tag = "[abi:";
  for (size_t at = name.find(tag); at != std::string::npos; at = name.find(tag, at)) {
    const size_t end = name.find(']', at);
    if (end == std::string::npos) break;
    name.erase(at, end - at + 1);
  }
  return name;
}

}  // namespace

std::string demangle(std::string_view name) {
  // Static functions and variables of some compilers carry a `$` before the mangled name.
  std::string_view mangled = name;
  while (mangled.starts_with('$')) mangled.remove_prefix(1);
  if (!mangled.starts_with("_Z") || mangled.size() > longest_demangled) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> result(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status == 0 && result != nullptr) return without_abi_tags(result.get());
  // Its limit is 1,024 characters with recent C++ runtimes.
  const std::string alone = mangled.size() > shortest_refused ? name_alone(mangled) : "";
  return alone.empty() ? std::string(name) : alone;
}

std::string variable_display_name(std::string_view name) {
  if (const std::string_view local = cuda_local_name(name); !local.empty()) return std::string(local);
  std::string text = demangle(name);
  const size_t z = name.find("_ZZ");
  if (z == std::string_view::npos || text == name) return text;
  std::string_view last = last_component(text);
  while (last.starts_with(' ')) last.remove_prefix(1);
  return last.empty() || is_digit(last.front()) ? text : std::string(last);
}

}  // namespace lanescope::ptx
