// See options.hpp.
#include "cuda/runtime/options.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "cuda/runtime/message.hpp"
#include "lanescope/model/archs.hpp"
#include "profile/checks.hpp"

namespace lanescope::cuda {
namespace {

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

template <typename T>
void read_number(const char* name, T& value) {
  const char* text = variable(name);
  if (text == nullptr) return;
  T read{};
  const char* last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, read);
  if (error != std::errc() || end != last) {
    say(std::string(name) + "='" + text + "' is no number and is ignored");
    return;
  }
  value = read;
}

}  // namespace

Options read_options() {
  Options options;
  if (const char* arch = variable("LANESCOPE_ARCH")) {
    if (model::find_arch(arch) != nullptr)
      options.arch = arch;
    else
      say(std::string("LANESCOPE_ARCH='") + arch + "' is no known architecture; running as " + options.arch);
  }
  read_number("LANESCOPE_BANK_MODE", options.bank_mode);
  if (const char* report = variable("LANESCOPE_REPORT")) {
    // Without LANESCOPE_FOLLOW_CHILDREN, this one process reports.
    const char* process = variable("LANESCOPE_PROCESS");
    options.follow_children = variable("LANESCOPE_FOLLOW_CHILDREN") != nullptr;
    if (process == nullptr || options.follow_children || std::to_string(getpid()) == process)
      options.report = report;
  }
  options.count = variable("LANESCOPE_NO_COUNT") == nullptr;
  options.merge = variable("LANESCOPE_NO_MERGE") == nullptr;
  if (const char* checks = variable("LANESCOPE_CHECK")) {
    try {
      options.checks = profile::parse_checks(checks, arch_of(options));
    } catch (const Error& error) {
      say(std::string("LANESCOPE_CHECK is ignored: ") + error.what());
    }
  }
  options.poison_shared = variable("LANESCOPE_POISON_SHARED") != nullptr;
  read_number("LANESCOPE_THREADS", options.threads);
  if (const char* pattern = variable("LANESCOPE_KERNEL")) {
    try {
      options.kernels.emplace(pattern, std::regex::ECMAScript | std::regex::optimize);
      options.kernel_pattern = pattern;
    } catch (const std::regex_error& error) {
      say(std::string("LANESCOPE_KERNEL='") + pattern +
          "' is no regular expression and is ignored: " + error.what());
    }
  }
  options.assemble = variable("LANESCOPE_ASSEMBLE") != nullptr;
  options.each_launch = variable("LANESCOPE_EACH_LAUNCH") != nullptr;
  read_number("LANESCOPE_LAUNCH_SKIP", options.launch_skip);
  read_number("LANESCOPE_LAUNCH_COUNT", options.launch_count);
  read_number("LANESCOPE_SAMPLE_BLOCKS", options.sample_blocks);
  if (const char* folder = variable("LANESCOPE_RECORDINGS")) options.recordings = folder;
  return options;
}

model::Arch arch_of(const Options& options) {
  const model::Arch* arch = model::find_arch(options.arch);
  return model::with_bank_mode(*arch, options.bank_mode);
}

}  // namespace lanescope::cuda
