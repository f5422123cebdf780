// The functions of CUDA 12 that are those of CUDA 13, whatever their parameters: a jump. What is defined in
// translate.cpp takes the place of a jump of the same name when the library is linked.
#include "cuda/older/of_13.hpp"

#define LANESCOPE_JUMP(name, target) \
  asm(LANESCOPE_OF_13(target) ".pushsection .text\n"        \
      ".balign 16\n"                                        \
      ".weak " #name "\n"                                   \
      ".type " #name ", @function\n" #name                  \
      ":\n"                                                 \
      "jmp " #target "_of_13@PLT\n"                         \
      ".size " #name ", . - " #name "\n"                    \
      ".popsection\n");

// Of the same name. (Those that came with CUDA 13 are exported, too: nobody asks for them.)
#define LANESCOPE_EXPORT(name) LANESCOPE_JUMP(name, name)
#include "cuda/runtime/exports.def"

// What CUDA 13 gave the name of what it replaces.
LANESCOPE_JUMP(cudaEventElapsedTime_v2, cudaEventElapsedTime)
LANESCOPE_JUMP(cudaGraphAddDependencies_v2, cudaGraphAddDependencies)
LANESCOPE_JUMP(cudaGraphAddNode_v2, cudaGraphAddNode)
LANESCOPE_JUMP(cudaGraphGetEdges_v2, cudaGraphGetEdges)
LANESCOPE_JUMP(cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies)
LANESCOPE_JUMP(cudaGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes)
LANESCOPE_JUMP(cudaGraphRemoveDependencies_v2, cudaGraphRemoveDependencies)
LANESCOPE_JUMP(cudaMemAdvise_v2, cudaMemAdvise)
LANESCOPE_JUMP(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync)
LANESCOPE_JUMP(cudaMemPrefetchAsync_v2_ptsz, cudaMemPrefetchAsync_ptsz)
LANESCOPE_JUMP(cudaSignalExternalSemaphoresAsync_v2, cudaSignalExternalSemaphoresAsync)
LANESCOPE_JUMP(cudaSignalExternalSemaphoresAsync_v2_ptsz, cudaSignalExternalSemaphoresAsync_ptsz)
LANESCOPE_JUMP(cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo)
LANESCOPE_JUMP(cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamGetCaptureInfo_ptsz)
LANESCOPE_JUMP(cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies)
LANESCOPE_JUMP(cudaStreamUpdateCaptureDependencies_v2_ptsz, cudaStreamUpdateCaptureDependencies_ptsz)
LANESCOPE_JUMP(cudaWaitExternalSemaphoresAsync_v2, cudaWaitExternalSemaphoresAsync)
LANESCOPE_JUMP(cudaWaitExternalSemaphoresAsync_v2_ptsz, cudaWaitExternalSemaphoresAsync_ptsz)

// What CUDA 13 has under the later of two names only.
LANESCOPE_JUMP(cudaThreadExit, cudaDeviceReset)
LANESCOPE_JUMP(cudaThreadGetCacheConfig, cudaDeviceGetCacheConfig)
LANESCOPE_JUMP(cudaThreadGetLimit, cudaDeviceGetLimit)
LANESCOPE_JUMP(cudaThreadSetCacheConfig, cudaDeviceSetCacheConfig)
LANESCOPE_JUMP(cudaThreadSetLimit, cudaDeviceSetLimit)
LANESCOPE_JUMP(cudaThreadSynchronize, cudaDeviceSynchronize)
