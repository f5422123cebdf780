// See recording.hpp. The folder holds recording.json, the PTX (module-0.ptx …) and the bytes of memory
// (before, after), sparse where they are zero or did not change.
#include "replay/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lanescope::replay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* description = "recording.json";
constexpr uint64_t file_chunk = 1 << 20, page = 4096;

[[noreturn]] void fail(const std::string& path, std::string_view what) {
  throw Error(SourcePlace{path}, fmt::format("{}: {}", what, std::strerror(errno)));
}

void write_text(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) fail(path.string(), "cannot write");
}

/// A file that bytes are written to at places of their own.
class Sparse {
 public:
  explicit Sparse(const fs::path& path, uint64_t size)
      : path_(path.string()), file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (file_ < 0) fail(path_, "cannot write");
    if (ftruncate(file_, static_cast<off_t>(size)) != 0) {
      close(file_);
      fail(path_, "cannot write");
    }
  }
  ~Sparse() { close(file_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  void write(const std::byte* from, uint64_t offset, uint64_t bytes) const {
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t part = std::min(file_chunk, bytes - done);
      if (!is_zero(from + done, part)) write_all(from + done, offset + done, part);
      done += part;
    }
  }

 private:
  std::string path_;
  int file_;

  static bool is_zero(const std::byte* at, uint64_t bytes) {
    return at[0] == std::byte{0} && std::memcmp(at, at + 1, bytes - 1) == 0;
  }
  void write_all(const std::byte* from, uint64_t offset, uint64_t bytes) const {
    while (bytes != 0) {
      const ssize_t got = pwrite(file_, from, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) fail(path_, "cannot write");
      from += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<uint64_t>(got);
    }
  }
};

const std::byte* bytes_of(const Piece& piece) { return reinterpret_cast<const std::byte*>(piece.address); }

bool is_changed(const Piece& piece, const Contents& before) {
  std::vector<std::byte> old(std::min(file_chunk, piece.size));
  for (uint64_t done = 0; done < piece.size;) {
    const uint64_t part = std::min(file_chunk, piece.size - done);
    before.read(old.data(), piece.offset + done, part);
    if (std::memcmp(old.data(), bytes_of(piece) + done, part) != 0) return true;
    done += part;
  }
  return false;
}

/// Gives each piece its place in the files; the size of the files.
uint64_t place(Recording& recording) {
  uint64_t end = 0;
  for (auto* pieces : {&recording.allocations, &recording.variables})
    for (Piece& piece : *pieces) {
      piece.offset = end;
      end += (piece.size + page - 1) / page * page;
    }
  return end;
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 2 <= hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

json json_of(const std::vector<Piece>& pieces) {
  json list = json::array();
  for (const Piece& p : pieces)
    list.push_back({{"name", p.name},
                    {"address", p.address},
                    {"size", p.size},
                    {"element", p.element},
                    {"has_addresses", p.has_addresses},
                    {"is_initial", p.is_initial},
                    {"is_changed", p.is_changed},
                    {"offset", p.offset}});
  return list;
}

std::vector<Piece> pieces_of(const json& list) {
  std::vector<Piece> pieces;
  for (const json& p : list)
    pieces.push_back({p.at("name"), p.at("address"), p.at("size"), p.at("element"), p.at("has_addresses"),
                      p.at("is_initial"), p.at("is_changed"), p.at("offset")});
  return pieces;
}

std::string module_name(size_t index) { return fmt::format("module-{}.ptx", index); }

/// Writes what describes the recording; the contents of memory are written by Capture.
void write(const fs::path& folder, const Recording& r) {
  for (size_t i = 0; i < r.ptx.size(); ++i) write_text(folder / module_name(i), r.ptx[i]);
  const json all{{"kernel", r.kernel},
                 {"display_name", r.display_name},
                 {"grid", r.launch.grid},
                 {"block", r.launch.block},
                 {"cluster", r.launch.cluster},
                 {"dynamic_shared", r.launch.dynamic_shared},
                 {"cooperative", r.launch.cooperative},
                 {"parameters", hex_of(r.parameters)},
                 {"parameter_offsets", r.parameter_offsets},
                 {"modules", r.ptx.size()},
                 {"allocations", json_of(r.allocations)},
                 {"variables", json_of(r.variables)},
                 {"has_f32", r.has_f32},
                 {"has_f64", r.has_f64},
                 {"stores", r.stores},
                 {"has_tensor_maps", r.has_tensor_maps},
                 {"notes", r.notes},
                 {"obstacle", r.obstacle}};
  write_text(folder / description, all.dump(1, ' ', false, json::error_handler_t::replace));
}

}  // namespace

Recording read(const fs::path& folder) {
  const fs::path path = folder / description;
  const std::string text = read_file(path);
  try {
    const json all = json::parse(text);
    Recording r;
    r.kernel = all.at("kernel");
    r.display_name = all.at("display_name");
    r.launch.grid = all.at("grid");
    r.launch.block = all.at("block");
    r.launch.cluster = all.at("cluster");
    r.launch.dynamic_shared = all.at("dynamic_shared");
    r.launch.cooperative = all.at("cooperative");
    r.parameters = bytes_of(all.at("parameters").get<std::string>());
    r.parameter_offsets = all.at("parameter_offsets").get<std::vector<uint32_t>>();
    for (size_t i = 0; i < all.at("modules").get<size_t>(); ++i)
      r.ptx.push_back(read_file(folder / module_name(i)));
    r.allocations = pieces_of(all.at("allocations"));
    r.variables = pieces_of(all.at("variables"));
    r.has_f32 = all.at("has_f32");
    r.has_f64 = all.at("has_f64");
    r.stores = all.at("stores");
    r.has_tensor_maps = all.at("has_tensor_maps");
    r.notes = all.at("notes").get<std::vector<std::string>>();
    r.obstacle = all.at("obstacle");
    return r;
  } catch (const json::exception& error) {
    throw Error(SourcePlace{path.string()}, fmt::format("is no recording: {}", error.what()));
  } catch (const std::logic_error&) {
    throw Error(SourcePlace{path.string()}, "is no recording: its parameters are no bytes");
  }
}

Contents::Contents(const fs::path& folder, When when)
    : path_((folder / (when == When::before ? "before" : "after")).string()),
      file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0) fail(path_, "cannot read");
}
Contents::~Contents() { close(file_); }

void Contents::read(void* to, uint64_t offset, uint64_t bytes) const {
  auto* at = static_cast<std::byte*>(to);
  while (bytes != 0) {
    const ssize_t got = pread(file_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "cannot read");
    if (got == 0) throw Error(SourcePlace{path_}, "ends too early");
    at += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

Capture::Capture(fs::path folder, Recording recording)
    : folder_(std::move(folder)), recording_(std::move(recording)) {
  if (!recording_.obstacle.empty()) return;
  try {
    fs::create_directories(folder_);
    const Sparse file(folder_ / "before", place(recording_));
    for (const auto* pieces : {&recording_.allocations, &recording_.variables})
      for (const Piece& piece : *pieces) file.write(bytes_of(piece), piece.offset, piece.size);
  } catch (const std::exception& error) {
    recording_.obstacle = error.what();
  }
}

void Capture::finish(const std::string& obstacle) {
  if (recording_.obstacle.empty()) recording_.obstacle = obstacle;
  try {
    if (recording_.obstacle.empty()) {
      const Contents before(folder_, Contents::When::before);
      const Sparse after(folder_ / "after", place(recording_));
      for (auto* pieces : {&recording_.allocations, &recording_.variables})
        for (Piece& piece : *pieces) {
          piece.is_changed = is_changed(piece, before);
          if (piece.is_changed) after.write(bytes_of(piece), piece.offset, piece.size);
        }
    }
  } catch (const std::exception& error) {
    recording_.obstacle = error.what();
  }
  if (!recording_.obstacle.empty()) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    Recording named;
    named.kernel = recording_.kernel;
    named.display_name = recording_.display_name;
    named.launch = recording_.launch;
    named.obstacle = recording_.obstacle;
    recording_ = std::move(named);
  }
  fs::create_directories(folder_);
  write(folder_, recording_);
}

}  // namespace lanescope::replay
