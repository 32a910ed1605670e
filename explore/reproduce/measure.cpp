#include "explore/reproduce/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "firmware/dataflows/dataflows.h"

namespace attnvp::reproduce {

namespace {

constexpr std::uint32_t kFewKeys = 1024;           // of one-pass dataflows: four tiles
constexpr std::uint32_t kWholeHeads = 16384;       // tokens up to which heads are simulated whole
constexpr std::uint32_t kScoresOfRows = 1U << 29;  // in the smaller simulation of some query rows
constexpr std::uint32_t kScoresOfFewRows = 1U << 27;

std::uint32_t heads_of(std::uint32_t tokens) { return std::clamp(kWholeHeads / tokens, 1U, 16U); }

std::uint32_t rows_of(std::uint32_t tokens) {
  return (tokens <= 4 * kWholeHeads ? kScoresOfRows : kScoresOfFewRows) / tokens;
}

Measure run(job::Runner& runner, job::Schedule schedule, std::uint32_t heads, std::uint32_t queries, std::uint32_t keys,
            std::uint32_t emb, const hal::Tiling& tiling) {
  config::Network n;
  n.name = fmt::format("H={},NQ={},NKV={},E={}", heads, queries, keys, emb);
  n.heads = heads;
  n.seq_q = queries;
  n.seq_kv = keys;
  n.emb = emb;
  schedule.tiling = tiling;
  return measure(runner.run(n, schedule, nullptr, {}));
}

}  // namespace

Measure measure(const job::Result& r) {
  Measure m;
  const auto sum = [&r](const char* module, const char* counter) {
    return static_cast<double>(r.sum(module, counter));
  };
  m.value[kCycles] = static_cast<double>(r.cycles);
  m.value[kMacBusy] = sum("mac", "busy_cycles");
  m.value[kVecBusy] = sum("vec", "busy_cycles");
  m.value[kDramBytes] = 2 * (sum("dram", "read_words") + sum("dram", "write_words"));
  m.value[kDramPj] = r.energy_pj("dram");
  m.value[kL1Pj] = r.energy_pj("l1");
  m.value[kL0Pj] = r.energy_pj("l0");
  m.value[kMacPj] = r.energy_pj("mac");
  m.value[kVecPj] = r.energy_pj("vec");
  m.value[kL0Words] = sum("l0", "read_words") + sum("l0", "write_words");
  m.value[kMacs] = sum("mac", "macs");
  m.l1_peak_bytes = static_cast<double>(r.max("l1", "peak_bytes"));
  m.tiling = r.schedule.tiling;
  return m;
}

Measure extrapolated(const Measure& low, double x_low, const Measure& high, double x_high, double x) {
  Measure m = high;
  for (std::size_t i = 0; i < m.value.size(); ++i) {
    m.value[i] += (high.value[i] - low.value[i]) * ((x - x_high) / (x_high - x_low));
  }
  m.l1_peak_bytes = std::max(low.l1_peak_bytes, high.l1_peak_bytes);
  return m;
}

Sample sample_for(const job::Schedule& schedule, std::uint32_t tokens) {
  if (tokens <= kWholeHeads) return Sample::kHeads;
  return firmware::find_dataflow(schedule.dataflow.c_str())->one_pass ? Sample::kHeadsAndKeys : Sample::kQueries;
}

std::string sample_text(Sample sample, std::uint32_t tokens) {
  switch (sample) {
    case Sample::kHeads:
      return fmt::format("{} and {} whole heads", heads_of(tokens), 2 * heads_of(tokens));
    case Sample::kHeadsAndKeys:
      return fmt::format("1 and 2 heads, all queries, {} and {} keys", kFewKeys, 2 * kFewKeys);
    case Sample::kQueries:
      break;
  }
  return fmt::format("{} and {} queries of a head, all keys", rows_of(tokens), 2 * rows_of(tokens));
}

Measure sampled(job::Runner& runner, const job::Schedule& schedule, const Layer& l, Sample sample) {
  // The smaller simulation takes the tile sizes that firmware chooses for the larger one.
  switch (sample) {
    case Sample::kHeads: {
      const std::uint32_t h = heads_of(l.tokens);
      const Measure high = run(runner, schedule, 2 * h, l.tokens, l.tokens, l.emb, {});
      const Measure low = run(runner, schedule, h, l.tokens, l.tokens, l.emb, high.tiling);
      return extrapolated(low, h, high, 2 * h, l.heads);
    }
    case Sample::kHeadsAndKeys: {
      std::array<Measure, 2> of_heads;
      for (std::uint32_t h = 1; h <= 2; ++h) {
        const Measure high = run(runner, schedule, h, l.tokens, 2 * kFewKeys, l.emb, {});
        const Measure low = run(runner, schedule, h, l.tokens, kFewKeys, l.emb, high.tiling);
        of_heads.at(h - 1) = extrapolated(low, kFewKeys, high, 2 * kFewKeys, l.tokens);
      }
      return extrapolated(of_heads[0], 1, of_heads[1], 2, l.heads);
    }
    case Sample::kQueries:
      break;
  }
  const std::uint32_t rows = rows_of(l.tokens);
  const Measure high = run(runner, schedule, 1, 2 * rows, l.tokens, l.emb, {});
  const Measure low = run(runner, schedule, 1, rows, l.tokens, l.emb, high.tiling);
  return extrapolated(low, rows, high, 2 * rows, static_cast<double>(l.heads) * l.tokens);
}

}  // namespace attnvp::reproduce
