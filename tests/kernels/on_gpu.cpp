// Runs the cases of this folder on an NVIDIA GPU: to check that kernels and references agree there, and to
// record results of tests/data. No part of the build; by hand, from the top of the source tree (needs the
// CUDA toolkit):
//   g++ -std=c++20 -Itests -I/usr/local/cuda/include tests/kernels/on_gpu.cpp -o on_gpu -lcuda
//   ./on_gpu check     # all cases; the PTX for sm_100 too, as sm_90
//   ./on_gpu record    # writes tests/data/expected/*.txt
// Names of programs behind that restrict it to these.
//   ./on_gpu count N FOLDER   # launches each case of accuracy_cases.hpp and of kernels/ N times, for a
//                             # profiler to count; from machine code FOLDER/NAME.cubin. tests/data/README.md
//                             # says how
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include "cuda_driver.hpp"
#include "kernels/accuracy_cases.hpp"
#include "kernels/kernel_cases.hpp"
#include "kernels/program_cases.hpp"

namespace lanescope::kernels {
namespace {

CUmodule load(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (const size_t at = text.find(".target sm_100"); at != std::string::npos)
    text.replace(at, 14, ".target sm_90");
  std::string log(8192, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  must(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values), (path + " " + log.c_str()).c_str());
  return module;
}

CUtensorMap map_of(const Tensor& t, CUdeviceptr address) {
  alignas(64) CUtensorMap map;
  must(cuTensorMapEncodeTiled(&map, static_cast<CUtensorMapDataType>(t.type), t.dimensions,
                              reinterpret_cast<void*>(address), t.size.data(), t.strides.data(), t.box.data(),
                              t.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                              static_cast<CUtensorMapSwizzle>(t.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              t.fills_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                          : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
       "tensor map");
  return map;
}

/// The contents of each argument that is a buffer, after the launch.
std::vector<Bytes> run(CUmodule module, const Case& c) {
  CUfunction function = nullptr;
  must(cuModuleGetFunction(&function, module, c.kernel.c_str()), c.kernel.c_str());
  must(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          static_cast<int>(c.dynamic_shared)),
       "dynamic shared memory");
  std::vector<CUdeviceptr> buffers(c.arguments.size());
  std::vector<void*> parameters;
  std::deque<CUtensorMap> maps;
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    const Argument& a = c.arguments[i];
    if (a.is_buffer) {
      must(cuMemAlloc(&buffers[i], a.value.size()), "allocation");
      must(cuMemcpyHtoD(buffers[i], a.value.data(), a.value.size()), "copy to the GPU");
      parameters.push_back(&buffers[i]);
      if (a.tensor) parameters.back() = &maps.emplace_back(map_of(*a.tensor, buffers[i]));
    } else {
      parameters.push_back(const_cast<std::byte*>(a.value.data()));
    }
  }
  must(cuLaunchKernel(function, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z,
                      c.dynamic_shared, nullptr, parameters.data(), nullptr),
       c.kernel.c_str());
  must(cuCtxSynchronize(), c.kernel.c_str());
  std::vector<Bytes> results;
  for (size_t i = 0; i < c.arguments.size(); ++i) {
    if (!c.arguments[i].is_buffer) continue;
    results.emplace_back(c.arguments[i].value.size());
    must(cuMemcpyDtoH(results.back().data(), buffers[i], results.back().size()), "copy from the GPU");
    must(cuMemFree(buffers[i]), "free");
  }
  return results;
}

/// Number of differences, each printed.
int compare(const Case& c, const std::string& path, const std::vector<Bytes>& results,
            const Recording& recording) {
  int differences = 0;
  size_t next = 0;
  for (const Argument& a : c.arguments) {
    if (!a.is_buffer) continue;
    const Bytes& expected = a.expected.empty() ? recording.at(c.label()) : a.expected;
    std::string where;
    if (!matches(results[next++], expected, a.match, where)) {
      std::printf("%s: %s: %s\n", path.c_str(), c.label().c_str(), where.c_str());
      ++differences;
    }
  }
  return differences;
}

int check(const std::set<std::string>& only) {
  int differences = 0, done = 0;
  std::map<std::string, CUmodule> modules;
  const auto module = [&](const std::string& path) {
    auto& m = modules[path];
    if (m == nullptr) m = load(path);
    return m;
  };
  const auto skip = [&](const Case& c) { return !only.empty() && only.count(c.program) == 0; };
  for (const Case& c : kernel_cases()) {
    if (skip(c)) continue;
    const std::string path = "kernels/ptx/" + c.program + ".ptx";
    differences += compare(c, path, run(module(path), c), {});
    ++done;
  }
  for (const Case& c : program_cases()) {
    if (skip(c)) continue;
    const Recording recording = read_recording("tests/data/expected/" + c.program + ".txt");
    for (const char* suffix : {".ptx", ".sm_100.ptx"}) {
      const std::string path = "tests/data/ptx/" + c.program + suffix;
      differences += compare(c, path, run(module(path), c), recording);
      ++done;
    }
  }
  std::printf("%d launches, %d differences\n", done, differences);
  return differences == 0 ? 0 : 1;
}

int record(const std::string& device, const std::set<std::string>& only) {
  std::map<std::string, std::string> files;
  std::map<std::string, CUmodule> modules;
  for (const Case& c : program_cases()) {
    if (!only.empty() && only.count(c.program) == 0) continue;
    auto& m = modules[c.program];
    if (m == nullptr) m = load("tests/data/ptx/" + c.program + ".ptx");
    const auto results = run(m, c);
    std::string& text = files[c.program];
    if (text.empty())
      text = "# Results of " + c.program + ".cu, recorded by tests/kernels/on_gpu.cpp on " + device + "\n";
    text += "[" + c.label() + "]\n";
    size_t next = 0;
    for (const Argument& a : c.arguments) {
      if (!a.is_buffer) continue;
      const Bytes& result = results[next++];
      if (!a.expected.empty()) continue;
      for (size_t i = 0; i < result.size(); i += 4) {
        uint32_t word;
        std::memcpy(&word, &result[i], 4);
        char hex[16];
        const bool end = i % 48 == 44 || i + 4 >= result.size();
        std::snprintf(hex, sizeof hex, "%x%c", word, end ? '\n' : ' ');
        text += hex;
      }
    }
  }
  for (const auto& [program, text] : files) std::ofstream("tests/data/expected/" + program + ".txt") << text;
  return 0;
}

/// A line for each launch, in order: program, kernel, variant, checksum of its buffers.
int count(int times, const std::string& folder) {
  std::map<std::string, CUmodule> modules;
  auto cases = accuracy_cases();
  for (Case& c : kernel_cases()) cases.push_back(std::move(c));
  std::printf("program,kernel,variant,repetition,checksum\n");
  for (const Case& c : cases) {
    auto& m = modules[c.program];
    if (m == nullptr)
      must(cuModuleLoad(&m, (folder + "/" + c.program + ".cubin").c_str()), c.program.c_str());
    for (int i = 0; i < times; ++i)
      std::printf("%s,%s,%s,%d,%016llx\n", c.program.c_str(), c.kernel.c_str(), c.variant.c_str(), i,
                  static_cast<unsigned long long>(checksum(run(m, c))));
  }
  return 0;
}

int run_main(const std::string& what, const std::vector<std::string>& more) {
  const CUdevice device = use_first_gpu();
  char name[128];
  must(cuDeviceGetName(name, sizeof name, device), "name");
  int driver = 0;
  must(cuDriverGetVersion(&driver), "driver");
  if (what == "count" && more.size() == 2) return count(std::stoi(more[0]), more[1]);
  std::printf("%s, CUDA %d.%d\n", name, driver / 1000, driver % 1000 / 10);
  if (what == "check") return check({more.begin(), more.end()});
  if (what == "record") return record(name, {more.begin(), more.end()});
  std::fprintf(stderr, "on_gpu check|record [PROGRAM…] | count N FOLDER\n");
  return 2;
}

}  // namespace
}  // namespace lanescope::kernels

int main(int argc, char** argv) {
  try {
    return lanescope::kernels::run_main(argc > 1 ? argv[1] : "", {argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "on_gpu: %s\n", e.what());
    return 1;
  }
}
