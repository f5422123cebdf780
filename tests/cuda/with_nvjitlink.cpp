// A program that is linked with nvJitLink.
#include <cstdio>

extern "C" int nvJitLinkVersion(unsigned* major, unsigned* minor);

int main() {
  unsigned major = 0, minor = 0;
  nvJitLinkVersion(&major, &minor);
  std::printf("version %u\n", major);
}
