// Runs kernels of a PTX file on the CPU and tells what their accesses cost: for tests of kernels.
//
//   std::vector<float> out(64 * 64), in(64 * 64, 1.0f);
//   const lanescope::Profile profile = lanescope::run(
//       {.ptx = "transpose.ptx", .kernel = "transpose", .grid = {2, 2}, .block = {32, 8}}, out, in, 64, 64);
//   assert(profile.conflict_free() && out == expected);
//
// Needs lanescope::lanescope to be linked. gtest.hpp has matchers for GoogleTest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lanescope {

struct Size {
  uint32_t x = 1, y = 1, z = 1;
};

/// Which kernel runs, and how. `nvcc -ptx -lineinfo` makes the PTX file.
struct KernelLaunch {
  std::string ptx;       ///< a file
  std::string kernel{};  ///< by its name in the PTX or in the program, with or without its argument list
  Size grid{}, block{};
  uint32_t shared_bytes = 0;   ///< dynamic shared memory of a block
  std::string arch = "sm_90";  ///< whose rules count: sm_10 … sm_121, gfx942 …
  uint32_t threads = 0;        ///< of the host; 0: all cores
  Size cluster{0, 0, 0};       ///< blocks of a cluster; 0: as the kernel was compiled, or one
  /// What to look for besides, as `lanescope run --check` has it: "race", "init", "barrier", "bounds",
  /// several with commas, or "all". Profile::findings() says what was found.
  std::string checks{};
  /// Accesses count as the assembler merges them (docs/merging.md); false: as the PTX has them.
  bool merge = true;
};

/// What one source line did in one way to one variable.
struct ProfileLine {
  std::string file;
  uint32_t line = 0;
  std::string op;        ///< "ld.shared"
  std::string variable;  ///< of shared memory
  uint64_t requests = 0;
  uint64_t wavefronts = 0, ideal = 0;       ///< shared memory
  uint32_t max_way = 0;                     ///< shared memory
  uint64_t sectors = 0, sectors_ideal = 0;  ///< global and local memory
  std::string source;                       ///< the line's text, where the file was found
  std::string why;                          ///< in words, why it costs more than the ideal
};

/// What a launch cost. docs/report.md explains the words.
class Profile {
 public:
  [[nodiscard]] const std::string& kernel() const;
  /// False when the kernel did what ends it on a GPU (an access out of bounds, a deadlock): findings() says
  /// what. What checks find alone (KernelLaunch::checks) leaves it true.
  [[nodiscard]] bool ok() const;
  /// In words, one entry each, with their places.
  [[nodiscard]] const std::vector<std::string>& findings() const;
  /// Changes of the source that would take bank conflicts away, best first: in words, with the reason and
  /// what each would bring and cost.
  [[nodiscard]] const std::vector<std::string>& advice() const;

  /// Why the numbers below are not those of all accesses, as may be of launches that were saved: not counted,
  /// counted in some blocks only, or what tcgen05 reads of shared memory is not. Empty where they are.
  [[nodiscard]] std::string not_counted() const;

  // What is not known is not so.
  /// Every access to shared memory takes the fewest wavefronts it can.
  [[nodiscard]] bool conflict_free() const;
  /// Every access to global memory touches no more sectors than its bytes fill.
  [[nodiscard]] bool coalesced() const;
  /// No branch parts the lanes of a warp.
  [[nodiscard]] bool uniform() const;

  [[nodiscard]] uint64_t wavefronts() const;  ///< of shared memory, as the next three
  [[nodiscard]] uint64_t ideal_wavefronts() const;
  [[nodiscard]] uint64_t conflicts() const { return wavefronts() - ideal_wavefronts(); }
  [[nodiscard]] uint32_t max_way() const;
  [[nodiscard]] uint64_t sectors() const;  ///< of global memory, as the next one
  [[nodiscard]] uint64_t ideal_sectors() const;
  [[nodiscard]] double warp_efficiency() const;    ///< active lanes of 32 for each warp instruction: 0 to 1
  [[nodiscard]] double branch_efficiency() const;  ///< branch executions whose lanes stay together: 0 to 1
  /// A counter by the name that Nsight Compute or nvprof has for it (docs/metrics.md). Throws
  /// std::runtime_error for unknown names.
  [[nodiscard]] double metric(const std::string& name) const;

  /// Worst first; shared, then global, then local memory.
  [[nodiscard]] const std::vector<ProfileLine>& lines() const;
  /// The report as text, as `lanescope run` prints it, and as JSON.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;

  struct Data;
  explicit Profile(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const Data> data_;
};

/// The launches of a report that `lanescope run --format json` saved, of a program for example. Throws
/// std::runtime_error when the file is none.
[[nodiscard]] std::vector<Profile> read_profiles(const std::string& path);

/// An argument of a kernel: a value, or memory that the kernel works on in a copy and that is written back.
struct Argument {
  const void* bytes = nullptr;
  size_t size = 0;
  void* write_back = nullptr;  ///< null: a value, or memory that is only read
  bool is_memory = false;
};

namespace detail {

template <class T>
Argument argument_of(T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "a kernel takes values, std::vectors and nothing else");
  return {&value, sizeof(T), nullptr, false};
}
template <class T>
Argument argument_of(std::vector<T>& memory) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  return {memory.data(), memory.size() * sizeof(T), memory.data(), true};
}
template <class T>
Argument argument_of(const std::vector<T>& memory) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  return {memory.data(), memory.size() * sizeof(T), nullptr, true};
}

}  // namespace detail

/// Runs the kernel. Throws std::runtime_error for what cannot run: no such file, kernel, architecture or
/// check, a shape that cannot be launched, arguments of other numbers or sizes than the kernel's parameters.
[[nodiscard]] Profile run_with(const KernelLaunch& launch, const std::vector<Argument>& arguments);

/// The same with arguments as a launch has them, in their order: vectors for pointers, and values.
template <class... Arguments>
[[nodiscard]] Profile run(const KernelLaunch& launch, Arguments&&... arguments) {
  return run_with(launch, {detail::argument_of(arguments)...});
}

}  // namespace lanescope
