// Products and triangular systems: Eigen's, by columns on several threads.
#include "cuda/libraries/blas/dense.hpp"

#include "cuda/libraries/parts.hpp"

namespace lanescope::cuda::blas {

using libraries::in_parts;

template <typename T>
Dense<T> product(const Dense<T>& a, const Dense<T>& b) {
  Dense<T> out(a.rows(), b.cols());
  if (a.cols() == 0) {
    out.setZero();
    return out;
  }
  const double worth = static_cast<double>(a.size()) * static_cast<double>(b.cols()) / worth_a_thread;
  if (b.cols() >= a.rows()) {
    in_parts(b.cols(), worth, [&](int64_t first, int64_t last) {
      out.middleCols(first, last - first).noalias() = a * b.middleCols(first, last - first);
    });
  } else {
    in_parts(a.rows(), worth, [&](int64_t first, int64_t last) {
      out.middleRows(first, last - first).noalias() = a.middleRows(first, last - first) * b;
    });
  }
  return out;
}

template <typename T>
void solve(const Dense<T>& a, bool is_lower, Dense<T>& b) {
  const double worth = static_cast<double>(a.size()) * static_cast<double>(b.cols()) / 2 / worth_a_thread;
  in_parts(b.cols(), worth, [&](int64_t first, int64_t last) {
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
