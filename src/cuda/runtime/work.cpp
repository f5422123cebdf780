// Work given to streams: done at once; on a stream that is being captured, put into its graph; or put behind
// what is unfinished there.
#include "cuda/runtime/backlog.hpp"
#include "cuda/runtime/graph.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

bool& in_host_function() {
  thread_local bool is_in = false;
  return is_in;
}

Status Runtime::submit(Stream* handle, Work work) {
  Stream* stream = this->stream(handle);
  if (stream == nullptr) return Status::invalid_resource_handle;
  if (captures != 0) {
    if (stream->capture != nullptr) return capture(*stream, std::move(work));
    // The legacy stream waits for all streams that do not say otherwise, which one that is captured cannot be
    // waited for.
    if (stream == &legacy_stream && blocks_legacy_stream()) return Status::capture_implicit;
  }
  if (const auto* child = std::get_if<ChildWork>(&work))
    return run_graph(*this, handle, child->graph->ordered());
  return backlogs->any() ? defer(*stream, std::move(work)) : execute(work, *stream);
}

Status Runtime::defer(const Stream& stream, Work work) {
  Backlogs::Tickets before = backlogs->before(stream);
  if (const auto* wait = std::get_if<WaitWork>(&work)) {
    const std::shared_lock lock(mutex);
    if (wait->event->ticket != nullptr && !wait->event->ticket->done) before.push_back(wait->event->ticket);
  }
  if (before.empty()) return execute(work, stream);
  Status status = Status::success;
  if (const auto* copy = std::get_if<CopyWork>(&work)) status = check(*copy);
  if (const auto* set = std::get_if<SetWork>(&work)) status = check(*set);
  if (status != Status::success) return status;
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    backlogs->defer(stream, std::move(before), make_launch(*this, std::move(*kernel)));
  } else if (const auto* record = std::get_if<RecordWork>(&work)) {
    auto ticket =
        backlogs->defer(stream, std::move(before), [time = record->event->recorded_ns] { *time = now_ns(); });
    const std::unique_lock lock(mutex);
    record->event->ticket = std::move(ticket);
  } else {
    // Work other than kernels does not look at the stream.
    backlogs->defer(stream, std::move(before), [this, work = std::move(work)] {
      const Status done = execute(work, legacy_stream);
      if (done != Status::success && failure == Status::success) failure = done;
    });
  }
  return Status::success;
}

Status Runtime::wait_for_all() {
  if (backlogs->any()) backlogs->wait(backlogs->all());
  return failure;
}

Status Runtime::wait_for(const Stream& stream) {
  if (backlogs->any())
    backlogs->wait(&stream == &legacy_stream ? backlogs->before(stream) : backlogs->in(stream));
  return failure;
}

Status Runtime::wait_for(const Event& event) {
  std::shared_ptr<const Ticket> ticket;
  {
    const std::shared_lock lock(mutex);
    ticket = event.ticket;
  }
  if (ticket != nullptr) backlogs->wait({ticket});
  return failure;
}

bool Runtime::is_done(const Stream& stream) const {
  return !backlogs->any() ||
         (&stream == &legacy_stream ? backlogs->before(stream) : backlogs->in(stream)).empty();
}

bool Runtime::is_done(const Event& event) const {
  const std::shared_lock lock(mutex);
  return event.ticket == nullptr || event.ticket->done;
}

Status Runtime::execute(const Work& work, const Stream& stream) {
  struct Run {
    Runtime& runtime;
    const Stream& stream;
    Status operator()(const std::monostate&) const { return Status::success; }
    Status operator()(const KernelWork& work) const { return runtime.run(work, stream); }
    Status operator()(const CopyWork& work) const { return runtime.run(work, stream); }
    Status operator()(const SetWork& work) const { return runtime.run(work); }
    Status operator()(const HostWork& work) const {
      // On a GPU the driver's own thread calls it: what goes wrong in it is no error of this thread.
      const Status before = last_error();
      in_host_function() = true;
      if (work.callback != nullptr)
        work.callback(work.stream, Status::success, work.data);
      else
        work.function(work.data);
      in_host_function() = false;
      last_error() = before;
      return Status::success;
    }
    Status operator()(const RecordWork& work) const {
      record(*work.event);
      return Status::success;
    }
    Status operator()(const WaitWork&) const { return Status::success; }  // what was recorded is done already
    Status operator()(const FreeWork& work) const {
      return runtime.release(work.pointer, {MemoryType::device, MemoryType::managed, MemoryType::host});
    }
    Status operator()(const AllocationWork&) const { return Status::success; }
    Status operator()(const ChildWork&) const {
      return Status::success;
    }  // its nodes are submitted one by one
  };
  return std::visit(Run{*this, stream}, work);
}

}  // namespace lanescope::cuda
