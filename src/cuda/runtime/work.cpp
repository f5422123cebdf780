// Work given to streams: done at once, or, on a stream that is being captured, put into its graph.
#include "cuda/runtime/graph.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

Status Runtime::submit(Stream* handle, Work work) {
  Stream* stream = this->stream(handle);
  if (stream == nullptr) return Status::invalid_resource_handle;
  if (captures != 0) {
    if (stream->capture != nullptr) return capture(*stream, std::move(work));
    // The legacy stream waits for all streams that do not say otherwise, which one that is captured cannot be
    // waited for.
    if (stream == &legacy_stream && blocks_legacy_stream()) return Status::capture_implicit;
  }
  return execute(work);
}

Status Runtime::execute(const Work& work) {
  struct Run {
    Runtime& runtime;
    Status operator()(const std::monostate&) const { return Status::success; }
    Status operator()(const KernelWork& work) const { return runtime.run(work); }
    Status operator()(const CopyWork& work) const { return runtime.run(work); }
    Status operator()(const SetWork& work) const { return runtime.run(work); }
    Status operator()(const HostWork& work) const {
      if (work.callback != nullptr)
        work.callback(work.stream, Status::success, work.data);
      else
        work.function(work.data);
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
    Status operator()(const ChildWork& work) const { return run_graph(runtime, *work.graph); }
  };
  return std::visit(Run{*this}, work);
}

}  // namespace lanescope::cuda
