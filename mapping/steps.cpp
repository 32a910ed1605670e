#include "mapping/steps.h"

#include <algorithm>

namespace attnvp::mapping {

namespace {
constexpr int kRounds = 8;     // over all parameters
constexpr double kNear = 1.2;  // so much slower by a first look may be faster by a closer one: 1.05 lost 4% on one job
// By a rough look: tried with other buffers, too. Of 1.03, 1.1 and all chosen by cases 0 to 499 of docs/auto.md.
constexpr double kNearInOthers = 1.1;
constexpr std::uint32_t kShape = 4;  // rows or keys of a tile so many times as many, or as few
}  // namespace

Steps::Steps(const Job& job, const firmware::Dataflow& dataflow, Judge& judge)
    : job_(job), dataflow_(dataflow), judge_(judge) {
  while (dataflow.parameters[count_] != nullptr) ++count_;
  given_.assign(job.block.parameter, job.block.parameter + count_);
  nq_ = index_of(dataflow, "nq");
  for (std::size_t i = 0; i < count_; ++i) {
    deep_ = deep_ || parameter(i).extent == firmware::Extent::kDepth;
  }
}

std::vector<std::uint32_t> Steps::values(std::size_t i, const Words& words) const {
  std::vector<std::uint32_t> all = candidates(parameter(i), job_, nq(words));
  if (!all.empty() && all.back() == hal::kWord) all.pop_back();
  return all;
}

bool Steps::shrink(Words& words, const Words& fixed) {
  while (!judge_.fits(words)) {
    Words next;
    for (std::size_t i = 0; i < count_; ++i) {
      if (fixed[i] != 0) continue;
      const std::vector<std::uint32_t> all = values(i, words);
      auto at = std::lower_bound(all.begin(), all.end(), words[i]);
      const bool refused =
          judge_.need(words).result.status == hal::Status::kBadTiling && judge_.need(words).result.detail[0] == i;
      for (auto v = all.begin(); refused && v != all.end(); ++v) {  // which values it takes, nobody says
        Words other = words;
        other[i] = *v;
        if (next.empty() ? Judge::nearer(judge_.need(other), judge_.need(words))
                         : Judge::nearer(judge_.need(other), judge_.need(next)))
          next = other;
      }
      if (refused || at == all.begin()) continue;
      Words smaller = words;
      smaller[i] = *--at;
      if (next.empty() ? Judge::nearer(judge_.need(smaller), judge_.need(words))
                       : Judge::nearer(judge_.need(smaller), judge_.need(next)))
        next = smaller;
    }
    if (next.empty()) return false;
    words = next;
  }
  return true;
}

Steps::Room Steps::room(std::size_t i, const Words& words) const {
  using firmware::Extent;
  const firmware::Parameter& p = parameter(i);
  if (!open(i) || words[i] == hal::kWord) return Room::kNone;
  if (p.extent == Extent::kCount) return p.grain != firmware::Grain::kOne || p.in_command ? Room::kL0 : Room::kNone;
  const bool l1 = p.extent == Extent::kQueries || p.extent == Extent::kKeys ||
                  p.extent == (deep_ ? Extent::kDepth : Extent::kBlocks);
  return l1 ? Room::kL1 : Room::kNone;
}

bool Steps::gives_way(std::size_t j, std::size_t i, const Words& words) const {
  return i != j && room(i, words) != Room::kNone && room(i, words) == room(j, words);
}

bool Steps::with_value(Words& words, std::size_t i, std::uint32_t value) {
  words[i] = value;
  Words fixed = fixed_words(words);
  fixed[i] = value;
  return shrink(words, fixed);
}

Words Steps::fixed_words(const Words& words) const {
  Words fixed = given_;
  for (std::size_t k = 0; k < count_; ++k) {
    if (words[k] == hal::kWord) fixed[k] = words[k];
  }
  return fixed;
}

void Steps::each_count(const Words& words, const Visit& visit) {
  std::vector<std::size_t> counts;
  for (std::size_t k = 0; k < count_; ++k) {
    const firmware::Parameter& p = parameter(k);
    const bool count = p.extent == firmware::Extent::kCount && p.grain == firmware::Grain::kOne && !p.in_command;
    if (open(k) && count) counts.push_back(k);
  }
  const std::function<void(std::size_t, Words, Words)> each = [&](std::size_t i, Words one, Words fixed) {
    if (i == counts.size()) {
      if (one != words && shrink(one, fixed)) visit(one);
      return;
    }
    for (const std::uint32_t value : parameter(counts[i]).tries) {
      if (value == 0) break;
      if (!worth_trying(parameter(counts[i]), value, job_)) continue;
      one[counts[i]] = fixed[counts[i]] = value;
      each(i + 1, one, fixed);
    }
  };
  each(0, words, fixed_words(words));
}

void Steps::each_split(const Words& words, const Visit& visit) {
  if (nq_ < 0) return;
  const auto i = static_cast<std::size_t>(nq_);
  for (const std::uint32_t rows : open_values(i, words)) {
    Words other = words, fixed = fixed_words(words);
    bool any = false;
    other[i] = fixed[i] = rows;
    for (std::size_t k = 0; k < count_; ++k) {
      if (!blocks_of_rows(k, words)) continue;
      const std::uint64_t blocks = std::uint64_t{words[i]} * words[k] / rows;
      other[k] = fixed[k] = nearest(k, other, static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, UINT32_MAX)));
      any = true;
    }
    if (any && other != words && shrink(other, fixed)) visit(other);
  }
}

void Steps::each_shape(const Words& words, const Visit& visit) {
  if (nq_ < 0) return;
  const auto i = static_cast<std::size_t>(nq_);
  const auto near = [](std::uint32_t value, std::uint32_t here) {
    return value >= here / kShape && value <= std::uint64_t{here} * kShape;
  };
  const auto each = [&](std::size_t k, std::uint32_t rows, std::uint32_t keys) {
    Words other = words, fixed = words;
    other[i] = fixed[i] = rows;
    other[k] = fixed[k] = keys;
    bool any = false;
    for (std::size_t j = 0; j < count_; ++j) {
      if (!blocks_of_rows(j, words)) continue;
      other[j] = values(j, other).back();
      fixed[j] = 0;
      any = true;
    }
    if (any && other != words && shrink(other, fixed)) visit(other);
  };
  for (std::size_t k = 0; k < count_; ++k) {
    if (parameter(k).extent != firmware::Extent::kKeys) continue;
    for (const std::uint32_t rows : open_values(i, words)) {
      if (!near(rows, words[i])) continue;
      for (const std::uint32_t keys : open_values(k, words)) {
        if (!near(keys, words[k])) continue;
        each(k, rows, keys);
      }
    }
  }
}

std::uint32_t Steps::nearest(std::size_t i, const Words& words, std::uint32_t value) const {
  const std::vector<std::uint32_t> all = values(i, words);
  const auto at = std::lower_bound(all.begin(), all.end(), value);
  return at == all.end() ? words[i] : *at;
}

bool Steps::blocks_of_rows(std::size_t j, const Words& words) const {
  const auto counted = [&](std::size_t k) { return open(k) && words[k] != hal::kWord; };
  return parameter(j).extent == firmware::Extent::kBlocks && counted(j) && nq_ >= 0 &&
         counted(static_cast<std::size_t>(nq_));
}

bool Steps::exchange(std::size_t i, std::size_t j, bool up, Words words, const Take& take) {
  Words other = words, fixed = fixed_words(words);
  other[i] = fixed[i] = nearest(i, words, up ? 2 * words[i] : words[i] / 2);
  other[j] = fixed[j] = nearest(j, other, up ? (words[j] + 1) / 2 : 2 * words[j]);
  if (other[i] == words[i] || other[j] == words[j]) return false;
  std::vector<std::size_t> buffers;
  std::size_t steps = count_;
  for (std::size_t k = 0; k < count_; ++k) {
    const firmware::Parameter& p = parameter(k);
    if (!open(k) || p.extent != firmware::Extent::kCount) continue;
    if (p.none != nullptr) buffers.push_back(k);
    if (p.none == nullptr && p.grain == firmware::Grain::kOne && !p.in_command) steps = k;
  }
  bool taken = false;
  bool near = false;  // what was tried last
  const auto try_it = [&](Words one, const Words& keep) {
    const bool fits = shrink(one, keep);
    taken = (fits && take(one)) || taken;
    near = !fits || !judge_.rough() ||
           judge_.merit(one, kNear * judge_.merit(words)) < kNearInOthers * judge_.merit(words);
  };
  if (steps == count_) try_it(other, fixed);
  for (std::size_t c = 0; steps < count_ && parameter(steps).tries[c] != 0; ++c) {
    other[steps] = fixed[steps] = parameter(steps).tries[c];
    try_it(other, fixed);
    if (!near) continue;
    for (const std::size_t k : buffers) {
      for (const std::uint32_t value : parameter(k).tries) {
        if (value == 0 || value == words[k] || !worth_trying(parameter(k), value, job_)) continue;
        Words one = other, keep = fixed;
        one[k] = keep[k] = value;
        try_it(one, keep);
      }
    }
  }
  return taken;
}

Start Steps::follow(Words words) {
  double here = judge_.merit(words);
  bool better = true;
  const auto take = [&](const Words& other) {
    const double there = judge_.merit(other, kNear * here);
    if (there >= here * kBetter) return false;
    here = there;
    words = other;
    return better = true;
  };
  const auto try_value = [&](std::size_t i, std::uint32_t value) {
    Words other = words;
    return with_value(other, i, value) && take(other);
  };
  // More of one extent for less of another: the next value, or one further off.
  const auto trade = [&](std::size_t i, std::size_t j, std::uint32_t least) {
    const std::vector<std::uint32_t> all = values(i, words);
    const auto next = std::lower_bound(all.begin(), all.end(), least);
    if (next == all.end()) return false;
    Words other = words, fixed = words;
    other[i] = fixed[i] = *next;
    fixed[j] = 0;
    return !judge_.fits(other) && shrink(other, fixed) && take(other);
  };
  // Twice the keys for half of the rows, or the other way round: a tile of another shape, as ragged as before.
  const auto shape = [&](std::size_t i, std::size_t j) {
    Words other = words;
    other[i] = nearest(i, words, 2 * words[i]);
    other[j] = nearest(j, words, words[j] / 2);
    return other[i] != words[i] && other[j] != words[j] && judge_.fits(other) && take(other);
  };
  // Of scores that go by way of DRAM the first commands say too little for it: tiles of 8 keys were the outcome.
  const auto side = [&](std::size_t i) {
    using firmware::Extent;
    const Extent e = parameter(i).extent;
    return dataflow_.scores == hal::kScoresOnChip && room(i, words) == Room::kL1 &&
           (e == Extent::kKeys || e == Extent::kQueries);
  };
  for (int round = 0; better && round < kRounds; ++round) {
    better = false;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!open(i) || words[i] == hal::kWord) continue;
      const std::vector<std::uint32_t> all = values(i, words);
      for (const int step : {1, -1}) {
        auto at = std::lower_bound(all.begin(), all.end(), words[i]) - all.begin() + step;
        while (at >= 0 && at < static_cast<std::ptrdiff_t>(all.size()) &&
               try_value(i, all[static_cast<std::size_t>(at)])) {
          at += step;
        }
      }
      // Further off, as ragged tiles make hills; and the whole of it.
      for (const bool up : {true, false}) {
        const auto far = [&] {
          return std::lower_bound(all.begin(), all.end(), up ? std::min(2 * words[i], all.back()) : words[i] / 2);
        };
        for (auto at = far(); at != all.end() && *at != words[i] && try_value(i, *at);) at = far();
      }
    }
    for (std::size_t i = 0; !better && i < count_; ++i) {
      for (std::size_t j = 0; j < count_; ++j) {
        while (gives_way(j, i, words) && (trade(i, j, words[i] + 1) || trade(i, j, 2 * words[i]))) {
        }
      }
    }
    for (std::size_t i = 0; !better && i < count_; ++i) {
      for (std::size_t j = 0; j < count_; ++j) {
        while (i != j && side(i) && side(j) && shape(i, j)) {
        }
      }
    }
    for (std::size_t j = 0; !better && j < count_; ++j) {
      if (!blocks_of_rows(j, words)) continue;
      for (const bool up : {true, false}) {
        while (exchange(static_cast<std::size_t>(nq_), j, up, words, take)) {
        }
      }
    }
  }
  judge_.keep(words);
  return {here, words};
}

Start Steps::with_more_keys(Start start) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (parameter(i).extent != firmware::Extent::kKeys) continue;
    while (open(i) && start.words[i] != hal::kWord) {
      Words other = start.words;
      const std::uint32_t twice = nearest(i, other, 2 * other[i]);
      if (twice == other[i] || !with_value(other, i, twice)) break;
      const double there = judge_.merit(other, start.merit);
      if (there >= start.merit * kBetter) break;
      start = {there, other};
    }
  }
  return start;
}

Words Steps::roomy(Words words) {
  for (std::size_t i = 0; i < count_; ++i) {
    if (parameter(i).extent != firmware::Extent::kBlocks || !open(i) || words[i] == hal::kWord) continue;
    const std::vector<std::uint32_t> all = values(i, words);
    for (auto value = all.rbegin(); value != all.rend() && *value > words[i]; ++value) {
      Words other = words;
      other[i] = *value;
      if (!judge_.fits(other)) continue;
      if (judge_.spares(other, words)) words = other;
      break;
    }
  }
  return words;
}

}  // namespace attnvp::mapping
