// Options of the driver's compiler and linker (CUjit_option, cudaJitOption), of which the buffers for
// messages and the limit of registers matter here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace lanescope::cuda {

class JitOptions {
 public:
  JitOptions() = default;
  JitOptions(unsigned count, const int* options, void** values) {
    constexpr int known = 36;
    are_valid_ =
        count == 0 || (options != nullptr && values != nullptr &&
                       std::all_of(options, options + count, [](int o) { return o >= 0 && o < known; }));
    if (options == nullptr || values == nullptr) return;
    Buffer info;
    for (unsigned i = 0; i < count; ++i) {
      switch (options[i]) {
        case 0:  // CU_JIT_MAX_REGISTERS
          max_registers_ = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
          break;
        case 3: info.text = static_cast<char*>(values[i]); break;     // CU_JIT_INFO_LOG_BUFFER
        case 4: info.set_room(values[i]); break;                      // …_SIZE_BYTES
        case 5: errors_.text = static_cast<char*>(values[i]); break;  // CU_JIT_ERROR_LOG_BUFFER
        case 6: errors_.set_room(values[i]); break;                   // …_SIZE_BYTES
        default: break;
      }
    }
    info.put("");
    errors_.put("");
  }
  /// Whether there are options where some are said to be, and none that CUDA does not know.
  [[nodiscard]] bool are_valid() const { return are_valid_; }
  void error(const std::string& text) const { errors_.put(text); }
  /// Most registers of a thread; 0: as many as there are.
  [[nodiscard]] unsigned max_registers() const { return max_registers_; }

 private:
  struct Buffer {
    char* text = nullptr;
    size_t room = 0;
    void** filled = nullptr;  ///< where the room was told; gets how many bytes were written

    void set_room(void*& value) {
      room = reinterpret_cast<uintptr_t>(value);
      filled = &value;
    }
    void put(const std::string& message) const {
      if (text == nullptr || room == 0) return;
      const size_t count = std::min(message.size(), room - 1);
      std::memcpy(text, message.data(), count);
      text[count] = '\0';
      *filled = reinterpret_cast<void*>(count);
    }
  };
  Buffer errors_;
  unsigned max_registers_ = 0;
  bool are_valid_ = true;
};

}  // namespace lanescope::cuda
