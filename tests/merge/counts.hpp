// What is predicted of a kernel's accesses, counted as scripts/sass counts those of its machine code.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "exec/launch.hpp"
#include "exec/memory.hpp"
#include "lanescope/model/archs.hpp"
#include "merge/plan.hpp"
#include "ptx/module.hpp"

namespace lanescope::merge {

inline constexpr model::Arch sm_90 = *model::find_arch("sm_90");

inline bool is_shared(const exec::AccessSite& access) { return access.space == ptx::Space::shared; }
inline bool is_global_load(const exec::AccessSite& access) {
  return access.kind == exec::AccessKind::load &&
         (access.space == ptx::Space::global || access.space == ptx::Space::generic);
}

inline bool is_global_load_or_store(const exec::AccessSite& access) {
  return (access.kind == exec::AccessKind::load || access.kind == exec::AccessKind::store) &&
         (access.space == ptx::Space::global || access.space == ptx::Space::generic);
}

/// "ld64=1 st32=2", as scripts/sass writes it. Of loops that the assembler unrolls there are copies alone.
inline std::string accesses_of(const exec::Kernel& kernel, const Plan& plan,
                               bool (*counts_here)(const exec::AccessSite&)) {
  std::map<std::pair<std::string, uint32_t>, int> counts;
  std::set<std::pair<uint32_t, uint32_t>> copied;
  for (const exec::AccessSite& access : kernel.accesses)
    if (access.copy != 0) copied.emplace(access.function, access.instruction);
  for (size_t site = 0; site < kernel.accesses.size(); ++site) {
    const exec::AccessSite& access = kernel.accesses[site];
    if (!counts_here(access)) continue;
    if (access.copy == 0 && copied.contains({access.function, access.instruction})) continue;
    const char* name = access.kind == exec::AccessKind::load    ? "ld"
                       : access.kind == exec::AccessKind::store ? "st"
                                                                : "atom";
    for (const Piece& piece : plan.fates[site].pieces) ++counts[{name, 8u * piece.width}];
  }
  std::string text;
  for (const char* name : {"ld", "st", "atom"})
    for (const uint32_t bits : {8u, 16u, 32u, 64u, 128u, 256u})
      if (const auto found = counts.find({name, bits}); found != counts.end())
        text += " " + std::string(name) + std::to_string(bits) + "=" + std::to_string(found->second);
  return text;
}

struct Loaded {
  explicit Loaded(const std::string& text)
      : module(std::make_shared<const ptx::Module>(ptx::parse(text, "test.ptx"))), image(module, memory) {}
  exec::Memory memory;
  std::shared_ptr<const ptx::Module> module;
  exec::Image image;
};

}  // namespace lanescope::merge
