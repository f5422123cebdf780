// See kernels.hpp. How the text comes to be: a frame common to all kernels (clear the shared memory, loop
// over rounds, patterns and two passes, of which the second, with instructions cached, is kept) around the
// body of one repeated access. All memory is zero, which the assembler cannot know: adding what was loaded to
// the address makes a chain without moving it, and adding it to the loop's counter keeps the clock behind the
// chain. Accesses are volatile, or the assembler would leave repeated ones out.
#include "probe/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace lanescope::probe {
namespace {

using model::Op;
using Space = Access::Space;

constexpr int unrolled = 16;
/// Bytes from one copy's destination, and source, to the next one's: whole rounds of the banks.
constexpr int copy_step = 1024;
static_assert(unrolled * copy_step == static_cast<int>(shared_bytes - copy_bytes));

/// The lowest target that has the instruction, so that the driver of every chip that has it takes the text.
std::string_view header(const Access& access) {
  switch (access.op) {
    case Op::ldmatrix: return ".version 6.5\n.target sm_75\n";
    case Op::cp_async:
    case Op::cp_async_cg: return ".version 7.0\n.target sm_80\n";
    case Op::stmatrix: return ".version 7.8\n.target sm_90\n";
    default: return ".version 6.0\n.target sm_30\n";
  }
}

/// "{%v0, %v1}", or "%v0" for one.
std::string registers(int count) {
  if (count == 1) return "%v0";
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += fmt::format("{}%v{}", i == 0 ? "" : ", ", i);
  return list + "}";
}

std::string_view type_of(int width) { return width == 1 ? ".u8" : width == 2 ? ".u16" : ".u32"; }
std::string_view vector_of(int width) { return width == 16 ? ".v4" : width == 8 ? ".v2" : ""; }

/// Adds the loaded values (zeros) to the address.
std::string advance(int values) {
  std::string text;
  for (int i = 0; i < values; ++i) text += fmt::format("  add.u32 %at, %at, %v{};\n", i);
  return text;
}

/// Link `index` of the chain. %at: the lane's address, %here: whether it takes part, %own: a word of its own,
/// %zero: a zero that the assembler does not see through.
std::string link(const Access& access, int index) {
  const int width = access.width;
  const int values = std::max(1, width / 4);
  // The next store starts when the load behind this one has come back.
  const std::string wait = "  ld.volatile.shared.u32 %v0, [%own];\n  add.u32 %at, %at, %v0;\n";
  switch (access.op) {
    case Op::load:
      return fmt::format("  @%here ld.volatile.shared{}{} {}, [%at];\n", vector_of(width), type_of(width),
                         registers(values)) +
             advance(values);
    case Op::store:
      return fmt::format("  @%here st.volatile.shared{}{} [%at], {};\n", vector_of(width), type_of(width),
                         values == 1   ? "%zero"
                         : values == 2 ? "{%zero, %zero}"
                                       : "{%zero, %zero, %zero, %zero}") +
             wait;
    case Op::compare_and_swap:  // not among all_accesses(), nor the next one
    case Op::update_loop:
    case Op::atomic: return "  @%here atom.shared.add.u32 %v0, [%at], %zero;\n" + advance(1);
    case Op::cp_async:
    case Op::cp_async_cg:
      // Copies on their way from one place to one place would be served as one.
      return fmt::format("  @%here cp.async.{}.shared.global [%at+{}], [%global+{}], {};\n",
                         access.op == Op::cp_async ? "ca" : "cg", index * copy_step, index * copy_step,
                         width);
    case Op::ldmatrix:
      return fmt::format("  ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {}, [%at];\n", access.matrices,
                         access.matrices == 1 ? "{%v0}" : registers(access.matrices)) +
             advance(access.matrices);
    case Op::stmatrix:
      return fmt::format("  stmatrix.sync.aligned.m8n8.x{}.shared.b16 [%at], {};\n", access.matrices,
                         access.matrices == 1   ? "{%zero}"
                         : access.matrices == 2 ? "{%zero, %zero}"
                                                : "{%zero, %zero, %zero, %zero}") +
             wait;
  }
  return "";
}

constexpr std::string_view parameters_ptx =
    ".visible .entry probe(\n"
    "    .param .u64 table, .param .u64 results, .param .u32 patterns, .param .u32 rounds,\n"
    "    .param .u64 memory)\n"
    "{\n"
    "  .reg .u32 %lane, %at, %own, %zero, %count, %pass, %pattern, %patterns, %round, %rounds, %v<4>;\n"
    "  .reg .u64 %table, %rows, %row, %results, %memory, %global, %wide, %start, %stop;\n"
    "  .reg .pred %here, %again;\n"
    "  mov.u32 %lane, %tid.x;\n"
    "  ld.param.u64 %table, [table];\n"
    "  cvta.to.global.u64 %table, %table;\n"
    "  ld.param.u64 %results, [results];\n"
    "  cvta.to.global.u64 %results, %results;\n"
    "  ld.param.u64 %memory, [memory];\n"
    "  cvta.to.global.u64 %memory, %memory;\n"
    "  ld.param.u32 %patterns, [patterns];\n"
    "  ld.param.u32 %rounds, [rounds];\n";

/// The loops around `measured`, in whose front `prepare` reads the pattern's row and before each pass of
/// which `enter` sets the addresses. Every lane stores the same cycles to the same place.
std::string frame(std::string_view prepare, std::string_view enter, std::string_view measured) {
  return fmt::format(
      "  mov.u32 %round, 0;\n"
      "ROUND:\n"
      "  mov.u64 %row, %rows;\n"
      "  mov.u32 %pattern, 0;\n"
      "PATTERN:\n"
      "{}"
      "  mov.u32 %pass, 0;\n"
      "PASS:\n"
      "{}"
      "  mov.u64 %start, %clock64;\n"
      "{}"
      "  mov.u64 %stop, %clock64;\n"
      "  sub.u64 %stop, %stop, %start;\n"
      "  st.global.u64 [%results], %stop;\n"
      "  add.u32 %pass, %pass, 1;\n"
      "  setp.lt.u32 %again, %pass, 2;\n"
      "  @%again bra PASS;\n"
      "  add.u64 %results, %results, 8;\n"
      "  add.u32 %pattern, %pattern, 1;\n"
      "  setp.lt.u32 %again, %pattern, %patterns;\n"
      "  @%again bra PATTERN;\n"
      "  add.u32 %round, %round, 1;\n"
      "  setp.lt.u32 %again, %round, %rounds;\n"
      "  @%again bra ROUND;\n"
      "  ret;\n"
      "}}\n",
      prepare, enter, measured);
}

std::string chain_ptx(const Access& access) {
  const std::string clear = fmt::format(
      "  mov.u32 %own, data;\n"
      "  mad.lo.u32 %own, %lane, 4, %own;\n"
      "  mov.u32 %count, 0;\n"
      "  mov.u32 %zero, 0;\n"
      "  mov.u32 %at, %own;\n"
      "CLEAR:\n"
      "  st.volatile.shared.u32 [%at], %zero;\n"
      "  add.u32 %at, %at, 128;\n"
      "  add.u32 %count, %count, 128;\n"
      "  setp.lt.u32 %again, %count, {};\n"
      "  @%again bra CLEAR;\n"
      "  ld.volatile.shared.u32 %zero, [%own];\n"
      "  mov.u32 %v0, 0;\n  mov.u32 %v1, 0;\n  mov.u32 %v2, 0;\n  mov.u32 %v3, 0;\n"
      "  mul.wide.u32 %rows, %lane, 4;\n"
      "  add.u64 %rows, %rows, %table;\n",
      shared_bytes);
  // Inactive lanes keep the address of the memory's beginning and never use it.
  const std::string prepare = fmt::format(
      "  ld.global.u32 %v0, [%row];\n"
      "  add.u64 %row, %row, 128;\n"
      "  setp.ne.u32 %here, %v0, {};\n"
      "  selp.u32 %v0, %v0, 0, %here;\n"
      "  mov.u32 %at, data;\n"
      "  add.u32 %at, %at, %v0;\n"
      "  mov.u32 %v0, 0;\n",
      inactive);
  // Copies read 16 bytes a lane, side by side.
  const std::string source =
      is_copy(access.op) ? "  mul.wide.u32 %global, %lane, 16;\n  add.u64 %global, %global, %memory;\n" : "";
  std::string links;
  for (int i = 0; i < unrolled; ++i) links += link(access, i);
  const std::string loop = fmt::format(
      "  mov.u32 %count, 0;\n"
      "LOOP:\n"
      "{}{}"
      "  add.u32 %count, %count, %v0;\n"
      "  add.u32 %count, %count, {};\n"
      "  setp.lt.u32 %again, %count, {};\n"
      "  @%again bra LOOP;\n",
      links, is_copy(access.op) ? "  cp.async.wait_all;\n" : "", unrolled, chain_length);
  return fmt::format("{}.address_size 64\n{}  .shared .align 1024 .b8 data[{}];\n{}{}", header(access),
                     parameters_ptx, shared_bytes, clear, frame(prepare, source, loop));
}

std::string fill_ptx() {
  const std::string start = "  mov.u64 %rows, %table;\n  .reg .u64 %step, %second;\n";
  const std::string prepare =
      "  ld.global.u32 %v0, [%row];\n"
      "  ld.global.u32 %v1, [%row+4];\n"
      "  add.u64 %row, %row, 8;\n";
  const std::string enter =
      "  cvt.u64.u32 %global, %v0;\n"
      "  add.u64 %global, %global, %memory;\n"
      "  cvt.u64.u32 %second, %v1;\n"
      "  sub.u64 %second, %second, %global;\n"
      "  add.u64 %second, %second, %memory;\n";
  const std::string loop = fmt::format(
      "  mov.u32 %count, 0;\n"
      "LOOP:\n"
      "  ld.global.ca.u8 %v2, [%global];\n"
      "  cvt.u64.u32 %wide, %v2;\n"
      "  add.u64 %global, %global, %wide;\n"
      "  add.u64 %step, %global, %second;\n"
      "  ld.global.ca.u8 %v3, [%step];\n"
      "  cvt.u64.u32 %wide, %v3;\n"
      "  add.u64 %global, %global, %wide;\n"
      "  add.u64 %global, %global, {};\n"
      "  add.u32 %count, %count, %v3;\n"
      "  add.u32 %count, %count, 1;\n"
      "  setp.lt.u32 %again, %count, {};\n"
      "  @%again bra LOOP;\n",
      global_stride, global_steps);
  return fmt::format(".version 6.0\n.target sm_30\n.address_size 64\n{}{}{}", parameters_ptx, start,
                     frame(prepare, enter, loop));
}

}  // namespace

std::string name_of(const Access& access) {
  if (access.space == Space::global) return "ld.global";
  switch (access.op) {
    case Op::load: return fmt::format("ld.shared {}", access.width);
    case Op::store: return fmt::format("st.shared {}", access.width);
    case Op::compare_and_swap:
    case Op::update_loop:
    case Op::atomic: return fmt::format("atom.shared {}", access.width);
    case Op::cp_async:
    case Op::cp_async_cg: return fmt::format("cp.async {}", access.width);
    case Op::ldmatrix: return fmt::format("ldmatrix x{}", access.matrices);
    case Op::stmatrix: return fmt::format("stmatrix x{}", access.matrices);
  }
  return "";
}

const std::vector<Access>& all_accesses() {
  static const std::vector<Access> all = [] {
    std::vector<Access> list = {{Space::global, Op::load, 1, 1},
                                {Space::shared, Op::atomic, 4, 1},
                                {Space::shared, Op::cp_async, 4, 1},
                                {Space::shared, Op::cp_async, 8, 1}};
    for (const int width : {1, 2, 4, 8, 16})
      for (const Op op : {Op::load, Op::store}) list.push_back({Space::shared, op, width, 1});
    for (const int matrices : {1, 2, 4})
      for (const Op op : {Op::ldmatrix, Op::stmatrix}) list.push_back({Space::shared, op, 16, matrices});
    return list;
  }();
  return all;
}

std::string ptx_of(const Access& access) {
  return access.space == Space::global ? fill_ptx() : chain_ptx(access);
}

}  // namespace lanescope::probe
