// Calls of the toolkit's libraries, which the host does.
#include "cuda/runtime/library_call.hpp"

#include <fmt/format.h>

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
  recorder->library_called(work.call->name());
  Memory memory(*this, work.call->name());
  work.call->run(memory);
  return Status::success;
}

}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status lanescope_submit(Stream* handle, const LibraryCall* given) {
  const std::shared_ptr<const LibraryCall> call_of_library(given);
  return call([&](Runtime& runtime) { return runtime.submit(handle, LibraryWork{call_of_library}); });
}

LANESCOPE_CUDA_API void lanescope_say(const char* text) { say_once(text); }
