// Virtual memory management: memory without addresses (cuMemCreate), addresses without memory
// (cuMemAddressReserve), and the one put at the other (cuMemMap, cuMemSetAccess). Memory is a file without a
// name, so that it can be mapped at several places. Kernels and copies know of it what they have access to.
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda/driver/api.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"

namespace lanescope::cuda {
namespace {

/// What sizes and places are multiples of, as an H200 has it. Which calls fail, and how, is what an H100 and
/// an H200 gave (driver 580).
constexpr uint64_t granularity = uint64_t{2} << 20;

enum Access : int { no_access = 0, read_only = 1, read_write = 3 };

struct Physical {
  int file = -1;
  uint64_t size = 0;
  PhysicalProperties properties{};
  uint64_t handles = 1, mappings = 0;  ///< it is there as long as there are any
};

struct Mapping {
  uint64_t size = 0;
  Physical* physical = nullptr;
  int access = no_access;
};

/// All of the process, never destroyed: programs call CUDA in their last destructors.
struct VirtualMemory {
  std::mutex mutex;
  std::set<Physical*> physical;               ///< a handle is the address of one
  std::map<uint64_t, uint64_t> reservations;  ///< base → size
  std::map<uint64_t, Mapping> mappings;       ///< by base
  uint64_t serial = 0;

  static VirtualMemory& get() {
    static auto* all = new VirtualMemory;
    return *all;
  }

  [[nodiscard]] Physical* find(uint64_t handle) const {
    const auto found = physical.find(reinterpret_cast<Physical*>(handle));
    return found == physical.end() || (*found)->handles == 0 ? nullptr : *found;
  }

  /// The mapping that holds `address`; nullptr if there is none.
  Mapping* at(uint64_t address) {
    auto after = mappings.upper_bound(address);
    if (after == mappings.begin()) return nullptr;
    --after;
    return address - after->first < after->second.size ? &after->second : nullptr;
  }

  /// The mappings that fill the range; none if they do not, or if one reaches beyond it.
  [[nodiscard]] std::vector<uint64_t> that_fill(uint64_t base, uint64_t size) const {
    std::vector<uint64_t> bases;
    uint64_t next = base;
    for (auto it = mappings.find(base); it != mappings.end() && it->first == next && next - base < size;
         ++it) {
      bases.push_back(next);
      next += it->second.size;
    }
    if (next - base != size) bases.clear();
    return bases;
  }

  [[nodiscard]] bool is_free(uint64_t base, uint64_t size) const {
    const auto after = mappings.lower_bound(base);
    if (after != mappings.end() && after->first - base < size) return false;
    return after == mappings.begin() || std::prev(after)->first + std::prev(after)->second.size <= base;
  }

  /// The mappings in the range; false if one of them lies in it with a part only.
  [[nodiscard]] bool find_whole(uint64_t base, uint64_t size, std::vector<uint64_t>& bases) const {
    auto it = mappings.lower_bound(base);
    if (it != mappings.begin() && std::prev(it)->first + std::prev(it)->second.size > base) return false;
    for (; it != mappings.end() && it->first - base < size; ++it) {
      if (it->second.size > size - (it->first - base)) return false;
      bases.push_back(it->first);
    }
    return true;
  }

  [[nodiscard]] bool is_reserved(uint64_t base, uint64_t size) const {
    auto after = reservations.upper_bound(base);
    if (after == reservations.begin()) return false;
    --after;
    return size <= after->second && base - after->first <= after->second - size;
  }

  void release_unused(Runtime& runtime, Physical* memory) {
    if (memory->handles != 0 || memory->mappings != 0) return;
    close(memory->file);
    runtime.unclaim(memory->size);
    physical.erase(memory);
    delete memory;
  }

  void set_access(Runtime& runtime, uint64_t base, int access) {
    Mapping& mapping = mappings[base];
    const std::unique_lock lock(runtime.mutex);
    if (mapping.access != no_access) {
      runtime.memory.detach(reinterpret_cast<void*>(base));
      runtime.blocks.erase(base);
    }
    mapping.access = access;
    if (access == no_access) return;
    runtime.memory.attach(reinterpret_cast<void*>(base), mapping.size,
                          "mapped memory #" + std::to_string(++serial));
    runtime.memory.set_read_only(base, access == read_only);
    Block block{base, mapping.size};
    block.mapped = true;
    block.read_only = access == read_only;
    runtime.blocks[base] = block;
  }
};

bool is_whole(uint64_t size) { return size != 0 && size % granularity == 0; }

Status check(const PhysicalProperties* properties) {
  constexpr int pinned = 1, on_device = 1;
  if (properties == nullptr || properties->type != pinned || properties->location.type != on_device)
    return Status::invalid_value;
  return properties->location.id == 0 ? Status::success : Status::invalid_device;
}

/// Runs a function that needs no context.
template <typename F>
Status with_memory(F&& body) {
  return driver([&] {
    return call([&](Runtime& runtime) {
      VirtualMemory& all = VirtualMemory::get();
      const std::lock_guard lock(all.mutex);
      return body(runtime, all);
    });
  });
}

/// The same for one that takes something away which unfinished work may use.
template <typename F>
Status with_idle_memory(F&& body) {
  return driver([&] {
    return call_when_idle([&](Runtime& runtime) {
      VirtualMemory& all = VirtualMemory::get();
      const std::lock_guard lock(all.mutex);
      return body(runtime, all);
    });
  });
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuMemGetAllocationGranularity(size_t* out, const PhysicalProperties* properties,
                                                        int option) {
  return driver([&] {
    if (out == nullptr || properties == nullptr || option < 0 || option > 1) return Status::invalid_value;
    *out = granularity;
    return Status::success;
  });
}

/// Where the addresses are to lie is a hint, and not followed.
LANESCOPE_CUDA_API Status cuMemAddressReserve(uint64_t* out, size_t size, size_t alignment, uint64_t hint,
                                              unsigned long long flags) {
  return with_memory([&](Runtime& runtime, VirtualMemory& all) {
    constexpr uint64_t page = 4096;
    if (out == nullptr || flags != 0 || !is_whole(size) || hint % page != 0 ||
        (alignment & (alignment - 1)) != 0)
      return Status::invalid_value;
    const uint64_t base = runtime.memory.reserve(size, std::max<uint64_t>(alignment, granularity));
    if (base == 0) return Status::memory_allocation;
    all.reservations[base] = size;
    *out = base;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemAddressFree(uint64_t base, size_t size) {
  return with_idle_memory([&](Runtime& runtime, VirtualMemory& all) {
    const auto found = all.reservations.find(base);
    if (found == all.reservations.end() || found->second != size || !all.is_free(base, size))
      return Status::invalid_value;
    all.reservations.erase(found);
    runtime.memory.give_back(base, size);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemCreate(uint64_t* out, size_t size, const PhysicalProperties* properties,
                                      unsigned long long flags) {
  return with_memory([&](Runtime& runtime, VirtualMemory& all) {
    if (out == nullptr || flags != 0 || !is_whole(size)) return Status::invalid_value;
    const Status status = check(properties);
    if (status != Status::success) return status;
    if (!runtime.claim(size)) return Status::memory_allocation;
    const int file = memfd_create("lanescope", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
      if (file >= 0) close(file);
      runtime.unclaim(size);
      return Status::memory_allocation;
    }
    auto* memory = new Physical{file, size, *properties};
    all.physical.insert(memory);
    *out = reinterpret_cast<uint64_t>(memory);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemRelease(uint64_t handle) {
  return with_memory([&](Runtime& runtime, VirtualMemory& all) {
    Physical* const memory = all.find(handle);
    if (memory == nullptr) return Status::invalid_value;
    --memory->handles;
    all.release_unused(runtime, memory);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemMap(uint64_t base, size_t size, size_t offset, uint64_t handle,
                                   unsigned long long flags) {
  return with_memory([&](Runtime&, VirtualMemory& all) {
    Physical* const memory = all.find(handle);
    if (memory == nullptr || flags != 0 || size == 0 || base == 0) return Status::invalid_value;
    if (base % granularity != 0 || offset != 0 || size != memory->size)
      return Status::not_supported;  // a part of it
    if (!all.is_reserved(base, size) || !all.is_free(base, size)) return Status::invalid_value;
    if (mmap(reinterpret_cast<void*>(base), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             memory->file, 0) == MAP_FAILED)
      return Status::memory_allocation;
    ++memory->mappings;
    all.mappings[base] = {size, memory, no_access};
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemUnmap(uint64_t base, size_t size) {
  return with_idle_memory([&](Runtime& runtime, VirtualMemory& all) {
    std::vector<uint64_t> bases;
    if (!is_whole(size) || !all.is_reserved(base, size) || !all.find_whole(base, size, bases))
      return Status::invalid_value;
    for (const uint64_t at : bases) {
      all.set_access(runtime, at, no_access);
      const Mapping mapping = all.mappings[at];
      // Back to what the rest of the device's addresses are.
      if (mmap(reinterpret_cast<void*>(at), mapping.size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return Status::memory_allocation;
      all.mappings.erase(at);
      --mapping.physical->mappings;
      all.release_unused(runtime, mapping.physical);
    }
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemSetAccess(uint64_t base, size_t size, const MemoryAccess* access,
                                         size_t count) {
  return with_idle_memory([&](Runtime& runtime, VirtualMemory& all) {
    const std::vector<uint64_t> bases = all.that_fill(base, size);
    if (bases.empty() || access == nullptr || count == 0) return Status::invalid_value;
    for (size_t i = 0; i < count; ++i) {
      constexpr int on_device = 1;
      const int flags = access[i].flags;
      if (flags != no_access && flags != read_only && flags != read_write) return Status::invalid_value;
      if (access[i].location.type > on_device) return Status::not_supported;
      if (access[i].location.type != on_device || access[i].location.id != 0) return Status::invalid_value;
    }
    for (const uint64_t at : bases) all.set_access(runtime, at, access[count - 1].flags);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemGetAccess(unsigned long long* flags, const MemoryLocation* location,
                                         uint64_t address) {
  return with_memory([&](Runtime& runtime, VirtualMemory& all) {
    constexpr int on_device = 1;
    const Mapping* const mapping = all.at(address);
    Block block;
    if (flags != nullptr) *flags = no_access;
    const bool allocated = mapping == nullptr && runtime.find_block(address, block) && !block.registered;
    if (flags == nullptr || location == nullptr || (mapping == nullptr && !allocated))
      return Status::invalid_value;
    if (location->type == on_device && location->id != 0) return Status::invalid_device;
    *flags = static_cast<unsigned long long>(allocated ? no_access : mapping->access);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  return with_memory([&](Runtime&, VirtualMemory& all) {
    const Mapping* const mapping = all.at(reinterpret_cast<uint64_t>(address));
    if (handle == nullptr || mapping == nullptr) return Status::invalid_value;
    ++mapping->physical->handles;
    *handle = reinterpret_cast<uint64_t>(mapping->physical);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status cuMemGetAllocationPropertiesFromHandle(PhysicalProperties* properties,
                                                                 uint64_t handle) {
  return with_memory([&](Runtime&, VirtualMemory& all) {
    const Physical* const memory = all.find(handle);
    if (properties == nullptr || memory == nullptr) return Status::invalid_value;
    *properties = memory->properties;
    return Status::success;
  });
}
