// MAS-Attention study: every network under every dataflow on one machine, compared with the paper's values.
#pragma once

#include "explore/papers/papers.h"
#include "platform/machine/provenance.h"

namespace attnvp::papers {

// Variant of FLAT without overlap; the paper's FLAT lies between it and kFlat.
inline const std::string kFlatLockStep = "flat:prefetch=off";
inline const std::string kMas = "mas";
// Options of the paper's tables: eight row blocks per head for TileFlow. Other dataflows are unchanged.
std::string papers_setting(const std::string& dataflow);

struct MasPaper {
  Names networks, dataflows;                 // in table order; the last dataflow is mas
  std::map<Case, double> cycles, energy_pj;  // Tables 2 and 3; the paper's single FLAT is compared with both variants
  std::map<Case, double> claims;             // values stated in the text

  double claim(const std::string& what, const std::string& of) const { return claim_of(claims, what, of); }
  Names others() const { return {dataflows.begin(), dataflows.end() - 1}; }  // without mas
};
// Advantage of mas over the dataflow: ratio of cycles; energy saved in per cent.
inline double speedup(double other, double mas) { return other / mas; }
inline double saving(double other, double mas) { return 100 * (1 - mas / other); }
MasPaper load_mas_paper();

// A dataflow with default options and the best tile sizes of a short search.
struct Best {
  job::RunResult result;
  std::uint32_t simulations = 0;
};
constexpr std::uint32_t kBestBudget = 200;  // simulations

struct MasStudy {
  MachineConfig machine;
  config::Provenances provenance;  // of the machine's values
  MasPaper paper;
  Names dataflows;                         // the paper's, and kFlatLockStep
  std::map<Case, job::RunResult> results;  // in the paper's setting
  std::map<Case, Best> best;               // for the paper's dataflows; may be empty

  const job::RunResult& at(const Case& c) const { return results.at(c); }
  double cycles(const Case& c) const { return static_cast<double>(at(c).cycles); }
  double energy_pj(const Case& c) const { return at(c).total_energy_pj(); }
  double paper_cycles(const Case& c) const { return paper.cycles.at(c); }
  double paper_energy_pj(const Case& c) const { return paper.energy_pj.at(c); }
};
MasStudy run_mas_study(const MachineConfig& machine, const config::Provenances& provenance, bool full_data,
                       const StudyProgress& progress);
void find_best(MasStudy& study, const StudyProgress& progress);
std::vector<Cell> mas_cells(const MasStudy& study);
StudyReport mas_report(const MasStudy& study);

// Cycles of a single resource with all instances at full rate, from the counters of a run.
struct Terms {
  double mac = 0;   // both matmuls
  double vec = 0;   // softmax
  double dram = 0;  // all words over the bus
  double most() const;
  const char* binding() const;  // "MAC", "VEC", "DRAM"
};
constexpr double kWordBytes = 2;  // of the DRAM counters
Terms terms(const job::RunResult& result, const MachineConfig& machine);

// Lower bound in cycles for a dataflow's order of operations with any tile sizes. For tileflow, whose pipeline drains
// per group of heads in L1, with the run's row blocks.
struct OrderBound {
  double cycles = 0;
  std::string text;  // sum of terms: "DRAM 1.18 + DRAM 1.97 + DRAM 1.18"
};
OrderBound bound(const job::RunResult& result, const MachineConfig& machine);

// True if the mas column agrees with the machine: the longest term on every network. Otherwise no reasons are given,
// because differences are due to the machine.
bool is_papers_machine(const MasStudy& study);

// Fit of pJ per multiply-accumulate, per score and per byte of Q, K, V and O to the energies of the mas column.
struct EnergyFit {
  double mac = 0, score = 0, byte = 0;
};
struct EnergyFits {
  EnergyFit paper, ours;
};
EnergyFits fit_energies(const MasStudy& study);

// Explanation of a difference: a sentence with measured quantities, or one that begins with "conjecture: " or
// "unexplained: ". Empty if the difference is not noteworthy, and for kFlatLockStep, which flat's reason covers.
std::string why_cycles(const MasStudy& study, const Case& c);
std::string why_energy(const MasStudy& study, const Case& c);
// Inconsistencies within the paper's tables and text or with its machine, one sentence each.
Section findings(const MasStudy& study);

// Longest sequences (section 5.5): one head, K and V in steps of kLimitStep tokens.
constexpr std::uint32_t kLimitStep = 64, kLimitEmb = 64;
constexpr std::uint32_t kLimitRowsPerCore = 2;  // P_1 runs beside O_0 and C_1, the maximum per core
struct Limit {
  std::string dataflow;
  std::uint32_t cores = 0;                      // per cluster
  std::uint64_t tokens = 0, l1_peak_bytes = 0;  // of the longest run
  std::string refused;                          // firmware's message for the shortest refused run; empty: all ran
};
// Evaluates the machine and, if a cluster has several cores, its single-core variant. A length is valid if a tiling
// fits; the longest one is run.
std::vector<Limit> find_limits(const MachineConfig& machine, const Names& dataflows, const StudyProgress& progress);
Section limits_section(const MasPaper& paper, const MachineConfig& machine, const std::vector<Limit>& limits);

// Results of the same dataflows on several machines.
struct Machines {
  struct StudyMachine {
    std::string what;
    std::map<Case, double> cycles;
    double speedup(const Case& c) const { return cycles.at(c) / cycles.at({c.first, kMas}); }
  };
  std::vector<StudyMachine> machines;
  Names networks, dataflows;  // without mas
  // Number of networks on the first machine by the resource that binds mas.
  std::map<std::string, int> mas_binding = {};

  double mean(const StudyMachine& machine, const std::string& dataflow) const;
};
// Figure 5: NPU core of a tablet, and the sensitivity to assumed values: the machine itself, then with one value
// changed.
Machines run_davinci(const MasPaper& paper, const StudyProgress& progress);
std::vector<Section> davinci_sections(const MasPaper& paper, const Machines& study);
// The paper's ideal memory and real memories, on machines that are otherwise equal.
Section memory_section(const MasPaper& paper, const StudyProgress& progress);
// Cost of control: native firmware, which takes time only for bus accesses, and RISC-V firmware at several clocks. No
// rows if the build has no RISC-V firmware.
Section control_section(const MasPaper& paper, const MachineConfig& machine, const StudyProgress& progress);

}  // namespace attnvp::papers
