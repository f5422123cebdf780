// The code of `lanescope explain` against foreign bytes: any text gives requests or an error, nothing else.
// Every request lies in its array, as whole aligned accesses.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "code/code.hpp"

namespace {

using namespace lanescope;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const code::CodeRun& run) {
  for (const code::CodeAccess& access : run.accesses) require(access.array < run.arrays.size());
  for (const code::CodeRequest& made : run.requests) {
    require(made.access < run.accesses.size() && made.step < run.steps.size());
    const code::CodeArray& array = run.arrays[run.accesses[made.access].array];
    const auto width = static_cast<uint64_t>(made.request.width);
    require(made.request.mask != 0 && std::has_single_bit(width) && width <= 16);
    for (int lane = 0; lane < made.request.lanes; ++lane) {
      if ((made.request.mask >> lane & 1) == 0) continue;
      const uint64_t address = made.request.address[lane];
      require(address >= array.begin && address + width <= uint64_t{array.begin} + array.bytes);
      require(address % width == 0);
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  code::CodeLaunch launch;
  launch.block = {8, 5, 1};
  launch.most_operations = uint64_t{1} << 12;
  try {
    const code::Code code = code::parse_code(std::string(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const int lanes : {32, 64}) {
      launch.warp_lanes = lanes;
      check(code::run_code(code, launch));
    }
  } catch (const Error& error) {
    require(error.place().file == "fuzz");
  }
  return 0;
}
