// One variable of shared memory, as advice sees it: its accesses, what they cost, where it is declared, and
// the rows that it has or may have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/advise.hpp"
#include "profile/cost.hpp"

namespace lanescope::advise {

/// Everything about one variable.
struct Array {
  const exec::SharedVariable* variable = nullptr;
  std::vector<Pattern> patterns;         ///< as recorded, of some blocks perhaps; ordered by site
  std::vector<Outcome> costs;            ///< of each pattern, as it is
  std::map<uint32_t, uint64_t> counted;  ///< by site: requests of the whole launch
  Shape shape;
  std::vector<Shape> shapes;  ///< to be tried: `shape` with the rows that there might be
  Outcome now;                ///< as the recorded accesses say
  uint64_t wavefronts = 0;    ///< as counted, of the whole launch
  profile::NamedPlace place;
  std::optional<Declaration> declaration;
  std::string file;            ///< where it stands
  std::string no_declaration;  ///< why there is none
  std::string pitch_from;
  bool exact = true;            ///< what was recorded tells all of the launch
  bool complete = false;        ///< no access of the launch is missing from what was recorded
  uint32_t counters = 1;        ///< arrays of the launch that may get copies, if this one may
  bool async = false;           ///< bulk copies or wgmma go through it as well, which no pattern tells
  std::vector<bool> from_data;  ///< of each site; empty where nothing conflicts

  /// Whether what was recorded shows all places of the array that anything in the recorded blocks accesses:
  /// in all of them only where it is complete, for blocks that cost the same may go elsewhere.
  [[nodiscard]] bool knows_all_accesses() const { return exact && !async; }
  [[nodiscard]] bool is_from_data(const Pattern& pattern) const { return from_data[pattern.site]; }

  /// Whether something goes through it that has to be told where its elements lie.
  [[nodiscard]] bool is_shared_with_hardware() const { return async || shape.keeps_rows; }
};

[[nodiscard]] profile::NamedPlace place_of(const Launch& launch, uint32_t site);
/// Whether the access is of wmma, which finds the lanes' addresses from a begin and a pitch.
[[nodiscard]] bool is_of_wmma(const Launch& launch, uint32_t site);
/// Bytes from each lane to the next; 0 if lanes are missing in between or are not equally far apart.
[[nodiscard]] int64_t stride_of(const Pattern& p);
/// what_if for the whole launch: what some blocks did counts for all, site by site. `exact` becomes false
/// where that leaves a rest.
[[nodiscard]] std::optional<Outcome> whole_launch(const model::Arch& arch, const Array& array,
                                                  const Shape& shape, const Layout& layout, bool& exact);
/// The line of most wavefronts over the ideal; unrolled loops have many sites of one.
[[nodiscard]] profile::NamedPlace worst_place_of(const Launch& launch, const Array& array);
/// Element, rows, and where they are known from. Rows that the declaration does not give are those that the
/// lanes' addresses show, or the rows of the banks: `Array::shapes` lists what is to be tried.
void find_shapes(const Launch& launch, Array& array, Sources& sources);

}  // namespace lanescope::advise
