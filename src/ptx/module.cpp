// Questions a module answers about itself.
#include "ptx/module.hpp"

#include "ptx/lexer.hpp"

namespace lanescope::ptx {

const Function* Module::find_function(std::string_view function_name) const {
  for (const Function& function : functions)
    if (function.name == function_name) return &function;
  return nullptr;
}

std::string_view Module::file_path(uint32_t id) const {
  for (const SourceFile& file : files)
    if (file.id == id) return file.path;
  return {};
}

std::string_view Module::text_line(uint32_t line) const { return line_of(text, line); }

}  // namespace lanescope::ptx
