// What one of the toolkit's libraries (cuBLAS, …) does for a program. Theirs are machine code; ours, of the
// same names (src/cuda/libraries), let the host do it, as work of the stream that the program gave them.
#pragma once

#include <cstdint>
#include <string>

#include "cuda/runtime/api.hpp"

namespace lanescope::cuda {

struct Stream;

/// The memory of the device, for a call that runs.
class LibraryMemory {
 public:
  /// Whether the device may read these bytes, or write them. If not, the program has made the mistake of a
  /// kernel that goes there: it is told at once, of the argument `what`, and later calls of CUDA fail.
  virtual bool reach(const char* what, const void* first, uint64_t bytes, bool write) = 0;
  /// The same mistake, found otherwise: `defect` goes on after the function's name.
  virtual void fail(const std::string& defect) = 0;

 protected:
  ~LibraryMemory() = default;
};

class LibraryCall {
 public:
  virtual ~LibraryCall() = default;
  /// The function of the library, for messages and the report.
  [[nodiscard]] virtual const char* name() const = 0;
  /// Once, or as often as the graph runs that it became a node of.
  virtual void run(LibraryMemory& memory) const = 0;
};

}  // namespace lanescope::cuda

/// Gives a stream this work, which it owns from now on.
LANESCOPE_CUDA_API lanescope::cuda::Status lanescope_submit(lanescope::cuda::Stream* stream,
                                                            const lanescope::cuda::LibraryCall* call);
/// One line on stderr.
LANESCOPE_CUDA_API void lanescope_say(const char* text);
