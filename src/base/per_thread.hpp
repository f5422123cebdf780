// An object that each thread has one of.
#pragma once

#include <utility>

namespace lanescope {

/// The calling thread's T. It goes with the thread, but can be asked for after that as well: the main
/// thread's objects are destroyed before the program's statics, whose destructors may call CUDA. Those get a
/// new one, which stays.
template <class T>
T& per_thread() {
  thread_local T* object = nullptr;
  struct AtEnd {
    ~AtEnd() { delete std::exchange(object, nullptr); }
  };
  if (object == nullptr) {
    thread_local const AtEnd at_end;
    object = new T;
  }
  return *object;
}

}  // namespace lanescope
