// Hardware counters of recorded launches, read by Nsight Compute (ncu), which is looked for and need not be
// there.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lanescope::cli {

/// Of one recorded launch: by the counter's name, the value of each of several launches.
using Counters = std::map<std::string, std::vector<double>>;

struct Recorded {
  std::filesystem::path folder;
  std::string kernel;  ///< as in the PTX
};

struct HardwareCounters {
  std::string missing;               ///< in words, why there are none
  std::vector<Counters> launches;    ///< one for each recording, empty where `missing` says why
  std::vector<std::string> unknown;  ///< counters that ncu has no number of ("n/a"), in no launch then
};

/// Launches each recording `runs` times under ncu, once for each group of counters: those of a group are, if
/// the chip has room, counted in one pass. ncu is looked for in LANESCOPE_NCU (its path), in PATH, in the
/// folder bin of CUDA_HOME and CUDA_PATH, and in /usr/local/cuda. It may take `limit` for each launch, and
/// once more to begin with. `scratch`: a folder for what it prints.
[[nodiscard]] HardwareCounters read_counters(const std::vector<Recorded>& recordings,
                                             const std::vector<std::vector<std::string>>& groups,
                                             uint32_t runs, int device, std::chrono::seconds limit,
                                             const std::filesystem::path& scratch);

}  // namespace lanescope::cli
