#include "explore/reproduce/tables.h"

namespace attnvp::reproduce {

namespace {

// How much better mas is than the dataflow: by cycles, the ratio; by energy, per cent saved.
double speedup(double other, double mas) { return other / mas; }
double saving(double other, double mas) { return 100 * (1 - mas / other); }

using Value = std::function<double(const std::string& network, const std::string& dataflow)>;
using Key = std::function<std::string(const std::string& network, const std::string& dataflow)>;

class Entries {
 public:
  explicit Entries(const Study& study) : s_(study) {}

  // A quantity of every network under every dataflow, and the mean of the rows.
  void add_values(const std::string& quantity, const std::vector<std::string>& dataflows, bool pinned,
                  const Value& paper, const Value& ours, const Key& calibrated, const Key& why) {
    for (const std::string& d : dataflows) {
      const std::string schedule = pinned ? papers_setting(d) : d;
      for (const std::string& n : s_.paper.networks) {
        all.push_back({quantity, n, d, paper(n, d), ours(n, d), why ? why(n, d) : "", schedule, calibrated(n, d)});
      }
      const auto mean = [&](const Value& of) {
        return geometric_mean(s_.paper.networks, [&](const std::string& n) { return of(n, d); });
      };
      all.push_back({quantity, "geomean", d, mean(paper), mean(ours), "", schedule, ""});
    }
  }

  // Likewise what mas gains on them; then the mean of the rows, and the paper's own where it prints one.
  void add_gains(const std::string& quantity, const std::vector<std::string>& dataflows, bool pinned, const char* claim,
                 double (*gain)(double, double), const Value& paper, const Value& ours, const Key& calibrated) {
    for (const std::string& d : dataflows) {
      if (d == kMas) continue;
      const std::string schedule = pinned ? papers_setting(d) : d;
      for (const std::string& n : s_.paper.networks) {
        const std::string key = calibrated(n, d);
        all.push_back({quantity, n, d, gain(paper(n, d), paper(n, kMas)), gain(ours(n, d), ours(n, kMas)), "", schedule,
                       key.empty() ? calibrated(n, kMas) : key});
      }
      // A saving may be nothing or less, of which there is no geometric mean: the mean ratio's saving instead.
      const auto mean_of = [&](const Value& of) {
        return gain(geometric_mean(s_.paper.networks, [&](const std::string& n) { return of(n, d) / of(n, kMas); }), 1);
      };
      all.push_back({quantity, "geomean", d, mean_of(paper), mean_of(ours), "", schedule, ""});
      const double printed = s_.paper.claim(claim, d);
      if (printed > 0) all.push_back({quantity, "geomean_printed", d, printed, mean_of(ours), "", schedule, ""});
    }
  }

  std::vector<Entry> all;

 private:
  const Study& s_;
};

}  // namespace

std::vector<Entry> entries(const Study& s) {
  Entries e(s);
  const EnergyFits fits = fit_energies(s);
  using Name = const std::string&;
  const Value paper_cycles = [&s](Name n, Name d) { return s.paper_cycles(n, d); };
  const Value paper_energy = [&s](Name n, Name d) { return s.paper_energy_pj(n, d); };
  const Value cycles = [&s](Name n, Name d) { return s.cycles(n, d); };
  const Value energy = [&s](Name n, Name d) { return s.energy_pj(n, d); };
  const Key by_cycles = [&s](Name n, Name d) { return s.calibrated_cycles(n, d); };
  const Key by_energy = [&s](Name n, Name d) { return s.calibrated_energy(n, d); };
  // flat's reason speaks of both of its variants.
  const Key cycles_reason = [&s](Name n, Name d) { return d == kFlatLockStep ? "" : why_cycles(s, n, d); };
  const Key energy_reason = [&](Name n, Name d) { return d == kFlatLockStep ? "" : why_energy(s, fits, n, d); };

  e.add_values("cycles", s.dataflows, true, paper_cycles, cycles, by_cycles, cycles_reason);
  e.add_gains("speedup", s.dataflows, true, "speedup", speedup, paper_cycles, cycles, by_cycles);
  e.add_values("energy_pj", s.dataflows, true, paper_energy, energy, by_energy, energy_reason);
  e.add_gains("saving_percent", s.dataflows, true, "saving", saving, paper_energy, energy, by_energy);
  if (!s.best.empty()) {
    const Value best_cycles = [&s](Name n, Name d) { return static_cast<double>(s.best.at({n, d}).result.cycles); };
    const Value best_energy = [&s](Name n, Name d) { return s.best.at({n, d}).result.total_energy_pj(); };
    const std::vector<std::string>& dataflows = s.paper.dataflows;
    e.add_values("best_cycles", dataflows, false, paper_cycles, best_cycles, by_cycles, {});
    e.add_gains("best_speedup", dataflows, false, "speedup", speedup, paper_cycles, best_cycles, by_cycles);
    e.add_gains("best_saving_percent", dataflows, false, "saving", saving, paper_energy, best_energy, by_energy);
  }
  for (const std::string& n : s.paper.networks) {
    const double stated = s.paper.claim("reads", n);
    const auto reads = [&](const std::string& dataflow) {
      return static_cast<double>(s.at(n, dataflow).sum("dram", "read_words"));
    };
    e.all.push_back({"dram_reads_over_flat", n, kMas, stated > 0 ? stated : 1, reads(kMas) / reads(kFlat), "", "", ""});
  }
  return e.all;
}

}  // namespace attnvp::reproduce
