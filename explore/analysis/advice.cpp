#include "explore/analysis/advice.h"

#include <cmath>

#include "platform/machine/energy/machine_model.h"
#include "platform/machine/error.h"
#include "platform/machine/hardware.h"
#include "platform/run/results/accounting.h"

namespace attnvp::explore {

namespace {

constexpr double kGain = 1.01;                    // least speedup of useful advice
constexpr std::uint64_t kMostEvents = 3'000'000;  // of a job that is evaluated

double area_mm2(const MachineConfig& machine, const config::EnergyTable& energy) {
  return energy::MachineModel(machine, energy::technology_of(energy)).area_mm2();
}

// Empty if there is no such machine, or if the job does not run on it.
std::optional<job::Advice::Measured> measured_by_run(const job::Advice& advice, const job::RunResult& r,
                                                     const MachineConfig& machine, const config::EnergyTable& energy,
                                                     const TuningOptions& options) {
  MachineConfig changed = machine;
  job::Advice::Measured measured;
  try {
    for (const auto& [key, value] : advice.settings) config::apply_setting(changed, {key, value, {"advice"}});
    config::finish_machine(changed, {"advice"});
    job::Schedule schedule = r.schedule;
    if (!advice.same_tiling) {
      schedule.tiling = {};
      schedule = tune({changed, r.network, schedule, energy}, options);
      if (!(schedule.tiling == r.schedule.tiling)) measured.tiling = job::tiling_line(schedule.tiling);
    }
    Evaluator evaluator({changed, r.network, schedule, energy}, Objective::kCycles);
    const double cycles = evaluator.evaluate(schedule).cycles;
    if (!(cycles > 0) || !std::isfinite(cycles)) return std::nullopt;
    const double seconds = cycles / changed.clock_hz, before = static_cast<double>(r.cycles) / machine.clock_hz;
    measured.speedup = before / seconds;
    measured.area_mm2 = area_mm2(changed, energy) - area_mm2(machine, energy);
    return measured;
  } catch (const job::RunError&) {
  } catch (const config::ConfigError&) {
  }
  return std::nullopt;
}

}  // namespace

void try_advice(job::RunResult& result, const MachineConfig& machine, const config::EnergyTable& energy,
                const TuningOptions& options) {
  result.bound.advice = job::advice_for(result, machine);
  if (result.events > kMostEvents) return;
  std::vector<job::Advice>& all = result.bound.advice;
  result.bound.advice_tried = true;
  auto first = all.begin();
  for (; first != all.end(); ++first) {
    first->tried = measured_by_run(*first, result, machine, energy, options);
    if (first->tried && first->tried->speedup >= kGain) break;
  }
  all.erase(all.begin(), first);
}

}  // namespace attnvp::explore
