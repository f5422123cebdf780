// Global memory of the device: a reserved address range, best-fit lists of free pieces, and the table of
// allocations that every checked access asks.
#include "exec/memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <mutex>

#include "base/error.hpp"

namespace lanescope::exec {

namespace {
constexpr uint64_t preferred_base = 0x2000'0000'0000ull;
constexpr uint64_t preferred_range = 1ull << 40;
constexpr uint64_t smallest_range = 1ull << 30;
/// Unused bytes between allocations, so that a run past the end is never inside a neighbour.
constexpr uint64_t guard_bytes = 256;
/// How much of what the program freed rests: of small pieces the host's memory is not given back, of large
/// ones addresses are all that it costs.
constexpr size_t most_resting_pieces = 4096;
constexpr uint64_t resting_part_of_range = 4;

uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

bool is_of_program(Memory::Owner owner) {
  return owner == Memory::Owner::program || owner == Memory::Owner::kernel;
}

constexpr uint64_t bits_of_word = 64;

/// Calls f(word, mask) for each word of the bits [offset, offset + bits).
template <class F>
void each_word(uint64_t offset, uint64_t bits, F f) {
  while (bits != 0) {
    const uint64_t first = offset % bits_of_word, here = std::min(bits_of_word - first, bits);
    const uint64_t ones = here == bits_of_word ? ~uint64_t{0} : (uint64_t{1} << here) - 1;
    f(offset / bits_of_word, ones << first);
    offset += here;
    bits -= here;
  }
}

}  // namespace

WrittenBytes::WrittenBytes(uint64_t size)
    : words_(static_cast<std::atomic<uint64_t>*>(
          std::calloc(size / bits_of_word + 1, sizeof(std::atomic<uint64_t>)))) {
  if (words_ == nullptr) all_ = true;  // nothing is known, so nothing is accused
}

void WrittenBytes::add(uint64_t offset, uint64_t bytes) {
  if (all_.load(std::memory_order_relaxed)) return;
  each_word(offset, bytes, [&](uint64_t word, uint64_t mask) {
    if ((words_[word].load(std::memory_order_relaxed) & mask) != mask)
      words_[word].fetch_or(mask, std::memory_order_relaxed);
  });
}

uint32_t WrittenBytes::missing(uint64_t offset, uint32_t bytes) const {
  if (all_.load(std::memory_order_relaxed)) return 0;
  int missing = 0;
  each_word(offset, bytes, [&](uint64_t word, uint64_t mask) {
    missing += std::popcount(mask & ~words_[word].load(std::memory_order_relaxed));
  });
  return static_cast<uint32_t>(missing);
}

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

Memory::~Memory() {
  munmap(reinterpret_cast<void*>(range_begin_), range_end_ - range_begin_);
  if (shared_file_ >= 0) close(shared_file_);
}

uint64_t Memory::Pieces::take(uint64_t size, uint64_t align) {
  for (auto it = by_size.lower_bound(size); it != by_size.end(); ++it) {
    if (round_up(it->second, align) != it->second)
      continue;  // pieces start aligned to 256, which is nearly all asked
    const uint64_t base = it->second, piece = it->first;
    by_base.erase(base);
    by_size.erase(it);
    if (piece > size) give(base + size, piece - size);
    return base;
  }
  return 0;
}

void Memory::Pieces::give(uint64_t base, uint64_t size) {
  auto drop = [&](std::map<uint64_t, uint64_t>::iterator it) {
    auto [first, last] = by_size.equal_range(it->second);
    for (auto f = first; f != last; ++f)
      if (f->second == it->first) {
        by_size.erase(f);
        break;
      }
    by_base.erase(it);
  };
  auto after = by_base.find(base + size);
  if (after != by_base.end()) {
    size += after->second;
    drop(after);
  }
  auto before = by_base.lower_bound(base);
  if (before != by_base.begin() && (--before)->first + before->second == base) {
    base = before->first;
    size += before->second;
    drop(before);
  }
  by_size.emplace(size, base);
  by_base.emplace(base, size);
}

uint64_t Memory::take(uint64_t size, uint64_t align, Owner owner) {
  if (is_of_program(owner))
    if (const uint64_t base = free_of_program_.take(size, align)) return base;
  if (const uint64_t base = free_.take(size, align)) return base;
  const uint64_t base = round_up(next_, align);
  if (size > range_end_ - next_ || base + size > range_end_) {
    wake(0, 0);
    return free_of_program_.take(size, align);
  }
  next_ = base + size;
  return base;
}

void Memory::rest(uint64_t base, uint64_t size) {
  resting_.emplace_back(base, size);
  resting_bytes_ += size;
  wake(most_resting_pieces, (range_end_ - range_begin_) / resting_part_of_range);
}

void Memory::wake(size_t pieces, uint64_t bytes) {
  while (resting_.size() > pieces || resting_bytes_ > bytes) {
    const auto [base, size] = resting_.front();
    resting_.pop_front();
    resting_bytes_ -= size;
    free_of_program_.give(base, size);
  }
}

void Memory::forget_freed(uint64_t base, uint64_t size) {
  auto it = freed_.lower_bound(base);
  if (it != freed_.begin() && std::prev(it)->first + std::prev(it)->second.size > base) --it;
  while (it != freed_.end() && it->first < base + size) it = freed_.erase(it);
}

uint64_t Memory::take_from_heap(uint64_t size, const char* name) {
  const uint64_t limit = heap_limit;
  heap_was_asked = true;
  if (size > limit) return 0;
  if (heap_bytes_.fetch_add(size) <= limit - size) {
    try {
      return allocate(size, name, 256, Owner::kernel);
    } catch (const Error&) {  // a kernel sees a null pointer
    }
  }
  heap_bytes_ -= size;
  return 0;
}

bool Memory::give_back_to_heap(uint64_t base) {
  uint64_t size = 0;
  {
    const std::shared_lock lock(mutex_);
    const auto it = entries_.find(base);
    if (it == entries_.end() || it->second.owner != Owner::kernel) return false;
    size = it->second.allocation.size;
  }
  if (!release(base)) return false;  // another thread was faster
  heap_bytes_ -= size;
  return true;
}

uint64_t Memory::allocate(uint64_t size, std::string name, uint64_t align, Owner owner) {
  std::unique_lock lock(mutex_);
  if (size > range_end_ - range_begin_)
    throw Error("cannot allocate " + std::to_string(size) + " bytes of device memory");
  const uint64_t reserved = round_up(std::max<uint64_t>(size, 1), 256) + guard_bytes;
  const uint64_t base = take(reserved, std::max<uint64_t>(align, 256), owner);
  if (base == 0) throw Error("out of device memory: no room for " + std::to_string(size) + " bytes");
  if (name.empty()) name = "allocation #" + std::to_string(++serial_);
  forget_freed(base, reserved);
  std::shared_ptr<WrittenBytes> written;
  if (follows_writes && is_of_program(owner)) written = std::make_shared<WrittenBytes>(size);
  entries_[base] = {{base, size, false, std::move(name), std::move(written)}, true, reserved, owner};
  ++generation_;
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
    if (shared_file_ >= 0)
      fallocate(shared_file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(page_begin - range_begin_), static_cast<off_t>(page_end - page_begin));
    std::memset(reinterpret_cast<void*>(base), 0, page_begin - base);
    std::memset(reinterpret_cast<void*>(page_end), 0, end - page_end);
  } else {
    std::memset(reinterpret_cast<void*>(base), 0, end - base);
  }
  if (is_of_program(it->second.owner)) {
    rest(base, it->second.reserved);
    it->second.allocation.written.reset();
    freed_[base] = std::move(it->second.allocation);
  } else {
    free_.give(base, it->second.reserved);
  }
  entries_.erase(it);
  ++generation_;
  return true;
}

uint64_t Memory::reserve(uint64_t size, uint64_t align) {
  const std::unique_lock lock(mutex_);
  if (size > range_end_ - range_begin_) return 0;
  const uint64_t reserved = round_up(size, 256) + guard_bytes;
  const uint64_t base = take(reserved, std::max<uint64_t>(align, 256), Owner::program);
  if (base == 0) return 0;
  forget_freed(base, reserved);
  shared_edges_.erase(shared_edges_.lower_bound(base), shared_edges_.lower_bound(base + size));
  reserved_[base] = {base, size, false, "reserved addresses"};
  return base;
}

void Memory::give_back(uint64_t base, uint64_t size) {
  const std::unique_lock lock(mutex_);
  reserved_.erase(base);
  free_of_program_.give(base, round_up(size, 256) + guard_bytes);
}

std::pair<int, uint64_t> Memory::share(uint64_t base, uint64_t size, bool is_first_time) {
  const std::unique_lock lock(mutex_);
  const auto fail = [] { throw Error("the host cannot share memory between processes"); };
  if (shared_file_ < 0) {
    const int file = memfd_create("lanescope", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(range_end_ - range_begin_)) != 0) {
      if (file >= 0) close(file);
      fail();
    }
    shared_file_ = file;
  }
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = base / page * page, end = round_up(base + size, page);
  if (!is_first_time) return {shared_file_, base - range_begin_};
  // Other processes may write to edges that are shared already. Of the rest some may be mapped from the file,
  // too, since it was shared before it was freed: hence the copy.
  uint64_t first = begin, last = end;
  if (shared_edges_.contains(first)) first += page;
  if (first < last && shared_edges_.contains(last - page)) last -= page;
  std::vector<char> piece(uint64_t{1} << 20), zeros(piece.size());
  for (uint64_t at = first; at < last; at += piece.size()) {
    const uint64_t bytes = std::min<uint64_t>(piece.size(), last - at);
    std::memcpy(piece.data(), reinterpret_cast<const void*>(at), bytes);
    if (std::memcmp(piece.data(), zeros.data(), bytes) != 0 &&
        pwrite(shared_file_, piece.data(), bytes, static_cast<off_t>(at - range_begin_)) !=
            static_cast<ssize_t>(bytes))
      fail();
  }
  if (first < last &&
      mmap(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           shared_file_, static_cast<off_t>(first - range_begin_)) == MAP_FAILED)
    fail();
  shared_edges_.insert({begin, end - page});
  return {shared_file_, base - range_begin_};
}

void Memory::attach(const void* base, uint64_t size, std::string name) {
  std::unique_lock lock(mutex_);
  const auto at = reinterpret_cast<uint64_t>(base);
  entries_[at] = {{at, size, false, std::move(name)}, false, 0, Owner::program};
  ++generation_;
}

bool Memory::detach(const void* base) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(reinterpret_cast<uint64_t>(base));
  if (it == entries_.end() || it->second.owned) return false;
  entries_.erase(it);
  ++generation_;
  return true;
}

void Memory::set_read_only(uint64_t base, bool read_only) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(base);
  if (it != entries_.end()) it->second.allocation.read_only = read_only;
}

void Memory::set_constant(uint64_t base) {
  std::unique_lock lock(mutex_);
  auto it = entries_.find(base);
  if (it != entries_.end()) it->second.allocation.constant = true;
}

void Memory::wrote(uint64_t address, uint64_t bytes) {
  if (!follows_writes) return;
  if (const auto found = find(address); found && found->written)
    found->written->add(address - found->base, std::min(bytes, found->size - (address - found->base)));
}

void Memory::wrote_anything() {
  const std::shared_lock lock(mutex_);
  for (const auto& [base, entry] : entries_)
    if (entry.allocation.written) entry.allocation.written->add_all();
}

std::optional<Allocation> Memory::find(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  auto it = entries_.upper_bound(address);
  if (it == entries_.begin()) return std::nullopt;
  --it;
  const Allocation& a = it->second.allocation;
  if (address - a.base >= a.size || bytes > a.size - (address - a.base)) return std::nullopt;
  return a;
}

std::optional<Allocation> Memory::nearest(uint64_t address) const {
  std::shared_lock lock(mutex_);
  const auto middle = entries_.upper_bound(address);
  const auto is_meant = [](const auto& entry) { return entry.second.owner != Owner::internal; };
  const auto after = std::find_if(middle, entries_.end(), is_meant);
  const auto found = std::find_if(std::make_reverse_iterator(middle), entries_.rend(), is_meant);
  if (found == entries_.rend())
    return after == entries_.end() ? std::nullopt : std::optional(after->second.allocation);
  const Allocation& before = found->second.allocation;
  const uint64_t past = address >= before.base + before.size ? address - (before.base + before.size) : 0;
  if (after != entries_.end() && after->first - address < past) return after->second.allocation;
  return before;
}

std::string Memory::neighbourhood(uint64_t address, uint64_t width) const {
  const auto extent = [](const Allocation& a) { return fmt::format("({} bytes at {:#x})", a.size, a.base); };
  if (const auto inside = find(address))
    return fmt::format("{} bytes are left in {} {}, {} are asked", inside->base + inside->size - address,
                       inside->name, extent(*inside), width);
  if (const auto gone = freed(address))
    return fmt::format("inside {} {}, which was freed", gone->name, extent(*gone));
  if (const auto empty = reserved(address))
    return fmt::format(
        "inside {} bytes of reserved addresses at {:#x}, where nothing is mapped that kernels may use",
        empty->size, empty->base);
  const auto near = nearest(address);
  if (!near) return "there is no allocation";
  const bool after = address >= near->base + near->size;
  const uint64_t distance = after ? address - (near->base + near->size) : near->base - address;
  constexpr uint64_t far = uint64_t{1} << 30;
  if (distance > far)
    return is_of_host(address) ? "memory of the host, which kernels cannot use" : "no allocation is near";
  return fmt::format("{} bytes {} {} {}", distance, after ? "past the end of" : "before", near->name,
                     extent(*near));
}

std::optional<Allocation> Memory::freed(uint64_t address) const {
  std::shared_lock lock(mutex_);
  auto it = freed_.upper_bound(address);
  if (it == freed_.begin()) return std::nullopt;
  const Allocation& a = std::prev(it)->second;
  return address - a.base < a.size ? std::optional(a) : std::nullopt;
}

std::optional<Allocation> Memory::reserved(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  const auto it = reserved_.upper_bound(address);
  if (it == reserved_.begin()) return std::nullopt;
  const Allocation& a = std::prev(it)->second;
  return address - a.base < a.size ? std::optional(a) : std::nullopt;
}

bool Memory::is_of_host(uint64_t address) const {
  if (address >= range_begin_ && address < range_end_) return false;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(page - 1)), 1, &resident) == 0;
}

uint64_t Memory::allocated_bytes() const {
  std::shared_lock lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [base, entry] : entries_) sum += entry.allocation.size;
  return sum;
}

std::vector<Allocation> Memory::unfreed() const {
  const std::shared_lock lock(mutex_);
  std::vector<Allocation> found;
  for (const auto& [base, entry] : entries_)
    if (entry.owned && is_of_program(entry.owner)) found.push_back(entry.allocation);
  return found;
}

}  // namespace lanescope::exec
