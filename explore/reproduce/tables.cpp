#include "explore/reproduce/tables.h"

#include <fmt/format.h>

#include "explore/reproduce/bounds.h"
#include "platform/report/table.h"

namespace attnvp::reproduce {

namespace {

std::string one_decimal_percent(double percent) { return fmt::format("{:.1f}%", percent); }

using ByPlace = std::map<std::pair<std::string, std::string>, Entry>;

const char* calibration_mark(const Entry& e) { return e.calibrated.empty() ? "" : " c"; }

// What `c` beside a cell stands for.
std::vector<std::string> calibration_notes(const ByPlace& cells) {
  std::map<std::string, std::size_t> by_key;
  for (const auto& [place, e] : cells) {
    if (!e.calibrated.empty()) ++by_key[e.calibrated];
  }
  std::vector<std::string> notes;
  for (const auto& [key, count] : by_key) {
    notes.push_back(
        fmt::format("c: no prediction, as the machine's `{}` was calibrated to the paper's cell ({} of {}).", key,
                    count, cells.size()));
  }
  return notes;
}

// Networks down, dataflows across; `cell` writes paper and ours.
template <class Cell>
Section grid(const Study& s, const std::string& quantity, const std::vector<std::string>& dataflows, Cell cell) {
  Section section;
  ByPlace by_place;
  for (const Entry& e : entries(s)) {
    if (e.quantity == quantity) by_place.emplace(std::pair(e.network, e.dataflow), e);
  }
  section.columns = {"network"};
  for (const std::string& dataflow : dataflows) {
    section.columns.push_back(by_place.at({s.paper.networks.front(), dataflow}).schedule);
  }
  std::vector<std::string> networks = s.paper.networks;
  networks.emplace_back("geomean");
  if (by_place.count({"geomean_printed", dataflows.front()}) > 0) networks.emplace_back("geomean_printed");
  for (const std::string& network : networks) {
    std::vector<std::string> row{network == "geomean_printed" ? "geomean, as printed" : network};
    for (const std::string& dataflow : dataflows) {
      const auto found = by_place.find({network, dataflow});
      row.push_back(found == by_place.end() ? "" : cell(found->second));
    }
    section.rows.push_back(std::move(row));
  }
  section.notes = calibration_notes(by_place);
  return section;
}

std::vector<std::string> others(const Study& s) { return {s.dataflows.begin(), s.dataflows.end() - 1}; }

std::string with_ratio(const Entry& e, double unit) {
  return fmt::format("{:.3f}  {:>6.3f}  {:.2f}{}{}", e.paper / unit, e.ours / unit, e.ratio(),
                     noteworthy(e.ratio()) ? "*" : " ", calibration_mark(e));
}

constexpr char kReasons[] =
    "What was measured, in a sentence. \"Unexplained\": the figures of the line are all that is known; \"conjecture\": "
    "a "
    "cause that no run here shows, with what would decide it.";
constexpr char kHow[] = "Each cell: the paper's, ours, ours / paper; * where they differ by over 10%.";

}  // namespace

Section cycles_table(const Study& s) {
  Section t = grid(s, "cycles", s.dataflows, [](const Entry& e) { return with_ratio(e, 1e6); });
  t.title = "Table 2: cycles, in millions";
  t.lead =
      std::string(kHow) +
      " The paper's FLAT stands beside both of ours: I/O behind computation (flat), and in turn with it "
      "(flat:prefetch=off); the reason for flat speaks of both. TileFlow is held to the paper's eight row blocks a "
      "head, a head at a time (tileflow:row_blocks=8); all other tile sizes are chosen.";
  return t;
}

std::string two_speedups(const Entry& e) {
  return fmt::format("{:.2f}x  {:.2f}x{}", e.paper, e.ours, calibration_mark(e));
}

Section speedup_table(const Study& s) {
  Section t = grid(s, "speedup", others(s), two_speedups);
  t.title = "Table 2: speed-up of mas";
  t.lead = "Each cell: the paper's, ours.";
  return t;
}

// Cycles and what mas gains, in one cell.
Section best_table(const Study& s) {
  ByPlace speedups, savings;
  std::uint32_t simulations = 0;
  for (const Entry& e : entries(s)) {
    if (e.quantity == "best_speedup") speedups.emplace(std::pair(e.network, e.dataflow), e);
    if (e.quantity == "best_saving_percent") savings.emplace(std::pair(e.network, e.dataflow), e);
  }
  for (const auto& [place, best] : s.best) simulations += best.simulations;
  Section t = grid(s, "best_cycles", s.paper.dataflows, [&](const Entry& e) {
    std::string cell = fmt::format("{:.3f}", e.ours / 1e6);
    const auto gain = speedups.find({e.network, e.dataflow});
    if (gain == speedups.end()) return cell;
    return cell + fmt::format("  {:.2f}x  {:>5}", gain->second.ours,
                              one_decimal_percent(savings.at({e.network, e.dataflow}).ours));
  });
  t.notes.clear();  // nothing of the paper's is in these cells
  t.title = "Each dataflow at its best";
  t.lead = fmt::format(
      "No option is set, TileFlow's row blocks neither. From the tile sizes that a run chooses by itself on, one "
      "parameter after the other takes the next value as long as the simulation gets faster, in at most {} simulations "
      "({} in all). Each cell: ours in millions of cycles, how many times mas at its best is faster, the energy that "
      "it "
      "saves.",
      kBestBudget, simulations);
  return t;
}

Section energy_table(const Study& s) {
  Section t = grid(s, "energy_pj", s.dataflows, [](const Entry& e) { return with_ratio(e, 1e9); });
  t.title = "Table 3: energy, in 10^9 pJ";
  t.lead =
      std::string(kHow) +
      " Energies are by this paper's own table (`pat`), in which an SRAM costs in proportion to its size and sums are "
      "read and written in L0 at every step: they say nothing of other machines.";
  const EnergyFits fits = fit_energies(s);
  t.notes.push_back(
      fmt::format("The mas column as pJ per multiply-accumulate, per score and per byte of Q, K, V and O (least "
                  "squares of the relative error): paper {:.2f}, {:.0f} and {:.0f}; ours {:.2f}, {:.0f} and {:.0f}.",
                  fits.paper.mac, fits.paper.score, fits.paper.byte, fits.ours.mac, fits.ours.score, fits.ours.byte));
  return t;
}

Section saving_table(const Study& s) {
  Section t = grid(s, "saving_percent", others(s), [](const Entry& e) {
    return one_decimal_percent(e.paper) + "  " + fmt::format("{:>5}", one_decimal_percent(e.ours)) +
           calibration_mark(e);
  });
  t.title = "Table 3: energy that mas saves";
  t.lead = "Each cell: the paper's, ours. Geomean: the saving of the mean ratio.";
  return t;
}

Section bounds_table(const Study& s) {
  Section t;
  t.title = "What binds";
  t.lead =
      "Millions of cycles that each resource needs on its own, from the counts of mas and the machine's rates: MAC for "
      "both matmuls, VEC for softmax, DRAM for Q, K, V and O.";
  t.columns = {"network", "MAC", "VEC", "DRAM", "longest", "binds", "mas, paper", "mas, ours", "ours / longest"};
  for (const std::string& network : s.paper.networks) {
    const Terms x = terms(s.at(network, kMas), s.machine);
    t.rows.push_back({network, fmt::format("{:.3f}", x.mac / 1e6), fmt::format("{:.3f}", x.vec / 1e6),
                      fmt::format("{:.3f}", x.dram / 1e6), fmt::format("{:.3f}", x.most() / 1e6), x.binding(),
                      fmt::format("{:.3f}", s.paper_cycles(network, kMas) / 1e6),
                      fmt::format("{:.3f}", s.cycles(network, kMas) / 1e6),
                      fmt::format("{:.4f}", s.cycles(network, kMas) / x.most())});
  }
  return t;
}

Section breakdown_table(const Study& s) {
  Section t;
  t.title = "Figure 6: where the energy goes";
  const std::vector<std::string> parts = s.at(s.paper.networks.front(), kMas).energy_parts();
  std::vector<std::string> names;
  for (const std::string& part : parts) {
    names.push_back(report::upper(part) + (part == "mac" || part == "vec" ? " PEs" : ""));
  }
  t.lead = fmt::format(
      "Ours, in 10^9 pJ (the paper shows bars without numbers). Each cell: {}, and all of them. PEs take the same "
      "under every dataflow.",
      fmt::join(names, ", "));
  t.columns = {"network"};
  t.columns.insert(t.columns.end(), s.paper.dataflows.begin(), s.paper.dataflows.end());
  for (const std::string& network : s.paper.networks) {
    std::vector<std::string> row{network};
    for (const std::string& dataflow : s.paper.dataflows) {
      const job::Result& r = s.at(network, dataflow);
      std::string cell;
      for (const std::string& part : parts) cell += fmt::format("{:.3f}  ", r.energy_pj(part) / 1e9);
      row.push_back(fmt::format("{}= {:.3f}", cell, r.total_energy_pj() / 1e9));
    }
    t.rows.push_back(std::move(row));
  }
  return t;
}

Section dram_table(const Study& s) {
  Section t;
  t.title = "Section 5.4: DRAM accesses";
  t.lead =
      "Megabytes read and written. The paper: as many writes with mas as with FLAT, as many reads but where it reloads "
      "K or V after overwriting them.";
  t.columns = {"network",        "read, flat",    "read, mas",    "mas/flat, paper",
               "mas/flat, ours", "written, flat", "written, mas", "L1 in use, mas"};
  bool reloads = false;
  for (const std::string& network : s.paper.networks) {
    const job::Result &flat = s.at(network, kFlat), &mas = s.at(network, kMas);
    const auto megabytes = [](const job::Result& r, const char* counter) {
      return static_cast<double>(r.sum("dram", counter)) * kWordBytes / 1e6;
    };
    const auto text = [](double x) { return fmt::format("{:.3f}", x); };
    const double stated = s.paper.claim("reads", network);
    const double ours = megabytes(mas, "read_words") / megabytes(flat, "read_words");
    reloads = reloads || ours > 1.005;
    t.rows.push_back({network, text(megabytes(flat, "read_words")), text(megabytes(mas, "read_words")),
                      fmt::format("{:.2f}x", stated > 0 ? stated : 1), fmt::format("{:.2f}x", ours),
                      text(megabytes(flat, "write_words")), text(megabytes(mas, "write_words")),
                      report::percent(static_cast<double>(mas.max("l1", "peak_bytes")) /
                                      static_cast<double>(s.machine.l1.size_bytes))});
  }
  if (!reloads) {
    t.notes.emplace_back(
        "Ours reads every tensor once: with the row blocks it chooses, nothing is overwritten and L1 is never full "
        "(last "
        "column). Conjecture: the paper's reloads come with its tiling; its tile sizes, which it does not print, would "
        "decide it.");
  }
  return t;
}

Section limits_table(const Study& s, const std::vector<Limit>& limits) {
  Section t;
  t.title = "Section 5.5: the longest sequences";
  t.lead = fmt::format(
      "Tokens of K and V, FP16, found by running in timing mode to steps of {} tokens: one head of {} and {} rows of Q "
      "per core, so that softmax runs beside either matmul (a whole layer at a million tokens is a million such rows). "
      "A length counts when its run ends. Rows of scores are held whole, as softmax needs them, and each core holds "
      "its own; the paper counts those of one core. Where L1 has no room for as many rows as a MAC array has, "
      "layerwise takes them for softmax alone, one by one, and its matmuls take tiles. The N x N scores that layerwise "
      "and softpipe would keep in DRAM for a whole layer are not counted against them.",
      kLimitStep, kLimitEmb, kLimitRowsPerCore);
  t.columns = {"dataflow", "cores", "tokens", "paper", "ours / paper", "L1 in use", "the next step"};
  t.text_last = true;
  for (const Limit& l : limits) {
    const double stated = s.paper.claim("tokens", l.dataflow);
    const double share = static_cast<double>(l.l1_peak_bytes) / static_cast<double>(s.machine.l1.size_bytes);
    t.rows.push_back({l.dataflow, std::to_string(l.cores), report::with_commas(l.tokens),
                      stated > 0 ? "about " + report::with_commas(static_cast<unsigned long long>(stated)) : "",
                      stated > 0 ? fmt::format("{:.2f}", static_cast<double>(l.tokens) / stated) : "",
                      report::percent(share), l.refused.empty() ? "is beyond what the platform takes" : l.refused});
  }
  return t;
}

Section reasons_table(const std::vector<Entry>& all, const std::string& quantity, const std::string& title) {
  Section t;
  t.title = title;
  t.lead = kReasons;
  t.columns = {"network", "dataflow", "ours / paper", "why"};
  t.left = 2;
  t.text_last = true;
  for (const Entry& e : all) {
    if (e.quantity != quantity || e.why.empty()) continue;
    t.rows.push_back({e.network, e.dataflow, fmt::format("{:.2f}", e.ratio()), e.why});
  }
  return t;
}

Section findings_section(const Study& s) {
  Section t;
  t.title = "What the tables say";
  t.notes = findings(s);
  return t;
}

std::vector<Section> sections(const Study& s, const std::vector<Limit>& limits) {
  const std::vector<Entry> all = entries(s);
  std::vector<Section> list{findings_section(s), cycles_table(s),
                            reasons_table(all, "cycles", "Table 2: why cycles differ by over 10%"), speedup_table(s)};
  if (!s.best.empty()) list.push_back(best_table(s));
  list.push_back(bounds_table(s));
  list.push_back(energy_table(s));
  list.push_back(reasons_table(all, "energy_pj", "Table 3: why energies differ by over 10%"));
  list.push_back(saving_table(s));
  list.push_back(breakdown_table(s));
  list.push_back(dram_table(s));
  if (!limits.empty()) list.push_back(limits_table(s, limits));
  return list;
}

}  // namespace attnvp::reproduce
