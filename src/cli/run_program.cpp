// See run_program.hpp. The program runs as a child with preloaded libraries: the CUDA runtime, which writes
// the process's report into a folder of ours, those of older releases in front of it, and the hook that
// leads programs with a runtime of their own to them.
#include "cli/run_program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/tools.hpp"
#include "cli/commands.hpp"
#include "lanescope/model/archs.hpp"
#include "report/read.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

/// CUDA 13 before the older ones: who asks for a function by its name alone gets the newest one.
constexpr const char* runtime_names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
constexpr char hook_name[] = "lanescope_hook.so";

/// Where the runtime's libraries are: beside the program in a build folder, or in an installed tree.
fs::path library_folder() {
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& folder :
       {own / "lib" / "lanescope", own.parent_path() / LANESCOPE_LIBDIR / "lanescope",
        own.parent_path() / "lib" / "lanescope"})
    if (fs::exists(folder / runtime_names[0])) return fs::canonical(folder);
  throw Error(
      fmt::format("{} was not found near {}: it is built by cmake --build --preset program, and installed "
                  "with the program",
                  runtime_names[0], own.string()));
}

/// The folder under a name that LD_PRELOAD can hold, which knows no quotes: its own, or that of a link in
/// `scratch`.
fs::path preloadable(const fs::path& folder, const fs::path& scratch) {
  const auto is_one_word = [](const fs::path& path) {
    return path.string().find_first_of(" :;") == std::string::npos;
  };
  if (is_one_word(folder)) return folder;
  if (!is_one_word(scratch))
    throw Error(
        SourcePlace{folder.string()},
        fmt::format("libraries cannot be preloaded from a folder with blanks or colons in its name, nor by a "
                    "link in {}; let TMPDIR name a folder without",
                    scratch.parent_path().string()));
  fs::path link = scratch / "libraries.link";
  fs::create_directory_symlink(folder, link);
  return link;
}

/// The libraries of the CUDA toolkit that are there, newest first as above.
std::vector<fs::path> toolkit_libraries(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& file : fs::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("libcu") && !name.starts_with("libcuda")) found.push_back(file.path());
  }
  std::ranges::sort(found, std::greater());
  return found;
}

/// The program as a shell would find it.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) != 0)
      throw Error(SourcePlace{name}, fmt::format("cannot run: {}", std::strerror(errno)));
    if (fs::is_directory(name) || access(name.c_str(), X_OK) != 0)
      throw Error(SourcePlace{name}, "cannot run: it is not executable");
    return name;
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/bin:/bin";
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    std::string candidate = (end == begin ? "." : path.substr(begin, end - begin)) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && !fs::is_directory(candidate)) return candidate;
    begin = end + 1;
  }
  throw Error(SourcePlace{name},
              access(name.c_str(), F_OK) == 0
                  ? fmt::format("is no command; a file in this folder is run as ./{}", name)
                  : "cannot run: no such command");
}

/// What the file of a program says of how it can be served.
struct ProgramFile {
  bool is_script = false;  ///< of an interpreter that its first line names
  bool is_elf = false;     ///< for this machine; of the others nothing is read
  bool is_other_elf = false;
  bool is_library = false;
  bool is_static = false;     ///< no dynamic linker: nothing can be preloaded
  std::string other_runtime;  ///< a shared CUDA runtime of another version
};

/// A range of a file's bytes, empty if it is not inside.
std::string_view range(const std::string& bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset
             ? std::string_view(bytes).substr(offset, size)
             : std::string_view();
}

template <typename T>
std::vector<T> objects(std::string_view bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

std::string_view name_at(std::string_view names, uint64_t offset) {
  if (offset >= names.size()) return {};
  names.remove_prefix(offset);
  return names.substr(0, names.find('\0'));
}

ProgramFile inspect(const std::string& path) {
  ProgramFile file;
  const std::string bytes = read_if_readable(path).value_or("");
  file.is_script = bytes.starts_with("#!");
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header) return file;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return file;
  file.is_elf = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
  file.is_other_elf = !file.is_elf;
  if (!file.is_elf) return file;

  const auto segments =
      objects<Elf64_Phdr>(range(bytes, header.e_phoff, uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)));
  file.is_static = std::none_of(segments.begin(), segments.end(),
                                [](const Elf64_Phdr& s) { return s.p_type == PT_INTERP; });
  // Of what is linked as a whole, only a position-independent program says that it is one.
  file.is_library = file.is_static && header.e_type == ET_DYN;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (const Elf64_Dyn& entry : objects<Elf64_Dyn>(range(bytes, segment.p_offset, segment.p_filesz)))
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) file.is_library = false;
  }
  const auto sections =
      objects<Elf64_Shdr>(range(bytes, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)));
  const auto content = [&](const Elf64_Shdr& section) {
    return range(bytes, section.sh_offset, section.sh_size);
  };
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const std::string_view names = content(sections[section.sh_link]);
    for (const Elf64_Dyn& entry : objects<Elf64_Dyn>(content(section))) {
      const std::string_view needed = entry.d_tag == DT_NEEDED ? name_at(names, entry.d_un.d_val) : "";
      if (needed.starts_with("libcudart.so.") &&
          std::find(std::begin(runtime_names), std::end(runtime_names), needed) == std::end(runtime_names))
        file.other_runtime = needed;
    }
  }
  return file;
}

/// Throws for programs that cannot be served, with what would mend it.
void check_program(const std::string& path, const ProgramFile& file) {
  if (file.is_script) return;
  if (file.is_other_elf)
    throw Error(SourcePlace{path},
                "is a program for another machine or of 32 bits; Lanescope runs 64-bit x86 ones");
  if (!file.is_elf)
    throw Error(SourcePlace{path}, "is no program (ELF), and no script that begins with a line #!…");
  if (file.is_library) throw Error(SourcePlace{path}, "is a library, not a program");
  if (file.is_static)
    throw Error(
        SourcePlace{path},
        "is linked statically as a whole, so that no library can be put under it; link it without -static");
  if (!file.other_runtime.empty())
    throw Error(SourcePlace{path},
                fmt::format("is linked with {}; Lanescope serves programs of CUDA 11, 12 and 13 ({})",
                            file.other_runtime, fmt::join(runtime_names, ", ")));
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
void prepend(const char* name, const std::string& value) {
  const char* before = std::getenv(name);
  set(name, before != nullptr && *before != '\0' ? value + ":" + before : value);
}

/// What compilers and frameworks are told, so that their kernels are here as PTX.
void set_variables_of_frameworks(const fs::path& libraries, const fs::path& reports) {
  // Numba, CuPy, Triton and PyTorch keep what was compiled: here PTX, which is no use elsewhere, and
  // elsewhere machine code.
  set("NUMBA_CACHE_DIR", (reports / "numba.cache").string());
  set("CUPY_CACHE_DIR", (reports / "cupy.cache").string());
  set("CUPY_COMPILE_WITH_PTX", "1");
  // The package has machine code of CUB for all chips, and PTX for the newest one alone; CuPy does not notice
  // that it was not run, and sums would be what lay in memory. Without it, it compiles kernels of its own.
  setenv("CUPY_ACCELERATORS", "", 0);
  // Triton and XLA assemble their PTX themselves: by a program in a toolkit of ours, which hands it on. What
  // the runtime asks for registers is the one that was found before; none, if there is none.
  const fs::path toolkit = libraries / "cuda", assembler = find_tool("ptxas", "LANESCOPE_PTXAS");
  set("LANESCOPE_PTXAS", assembler.empty() ? "none" : assembler.string());
  prepend("PATH", (toolkit / "bin").string());
  set("TRITON_CACHE_DIR", (reports / "triton.cache").string());
  set("TORCHINDUCTOR_CACHE_DIR", (reports / "inductor.cache").string());
  set("TRITON_LIBCUDA_PATH", libraries.string());
  for (const char* name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    set(name, (toolkit / "bin" / "ptxas").string());
  set("CUDA_ROOT", toolkit.string());
  set("JAX_ENABLE_COMPILATION_CACHE", "false");
  // JAX compares the versions of the toolkit's libraries, which are others here.
  set("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1");
  // JAX would take most of the device's memory at once, more than this machine may have.
  setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false", 0);
  // XLA measures which way is the fastest, which says nothing here, with kernels of which it has no PTX but
  // for one chip. What the program's user asks for comes behind; a value of another form is the name of a
  // file.
  const char* flags = std::getenv("XLA_FLAGS");
  if (flags == nullptr || *flags == '\0' || *flags == '-')
    set("XLA_FLAGS", fmt::format("--xla_gpu_autotune_level=0 {}", flags != nullptr ? flags : ""));
  // PyTorch looks there for what extends it.
  prepend("PYTHONPATH", (libraries / "python").string());
  // What programs compile by nvcc while they run (extensions of PyTorch) names lines, and machine code of one
  // chip has its PTX inside.
  const char* nvcc = std::getenv("NVCC_APPEND_FLAGS");
  if (nvcc == nullptr || std::strstr(nvcc, "lineinfo") == nullptr)
    set("NVCC_APPEND_FLAGS", fmt::format("{} -lineinfo", nvcc != nullptr ? nvcc : ""));
  // CuTe's compiler hands over machine code, which has its PTX inside with this.
  set("CUTE_DSL_LINEINFO", "1");
}

void set_variables(const ProgramOptions& options, const fs::path& libraries, const fs::path& reports) {
  const auto set_number = [&](const char* name, uint64_t value, uint64_t unset) {
    if (value != unset) set(name, std::to_string(value));
  };
  std::string preloaded = (libraries / hook_name).string();
  for (const char* name : runtime_names) preloaded += ":" + (libraries / name).string();
  for (const fs::path& library : toolkit_libraries(libraries)) preloaded += ":" + library.string();
  prepend("LD_PRELOAD", preloaded);
  prepend("LD_LIBRARY_PATH", libraries.string());
  set_variables_of_frameworks(libraries, reports);
  set("LANESCOPE_ARCH", options.arch);
  set("LANESCOPE_REPORT", reports.string());
  set_number("LANESCOPE_BANK_MODE", static_cast<uint64_t>(options.bank_mode), 0);
  if (!options.kernels.empty()) set("LANESCOPE_KERNEL", options.kernels);
  if (options.assemble) set("LANESCOPE_ASSEMBLE", "1");
  if (options.each_launch) set("LANESCOPE_EACH_LAUNCH", "1");
  set_number("LANESCOPE_LAUNCH_SKIP", options.launch_skip, 0);
  set_number("LANESCOPE_LAUNCH_COUNT", options.launch_count, UINT64_MAX);
  set_number("LANESCOPE_SAMPLE_BLOCKS", options.sample_blocks, 0);
  set_number("LANESCOPE_THREADS", options.threads, 0);
  if (options.no_count) set("LANESCOPE_NO_COUNT", "1");
  if (options.no_merge) set("LANESCOPE_NO_MERGE", "1");
  if (!options.checks.empty()) set("LANESCOPE_CHECK", options.checks);
  if (options.poison_shared) set("LANESCOPE_POISON_SHARED", "1");
  if (!options.recordings.empty()) set("LANESCOPE_RECORDINGS", options.recordings.string());
  if (options.follow_children)
    set("LANESCOPE_FOLLOW_CHILDREN", "1");
  else
    set("LANESCOPE_PROCESS", std::to_string(getpid()));
}

std::atomic<pid_t> child{0};

/// What somebody sends to us is meant for the program. The terminal sends to both by itself.
void forward(int number, siginfo_t* info, void*) {
  if (info->si_code <= 0 && child > 0) kill(child, number);
}

int start_and_wait(const ProgramOptions& options, const std::string& path, const fs::path& libraries,
                   const fs::path& reports) {
  std::cout.flush();
  int failed[2];
  if (pipe2(failed, O_CLOEXEC) != 0)
    throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  const pid_t started = fork();
  if (started < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (started == 0) {
    set_variables(options, libraries, reports);
    const std::vector<char*> arguments = argument_vector(options.command);
    execv(path.c_str(), arguments.data());
    const int reason = errno;
    if (write(failed[1], &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
  }
  child = started;
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT})
    sigaction(number, &action, nullptr);

  close(failed[1]);
  int reason = 0;
  ssize_t got = 0;
  while ((got = read(failed[0], &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  close(failed[0]);
  const int status = wait_for(started);
  if (got == sizeof reason)
    throw Error(SourcePlace{path},
                fmt::format("cannot run: {}", reason == ENOENT && access(path.c_str(), F_OK) == 0
                                                  ? "the interpreter that it names does not exist"
                                                  : std::strerror(reason)));
  return status;
}

std::vector<ProcessReport> read_reports(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, ProcessReport>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.path().extension().empty()) continue;
    found.push_back({entry.last_write_time(),
                     {entry.path().filename().string(),
                      report::from_json(read_file(entry.path()), entry.path().string())}});
  }
  const std::string first = std::to_string(child.load());
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) {
    const bool a_first = a.second.process == first, b_first = b.second.process == first;
    return a_first != b_first ? a_first : a.first < b.first;
  });
  std::vector<ProcessReport> reports;
  for (auto& [time, report] : found) reports.push_back(std::move(report));
  return reports;
}

std::string why_no_report(int status, bool is_partial) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return "was killed, so that it could not report";
  if (is_partial) return "ran no kernel here; the reason stands above";
  return "ran no CUDA kernel or copy; if a process that it started did, add --follow-children";
}

}  // namespace

void ProgramOptions::run_on(const model::Arch& on, std::string_view tool) {
  if (model::find_arch(on.name) == nullptr)
    throw Error(fmt::format(
        "{}: a program runs on an architecture with a name (--arch); --banks is for PTX files", tool));
  arch = on.name;
  bank_mode = on.has_bank_modes ? on.bank_bytes : 0;
}

void refuse_source(const std::string& path) {
  if (path.ends_with(".cu") || path.ends_with(".cuh"))
    throw Error(
        SourcePlace{path},
        "is CUDA source. Compile it first: as a program (nvcc -lineinfo), which goes behind --, or to "
        "PTX (nvcc -ptx -lineinfo)");
}

ProgramRun run_program(const ProgramOptions& options) {
  const fs::path libraries = library_folder();
  refuse_source(options.command.front());
  const std::string path = find_program(options.command.front());
  const ProgramFile file = inspect(path);
  check_program(path, file);
  ProgramRun run;
  run.files = std::make_shared<const ScratchFolder>();
  const fs::path& folder = run.files->path();
  const int status = start_and_wait(options, path, preloadable(libraries, folder), folder);

  run.reports = read_reports(folder);
  child = 0;
  const auto some_process_left = [&](const char* mark) {
    return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                       [&](const fs::directory_entry& entry) { return entry.path().extension() == mark; });
  };
  run.has_defect = some_process_left(".failed");
  run.is_partial = some_process_left(".refused");
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)  // a shell would tell this of its own child
    std::cerr << fmt::format("lanescope: {} was ended by signal {} ({})\n", options.command.front(),
                             WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (run.reports.empty())
    std::cerr << "lanescope: " << options.command.front() << ' ' << why_no_report(status, run.is_partial)
              << '\n';
  run.status = exit_status(status);
  return run;
}

int status_after(const ProgramRun& run, int verdict) {
  if (run.status != 0) return run.status;
  if (run.has_defect) return program_failed;
  return run.is_partial ? bad_input : verdict;
}

}  // namespace lanescope::cli
