#include "explore/tuning/advice.h"

#include <cmath>

#include "platform/config/error.h"
#include "platform/config/hardware.h"
#include "platform/energy/machine_model.h"
#include "platform/job/advice.h"

namespace attnvp::explore {

namespace {

constexpr double kGain = 1.01;  // of the run's cycles, from which on advice is of use
constexpr std::uint64_t kMostCommands = 300'000;

std::uint64_t commands_of(const job::Result& r) {
  std::uint64_t commands = 0;
  for (const char* module : {"mac", "vec", "dma"}) commands += r.sum(module, "descriptors");
  return commands;
}

double area_mm2(const MachineConfig& machine, const config::EnergyTable& energy) {
  return energy::MachineModel(machine, energy::technology_of(energy)).area_mm2();
}

// No trial: there is no such machine, or the job does not run on it.
std::optional<job::Advice::Trial> trial_of(const job::Advice& advice, const job::Result& r,
                                           const MachineConfig& machine, const config::EnergyTable& energy,
                                           const TuningOptions& options) {
  MachineConfig changed = machine;
  job::Advice::Trial trial;
  try {
    for (const auto& [key, value] : advice.settings) config::apply_setting(changed, {key, value, {"advice"}});
    config::finish_machine(changed, {"advice"});
    job::Schedule schedule = r.schedule;
    if (!advice.same_tiling) {
      schedule.tiling = {};
      schedule = tune(changed, r.network, schedule, energy, options);
      if (!(schedule.tiling == r.schedule.tiling)) trial.tiling = job::tiling_line(schedule.tiling);
    }
    Evaluator evaluator(changed, r.network, energy, Objective::kCycles, std::nullopt);
    const double cycles = evaluator.evaluate(schedule).cycles;
    if (!(cycles > 0) || !std::isfinite(cycles)) return std::nullopt;
    const double seconds = cycles / changed.clock_hz, before = static_cast<double>(r.cycles) / machine.clock_hz;
    trial.speedup = before / seconds;
    trial.area_mm2 = area_mm2(changed, energy) - area_mm2(machine, energy);
    return trial;
  } catch (const job::RunError&) {
  } catch (const config::ConfigError&) {
  }
  return std::nullopt;
}

}  // namespace

void try_advice(job::Result& result, const MachineConfig& machine, const config::EnergyTable& energy,
                const TuningOptions& options) {
  result.bound.advice = job::advice_for(result, machine);
  if (commands_of(result) > kMostCommands) return;
  std::vector<job::Advice>& all = result.bound.advice;
  result.bound.advice_tried = true;
  auto first = all.begin();
  for (; first != all.end(); ++first) {
    first->tried = trial_of(*first, result, machine, energy, options);
    if (first->tried && first->tried->speedup >= kGain) break;
  }
  all.erase(all.begin(), first);
}

}  // namespace attnvp::explore
