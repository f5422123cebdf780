// The prediction of merged accesses against the assembler's own machine code: for each small kernel of
// tests/data/merge/rules.ptx, the loads and stores that scripts/sass found in what ptxas made of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>

#include "base/files.hpp"
#include "lanescope/model/archs.hpp"
#include "merge/counts.hpp"
#include "merge/plan.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {
namespace {

std::string read(const std::string& path) { return read_file(LANESCOPE_SOURCE_DIR "/" + path); }

struct Compared {
  int kernels = 0;
  std::string other;  ///< those that are predicted otherwise, and said to be doubtful
};

/// Predicts the kernels of tests/data/merge/NAME.ptx, and holds that to the answers beside it.
Compared compare(const std::string& name, bool (*counts_here)(const exec::AccessSite&)) {
  Loaded loaded(read("tests/data/merge/" + name + ".ptx"));
  std::istringstream answers(read("tests/data/merge/" + name + ".txt"));
  Compared compared;
  for (std::string line; std::getline(answers, line);) {
    if (line.starts_with('#')) continue;
    const std::string kernel_name = line.substr(0, line.find(':'));
    const exec::Kernel& kernel = loaded.image.kernel(kernel_name);
    const Plan plan = predict(*loaded.module, kernel, sm_90);
    const std::string predicted = kernel_name + ":" + accesses_of(kernel, plan, counts_here);
    ++compared.kernels;
    if (predicted == line) continue;
    bool doubtful = false;
    for (const Fate& fate : plan.fates) doubtful |= !fate.doubt.empty();
    EXPECT_TRUE(doubtful) << "predicted without a doubt:\n" << predicted << "\nbut is:\n" << line;
    compared.other += kernel_name + "\n";
  }
  return compared;
}

TEST(Merging, IsWhatTheAssemblerDoes) {
  const Compared compared = compare("rules", is_shared);
  EXPECT_GT(compared.kernels, 200);
  // A vector with gaps beside another one: said to be doubtful.
  EXPECT_EQ(compared.other, "mask_v2_1_used_v2\n");
}

TEST(Merging, LoadsAWordOnceThatIsLoadedAloneAndInAVector) {
  const Compared compared = compare("global_words", is_global_load);
  EXPECT_EQ(compared.kernels, 312);
  EXPECT_EQ(compared.other, "");
}

// An access shows how its pointer is aligned in the piece of code that computes the pointer, and then for
// what comes of it.
TEST(Merging, IsByAlignmentThatIsShownWhereThePointerIsComputed) {
  const Compared compared = compare("global_shown", is_global_load);
  EXPECT_EQ(compared.kernels, 76);
  EXPECT_EQ(compared.other, "");
}

// Of the same word, or of its neighbour; in kernels that change that memory, and in such that do not.
TEST(Merging, GoesAroundLoopsAsTheAssemblerDoes) {
  const Compared shared = compare("around_loops", is_shared),
                 global = compare("global_around_loops", is_global_load);
  EXPECT_EQ(shared.kernels, 312);
  EXPECT_EQ(global.kernels, 318);
  // Of two neighbours that do not change in a loop the assembler loads one twice: said to be doubtful.
  EXPECT_EQ(shared.other, "first_second_next\n");
  EXPECT_EQ(global.other,
            "outer_end_next_barrier_nc\nouter_inner_second_next_barrier_nc\n"
            "outer_if_inner_next_barrier_nc\nouter_inner_next_barrier_nc\nfirst_second_next_barrier_nc\n");
}

// The same word on a way of a branch, and on the other one or behind it.
TEST(Merging, LoadsOnceWhatIsLoadedOnAWayOfABranchAndBehindIt) {
  const Compared shared = compare("branches", is_shared), global = compare("global_branches", is_global_load);
  EXPECT_EQ(shared.kernels, 64);
  EXPECT_EQ(global.kernels, 188);
  // Said to be doubtful: short ways, where guards take the place of the branch; loads on both ways, of which
  // one is made ahead of the branch; ways that are long by the machine's instructions.
  EXPECT_EQ(shared.other,
            "length_6\nlength_5\nlength_4\nlength_3\nlength_2\nlength_1\nboth_in_chain\nor\nand\n"
            "signed_where_they_meet\nsigned_before\ndivision_behind\ndivision_before\n"
            "behind_both\n");
  EXPECT_EQ(global.other,
            "way_xz_z_nc\nboth_behind_barrier_nc\nboth_behind_one_nc\nboth_of_three_nc\n"
            "both_in_loop_nc\nboth_nc\nboth_before_store_nc\nboth_in_chain_nc\nboth_in_if_nc\n"
            "barrier_on_other_nc\nbehind_other_of_two_nc\nway_xz_z\nboth_behind_one\n"
            "both_of_three\nboth_in_loop\nboth\nboth_in_chain\nboth_in_if\nbehind_other_of_two\n");
}

// Where the assembler unrolls loops, accesses of neighbouring iterations become one.
TEST(Merging, IsOfNeighbouringIterationsWhereLoopsAreUnrolled) {
  const Compared shared = compare("unrolled", is_shared),
                 global = compare("global_unrolled", is_global_load_or_store);
  EXPECT_EQ(shared.kernels, 152);
  EXPECT_EQ(shared.other, "");
  EXPECT_EQ(global.kernels, 79);
  EXPECT_EQ(global.other, "");
}

TEST(Merging, IsOfNeighbouringIterationsWhereUnrolledLoopsHaveBranches) {
  const Compared compared = compare("unrolled_branches", is_shared);
  EXPECT_EQ(compared.kernels, 72);
  // In the last iterations a value behind a branch is loaded again: said to be doubtful.
  EXPECT_EQ(compared.other,
            "else_m134_2_behind\nelse_m134_1_behind\nelse_01_1_behind\nor_m134_2_behind\nor_m134_1_behind\n"
            "or_01_1_behind\nif_m134_2_behind\nif_m134_1_behind\nif_01_1_behind\n");
}

TEST(Merging, LeavesOutGlobalLoadsAsTheAssemblerDoes) {
  const Compared compared = compare("global", is_global_load);
  EXPECT_GT(compared.kernels, 80);
  EXPECT_EQ(compared.other, "");
}

TEST(Merging, IsOfGlobalMemoryWhereAWideAccessShowsTheAlignment) {
  const Compared compared = compare("global_merged", is_global_load_or_store);
  EXPECT_GT(compared.kernels, 60);
  // A loop that is unrolled: said to be doubtful.
  EXPECT_EQ(compared.other, "st_loop\n");
}

// The rules are those of global memory, but that nothing is read which nobody asks for.
TEST(Merging, IsOfGenericAddressesToo) {
  const Compared compared = compare("generic", is_global_load_or_store);
  EXPECT_EQ(compared.kernels, 787);
  // Stores behind, or before, what shows their alignment; a loop that is unrolled; a loop of atomics whose
  // store is not counted: said to be doubtful.
  EXPECT_EQ(
      compared.other,
      "between_stores_commit\nbetween_stores_ldmatrix\nglobal_shown_shared_atomic\nglobal_merged_st_loop\n"
      "global_merged_st_u64_then_pair\nglobal_merged_st_pair_then_v2\nglobal_bytes_st_quad_v2\n"
      "global_bytes_st_halves_word\nglobal_bytes_st_bytes_word\n");
}

TEST(Merging, LeavesAccessesOf32BytesAsTheyAre) {
  const Compared compared = compare("global_wide", is_global_load_or_store);
  EXPECT_GE(compared.kernels, 14);
  EXPECT_EQ(compared.other, "");
}

TEST(Merging, TakesGuardedVectorsForThemselves) {
  const Compared global = compare("global_guarded", is_global_load), shared = compare("guarded", is_shared);
  EXPECT_EQ(global.kernels, 15);
  EXPECT_EQ(shared.kernels, 15);
  EXPECT_EQ(global.other + shared.other, "");
}

TEST(Merging, TakesVectorsOfBytesAndHalvesForWords) {
  const Compared shared = compare("bytes", is_shared),
                 global = compare("global_bytes", is_global_load_or_store);
  EXPECT_GT(shared.kernels, 160);
  EXPECT_GT(global.kernels, 165);
  EXPECT_EQ(shared.other + global.other, "");
}

TEST(Merging, LoadsOnlyTheHalfOf64BitsThatIsUsed) {
  const Compared shared = compare("low", is_shared), global = compare("global_low", is_global_load_or_store);
  EXPECT_GT(shared.kernels, 45);
  EXPECT_GT(global.kernels, 45);
  EXPECT_EQ(shared.other + global.other, "");
}

TEST(Merging, LeavesApartLoadsOf16BitsThatAreExtended) {
  const Compared shared = compare("half", is_shared),
                 global = compare("global_half", is_global_load_or_store);
  EXPECT_GT(shared.kernels, 190);
  EXPECT_GT(global.kernels, 45);
  EXPECT_EQ(shared.other + global.other, "");
}

TEST(Merging, IsOfSharedMemoryTooWhereAWideAccessShowsTheAlignment) {
  const Compared compared = compare("shown", is_shared);
  EXPECT_GT(compared.kernels, 60);
  // A loop that is unrolled: said to be doubtful.
  EXPECT_EQ(compared.other, "st_loop\n");
}

TEST(Merging, KeepsApartWhatACallOrABranchOfTheAssemblersIsBetween) {
  const Compared shared = compare("expansions", is_shared),
                 global = compare("global_expansions", is_global_load);
  EXPECT_GT(shared.kernels, 200);
  EXPECT_GT(global.kernels, 100);
  EXPECT_EQ(shared.other + global.other, "");
}

/// A kernel whose thread t works on the 16 bytes at 16 t of `s`.
std::string kernel_of(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<4>; .reg .b16 %h<2>; .reg .b32 %r<20>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 s[4096];
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r9, [n];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, s;
  add.s32 %r4, %r3, %r2;
)" + body +
         "\n  ret;\n}\n";
}

struct Predicted {
  explicit Predicted(const std::string& body) : loaded(kernel_of(body)), kernel(loaded.image.kernel("k")) {
    const Plan plan = predict(*loaded.module, kernel, sm_90);
    for (size_t site = 0; site < kernel.accesses.size(); ++site)
      if (kernel.accesses[site].space == ptx::Space::shared) fates.push_back(plan.fates[site]);
  }
  Loaded loaded;
  const exec::Kernel& kernel;
  std::vector<Fate> fates;  ///< of accesses to shared memory, in the order of the text
};

TEST(Merging, CountsAMergedAccessAtItsFirstInstruction) {
  const Predicted p(R"(
  ld.shared.u32 %r5, [%r4+8];
  ld.shared.u32 %r6, [%r4+4];
  ld.shared.u32 %r7, [%r4];
  st.global.v2.u32 [%rd1], {%r5, %r6};
  st.global.u32 [%rd1+8], %r7;)");
  ASSERT_EQ(p.fates.size(), 3u);
  EXPECT_EQ(p.fates[0].pieces, (std::vector<Piece>{{-8, 16}}));
  for (const Fate& fate : p.fates) {
    EXPECT_EQ(fate.kind, Fate::Kind::merged);
    EXPECT_EQ(fate.bits, 128u);
    EXPECT_EQ(fate.with.size(), 2u);
    EXPECT_EQ(fate.doubt, "");
  }
  EXPECT_TRUE(p.fates[1].pieces.empty());
  EXPECT_TRUE(p.fates[2].pieces.empty());
}

TEST(Merging, LoadsOnlyTheUsedWordsOfAVector) {
  const Predicted p(R"(
  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];
  st.global.u32 [%rd1], %r5;
  st.global.u32 [%rd1+8], %r8;)");
  EXPECT_EQ(p.fates[0].kind, Fate::Kind::narrowed);
  EXPECT_EQ(p.fates[0].pieces, (std::vector<Piece>{{0, 4}, {12, 4}}));
}

TEST(Merging, LeavesCodeForDebuggersAsItIsWritten) {
  size_t accesses = 0;
  for (const char* name : {"rules", "global_merged", "low", "bytes"}) {
    std::string text = read(fmt::format("tests/data/merge/{}.ptx", name));
    const std::string target = ".target sm_90";
    text.insert(text.find(target) + target.size(), ", debug");
    Loaded loaded(text);
    for (const ptx::Function& function : loaded.module->functions) {
      if (!function.is_entry) continue;
      const exec::Kernel& kernel = loaded.image.kernel(function.name);
      const Plan plan = predict(*loaded.module, kernel, sm_90);
      for (size_t site = 0; site < kernel.accesses.size(); ++site) {
        const Fate& fate = plan.fates[site];
        EXPECT_TRUE(fate.kind == Fate::Kind::kept || fate.kind == Fate::Kind::looped) << function.name;
        EXPECT_EQ(fate.pieces, (std::vector<Piece>{{0, kernel.accesses[site].width}})) << function.name;
        EXPECT_EQ(fate.one_lane, Fate::OneLane::never) << function.name;
        ++accesses;
      }
    }
  }
  EXPECT_GT(accesses, 1000U);
}

TEST(Merging, SaysWhyAnAccessIsNone) {
  const Predicted p(R"(
  ld.shared.u32 %r5, [%r4];
  ld.shared.u32 %r6, [%r4];
  ld.shared.u32 %r7, [%r4+64];
  st.shared.u32 [%r4+32], %r5;
  st.shared.u32 [%r4+32], %r6;
  ld.shared.u32 %r8, [%r4+32];
  st.global.u32 [%rd1], %r8;)");
  using Kind = Fate::Kind;
  const Kind kinds[] = {Kind::kept, Kind::known, Kind::unused, Kind::overwritten, Kind::kept, Kind::known};
  ASSERT_EQ(p.fates.size(), std::size(kinds));
  for (size_t i = 0; i < p.fates.size(); ++i) {
    EXPECT_EQ(p.fates[i].kind, kinds[i]) << i;
    EXPECT_EQ(p.fates[i].pieces.empty(), kinds[i] != Kind::kept) << i;
  }
}

TEST(Merging, AtomicsUseWhatTheyAreGivenWhetherOrNotTheirResultIsUsed) {
  const Predicted p(R"(
  ld.shared.u32 %r5, [%r4];
  ld.shared.u32 %r6, [%r4+64];
  cvt.u64.u32 %rd2, %r6;
  add.u64 %rd3, %rd1, %rd2;
  atom.global.add.u32 %r7, [%rd3], %r5;)");
  ASSERT_EQ(p.fates.size(), 2u);
  for (const Fate& fate : p.fates) EXPECT_EQ(fate.kind, Fate::Kind::kept);
}

/// Of the atomic that is the kernel's first access.
Fate fate_of_atomic(const std::string& body, const model::Arch& arch = sm_90) {
  const Predicted p(body);
  return predict(*p.loaded.module, p.kernel, arch).fates.front();
}

// Read off the code that ptxas 13.0 makes for sm_80, sm_90 and sm_100 of these atomics in global and shared
// memory and through generic addresses.
TEST(Merging, OneLaneDoesAnAtomicForItsWarpWhereAllHaveOneAddress) {
  using OneLane = Fate::OneLane;
  struct Case {
    std::string op, result, data;
    bool used;
    OneLane one_lane;
  };
  const Case cases[] = {
      {"add.u32", "%r7", "1", false, OneLane::always},
      {"add.u32", "%r7", "1", true, OneLane::always},
      {"add.s32", "%r7", "%r4", false, OneLane::always},
      {"add.u32", "%r7", "%r4", true, OneLane::of_whole_warps},
      {"max.s32", "%r7", "%r4", false, OneLane::always},
      {"max.s32", "%r7", "%r4", true, OneLane::never},
      {"xor.b32", "%r7", "1", true, OneLane::never},
      {"inc.u32", "%r7", "100", false, OneLane::never},
      {"exch.b32", "%r7", "1", false, OneLane::never},
      {"add.u64", "%rd3", "5", true, OneLane::always},
      {"add.u64", "%rd3", "%rd2", false, OneLane::never},
      {"min.u64", "%rd3", "1", false, OneLane::never},
      {"add.f32", "%r7", "1.0", false, OneLane::never},
  };
  for (const Case& c : cases) {
    for (const std::string space : {".global", ".shared", ""}) {
      std::string body = "cvt.u64.u32 %rd2, %r4;\natom" + space + "." + c.op + " " + c.result + ", " +
                         (space == ".shared" ? "[s]" : "[%rd1]") + ", " + c.data + ";\n";
      if (c.used) body += "st.global.b" + c.op.substr(c.op.size() - 2) + " [%rd1+64], " + c.result + ";";
      EXPECT_EQ(fate_of_atomic(body).one_lane, c.one_lane) << body;
    }
  }
}

/// Before 9.0 ptxas takes what a warp finds out together, and its number, for different ones.
TEST(Merging, WhatAWarpFindsOutIsOneAddressFrom90On) {
  using OneLane = Fate::OneLane;
  const std::string at =
      "mul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, %rd2;\nred.global.add.u32 [%rd3], 1;";
  for (const char* found :
       {"shfl.sync.idx.b32 %r7, %r4, 0, 31, -1;\n", "vote.sync.ballot.b32 %r7, %p1, -1;\n",
        "redux.sync.max.u32 %r7, %r4, -1;\n", "mov.u32 %r7, %warpid;\n"})
    for (const auto& [arch, one_lane] : {std::pair{"sm_80", OneLane::never},
                                         {"sm_89", OneLane::never},
                                         {"sm_90", OneLane::always},
                                         {"sm_120", OneLane::always}})
      EXPECT_EQ(fate_of_atomic(found + at, *model::find_arch(arch)).one_lane, one_lane) << arch << found;
  for (const char* arch : {"sm_75", "sm_89"})
    EXPECT_EQ(fate_of_atomic("activemask.b32 %r7;\n" + at, *model::find_arch(arch)).one_lane,
              OneLane::always);
}

TEST(Merging, TuringCountsInSharedMemoryByAdding) {
  const std::string count = "red.shared.add.u32 [%r4], 1;";
  EXPECT_EQ(fate_of_atomic(count, *model::find_arch("sm_75")).kind, Fate::Kind::kept);
  EXPECT_EQ(fate_of_atomic(count, *model::find_arch("sm_80")).kind, Fate::Kind::combined);
}

/// sm_75 puts different values together by shuffles, for which all lanes have to be there.
TEST(Merging, OneLaneOfTuringDoesAnAtomicWhereValuesAreAlikeOrWarpsWhole) {
  using OneLane = Fate::OneLane;
  const std::pair<const char*, OneLane> cases[] = {
      {"atom.global.add.u32 %r7, [%rd1], 1;", OneLane::always},
      {"red.global.add.u32 [%rd1], %r4;", OneLane::of_whole_warps},
      {"red.global.min.u32 [%rd1], 1;", OneLane::of_whole_warps},
  };
  for (const auto& [body, one_lane] : cases)
    EXPECT_EQ(fate_of_atomic(body, *model::find_arch("sm_75")).one_lane, one_lane) << body;
}

TEST(Merging, EachLaneDoesAnAtomicWhoseAddressDiffersByLane) {
  for (const char* body : {R"(
  cvt.u64.u32 %rd2, %r4;
  add.u64 %rd3, %rd1, %rd2;)",
                           // One of two addresses, as each lane decides.
                           R"(
  add.u64 %rd2, %rd1, 64;
  setp.lt.u32 %p1, %r1, 7;
  selp.b64 %rd3, %rd1, %rd2, %p1;)",
                           R"(
  setp.lt.u32 %p1, %r1, 7;
  mov.u64 %rd3, %rd1;
  @%p1 add.u64 %rd3, %rd3, 64;)"}) {
    const Fate fate = fate_of_atomic(std::string(body) + "\natom.global.add.u32 %r7, [%rd3], 1;");
    EXPECT_EQ(fate.one_lane, Fate::OneLane::never) << body;
    EXPECT_EQ(fate.kind, Fate::Kind::kept) << body;
  }
}

/// ptxas 13.0 takes what is loaded from one address for the same in all lanes, and a choice by all alike.
TEST(Merging, AddressesThatAreLoadedFromOnePlaceAreOneAddress) {
  const auto fates = [](const std::string& body) {
    const Predicted p(body);
    return predict(*p.loaded.module, p.kernel, sm_90).fates;
  };
  EXPECT_EQ(fates(R"(
  ld.global.u64 %rd2, [%rd1];
  ld.u64 %rd3, [%rd2+8];
  atom.add.u32 %r7, [%rd3], 1;)")
                .back()
                .one_lane,
            Fate::OneLane::always);
  EXPECT_EQ(fates(R"(
  cvt.u64.u32 %rd2, %r4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u64 %rd3, [%rd3];
  atom.add.u32 %r7, [%rd3], 1;)")
                .back()
                .one_lane,
            Fate::OneLane::never);
  EXPECT_EQ(fates(R"(
  add.u64 %rd2, %rd1, 64;
  setp.lt.u32 %p1, %r9, 7;
  selp.b64 %rd3, %rd1, %rd2, %p1;
  atom.global.add.u32 %r7, [%rd3], 1;)")
                .back()
                .one_lane,
            Fate::OneLane::always);
}

/// What decides is what ptxas 13.0 made of such loops for sm_90. %r7 is the index, %r9 a parameter, %r4
/// another number for each lane.
TEST(Merging, AnIndexThatAllLanesCountAlikeIsOneAddress) {
  using OneLane = Fate::OneLane;
  const std::string begin = "mov.u32 %r7, 0;\nL: mul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, %rd2;\n",
                    atomic = "atom.global.add.u32 %r8, [%rd3], %r4;\n", next = "add.u32 %r7, %r7, 1;\n",
                    again = "setp.lt.u32 %p1, %r7, %r9;\n@%p1 bra L;\n",
                    perhaps =
                        "ld.global.u32 %r10, [%rd3+64];\nadd.u32 %r10, %r10, %r4;\n"
                        "setp.lt.u32 %p2, %r7, %r10;\n";
  const struct {
    std::string body;
    OneLane one_lane;
  } cases[] = {
      {begin + atomic + next + again, OneLane::always},
      // Another lane may come round once more.
      {begin + atomic + next + perhaps + "@%p2 bra L;", OneLane::never},
      // Some lanes pass it by, or end before it: those that are there have counted alike.
      {begin + perhaps + "@%p2 bra M;\n" + atomic + "M: " + next + again, OneLane::always},
      {begin + perhaps + "@%p2 bra M;\n" + atomic + next + again + "M:", OneLane::always},
      // Where lanes that leave it have more to do, ptxas takes none of this for granted.
      {begin + perhaps + "@%p2 bra M;\n" + atomic + next + again + "M: st.global.u32 [%rd1], %r1;",
       OneLane::never},
      // Behind the loop those meet who left it in different rounds.
      {begin + next + perhaps + "@%p2 bra M;\n" + again + "M: mul.wide.u32 %rd2, %r7, 4;\n" +
           "add.u64 %rd3, %rd1, %rd2;\n" + atomic,
       OneLane::never},
      {begin + next + again + "mul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, %rd2;\n" + atomic,
       OneLane::always},
      // As loops are unrolled: what is left of the rounds, behind a loop in which lanes have parted and met.
      {"mov.u32 %r7, 0;\nsetp.lt.u32 %p1, %r9, 4;\n@%p1 bra M;\nK: ld.global.u32 %r10, [%rd1];\n"
       "add.u32 %r10, %r10, %r4;\nsetp.lt.u32 %p2, %r7, %r10;\n@%p2 bra N;\nst.global.u32 [%rd1], %r7;\n"
       "N: add.u32 %r7, %r7, 4;\nsetp.lt.u32 %p1, %r7, %r9;\n@%p1 bra K;\nM:\n" +
           begin.substr(begin.find("L:")) + atomic + next + again,
       OneLane::always},
      // A branch that all lanes take alike, and one that they do not.
      {"mov.u64 %rd3, %rd1;\nsetp.lt.u32 %p1, %r9, 7;\n@%p1 bra M;\nadd.u64 %rd3, %rd1, 64;\nM: " + atomic,
       OneLane::always},
      {"mov.u64 %rd3, %rd1;\nsetp.lt.u32 %p1, %r4, 7;\n@%p1 bra M;\nadd.u64 %rd3, %rd1, 64;\nM: " + atomic,
       OneLane::never},
  };
  for (const auto& c : cases) {
    const Predicted p(c.body);
    const Plan plan = predict(*p.loaded.module, p.kernel, sm_90);
    ASSERT_FALSE(plan.fates.empty()) << c.body;
    for (size_t i = 0; i < plan.fates.size(); ++i)
      if (exec::is_atomic(p.kernel.accesses[i].kind)) {
        EXPECT_EQ(plan.fates[i].one_lane, c.one_lane) << c.body;
      }
  }
}

TEST(Merging, WhatAWarpFindsOutTogetherIsOneAddress) {
  using OneLane = Fate::OneLane;
  const struct {
    std::string with;
    OneLane one_lane;
  } cases[] = {
      {"vote.sync.ballot.b32 %r7, %p1, -1;", OneLane::always},
      {"redux.sync.add.u32 %r7, %r4, -1;", OneLane::always},
      {"match.all.sync.b32 %r7, %r4, -1;", OneLane::always},
      {"match.any.sync.b32 %r7, %r4, -1;", OneLane::never},
      {"activemask.b32 %r7;", OneLane::always},
      {"shfl.sync.idx.b32 %r7, %r4, 0, 31, -1;", OneLane::always},
      {"shfl.sync.idx.b32 %r7|%p2, %r4, %r9, 31, -1;", OneLane::always},
      {"shfl.sync.idx.b32 %r7, %r4, %r1, 31, -1;", OneLane::never},
      {"shfl.sync.idx.b32 %r7, %r4, 0, 4127, -1;", OneLane::never},  // of each half
      {"shfl.sync.bfly.b32 %r7, %r4, 16, 31, -1;", OneLane::never},
  };
  for (const auto& c : cases)
    EXPECT_EQ(fate_of_atomic("setp.lt.u32 %p1, %r4, 7;\n" + c.with +
                             "\nmul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
                             "atom.global.add.u32 %r8, [%rd3], %r4;")
                  .one_lane,
              c.one_lane)
        << c.with;
}

/// The same of what is computed of it, of what is asked in a loop and used behind it, and of divisions.
TEST(Merging, WhatBecomesOfAnAddressThatAllLanesHave) {
  using OneLane = Fate::OneLane;
  const std::string at = "mul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, %rd2;\n",
                    atomic = "atom.global.add.u32 %r8, [%rd3], %r4;\n", wide = "cvt.u64.u32 %rd2, %r9;\n";
  const struct {
    std::string body;
    OneLane one_lane;
  } cases[] = {
      {"ld.global.u32 %r7, [%rd1];\nadd.u32 %r7, %r7, 1;\n" + at + atomic, OneLane::always},
      {"L: vote.sync.ballot.b32 %r7, %p1, -1;\nsetp.lt.u32 %p1, %r7, %r4;\n@%p1 bra L;\n" + at + atomic,
       OneLane::never},
      {"L: vote.sync.ballot.b32 %r7, %p1, -1;\nsetp.lt.u32 %p1, %r7, %r9;\n@%p1 bra L;\n" + at + atomic,
       OneLane::always},
      {wide + "rem.u64 %rd3, %rd1, %rd2;\n" + atomic, OneLane::never},
      {"rem.u64 %rd3, %rd1, 640;\n" + atomic, OneLane::always},
      {"div.u32 %r7, %r9, 7;\n" + at + atomic, OneLane::always},
  };
  for (const auto& c : cases) {
    const Predicted p(c.body);
    EXPECT_EQ(predict(*p.loaded.module, p.kernel, sm_90).fates.back().one_lane, c.one_lane) << c.body;
  }
}

TEST(Merging, WhatAllLanesOfAWarpReadInASpecialRegisterIsAlike) {
  using OneLane = Fate::OneLane;
  const std::pair<const char*, OneLane> cases[] = {
      {"%smid", OneLane::always},
      {"%warpid", OneLane::always},
      {"%clusterid.x", OneLane::always},
      {"%nwarpid", OneLane::always},
      {"%dynamic_smem_size", OneLane::always},
      {"%tid.y", OneLane::never},
      {"%laneid", OneLane::never},
      {"%lanemask_lt", OneLane::never},
  };
  for (const auto& [name, one_lane] : cases)
    EXPECT_EQ(fate_of_atomic(fmt::format("mov.u32 %r7, {};\nmul.wide.u32 %rd2, %r7, 4;\nadd.u64 %rd3, %rd1, "
                                         "%rd2;\nred.global.add.u32 [%rd3], 1;",
                                         name))
                  .one_lane,
              one_lane)
        << name;
}

/// Of a device function's parameters, and of what it returns, lanes may have different ones.
TEST(Merging, WhatFunctionsAreGivenAndGiveIsNotTheLaunchs) {
  Loaded loaded(R"(.version 9.0
.target sm_90
.address_size 64
.func (.param .b64 r) change(.param .b64 at)
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  atom.global.add.u32 %r1, [%rd1], 1;
  st.param.b64 [r], %rd1;
  ret;
}
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  .param .b64 at;
  .param .b64 back;
  ld.param.u64 %rd1, [p];
  atom.global.add.u32 %r1, [%rd1], 1;
  st.param.b64 [at], %rd1;
  call.uni (back), change, (at);
  ld.param.b64 %rd2, [back];
  atom.global.add.u32 %r1, [%rd2], 1;
  ret;
}
)");
  const exec::Kernel& kernel = loaded.image.kernel("k");
  const Plan plan = predict(*loaded.module, kernel, sm_90);
  std::vector<Fate::OneLane> one_lane;
  for (size_t i = 0; i < kernel.accesses.size(); ++i)
    if (exec::is_atomic(kernel.accesses[i].kind)) one_lane.push_back(plan.fates[i].one_lane);
  EXPECT_EQ(one_lane.size(), 3u);
  EXPECT_EQ(std::count(one_lane.begin(), one_lane.end(), Fate::OneLane::always), 1);
  EXPECT_EQ(std::count(one_lane.begin(), one_lane.end(), Fate::OneLane::never), 2);
}

TEST(Merging, AtomicsWithoutAnInstructionAreLoops) {
  const Predicted p(R"(
  red.shared.add.f32 [%r4], 1.0;
  red.shared.add.f64 [%r4], 1.0;
  red.shared.xor.b64 [%r4], 1;
  atom.shared.cas.b16 %h1, [%r4], 0, 1;
  red.shared.add.noftz.f16x2 [%r4], %r5;
  atom.shared.exch.b64 %rd2, [%r4], 1;
  atom.shared.cas.b64 %rd2, [%r4], 0, 1;
  red.shared.max.u64 [%r4], 1;
  red.shared.add.s32 [%r4], %r4;)");
  ASSERT_EQ(p.fates.size(), 9u);
  for (size_t i = 0; i < 9; ++i)
    EXPECT_EQ(p.fates[i].kind, i < 5 ? Fate::Kind::looped : Fate::Kind::kept) << i;
  for (size_t i = 0; i < 9; ++i) EXPECT_EQ(p.fates[i].doubt.empty(), i == 5 || i == 6 || i == 8) << i;
}

TEST(Merging, LeavesAddressesThatNoSharedMemoryHas) {
  const Predicted p(R"(
  mov.u64 %rd2, 0x7fffffffffffffff;
  mov.u64 %rd3, 0x7ffffffffffffffc;
  st.shared.v4.u32 [%rd2], {%r4, %r4, %r4, %r4};
  ld.shared.v2.u32 {%r5, %r6}, [%rd3];
  mov.u64 %rd2, 0x8000000000000000;
  ld.shared.u32 %r7, [%rd2];
  st.global.u32 [%rd1], %r5;
  st.global.u32 [%rd1+4], %r6;
  st.global.u32 [%rd1+8], %r7;)");
  ASSERT_EQ(p.fates.size(), 3U);
  for (const Fate& fate : p.fates) EXPECT_EQ(fate.kind, Fate::Kind::kept);
}

TEST(Merging, DoubtsWhatUnrollingMayJoin) {
  const Predicted p(R"(
  mov.u32 %r5, 0;
  mov.u32 %r7, 0;
L:
  ld.shared.u32 %r6, [%r4];
  add.s32 %r7, %r7, %r6;
  add.s32 %r4, %r4, 4;
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 64;
  @%p1 bra L;
  st.global.u32 [%rd1], %r7;)");
  EXPECT_EQ(p.fates[0].pieces, (std::vector<Piece>{{0, 4}}));
  EXPECT_NE(p.fates[0].doubt, "");
}

TEST(Merging, IsPredictedForWhatTodaysAssemblerKnows) {
  for (const char* name : {"sm_75", "sm_80", "sm_90", "sm_100a", "sm_120"})
    EXPECT_TRUE(knows(*model::find_arch(name))) << name;
  for (const char* name : {"sm_13", "sm_35", "sm_70", "gfx942"})
    EXPECT_FALSE(knows(*model::find_arch(name))) << name;
  EXPECT_FALSE(knows(model::custom_arch(32, 32, 32, model::Broadcast::many_words)));
}

}  // namespace
}  // namespace lanescope::merge
