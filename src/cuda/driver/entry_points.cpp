// The driver's functions by name and version of CUDA: for programs that look them up, and for those of the
// runtime that ask for one.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cuda/driver/driver.hpp"
#include "cuda/driver/entry_points.hpp"

namespace lanescope::cuda {
namespace {

/// CUdriverProcAddressQueryResult and cudaDriverEntryPointQueryResult.
enum class Query : int { success = 0, not_found = 1, version_not_sufficient = 2 };

/// Of CUDA, that there are functions for.
constexpr int newest = 13050;

/// CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM.
constexpr unsigned long long per_thread_streams = 2;

/// The versions of each function, the oldest first, by the name that they share.
const std::vector<EntryPoint>* versions_of(const std::string& name) {
  static const auto* table = [] {
    auto* all = new std::unordered_map<std::string, std::vector<EntryPoint>>;
    for (const EntryPoint& entry : entry_points()) {
      std::string_view shared = entry.name;
      std::string twin;
      if (shared.ends_with("_ptsz") || shared.ends_with("_ptds")) {
        twin = "/per thread";
        shared.remove_suffix(5);
      }
      if (shared.size() > 3 && shared.substr(shared.size() - 3, 2) == "_v") shared.remove_suffix(3);
      (*all)[std::string(shared) + twin].push_back(entry);
    }
    for (auto& [shared, versions] : *all)
      std::stable_sort(versions.begin(), versions.end(),
                       [](const EntryPoint& a, const EntryPoint& b) { return a.since < b.since; });
    return all;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

Query find(const char* name, int version, bool per_thread, void** function) {
  std::string wanted = name;
  // CUDA 12 gave the name to another function.
  if (wanted == "cuGraphInstantiate" && version >= 12000) wanted = "cuGraphInstantiateWithFlags";
  const std::vector<EntryPoint>* versions = per_thread ? versions_of(wanted + "/per thread") : nullptr;
  if (versions == nullptr) versions = versions_of(wanted);
  if (versions == nullptr) return Query::not_found;
  *function = nullptr;
  for (const EntryPoint& entry : *versions)
    if (entry.since <= version) *function = entry.function;
  return *function != nullptr ? Query::success : Query::version_not_sufficient;
}

Status find_for_runtime(const char* name, void** function, int version, unsigned long long flags,
                        int* result) {
  if (name == nullptr || function == nullptr) return remember(Status::invalid_value);
  *function = nullptr;
  const Query query = find(name, version, flags == per_thread_streams, function);
  if (result != nullptr) *result = static_cast<int>(query);
  if (query == Query::success) return remember(Status::success);
  say("the driver's function " + std::string(name) + " is not there");
  return result != nullptr ? Status::success : remember(Status::symbol_not_found);
}

}  // namespace
}  // namespace lanescope::cuda

using namespace lanescope::cuda;

LANESCOPE_CUDA_API Status cuGetProcAddress_v2(const char* name, void** function, int version,
                                              unsigned long long flags, int* result) {
  if (name == nullptr || function == nullptr) return Status::invalid_value;
  *function = nullptr;
  if (version / 1000 > newest / 1000 || flags > per_thread_streams) {
    if (result != nullptr) *result = static_cast<int>(Query::version_not_sufficient);
    return Status::invalid_value;
  }
  const Query query = find(name, version, flags == per_thread_streams, function);
  if (result != nullptr) *result = static_cast<int>(query);
  return Status::success;  // of what is not there, too: null was given (an H200, CUDA 13.0)
}

LANESCOPE_CUDA_API Status cuGetProcAddress(const char* name, void** function, int version,
                                           unsigned long long flags) {
  if (function == nullptr) return Status::invalid_value;
  void* found = nullptr;
  const Status status = cuGetProcAddress_v2(name, &found, version, flags, nullptr);
  if (status != Status::success) return status;
  if (found == nullptr) return Status::symbol_not_found;
  *function = found;
  return Status::success;
}

LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                                  int* result) {
  return find_for_runtime(name, function, newest, flags, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long,
                                                       int* result) {
  return find_for_runtime(name, function, newest, per_thread_streams, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                           unsigned version, unsigned long long flags,
                                                           int* result) {
  return find_for_runtime(name, function, static_cast<int>(version), flags, result);
}
LANESCOPE_CUDA_API Status cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                                unsigned version, unsigned long long,
                                                                int* result) {
  return find_for_runtime(name, function, static_cast<int>(version), per_thread_streams, result);
}
