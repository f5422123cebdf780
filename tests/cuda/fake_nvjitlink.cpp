// Two functions of nvJitLink, by name.
extern "C" __attribute__((visibility("default"))) int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int nvJitLinkCreate() { return 0; }
