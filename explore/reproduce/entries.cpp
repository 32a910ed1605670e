#include "explore/reproduce/tables.h"

namespace attnvp::reproduce {

namespace {

// How much better mas is than the dataflow: by cycles, the ratio; by energy, per cent saved.
double speedup(double other, double mas) { return other / mas; }
double saving(double other, double mas) { return 100 * (1 - mas / other); }

// `of` is the quantity for a network; then the rows' geometric mean, and the paper's own where it prints one.
void add_gains(std::vector<Entry>& all, const Study& s, const char* quantity, const char* claim,
               double (*gain)(double, double), double (Study::*paper)(const std::string&, const std::string&) const,
               double (Study::*ours)(const std::string&, const std::string&) const) {
  for (const std::string& dataflow : s.dataflows) {
    if (dataflow == kMas) continue;
    const auto of_paper = [&](const std::string& n) { return gain((s.*paper)(n, dataflow), (s.*paper)(n, kMas)); };
    const auto of_ours = [&](const std::string& n) { return gain((s.*ours)(n, dataflow), (s.*ours)(n, kMas)); };
    for (const std::string& n : s.paper.networks) all.push_back({quantity, n, dataflow, of_paper(n), of_ours(n), {}});
    // A saving may be nothing or less, of which there is no geometric mean: the mean ratio's saving instead.
    const auto mean_of = [&](double (Study::*energy)(const std::string&, const std::string&) const) {
      return gain(geometric_mean(s.paper.networks,
                                 [&](const std::string& n) { return (s.*energy)(n, dataflow) / (s.*energy)(n, kMas); }),
                  1);
    };
    all.push_back({quantity, "geomean", dataflow, mean_of(paper), mean_of(ours), {}});
    const double printed = s.paper.claim(claim, dataflow);
    if (printed > 0) all.push_back({quantity, "geomean_printed", dataflow, printed, mean_of(ours), {}});
  }
}

}  // namespace

std::vector<Entry> entries(const Study& s) {
  std::vector<Entry> all;
  const EnergyFits fits = fit_energies(s);
  const auto mean = [&s](const std::string& dataflow, auto member) {
    return geometric_mean(s.paper.networks, [&](const std::string& n) { return (s.*member)(n, dataflow); });
  };
  for (const std::string& dataflow : s.dataflows) {
    const bool variant = dataflow == kFlatLockStep;  // flat's reason speaks of both
    for (const std::string& n : s.paper.networks) {
      all.push_back({"cycles", n, dataflow, s.paper_cycles(n, dataflow), s.cycles(n, dataflow),
                     variant ? "" : why_cycles(s, n, dataflow)});
    }
    all.push_back(
        {"cycles", "geomean", dataflow, mean(dataflow, &Study::paper_cycles), mean(dataflow, &Study::cycles), {}});
  }
  add_gains(all, s, "speedup", "speedup", speedup, &Study::paper_cycles, &Study::cycles);
  for (const std::string& dataflow : s.dataflows) {
    const bool variant = dataflow == kFlatLockStep;
    for (const std::string& n : s.paper.networks) {
      all.push_back({"energy_pj", n, dataflow, s.paper_energy_pj(n, dataflow), s.energy_pj(n, dataflow),
                     variant ? "" : why_energy(s, fits, n, dataflow)});
    }
    all.push_back({"energy_pj",
                   "geomean",
                   dataflow,
                   mean(dataflow, &Study::paper_energy_pj),
                   mean(dataflow, &Study::energy_pj),
                   {}});
  }
  add_gains(all, s, "saving_percent", "saving", saving, &Study::paper_energy_pj, &Study::energy_pj);
  for (const std::string& n : s.paper.networks) {
    const double stated = s.paper.claim("reads", n);
    const auto reads = [&](const std::string& dataflow) {
      return static_cast<double>(s.at(n, dataflow).sum("dram", "read_words"));
    };
    all.push_back({"dram_reads_over_flat", n, kMas, stated > 0 ? stated : 1, reads(kMas) / reads(kFlat), {}});
  }
  return all;
}

}  // namespace attnvp::reproduce
