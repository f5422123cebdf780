// Advice on managed memory, prefetching, and what is asked of them. Memory has one place here, so none of it
// changes anything; what a program has said it is told again. Which places each takes, and what is told of
// them: measured on an H200 (driver 580).
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"
#include "cuda/runtime/runtime.hpp"

namespace lanescope::cuda {
namespace {

/// cudaMemoryAdvise.
enum class Advice : int {
  set_read_mostly = 1,
  unset_read_mostly,
  set_preferred,
  unset_preferred,
  set_accessed_by,
  unset_accessed_by
};
/// cudaMemRangeAttribute.
enum class RangeAttribute : int {
  read_mostly = 1,
  preferred,
  accessed_by,
  prefetched,
  preferred_type,
  preferred_id,
  prefetched_type,
  prefetched_id
};
/// cudaMemLocationType; the last two are nodes of the host's memory, by number and that of the thread.
constexpr int no_location = 0, on_device = 1, on_host = 2, on_node = 3, on_own_node = 4;
constexpr int host_device = -1, no_device = -2;  ///< cudaCpuDeviceId, cudaInvalidDeviceId

bool is_place(MemoryLocation location) { return location.type >= on_device && location.type <= on_own_node; }
/// Of devices and nodes there is one each.
bool exists(MemoryLocation location) {
  return is_place(location) && (location.id == 0 || (location.type != on_device && location.type != on_node));
}
bool can_be_given(Advice advice, MemoryLocation location) {
  switch (advice) {
    case Advice::set_preferred: return exists(location);
    case Advice::set_accessed_by:
    case Advice::unset_accessed_by: return exists(location) && location.type <= on_host;
    default: return is_place(location);  // and nothing else is looked at
  }
}
/// As it is told again: the host has no number.
MemoryLocation preference_for(MemoryLocation location) {
  return location.type == on_device ? location : MemoryLocation{on_host, host_device};
}
MemoryLocation target_of(MemoryLocation location) {
  return {location.type, location.type == on_host ? host_device : 0};
}

/// The pages that hold these bytes, as far as they are the allocation's.
struct Pages {
  static constexpr uint64_t page = 4096;
  uint64_t first, begin, end, last;  ///< the allocation is [first, last)

  Pages(const exec::Allocation& allocation, uint64_t address, uint64_t size)
      : first(allocation.base),
        begin(std::max(first, address / page * page)),
        end(0),
        last(first + allocation.size) {
    end = std::min(last, (address + size + page - 1) / page * page);
  }
};

/// What is said of the page at `address`.
Advised said_at(const Runtime& runtime, const Pages& pages, uint64_t address) {
  const auto after = runtime.advised.upper_bound(address);
  if (after == runtime.advised.begin() || std::prev(after)->first < pages.first) return {};
  return std::prev(after)->second;
}

/// What holds all of these bytes, if that is managed memory.
std::optional<exec::Allocation> managed(const Runtime& runtime, uint64_t address, uint64_t size) {
  if (size == 0 || runtime.type_at(address) != MemoryType::managed || !runtime.covers(address, size))
    return {};
  return runtime.memory.find(address);
}

template <typename F>
Status advise(Runtime& runtime, const void* pointer, size_t size, F&& change) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const auto allocation = managed(runtime, address, size);
  if (!allocation) return Status::invalid_value;
  const Pages pages(*allocation, address, size);
  const std::unique_lock lock(runtime.mutex);
  if (pages.end < pages.last) runtime.advised.try_emplace(pages.end, said_at(runtime, pages, pages.end));
  runtime.advised.try_emplace(pages.begin, said_at(runtime, pages, pages.begin));
  for (auto at = runtime.advised.find(pages.begin); at != runtime.advised.end() && at->first < pages.end;
       ++at)
    change(at->second);
  return Status::success;
}

/// What is common to all pages of a range.
struct Common {
  bool read_mostly = true, accessed_by_device = true, accessed_by_host = true;
  MemoryLocation preferred, prefetched;

  Common(const Runtime& runtime, const Pages& pages) {
    std::vector<Advised> all{said_at(runtime, pages, pages.begin)};
    for (auto at = runtime.advised.upper_bound(pages.begin);
         at != runtime.advised.end() && at->first < pages.end; ++at)
      all.push_back(at->second);
    preferred = all.front().preferred;
    prefetched = all.front().prefetched;
    const auto meet = [](MemoryLocation& common, const MemoryLocation& other) {
      if (common.type != other.type || common.id != other.id) common = {};
    };
    for (const Advised& one : all) {
      read_mostly = read_mostly && one.read_mostly;
      accessed_by_device = accessed_by_device && one.accessed_by_device;
      accessed_by_host = accessed_by_host && one.accessed_by_host;
      meet(preferred, one.preferred);
      meet(prefetched, one.prefetched);
    }
  }
};

int device_of(const MemoryLocation& location) {
  return location.type == no_location ? no_device : location.type == on_device ? location.id : host_device;
}

int number_of(const MemoryLocation& location) {
  return location.type == no_location ? no_device : location.id;
}

Status answer(const Common& common, RangeAttribute attribute, void* data, size_t size) {
  if (data == nullptr || size == 0 || size % sizeof(int) != 0) return Status::invalid_value;
  if (attribute != RangeAttribute::accessed_by && size != sizeof(int)) return Status::invalid_value;
  std::vector<int> values;
  switch (attribute) {
    case RangeAttribute::read_mostly: values = {common.read_mostly ? 1 : 0}; break;
    case RangeAttribute::preferred: values = {device_of(common.preferred)}; break;
    case RangeAttribute::prefetched: values = {device_of(common.prefetched)}; break;
    case RangeAttribute::preferred_type: values = {common.preferred.type}; break;
    case RangeAttribute::preferred_id: values = {number_of(common.preferred)}; break;
    case RangeAttribute::prefetched_type: values = {common.prefetched.type}; break;
    case RangeAttribute::prefetched_id: values = {number_of(common.prefetched)}; break;
    case RangeAttribute::accessed_by:
      if (common.accessed_by_device) values.push_back(0);
      if (common.accessed_by_host) values.push_back(host_device);
      values.resize(size / sizeof(int), no_device);
      break;
  }
  if (values.empty()) return Status::invalid_value;
  std::memcpy(data, values.data(), size);
  return Status::success;
}

}  // namespace
}  // namespace lanescope::cuda

LANESCOPE_CUDA_API Status cudaMemAdvise(const void* pointer, size_t size, int advice,
                                        MemoryLocation location) {
  return call([&](Runtime& runtime) {
    const auto kind = static_cast<Advice>(advice);
    if (kind < Advice::set_read_mostly || kind > Advice::unset_accessed_by) return Status::invalid_value;
    if (!can_be_given(kind, location)) return Status::invalid_value;
    if (const Status refused = refuse_while_capturing(); refused != Status::success) return refused;
    return advise(runtime, pointer, size, [&](Advised& said) {
      bool& accessed_by = location.type == on_device ? said.accessed_by_device : said.accessed_by_host;
      switch (kind) {
        case Advice::set_read_mostly: said.read_mostly = true; break;
        case Advice::unset_read_mostly: said.read_mostly = false; break;
        case Advice::set_preferred: said.preferred = preference_for(location); break;
        case Advice::unset_preferred: said.preferred = {}; break;
        case Advice::set_accessed_by: accessed_by = true; break;
        case Advice::unset_accessed_by: accessed_by = false; break;
      }
    });
  });
}

LANESCOPE_CUDA_API Status cudaMemPrefetchAsync(const void* pointer, size_t size, MemoryLocation location,
                                               unsigned flags, Stream* stream) {
  return with_stream(stream, OnCaptured::is_refused, [&](Runtime& runtime, Stream&) {
    if (flags != 0 || !is_place(location)) return Status::invalid_value;
    if (!exists(location)) return location.type == on_device ? Status::invalid_device : Status::invalid_value;
    return advise(runtime, pointer, size, [&](Advised& said) { said.prefetched = target_of(location); });
  });
}

LANESCOPE_CUDA_API Status cudaMemRangeGetAttributes(void** data, size_t* sizes, int* attributes,
                                                    size_t number, const void* pointer, size_t count) {
  return call([&](Runtime& runtime) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const auto allocation = managed(runtime, address, count);
    if (data == nullptr || sizes == nullptr || attributes == nullptr || number == 0 || !allocation)
      return Status::invalid_value;
    const std::shared_lock lock(runtime.mutex);
    const Common common(runtime, Pages(*allocation, address, count));
    for (size_t i = 0; i < number; ++i)
      if (const Status status = answer(common, static_cast<RangeAttribute>(attributes[i]), data[i], sizes[i]);
          status != Status::success)
        return status;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cudaMemRangeGetAttribute(void* data, size_t size, int attribute,
                                                   const void* pointer, size_t count) {
  return cudaMemRangeGetAttributes(&data, &size, &attribute, 1, pointer, count);
}
