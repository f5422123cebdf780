// What a program says of its managed memory, and what it is told of it again: for whole ranges, for parts,
// for pages that differ, and after it was freed.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime_calls.hpp"

/// cudaMemLocation.
struct Location {
  int type, id;
};

extern "C" {
int cudaMemAdvise(const void*, size_t, int, Location);
int cudaMemPrefetchAsync(const void*, size_t, Location, unsigned, void*);
int cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
int cudaMemRangeGetAttributes(void**, size_t*, int*, size_t, const void*, size_t);
}

namespace {

constexpr int invalid_value = 1, cpu = -1, none = -2;
constexpr size_t page = 4096, pages = 8;
constexpr Location device{1, 0}, host{2, 0}, nowhere{0, 0};
enum Advice {
  set_read_mostly = 1,
  unset_read_mostly,
  set_preferred,
  unset_preferred,
  set_accessed_by,
  unset_accessed_by
};
enum Attribute {
  read_mostly = 1,
  preferred,
  accessed_by,
  prefetched,
  preferred_type,
  preferred_id,
  prefetched_type
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

int told(int attribute, const void* at, size_t bytes) {
  int value = 77;
  require(cudaMemRangeGetAttribute(&value, sizeof value, attribute, at, bytes) == 0, "attribute");
  return value;
}

}  // namespace

int main() {
  char* memory = nullptr;
  require(cudaMallocManaged(reinterpret_cast<void**>(&memory), pages * page, 1) == 0, "memory");
  char* const whole = memory;
  const size_t all = pages * page;
  require(told(read_mostly, whole, all) == 0 && told(preferred, whole, all) == none &&
              told(accessed_by, whole, all) == none && told(prefetched, whole, all) == none &&
              told(preferred_type, whole, all) == 0,
          "nothing was said");

  require(cudaMemAdvise(whole, all, set_read_mostly, nowhere) == 0 && told(read_mostly, whole, all) == 1,
          "read mostly");
  require(cudaMemAdvise(whole, all, set_preferred, device) == 0 && told(preferred, whole, all) == 0,
          "preferred");
  require(told(preferred_type, whole, all) == 1 && told(preferred_id, whole, all) == 0, "by type");
  require(cudaMemPrefetchAsync(whole, all, host, 0, nullptr) == 0 && told(prefetched, whole, all) == cpu,
          "prefetched");
  require(told(prefetched_type, whole, all) == 2, "by type");

  // One byte is said of its page; a range with another page in it has nothing in common any more.
  require(cudaMemAdvise(whole + 3 * page + 5, 1, set_preferred, host) == 0, "of one page");
  require(
      told(preferred, whole + 3 * page, page) == cpu || told(preferred, whole + 3 * page + 1024, 1) == cpu,
      "its page");
  require(told(preferred, whole, all) == none && told(preferred, whole, page) == 0 &&
              told(preferred, whole + 6 * page, page) == 0,
          "the others");
  require(cudaMemAdvise(whole, page, unset_read_mostly, nowhere) == 0 && told(read_mostly, whole, all) == 0 &&
              told(read_mostly, whole + 5 * page, page) == 1,
          "read mostly in part");
  require(cudaMemAdvise(whole, all, unset_preferred, nowhere) == 0 && told(preferred, whole, all) == none &&
              told(preferred, whole + 3 * page, 1) == none,
          "not preferred");

  // The list of those that access it is filled up.
  std::array<int, 3> who{};
  require(cudaMemAdvise(whole, all, set_accessed_by, device) == 0 &&
              cudaMemRangeGetAttribute(who.data(), sizeof who, accessed_by, whole, all) == 0 &&
              who == std::array{0, none, none},
          "accessed by the device");
  require(cudaMemAdvise(whole, page, unset_accessed_by, device) == 0 &&
              told(accessed_by, whole, all) == none && told(accessed_by, whole + 2 * page, page) == 0,
          "accessed in part");

  // Several at once.
  int first = 77, second = 77;
  std::array<void*, 2> data{&first, &second};
  std::array<size_t, 2> sizes{4, 4};
  std::array<int, 2> attributes{prefetched, read_mostly};
  require(cudaMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), 2, whole + 5 * page,
                                    page) == 0 &&
              first == cpu && second == 1,
          "two attributes");

  // What is no question.
  int value = 0;
  void* plain = nullptr;
  require(cudaMalloc(&plain, page) == 0, "device memory");
  require(cudaMemRangeGetAttribute(&value, 4, preferred, plain, page) == invalid_value, "not managed");
  require(cudaMemRangeGetAttribute(&value, 8, preferred, whole, all) == invalid_value, "size");
  require(cudaMemRangeGetAttribute(&value, 4, 99, whole, all) == invalid_value, "attribute");
  require(cudaMemRangeGetAttribute(&value, 4, preferred, whole, all + 1) == invalid_value, "range");
  require(cudaMemAdvise(whole, all, 7, device) == invalid_value, "advice");
  require(cudaMemAdvise(whole, all, set_preferred, {1, 3}) == invalid_value, "no such device");

  // Memory that takes the place of what was freed has nothing said of it.
  require(cudaFree(whole) == 0, "free");
  for (int i = 0; i < 4; ++i) {
    require(cudaMallocManaged(reinterpret_cast<void**>(&memory), all, 1) == 0, "memory");
    require(told(prefetched, memory, all) == none, "new memory");
  }
  std::printf("advised\n");
}
