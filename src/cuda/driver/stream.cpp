// Streams and events, and what is captured of them.
#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"

using namespace lanescope::cuda;

LANESCOPE_PASS_2(cuStreamCreate, cudaStreamCreateWithFlags, by_context)
LANESCOPE_PASS_3(cuStreamCreateWithPriority, cudaStreamCreateWithPriority, by_context)
LANESCOPE_PASS_1(cuStreamDestroy, cudaStreamDestroy, by_context)
LANESCOPE_PASS_1(cuStreamDestroy_v2, cudaStreamDestroy, by_context)
LANESCOPE_PASS_1(cuStreamSynchronize, cudaStreamSynchronize, by_context)
LANESCOPE_PASS_1(cuStreamQuery, cudaStreamQuery, by_context)
LANESCOPE_PASS_2(cuStreamGetFlags, cudaStreamGetFlags, by_context)
LANESCOPE_PASS_2(cuStreamGetPriority, cudaStreamGetPriority, by_context)
LANESCOPE_PASS_2(cuStreamGetId, cudaStreamGetId, by_context)
LANESCOPE_PASS_2(cuStreamGetDevice, cudaStreamGetDevice, by_context)
LANESCOPE_PASS_3(cuStreamWaitEvent, cudaStreamWaitEvent, by_context)
LANESCOPE_PASS_4(cuStreamAddCallback, cudaStreamAddCallback, by_context)
LANESCOPE_PASS_4(cuStreamAttachMemAsync, cudaStreamAttachMemAsync, by_context)
LANESCOPE_PASS_3(cuStreamSetAttribute, cudaStreamSetAttribute, by_context)
LANESCOPE_PASS_2(cuStreamCopyAttributes, cudaStreamCopyAttributes, by_context)
LANESCOPE_PASS_2(cuStreamIsCapturing, cudaStreamIsCapturing, by_context)
LANESCOPE_PASS_2(cuStreamBeginCapture_v2, cudaStreamBeginCapture, by_context)
LANESCOPE_PASS_6(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph, by_context)
LANESCOPE_PASS_2(cuStreamEndCapture, cudaStreamEndCapture, by_context)
LANESCOPE_PASS_7(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo, by_context)
LANESCOPE_PASS_5(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies, by_context)
LANESCOPE_PASS_1(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, by_driver)

LANESCOPE_CUDA_API Status cuStreamGetCaptureInfo_v2(Stream* stream, int* status, unsigned long long* id,
                                                    Graph** graph, Node* const** needs, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, needs, nullptr, count);
}

/// Streams belong to no context here; they are used in the current one.
LANESCOPE_CUDA_API Status cuStreamGetCtx(Stream* stream, Context** out) {
  return in_context([&] {
    if (out == nullptr) return Status::invalid_value;
    if (Runtime::get().stream(stream) == nullptr) return Status::invalid_resource_handle;
    *out = current_context;
    return Status::success;
  });
}

LANESCOPE_PASS_2(cuEventCreate, cudaEventCreateWithFlags, by_context)
LANESCOPE_PASS_1(cuEventDestroy, cudaEventDestroy, by_context)
LANESCOPE_PASS_1(cuEventDestroy_v2, cudaEventDestroy, by_context)
LANESCOPE_PASS_2(cuEventRecord, cudaEventRecord, by_context)
LANESCOPE_PASS_3(cuEventRecordWithFlags, cudaEventRecordWithFlags, by_context)
LANESCOPE_PASS_1(cuEventQuery, cudaEventQuery, by_context)
LANESCOPE_PASS_1(cuEventSynchronize, cudaEventSynchronize, by_context)
LANESCOPE_PASS_3(cuEventElapsedTime, cudaEventElapsedTime, by_context)
LANESCOPE_PASS_3(cuEventElapsedTime_v2, cudaEventElapsedTime, by_context)

// Twins for per-thread default streams.
LANESCOPE_PASS_2(cuEventRecord_ptsz, cuEventRecord, with_own_stream)
LANESCOPE_PASS_3(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags, with_own_stream)
LANESCOPE_PASS_4(cuStreamAddCallback_ptsz, cuStreamAddCallback, with_own_stream)
LANESCOPE_PASS_4(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync, with_own_stream)
LANESCOPE_PASS_6(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph, with_own_stream)
LANESCOPE_PASS_2(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2, with_own_stream)
LANESCOPE_PASS_2(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes, with_own_stream)
LANESCOPE_PASS_2(cuStreamEndCapture_ptsz, cuStreamEndCapture, with_own_stream)
LANESCOPE_PASS_6(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2, with_own_stream)
LANESCOPE_PASS_7(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetCtx_ptsz, cuStreamGetCtx, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetDevice_ptsz, cuStreamGetDevice, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetFlags_ptsz, cuStreamGetFlags, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetId_ptsz, cuStreamGetId, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetPriority_ptsz, cuStreamGetPriority, with_own_stream)
LANESCOPE_PASS_2(cuStreamIsCapturing_ptsz, cuStreamIsCapturing, with_own_stream)
LANESCOPE_PASS_1(cuStreamQuery_ptsz, cuStreamQuery, with_own_stream)
LANESCOPE_PASS_3(cuStreamSetAttribute_ptsz, cuStreamSetAttribute, with_own_stream)
LANESCOPE_PASS_1(cuStreamSynchronize_ptsz, cuStreamSynchronize, with_own_stream)
LANESCOPE_PASS_5(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2,
                 with_own_stream)
LANESCOPE_PASS_3(cuStreamWaitEvent_ptsz, cuStreamWaitEvent, with_own_stream)
