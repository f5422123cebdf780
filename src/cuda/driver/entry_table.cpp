// See entry_points.hpp. In a file of its own, since the functions are declared here without their parameters.
#include "cuda/driver/entry_points.hpp"

#define LANESCOPE_EXPORT(name, since) extern "C" void name();
#include "cuda/driver/exports.def"
#undef LANESCOPE_EXPORT

namespace lanescope::cuda {

std::span<const EntryPoint> entry_points() {
#define LANESCOPE_EXPORT(name, since) {#name, since, reinterpret_cast<void*>(&name)},
  static const EntryPoint table[] = {
#include "cuda/driver/exports.def"
  };
#undef LANESCOPE_EXPORT
  return table;
}

}  // namespace lanescope::cuda
