// Programs that nvcc linked with its own copy of the CUDA runtime (its default): before main, and before any
// of the program's code, jumps are put at the entry points of that copy, to the functions of the same names
// in our libcudart.so. The names come from the file's symbol table, so a stripped file cannot be served.
// Libraries that the program opens later are treated alike: the dynamic linker calls an (empty) function for
// debuggers whenever it has mapped a file, before that file's constructors run, and a jump is put there too.
// Of nvJitLink, whose result is machine code, the function that tells its version is taken out of sight, if a
// program opens it: what looks for that (cuda.core, and Numba with it) links by the driver then, which is
// ours. It also stands before _exit, which ends the process past all that is registered for its end: the
// runtime writes its report first.
//
// This library needs the C library only, and is linked to be initialised first (-z initfirst).
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace {

/// jmp *0(%rip); followed by the address.
constexpr size_t jump_bytes = 14;

/// Writes where nothing may be written; `protection` is that of the place.
void overwrite(uint64_t at, const void* bytes, size_t count, int protection) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = at / page * page, end = (at + count + page - 1) / page * page;
  auto* pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, protection | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(at), bytes, count);
  mprotect(pages, end - begin, protection);
}

void put_jump(uint64_t at, const void* target) {
  unsigned char jump[jump_bytes] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(jump + jump_bytes - sizeof target, &target, sizeof target);
  overwrite(at, jump, sizeof jump, PROT_READ | PROT_EXEC);
}

/// A file in memory; every read is checked against its size.
class File {
 public:
  explicit File(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat info {};
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      void* mapped = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) {
        data_ = static_cast<const char*>(mapped);
        size_ = static_cast<uint64_t>(info.st_size);
      }
    }
    close(file);
  }
  ~File() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// `count` objects at an offset, or nullptr if they are not all inside.
  template <typename T>
  [[nodiscard]] const T* at(uint64_t offset, uint64_t count = 1) const {
    if (data_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) ||
        offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }
  /// A string that ends inside [offset, end).
  [[nodiscard]] const char* string(uint64_t offset, uint64_t end) const {
    if (end > size_ || offset >= end) return nullptr;
    return std::memchr(data_ + offset, 0, end - offset) != nullptr ? data_ + offset : nullptr;
  }

 private:
  const char* data_ = nullptr;
  uint64_t size_ = 0;
};

/// What the runtime library exports, from its dynamic symbol table. (dlopen and dlsym cannot be asked yet:
/// they would initialise what is loaded, out of order.)
class Exports {
 public:
  Exports() = default;
  explicit Exports(const link_map& map) : base_(map.l_addr) {
    for (const Elf64_Dyn* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const uint64_t address = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const Elf64_Sym*>(address);
      if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_HASH) count_ = reinterpret_cast<const uint32_t*>(address)[1];
    }
  }
  [[nodiscard]] bool found() const { return symbols_ != nullptr && names_ != nullptr && count_ != 0; }
  [[nodiscard]] const void* find(const char* name) const {
    for (uint32_t i = 0; i < count_; ++i)
      if (symbols_[i].st_shndx != SHN_UNDEF && std::strcmp(names_ + symbols_[i].st_name, name) == 0)
        return reinterpret_cast<const void*>(base_ + symbols_[i].st_value);
    return nullptr;
  }

 private:
  uint64_t base_ = 0;
  const Elf64_Sym* symbols_ = nullptr;
  const char* names_ = nullptr;
  uint32_t count_ = 0;
};

Exports runtime;

struct Sections {
  const Elf64_Shdr* list = nullptr;
  uint64_t count = 0;
  bool has_device_code = false;
  const Elf64_Shdr* symbols = nullptr;
};

Sections sections_of(const File& file) {
  Sections s;
  const auto* header = file.at<Elf64_Ehdr>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr))
    return s;
  s.list = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (s.list == nullptr || header->e_shstrndx >= header->e_shnum) return s;
  s.count = header->e_shnum;
  const Elf64_Shdr& names = s.list[header->e_shstrndx];
  for (uint64_t i = 0; i < s.count; ++i) {
    if (s.list[i].sh_type == SHT_SYMTAB) s.symbols = &s.list[i];
    const char* name = file.string(names.sh_offset + s.list[i].sh_name, names.sh_offset + names.sh_size);
    if (name != nullptr && std::strcmp(name, ".nvFatBinSegment") == 0) s.has_device_code = true;
  }
  return s;
}

/// Whether a loaded file is linked with a library whose name begins like this.
bool needs(const link_map& map, const char* name) {
  const char* names = nullptr;
  for (const Elf64_Dyn* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  if (names == nullptr) return false;
  for (const Elf64_Dyn* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && std::strncmp(names + entry->d_un.d_val, name, std::strlen(name)) == 0)
      return true;
  return false;
}

void say(const char* a, const char* b, const char* c, const char* d = "") {
  for (const char* text : {a, b, c, d})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// Calls call(symbol, name) for the CUDA functions that a loaded file defines itself.
template <typename F>
void each_cuda_function(const File& file, const Sections& sections, F&& call) {
  if (sections.symbols == nullptr) return;
  const Elf64_Shdr& table = *sections.symbols;
  if (table.sh_link >= sections.count) return;
  const Elf64_Shdr& names = sections.list[table.sh_link];
  const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  const auto* symbols = file.at<Elf64_Sym>(table.sh_offset, count);
  for (uint64_t i = 0; symbols != nullptr && i < count; ++i) {
    if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_shndx == SHN_UNDEF) continue;
    const char* name = file.string(names.sh_offset + symbols[i].st_name, names.sh_offset + names.sh_size);
    if (name != nullptr && (std::strncmp(name, "cuda", 4) == 0 || std::strncmp(name, "__cuda", 6) == 0))
      call(symbols[i], name);
  }
}

/// Redirects the functions of a file that has a copy of the CUDA runtime. False if none could be found.
bool serve(const File& file, const Sections& sections, uint64_t base) {
  bool has_copy = false;
  each_cuda_function(file, sections, [&](const Elf64_Sym& symbol, const char* name) {
    const auto* own = reinterpret_cast<const void*>(base + symbol.st_value);
    if (std::strcmp(name, "__cudaRegisterFatBinary") == 0) has_copy = runtime.find(name) != own;
  });
  if (!has_copy) return false;
  each_cuda_function(file, sections, [&](const Elf64_Sym& symbol, const char* name) {
    const void* target = runtime.find(name);
    // Functions begin at multiples of 16 bytes, so that even the shortest has room for the jump, if its
    // section does not end before; one that has not is left alone.
    if (symbol.st_shndx >= sections.count) return;
    const Elf64_Shdr& section = sections.list[symbol.st_shndx];
    const bool has_room =
        symbol.st_size >= jump_bytes ||
        (symbol.st_value % 16 == 0 && symbol.st_value + jump_bytes <= section.sh_addr + section.sh_size);
    if (target != nullptr && has_room) put_jump(base + symbol.st_value, target);
  });
  return true;
}

/// Makes a symbol of a loaded file one that the dynamic linker does not find.
void hide(const link_map& map, const File& file, const Sections& sections, const char* hidden) {
  const Elf64_Sym* loaded = nullptr;
  for (const Elf64_Dyn* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_SYMTAB) loaded = reinterpret_cast<const Elf64_Sym*>(entry->d_un.d_ptr);
  for (uint64_t s = 0; s < sections.count && loaded != nullptr; ++s) {
    const Elf64_Shdr& table = sections.list[s];
    if (table.sh_type != SHT_DYNSYM || table.sh_link >= sections.count) continue;
    const Elf64_Shdr& names = sections.list[table.sh_link];
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = file.at<Elf64_Sym>(table.sh_offset, count);
    for (uint64_t i = 0; symbols != nullptr && i < count; ++i) {
      const char* name = file.string(names.sh_offset + symbols[i].st_name, names.sh_offset + names.sh_size);
      if (name == nullptr || std::strcmp(name, hidden) != 0) continue;
      Elf64_Sym gone = symbols[i];
      gone.st_value = 0;
      gone.st_shndx = SHN_UNDEF;
      overwrite(reinterpret_cast<uint64_t>(loaded + i), &gone, sizeof gone, PROT_READ);
    }
  }
}

bool is_linker(const char* path) {
  constexpr char name[] = "/libnvJitLink.so";
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr && std::strncmp(slash, name, sizeof name - 1) == 0;
}

/// The files that were loaded when the list was last looked at, by their place in the list: it only grows at
/// its end, apart from files that are closed again.
const link_map* seen[4096];
size_t seen_count = 0;

bool is_seen(const link_map* map) {
  for (size_t i = 0; i < seen_count; ++i)
    if (seen[i] == map) return true;
  return false;
}

/// `opened`: by the program, when it ran already.
void serve_new(const r_debug& debug, bool opened) {
  // A closed file's place may be taken by another one: forget those that are gone.
  size_t kept = 0;
  for (size_t i = 0; i < seen_count; ++i)
    for (const link_map* map = debug.r_map; map != nullptr; map = map->l_next)
      if (map == seen[i]) {
        seen[kept++] = map;
        break;
      }
  seen_count = kept;
  for (const link_map* map = debug.r_map; map != nullptr; map = map->l_next) {
    if (is_seen(map) || seen_count == sizeof seen / sizeof *seen) continue;
    seen[seen_count++] = map;
    const bool is_program = map == debug.r_map;
    if (!is_program && map->l_name[0] == '\0') continue;
    const char* path = is_program ? "/proc/self/exe" : map->l_name;
    const File file(path);
    const Sections sections = sections_of(file);
    if (opened && is_linker(path)) hide(*map, file, sections, "nvJitLinkVersion");
    // Programs that load PTX themselves have a runtime, but no device code.
    if (serve(file, sections, map->l_addr) || !sections.has_device_code || needs(*map, "libcudart.so"))
      continue;
    say("lanescope: error: ", is_program ? "the program" : path,
        " has its own copy of the CUDA runtime and no symbol table (it was stripped), so that its kernels "
        "cannot run here. Link it with nvcc -cudart shared, or do not strip it",
        is_program ? "\n" : "; the toolkit's own libraries (cuBLAS, cuDNN, …) do not run here\n");
  }
}

/// What the dynamic linker calls: _r_debug.r_state says whether its list is complete.
void files_changed() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) serve_new(_r_debug, true);
}

__attribute__((constructor)) void start() {
  for (link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const char* slash = std::strrchr(map->l_name, '/');
    if (slash != nullptr && std::strcmp(slash, "/libcudart.so.13") == 0) runtime = Exports(*map);
  }
  if (!runtime.found()) return;
  serve_new(_r_debug, false);
  // The debuggers' function is empty: a return, and padding up to the next function.
  if (_r_debug.r_brk % 16 == 0) put_jump(_r_debug.r_brk, reinterpret_cast<const void*>(&files_changed));
}

}  // namespace

/// Set by the runtime: what to do before the process ends at once.
extern "C" __attribute__((visibility("default"))) void (*lanescope_before_exit)();
void (*lanescope_before_exit)() = nullptr;

extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int status) {
  if (lanescope_before_exit != nullptr) lanescope_before_exit();
  for (;;) syscall(SYS_exit_group, status);
}

// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" __attribute__((visibility("default"), noreturn)) void _Exit(int status) { _exit(status); }
