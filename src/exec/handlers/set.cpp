// The handler set of one host instruction set: compiled once for each, with LANESCOPE_ISA naming it.
#include "exec/handlers.hpp"
#include "exec/handlers/async_copy.hpp"
#include "exec/handlers/control.hpp"
#include "exec/handlers/matrix.hpp"
#include "exec/handlers/memory.hpp"
#include "exec/handlers/reduce.hpp"
#include "exec/handlers/registers.hpp"
#include "exec/handlers/texture.hpp"

#define LANESCOPE_STRING_(x)  #x
#define LANESCOPE_STRING(x)   LANESCOPE_STRING_(x)
#define LANESCOPE_JOIN_(a, b) a##b
#define LANESCOPE_JOIN(a, b)  LANESCOPE_JOIN_(a, b)

namespace lanescope::exec {
namespace LANESCOPE_ISA {
namespace {

Handler select(const HandlerKey& key) {
  if (ptx::info(key.op).op_class == ptx::OpClass::matrix) {
    const Handler product = select_matrix(key);
    if (product != nullptr) return product;
    return key.observed ? select_matrix_memory<true>(key) : select_matrix_memory<false>(key);
  }
  for (const Handler handler : {key.observed ? select_memory<true>(key) : select_memory<false>(key),
                                key.observed ? select_async_copy<true>(key) : select_async_copy<false>(key)})
    if (handler != nullptr) return handler;
  return select_register_instruction(key);
}

constexpr ControlHandlers control{guard,
                                  branch,
                                  branch_if<false>,
                                  branch_table<false>,
                                  call,
                                  call_indirect,
                                  ret,
                                  exit_lanes,
                                  barrier,
                                  sync,
                                  sync_groups,
                                  nothing,
                                  sleep,
                                  trap,
                                  clock,
                                  copy_local,
                                  wait_branch,
                                  wait_branch_if<false>,
                                  bypass_if<false>,
                                  give_way,
                                  enter_unrolled,
                                  branch_if_more<false>,
                                  branch_if<true>,
                                  branch_table<true>,
                                  wait_branch_if<true>,
                                  bypass_if<true>,
                                  branch_if_more<true>};

}  // namespace
}  // namespace LANESCOPE_ISA

const HandlerSet& LANESCOPE_JOIN(LANESCOPE_ISA, _handlers)() {
  static constexpr HandlerSet set{LANESCOPE_STRING(LANESCOPE_ISA), LANESCOPE_ISA::select,
                                  LANESCOPE_ISA::select_resize,    LANESCOPE_ISA::select_reduction,
                                  LANESCOPE_ISA::product_matrices, LANESCOPE_ISA::multiply_matrices,
                                  LANESCOPE_ISA::sample_texture,   LANESCOPE_ISA::control};
  return set;
}

}  // namespace lanescope::exec
