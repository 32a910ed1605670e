#include "explore/reproduce/fusemax_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "explore/reproduce/reasons.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

// One network of each embedding: the others have the same heads, more or fewer of them.
std::vector<const FusemaxPoint*> different_heads(const FusemaxStudy& s) {
  std::vector<const FusemaxPoint*> points;
  for (const FusemaxPoint& p : s.points) {
    const bool known = std::any_of(points.begin(), points.end(),
                                   [&p](const FusemaxPoint* x) { return x->emb == p.emb && x->tokens == p.tokens; });
    if (!known) points.push_back(&p);
  }
  return points;
}
const char* const kLayerwise = "layerwise";
constexpr char kSameHeads[] = " Networks left out have heads of the same size, more or fewer of them.";

using EntryCell = std::string (*)(const Entry&);

const std::map<std::string, std::string> kTitles = {{"fusemax", "fusemax (+Binding)"},
                                                    {"fusemax:binding=serial", "binding=serial (+Architecture)"},
                                                    {"cascade", "cascade (+Cascade)"},
                                                    {"flat", "flat"},
                                                    {"layerwise", "layerwise (unfused)"}};

std::string mark(const Entry& e) { return noteworthy(e.ratio()) ? "*" : " "; }

// Networks and lengths down, dataflows across; where the paper states nothing, ours alone.
Section grid(const FusemaxStudy& s, const std::string& quantity, const std::vector<std::string>& dataflows,
             EntryCell cell, const std::function<std::string(const FusemaxPoint&, const std::string&)>& ours) {
  Section t;
  t.columns = {"network"};
  std::map<std::pair<std::string, std::string>, Entry> by_place;
  for (const Entry& e : fusemax_entries(s)) {
    if (e.quantity == quantity) by_place.emplace(std::pair(e.network, e.dataflow), e);
  }
  for (const std::string& d : dataflows) t.columns.push_back(kTitles.at(d));
  for (const FusemaxPoint& p : s.points) {
    std::vector<std::string> row{p.name()};
    for (const std::string& d : dataflows) {
      const auto found = by_place.find({p.name(), d});
      row.push_back(found != by_place.end() ? cell(found->second) : ours(p, d));
    }
    t.rows.push_back(std::move(row));
  }
  return t;
}

Section cycles_section(const FusemaxStudy& s) {
  Section t = grid(
      s, "cycles", s.dataflows,
      [](const Entry& e) {
        return fmt::format("{:.5g}  {:.5g}  {:.3f}{}", e.paper / 1e6, e.ours / 1e6, e.ratio(), mark(e));
      },
      [](const FusemaxPoint& p, const std::string& d) { return fmt::format("{:.5g}", p.cycles(d) / 1e6); });
  t.title = "Cycles, in millions";
  t.lead =
      "Each cell: the paper's, ours, ours / paper (* where they differ by over 10%); ours alone where the paper's "
      "closed form ends.";
  return t;
}

Section speedup_section(const FusemaxStudy& s) {
  Section t = grid(
      s, "speedup", {s.dataflows.begin() + 1, s.dataflows.end()},
      [](const Entry& e) { return fmt::format("{:.2f}x  {:.2f}x  {:.2f}{}", e.paper, e.ours, e.ratio(), mark(e)); },
      [](const FusemaxPoint& p, const std::string& d) {
        return fmt::format("{:.2f}x", p.cycles(d) / p.cycles("fusemax"));
      });
  t.title = "Speed-up of fusemax";
  t.lead =
      "Each cell: the paper's, ours, ours / paper. From right to left the paper's steps: unfused, FLAT, the one-pass "
      "cascade on the same machine, an array whose PEs take part in softmax, and both arrays busy at once.";
  return t;
}

Section arrays_section(const FusemaxStudy& s) {
  Section t;
  t.title = "Utilisation and DRAM traffic of fusemax";
  t.lead =
      "Two utilisations of the two-dimensional array (MAC): PE-weighted, the share of all PEs' cycles that have an "
      "operation in them, which is the paper's; and busy share, that of cycles in which the array is at work, with "
      "however few of its PEs. Of the one-dimensional array (VEC), the busy share; the paper's is always busy. Then "
      "bytes over DRAM.";
  t.columns = {"network",
               "2D, PE-weighted, paper",
               "ours",
               "difference",
               "2D busy",
               "1D busy",
               "flat: 2D, PE-weighted",
               "flat: 2D busy",
               "flat: 1D busy",
               "DRAM, paper",
               "DRAM, ours",
               "ratio",
               "flat",
               "layerwise"};
  for (const FusemaxPoint& p : s.points) {
    const Measure &m = p.ours.at("fusemax"), &flat = p.ours.at(kFlat);
    const auto bytes = [](double b) { return report::with_prefix(b, "B"); };
    t.rows.push_back({p.name(), fmt::format("{:.3f}", p.paper_mac_utilization),
                      fmt::format("{:.3f}", m.pe_utilization()),
                      fmt::format("{:+.4f}", m.pe_utilization() - p.paper_mac_utilization),
                      fmt::format("{:.3f}", m.mac_utilization()), fmt::format("{:.3f}", m.vec_utilization()),
                      fmt::format("{:.3f}", flat.pe_utilization()), fmt::format("{:.3f}", flat.mac_utilization()),
                      fmt::format("{:.3f}", flat.vec_utilization()), bytes(p.paper_dram_bytes), bytes(m[kDramBytes]),
                      fmt::format("{:.3f}", m[kDramBytes] / p.paper_dram_bytes), bytes(flat[kDramBytes]),
                      bytes(p.ours.at(kLayerwise)[kDramBytes])});
  }
  return t;
}

Section energy_section(const FusemaxStudy& s) {
  Section t;
  t.title = "Energy, in 10^12 pJ";
  t.lead =
      "Ours, by part, beside the artifact's totals of the shortest sequence. Here as in its mappings, arrays' results "
      "pass the buffer by: tiles' sums go from the two-dimensional array into the lanes' registers (sums=fusemax), the "
      "unfused scores to DRAM (spills=fusemax); by default they cross the buffer (sums=l1, spills=l1)." +
      std::string(kSameHeads);
  t.columns = {"network", "dataflow"};
  for (const auto& [part, pj] : s.points.front().ours.at(kFlat).parts_pj) t.columns.push_back(report::upper(part));
  for (const char* title : {"total", "of flat's", "paper", "ours / paper"}) t.columns.emplace_back(title);
  t.left = 2;
  const std::vector<Entry> all = fusemax_entries(s);
  const auto& claims = s.claims;
  for (const FusemaxPoint* point : different_heads(s)) {
    const FusemaxPoint& p = *point;
    for (const std::string& d : s.dataflows) {
      if (d != "fusemax" && d != kFlat && d != kLayerwise && claims.count({"energy_pj", p.name() + " " + d}) == 0)
        continue;
      const Measure& m = p.ours.at(d);
      std::vector<std::string> row{p.name(), d};
      for (const auto& [part, pj] : m.parts_pj) row.push_back(fmt::format("{:.4g}", pj / 1e12));
      row.push_back(fmt::format("{:.4g}", m.energy_pj() / 1e12));
      row.push_back(fmt::format("{:.2f}", m.energy_pj() / p.ours.at(kFlat).energy_pj()));
      const auto e = std::find_if(all.begin(), all.end(), [&](const Entry& x) {
        return x.quantity == "energy_pj" && x.network == p.name() && x.dataflow == d;
      });
      row.push_back(e == all.end() ? "" : fmt::format("{:.4g}", e->paper / 1e12));
      row.push_back(e == all.end() ? "" : fmt::format("{:.2f}{}", e->ratio(), mark(*e)));
      t.rows.push_back(std::move(row));
    }
  }
  return t;
}

Section memory_section(const FusemaxStudy& s) {
  Section t;
  t.title = "On-chip need";
  t.lead =
      "Most bytes of L1 in use at once, and query rows: of a slab times slabs in L1 together, or of a row block. One "
      "pass needs the same for any number of keys (with more room it takes more queries at a time, so that K and V "
      "come less often); three passes hold whole rows of scores, fewer as they get longer, until only softmax does: "
      "where rows (those of the matmuls / those of softmax) are two numbers, scores go in tiles by way of DRAM." +
      std::string(kSameHeads);
  t.columns = {"network", "fusemax", "rows x slabs", "cascade", "rows x slabs", "flat", "rows", "layerwise", "rows"};
  for (const FusemaxPoint* point : different_heads(s)) {
    const FusemaxPoint& p = *point;
    const auto peak = [&](const char* d) { return report::with_prefix(p.ours.at(d).l1_peak_bytes, "B"); };
    const auto rows = [&](const char* d) { return std::to_string(p.ours.at(d).tiling["nq"]); };
    const auto rows_or_tiles = [&](const char* d) {
      const job::Tiling& tiles = p.ours.at(d).tiling;
      return tiles.used("np") > 0 ? fmt::format("{} / {}", tiles["nq"], tiles["np"]) : rows(d);
    };
    const auto slabs = [&](const char* d) { return fmt::format("{} x {}", rows(d), p.ours.at(d).tiling["rb"]); };
    t.rows.push_back({p.name(), peak("fusemax"), slabs("fusemax"), peak("cascade"), slabs("cascade"), peak("flat"),
                      rows_or_tiles("flat"), peak(kLayerwise), rows_or_tiles(kLayerwise)});
  }
  return t;
}

// One line for all that has the same reason.
Section reasons_section(const std::vector<Entry>& all) {
  Section t;
  t.title = "Why figures differ by over 10%";
  t.columns = {"what", "dataflow", "ours / paper", "why"};
  t.left = 2;
  t.text_last = true;
  struct Group {
    std::vector<std::string> what;
    std::string dataflow, why;
    double least, most;
  };
  std::vector<Group> groups;
  for (const Entry& e : all) {
    if (e.why.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&e](const Group& g) { return g.dataflow == e.dataflow && g.why == e.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), {{}, e.dataflow, e.why, e.ratio(), e.ratio()});
    group->what.push_back(e.quantity + " " + e.network);
    group->least = std::min(group->least, e.ratio());
    group->most = std::max(group->most, e.ratio());
  }
  for (const Group& g : groups) {
    const std::string least = fmt::format("{:.2f}", g.least), most = fmt::format("{:.2f}", g.most);
    t.rows.push_back({fmt::format("{}", fmt::join(g.what, ", ")), g.dataflow,
                      least == most ? least : fmt::format("{} to {}", least, most), g.why});
  }
  return t;
}

Section findings_section(const FusemaxStudy& s, const std::vector<Entry>& all) {
  Section t;
  t.title = "What the tables say";
  std::map<std::string, std::pair<double, double>> range;  // of ours / paper, cycles
  double utilization = 0;
  std::pair<double, double> moved{1e9, 0};  // of ours / paper, bytes
  std::size_t equal = 0;
  for (const Entry& e : all) {
    if (e.quantity == "cycles" && e.why.empty()) {
      auto& r = range.emplace(e.dataflow, std::pair(e.ratio(), e.ratio())).first->second;
      r = {std::min(r.first, e.ratio()), std::max(r.second, e.ratio())};
    }
    if (e.quantity == "mac_utilization") utilization = std::max(utilization, std::abs(e.ours - e.paper));
    if (e.quantity == "dram_bytes") {
      moved = {std::min(moved.first, e.ratio()), std::max(moved.second, e.ratio())};
      equal += e.ours == e.paper ? 1 : 0;
    }
  }
  double streamed = 0;  // layerwise's cycles over the paper's where K and V come more than once
  std::uint32_t streamed_from = 0;
  for (const FusemaxPoint& p : s.points) {
    const auto stated = p.paper_cycles.find(kLayerwise);
    if (stated == p.paper_cycles.end() || p.ours.at(kLayerwise).tiling["kv"] != hal::kWord) continue;
    streamed = std::max(streamed, p.cycles(kLayerwise) / stated->second);
    streamed_from = streamed_from == 0 ? p.tokens : std::min(streamed_from, p.tokens);
  }
  // flat's cycles over what softmax or its own traffic takes, where scores cross DRAM.
  double most_flat = 0;
  std::uint32_t tiles_from = 0, tile_rows = 0;
  for (const FusemaxPoint& p : s.points) {
    const Measure& flat = p.ours.at(kFlat);
    if (flat.tiling.used("np") == 0) continue;
    const double scores = 1.0 * p.heads * p.tokens * p.tokens;
    const double softmax = scores * s.baseline.vec.softmax_lane_cycles / s.baseline.vec.lanes;
    const double traffic = flat[kDramBytes] / s.baseline.dram.bytes_per_second * s.baseline.clock_hz;
    most_flat = std::max(most_flat, flat[kCycles] / std::max(softmax, traffic));
    tiles_from = tiles_from == 0 ? p.tokens : std::min(tiles_from, p.tokens);
    tile_rows = std::max(tile_rows, flat.tiling["nq"]);
  }
  std::vector<std::string> texts;
  for (const std::string& d : s.dataflows) {
    if (range.count(d) > 0) texts.push_back(fmt::format("{} {:.3f} to {:.3f}", d, range[d].first, range[d].second));
  }
  t.notes.push_back(fmt::format("Cycles over the paper's, where they are within 10%: {}.", fmt::join(texts, ", ")));
  t.notes.push_back(fmt::format(
      "The 2D array's PE-weighted utilisation is within {:.4f} of the paper's everywhere. fusemax moves the "
      "paper's bytes over DRAM on {} of {} networks and lengths, {:.3f} to {:.3f} times as many in all.",
      utilization, equal, s.points.size(), moved.first, moved.second));
  std::pair<double, double> unfused{1e9, 0};
  for (const FusemaxPoint& p : s.points) {
    const double scores = 1.0 * p.heads * p.tokens * p.tokens, tensors = 2.0 * p.heads * p.tokens * p.emb;
    const double ratio = p.ours.at(kLayerwise)[kDramBytes] / (4 * (2 * scores + tensors));
    unfused = {std::min(unfused.first, ratio), std::max(unfused.second, ratio)};
  }
  t.notes.push_back(fmt::format(
      "layerwise moves {:.3f} to {:.3f} times what C and P take once each way and Q, K, V and O once. The traffic of "
      "the other dataflows is not compared: the tables kept here state none for them.",
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
  for (const Entry& e : all) {
    if (e.network == "mean" && e.quantity == "speedup") {
      t.notes.push_back(fmt::format(
          "The abstract states a mean speed-up of {:.1f}x over FLAT. Ours is {:.2f}x over all networks and lengths.",
          e.paper, e.ours));
    }
    if (e.network == "mean" && e.quantity == "energy_over_flat") {
      t.notes.push_back(fmt::format("The abstract states {:.0f}% of FLAT's energy; ours is {:.0f}% in the mean.",
                                    100 * e.paper, 100 * e.ours));
    }
  }
  return t;
}

Section sampling_section(const FusemaxStudy& s) {
  Section t;
  t.title = "What is simulated";
  t.lead =
      "Identical heads, tiles of keys and rows of queries in a steady state take the same cycles and counts, so that "
      "two short simulations, with the same tile sizes, give a long one; tests hold this to whole simulations. Where "
      "heads are not simulated whole, a third sample says how far the line through the two is off its cycles. Batch 64 "
      "and all heads are counted.";
  t.columns = {"tokens", "one-pass dataflows", "flat", "layerwise"};
  t.text_last = true;
  t.left = 3;
  std::vector<std::uint32_t> lengths;
  for (const FusemaxPoint& p : s.points) {
    if (std::find(lengths.begin(), lengths.end(), p.tokens) == lengths.end()) lengths.push_back(p.tokens);
  }
  for (const std::uint32_t n : lengths) {
    // The networks' worst.
    const auto text = [&s, n](const char* d) {
      std::string sample = sample_text(job::parse_dataflow(d), n);
      std::string third;
      double off = 0;
      for (const FusemaxPoint& p : s.points) {
        const auto found = p.residual.find(d);
        if (p.tokens != n || found == p.residual.end() || std::abs(found->second.second) < std::abs(off)) continue;
        std::tie(third, off) = found->second;
      }
      return third.empty() ? sample : sample + fmt::format("; at {} off by {:+.3f}%", third, 100 * off);
    };
    t.rows.push_back({tokens_text(n), text("fusemax"), text("flat"), text("layerwise")});
  }
  return t;
}

}  // namespace

std::vector<Section> fusemax_sections(const FusemaxStudy& s) {
  const std::vector<Entry> all = fusemax_entries(s);
  return {findings_section(s, all), cycles_section(s), speedup_section(s),   arrays_section(s),
          energy_section(s),        memory_section(s), reasons_section(all), sampling_section(s)};
}

}  // namespace attnvp::reproduce
