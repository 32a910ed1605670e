// FuseMax's experiment: four networks of batch 64, 1K to 1M tokens, on its machine and on its baseline.
#pragma once

#include "explore/papers/papers.h"

namespace attnvp::papers {

// What a layer of many identical heads, or of very long rows, counts, from a few short simulations: cycles and counts
// of a schedule in its steady state grow by the same amount for every further head, tile of keys or block of query
// rows. Tests hold such figures to whole simulations.
enum Quantity : std::uint8_t {
  kCycles,
  kMacBusy,  // cycles
  kVecBusy,
  kDramBytes,
  kL0Words,
  kMacs,
  kPeCycles,  // of all PEs, those with an operation in them
  kQuantities
};

struct Measure {
  std::array<double, kQuantities> value{};
  std::vector<std::pair<std::string, double>> parts_pj;  // energy, in the order of the module tree
  double l1_peak_bytes = 0;
  double pes = 1;  // of the array
  job::Tiling tiling;

  double operator[](Quantity q) const { return value[q]; }
  double mac_utilization() const { return value[kMacBusy] / value[kCycles]; }          // busy share
  double pe_utilization() const { return value[kPeCycles] / (pes * value[kCycles]); }  // weighted by active PEs
  double vec_utilization() const { return value[kVecBusy] / value[kCycles]; }
  double energy_pj() const;
  double energy_pj(const std::string& part) const;
};
Measure measure(const job::Result& result, const MachineConfig& machine);  // of one core

// On the line through `low` at x_low and `high` at x_high.
Measure extrapolated(const Measure& low, double x_low, const Measure& high, double x_high, double x);

// How the figures of a layer come about: what grows.
enum class Sample : std::uint8_t {
  kHeads,         // whole heads, some and twice as many
  kHeadsAndKeys,  // whole heads of queries, 1 and 2, with 1K and 2K keys: one-pass dataflows
  kQueries        // one head, some of its query rows and twice as many, with all of its keys
};
Sample sample_for(const job::Schedule& schedule, std::uint32_t tokens);
std::string sample_text(const job::Schedule& schedule, std::uint32_t tokens);

// A measure that grows with the number of heads.
struct Line {
  Measure low, high;
  double x_low = 1, x_high = 2;
  // Of a layer that is not simulated in whole heads: a third sample, and how far the line through the two is off its
  // cycles, relative.
  std::string third;
  double residual = 0;
  Measure at(double heads) const { return extrapolated(low, x_low, high, x_high, heads); }
};
// Self-attention with heads of tokens x emb. Throws job::RunError.
Line sampled(explore::TunedRunner& runner, const job::Schedule& schedule, std::uint32_t tokens, std::uint32_t emb,
             Sample sample);

struct FusemaxPoint {
  std::string network;                           // as the paper calls it
  std::uint32_t heads = 0, tokens = 0, emb = 0;  // heads of all batches
  std::map<std::string, Measure> ours;
  std::map<std::string, std::pair<std::string, double>> residual;  // of a third sample: which, cycles off, relative
  std::map<std::string, double> paper_cycles;                      // without those that it does not state
  double paper_mac_utilization = 0, paper_dram_bytes = 0;

  std::string name() const;  // "BERT 64K"
  double cycles(const std::string& dataflow) const { return ours.at(dataflow)[kCycles]; }
};

struct FusemaxStudy {
  MachineConfig machine, baseline;
  // fusemax, its steps, and what it is compared with; all but the first two on `baseline`.
  Names dataflows;
  std::vector<FusemaxPoint> points;
  std::map<Place, double> claims;
};

std::string tokens_text(std::uint32_t tokens);  // 65536 -> "64K"

// A dataflow of the paper with the options and tiles that its authors assume.
job::Schedule in_their_sense(const std::string& dataflow, const MachineConfig& machine);
// Sequences of up to `most_tokens`. Throws config::ConfigError and job::RunError.
FusemaxStudy run_fusemax_study(std::uint32_t most_tokens, const Progress& progress);

// quantity: cycles, speedup (of fusemax over the dataflow), mac_utilization, dram_bytes, energy_pj, energy_over_flat.
// network: "BERT 64K", or "mean". Each that differs by over 10% says why.
std::vector<Cell> fusemax_cells(const FusemaxStudy& study);
Report fusemax_report(const FusemaxStudy& study);

}  // namespace attnvp::papers
