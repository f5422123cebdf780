// See hardware_counters.hpp.
#include "cli/hardware_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/tools.hpp"
#include "cli/trial.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

/// The cells of a line of CSV, all of which are quoted.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t i = 0; i < line.size();) {
    std::string cell;
    if (line[i] == '"') ++i;
    for (; i < line.size(); ++i) {
      if (line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"')
        ++i;
      else if (line[i] == '"')
        break;
      cell += line[i];
    }
    cells.push_back(std::move(cell));
    i = std::min(line.find(',', i), line.size() - 1) + 1;
  }
  return cells;
}

/// "8,388,608"; nothing for what is no count, among them "8.388.608", as some languages have it, and "8.388",
/// which may be that of one of them.
std::optional<double> number_of(std::string text) {
  std::erase(text, ',');
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(value);
}

/// The first line that ncu marks as an error.
std::string error_in(std::string_view printed) {
  const size_t begin = printed.find("==ERROR== ");
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = printed.substr(begin + 10);
  return std::string(rest.substr(0, rest.find('\n')));
}

/// Adds these counters of what `ncu --csv --page raw` has printed, rows in the order of the launches. Returns
/// why that is not `runs` rows for each recording, in words; empty if it is.
std::string read_ncu_csv(std::string_view printed, const std::vector<Recorded>& recordings,
                         const std::vector<std::string>& names, uint32_t runs,
                         std::vector<Counters>& launches) {
  std::vector<std::string> head;
  size_t kernel_column = 0, rows = 0;
  while (!printed.empty()) {
    const size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.starts_with('"')) continue;  // ncu says how far it is
    const std::vector<std::string> cells = cells_of(line);
    if (head.empty()) {
      head = cells;
      const auto found = std::find(head.begin(), head.end(), "Kernel Name");
      if (found == head.end()) return "its table has no column of kernel names";
      kernel_column = static_cast<size_t>(found - head.begin());
      continue;
    }
    if (cells.size() != head.size() || cells.front().empty()) continue;  // the row of units
    const size_t recording = rows++ / runs;
    if (recording >= recordings.size()) return "it counted more launches than there were";
    if (cells[kernel_column] != recordings[recording].kernel)
      return fmt::format("it counted {} where {} ran", cells[kernel_column], recordings[recording].kernel);
    for (size_t i = kernel_column + 1; i < cells.size(); ++i)
      if (const auto value = number_of(cells[i]);
          value && std::find(names.begin(), names.end(), head[i]) != names.end())
        launches[recording][head[i]].push_back(*value);
  }
  const size_t expected = recordings.size() * runs;
  return rows == expected ? "" : fmt::format("it counted {} of {} launches", rows, expected);
}

}  // namespace

HardwareCounters read_counters(const std::vector<Recorded>& recordings,
                               const std::vector<std::vector<std::string>>& groups, uint32_t runs, int device,
                               std::chrono::seconds limit, const fs::path& scratch) {
  HardwareCounters result;
  result.launches.resize(recordings.size());
  if (recordings.empty()) return result;
  const fs::path ncu = find_tool("ncu", "LANESCOPE_NCU");
  if (ncu.empty()) {
    result.missing =
        "Nsight Compute (ncu) was not found (in LANESCOPE_NCU, PATH, CUDA_HOME, CUDA_PATH, /usr/local/cuda)";
    return result;
  }
  const fs::path log = scratch / "ncu.log", output = scratch / "ncu.output";
  for (const std::vector<std::string>& group : groups) {
    std::string names;
    for (const std::string& name : group) names += (names.empty() ? "" : ",") + name;
    // The clocks stay as they are: the machine may be somebody else's, too.
    std::vector<std::string> command{ncu.string(),
                                     "--csv",
                                     "--page",
                                     "raw",
                                     "--print-units",
                                     "base",
                                     "--print-kernel-base",
                                     "mangled",
                                     "--clock-control",
                                     "none",
                                     "--metrics",
                                     names,
                                     "--log-file",
                                     log.string(),
                                     fs::read_symlink("/proc/self/exe").string(),
                                     "replay",
                                     "--device",
                                     std::to_string(device),
                                     "--once",
                                     std::to_string(runs)};
    for (const Recorded& recording : recordings) command.push_back(recording.folder.string());
    std::error_code ignored;
    fs::remove(log, ignored);
    int status = 0;
    try {
      status = run_to_file(command, output, limit * (recordings.size() * runs + 1));
    } catch (const Error& error) {  // the measurements made so far are worth having
      result.missing = error.what();
      return result;
    }
    const std::string printed = read_if_readable(log).value_or("") + read_if_readable(output).value_or("");
    std::string why;
    if (printed.find("ERR_NVGPUCTRPERM") != std::string::npos)
      why =
          "this user may not read them (ERR_NVGPUCTRPERM). The driver's option "
          "NVreg_RestrictProfilingToAdminUsers=0 "
          "lets everybody; so does running as root";
    else if (std::string problem = read_ncu_csv(printed, recordings, group, runs, result.launches);
             !problem.empty())
      why = error_in(printed).empty() ? fmt::format("ncu ended with status {}: {}", status, problem)
                                      : "ncu: " + error_in(printed);
    if (!why.empty()) {
      result.missing = why;
      result.launches.assign(recordings.size(), {});
      return result;
    }
    for (const std::string& name : group)
      if (std::any_of(result.launches.begin(), result.launches.end(),
                      [&](Counters& launch) { return launch[name].size() != runs; })) {
        result.unknown.push_back(name);
        for (Counters& launch : result.launches) launch.erase(name);
      }
  }
  return result;
}

}  // namespace lanescope::cli
