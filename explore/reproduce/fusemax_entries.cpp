#include <fmt/format.h>

#include <algorithm>

#include "explore/reproduce/fusemax_tables.h"
#include "explore/reproduce/reasons.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

const char* const kFusemax = "fusemax";

// Dataflows that hold whole rows of scores: how many of the array's rows they fill.
std::string why_rows(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& dataflow) {
  const Measure& m = p.ours.at(dataflow);
  const double passes = static_cast<double>(s.baseline.mac.rows) / m.tiling.nq;
  return fmt::format(
      "whole rows of {} scores: {} has room for {} query rows at a time where the array has {}, so that matmuls take "
      "{:.1f} times the passes and K and V come {:.0f} times; the paper's model counts full arrays",
      tokens_text(p.tokens), fmt::format("{} MiB", s.baseline.l1.size_bytes >> 20), m.tiling.nq, s.baseline.mac.rows,
      passes, std::ceil(1.0 * p.tokens / m.tiling.nq));
}

// Scores by way of DRAM in tiles: what comes more than once.
std::string why_tiles(const FusemaxPoint& p, const std::string& dataflow) {
  const hal::Tiling& t = p.ours.at(dataflow).tiling;
  return fmt::format(
      "K and V do not fit beside tiles of scores and come {} times, once for every {} query rows; the paper's model "
      "counts them once",
      (p.tokens + t.nq - 1) / t.nq, t.nq);
}

std::string why_cycles_of(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& dataflow) {
  const hal::Tiling& t = p.ours.at(dataflow).tiling;
  if (t.np > 0 && t.kv_buffers == hal::kKvStream) return why_tiles(p, dataflow);
  if (p.ours.at(dataflow).tiling.nq < s.baseline.mac.rows) return why_rows(s, p, dataflow);
  return "start and end of the layer, which closed forms leave out";
}

// What is left beside DRAM and operations, which are the same in the paper's model and here: registers and buffer.
double beside_operations(double total, const Measure& m) { return total - m[kMacPj] - m[kVecPj] - m[kDramPj]; }

std::string why_flat_energy(const FusemaxPoint& p, double paper_flat, double paper_fusemax) {
  const Measure &flat = p.ours.at(kFlat), &fusemax = p.ours.at(kFusemax);
  return fmt::format(
      "operations and DRAM take {:.2f} of flat's and {:.2f} of fusemax's 10^12 pJ, by their counts; that leaves the "
      "paper's flat {:.1f} pJ a multiply-accumulate for registers and buffer, its fusemax {:.1f}, ours {:.1f} and "
      "{:.1f}; what its flat spends that on, the published constants do not say",
      (flat[kMacPj] + flat[kVecPj] + flat[kDramPj]) / 1e12,
      (fusemax[kMacPj] + fusemax[kVecPj] + fusemax[kDramPj]) / 1e12, beside_operations(paper_flat, flat) / flat[kMacs],
      beside_operations(paper_fusemax, fusemax) / fusemax[kMacs],
      beside_operations(flat.energy_pj(), flat) / flat[kMacs],
      beside_operations(fusemax.energy_pj(), fusemax) / fusemax[kMacs]);
}

double claim(const FusemaxStudy& s, const char* what, const std::string& of) {
  const auto found = s.claims.find({what, of});
  return found == s.claims.end() ? 0 : found->second;
}

// Of the lengths whose FLAT cycles the paper's model states by a closed form.
double mean_speedup(const FusemaxStudy& s, bool paper) {
  double sum = 0, count = 0;
  for (const FusemaxPoint& p : s.points) {
    if (p.paper_cycles.count(kFlat) == 0) continue;
    sum += paper ? p.paper_cycles.at(kFlat) / p.paper_cycles.at(kFusemax) : p.cycles(kFlat) / p.cycles(kFusemax);
    ++count;
  }
  return sum / count;
}

double mean_energy_ratio(const FusemaxStudy& s) {
  double sum = 0, count = 0;
  for (const FusemaxPoint& p : s.points) {
    if (p.paper_cycles.count(kFlat) == 0) continue;
    sum += p.ours.at(kFusemax).energy_pj() / p.ours.at(kFlat).energy_pj();
    ++count;
  }
  return sum / count;
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
      add("cycles", p.name(), d, stated->second, p.cycles(d), why_cycles_of(s, p, d));
    }
  }
  for (const std::string& d : s.dataflows) {
    if (d == kFusemax) continue;
    for (const FusemaxPoint& p : s.points) {
      const auto stated = p.paper_cycles.find(d);
      double paper = stated == p.paper_cycles.end() ? 0 : stated->second / p.paper_cycles.at(kFusemax);
      if (d == kFlat && claim(s, "speedup", p.name()) > 0) paper = claim(s, "speedup", p.name());
      if (paper == 0) continue;
      add("speedup", p.name(), d, paper, p.cycles(d) / p.cycles(kFusemax), why_cycles_of(s, p, d));
    }
  }
  add("speedup", "mean", kFlat, claim(s, "speedup", "mean"), mean_speedup(s, false), "");
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
