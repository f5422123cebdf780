// See replay.hpp.
#include "replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "exec/tensor_map.hpp"

namespace lanescope::replay {
namespace {

using nlohmann::json;

constexpr int clock_khz = 13;  // CU_DEVICE_ATTRIBUTE_CLOCK_RATE

/// Allocations nearer to each other than this share a mapping: each takes 64 MiB of addresses at least.
constexpr uint64_t near = 128 << 20;
constexpr uint64_t device_chunk = 64 << 20;
constexpr double of_greatest = 0.1;  // of the tolerance, where numbers are compared with the greatest one
constexpr double timed_seconds = 1.0;
constexpr size_t warm_up = 5, fewest_runs = 5;

/// A kernel that does nothing, and one that lasts for some nanoseconds. For every GPU that today's drivers
/// serve.
constexpr const char* helpers = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry lanescope_nothing() { ret; }
.visible .entry lanescope_delay(.param .u64 ns)
{
  .reg .pred %p; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [ns];
  mov.u64 %rd2, %globaltimer;
  add.u64 %rd1, %rd1, %rd2;
again:
  mov.u64 %rd2, %globaltimer;
  setp.lt.u64 %p, %rd2, %rd1;
  @%p bra again;
  ret;
}
)";
/// The GPU is kept busy for this long while the host puts what is timed into the stream, which then follows
/// without a gap.
constexpr uint64_t head_start_ns = 30'000;

/// What has been seen of a piece's elements that differ.
class Tally {
 public:
  Tally(const Piece& piece, const Recording& recording, const Options& options)
      : options_(options),
        type_(piece.element.empty() ? recording.stores : piece.element),
        is_known_(!type_.empty()) {
    if (!is_known_ && recording.has_f32) type_ = "f32";
    if (!is_known_ && !recording.has_f32 && recording.has_f64) type_ = "f64";
    bytes_ = type_.empty() ? 4 : static_cast<uint64_t>(std::stoi(type_.substr(1))) / 8;
  }

  /// Compares bytes from `offset` of the piece on, which is a multiple of 8.
  void add(uint64_t offset, const std::byte* expected, const std::byte* found, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += bytes_) {
      const uint64_t size = std::min(bytes_, bytes - i);
      if (std::memcmp(expected + i, found + i, size) == 0) continue;
      if (different_++ == 0) {
        first_ = offset + i;
        expected_ = hex(expected + i, size);
        found_ = hex(found + i, size);
      }
      if (size < bytes_)
        largest_ = infinite;
      else if (type_ == "f32")
        note(number<float>(expected + i), number<float>(found + i));
      else if (type_ == "f64")
        note(number<double>(expected + i), number<double>(found + i));
    }
  }
  [[nodiscard]] bool any() const { return different_ != 0; }
  /// Then the largest number of the piece must be known, too: sums that cancel are as far apart as their
  /// parts.
  [[nodiscard]] bool needs_largest() const { return farthest_ > 0 && largest_ < infinite; }
  void add_size(const std::byte* expected, uint64_t bytes) {
    for (uint64_t i = 0; i + bytes_ <= bytes; i += bytes_) {
      const double x = std::abs(type_ == "f32" ? number<float>(expected + i) : number<double>(expected + i));
      if (std::isfinite(x)) greatest_ = std::max(greatest_, x);
    }
  }
  [[nodiscard]] Difference result(const Piece& piece) const {
    Difference d;
    const bool is_number = (type_ == "f32" || type_ == "f64") && largest_ < infinite;
    d.name = piece.name;
    d.element = is_number || is_known_ ? type_ : fmt::format("{} bytes", bytes_);
    d.elements = (piece.size + bytes_ - 1) / bytes_;
    d.different = different_;
    d.first = first_ / bytes_;
    d.address = piece.address + first_;
    d.expected = expected_;
    d.found = found_;
    if (is_number) {
      d.largest = largest_;
      d.is_close = farthest_ <= of_greatest * tolerance() * greatest_;
    }
    return d;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  const Options& options_;
  std::string type_;
  bool is_known_;
  uint64_t bytes_ = 4, different_ = 0, first_ = 0;
  std::string expected_, found_;
  double largest_ = 0;   ///< relative difference
  double farthest_ = 0;  ///< difference of those that are not within the tolerance
  double greatest_ = 0;  ///< number of the piece

  [[nodiscard]] double tolerance() const {
    return type_ == "f32" ? options_.f32_tolerance : options_.f64_tolerance;
  }
  template <class T>
  static double number(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  /// As numbers are written: the highest byte first.
  static std::string hex(const std::byte* at, uint64_t bytes) {
    std::string text = "0x";
    for (uint64_t i = bytes; i-- > 0;) text += fmt::format("{:02x}", static_cast<unsigned>(at[i]));
    return text;
  }
  /// Where nobody says that these are floats they must look like some: integers are mostly tiny, or huge.
  [[nodiscard]] bool is_plausible(double x) const {
    const double size = std::abs(x);
    return is_known_ || x == 0 || (size > 0x1p-60 && size < 0x1p60);
  }
  void note(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return;
    const double apart = std::abs(a - b) / std::max(std::abs(a), std::abs(b));
    if (!is_plausible(a) || !is_plausible(b) || !std::isfinite(apart)) {
      largest_ = infinite;
      return;
    }
    largest_ = std::max(largest_, apart);
    if (apart > tolerance()) farthest_ = std::max(farthest_, std::abs(a - b));
  }
};

/// Times what a stream does.
class Timer {
 public:
  Timer(gpu::Device& device, std::chrono::seconds limit)
      : device_(device),
        limit_(limit),
        module_(device.load(helpers)),
        nothing_(module_.function("lanescope_nothing")),
        delay_(module_.function("lanescope_delay")) {}

  void nothing() { device_.launch(nothing_, {}, {}); }
  /// Runs `work` a few times untimed, then timed until `most` are, or the time is spent.
  template <class Prepare, class Work>
  std::vector<double> times(size_t most, Prepare&& prepare, Work&& work) {
    for (size_t i = 0; i < warm_up; ++i) {
      prepare();
      work();
      device_.wait(limit_);
    }
    std::vector<double> seconds;
    const auto begin = std::chrono::steady_clock::now();
    while (seconds.size() < most) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (seconds.size() >= fewest_runs && spent.count() > timed_seconds) break;
      prepare();
      device_.launch(delay_, {}, std::array<const void*, 1>{&head_start_ns});
      seconds.push_back(device_.seconds_of(work, limit_));
    }
    return seconds;
  }

 private:
  gpu::Device& device_;
  std::chrono::seconds limit_;
  gpu::Module module_;
  gpu::Function nothing_, delay_;
};

gpu::TensorMapArguments arguments_of(const exec::TensorMap& map) {
  gpu::TensorMapArguments a;
  a.type = static_cast<int>(map.type);
  a.dimensions = map.dimensions;
  a.address = map.address;
  for (uint32_t d = 0; d < exec::TensorMap::most_dimensions; ++d) a.sizes[d] = map.size(d);
  a.strides = map.strides;
  std::copy(map.box.begin(), map.box.end(), a.box.begin());
  std::copy(map.steps.begin(), map.steps.end(), a.element_strides.begin());
  a.swizzle = static_cast<int>(map.swizzle);
  a.promotion = map.promotion;
  a.fill = map.fills_nan ? 1 : 0;
  a.has_corners = map.mode == exec::TensorMap::Mode::im2col;
  std::copy(map.lower.begin(), map.lower.end(), a.lower.begin());
  std::copy(map.upper.begin(), map.upper.end(), a.upper.begin());
  return a;
}

/// Puts the GPU's tensor maps in the place of the engine's, in bytes that lie at `address`, and says at which
/// of them. One that the driver refuses stays as it is, with a note: nobody may ever use it.
std::vector<size_t> encode_tensor_maps(const gpu::Device& device, uint64_t address,
                                       std::span<std::byte> bytes, std::vector<std::string>& notes) {
  std::vector<size_t> places;
  for (uint64_t i = -address % exec::tensor_map_align; i + exec::tensor_map_bytes <= bytes.size();
       i += exec::tensor_map_align) {
    const auto map = exec::TensorMap::load_own(&bytes[i]);  // what a program encoded is the GPU's already
    if (!map) continue;
    places.push_back(i);
    try {
      const gpu::TensorMapBytes encoded = device.encode(arguments_of(*map));
      std::copy(encoded.begin(), encoded.end(), &bytes[i]);
    } catch (const gpu::GpuError& error) {
      if (std::string note = fmt::format("a tensor map could not be made for the GPU: {}", error.what());
          std::find(notes.begin(), notes.end(), note) == notes.end())
        notes.push_back(std::move(note));
    }
  }
  return places;
}

/// Copies of one half of a buffer to the other.
class CopyTimer {
 public:
  CopyTimer(gpu::Device& device, uint64_t bytes)
      : device_(device), bytes_(bytes), buffer_(device.allocate(2 * bytes)) {
    device.fill(buffer_.address(), 0x5a, 2 * bytes);
  }
  void add_to(Outcome& outcome, Timer& timer) {
    const std::vector<double> more = timer.times(
        10, [] {}, [&] { device_.copy(buffer_.address() + bytes_, buffer_.address(), bytes_); });
    outcome.copy_bytes = bytes_;
    outcome.copy_seconds.insert(outcome.copy_seconds.end(), more.begin(), more.end());
  }

 private:
  gpu::Device& device_;
  uint64_t bytes_;
  gpu::Buffer buffer_;
};

}  // namespace

Gpu describe(const gpu::Device& device) {
  return {device.name(),
          device.arch(),
          device.cuda_version(),
          device.multiprocessors(),
          1e3 * device.attribute(clock_khz),
          device.l2_bytes()};
}

Replayed::Replayed(gpu::Device& device, const std::filesystem::path& folder)
    : device_(device), folder_(folder), recording_(replay::read(folder)), notes_(recording_.notes) {
  if (!recording_.obstacle.empty()) throw Error(recording_.obstacle);
  std::vector<const Piece*> sorted;
  for (const Piece& piece : recording_.allocations) sorted.push_back(&piece);
  std::sort(sorted.begin(), sorted.end(),
            [](const Piece* a, const Piece* b) { return a->address < b->address; });
  for (size_t i = 0; i < sorted.size();) {
    const uint64_t begin = sorted[i]->address;
    uint64_t end = begin;
    for (; i < sorted.size() && (end == begin || sorted[i]->address < end + near); ++i)
      end = std::max(end, sorted[i]->address + sorted[i]->size);
    memory_.push_back(device.allocate_at(begin, end - begin));
  }
  // After the memory: a module may make the driver take memory of its own, where the recorded memory was.
  module_ = device.load(recording_.ptx);
  kernel_ = module_.function(recording_.kernel);
  if (recording_.has_tensor_maps) encode_tensor_maps(device, 0, recording_.parameters, notes_);
  for (const uint32_t offset : recording_.parameter_offsets)
    parameters_.push_back(&recording_.parameters.at(offset));
  for (const Piece& piece : recording_.allocations) places_.push_back({&piece, piece.address, {}});
  for (const Piece& piece : recording_.variables) {
    if (piece.has_addresses) continue;
    const auto [address, size] = module_.variable(piece.name);
    if (size == piece.size)
      places_.push_back({&piece, address, {}});
    else if (piece.is_changed || !piece.is_initial)
      notes_.push_back(fmt::format("the driver does not know the variable {}: it is neither set nor compared",
                                   piece.name));
  }

  const Contents before(folder, Contents::When::before);
  std::vector<std::byte> bytes;
  for (Place& place : places_) {
    bytes.resize(std::min(device_chunk, place.piece->size));
    for (uint64_t done = 0; done < place.piece->size;) {
      const uint64_t part = std::min(device_chunk, place.piece->size - done);
      read(before, *place.piece, done, std::span(bytes).first(part));
      device.write(place.address + done, bytes.data(), part);
      done += part;
    }
    if (place.piece->is_changed) save(place);
  }
  device.wait();
}

std::vector<size_t> Replayed::read(const Contents& contents, const Piece& piece, uint64_t offset,
                                   std::span<std::byte> to) {
  contents.read(to.data(), piece.offset + offset, to.size());
  if (!recording_.has_tensor_maps) return {};
  return encode_tensor_maps(device_, piece.address + offset, to, notes_);
}

void Replayed::save(Place& place) {
  place.saved = device_.allocate(place.piece->size);
  device_.copy(place.saved.address(), place.address, place.piece->size);
}

void Replayed::restore() {
  for (const Place& place : places_)
    if (place.saved.size() != 0) device_.copy(place.address, place.saved.address(), place.piece->size);
}

void Replayed::launch() { device_.launch(kernel_, recording_.launch, parameters_); }

void Replayed::compare(const Options& options, Outcome& outcome) {
  device_.wait();
  const Contents before(folder_, Contents::When::before), after(folder_, Contents::When::after);
  bool has_changed_maps = false;
  std::vector<std::byte> expected, found;
  for (Place& place : places_) {
    const Piece& piece = *place.piece;
    const Contents& contents = piece.is_changed ? after : before;
    Tally tally(piece, recording_, options);
    for (uint64_t done = 0; done < piece.size;) {
      const uint64_t part = std::min(device_chunk, piece.size - done);
      expected.resize(part);
      found.resize(part);
      const std::vector<size_t> maps = read(contents, piece, done, expected);
      device_.read(found.data(), place.address + done, part);
      // A map that a kernel changes field by field may hold more than the driver writes, of dimensions that
      // the tensor does not have.
      for (const size_t map : maps)
        if (piece.is_changed) std::copy_n(&found[map], exec::tensor_map_bytes, &expected[map]);
      has_changed_maps = has_changed_maps || (piece.is_changed && !maps.empty());
      if (std::memcmp(expected.data(), found.data(), part) != 0)
        tally.add(done, expected.data(), found.data(), part);
      done += part;
    }
    outcome.bytes_compared += piece.size;
    if (!tally.any()) continue;
    for (uint64_t done = 0; tally.needs_largest() && done < piece.size;) {
      const uint64_t part = std::min(device_chunk, piece.size - done);
      read(contents, piece, done, std::span(expected).first(part));
      tally.add_size(expected.data(), part);
      done += part;
    }
    outcome.differences.push_back(tally.result(piece));
    if (place.saved.size() == 0) {  // only the GPU changed it: what it was is in the file
      std::vector<std::byte> old(piece.size);
      read(before, piece, 0, old);
      device_.write(place.address, old.data(), piece.size);
      save(place);
    }
  }
  if (has_changed_maps) notes_.emplace_back("tensor maps in memory that the launch changes are not compared");
}

Outcome measure(gpu::Device& device, const std::filesystem::path& folder, const Options& options) {
  struct OnGpu {
    std::unique_ptr<Replayed> replayed;
    std::unique_ptr<Timer> timer;
    std::unique_ptr<CopyTimer> copy;
  };
  Outcome outcome;
  auto on_gpu = std::make_unique<OnGpu>();
  try {
    auto& replayed = on_gpu->replayed;
    auto& timer = on_gpu->timer;
    auto& copy = on_gpu->copy;
    replayed = std::make_unique<Replayed>(device, folder);
    outcome.notes = replayed->notes();  // if the launch fails, they may say why
    replayed->launch();
    device.wait(options.limit);
    replayed->compare(options, outcome);
    outcome.notes = replayed->notes();

    timer = std::make_unique<Timer>(device, options.limit);
    copy = std::make_unique<CopyTimer>(device, std::max<uint64_t>(8 * device.l2_bytes(), 1 << 20));
    copy->add_to(outcome, *timer);
    const auto restore = [&] { replayed->restore(); };
    outcome.seconds = timer->times(options.runs, restore, [&] { replayed->launch(); });
    outcome.empty_seconds = timer->times(20, restore, [&] { timer->nothing(); });
    copy->add_to(outcome, *timer);
  } catch (const gpu::GpuError& error) {
    outcome.failure = error.what();
    outcome.is_lost = error.lost;
    if (error.lost) static_cast<void>(on_gpu.release());
  } catch (const Error& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

json to_json(const Gpu& gpu) {
  return {{"name", gpu.name},         {"arch", gpu.arch},
          {"cuda", gpu.cuda},         {"multiprocessors", gpu.multiprocessors},
          {"clock_hz", gpu.clock_hz}, {"l2_bytes", gpu.l2_bytes}};
}

Gpu gpu_from_json(const json& json) {
  return {json.at("name"),     json.at("arch"),    json.at("cuda"), json.at("multiprocessors"),
          json.at("clock_hz"), json.at("l2_bytes")};
}

nlohmann::ordered_json to_json(const Difference& d) {
  return {{"name", d.name},
          {"element", d.element},
          {"elements", d.elements},
          {"different", d.different},
          {"first", d.first},
          {"address", d.address},
          {"expected", d.expected},
          {"found", d.found},
          {"largest", d.largest ? nlohmann::ordered_json(*d.largest) : nlohmann::ordered_json(nullptr)},
          {"close", d.is_close}};
}

json to_json(const Outcome& outcome) {
  json differences = json::array();
  for (const Difference& d : outcome.differences) differences.emplace_back(to_json(d));
  return {{"failure", outcome.failure},
          {"bytes_compared", outcome.bytes_compared},
          {"differences", std::move(differences)},
          {"notes", outcome.notes},
          {"seconds", outcome.seconds},
          {"empty_seconds", outcome.empty_seconds},
          {"copy_seconds", outcome.copy_seconds},
          {"copy_bytes", outcome.copy_bytes}};
}

Outcome outcome_from_json(const json& json) {
  Outcome outcome;
  outcome.failure = json.at("failure");
  outcome.bytes_compared = json.at("bytes_compared");
  for (const auto& d : json.at("differences")) {
    std::optional<double> largest;
    if (!d.at("largest").is_null()) largest = d.at("largest").get<double>();
    outcome.differences.push_back({d.at("name"), d.at("element"), d.at("elements"), d.at("different"),
                                   d.at("first"), d.at("address"), d.at("expected"), d.at("found"), largest,
                                   d.at("close")});
  }
  outcome.notes = json.at("notes").get<std::vector<std::string>>();
  outcome.seconds = json.at("seconds").get<std::vector<double>>();
  outcome.empty_seconds = json.at("empty_seconds").get<std::vector<double>>();
  outcome.copy_seconds = json.at("copy_seconds").get<std::vector<double>>();
  outcome.copy_bytes = json.at("copy_bytes");
  return outcome;
}

}  // namespace lanescope::replay
