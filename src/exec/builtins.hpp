// What kernels call but no PTX defines: vprintf, malloc, free and the end of a failed assert; and the question which
// state space a generic address lies in. Rare, so one function a warp and no host instruction set.
#pragma once

#include <optional>
#include <string_view>

#include "exec/program.hpp"

namespace lanescope::exec {

enum class Builtin : uint8_t { vprintf, malloc, free, assertfail };

/// The function of this name, if it is one that the engine itself provides.
[[nodiscard]] std::optional<Builtin> find_builtin(std::string_view name);

/// imm: the Builtin. Arguments lie in each lane's local memory from 0 on, where its caller put them; the result goes to
/// the offset in aux.
const Inst* call_builtin(Warp& w, const Inst* in);

/// isspacep: predicate d <- whether address a lies in the ptx::Space in imm (const, global or param).
const Inst* is_space(Warp& w, const Inst* in);

}  // namespace lanescope::exec
