// Libraries: code that a program loads itself, as PTX or as a fat binary, from memory or from a file.
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/files.hpp"
#include "cuda/fatbin.hpp"
#include "cuda/runtime/grid_functions.hpp"
#include "cuda/runtime/jit_options.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

/// Stands between the units of a joined text.
constexpr std::string_view unit_mark = "\n// lanescope: the next translation unit\n";

std::vector<std::string> split_units(std::string_view text) {
  std::vector<std::string> units;
  for (size_t at = 0; at != std::string_view::npos;) {
    const size_t end = text.find(unit_mark, at);
    units.emplace_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : end + unit_mark.size();
  }
  return units;
}

Binary* add(Runtime& runtime, std::unique_ptr<Binary> binary) {
  Binary* handle = binary.get();
  const std::unique_lock lock(runtime.mutex);
  runtime.binaries.push_back(std::move(binary));
  return handle;
}

Status defect(Status status, const std::string& text, std::string* why) {
  if (why != nullptr) *why = text;
  return status;
}

}  // namespace

std::string join_units(const std::vector<std::string>& units) {
  std::string text;
  for (const std::string& unit : units) text += (text.empty() ? "" : std::string(unit_mark)) + unit;
  return text;
}

Status Runtime::load_library(Binary** out, const void* code, size_t size, const std::string& name,
                             std::string* why, unsigned max_registers) {
  const auto* bytes = static_cast<const std::byte*>(code);
  const auto* text = static_cast<const char*>(code);
  uint32_t magic = 0;
  std::memcpy(&magic, text, strnlen(text, sizeof magic));
  Binary* binary = nullptr;
  if (magic == wrapper_magic) {
    binary = register_binary(code);
  } else if (magic == container_magic) {
    auto made = std::make_unique<Binary>();
    made->name = name;
    const uint64_t whole = container_size({bytes, std::min<size_t>(size, 16)}, name);
    made->owned.assign(bytes,
                       bytes + std::min<uint64_t>(whole, size));  // read_fat_binary sees what is missing
    made->containers.emplace_back(made->owned);
    binary = add(*this, std::move(made));
  } else if (std::memcmp(&magic, ELFMAG, SELFMAG) == 0) {
    auto made = std::make_unique<Binary>();
    made->name = name;
    std::string reason;
    made->texts = ptx_in_cubin({bytes, size}, name, reason);
    if (made->texts.empty()) {
      refuse(reason);
      return defect(Status::no_kernel_image_for_device, reason, why);
    }
    add_grid_functions(made->texts);  // nvJitLink has linked them without PTX
    binary = add(*this, std::move(made));
  } else if (std::strstr(text, ".version") == nullptr) {  // which no device would take either
    const std::string reason = name + ": is neither PTX nor a fat binary";
    say("error: " + reason);
    return defect(Status::invalid_kernel_image, reason, why);
  } else {
    auto made = std::make_unique<Binary>();
    made->name = name;
    made->texts = split_units(text);
    binary = add(*this, std::move(made));
  }
  binary->max_registers = max_registers;
  const Status status = load(*binary);
  if (status != Status::success) return defect(status, binary->defect, why);
  for (const ptx::Function& function : binary->module->functions)
    if (function.is_entry && function.has_body) register_function(binary, nullptr, function.name.c_str());
  *out = binary;
  return Status::success;
}

Status Runtime::load_library_file(Binary** out, const char* path, std::string* why, unsigned max_registers) {
  const std::optional<std::string> content = read_if_readable(path);
  if (!content) return defect(Status::file_not_found, std::string(path) + ": cannot be read", why);
  return load_library(out, content->c_str(), content->size(), path, why, max_registers);
}

namespace {

/// cudaLibraryOption, of which none changes anything here.
bool are_known(const int* options, unsigned count) {
  constexpr int known = 2;
  return count == 0 || (options != nullptr &&
                        std::all_of(options, options + count, [](int o) { return o >= 0 && o < known; }));
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaLibraryLoadData(Binary** out, const void* code, int* options, void** values,
                                              unsigned count, int* library_options, void**,
                                              unsigned library_count) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || code == nullptr || !are_known(library_options, library_count))
      return Status::invalid_value;
    const JitOptions given(count, options, values);
    std::string why;
    const Status status =
        runtime.load_library(out, code, unknown_size, "library", &why, given.max_registers());
    if (status != Status::success) given.error(why);
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryLoadFromFile(Binary** out, const char* path, int* options, void** values,
                                                  unsigned count, int* library_options, void**,
                                                  unsigned library_count) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || path == nullptr || !are_known(library_options, library_count))
      return Status::invalid_value;
    const JitOptions given(count, options, values);
    std::string why;
    const Status status = runtime.load_library_file(out, path, &why, given.max_registers());
    if (status != Status::success) given.error(why);
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryUnload(Binary* library) {
  return call_when_idle([&](Runtime& runtime) {
    if (library == nullptr) return Status::invalid_resource_handle;
    runtime.unregister_binary(library);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryGetKernel(Function** out, Binary* library, const char* name) {
  return call([&](Runtime&) {
    if (out == nullptr || library == nullptr || name == nullptr) return Status::invalid_value;
    if (!library->registered) return Status::invalid_resource_handle;  // it has been unloaded
    for (const auto& function : library->functions) {
      if (function->name != name) continue;
      *out = function.get();
      return Status::success;
    }
    return Status::symbol_not_found;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryGetKernelCount(unsigned* count, Binary* library) {
  return call([&](Runtime&) {
    if (count == nullptr || library == nullptr) return Status::invalid_value;
    *count = static_cast<unsigned>(library->functions.size());
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryEnumerateKernels(Function** out, unsigned most, Binary* library) {
  return call([&](Runtime&) {
    if (out == nullptr || library == nullptr) return Status::invalid_value;
    for (size_t i = 0; i < most; ++i)
      out[i] = i < library->functions.size() ? library->functions[i].get() : nullptr;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryGetGlobal(void** address, size_t* size, Binary* library,
                                               const char* name) {
  return call([&](Runtime&) {
    if (library == nullptr || name == nullptr) return Status::invalid_value;
    uint64_t bytes = 0;
    const uint64_t found = library->image->variable(name, &bytes);
    if (found == 0) return Status::symbol_not_found;
    if (address != nullptr) *address = reinterpret_cast<void*>(found);
    if (size != nullptr) *size = bytes;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaLibraryGetManaged(void** address, size_t* size, Binary* library,
                                                const char* name) {
  if (library != nullptr && name != nullptr) {
    const auto& variables = library->module->variables;
    const bool is_managed = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return variable.is_managed && variable.name == name;
    });
    if (!is_managed) return remember(Status::symbol_not_found);
  }
  return cudaLibraryGetGlobal(address, size, library, name);
}
