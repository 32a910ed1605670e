#include "explore/papers/fusemax.h"
#include "platform/machine/hardware.h"
#include "platform/schedule/programs.h"
#include "platform/workload/workload.h"

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

// Columns: network, heads, emb, tokens; cycles of each dataflow; mac_utilization, dram_bytes.
constexpr std::size_t kFirstDataflow = 4, kBehindDataflows = 2;
constexpr std::size_t kOwnDataflows = 2;  // fusemax and its serial binding; the others run on the baseline
constexpr std::uint32_t kBatch = 64;

void read_paper(FusemaxStudy& s, std::uint32_t most_tokens) {
  const std::vector<config::CsvLine> lines = read_table("fusemax_cycles.csv");
  const Names& names = lines[0].cells;
  if (names.size() <= kFirstDataflow + kBehindDataflows) config::fail(lines[0].origin, "columns are missing");
  s.dataflows.assign(names.begin() + kFirstDataflow, names.end() - kBehindDataflows);
  s.stated = read_claims("fusemax_claims.csv");
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const auto number = [&line = lines[row]](std::size_t column) {
      return static_cast<std::uint32_t>(config::positive_number(line, column));
    };
    FusemaxPoint p{lines[row].cells[0], kBatch * number(1), number(3), number(2), {}, {}};
    if (p.tokens > most_tokens) continue;
    for (std::size_t i = kFirstDataflow; i < names.size(); ++i) {
      if (lines[row].cells[i] == "-") continue;
      const bool is_cycles = i < names.size() - kBehindDataflows;
      s.stated[is_cycles ? Case("cycles", p.name() + " " + names[i]) : Case(names[i], p.name())] =
          config::positive_number(lines[row], i);
    }
    s.points.push_back(std::move(p));
  }
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

SampleDimension sample_for(const job::Schedule& schedule, std::uint32_t tokens) {
  if (tokens <= (unfused(schedule) ? kWholeUnfused : kWholeHeads)) return SampleDimension::kHeads;
  return job::has(schedule, firmware::kOnePass) ? SampleDimension::kHeadsAndKeys : SampleDimension::kQueries;
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
  m.value[kPeCycles] = sum("mac", "macs") + sum("mac", "max_ops") * machine.mac.max_cycles +
                       sum("mac", "add_ops") * machine.mac.add_cycles + sum("mac", "exp_ops") * machine.mac.exp_cycles;
  m.pes = 1.0 * machine.mac.rows * machine.mac.columns;
  m.l1_peak_bytes = static_cast<double>(r.max("l1", "peak_bytes"));
  m.tiling = r.schedule.tiling;
  return m;
}

double FusemaxMeasure::energy_pj(const std::string& part) const {
  double sum = 0;
  for (const auto& [name, pj] : parts_pj) sum += part.empty() || name == part ? pj : 0;
  return sum;
}

FusemaxMeasure LinearFit::at(double x) const {
  FusemaxMeasure m = high;
  const double further = (x - x_high) / (x_high - x_low);
  for (std::size_t i = 0; i < m.value.size(); ++i) m.value[i] += (high.value[i] - low.value[i]) * further;
  for (auto& [part, pj] : m.parts_pj) pj += (high.energy_pj(part) - low.energy_pj(part)) * further;
  m.l1_peak_bytes = std::max(low.l1_peak_bytes, high.l1_peak_bytes);
  return m;
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
  const auto layer = [emb](std::uint32_t heads, std::uint32_t queries, std::uint32_t keys) {
    return workload::load(fmt::format("H={},NQ={},NKV={},E={}", heads, queries, keys, emb));
  };
  job::Schedule chosen = schedule;
  const auto run = [&](std::uint32_t heads, std::uint32_t queries, std::uint32_t keys) {
    return measure(runner.run(layer(heads, queries, keys), chosen), runner.machine());
  };
  // Further simulations use the tile sizes chosen for the first one.
  if (sample == SampleDimension::kHeads) {
    const std::uint32_t heads = heads_of(tokens);
    const FusemaxMeasure high = run(2 * heads, tokens, tokens);
    chosen.tiling = high.tiling;
    return {run(heads, tokens, tokens), high, 1.0 * heads, 2.0 * heads};
  }
  if (sample == SampleDimension::kHeadsAndKeys) {
    LinearFit line;
    chosen = runner.complete(layer(1, tokens, tokens), schedule);
    const std::uint32_t nkv = chosen.tiling["nkv"], last = tokens % nkv;  // keys of the last, partial tile
    const std::uint32_t few = std::max(kFewKeys / nkv, 4U) * nkv;
    const std::uint32_t some = few + last, more = 2 * few + last, most = 3 * few + last;
    for (std::uint32_t heads = 1; heads <= 2; ++heads) {
      const LinearFit by_keys{run(heads, tokens, some), run(heads, tokens, more), 1.0 * some, 1.0 * more};
      (heads == 1 ? line.low : line.high) = by_keys.at(tokens);
      if (heads == 2) continue;
      line.third = fmt::format("{} keys", most);
      line.residual = off(by_keys.at(most), run(heads, tokens, most));
    }
    return line;
  }
  const std::uint32_t some = rows_of(schedule, tokens);
  const FusemaxMeasure first = run(1, some, tokens);
  chosen.tiling = first.tiling;
  const std::uint32_t nq = chosen.tiling["nq"];
  const std::uint32_t rows = std::max(some / nq, 1U) * nq, between = std::max(3 * rows / 2 / nq, 1U) * nq;
  LinearFit line{rows == some ? first : run(1, rows, tokens), run(1, 2 * rows, tokens), 1.0 * rows / tokens,
                 2.0 * rows / tokens, fmt::format("{} queries", between)};
  line.residual = off(line.at(1.0 * between / tokens), run(1, between, tokens));
  return line;
}

FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const StudyProgress& progress) {
  FusemaxStudy s;
  read_paper(s, most_tokens);
  s.machine = config::load_hardware("fusemax");
  s.baseline = config::load_hardware("fusemax-baseline");
  explore::TunedRunner own = timing_runner(s.machine), baseline = timing_runner(s.baseline);
  for (std::size_t i = 0; i < s.dataflows.size(); ++i) {
    explore::TunedRunner& runner = i < kOwnDataflows ? own : baseline;
    const job::Schedule schedule = in_their_sense(s.dataflows[i], runner.machine());
    // By tokens and emb: some networks differ only in heads.
    std::map<std::pair<std::uint32_t, std::uint32_t>, LinearFit> lines;
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
  return s;
}

}  // namespace attnvp::papers
