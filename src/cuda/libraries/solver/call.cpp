// See call.hpp.
#include "cuda/libraries/solver/call.hpp"

#include <algorithm>
#include <string_view>

namespace lanescope::cuda::solver {

Call::Call(const Handle* handle, const char* name) : name_(name) {
  if (objects<Handle>().contains(handle))
    stream_ = handle->stream;
  else
    refuse(Status::not_initialized, "its handle is {}",
           handle == nullptr ? "null" : "none that cusolverDnCreate made, or destroyed");
}

Call& Call::size(const char* what, int64_t value) {
  return value >= 0 ? *this
                    : refuse(Status::invalid_value, "{} is {}, and must not be negative", what, value);
}

Call& Call::pointer(const char* what, const void* value) {
  return value != nullptr ? *this : refuse(Status::invalid_value, "{} is null", what);
}

Call& Call::one_of(Operation operation) {
  return is_between(operation, Operation::none, Operation::adjoint)
             ? *this
             : refuse(Status::invalid_value, "{} is no operation that it knows", static_cast<int>(operation));
}

Call& Call::one_of(Fill fill) {
  return is_between(fill, Fill::lower, Fill::upper)
             ? *this
             : refuse(Status::invalid_value, "{} is no triangle (cublasFillMode_t)", static_cast<int>(fill));
}

Call& Call::one_of(Side side) {
  return is_between(side, Side::left, Side::right)
             ? *this
             : refuse(Status::invalid_value, "{} is no cublasSideMode_t", static_cast<int>(side));
}

Call& Call::one_of(Diagonal diagonal) {
  return is_between(diagonal, Diagonal::stored, Diagonal::unit)
             ? *this
             : refuse(Status::invalid_value, "{} is no cublasDiagType_t", static_cast<int>(diagonal));
}

Call& Call::one_of(Vectors vectors) {
  return is_between(vectors, Vectors::none, Vectors::wanted)
             ? *this
             : refuse(Status::invalid_value, "{} is no cusolverEigMode_t", static_cast<int>(vectors));
}

Call& Call::panel(const char* leading, const Panel& panel) {
  size("the number of rows", panel.rows).size("the number of columns", panel.columns);
  switch (panel.values.type) {
    case DataType::real_32f:
    case DataType::real_64f:
    case DataType::complex_32f:
    case DataType::complex_64f: break;
    default:
      refuse(Status::not_supported, "elements of {} are not there", libraries::name_of(panel.values.type));
  }
  // Who asks for a size may be wrong about it: CuPy's qr is, and the real library answers.
  const bool asks_size = std::string_view(name_).ends_with("_bufferSize");
  if (!asks_size && panel.leading < std::max<int64_t>(1, panel.rows))
    refuse(Status::invalid_value, "{} is {}, of a matrix with {} rows", leading, panel.leading, panel.rows);
  return *this;
}

Call& Call::types(const char* what, DataType found, DataType wanted) {
  return found == wanted ? *this
                         : refuse(Status::invalid_value, "{} is {}, and not {}", what,
                                  libraries::name_of(found), libraries::name_of(wanted));
}

}  // namespace lanescope::cuda::solver
