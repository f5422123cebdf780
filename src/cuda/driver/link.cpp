// The driver's linker. What it makes here is the PTX of all units, which is linked when it is loaded.
#include <cstring>
#include <optional>
#include <string_view>

#include "base/files.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/fatbin.hpp"
#include "cuda/runtime/grid_functions.hpp"
#include "cuda/runtime/jit_options.hpp"
#include "cuda/runtime/message.hpp"
#include "exec/builtins.hpp"
#include "ptx/assembler.hpp"
#include "ptx/link.hpp"

namespace lanescope::cuda {
namespace {

/// CUjitInputType.
enum class Input : int { machine_code, ptx, fat_binary, object, library };
constexpr auto last_input = Input{5};  // code of nvcc's optimiser

/// CUlinkState.
struct Linker {
  JitOptions options;
  std::vector<std::string> units, names;
  std::string result;
};

Status refuse(const Linker& linker, const std::string& why) {
  linker.options.error(why);
  Runtime::get().refuse(why);
  return Status::no_kernel_image_for_device;
}

/// Adds what `data` holds, under the name that its author gave it.
Status add(Linker& linker, Input type, std::string_view data, const std::string& name) {
  if (type == Input::library && name.find("cudadevrt") != std::string::npos)
    return Status::success;  // the engine has these functions itself
  if (type < Input::machine_code || type > last_input) return Status::invalid_value;
  std::vector<std::string> texts;
  std::string why = name + ": is not linked here, where PTX, fat binaries and machine code that hold it are";
  const std::span bytes = std::as_bytes(std::span(data));
  if (type == Input::ptx) {
    if (data.find(".version") == std::string_view::npos) return Status::invalid_kernel_image;
    texts.emplace_back(data.substr(0, data.find('\0')));
  } else if (type == Input::fat_binary) {
    std::string instead;
    texts = Runtime::get().ptx_in(bytes, name, why, &instead);
    if (!instead.empty()) say_once(instead);
  } else if (type == Input::machine_code) {
    texts = Runtime::ptx_in_cubin(bytes, name, why);
  }
  if (texts.empty()) return refuse(linker, why);
  for (std::string& text : texts) {
    linker.units.push_back(std::move(text));
    linker.names.push_back(name);
  }
  return Status::success;
}

/// A function that is called and that neither a unit nor the engine has; "" for none.
std::string missing_in(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    if (exec::find_builtin(function)) continue;
    for (const ptx::Instruction& instruction : function.body)
      for (const ptx::Operand& operand : instruction.operands) {
        if (operand.symbol.kind != ptx::SymbolRef::Kind::function) continue;
        const ptx::Function& used = module.functions[operand.symbol.index];
        if (!used.has_body && !exec::find_builtin(used))
          return function.display_name + " uses " + used.display_name + ", which no unit defines";
      }
  }
  return "";
}

Status complete(Linker& linker) {
  try {
    if (add_grid_functions(linker.units)) linker.names.emplace_back("grid functions");
    std::vector<ptx::Module> units;
    for (size_t i = 0; i < linker.units.size(); ++i)
      units.push_back(ptx::parse(linker.units[i], linker.names[i]));
    if (units.empty()) {  // nothing, which an H100 links as well
      linker.result = "";
      return Status::success;
    }
    const std::string missing =
        missing_in(units.size() == 1 ? units.front() : ptx::link(std::move(units), "linked"));
    if (!missing.empty()) {
      linker.options.error(missing);
      say("error: " + missing);
      return Status::unknown;  // as an H200's driver says
    }
  } catch (const Error& error) {
    linker.options.error(error.what());
    say(std::string("error: ") + error.what());
    return Status::invalid_ptx;
  }
  if (const unsigned limit = linker.options.max_registers(); limit != 0)
    for (std::string& unit : linker.units) unit = ptx::with_register_limit(std::move(unit), limit);
  linker.result = join_units(linker.units);
  return Status::success;
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuLinkCreate_v2(unsigned count, const int* options, void** values, Linker** out) {
  return in_context([&] {
    if (out == nullptr) return Status::invalid_value;
    *out = new Linker{JitOptions(count, options, values), {}, {}, {}};
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuLinkAddData_v2(Linker* linker, Input type, const void* data, size_t size,
                                           const char* name, unsigned, const int*, void**) {
  return in_context([&] {
    return call([&](Runtime&) {
      if (linker == nullptr || data == nullptr || size == 0) return Status::invalid_value;
      return add(*linker, type, {static_cast<const char*>(data), size},
                 name != nullptr && *name != '\0' ? name : "linked");
    });
  });
}

LANESCOPE_CUDA_API Status cuLinkAddFile_v2(Linker* linker, Input type, const char* path, unsigned, const int*,
                                           void**) {
  return in_context([&] {
    return call([&](Runtime&) {
      if (linker == nullptr || path == nullptr) return Status::invalid_value;
      const std::optional<std::string> content = lanescope::read_if_readable(path);
      return content ? add(*linker, type, *content, path) : Status::file_not_found;
    });
  });
}

LANESCOPE_CUDA_API Status cuLinkComplete(Linker* linker, void** code, size_t* size) {
  return in_context([&] {
    return call([&](Runtime&) {
      if (linker == nullptr || code == nullptr) return Status::invalid_value;
      const Status status = complete(*linker);
      if (status != Status::success) return status;
      *code = linker->result.data();
      if (size != nullptr) *size = linker->result.size() + 1;
      return status;
    });
  });
}

LANESCOPE_CUDA_API Status cuLinkDestroy(Linker* linker) {
  return in_context([&] {
    delete linker;
    return linker == nullptr ? Status::invalid_resource_handle : Status::success;
  });
}
