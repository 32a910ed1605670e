// FuseMax study: four networks of batch 64 with 1K to 1M tokens, on the paper's machine and on its baseline.
#pragma once

#include "explore/papers/papers.h"

namespace attnvp::papers {

// Counters of a layer, extrapolated from short simulations. In the steady state of a schedule, every further head, tile
// of keys or block of query rows adds the same amount. Tests compare with whole simulations.
enum FusemaxQuantity : std::uint8_t {
  kCycles,
  kMacBusy,  // cycles
  kVecBusy,
  kDramBytes,
  kPeCycles,  // active PE cycles, summed over all PEs
  kQuantities
};

struct FusemaxMeasure {
  std::array<double, kQuantities> value{};
  std::vector<std::pair<std::string, double>> parts_pj;  // energy, in the order of the module tree
  double l1_peak_bytes = 0;
  double pes = 1;  // of the array
  job::Tiling tiling;

  double operator[](FusemaxQuantity q) const { return value[q]; }
  double mac_utilization() const { return value[kMacBusy] / value[kCycles]; }
  double pe_utilization() const { return value[kPeCycles] / (pes * value[kCycles]); }  // weighted by active PEs
  double vec_utilization() const { return value[kVecBusy] / value[kCycles]; }
  double energy_pj(const std::string& part = "") const;  // "": of all parts
};
FusemaxMeasure measure(const job::RunResult& result, const MachineConfig& machine);  // of one core

// Dimension along which a layer is extrapolated.
enum class SampleDimension : std::uint8_t {
  kHeads,         // whole heads: some, and twice as many
  kHeadsAndKeys,  // one-pass dataflows: 1 and 2 whole heads of queries, with 1K and 2K keys
  kQueries        // one head with all keys: some of its query rows, and twice as many
};
std::string sample_text(const job::Schedule& schedule, std::uint32_t tokens);

// Measure as a linear function, usually of the number of heads.
struct LinearFit {
  FusemaxMeasure low, high;
  double x_low = 1, x_high = 2;
  // If heads are not simulated whole: a third sample, and the relative error of the line at its cycles.
  std::string third = {};
  double residual = 0;
  FusemaxMeasure at(double x) const;  // linear interpolation or extrapolation
};
// Self-attention of heads with tokens x emb. Throws job::RunError.
LinearFit sampled(explore::TunedRunner& runner, const job::Schedule& schedule, std::uint32_t tokens, std::uint32_t emb,
                  SampleDimension sample);

struct FusemaxPoint {
  std::string network;                           // name used in the paper
  std::uint32_t heads = 0, tokens = 0, emb = 0;  // heads of all batches
  std::map<std::string, FusemaxMeasure> ours;
  std::map<std::string, std::pair<std::string, double>> residual;  // third sample, relative cycle error

  std::string name() const { return network + " " + tokens_text(tokens); }  // "BERT 64K"
  double cycles(const std::string& dataflow) const { return ours.at(dataflow)[kCycles]; }
};

struct FusemaxStudy {
  MachineConfig machine, baseline;
  // fusemax, its variants and the compared dataflows; all but the first two run on `baseline`.
  Names dataflows;
  std::vector<FusemaxPoint> points;
  // Stated values: "cycles" and "energy_pj" of "BERT 64K flat", others of "BERT 64K" or "mean".
  std::map<Case, double> stated;

  double paper(const std::string& quantity, const std::string& of) const { return claim_of(stated, quantity, of); }
};

// Sequence lengths up to `most_tokens`. Throws config::ConfigError and job::RunError.
FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const StudyProgress& progress);

// quantity: cycles, speedup (of fusemax over the dataflow), mac_utilization, dram_bytes, energy_pj, energy_over_flat.
// network: "BERT 64K" or "mean". Differences above 10% have a reason.
std::vector<Cell> fusemax_cells(const FusemaxStudy& study);
StudyReport fusemax_report(const FusemaxStudy& study);

}  // namespace attnvp::papers
