// See patch.hpp. Patches change words within lines, so that both texts have the same lines in the same order.
#include "advise/patch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace lanescope::advise {
namespace {

/// Lines with their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

void add(std::string& diff, char sign, std::string_view line) {
  diff += sign;
  diff += line;
  if (line.empty() || line.back() != '\n') diff += "\n\\ No newline at end of file\n";
}

}  // namespace

std::string patched(std::string_view text, std::vector<Patch> patches) {
  std::sort(patches.begin(), patches.end(), [](const Patch& a, const Patch& b) { return a.begin < b.begin; });
  std::string result;
  size_t done = 0;
  for (const Patch& patch : patches) {
    if (patch.begin < done || patch.end < patch.begin || patch.end > text.size())
      throw Error(SourcePlace{patch.file}, "the file is not the one that was compiled");
    result += text.substr(done, patch.begin - done);
    result += patch.text;
    done = patch.end;
  }
  return result + std::string(text.substr(done));
}

std::string unified_diff(std::string_view before, std::string_view after, const std::string& file) {
  constexpr size_t context = 3;
  const std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  if (a.size() != b.size()) throw Error(SourcePlace{file}, "a patch adds or removes lines");
  std::string diff;
  for (size_t next = 0; next < a.size();) {
    if (a[next] == b[next]) {
      ++next;
      continue;
    }
    // One hunk: from this change to the last one that is near the one before it.
    const size_t begin = next - std::min(next, context);
    size_t last = next;
    for (size_t i = next; i < a.size() && i <= last + 2 * context; ++i)
      if (a[i] != b[i]) last = i;
    const size_t end = std::min(last + context + 1, a.size());
    if (diff.empty()) diff = fmt::format("--- a/{0}\n+++ b/{0}\n", file);
    diff += fmt::format("@@ -{0},{1} +{0},{1} @@\n", begin + 1, end - begin);
    for (size_t i = begin; i < end;) {
      if (a[i] == b[i]) {
        add(diff, ' ', a[i++]);
        continue;
      }
      const size_t from = i;
      while (i < end && a[i] != b[i]) add(diff, '-', a[i++]);
      for (size_t j = from; j < i; ++j) add(diff, '+', b[j]);
    }
    next = end;
  }
  return diff;
}

}  // namespace lanescope::advise
