// What the runtime tells the user of a program directly, on stderr.
#pragma once

#include <string>

namespace lanescope::cuda {

/// One line "lanescope: <text>", written at once.
void say(const std::string& text);

}  // namespace lanescope::cuda
