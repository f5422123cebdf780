// Eigenvalues of matrices that need not be symmetric, by Eigen.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <complex>
#include <type_traits>

#include "cuda/libraries/solver/call.hpp"
#include "cuda/libraries/solver/reflections.hpp"

namespace lanescope::cuda::solver {
namespace {

/// What is wanted of a matrix of n rows.
struct WantedOfGeneral {
  Vectors left, right;
  Panel a;
  Values w;  ///< complex; or real, of a real matrix: n real parts, and behind them n imaginary ones
  Panel vl, vr;
};

void look_at(Call& call, const WantedOfGeneral& wanted, DataType computed_in) {
  const DataType type = wanted.a.values.type;
  call.one_of(wanted.left).one_of(wanted.right).panel("lda", wanted.a);
  if (wanted.left == Vectors::wanted)
    call.refuse(Status::internal_error, "jobvl asks for left vectors, which an H200's cuSOLVER refuses, too");
  if (wanted.w.type != type) call.types("real numbers of W", real_of(wanted.w.type), type);
  call.types("VL", wanted.vl.values.type, type).types("VR", wanted.vr.values.type, type);
  call.types("computeType", computed_in, type);
  if (wanted.right == Vectors::wanted) call.panel("ldvr", wanted.vr);
}

/// Each of length 1, and its largest element real, as LAPACK has them.
void normalize(Matrix<Complex>& vectors) {
  for (int64_t k = 0; k < vectors.cols(); ++k) {
    int64_t largest = 0;
    vectors.col(k).cwiseAbs2().maxCoeff(&largest);
    const Complex turned = std::conj(vectors(largest, k));
    vectors.col(k) *= turned / (std::abs(turned) * vectors.col(k).norm());
    vectors(largest, k) = vectors(largest, k).real();
  }
}

/// Of the vectors of a real matrix's two conjugate values the first one's real part, and its imaginary part.
Matrix<double> as_pairs(const Matrix<Complex>& vectors, const Column<Complex>& values) {
  Matrix<double> out(vectors.rows(), vectors.cols());
  for (int64_t k = 0; k < vectors.cols(); ++k) {
    out.col(k) = vectors.col(k).real();
    if (values(k).imag() == 0 || k + 1 == vectors.cols()) continue;
    out.col(k + 1) = vectors.col(k).imag();
    ++k;
  }
  return out;
}

Status geev(Call& call, const WantedOfGeneral& wanted, DataType computed_in, int* info) {
  look_at(call, wanted, computed_in);
  call.pointer("info", info);
  return call.submit(wanted.a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    constexpr bool is_real = std::is_same_v<Number, double>;
    const int64_t n = wanted.a.rows;
    const bool with_vectors = wanted.right == Vectors::wanted;
    const bool has_parts = is_real && !libraries::is_complex(wanted.w.type);
    reach(memory, "A", wanted.a, true);
    reach(memory, "W", wanted.w, has_parts ? 2 * n : n, true);
    if (with_vectors) reach(memory, "VR", wanted.vr, true);
    memory.write("info", info, 1);
    *info = 0;
    if (n == 0) return;
    Matrix<Number> a = load<Number>(wanted.a);
    const double scale = scale_of(a);
    a /= scale;
    using Solver = std::conditional_t<is_real, Eigen::EigenSolver<Matrix<Number>>,
                                      Eigen::ComplexEigenSolver<Matrix<Number>>>;
    const Solver solver(a, with_vectors);
    if (solver.info() != Eigen::Success) {
      *info = static_cast<int>(n);
      return;
    }
    const Column<Complex>& values = solver.eigenvalues();
    for (int64_t k = 0; k < n; ++k) {
      const Complex value = values(k) * scale;
      wanted.w.store(k, value);
      if (has_parts) wanted.w.store(n + k, value.imag());
    }
    if (!with_vectors) return;
    Matrix<Complex> vectors = solver.eigenvectors();
    normalize(vectors);
    if constexpr (is_real) {
      store<double>(wanted.vr, as_pairs(vectors, values));
    } else {
      store<Complex>(wanted.vr, vectors);
    }
  });
}

}  // namespace

LANESCOPE_CUDA_API Status cusolverDnXgeev_bufferSize(Handle* handle, Params* params, Vectors jobvl,
                                                     Vectors jobvr, int64_t n, DataType type, const void* a,
                                                     int64_t lda, DataType type_of_w, const void* w,
                                                     DataType type_of_vl, const void* vl, int64_t ldvl,
                                                     DataType type_of_vr, const void* vr, int64_t ldvr,
                                                     DataType computed_in, size_t* on_device,
                                                     size_t* on_host) {
  Call call(handle, "cusolverDnXgeev_bufferSize");
  look_at(call.params(params),
          {jobvl,
           jobvr,
           {n, n, lda, values_at(a, type)},
           values_at(w, type_of_w),
           {n, n, ldvl, values_at(vl, type_of_vl)},
           {n, n, ldvr, values_at(vr, type_of_vr)}},
          computed_in);
  return call.tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXgeev(Handle* handle, Params* params, Vectors jobvl, Vectors jobvr,
                                          int64_t n, DataType type, void* a, int64_t lda, DataType type_of_w,
                                          void* w, DataType type_of_vl, void* vl, int64_t ldvl,
                                          DataType type_of_vr, void* vr, int64_t ldvr, DataType computed_in,
                                          void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXgeev");
  return geev(call.params(params),
              {jobvl,
               jobvr,
               {n, n, lda, values_at(a, type)},
               values_at(w, type_of_w),
               {n, n, ldvl, values_at(vl, type_of_vl)},
               {n, n, ldvr, values_at(vr, type_of_vr)}},
              computed_in, info);
}

}  // namespace lanescope::cuda::solver
