// Reads kernel arguments and makes them real.
#include "cli/kernel_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "report/words.hpp"

namespace lanescope::cli {
namespace {

using ptx::Type;

/// The types a number or a buffer element may have.
constexpr Type number_types[] = {Type::u8,  Type::u16, Type::u32, Type::u64, Type::s8,  Type::s16, Type::s32,
                                 Type::s64, Type::b8,  Type::b16, Type::b32, Type::b64, Type::f32, Type::f64};

constexpr std::string_view type_names = "u8 … u64, s8 … s64, b8 … b64, f32, f64";

Type type_named(std::string_view name) {
  for (const Type type : number_types)
    if (ptx::name_of(type) == name) return type;
  return Type::none;
}

std::string reason() { return std::strerror(errno); }

template <class T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

/// The bytes of an integer of `type`, or nothing if the text is none or does not fit.
std::vector<std::byte> integer_bytes(Type type, std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return {};
  const uint32_t bytes = ptx::size_of(type);
  const uint64_t largest = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
  const uint64_t largest_negative = largest / 2 + 1;
  if (negative ? ptx::is_unsigned(type) || magnitude > largest_negative
               : magnitude > (ptx::is_signed(type) ? largest / 2 : largest))
    return {};
  const uint64_t value = negative ? ~magnitude + 1 : magnitude;
  std::vector<std::byte> result(bytes);
  std::memcpy(result.data(), &value, bytes);
  return result;
}

std::vector<std::byte> real_bytes(Type type, const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front())) != 0) return {};
  char* end = nullptr;
  std::vector<std::byte> result(ptx::size_of(type));
  if (type == Type::f32)
    put(result.data(), std::strtof(text.c_str(), &end));
  else
    put(result.data(), std::strtod(text.c_str(), &end));
  if (end != text.c_str() + text.size()) return {};
  return result;
}

int digit_of(char c) {
  const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= '0' && lower <= '9' ? lower - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::vector<std::byte> hex_bytes(std::string_view digits) {
  std::vector<std::byte> bytes;
  if (digits.size() % 2 != 0) return {};
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);
    if (high < 0 || low < 0) return {};
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

std::string describe(const exec::Kernel::Parameter& parameter) {
  return parameter.is_array ? fmt::format("{} bytes", parameter.size)
                            : std::string(ptx::name_of(parameter.type));
}

/// One of a long series of evenly spread 64-bit numbers (SplitMix64, Steele, Lea, Flood 2014).
uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

template <class T>
void fill_elements(std::byte* at, uint64_t count, KernelArgument::Fill fill, uint64_t seed) {
  for (uint64_t i = 0; i < count; ++i) {
    T value = static_cast<T>(i);
    if (fill == KernelArgument::Fill::random) {
      const uint64_t bits = random_bits(seed, i);
      if constexpr (std::is_floating_point_v<T>)
        value = static_cast<T>(bits >> (64 - std::numeric_limits<T>::digits)) /
                static_cast<T>(uint64_t{1} << std::numeric_limits<T>::digits);
      else
        value = static_cast<T>(bits);
    }
    put(at + i * sizeof(T), value);
  }
}

void fill_buffer(std::byte* at, const KernelArgument& argument, uint64_t seed) {
  const uint64_t count = argument.size / ptx::size_of(argument.type);
  switch (argument.type) {
    case Type::f32: return fill_elements<float>(at, count, argument.fill, seed);
    case Type::f64: return fill_elements<double>(at, count, argument.fill, seed);
    default: break;
  }
  switch (ptx::size_of(argument.type)) {
    case 1: return fill_elements<uint8_t>(at, count, argument.fill, seed);
    case 2: return fill_elements<uint16_t>(at, count, argument.fill, seed);
    case 4: return fill_elements<uint32_t>(at, count, argument.fill, seed);
    default: return fill_elements<uint64_t>(at, count, argument.fill, seed);
  }
}

void fill_from_file(std::byte* at, size_t index, const KernelArgument& argument) {
  errno = 0;
  std::ifstream in(argument.file, std::ios::binary);
  in.read(reinterpret_cast<char*>(at), static_cast<std::streamsize>(argument.size));
  const auto got = static_cast<uint64_t>(in.gcount());
  if (!in.is_open() || in.bad() || (got == 0 && errno != 0))
    throw Error(fmt::format("argument {}: cannot read {}: {}", index, argument.file, reason()));
  if (got != argument.size)
    throw Error(fmt::format("argument {}: {} holds {} bytes, fewer than the {} of the buffer", index,
                            argument.file, got, argument.size));
  if (in.peek() != std::ifstream::traits_type::eof())
    throw Error(fmt::format("argument {}: {} holds more than the {} bytes of the buffer", index,
                            argument.file, argument.size));
}

void parse_buffer(KernelArgument& argument, const std::string& name, std::string_view rest) {
  argument.kind = KernelArgument::Kind::buffer;
  argument.type = Type::f32;
  const size_t equals = rest.find('=');
  std::string_view size = rest.substr(0, equals);
  const size_t colon = size.find(':');
  uint64_t element = 1;
  if (colon != std::string_view::npos) {
    argument.type = type_named(size.substr(0, colon));
    if (argument.type == Type::none)
      throw Error(fmt::format("{}: unknown element type '{}' ({})", name, size.substr(0, colon), type_names));
    element = ptx::size_of(argument.type);
    size.remove_prefix(colon + 1);
  }
  const uint64_t count = parse_size(size, name);
  if (count == 0) throw Error(name + ": a buffer holds at least one byte");
  if (count > std::numeric_limits<uint64_t>::max() / 2 / element)
    throw Error(name + ": the size is too large");
  argument.size = count * element;
  if (equals == std::string_view::npos) return;
  const std::string_view fill = rest.substr(equals + 1);
  if (fill == "zero") return;
  if (fill.starts_with('@') && fill.size() > 1) {
    argument.fill = KernelArgument::Fill::file;
    argument.file = fill.substr(1);
    return;
  }
  if (fill != "iota" && fill != "random")
    throw Error(fmt::format("{}: '{}' is no way to fill a buffer (zero, iota, random, @FILE)", name, fill));
  argument.fill = fill == "iota" ? KernelArgument::Fill::iota : KernelArgument::Fill::random;
  if (argument.size % ptx::size_of(argument.type) != 0)
    throw Error(fmt::format("{}: {} bytes are no whole number of {} elements", name, argument.size,
                            ptx::name_of(argument.type)));
}

}  // namespace

uint64_t parse_size(std::string_view text, const std::string& what) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  const int shift = suffix.empty()                   ? 0
                    : suffix == "K" || suffix == "k" ? 10
                    : suffix == "M"                  ? 20
                    : suffix == "G"                  ? 30
                                                     : -1;
  if (text.empty() || error == std::errc::invalid_argument || shift < 0)
    throw Error(
        fmt::format("{}: '{}' is no size (a number, K, M or G behind it for powers of 1024)", what, text));
  if (error != std::errc() || value > std::numeric_limits<uint64_t>::max() >> shift)
    throw Error(fmt::format("{}: '{}' is too large", what, text));
  return value << shift;
}

KernelArgument parse_kernel_argument(size_t index, const std::string& text) {
  const std::string name = fmt::format("argument {} ('{}')", index, text);
  KernelArgument argument;
  argument.text = text;
  const size_t colon = text.find(':');
  const std::string word = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (colon != std::string::npos && word == "buf") {
    parse_buffer(argument, name, rest);
    return argument;
  }
  if (colon != std::string::npos && word == "hex") {
    argument.kind = KernelArgument::Kind::bytes;
    argument.bytes = hex_bytes(rest);
    if (argument.bytes.empty())
      throw Error(name + ": after 'hex:' come bytes of two hexadecimal digits each");
    return argument;
  }
  argument.type = colon == std::string::npos ? Type::none : type_named(word);
  if (argument.type == Type::none)
    throw Error(fmt::format("{}: an argument is TYPE:VALUE ({}), hex:BYTES or buf:SIZE", name, type_names));
  argument.bytes =
      ptx::is_float(argument.type) ? real_bytes(argument.type, rest) : integer_bytes(argument.type, rest);
  if (argument.bytes.empty()) throw Error(fmt::format("{}: '{}' is no value of type {}", name, rest, word));
  return argument;
}

void check_kernel_arguments(const exec::Kernel& kernel, const std::vector<KernelArgument>& arguments) {
  if (arguments.size() != kernel.params.size()) {
    std::string expected;
    for (const auto& parameter : kernel.params)
      expected += (expected.empty() ? "" : ", ") + describe(parameter);
    throw Error(fmt::format("kernel {} takes {}{}, but {} came with --arg", kernel.display_name,
                            report::counted(kernel.params.size(), "argument"),
                            expected.empty() ? "" : " (" + expected + ")", arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& parameter = kernel.params[i];
    const KernelArgument& argument = arguments[i];
    const auto refuse = [&](const std::string& why) {
      throw Error(fmt::format("argument {} ('{}') does not fit parameter {} ({}: {}) of kernel {}: {}", i,
                              argument.text, i, parameter.name, describe(parameter), kernel.display_name,
                              why));
    };
    const uint64_t size =
        argument.kind == KernelArgument::Kind::buffer ? sizeof(uint64_t) : argument.bytes.size();
    if (size != parameter.size)
      refuse(fmt::format("it has {} bytes, the parameter {}", size, parameter.size));
    if (argument.kind == KernelArgument::Kind::bytes) continue;
    if (parameter.is_array) refuse("the parameter is a struct, which is given as hex:BYTES");
    const bool has_real = argument.kind == KernelArgument::Kind::number && ptx::is_float(argument.type);
    const bool is_bits = ptx::name_of(parameter.type).starts_with('b');
    if (!is_bits && has_real != ptx::is_float(parameter.type))
      refuse(has_real ? "it is a floating-point number, the parameter an integer"
                      : "the parameter is a floating-point number");
  }
}

KernelBuffers::KernelBuffers(exec::Memory& memory, const std::vector<KernelArgument>& arguments,
                             uint64_t seed)
    : memory_(memory), arguments_(arguments), address_(arguments.size()) {
  try {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const KernelArgument& argument = arguments[i];
      if (argument.kind != KernelArgument::Kind::buffer) continue;
      address_[i] = memory.allocate(argument.size, fmt::format("argument {}", i));
      auto* at = reinterpret_cast<std::byte*>(address_[i]);
      if (argument.fill == KernelArgument::Fill::file)
        fill_from_file(at, i, argument);
      else if (argument.fill != KernelArgument::Fill::zero)
        fill_buffer(at, argument, random_bits(seed, i));
    }
  } catch (...) {
    release();
    throw;
  }
}

KernelBuffers::~KernelBuffers() { release(); }

void KernelBuffers::release() {
  for (const uint64_t address : address_)
    if (address != 0) memory_.release(address);
}

std::vector<std::byte> KernelBuffers::parameters(const exec::Kernel& kernel) const {
  std::vector<std::byte> bytes(kernel.param_bytes);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    std::byte* at = bytes.data() + kernel.params[i].offset;
    if (arguments_[i].kind == KernelArgument::Kind::buffer)
      put(at, address_[i]);
    else
      std::memcpy(at, arguments_[i].bytes.data(), arguments_[i].bytes.size());
  }
  return bytes;
}

std::string_view KernelBuffers::bytes(size_t index) const {
  return {reinterpret_cast<const char*>(address_[index]), arguments_[index].size};
}

}  // namespace lanescope::cli
