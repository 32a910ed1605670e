// What a layer of many identical heads, or of very long rows, counts, from a few short simulations: cycles and counts
// of a schedule in its steady state grow by the same amount for every further head, tile of keys or block of query
// rows. Tests hold such figures to whole simulations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "explore/tuning/tuned_runner.h"
#include "platform/job/job.h"

namespace attnvp::reproduce {

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

}  // namespace attnvp::reproduce
