// The options that say which architecture to answer for, shared by all commands that ask the model.
#pragma once

#include <string>

#include "lanescope/model/archs.hpp"

namespace CLI {
class App;
}

namespace lanescope::cli {

/// --arch, --bank-mode, --banks, --bank-bits, --unit, --broadcast. Add them, parse, then resolve.
class ArchOptions {
 public:
  /// This object must live until the parser has run.
  /// `more`: what this command's --arch takes beside names.
  void add_to(CLI::App& command, const std::string& more = "");

  /// --arch all, for commands that know what to do then.
  [[nodiscard]] bool asks_for_all() const;

  /// The architecture asked for; `otherwise` where none is. Throws lanescope::Error on an unknown name (also
  /// `otherwise`), numbers out of range, or options that contradict each other.
  [[nodiscard]] model::Arch resolve(
      const std::string& otherwise = std::string(model::default_arch_name)) const;

 private:
  std::string arch_;  // empty = not given
  int bank_mode_ = 0;
  int banks_ = 0;
  int bank_bits_ = 0;
  int unit_ = 0;
  std::string broadcast_;
  const CLI::App* command_ = nullptr;
};

}  // namespace lanescope::cli
