// See printed.hpp.
#include "cuda/runtime/printed.hpp"

#include <cstdio>

#include "cuda/runtime/message.hpp"

namespace lanescope::cuda {

void Printed::add(const std::string& text) {
  constexpr size_t most = 1 << 20;  // a GPU's buffer, of which it would lose the oldest
  bool is_much = false;
  {
    const std::lock_guard lock(mutex_);
    text_ += text;
    is_much = text_.size() >= most;
  }
  if (is_much) flush();
}

bool Printed::flush() {
  const std::lock_guard lock(mutex_);
  if (text_.empty()) return false;
  std::fwrite(text_.data(), 1, text_.size(), stdout);
  text_.clear();
  return true;
}

void Printed::flush_at_end() {
  if (!flush()) return;
  say("the program ends and has not waited for what its kernels print (cudaDeviceSynchronize): on a GPU that "
      "would be lost");
}

void Printed::forget() { text_.clear(); }

Printed& printed() {
  static auto* const all = new Printed;
  return *all;
}

}  // namespace lanescope::cuda
