// How a kernel divides its shared memory. An array among pointers: after `extern __shared__ float smem[];`
// `float* a = smem; float* b = a + n;` are two arrays to whoever wrote them. Structs among their members
// (members.hpp). Read from the source text, as far as it is clear, and evaluated for one launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "advise/declaration.hpp"
#include "advise/patch.hpp"
#include "advise/sources.hpp"
#include "exec/launch.hpp"
#include "exec/program.hpp"
#include "ptx/module.hpp"

namespace lanescope::advise {

class Division {
 public:
  /// Looks for the kernel's text in its files. Where it is not clear, nothing is divided.
  Division(const exec::Kernel& kernel, Sources& sources);
  ~Division();
  Division(const Division&) = delete;
  Division& operator=(const Division&) = delete;

  /// The kernel's variables with the parts of arrays in the place of these, and with members of structs in
  /// theirs ("s.tile"), for LaunchConfig::shared; empty where there are none. A part is named by its pointer,
  /// or by all that begin there ("tile/sums"), and ends where the next one begins. Pointers that are not the
  /// same for all threads (a + threadIdx.x) begin none.
  [[nodiscard]] const std::vector<exec::SharedVariable>& variables(const exec::LaunchConfig& config);

  /// The declaration of the pointer that a part is named by, as that of an array with the part's elements; or
  /// that of a member.
  [[nodiscard]] std::variant<Declaration, Unclear> declaration(const exec::SharedVariable& part,
                                                               const exec::LaunchConfig& config) const;
  /// The edits that leave so many bytes more to a part: what lies behind it begins later, and the array is
  /// declared longer, or all launches give more. Only where the text alone says where the parts begin.
  [[nodiscard]] std::variant<std::vector<Edit>, Unclear> room_behind(const exec::SharedVariable& part,
                                                                     uint32_t bytes,
                                                                     const exec::LaunchConfig& config) const;
  /// The file of Kernel::files that the part's declaration stands in; empty where there is none.
  [[nodiscard]] const std::string& file(const exec::SharedVariable& part) const;

 private:
  struct Text;
  struct Parts;
  class Run;
  /// An array of the kernel's, and the text that divides it.
  struct Divided {
    std::string array, file;
    std::unique_ptr<const Text> text;
  };
  std::vector<Divided> divided_;
  void find_divided(const exec::SharedVariable& array, Sources& sources);
  /// Of the array, or of what it is divided into; null where it is not.
  [[nodiscard]] const Divided* divided(const exec::SharedVariable& part) const;
  /// Empty where the array stays whole. Sets `of_launch` where other launches may have other parts.
  [[nodiscard]] std::vector<exec::SharedVariable> parts_of(const exec::SharedVariable& array,
                                                           const exec::LaunchConfig& config,
                                                           bool& of_launch) const;

  /// What was found for the last launch: programs launch a kernel again and again.
  struct Known {
    exec::Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    std::vector<std::byte> params;
    bool of_launch = false;  ///< other launches may have other parts
    std::vector<exec::SharedVariable> variables;
  };
  std::optional<Known> known_;
  /// Of structs, by the names of the parts; and the kernel's variables with these in their place, empty where
  /// there are none.
  struct Member {
    Declaration declaration;
    std::string file;
  };
  std::map<std::string, Member> members_;
  std::vector<exec::SharedVariable> with_members_;
  void find_members(Sources& sources);
  const exec::Kernel& kernel_;
};

}  // namespace lanescope::advise
