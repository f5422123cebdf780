// What the test programs share: a condition that has to hold, or the program ends and says which did not,
// whatever its other threads wait for.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}
