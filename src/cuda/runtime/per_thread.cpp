// Twins of the functions that take or imply a stream, for programs compiled with --default-stream per-thread:
// their default stream is the calling thread's own. Those without a stream (_ptds) differ in nothing, as all
// work is done when it is submitted.
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/pass.hpp"

using namespace lanescope::cuda;

LANESCOPE_PASS_6(__cudaLaunchKernel_ptsz, __cudaLaunchKernel, with_own_stream)
LANESCOPE_PASS_3(cudaEventRecordWithFlags_ptsz, cudaEventRecordWithFlags, with_own_stream)
LANESCOPE_PASS_2(cudaEventRecord_ptsz, cudaEventRecord, with_own_stream)
LANESCOPE_PASS_2(cudaFreeAsync_ptsz, cudaFreeAsync, with_own_stream)
LANESCOPE_PASS_3(cudaGraphInstantiateWithParams_ptsz, cudaGraphInstantiateWithParams, with_own_stream)
LANESCOPE_PASS_2(cudaGraphLaunch_ptsz, cudaGraphLaunch, with_own_stream)
LANESCOPE_PASS_2(cudaGraphUpload_ptsz, cudaGraphUpload, with_own_stream)
LANESCOPE_PASS_6(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel, with_own_stream)
LANESCOPE_PASS_3(cudaLaunchHostFunc_ptsz, cudaLaunchHostFunc, with_own_stream)
LANESCOPE_PASS_4(cudaLaunchHostFunc_v2_ptsz, cudaLaunchHostFunc_v2, with_own_stream)
LANESCOPE_PASS_6(cudaLaunchKernel_ptsz, cudaLaunchKernel, with_own_stream)
LANESCOPE_PASS_3(cudaMallocAsync_ptsz, cudaMallocAsync, with_own_stream)
LANESCOPE_PASS_4(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync, with_own_stream)
LANESCOPE_PASS_5(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync, with_own_stream)
LANESCOPE_PASS_9(cudaMemcpy2DArrayToArray_ptds, cudaMemcpy2DArrayToArray, with_own_stream)
LANESCOPE_PASS_8(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync, with_own_stream)
LANESCOPE_PASS_9(cudaMemcpy2DFromArrayAsync_ptsz, cudaMemcpy2DFromArrayAsync, with_own_stream)
LANESCOPE_PASS_8(cudaMemcpy2DFromArray_ptds, cudaMemcpy2DFromArray, with_own_stream)
LANESCOPE_PASS_9(cudaMemcpy2DToArrayAsync_ptsz, cudaMemcpy2DToArrayAsync, with_own_stream)
LANESCOPE_PASS_8(cudaMemcpy2DToArray_ptds, cudaMemcpy2DToArray, with_own_stream)
LANESCOPE_PASS_7(cudaMemcpy2D_ptds, cudaMemcpy2D, with_own_stream)
LANESCOPE_PASS_2(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync, with_own_stream)
LANESCOPE_PASS_4(cudaMemcpy3DBatchAsync_ptsz, cudaMemcpy3DBatchAsync, with_own_stream)
LANESCOPE_PASS_8(cudaMemcpyBatchAsync_ptsz, cudaMemcpyBatchAsync, with_own_stream)
LANESCOPE_PASS_3(cudaMemcpy3DWithAttributesAsync_ptsz, cudaMemcpy3DWithAttributesAsync, with_own_stream)
LANESCOPE_PASS_5(cudaMemcpyWithAttributesAsync_ptsz, cudaMemcpyWithAttributesAsync, with_own_stream)
LANESCOPE_PASS_2(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync, with_own_stream)
LANESCOPE_PASS_1(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer, with_own_stream)
LANESCOPE_PASS_1(cudaMemcpy3D_ptds, cudaMemcpy3D, with_own_stream)
LANESCOPE_PASS_8(cudaMemcpyArrayToArray_ptds, cudaMemcpyArrayToArray, with_own_stream)
LANESCOPE_PASS_5(cudaMemcpyAsync_ptsz, cudaMemcpyAsync, with_own_stream)
LANESCOPE_PASS_7(cudaMemcpyFromArrayAsync_ptsz, cudaMemcpyFromArrayAsync, with_own_stream)
LANESCOPE_PASS_6(cudaMemcpyFromArray_ptds, cudaMemcpyFromArray, with_own_stream)
LANESCOPE_PASS_6(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync, with_own_stream)
LANESCOPE_PASS_5(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol, with_own_stream)
LANESCOPE_PASS_7(cudaMemcpyToArrayAsync_ptsz, cudaMemcpyToArrayAsync, with_own_stream)
LANESCOPE_PASS_6(cudaMemcpyToArray_ptds, cudaMemcpyToArray, with_own_stream)
LANESCOPE_PASS_6(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync, with_own_stream)
LANESCOPE_PASS_5(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol, with_own_stream)
LANESCOPE_PASS_4(cudaMemcpy_ptds, cudaMemcpy, with_own_stream)
LANESCOPE_PASS_6(cudaMemset2DAsync_ptsz, cudaMemset2DAsync, with_own_stream)
LANESCOPE_PASS_5(cudaMemset2D_ptds, cudaMemset2D, with_own_stream)
LANESCOPE_PASS_4(cudaMemset3DAsync_ptsz, cudaMemset3DAsync, with_own_stream)
LANESCOPE_PASS_3(cudaMemset3D_ptds, cudaMemset3D, with_own_stream)
LANESCOPE_PASS_4(cudaMemsetAsync_ptsz, cudaMemsetAsync, with_own_stream)
LANESCOPE_PASS_3(cudaMemset_ptds, cudaMemset, with_own_stream)
LANESCOPE_PASS_4(cudaStreamAddCallback_ptsz, cudaStreamAddCallback, with_own_stream)
LANESCOPE_PASS_4(cudaStreamAttachMemAsync_ptsz, cudaStreamAttachMemAsync, with_own_stream)
LANESCOPE_PASS_6(cudaStreamBeginCaptureToGraph_ptsz, cudaStreamBeginCaptureToGraph, with_own_stream)
LANESCOPE_PASS_2(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture, with_own_stream)
LANESCOPE_PASS_2(cudaStreamCopyAttributes_ptsz, cudaStreamCopyAttributes, with_own_stream)
LANESCOPE_PASS_2(cudaStreamEndCapture_ptsz, cudaStreamEndCapture, with_own_stream)
LANESCOPE_PASS_3(cudaStreamGetAttribute_ptsz, cudaStreamGetAttribute, with_own_stream)
LANESCOPE_PASS_7(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo, with_own_stream)
LANESCOPE_PASS_2(cudaStreamGetDevice_ptsz, cudaStreamGetDevice, with_own_stream)
LANESCOPE_PASS_2(cudaStreamGetFlags_ptsz, cudaStreamGetFlags, with_own_stream)
LANESCOPE_PASS_2(cudaStreamGetId_ptsz, cudaStreamGetId, with_own_stream)
LANESCOPE_PASS_2(cudaStreamGetPriority_ptsz, cudaStreamGetPriority, with_own_stream)
LANESCOPE_PASS_2(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing, with_own_stream)
LANESCOPE_PASS_1(cudaStreamQuery_ptsz, cudaStreamQuery, with_own_stream)
LANESCOPE_PASS_3(cudaStreamSetAttribute_ptsz, cudaStreamSetAttribute, with_own_stream)
LANESCOPE_PASS_1(cudaStreamSynchronize_ptsz, cudaStreamSynchronize, with_own_stream)
LANESCOPE_PASS_5(cudaStreamUpdateCaptureDependencies_ptsz, cudaStreamUpdateCaptureDependencies,
                 with_own_stream)
LANESCOPE_PASS_3(cudaStreamWaitEvent_ptsz, cudaStreamWaitEvent, with_own_stream)

LANESCOPE_CUDA_API Status cudaLaunchKernelExC_ptsz(const LaunchDescription* description, const void* function,
                                                   void** arguments) {
  if (description == nullptr) return cudaLaunchKernelExC(description, function, arguments);
  LaunchDescription with_stream = *description;
  with_stream.stream = own_stream(description->stream);
  return cudaLaunchKernelExC(&with_stream, function, arguments);
}
