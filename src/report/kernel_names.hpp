// What a report calls its kernels: short, and different names for different kernels. Programs written with
// Kokkos, RAJA, Thrust and the like have one function for all their kernels, which differ deep in what its
// template was given: often only in the lambda.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace lanescope::report {

/// "scale<2>" of "void scale<2>(float*)", without namespace; the kernel itself where that is not seen.
[[nodiscard]] std::string instance_of(const std::string& kernel);
/// "scale" of the same: what instances of a template share.
[[nodiscard]] std::string function_of(const std::string& kernel);

class KernelNames {
 public:
  explicit KernelNames(const std::set<std::string>& kernels);
  /// For headings: the short name (words.hpp), longer where two kernels would have the same.
  [[nodiscard]] std::string of(const std::string& kernel) const;
  /// For tables: the function and what its template was given, without namespace, in at most `columns`
  /// columns. Of what is longer the function, or, where it has several kernels, where this one differs from
  /// the others, behind as much of the function as there is room for: "transform_k…plus<float>, 4>(float…".
  [[nodiscard]] std::string in_table(const std::string& kernel, size_t columns) const;

 private:
  std::map<std::string, std::string> names_;                  ///< by kernel
  std::map<std::string, std::set<std::string>> of_function_;  ///< kernels
};

}  // namespace lanescope::report
