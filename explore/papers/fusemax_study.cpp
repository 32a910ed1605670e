#include "explore/papers/fusemax.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/programs.h"

namespace attnvp::papers {

namespace {

constexpr std::uint32_t kFewKeys = 1024;           // one-pass dataflows: whole tiles, at least four
constexpr std::uint32_t kWholeHeads = 16384;       // tokens up to which heads are simulated whole
constexpr std::uint32_t kWholeUnfused = 65536;     // the same if scores are in DRAM: commands are larger
constexpr std::uint32_t kWholeRows = 65536;        // tokens up to which the other dataflows keep rows of scores on chip
constexpr std::uint32_t kScoresOfRows = 1U << 29;  // scores in the smaller simulation of some query rows
constexpr std::uint32_t kRowsOfTiles = 8192;       // its query rows if scores are tiled: at least two row blocks

std::uint32_t heads_of(std::uint32_t tokens) { return std::clamp(kWholeHeads / tokens, 1U, 16U); }

bool unfused(const job::Schedule& schedule) { return schedule.declaration().scores != hal::kScoresOnChip; }

std::uint32_t rows_of(const job::Schedule& schedule, std::uint32_t tokens) {
  return unfused(schedule) || tokens > kWholeRows ? kRowsOfTiles : kScoresOfRows / tokens;
}

workload::Attention layer(std::uint32_t heads, std::uint32_t queries, std::uint32_t keys, std::uint32_t emb) {
  workload::Attention n;
  n.name = fmt::format("H={},NQ={},NKV={},E={}", heads, queries, keys, emb);
  n.heads = heads;
  n.seq_q = queries;
  n.seq_kv = keys;
  n.emb = emb;
  return n;
}

FusemaxMeasure run(explore::TunedRunner& runner, job::Schedule schedule, std::uint32_t heads, std::uint32_t queries,
                   std::uint32_t keys, std::uint32_t emb, const job::Tiling& tiling) {
  const workload::Attention n = layer(heads, queries, keys, emb);
  if (!tiling.empty()) schedule.tiling = tiling;
  return measure(runner.run(n, schedule, nullptr, {}), runner.machine());
}

enum StudyColumn : std::uint8_t { kName, kHeads, kEmb, kTokens, kFirstDataflow };
constexpr std::size_t kBehindDataflows = 2;  // columns after the dataflows
constexpr std::uint32_t kBatch = 64;

void read_paper(FusemaxStudy& s, std::uint32_t most_tokens) {
  const std::vector<config::CsvLine> lines = read_table("fusemax_cycles.csv");
  const Names& names = lines[0].cells;
  if (names.size() <= kFirstDataflow + kBehindDataflows) config::fail(lines[0].origin, "columns are missing");
  s.dataflows.assign(names.begin() + kFirstDataflow, names.end() - kBehindDataflows);
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const auto number = [&line = lines[row]](std::size_t column) { return config::positive_number(line, column); };
    FusemaxPoint p;
    p.network = lines[row].cells[kName];
    p.heads = kBatch * static_cast<std::uint32_t>(number(kHeads));
    p.emb = static_cast<std::uint32_t>(number(kEmb));
    p.tokens = static_cast<std::uint32_t>(number(kTokens));
    for (std::size_t i = 0; i < s.dataflows.size(); ++i) {
      const std::size_t column = kFirstDataflow + i;
      if (lines[row].cells[column] != "-") p.paper_cycles[s.dataflows[i]] = number(column);
    }
    p.paper_mac_utilization = number(names.size() - 2);
    p.paper_dram_bytes = number(names.size() - 1);
    if (p.tokens <= most_tokens) s.points.push_back(std::move(p));
  }
  s.claims = read_claims("fusemax_claims.csv");
}

}  // namespace

FusemaxMeasure measure(const job::RunResult& r, const MachineConfig& machine) {
  FusemaxMeasure m;
  const auto sum = [&r](const char* module, const char* counter) {
    return static_cast<double>(r.sum(module, counter));
  };
  m.value[kCycles] = static_cast<double>(r.cycles);
  m.value[kMacBusy] = sum("mac", "busy_cycles");
  m.value[kVecBusy] = sum("vec", "busy_cycles");
  m.value[kDramBytes] = 2 * (sum("dram", "read_words") + sum("dram", "write_words"));
  for (const std::string& part : r.energy_parts()) m.parts_pj.emplace_back(part, r.energy_pj(part));
  m.value[kL0Words] = sum("l0", "read_words") + sum("l0", "write_words");
  m.value[kMacs] = sum("mac", "macs");
  m.value[kPeCycles] = sum("mac", "macs") + sum("mac", "max_ops") * machine.mac.max_cycles +
                       sum("mac", "add_ops") * machine.mac.add_cycles + sum("mac", "exp_ops") * machine.mac.exp_cycles;
  m.pes = 1.0 * machine.mac.rows * machine.mac.columns;
  m.l1_peak_bytes = static_cast<double>(r.max("l1", "peak_bytes"));
  m.tiling = r.schedule.tiling;
  return m;
}

double FusemaxMeasure::energy_pj() const {
  double total = 0;
  for (const auto& [part, pj] : parts_pj) total += pj;
  return total;
}

double FusemaxMeasure::energy_pj(const std::string& part) const {
  for (const auto& [name, pj] : parts_pj) {
    if (name == part) return pj;
  }
  return 0;
}

FusemaxMeasure extrapolated(const FusemaxMeasure& low, double x_low, const FusemaxMeasure& high, double x_high,
                            double x) {
  FusemaxMeasure m = high;
  const double further = (x - x_high) / (x_high - x_low);
  for (std::size_t i = 0; i < m.value.size(); ++i) m.value[i] += (high.value[i] - low.value[i]) * further;
  for (auto& [part, pj] : m.parts_pj) pj += (high.energy_pj(part) - low.energy_pj(part)) * further;
  m.l1_peak_bytes = std::max(low.l1_peak_bytes, high.l1_peak_bytes);
  return m;
}

SampleDimension sample_for(const job::Schedule& schedule, std::uint32_t tokens) {
  if (tokens <= (unfused(schedule) ? kWholeUnfused : kWholeHeads)) return SampleDimension::kHeads;
  return job::has(schedule, firmware::kOnePass) ? SampleDimension::kHeadsAndKeys : SampleDimension::kQueries;
}

std::string sample_text(const job::Schedule& schedule, std::uint32_t tokens) {
  switch (sample_for(schedule, tokens)) {
    case SampleDimension::kHeads:
      return fmt::format("{} and {} whole heads", heads_of(tokens), 2 * heads_of(tokens));
    case SampleDimension::kHeadsAndKeys:
      return fmt::format(
          "1 and 2 heads, all queries, some {} and {} keys (four and eight tiles where those are larger)", kFewKeys,
          2 * kFewKeys);
    case SampleDimension::kQueries:
      break;
  }
  const std::uint32_t rows = rows_of(schedule, tokens);
  return fmt::format("some {} and {} queries of a head, all keys", rows, 2 * rows);
}

LinearFit sampled(explore::TunedRunner& runner, const job::Schedule& schedule, std::uint32_t tokens, std::uint32_t emb,
                  SampleDimension sample) {
  const auto off = [](const FusemaxMeasure& line, const FusemaxMeasure& third) {
    return line[kCycles] / third[kCycles] - 1;
  };
  // The smaller simulation uses the tile sizes chosen for the larger one.
  LinearFit line;
  if (sample == SampleDimension::kHeads) {
    const std::uint32_t heads = heads_of(tokens);
    line.x_low = heads;
    line.x_high = 2 * heads;
    line.high = run(runner, schedule, 2 * heads, tokens, tokens, emb, {});
    line.low = run(runner, schedule, heads, tokens, tokens, emb, line.high.tiling);
  } else if (sample == SampleDimension::kHeadsAndKeys) {
    const job::Schedule chosen = runner.complete(layer(1, tokens, tokens, emb), schedule);
    const std::uint32_t nkv = chosen.tiling["nkv"], last = tokens % nkv;  // keys of the last, partial tile
    const std::uint32_t few = std::max(kFewKeys / nkv, 4U) * nkv;
    const std::uint32_t some = few + last, more = 2 * few + last, most = 3 * few + last;
    for (std::uint32_t heads = 1; heads <= 2; ++heads) {
      const FusemaxMeasure high = run(runner, chosen, heads, tokens, more, emb, {});
      const FusemaxMeasure low = run(runner, chosen, heads, tokens, some, emb, {});
      (heads == 1 ? line.low : line.high) = extrapolated(low, some, high, more, tokens);
      if (heads == 2) continue;
      line.third = fmt::format("{} keys", most);
      line.residual = off(extrapolated(low, some, high, more, most), run(runner, chosen, heads, tokens, most, emb, {}));
    }
  } else {
    const std::uint32_t some = rows_of(schedule, tokens);
    const FusemaxMeasure first = run(runner, schedule, 1, some, tokens, emb, {});
    const job::Tiling& tiling = first.tiling;
    const std::uint32_t rows = std::max(some / tiling["nq"], 1U) * tiling["nq"];  // whole row blocks
    line.x_low = 1.0 * rows / tokens;
    line.x_high = 2.0 * rows / tokens;
    line.high = run(runner, schedule, 1, 2 * rows, tokens, emb, tiling);
    line.low = rows == some ? first : run(runner, schedule, 1, rows, tokens, emb, tiling);
    const std::uint32_t between = std::max(3 * rows / 2 / tiling["nq"], 1U) * tiling["nq"];  // whole row blocks
    line.third = fmt::format("{} queries", between);
    line.residual = off(line.at(1.0 * between / tokens), run(runner, schedule, 1, between, tokens, emb, tiling));
  }
  return line;
}

// The paper's FLAT overlaps softmax with the matmuls. Its one-pass dataflows use tiles of keys as wide as the array
// (section 5), although wider ones would save sums. Without +Binding they use one tile of scores at a time. Results of
// the arrays bypass the buffer, as in its artifact: tiles' sums go to the lanes' registers, unfused scores to DRAM.
job::Schedule in_their_sense(const std::string& dataflow, const MachineConfig& machine) {
  std::string text = dataflow == "flat" ? "flat:overlap=on" : dataflow;
  if (text == "layerwise") text += ":spills=fusemax";
  if (text == "cascade" || text.rfind("fusemax", 0) == 0)
    text += text.find(':') == std::string::npos ? ":sums=fusemax" : ",sums=fusemax";
  job::Schedule schedule = job::parse_dataflow(text);
  const bool one_pass = job::has(schedule, firmware::kOnePass);
  if (one_pass) schedule.tiling.set("nkv", machine.mac.columns);
  if (one_pass && !schedule.options.empty() && schedule.options[0] == 1) schedule.tiling.set("nq", machine.mac.rows);
  return schedule;
}

std::string tokens_text(std::uint32_t tokens) {
  return tokens >= 1U << 20 ? fmt::format("{}M", tokens >> 20) : fmt::format("{}K", tokens >> 10);
}

std::string FusemaxPoint::name() const { return network + " " + tokens_text(tokens); }

FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const StudyProgress& progress) {
  FusemaxStudy s;
  read_paper(s, most_tokens);
  s.machine = config::load_hardware("fusemax");
  s.baseline = config::load_hardware("fusemax-baseline");
  for (const bool baseline : {false, true}) {
    const MachineConfig& machine = baseline ? s.baseline : s.machine;
    explore::TunedRunner runner = timing_runner(machine);
    for (std::size_t i = baseline ? 2 : 0; i < (baseline ? s.dataflows.size() : 2); ++i) {
      const job::Schedule schedule = in_their_sense(s.dataflows[i], machine);
      std::map<std::pair<std::uint32_t, std::uint32_t>, LinearFit>
          lines;  // networks differ in heads, some only in heads
      for (FusemaxPoint& p : s.points) {
        LinearFit& line = lines[{p.tokens, p.emb}];
        if (line.high[kCycles] == 0) {
          progress(p.name() + " with " + s.dataflows[i]);
          line = sampled(runner, schedule, p.tokens, p.emb, sample_for(schedule, p.tokens));
        }
        p.ours[s.dataflows[i]] = line.at(p.heads);
        if (!line.third.empty()) p.residual[s.dataflows[i]] = {line.third, line.residual};
      }
    }
  }
  return s;
}

}  // namespace attnvp::papers
