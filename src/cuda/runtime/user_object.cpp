// User objects: what graphs keep alive for a program, counted by references of the program and of graphs. The
// last one to go calls the program's function.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "cuda/runtime/graph.hpp"

namespace lanescope::cuda {

struct UserObject {
  UserObject(void* object, HostFunction function) : data(object), destroy(function) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject() { destroy(data); }

  void* data;
  HostFunction destroy;
};

namespace {

/// One entry for each reference.
using References = std::vector<std::shared_ptr<UserObject>>;

struct UserObjects {
  std::mutex mutex;
  std::unordered_map<const UserObject*, References> of_program;
  std::unordered_map<const UserObject*, std::weak_ptr<UserObject>> all;
};
UserObjects& user_objects() {
  static auto* objects = new UserObjects;  // graphs may go when statics are gone
  return *objects;
}

/// Adds references; null or gone objects are none.
bool add(References& to, const UserObject* object, unsigned count) {
  const auto found = user_objects().all.find(object);
  const auto shared = found == user_objects().all.end() ? nullptr : found->second.lock();
  if (shared != nullptr) to.insert(to.end(), count, shared);
  return shared != nullptr;
}

/// Takes references away, which the caller lets go when no lock is held.
bool remove(References& from, const UserObject* object, unsigned count, References& gone) {
  const auto is_object = [&](const auto& reference) { return reference.get() == object; };
  if (std::count_if(from.begin(), from.end(), is_object) < static_cast<long>(count)) return false;
  for (unsigned i = 0; i < count; ++i) {
    const auto at = std::find_if(from.begin(), from.end(), is_object);
    gone.push_back(std::move(*at));
    from.erase(at);
  }
  return true;
}

/// Runs `body` with the table locked; what it puts aside goes afterwards.
template <typename F>
Status change(const UserObject* object, unsigned count, F&& body) {
  if (object == nullptr || count == 0) return remember(Status::invalid_value);
  References gone;
  return query([&](Runtime&) {
    const std::lock_guard lock(user_objects().mutex);
    return body(user_objects().of_program[object], gone) ? Status::success : Status::invalid_value;
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cudaUserObjectCreate(UserObject** out, void* data, HostFunction destroy,
                                               unsigned references, unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;
  if (out == nullptr || destroy == nullptr || references == 0 || flags != no_destructor_sync)
    return remember(Status::invalid_value);
  return query([&](Runtime&) {
    const auto object = std::make_shared<UserObject>(data, destroy);
    const std::lock_guard lock(user_objects().mutex);
    std::erase_if(user_objects().all, [](const auto& entry) {
      const bool is_gone = entry.second.expired();
      if (is_gone) user_objects().of_program.erase(entry.first);
      return is_gone;
    });
    user_objects().all[object.get()] = object;
    user_objects().of_program[object.get()].assign(references, object);
    *out = object.get();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaUserObjectRetain(UserObject* object, unsigned count) {
  return change(object, count, [&](References& own, References&) { return add(own, object, count); });
}

LANESCOPE_CUDA_API Status cudaUserObjectRelease(UserObject* object, unsigned count) {
  return change(object, count,
                [&](References& own, References& gone) { return remove(own, object, count, gone); });
}

LANESCOPE_CUDA_API Status cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count,
                                                    unsigned flags) {
  constexpr unsigned move = 1;
  if (graph == nullptr || (flags & ~move) != 0) return remember(Status::invalid_value);
  return change(object, count, [&](References& own, References&) {
    return flags == move ? remove(own, object, count, graph->objects) : add(graph->objects, object, count);
  });
}

LANESCOPE_CUDA_API Status cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  if (graph == nullptr) return remember(Status::invalid_value);
  return change(object, count,
                [&](References&, References& gone) { return remove(graph->objects, object, count, gone); });
}
