// See division.hpp. The statements of the kernel's body are gone through in their order, as far as they
// declare integers and pointers or move pointers on. What stands in loops and conditions begins no part.
#include "advise/division.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "advise/body.hpp"
#include "advise/expression.hpp"
#include "advise/members.hpp"
#include "advise/pitch.hpp"
#include "advise/tokens.hpp"
#include "base/words.hpp"

namespace lanescope::advise {
namespace {

/// Where a pointer points to.
struct Target {
  uint64_t begin = 0;      ///< bytes from the array's begin
  uint64_t element = 0;    ///< bytes that 1 adds to it; 0: unknown
  bool to_rows = false;    ///< the elements are rows
  bool of_launch = false;  ///< another launch may have it elsewhere
  uint64_t moved = 0;      ///< so much later it is where Room is made
};

/// So many bytes more are needed before what begins at byte `at`.
struct Room {
  uint64_t at = UINT64_MAX, bytes = 0;
};

struct Pointer {
  const Step* step = nullptr;
  Target target;
};

/// The integers of the parameters whose types are such; nothing for others.
std::vector<std::optional<uint64_t>> integers_of(const exec::Kernel& kernel,
                                                 const std::vector<std::byte>& params) {
  std::vector<std::optional<uint64_t>> values;
  for (const exec::Kernel::Parameter& p : kernel.params) {
    uint64_t value = 0;
    const bool is_integer =
        !p.is_array && p.size <= sizeof value && !ptx::is_float(p.type) && p.offset + p.size <= params.size();
    if (is_integer) std::memcpy(&value, params.data() + p.offset, p.size);
    values.push_back(is_integer ? std::optional(value) : std::nullopt);
  }
  return values;
}

/// Whether the text names the array without a subscript, or takes the address of an element: what divides it
/// does. Asked of texts as they are, for most arrays are not divided.
bool may_lead_elsewhere(std::string_view text, std::string_view name) {
  const auto is_of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at > 0 && is_of_name(text[at - 1])) || (end < text.size() && is_of_name(text[end]))) continue;
    const std::string_view before = trimmed(text.substr(0, at)), behind = trimmed(text.substr(end));
    if (before.ends_with('&') || !behind.starts_with('[')) return true;
  }
  return false;
}

}  // namespace

struct Division::Text {
  Text(std::string from, const std::string& function, const exec::SharedVariable& array)
      : text(std::move(from)),
        tokens(tokens_of(text)),
        constants(tokens),
        body(tokens, std::string_view(function).substr(0, function.find('<')), array.name, array.dynamic),
        name(function),
        arguments(arguments_of(tokens, body.body.first, name)) {}

  std::string text;
  std::vector<Token> tokens;
  Constants constants;
  Body body;
  std::string name;  ///< of the function, with its template arguments
  Arguments arguments;

  [[nodiscard]] std::string_view words(Range range) const {
    if (range.first >= range.second) return {};
    const size_t begin = tokens[range.first].begin;
    return std::string_view(text).substr(begin, tokens[range.second - 1].end() - begin);
  }
  /// The type that a pointer points to. Of a lanescope::SwizzledPointer, that of its elements.
  [[nodiscard]] Range pointee(const Step& step) const {
    if (step.pointee.first != step.pointee.second) return step.pointee;
    auto [first, end] = step.type;
    while (first < end && (tokens[first].is("extern") || tokens[first].is("__shared__"))) ++first;
    for (size_t i = first; i + 2 < end; ++i)
      if (tokens[i].is("SwizzledPointer")) first = i + 2;
    for (size_t i = first; is_swizzled(step) && i < end; ++i)
      if (tokens[i].is(",")) end = i;
    return {first, end};
  }
  [[nodiscard]] bool is_pointer(const Step& step) const { return step.is_pointer || is_swizzled(step); }
  [[nodiscard]] std::string_view name_of(const Step& step) const { return tokens[step.name].text; }
  /// The ranges in bytes of the text.
  [[nodiscard]] std::vector<std::pair<size_t, size_t>> bytes_of(const std::vector<Range>& ranges) const {
    std::vector<std::pair<size_t, size_t>> bytes;
    for (const auto& [first, end] : ranges) bytes.emplace_back(tokens[first].begin, tokens[end - 1].end());
    return bytes;
  }
  /// Why several pointers may lead to the same elements; empty: no two begin at the same place.
  [[nodiscard]] std::string obstacle(const Parts& parts) const;
  /// The edits that let all launches of the kernel give so many bytes more of dynamic shared memory. `size`:
  /// of what all of them have to give; 0: what they do.
  [[nodiscard]] std::vector<Edit> larger_launches(uint32_t bytes, uint32_t size) const {
    const std::string_view function = std::string_view(name).substr(0, name.find('<'));
    std::vector<Edit> edits;
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is(function) || tokens[i].in_directive) continue;
      const bool is_declared =
          tokens[i + 1].is("(") && i > 0 && (tokens[i - 1].is_name() || tokens[i - 1].is(")"));
      if (is_declared) continue;
      const Range given = given_by_launch(i + 1);
      const Extent extent{std::string(words(given)), tokens[given.first].begin, 0, 0};
      Evaluator evaluator(tokens, constants);
      if (size != 0 && evaluator.value(given) != size)
        throw Unclear{fmt::format("{} may give it another size", line_in_words(tokens[i]))};
      edits.push_back({extent.begin, extent.begin + extent.text.size(), padded(extent, bytes)});
    }
    if (edits.empty()) throw Unclear{"no launch of it stands in its file"};
    return edits;
  }
  /// The edit that declares the array so many bytes longer.
  [[nodiscard]] std::vector<Edit> longer_array(uint32_t bytes) const {
    const uint64_t element = size_of_words(words(pointee(body.array))).value_or(0);
    if (element == 0 || bytes % element != 0)
      throw Unclear{fmt::format("how much longer '{}' becomes is not clear", name_of(body.array))};
    const size_t begin = tokens[body.array.extent.first].begin;
    const Extent extent{std::string(words(body.array.extent)), begin, 0, 0};
    return {{begin, begin + extent.text.size(), padded(extent, bytes / element)}};
  }
  /// The third of the numbers between <<< and >>>, behind the name of a kernel and its template arguments.
  [[nodiscard]] Range given_by_launch(size_t i) const {
    const auto unclear = [&] {
      return Unclear{
          fmt::format("what is done with the kernel in {} is not clear", line_in_words(tokens[i - 1]))};
    };
    if (tokens[i].is("<")) i = body.closing(i, ">") + 1;
    if (i + 1 >= tokens.size() || !tokens[i].is("<<") || !tokens[i + 1].is("<")) throw unclear();
    std::vector<size_t> commas{i + 1};
    int depth = 0;
    for (i += 2; i < tokens.size() && !tokens[i].is(";") && !(depth == 0 && tokens[i].is(">>")); ++i) {
      depth += tokens[i].is("(") || tokens[i].is("{") ? 1 : tokens[i].is(")") || tokens[i].is("}") ? -1 : 0;
      if (depth == 0 && tokens[i].is(",")) commas.push_back(i);
    }
    constexpr size_t place = 2;
    if (i >= tokens.size() || !tokens[i].is(">>") || commas.size() <= place) throw unclear();
    commas.push_back(i);
    return {commas[place] + 1, commas[place + 1]};
  }
  /// Of a pointer to `bytes` bytes of elements, or of rows, of so many bytes each.
  [[nodiscard]] Declaration declaration(const Step& step, uint64_t element, uint32_t bytes) const {
    Declaration d;
    d.line = tokens[step.name].line;
    d.file = tokens[step.name].file;
    d.type = words(pointee(step));
    d.name = tokens[step.name].text;
    d.type_begin = tokens[step.type.first].begin;
    d.name_begin = tokens[step.name].begin;
    d.end = tokens[step.end - 1].end();
    d.alone = step.alone;
    d.plain = d.type != "auto" && !is_swizzled(step) && d.type.find('(') == std::string::npos &&
              d.type.find("volatile") == std::string::npos;
    d.open = true;
    d.part.emplace();
    if (&step == &body.array && step.name < body.body.first)
      d.part->obstacle = "it is declared outside of the kernel";
    if (!body.array.is_open() && !arguments.empty())
      d.part->obstacle = "other instances of the template may divide it otherwise";
    d.extents.push_back({"", d.end, d.end, element == 0 ? 0 : bytes / element});
    d.element_bytes = static_cast<uint32_t>(element);
    if (step.columns.second == 0) return d;
    const std::string columns(words(step.columns));
    const uint64_t scalar = size_of_words(d.type, arguments).value_or(0);
    const size_t begin = tokens[step.columns.first].begin;
    d.extents.push_back({columns, begin, begin + columns.size(), scalar == 0 ? 0 : element / scalar});
    d.element_bytes = static_cast<uint32_t>(scalar);
    return d;
  }

 private:
  [[nodiscard]] bool is_swizzled(const Step& step) const {
    return words(step.type).find("SwizzledPointer<") != std::string_view::npos;
  }
};

struct Division::Parts {
  std::vector<Pointer> pointers;  ///< that are used, in the order of the text
  std::vector<Range> begins;      ///< of the text that says where pointers begin
  std::vector<Edit> moves;        ///< that make room
};

std::string Division::Text::obstacle(const Parts& parts) const {
  std::map<uint64_t, std::string_view> names;  // by begin
  for (const Pointer& pointer : parts.pointers) {
    const auto [known, is_new] = names.try_emplace(pointer.target.begin, name_of(*pointer.step));
    if (!is_new)
      return fmt::format("'{}' and '{}' begin at the same place", known->second, name_of(*pointer.step));
  }
  return "";
}

/// Goes through the steps of a kernel's text with the values of one launch.
class Division::Run {
 public:
  Run(const Text& text, const exec::Kernel& kernel, const exec::LaunchConfig& config, Room room)
      : text_(text),
        tokens_(text.tokens),
        body_(text.body),
        block_(config.block),
        evaluate_(tokens_, text.constants),
        room_(room) {
    evaluate_.give_arguments(text.arguments);
    give("blockDim.x", "blockDim.y", "blockDim.z", config.block);
    give("gridDim.x", "gridDim.y", "gridDim.z", config.grid);
    give_parameters(integers_of(kernel, config.params));
    for (const auto& [name, value] : evaluate_.given) of_launch_.insert(name);
    pointers_[array_name()] = {0, element_of(body_.array)};
  }

  /// Throws Unclear where a part might begin that is not understood.
  Parts operator()() {
    found_.push_back({&body_.array, pointers_.at(array_name())});
    for (const Step& step : body_.steps) take(step);
    for (Pointer& pointer : found_)  // where they have been moved on to
      if (const auto last = pointers_.find(name_of(*pointer.step)); last != pointers_.end())
        pointer.target = last->second;
    std::erase_if(found_, [&](const Pointer& p) { return uses_of(name_of(*p.step)).empty(); });
    return {found_, begins_, moves_};
  }
  /// Of a pointer's subscripts, when all steps are gone.
  std::optional<Pitch> pitch_of(std::string_view name) {
    std::vector<Range> subscripts;
    for (const size_t use : uses_of(name)) {
      if (!tokens_[use + 1].is("[")) return std::nullopt;
      subscripts.emplace_back(use + 2, body_.closing(use + 1, "]"));
    }
    Largest largest(body_, evaluate_, block_);
    return common_pitch(text_.text, tokens_, subscripts, evaluate_, &largest);
  }

 private:
  /// Of a function that another one calls.
  Run(const Run& caller, const Body& body)
      : text_(caller.text_),
        tokens_(caller.tokens_),
        body_(body),
        block_(caller.block_),
        evaluate_(tokens_, text_.constants),
        depth_(caller.depth_ + 1) {
    for (const auto& [name, value] : caller.evaluate_.given)
      if (name.find('.') != std::string_view::npos) evaluate_.given[name] = value;  // blockDim.x
    for (const auto& [name, value] : evaluate_.given) of_launch_.insert(name);
  }

  const Text& text_;
  const std::vector<Token>& tokens_;
  const Body& body_;
  exec::Dim3 block_;
  Evaluator evaluate_;
  std::map<std::string_view, Target> pointers_;  ///< into the array
  /// Names whose values not all threads share, or not all the time.
  std::set<std::string_view> own_{"threadIdx", "blockIdx"};
  std::set<std::string_view> of_launch_;  ///< names whose values another launch may give otherwise
  Room room_;
  int depth_ = 0;  ///< of calls
  std::vector<Pointer> found_;
  std::vector<Range> begins_;
  std::vector<Edit> moves_;

  [[nodiscard]] std::string_view name_of(const Step& step) const { return text_.name_of(step); }
  [[nodiscard]] std::string_view array_name() const { return name_of(body_.array); }

  void give(std::string_view x, std::string_view y, std::string_view z, const exec::Dim3& size) {
    evaluate_.given[x] = size.x;
    evaluate_.given[y] = size.y;
    evaluate_.given[z] = size.z;
  }
  void give_parameters(const std::vector<std::optional<uint64_t>>& values) {
    std::vector<std::string_view> names;
    std::string_view name;
    int depth = 0;
    for (size_t i = body_.head.first; i <= body_.head.second; ++i) {
      const Token& t = tokens_[i];
      if (depth == 0 && (i == body_.head.second || t.is(","))) names.push_back(std::exchange(name, {}));
      depth += t.is("(") || t.is("<") || t.is("[") ? 1 : t.is(")") || t.is(">") || t.is("]") ? -1 : 0;
      if (depth == 0 && t.is_name()) name = t.text;
    }
    if (names.size() != values.size()) return;
    for (size_t i = 0; i < names.size(); ++i)
      if (values[i] && body_.changing.count(names[i]) == 0) evaluate_.given[names[i]] = *values[i];
  }

  /// Bytes of what a pointer points to; 0: unknown.
  [[nodiscard]] uint64_t element_of(const Step& step) {
    const uint64_t element = size_of_words(text_.words(text_.pointee(step)), evaluate_.types).value_or(0);
    return step.columns.second == 0 ? element : element * evaluate_.value(step.columns).value_or(0);
  }

  void take(const Step& step) {
    const std::string_view name = name_of(step);
    if (step.in_block || body_.changing.count(name) != 0 || step.value.second <= step.value.first) {
      if (step.is_declaration()) forget(name, step.in_block || text_.is_pointer(step));
      return;
    }
    if (step.moves_on) return move_on(step, name);
    if (const std::optional<Target> target = target_of(step.value)) return point(step, name, *target);
    const bool is_own = is_each_threads_own(step.value);
    if (text_.is_pointer(step) && !is_own && is_of_array(step.value)) throw unclear(step);
    if (text_.is_pointer(step)) return forget(name, is_own);
    bool of_launch = false;
    const auto value = value_of(step.value, of_launch);
    forget(name, is_own);
    if (value) evaluate_.given[name] = *value;
    if (of_launch) of_launch_.insert(name);
  }
  /// Sets `of_launch` where the value may be another one in another launch.
  std::optional<uint64_t> value_of(Range range, bool& of_launch) {
    evaluate_.used_given.clear();
    const auto value = evaluate_.value(range);
    for (const std::string_view name : evaluate_.used_given)
      of_launch = of_launch || of_launch_.count(name) != 0;
    return value;
  }
  void forget(std::string_view name, bool is_own) {
    pointers_.erase(name);
    evaluate_.given.erase(name);
    of_launch_.erase(name);
    if (is_own)
      own_.insert(name);
    else
      own_.erase(name);
  }
  void point(const Step& step, std::string_view name, Target target) {
    make_room(target, step);
    if (const auto known = pointers_.find(name); !step.is_declaration() && known != pointers_.end())
      target.element = known->second.element;
    else if (const uint64_t element = element_of(step); step.is_declaration() && element != 0)
      set_element(target, step, element);
    pointers_[name] = target;
    begins_.push_back(step.value);
    if (step.is_declaration()) found_.push_back({&step, target});
  }
  static void set_element(Target& target, const Step& step, uint64_t bytes) {
    target.element = bytes;
    target.to_rows = step.columns.second != 0;
  }
  void move_on(const Step& step, std::string_view name) {
    bool of_launch = own_.count(name) == 0 && of_launch_.count(name) != 0;
    const auto value = value_of(step.value, of_launch);
    if (const auto pointer = pointers_.find(name); pointer != pointers_.end()) {
      if (!value || pointer->second.element == 0) throw unclear(step);
      pointer->second.begin += *value * pointer->second.element;
      pointer->second.of_launch = pointer->second.of_launch || of_launch;
      make_room(pointer->second, step);
      begins_.emplace_back(step.name, step.value.second);
    } else if (const auto number = evaluate_.given.find(name); value && number != evaluate_.given.end()) {
      number->second += *value;
      if (of_launch) of_launch_.insert(name);
    } else {
      forget(name, is_each_threads_own(step.value) || own_.count(name) != 0);
    }
  }

  /// Lets a pointer begin later that points behind the place where room is made.
  void make_room(Target& target, const Step& step) {
    const uint64_t bytes = target.begin >= room_.at ? room_.bytes : 0;
    if (bytes == target.moved) return;
    if (bytes < target.moved || target.element == 0 || (bytes - target.moved) % target.element != 0)
      throw Unclear{
          fmt::format("'{}' in {} cannot be moved", name_of(step), line_in_words(tokens_[step.name]))};
    const size_t end = tokens_[step.value.second - 1].end();
    moves_.push_back({end, end, fmt::format(" + {}", (bytes - target.moved) / target.element)});
    target.moved = bytes;
  }

  [[nodiscard]] Unclear unclear(const Step& step) const {
    return {
        fmt::format("{}: where '{}' begins is not clear", line_in_words(tokens_[step.name]), name_of(step))};
  }
  [[nodiscard]] bool is_each_threads_own(Range value) const {
    return std::any_of(at(value.first), at(value.second),
                       [&](const Token& t) { return t.is("?") || own_.count(t.text) != 0; });
  }
  [[nodiscard]] bool is_of_array(Range value) const {
    return std::any_of(at(value.first), at(value.second),
                       [&](const Token& t) { return pointers_.count(t.text) != 0; });
  }
  [[nodiscard]] std::vector<Token>::const_iterator at(size_t token) const {
    return tokens_.begin() + static_cast<std::ptrdiff_t>(token);
  }

  /// Where the name stands without being declared or saying where a pointer begins.
  [[nodiscard]] std::vector<size_t> uses_of(std::string_view name) const {
    std::vector<size_t> uses;
    for (size_t i = body_.body.first; i < body_.body.second; ++i) {
      if (!tokens_[i].is(name) || tokens_[i - 1].is(".") || tokens_[i - 1].is("->")) continue;
      const bool declares =
          i == body_.array.name || std::any_of(body_.steps.begin(), body_.steps.end(),
                                               [&](const Step& step) { return step.name == i; });
      const bool begins = std::any_of(begins_.begin(), begins_.end(), [&](const Range& range) {
        return i >= range.first && i < range.second;
      });
      if (!declares && !begins) uses.push_back(i);
    }
    return uses;
  }
  /// What an expression points to in the array; nothing where it is no pointer into it, or not known.
  std::optional<Target> target_of(Range range) {
    // A cast comes before an addition: (float*)smem + n.
    std::vector<size_t> signs;
    int depth = 0;
    for (size_t i = range.first; i < range.second; ++i) {
      const Token& t = tokens_[i];
      depth += t.is("(") || t.is("[") ? 1 : t.is(")") || t.is("]") ? -1 : 0;
      if (depth == 0 && i > range.first && (t.is("+") || t.is("-"))) signs.push_back(i);
    }
    if (signs.empty()) return operand(range);
    std::optional<Target> target = operand({range.first, signs.front()});
    signs.push_back(range.second);
    for (size_t i = 0; i + 1 < signs.size() && target; ++i)
      target = moved(*target, {signs[i] + 1, signs[i + 1]}, tokens_[signs[i]].is("-"));
    return target;
  }
  std::optional<Target> moved(Target target, Range by, bool back) {
    const auto value = value_of(by, target.of_launch);
    if (!value || target.element == 0) return std::nullopt;
    target.begin += back ? uint64_t{0} - *value * target.element : *value * target.element;
    return target;
  }
  /// smem, &smem[n], (float*)smem, reinterpret_cast<float*>(smem), (smem + n), p.elements
  std::optional<Target> operand(Range range) {
    auto [first, end] = range;
    if (first >= end) return std::nullopt;
    if (tokens_[first].is("reinterpret_cast") || tokens_[first].is("static_cast")) {
      const size_t close = body_.closing(first + 1, ">");
      if (close + 2 >= end || body_.closing(close + 1, ")") + 1 != end) return std::nullopt;
      return as(target_of({close + 2, end - 1}), {first + 2, close});
    }
    if (tokens_[first].is("(")) {
      const size_t close = body_.closing(first, ")");
      return close + 1 == end ? target_of({first + 1, close})
                              : as(operand({close + 1, end}), {first + 1, close});
    }
    const bool is_address = tokens_[first].is("&");
    first += is_address ? 1 : 0;
    const auto pointer = first < end ? pointers_.find(tokens_[first].text) : pointers_.end();
    if (pointer == pointers_.end()) return is_address ? std::nullopt : call(range);
    if (!is_address) {
      const bool is_whole = first + 1 == end || (first + 3 == end && tokens_[first + 1].is("."));
      return is_whole ? std::optional(pointer->second) : std::nullopt;
    }
    if (first + 1 >= end || !tokens_[first + 1].is("[") || body_.closing(first + 1, "]") + 1 != end)
      return std::nullopt;
    return moved(pointer->second, {first + 2, end - 1}, false);
  }
  /// What a function of this text returns that is a few steps, and moves on what it takes by reference:
  /// carve<float>(p, n).
  std::optional<Target> call(Range range) {
    constexpr int deepest = 4;
    auto [first, end] = range;
    while (first + 2 < end && tokens_[first + 1].is("::")) first += 2;
    size_t open = first + 1;
    if (open < end && tokens_[open].is("<")) open = body_.closing(open, ">") + 1;
    if (depth_ == deepest || !tokens_[first].is_name() || open >= end || !tokens_[open].is("(") ||
        body_.closing(open, ")") + 1 != end)
      return std::nullopt;
    std::optional<Body> body;
    try {
      body.emplace(tokens_, tokens_[first].text);
    } catch (const Unclear&) {
      return std::nullopt;
    }
    const std::vector<Range> parameters = pieces_of_list(tokens_, body->head.first - 1),
                             arguments = pieces_of_list(tokens_, open);
    std::vector<Range> returns;
    for (size_t i = body->body.first; i < body->body.second; ++i)
      if (size_t semicolon = i + 1; tokens_[i].is("return")) {
        while (semicolon < body->body.second && !tokens_[semicolon].is(";")) ++semicolon;
        returns.emplace_back(i + 1, semicolon);
      }
    if (parameters.size() != arguments.size() || returns.size() != 1) return std::nullopt;
    if (!body->changing.empty())
      throw Unclear{
          fmt::format("'{}' changes '{}' in some cases only", tokens_[first].text, *body->changing.begin())};
    Run callee(*this, *body);
    callee.give_types(*this, {first, open});
    for (size_t k = 0; k < parameters.size(); ++k) callee.give_argument(*this, parameters[k], arguments[k]);
    for (const Step& step : body->steps) callee.take(step);
    const std::optional<Target> target = callee.target_of(returns.front());
    for (size_t k = 0; k < parameters.size(); ++k) take_back(callee, parameters[k], arguments[k]);
    return target;  // where room is made, the caller moves on what it gets
  }
  /// The template arguments of a call: `carve<float, 2 * N>`.
  void give_types(Run& caller, Range called) {
    evaluate_.types = arguments_of(tokens_, body_.body.first, text_.words(called));
    for (auto& [parameter, argument] : evaluate_.types) {
      if (const auto type = caller.evaluate_.types.find(argument); type != caller.evaluate_.types.end())
        argument = type->second;
      std::optional<uint64_t> value = integer_argument(argument);
      for (size_t i = called.first + 2, begin = i; !value && i < called.second; ++i) {
        if (!tokens_[i].is(",") && i + 1 != called.second) continue;
        if (text_.words({begin, i}) == argument) value = caller.evaluate_.value({begin, i});
        begin = i + 1;
      }
      if (value) evaluate_.given[parameter] = *value;
    }
  }
  [[nodiscard]] std::string_view name_of_parameter(Range parameter) const {
    return tokens_[parameter.second - 1].text;
  }
  void give_argument(Run& caller, Range parameter, Range argument) {
    const std::string_view name = name_of_parameter(parameter);
    if (const std::optional<Target> target = caller.target_of(argument)) {
      pointers_[name] = *target;
      return;
    }
    bool of_launch = false;
    if (const auto value = caller.value_of(argument, of_launch)) evaluate_.given[name] = *value;
    if (of_launch) of_launch_.insert(name);
    if (caller.is_each_threads_own(argument)) own_.insert(name);
  }
  /// What a reference leads to is as the function leaves it.
  void take_back(const Run& callee, Range parameter, Range argument) {
    const auto has = [&](std::string_view word) {
      return std::any_of(at(parameter.first), at(parameter.second),
                         [&](const Token& t) { return t.is(word); });
    };
    if (has("const") || (!has("&") && !has("&&"))) return;
    const std::string_view name = name_of_parameter(parameter), given = tokens_[argument.first].text;
    if (argument.second - argument.first != 1)
      throw Unclear{fmt::format("what becomes of '{}' is not clear", text_.words(argument))};
    const auto pointer = callee.pointers_.find(name);
    const auto number = callee.evaluate_.given.find(name);
    if (pointer != callee.pointers_.end()) {
      pointers_[given] = pointer->second;
    } else if (number != callee.evaluate_.given.end()) {
      evaluate_.given[given] = number->second;
      if (callee.of_launch_.count(name) != 0) of_launch_.insert(given);
    } else {
      forget(given, callee.own_.count(name) != 0);
    }
  }
  /// As a pointer of a cast's type: float*, float (*)[32].
  std::optional<Target> as(std::optional<Target> target, Range type) {
    size_t star = type.first;
    while (star < type.second && !tokens_[star].is("*")) ++star;
    if (!target || star == type.second) return std::nullopt;
    const bool to_rows = tokens_[star - 1].is("(") && star + 3 < type.second;
    Step step;
    step.type = {type.first, star - (to_rows ? 1 : 0)};
    if (to_rows) step.columns = {star + 3, type.second - 1};
    set_element(*target, step, element_of(step));
    return target;
  }
};

Division::~Division() = default;

Division::Division(const exec::Kernel& kernel, Sources& sources) : kernel_(kernel) {
  find_members(sources);
  for (const exec::SharedVariable& v : kernel.shared)
    if (std::count_if(kernel.shared.begin(), kernel.shared.end(), [&](const exec::SharedVariable& other) {
          return other.name == v.name || (v.dynamic && other.dynamic);
        }) == 1)
      find_divided(v, sources);
}

void Division::find_divided(const exec::SharedVariable& array, Sources& sources) {
  const std::string function = function_of(ptx::demangle(kernel_.name) + "::" + array.name);
  for (const std::string& name : kernel_.files) {
    const std::string& text = sources.unit(name).text;
    if (text.find(array.name) == std::string::npos) continue;
    if (!array.dynamic && !may_lead_elsewhere(text, array.name)) continue;
    try {
      divided_.push_back({array.name, name, std::make_unique<const Text>(text, function, array)});
      return;
    } catch (const Unclear&) {  // NOLINT(bugprone-empty-catch): another file may have it
    }
  }
}

void Division::find_members(Sources& sources) {
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  const auto is_array = [](const advise::Member& m) { return !m.declaration.extents.empty(); };
  for (const exec::SharedVariable& v : kernel_.shared) {
    std::optional<Declaration> declaration;
    std::string file;  // it stands in
    const std::string function = function_of(ptx::demangle(kernel_.name) + "::" + v.name);
    for (size_t i = 0; i < kernel_.files.size() && !v.dynamic && !declaration; ++i)
      if (const std::string& text = sources.unit(kernel_.files[i]).text;
          has(text, v.name) && has(text, "__shared__")) {
        declaration = struct_variable(text, v.name, function);
        file = kernel_.files[i];
      }
    std::vector<std::string> files{file};  // that may define it, or include who does
    std::optional<Struct> found;
    if (declaration) {
      if (declaration->body.second == 0)
        files.insert(files.end(), kernel_.files.begin(), kernel_.files.end());
      std::erase_if(files, Sources::is_own);
      Texts texts;
      for (const std::string& name : files) texts.push_back(sources.unit(name).text);
      found = struct_of(texts, *declaration);
    }
    if (!found || found->bytes != v.size ||
        std::none_of(found->members.begin(), found->members.end(), is_array)) {
      with_members_.push_back(v);
      continue;
    }
    for (advise::Member& m : found->members) {
      const std::string part = fmt::format("{}.{}", v.name, m.declaration.name);
      with_members_.push_back({part, v.offset + m.offset, m.bytes, false, v.name});
      const std::string& file_of_struct = files[found->text];
      m.declaration.pitch =
          declared_pitch(sources.unit(file_of_struct).text, m.declaration, declaration->type);
      members_[part] = {std::move(m.declaration), file_of_struct};
    }
  }
  if (members_.empty()) with_members_.clear();
}

const std::string& Division::file(const exec::SharedVariable& part) const {
  static const std::string none;
  if (const auto member = members_.find(part.name); !part.dynamic && member != members_.end())
    return member->second.file;
  const Divided* of = divided(part);
  return of == nullptr ? none : of->file;
}

const std::vector<exec::SharedVariable>& Division::variables(const exec::LaunchConfig& config) {
  const bool is_known =
      known_ && known_->dynamic_shared == config.dynamic_shared &&
      (!known_->of_launch ||
       (known_->grid == config.grid && known_->block == config.block && known_->params == config.params));
  if (is_known) return known_->variables;
  known_ = Known{config.grid, config.block, config.dynamic_shared, config.params, false, {}};
  bool is_divided = !with_members_.empty();
  for (const exec::SharedVariable& v : is_divided ? with_members_ : kernel_.shared) {
    const std::vector<exec::SharedVariable> parts = parts_of(v, config, known_->of_launch);
    is_divided = is_divided || !parts.empty();
    if (parts.empty())
      known_->variables.push_back(v);
    else
      known_->variables.insert(known_->variables.end(), parts.begin(), parts.end());
  }
  if (!is_divided) known_->variables.clear();
  return known_->variables;
}

const Division::Divided* Division::divided(const exec::SharedVariable& part) const {
  const std::string& array = part.array.empty() ? part.name : part.array;
  const auto found = std::find_if(divided_.begin(), divided_.end(),
                                  [&](const Divided& divided) { return divided.array == array; });
  return found == divided_.end() ? nullptr : &*found;
}

std::vector<exec::SharedVariable> Division::parts_of(const exec::SharedVariable& array,
                                                     const exec::LaunchConfig& config,
                                                     bool& of_launch) const {
  const uint32_t bytes = array.dynamic ? config.dynamic_shared : array.size;
  const Divided* of = array.array.empty() ? divided(array) : nullptr;
  if (of == nullptr || bytes == 0) return {};
  std::map<uint64_t, std::string> names;  // by begin
  try {
    for (const Pointer& pointer : Run(*of->text, kernel_, config, Room())().pointers) {
      of_launch = of_launch || pointer.target.of_launch;
      std::string& known = names[pointer.target.begin];
      known += (known.empty() ? "" : "/") + std::string(of->text->name_of(*pointer.step));
    }
  } catch (const Unclear&) {
    of_launch = true;
    return {};
  }
  names.erase(names.lower_bound(bytes), names.end());
  names.try_emplace(0, array.name);
  // What is used by its own name alone, or by several all over, is one array. (What the launch decides on is
  // declared by the text in any case.)
  if (const std::string& first = names.begin()->second;
      !array.dynamic && names.size() == 1 && (first == array.name || first.find('/') != std::string::npos))
    return {};
  std::vector<exec::SharedVariable> parts;
  for (auto part = names.begin(); part != names.end(); ++part) {
    const auto next = std::next(part);
    const uint64_t end = next == names.end() ? bytes : next->first;
    parts.push_back({part->second, array.offset + static_cast<uint32_t>(part->first),
                     static_cast<uint32_t>(end - part->first), array.dynamic, array.name});
  }
  return parts;
}

std::variant<Declaration, Unclear> Division::declaration(const exec::SharedVariable& part,
                                                         const exec::LaunchConfig& config) const {
  if (const auto member = members_.find(part.name); !part.dynamic && member != members_.end())
    return member->second.declaration;
  const Divided* of = divided(part);
  if (of == nullptr) return Unclear{"the text of the kernel was not found"};
  const Text& text = *of->text;
  try {
    Run run(text, kernel_, config, Room());
    const Parts parts = run();
    const auto found = std::find_if(parts.pointers.begin(), parts.pointers.end(),
                                    [&](const Pointer& p) { return text.name_of(*p.step) == part.name; });
    const std::string obstacle = text.obstacle(parts);
    if (found == parts.pointers.end())
      return Unclear{obstacle.empty() ? fmt::format("the kernel's text does not use '{}' itself", part.name)
                                      : obstacle};
    Declaration declaration = text.declaration(*found->step, found->target.element, part.size);
    const std::string place = line_in_words(declaration.line, declaration.file);
    if (found->target.to_rows && declaration.extents.size() == 1)
      return Unclear{fmt::format("{} does not say which rows '{}' leads to", place, part.name)};
    if (declaration.element_bytes == 0 || declaration.extents.back().value == 0)
      return Unclear{fmt::format("{}: the size of '{}' is not known", place, declaration.type)};
    DynamicPart& more = *declaration.part;
    if (more.obstacle.empty()) more.obstacle = obstacle;
    more.begins = text.bytes_of(parts.begins);
    if (declaration.extents.size() == 1)
      declaration.pitch = run.pitch_of(part.name);
    else if (const std::vector<Range>& columns = found->step->all_columns;
             std::all_of(
                 columns.begin(), columns.end(),
                 [&](const Range& range) { return text.words(range) == declaration.extents.back().text; }) &&
             !columns.empty())
      declaration.pitch =
          Pitch{declaration.extents.back().text, static_cast<uint32_t>(declaration.extents.back().value),
                text.bytes_of(columns)};
    return declaration;
  } catch (const Unclear& unclear) {
    return unclear;
  }
}

std::variant<std::vector<Edit>, Unclear> Division::room_behind(const exec::SharedVariable& part,
                                                               uint32_t bytes,
                                                               const exec::LaunchConfig& config) const {
  const Divided* of = divided(part);
  if (of == nullptr) return Unclear{"the text of the kernel was not found"};
  constexpr uint64_t most = 48 * 1024;  // without cudaFuncSetAttribute
  if (uint64_t{kernel_.dynamic_shared_offset} + config.dynamic_shared + bytes > most)
    return Unclear{"the program would have to ask for more than 48 KB"};
  try {
    const auto array = std::find_if(kernel_.shared.begin(), kernel_.shared.end(),
                                    [&](const exec::SharedVariable& v) { return v.name == of->array; });
    const uint64_t end = part.offset - array->offset + part.size;
    Parts parts = Run(*of->text, kernel_, config, {end, bytes})();
    for (const Pointer& pointer : parts.pointers)
      if (pointer.target.of_launch) throw Unclear{"where its parts begin is not the same in every launch"};
    const bool is_last = end == config.dynamic_shared;
    const std::vector<Edit> more = array->dynamic
                                       ? of->text->larger_launches(bytes, is_last ? config.dynamic_shared : 0)
                                       : of->text->longer_array(bytes);
    parts.moves.insert(parts.moves.end(), more.begin(), more.end());
    return std::move(parts.moves);
  } catch (const Unclear& unclear) {
    return unclear;
  }
}

}  // namespace lanescope::advise
