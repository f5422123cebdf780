// Asks the profilers' library what frameworks ask of it, found by its name as they find it.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

void* library = nullptr;

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  void* const function = library != nullptr ? dlsym(library, name) : nullptr;
  if (function == nullptr) return -1;
  return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

/// The library's name is the argument.
int main(int, char** arguments) {
  library = dlopen(arguments[1], RTLD_NOW);
  uint32_t version = 0;
  const char* text = "";
  void* subscriber = nullptr;
  const int asked = call("cuptiGetVersion", &version);
  const int subscribed =
      call("cuptiSubscribe", &subscriber, static_cast<void*>(nullptr), static_cast<void*>(nullptr));
  const int told = call("cuptiGetResultString", subscribed, &text);
  std::printf("%d version %u, %d %d %s, kernels %d\n", asked, version, subscribed, told, text,
              call("cuptiActivityEnable", 10));
}
