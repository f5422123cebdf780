// Words for places in memory, as findings have them: "bytes 4 to 7 of tile (element 1)".
#pragma once

#include <cstdint>
#include <string>

#include "exec/program.hpp"

namespace lanescope::exec {

/// Bytes of what has this name. Its elements are taken to be as wide as what is accessed.
[[nodiscard]] std::string describe_bytes(const std::string& name, uint64_t offset, uint32_t width);
/// Bytes at an offset in a block's shared memory; of the block with this rank, as the warp is to be told of
/// it.
[[nodiscard]] std::string describe_shared(const Kernel& kernel, uint64_t offset, uint32_t width);
[[nodiscard]] std::string describe_shared(const Kernel& kernel, uint64_t offset, uint32_t width,
                                          uint32_t rank, const Warp& w);
/// In a lane's local memory.
[[nodiscard]] std::string describe_local(const Kernel& kernel, uint64_t offset, uint32_t width);

}  // namespace lanescope::exec
