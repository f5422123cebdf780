// See init_check.hpp.
#include "exec/init_check.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "exec/each_lane.hpp"
#include "exec/memory_words.hpp"
#include "exec/schedule.hpp"

namespace lanescope::exec {

namespace {

using Severity = Finding::Severity;

bool any_set(std::span<const std::byte> bits) {
  return std::any_of(bits.begin(), bits.end(), [](std::byte b) { return b != std::byte{0}; });
}

/// Element `i` of so many bits that lie packed there.
std::byte packed_element(std::span<const std::byte> from, uint32_t i, uint32_t bits) {
  const uint32_t at = i * bits, next = std::min<uint32_t>(at / 8 + 1, static_cast<uint32_t>(from.size()) - 1);
  const uint32_t two = static_cast<uint32_t>(from[at / 8]) | static_cast<uint32_t>(from[next]) << 8;
  return static_cast<std::byte>(two >> at % 8 & ((1u << bits) - 1));
}

}  // namespace

InitCheck::InitCheck(const Kernel& kernel, const BlockShape& shape, SharedPieces pieces)
    : kernel_(kernel),
      shape_(shape),
      pieces_(pieces),
      shared_written_(pieces.count(shape.shared_bytes)),
      local_written_(size_t{shape.lanes()} * shape.local_bytes, Written::yes),
      values_(kernel, shape.warps()) {}

void InitCheck::start() {
  values_.start();
  std::fill(shared_written_.begin(), shared_written_.end(), Written::no);
  if (shape_.system_shared < shape_.shared_bytes)  // the system's is set up
    std::fill(shared_written_.begin() + pieces_.index_of(shape_.system_shared), shared_written_.end(),
              Written::yes);
  if (local_written_.empty()) return;
  for (size_t thread = 0; thread < shape_.lanes(); ++thread)
    for (const LocalVariable& v : kernel_.local_variables) hold_nothing(thread, v);
}

void InitCheck::enter(const Warp& w, uint32_t first_variable, uint32_t count) {
  if (local_written_.empty()) return;
  each_lane(w.mask, [&](uint32_t lane) {
    for (uint32_t i = first_variable; i < first_variable + count; ++i)
      hold_nothing(thread_of(w, lane), kernel_.local_variables[i]);
  });
}

void InitCheck::hold_nothing(size_t thread, const LocalVariable& v) {
  std::fill_n(local_written_.begin() + static_cast<ptrdiff_t>(thread * shape_.local_bytes + v.offset), v.size,
              Written::no);
}

// Accesses.

void InitCheck::begin(const WarpAccess& now) {
  if (!values_.any()) return;
  for (const FollowedRegister& reg : now.access.data) {
    if (now.access.follows) values_.define(now.w, reg, now.w.mask);
    if (now.access.kind == AccessKind::store)
      each_lane(values_.undefined(now.w, reg, now.global | now.elsewhere), [&](uint32_t lane) {
        report_use(now.w, values_.origin_of(now.w, reg, lane), now.access.origin);
      });
  }
}

void InitCheck::access(const WarpAccess& now) {
  if (is_copy(now.access.kind) || now.access.of_mbarrier) return;
  each_lane(now.shared | now.local, [&](uint32_t lane) { access_block(now, lane); });
  each_lane(now.global, [&](uint32_t lane) { access_global(now, lane); });
}

bool InitCheck::is_of_this_block(const WarpAccess& now) const { return now.w.block->rank == shape_.rank; }

bool InitCheck::follows(const WarpAccess& now) const { return now.access.follows && is_of_this_block(now); }

UndefinedValues::Origin InitCheck::origin_of(const WarpAccess& now, uint32_t lane, Severity severity,
                                             ptx::Space space, uint32_t unwritten) {
  UndefinedValues::Origin origin{
      .found = now.finding(Finding::Kind::uninitialised_read, lane), .space = space, .unwritten = unwritten};
  origin.found.severity = severity;
  return origin;
}

void InitCheck::access_block(const WarpAccess& now, uint32_t lane) {
  if ((now.shared >> lane & 1) == 0 && local_written_.empty()) return;
  const Pieces pieces = pieces_of(now, lane);
  if (!writes(now.access.kind)) load(now, lane, pieces);
  if (!reads(now.access.kind)) store(now, lane, pieces);
}

InitCheck::Pieces InitCheck::pieces_of(const WarpAccess& now, uint32_t lane) {
  const uint64_t offset = now.offset[lane];
  Pieces pieces;
  pieces.is_shared = (now.shared >> lane & 1) != 0;
  if (pieces.is_shared) {
    pieces.shift = pieces_.shift();
    pieces.first = pieces_.index_of(offset);
    pieces.written = shared_written_.data() + pieces.first;
    pieces.place = place_in_shared(offset);
  } else {
    pieces.written = local_written(now.w, lane, offset);
    pieces.place = place_in_local(now.w, lane, offset);
  }
  pieces.count = std::max(1u, uint32_t{now.access.width} >> pieces.shift);
  return pieces;
}

void InitCheck::load(const WarpAccess& now, uint32_t lane, const Pieces& pieces) {
  const uint32_t width = now.access.width, bytes = 1u << pieces.shift;
  uint32_t unwritten = 0;
  Loaded loaded;
  for (uint32_t i = 0; i < pieces.count; ++i) {
    Written& written = pieces.written[i];
    if (written == Written::yes) continue;
    if (written == Written::undefined) {
      for (uint32_t at = i * bytes; at < std::min((i + 1) * bytes, width); ++at)
        if (loaded.bits[at] = values_.bits_at(pieces.place + at); loaded.bits[at] != std::byte{0})
          loaded.origin = values_.origin_at(pieces.place + at);
    } else {
      ++unwritten;
      written = Written::read_before;
      std::fill_n(loaded.bits.begin() + i * bytes, std::min(bytes, width), std::byte{0xff});
    }
  }
  if (unwritten != 0)
    load_unwritten(now, lane, pieces, loaded, unwritten);
  else if (loaded.origin != 0)
    take(now, lane, loaded, nullptr);
}

void InitCheck::load_unwritten(const WarpAccess& now, uint32_t lane, const Pieces& pieces,
                               const Loaded& loaded, uint32_t unwritten) {
  // Part of an access: often the padding of a struct that is copied as a whole.
  const UndefinedValues::Origin origin = origin_of(
      now, lane, unwritten == pieces.count ? Severity::error : Severity::warning,
      pieces.is_shared ? ptx::Space::shared : ptx::Space::local, unwritten * now.access.width / pieces.count);
  take(now, lane, loaded, &origin);
  if (!pieces.is_shared || !follows(now)) return;
  for (uint32_t i = 0; i < pieces.count; ++i)
    if (pieces.written[i] == Written::read_before)
      values_.readers_of(pieces.first + i).insert(UndefinedValues::name_of(origin));
}

void InitCheck::store(const WarpAccess& now, uint32_t lane, const Pieces& pieces) {
  const bool only_writes = writes(now.access.kind);
  for (uint32_t i = 0; i < pieces.count; ++i) {
    if (pieces.is_shared && pieces.written[i] == Written::read_before && only_writes)
      add_late_store(now, lane, pieces.first + i);
    pieces.written[i] = Written::yes;
  }
  if (!values_.any() || !is_of_this_block(now)) return;
  if (now.access.kind == AccessKind::store) store_values(now, lane, pieces);
  if (now.access.kind == AccessKind::store_matrix) store_row(now, lane, pieces);
}

void InitCheck::store_values(const WarpAccess& now, uint32_t lane, const Pieces& pieces) {
  const auto is_undefined = [&](const FollowedRegister& reg) {
    return values_.undefined(now.w, reg, 1u << lane) != 0;
  };
  if (std::none_of(now.access.data.begin(), now.access.data.end(), is_undefined)) return;
  const uint32_t element = now.access.element;
  for (uint32_t at = 0, k = 0; at < now.access.width; at += element, ++k) {
    const FollowedRegister& reg = now.access.data[k];
    std::array<std::byte, 32> bits{};
    const bool undefined = is_undefined(reg);
    if (undefined) values_.get(now.w, reg, lane, std::span(bits.data(), element));
    for (uint32_t i = 0; i < element; ++i) {
      values_.store(pieces.place + at + i, bits[i], undefined ? values_.origin_of(now.w, reg, lane) : 0);
      if (bits[i] != std::byte{0}) pieces.written[(at + i) >> pieces.shift] = Written::undefined;
    }
  }
}

void InitCheck::store_row(const WarpAccess& now, uint32_t lane, const Pieces& pieces) {
  for (uint32_t column = 0; column < now.access.width; ++column) {
    const RegisterByte from = register_byte(now.access.layout, lane, column);
    const FollowedRegister& reg = now.access.data[from.number];
    std::array<std::byte, sizeof(uint32_t)> bits{};
    const bool undefined = values_.undefined(now.w, reg, 1u << from.lane) != 0;
    if (undefined) values_.get(now.w, reg, from.lane, bits);
    const std::byte own = bits[from.byte];
    values_.store(pieces.place + column, own, undefined ? values_.origin_of(now.w, reg, from.lane) : 0);
    if (own != std::byte{0}) pieces.written[column >> pieces.shift] = Written::undefined;
  }
}

void InitCheck::add_late_store(const WarpAccess& now, uint32_t lane, uint32_t index) {
  const uint64_t begin = pieces_.begin_of(index);
  const auto add_store = [&](Finding& f) {
    f.other_instruction = now.access.origin;
    f.other_thread = thread_of(now.w, lane);
    f.other_access = now.access.kind;
  };
  for (Finding& f : now.w.worker->findings)
    if (f.kind == Finding::Kind::uninitialised_read && f.block == now.w.block->index &&
        f.other_instruction == Finding::none && begin - f.address < f.width)
      add_store(f);
  if (!values_.any()) return;
  for (const UndefinedValues::Name name : values_.readers_of(index))
    if (Finding& f = values_.origin(name).found; f.other_instruction == Finding::none) add_store(f);
}

const Allocation* InitCheck::allocation_of(const WarpAccess& now, uint32_t lane) {
  const uint64_t address = now.offset[lane];
  const Memory& memory = *now.w.worker->memory;
  if (generation_ != memory.generation() || address - allocation_.base >= allocation_.size) {
    generation_ = memory.generation();
    allocation_ = memory.find(address).value_or(Allocation{});
  }
  const bool is_watched =
      allocation_.written && allocation_.size - (address - allocation_.base) >= now.access.width;
  return is_watched ? &allocation_ : nullptr;
}

void InitCheck::access_global(const WarpAccess& now, uint32_t lane) {
  const Allocation* const allocation = allocation_of(now, lane);
  if (allocation == nullptr) return;
  WrittenBytes& written = *allocation->written;
  const uint64_t offset = now.offset[lane] - allocation->base;
  const uint32_t width = now.access.width, element = now.access.element;
  uint32_t unwritten = 0;
  bool whole_element = false;
  Loaded loaded;
  for (uint32_t at = 0; !writes(now.access.kind) && at < width; at += element) {
    const uint32_t missing = written.missing(offset + at, element);
    unwritten += missing;
    whole_element = whole_element || missing == element;
    for (uint32_t i = at; missing != 0 && i < at + element; ++i)
      if (written.missing(offset + i, 1) != 0) loaded.bits[i] = std::byte{0xff};
  }
  if (!reads(now.access.kind)) written.add(offset, width);
  if (unwritten == 0) return;
  // Structs are copied from and to global memory element by element: of padding some bytes are missing.
  const Severity severity = unwritten == width ? Severity::error
                            : whole_element    ? Severity::warning
                                               : Severity::note;
  const UndefinedValues::Origin origin = origin_of(now, lane, severity, ptx::Space::global, unwritten);
  take(now, lane, loaded, &origin);
}

void InitCheck::take(const WarpAccess& now, uint32_t lane, Loaded loaded,
                     const UndefinedValues::Origin* fresh) {
  if (!follows(now)) {
    if (fresh != nullptr)
      report_undefined(now.w, *fresh, Finding::none);
    else if (loaded.origin != 0)
      report_use(now.w, loaded.origin, now.access.origin);
    return;
  }
  if (fresh != nullptr) loaded.origin = values_.remember(*fresh);
  if (loaded.origin == 0) return;
  if (now.access.kind == AccessKind::load_matrix) return take_row(now, lane, loaded);
  if (now.access.kind == AccessKind::group_product) return take_piece(now, loaded);
  const uint32_t element = now.access.element;
  for (uint32_t at = 0, k = 0; at < now.access.width; at += element, ++k) {
    const std::span bits(loaded.bits.data() + at, element);
    const FollowedRegister& reg = now.access.data[k];
    if (reg.number != no_operand && any_set(bits))
      values_.set(now.w, reg, lane, bits, now.access.by_sign, loaded.origin);
  }
}

void InitCheck::take_row(const WarpAccess& now, uint32_t lane, const Loaded& loaded) {
  for (uint32_t column = 0; column < now.access.width; ++column) {
    const std::byte bits = packed_element(loaded.bits, column, now.access.row_bits);
    const RegisterByte to = register_byte(now.access.layout, lane, column);
    const FollowedRegister& reg = now.access.data[to.number];
    if (bits != std::byte{0} && reg.number != no_operand)
      values_.add(now.w, reg, to.lane, to.byte, std::span(&bits, 1), loaded.origin);
  }
}

void InitCheck::take_piece(const WarpAccess& now, const Loaded& loaded) {
  // As the elements of an accumulator lie (matrix.hpp): two neighbours of a row, which registers of 32 bits
  // hold apart, of eight rows and then of the eight below.
  const uint32_t bytes = now.access.data_bytes, apart = bytes / 2, in_eight = 2 * apart;
  const std::vector<FollowedRegister>& results = kernel_.flows[now.access.flow].to;
  static constexpr std::array all{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  const auto add = [&](uint32_t number, uint32_t lane, uint32_t neighbour) {
    if (number < results.size())
      values_.add(now.w, results[number], lane, apart == 1 ? neighbour * bytes : 0,
                  std::span(all.data(), bytes), loaded.origin);
  };
  const auto add_row = [&](uint32_t row) {
    for (uint32_t number = row % 16 / 8 * apart; number < results.size(); number += in_eight)
      for (uint32_t lane = row % 8 * 4; lane < row % 8 * 4 + 4; ++lane)
        for (uint32_t neighbour : {0u, 1u}) add(number + neighbour * (apart - 1), lane, neighbour);
  };
  const auto add_column = [&](uint32_t column) {
    const uint32_t neighbour = column % 2;
    for (uint32_t number = column / 8 * in_eight; number < (column / 8 + 1) * in_eight; number += apart)
      for (uint32_t lane = column % 8 / 2; lane < warp_lanes; lane += 4)
        add(number + neighbour * (apart - 1), lane, neighbour);
  };
  const MatrixRead& read = *now.matrix;
  const auto add_line = [&](uint32_t line) { read.is_second ? add_column(line) : add_row(line); };
  if (!read.transposed) return add_line(now.piece / read.pieces);
  constexpr uint32_t element = 2;
  for (uint32_t i = 0; i < 8; ++i)
    if (any_set(std::span(loaded.bits.data() + size_t{i} * element, element)))
      add_line(now.piece % read.pieces * 8 + i);
}

// What the engine itself does to memory.

void InitCheck::written(uint64_t offset, uint64_t bytes) {
  if (bytes == 0 || offset + bytes > shape_.shared_bytes) return;
  std::fill(shared_written_.begin() + pieces_.index_of(offset),
            shared_written_.begin() + pieces_.index_of(offset + bytes - 1) + 1, Written::yes);
}

void InitCheck::written_local(const Warp& w, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (!local_written_.empty()) std::fill_n(local_written(w, lane, offset), bytes, Written::yes);
}

void InitCheck::copied_local(const Warp& w, uint32_t lane, uint64_t from, uint64_t to, uint64_t bytes) {
  const uint32_t all = shape_.local_bytes;
  if (local_written_.empty() || from + bytes > all || to + bytes > all) return;
  Written* const written = local_written(w, lane, 0);
  for (uint64_t i = 0; i < bytes; ++i) {
    written[to + i] = written[from + i];
    if (written[from + i] != Written::undefined) continue;
    const uint64_t place = place_in_local(w, lane, from + i);
    values_.store(place_in_local(w, lane, to + i), values_.bits_at(place), values_.origin_at(place));
  }
}

void InitCheck::used_local(Warp& w, const Inst* in, uint32_t lane, uint64_t offset, uint64_t bytes) {
  if (local_written_.empty() || offset + bytes > shape_.local_bytes) return;
  const Written* const written = local_written(w, lane, 0);
  for (uint64_t i = offset; i < offset + bytes; ++i)
    if (written[i] == Written::undefined)
      if (const UndefinedValues::Name name = values_.origin_at(place_in_local(w, lane, i)); name != 0)
        report_use(w, name, in->origin());
}

// Values.

void InitCheck::follow(Warp& w, const Inst* in, const ValueFlow& flow) {
  if (!values_.any()) return;
  for (const FollowedRegister& reg : flow.needs)
    each_lane(values_.undefined(w, reg, w.mask),
              [&](uint32_t lane) { report_use(w, values_.origin_of(w, reg, lane), in->origin()); });
  tries_ = true;
  values_.pass_on(w, in, flow);
  tries_ = false;
}

void InitCheck::shuffled(const Warp& w, uint32_t flow, uint32_t lane, const UndefinedValues::Origin& origin) {
  std::array<std::byte, sizeof(uint32_t)> undefined;
  undefined.fill(std::byte{0xff});
  for (const FollowedRegister& reg : kernel_.flows[flow].to)
    if (reg.lane_bytes != 0) values_.set(w, reg, lane, undefined, false, values_.remember(origin));
}

// Findings.

void InitCheck::report_use(Warp& w, UndefinedValues::Name name, uint32_t use) {
  UndefinedValues::Origin& origin = values_.origin(name);
  if (!std::exchange(origin.reported, true)) report_undefined(w, origin, use);
}

void InitCheck::report_undefined(Warp& w, const UndefinedValues::Origin& origin, uint32_t use) const {
  Finding found = origin.found;
  found.use = use;
  if (Finding* example = add_finding(w, found))
    example->message = found.kind == Finding::Kind::shuffle_source ? describe_shuffle(origin, shape_.threads)
                                                                   : describe_read(w, origin);
}

std::string InitCheck::describe_read(const Warp& w, const UndefinedValues::Origin& origin) const {
  const Finding& found = origin.found;
  const bool is_shared = origin.space == ptx::Space::shared, is_local = origin.space == ptx::Space::local;
  std::string words;
  if (is_shared) {
    words = describe_shared(kernel_, found.address, found.width, shape_.rank, w);
  } else if (is_local) {
    words = describe_local(kernel_, found.address, found.width);
  } else {
    const Allocation of = w.worker->memory->find(found.address).value_or(Allocation{});
    words = describe_bytes(of.name, found.address - of.base, found.width);
  }
  words += std::string("; ") +
           (is_shared  ? "no thread of the block has"
            : is_local ? "the thread has not"
                       : "nothing has") +
           " written " +
           (origin.unwritten == found.width ? "there" : std::to_string(origin.unwritten) + " of them") +
           " before";
  if (found.severity != Severity::error)
    words += " (padding of a struct that is copied as a whole looks like this)";
  return words;
}

}  // namespace lanescope::exec
