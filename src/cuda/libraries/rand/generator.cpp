// The functions of cuRAND's host interface: generators, what they are told, and the numbers that they are
// asked for.
#include <mutex>
#include <utility>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/data_type.hpp"
#include "cuda/libraries/objects.hpp"
#include "cuda/libraries/rand/poisson.hpp"
#include "cuda/libraries/rand/source.hpp"

namespace lanescope::cuda::rand {

using libraries::Memory;

/// What curandCreateGenerator makes.
struct Generator {
  Type type = Type::xorwow;
  bool on_host = false;  ///< its numbers are for the host's memory, at once
  Stream* stream = nullptr;
  Ordering ordering = Ordering::standard;
  uint64_t seed = 0;
  uint64_t offset = 0;  ///< where a new source begins: with each number that is made it goes on
  uint64_t place = 0;   ///< of Philox, in the rows of its source
  unsigned widths = 0;  ///< sizes in bytes of what its source has made
  std::shared_ptr<Source> source = nullptr;

  /// A new seed or offset, or another order, begins anew, at the offset.
  void restart() { source = nullptr; }
};

namespace {

using libraries::objects;
using libraries::refuse;

/// Calls that change generators, one at a time.
std::mutex mutex;

/// So many results of Philox come from one of its subsequences after the other, by fours.
constexpr uint64_t philox_row = 262144;

/// What curandGetVersion says: of the release that is the model.
constexpr int version = 10400;

const char* name_of(Type type) {
  switch (type) {
    case Type::test: return "CURAND_RNG_TEST";
    case Type::pseudo_default: return "CURAND_RNG_PSEUDO_DEFAULT";
    case Type::xorwow: return "CURAND_RNG_PSEUDO_XORWOW";
    case Type::mrg32k3a: return "CURAND_RNG_PSEUDO_MRG32K3A";
    case Type::mtgp32: return "CURAND_RNG_PSEUDO_MTGP32";
    case Type::mt19937: return "CURAND_RNG_PSEUDO_MT19937";
    case Type::philox: return "CURAND_RNG_PSEUDO_PHILOX4_32_10";
    case Type::quasi_default: return "CURAND_RNG_QUASI_DEFAULT";
    case Type::sobol32: return "CURAND_RNG_QUASI_SOBOL32";
    case Type::scrambled_sobol32: return "CURAND_RNG_QUASI_SCRAMBLED_SOBOL32";
    case Type::sobol64: return "CURAND_RNG_QUASI_SOBOL64";
    case Type::scrambled_sobol64: return "CURAND_RNG_QUASI_SCRAMBLED_SOBOL64";
  }
  return nullptr;
}

/// Does something with a generator, if it is one.
template <typename F>
Status with(Generator* generator, const char* name, F&& body) {
  const std::lock_guard lock(mutex);
  if (!objects<Generator>().contains(generator)) {
    return refuse(name, Status::not_initialized, "{}",
                  generator == nullptr
                      ? "its generator is null"
                      : "its generator is none that curandCreateGenerator made, or destroyed");
  }
  return body(*generator);
}

Status create(const char* name, Generator** out, Type type, bool on_host) {
  if (out == nullptr)
    return refuse(name, Status::not_initialized, "where the generator is to be written is null");
  if (name_of(type) == nullptr)
    return refuse(name, Status::type_error, "{} is no curandRngType_t", static_cast<int>(type));
  if (type == Type::pseudo_default) type = Type::xorwow;
  if (type != Type::xorwow && type != Type::mrg32k3a && type != Type::mt19937 && type != Type::philox)
    return refuse(name, Status::type_error, "{} is not implemented", name_of(type));
  *out = objects<Generator>().add({.type = type, .on_host = on_host});
  return Status::success;
}

/// Whether numbers are made by twos, and stored so.
bool is_by_twos(const Generator& generator, Distribution distribution) {
  return is_normal(distribution) && (generator.type == Type::xorwow || generator.type == Type::mrg32k3a);
}

Status generate(Generator* handle, const char* name, Request request) {
  return with(handle, name, [&](Generator& generator) {
    if (request.count == 0) return Status::success;
    const bool twos = is_by_twos(generator, request.distribution);
    if (twos && request.count % 2 != 0) {
      return refuse(name, Status::length_not_multiple, "{} numbers are asked for, and {} makes them by twos",
                    request.count, name_of(generator.type));
    }
    const uint64_t bytes = number_size(request.distribution);
    if (twos && !generator.on_host && reinterpret_cast<uintptr_t>(request.out) % (2 * bytes) != 0) {
      return refuse(name, Status::launch_failure,
                    "{} is no multiple of {}, as a GPU needs it, which stores two numbers at once",
                    request.out, 2 * bytes);
    }
    if (generator.source == nullptr) {
      generator.source = make_source(generator.type, generator.ordering, generator.seed, generator.offset);
      generator.place = generator.offset % philox_row;
      generator.widths = 0;
    }
    if (generator.type == Type::philox) {
      // Numbers of 64 bits take twice as much of a subsequence. How far each is after a call that goes on
      // beyond a row is known where all calls were of 32 bits, or it begins with the row.
      const unsigned widths = generator.widths | static_cast<unsigned>(bytes);
      const bool is_known = widths == 4 || (widths == 8 && generator.place == 0);
      if (!is_known && generator.place + request.count > philox_row) {
        return refuse(name, Status::internal_error,
                      "with numbers of 64 bits it would go on beyond {} of them, which is implemented for a "
                      "generator's "
                      "first call only",
                      philox_row);
      }
      generator.widths = widths;
      const uint64_t fours = generator.place % 4;
      generator.offset += (fours + request.count) / 4;
      generator.place = (generator.place + request.count) % philox_row;
    } else {
      generator.offset += twos ? request.count / 2 : request.count;
    }
    request.on_host = generator.on_host;
    if (generator.on_host) {
      generator.source->generate(request);
      return Status::success;
    }
    const auto status = libraries::submit(generator.stream, name,
                                          [request, bytes, source = generator.source](const Memory& memory) {
                                            memory.write("the numbers", static_cast<char*>(request.out),
                                                         static_cast<int64_t>(request.count * bytes));
                                            source->generate(request);
                                          });
    return status == cuda::Status::success ? Status::success : Status::launch_failure;
  });
}

}  // namespace

LANESCOPE_CUDA_API Status curandCreateGenerator(Generator** generator, Type type) {
  return create("curandCreateGenerator", generator, type, false);
}
LANESCOPE_CUDA_API Status curandCreateGeneratorHost(Generator** generator, Type type) {
  return create("curandCreateGeneratorHost", generator, type, true);
}
LANESCOPE_CUDA_API Status curandDestroyGenerator(Generator* generator) {
  return with(generator, "curandDestroyGenerator", [](Generator& it) {
    objects<Generator>().destroy(&it);
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status curandSetStream(Generator* generator, Stream* stream) {
  return with(generator, "curandSetStream", [&](Generator& it) {
    it.stream = stream;
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status curandSetPseudoRandomGeneratorSeed(Generator* generator, uint64_t seed) {
  return with(generator, "curandSetPseudoRandomGeneratorSeed", [&](Generator& it) {
    if (std::exchange(it.seed, seed) != seed) it.restart();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status curandSetGeneratorOffset(Generator* generator, uint64_t offset) {
  constexpr const char* name = "curandSetGeneratorOffset";
  return with(generator, name, [&](Generator& it) {
    constexpr uint64_t most = uint64_t{1} << 63;
    if (it.type == Type::mt19937)
      return refuse(name, Status::type_error, "{} has no offset", name_of(it.type));
    if (offset > most) return refuse(name, Status::out_of_range, "{} is more than 2^63", offset);
    it.offset = offset;
    it.restart();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status curandSetGeneratorOrdering(Generator* generator, Ordering ordering) {
  constexpr const char* name = "curandSetGeneratorOrdering";
  return with(generator, name, [&](Generator& it) {
    const bool is_known = ordering == Ordering::standard || ordering == Ordering::legacy ||
                          (ordering == Ordering::best && !(it.type == Type::mt19937 && it.on_host));
    if (is_known) {
      if (std::exchange(it.ordering, ordering) != ordering) it.restart();
      return Status::success;
    }
    if (ordering == Ordering::seeded && it.type == Type::xorwow)
      return refuse(name, Status::out_of_range, "CURAND_ORDERING_PSEUDO_SEEDED is not implemented");
    if (ordering == Ordering::dynamic && !it.on_host) {
      return refuse(name, Status::out_of_range,
                    "CURAND_ORDERING_PSEUDO_DYNAMIC, which depends on the GPU, is not implemented");
    }
    return refuse(name, Status::out_of_range, "{} is no order of {} {}", static_cast<int>(ordering),
                  name_of(it.type), it.on_host ? "on the host" : "on a device");
  });
}

LANESCOPE_CUDA_API Status curandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned) {
  constexpr const char* name = "curandSetQuasiRandomGeneratorDimensions";
  return with(generator, name, [&](Generator& it) {
    return refuse(name, Status::type_error, "{} has no dimensions", name_of(it.type));
  });
}

/// Here states are made when numbers are; what it does else is to begin anew.
LANESCOPE_CUDA_API Status curandGenerateSeeds(Generator* generator) {
  return with(generator, "curandGenerateSeeds", [](Generator& it) {
    it.restart();
    return Status::success;
  });
}

LANESCOPE_CUDA_API Status curandGenerate(Generator* generator, uint32_t* out, size_t count) {
  return generate(generator, "curandGenerate",
                  {.distribution = Distribution::bits, .out = out, .count = count});
}
LANESCOPE_CUDA_API Status curandGenerateLongLong(Generator* generator, uint64_t*, size_t) {
  constexpr const char* name = "curandGenerateLongLong";
  return with(generator, name, [&](Generator& it) {
    return refuse(name, Status::type_error, "{} makes no 64-bit integers", name_of(it.type));
  });
}
LANESCOPE_CUDA_API Status curandGenerateUniform(Generator* generator, float* out, size_t count) {
  return generate(generator, "curandGenerateUniform",
                  {.distribution = Distribution::uniform, .out = out, .count = count});
}
LANESCOPE_CUDA_API Status curandGenerateUniformDouble(Generator* generator, double* out, size_t count) {
  return generate(generator, "curandGenerateUniformDouble",
                  {.distribution = Distribution::uniform_double, .out = out, .count = count});
}
#define LANESCOPE_NORMAL(name, kind, T)                                                             \
  LANESCOPE_CUDA_API Status name(Generator* generator, T* out, size_t count, T mean, T deviation) { \
    return generate(                                                                                \
        generator, #name,                                                                           \
        {.distribution = kind, .out = out, .count = count, .mean = mean, .deviation = deviation});  \
  }
LANESCOPE_NORMAL(curandGenerateNormal, Distribution::normal, float)
LANESCOPE_NORMAL(curandGenerateNormalDouble, Distribution::normal_double, double)
LANESCOPE_NORMAL(curandGenerateLogNormal, Distribution::log_normal, float)
LANESCOPE_NORMAL(curandGenerateLogNormalDouble, Distribution::log_normal_double, double)

LANESCOPE_CUDA_API Status curandGeneratePoisson(Generator* generator, uint32_t* out, size_t count,
                                                double mean) {
  constexpr const char* name = "curandGeneratePoisson";
  if (!(mean > 0 && mean <= 400000)) {
    return with(generator, name, [&](Generator&) {
      return refuse(name, Status::out_of_range, "the mean is {}, and must be above 0 and at most 400000",
                    mean);
    });
  }
  if (mean >= PoissonTable::too_large) {
    return refuse(name, Status::internal_error, "the mean is {}, and from {} on it is not implemented", mean,
                  PoissonTable::too_large);
  }
  return generate(generator, name,
                  {.distribution = Distribution::poisson,
                   .out = out,
                   .count = count,
                   .poisson = std::make_shared<PoissonTable>(mean)});
}

LANESCOPE_CUDA_API Status curandGetVersion(int* out) {
  if (out == nullptr)
    return refuse("curandGetVersion", Status::out_of_range, "where it is to be written is null");
  *out = version;
  return Status::success;
}

/// libraryPropertyType: major, minor, patch.
LANESCOPE_CUDA_API Status curandGetProperty(int which, int* out) {
  if (which < 0 || which > 2 || out == nullptr) {
    return refuse("curandGetProperty", Status::out_of_range, "{}",
                  out == nullptr ? "where it is to be written is null" : "that is no libraryPropertyType");
  }
  *out = libraries::part_of_version(version, which);
  return Status::success;
}

}  // namespace lanescope::cuda::rand
