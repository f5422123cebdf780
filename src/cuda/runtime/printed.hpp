// What kernels print. It appears when the program waits for them, before the next kernel or host function of
// a stream, or when there is much of it, as on a GPU (CUDA C++ Programming Guide, "Formatted Output"): so it
// lies in the output of the program where it does there.
#pragma once

#include <mutex>
#include <string>

namespace lanescope::cuda {

class Printed {
 public:
  void add(const std::string& text);
  /// To standard output. Whether there was anything.
  bool flush();
  /// The same at the end of the process, with a word: a GPU's is lost then.
  void flush_at_end();
  /// What a parent has printed is not the child's.
  void forget();

 private:
  std::mutex mutex_;
  std::string text_;
};

/// The process's. Never destroyed: kernels may run in the last destructors.
Printed& printed();

}  // namespace lanescope::cuda
