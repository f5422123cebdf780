// The reader of fat binaries against foreign bytes: any bytes give images that lie inside them, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "cuda/fatbin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lanescope;
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  try {
    const auto images = cuda::read_fat_binary({begin, size}, "fuzz");
    for (const cuda::FatImage& image : images) {
      if (image.payload.data() < begin || image.payload.data() + image.payload.size() > begin + size)
        std::abort();
      try {
        (void)cuda::content_of(image, "fuzz");
      } catch (const Error&) {
      }
    }
    (void)cuda::ptx_for(images, "sm_90", "fuzz");
  } catch (const Error&) {
  }
  return 0;
}
