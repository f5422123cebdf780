// Whole files, and folders for files of our own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace lanescope {

/// All bytes of a file (also of one without a size: a pipe, /proc). Throws Error with the path and the
/// system's reason.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// The same; nothing, and the reason in errno, where it cannot be read.
[[nodiscard]] std::optional<std::string> read_if_readable(const std::filesystem::path& path);

/// A folder for files of our own where the system keeps temporary ones; removed at the end with all that is
/// in it.
class ScratchFolder {
 public:
  /// Throws Error where none can be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lanescope
