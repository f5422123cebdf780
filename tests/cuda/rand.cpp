// What cuRAND gives: numbers, against those of an H100 in rand.txt, and what calls return that make no sense.
// It needs neither nvcc nor headers: functions are looked up by name, in the libcurand that the program
// finds.
//
// rand.txt has a line for each call. `generator` makes a new one, in place of the last, of a type (as the
// header numbers them), and sets what the line says, as do lines that begin with `seed`, `offset`, `ordering`
// or `seeds`. Others ask for numbers: so many, of a distribution. `sum` is FNV-1a of their bytes, INDEX:BITS
// one of them, `status` what the call returns if not 0. Normally distributed numbers are rounded otherwise on
// a GPU, and may differ a little.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "library_calls.hpp"

extern "C" {
int cudaMalloc(void**, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaMemset(void*, int, size_t);
int cudaDeviceSynchronize();
int cudaStreamCreate(void**);
}

namespace {

void* generator = nullptr;
void* device = nullptr;
constexpr size_t most = size_t{9} << 20;  // bytes

enum Type { xorwow = 101, mt19937 = 142, philox = 161 };

int create(int type, bool on_host = false) {
  return call(on_host ? "curandCreateGeneratorHost" : "curandCreateGenerator", &generator, type);
}

/// The numbers that a call makes.
class Numbers {
 public:
  Numbers(const std::string& distribution, size_t count, double mean, double deviation, bool on_host)
      : is_wide_(distribution.ends_with("double")), bytes_(count * (is_wide_ ? 8 : 4), '\xee') {
    void* out = on_host ? bytes_.data() : device;
    if (!on_host) cudaMemset(device, 0xee, bytes_.size());
    const auto mean_float = static_cast<float>(mean), deviation_float = static_cast<float>(deviation);
    if (distribution == "bits") status_ = call("curandGenerate", generator, out, count);
    if (distribution == "uniform") status_ = call("curandGenerateUniform", generator, out, count);
    if (distribution == "uniform_double")
      status_ = call("curandGenerateUniformDouble", generator, out, count);
    if (distribution == "poisson") status_ = call("curandGeneratePoisson", generator, out, count, mean);
    if (distribution == "normal")
      status_ = call("curandGenerateNormal", generator, out, count, mean_float, deviation_float);
    if (distribution == "log_normal")
      status_ = call("curandGenerateLogNormal", generator, out, count, mean_float, deviation_float);
    if (distribution == "normal_double")
      status_ = call("curandGenerateNormalDouble", generator, out, count, mean, deviation);
    if (distribution == "log_normal_double")
      status_ = call("curandGenerateLogNormalDouble", generator, out, count, mean, deviation);
    if (!on_host) cudaMemcpy(bytes_.data(), device, bytes_.size(), 2);
  }

  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] uint64_t sum() const {
    uint64_t sum = 14695981039346656037u;
    for (const char byte : bytes_) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    return sum;
  }
  [[nodiscard]] uint64_t bits(size_t i) const {
    if (is_wide_) return at<uint64_t>(i);
    return at<uint32_t>(i);
  }
  [[nodiscard]] bool is_close(size_t i, uint64_t expected) const {
    if (is_wide_) return is_close(at<double>(i), of_bits<double>(expected), 1e-14);
    return is_close(at<float>(i), of_bits<float>(static_cast<uint32_t>(expected)), 2e-6);
  }

 private:
  template <typename T>
  [[nodiscard]] T at(size_t i) const {
    T value;
    std::memcpy(&value, &bytes_.at(i * sizeof(T)), sizeof(T));
    return value;
  }
  template <typename T, typename Bits>
  static T of_bits(Bits bits) {
    T value;
    static_assert(sizeof(T) == sizeof(Bits));
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  static bool is_close(double found, double expected, double tolerance) {
    return std::abs(found - expected) <= tolerance * (1 + std::abs(expected));
  }

  bool is_wide_;
  std::vector<char> bytes_;
  int status_ = -1;
};

/// One line of rand.txt; whether all is as it says.
bool holds(const std::string& line) {
  static bool on_host = false;
  std::istringstream words(line);
  std::string word;
  words >> word;
  const auto number = [&] {
    uint64_t value = 0;
    words >> value;
    return value;
  };
  const auto set = [&](const std::string& what) {
    if (what == "seed") return call("curandSetPseudoRandomGeneratorSeed", generator, number());
    if (what == "offset") return call("curandSetGeneratorOffset", generator, number());
    if (what == "ordering") return call("curandSetGeneratorOrdering", generator, static_cast<int>(number()));
    if (what == "seeds") return call("curandGenerateSeeds", generator);
    return -1;
  };
  if (word == "seed" || word == "offset" || word == "ordering" || word == "seeds") return set(word) == 0;
  if (word == "generator") {
    if (generator != nullptr && call("curandDestroyGenerator", generator) != 0) return false;
    const int type = static_cast<int>(number());
    const auto rest = words.tellg();
    words >> word;
    on_host = word == "host";
    if (!on_host) words.seekg(rest);
    if (create(type, on_host) != 0) return false;
    while (words >> word) {
      if (set(word) != 0) return false;
    }
    return true;
  }
  const std::string distribution = word;
  const size_t count = number();
  double mean = distribution == "poisson" ? 10 : 0, deviation = 1;
  int status = 0;
  uint64_t sum = 0;
  std::vector<std::pair<size_t, uint64_t>> some;
  while (words >> word) {
    if (word == "mean") {
      words >> mean;
    } else if (word == "deviation") {
      words >> deviation;
    } else if (word == "status") {
      words >> status;
    } else if (word == "sum") {
      words >> std::hex >> sum;
    } else {
      some.emplace_back(std::stoul(word), std::stoull(word.substr(word.find(':') + 1), nullptr, 16));
    }
  }
  const Numbers numbers(distribution, count, mean, deviation, on_host);
  if (numbers.status() != status) {
    std::printf("status %d: ", numbers.status());
    return false;
  }
  for (const auto& [i, bits] : some) {
    if (sum != 0 ? numbers.bits(i) == bits : numbers.is_close(i, bits)) continue;
    std::printf("%llx at %zu: ", static_cast<unsigned long long>(numbers.bits(i)), i);
    return false;
  }
  return sum == 0 || numbers.sum() == sum;
}

int compare(const char* file) {
  std::ifstream lines(file);
  std::string line;
  int right = 0, wrong = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with('#')) continue;
    if (holds(line)) {
      ++right;
    } else if (++wrong <= 20) {
      std::printf("not so: %s\n", line.c_str());
    }
  }
  std::printf("%d right, %d wrong\n", right, wrong);
  return wrong == 0 && right > 0 ? 0 : 1;
}

void say(const char* what, int status) { std::printf("%s: %d\n", what, status); }

/// Calls that are the program's mistake, and what an H100's cuRAND returned, but for a generator that is
/// destroyed.
void mistakes() {
  void* none = nullptr;
  int value = 0;
  say("create nowhere",
      call("curandCreateGenerator", static_cast<void**>(nullptr), static_cast<int>(xorwow)));
  say("create of no type", create(99));
  say("generate without", call("curandGenerate", none, device, size_t{4}));
  say("seed without", call("curandSetPseudoRandomGeneratorSeed", none, uint64_t{4}));
  say("offset without", call("curandSetGeneratorOffset", none, uint64_t{4}));
  say("ordering without", call("curandSetGeneratorOrdering", none, 100));
  say("stream without", call("curandSetStream", none, none));
  say("seeds without", call("curandGenerateSeeds", none));
  say("destroy without", call("curandDestroyGenerator", none));
  say("create", create(100));
  say("none", call("curandGenerate", generator, none, size_t{0}));
  say("odd normal", call("curandGenerateNormal", generator, device, size_t{3}, 0.0f, 1.0f));
  say("odd normal double", call("curandGenerateNormalDouble", generator, device, size_t{3}, 0.0, 1.0));
  say("long long", call("curandGenerateLongLong", generator, device, size_t{4}));
  say("dimensions", call("curandSetQuasiRandomGeneratorDimensions", generator, 4u));
  say("ordering of quasi", call("curandSetGeneratorOrdering", generator, 201));
  say("ordering 105", call("curandSetGeneratorOrdering", generator, 105));
  say("poisson 0", call("curandGeneratePoisson", generator, device, size_t{4}, 0.0));
  say("poisson 1e300", call("curandGeneratePoisson", generator, device, size_t{4}, 1e300));
  void* stream = nullptr;
  cudaStreamCreate(&stream);
  say("stream", call("curandSetStream", generator, stream));
  say("in a stream", call("curandGenerate", generator, device, size_t{4}));
  say("then", cudaDeviceSynchronize());
  say("version", call("curandGetVersion", &value) * 100000 + value);
  say("major", call("curandGetProperty", 0, &value) * 100000 + value);
  say("minor", call("curandGetProperty", 1, &value) * 100000 + value);
  say("no property", call("curandGetProperty", 3, &value));
  create(mt19937);
  say("offset of mt19937", call("curandSetGeneratorOffset", generator, uint64_t{0}));
  say("best on the host", create(mt19937, true) + call("curandSetGeneratorOrdering", generator, 100));
  void* const destroyed = generator;
  say("destroy", call("curandDestroyGenerator", generator));
  say("destroyed", call("curandGenerate", destroyed, device, size_t{4}));
}

/// What is not there says so.
void missing() {
  for (const int type : {141, 201, 202, 203, 204})
    if (create(type) != 103) std::printf("type %d is made\n", type);
  create(xorwow);
  for (const int ordering : {102, 104})
    if (call("curandSetGeneratorOrdering", generator, ordering) != 104)
      std::printf("ordering %d is set\n", ordering);
  say("poisson 3000", call("curandGeneratePoisson", generator, device, size_t{4}, 3000.0));
  say("direction vectors", call("curandGetDirectionVectors32", &generator, 101));
}

}  // namespace

int main(int count, char** arguments) {
  if (!open_library("libcurand.so.10")) return 1;
  if (cudaMalloc(&device, most) != 0 || count < 2) {
    std::puts("no device memory, or no argument");
    return 1;
  }
  const std::string what = arguments[1];
  if (what == "mistakes") {
    mistakes();
  } else if (what == "missing") {
    missing();
  } else if (what == "outside") {
    create(philox);
    say("generate", call("curandGenerate", generator, static_cast<char*>(device) + most - 8, size_t{4}));
    say("then", cudaDeviceSynchronize());
  } else {
    return compare(arguments[1]);
  }
  return 0;
}
