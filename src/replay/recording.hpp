// A launch as it was recorded while the engine ran it: all that a GPU needs to run it again, and what must
// come out. A recording is a folder of files, so that another process can replay it: one whose addresses are
// still free where the engine's memory was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gpu/driver.hpp"

namespace lanescope::replay {

/// A piece of the device's memory: an allocation, or a variable of the module.
struct Piece {
  std::string name;      ///< "argument 0", "device memory #2"; of a variable as in the PTX
  uint64_t address = 0;  ///< in the engine; of a variable of no meaning to the GPU, which places its own
  uint64_t size = 0;     ///< bytes
  std::string element;   ///< "f32" …: what it holds an array of; empty where that is unknown
  /// Of variables: it holds addresses that the driver fills in (it is neither written nor compared); it still
  /// holds what the PTX initialises it with.
  bool has_addresses = false, is_initial = false;
  bool is_changed = false;  ///< by the launch
  uint64_t offset = 0;      ///< of its bytes in the files
};

struct Recording {
  std::string kernel;        ///< in the PTX
  std::string display_name;  ///< as the programmer wrote it
  gpu::Launch launch;
  std::vector<std::byte> parameters;        ///< as they lie in the kernel's .param space
  std::vector<uint32_t> parameter_offsets;  ///< of each in it
  std::vector<std::string> ptx;             ///< of one module; several are linked
  std::vector<Piece> allocations, variables;
  bool has_f32 = false, has_f64 = false;  ///< the kernel computes with them
  std::string stores;  ///< "f32" or "f64": all that it stores to global memory is that; empty: who knows
  bool has_tensor_maps = false;    ///< it uses some: where they lie, bytes are the engine's (exec::TensorMap)
  std::vector<std::string> notes;  ///< what a reader must know about the replay
  /// Why it cannot be replayed, in words; the rest but the names is then empty.
  std::string obstacle;
};

/// Throws lanescope::Error for what is no recording.
[[nodiscard]] Recording read(const std::filesystem::path& folder);

/// The bytes of all pieces before or after the launch, each at its offset.
class Contents {
 public:
  enum class When : uint8_t { before, after };
  Contents(const std::filesystem::path& folder, When when);
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;
  /// Throws lanescope::Error when the file is shorter.
  void read(void* to, uint64_t offset, uint64_t bytes) const;

 private:
  std::string path_;
  int file_;
};

/// Records the memory of one launch: made just before it, finished just after it.
class Capture {
 public:
  /// Writes the pieces as they are. `recording`: complete but for offsets and changes. What goes wrong here
  /// becomes the recording's obstacle.
  Capture(std::filesystem::path folder, Recording recording);
  /// Finds what has changed, writes that and the description. An `obstacle` that came up meanwhile is noted
  /// instead.
  void finish(const std::string& obstacle = "");
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  Recording recording_;
};

}  // namespace lanescope::replay
