// Prints for each kernel of PTX files which loops are taken for unrolled ones, for comparing with what
// scripts/unrolled says of the machine code.
//   unrolled_loops FILE.ptx…
#include "exec/unrolled.hpp"

#include <cstdio>
#include <exception>

#include "base/files.hpp"
#include "ptx/module.hpp"

using namespace lanescope;

int main(int count, char** files) try {
  for (int i = 1; i < count; ++i) {
    const ptx::Module module = ptx::parse(read_file(files[i]), files[i]);
    for (const ptx::Function& f : module.functions)
      if (f.is_entry) std::printf("%s:%s\n", f.name.c_str(), exec::unrolled_labels(f).c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
