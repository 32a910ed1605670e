#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/reproduce/fusemax_tables.h"
#include "explore/reproduce/reasons.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

const char* const kFusemax = "fusemax";

std::string why_energy(const Measure& m) {
  return fmt::format("unexplained: operations take {:.2f} x 10^12 pJ, DRAM {:.3f}, the buffer {:.2f}",
                     (m.energy_pj("mac") + m.energy_pj("vec")) / 1e12, m.energy_pj("dram") / 1e12,
                     m.energy_pj("l1") / 1e12);
}

// What a schedule's own cycles are made of.
std::string why_cycles(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& d) {
  const Measure& m = p.ours.at(d);
  const MachineConfig& machine = d.rfind(kFusemax, 0) == 0 ? s.machine : s.baseline;
  const double dram = m[kDramBytes] / machine.dram.bytes_per_second * machine.clock_hz;
  std::string text = fmt::format("unexplained: of ours, DRAM's peak needs {:.0f}%, MAC is busy {:.0f}%, VEC {:.0f}%",
                                 100 * dram / m[kCycles], 100 * m.mac_utilization(), 100 * m.vec_utilization());
  for (const auto& [key, value] : job::tiling_in_short(m.tiling)) {
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
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      const double paper = claim(s, "energy_pj", p.name() + " " + d);
      if (paper > 0) add("energy_pj", p.name(), d, paper, p.ours.at(d).energy_pj(), why_energy(p.ours.at(d)));
    }
  }
  add("energy_over_flat", "mean", kFusemax, claim(s, "energy", "mean"), mean_energy_ratio(s),
      fmt::format("the mean of {} networks and lengths", s.points.size()));
  return all;
}

}  // namespace attnvp::reproduce
