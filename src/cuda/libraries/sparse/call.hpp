// One call of a function of cuSPARSE: its arguments are looked at when it is made, its work is given to the
// stream of its handle.
#pragma once

#include <initializer_list>
#include <utility>

#include "cuda/libraries/checked_call.hpp"
#include "cuda/libraries/sparse/descriptors.hpp"

namespace lanescope::cuda::sparse {

using libraries::objects;

/// What functions say that tell how much room they want: as much as makes a pointer to it none that is null.
inline constexpr size_t buffer_size = 256;

/// A number that the program gave by its address: in the host's memory, which is read when the call is made,
/// or in the device's, which is read when its turn in the stream has come.
class Scalar {
 public:
  Scalar() = default;
  Scalar(const void* address, DataType type, PointerMode mode);
  template <typename Number>
  [[nodiscard]] Number in(const Memory& memory) const {
    if (address_ == nullptr) return number<Number>(value_);
    const Values there{const_cast<void*>(address_), type_};
    reach(memory, "a scalar", there, 1, false);
    return there.load<Number>(0);
  }

 private:
  const void* address_ = nullptr;  ///< null: it is known already
  DataType type_ = DataType::real_32f;
  Complex value_;
};

class Call : public libraries::CheckedCall<Call, Status> {
 public:
  Call(const Handle* handle, const char* name);
  /// Of a function that has no handle, and no work for a stream.
  explicit Call(const char* name) : CheckedCall(name) {}

  // Each looks at one argument, and refuses the call if it makes no sense.
  Call& one_of(Operation operation);
  /// The same of op(what), whose elements are of `type`: only complex ones have a conjugate that is taken.
  Call& one_of(Operation operation, const char* what, DataType type);
  Call& one_of(IndexType type);
  Call& one_of(Base base);
  Call& one_of(Order order);
  /// What elements are of, and what is computed in.
  Call& elements(DataType type);
  Call& computed_in(DataType type);

  [[nodiscard]] PointerMode mode() const { return mode_; }
  [[nodiscard]] Scalar number_at(const void* address, DataType type) const { return {address, type, mode_}; }

  /// The answer of a function that tells how much room is wanted.
  Status tell_size(size_t* bytes) {
    if (!pointer("where the size is to be written", bytes).is_refused()) *bytes = buffer_size;
    return status();
  }

  /// Puts work(memory) into the stream, unless the call is refused.
  template <typename Work>
  Status submit(Work&& work) const {
    return give(std::forward<Work>(work));
  }
  /// The same, and waits for it.
  template <typename Work>
  Status submit_and_wait(Work&& work) const {
    return wait_after(give(std::forward<Work>(work)));
  }
  /// The same for work(memory) that gives a number, where the handle's mode says that it goes.
  template <typename T, typename Work>
  Status submit_for(T* result, Work&& work) const {
    return give_for(mode_, result, std::forward<Work>(work));
  }

 private:
  PointerMode mode_ = PointerMode::host;  ///< of its handle, if that is one
};

/// Indices of the older interface, which are of 32 bits.
inline Indices indices_at(const int* data) { return {const_cast<int*>(data), IndexType::signed_32}; }

/// A matrix in CSR as functions of the older interface are given it. `what` names the descriptor.
SparseMatrix csr_of(Call& call, const char* what, int m, int n, int nnz, const MatrixKind* kind,
                    const void* values, DataType type, const int* offsets, const int* columns);

}  // namespace lanescope::cuda::sparse

/// For each type of the older interface, with its letter.
#define LANESCOPE_SPARSE_TYPES(F)                  \
  F(S, float, DataType::real_32f)                  \
  F(D, double, DataType::real_64f)                 \
  F(C, std::complex<float>, DataType::complex_32f) \
  F(Z, std::complex<double>, DataType::complex_64f)
