// See metrics.hpp. What the counters count: NVIDIA, "Nsight Compute" (metrics guide) and "Profiler User's
// Guide" (nvprof's metrics and events), each held against the measurements of tests/data/accuracy where there
// are any.
#include "report/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <regex>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "profile/sums.hpp"
#include "report/bounds.hpp"
#include "report/hazards.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

using profile::Counters;
using Tool = Metric::Tool;
using Kind = Metric::Kind;
using Number = std::optional<double>;

double number(uint64_t value) { return static_cast<double>(value); }
Number ratio_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}
Number percentage(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

Counters shared(const Launch& l) { return profile::shared_of(l.totals); }
/// Bulk copies are not among these counters.
Counters global(const Launch& l) { return profile::global_by_lanes_of(l.totals); }
/// Loads and what asynchronous copies read: the counters of the first-level cache hold both. Of copies past
/// it they hold what model::copy_cost calls transactions.
Counters loads(const Launch& l) {
  Counters sum = l.totals.global_load;
  sum.add(l.totals.global_copy);
  return sum;
}
uint64_t load_sectors(const Launch& l) {
  return l.totals.global_load.sectors + l.totals.global_copy.transactions;
}
uint64_t warps(const Launch& l) {
  return l.grid.count() * ((l.block.count() + exec::warp_lanes - 1) / exec::warp_lanes) * l.launches;
}
exec::BranchCounts branches(const Launch& l) {
  exec::BranchCounts sum;
  for (const Branch& branch : l.branches) sum.add(branch.counts);
  return sum;
}
Counters cluster(const Launch& l) {
  Counters sum = l.totals.cluster_load;
  sum.add(l.totals.cluster_store);
  sum.add(l.totals.cluster_atomic);
  return sum;
}
/// Accesses to shared memory that ldmatrix or stmatrix make, which the counters of loads and stores leave
/// out.
uint64_t by_matrix(const Launch& l, exec::AccessKind kind) {
  uint64_t requests = 0;
  for (const Line& line : l.lines)
    if (line.space == exec::AccessSpace::shared && line.kind == kind) requests += line.counters.requests;
  return requests;
}
uint64_t shared_loads(const Launch& l) {
  return l.totals.shared_load.requests - by_matrix(l, exec::AccessKind::load_matrix);
}
uint64_t shared_stores(const Launch& l) {
  return l.totals.shared_store.requests - by_matrix(l, exec::AccessKind::store_matrix);
}
uint64_t bulk_stores(const Launch& l) {
  return l.totals.bulk_store.requests + l.totals.bulk_reduction.requests + l.totals.cluster_copy.requests;
}
uint64_t excess(uint64_t value, uint64_t ideal) { return value - std::min(ideal, value); }

// clang-format off
#define LAUNCH(expression) [](const Launch& l) -> Number { return expression; }
#define COUNT(sum, member) LAUNCH(number(l.totals.sum.member))

constexpr Tool ncu = Tool::ncu, event = Tool::nvprof_event, metric = Tool::nvprof_metric;
constexpr Kind count = Kind::count, per = Kind::ratio, pct = Kind::percent;
constexpr bool exact = true, estimate = false;

constexpr std::array all_metrics{
// Nsight Compute: shared memory.
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", ncu, count, "", "Bank conflicts of shared loads", exact, COUNT(shared_load, conflicts)},
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", ncu, count, "", "Bank conflicts of shared stores", exact, COUNT(shared_store, conflicts)},
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", ncu, count, "", "Bank conflicts of shared atomics", exact, COUNT(shared_atomic, conflicts)},
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ncu, count, "", "Bank conflicts of shared memory", exact, LAUNCH(number(shared(l).conflicts))},
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", ncu, count, "", "Bank conflicts of asynchronous copies", exact, COUNT(shared_copy, conflicts)},
Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", ncu, count, "", "Wavefronts of shared loads", exact, COUNT(shared_load, wavefronts)},
Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", ncu, count, "", "Wavefronts of shared stores", exact, COUNT(shared_store, wavefronts)},
Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", ncu, count, "", "Wavefronts of shared atomics", exact, COUNT(shared_atomic, wavefronts)},
Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", ncu, count, "", "Wavefronts of shared memory, without other traffic that the counter holds", estimate, LAUNCH(number(shared(l).wavefronts))},
Metric{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum", ncu, count, "", "Wavefronts of what wgmma reads", exact, COUNT(shared_product, wavefronts)},
Metric{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum", ncu, count, "", "Bank conflicts of what wgmma reads", exact, COUNT(shared_product, conflicts)},
Metric{"smsp__inst_executed_op_shared_ld.sum", ncu, count, "inst", "Warp-wide shared loads", exact, LAUNCH(number(shared_loads(l)))},
Metric{"smsp__inst_executed_op_shared_ld_pred_on_any.sum", ncu, count, "inst", "Warp-wide shared loads, executed", exact, LAUNCH(number(shared_loads(l)))},
Metric{"smsp__inst_executed_op_shared_st.sum", ncu, count, "inst", "Warp-wide shared stores", exact, LAUNCH(number(shared_stores(l)))},
Metric{"smsp__inst_executed_op_shared_st_pred_on_any.sum", ncu, count, "inst", "Warp-wide shared stores, executed", exact, LAUNCH(number(shared_stores(l)))},
Metric{"smsp__sass_inst_executed_op_shared_ld.sum", ncu, count, "inst", "Warp-wide shared loads, executed, of added code", exact, LAUNCH(number(shared_loads(l)))},
Metric{"smsp__sass_inst_executed_op_shared_st.sum", ncu, count, "inst", "Warp-wide shared stores, executed, of added code", exact, LAUNCH(number(shared_stores(l)))},
Metric{"smsp__inst_executed_op_ldsm.sum", ncu, count, "inst", "Warp-wide loads of matrices (ldmatrix)", exact, LAUNCH(number(by_matrix(l, exec::AccessKind::load_matrix)))},
Metric{"smsp__inst_executed_op_shared_stsm.sum", ncu, count, "inst", "Warp-wide stores of matrices (stmatrix)", exact, LAUNCH(number(by_matrix(l, exec::AccessKind::store_matrix)))},
Metric{"smsp__inst_executed_op_ldgsts.sum", ncu, count, "inst", "Warp-wide asynchronous copies", exact, COUNT(shared_copy, requests)},
Metric{"smsp__inst_executed_op_ldgsts_pred_on_any.sum", ncu, count, "inst", "Warp-wide asynchronous copies, executed", exact, COUNT(shared_copy, requests)},
Metric{"memory_l1_wavefronts_shared", ncu, count, "", "Wavefronts of shared memory, of the source page", exact, LAUNCH(number(shared(l).wavefronts))},
Metric{"memory_l1_wavefronts_shared_ideal", ncu, count, "", "The same without conflicts", exact, LAUNCH(number(shared(l).ideal))},
Metric{"derived__memory_l1_wavefronts_shared_excessive", ncu, count, "", "Wavefronts over the ideal", exact, LAUNCH(number(excess(shared(l).wavefronts, shared(l).ideal)))},
// Nsight Compute: global and local memory.
Metric{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", ncu, count, "", "Requests of global loads", exact, LAUNCH(number(loads(l).requests))},
Metric{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ncu, count, "", "Requests of global stores", exact, COUNT(global_store, requests)},
Metric{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", ncu, count, "sector", "Sectors of global loads", exact, LAUNCH(number(load_sectors(l)))},
Metric{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ncu, count, "sector", "Sectors of global stores", exact, COUNT(global_store, sectors)},
Metric{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", ncu, per, "sector/request", "Sectors of a global load", exact, LAUNCH(ratio_of(load_sectors(l), loads(l).requests))},
Metric{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", ncu, per, "sector/request", "Sectors of a global store", exact, LAUNCH(ratio_of(l.totals.global_store.sectors, l.totals.global_store.requests))},
Metric{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", ncu, pct, "%", "Bytes used of the sectors of global loads", exact, LAUNCH(percentage(l.totals.global_load.bytes_distinct, 32 * l.totals.global_load.sectors))},
Metric{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", ncu, pct, "%", "Bytes used of the sectors of global stores", exact, LAUNCH(percentage(l.totals.global_store.bytes_distinct, 32 * l.totals.global_store.sectors))},
Metric{"l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", ncu, count, "", "Lines of 128 bytes of global loads", exact, LAUNCH(number(loads(l).lines))},
Metric{"l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum", ncu, count, "", "Lines of 128 bytes of global stores", exact, COUNT(global_store, lines)},
Metric{"l1tex__data_pipe_lsu_wavefronts.sum", ncu, count, "", "Wavefronts of shared memory and the first-level cache, at least", estimate, LAUNCH(number(data_stage_of(l).wavefronts))},
Metric{"smsp__inst_executed_op_global_ld.sum", ncu, count, "inst", "Warp-wide global loads", exact, COUNT(global_load, requests)},
Metric{"smsp__inst_executed_op_global_st.sum", ncu, count, "inst", "Warp-wide global stores", exact, COUNT(global_store, requests)},
Metric{"memory_l2_theoretical_sectors_global", ncu, count, "sector", "Sectors of global memory, of the source page", exact, LAUNCH(number(global(l).sectors))},
Metric{"memory_l2_theoretical_sectors_global_ideal", ncu, count, "sector", "The fewest that would do", exact, LAUNCH(number(global(l).ideal_sectors))},
Metric{"derived__memory_l2_theoretical_sectors_global_excessive", ncu, count, "sector", "Sectors over the ideal", exact, LAUNCH(number(excess(global(l).sectors, global(l).ideal_sectors)))},
Metric{"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", ncu, count, "", "Requests of local loads", estimate, COUNT(local_load, requests)},
Metric{"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", ncu, count, "", "Requests of local stores", estimate, COUNT(local_store, requests)},
Metric{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", ncu, count, "sector", "Sectors of local loads", estimate, COUNT(local_load, sectors)},
Metric{"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", ncu, count, "sector", "Sectors of local stores", estimate, COUNT(local_store, sectors)},
Metric{"smsp__inst_executed_op_local_ld.sum", ncu, count, "inst", "Warp-wide local loads", estimate, COUNT(local_load, requests)},
Metric{"smsp__inst_executed_op_local_st.sum", ncu, count, "inst", "Warp-wide local stores", estimate, COUNT(local_store, requests)},
// Nsight Compute: bulk copies, and shared memory of other blocks of the cluster.
Metric{"smsp__inst_executed_op_tma_ld.sum", ncu, count, "inst", "Bulk copies to shared memory", exact, COUNT(bulk_load, requests)},
Metric{"smsp__inst_executed_op_tma_ld_pred_on_any.sum", ncu, count, "inst", "Bulk copies to shared memory, executed", exact, COUNT(bulk_load, requests)},
Metric{"smsp__inst_executed_op_tma_st.sum", ncu, count, "inst", "Bulk copies from shared memory", exact, LAUNCH(number(bulk_stores(l)))},
Metric{"smsp__inst_executed_op_tma_st_pred_on_any.sum", ncu, count, "inst", "Bulk copies from shared memory, executed", exact, LAUNCH(number(bulk_stores(l)))},
Metric{"l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum", ncu, count, "sector", "Sectors that bulk loads bring", exact, COUNT(bulk_load, transactions)},
Metric{"l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum", ncu, count, "sector", "Sectors of bulk stores", exact, COUNT(bulk_store, sectors)},
Metric{"l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum", ncu, count, "sector", "Sectors of bulk reductions", exact, COUNT(bulk_reduction, sectors)},
Metric{"l1tex__t_requests_pipe_lsu_mem_dshared.sum", ncu, count, "", "Requests to other blocks' shared memory", exact, LAUNCH(number(cluster(l).requests))},
Metric{"l1tex__t_requests_pipe_lsu_mem_dshared_op_ld.sum", ncu, count, "", "Requests of loads of it", exact, COUNT(cluster_load, requests)},
Metric{"l1tex__t_requests_pipe_lsu_mem_dshared_op_st.sum", ncu, count, "", "Requests of stores to it", exact, COUNT(cluster_store, requests)},
Metric{"l1tex__t_sectors_pipe_lsu_mem_dshared.sum", ncu, count, "sector", "Sectors of other blocks' shared memory", exact, LAUNCH(number(cluster(l).sectors))},
Metric{"l1tex__t_sectors_pipe_lsu_mem_dshared_op_ld.sum", ncu, count, "sector", "Sectors of loads of it", exact, COUNT(cluster_load, sectors)},
Metric{"l1tex__t_sectors_pipe_lsu_mem_dshared_op_st.sum", ncu, count, "sector", "Sectors of stores to it", exact, COUNT(cluster_store, sectors)},
// Nsight Compute: instructions, branches, the launch.
Metric{"smsp__inst_executed.sum", ncu, count, "inst", "Warp instructions, of the PTX", estimate, LAUNCH(number(l.warp_instructions))},
Metric{"smsp__thread_inst_executed.sum", ncu, count, "inst", "Thread instructions, of the PTX", estimate, LAUNCH(number(l.lane_instructions))},
Metric{"smsp__thread_inst_executed_per_inst_executed.ratio", ncu, per, "", "Active threads of a warp instruction", estimate, LAUNCH(ratio_of(l.lane_instructions, l.warp_instructions))},
Metric{"smsp__sass_branch_targets_threads_divergent.sum", ncu, count, "", "Branches whose lanes part, of the PTX", estimate, LAUNCH(number(branches(l).divergent))},
Metric{"smsp__sass_average_branch_targets_threads_uniform.pct", ncu, pct, "%", "Branches whose lanes stay together, of the PTX", estimate, LAUNCH(100.0 * branch_efficiency(l))},
Metric{"smsp__warps_launched.sum", ncu, count, "warp", "Warps launched", exact, LAUNCH(number(warps(l)))},
Metric{"launch__grid_size", ncu, count, "", "Blocks of the grid", exact, LAUNCH(number(l.grid.count()))},
Metric{"launch__block_size", ncu, count, "", "Threads of a block", exact, LAUNCH(number(l.block.count()))},
Metric{"launch__thread_count", ncu, count, "thread", "Threads of the grid", exact, LAUNCH(number(l.grid.count() * l.block.count()))},
Metric{"launch__shared_mem_per_block", ncu, count, "byte/block", "Shared memory of a block", exact, LAUNCH(number(l.shared_bytes))},
Metric{"launch__registers_per_thread", ncu, count, "register/thread", "Registers of a thread (--assemble)", exact, LAUNCH(l.machine.registers != 0 ? Number(l.machine.registers) : std::nullopt)},
Metric{"sm__maximum_warps_per_active_cycle_pct", ncu, pct, "%", "Theoretical occupancy (registers count with --assemble)", exact, LAUNCH(l.machine.has_occupancy ? percentage(l.machine.warps, l.machine.most_warps) : std::nullopt)},
// nvprof: events.
Metric{"shared_load", event, count, "", "Warp-wide shared loads", exact, COUNT(shared_load, requests)},
Metric{"shared_store", event, count, "", "Warp-wide shared stores", exact, COUNT(shared_store, requests)},
Metric{"shared_ld_bank_conflict", event, count, "", "Bank conflicts of shared loads", exact, COUNT(shared_load, conflicts)},
Metric{"shared_st_bank_conflict", event, count, "", "Bank conflicts of shared stores", exact, COUNT(shared_store, conflicts)},
Metric{"shared_ld_transactions", event, count, "", "Wavefronts of shared loads", exact, COUNT(shared_load, wavefronts)},
Metric{"shared_st_transactions", event, count, "", "Wavefronts of shared stores", exact, COUNT(shared_store, wavefronts)},
Metric{"shared_load_replay", event, count, "", "Bank conflicts of shared loads (3.x)", exact, COUNT(shared_load, conflicts)},
Metric{"shared_store_replay", event, count, "", "Bank conflicts of shared stores (3.x)", exact, COUNT(shared_store, conflicts)},
Metric{"l1_shared_bank_conflict", event, count, "", "Bank conflicts of shared memory (2.x)", exact, LAUNCH(number(shared(l).conflicts))},
Metric{"gld_request", event, count, "", "Requests of global loads", exact, LAUNCH(number(loads(l).requests))},
Metric{"gst_request", event, count, "", "Requests of global stores", exact, COUNT(global_store, requests)},
Metric{"global_load", event, count, "", "Warp-wide global loads", exact, LAUNCH(number(loads(l).requests))},
Metric{"global_store", event, count, "", "Warp-wide global stores", exact, COUNT(global_store, requests)},
Metric{"local_load", event, count, "", "Warp-wide local loads", estimate, COUNT(local_load, requests)},
Metric{"local_store", event, count, "", "Warp-wide local stores", estimate, COUNT(local_store, requests)},
Metric{"branch", event, count, "", "Branches that warps execute, of the PTX", estimate, LAUNCH(number(branches(l).executions()))},
Metric{"divergent_branch", event, count, "", "Branches whose lanes part, of the PTX", estimate, LAUNCH(number(branches(l).divergent))},
Metric{"warps_launched", event, count, "", "Warps launched", exact, LAUNCH(number(warps(l)))},
Metric{"threads_launched", event, count, "", "Threads launched", exact, LAUNCH(number(l.grid.count() * l.block.count() * l.launches))},
Metric{"inst_executed", event, count, "", "Warp instructions, of the PTX", estimate, LAUNCH(number(l.warp_instructions))},
Metric{"thread_inst_executed", event, count, "", "Thread instructions, of the PTX", estimate, LAUNCH(number(l.lane_instructions))},
// nvprof: metrics.
Metric{"shared_load_transactions", metric, count, "", "Shared Load Transactions", exact, COUNT(shared_load, wavefronts)},
Metric{"shared_store_transactions", metric, count, "", "Shared Store Transactions", exact, COUNT(shared_store, wavefronts)},
Metric{"shared_load_transactions_per_request", metric, per, "", "Shared Memory Load Transactions Per Request", exact, LAUNCH(ratio_of(l.totals.shared_load.wavefronts, l.totals.shared_load.requests))},
Metric{"shared_store_transactions_per_request", metric, per, "", "Shared Memory Store Transactions Per Request", exact, LAUNCH(ratio_of(l.totals.shared_store.wavefronts, l.totals.shared_store.requests))},
Metric{"shared_efficiency", metric, pct, "", "Shared Memory Efficiency", exact, LAUNCH(percentage(shared(l).ideal, shared(l).wavefronts))},
Metric{"gld_transactions", metric, count, "", "Global Load Transactions", exact, LAUNCH(number(loads(l).transactions))},
Metric{"gst_transactions", metric, count, "", "Global Store Transactions", exact, COUNT(global_store, transactions)},
Metric{"gld_transactions_per_request", metric, per, "", "Global Load Transactions Per Request", exact, LAUNCH(ratio_of(loads(l).transactions, loads(l).requests))},
Metric{"gst_transactions_per_request", metric, per, "", "Global Store Transactions Per Request", exact, LAUNCH(ratio_of(l.totals.global_store.transactions, l.totals.global_store.requests))},
Metric{"gld_efficiency", metric, pct, "", "Global Memory Load Efficiency", exact, LAUNCH(percentage(loads(l).bytes_asked, loads(l).bytes_moved))},
Metric{"gst_efficiency", metric, pct, "", "Global Memory Store Efficiency", exact, LAUNCH(percentage(l.totals.global_store.bytes_asked, l.totals.global_store.bytes_moved))},
Metric{"local_load_transactions", metric, count, "", "Local Load Transactions", estimate, COUNT(local_load, transactions)},
Metric{"local_store_transactions", metric, count, "", "Local Store Transactions", estimate, COUNT(local_store, transactions)},
Metric{"warp_execution_efficiency", metric, pct, "", "Warp Execution Efficiency", estimate, LAUNCH(100.0 * warp_efficiency(l))},
Metric{"branch_efficiency", metric, pct, "", "Branch Efficiency", estimate, LAUNCH(100.0 * branch_efficiency(l))},
Metric{"inst_per_warp", metric, per, "", "Instructions per warp", estimate, LAUNCH(ratio_of(l.warp_instructions, warps(l)))},
Metric{"inst_executed_shared_loads", metric, count, "", "Warp level instructions for shared loads", exact, COUNT(shared_load, requests)},
Metric{"inst_executed_shared_stores", metric, count, "", "Warp level instructions for shared stores", exact, COUNT(shared_store, requests)},
Metric{"inst_executed_shared_atomics", metric, count, "", "Warp level instructions for shared atomics", exact, COUNT(shared_atomic, requests)},
Metric{"inst_executed_global_loads", metric, count, "", "Warp level instructions for global loads", exact, LAUNCH(number(loads(l).requests))},
Metric{"inst_executed_global_stores", metric, count, "", "Warp level instructions for global stores", exact, COUNT(global_store, requests)},
Metric{"inst_executed_global_atomics", metric, count, "", "Warp level instructions for global atomics", exact, COUNT(global_atomic, requests)},
};
#undef COUNT
#undef LAUNCH
// clang-format on

bool is_one_of(std::span<const Tool> tools, Tool tool) {
  return std::find(tools.begin(), tools.end(), tool) != tools.end();
}

/// The commands that list what these tools have, with their verb.
std::string who_lists(std::span<const Tool> tools) {
  constexpr std::array<std::pair<Tool, std::string_view>, 3> commands{
      {{ncu, "lanescope ncu --query-metrics"},
       {metric, "lanescope nvprof --query-metrics"},
       {event, "lanescope nvprof --query-events"}}};
  std::vector<std::string_view> names;
  for (const auto& [tool, command] : commands)
    if (is_one_of(tools, tool)) names.push_back(command);
  return fmt::format("{} {}", fmt::join(names, " and "), names.size() == 1 ? "lists" : "list");
}

constexpr std::string_view ncu_section = "Command line profiler metrics";

std::string rounded(double value) { return grouped(static_cast<uint64_t>(std::llround(value))); }

/// A value as Nsight Compute prints it.
std::string ncu_value(const Metric& m, const Number& value) {
  if (!value) return "n/a";
  return m.kind == Kind::count ? rounded(*value) : fmt::format("{:.2f}", *value);
}
std::string ncu_value(const Metric& m, const Launch& launch) { return ncu_value(m, m.value(launch)); }

/// The average of such values, which of counts may have a fraction.
std::string ncu_average(const Metric& m, const Number& value) {
  if (!value || m.kind != Kind::count || *value == std::floor(*value)) return ncu_value(m, value);
  const std::string fraction = fmt::format("{:.2f}", *value - std::floor(*value));
  return fraction.starts_with('1') ? rounded(*value) : rounded(std::floor(*value)) + fraction.substr(1);
}

/// A table as Nsight Compute prints it: the name and the unit of a metric, then values.
std::string ncu_table(const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> width;
  std::string rule = "   ", text;
  for (size_t i = 0; i < head.size(); ++i) {
    width.push_back(head[i].size());
    for (const auto& row : rows) width[i] = std::max(width[i], row[i].size());
    rule += fmt::format(" {:-<{}}", "", width[i]);
  }
  const auto line = [&](const std::vector<std::string>& cells, size_t left) {
    text += "   ";
    for (size_t i = 0; i < cells.size(); ++i)
      text +=
          i < left ? fmt::format(" {:<{}}", cells[i], width[i]) : fmt::format(" {:>{}}", cells[i], width[i]);
    text += "\n";
  };
  rule += "\n";
  text = rule;
  line(head, 2);
  text += rule;
  for (const auto& row : rows) line(row, 1);
  return text + rule + "\n";
}

/// A value as nvprof prints it in a table, or in CSV.
std::string nvprof_value(const Metric& m, const Number& value, bool csv) {
  if (!value) return "n/a";
  if (m.kind == Kind::count) return fmt::format("{:.0f}", *value);
  const char* unit = m.kind == Kind::percent ? "%" : "";
  return csv ? fmt::format("{:.6f}{}", *value, unit)
             : fmt::format("{:.{}f}{}", *value, *unit != 0 ? 2 : 6, unit);
}

std::string capability(const Report& report) {
  if (!report.arch.starts_with("sm_")) return report.arch;
  std::string digits = report.arch.substr(3);
  while (!digits.empty() && (digits.back() < '0' || digits.back() > '9')) digits.pop_back();
  return digits.substr(0, digits.size() - 1) + "." + digits.substr(digits.size() - 1);
}

std::string tuple(const exec::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

std::string csv_cell(std::string_view text) {
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) row += (row.empty() ? "" : ",") + csv_cell(cell);
  return row + "\n";
}

/// What the launches of one kernel had.
struct Series {
  uint64_t launches = 0;
  Number min, max, sum;
  void add(const Number& value) {
    ++launches;
    if (!value) return;
    min = std::min(min.value_or(*value), *value);
    max = std::max(max.value_or(*value), *value);
    sum = sum.value_or(0) + *value;
  }
  [[nodiscard]] Number average() const {
    return sum ? Number(*sum / static_cast<double>(launches)) : std::nullopt;
  }
};

/// Launches of which group_of() says the same, in the order of their first ones.
template <class GroupOf>
auto by_group(const Report& report, const std::vector<const Metric*>& metrics, GroupOf group_of) {
  std::vector<std::pair<decltype(group_of(Launch{})), std::vector<Series>>> groups;
  for (const Launch& launch : report.launches) {
    const auto group = group_of(launch);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == group; });
    if (found == groups.end())
      found = groups.insert(groups.end(), {group, std::vector<Series>(metrics.size())});
    for (size_t i = 0; i < metrics.size(); ++i) found->second[i].add(metrics[i]->value(launch));
  }
  return groups;
}

/// What a name in a list of metrics stands for.
std::function<bool(std::string_view)> matcher_of(std::string_view name) {
  constexpr std::string_view regex = "regex:";
  if (!name.starts_with(regex))
    return [=](std::string_view metric) { return name == "all" || name == metric; };
  const std::string text(name.substr(regex.size()));
  try {
    return [expression = std::regex(text)](std::string_view metric) {
      return std::regex_search(metric.begin(), metric.end(), expression);
    };
  } catch (const std::regex_error& error) {
    throw Error(fmt::format("'{}' is no regular expression: {}", text, error.what()));
  }
}

std::vector<const Metric*> of_tool(std::span<const Metric* const> metrics, Tool tool) {
  std::vector<const Metric*> list;
  std::copy_if(metrics.begin(), metrics.end(), std::back_inserter(list),
               [&](const Metric* m) { return m->tool == tool; });
  return list;
}

std::string nvprof_table(const ProfiledProcess& process, const std::vector<const Metric*>& metrics,
                         bool csv) {
  const bool events = metrics.front()->tool == Tool::nvprof_event;
  const std::string device = process.report->arch + " (0)";
  std::string text = fmt::format("=={}== {} result:\n", process.id, events ? "Event" : "Metric");
  if (csv)
    text += events
                ? "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
                : "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\","
                  "\"Max\",\"Avg\"\n";
  else if (events)
    text += fmt::format("{:>11}  {:>40}  {:>11} {:>11} {:>11} {:>11}\nDevice \"{}\"\n", "Invocations",
                        "Event Name", "Min", "Max", "Avg", "Total", device);
  else
    text += fmt::format("{:>11}  {:>40}  {:>48} {:>11} {:>11} {:>11}\nDevice \"{}\"\n", "Invocations",
                        "Metric Name", "Metric Description", "Min", "Max", "Avg", device);
  const auto kernel_of = [](const Launch& launch) { return launch.kernel; };
  for (const auto& [kernel, series] : by_group(*process.report, metrics, kernel_of)) {
    if (!csv) text += fmt::format("    Kernel: {}\n", printable(kernel));
    for (size_t i = 0; i < metrics.size(); ++i) {
      const Metric& m = *metrics[i];
      const Series& s = series[i];
      const auto shown = [&](const Number& value) { return nvprof_value(m, value, csv); };
      if (csv) {
        text += fmt::format("{},{},{},{},", csv_cell(device), csv_cell(kernel), s.launches, csv_cell(m.name));
        if (!events) text += csv_cell(m.description) + ",";
        const std::string average =
            m.kind == Kind::count && s.sum ? fmt::format("{:.6f}", *s.average()) : shown(s.average());
        text += fmt::format("{},{},{}", shown(s.min), shown(s.max), average);
        text += events ? "," + shown(s.sum) + "\n" : "\n";
      } else if (events) {
        text += fmt::format("{:>11}  {:>40}  {:>11} {:>11} {:>11} {:>11}\n", s.launches, m.name, shown(s.min),
                            shown(s.max), shown(s.average()), shown(s.sum));
      } else {
        text += fmt::format("{:>11}  {:>40}  {:>48} {:>11} {:>11} {:>11}\n", s.launches, m.name,
                            m.description, shown(s.min), shown(s.max), shown(s.average()));
      }
    }
  }
  return text;
}

std::string nvprof_result(const ProfiledProcess& process, std::span<const Metric* const> metrics, bool csv) {
  std::string text;
  for (const Tool tool : {event, metric})
    if (const auto list = of_tool(metrics, tool); !list.empty())
      text += (text.empty() ? "" : "\n") + nvprof_table(process, list, csv);
  return text;
}

}  // namespace

std::span<const Metric> metrics() { return all_metrics; }

std::vector<const Metric*> find_metrics(std::string_view list, std::span<const Metric::Tool> tools) {
  std::vector<const Metric*> found;
  for (const std::string_view name : at_commas(list)) {
    const size_t before = found.size();
    const auto is_meant = matcher_of(name);
    for (const Metric& m : all_metrics)
      if (is_one_of(tools, m.tool) && is_meant(m.name)) found.push_back(&m);
    if (found.size() == before) {
      std::vector<std::string_view> names;
      for (const Metric& m : all_metrics)
        if (is_one_of(tools, m.tool)) names.push_back(m.name);
      throw Error(fmt::format("'{}' is no metric or event that is known here; the nearest is '{}' ({} all)",
                              name, nearest(name, names), who_lists(tools)));
    }
  }
  return found;
}

std::string ncu_warnings(const Report& report) {
  std::string text;
  for (const Launch& launch : report.launches)
    for (const Line& line : launch.lines) {
      if (line.doubt.empty()) continue;
      const std::string warning = fmt::format("==WARNING== {} ({}:{}): counts may be others on a GPU: {}\n",
                                              launch.kernel, line.file, line.line, line.doubt);
      if (text.find(warning) == std::string::npos) text += warning;
    }
  return text;
}

std::string ncu_text(const ProfiledProcess& process, std::span<const Metric* const> metrics) {
  const std::vector<const Metric*> list = of_tool(metrics, ncu);
  std::string text = fmt::format("[{}] {}@127.0.0.1\n", process.id, process.name);
  for (const Launch& launch : process.report->launches) {
    std::vector<std::vector<std::string>> rows;
    for (const Metric* m : list)
      rows.push_back({std::string(m->name), std::string(m->unit), ncu_value(*m, launch)});
    text += fmt::format("  {} {}x{}, Context 1, Stream 7, Device 0, CC {}\n    Section: {}\n",
                        printable(launch.kernel), tuple(launch.grid), tuple(launch.block),
                        capability(*process.report), ncu_section);
    text += ncu_table({"Metric Name", "Metric Unit", "Metric Value"}, rows);
  }
  return text;
}

std::string ncu_summary(const ProfiledProcess& process, std::span<const Metric* const> metrics,
                        NcuSummary summary, bool csv, bool first) {
  const std::vector<const Metric*> list = of_tool(metrics, ncu);
  const bool per_kernel = summary == NcuSummary::per_kernel;
  const auto group_of = [&](const Launch& launch) {
    return per_kernel ? std::vector<std::string>{launch.kernel, tuple(launch.block), tuple(launch.grid)}
                      : std::vector<std::string>{};
  };
  std::vector<std::string> head{"Process ID", "Process Name", "Host Name"};
  if (per_kernel) head.insert(head.end(), {"Kernel Name", "Block Size", "Grid Size"});
  head.insert(head.end(), {"Device", "CC", "Invocations", "Section Name", "Metric Name", "Metric Unit",
                           "Minimum", "Maximum", "Average"});
  std::string text = !csv    ? fmt::format("[{}] {}@127.0.0.1\n", process.id, process.name)
                     : first ? csv_row(head)
                             : "";
  for (const auto& [group, series] : by_group(*process.report, list, group_of)) {
    const std::string device = capability(*process.report);
    const std::string invocations = std::to_string(series.empty() ? 0 : series.front().launches);
    std::vector<std::vector<std::string>> rows;
    for (size_t i = 0; i < list.size(); ++i)
      rows.push_back({std::string(list[i]->name), std::string(list[i]->unit),
                      ncu_value(*list[i], series[i].min), ncu_value(*list[i], series[i].max),
                      ncu_average(*list[i], series[i].average())});
    if (!csv) {
      if (per_kernel) text += fmt::format("  {} {}x{}, ", printable(group[0]), group[2], group[1]);
      text += fmt::format("{}Device 0, CC {}, Invocations {}\n    Section: {}\n", per_kernel ? "" : "  ",
                          device, invocations, ncu_section);
      text += ncu_table({"Metric Name", "Metric Unit", "Minimum", "Maximum", "Average"}, rows);
      continue;
    }
    for (const auto& row : rows) {
      std::vector<std::string> cells{process.id, process.name, "127.0.0.1"};
      cells.insert(cells.end(), group.begin(), group.end());
      cells.insert(cells.end(), {"0", device, invocations, std::string(ncu_section)});
      cells.insert(cells.end(), row.begin(), row.end());
      text += csv_row(cells);
    }
  }
  return text;
}

std::string ncu_csv(const ProfiledProcess& process, std::span<const Metric* const> metrics, NcuPage page,
                    size_t first_id) {
  const std::vector<const Metric*> list = of_tool(metrics, ncu);
  std::vector<std::string> head{"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                                "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
  std::string text;
  if (page == NcuPage::details)
    head.insert(head.end(), {"Section Name", "Metric Name", "Metric Unit", "Metric Value"});
  std::vector<std::string> unit_row(page == NcuPage::raw ? head.size() : 0);
  if (page == NcuPage::raw)
    for (const Metric* m : list) {
      head.emplace_back(m->name);
      unit_row.emplace_back(m->unit);
    }
  if (first_id == 0) text += csv_row(head) + (page == NcuPage::raw ? csv_row(unit_row) : "");
  for (size_t i = 0; i < process.report->launches.size(); ++i) {
    const Launch& launch = process.report->launches[i];
    const std::vector<std::string> begin{std::to_string(first_id + i),
                                         process.id,
                                         process.name,
                                         "127.0.0.1",
                                         launch.kernel,
                                         "1",
                                         "7",
                                         tuple(launch.block),
                                         tuple(launch.grid),
                                         "0",
                                         capability(*process.report)};
    std::vector<std::string> raw = begin;
    for (const Metric* m : list) {
      if (page == NcuPage::raw) {
        raw.push_back(ncu_value(*m, launch));
        continue;
      }
      std::vector<std::string> row = begin;
      row.insert(row.end(), {std::string(ncu_section), std::string(m->name), std::string(m->unit),
                             ncu_value(*m, launch)});
      text += csv_row(row);
    }
    if (page == NcuPage::raw) text += csv_row(raw);
  }
  return text;
}

std::string nvprof_text(const ProfiledProcess& process, std::span<const Metric* const> metrics) {
  return nvprof_result(process, metrics, false);
}

std::string nvprof_csv(const ProfiledProcess& process, std::span<const Metric* const> metrics) {
  return nvprof_result(process, metrics, true);
}

std::string metric_list(std::span<const Metric::Tool> tools) {
  std::string text;
  for (const Metric& m : all_metrics)
    if (is_one_of(tools, m.tool))
      text += fmt::format("{:<68} {}{}\n", m.name, m.description, m.exact ? "" : " (estimate)");
  return text;
}

}  // namespace lanescope::report
