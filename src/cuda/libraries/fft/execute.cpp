// The functions that execute plans.
#include "cuda/libraries/fft/plan.hpp"

namespace lanescope::cuda::fft {
namespace {

constexpr int forward = -1, inverse = 1;  // CUFFT_FORWARD, CUFFT_INVERSE

/// `type` is what the function's name says: the real library looks at its direction alone, and does what the
/// plan is for.
Status execute(const char* name, Kind type, int handle, const void* in, void* out, int direction) {
  const auto plan = find_plan(handle);
  if (plan == nullptr)
    return refuse(name, Status::invalid_plan, "{} is no plan, or one that was destroyed", handle);
  const auto transform = plan->transform;
  if (transform == nullptr) return refuse(name, Status::invalid_plan, "plan {} is not made yet", handle);
  if (direction != forward && direction != inverse)
    return refuse(name, Status::invalid_value, "the direction is {}, neither CUFFT_FORWARD nor CUFFT_INVERSE",
                  direction);
  const Shape& shape = transform->shape();
  if (shape.form != Form::complex && (shape.form == Form::to_real) != (direction == inverse))
    return refuse(
        name, Status::invalid_value, "plan {} is for the other direction, {}", handle,
        shape.form == Form::to_real ? "from complex to real numbers" : "from real to complex numbers");
  if (type && *type != std::pair(shape.number, shape.form))
    libraries::say("{}: plan {} is for other types; it is executed for those", name, handle);
  const auto alignment = static_cast<uintptr_t>(2 * shape.bytes_of_real());
  for (const void* side : {in, static_cast<const void*>(out)})
    if (reinterpret_cast<uintptr_t>(side) % alignment != 0)
      return refuse(name, Status::invalid_value, "{} is at {}, and must be at a multiple of {} bytes",
                    side == in ? "the input" : "the output", side, alignment);

  const auto work = [transform, in, out, direction](const libraries::Memory& memory) {
    const Shape& shape = transform->shape();
    const auto in_place = static_cast<size_t>(in == out);
    memory.reach("the input", in, static_cast<uint64_t>(shape.bytes(shape.in[in_place])), false);
    memory.reach("the output", out, static_cast<uint64_t>(shape.bytes(shape.out[in_place])), true);
    transform->run(in, out, direction == inverse);
  };
  return libraries::submit(plan->stream, name, work) == cuda::Status::success ? Status::success
                                                                              : Status::exec_failed;
}

}  // namespace

LANESCOPE_CUDA_API Status cufftExecC2C(int plan, const void* in, void* out, int direction) {
  return execute("cufftExecC2C", kind_of(Type::c2c), plan, in, out, direction);
}
LANESCOPE_CUDA_API Status cufftExecR2C(int plan, const void* in, void* out) {
  return execute("cufftExecR2C", kind_of(Type::r2c), plan, in, out, forward);
}
LANESCOPE_CUDA_API Status cufftExecC2R(int plan, const void* in, void* out) {
  return execute("cufftExecC2R", kind_of(Type::c2r), plan, in, out, inverse);
}
LANESCOPE_CUDA_API Status cufftExecZ2Z(int plan, const void* in, void* out, int direction) {
  return execute("cufftExecZ2Z", kind_of(Type::z2z), plan, in, out, direction);
}
LANESCOPE_CUDA_API Status cufftExecD2Z(int plan, const void* in, void* out) {
  return execute("cufftExecD2Z", kind_of(Type::d2z), plan, in, out, forward);
}
LANESCOPE_CUDA_API Status cufftExecZ2D(int plan, const void* in, void* out) {
  return execute("cufftExecZ2D", kind_of(Type::z2d), plan, in, out, inverse);
}
LANESCOPE_CUDA_API Status cufftXtExec(int plan, const void* in, void* out, int direction) {
  return execute("cufftXtExec", {}, plan, in, out, direction);
}

}  // namespace lanescope::cuda::fft
