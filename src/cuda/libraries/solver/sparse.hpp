// Systems of equations whose matrix is in CSR, and the factors that solve them. Eigen does it: by LU factors,
// which say the least about a matrix without an inverse, by QR factors where those have a pivot of nothing,
// or by Cholesky's.
#pragma once

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <Eigen/SparseQR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "cuda/libraries/solver/call.hpp"
#include "cuda/libraries/solver/dense.hpp"

namespace lanescope::cuda::solver {

template <typename Number>
using SparseColumns = Eigen::SparseMatrix<Number, Eigen::ColMajor>;

/// A matrix in CSR. Indices are from 0 or 1 on, which the first of `rows` tells, as the descriptor does that
/// is not looked at: it is an object of cuSPARSE.
struct SparseMatrix {
  int64_t m = 0, n = 0, count = 0;
  Indices rows, columns;
  Values values;

  void reach(const Memory& memory) const {
    libraries::reach(memory, "the offsets of rows", rows, m + 1, false);
    libraries::reach(memory, "the columns", columns, count, false);
    libraries::reach(memory, "A", values, count, false);
  }
  template <typename Number>
  [[nodiscard]] SparseColumns<Number> load() const {
    const int64_t base = rows[0];
    std::vector<Eigen::Triplet<Number>> elements;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t k = rows[i] - base; k < rows[i + 1] - base; ++k) {
        if (k < 0 || k >= count)
          throw libraries::Astray{fmt::format("finds element {} in row {}; there are {}", k, i, count)};
        const int64_t j = columns[k] - base;
        if (j < 0 || j >= n)
          throw libraries::Astray{
              fmt::format("finds column {} at element {}; with indices from {} on, there are {}", columns[k],
                          k, base, n)};
        elements.emplace_back(static_cast<int>(i), static_cast<int>(j), values.load<Number>(k));
      }
    SparseColumns<Number> out(m, n);
    out.setFromTriplets(elements.begin(), elements.end());
    return out;
  }
};

template <typename Number>
Column<Number> load_column(const Values& values, int64_t count) {
  Column<Number> out(count);
  for (int64_t i = 0; i < count; ++i) out(i) = values.load<Number>(i);
  return out;
}
template <typename Number>
void store_column(const Values& values, const Column<Number>& from) {
  for (int64_t i = 0; i < from.size(); ++i) values.store(i, from(i));
}

/// What functions say that tell which pivot is taken for 0, if none is.
inline constexpr int has_inverse = -1;
template <typename Number>
using QrFactors = Eigen::SparseQR<SparseColumns<Number>, Eigen::COLAMDOrdering<int>>;

/// The first of R's diagonal that is not larger than the tolerance; those of Eigen's that are nothing come
/// last.
template <typename Number>
int first_small(const QrFactors<Number>& qr, double tolerance) {
  const auto size = static_cast<int>(std::min(qr.rows(), qr.cols())), rank = static_cast<int>(qr.rank());
  for (int i = 0; i < rank; ++i)
    if (std::abs(qr.matrixR().coeff(i, i)) <= tolerance) return i;
  return rank < size ? rank : has_inverse;
}

/// Factors for the functions of LU and QR, which do the same here.
template <typename Number>
class GeneralFactors {
 public:
  explicit GeneralFactors(SparseColumns<Number> a) : a_(std::move(a)) {
    a_.makeCompressed();
    if (a_.rows() != a_.cols()) return;
    lu_ = std::make_unique<Lu>();
    lu_->compute(a_);
    if (lu_->info() != Eigen::Success) lu_.reset();
  }
  /// The x of the least residual.
  [[nodiscard]] Column<Number> solve(const Column<Number>& b) const {
    if (lu_ != nullptr) {
      Column<Number> x = lu_->solve(b);
      if (is_sure(x, b)) return x;
    }
    return qr().solve(b);
  }
  /// The first pivot that is not larger than the tolerance. LU factors say that there is none where they
  /// solve a system well; `b` is its right side.
  [[nodiscard]] int first_small_pivot(double tolerance, const Column<Number>& b) const {
    if (lu_ != nullptr && tolerance < 1e-6 * a_.norm() && is_sure(lu_->solve(b), b)) return has_inverse;
    return first_small(qr(), tolerance);
  }

 private:
  using Lu = Eigen::SparseLU<SparseColumns<Number>, Eigen::COLAMDOrdering<int>>;
  /// Rounding leaves a pivot of something where there should be nothing.
  [[nodiscard]] bool is_sure(const Column<Number>& x, const Column<Number>& b) const {
    constexpr double trusted = 1e-3 / std::numeric_limits<double>::epsilon();
    return x.allFinite() && a_.norm() * x.norm() <= trusted * std::max(b.norm(), 1e-300);
  }
  [[nodiscard]] const QrFactors<Number>& qr() const {
    if (qr_ == nullptr) qr_ = std::make_unique<QrFactors<Number>>(a_);
    return *qr_;
  }

  SparseColumns<Number> a_;
  std::unique_ptr<Lu> lu_;
  mutable std::unique_ptr<QrFactors<Number>> qr_;  ///< once wanted
};

/// Cholesky's factors of a symmetric or Hermitian matrix, of which the lower triangle is read.
template <typename Number>
class PositiveFactors {
 public:
  explicit PositiveFactors(SparseColumns<Number> a) : a_(std::move(a)), factors_(a_) {}
  [[nodiscard]] Column<Number> solve(const Column<Number>& b) const { return factors_.solve(b); }
  /// The first pivot that is not larger than the tolerance. Which it is depends on the order of the unknowns:
  /// it is told in the program's.
  [[nodiscard]] int first_small_pivot(double tolerance) const {
    if (factors_.info() == Eigen::Success && first_in(factors_, tolerance) == has_inverse) return has_inverse;
    const Eigen::SimplicialLDLT<SparseColumns<Number>, Eigen::Lower, Eigen::NaturalOrdering<int>> in_order(
        a_);
    const int found = first_in(in_order, tolerance);
    return found == has_inverse ? static_cast<int>(a_.rows()) - 1 : found;
  }

 private:
  template <typename Factors>
  static int first_in(const Factors& factors, double tolerance) {
    const auto pivots = factors.vectorD().real().eval();
    for (int i = 0; i < pivots.size(); ++i)
      if (!(pivots(i) > tolerance * tolerance)) return i;
    return has_inverse;
  }

  SparseColumns<Number> a_;
  Eigen::SimplicialLDLT<SparseColumns<Number>, Eigen::Lower> factors_;
};

/// Work on the host's memory, which no stream has to wait for.
template <typename Work>
Status on_host(const Call& call, Work&& work) {
  if (call.is_refused()) return call.status();
  try {
    work();
  } catch (const libraries::Astray& astray) {
    libraries::say("{} {}", call.name(), astray.what);
    return Status::invalid_value;
  }
  return Status::success;
}

}  // namespace lanescope::cuda::solver
