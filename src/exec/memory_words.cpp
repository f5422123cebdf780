// See memory_words.hpp.
#include "exec/memory_words.hpp"

#include "exec/schedule.hpp"

namespace lanescope::exec {

std::string describe_bytes(const std::string& name, uint64_t offset, uint32_t width) {
  const std::string first = std::to_string(offset);
  std::string text =
      width == 1 ? "byte " + first : "bytes " + first + " to " + std::to_string(offset + width - 1);
  text += " of " + name;
  if (width > 1 && offset % width == 0) text += " (element " + std::to_string(offset / width) + ")";
  return text;
}

std::string describe_shared(const Kernel& kernel, uint64_t offset, uint32_t width) {
  const SharedVariable* found = nullptr;
  for (const SharedVariable& v : kernel.shared)
    if (v.offset <= offset && (v.dynamic || offset - v.offset < v.size)) found = &v;
  return found != nullptr ? describe_bytes(found->name, offset - found->offset, width)
                          : describe_bytes("shared memory", offset, width);
}

std::string describe_shared(const Kernel& kernel, uint64_t offset, uint32_t width, uint32_t rank,
                            const Warp& w) {
  return describe_shared(kernel, offset, width) +
         (w.block->rank == rank ? "" : " in block " + std::to_string(rank) + " of the cluster");
}

std::string describe_local(const Kernel& kernel, uint64_t offset, uint32_t width) {
  for (const LocalVariable& v : kernel.local_variables)
    if (v.offset <= offset && offset - v.offset < v.size)
      return describe_bytes(v.name, offset - v.offset, width);
  return describe_bytes("local memory", offset, width);
}

}  // namespace lanescope::exec
