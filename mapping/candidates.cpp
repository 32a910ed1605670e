#include "mapping/candidates.h"

#include <algorithm>
#include <cstring>

namespace attnvp::mapping {

namespace {

using firmware::Extent;
using firmware::Grain;
using firmware::Parameter;

constexpr std::uint32_t kFew = 8;  // row blocks that a small L1 has room for: each such number

std::uint32_t ceil_div(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>((a + b - 1) / b); }

std::uint32_t grain_of(const Parameter& p, const Job& job) {
  const hal::MachineInfo& m = job.block.machine;
  return p.grain == Grain::kArrayRows ? m.mac_rows : p.grain == Grain::kArrayColumns ? m.mac_columns : 1;
}

std::uint32_t extent_of(const Parameter& p, const Job& job) {
  const hal::Layer& l = job.block.layer;
  switch (p.extent) {
    case Extent::kBatch:
      return l.batch;
    case Extent::kHeads:
      return l.heads;
    case Extent::kQueries:
    case Extent::kBlocks:
      return l.seq_q;
    case Extent::kKeys:
      return l.seq_kv;
    case Extent::kDepth:
      return l.emb;
    case Extent::kCount:
      break;
  }
  return p.most;
}

std::uint32_t blocks_of_a_core(const Job& job, std::uint32_t nq) {
  return ceil_div(ceil_div(job.block.layer.seq_q, std::max(nq, 1U)), job.block.machine.cores);
}

// Multiples of the grain that grow by a third to a half; even shares of the extent; and, where even one grain may be
// too much, its parts.
void add_rows(std::vector<std::uint32_t>& values, std::uint32_t extent, std::uint32_t grain) {
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

}  // namespace

bool keeps_heads(const Parameter& p, std::uint32_t value) {
  return value == p.most && p.extent == Extent::kCount && std::strcmp(p.name, "kv") == 0;
}

bool worth_trying(const Parameter& p, std::uint32_t value, const Job& job) {
  return !keeps_heads(p, value) || job.rules.group > 1;
}

std::uint32_t largest(const Parameter& p, const Job& job) { return std::max(extent_of(p, job), 1U); }

std::vector<std::uint32_t> candidates(const Parameter& p, const Job& job, std::uint32_t nq) {
  const std::uint32_t extent = largest(p, job), grain = grain_of(p, job);
  std::vector<std::uint32_t> values;
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
      const std::uint32_t blocks = blocks_of_a_core(job, nq);
      for (std::uint32_t parts = 1; parts <= blocks; parts += parts < 8 ? 1 : parts / 2) {
        values.push_back(ceil_div(blocks, parts));
      }
      for (std::uint32_t few = 1; few <= kFew; ++few) values.push_back(few);
      for (const std::uint32_t n : p.tries) values.push_back(std::max(n, 1U));
      break;
    }
    case Extent::kDepth:
      for (std::uint32_t n = 8; n <= 256; n *= 2) values.push_back(n);
      for (std::uint32_t parts = 1; parts <= 8; parts *= 2) values.push_back(ceil_div(extent, parts));
      break;
    case Extent::kCount:
      for (const std::uint32_t n : p.tries) {
        if (n != 0 && n != hal::kWord && worth_trying(p, n, job)) values.push_back(n * grain);
      }
      break;
  }
  for (std::uint32_t& v : values) v = std::clamp(v, 1U, extent);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (p.none != nullptr) values.push_back(hal::kWord);
  return values;
}

std::uint32_t first_guess(const Parameter& p, const Job& job, std::uint32_t nq) {
  const std::uint32_t extent = largest(p, job), grain = grain_of(p, job);
  switch (p.extent) {
    case Extent::kBatch:
    case Extent::kHeads:
      return 1;
    case Extent::kQueries:
      return p.none != nullptr ? hal::kWord : std::min((p.guess > 0 ? p.guess : 2) * grain, extent);
    case Extent::kKeys:
      if (p.guess > 0) return std::min(p.guess * grain, extent);
      return std::min(extent, std::max(ceil_div(ceil_div(extent, 8), grain) * grain, grain));
    case Extent::kBlocks:
      return blocks_of_a_core(job, nq);
    case Extent::kDepth:
      return std::min(64U, extent);
    case Extent::kCount:
      break;
  }
  return p.tries[0] == hal::kWord ? hal::kWord : std::min(p.tries[0] * grain, extent);
}

int index_of(const firmware::Dataflow& dataflow, const char* name) {
  for (int i = 0; dataflow.parameters[i] != nullptr; ++i) {
    if (std::strcmp(dataflow.parameters[i]->name, name) == 0) return i;
  }
  return -1;
}

}  // namespace attnvp::mapping
