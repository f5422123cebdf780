// Compiles two units when it runs (NVRTC, for optimisation at link time), links them to machine code
// (nvJitLink), and loads and launches that by the driver API. With an argument: one of them is PTX, which is
// linked twice, and waits for the whole grid by a function of the device's runtime.
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

#include "../require.hpp"
#include "turned.hpp"

namespace {

constexpr char caller[] = R"(__device__ int place(int i);
extern "C" __global__ void turn(int* out, const int* in) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = in[threadIdx.x]; __syncthreads();
  out[threadIdx.x] = tile[place(threadIdx.x)];
}
)";
constexpr char called[] = "__device__ int place(int i) { return i % 32 * 32 + i / 32; }";

// What Numba compiles has such variables.
constexpr char called_ptx[] = R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.common .global .align 8 .u64 environment;
.weak .func (.param .b32 result) _Z5placei(.param .b32 i)
{
  .reg .b32 %r<8>; .reg .b64 %d<2>;
  { .param .b32 scope; .param .b64 handle;
    st.param.b32 [scope], 1;
    call (handle), cudaCGGetIntrinsicHandle, (scope);
    ld.param.b64 %d1, [handle]; }
  { .param .b64 handle; .param .b32 flags; .param .b32 error;
    st.param.b64 [handle], %d1;
    st.param.b32 [flags], 0;
    call (error), cudaCGSynchronize, (handle, flags);
    ld.param.b32 %r7, [error]; }
  ld.param.b32 %r1, [i];
  rem.s32 %r2, %r1, 32;
  div.s32 %r3, %r1, 32;
  mad.lo.s32 %r4, %r2, 32, %r3;
  st.param.b32 [result], %r4;
  ret;
}
)";

void add(nvJitLinkHandle linker, const char* source, const char* name) {
  nvrtcProgram program{};
  require(nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr) == NVRTC_SUCCESS, "create");
  const char* options[] = {"--gpu-architecture=compute_90", "-dlto", "-rdc=true", "-lineinfo"};
  require(nvrtcCompileProgram(program, 4, options) == NVRTC_SUCCESS, "compile");
  size_t size = 0;
  require(nvrtcGetLTOIRSize(program, &size) == NVRTC_SUCCESS, "size");
  std::vector<char> code(size);
  require(nvrtcGetLTOIR(program, code.data()) == NVRTC_SUCCESS, "code");
  require(nvJitLinkAddData(linker, NVJITLINK_INPUT_LTOIR, code.data(), size, name) == NVJITLINK_SUCCESS,
          "add");
}

}  // namespace

int main(int count, char** arguments_of_program) {
  nvJitLinkHandle linker{};
  const char* options[] = {"-arch=sm_90", "-lto"};
  require(nvJitLinkCreate(&linker, 2, options) == NVJITLINK_SUCCESS, "linker");
  add(linker, caller, "turn.cu");
  if (count == 1) add(linker, called, "place.cu");
  for (int i = 0; count > 1 && i < 2; ++i)
    require(nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, called_ptx, sizeof called_ptx, "place") ==
                NVJITLINK_SUCCESS,
            "add PTX");
  if (count > 1)
    require(nvJitLinkAddFile(linker, NVJITLINK_INPUT_LIBRARY, arguments_of_program[1]) == NVJITLINK_SUCCESS,
            "add library");
  require(nvJitLinkComplete(linker) == NVJITLINK_SUCCESS, "link");
  size_t size = 0;
  require(nvJitLinkGetLinkedCubinSize(linker, &size) == NVJITLINK_SUCCESS, "size");
  std::vector<char> code(size);
  require(nvJitLinkGetLinkedCubin(linker, code.data()) == NVJITLINK_SUCCESS, "code");
  std::printf("linked %d\n", turned(code.data(), "turn", 1024, 1));
}
