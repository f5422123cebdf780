// See patch.hpp.
#include "advise/patch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace lanescope::advise {
namespace {

void sort(std::vector<Edit>& edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
}

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

/// Lines [begin, end) of a text, 0-based, that become others.
struct Block {
  size_t begin = 0, end = 0;
  std::vector<Edit> edits;
  std::string after;
};

void add(std::string& diff, char sign, std::string_view line) {
  diff += sign;
  diff += line;
  if (line.empty() || line.back() != '\n') diff += "\n\\ No newline at end of file\n";
}

/// "12,3": where a piece of a diff begins, and how many lines it has.
std::string range(size_t begin, size_t lines) {
  return fmt::format("{},{}", begin + (lines != 0 ? 1 : 0), lines);
}

}  // namespace

std::vector<Patch> Patch::of_files() const {
  std::vector<Patch> all{{file, edits}};
  all.insert(all.end(), along.begin(), along.end());
  return all;
}

std::string patched(std::string_view text, std::vector<Edit> edits, const std::string& file) {
  sort(edits);
  std::string result;
  size_t done = 0;
  for (const Edit& edit : edits) {
    if (edit.begin < done || edit.end < edit.begin || edit.end > text.size())
      throw Error(SourcePlace{file}, "the file is not the one that was compiled");
    result += text.substr(done, edit.begin - done);
    result += edit.text;
    done = edit.end;
  }
  return result + std::string(text.substr(done));
}

bool change_again(std::vector<Edit> made, const std::vector<Edit>& later) {
  sort(made);
  size_t added = 0, removed = 0;  // by the edits before
  for (const Edit& edit : made) {
    const size_t begin = edit.begin + added - removed, end = begin + edit.text.size();
    if (std::any_of(later.begin(), later.end(),
                    [&](const Edit& again) { return again.begin <= end && begin <= again.end; }))
      return true;
    added += edit.text.size();
    removed += edit.end - edit.begin;
  }
  return false;
}

std::string unified_diff(std::string_view text, const std::vector<Edit>& unsorted, const std::string& file) {
  constexpr size_t context = 3;
  const std::vector<std::string_view> lines = lines_of(text);
  std::vector<size_t> begins;
  for (const std::string_view line : lines) begins.push_back(static_cast<size_t>(line.data() - text.data()));
  begins.push_back(text.size());
  const auto line_at = [&](size_t offset) {
    const auto next = std::upper_bound(begins.begin(), begins.end() - 1, offset);
    return static_cast<size_t>(std::max<std::ptrdiff_t>(next - begins.begin(), 1) - 1);
  };

  std::vector<Edit> edits = unsorted;
  sort(edits);
  std::vector<Block> blocks;
  for (const Edit& edit : edits) {
    const bool inserts = edit.begin == edit.end && edit.text.ends_with('\n') &&
                         std::binary_search(begins.begin(), begins.end(), edit.begin);
    const size_t first = inserts && edit.begin == text.size() ? lines.size() : line_at(edit.begin);
    const size_t end = inserts ? first : std::min(line_at(edit.end) + 1, lines.size());
    if (!blocks.empty() && first <= blocks.back().end)
      blocks.back().end = std::max(blocks.back().end, end);
    else
      blocks.push_back({first, end, {}, {}});
    blocks.back().edits.push_back(edit);
  }
  for (Block& block : blocks) {
    const size_t offset = begins[block.begin];
    for (Edit& edit : block.edits) {
      edit.begin -= offset;
      edit.end -= offset;
    }
    const std::string_view before = text.substr(offset, begins[block.end] - offset);
    block.after = patched(before, block.edits, file);
  }
  std::erase_if(blocks, [&](const Block& block) {
    return block.after == text.substr(begins[block.begin], begins[block.end] - begins[block.begin]);
  });

  std::string diff;
  std::ptrdiff_t longer = 0;  // how many lines the blocks before have added
  for (size_t next = 0; next < blocks.size();) {
    // One piece: from this block to the last one that is near the one before it.
    size_t last = next;
    while (last + 1 < blocks.size() && blocks[last + 1].begin - blocks[last].end <= 2 * context) ++last;
    const size_t begin = blocks[next].begin - std::min(blocks[next].begin, context);
    const size_t end = std::min(blocks[last].end + context, lines.size());
    std::string body;
    size_t after_lines = 0;
    for (size_t at = begin; next <= last; ++next) {
      const Block& block = blocks[next];
      for (; at < block.begin; ++at, ++after_lines) add(body, ' ', lines[at]);
      for (; at < block.end; ++at) add(body, '-', lines[at]);
      for (const std::string_view line : lines_of(block.after)) {
        add(body, '+', line);
        ++after_lines;
      }
      if (next == last)
        for (; at < end; ++at, ++after_lines) add(body, ' ', lines[at]);
    }
    const auto after_begin = static_cast<size_t>(static_cast<std::ptrdiff_t>(begin) + longer);
    if (diff.empty()) diff = fmt::format("--- a/{0}\n+++ b/{0}\n", file);
    diff += fmt::format("@@ -{} +{} @@\n", range(begin, end - begin), range(after_begin, after_lines)) + body;
    longer += static_cast<std::ptrdiff_t>(after_lines) - static_cast<std::ptrdiff_t>(end - begin);
  }
  return diff;
}

}  // namespace lanescope::advise
