#include "explore/reproduce/fusemax_study.h"

#include <fmt/format.h>

#include "explore/reproduce/csv.h"
#include "explore/tuning/tuned_runner.h"
#include "platform/config/energy.h"
#include "platform/config/hardware.h"
#include "platform/schedule/programs.h"

namespace attnvp::reproduce {

namespace {

enum Column : std::uint8_t { kName, kHeads, kEmb, kTokens, kFirstDataflow };
constexpr std::size_t kBehindDataflows = 2;  // columns

void read_paper(FusemaxStudy& s, std::uint32_t most_tokens) {
  const std::vector<CsvLine> lines = read_csv("fusemax_cycles.csv");
  const std::vector<std::string>& names = lines[0].cells;
  if (names.size() <= kFirstDataflow + kBehindDataflows) config::fail(lines[0].origin, "columns are missing");
  s.dataflows.assign(names.begin() + kFirstDataflow, names.end() - kBehindDataflows);
  for (std::size_t row = 1; row < lines.size(); ++row) {
    const CsvLine& line = lines[row];
    FusemaxPoint p;
    p.network = line.cells[kName];
    p.heads = kFusemaxBatch * static_cast<std::uint32_t>(csv_number(line, kHeads));
    p.emb = static_cast<std::uint32_t>(csv_number(line, kEmb));
    p.tokens = static_cast<std::uint32_t>(csv_number(line, kTokens));
    for (std::size_t i = 0; i < s.dataflows.size(); ++i) {
      const std::size_t column = kFirstDataflow + i;
      if (line.cells[column] != "-") p.paper_cycles[s.dataflows[i]] = csv_number(line, column);
    }
    p.paper_mac_utilization = csv_number(line, names.size() - 2);
    p.paper_dram_bytes = csv_number(line, names.size() - 1);
    if (p.tokens <= most_tokens) s.points.push_back(std::move(p));
  }
  const std::vector<CsvLine> claims = read_csv("fusemax_claims.csv");
  if (claims[0].cells.size() != 3) config::fail(claims[0].origin, "claim, of and value are the columns allowed");
  for (std::size_t row = 1; row < claims.size(); ++row) {
    s.claims[{claims[row].cells[0], claims[row].cells[1]}] = csv_number(claims[row], 2);
  }
}

}  // namespace

// The paper's FLAT has softmax beside the matmuls; its one-pass dataflows take tiles of keys as wide as the array
// (section 5), where wider ones would spare its one-dimensional array some sums, and without +Binding one tile of
// scores at a time. Arrays' results pass the buffer by, as its artifact's mappings have it: tiles' sums into the lanes'
// registers, the unfused scores to DRAM.
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

const FusemaxPoint* FusemaxStudy::find(const std::string& name) const {
  for (const FusemaxPoint& p : points) {
    if (p.name() == name) return &p;
  }
  return nullptr;
}

FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const std::function<void(const std::string&)>& progress) {
  FusemaxStudy s;
  read_paper(s, most_tokens);
  s.machine = config::load_hardware("fusemax");
  s.baseline = config::load_hardware("fusemax-baseline");
  for (const bool baseline : {false, true}) {
    const MachineConfig& machine = baseline ? s.baseline : s.machine;
    explore::TunedRunner runner(machine, config::load_energy(machine.energy), false);
    for (std::size_t i = baseline ? 2 : 0; i < (baseline ? s.dataflows.size() : 2); ++i) {
      const job::Schedule schedule = in_their_sense(s.dataflows[i], machine);
      std::map<std::pair<std::uint32_t, std::uint32_t>, Line> lines;  // networks differ in heads, some only in them
      for (FusemaxPoint& p : s.points) {
        Line& line = lines[{p.tokens, p.emb}];
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

}  // namespace attnvp::reproduce
