// What nvcc -rdc=true would generate around the translation units of tests/data/linked, written by hand and
// compiled by the host compiler: one registration for the program, whose fat binary names the containers of
// its units. They share functions, variables and a table of function pointers, and their kernels launch
// kernels. With LANESCOPE_NEWER one unit has PTX for a newer chip alone.
#include <cstddef>
#include <cstdio>

#include "require.hpp"
#include "runtime_calls.hpp"

asm(R"(
  .section .nv_fatbin,"a"
  .balign 8
code: .incbin ")" LANESCOPE_FATBINS R"(machine_code.fatbin"
  .balign 8
first: .incbin ")" LANESCOPE_FATBINS R"(unit_first.fatbin"
  .balign 8
second: .incbin ")" LANESCOPE_FATBINS R"(unit_second.fatbin"
  .balign 8
launches: .incbin ")" LANESCOPE_FATBINS R"(unit_launches.fatbin"
  .balign 8
newer: .incbin ")" LANESCOPE_FATBINS R"(unit_newer.fatbin"
  .balign 8
runtime: .incbin ")" LANESCOPE_FATBINS R"(unit_runtime.fatbin"
  .previous
)");
extern "C" {
#define CONTAINER extern const unsigned char __attribute__((visibility("hidden")))
CONTAINER code[];
CONTAINER first[];
CONTAINER second[];
CONTAINER launches[];
CONTAINER newer[];
CONTAINER runtime[];
}

namespace {

#ifdef LANESCOPE_NEWER
const void* const units[] = {first, second, launches, runtime, newer, nullptr};
#else
const void* const units[] = {first, second, launches, runtime, nullptr};
#endif
struct Wrapper {
  int magic, version;
  const void* data;
  const void* const* units;
};
__attribute__((section(".nvFatBinSegment"), used)) Wrapper wrapper = {0x466243b1, 2, code, units};

// Host stubs: addresses that stand for the kernels; the shadow of a variable.
char combine, count, parent, nested, of_newer, nothing;
char offsets[16];

void** handle = nullptr;

__attribute__((constructor)) void register_all() {
  handle = __cudaRegisterFatBinary(&wrapper);
  const auto add = [](char& stub, const char* name) {
    __cudaRegisterFunction(handle, &stub, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
  };
  add(combine, "_Z7combinePi");
  add(count, "_Z5countPi");
  add(parent, "_Z6parentPii");
  add(nested, "_Z6nestedPii");
  add(of_newer, "_Z5newerPii");
  add(nothing, "_Z7nothingPii");
  char name[] = "offsets";
  __cudaRegisterVar(handle, offsets, name, "offsets", 0, sizeof offsets, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  std::atexit([] { __cudaUnregisterFatBinary(handle); });
}

int* device = nullptr;
int words[128];

/// One block; takes what it wrote and clears it.
void run(char& stub, unsigned threads, int argument) {
  void* arguments[] = {&device, &argument};
  require(cudaLaunchKernel(&stub, {1, 1, 1}, {threads, 1, 1}, arguments, 0, nullptr) == 0, "launch");
  require(cudaMemcpy(words, device, sizeof words, 2) == 0, "copy");
  require(cudaMemset(device, 0, sizeof words) == 0, "set");
}

}  // namespace

int main() {
  require(cudaMalloc(reinterpret_cast<void**>(&device), sizeof words) == 0, "memory");
  int own_offsets[4] = {1, 2, 3, 4};
  for (int round = 0; round < 2; ++round) {
    run(combine, 32, 0);
    for (int i = 0; i < 32; ++i) {
      const int times_ten = 10 * i + i - 50, twice = 2 * i + 11, factor = 100 * (i % 4 + 1);
      require(words[i] == times_ten + own_offsets[i % 4] * factor + (i % 2 == 0 ? times_ten : twice) + i + 10,
              "combine");
    }
    own_offsets[0] = 1000;
    require(cudaMemcpyToSymbol(offsets, own_offsets, sizeof own_offsets, 0, 1) == 0, "symbol");
  }
  run(count, 1, 0);
  require(words[0] == 3 + 2 * 48, "count");
  run(parent, 32, 8);
  for (int i = 0; i < 8; ++i) require(words[i] == 16 && words[8 + i] == 1, "parent");
  run(nested, 1, 2050);
  require(words[0] == 2049 && words[2] == 2, "nested");
#ifdef LANESCOPE_NEWER
  run(of_newer, 32, 7);
  for (int i = 0; i < 32; ++i) require(words[i] == 11 * i - 43, "newer");
  run(nothing, 32, 7);
#endif
  std::printf("linked\n");
}
