// Reductions on a GPU: the five steps of kernels/reduce.cu as whole multi-pass reductions at the published
// sizes, the library's reduce (include/lanescope/kernels/reduce.cuh) and CUB, in one process, in turns.
//
//   bench/gpu/reduce [suite] [sum] [short] [types] [segments] [smaller=K] [repeats=N]
//
// Without a part named, all five:
//
//   suite     2^24 floats with blocks of 512 and 2^25 with blocks of 256: time, bandwidth, speed-up over the
//             divergent kernel, and the wavefronts of shared memory that the model (lanescope/model, asked
//             here for each access of the source) predicts for the whole reduction
//   sum       sums of 2^24, 2^25 and 2^28 floats, beside a copy from device to device
//   short     sums of 1,000 to 4 million floats, which lie in the L2 cache: 100 calls in a graph
//   types     other functions, types, base addresses of 1 GiB
//   segments  1 GiB of floats in segments, of one length and given by offsets
//
// Times are medians of one call between two events; calls go round several arrays of random numbers, so that
// no call finds its array in the L2 cache. Results are checked; a wrong one makes the exit status 1.
// `smaller=K` divides all sizes by 2^K, `repeats=N` times each N times: for a run on Lanescope's engine.
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cub/cub.cuh>
#include <functional>
#include <string>
#include <vector>

#include "bench/gpu/bench.cuh"
#include "kernels/reduce.cu"
#include "lanescope/kernels/reduce.cuh"

namespace {

using namespace bench;
using namespace lanescope::kernels;
namespace model = lanescope::model;

template <class T>
T* allocate(size_t count) {
  void* memory = nullptr;
  must(cudaMalloc(&memory, count * sizeof(T)));
  return static_cast<T*>(memory);
}
template <class T>
std::vector<T> read(const T* memory, size_t count) {
  std::vector<T> values(count);
  must(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// Numbers from 0 to 1 (integers: any).
template <class T>
__global__ void fill(T* out, size_t n, uint32_t seed) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) {
    const uint32_t x = random_bits(i, seed);
    if constexpr (std::is_integral_v<T>)
      out[i] = static_cast<T>(x);
    else
      out[i] = static_cast<T>(static_cast<float>(x >> 8) * 0x1p-24f);
  }
}

/// Arrays of random numbers that calls take in turns.
template <class T>
struct Arrays {
  std::vector<T*> array;
  Arrays(size_t arrays, size_t n) {
    for (size_t a = 0; a < arrays; ++a) {
      array.push_back(allocate<T>(n));
      fill<<<1024, 256>>>(array.back(), n, static_cast<uint32_t>(77 * a + 1));
      must(cudaGetLastError());
    }
  }
  ~Arrays() {
    for (T* a : array) cudaFree(a);
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  [[nodiscard]] const T* at(int call) const { return array[static_cast<size_t>(call) % array.size()]; }
};

// ---- Candidates and their times.

struct Candidate {
  std::string name;
  std::function<void(int call)> run;
  std::function<std::string()> wrong;  ///< after run(0): what is wrong with the result; empty if nothing is
  double wavefronts = 0;               ///< predicted; 0: not said
  float median = 0;                    ///< milliseconds
};

/// Runs candidates in turns.
void measure(std::vector<Candidate>& candidates, int usual_repeats) {
  for (Candidate& c : candidates) {
    c.run(0);
    must(cudaDeviceSynchronize());
    const std::string wrong = c.wrong ? c.wrong() : "";
    if (wrong.empty()) continue;
    std::printf("WRONG: %s: %s\n", c.name.c_str(), wrong.c_str());
    ++failures;
  }
  // What precedes the timed call is the same for all: that call once more, on another array.
  const std::vector<float> times = medians(
      candidates.size(), repeats > 0 ? 0 : 3, repeats > 0 ? repeats : usual_repeats,
      [&](size_t c, int turn) { candidates[c].run(turn); },
      [&](size_t c, int turn) { candidates[c].run(turn + 1); });
  for (size_t c = 0; c < candidates.size(); ++c) candidates[c].median = times[c];
}

/// Prints a table; speed-ups are over the candidate `base`.
void print(const std::string& title, const std::vector<Candidate>& candidates, double bytes, size_t base) {
  std::printf("\n%s\n%-34s %10s %8s %8s %14s\n", title.c_str(), "", "us", "GB/s", "speed-up", "wavefronts");
  for (const Candidate& c : candidates) {
    std::printf("%-34s %10.2f %8.0f %8.2f", c.name.c_str(), c.median * 1e3, bytes / c.median * 1e-6,
                candidates[base].median / c.median);
    if (c.wavefronts > 0) std::printf(" %14.0f", c.wavefronts);
    std::printf("\n");
  }
}

std::string compare(double got, double expected, double tolerance) {
  if (std::fabs(got - expected) <= tolerance * std::fabs(expected)) return "";
  return std::to_string(got) + " instead of " + std::to_string(expected);
}

double sum_in_double(const float* in, size_t n) {
  double* out = allocate<double>(1);
  const size_t bytes = reduce_workspace_bytes<float, double>(n);
  void* memory = allocate<char>(bytes + 1);
  must(reduce_sum(out, in, n, Workspace{memory, bytes}, nullptr));
  const double sum = read(out, 1)[0];
  must(cudaFree(out));
  must(cudaFree(memory));
  return sum;
}

/// Workspace of CUB: `call(memory, bytes)` once to ask, then to run.
struct CubCall {
  std::function<cudaError_t(void* memory, size_t& bytes, int call)> call;
  void* memory = nullptr;
  size_t bytes = 0;
  explicit CubCall(std::function<cudaError_t(void*, size_t&, int)> f) : call(std::move(f)) {
    must(call(nullptr, bytes, 0));
    memory = allocate<char>(bytes + 1);
  }
  void operator()(int i) { must(call(memory, bytes, i)); }
};
Candidate cub_candidate(const std::string& name, std::function<cudaError_t(void*, size_t&, int)> call,
                        std::function<std::string()> wrong) {
  return {name, CubCall(std::move(call)), std::move(wrong)};
}

/// Workspace of the library.
template <class In, class Acc, class Shape>
Workspace workspace_for(const Shape& shape) {
  const size_t bytes = reduce_workspace_bytes<In, Acc>(shape);
  return {allocate<char>(bytes + 1), bytes};
}

// ---- The suite.

using Step = void (*)(const float*, float*, unsigned);

struct SuiteKernel {
  const char* name;
  Step of_256, of_512;
  int per_thread;
};

/// Wavefronts of one block of a step of kernels/reduce.cu: every access to d[] that its source makes, asked
/// of the model. (tests/kernels asserts the same numbers from the PTX.)
uint64_t wavefronts_of_block(const std::string& name, unsigned block) {
  uint64_t wavefronts = 0;
  // Thread t reads or writes word at(t), or rests where at(t) is negative.
  const auto access = [&](model::Op op, const auto& at) {
    for (unsigned first = 0; first < block; first += 32)
      wavefronts += wavefronts_of(op, 4, [&](int lane) { return at(static_cast<long>(first) + lane) * 4; });
  };
  // d[at(t)] += d[at(t) + s]
  const auto add = [&](long s, const auto& at) {
    access(model::Op::load, at);
    access(model::Op::load, [&](long t) { return at(t) < 0 ? -1 : at(t) + s; });
    access(model::Op::store, at);
  };
  access(model::Op::store, [](long t) { return t; });
  const long n = block;
  if (name == "divergent")
    for (long s = 1; s < n; s *= 2) add(s, [&](long t) { return t % (2 * s) == 0 ? t : -1; });
  else if (name == "interleaved")
    for (long s = 1; s < n; s *= 2) add(s, [&](long t) { return 2 * s * t < n ? 2 * s * t : -1; });
  else
    for (long s = n / 2; s > (name == "shuffle" ? 32 : 0); s /= 2)
      add(s, [&](long t) { return t < s ? t : -1; });
  if (name == "shuffle") {
    access(model::Op::load, [](long t) { return t < 32 ? t : -1; });
    access(model::Op::load, [](long t) { return t < 32 ? t + 32 : -1; });
  } else {
    access(model::Op::load, [](long t) { return t == 0 ? 0 : -1; });
  }
  return wavefronts;
}

void suite(int log_n, unsigned block) {
  const unsigned n = 1u << log_n;
  const Arrays<float> in(4, n);
  const double expected = sum_in_double(in.at(0), n);
  float* partial[2] = {allocate<float>(n / block), allocate<float>(n / block)};
  float* result = allocate<float>(1);
  const SuiteKernel kernels[] = {{"divergent", reduce_divergent, reduce_divergent_512, 1},
                                 {"interleaved", reduce_interleaved, reduce_interleaved_512, 1},
                                 {"sequential", reduce_sequential, reduce_sequential_512, 1},
                                 {"first_add", reduce_first_add, reduce_first_add_512, 2},
                                 {"shuffle", reduce_shuffle, reduce_shuffle_512, 2}};
  std::vector<Candidate> candidates;
  const auto right = [=] { return compare(read(result, 1)[0], expected, 2e-6); };
  for (const SuiteKernel& k : kernels) {
    const unsigned piece = block * static_cast<unsigned>(k.per_thread);
    const Step kernel = block == 256 ? k.of_256 : k.of_512;
    double blocks = 0;
    for (unsigned left = n; left > 1; left = (left + piece - 1) / piece) blocks += (left + piece - 1) / piece;
    candidates.push_back({k.name,
                          [=, &in](int call) {
                            const float* from = in.at(call);
                            int next = 0;
                            for (unsigned left = n; left > 1; next = 1 - next) {
                              const unsigned grid = (left + piece - 1) / piece;
                              float* to = grid == 1 ? result : partial[next];
                              kernel<<<grid, block>>>(from, to, left);
                              must(cudaGetLastError());
                              from = to;
                              left = grid;
                            }
                          },
                          right, blocks * static_cast<double>(wavefronts_of_block(k.name, block))});
  }
  const Workspace workspace = workspace_for<float, float>(size_t{n});
  candidates.push_back({"lanescope reduce_sum",
                        [=, &in](int call) { must(reduce_sum(result, in.at(call), n, workspace, nullptr)); },
                        right});
  candidates.push_back(cub_candidate(
      "CUB DeviceReduce::Sum",
      [=, &in](void* memory, size_t& bytes, int call) {
        return cub::DeviceReduce::Sum(memory, bytes, in.at(call), result, static_cast<int>(n));
      },
      right));
  measure(candidates, 40);
  print("Sum of 2^" + std::to_string(log_n) + " floats, blocks of " + std::to_string(block) +
            ", whole multi-pass reduction; wavefronts of shared memory predicted by the model",
        candidates, 4.0 * n, 0);
  must(cudaFree(partial[0]));
  must(cudaFree(partial[1]));
  must(cudaFree(result));
  must(cudaFree(workspace.memory));
}

// ---- Sums.

void sums(int log_n) {
  const size_t n = size_t{1} << log_n;
  const Arrays<float> in(log_n > 26 ? 2 : 6, n);
  const double expected = sum_in_double(in.at(0), n);
  float* result = allocate<float>(1);
  float* copy = allocate<float>(n / 2);
  const auto right = [=] { return compare(read(result, 1)[0], expected, 2e-6); };
  const Workspace workspace = workspace_for<float, float>(n);
  std::vector<Candidate> candidates;
  candidates.push_back(cub_candidate(
      "CUB DeviceReduce::Sum",
      [=, &in](void* memory, size_t& bytes, int call) {
        return cub::DeviceReduce::Sum(memory, bytes, in.at(call), result, n);
      },
      right));
  candidates.push_back({"lanescope reduce_sum",
                        [=, &in](int call) { must(reduce_sum(result, in.at(call), n, workspace, nullptr)); },
                        right});

  candidates.push_back({"copy of half of it", [=, &in](int call) {
                          must(cudaMemcpyAsync(copy, in.at(call), n * 2, cudaMemcpyDeviceToDevice));
                        }});
  measure(candidates, log_n > 26 ? 60 : 200);
  print("Sum of 2^" + std::to_string(log_n) + " floats", candidates, 4.0 * static_cast<double>(n), 0);
  must(cudaFree(result));
  must(cudaFree(copy));
  must(cudaFree(workspace.memory));
}

constexpr int calls_in_graph = 100;
/// So many calls, one after the other, whose launches the host does not delay.
cudaGraphExec_t graph_of(const std::function<void(cudaStream_t)>& call) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  must(cudaStreamCreate(&stream));
  must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < calls_in_graph; ++i) call(stream);
  must(cudaStreamEndCapture(stream, &graph));
  must(cudaGraphInstantiate(&executable, graph, 0));
  must(cudaGraphDestroy(graph));
  must(cudaStreamDestroy(stream));
  return executable;
}

void short_sums(size_t n) {
  const Arrays<float> in(1, n);
  const double expected = sum_in_double(in.at(0), n);
  float* result = allocate<float>(1);
  const Workspace workspace = workspace_for<float, float>(n);
  const auto cub_sum = [&](void* memory, size_t& bytes, cudaStream_t stream) {
    must(cub::DeviceReduce::Sum(memory, bytes, in.at(0), result, n, stream));
  };
  size_t bytes = 0;
  cub_sum(nullptr, bytes, nullptr);
  char* const memory = allocate<char>(bytes + 1);
  const cudaGraphExec_t theirs = graph_of([&](cudaStream_t stream) { cub_sum(memory, bytes, stream); });
  const cudaGraphExec_t ours =
      graph_of([&](cudaStream_t stream) { must(reduce_sum(result, in.at(0), n, workspace, stream)); });
  const auto right = [=] { return compare(read(result, 1)[0], expected, 2e-6); };
  const auto launch = [](cudaGraphExec_t graph) {
    return [graph](int) { must(cudaGraphLaunch(graph, nullptr)); };
  };
  std::vector<Candidate> candidates{{"CUB DeviceReduce::Sum", launch(theirs), right},
                                    {"lanescope reduce_sum", launch(ours), right}};
  measure(candidates, 20);
  for (Candidate& c : candidates) c.median /= calls_in_graph;
  print("Sum of " + std::to_string(n) + " floats, a call in a graph", candidates,
        4.0 * static_cast<double>(n), 0);
  must(cudaGraphExecDestroy(theirs));
  must(cudaGraphExecDestroy(ours));
  must(cudaFree(result));
  must(cudaFree(memory));
  must(cudaFree(workspace.memory));
}

// ---- Types.

/// As Sum, without saying that it commutes.
struct SumInOrder {
  template <class T>
  LANESCOPE_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

/// What the parts "types" and "segments" reduce.
size_t array_bytes() { return size_t{1} << (30 - smaller); }

/// Two candidates: CUB and the library, which must agree (`tolerance` 0: to the bit).
template <class T, class Acc, class Cub, class Ours>
void versus(const char* name, const Cub& cub_call, const Ours& our_call, double tolerance) {
  const size_t n = array_bytes() / sizeof(T);
  const Arrays<T> in(2, n);
  Acc *theirs = allocate<Acc>(1), *ours = allocate<Acc>(1);
  const Workspace workspace = workspace_for<T, Acc>(n);
  std::vector<Candidate> candidates;
  candidates.push_back(cub_candidate(std::string("CUB, ") + name,
                                     [=, &in](void* memory, size_t& bytes, int call) {
                                       return cub_call(memory, bytes, in.at(call), theirs, n);
                                     },
                                     {}));
  candidates.push_back({std::string("lanescope, ") + name,
                        [=, &in](int call) { must(our_call(ours, in.at(call), n, workspace)); },
                        [=] {
                          return compare(static_cast<double>(read(ours, 1)[0]),
                                         static_cast<double>(read(theirs, 1)[0]), tolerance);
                        }});
  measure(candidates, 20);
  print(std::to_string(array_bytes() >> 20) + " MiB", candidates, static_cast<double>(array_bytes()), 0);
  must(cudaFree(theirs));
  must(cudaFree(ours));
  must(cudaFree(workspace.memory));
}

void types() {
  const auto cub_sum = [](void* m, size_t& b, const auto* in, auto* out, size_t n) {
    return cub::DeviceReduce::Sum(m, b, in, out, n);
  };
  const auto sum = [](auto* out, const auto* in, size_t n, Workspace w) {
    return reduce_sum(out, in, n, w, nullptr);
  };
  versus<double, double>("sum of double", cub_sum, sum, 1e-12);
  versus<__half, float>(
      "sum of half as float",
      [](void* m, size_t& b, const __half* in, float* out, size_t n) {
        return cub::DeviceReduce::Reduce(m, b, in, out, n, cuda::std::plus<float>{}, 0.0f);
      },
      sum, 1e-5);
  versus<int8_t, int>(
      "sum of int8 as int",
      [](void* m, size_t& b, const int8_t* in, int* out, size_t n) {
        return cub::DeviceReduce::Reduce(m, b, in, out, n, cuda::std::plus<int>{}, 0);
      },
      sum, 0);
  versus<float, float>(
      "min of float",
      [](void* m, size_t& b, const float* in, float* out, size_t n) {
        return cub::DeviceReduce::Min(m, b, in, out, n);
      },
      [](float* out, const float* in, size_t n, Workspace w) { return reduce_min(out, in, n, w, nullptr); },
      0);
  const auto cub_max = [](void* m, size_t& b, const auto* in, auto* out, size_t n) {
    return cub::DeviceReduce::Max(m, b, in, out, n);
  };
  const auto max = [](auto* out, const auto* in, size_t n, Workspace w) {
    return reduce_max(out, in, n, w, nullptr);
  };
  versus<uint8_t, uint8_t>("max of uint8", cub_max, max, 0);
  versus<int16_t, int16_t>("max of int16", cub_max, max, 0);
  versus<float, float>(
      "sum in the order of elements", cub_sum,
      [](float* out, const float* in, size_t n, Workspace w) {
        return reduce(out, in, n, 0.0f, SumInOrder{}, w, nullptr);
      },
      2e-6);
  versus<float, float>(
      "sum, misaligned by 4 bytes",
      [](void* m, size_t& b, const float* in, float* out, size_t n) {
        return cub::DeviceReduce::Sum(m, b, in + 1, out, n - 1);
      },
      [](float* out, const float* in, size_t n, Workspace w) {
        return reduce_sum(out, in + 1, n - 1, w, nullptr);
      },
      2e-6);

  const size_t n = array_bytes() / sizeof(float);
  const Arrays<float> in(2, n);
  float* value = allocate<float>(1);
  int64_t* index = allocate<int64_t>(1);
  auto* ours = allocate<Indexed<float>>(1);
  const Workspace workspace = workspace_for<float, Indexed<float>>(n);
  std::vector<Candidate> candidates;
  candidates.push_back(cub_candidate("CUB, argmin of float",
                                     [=, &in](void* memory, size_t& bytes, int call) {
                                       return cub::DeviceReduce::ArgMin(memory, bytes, in.at(call), value,
                                                                        index, static_cast<int64_t>(n));
                                     },
                                     {}));
  candidates.push_back({"lanescope, argmin of float",
                        [=, &in](int call) { must(reduce_argmin(ours, in.at(call), n, workspace, nullptr)); },
                        [=] {
                          const Indexed<float> got = read(ours, 1)[0];
                          return compare(got.value, read(value, 1)[0], 0) +
                                 compare(static_cast<double>(got.index),
                                         static_cast<double>(read(index, 1)[0]), 0);
                        }});
  measure(candidates, 20);
  print(std::to_string(array_bytes() >> 20) + " MiB", candidates, static_cast<double>(array_bytes()), 0);
  must(cudaFree(value));
  must(cudaFree(index));
  must(cudaFree(ours));
  must(cudaFree(workspace.memory));
}

// ---- Segments.

/// Sums of segments of `n` floats that `host` separates; `length` not 0: all of that length.
void segments_of(const std::string& name, const Arrays<float>& in, size_t n, const std::vector<int64_t>& host,
                 size_t length) {
  const size_t count = host.size() - 1;
  int64_t* offsets = allocate<int64_t>(host.size());
  must(cudaMemcpy(offsets, host.data(), host.size() * sizeof(int64_t), cudaMemcpyHostToDevice));
  float *theirs = allocate<float>(count), *ours = allocate<float>(count);
  std::vector<Candidate> candidates;
  candidates.push_back(cub_candidate("CUB DeviceSegmentedReduce::Sum",
                                     [=, &in](void* memory, size_t& bytes, int call) {
                                       return cub::DeviceSegmentedReduce::Sum(
                                           memory, bytes, in.at(call), theirs, static_cast<int64_t>(count),
                                           offsets, offsets + 1);
                                     },
                                     {}));
  const auto wrong = [=]() -> std::string {
    const auto a = read(theirs, count), b = read(ours, count);
    for (size_t s = 0; s < count; ++s)
      if (const auto text = compare(b[s], a[s], 1e-4); !text.empty())
        return "segment " + std::to_string(s) + ": " + text;
    return "";
  };
  const Segments<int64_t> shape{offsets, count, n};
  const Workspace workspace = workspace_for<float, float>(shape);
  candidates.push_back(
      {"lanescope, Segments",
       [=, &in](int call) { must(reduce_sum(ours, in.at(call), shape, workspace, nullptr)); }, wrong});
  const FixedSegments fixed{count, length};
  const Workspace fixed_workspace = workspace_for<float, float>(fixed);
  if (length != 0)
    candidates.push_back(
        {"lanescope, FixedSegments",
         [=, &in](int call) { must(reduce_sum(ours, in.at(call), fixed, fixed_workspace, nullptr)); },
         wrong});
  measure(candidates, 12);
  print(std::to_string(count) + " segments, " + name, candidates,
        4.0 * static_cast<double>(n) + 12.0 * static_cast<double>(count), 0);
  must(cudaFree(offsets));
  must(cudaFree(theirs));
  must(cudaFree(ours));
  must(cudaFree(workspace.memory));
  must(cudaFree(fixed_workspace.memory));
}

void segments() {
  const size_t n = array_bytes() / sizeof(float);
  const Arrays<float> in(2, n);
  for (const size_t length :
       {size_t{8}, size_t{32}, size_t{100}, size_t{1000}, size_t{16384}, size_t{1} << 20}) {
    std::vector<int64_t> offsets;
    if (length > n) continue;
    for (size_t at = 0; at <= n; at += length) offsets.push_back(static_cast<int64_t>(at));
    segments_of("of " + std::to_string(length), in, n / length * length, offsets, length);
  }
  // Lengths that differ: uniform to 128, a few huge ones among tiny ones, one that is everything.
  std::vector<int64_t> mixed{0}, skewed{0};
  uint32_t x = 1;
  while (mixed.back() + 128 < static_cast<int64_t>(n)) {
    x = x * 1664525u + 1013904223u;
    mixed.push_back(mixed.back() + (x >> 16) % 129);
  }
  segments_of("of 0 to 128", in, static_cast<size_t>(mixed.back()), mixed, 0);
  const int64_t huge = std::max<int64_t>(16, (1 << 22) >> smaller);
  while (skewed.back() + huge < static_cast<int64_t>(n)) {
    x = x * 1664525u + 1013904223u;
    skewed.push_back(skewed.back() + ((x >> 12) % 20000 == 0 ? huge : (x >> 16) % 16));
  }
  segments_of("of 0 to 15, and some of " + std::to_string(huge), in, static_cast<size_t>(skewed.back()),
              skewed, 0);
  segments_of(
      "999 of them empty", in, n,
      [&] {
        std::vector<int64_t> offsets(1001, static_cast<int64_t>(n));
        std::fill(offsets.begin(), offsets.begin() + 500, 0);
        return offsets;
      }(),
      0);
}

}  // namespace

int main(int argc, char** argv) {
  const Parts wanted = parts_wanted(argc, argv, {{"suite", "sum", "short", "types", "segments"}},
                                    "reduce [suite] [sum] [short] [types] [segments]");
  cudaDeviceProp properties;
  must(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s\n", properties.name);
  if (wanted("suite")) {
    suite(24 - smaller, 512);
    suite(25 - smaller, 256);
  }
  if (wanted("sum"))
    for (const int log_n : {24, 25, 28}) sums(log_n - smaller);
  if (wanted("short"))
    for (const size_t n : {1000, 100000, 1000000, 4000000}) short_sums(std::max<size_t>(n >> smaller, 1));
  if (wanted("types")) types();
  if (wanted("segments")) segments();
  return failures == 0 ? 0 : 1;
}
