// Matrix products per second of the engine on one host thread: one warp's mma.sync, four accumulators in
// turn. Items are multiplications and additions of elements.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>

#include "exec/launch.hpp"

namespace lanescope {
namespace {

struct Product {
  const char *instruction, *registers;
  int64_t operations;
};
const Product half{"m16n8k16.row.col.f32.f16.f16.f32", "{%a0,%a1,%a2,%a3},{%a4,%a5}", 16 * 8 * 16};
const Product bfloat{"m16n8k16.row.col.f32.bf16.bf16.f32", "{%a0,%a1,%a2,%a3},{%a4,%a5}", 16 * 8 * 16};
const Product tf32{"m16n8k8.row.col.f32.tf32.tf32.f32", "{%a0,%a1,%a2,%a3},{%a4,%a5}", 16 * 8 * 8};
const Product bytes{"m16n8k32.row.col.s32.s8.s8.s32", "{%a0,%a1,%a2,%a3},{%a4,%a5}", 16 * 8 * 32};

void run(benchmark::State& state, const Product& product) {
  const int repeats = 1000;
  std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out) {\n.reg .b32 %a<6>; .reg "
      ".b32 %c<16>; "
      ".reg .b32 %i; .reg .pred %p; .reg .b64 %rd;\nld.param.u64 %rd, [out]; mov.u32 %i, 0;\n";
  for (int i = 0; i < 6; ++i) text += "mov.b32 %a" + std::to_string(i) + ", 0x3c023c01;\n";
  for (int i = 0; i < 16; ++i) text += "mov.b32 %c" + std::to_string(i) + ", 0;\n";
  text += "loop:\n";
  for (int i = 0; i < 16; i += 4) {
    const auto c = [&](int e) { return "%c" + std::to_string(i + e); };
    const std::string list = "{" + c(0) + "," + c(1) + "," + c(2) + "," + c(3) + "}";
    text += std::string("mma.sync.aligned.") + product.instruction + " " + list + "," + product.registers +
            "," + list + ";\n";
  }
  text += "add.u32 %i, %i, 1; setp.ne.u32 %p, %i, " + std::to_string(repeats) + "; @%p bra loop;\n";
  for (int i = 0; i < 16; ++i) text += "st.global.b32 [%rd], %c" + std::to_string(i) + ";\n";
  text += "ret; }\n";
  exec::Memory memory;
  exec::Image image(std::make_shared<ptx::Module>(ptx::parse(text, "product.ptx")), memory);
  const exec::Kernel& kernel = image.kernel("k");
  const uint64_t out = memory.allocate(64);
  exec::LaunchConfig config;
  config.block = {32, 1, 1};
  config.threads = 1;
  config.params.resize(sizeof out);
  std::memcpy(config.params.data(), &out, sizeof out);
  for (auto _ : state) image.launch(kernel, config);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * repeats * 4 * product.operations);
}

BENCHMARK_CAPTURE(run, f16, half);
BENCHMARK_CAPTURE(run, bf16, bfloat);
BENCHMARK_CAPTURE(run, tf32, tf32);
BENCHMARK_CAPTURE(run, s8, bytes);

}  // namespace
}  // namespace lanescope
