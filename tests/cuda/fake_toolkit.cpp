// A library with machine code alone, as the toolkit's: the headers of two containers, and nothing in them.
#include <cstdint>

namespace {

struct Container {
  uint32_t magic = 0xba55ed50;
  uint16_t version = 1, header_bytes = 16;
  uint64_t content_bytes = 0;
};

}  // namespace

extern "C" {
__attribute__((section(".nv_fatbin"), visibility("default"))) extern const Container fake_containers[2];
const Container fake_containers[2] = {};
__attribute__((section(".nvFatBinSegment"), visibility("default"))) extern const uint32_t fake_segment[6];
const uint32_t fake_segment[6] = {0x466243b1, 1};
}
