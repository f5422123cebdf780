// The library's version, as the program's --version prints it.
#pragma once

namespace lanescope {

/// "major.minor.patch" of the library that is linked.
const char* version() noexcept;

}  // namespace lanescope
