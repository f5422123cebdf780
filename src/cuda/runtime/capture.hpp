// The capture of streams into graphs: what is recorded, which calls are refused meanwhile, and which of those
// spoil the capture. Each of these rules was measured on an H100 under CUDA 13.0
// (tests/cuda/programs/captures.txt has 278 calls, each in 36 situations).
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "cuda/runtime/graph.hpp"

namespace lanescope::cuda {

/// A capture going on: one graph, fed by the stream where it began and those that joined through events.
struct Capture {
  Graph* graph = nullptr;
  bool owns_graph = true;    ///< until the capture ends
  int mode = 0;              ///< 0 global, 1 thread local, 2 relaxed
  Stream* origin = nullptr;  ///< nullptr once it has ended
  std::thread::id thread;
  std::unordered_set<Stream*> streams;
  std::vector<Node*> left;  ///< the last nodes of streams that were destroyed
  std::atomic<bool> invalid{false};
  unsigned long long id = 0;
  ~Capture();
};

/// What a call does with a captured stream.
enum class OnCaptured {
  is_asked,     ///< whether it is captured, which spoils nothing
  is_ended,     ///< it begins or ends a capture
  is_recorded,  ///< it may be made, unless the capture is spoilt
  is_refused,   ///< it may not be made, and spoils the capture
};
/// The stream of a handle. The legacy stream may not be used while one that it waits for is captured: that
/// spoils the capture, but for calls that ask about it.
[[nodiscard]] Status find_stream(Runtime& runtime, Stream* handle, OnCaptured captured, Stream*& out);

/// A call about a stream.
template <typename F>
Status with_stream(Stream* handle, OnCaptured captured, F&& body) {
  return call([&](Runtime& runtime) -> Status {
    Stream* stream = nullptr;
    const Status found = find_stream(runtime, handle, captured, stream);
    return found == Status::success ? body(runtime, *stream) : found;
  });
}

/// A call about what was submitted to a stream, which may not be captured.
template <typename F>
Status about_stream(Stream* handle, F&& body) {
  return with_stream(handle, OnCaptured::is_refused, [&](Runtime& runtime, Stream& stream) {
    const Status refused = refuse_while_capturing();
    return refused == Status::success ? body(runtime, stream) : refused;
  });
}

/// For what waits for the whole device, which no mode of captures allows: it spoils them all. (Other calls:
/// refuse_while_capturing, in runtime.hpp.)
[[nodiscard]] Status refuse_in_any_mode();

/// Adds work to the graph that the stream is captured into.
Status capture(Stream& stream, Work work);
/// Hands on what became of a call about a stream: what fails spoils the stream's capture.
Status spoil_if_failed(Stream& stream, Status status);
/// The stream takes no part any more; a capture that began there ends.
void leave_capture(Stream& stream);

/// cudaEventRecord and cudaStreamWaitEvent where a stream is captured: they carry the capture from stream to
/// stream.
Status record_captured(Stream& stream, Event& event);
Status wait_captured(Stream& stream, Event& event);
/// Of an event that was recorded while its stream was captured nothing can be told; asking for it spoils the
/// capture if it `spoils`.
[[nodiscard]] Status refuse_captured(const Event& event, bool spoils);

}  // namespace lanescope::cuda
