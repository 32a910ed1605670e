#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/reproduce/fusemax_tables.h"
#include "explore/reproduce/reasons.h"
#include "platform/config/energy.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

const char* const kFusemax = "fusemax";

// What operations, DRAM and a buffer that only operands cross, once a tile of scores, add up to.
std::string why_energy(const FusemaxStudy& s, const FusemaxPoint& p, double paper_pj) {
  const Measure& m = p.ours.at(kFusemax);
  const double operations = m.energy_pj("mac") + m.energy_pj("vec");
  const double rows = s.machine.mac.rows, columns = s.machine.mac.columns;
  const double tiles = p.heads * std::ceil(p.tokens / rows) * std::ceil(p.tokens / columns);
  const double operands = tiles * (rows + 2 * columns) * p.emb *
                          config::load_energy(s.machine.energy).pj("attnvp.l1", "read", s.machine.l1.size_bytes);
  const double sum = operations + m.energy_pj("dram") + operands;
  return fmt::format(
      "operations take {:.2f} x 10^12 pJ, DRAM {:.3f}, Q, K and V from the buffer once a tile of {} x {} scores "
      "{:.3f}: "
      "together {:.2f}, the paper's {:.2f}. The buffer's other {:.2f} here are tiles' sums and running numerators in "
      "FP32, for which the paper's model has no cost",
      operations / 1e12, m.energy_pj("dram") / 1e12, rows, columns, operands / 1e12, sum / 1e12, paper_pj / 1e12,
      (m.energy_pj("l1") - operands) / 1e12);
}

// What a schedule's own cycles are made of.
std::string why_cycles(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& d) {
  const Measure& m = p.ours.at(d);
  const MachineConfig& machine = d.rfind(kFusemax, 0) == 0 ? s.machine : s.baseline;
  const double dram = m[kDramBytes] / machine.dram.bytes_per_second * machine.clock_hz;
  std::string text = fmt::format("unexplained: of ours, DRAM's peak needs {:.0f}%, MAC is busy {:.0f}%, VEC {:.0f}%",
                                 100 * dram / m[kCycles], 100 * m.mac_utilization(), 100 * m.vec_utilization());
  for (const auto& [key, value] : job::tiling_text(m.tiling)) {
    if (key == "nq" || key == "np" || key == "kv") text += fmt::format(", {}={}", key, value);
  }
  return text;
}

double claim(const FusemaxStudy& s, const char* what, const std::string& of) {
  const auto found = s.claims.find({what, of});
  return found == s.claims.end() ? 0 : found->second;
}

double mean_speedup(const FusemaxStudy& s) {
  double sum = 0;
  for (const FusemaxPoint& p : s.points) sum += p.cycles(kFlat) / p.cycles(kFusemax);
  return sum / static_cast<double>(s.points.size());
}

double mean_energy_ratio(const FusemaxStudy& s) {
  double sum = 0;
  for (const FusemaxPoint& p : s.points) sum += p.ours.at(kFusemax).energy_pj() / p.ours.at(kFlat).energy_pj();
  return sum / static_cast<double>(s.points.size());
}

}  // namespace

std::vector<Entry> fusemax_entries(const FusemaxStudy& s) {
  std::vector<Entry> all;
  const auto add = [&all](const char* quantity, const std::string& network, const std::string& dataflow, double paper,
                          double ours, const std::string& why) {
    Entry e{quantity, network, dataflow, paper, ours, {}, {}, {}};
    if (noteworthy(e.ratio())) e.why = why;
    all.push_back(std::move(e));
  };
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      const auto stated = p.paper_cycles.find(d);
      if (stated == p.paper_cycles.end()) continue;
      add("cycles", p.name(), d, stated->second, p.cycles(d), why_cycles(s, p, d));
    }
  }
  for (const std::string& d : s.dataflows) {
    if (d == kFusemax) continue;
    for (const FusemaxPoint& p : s.points) {
      const auto stated = p.paper_cycles.find(d);
      double paper = stated == p.paper_cycles.end() ? 0 : stated->second / p.paper_cycles.at(kFusemax);
      if (d == kFlat && claim(s, "speedup", p.name()) > 0) paper = claim(s, "speedup", p.name());
      if (paper == 0) continue;
      add("speedup", p.name(), d, paper, p.cycles(d) / p.cycles(kFusemax), why_cycles(s, p, d));
    }
  }
  add("speedup", "mean", kFlat, claim(s, "speedup", "mean"), mean_speedup(s),
      fmt::format("the mean of the {} rows above", s.points.size()));
  for (const FusemaxPoint& p : s.points) {
    add("mac_utilization", p.name(), kFusemax, p.paper_mac_utilization, p.ours.at(kFusemax).pe_utilization(),
        "unexplained");
  }
  for (const FusemaxPoint& p : s.points) {
    add("dram_bytes", p.name(), kFusemax, p.paper_dram_bytes, p.ours.at(kFusemax)[kDramBytes],
        fmt::format("{} slabs of {} queries at a time read K and V that often", p.ours.at(kFusemax).tiling["rb"],
                    p.ours.at(kFusemax).tiling["nq"]));
  }
  const double paper_fusemax = claim(s, "energy_pj", "BERT 1K fusemax"),
               paper_flat = claim(s, "energy_pj", "BERT 1K flat");
  if (const FusemaxPoint* p = s.find("BERT 1K")) {
    const std::string why = why_energy(s, *p, paper_fusemax);
    add("energy_pj", p->name(), kFusemax, paper_fusemax, p->ours.at(kFusemax).energy_pj(), why);
    add("energy_pj", p->name(), kFlat, paper_flat, p->ours.at(kFlat).energy_pj(), why);
    add("energy_over_flat", "mean", kFusemax, claim(s, "energy", "mean"), mean_energy_ratio(s), why);
  }
  return all;
}

}  // namespace attnvp::reproduce
