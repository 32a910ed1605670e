#include <fmt/format.h>

#include <algorithm>

#include "explore/reproduce/fusemax_tables.h"
#include "explore/reproduce/reasons.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

const char* const kFusemax = "fusemax";

// What is left beside DRAM and operations, which are the same in the paper's model and here: registers and buffer.
double beside_operations(double total, const Measure& m) {
  return total - m.energy_pj("mac") - m.energy_pj("vec") - m.energy_pj("dram");
}

std::string why_flat_energy(const FusemaxPoint& p, double paper_flat, double paper_fusemax) {
  const Measure &flat = p.ours.at(kFlat), &fusemax = p.ours.at(kFusemax);
  return fmt::format(
      "operations and DRAM take {:.2f} of flat's and {:.2f} of fusemax's 10^12 pJ, by their counts; that leaves the "
      "paper's flat {:.1f} pJ a multiply-accumulate for registers and buffer, its fusemax {:.1f}, ours {:.1f} and "
      "{:.1f}; what its flat spends that on, the published constants do not say",
      (flat.energy_pj("mac") + flat.energy_pj("vec") + flat.energy_pj("dram")) / 1e12,
      (fusemax.energy_pj("mac") + fusemax.energy_pj("vec") + fusemax.energy_pj("dram")) / 1e12,
      beside_operations(paper_flat, flat) / flat[kMacs], beside_operations(paper_fusemax, fusemax) / fusemax[kMacs],
      beside_operations(flat.energy_pj(), flat) / flat[kMacs],
      beside_operations(fusemax.energy_pj(), fusemax) / fusemax[kMacs]);
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
    Entry e{quantity, network, dataflow, paper, ours, {}};
    if (noteworthy(e.ratio())) e.why = why;
    all.push_back(std::move(e));
  };
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      const auto stated = p.paper_cycles.find(d);
      if (stated == p.paper_cycles.end()) continue;
      add("cycles", p.name(), d, stated->second, p.cycles(d), "");
    }
  }
  for (const std::string& d : s.dataflows) {
    if (d == kFusemax) continue;
    for (const FusemaxPoint& p : s.points) {
      const auto stated = p.paper_cycles.find(d);
      double paper = stated == p.paper_cycles.end() ? 0 : stated->second / p.paper_cycles.at(kFusemax);
      if (d == kFlat && claim(s, "speedup", p.name()) > 0) paper = claim(s, "speedup", p.name());
      if (paper == 0) continue;
      add("speedup", p.name(), d, paper, p.cycles(d) / p.cycles(kFusemax), "");
    }
  }
  add("speedup", "mean", kFlat, claim(s, "speedup", "mean"), mean_speedup(s), "");
  for (const FusemaxPoint& p : s.points) {
    add("mac_utilization", p.name(), kFusemax, p.paper_mac_utilization, p.ours.at(kFusemax).mac_utilization(), "");
  }
  for (const FusemaxPoint& p : s.points) {
    add("dram_bytes", p.name(), kFusemax, p.paper_dram_bytes, p.ours.at(kFusemax)[kDramBytes], "");
  }
  const double paper_fusemax = claim(s, "energy_pj", "BERT 1K fusemax"),
               paper_flat = claim(s, "energy_pj", "BERT 1K flat");
  if (const FusemaxPoint* p = s.find("BERT 1K")) {
    const std::string why = why_flat_energy(*p, paper_flat, paper_fusemax);
    add("energy_pj", p->name(), kFusemax, paper_fusemax, p->ours.at(kFusemax).energy_pj(), why);
    add("energy_pj", p->name(), kFlat, paper_flat, p->ours.at(kFlat).energy_pj(), why);
    add("energy_over_flat", "mean", kFusemax, claim(s, "energy", "mean"), mean_energy_ratio(s), "flat's: " + why);
  }
  return all;
}

}  // namespace attnvp::reproduce
