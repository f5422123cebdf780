// Functions of one of the toolkit's libraries, looked up by name in the library that the program finds, and
// numbers to call them with: so that the programs here are compiled without CUDA.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string>

inline void* library = nullptr;

/// Opens it; if it is not there, says why. From now on each line is written at once, and is there whatever
/// the library does next.
inline bool open_library(const char* name) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::printf("%s\n", dlerror());
  return library != nullptr;
}

/// Calls a function that returns a status.
template <typename... Arguments>
int call(const std::string& name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name.c_str()));
  if (function == nullptr) {
    std::printf("%s is missing\n", name.c_str());
    return -1;
  }
  return function(arguments...);
}

/// The same numbers in every run, and after the same state.
inline uint64_t random_state = 1;
inline uint32_t next_random() {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(random_state >> 33);
}
template <typename Least, typename Most>
Most between(Least least, Most most) {
  const auto first = static_cast<Most>(least);
  return first + static_cast<Most>(next_random() % static_cast<uint32_t>(most - first + 1));
}
