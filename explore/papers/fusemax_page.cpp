#include <cmath>
#include <tuple>

#include "explore/papers/fusemax.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

const std::string kFusemax = "fusemax", kLayerwise = "layerwise";
using ValueRange = std::pair<double, double>;

void include(ValueRange& range, double x) { range = {std::min(range.first, x), std::max(range.second, x)}; }
std::string three(double x) { return fmt::format("{:.3f}", x); }
std::string bytes(double b) { return report::with_prefix(b, "B"); }
std::string mark(const Cell& c) { return noteworthy(c.ratio()) ? "*" : " "; }

double scores_of(const FusemaxPoint& p) { return 1.0 * p.heads * p.tokens * p.tokens; }
double dram_cycles(const FusemaxMeasure& m, const MachineConfig& machine) {
  return m[kDramBytes] / machine.dram.bytes_per_second * machine.clock_hz;
}

// One network per embedding: the others differ only in the number of heads.
std::vector<const FusemaxPoint*> different_heads(const FusemaxStudy& s) {
  std::vector<const FusemaxPoint*> points;
  for (const FusemaxPoint& p : s.points) {
    const bool known = std::any_of(points.begin(), points.end(),
                                   [&p](const FusemaxPoint* x) { return x->emb == p.emb && x->tokens == p.tokens; });
    if (!known) points.push_back(&p);
  }
  return points;
}
constexpr char kSameHeads[] = " Networks left out have heads of the same size, more or fewer of them.";

const std::map<std::string, std::string> kTitles = {{"fusemax", "fusemax (+Binding)"},
                                                    {"fusemax:binding=serial", "binding=serial (+Architecture)"},
                                                    {"cascade", "cascade (+Cascade)"},
                                                    {"flat", "flat"},
                                                    {"layerwise", "layerwise (unfused)"}};

std::string why_energy(const FusemaxMeasure& m) {
  return fmt::format("unexplained: operations take {:.2f} x 10^12 pJ, DRAM {:.3f}, the buffer {:.2f}",
                     (m.energy_pj("mac") + m.energy_pj("vec")) / 1e12, m.energy_pj("dram") / 1e12,
                     m.energy_pj("l1") / 1e12);
}

// Composition of a schedule's cycles.
std::string why_cycles(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& d) {
  const FusemaxMeasure& m = p.ours.at(d);
  const double dram = dram_cycles(m, d.rfind(kFusemax, 0) == 0 ? s.machine : s.baseline);
  std::string text = fmt::format("unexplained: of ours, DRAM's peak needs {:.0f}%, MAC is busy {:.0f}%, VEC {:.0f}%",
                                 100 * dram / m[kCycles], 100 * m.mac_utilization(), 100 * m.vec_utilization());
  for (const auto& [key, value] : job::tiling_in_short(m.tiling)) {
    if (key == "nq" || key == "np" || key == "kv") text += fmt::format(", {}={}", key, value);
  }
  return text;
}

template <class Value>
double mean(const FusemaxStudy& s, const Value& value) {
  double sum = 0;
  for (const FusemaxPoint& p : s.points) sum += value(p);
  return sum / static_cast<double>(s.points.size());
}

// Networks and lengths down, dataflows across; only our value if the paper states none.
Section grid(const FusemaxStudy& s, const std::vector<Cell>& all, const std::string& quantity, const Names& dataflows,
             const std::function<std::string(const Cell&)>& cell) {
  Names networks;
  for (const FusemaxPoint& p : s.points) networks.push_back(p.name());
  Section t = pivot(all, quantity, networks, dataflows, cell);
  for (std::size_t i = 1; i < t.columns.size(); ++i) t.columns[i] = kTitles.at(t.columns[i]);
  return t;
}

Section cycles_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  Section t = grid(s, all, "cycles", s.dataflows, [](const Cell& c) {
    if (c.paper == 0) return fmt::format("{:.5g}", c.ours / 1e6);
    return fmt::format("{:.5g}  {:.5g}  {:.3f}{}", c.paper / 1e6, c.ours / 1e6, c.ratio(), mark(c));
  });
  t.title = "Cycles, in millions";
  t.lead =
      "Each cell: the paper's, ours, ours / paper (* where they differ by over 10%); ours alone where the paper's "
      "closed form ends.";
  return t;
}

Section speedup_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  Section t = grid(s, all, "speedup", {s.dataflows.begin() + 1, s.dataflows.end()}, [](const Cell& c) {
    if (c.paper == 0) return times(c.ours);
    return fmt::format("{:.2f}x  {:.2f}x  {:.2f}{}", c.paper, c.ours, c.ratio(), mark(c));
  });
  t.title = "Speed-up of fusemax";
  t.lead =
      "Each cell: the paper's, ours, ours / paper. From right to left the paper's steps: unfused, FLAT, the one-pass "
      "cascade on the same machine, an array whose PEs take part in softmax, and both arrays busy at once.";
  return t;
}

Section arrays_section(const FusemaxStudy& s) {
  Section t{
      "Utilisation and DRAM traffic of fusemax",
      "Two utilisations of the two-dimensional array (MAC): PE-weighted, the share of all PEs' cycles that have an "
      "operation in them, which is the paper's; and busy share, that of cycles in which the array is at work, with "
      "however few of its PEs. Of the one-dimensional array (VEC), the busy share; the paper's is always busy. Then "
      "bytes over DRAM.",
      {"network", "2D, PE-weighted, paper", "ours", "difference", "2D busy", "1D busy", "flat: 2D, PE-weighted",
       "flat: 2D busy", "flat: 1D busy", "DRAM, paper", "DRAM, ours", "ratio", "flat", "layerwise"}};
  for (const FusemaxPoint& p : s.points) {
    const FusemaxMeasure &m = p.ours.at(kFusemax), &flat = p.ours.at(kFlat);
    t.rows.push_back({p.name(), three(p.paper_mac_utilization), three(m.pe_utilization()),
                      fmt::format("{:+.4f}", m.pe_utilization() - p.paper_mac_utilization), three(m.mac_utilization()),
                      three(m.vec_utilization()), three(flat.pe_utilization()), three(flat.mac_utilization()),
                      three(flat.vec_utilization()), bytes(p.paper_dram_bytes), bytes(m[kDramBytes]),
                      three(m[kDramBytes] / p.paper_dram_bytes), bytes(flat[kDramBytes]),
                      bytes(p.ours.at(kLayerwise)[kDramBytes])});
  }
  return t;
}

Section energy_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  Section t{
      "Energy, in 10^12 pJ",
      "Ours, by part, beside the artifact's totals of the shortest sequence. Here as in its mappings, arrays' results "
      "pass the buffer by: tiles' sums go from the two-dimensional array into the lanes' registers (sums=fusemax), the "
      "unfused scores to DRAM (spills=fusemax); by default they cross the buffer (sums=l1, spills=l1)." +
          std::string(kSameHeads),
      {"network", "dataflow"}};
  for (const auto& [part, pj] : s.points.front().ours.at(kFlat).parts_pj) t.columns.push_back(report::upper(part));
  for (const char* title : {"total", "of flat's", "paper", "ours / paper"}) t.columns.emplace_back(title);
  t.left = 2;
  const std::map<Case, Cell> cells = cells_of(all, "energy_pj");
  for (const FusemaxPoint* p : different_heads(s)) {
    for (const std::string& d : s.dataflows) {
      const auto c = cells.find({p->name(), d});
      if (d != kFusemax && d != kFlat && d != kLayerwise && c == cells.end()) continue;
      const FusemaxMeasure& m = p->ours.at(d);
      Names row{p->name(), d};
      for (const auto& [part, pj] : m.parts_pj) row.push_back(fmt::format("{:.4g}", pj / 1e12));
      row.push_back(fmt::format("{:.4g}", m.energy_pj() / 1e12));
      row.push_back(fmt::format("{:.2f}", m.energy_pj() / p->ours.at(kFlat).energy_pj()));
      row.push_back(c == cells.end() ? "" : fmt::format("{:.4g}", c->second.paper / 1e12));
      row.push_back(c == cells.end() ? "" : fmt::format("{:.2f}{}", c->second.ratio(), mark(c->second)));
      t.rows.push_back(std::move(row));
    }
  }
  return t;
}

Section memory_section(const FusemaxStudy& s) {
  Section t{
      "On-chip need",
      "Most bytes of L1 in use at once, and query rows: of a slab times slabs in L1 together, or of a row block. One "
      "pass needs the same for any number of keys (with more room it takes more queries at a time, so that K and V "
      "come less often); three passes hold whole rows of scores, fewer as they get longer, until only softmax does: "
      "where rows (those of the matmuls / those of softmax) are two numbers, scores go in tiles by way of DRAM." +
          std::string(kSameHeads),
      {"network", "fusemax", "rows x slabs", "cascade", "rows x slabs", "flat", "rows", "layerwise", "rows"}};
  for (const FusemaxPoint* p : different_heads(s)) {
    Names& row = t.rows.emplace_back(1, p->name());
    for (const std::string& d : {kFusemax, std::string("cascade"), kFlat, kLayerwise}) {
      const job::Tiling& tiles = p->ours.at(d).tiling;
      row.push_back(bytes(p->ours.at(d).l1_peak_bytes));
      row.push_back(d != kFlat && d != kLayerwise ? fmt::format("{} x {}", tiles["nq"], tiles["rb"])
                    : tiles.used("np") > 0        ? fmt::format("{} / {}", tiles["nq"], tiles["np"])
                                                  : std::to_string(tiles["nq"]));
    }
  }
  return t;
}

// One row for all figures with the same reason.
Section reasons_section(const std::vector<Cell>& all) {
  Section t{"Why figures differ by over 10%"};
  t.columns = {"what", "dataflow", "ours / paper", "why"};
  t.left = 2;
  t.text_last = true;
  struct PageGroup {
    Names what;
    std::string dataflow, why;
    ValueRange ratio;
  };
  std::vector<PageGroup> groups;
  for (const Cell& c : all) {
    if (c.why.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&c](const PageGroup& g) { return g.dataflow == c.dataflow && g.why == c.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), {{}, c.dataflow, c.why, {c.ratio(), c.ratio()}});
    group->what.push_back(c.quantity + " " + c.network);
    include(group->ratio, c.ratio());
  }
  for (const PageGroup& g : groups) {
    const std::string least = fmt::format("{:.2f}", g.ratio.first), most = fmt::format("{:.2f}", g.ratio.second);
    t.rows.push_back({fmt::format("{}", fmt::join(g.what, ", ")), g.dataflow,
                      least == most ? least : fmt::format("{} to {}", least, most), g.why});
  }
  return t;
}

Section findings_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  Section t{"What the tables say"};
  std::map<std::string, ValueRange> range;  // ours / paper, cycles
  double utilization = 0;
  ValueRange moved{1e9, 0}, unfused{1e9, 0};  // ours / paper, bytes
  std::size_t equal = 0;
  for (const Cell& c : all) {
    if (c.quantity == "cycles" && c.paper > 0 && c.why.empty()) {
      include(range.emplace(c.dataflow, ValueRange(c.ratio(), c.ratio())).first->second, c.ratio());
    }
    if (c.quantity == "mac_utilization") utilization = std::max(utilization, std::abs(c.ours - c.paper));
    if (c.quantity == "dram_bytes") {
      include(moved, c.ratio());
      equal += c.ours == c.paper ? 1 : 0;
    }
  }
  // layerwise: cycles relative to the paper's if K and V are loaded several times. flat: cycles relative to softmax or
  // to its own traffic if scores are stored in DRAM.
  double streamed = 0, most_flat = 0;
  std::uint32_t streamed_from = 0, tiles_from = 0, tile_rows = 0;
  const auto earliest = [](std::uint32_t& from, std::uint32_t tokens) {
    from = from == 0 ? tokens : std::min(from, tokens);
  };
  for (const FusemaxPoint& p : s.points) {
    const FusemaxMeasure &flat = p.ours.at(kFlat), &layerwise = p.ours.at(kLayerwise);
    const auto stated = p.paper_cycles.find(kLayerwise);
    if (stated != p.paper_cycles.end() && layerwise.tiling["kv"] == hal::kWord) {
      streamed = std::max(streamed, p.cycles(kLayerwise) / stated->second);
      earliest(streamed_from, p.tokens);
    }
    if (flat.tiling.used("np") > 0) {
      const double softmax = scores_of(p) * s.baseline.vec.softmax_lane_cycles / s.baseline.vec.lanes;
      most_flat = std::max(most_flat, flat[kCycles] / std::max(softmax, dram_cycles(flat, s.baseline)));
      earliest(tiles_from, p.tokens);
      tile_rows = std::max(tile_rows, flat.tiling["nq"]);
    }
    include(unfused, layerwise[kDramBytes] / (4 * (2 * scores_of(p) + 2.0 * p.heads * p.tokens * p.emb)));
  }
  Names texts;
  for (const std::string& d : s.dataflows) {
    if (range.count(d) > 0) texts.push_back(fmt::format("{} {:.3f} to {:.3f}", d, range[d].first, range[d].second));
  }
  t.notes.push_back(fmt::format("Cycles over the paper's, where they are within 10%: {}.", fmt::join(texts, ", ")));
  t.notes.push_back(fmt::format(
      "The 2D array's PE-weighted utilisation is within {:.4f} of the paper's everywhere. fusemax moves the paper's "
      "bytes over DRAM on {} of {} networks and lengths, {:.3f} to {:.3f} times as many in all.",
      utilization, equal, s.points.size(), moved.first, moved.second));
  t.notes.push_back(
      fmt::format("layerwise moves {:.3f} to {:.3f} times what C and P take once each way and Q, K, V and O once. The "
                  "traffic of the other dataflows is not compared: the tables kept here state none for them.",
                  unfused.first, unfused.second));
  if (tiles_from > 0) {
    t.notes.push_back(fmt::format(
        "From {} on, whole rows of scores leave the array idle, so that flat's scores cross DRAM, as C and as P, and K "
        "and V come anew for every {} rows; it takes {:.3f} times the longer of softmax and what DRAM needs for that.",
        tokens_text(tiles_from), tile_rows, most_flat));
  }
  if (streamed_from > 0) {
    t.notes.push_back(
        fmt::format("Where layerwise streams K and V, from {} on, they come anew for every row block, and the paper's "
                    "model counts them once; it takes up to {:.1f}% longer there.",
                    tokens_text(streamed_from), 100 * (streamed - 1)));
  }
  for (const Cell& c : all) {
    if (c.network == "mean" && c.quantity == "speedup") {
      t.notes.push_back(fmt::format(
          "The abstract states a mean speed-up of {:.1f}x over FLAT. Ours is {:.2f}x over all networks and lengths.",
          c.paper, c.ours));
    }
    if (c.network == "mean" && c.quantity == "energy_over_flat") {
      t.notes.push_back(fmt::format("The abstract states {:.0f}% of FLAT's energy; ours is {:.0f}% in the mean.",
                                    100 * c.paper, 100 * c.ours));
    }
  }
  return t;
}

Section sampling_section(const FusemaxStudy& s) {
  Section t{
      "What is simulated",
      "Identical heads, tiles of keys and rows of queries in a steady state take the same cycles and counts, so that "
      "two short simulations, with the same tile sizes, give a long one; tests hold this to whole simulations. Where "
      "heads are not simulated whole, a third sample says how far the line through the two is off its cycles. Batch 64 "
      "and all heads are counted.",
      {"tokens", "one-pass dataflows", "flat", "layerwise"},
      1,
      true};
  t.left = 3;
  std::vector<std::uint32_t> lengths;
  for (const FusemaxPoint& p : s.points) {
    if (std::find(lengths.begin(), lengths.end(), p.tokens) == lengths.end()) lengths.push_back(p.tokens);
  }
  for (const std::uint32_t n : lengths) {
    Names& row = t.rows.emplace_back(1, tokens_text(n));
    for (const std::string& d : {kFusemax, kFlat, kLayerwise}) {
      row.push_back(sample_text(job::parse_dataflow(d), n));
      std::string third;  // worst of the networks
      double off = 0;
      for (const FusemaxPoint& p : s.points) {
        const auto found = p.residual.find(d);
        if (p.tokens != n || found == p.residual.end() || std::abs(found->second.second) < std::abs(off)) continue;
        std::tie(third, off) = found->second;
      }
      if (!third.empty()) row.back() += fmt::format("; at {} off by {:+.3f}%", third, 100 * off);
    }
  }
  return t;
}

}  // namespace

std::vector<Cell> fusemax_cells(const FusemaxStudy& s) {
  std::vector<Cell> all;
  const auto add = [&all](const char* quantity, const std::string& network, const std::string& dataflow, double paper,
                          double ours, const std::string& why) {
    all.push_back({quantity, network, dataflow, paper, ours, paper > 0 && noteworthy(ours / paper) ? why : ""});
  };
  const auto stated = [](const FusemaxPoint& p, const std::string& d) {
    const auto found = p.paper_cycles.find(d);
    return found == p.paper_cycles.end() ? 0 : found->second;
  };
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      add("cycles", p.name(), d, stated(p, d), p.cycles(d), why_cycles(s, p, d));
    }
  }
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      double paper = d == kFlat ? claim_of(s.claims, "speedup", p.name()) : 0;
      if (paper == 0 && stated(p, d) > 0) paper = stated(p, d) / p.paper_cycles.at(kFusemax);
      if (d == kFusemax) continue;
      add("speedup", p.name(), d, paper, p.cycles(d) / p.cycles(kFusemax), why_cycles(s, p, d));
    }
  }
  add("speedup", "mean", kFlat, claim_of(s.claims, "speedup", "mean"),
      mean(s, [](const FusemaxPoint& p) { return p.cycles(kFlat) / p.cycles(kFusemax); }),
      fmt::format("the mean of the {} rows above", s.points.size()));
  for (const FusemaxPoint& p : s.points) {
    add("mac_utilization", p.name(), kFusemax, p.paper_mac_utilization, p.ours.at(kFusemax).pe_utilization(),
        "unexplained");
  }
  for (const FusemaxPoint& p : s.points) {
    const FusemaxMeasure& m = p.ours.at(kFusemax);
    add("dram_bytes", p.name(), kFusemax, p.paper_dram_bytes, m[kDramBytes],
        fmt::format("{} slabs of {} queries at a time read K and V that often", m.tiling["rb"], m.tiling["nq"]));
  }
  for (const std::string& d : s.dataflows) {
    for (const FusemaxPoint& p : s.points) {
      const double paper = claim_of(s.claims, "energy_pj", p.name() + " " + d);
      if (paper > 0) add("energy_pj", p.name(), d, paper, p.ours.at(d).energy_pj(), why_energy(p.ours.at(d)));
    }
  }
  add("energy_over_flat", "mean", kFusemax, claim_of(s.claims, "energy", "mean"),
      mean(s, [](const FusemaxPoint& p) { return p.ours.at(kFusemax).energy_pj() / p.ours.at(kFlat).energy_pj(); }),
      fmt::format("the mean of {} networks and lengths", s.points.size()));
  return all;
}

StudyReport fusemax_report(const FusemaxStudy& s) {
  StudyReport r;
  r.heading = fmt::format("FuseMax on {}, its baselines on {}\n", s.machine.name, s.baseline.name);
  r.preamble = fmt::format(
      "# The FuseMax paper, reproduced\n\nWritten by `attnvp reproduce fusemax --markdown FILE`; all numbers of ours "
      "come from runs.\nThe paper's numbers, `configs/paper/fusemax_*.csv`, are its published model's.\n\n`fusemax` "
      "and its serial binding run on the machine `{}`, the others on `{}`. Tile sizes are chosen by timing runs.\n",
      s.machine.name, s.baseline.name);
  r.hardware = {s.machine.name, s.baseline.name};
  r.cells = fusemax_cells(s);
  r.sections = {
      findings_section(s, r.cells), cycles_section(s, r.cells), speedup_section(s, r.cells), arrays_section(s),
      energy_section(s, r.cells),   memory_section(s),          reasons_section(r.cells),    sampling_section(s)};
  return r;
}

StudyReport fusemax(std::uint32_t longest, const StudyProgress& progress) {
  return fusemax_report(run_fusemax_study(longest, progress));
}

}  // namespace attnvp::papers
