// Singular values: gesvd as LAPACK has it, and the functions that return V and not its adjoint.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda/libraries/solver/call.hpp"

namespace lanescope::cuda::solver {
namespace {

/// A = U S V^H, or a batch of them.
struct WantedValues {
  Panel a;
  Values s;
  Panel u, v;            ///< what of them is wanted: with no columns, nothing
  bool adjoint = false;  ///< `v` is V^H
  int64_t s_count = 0;   ///< singular values that are stored of each
  int64_t s_stride = 0;  ///< from those of one matrix to the next
  int64_t count = 1;
};

void look_at(Call& call, const WantedValues& wanted) {
  const DataType type = wanted.a.values.type;
  call.panel("lda", wanted.a).size("batchSize", wanted.count).types("S", wanted.s.type, real_of(type));
  if (wanted.u.columns > 0) call.panel("ldu", wanted.u).types("U", wanted.u.values.type, type);
  if (wanted.v.columns > 0)
    call.panel(wanted.adjoint ? "ldvt" : "ldv", wanted.v).types("V", wanted.v.values.type, type);
}

/// `residuals`: null, or where the host is told of each matrix how far off its U S V^H is.
Status find(Call& call, const WantedValues& wanted, int* info, double* residuals = nullptr) {
  look_at(call, wanted);
  call.pointer("info", info);
  const auto work = [=](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    memory.write("info", info, wanted.count);
    for (int64_t i = 0; i < wanted.count; ++i) {
      const Panel a = wanted.a.at(i), u = wanted.u.at(i), v = wanted.v.at(i);
      const Values s = wanted.s.from(i * wanted.s_stride);
      const auto overwritten = u.values.data == a.values.data || v.values.data == a.values.data;
      reach(memory, "A", a, overwritten);
      reach(memory, "S", s, wanted.s_count, true);
      reach(memory, "U", u, true);
      reach(memory, wanted.adjoint ? "VT" : "V", v, true);
      Singular<Number> found = singular_of(load<Number>(a));
      for (int64_t k = 0; k < wanted.s_count; ++k) s.store(k, found.values[static_cast<size_t>(k)]);
      if (residuals != nullptr) {
        const auto left_out = found.values.begin() + wanted.s_count;
        residuals[i] = std::sqrt(std::inner_product(left_out, found.values.end(), left_out, 0.0));
      }
      complete(found.u, u.columns);
      if (u.columns > 0) store(u, found.u);
      complete(found.v, wanted.adjoint ? v.rows : v.columns);
      if (v.columns > 0) store(v, wanted.adjoint ? Matrix<Number>(found.v.adjoint()) : found.v);
      info[i] = found.done ? 0 : static_cast<int>(wanted.s_count) + 1;
    }
  };
  return residuals != nullptr ? call.submit_and_wait(wanted.a.values.type, work)
                              : call.submit(wanted.a.values.type, work);
}

/// LAPACK's: all of U and V^H, as many columns and rows as there are values, those in A's place, or none.
WantedValues gesvd(Call& call, signed char job_u, signed char job_vt, const Panel& a, const Values& s,
                   const Values& u, int64_t ldu, const Values& vt, int64_t ldvt) {
  const int64_t m = a.rows, n = a.columns, least = std::min(m, n);
  for (const signed char job : {job_u, job_vt})
    if (job != 'A' && job != 'S' && job != 'O' && job != 'N')
      call.refuse(Status::invalid_value, "a job is character {}, and must be A, S, O or N",
                  static_cast<int>(job));
  if (job_u == 'O' && job_vt == 'O') call.refuse(Status::invalid_value, "both jobs are O");
  if (m < n)
    call.refuse(Status::invalid_value, "m is {} and n {}: fewer rows than columns are not done", m, n);
  WantedValues wanted{.a = a, .s = s, .u = {}, .v = {}, .adjoint = true, .s_count = least};
  wanted.u = {m, job_u == 'A' ? m : job_u == 'S' ? least : 0, ldu, u};
  wanted.v = {job_vt == 'A' ? n : least, job_vt == 'A' || job_vt == 'S' ? n : 0, ldvt, vt};
  if (job_u == 'O') wanted.u = {m, least, a.leading, a.values};
  if (job_vt == 'O') wanted.v = {least, n, a.leading, a.values};
  return wanted;
}

/// U and V, of which `economy` has only as many columns as there are values.
WantedValues gesvdj(Call& call, Vectors jobz, int economy, const Panel& a, const Values& s, const Values& u,
                    int64_t ldu, const Values& v, int64_t ldv) {
  const int64_t m = a.rows, n = a.columns, least = std::min(m, n);
  const bool wants = !call.one_of(jobz).is_refused() && jobz == Vectors::wanted;
  WantedValues wanted{.a = a, .s = s, .u = {}, .v = {}, .s_count = least};
  wanted.u = {m, !wants ? 0 : economy != 0 ? least : m, ldu, u};
  wanted.v = {n, !wants ? 0 : economy != 0 ? least : n, ldv, v};
  return wanted;
}

WantedValues batch_of(WantedValues wanted, int count) {
  wanted.a.stride = wanted.a.leading * wanted.a.columns;
  wanted.u.stride = wanted.u.leading * wanted.a.rows;
  wanted.v.stride = wanted.v.leading * wanted.a.columns;
  wanted.s_stride = wanted.s_count;
  wanted.count = count;
  return wanted;
}
/// Its matrices are small.
void look_at_batch(Call& call, const WantedValues& wanted) {
  if (std::max(wanted.a.rows, wanted.a.columns) > 32)
    call.refuse(Status::invalid_value, "m is {} and n {}, and at most 32 in a batch", wanted.a.rows,
                wanted.a.columns);
}

/// `rank` values of each, with their vectors.
struct Strides {
  long long a, s, u, v;
};
WantedValues gesvda(Call& call, Vectors jobz, int rank, const Panel& a, const Values& s, const Values& u,
                    int ldu, const Values& v, int ldv, const Strides& strides, int count) {
  if (rank < 0 || rank > std::min(a.rows, a.columns))
    call.refuse(Status::invalid_value, "rank is {}, of a matrix of {} x {}", rank, a.rows, a.columns);
  WantedValues wanted = gesvdj(call, jobz, 1, a, s, u, ldu, v, ldv);
  wanted.a.stride = strides.a;
  wanted.u.stride = strides.u;
  wanted.v.stride = strides.v;
  wanted.s_stride = strides.s;
  wanted.s_count = rank;
  wanted.u.columns = std::min<int64_t>(wanted.u.columns, rank);
  wanted.v.columns = std::min<int64_t>(wanted.v.columns, rank);
  wanted.count = count;
  return wanted;
}

}  // namespace

#define LANESCOPE_SINGULAR(P, T, R, sy, gqr, mqr)                                                            \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvd_bufferSize(Handle* handle, int m, int n, int* size) {       \
    return Call(handle, "cusolverDn" #P "gesvd_bufferSize").size("m", m).size("n", n).tell_size(size);       \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvd(Handle* handle, signed char jobu, signed char jobvt, int m, \
                                                 int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt, \
                                                 T*, int, R*, int* info) {                                   \
    Call call(handle, "cusolverDn" #P "gesvd");                                                              \
    const WantedValues wanted = gesvd(call, jobu, jobvt, {m, n, lda, values_at(a)}, values_at(s),            \
                                      values_at(u), ldu, values_at(vt), ldvt);                               \
    return find(call, wanted, info);                                                                         \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdj_bufferSize(                                                \
      Handle* handle, Vectors jobz, int econ, int m, int n, const T* a, int lda, const R* s, const T* u,     \
      int ldu, const T* v, int ldv, int* size, GesvdjInfo* params) {                                         \
    Call call(handle, "cusolverDn" #P "gesvdj_bufferSize");                                                  \
    look_at(call.object("params", params), gesvdj(call, jobz, econ, {m, n, lda, values_at(a)}, values_at(s), \
                                                  values_at(u), ldu, values_at(v), ldv));                    \
    return call.tell_size(size);                                                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdj(Handle* handle, Vectors jobz, int econ, int m, int n,      \
                                                  T* a, int lda, R* s, T* u, int ldu, T* v, int ldv, T*,     \
                                                  int, int* info, GesvdjInfo* params) {                      \
    Call call(handle, "cusolverDn" #P "gesvdj");                                                             \
    call.object("params", params);                                                                           \
    const WantedValues wanted = gesvdj(call, jobz, econ, {m, n, lda, values_at(a)}, values_at(s),            \
                                       values_at(u), ldu, values_at(v), ldv);                                \
    return find(call, wanted, info);                                                                         \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdjBatched_bufferSize(                                         \
      Handle* handle, Vectors jobz, int m, int n, const T* a, int lda, const R* s, const T* u, int ldu,      \
      const T* v, int ldv, int* size, GesvdjInfo* params, int count) {                                       \
    Call call(handle, "cusolverDn" #P "gesvdjBatched_bufferSize");                                           \
    const WantedValues wanted =                                                                              \
        batch_of(gesvdj(call.object("params", params), jobz, 0, {m, n, lda, values_at(a)}, values_at(s),     \
                        values_at(u), ldu, values_at(v), ldv),                                               \
                 count);                                                                                     \
    look_at(call, wanted);                                                                                   \
    look_at_batch(call, wanted);                                                                             \
    return call.tell_size(size);                                                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdjBatched(Handle* handle, Vectors jobz, int m, int n, T* a,   \
                                                         int lda, R* s, T* u, int ldu, T* v, int ldv, T*,    \
                                                         int, int* info, GesvdjInfo* params, int count) {    \
    Call call(handle, "cusolverDn" #P "gesvdjBatched");                                                      \
    const WantedValues wanted =                                                                              \
        batch_of(gesvdj(call.object("params", params), jobz, 0, {m, n, lda, values_at(a)}, values_at(s),     \
                        values_at(u), ldu, values_at(v), ldv),                                               \
                 count);                                                                                     \
    look_at_batch(call, wanted);                                                                             \
    return find(call, wanted, info);                                                                         \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdaStridedBatched_bufferSize(                                  \
      Handle* handle, Vectors jobz, int rank, int m, int n, const T* a, int lda, long long stride_a,         \
      const R* s, long long stride_s, const T* u, int ldu, long long stride_u, const T* v, int ldv,          \
      long long stride_v, int* size, int count) {                                                            \
    Call call(handle, "cusolverDn" #P "gesvdaStridedBatched_bufferSize");                                    \
    look_at(call, gesvda(call, jobz, rank, {m, n, lda, values_at(a)}, values_at(s), values_at(u), ldu,       \
                         values_at(v), ldv, {stride_a, stride_s, stride_u, stride_v}, count));               \
    return call.tell_size(size);                                                                             \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverDn##P##gesvdaStridedBatched(                                             \
      Handle* handle, Vectors jobz, int rank, int m, int n, const T* a, int lda, long long stride_a, R* s,   \
      long long stride_s, T* u, int ldu, long long stride_u, T* v, int ldv, long long stride_v, T*, int,     \
      int* info, double* residuals, int count) {                                                             \
    Call call(handle, "cusolverDn" #P "gesvdaStridedBatched");                                               \
    const WantedValues wanted =                                                                              \
        gesvda(call, jobz, rank, {m, n, lda, values_at(a)}, values_at(s), values_at(u), ldu, values_at(v),   \
               ldv, {stride_a, stride_s, stride_u, stride_v}, count);                                        \
    return find(call, wanted, info, residuals);                                                              \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_SINGULAR)

LANESCOPE_CUDA_API Status cusolverDnXgesvd_bufferSize(Handle* handle, Params* params, signed char jobu,
                                                      signed char jobvt, int64_t m, int64_t n, DataType type,
                                                      const void* a, int64_t lda, DataType type_of_s,
                                                      const void* s, DataType type_of_u, const void* u,
                                                      int64_t ldu, DataType type_of_vt, const void* vt,
                                                      int64_t ldvt, DataType, size_t* on_device,
                                                      size_t* on_host) {
  Call call(handle, "cusolverDnXgesvd_bufferSize");
  look_at(call.params(params),
          gesvd(call, jobu, jobvt, {m, n, lda, values_at(a, type)}, values_at(s, type_of_s),
                values_at(u, type_of_u), ldu, values_at(vt, type_of_vt), ldvt));
  return call.tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXgesvd(Handle* handle, Params* params, signed char jobu,
                                           signed char jobvt, int64_t m, int64_t n, DataType type, void* a,
                                           int64_t lda, DataType type_of_s, void* s, DataType type_of_u,
                                           void* u, int64_t ldu, DataType type_of_vt, void* vt, int64_t ldvt,
                                           DataType, void*, size_t, void*, size_t, int* info) {
  Call call(handle, "cusolverDnXgesvd");
  const WantedValues wanted =
      gesvd(call.params(params), jobu, jobvt, {m, n, lda, values_at(a, type)}, values_at(s, type_of_s),
            values_at(u, type_of_u), ldu, values_at(vt, type_of_vt), ldvt);
  return find(call, wanted, info);
}
LANESCOPE_CUDA_API Status cusolverDnXgesvdp_bufferSize(Handle* handle, Params* params, Vectors jobz, int econ,
                                                       int64_t m, int64_t n, DataType type, const void* a,
                                                       int64_t lda, DataType type_of_s, const void* s,
                                                       DataType type_of_u, const void* u, int64_t ldu,
                                                       DataType type_of_v, const void* v, int64_t ldv,
                                                       DataType, size_t* on_device, size_t* on_host) {
  Call call(handle, "cusolverDnXgesvdp_bufferSize");
  look_at(call.params(params),
          gesvdj(call, jobz, econ, {m, n, lda, values_at(a, type)}, values_at(s, type_of_s),
                 values_at(u, type_of_u), ldu, values_at(v, type_of_v), ldv));
  return call.tell_size(on_device, on_host);
}
LANESCOPE_CUDA_API Status cusolverDnXgesvdp(Handle* handle, Params* params, Vectors jobz, int econ, int64_t m,
                                            int64_t n, DataType type, void* a, int64_t lda,
                                            DataType type_of_s, void* s, DataType type_of_u, void* u,
                                            int64_t ldu, DataType type_of_v, void* v, int64_t ldv, DataType,
                                            void*, size_t, void*, size_t, int* info, double* residual) {
  Call call(handle, "cusolverDnXgesvdp");
  const WantedValues wanted =
      gesvdj(call.params(params), jobz, econ, {m, n, lda, values_at(a, type)}, values_at(s, type_of_s),
             values_at(u, type_of_u), ldu, values_at(v, type_of_v), ldv);
  return find(call, wanted, info, residual);
}

}  // namespace lanescope::cuda::solver
