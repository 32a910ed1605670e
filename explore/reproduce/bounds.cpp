#include "explore/reproduce/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace attnvp::reproduce {

namespace {

double bytes_per_cycle(const MachineConfig& m) { return m.dram.bytes_per_second / m.clock_hz; }

// Phases follow one another; within a phase the longest term counts.
Bound phases(const std::vector<Terms>& all) {
  Bound bound;
  for (const Terms& phase : all) {
    bound.cycles += phase.most();
    bound.text += fmt::format("{}{} {:.3f}", bound.text.empty() ? "" : " + ", phase.binding(), phase.most() / 1e6);
  }
  return bound;
}

}  // namespace

double Terms::most() const { return std::max({mac, vec, dram}); }

const char* Terms::binding() const {
  if (mac >= vec && mac >= dram) return "MAC";
  return vec >= dram ? "VEC" : "DRAM";
}

Terms terms(const job::Result& r, const MachineConfig& m) {
  const double cores = static_cast<double>(m.clusters) * m.cores;
  Terms t;
  t.mac = static_cast<double>(r.sum("mac", "macs")) / (cores * m.mac.rows * m.mac.columns);
  t.vec = static_cast<double>(r.sum("vec", "lane_ops")) / (cores * m.vec.lanes);
  t.dram =
      static_cast<double>(r.sum("dram", "read_words") + r.sum("dram", "write_words")) * kWordBytes / bytes_per_cycle(m);
  return t;
}

Bound bound(const job::Result& r, const MachineConfig& m) {
  const Terms t = terms(r, m);
  const config::Network& n = r.network;
  const std::string& dataflow = r.schedule.dataflow;
  // Q with K, or V with O, over DRAM; what is left of the traffic are the scores.
  const double pair = kWordBytes * n.batch * n.heads * (1.0 * n.seq_q + n.seq_kv) * n.emb / bytes_per_cycle(m);
  const double scores = std::max(0.0, t.dram - 2 * pair);
  if (dataflow == "layerwise") {
    const double one_way = scores / 4;  // C and P, out and in
    const Terms matmul{t.mac / 2, 0, pair + one_way};
    return phases({matmul, {0, t.vec, 2 * one_way}, matmul});
  }
  if (dataflow == "softpipe") {
    const double one_way = scores / 2;  // P
    return phases({{t.mac / 2, t.vec, pair + one_way}, {t.mac / 2, 0, pair + one_way}});
  }
  if (dataflow == "flat") {
    if (r.schedule.text.find("prefetch=off") != std::string::npos) {
      return phases({{t.mac, 0, 0}, {0, t.vec, 0}, {0, 0, t.dram}});
    }
    if (t.dram > t.mac + t.vec) return phases({{0, 0, t.dram}});
    return phases({{t.mac, 0, 0}, {0, t.vec, 0}});
  }
  if (dataflow == "tileflow") {
    // Three stages, filled and drained: two steps more than row blocks.
    const job::Tiling& tiling = r.schedule.tiling;
    const double blocks = std::ceil(1.0 * n.seq_q / tiling["nq"]) * tiling["hh"] * tiling["bb"];
    if (t.mac * (1 + 2 / blocks) < t.dram) return phases({{0, 0, t.dram}});
    Bound filled = phases({{t.mac, 0, 0}, {t.mac * 2 / blocks, 0, 0}});
    filled.text += fmt::format(" to fill and drain every {:.0f} row blocks", blocks);
    return filled;
  }
  return phases({t});
}

}  // namespace attnvp::reproduce
