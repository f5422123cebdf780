// Products and triangular systems: Eigen's, by columns on several threads.
#include "cuda/libraries/blas/dense.hpp"

#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace lanescope::cuda::blas {
namespace {

/// Multiplications from which on a thread is worth its start.
constexpr double least_work = 1e6;

int64_t thread_count() {
  static const int64_t count = [] {
    const char* asked = std::getenv("LANESCOPE_THREADS");
    const int64_t number = asked != nullptr ? std::atoll(asked) : 0;
    return number > 0 ? number : std::max<int64_t>(1, std::thread::hardware_concurrency());
  }();
  return count;
}

}  // namespace

void in_pieces(int64_t count, double work_of_one, const std::function<void(int64_t, int64_t)>& body) {
  const auto worth =
      static_cast<int64_t>(std::min(static_cast<double>(count) * work_of_one / least_work, 1e6));
  const int64_t pieces = std::clamp<int64_t>(std::min(worth, count), 1, thread_count());
  std::vector<std::jthread> threads;
  for (int64_t p = 1; p < pieces; ++p)
    threads.emplace_back([&body, p, pieces, count] { body(count * p / pieces, count * (p + 1) / pieces); });
  body(0, count / pieces);
}

template <typename T>
Dense<T> product(const Dense<T>& a, const Dense<T>& b) {
  Dense<T> out(a.rows(), b.cols());
  if (a.cols() == 0) {
    out.setZero();
    return out;
  }
  if (b.cols() >= a.rows()) {
    in_pieces(b.cols(), static_cast<double>(a.size()), [&](int64_t first, int64_t last) {
      out.middleCols(first, last - first).noalias() = a * b.middleCols(first, last - first);
    });
  } else {
    in_pieces(a.rows(), static_cast<double>(b.size()), [&](int64_t first, int64_t last) {
      out.middleRows(first, last - first).noalias() = a.middleRows(first, last - first) * b;
    });
  }
  return out;
}

template <typename T>
void solve(const Dense<T>& a, bool is_lower, Dense<T>& b) {
  in_pieces(b.cols(), static_cast<double>(a.size()) / 2, [&](int64_t first, int64_t last) {
    auto part = b.middleCols(first, last - first);
    if (is_lower)
      a.template triangularView<Eigen::Lower>().solveInPlace(part);
    else
      a.template triangularView<Eigen::Upper>().solveInPlace(part);
  });
}

#define LANESCOPE_INSTANTIATE(T) template Dense<T> product<T>(const Dense<T>&, const Dense<T>&);
LANESCOPE_INSTANTIATE(float)
LANESCOPE_INSTANTIATE(double)
LANESCOPE_INSTANTIATE(std::complex<float>)
LANESCOPE_INSTANTIATE(std::complex<double>)
LANESCOPE_INSTANTIATE(int32_t)
template void solve<float>(const Dense<float>&, bool, Dense<float>&);
template void solve<double>(const Dense<double>&, bool, Dense<double>&);
template void solve<std::complex<float>>(const Dense<std::complex<float>>&, bool,
                                         Dense<std::complex<float>>&);
template void solve<std::complex<double>>(const Dense<std::complex<double>>&, bool,
                                          Dense<std::complex<double>>&);

}  // namespace lanescope::cuda::blas
