// See capture.hpp.
#include "cuda/runtime/capture.hpp"

#include <algorithm>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr int mode_global = 0, mode_relaxed = 2;  ///< cudaStreamCaptureMode

/// What cudaThreadExchangeStreamCaptureMode sets.
int& mode_of_thread() {
  thread_local int mode = mode_global;
  return mode;
}

/// All captures of the process.
struct GoingOn {
  std::mutex mutex;
  std::unordered_set<Capture*> captures;
};
GoingOn& going_on() {
  static auto* all = new GoingOn;
  return *all;
}

/// Spoils the captures that are meant; `refusal` if there is one.
template <typename Meant>
Status refuse(Status refusal, bool spoils, Meant&& meant) {
  if (Runtime::get().captures == 0) return Status::success;
  Status status = Status::success;
  const std::lock_guard lock(going_on().mutex);
  for (Capture* capture : going_on().captures) {
    if (!meant(*capture)) continue;
    if (spoils) capture->invalid = true;
    status = refusal;
  }
  return status;
}

/// The legacy stream waits for all streams that do not say otherwise.
bool blocks_legacy_stream(const Capture& capture) {
  return std::any_of(capture.streams.begin(), capture.streams.end(),
                     [](const Stream* stream) { return (stream->flags & stream_non_blocking) == 0; });
}

void remove_stream(Stream& stream) {
  stream.capture.reset();
  stream.capture_tail.clear();
}

/// Ends it for all streams that take part.
void end(Capture& capture) {
  const std::lock_guard lock(going_on().mutex);
  going_on().captures.erase(&capture);
  --Runtime::get().captures;
  capture.origin = nullptr;
  const std::unordered_set<Stream*> streams = std::move(capture.streams);
  for (Stream* stream : streams) remove_stream(*stream);
}

/// Whether all that the streams which joined have done is waited for by the stream where the capture began.
bool is_joined(const Capture& capture) {
  std::unordered_set<const Node*> reached;
  std::vector<const Node*> open(capture.origin->capture_tail.begin(), capture.origin->capture_tail.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->needs.begin(), node->needs.end());
  }
  const auto all_reached = [&](const std::vector<Node*>& tail) {
    return std::all_of(tail.begin(), tail.end(), [&](const Node* node) { return reached.contains(node); });
  };
  return all_reached(capture.left) &&
         std::all_of(capture.streams.begin(), capture.streams.end(),
                     [&](const Stream* stream) { return all_reached(stream->capture_tail); });
}

Status begin_capture(Stream* handle, Graph* graph, int mode, Node* const* needs, size_t count) {
  return call([&](Runtime& runtime) {
    Stream* stream = nullptr;
    if (mode < 0 || mode > 2) return Status::invalid_value;
    const Status found = find_stream(runtime, handle, OnCaptured::is_ended, stream);
    if (found != Status::success) return found;
    if (stream == &runtime.legacy_stream) return Status::capture_unsupported;
    if (stream->capture != nullptr) return Status::illegal_state;
    static std::atomic<unsigned long long> next_id{1};
    auto capture = std::make_shared<Capture>();
    capture->owns_graph = graph == nullptr;
    capture->graph = graph != nullptr ? graph : new Graph;
    capture->mode = mode;
    capture->origin = stream;
    capture->thread = std::this_thread::get_id();
    capture->streams.insert(stream);
    capture->id = next_id++;
    const std::lock_guard lock(going_on().mutex);
    for (const Capture* other : going_on().captures)
      if (other->graph == capture->graph) return Status::illegal_state;
    stream->capture_tail.assign(needs, needs + count);
    stream->capture = capture;
    going_on().captures.insert(capture.get());
    ++runtime.captures;
    return Status::success;
  });
}

}  // namespace

Capture::~Capture() {
  if (owns_graph) delete graph;
}

Status refuse_while_capturing() {
  if (mode_of_thread() == mode_relaxed) return Status::success;
  return refuse(Status::capture_unsupported, true, [](const Capture& capture) {
    const bool is_mine = capture.thread == std::this_thread::get_id();
    const bool is_for_all = capture.mode == mode_global && mode_of_thread() == mode_global;
    return capture.mode != mode_relaxed && (is_mine || is_for_all);
  });
}

Status refuse_in_any_mode() {
  return refuse(Status::capture_unsupported, true, [](const Capture&) { return true; });
}

Status find_stream(Runtime& runtime, Stream* handle, OnCaptured captured, Stream*& out) {
  out = runtime.stream(handle);
  if (out == nullptr) return Status::invalid_resource_handle;
  if (out->context != nullptr && out->context->destroyed) return Status::context_is_destroyed;
  if (out == &runtime.legacy_stream)
    return refuse(Status::capture_implicit, captured != OnCaptured::is_asked, blocks_legacy_stream);
  if (out->capture == nullptr || captured == OnCaptured::is_asked || captured == OnCaptured::is_ended)
    return Status::success;
  if (captured == OnCaptured::is_recorded)
    return out->capture->invalid ? Status::capture_invalidated : Status::success;
  out->capture->invalid = true;
  return Status::capture_unsupported;
}

Status capture(Stream& stream, Work work) {
  Capture& capture = *stream.capture;
  if (capture.invalid) return Status::capture_invalidated;
  stream.capture_tail = {capture.graph->add(std::move(work), stream.capture_tail)};
  return Status::success;
}

Status spoil_if_failed(Stream& stream, Status status) {
  if (status != Status::success && stream.capture != nullptr) stream.capture->invalid = true;
  return status;
}

void leave_capture(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  if (capture->origin == &stream) return end(*capture);
  const std::lock_guard lock(going_on().mutex);
  capture->left.insert(capture->left.end(), stream.capture_tail.begin(), stream.capture_tail.end());
  capture->streams.erase(&stream);
  remove_stream(stream);
}

Status record_captured(Stream& stream, Event& event) {
  if (stream.capture->invalid) return Status::capture_invalidated;
  event.capture = stream.capture;
  event.capture_tail = stream.capture_tail;
  return Status::success;
}

Status wait_captured(Stream& stream, Event& event) {
  if (event.capture == nullptr) {
    if (*event.recorded_ns < 0 && event.ticket == nullptr) return Status::success;  // nothing to wait for
    // The stream is captured and waits for work outside of its graph.
    stream.capture->invalid = true;
    return Status::capture_isolation;
  }
  if (stream.capture == nullptr) {
    if (event.capture->origin == nullptr || event.capture->invalid) return Status::invalid_value;
    if (&stream == &Runtime::get().legacy_stream) {
      event.capture->invalid = true;
      return Status::capture_implicit;
    }
    stream.capture = event.capture;
    stream.capture_tail.clear();
    const std::lock_guard lock(going_on().mutex);
    stream.capture->streams.insert(&stream);
  } else if (stream.capture != event.capture) {
    stream.capture->invalid = event.capture->invalid = true;
    return Status::capture_merge;
  }
  for (Node* node : event.capture_tail)
    if (std::find(stream.capture_tail.begin(), stream.capture_tail.end(), node) == stream.capture_tail.end())
      stream.capture_tail.push_back(node);
  return Status::success;
}

Status refuse_captured(const Event& event, bool spoils) {
  if (event.capture == nullptr) return Status::success;
  if (event.capture->origin == nullptr || event.capture->invalid) return Status::invalid_value;
  if (spoils) event.capture->invalid = true;
  return Status::captured_event;
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaStreamBeginCapture(Stream* stream, int mode) {
  return begin_capture(stream, nullptr, mode, nullptr, 0);
}

LANESCOPE_CUDA_API Status cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph, Node* const* needs,
                                                        const void*, size_t count, int mode) {
  if (graph == nullptr || (needs == nullptr && count != 0)) return remember(Status::invalid_value);
  return begin_capture(stream, graph, mode, needs, count);
}

LANESCOPE_CUDA_API Status cudaStreamEndCapture(Stream* handle, Graph** out) {
  return with_stream(handle, OnCaptured::is_ended, [&](Runtime&, Stream& stream) {
    if (stream.capture == nullptr) return Status::illegal_state;
    const std::shared_ptr<Capture> capture = stream.capture;
    // Of a capture into a graph that there was before, nobody needs the handle.
    if (out == nullptr && capture->owns_graph && !capture->invalid) return Status::invalid_value;
    if (capture->origin != &stream) return spoil_if_failed(stream, Status::capture_unmatched);
    if (capture->mode != mode_relaxed && capture->thread != std::this_thread::get_id())
      return Status::capture_wrong_thread;
    const bool joined = is_joined(*capture);
    end(*capture);
    if (out != nullptr) *out = nullptr;
    if (capture->invalid) return Status::capture_invalidated;
    if (!joined) return Status::capture_unjoined;
    capture->owns_graph = false;
    if (out != nullptr) *out = capture->graph;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamIsCapturing(Stream* handle, int* status) {
  return cudaStreamGetCaptureInfo(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

LANESCOPE_CUDA_API Status cudaStreamGetCaptureInfo(Stream* handle, int* status, unsigned long long* id,
                                                   Graph** graph, Node* const** needs, const void** edges,
                                                   size_t* count) {
  return with_stream(handle, OnCaptured::is_asked, [&](Runtime&, Stream& stream) {
    if (status == nullptr) return Status::invalid_value;
    *status = stream.capture == nullptr ? 0 : stream.capture->invalid ? 2 : 1;
    if (stream.capture == nullptr) return Status::success;
    if (id != nullptr) *id = stream.capture->id;
    if (graph != nullptr) *graph = stream.capture->graph;
    if (needs != nullptr) *needs = stream.capture_tail.data();
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = stream.capture_tail.size();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamUpdateCaptureDependencies(Stream* handle, Node* const* needs, const void*,
                                                              size_t count, unsigned flags) {
  return with_stream(handle, OnCaptured::is_recorded, [&](Runtime&, Stream& stream) {
    if (stream.capture == nullptr) return Status::illegal_state;
    if (needs == nullptr && count != 0) return Status::invalid_value;
    if (flags == 1) stream.capture_tail.clear();  // set; otherwise add
    stream.capture_tail.insert(stream.capture_tail.end(), needs, needs + count);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr) return remember(Status::invalid_value);
  std::swap(mode_of_thread(), *mode);
  return in_context_of_device(Status::success);
}
