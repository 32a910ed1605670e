#include <set>
#include <tuple>

#include "explore/papers/fusemax.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

const std::string kFusemax = "fusemax", kLayerwise = "layerwise";

std::string three(double x) { return fmt::format("{:.3f}", x); }

double scores_of(const FusemaxPoint& p) { return 1.0 * p.heads * p.tokens * p.tokens; }
double dram_cycles(const FusemaxMeasure& m, const MachineConfig& machine) {
  return m[kDramBytes] / machine.dram.bytes_per_second * machine.clock_hz;
}

// One network per embedding: the others differ only in the number of heads.
std::vector<const FusemaxPoint*> different_heads(const FusemaxStudy& s) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  std::vector<const FusemaxPoint*> points;
  for (const FusemaxPoint& p : s.points) {
    if (known.emplace(p.emb, p.tokens).second) points.push_back(&p);
  }
  return points;
}
constexpr char kSameHeads[] = " Networks left out have heads of the same size, more or fewer of them.";

const std::map<std::string, std::string> kTitles = {{"fusemax", "fusemax (+Binding)"},
                                                    {"fusemax:binding=serial", "binding=serial (+Architecture)"},
                                                    {"cascade", "cascade (+Cascade)"},
                                                    {"flat", "flat"},
                                                    {"layerwise", "layerwise (unfused)"}};

std::string energy_reason(const FusemaxMeasure& m) {
  return fmt::format("unexplained: operations take {:.2f} x 10^12 pJ, DRAM {:.3f}, the buffer {:.2f}",
                     (m.energy_pj("mac") + m.energy_pj("vec")) / 1e12, m.energy_pj("dram") / 1e12,
                     m.energy_pj("l1") / 1e12);
}

// Composition of a schedule's cycles.
std::string cycles_reason(const FusemaxStudy& s, const FusemaxPoint& p, const std::string& d) {
  const FusemaxMeasure& m = p.ours.at(d);
  const double dram = dram_cycles(m, d.rfind(kFusemax, 0) == 0 ? s.machine : s.baseline);
  std::string text = fmt::format("unexplained: of ours, DRAM's peak needs {:.0f}%, MAC is busy {:.0f}%, VEC {:.0f}%",
                                 100 * dram / m[kCycles], 100 * m.mac_utilization(), 100 * m.vec_utilization());
  for (const auto& [key, value] : job::tiling_in_short(m.tiling)) {
    if (key == "nq" || key == "np" || key == "kv") text += fmt::format(", {}={}", key, value);
  }
  return text;
}

// Networks and lengths down, dataflows across; only our value if the paper states none.
Section fill(const FusemaxStudy& s, Section t, const std::vector<Cell>& all, const std::string& quantity,
             const Names& dataflows, const CellForm& form) {
  Names networks;
  for (const FusemaxPoint& p : s.points) networks.push_back(p.name());
  t.pivot(cells_of(all, quantity), networks, dataflows, form);
  for (std::size_t i = 1; i < t.columns.size(); ++i) t.columns[i] = kTitles.at(t.columns[i]);
  return t;
}

Section cycles_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  return fill(s,
              {"Cycles, in millions",
               "Each cell: the paper's, ours, ours / paper (* where they differ by over 10%); ours alone where the "
               "paper's closed form ends.",
               {"network"}},
              all, "cycles", s.dataflows, {"{:.5g}", "{:.5g}", "{:.3f}", 1e6});
}

Section speedup_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  return fill(s,
              {"Speed-up of fusemax",
               "Each cell: the paper's, ours, ours / paper. From right to left the paper's steps: unfused, FLAT, the "
               "one-pass cascade on the same machine, an array whose PEs take part in softmax, and both arrays busy "
               "at once.",
               {"network"}},
              all, "speedup", {s.dataflows.begin() + 1, s.dataflows.end()}, {"{:.2f}x", "{:.2f}x", "{:.2f}"});
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
    const double paper_pes = s.paper("mac_utilization", p.name()), paper_bytes = s.paper("dram_bytes", p.name());
    t.rows.push_back({p.name(), three(paper_pes), three(m.pe_utilization()),
                      fmt::format("{:+.4f}", m.pe_utilization() - paper_pes), three(m.mac_utilization()),
                      three(m.vec_utilization()), three(flat.pe_utilization()), three(flat.mac_utilization()),
                      three(flat.vec_utilization()), bytes_text(paper_bytes), bytes_text(m[kDramBytes]),
                      three(m[kDramBytes] / paper_bytes), bytes_text(flat[kDramBytes]),
                      bytes_text(p.ours.at(kLayerwise)[kDramBytes])});
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
      Names& row = t.rows.emplace_back(Names{p->name(), d});
      for (const auto& [part, pj] : m.parts_pj) row.push_back(fmt::format("{:.4g}", pj / 1e12));
      row.push_back(fmt::format("{:.4g}", m.energy_pj() / 1e12));
      row.push_back(fmt::format("{:.2f}", m.energy_pj() / p->ours.at(kFlat).energy_pj()));
      row.push_back(c == cells.end() ? "" : fmt::format("{:.4g}", c->second.paper / 1e12));
      row.push_back(c == cells.end() ? "" : c->second.ratio_text("{:.2f}"));
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
      row.push_back(bytes_text(p->ours.at(d).l1_peak_bytes));
      row.push_back(d != kFlat && d != kLayerwise ? fmt::format("{} x {}", tiles["nq"], tiles["rb"])
                    : tiles.used("np") > 0        ? fmt::format("{} / {}", tiles["nq"], tiles["np"])
                                                  : std::to_string(tiles["nq"]));
    }
  }
  return t;
}

// One row for all figures with the same reason.
Section reasons_section(const std::vector<Cell>& all) {
  Section t{"Why figures differ by over 10%", "", {"what", "dataflow", "ours / paper", "why"}, 2, true};
  struct PageGroup {
    Names what;
    std::string dataflow, why;
    Range ratio;
  };
  std::vector<PageGroup> groups;
  for (const Cell& c : all) {
    if (c.why.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&c](const PageGroup& g) { return g.dataflow == c.dataflow && g.why == c.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), {{}, c.dataflow, c.why, {}});
    group->what.push_back(c.quantity + " " + c.network);
    group->ratio.include(c.ratio());
  }
  for (const PageGroup& g : groups) {
    const std::string least = fmt::format("{:.2f}", g.ratio.least), most = fmt::format("{:.2f}", g.ratio.most);
    t.rows.push_back({fmt::format("{}", fmt::join(g.what, ", ")), g.dataflow,
                      least == most ? least : fmt::format("{} to {}", least, most), g.why});
  }
  return t;
}

Section findings_section(const FusemaxStudy& s, const std::vector<Cell>& all) {
  Section t{"What the tables say"};
  std::map<std::string, Range> range;  // ours / paper, cycles
  double utilization = 0;
  Range moved, unfused;  // ours / paper, bytes
  std::size_t equal = 0;
  for (const Cell& c : all) {
    if (c.quantity == "cycles" && c.paper > 0 && c.why.empty()) range[c.dataflow].include(c.ratio());
    if (c.quantity == "mac_utilization") utilization = std::max(utilization, std::abs(c.ours - c.paper));
    if (c.quantity == "dram_bytes") {
      moved.include(c.ratio());
      equal += c.ours == c.paper ? 1 : 0;
    }
  }
  // layerwise: cycles relative to the paper's if K and V are loaded several times. flat: cycles relative to softmax or
  // to its own traffic if scores are stored in DRAM.
  Range streamed, streamed_tokens, tiled, tiled_tokens, tile_rows;
  for (const FusemaxPoint& p : s.points) {
    const FusemaxMeasure &flat = p.ours.at(kFlat), &layerwise = p.ours.at(kLayerwise);
    const double stated = s.paper("cycles", p.name() + " " + kLayerwise);
    if (stated > 0 && layerwise.tiling["kv"] == hal::kWord) {
      streamed.include(p.cycles(kLayerwise) / stated);
      streamed_tokens.include(p.tokens);
    }
    if (flat.tiling.used("np") > 0) {
      const double softmax = scores_of(p) * s.baseline.vec.softmax_lane_cycles / s.baseline.vec.lanes;
      tiled.include(flat[kCycles] / std::max(softmax, dram_cycles(flat, s.baseline)));
      tiled_tokens.include(p.tokens);
      tile_rows.include(flat.tiling["nq"]);
    }
    unfused.include(layerwise[kDramBytes] / (4 * (2 * scores_of(p) + 2.0 * p.heads * p.tokens * p.emb)));
  }
  Names texts;
  for (const std::string& d : s.dataflows) {
    if (range.count(d) > 0) texts.push_back(fmt::format("{} {:.3f} to {:.3f}", d, range[d].least, range[d].most));
  }
  t.notes = {
      fmt::format("Cycles over the paper's, where they are within 10%: {}.", fmt::join(texts, ", ")),
      fmt::format(
          "The 2D array's PE-weighted utilisation is within {:.4f} of the paper's everywhere. fusemax moves the "
          "paper's bytes over DRAM on {} of {} networks and lengths, {:.3f} to {:.3f} times as many in all.",
          utilization, equal, s.points.size(), moved.least, moved.most),
      fmt::format("layerwise moves {:.3f} to {:.3f} times what C and P take once each way and Q, K, V and O once. The "
                  "traffic of the other dataflows is not compared: the tables kept here state none for them.",
                  unfused.least, unfused.most)};
  if (tiled.least <= tiled.most) {
    t.notes.push_back(fmt::format(
        "From {} on, whole rows of scores leave the array idle, so that flat's scores cross DRAM, as C and as P, and K "
        "and V come anew for every {} rows; it takes {:.3f} times the longer of softmax and what DRAM needs for that.",
        tokens_text(static_cast<std::uint32_t>(tiled_tokens.least)), tile_rows.most, tiled.most));
  }
  if (streamed.least <= streamed.most) {
    t.notes.push_back(
        fmt::format("Where layerwise streams K and V, from {} on, they come anew for every row block, and the paper's "
                    "model counts them once; it takes up to {:.1f}% longer there.",
                    tokens_text(static_cast<std::uint32_t>(streamed_tokens.least)), 100 * (streamed.most - 1)));
  }
  const Cell speedup = cells_of(all, "speedup").at({"mean", kFlat});
  const Cell energy = cells_of(all, "energy_over_flat").at({"mean", kFusemax});
  t.notes.push_back(fmt::format(
      "The abstract states a mean speed-up of {:.1f}x over FLAT. Ours is {:.2f}x over all networks and lengths.",
      speedup.paper, speedup.ours));
  t.notes.push_back(fmt::format("The abstract states {:.0f}% of FLAT's energy; ours is {:.0f}% in the mean.",
                                100 * energy.paper, 100 * energy.ours));
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
      3,
      true};
  std::set<std::uint32_t> lengths;
  for (const FusemaxPoint& p : s.points) lengths.insert(p.tokens);
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
  const auto each = [&s](const auto& see) {
    for (const std::string& d : s.dataflows) {
      for (const FusemaxPoint& p : s.points) see(p, d);
    }
  };
  const auto stated = [&s](const char* quantity, const FusemaxPoint& p, const std::string& d) {
    return s.paper(quantity, p.name() + " " + d);
  };
  each([&](const FusemaxPoint& p, const std::string& d) {
    add("cycles", p.name(), d, stated("cycles", p, d), p.cycles(d), cycles_reason(s, p, d));
  });
  each([&](const FusemaxPoint& p, const std::string& d) {
    if (d == kFusemax) return;
    double paper = d == kFlat ? s.paper("speedup", p.name()) : 0;
    if (paper == 0) paper = stated("cycles", p, d) / stated("cycles", p, kFusemax);
    add("speedup", p.name(), d, paper, p.cycles(d) / p.cycles(kFusemax), cycles_reason(s, p, d));
  });
  add("speedup", "mean", kFlat, s.paper("speedup", "mean"),
      mean_of(s.points, [](const FusemaxPoint& p) { return p.cycles(kFlat) / p.cycles(kFusemax); }),
      fmt::format("the mean of the {} rows above", s.points.size()));
  for (const FusemaxPoint& p : s.points) {
    add("mac_utilization", p.name(), kFusemax, s.paper("mac_utilization", p.name()),
        p.ours.at(kFusemax).pe_utilization(), "unexplained");
  }
  for (const FusemaxPoint& p : s.points) {
    const FusemaxMeasure& m = p.ours.at(kFusemax);
    add("dram_bytes", p.name(), kFusemax, s.paper("dram_bytes", p.name()), m[kDramBytes],
        fmt::format("{} slabs of {} queries at a time read K and V that often", m.tiling["rb"], m.tiling["nq"]));
  }
  each([&](const FusemaxPoint& p, const std::string& d) {
    const double paper = stated("energy_pj", p, d);
    if (paper > 0) add("energy_pj", p.name(), d, paper, p.ours.at(d).energy_pj(), energy_reason(p.ours.at(d)));
  });
  add("energy_over_flat", "mean", kFusemax, s.paper("energy", "mean"),
      mean_of(s.points,
              [](const FusemaxPoint& p) { return p.ours.at(kFusemax).energy_pj() / p.ours.at(kFlat).energy_pj(); }),
      fmt::format("the mean of {} networks and lengths", s.points.size()));
  return all;
}

StudyReport fusemax_report(const FusemaxStudy& s) {
  StudyReport r;
  r.heading = fmt::format("FuseMax on {}, its baselines on {}\n", s.machine.name, s.baseline.name);
  r.title = "The FuseMax paper, reproduced";
  r.introduction = {
      "Written by `attnvp reproduce fusemax --markdown FILE`; all numbers of ours come from runs. The paper's numbers, "
      "`configs/paper/fusemax_*.csv`, are its published model's.",
      fmt::format("`fusemax` and its serial binding run on the machine `{}`, the others on `{}`. Tile sizes are chosen "
                  "by timing runs.",
                  s.machine.name, s.baseline.name)};
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
