// See findings.hpp.
#include "report/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "exec/program.hpp"

namespace lanescope::report {
namespace {

using exec::AccessKind;

const char* verb(AccessKind kind, bool bulk = false) {
  switch (kind) {
    case AccessKind::load:
    case AccessKind::load_matrix: return bulk ? "copies from" : "reads";
    case AccessKind::group_product: return "reads by wgmma";
    case AccessKind::tensor_product: return "reads by tcgen05";
    case AccessKind::store:
    case AccessKind::store_matrix:
    case AccessKind::async_store: return "writes";
    case AccessKind::async_copy:
    case AccessKind::async_copy_cg: return "copies to";
    case AccessKind::atomic:
    case AccessKind::compare_and_swap:
    case AccessKind::update_loop:
    case AccessKind::bulk_load:  // bulk copies are checked as the kinds above
    case AccessKind::bulk_store:
    case AccessKind::bulk_reduction: break;
  }
  return "atomically changes";
}

/// "line 7", with the file when it is another one than the reader is looking at.
std::string at_line(const Finding& finding, const std::string& file, uint32_t line) {
  return file == finding.file ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

/// What would have ordered the two accesses.
std::string remedy(const Finding& finding, const exec::Finding& found) {
  if (found.lack == exec::Finding::Lack::proxy_fence)
    return fmt::format("no fence.proxy.async stands between what a thread itself writes and {}",
                       found.access == AccessKind::group_product    ? "wgmma"
                       : found.access == AccessKind::tensor_product ? "tcgen05"
                                                                    : "the copy");
  if (found.lack == exec::Finding::Lack::order_of_blocks)
    return "nothing orders blocks: that takes atomic operations, a flag behind a __threadfence(), "
           "grid.sync(), or another launch";
  if (found.lack == exec::Finding::Lack::device_fence)
    return "a flag orders the two blocks, but no __threadfence() stands before it is set";
  if (found.other_access == AccessKind::group_product)
    return "neither a barrier before the product nor a wgmma.wait_group after it orders the two";
  if (found.access == AccessKind::tensor_product || found.other_access == AccessKind::tensor_product)
    return "neither a wait before tcgen05 reads nor one for the mbarrier of a tcgen05.commit after it orders "
           "the two";
  if (found.bulk || found.other_bulk)
    return "neither a wait for the copy nor a barrier before it orders the two";
  if (found.other_block != exec::Finding::same_block)
    return "nothing orders the two: that takes cluster.sync(), or an mbarrier";
  if (exec::is_copy(found.other_access))
    return found.thread == found.other_thread ? "the thread has not waited for its copy"
                                              : "the other thread has not waited for its copy, or nothing "
                                                "orders this access after that wait";
  const char* barrier = finding.of_lanes ? "__syncwarp()" : "__syncthreads()";
  if (finding.is_update)
    return fmt::format(
        "several threads change it at this line: at once, that takes an atomic operation, or a lock with "
        "fences; one after the other, a {} in between",
        barrier);
  if (found.instruction == found.other_instruction)
    return fmt::format("no {} stands between the two", barrier);
  if (finding.other_file == finding.file && finding.other_line == finding.line)
    return fmt::format("no {} stands between the two accesses of this line", barrier);
  // Of two unordered threads either may be first; what counts is the way of one thread from one access to the
  // other.
  const std::string here = at_line(finding, finding.file, finding.line),
                    there = at_line(finding, finding.other_file, finding.other_line);
  const bool later = finding.other_file == finding.file && finding.other_line > finding.line;
  if (found.after_other)
    return fmt::format("no {} stands between {} and {}{}", barrier, there, here,
                       later ? " of the next round" : "");
  return fmt::format("no {} stands between {} and {}", barrier, later ? here : there, later ? there : here);
}

/// Two lanes of one warp, both executing one instruction: the same execution of it may be meant.
bool can_be_one_store(const exec::Finding& found) {
  return found.instruction == found.other_instruction && found.access == AccessKind::store &&
         found.in_one_warp();
}

/// An access to memory of a block that is not there yet, or may be there no longer.
std::string outliving_in_words(const Finding& finding, const exec::Finding& found) {
  using Lack = exec::Finding::Lack;
  const std::string access =
      fmt::format("thread {} {} {}", str(finding.thread), verb(found.access, found.bulk), found.message);
  switch (found.lack) {
    case Lack::beginning:
      return access + ", which may not have begun: cluster.sync() belongs before the first such access";
    case Lack::end:
      return access + ", which may have ended: nothing orders this access before the end of that block";
    default:
      return access + (found.access == AccessKind::group_product
                           ? ", and no wgmma.wait_group follows before the block ends"
                       : found.access == AccessKind::tensor_product
                           ? ", and nobody waits for a tcgen05.commit of it before the block ends"
                           : ", and nobody waits for the copy before the block ends");
  }
}

std::string race_in_words(const Finding& finding, const exec::Finding& found) {
  using Excuse = exec::Finding::Excuse;
  if (found.lack >= exec::Finding::Lack::beginning) return outliving_in_words(finding, found);
  const bool one_block = found.other_block == exec::Finding::same_block;
  const std::string thread = str(finding.thread),
                    other = str(finding.other_thread) +
                            (one_block ? "" : " of block " + str(finding.other_block));
  if (found.excuse == Excuse::same_value)
    return fmt::format(
        "threads {} and {} write the same value to {}{}, in no order: which one writes last does "
        "not matter",
        thread, other, found.message,
        found.instruction == found.other_instruction
            ? ""
            : fmt::format(" (the other at {})", at_line(finding, finding.other_file, finding.other_line)));
  if (can_be_one_store(found))
    return fmt::format(
        "threads {} and {}, lanes of one warp, write different values to {}: which stays is "
        "undefined",
        thread, other, found.message);
  std::string text =
      fmt::format("thread {} {} {}, which thread {} {} at {}", thread, verb(found.access, found.bulk),
                  found.message, other, verb(found.other_access, found.other_bulk),
                  at_line(finding, finding.other_file, finding.other_line));
  if (found.excuse == Excuse::guess)
    return text +
           ", in no order: a compare-and-swap expects the value that is read, and fails where it is stale";
  if (found.excuse == Excuse::stale) return text + ", in no order: the value that is read may be an old one";
  text += "; " + remedy(finding, found);
  if (found.excuse == Excuse::met)
    text +=
        " (the lanes meet in between at a shuffle, vote, match or reduction; by the PTX ISA that orders no "
        "memory, though it is often counted on)";
  if (found.excuse == Excuse::in_step)
    text += " (both accesses are volatile, which orders nothing since compute capability 7.0)";
  if (found.excuse == Excuse::polling)
    text +=
        " (both accesses are volatile: right for a flag that says nothing of other memory, else a fence is "
        "missing "
        "on both sides)";
  return text;
}

std::string uninitialised_in_words(const Finding& finding, const exec::Finding& found) {
  std::string text = fmt::format("{} {}", verb(found.access), found.message);
  if (finding.has_other)
    text += fmt::format("; thread {} {} there later, at {}", str(finding.other_thread),
                        verb(found.other_access), at_line(finding, finding.other_file, finding.other_line));
  return text;
}

/// What depends on what was read, where that is at another line.
std::string use_in_words(const Finding& finding, const profile::NamedPlace& use) {
  return use.file == finding.file && use.line == finding.line
             ? ""
             : fmt::format("; {} depends on it", at_line(finding, use.file, use.line));
}

std::string with_other(std::string text, const std::string& place) {
  constexpr std::string_view mark = "{other}";
  if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), place);
  return text;
}

/// Stores by which several threads write one place (instructions), in no order.
std::set<uint32_t> contended_stores(const std::vector<exec::Finding>& all) {
  std::set<uint32_t> stores;
  for (const exec::Finding& found : all)
    if (found.kind == exec::Finding::Kind::race && found.instruction == found.other_instruction &&
        found.access == AccessKind::store)
      stores.insert(found.instruction);
  return stores;
}

/// Whether a race may be that of bins[i]++ without an atomic operation: several threads read and write one
/// place at one line. So do those of a scan's or a sort's rounds that no barrier parts.
bool is_update(const Finding& finding, const exec::Finding& found, const std::set<uint32_t>& contended) {
  const bool stores = found.access == AccessKind::store,
             other_stores = found.other_access == AccessKind::store;
  const bool reads = found.access == AccessKind::load || found.other_access == AccessKind::load;
  return reads && stores != other_stores &&
         contended.count(stores ? found.instruction : found.other_instruction) != 0 &&
         finding.other_line == finding.line && finding.other_file == finding.file;
}

Finding make_finding(const ptx::Module& module, const exec::Kernel& kernel, const exec::LaunchConfig& config,
                     const exec::Finding& found, const std::set<uint32_t>& contended) {
  Finding finding;
  finding.kind = exec::name_of(found.kind);
  finding.severity = found.severity;
  finding.kernel = kernel.display_name;
  if (found.instruction < kernel.origins.size()) {
    const profile::NamedPlace place = profile::named_place(module, kernel, found.instruction);
    finding.file = place.file;
    finding.line = place.line;
  }
  finding.block = coordinates(found.block, config.grid);
  finding.thread = coordinates(found.thread, config.block);
  finding.address = found.address;
  finding.width = found.width;
  finding.count = found.count;
  finding.lack = found.lack;
  finding.of_lanes = found.in_one_warp();
  finding.has_other = found.other_instruction < kernel.origins.size();
  if (finding.has_other) {
    const profile::NamedPlace place = profile::named_place(module, kernel, found.other_instruction);
    finding.other_file = place.file;
    finding.other_line = place.line;
    finding.other_thread = coordinates(found.other_thread, config.block);
    finding.other_block = found.other_block == exec::Finding::same_block
                              ? finding.block
                              : coordinates(found.other_block, config.grid);
  }
  finding.is_update = is_update(finding, found, contended);
  switch (found.kind) {
    case exec::Finding::Kind::race: finding.message = race_in_words(finding, found); break;
    case exec::Finding::Kind::array_overrun:
      finding.message = fmt::format("{} {}", verb(found.access), found.message);
      break;
    case exec::Finding::Kind::uninitialised_read:
      finding.message = uninitialised_in_words(finding, found);
      break;
    default:
      finding.message = with_other(found.message, at_line(finding, finding.other_file, finding.other_line));
  }
  if (found.use < kernel.origins.size())
    finding.message += use_in_words(finding, profile::named_place(module, kernel, found.use));
  return finding;
}

/// Whether it is of a kind that ends kernels (a warning of such a kind ends none).
bool may_end_kernel(const Finding& finding) {
  exec::Finding of_kind;
  for (uint8_t kind = 0;; ++kind) {
    of_kind.kind = static_cast<exec::Finding::Kind>(kind);
    if (!of_kind.ends_kernel()) return false;
    if (finding.kind == exec::name_of(of_kind.kind)) return true;
  }
}

/// Without addresses, distances and sizes; numbers that name memory (#1) stay.
std::string without_numbers(const std::string& text) {
  std::istringstream words(text);
  std::string rest;
  for (std::string word; words >> word;)
    if (word.front() < '0' || word.front() > '9') rest += word + ' ';
  return rest;
}

/// Whether a reader takes both for one: the same kind at the same place, of races in whichever order.
bool are_alike(const Finding& a, const Finding& b) {
  using Place = std::pair<std::string_view, uint32_t>;
  const auto places = [](const Finding& f) {
    const Place here{f.file, f.line}, there{f.other_file, f.other_line};
    return f.kind == exec::name_of(exec::Finding::Kind::race) && there < here ? std::pair(there, here)
                                                                              : std::pair(here, there);
  };
  return a.kind == b.kind && a.lack == b.lack && places(a) == places(b);
}

/// What shows the first occurrence of what ends a kernel.
auto first_of(const Finding& f) {
  return std::tuple(f.block.z, f.block.y, f.block.x, f.thread.z, f.thread.y, f.thread.x, f.address);
}

/// Of races of one line, what mends all of them is to be said: a barrier of the block rather than one of the
/// warp, and that it may take an atomic operation.
int usefulness(const Finding& f) { return (f.of_lanes ? 0 : 2) + (f.is_update ? 1 : 0); }

}  // namespace

void add_finding(std::vector<Finding>& findings, Finding finding) {
  const auto known = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) {
    return are_alike(other, finding) &&
           (!may_end_kernel(finding) || without_numbers(other.message) == without_numbers(finding.message));
  });
  if (known == findings.end()) {
    findings.push_back(std::move(finding));
  } else if (known->severity == finding.severity) {
    const uint64_t all = known->count + finding.count;
    // Compilers unroll loops: of one line, lanes of a warp may race here and warps there.
    const bool says_more = may_end_kernel(finding) ? first_of(finding) < first_of(*known)
                                                   : usefulness(finding) > usefulness(*known);
    if (says_more) *known = std::move(finding);
    known->count = all;
  } else if (finding.severity < known->severity) {
    *known = std::move(finding);
  }
}

std::vector<Finding> make_findings(const ptx::Module& module, const exec::Kernel& kernel,
                                   const exec::LaunchConfig& config, const exec::LaunchResult& result) {
  std::vector<Finding> findings;
  const std::set<uint32_t> contended = contended_stores(result.findings);
  for (const exec::Finding& found : result.findings)
    add_finding(findings, make_finding(module, kernel, config, found, contended));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
  return findings;
}

}  // namespace lanescope::report
