#include "explore/papers/mas.h"
#include "platform/machine/hardware.h"
#include "platform/report/table.h"

namespace attnvp::papers {

namespace {

// A table of the paper: values, and what mas gains over the other dataflows.
struct PaperTable {
  std::string values, gains, claim, file;  // quantities of the cells; claim of the mean gains; file of the values
  double (*gain)(double other, double mas);
  double (*ours)(const job::RunResult&);
  std::map<Case, double> MasPaper::*paper;
  std::string (*why)(const MasStudy&, const Case&);
};
double cycles_of(const job::RunResult& r) { return static_cast<double>(r.cycles); }
double energy_of(const job::RunResult& r) { return r.total_energy_pj(); }
const PaperTable kTable2 = {"cycles", "speedup", "speedup",         "mas_table2_cycles",
                            speedup,  cycles_of, &MasPaper::cycles, why_cycles};
const PaperTable kTable3 = {"energy_pj", "saving_percent",     "saving",  "mas_table3_energy", saving,
                            energy_of,   &MasPaper::energy_pj, why_energy};

// Adds the cells of every network under every dataflow in the paper's setting, or with the best tilings. First the
// values, unless they are left out, and the means of the rows; then the gains of mas, their means, and the paper's.
void add_cells(const MasStudy& s, const PaperTable& table, bool best, bool values, std::vector<Cell>& all) {
  const Names &networks = s.paper.networks, &dataflows = best ? s.paper.dataflows : s.dataflows;
  const auto paper = [&](const Case& c) { return (s.paper.*table.paper).at(c); };
  const auto ours = [&](const Case& c) { return table.ours(best ? s.best.at(c).result : s.at(c)); };
  const auto calibrated = [&](const Case& c) {
    const std::string& column = c.second == kFlatLockStep ? kFlat : c.second;
    return config::calibrated_by(s.provenance, fmt::format("{}/{}/{}", table.file, c.first, column));
  };
  const auto add = [&](const std::string& quantity, const Case& c, double of_paper, double of_ours,
                       const std::string& reason = "", const std::string& key = "") {
    const auto& [network, dataflow] = c;
    all.push_back({(best ? "best_" : "") + quantity, network, dataflow, of_paper, of_ours, reason,
                   best ? dataflow : papers_setting(dataflow), key});
  };
  for (const std::string& d : values ? dataflows : Names()) {
    const std::vector<Case> rows = column(networks, d);
    for (const Case& c : rows) add(table.values, c, paper(c), ours(c), best ? "" : table.why(s, c), calibrated(c));
    add(table.values, {"geomean", d}, geometric_mean(rows, paper), geometric_mean(rows, ours));
  }
  for (const std::string& d : dataflows) {
    if (d == kMas) continue;
    // Savings may be zero or negative, so the saving of the geometric mean ratio is used instead of their mean.
    const std::vector<Case> rows = column(networks, d);
    const auto mean = [&](const auto& of) {
      return table.gain(geometric_mean(rows, [&](const Case& c) { return of(c) / of({c.first, kMas}); }), 1);
    };
    for (const Case& c : rows) {
      const Case mas(c.first, kMas);
      const std::string key = calibrated(c);
      add(table.gains, c, table.gain(paper(c), paper(mas)), table.gain(ours(c), ours(mas)), "",
          key.empty() ? calibrated(mas) : key);
    }
    add(table.gains, {"geomean", d}, mean(paper), mean(ours));
    const double printed = s.paper.claim(table.claim, d);
    if (printed > 0) add(table.gains, {"geomean_printed", d}, printed, mean(ours));
  }
}

std::string millions(double x) { return fmt::format("{:.3f}", x / 1e6); }

// Networks down, dataflows across.
Section fill(const MasStudy& s, Section section, const std::map<Case, Cell>& cells, const Names& dataflows,
             const CellText& form) {
  Names networks = s.paper.networks;
  networks.emplace_back("geomean");
  if (cells.count({"geomean_printed", dataflows.front()}) > 0) networks.emplace_back("geomean_printed");
  section.columns = {"network"};
  section.pivot(cells, networks, dataflows, form);
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

constexpr CellForm with_ratio(double unit) { return {"{:.3f}", "{:>6.3f}", "{:.2f}", unit}; }
constexpr char kHow[] = "Each cell: the paper's, ours, ours / paper; * where they differ by over 10%.";

Section cycles_table(const MasStudy& s, const std::vector<Cell>& all) {
  return fill(s,
              {"Table 2: cycles, in millions",
               std::string(kHow) +
                   " The paper's FLAT stands beside both of ours: I/O behind computation (flat), and in turn with it "
                   "(flat:prefetch=off); the reason for flat speaks of both. TileFlow is held to the paper's eight row "
                   "blocks a head, a head at a time (tileflow:row_blocks=8); all other tile sizes are chosen."},
              cells_of(all, "cycles"), s.dataflows, with_ratio(1e6));
}

Section gain_table(const MasStudy& s, const std::vector<Cell>& all, bool energy) {
  const Names others{s.dataflows.begin(), s.dataflows.end() - 1};
  const std::string lead = "Each cell: the paper's, ours.";
  if (!energy) return fill(s, {"Table 2: speed-up of mas", lead}, cells_of(all, "speedup"), others, kSpeedups);
  return fill(s, {"Table 3: energy that mas saves", lead + " Geomean: the saving of the mean ratio."},
              cells_of(all, "saving_percent"), others, CellForm{"{:.1f}%", "{:>4.1f}%"});
}

// Cycles and gain of mas in one cell.
Section best_table(const MasStudy& s, const std::vector<Cell>& all) {
  const std::map<Case, Cell> speedups = cells_of(all, "best_speedup"), savings = cells_of(all, "best_saving_percent");
  std::uint32_t simulations = 0;
  for (const auto& [place, best] : s.best) simulations += best.simulations;
  const std::string lead = fmt::format(
      "No option is set, TileFlow's row blocks neither. From the tile sizes that a run chooses by itself on, one "
      "parameter after the other takes the next value as long as the simulation gets faster, in at most {} simulations "
      "({} in all). Each cell: ours in millions of cycles, how many times mas at its best is faster, the energy that "
      "it saves.",
      kBestBudget, simulations);
  Section t =
      fill(s, {"Each dataflow at its best", lead}, cells_of(all, "best_cycles"), s.paper.dataflows, [&](const Cell& c) {
        const auto gain = speedups.find({c.network, c.dataflow});
        if (gain == speedups.end()) return millions(c.ours);
        return fmt::format("{}  {}  {:>4.1f}%", millions(c.ours), times(gain->second.ours),
                           savings.at({c.network, c.dataflow}).ours);
      });
  t.notes.clear();  // these cells have no values of the paper
  return t;
}

Section bounds_table(const MasStudy& s) {
  Section t{
      "What binds",
      "Millions of cycles that each resource needs on its own, from the counts of mas and the machine's rates: MAC for "
      "both matmuls, VEC for softmax, DRAM for Q, K, V and O.",
      {"network", "MAC", "VEC", "DRAM", "longest", "binds", "mas, paper", "mas, ours", "ours / longest"}};
  for (const std::string& n : s.paper.networks) {
    const Terms x = terms(s.at({n, kMas}), s.machine);
    const double ours = s.cycles({n, kMas});
    t.rows.push_back({n, millions(x.mac), millions(x.vec), millions(x.dram), millions(x.most()), x.binding(),
                      millions(s.paper_cycles({n, kMas})), millions(ours), fmt::format("{:.4f}", ours / x.most())});
  }
  return t;
}

Section energy_table(const MasStudy& s, const std::vector<Cell>& all) {
  Section t = fill(s,
                   {"Table 3: energy, in 10^9 pJ",
                    std::string(kHow) +
                        " Energies are by this paper's own table (`pat`), in which an SRAM costs in proportion to its "
                        "size and sums are read and written in L0 at every step: they say nothing of other machines."},
                   cells_of(all, "energy_pj"), s.dataflows, with_ratio(1e9));
  const auto [paper, ours] = fit_energies(s);
  t.notes.push_back(
      fmt::format("The mas column as pJ per multiply-accumulate, per score and per byte of Q, K, V and O (least "
                  "squares of the relative error): paper {:.2f}, {:.0f} and {:.0f}; ours {:.2f}, {:.0f} and {:.0f}.",
                  paper.mac, paper.score, paper.byte, ours.mac, ours.score, ours.byte));
  return t;
}

Section breakdown_table(const MasStudy& s) {
  const Names parts = s.at({s.paper.networks.front(), kMas}).energy_parts();
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
  t.grid(s.paper.networks, s.paper.dataflows, [&](const Case& c) {
    const job::RunResult& r = s.at(c);
    std::string cell;
    for (const std::string& part : parts) cell += fmt::format("{:.3f}  ", r.energy_pj(part) / 1e9);
    return fmt::format("{}= {:.3f}", cell, r.total_energy_pj() / 1e9);
  });
  return t;
}

Section dram_table(const MasStudy& s, const std::vector<Cell>& all) {
  Section t{
      "Section 5.4: DRAM accesses",
      "Megabytes read and written. The paper: as many writes with mas as with FLAT, as many reads but where it reloads "
      "K or V after overwriting them.",
      {"network", "read, flat", "read, mas", "mas/flat, paper", "mas/flat, ours", "written, flat", "written, mas",
       "L1 in use, mas"}};
  const std::map<Case, Cell> reads = cells_of(all, "dram_reads_over_flat");
  for (const std::string& network : s.paper.networks) {
    const job::RunResult &flat = s.at({network, kFlat}), &mas = s.at({network, kMas});
    const auto megabytes = [](const job::RunResult& r, const char* counter) {
      return millions(static_cast<double>(r.sum("dram", counter)) * kWordBytes);
    };
    const Cell& c = reads.at({network, kMas});
    t.rows.push_back({network, megabytes(flat, "read_words"), megabytes(mas, "read_words"), times(c.paper),
                      times(c.ours), megabytes(flat, "write_words"), megabytes(mas, "write_words"),
                      report::percent(static_cast<double>(mas.max("l1", "peak_bytes")) /
                                      static_cast<double>(s.machine.l1.size_bytes))});
  }
  if (std::none_of(reads.begin(), reads.end(), [](const auto& read) { return read.second.ours > 1.005; })) {
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
  add_cells(s, kTable2, false, true, all);
  add_cells(s, kTable3, false, true, all);
  if (!s.best.empty()) {
    add_cells(s, kTable2, true, true, all);
    add_cells(s, kTable3, true, false, all);
  }
  for (const std::string& n : s.paper.networks) {
    const double stated = s.paper.claim("reads", n);
    const auto reads = [&](const Case& c) { return static_cast<double>(s.at(c).sum("dram", "read_words")); };
    all.push_back({"dram_reads_over_flat", n, kMas, stated > 0 ? stated : 1, reads({n, kMas}) / reads({n, kFlat})});
  }
  return all;
}

StudyReport mas_report(const MasStudy& s) {
  StudyReport r;
  r.heading = "MAS-Attention on " + machine_text(s.machine) + "\n";
  r.title = "The MAS-Attention paper, reproduced";
  r.introduction = {
      fmt::format("Written by `attnvp reproduce mas --hw {} --markdown FILE`; all numbers of ours come from runs. The "
                  "paper's numbers are in `configs/paper`.",
                  s.machine.name),
      fmt::format("The machine is {}. Tile sizes are chosen for machine and layer, but for what a dataflow's option in "
                  "the paper's setting pins (tileflow:row_blocks=8).",
                  machine_text(s.machine))};
  r.hardware = {s.machine.name};
  r.cells = mas_cells(s);
  const std::vector<Cell>& all = r.cells;
  r.sections = {findings(s), cycles_table(s, all),
                reasons_table(all, "cycles", "Table 2: why cycles differ by over 10%"), gain_table(s, all, false)};
  if (!s.best.empty()) r.sections.push_back(best_table(s, all));
  r.sections.insert(r.sections.end(), {bounds_table(s), energy_table(s, all),
                                       reasons_table(all, "energy_pj", "Table 3: why energies differ by over 10%"),
                                       gain_table(s, all, true), breakdown_table(s), dram_table(s, all)});
  for (const auto& [place, result] : s.results) {
    if (result.golden_checked) r.check(fmt::format("{} with {}", place.first, place.second), result.golden);
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
                         study.paper.claim("tokens", l.dataflow), static_cast<double>(l.tokens), l.refused});
    }
  }
  const std::vector<Section> davinci = davinci_sections(study.paper, run_davinci(study.paper, progress));
  r.sections.insert(r.sections.end(), davinci.begin(), davinci.end());
  r.sections.push_back(memory_section(study.paper, progress));
  if (!everything) return r;
  Section control = control_section(study.paper, machine, progress);
  if (!control.rows.empty()) r.sections.push_back(std::move(control));
  return r;
}

}  // namespace attnvp::papers
