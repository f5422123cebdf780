// A program that is linked with nvJitLink.
extern "C" int nvJitLinkCreate(void* handle, unsigned count, const char** options);

int main() {
  const char* options[] = {"-arch=sm_90", "-lto"};
  return nvJitLinkCreate(nullptr, 2, options) == 3 ? 0 : 1;
}
