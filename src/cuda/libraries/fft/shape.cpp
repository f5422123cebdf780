// What a program asks for is looked at here, and becomes places in memory.
#include "cuda/libraries/fft/plan.hpp"

namespace lanescope::cuda::fft {
namespace {

/// Above this the tables of a transform would not fit into memory, nor its indices into those of Eigen.
constexpr int64_t longest = int64_t{1} << 29;
/// More elements than any address reaches.
constexpr int64_t most_elements = int64_t{1} << 47;

/// False if the product is out of reach.
bool multiply(int64_t& by, int64_t factor) {
  return !__builtin_mul_overflow(by, factor, &by) && by <= most_elements;
}

enum class Part { all, half, real };  ///< of a spectrum; real: one number an element

/// Numbers in the order of their indices, unless the program says otherwise; then the real side of a
/// transform in place has rows with room for their spectrum. False if they do not fit into memory.
bool lay_out(const Shape& shape, const Arguments::Memory& memory, Part part, bool in_place, Side& side) {
  side.real = part == Part::real;
  side.count = shape.length;
  const int64_t half = shape.length[2] / 2 + 1;
  if (part == Part::half) side.count[2] = half;
  std::array<int64_t, 3> embed = memory.given ? memory.embed : side.count;
  if (!memory.given && side.real && in_place) embed[2] = 2 * half;
  side.step[2] = memory.given ? memory.stride : 1;
  for (size_t d : {1UL, 0UL}) {
    side.step[d] = side.step[d + 1];
    if (!multiply(side.step[d], embed[d + 1])) return false;
  }
  side.batch_step = memory.given ? memory.distance : side.step[0];
  if (!memory.given && !multiply(side.batch_step, embed[0])) return false;
  for (size_t d = 0; d < 3; ++d)
    if (int64_t reach = side.step[d]; !multiply(reach, side.count[d])) return false;
  int64_t reach = side.batch_step;
  return multiply(reach, shape.batches);
}

Status check_layout(const char* name, const char* side, const Arguments::Memory& memory) {
  if (memory.stride < 1)
    return refuse(name, Status::invalid_value, "{}stride is {}, and must be positive", side, memory.stride);
  if (memory.distance < 1)
    return refuse(name, Status::invalid_value, "{}dist is {}, and must be positive", side, memory.distance);
  for (size_t d : {1UL, 2UL})
    if (memory.embed[d] < 0)
      return refuse(name, Status::invalid_size, "{}nembed holds {}, and must not be negative", side,
                    memory.embed[d]);
  return Status::success;
}

}  // namespace

Kind kind_of(Type type) {
  switch (type) {
    case Type::c2c: return {{Number::single_, Form::complex}};
    case Type::r2c: return {{Number::single_, Form::to_complex}};
    case Type::c2r: return {{Number::single_, Form::to_real}};
    case Type::z2z: return {{Number::double_, Form::complex}};
    case Type::d2z: return {{Number::double_, Form::to_complex}};
    case Type::z2d: return {{Number::double_, Form::to_real}};
  }
  return {};
}

Kind kind_of(DataType in, DataType out, DataType execution) {
  struct Types {
    DataType real, complex;
    Number number;
  };
  for (const auto& [real, complex, number] :
       {Types{DataType::real_32f, DataType::complex_32f, Number::single_},
        {DataType::real_64f, DataType::complex_64f, Number::double_},
        {DataType::real_16f, DataType::complex_16f, Number::half},
        {DataType::real_16bf, DataType::complex_16bf, Number::bfloat}}) {
    if (execution != real && execution != complex) continue;
    if (in == complex && out == complex) return {{number, Form::complex}};
    if (in == real && out == complex) return {{number, Form::to_complex}};
    if (in == complex && out == real) return {{number, Form::to_real}};
  }
  return {};
}

Arguments::Arguments(Kind kind, int64_t batches, std::initializer_list<int> lengths)
    : kind(kind), batches(batches), rank(static_cast<int>(lengths.size())), complete(true) {
  copy(lengths.begin(), length);
}

Status shape_of(const char* name, const Arguments& arguments, Shape& shape) {
  if (arguments.rank < 1 || arguments.rank > 3)
    return refuse(name, Status::invalid_value, "rank is {}, and must be 1, 2 or 3", arguments.rank);
  if (!arguments.complete) return refuse(name, Status::invalid_value, "n is null");
  if (!arguments.kind) return refuse(name, Status::invalid_type, "there is no transform of these types");
  for (const int64_t length : arguments.length)
    if (length < 1) return refuse(name, Status::invalid_size, "a size is {}, and must be positive", length);
  if (arguments.batches < 1)
    return refuse(name, Status::invalid_size, "batch is {}, and must be positive", arguments.batches);
  if (arguments.in.given != arguments.out.given)
    return refuse(name, Status::invalid_value, "one of inembed and onembed is null, the other one is not");
  if (arguments.in.given)
    for (const auto& [side, memory] : {std::pair{"i", &arguments.in}, {"o", &arguments.out}})
      if (const Status status = check_layout(name, side, *memory); status != Status::success) return status;

  shape.length = arguments.length;
  shape.batches = arguments.batches;
  std::tie(shape.number, shape.form) = *arguments.kind;
  const bool small = shape.number == Number::half || shape.number == Number::bfloat;
  for (const int64_t length : shape.length) {
    if (small && (length & (length - 1)) != 0)
      return refuse(name, Status::not_supported,
                    "numbers of 16 bits are transformed in powers of two, not {}", length);
    if (length > longest)
      return refuse(name, Status::not_supported, "Lanescope transforms up to {} numbers in a row, not {}",
                    longest, length);
  }
  for (const bool in_place : {false, true}) {
    const Part in = shape.form == Form::complex      ? Part::all
                    : shape.form == Form::to_complex ? Part::real
                                                     : Part::half;
    const Part out = shape.form == Form::complex      ? Part::all
                     : shape.form == Form::to_complex ? Part::half
                                                      : Part::real;
    if (!lay_out(shape, arguments.in, in, in_place, shape.in[static_cast<size_t>(in_place)]) ||
        !lay_out(shape, arguments.out, out, in_place, shape.out[static_cast<size_t>(in_place)]))
      return refuse(name, Status::internal_error, "that is more memory than there are addresses for");
  }
  return Status::success;
}

}  // namespace lanescope::cuda::fft
