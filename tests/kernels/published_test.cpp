// Whole grids against numbers that others published or that follow from them: profiler counts of the
// reduction and the transpose, on today's and on earlier architectures.
#include <gtest/gtest.h>

#include <array>

#include "kernels/engine.hpp"
#include "report/metrics.hpp"

namespace lanescope::kernels {
namespace {

/// Totals of one launch on buffers whose contents do not matter.
profile::Totals count(const std::string& program, const std::string& kernel, Dim grid, Dim block,
                      std::vector<Argument> arguments, const model::Arch& arch) {
  Program loaded("kernels/ptx/" + program + ".ptx");
  const Case c{program, kernel, "", grid, block, 0, std::move(arguments), {}};
  const Outcome run = run_kernel(loaded, c, &arch);
  EXPECT_FALSE(run.result.failed);
  return profile::totals(run.profile);
}

profile::Totals count_reduction(const std::string& kernel, uint32_t block, uint32_t n,
                                const std::string& arch = "sm_90") {
  const uint32_t blocks = n / block;
  return count("reduce", kernel, {blocks}, {block},
               {scratch(uint64_t{n} * 4), scratch(uint64_t{blocks} * 4), scalar(n)}, *model::find_arch(arch));
}

profile::Totals count_transpose(const std::string& kernel, uint32_t size, const model::Arch& arch) {
  const Argument matrix = scratch(uint64_t{size} * size * 4);
  return count("transpose", kernel, {size / 32, size / 32}, {32, 8},
               {matrix, matrix, scalar(static_cast<int>(size)), scalar(static_cast<int>(size))}, arch);
}
profile::Totals count_transpose(const std::string& kernel, uint32_t size) {
  return count_transpose(kernel, size, *model::find_arch("sm_90"));
}

profile::Totals count_pattern(const std::string& kernel, size_t element_bytes, const model::Arch& arch) {
  const Argument elements = scratch(256 * element_bytes);
  return count("patterns", kernel, {1}, {256}, {elements, elements}, arch);
}

/// A metric or event of a profiler by its own name.
double metric(const std::string& name, const profile::Totals& totals) {
  using Tool = report::Metric::Tool;
  constexpr std::array tools{Tool::ncu, Tool::nvprof_event, Tool::nvprof_metric};
  report::Launch launch;
  launch.totals = totals;
  return report::find_metrics(name, tools).front()->value(launch).value();
}

TEST(Published, InterleavedReductionOf32MiFloats) {
  const auto totals = count_reduction("reduce_interleaved", 256, 1u << 25);
  EXPECT_EQ(metric("shared_st_bank_conflict", totals), 4'587'520);
  EXPECT_EQ(metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", totals), 4'587'520);
  EXPECT_EQ(metric("shared_ld_bank_conflict", totals), 9'175'040);
  EXPECT_EQ(totals.shared_store.conflicts, 4'587'520u);
  EXPECT_EQ(totals.shared_load.conflicts, 9'175'040u);
  EXPECT_EQ(totals.shared_load.wavefronts + totals.shared_store.wavefronts, 19'660'800u);
  EXPECT_EQ(totals.shared_load.ideal + totals.shared_store.ideal, 5'898'240u);
}

TEST(Published, SequentialReductionOf32MiFloats) {
  const auto totals = count_reduction("reduce_sequential", 256, 1u << 25);
  EXPECT_EQ(metric("shared_st_bank_conflict", totals), 0);
  EXPECT_EQ(metric("shared_efficiency", totals), 100);
  EXPECT_EQ(totals.shared_store.conflicts + totals.shared_load.conflicts, 0u);
  EXPECT_EQ(totals.shared_load.wavefronts + totals.shared_store.wavefronts, 5'898'240u);
}

TEST(Published, Transpose8192ThroughTile32) {
  const auto totals = count_transpose("transpose_tile32", 8192);
  EXPECT_EQ(totals.shared_load.wavefronts + totals.shared_store.wavefronts, 69'206'016u);
  EXPECT_EQ(totals.shared_load.max_way, 32u);
  EXPECT_EQ(totals.global_load.sectors, 8'388'608u);
  EXPECT_EQ(totals.global_store.sectors, 8'388'608u);
}

TEST(Published, Transpose8192ThroughTile33) {
  const auto totals = count_transpose("transpose_tile33", 8192);
  EXPECT_EQ(totals.shared_load.wavefronts + totals.shared_store.wavefronts, 4'194'304u);
  EXPECT_EQ(totals.global_load.sectors, 8'388'608u);
  EXPECT_EQ(totals.global_store.sectors, 8'388'608u);
}

TEST(Published, Transpose8192Naive) {
  const auto totals = count_transpose("transpose_naive", 8192);
  EXPECT_EQ(metric("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", totals), 32);
  EXPECT_EQ(totals.global_load.sectors, 8'388'608u);
  EXPECT_EQ(totals.global_store.sectors, 67'108'864u);
}

/// A K40 delivers 64 bits a bank: words i and i + 32 of one segment come out together.
TEST(Published, Transpose8192OnKeplerWith4ByteBanks) {
  const auto totals = count_transpose("transpose_tile32", 8192, *model::find_arch("sm_35"));
  EXPECT_EQ(totals.shared_load.requests, 2'097'152u);
  EXPECT_EQ(totals.shared_load.wavefronts, 33'554'432u);
  EXPECT_EQ(metric("shared_load", totals), 2'097'152);
  EXPECT_EQ(metric("shared_store", totals), 2'097'152);
  EXPECT_EQ(metric("shared_load_transactions_per_request", totals), 16);
  EXPECT_EQ(totals.shared_store.requests, 2'097'152u);
}

/// Half-warps on 16 banks: the column is 16-way for each half.
TEST(Published, TransposeOnHalfWarps) {
  const auto totals = count_transpose("transpose_tile32", 1024, *model::find_arch("sm_13"));
  EXPECT_EQ(totals.shared_load.max_way, 16u);
  EXPECT_EQ(totals.shared_load.wavefronts, totals.shared_load.requests * 32);
  EXPECT_EQ(totals.shared_store.conflicts, 0u);
}

TEST(Published, ElementSizesOnHalfWarps) {
  const model::Arch& sm_13 = *model::find_arch("sm_13");
  EXPECT_EQ(count_pattern("elements_char", 1, sm_13).shared_load.max_way, 4u);
  EXPECT_EQ(count_pattern("elements_short", 2, sm_13).shared_load.max_way, 2u);
  EXPECT_EQ(count_pattern("elements_float", 4, sm_13).shared_load.max_way, 1u);
  EXPECT_EQ(count_pattern("elements_double", 8, sm_13).shared_load.max_way, 2u);
  EXPECT_EQ(count_pattern("doubles_split", 8, sm_13).shared_load.max_way, 1u);
  EXPECT_EQ(count_pattern("struct_2", 8, sm_13).shared_load.max_way, 2u);
  EXPECT_EQ(count_pattern("struct_3", 12, sm_13).shared_load.max_way, 1u);
}

/// An HD 5870: 32 banks of 32 bits, 32 of the wave's 64 lanes at a time. For a warp of 32 that is today's
/// rule.
TEST(Published, TransposeOnHd5870) {
  const model::Arch free = model::custom_arch(32, 32, 64, model::Broadcast::many_words);
  const auto column = count_transpose("transpose_tile32", 1024, free);
  EXPECT_EQ(column.shared_load.max_way, 32u);
  EXPECT_EQ(column.shared_load.wavefronts, column.shared_load.requests * 32);
  EXPECT_EQ(count_transpose("transpose_tile33", 1024, free).shared_load.conflicts, 0u);
}

}  // namespace
}  // namespace lanescope::kernels
