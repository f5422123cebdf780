// Incomplete factors of matrices in CSR, with the elements that the matrix has: csrilu02 and csric02.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// What work in the stream finds, and is told.
struct State {
  int64_t pivot = -1;  ///< the first row whose pivot is 0 or missing, with the matrix's base; -1: none
  bool boost = false;
  Scalar tolerance, value;  ///< pivots that are not greater than that are replaced by this
};

/// What cusparseCreateCsrilu02Info makes, and cusparseCreateCsric02Info.
struct Info {
  std::shared_ptr<State> state = std::make_shared<State>();
};
struct IluInfo : Info {};
struct IcInfo : Info {};

/// Where the elements of one row are.
class RowPlaces {
 public:
  explicit RowPlaces(size_t columns) : place_(columns, -1) {}
  template <typename Number>
  void set(const Rows<Number>& rows, size_t i) {
    for (const size_t column : used_) place_[column] = -1;
    used_.clear();
    for (int64_t k = rows.begin[i]; k < rows.begin[i + 1]; ++k) {
      const auto column = static_cast<size_t>(rows.column[static_cast<size_t>(k)]);
      place_[column] = k;
      used_.push_back(column);
    }
  }
  /// -1: the row has none.
  [[nodiscard]] int64_t operator[](int64_t column) const { return place_[static_cast<size_t>(column)]; }

 private:
  std::vector<int64_t> place_;
  std::vector<size_t> used_;
};

/// Remembers the first one.
void found_zero(State& state, const SparseMatrix& matrix, size_t row) {
  if (state.pivot < 0) state.pivot = static_cast<int64_t>(row) + static_cast<int64_t>(matrix.base);
}

/// The documentation asks for columns in order; the factors of others are wrong.
template <typename Number>
void look_at_order(const char* name, const Rows<Number>& rows) {
  for (size_t i = 0; i + 1 < rows.begin.size(); ++i)
    if (!std::is_sorted(rows.column.begin() + rows.begin[i], rows.column.begin() + rows.begin[i + 1])) {
      libraries::say("{} wants sorted columns: those of row {} are in another order", name, i);
      return;
    }
}

template <typename Number>
void store(const SparseMatrix& matrix, const Rows<Number>& rows) {
  for (size_t k = 0; k < rows.value.size(); ++k) matrix.values.store(rows.place[k], rows.value[k]);
}

/// a = l u: both in the place of a, without the diagonal of l, which is 1.
template <typename Number>
void factor_lu(const Memory& memory, const char* name, const SparseMatrix& matrix, State& state) {
  const double tolerance = state.boost ? state.tolerance.in<double>(memory) : 0;
  const Number boost = state.boost ? state.value.in<Number>(memory) : Number(0);
  auto rows = rows_of<Number>(matrix, Operation::none);
  look_at_order(name, rows);
  const auto count = static_cast<size_t>(matrix.rows);
  std::vector<int64_t> diagonal(count, -1);
  RowPlaces places(count);
  for (size_t i = 0; i < count; ++i) {
    places.set(rows, i);
    for (auto k = static_cast<size_t>(rows.begin[i]); k < static_cast<size_t>(rows.begin[i + 1]); ++k) {
      const auto above = static_cast<size_t>(rows.column[k]);
      if (above >= i) continue;
      const int64_t pivot = diagonal[above];
      const Number factor = rows.value[k] / (pivot < 0 ? Number(0) : rows.value[static_cast<size_t>(pivot)]);
      rows.value[k] = factor;
      for (auto other = static_cast<size_t>(rows.begin[above]);
           other < static_cast<size_t>(rows.begin[above + 1]); ++other) {
        if (rows.column[other] <= static_cast<int64_t>(above)) continue;
        const int64_t place = places[rows.column[other]];
        if (place >= 0) rows.value[static_cast<size_t>(place)] -= factor * rows.value[other];
      }
    }
    diagonal[i] = places[static_cast<int64_t>(i)];
    if (diagonal[i] < 0) {
      found_zero(state, matrix, i);
      continue;
    }
    Number& pivot = rows.value[static_cast<size_t>(diagonal[i])];
    if (state.boost && std::abs(pivot) <= tolerance) pivot = boost;
    if (pivot == Number(0)) found_zero(state, matrix, i);
  }
  store(matrix, rows);
}

/// a = l l*, of the lower triangle alone, which l takes the place of.
template <typename Number>
void factor_cholesky(const char* name, const SparseMatrix& matrix, State& state) {
  auto rows = rows_of<Number>(matrix, Operation::none);
  look_at_order(name, rows);
  const auto count = static_cast<size_t>(matrix.rows);
  std::vector<int64_t> diagonal(count, -1);
  RowPlaces places(count);
  for (size_t i = 0; i < count; ++i) {
    places.set(rows, i);
    diagonal[i] = places[static_cast<int64_t>(i)];
    double squares = 0;
    for (auto k = static_cast<size_t>(rows.begin[i]); k < static_cast<size_t>(rows.begin[i + 1]); ++k) {
      const auto above = static_cast<size_t>(rows.column[k]);
      if (above >= i) continue;
      Number sum = rows.value[k];
      for (auto other = static_cast<size_t>(rows.begin[above]);
           other < static_cast<size_t>(rows.begin[above + 1]); ++other) {
        if (rows.column[other] >= static_cast<int64_t>(above)) continue;
        const int64_t place = places[rows.column[other]];
        if (place >= 0) sum -= rows.value[static_cast<size_t>(place)] * conjugate(rows.value[other]);
      }
      const int64_t pivot = diagonal[above];
      rows.value[k] = sum / (pivot < 0 ? Number(0) : rows.value[static_cast<size_t>(pivot)]);
      squares += std::norm(rows.value[k]);
    }
    if (diagonal[i] < 0) {
      found_zero(state, matrix, i);
      continue;
    }
    Number& pivot = rows.value[static_cast<size_t>(diagonal[i])];
    const double rest = std::real(pivot) - squares;
    if (!(rest > 0)) found_zero(state, matrix, i);
    pivot = std::sqrt(rest);
  }
  store(matrix, rows);
}

/// Rows without an element on the diagonal are found before any number is known.
Status analyse(const Call& call, const SparseMatrix& matrix, const std::shared_ptr<State>& state) {
  return call.submit([matrix, state](const Memory& memory) {
    reach(memory, "the sparse matrix", matrix, Access::none);
    state->pivot = -1;
    std::vector<bool> has_diagonal(static_cast<size_t>(matrix.rows));
    each_element(matrix, [&](int64_t i, int64_t j, int64_t) {
      if (i == j) has_diagonal[static_cast<size_t>(i)] = true;
    });
    for (size_t i = 0; i < has_diagonal.size(); ++i)
      if (!has_diagonal[i]) found_zero(*state, matrix, i);
  });
}

Status factor(const Call& call, const SparseMatrix& matrix, const std::shared_ptr<State>& state, bool lu) {
  return call.submit([matrix, state, lu, name = call.name()](const Memory& memory) {
    reach(memory, "the sparse matrix", matrix, Access::write);
    state->pivot = -1;
    with_numbers(is_complex(matrix.values.type), [&](auto zero) {
      if (lu)
        factor_lu<decltype(zero)>(memory, name, matrix, *state);
      else
        factor_cholesky<decltype(zero)>(name, matrix, *state);
    });
  });
}

template <typename Of>
Status zero_pivot(Handle* handle, const char* name, const Of* info, int* position) {
  Call call(handle, name);
  call.object("info", info).pointer("position", position);
  if (call.is_refused()) return call.status();
  const Status status =
      call.submit_and_wait([state = info->state, position, mode = call.mode()](const Memory& memory) {
        *(mode == PointerMode::host ? position : memory.write("the position", position, 1)) =
            static_cast<int>(state->pivot);
      });
  return status == Status::success && info->state->pivot >= 0 ? Status::zero_pivot : status;
}

}  // namespace

#define LANESCOPE_INFO(Name, Of)                                    \
  LANESCOPE_CUDA_API Status cusparseCreate##Name##Info(Of** out) {  \
    return Call("cusparseCreate" #Name "Info").create(out);         \
  }                                                                 \
  LANESCOPE_CUDA_API Status cusparseDestroy##Name##Info(Of* info) { \
    return Call("cusparseDestroy" #Name "Info").destroy(info);      \
  }
LANESCOPE_INFO(Csrilu02, IluInfo)
LANESCOPE_INFO(Csric02, IcInfo)

LANESCOPE_CUDA_API Status cusparseXcsrilu02_zeroPivot(Handle* handle, IluInfo* info, int* position) {
  return zero_pivot(handle, "cusparseXcsrilu02_zeroPivot", info, position);
}
LANESCOPE_CUDA_API Status cusparseXcsric02_zeroPivot(Handle* handle, IcInfo* info, int* position) {
  return zero_pivot(handle, "cusparseXcsric02_zeroPivot", info, position);
}

#define LANESCOPE_FACTOR(name, Of, T, type, lu)                                                            \
  LANESCOPE_CUDA_API Status name##_bufferSize(Handle* handle, int m, int nnz, const MatrixKind* kind,      \
                                              T* values, const int* offsets, const int* columns, Of* info, \
                                              int* bytes) {                                                \
    Call call(handle, #name "_bufferSize");                                                                \
    csr_of(call, "descrA", m, m, nnz, kind, values, type, offsets, columns);                               \
    call.object("info", info).pointer("where the size is to be written", bytes);                           \
    if (!call.is_refused()) *bytes = static_cast<int>(buffer_size);                                        \
    return call.status();                                                                                  \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status name##_analysis(Handle* handle, int m, int nnz, const MatrixKind* kind,        \
                                            const T* values, const int* offsets, const int* columns,       \
                                            Of* info, int, void*) {                                        \
    Call call(handle, #name "_analysis");                                                                  \
    const SparseMatrix matrix = csr_of(call, "descrA", m, m, nnz, kind, values, type, offsets, columns);   \
    if (m > 0 && nnz == 0) call.refuse(Status::invalid_value, "a matrix of {} rows has no elements", m);   \
    if (call.object("info", info).is_refused()) return call.status();                                      \
    return analyse(call, matrix, info->state);                                                             \
  }                                                                                                        \
  LANESCOPE_CUDA_API Status name(Handle* handle, int m, int nnz, const MatrixKind* kind, T* values,        \
                                 const int* offsets, const int* columns, Of* info, int, void*) {           \
    Call call(handle, #name);                                                                              \
    const SparseMatrix matrix = csr_of(call, "descrA", m, m, nnz, kind, values, type, offsets, columns);   \
    if (call.object("info", info).is_refused()) return call.status();                                      \
    return factor(call, matrix, info->state, lu);                                                          \
  }
#define LANESCOPE_FACTORS(P, T, type)                                                                     \
  LANESCOPE_FACTOR(cusparse##P##csrilu02, IluInfo, T, type, true)                                         \
  LANESCOPE_FACTOR(cusparse##P##csric02, IcInfo, T, type, false)                                          \
  LANESCOPE_CUDA_API Status cusparse##P##csrilu02_numericBoost(Handle* handle, IluInfo* info, int enable, \
                                                               double* tolerance, T* value) {             \
    Call call(handle, "cusparse" #P "csrilu02_numericBoost");                                             \
    call.object("info", info);                                                                            \
    if (enable != 0) call.pointer("tol", tolerance).pointer("boost_val", value);                          \
    if (call.is_refused()) return call.status();                                                          \
    info->state->boost = enable != 0;                                                                     \
    info->state->tolerance = call.number_at(tolerance, DataType::real_64f);                               \
    info->state->value = call.number_at(value, type);                                                     \
    return Status::success;                                                                               \
  }
LANESCOPE_SPARSE_TYPES(LANESCOPE_FACTORS)

}  // namespace lanescope::cuda::sparse
