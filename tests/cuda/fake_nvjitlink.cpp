// A nvJitLink whose functions say how they are called. As in the real one, nvJitLinkCreate, and its name of
// each release, is nothing but a jump; in some releases one behind a frame that is left at once.
#include <cstdio>

extern "C" {
__attribute__((visibility("default"))) int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = 13;
  *minor = 0;
  return 0;
}

__attribute__((used)) int create(void*, unsigned count, const char** options) {
  for (unsigned i = 0; i < count; ++i) std::printf("%s%s", i == 0 ? "" : " ", options[i]);
  std::printf("\n");
  std::fflush(stdout);
  return static_cast<int>(count);
}
}

asm(R"(
  .text
  .p2align 4
  .globl nvJitLinkCreate
  .type nvJitLinkCreate, @function
nvJitLinkCreate:
  .byte 0xe9
  .long create_here - . - 4
  .size nvJitLinkCreate, . - nvJitLinkCreate
  .p2align 4
  .globl __nvJitLinkCreate_12_4
  .type __nvJitLinkCreate_12_4, @function
__nvJitLinkCreate_12_4:
  push %rbp
  mov %rsp, %rbp
  pop %rbp
  .byte 0xe9
  .long create_here - . - 4
  .size __nvJitLinkCreate_12_4, . - __nvJitLinkCreate_12_4
  .p2align 4
create_here:
  jmp create@PLT
)");
