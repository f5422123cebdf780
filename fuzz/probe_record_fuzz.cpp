// Records of `lanescope probe` against foreign bytes: any text gives a result that can be shown, or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "probe/words.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it by this name
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lanescope::probe;
  try {
    Record record = read_record({reinterpret_cast<const char*>(data), size}, "fuzz");
    Recorded timer(record.lanes, std::move(record.measurements));
    const Result result = probe(timer);
    (void)to_table(record.chip, result, nullptr, true);
    (void)to_code(record.chip, result);
    (void)to_json(record.chip, result);
  } catch (const lanescope::Error&) {  // what it is for
  }
  return 0;
}
