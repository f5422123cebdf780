// See builtins.hpp.
#include "exec/builtins.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "exec/block_checks.hpp"
#include "exec/device_queue.hpp"
#include "exec/each_lane.hpp"
#include "exec/schedule.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

/// Longest text taken from device memory, so that one without an end does no harm.
constexpr size_t longest_text = 1 << 16;

/// A function of the system depends on bytes of the lane's local memory.
void note_use(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (BlockChecks* checks = w.block->checks.get()) checks->used_local(w, in, lane, offset, bytes);
}

/// The host address of `bytes` bytes at a generic address of one lane; nullptr if they are not all there.
std::byte* at_generic(const Warp& w, uint32_t lane, uint64_t address, uint64_t bytes) {
  if (address - shared_window < window_size) {
    const uint64_t offset = address - shared_window;
    return offset + bytes <= w.shared_bytes ? w.shared + offset : nullptr;
  }
  if (address - local_window < window_size) {
    const uint64_t offset = address - local_window;
    return offset + bytes <= w.local_bytes ? w.local + uint64_t{lane} * w.local_bytes + offset : nullptr;
  }
  return w.worker->memory->find(address, bytes) ? reinterpret_cast<std::byte*>(address) : nullptr;
}

/// A text of device memory up to its NUL; none if it leaves its allocation.
std::optional<std::string> text_at(const Warp& w, uint32_t lane, uint64_t address) {
  std::string text;
  for (; text.size() < longest_text; ++address) {
    const std::byte* at = at_generic(w, lane, address, 1);
    if (at == nullptr) return std::nullopt;
    if (*at == std::byte{0}) return text;
    text += static_cast<char>(*at);
  }
  return text;
}

/// Arguments of vprintf as nvcc packs them: each at its natural alignment.
class Arguments {
 public:
  Arguments(Warp& w, const Inst* in, uint32_t lane, uint64_t address)
      : w_(w), in_(in), lane_(lane), address_(address) {}
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    const std::byte* p = at_generic(w_, lane_, address_ + at_, sizeof(T));
    if (p != nullptr) std::memcpy(&value, p, sizeof(T));
    if (const uint64_t offset = address_ + at_ - local_window; offset < window_size)
      note_use(w_, in_, lane_, offset, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

 private:
  Warp& w_;
  const Inst* in_;
  uint32_t lane_;
  uint64_t address_, at_ = 0;
};

template <class... T>
void print_to(std::string& out, const std::string& specification, T... values) {
  char small[256];
  const int n = std::snprintf(small, sizeof small, specification.c_str(), values...);
  if (n < 0) return;
  if (static_cast<size_t>(n) < sizeof small) {
    out.append(small, static_cast<size_t>(n));
    return;
  }
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(n) + 1);
  std::snprintf(out.data() + before, static_cast<size_t>(n) + 1, specification.c_str(), values...);
  out.resize(before + static_cast<size_t>(n));
}

/// Whether a width or a precision has more than four digits: a mistake, not a wish.
bool has_long_number(std::string_view specification) {
  size_t digits = 0;
  for (const char c : specification) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4) return true;
  }
  return false;
}

/// printf's formatting with the device's arguments. %n prints nothing, as on the device.
std::string format(Warp& w, const Inst* in, uint32_t lane, const std::string& text, uint64_t arguments_at,
                   int32_t& conversions) {
  Arguments arguments(w, in, lane, arguments_at);
  std::string out;
  conversions = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    std::string spec = "%";
    for (++i; i < text.size() && std::strchr("-+ #0123456789.*", text[i]) != nullptr; ++i) {
      if (text[i] == '*')
        spec += std::to_string(arguments.next<int32_t>());
      else
        spec += text[i];
    }
    if (has_long_number(spec)) spec = "%";
    bool wide = false;
    std::string length;
    for (; i < text.size() && std::strchr("hljztqL", text[i]) != nullptr; ++i) length += text[i];
    wide = length.find_first_of("ljztq") != std::string::npos;
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '%': out += '%'; continue;
      case 'd':
      case 'i':
        if (wide)
          print_to(out, spec + "lld", arguments.next<long long>());
        else
          print_to(out, spec + (length.starts_with('h') ? length : "") + c, arguments.next<int32_t>());
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        if (wide)
          print_to(out, spec + "ll" + c, arguments.next<unsigned long long>());
        else
          print_to(out, spec + (length.starts_with('h') ? length : "") + c, arguments.next<uint32_t>());
        break;
      case 'c': print_to(out, spec + c, arguments.next<int32_t>()); break;
      case 'p': print_to(out, spec + c, reinterpret_cast<void*>(arguments.next<uint64_t>())); break;
      case 's': {
        const auto at = arguments.next<uint64_t>();
        const auto s = at == 0 ? std::string("(null)") : text_at(w, lane, at);
        print_to(out, spec + c, s ? s->c_str() : "(bad address)");
        break;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': print_to(out, spec + c, arguments.next<double>()); break;
      case 'n': arguments.next<uint64_t>(); continue;
      default: out += spec + length + c; continue;
    }
    ++conversions;
  }
  return out;
}

struct Declaration {
  std::string_view name;
  Builtin builtin;
  std::array<uint8_t, 5> parameters;  ///< bytes of each, 0 for none
  uint8_t result;
};

constexpr Declaration declarations[] = {
    {"vprintf", Builtin::vprintf, {8, 8}, 4},
    {"malloc", Builtin::malloc, {8}, 8},
    {"free", Builtin::free, {8}, 0},
    {"cudaGraphSetConditional", Builtin::set_condition, {8, 4}, 0},
    {"__assertfail", Builtin::assertfail, {8, 8, 4, 8, 8}, 0},
    {"__cudaCDP2GetParameterBufferV2", Builtin::parameter_buffer, {8, 12, 12, 4}, 8},
    {"__cudaCDP2LaunchDeviceV2", Builtin::launch, {8, 8}, 4},
    {"__cudaCDP2LaunchDeviceV2_ptsz", Builtin::launch, {8, 8}, 4},
    {"__cudaCDP2StreamCreateWithFlags", Builtin::make_handle, {8, 4}, 4},
    {"__cudaCDP2EventCreateWithFlags", Builtin::make_handle, {8, 4}, 4},
    {"__cudaCDP2StreamDestroy", Builtin::no_wait, {8}, 4},
    {"__cudaCDP2EventDestroy", Builtin::no_wait, {8}, 4},
    {"__cudaCDP2StreamWaitEvent", Builtin::no_wait, {8, 8, 4}, 4},
    {"__cudaCDP2StreamWaitEvent_ptsz", Builtin::no_wait, {8, 8, 4}, 4},
    {"__cudaCDP2EventRecord", Builtin::no_wait, {8, 8}, 4},
    {"__cudaCDP2EventRecord_ptsz", Builtin::no_wait, {8, 8}, 4},
    {"__cudaCDP2GetLastError", Builtin::get_last_error, {}, 4},
    {"__cudaCDP2PeekAtLastError", Builtin::peek_last_error, {}, 4},
    {"__cudaCDP2GetErrorName", Builtin::error_name, {4}, 8},
    {"__cudaCDP2GetErrorString", Builtin::error_string, {4}, 8},
    {"__cudaCDP2GetDeviceCount", Builtin::device_count, {8}, 4},
    {"__cudaCDP2GetDevice", Builtin::device, {8}, 4},
    {"__cudaCDP2RuntimeGetVersion", Builtin::runtime_version, {8}, 4},
    {"__cudaCDP2Malloc", Builtin::device_malloc, {8, 8}, 4},
    {"__cudaCDP2Free", Builtin::device_free, {8}, 4},
    {"__cudaCDP2MemcpyAsync", Builtin::copy, {8, 8, 8, 4, 8}, 4},
    {"__cudaCDP2MemcpyAsync_ptsz", Builtin::copy, {8, 8, 8, 4, 8}, 4},
    {"__cudaCDP2MemsetAsync", Builtin::set, {8, 4, 8, 8}, 4},
    {"__cudaCDP2MemsetAsync_ptsz", Builtin::set, {8, 4, 8, 8}, 4},
};

/// Before CUDA 12 the functions by which kernels launch others had the names that programs give them.
constexpr std::string_view launching = "__cudaCDP2", launching_before = "cuda";

const Declaration* find_declaration(std::string_view name) {
  for (const Declaration& declaration : declarations)
    if (declaration.name == name ||
        (declaration.name.starts_with(launching) && name.starts_with(launching_before) &&
         declaration.name.substr(launching.size()) == name.substr(launching_before.size())))
      return &declaration;
  return nullptr;
}

/// Sites remember the allocation they last met; it may be gone.
void forget_allocations(WorkerState& worker) {
  for (SiteState& site : worker.sites) site.base = 1, site.end = 0;
}

/// Version that cudaRuntimeGetVersion gives in a kernel: CUDA 13.0.
constexpr uint32_t runtime_version = 13000;

/// One lane's call.
class BuiltinCall {
 public:
  BuiltinCall(Warp& w, const Inst* in, uint32_t lane) : w_(w), in_(in), lane_(lane) {}

  void run(Builtin builtin) {
    switch (builtin) {
      case Builtin::vprintf: return print();
      case Builtin::malloc: return result(take(size_at(0), "memory from malloc in a kernel"));
      case Builtin::free:
        if (!release()) refuse(size_at(0), 0, "free of a pointer that malloc did not give");
        return;
      case Builtin::set_condition: return set_condition();
      case Builtin::assertfail: return fail_assertion();
      case Builtin::parameter_buffer:
        return result(device().parameter_buffer(thread(), size_at(0), argument<Dim3>(8), argument<Dim3>(20),
                                                argument<uint32_t>(32)));
      case Builtin::launch: return result(device().launch(thread(), size_at(0), size_at(8)));
      case Builtin::copy:
        return result(device().copy(thread(), size_at(0), size_at(8), size_at(16), size_at(32)));
      case Builtin::set:
        return result(device().set(thread(), size_at(0), argument<uint8_t>(8), size_at(16), size_at(24)));
      case Builtin::make_handle: return give(device().handle());
      case Builtin::no_wait: return result(DeviceStatus::success);
      case Builtin::get_last_error: return result(device().last_error(thread(), true));
      case Builtin::peek_last_error: return result(device().last_error(thread(), false));
      case Builtin::error_name: return result(device().text(name_of(argument<DeviceStatus>(0))));
      case Builtin::error_string: return result(device().text(text_of(argument<DeviceStatus>(0))));
      case Builtin::device_count: return give(uint32_t{1});
      case Builtin::device: return give(uint32_t{0});
      case Builtin::runtime_version: return give(runtime_version);
      case Builtin::device_malloc: return allocate();
      case Builtin::device_free:
        return result(release() ? DeviceStatus::success : DeviceStatus::invalid_value);
    }
  }

 private:
  Warp& w_;
  const Inst* in_;
  uint32_t lane_;
  WorkerState& worker_ = *w_.worker;
  std::byte* local_ = w_.local + uint64_t{lane_} * w_.local_bytes;

  template <class T>
  [[nodiscard]] T argument(uint32_t offset) const {
    T value;
    std::memcpy(&value, local_ + offset, sizeof value);
    note_use(w_, in_, lane_, offset, sizeof value);
    return value;
  }
  /// A pointer, a handle, or a size.
  [[nodiscard]] uint64_t size_at(uint32_t offset) const { return argument<uint64_t>(offset); }
  [[nodiscard]] std::optional<std::string> text(uint32_t offset) const {
    return text_at(w_, lane_, size_at(offset));
  }
  template <class T>
  void result(T value) {
    std::memcpy(local_ + in_->aux, &value, sizeof value);
  }
  void refuse(uint64_t address, uint32_t width, const char* why) {
    report(w_, in_, Finding::Kind::unknown_pointer, 1u << lane_, address, width, why);
  }

  void print() {
    int32_t conversions = -1;
    if (const auto format_text = text(0))
      worker_.print(format(w_, in_, lane_, *format_text, size_at(8), conversions));
    else
      refuse(size_at(0), 1, "printf's format is no text in device memory");
    result(conversions);
  }
  /// Whether the heap had given it.
  bool release() {
    const bool known = size_at(0) == 0 || worker_.memory->give_back_to_heap(size_at(0));
    forget_allocations(worker_);
    return known;
  }
  void set_condition() {
    const auto value = argument<uint32_t>(8);
    if (std::byte* word = at_generic(w_, lane_, size_at(0), sizeof value))
      std::memcpy(word, &value, sizeof value);
    else
      refuse(size_at(0), sizeof value,
             "cudaGraphSetConditional of a handle that cudaGraphConditionalHandleCreate did not give");
  }
  void fail_assertion() {
    report(w_, in_, Finding::Kind::assertion, 1u << lane_, 0, 0,
           text(8).value_or("?") + ":" + std::to_string(argument<uint32_t>(16)) + ": " +
               text(24).value_or("?") + ": assertion `" + text(0).value_or("?") + "' failed");
  }

  // The device's runtime.

  [[nodiscard]] DeviceQueue& device() const { return *static_cast<LaunchWorker&>(worker_).device; }
  [[nodiscard]] DeviceQueue::Thread thread() const { return {w_.block->index, thread_of(w_, lane_)}; }
  uint64_t take(uint64_t size, const char* name) {
    const uint64_t address = worker_.memory->take_from_heap(size, name);
    if (w_.block->checks && address != 0) w_.block->checks->allocated(w_, address, size);
    return address;
  }
  void allocate() {
    if (const uint64_t address = take(size_at(8), "memory from cudaMalloc in a kernel"))
      give(address);
    else
      result(DeviceStatus::out_of_memory);
  }
  /// What its functions give through a pointer, their first argument.
  template <class T>
  void give(T value) {
    const uint64_t address = size_at(0);
    std::byte* at = at_generic(w_, lane_, address, sizeof value);
    if (at == nullptr) {
      refuse(address, sizeof value, "the device's runtime is to write to memory that does not exist");
      return result(DeviceStatus::invalid_value);
    }
    std::memcpy(at, &value, sizeof value);
    if (BlockChecks* checks = w_.block->checks.get()) {
      if (const uint64_t offset = address - local_window; offset < window_size)
        checks->written_local(w_, lane_, offset, sizeof value);
      else if (const uint64_t place = address - shared_window; place < window_size)
        checks->written(place, sizeof value);
      else
        worker_.memory->wrote(address, sizeof value);
    }
    result(DeviceStatus::success);
  }
};

}  // namespace

std::optional<Builtin> find_builtin(const ptx::Function& function) {
  if (function.has_body && !function.name.starts_with(launching) &&
      !function.name.starts_with(launching_before))
    return std::nullopt;
  const Declaration* declaration = find_declaration(function.name);
  return declaration == nullptr ? std::nullopt : std::optional(declaration->builtin);
}

bool is_declared_well(const ptx::Function& function) {
  const Declaration* declaration = find_declaration(function.name);
  if (declaration == nullptr) return false;
  size_t count = 0;
  while (count < declaration->parameters.size() && declaration->parameters[count] != 0) ++count;
  if (function.params.size() != count || function.returns.size() != (declaration->result == 0 ? 0u : 1u))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (function.params[i].size != declaration->parameters[i]) return false;
  return function.returns.empty() || function.returns[0].size == declaration->result;
}

const Inst* call_builtin(Warp& w, const Inst* in) {
  const auto builtin = static_cast<Builtin>(in->imm);
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
    BuiltinCall(w, in, static_cast<uint32_t>(std::countr_zero(rest))).run(builtin);
  if (builtin != Builtin::assertfail) return in + 1;
  w.event = Event::exit;
  w.event_lanes = w.mask;
  w.event_target = in + 1;
  return w.stop;
}

const Inst* allocate_stack(Warp& w, const Inst* in) {
  const auto at = [&](uint32_t reg, uint32_t lane) { return w.regs + reg + size_t{lane} * sizeof(uint64_t); };
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint64_t top, size;
    std::memcpy(&top, at(in->b, lane), sizeof top);
    std::memcpy(&size, at(in->a, lane), sizeof size);
    const uint64_t place = (top + in->imm - 1) / in->imm * in->imm;
    if (place > w.local_bytes || size > w.local_bytes - place) {
      report(w, in, Finding::Kind::out_of_bounds, 1u << lane, place, 0,
             "alloca of " + std::to_string(size) +
                 " bytes: " + std::to_string(w.local_bytes - std::min<uint64_t>(place, w.local_bytes)) +
                 " are left in the thread's local memory");
      size = 0;
    }
    top = place + size;
    std::memcpy(at(in->d, lane), &place, sizeof place);
    std::memcpy(at(in->b, lane), &top, sizeof top);
  }
  return in + 1;
}

const Inst* count_frame(Warp& w, const Inst* in) {
  const auto step = static_cast<uint32_t>(in->imm);
  uint32_t over = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    std::byte* const at = w.regs + in->d + size_t{lane} * sizeof(uint32_t);
    uint32_t bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    bytes += step;
    std::memcpy(at, &bytes, sizeof bytes);
    // Of a return, what is left is as much as was there.
    if (bytes > w.stack_limit && bytes - step <= w.stack_limit) over |= 1u << lane;
  }
  if (over != 0)
    report(w, in, Finding::Kind::out_of_bounds, over, 0, 0,
           "functions that call themselves need more of the stack than the " + std::to_string(w.stack_limit) +
               " bytes that a thread has (cudaLimitStackSize)");
  return in + 1;
}

const Inst* is_space(Warp& w, const Inst* in) {
  const auto space = static_cast<ptx::Space>(in->imm);
  uint32_t value = 0;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint64_t address;
    std::memcpy(&address, w.regs + in->a + uint64_t{lane} * 8, sizeof address);
    if (address - local_window < window_size || address - shared_window < window_size) continue;
    const auto found = w.worker->memory->find(address);
    const bool constant = found && found->constant;
    if (space == ptx::Space::global ? !constant : constant) value |= 1u << lane;
  }
  uint32_t p;
  std::memcpy(&p, w.regs + in->d, sizeof p);
  p = (p & ~w.mask) | value;
  std::memcpy(w.regs + in->d, &p, sizeof p);
  return in + 1;
}

}  // namespace lanescope::exec
