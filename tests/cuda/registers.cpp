// The limit of registers that a program gives when it loads or links a module (CU_JIT_MAX_REGISTERS).
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "require.hpp"
#include "runtime_calls.hpp"

namespace {

std::string module_with(const std::string& directives) {
  return ".version 9.4\n.target sm_90\n.address_size 64\n.visible .entry scale(.param .u64 out)\n" +
         directives + "{\n  ret;\n}\n";
}

template <typename F>
F* find(void* library, const char* name) {
  void* found = dlsym(library, name);
  require(found != nullptr, name);
  return reinterpret_cast<F*>(found);
}

}  // namespace

int main() {
  constexpr int max_registers = 0, register_count = 4, ptx_input = 1;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  require(library != nullptr, "libcuda.so.1");
  auto* load = find<int(void**, const void*, unsigned, int*, void**)>(library, "cuModuleLoadDataEx");
  auto* get = find<int(void**, void*, const char*)>(library, "cuModuleGetFunction");
  auto* attribute = find<int(int*, int, void*)>(library, "cuFuncGetAttribute");
  auto* create = find<int(unsigned, int*, void**, void**)>(library, "cuLinkCreate_v2");
  auto* add =
      find<int(void*, int, void*, size_t, const char*, unsigned, int*, void**)>(library, "cuLinkAddData_v2");
  auto* complete = find<int(void*, void**, size_t*)>(library, "cuLinkComplete");
  require(cudaFree(nullptr) == 0, "context");

  int option = max_registers;
  void* limit = reinterpret_cast<void*>(uintptr_t{24});
  const auto registers_of = [&](void* module) {
    void* function = nullptr;
    int count = 0;
    require(get(&function, module, "scale") == 0 && attribute(&count, register_count, function) == 0,
            "registers");
    return count;
  };
  const auto loaded = [&](const void* code, unsigned options) {
    void* module = nullptr;
    require(load(&module, code, options, &option, &limit) == 0, "load");
    return registers_of(module);
  };
  std::string plain = module_with("");
  std::printf("%d without a limit, ", loaded(plain.c_str(), 0));
  std::printf("%d with one, ", loaded(plain.c_str(), 1));
  std::printf("%d by its own, ", loaded(module_with(".maxnreg 16\n").c_str(), 1));

  void *linker = nullptr, *code = nullptr, *module = nullptr;
  size_t size = 0;
  require(create(1, &option, &limit, &linker) == 0, "linker");
  require(add(linker, ptx_input, plain.data(), plain.size(), "unit", 0, nullptr, nullptr) == 0, "unit");
  require(complete(linker, &code, &size) == 0, "link");
  std::printf("%d linked, ", loaded(code, 0));

  require(cudaLibraryLoadData(&module, plain.c_str(), &option, &limit, 1, nullptr, nullptr, 0) == 0,
          "library");
  std::printf("%d by the runtime\n", registers_of(module));
}
