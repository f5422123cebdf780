// What a launch of a CUDA program costs beside the work of its kernel: 100,000 launches of one thread,
// counted. The runtime is asked through its own functions, as by a program.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {
struct Extent {
  unsigned x, y, z;
};
}  // namespace

extern "C" {
int cudaLibraryLoadFromFile(void**, const char*, int*, void**, unsigned, int*, void**, unsigned);
int cudaLibraryGetKernel(void**, void*, const char*);
int cudaLaunchKernel(const void*, Extent, Extent, void**, size_t, void*);
int cudaMalloc(void**, size_t);
}

namespace {

constexpr long launches = 100000;

void launch(benchmark::State& state) {
  // The runtime counts in processes that report; this one's report goes where nobody looks.
  const auto folder = std::filesystem::temp_directory_path() / "lanescope-launch-bench";
  std::filesystem::create_directories(folder);
  setenv("LANESCOPE_REPORT", folder.c_str(), 1);
  void *library = nullptr, *kernel = nullptr, *out = nullptr;
  const char* file = LANESCOPE_SOURCE_DIR "/tests/data/fatbin/ptx_zstd.fatbin";
  if (cudaLibraryLoadFromFile(&library, file, nullptr, nullptr, 0, nullptr, nullptr, 0) != 0 ||
      cudaLibraryGetKernel(&kernel, library, "store_at") != 0 || cudaMalloc(&out, 4096) != 0) {
    state.SkipWithError("the kernel cannot be loaded");
    return;
  }
  for (auto _ : state) {
    for (long i = 0; i < launches; ++i) {
      long index = i % 1024;
      void* arguments[] = {&out, &index};
      cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr);
    }
  }
  state.SetItemsProcessed(state.iterations() * launches);
}
BENCHMARK(launch)->Unit(benchmark::kMillisecond);

}  // namespace
