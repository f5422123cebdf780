// cusolverSp's factors that are kept: a matrix is analysed and factored, and then solves systems, as often as
// the program likes; and batches of systems whose matrices have their elements in the same places. An
// analysis has nothing to do here.
#include <memory>
#include <type_traits>

#include "cuda/libraries/solver/sparse.hpp"

namespace lanescope::cuda::solver {

namespace {

/// Of either precision.
class Factors {
 public:
  Factors() = default;
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;
  virtual ~Factors() = default;
  virtual void solve(const Values& b, const Values& x) const = 0;
  [[nodiscard]] virtual int first_small_pivot(double tolerance) const = 0;
};

template <typename Number, typename Found>
class FactorsOf final : public Factors {
 public:
  explicit FactorsOf(SparseColumns<Number> a) : rows_(a.rows()), found_(std::move(a)) {}
  void solve(const Values& b, const Values& x) const override {
    store_column(x, Column<Number>(found_.solve(load_column<Number>(b, rows_))));
  }
  [[nodiscard]] int first_small_pivot(double tolerance) const override {
    if constexpr (std::is_same_v<Found, GeneralFactors<Number>>)
      return found_.first_small_pivot(tolerance, Column<Number>::Ones(rows_));
    else
      return found_.first_small_pivot(tolerance);
  }

 private:
  int64_t rows_;
  Found found_;
};

enum class Kept { lu, qr, cholesky };
enum class Place { device, host };

/// What cusolverSpCreateCsr…Info makes. Work that a stream has been given outlives it.
template <Kept kept, Place place>
struct Info {
  /// What has been asked for, each after the one before.
  enum class State : uint8_t { made, analysed, set_up, factored } state = State::made;
  int64_t m = 0, n = 0;
  std::shared_ptr<std::unique_ptr<const Factors>> factors =
      std::make_shared<std::unique_ptr<const Factors>>();
};

template <Kept kept>
std::unique_ptr<const Factors> factors_of(const SparseMatrix& a, Complex shift) {
  return with_numbers(libraries::is_complex(a.values.type), [&](auto zero) -> std::unique_ptr<const Factors> {
    using Number = decltype(zero);
    using Found = std::conditional_t<kept == Kept::cholesky, PositiveFactors<Number>, GeneralFactors<Number>>;
    SparseColumns<Number> matrix = a.load<Number>();
    if (shift != 0.0) {
      SparseColumns<Number> diagonal(a.m, a.n);
      diagonal.setIdentity();
      if constexpr (std::is_same_v<Number, Complex>)
        matrix -= shift * diagonal;
      else
        matrix -= shift.real() * diagonal;
    }
    return std::make_unique<FactorsOf<Number, Found>>(std::move(matrix));
  });
}

/// Does work(memory) in the stream, or at once with what lies in the host's memory (null).
template <Place place, typename Work>
Status perform(const Call& call, Work work) {
  if constexpr (place == Place::host)
    return on_host(call, [&] { work(static_cast<const Memory*>(nullptr)); });
  else
    return call.submit(DataType::real_64f,
                       [work = std::move(work)](const Memory& memory, auto) { work(&memory); });
}

template <Kept kept, Place place>
Call& take(Call& call, Info<kept, place>* info, typename Info<kept, place>::State wanted) {
  constexpr const char* states[] = {"", "analysed", "set up", "factored"};
  if (call.object("info", info).is_refused() || info->state >= wanted) return call;
  return call.refuse(Status::invalid_value, "its matrix has not been {}", states[static_cast<int>(wanted)]);
}

Call& look_at_matrix(Call& call, const SparseMatrix& a, const void* descriptor) {
  return call.size("m", a.m)
      .size("n", a.n)
      .size("nnz", a.count)
      .pointer("descrA", descriptor)
      .pointer("csrRowPtrA", a.rows.data);
}

template <Kept kept, Place place>
Status analyse(Call& call, const SparseMatrix& a, const void* descriptor, Info<kept, place>* info) {
  if (look_at_matrix(call, a, descriptor).object("info", info).is_refused()) return call.status();
  if (kept != Kept::cholesky &&
      info->state >= Info<kept, place>::State::analysed)  // as an H200's library has it
    return call.refuse(Status::invalid_value, "its info holds another analysis").status();
  info->state = std::max(info->state, Info<kept, place>::State::analysed);
  info->m = a.m, info->n = a.n;
  return call.status();
}

template <Kept kept, Place place>
Status tell_sizes(Call& call, Info<kept, place>* info, size_t* internal, size_t* work) {
  call.object("info", info).pointer("internalDataInBytes", internal).pointer("workspaceInBytes", work);
  return call.is_refused() ? call.status() : call.tell_size(internal, work);
}

/// Whether a matrix has another size than the one that was analysed.
template <Kept kept, Place place>
bool refuse_other_size(Call& call, const SparseMatrix& a, const Info<kept, place>& info) {
  if (a.m == info.m && a.n == info.n) return false;
  call.refuse(Status::invalid_value, "it is given {} x {} elements, {} x {} were analysed", a.m, a.n, info.m,
              info.n);
  return true;
}

/// Takes the elements of the matrix, less `shift` on its diagonal.
template <Kept kept, Place place>
Status take_elements(Call& call, const SparseMatrix& a, const void* descriptor, Complex shift,
                     Info<kept, place>* info, typename Info<kept, place>::State then) {
  using State = typename Info<kept, place>::State;
  if (take(look_at_matrix(call, a, descriptor), info, State::analysed).is_refused()) return call.status();
  if (refuse_other_size(call, a, *info)) return call.status();
  info->state = then;
  return perform<place>(call, [a, shift, factors = info->factors](const Memory* memory) {
    if (memory != nullptr) a.reach(*memory);
    *factors = factors_of<kept>(a, shift);
  });
}

template <Kept kept, Place place>
Status solve_by_kept(Call& call, const Values& b, const Values& x, Info<kept, place>* info) {
  take(call, info, Info<kept, place>::State::factored).pointer("b", b.data).pointer("x", x.data);
  if (call.is_refused()) return call.status();
  return perform<place>(call, [=, m = info->m, n = info->n, factors = info->factors](const Memory* memory) {
    if (memory != nullptr) libraries::reach(*memory, "b", b, m, false);
    if (memory != nullptr) libraries::reach(*memory, "x", x, n, true);
    if (*factors != nullptr) (*factors)->solve(b, x);  // what kept them from being made has been told
  });
}

/// What QR is set up with; b and x may be a system to solve at once.
template <Place place>
Status factor_qr(Call& call, const Values& b, const Values& x, Info<Kept::qr, place>* info) {
  using State = typename Info<Kept::qr, place>::State;
  if (take(call, info, State::set_up).is_refused()) return call.status();
  info->state = State::factored;
  return b.data == nullptr || x.data == nullptr ? call.status() : solve_by_kept(call, b, x, info);
}

template <Kept kept, Place place>
Status tell_pivot(Call& call, Info<kept, place>* info, double tolerance, int* position) {
  take(call, info, Info<kept, place>::State::factored).pointer("position", position);
  const Status status = perform<place>(call, [=, factors = info->factors](const Memory*) {
    *position = *factors == nullptr ? has_inverse : (*factors)->first_small_pivot(tolerance);
  });
  return place == Place::host ? status : call.wait(status);
}

/// Matrices, right sides and results lie one behind the other.
Status solve_batch(Call& call, const SparseMatrix& first, const void* descriptor, const Values& b,
                   const Values& x, int count, Info<Kept::qr, Place::device>* info) {
  look_at_matrix(call, first, descriptor).pointer("b", b.data).pointer("x", x.data).size("batchSize", count);
  if (take(call, info, Info<Kept::qr, Place::device>::State::analysed).is_refused() ||
      refuse_other_size(call, first, *info))
    return call.status();
  return perform<Place::device>(call, [=](const Memory* memory) {
    for (int64_t i = 0; i < count; ++i) {
      SparseMatrix a = first;
      a.values = first.values.from(i * first.count);
      a.reach(*memory);
      const Values of_b = b.from(i * a.m), of_x = x.from(i * a.n);
      libraries::reach(*memory, "b", of_b, a.m, false);
      libraries::reach(*memory, "x", of_x, a.n, true);
      factors_of<Kept::qr>(a, 0)->solve(of_b, of_x);
    }
  });
}

}  // namespace

#define LANESCOPE_MATRIX(m, n, nnz, values) \
  { m, n, nnz, pivots_at(rows), pivots_at(columns), values_at(values) }

// For each kind of factors and each place: what has no type.
#define LANESCOPE_INFO(Name, on, kept, place)                                                               \
  LANESCOPE_CUDA_API Status cusolverSpCreate##Name##Info##on(Info<Kept::kept, Place::place>** out) {        \
    return Call("cusolverSpCreate" #Name "Info" #on).create(out);                                           \
  }                                                                                                         \
  LANESCOPE_CUDA_API Status cusolverSpDestroy##Name##Info##on(const Info<Kept::kept, Place::place>* info) { \
    return Call("cusolverSpDestroy" #Name "Info" #on).destroy(info);                                        \
  }
LANESCOPE_INFO(Csrlu, Host, lu, host)
LANESCOPE_INFO(Csrqr, Host, qr, host)
LANESCOPE_INFO(Csrqr, , qr, device)
LANESCOPE_INFO(Csrchol, Host, cholesky, host)
LANESCOPE_INFO(Csrchol, , cholesky, device)

#define LANESCOPE_ANALYSIS_SQUARE(name, kept, place)                                                         \
  LANESCOPE_CUDA_API Status cusolverSpX##name(SparseHandle* handle, int n, int nnz, const void* descriptor,  \
                                              const int* rows, const int* columns,                           \
                                              Info<Kept::kept, Place::place>* info) {                        \
    Call call(handle, "cusolverSpX" #name);                                                                  \
    return analyse(call, LANESCOPE_MATRIX(n, n, nnz, static_cast<const float*>(nullptr)), descriptor, info); \
  }
LANESCOPE_ANALYSIS_SQUARE(csrluAnalysisHost, lu, host)
LANESCOPE_ANALYSIS_SQUARE(csrcholAnalysisHost, cholesky, host)
LANESCOPE_ANALYSIS_SQUARE(csrcholAnalysis, cholesky, device)
#define LANESCOPE_ANALYSIS(name, place)                                                                      \
  LANESCOPE_CUDA_API Status cusolverSpX##name(SparseHandle* handle, int m, int n, int nnz,                   \
                                              const void* descriptor, const int* rows, const int* columns,   \
                                              Info<Kept::qr, Place::place>* info) {                          \
    Call call(handle, "cusolverSpX" #name);                                                                  \
    return analyse(call, LANESCOPE_MATRIX(m, n, nnz, static_cast<const float*>(nullptr)), descriptor, info); \
  }
LANESCOPE_ANALYSIS(csrqrAnalysisHost, host)
LANESCOPE_ANALYSIS(csrqrAnalysis, device)
LANESCOPE_ANALYSIS(csrqrAnalysisBatched, device)

#define LANESCOPE_ZERO_PIVOT(name, kept, place, Tolerance)                                               \
  LANESCOPE_CUDA_API Status cusolverSp##name(SparseHandle* handle, Info<Kept::kept, Place::place>* info, \
                                             Tolerance tolerance, int* position) {                       \
    Call call(handle, "cusolverSp" #name);                                                               \
    return tell_pivot(call, info, tolerance, position);                                                  \
  }
#define LANESCOPE_SOLVE_SQUARE(name, kept, place, T)                                        \
  LANESCOPE_CUDA_API Status cusolverSp##name(SparseHandle* handle, int, const T* b, T* x,   \
                                             Info<Kept::kept, Place::place>* info, void*) { \
    Call call(handle, "cusolverSp" #name);                                                  \
    return solve_by_kept(call, values_at(b), values_at(x), info);                           \
  }
#define LANESCOPE_SIZES_SQUARE(name, kept, place, T)                                                       \
  LANESCOPE_CUDA_API Status cusolverSp##name(SparseHandle* handle, int, int, const void*, const T*,        \
                                             const int*, const int*, Info<Kept::kept, Place::place>* info, \
                                             size_t* internal, size_t* work) {                             \
    Call call(handle, "cusolverSp" #name);                                                                 \
    return tell_sizes(call, info, internal, work);                                                         \
  }
#define LANESCOPE_SPARSE_CHOLESKY(P, on, place, T, Tolerance)                                         \
  LANESCOPE_SIZES_SQUARE(P##csrcholBufferInfo##on, cholesky, place, T)                                \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrcholFactor##on(                                         \
      SparseHandle* handle, int n, int nnz, const void* descriptor, const T* values, const int* rows, \
      const int* columns, Info<Kept::cholesky, Place::place>* info, void*) {                          \
    Call call(handle, "cusolverSp" #P "csrcholFactor" #on);                                           \
    return take_elements(call, LANESCOPE_MATRIX(n, n, nnz, values), descriptor, 0, info,              \
                         Info<Kept::cholesky, Place::place>::State::factored);                        \
  }                                                                                                   \
  LANESCOPE_ZERO_PIVOT(P##csrcholZeroPivot##on, cholesky, place, Tolerance)                           \
  LANESCOPE_SOLVE_SQUARE(P##csrcholSolve##on, cholesky, place, T)
#define LANESCOPE_SPARSE_QR(P, on, place, T, Tolerance)                                                      \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrBufferInfo##on(                                              \
      SparseHandle* handle, int, int, int, const void*, const T*, const int*, const int*,                    \
      Info<Kept::qr, Place::place>* info, size_t* internal, size_t* work) {                                  \
    Call call(handle, "cusolverSp" #P "csrqrBufferInfo" #on);                                                \
    return tell_sizes(call, info, internal, work);                                                           \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrSetup##on(                                                   \
      SparseHandle* handle, int m, int n, int nnz, const void* descriptor, const T* values, const int* rows, \
      const int* columns, T mu, Info<Kept::qr, Place::place>* info) {                                        \
    Call call(handle, "cusolverSp" #P "csrqrSetup" #on);                                                     \
    return take_elements(call, LANESCOPE_MATRIX(m, n, nnz, values), descriptor, Complex(mu), info,           \
                         Info<Kept::qr, Place::place>::State::set_up);                                       \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrFactor##on(SparseHandle* handle, int, int, int, T* b, T* x,  \
                                                           Info<Kept::qr, Place::place>* info, void*) {      \
    Call call(handle, "cusolverSp" #P "csrqrFactor" #on);                                                    \
    return factor_qr(call, values_at(b), values_at(x), info);                                                \
  }                                                                                                          \
  LANESCOPE_ZERO_PIVOT(P##csrqrZeroPivot##on, qr, place, Tolerance)                                          \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrSolve##on(SparseHandle* handle, int, int, T* b, T* x,        \
                                                          Info<Kept::qr, Place::place>* info, void*) {       \
    Call call(handle, "cusolverSp" #P "csrqrSolve" #on);                                                     \
    return solve_by_kept(call, values_at(b), values_at(x), info);                                            \
  }
// Which pivots LU takes is a hint.
#define LANESCOPE_KEPT_FACTORS(P, T, Tolerance, ...)                                                         \
  LANESCOPE_SIZES_SQUARE(P##csrluBufferInfoHost, lu, host, T)                                                \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrluFactorHost(                                                  \
      SparseHandle* handle, int n, int nnz, const void* descriptor, const T* values, const int* rows,        \
      const int* columns, Info<Kept::lu, Place::host>* info, Tolerance, void*) {                             \
    Call call(handle, "cusolverSp" #P "csrluFactorHost");                                                    \
    return take_elements(call, LANESCOPE_MATRIX(n, n, nnz, values), descriptor, 0, info,                     \
                         Info<Kept::lu, Place::host>::State::factored);                                      \
  }                                                                                                          \
  LANESCOPE_ZERO_PIVOT(P##csrluZeroPivotHost, lu, host, Tolerance)                                           \
  LANESCOPE_SOLVE_SQUARE(P##csrluSolveHost, lu, host, T)                                                     \
  LANESCOPE_SPARSE_CHOLESKY(P, Host, host, T, Tolerance)                                                     \
  LANESCOPE_SPARSE_CHOLESKY(P, , device, T, Tolerance)                                                       \
  LANESCOPE_SPARSE_QR(P, Host, host, T, Tolerance)                                                           \
  LANESCOPE_SPARSE_QR(P, , device, T, Tolerance)                                                             \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrBufferInfoBatched(                                           \
      SparseHandle* handle, int, int, int, const void*, const T*, const int*, const int*, int,               \
      Info<Kept::qr, Place::device>* info, size_t* internal, size_t* work) {                                 \
    Call call(handle, "cusolverSp" #P "csrqrBufferInfoBatched");                                             \
    return tell_sizes(call, info, internal, work);                                                           \
  }                                                                                                          \
  LANESCOPE_CUDA_API Status cusolverSp##P##csrqrsvBatched(                                                   \
      SparseHandle* handle, int m, int n, int nnz, const void* descriptor, const T* values, const int* rows, \
      const int* columns, const T* b, T* x, int count, Info<Kept::qr, Place::device>* info, void*) {         \
    Call call(handle, "cusolverSp" #P "csrqrsvBatched");                                                     \
    return solve_batch(call, LANESCOPE_MATRIX(m, n, nnz, values), descriptor, values_at(b), values_at(x),    \
                       count, info);                                                                         \
  }
LANESCOPE_SOLVER_TYPES(LANESCOPE_KEPT_FACTORS)

}  // namespace lanescope::cuda::solver
