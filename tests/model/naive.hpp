// The model's rules once more, as slowly and plainly as they can be written: sets of words for each bank, and
// for the 1.x broadcast a search through every choice. Only tests use it, to compare with the model on small
// spaces.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "lanescope/model/model.hpp"

namespace lanescope::model::naive {

struct Item {
  int lane;
  int bank;
  uint64_t word;  // lanes with the same word are served by one delivery
};

struct Cost {
  int phases = 0;
  int ideal = 0;
  int wavefronts = 0;
  int conflicts = 0;
  int max_way = 0;
  int requests = 1;
  LoopLoads loads;
  int broadcast_words = 0;
  bool write_race = false;
};

inline std::vector<std::vector<int>> phases_of(const Arch& arch, const Request& request, int width) {
  std::vector<std::vector<int>> groups;
  const bool matrix = request.op == Op::ldmatrix || request.op == Op::stmatrix;
  Phases phases = request.op == Op::load ? arch.load[width_index(width)] : arch.store[width_index(width)];
  if (matrix) phases = Phases{8, 8, 0, {}, Evidence::assumed};
  if (phases.lanes_each == 0) {
    for (int i = 0; i < phases.listed; ++i) {
      groups.emplace_back();
      for (int lane = 0; lane < 64; ++lane)
        if (phases.list[i] >> lane & 1) groups.back().push_back(lane);
    }
    return groups;
  }
  for (int lane = 0; lane < request.lanes; ++lane) {
    if (lane % phases.unit % phases.lanes_each == 0) groups.emplace_back();
    groups.back().push_back(lane);
  }
  // The pair rule: as many lanes again in each phase.
  bool pairs = false;
  for (const int distance : {1, 2}) {
    bool agree = true;
    for (int lane = 0; lane < request.lanes; ++lane) {
      const int partner = lane ^ distance;
      if ((request.mask >> lane & 1) && (request.mask >> partner & 1) &&
          request.address[lane] != request.address[partner])
        agree = false;
    }
    pairs = pairs || agree;
  }
  if (!arch.pair_rule || request.op != Op::load || width < 8 || !pairs) return groups;
  std::vector<std::vector<int>> merged;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i % 2 == 0) merged.emplace_back();
    merged.back().insert(merged.back().end(), groups[i].begin(), groups[i].end());
  }
  return merged;
}

/// Every choice of broadcast word and of the lane for every other bank, to the fewest steps.
inline int fewest_steps(std::vector<Item> left) {
  if (left.empty()) return 0;
  static std::map<std::vector<std::pair<int, uint64_t>>, int> known;
  std::vector<std::pair<int, uint64_t>> key;
  for (const Item& item : left) key.emplace_back(item.bank, item.word);
  std::sort(key.begin(), key.end());
  if (const auto found = known.find(key); found != known.end()) return found->second;
  int best = static_cast<int>(left.size());
  std::set<std::pair<int, uint64_t>> words(key.begin(), key.end());
  for (const auto& broadcast : words) {
    // The banks that serve one lane, and what each may choose from.
    std::map<int, std::vector<Item>> others;
    for (const Item& item : left)
      if (item.bank != broadcast.first) others[item.bank].push_back(item);
    std::vector<std::vector<Item>> choices = {{}};
    for (const auto& [bank, items] : others) {
      std::vector<std::vector<Item>> longer;
      for (const auto& choice : choices)
        for (const Item& item : items) {
          longer.push_back(choice);
          longer.back().push_back(item);
        }
      choices = longer;
    }
    for (const auto& choice : choices) {
      std::vector<Item> rest;
      for (const Item& item : left) {
        bool served = item.bank == broadcast.first && item.word == broadcast.second;
        for (const Item& chosen : choice)
          served = served || (chosen.lane == item.lane && chosen.bank == item.bank);
        if (!served) rest.push_back(item);
      }
      best = std::min(best, 1 + fewest_steps(rest));
    }
  }
  known[key] = best;
  return best;
}

inline Cost access_cost(const Arch& arch, const Request& request) {
  Cost cost;
  const bool matrix = request.op == Op::ldmatrix || request.op == Op::stmatrix;
  int width = matrix ? 16 : request.width;
  const auto groups = phases_of(arch, request, width);
  const int parts = arch.split_wide && !matrix && width > arch.bank_bytes ? width / arch.bank_bytes : 1;
  const int part_width = width / parts;
  const auto active = [&](int lane) {
    return (request.mask >> lane & 1) && lane < request.lanes && (!matrix || lane < 8 * request.matrices);
  };

  std::map<uint64_t, int> writers;
  for (int lane = 0; lane < request.lanes; ++lane)
    for (int byte = 0; byte < width && active(lane); ++byte) ++writers[request.address[lane] + byte];
  const bool writes = request.op == Op::store || is_copy(request.op) || request.op == Op::stmatrix;
  for (const auto& [byte, lanes] : writers) cost.write_race = cost.write_race || (writes && lanes > 1);

  for (int part = 0; part < parts; ++part)
    for (const auto& group : groups) {
      std::vector<Item> items;
      std::map<uint64_t, std::set<int>> readers;
      for (const int lane : group) {
        if (!active(lane)) continue;
        std::set<std::pair<int, uint64_t>> touched;  // bank, word
        for (int byte = 0; byte < part_width; ++byte) {
          const uint64_t address = request.address[lane] + static_cast<uint64_t>(part * part_width + byte);
          uint64_t word = address / arch.bank_bytes;
          const int bank = static_cast<int>(word % arch.banks);
          readers[arch.subword_conflict && part_width < arch.bank_bytes ? request.address[lane] : word]
              .insert(lane);
          if (arch.segment_words != 0) word = word / arch.segment_words * arch.segment_words + bank;
          if (arch.subword_conflict && part_width < arch.bank_bytes) word = request.address[lane];
          touched.emplace(bank, word);
        }
        for (const auto& [bank, word] : touched) items.push_back({lane, bank, word});
      }
      if (items.empty()) continue;
      ++cost.phases;
      const bool count_lanes =
          !matrix && (is_atomic(request.op) || is_copy(request.op) || arch.broadcast == Broadcast::none);
      int way = 0;
      for (int bank = 0; bank < arch.banks; ++bank) {
        int lanes = 0;
        std::set<uint64_t> words;
        for (const Item& item : items)
          if (item.bank == bank) {
            ++lanes;
            words.insert(item.word);
          }
        way = std::max(way, count_lanes ? lanes : static_cast<int>(words.size()));
      }
      if (!count_lanes && request.op == Op::load && arch.broadcast == Broadcast::one_word)
        way = fewest_steps(items);
      if (width == 16 && !matrix) way += arch.extra_wide_wavefronts;
      cost.wavefronts += way;
      cost.max_way = std::max(cost.max_way, way);
      if (request.op == Op::load && !count_lanes)
        for (const auto& [word, lanes] : readers) cost.broadcast_words += lanes.size() > 1;
    }
  cost.ideal = cost.phases;
  cost.conflicts = cost.wavefronts - cost.phases;
  if (request.op == Op::compare_and_swap) {
    cost.ideal *= 2;
    cost.wavefronts *= 2;
  }
  return cost;
}

/// Round by round: who gets through, and what the rounds cost.
inline Cost update_loop_cost(const Arch& arch, const Request& request) {
  const bool narrow = request.width == 2;
  Request now = request;
  if (narrow) now.width = 4;
  std::set<int> waiting;
  for (int lane = 0; lane < request.lanes; ++lane) {
    if (narrow) now.address[lane] = request.address[lane] / 4 * 4;
    if (request.mask >> lane & 1) waiting.insert(lane);
  }
  Cost cost;
  cost.requests = 0;
  while (!waiting.empty()) {
    now.mask = 0;
    for (const int lane : waiting) now.mask |= uint64_t{1} << lane;
    now.op = Op::load;
    const Cost load = access_cost(arch, now);
    now.op = Op::compare_and_swap;
    const Cost swap = access_cost(arch, now);
    if (cost.requests++ == 0) {
      cost.phases = swap.phases;
      cost.ideal = load.ideal + swap.ideal;
      cost.loads.ideal = load.ideal;
    }
    if (cost.requests == 1 || !narrow) {
      ++cost.loads.requests;
      cost.loads.wavefronts += load.wavefronts;
      cost.wavefronts += load.wavefronts;
      cost.loads.conflicts += load.conflicts;
      cost.conflicts += load.conflicts;
    }
    cost.wavefronts += narrow ? swap.wavefronts : 2 * swap.phases;
    cost.conflicts += narrow ? swap.conflicts : 0;

    std::set<uint64_t> changed;  // words
    for (const auto& group : phases_of(arch, now, now.width)) {
      std::set<uint64_t> busy, changes;  // banks; words
      for (const int lane : group) {
        if (!(now.mask >> lane & 1)) continue;
        bool is_busy = false;
        for (int byte = 0; byte < now.width; ++byte) {
          const uint64_t bank = (now.address[lane] + byte) / arch.bank_bytes % arch.banks;
          is_busy = is_busy || busy.contains(bank);
        }
        const uint64_t word = now.address[lane] / now.width;
        if (narrow) {
          if (!changed.insert(word).second) continue;
          waiting.erase(lane);
          continue;
        }
        if (is_busy) continue;
        for (int byte = 0; byte < now.width; ++byte)
          busy.insert((now.address[lane] + byte) / arch.bank_bytes % arch.banks);
        if (changed.contains(word)) continue;
        changes.insert(word);
        waiting.erase(lane);
      }
      changed.insert(changes.begin(), changes.end());
    }
  }
  cost.max_way = cost.requests;
  return cost;
}

inline Cost shared_cost(const Arch& arch, const Request& request) {
  return request.op == Op::update_loop ? update_loop_cost(arch, request) : access_cost(arch, request);
}

}  // namespace lanescope::model::naive
