// Questions that a module and its instructions answer about themselves.
#include "ptx/module.hpp"

#include "base/error.hpp"
#include "ptx/lexer.hpp"

namespace lanescope::ptx {

TextureShape texture_shape_of(const Instruction& in) {
  TextureShape shape;
  shape.cube = in.has(Mod::cube) || in.has(Mod::acube);
  shape.layered = in.has(Mod::a1d) || in.has(Mod::a2d) || in.has(Mod::acube);
  shape.dimensions = in.has(Mod::dim_3d) ? 3 : in.has(Mod::dim_2d) || in.has(Mod::a2d) || shape.cube ? 2 : 1;
  return shape;
}

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

std::string_view Module::text_line(uint32_t line) const {
  if (line == 0 || line > line_begins.size()) return {};
  return line_of(std::string_view(text).substr(line_begins[line - 1]), 1);
}

void Module::refuse(const Refusal& refusal, const Function& function, const Function& kernel) const {
  std::string where = function.is_entry ? "kernel " : "function ";
  where += function.display_name;
  if (&function != &kernel) where += ", called by kernel " + kernel.display_name;
  if (refusal.source != no_index) {
    const SourceLoc& loc = source_locs[refusal.source];
    where += ", " + std::string(file_path(loc.file)) + ":" + std::to_string(loc.line);
  }
  throw Error({name, refusal.loc.line, refusal.loc.column}, refusal.cause + " (" + where + ")",
              std::string(text_line(refusal.loc.line)));
}

}  // namespace lanescope::ptx
