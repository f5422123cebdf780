// See call.hpp.
#include "cuda/libraries/sparse/call.hpp"

namespace lanescope::cuda::sparse {

Scalar::Scalar(const void* address, DataType type, PointerMode mode) : type_(type) {
  if (address == nullptr) return;
  if (mode == PointerMode::device)
    address_ = address;
  else
    value_ = Values{const_cast<void*>(address), type}.load<Complex>(0);
}

Call::Call(const Handle* handle, const char* name) : CheckedCall(name) {
  if (take_handle(handle, Status::invalid_value, "cusparseCreate")) mode_ = handle->pointer_mode;
}

Call& Call::one_of(Operation operation) {
  return between(operation, Operation::none, Operation::adjoint, "cusparseOperation_t");
}

Call& Call::one_of(Operation operation, const char* what, DataType type) {
  if (!one_of(operation).is_refused() && operation == Operation::adjoint && !is_complex(type))
    refuse(Status::invalid_value, "CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE of {}, whose elements are of {}",
           what, name_of(type));
  return *this;
}

Call& Call::one_of(IndexType type) {
  if (is_between(type, IndexType::signed_32, IndexType::signed_64)) return *this;
  return refuse(type == IndexType::unsigned_16 ? Status::not_supported : Status::invalid_value,
                "indices are CUSPARSE_INDEX_32I or …_64I, and not {}", static_cast<int>(type));
}

Call& Call::one_of(Base base) { return between(base, Base::zero, Base::one, "cusparseIndexBase_t"); }

Call& Call::one_of(Order order) { return between(order, Order::column, Order::row, "cusparseOrder_t"); }

Call& Call::elements(DataType type) {
  constexpr auto last = static_cast<DataType>(33);  // CUDA_R_4F_E2M1
  if (size_of(type) != 0) return *this;
  return refuse(is_between(type, DataType{}, last) ? Status::not_supported : Status::invalid_value,
                "elements of {} ({}) are not there", name_of(type), static_cast<int>(type));
}

Call& Call::computed_in(DataType type) {
  switch (type) {
    case DataType::real_32f:
    case DataType::real_64f:
    case DataType::complex_32f:
    case DataType::complex_64f: return *this;
    default: return refuse(Status::not_supported, "it is not computed in {}", name_of(type));
  }
}

SparseMatrix csr_of(Call& call, const char* what, int m, int n, int nnz, const MatrixKind* kind,
                    const void* values, DataType type, const int* offsets, const int* columns) {
  call.size("m", m).size("n", n).size("the number of elements", nnz).object(what, kind);
  if (call.is_refused()) return {};
  if (kind->type != MatrixType::general)
    call.refuse(Status::matrix_type_not_supported, "{} is of another type than CUSPARSE_MATRIX_TYPE_GENERAL",
                what);
  call.pointer("an array of row offsets", offsets);
  return {.format = Format::csr,
          .rows = m,
          .columns = n,
          .count = nnz,
          .first = indices_at(offsets),
          .second = indices_at(columns),
          .values = {const_cast<void*>(values), type},
          .base = kind->base};
}

}  // namespace lanescope::cuda::sparse
