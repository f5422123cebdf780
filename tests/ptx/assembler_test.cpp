// What the assembler says of kernels: reading it, running a stand-in, keeping results.
#include "ptx/assembler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"

namespace lanescope::ptx {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Assembler, ReadsWhatTheAssemblerPrints) {
  std::map<std::string, MachineNeeds> kernels;
  read_assembler_output(
      "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z1kPf\n"
      "    1848 bytes stack frame, 2352 bytes spill stores, 2620 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 1848 bytes cumulative stack size\n"
      "ptxas info    : Function properties for helper\n"
      "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n",
      kernels);
  ASSERT_EQ(kernels.size(), 1u);
  const MachineNeeds& needs = kernels.at("_Z1kPf");
  EXPECT_EQ(needs.registers, 32u);
  EXPECT_EQ(needs.stack_bytes, 1848u);
  EXPECT_EQ(needs.spill_store_bytes, 2352u);
  EXPECT_EQ(needs.spill_load_bytes, 2620u);

  // The linker's word on a kernel counts; what it says of functions does not make them kernels.
  read_assembler_output(
      "nvlink error   : Undefined reference to '__cudaCDP2Free' in 'x.o'\n"
      "nvlink info    : Function properties for '_Z1kPf':\n"
      "nvlink info    : used 36 registers, used 0 barriers, 8 stack, 0 bytes smem, 536 bytes cmem[0], 0 "
      "bytes lmem\n"
      "nvlink info    : Function properties for 'helper':\n"
      "nvlink info    : used 24 registers, 0 stack\n",
      kernels);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.at("_Z1kPf").registers, 36u);
  EXPECT_EQ(kernels.at("_Z1kPf").stack_bytes, 8u);
}

TEST(Assembler, ForeignOutputDoesNoHarm) {
  std::map<std::string, MachineNeeds> kernels;
  read_assembler_output(": Used registers\n: used \nFunction properties for \nbytes stack frame\n\n",
                        kernels);
  read_assembler_output(
      "Compiling entry function ''\nCompiling entry function 'a\n: Used 99999999999 registers", kernels);
  EXPECT_LE(kernels.size(), 1u);
}

class WithTools : public testing::Test {
 protected:
  void SetUp() override { setenv("XDG_CACHE_HOME", folder.c_str(), 1); }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LANESCOPE_PTXAS");
  }
  void use(const std::string& script) {
    const fs::path path = folder / "ptxas";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, fs::perms::owner_all);
    setenv("LANESCOPE_PTXAS", path.c_str(), 1);
  }
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
};

TEST_F(WithTools, RunsTheAssemblerOnceForATextAndATarget) {
  use("echo run >> " + (folder / "runs").string() +
      "\nfor a in \"$@\"; do last=$a; done\ngrep -q 'my text' \"$last\" || exit 1\n"
      "echo \"ptxas info : Compiling entry function 'k' for '$1'\"\necho 'ptxas info : Used 17 registers'\n");
  for (int i = 0; i < 2; ++i) {
    const Assembly assembly = assemble({"my text"}, "sm_90");
    EXPECT_EQ(assembly.unknown, "");
    ASSERT_EQ(assembly.kernels.count("k"), 1u);
    EXPECT_EQ(assembly.kernels.at("k").registers, 17u);
  }
  (void)assemble({"my text"}, "sm_80");
  (void)assemble({"my text, longer"}, "sm_80");
  std::ifstream runs(folder / "runs");
  std::string line;
  int count = 0;
  while (std::getline(runs, line)) ++count;
  EXPECT_EQ(count, 3);
}

TEST_F(WithTools, AssemblesForOneArchitectureAloneWhatIsMadeForThat) {
  use("echo \"ptxas info : Compiling entry function '$1' for 'x'\"\necho 'ptxas info : Used 9 registers'\n");
  EXPECT_EQ(assemble({".version 8.0\n.target sm_90a\n"}, "sm_90").kernels.count("-arch=sm_90a"), 1u);
  EXPECT_EQ(
      assemble({".version 8.8\n.target sm_90\n", ".target sm_90f"}, "sm_90").kernels.count("-arch=sm_90f"),
      1u);
  EXPECT_EQ(assemble({".version 8.0\n.target sm_80\n"}, "sm_90").kernels.count("-arch=sm_90"), 1u);
}

TEST_F(WithTools, SaysWhyNothingIsKnown) {
  use("echo 'ptxas fatal   : Unsupported .target' >&2; exit 1\n");
  EXPECT_THAT(assemble({"text"}, "sm_90").unknown, HasSubstr("Unsupported .target"));
  setenv("LANESCOPE_PTXAS", (folder / "none").c_str(), 1);
  EXPECT_THAT(assemble({"text"}, "sm_90").unknown, HasSubstr("not found"));
}

TEST_F(WithTools, TakesANewerUnitBesideAnOlderOneAsOfItsOwnVersion) {
  use("for a in \"$@\"; do last=$a; done\n"
      "if grep -q 'version 9.4' \"$last\"; then\n"
      "  echo \"ptxas fatal : Unsupported .version 9.4; current version is '9.0'\"; exit 1\nfi\n"
      "grep -q '.entry' \"$last\" || exit 0\n"
      "echo \"ptxas info : Compiling entry function 'k' for 'x'\"\necho 'ptxas info : Used 12 registers'\n");
  const Assembly assembly =
      assemble({".version 9.4\n.entry k() {}\n", ".version 7.0\n.func f() {}\n"}, "sm_90");
  EXPECT_EQ(assembly.unknown, "");
  ASSERT_EQ(assembly.kernels.count("k"), 1u);
  EXPECT_EQ(assembly.kernels.at("k").registers, 12u);
}

TEST_F(WithTools, TheRealOneKnowsOurKernels) {
  const auto read = [](const std::string& name) { return read_file(LANESCOPE_SOURCE_DIR "/" + name); };
  const Assembly kernels = assemble({read("kernels/ptx/reduce.ptx")}, "sm_90");
  if (kernels.unknown.find("not found") != std::string::npos) GTEST_SKIP() << kernels.unknown;
  ASSERT_EQ(kernels.unknown, "");
  EXPECT_GE(kernels.kernels.at("reduce_sequential").registers, 8u);
  EXPECT_LE(kernels.kernels.at("reduce_sequential").registers, 32u);
  // Units that need each other, and one that needs the device's runtime.
  const Assembly linked =
      assemble({read("tests/data/linked/first.ptx"), read("tests/data/linked/second.ptx")}, "sm_90");
  EXPECT_GT(linked.kernels.at("_Z7combinePi").registers, 8u);
  EXPECT_GT(assemble({read("tests/data/linked/launches.ptx")}, "sm_90").kernels.at("_Z6parentPii").registers,
            8u);
}

TEST(Assembler, ALimitOfRegistersIsForKernelsWithoutOne) {
  EXPECT_EQ(
      with_register_limit(".entry a(.param .u64 p)\n{ ret; }\n.func f() { ret; }\n"
                          ".entry b() .maxntid 32\n.maxnreg 8\n{ ret; }\n.entry c();\n.entry c() { ret; }\n",
                          24),
      ".entry a(.param .u64 p)\n.maxnreg 24 { ret; }\n.func f() { ret; }\n"
      ".entry b() .maxntid 32\n.maxnreg 8\n{ ret; }\n.entry c();\n.entry c() .maxnreg 24 { ret; }\n");
  EXPECT_EQ(with_register_limit(".entry", 24), ".entry");
  EXPECT_EQ(with_register_limits(".entry a()\n{ ret; }\n.entry\nb\n{ ret; }\n.entry ab() { ret; }\n",
                                 {{"a", 24}, {"b", 32}}),
            ".entry a()\n.maxnreg 24 { ret; }\n.entry\nb\n.maxnreg 32 { ret; }\n.entry ab() { ret; }\n");
}

}  // namespace
}  // namespace lanescope::ptx
