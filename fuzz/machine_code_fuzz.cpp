// The reader of PTX in machine code against foreign bytes: any bytes give texts, or an error.
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"
#include "cuda/machine_code.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lanescope;
  try {
    (void)cuda::ptx_in_machine_code({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  } catch (const Error&) {
  }
  return 0;
}
