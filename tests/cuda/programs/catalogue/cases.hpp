// What the programs of the catalogue have in common: cases by name, one of which a run executes. Those whose
// name ends in _bad hold one mistake, with a comment `BUG case[,case…] kind[|kind…]` at each line that the
// finding must name (a race has two) or `SAYS case text` where the program must be told something; the others
// (_ok) must not be accused, nor told that. check.py runs them all.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <map>
#include <string>

using Case = void (*)();
inline std::map<std::string, Case>& cases() {
  static std::map<std::string, Case> all;
  return all;
}
struct AddCase {
  AddCase(const char* name, Case run) { cases()[name] = run; }
};
#define CASE(name)                                    \
  static void run_##name();                           \
  static const AddCase add_##name(#name, run_##name); \
  static void run_##name()

/// Memory of the device, zero unless it is said to stay as cudaMalloc gives it.
template <class T>
T* device(size_t count, bool clear = true) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  if (clear) cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}

int main(int argc, char** argv) {
  if (argc < 2)
    for (const auto& [name, run] : cases()) std::printf("%s\n", name.c_str());
  else
    cases().at(argv[1])();
  cudaDeviceSynchronize();
}
