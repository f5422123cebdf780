// Eigenvalues of symmetric and Hermitian matrices: one, a batch, some of them, and those of two matrices.
#include <algorithm>

#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

/// What is wanted of a matrix, or of each of a batch.
struct Wanted {
  Vectors vectors;
  Fill fill;
  Panel a;
  Values w;  ///< as many as the matrix has rows, matrix by matrix
  int64_t count = 1;
};

void look_at(Call& call, const Wanted& wanted) {
  call.one_of(wanted.vectors).one_of(wanted.fill).panel("lda", wanted.a).size("batchSize", wanted.count);
  call.types("W", wanted.w.type, real_of(wanted.a.values.type));
}

/// 0, or a number that says that not all were found.
template <typename Number>
int info_of(const Spectrum<Number>& found) {
  return found.done ? 0 : static_cast<int>(found.values.size()) + 1;
}

Status syevd(Call& call, const Wanted& wanted, int* info) {
  look_at(call, wanted);
  return call.pointer("info", info).submit(wanted.a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    const int64_t n = wanted.a.rows;
    const bool with_vectors = wanted.vectors == Vectors::wanted;
    memory.write("info", info, wanted.count);
    for (int64_t i = 0; i < wanted.count; ++i) {
      const Panel a = wanted.a.at(i);
      const Values w = wanted.w.from(i * n);
      reach(memory, "A", a, with_vectors);
      reach(memory, "W", w, n, true);
      const Spectrum<Number> found = spectrum_of(load_lower<Number>(a, wanted.fill), with_vectors);
      for (int64_t k = 0; k < n; ++k) w.store(k, found.values[static_cast<size_t>(k)]);
      if (with_vectors) store(a, found.vectors);
      info[i] = info_of(found);
    }
  });
}

/// Eigenvalues of two matrices; B's Cholesky factor takes its place.
Status sygvd(Call& call, Problem problem, const Wanted& wanted, const Panel& b, int* info) {
  if (!is_between(problem, Problem::a_bx, Problem::ba_x))
    call.refuse(Status::invalid_value, "{} is no cusolverEigType_t", static_cast<int>(problem));
  look_at(call, wanted);
  call.panel("ldb", b).pointer("info", info);
  return call.submit(b.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    const Panel& a = wanted.a;
    const int64_t n = a.rows;
    reach(memory, "A", a, true);
    reach(memory, "B", b, true);
    reach(memory, "W", wanted.w, n, true);
    memory.write("info", info, 1);
    Matrix<Number> lower = load_lower<Number>(b, wanted.fill);
    if (const int64_t failed = factor_cholesky<Number>(lower)) {
      *info = static_cast<int>(n + failed);
      return;
    }
    store_lower(b, wanted.fill, lower);
    lower.template triangularView<Eigen::StrictlyUpper>().setZero();
    Matrix<Number> whole = load_lower<Number>(a, wanted.fill);
    for (int64_t j = 0; j < n; ++j) {
      whole(j, j) = std::real(whole(j, j));
      for (int64_t i = 0; i < j; ++i) whole(i, j) = libraries::conjugate(whole(j, i));
    }
    const Matrix<Number> upper = lower.adjoint();
    // With B = L L^H: L^-1 A L^-H, or L^H A L.
    if (problem == Problem::a_bx) {
      solve_triangle<Number>(lower, true, false, whole);
      Matrix<Number> turned = whole.adjoint();
      solve_triangle<Number>(lower, true, false, turned);
      whole = std::move(turned);
    } else {
      Matrix<Number> half = Matrix<Number>::Zero(n, n), both = half;
      subtract_product<Number>(half, upper, whole);
      subtract_product<Number>(both, half, lower);
      whole = std::move(both);
    }
    const bool with_vectors = wanted.vectors == Vectors::wanted;
    Spectrum<Number> found = spectrum_of(whole, with_vectors);
    *info = info_of(found);
    for (int64_t k = 0; k < n; ++k) wanted.w.store(k, found.values[static_cast<size_t>(k)]);
    if (!with_vectors) return;
    if (problem == Problem::ba_x) {
      Matrix<Number> product = Matrix<Number>::Zero(n, n);
      subtract_product<Number>(product, lower, found.vectors);
      found.vectors = -product;
    } else {
      solve_triangle<Number>(upper, false, false, found.vectors);
    }
    store(a, found.vectors);
  });
}

/// Some eigenvalues: those with indices first to last, from 1 on, or between two numbers.
struct Some {
  Range range;
  double above, to;
  int64_t first, last;
};
/// `how_many`: in the host's memory, which is known when the work is done.
template <typename Int>
Status syevdx(Call& call, const Wanted& wanted, const Some& some, Int* how_many, int* info) {
  look_at(call, wanted);
  const int64_t n = wanted.a.rows;
  call.pointer("meig", how_many).pointer("info", info);
  if (!is_between(some.range, Range::all, Range::by_value))
    call.refuse(Status::invalid_value, "{} is no cusolverEigRange_t", static_cast<int>(some.range));
  if (some.range == Range::by_index && n > 0 && (some.first < 1 || some.last < some.first || some.last > n))
    call.refuse(Status::invalid_value, "il is {} and iu {}, of {} eigenvalues", some.first, some.last, n);
  if (some.range == Range::by_value && !(some.above < some.to))
    call.refuse(Status::invalid_value, "vl is {} and vu {}", some.above, some.to);
  return call.submit_and_wait(wanted.a.values.type, [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    const bool with_vectors = wanted.vectors == Vectors::wanted;
    reach(memory, "A", wanted.a, with_vectors);
    reach(memory, "W", wanted.w, n, true);
    memory.write("info", info, 1);
    const Spectrum<Number> found = spectrum_of(load_lower<Number>(wanted.a, wanted.fill), with_vectors);
    *info = info_of(found);
    int64_t count = 0;
    for (int64_t k = 0; k < n; ++k) {
      // Rounded as it will be, so that the program finds no value outside of its bounds.
      const double exact = found.values[static_cast<size_t>(k)],
                   value = wanted.w.type == DataType::real_32f ? static_cast<float>(exact) : exact;
      if (some.range == Range::by_index && (k + 1 < some.first || k + 1 > some.last)) continue;
      if (some.range == Range::by_value && !(value > some.above && value <= some.to)) continue;
      wanted.w.store(count, value);
      for (int64_t i = 0; with_vectors && i < n; ++i)
        wanted.a.values.store(i + count * wanted.a.leading, found.vectors(i, k));
      ++count;
    }
    *how_many = static_cast<Int>(count);
  });
}

}  // namespace

#define LANESCOPE_EIGENVALUES(P, T, R, sy, gqr, mqr)                                                        \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evd_bufferSize(                                              \
      Handle* handle, Vectors jobz, Fill uplo, int n, const T* a, int lda, const R* w, int* size) {         \
    Call call(handle, "cusolverDn" #P #sy "evd_bufferSize");                                                \
    look_at(call, {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)});                                   \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evd(Handle* handle, Vectors jobz, Fill uplo, int n, T* a,    \
                                                   int lda, R* w, T*, int, int* info) {                     \
    Call call(handle, "cusolverDn" #P #sy "evd");                                                           \
    return syevd(call, {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)}, info);                        \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evj_bufferSize(Handle* handle, Vectors jobz, Fill uplo,      \
                                                              int n, const T* a, int lda, const R* w,       \
                                                              int* size, SyevjInfo* params) {               \
    Call call(handle, "cusolverDn" #P #sy "evj_bufferSize");                                                \
    look_at(call.object("params", params), {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)});          \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evj(Handle* handle, Vectors jobz, Fill uplo, int n, T* a,    \
                                                   int lda, R* w, T*, int, int* info, SyevjInfo* params) {  \
    Call call(handle, "cusolverDn" #P #sy "evj");                                                           \
    return syevd(call.object("params", params), {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)},      \
                 info);                                                                                     \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evjBatched_bufferSize(                                       \
      Handle* handle, Vectors jobz, Fill uplo, int n, const T* a, int lda, const R* w, int* size,           \
      SyevjInfo* params, int count) {                                                                       \
    Call call(handle, "cusolverDn" #P #sy "evjBatched_bufferSize");                                         \
    look_at(call.object("params", params), {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w), count});   \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evjBatched(Handle* handle, Vectors jobz, Fill uplo, int n,   \
                                                          T* a, int lda, R* w, T*, int, int* info,          \
                                                          SyevjInfo* params, int count) {                   \
    Call call(handle, "cusolverDn" #P #sy "evjBatched");                                                    \
    return syevd(call.object("params", params),                                                             \
                 {jobz, uplo, {n, n, lda, values_at(a), int64_t{lda} * n}, values_at(w), count}, info);     \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##gvd_bufferSize(Handle* handle, Problem, Vectors jobz,        \
                                                              Fill uplo, int n, const T* a, int lda,        \
                                                              const T* b, int ldb, const R* w, int* size) { \
    Call call(handle, "cusolverDn" #P #sy "gvd_bufferSize");                                                \
    look_at(call.panel("ldb", {n, n, ldb, values_at(b)}),                                                   \
            {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)});                                         \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##gvd(Handle* handle, Problem itype, Vectors jobz, Fill uplo,  \
                                                   int n, T* a, int lda, T* b, int ldb, R* w, T*, int,      \
                                                   int* info) {                                             \
    Call call(handle, "cusolverDn" #P #sy "gvd");                                                           \
    return sygvd(call, itype, {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)},                        \
                 {n, n, ldb, values_at(b)}, info);                                                          \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##gvj_bufferSize(                                              \
      Handle* handle, Problem, Vectors jobz, Fill uplo, int n, const T* a, int lda, const T* b, int ldb,    \
      const R* w, int* size, SyevjInfo* params) {                                                           \
    Call call(handle, "cusolverDn" #P #sy "gvj_bufferSize");                                                \
    look_at(call.object("params", params).panel("ldb", {n, n, ldb, values_at(b)}),                          \
            {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)});                                         \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##gvj(Handle* handle, Problem itype, Vectors jobz, Fill uplo,  \
                                                   int n, T* a, int lda, T* b, int ldb, R* w, T*, int,      \
                                                   int* info, SyevjInfo* params) {                          \
    Call call(handle, "cusolverDn" #P #sy "gvj");                                                           \
    return sygvd(call.object("params", params), itype,                                                      \
                 {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)}, {n, n, ldb, values_at(b)}, info);   \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evdx_bufferSize(Handle* handle, Vectors jobz, Range,         \
                                                               Fill uplo, int n, const T* a, int lda, R, R, \
                                                               int, int, int*, const R* w, int* size) {     \
    Call call(handle, "cusolverDn" #P #sy "evdx_bufferSize");                                               \
    look_at(call, {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)});                                   \
    return call.tell_size(size);                                                                            \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverDn##P##sy##evdx(Handle* handle, Vectors jobz, Range range, Fill uplo,   \
                                                    int n, T* a, int lda, R vl, R vu, int il, int iu,       \
                                                    int* meig, R* w, T*, int, int* info) {                  \
    Call call(handle, "cusolverDn" #P #sy "evdx");                                                          \
    return syevdx(call, {jobz, uplo, {n, n, lda, values_at(a)}, values_at(w)}, {range, vl, vu, il, iu},     \
                  meig, info);                                                                              \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_EIGENVALUES)

LANESCOPE_CUDA_API Status cusolverDnXsyevd_bufferSize(Handle* handle, Params* params, Vectors jobz, Fill uplo,
                                                      int64_t n, DataType type, const void* a, int64_t lda,
                                                      DataType type_of_w, const void* w, DataType,
                                                      size_t* on_device, size_t* on_host) {
  Call call(handle, "cusolverDnXsyevd_bufferSize");
  look_at(call.params(params), {jobz, uplo, {n, n, lda, values_at(a, type)}, values_at(w, type_of_w)});
  return call.tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXsyevd(Handle* handle, Params* params, Vectors jobz, Fill uplo, int64_t n,
                                           DataType type, void* a, int64_t lda, DataType type_of_w, void* w,
                                           DataType, void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXsyevd");
  return syevd(call.params(params), {jobz, uplo, {n, n, lda, values_at(a, type)}, values_at(w, type_of_w)},
               info);
}
LANESCOPE_CUDA_API Status cusolverDnXsyevBatched_bufferSize(Handle* handle, Params* params, Vectors jobz,
                                                            Fill uplo, int64_t n, DataType type,
                                                            const void* a, int64_t lda, DataType type_of_w,
                                                            const void* w, DataType, size_t* on_device,
                                                            size_t* on_host, int64_t count) {
  Call call(handle, "cusolverDnXsyevBatched_bufferSize");
  look_at(call.params(params), {jobz, uplo, {n, n, lda, values_at(a, type)}, values_at(w, type_of_w), count});
  return call.tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXsyevBatched(Handle* handle, Params* params, Vectors jobz, Fill uplo,
                                                 int64_t n, DataType type, void* a, int64_t lda,
                                                 DataType type_of_w, void* w, DataType, void*, size_t, void*,
                                                 size_t, int* info, int64_t count) {
  Call call(handle, "cusolverDnXsyevBatched");
  return syevd(call.params(params),
               {jobz, uplo, {n, n, lda, values_at(a, type), lda * n}, values_at(w, type_of_w), count}, info);
}

LANESCOPE_CUDA_API Status cusolverDnXsyevdx_bufferSize(Handle* handle, Params* params, Vectors jobz, Range,
                                                       Fill uplo, int64_t n, DataType type, const void* a,
                                                       int64_t lda, void*, void*, int64_t, int64_t, int64_t*,
                                                       DataType type_of_w, const void* w, DataType,
                                                       size_t* on_device, size_t* on_host) {
  Call call(handle, "cusolverDnXsyevdx_bufferSize");
  look_at(call.params(params), {jobz, uplo, {n, n, lda, values_at(a, type)}, values_at(w, type_of_w)});
  return call.tell_size(on_device, on_host);
}
/// `vl` and `vu`: addresses of numbers of W's type, in the host's memory.
LANESCOPE_CUDA_API Status cusolverDnXsyevdx(Handle* handle, Params* params, Vectors jobz, Range range,
                                            Fill uplo, int64_t n, DataType type, void* a, int64_t lda,
                                            void* vl, void* vu, int64_t il, int64_t iu, int64_t* meig,
                                            DataType type_of_w, void* w, DataType, void*, size_t, void*,
                                            size_t, int* info) {
  Call call(handle, "cusolverDnXsyevdx");
  call.params(params).types("W", type_of_w, real_of(type));
  Some some{range, 0, 0, il, iu};
  if (range == Range::by_value && !call.pointer("vl", vl).pointer("vu", vu).is_refused()) {
    some.above = values_at(vl, type_of_w).load<double>(0);
    some.to = values_at(vu, type_of_w).load<double>(0);
  }
  return syevdx(call, {jobz, uplo, {n, n, lda, values_at(a, type)}, values_at(w, type_of_w)}, some, meig,
                info);
}

}  // namespace lanescope::cuda::solver
