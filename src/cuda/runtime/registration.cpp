// Fat binaries, kernels and variables as the code that nvcc generates announces them, before main; and
// finding them by the host symbols that stand for them. PTX is parsed when it is first needed: most programs
// use a few of the kernels that their libraries bring.
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/files.hpp"
#include "cuda/fatbin.hpp"
#include "cuda/machine_code.hpp"
#include "cuda/runtime/exit.hpp"
#include "cuda/runtime/recorder.hpp"
#include "cuda/runtime/runtime.hpp"
#include "exec/builtins.hpp"
#include "ptx/link.hpp"
#include "ptx/parser.hpp"

namespace lanescope::cuda {
namespace {

/// What a program registers (fatBinary wrapper). Version 1: `data` is the container. Version 2 (-rdc):
/// `units` is a null-terminated list of the containers of the translation units; `data` holds machine code
/// only.
struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const std::byte* data;
  const std::byte* const* units;
};

struct Bounds {
  uint64_t address = 0, left = 0;
  std::string file;
};

/// The loaded file that holds an address, and how many bytes of the same segment follow it.
Bounds bounds_of(const void* pointer) {
  Bounds bounds;
  bounds.address = reinterpret_cast<uint64_t>(pointer);
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& out = *static_cast<Bounds*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || out.address - begin >= segment.p_memsz) continue;
          out.left = segment.p_memsz - (out.address - begin);
          out.file = info->dlpi_name;
          return 1;
        }
        return 0;
      },
      &bounds);
  return bounds;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// A container in memory, as far as its own header says; not further than the file it was loaded from.
std::span<const std::byte> container_at(const std::byte* data, const std::string& name) {
  if (data == nullptr) throw Error(name + ": registers no fat binary");
  const Bounds bounds = bounds_of(data);
  const uint64_t readable = bounds.left != 0 ? bounds.left : UINT64_MAX >> 1;
  const uint64_t size = container_size({data, std::min<uint64_t>(readable, 16)}, name);
  if (size > readable) throw Error(name + ": damaged fat binary: it is larger than the file that holds it");
  return {data, size};
}

/// Says why nothing can run, and what to do; no PTX for this device was found.
std::string why_no_ptx(const std::string& name, const std::vector<FatImage>& images,
                       const std::string& target) {
  std::string ptx, code;
  bool lto = false;
  for (const FatImage& image : images) {
    std::string& list = image.kind == FatImage::Kind::ptx ? ptx : code;
    if (image.kind == FatImage::Kind::ptx || image.kind == FatImage::Kind::machine_code)
      list += (list.empty() ? "" : ", ") + image.target();
    lto = lto || image.kind == FatImage::Kind::lto_ir;
  }
  if (!ptx.empty())
    return name + ": holds PTX for " + ptx + ", which a device of " + target +
           " cannot run: choose one of these with --arch, or compile with nvcc -arch=" + target;
  return name + ": holds " +
         (code.empty() ? (lto ? "link-time intermediate code only" : "no device code")
                       : "machine code for " + code + " only") +
         ". Lanescope runs PTX: compile with nvcc -arch=" + target + " (or -gencode arch=compute_" +
         target.substr(3) + ",code=compute_" + target.substr(3) + "), or with -lineinfo, which keep the PTX";
}

/// Calls f(sm, bytes) with the machine code of each translation unit that the device would run.
template <class F>
void each_machine_code(const Binary& binary, const std::string& target, F f) {
  for (const auto& container : binary.containers) try {
      const std::vector<FatImage> images = read_fat_binary(container, binary.name);
      const auto best = choose(images, FatImage::Kind::machine_code, target);
      if (best.empty()) continue;
      const std::string content = content_of(*best.front(), binary.name);
      f(best.front()->sm, std::as_bytes(std::span(content)));
    } catch (const Error&) {
      // What is wrong with it is no matter to who runs the PTX.
    }
}

/// Whether a translation unit is the device runtime's, of whose functions the engine has its own.
bool is_device_runtime(const std::string& ptx) {
  const ptx::Module module = ptx::parse(ptx, "");
  return std::ranges::any_of(module.functions, [](const ptx::Function& function) {
    return function.has_body && exec::find_builtin(function);
  });
}

}  // namespace

std::vector<std::string> Runtime::ptx_in(std::span<const std::byte> container, const std::string& name,
                                         std::string& why, std::string* instead) const {
  const std::vector<FatImage> images = read_fat_binary(container, name);
  std::vector<std::string> texts = ptx_for(images, device.target(), name);
  if (texts.empty() && device.attribute(attribute_major) < 7) {
    // Today's compilers make no PTX for these: the oldest stands in, and accesses are still counted by the
    // old rules.
    const FatImage* oldest = nullptr;
    for (const FatImage& image : images)
      if (image.kind == FatImage::Kind::ptx && (oldest == nullptr || image.sm < oldest->sm)) oldest = &image;
    if (oldest != nullptr) texts.push_back(content_of(*oldest, name));
  }
  const bool may_stand_in = texts.empty() && instead != nullptr;
  if (const FatImage* image = may_stand_in ? stand_in(images, device.target()) : nullptr) {
    texts.push_back(content_of(*image, name));
    *instead = fmt::format(
        "{}: for {} it holds machine code alone; its PTX for {} runs instead, counted by the rules of {}",
        name, device.target(), image->target(), device.target());
  }
  if (texts.empty()) why = why_no_ptx(name, images, device.target());
  return texts;
}

std::vector<std::string> Runtime::ptx_in_cubin(std::span<const std::byte> cubin, const std::string& name,
                                               std::string& why) {
  std::vector<std::string> texts;
  try {
    texts = ptx_in_machine_code(cubin, name);
  } catch (const Error& error) {
    why = error.what();
    return texts;
  }
  if (texts.empty())
    why =
        name +
        ": holds machine code only (a cubin). Lanescope runs PTX: have it assembled with -lineinfo, which "
        "keeps the PTX, or hand over the PTX that it was made of (for Warp, wp.config.cuda_output = \"ptx\")";
  return texts;
}

Binary* Runtime::register_binary(const void* wrapper) {
  auto binary = std::make_unique<Binary>();
  binary->wrapper = wrapper;
  const auto& w = *static_cast<const Wrapper*>(wrapper);
  const Bounds bounds = bounds_of(wrapper);
  binary->name = base_name(bounds.file.empty() ? program_path() : bounds.file);
  try {
    if (w.magic != wrapper_magic) throw Error(binary->name + ": registers something that is no fat binary");
    if (w.version == 2 && w.units != nullptr) {
      for (const std::byte* const* unit = w.units; *unit != nullptr; ++unit)
        binary->containers.push_back(container_at(*unit, binary->name));
    } else {
      binary->containers.push_back(container_at(w.data, binary->name));
    }
    std::vector<FatImage> all;
    for (const auto& container : binary->containers)
      for (FatImage& image : read_fat_binary(container, binary->name)) all.push_back(std::move(image));
    const bool has_ptx =
        std::any_of(all.begin(), all.end(), [](const FatImage& i) { return i.kind == FatImage::Kind::ptx; });
    // A program without PTX can never run a kernel here; better said now than at its first launch. Libraries
    // bring more than is used of them.
    if (bounds.file.empty() && !has_ptx && !all.empty() && texts(*binary, &binary->defect).empty()) {
      say_once("error: " + binary->defect);
      binary->loaded = true;
      binary->status = Status::no_kernel_image_for_device;
    }
  } catch (const Error& error) {
    say_once("error: " + (binary->defect = error.what()));
    binary->loaded = true;
    binary->status = Status::invalid_kernel_image;
  }
  Binary* handle = binary.get();
  const std::unique_lock lock(mutex);
  binaries.push_back(std::move(binary));
  return handle;
}

void Runtime::unregister_binary(Binary* binary) {
  // The report asks when the bytes may be gone.
  if (options.assemble) {
    const std::lock_guard lock(binary->mutex);
    if (binary->loaded) assemble(*binary);
  }
  const std::unique_lock lock(mutex);
  if (!binary->registered) return;
  binary->registered = false;
  // The symbols go with the file that held them: dlopen may put another one at the same place. What was
  // counted stays, and with it the kernels and the module that the report speaks of.
  const auto is_of_binary = [&](const auto& entry) { return entry.second->binary == binary; };
  std::erase_if(functions, is_of_binary);
  std::erase_if(variables, [&](const auto& entry) { return entry.second.binary == binary; });
}

void Runtime::register_function(Binary* binary, const void* stub, const char* name) {
  auto function = std::make_unique<Function>();
  function->binary = binary;
  function->name = name;
  function->stub = stub;
  const std::unique_lock lock(mutex);
  if (stub != nullptr) functions[stub] = function.get();
  functions[function.get()] = function.get();
  binary->functions.push_back(std::move(function));
}

void Runtime::register_variable(Binary* binary, const void* host, const char* name) {
  const std::unique_lock lock(mutex);
  variables[host] = {binary, name};
}

Function* Runtime::function(const void* stub_or_handle) const {
  const std::shared_lock lock(mutex);
  const auto found = functions.find(stub_or_handle);
  return found == functions.end() ? nullptr : found->second;
}

Status Runtime::load(Binary& binary, For purpose) {
  const std::lock_guard lock(binary.mutex);
  if (binary.loaded) {
    // What was wrong when it was registered, or asked about, matters from now on.
    if (binary.status != Status::success && purpose == For::run) refuse(binary.defect);
    return binary.status;
  }
  binary.loaded = true;
  try {
    std::string why;
    std::vector<std::string> texts = this->texts(binary, &why, &binary.stand_in);
    if (!binary.stand_in.empty()) say_once(binary.stand_in);
    if (texts.empty()) {
      refuse(binary.defect = why, purpose);
      return binary.status = Status::no_kernel_image_for_device;
    }
    const std::string module_name = binary.texts.empty() ? binary.name + ".ptx" : binary.name;
    std::vector<ptx::Module> units;
    for (size_t i = 0; i < texts.size(); ++i)
      units.push_back(ptx::parse(std::move(texts[i]), texts.size() == 1
                                                          ? module_name
                                                          : binary.name + " unit " + std::to_string(i + 1)));
    binary.module = std::make_shared<const ptx::Module>(
        units.size() == 1 ? std::move(units.front()) : ptx::link(std::move(units), module_name));
    binary.image = std::make_unique<exec::Image>(binary.module, memory);
  } catch (const Error& error) {
    refuse(binary.defect = error.what(), purpose);
    binary.status = Status::invalid_ptx;
  }
  return binary.status;
}

Status Runtime::prepare(Function& function, For purpose) {
  if (function.kernel.load(std::memory_order_acquire) != nullptr) return Status::success;
  const Status status = load(*function.binary, purpose);
  if (status != Status::success) return status;
  try {
    const exec::Kernel& kernel = function.binary->image->kernel(function.name);
    const std::string& shown = kernel.display_name.empty() ? kernel.name : kernel.display_name;
    function.counted = !options.kernels || std::regex_search(shown, *options.kernels);
    function.is_left_out = !function.binary->stand_in.empty() &&
                           function.binary->module->find_function(function.name)->body.size() <= 1 &&
                           does_work_in_machine_code(function);
    function.kernel.store(&kernel, std::memory_order_release);
    return Status::success;
  } catch (const Error& error) {
    refuse(error.what(), purpose);
    return function.binary->module->find_function(function.name) == nullptr ? Status::invalid_device_function
                                                                            : Status::invalid_ptx;
  }
}

int Runtime::registers(const Function& function, std::string* unknown) {
  const ptx::MachineNeeds* found = needs_in_machine_code(function);
  if (found == nullptr) found = needs(function, unknown);
  return found == nullptr ? 0 : static_cast<int>(found->registers);
}

std::vector<std::string> Runtime::texts(const Binary& binary, std::string* why, std::string* instead) const {
  std::vector<std::string> texts = binary.texts;
  std::string reason, told;
  for (const auto& container : binary.containers) {
    std::string other;
    std::vector<std::string> units = ptx_in(container, binary.name, reason, &other);
    if (!other.empty()) {
      if (is_device_runtime(units.front())) continue;
      told = other;
    }
    std::move(units.begin(), units.end(), std::back_inserter(texts));
  }
  if (instead != nullptr) *instead = told;
  if (why != nullptr) *why = reason;
  if (binary.max_registers != 0)
    for (std::string& text : texts) text = ptx::with_register_limit(std::move(text), binary.max_registers);
  return texts;
}

void Runtime::assemble(Binary& binary) const {
  if (!binary.assembly) binary.assembly = ptx::assemble(texts(binary), device.target());
}

const ptx::MachineNeeds* Runtime::needs(const Function& function, std::string* unknown) {
  Binary& binary = *function.binary;
  const std::lock_guard lock(binary.mutex);
  assemble(binary);
  if (unknown != nullptr) *unknown = binary.assembly->unknown;
  const auto found = binary.assembly->kernels.find(function.name);
  return found == binary.assembly->kernels.end() ? nullptr : &found->second;
}

const ptx::MachineNeeds* Runtime::needs_in_machine_code(const Function& function) const {
  Binary& binary = *function.binary;
  const std::lock_guard lock(binary.mutex);
  if (!binary.machine_code && binary.registered) {
    binary.machine_code.emplace();
    each_machine_code(binary, device.target(), [&](uint32_t sm, std::span<const std::byte> code) {
      if ("sm_" + std::to_string(sm) == device.target())
        binary.machine_code->merge(cuda::needs_in_machine_code(code, binary.name));
    });
  }
  if (!binary.machine_code) return nullptr;
  const auto found = binary.machine_code->find(function.name);
  return found == binary.machine_code->end() || found->second.registers == 0 ? nullptr : &found->second;
}

bool Runtime::does_work_in_machine_code(const Function& function) const {
  const Binary& binary = *function.binary;
  bool does_work = false;
  each_machine_code(binary, device.target(), [&](uint32_t, std::span<const std::byte> code) {
    does_work = does_work || cuda::does_work_in_machine_code(code, function.name, binary.name);
  });
  return does_work;
}

Status Runtime::variable(const void* host, uint64_t& address, size_t& size) {
  Variable variable;
  {
    const std::shared_lock lock(mutex);
    const auto found = variables.find(host);
    if (found == variables.end()) {
      // The host names a managed variable by where it lies.
      const auto managed = memory.find(reinterpret_cast<uint64_t>(host));
      if (!managed || managed->base != reinterpret_cast<uint64_t>(host) ||
          !managed_variables.contains(managed->base))
        return Status::invalid_symbol;
      address = managed->base;
      size = managed->size;
      return Status::success;
    }
    variable = found->second;
  }
  const Status status = load(*variable.binary);
  if (status != Status::success) return status;
  uint64_t bytes = 0;
  address = variable.binary->image->variable(variable.name, &bytes);
  size = bytes;
  return address == 0 ? Status::invalid_symbol : Status::success;
}

void Runtime::load_managed(Binary& binary) {
  if (binary.managed.empty() || load(binary) != Status::success) return;
  for (const Binary::Managed& managed : binary.managed) {
    const uint64_t address = binary.image->variable(managed.name);
    *managed.host_pointer = reinterpret_cast<void*>(address);
    const std::unique_lock lock(mutex);
    managed_variables.insert(address);
  }
}

namespace {

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(Runtime::get().register_binary(wrapper));
}

LANESCOPE_CUDA_API void __cudaRegisterFatBinaryEnd(void**) {}

LANESCOPE_CUDA_API void __cudaUnregisterFatBinary(void** handle) {
  if (handle != nullptr) Runtime::get().unregister_binary(binary_of(handle));
}

LANESCOPE_CUDA_API void __cudaRegisterFunction(void** handle, const void* stub, char*, const char* name, int,
                                               void*, void*, void*, void*, int*) {
  Runtime::get().register_function(binary_of(handle), stub, name);
}

LANESCOPE_CUDA_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t,
                                          int, int) {
  Runtime::get().register_variable(binary_of(handle), host, name);
}

LANESCOPE_CUDA_API void __cudaRegisterHostVar(void** handle, const char* name, char* host, size_t) {
  Runtime::get().register_variable(binary_of(handle), host, name);
}

LANESCOPE_CUDA_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                                 size_t, int, int) {
  binary_of(handle)->managed.push_back({host, name});
  Runtime::get().register_variable(binary_of(handle), host, name);
}

LANESCOPE_CUDA_API void __cudaRegisterUnifiedTable(void**, void*) {}

LANESCOPE_CUDA_API char __cudaInitModule(void** handle) {
  Runtime::get().load_managed(*binary_of(handle));
  return 1;
}

LANESCOPE_CUDA_API Status __cudaGetKernel(Function** out, const void* stub) {
  return query([&](Runtime& runtime) {
    Function* function = runtime.function(stub);
    if (function == nullptr) return Status::invalid_device_function;
    *out = function;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGetKernel(Function** out, const void* stub) {
  if (out == nullptr) return remember(Status::invalid_value);
  return __cudaGetKernel(out, stub);
}

LANESCOPE_CUDA_API Status cudaGetFuncBySymbol(Function** out, const void* stub) {
  return cudaGetKernel(out, stub);
}

LANESCOPE_CUDA_API Status cudaFuncGetName(const char** name, const void* stub) {
  return query([&](Runtime& runtime) {
    const Function* function = runtime.function(stub);
    if (name == nullptr) return Status::invalid_value;
    if (function == nullptr) return Status::invalid_resource_handle;
    *name = function->name.c_str();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaGetSymbolAddress(void** out, const void* symbol) {
  return call([&](Runtime& runtime) {
    uint64_t address = 0;
    size_t size = 0;
    if (out == nullptr) return Status::invalid_value;
    const Status status = runtime.variable(symbol, address, size);
    if (status == Status::success) *out = reinterpret_cast<void*>(address);
    return status;
  });
}

LANESCOPE_CUDA_API Status cudaGetSymbolSize(size_t* out, const void* symbol) {
  return call([&](Runtime& runtime) {
    uint64_t address = 0;
    size_t size = 0;
    if (out == nullptr) return Status::invalid_value;
    const Status status = runtime.variable(symbol, address, size);
    if (status == Status::success) *out = size;
    return status;
  });
}
