#include "explore/tuning/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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

// Candidate numbers for `rows` rows of a tile; ascending, without the symbolic value.
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
        // Buffers for the maximum of K and V tiles keep whole heads resident, which is useful only for grouped queries.
        const bool is_useful = n != p.most || std::strcmp(p.name, "kv") != 0 || job.rules.group > 1;
        if (n != hal::kWord && is_useful) values.push_back(n * grain);
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

std::size_t most_coarse(const Parameter& p) {
  if (p.named != nullptr) return p.most;
  if (p.extent == Extent::kQueries) return p.none != nullptr ? 4 : 9;
  return p.extent == Extent::kKeys ? 5 : 3;
}

// The most promising counts; for other parameters an evenly spread selection with the least and the largest value.
// Values below half a grain are used only if no other fits.
ParameterValues coarse_of(const Parameter& p, const schedule::Job& job) {
  ParameterValues all;
  if (p.extent == Extent::kCount && p.named == nullptr) {
    for (std::size_t i = 0; i < most_coarse(p) && p.tries[i] != 0; ++i) {
      if (p.tries[i] != hal::kWord) all.push_back(std::min(p.tries[i] * grain_of(p, job), p.most));
    }
    std::sort(all.begin(), all.end());
  } else {
    ParameterValues some = values_of(p, job, job.block.machine.mac_rows);
    const auto whole = std::lower_bound(some.begin(), some.end(), grain_of(p, job) / 2);
    if (whole != some.end()) some.erase(some.begin(), whole);
    const std::size_t most = std::min(most_coarse(p), some.size()), last = std::max<std::size_t>(most - 1, 1);
    for (std::size_t i = 0; i < most; ++i) all.push_back(some[i * (some.size() - 1) / last]);
  }
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

// The next value of an ascending list, or (far) the one nearest to twice or half of it; `value` at the list's end.
std::uint32_t stepped(const ParameterValues& list, std::uint32_t value, bool up, bool far) {
  if (far) {
    const auto there = std::lower_bound(list.begin(), list.end(), up ? 2 * std::uint64_t{value} : value / 2);
    if (there != list.end()) return *there;
    return up ? list.back() : value;
  }
  const auto here = std::lower_bound(list.begin(), list.end(), value);
  if (up) return here == list.end() || std::next(here) == list.end() ? value : *std::next(here);
  return here == list.begin() ? value : *std::prev(here);
}

std::vector<bool> differences(const ParameterVector& a, const ParameterVector& b) {
  std::vector<bool> differ;
  for (std::size_t i = 0; i < a.size(); ++i) differ.push_back(a[i] != b[i]);
  return differ;
}

}  // namespace

Space::Space(const Problem& problem, const workload::Gemm* smaller)
    : problem_(problem),
      dataflow_(problem.schedule.declaration()),
      job_(job::make_job(problem.machine, problem.network, problem.schedule)),
      extents_(job_),
      given_(job::words_of(problem.schedule.tiling, dataflow_)),
      rows_index_(given_.size()) {
  if (smaller != nullptr) {
    hal::Layer& layer = extents_.block.layer;
    layer.seq_q = std::min(layer.seq_q, smaller->rows);
    layer.seq_kv = std::min(layer.seq_kv, smaller->columns);
    layer.emb = std::min(layer.emb, smaller->depth);
  }
  for (std::size_t i = 0; i < given_.size(); ++i) {
    if (std::strcmp(parameter(i).name, "nq") == 0) rows_index_ = i;
    coarse_.push_back(is_open(i) ? coarse_of(parameter(i), extents_) : ParameterValues{given_[i]});
  }
}

std::uint64_t Space::coarse_points() const {
  std::uint64_t points = 1;
  for (const ParameterValues& v : coarse_) points *= v.size();
  return points;
}

std::uint32_t Space::rows_of(const ParameterVector& v) const { return rows_index_ < v.size() ? v[rows_index_] : 1; }

schedule::Job Space::job_of(const ParameterVector& vector) const {
  schedule::Job job = job_;
  std::copy(vector.begin(), vector.end(), job.block.parameter);
  return job;
}

const schedule::Need& Space::need(const ParameterVector& vector) {
  const auto [found, fresh] = needs_.try_emplace(vector);
  if (fresh) {
    found->second = schedule::need_of(job_of(vector));
    if (nearest_ == nullptr || schedule::is_nearer(found->second, nearest_->second)) nearest_ = &*found;
  }
  return found->second;
}

bool Space::runs(const ParameterVector& vector) {
  if (fits(vector)) return true;
  const auto [found, fresh] = runs_.try_emplace(vector);
  if (fresh) found->second = schedule::dry_answer_of(job_of(vector)).status == hal::Status::kDone;
  return found->second;
}

std::optional<ParameterVector> Space::shrunk(ParameterVector vector, const std::vector<bool>& fixed) {
  while (allows_fewer_cores_ ? !runs(vector) : !fits(vector)) {
    const hal::JobResult& answer = need(vector).result;
    ParameterVector nearest = vector;
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (fixed[i] || !is_open(i) || vector[i] == hal::kWord) continue;
      ParameterValues tried = values_of(parameter(i), extents_, rows_of(vector));
      // The firmware does not report which values of a refused parameter it accepts.
      const bool is_refused = answer.status == hal::Status::kBadTiling && answer.detail[0] == i;
      if (!is_refused) tried = {stepped(tried, vector[i], false, false)};
      for (const std::uint32_t value : tried) {
        ParameterVector other = vector;
        other[i] = value;
        if (schedule::is_nearer(need(other), need(nearest))) nearest = other;
      }
    }
    if (nearest == vector) return std::nullopt;
    vector = nearest;
  }
  return vector;
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
      return std::min((p.guess > 0 ? p.guess : ceil_div(ceil_div(extent, 8), grain)) * grain, extent);
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

std::vector<ParameterVector> Space::combinations(bool counts) const {
  std::vector<ParameterVector> all{given_};
  for (std::size_t i = 0; i < given_.size(); ++i) {
    const Parameter& p = parameter(i);
    if (!is_open(i) || (p.named == nullptr && p.none == nullptr)) continue;
    ParameterValues choices{0};
    if (p.named != nullptr) {
      choices.resize(p.most);
      std::iota(choices.begin(), choices.end(), 1U);
    } else {
      if (counts && p.extent == Extent::kCount) choices = values_of(p, extents_, 1);
      choices.push_back(hal::kWord);
    }
    std::vector<ParameterVector> longer;
    for (const ParameterVector& words : all) {
      for (const std::uint32_t choice : choices) {
        longer.push_back(words);
        longer.back()[i] = choice;
      }
    }
    all = longer;
  }
  return all;
}

// Values for the zeros in `words`: modest ones, the largest depth, and the largest of all extents; for a step of a
// layer also those that give every core a share of a product's columns or rows.
std::vector<ParameterVector> Space::guesses(const ParameterVector& words) const {
  ParameterVector modest = words;
  const auto fill = [&](std::size_t i) {
    if (modest[i] == 0) modest[i] = first_guess(i, rows_of(modest));
  };
  if (rows_index_ < words.size()) fill(rows_index_);
  for (std::size_t i = 0; i < words.size(); ++i) fill(i);
  ParameterVector deep = modest, large = modest, shared = modest;
  const hal::MachineInfo& m = job_.block.machine;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != 0) continue;
    const Parameter& p = parameter(i);
    const std::uint32_t most = schedule::largest(p, extents_), grain = grain_of(p, extents_);
    if (p.extent == Extent::kDepth) deep[i] = large[i] = shared[i] = most;
    if (p.extent == Extent::kQueries || p.extent == Extent::kKeys) large[i] = most;
    if (p.extent == Extent::kKeys) {
      shared[i] = std::min(ceil_div(ceil_div(most, m.clusters * m.cores), grain) * grain, most);
    }
  }
  std::vector<ParameterVector> all{modest, deep, large};
  if (dataflow_.is(firmware::kOneStep)) all.push_back(shared);
  return all;
}

std::vector<ParameterVector> Space::legal_starts(bool counts) {
  std::vector<ParameterVector> all;
  for (const ParameterVector& words : combinations(counts)) {
    const std::vector<bool> fixed = differences(words, ParameterVector(words.size()));
    for (const ParameterVector& vector : guesses(words)) {
      const hal::JobResult& answer = need(vector).result;
      if (answer.status == hal::Status::kBadTiling && fixed[answer.detail[0]]) continue;
      const std::optional<ParameterVector> legal = shrunk(vector, fixed);
      if (legal && std::find(all.begin(), all.end(), *legal) == all.end()) all.push_back(*legal);
    }
  }
  return all;
}

std::vector<ParameterVector> Space::starts() {
  for (const bool fewer_cores : {false, true}) {
    allows_fewer_cores_ = fewer_cores;
    for (const bool counts : {false, true}) {
      std::vector<ParameterVector> all = legal_starts(counts);
      if (!all.empty()) return all;
    }
  }
  refuse();
}

std::vector<Space::SpaceNeighbour> Space::neighbours(const ParameterVector& vector) {
  std::vector<SpaceNeighbour> all, of_fewer_cores;
  std::uint32_t move = 0;
  const auto add = [&](const ParameterVector& other) {
    if (!fits(other) && runs(other)) of_fewer_cores.push_back({move, other});
    const std::optional<ParameterVector> legal = shrunk(other, differences(other, vector));
    if (!legal || *legal == vector) return;
    const auto same = [&](const SpaceNeighbour& n) { return n.vector == *legal; };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back({move, *legal});
  };
  const auto step = [&](ParameterVector at, std::size_t i, bool up, bool far) {
    if (!is_open(i) || at[i] == hal::kWord) return at;
    at[i] = stepped(values_of(parameter(i), extents_, rows_of(at)), at[i], up, far);
    return at;
  };
  for (std::size_t i = 0; i < vector.size(); ++i) {
    ++move;
    if (is_open(i) && parameter(i).none != nullptr) {
      ParameterVector other = vector;
      other[i] = vector[i] == hal::kWord ? first_guess(i, rows_of(vector)) : hal::kWord;
      add(other);
    }
    for (const bool far : {false, true}) {
      for (const bool up : {true, false}) {
        ++move;
        const ParameterVector other = step(vector, i, up, far);
        if (other != vector) add(other);
      }
    }
  }
  // A step up of one parameter and a step down of another that uses the same memory.
  for (std::size_t i = 0; i < vector.size(); ++i) {
    for (std::size_t k = 0; k < vector.size(); ++k) {
      ++move;
      const MemoryUse use = memory_use_of(parameter(i));
      if (i == k || use == MemoryUse::kNone || use != memory_use_of(parameter(k))) continue;
      const ParameterVector other = step(step(vector, i, true, true), k, false, true);
      if (other[i] != vector[i] && other[k] != vector[k]) add(other);
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

void Space::check_given() {
  if (!runs(given_)) refuse();
}

void Space::refuse() const {
  const auto& [vector, nearest] = *nearest_;
  const std::string what =
      fmt::format("{} on {} with {}", problem_.network.name(), problem_.machine.name, problem_.schedule.text);
  hal::JobResult why = nearest.result;
  if (nearest.fits(job_)) {
    why = schedule::answer_of(job_of(vector));
    if (why.status == hal::Status::kDone) throw job::RunError(fmt::format("{}: deadlock with every tiling", what));
  } else if (why.status == hal::Status::kDone) {
    why.status = hal::Status::kL1TooSmall;
    why.detail[0] = nearest.l1_bytes;
    why.detail[1] = job_.block.machine.l1_bytes;
  }
  const std::string sentence = fmt::format("{}: cluster 0's firmware: {}", what, job::refusal(why, dataflow_));
  if (why.status == hal::Status::kBadTiling) throw job::TilingError(sentence);
  throw job::RunError(sentence);
}

}  // namespace attnvp::explore
