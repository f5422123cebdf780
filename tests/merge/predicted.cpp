// Prints for each kernel of PTX files what is predicted of its accesses, as scripts/sass prints what is in
// its machine code, for comparing the two; behind it, in parentheses, why that may not be the same: loops,
// calls, doubts.
//   SPACE=shared|global|global_all merge_predicted FILE.ptx…
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "base/files.hpp"
#include "exec/flow.hpp"
#include "exec/loops.hpp"
#include "merge/counts.hpp"

using namespace lanescope;

namespace {

std::string remarks(const ptx::Function& f, const merge::Plan& plan) {
  const bool loops = !exec::Loops(exec::analyse(f, false)).all.empty();
  bool calls = false, doubts = false;
  for (const ptx::Instruction& in : f.body) calls |= in.op == ptx::Op::call;
  for (const merge::Fate& fate : plan.fates) doubts |= !fate.doubt.empty();
  std::string text;
  for (const auto& [is_so, word] : {std::pair(loops, " loops"), {calls, " calls"}, {doubts, " doubts"}})
    if (is_so) text += word;
  return text.empty() ? "" : " (" + text.substr(1) + ")";
}

}  // namespace

int main(int count, char** files) try {
  const char* const given = std::getenv("SPACE");
  const std::string space = given != nullptr ? given : "shared";
  const auto counts_here = space == "global"       ? merge::is_global_load
                           : space == "global_all" ? merge::is_global_load_or_store
                                                   : merge::is_shared;
  for (int i = 1; i < count; ++i) {
    merge::Loaded loaded(read_file(files[i]));
    for (const ptx::Function& f : loaded.module->functions) {
      if (!f.is_entry) continue;
      const exec::Kernel& kernel = loaded.image.kernel(f.name);
      const merge::Plan plan = merge::predict(*loaded.module, kernel, merge::sm_90);
      std::printf("%s:%s%s\n", f.name.c_str(), merge::accesses_of(kernel, plan, counts_here).c_str(),
                  remarks(f, plan).c_str());
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
