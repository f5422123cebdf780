// See assembler.hpp. The tools run as processes of their own: without what `lanescope run` has put into the
// environment (LD_PRELOAD), and with what they print in a file.
#include "ptx/assembler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "base/tools.hpp"

namespace lanescope::ptx {
namespace {

namespace fs = std::filesystem;

/// What a command prints, on both of its outputs.
std::string output_of(const std::vector<std::string>& command, const ScratchFolder& folder) {
  const std::vector<char*> arguments = argument_vector(command);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_LIBRARY_PATH=") &&
        !text.starts_with("LANESCOPE_"))
      environment.push_back(*entry);
  }
  environment.push_back(nullptr);

  const std::string printed = (folder.path() / "printed").string();
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, printed.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return "";
  wait_for(child);
  return read_if_readable(printed).value_or("");
}

/// FNV-1a; two of them with different beginnings name a file of the cache.
uint64_t hash(const std::vector<std::string>& parts, uint64_t begin) {
  uint64_t value = begin;
  const auto add = [&](char c) { value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3; };
  for (const std::string& part : parts) {
    for (const char c : part) add(c);
    add('\0');
  }
  return value;
}

/// Where the result for these inputs is kept; empty where there is no place.
fs::path cache_file(const std::vector<std::string>& parts) {
  const std::string home = environment_variable("HOME"), cache = environment_variable("XDG_CACHE_HOME");
  if (home.empty() && cache.empty()) return {};
  std::ostringstream name;
  name << std::hex << hash(parts, 0xcbf29ce484222325) << hash(parts, 0x84222325cbf29ce4) << ".ptxas";
  return (cache.empty() ? fs::path(home) / ".cache" : fs::path(cache)) / "lanescope" / name.str();
}

constexpr std::string_view cache_version = "lanescope 1";

bool read_cache(const fs::path& path, Assembly& assembly) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || line != cache_version) return false;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string name;
    MachineNeeds n;
    if (!(words >> name >> n.registers >> n.stack_bytes >> n.spill_store_bytes >> n.spill_load_bytes))
      return false;
    assembly.kernels[name] = n;
  }
  return true;
}

void write_cache(const fs::path& path, const Assembly& assembly) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const std::string fresh = path.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(fresh);
    out << cache_version << '\n';
    for (const auto& [name, n] : assembly.kernels)
      out << name << ' ' << n.registers << ' ' << n.stack_bytes << ' ' << n.spill_store_bytes << ' '
          << n.spill_load_bytes << '\n';
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) fs::rename(fresh, path, failed);
  if (failed) fs::remove(fresh, failed);
}

/// The number before `what` in a line, 0 if it is not there.
uint32_t number_before(std::string_view line, std::string_view what) {
  const size_t end = line.find(what);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  uint32_t number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

/// The name between quotes, or behind `words` up to the line's end.
std::string name_in(std::string_view line, std::string_view words) {
  const size_t at = line.find(words);
  if (at == std::string_view::npos) return "";
  std::string_view name = line.substr(at + words.size());
  if (name.starts_with('\'')) {
    name.remove_prefix(1);
    name = name.substr(0, name.find('\''));
  }
  return std::string(name);
}

/// The first line that tells of an error.
std::string error_in(const std::string& printed) {
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
  return printed.substr(0, printed.find('\n'));
}

/// The texts as of another version of PTX.
std::vector<std::string> with_version(std::vector<std::string> texts, const std::string& version) {
  constexpr std::string_view directive = ".version ";
  for (std::string& text : texts) {
    const size_t at = text.find(directive);
    if (at == std::string::npos) continue;
    const size_t begin = at + directive.size();
    text.replace(begin, text.find_first_of(" \t\r\n", begin) - begin, version);
  }
  return texts;
}

Assembly run(const fs::path& ptxas, const std::vector<std::string>& texts, const std::string& target) {
  const ScratchFolder folder;
  const auto file = [&](const std::string& name) { return (folder.path() / name).string(); };
  const std::string arch = "-arch=" + target;
  Assembly assembly;
  std::string printed;
  std::vector<std::string> units, objects;
  for (size_t i = 0; i < texts.size(); ++i) {
    units.push_back(file(std::to_string(i) + ".ptx"));
    objects.push_back(file(std::to_string(i) + ".o"));
    std::ofstream(units.back(), std::ios::binary) << texts[i];
  }
  if (units.size() == 1) {
    printed = output_of({ptxas.string(), arch, "-v", "-o", objects[0], units[0]}, folder);
    read_assembler_output(printed, assembly.kernels);
  }
  if (assembly.kernels.empty()) {  // units of a program that is linked
    std::vector<std::string> link = {(ptxas.parent_path() / "nvlink").string(), arch, "-v", "-o",
                                     file("linked")};
    for (size_t i = 0; i < units.size(); ++i) {
      const std::string of_unit =
          output_of({ptxas.string(), arch, "-v", "-c", "-o", objects[i], units[i]}, folder);
      read_assembler_output(of_unit, assembly.kernels);
      printed += of_unit;
      link.push_back(objects[i]);
    }
    // The linker knows what a kernel needs with all that it calls. It may miss the device's runtime, which
    // changes nothing in what it prints.
    if (!assembly.kernels.empty()) read_assembler_output(output_of(link, folder), assembly.kernels);
  }
  // Of a newer compiler's PTX, an older assembler takes what has no news in it.
  const std::string newest = name_in(printed, "current version is ");
  if (assembly.kernels.empty() && !newest.empty()) {
    const std::vector<std::string> older = with_version(texts, newest);
    if (older != texts) return run(ptxas, older, target);
  }
  if (assembly.kernels.empty()) assembly.unknown = ptxas.string() + ": " + error_in(printed);
  return assembly;
}

/// The target that texts for one architecture or its family alone (sm_90a, sm_100f) ask for, which ptxas does
/// not take for another; else the one given.
std::string exact_target(const std::vector<std::string>& texts, const std::string& target) {
  constexpr std::string_view directive = ".target ";
  for (const std::string& text : texts) {
    const size_t at = text.find(std::string(directive) + target);
    const size_t letter = at + directive.size() + target.size();
    if (at != std::string::npos && letter < text.size() && (text[letter] == 'a' || text[letter] == 'f'))
      return target + text[letter];
  }
  return target;
}

/// The text with a directive for each kernel that `limit_of(name)` is not 0 of and that has none.
template <typename F>
std::string with_limits(std::string text, F&& limit_of) {
  constexpr std::string_view entry = ".entry";
  for (size_t at = text.find(entry); at != std::string::npos; at = text.find(entry, at + 1)) {
    const size_t end = text.find_first_of("{;", at);
    if (end == std::string::npos || text[end] == ';') continue;  // declared, not defined
    const std::string_view head = std::string_view(text).substr(at + entry.size(), end - at - entry.size());
    if (head.find(".maxnreg") != std::string_view::npos) continue;
    const size_t name = std::min(head.find_first_not_of(" \t\r\n"), head.size());
    const uint32_t limit = limit_of(head.substr(name, head.find_first_of(" \t\r\n(", name) - name));
    if (limit != 0) text.insert(end, ".maxnreg " + std::to_string(limit) + " ");
  }
  return text;
}

}  // namespace

std::string with_register_limit(std::string text, uint32_t limit) {
  return with_limits(std::move(text), [&](std::string_view) { return limit; });
}

std::string with_register_limits(std::string text,
                                 const std::map<std::string, uint32_t, std::less<>>& limits) {
  return with_limits(std::move(text), [&](std::string_view kernel) {
    const auto found = limits.find(kernel);
    return found == limits.end() ? 0 : found->second;
  });
}

void read_assembler_output(const std::string& printed, std::map<std::string, MachineNeeds>& kernels) {
  std::istringstream lines(printed);
  std::string kernel, function;
  for (std::string line; std::getline(lines, line);) {
    if (const std::string name = name_in(line, "Compiling entry function "); !name.empty()) {
      kernel = name;
      kernels[kernel] = {};
    } else if (const std::string of = name_in(line, "Function properties for "); !of.empty()) {
      function = of;
    } else if (line.find("bytes stack frame") != std::string::npos && function == kernel && !kernel.empty()) {
      MachineNeeds& needs = kernels[kernel];
      needs.stack_bytes = number_before(line, " bytes stack frame");
      needs.spill_store_bytes = number_before(line, " bytes spill stores");
      needs.spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (line.find(": Used ") != std::string::npos && !kernel.empty()) {
      kernels[kernel].registers = number_before(line, " registers");
    } else if (line.find(": used ") != std::string::npos && kernels.contains(function)) {  // the linker's
      kernels[function].registers = number_before(line, " registers");
      kernels[function].stack_bytes = number_before(line, " stack");
    }
  }
}

Assembly assemble(const std::vector<std::string>& texts, const std::string& target) {
  const fs::path ptxas = find_tool("ptxas", "LANESCOPE_PTXAS");
  if (ptxas.empty()) return {{}, "ptxas was not found (it comes with the CUDA toolkit; PATH, CUDA_HOME)"};
  std::error_code ignored;
  std::vector<std::string> parts = texts;
  const std::string exact = exact_target(texts, target);
  parts.push_back(exact);
  parts.push_back(fs::canonical(ptxas, ignored).string());
  parts.push_back(std::to_string(fs::file_size(ptxas, ignored)));
  const fs::path cached = cache_file(parts);
  Assembly assembly;
  if (!cached.empty() && read_cache(cached, assembly)) return assembly;
  try {
    assembly = run(ptxas, texts, exact);
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
  if (!cached.empty() && assembly.unknown.empty()) write_cache(cached, assembly);
  return assembly;
}

}  // namespace lanescope::ptx
