#include "explore/papers/mas.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

using CellValue = std::function<double(const std::string& network, const std::string& dataflow)>;
using CellKey = std::function<std::string(const std::string& network, const std::string& dataflow)>;

// Advantage of mas over the dataflow: ratio of cycles; energy saved in per cent.
double speedup(double other, double mas) { return other / mas; }
double saving(double other, double mas) { return 100 * (1 - mas / other); }

struct Compared {
  const MasStudy& s;
  const Names& dataflows;
  bool pinned;  // to the paper's setting
  CellValue paper, ours;
  CellKey calibrated;

  std::string schedule(const std::string& d) const { return pinned ? papers_setting(d) : d; }

  // Adds the cells of every network under every dataflow, and the mean of the rows.
  void add_values(const std::string& quantity, const CellKey& why, std::vector<Cell>& all) const {
    for (const std::string& d : dataflows) {
      for (const std::string& n : s.paper.networks) {
        all.push_back({quantity, n, d, paper(n, d), ours(n, d), why ? why(n, d) : "", schedule(d), calibrated(n, d)});
      }
      const auto mean = [&](const CellValue& of) {
        return geometric_mean(s.paper.networks, [&](const std::string& n) { return of(n, d); });
      };
      all.push_back({quantity, "geomean", d, mean(paper), mean(ours), "", schedule(d), ""});
    }
  }

  // Adds the gains of mas, the mean of the rows, and the paper's mean if printed.
  void add_gains(const std::string& quantity, const char* claim, double (*gain)(double, double),
                 std::vector<Cell>& all) const {
    for (const std::string& d : dataflows) {
      if (d == kMas) continue;
      for (const std::string& n : s.paper.networks) {
        const std::string key = calibrated(n, d);
        all.push_back({quantity, n, d, gain(paper(n, d), paper(n, kMas)), gain(ours(n, d), ours(n, kMas)), "",
                       schedule(d), key.empty() ? calibrated(n, kMas) : key});
      }
      // Savings may be zero or negative, so the saving of the geometric mean ratio is used instead of their mean.
      const auto mean_of = [&](const CellValue& of) {
        return gain(geometric_mean(s.paper.networks, [&](const std::string& n) { return of(n, d) / of(n, kMas); }), 1);
      };
      all.push_back({quantity, "geomean", d, mean_of(paper), mean_of(ours), "", schedule(d), ""});
      const double printed = s.paper.claim(claim, d);
      if (printed > 0) all.push_back({quantity, "geomean_printed", d, printed, mean_of(ours), "", schedule(d), ""});
    }
  }
};

const char* calibration_mark(const Cell& c) { return c.calibrated.empty() ? "" : " c"; }
std::string millions(double x) { return fmt::format("{:.3f}", x / 1e6); }
std::string one_decimal_percent(double percent) { return fmt::format("{:.1f}%", percent); }

// Networks down, dataflows across; `cell` formats paper and ours.
Section grid(const MasStudy& s, const std::vector<Cell>& all, const std::string& quantity, const Names& dataflows,
             const std::function<std::string(const Cell&)>& cell) {
  const std::map<Case, Cell> cells = cells_of(all, quantity);
  Names networks = s.paper.networks;
  networks.emplace_back("geomean");
  if (cells.count({"geomean_printed", dataflows.front()}) > 0) networks.emplace_back("geomean_printed");
  Section section = pivot(all, quantity, networks, dataflows, cell);
  for (std::size_t i = 0; i < dataflows.size(); ++i) {
    section.columns[i + 1] = cells.at({networks.front(), dataflows[i]}).schedule;
  }
  if (networks.back() == "geomean_printed") section.rows.back().front() = "geomean, as printed";
  std::map<std::string, std::size_t> by_key;
  for (const auto& [place, c] : cells) {
    if (!c.calibrated.empty()) ++by_key[c.calibrated];
  }
  for (const auto& [key, count] : by_key) {
    section.notes.push_back(
        fmt::format("c: no prediction, as the machine's `{}` was calibrated to the paper's cell ({} of {}).", key,
                    count, cells.size()));
  }
  return section;
}

std::function<std::string(const Cell&)> with_ratio(double unit) {
  return [unit](const Cell& c) {
    return fmt::format("{:.3f}  {:>6.3f}  {:.2f}{}{}", c.paper / unit, c.ours / unit, c.ratio(),
                       noteworthy(c.ratio()) ? "*" : " ", calibration_mark(c));
  };
}
constexpr char kHow[] = "Each cell: the paper's, ours, ours / paper; * where they differ by over 10%.";

Section cycles_table(const MasStudy& s, const std::vector<Cell>& all) {
  Section t = grid(s, all, "cycles", s.dataflows, with_ratio(1e6));
  t.title = "Table 2: cycles, in millions";
  t.lead = std::string(kHow) +
           " The paper's FLAT stands beside both of ours: I/O behind computation (flat), and in turn with it "
           "(flat:prefetch=off); the reason for flat speaks of both. TileFlow is held to the paper's eight row blocks "
           "a head, a head at a time (tileflow:row_blocks=8); all other tile sizes are chosen.";
  return t;
}

Section gain_table(const MasStudy& s, const std::vector<Cell>& all, bool energy) {
  const Names others{s.dataflows.begin(), s.dataflows.end() - 1};
  Section t = grid(s, all, energy ? "saving_percent" : "speedup", others, [energy](const Cell& c) {
    const std::string mark = calibration_mark(c);
    if (!energy) return times(c.paper) + "  " + times(c.ours) + mark;
    return one_decimal_percent(c.paper) + fmt::format("  {:>5}", one_decimal_percent(c.ours)) + mark;
  });
  t.title = energy ? "Table 3: energy that mas saves" : "Table 2: speed-up of mas";
  t.lead = "Each cell: the paper's, ours.";
  if (energy) t.lead += " Geomean: the saving of the mean ratio.";
  return t;
}

// Cycles and gain of mas in one cell.
Section best_table(const MasStudy& s, const std::vector<Cell>& all) {
  const std::map<Case, Cell> speedups = cells_of(all, "best_speedup"), savings = cells_of(all, "best_saving_percent");
  std::uint32_t simulations = 0;
  for (const auto& [place, best] : s.best) simulations += best.simulations;
  Section t = grid(s, all, "best_cycles", s.paper.dataflows, [&](const Cell& c) {
    const auto gain = speedups.find({c.network, c.dataflow});
    if (gain == speedups.end()) return millions(c.ours);
    return fmt::format("{}  {}  {:>5}", millions(c.ours), times(gain->second.ours),
                       one_decimal_percent(savings.at({c.network, c.dataflow}).ours));
  });
  t.notes.clear();  // these cells have no values of the paper
  t.title = "Each dataflow at its best";
  t.lead = fmt::format(
      "No option is set, TileFlow's row blocks neither. From the tile sizes that a run chooses by itself on, one "
      "parameter after the other takes the next value as long as the simulation gets faster, in at most {} simulations "
      "({} in all). Each cell: ours in millions of cycles, how many times mas at its best is faster, the energy that "
      "it saves.",
      kBestBudget, simulations);
  return t;
}

Section bounds_table(const MasStudy& s) {
  Section t{
      "What binds",
      "Millions of cycles that each resource needs on its own, from the counts of mas and the machine's rates: MAC for "
      "both matmuls, VEC for softmax, DRAM for Q, K, V and O.",
      {"network", "MAC", "VEC", "DRAM", "longest", "binds", "mas, paper", "mas, ours", "ours / longest"}};
  for (const std::string& n : s.paper.networks) {
    const Terms x = terms(s.at(n, kMas), s.machine);
    t.rows.push_back({n, millions(x.mac), millions(x.vec), millions(x.dram), millions(x.most()), x.binding(),
                      millions(s.paper_cycles(n, kMas)), millions(s.cycles(n, kMas)),
                      fmt::format("{:.4f}", s.cycles(n, kMas) / x.most())});
  }
  return t;
}

Section energy_table(const MasStudy& s, const std::vector<Cell>& all) {
  Section t = grid(s, all, "energy_pj", s.dataflows, with_ratio(1e9));
  t.title = "Table 3: energy, in 10^9 pJ";
  t.lead = std::string(kHow) +
           " Energies are by this paper's own table (`pat`), in which an SRAM costs in proportion to its size and sums "
           "are read and written in L0 at every step: they say nothing of other machines.";
  const auto [paper, ours] = fit_energies(s);
  t.notes.push_back(
      fmt::format("The mas column as pJ per multiply-accumulate, per score and per byte of Q, K, V and O (least "
                  "squares of the relative error): paper {:.2f}, {:.0f} and {:.0f}; ours {:.2f}, {:.0f} and {:.0f}.",
                  paper.mac, paper.score, paper.byte, ours.mac, ours.score, ours.byte));
  return t;
}

Section breakdown_table(const MasStudy& s) {
  const Names parts = s.at(s.paper.networks.front(), kMas).energy_parts();
  Names names;
  for (const std::string& part : parts) {
    names.push_back(report::upper(part) + (part == "mac" || part == "vec" ? " PEs" : ""));
  }
  Section t{
      "Figure 6: where the energy goes",
      fmt::format(
          "Ours, in 10^9 pJ (the paper shows bars without numbers). Each cell: {}, and all of them. PEs take the same "
          "under every dataflow.",
          fmt::join(names, ", ")),
      {"network"}};
  t.grid(s.paper.networks, s.paper.dataflows, [&](const std::string& network, const std::string& dataflow) {
    const job::RunResult& r = s.at(network, dataflow);
    std::string cell;
    for (const std::string& part : parts) cell += fmt::format("{:.3f}  ", r.energy_pj(part) / 1e9);
    return fmt::format("{}= {:.3f}", cell, r.total_energy_pj() / 1e9);
  });
  return t;
}

Section dram_table(const MasStudy& s) {
  Section t{
      "Section 5.4: DRAM accesses",
      "Megabytes read and written. The paper: as many writes with mas as with FLAT, as many reads but where it reloads "
      "K or V after overwriting them.",
      {"network", "read, flat", "read, mas", "mas/flat, paper", "mas/flat, ours", "written, flat", "written, mas",
       "L1 in use, mas"}};
  bool reloads = false;
  for (const std::string& network : s.paper.networks) {
    const job::RunResult &flat = s.at(network, kFlat), &mas = s.at(network, kMas);
    const auto bytes = [](const job::RunResult& r, const char* counter) {
      return static_cast<double>(r.sum("dram", counter)) * kWordBytes;
    };
    const double stated = s.paper.claim("reads", network), ours = bytes(mas, "read_words") / bytes(flat, "read_words");
    reloads = reloads || ours > 1.005;
    t.rows.push_back({network, millions(bytes(flat, "read_words")), millions(bytes(mas, "read_words")),
                      times(stated > 0 ? stated : 1), times(ours), millions(bytes(flat, "write_words")),
                      millions(bytes(mas, "write_words")),
                      report::percent(static_cast<double>(mas.max("l1", "peak_bytes")) /
                                      static_cast<double>(s.machine.l1.size_bytes))});
  }
  if (!reloads) {
    t.notes.emplace_back(
        "Ours reads every tensor once: with the row blocks it chooses, nothing is overwritten and L1 is never full "
        "(last column). Conjecture: the paper's reloads come with its tiling; its tile sizes, which it does not print, "
        "would decide it.");
  }
  return t;
}

Section reasons_table(const std::vector<Cell>& all, const std::string& quantity, const char* title) {
  Section t{title,
            "What was measured, in a sentence. \"Unexplained\": the figures of the line are all that is known; "
            "\"conjecture\": a cause that no run here shows, with what would decide it.",
            {"network", "dataflow", "ours / paper", "why"},
            2,
            true};
  for (const Cell& c : all) {
    if (c.quantity != quantity || c.why.empty()) continue;
    t.rows.push_back({c.network, c.dataflow, fmt::format("{:.2f}", c.ratio()), c.why});
  }
  return t;
}

std::string machine_text(const MachineConfig& m) {
  return fmt::format("{}: {} cores of {} x {} MACs and {} lanes, {:.3g} GHz, {:.3g} MiB L1, DRAM at {:.3g} GB/s",
                     m.name, m.clusters * m.cores, m.mac.rows, m.mac.columns, m.vec.lanes, m.clock_hz / 1e9,
                     static_cast<double>(m.l1.size_bytes) / (1 << 20), m.dram.bytes_per_second / 1e9);
}

}  // namespace

std::vector<Cell> mas_cells(const MasStudy& s) {
  std::vector<Cell> all;
  const EnergyFits fits = fit_energies(s);
  const auto calibrated = [&s](const char* table) -> CellKey {
    return [&s, table](const std::string& n, const std::string& d) {
      return config::calibrated_by(s.provenance, fmt::format("{}/{}/{}", table, n, d == kFlatLockStep ? kFlat : d));
    };
  };
  const CellKey by_cycles = calibrated("mas_table2_cycles"), by_energy = calibrated("mas_table3_energy");
  Compared cycles{s,
                  s.dataflows,
                  true,
                  [&s](const std::string& n, const std::string& d) { return s.paper_cycles(n, d); },
                  [&s](const std::string& n, const std::string& d) { return s.cycles(n, d); },
                  by_cycles};
  Compared energy{s,
                  s.dataflows,
                  true,
                  [&s](const std::string& n, const std::string& d) { return s.paper_energy_pj(n, d); },
                  [&s](const std::string& n, const std::string& d) { return s.energy_pj(n, d); },
                  by_energy};
  // flat's reason covers both of its variants.
  cycles.add_values(
      "cycles",
      [&s](const std::string& n, const std::string& d) { return d == kFlatLockStep ? "" : why_cycles(s, n, d); }, all);
  cycles.add_gains("speedup", "speedup", speedup, all);
  energy.add_values(
      "energy_pj",
      [&](const std::string& n, const std::string& d) { return d == kFlatLockStep ? "" : why_energy(s, fits, n, d); },
      all);
  energy.add_gains("saving_percent", "saving", saving, all);
  if (!s.best.empty()) {
    const Compared best{s,
                        s.paper.dataflows,
                        false,
                        cycles.paper,
                        [&s](const std::string& n, const std::string& d) {
                          return static_cast<double>(s.best.at({n, d}).result.cycles);
                        },
                        by_cycles};
    const Compared best_energy{s,
                               s.paper.dataflows,
                               false,
                               energy.paper,
                               [&s](const std::string& n, const std::string& d) {
                                 return s.best.at({n, d}).result.total_energy_pj();
                               },
                               by_energy};
    best.add_values("best_cycles", {}, all);
    best.add_gains("best_speedup", "speedup", speedup, all);
    best_energy.add_gains("best_saving_percent", "saving", saving, all);
  }
  for (const std::string& n : s.paper.networks) {
    const double stated = s.paper.claim("reads", n);
    const auto reads = [&](const std::string& d) { return static_cast<double>(s.at(n, d).sum("dram", "read_words")); };
    all.push_back({"dram_reads_over_flat", n, kMas, stated > 0 ? stated : 1, reads(kMas) / reads(kFlat), "", "", ""});
  }
  return all;
}

StudyReport mas_report(const MasStudy& s) {
  StudyReport r;
  r.heading = "MAS-Attention on " + machine_text(s.machine) + "\n";
  r.preamble = fmt::format(
      "# The MAS-Attention paper, reproduced\n\nWritten by `attnvp reproduce mas --hw {} --markdown FILE`; all numbers "
      "of ours come from runs.\nThe paper's numbers are in `configs/paper`.\n\nThe machine is {}.\nTile sizes are "
      "chosen for machine and layer, but for what a dataflow's option in the paper's setting "
      "pins\n(tileflow:row_blocks=8).\n",
      s.machine.name, machine_text(s.machine));
  r.hardware = {s.machine.name};
  r.cells = mas_cells(s);
  const std::vector<Cell>& all = r.cells;
  Section what_they_say{"What the tables say"};
  what_they_say.notes = findings(s);
  r.sections = {what_they_say, cycles_table(s, all),
                reasons_table(all, "cycles", "Table 2: why cycles differ by over 10%"), gain_table(s, all, false)};
  if (!s.best.empty()) r.sections.push_back(best_table(s, all));
  const auto rest = {bounds_table(s),
                     energy_table(s, all),
                     reasons_table(all, "energy_pj", "Table 3: why energies differ by over 10%"),
                     gain_table(s, all, true),
                     breakdown_table(s),
                     dram_table(s)};
  r.sections.insert(r.sections.end(), rest.begin(), rest.end());
  for (const auto& [place, result] : s.results) {
    if (!result.golden_checked) continue;
    ++r.checked;
    if (result.golden.passed) continue;
    r.failures.push_back(
        fmt::format("{} with {}: golden check failed: {}", place.first, place.second, result.golden.to_string()));
  }
  if (r.checked > 0) {
    r.closing = fmt::format("\ngolden: {} of {} runs passed\n", r.checked - r.failures.size(), r.checked);
  }
  return r;
}

StudyReport mas(const std::string& hardware, bool full_data, bool everything, const StudyProgress& progress) {
  const MachineConfig machine = config::load_hardware(hardware);
  config::note_machine(machine, {});
  MasStudy study = run_mas_study(machine, config::hardware_provenance(hardware), full_data, progress);
  find_best(study, progress);
  StudyReport r = mas_report(study);
  if (everything) {
    const std::vector<Limit> found = find_limits(machine, study.paper.dataflows, progress);
    r.sections.push_back(limits_section(study.paper, machine, found));
    for (const Limit& l : found) {
      r.cells.push_back({"tokens", fmt::format("{} cores", l.cores), l.dataflow,
                         study.paper.claim("tokens", l.dataflow), static_cast<double>(l.tokens), l.refused, "", ""});
    }
  }
  const Machines davinci = run_davinci(study.paper, progress), memories = run_memories(study.paper, progress);
  for (const Section& section : davinci_sections(study.paper, davinci)) r.sections.push_back(section);
  r.sections.push_back(memory_section(memories));
  if (!everything) return r;
  Section control = control_section(study.paper, machine, progress);
  if (!control.rows.empty()) r.sections.push_back(std::move(control));
  return r;
}

}  // namespace attnvp::papers
