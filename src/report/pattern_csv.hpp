// Warp-wide accesses as rows of CSV (the format of tests/data/truth/h200_patterns.csv), and the model's
// answers as rows of CSV: the library call behind `lanescope model`.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::report {

/// One row of the input.
struct PatternRow {
  bool global = false;  ///< an access to global memory (gld, gst, …), else to shared memory
  model::Request request;
  uint32_t line = 0;  ///< of the file, from 1
};

/// Reads rows of op,width,mask,o0,…: the operation, bytes a lane, the active lanes in hexadecimal, and the
/// byte offset of each lane (inactive lanes' may be empty). With a header row, columns go by name, in any
/// order, and other columns are ignored; without one they go by place, and what follows the last lane is
/// ignored. Operations: ld st atom red cp.async (shared memory), ldm1 ldm2 ldm4 stm1 stm2 stm4 and the same
/// with a final t (transposed), gld gst gred gatom (global memory).
class PatternReader {
 public:
  /// `file` is for messages. `arch` tells how many lanes a row without header has, and the most that one can
  /// have.
  PatternReader(std::istream& in, std::string file, const model::Arch& arch);

  /// The next row; false at the end. Throws lanescope::Error with file, line, column and cause.
  bool next(PatternRow& row);

 private:
  void read_header(const std::vector<std::string>& fields);
  [[noreturn]] void fail(const std::vector<std::string>& fields, size_t field,
                         const std::string& cause) const;
  uint64_t number(const std::vector<std::string>& fields, size_t field, int base,
                  const std::string& what) const;

  std::istream& in_;
  std::string file_;
  const model::Arch& arch_;
  std::string text_;  // the current line
  uint32_t line_ = 0;
  bool started_ = false;
  size_t op_column_ = 0;
  size_t width_column_ = 1;
  size_t mask_column_ = 2;
  std::vector<size_t> offset_columns_;  // by lane
};

/// The header of the answers.
inline constexpr const char* answer_header = "wavefronts,ideal,conflicts,max_way,sectors,tags";

/// One answer: the first four columns for shared memory, the last two for global memory, the others empty.
/// Where the rule is unknown, `wavefronts` is the profiler's estimate and the three columns that would be
/// derived from it are empty; `*unknown` then becomes true, and is otherwise left alone.
std::string answer(const model::Arch& arch, const PatternRow& row, bool* unknown = nullptr);

}  // namespace lanescope::report
