// Recordings of launches: written and read back, and what keeps a launch from being replayed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "exec/launch.hpp"
#include "ptx/module.hpp"
#include "replay/describe.hpp"
#include "replay/recording.hpp"

namespace lanescope::replay {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Recordings : public testing::Test {
 protected:
  fs::path folder_ =
      fs::path(testing::TempDir()) /
      (std::string("recording-") + testing::UnitTest::GetInstance()->current_test_info()->name());
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
};

Piece piece(const std::string& name, const void* at, uint64_t size) {
  Piece p;
  p.name = name;
  p.address = reinterpret_cast<uint64_t>(at);
  p.size = size;
  return p;
}

TEST_F(Recordings, ComeBackAsTheyWere) {
  std::vector<std::byte> a(3 << 20), b(100);
  a[5] = std::byte{1};
  a[(2 << 20) + 7] = std::byte{2};
  b[99] = std::byte{3};
  Recording r;
  r.kernel = "_Z1kPf";
  r.display_name = "k(float*)";
  r.launch = {{3, 2, 1}, {64, 1, 1}, {2, 1, 1}, 512, true};
  r.parameters = {std::byte{0}, std::byte{0xab}};
  r.parameter_offsets = {0, 1};
  r.ptx = {"first", "second\n"};
  r.allocations = {piece("a", a.data(), a.size()), piece("b", b.data(), b.size())};
  r.allocations[0].element = "f32";
  r.has_f32 = true;
  r.stores = "f32";
  r.notes = {"a note"};

  Capture capture(folder_, r);
  a[(2 << 20) + 7] = std::byte{9};
  capture.finish();

  const Recording back = read(folder_);
  EXPECT_EQ(back.obstacle, "");
  EXPECT_EQ(back.kernel, r.kernel);
  EXPECT_EQ(back.display_name, r.display_name);
  EXPECT_EQ(back.launch.grid, r.launch.grid);
  EXPECT_EQ(back.launch.block, r.launch.block);
  EXPECT_EQ(back.launch.cluster, r.launch.cluster);
  EXPECT_EQ(back.launch.dynamic_shared, 512U);
  EXPECT_TRUE(back.launch.cooperative);
  EXPECT_EQ(back.parameters, r.parameters);
  EXPECT_EQ(back.parameter_offsets, r.parameter_offsets);
  EXPECT_EQ(back.ptx, r.ptx);
  EXPECT_EQ(back.notes, r.notes);
  EXPECT_TRUE(back.has_f32);
  EXPECT_EQ(back.stores, "f32");
  EXPECT_FALSE(back.has_f64);
  ASSERT_EQ(back.allocations.size(), 2U);
  EXPECT_EQ(back.allocations[0].element, "f32");
  EXPECT_EQ(back.allocations[0].address, r.allocations[0].address);
  EXPECT_TRUE(back.allocations[0].is_changed);
  EXPECT_FALSE(back.allocations[1].is_changed);

  const Contents before(folder_, Contents::When::before), after(folder_, Contents::When::after);
  std::vector<std::byte> bytes(a.size());
  after.read(bytes.data(), back.allocations[0].offset, bytes.size());
  EXPECT_EQ(bytes, a);
  before.read(bytes.data(), back.allocations[0].offset, bytes.size());
  EXPECT_EQ(bytes[(2 << 20) + 7], std::byte{2});
  bytes.resize(b.size());
  before.read(bytes.data(), back.allocations[1].offset, bytes.size());
  EXPECT_EQ(bytes, b);
  EXPECT_THROW(before.read(bytes.data(), 1 << 30, 1), Error);
}

TEST_F(Recordings, WithAnObstacleHoldNothingElse) {
  std::vector<std::byte> a(64);
  Recording r;
  r.kernel = "k";
  r.ptx = {"text"};
  r.allocations = {piece("a", a.data(), a.size())};
  Capture(folder_, r).finish("it failed");
  const Recording back = read(folder_);
  EXPECT_EQ(back.obstacle, "it failed");
  EXPECT_TRUE(back.allocations.empty());
  EXPECT_FALSE(fs::exists(folder_ / "before"));
}

TEST_F(Recordings, ThatAreNoneAreRefused) {
  EXPECT_THROW(static_cast<void>(read(folder_)), Error);
  fs::create_directories(folder_);
  for (const char* text : {"", "[]", "{}", "{\"kernel\": 1}"}) {
    std::ofstream(folder_ / "recording.json") << text;
    EXPECT_THROW(static_cast<void>(read(folder_)), Error) << text;
  }
}

TEST_F(Recordings, ThatCannotBeWrittenSayWhy) {
  std::ofstream(folder_.string()) << "a file in the folder's place";
  std::vector<std::byte> a(64);
  Recording r;
  r.allocations = {piece("a", a.data(), a.size())};
  Capture capture(folder_, r);
  fs::remove(folder_);
  capture.finish();
  EXPECT_NE(read(folder_).obstacle, "");
}

/// Describes the kernel k of a module with this body.
Recording described(exec::Memory& memory, std::unique_ptr<exec::Image>& image, const std::string& globals,
                    const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n" + globals +
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .f32 %f<9>;\n.reg .f64 %fd<2>;\n"
      ".reg .b32 %r<9>;\n" +
      body + "ret;\n}\n";
  image =
      std::make_unique<exec::Image>(std::make_shared<const ptx::Module>(ptx::parse(text, "k.ptx")), memory);
  exec::LaunchConfig config;
  config.params.resize(8);
  return describe(*image, image->kernel("k"), config, {text});
}

TEST(Describe, WhatAllStoresHaveInCommon) {
  const auto stores = [](const std::string& body) {
    exec::Memory memory;
    std::unique_ptr<exec::Image> image;
    return described(memory, image, ".shared .u32 tile[4];\n", body).stores;
  };
  EXPECT_EQ(stores("st.global.f32 [%rd1], %f1;\nst.shared.u32 [tile], %r1;\n"), "f32");
  EXPECT_EQ(stores("red.global.add.f64 [%rd1], %fd1;\nst.f64 [%rd1], %fd1;\n"), "f64");
  EXPECT_EQ(stores("st.global.f32 [%rd1], %f1;\nst.global.u32 [%rd1], %r1;\n"), "");
  EXPECT_EQ(stores("st.global.f32 [%rd1], %f1;\nst.global.f64 [%rd1], %fd1;\n"), "");
  EXPECT_EQ(stores("st.global.b32 [%rd1], %f1;\n"), "");
  EXPECT_EQ(stores("add.f32 %f1, %f1, %f1;\n"), "");
}

TEST(Describe, VariablesAndTypes) {
  exec::Memory memory;
  std::unique_ptr<exec::Image> image;
  const Recording r = described(memory, image,
                                ".global .u32 plain[2] = {1, 2};\n.const .f32 table[4];\n"
                                ".global .u64 pointer = plain;\n.shared .u32 tile[4];\n",
                                "add.f32 %f1, %f1, %f1;\n");
  EXPECT_EQ(r.obstacle, "");
  EXPECT_TRUE(r.has_f32);
  EXPECT_FALSE(r.has_f64);
  ASSERT_EQ(r.variables.size(), 3U);
  EXPECT_EQ(r.variables[0].name, "plain");
  EXPECT_EQ(r.variables[0].size, 8U);
  EXPECT_TRUE(r.variables[0].is_initial);
  EXPECT_FALSE(r.variables[0].has_addresses);
  EXPECT_EQ(r.variables[1].size, 16U);
  EXPECT_TRUE(r.variables[2].has_addresses);
  const uint32_t other = 5;
  std::memcpy(reinterpret_cast<void*>(r.variables[0].address), &other, sizeof other);
  exec::LaunchConfig config;
  EXPECT_FALSE(describe(*image, image->kernel("k"), config, {}).variables[0].is_initial);
}

TEST(Describe, WhatAGpuCannotRunFromRecordedMemory) {
  exec::Memory memory;
  std::unique_ptr<exec::Image> image;
  EXPECT_THAT(described(memory, image, ".extern .func (.param .b64 r) malloc (.param .b64 s);\n",
                        "{\n.param .b64 s;\n.param .b64 r;\nst.param.b64 [s], 8;\n"
                        "call.uni (r), malloc, (s);\n}\n")
                  .obstacle,
              HasSubstr("allocates memory"));
  EXPECT_THAT(described(memory, image, "",
                        "ld.param.u64 %rd1, [p];\n"
                        "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];\n")
                  .obstacle,
              HasSubstr("textures"));
}

TEST(Describe, AddressesThatLieElsewhere) {
  exec::Memory memory;
  std::unique_ptr<exec::Image> image;
  Recording r = described(memory, image, ".global .u32 plain[2];\n", "");
  const uint64_t inside = r.variables[0].address + 4;
  std::memcpy(r.parameters.data(), &inside, sizeof inside);
  look_for_addresses(r, {});
  EXPECT_EQ(r.obstacle,
            "its parameters hold an address of the variable plain, which lies elsewhere on the GPU");

  r = described(memory, image, "", "");
  const uint64_t host = 0x7f00'0000'1000;
  std::vector<uint64_t> memory_of_it{1, 2, host + 8};
  r.allocations.push_back(piece("list", memory_of_it.data(), 24));
  const Foreign foreign{"registered host memory", host, 16};
  look_for_addresses(r, {&foreign, 1});
  EXPECT_THAT(r.obstacle, HasSubstr("list holds an address of registered host memory"));
}

}  // namespace
}  // namespace lanescope::replay
