// See builtins.hpp.
#include "exec/builtins.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "exec/state.hpp"

namespace lanescope::exec {

namespace {

/// Longest text taken from device memory, so that one without an end does no harm.
constexpr size_t longest_text = 1 << 16;

/// The host address of `bytes` bytes at a generic address of one lane; nullptr if they are not all there.
const std::byte* at_generic(const Warp& w, uint32_t lane, uint64_t address, uint64_t bytes) {
  if (address - shared_window < window_size) {
    const uint64_t offset = address - shared_window;
    return offset + bytes <= w.shared_bytes ? w.shared + offset : nullptr;
  }
  if (address - local_window < window_size) {
    const uint64_t offset = address - local_window;
    return offset + bytes <= w.local_bytes ? w.local + uint64_t{lane} * w.local_bytes + offset : nullptr;
  }
  auto found = w.worker->memory->find(address);
  if (!found || found->size - (address - found->base) < bytes) return nullptr;
  return reinterpret_cast<const std::byte*>(address);
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
  Arguments(const Warp& w, uint32_t lane, uint64_t address) : w_(w), lane_(lane), address_(address) {}
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    const std::byte* p = at_generic(w_, lane_, address_ + at_, sizeof(T));
    if (p != nullptr) std::memcpy(&value, p, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

 private:
  const Warp& w_;
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

/// printf's formatting with the device's arguments. %n prints nothing, as on the device.
std::string format(const Warp& w, uint32_t lane, const std::string& text, uint64_t arguments_at, int32_t& conversions) {
  Arguments arguments(w, lane, arguments_at);
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
    // A width of millions is a mistake, not a wish.
    if (spec.size() > 16) spec = "%";
    bool wide = false;
    std::string length;
    for (; i < text.size() && std::strchr("hljztqL", text[i]) != nullptr; ++i) length += text[i];
    wide = length.find_first_of("ljztq") != std::string::npos;
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '%': out += '%'; continue;
      case 'd': case 'i':
        if (wide)
          print_to(out, spec + "lld", arguments.next<long long>());
        else
          print_to(out, spec + (length.starts_with('h') ? length : "") + c, arguments.next<int32_t>());
        break;
      case 'u': case 'x': case 'X': case 'o':
        if (wide)
          print_to(out, spec + "ll" + c, arguments.next<unsigned long long>());
        else
          print_to(out, spec + (length.starts_with('h') ? length : "") + c, arguments.next<uint32_t>());
        break;
      case 'c': print_to(out, spec + c, arguments.next<int32_t>()); break;
      case 'p': print_to(out, spec + c, reinterpret_cast<void*>(arguments.next<uint64_t>())); break;
      case 's': {
        const auto s = text_at(w, lane, arguments.next<uint64_t>());
        print_to(out, spec + c, s ? s->c_str() : "(bad address)");
        break;
      }
      case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        print_to(out, spec + c, arguments.next<double>());
        break;
      case 'n': arguments.next<uint64_t>(); continue;
      default: out += spec + length + c; continue;
    }
    ++conversions;
  }
  return out;
}

}  // namespace

std::optional<Builtin> find_builtin(std::string_view name) {
  if (name == "vprintf") return Builtin::vprintf;
  if (name == "malloc") return Builtin::malloc;
  if (name == "free") return Builtin::free;
  if (name == "__assertfail") return Builtin::assertfail;
  return std::nullopt;
}

const Inst* call_builtin(Warp& w, const Inst* in) {
  WorkerState& worker = *w.worker;
  for (uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    std::byte* local = w.local + uint64_t{lane} * w.local_bytes;
    auto argument = [&]<class T>(uint32_t offset, T) {
      T value;
      std::memcpy(&value, local + offset, sizeof value);
      return value;
    };
    auto result = [&](auto value) { std::memcpy(local + in->aux, &value, sizeof value); };
    switch (static_cast<Builtin>(in->imm)) {
      case Builtin::vprintf: {
        const auto text = text_at(w, lane, argument(0, uint64_t{}));
        int32_t conversions = -1;
        if (text)
          worker.print(format(w, lane, *text, argument(8, uint64_t{}), conversions));
        else
          report(w, in, Finding::Kind::unknown_pointer, 1u << lane, argument(0, uint64_t{}), 1,
                 "printf's format is no text in device memory");
        result(conversions);
        break;
      }
      case Builtin::malloc: {
        uint64_t address = 0;
        try {
          address = worker.memory->allocate(argument(0, uint64_t{}), "memory from malloc in a kernel");
        } catch (const Error&) {  // a kernel sees a null pointer
        }
        result(address);
        break;
      }
      case Builtin::free: {
        const auto address = argument(0, uint64_t{});
        if (address != 0 && !worker.memory->release(address))
          report(w, in, Finding::Kind::unknown_pointer, 1u << lane, address, 0,
                 "free of a pointer that malloc did not give");
        // Sites remember the allocation they last met; it may be gone.
        for (SiteState& site : worker.sites) site.base = 1, site.end = 0;
        break;
      }
      case Builtin::assertfail: {
        const auto message = text_at(w, lane, argument(0, uint64_t{})), file = text_at(w, lane, argument(8, uint64_t{})),
                   function = text_at(w, lane, argument(24, uint64_t{}));
        report(w, in, Finding::Kind::assertion, 1u << lane, 0, 0,
               file.value_or("?") + ":" + std::to_string(argument(16, uint32_t{})) + ": " + function.value_or("?") +
                   ": assertion `" + message.value_or("?") + "' failed");
        break;
      }
    }
  }
  if (static_cast<Builtin>(in->imm) != Builtin::assertfail) return in + 1;
  w.event = Event::exit;
  w.event_lanes = w.mask;
  w.event_target = in + 1;
  return w.stop;
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
    const bool fixed = found && found->read_only;
    if (space == ptx::Space::global ? !fixed : fixed) value |= 1u << lane;
  }
  uint32_t p;
  std::memcpy(&p, w.regs + in->d, sizeof p);
  p = (p & ~w.mask) | value;
  std::memcpy(w.regs + in->d, &p, sizeof p);
  return in + 1;
}

}  // namespace lanescope::exec
