// Search space of a dataflow: its open parameters, their values, and the combinations that fit the machine.
//
// A parameter vector has one value per parameter, in the order of declaration (firmware/runtime/dataflow.h); hal::kWord
// stands for a symbolic value such as "stream". A combination is legal if a dry run of the firmware accepts it and its
// buffers fit into L1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "platform/machine/energy.h"
#include "platform/run/job.h"
#include "platform/schedule/counter.h"

namespace attnvp::explore {

// A layer, a machine and a schedule. Parameters given by the schedule's tiling are fixed, the others are open.
struct Problem {
  MachineConfig machine;
  workload::Workload network;
  job::Schedule schedule;
  config::EnergyTable energy;
};

using ParameterVector = std::vector<std::uint32_t>;

class Space {
 public:
  // Tiles of a product do not exceed `smaller`. Throws config::ConfigError if layer, dataflow and machine are
  // incompatible.
  explicit Space(const Problem& problem, const workload::Gemm* smaller = nullptr);

  std::size_t parameters() const { return given_.size(); }
  // A few evenly spread candidates, the symbolic value last; used by strategies that enumerate combinations.
  const std::vector<std::uint32_t>& coarse_values(std::size_t i) const { return coarse_[i]; }
  std::uint64_t coarse_points() const;

  // Legal starting points: for every combination of symbolic values, a small one and several larger ones. If no tiling
  // fits with all cores, those that run on fewer cores. Throws as check_given() if there are none.
  std::vector<ParameterVector> starts();
  bool runs(const ParameterVector& vector);  // fits into L1 with buffers for all cores, or for fewer
  // Legal neighbours of a vector. A move is a step of one parameter, opposite steps of two, or a change to or from a
  // symbolic value. If a step does not fit, other parameters are reduced; the unreduced vector is also a neighbour if
  // it runs on fewer cores.
  struct SpaceNeighbour {
    std::uint32_t move = 0;  // identifies the change and its parameters
    ParameterVector vector;
  };
  std::vector<SpaceNeighbour> neighbours(const ParameterVector& vector);

  job::Schedule schedule(const ParameterVector& vector) const;

  // For a complete schedule: throws job::RunError or job::TilingError, with the reason in one sentence, if it does not
  // run.
  void check_given();

 private:
  const firmware::Parameter& parameter(std::size_t i) const { return *dataflow_.parameters[i]; }
  bool is_open(std::size_t i) const { return given_[i] == 0; }
  std::uint32_t rows_of(const ParameterVector& vector) const;
  schedule::Job job_of(const ParameterVector& vector) const;
  const schedule::Need& need(const ParameterVector& vector);
  bool fits(const ParameterVector& vector) { return need(vector).fits(job_); }  // with buffers for all cores
  // Reduces parameters that are not fixed until the vector is legal; empty if that is impossible.
  std::optional<ParameterVector> shrunk(ParameterVector vector, const std::vector<bool>& fixed);
  [[noreturn]] void refuse() const;  // why the nearest vector does not run

  std::uint32_t first_guess(std::size_t i, std::uint32_t rows) const;
  // Combinations of symbolic and named values; other open parameters stay 0. `counts`: also with all numbers of
  // parameters that have a symbolic value.
  std::vector<ParameterVector> combinations(bool counts) const;
  std::vector<ParameterVector> guesses(const ParameterVector& words) const;
  std::vector<ParameterVector> legal_starts(bool counts);

  const Problem& problem_;
  const firmware::Dataflow& dataflow_;
  schedule::Job job_, extents_;  // tile sizes are shares of `extents_`
  ParameterVector given_;
  std::vector<std::vector<std::uint32_t>> coarse_;
  std::size_t rows_index_;  // of nq; parameters(): there is none
  std::map<ParameterVector, schedule::Need> needs_;
  const std::pair<const ParameterVector, schedule::Need>* nearest_ = nullptr;  // of them, the one closest to fitting
  std::map<ParameterVector, bool> runs_;                                       // for vectors that do not fit
  bool allows_fewer_cores_ = false;
};

}  // namespace attnvp::explore
