#include "explore/tuning/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>

#include "platform/schedule/programs.h"

namespace attnvp::explore {

namespace {

using firmware::Extent;
using firmware::Grain;
using firmware::Parameter;
using ParameterValues = std::vector<std::uint32_t>;

std::uint32_t ceil_div(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

std::uint32_t grain_of(const Parameter& p, const schedule::Job& job) {
  const hal::MachineInfo& m = job.block.machine;
  return p.grain == Grain::kArrayRows ? m.mac_rows : p.grain == Grain::kArrayColumns ? m.mac_columns : 1;
}

std::uint32_t blocks_of_a_core(const schedule::Job& job, std::uint32_t rows) {
  return ceil_div(ceil_div(job.block.layer.seq_q, std::max(rows, 1U)), job.block.machine.cores);
}

// Buffers for the maximum number of K and V tiles keep whole heads resident, which is useful only for grouped queries.
bool is_worth_trying(const Parameter& p, std::uint32_t value, const schedule::Job& job) {
  return value != p.most || std::strcmp(p.name, "kv") != 0 || job.rules.group > 1;
}

// Multiples of the grain that grow by a third to a half, even shares of the extent, and fractions of one grain.
void add_rows(ParameterValues& values, std::uint32_t extent, std::uint32_t grain) {
  for (std::uint64_t n = 1; n * grain < extent; n += std::max<std::uint64_t>(n / 3, 1)) {
    values.push_back(static_cast<std::uint32_t>(n * grain));
  }
  for (std::uint32_t parts = 1; parts <= 32; parts += parts < 4 ? 1 : parts / 2) {
    values.push_back(ceil_div(ceil_div(extent, parts), grain) * grain);
  }
  for (std::uint32_t rows = 1; rows < grain; rows *= 2) values.push_back(rows);
  for (std::uint32_t part = 1; grain >= 64 && part < 16; ++part) values.push_back(grain / 16 * part);
  values.push_back(extent);
}

ParameterValues values_of(const Parameter& p, const schedule::Job& job, std::uint32_t rows) {
  constexpr std::uint32_t kFewBlocks = 8;  // all numbers up to it are candidates
  const std::uint32_t extent = schedule::largest(p, job), grain = grain_of(p, job);
  ParameterValues values;
  switch (p.extent) {
    case Extent::kBatch:
    case Extent::kHeads:
      values = {1, 2, job.block.machine.cores};
      break;
    case Extent::kQueries:
    case Extent::kKeys:
      add_rows(values, extent, grain);
      break;
    case Extent::kBlocks: {
      const std::uint32_t blocks = blocks_of_a_core(job, rows);
      for (std::uint32_t parts = 1; parts <= blocks; parts += parts < 8 ? 1 : parts / 2) {
        values.push_back(ceil_div(blocks, parts));
      }
      for (std::uint32_t few = 1; few <= kFewBlocks; ++few) values.push_back(few);
      for (const std::uint32_t n : p.tries) values.push_back(std::max(n, 1U));
      break;
    }
    case Extent::kDepth:
      for (std::uint32_t n = 8; n < extent; n *= 2) values.push_back(n);
      for (std::uint32_t parts = 1; parts <= 8; parts *= 2) values.push_back(ceil_div(extent, parts));
      break;
    case Extent::kCount:
      for (const std::uint32_t n : p.tries) {
        if (n == 0) break;
        if (n != hal::kWord && is_worth_trying(p, n, job)) values.push_back(n * grain);
      }
      if (p.named != nullptr) {
        for (std::uint32_t n = 1; n <= p.most; ++n) values.push_back(n);
      }
      break;
  }
  for (std::uint32_t& v : values) v = std::clamp(v, 1U, extent);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Evenly spread selection that includes the first and the last value.
ParameterValues thinned(const ParameterValues& all, std::size_t most) {
  if (all.size() <= most) return all;
  ParameterValues some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

std::size_t most_coarse(const Parameter& p) {
  if (p.named != nullptr) return p.most;
  if (p.extent == Extent::kQueries) return p.none != nullptr ? 4 : 9;
  return p.extent == Extent::kKeys ? 5 : 3;
}

// Of counts the most promising ones. Values below half a grain are used only if no other fits.
ParameterValues coarse_of(const Parameter& p, const schedule::Job& job) {
  ParameterValues all = values_of(p, job, job.block.machine.mac_rows);
  if (p.extent == Extent::kCount && p.named == nullptr) {
    all.clear();
    for (std::size_t i = 0; i < most_coarse(p) && p.tries[i] != 0; ++i) {
      if (p.tries[i] != hal::kWord) all.push_back(std::min(p.tries[i] * grain_of(p, job), p.most));
    }
    std::sort(all.begin(), all.end());
  } else {
    const auto whole = std::lower_bound(all.begin(), all.end(), grain_of(p, job) / 2);
    if (whole != all.end()) all.erase(all.begin(), whole);
  }
  all = thinned(all, most_coarse(p));
  if (p.none != nullptr) all.push_back(hal::kWord);
  return all;
}

// Memory in which a parameter's values occupy space.
enum class MemoryUse : std::uint8_t { kNone, kL0, kL1 };
MemoryUse memory_use_of(const Parameter& p) {
  if (p.extent == Extent::kCount && (p.grain != Grain::kOne || p.in_command)) return MemoryUse::kL0;
  if (p.extent == Extent::kBatch || p.extent == Extent::kHeads) return MemoryUse::kNone;
  return p.named != nullptr ? MemoryUse::kNone : MemoryUse::kL1;
}

}  // namespace

Space::Space(const Problem& problem, const workload::Gemm* smaller)
    : problem_(problem),
      dataflow_(problem.schedule.declaration()),
      job_(job::make_job(problem.machine, problem.network, problem.schedule)),
      extents_(job_),
      given_(job::words_of(problem.schedule.tiling, dataflow_)) {
  if (smaller != nullptr) {
    hal::Layer& layer = extents_.block.layer;
    layer.seq_q = std::min(layer.seq_q, smaller->rows);
    layer.seq_kv = std::min(layer.seq_kv, smaller->columns);
    layer.emb = std::min(layer.emb, smaller->depth);
  }
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (std::strcmp(parameter(i).name, "nq") == 0) rows_index_ = static_cast<int>(i);
    coarse_.push_back(is_open(i) ? coarse_of(parameter(i), extents_) : ParameterValues{given_[i]});
  }
}

std::uint64_t Space::coarse_points() const {
  std::uint64_t points = 1;
  for (const ParameterValues& v : coarse_) points *= v.size();
  return points;
}

std::uint32_t Space::rows_of(const ParameterVector& v) const {
  return rows_index_ < 0 ? 1 : v[static_cast<std::size_t>(rows_index_)];
}

ParameterValues Space::values(std::size_t i, const ParameterVector& at) const {
  if (!is_open(i)) return {given_[i]};
  return values_of(parameter(i), extents_, rows_of(at));
}

const schedule::Need& Space::need(const ParameterVector& vector) {
  const auto [found, fresh] = needs_.try_emplace(vector);
  if (!fresh) return found->second;
  schedule::Job job = job_;
  std::copy(vector.begin(), vector.end(), job.block.parameter);
  found->second = schedule::need_of(job);
  if (nearest_vector_.empty() || schedule::is_nearer(found->second, nearest_)) {
    nearest_ = found->second;
    nearest_vector_ = vector;
  }
  return found->second;
}

bool Space::fits(const ParameterVector& vector) { return need(vector).fits(job_); }

bool Space::runs(const ParameterVector& vector) {
  if (fits(vector)) return true;
  const auto [found, fresh] = runs_.try_emplace(vector);
  if (fresh) {
    schedule::Job job = job_;
    std::copy(vector.begin(), vector.end(), job.block.parameter);
    found->second = schedule::dry_answer_of(job).status == hal::Status::kDone;
  }
  return found->second;
}

bool Space::shrink(ParameterVector& vector, const std::vector<bool>& fixed) {
  while (allows_fewer_cores_ ? !runs(vector) : !fits(vector)) {
    ParameterVector next;
    const auto consider = [&](std::size_t i, std::uint32_t value) {
      ParameterVector other = vector;
      other[i] = value;
      if (schedule::is_nearer(need(other), need(next.empty() ? vector : next))) next = other;
    };
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (fixed[i] || !is_open(i) || vector[i] == hal::kWord) continue;
      const ParameterValues all = values(i, vector);
      const hal::JobResult& answer = need(vector).result;
      if (answer.status == hal::Status::kBadTiling && answer.detail[0] == i) {
        for (const std::uint32_t value : all) consider(i, value);  // the accepted values are not reported
        continue;
      }
      const auto at = std::lower_bound(all.begin(), all.end(), vector[i]);
      if (at != all.begin()) consider(i, *std::prev(at));
    }
    if (next.empty()) return false;
    vector = next;
  }
  return true;
}

std::uint32_t Space::first_guess(std::size_t i, std::uint32_t rows) const {
  const Parameter& p = parameter(i);
  const std::uint32_t extent = schedule::largest(p, extents_), grain = grain_of(p, extents_);
  switch (p.extent) {
    case Extent::kBatch:
    case Extent::kHeads:
      return 1;
    case Extent::kQueries:
      return std::min((p.guess > 0 ? p.guess : 2) * grain, extent);
    case Extent::kKeys:
      if (p.guess > 0) return std::min(p.guess * grain, extent);
      return std::min(extent, std::max(ceil_div(ceil_div(extent, 8), grain) * grain, grain));
    case Extent::kBlocks:
      return blocks_of_a_core(extents_, rows);
    case Extent::kDepth:
      return std::min(64U, extent);
    case Extent::kCount:
      break;
  }
  const auto* const number =
      std::find_if(std::begin(p.tries), std::end(p.tries), [](std::uint32_t n) { return n != hal::kWord; });
  return std::min(std::max(*number, 1U) * grain, extent);
}

// Replaces zeros in `words` by conservative values.
ParameterVector Space::guess(const ParameterVector& words) const {
  ParameterVector all = words;
  const auto fill = [&](std::size_t i) {
    if (all[i] == 0) all[i] = first_guess(i, rows_of(all));
  };
  if (rows_index_ >= 0) fill(static_cast<std::size_t>(rows_index_));
  for (std::size_t i = 0; i < all.size(); ++i) fill(i);
  return all;
}

// Enumerates all combinations of symbolic and named values.
void Space::each_word(std::size_t i, ParameterVector words, bool counts,
                      const std::function<void(const ParameterVector&)>& visit) const {
  if (i == words.size()) return visit(words);
  const Parameter& p = parameter(i);
  ParameterValues choices{words[i]};
  if (words[i] == 0 && p.named != nullptr) {
    choices.resize(p.most);
    std::iota(choices.begin(), choices.end(), 1U);
  } else if (words[i] == 0 && p.none != nullptr) {
    if (counts && p.extent == Extent::kCount) choices = values_of(p, extents_, 1);
    choices.push_back(hal::kWord);
  }
  for (const std::uint32_t choice : choices) {
    words[i] = choice;
    each_word(i + 1, words, counts, visit);
  }
}

// Gives every core a share of a product's columns or rows.
ParameterVector Space::shared_evenly(ParameterVector vector, const std::vector<bool>& keep) const {
  const hal::MachineInfo& m = job_.block.machine;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    const Parameter& p = parameter(i);
    if (keep[i]) continue;
    if (p.extent == Extent::kDepth) vector[i] = schedule::largest(p, extents_);
    if (p.extent != Extent::kKeys) continue;
    const std::uint32_t grain = grain_of(p, extents_), all = schedule::largest(p, extents_);
    vector[i] = std::min(ceil_div(ceil_div(all, m.clusters * m.cores), grain) * grain, all);
  }
  return vector;
}

std::vector<ParameterVector> Space::starts() {
  std::vector<ParameterVector> all = legal_starts();
  if (all.empty()) {
    allows_fewer_cores_ = true;
    all = legal_starts();
  }
  if (all.empty()) refuse();
  return all;
}

std::vector<ParameterVector> Space::legal_starts() {
  std::vector<ParameterVector> all;
  const auto add = [&](ParameterVector vector, const std::vector<bool>& keep) {
    const hal::JobResult& answer = need(vector).result;
    if (answer.status == hal::Status::kBadTiling && keep[answer.detail[0]]) return;
    if (shrink(vector, keep) && std::find(all.begin(), all.end(), vector) == all.end()) all.push_back(vector);
  };
  const auto begin = [&](const ParameterVector& words) {
    std::vector<bool> keep;
    for (const std::uint32_t w : words) keep.push_back(w != 0);
    const ParameterVector modest = guess(words);
    add(modest, keep);
    const auto with_largest = [&](std::initializer_list<Extent> extents) {
      ParameterVector vector = modest;
      for (std::size_t i = 0; i < vector.size(); ++i) {
        const bool one = std::find(extents.begin(), extents.end(), parameter(i).extent) != extents.end();
        if (one && !keep[i]) vector[i] = schedule::largest(parameter(i), extents_);
      }
      add(vector, keep);
    };
    with_largest({Extent::kDepth});
    with_largest({Extent::kKeys, Extent::kQueries, Extent::kDepth});
    if (dataflow_.is(firmware::kOneStep)) add(shared_evenly(modest, keep), keep);
  };
  each_word(0, given_, false, begin);
  if (all.empty()) each_word(0, given_, true, begin);
  return all;
}

std::vector<Space::SpaceNeighbour> Space::neighbours(const ParameterVector& vector) {
  std::vector<SpaceNeighbour> all, of_fewer_cores;
  std::uint32_t move = 0;
  const auto add = [&](const ParameterVector& other, const std::vector<bool>& keep) {
    if (!fits(other) && runs(other)) of_fewer_cores.push_back({move, other});
    ParameterVector smaller = other;
    if (!shrink(smaller, keep) || smaller == vector) return;
    const auto same = [&](const SpaceNeighbour& n) { return n.vector == smaller; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back({move, smaller});
  };
  const auto is_number = [&](std::size_t i) { return is_open(i) && vector[i] != hal::kWord; };
  // The next value, or the one nearest to twice or half of it.
  const auto stepped = [&](std::size_t i, const ParameterVector& at, bool up, bool far) {
    const ParameterValues list = values(i, at);
    auto here = std::lower_bound(list.begin(), list.end(), at[i]);
    if (far) {
      const std::uint64_t wanted = up ? 2 * std::uint64_t{at[i]} : at[i] / 2;
      const auto there = std::lower_bound(list.begin(), list.end(), wanted);
      return there == list.end() ? (up ? list.back() : at[i]) : *there;
    }
    if (up) return here == list.end() || std::next(here) == list.end() ? at[i] : *std::next(here);
    return here == list.begin() ? at[i] : *std::prev(here);
  };
  for (std::size_t i = 0; i < vector.size(); ++i) {
    ++move;
    if (is_open(i) && parameter(i).none != nullptr) {
      ParameterVector other = vector;
      other[i] = vector[i] == hal::kWord ? first_guess(i, rows_of(vector)) : hal::kWord;
      std::vector<bool> keep(vector.size());
      keep[i] = true;
      add(other, keep);
    }
    for (const bool far : {false, true}) {
      for (const bool up : {true, false}) {
        ++move;
        if (!is_number(i)) continue;
        ParameterVector other = vector;
        other[i] = stepped(i, vector, up, far);
        if (other[i] == vector[i]) continue;
        std::vector<bool> keep(vector.size());
        keep[i] = true;
        add(other, keep);
      }
    }
  }
  // A step up of one parameter and a step down of another that uses the same memory.
  for (std::size_t i = 0; i < vector.size(); ++i) {
    for (std::size_t k = 0; k < vector.size(); ++k) {
      ++move;
      const MemoryUse use = memory_use_of(parameter(i));
      if (i == k || !is_number(i) || !is_number(k) || use == MemoryUse::kNone || use != memory_use_of(parameter(k)))
        continue;
      ParameterVector other = vector;
      other[i] = stepped(i, vector, true, true);
      other[k] = stepped(k, other, false, true);
      if (other[i] == vector[i] || other[k] == vector[k]) continue;
      std::vector<bool> keep(vector.size());
      keep[i] = keep[k] = true;
      add(other, keep);
    }
  }
  all.insert(all.end(), of_fewer_cores.begin(), of_fewer_cores.end());
  return all;
}

job::Schedule Space::schedule(const ParameterVector& vector) const {
  job::Schedule schedule = problem_.schedule;
  schedule.tiling = job::tiling_of(vector, dataflow_, *schedule.firmware);
  return schedule;
}

void Space::refuse() const {
  schedule::Job job = job_;
  std::copy(nearest_vector_.begin(), nearest_vector_.end(), job.block.parameter);
  const std::string what =
      fmt::format("{} on {} with {}", problem_.network.name(), problem_.machine.name, problem_.schedule.text);
  hal::JobResult why = nearest_.fits(job_) ? schedule::answer_of(job) : nearest_.result;
  if (why.status == hal::Status::kDone && nearest_.fits(job_)) {
    throw job::RunError(fmt::format("{}: deadlock with every tiling", what));
  }
  if (why.status == hal::Status::kDone) {
    why.status = hal::Status::kL1TooSmall;
    why.detail[0] = nearest_.l1_bytes;
    why.detail[1] = job_.block.machine.l1_bytes;
  }
  const std::string sentence = fmt::format("{}: cluster 0's firmware: {}", what, job::refusal(why, dataflow_));
  if (why.status == hal::Status::kBadTiling) throw job::TilingError(sentence);
  throw job::RunError(sentence);
}

}  // namespace attnvp::explore
