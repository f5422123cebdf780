// Plans: what a program asks for, looked at, and the numbers by which it names them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "cuda/libraries/call.hpp"
#include "cuda/libraries/fft/transform.hpp"
#include "cuda/libraries/fft/types.hpp"

namespace lanescope::cuda::fft {

struct Plan {
  Stream* stream = nullptr;
  int64_t patient = 0;                         ///< a hint to the real library's compiler
  std::shared_ptr<const Transform> transform;  ///< null until it is made
};

/// The plan of this number, if there is one. A program must not use a plan and destroy it at once; table and
/// numbers are safe, however.
[[nodiscard]] std::shared_ptr<Plan> find_plan(int handle);

/// What is transformed, if that can be.
using Kind = std::optional<std::pair<Number, Form>>;
[[nodiscard]] Kind kind_of(Type type);
[[nodiscard]] Kind kind_of(DataType in, DataType out, DataType execution);

/// The arguments that all functions have which make plans or tell their size.
struct Arguments {
  struct Memory {
    bool given = false;
    std::array<int64_t, 3> embed{1, 1, 1};
    int64_t stride = 1, distance = 0;
  };

  Arguments(Kind kind, int64_t batches, std::initializer_list<int> lengths);
  template <typename Int>
  Arguments(Kind kind, int64_t batches, int rank, const Int* lengths, const Int* in_embed, int64_t in_stride,
            int64_t in_distance, const Int* out_embed, int64_t out_stride, int64_t out_distance)
      : kind(kind), batches(batches), rank(rank) {
    if (rank < 1 || rank > 3 || lengths == nullptr) return;
    complete = true;
    copy(lengths, length);
    in = {in_embed != nullptr, {1, 1, 1}, in_stride, in_distance};
    out = {out_embed != nullptr, {1, 1, 1}, out_stride, out_distance};
    if (in.given) copy(in_embed, in.embed);
    if (out.given) copy(out_embed, out.embed);
    // Nothing is behind the first dimension but the next batch, of which the distance is given.
    in.embed[static_cast<size_t>(3 - rank)] = out.embed[static_cast<size_t>(3 - rank)] = 1;
  }

  Kind kind;
  int64_t batches;
  int rank;
  bool complete = false;  ///< the rank makes sense, and there are lengths
  std::array<int64_t, 3> length{1, 1, 1};
  Memory in, out;

 private:
  /// Of fewer than three dimensions the first ones have a length of 1.
  template <typename Int>
  void copy(const Int* from, std::array<int64_t, 3>& to) const {
    for (int i = 0; i < rank; ++i) to[static_cast<size_t>(3 - rank + i)] = from[i];
  }
};

using libraries::refuse;

/// What is asked for, or why it makes no sense.
Status shape_of(const char* name, const Arguments& arguments, Shape& shape);

}  // namespace lanescope::cuda::fft
