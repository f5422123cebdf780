// The objects of a library that a program names by their addresses: handles, descriptors, generators.
#pragma once

#include <mutex>
#include <unordered_set>
#include <utility>

namespace lanescope::cuda::libraries {

/// Those of one type that live: what is none of them is refused and not followed.
template <typename T>
class Objects {
 public:
  T* add(T object) {
    auto* made = new T(std::move(object));
    const std::lock_guard lock(mutex_);
    all_.insert(made);
    return made;
  }
  [[nodiscard]] bool contains(const T* object) const {
    const std::lock_guard lock(mutex_);
    return all_.contains(object);
  }
  /// Whether it was one of them.
  bool destroy(const T* object) {
    {
      const std::lock_guard lock(mutex_);
      if (all_.erase(object) == 0) return false;
    }
    delete object;
    return true;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<const T*> all_;
};

/// Never destroyed: programs end in any order.
template <typename T>
Objects<T>& objects() {
  static auto* all = new Objects<T>;
  return *all;
}

}  // namespace lanescope::cuda::libraries
