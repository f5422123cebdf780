// Global memory of the device: a reserved address range, a best-fit list of free pieces, and the table of
// allocations that every checked access asks.
#include "exec/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/error.hpp"

namespace lanescope::exec {

namespace {
constexpr uint64_t preferred_base = 0x2000'0000'0000ull;
constexpr uint64_t preferred_range = 1ull << 40;
constexpr uint64_t smallest_range = 1ull << 30;
/// Unused bytes between allocations, so that a run past the end is never inside a neighbour.
constexpr uint64_t guard_bytes = 256;

uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }
}  // namespace

Memory::Memory() {
  for (uint64_t range = preferred_range; range >= smallest_range; range /= 2) {
    void* p = mmap(reinterpret_cast<void*>(preferred_base), range, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED)
      p = mmap(nullptr, range, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    range_begin_ = next_ = reinterpret_cast<uint64_t>(p);
    range_end_ = range_begin_ + range;
    return;
  }
  throw Error("cannot reserve address space for the device's memory (is there a limit such as `ulimit -v`?)");
}

Memory::~Memory() { munmap(reinterpret_cast<void*>(range_begin_), range_end_ - range_begin_); }

uint64_t Memory::take(uint64_t size, uint64_t align) {
  for (auto it = free_.lower_bound(size); it != free_.end(); ++it) {
    if (round_up(it->second, align) != it->second)
      continue;  // pieces start aligned to 256, which is nearly all asked
    const uint64_t base = it->second, piece = it->first;
    free_by_base_.erase(base);
    free_.erase(it);
    if (piece > size) give(base + size, piece - size);
    return base;
  }
  const uint64_t base = round_up(next_, align);
  if (size > range_end_ - next_ || base + size > range_end_) return 0;
  next_ = base + size;
  return base;
}

void Memory::give(uint64_t base, uint64_t size) {
  auto drop = [&](std::map<uint64_t, uint64_t>::iterator it) {
    auto [first, last] = free_.equal_range(it->second);
    for (auto f = first; f != last; ++f)
      if (f->second == it->first) {
        free_.erase(f);
        break;
      }
    free_by_base_.erase(it);
  };
  auto after = free_by_base_.find(base + size);
  if (after != free_by_base_.end()) {
    size += after->second;
    drop(after);
  }
  auto before = free_by_base_.lower_bound(base);
  if (before != free_by_base_.begin() && (--before)->first + before->second == base) {
    base = before->first;
    size += before->second;
    drop(before);
  }
  free_.emplace(size, base);
  free_by_base_.emplace(base, size);
}

uint64_t Memory::allocate(uint64_t size, std::string name, uint64_t align) {
  std::unique_lock lock(mutex_);
  if (size > range_end_ - range_begin_)
    throw Error("cannot allocate " + std::to_string(size) + " bytes of device memory");
  const uint64_t reserved = round_up(std::max<uint64_t>(size, 1), 256) + guard_bytes;
  const uint64_t base = take(reserved, std::max<uint64_t>(align, 256));
  if (base == 0) throw Error("out of device memory: no room for " + std::to_string(size) + " bytes");
  if (name.empty()) name = "allocation #" + std::to_string(++serial_);
  entries_[base] = {{base, size, false, std::move(name)}, true, reserved};
  return base;
}

bool Memory::release(uint64_t base) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(base);
  if (it == entries_.end() || !it->second.owned) return false;
  const uint64_t end = base + it->second.reserved;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t page_begin = round_up(base, page), page_end = end / page * page;
  // What is handed out again must read as zero: whole pages go back to the host, the rest is cleared here.
  if (page_begin < page_end) {
    madvise(reinterpret_cast<void*>(page_begin), page_end - page_begin, MADV_DONTNEED);
    std::memset(reinterpret_cast<void*>(base), 0, page_begin - base);
    std::memset(reinterpret_cast<void*>(page_end), 0, end - page_end);
  } else {
    std::memset(reinterpret_cast<void*>(base), 0, end - base);
  }
  give(base, it->second.reserved);
  entries_.erase(it);
  return true;
}

void Memory::attach(const void* base, uint64_t size, std::string name) {
  std::unique_lock lock(mutex_);
  const auto at = reinterpret_cast<uint64_t>(base);
  entries_[at] = {{at, size, false, std::move(name)}, false, 0};
}

bool Memory::detach(const void* base) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(reinterpret_cast<uint64_t>(base));
  if (it == entries_.end() || it->second.owned) return false;
  entries_.erase(it);
  return true;
}

void Memory::set_read_only(uint64_t base, bool read_only) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(base);
  if (it != entries_.end()) it->second.allocation.read_only = read_only;
}

std::optional<Allocation> Memory::find(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto it = entries_.upper_bound(address);
  if (it == entries_.begin()) return std::nullopt;
  --it;
  const Allocation& a = it->second.allocation;
  if (address - a.base >= a.size) return std::nullopt;
  return a;
}

std::optional<Allocation> Memory::nearest(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto after = entries_.upper_bound(address);
  if (after == entries_.begin())
    return after == entries_.end() ? std::nullopt : std::optional(after->second.allocation);
  const Allocation& before = std::prev(after)->second.allocation;
  const uint64_t past = address >= before.base + before.size ? address - (before.base + before.size) : 0;
  if (after != entries_.end() && after->first - address < past) return after->second.allocation;
  return before;
}

uint64_t Memory::allocated_bytes() const {
  std::shared_lock lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [base, entry] : entries_) sum += entry.allocation.size;
  return sum;
}

}  // namespace lanescope::exec
