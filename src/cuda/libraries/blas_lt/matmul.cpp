// cuBLASLt's products, which are cuBLAS's with a result of its own and an epilogue; its handles and versions.
#include "cuda/libraries/blas/products.hpp"
#include "cuda/libraries/blas_lt/descriptors.hpp"

LANESCOPE_CUDA_API const char* cublasGetStatusName(lanescope::cuda::blas::Status status);
LANESCOPE_CUDA_API const char* cublasGetStatusString(lanescope::cuda::blas::Status status);
LANESCOPE_CUDA_API size_t cublasGetCudartVersion();
LANESCOPE_CUDA_API lanescope::cuda::blas::Status cublasGetProperty(int which, int* out);

namespace lanescope::cuda::blas_lt {
namespace {

using blas::Call;
using blas::Computed;
using blas::Epilogue;
using blas::Layout;
using blas::Matrices;
using blas::Product;
using libraries::is_between;
using libraries::PointerMode;

/// What cublasLtCreate makes. A handle of cuBLAS will do as well, which is why none is looked into.
struct Handle {};

/// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  Status status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96);

/// How a product is described.
struct Described {
  const MatmulDesc* product;
  const MatrixLayout *a, *b, *c, *d;
};

Matrices matrices(Call& call, const char* name, const void* data, const MatrixLayout& of) {
  const auto rows = static_cast<int64_t>(of.rows), columns = static_cast<int64_t>(of.columns);
  if (!is_between(of.order, Order::columns, Order::rows))
    call.refuse(Status::not_supported,
                "the elements of {} are in an order (cublasLtOrder_t {}) that is not known here", name,
                static_cast<int>(of.order));
  if (of.plane_offset != 0 || of.batch_mode != 0)
    call.refuse(Status::not_supported, "{} lies in planes, or where an array of pointers says", name);
  const bool by_rows = of.order == Order::rows;
  call.size(name, rows).size(name, columns).size("the batch", of.batch_count);
  call.leading("the leading dimension", of.leading, by_rows ? columns : rows);
  return {
      name, data, of.type,
      by_rows ? Layout::of_rows(rows, columns, of.leading) : Layout::of_columns(rows, columns, of.leading),
      of.batch_stride};
}

/// What alpha and beta are.
DataType scale_type_of(Computed in) {
  switch (in) {
    case Computed::half: return DataType::real_16f;
    case Computed::single_complex: return DataType::complex_32f;
    case Computed::double_: return DataType::real_64f;
    case Computed::double_complex: return DataType::complex_64f;
    case Computed::integer: return DataType::real_32i;
    case Computed::single:
    case Computed::none: break;
  }
  return DataType::real_32f;
}

Epilogue epilogue_of(Call& call, const MatmulDesc& of, DataType result, Computed in) {
  Epilogue out;
  const uint32_t activation = of.epilogue & ~(epilogue_bias | epilogue_default);
  const bool is_real = in == Computed::half || in == Computed::single || in == Computed::double_;
  if (of.epilogue == 0 || (activation != 0 && activation != epilogue_relu && activation != epilogue_gelu) ||
      (of.epilogue != epilogue_default && !is_real))
    call.refuse(Status::not_supported, "there is no epilogue {} for these types here", of.epilogue);
  if (activation == epilogue_relu) out.activation = Epilogue::Activation::relu;
  if (activation == epilogue_gelu) out.activation = Epilogue::Activation::gelu;
  if ((of.epilogue & epilogue_bias) == 0) {
    if (of.bias != nullptr)
      call.refuse(Status::invalid_value, "there is a bias, but no epilogue that adds it");
    return out;
  }
  out.bias = of.bias;
  out.bias_type = of.bias_type == type_unset ? result : static_cast<DataType>(of.bias_type);
  out.bias_stride = of.bias_stride;
  if (out.bias_type != result && out.bias_type != DataType::real_32f)
    call.refuse(Status::not_supported, "there is no bias of type {} here", of.bias_type);
  return out;
}

/// The product that is described; refuses the call if there is none, or none here.
Product product(Call& call, const Described& of, const void* a, const void* b, const void* c, const void* d,
                Computed& in) {
  if (of.product == nullptr || of.a == nullptr || of.b == nullptr || of.c == nullptr || of.d == nullptr) {
    call.refuse(Status::invalid_value, "a descriptor is null");
    return {};
  }
  const MatmulDesc& how = *of.product;
  call.one_of(how.of_a, true).one_of(how.of_b, true);
  const Matrices of_a = matrices(call, "A", a, *of.a), of_d = matrices(call, "D", d, *of.d);
  Product job{how.of_a,
              how.of_b,
              of_d.at.rows,
              of_d.at.columns,
              is_turned(how.of_a) ? of_a.at.rows : of_a.at.columns,
              of_a,
              matrices(call, "B", b, *of.b),
              matrices(call, "C", c, *of.c),
              {of.d->batch_count},
              of_d};
  const bool b_fits = is_turned(how.of_b) ? job.b.at.columns == job.k && job.b.at.rows == job.n
                                          : job.b.at.rows == job.k && job.b.at.columns == job.n;
  if ((is_turned(how.of_a) ? job.a.at.columns : job.a.at.rows) != job.m || !b_fits ||
      job.c.at.rows != job.m || job.c.at.columns != job.n)
    call.refuse(Status::invalid_value, "the sizes of its matrices do not go together");
  for (const MatrixLayout* matrix : {of.a, of.b, of.c})
    if (matrix->batch_count != job.batch.count)
      call.refuse(Status::invalid_value, "its matrices are batches of {} and {}", matrix->batch_count,
                  job.batch.count);
  in = of.a->type == of.b->type && of.c->type == of.d->type ? computed(how.compute, of.a->type, of.d->type)
                                                            : Computed::none;
  if (in == Computed::none || how.scale_type != scale_type_of(in))
    call.refuse(
        Status::not_supported,
        "of types {}, {} and {} into type {} with compute type {} and scale type {} there is no product here",
        static_cast<int>(of.a->type), static_cast<int>(of.b->type), static_cast<int>(of.c->type),
        static_cast<int>(of.d->type), static_cast<int>(how.compute), static_cast<int>(how.scale_type));
  if (how.pointer_mode != static_cast<int>(PointerMode::host) &&
      how.pointer_mode != static_cast<int>(PointerMode::device))
    call.refuse(Status::not_supported, "alpha is a vector");
  if (how.of_c != Operation::none || how.fill != fill_full)
    call.refuse(Status::not_supported, "C is transposed, or a part of it is asked for");
  bool scaled = how.largest_of_d != nullptr || how.largest_of_aux != nullptr;
  for (const void* scale : how.scales) scaled = scaled || scale != nullptr;
  if (scaled) call.refuse(Status::not_supported, "its matrices have scales");
  job.epilogue = epilogue_of(call, how, of.d->type, in);
  return job;
}

Call call_of(const void* handle, const char* name, const MatmulDesc* how, Stream* stream) {
  const bool by_device = how != nullptr && how->pointer_mode == static_cast<int>(PointerMode::device);
  Call call(name, stream, by_device ? PointerMode::device : PointerMode::host);
  return call.pointer("its handle", handle, Status::not_initialized);
}

/// Whether there is such a product here: the one way in which it is computed.
Status look_up(Call call, const Described& of, Heuristic& out) {
  Computed in = Computed::none;
  product(call, of, nullptr, nullptr, nullptr, nullptr, in);
  out = {};
  out.status = call.status();
  out.waves = 1;
  return call.status();
}

}  // namespace

LANESCOPE_CUDA_API Status cublasLtMatmul(const void* handle, const MatmulDesc* how, const void* alpha,
                                         const void* a, const MatrixLayout* of_a, const void* b,
                                         const MatrixLayout* of_b, const void* beta, const void* c,
                                         const MatrixLayout* of_c, void* d, const MatrixLayout* of_d,
                                         const void* /*algorithm*/, void* /*workspace*/,
                                         size_t /*workspace_bytes*/, Stream* stream) {
  Call call = call_of(handle, "cublasLtMatmul", how, stream);
  Computed in = Computed::none;
  const Product job = product(call, {how, of_a, of_b, of_c, of_d}, a, b, c, d, in);
  call.pointer("alpha", alpha).pointer("beta", beta);
  if (!call.is_refused() && (how->epilogue & epilogue_bias) != 0) call.pointer("the bias", how->bias);
  if (job.m > 0 && job.n > 0) call.pointer("D", d);
  return multiply(call, job, in, alpha, beta);
}

LANESCOPE_CUDA_API Status cublasLtMatmulAlgoGetHeuristic(const void* handle, const MatmulDesc* how,
                                                         const MatrixLayout* a, const MatrixLayout* b,
                                                         const MatrixLayout* c, const MatrixLayout* d,
                                                         const Preference* preference, int wanted,
                                                         Heuristic* out, int* count) {
  Call call = call_of(handle, "cublasLtMatmulAlgoGetHeuristic", how, nullptr);
  call.pointer("the preference", preference)
      .pointer("where the result goes", out)
      .pointer("where its number goes", count);
  if (wanted <= 0) call.refuse(Status::invalid_value, "{} ways are asked for", wanted);
  if (call.is_refused()) return call.status();
  const Status status = look_up(call, {how, a, b, c, d}, *out);
  *count = status == Status::success ? 1 : 0;
  return status;
}
LANESCOPE_CUDA_API Status cublasLtMatmulAlgoCheck(const void* handle, const MatmulDesc* how,
                                                  const MatrixLayout* a, const MatrixLayout* b,
                                                  const MatrixLayout* c, const MatrixLayout* d,
                                                  const void* algorithm, Heuristic* out) {
  Call call = call_of(handle, "cublasLtMatmulAlgoCheck", how, nullptr);
  call.pointer("the algorithm", algorithm).pointer("where the result goes", out);
  return call.is_refused() ? call.status() : look_up(call, {how, a, b, c, d}, *out);
}

LANESCOPE_CUDA_API Status cublasLtCreate(Handle** out) {
  if (out == nullptr) return Status::invalid_value;
  *out = libraries::objects<Handle>().add({});
  return Status::success;
}
LANESCOPE_CUDA_API Status cublasLtDestroy(Handle* handle) {
  if (handle == nullptr) return Status::invalid_value;
  return libraries::objects<Handle>().destroy(handle) ? Status::success : Status::not_initialized;
}

LANESCOPE_CUDA_API size_t cublasLtGetVersion() { return blas::version; }
LANESCOPE_CUDA_API size_t cublasLtGetCudartVersion() { return cublasGetCudartVersion(); }
LANESCOPE_CUDA_API Status cublasLtGetProperty(int which, int* out) { return cublasGetProperty(which, out); }
LANESCOPE_CUDA_API const char* cublasLtGetStatusName(Status status) { return cublasGetStatusName(status); }
LANESCOPE_CUDA_API const char* cublasLtGetStatusString(Status status) {
  return cublasGetStatusString(status);
}

}  // namespace lanescope::cuda::blas_lt
