// Programs that nvcc linked with its own copy of the CUDA runtime (its default): before main, and before any
// of the program's code, jumps are put at the entry points of that copy, to the functions of the same names
// in our libcudart.so of the copy's version. The names come from the file's symbol table; stripped.cpp finds
// them where that is missing. Libraries that the program opens later are treated alike: the dynamic linker
// calls an (empty) function for debuggers whenever it has mapped a file, before that file's constructors run,
// and a jump is put there too. nvJitLink, whose result is machine code, is asked to keep the PTX in it, as
// -lineinfo has it do. A file's own variables by the names of CUDA's functions stay its own. Who asks NVRTC
// for machine code gets PTX, which NVRTC has made as well and the driver here takes in its place. It also
// stands before _exit, which ends the process past all that is registered for its end: the runtime writes its
// report first; before exec…, for the same; before pthread_exit, after which the process would not end; and
// before stat, by which programs look for a driver's file. cuda.tile's assembler is left to find its own
// toolkit.
//
// This library needs the C library only, and is linked to be initialised first (-z initfirst).
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>

#include "cuda/hook/elf_file.hpp"
#include "cuda/hook/stripped.hpp"

namespace {

using namespace lanescope::cuda;

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

/// What a runtime library exports, from its dynamic symbol table. (dlopen and dlsym cannot be asked yet:
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
  [[nodiscard]] bool is_of(const link_map& map) const { return found() && base_ == map.l_addr; }
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

/// The runtimes that are here.
struct {
  const char* file;
  Exports exports;
} runtimes[] = {{"/libcudart.so.13", {}}, {"/libcudart.so.12", {}}, {"/libcudart.so.11.0", {}}};

const char* file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

/// Whether a path is that of a library, of any version, with or without the hash that what makes Python
/// wheels puts behind the names of libraries inside of them: libnvrtc-0a1b2c3d.so.12.
bool is_library(const char* path, const char* name) {
  const char* file = file_name(path);
  if (std::strncmp(file, name, std::strlen(name)) != 0) return false;
  const char* rest = file + std::strlen(name);
  if (*rest == '-') rest += 1 + std::strspn(rest + 1, "0123456789abcdef");
  return std::strncmp(rest, ".so", 3) == 0;
}

void say(const char* a, const char* b, const char* c) {
  for (const char* text : {a, b, c})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// The functions of a copy of the CUDA runtime, and how many: of the file that is looked at.
RuntimeFunction functions[4096];
uint64_t function_count = 0;

bool is_full() { return function_count == std::size(functions); }

/// Finds the CUDA functions that a file defines itself by its symbols.
void find_by_symbols(const File& file, const Sections& sections, const Elf64_Shdr& table) {
  const Elf64_Shdr* names = sections.at(table.sh_link);
  if (names == nullptr) return;
  const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  const auto* symbols = file.at<Elf64_Sym>(table.sh_offset, count);
  for (uint64_t i = 0; symbols != nullptr && i < count && !is_full(); ++i) {
    const Elf64_Shdr* section = sections.at(symbols[i].st_shndx);
    if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_shndx == SHN_UNDEF ||
        section == nullptr)
      continue;
    const char* name = file.string(names->sh_offset + symbols[i].st_name, names->sh_offset + names->sh_size);
    if (name == nullptr || (std::strncmp(name, "cuda", 4) != 0 && std::strncmp(name, "__cuda", 6) != 0))
      continue;
    // Functions begin at multiples of 16 bytes, so that even the shortest has room for the jump, if its
    // section does not end before.
    const uint64_t left = section->sh_addr + section->sh_size - symbols[i].st_value;
    const uint64_t padded = symbols[i].st_value % 16 == 0 && left >= 16 ? 16 : 0;
    functions[function_count++] = {symbols[i].st_value,
                                   symbols[i].st_size > padded ? symbols[i].st_size : padded, name};
  }
}

bool is_function(const char* name) {
  for (uint64_t i = 0; i < function_count; ++i)
    if (std::strcmp(functions[i].name, name) == 0) return true;
  return false;
}

/// The runtime that has what the functions found are: CUDA 13 has no cudaThreadExit, CUDA 12 was the first to
/// have a second cudaGetDeviceProperties, and CUDA 11 to have cudaStreamCopyAttributes. None for an older
/// one.
const Exports* runtime_of_functions() {
  const size_t place = !is_function("cudaThreadExit")              ? 0
                       : is_function("cudaGetDeviceProperties_v2") ? 1
                       : is_function("cudaStreamCopyAttributes")   ? 2
                                                                   : std::size(runtimes);
  return place < std::size(runtimes) && runtimes[place].exports.found() ? &runtimes[place].exports : nullptr;
}

bool is_runtime(const link_map& map) {
  for (const auto& runtime : runtimes)
    if (runtime.exports.is_of(map)) return true;
  return false;
}

bool is_known(const char* name) {
  for (const auto& runtime : runtimes)
    if (runtime.exports.find(name) != nullptr) return true;
  return false;
}

enum class Served { yes, not_found, older };

/// Redirects the functions of a file that has a copy of the CUDA runtime.
Served serve(const File& file, const Sections& sections, uint64_t base) {
  function_count = 0;
  if (const Elf64_Shdr* symbols = sections.of_type(SHT_SYMTAB))
    find_by_symbols(file, sections, *symbols);
  else
    function_count = find_stripped_runtime(file, sections, is_known, functions, std::size(functions));
  const Exports* runtime = runtime_of_functions();
  if (!is_function("cudaRuntimeGetVersion")) return Served::not_found;
  if (runtime == nullptr) return Served::older;
  for (uint64_t i = 0; i < function_count; ++i) {
    const void* target = runtime->find(functions[i].name);
    // One that has no room for the jump is left alone.
    if (target != nullptr && functions[i].room >= jump_bytes) put_jump(base + functions[i].address, target);
  }
  return Served::yes;
}

/// Calls `see` with the name of each symbol of a loaded file, and what the dynamic linker knows of it.
template <typename See>
void for_symbols(const link_map& map, const File& file, const Sections& sections, const See& see) {
  const Elf64_Sym* loaded = nullptr;
  for (const Elf64_Dyn* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_SYMTAB) loaded = reinterpret_cast<const Elf64_Sym*>(entry->d_un.d_ptr);
  const Elf64_Shdr* table = sections.of_type(SHT_DYNSYM);
  const Elf64_Shdr* names = table == nullptr ? nullptr : sections.at(table->sh_link);
  if (loaded == nullptr || names == nullptr) return;
  const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
  const auto* symbols = file.at<Elf64_Sym>(table->sh_offset, count);
  for (uint64_t i = 0; symbols != nullptr && i < count; ++i) {
    const char* name = file.string(names->sh_offset + symbols[i].st_name, names->sh_offset + names->sh_size);
    if (name != nullptr) see(name, loaded[i]);
  }
}

/// nullptr: there is none of that name.
const Elf64_Sym* find_symbol(const link_map& map, const File& file, const Sections& sections,
                             const char* wanted) {
  const Elf64_Sym* found = nullptr;
  for_symbols(map, file, sections, [&](const char* name, const Elf64_Sym& symbol) {
    if (found == nullptr && std::strcmp(name, wanted) == 0) found = &symbol;
  });
  return found;
}

/// Whether a file's calls of a function go to another file.
bool imports(const link_map& map, const File& file, const Sections& sections, const char* function) {
  const Elf64_Sym* symbol = find_symbol(map, file, sections, function);
  return symbol != nullptr && symbol->st_shndx == SHN_UNDEF;
}

/// Leaves a file its own variables that have names of CUDA's functions, as programs declare them that look
/// for the driver's functions themselves (tcuInit* cuInit). Those functions are in what is preloaded here,
/// and would come first; what is hidden is found in the file itself.
void keep_variables(const link_map& map, const File& file, const Sections& sections) {
  for_symbols(map, file, sections, [&](const char* name, const Elf64_Sym& symbol) {
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT ||
        std::strncmp(name, "cu", 2) != 0 || runtimes[0].exports.find(name) == nullptr)
      return;
    Elf64_Sym hidden = symbol;
    hidden.st_other = STV_HIDDEN;
    overwrite(reinterpret_cast<uint64_t>(&symbol), &hidden, sizeof hidden, PROT_READ);
  });
}

/// Lets calls of one function of a loaded file run another one of it.
void lead(const link_map& map, const File& file, const Sections& sections, const char* from, const char* to) {
  const Elf64_Sym *source = find_symbol(map, file, sections, from),
                  *target = find_symbol(map, file, sections, to);
  if (source != nullptr && target != nullptr && source->st_size >= jump_bytes)
    put_jump(map.l_addr + source->st_value, reinterpret_cast<const void*>(map.l_addr + target->st_value));
}

/// nvJitLinkCreate, with one more option: -lineinfo, which may be given once. One for each copy of nvJitLink
/// that is loaded, since each has its own to go on to.
using CreateLink = int (*)(void* handle, uint32_t count, const char** options);
constexpr size_t most_linkers = 4, most_link_options = 256;
CreateLink linkers[most_linkers];

template <size_t place>
int create_link(void* handle, uint32_t count, const char** options) {
  const char* more[most_link_options + 1];
  if (options == nullptr || count > most_link_options) return linkers[place](handle, count, options);
  for (uint32_t i = 0; i < count; ++i) {
    more[i] = options[i];
    const bool has_lines = more[i] != nullptr && (std::strcmp(more[i], "-lineinfo") == 0 ||
                                                  std::strcmp(more[i], "--generate-line-info") == 0);
    if (has_lines) return linkers[place](handle, count, options);
  }
  more[count] = "-lineinfo";
  return linkers[place](handle, count + 1, more);
}

constexpr CreateLink create_links[] = {create_link<0>, create_link<1>, create_link<2>, create_link<3>};
static_assert(std::size(create_links) == most_linkers);

/// Where the function goes on that begins at an address and does nothing but jump there, as nvJitLink's do
/// from 12.1 on (some after they have made a frame and left it); 0: it does something else.
uint64_t jumps_to(uint64_t function) {
  constexpr unsigned char frame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d}, jump = 0xe9;
  const auto* code = reinterpret_cast<const unsigned char*>(function);
  if (std::memcmp(code, frame, sizeof frame) == 0) code += sizeof frame;
  int32_t distance = 0;
  std::memcpy(&distance, code + 1, sizeof distance);
  const uint64_t after = reinterpret_cast<uint64_t>(code) + 1 + sizeof distance;
  return *code == jump ? after + static_cast<uint64_t>(int64_t{distance}) : 0;
}

/// Has nvJitLink keep the PTX in what it links. Each release's name of the function (nvJitLinkCreate and
/// __nvJitLinkCreate_13_0 …) is a jump to the same code.
void keep_ptx(const link_map& map, const File& file, const Sections& sections) {
  size_t place = 0;
  while (place < most_linkers && linkers[place] != nullptr) ++place;
  if (place == most_linkers) return;
  for_symbols(map, file, sections, [&](const char* name, const Elf64_Sym& symbol) {
    const char* plain = std::strncmp(name, "__", 2) == 0 ? name + 2 : name;
    if (std::strncmp(plain, "nvJitLinkCreate", std::strlen("nvJitLinkCreate")) != 0 ||
        symbol.st_shndx == SHN_UNDEF || symbol.st_value % 16 != 0)
      return;
    const uint64_t code = jumps_to(map.l_addr + symbol.st_value);
    if (code == 0) return;
    linkers[place] = reinterpret_cast<CreateLink>(code);
    put_jump(map.l_addr + symbol.st_value, reinterpret_cast<const void*>(create_links[place]));
  });
}

/// Whether a library of the same name was loaded before, which calls go to: ours, that does its work.
bool is_replaced(const r_debug& debug, const link_map& by) {
  for (const link_map* map = debug.r_map; map != &by; map = map->l_next)
    if (std::strcmp(file_name(map->l_name), file_name(by.l_name)) == 0) return true;
  return false;
}

/// The files that were loaded when the list was last looked at, by their place in the list: it only grows at
/// its end, apart from files that are closed again.
struct Seen {
  const link_map* map;
  const char* unserved;  ///< why its own copy of the runtime is not led here; null if it is
} seen[4096];
constexpr const char* is_foreign = "it is none of CUDA 11 to 13";
constexpr const char* is_code_alone = "its device code comes without PTX, which cannot run here";
size_t seen_count = 0;

bool is_seen(const link_map* map) {
  for (size_t i = 0; i < seen_count; ++i)
    if (seen[i].map == map) return true;
  return false;
}

void serve_new(const r_debug& debug) {
  // A closed file's place may be taken by another one: forget those that are gone.
  size_t kept = 0;
  for (size_t i = 0; i < seen_count; ++i)
    for (const link_map* map = debug.r_map; map != nullptr; map = map->l_next)
      if (map == seen[i].map) {
        seen[kept++] = seen[i];
        break;
      }
  seen_count = kept;
  for (const link_map* map = debug.r_map; map != nullptr; map = map->l_next) {
    if (is_seen(map) || seen_count == sizeof seen / sizeof *seen) continue;
    Seen& now = seen[seen_count++] = {map, is_foreign};
    const bool is_program = map == debug.r_map;
    if ((!is_program && map->l_name[0] == '\0') || is_runtime(*map)) continue;
    const char* path = is_program ? "/proc/self/exe" : map->l_name;
    const File file(path);
    const Sections sections(file);
    keep_variables(*map, file, sections);
    if (is_library(path, "libnvJitLink")) keep_ptx(*map, file, sections);
    if (is_library(path, "libnvrtc")) {
      lead(*map, file, sections, "nvrtcGetCUBIN", "nvrtcGetPTX");
      lead(*map, file, sections, "nvrtcGetCUBINSize", "nvrtcGetPTXSize");
    }
    // What has machine code alone cannot run here. Such libraries keep their own runtime, so that its errors
    // are theirs and not the program's. Many are never called: it is said when their runtime begins.
    const bool is_left_alone =
        !is_program && sections.of_type(SHT_SYMTAB) == nullptr && !comes_with_ptx(file, sections);
    const Served served = is_left_alone ? Served::not_found : serve(file, sections, map->l_addr);
    now.unserved = is_left_alone ? is_code_alone : served == Served::yes ? nullptr : is_foreign;
    // Programs that load PTX themselves have a runtime, but no device code.
    if (is_left_alone || now.unserved == nullptr || sections.named(file, ".nvFatBinSegment") == nullptr ||
        imports(*map, file, sections, "__cudaRegisterFatBinary") || is_replaced(debug, *map))
      continue;
    say("lanescope: error: ", is_program ? "the program" : path,
        served == Served::older
            ? " has its own copy of the CUDA runtime, of CUDA 10 or older: its kernels cannot run here. "
              "Compile it with "
              "CUDA 11, 12 or 13\n"
            : " has its own copy of the CUDA runtime, and no symbols are left by which it could be found (it "
              "was stripped), nor is it found by its code: its kernels cannot run here. Link it with nvcc "
              "-cudart shared, or do not strip it\n");
  }
}

/// What the dynamic linker calls: _r_debug.r_state says whether its list is complete.
void files_changed() {
  if (_r_debug.r_state == r_debug::RT_CONSISTENT) serve_new(_r_debug);
}

/// Takes CUDA_ROOT, which leads JAX to our ptxas, away from tileiras, which looks for all of the toolkit
/// there. (The C library may not be initialised yet, so that there is no unsetenv.)
void lead_tileiras_back(const char* program, char** environment) {
  if (std::strcmp(file_name(program), "tileiras") != 0) return;
  char** kept = environment;
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, "CUDA_ROOT=", 10) != 0) *kept++ = *environment;
  *kept = nullptr;
}

__attribute__((constructor)) void start(int count, char** arguments, char** environment) {
  if (count > 0) lead_tileiras_back(arguments[0], environment);
  for (link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    const char* slash = std::strrchr(map->l_name, '/');
    for (auto& runtime : runtimes)
      if (!runtime.exports.found() && slash != nullptr && std::strcmp(slash, runtime.file) == 0)
        runtime.exports = Exports(*map);  // ours: what is preloaded comes first
  }
  if (!runtimes[0].exports.found()) return;
  serve_new(_r_debug);
  // The debuggers' function is empty: a return, and padding up to the next function.
  if (_r_debug.r_brk % 16 == 0) put_jump(_r_debug.r_brk, reinterpret_cast<const void*>(&files_changed));
}

/// The name by which a library is found that stands here in place of the file at a path: the same without its
/// folder, for what is preloaded has that name. Otherwise the path itself.
const char* replaced(const char* path) {
  if (path == nullptr || std::strchr(path, '/') == nullptr) return path;
  const char* name = file_name(path);
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&replaced), &own) == 0 || own.dli_fname == nullptr) return path;
  const auto folder = static_cast<size_t>(file_name(own.dli_fname) - own.dli_fname);
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next)
    if (std::strncmp(map->l_name, own.dli_fname, folder) == 0 && std::strcmp(map->l_name + folder, name) == 0)
      return name;
  return path;
}

/// Whether a thread is one of the program's: the runtime's block SIGTERM. So does one that has just been
/// made, but that blocks the C library's own signals, too, which nobody else can.
bool is_of_program(const char* thread) {
  char path[64] = "/proc/self/task/", text[4096];
  std::strncat(path, thread, 16);
  std::strcat(path, "/status");
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;  // it has ended
  const ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  text[count > 0 ? count : 0] = '\0';
  const char* const blocked = std::strstr(text, "SigBlk:");
  constexpr int of_c_library = 33;
  if (blocked == nullptr) return true;
  const uint64_t mask = std::strtoull(blocked + 7, nullptr, 16);
  return (mask >> (SIGTERM - 1) & 1) == 0 || (mask >> (of_c_library - 1) & 1) != 0;
}
bool program_has_other_threads() {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(threads))
    if (entry->d_name[0] != '.' && std::strtol(entry->d_name, nullptr, 10) != getpid())
      found = found || is_of_program(entry->d_name);
  closedir(threads);
  return found;
}

/// stat(), by the system call: the structure is the same. The file by which programs (JAX) see that there is
/// a driver before they ask it is there.
int look_at(const char* path, void* out) {
  const bool is_driver = path != nullptr && std::strcmp(path, "/dev/nvidiactl") == 0;
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, is_driver ? "/dev/null" : path, out, 0));
}

}  // namespace

/// Set by the runtime: what to do before the process ends at once.
extern "C" __attribute__((visibility("default"))) void (*lanescope_before_exit)();
void (*lanescope_before_exit)() = nullptr;

/// Why the copy of the runtime in the file that is loaded at an address does not work; null if it is led
/// here.
// NOLINTNEXTLINE(readability-identifier-naming): a name for all programs
extern "C" __attribute__((visibility("default"))) const char* lanescope_unserved(const void* loaded_at) {
  for (size_t i = 0; i < seen_count; ++i)
    if (reinterpret_cast<const void*>(seen[i].map->l_addr) == loaded_at) return seen[i].unserved;
  return is_foreign;
}

extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int status) {
  if (lanescope_before_exit != nullptr) lanescope_before_exit();
  for (;;) syscall(SYS_exit_group, status);
}

/// Set by the runtime: the process is about to become another program, or has failed to.
extern "C" __attribute__((visibility("default"))) void (*lanescope_around_exec)(bool has_failed);
void (*lanescope_around_exec)(bool has_failed) = nullptr;

namespace {

template <typename... A>
int around_exec(const char* name, A... a) {
  if (lanescope_around_exec != nullptr) lanescope_around_exec(false);
  const int result = reinterpret_cast<int (*)(A...)>(dlsym(RTLD_NEXT, name))(a...);
  const int error = errno;
  if (lanescope_around_exec != nullptr) lanescope_around_exec(true);
  errno = error;
  return result;
}

using Words = char* const*;

/// The words of a call that lists them, the last of which is null, handed on as an array; with `environment`,
/// what stands behind them.
int around_list(const char* name, const char* path, const char* first, va_list words, bool environment) {
  va_list again;
  va_copy(again, words);
  size_t count = 1;
  if (first != nullptr)
    for (++count; va_arg(again, char*) != nullptr;) ++count;
  va_end(again);
  auto** list = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  list[0] = const_cast<char*>(first);
  for (size_t i = 1; i < count; ++i) list[i] = va_arg(words, char*);
  return environment ? around_exec(name, path, static_cast<Words>(list), va_arg(words, Words))
                     : around_exec(name, path, static_cast<Words>(list));
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int execve(const char* path, Words words, Words environment) {
  return around_exec("execve", path, words, environment);
}
__attribute__((visibility("default"))) int execv(const char* path, Words words) {
  return around_exec("execv", path, words);
}
__attribute__((visibility("default"))) int execvp(const char* file, Words words) {
  return around_exec("execvp", file, words);
}
__attribute__((visibility("default"))) int execvpe(const char* file, Words words, Words environment) {
  return around_exec("execvpe", file, words, environment);
}
__attribute__((visibility("default"))) int fexecve(int file, Words words, Words environment) {
  return around_exec("fexecve", file, words, environment);
}
__attribute__((visibility("default"))) int execl(const char* path, const char* first, ...) {
  va_list words;
  va_start(words, first);
  const int result = around_list("execv", path, first, words, false);
  va_end(words);
  return result;
}
__attribute__((visibility("default"))) int execlp(const char* file, const char* first, ...) {
  va_list words;
  va_start(words, first);
  const int result = around_list("execvp", file, first, words, false);
  va_end(words);
  return result;
}
__attribute__((visibility("default"))) int execle(const char* path, const char* first, ...) {
  va_list words;
  va_start(words, first);
  const int result = around_list("execve", path, first, words, true);
  va_end(words);
  return result;
}
}

/// The main thread may end before the program's other threads, and the process ends with the last of them.
/// The runtime's own threads never end, and take no signals: left alone with them, the process would go on
/// for ever, and nothing but SIGKILL would end it. So the main thread stays until it is the last of the
/// program's.
extern "C" __attribute__((visibility("default"), noreturn)) void pthread_exit(void* result) {
  using PthreadExit = void (*)(void*);
  constexpr timespec pause{0, 20'000'000};
  if (lanescope_before_exit != nullptr && getpid() == static_cast<pid_t>(syscall(SYS_gettid))) {
    while (program_has_other_threads()) nanosleep(&pause, nullptr);
    exit(0);
  }
  reinterpret_cast<PthreadExit>(dlsym(RTLD_NEXT, "pthread_exit"))(result);
  for (;;) syscall(SYS_exit, 0);
}

/// Programs that load the toolkit's libraries by their paths (Python packages do, out of others) get ours, as
/// those do that load them by their names; beside ours the toolkit's could not be loaded, which wants others
/// of its own. The last call is a jump (CMakeLists.txt sees to that): dlopen looks at who calls it.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* path, int mode) {
  static decltype(&dlopen) real = nullptr;  // no guard: that would be the C++ runtime's
  if (real == nullptr) real = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_NEXT, "dlopen"));
  return real(replaced(path), mode);
}

// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" __attribute__((visibility("default"), noreturn)) void _Exit(int status) { _exit(status); }

// By the older names programs of a C library before 2.33 call them.
// NOLINTBEGIN(readability-identifier-naming): the C library's names
extern "C" __attribute__((visibility("default"))) int stat(const char* path, struct stat* out) {
  return look_at(path, out);
}
extern "C" __attribute__((visibility("default"))) int stat64(const char* path, struct stat64* out) {
  return look_at(path, out);
}
extern "C" __attribute__((visibility("default"))) int __xstat(int, const char* path, struct stat* out) {
  return look_at(path, out);
}
extern "C" __attribute__((visibility("default"))) int __xstat64(int, const char* path, struct stat64* out) {
  return look_at(path, out);
}
// NOLINTEND(readability-identifier-naming)
