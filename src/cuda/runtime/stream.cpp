// Streams, events and host functions. Work is done when it is submitted, so that there is nothing to wait for
// but kernels that wait for the host, and what comes after them (backlog.hpp); event times are those of the
// host's monotonic clock.
#include <chrono>

#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/graph.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr unsigned non_blocking = 1;                       // cudaStreamNonBlocking
constexpr unsigned disable_timing = 2;                     // cudaEventDisableTiming
constexpr int least_priority = 0, greatest_priority = -5;  // as an H200 has them

std::atomic<unsigned long long> next_stream_id{13};  // 1 and 2 are the legacy and the per-thread stream

}  // namespace

Stream* Runtime::stream(Stream* handle) {
  if (handle == nullptr || handle == legacy_handle()) return &legacy_stream;
  if (handle == per_thread_handle()) {
    thread_local Stream own;
    own.id = 2;
    return &own;
  }
  const std::shared_lock lock(mutex);
  return streams.contains(handle) ? handle : nullptr;
}

void record(Event& event) {
  event.capture.reset();
  event.capture_tail.clear();
  *event.recorded_ns = now_ns();
  if (event.ticket == nullptr) return;
  const std::unique_lock lock(Runtime::get().mutex);
  event.ticket.reset();
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

bool is_event(Runtime& runtime, Event* event) {
  const std::shared_lock lock(runtime.mutex);
  return runtime.events.contains(event);
}

/// A call about what was submitted to a stream, which may not be captured.
template <typename F>
Status about_stream(Stream* handle, F&& body) {
  return call([&](Runtime& runtime) {
    Stream* stream = runtime.stream(handle);
    if (stream == nullptr) return Status::invalid_resource_handle;
    const Status refused = refuse_capture(*stream);
    return refused != Status::success ? refused : body(runtime, *stream);
  });
}

Status create_stream(Stream** out, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || (flags & ~non_blocking) != 0) return Status::invalid_value;
    auto* stream = new Stream;
    stream->flags = flags;
    stream->priority = std::min(least_priority, std::max(greatest_priority, priority));
    stream->id = next_stream_id++;
    const std::unique_lock lock(runtime.mutex);
    runtime.streams.insert(stream);
    *out = stream;
    return Status::success;
  });
}

template <typename F>
Status with_stream(Stream* handle, F&& body) {
  return call([&](Runtime& runtime) {
    Stream* stream = runtime.stream(handle);
    if (stream == nullptr) return Status::invalid_resource_handle;
    body(*stream);
    return Status::success;
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaStreamCreate(Stream** out) { return create_stream(out, 0, 0); }

LANESCOPE_CUDA_API Status cudaStreamCreateWithFlags(Stream** out, unsigned flags) {
  return create_stream(out, flags, 0);
}

LANESCOPE_CUDA_API Status cudaStreamCreateWithPriority(Stream** out, unsigned flags, int priority) {
  return create_stream(out, flags, priority);
}

LANESCOPE_CUDA_API Status cudaStreamDestroy(Stream* stream) {
  return call([&](Runtime& runtime) {
    const std::unique_lock lock(runtime.mutex);
    if (runtime.streams.erase(stream) == 0) return Status::invalid_resource_handle;
    runtime.backlogs->forget(*stream);
    delete stream;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamSynchronize(Stream* handle) {
  return about_stream(handle, [](Runtime& runtime, Stream& stream) { return runtime.wait_for(stream); });
}

LANESCOPE_CUDA_API Status cudaStreamQuery(Stream* handle) {
  return about_stream(handle, [](Runtime& runtime, Stream& stream) {
    return runtime.is_done(stream) ? Status::success : Status::not_ready;
  });
}

LANESCOPE_CUDA_API Status cudaStreamGetFlags(Stream* handle, unsigned* flags) {
  if (flags == nullptr) return remember(Status::invalid_value);
  return with_stream(handle, [&](const Stream& stream) { *flags = stream.flags; });
}

LANESCOPE_CUDA_API Status cudaStreamGetPriority(Stream* handle, int* priority) {
  if (priority == nullptr) return remember(Status::invalid_value);
  return with_stream(handle, [&](const Stream& stream) { *priority = stream.priority; });
}

LANESCOPE_CUDA_API Status cudaStreamGetId(Stream* handle, unsigned long long* id) {
  if (id == nullptr) return remember(Status::invalid_value);
  return with_stream(handle, [&](const Stream& stream) { *id = stream.id; });
}

LANESCOPE_CUDA_API Status cudaStreamGetDevice(Stream* handle, int* device) {
  if (device == nullptr) return remember(Status::invalid_value);
  return with_stream(handle, [&](const Stream&) { *device = 0; });
}

LANESCOPE_CUDA_API Status cudaStreamSetAttribute(Stream* stream, int id,
                                                 const LaunchAttribute::Value* value) {
  if (value == nullptr) return remember(Status::invalid_value);
  return with_stream(stream, [&](Stream& of) {
    if (id == LaunchAttribute::priority)
      of.priority = value->number;
    else
      of.attributes[id] = *value;
  });
}

LANESCOPE_CUDA_API Status cudaStreamGetAttribute(Stream* stream, int id, LaunchAttribute::Value* value) {
  if (value == nullptr) return remember(Status::invalid_value);
  return with_stream(stream, [&](const Stream& of) {
    const auto found = of.attributes.find(id);
    *value = found != of.attributes.end() ? found->second : LaunchAttribute::Value{};
    if (id == LaunchAttribute::priority) value->number = of.priority;
  });
}

LANESCOPE_CUDA_API Status cudaStreamCopyAttributes(Stream* target, Stream* source) {
  decltype(Stream::attributes) attributes;
  int priority = 0;
  const Status status = with_stream(source, [&](const Stream& from) {
    attributes = from.attributes;
    priority = from.priority;
  });
  if (status != Status::success) return status;
  return with_stream(target, [&](Stream& to) {
    to.attributes = attributes;
    to.priority = priority;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = least_priority;
  if (greatest != nullptr) *greatest = greatest_priority;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  return call([&](Runtime& runtime) {
    if (!is_event(runtime, event)) return Status::invalid_resource_handle;
    Stream* waits = runtime.stream(stream);
    if (waits == nullptr) return Status::invalid_resource_handle;
    if (event->capture != nullptr || waits->capture != nullptr) return wait_captured(*waits, *event);
    return runtime.submit(stream, WaitWork{event});
  });
}

LANESCOPE_CUDA_API Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  return call([&](Runtime& runtime) {
    if (function == nullptr) return Status::invalid_value;
    return runtime.submit(stream, HostWork{function, nullptr, nullptr, data});
  });
}

LANESCOPE_CUDA_API Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data,
                                                unsigned flags) {
  return call([&](Runtime& runtime) {
    if (callback == nullptr || flags != 0) return Status::invalid_value;
    return runtime.submit(stream, HostWork{nullptr, callback, stream, data});
  });
}

LANESCOPE_CUDA_API Status cudaEventCreateWithFlags(Event** out, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || flags > 7) return Status::invalid_value;
    auto* event = new Event;
    event->flags = flags;
    const std::unique_lock lock(runtime.mutex);
    runtime.events.insert(event);
    *out = event;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaEventCreate(Event** out) { return cudaEventCreateWithFlags(out, 0); }

LANESCOPE_CUDA_API Status cudaEventDestroy(Event* event) {
  return call([&](Runtime& runtime) {
    const std::unique_lock lock(runtime.mutex);
    if (runtime.events.erase(event) == 0) return Status::invalid_resource_handle;
    delete event;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (!is_event(runtime, event)) return Status::invalid_resource_handle;
    Stream* records = runtime.stream(stream);
    if (records == nullptr) return Status::invalid_resource_handle;
    const bool external = (flags & 1) != 0;
    if (records->capture != nullptr && !external) return record_captured(*records, *event);
    return runtime.submit(stream, RecordWork{event});
  });
}

LANESCOPE_CUDA_API Status cudaEventRecord(Event* event, Stream* stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

namespace {
template <typename F>
Status about_event(Event* event, F&& body) {
  return call([&](Runtime& runtime) {
    if (!is_event(runtime, event)) return Status::invalid_resource_handle;
    return event->capture != nullptr ? Status::captured_event : body(runtime);
  });
}
}  // namespace

LANESCOPE_CUDA_API Status cudaEventQuery(Event* event) {
  return about_event(
      event, [&](Runtime& runtime) { return runtime.is_done(*event) ? Status::success : Status::not_ready; });
}

LANESCOPE_CUDA_API Status cudaEventSynchronize(Event* event) {
  return about_event(event, [&](Runtime& runtime) { return runtime.wait_for(*event); });
}

LANESCOPE_CUDA_API Status cudaEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  return call([&](Runtime& runtime) {
    if (milliseconds == nullptr) return Status::invalid_value;
    if (!is_event(runtime, start) || !is_event(runtime, end)) return Status::invalid_resource_handle;
    if (!runtime.is_done(*start) || !runtime.is_done(*end)) return Status::not_ready;
    if (((start->flags | end->flags) & disable_timing) != 0 || *start->recorded_ns < 0 ||
        *end->recorded_ns < 0)
      return Status::invalid_resource_handle;
    *milliseconds = static_cast<float>(static_cast<double>(*end->recorded_ns - *start->recorded_ns) * 1e-6);
    return Status::success;
  });
}
