// The one entry to the register instructions' handlers.
#include "exec/handlers/registers.hpp"

namespace lanescope::exec::LANESCOPE_ISA {

Handler select_register_instruction(const HandlerKey& key) {
  for (const auto select : {select_integer, select_float, select_half, select_compare, select_convert,
                            select_move, select_crosslane, select_video}) {
    if (const Handler handler = select(key)) return handler;
  }
  return nullptr;
}

}  // namespace lanescope::exec::LANESCOPE_ISA
