// The parameters that a dataflow leaves open, the values they can take, and which combinations fit the machine.
//
// A parameter vector has one value for each parameter of the dataflow, in the order of its declaration
// (firmware/runtime/dataflow.h); hal::kWord stands for a parameter's word, such as "stream". A combination is legal
// when a dry run of the firmware, which makes all buffers and does no work, accepts it and its buffers fit into L1.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "platform/config/energy.h"
#include "platform/job/job.h"
#include "platform/schedule/dry_run.h"

namespace attnvp::explore {

// A layer on a machine under a dataflow; what the schedule's tiling gives is kept, the rest is open.
struct Problem {
  MachineConfig machine;
  config::Network network;
  job::Schedule schedule;
  config::EnergyTable energy;
};

using ParameterVector = std::vector<std::uint32_t>;

class Space {
 public:
  // `most_rows`, `most_columns`: of a tile of scores or of a product. Throws config::ConfigError where layer, dataflow
  // and machine do not go together.
  explicit Space(const Problem& problem, std::uint32_t most_rows = UINT32_MAX, std::uint32_t most_columns = UINT32_MAX);

  std::size_t parameters() const { return given_.size(); }
  const firmware::Parameter& parameter(std::size_t i) const { return *dataflow_.parameters[i]; }
  bool is_open(std::size_t i) const { return given_[i] == 0; }
  bool any_open() const;

  // Numbers worth trying beside the other values, ascending, without the word.
  std::vector<std::uint32_t> values(std::size_t i, const ParameterVector& at) const;
  // A few of them, spread evenly, and the word last: what strategies that list all combinations look at.
  const std::vector<std::uint32_t>& coarse_values(std::size_t i) const { return coarse_[i]; }
  std::uint64_t coarse_points() const;

  // One modest and some larger starting points for every combination of words, legal ones only. Where no tiles leave
  // L1 to the buffers of all cores, those that run on fewer.
  std::vector<ParameterVector> starts();
  // Takes smaller values of parameters that are not fixed until the vector is legal. False: there is none.
  bool shrink(ParameterVector& vector, const std::vector<bool>& fixed);
  bool fits(const ParameterVector& vector);  // into L1 with buffers for all cores
  bool runs(const ParameterVector& vector);  // likewise, or on fewer cores
  // The legal vectors next to one. A move is a step up or down of one parameter, where others give way if it does not
  // fit, and without that where it runs on fewer cores; a step up of one for a step down of another; a change to or from a word.
  struct Neighbour {
    std::uint32_t move = 0;  // the same number for the same change of the same parameters
    ParameterVector vector;
  };
  std::vector<Neighbour> neighbours(const ParameterVector& vector);

  job::Tiling tiling(const ParameterVector& vector) const;
  ParameterVector vector(const job::Tiling& tiling) const;
  const Problem& problem() const { return problem_; }

  // One sentence: why nothing that was tried fits. Throws job::RunError or job::TilingError.
  [[noreturn]] void refuse() const;

 private:
  const schedule::Need& need(const ParameterVector& vector);
  std::vector<bool> fixed(const ParameterVector& vector) const;
  std::uint32_t first_guess(std::size_t i, std::uint32_t rows) const;
  std::uint32_t rows_of(const ParameterVector& vector) const;
  ParameterVector guess(const ParameterVector& words) const;
  std::vector<ParameterVector> legal_starts();
  ParameterVector shared_evenly(ParameterVector vector, const std::vector<bool>& keep) const;
  // `counts`: also every number of parameters that have a word.
  void each_word(std::size_t i, ParameterVector words, bool counts,
                 const std::function<void(const ParameterVector&)>& visit) const;

  const Problem& problem_;
  const firmware::Dataflow& dataflow_;
  schedule::Job job_, extents_;  // of which tile sizes are shares
  ParameterVector given_;
  std::vector<std::vector<std::uint32_t>> coarse_;
  int rows_index_ = -1;  // of nq
  std::map<ParameterVector, schedule::Need> needs_;
  std::map<ParameterVector, bool> runs_;  // of those that do not fit
  bool allows_fewer_cores_ = false;
  schedule::Need nearest_;  // of all that were asked for, the one that is closest to fitting
  ParameterVector nearest_vector_;
};

}  // namespace attnvp::explore
