// See transform.hpp. Transforms of one length are Eigen's (kissfft); what is done here is the way through
// memory and dimensions, and lengths with great prime factors, for which kissfft's time grows with the
// square.
#include "cuda/libraries/fft/transform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <mutex>
#include <numbers>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "cuda/libraries/parts.hpp"

namespace lanescope::cuda::fft {
namespace {

using Complex = std::complex<double>;

int64_t greatest_prime_factor(int64_t n) {
  int64_t greatest = 1;
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) greatest = p;
  return std::max(n, greatest);
}

/// The forward transform of one length. Copies share what does not change, so that each thread can have its
/// own.
class Line {
 public:
  explicit Line(int64_t length) : length_(length), inner_(length) {
    constexpr int64_t great = 50;
    // Eigen makes its table when it is first asked.
    if (greatest_prime_factor(length) > great)
      prepare_chirp();
    else if (length > 1)
      transform(std::vector<Complex>(static_cast<size_t>(length)).data());
    result_ = {};
  }

  /// `row` becomes its transform.
  void operator()(Complex* row) {
    if (length_ == 1) return;
    if (chirp_ == nullptr) return transform(row);
    // Bluestein: with jk = (j² + k² - (k - j)²) / 2 the transform is a convolution, for which any length will
    // do that is great enough. Its way back is a transform forward, of conjugated numbers.
    const auto& [factors, filter] = *chirp_;
    padded_.assign(static_cast<size_t>(inner_), 0);
    for (size_t i = 0; i < factors.size(); ++i) padded_[i] = row[i] * factors[i];
    transform(padded_.data());
    for (size_t i = 0; i < padded_.size(); ++i) padded_[i] = std::conj(padded_[i] * filter[i]);
    transform(padded_.data());
    for (size_t i = 0; i < factors.size(); ++i) row[i] = std::conj(padded_[i]) * factors[i];
  }

 private:
  struct Chirp {
    std::vector<Complex> factors, filter;
  };

  void transform(Complex* row) {
    result_.resize(static_cast<size_t>(inner_));
    fft_.fwd(result_.data(), row, inner_);
    std::copy(result_.begin(), result_.end(), row);
  }

  void prepare_chirp() {
    inner_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length_ - 1)));
    auto chirp = std::make_shared<Chirp>();
    chirp->filter.resize(static_cast<size_t>(inner_));
    for (int64_t i = 0; i < length_; ++i) {
      // The square is taken modulo the period, for the angle's sake, whose error would grow with it.
      const double turns = static_cast<double>(i * i % (2 * length_)) / static_cast<double>(length_);
      const Complex factor = std::polar(1.0, -std::numbers::pi * turns);
      chirp->factors.push_back(factor);
      chirp->filter[static_cast<size_t>(i)] = chirp->filter[static_cast<size_t>(i == 0 ? 0 : inner_ - i)] =
          std::conj(factor) / static_cast<double>(inner_);
    }
    transform(chirp->filter.data());
    chirp_ = chirp;
  }

  int64_t length_, inner_;
  Eigen::FFT<double> fft_;
  std::shared_ptr<const Chirp> chirp_;
  std::vector<Complex> result_, padded_;
};

/// body(first, last) for parts of 0 … count, on several threads where `numbers` of them make it worth that.
template <typename Body>
void in_parts(int64_t count, int64_t numbers, const Body& body) {
  constexpr double worth_a_thread = 1 << 15;
  libraries::in_parts(count, static_cast<double>(numbers) / worth_a_thread, body);
}

template <typename T>
void load(const T* from, const Side& side, bool conjugated, Complex* to) {
  for (int64_t i = 0; i < side.count[2]; ++i) {
    const int64_t at = i * side.step[2];
    if (side.real)
      to[i] = static_cast<double>(from[at]);
    else
      to[i] = {static_cast<double>(from[2 * at]),
               conjugated ? -static_cast<double>(from[2 * at + 1]) : static_cast<double>(from[2 * at + 1])};
  }
}
template <typename T>
void store(const Complex* from, const Side& side, bool conjugated, T* to) {
  for (int64_t i = 0; i < side.count[2]; ++i) {
    const int64_t at = i * side.step[2];
    if (side.real) {
      to[at] = static_cast<T>(from[i].real());
    } else {
      to[2 * at] = static_cast<T>(from[i].real());
      to[2 * at + 1] = static_cast<T>(conjugated ? -from[i].imag() : from[i].imag());
    }
  }
}

/// The half of a spectrum that is there becomes the whole one, of real numbers. Of numbers that are their own
/// mirror image the imaginary part, if there is one, does not reach the real part of the result.
void complete(Complex* row, int64_t length) {
  for (int64_t i = 1; i < length - i; ++i) row[length - i] = std::conj(row[i]);
}

/// The lines of a dimension that is not the last one, in [before][length][after] numbers.
void along(const Line& line, Complex* data, int64_t before, int64_t length, int64_t after) {
  if (length == 1) return;
  // So many next to each other at once, as a cache line is not read for one number.
  constexpr int64_t together = 8;
  const int64_t groups = (after + together - 1) / together;
  in_parts(before * groups, before * length * after, [&](int64_t first, int64_t last) {
    Line own = line;
    std::vector<Complex> lines(static_cast<size_t>(together * length));
    for (int64_t part = first; part < last; ++part) {
      const int64_t column = part % groups * together, columns = std::min(together, after - column);
      Complex* corner = data + part / groups * length * after + column;
      for (int64_t i = 0; i < length; ++i)
        for (int64_t c = 0; c < columns; ++c)
          lines[static_cast<size_t>(c * length + i)] = corner[i * after + c];
      for (int64_t c = 0; c < columns; ++c) own(lines.data() + c * length);
      for (int64_t i = 0; i < length; ++i)
        for (int64_t c = 0; c < columns; ++c)
          corner[i * after + c] = lines[static_cast<size_t>(c * length + i)];
    }
  });
}

/// One execution of a plan.
template <typename T>
class Run {
 public:
  Run(const Shape& shape, const std::array<const Line*, 3>& lines, const T* in, T* out, bool inverse)
      : shape_(shape),
        lines_(lines),
        in_(in),
        out_(out),
        from_(shape.in[static_cast<size_t>(in == out)]),
        to_(shape.out[static_cast<size_t>(in == out)]),
        inverse_(inverse) {}

  void all() const {
    const int64_t numbers = shape_.length[0] * shape_.length[1] * shape_.length[2];
    if (rows() == 1) {
      in_parts(shape_.batches, shape_.batches * numbers, [&](int64_t first, int64_t last) {
        Line line = *lines_[2];
        std::vector<Complex> row(static_cast<size_t>(shape_.length[2]));
        for (int64_t b = first; b < last; ++b) {
          read(b, 0, row.data());
          transform_row(row.data(), line);
          write(b, 0, row.data());
        }
      });
      return;
    }
    for (int64_t b = 0; b < shape_.batches; ++b) one(b);
  }

 private:
  [[nodiscard]] int64_t rows() const { return shape_.length[0] * shape_.length[1]; }
  [[nodiscard]] bool to_real() const { return shape_.form == Form::to_real; }

  [[nodiscard]] int64_t place(const Side& side, int64_t batch, int64_t row) const {
    const int64_t at = batch * side.batch_step + row / shape_.length[1] * side.step[0] +
                       row % shape_.length[1] * side.step[1];
    return side.real ? at : 2 * at;
  }
  void read(int64_t batch, int64_t row, Complex* to) const {
    load(in_ + place(from_, batch, row), from_, inverse_, to);
  }
  void write(int64_t batch, int64_t row, const Complex* from) const {
    store(from, to_, inverse_, out_ + place(to_, batch, row));
  }
  void transform_row(Complex* row, Line& line) const {
    if (to_real()) complete(row, shape_.length[2]);
    line(row);
  }

  void one(int64_t batch) const {
    const int64_t n0 = shape_.length[0], n1 = shape_.length[1], n2 = shape_.length[2];
    const int64_t width = to_real() ? from_.count[2] : to_.count[2];  // of the spectrum
    std::vector<Complex> all(static_cast<size_t>(rows() * width));
    const auto each_row = [&](const auto& body) {
      in_parts(rows(), rows() * n2, [&](int64_t first, int64_t last) {
        Line line = *lines_[2];
        std::vector<Complex> row(static_cast<size_t>(n2));
        for (int64_t r = first; r < last; ++r) body(r, all.data() + r * width, row.data(), line);
      });
    };
    if (to_real()) {
      each_row([&](int64_t r, Complex* kept, Complex*, Line&) { read(batch, r, kept); });
    } else {
      each_row([&](int64_t r, Complex* kept, Complex* row, Line& line) {
        read(batch, r, row);
        transform_row(row, line);
        std::copy_n(row, width, kept);
      });
    }
    along(*lines_[1], all.data(), n0, n1, width);
    along(*lines_[0], all.data(), 1, n0, n1 * width);
    if (to_real()) {
      each_row([&](int64_t r, const Complex* kept, Complex* row, Line& line) {
        std::copy_n(kept, width, row);
        transform_row(row, line);
        write(batch, r, row);
      });
    } else {
      each_row([&](int64_t r, const Complex* kept, Complex*, Line&) { write(batch, r, kept); });
    }
  }

  const Shape& shape_;
  const std::array<const Line*, 3>& lines_;
  const T* in_;
  T* out_;
  const Side &from_, &to_;
  bool inverse_;  ///< a transform forward, of conjugated numbers
};

}  // namespace

/// Made when they are first needed: a program may make plans for their size alone.
struct Transform::Lines {
  std::once_flag made;
  std::vector<Line> lines;
  std::array<const Line*, 3> of_dimension{};

  void make(const std::array<int64_t, 3>& length) {
    lines.reserve(3);
    for (size_t d = 0; d < 3; ++d) {
      const auto same = std::find(length.begin(), length.begin() + static_cast<std::ptrdiff_t>(d), length[d]);
      const auto at = static_cast<size_t>(same - length.begin());
      of_dimension[d] = at < d ? of_dimension[at] : &lines.emplace_back(length[d]);
    }
  }
};

Transform::Transform(const Shape& shape) : shape_(shape), lines_(std::make_unique<Lines>()) {}
Transform::~Transform() = default;

void Transform::run(const void* in, void* out, bool inverse) const {
  std::call_once(lines_->made, [&] { lines_->make(shape_.length); });
  const auto as = [&]<typename T>(T) {
    Run<T>(shape_, lines_->of_dimension, static_cast<const T*>(in), static_cast<T*>(out), inverse).all();
  };
  switch (shape_.number) {
    case Number::half: return as(Eigen::half());
    case Number::bfloat: return as(Eigen::bfloat16());
    case Number::single_: return as(float());
    case Number::double_: return as(double());
  }
}

}  // namespace lanescope::cuda::fft
