// Where a report goes: standard output or a file.
#pragma once

#include <string>
#include <string_view>

namespace lanescope::cli {

/// Whether `path`, as given with -o, names a file; none and `-` are standard output.
[[nodiscard]] inline bool is_file(const std::string& path) { return !path.empty() && path != "-"; }

/// Throws lanescope::Error with the file and the system's reason if it cannot be written, as far as can be
/// known without writing: for before what takes long.
void check_output(const std::string& path);

/// Throws lanescope::Error with the file and the system's reason if it cannot be written.
void write_output(const std::string& path, std::string_view content);

}  // namespace lanescope::cli
