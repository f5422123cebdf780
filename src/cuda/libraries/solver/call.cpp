// See call.hpp.
#include "cuda/libraries/solver/call.hpp"

#include <algorithm>
#include <string_view>

namespace lanescope::cuda::solver {

Call& Call::one_of(Operation operation) {
  return between(operation, Operation::none, Operation::adjoint, "cublasOperation_t");
}

Call& Call::one_of(Fill fill) { return between(fill, Fill::lower, Fill::upper, "cublasFillMode_t"); }

Call& Call::one_of(Side side) { return between(side, Side::left, Side::right, "cublasSideMode_t"); }

Call& Call::one_of(Diagonal diagonal) {
  return between(diagonal, Diagonal::stored, Diagonal::unit, "cublasDiagType_t");
}

Call& Call::one_of(Vectors vectors) {
  return between(vectors, Vectors::none, Vectors::wanted, "cusolverEigMode_t");
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
  const bool asks_size = std::string_view(name()).ends_with("_bufferSize");
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
