// What a program says of its managed memory, and what it is told of it again: for whole ranges, for parts,
// for pages that differ, and after it was freed.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "require.hpp"
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
constexpr Location device{1, 0}, host{2, 0}, node{3, 0}, own_node{4, 0}, anywhere = device, nowhere{0, 0};
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
  prefetched_type,
  prefetched_id
};

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
              told(preferred_type, whole, all) == 0 && told(preferred_id, whole, all) == none &&
              told(prefetched_id, whole, all) == none,
          "nothing was said");

  require(cudaMemAdvise(whole, all, set_read_mostly, anywhere) == 0 && told(read_mostly, whole, all) == 1,
          "read mostly");
  require(cudaMemAdvise(whole, all, set_preferred, device) == 0 && told(preferred, whole, all) == 0,
          "preferred");
  require(told(preferred_type, whole, all) == 1 && told(preferred_id, whole, all) == 0, "by type");
  require(cudaMemPrefetchAsync(whole, all, host, 0, nullptr) == 0 && told(prefetched, whole, all) == cpu,
          "prefetched");
  require(told(prefetched_type, whole, all) == 2 && told(prefetched_id, whole, all) == cpu, "by type");
  require(cudaMemPrefetchAsync(whole, page, node, 0, nullptr) == 0 && told(prefetched, whole, page) == cpu &&
              told(prefetched_type, whole, page) == 3 && told(prefetched_id, whole, page) == 0,
          "prefetched to a node");

  // One byte is said of its page; a range with another page in it has nothing in common any more.
  require(cudaMemAdvise(whole + 3 * page + 5, 1, set_preferred, host) == 0, "of one page");
  require(
      told(preferred, whole + 3 * page, page) == cpu || told(preferred, whole + 3 * page + 1024, 1) == cpu,
      "its page");
  require(told(preferred, whole, all) == none && told(preferred, whole, page) == 0 &&
              told(preferred, whole + 6 * page, page) == 0,
          "the others");
  require(cudaMemAdvise(whole, page, unset_read_mostly, anywhere) == 0 &&
              told(read_mostly, whole, all) == 0 && told(read_mostly, whole + 5 * page, page) == 1,
          "read mostly in part");
  require(cudaMemAdvise(whole, all, unset_preferred, anywhere) == 0 && told(preferred, whole, all) == none &&
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
  require(cudaMemAdvise(whole, all, set_preferred, {3, 7}) == invalid_value, "no such node");
  require(cudaMemAdvise(whole, all, set_read_mostly, {1, 3}) == 0, "the place does not matter");
  require(cudaMemAdvise(whole, all, set_read_mostly, nowhere) == invalid_value &&
              cudaMemAdvise(whole, all, unset_preferred, {9, 0}) == invalid_value,
          "but has to be one");
  require(cudaMemAdvise(whole, all, set_accessed_by, node) == invalid_value, "nodes access nothing");
  require(cudaMemAdvise(whole, all, set_preferred, own_node) == 0 && told(preferred_type, whole, all) == 2 &&
              told(preferred_id, whole, all) == cpu,
          "a node is the host");
  require(cudaMemAdvise(plain, page, set_read_mostly, device) == invalid_value &&
              cudaMemPrefetchAsync(plain, page, device, 0, nullptr) == invalid_value,
          "not managed");
  require(cudaMemAdvise(whole, 0, set_read_mostly, device) == invalid_value, "nothing");
  require(cudaMemPrefetchAsync(whole, all, {1, 3}, 0, nullptr) == 101, "cudaErrorInvalidDevice");
  require(cudaMemPrefetchAsync(whole, all, nowhere, 0, nullptr) == invalid_value &&
              cudaMemPrefetchAsync(whole, all, {3, 7}, 0, nullptr) == invalid_value &&
              cudaMemPrefetchAsync(whole, all, device, 1, nullptr) == invalid_value,
          "no place, and flags");

  // Memory that takes the place of what was freed has nothing said of it.
  require(cudaFree(whole) == 0, "free");
  for (int i = 0; i < 4; ++i) {
    require(cudaMallocManaged(reinterpret_cast<void**>(&memory), all, 1) == 0, "memory");
    require(told(prefetched, memory, all) == none, "new memory");
  }
  std::printf("advised\n");
}
