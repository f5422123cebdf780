// Functions of one of the toolkit's libraries, looked up by name in the library that the program finds, and
// numbers to call them with: so that the programs here are compiled without CUDA.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <string>

inline void* library = nullptr;

/// Opens it; if it is not there, says why.
inline bool open_library(const char* name) {
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

/// The same numbers in every run.
inline uint32_t next_random() {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}
template <typename Least, typename Most>
Most between(Least least, Most most) {
  const auto first = static_cast<Most>(least);
  return first + static_cast<Most>(next_random() % static_cast<uint32_t>(most - first + 1));
}
