// A library that looks for the driver's functions itself, and keeps them in variables of their names.
#include <dlfcn.h>

extern "C" {
__attribute__((visibility("default"))) int (*cuInit)(unsigned) = nullptr;
__attribute__((visibility("default"))) int (*cuDeviceGetCount)(int*) = nullptr;

__attribute__((visibility("default"))) int count_devices() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return -1;
  cuInit = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  cuDeviceGetCount = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int count = 0;
  return cuInit(0) == 0 && cuDeviceGetCount(&count) == 0 ? count : -1;
}
}
