// Runs the statements of tests/data/instructions.txt on an NVIDIA GPU and prints the file with the digests of
// what came out. No part of the build; by hand, from the top of the source tree (needs the CUDA toolkit):
//   g++ -std=c++20 -O2 -Itests -I/usr/local/cuda/include tests/exec/record_results.cpp -o record_results
//   -lcuda
//   ./record_results tests/data/instructions.txt [results.bin] > instructions.txt
// results.bin gets all result words, statement after statement, for whoever looks for a difference.
#include <cuda.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "exec/statement.hpp"

namespace {

using namespace lanescope::statements;

void must(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  cuGetErrorString(result, &text);
  throw std::runtime_error(what + ": " + text);
}

constexpr size_t statements_of_module = 40;

/// The results of statements [first, last).
void run(const std::vector<std::string>& statements, size_t first, size_t last,
         std::vector<std::vector<uint64_t>>& results) {
  std::string text = module_head();
  for (size_t i = first; i < last; ++i) text += kernel_of(statements[i], "k" + std::to_string(i));
  std::string log(8192, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  must(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values),
       statements[first] + "…: " + log.c_str());
  for (size_t i = first; i < last; ++i) {
    const std::vector<uint64_t> in = inputs_of(statements[i]);
    std::vector<uint64_t>& out = results[i];
    out.assign(rows_of(statements[i]), 0);
    std::array<CUdeviceptr, 2> buffers{};
    must(cuMemAlloc(&buffers[0], in.size() * 8), "allocation");
    must(cuMemAlloc(&buffers[1], out.size() * 8), "allocation");
    must(cuMemcpyHtoD(buffers[0], in.data(), in.size() * 8), "copy to the GPU");
    must(cuMemcpyHtoD(buffers[1], out.data(), out.size() * 8), "copy to the GPU");
    CUfunction function = nullptr;
    must(cuModuleGetFunction(&function, module, ("k" + std::to_string(i)).c_str()), statements[i]);
    void* parameters[] = {&buffers[0], &buffers[1]};
    must(cuLaunchKernel(function, static_cast<unsigned>(out.size() / 128), 1, 1, 128, 1, 1, 0, nullptr,
                        parameters, nullptr),
         statements[i]);
    must(cuMemcpyDtoH(out.data(), buffers[1], out.size() * 8), statements[i]);
    for (const CUdeviceptr buffer : buffers) must(cuMemFree(buffer), "free");
  }
  must(cuModuleUnload(module), "unload");
}

int record(const std::string& path, const char* raw) {
  std::vector<std::string> lines, statements;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (!line.empty() && line[0] != '#') statements.push_back(line.substr(line.find(' ') + 1));
  }
  must(cuInit(0), "cuInit");
  CUdevice device = 0;
  must(cuDeviceGet(&device, 0), "no GPU");
  CUcontext context = nullptr;
  must(cuDevicePrimaryCtxRetain(&context, device), "context");

  std::vector<std::vector<uint64_t>> results(statements.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    try {
      must(cuCtxSetCurrent(context), "context");
      for (size_t first; (first = next.fetch_add(statements_of_module)) < statements.size();)
        run(statements, first, std::min(first + statements_of_module, statements.size()), results);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      failed = true;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();

  size_t i = 0;
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '#')
      std::printf("%s\n", line.c_str());
    else if (const size_t at = i++; true)
      std::printf("%016llx %s\n", static_cast<unsigned long long>(digest_of(results[at])),
                  statements[at].c_str());
  }
  if (raw != nullptr) {
    std::ofstream out(raw, std::ios::binary);
    for (const auto& result : results)
      out.write(reinterpret_cast<const char*>(result.data()),
                static_cast<std::streamsize>(result.size() * 8));
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "record_results instructions.txt [results.bin]\n");
    return 2;
  }
  try {
    return record(argv[1], argc == 3 ? argv[2] : nullptr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "record_results: %s\n", e.what());
    return 1;
  }
}
