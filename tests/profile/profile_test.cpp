// Counting, without an engine: accesses made by hand go in, counters come out.
#include <gtest/gtest.h>

#include <random>

#include "lanescope/model/archs.hpp"
#include "profile/collector.hpp"
#include "profile/cost.hpp"
#include "profile/profile.hpp"
#include "profile/sums.hpp"
#include "profile/synthetic.hpp"

namespace lanescope::profile {
namespace {

using namespace synthetic;

Counters shared_sum(const Profile& profile) {
  const Totals t = totals(profile);
  Counters sum = t.shared_load;
  sum.add(t.shared_store);
  return sum;
}

TEST(Collector, InterleavedReductionOfOneBlock) {
  Collector collector(sm_90(), reduction_sites);
  reduce_interleaved(collector, 0);
  const Profile profile = collector.profile();
  const Totals sum = totals(profile);
  EXPECT_EQ(sum.shared_store.conflicts, 35u);
  EXPECT_EQ(sum.shared_load.conflicts, 70u);
  const Counters all = shared_sum(profile);
  EXPECT_EQ(all.wavefronts, 150u);
  EXPECT_EQ(all.ideal, 45u);
  EXPECT_EQ(all.requests, 45u);
  EXPECT_EQ(all.max_way, 8u);
  EXPECT_EQ(all.estimates, 0u);
  EXPECT_EQ(all.write_races, 0u);
  EXPECT_EQ(all.evidence, model::Evidence::measured);
}

TEST(Collector, SequentialReductionOfOneBlockIsClean) {
  Collector collector(sm_90(), reduction_sites);
  reduce_sequential(collector, 0);
  const Counters all = shared_sum(collector.profile());
  EXPECT_EQ(all.conflicts, 0u);
  EXPECT_EQ(all.wavefronts, 45u);
  EXPECT_EQ(all.max_way, 1u);
}

TEST(Collector, AtomicsThatMeetInAWord) {
  Collector collector(sm_90(), 3);
  const auto atomics = [&](uint32_t site, AccessSpace space, const std::function<int64_t(uint32_t)>& word) {
    collector.access(
        make_access(site, AccessKind::atomic, space, [&](uint32_t lane) { return 4096 + 4 * word(lane); }));
  };
  atomics(0, AccessSpace::global, [](uint32_t) { return 0; });
  atomics(1, AccessSpace::global, [](uint32_t lane) { return int64_t{lane}; });
  atomics(2, AccessSpace::shared, [](uint32_t lane) { return int64_t{lane % 8}; });
  collector.access(make_access(1, AccessKind::load, AccessSpace::global, [](uint32_t) { return 4096; }));
  const Profile profile = collector.profile();
  EXPECT_EQ(profile.sites[0].counters.word_lanes, 32u);
  EXPECT_EQ(profile.sites[1].counters.word_lanes, 1u) << "loads of one word are no atomics";
  EXPECT_EQ(profile.sites[2].counters.word_lanes, 4u);
}

TEST(Collector, AtomicsThatMeetInAWordAsTheAssemblerMakesThem) {
  const auto counters_as = [](merge::Fate::Kind kind) {
    merge::Fate fate;
    fate.kind = kind;
    fate.pieces = {{0, 4}};
    Collector collector(sm_90(), 1, RecordBlocks::none,
                        std::make_shared<const merge::Plan>(merge::Plan{{fate}}));
    const Access access = make_access(0, AccessKind::atomic, AccessSpace::shared,
                                      [](uint32_t lane) { return int64_t{lane % 8} * 4; });
    collector.access(access);
    collector.repeat(0, 1);
    return collector.profile().sites.front().counters;
  };
  EXPECT_EQ(counters_as(merge::Fate::Kind::kept).word_lanes, 8u);
  EXPECT_EQ(counters_as(merge::Fate::Kind::looped).word_lanes, 8u) << "each round of the loop serves one";
  const Counters combined = counters_as(merge::Fate::Kind::combined);
  EXPECT_EQ(combined.requests, 2u);
  EXPECT_EQ(combined.word_lanes, 2u) << "lanes of one word go as one";
  EXPECT_EQ(combined.write_races, 0u);
}

TEST(Collector, AtomicsThatOneLaneDoesForItsWarp) {
  using OneLane = merge::Fate::OneLane;
  const auto word_lanes = [](OneLane one_lane, AccessSpace space, uint32_t mask) {
    merge::Fate fate;
    fate.kind = merge::Fate::Kind::elected;
    fate.one_lane = one_lane;
    fate.pieces = {{0, 4}};
    Collector collector(sm_90(), 1, RecordBlocks::none,
                        std::make_shared<const merge::Plan>(merge::Plan{{fate}}));
    Access access = make_access(0, AccessKind::atomic, space, [](uint32_t) { return int64_t{4096}; });
    access.mask = mask;
    collector.access(access);
    const Counters counters = collector.profile().sites.front().counters;
    EXPECT_EQ(counters.lanes, counters.word_lanes);
    EXPECT_EQ(counters.bytes_asked, space == AccessSpace::global ? 4 * counters.word_lanes : 0u);
    return counters.word_lanes;
  };
  constexpr uint32_t some = 0xff00, all = 0xffffffff;
  for (const AccessSpace space : {AccessSpace::global, AccessSpace::shared}) {
    EXPECT_EQ(word_lanes(OneLane::always, space, all), 1u);
    EXPECT_EQ(word_lanes(OneLane::always, space, some), 1u);
    EXPECT_EQ(word_lanes(OneLane::of_whole_warps, space, all), 1u);
    EXPECT_EQ(word_lanes(OneLane::of_whole_warps, space, some), 8u) << "each lane for itself";
  }
}

TEST(Profile, BranchesAreSummedOverHostThreads) {
  exec::BranchCounts later, earlier;
  later.divergent = 2;
  later.splits = 1;
  later.block = 9;
  later.split[0] = {3, 1};
  earlier.divergent = earlier.taken = 5;
  earlier.splits = 1;
  earlier.block = 4;
  earlier.split[0] = {7, 2};
  Collector a(sm_90(), 1), b(sm_90(), 1);
  a.branch(2, later);
  b.branch(2, earlier);
  b.branch(0, exec::BranchCounts{});
  const Profile whole = merge({a.profile(), b.profile()});
  ASSERT_EQ(whole.branches.size(), 1u) << "what was never executed is not listed";
  EXPECT_EQ(whole.branches[0].branch, 2u);
  EXPECT_EQ(whole.branches[0].counts.executions(), 12u);
  EXPECT_EQ(whole.branches[0].counts.block, 4u) << "the example of the first block";
  EXPECT_EQ(whole.branches[0].counts.split[0].taken, 2u);
}

TEST(Collector, HistogramHoldsEveryRequest) {
  Collector collector(sm_90(), reduction_sites);
  reduce_interleaved(collector, 0);
  for (const SiteCounters& site : collector.profile().sites) {
    uint64_t requests = 0, wavefronts = 0;
    for (uint64_t way = 1; way <= most_ways; ++way) {
      requests += site.counters.ways[way];
      wavefronts += way * site.counters.ways[way];
    }
    EXPECT_EQ(requests, site.counters.requests);
    EXPECT_EQ(wavefronts, site.counters.wavefronts);  // one phase for each request of 4 bytes
  }
}

TEST(Collector, WorstExampleIsTheFirstOfTheSmallestBlock) {
  Collector collector(sm_90(), reduction_sites);
  for (const uint64_t block : {7u, 3u, 5u}) reduce_interleaved(collector, block);
  const Profile profile = collector.profile();
  const Example& worst = profile.sites[store_sum].worst;
  EXPECT_EQ(worst.block, 3u);
  EXPECT_EQ(worst.warp, 0u);
  // 8-way first with s = 4 on words 0, 8, … 248: 32 lanes on 4 banks.
  EXPECT_EQ(worst.mask, 0xffffffffu);
  EXPECT_EQ(worst.address[1], 32u);
}

TEST(Collector, RepeatAddsTheLastCost) {
  const Access access =
      make_access(0, AccessKind::load, AccessSpace::shared, [](uint32_t lane) { return lane * 8; });
  Collector once(sm_90(), 1), often(sm_90(), 1);
  once.access(access);
  once.repeat(0, 41);
  for (int i = 0; i < 42; ++i) often.access(access);
  EXPECT_EQ(once.profile(), often.profile());
  EXPECT_EQ(once.profile().sites.at(0).counters.wavefronts, 84u);
}

TEST(Collector, CountsDoNotDependOnHostThreads) {
  Collector whole(sm_90(), reduction_sites);
  for (uint64_t block = 0; block < 12; ++block) reduce_interleaved(whole, block);
  for (const uint32_t threads : {2u, 3u, 5u}) {
    Collectors parts(sm_90(), reduction_sites);
    for (uint64_t block = 0; block < 12; ++block)
      reduce_interleaved(*parts.of(static_cast<uint32_t>(block * 7 % threads)), block);
    EXPECT_EQ(parts.merged(), whole.profile()) << threads << " threads";
  }
}

TEST(Collector, RemembersAlternatingPatterns) {
  Collector collector(sm_90(), 1);
  for (int i = 0; i < 1000; ++i)
    collector.access(make_access(0, AccessKind::load, AccessSpace::shared,
                                 [&](uint32_t lane) { return lane * 4 * (1 + i % 7); }));
  EXPECT_EQ(collector.model_calls(), 7u);
}

/// Every remembered cost is the cost of that very access, in any space and width, with shifts and partial
/// masks.
TEST(Collector, RememberedCostsAreExact) {
  std::mt19937 random(7);
  for (const char* name : {"sm_90", "sm_35", "sm_13", "sm_20", "gfx1100"}) {
    const model::Arch& arch = *model::find_arch(name);
    Collector collector(arch, 1);
    Counters expected;
    uint64_t asked = 0;
    for (int i = 0; i < 20000; ++i) {
      const auto space = static_cast<AccessSpace>(random() % 3);
      const auto kind = static_cast<AccessKind>(random() % 3);
      const auto width = static_cast<uint8_t>(1u << random() % 5);
      const uint32_t stride = random() % 3;
      const uint32_t base = random() % 8 * 64;
      Access access = make_access(
          0, kind, space, [&](uint32_t lane) { return (base + lane * stride) * width; }, width);
      if (random() % 2 == 0) access.mask &= 0x00ff00ffu << random() % 2;
      collector.access(access);
      expected.add(cost_of(arch, access));
      ++asked;
    }
    Counters sum;
    for (const SiteCounters& site : collector.profile().sites) sum.add(site.counters);
    EXPECT_EQ(sum, expected) << name;
    EXPECT_LT(collector.model_calls(), asked / 4) << name;
  }
}

TEST(Collector, FarApartAddressesAreCounted) {
  Collector collector(sm_90(), 1);
  const Access access = make_access(0, AccessKind::load, AccessSpace::global,
                                    [](uint32_t lane) { return int64_t{lane} << 33; });
  collector.access(access);
  collector.access(access);
  const Profile profile = collector.profile();
  const Counters& counters = profile.sites.at(0).counters;
  EXPECT_EQ(counters.sectors, 64u);
  EXPECT_EQ(counters.ideal_sectors, 8u);
}

TEST(Collector, GlobalAccessInBytesAndSectors) {
  Collector collector(sm_90(), 2);
  collector.access(make_access(0, AccessKind::load, AccessSpace::global,
                               [](uint32_t lane) { return 0x10000 + lane * 4; }));
  collector.access(make_access(1, AccessKind::store, AccessSpace::global,
                               [](uint32_t lane) { return 0x10000 + lane * 4096; }));
  const Totals sum = totals(collector.profile());
  EXPECT_EQ(sum.global_load.sectors, 4u);
  EXPECT_EQ(sum.global_load.ideal_sectors, 4u);
  EXPECT_EQ(sum.global_load.lines, 1u);
  EXPECT_EQ(sum.global_load.bytes_asked, 128u);
  EXPECT_EQ(sum.global_store.sectors, 32u);
  EXPECT_EQ(sum.global_store.ideal_sectors, 4u);
  EXPECT_EQ(sum.global_store.bytes_moved, 1024u);
}

TEST(Collector, LocalMemoryIsLaidOutByWords) {
  Collector collector(sm_90(), 3);
  // Every lane its own word 5: 128 consecutive bytes.
  collector.access(make_access(0, AccessKind::load, AccessSpace::local, [](uint32_t) { return 20; }));
  // Every lane words 4 and 5: two rows of 128 bytes.
  collector.access(make_access(
      1, AccessKind::load, AccessSpace::local, [](uint32_t) { return 16; }, 8));
  // Lane l its word l: a row of its own for each lane.
  collector.access(
      make_access(2, AccessKind::store, AccessSpace::local, [](uint32_t lane) { return lane * 4; }));
  const Profile profile = collector.profile();
  EXPECT_EQ(profile.sites.at(0).counters.sectors, 4u);
  EXPECT_EQ(profile.sites.at(1).counters.sectors, 8u);
  EXPECT_EQ(profile.sites.at(2).counters.sectors, 32u);
}

TEST(Collector, SeparatesSpacesAndVariablesOfOneInstruction) {
  Collector collector(sm_90(), 1);
  Access access =
      make_access(0, AccessKind::load, AccessSpace::shared, [](uint32_t lane) { return lane * 4; });
  collector.access(access);
  collector.repeat(0, 2);
  access.shared_variable = 1;
  collector.access(access);
  access.space = AccessSpace::global;
  collector.access(access);
  const Profile profile = collector.profile();
  ASSERT_EQ(profile.sites.size(), 3u);
  EXPECT_EQ(profile.sites[0].counters.requests, 3u);
  const auto variables = by_variable(profile);
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(variables[0].counters.requests, 3u);
  EXPECT_EQ(variables[1].counters.requests, 1u);
}

TEST(Collector, LeavesConstantMemoryOut) {
  Collector collector(sm_90(), 1);
  Access access =
      make_access(0, AccessKind::load, AccessSpace::global, [](uint32_t lane) { return lane * 4; });
  collector.access(access);
  access.space = AccessSpace::constant;
  collector.access(access);
  collector.repeat(0, 5);
  EXPECT_EQ(collector.profile().sites.at(0).counters.requests, 1u);
}

TEST(Collector, FlagsStoresOfSeveralLanesToOneWord) {
  Collector collector(sm_90(), 1);
  collector.access(
      make_access(0, AccessKind::store, AccessSpace::shared, [](uint32_t lane) { return lane / 2 * 4; }));
  EXPECT_EQ(collector.profile().sites.at(0).counters.write_races, 1u);
}

TEST(Collector, AtomicsCountLanes) {
  Collector collector(sm_90(), 1);
  collector.access(make_access(0, AccessKind::atomic, AccessSpace::shared, [](uint32_t) { return 0; }));
  EXPECT_EQ(totals(collector.profile()).shared_atomic.conflicts, 31u);
}

TEST(Collector, AsynchronousCopiesAreNoStores) {
  Collector collector(sm_90(), 2);
  collector.access(make_access(0, AccessKind::store, AccessSpace::shared, [](uint32_t) { return 0; }));
  collector.access(
      make_access(1, AccessKind::async_copy, AccessSpace::shared, [](uint32_t lane) { return lane * 8; }));
  const Totals sum = totals(collector.profile());
  EXPECT_EQ(sum.shared_store.wavefronts, 1u);
  EXPECT_EQ(sum.shared_copy.wavefronts, 2u);
  EXPECT_EQ(shared_of(sum).wavefronts, 3u);
}

TEST(Collector, ProductsAreOneRequestOfTwoMatrices) {
  Collector collector(sm_90(), 1);
  exec::BulkAccess read;
  read.kind = AccessKind::group_product;
  read.space = AccessSpace::shared;
  read.row_bytes = 32;
  for (read.warp = 0; read.warp < 4; ++read.warp) {
    read.shared_variable = 1;
    read.is_more = false;
    read.rows = read.warp == 0 ? 8 : 0;
    collector.bulk_access(read);
    read.shared_variable = 0;
    read.is_more = true;
    read.rows = 16;
    collector.bulk_access(read);
  }
  const Profile profile = collector.profile();
  ASSERT_EQ(profile.sites.size(), 2u) << "by variable";
  EXPECT_EQ(profile.sites[0].counters.wavefronts, 16u);
  EXPECT_EQ(profile.sites[0].counters.instructions, 0u);
  EXPECT_EQ(profile.sites[1].counters.wavefronts, 2u);
  EXPECT_EQ(profile.sites[1].counters.instructions, 4u);
  const Totals sum = totals(profile);
  EXPECT_EQ(sum.shared_product.wavefronts, 18u);
  EXPECT_EQ(sum.shared_product.requests, 4u);
  EXPECT_EQ(sum.shared_product.conflicts, 0u);
  EXPECT_EQ(sum.shared_load.requests, 0u);
  EXPECT_EQ(shared_of(sum).ideal, 18u);
}

TEST(Collector, BulkCopiesAreCountedBySectors) {
  Collector collector(sm_90(), 3);
  exec::BulkAccess copy;
  copy.kind = AccessKind::bulk_load;
  copy.space = AccessSpace::global;
  const exec::BulkAccess::Piece rows[] = {{4096, 0, 128}, {4096 + 1040, 128, 128}};
  copy.pieces = rows;
  collector.bulk_access(copy);
  copy.instruction = 1;
  copy.kind = AccessKind::bulk_store;
  copy.space = AccessSpace::cluster;
  collector.bulk_access(copy);
  // A row of 128 bytes of which 32 lie in the tensor, to two blocks.
  copy.instruction = 2;
  copy.kind = AccessKind::bulk_load;
  copy.space = AccessSpace::global;
  copy.multicast = true;
  copy.targets = 2;
  const exec::BulkAccess::Piece partly[] = {{4096, 0, 32, false}, {0, 32, 96, true}};
  copy.pieces = partly;
  collector.bulk_access(copy);
  const Totals sum = totals(collector.profile());
  EXPECT_EQ(sum.bulk_load.requests, 2u);
  EXPECT_EQ(sum.bulk_load.sectors, 4u + 5u + 2u + 3u)
      << "the second row begins 16 bytes into a sector; to several blocks two sectors at least";
  EXPECT_EQ(sum.bulk_load.transactions, 9u + 2u * 5u) << "what arrives at each block";
  EXPECT_EQ(sum.bulk_load.ideal_sectors, 8u + 1u);
  EXPECT_EQ(sum.bulk_load.bytes_asked, 256u + 32u);
  EXPECT_EQ(sum.bulk_load.estimates, 1u) << "what is filled";
  EXPECT_EQ(sum.cluster_copy.sectors, 9u);
  EXPECT_EQ(global_of(sum).sectors, 14u);
  EXPECT_EQ(shared_of(sum).requests, 0u);
}

TEST(Collector, OtherBlocksMemoryIsCountedBySectors) {
  Collector collector(sm_90(), 3);
  const auto column = [](uint32_t lane) { return int64_t{2} << 24 | int64_t{lane} * 132; };
  collector.access(make_access(0, AccessKind::load, AccessSpace::cluster, column));
  collector.access(make_access(1, AccessKind::async_store, AccessSpace::cluster,
                               [](uint32_t lane) { return int64_t{lane % 8} * 4; }));
  const Totals sum = totals(collector.profile());
  EXPECT_EQ(sum.cluster_load.sectors, 32u);
  EXPECT_EQ(sum.cluster_load.ideal_sectors, 4u);
  EXPECT_EQ(sum.cluster_store.sectors, 4u) << "four lanes meet in each word";
  EXPECT_EQ(shared_of(sum).requests + global_of(sum).requests, 0u);
}

TEST(ByLine, JoinsInstructionsOfOneLineAndOpAndVariable) {
  const exec::Kernel kernel = reduction_kernel(0);  // no .loc
  Collector collector(sm_90(), reduction_sites);
  reduce_interleaved(collector, 0);
  const auto lines = by_line(ptx::Module(), kernel, collector.profile());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_FALSE(lines[0].place.in_source);
  EXPECT_EQ(lines[0].place.line, 100u);
  EXPECT_EQ(lines[1].place.line, 10u);
  EXPECT_EQ(lines[2].op, "ld.shared");
  EXPECT_EQ(lines[2].counters.requests, 24u);
  EXPECT_EQ(lines[2].counters.conflicts, 70u);
  EXPECT_EQ(lines[3].op, "st.shared");
  EXPECT_EQ(lines[3].counters.conflicts, 35u);
}

TEST(PlaceOf, LooksThroughHeadersOfTheToolkitOnly) {
  ptx::Module module;
  module.files = {{1, "sum.cu"}, {2, "/usr/local/cuda-13.0/include/device_atomic_functions.hpp"}};
  module.source_locs = {{1, 50, 3, ptx::no_index, ""}, {1, 20, 5, 0, "add"}, {2, 88, 3, 1, "atomicAdd"}};
  const Place place = place_of(module, {ptx::Op::atom, 900, 2, 88, 3, 2});
  EXPECT_EQ(place.file, 1u);
  EXPECT_EQ(place.line, 20u);
  EXPECT_EQ(place_of(module, {ptx::Op::ld, 901, 1, 20, 5, 1}).line, 20u);
}

TEST(PlaceOf, LooksThroughCutlassFromAKernelOfTheProgramsOwn) {
  ptx::Module module;
  module.files = {{1, "gemm.cu"},
                  {2, "/src/cutlass/include/cute/algorithm/copy.hpp"},
                  {3, "/src/cutlass/include/cutlass/gemm/kernel/gemm.h"},
                  {4, "/usr/local/cuda/include/cuda_fp16.hpp"}};
  // copy() called by a kernel of gemm.cu; something of the toolkit by that of CUTLASS's gemm.h.
  module.source_locs = {{1, 70, 0, ptx::no_index, ""},
                        {2, 59, 3, 0, "copy"},
                        {3, 200, 0, ptx::no_index, ""},
                        {4, 9, 3, 2, "f"}};
  const Place own = place_of(module, {ptx::Op::ld, 900, 2, 59, 3, 1});
  EXPECT_EQ(own.file, 1u);
  EXPECT_EQ(own.line, 70u);
  const Place librarys = place_of(module, {ptx::Op::ld, 901, 4, 9, 3, 3});
  EXPECT_EQ(librarys.file, 3u);
  EXPECT_EQ(librarys.line, 200u);
}

TEST(PlaceOf, KernelsInPythonAreNamedByTheirOwnLines) {
  ptx::Module module;
  module.files = {{1, "sum.py"}, {2, "warp/native/tile.h"}, {3, "helper.py"}};
  module.source_locs = {
      {1, 20, 0, ptx::no_index, ""}, {2, 1301, 9, 0, "outer"}, {2, 55, 3, 1, "inner"}, {3, 7, 0, 0, "f"}};
  const Place called = place_of(module, {ptx::Op::ld, 900, 2, 55, 3, 2});
  EXPECT_EQ(called.file, 1u);
  EXPECT_EQ(called.line, 20u);
  const Place in_helper = place_of(module, {ptx::Op::ld, 901, 3, 7, 0, 3});
  EXPECT_EQ(in_helper.file, 3u);
  EXPECT_EQ(in_helper.line, 7u);
}

/// As in the assembler's tables: the compiler gives line 0 to what it put together of several lines.
TEST(PlaceOf, LineZeroIsTheLineBefore) {
  ptx::Module module;
  module.files = {{1, "sum.cu"}};
  module.source_locs = {{1, 20, 5}, {1, 0, 0, ptx::no_index, "", 0}, {1, 0, 3}};
  const Place known = place_of(module, {ptx::Op::ld, 900, 1, 0, 0, 1});
  EXPECT_TRUE(known.in_source);
  EXPECT_EQ(known.line, 20u);
  const Place unknown = place_of(module, {ptx::Op::ld, 900, 1, 0, 3, 2});
  EXPECT_FALSE(unknown.in_source);
  EXPECT_EQ(unknown.line, 900u);
}

TEST(PlaceOf, ToolkitHeaders) {
  EXPECT_TRUE(is_toolkit_header("/usr/lib/llvm-22/lib/clang/22/include/__clang_cuda_device_functions.h"));
  EXPECT_TRUE(is_toolkit_header("cuda/include/sm_30_intrinsics.hpp"));
  EXPECT_TRUE(is_toolkit_header("/usr/local/cuda/include/cooperative_groups/details/sync.h"));
  EXPECT_TRUE(is_toolkit_header("/opt/nvidia/bin/../targets/x86_64-linux/include/crt/device_functions.hpp"));
  EXPECT_TRUE(is_toolkit_header("/usr/include/device_atomic_functions.hpp"));
  EXPECT_TRUE(
      is_toolkit_header("/home/me/env/lib/python3.11/site-packages/nvidia/cu13/include/cuda_fp16.hpp"));
  EXPECT_TRUE(is_toolkit_header("/opt/nvidia/hpc_sdk/Linux_x86_64/24.1/cuda/12.3/include/cuda_fp16.hpp"));
  EXPECT_FALSE(is_toolkit_header("/usr/local/include/tile.cuh"));
  EXPECT_FALSE(is_toolkit_header("/home/me/cuda-sum/include_me.hpp"));
  EXPECT_FALSE(is_toolkit_header("/home/me/project/include/tile.cuh"));
  EXPECT_FALSE(is_toolkit_header("sum.cu"));
}

}  // namespace
}  // namespace lanescope::profile
