// Streams and events, and what is captured of them.
#include <span>

#include "cuda/driver/driver.hpp"
#include "cuda/runtime/calls.hpp"
#include "cuda/runtime/capture.hpp"

using namespace lanescope::cuda;

LANESCOPE_PASS_2(cuStreamCreate, cudaStreamCreateWithFlags, by_context)
LANESCOPE_PASS_3(cuStreamCreateWithPriority, cudaStreamCreateWithPriority, by_context)
LANESCOPE_PASS_1(cuStreamDestroy, cudaStreamDestroy, by_handle)
LANESCOPE_PASS_1(cuStreamDestroy_v2, cudaStreamDestroy, by_handle)
LANESCOPE_PASS_1(cuStreamSynchronize, cudaStreamSynchronize, by_handle)
LANESCOPE_PASS_1(cuStreamQuery, cudaStreamQuery, by_handle)
LANESCOPE_PASS_2(cuStreamGetFlags, cudaStreamGetFlags, by_handle)
LANESCOPE_PASS_2(cuStreamGetPriority, cudaStreamGetPriority, by_handle)
LANESCOPE_PASS_2(cuStreamGetId, cudaStreamGetId, by_handle)
LANESCOPE_PASS_2(cuStreamGetDevice, cudaStreamGetDevice, by_handle)
LANESCOPE_PASS_3(cuStreamWaitEvent, cudaStreamWaitEvent, by_handle)
LANESCOPE_PASS_4(cuStreamAddCallback, cudaStreamAddCallback, by_handle)
LANESCOPE_PASS_4(cuStreamAttachMemAsync, cudaStreamAttachMemAsync, by_handle)
LANESCOPE_PASS_3(cuStreamGetAttribute, cudaStreamGetAttribute, by_handle)
LANESCOPE_PASS_3(cuStreamSetAttribute, cudaStreamSetAttribute, by_handle)
LANESCOPE_PASS_2(cuStreamCopyAttributes, cudaStreamCopyAttributes, by_handle)
LANESCOPE_PASS_2(cuStreamIsCapturing, cudaStreamIsCapturing, by_handle)
LANESCOPE_PASS_2(cuStreamBeginCapture_v2, cudaStreamBeginCapture, by_handle)
LANESCOPE_PASS_6(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph, by_handle)
LANESCOPE_PASS_2(cuStreamEndCapture, cudaStreamEndCapture, by_handle)
LANESCOPE_PASS_7(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo, by_handle)
LANESCOPE_PASS_5(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies, by_handle)
LANESCOPE_PASS_1(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, by_driver)

LANESCOPE_CUDA_API Status cuStreamGetCaptureInfo_v2(Stream* stream, int* status, unsigned long long* id,
                                                    Graph** graph, Node* const** needs, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, needs, nullptr, count);
}

LANESCOPE_CUDA_API Status cuStreamUpdateCaptureDependencies(Stream* stream, Node* const* needs, size_t count,
                                                            unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, needs, nullptr, count, flags);
}

/// That in which it was made, whatever is current; of a default stream the current one.
LANESCOPE_CUDA_API Status cuStreamGetCtx(Stream* stream, Context** out) {
  return in_context_of(stream, [&] {
    if (out == nullptr) return Status::invalid_value;
    Stream* of = nullptr;
    const Status found = find_stream(Runtime::get(), stream, OnCaptured::is_asked, of);
    if (found != Status::success) return found;
    *out = of->context != nullptr ? of->context : current_context;
    return Status::success;
  });
}

/// Green contexts, with a part of the multiprocessors, cannot be made here, so no stream is of one.
LANESCOPE_CUDA_API Status cuStreamGetGreenCtx(Stream* stream, void** out) {
  return in_context_of(stream, [&] {
    if (out == nullptr) return Status::invalid_value;
    Stream* of = nullptr;
    const Status found = find_stream(Runtime::get(), stream, OnCaptured::is_asked, of);
    if (found == Status::success) *out = nullptr;
    return found;
  });
}

LANESCOPE_CUDA_API Status cuStreamGetCtx_v2(Stream* stream, Context** out, void** green) {
  const Status found = cuStreamGetCtx(stream, out);
  if (found == Status::success && green != nullptr) *green = nullptr;
  return found;
}

LANESCOPE_PASS_2(cuEventCreate, cudaEventCreateWithFlags, by_context)
LANESCOPE_PASS_1(cuEventDestroy, cudaEventDestroy, by_handle)
LANESCOPE_PASS_1(cuEventDestroy_v2, cudaEventDestroy, by_handle)
LANESCOPE_PASS_2(cuEventRecord, cudaEventRecord, by_handle)
LANESCOPE_PASS_3(cuEventRecordWithFlags, cudaEventRecordWithFlags, by_handle)
LANESCOPE_PASS_2(cuIpcGetEventHandle, cudaIpcGetEventHandle, by_context)
LANESCOPE_PASS_2(cuIpcOpenEventHandle, cudaIpcOpenEventHandle, by_context)
LANESCOPE_PASS_1(cuEventQuery, cudaEventQuery, by_handle)
LANESCOPE_PASS_1(cuEventSynchronize, cudaEventSynchronize, by_handle)
LANESCOPE_PASS_3(cuEventElapsedTime, cudaEventElapsedTime, by_handle)
LANESCOPE_PASS_3(cuEventElapsedTime_v2, cudaEventElapsedTime, by_handle)

// Words in memory that streams write and wait for.

namespace {

/// CUstreamBatchMemOpType.
enum class MemoryOperation : unsigned { wait_32 = 1, write_32, flush, wait_64, write_64, barrier };
/// CUstreamBatchMemOpParams. The last two operations have their flags in place of the address.
struct MemoryOperationParameters {
  MemoryOperation operation;
  unsigned flags_of_ordering;
  uint64_t address, value;
  unsigned flags;
  uint64_t alias, unused;
};
static_assert(sizeof(MemoryOperationParameters) == 48);

constexpr unsigned wait_kinds = 4, flush_flag = 1u << 30;
constexpr unsigned most_operations = 255;  ///< measured on an H200 (driver 580), as the rest

bool can_flush() { return Runtime::get().device.attribute(98) != 0; }

/// The operation as work; false for one that makes no sense.
bool to_work(const MemoryOperationParameters& from, Work& to) {
  const bool wide = from.operation == MemoryOperation::wait_64 || from.operation == MemoryOperation::write_64;
  const Word word{from.address, wide ? from.value : static_cast<uint32_t>(from.value), wide ? 8u : 4u};
  const auto is_word = [&] {
    Block block;
    const bool is_managed =
        Runtime::get().find_block(word.address, block) && block.type == MemoryType::managed;
    return word.address % word.bytes == 0 && !is_managed && Runtime::get().covers(word.address, word.bytes);
  };
  switch (from.operation) {
    case MemoryOperation::wait_32:
    case MemoryOperation::wait_64: {
      const unsigned until = from.flags & ~flush_flag;
      to = WaitWordWork{word, static_cast<WaitWordWork::Until>(until)};
      return until < wait_kinds && is_word();
    }
    case MemoryOperation::write_32:
    case MemoryOperation::write_64: to = WriteWordWork{word}; return from.flags == 0 && is_word();
    // What came before in the stream is done by the time of what follows.
    case MemoryOperation::flush: to = std::monostate{}; return from.flags_of_ordering == 0;
    case MemoryOperation::barrier: to = std::monostate{}; return from.flags_of_ordering <= 1;
  }
  return false;
}

Status submit_all(Stream* stream, std::span<const MemoryOperationParameters> operations) {
  return in_context([&] {
    return with_stream(stream, OnCaptured::is_recorded, [&](Runtime& runtime, Stream&) {
      std::vector<Work> all(operations.size());
      for (size_t i = 0; i < all.size(); ++i) {
        if (!to_work(operations[i], all[i])) return Status::invalid_value;
        const bool flushes =
            operations[i].operation == MemoryOperation::flush ||
            (std::holds_alternative<WaitWordWork>(all[i]) && (operations[i].flags & flush_flag) != 0);
        if (flushes && !can_flush()) return Status::not_supported;
      }
      for (Work& work : all)
        if (const Status status = runtime.submit(stream, std::move(work)); status != Status::success)
          return status;
      return Status::success;
    });
  });
}

Status submit_one(Stream* stream, MemoryOperation operation, uint64_t address, uint64_t value,
                  unsigned flags) {
  const MemoryOperationParameters one{operation, 0, address, value, flags, 0, 0};
  return submit_all(stream, {&one, 1});
}

}  // namespace

LANESCOPE_CUDA_API Status cuStreamWaitValue32_v2(Stream* stream, uint64_t address, uint32_t value,
                                                 unsigned flags) {
  return submit_one(stream, MemoryOperation::wait_32, address, value, flags);
}
LANESCOPE_CUDA_API Status cuStreamWaitValue64_v2(Stream* stream, uint64_t address, uint64_t value,
                                                 unsigned flags) {
  return submit_one(stream, MemoryOperation::wait_64, address, value, flags);
}
LANESCOPE_CUDA_API Status cuStreamWriteValue32_v2(Stream* stream, uint64_t address, uint32_t value,
                                                  unsigned flags) {
  return submit_one(stream, MemoryOperation::write_32, address, value, flags);
}
LANESCOPE_CUDA_API Status cuStreamWriteValue64_v2(Stream* stream, uint64_t address, uint64_t value,
                                                  unsigned flags) {
  return submit_one(stream, MemoryOperation::write_64, address, value, flags);
}
LANESCOPE_CUDA_API Status cuStreamBatchMemOp_v2(Stream* stream, unsigned count,
                                                const MemoryOperationParameters* operations, unsigned flags) {
  return in_context([&] {
    if (count > most_operations || (count != 0 && operations == nullptr) || flags != 0)
      return Status::invalid_value;
    return submit_all(stream, {operations, count});
  });
}

namespace {
template <typename... A>
Status directly(Status (*target)(A...), A... a) {
  return target(a...);
}
}  // namespace

LANESCOPE_PASS_4(cuStreamWaitValue32, cuStreamWaitValue32_v2, directly)
LANESCOPE_PASS_4(cuStreamWaitValue64, cuStreamWaitValue64_v2, directly)
LANESCOPE_PASS_4(cuStreamWriteValue32, cuStreamWriteValue32_v2, directly)
LANESCOPE_PASS_4(cuStreamWriteValue64, cuStreamWriteValue64_v2, directly)
LANESCOPE_PASS_4(cuStreamBatchMemOp, cuStreamBatchMemOp_v2, directly)

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
LANESCOPE_PASS_3(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx_v2, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetDevice_ptsz, cuStreamGetDevice, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetFlags_ptsz, cuStreamGetFlags, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetId_ptsz, cuStreamGetId, with_own_stream)
LANESCOPE_PASS_2(cuStreamGetPriority_ptsz, cuStreamGetPriority, with_own_stream)
LANESCOPE_PASS_2(cuStreamIsCapturing_ptsz, cuStreamIsCapturing, with_own_stream)
LANESCOPE_PASS_1(cuStreamQuery_ptsz, cuStreamQuery, with_own_stream)
LANESCOPE_PASS_3(cuStreamGetAttribute_ptsz, cuStreamGetAttribute, with_own_stream)
LANESCOPE_PASS_3(cuStreamSetAttribute_ptsz, cuStreamSetAttribute, with_own_stream)
LANESCOPE_PASS_1(cuStreamSynchronize_ptsz, cuStreamSynchronize, with_own_stream)
LANESCOPE_PASS_5(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies_v2,
                 with_own_stream)
LANESCOPE_PASS_4(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies, with_own_stream)
LANESCOPE_PASS_3(cuStreamWaitEvent_ptsz, cuStreamWaitEvent, with_own_stream)
LANESCOPE_PASS_4(cuStreamWaitValue32_ptsz, cuStreamWaitValue32, with_own_stream)
LANESCOPE_PASS_4(cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32_v2, with_own_stream)
LANESCOPE_PASS_4(cuStreamWaitValue64_ptsz, cuStreamWaitValue64, with_own_stream)
LANESCOPE_PASS_4(cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64_v2, with_own_stream)
LANESCOPE_PASS_4(cuStreamWriteValue32_ptsz, cuStreamWriteValue32, with_own_stream)
LANESCOPE_PASS_4(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32_v2, with_own_stream)
LANESCOPE_PASS_4(cuStreamWriteValue64_ptsz, cuStreamWriteValue64, with_own_stream)
LANESCOPE_PASS_4(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64_v2, with_own_stream)
LANESCOPE_PASS_4(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp, with_own_stream)
LANESCOPE_PASS_4(cuStreamBatchMemOp_v2_ptsz, cuStreamBatchMemOp_v2, with_own_stream)
