// Source files that `lanescope fix` changes for a trial, and makes what they were unless the change is kept.
#pragma once

#include <map>
#include <string>

#include "advise/patch.hpp"

namespace lanescope::cli {

class ChangedSource {
 public:
  /// Makes a change of the files as they now are. Each is replaced in one step: whatever happens, it is
  /// either the old one or the new one.
  void make(const advise::Patch& patch);

  /// Makes all files again what they were. What somebody else has saved there in the meantime is left, and
  /// the original goes beside it; then an Error says so.
  void take_back();

  /// The same when somebody has interrupted the trial, and says so.
  void take_back_interrupted();

  /// "a.cu", "a.cu and b.h": the files that are changed.
  [[nodiscard]] std::string names() const;

 private:
  struct File {
    std::string original, changed;
  };
  std::map<std::string, File> files_;
};

}  // namespace lanescope::cli
