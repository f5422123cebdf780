// Calls of the toolkit's libraries, which the host does.
#include "cuda/runtime/library_call.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/recorder.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {

Status Runtime::run(const LibraryWork& work) {
  class Memory final : public LibraryMemory {
   public:
    Memory(Runtime& runtime, const char* name) : runtime_(runtime), name_(name) {}
    bool reach(const char* what, const void* first, uint64_t bytes, bool write) override {
      const auto address = reinterpret_cast<uint64_t>(first);
      if (!runtime_.covers(address, bytes, write)) {
        fail(fmt::format("{} {} where the device may not: {}", write ? "writes" : "reads", what,
                         runtime_.obstacle(address, bytes)));
        return false;
      }
      if (write) runtime_.memory.wrote(address, bytes);
      return true;
    }
    void fail(const std::string& defect) override {
      const std::string whole = fmt::format("{} {}", name_, defect);
      say("error: " + whole);
      runtime_.recorder->library_failed(whole);
      runtime_.failure = Status::illegal_address;
    }

   private:
    Runtime& runtime_;
    const char* name_;
  };
  if (!work.call->goes_on()) recorder->library_called(work.call->name());
  Memory memory(*this, work.call->name());
  work.call->run(memory);
  return Status::success;
}

namespace {

/// What host code is about to do, of which the stream knows the ranges only.
class HostCall final : public LibraryCall {
 public:
  HostCall(std::string name, bool goes_on, std::span<const HostRange> ranges)
      : name_(std::move(name)), goes_on_(goes_on), ranges_(ranges) {}
  [[nodiscard]] const char* name() const override { return name_.c_str(); }
  [[nodiscard]] bool goes_on() const override { return goes_on_; }
  void run(LibraryMemory& memory) const override {
    for (const HostRange& range : ranges_)
      if (!memory.reach(range.what, range.first, range.bytes, range.writes != 0)) return;
  }

 private:
  std::string name_;
  bool goes_on_;
  std::span<const HostRange> ranges_;  // the caller's, who waits
};

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status lanescope_submit(Stream* handle, const LibraryCall* given) {
  const std::shared_ptr<const LibraryCall> call_of_library(given);
  return call([&](Runtime& runtime) { return runtime.submit(handle, LibraryWork{call_of_library}); });
}

LANESCOPE_CUDA_API Status lanescope_reach(Stream* stream, const char* name, int goes_on,
                                          const HostRange* ranges, int count) {
  int is_capturing = 0;
  if (const Status status = cudaStreamIsCapturing(stream, &is_capturing); status != Status::success)
    return status;
  if (is_capturing != 0) return Status::capture_unsupported;
  const Status status = lanescope_submit(
      stream, new HostCall(name, goes_on != 0, std::span(ranges, static_cast<size_t>(count))));
  return status == Status::success ? cudaStreamSynchronize(stream) : status;
}

LANESCOPE_CUDA_API void lanescope_say(const char* text) { say_once(text); }
