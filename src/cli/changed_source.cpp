// See changed_source.hpp.
#include "cli/changed_source.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lanescope::cli {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& file, const std::string& content) {
  std::ofstream out(file, std::ios::binary);
  out << content;
  out.close();
  if (!out) throw Error(SourcePlace{file.string()}, fmt::format("cannot write: {}", std::strerror(errno)));
}

void replace_file(const fs::path& path, const std::string& content) {
  const fs::path file = fs::canonical(path), fresh = file.string() + ".lanescope-new";
  write_file(fresh, content);
  std::error_code failed;
  fs::permissions(fresh, fs::status(file).permissions(), failed);
  fs::rename(fresh, file, failed);
  if (failed) {
    fs::remove(fresh);
    throw Error(SourcePlace{path.string()}, fmt::format("cannot be replaced: {}", failed.message()));
  }
}

}  // namespace

void ChangedSource::make(const advise::Patch& patch) {
  for (const advise::Patch& of_file : patch.of_files()) {
    const std::string now = read_file(of_file.file);
    File& file = files_.try_emplace(of_file.file, File{now, now}).first->second;
    file.changed = advise::patched(now, of_file.edits, of_file.file);
    replace_file(of_file.file, file.changed);
  }
}

void ChangedSource::take_back() {
  std::optional<Error> failed;
  for (const auto& [name, file] : files_) {
    const std::string now = fs::exists(name) ? read_file(name) : "";
    if (now == file.changed) replace_file(name, file.original);
    if (now == file.changed || now == file.original) continue;
    fs::path beside = name + ".lanescope-original";
    while (fs::exists(beside)) beside += "~";
    write_file(beside, file.original);
    failed = Error(SourcePlace{name},
                   fmt::format("something else changed it in the meantime, so it is left as it is, with what "
                               "fix changed; {} is what it was before",
                               beside.string()));
  }
  files_.clear();
  if (failed) throw Error(*failed);
}

void ChangedSource::take_back_interrupted() {
  const std::string changed = names();
  take_back();
  std::cout << fmt::format("Interrupted, so {} was taken back; build the program again.\n", changed);
}

std::string ChangedSource::names() const {
  std::string all;
  for (const auto& [name, file] : files_) all += (all.empty() ? "" : " and ") + name;
  return all;
}

}  // namespace lanescope::cli
