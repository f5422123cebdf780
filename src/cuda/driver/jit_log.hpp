// Options of the driver's compiler and linker (CUjit_option), of which the buffers for messages matter here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace lanescope::cuda {

class JitLog {
 public:
  JitLog() = default;
  JitLog(unsigned count, const int* options, void** values) {
    if (options == nullptr || values == nullptr) return;
    Buffer info;
    for (unsigned i = 0; i < count; ++i) {
      switch (options[i]) {
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
  void error(const std::string& text) const { errors_.put(text); }

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
};

}  // namespace lanescope::cuda
