// Opens the library of its first argument twice.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == nullptr) {
      std::printf("%s\n", dlerror());
      return 1;
    }
    reinterpret_cast<void (*)()>(dlsym(library, "call_plugin"))();
    dlclose(library);
  }
}
