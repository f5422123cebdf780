// What the programs of bench/gpu share: their options, checked calls, random bits, times taken in turns, and
// the wavefronts that the model predicts for an access of a kernel's source.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "lanescope/kernels/status.cuh"
#include "lanescope/model/archs.hpp"
#include "lanescope/model/shared.hpp"

namespace bench {

inline int failures = 0;  ///< wrong results; the exit status is 1 if there are any
inline int smaller = 0;   ///< sizes are divided by 2^smaller
inline int repeats = 0;   ///< how often to time each candidate; 0: as the part says

[[noreturn]] inline void give_up(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

/// Reads `NAME=NUMBER`, the number from 0 to `most`.
inline bool take_number(const char* argument, const char* name, int most, int& value) {
  const size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  const char* const end = argument + std::strlen(argument);
  const auto [behind, error] = std::from_chars(argument + length + 1, end, value);
  return error == std::errc() && behind == end && value >= 0 && value <= most;
}

/// Parts of a benchmark; whether one is among them.
struct Parts {
  std::vector<std::string> names;
  bool operator()(const char* part) const {
    return std::find(names.begin(), names.end(), part) != names.end();
  }
};

/// The parts named on the command line, all of `parts` if there are none; takes `smaller=K` and `repeats=N`.
/// Anything else ends the program with status 2 and `usage`.
inline Parts parts_wanted(int argc, char** argv, const Parts& parts, const char* usage) {
  Parts wanted;
  for (int i = 1; i < argc; ++i) {
    if (take_number(argv[i], "smaller", 10, smaller) || take_number(argv[i], "repeats", 1000, repeats))
      continue;
    if (!parts(argv[i])) {
      std::fprintf(stderr, "usage: %s [smaller=K (0 to 10)] [repeats=N (to 1000)]\n", usage);
      std::exit(2);
    }
    wanted.names.emplace_back(argv[i]);
  }
  return wanted.names.empty() ? parts : wanted;
}
inline void must(cudaError_t error) {
  if (error != cudaSuccess) give_up(cudaGetErrorString(error));
}
inline void must(const lanescope::kernels::Status& status) {
  if (!status) give_up(status.message);
}

/// 32 bits that look random, the same for the same index and seed.
__device__ inline uint32_t random_bits(size_t index, uint32_t seed) {
  uint32_t x = static_cast<uint32_t>(index) * 0x9e3779b9u + seed;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Runs candidates in turns, `warm_up + rounds` times; the median of each one's milliseconds in the last
/// `rounds` turns. `before(k, turn)` puts candidate k's work into the stream that precedes `timed(k, turn)`.
template <class Before, class Timed>
std::vector<float> medians(size_t candidates, int warm_up, int rounds, const Before& before,
                           const Timed& timed) {
  cudaEvent_t begin, end;
  must(cudaEventCreate(&begin));
  must(cudaEventCreate(&end));
  std::vector<std::vector<float>> times(candidates);
  for (int turn = 0; turn < warm_up + rounds; ++turn)
    for (size_t k = 0; k < candidates; ++k) {
      before(k, turn);
      must(cudaEventRecord(begin));
      timed(k, turn);
      must(cudaEventRecord(end));
      must(cudaEventSynchronize(end));
      float milliseconds = 0;
      must(cudaEventElapsedTime(&milliseconds, begin, end));
      if (turn >= warm_up) times[k].push_back(milliseconds);
    }
  must(cudaEventDestroy(begin));
  must(cudaEventDestroy(end));
  std::vector<float> result;
  for (std::vector<float>& of : times) {
    std::sort(of.begin(), of.end());
    result.push_back(of[of.size() / 2]);
  }
  return result;
}

/// Wavefronts of one warp's access to shared memory on sm_90: the lane accesses `width` bytes at
/// `byte_of(lane)`, or rests where that is negative.
template <class ByteOf>
uint64_t wavefronts_of(lanescope::model::Op op, int width, const ByteOf& byte_of) {
  namespace model = lanescope::model;
  model::Request request = model::strided(op, width, 0, 0);
  request.mask = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const auto byte = static_cast<int64_t>(byte_of(lane));
    if (byte < 0) continue;
    request.mask |= uint64_t{1} << lane;
    request.address[lane] = static_cast<uint64_t>(byte);
  }
  return static_cast<uint64_t>(model::shared_cost(*model::find_arch("sm_90"), request).wavefronts);
}

}  // namespace bench
