// A GPU of this machine, through the CUDA driver's library (libcuda), which is looked for when the program
// runs: building needs no CUDA, and machines without a GPU get an error that says what is missing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace lanescope::gpu {

/// There is no driver or GPU, or the GPU could not do what was asked. After a kernel has failed, the GPU does
/// nothing more for this process: `lost`.
class GpuError : public Error {
 public:
  explicit GpuError(const std::string& cause, bool is_lost = false) : Error(cause), lost(is_lost) {}
  bool lost;
};

/// The driver's assembler refused PTX; what() has what it says.
class RefusedPtx : public GpuError {
 public:
  using GpuError::GpuError;
};

/// How a grid is launched.
struct Launch {
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::array<uint32_t, 3> cluster{0, 0, 0};  ///< blocks of a cluster; zeros: none asked for
  uint32_t dynamic_shared = 0;               ///< bytes of a block
  bool cooperative = false;
};

/// The arguments of cuTensorMapEncodeTiled, in its order; enumerations by their numbers. With corners, those
/// of cuTensorMapEncodeIm2col: the box has channels and pixels then.
struct TensorMapArguments {
  int type = 0;
  uint32_t dimensions = 0;
  uint64_t address = 0;
  std::array<uint64_t, 5> sizes{};
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{}, element_strides{};
  int interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  bool has_corners = false;
  std::array<int, 3> lower{}, upper{};
};
/// CUtensorMap.
using TensorMapBytes = std::array<std::byte, 128>;

class Device;
struct Driver;

/// Bytes of the GPU's memory, given back at the end. Movable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  [[nodiscard]] uint64_t address() const { return address_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  friend class Device;
  void release();
  const Driver* driver_ = nullptr;
  uint64_t address_ = 0, size_ = 0;
  struct {
    uint64_t begin = 0, bytes = 0;
  } reserved_;  ///< the address range reserved for it; empty: a plain allocation
};

/// A kernel of a module that is loaded.
struct Function {
  void* handle = nullptr;
};

/// PTX, assembled and loaded; unloaded at the end. Movable.
class Module {
 public:
  Module() = default;
  Module(Module&& other) noexcept;
  Module& operator=(Module&& other) noexcept;
  ~Module();

  /// By its name in the PTX. Throws GpuError when there is none.
  [[nodiscard]] Function function(const std::string& name) const;
  /// Address and size (bytes) of a module variable; size 0 if there is none of this name.
  [[nodiscard]] std::pair<uint64_t, uint64_t> variable(const std::string& name) const;

 private:
  friend class Device;
  void release();
  const Driver* driver_ = nullptr;
  void* handle_ = nullptr;
};

/// The GPU, and its default stream, in which everything below happens in order. All member functions throw
/// GpuError.
class Device {
 public:
  /// What the assembler does by itself: optimise as far as it can.
  static constexpr unsigned full_optimisation = 4;

  /// Opens GPU `index`, counting from 0 as the driver does.
  explicit Device(int index = 0);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// "NVIDIA H200".
  [[nodiscard]] const std::string& name() const { return name_; }
  /// The newest CUDA that the driver knows: "13.0".
  [[nodiscard]] const std::string& cuda_version() const { return cuda_version_; }
  /// The name of its compute capability in the model: "sm_90".
  [[nodiscard]] const std::string& arch() const { return arch_; }
  /// A CUdevice_attribute, by its number in the driver API.
  [[nodiscard]] int attribute(int number) const;
  [[nodiscard]] int multiprocessors() const;
  [[nodiscard]] uint64_t l2_bytes() const;

  /// Assembles and loads PTX, linking several texts. Throws RefusedPtx with the assembler's log, GpuError
  /// where the driver cannot assemble any.
  [[nodiscard]] Module load(std::span<const std::string> ptx, unsigned optimisation = full_optimisation);
  [[nodiscard]] Module load(const std::string& ptx, unsigned optimisation = full_optimisation) {
    return load(std::span(&ptx, 1), optimisation);
  }

  /// Fresh memory of undefined contents.
  [[nodiscard]] Buffer allocate(uint64_t bytes);
  /// Memory at a given address (both rounded to the driver's pages), so that pointers that were made
  /// elsewhere mean the same here. Throws GpuError when the addresses, up to multiples of 64 MiB on both
  /// sides, are not free in this process.
  [[nodiscard]] Buffer allocate_at(uint64_t address, uint64_t bytes);

  /// A tensor map as this driver's GPUs read it.
  [[nodiscard]] TensorMapBytes encode(const TensorMapArguments& arguments) const;

  void write(uint64_t to, const void* from, uint64_t bytes);
  void read(void* to, uint64_t from, uint64_t bytes);
  void copy(uint64_t to, uint64_t from, uint64_t bytes);  ///< inside the GPU; returns at once
  void fill(uint64_t to, uint8_t value, uint64_t bytes);

  /// Puts a launch into the stream. `parameters`: where the value of each of the kernel's parameters lies.
  /// More dynamic shared memory than 48 KiB and clusters of more than 8 blocks are asked for.
  void launch(Function kernel, const Launch& launch, std::span<const void* const> parameters);
  /// Until everything in the stream is done. Throws GpuError (lost) when a kernel has failed or `limit` is
  /// over.
  void wait(std::chrono::milliseconds limit = std::chrono::minutes(10));

  /// Seconds that the GPU needs for what `work` puts into the stream, from events before and behind it.
  /// `limit`: as of wait().
  template <class Work>
  [[nodiscard]] double seconds_of(Work&& work, std::chrono::milliseconds limit) {
    record(0);
    work();
    record(1);
    wait(limit);
    return elapsed();
  }

 private:
  void record(int which);
  double elapsed();

  const Driver* driver_;
  int device_ = 0;
  std::string name_, cuda_version_, arch_;
  std::array<void*, 2> events_{};
};

}  // namespace lanescope::gpu
