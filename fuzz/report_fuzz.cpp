// The reader of saved reports against foreign bytes: any text gives a report or an error with a place,
// nothing else. A report that was read is written, shown and read again: the text is the same, so nothing was
// lost.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "report/formats.hpp"
#include "report/json.hpp"
#include "report/read.hpp"
#include "report/text.hpp"

using namespace lanescope;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  report::Report report;
  try {
    report = report::from_json(text, "fuzz.json");
  } catch (const Error& error) {
    if (error.place().file != "fuzz.json") std::abort();
    return 0;
  }
  const std::string written = report::to_json(report);
  if (report::to_json(report::from_json(written, "fuzz.json")) != written) std::abort();
  (void)report::to_text(report, {});
  (void)report::to_sarif(report);
  (void)report::to_annotations(report);
  (void)report::to_junit(report);
  return 0;
}
