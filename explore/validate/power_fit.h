// Energies of a GPU's activities from kernels with hardware counters and measured power: non-negative least squares,
// drawn to energies known beforehand where kernels do not tell activities apart. Energy of a kernel under a power
// limit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/machine.h"
#include "platform/run/job.h"

namespace attnvp::validate {

// Energy of kernels under a limit of power: a GPU at its limit lowers its clock.

// A value with the ends of its range.
struct Ranged {
  double value = 0, low = 0, high = 0;
  void add(double factor, const Ranged& other) {
    value += factor * other.value, low += factor * other.low, high += factor * other.high;
  }
};

// Time, energy by what kernels do, and energy by the time.
struct KernelSums {
  double seconds = 0;
  Ranged active_j, standing_j;
  void add(double times, const KernelSums& other) {
    seconds += times * other.seconds;
    active_j.add(times, other.active_j);
    standing_j.add(times, other.standing_j);
  }
};
KernelSums sums_of(const job::RunResult& result);

struct StepEnergy {
  double seconds = 0, joules = 0;
};

// A step that takes `active_j` besides `standing_w` for `seconds`. A GPU at its limit lowers its clock until the step's
// mean power is `limit_w` (0: none).
StepEnergy limited_step(double active_j, double standing_w, double seconds, double limit_w);

class DataRow;

// One activity: its energy is in nJ for each of its rate in 1/ns, or in W for each multiprocessor or the board.
struct PowerActivity {
  std::string name, unit;
  double prior = 0, deviation = 0;  // energy known beforehand and its standard deviation, in `unit`
  std::string source;               // of `prior`
};

// Activity of a kernel, one rate for each PowerActivity, and its measured power.
struct KernelPower {
  std::vector<double> rates;
  double watts = 0;
};

struct FittedEnergy {
  double value = 0, low = 0, high = 0;  // low, high: 95% of 1,000 resamples of the kernels
};

// The activities of a GPU; energies known beforehand are those of the machine's model, or published.
std::vector<PowerActivity> power_activities(const MachineConfig& gpu);
// Columns of a file of kernels; also those of additional columns that are used.
const std::vector<std::string>& power_columns();
// Throws config::ConfigError at the row.
KernelPower kernel_power(const DataRow& row, const MachineConfig& gpu);

// Energies that minimise the sum of squared relative errors of power, of a tenth each, and of squared deviations from
// the energies known beforehand. Energies are not negative.
std::vector<double> fit_power(const std::vector<PowerActivity>& activities, const std::vector<KernelPower>& kernels);
std::vector<FittedEnergy> fit_power_with_intervals(const std::vector<PowerActivity>& activities,
                                                   const std::vector<KernelPower>& kernels);
double watts_of(const std::vector<double>& energies, const KernelPower& kernel);

}  // namespace attnvp::validate
