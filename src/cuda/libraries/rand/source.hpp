// What a generator has become by the calls so far, and how it goes on: it lives on the side of the device, in
// the order of the stream.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "cuda/libraries/rand/types.hpp"

namespace lanescope::cuda::rand {

class PoissonTable;

/// One call: `count` numbers, to `out`.
struct Request {
  Distribution distribution = Distribution::bits;
  void* out = nullptr;
  uint64_t count = 0;
  double mean = 0, deviation = 1;
  std::shared_ptr<const PoissonTable> poisson = nullptr;  ///< for that distribution
  bool on_host = false;                                   ///< as the host computes, not as a GPU
};

class Source {
 public:
  virtual ~Source() = default;
  /// The next numbers.
  void generate(const Request& request) {
    const std::lock_guard lock(mutex_);
    fill(request);
  }

 private:
  virtual void fill(const Request& request) = 0;
  std::mutex mutex_;
};

/// `offset` numbers behind where the seed's sequence begins.
std::shared_ptr<Source> make_source(Type type, Ordering ordering, uint64_t seed, uint64_t offset);

}  // namespace lanescope::cuda::rand
