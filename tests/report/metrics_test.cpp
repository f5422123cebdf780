// The profilers' metrics: the documented list is the list, tables look as the tools print them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/error.hpp"
#include "base/files.hpp"
#include "report/metrics.hpp"
#include "report/sample_report.hpp"

namespace lanescope::report {
namespace {

using synthetic::sample_launch;
using synthetic::sample_report;
using Tool = Metric::Tool;
using ::testing::HasSubstr;

constexpr std::array all_tools{Tool::ncu, Tool::nvprof_event, Tool::nvprof_metric};

TEST(Metrics, AllAreDocumentedWithHowTheyAreKnown) {
  const std::string text = read_file(LANESCOPE_SOURCE_DIR "/docs/metrics.md");
  size_t rows = 0;
  for (const Metric& metric : metrics()) {
    const std::string row =
        "| `" + std::string(metric.name) + "` | " + std::string(metric.description) + " | ";
    const size_t at = text.find(row);
    ASSERT_NE(at, std::string::npos) << metric.name;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(line.ends_with(metric.exact ? "| exact |" : "| estimate |")) << line;
  }
  for (size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++rows;
  EXPECT_EQ(rows, metrics().size() + 2) << "two rows are of the commands";
}

double value(const std::string& name, const Launch& launch) {
  return find_metrics(name, all_tools).front()->value(launch).value();
}

/// CUTLASS's example 50 and others on an H100 and an H200: the counters of loads and stores hold none of
/// them.
TEST(Metrics, LoadsAndStoresLeaveOutMatrices) {
  Launch launch;
  launch.totals.shared_load.requests = 100;
  launch.totals.shared_store.requests = 50;
  const auto line = [&](exec::AccessSpace space, exec::AccessKind kind, uint64_t requests) {
    Line made;
    made.space = space, made.kind = kind, made.counters.requests = requests;
    launch.lines.push_back(made);
  };
  line(exec::AccessSpace::shared, exec::AccessKind::load_matrix, 30);
  line(exec::AccessSpace::shared, exec::AccessKind::load_matrix, 20);
  line(exec::AccessSpace::shared, exec::AccessKind::load, 50);
  line(exec::AccessSpace::shared, exec::AccessKind::store_matrix, 7);
  EXPECT_EQ(value("smsp__inst_executed_op_shared_ld.sum", launch), 50);
  EXPECT_EQ(value("smsp__inst_executed_op_ldsm.sum", launch), 50);
  EXPECT_EQ(value("smsp__inst_executed_op_shared_st.sum", launch), 43);
  EXPECT_EQ(value("smsp__inst_executed_op_shared_stsm.sum", launch), 7);
}

TEST(Metrics, FollowTheirFormulas) {
  Launch launch = sample_launch();
  launch.launches = 3;
  EXPECT_EQ(value("shared_st_bank_conflict", launch), 700);
  EXPECT_EQ(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", launch), 850);
  EXPECT_DOUBLE_EQ(value("shared_efficiency", launch), 100.0 * 150 / 850);
  EXPECT_DOUBLE_EQ(value("gld_efficiency", launch), 12.5);
  EXPECT_EQ(value("gld_transactions_per_request", launch), 32);
  EXPECT_EQ(value("derived__memory_l2_theoretical_sectors_global_excessive", launch), 280);
  EXPECT_EQ(value("branch", launch), 20);
  EXPECT_EQ(value("divergent_branch", launch), 15);
  EXPECT_EQ(value("branch_efficiency", launch), 25);
  EXPECT_EQ(value("warp_execution_efficiency", launch), 75);
  EXPECT_EQ(value("warps_launched", launch), 48) << "8 blocks of 2 warps, three times";
  EXPECT_EQ(value("launch__registers_per_thread", launch), 40);
  EXPECT_EQ(value("sm__maximum_warps_per_active_cycle_pct", launch), 37.5);
  launch.machine = {};
  EXPECT_FALSE(find_metrics("launch__registers_per_thread", all_tools).front()->value(launch));
}

/// 32 lanes that read four bytes: an H200 says 12.5%.
TEST(Metrics, BytesThatLanesHaveInCommonAreUsedOnce) {
  Launch launch;
  launch.totals.global_load.sectors = 10;
  launch.totals.global_load.bytes_asked = 1280;
  launch.totals.global_load.bytes_distinct = 40;
  EXPECT_EQ(value("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", launch), 12.5);
  launch.totals.global_store = launch.totals.global_load;
  EXPECT_EQ(value("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", launch), 12.5);
}

/// cp.async: what it reads of global memory is among the loads, what it writes to shared memory is not among
/// the stores.
TEST(Metrics, CopiesAreLoadsOfGlobalMemoryAndNoStoresOfShared) {
  Launch launch = sample_launch();
  profile::Counters& read = launch.totals.global_copy;
  read.requests = 10;
  read.sectors = 100;
  read.transactions = 80;
  read.lines = 30;
  read.bytes_asked = 2560;
  read.bytes_moved = 5120;
  profile::Counters& written = launch.totals.shared_copy;
  written.requests = 10;
  written.wavefronts = 70;
  written.ideal = 40;
  written.conflicts = 30;
  EXPECT_EQ(value("smsp__inst_executed_op_ldgsts.sum", launch), 10);
  EXPECT_EQ(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum", launch), 30);
  EXPECT_EQ(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", launch), 730);
  EXPECT_EQ(value("shared_st_bank_conflict", launch), 700);
  EXPECT_EQ(value("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", launch), 850);
  EXPECT_EQ(value("memory_l1_wavefronts_shared", launch), 920);
  EXPECT_DOUBLE_EQ(value("shared_efficiency", launch), 100.0 * 190 / 920);
  EXPECT_EQ(value("inst_executed_shared_stores", launch), 150);
  EXPECT_EQ(value("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", launch), 20);
  EXPECT_EQ(value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", launch), 400) << "transactions of copies";
  EXPECT_EQ(value("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", launch), 20);
  EXPECT_EQ(value("l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum", launch), 350);
  EXPECT_EQ(value("smsp__inst_executed_op_global_ld.sum", launch), 10) << "of loads alone";
  EXPECT_EQ(value("memory_l2_theoretical_sectors_global", launch), 420);
  for (const char* requests : {"gld_request", "global_load", "inst_executed_global_loads"})
    EXPECT_EQ(value(requests, launch), 20) << requests;
  EXPECT_EQ(value("gld_transactions", launch), 400);
  EXPECT_EQ(value("gld_transactions_per_request", launch), 20);
  EXPECT_DOUBLE_EQ(value("gld_efficiency", launch), 100.0 * 3840 / 15360);
}

TEST(Metrics, UnknownNamesGetTheNearest) {
  const auto message = [](const std::string& list) {
    constexpr std::array events{Tool::nvprof_event};
    try {
      static_cast<void>(find_metrics(list, events));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("shared_load,shared_st_bank_conflicts"),
              HasSubstr("'shared_st_bank_conflicts' is no metric or event that is known here; the nearest is "
                        "'shared_st_bank_conflict'"));
  EXPECT_THAT(message("gld_efficiency"), HasSubstr("is no metric or event")) << "a metric is no event";
  EXPECT_THAT(message(""), HasSubstr("''"));
}

TEST(Metrics, NcuPrintsEachLaunch) {
  Report report = sample_report();
  const auto list = find_metrics(
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld."
      "sum",
      all_tools);
  const ProfiledProcess process{"77", "app", &report};
  EXPECT_EQ(
      ncu_text(process, list),
      "[77] app@127.0.0.1\n"
      "  sample<int>(float*, \"x\" & more) (4, 2, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n"
      "    Section: Command line profiler metrics\n"
      "    -------------------------------------------------------- ----------- ------------\n"
      "    Metric Name                                              Metric Unit Metric Value\n"
      "    -------------------------------------------------------- ----------- ------------\n"
      "    l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum                      700\n"
      "    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum                sector          320\n"
      "    -------------------------------------------------------- ----------- ------------\n"
      "\n");
  report.launches[0].totals.shared_store.conflicts = 4'587'520;
  const std::string begin =
      "\"0\",\"77\",\"app\",\"127.0.0.1\",\"sample<int>(float*, \"\"x\"\" & more)\",\"1\",\"7\",\"(64, 1, "
      "1)\",\"(4, 2, "
      "1)\",\"0\",\"9.0\",";
  EXPECT_EQ(
      ncu_csv(process, list, NcuPage::details),
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
      "Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\"\n" +
          begin +
          "\"Command line profiler "
          "metrics\",\"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum\",\"\","
          "\"4,587,520\"\n" +
          begin +
          "\"Command line profiler metrics\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\","
          "\"320\"\n");
  EXPECT_THAT(ncu_csv(process, list, NcuPage::raw), HasSubstr(begin + "\"4,587,520\",\"320\"\n"));
}

TEST(Metrics, NcuSumsUpLaunchesOfAKernelAndItsShape) {
  Report report = sample_report();
  report.launches.resize(1);
  report.launches.push_back(report.launches[0]);
  report.launches[1].totals.shared_store.conflicts = 4'587'525;
  report.launches.push_back(report.launches[0]);
  report.launches[2].grid.x = 8;
  const auto list = find_metrics("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", all_tools);
  const ProfiledProcess process{"77", "app", &report};
  const std::string name = "\"sample<int>(float*, \"\"x\"\" & more)\"",
                    metric =
                        "\"Command line profiler metrics\","
                        "\"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum\",\"\",",
                    begin = "\"77\",\"app\",\"127.0.0.1\",";
  EXPECT_EQ(ncu_summary(process, list, NcuSummary::per_kernel, true),
            "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid "
            "Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric "
            "Unit\",\"Minimum\",\"Maximum\",\"Average\"\n" +
                begin + name + ",\"(64, 1, 1)\",\"(4, 2, 1)\",\"0\",\"9.0\",\"2\"," + metric +
                "\"700\",\"4,587,525\",\"2,294,112.50\"\n" + begin + name +
                ",\"(64, 1, 1)\",\"(8, 2, 1)\",\"0\",\"9.0\",\"1\"," + metric + "\"700\",\"700\",\"700\"\n");
  EXPECT_EQ(ncu_summary(process, list, NcuSummary::per_gpu, true, false),
            begin + "\"0\",\"9.0\",\"3\"," + metric + "\"700\",\"4,587,525\",\"1,529,641.67\"\n");
  EXPECT_THAT(
      ncu_summary(process, list, NcuSummary::per_kernel, false),
      HasSubstr("  sample<int>(float*, \"x\" & more) (4, 2, 1)x(64, 1, 1), Device 0, CC 9.0, Invocations 2\n"
                "    Section: Command line profiler metrics\n"));
}

TEST(Metrics, NamesMayBeExpressions) {
  const auto list = find_metrics("regex:^l1tex__data_bank_conflicts.*op_(ld|st)\\.sum$", all_tools);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]->name, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum");
  EXPECT_THROW(static_cast<void>(find_metrics("regex:(", all_tools)), Error);
  EXPECT_THROW(static_cast<void>(find_metrics("regex:no such thing", all_tools)), Error);
}

TEST(Metrics, NcuWarnsOnceOfEachLineInDoubt) {
  Line line;
  line.file = "k.cu";
  line.line = 3;
  Report report;
  Launch& launch = report.launches.emplace_back();
  launch.kernel = "k";
  launch.lines = {line};
  EXPECT_EQ(ncu_warnings(report), "");
  launch.lines[0].doubt = "it may be a loop";
  report.launches.push_back(launch);
  EXPECT_EQ(ncu_warnings(report),
            "==WARNING== k (k.cu:3): counts may be others on a GPU: it may be a loop\n");
}

TEST(Metrics, NvprofPutsLaunchesOfAKernelTogether) {
  Report report = sample_report();
  report.launches.push_back(sample_launch());
  report.launches[1].totals.shared_store.conflicts = 100;
  const ProfiledProcess process{"77", "app", &report};
  const auto events = find_metrics("shared_st_bank_conflict", all_tools);
  EXPECT_EQ(nvprof_text(process, events),
            "==77== Event result:\n"
            "Invocations                                Event Name          Min         Max         Avg      "
            " Total\n"
            "Device \"sm_90 (0)\"\n"
            "    Kernel: sample<int>(float*, \"x\" & more)\n"
            "          2                   shared_st_bank_conflict          100         700         400      "
            "   800\n");
  EXPECT_EQ(nvprof_csv(process, events),
            "==77== Event result:\n"
            "\"Device\",\"Kernel\",\"Invocations\",\"Event Name\",\"Min\",\"Max\",\"Avg\",\"Total\"\n"
            "\"sm_90 (0)\",\"sample<int>(float*, \"\"x\"\" & "
            "more)\",2,\"shared_st_bank_conflict\",100,700,400.000000,"
            "800\n");
  const auto both = find_metrics("shared_load,gld_efficiency", all_tools);
  const std::string text = nvprof_text(process, both);
  EXPECT_LT(text.find("Event result"), text.find("Metric result"));
  EXPECT_THAT(text,
              HasSubstr("gld_efficiency                     Global Memory Load Efficiency      12.50%      "
                        "12.50%      12.50%"));
}

}  // namespace
}  // namespace lanescope::report
