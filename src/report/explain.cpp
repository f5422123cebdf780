// Puts one access into words.
#include "report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "lanescope/model/global.hpp"
#include "lanescope/model/hopper.hpp"
#include "lanescope/model/shared.hpp"
#include "profile/cost.hpp"
#include "profile/usual_step.hpp"
#include "ptx/matrix.hpp"
#include "report/report.hpp"
#include "report/words.hpp"

namespace lanescope::report {
namespace {

const char* verb_of(model::Op op) {
  switch (op) {
    case model::Op::load:
    case model::Op::ldmatrix: return "read";
    case model::Op::store:
    case model::Op::stmatrix: return "write";
    case model::Op::cp_async:
    case model::Op::cp_async_cg: return "fill";
    case model::Op::atomic:
    case model::Op::compare_and_swap:
    case model::Op::update_loop: break;
  }
  return "update";
}

std::string place_of(const profile::Example& worst, const exec::Dim3& grid) {
  return fmt::format("Warp {} of block {}", worst.warp, str(coordinates(worst.block, grid)));
}

/// How the loop goes that an atomic becomes.
std::string loop_rule(const model::Request& request, const model::SharedCost& cost) {
  return fmt::format(
      " No instruction does this atomic: load, operation and compare-and-swap are repeated until every lane "
      "has got through, one for each {} in a round: {}, {}{}.",
      request.width == 2 ? "word" : "bank", counted(static_cast<uint64_t>(cost.requests), "round"),
      counted(static_cast<uint64_t>(cost.wavefronts), "wavefront"),
      cost.wavefronts == cost.ideal ? "" : fmt::format(" instead of {}", cost.ideal));
}

/// What is special about how this architecture counts this access.
std::string special_rule(const model::Arch& arch, const model::Request& request) {
  if (model::is_atomic(request.op))
    return fmt::format(
        " Atomics on one bank are served one lane after the other{}.",
        request.op == model::Op::compare_and_swap ? ", a compare-and-swap in two wavefronts" : "");
  if (model::is_copy(request.op))
    return " Asynchronous copies to one bank are served one lane after the other.";
  if (arch.broadcast == model::Broadcast::none) return " This architecture serves every lane on its own.";
  if (arch.subword_conflict && request.width < arch.bank_bytes)
    return " On this architecture different bytes of one word conflict.";
  if (arch.split_wide && request.width > arch.bank_bytes)
    return fmt::format(" This architecture splits it into {} accesses of {} bytes.",
                       request.width / arch.bank_bytes, arch.bank_bytes);
  if (arch.extra_wide_wavefronts != 0 && request.width == 16)
    return fmt::format(" On this architecture every phase of a 16-byte access takes {} more.",
                       counted(static_cast<uint64_t>(arch.extra_wide_wavefronts), "wavefront"));
  if (arch.broadcast == model::Broadcast::one_word && request.op == model::Op::load)
    return " This architecture gives one word at a time to several lanes.";
  if (arch.segment_words != 0)
    return fmt::format(
        " On this architecture words i and i+{} of one aligned segment of {} words come out together.",
        arch.banks, arch.segment_words);
  return "";
}

/// Where the lanes, of all places that their distance leads to, are: with none in common they conflict only
/// because others in between take no part.
std::string all_banks(uint64_t places, bool conflicts) {
  return conflicts ? fmt::format("the banks begin again after {}, which are not all active",
                                 counted(places, "lane"))
                   : "the lanes go through all banks";
}

/// "neighbouring lanes are"; of every eighth lane "the active lanes (every 8th) are".
std::string those_apart(int every) {
  return every == 1 ? "neighbouring lanes are"
                    : fmt::format("the active lanes (every {}) are", ordinal(static_cast<uint64_t>(every)));
}

/// What follows for the banks when all lanes are `stride` bytes apart, of which every `every`th is active.
std::string stride_rule(const model::Arch& arch, const model::Request& request, int64_t stride, int every,
                        bool conflicts) {
  const auto bytes = static_cast<uint64_t>(stride < 0 ? -stride : stride);
  const auto word = static_cast<uint64_t>(arch.bank_bytes);
  const auto width = static_cast<uint64_t>(request.width);
  if (bytes == 0) return "";
  const auto apart = [](int lanes) {
    std::string text = " " + those_apart(lanes) + " ";
    text[1] = text[1] == 'n' ? 'N' : 'T';
    return text;
  };
  // Where all lanes would meet nowhere, those that rest in between are the cause.
  const auto looked_at = [&](uint64_t distance, uint64_t all) {
    return std::gcd(distance, all) == 1 ? 1 : every;
  };
  if (bytes % word == 0 && width <= word) {
    const auto all = static_cast<uint64_t>(arch.banks);
    const int lanes = looked_at(bytes / word, all);
    const uint64_t words = bytes / word * static_cast<uint64_t>(lanes);
    const uint64_t common = std::gcd(words, all);
    return fmt::format("{}{} apart, and gcd({}, {}) = {}: {}.", apart(lanes), counted(words, "word"), words,
                       all, common,
                       common == 1     ? all_banks(all, conflicts)
                       : common == all ? "all in one bank"
                                       : "only every " + ordinal(common) + " bank is used");
  }
  const uint64_t row = static_cast<uint64_t>(arch.banks) * word;
  if (width > word && bytes % width == 0 && row % width == 0 && !arch.split_wide) {
    const uint64_t all = row / width;
    const int lanes = looked_at(bytes / width, all);
    const uint64_t units = bytes / width * static_cast<uint64_t>(lanes);
    const uint64_t common = std::gcd(units, all);
    const std::string unit = counted(width, "byte");
    return fmt::format("{}{} × {} apart, the banks hold {} × {} in a row, and gcd({}, {}) = {}: {}.",
                       apart(lanes), units, unit, all, unit, units, all, common,
                       common == 1     ? all_banks(all, conflicts)
                       : common == all ? "all in the same banks"
                                       : "only every " + ordinal(common) + " of these places is used");
  }
  return fmt::format("{}{} apart.", apart(every), counted(bytes * static_cast<uint64_t>(every), "byte"));
}

/// Lanes that take no part between the first and the last that do.
int idle_between(const profile::Example& worst) {
  return std::bit_width(worst.mask) - std::countr_zero(worst.mask) - std::popcount(worst.mask);
}

}  // namespace

int every_lane_of(uint64_t mask) {
  if (std::popcount(mask) < 2) return 1;
  const int first = std::countr_zero(mask);
  const int step = std::countr_zero(mask & (mask - 1)) - first;
  for (int lane = first + step, left = std::popcount(mask) - 1; left != 0; lane += step, --left)
    if (lane >= model::max_lanes || (mask >> lane & 1) == 0) return 1;
  return step;
}

std::optional<int64_t> stride_of(const model::Request& request, uint64_t mask) {
  if (std::popcount(mask) < 2) return std::nullopt;
  const int first = std::countr_zero(mask);
  const uint64_t rest = mask & (mask - 1);
  const int second = std::countr_zero(rest);
  const auto apart = static_cast<int64_t>(request.address[second] - request.address[first]);
  if (apart % (second - first) != 0) return std::nullopt;
  const int64_t stride = apart / (second - first);
  for (uint64_t left = rest; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (static_cast<int64_t>(request.address[lane] - request.address[first]) != stride * (lane - first))
      return std::nullopt;
  }
  return stride;
}

std::vector<BankUse> banks_of(const model::SharedDetail& detail, int phase) {
  std::vector<BankUse> banks;
  for (int i = 0; i < detail.entry_count; ++i) {
    const model::BankWord& word = detail.entry[i];
    if (word.phase != phase) continue;
    if (banks.empty() || banks.back().bank != word.bank) banks.push_back({word.bank, {}, 0, 0});
    banks.back().words.push_back(word);
    banks.back().lanes |= word.lanes;
    banks.back().lane_accesses += std::popcount(word.lanes);
  }
  return banks;
}

bool counts_lanes(const model::Arch& arch, const model::Request& request) {
  return model::is_atomic(request.op) || model::is_copy(request.op) ||
         arch.broadcast == model::Broadcast::none;
}

std::string who_meets(const BankUse& bank) {
  std::vector<uint64_t> words;
  bool one_lane_each = true;
  for (const model::BankWord& word : bank.words) {
    words.push_back(word.word);
    one_lane_each = one_lane_each && std::popcount(word.lanes) == 1;
  }
  if (words.size() == 1) return fmt::format("{} → word {}", lanes(bank.lanes), words.front());
  if (one_lane_each && std::popcount(bank.lanes) == static_cast<int>(words.size())) {
    // In the order of the lanes, as they come in the program.
    std::vector<model::BankWord> by_lane = bank.words;
    std::sort(by_lane.begin(), by_lane.end(), [](const auto& a, const auto& b) { return a.lanes < b.lanes; });
    words.clear();
    for (const model::BankWord& word : by_lane) words.push_back(word.word);
    return fmt::format("{} → words {}", lanes(bank.lanes), listed(words));
  }
  constexpr size_t shown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(shown, bank.words.size()); ++i)
    text += fmt::format("{}{} → word {}", i == 0 ? "" : "; ", lanes(bank.words[i].lanes), bank.words[i].word);
  return text + (bank.words.size() > shown ? "; …" : "");
}

std::string explain_request(const model::Arch& arch, const model::Request& request, bool updates) {
  const model::SharedDetail detail = model::shared_detail(arch, request);
  int phase = 0;
  int served = 0;
  for (int i = 0; i < detail.phase_count; ++i) {
    if (detail.phase_wavefronts[i] > detail.phase_wavefronts[phase]) phase = i;
    served += detail.phase_lanes[i] != 0;
  }
  const std::vector<BankUse> banks = banks_of(detail, phase);
  if (banks.empty()) return "";
  const bool by_lane = counts_lanes(arch, request) || arch.broadcast != model::Broadcast::many_words;
  const BankUse& bank =
      *std::max_element(banks.begin(), banks.end(), [&](const BankUse& a, const BankUse& b) {
        return by_lane ? a.lane_accesses < b.lane_accesses : a.words.size() < b.words.size();
      });

  const uint64_t active = detail.phase_lanes[phase];
  const int wavefronts = detail.phase_wavefronts[phase];
  std::string text =
      served > 1 ? fmt::format("the {} that are served together (one of {} phases) ", lanes(active), served)
                 : counted(static_cast<uint64_t>(std::popcount(active)), "lane") + " ";
  text += fmt::format("{} {} of the {} banks", verb_of(updates ? model::Op::atomic : request.op),
                      banks.size(), arch.banks);
  const auto asked = [&] {
    return fmt::format("; bank {} is asked for {}: {}.", bank.bank, counted(bank.words.size(), "word"),
                       who_meets(bank));
  };
  if (request.op == model::Op::update_loop) {
    text += (wavefronts > 1 ? asked() : ".") + loop_rule(request, detail.cost);
  } else if (wavefronts > detail.cost.ideal / served) {
    text += asked();
    text += fmt::format(" That takes {} instead of {}.",
                        counted(static_cast<uint64_t>(wavefronts), "wavefront"), detail.cost.ideal / served);
    text += special_rule(arch, request);
  } else if (request.op == model::Op::compare_and_swap) {
    text += fmt::format(": {} wavefronts, as a compare-and-swap takes at least.", wavefronts);
  } else {
    text += bank.words.size() == 1 ? ", one word of each: 1 wavefront." : ": 1 wavefront.";
    if (bank.words.size() > 1) text += special_rule(arch, request);
    if (detail.cost.broadcast_words != 0)
      text += fmt::format(" {} {} several lanes and {} once.",
                          counted(static_cast<uint64_t>(detail.cost.broadcast_words), "word"),
                          detail.cost.broadcast_words == 1 ? "goes to" : "go to",
                          detail.cost.broadcast_words == 1 ? "is read" : "are read");
  }
  if (const std::optional<int64_t> stride = stride_of(request, active))
    text +=
        stride_rule(arch, request, *stride, every_lane_of(active), wavefronts > detail.cost.ideal / served);
  return text;
}

std::string explain_shared(const model::Arch& arch, const profile::Example& worst, exec::AccessKind kind,
                           const exec::Dim3& grid, const exec::Dim3& block) {
  const std::string text =
      explain_request(arch, profile::request_of(worst.kind, worst.width, worst.mask, worst.address),
                      kind == exec::AccessKind::atomic);
  return text.empty() ? "" : place_of(worst, grid) + ": " + text + explain_rows(worst, block);
}

std::string explain_rows(const profile::Example& worst, const exec::Dim3& block) {
  const std::optional<LaneGroups> groups = lane_groups_of(worst);
  if (!groups || !are_rows_of_block(*groups, worst, block)) return "";
  const bool one_word =
      groups->step == 0 && (worst.kind == exec::AccessKind::load || worst.kind == exec::AccessKind::store);
  if (!one_word && std::abs(groups->step) != worst.width) return "";
  return fmt::format(
      " The lanes of one row of the block do not meet, and a warp spans {} rows: let blockDim.x be a "
      "multiple of 32, so that it stays in one.",
      groups->count);
}

Split split_of(const profile::Example& worst) {
  if (!worst.has_destination()) return Split::none;
  constexpr uint64_t sector = 32, half = 16;
  bool apart = false, shifted = true;
  for (uint32_t left = worst.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(left));
    shifted = shifted && ((worst.address[lane] ^ worst.destination[lane]) & half) != 0;
    for (uint32_t others = left & (left - 1); others != 0; others &= others - 1) {
      const auto other = static_cast<size_t>(std::countr_zero(others));
      apart = apart || (worst.address[lane] / sector == worst.address[other] / sector &&
                        worst.destination[lane] / sector != worst.destination[other] / sector);
    }
  }
  return !apart ? Split::none : shifted ? Split::shifted : Split::scattered;
}

bool skips_sectors(const profile::Example& worst) {
  const auto sectors = [&](int lanes) { return (lanes * worst.width + 31) / 32; };
  const int active = std::popcount(worst.mask);
  return sectors(active + idle_between(worst)) > sectors(active);
}

uint64_t past_sector(const profile::Example& worst) {
  uint64_t lowest = ~uint64_t{0};
  for (uint32_t left = worst.mask; left != 0; left &= left - 1)
    lowest = std::min(lowest, worst.address[static_cast<size_t>(std::countr_zero(left))]);
  return lowest % 32;
}

std::optional<LaneGroups> lane_groups_of(const profile::Example& worst) {
  constexpr uint64_t sector = 32;
  LaneGroups groups;
  const profile::UsualStep step = profile::usual_step(worst.mask, worst.address);  // within a group
  uint64_t begin = 0, last = 0;
  for (uint32_t left = worst.mask; left != 0; left &= left - 1) {
    const uint64_t address = worst.address[static_cast<size_t>(std::countr_zero(left))];
    const auto apart = static_cast<int64_t>(address - last);
    last = address;
    if (groups.count != 0 && apart == step.bytes) continue;
    const auto distance = static_cast<int64_t>(address - begin);
    if (groups.count == 1) groups.distance = distance;
    if (groups.count > 1 && groups.distance != distance) groups.distance = 0;
    groups.aligned = groups.aligned && address % sector == 0;
    groups.begins |= left & ~(left - 1);
    ++groups.count;
    begin = address;
  }
  if (step.count == 0 || 2 * groups.count > std::popcount(worst.mask)) return std::nullopt;
  groups.step = step.bytes;
  return groups;
}

bool are_rows_of_block(const LaneGroups& groups, const profile::Example& worst, const exec::Dim3& block) {
  std::optional<uint64_t> row;
  for (uint32_t left = worst.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t here = (uint64_t{worst.warp} * exec::warp_lanes + lane) / block.x;
    if ((groups.begins >> lane & 1) != (row == here ? 0u : 1u)) return false;
    row = here;
  }
  return groups.count > 1;
}

std::string explain_global(const model::Arch& arch, const profile::Example& worst, const exec::Dim3& grid) {
  const model::Request request = profile::request_of(worst.kind, worst.width, worst.mask, worst.address);
  const bool in_cluster = worst.space == exec::AccessSpace::cluster;
  const model::GlobalCost cost =
      worst.has_destination()
          ? model::copy_cost(arch, request, profile::destinations(worst.destination.data()))
      : in_cluster ? model::cluster_cost(arch, request)
                   : model::global_cost(arch, request);
  const auto active = static_cast<uint64_t>(std::popcount(worst.mask));
  const bool meet = cost.bytes_distinct < cost.bytes_asked;
  std::string text = fmt::format("{}: {} {} {}{}, which would fit in {}, but touch {}", place_of(worst, grid),
                                 counted(active, "lane"), is_copy(request.op) ? "read" : verb_of(request.op),
                                 counted(static_cast<uint64_t>(cost.bytes_asked), "byte"),
                                 meet ? ", some of them the same" : "",
                                 counted(static_cast<uint64_t>(cost.ideal_sectors), "sector"), cost.sectors);
  if (in_cluster && model::global_cost(arch, request).sectors != cost.sectors)
    return text +
           ": lanes that meet at one address are served one after the other, each with its own sector.";
  const std::optional<int64_t> stride = stride_of(request, worst.mask);
  const Split split = split_of(worst);
  if (split != Split::none) {
    text +=
        ": past the first-level cache a sector is read for each sector of shared memory that parts of it go "
        "to, and here ";
    model::Request written = request;
    written.address = profile::destinations(worst.destination.data());
    if (split == Split::shifted)
      text += "source and destination begin in different halves of theirs.";
    else if (const std::optional<int64_t> apart = stride_of(written, worst.mask))
      text += fmt::format("the destinations of neighbouring lanes are {} apart.",
                          counted(static_cast<uint64_t>(std::abs(*apart)), "byte"));
    else
      text += "the halves of one sector go to different ones.";
  } else if (stride && std::abs(*stride) == worst.width) {
    // Inactive lanes in between, addresses that begin within a sector, or both.
    const bool skips = skips_sectors(worst);
    text += fmt::format(": neighbouring lanes use neighbouring addresses{}, but ",
                        *stride < 0 ? ", downwards" : "");
    if (skips)
      text += fmt::format("{} between the active ones {} no part, so that bytes in between are moved in vain",
                          counted(static_cast<uint64_t>(idle_between(worst)), "lane"),
                          idle_between(worst) == 1 ? "takes" : "take");
    if (past_sector(worst) != 0)
      text += fmt::format("{}the {} one does not begin a sector of 32 bytes", skips ? ", and " : "",
                          *stride < 0 ? "last" : "first");
    text += ".";
  } else if (stride) {
    const int every = every_lane_of(worst.mask);
    text += fmt::format(": {} {} apart.", those_apart(every),
                        counted(static_cast<uint64_t>(std::abs(*stride) * every), "byte"));
  } else if (const std::optional<LaneGroups> groups = lane_groups_of(worst); groups && groups->count == 1) {
    const auto apart = static_cast<uint64_t>(std::abs(groups->step));
    text += apart == worst.width
                ? fmt::format(
                      ": the active lanes use neighbouring addresses{}, but the {} one does not begin a "
                      "sector of 32 bytes.",
                      groups->step < 0 ? ", downwards" : "", groups->step < 0 ? "last" : "first")
                : fmt::format(": the active lanes are {} apart.", counted(apart, "byte"));
  } else if (groups) {
    const bool neighbours = std::abs(groups->step) == worst.width;
    text += fmt::format(": {} groups of lanes use {}", groups->count,
                        groups->step == 0 ? "one address each"
                        : neighbours
                            ? "neighbouring addresses"
                            : fmt::format("addresses {} apart",
                                          counted(static_cast<uint64_t>(std::abs(groups->step)), "byte")));
    if (groups->distance != 0)
      text += fmt::format(", {}{} apart", groups->step == 0 || neighbours ? "" : "the groups ",
                          counted(static_cast<uint64_t>(std::abs(groups->distance)), "byte"));
    if (neighbours && !groups->aligned) text += ", and not all of them begin a sector of 32 bytes";
    text += ".";
  } else {
    text += ": the lanes' addresses are scattered.";
  }
  return text;
}

std::string explain_bulk(const profile::Counters& copies) {
  return fmt::format(
      "{} of {}, which would fit in {}, ask for {}: each goes in pieces that end with a line of 128 bytes in "
      "either memory, and a piece that does not begin and end with a sector of 32 bytes shares "
      "that with the next one.{}",
      copies.requests == 1 ? "A bulk copy" : grouped(copies.requests) + " bulk copies",
      counted(copies.bytes_asked, "byte"), counted(copies.ideal_sectors, "sector"), grouped(copies.sectors),
      copies.estimates != 0 ? " What lies outside of the tensor is asked for, too." : "");
}

std::string explain_product(const ptx::Instruction& product) {
  const ptx::MatrixForm form = ptx::matrix_form_of(product);
  constexpr int rows = 64, row_bytes = 32;  // of A, always
  const int columns = form.n;
  const bool in_registers = product.operands[1].kind == ptx::Operand::Kind::vector;
  const int of_b = model::product_wavefronts(columns, form.sparse ? 2 * row_bytes : row_bytes),
            wavefronts = of_b + (in_registers ? 0 : model::product_wavefronts(rows, row_bytes)),
            cycles = model::product_cycles(columns, in_registers);
  if (wavefronts > cycles)
    return fmt::format(
        "Shared memory is the limit of these products: for one of {} x {} x {} it gives {} wavefronts, one a "
        "cycle, where the tensor cores take {} cycles. {}",
        form.m, columns, form.k, wavefronts, cycles,
        form.sparse ? "With A in registers both take as long."
                    : "With 64 columns or more, or with A in registers, it is not.");
  const int in_halves = 2 * model::product_cycles(columns / 2, in_registers);
  if (in_halves < cycles)
    return fmt::format(
        "The tensor cores take {} cycles for a product of {} columns with A in registers; for two of {} "
        "columns they take {}.",
        cycles, columns, columns / 2, in_halves);
  return "";
}

}  // namespace lanescope::report
