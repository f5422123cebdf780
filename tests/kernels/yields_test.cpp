// What lanes do behind loops in which they try again or wait for others: requests of global memory beside the
// counters of an NVIDIA H100 (driver 580, nvcc 13.0; l1tex__t_requests_pipe_lsu_mem_global_op_ld and _st, 25
// and 27 November 2026, the same in each of two runs).
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/engine.hpp"

namespace lanescope::kernels {
namespace {

struct AtLoops {
  const char* kernel;
  bool words;  ///< whether the first words of x are other than 0
  uint64_t loads, stores;
};

struct AtCalls {
  const char* kernel;
  uint64_t loads, stores;
};

constexpr AtLoops at_loops[] = {
    {"atomic_in_for", true, 0, 2},
    {"red_in_for", true, 0, 2},
    {"exit_by_add", true, 0, 4},
    {"exit_by_volatile", true, 2, 2},
    {"cas_loop", true, 2, 63},
    {"cas_shared", true, 0, 63},
    {"volatile_in_for", true, 8, 12},
    {"max_with_check", true, 4, 19},
    {"hash_insert", true, 2, 2},
    {"hash_insert_for", true, 2, 2},
    {"worklist", true, 1, 3},
    {"cas_then_if", true, 34, 128},
    {"if_cas", true, 4, 33},
    {"cas_own_words", true, 2, 2},
    {"cas_warp_words", true, 0, 16},
    {"sleep_lock", true, 64, 128},
    {"sleep_flag", true, 3, 4},
    {"cas_sync", true, 2, 2},
    {"cas_barrier", true, 2, 4},
    {"shared_float_max", true, 2, 4},
    {"cas_in_for_const", true, 317, 63},
    {"cas_then_barrier_if", false, 2, 4},
    {"cas_then_shuffle", false, 2, 4},
    {"if_cas_barrier", false, 4, 44},
    {"ifs_cas_barrier", false, 23, 71},
    {"for_cas_barrier", false, 8, 18},
    {"for_barrier_cas", false, 8, 320},
    {"for_if_cas_sync", false, 16, 164},
    {"if_sleep", false, 2, 8},
    {"for_sleep", false, 0, 32},
    {"if_sleep_if", false, 4, 10},
    {"cas_then_ways", false, 101, 352},
    {"read_until", false, 0, 6},
    {"lock_or_sleep", false, 64, 192},
    {"hash_put", false, 2, 28},
    {"union_find", false, 2, 15},
    {"look_sync", false, 1, 3},
    {"shared_cas_barrier", false, 2, 4},
    {"histogram_barrier", false, 23, 2},
    {"histogram_cas", false, 22, 52},
    {"look_or_break", false, 2, 4},
    {"float_max", false, 25, 28},
    {"first_waits_barrier", false, 0, 5},
    {"first_waits", false, 0, 6},
    {"add_then_if", false, 8, 10},
    {"look_counts", false, 30, 16},
    {"add_until", false, 2, 24},
    {"odd_lock", false, 32, 66},
    {"all_lock", false, 64, 128},
    {"done_lock", false, 64, 128},
    {"sh_done", false, 64, 128},
    {"sh_break", false, 64, 128},
    {"gl_break", false, 64, 128},
    {"gl_nofence", false, 64, 128},
    {"odd_done", false, 32, 66},
    {"many_locks", false, 2, 4},
    {"few_locks", false, 4, 8},
    {"few_done", false, 4, 8},
    {"elect", false, 2, 6},
    {"elect_sync", false, 2, 4},
    {"odd_lock2", false, 32, 100},
    {"flag_wait", false, 3, 5},
    {"cas_max", false, 2, 64},
};

/// What is counted here where it differs. Warps whose lanes change one word make each other try again, which
/// depends on when each does (the first five, float_max); flag_wait's lane looks twice on the GPU; in
/// volatile_in_for lanes meet that do not there; the others meet before a barrier, where in its block the
/// assembler's order of instructions decides.
using LoadsAndStores = std::pair<uint64_t, uint64_t>;
const std::map<std::string, LoadsAndStores> counted_otherwise{
    {"max_with_check", {4, 7}},     {"cas_in_for_const", {316, 62}},  {"union_find", {2, 10}},
    {"histogram_barrier", {17, 2}}, {"histogram_cas", {17, 32}},      {"float_max", {18, 30}},
    {"flag_wait", {2, 5}},          {"if_cas_barrier", {4, 33}},      {"ifs_cas_barrier", {33, 79}},
    {"for_if_cas_sync", {16, 244}}, {"cas_then_barrier_if", {2, 66}}, {"volatile_in_for", {8, 11}},
};

constexpr AtCalls at_calls[] = {
    {"try_then", 128, 128},
    {"try_count", 128, 128},
    {"flag_then", 4, 6},
    {"flag_if", 6, 8},
    {"lock_then", 128, 128},
    {"add_then", 128, 128},
    {"add_in_if", 66, 66},
    {"nested_then", 128, 128},
    {"tried_then", 128, 128},
    {"wait_then", 4, 4},
    {"indirect", 130, 128},
    {"worklist", 83, 13},
    {"worklist_for", 13, 13},
    {"counted", 8, 8},
    {"done_then", 128, 128},
    {"shared_lock", 128, 128},
    {"add_barrier", 66, 66},
    {"add_loop", 512, 512},
    {"try_loop", 512, 512},
    {"once", 2, 3},
    {"add_in_for", 146, 146},
    {"work_in_if", 6, 6},
    {"lock_in_if", 98, 98},
    {"add_shuffle", 128, 66},
    {"red_in_if", 4, 4},
    {"raise_in_if", 2, 4},
    {"fence_in_if", 2, 4},
    {"nested_in_if", 4, 6},
    {"sleep_in_if", 6, 4},
    {"sleep_if_in_if", 6, 4},
    {"load_in_if", 4, 2},
    {"some_in_if", 6, 5},
    {"loop_in_if", 2, 2},
    {"loop_plain", 2, 2},
    {"sub_plain", 2, 2},
    {"sub_twice", 2, 2},
    {"recursive", 8, 8},
    {"lock_sleep", 128, 128},
    {"if_then_barrier", 6, 4},
    {"if_then_sync", 6, 6},
    {"if_then_call_sync", 10, 8},
    {"if_then_vote", 10, 8},
    {"if_else", 6, 6},
    {"if_in_loop", 24, 24},
    {"loop_uniform", 4, 2},
    {"if_uniform", 4, 2},
    {"if_block", 2, 2},
    {"after_return", 2, 2},
    {"if_then_red", 2, 4},
    {"shared_in_if", 4, 6},
    {"switch_calls", 10, 8},
};

/// What is counted here where it differs. The assembler puts the gathering before a barrier between the
/// accesses of its block (if_then_barrier, shared_in_if); lanes that part in a function return one after
/// another, and go on so, if nobody waits for them in the caller (some_in_if, if_else); in if_in_loop those
/// of several iterations meet in the function.
const std::map<std::string, LoadsAndStores> counted_otherwise_at_calls{
    {"some_in_if", {5, 4}},   {"if_then_barrier", {4, 4}}, {"if_else", {4, 4}},
    {"if_in_loop", {28, 28}}, {"shared_in_if", {2, 6}},
};

void expect_requests(Program& program, const char* kernel, const std::vector<Argument>& arguments,
                     LoadsAndStores measured, const std::map<std::string, LoadsAndStores>& otherwise) {
  const Case c{"yields", kernel, "", {1}, {64}, 0, arguments, {}};
  const Outcome run = run_kernel(program, c, &sm_90(), 1, profile::RecordBlocks::none, {}, true);
  const profile::Totals totals = profile::totals(run.profile);
  const auto other = otherwise.find(kernel);
  EXPECT_EQ(LoadsAndStores(totals.global_load.requests, totals.global_store.requests),
            other == otherwise.end() ? measured : other->second)
      << kernel;
}

TEST(Yields, LetLanesGoOnAsOnAnH100) {
  std::vector<int32_t> words(8192), none(8192), p(4096), o(8192);
  uint32_t random = 3;
  for (int32_t& value : p) {
    random = random * 1664525u + 1013904223u;
    value = static_cast<int32_t>(random >> 26);
  }
  for (int32_t i = 0; i < 64; ++i) {
    words[static_cast<size_t>(i)] = none[static_cast<size_t>(i) + 200] = i * 5 % 64 + 1;
    o[static_cast<size_t>(i) + 64] = i;
  }
  Program program("tests/data/kernels/yields.ptx");
  for (const AtLoops& m : at_loops) {
    expect_requests(program, m.kernel,
                    {recorded(Bytes(16384)), recorded(bytes_of(m.words ? words : none)),
                     recorded(bytes_of(o)), input(p), scalar(4)},
                    {m.loads, m.stores}, counted_otherwise);
  }
}

TEST(Yields, OfFunctionsLetLanesGoOnAsOnAnH100) {
  Program program("tests/data/kernels/yield_calls.ptx");
  for (const AtCalls& m : at_calls) {
    expect_requests(program, m.kernel,
                    {recorded(Bytes(16)), input(std::vector<int32_t>(4096)), recorded(Bytes(16384))},
                    {m.loads, m.stores}, counted_otherwise_at_calls);
  }
}

int fibonacci(int n, int& calls) {
  ++calls;
  return n < 2 ? n : fibonacci(n - 1, calls) + fibonacci(n - 2, calls);
}

TEST(Yields, OfRecursiveFunctionsLeaveCallersWhatTheyHad) {
  constexpr int threads = 256;
  std::vector<int32_t> results, state{0, 0, 0};  // calls, the lock, what it guards
  for (int t = 0; t < threads; ++t) {
    int result = fibonacci(t % 9, state[0]);
    const int n = t % 6;
    if (t % 2 == 1) {
      result += 1000 * (t % 4);
      state[2] += t % 4 + 1;
    } else if (t % 5 == 0) {
      result += 1000 * fibonacci(t % 3, state[0]);
    }
    if (t % 3 == 0) {
      result += 100000 * fibonacci(n, state[0]);
    } else {
      result += n % 2 == t % 3 % 2 ? 100000 : 0;  // is it odd, is it even
      state[0] += n + 1;
    }
    results.push_back(result);
  }
  Program program("tests/data/kernels/recursion.ptx");
  const Case c{
      "recursion", "recursion", "", {1}, {threads}, 0, {recorded(Bytes(12)), recorded(Bytes(4 * threads))},
      {}};
  const Outcome run = run_kernel(program, c, &sm_90(), 1);
  EXPECT_EQ(run.buffers.at(0), bytes_of(state));
  EXPECT_EQ(run.buffers.at(1), bytes_of(results));
}

}  // namespace
}  // namespace lanescope::kernels
