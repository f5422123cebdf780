// See entries.hpp and descriptors.hpp.
#include "cuda/libraries/sparse/entries.hpp"

#include <string>

namespace lanescope::cuda::sparse {

using libraries::Astray;

void reach(const Memory& memory, const char* what, const DenseMatrix& matrix, bool write) {
  for (int batch = 0; batch < matrix.batches; ++batch)
    reach(memory, what, matrix.at(batch).values, matrix.extent(), write);
}

void reach(const Memory& memory, const char* what, const SparseMatrix& matrix, Access values) {
  const std::string of = std::string(" of ") + what;
  for (int batch = 0; batch < matrix.batches; ++batch) {
    const SparseMatrix one = matrix.at(batch);
    const char* first = one.format == Format::coo   ? "the rows"
                        : one.format == Format::csc ? "the column offsets"
                                                    : "the row offsets";
    reach(memory, (first + of).c_str(), one.first, one.first_count(), false);
    reach(memory, ((one.format == Format::csc ? "the rows" : "the columns") + of).c_str(), one.second,
          one.count, false);
    if (values != Access::none)
      reach(memory, ("the values" + of).c_str(), one.values, one.values_count(), values == Access::write);
  }
}

int64_t checked(int64_t stored, Base base, int64_t count, const char* what, int64_t element) {
  const int64_t index = stored - static_cast<int64_t>(base);
  if (index < 0 || index >= count)
    throw Astray{fmt::format("finds {} {} at element {}; with indices from {} on, there are {}", what, stored,
                             element, static_cast<int>(base), count)};
  return index;
}

Line line(const Indices& first, int64_t i, Base base, int64_t count) {
  const auto origin = static_cast<int64_t>(base);
  const Line found{first[i] - origin, first[i + 1] - origin};
  if (found.begin < 0 || found.end > count || found.begin > found.end)
    throw Astray{
        fmt::format("finds offsets {} and {} for line {}; the matrix has {} elements, counted from {} on",
                    first[i], first[i + 1], i, count, origin)};
  return found;
}

template <typename Number>
Rows<Number> rows_of(const SparseMatrix& a, Operation operation) {
  const bool turned = operation != Operation::none;
  Rows<Number> out;
  const auto rows = static_cast<size_t>(rows_after(a, operation));
  out.begin.assign(rows + 1, 0);
  each_element(a,
               [&](int64_t i, int64_t j, int64_t) { ++out.begin[static_cast<size_t>(turned ? j : i) + 1]; });
  for (size_t i = 0; i < rows; ++i) out.begin[i + 1] += out.begin[i];
  const auto count = static_cast<size_t>(out.begin[rows]);
  out.column.resize(count);
  out.value.resize(count);
  out.place.resize(count);
  std::vector<int64_t> next(out.begin.begin(), out.begin.end() - 1);
  each_element(a, [&](int64_t i, int64_t j, int64_t k) {
    const auto at = static_cast<size_t>(next[static_cast<size_t>(turned ? j : i)]++);
    const Number value = a.values.load<Number>(k);
    out.column[at] = turned ? i : j;
    out.value[at] = operation == Operation::adjoint ? conjugate(value) : value;
    out.place[at] = k;
  });
  return out;
}
template Rows<double> rows_of(const SparseMatrix& a, Operation operation);
template Rows<Complex> rows_of(const SparseMatrix& a, Operation operation);

}  // namespace lanescope::cuda::sparse
