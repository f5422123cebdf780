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
  /// Whether this belongs to the call before, which the report has.
  [[nodiscard]] virtual bool goes_on() const { return false; }
  /// Once, or as often as the graph runs that it became a node of.
  virtual void run(LibraryMemory& memory) const = 0;
};

/// What host code that is no library reads or writes of the device's memory.
struct HostRange {
  const char* what;  ///< the argument's name, for messages
  const void* first;
  uint64_t bytes;
  int writes;  ///< 1: it may be written, too
};

}  // namespace lanescope::cuda

/// Gives a stream this work, which it owns from now on.
LANESCOPE_CUDA_API lanescope::cuda::Status lanescope_submit(lanescope::cuda::Stream* stream,
                                                            const lanescope::cuda::LibraryCall* call);
/// For host code that works on the device's memory by itself, in the order of a stream: waits for what is in
/// it, and has all that the code will read or write looked at as for a LibraryCall; `name` and `goes_on` are
/// those of one. Where not all may be reached, or something failed before, the status is an error, and
/// nothing may be done.
LANESCOPE_CUDA_API lanescope::cuda::Status lanescope_reach(lanescope::cuda::Stream* stream, const char* name,
                                                           int goes_on,
                                                           const lanescope::cuda::HostRange* ranges,
                                                           int count);
/// One line on stderr.
LANESCOPE_CUDA_API void lanescope_say(const char* text);
