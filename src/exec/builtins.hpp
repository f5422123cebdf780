// What kernels call but no PTX defines: vprintf, malloc, free, the end of a failed assert, conditions of
// graphs and the device's runtime; and the question which state space a generic address lies in. Rare, so one
// function a warp and no host instruction set.
#pragma once

#include <optional>
#include <string_view>

#include "exec/program.hpp"
#include "ptx/module.hpp"

namespace lanescope::exec {

enum class Builtin : uint8_t {
  vprintf,
  malloc,
  free,
  set_condition,  ///< cudaGraphSetConditional: the handle is the address of the condition's word
  assertfail,
  // The device's runtime (dynamic parallelism); nvcc's names of CUDA 12 and later, and the older ones of
  // launches.
  parameter_buffer,
  launch,
  make_handle,  ///< cudaStreamCreateWithFlags, cudaEventCreateWithFlags
  no_wait,      ///< what orders work: it is done in the order of the calls
  get_last_error,
  peek_last_error,
  error_name,
  error_string,
  device_count,
  device,
  runtime_version,
  device_malloc,
  device_free,
  copy,
  set
};

/// What the engine itself provides in place of a function: of those that the PTX only declares, and of those
/// by which kernels launch others, of which the library for kernels (cudadevrt) of CUDA 11 and 12 brings PTX
/// that asks the device's system.
[[nodiscard]] std::optional<Builtin> find_builtin(const ptx::Function& function);
/// Whether the PTX declares a function that find_builtin() finds with the parameters and result that it has.
[[nodiscard]] bool is_declared_well(const ptx::Function& function);

/// imm: the Builtin. Arguments lie in each lane's local memory from 0 on, where its caller put them; the
/// result goes to the offset in aux.
const Inst* call_builtin(Warp& w, const Inst* in);

/// isspacep: predicate d <- whether address a lies in the ptx::Space in imm (const, global or param).
const Inst* is_space(Warp& w, const Inst* in);

/// alloca, stacksave: d <- the stack pointer b (an offset in local memory), rounded up to a multiple of imm,
/// which then moves on by a bytes. All have 64 bits.
const Inst* allocate_stack(Warp& w, const Inst* in);
/// A call or a return of a function that calls itself: d (32 bits) grows by imm, what its frame has at least
/// on a GPU, or shrinks. More than a GPU's thread has is a finding.
const Inst* count_frame(Warp& w, const Inst* in);

}  // namespace lanescope::exec
