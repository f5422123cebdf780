// A probe's outcome for people.
#pragma once

#include <string>

#include "probe/infer.hpp"
#include "probe/record.hpp"

namespace lanescope::probe {

/// "sure", "doubtful", "undecided", "absent", "derived".
[[nodiscard]] const char* in_words(Certainty certainty);

/// What a result says beside a preset.
struct Comparison {
  int equal = 0, different = 0;
  int open = 0;  ///< undecided
};
[[nodiscard]] Comparison compare(const Result& result, const model::Arch& preset);

/// A table of all parameters beside `preset` (none: nullptr), with the figures that decided where `reasons`
/// or where something is not as in the preset; then how well the description predicts.
[[nodiscard]] std::string to_table(const Chip& chip, const Result& result, const model::Arch* preset,
                                   bool reasons);

/// The description as lines of C++ for include/lanescope/model/archs.hpp.
[[nodiscard]] std::string to_code(const Chip& chip, const Result& result);

}  // namespace lanescope::probe
