// One kernel made of a PTX body, run on a buffer of words: what tests of the engine's behaviour are written
// with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/launch.hpp"
#include "exec/observer.hpp"

namespace lanescope::exec::harness {

/// One kernel `k(.param .u64 out)` around a body, run on a zeroed buffer of words.
class Program {
 public:
  explicit Program(const std::string& body, const std::string& before = "",
                   const std::string& target = "sm_90a")
      : image_(std::make_shared<ptx::Module>(ptx::parse(text(body, before, target), "test.ptx")), memory_) {}

  LaunchResult run(Dim3 grid, Dim3 block, uint32_t threads = 1, uint32_t words = 1024,
                   bool cooperative = false, Dim3 cluster = {0, 0, 0}) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.threads = threads;
    config.cooperative = cooperative;
    config.cluster = cluster;
    return launch(config, words, [](uint64_t) {});
  }
  /// `prepare` is given the buffer's address before the launch.
  template <class Prepare>
  LaunchResult run_with(Dim3 grid, Dim3 block, uint32_t words, Prepare prepare) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.threads = 1;
    return launch(config, words, prepare);
  }
  /// The same in clusters.
  template <class Prepare>
  LaunchResult run_in_cluster(Dim3 grid, Dim3 block, uint32_t words, Dim3 cluster, Prepare prepare) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    config.threads = 1;
    config.cluster = cluster;
    return launch(config, words, prepare);
  }
  [[nodiscard]] uint32_t word(uint64_t i) const {
    uint32_t value;
    std::memcpy(&value, reinterpret_cast<const void*>(out_ + 4 * i), 4);
    return value;
  }
  [[nodiscard]] uint64_t out() const { return out_; }
  [[nodiscard]] const Kernel& kernel() { return image_.kernel("k"); }
  [[nodiscard]] Memory& memory() { return memory_; }
  std::string printed;
  /// Of the launches to come.
  Checks checks;
  uint32_t stack_bytes = LaunchConfig{}.stack_bytes, stack_limit = LaunchConfig{}.stack_limit;
  std::chrono::milliseconds patience = LaunchConfig{}.patience;
  /// Of all launches: accesses that were counted.
  [[nodiscard]] uint64_t accesses(AccessSpace space) const {
    uint64_t sum = 0;
    for (const auto& [thread, observer] : observers_) sum += observer.accesses[static_cast<size_t>(space)];
    return sum;
  }
  /// Of all launches on the first host thread, in their order.
  struct Bulk {
    BulkAccess access;
    std::vector<BulkAccess::Piece> pieces;
  };
  [[nodiscard]] const std::vector<Bulk>& bulk_accesses() { return observers_[0].bulk; }
  [[nodiscard]] const std::vector<Access>& cluster_accesses() { return observers_[0].cluster; }

 private:
  Memory memory_;
  Image image_;
  struct CountingObserver : Observer {
    std::vector<Bulk> bulk;
    std::vector<Access> cluster;
    void bulk_access(const BulkAccess& a) override {
      bulk.push_back({a, {a.pieces.begin(), a.pieces.end()}});
    }
    std::array<uint64_t, 8> accesses{};
    std::vector<AccessSpace> space_of;
    void access(const Access& a) override {
      space_of.resize(std::max<size_t>(space_of.size(), a.instruction + 1));
      space_of[a.instruction] = a.space;
      ++accesses[static_cast<size_t>(a.space)];
      if (a.space == AccessSpace::cluster) cluster.push_back(a);
    }
    void repeat(uint32_t instruction, uint64_t times) override {
      accesses[static_cast<size_t>(space_of[instruction])] += times;
    }
  };
  std::mutex mutex_;
  std::map<uint32_t, CountingObserver> observers_;  ///< by host thread
  uint64_t out_ = 0;

  template <class Prepare>
  LaunchResult launch(LaunchConfig& config, uint32_t words, Prepare prepare) {
    if (out_ != 0) memory_.release(out_);
    out_ = memory_.allocate(uint64_t{words} * 4, "out");
    prepare(out_);
    config.checks = checks;
    config.stack_bytes = stack_bytes;
    config.stack_limit = stack_limit;
    config.patience = patience;
    config.params.resize(8);
    std::memcpy(config.params.data(), &out_, 8);
    config.print = [this](const std::string& text) { printed += text; };
    config.observer = [this](uint32_t thread) {
      const std::lock_guard lock(mutex_);
      return &observers_[thread];
    };
    return image_.launch(image_.kernel("k"), config);
  }

  static std::string text(const std::string& body, const std::string& before, const std::string& target) {
    return ".version 9.0\n.target " + target + "\n.address_size 64\n" + before +
           ".visible .entry k(.param .u64 out)\n{\n"
           ".reg .pred %p<10>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<20>;\n.reg .f32 %f<10>;\n"
           "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
           "mad.lo.u32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\n" +
           body + "\nret;\n}\n";
  }
};

/// Takes 64 bytes from the heap, writes %r4 there, and gives them back; behind the declarations of what is
/// called.
inline const std::string use_heap =
    "{\n.param .b64 size;\n.param .b64 taken;\nst.param.b64 [size], 64;\ncall (taken), malloc, (size);\n"
    "ld.param.b64 %rd5, [taken];\n}\nst.u32 [%rd5], %r4;\n{\n.param .b64 given;\nst.param.b64 [given], "
    "%rd5;\n"
    "call free, (given);\n}\n";
inline const std::string heap_functions =
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n";

/// The one finding that there is; of another kind: none, or several.
inline Finding only(const std::vector<Finding>& found) {
  EXPECT_EQ(found.size(), 1u);
  return found.size() == 1 ? found[0] : Finding{};
}

inline const Finding& only(const LaunchResult& result) {
  EXPECT_EQ(result.findings.size(), 1u);
  EXPECT_TRUE(result.failed);
  static const Finding none{};
  return result.findings.empty() ? none : result.findings.front();
}

}  // namespace lanescope::exec::harness
