// What calls of the libraries with handles have in common: their arguments are looked at when they are made,
// and the first that makes no sense is told and decides the status; their work is given to the stream of
// their handle.
#pragma once

#include <cstdint>
#include <utility>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/data_type.hpp"
#include "cuda/libraries/objects.hpp"

namespace lanescope::cuda::libraries {

/// `Derived` is the library's own, which looks at more; `LibraryStatus` its status, with the names success,
/// invalid_value, alloc_failed and execution_failed.
template <typename Derived, typename LibraryStatus>
class CheckedCall {
 public:
  /// Says why the call cannot be done.
  template <typename... Arguments>
  Derived& refuse(LibraryStatus status, fmt::format_string<Arguments...> why, Arguments&&... arguments) {
    if (!is_refused()) status_ = libraries::refuse(name_, status, why, std::forward<Arguments>(arguments)...);
    return derived();
  }
  // Each looks at one argument, and refuses the call if it makes no sense.
  Derived& size(const char* what, int64_t value) {
    if (value < 0) refuse(LibraryStatus::invalid_value, "{} is {}, and must not be negative", what, value);
    return derived();
  }
  Derived& pointer(const char* what, const void* value, LibraryStatus status = LibraryStatus::invalid_value) {
    if (value == nullptr) refuse(status, "{} is null", what);
    return derived();
  }
  /// One of the library's objects, that must live.
  template <typename T>
  Derived& object(const char* what, const T* object) {
    if (!is_refused() && !objects<T>().contains(object))
      refuse(LibraryStatus::invalid_value, "{} is {}", what,
             object == nullptr ? "null" : "none that was created, or destroyed");
    return derived();
  }

  /// The answer of a function that gives the program a new object, which it names by its address.
  template <typename T>
  LibraryStatus create(T** out, const T& object = {}) {
    if (!pointer("where its address is to be written", out).is_refused()) *out = objects<T>().add(object);
    return status_;
  }
  /// Null is nothing to destroy.
  template <typename T>
  LibraryStatus destroy(const T* object) {
    if (object != nullptr && !objects<T>().destroy(object))
      refuse(LibraryStatus::invalid_value, "what it is given was not created, or is destroyed");
    return status_;
  }

  [[nodiscard]] bool is_refused() const { return status_ != LibraryStatus::success; }
  [[nodiscard]] LibraryStatus status() const { return status_; }
  [[nodiscard]] const char* name() const { return name_; }

 protected:
  explicit CheckedCall(const char* name) : name_(name) {}
  /// Of a handle, whose stream the work goes to; whether it is one. `maker` is the function that makes such.
  template <typename Handle>
  bool take_handle(const Handle* handle, LibraryStatus status, const char* maker) {
    const bool lives = objects<Handle>().contains(handle);
    if (lives)
      stream_ = handle->stream;
    else if (handle == nullptr)
      refuse(status, "its handle is null");
    else
      refuse(status, "its handle is none that {} made, or destroyed", maker);
    return lives;
  }
  /// The stream that the work goes to, where the program names it itself.
  void take_stream(Stream* stream) { stream_ = stream; }
  /// A number of an enumeration, which the library calls `type`.
  template <typename E>
  Derived& between(E value, E first, E last, const char* type) {
    if (!is_between(value, first, last))
      refuse(LibraryStatus::invalid_value, "{} is no {}", static_cast<int>(value), type);
    return derived();
  }
  /// Puts work(memory) into the stream, unless the call is refused.
  template <typename Work>
  LibraryStatus give(Work&& work) const {
    return is_refused() ? status_ : of_runtime(libraries::submit(stream_, name_, std::forward<Work>(work)));
  }
  /// After what has been given so: until it is done.
  [[nodiscard]] LibraryStatus wait_after(LibraryStatus status) const {
    return status == LibraryStatus::success ? of_runtime(libraries::wait(stream_)) : status;
  }
  /// The same as give() for work(memory) that gives a number, which goes where the program wants it: into the
  /// device's memory, or the host's, for which the call waits.
  template <typename T, typename Work>
  LibraryStatus give_for(PointerMode mode, T* result, Work&& work) const {
    const bool to_host = mode == PointerMode::host;
    const LibraryStatus status =
        give([result, to_host, work = std::forward<Work>(work)](const Memory& memory) {
          const T value = work(memory);
          *(to_host ? result : memory.write("the result", result, 1)) = value;
        });
    return to_host ? wait_after(status) : status;
  }

 private:
  static LibraryStatus of_runtime(cuda::Status status) {
    return status == cuda::Status::success             ? LibraryStatus::success
           : status == cuda::Status::memory_allocation ? LibraryStatus::alloc_failed
                                                       : LibraryStatus::execution_failed;
  }
  Derived& derived() { return static_cast<Derived&>(*this); }

  const char* name_;
  Stream* stream_ = nullptr;  ///< of its handle, if that is one
  LibraryStatus status_ = LibraryStatus::success;
};

}  // namespace lanescope::cuda::libraries
