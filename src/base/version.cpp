// The library's version; the build passes the number of the CMake project.
#include "lanescope/version.hpp"

namespace lanescope {

const char* version() noexcept { return LANESCOPE_VERSION; }

}  // namespace lanescope
