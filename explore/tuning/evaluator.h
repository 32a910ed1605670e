// What a schedule costs: a timing run of the platform, of the whole job or of a smaller one (sample.h). Costs are
// compared only where they were found in the same way. Results are remembered by schedule and by the digest of the
// command stream, as different schedules may have the same commands.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explore/tuning/sample.h"
#include "platform/config/energy.h"
#include "platform/job/job.h"

namespace attnvp::explore {

enum class Objective : std::uint8_t { kCycles, kEnergy, kEdp };  // EDP: energy times delay, J s
const char* name_of(Objective objective);                        // "cycles", "energy", "edp"
const char* unit_of(Objective objective);                        // "cycles", "pJ", "J s"

// The second number decides between equals: energy for cycles, cycles otherwise.
struct Cost {
  double first = std::numeric_limits<double>::infinity();  // cycles, pJ or J s; infinite: the run failed
  double second = std::numeric_limits<double>::infinity();
  bool operator<(const Cost& o) const { return first != o.first ? first < o.first : second < o.second; }
};
Cost cost_of(Objective objective, double cycles, double energy_pj, double clock_hz);

struct Evaluation {
  job::Schedule schedule;  // complete
  Cost cost;
  double cycles = 0, energy_pj = 0;
  double demand = 0;  // cycles that its commands need at least, counted
};

class Evaluator {
 public:
  // `sample`: partial evaluations. One at a time is alive, and runs with no other job::Runner made after it.
  Evaluator(const MachineConfig& machine, const config::Network& network, const config::EnergyTable& energy,
            Objective objective, std::optional<Sample> sample);
  ~Evaluator();

  // Of a complete schedule. A schedule that the firmware refuses, or that never ends, costs infinitely much. So does
  // one of more cycles than `limit`, unless a run was near its end by then: it is not run where its commands, counted
  // (platform/schedule/demand.h), need more, and otherwise stopped.
  const Evaluation& evaluate(const job::Schedule& schedule, double limit = std::numeric_limits<double>::infinity());
  bool knows(const job::Schedule& schedule) const { return known_.count(key(schedule)) != 0; }
  // The same for several, in processes side by side; no result depends on how many.
  void evaluate_ahead(const std::vector<job::Schedule>& schedules, double limit, unsigned jobs);

  bool is_partial() const { return sample_.has_value(); }
  double seconds() const { return seconds_; }  // of wall time in simulations
  std::uint64_t runs() const { return runs_; }

 private:
  struct Totals {
    double cycles = 0, energy_pj = 0, demand = 0;
  };
  static std::string key(const job::Schedule& schedule);
  std::optional<Totals> run(const config::Network& network, const job::Schedule& schedule, double limit);
  std::optional<Totals> simulate(const job::Schedule& schedule, double limit);
  std::optional<Totals> run_or_recall(const config::Network& network, const job::Schedule& schedule, double limit);
  const Evaluation& remember(const job::Schedule& schedule, const std::optional<Totals>& totals);

  const MachineConfig machine_;
  const config::Network network_;
  const config::EnergyTable energy_;
  const Objective objective_;
  const std::optional<Sample> sample_;
  std::unique_ptr<job::Runner> runner_;
  std::map<std::string, Evaluation> known_;
  Evaluation beyond_;                                         // what costs more than the limit
  std::map<std::uint64_t, std::optional<Totals>> by_stream_;  // digest of the commands to the run's totals
  double seconds_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace attnvp::explore
