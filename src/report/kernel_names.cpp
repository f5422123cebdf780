// See kernel_names.hpp.
#include "report/kernel_names.hpp"

#include <algorithm>
#include <string_view>

#include "advise/declaration.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

bool is_of_identifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// "std::plus<int>" as "plus<int>"; "main::{lambda(int)#1}" stays, for it has no other name.
std::string without_namespaces(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool qualifies =
        name.substr(i).starts_with("::") && i + 2 < name.size() && is_of_identifier(name[i + 2]);
    if (!qualifies) {
      text += name[i];
      continue;
    }
    while (!text.empty() && is_of_identifier(text.back())) text.pop_back();
    ++i;
  }
  return text;
}

size_t common_begin(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

/// The name from the first argument on from which `columns` columns reach past `differs`; what a lambda
/// takes is no argument.
std::string argument_at(std::string_view name, size_t differs, size_t columns) {
  constexpr size_t past = 6;
  const auto reaches = [&](size_t begin) {
    return columns_of(name.substr(begin, differs - begin)) + past <= columns;
  };
  size_t begin = 0;
  int braces = 0;
  for (size_t at = 1; at <= differs && at < name.size() && (begin == 0 || !reaches(begin)); ++at) {
    const char before = name[at - 1];
    braces += before == '{' ? 1 : before == '}' ? -1 : 0;
    const bool is_next = before == ' ' && at > 1 && name[at - 2] == ',';
    if (braces == 0 && (before == '<' || before == '(' || is_next)) begin = at;
  }
  if (!reaches(begin)) begin = differs + past - columns;
  return cut_end((begin == 0 ? "" : "…") + std::string(name.substr(begin)), columns);
}

}  // namespace

std::string instance_of(const std::string& kernel) {
  const std::string instance = advise::function_of(kernel + "::");
  return instance.empty() ? kernel : instance;
}

std::string function_of(const std::string& kernel) {
  const std::string instance = instance_of(kernel);
  return instance.substr(0, instance.find('<'));
}

KernelNames::KernelNames(const std::set<std::string>& kernels) {
  std::map<std::string, std::set<std::string>> by_name;
  for (const std::string& kernel : kernels) {
    by_name[short_name(kernel)].insert(kernel);
    of_function_[function_of(kernel)].insert(kernel);
  }
  for (const auto& [name, alike] : by_name) {
    size_t most = columns_of(name);
    std::map<std::string, std::string> longer;
    for (std::set<std::string> different; different.size() < alike.size();) {
      different.clear();
      most *= 2;
      for (const std::string& kernel : alike)
        different.insert(longer[kernel] = alike.size() == 1 ? name : short_name(kernel, most));
    }
    names_.merge(longer);
  }
}

std::string KernelNames::of(const std::string& kernel) const {
  const auto found = names_.find(kernel);
  return found == names_.end() ? short_name(kernel) : found->second;
}

std::string KernelNames::in_table(const std::string& kernel, size_t columns) const {
  const auto found = of_function_.find(function_of(kernel));
  if (found == of_function_.end()) return of(kernel);
  const std::set<std::string>& alike = found->second;
  std::string instance = instance_of(kernel);
  const auto is_the_same = [&](const std::string& other) { return instance_of(other) == instance; };
  if (columns_of(instance) <= columns && std::count_if(alike.begin(), alike.end(), is_the_same) == 1)
    return instance;
  if (alike.size() == 1) return cut_end(found->first + (found->first == instance ? "" : "<…>"), columns);
  if (columns_of(of(kernel)) <= columns) return of(kernel);
  const std::string plain = without_namespaces(kernel);
  const bool is_clear = std::all_of(alike.begin(), alike.end(), [&](const std::string& other) {
    return other == kernel || without_namespaces(other) != plain;
  });
  const auto shown = [&](const std::string& name) { return is_clear ? without_namespaces(name) : name; };
  size_t differs = 0;
  for (const std::string& other : alike)
    if (other != kernel) differs = std::max(differs, common_begin(shown(kernel), shown(other)));
  // The function's name comes before that, as far as a third of the columns goes, where there are several.
  constexpr size_t least_of_function = 4;
  if (of_function_.size() > 1 && columns / 3 >= least_of_function) {
    const std::string function = found->first.substr(0, columns / 3);
    const std::string rest = argument_at(shown(kernel), differs, columns - columns_of(function));
    if (rest.starts_with("…")) return function + rest;
  }
  return argument_at(shown(kernel), differs, columns);
}

}  // namespace lanescope::report
