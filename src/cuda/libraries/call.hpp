// How a function of one of the toolkit's libraries does its work: given to the stream as a closure, which
// asks for each piece of memory before it goes there.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "cuda/runtime/library_call.hpp"

LANESCOPE_CUDA_API lanescope::cuda::Status cudaStreamSynchronize(lanescope::cuda::Stream* stream);

namespace lanescope::cuda::libraries {

/// Thrown where a piece of memory may not be reached, which has been told then: the call ends there.
struct Unreachable {};
/// Thrown where what lies in the device's memory leads outside of what a call may reach: a column of a matrix
/// that has fewer, for one. It ends the call as an access to such a place does.
struct Astray {
  std::string what;  ///< goes on after the name of the function
};

class Memory {
 public:
  explicit Memory(LibraryMemory& memory) : memory_(memory) {}
  /// `count` elements from `first` on, for the argument `what`.
  template <typename T>
  const T* read(const char* what, const T* first, int64_t count) const {
    reach(what, first, static_cast<uint64_t>(count) * sizeof(T), false);
    return first;
  }
  template <typename T>
  T* write(const char* what, T* first, int64_t count) const {
    reach(what, first, static_cast<uint64_t>(count) * sizeof(T), true);
    return first;
  }
  void reach(const char* what, const void* first, uint64_t bytes, bool write) const {
    if (bytes != 0 && !memory_.reach(what, first, bytes, write)) throw Unreachable{};
  }

 private:
  LibraryMemory& memory_;
};

/// Puts `work(memory)` into the stream; `name`, of the function that the program called, lives for ever.
template <typename Work>
Status submit(Stream* stream, const char* name, Work&& work) {
  class Call final : public LibraryCall {
   public:
    Call(const char* name, Work&& work) : name_(name), work_(std::forward<Work>(work)) {}
    [[nodiscard]] const char* name() const override { return name_; }
    void run(LibraryMemory& memory) const override {
      try {
        work_(Memory(memory));
      } catch (const Unreachable&) {
        return;
      } catch (const Astray& astray) {
        memory.fail(astray.what);
      }
    }

   private:
    const char* name_;
    std::remove_cvref_t<Work> work_;
  };
  return lanescope_submit(stream, new Call(name, std::forward<Work>(work)));
}

/// Until what is in the stream is done.
inline Status wait(Stream* stream) { return cudaStreamSynchronize(stream); }

/// Tells the user, on stderr and once, what is wrong with a call.
template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  lanescope_say(fmt::format(format, std::forward<Arguments>(arguments)...).c_str());
}

/// Says why a call is not done, and returns its status.
template <typename Status, typename... Arguments>
Status refuse(const char* function, Status status, fmt::format_string<Arguments...> why,
              Arguments&&... arguments) {
  say("{} is not done: {}", function, fmt::format(why, std::forward<Arguments>(arguments)...));
  return status;
}

/// What a function returns that the real library has and ours has not.
template <typename Status>
Status not_implemented(const char* function, Status status, const char* status_name) {
  say("{} is not implemented and returns {}", function, status_name);
  return status;
}

}  // namespace lanescope::cuda::libraries
