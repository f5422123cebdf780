// The fat binary in the file LANESCOPE_FATBIN, inside a program, as nvcc puts it there: `wrapper` is what is
// registered.
#pragma once

asm(R"(
  .section .nv_fatbin,"a"
  .balign 8
fat_binary:
  .incbin ")" LANESCOPE_FATBIN R"("
  .previous
)");
extern "C" const unsigned char fat_binary[] __attribute__((visibility("hidden")));

namespace {

struct Wrapper {
  int magic, version;
  const void* data;
  void* units;
};
__attribute__((section(".nvFatBinSegment"), used)) Wrapper wrapper = {0x466243b1, 1, fat_binary, nullptr};

}  // namespace
