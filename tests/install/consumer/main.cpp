// Links the installed library; the argument is the version that the build says it has.
#include <cstdio>
#include <cstring>
#include <lanescope/version.hpp>

int main(int argc, char** argv) {
  std::printf("lanescope %s\n", lanescope::version());
  return argc == 2 && std::strcmp(argv[1], lanescope::version()) == 0 ? 0 : 1;
}
