// A source file that `lanescope fix` changes for a trial, and makes what it was unless the change is kept.
#pragma once

#include <string>

namespace lanescope::cli {

class ChangedSource {
 public:
  explicit ChangedSource(std::string file);

  [[nodiscard]] const std::string& original() const { return original_; }

  /// Replaces the file in one step: whatever happens, it is either the old one or the new one.
  void change_to(const std::string& text);

  /// Makes the file the original again. What somebody else has saved there in the meantime is left, and the
  /// original goes beside it; then an Error says so.
  void take_back();

  /// The same when somebody has interrupted the trial, and says so.
  void take_back_interrupted();

 private:
  std::string file_, original_, changed_;
};

}  // namespace lanescope::cli
