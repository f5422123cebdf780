// A few lines of CUDA C that access shared memory, and the warp-wide requests they make: the input of
// `lanescope explain`. The code is executed for all threads of one block, warp by warp, as far as addresses
// and control flow need it; what is in memory is not computed.
//
//   struct P { float x, y, z; };            declarations of arrays are shared memory
//   P s[256];
//   const int i = 2 * threadIdx.x;          variables
//   for (int j = 0; j < 32; j += 8)         if, for, while, blocks
//     s[i].x = in[j];                       an assignment stores, any other mention loads
//
// Names: threadIdx, blockIdx, blockDim, gridDim (with .x .y .z), tid (with .x .y .z the same as threadIdx;
// alone, the linear index of the thread in its block), lane, warp, warpSize. Names that are not declared
// (`in`) may be read and called, but have no value. docs/explain.md has the whole language.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "exec/observer.hpp"
#include "lanescope/model/request.hpp"

namespace lanescope::code {

struct Program;

/// Code that was understood. Cheap to copy.
using Code = std::shared_ptr<const Program>;

/// Throws lanescope::Error with line, column and cause. `name`: of the text, for messages.
[[nodiscard]] Code parse_code(std::string text, std::string name = "code");

/// What runs the code: one block of a grid.
struct CodeLaunch {
  exec::Dim3 block{32, 1, 1};  ///< at most 1024 threads
  exec::Dim3 grid{1, 1, 1};
  exec::Dim3 block_index{0, 0, 0};
  int warp_lanes = 32;  ///< 32 or 64
  /// Operations of a warp after which the code is taken not to end.
  uint64_t most_operations = uint64_t{1} << 21;
};

/// An array in shared memory. Each begins at a multiple of 256 bytes, so that element 0 is in bank 0.
struct CodeArray {
  std::string name;
  std::string declaration;  ///< "float tile[32][32]"
  uint32_t begin = 0;       ///< offset in the block's shared memory
  uint32_t bytes = 0;       ///< size; of an array without bound ("float a[]") what the accesses reach
  uint32_t row_bytes = 0;   ///< of the last dimension; 0 with one dimension
  uint32_t element_bytes = 0;
  uint32_t struct_align = 0;  ///< of elements that are structs of the code's own; 0: scalars and vectors
  bool assumed = false;       ///< not declared: the only array, subscripted with one index, taken for floats
};

/// One way in which the text accesses memory: a load or a store of a scalar, a vector, or one member of a
/// struct that is copied as a whole.
struct CodeAccess {
  model::Op op = model::Op::load;
  int width = 4;       ///< bytes a lane
  uint32_t array = 0;  ///< index of CodeRun::arrays
  std::string text;    ///< "s[i].x"
  SourcePlace place;
};

/// One pass through the loops around an access.
struct CodeStep {
  struct Loop {
    std::string variable;          ///< "j"; empty when the loop declares none
    uint32_t pass = 0;             ///< from 0
    std::optional<int64_t> value;  ///< of the variable, if all lanes of all warps have the same
  };
  std::vector<Loop> loops;  ///< outermost first
};

/// A request that one warp makes.
struct CodeRequest {
  uint32_t access = 0;  ///< index of CodeRun::accesses
  uint32_t step = 0;    ///< index of CodeRun::steps
  uint32_t warp = 0;
  model::Request request;
};

struct CodeRun {
  std::vector<CodeArray> arrays;
  std::string undeclared;            ///< the first name that is subscripted, or else led through, without a
                                     ///< declaration; empty: none
  std::vector<CodeAccess> accesses;  ///< in the order in which they first happen
  std::vector<CodeStep> steps;
  std::vector<CodeRequest> requests;  ///< warp by warp, each in program order
};

/// Executes the code. Throws lanescope::Error with the place and, where there is one, the lane: an index out
/// of range, a misaligned access, a division by zero, a value that is needed and not known, code that does
/// not end.
[[nodiscard]] CodeRun run_code(const Code& code, const CodeLaunch& launch);

}  // namespace lanescope::code
