// See source.hpp: which number of which subsequence is the next, and on how many threads they are made.
#include "cuda/libraries/rand/source.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cuda/libraries/parts.hpp"
#include "cuda/libraries/rand/mt19937.hpp"
#include "cuda/libraries/rand/numbers.hpp"
#include "cuda/libraries/rand/poisson.hpp"

namespace lanescope::cuda::rand {
namespace {

/// Calls body(first, last) for parts of `count`, on several threads if it is worth while to start them for so
/// many numbers.
template <typename Body>
void in_parts(uint64_t count, uint64_t numbers, const Body& body) {
  constexpr double worth_a_thread = 1 << 17;
  libraries::in_parts(static_cast<int64_t>(count), static_cast<double>(numbers) / worth_a_thread, body);
}

/// What becomes of a standard normal number.
template <typename T>
struct Transform {
  T mean, deviation;
  bool log, on_host;
  explicit Transform(const Request& request)
      : mean(static_cast<T>(request.mean)),
        deviation(static_cast<T>(request.deviation)),
        log(request.distribution == Distribution::log_normal ||
            request.distribution == Distribution::log_normal_double),
        on_host(request.on_host) {}
  T operator()(T z) const {
    const T number = scaled(z, mean, deviation, on_host);
    return log ? exponential(number, on_host) : number;
  }
};

/// The i-th result comes from subsequence i modulo their number; each goes on where it has stopped.
template <typename State>
class Interleaved final : public Source {
 public:
  using Begin = std::vector<State> (*)(uint64_t seed, uint64_t offset, size_t count);
  Interleaved(Begin begin, uint64_t seed, uint64_t offset, size_t count)
      : begin_(begin), seed_(seed), offset_(offset), count_(count) {}

 private:
  void fill(const Request& request) override {
    if (streams_.empty()) {
      streams_ = begin_(seed_, offset_, count_);
      next_ = offset_ % count_;
    }
    switch (request.distribution) {
      case Distribution::bits: return each<uint32_t>(request, [](State& state) { return bits(state); });
      case Distribution::uniform: return each<float>(request, [](State& state) { return uniform(state); });
      case Distribution::uniform_double:
        return each<double>(request, [](State& state) { return uniform_double(state); });
      case Distribution::normal:
      case Distribution::log_normal:
        return each<Pair<float>>(request, [transform = Transform<float>(request)](State& state) {
          const auto [first, second] = normal(state, transform.on_host);
          return Pair<float>{transform(first), transform(second)};
        });
      case Distribution::normal_double:
      case Distribution::log_normal_double:
        return each<Pair<double>>(request, [transform = Transform<double>(request)](State& state) {
          const auto [first, second] = normal_double(state);
          return Pair<double>{transform(first), transform(second)};
        });
      case Distribution::poisson:
        return each<uint32_t>(request,
                              [&table = *request.poisson](State& state) { return table(bits(state)); });
    }
  }

  template <typename Result, typename Draw>
  void each(const Request& request, const Draw& draw) {
    auto* out = static_cast<Result*>(request.out);
    const uint64_t results = request.count * number_size(request.distribution) / sizeof(Result);
    in_parts(std::min(count_, results), request.count, [&](uint64_t first, uint64_t last) {
      for (uint64_t row = 0; row + first < results; row += count_) {
        for (uint64_t i = first; i < std::min(last, results - row); ++i)
          out[row + i] = draw(streams_[(next_ + i) % count_]);
      }
    });
    next_ = (next_ + results) % count_;
  }

  const Begin begin_;
  const uint64_t seed_, offset_, count_;
  std::vector<State> streams_;  ///< made when the first number is needed
  uint64_t next_ = 0;           ///< the subsequence of the next result
};

/// Philox makes four 32-bit numbers at a time, so its 65536 subsequences are interleaved by fours, of
/// results: what needs two 32-bit numbers each takes two fours of the same subsequence.
class PhiloxSource final : public Source {
 public:
  PhiloxSource(uint64_t seed, uint64_t offset)
      : seed_(seed), row_(offset / per_row), next_(offset % per_row) {}

 private:
  static constexpr uint64_t per_row = 4 * Philox::subsequences;

  void fill(const Request& request) override {
    switch (request.distribution) {
      case Distribution::bits: return each<uint32_t, 1>(request, [](const Four& x) { return x; });
      case Distribution::uniform:
        return each<float, 1>(request, [](const Four& x) {
          return std::array{uniform_of(x[0]), uniform_of(x[1]), uniform_of(x[2]), uniform_of(x[3])};
        });
      case Distribution::uniform_double:
        return each<double, 2>(request, [](const Four& x) {
          return std::array{uniform_of(x[0], x[1]), uniform_of(x[2], x[3])};
        });
      case Distribution::normal:
      case Distribution::log_normal:
        return each<float, 1>(request, [to = Transform<float>(request)](const Four& x) {
          const auto a = normal_of(x[0], x[1], to.on_host), b = normal_of(x[2], x[3], to.on_host);
          return std::array{to(a.first), to(a.second), to(b.first), to(b.second)};
        });
      case Distribution::normal_double:
      case Distribution::log_normal_double:
        return each<double, 2>(request, [to = Transform<double>(request)](const Four& x) {
          const auto pair = box_muller(uniform_of(x[0], x[1]), 2 * uniform_of(x[2], x[3]));
          return std::array{to(pair.first), to(pair.second)};
        });
      case Distribution::poisson:
        return each<uint32_t, 1>(request, [&table = *request.poisson](const Four& x) {
          return std::array{table(x[0]), table(x[1]), table(x[2]), table(x[3])};
        });
    }
  }

  using Four = std::array<uint32_t, 4>;

  /// Four results are `rows` times draw(four numbers).
  template <typename Result, uint64_t rows, typename Draw>
  void each(const Request& request, const Draw& draw) {
    auto* out = static_cast<Result*>(request.out);
    const uint64_t end = next_ + request.count;
    in_parts((end + 3) / 4 - next_ / 4, request.count, [&](uint64_t first, uint64_t last) {
      for (uint64_t four = next_ / 4 + first; four < next_ / 4 + last; ++four) {
        std::array<Result, 4> results;
        for (uint64_t row = 0; row < rows; ++row) {
          const auto part = draw(Philox::block(seed_, four % Philox::subsequences,
                                               row_ + four / Philox::subsequences * rows + row));
          std::copy(part.begin(), part.end(), results.begin() + part.size() * row);
        }
        for (uint64_t i = std::max(four * 4, next_); i < std::min(four * 4 + 4, end); ++i)
          out[i - next_] = results[i - four * 4];
      }
    });
    row_ += end / per_row * rows;
    next_ = end % per_row;
  }

  const uint64_t seed_;
  uint64_t row_;   ///< how many fours each subsequence has given
  uint64_t next_;  ///< of the results of a row
};

/// 8192 subsequences of the Mersenne Twister give eight results in turn. Which of 624 they are follows from
/// how eight threads of a GPU share a state.
class Twister final : public Source {
 public:
  explicit Twister(uint64_t seed) : seed_(static_cast<uint32_t>(seed)) {}

 private:
  static constexpr size_t count = 8192, lanes = 8, rows = Mt19937::length / lanes;

  struct Stream {
    Mt19937 state;
    uint64_t rounds = 0;  ///< how often it has stepped; the first 624 numbers are after the first
  };

  void fill(const Request& request) override {
    switch (request.distribution) {
      case Distribution::bits: return each<uint32_t>(request, [](uint32_t x) { return x; });
      case Distribution::uniform:
        return each<float>(request, [](uint32_t x) { return static_cast<float>(middle(x)); });
      case Distribution::uniform_double: return each<double>(request, [](uint32_t x) { return middle(x); });
      case Distribution::normal:
      case Distribution::log_normal:
        return each<float>(request, [to = Transform<float>(request)](uint32_t x) {
          return to(static_cast<float>(normal_quantile(middle(x))));
        });
      case Distribution::normal_double:
      case Distribution::log_normal_double:
        return each<double>(request, [to = Transform<double>(request)](uint32_t x) {
          return to(normal_quantile(middle(x)));
        });
      case Distribution::poisson:
        return each<uint32_t>(request, [&table = *request.poisson](uint32_t x) { return table(x); });
    }
  }
  static double middle(uint32_t x) { return (x + 0.5) / two_to_32; }

  /// Where a lane's result of a row is among the 624.
  static size_t place(size_t row, size_t lane) {
    static const auto places = [] {
      constexpr std::array<size_t, lanes> first_row{0, 113, 170, 283, 340, 397, 510, 567};
      std::array<size_t, Mt19937::length> all{};
      std::copy(first_row.begin(), first_row.end(), all.begin());
      // The others in order: each lane has seven of them, in seven rows, then the next lane.
      for (size_t i = 0, next = 0; i < Mt19937::length; ++i) {
        if (std::find(first_row.begin(), first_row.end(), i) != first_row.end()) continue;
        const size_t lane = next / 7 % lanes, row = 1 + next / (7 * lanes) * 7 + next % 7;
        all[row * lanes + lane] = i;
        ++next;
      }
      return all;
    }();
    return places[row * lanes + lane];
  }

  /// Makes at least so many streams, twice as many each time.
  void make(size_t needed, uint64_t numbers) {
    if (streams_.empty()) streams_.push_back({Mt19937::from(seed_)});
    for (size_t i = 0; (size_t{1} << i) < needed; ++i) {
      const size_t half = size_t{1} << i;
      if (streams_.size() > half) continue;
      streams_.resize(2 * half);
      in_parts(half, std::max<uint64_t>(numbers, half * 1000), [&](uint64_t first, uint64_t last) {
        for (uint64_t s = first; s < last; ++s)
          streams_[half + s] = {Mt19937Jump::between_streams()[i](streams_[s].state), streams_[s].rounds};
      });
    }
  }

  template <typename Result, typename Draw>
  void each(const Request& request, const Draw& draw) {
    constexpr uint64_t per_row = count * lanes;
    auto* out = static_cast<Result*>(request.out);
    const uint64_t end = next_ + request.count, last_row = (end - 1) / per_row;
    const size_t needed = last_row > next_ / per_row ? count : (end - 1) % per_row / lanes + 1;
    make(needed, request.count);
    in_parts(needed, request.count, [&](uint64_t first, uint64_t last) {
      for (uint64_t s = first; s < last; ++s) {
        Stream& stream = streams_[s];
        for (uint64_t row = next_ / per_row; row <= last_row; ++row) {
          const uint64_t begin = row * per_row + s * lanes;
          if (begin + lanes <= next_ || begin >= end) continue;
          for (; stream.rounds <= row / rows; ++stream.rounds) stream.state.step();
          for (uint64_t i = std::max(begin, next_); i < std::min(begin + lanes, end); ++i)
            out[i - next_] = draw(Mt19937::tempered(stream.state.words[place(row % rows, i - begin)]));
        }
      }
    });
    next_ = end;
  }

  const uint32_t seed_;
  std::vector<Stream> streams_;
  uint64_t next_ = 0;
};

}  // namespace

std::shared_ptr<Source> make_source(Type type, Ordering ordering, uint64_t seed, uint64_t offset) {
  switch (type) {
    case Type::mrg32k3a:
      return std::make_shared<Interleaved<Mrg32k3a>>(mrg32k3a_streams, seed, offset,
                                                     ordering == Ordering::legacy ? 4096 : 81920);
    case Type::philox: return std::make_shared<PhiloxSource>(seed, offset);
    case Type::mt19937: return std::make_shared<Twister>(seed);
    default: return std::make_shared<Interleaved<Xorwow>>(xorwow_streams, seed, offset, 4096);
  }
}

}  // namespace lanescope::cuda::rand
