// The transforms themselves: of a block of numbers in the host's reach, over up to three dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace lanescope::cuda::fft {

enum class Number { half, bfloat, single_, double_ };
enum class Form { complex, to_complex, to_real };  ///< C2C, R2C, C2R

/// How the numbers of one side lie in memory, in elements of that side.
struct Side {
  bool real = false;
  std::array<int64_t, 3> count{}, step{};  ///< by dimension, the last one runs through a row
  int64_t batch_step = 0;

  /// From the first to the last element of so many batches.
  [[nodiscard]] int64_t extent(int64_t batches) const {
    int64_t last = (batches - 1) * batch_step;
    for (size_t d = 0; d < 3; ++d) last += (count[d] - 1) * step[d];
    return last + 1;
  }
};

struct Shape {
  Number number = Number::single_;
  Form form = Form::complex;
  std::array<int64_t, 3> length{};  ///< 1 in dimensions that there are not
  int64_t batches = 1;
  /// Where the result takes another place than the input, and where it takes the same.
  std::array<Side, 2> in, out;

  [[nodiscard]] int64_t bytes_of_real() const {
    return number == Number::double_ ? 8 : number == Number::single_ ? 4 : 2;
  }
  [[nodiscard]] int64_t bytes(const Side& side) const {
    return side.extent(batches) * bytes_of_real() * (side.real ? 1 : 2);
  }
};

class Transform {
 public:
  explicit Transform(const Shape& shape);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Unscaled, in double precision. Several threads may run one transform.
  void run(const void* in, void* out, bool inverse) const;

 private:
  struct Lines;
  Shape shape_;
  std::unique_ptr<Lines> lines_;
};

}  // namespace lanescope::cuda::fft
