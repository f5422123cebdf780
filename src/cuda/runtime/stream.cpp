// Streams, events and host functions. Work is done when it is submitted, so that there is nothing to wait for
// but kernels that wait for the host, and what comes after them (backlog.hpp); event times are those of the
// host's monotonic clock.
#include <chrono>
#include <initializer_list>
#include <utility>

#include "base/per_thread.hpp"
#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;  // as an H200 has them

std::atomic<unsigned long long> next_stream_id{13};  // 1 and 2 are the legacy and the per-thread stream

}  // namespace

Stream* Runtime::stream(Stream* handle) {
  if (handle == nullptr || handle == legacy_handle()) return &legacy_stream;
  if (handle == per_thread_handle()) {
    struct Own : Stream {
      Own() { id = 2; }
      ~Own() { leave_capture(*this); }
    };
    return &per_thread<Own>();
  }
  const std::shared_lock lock(mutex);
  return streams.contains(handle) ? handle : nullptr;
}

bool Runtime::is_event(const Event* event) const {
  const std::shared_lock lock(mutex);
  return events.contains(const_cast<Event*>(event));
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

constexpr unsigned external = 1;  ///< cudaEventRecordExternal and cudaEventWaitExternal

/// A call that records an event in a stream or makes the stream wait for it.
template <typename F>
Status with_event_in_stream(Stream* handle, const Event* event, unsigned flags, F&& body) {
  return with_stream(handle, OnCaptured::is_recorded, [&](Runtime& runtime, Stream& stream) {
    if (!runtime.is_event(event)) return Status::invalid_resource_handle;
    if (flags > external) return Status::invalid_value;
    if (flags == external && stream.capture == nullptr) return Status::illegal_state;
    return body(runtime, stream);
  });
}

/// A call that gives something of a stream.
template <typename T, typename F>
Status get(Stream* handle, OnCaptured captured, T* out, F&& value) {
  return with_stream(handle, captured, [&](Runtime&, const Stream& stream) {
    if (out == nullptr) return Status::invalid_value;
    *out = value(stream);
    return Status::success;
  });
}

Status create_stream(Stream** out, unsigned flags, int priority) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || (flags & ~stream_non_blocking) != 0) return Status::invalid_value;
    auto* stream = new Stream;
    stream->flags = flags;
    stream->priority = std::min(least_priority, std::max(greatest_priority, priority));
    stream->id = next_stream_id++;
    stream->context = current_context;
    const std::unique_lock lock(runtime.mutex);
    runtime.streams.insert(stream);
    *out = stream;
    return Status::success;
  });
}

bool is_of_streams(int attribute) {
  using Id = LaunchAttribute::Id;
  return attribute == Id::access_policy_window || attribute == Id::synchronization_policy ||
         attribute == Id::priority || attribute == Id::memory_domains || attribute == Id::memory_domain;
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
    {
      const std::unique_lock lock(runtime.mutex);
      if (runtime.streams.count(stream) == 0) return Status::invalid_resource_handle;
      if (stream->context != nullptr && stream->context->destroyed) return Status::context_is_destroyed;
      runtime.streams.erase(stream);
    }
    leave_capture(*stream);
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
  return get(handle, OnCaptured::is_refused, flags, [](const Stream& stream) { return stream.flags; });
}

LANESCOPE_CUDA_API Status cudaStreamGetPriority(Stream* handle, int* priority) {
  return get(handle, OnCaptured::is_recorded, priority, [](const Stream& stream) { return stream.priority; });
}

LANESCOPE_CUDA_API Status cudaStreamGetId(Stream* handle, unsigned long long* id) {
  return get(handle, OnCaptured::is_refused, id, [](const Stream& stream) { return stream.id; });
}

LANESCOPE_CUDA_API Status cudaStreamGetDevice(Stream* handle, int* device) {
  return get(handle, OnCaptured::is_refused, device, [](const Stream&) { return 0; });
}

LANESCOPE_CUDA_API Status cudaStreamSetAttribute(Stream* handle, int id,
                                                 const LaunchAttribute::Value* value) {
  return with_stream(handle, OnCaptured::is_recorded, [&](Runtime&, Stream& stream) {
    if (value == nullptr || !is_of_streams(id)) return Status::invalid_value;
    if (id == LaunchAttribute::synchronization_policy && !LaunchAttribute::is_policy(value->number))
      return Status::invalid_value;
    if (id == LaunchAttribute::priority)
      stream.priority = value->number;
    else
      stream.attributes[id] = *value;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamGetAttribute(Stream* handle, int id, LaunchAttribute::Value* value) {
  return with_stream(handle, OnCaptured::is_recorded, [&](Runtime&, const Stream& stream) {
    if (value == nullptr || !is_of_streams(id)) return Status::invalid_value;
    const auto found = stream.attributes.find(id);
    *value = found != stream.attributes.end() ? found->second : LaunchAttribute::Value{};
    if (id == LaunchAttribute::priority) value->number = stream.priority;
    if (id == LaunchAttribute::synchronization_policy && found == stream.attributes.end())
      value->number = -1;  // as an H100 has it
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaStreamCopyAttributes(Stream* target, Stream* source) {
  return with_stream(target, OnCaptured::is_recorded, [&](Runtime& runtime, Stream& to) {
    Stream* from = nullptr;
    const Status found = find_stream(runtime, source, OnCaptured::is_recorded, from);
    if (found != Status::success) return found;
    to.attributes = from->attributes;
    to.priority = from->priority;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = least_priority;
  if (greatest != nullptr) *greatest = greatest_priority;
  return in_context_of_device(Status::success);
}

LANESCOPE_CUDA_API Status cudaStreamWaitEvent(Stream* handle, Event* event, unsigned flags) {
  return with_event_in_stream(handle, event, flags, [&](Runtime& runtime, Stream& stream) {
    const bool captured = event->capture != nullptr || stream.capture != nullptr;
    if (captured && flags != external) return wait_captured(stream, *event);
    return runtime.submit(handle, WaitWork{event});
  });
}

LANESCOPE_CUDA_API Status cudaLaunchHostFunc(Stream* handle, HostFunction function, void* data) {
  if (function == nullptr) return remember(Status::invalid_value);
  return with_stream(handle, OnCaptured::is_recorded, [&](Runtime& runtime, Stream&) {
    return runtime.submit(handle, HostWork{function, nullptr, nullptr, data});
  });
}

/// Whether the GPU sleeps or spins until the function has returned changes nothing here.
LANESCOPE_CUDA_API Status cudaLaunchHostFunc_v2(Stream* handle, HostFunction function, void* data,
                                                unsigned /*how to wait*/) {
  return cudaLaunchHostFunc(handle, function, data);
}

LANESCOPE_CUDA_API Status cudaStreamAddCallback(Stream* handle, StreamCallback callback, void* data,
                                                unsigned flags) {
  if (callback == nullptr || flags != 0) return remember(Status::invalid_value);
  return with_stream(handle, OnCaptured::is_refused, [&](Runtime& runtime, Stream&) {
    return runtime.submit(handle, HostWork{nullptr, callback, handle, data});
  });
}

LANESCOPE_CUDA_API Status cudaEventCreateWithFlags(Event** out, unsigned flags) {
  return call([&](Runtime& runtime) {
    if (out == nullptr || flags > 7 ||
        (flags & (Event::disable_timing | Event::interprocess)) == Event::interprocess)
      return Status::invalid_value;
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

LANESCOPE_CUDA_API Status cudaEventRecordWithFlags(Event* event, Stream* handle, unsigned flags) {
  return with_event_in_stream(handle, event, flags, [&](Runtime& runtime, Stream& stream) {
    if (stream.capture != nullptr && flags != external) return record_captured(stream, *event);
    return runtime.submit(handle, RecordWork{event});
  });
}

LANESCOPE_CUDA_API Status cudaEventRecord(Event* event, Stream* stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

namespace {
/// A call that asks of events. Where the driver is lost, those that are done are so still (measured on an
/// H200).
template <typename F>
Status ask_of_events(std::initializer_list<Event*> events, F&& body) {
  if (!driver_is_lost) return call(std::forward<F>(body));
  return query([&](Runtime& runtime) -> Status {
    for (Event* event : events) {
      if (!runtime.is_event(event)) return Status::invalid_resource_handle;
      if (!runtime.is_done(*event)) return driver_status();
    }
    return body(runtime);
  });
}

/// A call about what an event was recorded for.
template <typename F>
Status about_event(Event* event, F&& body) {
  return ask_of_events({event}, [&](Runtime& runtime) -> Status {
    if (!runtime.is_event(event)) return Status::invalid_resource_handle;
    if (const Status captured = refuse_captured(*event, true); captured != Status::success) return captured;
    const Status refused = refuse_while_capturing();
    return refused == Status::success ? body(runtime) : refused;
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
  return ask_of_events({start, end}, [&](Runtime& runtime) -> Status {
    if (milliseconds == nullptr) return Status::invalid_value;
    for (const Event* event : {start, end}) {
      if (!runtime.is_event(event) || (event->flags & Event::disable_timing) != 0)
        return Status::invalid_resource_handle;
      if (const Status captured = refuse_captured(*event, false); captured != Status::success)
        return captured;
    }
    if (!runtime.is_done(*start) || !runtime.is_done(*end)) return Status::not_ready;
    if (*start->recorded_ns < 0 || *end->recorded_ns < 0) return Status::invalid_resource_handle;
    *milliseconds = static_cast<float>(static_cast<double>(*end->recorded_ns - *start->recorded_ns) * 1e-6);
    return Status::success;
  });
}
