// Sparse vectors and dense ones.
#include "cuda/libraries/sparse/call.hpp"
#include "cuda/libraries/sparse/entries.hpp"

namespace lanescope::cuda::sparse {
namespace {

/// What all of them are given.
struct VectorPair {
  SparseVector x;
  DenseVector y;
};
VectorPair pair_of(Call& call, const SparseVector* x, const DenseVector* y) {
  if (call.object("vecX", x).object("vecY", y).is_refused()) return {};
  if (x->size != y->size)
    call.refuse(Status::invalid_value, "vecX is of size {}, and vecY of {}", x->size, y->size);
  if (x->values.type != y->values.type)
    call.refuse(Status::not_supported, "types {} and {} do not go together", name_of(x->values.type),
                name_of(y->values.type));
  return {*x, *y};
}

void reach(const Memory& memory, const VectorPair& pair, bool write_x, bool write_y) {
  reach(memory, "the indices of x", pair.x.indices, pair.x.count, false);
  reach(memory, "the values of x", pair.x.values, pair.x.count, write_x);
  reach(memory, "y", pair.y.values, pair.y.size, write_y);
}

/// Calls body(k, i) for each element k of x, which has index i.
template <typename Body>
void each(const VectorPair& pair, const Body& body) {
  for (int64_t k = 0; k < pair.x.count; ++k)
    body(k, checked(pair.x.indices[k], pair.x.base, pair.x.size, "index", k));
}

/// What scalars are given in that go with such elements.
DataType scalar_type(DataType type) {
  return type == DataType::real_16f || type == DataType::real_16bf ? DataType::real_32f : type;
}

/// Does work(memory, Number()) in the stream.
template <typename Work>
Status submit(const Call& call, DataType type, Work work) {
  return call.submit([type, work = std::move(work)](const Memory& memory) {
    with_numbers(is_complex(type), [&](auto number) { work(memory, number); });
  });
}

struct Dot {
  VectorPair pair;
  DataType compute = DataType::real_32f;
  Operation operation = Operation::none;
};
Dot dot_of(Call& call, Operation operation, const SparseVector* x, const DenseVector* y, DataType compute) {
  const VectorPair pair = pair_of(call, x, y);
  if (operation != Operation::none && operation != Operation::adjoint)
    call.refuse(Status::invalid_value, "the operation is {}", static_cast<int>(operation));
  call.one_of(operation, "vecX", pair.x.values.type);
  if (!call.computed_in(compute).is_refused() && compute != scalar_type(pair.x.values.type))
    call.refuse(Status::not_supported, "vectors of {} computed in {} are not there",
                name_of(pair.x.values.type), name_of(compute));
  return {pair, compute, operation};
}

template <typename Number>
void dot(const Memory& memory, const Dot& of, void* result, bool to_host) {
  reach(memory, of.pair, false, false);
  Number sum = 0;
  each(of.pair, [&](int64_t k, int64_t i) {
    const auto value = of.pair.x.values.load<Number>(k);
    sum += (of.operation == Operation::adjoint ? conjugate(value) : value) * of.pair.y.values.load<Number>(i);
  });
  const Values out{result, of.compute};
  if (!to_host) reach(memory, "the result", out, 1, true);
  out.store(0, sum);
}

}  // namespace

LANESCOPE_CUDA_API Status cusparseAxpby(Handle* handle, const void* alpha, const SparseVector* x,
                                        const void* beta, DenseVector* y) {
  Call call(handle, "cusparseAxpby");
  const VectorPair pair = pair_of(call, x, y);
  call.pointer("alpha", alpha).pointer("beta", beta).computed_in(scalar_type(pair.x.values.type));
  if (call.is_refused()) return call.status();
  const DataType type = pair.x.values.type;
  return submit(call, type,
                [pair, a = call.number_at(alpha, scalar_type(type)),
                 b = call.number_at(beta, scalar_type(type))](const Memory& memory, auto zero) {
                  using Number = decltype(zero);
                  const auto alpha = a.in<Number>(memory), beta = b.in<Number>(memory);
                  reach(memory, pair, false, true);
                  const Values &from = pair.x.values, &to = pair.y.values;
                  for (int64_t i = 0; i < pair.y.size; ++i)
                    to.store(i, beta == zero ? zero : Number(beta * to.load<Number>(i)));
                  each(pair, [&](int64_t k, int64_t i) {
                    to.store(i, Number(to.load<Number>(i) + alpha * from.load<Number>(k)));
                  });
                });
}

LANESCOPE_CUDA_API Status cusparseGather(Handle* handle, const DenseVector* y, SparseVector* x) {
  Call call(handle, "cusparseGather");
  const VectorPair pair = pair_of(call, x, y);
  return submit(call, pair.x.values.type, [pair](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, pair, true, false);
    each(pair, [&](int64_t k, int64_t i) { pair.x.values.store(k, pair.y.values.load<Number>(i)); });
  });
}

LANESCOPE_CUDA_API Status cusparseScatter(Handle* handle, const SparseVector* x, DenseVector* y) {
  Call call(handle, "cusparseScatter");
  const VectorPair pair = pair_of(call, x, y);
  return submit(call, pair.x.values.type, [pair](const Memory& memory, auto zero) {
    using Number = decltype(zero);
    reach(memory, pair, false, true);
    each(pair, [&](int64_t k, int64_t i) { pair.y.values.store(i, pair.x.values.load<Number>(k)); });
  });
}

LANESCOPE_CUDA_API Status cusparseRot(Handle* handle, const void* c, const void* s, SparseVector* x,
                                      DenseVector* y) {
  Call call(handle, "cusparseRot");
  const VectorPair pair = pair_of(call, x, y);
  call.pointer("c_coeff", c).pointer("s_coeff", s).computed_in(scalar_type(pair.x.values.type));
  if (call.is_refused()) return call.status();
  const DataType type = scalar_type(pair.x.values.type);
  return submit(call, type,
                [pair, cosine = call.number_at(c, type), sine = call.number_at(s, type)](const Memory& memory,
                                                                                         auto zero) {
                  using Number = decltype(zero);
                  const auto cos = cosine.in<Number>(memory), sin = sine.in<Number>(memory);
                  reach(memory, pair, true, true);
                  each(pair, [&](int64_t k, int64_t i) {
                    const auto a = pair.x.values.load<Number>(k), b = pair.y.values.load<Number>(i);
                    pair.x.values.store(k, Number(cos * a + sin * b));
                    pair.y.values.store(i, Number(cos * b - sin * a));
                  });
                });
}

LANESCOPE_CUDA_API Status cusparseSpVV_bufferSize(Handle* handle, Operation operation, const SparseVector* x,
                                                  const DenseVector* y, const void* result, DataType compute,
                                                  size_t* bytes) {
  Call call(handle, "cusparseSpVV_bufferSize");
  dot_of(call, operation, x, y, compute);
  return call.pointer("result", result).tell_size(bytes);
}
LANESCOPE_CUDA_API Status cusparseSpVV(Handle* handle, Operation operation, const SparseVector* x,
                                       const DenseVector* y, void* result, DataType compute, void*) {
  Call call(handle, "cusparseSpVV");
  const Dot of = dot_of(call, operation, x, y, compute);
  call.pointer("result", result);
  const bool to_host = call.mode() == PointerMode::host;
  const auto work = [of, result, to_host](const Memory& memory) {
    with_numbers(is_complex(of.compute),
                 [&](auto zero) { dot<decltype(zero)>(memory, of, result, to_host); });
  };
  return to_host ? call.submit_and_wait(work) : call.submit(work);
}

}  // namespace lanescope::cuda::sparse
