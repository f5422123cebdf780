// See nearest.hpp.
#include "base/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace lanescope {
namespace {

/// Letters to insert, delete or replace to make `b` of `a`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// Is `a` nearer to `wanted` than `b`?
bool nearer(std::string_view wanted, std::string_view a, std::string_view b) {
  const auto common = [wanted](std::string_view name) {
    return std::mismatch(wanted.begin(), wanted.end(), name.begin(), name.end()).first - wanted.begin();
  };
  const size_t to_a = edit_distance(wanted, a);
  const size_t to_b = edit_distance(wanted, b);
  return to_a != to_b ? to_a < to_b : common(a) > common(b);
}

}  // namespace

std::string_view nearest(std::string_view wanted, std::span<const std::string_view> names) {
  std::string_view best = names.front();
  for (const std::string_view name : names)
    if (nearer(wanted, name, best)) best = name;
  return best;
}

}  // namespace lanescope
