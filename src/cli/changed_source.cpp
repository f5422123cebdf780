// See changed_source.hpp.
#include "cli/changed_source.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

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

ChangedSource::ChangedSource(std::string file)
    : file_(std::move(file)), original_(read_file(file_)), changed_(original_) {}

void ChangedSource::change_to(const std::string& text) {
  changed_ = text;
  replace_file(file_, changed_);
}

void ChangedSource::take_back() {
  const std::string now = fs::exists(file_) ? read_file(file_) : "";
  if (now == original_) return;
  if (now == changed_) return replace_file(file_, original_);
  fs::path beside = file_ + ".lanescope-original";
  while (fs::exists(beside)) beside += "~";
  write_file(beside, original_);
  throw Error(SourcePlace{file_},
              fmt::format("something else changed it in the meantime, so it is left as it is, with what fix "
                          "changed; {} is what it was before",
                          beside.string()));
}

void ChangedSource::take_back_interrupted() {
  take_back();
  std::cout << fmt::format("Interrupted, so {} was taken back; build the program again.\n", file_);
}

}  // namespace lanescope::cli
