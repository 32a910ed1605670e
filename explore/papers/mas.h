// The MAS-Attention paper: every network with every dataflow on one machine, beside what the paper prints.
#pragma once

#include <cstdint>

#include "explore/papers/papers.h"
#include "platform/config/provenance.h"

namespace attnvp::papers {

// The paper's FLAT lies between kFlat and this one.
inline const std::string kFlatLockStep = "flat:prefetch=off";
inline const std::string kMas = "mas";
// The options that only the paper's tables pin: TileFlow's eight row blocks a head. Every other dataflow is as it is.
std::string papers_setting(const std::string& dataflow);

struct MasPaper {
  Names networks, dataflows;                  // in the tables' order; the last dataflow is mas
  std::map<Place, double> cycles, energy_pj;  // Tables 2 and 3; the paper's one FLAT stands for both of ours
  std::map<Place, double> claims;             // what the text states

  double claim(const std::string& what, const std::string& of) const { return claim_of(claims, what, of); }
  Names others() const { return {dataflows.begin(), dataflows.end() - 1}; }  // without mas
};
MasPaper load_mas_paper();

// A dataflow with no option set, at the best tile sizes that a short search finds.
struct Best {
  job::Result result;
  std::uint32_t simulations = 0;
};
constexpr std::uint32_t kBestBudget = 200;  // simulations

struct MasStudy {
  MachineConfig machine;
  config::Provenances provenance;  // of the machine's values
  MasPaper paper;
  Names dataflows;                       // the paper's, and kFlatLockStep
  std::map<Place, job::Result> results;  // in the paper's setting
  std::map<Place, Best> best;            // of the paper's dataflows; may be empty

  const job::Result& at(const std::string& network, const std::string& dataflow) const {
    return results.at({network, dataflow});
  }
  double cycles(const std::string& network, const std::string& dataflow) const {
    return static_cast<double>(at(network, dataflow).cycles);
  }
  double energy_pj(const std::string& network, const std::string& dataflow) const {
    return at(network, dataflow).total_energy_pj();
  }
  double paper_cycles(const std::string& network, const std::string& dataflow) const {
    return paper.cycles.at({network, dataflow});
  }
  double paper_energy_pj(const std::string& network, const std::string& dataflow) const {
    return paper.energy_pj.at({network, dataflow});
  }
};
MasStudy run_mas_study(const MachineConfig& machine, const config::Provenances& provenance, bool full_data,
                       const Progress& progress);
void find_best(MasStudy& study, const Progress& progress);
std::vector<Cell> mas_cells(const MasStudy& study);
Report mas_report(const MasStudy& study);

// Cycles of one resource alone, all of its instances at full rate, from what a run counted.
struct Terms {
  double mac = 0;   // both matmuls
  double vec = 0;   // softmax
  double dram = 0;  // all words over the bus
  double most() const;
  const char* binding() const;  // "MAC", "VEC", "DRAM"
};
constexpr double kWordBytes = 2;  // of the DRAM counters
Terms terms(const job::Result& result, const MachineConfig& machine);

// The least cycles that a dataflow's order of work leaves with any tile sizes; of tileflow, which drains its pipeline
// for every group of heads in L1, with the run's row blocks.
struct Bound {
  double cycles = 0;
  std::string text;  // which terms it is made of: "DRAM 1.18 + DRAM 1.97 + DRAM 1.18"
};
Bound bound(const job::Result& result, const MachineConfig& machine);

// Whether the machine is the paper's as far as its mas column tells: the longest term on every network. On another one
// the differences are the machine's, and no reasons are given.
bool is_papers_machine(const MasStudy& study);

// pJ per multiply-accumulate, per score and per byte of Q, K, V and O that come nearest to the mas column of energies.
struct EnergyFit {
  double mac = 0, score = 0, byte = 0;
};
struct EnergyFits {
  EnergyFit paper, ours;
};
EnergyFits fit_energies(const MasStudy& study);

// What is known of a difference: measured quantities in a sentence; "conjecture: " and what would decide it; or
// "unexplained: " and what was measured of it. Empty unless noteworthy.
std::string why_cycles(const MasStudy& study, const std::string& network, const std::string& dataflow);
std::string why_energy(const MasStudy& study, const EnergyFits& fits, const std::string& network,
                       const std::string& dataflow);
// What the paper's tables and text say against each other or against its machine, one sentence each.
Names findings(const MasStudy& study);

// The longest sequences (section 5.5): one head, K and V in steps of tokens.
constexpr std::uint32_t kLimitStep = 64, kLimitEmb = 64;
constexpr std::uint32_t kLimitRowsPerCore = 2;  // P_1 runs beside O_0 and beside C_1, which is all a core ever holds
struct Limit {
  std::string dataflow;
  std::uint32_t cores = 0;                                  // per cluster
  std::uint32_t rows = 0;                                   // query rows of each run
  std::uint64_t tokens = 0, cycles = 0, l1_peak_bytes = 0;  // of the longest run
  std::string refused;  // what firmware said to the shortest one that did not run; empty: all ran
};
// On the machine as it is and, where it has more than one core per cluster, with one. A length counts where there are
// tiles that the machine has room for; the longest one is run.
std::vector<Limit> find_limits(const MachineConfig& machine, const Names& dataflows, const Progress& progress);
Section limits_section(const MasPaper& paper, const MachineConfig& machine, const std::vector<Limit>& limits);

// The same dataflows on several machines.
struct Machines {
  struct Machine {
    std::string what;
    std::map<Place, double> cycles;
    double speedup(const std::string& network, const std::string& dataflow) const {
      return cycles.at({network, dataflow}) / cycles.at({network, kMas});
    }
  };
  std::vector<Machine> machines;
  Names networks, dataflows;  // without mas
  std::vector<Terms> mas;     // by network, on the first machine

  double mean(const Machine& machine, const std::string& dataflow) const;
};
// Figure 5: the NPU core of a tablet, and what the values that had to be assumed decide: as it is, then with one value
// changed.
Machines run_davinci(const MasPaper& paper, const Progress& progress);
std::vector<Section> davinci_sections(const MasPaper& paper, const Machines& study);
// The paper's ideal memory beside memory as parts have it, on machines that differ in nothing else.
Machines run_memories(const MasPaper& paper, const Progress& progress);
Section memory_section(const Machines& study);
// What control costs: firmware that is free but for its bus accesses, and as a program of a RISC-V hart at several
// clocks. No rows where there is no firmware for RISC-V in this build.
Section control_section(const MasPaper& paper, const MachineConfig& machine, const Progress& progress);

}  // namespace attnvp::papers
