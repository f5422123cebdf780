// What the runtime tells the user of a program directly, on stderr.
#pragma once

#include <string>

namespace lanescope::cuda {

/// One line "lanescope: <text>", written at once.
void say(const std::string& text);
/// The same, unless this very text was said before: programs make their mistakes in loops.
void say_once(const std::string& text);

}  // namespace lanescope::cuda
