// cusolverSp: orders of the unknowns of a symmetric matrix, by its places alone, that keep factors small; and
// matrices whose rows and columns are exchanged. All on the host.
#include <Eigen/OrderingMethods>
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "cuda/libraries/solver/sparse.hpp"

namespace lanescope::cuda::solver {

namespace {

/// The places of a matrix in CSR; `ends` are where its rows end.
struct Places {
  int64_t m = 0, n = 0;
  const int *rows = nullptr, *ends = nullptr, *columns = nullptr;

  /// Calls f(row, column, number of the element).
  template <typename F>
  void each(F&& f) const {
    const int base = rows[0];
    for (int i = 0; i < m; ++i)
      for (int k = rows[i] - base; k < ends[i] - base; ++k) {
        const int j = columns[k] - base;
        if (j < 0 || j >= n)
          throw libraries::Astray{
              fmt::format("finds column {} at element {}; there are {}", columns[k], k, n)};
        f(i, j, k);
      }
  }
  /// Of each unknown those that it meets in an equation, and that meet it; not itself.
  [[nodiscard]] std::vector<std::set<int>> neighbours() const {
    std::vector<std::set<int>> out(static_cast<size_t>(n));
    each([&](int i, int j, int) {
      if (i == j) return;
      out[static_cast<size_t>(i)].insert(j);
      out[static_cast<size_t>(j)].insert(i);
    });
    return out;
  }
};

/// Reverse Cuthill-McKee: from an unknown with few neighbours on through its neighbours, those with fewest
/// first.
std::vector<int> narrow_band(const Places& a) {
  const std::vector<std::set<int>> neighbours = a.neighbours();
  const auto fewer = [&](int i, int j) {
    return neighbours[static_cast<size_t>(i)].size() < neighbours[static_cast<size_t>(j)].size();
  };
  std::vector<int> starts(static_cast<size_t>(a.n)), order;
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(), fewer);
  std::vector<bool> is_placed(static_cast<size_t>(a.n), false);
  for (const int start : starts) {
    if (is_placed[static_cast<size_t>(start)]) continue;
    order.push_back(start);
    is_placed[static_cast<size_t>(start)] = true;
    for (size_t at = order.size() - 1; at < order.size(); ++at) {
      std::vector<int> next;
      for (const int j : neighbours[static_cast<size_t>(order[at])])
        if (!is_placed[static_cast<size_t>(j)]) next.push_back(j);
      std::stable_sort(next.begin(), next.end(), fewer);
      for (const int j : next) is_placed[static_cast<size_t>(j)] = true;
      order.insert(order.end(), next.begin(), next.end());
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// By approximate minimum degree.
std::vector<int> little_fill(const Places& a) {
  std::vector<Eigen::Triplet<double>> elements;
  a.each([&](int i, int j, int) { elements.emplace_back(i, j, 1.0); });
  Eigen::SparseMatrix<double> places(a.n, a.n);
  places.setFromTriplets(elements.begin(), elements.end());
  Eigen::AMDOrdering<int>::PermutationType order;
  Eigen::AMDOrdering<int>()(places, order);
  return {order.indices().data(), order.indices().data() + order.size()};
}

template <typename Order>
Status tell_order(Call& call, int n, int nnz, const void* descriptor, const int* rows, const int* columns,
                  int* out, const Order& order) {
  call.size("n", n).size("nnzA", nnz).pointer("descrA", descriptor).pointer("csrRowPtrA", rows);
  call.pointer("p", out);
  return on_host(call, [&] {
    const std::vector<int> found = order(Places{n, n, rows, rows + 1, columns});
    std::copy(found.begin(), found.end(), out);
  });
}

/// Row i of the new matrix is row p[i], its column j column q[j]. `map` goes with the elements.
void permute(const Places& a, int* rows, int* columns, const int* p, const int* q, int* map) {
  const int base = rows[0];
  std::vector<int> column_of(static_cast<size_t>(a.n), -1), new_rows{base}, new_columns, new_map;
  for (int j = 0; j < a.n; ++j) {
    if (q[j] < 0 || q[j] >= a.n) throw libraries::Astray{fmt::format("finds column {} in q", q[j])};
    column_of[static_cast<size_t>(q[j])] = j;
  }
  std::vector<std::vector<std::pair<int, int>>> elements(static_cast<size_t>(a.m));
  a.each([&](int i, int j, int k) {
    elements[static_cast<size_t>(i)].emplace_back(column_of[static_cast<size_t>(j)], map[k]);
  });
  for (int i = 0; i < a.m; ++i) {
    if (p[i] < 0 || p[i] >= a.m) throw libraries::Astray{fmt::format("finds row {} in p", p[i])};
    std::vector<std::pair<int, int>>& row = elements[static_cast<size_t>(p[i])];
    std::sort(row.begin(), row.end());
    for (const auto& [j, from] : row) {
      new_columns.push_back(j + base);
      new_map.push_back(from);
    }
    new_rows.push_back(static_cast<int>(new_columns.size()) + base);
  }
  std::copy(new_rows.begin(), new_rows.end(), rows);
  std::copy(new_columns.begin(), new_columns.end(), columns);
  std::copy(new_map.begin(), new_map.end(), map);
}

}  // namespace

#define LANESCOPE_ORDER(name, order)                                                            \
  LANESCOPE_CUDA_API Status cusolverSpXcsr##name##Host(SparseHandle* handle, int n, int nnz,    \
                                                       const void* descriptor, const int* rows, \
                                                       const int* columns, int* p) {            \
    Call call(handle, "cusolverSpXcsr" #name "Host");                                           \
    return tell_order(call, n, nnz, descriptor, rows, columns, p, order);                       \
  }
LANESCOPE_ORDER(symrcm, narrow_band)
LANESCOPE_ORDER(symmdq, little_fill)
LANESCOPE_ORDER(symamd, little_fill)
LANESCOPE_CUDA_API Status cusolverSpXcsrmetisndHost(SparseHandle* handle, int n, int nnz,
                                                    const void* descriptor, const int* rows,
                                                    const int* columns, const int64_t* /*options*/, int* p) {
  Call call(handle, "cusolverSpXcsrmetisndHost");
  return tell_order(call, n, nnz, descriptor, rows, columns, p, little_fill);
}

LANESCOPE_CUDA_API Status cusolverSpXcsrissymHost(SparseHandle* handle, int m, int nnz,
                                                  const void* descriptor, const int* rows, const int* ends,
                                                  const int* columns, int* is_symmetric) {
  Call call(handle, "cusolverSpXcsrissymHost");
  call.size("m", m).size("nnzA", nnz).pointer("descrA", descriptor).pointer("csrRowPtrA", rows);
  call.pointer("csrEndPtrA", ends).pointer("issym", is_symmetric);
  return on_host(call, [&] {
    std::set<std::pair<int, int>> there, turned;
    Places{m, m, rows, ends, columns}.each([&](int i, int j, int) {
      there.emplace(i, j);
      turned.emplace(j, i);
    });
    *is_symmetric = there == turned ? 1 : 0;
  });
}

LANESCOPE_CUDA_API Status cusolverSpXcsrperm_bufferSizeHost(SparseHandle* handle, int, int, int, const void*,
                                                            const int*, const int*, const int*, const int*,
                                                            size_t* bytes) {
  return Call(handle, "cusolverSpXcsrperm_bufferSizeHost").tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusolverSpXcsrpermHost(SparseHandle* handle, int m, int n, int nnz,
                                                 const void* descriptor, int* rows, int* columns,
                                                 const int* p, const int* q, int* map, void*) {
  Call call(handle, "cusolverSpXcsrpermHost");
  call.size("m", m).size("n", n).size("nnzA", nnz).pointer("descrA", descriptor).pointer("csrRowPtrA", rows);
  call.pointer("p", p).pointer("q", q);
  if (nnz > 0) call.pointer("map", map);
  return on_host(call, [&] { permute({m, n, rows, rows + 1, columns}, rows, columns, p, q, map); });
}

}  // namespace lanescope::cuda::solver
